"""Partitioned: a matrix as strips of rows, each an ordinary matrix, held by one process or by many.

Every participant of a group holds one strip or several, one below the other, and knows where the others' begin. Vectors
are whole on each of them, so that a program reads as it does for one process:

    y = A x      each strip gives its rows of y, which are put one after the other
    y = x A      each strip takes its rows of x, and y is ⊕ over what they give

Only `to` another format, and what is named like it (`to_edges`, `to_dense`, …), bring the strips together. Whoever
calls a method that all participants have to answer says so: it is a step of the group, and all must call it.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce as fold
from typing import Any, NoReturn, TypeVar

import numpy as np

from ..arrays import (
    Array,
    all_of,
    brought,
    concatenated,
    contiguous,
    equals,
    index_dtype,
    is_array,
    namespace,
    starts_of,
)
from ..edges import Duplicates, from_edges, with_edges
from ..gpu import cupy
from ..hooks import SPREAD
from ..matrix.base import Matrix
from ..matrix.contract import as_shape
from ..matrix.convert import convert
from ..matrix.facts import LONGEST, SYMMETRIC, Fact
from ..matrix.routes import conversion
from ..places import Device, Place, find_place
from ..storage.compressed import CSR, index_types, spread, turned
from .group import ALONE, TIMEOUT, Communicator, Group, ParticipantError

T = TypeVar("T")

WORD, ALIGNED_FROM = 32, 1024
"""Rows to whose multiples strips are cut, where there are at least so many rows for each."""

LENGTHS: Fact[Array] = Fact("entries of each row, or of each column")
"""Given: the axis."""


@dataclass(frozen=True, eq=False, repr=False)
class Partitioned(Matrix, listed=False):
    """A matrix as strips of rows, which one process holds or many do; `partition` makes one.

    Args:
        parts: the strips that this process holds, in order.
        starts: the first row of every strip, and the number of rows.
        first: which of all strips is the first of `parts`.
        entries: how many entries every strip has.
        group: the processes.
        shape: n or (nrows, ncols).
        major: 0; 1 in a transpose, whose strips are of columns.

    Raises:
        ValueError: the first rule that the strips break.

    Example:
        >>> from formats import from_edges
        >>> P = partition(from_edges([0, 0, 1, 2], [1, 2, 2, 0], [5, 9, 3, 4]), parts=2)
        >>> P, [part.nnz for part in P.parts], P[0, 2].item(), P.to("csr").nnz
        (<Partitioned 3×3, 4 entries, int32, cpu, 2 parts>, [2, 2], 9, 4)
    """

    parts: tuple[Matrix, ...]
    starts: tuple[int, ...]
    first: int
    entries: tuple[int, ...]
    group: Group
    shape: tuple[int, int]
    major: int = 0

    in_parts = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", as_shape(self.shape))
        self.check()

    def check(self) -> None:
        nrows, ncols = self.shape if self.major == 0 else self.shape[::-1]
        if len(self.starts) != len(self.entries) + 1 or (self.starts[0], self.starts[-1]) != (0, nrows):
            raise ValueError(f"starts must run from 0 to {nrows} rows, one more than strips, got {self.starts}")
        for part, (start, stop) in zip(self.parts, self.rows, strict=True):
            if part.shape != (stop - start, ncols):
                raise ValueError(f"a strip of rows {start} to {stop} must be {stop - start} × {ncols}, got {part}")

    # --- what it is -----------------------------------------------------------------------------------------------

    @property
    def nnz(self) -> int:
        return sum(self.entries)

    @property
    def dtype(self) -> np.dtype:
        return self.parts[0].dtype

    @property
    def _index_dtype(self) -> np.dtype:
        return index_dtype(*self.shape, self.nnz)

    @property
    def stored_parts(self) -> tuple[Array, ...]:
        return tuple(array for part in self.parts for array in part.stored_parts)

    @property
    def kept_nbytes(self) -> int:
        return super().kept_nbytes + sum(part.kept_nbytes for part in self.parts)

    @property
    def options(self) -> dict[str, Partitioned]:
        return {"like": self}

    @classmethod
    def _check_options(cls, options: dict[str, Any]) -> None:
        for name in options:
            if name != "like":
                raise TypeError(f"{cls.__name__} has no option {name!r}: partition(A, …) says how it is cut")

    @classmethod
    def predicted_nbytes(cls, A: Matrix, **options: object) -> int:
        return CSR.predicted_nbytes(A)

    def _place_of(self, device: Device | Place) -> Place:
        """Gives each of several processes a GPU of its own for "cuda", if there are enough, and makes it current."""
        if device != "cuda" or self.group.size == 1:
            return super()._place_of(device)
        ordinal = self.group.number_here() % cupy().cuda.runtime.getDeviceCount()
        cupy().cuda.Device(ordinal).use()
        return find_place("cuda")

    def is_in(self, place: Place) -> bool:
        return all(part.is_in(place) for part in self.parts)

    @property
    def rows(self) -> list[tuple[int, int]]:
        """The first row of each strip of this process, and the first after it."""
        return self._mine(self.starts)

    def __repr__(self) -> str:
        where = f", rank {self.group.rank} of {self.group.size}" if self.group.size > 1 else ""
        return f"{super().__repr__()[:-1]}, {len(self.entries)} parts{where}>"

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError("a matrix in parts is not pickled, for other processes hold the rest: .to('csr') gathers it")

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_"):
            raise AttributeError(name)
        raise AttributeError(f"a Partitioned has no {name!r}, though its parts may: .to('csr') gathers them")

    def mapped(self, function: Callable[[Array], Array]) -> Partitioned:
        with self.group.guarded("values"):
            parts = tuple(there(part.place, part.mapped, function) for part in self.parts)
        same = all(new is old for new, old in zip(parts, self.parts, strict=True))
        return self if same else Partitioned.trusted(parts, *self.components[1:])

    def _transposed(self) -> Partitioned:
        *others, shape, major = self.components
        return Partitioned.trusted(*others, shape[::-1], 1 - major)

    def _lookup(self, row: int, col: int) -> Any:
        """A step of the group."""
        outer, inner = (row, col) if self.major == 0 else (col, row)
        found = np.empty(0, self.dtype)
        for part, (start, stop) in zip(self.parts, self.rows, strict=True):
            if start <= outer < stop and (value := part.get(outer - start, inner)) is not None:
                found = np.array([value.item()], self.dtype)
        [*others] = (each for each in self.group.everyone("an entry", found) if each.size)
        return others[0][0] if others else None

    def of_each(self, found: T) -> list[T]:
        return self.group.told("what each has found", found)

    def lengths(self, axis: int = 0) -> Array:
        """A step of the group."""
        return self.keep(LENGTHS, lambda: self._lengths(axis), axis)

    def _lengths(self, axis: int) -> Array:
        with self.group.guarded("lengths"):
            mine = [there(part.place, part.lengths, 0 if axis == self.major else 1) for part in self.parts]
            mine = [brought(lengths, self.place).astype(np.int64) for lengths in mine]
        if axis == self.major:
            return concatenated(self.group.everyone("lengths", concatenated(mine)))
        return fold(operator.add, self.group.everyone("lengths", fold(operator.add, mine)))

    def values_at(self, places: Array) -> Array:
        """The values of entries at places among all by rows, 0 at -1, of a matrix by rows. A step of the group."""
        found, ends = self.xp.zeros(places.shape, self.dtype), [0, *itertools.accumulate(self.entries)]
        with self.group.guarded("values"):
            for part, before in zip(self.parts, ends[self.first :], strict=False):
                own = self.xp.flatnonzero((places >= before) & (places < before + part.nnz))
                at, by_rows = brought(places[own] - before, part.place), there(part.place, convert, part, CSR)
                found[own] = brought(there(part.place, by_rows.values.__getitem__, at), self.place)
        several = self.group.everyone("values", found.view(np.uint8))
        return fold(operator.or_, several).view(self.dtype)

    def longest(self, axis: int = 0) -> int:
        return self.keep(LONGEST, lambda: max(self.lengths(axis).max().item(), 0) if self.shape[axis] else 0, axis)

    def equals(self, other: Matrix) -> bool:
        if not isinstance(other, Matrix) or (self.shape, self.dtype) != (other.shape, other.dtype):
            return False
        if self.major == 1:
            return self.T.equals(other.T)
        return all(self.of_each(all(map(Matrix.equals, self.parts, self.alike(other).parts))))

    def mirrored(self) -> tuple[bool, bool]:
        """(has every entry its reverse? of the same value?) of a square matrix. A step of the group."""
        rows = convert(self, Partitioned)
        positions = values = True
        for part, other in zip(rows.parts, convert(rows.T, Partitioned).parts, strict=True):
            own = there(part.place, mirrored, part, other)
            positions, values = positions and own[0], values and own[1]
        every = self.of_each((positions, values))
        return all(each[0] for each in every), all(each[1] for each in every)

    # --- others like it -------------------------------------------------------------------------------------------

    def with_parts(self, parts: Sequence[Matrix], ncols: int | None = None) -> Partitioned:
        """Other strips of the same rows. A step of the group."""
        shape = (self.starts[-1], parts[0].ncols if ncols is None else ncols)
        return assembled(self.group, parts, self.starts, self.first, shape)

    def permuted(self, new: Array | None, new_cols: Array | None) -> Partitioned:
        """The matrix with row v as row new[v], and columns likewise; None to leave them. A step of the group."""
        rows, cols, values = entries_of(convert(self, Partitioned))
        rows, cols = rows if new is None else new[rows], cols if new_cols is None else new_cols[cols]
        return self.from_entries(rows, cols, values, self.shape, "error")

    def with_edges(self, src: Array, dst: Array) -> Partitioned:
        """The pattern with more edges, which every participant has: one that is there changes nothing."""
        with self.group.guarded("edges"):
            parts = []
            for part, (start, stop) in zip(self.parts, self.rows, strict=True):
                inside = (src >= start) & (src < stop)
                more = [brought(x, part.place) for x in (src[inside] - start, dst[inside])]
                parts.append(there(part.place, with_edges, part, *more))
        return self.with_parts(parts)

    def cut(self, A: Matrix, starts: tuple[int, ...] | None = None) -> Partitioned:
        """A whole matrix, which every participant has, cut as this one: by the same rows, or as many. No step.

        starts: where its strips are to begin instead, and the number of its rows.
        """
        starts = self._cuts(A.nrows) if starts is None else starts
        by_row: Any = convert(A, CSR)
        own = zip(self._mine(starts), self.parts, strict=True)
        parts = [brought(strip_of(by_row, *each), part.place) for each, part in own]
        entries = entries_between(by_row.indptr, starts)
        return Partitioned.trusted(tuple(parts), starts, self.first, entries, self.group, A.shape, 0)

    def alike(self, A: Matrix, starts: tuple[int, ...] | None = None) -> Partitioned:
        """A matrix cut as `cut` does, also one in parts, whose entries go where they belong: in a step of the group."""
        if not isinstance(A, Partitioned):
            return self.cut(A, starts)
        starts = self._cuts(A.nrows) if starts is None else starts
        rows: Any = convert(A, Partitioned)
        if (rows.starts, rows.first, len(rows.parts)) == (starts, self.first, len(self.parts)):
            return rows
        if rows.group.size != self.group.size:
            if rows.group.size > 1:
                raise ValueError(
                    "one matrix is in parts of several processes, the other in parts of one: .to('csr') gathers"
                )
            return self.cut(convert(rows, CSR), starts)
        made = from_entries(self.group, starts, (self.first, len(self.parts)), entries_of(rows), A.shape, "error")
        parts = tuple(brought(part, own.place) for part, own in zip(made.parts, self.parts, strict=True))
        return Partitioned.trusted(parts, *made.components[1:])

    def _cuts(self, nrows: int) -> tuple[int, ...]:
        """Where strips of so many rows begin, and their number."""
        return self.starts if nrows == self.starts[-1] else evenly(nrows, len(self.entries))

    def _mine(self, starts: tuple[int, ...]) -> list[tuple[int, int]]:
        return list(itertools.pairwise(starts[self.first : self.first + len(self.parts) + 1]))

    def from_entries(
        self, rows: Array, cols: Array, values: Array, shape: tuple[int, int], dup: Duplicates
    ) -> Partitioned:
        """The matrix of the entries that the participants bring, cut as this one. A step of the group.

        dup: how those given more than once combine, as in `from_edges`.
        """
        return from_entries(
            self.group, self._cuts(shape[0]), (self.first, len(self.parts)), (rows, cols, values), shape, dup
        )


def from_entries(
    group: Group,
    starts: tuple[int, ...],
    mine: tuple[int, int],
    entries: tuple[Array, Array, Array],
    shape: tuple[int, int],
    dup: Duplicates,
) -> Partitioned:
    """The matrix of the entries that the participants bring, in strips that begin so. A step of the group.

    mine: (the first strip of this process, how many it has).  entries: rows, columns and values.
    """
    owners = np.cumsum([0, *group.told("strips", mine[1])])
    bounds = np.array(starts)[owners]
    with group.guarded("entries"):
        index, rows = index_dtype(*shape), entries[0]
        xp = namespace(rows)
        owner = xp.searchsorted(xp.asarray(bounds[1:-1]), rows, side="right")
        order = xp.argsort(owner, kind="stable")
        ends = xp.searchsorted(owner[order], xp.arange(group.size + 1)).tolist()
        columns = (rows.astype(index), entries[1].astype(index), contiguous(entries[2]))
        sent = [[x[order[a:b]] for a, b in itertools.pairwise(ends)] for x in columns]
    received = [concatenated(group.exchange("entries", pieces)) for pieces in sent]
    with group.guarded("entries"):
        own = itertools.pairwise(starts[mine[0] : sum(mine) + 1])
        parts = [_built(received, each, shape[1], dup) for each in own]
    return assembled(group, parts, starts, mine[0], shape)


def _built(entries: list[Array], bounds: tuple[int, int], ncols: int, dup: Any) -> CSR:
    """The strip of rows within the bounds."""
    (rows, cols, values), (start, stop) = entries, bounds
    at = namespace(rows).flatnonzero((rows >= start) & (rows < stop))
    return from_edges(rows[at] - start, cols[at], values[at], shape=(stop - start, ncols), dup=dup)


def assembled(
    group: Group, parts: Sequence[Matrix], starts: tuple[int, ...], first: int, shape: tuple[int, int]
) -> Partitioned:
    """The matrix of the strips that each participant brings. A step of the group."""
    entries = itertools.chain.from_iterable(group.told("strips", tuple(part.nnz for part in parts)))
    return Partitioned.trusted(tuple(parts), starts, first, tuple(entries), group, shape, 0)


# --- cutting --------------------------------------------------------------------------------------------------------


def partition(
    A: Matrix | None, comm: Communicator | None = None, *, parts: int | None = None, timeout: float = TIMEOUT
) -> Partitioned:
    """A matrix in strips of rows with about as many entries each: one for each process, or several in this one.

    Args:
        A: the same matrix on every process; or on rank 0 alone, and None on the others.
        comm: an mpi4py communicator, whose processes hold a strip each; None for this process alone.
        parts: how many strips this process holds, where there is no communicator.
        timeout: seconds that a process waits for the others in a step; then it ends with an error that names them.

    Returns:
        The matrix in parts. Its strips are of A's format.

    Raises:
        ValueError: there are no parts, or the time-out is not positive.
        TypeError: `comm` is no communicator, or both or neither of `comm` and `parts` are given.
        ParticipantError: the processes' matrices differ, or one does not come.

    Example:
        >>> from formats import from_edges
        >>> A = from_edges([0, 1, 2], [1, 2, 0], [5.0, 9.0, 3.0])
        >>> P = partition(A, parts=3)
        >>> P.starts, P.T.to_dense().tolist() == A.T.to_dense().tolist()
        ((0, 1, 2, 3), True)
    """
    if (comm is None) == (parts is None):
        raise TypeError("give either comm, an mpi4py communicator, or parts=, how many strips")
    if parts is not None and parts < 1:
        raise ValueError(f"parts must be at least 1, got {parts}")
    group = ALONE if comm is None else Group(comm, timeout)
    if group.size == 1 and A is None:
        raise TypeError("A must be a matrix, got None")
    check_versions(group)
    given = group.told("matrix", A is not None)
    if not all(given):
        return _scattered(A, group, given)
    assert A is not None
    with group.guarded("partition"):
        check_whole(A)
        sizes = (type(A).__name__, A.shape, str(A.dtype), A.nnz)
    group.agree("matrix", sizes)
    with group.guarded("partition"):
        by_row: Any = convert(A, CSR)
        arrays = (by_row.indptr, by_row.indices, by_row.values) if group.size > 1 else ()
        checksum = tuple(map(digest, arrays))
    group.agree("matrix's entries", checksum)
    with group.guarded("partition"):
        count = group.size if parts is None else parts
        starts = balanced(by_row.indptr, count)
        mine = range(count) if parts is not None else range(group.rank, group.rank + 1)
        strips = [_as(A, by_row, *starts[k : k + 2]) for k in mine]
    entries = entries_between(by_row.indptr, starts)
    return Partitioned.trusted(tuple(strips), starts, mine[0], entries, group, A.shape, 0)


def _as(A: Matrix, by_row: CSR, start: int, stop: int) -> Matrix:
    """Rows start … stop - 1 in A's format."""
    strip = strip_of(by_row, start, stop)
    return strip if isinstance(A, CSR) else convert(strip, type(A), **A.options)


