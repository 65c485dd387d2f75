"""Shortest paths on the GPU: every algorithm is one fixpoint kernel with a threshold of another width (fixpoint.cu)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from algorithms.bellman_ford import bellman_ford
from algorithms.bucket_width import bucket_width
from algorithms.da2cf import da2cf
from algorithms.da2cf_variants import find_plan
from algorithms.delta_stepping import delta_stepping
from algorithms.dijkstra import dijkstra
from algorithms.parents import gains_by_length, shortest_path_tree
from algorithms.single_source import Exact, Until
from algorithms.traversal import widest
from formats import CSR
from formats.arrays import Array, cupy, index_dtype
from formats.orientation import by_columns
from semiring import MinPlus, Semiring, reduce
from semiring.explanation import facts
from semiring.registry import Unsuited
from semiring.statistics import mean
from semiring.vectors import as_bound, at_the_end

from . import kernels

CONTROL_WORDS = 19
"""Of 8 bytes, in Control."""
CROWD = 18
STATE = {"steps": 1, "edges": 2, "pulls": 3, "thresholds": 4, "saturated": 13, "crowded": CROWD}
"""Words of Control that the host looks at."""

CROWDED, SMALLEST_CROWD = 1 / 16, 1 << 15
"""Entries of a deep step that are too many for it: so many for each vertex, and more than so many."""

TREE_WORDS = 7
"""Of 8 bytes, in TreeControl."""

MOST_ENTRIES = 2**32 - 1
"""Edges and vertices of a frontier are counted in 32 bits."""

DEEP_DEGREE, DEEP_WIDEST = 5, 512
"""Average and largest degrees up to which the deep kernel is faster: roads and grids."""

DEEP_MEANS, WIDE_MEANS = 32.0, 0.75
"""Mean weights in Δ, where none is given."""

ROUNDS, DEEP_FEW, DEEP_MANY, WIDE_FEW = 12, 2048, 8192, 1 << 17
"""What `Schedule` calls rounds, few and many."""

GIVE_UP = 8192
"""Steps without a fixpoint after which a cycle better than nothing is looked for."""

QUEUE_SHARE, SMALLEST_QUEUE = 1 / 4, 4096
"""Entries of a deep kernel's queue: so many for each vertex, and at least so many."""


@dataclass(frozen=True)
class Schedule:
    """How the fixpoint is reached.

    name: for `explain`.  width: of the threshold; None for no threshold.  deep: many rounds of a warp between barriers,
    so many.  few: edges of a wide step below which the threshold is raised, or entries of a deep step below which the
    width is doubled, until they are more than many.  every: sweeps.  pull: the share of A's edges from which on a wide
    step is pulled; 0, always; None, never, which is faster.
    """

    name: str
    width: Any
    deep: bool = False
    rounds: int = 16
    few: int = 0
    many: int = 2**63
    every: bool = False
    pull: float | None = None


@bellman_ford.implement(CSR, "cuda")
def _bellman_ford(A: CSR, source: int, s: Semiring, until: Until, *, schedule: str = "frontier") -> Any:
    if schedule not in ("frontier", "sweep"):
        return Unsuited(f"the queue of {schedule} is a sequence of single vertices")
    sweeps = schedule == "sweep"
    how = Schedule(schedule, None, deep(A) and not sweeps, every=sweeps)
    return solve(A, source, s, until, how, GIVE_UP if gains_by_length(A, s) else None)


@delta_stepping.implement(CSR, "cuda")
def _delta_stepping(A: CSR, source: int, s: Semiring, until: Until, *, delta: Any = None, split: str = "before") -> Any:
    return solve(A, source, s, until, buckets(A, delta))


@da2cf.implement(CSR, "cuda")
def _da2cf(
    A: CSR,
    source: int,
    s: Semiring,
    until: Until,
    *,
    relax: str = "push",
    passes: int = 2,
    variant: str | None = None,
) -> Any:
    plan = find_plan(relax, passes, variant, A.device)
    if {plan.relax_on, plan.minimum_on, plan.update_on} != {"cuda"}:
        return Unsuited(f"{variant} moves vectors between the devices")
    return solve(
        A, source, s, until, Schedule("exact minimum", s.unit(A.dtype), pull=0 if plan.relax == "pull" else None)
    )


