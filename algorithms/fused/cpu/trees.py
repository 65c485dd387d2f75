"""The shortest-path tree of distances in compiled passes over the edges; `algorithms.shared.parents` has the rule.

    round 0: p_j = min i with d_i ⊗ a_ij = d_j and d_i nearer than d_j       all rows at once, the minimum atomic
             or of these the nearest                                         one row after the other
    round k: p_j = min i with d_i ⊗ a_ij = d_j, i settled in round k - 1     for those on plateaus, if there are any

Round 0 costs a pass over the edges, shared by the threads; the later rounds together one more. Where rows are short,
whether an edge is tight can hardly be foretold: then few threads are slower than one that branches on nothing.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from algorithms.shared.parents import gains_by_length
from formats import CSR
from formats.arrays import index_dtype
from semiring import Semiring
from semiring.cpu.threads import cut_evenly, get_threads, run
from semiring.verbs.explanation import explained, facts
from semiring.verbs.registry import Unsuited

from .essential import ESSENTIAL, edges_for
from .near_far import FEWEST, full_values

LONG_ROWS = 8
"""Entries of a row on average from which on it pays to branch on what most edges have in common."""


def parents(A: CSR, d: np.ndarray, source: int, s: Semiring, nearest: bool = False) -> Any:
    """The parent of each vertex; `Unsuited` if d is no fixpoint, which the definition tells.

    nearest: the rule for ties, which is otherwise the smallest.
    """
    row_round, later_rounds, hanging = loops(s, A.dtype)
    d = np.ascontiguousarray(d)
    kept = A.known(ESSENTIAL, s) is not None
    rows = edges_for(A, [source], farthest(d, s), s) if kept else (A.indptr, A.indices, full_values(A))
    parent = np.full(A.nrows, -1, index_dtype(A.nrows))
    if nearest and not gains_by_length(A, s):
        nearest_round(s, A.dtype)[rows[1].size >= LONG_ROWS * A.nrows](*rows, d, parent)
        parent[source] = -1
    elif not gains_by_length(A, s):
        bits, pieces = parent.view(np.uint32 if parent.itemsize == 4 else np.uint64), cut_evenly(rows[0])
        if rows[1].size < LONG_ROWS * A.nrows and get_threads() < FEWEST:
            short_round(s, A.dtype)(*rows, d, bits)
        else:
            run(lambda *piece: row_round(len(pieces) == 1, *rows, d, bits, *piece), pieces)
        parent[source] = -1
    left, rounds = hanging(source, d, parent), 0
    if left:
        left, rounds = later_rounds(source, left, *rows, d, parent)
        if left:
            return Unsuited("the distances are no fixpoint")
    if explained():
        facts(rounds=1 + rounds)
    return parent


def farthest(d: np.ndarray, s: Semiring) -> Any:
    """The largest of finite distances."""
    return d.max(where=d != s.zero(d.dtype), initial=s.unit(d.dtype))


def nearest_parents(A: CSR, d: np.ndarray, s: Semiring) -> tuple[np.ndarray, int]:
    """(the parents after round 0 for the nearest, how many reached vertices have none)."""
    parent = np.full(A.nrows, -1, index_dtype(A.nrows))
    nearest_round(s, A.dtype)[A.nnz >= LONG_ROWS * A.nrows](A.indptr, A.indices, full_values(A), d, parent)
    return parent, loops(s, A.dtype)[2](-1, d, parent)


@lru_cache(maxsize=64)
def loops(semiring: Semiring, dtype: np.dtype) -> tuple[Any, ...]:
    """(round 0, the later rounds, the number of reached ones without a parent)."""
    from semiring.cpu.kernels import compiled, product_function

    from .atomics import lowered
    from .relaxation import length, orders

    zero = semiring.zero(dtype)
    better_than, _ = orders(semiring)
    lengthened = length(semiring, dtype)
    product = product_function(semiring, dtype, matrix_first=False)

    @compiled
    def row_round(alone, indptr, indices, values, d, parent, start, stop):
        """The smallest parents.

        parent: without a sign, so that none is the largest.  alone: does nobody else write to it? Then rows ascend.
        """
        for i in range(np.uintp(start), np.uintp(stop)):
            x = d[i]
            if x == zero:
                continue
            me = parent.dtype.type(i)
            for e in range(np.uintp(indptr[i]), np.uintp(indptr[i + np.uintp(1)])):
                t, j = lengthened(values[e], x), np.uintp(indices[e])
                if (t == d[j]) & (t != zero) & better_than(x, t):
                    if me < parent[j]:
                        if alone:
                            parent[j] = me
                        else:
                            lowered(parent, j, me)

    @compiled
    def hanging(source, d, parent):
        count = 0
        for v in range(d.size):
            count += (d[v] != zero) & (parent[v] < 0) & (v != source)
        return count

    @compiled
    def later_rounds(source, left, indptr, indices, values, d, parent):
        """(how many are still without a parent, rounds)."""
        n = d.size
        settled = parent >= 0
        settled[source] = True
        newly, next_ones, size, rounds = np.flatnonzero(settled), np.empty(n, np.int64), 0, 0
        count = newly.size
        while left and count:
            size = 0
            for k in range(count):
                i = newly[k]
                for e in range(np.uintp(indptr[i]), np.uintp(indptr[i + 1])):
                    j = np.uintp(indices[e])
                    if settled[j]:
                        continue
                    t = product(values[e], d[i])
                    if t != zero and t == d[j]:
                        if parent[j] < 0:
                            next_ones[size] = j
                            size += 1
                            parent[j] = i
                        else:
                            parent[j] = min(parent[j], i)
            for k in range(size):
                settled[next_ones[k]] = True
            newly, next_ones, count = next_ones, newly if newly.size == n else np.empty(n, np.int64), size
            left -= size
            rounds += 1
        return left, rounds

    return row_round, later_rounds, hanging


@lru_cache(maxsize=64)
def short_round(semiring: Semiring, dtype: np.dtype) -> Any:
    """Round 0 for the smallest parents, on one thread and without a branch."""
    from semiring.cpu.kernels import compiled

    from .relaxation import length, orders

    zero = semiring.zero(dtype)
    better_than, _ = orders(semiring)
    lengthened = length(semiring, dtype)

    @compiled
    def loop(indptr, indices, values, d, parent):
        for i in range(np.uintp(d.size)):
            x = d[i]
            if x == zero:
                continue
            me = parent.dtype.type(i)
            for e in range(np.uintp(indptr[i]), np.uintp(indptr[i + np.uintp(1)])):
                t, j = lengthened(values[e], x), np.uintp(indices[e])
                p = parent[j]
                parent[j] = min(p, me) if (t == d[j]) & (t != zero) & better_than(x, t) else p

    return loop


@lru_cache(maxsize=64)
def nearest_round(semiring: Semiring, dtype: np.dtype) -> tuple[Any, Any]:
    """Round 0 for the nearest parents: (without a branch, for short rows; for long ones)."""
    from semiring.cpu.kernels import compiled

    from .relaxation import length, orders

    zero = semiring.zero(dtype)
    better_than, _ = orders(semiring)
    lengthened = length(semiring, dtype)

    @compiled
    def short(indptr, indices, values, d, parent):
        """Rows ascend, so of equally near parents the smallest stays."""
        for i in range(np.uintp(d.size)):
            x = d[i]
            if x == zero:
                continue
            for e in range(np.uintp(indptr[i]), np.uintp(indptr[i + np.uintp(1)])):
                t, j = lengthened(values[e], x), np.uintp(indices[e])
                p = parent[j]
                nearest = (p < 0) | better_than(x, d[np.uintp(max(p, 0))])
                parent[j] = i if (t == d[j]) & (t != zero) & better_than(x, t) & nearest else p

    @compiled
    def long(indptr, indices, values, d, parent):
        """Likewise; few edges begin nearer than the nearest so far, which for a start is the vertex itself."""
        nearest = d.copy()
        for i in range(np.uintp(d.size)):
            x = d[i]
            if x == zero:
                continue
            for e in range(np.uintp(indptr[i]), np.uintp(indptr[i + np.uintp(1)])):
                j = np.uintp(indices[e])
                if better_than(x, nearest[j]):
                    t = lengthened(values[e], x)
                    if (t == d[j]) & (t != zero):
                        nearest[j], parent[j] = x, i

    return short, long
