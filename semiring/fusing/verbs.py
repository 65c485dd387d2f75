"""Verbs, functions of vectors and of NumPy, methods and elements: what each becomes in a compiled program.

Each is translated to what it does as written, in `semiring.generic.vectors`, `semiring.cpu.compiled` and
`semiring.verbs.masks`: the same entries, the same values, to the last bit. What is not here is not compiled.
"""

from __future__ import annotations

import ast
import platform
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from formats import COO, DTYPES, Matrix

from ..algebra.ops import BinaryOp, UnaryOp, find_unary
from ..algebra.predicates import Predicate, better, find_comparison, no_worse
from ..algebra.semirings import MONOIDS, Monoid, Semiring, counts, find_combiner, find_monoid, find_semiring
from ..verbs import verbs
from ..verbs.operands import common_dtype, result_dtype, typing_of
from . import phases
from .translator import CAPACITY, Statements, described
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
"""Functions that translate a call, by what is called."""
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


def called(t: Statements, function: Any, args: list[Any], kwargs: dict[str, Any], node: ast.Call, into: Any) -> Any:
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
    """The object of a constant, or a number that the source has."""
    if isinstance(value, Constant):
        return value.value
    if isinstance(value, Number) and value.constant is not None:
        return value.constant
    raise Unfit(f"has {what} that is not known when it is compiled")


def semiring_of(value: Any) -> Semiring:
    return find_semiring(known(value, "a semiring"))


def is_none(value: Any) -> bool:
    return value is None or (isinstance(value, Constant) and value.value is None)


def as_number(t: Statements, value: Any, dtype: np.dtype, weak: bool) -> Number:
    """A number as another type of number."""
    if not isinstance(value, Number) or (value.dtype.kind == "f" and dtype.kind == "i"):
        raise Unfit("converts to a number what is none, or rounds it")
    return Number(dtype, cast(value.code, value.dtype, dtype), weak)


# --- the write rule ---------------------------------------------------------------------------------------------------


class Written:
    """The write rule of a verb's call: which places may be written, and what becomes of the result."""

    def __init__(
        self,
        t: Statements,
        mask: Any = None,
        complement: Any = None,
        accum: Any = None,
        out: Any = None,
        replace: Any = None,
    ):
        self.t = t
        self.mask: Any = None if is_none(mask) else mask
        self.complement = complement is not None and bool(known(complement, "complement="))
        self.replace = replace is not None and bool(known(replace, "replace="))
        self.accum = None if is_none(accum) else find_combiner(known(accum, "accum="), "add")
        self.out: Any = None if is_none(out) else out
        if self.mask is not None and not (
            isinstance(self.mask, Sparse) or (isinstance(self.mask, Dense) and self.mask.dtype == BOOL)
        ):
            raise Unfit("has a mask that is no sparse or Boolean vector")
        if self.out is not None:
            t.written(self.out, ast.Name("out"))
        if isinstance(self.accum, BinaryOp) and (self.accum.boolean or self.accum.partial):
            raise Unfit("accumulates by a comparison or by an operator that has no result for some operands")

    @property
    def plain(self) -> bool:
        """True if the result is what the verb gives."""
        return self.mask is None and self.out is None

    def flags(self, size: str) -> tuple[str, str]:
        """Finds an array of Booleans, and the value in it of places that may be written; ("", "") where all may."""
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
        if not isinstance(self.mask, Dense):
            flags, wanted = self.flags(size)
            return "True" if not flags else f"({flags}[{i}] == {wanted})"
        self.t.same_size(size, self.mask.size)
        if self.out is not None and getattr(self.out, "array", None) in self.mask.reads | self.mask.gathers:
            self.mask = self.t.kept(self.mask)  # for what is written is read
        return f"(not {self.mask.at(i)})" if self.complement else f"({self.mask.at(i)})"

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
            result = sparse_from(t, result, f"{{0}} != {literal(zero)}", None, zero=literal(zero))
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
        if isinstance(result, Dense) or self.accum is None or (self.replace and self.mask is not None):
            t.rewritten(out)
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
                t.enlisted(out, "i")
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
            t.fresh.discard(out.indices)
            with t.block(f"for q in range(uintp({z.count})):"):
                t.emit(f"{out.indices}[q], {out.values}[q] = {z.indices}[q], {z.values}[q]")
        t.emit(f"{out.count} = {z.count}")
        return out


