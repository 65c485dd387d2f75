"""`A.to("auto", …)` tries formats for a part of the time that all calls take, and returns A in the best of them."""

from __future__ import annotations

import warnings
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import algorithms
from bench.experiment import Setting, perform
from bench.experiments import choice as experiment
from bench.experiments.families import FAMILIES
from bench.graphs import grid, rmat, uniform
from formats import COO, CSR, ELL, Matrix, Place, from_edges
from semiring import MinPlus, PlusTimes, choose, explain, mxv
from semiring.tuning import choice
from semiring.tuning.choice import SHARE, sample

pytestmark = pytest.mark.timing

CALL, CONVERSION = 1.0, 20.0
"""Milliseconds of a call and of a conversion where nothing else is said."""


class Machine:
    """A clock on which calls and conversions take what is said of their formats, and Python nothing.

    ms: of a call of all entries.  launch: of any call beside it.
    """

    def __init__(self, entries: int) -> None:
        self.entries, self.now, self.launch = entries, 0.0, 0.0
        self.ms: dict[str, float] = {}
        self.tried: list[tuple[str, int]] = []

    def call_ms(self, M: Matrix) -> float:
        return self.launch + self.ms.get(type(M).__name__.lower(), 4 * CALL) * M.nnz / self.entries

    def once(self, trial: Any, call: Any, M: Matrix) -> float:
        self.now += self.call_ms(M)
        return self.call_ms(M)

    def timed(self, trial: Any, call: Any, *matrices: Matrix) -> list[float]:
        found = [self.call_ms(M) for M in matrices]
        self.now += 3 * sum(found)
        return found

    def made(self, trial: Any, fmt: type[Matrix], S: Matrix, call: Any) -> tuple[Matrix, float]:
        ms = CONVERSION * S.nnz / self.entries + 2 * self.launch
        self.now += ms
        self.tried.append((fmt.__name__.lower(), S.nnz))
        return S.to(fmt), ms


@pytest.fixture
def A() -> CSR:
    return uniform(256, 5)


@pytest.fixture
def on(monkeypatch: pytest.MonkeyPatch, A: CSR) -> Machine:
    """The machine that all trials run on: CSR takes CALL, CSB a tenth of it."""
    machine = Machine(A.nnz)
    machine.ms = {"csr": CALL, "csb": CALL / 10}
    monkeypatch.setattr(choice, "time", SimpleNamespace(perf_counter=lambda: machine.now / 1e3))
    monkeypatch.setattr(choice._Trial, "once", lambda trial, *rest: machine.once(trial, *rest))
    monkeypatch.setattr(choice._Trial, "timed", lambda trial, *rest: machine.timed(trial, *rest))
    monkeypatch.setattr(choice._Trial, "made", lambda trial, *rest: machine.made(trial, *rest))
    return machine


# --- what is tried, and what is chosen ------------------------------------------------------------------------------


@pytest.mark.parametrize("calls", [1, 31])
def test_few_calls_stay_and_nothing_is_tried(on: Machine, A: CSR, calls: int) -> None:
    assert A.to("auto", verb="mxv", calls=calls) is A
    assert (on.tried, on.now) == ([], 0)
    assert choose(A, calls=calls).why == f"csr stays: {calls} calls are too few to try another format"


def test_calls_that_take_no_time_stay_too(on: Machine, A: CSR) -> None:
    on.ms["csr"] = 1e-4
    assert choose(A, calls=1000).why == "csr stays: 1,000 calls take 0.1 ms, too little to try another format"
    assert on.tried == []


def test_many_calls_get_the_fastest_format_as_the_trial_has_made_it(on: Machine, A: CSR) -> None:
    found = choose(A, calls=10**6)
    assert found.chosen == "csb"
    assert found.matrix is not None
    assert type(found.matrix).__name__ == "CSB"
    assert found.matrix.equals(A)
    assert [row["format"] for row in found.candidates[:2]] == ["csb", "csr"]
    assert {row["tried"] for row in found.candidates} <= {"the matrix", None}  # so few entries are not sampled
    assert A.to("auto", calls=10**6).equals(A)


