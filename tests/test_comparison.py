"""`compare` times every format on the matrix at hand, after their answers were found equal."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from bench.graphs import uniform
from formats import CSR, Matrix, SparseVector, from_edges
from semiring import SEMIRINGS, LorLand, MinPlus, PlusTimes, Semiring, Verb, compare, mxv, vxm
from semiring.tuning import comparison, timing
from semiring.tuning.comparison import COLUMNS, same
from semiring.tuning.timing import Disagreement, break_even, in_turns

from .strategies import FORMATS

pytestmark = pytest.mark.timing

FIGURES = ("ms", "low_ms", "high_ms", "ratio", "nbytes", "bytes_per_entry", "padding", "kept_bytes", "conversion_ms")
devices = pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.backend("cuda"))])


def quick(A: Matrix, *args: Any, **kwargs: Any) -> comparison.Comparison:
    return compare(A, *args, repeats=3, **kwargs)


@devices
@pytest.mark.parametrize("verb", ["mxv", vxm])
@pytest.mark.parametrize("frontier", [None, 0.1])
def test_every_format_of_the_verbs_table_has_a_row(verb: Any, frontier: float | None, device: Any) -> None:
    found = quick(uniform(64, 5), verb, device=device, frontier=frontier)
    assert {row["format"] for row in found.rows} == {fmt.__name__.lower() for fmt in FORMATS}
    for row in found.measured:
        assert all(row[figure] is not None for figure in FIGURES)
        assert row["low_ms"] <= row["ms"] <= row["high_ms"]
    assert [row["ms"] for row in found.measured] == sorted(row["ms"] for row in found.measured)
    assert found.best is found.rows[0]
    (own,) = (row for row in found.rows if row["format"] == "csr")
    assert (own["ratio"], own["conversion_ms"], own["break_even"]) == (1, 0, None)


@pytest.mark.parametrize("semiring", SEMIRINGS.values(), ids=lambda s: s.name)
def test_every_semiring_can_be_compared(semiring: Semiring) -> None:
    A = from_edges([0, 1, 2, 2], [1, 2, 0, 1], [1, 1, 1, 1], shape=3, dtype=semiring.dtypes[0])
    assert quick(A, "mxv", semiring, formats=["csr", "coo"]).measured


def test_only_the_formats_asked_for_and_its_own_are_timed() -> None:
    found = quick(uniform(64, 5).to("coo"), formats=["ell"])
    assert {row["format"] for row in found.rows} == {"coo", "ell"}
    assert found.own == "COO"


def test_a_format_that_refuses_is_a_row_that_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("formats.storage.ell.MAX_UNQUESTIONED_BYTES", 0)
    n = 500
    hub = from_edges(np.zeros(n, np.int32), np.arange(n), np.ones(n, np.int32), shape=n)
    found = quick(hub, formats=["coo", "ell"])
    assert found.rows[-1]["format"] == "ell"
    assert "pads all" in found.rows[-1]["why"]
    assert found.rows[-1].keys() == found.best.keys()
    assert found.rows[-1]["ms"] is None
    assert "ell: ELL of width 500" in repr(found)
    assert len(found.measured) == 2


def test_formats_that_disagree_are_not_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter(range(100))
    monkeypatch.setitem(comparison.PRODUCTS, "mxv", FakeVerb(lambda *_: np.full(3, next(answers))))
    monkeypatch.setattr(comparison, "mxv", comparison.PRODUCTS["mxv"])
    with pytest.raises(Disagreement, match="give different answers: nothing is timed"):
        quick(from_edges([0], [1], shape=3))


class FakeVerb:
    name = "mxv"
    table = mxv.table

    def __init__(self, call: Any) -> None:
        self.call = call

    def __call__(self, *args: Any) -> Any:
        return self.call(*args)


def test_the_users_own_operand_is_taken() -> None:
    A = uniform(64, 5)
    assert quick(A, x=np.ones(64, np.float32), formats=["csr"]).measured
    sparse = SparseVector([3, 5], np.ones(2, np.float32), 64)
    assert "2 elements of x" in quick(A, x=sparse, formats=["csr"]).what
    with pytest.raises(ValueError, match="x or frontier, not both"):
        quick(A, x=sparse, frontier=0.5)


def test_a_frontier_is_a_share() -> None:
    A = uniform(1000, 2)
    assert "100 elements of x" in quick(A, frontier=0.1, formats=["csr"]).what
    for share in (0, 1.5):
        with pytest.raises(ValueError, match=r"frontier must be a share in \(0, 1\]"):
            quick(A, frontier=share)


def test_what_there_is_not_is_named() -> None:
    A = uniform(16, 2)
    with pytest.raises(ValueError, match="verb must be one of mxv, vxm, got 'mxm'"):
        quick(A, Verb.all["mxm"])
    with pytest.raises(ValueError, match="unknown format 'sparse'"):
        quick(A, formats=["sparse"])
    with pytest.raises(TypeError, match="A must be a matrix"):
        quick(np.ones((3, 3)))  # type: ignore[arg-type]


def test_the_matrix_itself_is_left_as_it_was() -> None:
    A = uniform(64, 5)
    quick(A)
    assert A.kept_nbytes == 0


def test_the_table_has_a_line_for_each_format_and_is_not_printed(capsys: pytest.CaptureFixture[str]) -> None:
    found = compare(uniform(64, 5), repeats=3)
    assert capsys.readouterr().out == ""
    lines = repr(found).splitlines()
    assert lines[0].startswith("mxv, min_plus, a dense x: 64 × 64")
    assert lines[1].split()[0] == "format"
    assert {line.split()[0] for line in lines[2:]} == {row["format"] for row in found.rows}
    console = Console(width=200)
    with console.capture() as shown:
        console.print(found)
    assert COLUMNS["break_even"] in shown.get()


def test_rows_become_a_table_of_pandas_and_a_figure() -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("matplotlib")
    found = quick(uniform(64, 5))
    assert list(found.to_pandas()["format"]) == [row["format"] for row in found.rows]
    assert len(found.plot().axes) == 2


def test_importing_it_loads_neither_pandas_nor_matplotlib() -> None:
    import subprocess

    code = "import sys, semiring; print(*({'pandas', 'matplotlib', 'rich'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not done.stdout.split()


def test_sums_of_floats_may_differ_a_little_and_nothing_else() -> None:
    a = np.array([1e6, 1.0], np.float32)
    assert same(a, a + np.array([1, 0], np.float32), PlusTimes)
    assert not same(a, a + np.array([1e4, 0], np.float32), PlusTimes)
    assert not same(a, a + np.array([1, 0], np.float32), MinPlus)
    assert not same(a, a.astype(np.float64), PlusTimes)
    assert not same(a, a[:1], MinPlus)
    assert same(np.array([True]), SparseVector([0], np.array([True]), 1), LorLand)


def test_conversion_pays_after_the_call_that_makes_up_for_it() -> None:
    assert break_even(10, 1, 2, 3) == 5  # 10 + 4·1 = 2 + 4·3
    assert break_even(1, 1, 2, 3) == 1
    assert break_even(0, 3, 0, 3) is None


def test_calls_take_turns_and_slow_ones_fewer() -> None:
    order: list[str] = []
    calls = [(lambda name=name: order.append(name), lambda run: float(run() is None)) for name in "ab"]  # type: ignore[misc]
    taken = in_turns(calls, 5, seconds=1)
    assert all(sorted(turn) == ["a", "b"] for turn in zip(order[::2], order[1::2], strict=True))
    assert [len(times) for times in taken] == [5, 5]
    assert [len(times) for times in in_turns(calls, 5, seconds=0)] == [timing.THREE] * 2


def test_the_own_format_is_compared_in_its_orientation() -> None:
    A = uniform(64, 5).to("ell").T
    found = quick(A, formats=["csr"])
    assert isinstance(A.to("csr"), CSR)
    assert {row["format"] for row in found.measured} == {"ell", "csr"}
