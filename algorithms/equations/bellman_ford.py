"""Bellman-Ford: shortest paths with weights of any sign, as a fixpoint of one matrix equation.

    d = e_s ⊕ d A                        (⊕, ⊗) = (min, +)

e_s is the empty path at the source. Iterating from d = e_s, round k gives the best walk of at most k edges. Only what
changed in a round can change anything in the next, so a round multiplies the frontier f of improved vertices alone:

    t = f A          f' = t⟨t ⊕ d ≠ d⟩          d = d ⊕ f'          until f' is empty

Without negative weights this ends after at most n rounds; each costs its frontier's edges. With them, a reachable
negative cycle would go on for ever. It is found as Cherkassky and Goldberg do: the edges that last improved each
vertex form a graph that, sooner or later, closes a cycle, and then for good; it is looked at after 1, 2, 4, 8 …
rounds.

Any semiring with a unit and an order serves: MaxMin gives widest paths, MinMax bottlenecks, LorLand reachability.

[1] R. Bellman, On a routing problem, Quarterly of Applied Mathematics 16(1), 1958.
[2] B. Cherkassky, A. Goldberg, Negative-cycle detection algorithms, Mathematical Programming 85, 1999.
[3] J. Kepner, J. Gilbert (eds.), Graph Algorithms in the Language of Linear Algebra, SIAM, 2011, section 5.
"""

from __future__ import annotations

from typing import Any, Never, Unpack

from formats import Matrix
from semiring import MinPlus, Semiring, better, ewise_add, select, vxm
from semiring.vectors import densified, is_empty, unit

from ..shared.cycle_watch import CycleWatch
from ..shared.signatures import Paths, Shared
from ..shared.single_source import SourceToAll, Until, paths
from ..shared.trace import trace_round


@SourceToAll[Never, Never]
def bellman_ford(
    A: Matrix,
    source: int | None = None,
    semiring: Semiring | str = MinPlus,
    **query: Unpack[Shared],
) -> Paths:
    """Shortest paths from a source with weights of any sign: the least d with d = e_s ⊕ d A.

    Args:
        A: (n, n), A[u, v] = weight of the edge u -> v, of any sign.
        source: the vertex to start from, 0 <= source < n.
        semiring: what a path's length is and which is better; any with a unit and an order, or its name.

    Raises:
        NegativeCycle: a cycle that improves paths for ever can be reached; the error has it.
        OverflowError: a finite distance does not fit the dtype.
        ValueError: the matrix is not square, the source is no vertex, or the semiring has no unit or no order.
        TypeError: the semiring is not defined on A's dtype, or both or neither of source and sources are given.

    Example:
        >>> from formats import from_edges
        >>> A = from_edges([0, 0, 1], [1, 2, 2], [5.0, 9.0, -3.0])
        >>> bellman_ford(A, 0, return_parents=True)
        (array([0., 5., 2.]), array([-1,  0,  1], dtype=int32))

    Source: Bellman 1958 [1]; negative cycles: Cherkassky and Goldberg 1999 [2].
    """
    return paths(bellman_ford, A, source, semiring, **query)


bellman_ford.any_sign = True
bellman_ford.in_order = True


@bellman_ford.equations
def distances(A: Matrix, source: int, s: Semiring, until: Until) -> Any:
    """The distances of one source."""
    f = unit(A, source, s)
    d = densified(f, s)  # d = f = e_s
    watch = CycleWatch(A, d, s)
    while not is_empty(f):
        t = vxm(f, A, s)  # t = f A
        trace_round(f)
        improved = until.within(d, select(t, better(s), d))  # f' = t⟨t ⊕ d ≠ d⟩
        ewise_add(d, improved, s, out=d)  # d = d ⊕ f'
        watch.look(f, improved)
        f = improved
    watch.search()
    return d
