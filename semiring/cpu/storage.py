"""Products over a format's own storage on the CPU: what a format brings, and the table of those that do.

    gather   y_i = ⊕_k a_ik ⊗ x_k     reads x at random, writes y in order
    scatter  y_k ⊕= a_ik ⊗ x_i        reads x in order, writes y at random
    push     the scatter of a sparse x: only the rows that it has

"Row" is the stored orientation's: a column of CSC or of a transposed list. A format without loops is multiplied through
kept compressed rows or columns. Nothing here loads Numba, so that registering is quick.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from formats import Matrix

from ..generic.layout import Layout

ANY = np.ones(1, bool)
"""In the place of a mask, where there is none."""

Piece = tuple[int, int]
"""A thread's share: rows, segments or entries [start, stop), as the loops understand it."""


@dataclass(frozen=True)
class Terms:
    """The functions that loops are compiled with, for one semiring, dtype and order of ⊗'s operands.

    zero: absent.  add: ⊕.  product: (matrix value, vector value) -> ⊗ of both, in the right order.  relax: (k, t, y,
    reached, count) -> count: y_k ⊕= t, noting k in `reached` where y was the zero.  terminal: true if a sum may end at
    its first term.  lanes: sums of a row to take side by side, where ⊕ selects and LLVM would not do so by itself.
    number: the dtype's scalar type.  compiled: the decorator that makes machine code of a loop.
    """

    zero: Any
    add: Callable[[Any, Any], Any]
    product: Callable[[Any, Any], Any]
    relax: Callable[..., Any]
    terminal: bool
    lanes: int
    number: type
    compiled: Callable[[Callable[..., Any]], Callable[..., Any]]


class Loops(Layout):
    """Products over one format's storage, compiled from `Terms` by `__init__`. Threads call them side by side.

    (Indices are best made unsigned where they are used: of a signed one Numba asks whether it counts from the end,
    which costs a third of a push.)
    """

    fills: ClassVar[bool] = True
    """True if `gather` writes every y_i of its piece, so that y need not be the zero at first."""

    masks: ClassVar[bool] = False
    """True if the loop of `gather` takes a mask of the rows, and whether there is one."""

    _gather: Callable[..., Any]
    _scatter: Callable[..., Any]
    _push: Callable[..., Any]

    def __init__(self, t: Terms) -> None:
        """Compiles the loops: _gather, _scatter and, if the format has it, _push."""
        raise NotImplementedError

    def arrays(self, A: Any) -> tuple[Any, ...]:
        """The arguments of the loops that say what A stores."""
        raise NotImplementedError

    def pieces(self, A: Any, per_thread: int) -> list[Piece]:
        """The work on A in pieces of about equal size, so many for each thread."""
        raise NotImplementedError

    def gather(self, A: Any, x: np.ndarray, y: np.ndarray, allowed: np.ndarray | None, start: int, stop: int) -> None:
        """y_i = ⊕_k a_ik ⊗ x_k for a piece.  allowed: flags of the rows that are wanted."""
        mask = (ANY if allowed is None else allowed, allowed is not None) if self.masks else ()
        self._gather(*self.arrays(A), x, y, *mask, start, stop)

    def scatter(self, A: Any, x: np.ndarray, y: np.ndarray, start: int, stop: int) -> None:
        """y_k ⊕= a_ik ⊗ x_i for a piece."""
        self._scatter(*self.arrays(A), x, y, start, stop)

    def push(self, A: Any, rows: np.ndarray, weights: np.ndarray, y: np.ndarray, reached: np.ndarray) -> int:
        """y_k ⊕= a_ik ⊗ weights_i for the given rows; how many places, listed in `reached`, y has left the zero at."""
        return self._push(*self.arrays(A), rows, weights, y, reached)


STORED: dict[type[Matrix], type[Loops]] = {}
"""The loops of each format that has some."""


def loops_for(*formats: type[Matrix]) -> Callable[[type[Loops]], type[Loops]]:
    """Register the decorated loops for the formats."""

    def register(loops: type[Loops]) -> type[Loops]:
        for fmt in formats:
            STORED[fmt] = loops
        return loops

    return register
