"""Places: the host or one GPU, as matrices and vectors have them, with a limit of memory; and the second GPU."""

from __future__ import annotations

import gc
import sys
import tracemalloc
from dataclasses import dataclass
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from algorithms import bfs, boruvka, da2cf, delta_stepping, scc, sssp
from bench.graphs import rmat
from formats import (
    COO,
    CSR,
    Dense,
    DeviceUnavailable,
    Matrix,
    OutOfDeviceMemory,
    OutOfHostMemory,
    Place,
    SparseVector,
    from_edges,
    set_memory_limit,
)
from formats.gpu import cupy
from formats.matrix.facts import COMPRESSED
from formats.memory import as_bytes
from formats.places import HOST, at_home, find_place, kept_by_place, place_of
from formats.storage.orientation import has_room_for_columns
from semiring import MinPlus, ewise_add, mxm, mxv, reduce, select, vxm
from semiring.verbs import fusible

from .graphs import on_cpu
from .strategies import FORMATS, OPTIONS

pytestmark = pytest.mark.quick


def graph() -> CSR:
    return rmat(7, dtype=np.int32, high=9)


# --- names ----------------------------------------------------------------------------------------------------------


def test_what_is_on_the_host_has_one_place() -> None:
    A, v = graph(), SparseVector([1], [2.0], 5)
    assert A.place is v.place is place_of(np.zeros(3)) is find_place("cpu") is find_place(Place("cpu")) is HOST
    assert (str(A.place), A.device, A.place.on_host, A.place.name, A.xp) == ("cpu", "cpu", True, "host", np)
    assert A.to(device=A.place) is A
    assert v.to(device=HOST) is v
    assert A.T.place is HOST


@pytest.mark.parametrize("name", ["gpu", "cuda:", "cuda:x", "cpu:0", "", 1, None])
def test_what_names_no_place_is_refused(name: Any) -> None:
    with pytest.raises(ValueError, match="device must be 'cpu' or 'cuda', got"):
        find_place(name)


class Current:
    """A device of the fake, current within a `with`."""

    def __init__(self, fake: FakeCupy, ordinal: int) -> None:
        self.fake, self.ordinal, self.before = fake, ordinal, -1

    def __enter__(self) -> None:
        self.before, self.fake.current = self.fake.current, self.ordinal

    def __exit__(self, *_: Any) -> None:
        self.fake.current = self.before


class FakeArray:
    def __init__(self, ordinal: int) -> None:
        self.data = SimpleNamespace(device_id=ordinal)


class FakeCupy(ModuleType):
    """A CuPy with two devices, one of them current."""

    ndarray = FakeArray

    def __init__(self) -> None:
        super().__init__("cupy")
        self.current = 0
        self.limits: dict[int, int] = {}
        self.cuda = SimpleNamespace(
            runtime=SimpleNamespace(
                CUDARuntimeError=RuntimeError,
                driverGetVersion=lambda: 13000,
                runtimeGetVersion=lambda: 13000,
                getDeviceCount=lambda: 2,
                getDevice=lambda: self.current,
                memGetInfo=lambda: (5000, 9000),
            ),
            Device=lambda ordinal: Current(self, ordinal),
            get_allocator=lambda: print,
        )

    def get_default_memory_pool(self) -> Any:
        return SimpleNamespace(
            malloc=print,
            set_limit=lambda size: self.limits.update({self.current: size}),
            used_bytes=lambda: 300 + self.current,
            free_bytes=lambda: 10,
        )


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeCupy:
    module = FakeCupy()
    monkeypatch.setitem(sys.modules, "cupy", module)
    monkeypatch.setattr("formats.gpu._installed_cupys", lambda: ["cupy-cuda13x"])
    return module


def test_the_current_gpu_is_called_cuda_and_another_by_its_number(fake: FakeCupy) -> None:
    first, second = find_place("cuda:0"), find_place("cuda:1")
    assert find_place("cuda") is first
    assert place_of(FakeArray(1)) is second
    assert [str(first), str(second), second.name] == ["cuda", "cuda:1", "GPU 1"]
    with second.scope():
        assert (fake.current, str(first), str(second)) == (1, "cuda:0", "cuda")
        assert find_place("cuda") is second
    assert fake.current == 0
    with pytest.raises(DeviceUnavailable, match="device='cuda:2' is not here: CUDA finds 2 on this machine"):
        find_place("cuda:2")


