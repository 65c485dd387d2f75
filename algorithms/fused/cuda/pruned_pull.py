"""Finds shortest paths beyond the device by one pull over sorted in-edges (pruned_pull.cu), if it moves least."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from algorithms.shared.single_source import Exact, Until
from formats import CSR
from formats.arrays import DeviceArray as Array
from formats.arrays import cupy
from formats.matrix.facts import Fact
from semiring import MinPlus, Semiring
from semiring.algebra.codegen import types_of
from semiring.verbs.explanation import details

from . import kernels
from .layouts import PullControl
from .out_of_core import FRONTIER, beyond, columns_in_pieces, left_for_blocks, room

ONE_PULL = "one pull"

MIN_DEGREE = 4
"""Mean degree below which an in-edge is hardly ever left out."""
SAMPLED_WEIGHTS = 4096
MIN_WEIGHT_SPREAD = 4
"""Times the lightest tenth of the weights that the heaviest tenth must be: else two light edges are hardly shorter."""
VECTOR_BYTES = 32
"""Bytes for each vertex of what the lightest edges are made with, and of what is kept of it."""
ENTRY_BYTES = 16
"""Bytes for an edge on the device: half of it for the edge, half left to searches."""
MAX_LIGHT, ROOM_PARTS = 32, (1.0, 1.25, 1.5, 2.0, 3.0, 4.0)
LISTED_BYTES, LISTED_SHARE = 12, 8
"""Bytes of an edge that was pulled, and how many edges there are for each that may be."""
READ_BYTES = 128
"""Bytes that a vertex reads at least."""
FRONTIER_PASSES = 1.5
"""Times that an expanded edge is read where a frontier's rows are read, about."""
FIRST_EDGES, MAX_FIRST_STEPS = 1 << 10, 16
"""Edges whose expansion begins a search, before there are bounds, and its steps at most."""
LISTED, FOUND, READ, IMPROVED, SATURATED = map(PullControl.word, ("listed", "found", "read", "improved", "saturated"))


class Sorted(NamedTuple):
    """In-edges by weight in pinned memory, of which each vertex's first `most` are a graph on the device.

    next: the weight of each vertex's first edge that is not.  least: of its lightest.  lowest: of all.  heaviest: of
    the matrix.
    """

    graph: CSR
    starts: Array
    pairs: Array
    most: int
    next: Array
    least: Array
    lowest: Any
    heaviest: float


IN_EDGES: Fact[Sorted | None] = Fact("in-edges by weight in pinned memory, the lightest on the device")


def least_traffic(predicted: dict[str, int]) -> str:
    """Returns the plan that moves least; of equal ones the first."""
    return min(predicted, key=predicted.__getitem__)


def may_prune(A: CSR, weights: np.ndarray) -> bool:
    """True if a pull may leave most in-edges out, by a sample of the weights."""
    if A.nnz < MIN_DEGREE * A.nrows or weights.size == 0:
        return False
    low, high = np.quantile(weights, (0.1, 0.9))
    return bool(high >= MIN_WEIGHT_SPREAD * max(low, 0))


def most_light(lengths: Array, budget: int) -> int:
    """Returns how many in-edges of each vertex a graph of so many edges has, at most."""
    xp: Any = cupy()
    most = 0
    while most < MAX_LIGHT and int(xp.minimum(lengths, most + 1).sum(dtype=np.int64)) <= budget:
        most += 1
    return most


def suits(A: CSR, s: Semiring, until: Until) -> bool:
    """True if a pull is possible, for weights that are not negative."""
    if s != MinPlus or until.limit is not None or until.target is not None or not beyond(A):
        return False
    return A.dtype in (np.float32, np.int32) and A.indices.dtype == np.int32


