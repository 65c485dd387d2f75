"""From a function to machine code, by Numba's compiler: the one module that imports Numba for kernels.

Numba's own `njit` compiles each function that a kernel calls as a kernel of its own: with wrappers for Python,
optimized, as machine code. Then it does all that once more within the caller. Here what a kernel calls is typed and
lowered once, and optimized within the kernel alone. References of arrays are counted only if a kernel makes arrays.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from types import CellType, CodeType, FunctionType
from typing import Any
from weakref import WeakKeyDictionary

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils, compiler
from numba.core.compiler_lock import global_compiler_lock
from numba.core.errors import NumbaError
from numba.core.registry import cpu_target
from numba.core.runtime import rtsys
from numba.core.target_extension import jit_registry
from numba.core.typing import fold_arguments, make_concrete_template
from numba.core.utils import pysignature
from numba.extending import intrinsic

from ...kernels.content import references
from . import reuse_ir
from .arguments import ALIGNED, C_CONTIGUOUS, MachineCode
from .entry import Entry
from .references import Helper
from .target import Kernels, contexts, override

ALLOCATES = {"arange", "copy", "empty", "empty_like", "flatnonzero", "full", "ones", "sort", "zeros", "zeros_like"}
"""Names of what makes arrays. Where another one does, a kernel is lowered twice."""

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


class Options(compiler.Flags):
    """Numba's options, which do not change. They are part of what Numba looks up, and found by what they are."""

    __slots__ = ()
    __eq__, __hash__ = object.__eq__, object.__hash__

    def copy(self) -> Options:
        return self


@lru_cache(maxsize=2)
def options(counting: bool) -> Options:
    """Numba's options where references of arrays are counted, or are not."""
    made = Options()
    made.no_compile = made.no_cpython_wrapper = made.no_cfunc_wrapper = True
    made.nrt, made.error_model = counting, "numpy"
    return made


@dataclass(frozen=True)
class Way:
    """How to compile.  counting: references of arrays are counted.  everything: for all Numba knows (`target`)."""

    counting: bool
    everything: bool


_way: ContextVar[Way] = ContextVar("way")


def machine_code(function: FunctionType, kinds: tuple[Any, ...], name: str) -> MachineCode:
    """A function for arguments of those kinds (`arguments.kind`) as an object file with a symbol of that name."""
    with global_compiler_lock:
        try:
            return _machine_code(function, kinds, name, Way(counting=_allocates(function, []), everything=False))
        except NumbaError:
            return _machine_code(function, kinds, name, Way(counting=True, everything=True))


def _machine_code(function: FunctionType, kinds: tuple[Any, ...], name: str, way: Way) -> MachineCode:
    token = _way.set(way)
    try:
        with override(way.everything):
            known = _lowered(function, tuple(numba_type(kind) for kind in kinds))
            _, target = contexts(way.everything)
            library = target.codegen().create_library(name)
            library.entry, library.counting = name, way.counting
            library.add_linking_library(known.library)
            if way.counting:
                load_what_kernels_call()
                library.add_linking_library(rtsys.library)
            _add_entry(target, library, name, known.fndesc)
            code = library.emit_native_object()
        calls = (function.name for function in library._final_module.functions if function.is_declaration)
        return MachineCode(code, calls_numba=any(called.startswith(("NRT_", "numba_")) for called in calls))
    finally:
        _way.reset(token)


def _add_entry(target: Any, library: Any, name: str, described: Any) -> None:
    """Add the way from Python into a kernel to its library: made once for kernels of the same types."""
    kinds, called = (described.argtypes, described.restype, _way.get()), described.llvm_func_name
    if kinds in _entries:
        text, entry, before = _entries[kinds]
        reuse_ir.add_renamed(library, text, {entry: name, before: called})
    else:
        Entry(target, library, name, described)
        _entries[kinds] = library.texts[-1], name, called


def numba_type(kind: Any) -> Any:
    """Numba's type of arguments of a kind."""
    if isinstance(kind, np.dtype):
        return numba.from_dtype(kind)
    if not isinstance(kind[0], np.dtype):
        return types.Tuple([numba_type(item) for item in kind])
    dtype, ndim, flags = kind
    layout = "C" if flags & C_CONTIGUOUS else "A"
    return types.Array(numba.from_dtype(dtype), ndim, layout, aligned=bool(flags & ALIGNED))


def load_what_kernels_call() -> None:
    """Have Numba's functions in C: its allocator of arrays, and mathematics."""
    rtsys.initialize(cpu_target.target_context)


# What kernels call


class Written:
    """A function that Numba has in Python, for Numba's templates, which ask it for the types of calls."""

    def __init__(self, function: FunctionType) -> None:
        self.py_func, self.parameters = function, pysignature(function)

    def get_call_template(self, args: Any, kws: Any) -> tuple[Any, Any, Any, Any]:
        """Returns the template that types a call, the parameters, and the types of these."""
        args = fold_arguments(self.parameters, args, kws, *FOLDED)
        known = _lowered(self.py_func, args)
        known.target_context.insert_user_function(known.fndesc, known.fndesc, [known.library])
        template = make_concrete_template(self.py_func.__name__, known.fndesc, [known.signature])
        return template, self.parameters, args, {}

    def get_overload(self, args: Any) -> Any:
        """By what lowering finds the function."""
        return _lowered(self.py_func, args).fndesc


