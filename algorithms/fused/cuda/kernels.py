"""The persistent kernels: which files make a translation unit, and how a kernel of one is launched.

Three kinds of unit: `paths`, of a semiring, a dtype and an index type, with the same prelude that products are compiled
with; `graphs`, of an index type alone, whose kernels follow the pattern; and `packed`, those of them that read packed
columns, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from formats.arrays import cupy
from semiring import Semiring
from semiring.algebra import Law
from semiring.codegen import C_TYPES, prelude
from semiring.cuda import compile

PATHS = ("persistent.cu", "fixpoint.cu", "tree.cu")
GRAPHS = ("persistent.cu", "components.cu", "search.cu", "strong.cu", "forest.cu")
PACKED = ("persistent.cu", "components.cu", "forest.cu", "forest_packed.cu")
"""The files of the kinds of unit, behind COLUMNS."""
COLUMNS = Path(compile.__file__).with_name("columns.cu")

SHAPES = {
    "paths": {"wide": (512, 2), "deep": (1024, 1), "tree": (512, 3)},
    "graphs": {"search": (512, 3), "trim": (512, 3), "rest": (512, 3), "forest": (512, 2)},
    "packed": {"forest": (512, 2), "forest_packed": (512, 2)},
}
"""Of each kernel with barriers, by kind of unit: threads of a block, and blocks on a multiprocessor."""

MOST_BLOCKS = 1024
"""Blocks of a persistent kernel."""

NULL = np.uint64(0)
"""No array, as an argument."""

PLAIN_THREADS = 256
"""Threads of a block of the kernels without a barrier."""

STEPS = 8192
"""Steps of a launch, about 50 ms, after which the host may be interrupted."""


def paths_unit(semiring: Semiring, dtype: np.dtype, index_dtype: np.dtype) -> str:
    """The CUDA text of the fixpoint and of the tree; products are x ⊗ a."""
    first = Law.COMMUTATIVE in semiring.laws
    return _unit(prelude(semiring, dtype, index_dtype, matrix_first=first), "paths", PATHS)


def graphs_unit(index_dtype: np.dtype) -> str:
    """The CUDA text of searches, components and forests."""
    return _unit(f"using I = {C_TYPES[index_dtype.name]};\n", "graphs", GRAPHS)


def packed_unit(index_dtype: np.dtype) -> str:
    """The CUDA text of forests on packed columns."""
    return _unit(f"using I = {C_TYPES[index_dtype.name]};\n", "packed", PACKED)


def _unit(head: str, kind: str, names: tuple[str, ...]) -> str:
    paths = (COLUMNS, *(Path(__file__).parent / name for name in names))
    files = (path.read_text(encoding="utf-8") for path in paths)
    shapes = "".join(
        f"constexpr int {kernel.upper()}_THREADS = {threads}, {kernel.upper()}_BLOCKS = {blocks};\n"
        for kernel, (threads, blocks) in SHAPES[kind].items()
    )
    return "\n".join((head, shapes, *files))


@dataclass(frozen=True)
class Launches:
    """How often a persistent kernel comes back to the host.

    every: steps of a launch.  progress: called after each launch with the steps so far.
    """

    every: int = STEPS
    progress: Callable[[int], None] | None = None


EVERY_SO_OFTEN = Launches()

_launches: ContextVar[Launches] = ContextVar("launches", default=EVERY_SO_OFTEN)


@contextmanager
def launches(every: int = STEPS, progress: Callable[[int], None] | None = None) -> Iterator[None]:
    """Let persistent kernels within the block come back to the host after `every` steps, and tell `progress` of it.

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


class Kernels:
    """The compiled kernels of a unit of a kind."""

    def __init__(self, kind: str, text: str, index_dtype: np.dtype) -> None:
        self.kind = kind
        self.index = index_dtype.type
        self._plain, self._persistent = compile.load(text), compile.load(text, cooperative=True)
        self._multiprocessors = cupy().cuda.Device().attributes["MultiProcessorCount"]
        self._known: dict[tuple[str, bool], Any] = {}

    def plain(self, name: str, things: int, arguments: tuple[Any, ...], threads: int = PLAIN_THREADS) -> None:
        """Launch a kernel without a barrier for so many things, one for each thread at a time."""
        blocks = min(max(-(-things // threads), 1), 2048 // threads * self._multiprocessors)
        self._get(name, False)((blocks,), (threads,), arguments)

    def persistent(self, name: str, things: int, arguments: tuple[Any, ...]) -> None:
        """Launch a kernel with barriers on as many multiprocessors as there is work for, at most MOST_BLOCKS blocks."""
        threads, each = SHAPES[self.kind][name]
        blocks = min(max(things // threads, 1), each * self._multiprocessors, MOST_BLOCKS)
        self._get(name, True)((blocks,), (threads,), arguments)

    def stepwise(
        self, name: str, things: int, arguments: tuple[Any, ...], control: Any, most: int | None = None
    ) -> Callable[[], np.ndarray]:
        """Launch a persistent kernel whose last argument is the step to stop at; returns what waits until all is done.

        most: steps after which it is given up, done or not.
        control: uint64; word 0 has the barrier's count and, above it, whether all is done, word 1 the steps.  What is
        returned gives it on the host.
        """
        how = _launches.get()
        self.persistent(name, things, (*arguments, np.uint64(how.every)))

        def finish() -> np.ndarray:
            last = how.every
            while True:
                state = control.get()
                if how.progress is not None:
                    how.progress(int(state[1]))
                if state[0] >> np.uint64(32) or (most is not None and last >= most):
                    return state
                last += how.every
                control[:1] = 0
                self.persistent(name, things, (*arguments, np.uint64(last)))

        return finish

    def _get(self, name: str, cooperative: bool) -> Any:
        key = name, cooperative
        if key not in self._known:
            self._known[key] = (self._persistent if cooperative else self._plain).get_function(name)
        return self._known[key]


@lru_cache(maxsize=256)
def _paths(semiring: Semiring, dtype: np.dtype, index_dtype: np.dtype, device: int) -> Kernels:
    return Kernels("paths", paths_unit(semiring, dtype, index_dtype), index_dtype)


@lru_cache(maxsize=16)
def _graphs(index_dtype: np.dtype, device: int) -> Kernels:
    return Kernels("graphs", graphs_unit(index_dtype), index_dtype)


@lru_cache(maxsize=16)
def _packed(index_dtype: np.dtype, device: int) -> Kernels:
    return Kernels("packed", packed_unit(index_dtype), index_dtype)


def paths(semiring: Semiring, dtype: np.dtype, index_dtype: np.dtype) -> Kernels:
    """The kernels of `paths_unit` on the current device."""
    return _paths(semiring, dtype, index_dtype, cupy().cuda.Device().id)


def graphs(index_dtype: np.dtype) -> Kernels:
    """The kernels of `graphs_unit` on the current device."""
    return _graphs(index_dtype, cupy().cuda.Device().id)


def packed(index_dtype: np.dtype) -> Kernels:
    """The kernels of `packed_unit` on the current device."""
    return _packed(index_dtype, cupy().cuda.Device().id)
