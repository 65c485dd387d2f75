"""Strongly connected components by one depth-first search, without recursion.

Gabow's search [1]: vertices are numbered as they are found, and lie on a stack until their component is complete; a
second stack holds where on it the components that may still grow into one begin. An edge to a vertex of a lower number
that lies on the stack unites all that began since, so those beginnings are taken off; a vertex that is done, and still
a beginning, has its component above it. Where every edge is known to have its reverse, a strong component is a
connected one (`components`), of which most edges are not read.

O(n + m), sequential. 24 bytes a vertex (32 where edges are numbered in 64 bits) beside the answer.

[1] H. N. Gabow, Path-based depth-first search for strong and biconnected components, Information Processing Letters
    74(3-4), 2000.
[2] R. E. Tarjan, Depth-first search and linear graph algorithms, SIAM Journal on Computing 1(2), 1972.
"""

from __future__ import annotations

import numpy as np

from formats import CSR
from formats.arrays import index_dtype
from semiring.cpu.kernels import compiled
from semiring.explanation import facts

from .components import labels
from .symmetry import is_known_symmetric, is_symmetric


def strong_components(A: CSR, weak: bool) -> np.ndarray:
    """The smallest vertex of each vertex's component."""
    both_ways = _counts_both_ways(A, ask=not weak)
    if weak or both_ways:
        return labels(A, both_ways)
    n, vertex = A.nrows, index_dtype(A.nrows)
    label = np.empty(n, vertex)
    components = _search(A.indptr, A.indices, label, np.zeros((4, n + 1), vertex), np.empty(n + 1, A.indptr.dtype))
    facts(method="depth-first search", components=int(components), threads=1)
    return label


def _counts_both_ways(A: CSR, ask: bool) -> bool:
    """Is it known that every edge's reverse is stored? Found out, if asked, at the second search of A.

    Of a symmetric graph that takes longer than the first search, and shortens all others.
    """
    if ask and A.keeps("strong components found"):
        return is_symmetric(A, pattern=True)
    if ask:
        A.keep("strong components found", lambda: True)
    return is_known_symmetric(A)


@compiled
def _search(indptr, indices, label, vectors, edge):
    """Labels from a depth-first search; the number of components. edge: the next one of each vertex on the path.

    number: 0 of a vertex that is not found yet, n + 1 in a complete component.
    """
    n, one, components = label.size, np.uintp(1), 0
    number, stack, begins, path = vectors[0], vectors[1], vectors[2], vectors[3]
    found, stacked, begun, depth = 0, 0, 0, 0
    done = n + 1
    for start in range(n):
        if number[start]:
            continue
        found += 1
        number[start] = found
        path[0], edge[0], stack[stacked], begins[begun] = start, indptr[start], start, found
        depth, stacked, begun = 1, stacked + 1, begun + 1
        while depth:
            u = np.uintp(path[depth - 1])
            e, stop, deeper = np.uintp(edge[depth - 1]), np.uintp(indptr[u + one]), False
            while e < stop:
                v = np.uintp(indices[e])
                e += one
                at = number[v]
                if at == 0:
                    deeper = True
                    break
                while begins[begun - 1] > at:
                    begun -= 1
            if deeper:
                edge[depth - 1] = e
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
                for at in range(first, stacked):
                    v = np.uintp(stack[at])
                    label[v], number[v] = smallest, done
                stacked = first
                components += 1
    return components
