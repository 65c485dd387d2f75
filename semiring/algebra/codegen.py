"""The CUDA side of a semiring: typed inline functions, made from the same declaration that drives the CPU.

    prelude(MinPlus, float32) defines

    T, I, J, ZERO                               the types of values, counts and columns, and what is absent
    add(a, b), mul(a, b), product(a, x)         ⊕ and ⊗, and ⊗ of a matrix's and a vector's value, either absent
    atomic_add, atomic_update (address, value)  ⊕ in memory
    Term, Sum, EMPTY, alone, term, lift, combine, finish      ⊕ over many products

which is all of the algebra that a kernel sees. A kernel is plain CUDA in a `.cu` file; text of the prelude and text
of the files are one translation unit. The operators' expressions are the ones in `ops`, with `a` and `b` of type T;
int32 is computed in 64 bits and clamped, int64 by the operator's saturating form. Term and Sum are T but for sums of
integers, which are exact, and clamped at the end, as on the CPU.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np

from formats.arrays import Array

from .ops import BinaryOp
from .semirings import Semiring
from .translation import literal

C_TYPES = {"bool": "bool", "int32": "int", "int64": "long long", "float32": "float", "float64": "double"}
"""The C++ type of each dtype."""


class IndexTypes(NamedTuple):
    """Types of indices where the number of entries does not fit that of columns.

    counting: of what counts entries or rows, I in kernels.  columns: of an entry's column, J.
    """

    counting: np.dtype
    columns: np.dtype


Index: TypeAlias = np.dtype | IndexTypes
"""The types of indices: one for both, or two."""


def index_of(indptr: Array, indices: Array) -> Index:
    """The types of compressed lines."""
    return indptr.dtype if indptr.dtype == indices.dtype else IndexTypes(indptr.dtype, indices.dtype)


def types_of(A: Any) -> Index:
    """The types of the indices of CSR or CSC."""
    return index_of(A.indptr, A.indices)


def counting(index: Index) -> np.dtype:
    """The type that counts entries."""
    return index.counting if isinstance(index, IndexTypes) else index


def index_text(index: Index) -> str:
    """The CUDA text that defines I and J."""
    columns = index.columns if isinstance(index, IndexTypes) else index
    return f"using I = {C_TYPES[counting(index).name]};\nusing J = {C_TYPES[columns.name]};\n"


CONSTANTS = """\
#define LLONG_MAX 0x7fffffffffffffffLL
#define LLONG_MIN (-LLONG_MAX - 1)
"""
"""Constants that the expressions of operators may use beside `a`, `b` and T."""

_ALGEBRA = """\
#define ZERO {zero}
using T = {value_type};
{indices}
__device__ __forceinline__ T add({wide} a, {wide} b) {{ return {add}; }}
__device__ __forceinline__ T mul({wide} a, {wide} b) {{ return {mul}; }}

// a of the matrix, x of the vector. One that equals the zero contributes nothing, whatever mul makes of it.
__device__ __forceinline__ bool absent(T a, T x) {{ return {absent}; }}
__device__ __forceinline__ T product(T a, T x) {{ return absent(a, x) ? ZERO : {multiply}; }}
"""

_IN_ORDER = """\
// NaN has no place in the order of values: it is absent, too.
__device__ __forceinline__ T in_order(T t) { return t == t ? t : ZERO; }
"""

_ATOMIC = """
// *address = add(*address, value); returns what was there before.
__device__ __forceinline__ T atomic_update(T* address, T value) {{
    {update}
}}

