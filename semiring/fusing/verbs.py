"""Verbs, functions of vectors and of NumPy, methods and elements: what each becomes in a compiled program.

Each is translated to what it does as written, in `semiring.generic.vectors`, `semiring.cpu.compiled` and
`semiring.verbs.masks`: the same entries, the same values, to the last bit. What is not here is not compiled.
"""

from __future__ import annotations

import ast
import builtins
import platform
from collections.abc import Callable
from typing import Any

import numpy as np

from formats import DTYPES, Matrix

from .. import vectors
from ..algebra.ops import BinaryOp, UnaryOp, find_unary
from ..algebra.predicates import Predicate, better, find_comparison, no_worse
from ..algebra.semirings import MONOIDS, Monoid, Semiring, counts, find_combiner, find_monoid, find_semiring
from ..verbs import verbs
from ..verbs.operands import common_dtype, result_dtype, typing_of
from . import phases
from .translator import Translator, described
from .values import (
    BOOL,
    FLOAT64,
    INT64,
    Constant,
    Dense,
    Function,
    MatrixValue,
    Number,
    Several,
    Sparse,
    Unfit,
    cast,
    literal,
    promoted,
)

Handler = Callable[..., Any]
HANDLERS: dict[Any, Handler] = {}
"""What translates a call, by what is called."""
SUMS_ARE_ROUNDED_ALIKE = platform.machine().lower() in ("x86_64", "amd64")
"""True where SuiteSparse, too, rounds each product and each sum: elsewhere its compiler may join the two."""
FAR = 2**62
"""The size of integers up to which two can be added in 64 bits."""
RULE = ("mask", "complement", "accum", "out", "replace")


def handles(*functions: Any) -> Callable[[Handler], Handler]:
    """Decorate a function (translator, arguments …) that translates calls of these."""

    def decorate(handler: Handler) -> Handler:
        HANDLERS.update(dict.fromkeys(functions, handler))
        return handler

    return decorate


def called(t: Translator, function: Any, args: list[Any], kwargs: dict[str, Any], node: ast.Call, into: Any) -> Any:
    """The value of a call of something that is known."""
    try:
        handler = HANDLERS.get(function)
    except TypeError:
        handler = None
    if handler is not None:
        try:
            return handler(t, *args, **kwargs, into=into)
        except TypeError as error:
            if "argument" in str(error):
                raise Unfit(f"has {ast.unparse(node)!r}, of which not all arguments are compiled") from None
            raise
    if all(isinstance(x, Constant) or getattr(x, "constant", None) is not None for x in (*args, *kwargs.values())):
        owner = getattr(function, "__self__", None)
        if function in (better, no_worse, find_semiring, np.dtype) or isinstance(owner, Semiring | Monoid):
            plain = [x.value if isinstance(x, Constant) else x.constant for x in args]
            return described(function(*plain))
    if isinstance(function, type) and issubclass(function, np.generic) and np.dtype(function) in DTYPES:
        return as_number(t, args[0], np.dtype(function), weak=False)
    if hasattr(function, "__code__"):
        return t.inline(t.function(function), args, kwargs)
    raise Unfit(f"calls {ast.unparse(node.func)}")


def known(value: Any, what: str) -> Any:
    """What a constant is, or a number that the source has."""
    if isinstance(value, Constant):
        return value.value
    if isinstance(value, Number) and value.constant is not None:
        return value.constant
    raise Unfit(f"has {what} that is not known when it is compiled")


def semiring_of(value: Any) -> Semiring:
    return find_semiring(known(value, "a semiring"))


def is_none(value: Any) -> bool:
    return value is None or (isinstance(value, Constant) and value.value is None)


def as_number(t: Translator, value: Any, dtype: np.dtype, weak: bool) -> Number:
    """A number as another type of number."""
    if not isinstance(value, Number) or (value.dtype.kind == "f" and dtype.kind == "i"):
        raise Unfit("converts to a number what is none, or rounds it")
    return Number(dtype, cast(value.code, value.dtype, dtype), weak)


# --- the write rule ---------------------------------------------------------------------------------------------------


