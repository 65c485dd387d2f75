"""What several sources give in one pass has the very bits that they give one by one; the cells are those registered."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import algorithms.fused.cpu.searches as searches
from algorithms import bfs
from bench.graphs import grid, rmat
from formats import COO, CSC, CSR, Matrix, from_edges
from semiring import MinPlus, explain, threads
from semiring.verbs.fusible import Fusible

from .conftest import Backend
from .fused_graphs import one_graph, shaped, shapes
from .graphs import on_cpu

INT32 = np.dtype(np.int32)
COUNTS = (0, 1, 2, 63, 64, 65, 130)


def batch_cells(*names: str) -> list[Any]:
    """(algorithm, fmt, backend) for every implementation that takes several, in its format and in two others."""
    return [
        Backend(backend).param(algorithm, fmt, name=f"{algorithm.name}-{fmt.__name__}")
        for algorithm in Fusible.all.values()
        if algorithm.name in names
        for _, backend in algorithm.batch.cells
        for fmt in (CSR, CSC, COO)
    ]


every_search = pytest.mark.parametrize(("algorithm", "fmt", "backend"), batch_cells("bfs"))


def some(A: Matrix, count: int, seed: int = 0) -> list[int]:
    """Vertices of A, some of them twice."""
    return np.random.default_rng(seed).integers(0, A.nrows, count).tolist()


def assert_as_one_by_one(algorithm: Any, A: Matrix, sources: list[int], *args: Any, **how: Any) -> list[str]:
    """Each row is what its source gives alone, with and without trees; how the sources were taken."""
    alone = type(A).trusted(*A.components)
    for trees in (False, True):
        told = explain(algorithm, A, None, *args, sources=sources, return_parents=trees, **how)
        got = told.result if trees else (told.result,)
        for x in got:
            assert x.shape == (len(sources), A.nrows)
        for i, source in enumerate(sources):
            right = algorithm(alone, source, *args, return_parents=trees, **how)
            for x, row in zip(got, right if trees else (right,), strict=True):
                assert x.dtype == row.dtype
                a, b = on_cpu(x[i]), on_cpu(row)
                assert a.tobytes() == b.tobytes(), (i, source, np.flatnonzero(a != b)[:9])
    return [run.why for run in told.runs]


# --- breadth-first search ---------------------------------------------------------------------------------------------


@every_search
def test_searches_of_every_number(algorithm, fmt, backend):
    A = rmat(8, 4).to(fmt, device=backend)
    for count in COUNTS:
        assert_as_one_by_one(algorithm, A, some(A, count))


@every_search
def test_searches_of_graphs_of_awkward_shapes(algorithm, fmt, backend):
    for shape in shapes(large=3000, long=600).values():
        A = shaped(shape, INT32, "ties").to(fmt, device=backend)
        assert_as_one_by_one(algorithm, A, some(A, 9))
    rng = np.random.default_rng(4)
    for _ in range(20):
        A = one_graph(rng, "ties", MinPlus, INT32).to(fmt, device=backend)
        assert_as_one_by_one(algorithm, A, some(A, int(rng.integers(2, 70))))


@every_search
def test_searches_of_more_vertices_than_edges(algorithm, fmt, backend):
    steps = np.arange(0, 400, 6)
    A = from_edges(steps[:-1], steps[1:], shape=400).to(fmt, device=backend)
    for direction in ("push", "pull"):
        assert_as_one_by_one(algorithm, A, [0, 12, 396, 7], direction=direction)


@every_search
def test_searches_within_bounds(algorithm, fmt, backend):
    A = rmat(9, 8).to(fmt, device=backend)
    mask = np.arange(A.nrows) % 7 != 3
    inside = [v for v in some(A, 40) if mask[v]]
    for how in ({"max_level": 2}, {"max_level": 0}, {"direction": "push"}, {"direction": "pull"}):
        assert_as_one_by_one(algorithm, A, some(A, 20), **how)
        assert_as_one_by_one(algorithm, A, inside, mask=A.xp.asarray(mask), **how)


@every_search
def test_searches_that_do_not_meet(algorithm, fmt, backend):
    A = grid(80).to(fmt, device=backend)
    assert_as_one_by_one(algorithm, A, some(A, 30))
    n = 2000
    A = from_edges(np.arange(n - 1), np.arange(1, n), shape=n).to(fmt, device=backend)
    assert_as_one_by_one(algorithm, A, [0, 1, 500, 1999, 0, 1200])


@pytest.mark.parametrize("count", [1, 2, 3])
def test_threads_and_steps_change_nothing_about_the_answer(count, monkeypatch):
    monkeypatch.setattr(searches, "MIN_NNZ_FOR_THREADS", 1)
    with threads(count):
        for pull, push in ((8, 24), (1, 1), (10**9, 10**9), (0, 0)):
            monkeypatch.setattr(searches, "PULL_DIVISOR", max(pull, 1))
            monkeypatch.setattr(searches, "PUSH_DIVISOR", push)
            monkeypatch.setattr(searches, "MIN_EDGES_FOR_THREADS", pull % 7)  # some pushes are shared, too
            A = rmat(10, 8)
            told = explain(bfs, A, sources=some(A, 64)).runs[0].details
            assert (told["schedule"], told["threads"]) == ("a bit for each search", count)
            assert_as_one_by_one(bfs, A, some(A, 64))


def with_tails(A: CSR, count: int = 9, length: int = 6) -> tuple[CSR, list[int]]:
    """The graph with paths that lead into it, and sources in it and on those paths: some are behind the others."""
    u, v, _ = A.to_edges()
    n = A.nrows + count * length
    tail = np.arange(A.nrows, n)
    ahead = np.where(tail % length == (A.nrows - 1) % length, tail % 50, tail + 1)
    B = from_edges(np.append(u, tail), np.append(v, ahead), shape=n)
    return B, [*some(A, 64 - count), *range(A.nrows, n, length + 1)][:64]


@every_search
def test_searches_that_are_behind_the_others(algorithm, fmt, backend):
    A, sources = with_tails(rmat(12, 8))
    A = A.to(fmt, device=backend)
    for how in ({}, {"alpha": 1000, "beta": 1000}, {"max_level": 5}, {"mask": A.xp.arange(A.nrows) != 5}):
        assert_as_one_by_one(algorithm, A, [s for s in sources if s != 5], **how)


def test_lists_of_threads_do_not_meet(monkeypatch):
    """Each thread finds all of its vertices, and more edges to them, after the next thread has found its own."""
    monkeypatch.setattr(searches, "MIN_NNZ_FOR_THREADS", 1)
    monkeypatch.setattr(searches, "MIN_EDGES_FOR_THREADS", 0)
    monkeypatch.setattr(searches, "PULL_DIVISOR", 1)
    monkeypatch.setattr(searches, "run", lambda work, pieces: [work(*piece) for piece in reversed(pieces)])
    u, v = np.divmod(np.arange(9 * 40), 40)
    A = from_edges(np.append(u, np.arange(9, 40)), np.append(v, np.arange(49, 80)), shape=80)
    with threads(3):
        assert_as_one_by_one(bfs, A, list(range(9)))


def test_levels_of_many_digits(monkeypatch):
    """Searches that meet at once, on a path with a fan at its end."""
    monkeypatch.setattr(searches, "MIN_BITS_PER_WORD", 0)
    n, fan = 700, 300
    u = np.append(np.arange(n - 1), np.full(fan, n - 1))
    v = np.append(np.arange(1, n), np.arange(n, n + fan))
    A = from_edges(u, v, shape=n + fan)
    monkeypatch.setattr(searches, "MIN_SEARCHES", 2)
    for sources in ([0] * 64, [0, 1, 2, 3, 14, 15, 16, 250, 690, 699, 999]):
        for direction in ("auto", "pull", "push"):
            assert_as_one_by_one(bfs, A, sources, direction=direction)
    told = explain(bfs, A, sources=[0, 1, 2, 3]).runs[0]
    assert told.details["levels"] == n + 1  # and one that finds nothing


def test_how_searches_are_taken_is_told(monkeypatch):
    A = rmat(8, 8)
    assert explain(bfs, A, sources=some(A, 64)).runs[0].details["schedule"] == "a bit for each search"
    B = grid(80)
    with threads(2):
        assert explain(bfs, B, sources=some(B, 64)).runs[0].details["schedule"] == "a search for each thread"
    with threads(1):
        told = explain(bfs, B, sources=some(B, 64))
    assert [run.details["schedule"] for run in told.runs] == ["a search after the other"]
    assert B.keeps(searches.APART)
    assert not A.keeps(searches.APART)


def test_searches_of_64_bit_indices():
    A = rmat(8, 8)
    B = CSR.trusted(A.indptr.astype(np.int64), A.indices.astype(np.int64), A.values, A.shape)
    for x, y in zip(*(bfs(M, sources=some(A, 64), return_parents=True) for M in (A, B)), strict=True):
        np.testing.assert_array_equal(x, y)
