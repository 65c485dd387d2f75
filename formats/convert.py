"""Conversions between formats, and the way in from edges.

Compressing a sorted list and expanding a compressed one are direct; turning rows into columns is one counting sort;
every other pair of formats goes through these steps. `CONVERSIONS` is the table, and the only list.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from .arrays import (
    INT32_MAX,
    Array,
    all_of,
    as_array,
    as_indices,
    as_values,
    check_not_nan,
    counts,
    filled_dtype,
    index_dtype,
    namespace,
    same_device,
    supported_dtype,
)
from .base import Matrix, as_shape
from .coo import COO
from .csc import CSC
from .csr import CSR
from .hooks import answer
from .performance import warn_slow
from .workspace import Needs, Sizes, unknown

Converter = Callable[..., Matrix]
CONVERSIONS: dict[tuple[type[Matrix], type[Matrix]], Converter] = {}
"""(source, target) -> the function that converts directly, without a format between."""
NEEDS: dict[tuple[type[Matrix], type[Matrix]], Needs] = {}
"""(source, target) -> what the direct conversion allocates, see `workspace`."""


def conversion(
    source: type[Matrix], target: type[Matrix], *, needs: Needs = unknown
) -> Callable[[Converter], Converter]:
    """Register the direct conversion from `source` to `target`, and what it allocates at most, see `workspace`."""

    def register(converter: Converter) -> Converter:
        CONVERSIONS[source, target] = converter
        NEEDS[source, target] = needs
        return converter

    return register


def convert(A: Matrix, target: type[Matrix], **options: Any) -> Matrix:
    """`A` in the `target` format: itself, by a direct conversion, or by way of CSR and COO.

    Before any work, ValueError if padding is out of proportion, OutOfHostMemory or OutOfDeviceMemory if the conversion
    is predicted not to fit.
    """
    from .footprint import check_conversion

    target._check_options(options)
    if stays(A, target, options):
        return A
    target._check_padding(A, options)
    check_conversion(A, target, options)
    steps = route(type(A), target)
    for step in steps[:-1]:
        A = CONVERSIONS[type(A), step](A)
    return CONVERSIONS[type(A), target](A, **options)


def stays(A: Matrix, target: type[Matrix], options: dict[str, Any]) -> bool:
    """Is `A` in the `target` format already, with these options?"""
    return type(A) is target and A.major == target.major and A._suits(options)


def route(source: type[Matrix], target: type[Matrix]) -> tuple[type[Matrix], ...]:
    """The formats to pass through from `source` to `target`, the target last; the shortest, by breadth-first search."""
    paths: list[tuple[type[Matrix], ...]] = [(step,) for origin, step in CONVERSIONS if origin is source]
    for path in paths:
        if path[-1] is target:
            return path
        paths += [(*path, step) for origin, step in CONVERSIONS if origin is path[-1] and step not in path]
    raise TypeError(f"no conversion leads from {source.__name__} to {target.__name__}")


def leads(source: type[Matrix], target: type[Matrix]) -> bool:
    """Is there a way from `source` to `target`?"""
    try:
        return source is target or bool(route(source, target))
    except TypeError:
        return False


def known_symmetric(A: Matrix) -> bool:
    """Has `orientation.is_symmetric` been asked of A's values, and found them so?"""
    base = A if A.major == 0 else A.T
    return base.keeps(("symmetric", False)) and base.keep(("symmetric", False), bool)


def compressed(A: Matrix, axis: int, *, inside: str = "algorithms") -> Any:
    """The entries of `A` by rows, as CSR (axis 0), or by columns, as CSC (axis 1): made once, and kept with `A`.

    inside: a package among whose calls nothing is said of a conversion between formats, see `warn_slow`.
    """
    base, of_base = (A, axis) if A.major == 0 else (A.T, 1 - axis)  # a matrix and its transpose keep one
    target: type[Matrix] = CSR if of_base == 0 else CSC
    if isinstance(base, target):
        made = base
    elif isinstance(base, CSR) and known_symmetric(base):
        made = base.T
    else:
        made = base.keep(target, lambda: _converted_aside(base, target, CSR if axis == 0 else CSC, inside))
    return made if base is A else made.T


def _converted_aside(A: Matrix, target: type[Matrix], asked: type[Matrix], inside: str) -> Matrix:
    """`A` in the compressed format that a product needs; says so if A is in a format of another kind.

    asked: the same format, as the caller sees A, whose transpose may be what is converted.
    """
    if not isinstance(A, CSR):
        warn_slow(
            f"this call converts a {type(A).__name__} of {A.nnz:,} entries to {asked.__name__} and keeps the copy with "
            f"the matrix; convert it yourself, once: A.to({asked.__name__})",
            A.nnz,
            inside=inside,
        )
    return convert(A, target)


# --- compressed <-> list ------------------------------------------------------------------------------------------


