"""Bellman-Ford's method with other schedules than the frontier of improved vertices.

    sweep                      all of d in every round: the method as a sparse matrix-vector product
    fifo, slf, lll, slf+lll    one vertex from a queue of those that have changed (`work_queue`)

Of the queues fifo is a compiled loop on the CPU; a sweep is a persistent kernel on a GPU.

[1] I. Afanasyev, V. Voevodin, Developing efficient implementations of shortest paths and page rank algorithms for
    large-scale graphs on many-core and GPU architectures (sweeps over edge lists).
"""

from __future__ import annotations

from typing import Any, Literal, Unpack, get_args

from algorithms import bellman_ford
from algorithms.shared.cycle_watch import CycleWatch
from algorithms.shared.parents import gains_by_length
from algorithms.shared.signatures import Shared
from algorithms.shared.single_source import Until, paths
from algorithms.shared.trace import trace_round
from formats import CSR, Matrix, SparseVector
from formats.arrays import Array, index_dtype, namespace
from semiring import MinPlus, Semiring, better, ewise_add, select, vxm
from semiring.vectors import densified, is_empty, present, unit
from semiring.verbs.registry import Declined

from .variant import Variant
from .work_queue import WorkQueue

Schedule = Literal["frontier", "sweep", "fifo", "slf", "lll", "slf+lll"]
SCHEDULES: tuple[Schedule, ...] = get_args(Schedule)


def check(schedule: str = "sweep") -> None:
    """ValueError for a schedule that there is not."""
    if schedule not in SCHEDULES:
        raise ValueError(f"unknown schedule {schedule!r}; there are {', '.join(SCHEDULES)}")


@Variant
def bellman_ford_by(
    A: Matrix,
    source: int | None = None,
    semiring: Semiring | str = MinPlus,
    *,
    schedule: Schedule = "sweep",
    **query: Unpack[Shared],
) -> Any:
    """`bellman_ford` by a schedule: what a round relaxes from."""
    check(schedule)
    return paths(bellman_ford_by, A, source, semiring, schedule=schedule, **query)


bellman_ford_by.any_sign = True


@bellman_ford_by.equations
def distances(A: Matrix, source: int, s: Semiring, until: Until, *, schedule: str = "sweep") -> Any:
    """The distances of one source."""
    if schedule == "frontier":
        return bellman_ford._equations(A, source, s, until)
    return by_sweeps(A, source, s, until) if schedule == "sweep" else by_queue(A, source, s, until, schedule)


def by_sweeps(A: Matrix, source: int, s: Semiring, until: Until) -> Any:
    """The fixpoint by products with all of d."""
    d = densified(unit(A, source, s), s)
    watch = CycleWatch(A, d, s)
    while True:
        t = vxm(d, A, s)  # t = d A
        trace_round(lambda: present(d, s))
        improved = until.within(d, present(select(t, better(s), d, semiring=s), s))
        if is_empty(improved):
            watch.search()
            return d
        watch.look(d, improved)
        ewise_add(d, improved, s, out=d)


def by_queue(A: Matrix, source: int, s: Semiring, until: Until, order: str) -> Any:
    """The fixpoint, one vertex at a time.

    n times n steps settle all distances by a queue that is "fifo", and of another order twice as many: see `WorkQueue`.
    """
    f = unit(A, source, s)
    d = densified(f, s)
    watch = CycleWatch(A, d, s, A.nrows if order == "fifo" else 2 * A.nrows)
    queue = WorkQueue(order, s, patience=A.nrows**2)
    queue.add(f)
    while queue:
        f = entry(d, queue.pop())
        t = vxm(f, A, s)  # t = d_v A_v
        trace_round(f)
        improved = until.within(d, select(t, better(s), d))
        ewise_add(d, improved, s, out=d)
        watch.look(f, improved)
        queue.add(improved)
    watch.search()
    return d


def entry(x: Array, i: int) -> SparseVector:
    """The element x_i of a dense vector alone."""
    places = namespace(x).arange(i, i + 1, dtype=index_dtype(x.size))  # made where x is
    return SparseVector.trusted(places, x[i : i + 1].copy(), x.size)


@bellman_ford_by.implement(CSR, "cpu")
def _on_cpu(A: CSR, source: int, s: Semiring, until: Until, *, schedule: str = "sweep") -> Any:
    if schedule != "fifo":
        return Declined(f"the schedule {schedule!r} is the definition's")
    from algorithms.fused.cpu.label_correcting import by_queue

    return by_queue(A, source, s, until)


@bellman_ford_by.implement(CSR, "cuda")
def _on_gpu(A: CSR, source: int, s: Semiring, until: Until, *, schedule: str = "sweep") -> Any:
    if schedule != "sweep":
        return Declined(f"the schedule {schedule!r} is the definition's")
    from algorithms.fused.cuda.paths import Schedule, solve

    return solve(A, source, s, until, Schedule("sweep", None, every=True), gains_by_length(A, s))
