"""Minimum spanning forests by Borůvka's algorithm, on the matrix itself: no list of edges is made, and no key.

    l_v = the lightest entry of row v that leaves v's tree      b_t = the best l_v of the tree's vertices

Entries compare by (weight, smaller end, larger end). Of the entries of one row with the same weight that is the order
of their columns, so the first lightest one is the row's choice. Chosen edges are joined in a union-find (`components`),
which refuses the second of two trees that chose the same edge. Three things make rounds short: in the first every
vertex is a tree, and nothing is looked up; a vertex that no entry leads away from is not asked again; and a
tree that has grown large never chooses, since every edge that leaves it also leaves one of the others, which does.

Where not every edge has its reverse, the columns are looked through as the rows are. At most log₂ n rounds and one of
O(n + m); 36 bytes a vertex for weights of 8 bytes, and 8 more while the edges are sorted, by two counting sorts.

[1] O. Borůvka, O jistém problému minimálním, Práce moravské přírodovědecké společnosti 3, 1926.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from formats import COO, CSR
from formats.arrays import index_dtype
from formats.convert import compressed
from semiring.cpu.kernels import compiled, inlined
from semiring.cpu.threads import get_threads
from semiring.edges import undirected_edges
from semiring.explanation import facts

from .components import flatten, join, most_frequent, side_by_side
from .symmetry import is_symmetric
from .words import atomic_add

GRAIN = 256
"""Vertices that a thread takes at a time."""

GIANT = 1 / 4
"""Share of the vertices from which on a tree no longer chooses: from then on this one, and no other."""


def forest(A: CSR, symmetrize: bool, with_labels: bool) -> tuple[COO, np.ndarray | None]:
    """(the forest's edges, the smallest vertex of each vertex's tree), as `algorithms.boruvka.forest` has them."""
    both_ways = is_symmetric(A)
    if not both_ways and not symmetrize:
        undirected_edges(A)  # raises, and names an edge
    n, vertex = A.nrows, index_dtype(A.nrows)
    sides = [_side(A)] if both_ways else [_side(A), _side(compressed(A, 1))]
    f = np.arange(n, dtype=vertex)
    u, v, w = _by_ends(*_grow(sides, f), n)
    facts(method="union-find", threads=get_threads(), edges=u.size)
    if A.dtype.kind == "f":
        _restore_zeros(sides, u, v, w)
    index = A.indices.dtype
    F = COO.trusted(u.astype(index, copy=False), v.astype(index, copy=False), w, A.shape, 0)
    return F, f if with_labels else None


def _side(A: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The arrays of A by rows or by columns; of a pattern, one value for each entry."""
    return A.indptr, A.indices, np.ascontiguousarray(A.values)


