"""Transitive closure: an edge wherever there is a path.

All vertices of a strong component lead to the same ones. So with m_vc = 1 where v is in component c,

    D = Mᵀ A M                  the components, among which no path leads back
    r_c = bfs(D, c) > 0         what each leads to, for some of them at a time, and itself where it has an edge
    A⁺ = M R Mᵀ

A⁺ has Σ r_cd |c| |d| entries. Their bytes are asked for before they are made: first those within components, then
after each search those that it has added.

[1] S. Warshall, A theorem on Boolean matrices, J. ACM 9(1), 1962.
[2] P. W. Purdom, A transitive closure algorithm, BIT 10, 1970 (by components).
"""

from __future__ import annotations

from typing import Any

from formats import COO, CSR, Matrix
from formats.arrays import index_dtype
from formats.storage.orientation import compressed
from semiring import AnyPair, ewise_add, mxm, reduce, select
from semiring.vectors import all_vertices, full, gather, membership, renumbered, unweighted
from semiring.verbs.checks import check_graph

from .distances_in_blocks import blocks_of_distances, joined
from .scc import scc

LISTED, ANSWER = 26, 7
"""Bytes that an entry of R takes while its rows are joined, and an entry of the answer."""


def transitive_closure(A: Matrix, *, reflexive: bool = False) -> CSR:
    """The graph with an edge from each vertex to every one that a path leads to.

    Args:
        A: (n, n), an entry A[u, v] is the edge u -> v, whatever its value.
        reflexive: True lets every vertex lead to itself, by the empty path; False only those on cycles.

    Returns:
        (n, n) Booleans on A's device, true where a path leads. To know it of some vertices, `bfs(A, sources=…) >= 0`
        takes less.

    Raises:
        OutOfHostMemory, OutOfDeviceMemory: the answer, which may have n² entries, does not fit.
        ValueError: the matrix is not square.

    Example:
        >>> from formats import from_edges
        >>> transitive_closure(from_edges([0, 1, 3], [1, 2, 3])).to_dense().astype(int).tolist()
        [[0, 1, 1, 0], [0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 0, 1]]

    Source: Warshall 1962 [1]; by strong components: Purdom 1970 [2].
    """
    check_graph(A)
    component, k = renumbered(scc(A))
    M: Any = compressed(membership(component, k), 0)
    D, size = compressed(unweighted(A), 0), reduce(M.astype("int64"), "plus", axis=0)
    if k == A.nrows:
        return reached(D, size, reflexive)
    Mᵀ = compressed(M.T, 0)
    R = reached(mxm(mxm(Mᵀ, D, AnyPair), M, AnyPair), size, reflexive)  # D = Mᵀ A M
    return mxm(mxm(M, R, AnyPair), Mᵀ, AnyPair)  # A⁺ = M R Mᵀ


def reached(D: CSR, size: Any, reflexive: bool) -> CSR:
    """R of a graph without cycles but for loops, whose vertices stand for so many each."""
    k, index = D.nrows, index_dtype(D.nrows)
    own: Any = compressed(membership(all_vertices(D), k), 0) if reflexive else select(D, "diag")
    entries = int((size * size * reduce(own, "lor", axis=1)).sum())
    check_memory(D, size, entries, k, 0)
    rows, cols, listed = [], [], k
    for block, level, _ in blocks_of_distances(D, list(range(k)), False):
        i, j = (level > 0).nonzero()  # r_c = bfs(D, c) > 0
        i += block[0]
        entries, listed = entries + int((gather(size, i) * gather(size, j)).sum()), listed + i.size
        check_memory(D, size, entries, listed, max(block) + 1)
        rows.append(i.astype(index))
        cols.append(j.astype(index))
    u, v = joined(rows, D, index), joined(cols, D, index)
    return ewise_add(COO.trusted(u, v, full(u, True, bool), (k, k), 0).to(CSR), own, "lor")


def check_memory(D: CSR, size: Any, entries: int, listed: int, searched: int) -> None:
    """OutOfHostMemory or OutOfDeviceMemory, with the figures, unless the entries that are known of fit."""
    known = f"{entries:,} entries after {searched:,} of its {D.nrows:,} components"
    what = f"transitive_closure of {int(size.sum()):,} vertices, with at least {known},"
    D.place.check_room(what, LISTED * listed + ANSWER * entries)
