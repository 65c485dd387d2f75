"""Matrices of which a share is resident on a GPU: plans, counts and refusals, simulated; and on a GPU the answers."""

from __future__ import annotations

import ctypes
import gc
import pickle
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from algorithms import (
    bellman_ford,
    betweenness_centrality,
    bfs,
    bfs_order,
    boruvka,
    core_number,
    count_shortest_paths,
    da2cf,
    delta_stepping,
    dijkstra,
    pagerank,
    scc,
    shortest_path_tree,
    sssp,
    topological_components,
    trace,
)
from algorithms.fused.cuda import out_of_core, staging
from bench.graphs import rmat, uniform
from formats import (
    CSC,
    CSR,
    OutOfDeviceMemory,
    OutOfHostMemory,
    Place,
    copies,
    from_edges,
    places,
    resident,
    set_memory_limit,
)
from formats.gpu import cupy
from formats.matrix.placing import VECTORS, placed
from formats.places import find_place
from formats.resident import Plan, Range, split
from semiring import MinPlus, explain, mxv, vxm
from semiring.verbs.explanation import Run, tell_crossing

from .graphs import on_cpu
from .simulated import DeviceArray, FakeCupy, FakeDriver
from .strategies import FORMATS, OPTIONS

pytestmark = pytest.mark.quick

GPU = Place("cuda", 0)
SIZES = st.lists(st.integers(0, 5000), min_size=1, max_size=5)


@given(SIZES, st.integers(-10, 12_000), st.sampled_from([1, 8, 64]))
def test_a_plan_keeps_to_its_budget(sizes: list[int], budget: int, granule: int) -> None:
    plan = split(sizes, budget, granule)
    assert plan.sizes == tuple(sizes)
    assert plan.resident <= max(budget, 0)
    assert plan.resident + plan.elsewhere == sum(sizes)
    assert all(there == size or there % granule == 0 for there, size in zip(plan.there, sizes, strict=True))
    assert plan.elsewhere == 0 or sum(sizes) > budget
    if plan.elsewhere:  # nothing is left that a granule of each would have taken
        assert max(budget, 0) - plan.resident < granule * len(sizes) + 1


def test_small_arrays_are_resident_first_and_large_ones_alike() -> None:
    assert split([40, 100, 100], 39, 10) == Plan((40, 100, 100), (0, 10, 10))
    assert split([40, 100, 100], 41, 10) == Plan((40, 100, 100), (40, 0, 0))
    assert split([40, 100, 200], 190, 10) == Plan((40, 100, 200), (40, 100, 50))
    assert split([], 0) == Plan((), ())


# --- ranges ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., FakeDriver]]:
    """driver(fails_at): a simulated driver, with pages of 64 bytes."""
    made: list[FakeDriver] = []

    def make(fails_at: int = -1) -> FakeDriver:
        made.append(FakeDriver(fails_at))
        monkeypatch.setattr(resident, "driver", lambda: made[-1])
        return made[-1]

    monkeypatch.setattr(resident, "GRANULE", 64)
    monkeypatch.setattr(resident.split, "__defaults__", (64,))
    yield make
    gc.collect()
    assert all(fake.holds_nothing for fake in made)
    assert not any(places.OUTSIDE.values())


@pytest.mark.parametrize(("there", "here"), [(64, 128), (0, 64), (128, 0)])
def test_a_range_has_device_pages_and_then_host_pages(there: int, here: int, driver: Any) -> None:
    fake = driver()
    pages = Range(there, here, GPU)
    assert sorted(fake.pages.values()) == sorted(size for size in (there, here) if size)
    assert list(fake.usable.values()) == [False] * (there > 0) + [True] * (here > 0)
    assert pages.on_host.size == here
    assert places.OUTSIDE.get(GPU, 0) == there
    del pages
    assert fake.holds_nothing
    assert places.OUTSIDE.get(GPU, 0) == 0


@pytest.mark.parametrize("fails_at", range(1, 9))
def test_a_range_that_cannot_be_made_takes_nothing(fails_at: int, driver: Any) -> None:
    fake = driver(fails_at)
    with pytest.raises(MemoryError, match="no memory"):
        Range(64, 64, GPU)
    assert fake.calls == fails_at
    assert fake.holds_nothing
    assert places.OUTSIDE.get(GPU, 0) == 0


