"""All pairs: the distance from every vertex to every other, by blocks of a dense matrix or by searches.

    D = A ⊕ I, and then for each block K of the vertices:

    D_KK = D_KK*                     the closure: paths within the block                     [phase 1]
    D_K: = D_KK D_K:,   D_:K = D_:K D_KK    paths that start in the block, and that end in it   [phase 2]
    D = D ⊕ D_:K D_K:                paths through the block                                 [phase 3]

That is Floyd and Warshall's recurrence with a block in the place of a vertex [1, 2, 3], and phase 3 nearly all of its
n³ steps, one product of dense matrices. A block's closure is the same with smaller blocks, and of the smallest by
squaring: (I ⊕ X)² ⊕ … until paths may have as many edges as there are vertices. Where the graph is sparse, a search
from each vertex costs less.

[1] R. W. Floyd, Algorithm 97: Shortest path, Comm. ACM 5(6), 1962.
[2] S. Warshall, A theorem on Boolean matrices, J. ACM 9(1), 1962.
[3] G. Venkataraman, S. Sahni, S. Mukhopadhyaya, A blocked all-pairs shortest-paths algorithm, J. Exp. Algorithmics 8,
    2003.
"""

from __future__ import annotations

from typing import Any, Literal, overload

from formats import Matrix
from formats.arrays import DenseRows, IntegerRows, all_of, equals, index_dtype
from semiring import MinPlus, Semiring, mxm, reduce, select
from semiring.algebra.semirings import find_semiring
from semiring.statistics import sums_fit
from semiring.vectors import block, empty_rows, fill, fill_diagonal
from semiring.verbs.checks import check_graph

from ..shared.parents import as_weights, gains_by_length
from ..shared.single_source import check_domain, check_range, fill_trees, order_matters, tree_of
from .bellman_ford import bellman_ford
from .sssp import sssp

SMALLEST = {"cpu": 64, "cuda": 1024}
"""Vertices of a block whose closure is found by squaring: on a GPU a product takes longer to launch than to compute."""
BLOCKS = 16
"""Blocks that a larger matrix is cut into."""
MANY_A_ROW = 20
"""Entries a row from which blocks cost less on the CPU, up to some thousand vertices."""
STEPS_AN_ENTRY = {"cpu": 90, "cuda": 300}
"""Steps of the recurrence in the time in which a search looks at an entry: on a GPU an estimate, as is the next."""
ALWAYS_ON_GPU = 45_000
"""Vertices up to which blocks cost less than as many launches of a search."""

Method = Literal["auto", "blocks", "searches"]


@overload
def all_pairs(
    A: Matrix, semiring: Semiring | str = MinPlus, *, return_parents: Literal[False] = False, method: Method = "auto"
) -> DenseRows: ...
@overload
def all_pairs(
    A: Matrix, semiring: Semiring | str = MinPlus, *, return_parents: Literal[True], method: Method = "auto"
) -> tuple[DenseRows, IntegerRows]: ...
@overload
def all_pairs(
    A: Matrix, semiring: Semiring | str = MinPlus, *, return_parents: bool, method: Method = "auto"
) -> DenseRows | tuple[DenseRows, IntegerRows]: ...
def all_pairs(
    A: Matrix, semiring: Semiring | str = MinPlus, *, return_parents: bool = False, method: Method = "auto"
) -> DenseRows | tuple[DenseRows, IntegerRows]:
    """Shortest paths from every vertex: row u is what `sssp` gives from u.

    Distances of floats are sums in another order than those of `sssp`, so that their last digits may differ.

    Args:
        A: (n, n), A[u, v] = weight of the edge u -> v, of any sign.
        semiring: what a path's length is and which is better; any with a unit and an order, or its name.
        return_parents: also return the shortest-path trees.
        method: "blocks" of a dense matrix, "searches" from each vertex, or "auto": what costs less.

    Returns:
        (n, n) distances of A.dtype on A's device, with the semiring's zero (inf, INT_MAX) where no path leads. With
        `return_parents` also (n, n) integers: row u has each vertex's parent in the tree of u, -1 for none.

    Raises:
        NegativeCycle: a cycle improves paths for ever; the error has it.
        OverflowError: a finite distance does not fit the dtype.
        OutOfHostMemory, OutOfDeviceMemory: n × n numbers do not fit.
        ValueError: the matrix is not square, there is no such method, or the semiring has no unit or no order.
        TypeError: the semiring is not defined on A's dtype.

    Example:
        >>> from formats import from_edges
        >>> D, parents = all_pairs(from_edges([0, 0, 1], [1, 2, 2], [5.0, 9.0, -3.0]), return_parents=True)
        >>> D.tolist(), parents.tolist()
        ([[0.0, 5.0, 2.0], [inf, 0.0, -3.0], [inf, inf, 0.0]], [[-1, 0, 1], [-1, -1, 1], [-1, -1, -1]])

    Source: Venkataraman, Sahni, Mukhopadhyaya 2003 [3].
    """
    if method not in ("auto", "blocks", "searches"):
        raise ValueError(f"method must be 'auto', 'blocks' or 'searches', got {method!r}")
    s = find_semiring(semiring)
    check_graph(A)
    A = as_weights(A, s)
    check_domain(A, s)
    s.unit(A.dtype)
    by_blocks = method == "blocks" or (method == "auto" and blocks_cost_less(A))
    check_memory(A, by_blocks, return_parents)
    if by_blocks and not order_matters(s, A.dtype):
        found = of_blocks(A, s, return_parents)
        if found is not None:
            return found
    rows: Any = sssp(A, semiring=s, sources=range(A.nrows), return_parents=return_parents)
    return rows


