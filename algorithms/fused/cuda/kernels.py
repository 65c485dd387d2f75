"""Knows which files make a unit of persistent kernels, and launches the kernels of one.

Units of `PATHS` are of a semiring, a dtype and an index type, with the same prelude that products are compiled with.
Those of `PATTERNS` are of an index type alone: their kernels follow the pattern. Units are small, for the first call
waits for the compiler.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from formats import CompressedCSR
from formats.arrays import cupy
from formats.matrix.facts import Fact
from formats.places import kept_by_place
from semiring import Semiring
from semiring.algebra.codegen import Index, IndexTypes, counting, index_text, prelude, types_of
from semiring.algebra.semirings import Law
from semiring.cuda import compile
from semiring.verbs.registry import Declined

from . import layouts

HERE = Path(__file__).parent
COMMON = "columns.cu", "persistent.cu"
"""The files, of `semiring.cuda`, that every unit has."""


@dataclass(frozen=True)
class Kind:
    """A kind of unit.

    files: the names of its `.cu` files behind those of COMMON.  text: before them, where kinds of the same
    files differ.  shapes: threads of a block, and blocks on a multiprocessor, of each kernel with barriers.
    """

    files: tuple[str, ...]
    text: str
    shapes: dict[str, tuple[int, int]]

    @classmethod
    def of(cls, *files: str, text: str = "", **shapes: tuple[int, int]) -> Kind:
        """Makes a kind of its files, and of the shapes by the names of kernels."""
        return cls(files, text, shapes)


PLAIN = """
#define COLUMN_ARRAYS const J* indices
#define COLUMNS Columns{indices}
using Columns = Indices;
"""
"""The arguments of a kernel whose columns are an array, and what reads these."""
PACKED = """
#define COLUMN_ARRAYS const unsigned int* words, const I* bases, const I* starts
#define COLUMNS Columns{words, bases, starts}
using Columns = Packed;
"""
"""The same for packed columns."""
WITHOUT_NOTES, WITH_NOTES = (f"constexpr bool NOTES = {notes};" for notes in ("false", "true"))

PATHS = {
    "wide": Kind.of("order", "fixpoint", "wide", text=WITHOUT_NOTES, wide=(512, 2)),
    "step_by_step": Kind.of("order", "fixpoint", "wide", text=WITH_NOTES, wide=(512, 2)),
    "deep": Kind.of("order", "fixpoint", "deep", text="constexpr bool COPIES = false;", deep=(1024, 1)),
    "copies": Kind.of("order", "fixpoint", "deep", text="constexpr bool COPIES = true;", deep=(512, 2)),
    "batch": Kind.of("order", "fixpoint", "batch", batch=(256, 5)),
    "tree": Kind.of("order", "tree", tree=(512, 3)),
    "cycles": Kind.of("order", "cycles"),
    "betweenness": Kind.of("by_length", "betweenness", betweenness=(512, 2)),
    "pruned_pull": Kind.of("order", "fixpoint", "pruned_pull"),
    "strips": Kind.of(
        "order", "fixpoint", "wide", "strips", "strips_paths", text=WITHOUT_NOTES, wide=(512, 2), strips=(512, 2)
    ),
}
"""The kinds of a semiring, a dtype and an index type. Elimination adds two."""
PATTERNS = {
    "search": Kind.of("search", search=(512, 3)),
    "parents": Kind.of("parents"),
    "searches": Kind.of("pieces", "searches", searches=(384, 2)),
    "deep_searches": Kind.of("pieces", "searches", searches=(512, 2)),
    "parents_by_few": Kind.of("pieces", "searches_parents", text="using Level = unsigned char;"),
    "parents_by_many": Kind.of("pieces", "searches_parents", text="using Level = int;"),
    "bfs_order": Kind.of("bfs_order", bfs_order=(1024, 1)),
    "components": Kind.of("hooking", "trees", "components"),
    "cores": Kind.of("by_length", "cores", cores=(448, 2)),
    "pagerank": Kind.of("pieces", "pagerank", pagerank=(512, 2)),
    "strong": Kind.of("strong"),
    "scc_coloring": Kind.of("scc_coloring", scc_coloring=(512, 3)),
    "reverse_reach": Kind.of("reverse_reach"),
    "topological_levels": Kind.of("topological_levels", topological_levels=(512, 2)),
    "forest": Kind.of("hooking", "forest", "forest_kernel", text=PLAIN, forest=(512, 2)),
    "packed_forest": Kind.of("hooking", "forest", "forest_kernel", text=PACKED, forest=(512, 2)),
    "out_of_core_msf": Kind.of("hooking", "trees", "out_of_core_msf", text=PLAIN, span=(512, 2), sieve=(512, 4)),
    "packed_msf": Kind.of("hooking", "trees", "out_of_core_msf", text=PACKED, span=(512, 2), sieve=(512, 4)),
    "strips_search": Kind.of("strips", "strips_search", text="using Level = signed char;", strips_search=(512, 3)),
    "strips_deeper": Kind.of("strips", "strips_search", text="using Level = int;", strips_search=(512, 3)),
    "strips_forest": Kind.of("hooking", "forest", "strips", "strips_forest", strips_forest=(512, 2)),
}
"""The kinds of an index type alone.