@dijkstra.implement(CSR, "cuda")
def _dijkstra(A: CSR, source: int, s: Semiring, until: Until) -> Any:
    return solve(A, source, s, until, Schedule("exact minimum", s.unit(A.dtype)))


def deep(A: CSR) -> bool:
    """Has A so many short rows that the number of steps is everything?"""
    narrow = A.indices.dtype == np.int32  # records of more than 16 bytes an edge would be too much
    return narrow and 0 < A.nnz <= DEEP_DEGREE * A.nrows and widest(A) <= DEEP_WIDEST


def buckets(A: CSR, delta: Any = None) -> Schedule:
    """Near and far vertices, by a Δ that suits the graph unless one is given."""
    goes_deep = deep(A)
    typical = mean(A, MinPlus)
    if delta is not None:
        width = bucket_width(A, delta)
    else:
        width = as_bound(max(typical * (DEEP_MEANS if goes_deep else WIDE_MEANS), 1e-30), A.dtype, MinPlus)
    if A.dtype.kind == "i" and not width > 0:
        width = A.dtype.type(1)
    few, many = (DEEP_FEW, DEEP_MANY) if goes_deep else (WIDE_FEW, 2**63)
    return Schedule("buckets", width, goes_deep, ROUNDS, few if delta is None else 0, many)


def solve(A: CSR, source: int, s: Semiring, until: Until, how: Schedule, most: int | None = None) -> Any:
    """The fixpoint of d = e_source ⊕ dA.

    most: steps, where a cycle better than nothing may keep it from being reached, after which the definition, which
    finds such cycles, is asked.
    """
    if A.nnz > MOST_ENTRIES or A.nrows > MOST_ENTRIES // 2:
        return Unsuited(f"it counts edges in 32 bits, and there are {A.nnz:,}")
    d, state = fixpoint(A, s, how, source=source, limit=until.limit, target=until.target, most=most)
    if not state["done"]:
        return Unsuited(f"after {state['steps']} steps something still changed, so there may be a cycle to be found")
    if most is None:
        return d if state["saturated"] else Exact(d)
    if at_the_end(reduce(d, s.add), s):
        return Unsuited("a distance is at the end of the range, as it would be after a cycle")
    return d


