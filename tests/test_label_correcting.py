"""Weights of any sign, and queues of single vertices, as a compiled loop: what the definition finds, or a cycle."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from algorithms import NegativeCycle, bellman_ford, path
from bench.graphs import grid, rmat
from bench.laboratory import bellman_ford_by
from formats import CSR, Matrix, from_edges
from semiring import LorLand, MaxMin, MaxPlus, MinPlus, explain

from .graphs import Graph


def with_potentials(A: Matrix, most: int, dtype: Any = np.int32, sign: int = 1) -> Matrix:
    """Weights w + p_u - p_v, by which no cycle is better than nothing, as none was."""
    p = np.random.default_rng(1).integers(0, most, A.nrows)
    u, v, w = A.to_edges()
    return from_edges(u, v, (sign * (w.astype(np.int64) + p[u] - p[v])).astype(dtype), shape=A.shape)


def fused(A: Matrix, *args: Any, **kwargs: Any) -> Any:
    """The answer, which the compiled loop has given."""
    told = explain(bellman_ford_by if "schedule" in kwargs else bellman_ford, A, *args, **kwargs)
    assert {run.implementation for run in told.runs} == {"fused"}, told
    return told.result


def assert_improves(cycle: list[int], A: Matrix, sign: int = 1) -> None:
    assert cycle[0] == cycle[-1] == min(cycle)
    assert len(set(cycle)) == len(cycle) - 1
    assert sign * sum(A[edge].item() for edge in pairwise(cycle)) < 0


def test_the_queue_finds_the_definitions_distances_and_tree():
    roads, hubs = grid(12), rmat(7, 8)
    cases: list[tuple[Any, Any]] = [
        (roads.astype(np.float64), MinPlus),
        (with_potentials(roads, 3000), MinPlus),
        (with_potentials(hubs, 600, np.int64, -1), MaxPlus),
        (hubs.astype(np.float32), MaxMin),
        (hubs.pattern(), LorLand),
    ]
    for A, s in cases:
        right = bellman_ford(A, 3, s, return_parents=True, fused=False)
        found = fused(A, 3, s, return_parents=True, schedule="fifo")
        for x, y in zip(found, right, strict=True):
            assert x.dtype == y.dtype
            np.testing.assert_array_equal(x, y)
        until = {"target": 9} if s is LorLand else {"limit": np.median(right[0]).item(), "target": 9}
        np.testing.assert_array_equal(
            fused(A, 3, s, schedule="fifo", **until), bellman_ford(A, 3, s, fused=False, **until)
        )


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
@pytest.mark.parametrize("semiring", [MinPlus, MaxPlus], ids=["min_plus", "max_plus"])
def test_a_planted_cycle_is_found_and_without_its_edge_there_is_none(semiring, dtype):
    sign = 1 if semiring is MinPlus else -1
    A = with_potentials(rmat(9, 8), 300, dtype, sign)
    source = int(np.diff(A.indptr).argmax())
    d, parent = fused(A, source, semiring, return_parents=True)
    zero = semiring.zero(A.dtype)
    far = int(np.flatnonzero(d != zero)[-1])
    way = path(parent, far)
    u, v, w = A.to_edges()
    back = -sign * (abs(int(d[far])) + 300 * len(way) + 10_000)
    edges = np.append(u, far), np.append(v, way[1]), np.append(w, np.asarray(back, A.dtype))
    B = from_edges(*edges, dup=semiring.add.name, shape=A.shape)
    cycles = []
    for _ in range(3):
        with pytest.raises(NegativeCycle) as caught:
            bellman_ford(B, source, semiring)
        cycles.append(caught.value.cycle)
    assert cycles[0] == cycles[1] == cycles[2]
    assert_improves(cycles[0], B, sign)


def test_a_cycle_that_the_source_does_not_reach_is_no_error():
    A = Graph(5, ((0, 1, -2), (2, 3, -1), (3, 2, -1), (3, 1, 1), (4, 4, -1))).matrix(np.int32)
    assert fused(A, 0).tolist()[:2] == [0, -2]
    assert fused(A, sources=[0, 1]).shape == (2, 5)


def test_a_negative_loop_at_the_source_is_a_cycle():
    for edges in (((0, 0, -1),), ((0, 1, 2), (1, 0, -3)), ((0, 1, 1), (1, 2, 1), (2, 1, -2))):
        with pytest.raises(NegativeCycle) as caught:
            bellman_ford(Graph(3, edges).matrix(np.int32), 0)
        assert_improves(caught.value.cycle, Graph(3, edges).matrix(np.int32))


def test_an_int32_cycle_beyond_the_ends_of_the_range_is_a_cycle_and_no_overflow():
    last = 2**31 - 2
    behind = Graph(3, ((0, 1, last), (1, 2, 5), (2, 2, -1)))
    deep = Graph(4, ((0, 1, -last), (1, 2, -5), (2, 3, -5), (3, 3, -1)))
    for graph in (behind, deep):
        with pytest.raises(NegativeCycle) as caught:
            bellman_ford(graph.matrix(np.int32), 0)
        assert len(caught.value.cycle) == 2


def test_int32_lengths_that_do_not_fit_are_an_overflow_and_longer_walks_that_do_not_are_none():
    last = 2**31 - 2
    for edges in (((0, 1, -last), (1, 2, -5)), ((0, 1, last), (1, 2, 5), (2, 3, -9), (3, 3, 1))):
        with pytest.raises(OverflowError, match="does not fit int32"):
            bellman_ford(Graph(4, edges).matrix(np.int32), 0)
    detour = Graph(3, ((0, 1, last), (1, 2, 7), (0, 2, -1)))
    assert fused(detour.matrix(np.int32), 0).tolist() == [0, last, -1]


def test_what_only_the_definition_can_tell_is_left_to_it():
    told = explain(bellman_ford, Graph(2, ((0, 1, -(2**62)),)).matrix(np.int64), 0)
    assert "64 bits" in told.runs[0].why
    assert told.result.tolist() == [0, -(2**62)]
    eps = np.finfo(np.float64).eps  # 1 + ε/2 is 1, and 1 - ε/2 is not
    A = Graph(4, ((0, 1, 1.0), (1, 2, eps / 2), (2, 1, -eps / 2))).matrix(np.float64)
    told = explain(bellman_ford, A, 0)
    assert "rounded" in told.runs[0].why
    np.testing.assert_array_equal(told.result, bellman_ford(A, 0, fused=False))


def test_labels_that_an_improvement_before_them_leaves_as_they_are_count_again():
    big = float(2**53)  # to which 1 adds nothing
    A = Graph(6, ((0, 1, 3.0), (1, 3, big), (3, 4, 1.0), (0, 2, 1.0), (2, 1, 1.0), (4, 5, -7.0))).matrix(np.float64)
    found = fused(A, 0, return_parents=True)
    for x, y in zip(found, bellman_ford(A, 0, return_parents=True, fused=False), strict=True):
        np.testing.assert_array_equal(x, y)


def test_it_says_what_it_did():
    A = with_potentials(grid(30), 3000)
    facts = explain(bellman_ford, A, 0).runs[0].details
    assert facts["schedule"] == "fifo queue and tree"
    assert A.nnz <= facts["edges"] <= 4 * A.nnz


def test_a_chain_into_a_star_takes_one_look_at_each_edge():
    length, rays = 200, 1000
    hub = length - 1
    src = np.append(np.arange(hub), np.full(rays, hub))
    A = from_edges(src, np.arange(1, length + rays), np.resize([-3, 2], src.size), shape=length + rays)
    told = explain(bellman_ford, A, 0)
    assert told.runs[0].details["edges"] == A.nnz
    np.testing.assert_array_equal(told.result, bellman_ford(A, 0, fused=False))


def test_wide_indices_and_values_that_are_one():
    A = Graph(4, ((0, 1, -1), (1, 2, -1), (0, 3, -1))).matrix(np.int32)
    wide = CSR.trusted(A.indptr.astype(np.int64), A.indices.astype(np.int64), A.values, A.shape)
    assert fused(wide, 0).tolist() == [0, -1, -2, -1]
    assert fused(A.with_values(np.broadcast_to(np.int32(-1), 3)), 0).tolist() == [0, -1, -2, -1]
