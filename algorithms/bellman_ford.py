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
[3] I. Afanasyev, V. Voevodin, Developing efficient implementations of shortest paths and page rank algorithms for
    large-scale graphs on many-core and GPU architectures (edge lists, negative weights).
[4] J. Kepner, J. Gilbert (eds.), Graph Algorithms in the Language of Linear Algebra, SIAM, 2011, section 5.
"""

from __future__ import annotations

from itertools import count
from typing import Any

from formats import Matrix, SparseVector
from semiring import MinFirst, MinPlus, Semiring, better, ewise_add, fusible, lost, reduce, select, tight, vxm
from semiring.algebra import find_semiring
from semiring.vectors import all_vertices, at_the_end, densified, full, is_empty, unit, vertices

from .errors import NegativeCycle
from .parents import as_weights, cycle_among, gains_by_length, shortest_path_tree

WIDER = {"int32": "int64", "int64": "float64", "float32": "float64"}
"""The dtype to try where a distance does not fit."""


@fusible
def bellman_ford(A: Matrix, source: int, semiring: Semiring | str = MinPlus, *, return_parents: bool = False) -> Any:
    """Distances from `source`: the least d with d = e_s ⊕ d A.

    A: (n, n), A[u, v] = weight of u -> v, any sign.  source: 0 <= s < n.  Returns (n,) of A.dtype on A's device, with
    unreachable vertices at the semiring's zero (inf, INT_MAX), and with `return_parents` also (n,) integers, -1 for
    none. Raises NegativeCycle if one is reachable, OverflowError if a finite distance leaves the dtype, ValueError
    for a bad source, a matrix that is not square or a semiring without a unit or an order, TypeError for one that is
    not defined on A's dtype.  Source: [1], [2].
    """
    s = find_semiring(semiring)
    A = as_weights(A, s)
    f = unit(A, source, s)
    d = densified(f, s)  # d = f = e_s
    improvers = full(d, -1, all_vertices(A).dtype) if gains_by_length(A, s) else None
    for k in count(1):
        t = vxm(f, A, s)  # t = f A
        improved = select(t, better(s), d)  # f' = t⟨t ⊕ d ≠ d⟩
        if is_empty(improved):
            break
        ewise_add(d, improved, s, out=d)  # d = d ⊕ f'
        if improvers is not None:
            note_improvers(improvers, A, f, improved, s)
            if k & (k - 1) == 0 or at_the_end(reduce(improved, s.add), s):
                check_cycle(improvers)
        f = improved
    check_range(A, d, s)
    return (d, shortest_path_tree(A, d, source, s)) if return_parents else d


def note_improvers(improvers: Any, A: Matrix, f: SparseVector, improved: SparseVector, s: Semiring) -> None:
    """For each improved vertex, write down the smallest vertex of `f` that it was improved from."""
    T = select(A, tight(s), row=f, col=improved)  # T = A⟨f_i ⊗ a_ij = f'_j⟩
    chosen = vxm(vertices(f), T.pattern(), MinFirst)  # p_j = min i with t_ij
    improvers[chosen.indices] = chosen.values


def check_cycle(improvers: Any) -> None:
    """NegativeCycle if the edges that last improved each vertex close a cycle."""
    cycle = cycle_among(improvers)
    if cycle is not None:
        raise NegativeCycle(cycle)


def check_range(A: Matrix, d: Any, s: Semiring) -> None:
    """OverflowError if a path's finite length has saturated, at either end of the dtype."""
    if s.mul.saturating is None:
        return
    L = select(A, lost(s), row=d, col=d)  # from a reached vertex an edge, to one that counts as not reached
    endless = A.dtype.kind == "f" and at_the_end(reduce(A, s.add), s)  # a weight of -inf makes distances of -inf
    if L.nnz or (at_the_end(reduce(d, s.add), s) and not endless):
        advice = f": convert the weights, as A.astype('{WIDER[d.dtype.name]}')" if d.dtype.name in WIDER else ""
        raise OverflowError(f"a distance does not fit {d.dtype}{advice}")
