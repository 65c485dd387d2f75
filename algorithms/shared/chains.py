"""Chains, the vertices with one edge in and one edge out, taken out of a graph before its components are looked for.

    h → v₁ → v₂ → … → t   becomes   h → t

A cycle through any v_i goes all the way from h to t, so the v_i are in the strong component of h and t if that is one,
and components of their own if it is not. A chain without ends is a cycle, and a component. Pointer jumping finds the
ends of all chains in ⌈log₂ n⌉ steps, where a search or a trim takes as many rounds as the longest has vertices.

[1] J. JáJá, An Introduction to Parallel Algorithms, Addison-Wesley, 1992, section 2.2 (pointer jumping).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from formats import Matrix
from formats.edges import with_edges
from semiring import MinFirst, MinSecond, ewise_add, extract, mxv, select, vxm, within
from semiring.vectors import all_vertices, degrees, gather, membership, nvals, scatter, unweighted

WORTH = 1 / 4
"""Share of the vertices that must be in chains."""


@dataclass(frozen=True)
class Chains:
    """The chains of a graph.

    rest: the graph without them, with an edge from end to end in the place of each.  inner: (n,) Booleans, who is in a
    chain.  head, tail: (n,) of each such vertex, its chain's ends.  cycle: (n,) Booleans, who is in a chain without
    ends.  smallest: (n,) of those, the smallest vertex of the chain.
    """

    rest: Matrix
    inner: Any
    head: Any
    tail: Any
    cycle: Any
    smallest: Any

    def joined(self, label: Any) -> Any:
        """The smallest vertex of every component, from that in `rest`."""
        n = len(label)
        inside = self.inner & ~self.cycle & (gather(label, self.head) == gather(label, self.tail))
        scatter(label, inside, gather(label, self.head))
        scatter(label, self.cycle, self.smallest)
        return gather(vxm(all_vertices(self.rest), membership(label, n), MinFirst), label)


def without_chains(A: Matrix) -> Chains | None:
    """The chains of `A`, which has no self-loops; None if they are too few to be worth it."""
    inner = (degrees(A) == 1) & (degrees(A.T) == 1)
    if nvals(inner) <= A.nrows * WORTH:
        return None
    P, ids = unweighted(A), all_vertices(A)
    before, after = ids.copy(), ids.copy()  # an end stays where it is
    scatter(before, inner, vxm(ids, P, MinFirst))
    scatter(after, inner, mxv(P, ids, MinSecond))
    head, smallest = followed(before)
    tail, _ = followed(after)
    cycle = inner & gather(inner, head)
    first = inner & ~cycle & ~gather(inner, before)
    outer = 0 - inner.astype(ids.dtype)  # 0, or -1 within chains
    rest = with_edges(select(P, within, row=outer, col=outer), gather(before, first), gather(tail, first))
    return Chains(rest, inner, head, tail, cycle, smallest)


def followed(step: Any) -> tuple[Any, Any]:
    """Finds (where each vertex arrives once only cycles are left, the smallest vertex on its way)."""
    to, smallest = step, ewise_add(step, extract(step, step), MinFirst)
    for _ in range(len(step).bit_length()):
        smallest = ewise_add(smallest, extract(smallest, to), MinFirst)
        to = extract(to, to)  # 2, 4, 8, … steps
    return to, smallest
