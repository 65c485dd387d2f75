"""SparseVector: the present entries of a vector, as indices and values.

A dense vector is a plain NumPy or CuPy array. Both denote the same object: an absent entry is the semiring's zero, so
`v.to_dense(fill=zero)` and `SparseVector.from_dense(x, zero)` lose nothing.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, SupportsIndex, TypeVar, overload

import numpy as np

from .arithmetic import Arithmetic
from .arrays import (
    Array,
    DenseVector,
    Scalar,
    all_of,
    as_indices,
    as_values,
    cast,
    check_not_nan,
    check_one_length,
    check_range,
    contiguous,
    differs,
    equals,
    filled_dtype,
    index_dtype,
    is_array,
    move,
    namespace,
    position_of,
    read_only,
    same_place,
    to_device,
)
from .display import MOST_SHOWN, grid, in_words, table
from .places import Device, Place, at_home, find_place, made_at_home, place_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike

Default = TypeVar("Default")


@dataclass(frozen=True, eq=False, repr=False)
class SparseVector(Arithmetic["SparseVector"]):
    """A vector of which only the present entries are stored. Operators mean what they mean for matrices.

    Args:
        indices: (nnz,), in any order, no index twice.
        values: (nnz,).
        size: the vector's length.

    Raises:
        ValueError: the first rule that the arrays break.

    Example:
        >>> v = SparseVector([2, 0], [7, 5], 4)
        >>> v.indices.tolist(), v[2].item(), v.to_dense().tolist()
        ([0, 2], 7, [5, 0, 7, 0])
        >>> (2 * v).values.tolist(), (v > 6).values.tolist(), v.get(1, 0), 1 in v
        ([10, 14], [False, True], 0, False)
    """

    indices: Array
    values: Array
    size: int

    if TYPE_CHECKING:

        def __init__(self, indices: ArrayLike, values: ArrayLike, size: int) -> None: ...

    @made_at_home
    def __post_init__(self) -> None:
        size = operator.index(self.size)
        if size < 0:
            raise ValueError(f"size must not be negative, got {size}")
        values = as_values(self.values)
        indices = as_indices(self.indices, "indices", size, index_dtype(size))
        check_one_length(indices=indices, values=values)
        if bool((indices[1:] < indices[:-1]).any()):
            order = namespace(indices).argsort(indices)
            indices, values = indices[order], values[order]
        components = {"indices": read_only(contiguous(indices)), "values": read_only(contiguous(values)), "size": size}
        for name, component in components.items():
            object.__setattr__(self, name, component)
        self.check()

    @classmethod
    def trusted(cls, indices: Array, values: Array, size: int) -> Self:
        """A vector from components that are known to be valid: no check, no copy."""
        self = object.__new__(cls)
        for name, component in (("indices", indices), ("values", values), ("size", size)):
            object.__setattr__(self, name, component)
        return self

    @classmethod
    @at_home
    def from_dense(cls, x: Array, zero: Scalar) -> Self:
        """The entries of the dense vector `x` that differ from `zero`."""
        if x.ndim != 1:
            raise ValueError(f"a dense vector is one-dimensional, got {x.ndim} dimensions")
        present = namespace(x).flatnonzero(differs(x, x.dtype.type(zero))).astype(index_dtype(x.size), copy=False)
        return cls.trusted(present, x[present], int(x.size))

    def check(self) -> None:
        """ValueError that names the first broken rule."""
        same_place(self.indices, self.values)
        check_range(self.indices, "indices", self.size)
        broken = self.indices[1:] <= self.indices[:-1]
        if bool(broken.any()):
            raise ValueError(
                f"indices must be sorted and no index may repeat, got {self.indices[int(broken.argmax())]} twice"
            )
        check_not_nan(self.values)

    @property
    def dtype(self) -> np.dtype:
        return self.values.dtype

    @property
    def nnz(self) -> int:
        """Number of stored entries."""
        return int(self.indices.size)

    @property
    def nbytes(self) -> int:
        return int(self.indices.nbytes + self.values.nbytes)

    @property
    def place(self) -> Place:
        """Where the vector is: the host, or one GPU."""
        return place_of(self.values)

    @property
    def device(self) -> Device:
        """The place as it is spelt, see `Matrix.device`."""
        return str(self.place)  # type: ignore[return-value]

    def to(self, *, device: Device | Place) -> SparseVector:
        """The same vector on `device`; `self` if it is there already. Raises what `Matrix.to` raises."""
        if find_place(device) is self.place:
            return self
        return SparseVector.trusted(*move((self.indices, self.values, self.size), device, self))

    @at_home
    def to_dense(self, fill: Scalar = 0) -> DenseVector:
        """The (size,) array with `fill` at absent positions; its dtype also holds `fill`."""
        xp = self.place.xp
        dense = xp.full(self.size, fill, filled_dtype(self.dtype, fill))
        dense[self.indices] = self.values
        return dense

    @at_home
    def pattern(self) -> SparseVector:
        """The same entries, every value True, all of them one byte of memory: as a mask, the vector's structure."""
        return SparseVector.trusted(
            self.indices, self.place.xp.broadcast_to(self.place.xp.ones(1, bool), self.nnz), self.size
        )

    def overwrite(self, other: SparseVector) -> None:
        """Become `other`. The one way a vector changes: being a verb's `out`."""
        for name in ("indices", "values", "size"):
            object.__setattr__(self, name, getattr(other, name))

    @at_home
    def astype(self, dtype: DTypeLike) -> SparseVector:
        """The same vector with values of `dtype`; a value that cannot be kept is a ValueError."""
        return SparseVector.trusted(self.indices, cast(self.values, dtype), self.size)

    @at_home
    def equals(self, other: SparseVector) -> bool:
        """Same size, dtype and entries; False of what is no SparseVector."""
        if not isinstance(other, SparseVector):
            return False
        if (self.size, self.dtype, self.nnz) != (other.size, other.dtype, other.nnz):
            return False
        return all_of(equals(self.indices, other.indices)) and all_of(equals(self.values, other.values))

    @overload
    def get(self, index: SupportsIndex) -> np.number | None: ...
    @overload
    def get(self, index: SupportsIndex, default: Default) -> np.number | Default: ...
    def get(self, index: SupportsIndex, default: object = None) -> object:
        """The stored value at `index`, or `default` if that entry is absent. IndexError if it lies outside."""
        try:
            i = operator.index(index)
        except TypeError:
            raise TypeError(f"an entry is at one integer, got {index!r}: a part is extract(v, indices)") from None
        if not 0 <= i < self.size:
            raise IndexError(f"index must be in [0, {self.size}), got {i}")
        at = position_of(i, self.indices)
        return default if at == self.nnz or int(self.indices[at]) != i else self.values[at]

    def __getitem__(self, index: SupportsIndex) -> np.number:
        """The stored value at `index`. KeyError if absent, IndexError if outside."""
        found = self.get(index)
        if found is None:
            raise KeyError(f"no entry at {index}: an absent entry has no value of its own (see get)")
        return found

    def __contains__(self, index: SupportsIndex) -> bool:
        return self.get(index) is not None

    def __len__(self) -> int:
        return self.size

    def __repr__(self) -> str:
        return f"<SparseVector {self.size}, {self.nnz} entries, {self.dtype}, {self.device}>"

    @at_home
    def __str__(self) -> str:
        """Shows what `repr` says and, if the vector is short, the values in their places."""
        return f"{self!r}\n{self._grid()}".rstrip()

    @at_home
    def _repr_html_(self) -> str:
        rows = [("size", f"{self.size:,}"), ("entries", f"{self.nnz:,} of {self.dtype}")]
        rows += [("place", str(self.place)), ("memory", in_words(self.nbytes))]
        return table("SparseVector", rows, note=self._grid())

    def _grid(self) -> str:
        """The values in a row, if they are few."""
        if self.size > MOST_SHOWN:
            return ""
        indices, values = (to_device(part, "cpu") for part in (self.indices, self.values))
        return grid((1, self.size), ((0, *entry) for entry in zip(indices, values, strict=True)))


def is_scalar(obj: Any) -> bool:
    """True if `obj` is a single value: neither a vector nor something with dimensions."""
    if isinstance(obj, int | float):
        return True
    return not isinstance(obj, SparseVector) and (obj.ndim if is_array(obj) else np.ndim(obj)) == 0
