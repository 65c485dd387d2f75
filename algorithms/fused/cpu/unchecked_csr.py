"""Loops along rows as another library gives them: unsorted, with duplicates, and looked at by nobody before.

    sound     do rows and columns lie within the matrix? For other loops, which need nothing else
    regular   is it also what our other loops expect: do columns ascend, and are all values numbers?
    columns   each column, and where it begins
    settle    Dijkstra's algorithm with a heap [1], which notes the parents, and of equally near ones the smallest
    strong    strong components by one depth-first search [2], numbered as they are complete

What is known of a sorted copy would serve a second call. To make it takes several times as long as one of these loops
on a small graph, and to compare it with the arrays as they are now a third as long. Every row and column is checked
where it is read: a loop that meets one outside the matrix returns DAMAGED.

[1] E. W. Dijkstra, A note on two problems in connexion with graphs, Numerische Mathematik 1, 1959.
[2] D. J. Pearce, A space-efficient algorithm for finding strongly connected components, Inf. Proc. Letters 116(1),
    2016.
"""

from __future__ import annotations

import numpy as np

from semiring.cpu.kernels import compiled, inlined

DAMAGED = -1
"""Result of a loop that meets a row or a column outside the matrix."""

COLUMNS_AT_ONCE = np.uintp(4096)
"""Columns that are checked without a branch."""

CHILDREN = 4
"""Children of a node of the heap, and so the number of places behind it that are read."""


@compiled
def sound(indptr, indices, n):
    """True if the rows follow each other within the entries, with all columns in 0 … n - 1."""
    last = indptr[0]
    wrong = last < 0
    for row in range(np.uintp(1), np.uintp(indptr.size)):
        wrong |= indptr[row] < last
        last = indptr[row]
    if wrong or last > indices.size:
        return False
    for start in range(np.uintp(0), np.uintp(last), COLUMNS_AT_ONCE):
        for e in range(start, min(start + COLUMNS_AT_ONCE, np.uintp(last))):
            wrong |= (indices[e] < 0) | (indices[e] >= n)
        if wrong:
            return False
    return True


@compiled
def regular(indptr, indices, values):
    """Return 1 if the columns of each row ascend, and no value is NaN; else 0, or DAMAGED."""
    n = indptr.size - 1
    if indptr[0] != 0 or not sound(indptr, indices, n):
        return DAMAGED
    one, falls, wrong = np.uintp(1), 0, 0
    for e in range(np.uintp(indptr[0]) + one, np.uintp(indptr[n])):
        falls += indices[e] <= indices[e - one]
    for row in range(one, np.uintp(n)):  # between two rows columns may fall
        begin = np.uintp(indptr[row])
        if begin > np.uintp(indptr[0]) and begin < np.uintp(indptr[row + one]):
            falls -= indices[begin] <= indices[begin - one]
    for e in range(np.uintp(values.size)):
        wrong += values[e] != values[e]
    return 0 if falls or wrong else 1


@compiled
def columns(rows, starts, moving, heads, weights):
    """Write the rows and the values of each column, and where it starts; returns 0.  starts, moving: (n + 1,) 0.

    heads: as many as entries.  weights: likewise, or none if nobody asks for the values.
    """
    (indptr, indices, values), one, n = rows, np.uintp(1), np.uintp(starts.size - 1)
    last = indptr[0]
    if last < 0 or indptr[n] > indices.size:
        return DAMAGED
    for u in range(n):
        if indptr[u + one] < last:
            return DAMAGED
        last = indptr[u + one]
    for e in range(np.uintp(indptr[0]), np.uintp(last)):
        if np.uintp(indices[e]) >= n:
            return DAMAGED
        starts[np.uintp(indices[e]) + one] += 1
    for v in range(n):
        starts[v + one] += starts[v]
        moving[v + one] = starts[v + one]
    for u in range(n):
        for e in range(np.uintp(indptr[u]), np.uintp(indptr[u + one])):
            head = np.uintp(indices[e])
            to = np.uintp(moving[head])
            heads[to] = u
            if weights.size:
                weights[to] = values[e]
            moving[head] += 1
    return 0


@inlined
def _sink(heap, key, place, size):
    """Let the last of a heap's vertices take the root's place.  size: how many are left; the keys behind are infinite.

    Which of four children is the least can hardly be foretold, so nothing branches on it.
    """
    moved, last, at = heap[size], key[size], 0
    key[size] = np.inf
    while 4 * at + 1 < size:
        first = 4 * at + 1
        a, b = first + (key[first + 1] < key[first]), first + 2 + (key[first + 3] < key[first + 2])
        child = b if key[b] < key[a] else a
        if not key[child] < last:
            break
        heap[at], key[at] = heap[child], key[child]
        place[np.uintp(heap[at])] = at
        at = child
    if size:
        heap[at], key[at] = moved, last
        place[np.uintp(moved)] = at