def test_a_call_runs_on_the_gpu_of_its_first_operand(fake: FakeCupy) -> None:
    def current(*operands: Any, **named: Any) -> int:
        return fake.current

    there, here = FakeArray(1), np.zeros(1)
    assert [at_home(current)(*xs) for xs in ((there, here), (3, there), (here, there), ())] == [1, 1, 0, 0]
    assert at_home(current)(A=there) == 1
    assert fake.current == 0


def test_what_a_format_defines_itself_runs_on_the_gpu_of_its_matrix(fake: FakeCupy) -> None:
    @dataclass(frozen=True)
    class Of(Matrix, listed=False):
        @property
        def place(self) -> Place:
            return find_place("cuda:1")

        @property
        def nnz(self) -> int:
            """Its entries."""
            return fake.current

        def lengths(self, axis: int = 0) -> Any:
            return fake.current, axis

    A = Of.trusted()
    assert (A.nnz, A.lengths(1), fake.current, Of.nnz.__doc__) == (1, (1, 1), 0, "Its entries.")


def test_a_limit_of_a_gpu_is_cupys_too_and_bounds_what_is_available(fake: FakeCupy) -> None:
    place = find_place("cuda:1")
    assert place.available_bytes() == 5010
    set_memory_limit("1 kB", device="cuda:1")
    try:
        assert (fake.limits, place.limit, place.available_bytes()) == ({1: 1000}, 1000, 699)
        with pytest.raises(OutOfDeviceMemory, match="x needs 700 bytes, but the GPU 1 has 699 available under its"):
            place.check_room("x", 700)
        place.check_room("x", 699)
    finally:
        set_memory_limit(None, device=place)
    assert (fake.limits, place.available_bytes()) == ({1: 0}, 5010)


def test_nobody_asks_cuda_for_what_cupys_pool_has(fake: FakeCupy, monkeypatch: pytest.MonkeyPatch) -> None:
    pool = SimpleNamespace(malloc=print, free_bytes=lambda: 1 << 30)
    monkeypatch.setattr(fake, "get_default_memory_pool", lambda: pool)
    place = find_place("cuda:1")
    assert [place.questions(needed) for needed in (1 << 30, (1 << 30) + 1)] == [False, True]
    monkeypatch.setattr(fake.cuda, "get_allocator", lambda: max)  # not the pool's: what it has may not be asked for
    assert place.questions(1 << 30)


def test_a_small_share_of_a_gpu_is_not_asked_for_by_who_copes_with_its_lack(fake: FakeCupy) -> None:
    place, total = find_place("cuda:1"), 64 << 30
    fake.cuda.runtime.memGetInfo = lambda: (0, total)
    small, large = total // 64, total // 64 + 1
    assert [place.questions(needed, may_fail=True) for needed in (small, large)] == [False, True]
    assert place.questions(small)
    set_memory_limit("64 GB", device=place)
    try:
        assert place.questions(small, may_fail=True)
    finally:
        set_memory_limit(None, device=place)


def test_what_is_compiled_is_kept_for_each_gpu(fake: FakeCupy) -> None:
    made = kept_by_place(2)(lambda name: [name, fake.current])
    assert made("k") is made("k") is not made("l")
    with find_place("cuda:1").scope():
        assert made("k") == ["k", 1]
    assert made("k") == ["k", 0]


# --- a limit on the host --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "size"),
    [(123, 123), ("123", 123), ("4GiB", 4 << 30), ("500 MB", 500 * 10**6), ("2.5e9", 25 * 10**8), ("1.5kib", 1536)],
)
def test_a_size_in_words(said: Any, size: int) -> None:
    assert as_bytes(said) == size


@pytest.mark.parametrize("said", ["", "GiB", "-1", "4 GG", "1.2.3", True, None, "4 apples"])
def test_what_is_no_size(said: Any) -> None:
    with pytest.raises(ValueError, match='like "4GiB" or "500 MB", got'):
        as_bytes(said)


