"""Ties among shortest paths: those with the fewest edges, and how many there are.

The pairs (length, edges) and (length, count) are semirings of their own, whose ⊕ compares lengths first:

    (a, h) ⊕ (b, k) = the smaller pair          (a, h) ⊗ (b, k) = (a + b, h + k)
    (a, σ) ⊕ (b, τ) = the shorter, or (a, σ + τ) if a = b          (a, σ) ⊗ (b, τ) = (a + b, σ τ)

Their first parts are plain distances d, which are found first. Then only the edges of shortest paths are left [1]:

    T = A⟨d_i + a_ij = d_j⟩        h⟨f⟩ = k,  f' = fT⟨¬visited⟩        σ = e_s + σ T

The edges h of a way are levels of a search. Numbers of paths are summed from frontiers of vertices, all of whose
predecessors in T are done. Other products than + are refused: in max-min, a part of a best path need not be a best
path.

[1] U. Brandes, A faster algorithm for betweenness centrality, J. Math. Sociology 25(2), 2001 (Lemma 3).
[2] M. Mohri, Semiring frameworks and algorithms for shortest-distance problems, J. Automata Lang. Comb. 7(3), 2002.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, overload

from formats import Matrix
from formats.arrays import DenseRows, DenseVector, IntegerRows, IntegerVector, differs, index_dtype
from semiring import OPERATORS, MaxPlus, MinFirst, MinPlus, Semiring, reduce, select, tight, vxm
from semiring.algebra.semirings import INT32, INT64, find_semiring
from semiring.vectors import (
    all_vertices,
    element,
    empty_rows,
    fill,
    full,
    gather,
    indices,
    masked,
    nonzero,
    one_hot,
    ones,
    scatter,
    scatter_sub,
)
from semiring.verbs.checks import check_matrix, starting_points
from semiring.verbs.fusible import MemoryEstimate
from semiring.verbs.operands import typed_matrix

from ..shared.errors import walk
from ..shared.parents import cycle_among
from ..shared.signatures import Counting, Vertices
from ..shared.trace import trace_round
from .bfs import LEVEL, bfs
from .sssp import sssp

PlusFirst, PlusPair = find_semiring("plus_first"), find_semiring("plus_pair")

EdgesOrTree = (
    tuple[DenseVector, IntegerVector]
    | tuple[DenseRows, IntegerRows]
    | tuple[DenseVector, IntegerVector, IntegerVector]
    | tuple[DenseRows, IntegerRows, IntegerRows]
)


@overload
def fewest_edges(
    A: Matrix, source: int, semiring: Semiring | str = MinPlus, *, return_parents: Literal[False] = False
) -> tuple[DenseVector, IntegerVector]: ...
@overload
def fewest_edges(
    A: Matrix, source: int, semiring: Semiring | str = MinPlus, *, return_parents: Literal[True]
) -> tuple[DenseVector, IntegerVector, IntegerVector]: ...
@overload
def fewest_edges(
    A: Matrix,
    source: None = None,
    semiring: Semiring | str = MinPlus,
    *,
    sources: Vertices,
    return_parents: Literal[False] = False,
) -> tuple[DenseRows, IntegerRows]: ...
@overload
def fewest_edges(
    A: Matrix,
    source: None = None,
    semiring: Semiring | str = MinPlus,
    *,
    sources: Vertices,
    return_parents: Literal[True],
) -> tuple[DenseRows, IntegerRows, IntegerRows]: ...
def fewest_edges(
    A: Matrix,
    source: int | None = None,
    semiring: Semiring | str = MinPlus,
    *,
    sources: Vertices | None = None,
    return_parents: bool = False,
) -> EdgesOrTree:
    """Shortest paths from a source, and of these the ones with the fewest edges.

    A shortest path is one each of whose edges u -> v has d[u] + A[u, v] = d[v], where d is what `sssp` gives. Sums of
    floats are compared bit by bit, so that rounding can break a tie.

    Args:
        A: (n, n), A[u, v] = weight of the edge u -> v. In a Boolean matrix every edge has length 1.
        source: the vertex to start from, 0 <= source < n.
        semiring: `MinPlus`, or `MaxPlus` for longest paths.
        sources: several sources, (k,) integers, instead of one: the answer then has a row for each.
        return_parents: also return the tree of these paths.

    Returns:
        (n,) distances as `sssp` gives them, and (n,) int32 numbers of edges, -1 where no path leads. With
        `return_parents` also (n,) integers: each vertex's smallest predecessor on such a path, -1 for none.

    Raises:
        NegativeCycle: a cycle that improves paths for ever can be reached; the error has it.
        OverflowError: a finite distance does not fit the dtype.
        FloatingPointError: weights are negative, and rounding alone improves distances along a cycle.
        ValueError: a source lies outside the matrix, which must be square, or the semiring is another.
        TypeError: both or neither of source and sources are given.

    Example:
        >>> from formats import from_edges
        >>> A = from_edges([0, 1, 2, 0], [1, 2, 3, 3], [1, 1, 1, 3])
        >>> d, edges = fewest_edges(A, 0)
        >>> d.tolist(), edges.tolist()
        ([0, 1, 2, 3], [0, 1, 2, 1])

    Source: the pairs stand above, at the head of this module; Mohri 2002 [2].
    """

    def found(A: Matrix, d: Any, start: int, s: Semiring) -> Any:
        answer: Any = bfs(select(A, tight(s), row=d, col=d), start, return_parents=return_parents)
        level = answer[0] if return_parents else answer
        if bool((differs(d, s.zero(d.dtype)) & (level < 0)).any()):
            raise FloatingPointError(
                f"in {d.dtype}, rounding alone improves distances along a cycle, so that no path has them: convert the "
                "weights to integers, or to more precision"
            )
        return answer if return_parents else (answer,)

    check_matrix("A", A)
    dtypes = (LEVEL, index_dtype(A.nrows)) if return_parents else (LEVEL,)
    return from_each(A, source, sources, semiring, "fewest_edges", dtypes, found)


@Counting
def count_shortest_paths(
    A: Matrix,
    source: int | None = None,
    semiring: Semiring | str = MinPlus,
    *,
    sources: Vertices | None = None,
    dtype: Literal["int64", "float64"] = "int64",
    fused: bool = True,
) -> tuple[DenseVector, DenseVector] | tuple[DenseRows, DenseRows]:
    """Shortest paths from a source, and how many there are to each vertex.

    A shortest path is one each of whose edges u -> v has d[u] + A[u, v] = d[v], where d is what `sssp` gives. Sums of
    floats are compared bit by bit, so that rounding can break a tie. Self-loops lie on no path.

    Args:
        A: (n, n), A[u, v] = weight of the edge u -> v. In a Boolean matrix every edge has length 1.
        source: the vertex to start from, 0 <= source < n.
        semiring: `MinPlus`, or `MaxPlus` for longest paths.
        sources: several sources, (k,) integers, instead of one: the answer then has a row for each.
        dtype: of the numbers: "int64", or "float64", which rounds from 2^53 on, and ends at infinity.
        fused: False runs the equations as they are written.

    Returns:
        (n,) distances as `sssp` gives them, and (n,) numbers of shortest paths, 0 where none leads; 1 for the source.

    Raises:
        NegativeCycle: a cycle that improves paths for ever can be reached; the error has it.
        OverflowError: a finite distance does not fit its dtype, or a number of paths int64.
        ValueError: a cycle adds nothing to a length, as one of weights 0, so that paths have no number; a source lies
            outside the matrix, which must be square; or the semiring or the dtype is another.
        TypeError: both or neither of source and sources are given.

    Example:
        >>> from formats import from_edges
        >>> A = from_edges([0, 0, 1, 2, 3], [1, 2, 3, 3, 4], [1, 2, 2, 1, 5])
        >>> d, count = count_shortest_paths(A, 0)
        >>> d.tolist(), count.tolist()
        ([0, 1, 2, 3, 8], [1, 1, 1, 2, 2])

    Source: Brandes 2001 [1]; the pairs stand above, at the head of this module.
    """
    if dtype not in ("int64", "float64"):
        raise ValueError(f"dtype must be 'int64' or 'float64', got {dtype!r}")

    def found(A: Matrix, d: Any, start: int, s: Semiring) -> Any:
        return (numbers_of_paths(A, d, start, s, dtype),)

    return from_each(A, source, sources, semiring, "count_shortest_paths", (dtype,), found)


count_shortest_paths.memory = MemoryEstimate(fused=(48, 20), equations=(96, 40))


@count_shortest_paths.equations
def numbers_of_paths(A: Matrix, d: Any, source: int, s: Semiring, dtype: str) -> Any:
    """σ = e_s + σ T, from the distances."""
    T = edges_of_paths(A, d, s)
    reached = nonzero(differs(d, s.zero(d.dtype)))
    waiting = vxm(ones(reached), T, PlusPair).to_dense(0)  # for so many predecessors
    σ, f = full(d, 0, dtype), nonzero(one_hot(T, source))
    scatter(σ, f, 1)
    while f.nnz and not element(waiting, source):
        t = vxm(masked(σ, f), T, PlusFirst)
        scatter(σ, t, OPERATORS["plus"](gather(σ, t.indices), t.values))  # σ_v = Σ σ_u
        done = vxm(ones(f), T, PlusPair)
        scatter_sub(waiting, done)
        trace_round(f, matrix=T)
        f = indices(gather(done.indices, gather(waiting, done.indices) == 0), T.nrows)
    return checked(A, d, s, waiting, σ)


def edges_of_paths(A: Matrix, d: Any, s: Semiring) -> Matrix:
    """T = A⟨d_i + a_ij = d_j⟩, without self-loops and weights."""
    return select(select(A, tight(s), row=d, col=d), "offdiag").pattern()


def checked(A: Matrix, d: Any, s: Semiring, waiting: Any, σ: Any) -> Any:
    """The numbers σ; ValueError if vertices still wait, for each other, OverflowError if one has saturated."""
    left = nonzero(waiting > 0)
    if left.nnz:
        cycle = walk(cycle_within(edges_of_paths(A, d, s), left))
        raise ValueError(f"shortest paths have no number: a cycle adds nothing to their length: {cycle}")
    if σ.dtype == INT64 and reduce(σ, "max") == 2**63 - 1:
        raise OverflowError("a number of shortest paths does not fit int64: dtype='float64' takes any, and rounds")
    return σ


def cycle_within(T: Matrix, several: Any) -> list[int]:
    """A cycle of vertices each of which has a predecessor among them."""
    parent = full(all_vertices(T), -1, all_vertices(T).dtype)
    scatter(parent, vxm(several, T, MinFirst, mask=ones(several, bool)))
    return cycle_among(parent) or []


def from_each(
    A: Matrix,
    source: int | None,
    sources: Vertices | None,
    semiring: Semiring | str,
    name: str,
    dtypes: tuple[Any, ...],
    found: Callable[[Matrix, Any, int, Semiring], Any],
) -> Any:
    """Finds (distances, what is found from them, …) from a source, or with a row for each of several."""
    s = find_semiring(semiring)
    if (s.add, s.mul) not in ((MinPlus.add, MinPlus.mul), (MaxPlus.add, MaxPlus.mul)):
        raise ValueError(f"{name} is for min_plus and max_plus, not for {s.name}: part of a best path may not be best")
    check_matrix("A", A)
    A = A if A.dtype != bool else typed_matrix(A, s, INT32)
    starts = starting_points(A, source, sources)
    if sources is None:
        d = sssp(A, starts[0], s)
        return d, *found(A, d, starts[0], s)
    D = sssp(A, None, s, sources=starts)
    rows = empty_rows(A, len(starts), name, *dtypes)
    for start, d, *into in zip(starts, D, *rows, strict=True):
        fill(into, found(A, d, start, s))
    return D, *rows