def compress(outer: Array, nmajor: int, index_type: np.dtype) -> Array:
    """indptr (nmajor + 1,) of the sorted indices `outer`."""
    xp = namespace(outer)
    if xp is not np and outer.size:
        return xp.searchsorted(outer, xp.arange(nmajor + 1, dtype=outer.dtype)).astype(index_type)
    indptr = xp.zeros(nmajor + 1, index_type)
    if outer.size:
        np.cumsum(np.bincount(outer, minlength=nmajor), out=indptr[1:])
    return indptr


def expand(indptr: Array) -> Array:
    """The inverse of `compress`: for each entry, its row (or column). On a GPU it waits for the device."""
    if isinstance(indptr, np.ndarray):
        return np.repeat(np.arange(indptr.size - 1, dtype=indptr.dtype), np.diff(indptr))
    xp, nnz = namespace(indptr), int(indptr[-1])
    if nnz == 0 or indptr.size == 2:
        return xp.zeros(nnz, indptr.dtype)
    starts = counts(indptr[1:-1], nnz + 1)[:nnz]  # how many rows but the first begin at each entry
    return xp.cumsum(starts, dtype=indptr.dtype)


def spread(values: Array, indptr: Array) -> Array:
    """For each entry, what `values` holds for its row (or column). On a GPU it waits for the device."""
    return np.repeat(values, np.diff(indptr)) if isinstance(values, np.ndarray) else values[expand(indptr)]


def list_to_rows(s: Sizes, *_: int) -> int:
    """Compressing what is sorted by row; what is sorted by column is turned."""
    if s.major == 0:
        return s.compress(0)
    return max(s.compress(1), (s.shape[1] + 1) * s.index + s.turn(0))


@conversion(CSR, COO, needs=lambda s, *_: s.expand(0))
def _(A: CSR) -> COO:
    return COO.trusted(expand(A.indptr), A.indices, A.values, A.shape, 0)


@conversion(CSC, COO, needs=lambda s, *_: max(s.turn(0), s.compressed(0) + s.expand(0)))
def _(A: CSC) -> Matrix:
    return convert(convert(A, CSR), COO)


@conversion(COO, CSR, needs=list_to_rows)
def _(A: COO) -> Matrix:
    indptr = compress(A.outer, A.shape[A.major], A.outer.dtype)
    if A.major == 1:
        return convert(CSC.trusted(indptr, A.inner, A.values, A.shape), CSR)
    return CSR.trusted(indptr, A.inner, A.values, A.shape)


@conversion(COO, CSC, needs=lambda s, *_: list_to_rows(s.T))
def _(A: COO) -> Matrix:
    return convert(A.T, CSR).T


@conversion(COO, COO, needs=lambda s, *_: max(list_to_rows(s), s.compressed(0) + s.expand(0)))
def _(A: COO) -> Matrix:
    """Sort by row what is sorted by column."""
    return convert(convert(A, CSR), COO)


# --- rows <-> columns ---------------------------------------------------------------------------------------------


@conversion(CSR, CSC, needs=lambda s, *_: s.turn(1))
def _(A: CSR) -> CSC:
    return CSC.trusted(*turn(A.indptr, A.indices, A.values, A.shape), A.shape)


@conversion(CSC, CSR, needs=lambda s, *_: s.turn(0))
def _(A: CSC) -> CSR:
    return CSR.trusted(*turn(A.indptr, A.indices, A.values, A.shape[::-1]), A.shape)


def turn(indptr: Array, indices: Array, values: Array, shape: tuple[int, int]) -> tuple[Array, Array, Array]:
    """(indptr, indices, values) of the other orientation, by SciPy's counting sort or a stable sort on the device."""
    if isinstance(values, np.ndarray):
        from scipy.sparse import csr_array

        turned = csr_array((np.ascontiguousarray(values), indices, indptr), shape=shape).tocsc()
        return tuple(part.astype(indices.dtype, copy=False) for part in (turned.indptr, turned.indices)) + (
            turned.data,
        )
    by_kernels = answer("turned on the GPU")
    if by_kernels is not None:
        return by_kernels(indptr, indices, values, shape[1])
    order = namespace(indices).argsort(indices, kind="stable")
    return compress(indices[order], shape[1], indices.dtype), expand(indptr)[order], values[order]


def turned(A: Matrix) -> CSR:
    """The transpose of the CSR `A`, by rows. Not by A.T: it and `A` form a cycle, which Python frees late."""
    assert isinstance(A, CSR)
    return CSR.trusted(*turn(A.indptr, A.indices, A.values, A.shape), A.shape[::-1])


# --- edges and dense arrays -----------------------------------------------------------------------------------------

_COMBINE = {"min": "minimum", "max": "maximum", "sum": "add"}


