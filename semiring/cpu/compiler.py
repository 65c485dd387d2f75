"""From a function to machine code, by Numba's compiler: the one module that imports Numba for kernels.

Numba's own `njit` compiles each function that a kernel calls as a kernel of its own: with wrappers for Python,
optimized, as machine code. Then it does all that once more within the caller. Here what a kernel calls is typed and
lowered once, and optimized within the kernel alone. References of arrays are counted only if a kernel makes arrays.
"""

from __future__ import annotations

import gc
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from types import CellType, CodeType, FunctionType
from typing import Any
from weakref import WeakKeyDictionary

import numba
import numpy as np
from numba import types
from numba.core import codegen, compiler
from numba.core.compiler_lock import global_compiler_lock
from numba.core.errors import LoweringError
from numba.core.registry import cpu_target
from numba.core.runtime import rtsys
from numba.extending import intrinsic

from .entry import Entry
from .jit import ALIGNED, C_CONTIGUOUS, MachineCode
from .references import Helper, references

ALLOCATES = {"arange", "copy", "empty", "empty_like", "flatnonzero", "full", "ones", "sort", "zeros", "zeros_like"}
"""Names of what makes arrays. Where another one does, a kernel is lowered twice."""


class Library(codegen.AOTCodeLibrary):
    """A module that is optimized once, when all that it calls is in it."""

    entry: str | None = None
    """The one function to be called from outside; None in what is to be linked with others."""

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        if self.entry is None:
            return
        for thing in (*self._final_module.functions, *self._final_module.global_variables):
            if not thing.is_declaration and thing.name != self.entry:
                thing.linkage = "internal"  # so that what is inlined everywhere is dropped
        if _counting.get():
            super()._optimize_final_module()
        else:  # once: Numba's first round is for the counts of references
            passes, builder = self._codegen._module_pass_manager()
            passes.run(self._final_module, builder)


class Codegen(codegen.AOTCPUCodegen):
    """Machine code for this processor, as bytes."""

    _library_class = Library

    def _customize_tm_features(self) -> str:
        return codegen.get_host_cpu_features()

    def _customize_tm_options(self, options: dict[str, Any]) -> None:
        """Addresses of 64 bits: the loader may find room for code and constants far apart, as beside CUDA's memory."""
        super()._customize_tm_options(options)
        options["reloc"], options["codemodel"] = "static", "large"


NOT_NEEDED = {
    "WithLifting",
    "InlineClosureLikes",
    "MakeFunctionToJitFunction",
    "InlineInlinables",
    "FindLiterallyCalls",
    "InlineOverloads",
    "AnnotateTypes",
    "NopythonRewrites",
    "DumpParforDiagnostics",
    "NoPythonSupportedFeatureValidation",
}
"""Passes for what kernels do not have: contexts, functions within, expressions of whole arrays, parallel loops."""


class Pipeline(compiler.CompilerBase):
    """Numba's compiler without the passes that are not needed."""

    def define_pipelines(self) -> list[Any]:
        passes = compiler.DefaultPassBuilder.define_nopython_pipeline(self.state)
        within = any(isinstance(constant, CodeType) for constant in self.state.func_id.code.co_consts)
        passes.passes = [each for each in passes.passes if within or each[0].__name__ not in NOT_NEEDED]
        passes.finalize()
        return [passes]


@lru_cache(maxsize=1)
def context() -> Any:
    """What lowers to machine code for this processor."""
    cpu_target.typing_context.refresh()
    cpu_target.target_context.refresh()
    return cpu_target.target_context.subtarget(
        _internal_codegen=Codegen("semiring", "host"), aot_mode=True, post_lowering=lambda module, library: None
    )


_counting: ContextVar[bool] = ContextVar("counting", default=False)
"""Are references of arrays counted?"""


def machine_code(function: FunctionType, kinds: tuple[Any, ...], name: str) -> MachineCode:
    """A function for arguments of those kinds (`jit.kind`) as an object file with a symbol of that name."""
    with global_compiler_lock, without_garbage_collection():
        counting = _allocates(function, [])
        try:
            return _machine_code(function, kinds, name, counting)
        except LoweringError:
            if counting:
                raise
            return _machine_code(function, kinds, name, True)


