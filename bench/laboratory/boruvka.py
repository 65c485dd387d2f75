"""Borůvka's algorithm on both processors: the CPU searches some vertices' lightest edges, the GPU the others' [1].

A round has two halves. In the first every vertex looks for its lightest edge that leaves its tree. Rows are sorted by
weight beforehand, so that is the first one that does, and no search goes back. The GPU copies the trees to the host
meanwhile, the CPU searches its share of the vertices, and its answers are on their way while the GPU still searches.
In the second half the GPU joins trees.

The share that is best makes both search for as long. `measured_share` finds it by forests of two shares:

    c + a + s·b = (1 - s)·g     c: the copy of the trees    a + s·b: the searches of a share s by the CPU
                                g: all searches by the GPU

Vertices are dealt out in blocks, at random, so that a share of the vertices has that share of the edges.

[1] A. S. Kolganov, Hybrid implementation of the MST algorithm using CPU and GPU, 2016.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from formats import COO, CSR, by_weight
from formats.arrays import Array, cupy, namespace, to_device
from formats.matrix.facts import Fact
from formats.preparation.weights import ordinals
from semiring.algebra.codegen import index_text
from semiring.cpu import threads
from semiring.cpu.kernels import compiled
from semiring.cuda import compile

BLOCK = 64
"""Vertices that are dealt out together."""
PIECES, WORTH = 4, 1 << 16
"""For each thread of the CPU, of about equally many vertices and entries, and of so many at least."""
TRIALS = 1 / 64, 1 / 8
"""The shares by which the best one is found."""
TO_HOST, TO_GPU = 2, 1
"""Directions of CUDA's copies."""


@dataclass(frozen=True)
class Rows:
    """Rows whose entries go from the lightest to the heaviest, of equal ones by column; weights as ordered integers."""

    indptr: Array
    indices: Array
    weights: Array


@dataclass
class Times:
    """Milliseconds of the searches of a forest, in all rounds."""

    rounds: int = 0
    copy_ms: float = 0.0
    cpu_ms: float = 0.0
    gpu_ms: float = 0.0
    events: list[tuple[Any, Any]] = field(default_factory=list)


BY_WEIGHT: Fact[tuple[Rows, Rows]] = Fact("the rows by weight, on the host and on the GPU")


def rows_by_weight(A: CSR) -> Rows:
    """A's rows by weight, where A is. ValueError unless columns have 32 bits and weights 4 bytes."""
    if A.indptr.dtype != np.int32 or A.dtype not in (np.int32, np.float32):
        raise ValueError(f"weights must have 4 bytes and entries be counted in 32 bits, got {A.dtype} and {A.nnz:,}")
    N = by_weight(A)
    return Rows(N.indptr, N.indices, (ordinals(N.values).astype(np.int64) + 2**31).astype(np.uint32))


def as_weights(taken: Array, dtype: np.dtype) -> Array:
    """The weights that were made integers; -0.0 is 0.0."""
    signed = (taken.astype(np.int64) - 2**31).astype(np.int32)
    if dtype.kind != "f":
        return signed
    bits: Any = namespace(taken).where(signed < 0, 2**31 - signed.astype(np.int64), signed)
    return bits.astype(np.uint32).view(dtype)


def both_rows(A: CSR) -> tuple[Rows, Rows]:
    """The rows by weight of a matrix on the GPU, on the host and there: made once, and kept with A."""

    def make() -> tuple[Rows, Rows]:
        there = rows_by_weight(A)
        return Rows(*(to_device(part, "cpu") for part in vars(there).values())), there

    return A.keep(BY_WEIGHT, make)