FOLDED: Any = (
    lambda number, parameter, given: given,
    lambda number, parameter, default: types.Omitted(default),
    lambda number, parameter, rest: types.StarArgTuple(rest),
)
"""The types that parameters get: that of an argument, of a default, or of all arguments that are left."""

jit_registry[Kernels] = lambda **options: Written

_lowered_already: WeakKeyDictionary[FunctionType, dict[Any, Any]] = WeakKeyDictionary()
_for_numba: tuple[WeakKeyDictionary[Any, Any], WeakKeyDictionary[Any, Any]] = WeakKeyDictionary(), WeakKeyDictionary()
"""Helpers and functions for Numba: for our target, and for all that Numba knows."""
_first_of_its_kind: dict[Any, reuse_ir.Known] = {}
_entries: dict[Any, tuple[str, str, str]] = {}
_being_lowered: list[reuse_ir.Known] = []


def _lowered(function: FunctionType, arguments: tuple[Any, ...]) -> Any:
    """A function in LLVM's language for arguments of those types, made once."""
    known, way = _lowered_already.setdefault(function, {}), _way.get()
    key = arguments, way
    if key not in known:
        kind = reuse_ir.key_of(function, arguments, way)
        first = _first_of_its_kind.get(kind)
        made = None if first is None else reuse_ir.like(first, function, _lowered)
        known[key] = _lowered_by_numba(function, arguments, way, kind) if made is None else made
    if _being_lowered:
        _being_lowered[-1].within.append((function, arguments, known[key]))
    return known[key]


def _lowered_by_numba(function: FunctionType, arguments: tuple[Any, ...], way: Way, kind: Any) -> Any:
    """Likewise, and noted as the first of its kind."""
    typing, target = contexts(way.everything)
    library = target.codegen().create_library(function.__name__)
    numbas = (function.__module__ or "").startswith("numba.")  # what exec defines may have no module
    parts: Any = function if numbas else with_helpers(function), arguments, None, options(way.counting), {}, library
    own = reuse_ir.Known(function, None)
    _being_lowered.append(own)
    try:
        own.lowered = compiler.compile_extra(typing, target, *parts, pipeline_class=Pipeline)
    finally:
        _being_lowered.pop()
    _first_of_its_kind.setdefault(kind, own)
    return own.lowered


def with_helpers(function: FunctionType) -> FunctionType:
    """The function with everything that it refers to as Numba knows it."""
    known = {name: for_numba(value) for name, value in references(function).items()}
    code = function.__code__
    closure = tuple(CellType(known[name]) for name in code.co_freevars)
    same = FunctionType(code, function.__globals__ | known, function.__name__, function.__defaults__, closure)
    same.__module__, same.__qualname__ = function.__module__, function.__name__
    return same


def for_numba(value: Any) -> Any:
    """Returns a value that a compiled function refers to as Numba knows it: plain functions are compiled, too.

    Each target has its own: before 0.67 Numba looks an operation up by its types alone, and finds the other target's.
    """
    if not isinstance(value, Helper | FunctionType):
        return value
    known = _for_numba[_way.get().everything]
    if value not in known:
        known[value] = value.numbas if isinstance(value, Helper) else _called(value)
    return known[value]


def _called(function: FunctionType) -> Any:
    """A function that compiled ones may call. It is lowered once for the types of a call, and linked with callers."""
    return _intrinsic(function, lambda *arguments: function)


def chosen(choose: Callable[..., Any]) -> Any:
    """Returns an intrinsic that compiles as the function which `choose` returns for the types of a call."""
    return _intrinsic(choose, choose)


def across(step: FunctionType, arrays: int, lanes: int, rows: int, vectors: bool) -> Any:
    """Makes an intrinsic f(y, i, x, k, …, *numbers): y[i + lane] = step(y[i + lane], x[k + lane], …, *numbers).

    arrays: how many of step's parameters are elements of arrays.  rows: how many times, each so many lanes further.
    vectors: LLVM makes one vector operation of all lanes: their number is known, and the loop is not unrolled before.
    """

    def define(typing: Any, *arguments: Any) -> Any:
        places, numbers = arguments[: 2 * arrays], [types.unliteral(each) for each in arguments[2 * arrays :]]
        elements = [array.dtype for array in places[::2]]
        known = _lowered(step, (*elements, *numbers))

        def emit(target: Any, builder: Any, signature: Any, values: Any) -> Any:
            target.active_code_library.add_linking_library(known.library)
            pointers = []
            for k in range(0, 2 * arrays, 2):
                data = target.make_array(places[k])(target, builder, values[k]).data
                at = target.cast(builder, values[k + 1], places[k + 1], types.intp)
                pointers.append(builder.gep(data, [at]))
            for row in range(rows):
                with _lanes(builder, row * lanes, lanes, vectors) as lane:
                    at = [builder.gep(pointer, [lane]) for pointer in pointers]
                    read = [target.unpack_value(builder, *each) for each in zip(elements, at, strict=True)]
                    parts = (*read, *values[2 * arrays :])
                    result = target.call_internal(builder, known.fndesc, known.signature, parts)
                    result = target.cast(builder, result, known.signature.return_type, elements[0])
                    target.pack_value(builder, elements[0], result, at[0])
            return target.get_dummy_value()

        return types.void(*places, *numbers), emit

    count = arrays + len(pysignature(step).parameters)
    return _with_parameters(define, ["typing", *(f"_{k}" for k in range(count))], step.__name__)


