"""Kernels on columns of 32 bits beside counts of 64, compiled for the host: they give what the host gives."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from algorithms import bfs, boruvka, core_number, scc, sssp
from algorithms.fused.cpu import bfs_order as order_on_cpu
from algorithms.fused.cpu import topological as topological_on_cpu
from algorithms.fused.cuda import (
    batches,
    bfs_order,
    centralities,
    graphs,
    kernels,
    out_of_core_msf,
    paths,
    pruned_pull,
    searches,
    topological,
)
from algorithms.fused.cuda.layouts import PullControl
from algorithms.shared.single_source import Until
from algorithms.shared.traversal import Direction
from bench.graphs import rmat
from bench.laboratory import da2cf as laboratory
from formats import CSC, CSR, SparseVector, from_edges
from formats.storage.pieces import turned_in_pieces
from semiring import MinPlus, mxv, reduce, vxm
from semiring.algebra.codegen import IndexTypes, types_of
from semiring.algebra.semirings import find_semiring
from semiring.cuda import compile, entries, radix, statistics, tiles
from semiring.cuda.compressed import Compressed
from semiring.cuda.kernels import ARGUMENTS, Kernels, kernels_for
from semiring.vectors import renumbered

from .emulated import made, simulated

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="no g++, which compiles the simulated kernels")

VERTICES, COUNTED = 512, 600
SOURCES = [3, 5, 7, 8, 9]
PUSH, AUTO = Direction("push"), Direction("auto", 15, 18)


@pytest.fixture(autouse=True)
def gpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A simulated GPU; numbers beyond COUNTED take 64 bits."""
    monkeypatch.setattr("formats.arrays.INT32_MAX", COUNTED)
    monkeypatch.setattr(compile, "ahead", lambda *units: None)
    with simulated(1):
        yield


def graph(symmetric: bool = False) -> CSR:
    """An R-MAT graph of more entries than are counted in 32 bits."""
    rows, cols, values = rmat(9, dtype=np.float32).to_edges()
    if symmetric:
        rows, cols, values = np.r_[rows, cols], np.r_[cols, rows], np.r_[values, values]
    A = from_edges(rows, cols, values, shape=VERTICES)
    assert types_of(A) == IndexTypes(np.dtype(np.int64), np.dtype(np.int32))
    return A


def moved(A: Any) -> Any:
    """A in arrays of the simulated GPU."""
    return type(A).trusted(made(A.indptr), made(A.indices), made(A.values), A.shape)


# --- algorithms -------------------------------------------------------------------------------------------------------


def searched(how: Direction) -> Any:
    return lambda A: graphs.searched(A, 3, None, how, None, True)


def shortest(width: float = 40, doublings: int = 0) -> Callable[[CSR], Any]:
    how = paths.Schedule("buckets", np.float32(width), few=50, doublings=doublings)
    return lambda A: paths.solve(A, 3, MinPlus, Until(MinPlus), how).d


def several_searches(A: CSR) -> Any:
    found = [made(np.empty((len(SOURCES), VERTICES), np.int32)) for _ in range(2)]
    searches._searches(A, SOURCES, (found[0], found[1]), None, AUTO, None, True)
    return found


def several_paths(A: CSR) -> Any:
    d = made(np.empty((len(SOURCES), VERTICES), np.float32))
    batches.run_batch(A, SOURCES, d, MinPlus, Until(MinPlus), np.float32(40), 1 << 16)
    return d


def one_after_the_other(A: CSR) -> Any:
    component, k = renumbered(scc(A))
    return topological.numbered(A, made(component), k), topological_on_cpu.numbered(A, component, k)


