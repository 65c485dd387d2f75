"""Strongly connected components by one depth-first search, without recursion, which leaves a giant to two others.

Gabow's search [1]: vertices are numbered as they are found, and lie on a stack until their component is complete; a
second stack holds where on it the components that may still grow into one begin. An edge to a vertex of a lower number
that lies on the stack unites all that began since, so those beginnings are taken off; a vertex that is done, and still
a beginning, has its component above it.

A depth-first search waits for memory at every vertex. It pauses when it has found a share of the vertices. If many of
them have already become one component, that component will be a giant, and two searches in any order find it [3]:

    F = all that the component leads to           down the columns, if there are any, or along the rows
    B = those of F that lead back to it           along the rows, as far as the first that is known to

Neither needs the columns, nor an order (`reach`). B may remain incomplete, and ends when a sweep over F finds little.
The depth-first search then goes on in F with B as one vertex that is already on its stack: what leads to B is united
with it. This is correct because B leads to all of F. Complete components stay, so a graph without a giant loses
nothing. Of the others, vertices that lead to complete ones alone are taken out first, without a search.

A graph is narrow if a search from one vertex takes many levels to find few. It is left to the depth-first search, since
its giant would take many sweeps.

Where every edge is known to have its reverse, a strong component is a connected one (`components`), of which most
edges are not read.

O(n + m). 24 bytes a vertex (32 where edges are numbered in 64 bits) beside the answer.

[1] H. N. Gabow, Path-based depth-first search for strong and biconnected components, Information Processing Letters
    74(3-4), 2000.
[2] R. E. Tarjan, Depth-first search and linear graph algorithms, SIAM Journal on Computing 1(2), 1972.
[3] L. Fleischer, B. Hendrickson, A. Pınar, On identifying strongly connected components in parallel, IPDPS 2000.
"""

from __future__ import annotations

import numpy as np

from formats import CSR
from formats.arrays import index_dtype
from formats.matrix.facts import Fact
from formats.storage.orientation import by_columns, has_columns, known_symmetric
from semiring.cpu.crew import MEMBERS
from semiring.cpu.dealing import crew_for
from semiring.cpu.kernels import compiled
from semiring.verbs.explanation import details

from .components import labels, set_labels
from .reach import alone, ask, lead
from .symmetry import find_symmetry
from .words import count_bits, flagged, listed, others, rows_with_edges, spreads

FIRST_LOOK_SHARE = 1 / 256
"""Share of the vertices found after which the depth-first search first pauses to look for a giant."""

LAST_LOOK_SHARE = 1 / 16
"""Share of the vertices found after which it no longer looks."""

MIN_FOUND_VERTICES = 1 << 10
"""Minimum of vertices found before the first look: in smaller graphs the depth-first search alone is faster."""

SEARCHED_SHARE = 1 / 16
"""Share of the vertices that a search from a giant's vertex finds before rows are swept over."""

GIANT_SHARE = 1 / 2
"""Minimum share of the vertices found that are one component for that component to be a giant."""

DENSE_DEGREE = 8
"""Minimum of edges a vertex for columns to be asked for what the giant leads to.

In sparser graphs rows take less, which also show the other direction on their way.
"""

MIN_REST_SHARE = 1 / 8
"""Minimum share of the vertices beside a giant for them to be asked first whether they have edges at all."""

VERTICES_PER_CALL = 1 << 20
"""Number of vertices that a compiled loop finds before it returns to Python, where a signal is heard."""

START, FOUND, STACKED, BEGUN, DEPTH, COMPONENTS = range(6)
"""Places in the state of the depth-first search.

They hold the next vertex to start from, how many vertices are numbered, how high its stacks are, and how many
components are complete."""


SEARCHED: Fact[bool] = Fact("components have been found once")


