"""Functions of vectors, of NumPy and of Python, methods and elements: what each becomes in a compiled program.

They are translated as the verbs are (`semiring.fusing.verbs`), with the bits that they have as written.
"""

from __future__ import annotations

import ast
import builtins
from typing import Any

import numpy as np

from formats import DTYPES

from .. import vectors
from . import phases
from .translator import CAPACITY, Statements, described, within_flags
from .values import (
    BOOL,
    FLOAT64,
    INT64,
    Constant,
    Dense,
    MatrixValue,
    Number,
    Several,
    Sparse,
    Unfit,
    cast,
    literal,
    promoted,
)
from .verbs import (
    HANDLERS,
    Handler,
    as_number,
    called,
    handles,
    improving,
    is_none,
    known,
    of_verb,
    semiring_of,
    sparse_from,
)

# --- functions of vectors ---------------------------------------------------------------------------------------------


@handles(vectors.is_empty)
def _is_empty(t: Statements, v: Any, *, into: Any = None) -> Number:
    return Number(BOOL, f"({count_of(v)} == 0)", True)


def count_of(v: Any) -> str:
    if not isinstance(v, Sparse):
        raise Unfit("asks a vector that is not sparse for its entries")
    return v.count


@handles(vectors.nvals)
def _nvals(t: Statements, v: Any, *, into: Any = None) -> Number:
    return Number(INT64, v.count, True) if isinstance(v, Sparse) else total(t, v, "({0} != 0)")


def total(t: Statements, x: Any, text: str) -> Number:
    """The sum of an integer for each element."""
    if not isinstance(x, Dense):
        raise Unfit("adds up what is no dense vector")
    name = t.new("k_")
    t.emit(f"{name} = int64(0)")
    with t.over(x, literal(x.dtype.type(0))):
        t.emit(f"{name} += int64({text.replace('{0}', x.at('i'))})")
    return Number(INT64, name, True)


@handles(vectors.densified)
def _densified(t: Statements, v: Any, semiring: Any, *, into: Any = None) -> Dense:
    return to_dense(t, v, literal(semiring_of(semiring).zero(v.dtype)), into)


def to_dense(t: Statements, v: Any, fill: str, into: str | None = None) -> Dense:
    if not isinstance(v, Sparse):
        raise Unfit("makes dense what is no sparse vector")
    to = t.new_array(v.dtype, v.size, into)
    with t.block(f"for i in range(uintp({to.size})):"):
        t.emit(f"{to.at('i')} = {fill}")
    with t.block(f"for q in range(uintp({v.count})):"):
        t.emit(f"{to.at(f'uintp({v.indices}[q])')} = {v.values}[q]")
    return to


@handles(vectors.all_vertices)
def _all_vertices(t: Statements, A: Any, *, into: Any = None) -> Dense:
    if not isinstance(A, MatrixValue):
        raise Unfit("asks what is no matrix for its vertices")
    return Dense(index_type(t), A.shape[0], f"{index_type(t)}({{i}})")


def index_type(t: Statements) -> np.dtype:
    """The dtype of indices: that of the largest vector."""
    return t.inputs[CAPACITY].value


@handles(vectors.nonzero)
def _nonzero(t: Statements, v: Any, *, into: Any = None) -> Sparse:
    dtype = index_type(t)
    if isinstance(v, Sparse):
        return with_values(t, v, dtype, "{i}", into)
    if not isinstance(v, Dense) or v.dtype != BOOL:
        raise Unfit("looks for what is true in a vector that is not Boolean")
    return sparse_from(t, v, "{0}", into, f"{dtype}(i)", dtype, "False")


def with_values(t: Statements, v: Sparse, dtype: np.dtype, text: str, into: Any) -> Sparse:
    """The entries of a list with other values.  text: with {i} for the index of an entry."""
    to = t.new_list(dtype, v.size, v.ordered, into, v)
    with t.block(f"for q in range(uintp({v.count})):"):
        t.emit(f"i = {v.indices}[q]")
        t.emit(f"{to.indices}[q], {to.values}[q] = i, {text.replace('{i}', 'i')}")
    t.emit(f"{to.count} = {v.count}")
    return to


