"""Kernels: functions as machine code, loaded from disk or compiled when they are first called.

Loading needs LLVM's library, but not Numba, which takes most of a second to import. Machine code is kept under a hash
of the function's content (`references`), the kinds of its arguments, the processor and the versions of what compiles.
"""

from __future__ import annotations

import ctypes
import gc
import hashlib
import platform
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from formats.undisturbed import undisturbed

from ...kernels.compiling import compiling
from ...kernels.content import content
from ...kernels.interrupts import WORD, asked, interrupted, look
from ...kernels.machine_code import CPU
from .arguments import MachineCode, expected, kind, plain
from .references import Helper, label


class Kernel(Helper):
    """A function as machine code, for arguments of any kinds that it compiles for.

    A kernel runs without the interpreter's lock, returns nothing, a number or a tuple of numbers, and may write to its
    arrays, also to those that Python must not.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._entries: dict[tuple[Any, ...], Callable[..., Any]] = {}

    def __call__(self, *arguments: Any) -> Any:
        for entry in self._entries.values():
            if (result := entry(arguments)) is not NotImplemented:
                if interrupted:
                    look()
                return result
        kinds = tuple(map(kind, arguments))
        result = self._entry(kinds)(tuple(map(plain, arguments)))
        if interrupted:
            look()
        return result

    @property
    def numbas(self) -> Any:
        from .compiler import for_numba

        return for_numba(self.parts[0])

    def _entry(self, kinds: tuple[Any, ...]) -> Callable[..., Any]:
        """Returns the function that calls the kernel with a tuple of arguments of those kinds."""

        def made() -> Callable[..., Any]:
            if kinds not in self._entries:
                entry = _loaded(*_kernel_code(self.parts[0], kinds), kinds)
                self._entries = self._entries | {kinds: entry}  # others may be at it
            return self._entries[kinds]

        return undisturbed(made)


class Choice(Helper):
    """A function that is chosen by the types of the arguments: (types) -> function."""

    @property
    def numbas(self) -> Any:
        from .compiler import chosen

        return chosen(self.parts[0])


def choice(choose: Callable[..., Any]) -> Any:
    """Decorate a function (types of the arguments) -> the function to compile for these."""
    return Choice(choose)


CALLS_NUMBA = b"N"
"""The byte kept before machine code that calls Numba's functions in C."""


def _kernel_code(function: Any, kinds: tuple[Any, ...]) -> tuple[str, MachineCode]:
    """Returns a kernel's name and machine code: from disk, or else compiled and kept there."""
    key = hashlib.sha256(repr((content(function), kinds, _identity())).encode()).hexdigest()
    name = f"kernel_{key}"
    if (kept := CPU.find(name)) is not None:
        return name, MachineCode(kept[1:], kept[:1] == CALLS_NUMBA)
    with compiling(label(function)), without_garbage_collection():
        from .compiler import machine_code

        made = machine_code(function, kinds, name)
    CPU.keep(name, (CALLS_NUMBA if made.calls_numba else b" ") + made.code)
    return name, made


@contextmanager
def without_garbage_collection() -> Iterator[None]:
    """Suspend the garbage collector within the block: a compiler makes many objects that live on."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@lru_cache(maxsize=1)
def _identity() -> tuple[Any, ...]:
    """Returns what machine code depends on beside the function: versions, our compiler's text, and the processor."""
    from llvmlite import binding as llvm

    here = Path(__file__)
    text = b"".join(here.with_name(f"{name}.py").read_bytes() for name in ("compiler", "entry", "reuse_ir", "target"))
    processor = llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten(), llvm.get_process_triple()
    versions = version("numba"), version("llvmlite"), np.__version__, platform.python_version()
    return hashlib.sha256(text).hexdigest(), *versions, *processor


@lru_cache(maxsize=1)
def _prepare() -> Any:
    """Have LLVM load machine code that looks at interrupts, and give the kind of machine that runs it."""
    from llvmlite import binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    llvm.add_symbol("semiring_interrupted", ctypes.addressof(WORD))
    llvm.add_symbol("semiring_asked", ctypes.cast(asked, ctypes.c_void_p).value)
    return llvm.Target.from_triple(llvm.get_process_triple())


def _loaded(name: str, made: MachineCode, kinds: tuple[Any, ...]) -> Callable[..., Any]:
    """Makes a function that calls machine code with a tuple of arguments; NotImplemented if the kinds are others."""
    from llvmlite import binding as llvm

    if made.calls_numba:
        from .compiler import load_what_kernels_call

        load_what_kernels_call()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _prepare().create_target_machine())
    engine.add_object_file(llvm.ObjectFileRef.from_data(made.code))
    engine.finalize_object()
    entry = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object, ctypes.c_void_p)(engine.get_function_address(name))
    known = (NotImplemented, *expected(kinds))
    table = (ctypes.c_void_p * len(known))(*map(id, known))
    at = ctypes.addressof(table)

    def call(arguments: tuple[Any, ...], kept: Any = (known, table, engine)) -> Any:
        return entry(arguments, at)  # the machine code is freed with its engine, the engine with this function

    return call