@contextmanager
def _lanes(builder: Any, first: int, count: int, vectors: bool) -> Iterator[Any]:
    """Emit a loop over so many lanes: within the block, its body."""
    word = ir.IntType(64)
    before, body, after = builder.block, builder.append_basic_block("lane"), builder.append_basic_block("lanes")
    builder.branch(body)
    builder.position_at_end(body)
    lane = builder.phi(word)
    lane.add_incoming(word(first), before)
    yield lane
    following = builder.add(lane, word(1))
    lane.add_incoming(following, builder.block)
    again = builder.cbranch(builder.icmp_unsigned("<", following, word(first + count)), body, after)
    again.set_metadata("llvm.loop", _hints(builder.module, count if vectors and count > 2 else 0))
    builder.position_at_end(after)


def _hints(module: Any, width: int) -> Any:
    """Makes metadata that keeps LLVM from unrolling a loop, and sets the width of vectors; 0 leaves it to LLVM."""
    hints = [module.add_metadata(["llvm.loop.unroll.disable"])]
    for name, value in (("vectorize.width", width), ("interleave.count", 1)) if width else ():
        hints.append(module.add_metadata([f"llvm.loop.{name}", ir.IntType(32)(value)]))
    loop = ir.MDValue(module, [hints[0]], name=str(len(module.metadata)))
    loop.operands = (loop, *hints)  # a loop's own node is its first operand
    return loop


def task(work: FunctionType) -> Any:
    """Makes an intrinsic f(words, i, parts): words[i] and words[i + 1] are where work(thread, *parts) and parts are.

    Another kernel calls it through these (`crew`), as long as the function that f was called in has not returned.
    """

    def define(typing: Any, words: Any, i: Any, parts: Any) -> Any:
        parts = types.unliteral(parts)
        known = _lowered(work, (types.int64, *parts.types))

        def emit(target: Any, builder: Any, signature: Any, values: Any) -> Any:
            target.active_code_library.add_linking_library(known.library)
            module, place = builder.module, cgutils.alloca_once_value(builder, values[2])
            kind = ir.FunctionType(ir.VoidType(), [place.type, ir.IntType(64)])
            function = ir.Function(module, kind, module.get_unique_name("task"))
            function.linkage = "internal"
            inner, called = ir.IRBuilder(function.append_basic_block()), target.declare_function(module, known.fndesc)
            arguments = [function.args[1], *cgutils.unpack_tuple(inner, inner.load(function.args[0]))]
            described = known.fndesc.restype, known.fndesc.argtypes, arguments
            target.call_conv.call_function(inner, called, *described)
            inner.ret_void()
            data = target.make_array(words)(target, builder, values[0]).data
            for k, pointer in enumerate((function, place)):
                at = builder.gep(data, [builder.add(values[1], ir.IntType(64)(k))])
                builder.store(builder.ptrtoint(pointer, ir.IntType(64)), at)
            return target.get_dummy_value()

        return types.void(words, types.intp, parts), emit

    return _with_parameters(define, ["typing", "words", "i", "parts"], work.__name__)


def _intrinsic(like: Callable[..., Any], choose: Callable[..., Any]) -> Any:
    """Makes an intrinsic with the parameters of `like` that compiles as what `choose` returns for their types."""

    def define(typing: Any, *arguments: Any) -> Any:
        arguments = tuple(map(types.unliteral, arguments))
        function = choose(*arguments)

        def emit(target: Any, builder: Any, signature: Any, values: Any) -> Any:
            known = _lowered(function, signature.args)
            target.active_code_library.add_linking_library(known.library)
            return target.call_internal(builder, known.fndesc, signature, values)

        return _lowered(function, arguments).signature, emit

    return _with_parameters(define, ["typing", *inspect.signature(like).parameters], like.__name__)


def _with_parameters(define: Callable[..., Any], names: list[str], name: str) -> Any:
    """An intrinsic of that name, whose parameters Numba takes from a signature."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    define.__signature__ = inspect.Signature([inspect.Parameter(each, kind) for each in names])  # type: ignore[attr-defined]
    define.__name__ = name
    return intrinsic(define)


def _allocates(function: FunctionType, within: list[Any]) -> bool:
    """True if a function names something that makes arrays, or a function that does."""
    if function in within:
        return False
    if ALLOCATES & set(function.__code__.co_names):
        return True
    for value in references(function).values():
        inner = value.parts if isinstance(value, Helper) else (value,)
        if any(isinstance(part, FunctionType) and _allocates(part, [*within, function]) for part in inner):
            return True
    return False
