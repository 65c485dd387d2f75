"""Bellman-Ford: shortest paths with weights of any sign, as a fixpoint of one matrix equation.

    d = e_s ⊕ d A                        (⊕, ⊗) = (min, +)

e_s is the empty path at the source. Iterating from d = e_s, round k gives the best walk of at most k edges. Only what
changed in a round can change anything in the next, so a round multiplies the frontier f of improved vertices alone:

    t = f A          f' = t⟨t ⊕ d ≠ d⟩          d = d ⊕ f'          until f' is empty

Without negative weights this ends after at most n rounds; each costs its frontier's edges. With them, a reachable
negative cycle would go on for ever. It is found as Cherkassky and Goldberg do: the edges that last improved each
vertex form a graph that, sooner or later, closes a cycle, and then for good; it is looked at after 1, 2, 4, 8 …
rounds.

`schedule` says what a round multiplies: the frontier, or all of d ("sweep", the method as a sparse matrix-vector
product, for comparing formats), or a single vertex from a queue of those that have changed (`work_queue`).

Any semiring with a unit and an order serves: MaxMin gives widest paths, MinMax bottlenecks, LorLand reachability.

[1] R. Bellman, On a routing problem, Quarterly of Applied Mathematics 16(1), 1958.
[2] B. Cherkassky, A. Goldberg, Negative-cycle detection algorithms, Mathematical Programming 85, 1999.
[3] I. Afanasyev, V. Voevodin, Developing efficient implementations of shortest paths and page rank algorithms for
    large-scale graphs on many-core and GPU architectures (edge lists, negative weights).
[4] J. Kepner, J. Gilbert (eds.), Graph Algorithms in the Language of Linear Algebra, SIAM, 2011, section 5.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

from formats import Matrix, SparseVector
from semiring import MinPlus, Semiring, better, ewise_add, select, vxm
from semiring.vectors import densified, entry, is_empty, present, unit

from .cycle_watch import CycleWatch
from .single_source import Until, single_source
from .trace import note
from .work_queue import DISCIPLINES, WorkQueue

Schedule = Literal["frontier", "sweep", "fifo", "slf", "lll", "slf+lll"]
SCHEDULES: tuple[Schedule, ...] = get_args(Schedule)


def check(schedule: str = "frontier") -> None:
    """ValueError for a schedule that there is not."""
    if schedule not in SCHEDULES:
        raise ValueError(f"unknown schedule {schedule!r}; there are {', '.join(SCHEDULES)}")


@single_source(any_sign=True, check=check)
def bellman_ford(
    A: Matrix,
    source: int | None = None,
    semiring: Semiring | str = MinPlus,
    *,
    schedule: Schedule = "frontier",
    sources: Any = None,
    return_parents: bool = False,
    limit: Any = None,
    target: int | None = None,
    fused: bool = True,
) -> Any:
    """Shortest paths from a source with weights of any sign: the least d with d = e_s ⊕ d A.

    Args:
        A: (n, n), A[u, v] = weight of the edge u -> v, of any sign.
        source: the vertex to start from, 0 <= source < n.
        semiring: what a path's length is and which is better; any with a unit and an order, or its name.
        schedule: what a round relaxes from. "frontier": the vertices that changed; "sweep": all; or one that changed,
            from a queue that is "fifo", or puts small labels first ("slf"), large ones last ("lll"), or both.
        sources: several sources, (k,) integers, instead of one: the answer then has a row for each.
        return_parents: also return the shortest-path tree.
        limit: distances beyond it are absent.
        target: stop when this vertex is settled; distances beyond its own are absent.
        fused: False runs the equations as they are written.

    Returns:
        (n,) distances of A.dtype on A's device, with the semiring's zero (inf, INT_MAX) where no path leads. With
        `return_parents` also (n,) integers: each vertex's parent in the tree, -1 for none.

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
    return bellman_ford.paths(A, source, semiring, sources, return_parents, limit, target, schedule=schedule)


@bellman_ford.core
def distances(A: Matrix, source: int, s: Semiring, until: Until, *, schedule: str = "frontier") -> Any:
    """The distances of one source."""
    f = unit(A, source, s)
    d = densified(f, s)  # d = f = e_s
    watch = CycleWatch(A, d, s, steps_of_a_round(A, schedule))
    if schedule == "sweep":
        return by_sweeps(A, d, s, until, watch)
    if schedule in DISCIPLINES:
        return by_queue(A, f, d, s, until, watch, WorkQueue(schedule, s, patience=A.nrows**2))
    while not is_empty(f):
        t = vxm(f, A, s)  # t = f A
        note(f)
        improved = until.within(d, select(t, better(s), d))  # f' = t⟨t ⊕ d ≠ d⟩
        ewise_add(d, improved, s, out=d)  # d = d ⊕ f'
        watch.look(f, improved)
        f = improved
    watch.search()
    return d


def steps_of_a_round(A: Matrix, schedule: str) -> int:
    """Steps of which n times as many settle all distances, if nothing improves for ever.

    Of a queue of another order than "fifo" the first n² count for nothing: see `WorkQueue`.
    """
    return {"frontier": 1, "sweep": 1, "fifo": A.nrows}.get(schedule, 2 * A.nrows)


def by_sweeps(A: Matrix, d: Any, s: Semiring, until: Until, watch: CycleWatch) -> Any:
    """The same fixpoint by products with all of d."""
    while True:
        t = vxm(d, A, s)  # t = d A
        note(lambda: present(d, s))
        improved = until.within(d, present(select(t, better(s), d, semiring=s), s))
        if is_empty(improved):
            watch.search()
            return d
        watch.look(d, improved)
        ewise_add(d, improved, s, out=d)


def by_queue(A: Matrix, f: SparseVector, d: Any, s: Semiring, until: Until, watch: CycleWatch, queue: WorkQueue) -> Any:
    """The same fixpoint, one vertex of the frontier at a time."""
    queue.add(f)
    while queue:
        f = entry(d, queue.pop())
        t = vxm(f, A, s)  # t = d_v A_v
        note(f)
        improved = until.within(d, select(t, better(s), d))
        ewise_add(d, improved, s, out=d)
        watch.look(f, improved)
        queue.add(improved)
    watch.search()
    return d
