"""Shortest paths in NetworkX's order: a replay of Dijkstra's algorithm from its distances, and two searches as such.

With a heap of (distance, time of entry) vertices are settled by distance, and at one distance by the time at which an
edge first led to them. So distances alone tell the order: a vertex takes the next place of its distance when the first
tight edge to it is met. Places are filled in order, so nothing is sorted but the distances.

[1] E. W. Dijkstra, A note on two problems in connexion with graphs, Numerische Mathematik 1, 1959.
[2] B. V. Cherkassky, A. V. Goldberg, T. Radzik, Shortest paths algorithms, Math. Programming 73, 1996 (a queue, and a
    vertex that waits for its parent).
"""

from __future__ import annotations

import numpy as np

from semiring.cpu.kernels import compiled


@compiled
def places(d, by, place, next_one):
    """Writes how many vertices are nearer than each to `place`.

    by: the vertices by ascending distance.  next_one: 0, 1, …"""
    nearer = 0
    for at in range(by.size):
        v = np.uintp(by[at])
        if at and d[v] != d[np.uintp(by[at - 1])]:
            nearer = at
        place[v] = nearer
        next_one[at] = at


@compiled
def replay(rows, d, sources, place, next_one, order, parent):
    """Returns the number of vertices that are settled, in `order`; the first tight edge to each leads from `parent`.

    place: (n,), for each vertex that is reached how many are nearer, for others -1.  order, parent: (n,), -1.
    next_one: (order.size,) 0, 1, …: at the first place of each distance the next one.
    """
    (ends, near, weights), one = rows, np.uintp(1)
    for s in sources:
        order[next_one[place[s]]] = s
        next_one[place[s]] += 1
        parent[s] = s
    at = 0
    while at < order.size and order[at] >= 0:
        u = np.uintp(order[at])
        at += 1
        for e in range(np.uintp(ends[u]), np.uintp(ends[u + one])):
            v = np.uintp(near[e])
            if parent[v] < 0 and place[v] >= 0 and d[u] + weights[e] == d[v]:
                first = np.uintp(place[v])
                parent[v] = u
                order[np.uintp(next_one[first])] = v
                next_one[first] += 1
    return at


@compiled
def first_met(rows, d, limit, order, begun, met, seen, count):
    """Writes vertices in the order in which an edge first leads to them to `met`, and counts their tight edges.

    order: those that are settled.  met: as many, of which the first `begun` are the sources.  seen, count: (n,), 0.
    """
    ends, near, weights = rows
    for k in range(begun):
        seen[met[k]] = True
    found = begun
    for u in order:
        for e in range(ends[u], ends[u + 1]):
            v = near[e]
            length = d[u] + weights[e]
            if length > limit:
                continue
            if not seen[v]:
                seen[v] = True
                met[found] = v
                found += 1
            count[v] += length == d[v]
    return found


@compiled
def tight(rows, d, limit, order, slots, before):
    """Writes the tight edges to each vertex, as they are met, to `before` from slots[v] on, which moves on."""
    ends, near, weights = rows
    for u in order:
        for e in range(ends[u], ends[u + 1]):
            v = near[e]
            if d[u] + weights[e] == d[v] and d[v] <= limit:
                before[slots[v]] = u
                slots[v] += 1


@compiled
def corrected(rows, sources, watch, d, lists, flags, pool, last):
    """Returns the vertex at which a negative cycle shows, or -1, and the number of vertices that `met` lists in order.

    Label-correcting with a queue, in which a vertex waits while one before it does. d: (n,), 0 at sources.
    watch: look for a cycle along recent improvements, too.
    lists: three arrays (n,): who is met, the queue, and how often each was in it, 0 at first.
    flags: two arrays (n,) of Booleans, False: who waits, who was seen.
    pool: the lists of tight edges: heads, tails (n,), -1; values, links, with room for all edges and a few.
    last: three arrays (n,), -1: the parent, and the edge that made the last improvement of its branch.
    """
    ends, near, weights = rows
    heads, tails, values, links = pool
    parent, edge_from, edge_to = last
    met, queue, times = lists
    waiting, seen = flags
    n = d.size
    found, free, fresh = 0, -1, 0
    size, head = 0, 0
    for s in sources:
        if not seen[s]:
            seen[s] = True
            met[found] = s
            found += 1
        queue[size] = s
        size += 1
        waiting[s] = True
    while size:
        u = queue[head]
        head = head + 1 if head + 1 < queue.size else 0
        size -= 1
        waiting[u] = False
        k, ready = heads[u], True
        while k >= 0 and ready:
            ready = not waiting[values[k]]
            k = links[k]
        if not ready:
            continue
        base = d[u]
        for e in range(ends[u], ends[u + 1]):
            v = near[e]
            length = base + weights[e]
            better = not seen[v] or length < d[v]
            if better:
                if watch:
                    if edge_from[u] == v or edge_to[u] == v:
                        if heads[v] < 0:
                            heads[v] = fresh
                        else:
                            links[tails[v]] = fresh
                        values[fresh], links[fresh], tails[v] = u, -1, fresh
                        return v, found
                    if parent[v] >= 0 and parent[v] == u:
                        edge_from[v], edge_to[v] = edge_from[u], edge_to[u]
                    else:
                        edge_from[v], edge_to[v] = u, v
                if not waiting[v]:
                    at = head + size
                    queue[at if at < queue.size else at - queue.size] = v
                    size += 1
                    waiting[v] = True
                    times[v] += 1
                    if times[v] == n:
                        return v, found
                if not seen[v]:
                    seen[v] = True
                    met[found] = v
                    found += 1
                d[v] = length
                if heads[v] >= 0:  # its list is given back
                    links[tails[v]] = free
                    free = heads[v]
                    heads[v] = -1
                parent[v] = u
            if better or length == d[v]:
                if free >= 0:
                    k = free
                    free = links[free]
                else:
                    k = fresh
                    fresh += 1
                values[k], links[k] = u, -1
                if heads[v] < 0:
                    heads[v] = k
                else:
                    links[tails[v]] = k
                tails[v] = k
    return -1, found


