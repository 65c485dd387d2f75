"""Programs in verbs, by name: those that the benchmarks time, and variations that another user might write.

Each is a plain function. `PROGRAMS` says what it is called with on a graph, and on which kinds of graphs it means
something. `tests/test_user_programs.py` compares each with another way to the same answer.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from bench.experiments import programs as timed
from formats import CSR, Matrix, SparseVector, from_edges
from semiring import (
    LorLand,
    MaxMin,
    MinMax,
    MinPlus,
    apply,
    assign,
    better,
    ewise_add,
    ewise_mult,
    mxv,
    reduce,
    select,
    vxm,
)
from semiring.vectors import (
    all_vertices,
    degrees,
    densified,
    either,
    first_entry,
    full,
    gather,
    hashed,
    indices,
    is_empty,
    masked,
    nonzero,
    nvals,
    one_hot,
    ones,
    scatter,
    scatter_sub,
    unit,
    unweighted,
)

# --- distances, by other hands ----------------------------------------------------------------------------------------


def other_names(graph: Matrix, start: int) -> Any:
    """Distances with other names, in another order, with keywords and the names of operators."""
    frontier = unit(graph, start, MinPlus)
    best = densified(frontier, MinPlus)
    while True:
        if frontier.nnz == 0:
            break
        candidates = vxm(frontier, graph, semiring="min_plus")
        improved = select(candidates, "<", other=best)
        frontier = improved
        best = ewise_add(best, improved, "min")
    return best


def counted(A: Matrix, source: int) -> Any:
    """Distances in at most n rounds, and how many there were."""
    x = unit(A, source, MinPlus)
    d = densified(x, MinPlus)
    rounds = 0
    for _ in range(A.nrows):
        if not x.nnz:
            break
        rounds += 1
        y = vxm(x, A, MinPlus)
        x = select(y, better(MinPlus), d)
        ewise_add(d, x, MinPlus, out=d)
    return d, rounds


def dense_rounds(A: Matrix, source: int) -> Any:
    """Distances by dense vectors alone, until nothing changes."""
    d = densified(unit(A, source, MinPlus), MinPlus)
    changed = True
    while changed:
        old = d.copy()
        vxm(old, A, MinPlus, accum="min", out=d)  # d = d ⊕ d A
        changed = bool((old != d).any())
    return d


def limited(A: Matrix, source: int, limit: Any) -> Any:
    """Distances up to a limit."""
    f = unit(A, source, MinPlus)
    d = densified(f, MinPlus)
    while not is_empty(f):
        f = select(vxm(f, A, MinPlus), better(MinPlus), d)
        f = select(f, "<=", limit)
        ewise_add(d, f, MinPlus, out=d)
    return d


def with_hops(A: Matrix, source: int) -> Any:
    """Distances, and in which round each was found."""
    f = unit(A, source, MinPlus)
    d = densified(f, MinPlus)
    hops = full(d, -1, "int32")
    for k in count():
        scatter(hops, f, k)
        t = vxm(f, A, MinPlus)
        f = select(t, better(MinPlus), d)
        if is_empty(f):
            return d, hops
        ewise_add(d, f, MinPlus, out=d)


def with_parents(A: Matrix, source: int) -> Any:
    """Distances, and the vertex before each, found in the round that improved it last."""
    f = unit(A, source, MinPlus)
    d = densified(f, MinPlus)
    parent = full(d, -1, "int32")
    while not is_empty(f):
        t, k = vxm(f, A, MinPlus, return_argument=True)
        f = select(t, better(MinPlus), d)
        ewise_add(d, f, MinPlus, out=d)
        scatter(parent, SparseVector.trusted(f.indices, k.to_dense(-1)[f.indices], f.size))
    return d, parent


def within_hops(A: Matrix, source: int, hops: int) -> Any:
    """The shortest walks of at most so many edges."""
    f = unit(A, source, MinPlus)
    d = densified(f, MinPlus)
    left = hops
    while left > 0 and not is_empty(f):
        t = vxm(f, A, MinPlus)
        f = select(t, better(MinPlus), d)
        ewise_add(d, f, MinPlus, out=d)
        left -= 1
    return d


def there_and_back(A: Matrix, source: int) -> Any:
    """The distances from a vertex and those to it, in one loop."""
    f = g = unit(A, source, MinPlus)
    to, back = densified(f, MinPlus), densified(g, MinPlus)
    while not (is_empty(f) and is_empty(g)):
        f, g = vxm(f, A, MinPlus), mxv(A, g, MinPlus)
        f, g = select(f, better(MinPlus), to), select(g, better(MinPlus), back)
        ewise_add(to, f, MinPlus, out=to)
        ewise_add(back, g, MinPlus, out=back)
    return to, back


def bottlenecks(A: Matrix, source: int) -> Any:
    """The smallest of the largest weights on a way: minimax paths."""
    f = unit(A, source, MinMax)
    d = densified(f, MinMax)
    while f.nnz > 0:
        f = select(vxm(f, A, MinMax), "<", d)
        ewise_add(d, f, MinMax, out=d)
    return d


def widest(A: Matrix, source: int) -> Any:
    """The widths of the widest paths, through A.T."""
    f = unit(A, source, MaxMin)
    w = densified(f, MaxMin)
    while not is_empty(f):
        t = mxv(A.T, f, MaxMin)
        f = select(t, better(MaxMin), w)
        w = ewise_add(w, f, MaxMin)
    return w


def nearest_source(K: Matrix, sources: Any) -> Any:
    """The distance of the nearest of some sources, and which it is: both in one integer, as K's weights are times n."""
    n = K.nrows
    f = SparseVector(sources, np.asarray(sources, np.int64), n)
    key = densified(f, MinPlus)
    while not is_empty(f):
        f = select(vxm(f, K, MinPlus), better(MinPlus), key)
        ewise_add(key, f, MinPlus, out=key)
    far = key == MinPlus.zero(key.dtype)
    return either(far, -1, key // n), either(far, -1, key % n)


def farthest(A: Matrix, source: int) -> Any:
    """How far the farthest vertex is that a search reaches, and the smallest such vertex."""
    visited = full(all_vertices(A), False, bool)
    f = last = one_hot(A, source)
    k = -1
    while f.nnz:
        scatter(visited, f, True)
        k += 1
        last = f
        f = vxm(f, A, LorLand, mask=visited, complement=True)
    return k, int(first_entry(last).indices[0])


def double_sweep(A: Matrix, source: int, sweeps: int = 4) -> int:
    """A lower bound of the diameter: from the farthest vertex to the one that is farthest from there, and so on."""
    longest, v = 0, source
    for _ in range(sweeps):
        k, v = farthest(A, v)
        longest = max(longest, k)
    return longest


# --- searches ---------------------------------------------------------------------------------------------------------


def reachable(A: Matrix, source: int) -> Any:
    """True where the source leads."""
    r = densified(one_hot(A, source), LorLand)
    while True:
        before = nvals(r)
        r = ewise_add(r, vxm(r, A, LorLand), LorLand)
        if nvals(r) == before:
            break
    return r


def cautious(A: Matrix, source: int, most: int) -> Any:
    """The levels of a search that ends at vertices of more than so many edges."""
    light = degrees(A) <= most
    level = full(light, -1, "int32")
    f, k = one_hot(A, source), 0
    while not is_empty(f):
        assign(level, k, mask=f)
        on = ewise_mult(f, light, "land")
        f = vxm(select(on, "==", True), A, "any_pair", mask=level >= 0, complement=True)
        k += 1
    return level


def meeting(A: Matrix, source: int, target: int) -> int:
    """How many edges apart two vertices are, by searches from both, the smaller frontier first; -1 if they are not."""
    ahead, behind = full(all_vertices(A), False, bool), full(all_vertices(A), False, bool)
    f, g = one_hot(A, source), one_hot(A, target)
    scatter(ahead, f, True)
    scatter(behind, g, True)
    k = 0
    while not (ahead & behind).any():
        if is_empty(f) or is_empty(g):
            return -1
        if f.nnz <= g.nnz:
            f = vxm(f, A, "any_pair", mask=ahead, complement=True)
            scatter(ahead, f, True)
        else:
            g = mxv(A, g, "any_pair", mask=behind, complement=True)
            scatter(behind, g, True)
        k += 1
    return k


def infection(A: Matrix, source: int, days: int = 10) -> Any:
    """How many are ill each day, where an illness lasts two days and leads along an edge by chance."""
    vertices = all_vertices(A)
    ill = full(vertices, 0, "int32")
    immune = full(vertices, False, bool)
    scatter(ill, one_hot(A, source), 2)
    totals = full(vertices, 0, "int64")
    for day in range(days):
        f = ones(nonzero(ill > 0), bool)
        if is_empty(f):
            break
        met = densified(vxm(f, A, "any_pair", mask=immune, complement=True), LorLand)
        caught = met & (ill == 0) & (hashed(vertices, day) % 3 == 0)
        immune |= ill == 1
        ill = either(caught, 2, np.maximum(ill - 1, 0))
        totals += ill > 0
    return ill, immune, totals


# --- structure --------------------------------------------------------------------------------------------------------


def layers(A: Matrix) -> Any:
    """Kahn's order: the length of the longest path to each vertex, and -1 for those on cycles or behind one."""
    waiting = degrees(A.T).copy()
    layer = full(waiting, -1, "int64")
    f, k = nonzero(waiting == 0), 0
    while f.nnz:
        scatter(layer, f, k)
        fewer = vxm(ones(f), A, "plus_pair")
        scatter_sub(waiting, fewer)
        f = indices(gather(fewer.indices, gather(waiting, fewer.indices) == 0), len(waiting))
        k += 1
    return layer


def hooking(A: Matrix) -> Any:
    """Connected components of a symmetric A: hook onto the smallest neighbour's root, and jump pointers."""
    f = all_vertices(A)
    while True:
        near = mxv(A, f, "min_second")
        g = np.minimum(f, near)
        hooks = g[g]
        hooks = np.minimum(hooks, g)
        if (hooks == f).all():
            return f
        f = hooks


def coloured(A: Matrix) -> Any:
    """Jones and Plassmann's colours of a symmetric A: an independent set by hashed priorities in each round."""
    vertices = all_vertices(A)
    priority = hashed(vertices, 7)
    colour = full(vertices, 0, "int32")
    k = 0
    while (colour == 0).any():
        k += 1
        waiting = colour == 0
        rival = vxm(masked(priority, waiting), A, "max_first", mask=waiting)
        lower = ewise_mult(rival, priority, ">")  # true where a neighbour goes first
        colour[waiting] = k
        assign(colour, 0, mask=select(lower, "==", True))
    return colour


def pruned(A: Matrix, k: int) -> Any:
    """True for the vertices of the k-core of a symmetric A without self-loops: others fall off, round by round."""
    alive = full(all_vertices(A), True, bool)
    while True:
        d = mxv(A, ones(nonzero(alive)), "plus_pair", mask=alive).to_dense(0)
        keep = alive & (d >= k)
        if nvals(keep) == nvals(alive):
            return alive
        alive = keep


def walks(A: Matrix, source: int, length: int) -> Any:
    """How many walks of so many edges lead to each vertex, modulo a prime."""
    x = full(all_vertices(A), 0, "int64")
    x[source] = 1
    for _ in range(length):
        x = vxm(x, A, "plus_first")
        x = apply(x, lambda v: v % 1_000_003)
    return x


def strongest_step(A: Matrix, rounds: int) -> Any:
    """Each vertex adopts the largest value of its neighbours, less one: a race of waves until all are still."""
    x = apply(degrees(A), "plus", right=0).astype("int64")
    for k in range(rounds):
        y = apply(vxm(x, A, "max_first"), "minus", right=1)
        z = np.maximum(x, y)
        total = int(reduce(z, "plus"))
        if total == int(reduce(x, "plus")):
            return x, k
        x = z
    return x, rounds


def settled_first(A: Matrix, source: int) -> Any:
    """Dijkstra's order in verbs: one vertex a round, the nearest that is not settled."""
    f = unit(A, source, MinPlus)
    d = densified(f, MinPlus)
    open_ = d != d.max() if A.nrows > 1 else d == d
    settled = full(open_, False, bool)
    while open_.any():
        nearest = reduce(masked(d, open_), MinPlus)
        now = first_entry(masked(d, open_ & (d == nearest)))
        scatter(settled, now, True)
        t = select(vxm(now, A, MinPlus, mask=settled, complement=True), "<", d)
        scatter(d, t)
        scatter(open_, t, True)
        scatter(open_, now, False)
    return d


# --- the table --------------------------------------------------------------------------------------------------------


class Program(NamedTuple):
    """A program.

    function: as a user writes it.  arguments: what it is called with, made of a matrix of positive int32 weights and a
    vertex.  symmetric: true if it means something only where edges go both ways, and no vertex leads to itself.
    """

    function: Callable[..., Any]
    arguments: Callable[[CSR, int], tuple[Any, ...]] = lambda A, v: (A, v)
    symmetric: bool = False


def pattern(A: CSR, v: int) -> tuple[Any, ...]:
    return (unweighted(A),)


def from_vertex(A: CSR, v: int) -> tuple[Any, ...]:
    return unweighted(A), v


def split(A: CSR, v: int) -> tuple[Any, ...]:
    return select(A, "<=", 4), select(A, ">", 4), v, 4


def with_bounds(A: CSR, v: int) -> tuple[Any, ...]:
    """The last vertex but one is the target; others are at least 1 away."""
    return A, v, A.nrows - 2, (all_vertices(A) != A.nrows - 2).astype(A.dtype)


def numbered(A: CSR, v: int) -> tuple[Any, ...]:
    """Edges once, upper ends first, numbered by weight."""
    u, w, values = (part.copy() for part in select(A, "triu", 1).to_edges())
    order = np.lexsort((w, u, values))
    u, w = u[order], w[order]
    return from_edges(u, w, np.arange(u.size, dtype=np.int64), shape=A.shape), u, w


def floats(A: CSR, *rest: Any) -> tuple[Any, ...]:
    return A.astype("float64"), *rest


PROGRAMS: dict[str, Program] = {
    "distances": Program(timed.distances),
    "distances, other names": Program(other_names),
    "distances, counted": Program(counted),
    "distances, dense": Program(dense_rounds),
    "distances, limited": Program(limited, lambda A, v: (A, v, 7)),
    "distances, hops": Program(with_hops),
    "distances, parents": Program(with_parents),
    "distances, bounded hops": Program(within_hops, lambda A, v: (A, v, 3)),
    "distances, there and back": Program(there_and_back),
    "distances, of floats": Program(timed.distances, floats),
    "Dijkstra": Program(settled_first),
    "Δ-stepping": Program(timed.bucketed, split),
    "bottlenecks": Program(bottlenecks),
    "widest": Program(widest),
    "widest, bounded hops": Program(timed.widest_within, lambda A, v: (A, v, 3)),
    "A*": Program(timed.towards, with_bounds),
    "nearest source": Program(nearest_source, lambda A, v: (A.astype("int64") * A.nrows, sorted({0, v, A.nrows // 2}))),
    "levels": Program(timed.levels, from_vertex),
    "levels, forbidden types": Program(timed.levels, lambda A, v: (select(A, lambda value, i, j: value % 3 > 0), v)),
    "levels, cautious": Program(cautious, lambda A, v: (unweighted(A), v, 3)),
    "reachable": Program(reachable, from_vertex),
    "meeting": Program(meeting, lambda A, v: (unweighted(A), v, A.nrows - 2)),
    "double sweep": Program(double_sweep, from_vertex),
    "infection": Program(infection, from_vertex),
    "labels": Program(timed.labels, pattern, symmetric=True),
    "hooking": Program(hooking, pattern, symmetric=True),
    "bipartite": Program(timed.is_bipartite, pattern, symmetric=True),
    "trimmed": Program(timed.trimmed, pattern),
    "strong components": Program(timed.strong_components, pattern),
    "layers": Program(layers, lambda A, v: (unweighted(select(A, lambda value, i, j: i % 7 < j % 7)),)),
    "cores": Program(timed.cores, pattern, symmetric=True),
    "pruned": Program(pruned, lambda A, v: (unweighted(A), 3), symmetric=True),
    "independent set": Program(timed.independent, pattern, symmetric=True),
    "colours": Program(coloured, pattern, symmetric=True),
    "truss": Program(timed.truss, lambda A, v: (A, 4), symmetric=True),
    "forest": Program(timed.forest, numbered, symmetric=True),
    "walks": Program(walks, lambda A, v: (unweighted(A), v, 6)),
    "waves": Program(strongest_step, lambda A, v: (unweighted(A), 50)),
    "dependencies": Program(timed.dependencies, from_vertex),
    "PageRank": Program(timed.ranks, lambda A, v: floats(A)),
    "HITS": Program(timed.hubs_and_authorities, lambda A, v: floats(A)),
    "Katz": Program(timed.katz, lambda A, v: floats(A, 0.01)),
    "label spreading": Program(
        timed.spread, lambda A, v: floats(A, np.sign((all_vertices(A) % 5 == 0) - 1.0 * (all_vertices(A) % 7 == 0)))
    ),
}
"""Every program by its name."""


def distinct(answer: Any) -> int:
    """How many different numbers an answer has: an answer of one number tells little."""
    parts = answer if isinstance(answer, tuple) else (answer,)
    return max(np.unique(np.asarray(getattr(part, "values", part))).size for part in parts)
