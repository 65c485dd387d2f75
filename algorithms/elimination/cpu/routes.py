"""Paths from a factor, by what a distance is made of.

An arc of the factor is an edge, or it leads by way of an earlier position, whose two arcs are unpacked in turn:

    w_yz = a_yz   or   w_yz = w_yx ⊗ w_xz   for an x < min(y, z) with y and z in Up_x
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from semiring import Semiring
from semiring.cpu.kernels import compiled

from .algebra import Algebra, algebra
from .pattern import arc
from .trees import ONE


def is_edge(y, z, w, rows_of_a):
    """True if A has the number w from y to z."""
    indptr, indices, values, order = rows_of_a
    u, v = np.uintp(order[np.uintp(y)]), order[np.uintp(z)]
    for e in range(np.uintp(indptr[u]), np.uintp(indptr[u + ONE])):
        if indices[e] == v and values[e] == w:
            return True
    return False


def bridging(known: Algebra) -> Any:
    """Makes the loop that finds an earlier position by way of which an arc leads."""
    compose = known.compose

    def between(y, z, w, nodes, arrays, holders, numbers):
        firsts, (up, down), (holder_starts, owners) = arrays[0], numbers, holders
        low, high = min(y, z), max(y, z)
        own = nodes[np.uintp(low)]
        for k in range(np.int64(holder_starts[np.uintp(low)]) - 1, holder_starts[np.uintp(low) + ONE]):
            s = np.uintp(own if k < holder_starts[np.uintp(low)] else owners[np.uintp(k)])
            first, last = np.int64(firsts[s]), np.int64(firsts[s + ONE])
            if arc(first, high, nodes, arrays) < 0 and first < low:
                continue
            for x in range(first, min(last, low)):
                to_y, to_z = np.uintp(arc(x, y, nodes, arrays)), np.uintp(arc(x, z, nodes, arrays))
                if compose(down[to_y], up[to_z]) == w:
                    return np.int64(x)
        return np.int64(-1)

    return between


@lru_cache(maxsize=64)
def unpacking(s: Semiring, dtype: np.dtype, lengths: bool) -> tuple[Any, Any]:
    """Makes the loops `climb_back` and `unpack` for a semiring and a dtype."""
    known = algebra(s, dtype, lengths)
    compose, zero = known.compose, known.zero

    between = bridging(known)

    @compiled
    def climb_back(start, meet, tree, arrays, numbers, d, forward, steps):
        """The positions from `start` to where climbs meet, by the arcs that d of the climb is made of; how many.

        steps: room for them, from the meeting position back.
        """
        (parent, nodes), count, y = tree, 1, np.int64(meet)
        steps[0] = y
        while y != start:
            x, found = np.int64(start), np.int64(-1)
            while x != y and found < 0:
                if d[np.uintp(x)] != zero:
                    at = arc(x, y, nodes, arrays)
                    if at >= 0:
                        here, w = d[np.uintp(x)], numbers[np.uintp(at)]
                        if (compose(here, w) if forward else compose(w, here)) == d[np.uintp(y)]:
                            found = x
                x = np.int64(parent[np.uintp(x)])
            if found < 0:
                return 0
            y = found
            steps[count] = y
            count += 1
        return count

    @compiled
    def unpack(y, z, rows_of_a, nodes, arrays, holders, numbers, lists):
        """The positions after y of the path that the arc from y to z stands for; how many, or -1 if path has no room.

        rows_of_a: indptr, indices, values, and the vertex of each position.  lists: room for arcs, and the path.
        """
        (up, down), (stack, path), count = numbers, lists, 0
        stack[0], stack[1], top = y, z, 2
        while top:
            top -= 2
            y, z = stack[top], stack[top + 1]
            low, high = min(y, z), max(y, z)
            k = np.uintp(arc(low, high, nodes, arrays))
            w = up[k] if y < z else down[k]
            middle = np.int64(-1)
            if not is_edge(y, z, w, rows_of_a):
                middle = between(y, z, w, nodes, arrays, holders, numbers)
            if middle < 0:
                if count == path.size:
                    return np.int64(-1)
                path[count] = z
                count += 1
                continue
            stack[top], stack[top + 1], stack[top + 2], stack[top + 3] = middle, z, y, middle
            top += 4
        return np.int64(count)

    return climb_back, unpack