def filtered(t: Statements, v: Sparse, test: str, into: Any, *operands: Any) -> Sparse:
    """The entries, at q, for which a test holds. It may be the list itself that is written."""
    to = t.new_list(v.dtype, v.size, v.ordered and t.in_turn, into, *operands)
    end = t.new("e")
    t.emit(f"{end} = 0")
    with t.block(f"for q in range(uintp({v.count})):"), t.block(f"if {test}:"):
        t.emit(f"{to.indices}[uintp({end})], {to.values}[uintp({end})] = {v.indices}[q], {v.values}[q]")
        t.emit(f"{end} += 1")
    t.emit(f"{to.count} = {end}")
    return to


def sparse_from(
    t: Statements, x: Dense, test: str, into: Any, values: str = "{0}", dtype: Any = None, zero: str | None = None
) -> Sparse:
    """The entries of a dense vector for which a test of the element, {0}, holds, which it does not for zero."""
    to = t.new_list(
        dtype or x.dtype, x.size, t.in_turn, into, x, *(Dense(x.dtype, "", "", array=a) for a in x.reads | x.gathers)
    )
    end, element = t.new("e"), t.new("x")
    t.emit(f"{end} = 0")
    with t.over(x, zero) as ascends:
        t.emit(f"{element} = {x.at('i')}")
        with t.block(f"if {test.replace('{0}', element)}:"):
            t.emit(f"{to.indices}[uintp({end})], {to.values}[uintp({end})] = i, {values.replace('{0}', element)}")
            t.emit(f"{end} += 1")
    t.emit(f"{to.count} = {end}")
    return replace(to, ordered=to.ordered and ascends)


def combined(t: Statements, op: Monoid | BinaryOp, dtype: np.dtype) -> str:
    """The name of an operator on two values."""
    if isinstance(op, BinaryOp) and op.partial:
        raise Unfit(f"uses {op.name}, which has no result for some operands")
    op = op.on(dtype) if isinstance(op, Monoid) else op
    return t.phase("op", phases.function_of, op, dtype)


def keeps(op: Monoid | BinaryOp, dtype: np.dtype, zero: Any) -> bool:
    return isinstance(op, Monoid) and bool(op.zero(dtype) == zero)


def union(t: Statements, op: Any, dtype: np.dtype, zero: Any, x: str, y: str) -> str:
    """op where both are present, whichever is present elsewhere.  zero None: all are."""
    both = f"{combined(t, op, dtype)}({x}, {y})"
    if zero is None or keeps(op, dtype, zero):
        return both
    return f"({y} if {x} == {literal(zero)} else ({x} if {y} == {literal(zero)} else {both}))"


def united(t: Statements, u: Sparse, v: Sparse, op: Any, zero: Any, drops: bool, into: str | None = None) -> Sparse:
    """The union of two lists, in a list of its own, or in the first one if it is that of the variable it is for."""
    t.same_size(u.size, v.size)
    combined(t, op, u.dtype)
    plain = op.on(u.dtype) if isinstance(op, Monoid) else op
    unite = t.phase("unite", phases.uniting, plain, u.dtype, zero, drops, keeps(op, u.dtype, zero))
    in_place = t.in_turn and u.indices == f"v_{t.prefix}{into}_i" != v.indices and not t.parts(t.named(str(into)))
    to = replace(u, ordered=False) if in_place else t.new_list(u.dtype, u.size, False)
    t.fresh.discard(to.indices)
    t.note("union of lists, in place" if in_place else "union of lists")
    place = t.scratch(np.dtype(np.int64), -1)
    t.emit(f"{to.count} = {unite}({u.list}, {v.list}, {place}, ({to.indices}, {to.values}))")
    return to


def typed(t: Statements, x: Any, semiring: Semiring | None, dtype: np.dtype) -> Any:
    """A vector's values in the common dtype, absent ones staying so, as `typed_vector` has it."""
    if x.dtype == dtype:
        return x
    translated = semiring is not None and x.dtype in semiring.dtypes and semiring.zero(x.dtype) != semiring.zero(dtype)

    def text(code: str) -> str:
        new = cast(code, x.dtype, dtype)
        if not translated:
            return new
        assert semiring is not None
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
def _vxm(t: Statements, x: Any, A: Any, semiring: Any, *, into: Any = None, **rule: Any) -> Any:
    return product(t, A, x, semiring_of(semiring), False, into, rule)


@handles(verbs.mxv)
def _mxv(t: Statements, A: Any, x: Any, semiring: Any, *, into: Any = None, **rule: Any) -> Any:
    return product(t, A, x, semiring_of(semiring), True, into, rule)