class Written:
    """The write rule of a verb's call: which places may be written, and what becomes of the result."""

    def __init__(
        self,
        t: Translator,
        mask: Any = None,
        complement: Any = None,
        accum: Any = None,
        out: Any = None,
        replace: Any = None,
    ):
        self.t = t
        self.mask = None if is_none(mask) else mask
        self.complement = complement is not None and bool(known(complement, "complement="))
        self.replace = replace is not None and bool(known(replace, "replace="))
        self.accum = None if is_none(accum) else find_combiner(known(accum, "accum="), "add")
        self.out = None if is_none(out) else out
        if self.mask is not None and not (
            isinstance(self.mask, Sparse) or (isinstance(self.mask, Dense) and self.mask.dtype == BOOL)
        ):
            raise Unfit("has a mask that is no sparse or Boolean vector")
        if self.out is not None:
            t.written(self.out, ast.Name("out"))
        if isinstance(self.accum, BinaryOp) and (self.accum.boolean or self.accum.partial):
            raise Unfit("accumulates by a comparison or by an operator that has no result for some operands")

    def flags(self, size: str) -> tuple[str, str]:
        """(an array of Booleans, the value of those places that may be written); ("", "") where all may."""
        if self.mask is None:
            return "", ""
        self.t.same_size(size, self.mask.size)
        if isinstance(self.mask, Dense):
            return self.t.as_array(self.mask).array, str(not self.complement)
        return self.marked(), str(not self.complement)

    def marked(self) -> str:
        """The places of a sparse mask as Booleans, until `unmark`."""
        t, seen = self.t, self.t.scratch(BOOL, False)
        self.marks = seen
        with t.block(f"for q in range(uintp({self.mask.count})):"):
            t.emit(f"{seen}[uintp({self.mask.indices}[q])] = {self.mask.values}[q] != 0")
        return seen

    def unmark(self) -> None:
        """Take the marks of a sparse mask back."""
        if isinstance(self.mask, Sparse):
            with self.t.block(f"for q in range(uintp({self.mask.count})):"):
                self.t.emit(f"{self.marks}[uintp({self.mask.indices}[q])] = False")

    def test(self, size: str, i: str) -> str:
        """The text of a test whether a place may be written. Afterwards call `unmark`."""
        flags, wanted = self.flags(size)
        return "True" if not flags else f"({flags}[{i}] == {wanted})"

    def written(self, result: Any, zero: Any, into: Any, masked: bool = False) -> Any:
        """The result by the rule.  masked: it is absent where the mask does not allow."""
        t, out = self.t, self.out
        if out is not None and out.dtype != result.dtype:
            raise Unfit("has an out= of another dtype than the result")
        if out is None:
            if self.mask is None or masked:
                return result
            return self.of_sparse(result, into) if isinstance(result, Sparse) else self.of_dense(result, zero)
        t.same_size(out.size, result.size)
        if isinstance(out, Dense):
            return self.into_dense(result, zero)
        if isinstance(result, Dense):
            result = sparse_from(t, result, f"{{0}} != {literal(zero)}", None)
        return self.into_sparse(result, zero)

    def of_sparse(self, v: Sparse, into: Any) -> Sparse:
        """The entries that the mask allows."""
        test = self.test(v.size, f"uintp({v.indices}[q])")
        to = filtered(self.t, v, test, into, self.mask)
        self.unmark()
        return to

    def of_dense(self, x: Dense, zero: Any) -> Dense:
        """The elements that the mask allows."""
        to = self.t.new_array(x.dtype, x.size)
        test = self.test(x.size, "i")
        with self.t.block(f"for i in range(uintp({x.size})):"):
            self.t.emit(f"{to.at('i')} = {x.at('i')} if {test} else {literal(zero)}")
        self.unmark()
        return to

    def into_dense(self, result: Any, zero: Any) -> Dense:
        """A result that is written into a dense vector."""
        t, out = self.t, self.out
        test = self.test(out.size, "i")
        if isinstance(result, Dense):
            if out.array in result.gathers:
                result = t.kept(result)
            with t.block(f"for i in range(uintp({out.size})):"):
                new = result.at("i")
                if self.accum is not None:
                    new = self.union(out.at("i"), new, out.dtype, zero)
                self.store("i", test, new, zero)
            self.unmark()
            return out
        q = f"uintp({result.indices}[q])"
        if self.accum is None or (self.replace and self.mask is not None):
            with t.block(f"for i in range(uintp({out.size})):"):
                cleared = test if self.accum is None else "False"
                unwanted = f"not {test}" if self.replace and test != "True" else "False"
                t.emit(f"if {cleared} or {unwanted}:")
                t.emit(f"    {out.at('i')} = {literal(zero)}")
        with t.block(f"for q in range(uintp({result.count})):"):
            t.emit(f"i = {q}")
            with t.block(f"if {test}:"):
                new = f"{result.values}[q]"
                if self.accum is not None:
                    new = self.union(out.at("i"), new, out.dtype, zero)
                t.emit(f"{out.at('i')} = {new}")
        self.unmark()
        return out

    def store(self, i: str, test: str, new: str, zero: Any) -> None:
        """Emit the write of one element of a dense vector."""
        if test == "True":
            self.t.emit(f"{self.out.at(i)} = {new}")
            return
        with self.t.block(f"if {test}:"):
            self.t.emit(f"{self.out.at(i)} = {new}")
        if self.replace:
            with self.t.block("else:"):
                self.t.emit(f"{self.out.at(i)} = {literal(zero)}")

    def union(self, x: str, y: str, dtype: np.dtype, zero: Any) -> str:
        """accum(x, y) where both are present, whichever is present elsewhere."""
        return union(self.t, self.accum, dtype, zero, x, y)

    def into_sparse(self, v: Sparse, zero: Any) -> Sparse:
        """A result that is written into a sparse vector."""
        t, out = self.t, self.out
        z = v if self.accum is None else united(t, out, v, self.accum, zero, drops=False)
        if self.mask is not None:
            test = self.test(out.size, f"uintp({z.indices}[q])")
            new = filtered(t, z, test, None, None)
            if not self.replace:
                outside = test.replace(f"uintp({z.indices}[q])", f"uintp({out.indices}[q])")
                stays = filtered(t, out, f"not {outside}", None, None)
                self.unmark()
                z = united(t, new, stays, find_combiner("first", "mul"), zero, drops=False)
            else:
                self.unmark()
                z = new
        name = out.indices[2:-2]
        if not out.indices.startswith("v_"):
            raise Unfit("writes into a sparse vector that has no name")
        t.declare(name, z.type)
        if z.indices != out.indices:
            with t.block(f"for q in range(uintp({z.count})):"):
                t.emit(f"{out.indices}[q], {out.values}[q] = {z.indices}[q], {z.values}[q]")
        t.emit(f"{out.count} = {z.count}")
        return out


def filtered(t: Translator, v: Sparse, test: str, into: Any, *operands: Any) -> Sparse:
    """The entries, at q, for which a test holds. It may be the list itself that is written."""
    to = t.new_list(v.dtype, v.size, v.ordered, into, *operands)
    end = t.new("e")
    t.emit(f"{end} = 0")
    with t.block(f"for q in range(uintp({v.count})):"), t.block(f"if {test}:"):
        t.emit(f"{to.indices}[uintp({end})], {to.values}[uintp({end})] = {v.indices}[q], {v.values}[q]")
        t.emit(f"{end} += 1")
    t.emit(f"{to.count} = {end}")
    return to


def sparse_from(t: Translator, x: Dense, test: str, into: Any, values: str = "{0}", dtype: Any = None) -> Sparse:
    """The entries of a dense vector for which a test of the element, {0}, holds."""
    to = t.new_list(
        dtype or x.dtype, x.size, True, into, x, *(Dense(x.dtype, "", "", array=a) for a in x.reads | x.gathers)
    )
    end, element = t.new("e"), t.new("x")
    t.emit(f"{end} = 0")
    with t.block(f"for i in range(uintp({x.size})):"):
        t.emit(f"{element} = {x.at('i')}")
        with t.block(f"if {test.replace('{0}', element)}:"):
            t.emit(f"{to.indices}[uintp({end})], {to.values}[uintp({end})] = i, {values.replace('{0}', element)}")
            t.emit(f"{end} += 1")
    t.emit(f"{to.count} = {end}")
    return to


def combined(t: Translator, op: Monoid | BinaryOp, dtype: np.dtype) -> str:
    """The name of an operator on two values."""
    if isinstance(op, BinaryOp) and op.partial:
        raise Unfit(f"uses {op.name}, which has no result for some operands")
    op = op.on(dtype) if isinstance(op, Monoid) else op
    return t.helper("op", phases.function_of(op, dtype))


def keeps(op: Monoid | BinaryOp, dtype: np.dtype, zero: Any) -> bool:
    return isinstance(op, Monoid) and bool(op.zero(dtype) == zero)


def union(t: Translator, op: Any, dtype: np.dtype, zero: Any, x: str, y: str) -> str:
    """op where both are present, whichever is present elsewhere.  zero None: all are."""
    both = f"{combined(t, op, dtype)}({x}, {y})"
    if zero is None or keeps(op, dtype, zero):
        return both
    return f"({y} if {x} == {literal(zero)} else ({x} if {y} == {literal(zero)} else {both}))"


def united(t: Translator, u: Sparse, v: Sparse, op: Any, zero: Any, drops: bool) -> Sparse:
    """The union of two lists, in a list of its own."""
    t.same_size(u.size, v.size)
    combined(t, op, u.dtype)
    plain = op.on(u.dtype) if isinstance(op, Monoid) else op
    unite = phases.uniting(plain, u.dtype, zero, drops, keeps(op, u.dtype, zero))
    to = t.new_list(u.dtype, u.size, False)
    parts = f"{u.indices}, {u.values}, {u.count}, {v.indices}, {v.values}, {v.count}"
    place = t.scratch(np.dtype(np.int64), -1)
    t.emit(f"{to.count} = {t.helper('unite', unite)}({parts}, {place}, {to.indices}, {to.values})")
    return to