def test_host_pages_are_pinned_in_pieces_between_which_an_interrupt_is_heard(
    driver: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resident, "PINNED_AT_ONCE", 128)
    fake = driver()
    pages = Range(64, 320, GPU)
    assert list(fake.pages.values()) == [64, 128, 128, 64]
    assert [at - pages.ptr for at in fake.mapped] == [0, 64, 192, 320]
    assert pages.on_host.size == 320
    del pages
    assert fake.holds_nothing
    create, shown = fake.create, []

    def interrupted(*given: Any) -> int:
        shown.append(given)
        if len(shown) == 2:
            raise KeyboardInterrupt
        return create(*given)

    monkeypatch.setattr(fake, "create", interrupted)
    with pytest.raises(KeyboardInterrupt):
        Range(0, 320, GPU)
    assert fake.holds_nothing


def test_an_interrupt_waits_until_a_range_is_made_and_given_back(driver: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = driver()
    for name in ("reserve", "create", "unmap"):
        whole = getattr(fake, name)

        def interrupted(*given: Any, name: str = name, whole: Callable[..., Any] = whole) -> Any:
            monkeypatch.setattr(fake, name, whole)  # once: each has a block that waits
            signal.raise_signal(signal.SIGINT)
            return whole(*given)

        monkeypatch.setattr(fake, name, interrupted)
    monkeypatch.setattr(resident, "AFTER_SECONDS", 0.05)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a process in the background may ignore it
    done = threading.Event()
    others = [threading.Thread(target=done.wait) for _ in range(8)]  # a signal to the process may reach any of these
    for other in others:
        other.start()
    try:
        made = [Range(64, 64, GPU)]
        with pytest.raises(KeyboardInterrupt):
            time.sleep(5)
        assert fake.mapped
        made.clear()
        with pytest.raises(KeyboardInterrupt):
            time.sleep(5)
        assert fake.holds_nothing
    finally:
        signal.signal(signal.SIGINT, before)
        done.set()
        for other in others:
            other.join()


# --- matrices -------------------------------------------------------------------------------------------------------


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch, driver: Any) -> Iterator[Callable[..., FakeCupy]]:
    """device(…): a simulated GPU, on which arrays of 1000 bytes go in pieces of 100."""

    def make(**how: Any) -> FakeCupy:
        fake = FakeCupy(**how)
        for module in (copies, places, resident):
            monkeypatch.setattr(module, "cupy", lambda: fake)
        monkeypatch.setattr("formats.matrix.placing.cupy", lambda: fake)
        for name, value in (("PIECE", 100), ("PIECED", 1000), ("LANES", 3)):
            monkeypatch.setattr(copies, name, value)
        monkeypatch.setattr(copies.pieces, "__defaults__", (100,))
        monkeypatch.setattr(copies, "_STREAMS", {})
        driver()
        return fake

    yield make
    places.LIMITS.clear()


def graph() -> CSR:
    return uniform(60, 12).astype(np.float64)


@pytest.mark.parametrize(
    ("said", "share"), [(0.0, 0), (0.1, 0.1), (0.5, 0.5), (1.0, 1), (4000, 4000), ("2 kB", 2000), (0, 0), (10**9, 1)]
)
@pytest.mark.parametrize("fmt", FORMATS, ids=lambda fmt: fmt.__name__)
def test_a_share_is_resident_and_all_arrives(said: Any, share: float, fmt: Any, device: Any) -> None:
    device()
    A = graph().to(fmt, **OPTIONS.get(fmt, {}))
    budget = min(A.nbytes, share if share > 1 else int(share * A.nbytes))
    B = placed(A, said, GPU)
    assert type(B) is fmt
    assert all(isinstance(array, DeviceArray) for array in B.arrays)
    assert B.resident <= budget
    assert budget - B.resident <= 65 * len(A.arrays)
    assert B.nbytes == A.nbytes
    for mine, there, back in zip(A.arrays, B.arrays, copies.to_host(B.arrays, GPU), strict=True):
        np.testing.assert_array_equal(mine, there)
        np.testing.assert_array_equal(mine, back)
        part = there[3:]
        np.testing.assert_array_equal(copies.to_host([part], GPU)[0], mine[3:])


def test_what_fits_beside_the_vectors_is_resident(device: Any) -> None:
    A = graph()
    vectors = VECTORS * A.nrows
    for free, resident_bytes in ((A.nbytes + vectors, A.nbytes), (vectors + 2000, 2000), (vectors, 0), (10, 0)):
        device(free=free)
        found = placed(A, "auto", GPU).resident
        assert resident_bytes - 64 * 3 <= found <= resident_bytes


