"""Matrices that a device has no room for: what turns them in pieces, and the plans, on places in the host's memory."""

from __future__ import annotations

import gc
import os
import signal
import threading
import time
from typing import Any

import numpy as np
import pytest

from algorithms import bfs, boruvka, scc, sssp
from algorithms.fused.cuda import graphs, out_of_core, out_of_core_msf, pruned_pull
from algorithms.fused.cuda.out_of_core import FRONTIER
from algorithms.fused.cuda.out_of_core_msf import shared_room
from algorithms.fused.cuda.pruned_pull import ONE_PULL, least_traffic, may_prune, most_light
from algorithms.shared.single_source import Until
from bench.graphs import grid, rmat
from formats import CSC, CSR, CompressedCSR, OutOfDeviceMemory, from_edges, places, resident, set_memory_limit
from formats.gpu import cupy
from formats.matrix.placing import VECTORS
from formats.places import find_place
from formats.storage import pieces
from formats.storage.pieces import BYTES_AN_ENTRY, piece_of, ranges, turned_in_pieces
from semiring import MaxPlus, MinPlus, explain, mxv

from .graphs import on_cpu

GRAPHS = {
    "R-MAT": lambda: rmat(7, dtype=np.float32),
    "a grid": lambda: grid(9).astype(np.int32),
    "a hub": lambda: from_edges([*range(60)], [5] * 60, np.arange(60, 0, -1, dtype=np.float32) % 7),
    "no entries": lambda: CSR([0, 0], [], np.zeros(0, np.float32), (1, 1)),
}
ROOMS = [BYTES_AN_ENTRY, 100 * BYTES_AN_ENTRY, 1 << 30]


def turned(A: CSR, room: int, **how: bool) -> Any:
    """In pieces, in memory of the host."""
    return turned_in_pieces(A, room, lambda size, dtype: np.empty(size, dtype), **how)


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "FEWEST_ENTRIES", 1)


@pytest.mark.parametrize("room", ROOMS)
@pytest.mark.parametrize("name", GRAPHS)
def test_columns_made_in_pieces_are_the_columns(name: str, room: int) -> None:
    A = GRAPHS[name]()
    found, B = turned(A, room), A.to(CSC)
    np.testing.assert_array_equal(found.indptr, B.indptr)
    np.testing.assert_array_equal(found.rows, B.indices)
    by_weight = turned(A, room, by_weight=True)
    if piece_of(room) < max(np.diff(B.indptr), default=0):
        assert by_weight is None  # a column's entries are sorted on the device, and do not fit
        return
    order = np.lexsort((B.indices, B.values, np.repeat(np.arange(A.ncols), np.diff(B.indptr))))
    np.testing.assert_array_equal(by_weight.pairs & 0xFFFFFFFF, B.indices[order])
    np.testing.assert_array_equal((by_weight.pairs >> 32).astype(np.uint32).view(A.dtype), B.values[order])


def test_ranges_of_columns_have_all_entries_and_keep_to_their_size() -> None:
    starts = np.array([0, 0, 3, 3, 9, 10, 12, 12], np.int32)
    assert list(ranges(starts, 4)) == [(0, 3, 0, 3), (3, 4, 3, 9), (4, 7, 9, 12)]
    assert list(ranges(starts[:1], 4)) == []