Rows that are `cores` are dealt to as many warps as there are: a power of two would deal the hubs of an R-MAT graph,
whose numbers have few ones, to the same ones. On an H200 (448, 2) takes half the time of (512, 2) at R-MAT 20.
"""

MAX_BLOCKS = 1024
"""Blocks of a persistent kernel, at most."""

MAX_ENTRIES = 2**32 - 1
"""Edges and vertices of a frontier, at most: they are counted in 32 bits."""

NULL = np.uint64(0)
"""The argument that stands for no array."""

PLAIN_THREADS = 256
"""Threads of a block of the kernels without a barrier."""

STEPS_PER_LAUNCH = 8192
"""Steps of a launch, about 50 ms, after which the host may be interrupted."""


def path_unit(kind: str, semiring: Semiring, dtype: np.dtype, index: Index) -> str:
    """Returns the CUDA text of a unit of `PATHS`; products are x ⊗ a."""
    first = Law.COMMUTATIVE in semiring.laws
    return _unit(prelude(semiring, dtype, index, matrix_first=first), PATHS[kind], index, T=dtype)


def pattern_unit(kind: str, index: Index) -> str:
    """Returns the CUDA text of a unit of `PATTERNS`."""
    return _unit(index_text(index), PATTERNS[kind], index)


def _unit(head: str, kind: Kind, index: Index, **types: np.dtype) -> str:
    own = ((HERE / f"{name}.cu").read_text(encoding="utf-8") for name in kind.files)
    files = "\n".join((compile.text_of(COMMON), kind.text, *own))
    shapes = "".join(
        f"constexpr int {kernel.upper()}_THREADS = {threads}, {kernel.upper()}_BLOCKS = {blocks};\n"
        for kernel, (threads, blocks) in kind.shapes.items()
    )
    columns_type = index.columns if isinstance(index, IndexTypes) else index
    sizes = layouts.asserted(files, I=counting(index), J=columns_type, **types)
    return "\n".join((head, shapes, layouts.declared(files), files, sizes))


def shapes(kind: str) -> dict[str, tuple[int, int]]:
    """Returns the shapes of a kind's kernels with barriers."""
    return (PATHS.get(kind) or PATTERNS[kind]).shapes


@dataclass(frozen=True)
class Launches:
    """Says how often a persistent kernel comes back to the host.

    every: steps of a launch.  progress: called after each launch with the steps so far.
    """

    every: int = STEPS_PER_LAUNCH
    progress: Callable[[int], None] | None = None


COMPILED: Fact[Kernels] = Fact("the compiled kernels of algorithms")
"""Facts are given by the kind of unit; for paths also by the semiring, and the dtype of distances."""

EVERY_SO_OFTEN = Launches()

_launches: ContextVar[Launches] = ContextVar("launches", default=EVERY_SO_OFTEN)


@contextmanager
def launches(every: int = STEPS_PER_LAUNCH, progress: Callable[[int], None] | None = None) -> Iterator[None]:
    """Lets persistent kernels within the block come back to the host after `every` steps, and tells `progress` of it.

    For a display whose watchdog ends long kernels, for Ctrl-C, and to show that something happens.
    ValueError unless `every` is positive.
    """
    if every < 1:
        raise ValueError(f"every must be a positive number of steps, got {every}")
    token = _launches.set(Launches(every, progress))
    try:
        yield
    finally:
        _launches.reset(token)


