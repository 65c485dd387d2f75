"""CUDA text to a loaded module, through CuPy's compiler and with machine code kept on disk.

CuPy's own way to load a text (RawModule, ElementwiseKernel) flushes subnormal float32 numbers to zero, which no option
takes back: a weight of 1e-45 would be lost on the GPU and not on the CPU.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from formats.arrays import cupy
from formats.system import cores

from ..algebra.codegen import OPTIONS
from ..kernels.compiling import compiling
from ..kernels.machine_code import CUDA


def text_of(files: Iterable[str], **constants: int) -> str:
    """The CUDA text of constants, and then of files in this folder."""
    sizes = "".join(f"[[maybe_unused]] constexpr int {name} = {int(size)};\n" for name, size in constants.items())
    return "\n".join((sizes, *((Path(__file__).parent / file).read_text(encoding="utf-8") for file in files)))


DYNAMIC_SHARED_BYTES = 8
"""The number of that attribute of a function, in CUDA's driver."""


def load(text: str, label: str) -> Module:
    """The module of a CUDA text; label: what its kernels are for, which is said if compiling takes long."""
    return Module(machine_code(text, label))


def machine_code(text: str, label: str) -> bytes:
    """Machine code of a CUDA text for the current device, compiled unless it is on disk already."""
    name = _name_of(text)
    begun = _begun.pop(name, None)
    if begun is not None and begun.cancel():  # no thread has come to it yet
        begun = None
    code = CUDA.find(name) if begun is None else None
    if code is None:
        with compiling(label):
            code = _compiled(name, text) if begun is None else begun.result()
    return code


def _name_of(text: str) -> str:
    """The name under which the machine code of a text for the current device is kept."""
    cp = cupy()
    key = repr((text, OPTIONS, cp.cuda.nvrtc.getVersion(), cp.cuda.Device().compute_capability))
    return f"{hashlib.sha256(key.encode()).hexdigest()}.cubin"


def _compiled(name: str, text: str) -> bytes:
    code, _ = cupy().cuda.compiler.compile_using_nvrtc(text, OPTIONS)
    CUDA.keep(name, code)
    return code


# --- compiled ahead ---------------------------------------------------------------------------------------------------

PROCESSORS = len(cores())
MOST_THREADS = 8
"""Most threads that compile ahead; with the caller they are no more than the processors."""

Unit = tuple[Any, ...]
"""A function that gives a text, and its arguments."""

_begun: dict[str, Future[bytes]] = {}
"""Modules that are compiled ahead, by name, until they are asked for."""


def ahead(*units: Unit) -> None:
    """Begin to compile units, side by side, that the caller is likely to need; each is begun once.

    A unit that is not asked for in the end is kept on disk all the same.
    """
    if PROCESSORS > 1:
        for unit in units:
            _begin(cupy().cuda.runtime.getDevice(), unit)


@lru_cache(maxsize=1024)
def _begin(device: int, unit: Unit) -> None:
    text = unit[0](*unit[1:])
    name = _name_of(text)
    if name not in _begun:
        _begun[name] = _threads().submit(_found_or_compiled, device, name, text)


def _found_or_compiled(device: int, name: str, text: str) -> bytes:
    with cupy().cuda.Device(device):
        return CUDA.find(name) or _compiled(name, text)


@lru_cache(maxsize=1)
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(min(PROCESSORS - 1, MOST_THREADS), "compiler")


class Module:
    """Machine code, loaded on the current device, on which its kernels run. Nothing of it has to be on disk."""

    def __init__(self, code: bytes) -> None:
        self._module = cupy().cuda.function.Module()
        self._module.load(code)

    def get_function(self, name: str, cooperative: bool = False) -> Kernel:
        """The kernel of that name; CUDADriverError if there is none.

        cooperative: launch it with all blocks on the device at once; CuPy cuts a grid to what the device holds.
        """
        function = self._module.get_function(name)
        return partial(function, enable_cooperative_groups=True) if cooperative else function


Kernel = Callable[..., None]
"""`kernel(grid, block, arguments, shared_mem=0)` launches it: a function of CuPy's."""


def let_share(kernel: Any, most: int) -> None:
    """Let launches of a kernel ask for so much shared memory, as the driver has to know before."""
    driver = cupy().cuda.driver
    if driver.funcGetAttribute(DYNAMIC_SHARED_BYTES, kernel.ptr) < most:
        driver.funcSetAttribute(kernel.ptr, DYNAMIC_SHARED_BYTES, most)
