"""`A.to("auto", …)` takes the format in which all calls and the conversion take the least time, as a model predicts."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench.experiment import load, perform, write
from bench.experiments import choice as experiment
from bench.experiments.choice_fit import fit
from bench.graphs import grid, rmat, uniform
from bench.measure import MACHINE, RESULTS, machine
from formats import COO, CSC, CSR, ELL, Matrix, Place, from_edges
from semiring import MinPlus, PlusTimes, choose, explain, mxv
from semiring.tuning import choice
from semiring.tuning.choice import PRODUCTS, cost, model_of
from semiring.tuning.features import Features, features, terms

from .strategies import FORMATS

SLOW, FAST, DEAR = 10.0, 1.0, 500.0


def model(**ms: float) -> dict[str, Any]:
    """Formats that take so many milliseconds a call, whatever the matrix; conversions take DEAR each."""
    table = {fmt: {"ms": {"call": value}, "setup": {}} for fmt, value in ms.items()}
    ways = {
        fmt: {"to": {"call": DEAR} if fmt != "csr" else {}, "from": {"call": DEAR if fmt != "csr" else 0.0}}
        for fmt in ms
    }
    return {"products": {name: table for name in PRODUCTS}, "conversions": ways}


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> Any:
    def use(**ms: float) -> None:
        monkeypatch.setattr(choice, "model_of", lambda device: model(**ms))

    use(csr=SLOW, coo=FAST, ell=2 * FAST)
    return use


@pytest.fixture
def A() -> CSR:
    return uniform(256, 5)


# --- what is chosen -------------------------------------------------------------------------------------------------


def test_few_calls_stay_and_many_convert(known: Any, A: CSR) -> None:
    assert A.to("auto", verb="mxv", calls=1) is A
    assert isinstance(A.to("auto", verb="mxv", calls=10**6), COO)
    assert A.to("auto", calls=10**6).equals(A)


def test_it_converts_from_the_call_on_at_which_that_pays(known: Any, A: CSR) -> None:
    breaks_even = DEAR / (SLOW - FAST)
    assert choose(A, calls=int(breaks_even)).chosen == "csr"
    assert choose(A, calls=int(breaks_even) + 1).chosen == "coo"


def test_from_another_format_the_way_back_counts(known: Any, A: CSR) -> None:
    padded = A.to(ELL)
    found = choose(padded, calls=1)
    assert found.own == "ell"
    (row,) = (row for row in found.candidates if row["format"] == "coo")
    assert row["conversion_ms"] == 2 * DEAR
    (row,) = (row for row in found.candidates if row["format"] == "csr")
    assert row["conversion_ms"] == DEAR


def test_a_format_that_was_never_measured_is_not_chosen_and_says_so(known: Any, A: CSR) -> None:
    found = choose(A, calls=10**9)
    (row,) = (row for row in found.candidates if row["format"] == "dense")
    assert "never measured on cpu" in row["why"]
    assert {row["format"] for row in found.candidates} == {fmt.__name__.lower() for fmt in FORMATS}


def test_a_matrix_in_a_format_that_was_never_measured_stays(known: Any, A: CSR) -> None:
    columns = A.to(CSC)
    assert columns.to("auto", calls=10**9) is columns
    assert "csc stays: never measured" in choose(columns, calls=10**9).why


def test_what_does_not_fit_is_not_chosen(known: Any, A: CSR, monkeypatch: pytest.MonkeyPatch) -> None:
    needed = A.footprint(COO).total
    monkeypatch.setattr(Place, "available_bytes", lambda place: needed - 1)
    found = choose(A, calls=10**9)
    assert found.chosen != "coo"
    (row,) = (row for row in found.candidates if row["format"] == "coo")
    assert row["why"] == f"needs {needed:,} bytes, of {needed - 1:,} available"


def test_padding_out_of_proportion_is_not_chosen(known: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    known(csr=SLOW, ell=FAST)
    monkeypatch.setattr("formats.storage.ell.MAX_UNQUESTIONED_BYTES", 0)
    n = 500
    hub = from_edges(np.zeros(n, np.int32), np.arange(n), np.ones(n, np.int32), shape=n)
    found = choose(hub, calls=10**9)
    assert found.chosen == "csr"
    assert "pads all" in found.candidates[-1]["why"] or any("pads all" in str(row["why"]) for row in found.candidates)


def test_without_coefficients_nothing_is_converted(monkeypatch: pytest.MonkeyPatch, A: CSR, tmp_path: Any) -> None:
    monkeypatch.setattr(choice, "path_of", lambda device: tmp_path / "none.json")
    model_of.cache_clear()
    try:
        assert A.to("auto", calls=10**9) is A
    finally:
        model_of.cache_clear()


def test_the_first_calls_extra_counts(known: Any, A: CSR, monkeypatch: pytest.MonkeyPatch) -> None:
    made = model(csr=SLOW, coo=FAST)
    for table in made["products"].values():
        table["coo"]["setup"] = {"call": 10 * DEAR}
    monkeypatch.setattr(choice, "model_of", lambda device: made)
    assert choose(A, calls=100).chosen == "csr"
    assert choose(A, calls=1000).chosen == "coo"


@pytest.mark.backend("cuda")
def test_on_a_gpu_the_matrix_is_moved_first(known: Any, A: CSR) -> None:
    assert A.to("auto", calls=10**6, device="cuda").device == "cuda"


# --- what is told ---------------------------------------------------------------------------------------------------


def test_explain_tells_the_choice(known: Any, A: CSR) -> None:
    told = explain(lambda: A.to("auto", verb="mxv", calls=1000))
    assert isinstance(told.result, COO)
    (found,) = told.choices
    assert found.chosen == "coo"
    text = str(told)
    assert "mxv, dense, min_plus: 256 × 256" in text
    assert "coo: 1,000 calls and the conversion take 1,500 ms, csr 10,000 ms, as predicted" in text
    assert "dense" in text
    assert "never measured" in text
    assert "csr stays: no other format makes up for its conversion in 2 calls" in str(choose(A, calls=2))


def test_candidates_come_the_cheapest_first(known: Any, A: CSR) -> None:
    able = [row["total_ms"] for row in choose(A, calls=7).candidates if row["why"] is None]
    assert able == sorted(able)
    assert len(able) == 3


def test_what_there_is_not_is_named(A: CSR) -> None:
    with pytest.raises(ValueError, match="verb must be one of mxv, vxm, got 'mxm'"):
        A.to("auto", verb="mxm")
    with pytest.raises(ValueError, match="calls must be a whole number from 1 on, got 0"):
        A.to("auto", calls=0)
    with pytest.raises(ValueError, match="operand must be 'dense' or 'sparse', got 'thin'"):
        A.to("auto", operand="thin")
    with pytest.raises(TypeError, match="segment"):
        A.to("auto", segment=3)


@pytest.mark.parametrize("verb", ["mxv", "vxm", mxv])
@pytest.mark.parametrize("operand", ["dense", "sparse"])
@pytest.mark.parametrize("semiring", [MinPlus, PlusTimes, "lor_land"])
def test_every_product_can_be_asked_for(verb: Any, operand: str, semiring: Any, A: CSR) -> None:
    assert choose(A, verb, operand=operand, semiring=semiring).chosen in Matrix.formats


def test_formats_alone_know_nothing_of_it() -> None:
    code = "import formats; formats.from_edges([0], [1]).to('auto')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "which format to choose is not known to formats alone: import semiring" in done.stderr


# --- what is seen ---------------------------------------------------------------------------------------------------


def test_features_tell_regular_from_scattered_columns() -> None:
    near, far = features(grid(128)), features(uniform(1 << 14, 4))
    assert near.lines < 0.3 < 0.8 < far.lines
    assert near.span < far.span / 10
    assert near.variation < 0.2
    assert features(rmat(12)).variation > 1
    assert features(rmat(12)).longest == rmat(12).longest()


def test_features_are_the_same_from_every_format() -> None:
    A = rmat(8)
    expected = features(A)
    for fmt in FORMATS:
        if fmt.__name__ == "CSC":  # which is seen column by column
            continue
        M = A.to(fmt, **({"force": True} if fmt.__name__ in ("ELL", "Dense") else {}))
        assert features(M) == expected


@pytest.mark.parametrize("nnz", [0, 1, 3])
def test_of_few_entries_there_are_features_too(nnz: int) -> None:
    A = from_edges(np.arange(nnz), np.arange(nnz), shape=5)
    found = features(A)
    assert (found.nnz, found.longest) == (nnz, min(nnz, 1))
    assert all(np.isfinite(value) for value in terms(found, A.nbytes).values())
    assert features(from_edges([], [], shape=0)).mean == 0


def test_terms_grow_with_the_matrix() -> None:
    small = features(uniform(1 << 10, 4))
    large = replace(small, nnz=2 * small.nnz, nrows=2 * small.nrows)
    a, b = terms(small, 1000), terms(large, 2000)
    assert all(b[name] >= a[name] for name in a)


# --- the fit --------------------------------------------------------------------------------------------------------


def rows_of(times: Any) -> list[dict[str, Any]]:
    """Rows of a machine on which a format takes what `times` says of its features."""
    found = []
    for name, B in (("g", grid(32)), ("u", uniform(900, 4)), ("r", rmat(9)), ("v", uniform(300, 9)), ("w", grid(9))):
        f = features(B)
        ms = times(f)
        found.append(
            {
                "graph": name,
                "family": name,
                "product": "mxv, dense",
                "n": f.nrows,
                "nnz": f.nnz,
                "verified": True,
                "repeats": 3,
                "times": ms,
                "setups": dict.fromkeys(ms, 0.0),
                "bytes": dict.fromkeys(ms, B.nbytes),
                "conversions": dict.fromkeys(ms, (1.0, 2.0)),
                "features": {name: getattr(f, name) for name in f.__dataclass_fields__},
            }
        )
    return found


def test_a_machine_that_is_a_sum_of_terms_is_found_again() -> None:
    rows = rows_of(lambda f: {"csr": 0.1 + 1e-6 * f.nnz, "coo": 0.01 + 1e-5 * f.nnz})
    made = fit(rows)
    for row in rows:
        said = experiment.verdict(row, made)
        assert said["regret"] == 1
        for name, ms in row["times"].items():
            assert said["predicted"][name] == pytest.approx(ms, rel=0.02)
        f = Features(**row["features"])
        assert cost(made["conversions"], "csr", "from", f, 0) == pytest.approx(2.0, rel=0.02)


def test_a_choice_that_costs_much_weighs_more_than_many_that_cost_little() -> None:
    def times(f: Features) -> dict[str, float]:  # least squares alone take the list for fast on all
        return {"csr": 0.1 + 1e-5 * f.nnz, "coo": (0.3 if f.nnz == grid(9).nnz else 0.02) + 1.2e-5 * f.nnz}

    rows = rows_of(times)
    made = fit(rows)
    assert max(experiment.verdict(row, made)["regret"] for row in rows) < 1.2


def test_times_that_were_measured_are_fitted_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    small = [replace(family, cpu=family.quick) for family in experiment.FAMILIES[:2]]
    monkeypatch.setattr(experiment, "FAMILIES", small)
    monkeypatch.setattr("bench.experiments.choice_fit.path_of", lambda device: tmp_path / f"choice_{device}.json")
    rows = perform(experiment.CHOICE, experiment.Setting(quick=True, repeats=3), tmp_path)
    (path,) = tmp_path.glob("*.jsonl")
    whole = [row | {"date": "2001-02-03"} for row in rows]
    write(path, [row | ({"regret": 99.0} if "regret" in row else {}) for row in whole])
    experiment.refit(path)
    assert load(path) == json.loads(json.dumps(whole))
    assert json.loads((tmp_path / "choice_cpu.json").read_text())["date"] == "2001-02-03"
    assert set(machine()) <= set(MACHINE)


def test_times_of_a_part_of_the_matrices_are_not_fitted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("bench.experiments.choice_fit.path_of", lambda device: tmp_path / f"choice_{device}.json")
    measured = load(next(RESULTS.glob("choice-intel*.jsonl")))
    for rows in ([], measured[6:], measured[:300], [row | {"experiment": "formats"} for row in measured]):
        path = tmp_path / "choice-some.jsonl"
        write(path, rows)
        before = path.read_text()
        with pytest.raises(ValueError, match="does not have the times of a whole run"):
            experiment.refit(path)
        assert [file.name for file in tmp_path.iterdir()] == [path.name]
        assert path.read_text() == before


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_the_named_set_has_at_least_40_matrices(device: Any) -> None:
    setting = experiment.Setting(device)
    assert sum(len(family.sizes(setting)) for family in experiment.FAMILIES) >= 40
    assert len({family.name for family in experiment.FAMILIES}) == len(experiment.FAMILIES) >= 12


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_coefficients_that_are_shipped_say_where_they_are_from(device: Any) -> None:
    path = choice.path_of(device)
    if not path.exists():
        pytest.skip(f"{device} was never measured")
    made = json.loads(path.read_text(encoding="utf-8"))
    assert {"date", "machine", "commit"} <= set(made)
    assert set(made["products"]) == set(PRODUCTS)
    known = set(terms(features(uniform(16, 2)), 1))
    for table in made["products"].values():
        for fmt, parts in table.items():
            assert fmt in Matrix.formats
            for coefficients in parts.values():
                assert set(coefficients) <= known
                assert min(coefficients.values(), default=1) > 0
