"""Shortest paths from several sources at once run on the GPU by rows of distances (batch.cu) or copies of the graph.

Of a graph with hubs, rows go along the few edges that matter (essential.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from algorithms.equations.bellman_ford import bellman_ford
from algorithms.equations.delta_stepping import delta_stepping
from algorithms.shared.parents import gains_by_length
from algorithms.shared.single_source import Exact, Until
from formats import CSR
from formats.arrays import DeviceArray as Array
from formats.arrays import cupy
from semiring import MinPlus, Semiring
from semiring.algebra.codegen import types_of
from semiring.statistics import mean
from semiring.verbs.explanation import details
from semiring.verbs.registry import Declined

from . import kernels
from .essential import ESSENTIAL, essential, looking_takes, too_far, will_look
from .layouts import BATCH_PIECE, MAX_SEARCHES, BatchPiece, Control
from .paths import COPIES_PER_ENTRY, STATE, Run, Schedule, buckets, deep, entry_bytes, graph_of, width_of

DELTA_MEANS, MIN_STEP_EDGES = 3.0, 1 << 16
"""Mean weights in Δ, where none is given, and edges of a step below which the threshold is raised."""

COPIES_DELTA_MEANS = 16.0
"""Mean weights in Δ of many copies, where none is given."""


def paths_need(A: CSR, k: int) -> int:
    """Returns the bytes that a batch of paths takes beside its answer."""
    n, index = A.nrows, A.indptr.dtype
    if in_copies(A, k):
        return copies_need(A, k)
    looked = looking_takes(A) if not A.keeps(ESSENTIAL) and will_look(A, k) else 0
    pieces = (n + A.nnz // BATCH_PIECE) * BatchPiece.nbytes(I=index)
    return n * (16 + row_width(k) * A.dtype.itemsize) + pieces + looked


def copies_need(A: CSR, k: int) -> int:
    """Returns the bytes that k copies of the graph take beside their distances."""
    n, index = A.nrows, A.indptr.dtype
    entries = max(k * n // COPIES_PER_ENTRY, n)
    return k * n // 8 + 2 * entries * entry_bytes(A.dtype, index) + 16 * A.nnz


def in_copies(A: CSR, k: int) -> bool:
    """True if k copies of `A`, each for a source, go side by side: its rows are short, and many."""
    return deep(A) and k * A.nrows < 2**31


def row_width(k: int) -> int:
    """Returns how many distances the row of a vertex holds."""
    return 32 if k <= 32 else 64


@bellman_ford.batch.implement(CSR, "cuda", most=MAX_SEARCHES, needs=paths_need)
def _bellman_ford(A: CSR, sources: list[int], rows: Any, s: Semiring, until: Until) -> Any:
    return solve(A, sources, rows[0], s, until, s == MinPlus)


@delta_stepping.batch.implement(CSR, "cuda", most=MAX_SEARCHES, needs=paths_need)
def _delta_stepping(A: CSR, sources: list[int], rows: Any, s: Semiring, until: Until, *, delta: Any = None) -> Any:
    return solve(A, sources, rows[0], s, until, True, delta)


def solve(
    A: CSR, sources: list[int], d: Array, s: Semiring, until: Until, in_buckets: bool, delta: Any = None
) -> Exact | Declined | None:
    """Writes the distances from each source to a row of d, within the limit or not."""
    if gains_by_length(A, s):
        return Declined("a path may be better for being longer")
    if why := kernels.too_large(A):
        return why
    if in_copies(A, len(sources)):
        width = width_of(A, delta, mean(A, MinPlus) * COPIES_DELTA_MEANS) if in_buckets else None
        how = Schedule("buckets", width, True, 12)
        state = run_copies(begin_copies(A, sources, d, s, how, limit=until.limit))
    else:
        state = along_essential(A, sources, d, s, until, delta)
        if state is None:
            state = run_batch(A, sources, d, s, until, *steering(A, in_buckets, delta))
    return None if state[Control.word("saturated")] else Exact(d)


def along_essential(A: CSR, sources: list[int], d: Array, s: Semiring, until: Until, delta: Any) -> Any:
    """Returns the kernel's last state along the essential edges; None where all edges must be looked at."""
    found = essential(A, s, until, len(sources), from_one)
    if found is None:
        return None
    E = found.edges
    state = run_batch(E, sources, d, s, until, *steering(E, True, delta))
    if too_far(d, found):
        return None
    details(essential=E.nnz)
    return state


def from_one(A: CSR, source: int) -> Array:
    """Returns the distances from one source."""
    run = Run(A, MinPlus, buckets(A), source=source)
    run.go_on()
    return run.d


def steering(A: CSR, in_buckets: bool, delta: Any) -> tuple[Any, int]:
    """Returns Δ, and the edges of a step below which the threshold is raised; None and 0 without buckets."""
    if not in_buckets:
        return None, 0
    return width_of(A, delta, mean(A, MinPlus) * DELTA_MEANS), MIN_STEP_EDGES if delta is None else 0


def begin_copies(A: CSR, sources: list[int], d: Array, s: Semiring, how: Schedule, **ends: Any) -> Run:
    """Begins paths in a copy of the graph for each source; d (k, n) will have the distances."""
    k = len(sources)
    d[...] = s.zero(d.dtype)
    d[cupy().arange(k), cupy().asarray(np.array(sources, np.int64))] = s.unit(d.dtype)
    return Run(A, s, how, start=d.reshape(-1), turns=False, copies=k, **ends)


def run_copies(run: Run) -> Any:
    """Runs the copies, and returns the kernel's last state."""
    run.go_on()
    details(kernel="copies", delta=run.how.width, **Control.read(run.state, *STATE))
    return run.state


def run_batch(A: CSR, sources: list[int], d: Array, s: Semiring, until: Until, width: Any, few: int) -> Any:
    """Runs by rows of distances, one for each vertex, and returns the kernel's last state."""
    cp, n, count = cupy(), A.nrows, len(sources)
    k = kernels.path("batch", s, A.dtype, types_of(A))
    row, zero, one = row_width(count), s.zero(A.dtype), s.unit(A.dtype)
    apart, active = cp.empty(n * row, A.dtype), cp.empty(n, np.uint64)
    pieces = cp.empty((n + A.nnz // BATCH_PIECE) * BatchPiece.nbytes(I=A.indptr.dtype), np.uint8)
    control, starts = cp.empty(Control.words, np.uint64), cp.asarray(np.array(sources, np.int64))
    size, across = np.int64(n), np.int32(row)
    first = zero if width is None else one
    k.plain("begin_batch", n * row, (control, size, across, apart, active, one, first))
    k.plain("place_batch", count, (np.int32(count), across, starts, apart, active, one))
    limit = zero if until.limit is None else A.dtype.type(until.limit)
    steering = zero if width is None else width, limit, np.uint64(few)
    arguments = control, *graph_of(A, k), size, apart, across, active, pieces, *steering
    state = k.stepwise("batch", n + 4 * A.nnz, arguments, control)()
    k.plain("turn_distances", n * row // 4, (size, np.int32(count), across, apart, d))
    details(kernel="batch", delta=width, **Control.read(state, *STATE))
    return state
