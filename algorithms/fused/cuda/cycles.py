"""Looks on the GPU for cycles that improve every time they are walked, while a fixpoint runs (cycles.cu).

Distances in the middle of a run depend on who came first, and so does the cycle that they close. What is reported is
therefore found by a run of its own that has the same steps every time: all that is reached begins with the unit, as if
a new vertex led everywhere, and every step reads what the one before has left. A cycle is then closed about as soon as
it has been walked, wherever it lies. The two runs take turns, so that neither waits for the other.
"""

from __future__ import annotations

from itertools import chain
from typing import Protocol

import numpy as np

from algorithms.shared.cycle_watch import gains
from algorithms.shared.errors import NegativeCycle
from algorithms.shared.parents import cycles_among
from formats import CSR
from formats.arrays import Array, cupy, to_device
from semiring import Semiring
from semiring.algebra.codegen import types_of

from . import kernels

FIRST_LOOK_STEPS = 8
"""Steps after which a cycle is looked for, and again whenever there have been twice as many."""


class Steps(Protocol):
    """A fixpoint on its way, as `Run` of `paths` is: its steps can be left, and `d` has what they have found so far."""

    d: Array
    active: Array
    when: Array
    steps: int
    done: bool

    def go_on(self, upto: int | None = None) -> None: ...


class Lookout:
    """Looks for improving cycles along a run whose steps depend on the graph alone."""

    def __init__(self, A: CSR, s: Semiring, run: Steps) -> None:
        self.A, self.s, self.run = A, s, run
        self.k = kernels.path("cycles", s, A.dtype, types_of(A))
        self.step = self.k.index(A.values.strides[0] // A.dtype.itemsize)
        self.next = FIRST_LOOK_STEPS

    def go_on(self, steps: int) -> None:
        """Lets the run take so many steps in all, or until nothing improves; raises NegativeCycle at a closed one."""
        while not self.run.done and self.run.steps < steps:
            self.run.go_on(self.next)
            self.next *= 2
            if not self.run.done:
                self.look()

    def look(self) -> None:
        """Raises NegativeCycle if one is closed, and not by rounding alone; that of the smallest vertex comes first."""
        found = self.closed()
        if found is None:
            return
        parent, start = to_device(found[0], "cpu"), found[1]
        cycle, vertex = [start], int(parent[start])
        while vertex != start:
            cycle.append(vertex)
            vertex = int(parent[vertex])
        cycle = [start, *reversed(cycle)]  # parents point backwards
        for each in chain([cycle], cycles_among(found[0])):
            if self.improves(each):
                raise NegativeCycle(each)

    def closed(self) -> tuple[Array, int] | None:
        """Returns predecessors, -1 for none, and the smallest vertex on a cycle of them; None without a cycle."""
        cp, A, k = cupy(), self.A, self.k
        n, index_type = A.nrows, A.indptr.dtype
        best, parent = cp.empty(n, A.dtype), cp.empty(n, index_type)
        ways, smallest = [cp.empty((n + 1, 2), index_type) for _ in range(2)], cp.empty(1, np.uint64)
        size, matrix = np.int64(n), (A.indptr, A.indices, A.values, self.step, k.index(n), k.index(A.nnz))
        state = self.run.d, self.run.active, self.run.when, self.s.unit(A.dtype)
        k.plain("start_offers", n, (size, best, parent, smallest))
        k.plain("offer_values", n + A.nnz, (*matrix, *state, best))
        k.plain("offer_vertices", n + A.nnz, (*matrix, *state, best, parent))
        k.plain("start_ways", n + 1, (size, parent, ways[0]))
        for _ in range(n.bit_length()):
            k.plain("follow", n + 1, (size, *ways))
            ways.reverse()
        k.plain("find_smallest", n, (size, ways[0], smallest))
        found = int(smallest.get()[0])
        return (parent, found) if found < n else None

    def improves(self, cycle: list[int]) -> bool:
        """True if it is better to walk the closed list than to stay."""
        cp, A = cupy(), self.A
        ends = cp.asarray(np.array(cycle, A.indptr.dtype))
        weights = cp.empty(len(cycle) - 1, A.dtype)
        rows = A.indptr, A.indices, A.values, self.step, np.int64(weights.size)
        self.k.plain("values_at", weights.size, (*rows, ends[:-1], ends[1:], weights))
        return gains(to_device(weights, "cpu").tolist(), A.dtype, self.s)