def test_a_limit_holds_for_ranges_and_for_the_pool(device: Any) -> None:
    fake, A = device(), graph()
    places.LIMITS[GPU] = 5000
    B = placed(A, 4000, GPU)
    held = places.OUTSIDE.get(GPU, 0)
    assert 0 < held <= 4000
    assert fake.limits[-1] == 5000 - held
    assert GPU.available_bytes() == 5000 - held
    with pytest.raises(OutOfDeviceMemory, match=r"moving <CSR .* needs 4,9.. bytes, but the GPU has .* under its"):
        placed(A, 5001, GPU)
    del B
    gc.collect()
    assert fake.limits[-1] == 5000


def test_what_would_pin_too_much_is_refused(device: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    device()
    A = graph()
    monkeypatch.setattr(resident, "PINNED_SHARE", 0.0)
    with pytest.raises(OutOfHostMemory, match=r"moving <CSR.*: [\d,]+ bytes would be pinned in the host's memory, of"):
        placed(A, 0.5, GPU)
    placed(A, 1.0, GPU)


@pytest.mark.parametrize("said", [-0.1, 1.1, float("nan"), "many", True, "-1"])
def test_what_says_no_size_is_refused(said: Any, device: Any) -> None:
    device()
    with pytest.raises(ValueError, match="share is from 0.0 to 1.0, got|a size is a number of bytes"):
        placed(graph(), said, GPU)


def test_the_host_has_no_share() -> None:
    with pytest.raises(ValueError, match="resident= is of a GPU's memory, got device='cpu'"):
        graph().to(CSC, resident=0.5)
    with pytest.raises(ValueError, match="resident= is of a GPU's memory"):
        graph().footprint(resident="auto")


@pytest.mark.parametrize("fails_at", [0, 3, 30])
def test_after_a_failed_copy_nothing_is_taken(fails_at: int, device: Any) -> None:
    fake = device(fails_at=fails_at)
    with pytest.raises(fake.CUDARuntimeError):
        placed(graph(), 0.6, GPU)
    assert fake.freed == 1


def test_nothing_is_taken_where_the_driver_finds_no_memory(device: Any, driver: Any) -> None:
    device()
    whole = driver()
    placed(graph(), 0.6, GPU)
    assert whole.calls >= 8
    for fails_at in range(1, whole.calls + 1):
        fake = driver(fails_at)
        with pytest.raises(MemoryError):
            placed(graph(), 0.6, GPU)
        gc.collect()
        assert fake.holds_nothing


def test_a_footprint_tells_what_crosses(monkeypatch: pytest.MonkeyPatch, device: Any) -> None:
    device(free=10_000)
    monkeypatch.setattr("formats.matrix.footprint.find_place", lambda device: GPU)
    A = graph()
    told = A.footprint(device="cuda", resident=0.25)
    assert (told.added, told.crossing) == (A.nbytes // 4, A.nbytes - A.nbytes // 4)
    assert told.fits
    assert "crosses the bus in each pass" in str(told)
    assert "crosses" not in str(A.footprint(device="cuda", resident=1.0))


def test_a_run_tells_what_crossed(device: Any) -> None:
    device()
    A, run = placed(graph(), 0.5, GPU), Run("bfs", "CSR", "cuda", details={"edges": 2 * graph().nnz})
    tell_crossing(A, run)
    crossing = A.nbytes - A.resident
    assert run.details["resident"] == A.resident
    assert (run.details["crossing in a pass"], run.details["crossed"], run.details["passes"]) == (
        crossing,
        2 * crossing,
        2,
    )
    told = explain(bfs, graph(), 0).runs[0].details
    assert "crossing in a pass" not in told
    assert f", {A.resident / A.nbytes:.0%} resident>" in repr(A)


def test_a_trace_tells_what_each_round_moved(monkeypatch: pytest.MonkeyPatch) -> None:
    A = graph()
    with trace() as t:
        bfs(A, 0)
    assert {row.crossed for row in t.rounds} == {0}
    monkeypatch.setattr(CSR, "resident", A.nbytes - 10 * A.nnz)  # 10 bytes an entry
    with trace() as t:
        bfs(A, 0)
    assert [row.crossed for row in t.rounds] == [10 * row.edges for row in t.rounds]
    assert any(row.crossed for row in t.rounds)


# --- windows that are copied ahead ------------------------------------------------------------------------------------


def seen(window: tuple[int, int, list[Any]], dtypes: list[Any]) -> list[np.ndarray]:
    """What a kernel sees of a window of each array."""
    begin, end, given = window
    found = []
    for place, dtype in zip(given, map(np.dtype, dtypes), strict=True):
        pointer = place.ctypes.data if isinstance(place, np.ndarray) else place
        held: Any = (ctypes.c_ubyte * ((end - begin) * dtype.itemsize)).from_address(
            (int(pointer) + begin * dtype.itemsize) % 2**64
        )
        found.append(np.frombuffer(held, dtype).copy())
    return found


@pytest.mark.parametrize("there", [(0, 0), (64, 128), (640, 0), (4096, 4096)])
@pytest.mark.parametrize("room", [0, 1 << 10, 1 << 20])
def test_windows_show_all_entries_in_their_order(
    room: int, there: tuple[int, int], driver: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver()
    fake = FakeCupy()
    for module in (staging, resident):
        monkeypatch.setattr(module, "cupy", lambda: fake)
    monkeypatch.setattr(staging, "WINDOW_ENTRIES", 100)
    monkeypatch.setattr(staging, "MIN_WINDOW_ENTRIES", 10)
    monkeypatch.setattr(staging, "ALIGNMENT", 2)
    monkeypatch.setattr(out_of_core, "WINDOW_ENTRIES", 70)
    dtypes, arrays, expected = [np.int32, np.float64], [], []
    for dtype, resident_bytes in zip(dtypes, there, strict=True):
        values = np.random.default_rng(1).integers(0, 99, 512).astype(dtype)
        array = resident.empty((512,), np.dtype(dtype), resident_bytes, GPU)
        array[...] = values
        arrays.append(array)
        expected.append(values)
    at = 0
    for window in staging.staged(arrays, room):
        assert window[0] == at
        at = window[1]
        for mine, its in zip(seen(window, dtypes), expected, strict=True):
            np.testing.assert_array_equal(mine, its[window[0] : at])
    assert at == 512
    assert (fake.crossed > 0) == (room > 0 and there != (4096, 4096))
    assert not any(fake.queues.values())


# --- a GPU ----------------------------------------------------------------------------------------------------------

SOURCE = 3
CALLS: dict[str, Any] = {
    "mxv": lambda A: mxv(A, cupy().arange(A.ncols).astype(A.dtype), "min_plus"),
    "vxm": lambda A: vxm(cupy().arange(A.nrows).astype(A.dtype), A, "min_plus"),
    "sssp": lambda A: sssp(A, SOURCE, return_parents=True),
    "delta_stepping": lambda A: delta_stepping(A, SOURCE, fused=False),
    "bfs": lambda A: bfs(A, SOURCE, return_parents=True),
    "scc": lambda A: scc(A),
    "weak": lambda A: scc(A, weak=True),
    "boruvka": lambda A: boruvka(A, symmetrize=True).to_edges(),
}


SPARED = 10
"""Of so many cases one is drawn: each takes several allocations of the driver's."""


ALGORITHMS: dict[str, Callable[[Any], Any]] = CALLS | {
    "bellman_ford": lambda A: bellman_ford(A, SOURCE, return_parents=True),
    "widest": lambda A: bellman_ford(A, SOURCE, "max_min"),
    "da2cf": lambda A: da2cf(A, SOURCE),
    "dijkstra": lambda A: dijkstra(A, sources=[SOURCE, 1]),
    "64 searches": lambda A: bfs(A, sources=[SOURCE, 0, 1]),
    "searched as written": lambda A: bfs(A, SOURCE, fused=False),
    "nearest parents": lambda A: shortest_path_tree(A, sssp(A, SOURCE), SOURCE, MinPlus, ties="nearest"),
    "core": lambda A: core_number(A, symmetrize=True),
    "pagerank": lambda A: pagerank(A),
    "betweenness": lambda A: betweenness_centrality(A, sources=[SOURCE, 1]),
    "counts": lambda A: count_shortest_paths(A.pattern(), sources=[SOURCE, 1]),
    "order": lambda A: bfs_order(A, SOURCE, both_ways=True),
    "topological": lambda A: topological_components(A),
}
"""What is tried on small graphs, drawn at random."""


def parts(answer: Any) -> list[np.ndarray]:
    return [on_cpu(part) for part in (answer if isinstance(answer, tuple) else (answer,))]


@pytest.mark.backend("cuda")
@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("share", [0.0, 0.4])
def test_a_share_on_cuda_gives_the_same_bits(share: float, name: str) -> None:
    A = rmat(17, dtype=np.int32, high=99)  # 16 MiB: both arrays have a border inside
    B = A.to(device="cuda", resident=share)
    assert abs(B.resident - share * A.nbytes) <= 2 * resident.GRANULE + A.indptr.nbytes
    for mine, expected in zip(parts(CALLS[name](B)), parts(CALLS[name](A.to(device="cuda"))), strict=True):
        np.testing.assert_array_equal(mine, expected)


@pytest.mark.backend("cuda")
@pytest.mark.parametrize("fmt", FORMATS, ids=lambda fmt: fmt.__name__)
def test_every_format_works_where_it_is_not_resident_on_cuda(fmt: Any) -> None:
    A = uniform(500, 12).astype(np.float32)
    M = A.to(fmt, device="cuda", resident=0.0, **OPTIONS.get(fmt, {}))
    assert (type(M), M.resident, M.device) == (fmt, 0, "cuda")
    assert M.to(device="cpu").equals(A)
    assert pickle.loads(pickle.dumps(M)).equals(A)
    x = np.arange(500, dtype=np.float32)
    np.testing.assert_array_equal(on_cpu(mxv(M, cupy().asarray(x), "min_plus")), mxv(A, x, "min_plus"))
    assert M.T.to(device="cpu").equals(A.T)


@pytest.mark.backend("cuda")
def test_what_cuda_pages_hold_is_given_back() -> None:
    place, A = find_place("cuda"), rmat(17)  # of whose large arrays half is more than a page
    gc.collect()
    held = places.OUTSIDE.get(place, 0)
    for k in range(20):
        B = A.to(device="cuda", resident=0.75)
        assert places.OUTSIDE[place] > 0
        if k % 2:
            bfs(B, 0)
        back = B.to(device="cpu")
        B.forget()
        del B
    assert back.equals(A)
    gc.collect()
    assert places.OUTSIDE[place] == held


@pytest.mark.backend("cuda")
def test_a_limit_on_cuda_leaves_most_on_the_host_and_explain_tells() -> None:
    A, place = rmat(17, dtype=np.float32), find_place("cuda")
    gc.collect()
    used = cupy().get_default_memory_pool().used_bytes() + places.OUTSIDE.get(place, 0)
    set_memory_limit(used + VECTORS * A.nrows + A.nbytes // 8, device=place)
    try:
        with pytest.raises(OutOfDeviceMemory):
            A.to(device="cuda", resident=1.0)
        B = A.to(device="cuda", resident="auto")
        y = on_cpu(mxv(B, cupy().zeros(A.ncols, np.float32), "min_plus"))
    finally:
        set_memory_limit(None, device=place)
    assert B.resident < A.nbytes / 4
    np.testing.assert_array_equal(y, mxv(A, np.zeros(A.ncols, np.float32), "min_plus"))
    told = explain(sssp, B, 3)
    np.testing.assert_array_equal(on_cpu(told.result), sssp(A, 3))
    assert told.runs[0].details["crossing in a pass"] == A.nbytes - B.resident
    assert told.runs[0].details["passes"] > 0


@pytest.mark.backend("cuda")
def test_small_graphs_on_cuda_give_the_same_bits_at_any_share_and_limit(fuzz_seeds: range) -> None:
    """Or are refused: where the limit leaves no more than some bytes beside the share."""
    place = find_place("cuda")
    for seed in fuzz_seeds[::SPARED]:
        random = np.random.default_rng(seed)
        n, m = int(random.integers(SOURCE + 1, 60)), int(random.integers(0, 300))
        ends = random.integers(0, n, (2, m))
        A = from_edges(*ends, random.integers(1, 20, m).astype(np.int32), shape=n)
        name, share = list(ALGORITHMS)[random.integers(len(ALGORITHMS))], float(random.choice([0.0, 0.3, 0.9]))
        expected = parts(ALGORITHMS[name](A.to(device="cuda")))
        B, beside = A.to(device="cuda", resident=share), int(2 ** random.uniform(9, 20))
        used = cupy().get_default_memory_pool().used_bytes() + places.OUTSIDE.get(place, 0)
        set_memory_limit(used + beside, device=place)
        try:
            found = parts(ALGORITHMS[name](B))
        except OutOfDeviceMemory:
            found = expected
        finally:
            set_memory_limit(None, device=place)
        for mine, its in zip(found, expected, strict=True):
            said = f"--fuzz-seed {seed} --fuzz-cases 1: {name}, {share}, {beside} bytes beside"
            np.testing.assert_array_equal(mine, its, err_msg=said)
