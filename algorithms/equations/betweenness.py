"""Betweenness centrality: how many of the shortest paths between others lead through a vertex.

From a source s with σ_v shortest paths to each vertex, the shares of paths that lead on through v are [1]

    σ_v = Σ σ_u        δ_v = σ_v Σ (1 + δ_w) / σ_w        over edges u -> v, and v -> w, of shortest paths

Unweighted, for a row of L, σ and δ for each of many sources, with ⟨k⟩ the places where L = k:

    σ⟨k⟩ = σ⟨k-1⟩ A       for k = 1, 2, …          δ⟨k-1⟩ = σ⟨k-1⟩ ∘ ((1 + δ)⟨k⟩ ⊘ σ) Aᵀ       backwards

Weighted, with T = A⟨d_u + a_uv = d_v⟩ the edges of shortest paths from one source: frontier after frontier of vertices
all of whose predecessors in T are done, and backwards.

Where rounding absorbs a weight, d_u + a_uv = d_u, both directions of an edge are in T. So of vertices at one distance
those come first, in round h = 0, that a nearer one leads to; then those that these lead to, and so on, as in a tree:

    T = A⟨d_u + a_uv = d_v, d_u < d_v or h_u + 1 = h_v⟩

In a graph with one path between any two vertices T is that path, however much the weights differ.

[1] U. Brandes, A faster algorithm for betweenness centrality, J. Math. Sociology 25(2), 2001.
[2] U. Brandes, C. Pich, Centrality estimation in large networks, Int. J. Bifurcation and Chaos 17(7), 2007.
[3] A. Buluç, J. Gilbert, The Combinatorial BLAS, Int. J. High Perf. Comp. Appl. 25(4), 2011 (in batches).
"""

from __future__ import annotations

import math
from typing import Any

from formats import Matrix
from formats.arrays import DenseVector, all_of
from formats.storage.orientation import is_symmetric
from semiring import MinFirst, MinPlus, assign, ewise_add, fusible, mxm, nearer, reduce, select, tight, vxm
from semiring.algebra.semirings import find_semiring
from semiring.statistics import smallest
from semiring.vectors import (
    ROUNDING,
    all_vertices,
    either,
    full,
    gather,
    indices,
    masked,
    nonzero,
    ones,
    present,
    scatter,
    scatter_add,
    scatter_sub,
    shares,
    unit,
    unweighted,
)
from semiring.verbs.fusible import MemoryEstimate

from ..shared.parents import alike
from ..shared.signatures import Vertices
from ..shared.trace import trace_round
from .distances_in_blocks import blocks_of_distances, has_weights, listed

PlusFirst, PlusPair = find_semiring("plus_first"), find_semiring("plus_pair")


@fusible
def betweenness_centrality(
    A: Matrix,
    *,
    weighted: bool = False,
    normalized: bool = True,
    endpoints: bool = False,
    sources: Vertices | None = None,
    fused: bool = True,
) -> DenseVector:
    """The share of shortest paths between other vertices that lead through each vertex.

    A symmetric matrix is an undirected graph, in which a path and its reverse are one.

    Args:
        A: (n, n), A[u, v] is the edge u -> v.
        weighted: True measures paths by A's values, which must be positive, False by the number of edges. Sums of
            floats are compared bit by bit; an infinite weight is no edge; what rounding absorbs counts as a hop.
        normalized: divide by the number of pairs of other vertices.
        endpoints: let a path count for its ends, too.
        sources: (k,) vertices from which paths are looked at, which estimates the centrality; None for all.
        fused: False runs the equations as they are written.

    Returns:
        (n,) float64 on A's device. From a single source, the source's own is unknown, and NaN.

    Raises:
        ValueError: the matrix is not square, a weight is not positive, or a source lies outside or is given twice.
        OverflowError: a distance does not fit A.dtype, or a number of shortest paths float64.

    Example:
        >>> from formats import from_edges
        >>> A = from_edges([0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2])
        >>> betweenness_centrality(A, normalized=False).tolist()
        [0.0, 2.0, 2.0, 0.0]

    Source: Brandes 2001 [1]; from some sources: Brandes, Pich 2007 [2].
    """
    starts = listed(A, sources)
    if len(set(starts)) < len(starts):
        raise ValueError("sources must be different vertices, got one twice")
    weighted = has_weights(A, weighted)
    if weighted and not smallest(A, MinPlus) > 0 and not reduce(A, "min") > 0:  # none but infinite ones are no edges
        raise ValueError(f"betweenness_centrality needs positive weights, got {smallest(A, MinPlus)}")
    total = finite(dependencies(A, starts, weighted, endpoints))
    two_ways = not normalized and is_symmetric(A, pattern=not weighted)
    return scaled(total, starts, normalized, endpoints, 2 if two_ways else 1)


betweenness_centrality.memory = MemoryEstimate(fused=(80, 24), equations=(64, 48))


def finite(x: Any) -> Any:
    """σ, or sums that are made of it; OverflowError if there are too many paths."""
    if not all_of((x < math.inf).ravel()):
        raise OverflowError("the number of shortest paths to a vertex does not fit float64")
    return x


