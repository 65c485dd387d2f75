"""Shortest-path trees from distances, paths from trees, and cycles among parents.

The tree is a function of the distances alone, so every algorithm, format and backend gives the same one:

    T = A⟨d_i ⊗ a_ij = d_j⟩          the tight edges
    round 0: each vertex with a nearer tight predecessor takes the smallest
    round k: each reached vertex still without a parent takes its smallest tight predecessor settled before

A vertex of round k hangs on one that was settled earlier, so parents form a tree even where zero weights close cycles
of equal distances. With negative weights a nearer vertex need not come earlier: there round 0 settles the source
alone.

With ties="nearest" a vertex takes the nearest of its nearer tight predecessors, and the smallest of several: the one
from which Dijkstra's algorithm would first have found the distance. Without the other edges the rule above says so:

    m_j = min d_i: t_ij, d_i nearer than d_j        A' = A⟨i not nearer than j, or d_i = m_j⟩
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, SupportsIndex

from formats import Matrix
from formats.arrays import DenseVector, IntegerVector, as_array, differs, to_device
from formats.matrix.facts import Fact
from semiring import MinFirst, Predicate, Semiring, extract, fusible, nearer, reduce, select, tight, vxm
from semiring.algebra.semirings import find_semiring
from semiring.vectors import (
    all_vertices,
    densified,
    full,
    gather,
    is_empty,
    masked,
    nonzero,
    present,
    scatter,
    unit,
    with_root,
)
from semiring.verbs.checks import check_matrix
from semiring.verbs.operands import common_dtype, typed_matrix

GAINS: Fact[bool] = Fact("a path can become better by being longer")
"""Given: the semiring."""

alike = Predicate("alike", lambda i, j, value, row, col: row == col, "row == col", reads=("row", "col"))
"""The vectors hold the same at the two ends."""


def as_weights(A: Matrix, semiring: Semiring) -> Matrix:
    """`A` as the semiring measures paths in it: itself, or for a Boolean semiring the pattern of numbers.

    ValueError if ⊕ does not order the values, TypeError if the semiring is not defined on A's dtype, or `A` no matrix.
    """
    check_matrix("A", A)
    if not semiring.add.selective:
        raise ValueError(f"{semiring.name} has no order, so no path is best: choose a semiring with one, as MinPlus")
    return A if A.dtype in semiring.dtypes else typed_matrix(A, semiring, common_dtype(semiring, A))


def gains_by_length(A: Matrix, semiring: Semiring) -> bool:
    """True if a path can become better by being longer, as for MinPlus with a negative weight. Found once."""

    def found() -> bool:
        unit = semiring.unit(A.dtype)
        return bool(semiring.better(reduce(A, semiring.add), unit))

    return A.keep(GAINS, found, semiring)


@fusible
def shortest_path_tree(
    A: Matrix,
    d: DenseVector,
    source: int,
    semiring: Semiring,
    fused: bool = True,
    *,
    ties: Literal["smallest", "nearest"] = "smallest",
) -> IntegerVector:
    """The parent of each vertex on a best path from a source, found from the distances alone.

    Args:
        A: (n, n), A[u, v] = weight of the edge u -> v.
        d: (n,) the distances from the source.
        source: the vertex that they are from.
        semiring: in which they are distances.
        fused: False runs the equations as they are written.
        ties: which of several predecessors on best paths: the "smallest" that is nearer to the source, or of these the
            "nearest", as Dijkstra's algorithm finds it, and of equally near ones the smallest.

    Returns:
        (n,) integers on A's device, -1 for the source and for vertices that were not reached.

    Raises:
        ValueError: the distances are no fixpoint of d = e_s ⊕ d A, or there is no such rule for ties.

    Example:
        >>> from algorithms import sssp
        >>> from formats import from_edges
        >>> from semiring import MinPlus
        >>> A = from_edges([0, 0, 1], [1, 2, 2], [5.0, 9.0, 3.0])
        >>> shortest_path_tree(A, sssp(A, 0), 0, MinPlus).tolist()
        [-1, 0, 1]

    Source: the rule stands above, at the head of this module.
    """
    if ties not in ("smallest", "nearest"):
        raise ValueError(f"ties must be 'smallest' or 'nearest', got {ties!r}")
    A = as_weights(A, semiring)
    return tree(A, d, source, semiring) if ties == "smallest" else nearest_parents(A, d, source, semiring)


@shortest_path_tree.equations
def tree(A: Matrix, d: Any, source: int, semiring: Semiring) -> Any:
    """The parents of a matrix whose values the semiring takes as they are."""
    return in_rounds(A, d, source, semiring, lambda N: N)


@fusible
def nearest_parents(A: Matrix, d: DenseVector, source: int, semiring: Semiring) -> IntegerVector:
    """`shortest_path_tree` with ties="nearest"."""
    return tree_of_nearest(A, d, source, semiring)


nearest_parents.interruptible_from_nnz = 1 << 22  # as each edge is looked at once


@nearest_parents.equations
def tree_of_nearest(A: Matrix, d: Any, source: int, semiring: Semiring) -> Any:
    """The parents of a matrix whose values the semiring takes as they are."""
    first = find_semiring(f"{semiring.add.name}_first")

    def nearest(N: Matrix) -> Matrix:
        return select(N, alike, row=d, col=densified(vxm(masked(d, full(d, True, bool)), N, first), semiring))

    return in_rounds(A, d, source, semiring, nearest)


def in_rounds(A: Matrix, d: Any, source: int, semiring: Semiring, narrowed: Callable[[Matrix], Matrix]) -> Any:
    """The parents, round by round.  narrowed: which of the edges from nearer vertices round 0 may choose."""
    T = select(A, tight(semiring), row=d, col=d)  # T = A⟨d_i ⊗ a_ij = d_j⟩
    parent = full(d, -1, all_vertices(A).dtype)
    settled = full(d, False, bool)
    newly = nonzero(unit(A, source, semiring))
    scatter(settled, newly, True)
    if not gains_by_length(A, semiring):
        N = narrowed(select(T, nearer(semiring), row=d, col=d))  # N = T⟨d_i nearer than d_j⟩
        p = vxm(all_vertices(A), N.pattern(), MinFirst, mask=settled, complement=True)  # p_j = min i: n_ij
        nearest = present(p, MinFirst)
        scatter(parent, nearest)
        scatter(settled, nearest, True)
        newly = nonzero(settled)
    reached = differs(d, semiring.zero(d.dtype))
    edges = T.pattern()
    while bool((reached & ~settled).any()):
        chosen = vxm(newly, edges, MinFirst, mask=settled, complement=True)  # p_j = min i: t_ij, i settled before
        if is_empty(chosen):
            raise ValueError("d is not a fixpoint of d = e_s ⊕ dA: a reached vertex hangs on no settled one")
        scatter(parent, chosen)
        scatter(settled, chosen, True)
        newly = nonzero(chosen)
    return parent


def path(parent: IntegerVector | Sequence[int], v: SupportsIndex) -> list[int]:
    """The vertices from the source to a vertex, along the parents.

    Args:
        parent: (n,) integers, as algorithms return them with `return_parents=True`.
        v: where the path ends, 0 <= v < n.

    Returns:
        The vertices of the path in order, the source first; [v] where all parents are -1.

    Raises:
        ValueError: v lies outside or was not reached, the parents close a cycle, or they are several trees: take a row.

    Example:
        >>> path([-1, 0, 1], 2)
        [0, 1, 2]
    """
    parent = to_device(as_array(parent), "cpu")
    if parent.ndim != 1 or parent.dtype.kind != "i":
        raise ValueError(f"parent must be a vector of integers, one tree, got {parent.dtype} of shape {parent.shape}")
    n, vertex = len(parent), operator.index(v)
    if n and not -1 <= int(parent.min()) <= int(parent.max()) < n:
        raise ValueError(
            f"parent must hold vertices of 0 to {n - 1}, and -1 for none, got {parent.min()} to {parent.max()}"
        )
    if not 0 <= vertex < n:
        raise ValueError(f"vertex must be in [0, {n}), got {vertex}")
    if int(parent[vertex]) < 0 and bool((parent >= 0).any()) and not bool((parent == vertex).any()):
        raise ValueError(f"vertex {vertex} was not reached")
    steps = [vertex]
    while (vertex := int(parent[vertex])) >= 0:
        steps.append(vertex)
        if len(steps) > n:
            raise ValueError(f"the parents of vertex {v} close a cycle")
    return steps[::-1]


def cycle_among(parent: Any) -> list[int] | None:
    """A cycle that the parents close, as a closed list from its smallest vertex on; None if they form trees.

    parent: (n,) integers, -1 for none.
    """
    return next(cycles_among(parent), None)


def cycles_among(parent: Any) -> Iterator[list[int]]:
    """Every cycle that the parents close, each as a closed list from its smallest vertex on.

    parent: (n,) integers, -1 for none. By pointer jumping: after 2^k ≥ n steps only vertices that lead into a cycle
    have not arrived at the root. Cost: O(n log n).
    """
    n = len(parent)
    jump = with_root(parent)  # the root is vertex n, its own parent
    for _ in range(n.bit_length()):
        jump = extract(jump, jump)  # p' = p∘p
    astray = (jump != n).nonzero()[0]
    if len(astray) == 0:
        return
    starts, parent, seen = to_device(gather(jump, astray), "cpu").tolist(), to_device(parent, "cpu"), set[int]()
    for start in starts:
        if start in seen:
            continue
        cycle, vertex = [start], start
        while (vertex := int(parent[vertex])) != start:
            cycle.append(vertex)
        seen.update(cycle)
        cycle.reverse()  # parents point backwards
        smallest = cycle.index(min(cycle))
        yield [*cycle[smallest:], *cycle[:smallest], cycle[smallest]]