def from_edges(
    src: ArrayLike,
    dst: ArrayLike,
    weights: ArrayLike | None = None,
    *,
    shape: int | tuple[int, int] | None = None,
    dtype: DTypeLike | None = None,
    dup: str = "min",
) -> CSR:
    """The CSR with an entry for every edge src[e] -> dst[e].

    src, dst: (m,), integers.  weights: (m,), or None for int32 ones.  shape: n or (nrows, ncols), by default just large
    enough.  dup: "min", "max", "sum", "first", "last", or "error", for edges given more than once.
    ValueError names an index out of range, a NaN weight or arrays of unequal length.
    """
    check_dup(dup)
    rows, cols = as_array(src), as_array(dst)
    xp = namespace(rows)
    values = xp.ones(rows.size, supported_dtype(dtype or np.int32)) if weights is None else as_values(weights, dtype)
    if not (rows.ndim == cols.ndim == 1 and rows.size == cols.size == values.size):
        raise ValueError(f"src, dst and weights must be of one length, got {rows.size}, {cols.size} and {values.size}")
    same_device(rows, cols, values)
    if shape is None:
        for name, part in (("src", rows), ("dst", cols)):
            if part.size and part.dtype.kind not in "iu":
                raise TypeError(f"{name} must be integers, got dtype {part.dtype}")
        shape = 1 + max(int(rows.max()), int(cols.max()), 0) if rows.size else 0
    nrows, ncols = as_shape(shape)
    index_type = index_dtype(nrows, ncols, rows.size)
    rows, cols = as_indices(rows, "src", nrows, index_type), as_indices(cols, "dst", ncols, index_type)
    check_not_nan(values)
    rows, cols, values = _sort_and_combine(rows, cols, values, (nrows, ncols), dup)
    return CSR.trusted(compress(rows, nrows, index_type), cols, values, (nrows, ncols))


def check_dup(dup: str) -> None:
    """ValueError unless `dup` says how duplicate edges combine."""
    if dup not in (*_COMBINE, "first", "last", "error"):
        raise ValueError(f"dup must be one of {', '.join(_COMBINE)}, first, last, error; got {dup!r}")


def _sort_and_combine(
    rows: Array, cols: Array, values: Array, shape: tuple[int, int], dup: str, kind: Any = None
) -> tuple[Array, Array, Array]:
    """Entries by row, then by column, each position once. kind: of sort, "stable" where there are runs to merge."""
    xp = namespace(values)
    if shape[0] * shape[1] < 2**63:
        key = rows.astype(np.int64) * shape[1] + cols
        unsorted = bool((key[1:] < key[:-1]).any())
        order = xp.argsort(key, kind="stable" if dup in ("first", "last") else kind) if unsorted else None
        key = key if order is None else key.take(order)
        fresh = key[1:] != key[:-1]
    else:
        order = xp.lexsort(xp.stack((cols, rows)))
        fresh = (rows[order][1:] != rows[order][:-1]) | (cols[order][1:] != cols[order][:-1])
    if order is not None:
        rows, cols, values = rows.take(order), cols.take(order), values.take(order)
    if all_of(fresh):
        return rows, cols, values
    if dup == "error":
        at = int(fresh.argmin())
        raise ValueError(f"edge ({rows[at]}, {cols[at]}) is given more than once")
    first = xp.concatenate((xp.ones(1, bool), fresh))
    starts = xp.flatnonzero(first)
    if dup == "last":
        values = values[xp.concatenate((starts[1:], xp.array([values.size]))) - 1]
    else:
        values = values[starts] if dup == "first" else _combine(values, first, dup)
    return rows.take(starts), cols.take(starts), values


def _combine(values: Array, first: Array, dup: str) -> Array:
    """⊕ over each run of `values`, whose first ones are flagged; an integer sum that overflows is an OverflowError."""
    xp = namespace(values)
    at = xp.flatnonzero(~first)
    run = at - xp.arange(1, at.size + 1)  # of each repeat, its run: how many firsts came before it, less one
    if values.dtype == bool:  # which CuPy's minimum.at does not take
        return _combine(values.astype(np.int32), first, dup) != 0
    if xp is not np and values.dtype == np.float32 and dup != "sum":  # CuPy's atomics take subnormal numbers for zero
        return _as_float(_combine(_as_ordered(values), first, dup))
    combined, repeats = values[first], values[at]
    getattr(xp, _COMBINE[dup]).at(combined, run, repeats)
    if dup == "sum" and values.dtype.kind == "i":
        exact = values[first].astype(np.float64)
        xp.add.at(exact, run, repeats.astype(np.float64))
        if bool((abs(exact - combined) > 1 + 1e-9 * abs(exact)).any()):
            raise OverflowError(f"the sum of duplicate edges does not fit {values.dtype}; pass dtype='float64'")
    return combined


def _as_ordered(values: Array) -> Array:
    """Float32 as integers of the same order: the bits, of a negative number all but the sign turned round."""
    bits = values.view(np.int32)
    return bits ^ ((bits >> 31) & INT32_MAX)


def _as_float(ordered: Array) -> Array:
    """The inverse of `_as_ordered`."""
    return (ordered ^ ((ordered >> 31) & INT32_MAX)).view(np.float32)


def to_dense(A: Matrix, fill: Any) -> Array:
    """See `Matrix.to_dense`."""
    rows, cols, values = A.to_edges()
    dense = namespace(values).full(A.shape, fill, filled_dtype(A.dtype, fill))
    dense[rows, cols] = values
    return dense
