"""The operator table: what ⊕, ⊗ and comparisons do to two values, declared once for both backends.

A `BinaryOp` carries the scalar function that Numba compiles, the array function that NumPy runs and the CUDA
expression. Integers saturate: int32 is computed in 64 bits and clamped, whatever the operator; for int64 the arithmetic
operators bring a form of their own. `div`, `rdiv` and `pow` have that form for both: they round towards zero, and a / 0
is the end of the range that a / 0 of floats goes to, or 0 of 0, as in SuiteSparse. Operators of yours are made the same
way:

    absdiff = BinaryOp("absdiff", scalar=lambda a, b: abs(a - b))                # CUDA is made from it
    hypot = BinaryOp("hypot", scalar=lambda a, b: math.hypot(a, b), cuda="hypot(a, b)")    # or given beside it
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from functools import lru_cache
from types import FunctionType
from typing import Any, Protocol, TypeVar

import numpy as np

from formats.arrays import Array, is_array
from formats.undisturbed import imported, undisturbed

from ..kernels.content import content
from .portable import Portable, made
from .translation import INTEGER, Untranslatable, cuda_expression

Scalar = Callable[[Any, Any], Any]
Interval = tuple[int, int]

INT64_MAX = 2**63 - 1
INT64_MIN = -(2**63)


class Named(Protocol):
    @property
    def name(self) -> str: ...


V = TypeVar("V", bound=Named)

ON_GPU: dict[type, Callable[..., Any]] = {}
"""Functions that apply a BinaryOp, a UnaryOp or a Predicate to CuPy arrays; `cuda/elementwise.py` adds them."""


TABLES: dict[str, Any] = {}
"""Every table by its kind."""


def _of_table(kind: str, *name: str) -> Any:
    """A table, or what is there under a name."""
    return TABLES[kind][name[0]] if name else TABLES[kind]


class Names(dict[str, V]):
    """A dictionary of the things of one kind by name, whose KeyError lists the names."""

    def __init__(self, kind: str, named: Iterable[V]) -> None:
        super().__init__({each.name: each for each in named})
        self.kind, TABLES[kind] = kind, self
        for name, each in self.items():
            made(each, (_of_table, (kind, name)))

    def unknown(self, name: object) -> str:
        """Returns the message for a name that does not exist."""
        from difflib import get_close_matches

        meant = "".join(f"did you mean {near!r}? " for near in get_close_matches(str(name), self, 1))
        return f"unknown {self.kind} {name!r}; {meant}there are {', '.join(self)}"

    def __reduce__(self) -> tuple[Any, ...]:
        return _of_table, (self.kind,)

    def __missing__(self, name: object) -> V:
        raise KeyError(self.unknown(name))


@dataclass(frozen=True)
class Saturating:
    """How an operator whose results can leave the range of int64 stops at its ends.

    Args:
        scalar: (a, b) -> value, in the Python that Numba compiles; it must never overflow.
        array: the same on NumPy arrays of int64.
        cuda: a CUDA expression in `a` and `b`.
        bounds: the (low, high) of the exact results for operands within two (low, high), in Python integers.

    Example:
        >>> OPERATORS["plus"].saturating.bounds((0, 5), (-1, 3))
        (-1, 8)
        >>> OPERATORS["plus"].saturating.scalar(2**63 - 1, 1) == 2**63 - 1
        True
    """

    scalar: Scalar
    array: Callable[[Any, Any], Any]
    cuda: str
    bounds: Callable[[Interval, Interval], Interval]
    """The (low, high) of the exact results for operands within two (low, high), in Python integers."""


@dataclass(frozen=True, eq=False)
class BinaryOp(Portable):
    """A function of two values. Two are equal if they do the same by the same code.

    Args:
        name: how it is called.
        scalar: (a, b) -> value, in the Python that Numba compiles.
        cuda: a CUDA expression in `a` and `b`. None: it is made from `scalar` when a GPU first needs it. `check_laws`
            compares the two.
        array: the same on NumPy arrays; made from `scalar` where it is None.
        saturating: the int64 form, if results can leave the range.
        boolean: the result is a bool.
        reads: the operands whose values matter, "ab", "a", "b" or ""; `pair` reads none, as it follows the pattern.
        graphblas: GraphBLAS has this operator, under the same name.
        partial: for some operands there is no result of their dtype. Integers are given to `saturating`, whatever their
            size. Of floats a NaN is refused; in a product it is absent if ⊕ selects. There are no Booleans.
        position: of an operator that gives not a value but where a term comes from, ("i", "j" or "k" of c_ij = ⊕_k a_ik
            ⊗ b_kj, what the first one is counted as). It is for products alone.

    Raises:
        TypeError: scalar or array is no function, or cuda no text.
        ValueError: reads is something else.

    Example:
        >>> import numpy as np
        >>> absdiff = BinaryOp("absdiff", scalar=lambda a, b: abs(a - b))
        >>> absdiff(np.array([1.0, 5.0]), np.array([4.0, 3.0])).tolist()
        [3.0, 2.0]
    """

    name: str
    scalar: Scalar
    cuda: str | None = None
    array: Callable[[Any, Any], Any] | None = None
    saturating: Saturating | None = None
    boolean: bool = False
    reads: str = "ab"
    graphblas: bool = False
    partial: bool = False
    position: tuple[str, int] | None = None

    def __post_init__(self) -> None:
        for part, value in (("scalar", self.scalar), ("array", self.scalar if self.array is None else self.array)):
            if not callable(value):
                raise TypeError(f"{part}= of the operator {self.name!r} must be a function of a and b, got {value!r}")
        if self.cuda is not None and not isinstance(self.cuda, str):
            raise TypeError(f"cuda= of the operator {self.name!r} must be an expression in a and b, got {self.cuda!r}")
        if self.reads not in ("ab", "a", "b", ""):
            raise ValueError(f"reads= of the operator {self.name!r} must be 'ab', 'a', 'b' or '', got {self.reads!r}")

    def __eq__(self, other: object) -> bool:
        if self is other or not isinstance(other, BinaryOp):
            return self is other
        return self.name == other.name and self._content == other._content

    def __hash__(self) -> int:
        known = self.__dict__.get("_hash")
        if known is None:
            known = self.__dict__["_hash"] = hash((self.name, self._content))
        return known

    @functools.cached_property
    def _content(self) -> tuple[Any, ...]:
        """The operator's content: one that is made anew in each call shares the kernels of the first."""
        parts = tuple(getattr(self, field.name) for field in fields(self))
        try:
            return tuple(content(part) if isinstance(part, FunctionType) else part for part in parts)
        except Exception:  # a function refers to what has no content, as a lock
            return parts

    def __call__(self, a: Any, b: Any) -> Any:
        """The operator on arrays or scalars, in NumPy's common dtype, with the saturation of integers."""
        return self.checked(self.computed(a, b))

    def checked(self, result: Array) -> Array:
        """Returns the result; raises ValueError if it is NaN because a partial operator has none."""
        if self.partial and result.dtype.kind == "f" and bool((result != result).any()):
            raise ValueError(f"{self.name} has no result for some of the operands: it must not be NaN")
        return result

    def computed(self, a: Array, b: Array) -> Array:
        """The operator without a look at its results."""
        if _on_gpu(a) or _on_gpu(b):
            return ON_GPU[BinaryOp](self, a, b)
        dtype = np.result_type(a, b)
        if self.partial:
            return self._partial(a, b, dtype)
        apply = self.array if self.array is not None else functools.partial(_elementwise, self)
        if self.boolean or dtype.kind != "i":
            return apply(a, b)
        if dtype == np.int64 and self.saturating is not None:
            return self.saturating.array(np.asarray(a, dtype), np.asarray(b, dtype))
        if dtype == np.int32 and self.saturating is not None or self.array is None:
            info = np.iinfo(dtype)
            return np.clip(apply(np.asarray(a, np.int64), np.asarray(b, np.int64)), info.min, info.max).astype(dtype)
        return apply(np.asarray(a, dtype), np.asarray(b, dtype))

    def _partial(self, a: Array, b: Array, dtype: np.dtype) -> Any:
        """Likewise, of integers by the saturating form."""
        assert self.array is not None
        assert self.saturating is not None
        if dtype.kind == "b":
            raise TypeError(f"{self.name} is not defined on {dtype}")
        if dtype.kind == "f":
            with np.errstate(all="ignore"):
                return self.array(np.asarray(a, dtype), np.asarray(b, dtype))
        exact = self.saturating.array(np.asarray(a, np.int64), np.asarray(b, np.int64))
        return np.clip(exact, np.iinfo(dtype).min, np.iinfo(dtype).max).astype(dtype)

    def scalar_on(self, dtype: np.dtype) -> Scalar:
        """The scalar function for operands of `dtype`, or for int64 that stand for int32; int64 saturates."""
        saturates = self.saturating is not None and (dtype == np.int64 or self.partial and dtype.kind == "i")
        return self.saturating.scalar if saturates and self.saturating is not None else self.scalar

    @property
    def unbounded(self) -> Scalar:
        """The scalar function on Python's integers: exact, but for a `partial` operator, which saturates in 64 bits."""
        return self.saturating.scalar if self.partial and self.saturating is not None else self.scalar

    def expression(self, dtype: np.dtype) -> str:
        """The CUDA expression for operands of `dtype`; ValueError if there is none, and none can be made."""
        if self.partial and self.saturating is not None and dtype.kind == "i":
            return self.saturating.cuda
        text = self.cuda if self.cuda is not None else _translated(self)
        return text.replace(INTEGER, "double" if dtype.kind == "f" else "long long")

    def __repr__(self) -> str:
        return f"BinaryOp({self.name!r})"