def typed(t: Translator, x: Any, semiring: Semiring | None, dtype: np.dtype) -> Any:
    """A vector's values in the common dtype, absent ones staying so, as `typed_vector` has it."""
    if x.dtype == dtype:
        return x
    translated = semiring is not None and x.dtype in semiring.dtypes and semiring.zero(x.dtype) != semiring.zero(dtype)

    def text(code: str) -> str:
        new = cast(code, x.dtype, dtype)
        if not translated:
            return new
        return f"({literal(semiring.zero(dtype))} if {code} == {literal(semiring.zero(x.dtype))} else {new})"

    if isinstance(x, Dense):
        return Dense(dtype, x.size, text(x.element), x.reads, x.gathers)
    to = t.new_list(dtype, x.size, x.ordered)
    with t.block(f"for q in range(uintp({x.count})):"):
        t.emit(f"{to.indices}[q], {to.values}[q] = {x.indices}[q], {text(f'{x.values}[q]')}")
    t.emit(f"{to.count} = {x.count}")
    return to


def typed_like(x: Any) -> Any:
    """Something with the dtype of a value, for functions of verbs that look at dtypes alone."""
    if isinstance(x, MatrixValue | Dense | Sparse):
        return np.empty(0, x.dtype)
    raise Unfit("has an operand that is no vector or matrix")


# --- products ---------------------------------------------------------------------------------------------------------


@handles(verbs.vxm)
def _vxm(t: Translator, x: Any, A: Any, semiring: Any, *, into: Any = None, **rule: Any) -> Any:
    return product(t, A, x, semiring_of(semiring), False, into, rule)


@handles(verbs.mxv)
def _mxv(t: Translator, A: Any, x: Any, semiring: Any, *, into: Any = None, **rule: Any) -> Any:
    return product(t, A, x, semiring_of(semiring), True, into, rule)


def improving(t: Translator, node: ast.Call, into: Any) -> Sparse | None:
    """select(f A, better, d): a product that takes only terms which improve d; None if that is something else."""
    inner = node.args[0]
    assert isinstance(inner, ast.Call)
    (args, rule), others = t.arguments(inner), [t.value(each) for each in node.args[1:]]
    keywords = {each.arg: t.value(each.value) for each in node.keywords}
    others += [keywords.pop(name) for name in ("predicate", "other")[len(others) :] if name in keywords]
    args += [rule.pop(name) for name in ("semiring",) if name in rule]
    matrix_first = t.is_call_of(inner, verbs.mxv)
    if keywords or len(args) != 3 or len(others) != 2 or rule.keys() - {"mask", "complement"}:
        return None
    (A, x) = args[:2] if matrix_first else args[1::-1]
    s, d = semiring_of(args[2]), others[1]
    if not (isinstance(x, Sparse) and isinstance(d, Dense) and d.array and isinstance(A, MatrixValue)):
        return None
    if not isinstance(others[0], Constant) or find_comparison(others[0].value) != better(s) or not s.add.selective:
        return None
    if not x.dtype == A.dtype == d.dtype:
        return None
    return product(t, A, x, s, matrix_first, into, rule, d)


def product(
    t: Translator,
    A: Any,
    x: Any,
    s: Semiring,
    matrix_first: bool,
    into: Any,
    rule: dict[str, Any],
    d: Dense | None = None,
) -> Any:
    """A ⊗ x, or x ⊗ A.  d: only terms that improve it are taken."""
    if not isinstance(A, MatrixValue) or not isinstance(x, Dense | Sparse):
        raise Unfit("has a product of what are no matrix and vector that stay as they are")
    if s.mul.position is not None:
        raise Unfit(f"has the semiring {s.name}, which counts positions")
    dtype = of_verb(lambda: common_dtype(s, Pattern(A.dtype), typed_like(x)))
    check_sums(s, dtype, A)
    t.same_size(A.shape[1 if matrix_first else 0], x.size)
    size = A.shape[0 if matrix_first else 1]
    if d is not None:
        t.same_size(size, d.size)
    write = Written(t, **only(rule))
    x = typed(t, x, s, dtype)
    t.told.append(f"{'mxv' if matrix_first else 'vxm'} of a {'sparse' if isinstance(x, Sparse) else 'dense'} vector")
    by_mask = write.mask is not None
    flags, wanted = write.flags(size) if by_mask else (t.scratch(BOOL, False), "True")
    along = matrix_first != isinstance(x, Sparse)  # rows for a gather of mxv, columns for its push
    matrix = matrix_parameter(t, A, s, dtype, by_rows=along)
    sums = not (s.add.idempotent or counts(s, dtype))
    if isinstance(x, Sparse):
        x = t.in_order(x) if sums and dtype.kind == "f" else x
        kind = s, dtype, matrix_first, by_mask
        push = t.helper("push", phases.summing(*kind) if sums else phases.pushing(*kind, better(s) if d else None))
        to = t.new_list(dtype, size, False, into if write.out is None else None, x, write.mask)
        y = t.scratch(dtype, s.zero(dtype))
        y += f", {t.parameter('seen', 'flags') if sums else d.array if d else y}"
        parts = f"{matrix}, {x.indices}, {x.values}, {x.count}, {y}, {flags}, {wanted}, {to.indices}, {to.values}"
        t.emit(f"{to.count} = {push}({parts})")
        if sums:
            t.unless(f"{to.count} >= 0")
        result: Any = to
    else:
        gather = t.helper("gather", phases.gathering(s, dtype, matrix_first, by_mask))
        result = t.new_array(dtype, size)
        exact = t.parameter("exact", "exact")
        parts = f"({matrix}, {t.as_array(x).array}, {flags}, {wanted}, {result.array}, {exact})"
        t.emit(f"{gather}({t.parameter('gate', 'gate')}, {size}, {phases.ROWS_AT_A_TIME}, {parts})")
        t.unless(f"{exact}[0]")
    if by_mask:
        write.unmark()
    return write.written(result, s.zero(dtype), into, masked=True)


class Pattern(Matrix):
    """A matrix of which only the dtype is known."""

    def __init__(self, dtype: np.dtype) -> None:
        self._dtype = dtype

    @property
    def dtype(self) -> np.dtype:  # type: ignore[override]
        return self._dtype


def of_verb(check: Callable[[], Any]) -> Any:
    """What a verb's own check gives; what it refuses is not compiled, and refused as written."""
    try:
        return check()
    except (TypeError, ValueError) as error:
        raise Unfit(f"has a call that is refused: {error}") from None


def check_sums(s: Semiring, dtype: np.dtype, A: MatrixValue) -> None:
    """Unfit for sums whose bits depend on the order of terms, or that stop at the end of a range."""
    if s.add == MONOIDS["any"] and s.mul.name != "pair":
        raise Unfit(f"has the semiring {s.name}, which takes whichever term comes first")
    if s.add.name == "times" or (not s.add.idempotent and s.mul.partial):
        raise Unfit(f"multiplies many numbers, or adds up results of {s.mul.name}, which not all operands have")
    if not s.add.idempotent and dtype.kind == "f" and not (A.in_order and SUMS_ARE_ROUNDED_ALIKE):
        raise Unfit(f"adds up {dtype}, which are rounded in another order in this format or on this processor")


