"""Large arrays of the host lie in memory that earlier ones have left, and in no other array's."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from algorithms import bfs
from bench.graphs import rmat
from formats import host_pool, set_memory_limit
from formats.places import HOST

MIB = 2**20


@pytest.fixture(autouse=True)
def _nothing_is_kept() -> Iterator[None]:
    host_pool.give_back()
    yield
    host_pool.give_back()


def place(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


def test_a_large_array_lies_where_the_last_one_was() -> None:
    a = host_pool.empty((40, MIB), np.uint8)
    a[:] = 7
    was = place(a)
    del a
    b = host_pool.empty((10, MIB), np.int32)
    assert place(b) == was
    assert b.shape == (10, MIB)
    assert b.flags.c_contiguous
    assert b.flags.writeable


def test_memory_is_not_used_again_while_a_view_of_it_lives() -> None:
    a = host_pool.empty((40, MIB), np.uint8)
    row = a[3]
    row[:] = 5
    del a
    b = host_pool.empty((40, MIB), np.uint8)
    b[:] = 0
    assert (row == 5).all()


@pytest.mark.parametrize(("first", "second"), [(100, 40), (40, 50)])
def test_memory_of_more_than_twice_the_size_or_of_less_is_not_used(first: int, second: int) -> None:
    a = host_pool.empty((first, MIB), np.uint8)
    del a
    b = host_pool.empty((second, MIB), np.uint8)
    assert isinstance(b.base, host_pool._Lent)
    assert len(b.base.block) == b.nbytes


def test_small_arrays_are_numpys() -> None:
    a = host_pool.empty((3, 4), np.float32)
    assert a.flags.owndata
    assert a.dtype == np.float32
    del a
    assert not host_pool._kept


def test_under_a_memory_limit_nothing_is_kept() -> None:
    a = host_pool.empty((40, MIB), np.uint8)
    del a
    assert host_pool._kept
    set_memory_limit("1000GiB", device="cpu")
    try:
        HOST.available_bytes()
    finally:
        set_memory_limit(None, device="cpu")
    assert not host_pool._kept


def test_searches_in_used_memory_give_what_they_gave(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_pool, "SMALLEST", 1)
    A = rmat(8, seed=3)
    first = bfs(A, sources=range(40))
    expected = first.copy()
    del first
    assert host_pool._kept
    assert np.array_equal(bfs(A, sources=range(40)), expected)
