"""Hypothesis strategies: edges, matrices and vectors of every awkward kind, and the semirings to try them with.

Shapes from 0×0 to hub rows; self-loops, duplicates, empty rows; stored zeros, the semiring's zero among the values, and
the ends of the dtype's range. Floating-point numbers are small integers, so that arithmetic on them is exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from formats import CSB, CSR, DTYPES, ELL, SELL, Dense, Matrix, SegmentedCOO, SparseVector, from_edges
from formats.arrays import is_array, to_device
from semiring import MONOIDS, SEMIRINGS, BinaryOp, Monoid, Semiring
from semiring.algebra.semirings import find_semiring

BOOL, INT32, INT64, FLOAT32, FLOAT64 = DTYPES

FORMATS = [fmt for fmt in Matrix.formats.values() if fmt.__module__.startswith("formats.")]
"""Every storage format; a new one is tested without a list being edited."""


def has_turn(k: int, fmt: type[Matrix], backend: str, turns: int = 3) -> bool:
    """Is the k-th value of a parameter tried in a format on a backend?

    CSR tries every value; other formats take turns, where what is tested does not know of formats: on a GPU at other
    values than on the CPU.
    """
    return fmt is CSR or (k + FORMATS.index(fmt) + (backend != "cpu")) % turns == 0


OPTIONS: dict[type[Matrix], dict[str, Any]] = {
    ELL: {"force": True},
    Dense: {"force": True},
    SegmentedCOO: {"segment": 3},
    SELL: {"chunk": 2, "window": 3, "force": True},
    CSB: {"block": 2},
}
"""How small matrices get into a format so that they are like large ones: of several segments, however padded."""

AbsDiff = BinaryOp("absdiff", scalar=lambda a, b: abs(a - b), cuda="a < b ? b - a : a - b")
BitOr = Monoid(BinaryOp("bitor", scalar=lambda a, b: a | b, cuda="a | b"), 0, (INT32, INT64), idempotent=True)
BitAnd = BinaryOp("bitand", scalar=lambda a, b: a & b, cuda="a & b")


def _gcd(a: Any, b: Any) -> Any:
    while b != 0:
        a, b = b, a % b
    return abs(a)


GCD = "[](long long u, long long v) { while (v) { auto w = u % v; u = v; v = w; } return u < 0 ? -u : u; }(a, b)"
Gcd = Monoid(BinaryOp("gcd", scalar=_gcd, cuda=GCD), 0, (INT32, INT64), idempotent=True)

MinAbsDiff = Semiring(MONOIDS["min"], AbsDiff)
BitOrBitAnd = Semiring(BitOr, BitAnd)
GcdSecond = Semiring(Gcd, BinaryOp("right", scalar=lambda a, b: b, cuda="b", reads="b"))
MinMinus = Semiring(MONOIDS["min"], BinaryOp("less", scalar=lambda a, b: a - b, cuda="a - b"))

SHIPPED = [(semiring, dtype) for semiring in SEMIRINGS.values() for dtype in semiring.dtypes]
"""Every shipped semiring with every dtype it is defined on."""

PARTIAL = [
    (find_semiring(name), dtype)
    for name, dtype in [
        *(("min_div", INT32), ("max_rdiv", FLOAT64), ("plus_div", INT64), ("max_pow", INT64), ("min_div", FLOAT64)),
        *(("plus_pow", INT32), ("min_rminus", INT32)),
    ]
]
"""Semirings of operators that have no result for some operands, and of one with its operands turned."""

USER_MADE = [(MinAbsDiff, INT32), (MinAbsDiff, FLOAT64), (BitOrBitAnd, INT64), (GcdSecond, INT32), (MinMinus, INT64)]
"""Semirings as a user makes them: operators and monoids that neither GraphBLAS nor NumPy knows."""


def moved(x: Any, device: str) -> Any:
    """A matrix, vector or mask on the device; anything else as it is."""
    if isinstance(x, Matrix | SparseVector):
        return x.to(device=device)
    return to_device(x, device) if is_array(x) else x


def ids(cases: list[tuple[Semiring, np.dtype]]) -> list[str]:
    return [f"{semiring.name}-{dtype}" for semiring, dtype in cases]


def small_numbers(dtype: np.dtype) -> list[Any]:
    return [False, True] if dtype == BOOL else [dtype.type(x).item() for x in (-3, -1, 0, 0, 1, 2, 2, 3, 5, 8)]


def numbers(semiring: Semiring, dtype: np.dtype) -> list[Any]:
    """Small numbers; for gcd the natural ones, on which alone 0 is its identity."""
    small = small_numbers(dtype)
    return [abs(x) for x in small] if semiring.add is Gcd else small


def extremes(semiring: Semiring, dtype: np.dtype) -> list[Any]:
    """The dtype's limits and their neighbours, where arithmetic on them means something (∞ - ∞ does not)."""
    shipped = semiring.name in SEMIRINGS or (semiring, dtype) in PARTIAL
    if dtype.kind == "i":
        info = np.iinfo(dtype)
        return [info.max, info.max - 1, info.min, info.min + 1] if shipped else []
    infinities = [float("inf"), float("-inf")] if shipped and semiring.add.name != "plus" else []
    return infinities if dtype.kind == "f" else []


