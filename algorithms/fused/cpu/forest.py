"""Minimum spanning forests by Borůvka's algorithm, on the matrix itself: no list of edges is made, and no key.

    l_v = the lightest entry of row v that leaves v's tree      b_t = the best l_v of the tree's vertices

Entries compare by (weight, smaller end, larger end). Of the entries of one row with the same weight that is the order
of their columns, so the first lightest one is the row's choice. Chosen edges are joined in a union-find (`components`),
which refuses the second of two trees that chose the same edge. What makes rounds short: in the first every vertex is a
tree, and nothing is looked up; a vertex looks again only if its choice no longer leaves its tree, and no more if no
entry does; and a tree that has grown large never chooses, since every edge that leaves it also leaves one of the
others, which does. Before that all edges of few, and the lightest of many, are listed (`light_edges`): one or two
threads sort them, and join in that order; more contract the graph that they make (`contraction`).

Where not every edge has its reverse, the columns are looked through as the rows are. At most log₂ n rounds and one of
O(n + m); 40 bytes a vertex for weights of 8 bytes.

[1] O. Borůvka, O jistém problému minimálním, Práce moravské přírodovědecké společnosti 3, 1926.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from algorithms.shared.edges import undirected_edges
from formats import COO, CSC, CSR, CompressedCSR
from formats.arrays import index_dtype
from formats.matrix.facts import Fact
from formats.storage.compressed import rows_within, strips
from formats.storage.orientation import by_columns, has_columns, is_symmetric
from formats.storage.sorting import sorted_by_rows
from semiring import ewise_add
from semiring.cpu.atomics import added, exchanged
from semiring.cpu.crew import MEMBERS, crew
from semiring.cpu.dealing import dealt, threads_for
from semiring.cpu.kernels import compiled, inlined
from semiring.cpu.packed import column, columns_of
from semiring.cpu.rows import row_numbers
from semiring.cpu.threads import get_threads
from semiring.verbs.explanation import details

from .components import find, flatten, join, most_frequent, point_at_roots
from .contraction import contract
from .entries import Side, values_at
from .light_edges import MAX_EDGES, MIN_MEAN_NNZ, LightEdges, chosen_of, light_edges
from .symmetry import find_symmetry

BELOW: Fact[tuple[np.ndarray, Side]] = Fact("the entries below the diagonal, by columns")
IN_ORDER: Fact[bool] = Fact("are there many entries a vertex, all of one weight?")

VERTICES_AT_A_TIME = 256
"""Number of vertices that a thread takes at a time."""

MAX_THREADS_TO_SORT = 2
"""Maximum of threads with which listed edges are sorted, by one of them; more contract them sooner."""

EDGES_AT_A_TIME = 1 << 12
"""Number of edges that a thread takes at a time."""

NNZ_PER_VERTEX = 32
"""Number of entries that are looked through as fast as a vertex or an edge is looked up, about."""

STRIP_BYTES = 80
"""Bytes for an entry of rows that are looked at without the others: itself, joined to a forest, and by columns."""

LIGHT_BYTES = 48
"""Bytes for an edge that is sorted, or contracted."""

MAX_NNZ_IN_ORDER = 1 << 20
"""Maximum of entries of one weight that are joined one after the other."""

GIANT_SHARE = 1 / 4
"""Share of the vertices from which on a tree no longer chooses: from then on this one, and no other."""


def forest(A: CSR | CompressedCSR, symmetrize: bool, with_labels: bool) -> tuple[COO, np.ndarray | None]:
    """Return the forest's edges, and the smallest vertex of each vertex's tree, as `algorithms.boruvka.forest` does."""
    find_symmetry(A)
    if not is_symmetric(A) and not symmetrize:
        undirected_edges(A)  # raises, and names an edge
    large = isinstance(A, CSR) and not has_columns(A) and (A.on_disk or A.place.questions(A.nbytes))
    return _by_strips(A, with_labels) if large and not A.footprint(CSC).fits else _whole(A, with_labels)


def _by_strips(A: Any, with_labels: bool) -> tuple[COO, np.ndarray | None]:
    """Find the same where A's columns do not fit in memory: the forest of that so far and the next rows, and so on.

    Each entry is read once, for what is not in the forest of a part is not in that of the whole. A strip takes about a
    quarter of the memory that is left.
    """
    found: tuple[COO, np.ndarray | None] | None = None
    count, room = 0, A.place.available_bytes() or 0
    for start, stop in strips(A.indptr, max(A.nrows, room // 4 // STRIP_BYTES)):
        part = rows_within(A, start, stop)
        if found is not None:  # no edge is in both: its smaller end's row came before
            part = ewise_add(part, found[0].to(CSR), "any")
        found = _whole(part, with_labels)
        part.forget()
        count += 1
    assert found is not None
    details(strips=count)
    return found


def _whole(A: CSR | CompressedCSR, with_labels: bool) -> tuple[COO, np.ndarray | None]:
    """Find the forest by A's rows and, if not every edge has its reverse, columns."""
    find_symmetry(A)
    sides = [side_of(A)]
    in_order, begins = is_joined_in_order(A), sides[0][0]
    if not is_symmetric(A):
        if in_order and not has_columns(A):
            begins, lower = A.keep(BELOW, lambda: below(sides[0]))
            sides.append(lower)
        else:
            sides.append(side_of(by_columns(A)))
    trees = Trees(A.nrows, A.dtype)
    left = A.place.available_bytes() if A.place.questions(LIGHT_BYTES * A.nnz) else None
    most = MAX_EDGES if left is None else left // LIGHT_BYTES
    edges = None if in_order else light_edges(sides, most)
    if edges is not None:
        trees.join(edges)
    elif in_order or of_one_weight(sides[0][2]):
        trees.join_in_order(sides, begins)
    if not trees.whole and (edges is None or not edges.all):
        trees.grow(sides)
    details(method="union-find", threads=get_threads(), rounds=trees.rounds, sorted=edges.weights.size if edges else 0)
    u, v, w = trees.edges()
    if A.dtype.kind == "f":
        restore_zeros(sides, u, v, w)
    index = A.indptr.dtype
    F = COO.trusted(u.astype(index, copy=False), v.astype(index, copy=False), w, A.shape, 0)
    return F, trees.f if with_labels else None


