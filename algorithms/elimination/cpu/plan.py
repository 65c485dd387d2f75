"""The size of a graph's factor, and where everything in it will lie: found once for all weights."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from formats.arrays import Array
from semiring.cpu.kernels import compiled

from .climbs import WORDS, records
from .descent import MIN_RUN_POSITIONS, Descent, descent
from .pattern import Pattern, Tree, Work, find_slots, last_of_supernodes, pattern, work
from .trees import link


@dataclass(frozen=True)
class Prediction:
    """The predicted size of a factor.

    arcs: to later positions; there are as many to earlier ones.  operations: products w_yx ⊗ w_xz.  height: positions
    on the longest way to a root.  supernodes: how many.  rows: of all of them.  update: rows of the largest.  listed:
    arcs that a sweep from one source lists again, with a number and a rank for each.
    """

    arcs: int
    operations: int
    height: int
    supernodes: int
    rows: int
    update: int
    listed: int

    def nbytes(self, itemsize: int, edges: int, both: bool = True) -> int:
        """Bytes of a factor with numbers of that size, all questions asked.

        both: true if the two directions of an arc are kept apart.
        """
        numbers = itemsize * (1 + both) * (self.arcs + self.listed)
        return numbers + 4 * (self.rows + self.listed) + 8 * edges + 8 * WORDS * self.supernodes

    @property
    def room(self) -> int:
        """Numbers that elimination takes beside the factor, about: the updates of some paths through the tree."""
        return 4 * self.update * self.update


def prediction(t: Tree) -> Prediction:
    """Predicts the size of a factor in that order."""
    counts, depth = t.counts, np.zeros(t.counts.size + 1, np.int32)
    height = measure(t.parent, depth) if counts.size else 0
    ends = last_of_supernodes(t)
    most, widths = int(counts.max(initial=0)), np.diff(np.flatnonzero(ends), prepend=-1)
    arcs, rows, wide = int(counts.sum()), counts[ends], widths >= MIN_RUN_POSITIONS
    own = widths * (widths - 1) // 2 + (widths - 1) * rows  # of a wide supernode, beyond its rows
    operations = int((counts * (counts - 1)).sum())
    return Prediction(arcs, operations, int(height), rows.size, int(rows.sum()), most, arcs - int(own[wide].sum()))


@compiled
def measure(parent, depth):
    """Positions on the longest way to a root."""
    most = 0
    for x in range(parent.size - 1, -1, -1):
        above = parent[x]
        depth[x] = 1 if above < 0 else depth[np.uintp(above)] + 1
        most = max(most, depth[x])
    return most


@compiled
def add_down(parent, counts):
    """Add to the count of each position those of all above."""
    for x in range(parent.size - 1, -1, -1):
        if parent[x] >= 0:
            counts[x] += counts[np.uintp(parent[x])]


@dataclass(frozen=True)
class Plan:
    """A pattern, how work on it is shared, and where each edge of a matrix has its arc (see `find_slots`).

    children: the first child of each supernode, and the next of its parent, -1 for none.
    """

    tree: Tree
    pattern: Pattern
    work: Work
    children: tuple[np.ndarray, np.ndarray]

    @cached_property
    def subtrees(self) -> list[np.ndarray]:
        """The supernodes of each piece, ascending."""
        return [np.arange(*piece, dtype=np.int32) for piece in self.work.pieces.tolist()]

    @cached_property
    def descent(self) -> Descent:
        return descent(self.tree, self.pattern, self.work)

    @cached_property
    def records(self) -> np.ndarray:
        """The records that climbs read of each supernode."""
        return records(self.pattern)

    @cached_property
    def climbs(self) -> np.ndarray:
        """The number of arcs that a climb from each vertex looks at, (n,)."""
        t = self.tree
        above = t.counts.astype(np.int64)
        add_down(t.parent, above)
        return above[t.place]

    @cached_property
    def holders(self) -> tuple[np.ndarray, np.ndarray]:
        """Lists the supernodes that have each position among their rows: where each list starts, and the supernodes."""
        p = self.pattern
        counts = np.bincount(p.rows, minlength=self.tree.order.size)
        starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))
        owners = np.repeat(np.arange(p.above.size, dtype=np.int32), np.diff(p.row_starts))
        return starts, owners[np.argsort(p.rows, kind="stable")]

    @property
    def nbytes(self) -> int:
        """Bytes of the lists, without slots; those of climbs and of sweeps from one source once there was one."""
        p, t = self.pattern, self.tree
        arrays: list[Array] = [t.order, t.place, t.parent, t.counts, *p.arrays, p.nodes, p.above, *self.children]
        swept = sum(self.__dict__[name].nbytes for name in ("descent", "records", "climbs") if name in self.__dict__)
        return sum(each.nbytes for each in [*arrays, self.work.top, self.work.offsets]) + swept


def planned(indptr: np.ndarray, indices: np.ndarray, t: Tree) -> Plan:
    p = pattern(indptr, indices, t)
    child, sibling = (np.full(p.above.size, -1, np.int32) for _ in range(2))
    link(p.above, child, sibling)
    return Plan(t, p, work(p), (child, sibling))


def slots(indptr: np.ndarray, indices: np.ndarray, plan: Plan) -> np.ndarray:
    """Where each edge has its arc; ValueError for an edge that the pattern has no arc for."""
    found = np.empty(indices.size, np.int64)
    missing = find_slots((indptr, indices), plan.tree.place, plan.pattern.nodes, plan.pattern.arrays, found)
    if missing >= 0:
        u = int(np.searchsorted(indptr, missing, "right")) - 1
        raise ValueError(f"the factor's pattern has no room for the edge {u} -> {int(indices[missing])}: factor anew")
    return found