def scaled(total: Any, sources: list[int], normalized: bool, endpoints: bool, ways: int) -> Any:
    """The sums over all sources, estimated from some, and divided by what the caller wants.

    ways: 2 if both directions of a path count as one.
    """
    n, k = len(total), len(sources)
    ends = n if endpoints else n - 1
    if ends < 2 or k == 0:
        return total

    def scale(seen: int) -> float:
        """By how many sources a vertex was looked at from."""
        return math.nan if seen == 0 else 1 / (seen * (ends - 1)) if normalized else ends / (seen * ways)

    if k == n or endpoints:
        return total * scale(ends if k == n else k)
    others, own = full(total, True, bool), total * scale(k - 1)
    assign(others, False, sources)
    scatter(own, others, total * scale(k))
    return own


@betweenness_centrality.equations
def dependencies(A: Matrix, sources: list[int], weighted: bool, endpoints: bool) -> Any:
    """Σ δ over the sources, but for each source its own; with `endpoints` also the paths that end in a vertex."""
    total = full(all_vertices(A), 0, "float64")
    if weighted:
        for s in sources:
            total += from_one(A, s, endpoints)
    else:
        for _, L, led in blocks_of_distances(A, sources, False):
            total += from_several(unweighted(A), L, led, endpoints)
    return total


def from_several(P: Matrix, L: Any, led: Any, endpoints: bool) -> Any:
    """Σ δ over sources with a row of levels each."""
    depth = int(L.max())
    σ = (L == 0).astype("float64")
    for k in range(1, depth + 1):
        σ += either(L == k, mxm(either(L == k - 1, σ, 0.0), P, PlusFirst), 0)  # σ⟨k⟩ = σ⟨k-1⟩ A
    share, δ = shares(finite(σ)), 0.0 * σ
    for k in range(depth, 0, -1):
        δ += (L == k - 1) * σ * mxm((L == k) * (1 + δ) * share, P.T, PlusFirst)  # … ((1 + δ)⟨k⟩ ⊘ σ) Aᵀ
    if endpoints:
        δ = (L > 0) * (δ + 1) + (L == 0) * (led.sum(axis=1, keepdims=True) - 1.0)
    return ((led & (endpoints | (L > 0))) * δ).sum(axis=0)


def levels_and_plateaus(A: Matrix, d: Any) -> tuple[Matrix, Matrix]:
    """T⟨d_u < d_v⟩ and T⟨d_u = d_v⟩: the edges of shortest paths that add to distances, and those that do not."""
    T = select(A, tight(MinPlus), row=present(d, MinPlus), col=d)
    return select(T, nearer(MinPlus), row=d, col=d).pattern(), select(T, alike, row=d, col=d).pattern()


def exact_below(A: Matrix) -> float:
    """Distances below which adding a weight always makes a larger one."""
    return smallest(A, MinPlus) / ROUNDING[A.dtype.name] if A.dtype.kind == "f" else math.inf


def rounds_among(N: Matrix, P: Matrix, d: Any, s: int) -> Any:
    """h: how many edges of P lead to a vertex from one that an edge of N leads to, or from the source s."""
    h, k = full(d, -1, "int32"), 0
    f = vxm(ones(present(d, MinPlus)), N, PlusPair)
    scatter(h, unit(P, s, MinPlus), 0)
    scatter(h, f, 0)
    f = nonzero(h == 0)
    while f.nnz:
        k, f = k + 1, vxm(f, P, MinFirst, mask=h >= 0, complement=True)
        scatter(h, f, k)
    return h


def from_one(A: Matrix, s: int, endpoints: bool) -> Any:
    """δ of one source, by distances."""
    [(_, [d], [led])] = blocks_of_distances(A, [s], True)
    T, P = levels_and_plateaus(A, d)
    if P.nnz:
        h = rounds_among(T, P, d, s)
        T = ewise_add(T, select(P.astype("int32"), tight(MinPlus), row=h, col=h).pattern(), "lor")  # h_u + 1 = h_v
    waiting = vxm(ones(nonzero(led)), T, PlusPair).to_dense(0)
    f, order = indices(unit(A, s, MinPlus).indices, A.nrows), []
    σ, sums, δ = (full(d, 0, "float64") for _ in range(3))
    scatter(σ, f, 1)
    while f.nnz:
        order.append(f)
        scatter_add(σ, vxm(masked(σ, f), T, PlusFirst))  # σ_v = Σ σ_u
        fewer = vxm(ones(f), T, PlusPair)
        scatter_sub(waiting, fewer)
        trace_round(f, matrix=T)
        f = indices(gather(fewer.indices, gather(waiting, fewer.indices) == 0), A.nrows)
    share = shares(finite(σ))
    for f in reversed(order):
        scatter(δ, f, gather(σ * sums, f.indices))  # δ_v = σ_v Σ …
        scatter_add(sums, vxm(masked((1 + δ) * share, f), T.T, PlusFirst))  # Σ (1 + δ_w) / σ_w
    scatter(δ, order.pop(0), led.sum() - 1 if endpoints else 0)
    return δ + (led & (d > 0)) if endpoints else δ