@compiled
def push(heap, size, key, time, vertex):
    """Puts a vertex into a heap ordered by key, then by time; returns the new size."""
    keys, times, vertices = heap
    at = size
    while at > 0:
        above = (at - 1) >> 1
        if keys[above] < key or (keys[above] == key and times[above] < time):
            break
        keys[at], times[at], vertices[at] = keys[above], times[above], vertices[above]
        at = above
    keys[at], times[at], vertices[at] = key, time, vertex
    return size + 1


@compiled
def pop(heap, size):
    """Removes the first vertex of a heap; returns the new size."""
    keys, times, vertices = heap
    size -= 1
    key, time, vertex = keys[size], times[size], vertices[size]
    at = 0
    while 2 * at + 1 < size:
        child = 2 * at + 1
        other = child + 1
        if other < size and (keys[other] < keys[child] or (keys[other] == keys[child] and times[other] < times[child])):
            child = other
        if key < keys[child] or (key == keys[child] and time < times[child]):
            break
        keys[at], times[at], vertices[at] = keys[child], times[child], vertices[child]
        at = child
    keys[at], times[at], vertices[at] = key, time, vertex
    return size


@compiled
def dijkstra(rows, sources, limit, target, heap, settled, found):
    """Settles vertices with a heap [1] up to the length `limit`, or the target; returns how many `order` lists.

    heap: with room for each edge and source.  settled: (n,), False.
    found: (order, d, parent), (n,) each, the latter two -1: a distance and a parent of what is settled, of a source
    itself.
    """
    (ends, near, weights), (keys, _, vertices), (order, d, parent), one = rows, heap, found, np.uintp(1)
    size, clock, count = 0, 0, 0
    for s in sources:
        d[s], parent[s] = 0, s
        size = push(heap, size, d[s], clock, s)
        clock += 1
    while size:
        base, u = keys[0], np.uintp(vertices[0])
        size = pop(heap, size)
        if settled[u]:
            continue
        settled[u], order[count] = True, u
        count += 1
        if u == target:
            break
        for e in range(np.uintp(ends[u]), np.uintp(ends[u + one])):
            v, length = np.uintp(near[e]), base + weights[e]
            if length <= limit and (d[v] < 0 or length < d[v]):
                d[v], parent[v] = length, u
                size = push(heap, size, length, clock, v)
                clock += 1
    for at in range(size):
        v = np.uintp(vertices[at])
        if not settled[v]:
            d[v], parent[v] = -1, -1
    return count


@compiled
def meet(rows, back, source, target, heaps, seen, settled, before):
    """Searches from both ends; returns a vertex on the shortest path, -1 if there is none, and its length.

    rows, back: edges forwards and backwards.  heaps: two, with room for an entry for each edge and one more.
    seen: two arrays (n,) of distances.  settled: two of Booleans.  before: two arrays (n,), -1, of parents.
    """
    front, rear = heaps
    seen_front, seen_rear = seen
    done_front, done_rear = settled
    size_front = push(front, 0, seen_front[source], 0, source)
    size_rear = push(rear, 0, seen_rear[target], 1, target)
    before_front, before_rear = before
    before_front[source], before_rear[target] = source, target
    clock, meeting, forwards = 2, -1, False
    shortest = seen_front[source]
    while size_front and size_rear:
        forwards = not forwards
        heap, size = (front, size_front) if forwards else (rear, size_rear)
        own, other = (seen_front, seen_rear) if forwards else (seen_rear, seen_front)
        done, done_there = (done_front, done_rear) if forwards else (done_rear, done_front)
        mine, theirs = (before_front, before_rear) if forwards else (before_rear, before_front)
        ends, near, weights = rows if forwards else back
        base, u = heap[0][0], heap[2][0]
        size = pop(heap, size)
        if not done[u]:
            done[u] = True
            if done_there[u]:
                return meeting, shortest
            for e in range(ends[u], ends[u + 1]):
                v = near[e]
                length = base + weights[e]
                if not done[v] and (mine[v] < 0 or length < own[v]):
                    own[v], mine[v] = length, u
                    size = push(heap, size, length, clock, v)
                    clock += 1
                    if theirs[v] >= 0:
                        whole = length + other[v]
                        if meeting < 0 or shortest > whole:
                            shortest, meeting = whole, v
        if forwards:
            size_front = size
        else:
            size_rear = size
    return -1, shortest