WITH_PARENTS: Any = {"return_parents": True}
ALGORITHMS: dict[str, tuple[bool, Callable[[CSR], Any], Callable[[CSR], Any]]] = {
    "search": (False, searched(AUTO), lambda A: bfs(A, 3, **WITH_PARENTS)),
    "pushed search": (False, searched(PUSH), lambda A: bfs(A, 3, **WITH_PARENTS)),
    "searches": (False, several_searches, lambda A: bfs(A, sources=SOURCES, **WITH_PARENTS)),
    "weak components": (False, lambda A: graphs.connected(A, False), lambda A: scc(A, weak=True)),
    "components": (True, lambda A: graphs.connected(A, True), lambda A: scc(A, weak=True)),
    "strong components": (False, lambda A: graphs.strong(A), scc),
    "strong components by rows": (False, lambda A: graphs.strong_by_rows(A), scc),
    "forest": (True, lambda A: graphs.forest_of(A, False, True)[0], boruvka),
    "forest in one pass": (True, lambda A: out_of_core_msf.forest_in_one_pass(A, False, True)[0], boruvka),
    "forest of one way": (
        False,
        lambda A: out_of_core_msf.forest_in_one_pass(A, True, False)[0],
        lambda A: boruvka(A, symmetrize=True),
    ),
    "paths": (False, shortest(), lambda A: sssp(A, 3)),
    "paths in steps of several widths": (False, shortest(0.5, 7), lambda A: sssp(A, 3)),
    "tree": (False, lambda A: paths.tree(A, made(sssp(A, 3)), 3, MinPlus), lambda A: sssp(A, 3, **WITH_PARENTS)[1]),
    "paths from several": (False, several_paths, lambda A: sssp(A, sources=SOURCES)),
    "cores": (True, lambda A: centralities._core_number(A, False), core_number),
    "queue": (False, lambda A: bfs_order.queued(A, 0, True), lambda A: order_on_cpu.queued(A, 0, True)),
    "order": (False, lambda A: one_after_the_other(A)[0], lambda A: one_after_the_other(A)[1]),
}


def parts(answer: Any) -> list[np.ndarray]:
    if isinstance(answer, tuple | list):
        return [part for each in answer for part in parts(each)]
    return [np.asarray(part) for part in (answer.to_edges() if hasattr(answer, "to_edges") else (answer,))]


@pytest.mark.parametrize("name", ALGORITHMS)
def test_an_algorithm_reads_narrow_columns(name: str) -> None:
    symmetric, there, here = ALGORITHMS[name]
    A = graph(symmetric)
    for mine, its in zip(parts(there(A)), parts(here(A)), strict=True):
        assert np.array_equal(mine, its)


def test_listed_edges_with_narrow_ends_keep_the_sign_of_zero() -> None:
    A: Any = graph(symmetric=True)
    A = A.with_values(np.where(A.values < 100, np.float32(-0.0), A.values))
    found, expected = out_of_core_msf.forest_in_one_pass(A, False, False)[0], boruvka(A)
    assert found.equals(expected)
    assert np.signbit(found.values).any()
    assert np.array_equal(np.signbit(found.values), np.signbit(expected.values))


def test_pruned_pull_reads_narrow_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    A = graph()
    columns: Any = turned_in_pieces(A, 1 << 20, lambda size, dtype: made(np.empty(size, dtype)), by_weight=True)
    monkeypatch.setattr(pruned_pull, "most_light", lambda lengths, budget: 3)
    P = pruned_pull._with_lightest(A, columns.indptr, columns.pairs, 1.0)
    assert P is not None
    assert types_of(P.graph) == types_of(A)
    assert np.array_equal(P.least, reduce(A, "min", axis=0))
    d = made(np.full(VERTICES, np.inf, np.float32))  # bounds that leave no edge out but those from where no edge leads
    k = kernels.path("pruned_pull", MinPlus, A.dtype, types_of(A))
    control, listed = made(np.zeros(PullControl.words, np.uint64)), made(np.empty(VERTICES, np.int32))
    k.plain("list_readers", VERTICES, (control, P.next, d, P.lowest, np.int64(VERTICES), listed))
    lengths = np.diff(columns.indptr)
    assert sorted(listed[: int(control[pruned_pull.LISTED])]) == np.flatnonzero(lengths > P.most).tolist()
    ends, weights = [made(np.empty(A.nnz, np.int32)) for _ in range(2)], made(np.empty(A.nnz, np.float32))
    rest = P.least, P.lowest, *ends, weights, np.uint64(A.nnz)
    k.plain("pull_prefixes", 16, (control, P.starts, P.pairs, k.index(P.most), listed, d, *rest))
    count = int(control[pruned_pull.FOUND])
    u, v, w = (part[:count] for part in (*ends, weights))
    assert all(A[int(i), int(j)] == x for i, j, x in zip(u, v, w, strict=True))
    place = np.arange(A.nnz) - np.repeat(columns.indptr[:-1], lengths)
    origin = np.asarray(columns.pairs & 0xFFFFFFFF)
    assert count == (np.isfinite(P.least[origin]) & (place >= P.most)).sum() > 0


