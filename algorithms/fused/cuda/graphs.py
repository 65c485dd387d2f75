"""Searches, components and forests on the GPU."""

from __future__ import annotations

from typing import Any

import numpy as np

from algorithms.bfs import bfs
from algorithms.boruvka import boruvka
from algorithms.scc import scc
from algorithms.traversal import Direction
from formats import COO, CSR
from formats.arrays import Array, cupy
from formats.orientation import by_columns, is_symmetric
from formats.weights import distinct
from semiring import MinPlus
from semiring.explanation import facts
from semiring.registry import Unsuited

from . import kernels
from .paths import Schedule, deep, fixpoint, step_of

SEARCH_WORDS = 11
STRONG_WORDS = 13
FOREST_WORDS = 7
"""Of 8 bytes, in SearchControl, StrongControl and ForestControl."""

MOST_ENTRIES = 2**32 - 1
"""Edges are counted in 32 bits."""

CHOICES = {"auto": 0, "push": 1, "pull": 2}
LINKED_FIRST = 2
"""Edges of each vertex that are linked before the giant component is looked for."""

TRIMS = 4
"""Passes of the trim before the pivot is chosen."""

LIGHT = 2.0
"""Edges a vertex, about, that are light."""

Rows = tuple[Array, Array]
"""indptr and indices."""


def too_large(A: CSR) -> Unsuited | None:
    """What to answer for a matrix whose edges cannot be counted."""
    if A.nnz <= MOST_ENTRIES and A.nrows <= MOST_ENTRIES // 2:
        return None
    return Unsuited(f"it counts edges in 32 bits, and there are {A.nnz:,}")


def rows_of(A: Any) -> Rows:
    """The pattern of compressed rows."""
    return A.indptr, A.indices


def columns_of(A: CSR) -> Rows:
    """The pattern by columns, which is made once and kept with A."""
    return rows_of(by_columns(A))


# --- breadth-first search ---------------------------------------------------------------------------------------------


@bfs.implement(CSR, "cuda")
def _(
    A: CSR, source: int, outside: Array, how: Direction, deepest: int | None, return_parents: bool
) -> tuple[Array, Array | None] | Unsuited:
    cp = cupy()
    limited = deepest is not None or bool(outside.any())
    if too_large(A):
        return Unsuited(f"it counts edges in 32 bits, and there are {A.nnz:,}")
    k = kernels.graphs(A.indices.dtype)
    choice = how.choice
    how = how.for_matrix(A)
    pulls = how.choice != "push"
    columns = columns_of(A) if pulls else None
    if choice == "auto" and not limited and deep(A):
        level = levels_by_hops(A, source)
    else:
        level = cp.where(outside, np.int32(-2), np.int32(-1))
        level[source] = 0
        state = search(k, rows_of(A), columns, A.nnz, level, how, deepest)
        facts(kernel="search", levels=int(state[1]), pulled=int(state[2]), alpha=how.alpha, beta=how.beta)
        if limited:
            cp.maximum(level, -1, out=level)
    facts(direction=how.choice, columns="kept with the matrix" if pulls else "not there, so every step is a push")
    return level, parents(k, A, columns, level) if return_parents else None


def levels_by_hops(A: CSR, source: int) -> Array:
    """Levels as distances with every edge of length 1, in any order."""
    how = Schedule("buckets", np.int32(BFS_DELTA), deep=True, rounds=BFS_ROUNDS)
    level, _ = fixpoint(A, MinPlus, how, source=source, length=np.int32(1))
    level[level == MinPlus.zero(level.dtype)] = -1
    return level


BFS_DELTA, BFS_ROUNDS = 64, 16


