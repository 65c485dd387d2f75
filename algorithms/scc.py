"""Strongly connected components by Forward-Backward-Trim.

    trim        a vertex without an edge to, or from, its subgraph is a component of its own; repeatedly
    F = reach of a pivot along the edges, B = against them, inside the pivot's subgraph
    F ∧ B       is the pivot's component; no other component lies in more than one of F \\ B, B \\ F and the rest

Edges between the parts are cut, S = S⟨same part⟩, and what is still connected is a subgraph with a pivot of its own:
colours c, one for each connected component of S. All subgraphs are searched at once, by one search from all pivots,
which cannot leave a subgraph since no edge does. No queue of subgraphs, no recursion.

Where every edge has its reverse, a strong component is a connected one, which takes O(log n) rounds (`components`).

[1] L. Fleischer, B. Hendrickson, A. Pınar, On identifying strongly connected components in parallel, IPDPS 2000.
[2] W. McLendon, B. Hendrickson, S. Plimpton, L. Rauchwerger, Finding strongly connected components in distributed
    graphs, JPDC 65(8), 2005.
[3] I. Afanasyev, V. Voevodin, The comparison of large-scale graph processing algorithms implementation methods for
    Intel KNL and NVIDIA GPU, RuSCDays 2017.
[4] S. Hong, N. C. Rodia, K. Olukotun, On fast parallel detection of strongly connected components (SCC) in small-world
    graphs, SC 2013.
"""

from __future__ import annotations

from typing import Any, Literal

from formats import Matrix
from formats.convert import by_columns, by_rows, is_symmetric
from semiring import LorLand, MinFirst, fusible, mxv, same, select, vxm
from semiring.vectors import (
    all_vertices,
    at,
    check_graph,
    count,
    degrees,
    flags,
    full,
    hashed,
    membership,
    unweighted,
    where,
)

from .chains import without_chains
from .components import components
from .trace import note, running
from .traversal import Direction, frontiers

PIVOTS = ("degree", "random")


@fusible
def scc(
    A: Matrix,
    *,
    weak: bool = False,
    trim: bool = True,
    pivot: Literal["degree", "random"] = "degree",
    seed: int = 0,
    direction: Literal["auto", "push", "pull"] = "auto",
) -> Any:
    """The strongly connected component of every vertex, as the smallest vertex in it.

    A: (n, n), an entry A[u, v] is the edge u -> v, whatever its value.  weak: let edges count both ways.  trim: look
    for chains first, and for single vertices before each search.  pivot: of each subgraph, the vertex of the largest
    product of its degrees, in × out, or a "random" one, by `seed`.  direction: of the searches, see
    `traversal.Direction`.
    Returns (n,) integers on A's device, the same for all these choices.
    Takes at most sixteen vectors of n, and on the CPU another for each thread, beside A, A by columns and, from the
    second round on, the edges that are not cut.
    Raises ValueError for a matrix that is not square or a choice that there is not.  Source: [1-4].
    """
    check_graph(A)
    how = Direction(direction)
    if pivot not in PIVOTS:
        raise ValueError(f"pivot must be 'degree' or 'random', got {pivot!r}")
    with running("scc", A):
        if weak or is_symmetric(A, pattern=True):
            return components(A)
        chains = without_chains(A) if trim else None
        if chains is None:
            return _forward_backward(A, trim, pivot, seed, how)
        return chains.joined(_forward_backward(chains.rest, trim, pivot, seed, how))


def _forward_backward(A: Matrix, trim: bool, pivot: str, seed: int, how: Direction) -> Any:
    """The strong components, in rounds of trim, search and cut."""
    S, label = A, all_vertices(A)
    alive = full(label, True, bool)
    colour = full(label, 0, label.dtype)  # at first, one subgraph
    while True:
        if trim:
            trimmed(S, alive)
        if not count(alive):
            return label
        pivots = best_of_each(colour, alive, S, pivot, seed)
        F = reached(S, pivots, alive, how, "forward")
        B = reached(S.T, pivots, alive, how, "backward")
        C = where(F & B)
        smallest = vxm(C, membership(colour, A.nrows), MinFirst).to_dense(0)  # of each colour's component
        label[C.indices] = smallest[colour[C.indices]]
        alive[C.indices] = False
        part = at(F + 2 * B, alive)
        S = select(unweighted(S), same, row=part, col=part)  # S⟨part_i = part_j⟩
        colour = components(S)
        seed += 1


def trimmed(S: Matrix, alive: Any) -> None:
    """Take out of `alive` what has no edge to, or from, another vertex in it, until nothing changes."""
    rows, columns = unweighted(by_rows(S)), unweighted(by_columns(S))
    while True:
        leads = mxv(rows, alive, LorLand, mask=alive)  # ∨_j s_ij ∧ alive_j
        led_to = vxm(alive, columns, LorLand, mask=alive)  # ∨_i alive_i ∧ s_ij
        alone = where(alive & ~(leads & led_to))
        note(alone, direction="pull", resolved=~alive, phase="trim")
        if alone.nnz == 0:
            return
        alive[alone.indices] = False


def best_of_each(colour: Any, alive: Any, S: Matrix, pivot: str, seed: int) -> Any:
    """The pivot of every colour that has living vertices: the best of them, of several the smallest."""
    vertices, groups = all_vertices(S), membership(colour, S.nrows)
    key = hashed(vertices, seed) if pivot == "random" else degrees(S) * degrees(S.T)
    best = vxm(at(key, alive), groups, "max_first").to_dense(-1)
    top = alive & (key == best[colour])
    first = vxm(at(vertices, top), groups, MinFirst).to_dense(-1)
    return flags(where(top & (vertices == first[colour])))


def reached(S: Matrix, pivots: Any, alive: Any, how: Direction, phase: str) -> Any:
    """Where the edges lead from the pivots: a Boolean vector."""
    visited = ~alive
    for _ in frontiers(S, pivots, visited, how, phase=phase):
        pass
    return visited & alive
