"""Minimum spanning forests by Borůvka's algorithm.

Each tree takes its lightest edge to another tree, all at once; trees that chose each other, or chose along a chain,
become one. In matrices, with K of the edges' keys, each edge once, and P the membership of vertices in trees:

    l = K1 ∧ 1K        lightest edge of each vertex          b = lP        … of each tree
    p_t = the tree at the other end of b_t                   p = p∘p       pointer jumping
    K = K⟨trees differ⟩                                       until no tree has an edge left

A trace tells the phases of a round, [2]'s procedures: search, cycles, merge, renumber, and drop, the last line, which
is part of the search there.

A key is a weight and the edge's number in one integer, so no two are equal, and trees choose each other in pairs only:
a cycle of three would need an edge lighter than itself. Ties go by (weight, smaller end, larger end), whatever the
format and the device. Each round at least halves the trees that have edges: at most log₂ n rounds.

[1] O. Borůvka, O jistém problému minimálním, Práce moravské přírodovědecké společnosti 3, 1926.
[2] A. S. Kolganov, Hybrid implementation of the MST algorithm using CPU and GPU, 2016 (the four procedures).
"""

from __future__ import annotations

from typing import Any

from algorithms.shared.edges import edges_where, keyed, undirected_edges
from formats import COO, Matrix, SparseVector
from formats.arrays import IntegerVector as Labels
from formats.preparation.weights import edge_numbers
from semiring import MinFirst, MinSecond, differs, ewise_add, mxv, select, vxm
from semiring.vectors import all_vertices, arange, full, gather, membership, present, renumbered, roots, scatter
from semiring.verbs.checks import check_graph
from semiring.verbs.fusible import MemoryEstimate

from ..shared.entries import edge_places
from ..shared.signatures import Forest
from ..shared.trace import trace_round


@Forest
def boruvka(
    A: Matrix,
    *,
    symmetrize: bool = False,
    return_labels: bool = False,
    return_places: bool = False,
    fused: bool = True,
) -> COO | tuple[COO, Labels] | tuple[COO, Labels, Labels]:
    """A minimum spanning forest: a tree of least weight for each connected component.

    Of edges of one weight the one with the smaller ends is chosen, so the forest is the same from every format and
    device. Weights may be negative; self-loops are never chosen.

    Args:
        A: (n, n), undirected: with every edge in both directions.
        symmetrize: take any matrix; of two directions the lighter edge counts.
        return_labels: also return which tree each vertex is in.
        return_places: also return which entry of A each edge is.
        fused: False runs the equations as they are written.

    Returns:
        An (n, n) COO on A's device with each chosen edge once, (u, v) with u < v. With `return_labels` also (n,)
        integers: the smallest vertex of each vertex's tree. With `return_places` also, last, for each edge the place of
        its entry among A's by rows, as in the arrays of a CSR: of u -> v, or of v -> u if only that has the weight.

    Raises:
        ValueError: the matrix is not square, or an edge has no reverse of the same weight.

    Example:
        >>> from formats import from_edges
        >>> A = from_edges([0, 1, 0], [1, 2, 2], [4.0, 1.0, 2.0])
        >>> F = boruvka(A, symmetrize=True)
        >>> F.rows.tolist(), F.cols.tolist(), F.values.tolist()
        ([0, 1], [2, 2], [2.0, 1.0])
        >>> F, place = boruvka(A, symmetrize=True, return_places=True)
        >>> A.values[place].tolist()
        [2.0, 1.0]

    Source: [2].
    """
    check_graph(A)
    F, label = forest(A, symmetrize, return_labels)
    more = [label] * return_labels + ([edge_places(A, F)] if return_places else [])
    return (F, *more) if more else F


boruvka.memory = MemoryEstimate(fused=(56, 20), equations=(96, 60))


@boruvka.equations
def forest(A: Matrix, symmetrize: bool, with_labels: bool) -> tuple[Any, Any]:
    """Finds (the forest's edges, the smallest vertex of each vertex's tree); no labels where nobody asked for them."""
    E = undirected_edges(A, symmetrize=symmetrize)
    K = keyed(E, A)
    chosen, tree = _forest(K, E.rows, E.cols)
    F = edges_where(E, chosen)
    if not with_labels:
        return F, None
    vertices = all_vertices(A)
    return F, gather(vxm(vertices, membership(tree, A.nrows), MinFirst), tree)


def _forest(K: Matrix, u: Any, v: Any) -> tuple[Any, Any]:
    """(which edges are chosen; each vertex's tree) of the edges with keys K, edge e between u[e] and v[e]."""
    tree, trees = all_vertices(K), K.nrows
    chosen = full(u, False, bool)
    while K.nnz:
        b = lightest_of_each(K, tree, trees)
        trace_round(b, direction="pull", edges=K.nnz, phase="search")
        e = edge_numbers(b.values)
        scatter(chosen, e, True)
        at_u, at_v = (gather(tree, gather(x, e)) for x in (u, v))
        other = at_u + at_v - b.indices  # the tree at the other end of b_t
        p = hooked(b.indices, other, trees)
        trace_round(b, phase="cycles", edges=0)
        p = roots(p)  # p = p∘p
        trace_round(b, phase="merge", edges=0)
        number, trees = renumbered(p)
        tree = gather(number, tree)
        trace_round(b, phase="renumber", edges=0)
        looked_at = K.nnz
        K = select(K, differs, row=tree, col=tree)  # K⟨trees differ⟩
        trace_round(b, phase="drop", direction="pull", edges=looked_at)
    return chosen, tree


def lightest_of_each(K: Matrix, tree: Any, trees: int) -> Any:
    """b: the key of the lightest edge that leaves each tree, for the trees that have one."""
    ones = full(all_vertices(K), 1, K.dtype)
    of_vertices = ewise_add(mxv(K, ones, MinFirst), vxm(ones, K, MinSecond), MinFirst)  # l = K1 ∧ 1K
    return present(vxm(of_vertices, membership(tree, trees), MinFirst), MinFirst)  # b = lP


def hooked(trees: Any, others: Any, count: int) -> Any:
    """p: each tree's parent is the tree it chose; of two that chose each other, the smaller is a root."""
    t = arange(trees, count)
    p = t.copy()
    scatter(p, SparseVector.trusted(trees, others, count))
    mutual = (gather(p, p) == t) & (t < p)
    scatter(p, mutual, t)
    return p