def matrix_parameter(t: Translator, A: MatrixValue, s: Semiring, dtype: np.dtype, by_rows: bool) -> str:
    """A matrix by its rows, or by its columns, in a dtype: a tuple of three arrays."""
    rows = by_rows != A.transposed
    zeros = s.zero(A.dtype) if A.dtype in s.dtypes else None
    told = "matrix", A.place, rows, dtype, s if A.dtype != dtype else None
    for name, known_already in t.parameters.items():
        same = known_already[0] == "matrix" and known_already[1:4] == told[1:4]
        if same and (A.dtype == dtype or (zeros, s.zero(dtype)) == _zeros(known_already[4], A.dtype, dtype)):
            return name
    return t.parameter(t.new("m"), *told)


def _zeros(s: Semiring | None, old: np.dtype, new: np.dtype) -> Any:
    return None if s is None else (s.zero(old) if old in s.dtypes else None, s.zero(new))


def only(rule: dict[str, Any]) -> dict[str, Any]:
    """The write rule's parameters; Unfit for others."""
    if any(name not in RULE and not is_none(value) for name, value in rule.items()):
        raise Unfit("has a product that tells its arguments")
    return {name: value for name, value in rule.items() if name in RULE}


# --- element by element -----------------------------------------------------------------------------------------------


@handles(verbs.ewise_add)
def _ewise_add(t: Translator, u: Any, v: Any, op: Any, *, into: Any = None, **rule: Any) -> Any:
    combiner, typing, dtype, u, v = operands(t, u, v, op, "add")
    if isinstance(combiner, BinaryOp) and combiner.boolean:
        raise Unfit("compares two present values by ewise_add")
    zero = typing.zero(dtype) if typing else None
    write = Written(t, **rule)
    fill = dtype.type(0) if zero is None else zero
    t.same_size(u.size, v.size)
    if isinstance(u, Sparse) and isinstance(v, Sparse):
        return write.written(
            united(t, u, v, combiner, zero, True) if zero is not None else refuse_operator(), fill, into
        )
    if isinstance(u, Dense) and isinstance(v, Dense):
        x, y = u.element, v.element
        both = union(t, combiner, dtype, zero, x, y)
        w = Dense(dtype, u.size, both, u.reads | v.reads, u.gathers | v.gathers)
        return write.written(w, fill, into)
    dense, sparse = (u, v) if isinstance(u, Dense) else (v, u)
    in_place = write.out is not None and dense is u and dense.array == write.out.array != ""
    in_place = in_place and write.mask is None and write.accum is None
    w = dense if in_place else t.kept(dense)
    with t.block(f"for q in range(uintp({sparse.count})):"):
        t.emit(f"i = uintp({sparse.indices}[q])")
        parts = [w.at("i"), f"{sparse.values}[q]"]
        x, y = parts if dense is u else parts[::-1]
        t.emit(f"{w.at('i')} = {union(t, combiner, dtype, zero, x, y)}")
    return w if in_place else write.written(w, fill, into)


def refuse_operator() -> Any:
    raise Unfit("adds sparse vectors by an operator, which does not say what is absent")


def operands(t: Translator, u: Any, v: Any, op: Any, part: Any) -> tuple[Any, Any, np.dtype, Any, Any]:
    """The operator of an element-wise verb, its semiring, the dtype, and the operands in it."""
    if not (isinstance(u, Dense | Sparse) and isinstance(v, Dense | Sparse)):
        raise Unfit("combines what are no two vectors")
    op = known(op, "an operator")
    combiner, typing = find_combiner(op, part), typing_of(op, part)
    both = typed_like(u), typed_like(v)
    dtype = of_verb(lambda: common_dtype(typing, *both) if typing else np.result_type(*both))
    return combiner, typing, dtype, typed(t, u, typing, dtype), typed(t, v, typing, dtype)


@handles(verbs.ewise_mult)
def _ewise_mult(t: Translator, u: Any, v: Any, op: Any, *, into: Any = None, **rule: Any) -> Any:
    combiner, typing, dtype, u, v = operands(t, u, v, op, "mul")
    zero = typing.zero(dtype) if typing else None
    result = result_dtype(combiner, dtype)
    write = Written(t, **rule)
    fill = result.type(0) if zero is None else zero
    t.same_size(u.size, v.size)
    function = combined(t, combiner, dtype)
    if isinstance(u, Dense) and isinstance(v, Dense):
        both = f"{function}({u.element}, {v.element})"
        if zero is not None:
            absent = literal(zero)
            both = f"({absent} if ({u.element} == {absent}) or ({v.element} == {absent}) else {both})"
        return write.written(Dense(result, u.size, both, u.reads | v.reads, u.gathers | v.gathers), fill, into)
    if isinstance(u, Sparse) and isinstance(v, Sparse):
        room, seen = t.scratch(dtype, None), t.scratch(BOOL, False)
        with t.block(f"for q in range(uintp({v.count})):"):
            t.emit(f"i = uintp({v.indices}[q])")
            t.emit(f"{room}[i], {seen}[i] = {v.values}[q], True")
        to = intersection(t, u, f"{room}[i]", function, zero, result, f"{seen}[i]")
        with t.block(f"for q in range(uintp({v.count})):"):
            t.emit(f"{seen}[uintp({v.indices}[q])] = False")
    elif isinstance(u, Sparse):
        to = intersection(t, u, t.as_array(v).at("i"), function, zero, result, "True")
    else:
        to = intersection(t, v, t.as_array(u).at("i"), function, zero, result, "True", turned=True)
    return write.written(to, fill, into)


def intersection(
    t: Translator, u: Sparse, other: str, function: str, zero: Any, dtype: np.dtype, test: str, turned: bool = False
) -> Sparse:
    """The entries at which another vector has one too, combined; what becomes zero goes."""
    to, end = t.new_list(dtype, u.size, u.ordered), t.new("e")
    t.emit(f"{end} = 0")
    with t.block(f"for q in range(uintp({u.count})):"):
        t.emit(f"i = uintp({u.indices}[q])")
        x, y = f"{u.values}[q]", other
        present = [] if test == "True" else [test]
        present += [] if zero is None else [f"{x} != {literal(zero)}", f"{y} != {literal(zero)}"]
        with t.block(f"if {' and '.join(present) or 'True'}:"):
            t.emit(f"w = {function}({y}, {x})" if turned else f"w = {function}({x}, {y})")
            with t.block("if True:" if zero is None else f"if w != {literal(zero)}:"):
                t.emit(f"{to.indices}[uintp({end})], {to.values}[uintp({end})] = i, w")
                t.emit(f"{end} += 1")
    t.emit(f"{to.count} = {end}")
    return to


