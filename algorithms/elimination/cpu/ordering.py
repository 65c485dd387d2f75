"""An order of elimination with little fill: nested dissection, by METIS or by our own cuts.

A small set of vertices, a separator, cuts the graph in two. Both parts come first, each dissected in turn, and then the
separator, so that no arc of the factor leads from one part to the other [1]. Our own separators are cuts of levels:
with a and b far from each other, a vertex is before the cut if d_av - d_bv ≤ t, and in the separator if one of its
neighbours is not. Of all t in the middle the one with the smallest separator is taken. Parts of up to 64 vertices are
ordered by least degree [2], with their neighbours in a machine word each.

[1] A. George, Nested dissection of a regular finite element mesh, SIAM J. Numer. Anal. 10(2), 1973.
[2] W. F. Tinney, J. W. Walker, Direct solutions of sparse network equations by optimally ordered triangular
    factorization, Proc. IEEE 55(11), 1967.
[3] G. Karypis, V. Kumar, A fast and high quality multilevel scheme for partitioning irregular graphs, SIAM J. Sci.
    Comput. 20(1), 1998 (METIS).
"""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np

from formats.performance import warn_slow
from semiring.cpu.kernels import compiled
from semiring.cpu.lanes import lowest, ones

from .trees import ONE, neighbours

MAX_VERTICES_WITHOUT_METIS = 256
"""Maximum vertices of a graph that is ordered without METIS."""

LEAF = 64
"""Vertices of a part that is not cut."""

MIDDLE = 4
"""A cut leaves one in so many of the vertices on each side, at least."""

HUB = 8
"""Minimum degree, in mean degrees, of vertices that are taken out where no cut is found."""


def find_order(indptr: np.ndarray, indices: np.ndarray) -> tuple[np.ndarray, str]:
    """Orders the vertices of the graph of A ∪ Aᵀ for elimination, and names the method."""
    n = indptr.size - 1
    starts, ends = both_ways(indptr, indices)
    if n > MAX_VERTICES_WITHOUT_METIS and ends.size < 2**31:
        if find_spec("pymetis") is not None:
            return by_metis(starts, ends), "METIS"
        warn_slow(
            "without pymetis the order of elimination has more fill: pip install 'semiring[factor]'", indices.size
        )
    order, labels = np.arange(n, dtype=np.int32), np.zeros(n, np.int32)
    lists = tuple(np.empty(n + 1, np.int32) for _ in range(4))
    dissect(starts, ends, order, np.arange(n, dtype=np.int32), labels, lists, np.zeros(2 * n + 4, np.int64))
    return order, "cuts of levels"


