"""Compiled loops on a GPU: their kernels, the memory that they need, and how they are launched and waited for."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from formats import Matrix
from formats.arrays import cupy

from ..algebra.codegen import index_text
from ..cuda import compile
from .cuda_program import MOST_SAVED, KernelText
from .device import DeviceTranslator
from .regions import Backend, Compiled, Frame
from .translator import RUN_AS_WRITTEN

THREADS = 1024
"""Threads of a block, of which each multiprocessor has one."""
MAX_BLOCKS = 1024
MAX_ENTRIES_ALONE = 2048
"""Entries of lists, in all, up to which one block runs a loop over them."""
COUNTERS, PARTIALS, HANDOVERS, HANDED_OVER = 64, 8, 2, 4 + MOST_SAVED
CONTROL_WORDS = 3 + COUNTERS + PARTIALS * MAX_BLOCKS + HANDOVERS * HANDED_OVER
"""Words of 64 bits that `ProgramControl` has (programs.cu)."""
FAILED, CODE = 1, 2
"""Places of its fields, in words of 32 bits."""
SPINS = 2000
"""Looks whether a kernel has ended, before the host sleeps between them."""
FILES = "persistent.cu", "programs.cu"


class DeviceCompiled(Compiled):
    """A loop for arguments of certain types, as the text of a kernel."""

    def made(self, translator: Any) -> KernelText:
        self.units: dict[tuple[Any, ...], Any] = {}
        text = KernelText(translator, self.text)
        text.unit(dict.fromkeys(text.matrices, (np.dtype(np.int64),) * 2))  # what cannot be said in CUDA is known now
        return text

    def unit(self, matrices: dict[str, tuple[np.dtype, np.dtype]]) -> Any:
        """The kernel for matrices whose row ends and indices have these dtypes, on the current device."""
        key = cupy().cuda.runtime.getDevice(), *matrices.values()
        if key not in self.units:
            self.units[key] = compile.load(self.unit_text(matrices), "a program").get_function("program", True)
        return self.units[key]

    def unit_text(self, matrices: dict[str, tuple[np.dtype, np.dtype]], threads: int = THREADS) -> str:
        """The whole CUDA text of the loop."""
        parts = compile.text_of(FILES, THREADS=threads, MAX_ENTRIES_ALONE=MAX_ENTRIES_ALONE)
        return "\n".join((index_text(np.dtype(np.int64)), parts, self.kernel.unit(matrices)))


class DeviceFrame(Frame):
    """One run of a compiled loop on a GPU."""

    def __init__(self, compiled: Compiled, values: dict[str, Any]) -> None:
        super().__init__(compiled, values)
        self.xp = cupy()

    def is_small(self) -> bool:
        return False

    def arguments(self) -> dict[str, Any]:
        return {
            name: getattr(self, told[0].replace(" ", "_"))(*told[1:])
            for name, told in zip(self.compiled.names, self.compiled.parameters, strict=True)
        }

    def carried_out(self, arguments: dict[str, Any]) -> Any:
        xp, text = self.xp, self.compiled.kernel
        matrices = {name: arguments[name] for name in text.matrices}
        control, places = xp.zeros(CONTROL_WORDS, np.uint64), xp.zeros(len(text.exchanged) + 1, np.uint64)
        hubs = xp.empty(2 * self.most + 2, np.uint32)
        own = [arguments[name] for name, _ in text.parameters]
        for indptr, indices, values in matrices.values():
            own += [indptr, indices, values, np.int64(values.strides[0] // values.itemsize if values.size else 0)]
        given = (control, hubs, np.int64(self.most), places, *own)
        things = self.most + max((x.nnz for x in self.now.values() if isinstance(x, Matrix)), default=0)
        self.launch({name: (x[0].dtype, x[1].dtype) for name, x in matrices.items()}, things, given)
        words = control[:3].get().view(np.uint32) if hasattr(control, "get") else control[:3].view(np.uint32)
        if words[FAILED]:
            return RUN_AS_WRITTEN
        by_address = {address_of(x): x for name, x in arguments.items() if name in text.arrays}
        for name, address in zip(text.exchanged, places.tolist(), strict=False):
            arguments[name] = by_address[address]
        for name in ("integers", "floats"):
            if name in arguments:
                arguments[name] = np.asarray(arguments[name].tolist(), arguments[name].dtype)
        return int(words[CODE])

    def launch(self, matrices: dict[str, tuple[np.dtype, np.dtype]], things: int, given: tuple[Any, ...]) -> None:
        """Run the kernel to its end, and ask it for one if there is a Ctrl-C."""
        cp = self.xp
        processors = cp.cuda.Device().attributes["MultiProcessorCount"]
        blocks = min(max(-(-things // THREADS), 1), processors, MAX_BLOCKS)
        memory = cp.cuda.alloc_pinned_memory(4)
        asked = np.frombuffer(memory, np.int32, 1)
        asked[0] = 0
        control, *rest = given
        self.compiled.unit(matrices)((blocks,), (THREADS,), (control, np.uint64(memory.ptr), *rest))  # type: ignore[attr-defined]
        stream = cp.cuda.get_current_stream()
        try:
            spins = 0
            while not stream.done:
                spins += 1
                time.sleep(0 if spins < SPINS else 0.001)
        except BaseException:
            asked[0] = 1
            stream.synchronize()
            raise

    def flags(self) -> Any:
        return self.xp.zeros(self.most, np.uint32)

    def words(self) -> Any:
        return self.xp.zeros(-(-self.most // 32), np.uint32)

    def room(self, size: int, dtype: np.dtype) -> Any:
        return self.xp.empty(size, dtype)

    def exact(self) -> Any:
        """The kernel has a number of its own."""


def address_of(x: Any) -> int:
    """Where an array is."""
    return x.data.ptr if hasattr(x.data, "ptr") else x.ctypes.data


ON_GPU = Backend(DeviceTranslator, DeviceCompiled, DeviceFrame)
"""The backend of loops on a GPU."""