@lru_cache(maxsize=256)
def _translated(op: BinaryOp) -> str:
    """The CUDA expression of the operator's `scalar`."""
    try:
        return cuda_expression(op.scalar)
    except Untranslatable as error:
        raise ValueError(
            f"the operator {op.name!r} needs cuda=, a CUDA expression in a and b, to run on a GPU: none can be made "
            f"from its scalar, for {error}"
        ) from None


def _on_gpu(obj: Any) -> bool:
    return not isinstance(obj, np.ndarray) and is_array(obj)


def _elementwise(op: BinaryOp, a: Any, b: Any) -> Any:
    """`op.scalar` of arrays or scalars, compiled at the first call on their dtypes; NumPy says how wide floats are."""
    dtype = np.result_type(a, b)
    if dtype.kind == "f":
        a, b = np.asarray(a, dtype), np.asarray(b, dtype)
    return _vectorized(op, np.result_type(a), np.result_type(b))(a, b)


@lru_cache(maxsize=256)
def _vectorized(op: BinaryOp, *dtypes: np.dtype) -> Callable[[Any, Any], Any]:
    """`op.scalar` as a NumPy ufunc for the dtypes: one that was compiled for floats would take integers for such."""
    made = undisturbed(lambda: imported("numba").vectorize(op.scalar))
    undisturbed(lambda: made(*(np.ones(1, dtype) for dtype in dtypes)))
    return made


