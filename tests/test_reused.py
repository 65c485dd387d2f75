"""Large arrays of the host lie in memory that earlier ones have left, and in no other array's."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from algorithms import bfs
from bench.graphs import rmat
from formats import reused, set_memory_limit
from formats.places import HOST

MIB = 2**20


@pytest.fixture(autouse=True)
def _nothing_is_kept() -> Iterator[None]:
    reused.give_back()
    yield
    reused.give_back()


def place(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


def test_a_large_array_lies_where_the_last_one_was() -> None:
    a = reused.empty((40, MIB), np.uint8)
    a[:] = 7
    was = place(a)
    del a
    b = reused.empty((10, MIB), np.int32)
    assert place(b) == was
    assert b.shape == (10, MIB)
    assert b.flags.c_contiguous
    assert b.flags.writeable


def test_memory_is_not_used_again_while_a_view_of_it_lives() -> None:
    a = reused.empty((40, MIB), np.uint8)
    row = a[3]
    row[:] = 5
    del a
    b = reused.empty((40, MIB), np.uint8)
    b[:] = 0
    assert (row == 5).all()


@pytest.mark.parametrize(("first", "second"), [(100, 40), (40, 50)])
def test_memory_of_more_than_twice_the_size_or_of_less_is_not_used(first: int, second: int) -> None:
    a = reused.empty((first, MIB), np.uint8)
    del a
    b = reused.empty((second, MIB), np.uint8)
    assert isinstance(b.base, reused._Lent)
    assert len(b.base.block) == b.nbytes


def test_small_arrays_are_numpys() -> None:
    a = reused.empty((3, 4), np.float32)
    assert a.flags.owndata
    assert a.dtype == np.float32
    del a
    assert not reused._kept


def test_under_a_memory_limit_nothing_is_kept() -> None:
    a = reused.empty((40, MIB), np.uint8)
    del a
    assert reused._kept
    set_memory_limit("1000GiB", device="cpu")
    try:
        HOST.available_bytes()
    finally:
        set_memory_limit(None, device="cpu")
    assert not reused._kept


def test_searches_in_used_memory_give_what_they_gave(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reused, "SMALLEST", 1)
    A = rmat(8, seed=3)
    first = bfs(A, sources=range(40))
    expected = first.copy()
    del first
    assert reused._kept
    assert np.array_equal(bfs(A, sources=range(40)), expected)