def side_of(A: Any) -> Side:
    """Return the arrays of A by rows or by columns; of a pattern, one value for each entry."""
    return A.indptr, columns_of(A), np.ascontiguousarray(A.values)


def below(side: Side) -> tuple[np.ndarray, Side]:
    """Find where the entries from the diagonal on begin in each row, and those below it by columns, without values.

    For `join_in_order`, and sooner than all columns.
    """
    indptr, columns, values = side
    starts, rows = np.zeros(indptr.size + 1, indptr.dtype), np.empty(values.size, index_dtype(indptr.size))
    begins = np.empty_like(indptr)
    _below(indptr, columns, starts, rows, begins)
    return begins, (starts[:-1], rows, values[:0])


class Trees:
    """Trees that grow along the lightest edges, in a union-find f, and the edges that they have chosen."""

    def __init__(self, n: int, dtype: np.dtype) -> None:
        vertex = index_dtype(n)
        self.f = np.arange(n, dtype=vertex)
        self.chosen, self.weight, self.count = np.empty((2, n), vertex), np.empty(n, dtype), np.zeros(1, np.int64)
        self.rounds, self.giant, self.whole = 0, -1, False

    def join(self, edges: LightEdges) -> None:
        """Join trees along the edges from the lightest to the heaviest."""
        if (threads := threads_for(NNZ_PER_VERTEX * edges.u.size)) > MAX_THREADS_TO_SORT:
            with crew(threads) as gate:
                listed = edges.u, edges.v, edges.weights
                self.count[0] = contract(gate, listed, self.f, (*self.chosen, self.weight))
            return
        at = chosen_of(edges, self.f)
        self.count[0] = at.size
        self.chosen[0, : at.size], self.chosen[1, : at.size] = edges.u[at], edges.v[at]
        self.weight[: at.size] = edges.weights[at]

    def join_in_order(self, sides: list[Side], begins: np.ndarray) -> None:
        """Join trees along all edges by (u, v), which is the order of edges of one weight.

        begins: where the entries of each of the first side's rows begin that are looked at.
        """
        found, both = np.empty((2, self.f.size + 1), self.f.dtype), len(sides) == 2
        self.count[0] = _join_in_order((sides[0][:2], sides[-1][:2]), begins, both, self.f, self.chosen, found)
        self.weight[: self.count[0]], self.whole = sides[0][2][0], True

    def grow(self, sides: list[Side]) -> None:
        """Join trees until no entry leads from one to another."""
        f = self.f
        other, best, choosers = np.empty_like(f), np.full_like(f, -1), np.empty_like(f)
        lightest = np.empty_like(self.weight)
        active, alone, known = self.vertices(), not self.count[0], False
        with crew(threads_for(NNZ_PER_VERTEX * active.size)) as gate:
            while True:
                point_at_roots(gate, f.size, EDGES_AT_A_TIME, (f,))
                giant, found = self.giant_root(active.size), (other, lightest, len(sides) == 2, alone, known)
                if giant >= 0 and gate[MEMBERS] == 1:
                    active = active[f[active] != giant]  # sooner than to look at them twice
                parts = (sides[0], sides[-1]), f, active, giant, found
                _lightest(gate, active.size, VERTICES_AT_A_TIME, parts)
                of_trees = other, lightest, best, choosers, alone
                active, choosing = best_of_each(f, active, active.size, *of_trees, gate=gate)
                choosing = self.agreed(choosing, *of_trees)
                if not choosing:
                    break
                chosen = (*self.chosen, self.weight), self.count, gate[MEMBERS] > 1
                _unite(gate, choosing, VERTICES_AT_A_TIME, (f, (choosers, other, lightest), *chosen))
                alone, known = False, True
                self.rounds += 1

    def vertices(self) -> np.ndarray:
        """Return the vertices whose rows are in the sides."""
        return np.arange(self.f.size, dtype=self.f.dtype)

    def agreed(self, choosing: int, *_: Any) -> int:
        """Count those who choose, once all who look have told each other; the arguments of `best_of_each` follow."""
        return choosing

    def giant_root(self, left: int) -> int:
        """Return the root of a tree which has grown large and no longer chooses, -1 without any."""
        if self.giant < 0 and left:
            root, share = most_frequent(self.f)
            self.giant = root if share >= GIANT_SHARE else -1
        return int(self.f[self.giant]) if self.giant >= 0 else -1

    def edges(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the edges (u, v, weights), u < v, sorted by (u, v)."""
        count, n = int(self.count[0]), self.f.size
        (a, b), w = self.chosen[:, :count], self.weight[:count]
        if not self.rounds:  # they were sorted
            flatten(self.f)
            return a, b, w
        indptr, v, w = sorted_by_rows(a, b, w, (n, n))
        return row_numbers(indptr, 0).astype(a.dtype, copy=False), v.astype(b.dtype, copy=False), w


def is_joined_in_order(A: CSR | CompressedCSR) -> bool:
    """True if A has many entries a vertex, all of one weight, so that their order is that of the rows."""
    return A.keep(
        IN_ORDER, lambda: A.nnz >= MIN_MEAN_NNZ * A.nrows and of_one_weight(A.values) and bool(A.values[0] != 0)
    )


def of_one_weight(values: np.ndarray) -> bool:
    """True if these entries are few enough for one thread, and all of one weight."""
    return 0 < values.size <= MAX_NNZ_IN_ORDER and values[0] == values[-1] and bool(_alike(values))


def restore_zeros(sides: list[Side], u: np.ndarray, v: np.ndarray, w: np.ndarray) -> None:
    """Restore the sign of zero weights, in which an edge's two entries may differ: it is that of the entry u < v."""
    at = np.flatnonzero(w == 0)
    if at.size:
        found = [values_at(side, u[at], v[at], np.inf) for side in sides]
        w[at] = np.minimum(found[0], found[-1])


@inlined
def _comes_before(w, a, b, x, c, d):
    """True if the edge of weight w between a and b comes before that of weight x between c and d."""
    if w != x:
        return w < x
    low, high = min(a, b), min(c, d)
    return low < high or (low == high and max(a, b) < max(c, d))


@inlined
def _leaving(indptr, columns, values, f, v, tree, alone):
    """Find the first lightest entry of a row that leaves the tree; the row's end, if none does."""
    e, stop = np.uintp(indptr[v]), np.uintp(indptr[v + np.uintp(1)])
    while e < stop and (np.uintp(column(columns, e)) if alone else np.uintp(f[np.uintp(column(columns, e))])) == tree:
        e += np.uintp(1)
    if e < stop:
        weight = values[e]
        for later in range(e + np.uintp(1), stop):
            if values[later] < weight:
                u = np.uintp(column(columns, later))
                if (u if alone else np.uintp(f[u])) != tree:
                    e, weight = np.uintp(later), values[later]
    return e


@inlined
def _elsewhere(begins, indptr, columns, f, u, root, found):
    """Write the columns of row u's entries beyond u that are not known to be in its tree to `found`, and count them."""
    count, e, stop = np.uintp(0), np.uintp(begins[u]), np.uintp(indptr[u + np.uintp(1)])
    while e < stop and np.uintp(column(columns, e)) <= u:
        e += np.uintp(1)
    for later in range(e, stop):
        v = np.uintp(column(columns, later))
        found[count] = v
        count += np.uintp(np.uintp(f[v]) != root)
    return count


@compiled
def _alike(values):
    others = 0
    for e in range(np.uintp(values.size)):
        others += values[e] != values[np.uintp(0)]
    return others == 0


@compiled
def _below(indptr, columns, starts, rows, begins):
    """List the entries below the diagonal.  starts: (n + 2,) zeros, which become the columns' beginnings."""
    one, two, n = np.uintp(1), np.uintp(2), np.uintp(indptr.size - 1)
    for u in range(n):
        e, stop = np.uintp(indptr[u]), np.uintp(indptr[u + one])
        while e < stop and np.uintp(column(columns, e)) < u:
            starts[np.uintp(column(columns, e)) + two] += 1
            e += one
        begins[u] = e
    for u in range(n):
        starts[u + two] += starts[u + one]
    for u in range(n):
        for lower in range(np.uintp(indptr[u]), np.uintp(begins[u])):
            v = np.uintp(column(columns, lower))
            rows[np.uintp(starts[v + one])] = u
            starts[v + one] += 1


@compiled
def _join_in_order(sides, begins, both, f, chosen, found):
    """Write the edges that join trees, of all by (u, v), u < v, to `chosen`, and count them.  found: (2, n + 1)."""
    (indptr, columns), (other_indptr, other_columns) = sides
    one, count, end = np.uintp(1), np.uintp(0), np.uintp(f.size)
    for u in range(end):
        root = find(f, u)
        left, right = _elsewhere(begins, indptr, columns, f, u, root, found[0]), np.uintp(0)
        if both:
            right = _elsewhere(other_indptr, other_indptr, other_columns, f, u, root, found[1])
        e, o = np.uintp(0), np.uintp(0)
        while e < left or o < right:
            v = np.uintp(found[0, e]) if e < left else end
            if o < right and np.uintp(found[1, o]) < v:
                v = np.uintp(found[1, o])
                o += one
            else:
                e += one
            other = find(f, v)
            if other != root:
                chosen[0, count], chosen[1, count] = u, v
                count += one
                f[max(root, other)] = root = min(root, other)
    return count


def best_of_each(
    f: Any,
    active: Any,
    left: int,
    other: Any,
    lightest: Any,
    best: Any,
    choosers: Any,
    alone: bool,
    *,
    gate: Any = None,
) -> tuple[np.ndarray, int]:
    """Return the active vertices that have an edge to choose, and how many `choosers` have their tree's best edge."""
    if gate is None:
        with crew(1) as gate:
            return best_of_each(f, active, left, other, lightest, best, choosers, alone, gate=gate)
    kept, counts = (choosers if alone else np.empty_like(active[:left])), np.zeros(2, np.int64)
    _propose(gate, left, VERTICES_AT_A_TIME, (f, active, (other, lightest, best), alone, kept, counts))
    count = int(counts[0])
    if alone:
        return kept[:count].copy(), count
    _elect(gate, count, VERTICES_AT_A_TIME, (f, kept, best, choosers, counts))
    return kept[:count], int(counts[1])


@dealt
def _lightest(first, stop, sides, f, active, giant, found):
    """Find for each active vertex the first lightest entry that leaves its tree; other = -1 if there is none.

    giant: the root of a tree whose vertices do not choose.  found: other, the weights, and three flags: True to look
    among the columns, too; if every vertex is a tree; and if what was found before is still the lightest, if it leaves
    the tree.
    """
    (indptr, columns, values), (other_indptr, other_columns, other_values) = sides
    (other, lightest, both, alone, known), one = found, np.uintp(1)
    for at in range(np.uintp(first), np.uintp(stop)):
        v = np.uintp(active[at])
        tree = np.uintp(f[v])
        if known and tree != giant and np.uintp(f[np.uintp(other[v])]) != tree:
            continue
        other[v] = -1
        if tree == giant:
            continue
        e = _leaving(indptr, columns, values, f, v, tree, alone)
        if e < np.uintp(indptr[v + one]):
            other[v], lightest[v] = column(columns, e), values[e]
        if both:
            e = _leaving(other_indptr, other_columns, other_values, f, v, tree, alone)
            if e < np.uintp(other_indptr[v + one]):
                u, weight = column(other_columns, e), other_values[e]
                if other[v] < 0 or weight < lightest[v] or (weight == lightest[v] and u < other[v]):
                    other[v], lightest[v] = u, weight


@dealt
def _propose(first, stop, f, active, edges, alone, kept, counts):
    """Keep the vertices with an edge that leaves their tree, and let each tree's best of these be the best edge's."""
    (other, lightest, best), found = edges, 0
    for at in range(np.uintp(first), np.uintp(stop)):
        v = np.uintp(active[at])
        if other[v] < 0:
            continue
        found += 1
        tree = np.uintp(f[v])
        while not alone:
            old = best[tree]
            u = np.uintp(old)
            if old >= 0 and not _comes_before(lightest[v], active[at], other[v], lightest[u], old, other[u]):
                break
            if exchanged(best, tree, old, active[at]):
                break
    to = np.uintp(added(counts, 0, found))
    for at in range(np.uintp(first), np.uintp(stop)):
        if other[np.uintp(active[at])] >= 0:
            kept[to] = active[at]
            to += np.uintp(1)


@dealt
def _elect(first, stop, f, active, best, choosers, counts):
    """List the vertices with their tree's best edge, and forget the edges."""
    found = 0
    for at in range(np.uintp(first), np.uintp(stop)):
        found += best[np.uintp(f[np.uintp(active[at])])] == active[at]
    to = np.uintp(added(counts, 1, found))
    for at in range(np.uintp(first), np.uintp(stop)):
        tree = np.uintp(f[np.uintp(active[at])])
        if best[tree] == active[at]:
            choosers[to], best[tree] = active[at], -1
            to += np.uintp(1)


@dealt
def _unite(first, stop, f, ends, chosen, count, shared):
    """Join the trees of every chooser's edge; those that were not one before have chosen it."""
    (choosers, other, lightest), (chosen_u, chosen_v, weight), end = ends, chosen, np.uintp(first)
    for at in range(np.uintp(first), np.uintp(stop)):
        v = choosers[at]
        if join(f, np.uintp(other[np.uintp(v)]), np.uintp(v), shared):
            choosers[end] = v
            end += np.uintp(1)
    to = np.uintp(added(count, 0, np.int64(end) - first))
    for at in range(np.uintp(first), end):
        v, u = choosers[at], other[np.uintp(choosers[at])]
        chosen_u[to], chosen_v[to], weight[to] = min(u, v), max(u, v), lightest[np.uintp(v)]
        to += np.uintp(1)