# --- verbs ------------------------------------------------------------------------------------------------------------

X = np.arange(VERTICES, dtype=np.float32)
LOR_LAND = find_semiring("lor_land")


def kernels_of(A: CSR, s: Any = MinPlus, **unit: Any) -> Kernels:
    return kernels_for(s, A.dtype, types_of(A), **unit)


def gathered(A: CSR) -> Any:
    return Compressed().gather(kernels_of(A), A, made(X), MinPlus, None)


def pulled(kernel: Any) -> Callable[[CSR], Any]:
    return lambda A: laboratory.pulled(kernel, made(X), moved(A).T, MinPlus, made(X % 3 == 0))


def pulled_here(A: CSR) -> Any:
    return mxv(A, X, MinPlus, mask=X % 3 == 0)


def found(A: CSR) -> Any:
    P: Any = A.pattern()
    return Compressed().gather(kernels_of(P, LOR_LAND), P, made(X % 7 == 0), LOR_LAND, made(np.ones(VERTICES, bool)))


def sparse(count: int) -> tuple[np.ndarray, np.ndarray]:
    return np.arange(count, dtype=np.int32), X[:count]


def pushed(count: int) -> Callable[[CSR], Any]:
    def run(A: CSR) -> Any:
        x = SparseVector.trusted(*map(made, sparse(count)), VERTICES)
        y: Any = Compressed().push(kernels_of(A), A, x, MinPlus, matrix_first=False)
        return y.to_dense(np.float32(np.inf))

    return run


def pushed_here(count: int) -> Callable[[CSR], Any]:
    return lambda A: vxm(SparseVector(*sparse(count), VERTICES), A, MinPlus).to_dense(np.float32(np.inf))


def arguments(A: CSR) -> Any:
    y, which = made(np.empty(VERTICES, np.float32)), made(np.empty(VERTICES, np.int64))
    tiles.gather_arguments(kernels_of(A, unit=ARGUMENTS), A, made(X), y, which)
    return y, which


VERBS: dict[str, tuple[Callable[[CSR], Any], Callable[[CSR], Any]]] = {
    "gather": (gathered, lambda A: mxv(A, X, MinPlus)),
    "a thread a row": (pulled("pull_threads"), pulled_here),
    "a thread a row, cached": (pulled("pull_cached_threads"), pulled_here),
    "until one is found": (found, lambda A: mxv(A.pattern(), X % 7 == 0, LOR_LAND)),
    "arguments": (arguments, lambda A: mxv(A, X, MinPlus, return_argument=True)),
    "push of few": (pushed(5), pushed_here(5)),
    "push of all": (pushed(VERTICES), pushed_here(VERTICES)),
    "columns": (lambda A: radix.turned(A.indptr, A.indices, A.values, A.ncols), lambda A: A.to(CSC).components[:3]),
    "some entries": (
        lambda A: entries.kept(A, entries.flagged(A, made(A.values > 100))),
        lambda A: from_edges(*(part[A.values > 100] for part in A.to_edges()), shape=VERTICES),
    ),
    "a block": (
        lambda A: entries.picked(A, made(np.arange(10, 300)), made(np.arange(5, 400))),
        lambda A: A[10:300, 5:400],
    ),
    "a column": (lambda A: entries.minor_line(A, 3), lambda A: (A[:, 3].indices, A[:, 3].values)),
    "a row": (lambda A: entries.major_line(moved(A), 3), lambda A: (A[3, :].indices, A[3, :].values)),
}


@pytest.mark.parametrize("name", VERBS)
def test_a_verb_reads_narrow_columns(name: str) -> None:
    there, here = VERBS[name]
    A = graph()
    for mine, its in zip(parts(there(A)), parts(here(A)), strict=True):
        assert np.array_equal(mine, its)


def test_columns_stay_narrow() -> None:
    A = graph()
    starts, rows, _ = radix.turned(A.indptr, A.indices, A.values, A.ncols)
    assert (starts.dtype, rows.dtype) == (np.int64, np.int32)
    assert types_of(entries.kept(A, entries.flagged(A, made(A.values > 1)))) == types_of(A)


@pytest.mark.parametrize("symmetric", [True, False])
def test_symmetry_is_seen_in_narrow_columns(symmetric: bool) -> None:
    assert statistics.same_reverses(graph(symmetric), True)[0] is symmetric