# --- saturation in int64 ------------------------------------------------------------------------------------------
# The scalar forms never overflow, for compilers may take it that signed arithmetic does not. The array forms let NumPy
# wrap: a sum t that overflowed has the wrong sign, (a ^ t) & (b ^ t) < 0.


def _saturating_plus(a: Any, b: Any) -> Any:
    if b >= 0:
        return INT64_MAX if a > INT64_MAX - b else a + b
    return INT64_MIN if a < INT64_MIN - b else a + b


def _saturating_plus_array(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        total = a + b
    return np.where((a ^ total) & (b ^ total) < 0, np.where(a < 0, INT64_MIN, INT64_MAX), total)


def _saturating_minus(a: Any, b: Any) -> Any:
    if b >= 0:
        return INT64_MIN if a < INT64_MIN + b else a - b
    return INT64_MAX if a > INT64_MAX + b else a - b


def _saturating_minus_array(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        difference = a - b
    return np.where((a ^ b) & (a ^ difference) < 0, np.where(a < 0, INT64_MIN, INT64_MAX), difference)


def _saturating_times(a: Any, b: Any) -> Any:
    estimate = float(a) * float(b)
    if abs(estimate) < 2.0**62:
        return a * b
    if abs(estimate) > 1.5 * 2.0**63:
        return INT64_MIN if estimate < 0 else INT64_MAX
    if abs(float(a)) < abs(float(b)):
        a, b = b, a
    half = (a >> 1) * b  # two halves, neither of which can overflow
    rest = (a - (a >> 1)) * b
    if rest >= 0:
        return INT64_MAX if half > INT64_MAX - rest else half + rest
    return INT64_MIN if half < INT64_MIN - rest else half + rest


def _saturating_times_array(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        product = a * b
    divisor = np.where((a == 0) | (a == -1), 1, a)
    exact = (a == 0) | np.where(a == -1, b != INT64_MIN, product // divisor == b)
    return np.where(exact, product, np.where((a < 0) != (b < 0), INT64_MIN, INT64_MAX))


def _saturating_rminus(a: Any, b: Any) -> Any:
    if a >= 0:
        return INT64_MIN if b < INT64_MIN + a else b - a
    return INT64_MAX if b > INT64_MAX + a else b - a


def _saturating_div(a: Any, b: Any) -> Any:
    if b == 0:
        return 0 if a == 0 else INT64_MIN if a < 0 else INT64_MAX
    if b == -1:
        return INT64_MAX if a == INT64_MIN else -a
    return a // b + 1 if (a < 0) != (b < 0) and a % b != 0 else a // b


def _saturating_rdiv(a: Any, b: Any) -> Any:
    if a == 0:
        return 0 if b == 0 else INT64_MIN if b < 0 else INT64_MAX
    if a == -1:
        return INT64_MAX if b == INT64_MIN else -b
    return b // a + 1 if (a < 0) != (b < 0) and b % a != 0 else b // a


def _saturating_div_array(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    divisor = np.where((b == 0) | (b == -1), 1, b)
    quotient = a // divisor + ((a % divisor != 0) & ((a < 0) != (divisor < 0)))
    quotient = np.where(b == -1, np.where(a == INT64_MIN, INT64_MAX, -np.maximum(a, -INT64_MAX)), quotient)
    return np.where(b == 0, np.where(a == 0, 0, np.where(a < 0, INT64_MIN, INT64_MAX)), quotient)


def _div_bounds(a: Interval, b: Interval) -> Interval:
    most = 2**63 if b[0] <= 0 <= b[1] else max(map(abs, a))
    return -most, most


def _saturating_pow(a: Any, b: Any) -> Any:
    if b < 0:
        if a == 0:
            return INT64_MAX
        return (a if b % 2 else 1) if -1 <= a <= 1 else 0
    power, factor = 1, a
    while b > 0:
        if b % 2:
            power = _saturating_times(power, factor)
        b = b // 2
        if b > 0:
            factor = _saturating_times(factor, factor)
    return power


def _saturating_pow_array(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    power, factor = np.ones(np.broadcast_shapes(a.shape, b.shape), np.int64), a
    rest = np.maximum(b, 0)
    while rest.any():
        power = np.where(rest % 2 == 1, _saturating_times_array(power, factor), power)
        rest = rest // 2
        factor = np.where(rest > 0, _saturating_times_array(factor, factor), factor)
    inverse = np.where(np.abs(np.maximum(a, -2)) <= 1, np.where(b % 2 == 1, a, 1), 0)
    return np.where(b < 0, np.where(a == 0, INT64_MAX, inverse), power)


def _pow_bounds(a: Interval, b: Interval) -> Interval:
    base = max(1, *map(abs, a))
    beyond = (b[0] < 0 and a[0] <= 0 <= a[1]) or base.bit_length() * max(b[1], 1) > 64
    most = 2**63 if beyond else base ** max(b[1], 1)
    return -most, most


_C_ENDS = "(a < 0 ? LLONG_MIN : LLONG_MAX)"
_C_WRAP = "(long long)((unsigned long long)a {} (unsigned long long)b)"
_PLUS64 = Saturating(
    _saturating_plus,
    _saturating_plus_array,
    f"((a ^ {_C_WRAP.format('+')}) & (b ^ {_C_WRAP.format('+')})) < 0 ? {_C_ENDS} : {_C_WRAP.format('+')}",
    lambda a, b: (a[0] + b[0], a[1] + b[1]),
)
_MINUS64 = Saturating(
    _saturating_minus,
    _saturating_minus_array,
    f"((a ^ b) & (a ^ {_C_WRAP.format('-')})) < 0 ? {_C_ENDS} : {_C_WRAP.format('-')}",
    lambda a, b: (a[0] - b[1], a[1] - b[0]),
)
_TIMES64 = Saturating(
    _saturating_times,
    _saturating_times_array,
    f"__mul64hi(a, b) != ({_C_WRAP.format('*')} >> 63) ? ((a ^ b) < 0 ? LLONG_MIN : LLONG_MAX) : {_C_WRAP.format('*')}",
    lambda a, b: (min(u * v for u in a for v in b), max(u * v for u in a for v in b)),
)

_RMINUS64 = Saturating(
    _saturating_rminus,
    lambda a, b: _saturating_minus_array(b, a),
    _MINUS64.cuda.translate({97: 98, 98: 97}),
    lambda a, b: (b[0] - a[1], b[1] - a[0]),
)
_C_DIV = "b == 0 ? (a == 0 ? 0 : a < 0 ? LLONG_MIN : LLONG_MAX) : b == -1 ? (a == LLONG_MIN ? LLONG_MAX : -a) : a / b"
_DIV64 = Saturating(_saturating_div, _saturating_div_array, _C_DIV, _div_bounds)
_RDIV64 = Saturating(
    _saturating_rdiv,
    lambda a, b: _saturating_div_array(b, a),
    _C_DIV.translate({97: 98, 98: 97}),
    lambda a, b: _div_bounds(b, a),
)
_C_POW = """\
[](long long u, long long v) -> long long {
    if (v < 0) return u == 0 ? LLONG_MAX : u == 1 ? 1 : u == -1 ? (v & 1 ? -1 : 1) : 0;
    const __int128 end = (__int128)1 << 63;
    __int128 power = 1, factor = u;
    for (; v; v >>= 1) {
        if (v & 1) power *= factor;
        factor *= factor;
        power = power < -end ? -end : power > end ? end : power;
        factor = factor > end ? end : factor;
    }
    return power > LLONG_MAX ? LLONG_MAX : (long long)power;
}(a, b)"""
_POW64 = Saturating(_saturating_pow, _saturating_pow_array, _C_POW, _pow_bounds)

# --- the other functions ----------------------------------------------------------------------------------------------


def _pair(a: Any, b: Any) -> Any:
    return 1


def _first_array(a: Any, b: Any) -> Any:
    return np.broadcast_arrays(a, b)[0].astype(np.result_type(a, b))


def _second_array(a: Any, b: Any) -> Any:
    return np.broadcast_arrays(a, b)[1].astype(np.result_type(a, b))


def _pair_array(a: Any, b: Any) -> Any:
    return np.ones(np.broadcast_shapes(np.shape(a), np.shape(b)), np.result_type(a, b))


def _any_array(a: Any, b: Any) -> Any:
    return np.where(np.not_equal(a, 0), a, b)


# --- the table --------------------------------------------------------------------------------------------------------

_TABLE = (
    BinaryOp("plus", lambda a, b: a + b, "a + b", np.add, _PLUS64, graphblas=True),
    BinaryOp("minus", lambda a, b: a - b, "a - b", np.subtract, _MINUS64, graphblas=True),
    BinaryOp("rminus", lambda a, b: b - a, "b - a", lambda a, b: np.subtract(b, a), _RMINUS64, graphblas=True),
    BinaryOp("times", lambda a, b: a * b, "a * b", np.multiply, _TIMES64, graphblas=True),
    BinaryOp("div", lambda a, b: a / b, "a / b", np.divide, _DIV64, partial=True),
    BinaryOp("rdiv", lambda a, b: b / a, "b / a", lambda a, b: np.divide(b, a), _RDIV64, partial=True),
    BinaryOp("pow", lambda a, b: a**b, "pow(a, b)", np.power, _POW64, partial=True),
    BinaryOp("min", lambda a, b: b if b < a else a, "b < a ? b : a", np.minimum, graphblas=True),
    BinaryOp("max", lambda a, b: b if b > a else a, "b > a ? b : a", np.maximum, graphblas=True),
    BinaryOp("first", lambda a, b: a, "a", _first_array, reads="a", graphblas=True),
    BinaryOp("second", lambda a, b: b, "b", _second_array, reads="b", graphblas=True),
    BinaryOp("pair", _pair, "(T)1", _pair_array, reads="", graphblas=True),
    BinaryOp("any", lambda a, b: a if a != 0 else b, "a != (T)0 ? a : b", _any_array, graphblas=True),
    BinaryOp("lor", lambda a, b: bool(a) | bool(b), "a || b", np.logical_or, graphblas=True),
    BinaryOp("land", lambda a, b: bool(a) & bool(b), "a && b", np.logical_and, graphblas=True),
    BinaryOp("eq", lambda a, b: a == b, "a == b", np.equal, boolean=True, graphblas=True),
    BinaryOp("ne", lambda a, b: a != b, "a != b", np.not_equal, boolean=True, graphblas=True),
    BinaryOp("lt", lambda a, b: a < b, "a < b", np.less, boolean=True, graphblas=True),
    BinaryOp("le", lambda a, b: a <= b, "a <= b", np.less_equal, boolean=True, graphblas=True),
    BinaryOp("gt", lambda a, b: a > b, "a > b", np.greater, boolean=True, graphblas=True),
    BinaryOp("ge", lambda a, b: a >= b, "a >= b", np.greater_equal, boolean=True, graphblas=True),
)

OPERATORS = Names("operator", _TABLE)
"""Every shipped operator by name."""

POSITIONS = Names(
    "operator of positions",
    (
        BinaryOp(name + suffix, _pair, "(T)1", _pair_array, reads="", position=(axis, len(suffix)))
        for name, axis in (("firsti", "i"), ("firstj", "k"), ("secondi", "k"), ("secondj", "j"))
        for suffix in ("", "1")
    ),
)
"""Operators that give a position, by their GraphBLAS names; those that end in 1 count from 1."""

SYMBOLS = {
    "+": "plus",
    "-": "minus",
    "*": "times",
    "/": "div",
    "**": "pow",
    "==": "eq",
    "!=": "ne",
    "<": "lt",
    "<=": "le",
    ">": "gt",
    ">=": "ge",
}


def is_graphblas(obj: Any) -> bool:
    """True if the object is an operator, a monoid, a semiring or a predicate of python-graphblas."""
    return type(obj).__module__.startswith("graphblas.core.operator")


def _of_users(op: Any) -> bool:
    """True if an operator of python-graphblas is made of a function that the user has written."""
    module = getattr(getattr(op, "orig_func", None), "__module__", None)
    return module is not None and not module.startswith("graphblas")


def name_of(obj: Any, wanted: str) -> str:
    """A name as it is, or that of what python-graphblas ships, by which ours is found.

    TypeError, which says whose object it is, for any other, and for what python-graphblas has of a function of the
    user's.  wanted: what was expected.
    """
    if isinstance(obj, str):
        return obj
    theirs, kind = getattr(obj, "parent", obj), type(obj)  # the parent: of one dtype alone
    if is_graphblas(obj):
        monoid = getattr(theirs, "monoid", None)
        parts = [theirs, monoid, *(getattr(each, "binaryop", None) for each in (theirs, monoid))]
        if not any(getattr(part, "_anonymous", False) or _of_users(part) for part in parts):
            return theirs.name.removeprefix("ss.").removeprefix("value")
        raise TypeError(f"expected {wanted}, got python-graphblas's {obj}, whose function is not known here")
    whose = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
    raise TypeError(f"expected {wanted}, got {whose}{kind.__qualname__}")


def find_op(op: BinaryOp | str) -> BinaryOp:
    """The operator given by object, name ("plus") or symbol ("+"); ValueError lists the names."""
    if isinstance(op, BinaryOp):
        return op
    op = name_of(op, "an operator or its name")
    name = SYMBOLS.get(op, op)
    if name not in OPERATORS:
        raise ValueError(OPERATORS.unknown(op))
    return OPERATORS[name]


# --- functions of one value -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class UnaryOp(Portable):
    """A function of one value.

    Args:
        name: how it is called.
        array: it on NumPy arrays.
        cuda: it as a CUDA expression in `a`, of type T, with minus(a, b) and, but for Booleans, div(a, b), which
            saturate. R is the type of the result.

    Raises:
        TypeError: array is no function, or cuda no text.

    Example:
        >>> import numpy as np
        >>> from semiring import apply
        >>> apply(np.array([3.0, -2.0]), UnaryOp("half", lambda a: a / 2, "a / (T)2")).tolist()
        [1.5, -1.0]
    """

    name: str
    array: Callable[[Any], Any]
    cuda: str

    def __post_init__(self) -> None:
        if not callable(self.array):
            raise TypeError(f"array= of the operator {self.name!r} must be a function of a, got {self.array!r}")
        if not isinstance(self.cuda, str):
            raise TypeError(f"cuda= of the operator {self.name!r} must be an expression in a, got {self.cuda!r}")

    def __call__(self, a: Any) -> Any:
        if _on_gpu(a):
            return ON_GPU[UnaryOp](self, a)
        with np.errstate(all="ignore"):
            return self.array(a)


def _zero_like(a: Any) -> Any:
    return np.zeros((), np.asarray(a).dtype)[()]


def _minv(a: Any) -> Any:
    return OPERATORS["div"].computed(np.ones((), np.asarray(a).dtype), a)


def _whole(ufunc: np.ufunc) -> UnaryOp:
    """A function that makes floats whole. Integers are."""
    cuda = f"(T)0.5 == (T)0 ? a : (R){ufunc.__name__}(true ? a : 0.0f)"
    return UnaryOp(ufunc.__name__, lambda a: ufunc(a) if np.asarray(a).dtype.kind == "f" else np.array(a), cuda)


def _real(ufunc: np.ufunc) -> UnaryOp:
    """A function of real numbers: floats keep their dtype, integers become float64, and there are no Booleans."""
    return UnaryOp(ufunc.__name__, ufunc, f"{ufunc.__name__}((R)a)")


UNARY_OPERATORS = Names(
    "unary operator",
    (
        UnaryOp("identity", lambda a: a, "a"),
        UnaryOp("ainv", lambda a: OPERATORS["minus"](_zero_like(a), a), "minus((T)0, a)"),
        UnaryOp("abs", lambda a: np.maximum(a, OPERATORS["minus"](_zero_like(a), a)), "max(a, minus((T)0, a))"),
        UnaryOp("one", lambda a: np.ones_like(a), "(T)1"),
        UnaryOp("minv", _minv, "div((T)1, a)"),
        UnaryOp("lnot", lambda a: np.logical_not(a).astype(np.asarray(a).dtype), "!a"),
        UnaryOp("signum", np.sign, "(a > (T)0) - (a < (T)0)"),
        *map(_whole, (np.floor, np.ceil, np.trunc)),
        *map(_real, (np.sqrt, np.cbrt, np.exp, np.exp2, np.expm1, np.log, np.log2, np.log10, np.log1p)),
        *map(_real, (np.sin, np.cos, np.tan, np.tanh)),
    ),
)
"""Every shipped unary operator by its GraphBLAS name."""


def find_unary(op: UnaryOp | Callable[[Any], Any] | str) -> Callable[[Any], Any]:
    """The function given by object, callable on arrays (as a NumPy ufunc) or name; ValueError lists the names."""
    if callable(op) and not is_graphblas(op):
        return op
    op = name_of(op, "a UnaryOp, a function of arrays or a name")
    if op not in UNARY_OPERATORS:
        raise ValueError(UNARY_OPERATORS.unknown(op))
    return UNARY_OPERATORS[op]