@handles(vectors.ones)
def _ones(t: Statements, v: Any, dtype: Any = None, *, into: Any = None) -> Sparse:
    dtype = INT64 if dtype is None else np.dtype(known(dtype, "a dtype"))
    count_of(v)
    return with_values(t, v, dtype, "True" if dtype == BOOL else f"{dtype}(1)", into)


@handles(vectors.present)
def _present(t: Statements, x: Any, semiring: Any, *, into: Any = None) -> Sparse:
    if isinstance(x, Sparse):
        return x
    if not isinstance(x, Dense):
        raise Unfit("looks for entries in what is no vector")
    zero = literal(semiring_of(semiring).zero(x.dtype))
    return sparse_from(t, x, f"{{0}} != {zero}", into, zero=zero)


@handles(vectors.masked)
def _masked(t: Statements, x: Any, mask: Any, *, into: Any = None) -> Sparse:
    if not isinstance(x, Dense) or not isinstance(mask, Dense | Sparse):
        raise Unfit("masks what is no dense vector")
    if isinstance(mask, Sparse):
        t.same_size(x.size, mask.size)
        return with_values(t, mask, x.dtype, x.at("uintp({i})"), into)
    t.same_size(x.size, mask.size)
    gathers, within = mask.gathers | x.gathers, within_flags(mask)
    both = Dense(BOOL, mask.size, mask.element, mask.reads | x.reads, gathers, within=within)
    return sparse_from(t, both, "{0}", into, x.at("i"), x.dtype, "False")


@handles(vectors.gather)
def _gather(t: Statements, x: Any, at: Any, *, into: Any = None) -> Dense:
    if isinstance(at, Sparse):
        at = in_place_indices(t, at)
    return elements(t, x, at)


def in_place_indices(t: Statements, v: Sparse) -> Dense:
    """The indices of a list as a vector, ascending, which are within its size."""
    v = t.in_order(v)
    return Dense(index_type(t), v.count, f"{v.indices}[{{i}}]", frozenset((v.indices,)), array=v.indices)


def elements(t: Statements, x: Any, at: Any) -> Dense:
    """x[at] of an index vector or a Boolean one."""
    if not isinstance(x, Dense) or not isinstance(at, Dense) or at.dtype.kind not in "bi":
        raise Unfit("takes elements of what is no dense vector, or by what are no indices")
    x = t.as_array(x)
    if at.dtype == BOOL:
        t.same_size(x.size, at.size)
        to = t.new_array(x.dtype, x.size)
        end = t.new("k_")
        t.emit(f"{end} = int64(0)")
        with t.block(f"for i in range(uintp({x.size})):"), t.block(f"if {at.at('i')}:"):
            t.emit(f"{to.at(f'uintp({end})')} = {x.at('i')}")
            t.emit(f"{end} += 1")
        return Dense(x.dtype, end, to.element, to.reads, array=to.array)
    at = t.as_array(at)
    t.inside(at, x.size)
    return Dense(x.dtype, at.size, x.at(f"uintp({at.element})"), at.reads, x.reads)


@handles(vectors.element)
def _element(t: Statements, x: Any, i: Any, *, into: Any = None) -> Number:
    found = element(t, x, i)
    return Number(
        found.dtype if found.dtype == BOOL else (INT64 if found.dtype.kind == "i" else FLOAT64), as_item(found), True
    )


def as_item(x: Number) -> str:
    """A NumPy number as Python's."""
    return cast(x.code, x.dtype, INT64 if x.dtype.kind == "i" else FLOAT64) if x.dtype != BOOL else x.code


def element(t: Statements, x: Any, i: Any) -> Number:
    """x[i] of a number."""
    if not isinstance(x, Dense):
        raise Unfit("takes an element of what is no dense vector")
    name = t.new("k_")
    t.emit(f"{name} = {t.integer(i)}")
    t.unless(f"0 <= {name} < {x.size}")
    return t.kept(Number(x.dtype, x.at(f"uintp({name})")))


