"""The pattern of a factor: supernodes, their rows, where each arc has its number, and the room that elimination takes.

A supernode is a range of positions first ≤ x < last with the same later neighbours: Up_x = {x + 1, …, last - 1} ∪ rows.
The arcs of x lie side by side, from starts[x] on, in that order, so the arcs of a supernode are a trapezoid.

[1] C. Ashcraft, R. Grimes, The influence of relaxed supernode partitions on the multifrontal method, ACM Trans. Math.
    Softw. 15(4), 1989.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from semiring.cpu.kernels import compiled

from .trees import ONE, count_entries, grow, neighbours, postorder

PIECES = 64
"""Subtrees at most that threads take in turn."""


@dataclass(frozen=True)
class Tree:
    """The elimination tree in postorder.

    order: (n,) the vertex at each position.  place: (n,) the position of each vertex.  parent: (n,), -1 of roots.
    counts: (n,) the arcs from each position to later ones.
    """

    order: np.ndarray
    place: np.ndarray
    parent: np.ndarray
    counts: np.ndarray


@dataclass(frozen=True)
class Pattern:
    """The part of a factor that does not depend on weights.

    firsts: (s + 1,) the first position of each supernode, and n.  nodes: (n,) the supernode of each position.
    row_starts: (s + 1,); rows: the positions of each supernode's later neighbours, ascending.  above: (s,) the parent
    of each supernode, -1 of roots.  starts: (n + 1,) where the arcs of each position begin.
    """

    firsts: np.ndarray
    nodes: np.ndarray
    row_starts: np.ndarray
    rows: np.ndarray
    above: np.ndarray
    starts: np.ndarray

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        """firsts, row_starts, rows, starts: what the loops over supernodes read."""
        return self.firsts, self.row_starts, self.rows, self.starts


def tree(indptr: np.ndarray, indices: np.ndarray, order: np.ndarray) -> Tree:
    """The elimination tree of an order (any permutation), which is changed to a postorder of it: the same factor."""
    n = order.size
    place = np.empty(n, np.int32)
    place[order] = np.arange(n, dtype=np.int32)
    none = [np.full(n, -1, np.int32) for _ in range(4)]
    parent, ancestor, child, sibling = none
    grow(*neighbours(indptr, indices, place, False), parent, ancestor)
    number = np.empty(n, np.int32)
    postorder(parent, child, sibling, np.empty(n + 1, np.int32), number)
    place, order = number[place], order[np.argsort(number, kind="stable")].astype(np.int32)
    above = np.full(n, -1, np.int32)
    inner = np.flatnonzero(parent >= 0)
    above[number[inner]] = number[parent[inner]]
    counts, lists = np.zeros(n, np.int64), tuple(np.full(n, -1, np.int32) for _ in range(4))
    count_entries(*neighbours(indptr, indices, place, True), above, lists, counts)
    return Tree(order, place, above, counts)


def last_of_supernodes(t: Tree) -> np.ndarray:
    """True for the last position of each supernode."""
    ends = np.ones(t.counts.size, bool)
    ends[:-1] = (t.parent[:-1] != np.arange(1, ends.size)) | (t.counts[:-1] != t.counts[1:] + 1)
    return ends


def pattern(indptr: np.ndarray, indices: np.ndarray, tree: Tree) -> Pattern:
    parent, counts, ends = tree.parent, tree.counts, last_of_supernodes(tree)
    last = np.flatnonzero(ends)
    firsts = np.append(0, last + 1).astype(np.int32)
    nodes = (np.cumsum(ends) - ends).astype(np.int32)
    above = np.where(parent[last] < 0, -1, nodes[parent[last]]).astype(np.int32)
    row_starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts[last])))
    rows = np.empty(int(row_starts[-1]), np.int32)
    earlier = neighbours(indptr, indices, tree.place, False)
    list_rows(*earlier, nodes, above, np.full(above.size, -1, np.int32), row_starts.copy(), rows)
    starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))
    return Pattern(firsts, nodes, row_starts, rows, above, starts)


@compiled
def list_rows(starts, earlier, nodes, above, mark, ends, rows):
    """The rows of each supernode, ascending: position y is one of all between its earlier neighbours and itself."""
    for y in range(nodes.size):
        own = nodes[y]
        for e in range(np.uintp(starts[y]), np.uintp(starts[y + 1])):
            s = nodes[np.uintp(earlier[e])]
            while s != own and mark[np.uintp(s)] != y:
                at = np.uintp(s)
                mark[at] = y
                rows[np.uintp(ends[at])] = y
                ends[at] += 1
                s = above[at]


@compiled
def find_slots(rows_of_a, place, nodes, arrays, slots):
    """slots[e] = 2 k + 1 if edge e is the arc k to an earlier position, 2 k if to a later one, -1 of self-loops.

    The last edge without an arc is returned, -1 if there is none.
    """
    (indptr, indices), missing = rows_of_a, np.int64(-1)
    for u in range(place.size):
        x = np.int64(place[u])
        for e in range(indptr[u], indptr[u + 1]):
            y = np.int64(place[np.uintp(indices[np.uintp(e)])])
            slots[np.uintp(e)] = -1
            if x == y:
                continue
            at = arc(min(x, y), max(x, y), nodes, arrays)
            if at < 0:
                missing = np.int64(e)
                continue
            slots[np.uintp(e)] = 2 * at + (x > y)
    return missing


def arc(x, y, nodes, arrays):
    """Where the arc between x and a later y is among the arcs; -1 if there is none."""
    firsts, row_starts, rows, starts = arrays
    s = np.uintp(nodes[np.uintp(x)])
    last = np.int64(firsts[s + ONE])
    if y < last:
        return starts[np.uintp(x)] + y - x - 1
    k = find(rows, row_starts[s], row_starts[s + ONE], y)
    return starts[np.uintp(x)] + last - x - 1 + k - row_starts[s] if k < row_starts[s + ONE] else np.int64(-1)


def find(rows, start, stop, y):
    """Where y is in the ascending part of `rows` between two places; the second if it is not there."""
    left, right = start, stop
    while left < right:
        middle = (left + right) >> 1
        if rows[np.uintp(middle)] < y:
            left = middle + 1
        else:
            right = middle
    return left if left < stop and rows[np.uintp(left)] == y else stop


@dataclass(frozen=True)
class Work:
    """How elimination and sweeps are shared out, and the room they take.

    pieces: (k, 2) ranges of supernodes that are whole subtrees.  top: the other supernodes, ascending.  offsets: (s,)
    where in the workspace the update of each supernode lies.  room: elements of the workspace.
    """

    pieces: np.ndarray
    top: np.ndarray
    offsets: np.ndarray
    room: int


def work(p: Pattern) -> Work:
    """Cut the tree into subtrees of about equal work, and give each update its place."""
    nodes = p.above.size
    rows, widths = np.diff(p.row_starts), np.diff(p.firsts).astype(np.int64)
    cost = widths * (rows + widths) ** 2 + rows * rows + 64
    below, size = cost.copy(), np.ones(nodes, np.int64)
    add_up(p.above, below, size)
    most = max(1, int(below[p.above < 0].sum()) // PIECES)
    roots = np.flatnonzero((below <= most) & ((p.above < 0) | (below[p.above] > most)))
    pieces = np.stack((roots - size[roots] + 1, roots + 1), axis=1)
    pieces, inside = merged_pieces(pieces, below[roots], most), np.zeros(nodes + 1, np.int64)
    np.add.at(inside, pieces[:, 0], 1)
    np.add.at(inside, pieces[:, 1], -1)
    top = np.flatnonzero(np.cumsum(inside[:-1]) == 0).astype(np.int32)
    offsets, bases, end = np.zeros(nodes, np.int64), np.full(nodes, -1, np.int64), 0
    for first, last in pieces.tolist():
        end = place_updates(np.arange(first, last, dtype=np.int32), p.above, rows, bases, offsets, end)
    end = place_updates(top, p.above, rows, bases, offsets, end)
    return Work(pieces, top, offsets, end)


def merged_pieces(pieces: np.ndarray, cost: np.ndarray, most: int) -> np.ndarray:
    """Neighbouring ranges as one while they cost no more than `most`."""
    found: list[list[int]] = []
    spent = 0
    for (first, last), each in zip(pieces.tolist(), cost.tolist(), strict=True):
        if found and found[-1][1] == first and spent + each <= most:
            found[-1][1] = last
            spent += each
        else:
            found.append([first, last])
            spent = each
    return np.array(found, np.int64).reshape(-1, 2)


@compiled
def add_up(above, cost, size):
    """Adds up the cost and the number of the supernodes in the subtree of each, itself included."""
    for s in range(above.size):
        if above[s] >= 0:
            at = np.uintp(above[s])
            cost[at] += cost[s]
            size[at] += size[s]


@compiled
def place_updates(todo, above, rows, bases, offsets, start):
    """Where the room of these supernodes, ascending, ends, that begins at `start`.

    It is a stack of updates, each in the place of its first child's, which is used up by then. Updates that supernodes
    beyond the last of these use stay.
    """
    top, most = np.int64(start), np.int64(start)
    for k in range(todo.size):
        s = np.uintp(todo[k])
        base = bases[s] if bases[s] >= 0 else top
        offsets[s] = base
        top = base + rows[s] * rows[s]
        most = max(most, top)
        p = above[s]
        if p >= 0 and p <= todo[todo.size - 1] and bases[np.uintp(p)] < 0:
            bases[np.uintp(p)] = base
    return most
