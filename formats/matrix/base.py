"""Matrix: what every storage format has in common.

A matrix is an immutable value: a frozen dataclass over read-only arrays that all live on one device. Its public
constructor checks everything; `trusted` builds one from arrays that are already known to be good. An entry that is
not stored is *absent*; a stored 0 is an entry like any other.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Self, SupportsIndex, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from ..arrays import (
    Array,
    DenseRows,
    Scalar,
    all_of,
    as_array,
    as_values,
    cast,
    check_not_nan,
    contiguous,
    equals,
    has_dtype,
    move,
    narrowed,
    same_place,
)
from ..hooks import CHOICE, SPREAD
from ..places import Device, Place, at_home, find_place, made_at_home, work_at_home
from .contract import Storage
from .convert import convert, to_cupyx, to_dense, to_edges, to_graphblas, to_networkx, to_scipy
from .facts import LONGEST
from .footprint import Footprint, footprint
from .notation import Default, Notation, is_integer
from .placing import Resident, placed
from .spy import matrix_html, small_grid

if TYPE_CHECKING:
    import cupyx.scipy.sparse
    import graphblas
    import networkx
    import scipy.sparse


F = TypeVar("F", bound="Matrix")

WHERE_IT_IS = {"astype", "lengths", "mapped", "nnz", "pattern", "revalued", "stored", "to_edges"}
"""A decorator for what runs on the matrix's own GPU, also where a format has its own."""