def improving(t: Statements, node: ast.Call, into: Any) -> Sparse | None:
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
    t: Statements,
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
    dtype = of_verb(lambda: common_dtype(s, empty_matrix(A.dtype), typed_like(x)))
    check_sums(s, dtype, A)
    t.same_size(A.shape[1 if matrix_first else 0], x.size)
    size = A.shape[0 if matrix_first else 1]
    if d is not None:
        t.same_size(size, d.size)
    argument = bool(known(rule.pop("return_argument", None) or Constant(None), "return_argument="))
    write = Written(t, **only(rule))
    if argument and not (isinstance(x, Sparse) and s.add.selective and write.out is None is write.accum and t.in_turn):
        raise Unfit("tells the arguments of a product that is no plain one of a sparse vector")
    x = typed(t, x, s, dtype)
    way = "push" if isinstance(x, Sparse) else "gather by all threads"
    t.note(f"product and select in one, {way}" if d is not None else f"product, {way}")
    t.told.append(f"{'mxv' if matrix_first else 'vxm'} of a {'sparse' if isinstance(x, Sparse) else 'dense'} vector")
    at_entries = isinstance(x, Sparse) and isinstance(write.mask, Dense) and not write.mask.array and not argument
    by_mask = write.mask is not None and not at_entries  # a mask that is an expression is computed at entries alone
    flags, wanted = write.flags(size) if by_mask else (t.scratch(BOOL, False), "True")
    along = matrix_first != isinstance(x, Sparse)  # rows for a gather of mxv, columns for its push
    matrix = matrix_parameter(t, A, s, dtype, by_rows=along)
    sums = not (s.add.idempotent or counts(s, dtype))
    if isinstance(x, Sparse):
        x = t.in_order(x) if sums and dtype.kind == "f" else x
        kind = s, dtype, matrix_first, by_mask
        how: Any = (phases.summing, *kind) if sums else (phases.pushing, *kind, better(s) if d else None)
        how = (*how, True) if argument else how
        push = t.phase("push", *how)
        into_place = into if write.out is None and not (at_entries or argument) else None
        to = t.new_list(dtype, size, False, into_place, x, write.mask)
        y = t.scratch(dtype, s.zero(dtype))
        chosen = t.scratch(t.inputs[CAPACITY].value, None) if argument else y
        y += f", {t.parameter('seen', 'flags') if sums else d.array if d else chosen}"
        parts = f"{matrix}, {x.list}, {y}, ({flags}, {wanted}), ({to.indices}, {to.values})"
        t.emit(f"{to.count} = {push}({parts})")
        if sums:
            t.unless(f"{to.count} >= 0")
        result: Any = to
    else:
        gather = t.phase("gather", phases.gathering, s, dtype, matrix_first, by_mask)
        x = t.as_array(x)
        result = t.new_array(dtype, size, into if write.out is None else None, x, write.mask)
        exact = t.parameter("exact", "exact")
        parts = f"({matrix}, {x.array}, {flags}, {wanted}, {result.array}, {exact})"
        t.emit(f"{gather}({t.parameter('gate', 'gate')}, {size}, {phases.ROWS_AT_A_TIME}, {parts})")
        t.unless(f"{exact}[0]")
    if by_mask:
        write.unmark()
    if argument:
        at = t.new_list(t.inputs[CAPACITY].value, size, False)
        with t.block(f"for q in range(uintp({to.count})):"):
            t.emit(f"{at.indices}[q], {at.values}[q] = {to.indices}[q], {chosen}[uintp({to.indices}[q])]")
        t.emit(f"{at.count} = {to.count}")
        return Several((to, at))
    return write.written(result, s.zero(dtype), into, masked=by_mask)


@lru_cache(maxsize=8)
def empty_matrix(dtype: np.dtype) -> Matrix:
    """Makes a matrix without rows, for checks that look at dtypes alone."""
    none = np.empty(0, np.int32)
    return COO.trusted(none, none, np.empty(0, dtype), (0, 0), 0)


def of_verb(check: Callable[[], Any]) -> Any:
    """Ask a verb's own check; what it refuses is not compiled, and refused as written."""
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


def matrix_parameter(t: Statements, A: MatrixValue, s: Semiring, dtype: np.dtype, by_rows: bool) -> str:
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
def _ewise_add(t: Statements, u: Any, v: Any, op: Any, *, into: Any = None, **rule: Any) -> Any:
    combiner, typing, dtype, u, v = operands(t, u, v, op, "add")
    if isinstance(combiner, BinaryOp) and combiner.boolean:
        raise Unfit("compares two present values by ewise_add")
    zero = typing.zero(dtype) if typing else None
    write = Written(t, **rule)
    fill = dtype.type(0) if zero is None else zero
    t.same_size(u.size, v.size)
    if isinstance(u, Sparse) and isinstance(v, Sparse):
        if zero is None:
            raise Unfit("adds sparse vectors by an operator, which does not say what is absent")
        return write.written(united(t, u, v, combiner, zero, True, into if write.plain else None), fill, into)
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
        t.enlisted(w, "i")
    return w if in_place else write.written(w, fill, into)