def blocks_cost_less(A: Matrix) -> bool:
    """True if n³ steps on blocks should take less time than n searches."""
    n, backend = A.nrows, A.place.backend
    if backend == "cuda":
        return n <= ALWAYS_ON_GPU or A.nnz * STEPS_AN_ENTRY[backend] >= n * n
    return A.nnz >= n * max(MANY_A_ROW, n / STEPS_AN_ENTRY[backend])


def of_blocks(A: Matrix, s: Semiring, return_parents: bool) -> Any:
    """The answer from a dense matrix; None if the parents that were asked for do not follow from it."""
    D = A.to_dense(s.zero(A.dtype))
    close(D, s, SMALLEST[A.place.backend])
    check_settled(A, D, s)
    if not return_parents:
        return D
    parents = trees(A, D, s)
    return None if parents is None else (D, parents)


def close(D: Any, s: Semiring, smallest: int) -> None:
    """D = D*, the best of paths of any number of edges, in place; `smallest`: vertices up to which by squaring."""
    n, one = len(D), s.unit(D.dtype)
    fill_diagonal(D, s.add(D.diagonal(), one))  # D = A ⊕ I
    if n <= smallest:
        for _ in range((n - 1).bit_length()):
            T: Any = mxm(D, D, s)  # T = D D: paths of twice as many edges
            if all_of(equals(T, D).ravel()):
                return  # D = D D is D*
            D[...] = T
        return
    size = max(smallest, -(-n // BLOCKS // smallest) * smallest)
    everyone = range(n)
    for start in range(0, n, size):
        K = range(start, min(start + size, n))
        within, leaving, arriving = block(D, K, K), block(D, K, everyone), block(D, everyone, K)
        close(within, s, smallest)  # D_KK = D_KK*
        mxm(within, leaving, s, out=leaving)  # D_K: = D_KK D_K:
        mxm(arriving, within, s, out=arriving)  # D_:K = D_:K D_KK
        mxm(arriving, leaving, s, accum=s.add, out=D)  # D = D ⊕ D_:K D_K:


def check_memory(A: Matrix, by_blocks: bool, return_parents: bool) -> None:
    """OutOfHostMemory or OutOfDeviceMemory, with the figures, unless the answer and what it is made of fit."""
    n, number, vertex = A.nrows, A.dtype.itemsize, index_dtype(A.nrows).itemsize
    each = (3 * number if by_blocks else number) + (vertex + number * by_blocks if return_parents else 0)
    A.place.check_room(f"all_pairs of {n:,} vertices, {n:,} × {n:,} of them,", n * n * each)


def check_settled(A: Matrix, D: Any, s: Semiring) -> None:
    """NegativeCycle if a path from a vertex to itself improves on the empty one; OverflowError if a sum saturated."""
    one = s.unit(D.dtype)
    gained = s.better(D.diagonal(), one)
    if gained.any():
        bellman_ford(A, int(gained.argmax()), s)  # raises it, but where only rounding gains
        fill_diagonal(D, one)
    if not sums_fit(A, D, s):
        for d in D:
            check_range(A, d, s)


def trees(A: Matrix, D: Any, s: Semiring) -> Any:
    """The parents in the tree of each row; None where rounding leaves edges of shortest paths unrecognised.

    Where every edge makes a path longer, a predecessor on a shortest path is always nearer than the vertex, so the
    smallest of them is the parent: the argument of DA. Elsewhere the rule of `shortest_path_tree` has more to say.
    """
    one, rounded = s.unit(D.dtype), D.dtype.kind == "f" and s.mul.saturating is not None
    if s.adds_weights and s.better(one, reduce(A, s.add)):
        W: Any = select(A, "offdiag")
        T, parents = mxm(D, W, s, return_argument=True)
        fill_diagonal(T, one)
        fill_diagonal(parents, -1)
        return parents if all_of(equals(T, D).ravel()) else None
    if rounded:
        return None
    [parents] = empty_rows(A, A.nrows, "all_pairs", index_dtype(A.nrows))
    if gains_by_length(A, s):
        for u, (d, parent) in enumerate(zip(D, parents, strict=True)):
            fill([parent], [tree_of(A, d, u, s)])
    else:
        fill_trees(A, list(range(A.nrows)), (D, parents), s)
    return parents