@pytest.mark.parametrize("calls", [210, 300, 1000, 10**4])
def test_the_trial_takes_no_more_than_its_share(on: Machine, A: CSR, calls: int) -> None:
    found = choose(A, calls=calls)
    step = CONVERSION + 3 * (4 * CALL + CALL) + 4 * CALL
    assert 0 < found.trial_ms <= SHARE * calls * CALL + step
    assert len(on.tried) >= (1 if calls < 300 else 3)


@pytest.fixture
def sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "MIN_SAMPLE", {"cpu": 1})
    monkeypatch.setattr(choice, "SAMPLES", (128, 16))


def test_samples_tell_a_calls_own_cost_from_that_of_its_entries(on: Machine, A: CSR, sampled: None) -> None:
    on.launch = 0.05
    found = choose(A, calls=210)
    (row,) = (row for row in found.candidates if row["format"] == "csb")
    assert row["tried"] == "samples"
    assert row["ms"] == pytest.approx(on.launch + CALL / 10)
    assert row["conversion_ms"] == pytest.approx(2 * on.launch + CONVERSION)


def test_what_samples_promise_is_chosen_where_there_is_no_time_for_more(on: Machine, A: CSR, sampled: None) -> None:
    found = choose(A, calls=220)
    assert (found.chosen, found.matrix) == ("csb", None)
    assert A.nnz not in [entries for _, entries in on.tried]
    assert type(A.to("auto", calls=220)).__name__ == "CSB"
    on.ms["csb"] = 0.85 * CALL  # a gain that the conversion takes away
    assert choose(A, calls=220).chosen == "csr"


def test_of_the_whole_matrix_only_what_samples_promise_is_made(on: Machine, A: CSR, sampled: None) -> None:
    choose(A, calls=1500)
    assert [name for name, entries in on.tried if entries == A.nnz] == ["csb"]
    on.ms |= {"coo": CALL / 8, "sell": CALL / 4}
    choose(A, calls=1500)
    assert [name for name, entries in on.tried if entries == A.nnz] == ["csb", "csb", "coo"]


def test_very_many_calls_try_every_format_on_the_matrix(on: Machine, A: CSR, sampled: None) -> None:
    found = choose(A, calls=10**6)
    assert {row["tried"] for row in found.candidates} == {"the matrix"}


def test_from_another_format_the_way_by_csr_counts(on: Machine, A: CSR) -> None:
    padded = A.to(ELL)
    found = choose(padded, calls=10**6)
    assert (found.own, found.chosen) == ("ell", "csb")
    assert choose(padded, calls=10).chosen == "ell"
    on.ms = {"csr": CALL / 2, "csb": CALL, "ell": CALL}
    assert isinstance(padded.to("auto", calls=10**6), CSR)


def test_what_does_not_fit_is_not_chosen(on: Machine, A: CSR, monkeypatch: pytest.MonkeyPatch) -> None:
    needed = A.footprint("csb").total
    monkeypatch.setattr(Place, "available_bytes", lambda place: needed - 1)
    found = choose(A, calls=10**6)
    assert found.chosen != "csb"
    (row,) = (row for row in found.candidates if row["format"] == "csb")
    assert row["why"] == f"needs {needed:,} bytes, of {needed - 1:,} available"