def _grow(sides: list[Any], f: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Join trees in f until no entry leads from one to another; the ends and weights of the edges that are chosen."""
    n, entries, dtype = f.size, int(sides[0][0][-1]), sides[0][2].dtype
    active, choosers = np.arange(n, dtype=f.dtype), np.empty(n, f.dtype)
    other, lightest, best = np.empty(n, f.dtype), np.empty(n, dtype), np.full(n, -1, f.dtype)
    chosen, weight = np.empty((2, n), f.dtype), np.empty(n, dtype)
    left, rounds, giant, count = n, 0, -1, np.zeros(1, np.int64)
    while left:
        for number, side in enumerate(sides):
            parts = (*side, f, active[:left], other, lightest, rounds == 0, number > 0)
            side_by_side(lambda taken, parts=parts: _lightest(*parts, taken), entries)
        left, choosing = _best_of_each(f, active, left, other, lightest, best, choosers, rounds == 0)
        before, ends = int(count[0]), (choosers[:choosing], other, chosen, count)
        side_by_side(lambda taken, ends=ends: _unite(f, *ends, taken), choosing)
        new = slice(before, int(count[0]))
        lightest.take(chosen[0, new], out=weight[new])
        flatten(f)
        if giant < 0:
            root, share = most_frequent(f)
            giant = root if share >= GIANT else -1
        if giant >= 0:
            left = _without(f, active, left, f[giant])
        rounds += 1
    facts(rounds=rounds)
    return chosen[0, : int(count[0])], chosen[1, : int(count[0])], weight[: int(count[0])]


def _restore_zeros(sides: list[Any], u: np.ndarray, v: np.ndarray, w: np.ndarray) -> None:
    """The sign of zero weights, of which those of one edge's two entries may differ: that of the entry u < v."""
    for at in np.flatnonzero(w == 0):
        found = [_value(side, u[at], v[at]) for side in sides]
        found = [value for value in found if value is not None]
        w[at] = found[0] if len(found) == 1 else np.minimum(*found)


def _value(side: Any, row: Any, col: Any) -> Any:
    """The value at (row, col), or None."""
    indptr, indices, values = side
    start, stop = indptr[row], indptr[row + 1]
    at = start + np.searchsorted(indices[start:stop], col)
    return values[at] if at < stop and indices[at] == col else None


def _by_ends(a: np.ndarray, b: np.ndarray, w: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The edges between a and b as (u, v, weights), u < v, sorted: by v first and then, keeping that order, by u."""
    u, v, order = np.minimum(a, b), np.maximum(a, b), np.arange(a.size, dtype=a.dtype)
    for key in (v, u):
        places, sorted_order = np.zeros(n + 1, a.dtype), np.empty_like(order)
        _sort(key, order, places, sorted_order)
        order = sorted_order
    return u[order], v[order], w[order]


@inlined
def _comes_before(w, a, b, x, c, d):
    """Does the edge of weight w between a and b come before that of weight x between c and d?"""
    if w != x:
        return w < x
    low, high = min(a, b), min(c, d)
    return low < high or (low == high and max(a, b) < max(c, d))


@compiled
def _lightest(indptr, indices, values, f, active, other, lightest, alone, again, taken):
    """Of each active vertex the first lightest entry that leaves its tree; other = -1: there is none.

    alone: every vertex is a tree.  again: compare with what was found among the rows.
    """
    one = np.uintp(1)
    while True:
        first = atomic_add(taken, 0, GRAIN)
        if first >= active.size:
            break
        for at in range(first, min(first + GRAIN, active.size)):
            v = np.uintp(active[at])
            e, stop, tree = np.uintp(indptr[v]), np.uintp(indptr[v + one]), np.uintp(f[v])
            while e < stop and (np.uintp(indices[e]) if alone else np.uintp(f[np.uintp(indices[e])])) == tree:
                e += one
            if e == stop:
                if not again:
                    other[v] = -1
                continue
            best, weight = e, values[e]
            for place in range(best + one, stop):
                if values[place] < weight:
                    near = np.uintp(indices[place])
                    if (near if alone else np.uintp(f[near])) != tree:
                        best, weight = place, values[place]
            u = indices[best]
            if again and other[v] >= 0:
                if lightest[v] < weight or (lightest[v] == weight and other[v] <= u):
                    continue
            other[v], lightest[v] = u, weight


@compiled
def _best_of_each(f, active, left, other, lightest, best, choosers, alone):
    """(how many are still active, how many choose): the vertices that hold their tree's best edge, in `choosers`."""
    kept, choosing = 0, 0
    for at in range(left):
        v = np.uintp(active[at])
        if other[v] < 0:
            continue
        active[kept] = v
        kept += 1
        if alone:
            continue
        tree = np.uintp(f[v])
        if best[tree] < 0:
            best[tree] = v
        else:
            u = np.uintp(best[tree])
            if _comes_before(lightest[v], np.intp(v), np.intp(other[v]), lightest[u], np.intp(u), np.intp(other[u])):
                best[tree] = v
    for at in range(kept):
        v = np.uintp(active[at])
        tree = np.uintp(f[v])
        if alone or np.uintp(best[tree]) == v:
            choosers[choosing] = v
            choosing += 1
            best[tree] = -1
    return kept, choosing


@compiled
def _unite(f, choosers, other, chosen, count, taken):
    """Join the trees of every chooser's edge; those that were not one before have chosen it."""
    while True:
        first = atomic_add(taken, 0, GRAIN)
        if first >= choosers.size:
            break
        for at in range(first, min(first + GRAIN, choosers.size)):
            v = np.uintp(choosers[at])
            u = np.uintp(other[v])
            if join(f, u, v):
                to = atomic_add(count, 0, 1)
                chosen[0, to], chosen[1, to] = v, u


@compiled
def _without(f, active, left, tree):
    """How many active vertices are left without those of one tree."""
    kept = 0
    for at in range(left):
        v = active[at]
        active[kept] = v
        kept += f[np.uintp(v)] != tree
    return kept


@compiled
def _sort(key, order, places, sorted_order):
    """A counting sort of the edges in `order` by the keys of each."""
    one = np.uintp(1)
    for e in range(key.size):
        places[np.uintp(key[e]) + one] += 1
    for k in range(1, places.size):
        places[k] += places[k - 1]
    for at in range(order.size):
        bucket = np.uintp(key[np.uintp(order[at])])
        sorted_order[np.uintp(places[bucket])] = order[at]
        places[bucket] += 1