def by_metis(starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    from pymetis import CSRAdjacency, nested_dissection

    order, _ = nested_dissection(CSRAdjacency(starts.astype(np.int32), ends))
    return np.asarray(order, np.int32)


def both_ways(indptr: np.ndarray, indices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lists the neighbours in A ∪ Aᵀ without self-loops, each once: where each vertex's start, and the neighbours."""
    same = np.arange(indptr.size - 1, dtype=np.int32)
    before, after = (neighbours(indptr, indices, same, above) for above in (False, True))
    starts = np.zeros(same.size + 1, np.int64)
    ends = np.empty(before[1].size + after[1].size, np.int32)
    last = merge(before, after, np.full(same.size, -1, np.int32), starts, ends)
    return starts, ends[:last]


@compiled
def merge(before, after, mark, starts, ends):
    """Append each vertex's neighbours of both lists once; where the list ends."""
    at = 0
    for v in range(mark.size):
        for first, others in (before, after):
            for e in range(np.uintp(first[v]), np.uintp(first[v + 1])):
                u = others[e]
                if mark[np.uintp(u)] != v:
                    mark[np.uintp(u)] = v
                    ends[at] = u
                    at += 1
        starts[v + 1] = at
    return at


def levels_from(root, label, graph, labels, queue, depth):
    """A search among the vertices of that label: the queue holds them by depth; how many there are.

    depth: of others within the part it must differ from what it is set to: -1 before.
    """
    starts, ends = graph
    queue[0], depth[np.uintp(root)], count, at = root, 0, 1, 0
    while at < count:
        u = np.uintp(queue[at])
        at += 1
        for e in range(np.uintp(starts[u]), np.uintp(starts[u + ONE])):
            v = np.uintp(ends[e])
            if labels[v] == label and depth[v] < 0:
                depth[v] = depth[u] + 1
                queue[count] = v
                count += 1
    return count


def by_least_degree(first, last, graph, order, place):
    """Order up to 64 vertices: the next has the fewest neighbours left, which are then joined to each other."""
    starts, ends = graph
    size = last - first
    near, old = np.zeros(64, np.uint64), np.zeros(64, np.int32)
    for each in range(size):
        u = np.uintp(order[first + each])
        old[each] = order[first + each]
        for e in range(np.uintp(starts[u]), np.uintp(starts[u + ONE])):
            j = place[np.uintp(ends[e])] - first
            if 0 <= j < size:
                near[each] |= np.uint64(1) << np.uint64(j)
    left = ~np.uint64(0) if size == 64 else (np.uint64(1) << np.uint64(size)) - np.uint64(1)
    for k in range(size):
        best, fewest, todo = np.int64(0), np.uint64(65), left
        while todo:
            i = np.int64(lowest(todo))
            todo &= todo - np.uint64(1)
            degree = ones(near[i] & left)
            if degree < fewest:
                best, fewest = i, degree
        own = np.uint64(1) << np.uint64(best)
        left &= ~own
        order[first + k] = old[best]
        todo = near[best] & left
        around = todo
        while todo:
            j = np.intp(lowest(todo))
            todo &= todo - np.uint64(1)
            near[j] |= around & ~(np.uint64(1) << np.uint64(j))


def move_to(v, at, order, place):
    """Let vertex v and the one at a place change places."""
    other, here = order[at], place[np.uintp(v)]
    order[here], order[at] = other, v
    place[np.uintp(other)], place[np.uintp(v)] = here, at


def best_cut(first, last, far, graph, order, place, keys, shape):
    """Returns the t near the middle with the smallest separator, and the size of that; -1 if there is none.

    keys: d_a - d_b of each vertex.  shape: room for how many vertices have each key, and separators of each t.
    """
    (starts, ends), (held, parts) = graph, shape
    span = 2 * far + 1
    for t in range(span + 1):
        held[t], parts[t] = 0, 0
    for k in range(first, last):
        u = np.uintp(order[k])
        key = keys[u] + far
        most = key
        for e in range(np.uintp(starts[u]), np.uintp(starts[u + ONE])):
            v = np.uintp(ends[e])
            if first <= place[v] < last:
                most = max(most, keys[v] + far)
        held[key] += 1
        parts[key] += 1
        parts[most] -= 1
    size, before, across, best, fewest = last - first, 0, 0, 0, np.int64(-1)
    for t in range(span):
        before += held[t]
        across += parts[t]
        if min(before - across, size - before) * MIDDLE >= size and (fewest < 0 or across < fewest):
            best, fewest = t - far, np.int64(across)
    return best, fewest


@compiled
def dissect(starts, ends, order, place, labels, lists, stack):
    """Put the vertices in order.

    place: of each vertex in `order`.  labels: zeros.  lists: room for a search, two depths, and cuts.  stack: room for
    the ends of parts.
    """
    graph, (queue, depth, keys, cuts) = (starts, ends), lists
    held, parts = np.zeros(2 * order.size + 4, np.int32), np.zeros(2 * order.size + 4, np.int32)
    top, label = 0, 0
    if order.size:
        stack[0], stack[1], top = 0, order.size, 2
    while top:
        top -= 2
        first, last = stack[top], stack[top + 1]
        if last - first <= LEAF:
            by_least_degree(first, last, graph, order, place)
            continue
        label += 1
        for k in range(first, last):
            labels[np.uintp(order[k])] = label
            depth[np.uintp(order[k])] = -1
        root = order[first]
        count = levels_from(root, label, graph, labels, queue, depth)
        if count < last - first:  # a component, and the rest
            for k in range(count):
                move_to(queue[k], first + k, order, place)
            stack[top], stack[top + 1], stack[top + 2], stack[top + 3] = first, first + count, first + count, last
            top += 4
            continue
        for _ in range(2):  # to a vertex far from the last one
            root = queue[count - 1]
            for k in range(count):
                v = np.uintp(order[first + k])
                keys[v] = depth[v]
                depth[v] = -1
            levels_from(root, label, graph, labels, queue, depth)
        far = depth[np.uintp(queue[count - 1])]
        for k in range(first, last):
            v = np.uintp(order[k])
            keys[v] -= depth[v]
            far = max(far, abs(keys[v]))
        t, size = best_cut(first, last, far, graph, order, place, keys, (held, parts))
        if size >= 0:
            middle, cut = sort_by_side(first, last, t, graph, order, place, (keys, cuts, queue))
            stack[top], stack[top + 1], stack[top + 2], stack[top + 3] = first, middle, middle, cut
            top += 4
            continue
        end = take_hubs(first, last, starts, order, place)
        if first < end < last:
            stack[top], stack[top + 1] = first, end
            top += 2
    return 0


def sort_by_side(first, last, t, graph, order, place, lists):
    """Those before the cut t, those beyond it, and then its separator: where the first two end."""
    (starts, ends), (keys, cuts, queue) = graph, lists
    end, middle, cut = first, first, first
    for k in range(first, last):
        u = np.uintp(order[k])
        cuts[k] = 0 if keys[u] <= t else 1
        for e in range(np.uintp(starts[u]), np.uintp(starts[u + ONE])):
            v = np.uintp(ends[e])
            if cuts[k] == 0 and first <= place[v] < last and keys[v] > t:
                cuts[k] = 2
    for part in range(3):
        for k in range(first, last):
            if cuts[k] == part:
                queue[end] = order[k]
                end += 1
        middle = end if part == 0 else middle
        cut = end if part == 1 else cut
    for k in range(first, end):
        order[k] = queue[k]
        place[np.uintp(order[k])] = k
    return middle, cut


def take_hubs(first, last, starts, order, place):
    """Put vertices of large degree last; where the others end."""
    degrees = 0
    for k in range(first, last):
        u = np.uintp(order[k])
        degrees += starts[u + ONE] - starts[u]
    end, most = last, HUB * degrees // (last - first)
    k = first
    while k < end:
        u = np.uintp(order[k])
        if starts[u + ONE] - starts[u] > most:
            end -= 1
            move_to(u, end, order, place)
        else:
            k += 1
    return end
