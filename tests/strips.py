"""Strips: a matrix as four strips of rows, each a CSR of its own, as a user would add the format by the docs.

There is no array of all values and none of all columns. Conversions to CSR gather the strips; `gathered` counts them.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce as fold
from typing import Any

import numpy as np

from formats import CSR, Matrix, SparseVector
from formats.arrays import index_dtype
from formats.matrix.contract import as_shape
from formats.matrix.convert import convert
from formats.matrix.routes import conversion
from formats.storage.compressed import turned
from semiring import ewise_add, extract, mxv, vxm
from semiring.verbs.masks import VectorWrite

COUNT = 4
gathered: list[str] = []
"""For each time that the strips of a matrix were put together, the function that keeps the result, or ""."""
KEEPERS = ("compressed", "by_columns")


@dataclass(frozen=True, eq=False, repr=False)
class Strips(Matrix):
    """A matrix as strips of rows.

    parts: CSR matrices, one below the other.  shape: (nrows, ncols).  major: 0; 1 in a transpose, whose strips are of
    columns.
    """

    parts: tuple[CSR, ...]
    shape: tuple[int, int]
    major: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", as_shape(self.shape))
        self.check()

    def check(self) -> None:
        nrows, ncols = self.shape if self.major == 0 else self.shape[::-1]
        if sum(part.nrows for part in self.parts) != nrows or any(part.ncols != ncols for part in self.parts):
            raise ValueError(f"the strips must be {nrows} × {ncols} together, got {[p.shape for p in self.parts]}")

    @property
    def nnz(self) -> int:
        return sum(part.nnz for part in self.parts)

    @property
    def dtype(self) -> np.dtype:
        return self.parts[0].dtype

    @property
    def _index_dtype(self) -> np.dtype:
        return index_dtype(*self.shape, self.nnz)

    @property
    def stored_parts(self) -> tuple[Any, ...]:
        return tuple(part.values for part in self.parts)

    def mapped(self, function: Any) -> Strips:
        parts = tuple(part.mapped(function) for part in self.parts)
        same = all(new is old for new, old in zip(parts, self.parts, strict=True))
        return self if same else replace_parts(self, parts)

    def _transposed(self) -> Strips:
        return Strips.trusted(self.parts, self.shape[::-1], 1 - self.major)

    def _lookup(self, row: int, col: int) -> Any:
        outer, inner = (row, col) if self.major == 0 else (col, row)
        for part in self.parts:
            if outer < part.nrows:
                return part._lookup(outer, inner)
            outer -= part.nrows
        raise AssertionError

    @classmethod
    def predicted_nbytes(cls, A: Matrix, **options: Any) -> int:
        return CSR.predicted_nbytes(A) + (COUNT - 1) * A._index_dtype.itemsize


def replace_parts(A: Strips, parts: tuple[Any, ...]) -> Strips:
    return Strips.trusted(parts, A.shape, A.major)


def bounds(nrows: int) -> list[tuple[int, int]]:
    cuts = [nrows * k // COUNT for k in range(COUNT + 1)]
    return list(zip(cuts[:-1], cuts[1:], strict=True))


@conversion(CSR, Strips)
def _(A: CSR, **_: Any) -> Strips:
    parts = []
    for start, stop in bounds(A.nrows):
        low, high = int(A.indptr[start]), int(A.indptr[stop])
        indptr = A.indptr[start : stop + 1] - A.indptr[start]
        parts.append(CSR.trusted(indptr, A.indices[low:high], A.values[low:high], (stop - start, A.ncols)))
    return Strips.trusted(tuple(parts), A.shape, 0)


@conversion(Strips, CSR)
def _(A: Strips) -> Matrix:
    if A.major == 1:
        return turned(convert(A.T, CSR))
    callers = [frame.function for frame in inspect.stack(0)]
    gathered.append(next((name for name in KEEPERS if name in callers), ""))
    xp = A.xp
    starts = np.cumsum([0] + [part.nnz for part in A.parts[:-1]])
    ends = [part.indptr[1:] + start for part, start in zip(A.parts, starts, strict=True)]
    indptr = xp.concatenate((A.parts[0].indptr[:1], *ends)).astype(A._index_dtype)
    indices, values = (xp.concatenate([getattr(part, of) for part in A.parts]) for of in ("indices", "values"))
    return CSR.trusted(indptr, indices.astype(A._index_dtype), values, A.shape)


@conversion(Strips, Strips)
def _(A: Strips, **_: Any) -> Matrix:
    return convert(convert(A, CSR), Strips)


# --- products of its own, strip by strip -----------------------------------------------------------------------------


@mxv.implement(Strips, "cpu", "cuda")
def _(A: Strips, x: Any, semiring: Any, write: VectorWrite) -> Any:
    return write((stacked if A.major == 0 else added)(A, x, semiring, matrix_first=True))


@vxm.implement(Strips, "cpu", "cuda")
def _(x: Any, A: Strips, semiring: Any, write: VectorWrite) -> Any:
    return write((stacked if A.major == 1 else added)(A, x, semiring, matrix_first=False))


def stacked(A: Strips, x: Any, s: Any, *, matrix_first: bool) -> Any:
    """Each strip's part of y, one after the other."""
    parts = [mxv(part, x, s) if matrix_first else vxm(x, part.T, s) for part in A.parts]
    if not isinstance(x, SparseVector):
        return A.xp.concatenate(parts)
    starts = np.cumsum([0] + [part.size for part in parts[:-1]])
    at = [part.indices + part.indices.dtype.type(start) for part, start in zip(parts, starts, strict=True)]
    size = sum(part.size for part in parts)
    return SparseVector.trusted(A.xp.concatenate(at), A.xp.concatenate([part.values for part in parts]), size)


def added(A: Strips, x: Any, s: Any, *, matrix_first: bool) -> Any:
    """⊕ over what each strip makes of its part of x."""
    parts, start = [], 0
    for part in A.parts:
        places = A.xp.arange(start, start + part.nrows)
        mine = extract(x, places) if isinstance(x, SparseVector) else x[start : start + part.nrows]
        parts.append(mxv(part.T, mine, s) if matrix_first else vxm(mine, part, s))
        start += part.nrows
    return fold(lambda y, part: ewise_add(y, part, s), parts)


@contextmanager
def counted() -> Iterator[list[str]]:
    """What is gathered within the block."""
    gathered.clear()
    yield gathered
