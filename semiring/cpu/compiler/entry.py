"""The way from Python into a kernel, in LLVM's language: PyObject *entry(PyObject *arguments, PyObject *known[]).

The entry looks whether the tuple of arguments is of the kinds that the kernel was compiled for. It reads numbers and
arrays from their objects, and calls the kernel without the interpreter's lock. For arguments of other kinds it returns
known[0], `NotImplemented`. `known` has the type of each argument, and of an array the dtype, as `expected` lists them.

What is read of objects is public in the C structures of CPython and NumPy, of which no release may move a field.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.np.arrayobj import make_array, populate_array

from .arguments import ALIGNED, C_CONTIGUOUS

WORD, INT, BYTE = ir.IntType(64), ir.IntType(32), ir.IntType(8)
POINTER = BYTE.as_pointer()
TYPE = object.__basicsize__ - 8
"""Bytes into an object to its type."""
VALUE = object.__basicsize__
"""Bytes to a float's or a NumPy number's value, to a tuple's length, to where an array's data are."""
DATA, DIMENSIONS, EXTENTS, STRIDES, DTYPE, FLAGS = (VALUE + offset for offset in (0, 8, 16, 24, 40, 48))
"""Bytes into an array to its fields."""
ITEMS = tuple.__basicsize__
"""Bytes into a tuple to its items."""


class Entry:
    """The entry of a lowered function, which it adds to a library under a name."""

    def __init__(self, target: Any, library: Any, name: str, described: Any) -> None:
        self.target, self.described = target, described
        module = target.create_module("entry")
        function = ir.Function(module, ir.FunctionType(POINTER, [POINTER, POINTER.as_pointer()]), name)
        self.builder = ir.IRBuilder(function.append_basic_block())
        self.known, self.next_known = function.args[1], 1
        self.other = function.append_basic_block("other")
        arguments = self._items(function.args[0], self.described.argtypes)
        result = self._call(module, arguments)
        self.builder.ret(self._returned(self.described.restype, result))
        self.builder.position_at_end(self.other)
        different = self.builder.load(self.known)
        self._python("Py_IncRef", ir.VoidType(), different)
        self.builder.ret(different)
        library.add_ir_module(module)

    def _call(self, module: Any, arguments: list[Any]) -> Any:
        """Call the kernel without the interpreter's lock; where it has no memory, MemoryError."""
        convention, described, builder = self.target.call_conv, self.described, self.builder
        kind = convention.get_function_type(described.restype, described.argtypes)
        kernel = ir.Function(module, kind, described.llvm_func_name)
        thread = self._python("PyEval_SaveThread", POINTER)
        parts = builder, kernel, described.restype, described.argtypes, arguments
        status, result = convention.call_function(*parts)
        self._python("PyEval_RestoreThread", ir.VoidType(), thread)
        with cgutils.if_unlikely(builder, status.is_error):
            builder.ret(self._python("PyErr_NoMemory", POINTER))
        return result

    # Arguments

    def _items(self, at: Any, kinds: Any) -> list[Any]:
        """The items of a tuple, which must be as many."""
        self._insist(self.builder.icmp_signed("==", self._field(at, VALUE, WORD), WORD(len(kinds))))
        return [self._item(self._field(at, ITEMS + 8 * k, POINTER), kind) for k, kind in enumerate(kinds)]

    def _item(self, at: Any, kind: Any) -> Any:
        """Returns Numba's value for the object of a kind."""
        if isinstance(kind, types.BaseTuple):
            self._insist(self._is(self._field(at, TYPE, POINTER)))
            return self.target.make_tuple(self.builder, kind, self._items(at, kind))
        if isinstance(kind, types.Array):
            return self._array(at, kind)
        return self._number(at, kind)

    def _number(self, at: Any, kind: Any) -> Any:
        """A number of Python's, or else of NumPy's type."""
        builder, of = self.builder, self._field(at, TYPE, POINTER)
        number = BYTE if kind == types.boolean else self.target.get_value_type(kind)
        if kind not in (types.int64, types.boolean):  # Python's float has the same place for its value as NumPy's
            is_numpys = self._is(of)
            self._insist(builder.or_(is_numpys, self._is(of)) if kind == types.float64 else is_numpys)
            return self._field(at, VALUE, number)
        place, is_numpys, is_pythons = cgutils.alloca_once(builder, number), self._is(of), self._is(of)
        self._insist(builder.or_(is_numpys, is_pythons))
        with builder.if_else(is_pythons) as (then, otherwise):
            with then:
                if kind == types.int64:
                    value = self._python("PyLong_AsLongLong", WORD, at)
                    with builder.if_then(builder.icmp_signed("==", value, WORD(-1)), likely=False):
                        failed = builder.icmp_signed("!=", self._python("PyErr_Occurred", POINTER), POINTER(None))
                        with builder.if_then(failed, likely=False):
                            builder.ret(POINTER(None))
                else:
                    value = builder.trunc(self._python("PyLong_AsLongLong", WORD, at), BYTE)
                builder.store(value, place)
            with otherwise:
                builder.store(self._field(at, VALUE, number), place)
        value = builder.load(place)
        return builder.trunc(value, ir.IntType(1)) if kind == types.boolean else value

    def _array(self, at: Any, kind: Any) -> Any:
        """An array, whose references are not counted: the caller has one."""
        builder, target = self.builder, self.target
        self._insist(self._is(self._field(at, TYPE, POINTER)))
        self._insist(self._is(self._field(at, DTYPE, POINTER)))
        self._insist(builder.icmp_signed("==", self._field(at, DIMENSIONS, INT), INT(kind.ndim)))
        flags = INT((kind.layout == "C") * C_CONTIGUOUS | kind.aligned * ALIGNED)
        self._insist(builder.icmp_signed("==", builder.and_(self._field(at, FLAGS, INT), flags), flags))
        array = make_array(kind)(target, builder)
        extents, strides = (self._field(at, field, WORD.as_pointer()) for field in (EXTENTS, STRIDES))
        shape, steps = ([builder.load(builder.gep(x, [WORD(k)])) for k in range(kind.ndim)] for x in (extents, strides))
        size = target.get_constant(types.intp, target.get_abi_sizeof(target.get_data_type(kind.dtype)))
        populate_array(array, self._field(at, DATA, array.data.type), shape, steps, size, meminfo=None)
        return array._getvalue()

    def _field(self, at: Any, offset: int, kind: Any) -> Any:
        place = self.builder.gep(at, [WORD(offset)])
        return self.builder.load(self.builder.bitcast(place, kind.as_pointer()))

    def _is(self, value: Any) -> Any:
        """Compares a pointer with the next known one."""
        known = self.builder.load(self.builder.gep(self.known, [WORD(self.next_known)]))
        self.next_known += 1
        return self.builder.icmp_unsigned("==", value, known)

    def _insist(self, condition: Any) -> None:
        """Go on only if the condition holds."""
        further = self.builder.append_basic_block()
        self.builder.cbranch(condition, further, self.other)
        self.builder.position_at_end(further)

    # Results

    def _returned(self, kind: Any, value: Any) -> Any:
        """The Python object of what the kernel returns."""
        if isinstance(kind, types.BaseTuple):
            parts = [self._result(item, self.builder.extract_value(value, k)) for k, item in enumerate(kind)]
            form = f"({''.join(letter for letter, _ in parts)})"
        else:
            parts = [] if kind == types.none else [self._result(kind, value)]
            form = "".join(letter for letter, _ in parts)
        text = self.target.insert_const_string(self.builder.module, form)
        return self._python("Py_BuildValue", POINTER, text, *(number for _, number in parts))

    def _result(self, kind: Any, value: Any) -> tuple[str, Any]:
        """A number and its letter for Py_BuildValue."""
        builder = self.builder
        if kind == types.boolean:
            return "N", self._python("PyBool_FromLong", POINTER, builder.zext(value, WORD))
        if isinstance(kind, types.Float):
            return "d", value if kind == types.float64 else builder.fpext(value, ir.DoubleType())
        if not isinstance(kind, types.Integer):
            raise TypeError(f"kernels return numbers and tuples of these, not {kind}")
        if kind.bitwidth < 64:
            value = builder.sext(value, WORD) if kind.signed else builder.zext(value, WORD)
        return ("L" if kind.signed else "K"), value

    def _python(self, name: str, returns: Any, *arguments: Any) -> Any:
        """Call a function of the interpreter's."""
        variadic = name == "Py_BuildValue"
        kinds = [argument.type for argument in arguments[: 1 if variadic else None]]
        kind = ir.FunctionType(returns, kinds, var_arg=variadic)
        return self.builder.call(cgutils.get_or_insert_function(self.builder.module, kind, name), arguments)