def test_padding_out_of_proportion_is_not_tried(on: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("formats.storage.ell.MAX_UNQUESTIONED_BYTES", 0)
    n = 500
    hub = from_edges(np.zeros(n, np.int32), np.arange(n), np.ones(n, np.int32), shape=n)
    found = choose(hub, calls=10**6)
    assert any("pads all" in str(row["why"]) for row in found.candidates)
    assert "ell" not in [name for name, _ in on.tried]


def test_a_format_that_fails_is_told_and_the_others_are_tried(on: Machine, A: CSR, monkeypatch: Any) -> None:
    def made(trial: Any, fmt: type[Matrix], S: Matrix, call: Any) -> Any:
        if fmt is COO:
            raise MemoryError("no room after all")
        return on.made(trial, fmt, S, call)

    monkeypatch.setattr(choice._Trial, "made", made)
    found = choose(A, calls=10**6)
    assert found.chosen == "csb"
    (row,) = (row for row in found.candidates if row["format"] == "coo")
    assert (row["why"], row["tried"]) == ("no room after all", None)


def test_a_format_that_fails_on_the_matrix_is_not_chosen_by_its_samples(
    on: Machine, A: CSR, sampled: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def made(trial: Any, fmt: type[Matrix], S: Matrix, call: Any) -> Any:
        if S.nnz == A.nnz:
            raise MemoryError("no room after all")
        return on.made(trial, fmt, S, call)

    monkeypatch.setattr(choice._Trial, "made", made)
    assert A.to("auto", calls=10**6) is A


def test_compiling_does_not_count_up_to_a_limit(on: Machine, A: CSR, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = set()

    def made(trial: Any, fmt: type[Matrix], S: Matrix, call: Any) -> Any:
        on.now += 0 if fmt in compiled else 900
        compiled.add(fmt)
        return on.made(trial, fmt, S, call)

    monkeypatch.setattr(choice._Trial, "made", made)
    choose(A, calls=500)
    assert len(compiled) == 4  # three up to the limit of two seconds, and one that used up the budget
    trials = [choose(A, calls=500).trial_ms for _ in range(4)]  # which compile the rest
    assert trials[-1] < 900 < trials[0]


# --- algorithms -----------------------------------------------------------------------------------------------------


def test_an_algorithm_that_runs_fused_takes_csr_or_what_it_runs_on() -> None:
    A = grid(8)
    name = algorithms.boruvka
    for M, chosen, why in (
        (A, "csr", "csr stays: bfs runs fused on it"),
        (
            A.to(COO),
            "csr",
            "csr: bfs runs fused on it, and the first call would make these rows and keep them with the coo",
        ),
    ):
        found = choose(M, algorithm="bfs", calls=3)
        assert (found.chosen, found.why) == (chosen, why)
    assert isinstance(A.to(COO).to("auto", algorithm="bfs"), CSR)
    packed = A.to("compressedcsr")
    assert choose(packed, algorithm=name).why == "compressedcsr stays: boruvka runs fused on it"
    assert packed.to("auto", algorithm=name) is packed
    used = A.to(ELL)
    algorithms.bfs(used, 0)
    assert choose(used, algorithm="bfs").why == "ell stays: bfs runs fused on its rows as csr, which are kept with it"


def test_the_equations_of_an_algorithm_are_tried_on_the_matrix(on: Machine, A: CSR) -> None:
    found = choose(A, algorithm="bfs", fused=False, calls=10**6)
    assert found.chosen == "csb"
    assert {entries for _, entries in on.tried} == {A.nnz}


@pytest.mark.parametrize("name", ["bfs", "boruvka", "delta_stepping", "scc"])
def test_the_equations_of_each_algorithm_can_be_timed(name: str) -> None:
    assert choose(grid(4), algorithm=name, fused=False, calls=50).chosen in Matrix.formats


# --- what is told ---------------------------------------------------------------------------------------------------


def test_explain_tells_the_choice(on: Machine, A: CSR) -> None:
    told = explain(lambda: A.to("auto", verb="mxv", calls=10**4))
    (found,) = told.choices
    assert type(told.result).__name__ == found.chosen.upper() == "CSB"
    text = str(told)
    assert "mxv, min_plus, a dense x: 256 × 256" in text
    assert "csb: 10,000 calls and the conversion take 1,020 ms, csr 10,000 ms" in text
    assert "0.1 ms a call, 20 to convert, 1,020 in all" in text
    assert "csr stays: 2 calls are too few to try another format" in str(choose(A, calls=2))
    assert "not tried, for the calls would hardly make up for it: csr, csc" in str(choose(A, calls=2))


def test_what_there_is_not_is_named(A: CSR) -> None:
    with pytest.raises(ValueError, match="verb must be one of mxv, vxm, got 'mxm'"):
        A.to("auto", verb="mxm")
    with pytest.raises(ValueError, match="calls must be a whole number from 1 on, got 0"):
        A.to("auto", calls=0)
    with pytest.raises(ValueError, match=r"frontier must be a share in \(0, 1\], got 2"):
        A.to("auto", calls=1000, frontier=2)
    with pytest.raises(ValueError, match="algorithm must be one of .*, got 'search'"):
        A.to("auto", algorithm="search")
    with pytest.raises(TypeError, match="segment"):
        A.to("auto", segment=3)


@pytest.mark.parametrize(
    ("verb", "frontier", "semiring"),
    [*product(["mxv", "vxm"], [None, 0.1], [MinPlus, PlusTimes, "lor_land"]), (mxv, None, MinPlus)],
)
def test_every_product_can_be_asked_for(verb: Any, frontier: Any, semiring: Any, A: CSR) -> None:
    found = choose(A, verb, frontier=frontier, semiring=semiring, calls=10**6)
    assert found.chosen in Matrix.formats
    assert sum(row["tried"] is not None for row in found.candidates) > 2


def test_a_trial_warns_of_nothing(monkeypatch: pytest.MonkeyPatch, A: CSR) -> None:
    monkeypatch.setattr("formats.performance.ENTRIES", 0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert choose(A, frontier=0.1, calls=10**5).chosen


@pytest.mark.backend("cuda")
def test_on_a_gpu_the_matrix_is_moved_first(A: CSR) -> None:
    assert A.to("auto", calls=10**4, device="cuda").device == "cuda"


# --- samples --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("graph", [rmat(8, 8), grid(20), uniform(300, 3), from_edges([0] * 400, range(400), shape=400)])
@pytest.mark.parametrize("entries", [0, 1, 17, 128])
def test_a_sample_has_rows_of_the_matrix_one_after_the_other(graph: CSR, entries: int) -> None:
    S = sample(graph, entries)
    S.check()
    assert S.ncols == graph.ncols
    assert entries - 16 < S.nnz <= entries
    _, cols, values = S.to_edges()
    assert all(value in graph.values[graph.indices == col] for col, value in zip(cols, values, strict=True))
    lengths, there = np.diff(S.indptr), np.diff(graph.indptr)
    assert lengths.max(initial=0) <= there.max()


def test_a_sample_keeps_empty_rows_between() -> None:
    n = 640
    every = from_edges(np.arange(0, n, 4), np.arange(0, n, 4), shape=n)
    S = sample(every, 80)
    assert S.nrows == 16 * (1 + 4 * 4)
    assert (np.diff(S.indptr) == 0).sum() == 16 * 3 * 4


def test_of_no_entries_there_is_a_choice_too(on: Machine) -> None:
    on.entries = 1
    on.launch = CALL
    assert choose(from_edges([], [], shape=5), calls=10**6).chosen in Matrix.formats
    assert choose(from_edges([], [], shape=0), calls=10**6).chosen in Matrix.formats


# --- the experiment -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_there_are_at_least_40_matrices(device: Any) -> None:
    assert len(list(experiment.matrices(Setting(device)))) >= 40


@pytest.mark.parametrize("name", FAMILIES)
def test_a_family_has_about_as_many_entries_as_it_is_asked_for(name: str) -> None:
    A = FAMILIES[name](20_000, "cpu")
    A.check()
    assert isinstance(A, CSR)
    assert 10_000 < A.nnz <= 40_000


def test_the_experiment_tells_regrets(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setattr(experiment, "FAMILIES", {name: FAMILIES[name] for name in ("tree", "arrow")})
    rows = perform(experiment.CHOICE, Setting(quick=True, repeats=3), tmp_path)
    assert len(rows) == 2 + 2 * 3
    assert max(row["regret"] for row in rows[:2]) == rows[-1]["regret"] >= rows[-2]["regret"]
    assert rows[-1]["contender"].startswith("worst of 2: ")
    for row in rows[:2]:
        assert row["regret"] >= 1
        assert row["regret_1000"] > 0
        assert row["ms"] == row["times"][row["contender"].removeprefix("auto: ")]
    assert list(tmp_path.glob("choice-*.png"))
