"""Δ-stepping: vertices in buckets of distances, light edges within a bucket, heavy edges once it is empty.

A = L + H: the light edges, of weight at most Δ, and the heavy ones. The bucket starts at the smallest unsettled
distance μ and holds what is unsettled up to μ + Δ:

    μ = ⊕ q          f = q⟨q ≤ μ + Δ⟩          r = ∅
    until f is empty:
        r = r ⊕ f                              all that was ever in the bucket
        t = fL       t = t⟨t < d⟩               light edges may lead back into the bucket
        d = d ⊕ t    f = t⟨t ≤ μ + Δ⟩
    t = rH           d = d ⊕ t⟨t < d⟩           heavy ones cannot

q holds the distances of unsettled vertices: those improved and not yet in r. A Δ below every weight makes it Dijkstra's
order, one above every distance Bellman-Ford's rounds. Every bucket settles a vertex at μ, so any Δ ends, also one that
μ absorbs, or with which μ + Δ stops at the end of the dtype's range.

[1] U. Meyer, P. Sanders, Δ-stepping: a parallelizable shortest path algorithm, Journal of Algorithms 49, 2003.
[2] U. Sridhar, M. Blanco, R. Mayuranath, D. G. Spampinato, T. M. Low, S. McMillan, Delta-stepping SSSP: from vertices
    and edges to GraphBLAS implementations, GrAPL 2019.
"""

from __future__ import annotations

from itertools import count
from typing import Any, Never, Unpack

from formats import Matrix, SparseVector
from formats.matrix.facts import Fact
from semiring import MinPlus, Semiring, better, ewise_add, no_worse, reduce, select, vxm
from semiring.vectors import densified, is_empty, present, scatter, unit

from ..shared.bucket_width import bucket_width, check_delta
from ..shared.signatures import Distance, Paths, Rule, Shared
from ..shared.single_source import SourceToAll, Until, paths
from ..shared.trace import trace_round

SPLIT: Fact[tuple[Any, Matrix, Matrix]] = Fact("a width, and the light and heavy edges that it makes")


@SourceToAll[Distance | Rule | None, Never]
def delta_stepping(
    A: Matrix,
    source: int | None = None,
    semiring: Semiring | str = MinPlus,
    *,
    delta: Distance | Rule | None = None,
    **query: Unpack[Shared],
) -> Paths:
    """Shortest paths from a source with non-negative weights, a bucket of distances at a time.

    Args:
        A: (n, n), A[u, v] = weight of the edge u -> v, non-negative.
        source: the vertex to start from, 0 <= source < n.
        semiring: min-plus.
        delta: the width of a bucket, a positive number, or a rule for it: "median" or "mean" of the weights,
            "max/degree", the largest weight over the largest degree, or None for what suits the graph.

    Raises:
        OverflowError: a finite distance does not fit the dtype.
        ValueError: the matrix is not square, the source is no vertex, a weight is negative, or the
            semiring is not min-plus.
        TypeError: the semiring is not defined on A's dtype, or both or neither of source and sources are given.

    Example:
        >>> from formats import from_edges
        >>> A = from_edges([0, 0, 1], [1, 2, 2], [5.0, 9.0, 3.0])
        >>> delta_stepping(A, sources=[0, 1], delta=4)
        array([[ 0.,  5.,  8.],
               [inf,  0.,  3.]])

    Source: Meyer and Sanders 2003 [1].
    """
    check_delta(delta)
    return paths(delta_stepping, A, source, semiring, delta=delta, **query)


delta_stepping.takes = (MinPlus,)


@delta_stepping.equations
def distances(A: Matrix, source: int, s: Semiring, until: Until, *, delta: Any = None) -> Any:
    """The distances of one source."""
    Δ = bucket_width(A, delta)
    L, H = split_at(A, Δ)
    d = densified(unit(A, source, s), s)  # d = q = e_s
    q = d.copy()
    for bucket in count():
        μ = reduce(q, s)  # μ = ⊕ q
        if until.passed(d, μ):
            return d
        top = until.capped(d, s.product(μ, Δ))
        f = present(select(q, no_worse(s), top, semiring=s), s)  # f = q⟨q ≤ μ + Δ⟩
        r = f
        while not is_empty(f):
            t = improve(d, vxm(f, L, s), s)  # t = fL⟨fL < d⟩
            trace_round(f, minimum=μ, bucket=bucket)
            f = select(t, no_worse(s), top)  # f = t⟨t ≤ μ + Δ⟩
            r = ewise_add(r, f, s)  # r = r ⊕ f
            ewise_add(q, t, s, out=q)
        scatter(q, r, s.zero(q.dtype))
        ewise_add(q, improve(d, vxm(r, H, s), s), s, out=q)  # t = rH⟨rH < d⟩


def improve(d: Any, t: SparseVector, s: Semiring) -> SparseVector:
    """t⟨t < d⟩, which becomes part of d: d = d ⊕ t."""
    improved = select(t, better(s), d)
    ewise_add(d, improved, s, out=d)
    return improved


def split_at(A: Matrix, Δ: Any) -> tuple[Matrix, Matrix]:
    """Splits A into (light edges, heavy edges), kept with it for the next source; of several Δ, those of the last."""
    kept = A.take(SPLIT)
    L, H = kept[1:] if kept is not None and kept[0] == Δ else (select(A, "<=", Δ), select(A, ">", Δ))
    A.keep(SPLIT, lambda: (Δ, L, H))
    return L, H
