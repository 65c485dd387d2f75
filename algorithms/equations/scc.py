"""Strongly connected components by Forward-Backward-Trim.

    trim        a vertex without an edge to, or from, its subgraph is a component of its own; repeatedly
    F = reach of a pivot along the edges, B = against them, inside the pivot's subgraph
    F ∧ B       is the pivot's component; no other component lies in more than one of F \\ B, B \\ F and the rest

Edges between the parts are cut, S = S⟨same part⟩, and what is still connected is a subgraph with a pivot of its own:
colours c, one for each connected component of S. All subgraphs are searched at once, by one search from all pivots,
which cannot leave a subgraph since no edge does. No queue of subgraphs, no recursion.

Where every edge has its reverse, a strong component is a connected one, found without a search (`components`).

A round costs the edges that are left, and the trims of a round no more. Random pivots make rounds few, about log n; a
search has as many steps as the subgraph is wide.

[1] L. Fleischer, B. Hendrickson, A. Pınar, On identifying strongly connected components in parallel, IPDPS 2000.
[2] W. McLendon, B. Hendrickson, S. Plimpton, L. Rauchwerger, Finding strongly connected components in distributed
    graphs, JPDC 65(8), 2005.
[3] I. Afanasyev, V. Voevodin, The comparison of large-scale graph processing algorithms implementation methods for
    Intel KNL and NVIDIA GPU, RuSCDays 2017.
[4] S. Hong, N. C. Rodia, K. Olukotun, On fast parallel detection of strongly connected components (SCC) in small-world
    graphs, SC 2013.
"""

from __future__ import annotations

from typing import Any

from algorithms.shared.edges import without_loops
from formats import Matrix
from formats.arrays import IntegerVector
from formats.storage.orientation import by_columns, by_rows, is_symmetric
from semiring import MinFirst, ewise_add, fusible, select, vxm, within
from semiring.algebra.semirings import find_semiring
from semiring.vectors import (
    all_vertices,
    arange,
    degrees,
    full,
    gather,
    hashed,
    indices,
    masked,
    membership,
    nonzero,
    nvals,
    ones,
    scatter,
    scatter_sub,
    unweighted,
)
from semiring.verbs.checks import check_graph
from semiring.verbs.fusible import MemoryEstimate

from ..shared.chains import without_chains
from ..shared.trace import trace_round
from ..shared.traversal import Direction, frontiers
from .components import components

FEW = 1 / 8
"""Share of the vertices below which a subgraph is looked for in their rows alone."""

PlusPair = find_semiring("plus_pair")


@fusible
def scc(A: Matrix, *, weak: bool = False, fused: bool = True) -> IntegerVector:
    """Strongly connected components: of every vertex, the smallest vertex in its component.

    It takes at most sixteen vectors of n (of 8 bytes), on the CPU another for each thread, and beside A at most 40
    bytes an edge.

    Args:
        A: (n, n), an entry A[u, v] is the edge u -> v, whatever its value.
        weak: let edges count both ways.
        fused: False runs the equations as they are written.

    Returns:
        (n,) integers on A's device.

    Raises:
        ValueError: the matrix is not square.

    Example:
        >>> from formats import from_edges
        >>> A = from_edges([0, 1, 2, 2], [1, 2, 0, 3])
        >>> scc(A).tolist(), scc(A, weak=True).tolist()
        ([0, 0, 0, 3], [0, 0, 0, 0])

    Source: Fleischer, Hendrickson, Pınar 2000 [1]; trimming [2]; several at once [3]; pivots [4].
    """
    check_graph(A)
    return strong_components(A, weak)


scc.memory = MemoryEstimate(fused=(54, 9), equations=(64, 36))
scc.interruptible_from_nnz = 1 << 24  # as each edge is looked at a few times


@scc.equations
def strong_components(A: Matrix, weak: bool) -> Any:
    """The smallest vertex of each vertex's component."""
    if weak or is_symmetric(A, pattern=True):
        return components(A)
    S = without_loops(A)
    chains = without_chains(S)
    trace_round(lambda: nonzero(all_vertices(A) >= 0), phase="prepare", edges=A.nnz)
    if chains is None:
        return _forward_backward(S)
    return chains.joined(_forward_backward(chains.rest))


def _forward_backward(A: Matrix) -> Any:
    """The strong components of a graph without self-loops, in rounds of trim, search and cut.

    The first search starts where the product of in- and out-degree is largest, the later ones at random.
    """
    S, label = A, all_vertices(A)
    alive = full(label, True, bool)
    colour, rounds = full(label, 0, label.dtype), 0  # at first, one subgraph
    while True:
        trimmed(S, alive)
        if not nvals(alive):
            return label
        key = hashed(label, rounds) if rounds else degrees(S) * degrees(S.T)
        pivots = best_of_each(colour, alive, key)
        trace_round(pivots, phase="pivots", edges=0)
        F = reached(S, pivots, alive, "forward")
        B = reached(S.T, pivots, alive, "backward")
        C = nonzero(F & B)
        smallest = vxm(C, membership(colour, A.nrows), MinFirst).to_dense(0)  # of each colour's component
        scatter(label, C, gather(smallest, gather(colour, C.indices)))
        scatter(alive, C, False)
        part = ((F + 2 * B + 1) * alive - 1).astype(label.dtype)  # 0 to 3, or -1 where nothing is left to find
        few = nvals(alive) < A.nrows * FEW  # then their rows are taken out first
        left = select(unweighted(S), within, row=masked(part, alive) if few else part, col=part)  # S⟨part_i = part_j⟩
        trace_round(C, phase="cut", edges=S.nnz)
        if S is not A:
            S.forget()
        S, colour, rounds = left, components(left), rounds + 1


def trimmed(S: Matrix, alive: Any) -> None:
    """Take out of `alive` what has no edge to, or from, another vertex in it, until nothing changes.

    Degrees are counted down along the edges of what is taken out, so that all rounds together cost each edge once.
    """
    rows, columns = unweighted(by_rows(S)), unweighted(by_columns(S).T)
    leads, led_to = degrees(S).copy(), degrees(S.T).copy()
    alone = nonzero(alive & ((leads == 0) | (led_to == 0)))
    while alone.nnz:
        scatter(alive, alone, False)
        fewer_in, fewer_out = (vxm(ones(alone), M, PlusPair) for M in (rows, columns))
        scatter_sub(led_to, fewer_in)
        scatter_sub(leads, fewer_out)
        trace_round(alone, phase="trim", matrix=S)
        touched = ewise_add(fewer_in, fewer_out, PlusPair).indices
        out = gather(alive, touched) & ((gather(leads, touched) == 0) | (gather(led_to, touched) == 0))
        alone = indices(gather(touched, out), len(alive))


def best_of_each(colour: Any, alive: Any, key: Any) -> Any:
    """The pivot of every colour that has living vertices: that of the largest key, of several the smallest."""
    groups, ids = membership(colour, len(colour)), arange(colour, len(colour))
    best = vxm(masked(key, alive), groups, "max_first").to_dense(-1)
    top = alive & (key == gather(best, colour))
    first = vxm(masked(ids, top), groups, MinFirst).to_dense(-1)
    return ones(nonzero(top & (ids == gather(first, colour))), bool)


def reached(S: Matrix, pivots: Any, alive: Any, phase: str) -> Any:
    """Where the edges lead from the pivots: a Boolean vector."""
    visited = ~alive
    for _ in frontiers(S, pivots, visited, Direction(), phase=phase):
        pass
    return visited & alive