@pytest.fixture
def limited(monkeypatch: pytest.MonkeyPatch) -> Any:
    """limited(bytes): the host may give so many more."""
    monkeypatch.setattr("formats.places.resident_bytes", lambda: 10**6)
    yield lambda more: set_memory_limit(10**6 + more, device="cpu")
    set_memory_limit(None, device="cpu")


def test_a_conversion_beyond_the_limit_is_refused_with_the_figures(limited: Any) -> None:
    A = graph()
    fits = A.footprint(Dense).total
    limited(fits)
    assert A.footprint(Dense).available == fits
    D = A.to(Dense)
    limited(fits - 1)
    with pytest.raises(OutOfHostMemory, match=rf"needs {fits:,} bytes, but the host has {fits - 1:,} available under"):
        A.to(Dense)
    set_memory_limit(None, device="cpu")
    assert A.to(Dense).equals(D)


def test_an_algorithm_and_a_product_beyond_the_limit_are_refused(limited: Any) -> None:
    A, x = graph(), np.zeros(128, np.int32)
    limited(1000)
    with pytest.raises(OutOfHostMemory, match="bfs on 128 vertices, for its vectors alone, needs"):
        bfs(A, 0)
    limited(128 * 4 - 1)
    with pytest.raises(OutOfHostMemory, match="mxv, for its result, needs 512 bytes, but the host has 511"):
        mxv(A, x, MinPlus)
    limited(128 * 4)
    mxv(A, x, MinPlus)


def test_what_nobody_holds_is_freed_before_a_call_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    left = iter([10, 100])
    monkeypatch.setattr(Place, "available_bytes", lambda place: next(left))
    monkeypatch.setattr(Place, "questions", lambda place, needed, **how: True)
    HOST.check_room("x", 50)
    assert list(left) == []


def test_what_is_kept_with_a_matrix_gives_way_before_an_algorithm_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    A = graph()
    monkeypatch.setattr(Place, "available_bytes", lambda place: 10**6 - 10**3 * A.kept_nbytes)
    monkeypatch.setattr(Place, "questions", lambda place, needed, **how: True)
    A.keep(COMPRESSED, lambda: A.to("csc"), CSR)
    assert A.kept_nbytes > 10**3
    assert bfs(A, 0).size == A.nrows
    monkeypatch.setattr(Place, "available_bytes", lambda place: 0)
    A.forget_kept()
    with pytest.raises(OutOfHostMemory, match="bfs on 128 vertices"):
        bfs(A, 0)