def dealt(n: int, share: float, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Deals the CPU's vertices, a share of n in blocks drawn at random, and the GPU's; both ascend."""
    count = -(-n // BLOCK)
    of_cpu = np.zeros(count, bool)
    of_cpu[np.random.default_rng(seed).permutation(count)[: round(share * count)]] = True
    vertices = np.arange(n, dtype=np.int32)
    chosen = np.repeat(of_cpu, BLOCK)[:n]
    return vertices[chosen], vertices[~chosen]


@compiled
def search(vertices, rows, tree, found, start, stop):
    """The lightest edges that leave their trees, of vertices[start:stop]; other = -1: there is none."""
    (indptr, indices, weights), (place, other, weight) = rows, found
    for i in range(start, stop):
        v = np.uintp(vertices[i])
        own = tree[v]
        e, end = np.uintp(place[i]), np.uintp(indptr[v + np.uintp(1)])
        while e < end and tree[np.uintp(indices[e])] == own:
            e += np.uintp(1)
        place[i] = e
        other[i] = -1
        if e < end:
            other[i], weight[i] = indices[e], weights[e]


class CPUSearch:
    """The CPU's vertices, and where the search of each goes on."""

    def __init__(self, rows: Rows, vertices: np.ndarray) -> None:
        self.rows, self.vertices = rows, vertices
        self.place = rows.indptr[vertices]
        work = np.cumsum(rows.indptr[vertices + 1] - self.place + 1, dtype=np.int64)
        total = int(work[-1]) if work.size else 0
        count = max(1, min(PIECES * threads.get_threads(), total // WORTH))
        cuts = np.searchsorted(work, np.arange(1, count) * (total / count))
        edges = np.unique([0, *cuts, vertices.size])
        self.pieces = list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))

    def begin(self) -> None:
        """Every search begins with its row."""
        self.place[:] = self.rows.indptr[self.vertices]

    def find(self, tree: np.ndarray, other: np.ndarray, weight: np.ndarray) -> None:
        """Search all of them, by all threads."""
        rows = self.rows
        given = self.vertices, (rows.indptr, rows.indices, rows.weights), tree, (self.place, other, weight)
        threads.share(lambda k: search(*given, *self.pieces[k]), len(self.pieces))


class Hybrid:
    """Forests of a matrix on the GPU, of which the CPU searches a share of the vertices."""

    def __init__(self, A: CSR, share: float) -> None:
        if not 0 <= share <= 1:
            raise ValueError(f"share must be in [0, 1], got {share}")
        cp, n = cupy(), A.nrows
        self.A, self.share = A, share
        self.host, self.there = both_rows(A)
        self.mine, others = dealt(n, share)
        self.cpu = CPUSearch(self.host, self.mine)
        self.its, self.mine_there = cp.asarray(others), cp.asarray(self.mine)
        self.copies = cp.cuda.Stream(non_blocking=True)
        self.tree_here, self.other_here = pinned(n, np.int32), pinned(self.mine.size, np.int32)
        self.weight_here = pinned(self.mine.size, np.uint32)
        self.answers = cp.empty(self.mine.size, np.int32), cp.empty(self.mine.size, np.uint32)
        self.times = Times()

    def grown(self) -> tuple[Array, Array, Array]:
        """Returns u, v and the weights as integers of the minimum spanning forest's edges, u < v; fills `times`."""
        cp, A, k, n = cupy(), self.A, kernels(), np.int64(self.A.nrows)
        self.times, cpu = Times(), self.cpu
        cpu.begin()
        tree, parent, place, other, *edges = (cp.empty(A.nrows, np.int32) for _ in range(6))
        best, (larger, weight, taken) = cp.empty(A.nrows, np.uint64), (cp.empty(A.nrows, np.uint32) for _ in range(3))
        count, before, long_rows = cp.empty(2, np.uint64), -1, cp.empty(A.nrows, np.int32)
        k.plain("start", A.nrows, (n, self.there.indptr, tree, parent, place, best, larger, count))
        offered = n, other, weight, tree
        while (chosen := int(count[0])) > before:
            before = chosen
            self.search(cpu, tree, (place, other, weight), (count, long_rows))
            k.plain("offer", A.nrows, (*offered, best))
            k.plain("offer_larger_end", A.nrows, (*offered, best, larger))
            k.plain("choose", A.nrows, (*offered, best, larger, parent, count, *edges, taken))
            k.plain("next_round", A.nrows, (n, parent, tree, best, larger, count))
            self.times.rounds += 1
        self.times.gpu_ms = sum(cp.cuda.get_elapsed_time(*both) for both in self.times.events)
        u, v, w = (part[:before] for part in (*edges, taken))
        return u, v, w

    def forest(self, edges: tuple[Array, Array, Array] | None = None) -> COO:
        """The forest in the order of its edges; edges: as they have grown, if they have."""
        u, v, w = self.grown() if edges is None else edges
        order: Any = (u.astype(np.int64) << np.int64(32) | v).argsort()
        return COO.trusted(u[order], v[order], as_weights(w[order], self.A.dtype), self.A.shape, 0)

    def search(self, cpu: CPUSearch, tree: Array, found: tuple[Array, ...], waiting: tuple[Array, Array]) -> None:
        """One round's searches, side by side."""
        cp, k = cupy(), kernels()
        here, copied = cp.cuda.get_current_stream(), cp.cuda.runtime.memcpyAsync
        began = time.perf_counter()
        if self.mine.size:
            self.copies.wait_event(here.record())
            copied(self.tree_here.ctypes.data, tree.data.ptr, tree.nbytes, TO_HOST, self.copies.ptr)
            trees_are_here = self.copies.record()
        first = here.record(cp.cuda.Event())
        rows = self.there.indptr, self.there.indices, self.there.weights
        k.plain("search", self.its.size, (self.its, np.int64(self.its.size), *rows, tree, *found, *waiting))
        k.plain("search_long", self.A.nnz, (*waiting, *rows, tree, *found))
        self.times.events.append((first, here.record(cp.cuda.Event())))
        if not self.mine.size:
            return
        trees_are_here.synchronize()
        self.times.copy_ms += 1e3 * (time.perf_counter() - began)
        began = time.perf_counter()
        own = self.other_here, self.weight_here
        cpu.find(self.tree_here, *own)
        for mine, its in zip(own, self.answers, strict=True):
            copied(its.data.ptr, mine.ctypes.data, mine.nbytes, TO_GPU, self.copies.ptr)
        here.wait_event(self.copies.record())
        self.times.cpu_ms += 1e3 * (time.perf_counter() - began)
        size = np.int64(self.mine.size)
        k.plain("put", self.mine.size, (self.mine_there, size, *self.answers, *found[1:]))


def measured_share(A: CSR) -> float:
    """The share by which the CPU's searches and the GPU's would take as long, by the second of two forests each."""
    times = []
    for trial in TRIALS:
        tried = Hybrid(A, trial)
        for _ in range(2):
            tried.grown()
        times.append(tried.times)
    return balanced(*times)


def balanced(few: Times, some: Times) -> float:
    """s with c + a + s·b = (1 - s)·g, by both TRIALS; 0 where c + a are more than all searches by the GPU take."""
    low, high = TRIALS
    b = max(0.0, (some.cpu_ms - few.cpu_ms) / (high - low))
    a, g = max(0.0, few.cpu_ms - low * b), few.gpu_ms / (1 - low)
    return max(0.0, (g - few.copy_ms - a) / (g + b))


def hybrid(A: CSR, share: float | None = None) -> COO:
    """The minimum spanning forest of a symmetric matrix on the GPU, by both processors.

    share: of the vertices, which the CPU searches; None: it is measured.
    """
    return Hybrid(A, measured_share(A) if share is None else share).forest()


def pinned(size: int, dtype: Any) -> np.ndarray:
    """An array in pinned memory."""
    memory = cupy().cuda.alloc_pinned_memory(max(size, 1) * np.dtype(dtype).itemsize)
    return np.frombuffer(memory, dtype, size)


def text() -> str:
    """The CUDA text of the kernels, for columns of 32 bits."""
    from algorithms.fused.cuda import kernels as fused

    files = fused.HERE / "hooking.cu", Path(__file__).with_suffix(".cu")
    own = "\n".join(file.read_text(encoding="utf-8") for file in files)
    return "\n".join((index_text(np.dtype(np.int32)), compile.text_of(fused.COMMON), own))


@lru_cache(maxsize=1)
def kernels() -> Any:
    """The kernels on the current device."""
    from algorithms.fused.cuda.kernels import Kernels

    return Kernels("hybrid", text(), np.dtype(np.int32), "the hybrid")
