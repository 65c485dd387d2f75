"""Shortest paths run on the GPU as one fixpoint, whose threshold has a width for each algorithm (fixpoint.cu)."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from algorithms.equations.bellman_ford import bellman_ford
from algorithms.equations.da2cf import da2cf
from algorithms.equations.delta_stepping import delta_stepping
from algorithms.equations.dijkstra import dijkstra
from algorithms.shared.bucket_width import bucket_width
from algorithms.shared.parents import gains_by_length, nearest_parents, shortest_path_tree
from algorithms.shared.single_source import Exact, Until
from formats import CSR, Matrix
from formats.arrays import Array, cupy, differs, index_dtype
from formats.matrix.facts import Fact
from semiring import MinPlus, Semiring, reduce, select, tight
from semiring.algebra.codegen import Index, types_of
from semiring.cuda import compile, statistics
from semiring.statistics import mean
from semiring.vectors import as_bound, at_the_end, longest_row
from semiring.verbs.explanation import details, explained
from semiring.verbs.registry import Declined

from . import cycles, kernels, pruned_pull
from .essential import MIN_SKEW, edges_for
from .layouts import CHUNK, Control, Entry, TreeControl
from .out_of_core import FRONTIER, has_room, pinned

STATE = "steps", "edges", "thresholds", "saturated", "doublings", "crowded"
"""Fields of Control that `explain` shows."""

CROWD_SHARE, MIN_CROWD_ENTRIES = 1 / 16, 1 << 15
"""Entries of a deep step that are too many for it: so many for each vertex, and more than so many."""

TREE_ROUNDS = 128
"""Rounds of a tree after which the rest of them are found as levels, which do not take a step for each."""

DEEP_MEAN_DEGREE, DEEP_MAX_DEGREE = 5, 512
"""Mean and largest degrees up to which a run begins deep, which is faster there: roads and grids."""

CALM_EDGES = 4096
"""Edges of a wide step below which it is calm: many such in a row are the deep kernel's work."""

DEEP_DELTA_MEANS, WIDE_DELTA_MEANS = 32.0, 0.75
"""Mean weights in Δ, where none is given."""

MIN_NNZ_TO_WIDEN = 1 << 24
"""Entries of a graph with hubs from which Δ begins narrow. With one Δ, an R-MAT graph's edges are relaxed 2.4 times."""

STEPS_OF_ALL_EDGES, MAX_DOUBLINGS = 10, 11
"""A narrow Δ doubles after a step of fewer edges than all by the first number, and at most so many times."""

ROUNDS_PER_STEP, DEEP_MIN_ENTRIES, DEEP_MAX_ENTRIES, WIDE_MIN_EDGES = 12, 2048, 8192, 1 << 17
"""The numbers that `Schedule` calls rounds, few and many."""

FIRST_LOOK_STEPS = 16
"""Steps after which a run whose paths may gain by length takes turns with one that looks for improving cycles."""

STEPS_PER_VERTEX, MIN_STEPS = 8, 4096
"""Steps after which a fixpoint is given up: so many for each vertex, and these. Where the laws hold it has fewer."""

ASTRAY = "d is not a fixpoint of d = e_s ⊕ dA: a reached vertex hangs on no settled one"
"""The message of distances that have no tree."""

COPIES_PER_ENTRY = 16
"""Vertices of all copies of a graph for each entry of their queue."""
QUEUE_SHARE, MIN_QUEUE_ENTRIES = 1 / 4, 4096
"""Entries of a deep kernel's queue: so many for each vertex, and at least so many."""

BEGUN: Fact[None] = Fact("compiling of what a run begins with is under way")
"""Facts are given by the semiring, and the dtype of distances."""

RUN_BYTES_PER_VERTEX = 32
"""Bytes for each vertex that are left to a run where the records of the edges are on the device, too."""

HOP_RECORDS: Fact[Array] = Fact("records of the edges")
MEAN_LENGTH: Fact[float] = Fact("mean weight without its sign")
BUCKETS: Fact[Schedule] = Fact("near and far vertices, by a Δ that suits the graph")
FRONTIERS: Fact[Schedule] = Fact("whole frontiers, deep where that suits the graph")


