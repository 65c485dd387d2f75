"""A third search goes along few edges: those that are left by way of a hub. Its answers are the definition's bits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algorithms import bellman_ford, delta_stepping, sssp
from algorithms.fused import essential as rules
from algorithms.fused.cpu import essential, near_far
from algorithms.fused.cpu.essential import ESSENTIAL
from bench.graphs import uniform
from formats import CSR, Matrix, from_edges
from formats.matrix.facts import SYMMETRIC
from semiring import MinPlus, explain, select
from semiring.cpu.threads import threads

from .graphs import Graph, graphs, sources, wild_weights
from .test_footprint import peak

DTYPES = ["int32", "int64", "float32", "float64"]


@contextmanager
def always() -> Iterator[None]:
    """Within the block, find and keep the essential edges of any graph, though they be few, or all."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rules, "MIN_NNZ", 1)
        patch.setattr(essential, "SHARE", 1)
        patch.setattr(essential, "BYTES", 1000)
        patch.setattr(near_far, "MIN_SKEW", -1)
        yield


def hubs(dtype: str, n: int = 3000, heaviest: float = 255, seed: int = 3) -> Matrix:
    """A few vertices with most of the edges, and among them edges of no length."""
    draw = np.random.default_rng(seed)
    src, dst = (n * draw.random((2, 40 * n)) ** 4).astype(np.int32)
    weights = heaviest * draw.random(src.size) if dtype.startswith("f") else draw.integers(0, int(heaviest), src.size)
    weights[::50] = 0
    return from_edges(src, dst, weights.astype(dtype), shape=n, dup="min")


def used(A: Matrix, *args: Any, **kwargs: Any) -> int | None:
    """How many essential edges a search goes along, whose answer is the definition's; None if it takes all edges."""
    told = explain(sssp, A, *args, return_parents=True, **kwargs)
    with np.errstate(over="ignore"):
        right = sssp(CSR.trusted(*A.components), *args, return_parents=True, fused=False, **kwargs)
    for x, y in zip(told.result, right, strict=True):
        assert x.dtype == y.dtype
        np.testing.assert_array_equal(x, y)
    return told.runs[0].details.get("essential")


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_third_search_finds_the_same_along_few_edges(dtype: str) -> None:
    A = hubs(dtype)
    assert used(A, 1) is None
    for source in (0, 1, 2, 100, 2990):
        left = used(A, source)
        assert left is not None
        assert left < A.nnz / 3
    assert used(A, 5, limit=7)
    assert used(A, 5, target=400)
    assert used(A, 5, target=A.nrows - 1, limit=3)
    for delta in (0.5, 1, 10**6):
        if dtype.startswith("f") or delta >= 1:
            assert used(A, 7, algorithm="delta-stepping", delta=delta)
    assert used(A, 8, algorithm="bellman-ford")


@pytest.mark.parametrize("dtype", DTYPES)
@given(graph=graphs(wild_weights(np.dtype(np.int32)), max_n=9), first=sources, scale=st.sampled_from([1, 1e-3, 1e30]))
@settings(max_examples=40)
def test_any_graph(dtype: str, graph: Graph, first: int, scale: float) -> None:
    weights = [(u, v, abs(w) if dtype.startswith("i") else np.float32(abs(w) * scale)) for u, v, w in graph.edges]
    A = Graph(graph.n, tuple(weights)).matrix(dtype)
    with always():
        for source in (first % graph.n, *range(graph.n)):
            try:
                right = sssp(A, source, return_parents=True, fused=False)
            except OverflowError:
                with pytest.raises(OverflowError):
                    sssp(A, source)
                continue
            for x, y in zip(sssp(A, source, return_parents=True), right, strict=True):
                np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_edges_that_are_left_are_a_select(dtype: str) -> None:
    """E = A⟨a_uv no worse than D_u ⊗ F_v⟩, which a GPU takes as it is written."""
    A = hubs(dtype, n=400)
    hub = int(np.diff(A.indptr).argmax())
    margin, _ = rules.allowance(A.dtype, A.values.max(), MinPlus)
    B = A.with_values(A.values + margin)
    E = select(A, rules.no_detour(MinPlus), row=sssp(B.T.to(CSR), hub) + margin, col=sssp(B, hub))
    assert 0 < E.nnz < A.nnz / 3
    for source in range(0, A.nrows, 7):
        for x, y in zip(*(sssp(M, source, return_parents=True) for M in (E, A)), strict=True):
            np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sums_that_round(dtype: str) -> None:
    draw = np.random.default_rng(5)
    for _ in range(60):
        n = 40
        src, dst = draw.integers(0, n, (2, 6 * n))
        steps = draw.integers(1, 4, src.size) * (1 + draw.integers(-2, 3, src.size) * np.finfo(dtype).eps) / 3
        A = from_edges(src, dst, steps.astype(dtype), shape=n, dup="min")
        with always():
            for source in range(4):
                used(A, source)


