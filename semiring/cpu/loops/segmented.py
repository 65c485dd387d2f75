"""Loops over segments of rows: a list's scatter, along the one axis or along the other, a segment at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

from formats import SegmentedCOO

from ..storage import Loops, Piece, Terms, loops_for
from ..threads import cut_evenly
from .listed import scatter_list


@loops_for(SegmentedCOO)
class Segmented(Loops):
    """A piece is segments. The part of y, or of x, that a segment has stays in the cache."""

    fills, push_below = False, 0.0
    turned = True

    def __init__(self, t: Terms) -> None:
        self._scatter = scatter_list(t)

    def pieces(self, A: SegmentedCOO, per_thread: int) -> list[Piece]:
        return cut_evenly(A.starts, per_thread)

    def gather(self, A: Any, x: np.ndarray, y: np.ndarray, allowed: np.ndarray | None, start: int, stop: int) -> None:
        for s in range(start, stop):
            part = y[s * A.segment : (s + 1) * A.segment]
            self._scatter(A.indices, A.offsets, A.values, x, part, int(A.starts[s]), int(A.starts[s + 1]))

    def scatter(self, A: Any, x: np.ndarray, y: np.ndarray, start: int, stop: int) -> None:
        for s in range(start, stop):
            part = x[s * A.segment : (s + 1) * A.segment]
            self._scatter(A.offsets, A.indices, A.values, part, y, int(A.starts[s]), int(A.starts[s + 1]))