@dataclass(frozen=True)
class Schedule:
    """Says how the fixpoint is reached.

    name: for `explain`.  width: of the threshold; None for no threshold.  deep: many rounds of a warp between barriers,
    so many.  few: edges of a wide step below which the threshold is raised, or entries of a deep step below which the
    width is doubled, until they are more than many.  doublings: of the width by wide steps of few edges, at most.
    deepens: may a run that begins wide go deep after many calm steps?  every: sweeps.
    """

    name: str
    width: Any
    deep: bool = False
    rounds: int = 16
    few: int = 0
    many: int = 2**63
    deepens: bool = False
    doublings: int = 0
    every: bool = False


HOPS = Schedule("buckets", np.int32(64), True, rounds=12, few=2048, many=8192)
"""The schedule of levels on roads and grids: shortest paths with edges of length 1."""


@bellman_ford.implement(CSR, "cuda")
def by_frontiers(A: CSR, source: int, s: Semiring, until: Until) -> Any:
    gains = gains_by_length(A, s)
    if gains and s == MinPlus:
        return solve(A, source, s, until, buckets(A), gains)
    how = A.keep(FRONTIERS, lambda: Schedule("frontier", None, deep(A), deepens=narrow(A)))
    return solve(A, source, s, until, how, gains)


@delta_stepping.implement(CSR, "cuda")
def by_buckets(A: CSR, source: int, s: Semiring, until: Until, *, delta: Any = None) -> Any:
    if delta is None and pruned_pull.suits(A, s, until):
        sorted_by_weight = pruned_pull.sorted_in_edges(A)
        if sorted_by_weight is not None:
            return pruned_pull.pulled(A, sorted_by_weight, functools.partial(Stepped, source=source), Stepped)
        details(plan=FRONTIER)
    return solve(A, source, s, until, buckets(A, delta))


@da2cf.implement(CSR, "cuda")
@dijkstra.implement(CSR, "cuda")
def by_nearest(A: CSR, source: int, s: Semiring, until: Until) -> Any:
    return (by_buckets if s == MinPlus else by_frontiers)(A, source, s, until)


def deep(A: CSR) -> bool:
    """True if A has so many short rows that the number of steps is everything."""
    return may_be_deep(A) and longest_row(A) <= DEEP_MAX_DEGREE


def begin_ahead(A: CSR, s: Semiring, dtype: np.dtype) -> None:
    """Compiles ahead, once, what a run on `A` with distances of a dtype is likely to begin with."""
    types = types_of(A)
    unit = kernels.path_unit, "deep" if may_be_deep(A) else "wide", s, dtype, types
    A.keep(BEGUN, lambda: compile.ahead((statistics.unit, A.dtype, types), unit), s, dtype)


def may_be_deep(A: CSR) -> bool:
    """True if `deep` is a matter of A's longest row."""
    return narrow(A) and 0 < A.nnz <= DEEP_MEAN_DEGREE * A.nrows


def narrow(A: CSR) -> bool:
    """True if the record of an edge has no more than 16 bytes."""
    return bool(A.indptr.dtype == np.int32)


def buckets(A: CSR, delta: Any = None) -> Schedule:
    """Returns the schedule of near and far vertices, by a Δ that suits the graph unless one is given."""
    return A.keep(BUCKETS, lambda: _buckets(A, None)) if delta is None else _buckets(A, delta)


def _buckets(A: CSR, delta: Any) -> Schedule:
    begin_ahead(A, MinPlus, A.dtype)
    typical = mean_length(A)
    if not deep(A):
        return replace(wide_buckets(A, delta, typical), rounds=ROUNDS_PER_STEP, deepens=narrow(A))
    few, width = 0 if delta is not None else DEEP_MIN_ENTRIES, width_of(A, delta, typical * DEEP_DELTA_MEANS)
    return Schedule("buckets", width, True, ROUNDS_PER_STEP, few, DEEP_MAX_ENTRIES, narrow(A))


