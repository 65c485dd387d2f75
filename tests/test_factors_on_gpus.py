"""Factors on a GPU have the answers of those on the host; and how they are cut, which needs no GPU to be looked at."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from algorithms import Factor, NegativeCycle, factor, symbolic_factor
from algorithms.elimination.cpu.plan import Plan
from algorithms.elimination.cuda import engine, panels
from algorithms.fused.cuda.kernels import launches
from formats import CSR, Matrix, OutOfDeviceMemory, from_edges, set_memory_limit

from .conftest import Backend
from .graphs import on_cpu
from .test_elimination import KINDS, check_path, drawn, grid, heavy, roads

CASES = 48
"""Of each kind: a GPU has a dozen launches for each. `pytest -k random_graphs --fuzz-cases 3000` runs more."""

on_a_gpu = pytest.mark.parametrize("backend", [Backend.CUDA.param(name="")])


def both(A: Matrix, semiring: Any, backend: str, **options: Any) -> tuple[Factor, Factor]:
    """The factor on the host, and that on a GPU."""
    return factor(A, semiring, **options), factor(A.to(device=backend), semiring, **options)


def check(F: Factor, G: Factor, sources: list[int], targets: Any, tag: object = "") -> None:
    """All answers are the same."""
    for mine, its in (
        (G.solve(sources[0]), F.solve(sources[0])),
        (G.solve(sources=sources), F.solve(sources=sources)),
        (G.distances(sources, targets), F.distances(sources, targets)),
    ):
        np.testing.assert_array_equal(on_cpu(mine), its, err_msg=str(tag))
    (mine, who), (its, right) = (on_cpu(part) for part in G.nearest(targets)), F.nearest(targets)
    np.testing.assert_array_equal(mine, its, err_msg=str(tag))
    if F.semiring.mul.name not in ("plus", "sum of mine"):  # then any of the nearest may be named
        there = np.flatnonzero(who >= 0)
        np.testing.assert_array_equal(there, np.flatnonzero(right >= 0))
        assert [F.distance(int(v), int(who[v])) for v in there[:40]] == its[there[:40]].tolist(), tag
    else:
        np.testing.assert_array_equal(who, right, err_msg=str(tag))
    u, v = sources[0], int(targets[-1])
    assert G.distance(u, v) == F.distance(u, v)
    check_path(F, u, v, F.distance(u, v))


@on_a_gpu
@pytest.mark.parametrize("kind", range(len(KINDS)))
def test_random_graphs(kind: int, backend: str, pytestconfig: pytest.Config) -> None:
    asked = pytestconfig.getoption("--fuzz-cases")
    for seed in range(asked // len(KINDS) if asked else CASES):
        A, semiring = drawn(seed, kind)
        try:
            F = factor(A, semiring)
        except NegativeCycle:
            with pytest.raises(NegativeCycle):
                factor(A.to(device=backend), semiring)
            continue
        G = factor(A.to(device=backend), semiring)
        check(F, G, [seed % A.nrows, *range(A.nrows)], np.arange(0, A.nrows, 3), seed)


def larger(name: str) -> CSR:
    rng = np.random.default_rng(7)
    if name == "roads":
        return roads(90)
    if name == "alike":
        u, v = grid(60)
        w = rng.integers(1, 99, u.size)
        return from_edges([*u, *v], [*v, *u], np.concatenate((w, w)), shape=3600)
    if name == "dense":
        u, v = np.nonzero(rng.random((330, 330)) < 0.6)
        return from_edges(u, v, rng.integers(1, 9999, u.size).astype(np.float32), shape=330)
    if name == "star":
        return from_edges(np.zeros(5000, int), np.arange(5000), rng.integers(1, 9, 5000), shape=5000)
    return from_edges(np.arange(2999), np.arange(1, 3000), rng.integers(1, 9, 2999).astype(np.int32), shape=3000)


LARGER = ("roads", "alike", "dense", "star", "path")


@on_a_gpu
@pytest.mark.parametrize("name", LARGER)
def test_larger_graphs(name: str, backend: str) -> None:
    A = larger(name)
    order = np.arange(A.nrows) if name == "path" else None  # as deep as can be
    F, G = both(A, "min_plus", backend, order=order)
    check(F, G, np.random.default_rng(1).integers(0, A.nrows, 300).tolist(), np.arange(0, A.nrows, 7))
    with launches(every=1):
        np.testing.assert_array_equal(on_cpu(G.refactor(G.A).solve(5)), F.solve(5))


@on_a_gpu
@pytest.mark.parametrize("dtype", ["int32", "int64", "float32"])
@pytest.mark.parametrize("n", [0, 1, 5])
def test_graphs_of_no_edge(n: int, dtype: str, backend: str) -> None:
    F, G = both(from_edges([], [], np.array([], dtype), shape=n), "min_plus", backend)
    for targets in ([], range(n)):
        for mine, its in zip(G.nearest(targets), F.nearest(targets), strict=True):
            np.testing.assert_array_equal(on_cpu(mine), its)
        np.testing.assert_array_equal(on_cpu(G.solve(sources=targets)), F.solve(sources=targets))
        np.testing.assert_array_equal(on_cpu(G.distances(range(n), targets)), F.distances(range(n), targets))


@on_a_gpu
def test_a_pair_whose_climbs_are_long(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    A = larger("roads")
    F, G = both(A, "min_plus", backend)
    monkeypatch.setattr(engine, "HOST_ARCS", 0)
    for u, v in ((0, 8099), (8099, 0), (17, 17)):
        assert G.distance(u, v) == F.distance(u, v)


@on_a_gpu
def test_from_device_to_device(backend: str, tmp_path: Path) -> None:
    A = roads(12)
    F, G = both(A, "min_plus", backend)
    right = F.solve(3)
    for H in (F.to(device=backend), G.to(device="cpu"), G.refactor(A), F.refactor(G.A), G.refactor(G.A)):
        np.testing.assert_array_equal(on_cpu(H.solve(3)), right)
    assert (G.to(device=backend), F.to(device="cpu")) == (G, F)
    assert F.to(device=backend).symbolic is F.symbolic
    d, parent = G.solve(sources=[3, 9], return_parents=True)
    np.testing.assert_array_equal(on_cpu(parent), F.solve(sources=[3, 9], return_parents=True)[1])
    np.testing.assert_array_equal(on_cpu(d[0]), right)
    G.write(tmp_path / "f")
    np.testing.assert_array_equal(Factor.read(tmp_path / "f").solve(3), right)
    doubled = F.refactor(A.with_values(A.values * 2))
    np.testing.assert_array_equal(on_cpu(G.refactor(doubled.A.to(device=backend)).solve(3)), right * 2)


@on_a_gpu
def test_ends_of_the_range(backend: str) -> None:
    low, high = -(2**31) + 2, 2**31 - 2
    wide = from_edges([0, 1, 2, 3], [1, 2, 3, 4], np.array([high, 5, low, 1], np.int32), shape=6).to(device=backend)
    F = factor(wide)
    assert (F.distance(0, 4), F.distance(2, 4), F.distance(0, 5)) == (6, low + 1, 2**31 - 1)
    half = 2**30
    far = factor(from_edges([0, 1, 2], [1, 2, 3], np.array([half, half - 1, 5], np.int32)).to(device=backend))
    for call in (lambda: F.distance(0, 2), lambda: F.solve(0), lambda: far.solve(0), lambda: far.distance(0, 3)):
        with pytest.raises(OverflowError):
            call()
    assert on_cpu(far.solve(1)).tolist() == [2**31 - 1, 0, half - 1, half + 4]


@on_a_gpu
def test_lengths_close_to_the_end_of_the_range(backend: str) -> None:
    for seed in range(9):
        F, G = both(heavy(seed), "min_plus", backend)
        assert G._engine.fitting
        check(F, G, [*range(9)], np.arange(0, 9, 2), seed)


@on_a_gpu
def test_rounded_sums_are_the_same_in_every_run(backend: str) -> None:
    A = roads(50).astype("float64")
    A = A.with_values(np.random.default_rng(3).random(A.nnz))
    F, G = both(A, "min_plus", backend)
    some = [7, 1, 2000, 499, 3, 2499]
    right = on_cpu(G.solve(sources=some))
    np.testing.assert_allclose(right, F.solve(sources=some), rtol=1e-12, atol=1e-12)
    for _ in range(5):
        H = G.refactor(G.A)
        np.testing.assert_array_equal(on_cpu(H.solve(sources=some)), right)
        np.testing.assert_array_equal(on_cpu(H.solve(some[2])), right[2])


@on_a_gpu
def test_a_factor_beyond_the_memory_limit_is_refused(backend: str) -> None:
    A = roads(40).to(device=backend)
    set_memory_limit(1 << 18, device=backend)
    try:
        with pytest.raises(OutOfDeviceMemory, match="a factor of"):
            factor(A)
    finally:
        set_memory_limit(None, device=backend)


# --- how a factor is cut ----------------------------------------------------------------------------------------------


def plan_of(name: str) -> Plan:
    A = larger(name)
    return symbolic_factor(A, order=np.arange(A.nrows) if name == "path" else None)._known.plan


@pytest.mark.parametrize("threads", [64, 0])
@pytest.mark.parametrize("name", LARGER)
def test_pieces_hold_every_arc_from_a_column_once_and_wait_for_its_end(name: str, threads: int) -> None:
    plan = plan_of(name)
    p, n = plan.pattern, plan.tree.order.size
    cut = panels.cut(plan)
    sweep = panels.sweeping(plan, cut, panels.Bins(5, 8, 256, threads), 1)
    pieces, starts = sweep.pieces.things, sweep.pieces.starts
    level = np.repeat(np.arange(starts.size - 1), np.diff(starts))
    bin_of_level = np.repeat(np.arange(sweep.bins.size - 1), np.diff(sweep.bins))
    assert pieces.size == starts[-1]
    last = cut.panels["last"][cut.panel_of]
    when, where, seen = np.full(n, -1), np.zeros(n, int), np.zeros(int(p.starts[-1]), int)
    alone = (bin_of_level[level] > 0) & (threads == 0)  # a warp takes piece after piece
    moment = np.where(alone, starts.size + np.arange(pieces.size), level)
    when[pieces["x"]], where[pieces["x"]] = moment, bin_of_level[level]
    for k in range(0, pieces.size, 1 + pieces.size // 2000):
        piece, size = pieces[k], abs(int(pieces[k]["count"]))
        x, j = int(piece["x"]), np.arange(size)
        inside = j < piece["inside"]
        rows = p.rows[np.where(inside, 0, piece["rows"] + j)] if p.rows.size else j
        ends = np.where(inside, piece["base"] + j, rows)
        s, offset = p.nodes[x], int(piece["arcs"] - p.starts[x])
        up = np.concatenate((np.arange(x + 1, p.firsts[s + 1]), p.rows[p.row_starts[s] : p.row_starts[s + 1]]))
        np.testing.assert_array_equal(ends, up[offset : offset + size])
        inner = last[x] - x - 1
        seen[piece["arcs"] : piece["arcs"] + size] += 1
        assert (cut.panel_of[ends] != cut.panel_of[x]).all()
        assert (when[ends] < moment[k]).all()
        assert np.isin(where[ends], (0, where[x])).all()
        assert (piece["count"] < 0) == (up.size - inner > 256)
    assert seen.max(initial=0) == 1
    assert np.abs(pieces["count"]).sum() == (plan.tree.counts - (last - np.arange(n) - 1)).sum()


@pytest.mark.parametrize("name", LARGER)
def test_panels_are_eliminated_after_those_below(name: str) -> None:
    cut = panels.cut(plan_of(name))
    steps, above = panels.elimination(cut), cut.panels["above"]
    level = np.full(above.size, -1)
    for each in (steps.small, steps.large):
        level[each.things] = np.repeat(np.arange(steps.levels), np.diff(each.starts))
    inner = above >= 0
    assert level.min() == 0
    assert (level[inner] < level[above[inner]]).all()
    columns = cut.panels["end"] - cut.panels["last"] + cut.panels["count"]
    for each, pairs in ((steps.spans, False), (steps.tiles, True)):
        np.testing.assert_array_equal(
            level[each.things["panel"]], np.repeat(np.arange(steps.levels), np.diff(each.starts))
        )
        sides = -(-columns[steps.large.things] // panels.SIDE)
        assert each.things.size == (sides * (sides + 1) // 2 if pairs else sides).sum()
        assert (each.things["i"] <= each.things["j"]).all()
        assert (each.things["j"] < columns[each.things["panel"]]).all()
    assert cut.depth.max() + 1 == cut.height