@handles(verbs.apply)
def _apply(
    t: Translator,
    u: Any,
    op: Any,
    *,
    left: Any = None,
    right: Any = None,
    semiring: Any = None,
    into: Any = None,
    **rule: Any,
) -> Any:
    if not isinstance(u, Dense | Sparse) or not is_none(semiring):
        raise Unfit("applies a function to what is no vector, or with a semiring")
    left, right = (None if is_none(x) else x for x in (left, right))
    write = Written(t, **rule)
    x = Dense(u.dtype, u.count, f"{u.values}[{{i}}]", frozenset((u.values,))) if isinstance(u, Sparse) else u
    if left is not None or right is not None:
        bound = left if left is not None else right
        if not isinstance(bound, Number) or (left is not None and right is not None):
            raise Unfit("binds no number to an operator")
        combiner = find_combiner(known(op, "an operator"), "mul")
        dtype, _ = promoted(x, bound)
        function, number = combined(t, combiner, dtype), cast(bound.code, bound.dtype, dtype)
        element = cast(x.element, x.dtype, dtype)
        text = f"{function}({number}, {element})" if left is not None else f"{function}({element}, {number})"
        y = Dense(result_dtype(combiner, dtype), x.size, text, x.reads, x.gathers)
    else:
        y = of_function(t, op, x)
    if y.dtype.kind == "f":  # a NaN is an error as written
        y = t.kept(y)
        with t.block(f"for i in range(uintp({y.size})):"):
            t.unless(f"{y.at('i')} == {y.at('i')}")
    if isinstance(u, Dense):
        return write.written(y, y.dtype.type(0), into)
    to = t.new_list(y.dtype, u.size, u.ordered, None)
    with t.block(f"for i in range(uintp({u.count})):"):
        t.emit(f"{to.indices}[i], {to.values}[i] = {u.indices}[i], {y.at('i')}")
    t.emit(f"{to.count} = {u.count}")
    return write.written(to, y.dtype.type(0), into)


def of_function(t: Translator, op: Any, x: Dense) -> Dense:
    """A function of arrays on a vector."""
    if isinstance(op, Function):
        y = t.inline(op, [x], {})
    elif isinstance(op, Constant) and isinstance(op.value, str | UnaryOp):
        unary = find_unary(op.value)
        name = getattr(unary, "name", op.value)
        if name not in UNARY:
            raise Unfit(f"applies {name}")
        y = UNARY[name](t, x)
    elif isinstance(op, Constant):
        y = called(t, op.value, [x], {}, ast.parse("f(x)", mode="eval").body, None)  # type: ignore[arg-type]
    else:
        raise Unfit("applies what is no function")
    if not isinstance(y, Dense):
        raise Unfit("applies a function that gives no vector")
    return y


@handles(verbs.select)
def _select(
    t: Translator, u: Any, predicate: Any, other: Any = None, *, semiring: Any = None, into: Any = None, **rule: Any
) -> Any:
    if not isinstance(u, Dense | Sparse):
        raise Unfit("selects entries of a matrix")
    if isinstance(u, Dense) and is_none(semiring):
        raise Unfit("selects from a dense vector without a semiring")
    zero = semiring_of(semiring).zero(u.dtype) if not is_none(semiring) else u.dtype.type(0)
    write = Written(t, **rule)
    sparse, q = isinstance(u, Sparse), "q" if isinstance(u, Sparse) else "{i}"
    x = Dense(u.dtype, u.count, f"{u.values}[{{i}}]", frozenset((u.values,))) if isinstance(u, Sparse) else u
    if isinstance(predicate, Function) or (isinstance(predicate, Constant) and is_plain_function(predicate.value)):
        at = f"int64({u.indices}[{{i}}])" if isinstance(u, Sparse) else "int64({i})"
        places = Dense(INT64, x.size, at, frozenset((u.indices,)) if isinstance(u, Sparse) else frozenset())
        function = predicate if isinstance(predicate, Function) else t.function(predicate.value)
        keep = t.inline(function, [x, places, *([] if is_none(other) else [other])], {})
        if not isinstance(keep, Dense) or keep.dtype != BOOL:
            raise Unfit("selects by a function that gives no Booleans")
        test = keep.element
    else:
        compare = find_comparison(known(predicate, "a predicate"))
        if isinstance(compare, Predicate) or not isinstance(other, Number | Dense):
            raise Unfit("selects by what is no comparison with a number or a dense vector")
        if isinstance(other, Dense):
            t.same_size(u.size, other.size)
        y = other
        if sparse and isinstance(other, Dense):
            array = t.as_array(other)
            y = Dense(other.dtype, x.size, array.at(f"uintp({u.indices}[{{i}}])"), gathers=array.reads)
        dtype, _ = promoted(x, y)
        name = t.helper("op", phases.function_of(compare, dtype))
        texts = [cast(z.element if isinstance(z, Dense) else z.code, z.dtype, dtype) for z in (x, y)]
        test = f"{name}({texts[0]}, {texts[1]})"
        x = Dense(
            x.dtype,
            x.size,
            x.element,
            x.reads,
            x.gathers | getattr(y, "reads", frozenset()) | getattr(y, "gathers", frozenset()),
        )
    if sparse:
        return write.written(filtered(t, u, test.replace("{i}", q), into if write.out is None else None), zero, into)
    text = f"({x.element} if {test} else {literal(zero)})"
    return write.written(Dense(x.dtype, x.size, text, x.reads, x.gathers), zero, into)


def is_plain_function(value: Any) -> bool:
    return hasattr(value, "__code__")


@handles(verbs.reduce)
def _reduce(t: Translator, u: Any, monoid: Any, *, into: Any = None) -> Number:
    m = find_monoid(known(monoid, "a monoid"))
    if not isinstance(u, Dense | Sparse) or u.dtype not in m.dtypes:
        raise Unfit("reduces what is no vector that the monoid is defined on")
    x = Dense(u.dtype, u.count, f"{u.values}[{{i}}]") if isinstance(u, Sparse) else u
    if m.name == "any" or not (m.idempotent or (m.name == "plus" and u.dtype.kind == "i")):
        raise Unfit(f"reduces {u.dtype} by {m.name}, in the order of the verb as written")
    name = t.new("k_")
    if m.name == "plus":
        t.emit(f"{name} = int64(0)")
        with t.block(f"for i in range(uintp({x.size})):"):
            t.emit(f"w = int64({x.at('i')})")
            t.unless(f"-{FAR} < {name} < {FAR} and -{FAR} < w < {FAR}")
            t.emit(f"{name} += w")
        return Number(u.dtype, name if u.dtype == INT64 else f"int32(min(max({name}, -2147483648), 2147483647))")
    t.emit(f"{name} = {literal(m.zero(u.dtype))}")
    with t.block(f"for i in range(uintp({x.size})):"):
        t.emit(f"{name} = {combined(t, m, u.dtype)}({name}, {x.at('i')})")
    return Number(u.dtype, name)


@handles(verbs.assign)
def _assign(
    t: Translator, out: Any, value: Any, rows: Any = None, *, semiring: Any = None, into: Any = None, **rule: Any
) -> Any:
    if not isinstance(out, Dense) or not is_none(rows):
        raise Unfit("assigns to a sparse vector, or to some places")
    accum = rule.pop("accum", None)
    s = semiring_of(semiring) if not is_none(semiring) else None
    zero = s.zero(out.dtype) if s is not None else out.dtype.type(0)
    write = Written(t, **{**rule, "out": out})
    scalar = isinstance(value, Number)
    if scalar:
        value = Dense(out.dtype, out.size, held(t, value, out.dtype))
    if not isinstance(value, Dense) or value.dtype != out.dtype:
        raise Unfit("assigns what is no number, or no dense vector of the same dtype")
    if not is_none(accum):
        combiner = find_combiner(known(accum, "accum="), "add")
        if isinstance(combiner, BinaryOp) and (combiner.boolean or combiner.partial):
            raise Unfit("accumulates by a comparison or by an operator that has no result for some operands")
        t.same_size(out.size, value.size)
        old, new = out.element, value.element
        both = f"{combined(t, combiner, out.dtype)}({old}, {new})"
        text = f"({new} if {old} == {literal(zero)} else {both})"
        if not scalar:
            text = union(t, combiner, out.dtype, zero, old, new)
        value = Dense(out.dtype, out.size, text, value.reads | out.reads, value.gathers)
    return write.written(value, zero, into)


