"""CUDA text to a loaded module, through CuPy's compiler and with machine code kept on disk.

CuPy's own way to load a text (RawModule, ElementwiseKernel) flushes subnormal float32 numbers to zero, which no option
takes back: a weight of 1e-45 would be lost on the GPU and not on the CPU.
"""

from __future__ import annotations

import hashlib
from typing import Any

from formats.arrays import cupy

from ..codegen import OPTIONS
from ..compiling import compiling
from ..machine_code import CUDA

DYNAMIC_SHARED_BYTES = 8
"""The number of that attribute of a function, in CUDA's driver."""


def load(text: str, label: str) -> Module:
    """The module of a CUDA text; label: what its kernels are for, which is said if compiling takes long."""
    return Module(machine_code(text, label))


def machine_code(text: str, label: str) -> bytes:
    """Machine code of a CUDA text for the current device, compiled unless it is on disk already."""
    cp = cupy()
    capability = cp.cuda.Device().compute_capability
    key = repr((text, OPTIONS, cp.cuda.nvrtc.getVersion(), capability))
    name = f"{hashlib.sha256(key.encode()).hexdigest()}.cubin"
    code = CUDA.find(name)
    if code is None:
        with compiling(label):
            code, _ = cp.cuda.compiler.compile_using_nvrtc(text, OPTIONS)
        CUDA.keep(name, code)
    return code


class Module:
    """Machine code, loaded on each device where one of its kernels is called. Nothing of it has to be on disk.

    cooperative: launch its kernels with all blocks on the device at once; CuPy cuts a grid to what the device holds.
    """

    def __init__(self, code: bytes, cooperative: bool = False) -> None:
        self.cooperative = cooperative
        self._code = code
        self._loaded: dict[int, Any] = {}

    def get_function(self, name: str) -> Kernel:
        """The kernel of that name; CUDADriverError if there is none."""
        kernel = Kernel(self, name)
        kernel.on(cupy().cuda.runtime.getDevice())
        return kernel

    def on(self, device: int) -> Any:
        """CuPy's module on a device, which is the current one."""
        if device not in self._loaded:
            loaded = cupy().cuda.function.Module()
            loaded.load(self._code)
            self._loaded[device] = loaded
        return self._loaded[device]


class Kernel:
    """A kernel of a module: `kernel(grid, block, arguments, shared_mem=0)` launches it on the current device."""

    def __init__(self, module: Module, name: str) -> None:
        self.name = name
        self._module, self._current = module, cupy().cuda.runtime.getDevice
        self._functions: dict[int, Any] = {}

    def __call__(self, grid: tuple[int, ...], block: tuple[int, ...], arguments: Any, shared_mem: int = 0) -> None:
        function = self.on(self._current())
        function(grid, block, arguments, shared_mem, enable_cooperative_groups=self._module.cooperative)

    def on(self, device: int) -> Any:
        """CuPy's function on a device, which is the current one."""
        function = self._functions.get(device)
        if function is None:
            function = self._functions[device] = self._module.on(device).get_function(self.name)
        return function

    @property
    def max_dynamic_shared_size_bytes(self) -> int:
        """Of shared memory that a launch may ask for."""
        return cupy().cuda.driver.funcGetAttribute(DYNAMIC_SHARED_BYTES, self.on(self._current()).ptr)

    @max_dynamic_shared_size_bytes.setter
    def max_dynamic_shared_size_bytes(self, most: int) -> None:
        cupy().cuda.driver.funcSetAttribute(self.on(self._current()).ptr, DYNAMIC_SHARED_BYTES, most)