@SPREAD.answered_by
def spread_over(A: Matrix, devices: Sequence[Device | Place]) -> Partitioned:
    """A in strips of about as many entries, one at each place, in this process: `A.to(device=[…])`.

    Strips begin at a multiple of 32 rows, so that no two of them share a word of a bitmap. ValueError for no places.
    """
    places = [find_place(device) for device in devices]
    if not places:
        raise ValueError("device=[…] must name at least one place, got none")
    if isinstance(A, Partitioned):
        if A.group.size > 1:
            raise ValueError("the strips of several processes move one by one: .to(device=…) with one place each")
        if [part.place for part in A.parts] == places:
            return A
    by_row: Any = there(A.place, convert, A, CSR)
    starts = there(A.place, balanced, by_row.indptr, len(places), WORD)
    like: Matrix = A.parts[0] if isinstance(A, Partitioned) else A
    parts = []
    for (start, stop), place in zip(itertools.pairwise(starts), places, strict=True):
        strip = there(A.place, _as, like, by_row, start, stop)
        if strip.place is place and not place.on_host and isinstance(strip, CSR):  # views would keep all of A
            strip = CSR.trusted(*(x.copy() if is_array(x) else x for x in strip.components))
        parts.append(brought(strip, place))
    entries = there(A.place, entries_between, by_row.indptr, starts)
    P = Partitioned.trusted(tuple(parts), starts, 0, entries, ALONE, A.shape, 0)
    for pattern in (False, True):
        if A.known(SYMMETRIC, pattern):
            P.keep(SYMMETRIC, lambda: True, pattern)
    return P