// The same, with a look first: nothing is written where nothing changes.
__device__ __forceinline__ T atomic_add(T* address, T value) {{
    const T seen = *(volatile T*)address;
    return add(seen, value) == seen ? seen : atomic_update(address, value);
}}
"""

_COMPARE_AND_SWAP = """\
{word}* const word = reinterpret_cast<{word}*>(reinterpret_cast<size_t>(address) & ~(sizeof({word}) - 1));
    const int shift = 8 * (int)(reinterpret_cast<size_t>(address) - reinterpret_cast<size_t>(word));
    const {word} bits = (({word})~({word})0 >> 8 * (sizeof({word}) - sizeof(T))) << shift;
    {word} now = *word, before;
    while (true) {{
        before = now;
        T old;
        const {word} shifted = (before & bits) >> shift;
        memcpy(&old, &shifted, sizeof(T));
        const T sum = add(old, value);
        if (sum == old) return old;
        {word} after = 0;
        memcpy(&after, &sum, sizeof(T));
        now = atomicCAS(word, before, (before & ~bits) | (after << shift));
        if (now == before) return old;
    }}"""

_INTEGER_EXTREME = "return atomic{up}(address, value);"

_FLOAT_EXTREME = """\
// Floats of one sign are ordered as integers are, of the other the other way round. A -0 becomes 0 first.
    value += (T)0;
    const {int} bits = {to_int}(value);
    if (value >= (T)0) return {from_int}(atomic{up}(reinterpret_cast<{int}*>(address), bits));
    return {from_int}(({int})atomic{down}(reinterpret_cast<unsigned {int}*>(address), (unsigned {int})bits));"""

_FLOAT_BITS = {
    "float32": {"int": "int", "from_int": "__int_as_float", "to_int": "__float_as_int"},
    "float64": {"int": "long long", "from_int": "__longlong_as_double", "to_int": "__double_as_longlong"},
}

_OPPOSITE = {"Min": "Max", "Max": "Min"}

# Term: a product before it is added up. Sum: an unfinished sum.
_TERMS = """
using Term = {term};
using Sum = {sum};
#define EMPTY {empty}
__device__ __forceinline__ Term alone(T a) {{ return (Term)a; }}
__device__ __forceinline__ Term term(T a, T x) {{ return absent(a, x) ? (Term)ZERO : (Term)({multiply}); }}
__device__ __forceinline__ Sum lift(Term t) {{ return {lift}; }}
__device__ __forceinline__ Sum combine(Sum a, Sum b) {{ return {combine}; }}
__device__ __forceinline__ T finish(Sum s) {{ return {finish}; }}
"""

_PLAIN = {"term": "T", "sum": "T", "empty": "ZERO", "lift": "t", "combine": "add(a, b)", "finish": "s"}

_LIMBS = """
// An exact sum of products of two 64-bit integers: high * 2^64 + low.
struct Limbs {
    __int128 high;
    unsigned long long low;
};
__device__ __forceinline__ Limbs limbs(__int128 t) { return {t >> 64, (unsigned long long)t}; }
__device__ __forceinline__ Limbs added(Limbs a, Limbs b) {
    const unsigned long long low = a.low + b.low;
    return {a.high + b.high + (low < a.low), low};
}
__device__ __forceinline__ long long clamped(Limbs s) {
    const long long low = (long long)s.low;
    if (s.high == (low < 0 ? -1 : 0)) return low;
    return s.high < 0 ? LLONG_MIN : LLONG_MAX;
}
"""

_EXACT: dict[tuple[str, str], dict[str, str]] = {
    # Exact sums of exact products, clamped at the end: 2^31 products of 62 bits, or of 126 bits.
    ("plus", "int32"): {
        "term": "long long", "sum": "__int128", "empty": "0", "lift": "t", "combine": "a + b",
        "finish": "s < -2147483648LL ? (T)-2147483648LL : s > 2147483647LL ? (T)2147483647LL : (T)s",
    },
    ("plus", "int64"): {
        "term": "__int128", "sum": "Limbs", "empty": "limbs(0)", "lift": "limbs(t)", "combine": "added(a, b)",
        "finish": "clamped(s)",
    },
    # A product of integers only grows, or becomes 0: it may stop anywhere beyond the range, with its sign.
    ("times", "int32"): {
        "term": "long long", "sum": "long long", "empty": "1", "lift": "min(max(t, -2147483648LL), 2147483648LL)",
        "combine": "min(max(a * b, -2147483648LL), 2147483648LL)",
        "finish": "(T)min(s, 2147483647LL)",
    },
    ("times", "int64"): {
        "term": "__int128", "sum": "__int128", "empty": "1", "lift": "stopped(t)", "combine": "stopped(a * b)",
        "finish": "s > LLONG_MAX ? LLONG_MAX : (T)s",
    },
}  # fmt: skip
"""How integers are added up by (⊕, dtype) where a running sum that saturates would depend on the order."""

_STOPPED = """
__device__ __forceinline__ __int128 stopped(__int128 t) {
    const __int128 end = (__int128)1 << 63;
    return t < -end ? -end : t > end ? end : t;
}
"""

OPTIONS = ("--std=c++17", "--device-int128")
"""Options that the compiler needs for the prelude."""


def prelude(semiring: Semiring, dtype: np.dtype, index: Index, matrix_first: bool = True) -> str:
    """The CUDA text that defines the semiring on `dtype`, with indices of these types.

    matrix_first: products are a ⊗ x, else x ⊗ a, with a of the matrix and x of the vector.
    """
    multiply = _multiply(semiring, dtype, matrix_first)
    algebra = _ALGEBRA.format(
        value_type=C_TYPES[dtype.name],
        indices=index_text(index),
        zero=literal(semiring.zero(dtype), dtype),
        add=expression(semiring.add.on(dtype), dtype),
        mul=expression(semiring.mul, dtype),
        wide=_wide(dtype),
        absent="x == ZERO" if semiring.mul.reads == "" else "a == ZERO || x == ZERO",
        multiply=multiply,
    )
    if "in_order" in multiply:
        algebra = algebra.replace("// a of the matrix", f"{_IN_ORDER}\n// a of the matrix")
    return CONSTANTS + algebra + _atomic(semiring, dtype) + _terms(semiring, dtype, matrix_first)


def _multiply(semiring: Semiring, dtype: np.dtype, matrix_first: bool) -> str:
    """⊗ of a matrix's value a and a vector's value x, in the right order."""
    product = "mul(a, x)" if matrix_first else "mul(x, a)"
    return f"in_order({product})" if semiring.may_lack_order(dtype) else product


def sum_bytes(semiring: Semiring, dtype: np.dtype) -> int:
    """The size of a Sum."""
    exact = _exact(semiring, dtype)
    return dtype.itemsize if exact is None else _SUM_BYTES[exact["sum"]]


_SUM_BYTES = {"long long": 8, "__int128": 16, "Limbs": 32}


def _exact(semiring: Semiring, dtype: np.dtype) -> dict[str, str] | None:
    """How sums are kept exact, where they must be."""
    return _EXACT.get((semiring.add.name, dtype.name)) if semiring.add.op.saturating is not None else None


def _wide(dtype: np.dtype) -> str:
    """The type in which operators are computed."""
    return "long long" if dtype == np.int32 else "T"


def _atomic(semiring: Semiring, dtype: np.dtype) -> str:
    up = {"min": "Min", "max": "Max"}.get(semiring.add.name) if semiring.add.op.array is not None else None
    if up is None or dtype.kind == "b":
        word = "unsigned long long" if dtype.itemsize == 8 else "unsigned int"
        return _ATOMIC.format(update=_COMPARE_AND_SWAP.format(word=word))
    if dtype.kind == "i":
        return _ATOMIC.format(update=_INTEGER_EXTREME.format(up=up))
    return _ATOMIC.format(update=_FLOAT_EXTREME.format(up=up, down=_OPPOSITE[up], **_FLOAT_BITS[dtype.name]))


def _terms(semiring: Semiring, dtype: np.dtype, matrix_first: bool) -> str:
    operands = ("a", "x") if matrix_first else ("x", "a")
    exact = _exact(semiring, dtype)
    if exact is None:
        return _TERMS.format(multiply=_multiply(semiring, dtype, matrix_first), **_PLAIN)
    # The operator on wide operands, and not clamped. One of the user's in int64 has to look after itself.
    wide = "T" if dtype == np.int64 and semiring.mul.array is None else exact["term"]
    product = f"""
__device__ __forceinline__ {exact["term"]} exactly({wide} a, {wide} b) {{ return {semiring.mul.expression(dtype)}; }}
"""
    extra = _LIMBS if exact["sum"] == "Limbs" else _STOPPED if "stopped" in exact["lift"] else ""
    return extra + product + _TERMS.format(multiply=f"exactly({', '.join(operands)})", **exact)


def expression(op: BinaryOp, dtype: np.dtype) -> str:
    """The operator as a CUDA expression in `a` and `b` that gives a T, saturating where T is an integer."""
    if dtype == np.int64 and op.saturating is not None:
        return op.saturating.cuda
    if dtype == np.int32 and (op.saturating is not None or op.array is None):
        info = np.iinfo(dtype)
        return f"(T)min(max((long long)({op.expression(dtype)}), {info.min}LL), {info.max}LL)"
    return f"(T)({op.expression(dtype)})"