@handles(vectors.scatter)
def _scatter(t: Statements, out: Any, at: Any, value: Any = None, *, into: Any = None) -> Constant:
    if not isinstance(out, Dense):
        raise Unfit("scatters into what is no dense vector")
    t.written(out, ast.Name("scatter"))
    scattered(t, out, at, None if is_none(value) else value)
    return Constant(None)


def scattered(t: Statements, out: Dense, at: Any, value: Any) -> None:
    """out[at] = value, at being sparse, indices, Booleans, or a number."""
    if isinstance(at, Number):
        if not isinstance(value, Number):
            raise Unfit("writes to an element what is no number")
        name = t.new("k_")
        t.emit(f"{name} = {t.integer(at)}")
        t.unless(f"0 <= {name} < {out.size}")
        t.emit(f"{out.at(f'uintp({name})')} = {t.stored_as(value, out.dtype).code}")
        t.enlisted(out, f"uintp({name})")
        return
    if isinstance(at, Sparse):
        t.same_size(out.size, at.size)
        if value is None:
            value = Dense(at.dtype, at.count, f"{at.values}[{{i}}]", frozenset((at.values,)))
        elif isinstance(value, Dense):
            at = t.in_order(at)
        places, count = f"uintp({at.indices}[i])", at.count
    elif isinstance(at, Dense) and at.dtype == BOOL:
        t.same_size(out.size, at.size)
        if isinstance(value, Dense):
            t.same_size(out.size, value.size)
        value = t.stored_as(value, out.dtype)
        at = t.kept(at) if out.array in at.gathers else at
        value = t.kept(value) if out.array in getattr(value, "gathers", ()) else value
        with t.block(f"for i in range(uintp({out.size})):"), t.block(f"if {at.at('i')}:"):
            new = value.at("i") if isinstance(value, Dense) else value.code
            t.emit(f"{out.at('i')} = {new}")
            t.enlisted(out, "i", new)
        return
    elif isinstance(at, Dense) and at.dtype.kind == "i":
        at = t.as_array(at)
        t.inside(at, out.size)
        places, count = f"uintp({at.at('i')})", at.size
    else:
        raise Unfit("writes to places that are no indices")
    value = t.stored_as(value, out.dtype)
    if isinstance(value, Dense):
        t.same_size(count, value.size)
        value = t.kept(value) if out.array in value.reads | value.gathers else value
    with t.block(f"for i in range(uintp({count})):"):
        new = value.at("i") if isinstance(value, Dense) else value.code
        t.emit(f"{out.at(places)} = {new}")
        t.enlisted(out, places, new)


def adding(sign: str) -> Handler:
    """Makes what translates x⟨v⟩ = x ± v."""

    def handler(t: Statements, x: Any, v: Any, *, into: Any = None) -> Constant:
        if not isinstance(x, Dense) or not isinstance(v, Sparse):
            raise Unfit("adds to places of what is no dense vector")
        t.written(x, ast.Name("scatter_add"))
        t.same_size(x.size, v.size)
        if (
            v.dtype.kind == "f"
            and x.dtype.kind != "f"
            or BOOL in (x.dtype, v.dtype)
            or v.dtype.itemsize > x.dtype.itemsize
        ):
            raise Unfit(f"adds {v.dtype} to {x.dtype}")
        with t.block(f"for q in range(uintp({v.count})):"):
            t.emit(f"i = uintp({v.indices}[q])")
            t.emit(f"{x.at('i')} = {x.dtype}({x.at('i')} {sign} {x.dtype}({v.values}[q]))")
            t.enlisted(x, "i")
        return Constant(None)

    return handler


HANDLERS[vectors.scatter_add], HANDLERS[vectors.scatter_sub] = adding("+"), adding("-")


@handles(vectors.full)
def _full(t: Statements, like: Any, fill: Any, dtype: Any, *, into: Any = None) -> Dense:
    if not isinstance(like, Dense) or not isinstance(fill, Number):
        raise Unfit("makes a vector that is like none")
    dtype = np.dtype(known(dtype, "a dtype"))
    return Dense(dtype, like.size, t.stored_as(fill, dtype).code)


@handles(vectors.arange)
def _arange(t: Statements, like: Any, count: Any, *, into: Any = None) -> Dense:
    size = room_for(t, t.integer(count))
    return Dense(like.dtype, size, f"{like.dtype}({{i}})")