def operands(t: Statements, u: Any, v: Any, op: Any, part: Any) -> tuple[Any, Any, np.dtype, Any, Any]:
    """The operator of an element-wise verb, its semiring, the dtype, and the operands in it."""
    if not (isinstance(u, Dense | Sparse) and isinstance(v, Dense | Sparse)):
        raise Unfit("combines what are no two vectors")
    op = known(op, "an operator")
    combiner, typing = find_combiner(op, part), typing_of(op, part)
    both = typed_like(u), typed_like(v)
    dtype = of_verb(lambda: common_dtype(typing, *both) if typing else np.result_type(*both))
    return combiner, typing, dtype, typed(t, u, typing, dtype), typed(t, v, typing, dtype)


@handles(verbs.ewise_mult)
def _ewise_mult(t: Statements, u: Any, v: Any, op: Any, *, into: Any = None, **rule: Any) -> Any:
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
        to = intersection(t, u, v.at("i"), function, zero, result, "True")
    else:
        to = intersection(t, v, u.at("i"), function, zero, result, "True", turned=True)
    return write.written(to, fill, into)


def intersection(
    t: Statements, u: Sparse, other: str, function: str, zero: Any, dtype: np.dtype, test: str, turned: bool = False
) -> Sparse:
    """The entries at which another vector has one too, combined; what becomes zero goes."""
    to, end = t.new_list(dtype, u.size, u.ordered and t.in_turn), t.new("e")
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
    t: Statements,
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
    x = elements_of(u)
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


def of_function(t: Statements, op: Any, x: Dense) -> Dense:
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
    t: Statements, u: Any, predicate: Any, other: Any = None, *, semiring: Any = None, into: Any = None, **rule: Any
) -> Any:
    if not isinstance(u, Dense | Sparse):
        raise Unfit("selects entries of a matrix")
    if isinstance(u, Dense) and is_none(semiring):
        raise Unfit("selects from a dense vector without a semiring")
    zero = semiring_of(semiring).zero(u.dtype) if not is_none(semiring) else u.dtype.type(0)
    write = Written(t, **rule)
    test, arrays = condition(t, u, predicate, other)
    if isinstance(u, Sparse):
        kept = filtered(t, u, test.replace("{i}", "q"), into if write.out is None else None)
        return write.written(kept, zero, into)
    absent = literal(zero)
    text, within = f"({u.element} if {test} else {absent})", frozenset([(u.array, absent, absent)])
    return write.written(Dense(u.dtype, u.size, text, u.reads, u.gathers | arrays, within=within), zero, into)


def elements_of(u: Dense | Sparse) -> Dense:
    """The values of a vector's entries, as a dense vector."""
    return u if isinstance(u, Dense) else Dense(u.dtype, u.count, f"{u.values}[{{i}}]", frozenset((u.values,)))


def condition(t: Statements, u: Dense | Sparse, predicate: Any, other: Any) -> tuple[str, frozenset[str]]:
    """The text of a test of the entry at {i}, and the arrays that it reads beside the vector's."""
    x = elements_of(u)
    if isinstance(predicate, Function) or (isinstance(predicate, Constant) and is_plain_function(predicate.value)):
        at = f"int64({u.indices}[{{i}}])" if isinstance(u, Sparse) else "int64({i})"
        function = predicate if isinstance(predicate, Function) else t.function(predicate.value)
        keep = t.inline(function, [x, Dense(INT64, x.size, at), *([] if is_none(other) else [other])], {})
        if not isinstance(keep, Dense) or keep.dtype != BOOL:
            raise Unfit("selects by a function that gives no Booleans")
        return keep.element, keep.reads | keep.gathers
    compare = find_comparison(known(predicate, "a predicate"))
    if isinstance(compare, Predicate) or not isinstance(other, Number | Dense):
        raise Unfit("selects by what is no comparison with a number or a dense vector")
    if isinstance(other, Dense):
        t.same_size(u.size, other.size)
        if isinstance(u, Sparse):
            arrays = other.reads | other.gathers
            other = Dense(other.dtype, x.size, other.at(f"uintp({u.indices}[{{i}}])"), gathers=arrays)
    dtype, _ = promoted(x, other)
    texts = [cast(z.element if isinstance(z, Dense) else z.code, z.dtype, dtype) for z in (x, other)]
    test = f"{t.phase('op', phases.function_of, compare, dtype)}({', '.join(texts)})"
    return test, other.reads | other.gathers if isinstance(other, Dense) else frozenset()


