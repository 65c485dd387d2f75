"""Loops along rows as another library gives them: unsorted, with duplicates, and not checked before.

    sound     checks that rows and columns lie within the matrix, as other loops need it
    regular   checks what all our other loops expect: columns ascend, and all values are numbers
    columns   finds where each column begins, its rows and its values
    settle    runs Dijkstra's algorithm with a heap [1]; of equally near parents it notes the smallest
    strong    finds strong components by one depth-first search [2], and numbers them as they are complete

A sorted copy, and what is found out about it, would serve a second call. On a small graph it takes several times as
long to make as one of these loops runs. Every row and column is checked where it is read: a loop that meets one outside
the matrix returns DAMAGED.

[1] E. W. Dijkstra, A note on two problems in connexion with graphs, Numerische Mathematik 1, 1959.
[2] D. J. Pearce, A space-efficient algorithm for finding strongly connected components, Inf. Proc. Letters 116(1),
    2016.
"""

from __future__ import annotations

import numpy as np

from semiring.cpu.kernels import compiled, inlined

DAMAGED = -1
"""The result of a loop that has met a row or a column outside the matrix."""

AT_ONCE = np.uintp(4096)
"""Columns that are checked without a branch."""

INSERTION_SORTED = 64
"""The largest number of vertices that are sorted by insertion."""

HEAP = 4
"""Children of a node of the heap, and so the number of places behind it that are read."""


@compiled
def sound(indptr, indices, n):
    """True if the rows follow each other within the entries, and all columns lie in 0 … n - 1."""
    last = indptr[0]
    wrong = last < 0
    for row in range(np.uintp(1), np.uintp(indptr.size)):
        wrong |= indptr[row] < last
        last = indptr[row]
    if wrong or last > indices.size:
        return False
    for start in range(np.uintp(0), np.uintp(last), AT_ONCE):
        for e in range(start, min(start + AT_ONCE, np.uintp(last))):
            wrong |= (indices[e] < 0) | (indices[e] >= n)
        if wrong:
            return False
    return True


@compiled
def regular(indptr, indices, values):
    """Returns 1 if the columns of each row ascend, and no value is NaN; else 0, or DAMAGED."""
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
    """Writes the rows and the values of each column, and where it starts; returns 0 or DAMAGED.

    starts, moving: (n + 1,) zeros.  heads: as many as entries.  weights: as many, or none if no values are wanted.
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
    """Moves the last vertex of a heap into the root's place, and down.  size: the vertices that are left.

    Keys behind the heap are infinite. No branch predictor knows which of four children is the least, so none is asked.
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
    """Moves a vertex from its place in the heap, or from behind it, towards the root, as its distance is now t."""
    while at > 0:
        above = (at - 1) >> 2
        if not t < key[above]:
            break
        heap[at], key[at] = heap[above], key[above]
        place[np.uintp(heap[at])] = at
        at = above
    heap[at], key[at] = j, t
    place[j] = at


@inlined
def _ascending(front):
    """Sorts vertices, a few by insertion."""
    if front.size > INSERTION_SORTED:
        front.sort()
        return
    for k in range(1, front.size):
        v, at = front[k], k
        while at > 0 and front[at - 1] > v:
            front[at] = front[at - 1]
            at -= 1
        front[at] = v


@compiled
def settle(sources, limit, rows, d, parent, heap, front, ordered):
    """Finds the distances up to `limit`; returns 1 if an edge of weight 0 found a vertex, as parents are wrong then.

    Equally near vertices are settled together, with `ordered` in ascending order: then the smallest of the nearest
    parents is the first. Where all that wait are equally near, the heap is emptied at once.

    rows: (k, n + 1) beginnings of each vertex's k lists of entries, columns and values.  d: infinity, and 0 at the
    sources.  parent: none, below 0.  heap: vertices and infinite keys of (n + HEAP,), and (n,) -1.  front: (n,).
    Weights are not negative; NaN leads nowhere.
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
            _ascending(front[:together])
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
    """Runs `settle` for each row k of d from sources[begins[k]:begins[k + 1]]; returns 0 or DAMAGED.

    found: d, infinity; parents, as many rows as d, or one row if they are not wanted; the answer of each `settle`.
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
    """Numbers strong components as they are complete, along each row from its end, as SciPy does; returns their number.

    lowest: (n,) zeros. For a vertex on the stack it becomes the lowest place there, from 1, that the vertex is known to
    lead to; for one whose component is complete, more than n.  path, edge, stack: (n,).
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
