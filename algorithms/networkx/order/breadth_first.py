"""Breadth-first searches with a queue, and topological orders.

[1] E. F. Moore, The shortest path through a maze, 1959.
[2] A. B. Kahn, Topological sorting of large networks, Comm. ACM 5(11), 1962.
[3] I. Pohl, Bi-directional search, Machine Intelligence 6, 1971.
"""

from __future__ import annotations

import numpy as np

from semiring.cpu.kernels import compiled


@compiled
def search(ends, near, begun, limit, queue, level, parent):
    """Returns how many vertices are found up to the level `limit`.

    queue: (n,), of which the first `begun` are the sources.  level: (n,), 0 for them and -1 for others.
    """
    one, found, at = np.uintp(1), np.uintp(begun), np.uintp(0)
    while at < found:
        u = np.uintp(queue[at])
        at += one
        below = level[u] + 1
        if below > limit:
            break
        for e in range(np.uintp(ends[u]), np.uintp(ends[u + one])):
            v = np.uintp(near[e])
            if level[v] < 0:
                level[v], parent[v] = below, u
                queue[found] = v
                found += one
    return found


@compiled
def lengths(order, parent, depth):
    """Returns how many vertices the paths to all of these have.  depth: (n,) 0."""
    total = 0
    for k in range(order.size):
        v = np.uintp(order[k])
        if parent[v] >= 0:
            depth[v] = depth[np.uintp(parent[v])] + 1
        total += depth[v] + 1
    return total


@compiled
def depth(parent, vertex):
    """Returns how many edges are between a vertex and its root, whose parent is -1, or itself."""
    at, count = np.uintp(vertex), 0
    while parent[at] >= 0 and np.uintp(parent[at]) != at:
        at = np.uintp(parent[at])
        count += 1
    return count


@compiled
def climb(parent, vertex, way):
    """way: the vertices from the root to this one."""
    at = np.uintp(vertex)
    for k in range(way.size):
        way[np.uintp(way.size - 1 - k)] = at
        at = np.uintp(parent[at])


@compiled
def search_each(rows, sources, limit, level, orders, levels, counts):
    """Search from each source, up to the level `limit`, or until as many are found as `counts` says.

    level: (n,), -1, and so again in the end.  orders, levels: a row for each source: the vertices found and their
    levels, in order.  counts: how many are found at most, and then how many are.
    """
    (ends, near), n, one = rows, np.uintp(level.size), np.uintp(1)
    flat, by = orders.reshape(orders.size), levels.reshape(levels.size)
    for row in range(np.uintp(sources.size)):
        source, begin = np.uintp(sources[row]), row * n
        level[source], flat[begin], by[begin] = 0, source, 0
        at, end, last = begin, begin + one, begin + np.uintp(counts[row])
        while at < end < last:
            u = np.uintp(flat[at])
            below = by[at] + 1
            at += one
            if below > limit:
                break
            for e in range(np.uintp(ends[u]), np.uintp(ends[u + one])):
                v = np.uintp(near[e])
                if level[v] < 0:
                    level[v] = below
                    flat[end], by[end] = v, below
                    end += one
        for k in range(begin, end):
            level[np.uintp(flat[k])] = -1
        counts[row] = end - begin


@compiled
def meet(rows, back, source, target, queues, before, after):
    """The vertex at which searches from both ends meet, each step from the smaller frontier; -1 if they do not.

    rows, back: edges forwards and backwards.  queues: two of (n,).
    before, after: (n,), -2; then the neighbours towards the source and the target, -1 at these.
    """
    forward, backward = queues
    forward[0], backward[0] = source, target
    before[source] = after[target] = -1
    if source == target:
        return source
    begin_f, end_f, begin_b, end_b = 0, 1, 0, 1
    while begin_f < end_f and begin_b < end_b:
        forwards = end_f - begin_f <= end_b - begin_b
        ends, near = rows if forwards else back
        queue, mine, theirs = (forward, before, after) if forwards else (backward, after, before)
        begin, end = (begin_f, end_f) if forwards else (begin_b, end_b)
        found = end
        for k in range(begin, end):
            u = queue[k]
            for e in range(ends[u], ends[u + 1]):
                v = near[e]
                if mine[v] == -2:
                    mine[v] = u
                    queue[found] = v
                    found += 1
                if theirs[v] != -2:
                    return v
        if forwards:
            begin_f, end_f = end, found
        else:
            begin_b, end_b = end, found
    return -1


@compiled
def generations(ends, near, waiting, queue, starts):
    """Finds vertices that wait for no edge, then those that wait for these; returns the number of both.

    waiting: (n,), the edges that lead to each.  starts: (n + 1,), where each generation begins in the queue.
    """
    found = 0
    for v in range(waiting.size):
        if waiting[v] == 0:
            queue[found] = v
            found += 1
    count, at = 0, 0
    while at < found:
        starts[count] = at
        count += 1
        last = found
        for k in range(at, last):
            u = queue[k]
            for e in range(ends[u], ends[u + 1]):
                v = near[e]
                waiting[v] -= 1
                if waiting[v] == 0:
                    queue[found] = v
                    found += 1
        at = last
    starts[count] = found
    return count, found


@compiled
def longest(back_ends, back_near, weights, order, best, before):
    """The end of the longest path; of each vertex, in topological order, the best length to it, and who is before it.

    Of several vertices the first in the order is meant; nothing is before a vertex that no path makes longer than 0.
    """
    end = order[0]
    for k in range(order.size):
        v = order[k]
        best[v], before[v] = 0, v
        found, u = best[v], v
        for e in range(back_ends[v], back_ends[v + 1]):
            length = best[back_near[e]] + weights[e]
            if u == v or length > found:
                found, u = length, back_near[e]
        if found >= 0:
            best[v], before[v] = found, u
        if best[v] > best[end]:
            end = v
    return end


@compiled
def two_coloured(ends, near, back_ends, back_near, stack, colour, order):
    """Returns how many vertices are coloured so that neighbours differ, by a search with a stack; -1 if it cannot be.

    colour: (n,), -1.  back_ends: as `ends` of edges backwards, or empty.  order: (n,), the coloured ones in order.
    """
    found = 0
    for start in range(colour.size):
        if colour[start] >= 0 or ends[start] == ends[start + 1]:
            continue
        colour[start] = 1
        order[found] = stack[0] = start
        found += 1
        size = 1
        while size:
            size -= 1
            u = stack[size]
            for way in range(2 if back_ends.size else 1):
                backwards = way == 0 and back_ends.size
                rows, others = (back_ends, back_near) if backwards else (ends, near)
                for e in range(rows[u], rows[u + 1]):
                    v = others[e]
                    if colour[v] < 0:
                        colour[v] = 1 - colour[u]
                        order[found] = stack[size] = v
                        found += 1
                        size += 1
                    elif colour[v] == colour[u]:
                        return -1
    return found
