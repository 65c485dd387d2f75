"""Storage: what every storage format provides, and what is kept with a matrix.

Formats derive from `Matrix`, which adds what users ask. Conversions and the prediction of memory know this part alone.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import fields
from functools import cache, cached_property
from typing import Any, ClassVar, Self, TypeAlias, TypeVar

import numpy as np

from ..arrays import Array, contiguous, held, index_dtype, is_array, is_mapped, move, read_only
from ..places import HOST, Device, Place, find_place, place_of
from ..resident import elsewhere
from .facts import ON_DISK, Fact

T = TypeVar("T")
Shape: TypeAlias = int | tuple[int, int]


INSIDE = frozenset(
    ("arrays", "components", "coordinates", "forget", "forget_kept", "formats", "keep", "keeping")
    + (
        "keeps",
        "known",
        "in_parts",
        "is_in",
        "line_ends",
        "mapped",
        "of_each",
        "options",
        "overwrite",
        "own_options",
        "revalued",
    )
    + ("all_resident", "predicted_nbytes", "stored")
    + ("stored_parts", "streams", "take", "trusted")
)
"""Names for formats and backends, which `dir` leaves out."""


class Storage:
    """The arrays and numbers that a matrix is stored as: dataclass fields, some of them arrays of one device.

    `major` is the axis along which entries are grouped: 0 where a row's entries lie together, 1 where a column's do.
    """

    formats: ClassVar[dict[str, type[Any]]] = {}
    """Every format by its lower-case name."""

    in_parts: ClassVar[bool] = False
    """True if a matrix of this kind lies in parts, some of them perhaps with other processes. See `formats.parts`."""

    values: Array
    shape: tuple[int, int]
    major: int

    @classmethod
    def trusted(cls, *components: Any) -> Self:
        """A matrix from components in field order that are known to be valid: no check, no copy."""
        self = object.__new__(cls)
        own = vars(self)  # which a frozen dataclass guards by __setattr__ alone
        for name, component in zip(field_names(cls), components, strict=True):  # type: ignore[arg-type]
            own[name] = read_only(component) if is_array(component) else component
        return self

    def _set(self, **components: Any) -> None:
        """Sets components in a constructor, the arrays among them as read-only and contiguous ones."""
        for name, part in components.items():
            object.__setattr__(self, name, read_only(contiguous(part)) if is_array(part) else part)

    def __dir__(self) -> list[str]:
        """Lists what users ask of a matrix, as completion shows it."""
        return [name for name in super().__dir__() if name not in INSIDE]

    # --- how large ------------------------------------------------------------------------------------------------

    @property
    def nrows(self) -> int:
        return self.shape[0]

    @property
    def ncols(self) -> int:
        return self.shape[1]

    @property
    def nnz(self) -> int:
        """Number of stored entries."""
        return int(self.values.shape[0])

    @property
    def dtype(self) -> np.dtype:
        return self.values.dtype

    @cached_property
    def place(self) -> Place:
        """Where the matrix is: the host, or one GPU."""
        return next(map(place_of, held(self.components)), HOST)

    def _place_of(self, device: Device | Place) -> Place:
        """The place that a name means."""
        return find_place(device)

    def is_in(self, place: Place) -> bool:
        """True if all of the matrix is in a place."""
        return self.place is place

    @property
    def device(self) -> Device:
        """The place as it is spelt: "cpu", "cuda" for the current GPU, "cuda:1" for another."""
        return str(self.place)  # type: ignore[return-value]

    @property
    def xp(self) -> Any:
        """The array module, `numpy` or `cupy`, whose functions work on the matrix's arrays."""
        return self.place.xp

    @property
    def stored(self) -> Array:
        """The values of the entries, (nnz,), in the format's own order."""
        return self.values

    @property
    def line_ends(self) -> Array | None:
        """Where each row's entries begin and end in `values`, or each column's; None where neither lie together."""
        return None

    @property
    def stored_parts(self) -> tuple[Array, ...]:
        """The values of the entries in arrays, each value once: one array, but for a format that has none of all."""
        return (self.stored,)

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays of this format, without what a backend keeps beside them (`kept_nbytes`)."""
        return sum(array.nbytes for array in self.arrays)

    @property
    def resident(self) -> int:
        """The bytes of `nbytes` that kernels read without the bus: all, but of a matrix moved with `resident=`."""
        return self.nbytes - sum(map(elsewhere, self.arrays))

    @cached_property
    def all_resident(self) -> bool:
        """True if kernels read all of it without the bus. Every algorithm asks, so the answer is kept."""
        return self.resident == self.nbytes

    @property
    def kept_nbytes(self) -> int:
        """Bytes kept with the matrix and its transpose, such as a GraphBLAS handle, or the rows of a SegmentedCOO.

        Memory that the matrix shares with what is kept does not count.
        """
        seen = {_address(array) for array in self.arrays}
        return sum(_bytes_of(kept, seen) for holder in self._both for kept in holder._kept.values())

    @classmethod
    def predicted_nbytes(cls, A: Any, **options: Any) -> int:
        """Exactly the `nbytes` that `A.to(cls, **options)` would have, found without converting.

        A: of any format.  NotImplementedError if the format cannot tell.
        """
        raise NotImplementedError(f"{cls.__name__} does not predict its bytes")

    # --- options of a format --------------------------------------------------------------------------------------

    @property
    def options(self) -> dict[str, Any]:
        """The options of `to` that make another matrix like this one."""
        return {name: getattr(self, name, True) for name in self.own_options}

    own_options: ClassVar[dict[str, Callable[[Any], Any] | None]] = {}
    """The options of `to` that the format has, each with a function that refuses wrong values, if there are any."""

    @classmethod
    def _check_options(cls, options: dict[str, Any]) -> None:
        """TypeError or ValueError for an option of `to` that the format does not have, or a value that it cannot be."""
        for name, value in options.items():
            if name not in cls.own_options:
                raise TypeError(f"{cls.__name__} has no option {name!r}")
            if (check := cls.own_options[name]) is not None:
                check(value)

    @classmethod
    def _check_padding(cls, A: Any, options: dict[str, Any]) -> None:
        """ValueError with the sizes if `A` would take far more in this format than its entries do, unless forced to."""

    @property
    def _index_dtype(self) -> np.dtype:
        """The dtype of the indices that the matrix has as CSR, CSC or COO."""
        return index_dtype(*self.shape, self.nnz)

    def _suits(self, options: dict[str, Any]) -> bool:
        """True if the matrix has these options already."""
        return all(getattr(self, name) == value for name, value in options.items() if hasattr(self, name))

    # --- its parts ------------------------------------------------------------------------------------------------

    @property
    def components(self) -> tuple[Any, ...]:
        """The dataclass fields' values, in order: `trusted(*A.components)` is A again."""
        return tuple(getattr(self, name) for name in field_names(type(self)))  # type: ignore[arg-type]

    @property
    def arrays(self) -> tuple[Array, ...]:
        """The components that are arrays, and those of the matrices among them."""
        parts = (part.arrays if isinstance(part, Storage) else (part,) for part in held(self.components))
        return tuple(array for arrays in parts for array in arrays)

    def of_each(self, found: T) -> list[T]:
        """Returns the answers of all processes that hold a part of the matrix: here there is one."""
        return [found]

    # --- what is kept ---------------------------------------------------------------------------------------------

    @property
    def _both(self) -> list[Storage]:
        """The matrix, and its transpose if somebody has asked for it: what one keeps serves the other, too."""
        twin = self.__dict__.get("_twin")
        return [self] if twin is None else [self, twin]

    @cached_property
    def _kept(self) -> dict[Any, Any]:
        return {}

    @property
    def on_disk(self) -> bool:
        """True if its arrays are mapped files, see `open_mapped`. Nothing as large is then made beside them unasked."""
        return self.keep(ON_DISK, lambda: any(map(is_mapped, self.components)))

    @property
    def streams(self) -> bool:
        """True if it is on disk, and larger than the memory that is left. Its rows are then read in their order."""
        return self.on_disk and (left := self.place.available_bytes()) is not None and self.nbytes > left

    def keep(self, fact: Fact[T], make: Callable[[], T], *given: Any) -> T:
        """`make()`, computed once and kept with the matrix as this fact (a handle, a statistic).

        given: what the fact depends on beside the matrix, such as a semiring.
        """
        kept, key = self._kept, (fact, *given) if given else fact
        try:
            return kept[key]
        except KeyError:
            return kept.setdefault(key, make())

    def keeps(self, fact: Fact[Any], *given: Any) -> bool:
        """True if the fact is kept."""
        return ((fact, *given) if given else fact) in self._kept

    def known(self, fact: Fact[T], *given: Any) -> T | None:
        """The fact if it is kept, else None."""
        return self._kept.get((fact, *given) if given else fact)

    def take(self, fact: Fact[T], *given: Any) -> T | None:
        """The fact, which is then no longer kept; None if it is not."""
        return self._kept.pop((fact, *given) if given else fact, None)

    def forget(self) -> None:
        """Let go of the transpose and of everything kept with both, matrices with theirs, for they form cycles.

        For a matrix that nobody will use again: Python would free it, but not at once.
        """
        holders = self._both
        self.forget_kept()
        for holder in holders:
            holder.__dict__.pop("_twin", None)

    def forget_kept(self) -> None:
        """Let go of everything kept with the matrix and its transpose; what is asked for again is made again."""
        for kept in [value for holder in self._both for value in holder.__dict__.pop("_kept", {}).values()]:
            for each in kept if isinstance(kept, tuple) else (kept,):
                if hasattr(each, "forget"):
                    each.forget()

    def __reduce__(self) -> tuple[Any, ...]:
        if not self.all_resident:  # what is read is on the host: a GPU's array that is not resident has no copy
            return type(self).trusted, move(self.components, HOST, self)
        return type(self).trusted, self.components