def room_for(t: Statements, size: str) -> str:
    """A length that there is room for."""
    name = t.new("k_")
    t.emit(f"{name} = {size}")
    t.unless(f"0 <= {name} <= {t.parameter('capacity', 'capacity')}")
    return name


@handles(vectors.either, np.where)
def _either(t: Statements, flags: Any, x: Any, y: Any, *, into: Any = None) -> Any:
    if not isinstance(flags, Dense) or flags.dtype != BOOL or not all(isinstance(z, Number | Dense) for z in (x, y)):
        raise Unfit("chooses by what is no Boolean vector")
    dtype, _ = promoted(x, y)
    return t.elementwise("({1} if {0} else {2})", dtype, flags, t.converted(x, dtype), t.converted(y, dtype))


@handles(vectors.indices)
def _indices(t: Statements, i: Any, size: Any, *, into: Any = None) -> Sparse:
    if not isinstance(i, Dense) or i.dtype != index_type(t):
        raise Unfit("makes a sparse vector of what are no indices")
    extent = room_for(t, t.integer(size))
    at = t.as_array(i)
    to = t.new_list(i.dtype, extent, False, into, at)
    t.unless(f"{t.helper('ascends', phases.ascends)}({at.array}, {at.size}, {extent})")
    with t.block(f"for i in range(uintp({at.size})):"):
        t.emit(f"{to.indices}[i], {to.values}[i] = {at.at('i')}, {at.at('i')}")
    t.emit(f"{to.count} = {at.size}")
    return Sparse(to.dtype, to.size, to.indices, to.values, to.count, True)


@handles(vectors.first_entry)
def _first_entry(t: Statements, v: Any, *, into: Any = None) -> Sparse:
    count_of(v)
    v = t.in_order(v)
    to = t.new_list(v.dtype, v.size, True, None)
    t.emit(f"{to.count} = min(int64({v.count}), 1)")
    with t.block(f"if {to.count} > 0:"):
        t.emit(f"{to.indices}[0], {to.values}[0] = {v.indices}[0], {v.values}[0]")
    return to


@handles(vectors.unit)
def _unit(t: Statements, A: Any, source: Any, semiring: Any, name: Any = None, *, into: Any = None) -> Sparse:
    s = semiring_of(semiring)
    if not isinstance(A, MatrixValue):
        raise Unfit("makes a unit vector of what is no matrix")
    dtype = A.dtype if A.dtype in s.dtypes else s.dtypes[0]
    return single(t, A, source, dtype, literal(of_verb(lambda: s.unit(dtype))))


@handles(vectors.one_hot)
def _one_hot(t: Statements, A: Any, vertex: Any, *, into: Any = None) -> Sparse:
    return single(t, A, vertex, BOOL, "True")


def single(t: Statements, A: MatrixValue, vertex: Any, dtype: np.dtype, value: str) -> Sparse:
    """A vector with one entry."""
    to, at = t.new_list(dtype, A.shape[0], True), t.new("k_")
    t.emit(f"{at} = {t.integer(vertex)}")
    t.unless(f"0 <= {at} < {A.shape[0]} == {A.shape[1]}")
    t.emit(f"{to.indices}[0], {to.values}[0], {to.count} = {at}, {value}, int64(1)")
    return to


@handles(vectors.degrees)
def _degrees(t: Statements, A: Any, *, into: Any = None) -> Dense:
    if not isinstance(A, MatrixValue):
        raise Unfit("asks what is no matrix for its degrees")
    name = t.parameter(f"d{A.place}_{int(A.transposed)}", "degrees", A.place, A.transposed)
    return Dense(INT64, A.shape[0], f"{name}[{{i}}]", frozenset((name,)), array=name)


@handles(vectors.hashed)
def _hashed(t: Statements, x: Any, seed: Any, *, into: Any = None) -> Dense:
    if not isinstance(x, Dense) or x.dtype.kind != "i":
        raise Unfit("hashes what are no integers")
    name = t.helper("hashed", phases.hashed)
    return Dense(INT64, x.size, f"{name}({x.element}, {t.integer(seed)})", x.reads, x.gathers)