def held(t: Translator, x: Number, dtype: np.dtype) -> str:
    """A number in a dtype, which holds it."""
    if x.constant is not None:
        if (dtype == BOOL and x.constant not in (0, 1)) or dtype.type(x.constant) != x.constant:
            raise Unfit(f"assigns {x.constant} to a vector of {dtype}")
        return cast(x.code, x.dtype, dtype)
    if x.dtype == dtype or (x.weak and x.dtype.kind == dtype.kind == "f"):
        return cast(x.code, x.dtype, dtype)
    if (x.dtype.kind, dtype) != ("i", np.dtype(np.int32)):
        raise Unfit(f"assigns a number of {x.dtype} to a vector of {dtype}")
    t.unless(f"-2147483648 <= {x.code} <= 2147483647")
    return f"int32({x.code})"


# --- functions of vectors ---------------------------------------------------------------------------------------------


@handles(vectors.is_empty)
def _is_empty(t: Translator, v: Any, *, into: Any = None) -> Number:
    return Number(BOOL, f"({count_of(v)} == 0)", True)


def count_of(v: Any) -> str:
    if not isinstance(v, Sparse):
        raise Unfit("asks a vector that is not sparse for its entries")
    return v.count


@handles(vectors.nvals)
def _nvals(t: Translator, v: Any, *, into: Any = None) -> Number:
    return Number(INT64, v.count, True) if isinstance(v, Sparse) else total(t, v, "({0} != 0)")


def total(t: Translator, x: Any, text: str) -> Number:
    """The sum of an integer for each element."""
    if not isinstance(x, Dense):
        raise Unfit("adds up what is no dense vector")
    name = t.new("k_")
    t.emit(f"{name} = int64(0)")
    with t.block(f"for i in range(uintp({x.size})):"):
        t.emit(f"{name} += int64({text.replace('{0}', x.at('i'))})")
    return Number(INT64, name, True)


@handles(vectors.densified)
def _densified(t: Translator, v: Any, semiring: Any, *, into: Any = None) -> Dense:
    return to_dense(t, v, literal(semiring_of(semiring).zero(v.dtype)))


def to_dense(t: Translator, v: Any, fill: str) -> Dense:
    if not isinstance(v, Sparse):
        raise Unfit("makes dense what is no sparse vector")
    to = t.new_array(v.dtype, v.size)
    with t.block(f"for i in range(uintp({to.size})):"):
        t.emit(f"{to.at('i')} = {fill}")
    with t.block(f"for q in range(uintp({v.count})):"):
        t.emit(f"{to.at(f'uintp({v.indices}[q])')} = {v.values}[q]")
    return to


@handles(vectors.all_vertices)
def _all_vertices(t: Translator, A: Any, *, into: Any = None) -> Dense:
    if not isinstance(A, MatrixValue):
        raise Unfit("asks what is no matrix for its vertices")
    return Dense(index_type(t), A.shape[0], f"{index_type(t)}({{i}})")


def index_type(t: Translator) -> np.dtype:
    """The dtype of indices: that of the largest vector."""
    return t.inputs["capacity of vectors"].value


@handles(vectors.nonzero)
def _nonzero(t: Translator, v: Any, *, into: Any = None) -> Sparse:
    dtype = index_type(t)
    if isinstance(v, Sparse):
        return with_values(t, v, dtype, "{i}", into)
    if not isinstance(v, Dense) or v.dtype != BOOL:
        raise Unfit("looks for what is true in a vector that is not Boolean")
    return sparse_from(t, v, "{0}", into, f"{dtype}(i)", dtype)


def with_values(t: Translator, v: Sparse, dtype: np.dtype, text: str, into: Any) -> Sparse:
    """The entries of a list with other values.  text: with {i} for the index of an entry."""
    to = t.new_list(dtype, v.size, v.ordered, into, v)
    with t.block(f"for q in range(uintp({v.count})):"):
        t.emit(f"i = {v.indices}[q]")
        t.emit(f"{to.indices}[q], {to.values}[q] = i, {text.replace('{i}', 'i')}")
    t.emit(f"{to.count} = {v.count}")
    return to


@handles(vectors.ones)
def _ones(t: Translator, v: Any, dtype: Any = None, *, into: Any = None) -> Sparse:
    dtype = INT64 if dtype is None else np.dtype(known(dtype, "a dtype"))
    count_of(v)
    return with_values(t, v, dtype, "True" if dtype == BOOL else f"{dtype}(1)", into)


@handles(vectors.present)
def _present(t: Translator, x: Any, semiring: Any, *, into: Any = None) -> Sparse:
    if isinstance(x, Sparse):
        return x
    if not isinstance(x, Dense):
        raise Unfit("looks for entries in what is no vector")
    return sparse_from(t, x, f"{{0}} != {literal(semiring_of(semiring).zero(x.dtype))}", into)


@handles(vectors.masked)
def _masked(t: Translator, x: Any, mask: Any, *, into: Any = None) -> Sparse:
    if not isinstance(x, Dense) or not isinstance(mask, Dense | Sparse):
        raise Unfit("masks what is no dense vector")
    if isinstance(mask, Sparse):
        t.same_size(x.size, mask.size)
        return with_values(t, mask, x.dtype, t.as_array(x).at("uintp({i})"), into)
    t.same_size(x.size, mask.size)
    both = Dense(BOOL, mask.size, mask.element, mask.reads | x.reads, mask.gathers | x.gathers)
    return sparse_from(t, both, "{0}", into, x.at("i"), x.dtype)


@handles(vectors.gather)
def _gather(t: Translator, x: Any, at: Any, *, into: Any = None) -> Dense:
    if isinstance(at, Sparse):
        at = in_place_indices(t, at)
    return elements(t, x, at)


def in_place_indices(t: Translator, v: Sparse) -> Dense:
    """The indices of a list as a vector, ascending, which are within its size."""
    v = t.in_order(v)
    return Dense(index_type(t), v.count, f"{v.indices}[{{i}}]", frozenset((v.indices,)), array=v.indices)


def elements(t: Translator, x: Any, at: Any) -> Dense:
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
    t.unless(f"{t.helper('inside', phases.inside)}({at.array}, {at.size}, {x.size})")
    return Dense(x.dtype, at.size, x.at(f"uintp({at.element})"), at.reads, x.reads)


@handles(vectors.element)
def _element(t: Translator, x: Any, i: Any, *, into: Any = None) -> Number:
    found = element(t, x, i)
    return Number(
        found.dtype if found.dtype == BOOL else (INT64 if found.dtype.kind == "i" else FLOAT64), as_item(found), True
    )


def as_item(x: Number) -> str:
    """A NumPy number as Python's."""
    return cast(x.code, x.dtype, INT64 if x.dtype.kind == "i" else FLOAT64) if x.dtype != BOOL else x.code