def search(
    k: kernels.Kernels,
    rows: Rows,
    columns: Rows | None,
    nnz: int,
    level: Array,
    how: Direction,
    deepest: int | None = None,
) -> np.ndarray:
    """Search from where `level` is 0 to where it is -1; returns what is left of the control."""
    cp = cupy()
    n, index_type = level.size, rows[1].dtype
    control = cp.zeros(SEARCH_WORDS, np.uint64)
    control[3] = nnz
    lists = [cp.empty(n, index_type) for _ in range(2)]
    bits = [cp.empty(-(-n // 32), np.uint32) for _ in range(2)] if columns is not None else [kernels.NULL] * 2
    choice = np.int32(CHOICES[how.choice] if columns is not None else CHOICES["push"])
    rule = choice, np.float64(how.alpha), np.float64(how.beta), np.int32(-1 if deepest is None else deepest)
    turned = columns if columns is not None else (kernels.NULL, kernels.NULL)
    arguments = (control, *rows, *turned, np.int64(n), np.int64(nnz), level, *bits, *lists, *rule)
    return k.stepwise("search", n + nnz, arguments, control)


def parents(k: kernels.Kernels, A: CSR, columns: Rows | None, level: Array) -> Array:
    """Each vertex's smallest predecessor one level nearer."""
    parent = cupy().full(A.nrows, -1, A.indices.dtype)
    if columns is not None:
        k.plain("parents_pulled", A.nrows, (*columns, np.int64(A.nrows), level, parent))
    else:
        sizes = k.index(A.nrows), k.index(A.nnz)
        k.plain("parents_pushed", A.nrows + A.nnz, (*rows_of(A), *sizes, level, parent))
    return parent


# --- components -------------------------------------------------------------------------------------------------------


@scc.implement(CSR, "cuda")
def _(A: CSR, weak: bool, trim: bool, pivot: str, seed: int, how: Direction) -> Array | Unsuited:
    if too_large(A):
        return Unsuited(f"it counts edges in 32 bits, and there are {A.nnz:,}")
    if A.nrows == 0:
        return cupy().empty(0, A.indices.dtype)
    k = kernels.graphs(A.indices.dtype)
    both_ways = is_symmetric(A, pattern=True)
    if weak or both_ways:
        facts(method="hooking", symmetric=both_ways)
        return connected(k, A, both_ways)
    return strong(k, A, trim, how)


def connected(k: kernels.Kernels, A: CSR, both_ways: bool) -> Array:
    """The smallest vertex of each vertex's component, edges counting both ways."""
    cp = cupy()
    n, index_type = A.nrows, A.indices.dtype
    label = cp.arange(n, dtype=index_type)
    rows, sizes = rows_of(A), (k.index(n), k.index(A.nnz))
    giant = kernels.NULL
    if both_ways and A.nnz > 4 * n // 3:
        giant = cp.empty(1, index_type)
        k.plain("link_first", n, (*rows, np.int64(n), np.int32(LINKED_FIRST), label))
        k.plain("flatten", n, (np.int64(n), label))
        k.plain("find_giant", 1, (np.int64(n), label, giant), threads=1024)
    k.plain("link_rest", n + A.nnz, (*rows, *sizes, giant, label))
    k.plain("flatten", n, (np.int64(n), label))
    return label


def strong(k: kernels.Kernels, A: CSR, trim: bool, how: Direction) -> Array:
    """Trim, a search each way from one pivot, and colours for what is left."""
    cp = cupy()
    n, index_type = A.nrows, A.indices.dtype
    rows, columns = rows_of(A), columns_of(A)
    label = cp.full(n, -1, index_type)
    control = cp.zeros(STRONG_WORDS, np.uint64)
    control[2] = 2**64 - 1
    forward, backward = cp.empty(n, np.int32), cp.empty(n, np.int32)
    size, work = np.int64(n), n + A.nnz
    k.persistent("trim", work, (control, *rows, *columns, size, label, np.int32(TRIMS if trim else 0)))
    k.plain("start_at_pivot", n, (control, size, label, forward, backward))
    there = search(k, rows, columns, A.nnz, forward, how)
    back = search(k, columns, rows, A.nnz, backward, how)
    part, smallest = cp.empty(n, index_type), cp.empty(n, index_type)
    colour, reaches = cp.empty(n, np.uint64), cp.empty(n, bool)
    lists = [cp.empty(n, index_type) for _ in range(2)]
    own = label, part, smallest, forward, backward, colour, reaches
    k.persistent("rest", work, (control, *rows, *columns, size, *own, *lists))
    state = control.get()
    facts(
        method="trim, two searches, colours",
        trims=int(state[3]),
        levels=(int(there[1]), int(back[1])),
        pulled=(int(there[2]), int(back[2])),
        rounds_of_colours=int(state[4]),
        passes_of_colours=int(state[5]),
        vertices_coloured=int(state[6]),
    )
    return label


# --- spanning forests -------------------------------------------------------------------------------------------------


@boruvka.implement(CSR, "cuda")
def _(A: CSR, symmetrize: bool, with_labels: bool) -> tuple[COO, Array | None] | Unsuited:
    if too_large(A):
        return Unsuited(f"it counts edges in 32 bits, and there are {A.nnz:,}")
    if not is_symmetric(A):
        return Unsuited("the graph is directed")
    if A.nrows == 0:
        return Unsuited("there is nothing to do")
    cp = cupy()
    n, index_type = A.nrows, A.indices.dtype
    k = kernels.graphs(index_type)
    weights, real, step = comparable(A, k)
    light = A.keep("light", lambda: lightest_part(weights, A.nnz, n, real))
    tree = cp.arange(n, dtype=index_type)
    best = [cp.full(n, 2**64 - 1, np.uint64) for _ in range(2)]
    listed = [cp.empty((A.nnz // 2 + 1) * (16 if index_type.itemsize == 4 else 24), np.uint8) for _ in range(2)]
    chosen = cp.zeros(A.nnz, bool)
    control = cp.zeros(FOREST_WORDS, np.uint64)
    sizes = k.index(n), k.index(A.nnz)
    k.persistent(
        "forest",
        n + A.nnz,
        (control, *rows_of(A), weights, step, np.bool_(real), *sizes, np.uint32(light), tree, *best, *listed, chosen),
    )
    places = cp.flatnonzero(chosen)
    ends = expand_at(A.indptr, places, index_type)
    F = COO.trusted(ends, A.indices[places], A.values[places], A.shape, 0)
    state = control.get()
    facts(rounds=int(state[4]), listed=int(state[5]), light=int(state[6]))
    return F, tree if with_labels else None


def expand_at(indptr: Array, places: Array, index_type: np.dtype) -> Array:
    """The rows of the entries at ascending `places`."""
    rows = cupy().searchsorted(indptr, places.astype(indptr.dtype), side="right") - 1
    return rows.astype(index_type)


def comparable(A: CSR, k: kernels.Kernels) -> tuple[Array, bool, Any]:
    """(32 bits of each weight, are they a float's, elements between weights); ranks where weights have 64."""
    if A.dtype.itemsize == 4:
        return A.values.view(np.int32), A.dtype.kind == "f", step_of(A, k.index)
    ranks = A.keep("weight ranks", lambda: distinct(cupy().ascontiguousarray(A.values))[0].astype(np.int32))
    return ranks, False, k.index(1)


def lightest_part(weights: Array, nnz: int, n: int, real: bool) -> int:
    """The ordinal of a weight than which about LIGHT edges a vertex are lighter, by a sample; 0 if that is most."""
    share = 2 * LIGHT * n / max(nnz, 1)
    if share > 0.5:
        return 0
    cp = cupy()
    sample = (
        weights.astype(np.int64) if weights.size < 4096 else weights[:: max(weights.size // 4096, 1)].astype(np.int64)
    )
    if real:
        sample = cp.where(sample < 0, -(sample & 0x7FFFFFFF), sample)
    return int(cp.sort(sample)[int(share * sample.size)]) + 2**31
