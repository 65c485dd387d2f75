"""The kernels from several sources, compiled for the host: their steps give what single searches and paths do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from algorithms import bfs, sssp
from algorithms.equations.betweenness import dependencies, exact_below, levels_and_plateaus, rounds_among
from algorithms.fused.cuda import batches, kernels, launches, searches
from algorithms.fused.cuda.centralities import add_through
from algorithms.shared.single_source import Until
from algorithms.shared.traversal import Direction
from bench.graphs import rmat
from formats import CSR, from_edges
from formats.storage.orientation import by_columns
from semiring import MinPlus
from semiring.algebra.codegen import types_of

from .emulated import made, simulated


def moved(A: CSR) -> CSR:
    """A on a simulated GPU."""
    return CSR.trusted(made(A.indptr), made(A.indices), made(A.values), A.shape)


@pytest.mark.parametrize("choice", ["auto", "push", "pull"])
@pytest.mark.parametrize("count", [3, 64])
def test_searches_from_several_sources_are_those_from_each(
    choice: Any, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    A: Any = rmat(11, 24, seed=count)
    C: Any = by_columns(A)
    sources = np.random.default_rng(count).choice(np.flatnonzero(np.diff(A.indptr)), count, replace=False).tolist()
    expected = np.stack([bfs(A, s) for s in sources])
    with simulated(1):
        monkeypatch.setattr(searches, "columns_of", lambda A: (made(C.indptr), made(C.indices)))
        monkeypatch.setattr(searches, "may_be_deep", lambda A: False)
        level = made(np.full((count, A.nrows), -7, np.int32))
        searches.search(moved(A), sources, level, None, Direction(choice), None)
    assert np.array_equal(level, expected)


@pytest.mark.parametrize("every", [1, 8192])
@pytest.mark.parametrize("direction", [Direction("auto", 1e3, 4), Direction("auto", 2, 1e4), Direction("pull")])
def test_searches_of_many_levels_leave_a_mask_out(
    direction: Direction, every: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There are more pulls than planes, and pushes between them."""
    n, rng = 203, np.random.default_rng(1)
    u, far = np.arange(n - 1), rng.integers(0, n, (2, 12))
    A: Any = from_edges(np.r_[u, u + 1, far[0]], np.r_[u + 1, u, far[1]], shape=(n, n))
    C: Any = by_columns(A)
    sources = rng.integers(0, n, 9).tolist()
    mask = rng.random(n) < 0.97
    mask[sources] = True
    expected = np.stack([bfs(A, s, mask=mask) for s in sources])
    with simulated(1), launches(every=every):
        monkeypatch.setattr(searches, "columns_of", lambda A: (made(C.indptr), made(C.indices)))
        monkeypatch.setattr(searches, "may_be_deep", lambda A: False)
        level = made(np.full((len(sources), n), -7, np.int32))
        searches.search(moved(A), sources, level, made(~mask), direction, None)
    assert np.array_equal(level, expected)


@pytest.mark.parametrize("count", [32, 40])
def test_paths_from_several_sources_are_those_from_each(count: int) -> None:
    """Up to 32 sources take half of a warp, whose other half looks at another edge."""
    A: Any = rmat(7, dtype=np.int32, high=9, seed=count)
    sources = list(range(count))
    expected = sssp(A, sources=sources)
    with simulated(1):
        d = made(np.empty((count, A.nrows), A.dtype))
        batches.run_batch(moved(A), sources, d, MinPlus, Until(MinPlus), A.dtype.type(6), 1 << 16)
    assert np.array_equal(d, expected)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
def test_betweenness_of_weights_that_rounding_absorbs(dtype: str) -> None:
    rng = np.random.default_rng(len(dtype))
    for n, m in ((2, 2), (40, 60), (90, 400)):
        weights = 10.0 ** rng.integers(-30, 30, m) if dtype != "int32" else rng.integers(1, 5, m)
        A: Any = from_edges(*rng.integers(0, n, (2, m)), weights.astype(dtype), shape=n, dup="min")
        values = np.where(rng.random(A.nnz) < 0.1, MinPlus.zero(A.dtype), A.values)
        A = CSR(A.indptr, A.indices, values, A.shape)
        expected, d = dependencies(A, list(range(n)), True, True), sssp(A, sources=range(n))
        h = np.stack([rounds_among(*levels_and_plateaus(A, row), row, s) for s, row in enumerate(d)])
        for rounds in (h, None) if exact_below(A) == np.inf else (h,):
            with simulated(1):
                k = kernels.path("betweenness", MinPlus, A.dtype, types_of(A))
                edges = [(*map(made, each.components[:3]), k.index(1)) for each in (A, by_columns(A))]
                total = made(np.zeros(n))
                add_through(k, edges, made(d), kernels.NULL if rounds is None else made(rounds), True, total)
            ends = (d != MinPlus.zero(A.dtype)).sum(axis=1) - 1
            np.testing.assert_allclose(total + ends, expected, rtol=1e-9, atol=1e-12)