def wide_buckets(A: Matrix, delta: Any, typical: float) -> Schedule:
    """Returns that schedule in wide steps, by Δ or None, and the typical length of an edge."""
    width = width_of(A, delta, typical * WIDE_DELTA_MEANS)
    if delta is not None:
        return Schedule("buckets", width)
    if gains_by_length(A, MinPlus) or not widens(A):
        return Schedule("buckets", width, few=WIDE_MIN_EDGES)
    width, doublings = halved(width, MAX_DOUBLINGS)
    return Schedule("buckets", width, few=A.nnz // STEPS_OF_ALL_EDGES, doublings=doublings)


def width_of(A: Matrix, delta: Any, suitable: float) -> Any:
    """Returns Δ as a number of A's dtype: the one that is given, or else a suitable one."""
    width = as_bound(max(suitable, 1e-30), A.dtype, MinPlus) if delta is None else bucket_width(A, delta)
    return A.dtype.type(1) if A.dtype.kind == "i" and not width > 0 else width


def widens(A: Matrix) -> bool:
    """True if A is so large, with such hubs, that one Δ goes along many edges before their ends are settled."""
    return A.nnz >= MIN_NNZ_TO_WIDEN and longest_row(A) * A.nrows >= MIN_SKEW * A.nnz


def halved(width: Any, times: int) -> tuple[Any, int]:
    """Returns a narrower Δ, and how often it doubles to come to the width: at most so many times."""
    while times > 0 and not type(width)(width / 2**times) > 0:
        times -= 1
    return type(width)(width / 2**times), times


def mean_length(A: CSR) -> float:
    """Returns the mean weight without its sign."""
    if not gains_by_length(A, MinPlus):
        return mean(A, MinPlus)
    return A.keep(MEAN_LENGTH, lambda: float(cupy().abs(A.values.astype(np.float64)).mean()))


def solve(A: CSR, source: int, s: Semiring, until: Until, how: Schedule, gains: bool = False) -> Any:
    """Finds the fixpoint of d = e_source ⊕ dA.

    gains: may a path be better for being longer? Then cycles that improve are looked for.
    """
    if why := kernels.too_large(A):
        return why
    run = Run(A, s, how, source=source, limit=until.limit, target=until.target)
    most = STEPS_PER_VERTEX * A.nrows + MIN_STEPS
    run.go_on(FIRST_LOOK_STEPS if gains else most)
    if not run.done and gains:
        alike = Schedule("reachability", None, how.deep, deepens=how.deepens)
        reached, _ = fixpoint(A, s, alike, source=source, length=s.unit(A.dtype))
        out = cycles.Lookout(A, s, Run(A, s, Schedule("step by step", None), start=reached))
        while not run.done and run.steps < most:
            out.go_on(4 * run.steps)
            run.go_on(min(2 * run.steps, most))
    d, state = run.d, run.known()
    if not run.done:
        return Declined(f"after {run.steps} steps something still changed")
    if not gains:
        return d if state["saturated"] else Exact(d)
    if at_the_end(reduce(d, s.add), s):
        return Declined("a distance is at the end of the range, as it would be after a cycle")
    return d


class Run:
    """A fixpoint of d = e_source ⊕ dA on its way, which can be left after any step.

    start: the least d = start ⊕ dA instead, in steps that depend on nothing but the step before; it is written over.
    best: the same in any steps, of a start with this best distance, which then needs no unit.
    limit, target: beyond which nothing need be found.  length: of every edge, instead of A's values.  turns: may the
    kernels take turns? Else a deep run ends where it becomes crowded.

    d: the distances.  active: a bit for each vertex that has improved since it was expanded.  when: the step, counted
    from 1, that last expanded each vertex, if there is a start.  done: is nothing active, or nothing that counts?
    """

    def __init__(
        self,
        A: CSR,
        s: Semiring,
        how: Schedule,
        *,
        source: int = -1,
        start: Array | None = None,
        best: Any = None,
        limit: Any = None,
        target: int | None = None,
        length: Any = None,
        turns: bool = True,
        copies: int = 1,
    ) -> None:
        cp = cupy()
        n, dtype, self.index_type = A.nrows * copies, A.dtype if length is None else length.dtype, A.indptr.dtype
        self.A, self.how, self.length, self.turns, self.dtype = A, how, length, turns, dtype
        self.s, self.ran, self.copies = s, ["copies" if copies > 1 else "deep" if how.deep else "wide"], copies
        self.zero, self.one = s.zero(dtype), s.unit(dtype) if best is None else best
        self.width = self.zero if how.width is None else how.width
        self.d, self.active = cp.empty(n, dtype) if start is None else start, cp.empty(-(-n // 32), np.uint32)
        stepwise = start is not None and best is None and copies == 1
        self.noted: Any = cp.empty(n, dtype) if stepwise else None
        self.when: Any = cp.zeros(n, np.int32) if stepwise else None
        self.k = k = self._unit()
        self.control = cp.empty(Control.words, np.uint64)
        first = np.int64(-1 if start is not None else source)
        threshold = self.zero if how.width is None else self.one
        k.plain("begin", n, (self.control, np.int64(n), self.d, self.active, first, self.one, threshold))
        self.ends = self.zero if limit is None else dtype.type(limit), k.index(-1 if target is None else target)
        self.steps, self.done, self.state = 0, False, np.zeros(Control.words, np.uint64)
        self._made: dict[str, tuple[Any, ...]] = {}

    def _unit(self) -> kernels.Kernels:
        """Returns the kernels of the unit whose turn it is."""
        kind = "step_by_step" if self.ran[-1] == "wide" and self.noted is not None else self.ran[-1]
        return kernels.path_of(self.A, kind, self.s, self.dtype)

    def go_on(self, upto: int | None = None) -> None:
        """Takes steps until all is done, or there have been that many."""
        while not self.done and (upto is None or self.steps < upto):
            kernel = self.ran[-1]
            if kernel not in self._made:
                self._made[kernel] = self._wide() if kernel == "wide" else self._deep()
            arguments, size = self._made[kernel], (self.A.nrows + self.A.nnz) * self.copies
            self.control[:1] = 0
            name = "wide" if kernel == "wide" else "deep"
            self.state = state = self.k.stepwise(name, size, arguments, self.control, upto, self.steps)()
            self.steps, self.done = int(state[1]), bool(state[0] >> np.uint64(32))
            if self.turns and self.done and state[Control.word("crowded" if kernel == "deep" else "calm")]:
                self.ran.append("wide" if kernel == "deep" else "deep")
                self.k, self.done = self._unit(), False

    def _deep(self) -> tuple[Any, ...]:
        cp, A, k, how, n = cupy(), self.A, self.k, self.how, self.A.nrows
        capacity = max(
            int(n * QUEUE_SHARE), n * self.copies // COPIES_PER_ENTRY, MIN_QUEUE_ENTRIES, -(-longest_row(A) // CHUNK)
        )
        queues = [cp.empty(capacity * entry_bytes(self.dtype, self.index_type), np.uint8) for _ in range(2)]
        weights = (A.values, step_of(A, k.index)) if self.dtype.itemsize != 4 else (kernels.NULL, k.index(0))
        fixed = np.bool_(self.length is not None), self.zero if self.length is None else self.length
        matrix = A.indptr, hops(A, k), *weights, *fixed, np.int64(n), np.int32(self.copies)
        few, many = (how.few, how.many) if how.deep or not how.few else (DEEP_MIN_ENTRIES, DEEP_MAX_ENTRIES)
        steering = self.one, self.width, *self.ends, np.int32(how.rounds), np.uint64(few), np.uint64(many)
        crowd = np.int64(max(n * CROWD_SHARE, MIN_CROWD_ENTRIES) if self.copies == 1 else kernels.MAX_ENTRIES)
        return self.control, *matrix, self.d, self.active, *queues, np.uint64(capacity), *steering, crowd

    def _wide(self) -> tuple[Any, ...]:
        cp, A, k, how, n = cupy(), self.A, self.k, self.how, self.A.nrows
        lists = [cp.empty(n, self.index_type) for _ in range(2)]
        weights = (A.values, step_of(A, k.index)) if self.length is None else (cp.full(1, self.length), k.index(0))
        rows = A.indptr, A.indices, *weights, np.int64(n)
        few = np.uint64(WIDE_MIN_EDGES if how.deep and how.few else how.few)
        notes = (kernels.NULL,) * 2 if self.noted is None else (self.noted, self.when)
        calm = np.uint64(CALM_EDGES if how.deep or how.deepens else 0)
        steering = self.width, *self.ends, np.bool_(how.every), few, *notes, calm
        return self.control, *rows, self.d, self.active, *lists, *steering, np.uint64(how.doublings)

    def known(self) -> dict[str, int]:
        """Returns what happened, and tells `explain`."""
        how = self.how
        known = Control.read(self.state, *STATE) | {"done": int(self.done)}
        known["crowded"] |= len(self.ran) > 1
        if explained():
            kernel = ", then ".join(self.ran if len(self.ran) < 4 else [*self.ran[:2], "in turns"])
            details(kernel=kernel, schedule=how.name, delta=how.width, direction="push", **known)
        return known


class Stepped(Run):
    """A run by the wide kernel for min-plus without negative weights, from a source, or on from distances."""

    def __init__(self, A: CSR, d: Array | None = None, source: int = -1) -> None:
        width = width_of(A, None, mean_length(A) * WIDE_DELTA_MEANS)
        super().__init__(A, MinPlus, Schedule("buckets", width, few=WIDE_MIN_EDGES), source=max(source, 0))
        if d is not None:
            self.d, n = d, np.int64(A.nrows)
            arguments = self.control, n, d, self.active, np.int64(-1), self.one, self.one
            self.k.plain("begin", A.nrows, arguments)

    @property
    def edges(self) -> int:
        """The edges that were expanded."""
        return int(self.state[Control.word("edges")])

    @property
    def saturated(self) -> bool:
        """True if a finite length has become the zero."""
        return bool(self.state[Control.word("saturated")])

    def rest(self) -> None:
        """Gives back all but the distances."""
        self._made.clear()

    def resume(self) -> None:
        """Goes on from what is active."""
        saturated = self.state[Control.word("saturated")]
        kernels.path("pruned_pull", self.s, self.dtype, types_of(self.A)).plain(
            "resume", 1, (self.control, self.one, self.one)
        )
        self.steps, self.done = 0, False
        self.go_on()
        self.state[Control.word("saturated")] |= saturated

    def answer(self) -> Any:
        """Returns the distances, and that none has left the range, if none has."""
        self.known()
        return self.d if self.saturated else Exact(self.d)


def fixpoint(A: CSR, s: Semiring, how: Schedule, **start: Any) -> tuple[Array, dict[str, int]]:
    """Returns the least d = e_source ⊕ dA, and what happened; see `Run` for what it may start from."""
    run = Run(A, s, how, **start)
    run.go_on()
    return run.d, run.known()


def from_distances(A: CSR, d: Array, frontier: Array, s: Semiring, limit: Any) -> Array | Declined:
    """Relax in place until nothing improves; every vertex that has a distance is active at first."""
    if why := kernels.too_large(A):
        return why
    how = buckets(A) if s == MinPlus else Schedule("frontier", None, deep(A), deepens=narrow(A))
    run = Run(A, s, how, start=d, best=reduce(d[frontier], s.add), limit=limit)
    run.go_on(STEPS_PER_VERTEX * A.nrows + MIN_STEPS)
    run.known()
    return d if run.done else Declined(f"after {run.steps} steps something still changed")


def mark_unreached(level: Array, index: Index, kind: str = "deep") -> None:
    """Writes -1 where a fixpoint of HOPS has found no way, by the kernels of an index type and a kind."""
    k = kernels.path(kind, MinPlus, level.dtype, index)
    k.plain("mark_unreached", level.size, (np.int64(level.size), level))


def hops(A: CSR, k: kernels.Kernels) -> Array:
    """Returns the records of A's edges, made once and kept with A: 16 bytes an edge, pinned where there is no room."""

    def make() -> Array:
        words = np.dtype(np.uint32)
        inside = has_room(A, RUN_BYTES_PER_VERTEX, 16)
        made = cupy().empty(4 * A.nnz, words) if inside else pinned(f"records of {A!r}", 4 * A.nnz, words, A.place)
        weights = (A.values, step_of(A, k.index)) if A.dtype.itemsize == 4 else (kernels.NULL, k.index(0))
        k.plain("record", A.nnz, (A.indptr, A.indices, *weights, np.int64(A.nnz), made))
        return made

    return A.keep(HOP_RECORDS, make)


def step_of(A: Any, index: Any) -> Any:
    """Returns the elements between values: 0 where all are one."""
    return index(A.values.strides[0] // A.dtype.itemsize)


def graph_of(A: Any, k: kernels.Kernels) -> tuple[Any, ...]:
    """Returns a matrix as kernels take a Graph: indptr, indices, values and the step between these."""
    return A.indptr, A.indices, A.values, step_of(A, k.index)


def entry_bytes(dtype: np.dtype, index_dtype: np.dtype) -> int:
    """Returns the size of an entry of a deep kernel's queue."""
    return Entry.nbytes(T=dtype, I=index_dtype)


@shortest_path_tree.implement(CSR, "cuda")
def tree(A: CSR, d: Array, source: int, s: Semiring) -> Any:
    if why := kernels.too_large(A):
        return why
    cp = cupy()
    n, index_type, E = A.nrows, A.indptr.dtype, edges_for(A, d, s)
    k = kernels.path_of(E, "tree", s, A.dtype)
    control = cp.empty(TreeControl.words, np.uint64)
    parent, offered = cp.empty(n, index_type), cp.empty(n, index_type)
    k.plain("start_tree", n, (control, np.int64(n), parent))
    lists = [cp.empty(n, index_type) for _ in range(2)]
    ordered, sizes = np.bool_(not gains_by_length(A, s)), (k.index(n), k.index(E.nnz))
    arguments = (control, *graph_of(E, k), *sizes, d, k.index(source), ordered, parent, offered, *lists)
    state = k.stepwise("tree", n + E.nnz, arguments, control, TREE_ROUNDS if narrow(A) else None)()
    if not state[0] >> np.uint64(32):
        settle_by_hops(E, d, source, s, parent)
        return as_vertices(parent)
    unsettled = int(state[TreeControl.word("unsettled")])
    if unsettled > 0 and int(state[TreeControl.word("queue") + (unsettled - 1) % 3]) == 0:
        raise ValueError(ASTRAY)
    return as_vertices(parent)


def tight_edges(A: CSR, fmt: type) -> dict[str, int]:
    """Returns the bytes of the pass over all edges: their ends, two distances, a length and flags."""
    return {"tight edges": A.nnz * (2 * A.indices.itemsize + 3 * 8 + 3)}


@nearest_parents.implement(CSR, "cuda", needs=tight_edges)
def _nearest_tree(A: CSR, d: Array, source: int, s: Semiring) -> Any:
    from .nearest import parents

    if s != MinPlus or A.dtype == np.int64 or not narrow(A) or d.dtype != A.dtype:
        return Declined("only MinPlus of int32 and floats is written for this, with vertices in 32 bits")
    parent, waiting = parents(A, d, source)
    if bool(waiting.any()):
        settle_by_hops(A, d, source, s, parent)
    return as_vertices(parent)


def settle_by_hops(A: CSR, d: Array, source: int, s: Semiring, parent: Array) -> None:
    """Finds the parents that are missing: a vertex's round is its level in T = A⟨d_i ⊗ a_ij = d_j⟩."""
    cp = cupy()
    n, absent = A.nrows, MinPlus.zero(np.dtype(np.int32))
    T: Any = select(A, tight(s), row=d, col=d)
    settled = parent >= 0
    settled[source] = True
    level, _ = fixpoint(T, MinPlus, HOPS, start=cp.where(settled, 0, absent).astype(np.int32), length=np.int32(1))
    mark_unreached(level, types_of(A))
    k = kernels.pattern("parents", types_of(T))
    if bool(((level < 0) & differs(d, s.zero(d.dtype))).any()):
        raise ValueError(ASTRAY)
    k.plain("parents_pushed", n + T.nnz, (T.indptr, T.indices, k.index(n), k.index(T.nnz), level, parent))


def as_vertices(found: Array) -> Array:
    """Returns vertices in the integers that (n,) of them have everywhere, whatever A's indices are."""
    return found.astype(index_dtype(found.size), copy=False)
