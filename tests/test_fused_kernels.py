"""The persistent kernels one by one, in every way that they can be run, on small graphs: what a sanitizer watches.

What they should find comes from the CPU's implementations, which other tests compare with their definitions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from algorithms import NegativeCycle, bellman_ford, bfs, boruvka, da2cf, delta_stepping, scc, shortest_path_tree
from algorithms.fused.cuda import graphs, launches, paths
from algorithms.fused.cuda.paths import Schedule, fixpoint
from bench.graphs import grid, rmat, rmat_both_ways
from bench.laboratory import bellman_ford_by
from bench.measure import peak_bytes
from formats import CSR, CompressedCSR, from_edges
from formats.arrays import to_device
from formats.matrix.facts import COMPRESSED
from semiring import MinPlus, explain

from .conftest import Backend

pytestmark = pytest.mark.backend(Backend.CUDA)


def ring_of_pairs(n: int) -> CSR:
    """2-cycles in a row, each leading to the next, in an order that says nothing: n / 2 strong components."""
    place = np.random.default_rng(1).permutation(n)
    v = np.arange(0, n, 2)
    src, dst = np.concatenate((v, v + 1, v[:-1])), np.concatenate((v + 1, v, v[1:]))
    return from_edges(place[src], place[dst], np.ones(src.size, np.int32), shape=n)


def path(n: int) -> CSR:
    v = np.arange(n - 1)
    weights = np.tile(v % 5, 2).astype(np.int32)
    return from_edges(np.append(v, v + 1), np.append(v + 1, v), weights, shape=n)


GRAPHS: dict[str, Callable[[], CSR]] = {
    "hubs": lambda: rmat(9, dtype=np.int32, high=9),
    "hubs, both ways": lambda: rmat_both_ways(9, dtype=np.int32, high=9),
    "a grid": lambda: grid(30, dtype=np.int32, high=9),
    "a path": lambda: path(300),
    "pairs": lambda: ring_of_pairs(200),
    "a path into a star": lambda: from_edges(
        np.append(np.arange(299), np.full(2000, 299)), np.arange(1, 2300), np.arange(2299) % 7
    ),
    "one hub": lambda: from_edges(np.zeros(3000, int), np.arange(3000), np.arange(3000) % 7),
}
every_graph = pytest.mark.parametrize("name", GRAPHS)

SCHEDULES = {
    "buckets": Schedule("buckets", 3),
    "buckets that widen": Schedule("buckets", 1, few=10**6),
    "buckets, widths change": Schedule("buckets", 1, few=50, doublings=5),
    "exact minimum": Schedule("exact minimum", 0),
    "frontier": Schedule("frontier", None),
    "sweep": Schedule("sweep", None, every=True),
    "deep": Schedule("buckets", 3, deep=True),
    "deep, one round": Schedule("buckets", 3, deep=True, rounds=1),
    "deep, widths change": Schedule("buckets", 1, deep=True, few=50, many=60),
    "deep, no threshold": Schedule("frontier", None, deep=True),
}


def on_both(name: str, dtype: Any = np.int32) -> tuple[CSR, CSR]:
    """The graph on the CPU and on the GPU."""
    A = GRAPHS[name]().astype(dtype)
    return A, A.to(device="cuda")  # type: ignore[return-value]


def typed(how: Schedule, dtype: Any) -> Schedule:
    """The schedule with its width in the dtype."""
    return how if how.width is None else replace(how, width=np.dtype(dtype).type(how.width))


def same(got: Any, expected: Any) -> None:
    np.testing.assert_array_equal(to_device(got, "cpu"), expected)


@every_graph
@pytest.mark.parametrize("dtype", [np.int32, np.float32, np.float64, np.int64], ids=lambda t: np.dtype(t).name)
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_every_schedule_reaches_the_fixpoint(name, dtype, schedule):
    A, G = on_both(name, dtype)
    d, _ = fixpoint(G, MinPlus, typed(SCHEDULES[schedule], dtype), source=1)
    same(d, bellman_ford(A, 1))


@every_graph
@pytest.mark.parametrize("schedule", ["buckets", "deep"])
def test_a_launch_may_end_after_any_step(name, schedule):
    A, G = on_both(name)
    seen: list[int] = []
    with launches(every=3, progress=seen.append):
        d, state = fixpoint(G, MinPlus, typed(SCHEDULES[schedule], np.int32), source=0)
        assert seen == sorted(seen)
        assert seen[-1] == state["steps"] > 0
        assert len(seen) == state["steps"] // 3 + 1
        same(bfs(G, 0, direction="pull"), bfs(A, 0))
        same(scc(G), scc(A))
    same(d, bellman_ford(A, 0))


def test_launches_of_no_steps_are_refused():
    with pytest.raises(ValueError, match="every must be a positive number of steps, got 0"), launches(every=0):
        pass


@every_graph
def test_a_tree_of_plateaus_may_be_left_after_any_round(name, monkeypatch):
    monkeypatch.setattr(paths, "TREE_ROUNDS", 10**6)
    A, _ = on_both(name)
    A = A.with_values(A.values * 0)
    d = bellman_ford(A, 0)
    seen: list[int] = []
    with launches(every=2, progress=seen.append):
        parent = shortest_path_tree(A.to(device="cuda"), to_device(d, "cuda"), 0, MinPlus)
    same(parent, shortest_path_tree(A, d, 0, MinPlus))
    assert seen == sorted(seen)
    assert len(seen) > 100 or name != "a path"


@every_graph
@pytest.mark.parametrize("rounds", [1, 2, 20])
@pytest.mark.parametrize("weights", ["zeros", "of any sign"])
def test_the_rounds_of_a_tree_may_be_found_as_levels(name, rounds, weights, monkeypatch):
    monkeypatch.setattr(paths, "TREE_ROUNDS", rounds)
    A, _ = on_both(name)
    A = A.with_values(A.values * 0) if weights == "zeros" else with_potentials(A)
    d = bellman_ford(A, 0)
    G, found = A.to(device="cuda"), to_device(d, "cuda")
    same(shortest_path_tree(G, found, 0, MinPlus), shortest_path_tree(A, d, 0, MinPlus))
    if name == "a path":
        astray = d.copy()
        astray[150:] -= 1
        with pytest.raises(ValueError, match="hangs on no settled one"):
            shortest_path_tree(G, to_device(astray, "cuda"), 0, MinPlus)


def test_colours_may_be_left_after_any_pass():
    A = ring_of_pairs(400)
    with launches(every=1):
        told = explain(scc, A.to(device="cuda"))
    same(told.result, scc(A))
    assert told.runs[0].details["passes_of_colours"] > 3


def with_potentials(A: CSR, dtype: Any = np.int32) -> CSR:
    """The graph with weights of any sign and the same best paths: w + p_u - p_v."""
    potential = np.random.default_rng(4).integers(-50, 50, A.nrows)
    u, v, w = A.to_edges()
    return from_edges(u, v, (w + potential[u] - potential[v]).astype(dtype), shape=A.nrows)


@every_graph
@pytest.mark.parametrize("dtype", [np.int32, np.float64], ids=lambda t: np.dtype(t).name)
@pytest.mark.parametrize("first_look", [1, 16])
def test_weights_of_any_sign_are_fused(name, dtype, first_look, monkeypatch):
    monkeypatch.setattr(paths, "FIRST_LOOK_STEPS", first_look)
    A, _ = on_both(name)
    P = with_potentials(A, dtype)
    for algorithm in (bellman_ford, bellman_ford_by):  # frontiers, and sweeps
        told = explain(algorithm, P.to(device="cuda"), 0)
        same(told.result, bellman_ford(P, 0))
        assert told.runs[0].implementation == "fused"


@every_graph
@pytest.mark.parametrize("length", [1, 2, 30])
@pytest.mark.parametrize("dtype", [np.int32, np.float32], ids=lambda t: np.dtype(t).name)
def test_a_negative_cycle_is_found_on_the_device_and_is_the_same_every_time(name, length, dtype, monkeypatch):
    monkeypatch.setattr(bellman_ford, "_equations", None)  # the definition must not be asked
    A, _ = on_both(name)
    reached = np.flatnonzero(bfs(A, 0) >= 0)
    u, v, w = with_potentials(A).to_edges()
    ring = np.random.default_rng(length).choice(reached, min(length, reached.size), replace=False)
    closing = np.append(np.full(ring.size - 1, 3), -300 - 3 * ring.size)
    src, dst, weights = np.append(u, ring), np.append(v, np.roll(ring, -1)), np.append(w, closing)
    B = from_edges(src, dst, weights.astype(dtype), shape=A.nrows, dup="min")
    cycles = []
    for _ in range(5):
        with pytest.raises(NegativeCycle) as caught:
            bellman_ford(B.to(device="cuda"), 0)
        cycles.append(caught.value.cycle)
    cycle = cycles[0]
    assert all(other == cycle for other in cycles)
    assert cycle[0] == cycle[-1] == min(cycle)
    assert len(set(cycle)) == len(cycle) - 1
    assert sum(B[edge].item() for edge in pairwise(cycle)) < 0


def test_cycles_that_add_nothing_are_no_improving_ones():
    """All cycles have the length 0 where an edge's is p_u - p_v, until one edge is a little shorter."""
    rng = np.random.default_rng(5)
    src, dst = rng.integers(0, 200, (2, 1000))
    for dtype in (np.int32, np.float64):
        potential = rng.integers(-3, 4, 200)
        A = from_edges(src, dst, (potential[src] - potential[dst]).astype(dtype), shape=200, dup="first")
        same(bellman_ford(A.to(device="cuda"), 0), bellman_ford(A, 0))
        B = A.with_values(A.values - (np.arange(A.nnz) == A.nnz // 2).astype(dtype))
        with pytest.raises(NegativeCycle) as caught:
            bellman_ford(B.to(device="cuda"), 0)
        assert sum(B[edge].item() for edge in pairwise(caught.value.cycle)) == -1


def test_a_run_that_has_too_many_steps_is_left_to_the_definition(monkeypatch):
    monkeypatch.setattr(paths, "STEPS_PER_VERTEX", 0)
    monkeypatch.setattr(paths, "MIN_STEPS", 1)
    A, G = on_both("a grid")
    told = explain(bellman_ford, G, 0)
    same(told.result, bellman_ford(A, 0))
    assert told.runs[0].implementation == "definition"
    assert "after 1 steps something still changed" in told.runs[0].why


@every_graph
def test_the_kernels_take_turns(name, monkeypatch):
    monkeypatch.setattr(paths, "MIN_CROWD_ENTRIES", 3)
    monkeypatch.setattr(paths, "CROWD_SHARE", 0)
    monkeypatch.setattr(paths, "CALM_EDGES", 10**9)
    A, G = on_both(name)
    for how in ("deep", "deep, widths change", "deep, no threshold", "frontier", "buckets that widen"):
        d, _ = fixpoint(G, MinPlus, replace(typed(SCHEDULES[how], np.int32), deepens=True), source=0)
        same(d, bellman_ford(A, 0))


@every_graph
def test_a_queue_that_is_full_loses_nothing(name, monkeypatch):
    monkeypatch.setattr(paths, "QUEUE_SHARE", 0)
    monkeypatch.setattr(paths, "MIN_QUEUE_ENTRIES", 5)
    A, G = on_both(name)
    for how in ("deep", "deep, no threshold"):
        d, _ = fixpoint(G, MinPlus, typed(SCHEDULES[how], np.int32), source=0)
        same(d, bellman_ford(A, 0))


@every_graph
@pytest.mark.parametrize("schedule", ["buckets", "deep"])
def test_nothing_is_looked_for_beyond_a_limit_or_a_target(name, schedule):
    A, G = on_both(name)
    how, whole = typed(SCHEDULES[schedule], np.int32), bellman_ford(A, 0)
    for until, bound in (({"limit": np.int32(6)}, 6), ({"target": 7}, int(whole[7]))):
        d, _ = fixpoint(G, MinPlus, how, source=0, **until)
        near = whole <= bound
        same(d[to_device(near, "cuda")], whole[near])


@every_graph
@pytest.mark.parametrize("factor", [0, 1])
def test_trees_with_and_without_plateaus(name, factor):
    A, _ = on_both(name)
    A = A.with_values(A.values * factor)
    G, d = A.to(device="cuda"), bellman_ford(A, 0)
    same(shortest_path_tree(G, to_device(d, "cuda"), 0, MinPlus), shortest_path_tree(A, d, 0, MinPlus))


@every_graph
def test_searches_push_pull_and_hop(name):
    A, G = on_both(name)
    level, parent = bfs(A, 0, return_parents=True)
    for options in ({"direction": "push"}, {"direction": "pull"}, {}, {"alpha": 2, "beta": 2}, {}):
        got = bfs(G, 0, return_parents=True, **options)
        same(got[0], level)
        same(got[1], parent)
    same(graphs.levels_by_hops(G, 0), level)


@every_graph
def test_a_deep_run_that_becomes_crowded_goes_on_wide(name, monkeypatch):
    monkeypatch.setattr(paths, "MIN_CROWD_ENTRIES", 3)
    monkeypatch.setattr(paths, "CROWD_SHARE", 0)
    A, G = on_both(name)
    for how in ("deep", "deep, widths change", "deep, no threshold"):
        d, state = fixpoint(G, MinPlus, typed(SCHEDULES[how], np.int32), source=0)
        same(d, bellman_ford(A, 0))
        assert state["crowded"] or name in ("a path", "pairs", "one hub", "a path into a star")
    level = graphs.levels_by_hops(G, 0)
    assert level is None or name in ("a path", "pairs", "one hub", "a path into a star")


@every_graph
def test_components_by_colours_alone_and_after_searches(name):
    A, G = on_both(name)
    same(graphs.strong(G), scc(A))
    for both_ways, M in ((False, A), (True, boths(A))):
        same(graphs.connected(M.to(device="cuda"), both_ways), scc(A, weak=True))


def in_disorder(n: int, src: Any, dst: Any) -> CSR:
    """The graph with its vertices in an order that says nothing."""
    place = np.random.default_rng(n).permutation(n)
    return from_edges(place[src], place[dst], np.ones(src.size, np.int32), shape=n)


def cycles_in_a_row(count: int, length: int) -> CSR:
    """Cycles, each leading to the next from the vertex that the one before leads to."""
    v = np.arange(count * length)
    around = np.where(v % length == length - 1, v - length + 1, v + 1)
    return in_disorder(v.size, np.append(v, v[:-length:length]), np.append(around, v[length::length]))


def two_lanes(n: int) -> CSR:
    """A ring on which one may go on by one or two: no chains, and one component that is wide."""
    v = np.arange(n)
    return in_disorder(n, np.append(v, v), np.append((v + 1) % n, (v + 2) % n))


LONG_TAILS: dict[str, Callable[[], CSR]] = {
    "cycles in a row": lambda: cycles_in_a_row(300, 9),
    "cycles apart": lambda: in_disorder(900, np.arange(900), np.arange(900) // 9 * 9 + (np.arange(900) + 1) % 9),
    "one way": lambda: in_disorder(1000, np.arange(999), np.arange(1, 1000)),
    "a ring": lambda: in_disorder(1000, np.arange(1000), np.append(np.arange(1, 1000), 0)),
    "two lanes": lambda: two_lanes(1500),
    "hubs with tails": lambda: with_tails(rmat(8), 40, 25),
}


def with_tails(core: CSR, count: int, length: int) -> CSR:
    """Paths of 2-cycles that lead into, or out of, vertices of a graph."""
    u, v, _ = core.to_edges()
    first = core.nrows + 2 * length * np.arange(count)
    i = (first[:, None] + 2 * np.arange(length)).ravel()
    on = i[(np.arange(i.size) + 1) % length != 0]
    hub = np.random.default_rng(count).integers(0, core.nrows, count)
    into, out = np.where(np.arange(count) % 2, hub, first), np.where(np.arange(count) % 2, first, hub)
    src, dst = np.concatenate((u, i, i + 1, on, out)), np.concatenate((v, i + 1, i, on + 2, into))
    return in_disorder(core.nrows + 2 * length * count, src, dst)


@pytest.mark.parametrize("levels", [1, 5, 100])
@pytest.mark.parametrize("name", LONG_TAILS)
def test_components_with_long_tails_need_few_passes(name, levels, monkeypatch):
    monkeypatch.setattr(graphs, "MAX_PIVOT_LEVELS", levels)
    A = LONG_TAILS[name]()
    G = A.to(device="cuda")
    for every in (8192, 3):
        with launches(every=every):
            told = explain(scc, G)
        same(told.result, scc(A))
        assert told.runs[0].details["passes_of_colours"] < 300


def test_a_search_of_many_levels_begins_anew_by_hops(monkeypatch):
    monkeypatch.setattr(graphs, "MAX_LEVELS", 20)
    monkeypatch.setattr(paths, "DEEP_MAX_DEGREE", 0)  # or it would begin so
    for name in GRAPHS:
        A, G = on_both(name)
        for _ in range(2):
            got = bfs(G, 0, return_parents=True)
            for mine, expected in zip(got, bfs(A, 0, return_parents=True), strict=True):
                same(mine, expected)


def boths(A: CSR) -> CSR:
    u, v, w = A.to_edges()
    return from_edges(np.append(u, v), np.append(v, u), np.append(w, w), shape=A.nrows)


def test_many_small_components_need_few_rounds_of_colours():
    A = ring_of_pairs(4000)
    told = explain(scc, A.to(device="cuda"))
    same(told.result, scc(A))
    assert 1 < told.runs[0].details["rounds_of_colours"] < 60


@every_graph
@pytest.mark.parametrize("light", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("fmt", [CSR, CompressedCSR], ids=lambda fmt: fmt.__name__)
def test_forests_with_and_without_light_edges_first(name, light, fmt, monkeypatch):
    monkeypatch.setattr(graphs, "LIGHT_EDGES_PER_VERTEX", light)
    monkeypatch.setattr(graphs, "MIN_DEGREE_FOR_LIGHT", 0)
    A = boths(GRAPHS[name]())
    F, label = boruvka(A, return_labels=True)
    G = A.to(fmt, device="cuda", **({"force": True} if fmt is CompressedCSR else {}))
    told = explain(boruvka, G, return_labels=True)
    got, tree = told.result
    assert fmt is CSR or not G.keeps(COMPRESSED, CSR)  # packed columns are read as they are
    for a, b in zip(got.to_edges(), F.to_edges(), strict=True):
        same(a, b)
    same(tree, label)
    assert told.runs[0].implementation == "fused"


@every_graph
def test_indices_may_have_64_bits(name):
    A = boths(GRAPHS[name]())
    wide = CSR.trusted(A.indptr.astype(np.int64), A.indices.astype(np.int64), A.values, A.shape)
    G = wide.to(device="cuda")
    assert G.indices.dtype == np.int64
    for call in (
        lambda M: delta_stepping(M, 0, return_parents=True),
        lambda M: da2cf(M, 0),
        lambda M: bfs(M, 0, return_parents=True),
        lambda M: bfs(M, 0, return_parents=True, direction="pull"),
        lambda M: scc(M),
        lambda M: boruvka(M, return_labels=True)[1],
        lambda M: boruvka(M.to(CompressedCSR, force=True), return_labels=True)[1],
    ):
        told = explain(call, G)
        assert all(run.implementation == "fused" for run in told.runs)
        for got, expected in zip(*(x if isinstance(x, tuple) else (x,) for x in (told.result, call(A))), strict=True):
            assert got.dtype == expected.dtype
            same(got, expected)


def test_a_run_holds_no_more_than_it_may():
    """40 bytes a vertex and 16 an edge, beside the matrix and what it keeps."""
    for A in (rmat_both_ways(15, device="cuda"), grid(300, device="cuda")):
        most = 40 * A.nrows + 16 * A.nnz + 2**17  # small arrays take 512 bytes each
        for call in (
            lambda A=A: delta_stepping(A, 0),
            lambda A=A: delta_stepping(A, 0, return_parents=True),
            lambda A=A: bfs(A, 0, return_parents=True),
            lambda A=A: scc(A),
            lambda A=A: boruvka(A),
        ):
            call()
            call()  # a search turns the matrix when it is asked for a second time
            assert peak_bytes(call, "cuda") <= most
        assert A.kept_nbytes <= 16 * A.nnz + 8 * A.nnz + 16 * A.nrows  # records, and A by columns
    D = rmat(15, device="cuda")
    scc(D)
    assert peak_bytes(lambda: scc(D), "cuda") <= 40 * D.nrows + 16 * D.nnz + 2**17
