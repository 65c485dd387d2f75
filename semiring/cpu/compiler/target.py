"""Numba's target for kernels: numbers, arrays, tuples and loops, as machine code that lies in a file.

Of what Numba knows, most is left out: strings, dictionaries, linear algebra. To load them takes a fifth of a second,
and each operation would then be looked up among them. What needs any of it is compiled with `everything`.
"""

from __future__ import annotations

import operator
from functools import cached_property, lru_cache
from types import ModuleType
from typing import Any

from llvmlite import binding as llvm
from numba import types
from numba.core import cgutils, codegen, imputils, target_extension
from numba.core.cpu import CPUContext
from numba.core.registry import CPUDispatcher, CPUTarget, cpu_target
from numba.core.typing import Context, templates
from numba.cpython.builtins import do_minmax

NAME = "semiring"


class Library(codegen.AOTCodeLibrary):
    """A module of LLVM's, and those that it calls. It is linked and optimized once, if it has an entry.

    entry: the one function to be called from outside; None in what is to be linked with others.
    counting: are references of arrays counted?  texts: its own modules as text.
    """

    entry: str | None = None
    counting: bool = False

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.texts: list[str] = []

    def add_ir_module(self, module: Any) -> None:
        self.texts.append(cgutils.normalize_ir_text(str(module)))
        self.add_llvm_module(llvm.parse_assembly(self.texts[-1]))

    def add_linking_library(self, library: Any) -> None:
        self._linking_libraries.append(library)

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout

    def finalize(self) -> None:
        if self.entry is not None:
            self._linking_libraries = called(self)
            super().finalize()

    def _get_module_for_linking(self) -> Any:
        return self._final_module

    def _optimize_final_module(self) -> None:
        for thing in (*self._final_module.functions, *self._final_module.global_variables):
            if not thing.is_declaration and thing.name != self.entry:
                thing.linkage = "internal"  # so that what is inlined everywhere is dropped
        if self.counting:
            super()._optimize_final_module()
        else:  # once: Numba's first round is for the counts of references
            passes, builder = self._codegen._module_pass_manager()
            passes.run(self._final_module, builder)


def called(library: Any) -> list[Any]:
    """The libraries that one calls, and those that these call, once each.

    Numba's, which hold what they call, come last: a linker takes from these only what has been called by then.
    """
    found, left = dict[Any, None](), [library]
    while left:
        for other in left.pop()._linking_libraries:
            if other not in found:
                found[other] = None
                left += [other] if isinstance(other, Library) else []
    return sorted(found, key=lambda other: not isinstance(other, Library))


class Codegen(codegen.AOTCPUCodegen):
    """Machine code for this processor, as bytes."""

    _library_class = Library

    def _customize_tm_features(self) -> str:
        return codegen.get_host_cpu_features()

    def _customize_tm_options(self, options: dict[str, Any]) -> None:
        """Addresses of 64 bits: the loader may find room for code and constants far apart, as beside CUDA's memory."""
        super()._customize_tm_options(options)
        options["reloc"], options["codemodel"] = "static", "large"


TYPES, INSTRUCTIONS = templates.Registry(), imputils.Registry(NAME)


class OfNumbers(templates.AbstractTemplate):
    """Types min and max of numbers, for which Numba compiles a function each."""

    metadata = {"target": NAME}

    def generic(self, args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
        if kws or len(args) < 2 or not all(isinstance(kind, types.Number) for kind in args):
            return None
        return templates.signature(self.context.unify_types(*args), *args)


@INSTRUCTIONS.lower(min, types.VarArg(types.Number))
def least(target: Any, builder: Any, signature: Any, values: Any) -> Any:
    """The minimum of numbers."""
    return do_minmax(target, builder, signature.args, values, operator.lt)


@INSTRUCTIONS.lower(max, types.VarArg(types.Number))
def greatest(target: Any, builder: Any, signature: Any, values: Any) -> Any:
    """The maximum of numbers."""
    return do_minmax(target, builder, signature.args, values, operator.gt)


TYPES.register_global(min)(OfNumbers)
TYPES.register_global(max)(OfNumbers)


class Types(Context):
    """The types of what kernels compute."""

    def load_additional_registries(self) -> None:
        from numba.core.typing import mathdecl, npydecl

        self.install_registry(mathdecl.registry)
        self.install_registry(npydecl.registry)
        self.install_registry(TYPES)

    def resolve_value_type(self, val: Any) -> Any:
        """The type of what a name stands for: of functions without asking dictionaries, lists and cffi first."""
        known = self._get_global_type(val) if callable(val) or isinstance(val, ModuleType) else None
        return super().resolve_value_type(val) if known is None else known


class Lowering(CPUContext):
    """How kernels become instructions of LLVM's."""

    aot_mode = True

    def init(self) -> None:
        self.is32bit = False
        self._internal_codegen = Codegen(NAME, "host")

    def load_additional_registries(self) -> None:
        from numba.cpython import builtins, iterators, mathimpl, numbers, rangeobj, slicing, tupleobj  # noqa: F401
        from numba.np import arrayobj, npyimpl  # noqa: F401

        self.install_registry(mathimpl.registry)
        self.install_registry(npyimpl.registry)
        self.install_registry(INSTRUCTIONS)

    def post_lowering(self, module: Any, library: Any) -> None:
        """Numba would link its allocator."""


class Kernels(target_extension.CPU):
    """Numba's token for the target."""


class Description(CPUTarget):
    """The contexts of the target."""

    @cached_property
    def _toplevel_typing_context(self) -> Types:
        return Types()

    @cached_property
    def _toplevel_target_context(self) -> Lowering:
        return Lowering(self.typing_context, NAME)


class Dispatcher(CPUDispatcher):
    """By what Numba finds the contexts of a target."""

    targetdescr = Description(NAME)


target_extension.target_registry[NAME] = Kernels
target_extension.dispatcher_registry[Kernels] = Dispatcher


@lru_cache(maxsize=2)
def contexts(everything: bool) -> tuple[Any, Any]:
    """Returns the contexts that type and lower kernels: the target's own, or with everything that Numba knows."""
    known = cpu_target if everything else Dispatcher.targetdescr
    with override(everything):
        known.typing_context.refresh()
        known.target_context.refresh()
    if everything:
        options = {"aot_mode": True, "post_lowering": lambda module, library: None}
        codegen = contexts(False)[1].codegen()
        return known.typing_context, known.target_context.subtarget(_internal_codegen=codegen, **options)
    return known.typing_context, known.target_context


def override(everything: bool) -> Any:
    """Have Numba compile for the target within a `with` block, or for all that it knows."""
    return target_extension.target_override("cpu" if everything else NAME)
