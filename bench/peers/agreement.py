"""When two answers are the same, in the common form: distances, levels, a partition, or a forest's weight."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from formats.arrays import to_device

from .peer import Task

EXACT = 2**24
"""Integers below it are exact in float32, and so are their sums."""
LENGTHS = 1e-5
"""The relative error of other lengths: sums in float32, in an order of our own."""
WEIGHT = 1e-6
"""The relative error of a forest's weight."""


def common(task: Task, answer: Any) -> Any:
    """Our answer, on either device, in the common form.

    answer: distances, levels or labels (n,), or the forest as a matrix.  Returns distances as float64, infinite where
    unreached, levels and labels as int64, all on the host; or the forest's weight, a float.
    """
    if task == "mst":
        return float(answer.values.sum(dtype=np.float64))
    found = to_device(answer, "cpu")
    if task != "sssp":
        return found.astype(np.int64)
    d = found.astype(np.float64)
    if found.dtype.kind == "i":
        d[found == np.iinfo(found.dtype).max] = np.inf
    return d


def agreement(task: Task, ours: Any, theirs: Any) -> bool:
    """True if two answers in the common form are the same."""
    return AGREE[task](ours, theirs)


def same_lengths(ours: np.ndarray, theirs: np.ndarray) -> bool:
    """Exactly, where ours are integers that float32 holds; else but for rounding. Infinite at the same vertices."""
    reached = np.isfinite(ours)
    if ours.shape != theirs.shape or not np.array_equal(reached, np.isfinite(theirs)):
        return False
    d, e = ours[reached], theirs[reached]
    if (np.abs(d) < EXACT).all() and (d == np.floor(d)).all():
        return np.array_equal(d, e)
    return bool(np.allclose(e, d, rtol=LENGTHS, atol=0))


def same_partition(ours: np.ndarray, theirs: np.ndarray) -> bool:
    """True if two vertices are together here where they are together there."""
    return ours.shape == theirs.shape and np.array_equal(first_of_part(ours), first_of_part(theirs))


def first_of_part(label: np.ndarray) -> np.ndarray:
    """Returns, for each vertex, the smallest vertex with its label."""
    _, first, number = np.unique(label, return_index=True, return_inverse=True)
    return first[number]


def same_weight(ours: float, theirs: float) -> bool:
    """But for rounding."""
    return bool(abs(ours - theirs) <= WEIGHT * abs(ours))


AGREE: dict[Task, Callable[[Any, Any], bool]] = {
    "sssp": same_lengths,
    "bfs": np.array_equal,
    "scc": same_partition,
    "mst": same_weight,
}