@handles(vectors.unweighted)
def _unweighted(t: Statements, A: Any, *, into: Any = None) -> Any:
    raise Unfit("takes the pattern of a matrix: do it before the loop")


# --- NumPy and Python -------------------------------------------------------------------------------------------------


def minimum(sign: str) -> Handler:
    def handler(t: Statements, x: Any, y: Any, *, into: Any = None) -> Any:
        dtype, _ = promoted(x, y)
        x, y = t.converted(x, dtype), t.converted(y, dtype)
        text = f"({{0}} if ({{0}} {sign} {{1}})" + (" or ({0} != {0})" if dtype.kind == "f" else "") + " else {1})"
        return t.elementwise(text, dtype, x, y)

    return handler


HANDLERS[np.minimum], HANDLERS[np.maximum] = minimum("<"), minimum(">")


def operator_of(op: ast.operator) -> Handler:
    return lambda t, x, y, *, into=None: t.binary(op, x, y, ast.Name(type(op).__name__))


ARITHMETIC: dict[Any, ast.operator] = {
    np.add: ast.Add(),
    np.subtract: ast.Sub(),
    np.multiply: ast.Mult(),
    np.divide: ast.Div(),
    np.bitwise_and: ast.BitAnd(),
    np.bitwise_or: ast.BitOr(),
    np.bitwise_xor: ast.BitXor(),
}
HANDLERS |= {ufunc: operator_of(op) for ufunc, op in ARITHMETIC.items()}


def logical(text: str) -> Handler:
    def handler(t: Statements, *operands: Any, into: Any = None) -> Any:
        return t.elementwise(text, BOOL, *(t.converted(x, BOOL) for x in operands))

    return handler


HANDLERS[np.logical_and], HANDLERS[np.logical_or] = logical("({0} and {1})"), logical("({0} or {1})")
HANDLERS[np.logical_not], HANDLERS[np.logical_xor] = logical("(not {0})"), logical("({0} != {1})")


def comparison(sign: str) -> Handler:
    return lambda t, x, y, *, into=None: t.compared(sign, x, y, ast.Name(sign))


COMPARED: dict[Any, str] = {
    np.less: "<",
    np.less_equal: "<=",
    np.greater: ">",
    np.greater_equal: ">=",
    np.equal: "==",
    np.not_equal: "!=",
}
HANDLERS |= {ufunc: comparison(sign) for ufunc, sign in COMPARED.items()}


@handles(builtins.abs, np.abs, np.absolute)
def _abs(t: Statements, x: Any, *, into: Any = None) -> Any:
    if not isinstance(x, Number | Dense) or x.dtype == BOOL:
        raise Unfit("takes the absolute value of what are no numbers")
    return t.elementwise(f"{x.dtype}(abs({{0}}))", x.dtype, x)


@handles(np.isfinite, np.isinf, np.isnan)
def _finite(t: Statements, x: Any, *, into: Any = None) -> Any:
    raise Unfit("asks which numbers are finite")


@handles(builtins.len)
def _len(t: Statements, x: Any, *, into: Any = None) -> Number:
    if not isinstance(x, Dense):
        raise Unfit("asks for the length of what is no dense vector")
    return Number(INT64, f"int64({x.size})", True)


@handles(builtins.int)
def _int(t: Statements, x: Any, *, into: Any = None) -> Number:
    return as_number(t, x, INT64, weak=True)


@handles(builtins.float)
def _float(t: Statements, x: Any, *, into: Any = None) -> Number:
    return as_number(t, x, FLOAT64, weak=True)


@handles(builtins.bool)
def _bool(t: Statements, x: Any, *, into: Any = None) -> Number:
    return Number(BOOL, t.truth(x), True)


def extreme(sign: str) -> Handler:
    def handler(t: Statements, *numbers: Any, into: Any = None) -> Number:
        if len(numbers) < 2 or not all(isinstance(x, Number) for x in numbers):
            raise Unfit("takes the least or the most of what are no numbers")
        if len({(x.dtype, x.weak) for x in numbers}) > 1:
            raise Unfit("takes the least or the most of numbers of several types")
        best = numbers[0]
        for x in numbers[1:]:
            best = t.kept(Number(x.dtype, f"({x.code} if {x.code} {sign} {best.code} else {best.code})", x.weak))
        return best

    return handler