@inlined
def _rise(heap, key, place, at, j, t):
    """Move a vertex from its place in the heap, or from behind it, towards the root, as its distance is now t."""
    while at > 0:
        above = (at - 1) >> 2
        if not t < key[above]:
            break
        heap[at], key[at] = heap[above], key[above]
        place[np.uintp(heap[at])] = at
        at = above
    heap[at], key[at] = j, t
    place[j] = at


@compiled
def settle(sources, limit, rows, d, parent, heap, front, ordered):
    """Find the distances up to `limit`; True if an edge of weight 0 met a vertex first: then parents are wrong.

    Equally near vertices are settled together, in ascending order. So the smallest of the nearest parents is the first,
    and rows are read forwards.

    d: infinity, and 0 at the sources.  parent: none, below 0.  heap: vertices and infinite keys of (n + CHILDREN,), and
    (n,) -1.  front: (n,).  Weights are not negative; NaN leads nowhere.
    """
    (indptr, indices, values), (vertices, key, place) = rows, heap
    size, met, farthest, n, one = 0, 0, 0.0, np.uintp(d.size), np.uintp(1)
    for source in sources:
        if place[np.uintp(source)] < 0:
            vertices[size], key[size], place[np.uintp(source)] = source, 0, size
            size += 1
    while size:
        x, together = key[0], 0
        if x == farthest:
            for at in range(size):
                front[at], key[at], place[np.uintp(vertices[at])] = vertices[at], np.inf, -1
            together, size = size, 0
        while size and key[0] == x:
            front[together] = vertices[0]
            place[np.uintp(vertices[0])] = -1
            together += 1
            size -= 1
            _sink(vertices, key, place, size)
        if ordered and together > 1:
            front[:together].sort()
        for k in range(together):
            v = np.uintp(front[k])
            for lists in range(np.uintp(indptr.shape[0])):
                begin, end = np.uintp(indptr[lists, v]), np.uintp(indptr[lists, v + one])
                if end > np.uintp(indices.size):
                    return DAMAGED
                for e in range(begin, end):
                    j = np.uintp(indices[e])
                    if j >= n:
                        return DAMAGED
                    t = x + values[e]
                    if t < d[j] and t <= limit:
                        d[j], parent[j] = t, v
                        met, farthest = met or t <= x, max(farthest, t)
                        at = place[j]
                        size += at < 0
                        _rise(vertices, key, place, size - 1 if at < 0 else at, j, t)
    return met


@compiled
def settle_each(sources, begins, limit, rows, found, heap, front, ordered):
    """Call `settle` for each row k of d, from sources[begins[k]] up to those of the next row together; returns 0.

    found: d, infinity; parents, as many rows as d, or one that nobody asks for; and of each search a Boolean, as told.
    """
    (d, parent, met), one = found, np.uintp(1)
    for k in range(np.uintp(d.shape[0])):
        starts = sources[begins[k] : begins[k + one]]
        for source in starts:
            d[k, np.uintp(source)] = 0
        to = parent[min(k, np.uintp(parent.shape[0]) - one)]
        told = settle(starts, limit, rows, d[k], to, heap, front, ordered)
        if told == DAMAGED:
            return DAMAGED
        met[k] = told
    return 0


@compiled
def strong(rows, lowest, path, edge, stack, label):
    """Number strong components as they are complete, along each row from its end, as SciPy does, and count them.

    lowest: (n,), 0; then of a vertex on the stack the lowest place on it, from 1, that it is known to lead to, and
    more than n of a vertex whose component is complete.  path, edge, stack: (n,).
    """
    indptr, indices = rows
    one, n, depth, height, count = np.uintp(1), np.uintp(label.size), 0, 0, 0
    done = lowest.dtype.type(n + one)
    for root in range(n):
        v, new = np.uintp(root), lowest[root] == 0
        while new or depth:
            if new and indptr[v] == indptr[v + one]:  # it leads nowhere
                lowest[v], label[v] = done, count
                count += 1
            elif new:
                if np.uintp(indptr[v + one]) > np.uintp(indices.size) or indptr[v] < 0:
                    return DAMAGED
                stack[height], path[depth], edge[depth] = v, v, indptr[v + one]
                height, depth = height + 1, depth + 1
                lowest[v] = height
            new = False
            if depth == 0:
                break
            u = np.uintp(path[depth - 1])
            e, begin, low = np.uintp(edge[depth - 1]), np.uintp(indptr[u]), lowest[u]
            while e > begin:
                e -= one
                v = np.uintp(indices[e])
                if v >= n:
                    return DAMAGED
                there = lowest[v]
                if there == 0:
                    new = True
                    break
                low = min(low, there)
            lowest[u], edge[depth - 1] = low, e
            if new:
                continue
            depth -= 1
            if np.uintp(stack[low - 1]) == u:
                for place in range(low - 1, height):
                    v = np.uintp(stack[place])
                    lowest[v], label[v] = done, count
                height, count = low - 1, count + 1
            elif depth:
                above = np.uintp(path[depth - 1])
                lowest[above] = min(lowest[above], low)
    return count