@pytest.mark.parametrize(("enough", "attempts"), [("nothing kept", 2), ("no columns", 3), ("nothing", 3)])
def test_a_run_that_has_no_room_on_a_gpu_is_tried_again_with_less(
    enough: str, attempts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    G = graph()
    A = SimpleNamespace(place=SimpleNamespace(on_host=False), in_parts=False, kept_nbytes=1)
    A.forget_kept = lambda: vars(A).update(kept_nbytes=0)
    monkeypatch.setattr(fusible, "has_room_for_columns", lambda B: has_room_for_columns(G))
    asked = []

    def whole(B: Any) -> str:
        asked.append((B.kept_nbytes, has_room_for_columns(G)))
        if asked[-1] not in {"nothing kept": [(0, True), (0, False)], "no columns": [(0, False)]}.get(enough, []):
            raise OutOfDeviceMemory("no room")
        return "found"

    if enough == "nothing":
        with pytest.raises(OutOfDeviceMemory):
            bfs._run_fused(whole, A)
    else:
        assert bfs._run_fused(whole, A) == "found"
    assert asked == [(1, True), (0, True), (0, False)][:attempts]
    assert has_room_for_columns(G)


def test_a_run_on_the_host_that_has_no_room_is_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def whole(A: Any, *args: Any) -> None:
        asked.append(A)
        raise OutOfHostMemory("no room")

    A = from_edges([0, 1], [1, 2])
    monkeypatch.setitem(bfs.cells, (CSR, "cpu"), whole)
    with pytest.raises(OutOfHostMemory):
        bfs(A, 0)
    assert asked == [A]


@pytest.mark.parametrize("why", ["one of several processes", "nothing kept, and no room for columns"])
def test_a_run_that_has_no_room_is_not_tried_again(why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    several = why == "one of several processes"
    A = SimpleNamespace(
        place=SimpleNamespace(on_host=False), in_parts=several, group=SimpleNamespace(size=2), kept_nbytes=int(several)
    )
    monkeypatch.setattr(fusible, "has_room_for_columns", lambda B: False)
    asked = []

    def whole(B: Any) -> None:
        asked.append(B)
        raise OutOfHostMemory("no room")

    with pytest.raises(OutOfHostMemory):
        bfs._run_fused(whole, A)
    assert len(asked) == 1


def test_edges_beyond_the_limit_are_refused(limited: Any) -> None:
    ends = np.arange(1000, dtype=np.int32)
    vertices, ones = 4 * 1001 + 8 * 1000, 4 * 1000
    for src, each in ((ends, 10), (ends[::-1].copy(), 30)):
        needed = each * 1000 + vertices + ones * (each == 10)
        limited(needed - 1)
        said = f"a CSR of 1,000 edges on 1,000 vertices needs {needed:,} bytes, but the host has"
        with pytest.raises(OutOfHostMemory, match=said):
            from_edges(src, ends)
        limited(needed)
        assert from_edges(src, ends).nnz == 1000


@pytest.mark.parametrize("dup", ["min", "max", "sum", "first", "last"])
@pytest.mark.parametrize("dtype", ["bool", "int32", "float32", "float64"])
@pytest.mark.parametrize("kind", ["shuffled", "in order", "some repeated", "most repeated"])
def test_edges_take_no_more_than_was_predicted(
    kind: str, dtype: str, dup: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    n, m, random = 1 << 12, 1 << 16, np.random.default_rng(1)
    places = np.arange(m) * (n * n // m) if kind in ("shuffled", "in order") else random.integers(0, n * n, m)
    if kind == "most repeated":
        places %= 500
    if kind != "in order":
        random.shuffle(places)
    src, dst = (part.astype(np.int32) for part in divmod(places, n))
    weights = random.integers(0, 2, m).astype(dtype)
    if dtype == "bool" and dup == "sum":
        return
    said: list[int] = []
    monkeypatch.setattr(Place, "check_room", lambda place, what, needed: said.append(needed))
    tracemalloc.start()
    try:
        from_edges(src, dst, weights, shape=n, dup=dup)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most <= max(said) + 10_000


def test_the_limit_counts_what_the_process_holds() -> None:
    set_memory_limit("1 MB", device="cpu")
    try:
        assert HOST.available_bytes() == 0
    finally:
        set_memory_limit(None, device="cpu")
    assert HOST.available_bytes() != 0


# --- the second GPU -------------------------------------------------------------------------------------------------


def second_gpu() -> Place:
    if cupy().cuda.runtime.getDeviceCount() < 2:
        pytest.skip("there is one GPU")
    return find_place("cuda:1")


def parts(answer: Any) -> list[np.ndarray]:
    if isinstance(answer, tuple):
        return [part for each in answer for part in parts(each)]
    if hasattr(answer, "to_edges"):
        return [on_cpu(part) for part in answer.to_edges()]
    return [on_cpu(answer.to_dense(0) if isinstance(answer, SparseVector) else answer)]


def places(answer: Any) -> set[Place]:
    return {place_of(part) for part in (answer if isinstance(answer, tuple) else (answer,))}


CALLS: dict[str, Any] = {
    "mxv": lambda A, x, s: mxv(A, x, MinPlus),
    "vxm, sparse": lambda A, x, s: vxm(s, A, MinPlus),
    "mxm": lambda A, x, s: mxm(A, A, MinPlus),
    "ewise_add": lambda A, x, s: ewise_add(A, A.T.to(type(A)), "plus"),
    "select": lambda A, x, s: select(A, "<", 5),
    "reduce": lambda A, x, s: reduce(A, "min", axis=1),
    "sssp": lambda A, x, s: sssp(A, 3, return_parents=True),
    "delta_stepping": lambda A, x, s: delta_stepping(A, 3, fused=False),
    "da2cf": lambda A, x, s: da2cf(A, 3),
    "bfs": lambda A, x, s: bfs(A, 3, return_parents=True),
    "scc": lambda A, x, s: scc(A),
    "weak components": lambda A, x, s: scc(A, weak=True),
    "boruvka": lambda A, x, s: boruvka(A, symmetrize=True, return_labels=True),
}


@pytest.mark.backend("cuda")
@pytest.mark.parametrize("fmt", [CSR, COO])
@pytest.mark.parametrize("name", CALLS)
def test_a_call_on_the_second_gpu_runs_there_with_the_answer_of_the_first(name: str, fmt: Any) -> None:
    place, call = second_gpu(), CALLS[name]
    A, x, s = graph().to(fmt), np.arange(128, dtype=np.int32), SparseVector([3, 7], np.array([0, 2], np.int32), 128)
    there = [each.to(device=place) for each in (A, s)]
    answer = call(there[0], cupy_array(x, place), there[1])
    assert places(answer) == {place}
    assert cupy().cuda.runtime.getDevice() == 0
    for mine, expected in zip(parts(answer), parts(call(A, x, s)), strict=True):
        np.testing.assert_array_equal(mine, expected)


def cupy_array(x: np.ndarray, place: Place) -> Any:
    with place.scope():
        return cupy().asarray(x)


@pytest.mark.backend("cuda")
@pytest.mark.parametrize("fmt", [CSR, COO])
def test_a_matrix_of_which_a_part_stays_on_the_host_goes_from_one_gpu_to_another(
    fmt: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("formats.copies.PEER_PIECE", 1 << 20)
    second, A = second_gpu(), rmat(18, dtype=np.int32).to(fmt)
    for here, there in (("cuda:0", second), (second, "cuda:0")):
        shared = A.to(device=here, resident=0.2)
        assert shared.to(device=there).to(device="cpu").equals(A)
        assert A.to(device=[here, there]).to(CSR).to(device="cpu").equals(A.to(CSR))


@pytest.mark.backend("cuda")
@pytest.mark.parametrize("fmt", FORMATS, ids=lambda fmt: fmt.__name__)
def test_a_matrix_on_the_second_gpu(fmt: Any) -> None:
    place, A = second_gpu(), graph()
    M = A.to(device="cuda:1").to(fmt, **OPTIONS.get(fmt, {}))
    assert (M.place, M.device) == (place, "cuda:1")
    assert M.to(device=M.device) is M
    for other in (M.to(device="cpu"), M.to(device="cuda:0"), M.T.T, M.astype(np.float64).astype(np.int32)):
        assert other.to(device="cpu").equals(A)
    u, v = (int(part[0]) for part in A.to_edges()[:2])
    assert (M[u, v].item(), M.longest()) == (A[u, v].item(), A.longest())
    rows, cols, values = M.to_edges()
    assert {place_of(part) for part in (rows, cols, values)} == {place}
    assert from_edges(rows, cols, values, shape=M.shape).place is place
    with pytest.raises(ValueError, match="on cuda"):
        mxv(M, cupy().zeros(128, np.int32), MinPlus)


@pytest.mark.backend("cuda")
@pytest.mark.usefixtures("all_resident")
def test_a_limit_on_a_gpu_refuses_what_does_not_fit_and_frees_what_was_taken() -> None:
    A, place = graph().to(device="cuda"), find_place("cuda")
    gc.collect()  # as a refusal does
    used = cupy().get_default_memory_pool().used_bytes()
    set_memory_limit(used + 2000, device="cuda")
    try:
        with pytest.raises(OutOfDeviceMemory, match="under its limit"):
            A.to(Dense)
        with pytest.raises(OutOfDeviceMemory):
            bfs(A, 0)
        assert 0 < place.available_bytes() <= 2000 + used
    finally:
        set_memory_limit(None, device="cuda")
    bfs(A, 0)