class Matrix(Notation["Matrix"], Storage):
    """Base of the storage formats. `A[u, v]` is the weight of the edge u -> v.

    Formats declare their arrays and `shape` as dataclass fields.

    Example:
        >>> from formats import from_edges
        >>> A = from_edges([0, 0, 1], [1, 2, 2], [5.0, 9.0, 3.0])
        >>> A.shape, A.nnz, A[0, 2].item(), A.T[2, 0].item()
        ((3, 3), 3, 9.0, 9.0)
        >>> A[0, :].values.tolist(), A[[0, 1], 1:].nnz
        ([5.0, 9.0], 3)
        >>> "csr" in Matrix.formats, Matrix.formats["ell"].__name__
        (True, 'ELL')
    """

    def __init_subclass__(cls, listed: bool = True, **options: Any) -> None:
        """Registers a format. listed: `to` finds it by its name."""
        super().__init_subclass__(**options)
        if "__post_init__" in cls.__dict__:
            cls.__post_init__ = made_at_home(cls.__dict__["__post_init__"])  # type: ignore[attr-defined]
        work_at_home(cls, WHERE_IT_IS)
        if listed and not cls.__name__.startswith("_"):
            Matrix.formats[cls.__name__.lower()] = cls

    # --- what the user asks ---------------------------------------------------------------------------------------

    @property
    def T(self) -> Matrix:
        """The transpose, sharing every array with `self`; `A.T.T is A`."""
        twin = self.__dict__.get("_twin")
        if twin is None:
            twin = self._transposed()
            object.__setattr__(self, "_twin", twin)
            object.__setattr__(twin, "_twin", self)
        return twin

    @overload
    def to(
        self,
        fmt: None = None,
        *,
        device: Device | Place | None = None,
        resident: Resident | None = None,
        **options: Any,
    ) -> Self: ...
    @overload
    def to(
        self, fmt: type[F], *, device: Device | Place | None = None, resident: Resident | None = None, **options: Any
    ) -> F: ...
    @overload
    def to(
        self,
        fmt: type[Matrix] | str | None,
        *,
        device: Device | Place | None = None,
        resident: Resident | None = None,
        **options: Any,
    ) -> Matrix: ...
    @at_home
    def to(
        self,
        fmt: type[Matrix] | str | None = None,
        *,
        device: Device | Place | None = None,
        resident: Resident | None = None,
        **options: Any,
    ) -> Any:
        """The same matrix in another format, on another device, or both; `self` where nothing changes.

        fmt: a format or its lower-case name; or "auto", which is the one in which so many `calls` of a `verb` take the
        least time, as `semiring.choose` finds it, whose options it takes.  options: the target format's own,
        `force=True` of ELL, SELL, CSB and Dense, `chunk=` and `window=` of SELL, `segment=` of SegmentedCOO, `block=`
        of CSB, `fill=` of Dense.
        device: "cpu", "cuda" for the current GPU, "cuda:1" for one by its number, or a `Place`; or a list of them, such
        as ["cuda:0", "cuda:1"], over which rows are spread, see `Partitioned`.
        resident: how much of the matrix a GPU's memory is to hold: bytes, "4GiB", a share such as 0.5, or "auto", what
        fits beside the vectors of an algorithm. The rest stays in pinned host memory, and crosses the bus when it is
        read; a format is converted before. None: all of it.
        OutOfDeviceMemory or OutOfHostMemory, with the figures, before any work that is predicted not to fit;
        DeviceUnavailable if there is no GPU.
        """
        if resident is not None:
            made = self.to(fmt, **options) if fmt is not None or options else self
            return placed(made, resident, made.place if device is None else find_place(device))
        if isinstance(device, list | tuple):
            made = self if fmt is None and not options else self.to(fmt, **options)
            return SPREAD.ask(made, device)
        moved = self
        if device is not None and not self.is_in(place := self._place_of(device)):
            moved = type(self).trusted(*move(self.components, place, self))
        if fmt == "auto":
            return CHOICE.ask(moved, options)
        if fmt is None and not options:
            return moved
        return convert(moved, find_format(type(self) if fmt is None else fmt), **options)

    @at_home
    def astype(self, dtype: DTypeLike) -> Self:
        """The same matrix with values of `dtype`; a value that cannot be kept is a ValueError."""
        return self.mapped(lambda values: cast(values, dtype))

    @at_home
    def pattern(self) -> Self:
        """The unweighted view: the same entries, every value True, all of them one byte of memory."""
        xp = self.xp
        return self.mapped(lambda values: xp.broadcast_to(xp.ones(1, bool), values.shape))

    def mapped(self, function: Callable[[Array], Array]) -> Self:
        """The same entries, with the values that a function of arrays makes of theirs, which are trusted.

        A format without a field `values` says itself which arrays the function is for.
        """
        return self.revalued(function(self.values))

    @at_home
    def with_values(self, values: ArrayLike | Array) -> Self:
        """The same pattern with other values, of the shape of `self.values`.

        values: numbers of any dtype that the package holds, or that it widens to one, on the matrix's device.
        ValueError for another shape or device, or NaN; TypeError for what is no number.
        """
        if values is self.values:
            return self
        given = as_array(values)
        if given.shape != self.values.shape:
            raise ValueError(f"values must have the shape {self.values.shape} of those there are, got {given.shape}")
        same_place(self.values, given)
        whole = as_values(given.reshape(-1) if has_dtype(values) else narrowed(given.reshape(-1)))
        if 0 not in given.strides:
            whole = contiguous(whole)
        made = self.revalued(whole.reshape(given.shape))
        check_not_nan(made.stored)
        return made

    def revalued(self, values: Array) -> Self:
        """The same pattern with other values, which are trusted."""
        if values is self.values:
            return self
        parts = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        return type(self).trusted(*(parts | {"values": values}).values())

    @overload
    def get(self, u: SupportsIndex, v: SupportsIndex) -> np.number | None: ...
    @overload
    def get(self, u: SupportsIndex, v: SupportsIndex, default: Default) -> np.number | Default: ...
    @at_home
    def get(self, u: SupportsIndex, v: SupportsIndex, default: Any = None) -> Any:
        """The stored value at (u, v), or `default` if that entry is absent."""
        row, col = self._position((u, v))
        found = self._lookup(row, col) if self.nnz else None
        return default if found is None else found[()]

    def __contains__(self, position: tuple[SupportsIndex, SupportsIndex]) -> bool:
        return self.get(*self._position(position)) is not None

    @at_home
    def to_edges(self) -> tuple[Array, Array, Array]:
        """Returns (rows, cols, values) of all entries, sorted by row, then by column, whatever the format."""
        return to_edges(self)

    @at_home
    def to_dense(self, fill: Scalar = 0) -> DenseRows:
        """The (nrows, ncols) array with `fill` at absent positions; its dtype also holds `fill`."""
        return to_dense(self, fill)

    def to_scipy(self) -> scipy.sparse.sparray:
        """A SciPy sparse array: csr, csc or coo for ours, csr for the rest; shares memory where it can."""
        return to_scipy(self)

    def to_cupyx(self) -> cupyx.scipy.sparse.spmatrix:
        """A CuPy sparse matrix on the same GPU: csr, csc or coo for ours, csr for the rest; shares memory.

        ValueError if the matrix is on the CPU, TypeError for integers, which CuPy's sparse matrices cannot hold.
        """
        return to_cupyx(self)

    def to_networkx(self, labels: Sequence[Hashable] | Array | None = None) -> networkx.DiGraph:
        """A DiGraph with an edge `weight`; node v is named `labels[v]`, or v."""
        return to_networkx(self, labels)

    def to_graphblas(self) -> graphblas.Matrix:
        """A python-graphblas Matrix of its own memory."""
        return to_graphblas(self)

    @at_home
    def equals(self, other: Matrix) -> bool:
        """Same shape, dtype and entries, whatever the formats; False of what is no matrix."""
        if not isinstance(other, Matrix):
            return False
        if self.shape != other.shape or self.dtype != other.dtype or self.nnz != other.nnz:
            return False
        return all(all_of(equals(a, b)) for a, b in zip(self.to_edges(), other.to_edges(), strict=True))

    def check(self) -> None:
        """ValueError that names the first broken rule of the format. The public constructor calls it."""
        raise NotImplementedError

    def __repr__(self) -> str:
        name = type(self).__name__ + (".T" if self.major != getattr(type(self), "major", 0) else "")
        share = "" if self.all_resident else f", {self.resident / self.nbytes:.0%} resident"
        return f"<{name} {self.nrows}×{self.ncols}, {self.nnz} entries, {self.dtype}, {self.device}{share}>"

    @at_home
    def __str__(self) -> str:
        """Shows what `repr` says and, if rows and columns are few, the values in their places."""
        return f"{self!r}\n{small_grid(self)}".rstrip()

    @at_home
    def _repr_html_(self) -> str:
        return matrix_html(self)

    # --- how large, and which format ------------------------------------------------------------------------------

    @at_home
    def lengths(self, axis: int = 0) -> Array:
        """Counts the entries of each row, (nrows,); axis=1: of each column, (ncols,)."""
        made = self.to(("csr", "csc")[axis])
        return self.xp.diff(made.indptr)  # type: ignore[attr-defined]

    @at_home
    def longest(self, axis: int = 0) -> int:
        """Entries of the longest row, or column (axis=1): found once, and kept."""

        def find() -> int:
            lengths = self.lengths(axis)
            return int(lengths.max()) if lengths.size else 0

        return self.keep(LONGEST, find, axis)

    @at_home
    def footprint(
        self,
        fmt: type[Matrix] | str | None = None,
        *,
        verb: str | None = None,
        algorithm: str | None = None,
        columns: int | None = None,
        sources: int | None = None,
        device: Device | Place | None = None,
        resident: Resident | None = None,
        **options: Any,
    ) -> Footprint:
        """The bytes that the matrix takes in a format, that conversion and work on it take, and what there is.

        fmt: a format or its lower-case name, by default the matrix's own.  verb, algorithm: by name, such as "mxv" and
        "bfs"; then the vectors and what is kept beside them count.  columns: of the dense operand of "mxm".  sources:
        of an algorithm, how many, with parents.  device: by default the matrix's own.  resident: as for `to`.  options:
        the format's own. Nothing is converted or moved.
        """
        work = {"verb": verb, "algorithm": algorithm, "columns": columns, "sources": sources}
        return footprint(self, find_format(fmt or type(self)), device or self.place, work, options, resident)

    # --- what formats provide -------------------------------------------------------------------------------------

    def coordinates(self) -> tuple[Array, Array, Array | None] | None:
        """Returns (majors, minors, there), each of the shape of `self.values`.

        None for a format that cannot list its places.

        majors, minors: of each place, its row and its column; the column first where columns lie together.  there:
        which places hold an entry; None where all do.
        """
        return None

    def keeping(self, keep: Array) -> Matrix:
        """The entries at the places that are flagged, in the same format: for one that lists its `coordinates`."""
        raise NotImplementedError

    def _transposed(self) -> Matrix:
        raise NotImplementedError

    def _lookup(self, row: int, col: int) -> Any:
        """The stored value at a position inside the matrix as a zero-dimensional array, or None."""
        raise NotImplementedError

    def overwrite(self, other: Matrix) -> None:
        """Become `other`, of the same format. The one way a matrix changes: being a verb's `out`."""
        twin = self.__dict__.pop("_twin", None)
        self.__dict__.pop("_kept", None)
        for field in fields(self):  # type: ignore[arg-type]
            object.__setattr__(self, field.name, getattr(other, field.name))
        if twin is not None:  # somebody may hold the transpose: it follows
            twin.__dict__.pop("_kept", None)
            twin.__dict__.update(dict(zip((f.name for f in fields(twin)), self._transposed().components, strict=True)))
            object.__setattr__(self, "_twin", twin)

    def _position(self, position: tuple[SupportsIndex, SupportsIndex]) -> tuple[int, int]:
        if not isinstance(position, tuple) or len(position) != 2 or not all(map(is_integer, position)):
            raise TypeError(f"an entry is at (u, v), two integers, got {position!r}")
        row, col = map(operator.index, position)
        for i, extent, axis in ((row, self.nrows, "row"), (col, self.ncols, "column")):
            if not 0 <= i < extent:
                raise IndexError(f"{axis} must be in [0, {extent}), got {i}")
        return row, col


def find_format(fmt: type[Matrix] | str) -> type[Matrix]:
    """The format given by class or by lower-case name; ValueError lists the names, TypeError for what is neither."""
    if isinstance(fmt, str):
        if fmt.lower() not in Matrix.formats:
            raise ValueError(f"unknown format {fmt!r}; there are {', '.join(sorted(Matrix.formats))}")
        return Matrix.formats[fmt.lower()]
    if not (isinstance(fmt, type) and issubclass(fmt, Matrix)):
        raise TypeError(f"a format is a class or its name, one of {', '.join(sorted(Matrix.formats))}, got {fmt!r}")
    return fmt