def strong_components(A: CSR, weak: bool) -> np.ndarray:
    """Label each vertex with the smallest of its component."""
    both_ways = _counts_both_ways(A)
    if weak or both_ways:
        return labels(A, both_ways)
    details(method="depth-first search", threads=1)
    search = _Search(A)
    details(giant=search.run(), components=int(search.state[COMPONENTS]))
    return search.label


def _counts_both_ways(A: CSR) -> bool:
    """True if every edge's reverse is known to be stored: this is found out at the second search of A.

    That takes longer than the first search of a symmetric graph, and shortens all others.
    """
    if A.keeps(SEARCHED):
        find_symmetry(A)
    else:
        A.keep(SEARCHED, lambda: True)
    return known_symmetric(A, pattern=True)


class _Search:
    """One depth-first search: its stacks, and the giant component, if there is one.

    number: 0 of a vertex that is not found yet, n + 1 in a complete component.
    """

    def __init__(self, A: CSR) -> None:
        n, vertex = A.nrows, index_dtype(A.nrows)
        self.A, self.n, self.label = A, n, np.empty(n, vertex)
        self.number, self.vectors = np.zeros(n, vertex), np.empty((3, n + 1), vertex)
        self.edge, self.state = np.empty(n + 1, A.indptr.dtype), np.zeros(6, np.int64)

    def run(self) -> int:
        """Label every vertex. Returns how many are in the giant component, 0 where none was found."""
        everyone, look = self.vectors[0][:0], max(MIN_FOUND_VERTICES, int(self.n * FIRST_LOOK_SHARE))
        last = int(self.n * LAST_LOOK_SHARE)
        while not self.search(everyone, min(look, VERTICES_PER_CALL) if look <= last else VERTICES_PER_CALL):
            if look <= last:
                members = self.largest()
                if members.size >= look * GIANT_SHARE:
                    if size := self.take(members):
                        return size
                    last = 0
                look *= 2
        return 0

    def search(self, order: np.ndarray, limit: int) -> bool:
        """Search from the vertices in `order`, or from all if there are none, until `limit` more are numbered.

        Returns whether no vertex was left to start from.
        """
        arrays = ((self.A.indptr, self.A.indices), self.label, self.number, self.vectors, self.edge)
        return _search(*arrays, order, self.state, self.state[FOUND] + limit)

    def largest(self) -> np.ndarray:
        """Return the vertices on the stack that are known to be in one component, of several components the largest."""
        stack, begins = self.vectors[0][: self.state[STACKED]], self.vectors[1][: self.state[BEGUN]]
        if begins.size > stack.size * (1 - GIANT_SHARE) + 1:  # then none has so many
            return stack[:0]
        places = np.append(np.searchsorted(self.number[stack], begins), stack.size)
        most = int(np.diff(places).argmax())
        return stack[places[most] : places[most + 1]]

    def take(self, members: np.ndarray) -> int:
        """Complete the component of these vertices, and then all others; returns its size, 0 if it is narrow."""
        done, inside = self.n + 1, np.zeros(-(-self.n // 64), np.uint64)
        np.bitwise_or.at(inside, members >> 6, np.uint64(1) << (members & 63).astype(np.uint64))
        seen, start = inside.copy(), int(members[(self.A.indptr[members + 1] - self.A.indptr[members]).argmax()])
        if not spreads(self.A, start, seen, SEARCHED_SHARE):
            return 0
        with crew_for(self.A.nnz) as gate:
            details(threads=int(gate[MEMBERS]))
            complete = flagged(gate, self.number, done)
            if not self.reach(gate, start, seen, inside, complete):
                left = seen & ~(complete | inside)
                self.search_all(left, inside)
                complete |= flagged(gate, self.number, done) & left
                inside |= left & ~complete
            rest, known = others(complete | inside, self.n), self.listed(complete)
            kept, before = self.label[known], count_bits(rest)
            set_labels(gate, inside, self.label)
            self.label[known] = kept
            if before > self.n * MIN_REST_SHARE:
                rest &= rows_with_edges(gate, self.A)
            alone(gate, self.A, rest)
        self.state[COMPONENTS] += 1 + before - count_bits(rest)
        if rest.any():
            self.search_all(rest, inside[:0])
        return count_bits(inside)

    def reach(self, gate: np.ndarray, start: int, seen: np.ndarray, inside: np.ndarray, complete: np.ndarray) -> bool:
        """Add to `seen` where it leads, and to `inside` what of that leads back to it; True if that is all of it."""
        A, turned = self.A, by_columns(self.A) if has_columns(self.A) else None
        if turned is not None:
            spreads(turned, start, inside, SEARCHED_SHARE)
        dense, far = A.nnz >= A.nrows * DENSE_DEGREE, others(complete | seen, self.n)
        if turned is None or not dense or not ask(gate, turned, far, seen):
            marks = np.empty((gate[MEMBERS], seen.size), np.uint64)
            marks[0] = seen
            lead(gate, A, marks, others(complete, self.n), inside)
            seen[:] = marks[0]
        inside &= seen
        return ask(gate, A, seen & ~(complete | inside), inside)

    def search_all(self, left: np.ndarray, inside: np.ndarray) -> None:
        """Search the vertices in the bitmap `left`; those in `inside` are one vertex, which is on the stack already."""
        order = self.listed(left)
        self.number.fill(self.n + 1)
        self.number[order], self.number[self.listed(inside)] = 0, 1
        self.vectors[1][0], self.state[:COMPONENTS] = 1, (0, 1, 0, inside.size > 0, 0)
        while order.size and not self.search(order, VERTICES_PER_CALL):
            pass

    def listed(self, words: np.ndarray) -> np.ndarray:
        """List the vertices in a bitmap."""
        places = np.empty(64 * words.size, self.label.dtype)
        with crew_for(0) as gate:
            return places[: listed(gate, words, places)]


@compiled
def _search(rows, label, number, vectors, edge, order, state, limit):
    """Search until so many vertices are numbered, or until none is left to start from; True if none is left."""
    indptr, indices = rows
    one, done, stack, begins, path = np.uintp(1), label.size + 1, vectors[0], vectors[1], vectors[2]
    at, found, stacked, begun, depth = state[0], state[1], state[2], state[3], state[4]
    starts = order.size if order.size else label.size
    v, u, new, ended = np.uintp(0), np.uintp(0), False, False
    while found < limit:
        if depth == 0:
            new = False
            while at < starts and not new:
                v = np.uintp(order[at]) if order.size else np.uintp(at)
                new = number[v] == 0
                at += 1
            if not new:
                ended = True
                break
        else:
            u = np.uintp(path[depth - 1])
            e, stop, new = np.uintp(edge[depth - 1]), np.uintp(indptr[u + one]), False
            while e < stop:
                v = np.uintp(indices[e])
                e += one
                there = number[v]
                if there == 0:
                    new = True
                    break
                while begins[begun - 1] > there:
                    begun -= 1
            edge[depth - 1] = e
        if new:
            if indptr[v] == indptr[v + one]:  # it leads nowhere
                label[v], number[v] = v, done
                state[5] += 1
                continue
            found += 1
            number[v] = found
            path[depth], edge[depth], stack[stacked], begins[begun] = v, indptr[v], v, found
            depth, stacked, begun = depth + 1, stacked + 1, begun + 1
            continue
        depth -= 1
        if begins[begun - 1] == number[u]:
            begun -= 1
            first, smallest = stacked, u
            while True:
                first -= 1
                smallest = min(smallest, np.uintp(stack[first]))
                if np.uintp(stack[first]) == u:
                    break
            for place in range(first, stacked):
                v = np.uintp(stack[place])
                label[v], number[v] = smallest, done
            stacked = first
            state[5] += 1
    state[0], state[1], state[2], state[3], state[4] = at, found, stacked, begun, depth
    return ended