HANDLERS[builtins.min], HANDLERS[builtins.max] = extreme("<"), extreme(">")


def like(fill: str) -> Handler:
    """Makes what translates np.zeros_like and np.ones_like."""

    def handler(t: Statements, x: Any, dtype: Any = None, *, into: Any = None) -> Dense:
        if not isinstance(x, Dense):
            raise Unfit("makes a vector like what is no dense one")
        kind = x.dtype if is_none(dtype) else np.dtype(known(dtype, "a dtype"))
        if kind not in DTYPES:
            raise Unfit(f"makes a vector of {kind}")
        value = {"0": "False", "1": "True"}[fill] if kind == BOOL else f"{kind}({fill})"
        return Dense(kind, x.size, value)

    return handler


HANDLERS[np.zeros_like], HANDLERS[np.ones_like] = like("0"), like("1")


@handles(np.count_nonzero)
def _count_nonzero(t: Statements, x: Any, *, into: Any = None) -> Number:
    return total(t, x, "({0} != 0)")


def as_method(name: str) -> Handler:
    """Makes what translates NumPy's function of a method's name."""

    def handler(t: Statements, x: Any, *, into: Any = None) -> Any:
        return method(t, x, name, [], {})

    return handler


METHODS = {np.any: "any", np.all: "all", np.sum: "sum", np.min: "min", np.max: "max", np.mean: "mean", np.copy: "copy"}
HANDLERS |= {function: as_method(name) for function, name in METHODS.items()}


@handles(np.array_equal)
def _array_equal(t: Statements, x: Any, y: Any, *, into: Any = None) -> Number:
    if not isinstance(x, Dense) or not isinstance(y, Dense):
        raise Unfit("compares what are no dense vectors")
    t.same_size(x.size, y.size)
    return Number(BOOL, quantified(t, t.compared("==", x, y, ast.Name("array_equal")), True).code, True)


def made_of(fill: str) -> Handler:
    """Makes what translates np.zeros and np.ones."""

    def handler(t: Statements, shape: Any, dtype: Any = None, *, into: Any = None) -> Dense:
        kind = FLOAT64 if is_none(dtype) else np.dtype(known(dtype, "a dtype"))
        if kind not in DTYPES:
            raise Unfit(f"makes a vector of {kind}")
        value = {"0": "False", "1": "True"}[fill] if kind == BOOL else f"{kind}({fill})"
        return Dense(kind, room_for(t, t.integer(shape)), value)

    return handler


HANDLERS[np.zeros], HANDLERS[np.ones] = made_of("0"), made_of("1")


@handles(np.arange)
def _np_arange(t: Statements, stop: Any, *, into: Any = None) -> Dense:
    if not isinstance(stop, Number) or stop.dtype != INT64:
        raise Unfit("counts up to what is no int")
    return Dense(INT64, room_for(t, f"max({t.integer(stop)}, 0)"), "int64({i})")


# --- attributes, methods, elements ------------------------------------------------------------------------------------


def attribute(t: Statements, of: Any, name: str) -> Any:
    """The value of of.name."""
    if isinstance(of, Constant):
        if not hasattr(of.value, name):
            raise Unfit(f"asks for {name}, which there is not")
        return described(getattr(of.value, name))
    if isinstance(of, MatrixValue):
        if name == "T":
            return of.turned
        if name in ("nrows", "ncols"):
            return Number(INT64, of.shape[name == "ncols"], True)
        if name == "nnz":
            return Number(INT64, t.parameter(f"nnz{of.place}", "nnz", of.place), True)
        if name == "shape":
            return Several(tuple(Number(INT64, size, True) for size in of.shape))
    if name == "dtype" and isinstance(of, MatrixValue | Dense | Sparse | Number):
        return Constant(of.dtype)
    if name == "size" and isinstance(of, Dense | Sparse):
        return Number(INT64, f"int64({of.size})", True)
    if isinstance(of, Sparse):
        if name == "nnz":
            return Number(INT64, of.count, True)
        if name == "indices":
            return in_place_indices(t, of)
        if name == "values":
            of = t.in_order(of)
            return Dense(of.dtype, of.count, f"{of.values}[{{i}}]", frozenset((of.values,)), array=of.values)
    raise Unfit(f"asks for {name}")