def is_plain_function(value: Any) -> bool:
    return hasattr(value, "__code__")


@handles(verbs.reduce)
def _reduce(t: Statements, u: Any, monoid: Any, *, into: Any = None) -> Number:
    m = find_monoid(known(monoid, "a monoid"))
    if not isinstance(u, Dense | Sparse) or u.dtype not in m.dtypes:
        raise Unfit("reduces what is no vector that the monoid is defined on")
    x = Dense(u.dtype, u.count, f"{u.values}[{{i}}]") if isinstance(u, Sparse) else u
    if m.name == "any" or not (m.idempotent or (m.name == "plus" and u.dtype.kind == "i")):
        raise Unfit(f"reduces {u.dtype} by {m.name}, in the order of the verb as written")
    name, zero = t.new("k_"), literal(m.zero(u.dtype))
    if m.name == "plus":
        t.emit(f"{name} = int64(0)")
        with t.over(x, zero):
            t.emit(f"w = int64({x.at('i')})")
            t.unless(f"-{FAR} < {name} < {FAR} and -{FAR} < w < {FAR}")
            t.emit(f"{name} += w")
        return Number(u.dtype, name if u.dtype == INT64 else f"int32(min(max({name}, -2147483648), 2147483647))")
    t.emit(f"{name} = {literal(m.zero(u.dtype))}")
    with t.over(x, zero):
        t.emit(f"{name} = {combined(t, m, u.dtype)}({name}, {x.at('i')})")
    return Number(u.dtype, name)


@handles(verbs.assign)
def _assign(
    t: Statements, out: Any, value: Any, rows: Any = None, *, semiring: Any = None, into: Any = None, **rule: Any
) -> Any:
    if not isinstance(out, Dense | Sparse) or not is_none(rows):
        raise Unfit("assigns to some places")
    accum = rule.pop("accum", None)
    s = semiring_of(semiring) if not is_none(semiring) else None
    zero = s.zero(out.dtype) if s is not None else out.dtype.type(0)
    write = Written(t, **{**rule, "out": out})
    scalar = isinstance(value, Number)
    if scalar:
        value = Dense(out.dtype, out.size, held(t, value, out.dtype))
    if not isinstance(value, Dense | type(out)) or value.dtype != out.dtype:
        raise Unfit("assigns what is no number, or no vector of the same dtype")
    if isinstance(out, Sparse) and isinstance(value, Dense):
        value = sparse_from(t, value, "True" if scalar else f"{{0}} != {literal(zero)}", None)
    if isinstance(out, Sparse) and not is_none(accum):
        raise Unfit("accumulates what it assigns to a sparse vector")
    if isinstance(out, Dense) and not is_none(accum):
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


def held(t: Statements, x: Number, dtype: np.dtype) -> str:
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


# --- unary operators --------------------------------------------------------------------------------------------------


@handles(np.sqrt)
def _sqrt(t: Statements, x: Any, *, into: Any = None) -> Any:
    dtype = x.dtype if x.dtype.kind == "f" else FLOAT64
    return t.elementwise(f"{dtype}(sqrt({{0}}))", dtype, t.converted(x, dtype))


def negative(t: Statements, x: Dense) -> Dense:
    if x.dtype == BOOL:
        raise Unfit("takes the negative of Booleans")
    low = {"int32": "-2147483648", "int64": "INT64_MIN"}.get(x.dtype.name)
    high = {"int32": "2147483647", "int64": "9223372036854775807"}.get(x.dtype.name)
    text = f"{x.dtype}(0 - {{0}})" if low is None else f"({x.dtype}({high}) if {{0}} == {low} else {x.dtype}(-{{0}}))"
    return t.elementwise(text, x.dtype, x)


UNARY: dict[str, Callable[[Statements, Dense], Any]] = {
    "ainv": negative,
    "identity": lambda t, x: x,
    "lnot": lambda t, x: t.elementwise("(not {0})", BOOL, x) if x.dtype == BOOL else refuse("lnot"),
    "one": lambda t, x: t.elementwise("True" if x.dtype == BOOL else f"{x.dtype}(1)", x.dtype, x),
    "sqrt": lambda t, x: _sqrt(t, x),
}
"""Unary operators by name."""


def refuse(name: str) -> Any:
    raise Unfit(f"applies {name}")
