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
from semiring.verbs.explanation import details, explained
from semiring.verbs.registry import Declined

from .essential import ESSENTIAL, edges_for
from .near_far import MIN_THREADS, Rows, full_values

LONG_ROW_NNZ = 8
"""Minimum of mean entries of a row for a branch to pay on what most edges have in common."""


def parents(A: CSR, d: np.ndarray, source: int, s: Semiring, nearest: bool = False) -> Any:
    """Find the parent of each vertex; `Declined` if d is no fixpoint, which the definition tells.

    nearest: the rule for ties, which is otherwise the smallest.
    """
    _, later_rounds, hanging = loops(s, A.dtype)
    d = np.ascontiguousarray(d)
    kept = A.known(ESSENTIAL, s) is not None
    rows = edges_for(A, [source], farthest(d, s), s) if kept else (A.indptr, A.indices, full_values(A))
    parent = np.full(A.nrows, -1, index_dtype(A.nrows))
    if not gains_by_length(A, s):
        first_round(rows, d, s, nearest, parent)
        parent[source] = -1
    left, rounds = hanging(source, d, parent), 0
    if left:
        left, rounds = later_rounds(source, left, *rows, d, parent)
        if left:
            return Declined("the distances are no fixpoint")
    if explained():
        details(rounds=1 + rounds)
    return parent


def farthest(d: np.ndarray, s: Semiring) -> Any:
    """Return the largest of finite distances."""
    return d.max(where=d != s.zero(d.dtype), initial=s.unit(d.dtype))


def nearest_parents(A: CSR, d: np.ndarray, s: Semiring) -> tuple[np.ndarray, int]:
    """Return the parents after round 0 for the nearest, and how many reached vertices have none."""
    parent = np.full(A.nrows, -1, index_dtype(A.nrows))
    first_round((A.indptr, A.indices, full_values(A)), d, s, True, parent)
    return parent, loops(s, A.dtype)[2](-1, d, parent)


def first_round(rows: Rows, d: np.ndarray, s: Semiring, nearest: bool, parent: np.ndarray) -> None:
    """Run round 0, without a branch where rows are short, unless threads share it."""
    short, long = first_rounds(s, d.dtype, nearest)
    bits, pieces = parent.view(f"u{parent.itemsize}"), [(0, d.size)] if nearest else cut_evenly(rows[0])
    if rows[1].size < LONG_ROW_NNZ * d.size and (nearest or get_threads() < MIN_THREADS):
        short(*rows, d, bits)
    else:
        run(lambda *piece: long(len(pieces) == 1, *rows, d, bits, *piece), pieces)


@lru_cache(maxsize=64)
def loops(semiring: Semiring, dtype: np.dtype) -> tuple[Any, ...]:
    """Make round 0, the later rounds, and the loop that counts reached vertices without a parent."""
    from semiring.cpu.kernels import compiled, product_function

    zero, product = semiring.zero(dtype), product_function(semiring, dtype, matrix_first=False)

    @compiled
    def hanging(source, d, parent):
        count = 0
        for v in range(d.size):
            count += (d[v] != zero) & (parent[v] < 0) & (v != source)
        return count

    @compiled
    def later_rounds(source, left, indptr, indices, values, d, parent):
        """Run the rounds after the first; returns how many are still without a parent, and the rounds."""
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

    return first_rounds(semiring, dtype, False)[1], later_rounds, hanging


@lru_cache(maxsize=64)
def first_rounds(semiring: Semiring, dtype: np.dtype, nearest: bool) -> tuple[Any, Any]:
    """Make round 0 for a semiring and a dtype: without a branch, for short rows on one thread; and for long ones.

    nearest: the rule for ties, which is otherwise the smallest.  Parents have no sign, so that none is the largest.
    Rows ascend, so that of parents that suit alike the smallest comes first.
    """
    from semiring.cpu.atomics import lowered
    from semiring.cpu.kernels import compiled

    from .relaxation import length, orders

    zero = semiring.zero(dtype)
    better_than, _ = orders(semiring)
    lengthened = length(semiring, dtype)

    @compiled
    def short(indptr, indices, values, d, parent):
        for i in range(np.uintp(d.size)):
            x = d[i]
            if x == zero:
                continue
            me = parent.dtype.type(i)
            for e in range(np.uintp(indptr[i]), np.uintp(indptr[i + np.uintp(1)])):
                t, j = lengthened(values[e], x), np.uintp(indices[e])
                p = parent[j]
                suits = better_than(x, d[np.uintp(p if p < d.size else i)]) | (p >= d.size) if nearest else me < p
                parent[j] = me if (t == d[j]) & (t != zero) & better_than(x, t) & suits else p

    @compiled
    def long(alone, indptr, indices, values, d, parent, start, stop):
        """Write parents by a part of the rows.  alone: True if nobody else writes parents; for the nearest nobody must.

        Few edges begin nearer than the nearest so far, which for a start is the vertex itself.
        """
        so_far = d.copy() if nearest else d
        for i in range(np.uintp(start), np.uintp(stop)):
            x = d[i]
            if x == zero:
                continue
            me = parent.dtype.type(i)
            for e in range(np.uintp(indptr[i]), np.uintp(indptr[i + np.uintp(1)])):
                j = np.uintp(indices[e])
                if nearest and not better_than(x, so_far[j]):
                    continue
                t = lengthened(values[e], x)
                if (t == d[j]) & (t != zero) & better_than(x, t):
                    if nearest:
                        so_far[j], parent[j] = x, me
                    elif me < parent[j]:
                        if alone:
                            parent[j] = me
                        else:
                            lowered(parent, j, me)

    return short, long
