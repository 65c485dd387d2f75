"""Strongly connected components by one depth-first search, without recursion, which leaves a giant to two others.

Gabow's search [1]: vertices are numbered as they are found, and lie on a stack until their component is complete; a
second stack holds where on it the components that may still grow into one begin. An edge to a vertex of a lower number
that lies on the stack unites all that began since, so those beginnings are taken off; a vertex that is done, and still
a beginning, has its component above it.

A depth-first search waits for memory at every vertex. It pauses when it has found a share of the vertices. If many of
them have already become one component, that component will be a giant, and two searches in any order find it [3]:

    F = all that the component leads to           along the rows, with a queue
    B = those of F that lead back to it           each looks along its own row as far as the first that is known to

Neither needs the columns. B may remain incomplete, and ends when a sweep over F finds little. The depth-first search
then goes on in F with B as one vertex that is already on its stack: what leads to B is united with it. This is correct
because B leads to all of F. Complete components stay, so a graph without a giant loses nothing.

Where every edge is known to have its reverse, a strong component is a connected one (`components`), of which most
edges are not read.

O(n + m), sequential. 24 bytes a vertex (32 where edges are numbered in 64 bits) beside the answer.

[1] H. N. Gabow, Path-based depth-first search for strong and biconnected components, Information Processing Letters
    74(3-4), 2000.
[2] R. E. Tarjan, Depth-first search and linear graph algorithms, SIAM Journal on Computing 1(2), 1972.
[3] L. Fleischer, B. Hendrickson, A. Pınar, On identifying strongly connected components in parallel, IPDPS 2000.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from formats import CSR
from formats.arrays import index_dtype
from formats.orientation import by_columns, has_columns
from semiring.cpu.kernels import compiled
from semiring.explanation import facts

from .components import labels
from .symmetry import is_known_symmetric, is_symmetric
from .words import as_flags, as_words, lowest_bit

FIRST_LOOK = 1 / 64
"""Share of the vertices found after which the depth-first search first pauses to look for a giant."""

LAST_LOOK = 1 / 16
"""Share of the vertices found after which it no longer looks."""

FEWEST = 1 << 11
"""Vertices found before the first look: in smaller graphs the depth-first search alone is faster."""

DENSE = 4
"""Edges a vertex below which it does not look: sparse graphs are narrow, and often numbered along their paths."""

GIANT = 1 / 2
"""Share of the vertices found that are one component, from which on that component will be a giant."""

WORTHWHILE = 1 / 8
"""Share of the vertices looked at that a sweep must find to be followed by another."""

SWEEPS = 8
"""Sweeps over the columns that may find few each, for they read less than one over the rows."""

PAUSE = 1 << 20
"""Vertices that a compiled loop finds before it returns to Python, where a signal is heard."""

START, FOUND, STACKED, BEGUN, DEPTH, COMPONENTS = range(6)
"""What the depth-first search knows: the next vertex to start from, how many vertices are numbered, how high its stacks
are, and how many components are complete."""


def strong_components(A: CSR, weak: bool) -> np.ndarray:
    """The smallest vertex of each vertex's component."""
    both_ways = _counts_both_ways(A, ask=not weak)
    if weak or both_ways:
        return labels(A, both_ways)
    search = _Search(A)
    giant = search.run()
    facts(method="depth-first search", components=int(search.state[COMPONENTS]), threads=1, giant=giant)
    return search.label


