"""Steps on whole matrices: units of kernels that move entries and compute nothing with them but by one operator.

A unit's kernels know the index types I and J and, as V, a word of a value's size, so that few units serve all dtypes:
they are small, and compile in a fraction of a second.
"""

from __future__ import annotations

import threading
from functools import lru_cache
from typing import Any

import numpy as np

from formats.arrays import Array, cupy
from formats.places import kept_by_place

from ..algebra.codegen import Index, counting, index_text
from .compile import let_share, load, text_of

THREADS = 256
"""Threads of a block, in all of these kernels."""

SCANNED = 4096
"""Counts that a block scans, as in scan.cu."""

FEW_TILES = 8
"""Tiles of bits that are scanned by one kernel."""

TILE = 256
"""Entries of a tile whose first row is kept, as in rows.cu."""

WORD_BITS = 32
"""Entries of which one word of bits tells."""

SCAN = ("threads.cu", "prefix.cu", "scan.cu")
ENTRIES = ("threads.cu", "rows.cu", "entries.cu")
MARK = ("threads.cu", "rows.cu", "mark.cu")
RADIX = ("threads.cu", "rows.cu", "radix.cu")
MERGE = ("threads.cu", "prefix.cu", "merge.cu")
PACK = ("threads.cu", "columns.cu", "pack.cu")
STATISTICS = ("threads.cu", "statistics.cu")
"""The files of each unit, behind its types and constants."""

_WORDS = {1: "unsigned char", 4: "unsigned int", 8: "unsigned long long"}
"""The C++ type that holds a value of so many bytes."""

NOTHING = np.uintp(0)
"""A null pointer among a kernel's arguments."""


def step_text(files: tuple[str, ...], index: Index, value_bytes: int, head: str = "") -> str:
    """The CUDA text of a unit. head: what comes before its files, of the unit's own."""
    types = f"{index_text(index)}using V = {_WORDS[value_bytes]};\n"
    return f"{head}\n{types}{text_of(files, THREADS=THREADS)}"


class Steps:
    """The compiled kernels of a unit: `steps.launch("scan_counts", blocks, arguments)`."""

    def __init__(self, files: tuple[str, ...], index: Index, value_bytes: int, head: str) -> None:
        self._module = load(step_text(files, index, value_bytes, head), "matrices on the GPU")
        self._kernels: dict[str, Any] = {}
        self._largest = 2048 // THREADS * cupy().cuda.Device().attributes["MultiProcessorCount"]
        self.index = counting(index).type

    def launch(
        self, name: str, blocks: int, arguments: tuple[Any, ...], shared: int = 0, threads: int = THREADS
    ) -> None:
        """Launch a kernel on exactly so many blocks; none where there is nothing to do."""
        if blocks == 0:
            return
        kernel = self._kernels.get(name)
        if kernel is None:
            kernel = self._kernels[name] = self._module.get_function(name)
        if shared:
            let_share(kernel, shared)
        kernel((blocks,), (threads,), arguments, shared_mem=shared)

    def loop(self, name: str, things: int, arguments: tuple[Any, ...]) -> None:
        """Launch a kernel that loops, for so many things, a thread each."""
        self.launch(name, min(-(-things // THREADS), self._largest), arguments)


def steps_for(files: tuple[str, ...], index: Index, value_bytes: int = 4, head: str = "") -> Steps:
    """The kernels of a unit, compiled once for the types."""
    return _compiled(files, index, value_bytes, head)


_compiled = kept_by_place(256)(Steps)


class Letters(threading.local):
    """Numbers on the host that kernels write, for the thread that waits for them.

    SUM: of a scan.  DESCENDS: of places.  LOOKED: of up to three arrays of places, two numbers each.
    """

    def __init__(self) -> None:
        self._pinned = cupy().cuda.alloc_pinned_memory(64)
        self._numbers = np.frombuffer(self._pinned, np.int64, 8)

    def open(self, which: int) -> np.uintp:
        """Where a kernel writes the number, which is 0 until then."""
        self._numbers[which] = 0
        return np.uintp(self._pinned.ptr + 8 * which)

    def read(self, *which: int) -> tuple[int, ...]:
        """The numbers. Waits for the device."""
        cupy().cuda.get_current_stream().synchronize()
        return tuple(int(self._numbers[number]) for number in which)


SUM, DESCENDS, LOOKED = 0, 1, 2

letters = lru_cache(maxsize=1)(Letters)


def totals(counts: Array, n: int, before: Array, of: str = "counts", told: Any = NOTHING) -> None:
    """before_i = Σ_{k < i} counts_k for 0 … n. of: "counts", or "bits" for those of words.  told: gets the last one."""
    k, blocks = steps_for(SCAN, before.dtype), max(-(-n // SCANNED), 1)
    sums: Any = NOTHING
    if of == "counts" or blocks > FEW_TILES:  # counts may be written over by another block
        sums = cupy().empty(blocks, before.dtype)
        k.launch(f"sum_{of}", blocks, (counts, np.int64(n), sums))
    k.launch(f"scan_{of}", blocks, (counts, np.int64(n), sums, before, told))


def value_words(values: Array) -> Array | None:
    """The values as an array that kernels move; None for a pattern's, which are one value, seen many times."""
    if values.size and values.strides == (0,):
        return None
    return cupy().ascontiguousarray(values)
