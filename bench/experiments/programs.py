"""Programs in verbs, as users write them: `equations` times each as it is written and as a whole.

None of them is fitted to what runs it. Each is a plain function, without a decorator, of matrices and numbers.

[1] M. Luby, A simple parallel algorithm for the maximal independent set problem, SIAM J. Computing 15(4), 1986.
[2] S. Orzan, On distributed verification and verified distribution, 2004 (strong components by colours).
[3] J. Cohen, Trusses: cohesive subgraphs for social network analysis, 2008.
"""

from __future__ import annotations

from typing import Any

from formats import Matrix
from semiring import (
    MaxMin,
    MinFirst,
    MinPlus,
    PlusTimes,
    Semiring,
    better,
    differs,
    ewise_add,
    ewise_mult,
    mxm,
    mxv,
    no_worse,
    reduce,
    select,
    vxm,
)
from semiring.vectors import (
    all_vertices,
    degrees,
    densified,
    either,
    element,
    full,
    gather,
    hashed,
    indices,
    is_empty,
    masked,
    membership,
    nonzero,
    nvals,
    one_hot,
    ones,
    present,
    scatter,
    scatter_add,
    scatter_sub,
    unit,
)

# --- paths ------------------------------------------------------------------------------------------------------------


def distances(A: Matrix, source: int, s: Semiring = MinPlus) -> Any:
    """The least d with d = e_s ⊕ dA, as the README has it."""
    f = unit(A, source, s)
    d = densified(f, s)  # d = f = e_s
    while not is_empty(f):
        t = vxm(f, A, s)  # t = f A
        f = select(t, better(s), d)  # f' = t⟨t ⊕ d ≠ d⟩
        ewise_add(d, f, s, out=d)  # d = d ⊕ f'
    return d


def bucketed(L: Matrix, H: Matrix, source: int, width: Any) -> Any:
    """The distances by buckets of a width: light edges L within a bucket, heavy ones H when it is empty."""
    s = MinPlus
    f = unit(L, source, s)
    d = densified(f, s)
    q = d.copy()
    never = s.zero(d.dtype)
    while True:
        nearest = reduce(q, s)
        if nearest == never:
            break
        end = nearest + width
        f = present(select(q, no_worse(s), end, semiring=s), s)  # f = q⟨q ≤ μ + Δ⟩
        r = f
        while not is_empty(f):
            t = select(vxm(f, L, s), better(s), d)
            ewise_add(d, t, s, out=d)
            f = select(t, no_worse(s), end)
            r = ewise_add(r, f, s)
            ewise_add(q, t, s, out=q)
        scatter(q, r, never)
        t = select(vxm(r, H, s), better(s), d)
        ewise_add(d, t, s, out=d)
        ewise_add(q, t, s, out=q)
    return d


def widest_within(A: Matrix, source: int, hops: int) -> Any:
    """The width of the widest path of at most so many edges to each vertex."""
    f = unit(A, source, MaxMin)
    w = densified(f, MaxMin)
    for _ in range(hops):
        if is_empty(f):
            break
        f = select(vxm(f, A, MaxMin), better(MaxMin), w)
        ewise_add(w, f, MaxMin, out=w)
    return w


def towards(A: Matrix, source: int, target: int, h: Any) -> Any:
    """A*: the distance of one target, where h bounds from below how far it is from each vertex."""
    f = unit(A, source, MinPlus)
    d = densified(f, MinPlus)
    while not is_empty(f):
        t = vxm(f, A, MinPlus)
        f = select(t, "<", d)
        ewise_add(d, f, "min", out=d)
        f = select(f, "<", element(d, target) - h)  # others are on no shorter way to the target
    return element(d, target)


# --- searches ---------------------------------------------------------------------------------------------------------


def levels(A: Matrix, source: int) -> Any:
    """How many edges away each vertex is, and -1 where the source does not lead."""
    level = full(all_vertices(A), -1, "int32")
    visited = full(level, False, bool)
    f, k = one_hot(A, source), 0
    while not is_empty(f):
        scatter(visited, f, True)
        scatter(level, f, k)
        f = vxm(f, A, "any_pair", mask=visited, complement=True)  # f' = fA⟨¬visited⟩
        k += 1
    return level