@contextmanager
def without_garbage_collection() -> Iterator[None]:
    """Let nobody look for cycles within the block: a compiler makes many objects that live on."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _machine_code(function: FunctionType, kinds: tuple[Any, ...], name: str, counting: bool) -> MachineCode:
    token = _counting.set(counting)
    try:
        known = _lowered(function, tuple(numba_type(kind) for kind in kinds))
        library = context().codegen().create_library(name)
        library.entry = name
        library.add_linking_library(known.library)
        if counting:
            library.add_linking_library(rtsys.library)
        Entry(context(), library, name, known)
        code = library.emit_native_object()
        calls = (function.name for function in library._final_module.functions if function.is_declaration)
        return MachineCode(code, allocates=any(called.startswith("NRT_") for called in calls))
    finally:
        _counting.reset(token)


def numba_type(kind: Any) -> Any:
    """Numba's type of arguments of a kind."""
    if isinstance(kind, np.dtype):
        return numba.from_dtype(kind)
    if not isinstance(kind[0], np.dtype):
        return types.Tuple([numba_type(item) for item in kind])
    dtype, ndim, flags = kind
    layout = "C" if flags & C_CONTIGUOUS else "A"
    return types.Array(numba.from_dtype(dtype), ndim, layout, aligned=bool(flags & ALIGNED))


def initialize_allocator() -> None:
    """Have what kernels that make arrays call."""
    rtsys.initialize(cpu_target.target_context)


# What kernels call

_lowered_already: WeakKeyDictionary[FunctionType, dict[Any, Any]] = WeakKeyDictionary()
_for_numba: WeakKeyDictionary[FunctionType, Any] = WeakKeyDictionary()


def _lowered(function: FunctionType, arguments: tuple[Any, ...]) -> Any:
    """A function in LLVM's language for arguments of those types, made once."""
    known = _lowered_already.setdefault(function, {})
    key = arguments, _counting.get()
    if key not in known:
        flags = compiler.Flags()
        flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
        flags.nrt, flags.error_model = _counting.get(), "numpy"
        library = context().codegen().create_library(function.__name__)
        contexts = cpu_target.typing_context, context()
        parts: Any = *contexts, with_helpers(function), arguments, None, flags, {}, library
        known[key] = compiler.compile_extra(*parts, pipeline_class=Pipeline)
    return known[key]


def with_helpers(function: FunctionType) -> FunctionType:
    """The function with everything that it refers to as Numba knows it."""
    known = {name: for_numba(value) for name, value in references(function).items()}
    code = function.__code__
    closure = tuple(CellType(known[name]) for name in code.co_freevars)
    same = FunctionType(code, function.__globals__ | known, function.__name__, function.__defaults__, closure)
    same.__module__, same.__qualname__ = function.__module__, function.__name__
    return same


def for_numba(value: Any) -> Any:
    """What a compiled function refers to, as Numba knows it: plain functions are compiled, too."""
    if isinstance(value, Helper):
        return value.numbas
    if not isinstance(value, FunctionType):
        return value
    if value not in _for_numba:
        _for_numba[value] = _called(value)
    return _for_numba[value]


def _called(function: FunctionType) -> Any:
    """A function that compiled ones may call. It is lowered once for the types of a call, and linked with callers."""
    return _intrinsic(function, lambda *arguments: function)


def chosen(choose: Callable[..., Any]) -> Any:
    """What is compiled as the function that `choose` returns for the types of a call."""
    return _intrinsic(choose, choose)


def _intrinsic(like: Callable[..., Any], choose: Callable[..., Any]) -> Any:
    """What is called with the parameters of `like`, and compiled as what `choose` returns for their types."""

    def define(typing: Any, *arguments: Any) -> Any:
        arguments = tuple(map(types.unliteral, arguments))
        function = choose(*arguments)

        def emit(target: Any, builder: Any, signature: Any, values: Any) -> Any:
            known = _lowered(function, signature.args)
            target.active_code_library.add_linking_library(known.library)
            return target.call_internal(builder, known.fndesc, signature, values)

        return _lowered(function, arguments).signature, emit

    parameters = ["typing", *inspect.signature(like).parameters]
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    define.__signature__ = inspect.Signature([inspect.Parameter(name, kind) for name in parameters])  # type: ignore[attr-defined]
    define.__name__ = like.__name__
    return intrinsic(define)


def _allocates(function: FunctionType, within: list[Any]) -> bool:
    """Does a function name something that makes arrays, or one that does?"""
    if function in within:
        return False
    if ALLOCATES & set(function.__code__.co_names):
        return True
    for value in references(function).values():
        inner = value.parts if isinstance(value, Helper) else (value,)
        if any(isinstance(part, FunctionType) and _allocates(part, [*within, function]) for part in inner):
            return True
    return False
