"""Copies between host and GPU in pieces: what goes where, and what is left after an error, with simulated lanes."""

from __future__ import annotations

import gc
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

from bench.graphs import rmat
from formats import CSR, OutOfDeviceMemory, copies, set_memory_limit
from formats.gpu import cupy
from formats.places import HOST, OUTSIDE, find_place

from .simulated import DeviceArray, FakeCupy

pytestmark = pytest.mark.quick


class Lane:
    """A lane whose copies are made when they are waited for, at the latest moment that is allowed."""

    def __init__(self, piece: int, fails_at: int = -1) -> None:
        self.buffers = np.zeros((2, piece), np.uint8)
        self.under_way: list[Callable[[], None] | None] = [None, None]
        self.begun, self.fails_at = 0, fails_at

    def _begin(self, side: int, target: np.ndarray, source: np.ndarray) -> None:
        assert self.under_way[side] is None
        if self.begun == self.fails_at:
            raise RuntimeError("the bus is on strike")
        self.begun += 1
        self.under_way[side] = lambda: np.copyto(target, source)

    def send(self, side: int, count: int, device: Any) -> None:
        self._begin(side, device, self.buffers[side][:count])

    def fetch(self, side: int, count: int, device: Any) -> None:
        self._begin(side, self.buffers[side][:count], device)

    def wait(self, side: int) -> None:
        done, self.under_way[side] = self.under_way[side], None
        if done is not None:
            done()

    def within(self) -> Any:
        return nullcontext()


SIZES = [1000, 0, 7, 64, 4099]


def filled(seed: int) -> list[np.ndarray]:
    random = np.random.default_rng(seed)
    return [random.integers(0, 256, size, dtype=np.uint8) for size in SIZES]


def test_pieces_are_all_bytes_once() -> None:
    found = list(copies.pieces(SIZES, 64))
    assert max(last - start for _, start, last in found) == 64
    for number, size in enumerate(SIZES):
        assert [at for k, start, last in found if k == number for at in range(start, last)] == list(range(size))


@pytest.mark.parametrize("lanes", [1, 2, 5])
@pytest.mark.parametrize("piece", [1, 64, 10_000])
def test_every_byte_arrives_both_ways(lanes: int, piece: int) -> None:
    sent, there, back = filled(1), filled(2), filled(3)
    copies.copy(sent, there, [Lane(piece) for _ in range(lanes)], to_device=True)
    copies.copy(back, there, [Lane(piece) for _ in range(lanes)], to_device=False)
    for a, b, c in zip(sent, there, back, strict=True):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(a, c)


def test_an_error_ends_the_copy_with_nothing_under_way() -> None:
    lanes = [Lane(1, fails_at=3), Lane(1, fails_at=5)]
    with pytest.raises(RuntimeError, match="on strike"):
        copies.copy(filled(1), filled(2), lanes, to_device=True)
    assert [lane.under_way for lane in lanes] == [[None, None]] * 2


def test_an_interruption_ends_the_copy_with_nothing_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*how: Any) -> None:
        while not lane.begun:
            pass
        raise KeyboardInterrupt

    monkeypatch.setattr(copies, "wait", interrupted)
    lane, many = Lane(1), 1 << 20
    with pytest.raises(KeyboardInterrupt):
        copies.copy([np.zeros(many, np.uint8)], [np.zeros(many, np.uint8)], [lane], to_device=True)
    assert lane.under_way == [None, None]
    assert 0 < lane.begun < many


def test_little_is_pinned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copies, "LANES", 8)
    lane, plenty = 2 * copies.PIECE, 1 << 50
    assert [copies.lanes_for(size, plenty) for size in (1, copies.PIECE, copies.PIECE + 1, plenty)] == [1, 1, 2, 8]
    assert copies.lanes_for(plenty, None) == 8
    assert [copies.lanes_for(plenty, share * 64 * lane) for share in (0, 1, 3, 100)] == [1, 1, 3, 8]


# --- a simulated GPU ------------------------------------------------------------------------------------------------


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> Callable[..., FakeCupy]:
    """device(…): a simulated GPU, on which arrays of 1000 bytes go in pieces of 64."""

    def make(**how: Any) -> FakeCupy:
        fake = FakeCupy(**how)
        monkeypatch.setattr(copies, "cupy", lambda: fake)
        for name, value in (("PIECE", 64), ("PIECED", 1000), ("LANES", 3)):
            monkeypatch.setattr(copies, name, value)
        monkeypatch.setattr(copies.pieces, "__defaults__", (64,))
        monkeypatch.setattr(copies, "_STREAMS", {})
        return fake

    return make


def arrays() -> list[np.ndarray]:
    random = np.random.default_rng(5)
    large, small = random.random(999), random.random(9).astype(np.float32)
    return [large, small, random.random((40, 30))[:, ::2], random.random((40, 30)), np.zeros(0, np.int32), large > 0.5]


@pytest.mark.parametrize(("may_pin", "pieces"), [(1 << 40, 275 + 350), (200, 275), (0, 0)])
def test_arrays_go_to_a_gpu_and_come_back(may_pin: int, pieces: int, device: Callable[..., FakeCupy]) -> None:
    """Two are large and contiguous, on the GPU a third; 200 bytes suffice for one lane, of the first call alone."""
    fake = device(may_pin=may_pin)
    there = copies.to_gpu(arrays(), HOST)
    back = copies.to_host(there, HOST)
    for given, sent, found in zip(arrays(), there, back, strict=True):
        assert (type(sent), type(found), found.dtype) == (DeviceArray, np.ndarray, given.dtype)
        np.testing.assert_array_equal(found, given)
    assert fake.pinned <= min(may_pin, 2 * 3 * 128)
    assert (fake.crossed, fake.freed) == (pieces, 0)