def fixpoint(
    A: CSR,
    s: Semiring,
    how: Schedule,
    *,
    source: int,
    limit: Any = None,
    target: int | None = None,
    colour: Array | None = None,
    length: Any = None,
    most: int | None = None,
) -> tuple[Array, dict[str, int]]:
    """(the least d = e_source ⊕ dA, what happened).

    limit, target: beyond which nothing need be found.  colour: (n,) of A's indices; edges between colours do not count.
    length: of every edge, for the deep kernel, instead of A's values.  most: steps, after which it is given up.
    """
    cp = cupy()
    n, dtype, index_type = A.nrows, A.dtype if length is None else length.dtype, A.indices.dtype
    k = kernels.paths(s, dtype, index_type)
    zero, one = s.zero(dtype), s.unit(dtype)
    width = zero if how.width is None else how.width
    d, active = cp.empty(n, dtype), cp.empty(-(-n // 32), np.uint32)
    control = cp.empty(CONTROL_WORDS, np.uint64)
    start = zero if how.width is None else one
    k.plain("begin", n, (control, np.int64(n), d, active, np.int64(source), one, start))
    ends = zero if limit is None else dtype.type(limit), k.index(-1 if target is None else target)
    ran, state = [], None
    if how.deep:
        capacity = max(int(n * QUEUE_SHARE), SMALLEST_QUEUE)
        queues = [cp.empty(capacity * entry_bytes(dtype, index_type), np.uint8) for _ in range(2)]
        weights = (A.values, step_of(A, k.index)) if dtype.itemsize != 4 else (kernels.NULL, k.index(0))
        fixed = np.bool_(length is not None), zero if length is None else length
        matrix = A.indptr, hops(A, k), *weights, *fixed, np.int64(n)
        steering = one, width, *ends, np.int32(how.rounds), np.uint64(how.few), np.uint64(how.many)
        crowd = np.int64(max(n * CROWDED, SMALLEST_CROWD))
        arguments = (control, *matrix, d, active, *queues, np.uint64(capacity), *steering, crowd)
        state = k.stepwise("deep", n + A.nnz, arguments, control, most)()
        ran.append("deep")
        del queues
    if state is None or (state[CROWD] and length is None):
        control[:1] = 0
        lists = [cp.empty(n, index_type) for _ in range(2)]
        rows = A.indptr, A.indices, A.values, step_of(A, k.index)
        columns: Any = by_columns(A) if how.pull is not None else None
        turned = (columns.indptr, columns.indices, columns.values) if columns is not None else (kernels.NULL,) * 3
        tint = kernels.NULL if colour is None else colour
        pull_from = np.uint64(2**64 - 1 if how.pull is None else int(A.nnz * how.pull))
        sizes = np.int64(n), np.int64(A.nnz)
        few = WIDE_FEW if how.deep and how.few else how.few
        choices = tint, np.bool_(how.every), np.uint64(few), pull_from
        arguments = (control, *rows, *turned, *sizes, d, active, *lists, width, *ends, *choices)
        state = k.stepwise("wide", n + A.nnz, arguments, control, most)()
        ran.append("wide")
    known = {name: int(state[word]) for name, word in STATE.items()} | {"done": int(state[0] >> np.uint64(32))}
    facts(
        kernel=", then ".join(ran),
        schedule=how.name,
        delta=how.width,
        direction="push"
        if how.pull is None
        else "pull"
        if how.pull == 0
        else f"pull from {how.pull:g} of the edges on",
        **known,
    )
    return d, known


def hops(A: CSR, k: kernels.Kernels) -> Array:
    """The records of A's edges, which are made once and kept with A: 16 bytes an edge."""

    def make() -> Array:
        made = cupy().empty(4 * A.nnz, np.uint32)
        weights = (A.values, step_of(A, k.index)) if A.dtype.itemsize == 4 else (kernels.NULL, k.index(0))
        k.plain("record", A.nnz, (A.indptr, A.indices, *weights, np.int64(A.nnz), made))
        return made

    return A.keep("hops", make)


def step_of(A: Any, index: Any) -> Any:
    """Elements between values: 0 where all are one."""
    return index(A.values.strides[0] // A.dtype.itemsize)


def entry_bytes(dtype: np.dtype, index_dtype: np.dtype) -> int:
    """The size of an Entry of fixpoint.cu: a value and three indices, aligned."""
    largest = max(dtype.itemsize, index_dtype.itemsize)
    size = max(dtype.itemsize, index_dtype.itemsize) + 3 * index_dtype.itemsize
    return -(-size // largest) * largest


@shortest_path_tree.implement(CSR, "cuda")
def _tree(A: CSR, d: Array, source: int, s: Semiring) -> Any:
    if A.nnz > MOST_ENTRIES:
        return Unsuited(f"it counts edges in 32 bits, and there are {A.nnz:,}")
    cp = cupy()
    n, index_type = A.nrows, A.indices.dtype
    k = kernels.paths(s, A.dtype, index_type)
    control = cp.empty(TREE_WORDS, np.uint64)
    parent, offered = cp.empty(n, index_type), cp.empty(n, index_type)
    k.plain("start_tree", n, (control, np.int64(n), parent))
    lists = [cp.empty(n, index_type) for _ in range(2)]
    rows = A.indptr, A.indices, A.values, step_of(A, k.index)
    ordered = np.bool_(not gains_by_length(A, s))
    sizes = k.index(n), k.index(A.nnz)
    arguments = (control, *rows, *sizes, d, k.index(source), ordered, parent, offered, *lists)
    state = k.stepwise("tree", n + A.nnz, arguments, control)()
    unsettled = int(state[5])  # 1 + the last round that began with a vertex without a parent
    if unsettled > 0 and int(state[2 + (unsettled - 1) % 3]) == 0:
        raise ValueError("d is not a fixpoint of d = e_s ⊕ dA: a reached vertex hangs on no settled one")
    return as_vertices(parent)


def as_vertices(found: Array) -> Array:
    """Vertices in the integers that (n,) of them have everywhere, whatever A's indices are."""
    return found.astype(index_dtype(found.size), copy=False)
