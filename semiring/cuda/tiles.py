"""Tiles: how sorted entries are cut into pieces of equal work for the kernels of tiles.cu, and those kernels' launches.

The cuts depend on the matrix alone. They are found on the device at the first product and kept with the matrix.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from formats import COO, CSC, CSR
from formats.arrays import DeviceArray as Array
from formats.arrays import cupy
from formats.matrix.facts import Fact

from .kernels import Kernels

CUTS: Fact[Cuts] = Fact("tiles of entries")
ROWS: Fact[tuple[Any, ...]] = Fact("what kernels on compressed rows take first")


@dataclass(frozen=True)
class Cuts:
    """Where tiles begin.

    count: the number of tiles.  first_row: (count + 1,), of compressed rows, see tiles.cu.
    kept: memory for unfinished sums, by stream.
    """

    count: int
    first_row: Array | None = None
    kept: dict[Any, Array] = field(default_factory=dict)

    def take_parts(self, k: Kernels) -> tuple[Any, Array]:
        """Memory for the tiles' unfinished sums, and the key to `kept`, under which to put it back.

        It is kept for the next product on the same stream. Two threads never share it: a call that finds it taken makes
        another.
        """
        cp = cupy()
        key = (cp.cuda.get_current_stream().ptr, k.part_bytes)
        parts = self.kept.pop(key, None)
        return key, cp.empty(self.count * k.part_bytes, np.uint8) if parts is None else parts

    @property
    def nbytes(self) -> int:
        arrays = (self.first_row, *self.kept.values())
        return sum(array.nbytes for array in arrays if array is not None)


def cut_rows(k: Kernels, indptr: Array, nnz: int) -> Cuts:
    """The cuts of compressed rows."""
    nrows = indptr.size - 1
    count = -(-(nrows + nnz) // k.steps)
    first_row = cupy().empty(count + 1, indptr.dtype)
    k.cut_tiles(k.grid(count + 1), k.block, (indptr, k.index(nrows), first_row, k.index(count)))
    return Cuts(count, first_row)


def step_of(values: Array, index: Any) -> Any:
    """How far apart neighbouring values lie: 0 where all entries share one, as in a pattern, else 1."""
    return index(0 if values.size and 0 in values.strides else 1)


def rows_of(k: Kernels, A: Any, *columns: Array) -> tuple[Any, ...]:
    """Returns the first arguments of kernels on compressed rows.  columns: the arrays that tell the columns."""
    nrows = k.index(A.shape[A.major])
    return A.keep(ROWS, lambda: (A.indptr, nrows, *columns, A.values, step_of(A.values, k.index)))


def gather_rows(k: Kernels, kernel: Any, A: Any, rows: tuple[Any, ...], x: Array, y: Array) -> None:
    """y_i = ⊕_k a_ik ⊗ x_k along compressed rows, by a kernel for their columns. rows: see `rows_of`."""
    if y.size == 0:
        return
    cuts = A.keep(CUTS, lambda: cut_rows(k, A.indptr, A.nnz))
    key, parts = cuts.take_parts(k)
    kernel((cuts.count,), k.block, (*rows, x, cuts.first_row, y, parts))
    join(k, cuts, rows[:2], parts, y)
    cuts.kept[key] = parts


def gather_compressed(k: Kernels, A: CSR | CSC, x: Array, y: Array) -> None:
    """y_i = ⊕_k a_ik ⊗ x_k along the stored rows."""
    gather_rows(k, k.gather_compressed, A, rows_of(k, A, A.indices), x, y)


def gather_arguments(k: Kernels, A: CSR, x: Array, y: Array, which: Array) -> None:
    """Likewise, and which_i the smallest k whose term is y_i. `which` has the index type of A."""
    _with_arguments(k, k.gather_arguments, A, (x,), y, which)


def fold_arguments(k: Kernels, A: CSR | CSC, y: Array, which: Array) -> None:
    """y_i = ⊕ of the values of each stored row, and which_i the smallest column that holds it, likewise."""
    _with_arguments(k, k.fold_arguments, A, (), y, which)


def _with_arguments(k: Kernels, kernel: Any, A: CSR | CSC, x: tuple[Array, ...], y: Array, which: Array) -> None:
    cp, cuts = cupy(), A.keep(CUTS, lambda: cut_rows(k, A.indptr, A.nnz))
    key, parts = cuts.take_parts(k)
    parts_which = cp.empty(2 * cuts.count, which.dtype)
    rows = rows_of(k, A, A.indices)
    kernel((cuts.count,), k.block, (*rows, *x, cuts.first_row, y, parts, which, parts_which))
    if cuts.count > 1:
        arguments = (*rows[:2], cuts.first_row, k.index(cuts.count), parts, parts_which, y, which)
        k.join_arguments(k.grid(cuts.count * 32), k.block, arguments)
    cuts.kept[key] = parts


def fold_compressed(k: Kernels, A: Any, y: Array) -> None:
    """y_i = ⊕ of the values of each stored row."""
    if y.size == 0:
        return
    cuts = A.keep(CUTS, lambda: cut_rows(k, A.indptr, A.nnz))
    key, parts = cuts.take_parts(k)
    fixed = (A.indptr, k.index(y.size), A.values, step_of(A.values, k.index))
    k.fold_compressed((cuts.count,), k.block, (*fixed, cuts.first_row, y, parts))
    join(k, cuts, fixed[:2], parts, y)
    cuts.kept[key] = parts


def gather_list(k: Kernels, A: COO, x: Array, y: Array) -> None:
    """y_i = ⊕_k a_ik ⊗ x_k over a list sorted by i. y is the zero at first."""
    if A.nnz == 0:
        return
    cuts = A.keep(CUTS, lambda: Cuts(-(-A.nnz // k.entries)))
    fixed = (A.outer, A.inner, A.values, step_of(A.values, k.index), k.index(A.nnz))
    key, parts = cuts.take_parts(k)
    k.gather_list((cuts.count,), k.block, (*fixed, x, y, parts))
    if cuts.count > 1:
        k.join_list(k.grid(cuts.count * 32), k.block, (A.outer, k.index(cuts.count), parts, y))
    cuts.kept[key] = parts


def join(k: Kernels, cuts: Cuts, rows: tuple[Any, ...], parts: Array, y: Array) -> None:
    """Complete the rows that several tiles share. rows: where they end, and how many there are."""
    if cuts.count > 1:
        arguments = (*rows, cuts.first_row, k.index(cuts.count), parts, y)
        k.join_rows(k.grid(cuts.count * 32), k.block, arguments)


def fold_all(k: Kernels, values: Array) -> Array:
    """⊕ of all values, an array of one."""
    cp = cupy()
    grid, partial = _fold(k, values)
    result = cp.empty(1, values.dtype)
    k.fold_partial((1,), k.block, (partial, k.index(grid), result))
    return result


def fold_blocks(k: Kernels, values: Array) -> Array:
    """⊕ of the values that each block takes, for a ⊕ whose unfinished sums are values."""
    grid, partial = _fold(k, values)
    return partial.view(values.dtype)[:grid]


def _fold(k: Kernels, values: Array) -> tuple[int, Array]:
    """Returns the number of blocks, and their unfinished sums."""
    (grid,) = k.grid(values.size)
    partial = cupy().empty(grid * k.part_bytes, np.uint8)
    k.fold_all((grid,), k.block, (values, step_of(values, k.index), k.index(values.size), partial))
    return grid, partial
