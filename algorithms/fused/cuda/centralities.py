"""Core numbers, PageRank and betweenness run on the GPU."""

from __future__ import annotations

from math import isqrt
from typing import Any

import numpy as np

from algorithms.equations.betweenness import betweenness_centrality, exact_below, levels_and_plateaus, rounds_among
from algorithms.equations.core_number import core_number
from algorithms.equations.distances_in_blocks import blocks_of_distances, has_weights
from algorithms.equations.pagerank import pagerank, weight_leaving
from algorithms.shared.edges import undirected_pattern
from formats import CSR
from formats.arrays import DeviceArray as Array
from formats.arrays import cupy
from formats.storage.orientation import by_columns, compressed
from semiring import MinPlus
from semiring.algebra.codegen import types_of
from semiring.vectors import shares
from semiring.verbs.explanation import details
from semiring.verbs.registry import Declined

from . import kernels, layouts
from .graphs import rows_of
from .layouts import LONG, BetweennessControl, CoresControl, RowPiece, Seen
from .paths import step_of

MAX_PAIRS = 1 << 27
"""Pairs of a source and a vertex that are looked at together, of 32 bytes each."""

FLOAT_INF = np.array(np.inf).view(np.uint64)
"""The bits of infinity: no round has moved anything yet, as RanksControl has it."""

KINDS = {
    "bool": layouts.BOOL_WEIGHTS,
    "int32": layouts.INT32_WEIGHTS,
    "int64": layouts.INT64_WEIGHTS,
    "float32": layouts.FLOAT32_WEIGHTS,
    "float64": -1,
}
"""The kinds of weights by the names of their dtypes."""


@core_number.implement(CSR, "cuda")
def _core_number(A: CSR, symmetrize: bool) -> Array | Declined:
    S: Any = compressed(undirected_pattern(A, symmetrize), 0)
    if why := kernels.too_large(S):
        return why
    cp, n = cupy(), S.nrows
    k = kernels.pattern("cores", types_of(S))
    control, core, marks = cp.empty(CoresControl.words, np.uint64), cp.empty(n, np.int32), cp.empty(n, bool)
    most = (isqrt(4 * S.nnz + 1) - 1) // 2  # a core of k has k + 1 vertices with k edges
    k.plain("start_cores", n, (control, S.indptr, np.int64(n), np.int32(most), core, marks))
    state = k.stepwise("cores", n + S.nnz, (control, S.indptr, S.indices, np.int64(n), core, marks), control)()
    details(kernel="cores", passes=int(state[1]))
    return core.astype(np.int64)


@pagerank.implement(CSR, "cuda")
def _pagerank(A: CSR, v: Any, alpha: float, enough: float, max_iter: int) -> Array | Declined | None:
    if why := kernels.too_large(A):
        return why
    cp, n = cupy(), A.nrows
    columns: Any = by_columns(A)
    index = columns.indptr.dtype
    k = kernels.pattern("pagerank", types_of(columns))
    leaving = weight_leaving(A)
    x, share = cp.full(n, 1 / n), alpha * shares(leaving)
    jump, every = (v, 1) if isinstance(v, cp.ndarray) else (cp.full(1, v), 0)
    most = 2 * (A.nnz // LONG) + 1
    pieces, sums = cp.empty(most * RowPiece.nbytes(I=index), np.uint8), cp.empty(most)
    count = cp.zeros(1, np.uint64)
    seen = cp.zeros((2, kernels.MAX_BLOCKS, Seen.words))
    seen[0, 0, 0] = (leaving == 0).sum() / n
    control = cp.asarray(np.array([0, 0, FLOAT_INF], np.uint64))
    k.plain("list_long_columns", n, (columns.indptr, np.int64(n), pieces, count))
    weights = columns.values, step_of(columns, k.index), np.int32(KINDS[A.dtype.name])
    rule = np.int64(n), np.float64(alpha), np.float64(enough)
    shared = share, leaving, jump, k.index(every), x, x * share, cp.empty(n)
    arguments = (control, columns.indptr, columns.indices, *weights, *rule, *shared, pieces, count, sums, seen)
    state = k.stepwise("pagerank", n + A.nnz, arguments, control, max_iter)()
    details(kernel="pagerank", rounds=int(state[1]))
    return x if state[0] >> np.uint64(32) else None


@betweenness_centrality.implement(CSR, "cuda")
def _betweenness(A: CSR, sources: list[int], weighted: bool, endpoints: bool) -> Array | Declined:
    if why := kernels.too_large(A):
        return why
    cp, n = cupy(), A.nrows
    counted = has_weights(A, weighted)
    dtype = A.dtype if counted else np.dtype(np.int32)
    k = kernels.path("betweenness", MinPlus, dtype, types_of(A))
    columns: Any = by_columns(A)
    total, lengths = cp.zeros(n), (cp.ones(1, dtype), k.index(0))
    edges = [
        (*rows_of(each), *((each.values, step_of(each, k.index)) if counted else lengths)) for each in (A, columns)
    ]
    together = max(1, MAX_PAIRS // max(n, 1))
    for starts, d, led in blocks_of_distances(A, sources, weighted):
        for first in range(0, len(starts), together):
            rows = d[first : first + together]
            if not counted:
                rows = cp.where(rows < 0, MinPlus.zero(dtype), rows)
            some = starts[first : first + together]
            add_through(k, edges, rows, rounds_of(A, rows, some) if counted else kernels.NULL, endpoints, total)
        if endpoints:
            total[cp.asarray(np.array(starts, np.int64))] += led.sum(axis=1) - 1.0
    return total


def rounds_of(A: CSR, d: Array, sources: list[int]) -> Any:
    """Returns the round of each vertex, as `algorithms.betweenness` has it, or NULL if none needs rounds."""
    cp, exact = cupy(), exact_below(A)
    if exact == np.inf or float(cp.where(d == np.inf, d.dtype.type(0), d).max()) < exact:
        return kernels.NULL
    return cp.stack([rounds_among(*levels_and_plateaus(A, row), row, s) for row, s in zip(d, sources, strict=True)])


def add_through(k: kernels.Kernels, edges: Any, d: Array, rounds: Any, ends: bool, total: Array) -> None:
    """Adds to `total` the sums over the sources whose distances `d` (k, n) has."""
    cp, (count, n) = cupy(), d.shape
    control, waiting = cp.zeros(BetweennessControl.words, np.uint64), cp.empty(d.size, np.int32)
    order, begins = cp.empty(d.size, np.uint32), cp.empty(n + 2, np.uint32)
    paths, through = cp.zeros(d.size), cp.zeros(d.size)
    sizes = np.uint32(n), np.uint32(count)
    made = waiting, order, begins, paths, through
    state = k.stepwise("betweenness", d.size, (control, *edges[0], *edges[1], *sizes, d, rounds, *made), control)()
    k.plain("add_through", n, (*sizes, d, through, MinPlus.unit(d.dtype), np.bool_(ends), total))
    details(kernel="betweenness", steps=int(state[1]))
