"""What CSR and CSC share: one check, one coercion and one look-up over (indptr, indices, values)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .arrays import (
    Array,
    as_array,
    as_values,
    check_not_nan,
    check_range,
    contiguous,
    counts,
    index_dtype,
    namespace,
    position_of,
    read_only,
    same_device,
)
from .base import as_shape

if TYPE_CHECKING:
    from .base import Matrix
    from .csc import CSC
    from .csr import CSR


def coerce_compressed(A: CSR | CSC) -> None:
    """Bring a user's components to arrays of the index type that the extents need, without copies where they fit."""
    shape = as_shape(A.shape)
    values = as_values(A.values)
    index_type = index_dtype(*shape, values.shape[0])
    coerced = {"shape": shape, "values": read_only(contiguous(values))}
    for name in ("indptr", "indices"):
        array = as_array(getattr(A, name))
        if array.ndim != 1:
            raise ValueError(f"{name} must be one-dimensional, got {array.ndim} dimensions")
        if array.dtype.kind not in "iu" and array.size:
            raise TypeError(f"{name} must be integers, got dtype {array.dtype}")
        if name == "indices":  # before narrowing, which would wrap
            check_range(array, name, shape[1 - A.major])
        coerced[name] = read_only(contiguous(array.astype(index_type, copy=False)))
    for name, component in coerced.items():
        object.__setattr__(A, name, component)


def check_compressed(A: CSR | CSC) -> None:
    """ValueError that names the first broken rule."""
    same_device(A.indptr, A.indices, A.values)
    axis, nmajor, nminor = ("row", *A.shape) if A.major == 0 else ("column", *A.shape[::-1])
    if A.indices.shape != A.values.shape:
        raise ValueError(f"indices and values must be of one length, got {A.indices.size} and {A.values.size}")
    check_indptr(A.indptr, A.nnz, nmajor, A.major)
    check_range(A.indices, "indices", nminor)
    broken = out_of_order_within(A.indptr, A.indices)
    if bool(broken.any()):
        at = int(broken.argmax())
        major = position_of(at, A.indptr, "right") - 1
        raise ValueError(
            f"indices must ascend in each {axis} without repetition, but {axis} {major} has "
            f"{A.indices[at]} before {A.indices[at + 1]}"
        )
    check_not_nan(A.values)


def check_indptr(indptr: Array, nnz: int, nmajor: int, major: int) -> None:
    """ValueError unless `indptr` cuts nnz entries into nmajor rows (major = 0) or columns (major = 1)."""
    check_starts("indptr", indptr, nnz, nmajor, "row" if major == 0 else "column")


def check_starts(name: str, starts: Array, total: int, count: int, part: str, of: str = "nnz") -> None:
    """ValueError, which names the array, unless `starts` cuts the `total` that `of` names into `count` `part`s."""
    if starts.shape != (count + 1,):
        raise ValueError(f"{name} must have {count + 1} elements, one more than there are {part}s, got {starts.size}")
    if int(starts[0]) != 0 or int(starts[-1]) != total:
        raise ValueError(f"{name} must run from 0 to {of} = {total}, got {starts[0]} to {starts[-1]}")
    descending = starts[1:] < starts[:-1]
    if bool(descending.any()):
        raise ValueError(f"{name} must not descend, but it does after {part} {int(descending.argmax())}")


def out_of_order_within(indptr: Array, indices: Array) -> Array:
    """For each entry but the last: does the next one of its row (or column) fail to come strictly after it?"""
    broken = indices[1:] <= indices[:-1]
    starts = indptr[1:-1]
    broken[starts[(starts > 0) & (starts < indices.size)] - 1] = False  # between two rows anything goes
    return broken


def lengths_compressed(A: CSR | CSC, axis: int) -> Array:
    """See `Matrix.lengths`."""
    return namespace(A.indptr).diff(A.indptr) if axis == A.major else counts(A.indices, A.shape[axis])


def compressed_nbytes(A: Matrix, axis: int) -> int:
    """Bytes of A compressed along an axis: 0 for CSR, 1 for CSC."""
    index_bytes = A._index_dtype.itemsize
    return (A.shape[axis] + 1) * index_bytes + A.nnz * (index_bytes + A.dtype.itemsize)


def lookup_compressed(A: CSR | CSC, major: int, minor: int) -> Any:
    """The stored value in the given row and column of the stored orientation, or None."""
    start, stop = int(A.indptr[major]), int(A.indptr[major + 1])
    segment = A.indices[start:stop]
    at = position_of(minor, segment)
    return A.values[start + at] if at < stop - start and int(segment[at]) == minor else None