def _scattered(A: Matrix | None, group: Group, given: list[bool]) -> Partitioned:
    """The matrix that rank 0 alone has, in strips."""
    if not given[0] or any(given[1:]):
        with_one = [rank for rank, there in enumerate(given) if there]
        raise ParticipantError(f"a matrix is given on every rank or on rank 0 alone, got one on {with_one}")
    with group.guarded("partition"):
        by_row: Any = None if A is None else convert(check_whole(A), CSR)
        about = None if A is None else (balanced(by_row.indptr, group.size), A.shape, by_row.values.dtype.str)
    starts, shape, dtype = group.told("matrix", about)[0]  # type: ignore[misc]
    cuts: Any = [[np.empty(0, of)] * group.size for of in (np.int64, np.int64, dtype)]
    if A is not None:
        cuts = zip(*(_arrays(by_row, *rows) for rows in itertools.pairwise(starts)), strict=True)
    lengths, indices, values = (group.exchange("strips", list(pieces))[0] for pieces in cuts)
    with group.guarded("partition"):
        counting, index = index_dtype(*shape, values.size), index_dtype(*shape)
        strip = CSR.trusted(starts_of(lengths, counting), indices.astype(index), values, (lengths.size, shape[1]))
    return assembled(group, [strip], starts, group.rank, shape)


