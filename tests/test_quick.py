"""The core of the quick layer: every cell of the verbs' tables once, every algorithm on two formats, the demo.

A cell is called on one matrix of everything, beside dense arithmetic in NumPy on min-plus. Algorithms run
on Rome's roads in CSR and in COO, beside SciPy and what is known of that graph.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csgraph

from algorithms import bellman_ford, bfs, boruvka, da2cf, delta_stepping, dijkstra, scc, sssp
from algorithms.data import rome99
from formats import COO, CSR, Matrix, SparseVector, from_edges, read
from semiring import (
    MinPlus,
    Vector,
    Verb,
    apply,
    assign,
    ewise_add,
    ewise_mult,
    ewise_union,
    extract,
    kronecker,
    mxm,
    mxv,
    reduce,
    select,
    transpose,
    vxm,
)

from .conftest import nothing_named
from .strategies import FLOAT64, OPTIONS, moved

pytestmark = pytest.mark.quick

N = 9
INF = np.inf


@functools.cache
def dense() -> np.ndarray:
    """(N, N), infinity where there is no entry: a hub row, an empty row, an empty column, loops, stored zeros."""
    rng = np.random.default_rng(7)
    D = np.where(rng.random((N, N)) < 0.3, rng.integers(-4, 9, (N, N)), INF)
    D[2], D[5], D[:, 7] = np.arange(N), INF, INF
    D[3, 3] = D[0, 4] = 0
    return D


def matrix(fmt: type[Matrix], device: str) -> Matrix:
    rows, cols = np.nonzero(dense() < INF)
    A = from_edges(rows, cols, dense()[rows, cols], shape=(N, N))
    return A.to(fmt, device=device, **OPTIONS.get(fmt, {}))


def vector(device: str) -> tuple[np.ndarray, Any, Any]:
    """(as NumPy has it, the same on the device, the same sparse)."""
    x = np.where(dense()[0] < INF, INF, dense()[2])
    at = np.flatnonzero(x < INF)
    return x, moved(x, device), moved(SparseVector(at, x[at], N), device)


def as_dense(y: Any) -> np.ndarray:
    """A matrix or vector as an array on the host, infinity for what is absent."""
    host: Any = moved(y, "cpu")
    return host if isinstance(host, np.ndarray) else host.to_dense(INF)


def product(D: np.ndarray, E: np.ndarray) -> np.ndarray:
    """min_k D[i, k] + E[k, j]."""
    return (D[:, :, None] + E[None, :, :]).min(axis=1)


PLACES = np.array([4, 0, 2])
LOW = dense() < 3
CELLS: dict[str, Any] = {
    "mxv": lambda A, x, s: [(mxv(A, x, MinPlus), product(dense(), s[:, None])[:, 0])],
    "vxm": lambda A, x, s: [(vxm(x, A, MinPlus), product(s[None], dense())[0])],
    "mxm": lambda A, x, s: [(mxm(A, A, MinPlus), product(dense(), dense()))],
    "ewise_add": lambda A, x, s: [(ewise_add(A, A, "plus"), dense() * 2)],
    "ewise_mult": lambda A, x, s: [(ewise_mult(A, A, "plus"), dense() * 2)],
    "apply": lambda A, x, s: [(apply(A, "plus", right=3), dense() + 3)],
    "select": lambda A, x, s: [(select(A, "<", 3), np.where(LOW, dense(), INF))],
    "reduce": lambda A, x, s: [
        (reduce(A, "min", axis=1), dense().min(axis=1)),
        (reduce(A, "min", axis=0), dense().min(axis=0)),
        (np.array(float(reduce(A, "min"))), dense().min()),
    ],
    "extract": lambda A, x, s: [(extract(A, PLACES, None), dense()[PLACES]), (extract(A, None, 4), dense()[:, 4])],
    "assign": lambda A, x, s: [(assign(A, 5.0, [5], [7]), placed(dense(), (5, 7), 5.0))],
    "transpose": lambda A, x, s: [(transpose(A), dense().T)],
    "kronecker": lambda A, x, s: [
        (kronecker(A, A, "plus"), np.add.outer(dense(), dense()).swapaxes(1, 2).reshape(N * N, N * N))
    ],
    "ewise_union": lambda A, x, s: [
        (ewise_union(A, 0, select(A, "<", 3), 7, "minus"), dense() - np.where(LOW, dense(), 7))
    ],
}
VECTOR_CELLS: dict[str, Any] = {
    "ewise_add": lambda x, s: [(ewise_add(x, x, MinPlus), s)],
    "ewise_mult": lambda x, s: [(ewise_mult(x, x, MinPlus), s * 2)],
    "apply": lambda x, s: [(apply(x, "plus", right=3, semiring=MinPlus), s + 3)],
    "select": lambda x, s: [(select(x, "<", 3, semiring=MinPlus), np.where(s < 3, s, INF))],
    "reduce": lambda x, s: [(np.array(float(reduce(x, "min"))), s.min())],
    "extract": lambda x, s: [(extract(x, PLACES), s[PLACES])],
    "assign": lambda x, s: [(assign(x, 5.0, [7], semiring=MinPlus), placed(s, 7, 5.0))],
    "ewise_union": lambda x, s: [
        (
            ewise_union(x, 0, select(x, ">", 2, semiring=MinPlus), 1, MinPlus),
            np.where(s > 2, s, np.minimum(s, 1)),
        )
    ],
}


def placed(D: np.ndarray, where: Any, value: float) -> np.ndarray:
    """A copy with one element changed."""
    copy = D.copy()
    copy[where] = value
    return copy


@pytest.mark.cells(*CELLS)
def test_every_cell_computes_what_dense_arithmetic_does(verb, fmt, backend):
    s, x, sparse = vector(backend)
    if fmt is Vector:
        found = [pair for operand in (x, sparse) for pair in VECTOR_CELLS[verb.name](operand, s)]
    else:
        products = verb.name in ("mxv", "vxm")
        operands = (x, sparse) if products else (x,)
        found = [pair for operand in operands for pair in CELLS[verb.name](matrix(fmt, backend), operand, s)]
    for actual, expected in found:
        np.testing.assert_array_equal(as_dense(actual), expected)


def test_every_verb_is_here():
    assert set(Verb.all) == set(CELLS)
    assert {verb for verb in CELLS if (Vector, "cpu") in Verb.all[verb].table} == set(VECTOR_CELLS)


@functools.cache
def rome() -> CSR:
    A: Any = read(rome99)
    return A.astype(FLOAT64)


@functools.cache
def distances() -> np.ndarray:
    return csgraph.dijkstra(rome().to_scipy(), indices=0)


@pytest.mark.parametrize("fmt", [CSR, COO])
class TestRome:
    @pytest.mark.parametrize("algorithm", [sssp, bellman_ford, da2cf, delta_stepping])
    def test_distances_are_scipys_and_the_sum_is_what_is_known(self, algorithm, fmt):
        d = algorithm(rome().to(fmt), 0)
        np.testing.assert_array_equal(d, distances())
        assert (d.max(), d.sum()) == (69102, 116006476)

    def test_levels_are_scipys(self, fmt):
        unweighted = csgraph.dijkstra(rome().to_scipy(), indices=0, unweighted=True)
        np.testing.assert_array_equal(bfs(rome().to(fmt), 0), unweighted)

    @pytest.mark.parametrize("weak", [False, True])
    def test_components_are_scipys(self, weak, fmt):
        count, labels = csgraph.connected_components(rome().to_scipy(), connection="weak" if weak else "strong")
        found = scc(rome().to(fmt), weak=weak)
        assert np.unique(np.stack((found, labels)), axis=1).shape[1] == count == np.unique(found).size

    def test_a_forest_weighs_what_is_known(self, fmt):
        F = boruvka(rome().to(fmt), symmetrize=True)
        assert (F.nnz, F.values.sum()) == (3352, 1186386)


def test_dijkstra_settles_what_lies_near():
    d = dijkstra(rome(), 0, limit=5000)
    np.testing.assert_array_equal(d, np.where(distances() <= 5000, distances(), INF))


def test_the_demo_prints_a_path_through_rome(fine):
    said = fine("demo")
    assert "116,006,476" in said.out


@pytest.mark.parametrize(
    ("arguments", "quick"),
    [([], True), (["-n2"], True), (["tests/test_docs.py"], False), (["-kbfs"], False), (["-mfull"], False)],
)
def test_only_what_names_no_tests_runs_the_quick_layer(pytestconfig, monkeypatch, arguments, quick):
    monkeypatch.chdir(pytestconfig.rootpath)
    config = pytest.Config.fromdictargs({"plugins": []}, ["-pno:cacheprovider", *arguments])
    assert nothing_named(config) == quick