def method(t: Statements, of: Any, name: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """The value of of.name(…)."""
    if kwargs:
        raise Unfit(f"calls .{name}() with keywords")
    if isinstance(of, Sparse) and name == "pattern" and not args:
        return with_values(t, of, BOOL, "True", None)
    if isinstance(of, Sparse) and name == "to_dense":
        fill = args[0] if args else Number(of.dtype, literal(of.dtype.type(0)))
        return to_dense(t, of, t.stored_as(fill, of.dtype).code)
    if isinstance(of, Dense):
        match name, args:
            case "copy", []:
                return Dense(of.dtype, of.size, of.element, of.reads, of.gathers)
            case "astype", [dtype]:
                return t.stored_as(of, np.dtype(known(dtype, "a dtype")))
            case "sum", [] if of.dtype.kind in "bi":
                return Number(INT64, total(t, of, "{0}").code)
            case "sum", [] if of.dtype.kind == "f":
                x, name = t.as_array(of), t.new("k_")
                room = f"{t.parameter('levels', 'levels')}, {t.parameter(f'sums_{of.dtype}', 'sums', of.dtype)}"
                function = t.helper("pairwise", phases.pairwise)
                t.emit(f"{name} = {literal(of.dtype.type(0))} + {function}({x.array}, {x.size}, {room})")
                return Number(of.dtype, name)
            case (("any" | "all"), []):
                return quantified(t, of, name == "all")
            case (("min" | "max"), []):
                return least(t, of, "<" if name == "min" else ">")
            case "mean", [] if of.dtype.kind == "f":
                t.unless(f"{of.size} > 0")
                whole = method(t, of, "sum", [], {})
                return Number(of.dtype, f"{of.dtype}({whole.code} / {of.size})")
            case "take", [at]:
                return elements(t, of, at)
    if isinstance(of, Number) and name == "item" and not args:
        return Number(INT64 if of.dtype.kind == "i" else of.dtype if of.dtype == BOOL else FLOAT64, as_item(of), True)
    raise Unfit(f"calls .{name}()")


def quantified(t: Statements, x: Dense, all_of: bool) -> Number:
    """Whether all elements are true, or any is."""
    name = t.new("k_")
    t.emit(f"{name} = {all_of}")
    zero = None if all_of else literal(x.dtype.type(0))
    with t.over(x, zero, wanted=False), t.block(f"if {'not ' if all_of else ''}({x.at('i')} != 0):"):
        t.emit(f"{name} = {not all_of}")
        t.emit("break")
    return Number(BOOL, name)


def least(t: Statements, x: Dense, sign: str) -> Number:
    """The least element, or the greatest; of none there is none, which is an error as written."""
    if x.dtype == BOOL:
        raise Unfit("takes the least of Booleans")
    name, each = t.new("k_"), t.new("x")
    t.unless(f"{x.size} > 0")
    t.emit(f"{name} = {x.at('uintp(0)')}")
    with t.block(f"for i in range(uintp({x.size})):"):
        t.emit(f"{each} = {x.at('i')}")
        better_one = f"{each} {sign} {name}" + (f" or {each} != {each}" if x.dtype.kind == "f" else "")
        t.emit(f"{name} = {each} if {better_one} else {name}")
    return Number(x.dtype, name)


def part_of(t: Statements, of: Any, at: ast.expr) -> Any:
    """The value of of[at]."""
    if isinstance(of, Several):
        return of.parts[known(t.value(at), "an index")]
    if isinstance(at, ast.Slice) or not isinstance(of, Dense):
        raise Unfit("takes a part of what is no dense vector, or a slice")
    place = t.value(at)
    return element(t, of, place) if isinstance(place, Number) else elements(t, of, place)


class Translator(Statements):
    """One attempt to translate a loop."""

    called = called
    method = method
    attribute = attribute
    part_of = part_of
    scattered = scattered
    improving = improving
