"""Many edges become the matrix that few do, a range of rows at a time, in little more memory than the matrix takes."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

from bench.graphs import BLOCK, rmat
from bench.graphs.randomness import blocks, rows_of
from formats import arrays, edges, from_edges
from formats.arrays import counts
from formats.places import Place
from formats.storage import sorting
from formats.storage.compressed import expand

pytestmark = pytest.mark.quick

N, M = 1 << 10, 1 << 15


@pytest.fixture
def in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(edges.FEW, True, 500)
    monkeypatch.setitem(edges.LOOKED_AT, True, 1000)
    monkeypatch.setattr(sorting, "BLOCK_BITS", 10)


def ends_of(kind: str) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(1)
    src, dst = random.integers(0, N, (2, M)).astype(np.int32)
    if kind == "a hub":
        src[random.random(M) < 0.6] = 77
    if kind == "repeated":
        src, dst = src % 20, dst % 30
    if kind == "in order, repeated":
        src, dst = np.sort(src), np.zeros_like(dst)
    if kind == "64 bits":
        src, dst = src.astype(np.uint64), dst.astype(np.int64)
    if kind == "in order":
        src, dst = divmod(np.arange(M), M // N)
    return src, dst


@pytest.mark.parametrize("kind", ["shuffled", "a hub", "repeated", "in order, repeated", "64 bits", "in order"])
def test_pieces_make_the_same_matrix(kind: str, monkeypatch: pytest.MonkeyPatch, in_pieces: None) -> None:
    src, dst = ends_of(kind)
    for dtype in ("bool", "int32", "float64"):
        weights = np.random.default_rng(2).integers(0, 2 if dtype == "bool" else 50, M).astype(dtype)
        for dup in ("min", "max", "first", "last", *(("sum",) if dtype != "bool" else ())):
            found: Any = from_edges(src, dst, weights, shape=N, dup=dup)
            found.check()
            with monkeypatch.context() as whole:
                whole.setitem(edges.FEW, True, M)
                expected = from_edges(src, dst, weights, shape=N, dup=dup)
            for mine, its in zip(found.arrays, expected.arrays, strict=True):
                assert mine.dtype == its.dtype
                np.testing.assert_array_equal(mine, its)


def test_what_is_wrong_is_said_as_of_few_edges(in_pieces: None) -> None:
    src, dst = ends_of("shuffled")
    src[:2], dst[:2] = 5, 5
    repeated = np.unique(src * N + dst, return_counts=True)
    u, v = divmod(int(repeated[0][repeated[1] > 1][0]), N)
    with pytest.raises(ValueError, match=rf"edge \({u}, {v}\) is given more than once"):
        from_edges(src, dst, shape=N, dup="error")
    with pytest.raises(ValueError, match=rf"dst must be in \[0, 9\), got {dst[dst >= 9][0]}"):
        from_edges(src, dst, shape=(N, 9))
    with pytest.raises(ValueError, match="values must not be NaN"):
        from_edges(src, dst, np.full(M, np.nan), shape=N)


@pytest.mark.parametrize("kind", ["shuffled", "repeated", "64 bits"])
def test_pieces_take_no_more_than_was_predicted(kind: str, monkeypatch: pytest.MonkeyPatch, in_pieces: None) -> None:
    src, dst = ends_of(kind)
    weights, said = np.ones(M, np.float32), []
    from_edges(src, dst, weights, shape=N)  # compiles
    monkeypatch.setattr(Place, "check_room", lambda place, what, needed: said.append(needed))
    tracemalloc.start()
    try:
        from_edges(src, dst, weights, shape=N)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most <= max(said) + 10_000
    assert max(said) < 2.1 * 8 * M, "all at once, they take 5 times the matrix"


def test_a_generator_takes_little_more_than_its_graph(in_pieces: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BLOCK, "cpu", 1 << 12)
    rmat(14)  # loads loops
    tracemalloc.start()
    try:
        A = rmat(14)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 2.5 * A.nbytes


def test_rows_of_a_block_are_those_of_all_entries() -> None:
    A = rmat(6)
    for size in (1, 7, A.nnz):
        found = [rows_of(A.indptr, slice(k, min(k + size, A.nnz))) for k in range(0, A.nnz, size)]
        np.testing.assert_array_equal(np.concatenate(found), expand(A.indptr))
    assert [*blocks(0, "cpu")] == []


def test_numbers_are_counted_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = np.random.default_rng(1).integers(0, 50, 1000).astype(np.int32)
    expected = np.bincount(numbers, minlength=60)
    monkeypatch.setitem(arrays.COUNTED, True, 10)
    np.testing.assert_array_equal(counts(numbers, 60), expected)
