"""Calls that a newcomer got wrong are refused in a sentence that names the value and the rule, or answered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from algorithms import bellman_ford, bfs, path, sssp
from formats import OutOfHostMemory, from_edges, from_graphblas, set_memory_limit

pytestmark = pytest.mark.quick

LINE: Any = from_edges([0, 1], [1, 2], [3, 4])

REFUSED: dict[str, tuple[type[Exception], str, Callable[[], Any]]] = {
    "half a level": (TypeError, "max_level must be an integer, got 1.5", lambda: bfs(LINE, 0, max_level=1.5)),  # type: ignore[call-overload]
    "a target that is not there": (ValueError, "target", lambda: bfs(LINE, 0, target=LINE.nrows)),
    "a level that is a truth": (TypeError, "max_level must be an integer", lambda: bfs(LINE, 0, max_level=True)),
    "distances for parents": (
        ValueError,
        "parent must hold vertices of 0 to 2",
        lambda: path(bellman_ford(LINE, 0), 1),
    ),
    "a number for a matrix": (TypeError, "takes a python-graphblas Matrix, got int", lambda: from_graphblas(3)),  # type: ignore[arg-type]
    "an id that is too large": (
        OutOfHostMemory,
        "a CSR of 2 edges on 1,099,511,627,777 vertices .* needs",
        lambda: from_edges([0, 1], [1, 2**40]),
    ),
    "an array that is too large": (
        OutOfHostMemory,
        "as an array needs",
        lambda: from_edges([0], [0], shape=2**22).to_dense(),
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_wrong_call_is_refused_in_a_sentence(what):
    error, message, call = REFUSED[what]
    with pytest.raises(error, match=message):
        call()


def test_an_array_beyond_the_memory_limit_is_refused():
    A = from_edges([0], [0], shape=2**14)
    set_memory_limit(2**30, device="cpu")
    try:
        with pytest.raises(OutOfHostMemory, match="as an array needs 1,073,741,824 bytes"):
            A.to_dense()
    finally:
        set_memory_limit(None, device="cpu")


def test_a_weight_in_a_list_is_not_taken_for_absent():
    A = from_edges([0, 1], [1, 2], [2**31 - 1, 5])
    assert A.dtype == np.int64
    assert sssp(A, 0).tolist() == [0, 2**31 - 1, 2**31 + 4]


def test_a_matrix_equals_no_number():
    assert not LINE.equals(3)