def sorted_in_edges(A: CSR) -> Sorted | None:
    """Returns in-edges by weight, made once and kept; None where they would not help, or there is no room."""

    def make() -> Sorted | None:
        weights: Any = A.values
        if not may_prune(A, weights[:: max(A.nnz // SAMPLED_WEIGHTS, 1)].get()):
            return None
        found: Any = None
        with suppress(MemoryError):
            found = columns_in_pieces(A, by_weight=True)
        for part in ROOM_PARTS if found is not None else ():
            with suppress(MemoryError):
                return _with_lightest(A, found.indptr, found.pairs, part)
        return None

    return A.keep(IN_EDGES, make)


def _with_lightest(A: CSR, starts: Array, pairs: Array, part: float) -> Sorted | None:
    """Copies the lightest edges to a part of the room that is left, one in `part`."""
    cp, n = cupy(), A.nrows
    most = most_light(cp.diff(starts), int(room(A, VECTOR_BYTES) / (ENTRY_BYTES * part)))
    if most == 0:
        return None
    k = kernels.path("pruned_pull", MinPlus, A.dtype, types_of(A))
    columns = starts, pairs, np.int64(n), k.index(most)
    counts, indptr = cp.zeros(n, starts.dtype), cp.zeros(n + 1, starts.dtype)
    k.plain("count_light", 8 * n, (*columns, counts))
    cp.cumsum(counts, dtype=starts.dtype, out=indptr[1:])
    size = int(indptr[-1])
    indices, weights = cp.empty(size, A.indices.dtype), cp.empty(size, A.dtype)
    following, least = cp.empty(n, A.dtype), cp.empty(n, A.dtype)
    counts[...] = indptr[:-1]
    k.plain("place_light", 8 * n, (*columns, counts, indices, weights, following, least))
    del counts
    graph = CSR.trusted(indptr, indices, weights, A.shape)
    cp.get_default_memory_pool().free_all_blocks()
    lowest, heaviest = least.min().get()[()], float(A.values.max())
    return Sorted(graph, starts, pairs, most, following, least, lowest, heaviest)


def pulled(A: CSR, P: Sorted, start: Any, bounded: Any) -> Any:
    """Finds distances by one pull; or by a search over A from upper bounds, where that is predicted to move less.

    start: of (graph,), a run from the source, one step of which is taken at a time.  bounded: of (graph, d), a run that
    goes on from distances.
    """
    first, crossing = start(A), A.nbytes - A.resident
    while not first.done and first.steps < MAX_FIRST_STEPS and first.edges <= FIRST_EDGES:
        first.go_on(first.steps + 1)
    if first.done:
        return first.answer()
    first.rest()
    run = bounded(P.graph, first.d)
    run.go_on()
    cp, n, k = cupy(), A.nrows, kernels.path("pruned_pull", MinPlus, A.dtype, types_of(A))
    control, listed = cp.zeros(PullControl.words, np.uint64), cp.empty(n, A.indices.dtype)
    k.plain("list_readers", n, (control, P.next, run.d, P.lowest, np.int64(n), listed))
    readers = int(control[LISTED])
    predicted = {ONE_PULL: READ_BYTES * readers, FRONTIER: int(FRONTIER_PASSES * crossing)}
    plan = least_traffic(predicted)
    state = np.zeros(PullControl.words, np.uint64)
    capacity = min(A.nnz // LISTED_SHARE + n, room_for_blocks(A) // 2 // LISTED_BYTES)
    if plan == ONE_PULL:
        ends = [cp.empty(capacity, A.indices.dtype) for _ in range(2)]
        weights = cp.empty(capacity, A.dtype)
        rest = P.least, P.lowest, *ends, weights, np.uint64(capacity)
        k.plain("pull_prefixes", 16 * readers, (control, P.starts, P.pairs, k.index(P.most), listed, run.d, *rest))
        state = control.get()
    if plan == FRONTIER or state[FOUND] > capacity:
        edges, saturated = run.edges, run.saturated or first.saturated
        run.rest()
        run = bounded(A, run.d)
        run.go_on()
        details(plan=FRONTIER, predicted=predicted, edges=run.edges, edges_on_the_device=edges)
        return run.d if saturated else run.answer()
    turns = 0
    while state[FOUND]:
        control[IMPROVED] = 0
        k.plain("relax_listed", int(state[FOUND]), (control, *ends, weights, np.int64(state[FOUND]), run.d, run.active))
        if not int(control[IMPROVED]):
            break
        turns += 1
        run.resume()
    state = control.get()
    crossed = 8 * int(state[READ]) + first.edges * crossing // A.nnz
    run.known()
    counted = {"readers": readers, "pulled": int(state[READ]), "listed": int(state[FOUND]), "turns": turns}
    details(plan=ONE_PULL, predicted=predicted, crossed=crossed, edges=int(state[READ]) + first.edges, **counted)
    if first.saturated or run.saturated or state[SATURATED] or not within_range(run.d, P.heaviest):
        return run.d
    return Exact(run.d)


def room_for_blocks(A: CSR) -> int:
    """Returns the bytes left on the device for edges, in whole blocks if it is little."""
    left = left_for_blocks(A, 2 * LISTED_BYTES * (A.nnz // LISTED_SHARE + A.nrows))
    return (1 << 40) if left is None else max(0, left)


def within_range(d: Array, heaviest: float) -> bool:
    """True if no distance is so near the end of the range that an edge left out may have been saturated."""
    zero = MinPlus.zero(d.dtype)
    largest = float(cupy().where(d == zero, d.dtype.type(0), d).max())
    return largest + heaviest < float(zero if d.dtype.kind == "i" else np.finfo(d.dtype).max)
