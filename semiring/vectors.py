"""Small functions on vectors that algorithms are written with; each works on any device and costs no hidden copy."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from formats import COO, CSR, Matrix, SparseVector, host_pool
from formats.arrays import Array, all_of, index_dtype, namespace
from formats.matrix.facts import LONGEST, PATTERN, Fact

from .algebra.ops import OPERATORS
from .algebra.semirings import Semiring, end_of_range
from .verbs.checks import as_vertex
from .verbs.masks import VectorWrite
from .verbs.verbs import mxv

VectorLike = Array | SparseVector


ROUNDING = {"float32": 2.0**-24, "float64": 2.0**-53}
"""By how much a sum of two floats may be off, relative to it."""

DEGREES: Fact[Array] = Fact("entries of each row")


def unit(A: Matrix, source: int, semiring: Semiring, name: str = "source") -> SparseVector:
    """e_s: the unit of ⊗ at `source`, absent elsewhere.

    Of A's dtype, or bool for a Boolean semiring. ValueError for a matrix that is not square or a source outside it.
    """
    s = as_vertex(A, source, name)
    dtype = A.dtype if A.dtype in semiring.dtypes else semiring.dtypes[0]
    xp = A.xp
    return SparseVector.trusted(xp.array([s], index_dtype(A.nrows)), xp.array([semiring.unit(dtype)], dtype), A.nrows)


def densified(v: SparseVector, semiring: Semiring) -> Array:
    """The vector as a dense array, absent entries as the semiring's zero."""
    return v.to_dense(semiring.zero(v.dtype))


def one_hot(A: Matrix, vertex: int) -> SparseVector:
    """The Boolean vector that is true at one vertex of A."""
    xp = A.xp
    return SparseVector.trusted(xp.array([vertex], index_dtype(A.nrows)), xp.ones(1, bool), A.nrows)


def all_vertices(A: Matrix) -> Array:
    """The dense vector 0, 1, …, n-1."""
    return A.xp.arange(A.nrows, dtype=index_dtype(A.nrows))


def nonzero(v: VectorLike) -> SparseVector:
    """The indices of a sparse vector's entries, or at which a Boolean vector is true, each with itself as its value."""
    return indices(v.indices if isinstance(v, SparseVector) else _true(v), int(v.size))


def indices(i: Array, size: int) -> SparseVector:
    """The sparse vector with these ascending indices, each with itself as its value."""
    return SparseVector.trusted(i, i, size)


def masked(x: Array, mask: VectorLike) -> SparseVector:
    """x⟨mask⟩: the elements of a dense vector where a sparse one has entries, or a Boolean one is true."""
    i = mask.indices if isinstance(mask, SparseVector) else _true(mask)
    return SparseVector.trusted(i, x.take(i), int(x.size))


def _true(flags: Array) -> Array:
    return namespace(flags).flatnonzero(flags).astype(index_dtype(flags.size))


def ones(v: SparseVector, dtype: Any = np.int64) -> SparseVector:
    """The entries of `v`, each of them 1, in the integers that `degrees` counts in, or true."""
    return SparseVector.trusted(v.indices, v.place.xp.ones(v.nnz, dtype), v.size)


def gather(x: Array, at: VectorLike) -> Array:
    """x∘at: the elements of a dense vector at these indices, where Booleans are true, or where `at` has entries."""
    if isinstance(at, SparseVector):
        return x.take(at.indices)
    return x[at] if at.dtype == np.bool_ else x.take(at)


def element(x: Array, i: int) -> Any:
    """x_i of a dense vector as a Python number. Waits for the device."""
    return x[i].item()


def scatter(out: Array, at: VectorLike, value: Any = None) -> None:
    """out⟨at⟩ = at, or a value: as `assign(out, …, mask=at)`, but for algorithms, unchecked and at its entries' cost.

    at: sparse, a Boolean vector, which is true at the places, or indices, which may repeat.  value: a scalar; or of a
    sparse vector, one for each entry; of a Boolean one, a dense vector.
    """
    if isinstance(at, SparseVector):
        out[at.indices] = at.values if value is None else value
    elif getattr(value, "ndim", 0):
        namespace(out).copyto(out, value, where=at)
    else:
        out[at] = value


def scatter_sub(counts: Array, v: SparseVector) -> None:
    """counts⟨v⟩ = counts - v."""
    counts[v.indices] -= v.values


