"""ExtractMin, the step of Dijkstra's algorithm that a GPU does as a reduction, by threads a block, and a CPU by a heap.

All n vertices are unsettled, and each has one key of 64 bits, its distance before its number, so that the smallest key
names the nearest vertex. A reduction looks at all keys, in two passes: a key for each block, then one of those. A heap
takes its root out and mends itself in O(log n) steps. What is timed is `CALLS` extractions from the same keys, launches
included; a row has the time of one.

[1] M. Harris, Optimizing parallel reduction in CUDA, NVIDIA, 2007.
[2] J. W. J. Williams, Algorithm 232: heapsort, Communications of the ACM 7(6), 1964.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np

from bench.experiment import Row, Setting, released
from bench.graphs import operand
from bench.measure import Contender, contest, rounded
from formats.arrays import Array, cupy
from semiring import MinPlus, reduce

QUESTION = "ExtractMin"
CALLS = 20
THREADS = (128, 256, 512, 1024)
"""In a block, as the paper compares them."""
BLOCKS = 1024
"""At most, of the first pass: so many keys are left for the second."""
FARTHEST = 1 << 30
QUICK, FULL = 4, 7
"""Powers of ten up to which n goes."""
NEEDS_GPU = "needs a GPU: --device cuda"
CODE = """
extern "C" __global__ void smallest(const long long* keys, long long n, long long* found) {
    extern __shared__ long long best[];  // a key of each thread
    const int t = threadIdx.x;
    long long own = 0x7fffffffffffffffLL;
    for (long long i = blockIdx.x * (long long)blockDim.x + t; i < n; i += (long long)gridDim.x * blockDim.x)
        own = keys[i] < own ? keys[i] : own;
    best[t] = own;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (t < half && best[t + half] < best[t]) best[t] = best[t + half];
        __syncthreads();
    }
    if (t == 0) found[blockIdx.x] = best[0];
}
"""


def rows(setting: Setting) -> Iterator[Row]:
    """A row for each n = 10, 100, … and each way to extract."""
    for power in range(1, (QUICK if setting.quick else FULL) + 1):
        n = 10**power
        known = {"question": QUESTION, "graph": f"{n:,} keys", "n": n, "nnz": 0}
        if kept := setting.kept_rows(f"{n:,} keys", QUESTION):
            yield from kept
            continue
        released(setting.device)
        keys = keys_of(n)
        found = contest(list(contenders(keys, setting)), setting.repeats)
        for name, figures in found.items():
            one = {figure: rounded(figures[figure] / CALLS) for figure in ("ms", "low_ms", "high_ms")}
            yield known | {"contender": name} | figures | one | {"calls": CALLS}
        if setting.device == "cpu" and power == 1:
            yield from (known | {"contender": by(threads), "missing": NEEDS_GPU} for threads in THREADS)


def keys_of(n: int) -> np.ndarray:
    """Returns keys (n,), int64: random distances, each before its vertex."""
    return (operand(n, FARTHEST, dtype=np.int64) << 32) | np.arange(n)


def by(threads: int) -> str:
    """Returns the name of a reduction with so many threads in a block."""
    return f"reduction, {threads} threads"


def contenders(keys: np.ndarray, setting: Setting) -> Iterator[Contender]:
    """Reductions where the experiment runs, and on the host a loop over all keys and a heap."""
    smallest = int(keys.min())

    def right(found: Any) -> bool:
        return int(found) == smallest

    there: Array = keys
    if setting.device == "cuda":
        there = cupy().asarray(keys)
        for threads in THREADS:
            yield Contender(by(threads), often(reduction(there, threads)), agrees=right, device="cuda")
    yield Contender("the verb reduce", often(lambda: reduce(there, MinPlus)), agrees=right, device=setting.device)
    yield Contender("loop on the host", often(keys.min), agrees=right)
    yield Contender("heap on the host", often(heap(keys)), agrees=right)


def often(extract: Callable[[], Any]) -> Callable[[], Any]:
    """`CALLS` extractions, with the last one's key."""

    def run() -> Any:
        for _ in range(CALLS - 1):
            extract()
        return extract()

    return run


def heap(keys: np.ndarray) -> Callable[[], int]:
    """Takes the root of a binary heap out, and puts it back, so that the next extraction finds as many."""
    entries = keys.tolist()
    heapq.heapify(entries)

    def extract() -> int:
        smallest = heapq.heappop(entries)
        heapq.heappush(entries, smallest)
        return smallest

    return extract


def reduction(keys: Array, threads: int) -> Callable[[], Array]:
    """The two passes; the key stays on the GPU, where the relaxation would want it."""
    blocks = min(-(-keys.size // threads), BLOCKS)
    parts, found = cupy().empty(blocks, np.int64), cupy().empty((), np.int64)
    shared, kernel = 8 * threads, _smallest()
    first, second = (keys, np.int64(keys.size), parts), (parts, np.int64(blocks), found)

    def extract() -> Array:
        kernel((blocks,), (threads,), first, shared_mem=shared)
        kernel((1,), (threads,), second, shared_mem=shared)
        return found

    return extract


@cache
def _smallest() -> Any:
    return cupy().RawKernel(CODE, "smallest")