def test_copies_use_the_streams_of_earlier_ones(device: Callable[..., FakeCupy]) -> None:
    fake = device()
    for _ in range(3):
        copies.to_host(copies.to_gpu(arrays(), HOST), HOST)
    assert len(fake.queues) == 3  # of the lanes


def test_after_a_failure_streams_are_new(device: Callable[..., FakeCupy]) -> None:
    fake = device(fails_at=20)
    with pytest.raises(fake.CUDARuntimeError):
        copies.to_gpu(arrays(), HOST)
    fake.fails_at = -1
    copies.to_gpu(arrays(), HOST)
    assert len(fake.queues) == 6


def test_after_a_failure_nothing_is_pinned(device: Callable[..., FakeCupy]) -> None:
    fake = device(fails_at=20)
    with pytest.raises(fake.CUDARuntimeError, match="Unknown") as error:
        copies.to_gpu(arrays(), HOST)
    assert fake.freed == 1
    assert not any(map(len, fake.queues.values()))
    frame, held = error.tb, []
    while frame is not None:
        held += [each for each in frame.tb_frame.f_locals.values() if isinstance(each, copies.GPULane)]
        frame = frame.tb_next
    assert held
    assert all(lane.memory is None for lane in held)


# --- a GPU ----------------------------------------------------------------------------------------------------------


@pytest.mark.backend("cuda")
@pytest.mark.parametrize("dtype", ["bool", "int32", "int64", "float32", "float64"])
def test_large_arrays_keep_their_bits_on_cuda_and_back(dtype: str) -> None:
    random, cp, place = np.random.default_rng(3), cupy(), find_place("cuda")
    n = copies.PIECED // np.dtype(dtype).itemsize
    given = [(random.integers(0, 1 << 31, size) % 251).astype(dtype) for size in (n + 3, 3 * n + 1, 5, n - 1)]
    there = copies.to_gpu(given, place)
    for a, b, back in zip(given, there, copies.to_host([x.copy() for x in there], place), strict=True):
        assert isinstance(b, cp.ndarray)
        np.testing.assert_array_equal(a, b.get())
        np.testing.assert_array_equal(a, back)


@pytest.mark.backend("cuda")
def test_copies_follow_what_is_under_way_on_a_cuda_stream() -> None:
    cp, place = cupy(), find_place("cuda")
    size = 2 * copies.PIECED
    for k in range(5):
        x = cp.zeros(size, np.uint8)
        for _ in range(20):
            x += np.uint8(k + 1)
        (back,) = copies.to_host([x], place)
        assert (back == 20 * (k + 1)).all()
        del x  # whose memory the next takes, while the stream is busy with it
        y = cp.ones(size, np.uint8)
        y += np.uint8(1)
        del y
        (there,) = copies.to_gpu([np.full(size, 7, np.uint8)], place)
        assert bool((there == 7).all())


@pytest.mark.backend("cuda")
@pytest.mark.usefixtures("all_resident")
def test_a_matrix_that_does_not_fit_on_cuda_leaves_no_memory_taken() -> None:
    cp = cupy()
    n = 1 << 20
    indptr = np.arange(n + 1, dtype=np.int32) * 8
    A = CSR.trusted(indptr, np.tile(np.arange(8, dtype=np.int32), n), np.ones(8 * n, np.float32), (n, n))
    pool = cp.get_default_memory_pool()
    gc.collect()  # as a refusal does
    used = pool.used_bytes()
    B = A.to(device="cuda")
    assert B.to(device="cpu").equals(A)
    del B
    assert pool.used_bytes() == used
    set_memory_limit(pool.used_bytes() + A.nbytes // 2, device="cuda")
    try:
        with pytest.raises(OutOfDeviceMemory, match="under its limit"):
            A.to(device="cuda", resident=1.0)
    finally:
        set_memory_limit(None, device="cuda")
    assert pool.used_bytes() == used


@pytest.mark.backend("cuda")
@pytest.mark.parametrize("share", [1.0, 0.4])
def test_interrupted_copies_to_cuda_leave_nothing_taken(share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*how: Any) -> None:
        raise KeyboardInterrupt

    cp, place, A = cupy(), find_place("cuda"), rmat(17)
    monkeypatch.setattr(copies, "PIECED", 1 << 20)
    gc.collect()
    held, used = OUTSIDE.get(place, 0), cp.get_default_memory_pool().used_bytes()
    with monkeypatch.context() as patched:
        patched.setattr(copies, "wait", interrupted)
        for _ in range(10):
            with pytest.raises(KeyboardInterrupt):
                A.to(device="cuda", resident=share)
    gc.collect()
    assert (OUTSIDE.get(place, 0), cp.get_default_memory_pool().used_bytes()) == (held, used)
    assert cp.get_default_pinned_memory_pool().n_free_blocks() == 0
    assert A.to(device="cuda", resident=share).to(device="cpu").equals(A)