def element(t: Translator, x: Any, i: Any) -> Number:
    """x[i] of a number."""
    if not isinstance(x, Dense):
        raise Unfit("takes an element of what is no dense vector")
    name = t.new("k_")
    t.emit(f"{name} = {t.integer(i)}")
    t.unless(f"0 <= {name} < {x.size}")
    return t.kept(Number(x.dtype, x.at(f"uintp({name})")))


@handles(vectors.scatter)
def _scatter(t: Translator, out: Any, at: Any, value: Any = None, *, into: Any = None) -> Constant:
    if not isinstance(out, Dense):
        raise Unfit("scatters into what is no dense vector")
    t.written(out, ast.Name("scatter"))
    scattered(t, out, at, None if is_none(value) else value)
    return Constant(None)


def scattered(t: Translator, out: Dense, at: Any, value: Any) -> None:
    """out[at] = value, at being sparse, indices, Booleans, or a number."""
    if isinstance(at, Number):
        if not isinstance(value, Number):
            raise Unfit("writes to an element what is no number")
        name = t.new("k_")
        t.emit(f"{name} = {t.integer(at)}")
        t.unless(f"0 <= {name} < {out.size}")
        t.emit(f"{out.at(f'uintp({name})')} = {t.stored_as(value, out.dtype).code}")
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
            t.emit(f"{out.at('i')} = {value.at('i') if isinstance(value, Dense) else value.code}")
        return
    elif isinstance(at, Dense) and at.dtype.kind == "i":
        at = t.as_array(at)
        t.unless(f"{t.helper('inside', phases.inside)}({at.array}, {at.size}, {out.size})")
        places, count = f"uintp({at.at('i')})", at.size
    else:
        raise Unfit("writes to places that are no indices")
    value = t.stored_as(value, out.dtype)
    if isinstance(value, Dense):
        t.same_size(count, value.size)
        value = t.kept(value) if out.array in value.reads | value.gathers else value
    with t.block(f"for i in range(uintp({count})):"):
        t.emit(f"{out.at(places)} = {value.at('i') if isinstance(value, Dense) else value.code}")


def adding(sign: str) -> Handler:
    """What translates x⟨v⟩ = x ± v."""

    def handler(t: Translator, x: Any, v: Any, *, into: Any = None) -> Constant:
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
        return Constant(None)

    return handler


HANDLERS[vectors.scatter_add], HANDLERS[vectors.scatter_sub] = adding("+"), adding("-")


@handles(vectors.full)
def _full(t: Translator, like: Any, fill: Any, dtype: Any, *, into: Any = None) -> Dense:
    if not isinstance(like, Dense) or not isinstance(fill, Number):
        raise Unfit("makes a vector that is like none")
    dtype = np.dtype(known(dtype, "a dtype"))
    return Dense(dtype, like.size, t.stored_as(fill, dtype).code)


@handles(vectors.arange)
def _arange(t: Translator, like: Any, count: Any, *, into: Any = None) -> Dense:
    size = room_for(t, t.integer(count))
    return Dense(like.dtype, size, f"{like.dtype}({{i}})")


def room_for(t: Translator, size: str) -> str:
    """A length that there is room for."""
    name = t.new("k_")
    t.emit(f"{name} = {size}")
    t.unless(f"0 <= {name} <= {t.parameter('capacity', 'capacity')}")
    return name


@handles(vectors.either, np.where)
def _either(t: Translator, flags: Any, x: Any, y: Any, *, into: Any = None) -> Any:
    if not isinstance(flags, Dense) or flags.dtype != BOOL or not all(isinstance(z, Number | Dense) for z in (x, y)):
        raise Unfit("chooses by what is no Boolean vector")
    dtype, _ = promoted(x, y)
    return t.elementwise("({1} if {0} else {2})", dtype, flags, t.converted(x, dtype), t.converted(y, dtype))


@handles(vectors.indices)
def _indices(t: Translator, i: Any, size: Any, *, into: Any = None) -> Sparse:
    if not isinstance(i, Dense) or i.dtype != index_type(t):
        raise Unfit("makes a sparse vector of what are no indices")
    extent = t.integer(size)
    at = t.as_array(i)
    to = t.new_list(i.dtype, extent, False, into, at)
    t.unless(f"{t.helper('inside', phases.inside)}({at.array}, {at.size}, {extent})")
    with t.block(f"for i in range(uintp({at.size})):"):
        t.emit(f"{to.indices}[i], {to.values}[i] = {at.at('i')}, {at.at('i')}")
    t.emit(f"{to.count} = {at.size}")
    return Sparse(to.dtype, to.size, to.indices, to.values, to.count, True)


@handles(vectors.first_entry)
def _first_entry(t: Translator, v: Any, *, into: Any = None) -> Sparse:
    count_of(v)
    v = t.in_order(v)
    to = t.new_list(v.dtype, v.size, True, None)
    t.emit(f"{to.count} = min(int64({v.count}), 1)")
    t.emit(f"{to.indices}[0], {to.values}[0] = {v.indices}[0], {v.values}[0]")
    return to


@handles(vectors.unit)
def _unit(t: Translator, A: Any, source: Any, semiring: Any, name: Any = None, *, into: Any = None) -> Sparse:
    s = semiring_of(semiring)
    if not isinstance(A, MatrixValue):
        raise Unfit("makes a unit vector of what is no matrix")
    dtype = A.dtype if A.dtype in s.dtypes else s.dtypes[0]
    return single(t, A, source, dtype, literal(of_verb(lambda: s.unit(dtype))))


@handles(vectors.one_hot)
def _one_hot(t: Translator, A: Any, vertex: Any, *, into: Any = None) -> Sparse:
    return single(t, A, vertex, BOOL, "True")


def single(t: Translator, A: MatrixValue, vertex: Any, dtype: np.dtype, value: str) -> Sparse:
    """A vector with one entry."""
    to, at = t.new_list(dtype, A.shape[0], True), t.new("k_")
    t.emit(f"{at} = {t.integer(vertex)}")
    t.unless(f"0 <= {at} < {A.shape[0]} == {A.shape[1]}")
    t.emit(f"{to.indices}[0], {to.values}[0], {to.count} = {at}, {value}, int64(1)")
    return to


@handles(vectors.degrees)
def _degrees(t: Translator, A: Any, *, into: Any = None) -> Dense:
    if not isinstance(A, MatrixValue):
        raise Unfit("asks what is no matrix for its degrees")
    name = t.parameter(f"d{A.place}_{int(A.transposed)}", "degrees", A.place, A.transposed)
    return Dense(INT64, A.shape[0], f"{name}[{{i}}]", frozenset((name,)), array=name)


@handles(vectors.hashed)
def _hashed(t: Translator, x: Any, seed: Any, *, into: Any = None) -> Dense:
    if not isinstance(x, Dense) or x.dtype.kind != "i":
        raise Unfit("hashes what are no integers")
    name = t.helper("hashed", phases.hashed)
    return Dense(INT64, x.size, f"{name}({x.element}, {t.integer(seed)})", x.reads, x.gathers)