def labels(A: Matrix) -> Any:
    """The smallest vertex that leads to each vertex: of a symmetric A, the connected components."""
    label = all_vertices(A)
    f = present(label, MinFirst)
    while not is_empty(f):
        t = vxm(f, A, MinFirst)
        f = select(t, better(MinFirst), label)
        ewise_add(label, f, MinFirst, out=label)
    return label


def is_bipartite(A: Matrix) -> bool:
    """True if two colours are enough for a symmetric A; every component is searched from its smallest vertex."""
    side = full(all_vertices(A), -1, "int32")
    f, k = ones(nonzero(labels(A) == all_vertices(A)), bool), 0
    while f.nnz:
        scatter(side, f, k)
        f = vxm(f, A, "any_pair", mask=side >= 0, complement=True)
        k = 1 - k
    beside = [nvals(vxm(ones(nonzero(side == k), bool), A, "any_pair", mask=side == k)) for k in (0, 1)]
    return beside == [0, 0]


def strong_components(A: Matrix) -> Any:
    """The smallest vertex in each vertex's strong component: first trimmed, then by colours [2]."""
    vertices = all_vertices(A)
    label, alive = vertices.copy(), trimmed(A)
    while alive.any():
        colour = vertices.copy()
        f = masked(colour, alive)
        while f.nnz:  # the smallest vertex that leads to each
            t = vxm(f, A, "min_first", mask=alive)
            f = select(t, "<", colour)
            ewise_add(colour, f, "min", out=colour)
        f = masked(colour, alive & (colour == vertices))
        while f.nnz:  # and back to it
            scatter(label, f)
            scatter(alive, f, False)
            t = vxm(f, A.T, "max_first", mask=alive)
            f = select(t, "==", colour)
    return label


def trimmed(A: Matrix) -> Any:
    """True for the vertices that are left when those without an edge to, or from, another one are taken off."""
    leads, led_to = degrees(A).copy(), degrees(A.T).copy()
    alive = full(leads, True, bool)
    f = nonzero((leads == 0) | (led_to == 0))
    while f.nnz:
        scatter(alive, f, False)
        scatter_sub(led_to, vxm(ones(f), A, "plus_pair"))
        scatter_sub(leads, vxm(ones(f), A.T, "plus_pair"))
        f = nonzero(alive & ((leads == 0) | (led_to == 0)))
    return alive


# --- structure --------------------------------------------------------------------------------------------------------


def cores(A: Matrix) -> Any:
    """The core number of each vertex of a symmetric A without self-loops, by peeling."""
    d = degrees(A).copy()
    core, alive, k = full(d, 0, d.dtype), full(d, True, bool), 0
    while nvals(alive):
        k = max(k, int(reduce(masked(d, alive), "min")))
        f = nonzero(alive & (d <= k))
        while f.nnz:
            scatter(core, f, k)
            scatter(alive, f, False)
            fewer = vxm(ones(f), A, "plus_pair", mask=alive)
            scatter_sub(d, fewer)  # d = d - f A
            f = indices(gather(fewer.indices, gather(d, fewer.indices) <= k), len(d))
    return core


def independent(A: Matrix, seed: int = 0) -> Any:
    """Luby's maximal independent set [1] of a symmetric A without self-loops: a vector of Booleans."""
    vertices = all_vertices(A)
    chosen, alive = full(vertices, False, bool), full(vertices, True, bool)
    while alive.any():
        priority = hashed(vertices, seed)
        rival = densified(vxm(masked(priority, alive), A, "max_first"), MaxMin)
        best = alive & (priority > rival)
        chosen |= best
        alive &= ~best
        scatter(alive, vxm(ones(nonzero(best), bool), A, "any_pair"), False)
        seed += 1
    return chosen


def truss(A: Matrix, k: int) -> Any:
    """The k-truss [3] of a symmetric A: the edges that are in k - 2 of its triangles or more."""
    S = A.pattern().astype("int32")
    while True:
        T = select(mxm(S, S, "plus_pair", mask=S), ">=", k - 2)  # c_uv = triangles on u - v
        if T.nnz == S.nnz:
            return T
        S = T.pattern().astype("int32")


