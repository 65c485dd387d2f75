"""The ends of the dtype's range: distances right up to them, and an error where a shortest path goes beyond."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algorithms import (
    NegativeCycle,
    all_pairs,
    bellman_ford,
    closeness_centrality,
    closure,
    diameter,
    eccentricity,
    factor,
    harmonic_centrality,
    sssp,
)
from formats import CSR, SparseVector, from_edges
from semiring import MaxMin, MaxPlus, MinPlus, mxm, mxv, vxm
from semiring.algebra.semirings import find_semiring
from semiring.statistics import sums_fit

from .graphs import (
    DTYPES,
    SHORTEST,
    Graph,
    as_array,
    assert_negative_cycle,
    every_format,
    expected,
    graphs,
    on_cpu,
    solve,
    sources,
)
from .strategies import FORMATS, OPTIONS

pytestmark = pytest.mark.as_written


def limits(dtype: np.dtype) -> tuple[int, int]:
    """The least and the greatest distance that an integer dtype can tell from its ends."""
    return np.iinfo(dtype).min + 1, np.iinfo(dtype).max - 1


@every_format
@pytest.mark.parametrize("dtype", DTYPES[:2], ids=str)
@pytest.mark.parametrize("end", [0, 1], ids=["negative", "positive"])
def test_integer_distances_up_to_the_ends(verb, fmt, backend, dtype, end):
    last, step = limits(dtype)[end], (-1, 1)[end]
    near = Graph(3, ((0, 1, last - 5 * step), (1, 2, 5 * step)))
    assert solve(near.matrix(dtype), 0, fmt, backend)[0].tolist() == [0, last - 5 * step, last]
    over = Graph(4, ((0, 1, last - 5 * step), (1, 2, 6 * step), (2, 3, 9 * step)))
    with pytest.raises(OverflowError, match=f"does not fit {dtype}"):
        solve(over.matrix(dtype), 0, fmt, backend)
    far_over = Graph(4, tuple((v, v + 1, last) for v in range(3)))
    with pytest.raises(OverflowError, match=f"does not fit {dtype}"):
        solve(far_over.matrix(dtype), 0, fmt, backend)
    wider = np.int64 if dtype == np.int32 else np.float64
    for graph in (over, far_over):
        lengths = solve(graph.matrix(wider), 0, fmt, backend)[0]
        np.testing.assert_array_equal(lengths, expected(graph, wider, 0)[0])


@every_format
@pytest.mark.parametrize("dtype", DTYPES[:3], ids=str)
def test_a_path_that_leaves_the_range_matters_only_where_no_other_stays_in_it(verb, fmt, backend, dtype):
    last = np.iinfo(dtype).max - 1 if dtype.kind == "i" else np.finfo(dtype).max
    detour = Graph(3, ((0, 1, last), (1, 2, last), (0, 2, 7)))
    d = bellman_ford(detour.matrix(dtype).to(fmt, device=backend), 0)
    assert on_cpu(d).tolist() == [0, last, 7]
    unreachable = Graph(4, ((1, 2, last), (2, 3, last)))
    assert (
        on_cpu(bellman_ford(unreachable.matrix(dtype).to(fmt, device=backend), 0)).tolist()[1:]
        == [MinPlus.zero(dtype)] * 3
    )


@every_format
def test_float32_sums_to_infinity(verb, fmt, backend):
    graph = Graph(3, ((0, 1, 3e38), (1, 2, 3e38)))
    with pytest.raises(OverflowError, match="does not fit float32"):
        solve(graph.matrix(np.float32), 0, fmt, backend)
    assert solve(graph.matrix(np.float64), 0, fmt, backend)[0].tolist() == [0, 3e38, 6e38]


@every_format
@pytest.mark.parametrize("dtype", DTYPES[2:], ids=str)
def test_float_overflow_off_the_shortest_paths_is_silent(verb, fmt, backend, dtype):
    last = float(np.finfo(dtype).max)
    detour = Graph(3, ((0, 1, last), (1, 2, last), (0, 2, 7)))
    assert [x.tolist() for x in solve(detour.matrix(dtype), 0, fmt, backend)] == [[0, last, 7], [-1, 0, 0]]


@every_format
@pytest.mark.parametrize("dtype", DTYPES[2:], ids=str)
def test_float_sums_to_minus_infinity(verb, fmt, backend, dtype):
    last = float(np.finfo(dtype).min)
    chain = Graph(4, tuple((v, v + 1, last) for v in range(3)))
    with pytest.raises(OverflowError, match=f"does not fit {dtype}"):
        solve(chain.matrix(dtype), 0, fmt, backend)
    n = 7  # no sum goes down any more when the cycle is closed
    ring = Graph(n + 1, ((n, 0, 0), *((v, (v + 1) % n, last) for v in range(n))))
    with pytest.raises(NegativeCycle) as caught:
        solve(ring.matrix(dtype), n, fmt, backend)
    assert_negative_cycle(caught.value.cycle, ring, n)


@every_format
@given(graph=graphs(st.sampled_from([0, 1, 2**30, 2**31 - 2]), max_n=6), source=sources)
@settings(max_examples=40)
def test_int32_is_right_or_an_overflow(verb, fmt, backend, graph, source):
    lengths = SHORTEST.distances(graph.n, graph.weights(int), source % graph.n)
    A = graph.matrix(np.int32).to(fmt, device=backend)
    if any(length is not None and length >= 2**31 - 1 for length in lengths):
        with pytest.raises(OverflowError):
            bellman_ford(A, source % graph.n)
    else:
        assert on_cpu(bellman_ford(A, source % graph.n)).tolist() == as_array(lengths, np.int32, MinPlus).tolist()


@every_format
@pytest.mark.parametrize("dtype", DTYPES[:2], ids=str)
def test_a_negative_cycle_of_huge_weights_is_one_nevertheless(verb, fmt, backend, dtype):
    """Its sums reach the end of the range before they have gone around."""
    weight = np.iinfo(dtype).min // 2 + 1
    for n in (2, 3, 5, 7, 40):
        ring = Graph(n + 1, ((n, 0, 0), *((v, (v + 1) % n, weight) for v in range(n))))
        with pytest.raises(NegativeCycle) as caught:
            solve(ring.matrix(dtype), n, fmt, backend)
        assert_negative_cycle(caught.value.cycle, ring, n)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_sums_that_surely_fit_are_told_by_the_largest_values(dtype):
    most, absent = (np.iinfo(dtype) if dtype.kind == "i" else np.finfo(dtype)).max, MinPlus.zero(dtype)
    A = Graph(2, ((0, 1, 7), (1, 0, -9))).matrix(dtype)
    for entries, fit in (([0, 5], True), ([-5, absent], True), ([absent, absent], True), ([0, most // 4 * 3], False)):
        assert sums_fit(A, np.array(entries, dtype), MinPlus) is fit
    assert not sums_fit(A.with_values(A.values * 0 - most // 4 * 3), np.array([0, 5], dtype), MinPlus)
    assert not sums_fit(A, np.array([0, 5], dtype), MaxMin)  # no sums


@pytest.mark.parametrize("name", ["max_times", "min_times"])
@pytest.mark.parametrize("fmt", FORMATS, ids=lambda fmt: fmt.__name__)
def test_zero_times_infinity_has_no_place_in_an_order(fmt, name):
    s = find_semiring(name)
    zero = s.zero(np.dtype(np.float64))
    A = from_edges([0, 0, 1], [0, 1, 0], [0.0, 2.0, 0.0], shape=2).to(fmt, **OPTIONS.get(fmt, {}))
    x = np.array([-zero, 3.0])
    for operand in (x, SparseVector.from_dense(x, zero)):
        for y in (mxv(A, operand, s), vxm(operand, A.T, s)):
            assert (y if isinstance(y, np.ndarray) else y.to_dense(zero)).tolist() == [6, zero]
    if fmt is CSR:
        C = mxm(A, from_edges([0, 1], [0, 0], x, shape=2), s)
        assert C.to_dense(zero).tolist() == [[6, zero], [zero, zero]]


# --- what is made of distances ----------------------------------------------------------------------------------------


def spider(lengths: list[float], dtype: str, legs: int = 1) -> CSR:
    """Undirected: a vertex with an edge of each of the lengths, each in so many legs."""
    u, v, w = [], [], []
    for k, length in enumerate(lengths):
        ids = [0, *range(1 + k * legs, 1 + (k + 1) * legs)]
        u, v, w = [*u, *ids[:-1]], [*v, *ids[1:]], [*w, *[length] * legs]
    return from_edges([*u, *v], [*v, *u], np.array([*w, *w], dtype))


@pytest.mark.parametrize(
    ("dtype", "lengths"),
    [
        ("int64", [2**62] * 2),
        ("int64", [2**62] * 5),
        ("int64", [2**62, 2**62 - 1]),
        ("int64", [1, 2**62 - 1, 2**62]),
        ("int32", [2**30] * 3),
        ("int32", [2**30, 2**30 - 1]),
        ("float64", [1e308] * 3),
        ("float64", [1e308, 8e307]),
        ("float32", [2e38] * 4),
    ],
)
@pytest.mark.parametrize("call", [eccentricity, diameter, closeness_centrality, harmonic_centrality])
def test_no_measure_of_a_graph_passes_over_a_distance_that_does_not_fit(
    call: Callable[..., Any], dtype: str, lengths: list[float]
) -> None:
    with pytest.raises(OverflowError, match=f"a distance does not fit {dtype}"):
        call(spider(lengths, dtype), weighted=True)


@pytest.mark.parametrize(
    ("dtype", "length"),
    [
        ("int64", 2**61),
        ("int64", 2**62 - 1),
        ("int32", 2**30 - 1),
        ("float64", 8e307),
        ("float64", 1e19),
        ("float32", 1e38),
    ],
)
@pytest.mark.parametrize("legs", [1, 2])
def test_the_largest_distances_that_fit_are_measured(dtype: str, length: float, legs: int) -> None:
    """Bounds that do not fit are no answers."""
    each = length if dtype.startswith("f") and legs == 1 else length / 2 if dtype.startswith("f") else length // legs
    A = spider([each] * 3, dtype, legs)
    right = sssp(A, sources=range(A.nrows)).max(axis=1)
    assert eccentricity(A, weighted=True).tolist() == right.tolist()
    assert diameter(A, weighted=True) == right.max() == 2 * legs * np.dtype(dtype).type(each)


def test_sums_of_distances_fit_or_are_an_overflow() -> None:
    A = spider([8e307] * 3, "float64")
    with pytest.raises(OverflowError, match="a sum of distances does not fit float64"):
        closeness_centrality(A, weighted=True)
    assert harmonic_centrality(A, weighted=True)[0] == pytest.approx(3 / 8e307)
    with pytest.raises(OverflowError, match="a sum of 1 / distance does not fit float64"):
        harmonic_centrality(spider([1e-310], "float64"), weighted=True)
    assert closeness_centrality(spider([2**61] * 3, "int64"), weighted=True)[0] == pytest.approx(2.0**-61)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_diameter_is_the_largest_eccentricity_however_sums_are_rounded(dtype: str) -> None:
    rng = np.random.default_rng(1)
    for _ in range(40):
        n = int(rng.integers(100, 200))
        u, v = np.r_[np.arange(n - 1), rng.integers(0, n, n // 20)], np.r_[np.arange(1, n), rng.integers(0, n, n // 20)]
        w = (rng.random(u.size) ** 3 + 1e-3).astype(dtype)
        A = from_edges(np.r_[u, v], np.r_[v, u], np.r_[w, w], shape=n)
        assert diameter(A, weighted=True) == eccentricity(A, weighted=True).max()


def longest_first(edges: dict[tuple[int, int], int], n: int, source: int, sign: int) -> list[int | None]:
    """Distances in integers of any size; of -1 the longest ones.  edges: without cycles."""
    d: list[int | None] = [0 if v == source else None for v in range(n)]
    for _ in range(n):
        for (u, v), w in edges.items():
            before, there = d[u], d[v]
            if before is not None and (there is None or sign * (before + w) < sign * there):
                d[v] = before + w
    return d


@pytest.mark.parametrize("semiring", ["min_plus", "max_plus"])
@pytest.mark.parametrize("dtype", ["int64", "int32", "float64", "float32"])
def test_whatever_solves_a_graph_is_right_or_an_overflow(dtype: str, semiring: str) -> None:
    """Weights of any sign, as large as half of the range; sums of floats are exact, or beyond it."""
    rng, sign = random.Random(dtype), 1 if semiring == "min_plus" else -1
    half = {"int64": 2**62, "int32": 2**30, "float64": 2**1023, "float32": 2**127}[dtype]
    weights, right = [half, -half, half // 2, -half // 2, half // 4, 0], 0
    for _ in range(12):
        n = rng.randint(2, 7)
        numbers = rng.sample(range(n), n)
        pairs = (sorted(rng.sample(range(n), 2)) for _ in range(2 * n))
        edges = {(numbers[u], numbers[v]): rng.choice(weights) for u, v in pairs}
        A = from_edges(*zip(*edges, strict=True), np.array(list(edges.values()), dtype), shape=n)
        exact = [longest_first(edges, n, source, sign) for source in range(n)]
        for call in (
            lambda A=A, n=n: sssp(A, None, semiring, sources=range(n)),
            lambda A=A: all_pairs(A, semiring, method="blocks"),
            lambda A=A: closure(A, semiring),
            lambda A=A, n=n: factor(A, semiring).solve(sources=range(n)),
            lambda A=A, n=n: factor(A, semiring).distances(range(n), range(n)),
        ):
            try:
                found = call()
            except OverflowError:
                continue
            absent = MinPlus.zero(A.dtype) if sign > 0 else MaxPlus.zero(A.dtype)
            assert found.tolist() == [[absent if x is None else A.dtype.type(x) for x in row] for row in exact]
            right += 1
    assert right > 12
