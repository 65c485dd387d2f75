"""Depth-first searches, and strong components in the order in which they are complete.

[1] R. Tarjan, Depth-first search and linear graph algorithms, SIAM J. Comput. 1(2), 1972.
[2] E. Nuutila, E. Soisalon-Soininen, On finding the strongly connected components in a directed graph, Inf. Proc.
    Letters 49(1), 1994.
"""

from __future__ import annotations

import numpy as np

from semiring.cpu.kernels import compiled


@compiled
def events(ends, near, starts, limit, stack, at, visited, log):
    """Returns how many events a search has from the starts, one after the other, going `limit` deep.

    at: (n,) a copy of where rows begin.  log: three arrays: from where, to where, and what: 0 forward, 1 to a vertex
    that is known, 2 back, 3 back from the limit.
    """
    sources, targets, kinds = log
    count = 0
    for start in starts:
        if visited[start]:
            continue
        visited[start] = True
        sources[count], targets[count], kinds[count] = start, start, 0
        count += 1
        stack[0] = start
        size = 1
        while size:
            u = stack[size - 1]
            deeper = False
            while at[u] < ends[u + 1] and not deeper:
                v = near[at[u]]
                at[u] += 1
                sources[count], targets[count], kinds[count] = u, v, visited[v]
                count += 1
                if not visited[v]:
                    visited[v] = True
                    deeper = size < limit
                    if not deeper:
                        sources[count], targets[count], kinds[count] = u, v, 3
                        count += 1
            if deeper:
                stack[size] = v
                size += 1
            else:
                size -= 1
                if size:
                    sources[count], targets[count], kinds[count] = stack[size - 1], u, 2
                    count += 1
        sources[count], targets[count], kinds[count] = start, start, 2
        count += 1
    return count


@compiled
def along(order, parent, room, found, before):
    """The vertices so that each follows its parent, and where among them that is, -1 before a root.

    order: the vertices of whole trees, each once.  parent: of each vertex, of a root -1 or itself.
    room: four arrays (n,), -1.  found, before: as long as the order.
    """
    child, sibling, stack, place = room
    size, count = 0, 0
    for k in range(order.size - 1, -1, -1):
        v = np.uintp(order[k])
        u = parent[v]
        if u < 0 or np.uintp(u) == v:
            stack[size] = v
            size += 1
        else:
            sibling[v] = child[np.uintp(u)]
            child[np.uintp(u)] = v
    while size:
        size -= 1
        v = np.uintp(stack[size])
        u = parent[v]
        found[count], place[v] = v, count
        before[count] = -1 if u < 0 or np.uintp(u) == v else place[np.uintp(u)]
        count += 1
        for w in (sibling[v], child[v]):
            if w >= 0:
                stack[size] = w
                size += 1


@compiled
def tree(ends, near, starts, limit, stack, at, visited, found):
    """Returns how many edges the trees of a search have, in order: the `forward` events that lead to other vertices.

    found: two arrays: from where, and to where.
    """
    (parents, children), one = found, np.uintp(1)
    count = 0
    for start in starts:
        if visited[start]:
            continue
        visited[start] = True
        stack[0] = start
        size = 1
        while size:
            u = np.uintp(stack[size - 1])
            e, stop, deeper = np.uintp(at[u]), np.uintp(ends[u + one]), False
            while e < stop and not deeper:
                v = np.uintp(near[e])
                e += one
                if not visited[v]:
                    visited[v] = True
                    parents[count], children[count] = u, v
                    count += 1
                    if size < limit:
                        stack[size] = v
                        deeper = True
            at[u] = e
            size += 1 if deeper else -1
    return count


@compiled
def components(rows, at, stacks, preorder, lowlink, component, members):
    """The number of strong components; that of each vertex, by the order in which a search completes them.

    at: (n,) a copy of where rows begin.  stacks: two of (n,).  preorder: (n,) 0.  component: (n,) -1.
    members: (n,) the vertices, by components, in the order in which each is complete.
    """
    (ends, near), (stack, waiting), one = rows, stacks, np.uintp(1)
    clock, kept, count, listed = 0, 0, 0, 0
    for start in range(preorder.size):
        if component[start] >= 0:
            continue
        stack[0] = start
        size = 1
        while size:
            u = np.uintp(stack[size - 1])
            if preorder[u] == 0:
                clock += 1
                preorder[u] = clock
            e, stop, deeper = np.uintp(at[u]), np.uintp(ends[u + one]), False
            while e < stop and not deeper:
                v = np.uintp(near[e])
                e += one
                if preorder[v] == 0:
                    stack[size] = v
                    size += 1
                    deeper = True
            at[u] = e
            if deeper:
                continue
            lowest = preorder[u]
            for k in range(np.uintp(ends[u]), stop):
                v = np.uintp(near[k])
                if component[v] < 0:
                    lowest = min(lowest, lowlink[v] if preorder[v] > preorder[u] else preorder[v])
            lowlink[u] = lowest
            size -= 1
            if lowest == preorder[u]:
                component[u] = count
                members[listed] = u
                listed += 1
                while kept and preorder[waiting[kept - 1]] > preorder[u]:
                    kept -= 1
                    component[waiting[kept]] = count
                    members[listed] = waiting[kept]
                    listed += 1
                count += 1
            else:
                waiting[kept] = u
                kept += 1
    return count


@compiled
def from_each(ends, near, starts, total, stack, seen, component):
    """The number of groups: each start, the last first, takes all that it leads to and that is not taken yet."""
    count, taken = 0, 0
    for k in range(starts.size):
        start = starts[starts.size - 1 - k]
        if taken >= total:
            break
        if seen[start]:
            continue
        seen[start] = True
        taken += 1
        component[start] = count
        stack[0] = start
        size = 1
        while size and taken < total:
            size -= 1
            u = stack[size]
            for e in range(ends[u], ends[u + 1]):
                v = near[e]
                if not seen[v]:
                    seen[v] = True
                    taken += 1
                    component[v] = count
                    stack[size] = v
                    size += 1
        count += 1
    return count
