"""Parts of compiled functions before anything is compiled: helpers beside plain functions."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from ...kernels.content import Opaque, references


class Tools(Opaque):
    """Modules that operations are written with, imported when an operation is compiled."""

    @property
    def ir(self) -> Any:
        from llvmlite import ir

        return ir

    @property
    def types(self) -> Any:
        from numba import types

        return types

    @property
    def cgutils(self) -> Any:
        from numba.core import cgutils

        return cgutils

    @property
    def processor(self) -> str:
        from llvmlite import binding as llvm

        return llvm.get_process_triple().partition("-")[0]

    def told(self, tell: Callable[[Any], Any]) -> tuple[Any, ...]:
        return ("tools",)


tools = Tools()


class Helper(Opaque):
    """A callee of compiled functions beside plain functions; it cannot be called from Python.

    parts: the functions that it is made of.  by_types: what is compiled knows of these functions only the types that
    they take and return.
    """

    by_types = False

    def __init__(self, *parts: Any) -> None:
        self.parts = parts
        self.__name__, self.__doc__ = parts[0].__name__, parts[0].__doc__

    @property
    def numbas(self) -> Any:
        """The same for Numba, which is imported here."""
        raise NotImplementedError

    def told(self, tell: Callable[[Any], Any]) -> tuple[Any, ...]:
        return type(self).__name__, *map(tell, self.parts)

    def __call__(self, *arguments: Any) -> Any:
        raise NotImplementedError(f"{self.__name__} is for compiled functions")


class Operation(Helper):
    """Instructions of LLVM's: a function (typing context, types) -> (signature, what emits them)."""

    @property
    def numbas(self) -> Any:
        from numba.extending import intrinsic

        return intrinsic(self.parts[0])


def operation(emitter: Callable[..., Any]) -> Any:
    """Decorate a function (typing context, types) -> (signature, what emits the instructions)."""
    return Operation(emitter)


@operation
def interrupted(typing):
    """True if the loop must end: a load and a branch, unless some call was interrupted (`kernels.interrupts`)."""

    def emit(context, builder, signature, args):
        ir, module, cgutils = tools.ir, builder.module, tools.cgutils
        word = module.globals.get("semiring_interrupted")
        if word is None:
            word = ir.GlobalVariable(module, ir.IntType(64), "semiring_interrupted")
        count = builder.load_atomic(word, "monotonic", 8)  # each time anew
        answer = cgutils.alloca_once_value(builder, ir.IntType(1)(0))
        some = builder.icmp_unsigned("!=", count, ir.IntType(64)(0))
        with builder.if_then(some, likely=False):
            kind = ir.FunctionType(ir.IntType(32), [])
            mine = builder.call(cgutils.get_or_insert_function(module, kind, "semiring_asked"), [])
            builder.store(builder.icmp_unsigned("!=", mine, ir.IntType(32)(0)), answer)
        return builder.load(answer)

    return tools.types.boolean(), emit


def made_for(*parts: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorate a helper: messages about kernels that call it name these parts."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        function.__dict__["made_for"] = ", ".join(map(str, parts))
        return function

    return decorate


def label(function: FunctionType) -> str:
    """Returns the label of a kernel: the semiring and dtype of its terms, or else its module's subject."""
    for value in references(function).values():
        if isinstance(value, FunctionType) and (named := getattr(value, "made_for", "")):
            return named
    for value in references(function).values():
        if isinstance(value, Helper) and "<locals>" in value.parts[0].__qualname__:
            return label(value.parts[0])
    return function.__module__.rpartition(".")[2].replace("_", " ")