def _arrays(A: CSR, start: int, stop: int) -> tuple[Array, Array, Array]:
    """Returns (lengths, columns, values) of some rows."""
    first, last = int(A.indptr[start]), int(A.indptr[stop])
    lengths = np.diff(A.indptr[start : stop + 1]).astype(np.int64)
    return lengths, A.indices[first:last].astype(np.int64), np.ascontiguousarray(A.values[first:last])


def check_whole(A: Any) -> Matrix:
    """TypeError or ValueError for what cannot be cut."""
    if not isinstance(A, Matrix):
        raise TypeError(f"A must be a matrix, got {type(A).__name__}")
    if isinstance(A, Partitioned):
        raise TypeError("A is in parts already: .to('csr') gathers it")
    if not A.place.on_host:
        raise ValueError(f"A is on {A.device}: strips are cut on the host, so say .to(device='cpu') or .to(device=[…])")
    return A


def check_versions(group: Group) -> None:
    """ParticipantError if the processes run different versions of this package or of NumPy."""
    if group.size > 1:
        from importlib.metadata import PackageNotFoundError, version

        try:
            ours = version("semiring")
        except PackageNotFoundError:
            ours = "unknown"
        group.agree("version", (ours, np.__version__))


def digest(array: Array) -> str:
    """A checksum of an array's elements, taken piece by piece."""
    import hashlib

    total = hashlib.blake2b(digest_size=16)
    for start in range(0, array.size, 1 << 22):
        total.update(np.ascontiguousarray(array[start : start + (1 << 22)]).data)
    return total.hexdigest()