def launched() -> Launches:
    """Returns how often persistent kernels come back to the host now."""
    return _launches.get()


class Kernels:
    """The compiled kernels of a unit of a kind."""

    def __init__(self, kind: str, text: str, index: Index, label: str) -> None:
        self.kind = kind
        self.index = counting(index).type
        self._module = compile.load(text, label)
        self._multiprocessors = cupy().cuda.Device().attributes["MultiProcessorCount"]
        self._known: dict[tuple[str, bool], Any] = {}

    def plain(self, name: str, things: int, arguments: tuple[Any, ...], threads: int = PLAIN_THREADS) -> None:
        """Launches a kernel without a barrier for so many things, one for each thread at a time."""
        self._get(name, False)((self.plain_blocks(things, threads),), (threads,), arguments)

    def persistent(self, name: str, things: int, arguments: tuple[Any, ...]) -> None:
        """Launches a kernel with barriers on as many multiprocessors as there is work for, at most MAX_BLOCKS."""
        threads, _ = shapes(self.kind)[name]
        self._get(name, True)((self.persistent_blocks(name, things),), (threads,), arguments)

    def plain_blocks(self, things: int, threads: int = PLAIN_THREADS) -> int:
        """Returns the blocks of a kernel without a barrier."""
        return min(max(-(-things // threads), 1), 2048 // threads * self._multiprocessors)

    def persistent_blocks(self, name: str, things: int) -> int:
        """Returns the blocks of a kernel with barriers."""
        threads, each = shapes(self.kind)[name]
        return min(max(things // threads, 1), each * self._multiprocessors, MAX_BLOCKS)

    def stepwise(
        self, name: str, things: int, arguments: tuple[Any, ...], control: Any, most: int | None = None, begun: int = 0
    ) -> Callable[[], np.ndarray]:
        """Launches a kernel whose last argument is the step to stop at; returns what waits until all is done.

        most: steps after which it waits no longer, done or not.  begun: steps that were taken before.
        control: uint64; word 0 has the barrier's count and, above it, whether all is done, word 1 the steps.  What is
        returned gives it on the host.
        """
        how = _launches.get()
        first = begun + how.every if most is None else min(begun + how.every, most)
        self.persistent(name, things, (*arguments, np.uint64(first)))

        def finish() -> np.ndarray:
            last = first
            while True:
                state = control.get()
                if how.progress is not None:
                    how.progress(int(state[1]))
                if state[0] >> np.uint64(32) or (most is not None and last >= most):
                    return state
                last = last + how.every if most is None else min(last + how.every, most)
                control[:1] = 0
                self.persistent(name, things, (*arguments, np.uint64(last)))

        return finish

    def _get(self, name: str, cooperative: bool) -> Any:
        key = name, cooperative
        if key not in self._known:
            self._known[key] = self._module.get_function(name, cooperative)
        return self._known[key]


def too_large(A: Any) -> Declined | None:
    """Returns the refusal of a matrix whose edges kernels cannot count; None for any other."""
    if A.nnz <= MAX_ENTRIES and A.nrows <= MAX_ENTRIES // 2:
        return None
    return Declined(f"it counts edges in 32 bits, and there are {A.nnz:,}")


@kept_by_place(512)
def path(kind: str, semiring: Semiring, dtype: np.dtype, index: Index) -> Kernels:
    """Returns the kernels of a `path_unit` on the current device."""
    return Kernels(kind, path_unit(kind, semiring, dtype, index), index, f"{semiring.name}, {dtype}")


@kept_by_place(64)
def pattern(kind: str, index: Index) -> Kernels:
    """Returns the kernels of a `pattern_unit` on the current device."""
    return Kernels(kind, pattern_unit(kind, index), index, kind.replace("_", " "))


def pattern_of(A: Any, kind: str) -> Kernels:
    """Returns the kernels of a `pattern_unit` for the indices of `A`, on the GPU where it is: found once."""

    def find() -> Kernels:
        return pattern(kind, A.indptr.dtype if isinstance(A, CompressedCSR) else types_of(A))

    return A.keep(COMPILED, find, kind)


def path_of(A: Any, kind: str, semiring: Semiring, dtype: np.dtype) -> Kernels:
    """Returns the kernels of a `path_unit` for the indices of `A`, likewise."""
    return A.keep(COMPILED, lambda: path(kind, semiring, dtype, types_of(A)), kind, semiring, dtype)
