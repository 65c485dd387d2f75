"""A format without an array of its values: its own products, all verbs and all algorithms, with the answers of CSR."""

from __future__ import annotations

import importlib
import pickle
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from bench.graphs import rmat
from formats import CSR, Matrix, SparseVector
from formats.matrix.routes import CONVERSIONS, NEEDS
from semiring import (
    LorLand,
    MinPlus,
    PlusTimes,
    apply,
    ewise_add,
    ewise_mult,
    explain,
    extract,
    mxm,
    mxv,
    reduce,
    select,
    transpose,
    vxm,
)
from semiring.verbs.registry import Verb

from .test_any_format import ALGORITHMS, assert_equal

pytestmark = pytest.mark.quick


@pytest.fixture
def strips() -> Iterator[Any]:
    """The module, and with it the format, for the time of a test."""
    tables: list[Any] = [Matrix.formats, CONVERSIONS, NEEDS, *(verb.cells for verb in Verb.all.values())]
    before = [dict(table) for table in tables]
    yield importlib.import_module("tests.strips")
    del sys.modules["tests.strips"]
    for table, entries in zip(tables, before, strict=True):
        table.clear()
        table.update(entries)


@pytest.fixture
def A() -> CSR:
    return rmat(7, dtype=np.int32, high=9)


def test_the_format_has_no_array_of_all_values_and_is_a_matrix_all_the_same(strips: Any, A: CSR) -> None:
    S = A.to("strips")
    assert type(S) is strips.Strips
    assert not hasattr(S, "values")
    assert (S.nnz, S.dtype, S.nbytes, S.device) == (A.nnz, A.dtype, strips.Strips.predicted_nbytes(A), "cpu")
    assert S.T.T is S
    assert S.equals(A)
    assert S.T.equals(A.T)
    assert S.to(device="cpu") is S
    assert pickle.loads(pickle.dumps(S.T)).equals(A.T)
    assert [S.get(u, v) for u in range(0, 128, 9) for v in range(20)] == [
        A.get(u, v) for u in range(0, 128, 9) for v in range(20)
    ]
    assert S.astype(np.float64).pattern().equals(A.pattern())
    assert "Strips" in str(S.footprint("coo", verb="mxv")) or S.footprint("coo", verb="mxv").fits


@pytest.mark.parametrize("semiring", [MinPlus, PlusTimes, LorLand], ids=lambda s: s.name)
def test_its_own_products_gather_nothing(strips: Any, A: CSR, semiring: Any) -> None:
    S, x = A.to(strips.Strips), np.arange(128, dtype=np.int32)
    operands = [x, x * 1.5, SparseVector([3, 99], np.array([1, 2], np.int32), 128)]
    if semiring is LorLand:
        operands = [x > 60, SparseVector([3, 99], [True, True], 128)]
    strips.gathered.clear()
    for y in operands:
        for calls in (lambda M, y=y: mxv(M, y, semiring), lambda M, y=y: vxm(y, M, semiring)):
            for M, wanted in ((S, A), (S.T, A.T)):
                assert_equal(entries(calls(M)), entries(calls(wanted)))
    assert strips.gathered == []
    assert S.kept_nbytes < 8 * A.nbytes


def entries(y: Any) -> Any:
    return (y.indices, y.values) if isinstance(y, SparseVector) else y


VERBS: dict[str, Any] = {
    "mxm": lambda M: mxm(M, M, MinPlus),
    "ewise_add": lambda M: ewise_add(M, M, "plus"),
    "ewise_mult": lambda M: ewise_mult(M, M, "plus"),
    "apply": lambda M: apply(M, "plus", right=3),
    "select": lambda M: select(M, "<", 3),
    "reduce": lambda M: tuple(np.asarray(reduce(M, "min", axis=axis)) for axis in (None, 0, 1)),
    "extract": lambda M: extract(M, [3, 1], None),
}


@pytest.mark.parametrize("name", VERBS)
def test_a_verb_that_takes_it_by_its_rows_says_so_and_keeps_them(strips: Any, A: CSR, name: str) -> None:
    S, call = A.to(strips.Strips), VERBS[name]
    strips.gathered.clear()
    told = explain(call, S)
    call(S)
    assert strips.gathered == ["compressed"] * (2 if name == "reduce" else 1)  # of reduce the columns, too
    assert f"{name} takes the Strips by its rows, as CSR" in str(told)
    assert_equal(told.result, call(A))


def test_a_transpose_is_asked_for(strips: Any, A: CSR) -> None:
    assert transpose(A.to(strips.Strips)).equals(A.T)


ALSO_COLUMNS = ("joint_search", "count_shortest_paths")
"""Algorithms that also look at a vertex's predecessors."""


@pytest.mark.long
@pytest.mark.parametrize("name", ALGORITHMS)
def test_an_algorithm_runs_fused_by_rows_that_are_kept_once(strips: Any, A: CSR, name: str) -> None:
    S, algorithm = A.to(strips.Strips), ALGORITHMS[name]
    strips.gathered.clear()
    told = explain(algorithm, S)
    assert_equal(told.result, algorithm(A))
    assert {run.implementation for run in told.runs} == {"fused"}
    algorithm(S)
    assert strips.gathered == ["compressed"] * (2 if name in ALSO_COLUMNS else 1)


@pytest.mark.long
@pytest.mark.parametrize("name", ALGORITHMS)
def test_a_definition_gathers_only_what_is_kept(strips: Any, A: CSR, name: str) -> None:
    S, algorithm = A.to(strips.Strips), ALGORITHMS[name]
    strips.gathered.clear()
    assert_equal(algorithm(S, fused=False), algorithm(A, fused=False))
    assert set(strips.gathered) <= set(strips.KEEPERS)