@handles(vectors.unweighted)
def _unweighted(t: Translator, A: Any, *, into: Any = None) -> Any:
    raise Unfit("takes the pattern of a matrix: do it before the loop")


# --- NumPy and Python -------------------------------------------------------------------------------------------------


def minimum(sign: str) -> Handler:
    def handler(t: Translator, x: Any, y: Any, *, into: Any = None) -> Any:
        dtype, _ = promoted(x, y)
        x, y = t.converted(x, dtype), t.converted(y, dtype)
        text = f"({{0}} if ({{0}} {sign} {{1}})" + (" or ({0} != {0})" if dtype.kind == "f" else "") + " else {1})"
        return t.elementwise(text, dtype, x, y)

    return handler


HANDLERS[np.minimum], HANDLERS[np.maximum] = minimum("<"), minimum(">")


def operator_of(op: ast.operator) -> Handler:
    return lambda t, x, y, *, into=None: t.binary(op, x, y, ast.Name(type(op).__name__))


for ufunc, op in ((np.add, ast.Add()), (np.subtract, ast.Sub()), (np.multiply, ast.Mult()), (np.divide, ast.Div())):
    HANDLERS[ufunc] = operator_of(op)
for ufunc, bit in ((np.bitwise_and, ast.BitAnd()), (np.bitwise_or, ast.BitOr()), (np.bitwise_xor, ast.BitXor())):
    HANDLERS[ufunc] = operator_of(bit)


def logical(text: str) -> Handler:
    def handler(t: Translator, *operands: Any, into: Any = None) -> Any:
        return t.elementwise(text, BOOL, *(t.converted(x, BOOL) for x in operands))

    return handler


HANDLERS[np.logical_and], HANDLERS[np.logical_or] = logical("({0} and {1})"), logical("({0} or {1})")
HANDLERS[np.logical_not], HANDLERS[np.logical_xor] = logical("(not {0})"), logical("({0} != {1})")


def comparison(sign: str) -> Handler:
    return lambda t, x, y, *, into=None: t.compared(sign, x, y, ast.Name(sign))


COMPARED = {
    np.less: "<",
    np.less_equal: "<=",
    np.greater: ">",
    np.greater_equal: ">=",
    np.equal: "==",
    np.not_equal: "!=",
}
for ufunc, sign in COMPARED.items():
    HANDLERS[ufunc] = comparison(sign)


@handles(builtins.abs, np.abs, np.absolute)
def _abs(t: Translator, x: Any, *, into: Any = None) -> Any:
    if not isinstance(x, Number | Dense) or x.dtype == BOOL:
        raise Unfit("takes the absolute value of what are no numbers")
    return t.elementwise(f"{x.dtype}(abs({{0}}))", x.dtype, x)


@handles(np.isfinite, np.isinf, np.isnan)
def _finite(t: Translator, x: Any, *, into: Any = None) -> Any:
    raise Unfit("asks which numbers are finite")


@handles(np.sqrt)
def _sqrt(t: Translator, x: Any, *, into: Any = None) -> Any:
    dtype = x.dtype if x.dtype.kind == "f" else FLOAT64
    return t.elementwise(f"{dtype}(sqrt({{0}}))", dtype, t.converted(x, dtype))


def negative(t: Translator, x: Dense) -> Dense:
    if x.dtype == BOOL:
        raise Unfit("takes the negative of Booleans")
    low = {"int32": "-2147483648", "int64": "INT64_MIN"}.get(x.dtype.name)
    high = {"int32": "2147483647", "int64": "9223372036854775807"}.get(x.dtype.name)
    text = f"{x.dtype}(-{{0}})" if low is None else f"({x.dtype}({high}) if {{0}} == {low} else {x.dtype}(-{{0}}))"
    return t.elementwise(text, x.dtype, x)


UNARY: dict[str, Callable[[Translator, Dense], Any]] = {
    "ainv": negative,
    "identity": lambda t, x: x,
    "lnot": lambda t, x: t.elementwise("(not {0})", BOOL, x) if x.dtype == BOOL else refuse("lnot"),
    "one": lambda t, x: t.elementwise("True" if x.dtype == BOOL else f"{x.dtype}(1)", x.dtype, x),
    "sqrt": lambda t, x: _sqrt(t, x),
}
"""Unary operators by name."""


def refuse(name: str) -> Any:
    raise Unfit(f"applies {name}")


@handles(builtins.len)
def _len(t: Translator, x: Any, *, into: Any = None) -> Number:
    if not isinstance(x, Dense):
        raise Unfit("asks for the length of what is no dense vector")
    return Number(INT64, f"int64({x.size})", True)


@handles(builtins.int)
def _int(t: Translator, x: Any, *, into: Any = None) -> Number:
    return as_number(t, x, INT64, weak=True)


@handles(builtins.float)
def _float(t: Translator, x: Any, *, into: Any = None) -> Number:
    return as_number(t, x, FLOAT64, weak=True)


@handles(builtins.bool)
def _bool(t: Translator, x: Any, *, into: Any = None) -> Number:
    return Number(BOOL, t.truth(x), True)


def extreme(sign: str) -> Handler:
    def handler(t: Translator, *numbers: Any, into: Any = None) -> Number:
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


@handles(np.zeros_like, np.ones_like)
def _like(t: Translator, x: Any, dtype: Any = None, *, into: Any = None) -> Any:
    raise Unfit("makes vectors like another: use full(x, 0, dtype)")


@handles(np.count_nonzero)
def _count_nonzero(t: Translator, x: Any, *, into: Any = None) -> Number:
    return total(t, x, "({0} != 0)")


@handles(np.any, np.all, np.sum, np.min, np.max)
def _of_numpy(t: Translator, x: Any, *, into: Any = None) -> Any:
    raise Unfit("calls a function of NumPy that is a method, too: write x.any()")


# --- attributes, methods, elements ------------------------------------------------------------------------------------


def attribute(t: Translator, of: Any, name: str) -> Any:
    """of.name"""
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


def method(t: Translator, of: Any, name: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """of.name(…)"""
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
            case "take", [at]:
                return elements(t, of, at)
    if isinstance(of, Number) and name == "item" and not args:
        return Number(INT64 if of.dtype.kind == "i" else of.dtype if of.dtype == BOOL else FLOAT64, as_item(of), True)
    raise Unfit(f"calls .{name}()")


def quantified(t: Translator, x: Dense, all_of: bool) -> Number:
    """Whether all elements are true, or any is."""
    name = t.new("k_")
    t.emit(f"{name} = {all_of}")
    with t.block(f"for i in range(uintp({x.size})):"), t.block(f"if {'not ' if all_of else ''}({x.at('i')} != 0):"):
        t.emit(f"{name} = {not all_of}")
        t.emit("break")
    return Number(BOOL, name)


def least(t: Translator, x: Dense, sign: str) -> Number:
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


def taken(t: Translator, of: Any, at: ast.expr) -> Any:
    """of[at]"""
    if isinstance(of, Several):
        return of.parts[known(t.value(at), "an index")]
    if isinstance(at, ast.Slice) or not isinstance(of, Dense):
        raise Unfit("takes a part of what is no dense vector, or a slice")
    place = t.value(at)
    return element(t, of, place) if isinstance(place, Number) else elements(t, of, place)
