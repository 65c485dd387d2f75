"""The queue of changed vertices in Bellman-Ford's method, and the order in which it gives them out.

    fifo      first in, first out
    slf       smaller label first: a vertex that is nearer than the first one goes before it
    lll       large label last: while the first one is farther than the mean of the queue, it goes to the end
    slf+lll   both

Only the first of them is known to give out each vertex at most n times; the others may take exponentially many steps.
So their order holds for a number of steps, and from then on a queue is first in, first out.

[1] D. P. Bertsekas, A simple and fast label correcting algorithm for shortest paths, Networks 23, 1993.
[2] F. Glover, D. Klingman, N. Phillips, A new polynomially bounded shortest path algorithm, Operations Research 33(1),
    1985.
"""

from __future__ import annotations

import math
from collections import deque

from formats import SparseVector
from semiring import Semiring

DISCIPLINES = ("fifo", "slf", "lll", "slf+lll")


class WorkQueue:
    """Vertices to relax from, each at most once in the queue, with their distances.

    discipline: one of `DISCIPLINES`.  patience: for how many steps its order holds.
    The queue is on the host: what is added is copied there.
    """

    def __init__(self, discipline: str, semiring: Semiring, patience: int) -> None:
        self._patience = patience
        self._smaller_first = "slf" in discipline
        self._larger_last = "lll" in discipline
        self._better = semiring.better
        self._order: deque[int] = deque()
        self._label: dict[int, float] = {}
        self._sum = 0.0
        self._finite = 0

    def __bool__(self) -> bool:
        return bool(self._order)

    def add(self, improved: SparseVector) -> None:
        """The improved vertices come into the queue, unless they are there already, with their new labels."""
        for vertex, label in zip(improved.indices.tolist(), improved.values.tolist(), strict=True):
            known = vertex in self._label
            if known:
                self._forget(vertex)
            self._label[vertex] = label
            if math.isfinite(label):
                self._sum += label
                self._finite += 1
            if known:
                continue
            if self._smaller_first and self._order and self._better(label, self._label[self._order[0]]):
                self._order.appendleft(vertex)
            else:
                self._order.append(vertex)

    def pop(self) -> int:
        """The next vertex, which leaves the queue."""
        self._patience -= 1
        if self._patience < 0:
            self._smaller_first = self._larger_last = False
        if self._larger_last and self._finite:
            mean = self._sum / self._finite
            for _ in range(len(self._order) - 1):  # rounding may put all above the mean
                if not self._better(mean, self._label[self._order[0]]):
                    break
                self._order.rotate(-1)
        vertex = self._order.popleft()
        self._forget(vertex)
        return vertex

    def _forget(self, vertex: int) -> None:
        """Take a vertex's label out of the mean, in which infinite ones do not count."""
        label = self._label.pop(vertex)
        if math.isfinite(label):
            self._sum -= label
            self._finite -= 1