def scatter_add(x: Array, v: SparseVector) -> None:
    """x⟨v⟩ = x + v."""
    x[v.indices] += v.values


def nvals(v: VectorLike) -> int:
    """How many entries a sparse vector has, or how many are true in a Boolean one. Waits for the device."""
    return v.nnz if isinstance(v, SparseVector) else int(namespace(v).count_nonzero(v))


def arange(like: Array, count: int) -> Array:
    """The dense vector 0, 1, …, count-1 of the integers of `like`, on its device."""
    return namespace(like).arange(count, dtype=like.dtype)


def full(like: Array, fill: Any, dtype: Any) -> Array:
    """A dense vector of `fill` with the length and on the device of `like`."""
    return namespace(like).full(like.shape, fill, dtype)


def either(flags: Array, x: Any, y: Any) -> Array:
    """x where a Boolean array is true, y elsewhere."""
    return namespace(flags).where(flags, x, y)


def shares(x: Array) -> Array:
    """1 ⊘ x of floats, 0 where x is 0."""
    there = x != 0
    y = x + ~there
    with np.errstate(over="ignore"):  # of the smallest numbers it is infinite
        return namespace(x).divide(there, y, out=y)


def saturated_sum(x: Array, y: Any) -> Array:
    """x + y, which ends at the end of the integers' range, or at infinity."""
    with np.errstate(over="ignore"):
        return OPERATORS["plus"](x, y)


def row_sums(x: Array, what: str) -> Array:
    """Σ over each row, in float64. OverflowError that says what it is if one does not fit. Waits for the device."""
    with np.errstate(over="ignore"):
        y = x.sum(axis=1, dtype=np.float64)
    if not all_of(abs(y) < math.inf):
        raise OverflowError(f"{what} does not fit float64")
    return y


def is_empty(v: SparseVector) -> bool:
    """True if `v` has no entries. Waits for the device."""
    return v.nnz == 0


def at_the_end(value: Any, semiring: Semiring) -> bool:
    """True if `value` is the best of its dtype in ⊕'s order, where a ⊗ that kept improving has stopped."""
    best = {"highest": "lowest", "lowest": "highest"}.get(semiring.add.identity)  # type: ignore[arg-type]
    return best is not None and value == end_of_range(value.dtype, best)


def present(x: VectorLike, semiring: Semiring) -> SparseVector:
    """The entries of a vector that are not the semiring's zero; a sparse vector itself."""
    if isinstance(x, SparseVector):
        return x
    return SparseVector.from_dense(x, semiring.zero(x.dtype))


def hashed(x: Array, seed: int) -> Array:
    """A pseudo-random int64 in [0, 2^63) for each integer of `x`, by splitmix64 [1]: the same on every device.

    [1] G. L. Steele, D. Lea, C. H. Flood, Fast Splittable Pseudorandom Number Generators, OOPSLA 2014.
    """
    u = np.uint64
    z = (x.astype(u) + u(seed % 2**64)) * u(0x9E3779B97F4A7C15)
    z = (z ^ (z >> u(30))) * u(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> u(27))) * u(0x94D049BB133111EB)
    return ((z ^ (z >> u(31))) >> u(1)).astype(np.int64)


def excluded(A: Matrix, mask: VectorLike | None, complement: bool) -> Array:
    """A Boolean vector, to be written to, of the rows of `A` that a mask leaves out; see `masks`."""
    write = VectorWrite.checked(A.nrows, np.dtype(bool), False, A.place, {"mask": mask, "complement": complement})
    allowed = write.allowed
    return full(all_vertices(A), False, bool) if allowed is None else ~allowed


def unweighted(A: Matrix) -> Matrix:
    """`A` without its values: every entry is true. Made once; no value is copied."""
    return A.keep(PATTERN, A.pattern)


def membership(group: Array, groups: int) -> Matrix:
    """The matrix with an entry (v, group[v]) for each v, of which vxm(x, ·, s) is ⊕ over the members of each group.

    group: (n,) integers in [0, groups).  Returns (n, groups), True where there is an entry.
    """
    xp, n = namespace(group), int(group.size)
    members = xp.arange(n, dtype=group.dtype)
    return COO.trusted(members, group, xp.broadcast_to(xp.ones(1, bool), n), (n, groups), 0)


def roots(parent: Array) -> Array:
    """The root of each vertex's tree, where a root is its own parent: p = p∘p until nothing changes.

    parent: (n,) integers in [0, n), without cycles.  ⌈log₂ depth⌉ + 1 steps; each waits for the device.
    """
    while True:
        grand = parent.take(parent)  # p' = p∘p
        if all_of(grand == parent):
            return parent
        parent = grand