@cache
def field_names(fmt: type[Any]) -> tuple[str, ...]:
    """The names of a format's components, in order."""
    return tuple(field.name for field in fields(fmt))


def _address(array: Array) -> int:
    """Where an array's memory begins."""
    return array.ctypes.data if place_of(array).on_host else array.data.ptr  # type: ignore[attr-defined]


def _bytes_of(kept: Any, seen: set[int]) -> int:
    """Bytes of something kept: of an array, of the arrays of a matrix or a tuple, or as it says; none of `seen`."""
    if isinstance(kept, tuple):
        return sum(_bytes_of(part, seen) for part in kept)
    if isinstance(kept, Storage):
        parts = [*kept.arrays, *(value for holder in kept._both for value in holder._kept.values())]
        return sum(_bytes_of(part, seen) for part in parts)
    if not is_array(kept):
        return getattr(kept, "nbytes", 0)
    if kept.size == 0 or _address(kept) in seen:
        return 0
    seen.add(_address(kept))
    return kept.nbytes if 0 not in kept.strides else kept.itemsize


def as_shape(shape: Shape) -> tuple[int, int]:
    """Returns (nrows, ncols) from a pair, or from n for a square matrix; ValueError if negative."""
    pair = (shape, shape) if isinstance(shape, int | np.integer) else tuple(shape)
    if len(pair) != 2:
        raise ValueError(f"shape must be n or (nrows, ncols), got {shape!r}")
    nrows, ncols = (operator.index(extent) for extent in pair)
    if nrows < 0 or ncols < 0:
        raise ValueError(f"shape must not be negative, got {(nrows, ncols)}")
    return nrows, ncols