def test_what_is_kept_is_counted_and_goes_with_the_matrix() -> None:
    for dtype in DTYPES:
        A, another = hubs(dtype), hubs(dtype)
        for _ in range(3):
            bellman_ford(another, 0)  # compiles, which takes long where memory is traced
        said = A.footprint(algorithm="bellman_ford").total
        for _ in range(3):
            assert peak(lambda A=A: bellman_ford(A, 0)) <= said  # type: ignore[misc]
        kept = A.known(ESSENTIAL, MinPlus)
        assert kept.nbytes <= A.kept_nbytes <= 4 * A.nnz
        select(A, "<", 5, out=A)
        assert not A.keeps(ESSENTIAL, MinPlus)


@pytest.mark.parametrize(
    "A",
    [
        hubs("int32").with_values(np.full(hubs("int32").nnz, 3, np.int32)),
        uniform(1 << 12, 8),
        hubs("float32").with_values(np.full(hubs("float32").nnz, np.float32(np.inf))),
        hubs("float32", heaviest=3e38),
    ],
    ids=["equal weights", "no hubs", "no edges", "near the end of the range"],
)
def test_nothing_is_kept_where_little_would_be_gained(A: Matrix) -> None:
    for _ in range(3):
        assert used(A, 1) is None
    assert A.kept_nbytes <= 100


def test_searches_that_stop_early_do_not_prepare() -> None:
    A = hubs("int32")
    for _ in range(3):
        assert used(A, 1, target=0) is None
        assert used(A, 1, limit=3) is None


def with_path(A: Matrix, length: int, step: float, into: bool) -> Matrix:
    """A and a path of new vertices, which ends in vertex 0 or begins there."""
    u, v, w = A.to_edges()
    new = A.nrows + np.arange(length)
    src, dst = (new, np.append(new[1:], 0)) if into else (np.append(0, new[:-1]), new)
    values = np.concatenate((w, np.full(length, step))).astype(A.dtype)
    return from_edges(np.concatenate((u, src)), np.concatenate((v, dst)), values, shape=A.nrows + length)


def test_distances_beyond_what_rounding_allows_for() -> None:
    A = with_path(hubs("float32"), 200, 254.3, into=True)  # 200 of the heaviest weights
    used(A, 0)
    assert used(A, 0)
    assert used(A, A.nrows - 200) is None
    assert used(A, 1)
    B = with_path(hubs("float32"), 200, 254.3, into=False)
    for source in (0, 0, 1, B.nrows - 190):
        assert used(B, source) is None


def test_sums_beyond_integers() -> None:
    A = with_path(hubs("int32", heaviest=2**30), 3, 2**30, into=False)
    for _ in range(3):
        with pytest.raises(OverflowError):
            sssp(A, 0)
        with pytest.raises(OverflowError):
            sssp(A, 0, fused=False)


def test_threads_share_them(monkeypatch: Any) -> None:
    monkeypatch.setattr(near_far, "MIN_NNZ_FOR_THREADS", 0)
    monkeypatch.setattr(near_far, "MIN_THREADS", 1)
    monkeypatch.setattr(near_far, "MIN_SHARED_EDGES", 0)
    A = hubs("float32")
    with threads(3):
        for source in (0, 1, 5, 2990):
            found = used(A, source)
        assert found


def test_a_vertex_that_does_not_lead_to_the_hub() -> None:
    A = with_path(hubs("int32"), 50, 3, into=False)
    for source in (0, 0, A.nrows - 40, A.nrows - 1):
        found = used(A, source)
    assert found


def test_of_a_symmetric_matrix_the_distances_serve_both_ways() -> None:
    u, v, w = hubs("int32").to_edges()
    A: Any = from_edges(np.concatenate((u, v)), np.concatenate((v, u)), np.concatenate((w, w)), shape=3000, dup="min")
    A.keep(SYMMETRIC, lambda: True, False)
    for source in (3, 2, 1):
        found = used(A, source)
    assert found is not None
    kept = A.known(ESSENTIAL, MinPlus)
    hub = int(np.diff(A.indptr).argmax())
    assert np.array_equal(kept.to_hub, delta_stepping(CSR.trusted(*A.components), hub))