def forest(K: Matrix, u: Any, v: Any) -> Any:
    """Borůvka's four steps: which edges u[e] - v[e] the lightest forest has; K[u[e], v[e]] is e, edges by weight."""
    chosen = full(u, False, bool)
    tree = all_vertices(K)
    one = full(tree, 1, K.dtype)
    while K.nnz:
        near = ewise_add(mxv(K, one, "min_first"), vxm(one, K, "min_second"), "min")  # the lightest of each vertex
        b = present(vxm(near, membership(tree, K.nrows), MinFirst), MinFirst)  # ... and of each tree
        e = b.values
        chosen[e] = True
        p = all_vertices(K)
        p[b.indices] = tree[u[e]] + tree[v[e]] - b.indices
        t = all_vertices(K)
        p = either((p[p] == t) & (t < p), t, p)  # of two that chose each other the smaller is a root
        while True:
            grand = p[p]
            if (grand == p).all():
                break
            p = grand
        tree = p[tree]
        K = select(K, differs, row=tree, col=tree)
    return chosen


# --- centralities -----------------------------------------------------------------------------------------------------


def dependencies(A: Matrix, source: int) -> Any:
    """The shares of shortest paths from a source that lead through each vertex, and on: Brandes' sums."""
    level = full(all_vertices(A), -1, "int32")
    paths, δ = full(level, 0, "float64"), full(level, 0, "float64")
    f, k = ones(one_hot(A, source), "float64"), 0
    while f.nnz:
        scatter(level, f, k)
        scatter(paths, f)
        f = vxm(f, A, "plus_first", mask=level >= 0, complement=True)  # σ⟨k⟩ = σ⟨k-1⟩ A
        k += 1
    for j in range(k - 1, 0, -1):
        share = masked((1 + δ) / either(paths > 0, paths, 1.0), level == j)
        t = vxm(share, A.T, "plus_first", mask=level == j - 1)
        scatter_add(δ, ewise_mult(t, paths, "times"))  # δ⟨k-1⟩ = σ⟨k-1⟩ ∘ ((1 + δ)⟨k⟩ ⊘ σ) Aᵀ
    δ[source] = 0
    return δ


def ranks(A: Matrix, rounds: int = 20, alpha: float = 0.85) -> Any:
    """PageRank after some rounds, by the weights of links."""
    n = A.nrows
    x = full(all_vertices(A), 1 / n, "float64")
    leaving = mxv(A, full(x, 1, "float64"), PlusTimes)
    ends = leaving == 0
    leaving = either(ends, 1.0, leaving)
    for _ in range(rounds):
        y = vxm(x / leaving, A, PlusTimes)
        x = alpha * (y + x[ends].sum() / n) + (1 - alpha) / n
    return x


def hubs_and_authorities(A: Matrix, rounds: int = 20) -> Any:
    """HITS after some rounds."""
    h = full(all_vertices(A), 1.0, "float64")
    a = h
    for _ in range(rounds):
        a = vxm(h, A, "plus_times")
        a /= a.max()
        h = mxv(A, a, "plus_times")
        h /= h.max()
    return h, a


def katz(A: Matrix, alpha: float, rounds: int = 20) -> Any:
    """Katz's centrality after some rounds: walks that lead to each vertex, shorter by α for every edge."""
    x = full(all_vertices(A), 1.0, "float64")
    for _ in range(rounds):
        x = alpha * vxm(x, A, "plus_times") + 1.0
    return x


def spread(W: Matrix, seeds: Any, rounds: int = 20) -> Any:
    """Label spreading: how much each vertex belongs to the seeds, where W says how much neighbours count.

    seeds: (n,) float64, 1 and -1 where it is known, 0 elsewhere.
    """
    total = mxv(W, full(seeds, 1, "float64"), "plus_times")
    total[total == 0] = 1
    x = seeds.copy()
    for _ in range(rounds):
        x = mxv(W, x, "plus_times") / total
        x = either(seeds != 0, seeds, x)
    return x
