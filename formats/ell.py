"""ELL (ELLPACK): every row padded to the longest one's width, stored slot-major.

Slot s of all rows lies together, so a product streams through memory slot by slot. The price is the padding:
width x nrows places for nnz entries. One hub row makes it absurd, hence `check_width`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .arrays import (
    Array,
    as_array,
    as_values,
    check_not_nan,
    check_range,
    contiguous,
    index_dtype,
    namespace,
    position_of,
    read_only,
    same_device,
)
from .base import Matrix, as_shape
from .convert import conversion, convert, expand
from .csr import CSR

MAX_RATIO_TO_CSR = 8
MAX_UNQUESTIONED_BYTES = 64 * 2**20


@dataclass(frozen=True, eq=False, repr=False)
class ELL(Matrix):
    """Padded rows, slot-major.

    indices: (width, nrows), columns, ascending down each row's slots, then -1 in the padding.  values: (width, nrows),
    0 in the padding.  shape: (nrows, ncols).  major: 0; 1 in a transpose, whose arrays hold padded columns.
    ValueError names the first broken rule.
    """

    indices: Array
    values: Array
    shape: tuple[int, int]
    major: int = 0

    def __post_init__(self) -> None:
        shape = as_shape(self.shape)
        if self.major not in (0, 1):
            raise ValueError(f"major must be 0 (padded rows) or 1 (padded columns), got {self.major!r}")
        indices, slots = as_array(self.indices), as_array(self.values)
        if indices.ndim != 2 or indices.shape != slots.shape:
            raise ValueError(
                f"indices and values must both be (width, {shape[self.major]}), got {indices.shape} and {slots.shape}"
            )
        if indices.dtype.kind not in "iu" and indices.size:
            raise TypeError(f"indices must be integers, got dtype {indices.dtype}")
        values = as_values(slots.reshape(-1)).reshape(slots.shape)
        check_range(indices, "indices", shape[1 - self.major], low=-1)
        indices = indices.astype(index_dtype(*shape, indices.size), copy=False)
        components = {"indices": read_only(contiguous(indices)), "values": read_only(contiguous(values))}
        for name, component in {**components, "shape": shape}.items():
            object.__setattr__(self, name, component)
        self.check()

    def check(self) -> None:
        same_device(self.indices, self.values)
        axis = "row" if self.major == 0 else "column"
        if self.indices.shape[1] != self.shape[self.major]:
            raise ValueError(
                f"a slot must have one place per {axis}, {self.shape[self.major]}, got {self.indices.shape[1]}"
            )
        check_range(self.indices, "indices", self.shape[1 - self.major], low=-1)
        above, below = self.indices[:-1], self.indices[1:]
        broken = (below >= 0) & (below <= above) | (below >= 0) & (above < 0)
        if bool(broken.any()):
            slot, at = divmod(int(broken.argmax()), self.indices.shape[1])
            raise ValueError(
                f"indices must ascend in each {axis} without repetition and padding (-1) must come last, but {axis} "
                f"{at} has {above[slot, at]} before {below[slot, at]}"
            )
        check_not_nan(self.values.reshape(-1))

    @property
    def width(self) -> int:
        """Slots per row: the length of the longest row."""
        return int(self.indices.shape[0])

    @property
    def nnz(self) -> int:
        """Number of stored entries, padding not counted."""
        return self.keep("nnz", lambda: int((self.indices >= 0).sum()))

    @property
    def stored(self) -> Array:
        return self.values[self.indices >= 0]

    @property
    def options(self) -> dict[str, Any]:
        return {"force": True}

    @classmethod
    def _check_options(cls, options: dict[str, Any]) -> None:
        super()._check_options({name: value for name, value in options.items() if name != "force"})

    def _transposed(self) -> ELL:
        return ELL.trusted(self.indices, self.values, self.shape[::-1], 1 - self.major)

    def _lookup(self, row: int, col: int) -> Any:
        major, minor = (row, col) if self.major == 0 else (col, row)
        slots = self.indices[:, major]
        length = int((slots >= 0).sum())
        at = position_of(minor, slots[:length])
        return self.values[at, major] if at < length and int(slots[at]) == minor else None


def check_width(width: int, nmajor: int, nnz: int, value_bytes: int, index_bytes: int) -> None:
    """ValueError with the sizes if padding `nmajor` rows to `width` is out of proportion to the CSR."""
    ell_bytes = width * nmajor * (value_bytes + index_bytes)
    csr_bytes = nnz * (value_bytes + index_bytes) + (nmajor + 1) * index_bytes
    if ell_bytes > MAX_RATIO_TO_CSR * csr_bytes and ell_bytes > MAX_UNQUESTIONED_BYTES:
        raise ValueError(
            f"ELL of width {width} needs {ell_bytes / 2**20:,.0f} MiB, {ell_bytes / csr_bytes:,.0f} times the CSR's "
            f"{csr_bytes / 2**20:,.1f} MiB: a long row pads all {nmajor:,} others; pass force=True to have it anyway"
        )


# --- conversions --------------------------------------------------------------------------------------------------


@conversion(CSR, ELL)
def _(A: CSR, *, force: bool = False) -> ELL:
    xp = namespace(A.values)
    lengths = xp.diff(A.indptr)
    width = int(lengths.max()) if lengths.size else 0
    if not force:
        check_width(width, A.nrows, A.nnz, A.dtype.itemsize, A.indices.itemsize)
    index_type = index_dtype(*A.shape, width * A.nrows)
    indices = xp.full((width, A.nrows), -1, index_type)
    values = xp.zeros((width, A.nrows), A.dtype)
    rows = expand(A.indptr)
    slots = xp.arange(A.nnz, dtype=A.indptr.dtype) - A.indptr[:-1][rows]
    indices[slots, rows] = A.indices
    values[slots, rows] = A.values
    return ELL.trusted(indices, values, A.shape, 0)


@conversion(ELL, CSR)
def _(A: ELL) -> Matrix:
    if A.major == 1:
        return convert(convert(A.T, CSR).T, CSR)
    xp = namespace(A.values)
    present = A.indices.T >= 0
    index_type = index_dtype(*A.shape, A.nnz)
    indptr = xp.zeros(A.nrows + 1, index_type)
    if A.nrows:
        xp.cumsum(present.sum(axis=1), out=indptr[1:])
    return CSR.trusted(indptr, A.indices.T[present].astype(index_type, copy=False), A.values.T[present], A.shape)


@conversion(ELL, ELL)
def _(A: ELL, **options: Any) -> Matrix:
    """Padded rows from padded columns."""
    return convert(convert(A, CSR), ELL, **options)
