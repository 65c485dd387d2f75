"""Bellman-Ford's method from a queue of single vertices, which keeps a tree of paths and so sees a cycle close.

    v = first of the queue        d = d ⊕ d_v A_v        who improved comes into the queue

The edges that last improved each vertex form a tree. Once v improves, all labels in v's subtree are out of date: it is
taken out of the tree, and who waits there in the queue waits no more, until it improves itself. So nobody relaxes from
a label that is known to be out of date, and if the vertex from which v improved is itself below v, the tree closes a
cycle that is better than nothing: at once, and the same one in every run. Where ⊗ need not pass an improvement on (as
min, or a rounded sum), a label that was out of date may be found again: then it counts as new.

The subtree is a stretch of the tree's preorder, a doubly linked list, which ends where the depth is no more than v's.
The queue is first in, first out, so O(nm) looks are enough. Roads and random graphs take about two at each edge,
whatever potentials the weights hide. Labels are lengths of simple paths; those of int32 are added in 64 bits, and are
exact.

[1] R. E. Tarjan, Shortest paths, technical report, AT&T Bell Laboratories, 1981 (subtree disassembly).
[2] B. Cherkassky, A. Goldberg, Negative-cycle detection algorithms, Mathematical Programming 85, 1999 (its merits).
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from algorithms.shared.errors import NegativeCycle
from algorithms.shared.single_source import Exact, Until
from formats import CSR
from semiring import MONOIDS, Semiring
from semiring.cpu.compiler.references import interrupted
from semiring.cpu.kernels import compiled, inlined, product_function
from semiring.statistics import magnitude
from semiring.vectors import at_the_end
from semiring.verbs.explanation import details, explained
from semiring.verbs.registry import Declined

from .near_far import cannot_overflow, full_values
from .relaxation import orders

INT32, INT64 = np.dtype(np.int32), np.dtype(np.int64)

NEXT, BEFORE, DEPTH, PARENT = range(4)
"""Columns of the tree: the vertices after and before in preorder, the depth (-1 outside the tree), and the parent."""

IDLE, OUTDATED, WAITING = np.uint8(0), np.uint8(2), np.uint8(3)
"""States of a vertex: it is not in the queue; is there with an outdated label; is there to be relaxed from."""


def by_queue(A: CSR, source: int, s: Semiring, until: Until) -> Any:
    """Find distances from `source`; `Exact` if no finite length has saturated.

    Raises NegativeCycle if one is reachable; `Declined` where the definition has to tell whether one is.
    """
    sums = s.adds_weights
    if A.dtype == INT64 and sums and A.nnz and float(A.nrows) * magnitude(A, s) >= 2**62:
        return Declined("sums of its weights may not fit 64 bits")
    wide = INT64 if A.dtype == INT32 and sums else A.dtype
    n, zero = A.nrows, s.zero(wide)
    d = np.full(n, zero, wide)
    d[source] = s.unit(wide)
    endless = until.limit is None or until.limit == s.zero(A.dtype)  # beyond what A's dtype holds
    limit = zero if endless else wide.type(until.limit)
    target = -1 if until.target is None else until.target
    tree, queue, state = np.full((n + 1, 4), -1, A.indices.dtype), np.empty(n, A.indices.dtype), np.zeros(n, np.uint8)
    loop = relaxation(s, A.dtype, wide)
    last, relaxed, edges, farthest = loop(
        source, limit, target, (A.indptr, A.indices, full_values(A)), d, (tree, queue, state)
    )
    if last >= 0:
        return closed_by(A, tree[:, PARENT], int(last), s)
    if explained():
        details(schedule="fifo queue and tree", threads=1, relaxed=int(relaxed), edges=int(edges))
    return narrowed(A, d, wide.type(farthest), s)


def narrowed(A: CSR, d: np.ndarray, farthest: Any, s: Semiring) -> Any:
    """Return d in A's dtype, with lengths that do not fit it at its ends; `Exact` if all fit."""
    if d.dtype != A.dtype:
        ends, zero = np.iinfo(A.dtype), s.zero(A.dtype)
        there = d != s.zero(d.dtype)
        exact = bool(((d > ends.min) & (d < ends.max) | ~there).all())
        narrow = np.where(there, np.clip(d, ends.min, ends.max), zero).astype(A.dtype)
        return Exact(narrow) if exact else narrow
    best = s.better(d.min(), d.max())
    return Exact(d) if cannot_overflow(A, farthest, s) and not at_the_end(d.min() if best else d.max(), s) else d