def renumbered(group: Array) -> tuple[Array, int]:
    """Numbers groups, which are named by one of their members, 0 … k-1 by ascending names: (each one's number, k)."""
    xp = namespace(group)
    ids = xp.arange(group.size, dtype=group.dtype)
    names, number = xp.flatnonzero(group == ids), xp.empty_like(group)
    number[names] = ids[: names.size]
    return number.take(group), int(names.size)


def with_root(parent: Array) -> Array:
    """Parents of n + 1 vertices: vertex n is the parent of all that had none (-1), and of itself."""
    xp, n = namespace(parent), parent.size
    rooted = xp.full(n + 1, n, parent.dtype)
    rooted[:n] = xp.where(parent < 0, n, parent)
    return rooted


def first_entry(v: SparseVector) -> SparseVector:
    """`v` with the first of its entries alone."""
    return SparseVector.trusted(v.indices[:1], v.values[:1], v.size)


def as_bound(limit: Any, dtype: np.dtype, semiring: Semiring, name: str = "limit") -> Any:
    """A distance given by the user as a scalar of `dtype`: as a float holds it, of integers the worst one within it.

    ValueError for NaN, TypeError for what is no number; both name the argument.
    """
    value = limit.item() if hasattr(limit, "dtype") and getattr(limit, "ndim", 0) == 0 else limit
    if not isinstance(value, int | float):
        raise TypeError(f"{name} must be a number, got {value!r}")
    if value != value:
        raise ValueError(f"{name} must be a number, got NaN")
    if dtype.kind == "b":
        return dtype.type(value)
    if dtype.kind == "f":
        beyond = isinstance(value, int) and abs(value) > int(np.finfo(np.float64).max)
        with np.errstate(over="ignore"):
            return dtype.type((math.inf if value > 0 else -math.inf) if beyond else value)
    low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    if not low <= value <= high:
        return dtype.type(high if value > high else low)
    worse_above = bool(semiring.better(dtype.type(0), dtype.type(1)))
    return dtype.type(math.floor(value) if worse_above else math.ceil(value))


def empty_rows(A: Matrix, count: int, what: str, *dtypes: Any) -> tuple[Any, ...]:
    """Arrays of `count` rows of A's extent, of each dtype one, None of None; refused if they do not fit."""
    each = sum(np.dtype(dtype).itemsize for dtype in dtypes if dtype is not None)
    A.place.check_room(f"{what} from {count:,} sources, for its answer alone,", count * A.nrows * each)
    empty = host_pool.empty if A.place.on_host else A.xp.empty
    return tuple(None if dtype is None else empty((count, A.nrows), dtype) for dtype in dtypes)


def fill(rows: Iterable[Any], values: Iterable[Any]) -> None:
    """Every element of each array = an array that it has room for, or a row of it; None is passed over."""
    for row, value in zip(rows, values, strict=True):
        if row is not None:
            row[...] = value


def block(D: Array, rows: range, columns: range) -> Array:
    """A part of an array of two dimensions, which shares its memory."""
    return D[rows.start : rows.stop, columns.start : columns.stop]


def fill_diagonal(D: Array, x: Any) -> None:
    """d_ii = x, or x_i."""
    i = namespace(D).arange(D.shape[0])
    D[i, i] = x


def degrees(A: Matrix) -> Array:
    """The number of entries in each row of `A`, counted once."""
    return A.keep(DEGREES, lambda: _row_lengths(A))


def _row_lengths(A: Matrix) -> Array:
    ends = A.line_ends if A.major == 0 else None
    if ends is not None:
        return A.xp.diff(ends).astype(np.int64, copy=False)
    pattern = A.pattern()
    lengths = mxv(pattern, A.xp.ones(A.ncols, np.int64), "plus_pair")
    pattern.forget()
    return lengths


def longest_row(A: Matrix) -> int:
    """The largest number of entries in a row of `A`, found once."""
    return A.keep(LONGEST, lambda: _longest_row(A), 0)


def _longest_row(A: Matrix) -> int:
    if A.nrows == 0:
        return 0
    if not isinstance(A, CSR) or A.place.on_host:
        return int(degrees(A).max())
    from .cuda.statistics import longest_row as by_kernel

    return by_kernel(A.indptr, A.dtype)