def test_listed_edges_and_windows_keep_to_the_memory_that_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(out_of_core_msf, "SLACK_BYTES", 0)
    assert [shared_room(None, 7, n, n // 2, 10 * n - 100, 4, 4) for n in (100, 10**6)] == [(1000, 7), (1_250_001, 7)]
    for available in (6_100, 10_000, 20_000):
        capacity, coming = shared_room(available, 10**9, 100, 50, 9000, 4, 4)
        assert 125 < capacity
        assert 0 <= coming <= 0.3 * available
        assert coming + capacity * (16 + 8) + capacity // 8 + 100 * (17 + 8) <= available
    with pytest.raises(OutOfDeviceMemory, match=r"a forest of 100 vertices lists 126 edges at least, of 24 bytes, but"):
        shared_room(5000, 10**9, 100, 50, 9000, 4, 4)


def test_windows_are_all_entries_in_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(out_of_core, "WINDOW_ENTRIES", 10)
    assert list(out_of_core.windows(5, 27)) == [(5, 15), (15, 25), (25, 27)]
    assert list(out_of_core.windows(5, 5)) == []


def test_what_crossed_is_told_where_something_is_not_resident(monkeypatch: pytest.MonkeyPatch) -> None:
    A = rmat(6)
    assert out_of_core.crossed(A, 2 * A.nnz, A.indices) == {"edges": 2 * A.nnz}
    monkeypatch.setattr(out_of_core, "elsewhere", lambda array: array.nbytes // 4)
    found = out_of_core.crossed(A, 2 * A.nnz, A.indices)
    assert found == {"plan": FRONTIER, "edges": 2 * A.nnz, "crossed": A.indices.nbytes // 4 * 2}


# --- plans ----------------------------------------------------------------------------------------------------------


def test_the_plan_is_what_moves_least() -> None:
    assert least_traffic({ONE_PULL: 10, FRONTIER: 10}) == ONE_PULL
    assert least_traffic({ONE_PULL: 11, FRONTIER: 10}) == FRONTIER


@pytest.mark.parametrize(
    ("A", "may"),
    [
        (rmat(8), True),
        (rmat(8).with_values(np.ones(rmat(8).nnz, np.float32)), False),  # without weights
        (rmat(8, high=2), False),  # narrow ones
        (grid(16), False),  # few edges
    ],
    ids=["R-MAT", "unweighted", "narrow", "grid"],
)
def test_a_pull_is_planned_where_it_may_prune(A: CSR, may: bool) -> None:
    assert may_prune(A, A.values) is may


def test_the_lightest_in_edges_fill_their_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pruned_pull, "cupy", lambda: np)
    lengths = np.array([0, 1, 5, 100])
    assert [most_light(lengths, budget) for budget in (0, 2, 3, 5, 6, 10**6)] == [0, 0, 1, 2, 2, pruned_pull.MAX_LIGHT]


def test_a_pull_is_of_lengths_from_a_source_to_all(monkeypatch: pytest.MonkeyPatch) -> None:
    A, all_of = rmat(6), Until(MinPlus)
    assert not pruned_pull.suits(A, MinPlus, all_of)  # A is resident
    monkeypatch.setitem(vars(A), "all_resident", False)
    assert pruned_pull.suits(A, MinPlus, all_of)
    assert not pruned_pull.suits(A, MaxPlus, Until(MaxPlus))
    assert not pruned_pull.suits(A, MinPlus, Until(MinPlus, limit=3.0))
    assert not pruned_pull.suits(A, MinPlus, Until(MinPlus, target=3))
    assert not pruned_pull.suits(A.astype(np.float64), MinPlus, all_of)


# --- a GPU ----------------------------------------------------------------------------------------------------------

SOURCE = 3
SMALL = 4 << 20
"""Bytes beside vectors and matrix: blocks of CuPy's pool are not divided as one would like."""
CALLS: dict[str, Any] = {
    "mxv": lambda A: mxv(A, cupy().arange(A.ncols).astype(A.dtype), "min_plus"),
    "sssp": lambda A: sssp(A, SOURCE),
    "bfs": lambda A: bfs(A, SOURCE),
    "pulled bfs": lambda A: bfs(A, SOURCE, direction="pull"),
    "scc": lambda A: scc(A),
    "weak": lambda A: scc(A, weak=True),
    "boruvka": lambda A: boruvka(A, symmetrize=True).to_edges(),
}


def parts(answer: Any) -> list[np.ndarray]:
    return [on_cpu(part) for part in (answer if isinstance(answer, tuple) else (answer,))]


@pytest.mark.backend("cuda")
@pytest.mark.parametrize("share", [1.0, 0.2, 0.05])
@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("graph", ["R-MAT", "grid"])
def test_calls_on_cuda_within_a_limit_of_the_share_and_vectors(graph: str, name: str, share: float) -> None:
    A = rmat(17, dtype=np.float32) if graph == "R-MAT" else grid(512).astype(np.int32)
    place, call = find_place("cuda"), CALLS[name]
    expected = parts(call(A.to(device="cuda")))
    gc.collect()
    cupy().get_default_memory_pool().free_all_blocks()
    used = cupy().get_default_memory_pool().used_bytes() + places.OUTSIDE.get(place, 0)
    set_memory_limit(used + int(share * A.nbytes) + VECTORS * A.nrows + SMALL, device=place)
    try:
        B = A.to(device="cuda", resident=share)
        told = explain(call, B)
        again = parts(call(B))
        found = parts(told.result)
    finally:
        set_memory_limit(None, device=place)
    for mine, its, once_more in zip(found, expected, again, strict=True):
        np.testing.assert_array_equal(mine, its)
        np.testing.assert_array_equal(once_more, its)
    if name == "sssp" and share < 1:
        assert told.runs[0].details["plan"] == (ONE_PULL if graph == "R-MAT" else FRONTIER)


@pytest.mark.backend("cuda")
def test_strong_components_by_rows_alone_on_cuda_are_the_components(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graphs, "rows_alone", lambda A: A.nnz > 0)
    monkeypatch.setattr(graphs, "WINDOW_ENTRIES", 50)
    plans = set()
    for seed in range(60):
        random = np.random.default_rng(seed)
        n, m = int(random.integers(2, 200)), int(random.integers(1, 900))
        A = from_edges(*random.integers(0, n, (2, m)), shape=n)
        monkeypatch.setattr(graphs, "MAX_LEFT_SHARE", [0.5, 1.0][seed % 2])
        told = explain(scc, A.to(device="cuda"))
        np.testing.assert_array_equal(on_cpu(told.result), scc(A), err_msg=f"seed {seed}")
        plans.add(told.runs[0].details["method"])
    assert any("by rows" in plan for plan in plans)
    assert len(plans) > 1


@pytest.mark.backend("cuda")
@pytest.mark.parametrize("share", [0.5, 0.0])
@pytest.mark.parametrize("name", ["mxv", "boruvka"])
def test_packed_columns_on_cuda_are_read_over_the_bus(name: str, share: float) -> None:
    A, call = rmat(17, dtype=np.float32), CALLS[name]
    B = A.to(CompressedCSR).to(device="cuda", resident=share)
    for mine, its in zip(parts(call(B)), parts(call(A.to(device="cuda"))), strict=True):
        np.testing.assert_array_equal(mine, its)


@pytest.mark.backend("cuda")
def test_two_hundred_cycles_on_cuda_leave_nothing_taken() -> None:
    place, A = find_place("cuda"), rmat(17, dtype=np.float32)

    def held() -> tuple[int, int, int]:
        """Of this process: what others hold on the device changes meanwhile."""
        gc.collect()
        pool = cupy().get_default_memory_pool()
        pool.free_all_blocks()
        return len(resident._RANGES), places.OUTSIDE.get(place, 0), pool.used_bytes()

    def cycle(k: int) -> None:
        if k % 4 == 0:
            sssp(A.to(device="cuda", resident=0.3), k)
        elif k % 4 == 1:
            boruvka(A.to(device="cuda", resident=0.3), symmetrize=True)
        elif k % 4 == 2:  # no room
            gc.collect()
            set_memory_limit(cupy().get_default_memory_pool().used_bytes() + (1 << 20), device=place)
            try:
                with pytest.raises(OutOfDeviceMemory):
                    A.to(device="cuda", resident=0.9)
            finally:
                set_memory_limit(None, device=place)
        else:
            stop = threading.Timer(0.0005 * (k % 11), os.kill, [os.getpid(), signal.SIGINT])
            try:
                stop.start()
                sssp(A.to(device="cuda", resident=0.3), k)
                stop.join()
                time.sleep(20 * resident.AFTER_SECONDS)
            except KeyboardInterrupt:
                pass

    for k in range(8):
        cycle(k)
    before = held()
    for k in range(200):
        cycle(k)
    ranges_held, outside, used = held()
    assert (ranges_held, outside) == before[:2]
    assert used <= before[2] + (1 << 20)