def balanced(indptr: Array, parts: int, unit: int | None = None) -> tuple[int, ...]:
    """Where strips of about as many entries begin, and the number of rows: a row counts like an entry, too.

    unit: they begin at its multiples; None: at those of WORD, if there are many rows. So does one without rows.
    """
    xp, n = namespace(indptr), indptr.size - 1
    unit = (WORD if n >= ALIGNED_FROM * parts else 1) if unit is None else unit
    work = indptr + xp.arange(n + 1)
    cuts = xp.searchsorted(work, xp.asarray([int(work[-1]) * k // parts for k in range(1, parts)])).tolist()
    return (0, *(min(-(-cut // unit), n // unit) * unit for cut in cuts), n)


def evenly(n: int, parts: int) -> tuple[int, ...]:
    """Where strips of as many rows begin, and n."""
    return tuple(n * k // parts for k in range(parts + 1))


def strip_of(A: CSR, start: int, stop: int) -> CSR:
    """Rows start … stop - 1 of `A`, which share its arrays where they can."""
    first, last = int(A.indptr[start]), int(A.indptr[stop])
    indptr = A.indptr[start : stop + 1] - A.indptr[start]
    shape = (stop - start, A.ncols)
    counting, columns = index_types(shape, last - first)
    indices = A.indices[first:last] if A.place.on_host else A.indices[first:last].astype(columns, copy=False)
    return CSR.trusted(indptr.astype(counting, copy=False), indices, A.values[first:last], shape)


def entries_between(indptr: Array, starts: tuple[int, ...]) -> tuple[int, ...]:
    """How many entries are in the rows between one start and the next."""
    ends = indptr[namespace(indptr).asarray(starts)].tolist()
    return tuple(stop - start for start, stop in itertools.pairwise(ends))


def there(place: Place, function: Callable[..., T], *args: Any) -> T:
    """Runs a function where a part is, and returns its result."""
    with place.scope():
        return function(*args)


def mirrored(A: Matrix, B: Matrix) -> tuple[bool, bool]:
    """Tells if two strips have the same positions, and the same values, too."""
    (u, v, a), (s, t, b) = A.to_edges(), B.to_edges()
    same = u.size == s.size and all_of(equals(u, s)) and all_of(equals(v, t))
    return same, same and all_of(equals(a, b))


# --- gathering, and turning -----------------------------------------------------------------------------------------


@conversion(Partitioned, CSR)
def _(A: Partitioned) -> Matrix:
    """Gather: every participant has the whole matrix then."""
    if A.major == 1:
        return turned(convert(A.T, CSR))
    group = A.group
    with group.guarded("gather"):
        listed: list[Any] = [there(part.place, convert, part, CSR) for part in A.parts]
        listed = [brought(part, A.place) for part in listed]
        lengths = concatenated([A.xp.diff(part.indptr).astype(np.int64) for part in listed])
        columns = concatenated([part.indices.astype(index_dtype(*A.shape), copy=False) for part in listed])
        values = concatenated([contiguous(part.values) for part in listed])
    lengths, columns, values = (concatenated(group.everyone("gather", x)) for x in (lengths, columns, values))
    counting, index = index_types(A.shape, A.nnz)
    return CSR.trusted(starts_of(lengths, counting), columns.astype(index, copy=False), values, A.shape)


@conversion(CSR, Partitioned)
def _(A: CSR, like: Partitioned | None = None) -> Partitioned:
    if like is None:
        raise TypeError("partition(A, …) makes a matrix in parts: it says of how many")
    return like.cut(A)


@conversion(Partitioned, Partitioned)
def _(A: Partitioned, like: Any = None) -> Partitioned:
    """By rows, what is by columns: each entry goes to the participant that has its row."""
    if A.major == 0:
        return A
    by_rows: Any = A.T
    if A.group.size == 1:
        return turned_here(by_rows)
    rows, cols, values = entries_of(by_rows)
    return by_rows.from_entries(cols, rows, values, A.shape, "error")


def entries_of(A: Partitioned) -> tuple[Array, Array, Array]:
    """Returns (rows, columns, values) of the strips of this process, by rows of the whole."""
    with A.group.guarded("entries"):
        listed: list[Any] = [
            (*(brought(x, A.place) for x in there(part.place, part.to_edges)), start)
            for part, (start, _) in zip(A.parts, A.rows, strict=True)
        ]
        rows = concatenated([u.astype(np.int64) + start for u, _, _, start in listed])
        return rows, concatenated([v for _, v, _, _ in listed]), concatenated([w for _, _, w, _ in listed])


def turned_here(A: Partitioned) -> Partitioned:
    """The transpose of a matrix by rows, whose strips are all in this process: in strips at the same places.

    Each strip is turned where it is. A strip of the transpose is then made of rows of all of them, side by side.
    """
    starts = A.starts if A.ncols == A.starts[-1] else evenly(A.ncols, len(A.entries))
    with A.group.guarded("entries"):
        turned_ones = [there(part.place, lambda part: turned(convert(part, CSR)), part) for part in A.parts]
        parts = []
        for part, bounds in zip(A.parts, itertools.pairwise(starts), strict=True):
            pieces = [there(each.place, strip_of, each, *bounds) for each in turned_ones]
            pieces = [brought(piece, part.place) for piece in pieces]
            parts.append(there(part.place, beside, pieces, [start for start, _ in A.rows], A.shape[0]))
    return assembled(A.group, parts, starts, 0, A.shape[::-1])


def beside(pieces: list[CSR], firsts: list[int], ncols: int) -> CSR:
    """Matrices of the same rows, whose columns come one after the other from `firsts` on, as one."""
    xp, shape = pieces[0].xp, (pieces[0].nrows, ncols)
    lengths = [xp.diff(piece.indptr).astype(np.int64) for piece in pieces]
    nnz = sum(piece.nnz for piece in pieces)
    counting, index = index_types(shape, nnz)
    ends = starts_of(fold(operator.add, lengths), counting)
    columns, values, taken = xp.empty(nnz, index), xp.empty(nnz, pieces[0].dtype), xp.zeros(shape[0], np.int64)
    for piece, own, first in zip(pieces, lengths, firsts, strict=True):
        if piece.nnz:
            at = spread(ends[:-1] + taken - piece.indptr[:-1], piece.indptr) + xp.arange(piece.nnz)
            columns[at], values[at] = piece.indices.astype(index) + index.type(first), piece.values
        taken += own
    return CSR.trusted(ends, columns, values, shape)