def _counts_both_ways(A: CSR, ask: bool) -> bool:
    """Is it known that every edge's reverse is stored? Found out, if asked, at the second search of A.

    Of a symmetric graph that takes longer than the first search, and shortens all others.
    """
    if ask and A.keeps("strong components found"):
        return is_symmetric(A, pattern=True)
    if ask:
        A.keep("strong components found", lambda: True)
    return is_known_symmetric(A)


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
        """Label every vertex. Returns how many are in the giant component, 0 where none was looked for."""
        everyone, look = self.vectors[0][:0], max(FEWEST, int(self.n * FIRST_LOOK))
        last = self.n * LAST_LOOK if self.A.nnz >= self.n * DENSE else 0
        while not self.search(everyone, min(look, PAUSE)):
            if look <= last:
                members = self.largest()
                if members.size >= look * GIANT:
                    return self.take(members)
                look *= 2
        return 0

    def search(self, order: np.ndarray, limit: int) -> bool:
        """Search from the vertices in `order`, or from all if there are none, until `limit` more are numbered.

        Returns whether no vertex was left to start from.
        """
        arrays = (self.A.indptr, self.A.indices, self.label, self.number, self.vectors, self.edge)
        return _search(*arrays, order, self.state, self.state[FOUND] + limit)

    def largest(self) -> np.ndarray:
        """The vertices on the stack that are known to be in one component, of several components the largest."""
        stack, begins = self.vectors[0][: self.state[STACKED]], self.vectors[1][: self.state[BEGUN]]
        places = np.append(np.searchsorted(self.number[stack], begins), stack.size)
        most = int(np.diff(places).argmax())
        return stack[places[most] : places[most + 1]]

    def take(self, seeds: np.ndarray) -> int:
        """Complete the component of these vertices, and then all others; how many are in it."""
        start, done, number = int(self.state[START]) - 1, self.n + 1, self.number
        complete, known = as_words(number == done), np.zeros(self.n, bool)
        number[self.vectors[0][: self.state[STACKED]]] = 0
        known[seeds] = True
        back = as_words(known)
        left = self.led_to(complete | back, complete) & ~(complete | back)
        self.lead_back(left, back)
        number += as_flags(back, self.n)
        order = np.flatnonzero(as_flags(left, self.n)).astype(number.dtype, copy=False)
        self.vectors[1][0], self.state[:COMPONENTS] = 1, (0, 1, 0, 1, 0)
        while order.size and not self.search(order, PAUSE):
            pass
        inside = np.flatnonzero((number > 0) & (number < done))
        self.label[inside], number[inside] = inside[0], done
        self.state[:COMPONENTS], self.state[COMPONENTS] = (start, 1, 0, 0, 0), self.state[COMPONENTS] + 1
        while not self.search(order[:0], PAUSE):
            pass
        return inside.size

    def led_to(self, seen: np.ndarray, complete: np.ndarray) -> np.ndarray:
        """Add to the bitmap `seen` where its vertices lead.

        By the columns, if there are any, of what is not seen; else by the rows of what is, and by a queue at the end.
        """
        followed, queue, rows = complete.copy(), self.vectors[2], (self.A.indptr, self.A.indices)
        if has_columns(self.A):
            turned: Any = by_columns(self.A)
            columns, far = (turned.indptr, turned.indices), ~seen
            far[-1] &= np.uint64(2**64 - 1) >> np.uint64(-self.n % 64)
            if self.sweep(lambda *words: _lead_back(*columns, far, seen, *words), self.n, SWEEPS):
                return seen
        self.sweep(lambda *words: _lead(*rows, seen, followed, *words), self.n)
        left = np.flatnonzero(as_flags(seen & ~followed, self.n))
        begin, end = 0, left.size
        queue[:end] = left
        while begin < end:
            begin, end = _lead_on(*rows, seen, queue, begin, begin + PAUSE, end)
        return seen

    def lead_back(self, left: np.ndarray, back: np.ndarray) -> None:
        """Move vertices that lead to one in the bitmap `back` there, from `left`, while sweeps find many."""
        rows, most = (self.A.indptr, self.A.indices), int(np.bitwise_count(left).sum())
        self.sweep(lambda *words: _lead_back(*rows, left, back, *words), most)

    def sweep(self, find: Callable[[int, int, bool], int], left: int, anyway: int = 1) -> bool:
        """Let `find` go over all words of a bitmap, up and down in turns, while it finds many of what is left.

        anyway: how often it does while it finds any.  Returns whether there was none left to find.
        """
        words, sweeps, found = -(-self.n // 64), 0, left
        while found and (found > left * WORTHWHILE or sweeps < anyway):
            pieces = [(first, min(first + PAUSE // 64, words)) for first in range(0, words, PAUSE // 64)]
            found = sum(find(first, stop, sweeps % 2 == 1) for first, stop in pieces)
            left, sweeps = left - found, sweeps + 1
        return found == 0


@compiled
def _search(indptr, indices, label, number, vectors, edge, order, state, limit):
    """Search until so many vertices are numbered, or until none is left to start from; is none left?"""
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


@compiled
def _lead(indptr, indices, seen, followed, first, stop, downward):
    """Follow the rows of what is `seen` to what they lead to; how many more are seen. The words first to stop."""
    count, one, low = 0, np.uintp(1), np.uintp(63)
    for at in range(first, stop):
        word = seen.size - 1 - at if downward else at
        todo = seen[word] & ~followed[word]
        while todo:
            followed[word] |= todo & (~todo + np.uint64(1))
            u = np.uintp(word) * np.uintp(64) + np.uintp(lowest_bit(todo))
            e, last = np.uintp(indptr[u]), np.uintp(indptr[u + one])
            while e < last:
                v = np.uintp(indices[e])
                place, bit = v >> np.uintp(6), np.uint64(1) << np.uint64(v & low)
                if not seen[place] & bit:
                    seen[place] |= bit
                    count += 1
                e += one
            todo = seen[word] & ~followed[word]
    return count


@compiled
def _lead_on(indptr, indices, seen, queue, begin, stop, end):
    """Append to the queue where its vertices from `begin` to `stop` lead, if not `seen`; what is then left of it."""
    one, f, tail = np.uintp(1), np.uintp(begin), np.uintp(end)
    while f < min(np.uintp(stop), tail):
        u = np.uintp(queue[f])
        f += one
        e, last = np.uintp(indptr[u]), np.uintp(indptr[u + one])
        while e < last:
            v = np.uintp(indices[e])
            place, bit = v >> np.uintp(6), np.uint64(1) << np.uint64(v & np.uintp(63))
            if not seen[place] & bit:
                seen[place] |= bit
                queue[tail] = v
                tail += one
            e += one
    return np.intp(f), np.intp(tail)


@compiled
def _lead_back(indptr, indices, left, back, first, stop, downward):
    """Move vertices that lead to one in `back` there, from `left`; how many there were. The words first to stop."""
    count, one, low = 0, np.uintp(1), np.uintp(63)
    for at in range(first, stop):
        word = left.size - 1 - at if downward else at
        todo = left[word]
        while todo:
            bit = todo & (~todo + np.uint64(1))
            v = np.uintp(word) * np.uintp(64) + np.uintp(lowest_bit(todo))
            e, last = np.uintp(indptr[v]), np.uintp(indptr[v + one])
            while e < last:
                u = np.uintp(indices[e])
                if back[u >> np.uintp(6)] >> np.uint64(u & low) & np.uint64(1):
                    back[word] |= bit
                    left[word] ^= bit
                    count += 1
                    break
                e += one
            todo ^= bit
    return count