def values(semiring: Semiring, dtype: np.dtype) -> st.SearchStrategy[Any]:
    """A value of the dtype: small, an extreme, or the semiring's zero."""
    zero = semiring.zero(dtype).item()
    return st.sampled_from([*numbers(semiring, dtype), *extremes(semiring, dtype), zero])


@dataclass(frozen=True)
class Entries:
    """A matrix before it has a format: its value at each position that it stores."""

    shape: tuple[int, int]
    dtype: np.dtype
    at: dict[tuple[int, int], Any]

    def build(self, fmt: type[Matrix]) -> Matrix:
        rows, cols = (np.array([place[axis] for place in self.at], np.int32) for axis in (0, 1))
        stored = np.array(list(self.at.values()), self.dtype)
        A = from_edges(rows, cols, stored, shape=self.shape, dup="error")
        return A.to(fmt, **OPTIONS.get(fmt, {}))

    def with_dtype(self, dtype: np.dtype) -> Entries:
        return Entries(self.shape, dtype, {place: dtype.type(value).item() for place, value in self.at.items()})


sizes = st.sampled_from([0, 1, 2, 3, 5, 7])


@st.composite
def shapes(draw: Any, *, square: bool = False) -> tuple[int, int]:
    nrows = draw(sizes)
    return nrows, nrows if square else draw(sizes)


@st.composite
def matrices(draw: Any, semiring: Semiring, dtype: np.dtype, shape: tuple[int, int] | None = None) -> Entries:
    """Random entries, and often a full hub row, a self-loop at every vertex, or no entries at all."""
    nrows, ncols = draw(shapes()) if shape is None else shape
    places = [(i, j) for i in range(nrows) for j in range(ncols)]
    chosen = set(draw(st.lists(st.sampled_from(places), max_size=12))) if places else set()
    kind = draw(st.sampled_from(["random", "random", "hub", "loops"]))
    if kind == "hub" and nrows:
        hub = draw(st.integers(0, nrows - 1))
        chosen |= {(hub, j) for j in range(ncols)}
    if kind == "loops":
        chosen |= {(i, i) for i in range(min(nrows, ncols))}
    return Entries((nrows, ncols), dtype, {place: draw(values(semiring, dtype)) for place in sorted(chosen)})


@st.composite
def vectors(draw: Any, semiring: Semiring, dtype: np.dtype, size: int, *, sparse: bool | None = None) -> Any:
    """A dense array with the semiring's zero in it, or a SparseVector that may store it."""
    zero = semiring.zero(dtype).item()
    element = st.one_of(st.just(zero), values(semiring, dtype))
    array = np.array(draw(st.lists(element, min_size=size, max_size=size)), dtype)
    if not (draw(st.booleans()) if sparse is None else sparse):
        return array
    stored = np.array(draw(st.lists(st.booleans(), min_size=size, max_size=size)), bool)
    return SparseVector(np.flatnonzero(stored), array[stored], size)


@st.composite
def masks(draw: Any, size: int) -> Any:
    """None, a boolean array (by value), or a SparseVector (by structure: a stored False counts)."""
    kind = draw(st.sampled_from(["none", "value", "structure"]))
    if kind == "none":
        return None
    flags = np.array(draw(st.lists(st.booleans(), min_size=size, max_size=size)), bool)
    return flags if kind == "value" else SparseVector(np.flatnonzero(flags), np.ones(flags.sum(), bool), size)


@st.composite
def edge_lists(draw: Any, dtype: np.dtype) -> tuple[int, list[tuple[int, int, Any]]]:
    """(n, edges) with self-loops and duplicates."""
    n = draw(sizes)
    if n == 0:
        return 0, []
    vertex = st.integers(0, n - 1)
    edges = draw(st.lists(st.tuples(vertex, vertex, st.sampled_from(small_numbers(dtype))), max_size=15))
    return n, edges + draw(st.lists(st.sampled_from(edges), max_size=4)) if edges else edges


def rich_matrix(semiring: Semiring, dtype: np.dtype) -> Entries:
    """One fixed 7×6 matrix with everything at once: a hub row, an empty row and column, zeros, loops, extremes."""
    cycle = [*numbers(semiring, dtype), *extremes(semiring, dtype), semiring.zero(dtype).item()]
    hub = [(2, j) for j in range(5)]
    others = [(0, 0), (0, 3), (1, 1), (1, 4), (3, 0), (3, 2), (3, 3), (5, 4), (6, 0), (6, 1), (6, 4)]
    return Entries((7, 6), dtype, {place: cycle[(3 * e + 1) % len(cycle)] for e, place in enumerate(hub + others)})


def rich_vector(semiring: Semiring, dtype: np.dtype, size: int, *, sparse: bool, shift: int = 0) -> Any:
    """One fixed vector with present, absent (the zero, also stored) and extreme elements."""
    zero = semiring.zero(dtype).item()
    cycle = [zero, *numbers(semiring, dtype)[::-1], zero, *extremes(semiring, dtype)]
    array = np.array([cycle[(5 * i + shift) % len(cycle)] for i in range(size)], dtype)
    if not sparse:
        return array
    stored = np.array([i for i in range(size) if (i + shift) % 3], np.int32)
    return SparseVector(stored, array[stored], size)