def closed_by(A: CSR, parent: np.ndarray, last: int, s: Semiring) -> Declined:
    """Raise the cycle that `parent` has closed at `last`, from its smallest vertex on; `Declined` if it gains nothing.

    Of rounded sums a cycle may seem to gain whose weights, added exactly, do not.
    """
    cycle, v = [last], int(parent[last])
    while v != last:
        cycle.append(v)
        v = int(parent[v])
    cycle.reverse()
    first = cycle.index(min(cycle))
    cycle = [*cycle[first:], *cycle[: first + 1]]
    weights = [float(A[edge]) for edge in pairwise(cycle)] if A.dtype.kind == "f" else []
    if s.adds_weights and weights and all(map(math.isfinite, weights)):
        total = sum(map(Fraction, weights))
        if total >= 0 if s.add == MONOIDS["min"] else total <= 0:
            return Declined("only rounded sums make a cycle better than nothing")
    raise NegativeCycle(cycle)


@inlined
def cut_off(v, u, tree, state):
    """Take v and all below it out of the tree; True, and it is left undone, if u is there."""
    before, x, depth = tree[v, BEFORE], np.uintp(tree[v, NEXT]), tree[v, DEPTH]
    while tree[x, DEPTH] > depth:
        if x == u:
            return True
        tree[x, DEPTH] = -1
        state[x] &= OUTDATED
        x = np.uintp(tree[x, NEXT])
    tree[np.uintp(before), NEXT], tree[x, BEFORE] = x, before
    return v == u


@inlined
def hang(v, u, tree):
    """Make v, with nothing below it, the first child of u."""
    after = np.uintp(tree[u, NEXT])
    tree[v, NEXT], tree[v, BEFORE], tree[v, DEPTH], tree[v, PARENT] = after, u, tree[u, DEPTH] + 1, u
    tree[u, NEXT], tree[after, BEFORE] = v, v


@lru_cache(maxsize=64)
def relaxation(semiring: Semiring, dtype: np.dtype, wide: np.dtype) -> Any:
    """Make the loop for a semiring, weights of `dtype` and distances of `wide`."""
    better_than, _ = orders(semiring)
    absent, zero = semiring.zero(dtype), semiring.zero(wide)
    if wide == dtype:
        product = product_function(semiring, dtype, matrix_first=False)
    else:

        @inlined
        def product(weight, x):
            return zero if weight == absent else x + weight

    @compiled
    def loop(source, limit, target, rows, d, lists):
        """Return where a cycle has closed, or -1, vertices relaxed from, edges looked at, and the farthest distance.

        limit, target: bound the lengths that count; the zero, and -1, for none.  tree: all -1, with a row more than
        there are vertices: it ends the preorder.  queue: a ring.  state: all `IDLE`.
        """
        (indptr, indices, values), (tree, queue, state) = rows, lists
        n, one = queue.size, np.uintp(1)
        tree[source, NEXT], tree[source, BEFORE], tree[source, DEPTH] = n, n, 0
        queue[0], state[source], head, count = source, WAITING, 0, 1
        relaxed, edges, farthest = 0, 0, d[source]
        while count and not interrupted():
            u = np.uintp(queue[head])
            head, count = head + 1 if head + 1 < n else 0, count - 1
            x, up_to_date = d[u], state[u] == WAITING
            state[u] = IDLE
            if not up_to_date:
                continue
            relaxed += 1
            farthest = x if better_than(farthest, x) else farthest
            edges += indptr[u + one] - indptr[u]
            for e in range(np.uintp(indptr[u]), np.uintp(indptr[u + one])):
                v, t = np.uintp(indices[e]), product(values[e], x)
                if not better_than(t, d[v]):
                    if t != d[v] or tree[v, DEPTH] >= 0 or t == zero:
                        continue  # and a label that was out of date, but is right, counts again
                if better_than(limit, t):
                    continue
                if tree[v, DEPTH] >= 0 and cut_off(v, u, tree, state):
                    tree[v, PARENT] = u
                    return np.intp(v), relaxed, edges, farthest
                hang(v, u, tree)
                if state[v] == IDLE:
                    tail = head + count
                    queue[tail - n if tail >= n else tail] = v
                    count += 1
                d[v], state[v] = t, WAITING
                if np.intp(v) == target:
                    limit = t
        return np.intp(-1), relaxed, edges, farthest

    return loop
