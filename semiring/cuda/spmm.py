"""Products of a sparse and a dense matrix on the GPU: chunks of compressed rows, see spmm.cu."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from formats import CSR, Dense, Matrix
from formats.arrays import DeviceArray as Array
from formats.arrays import cupy, index_dtype
from formats.matrix.facts import Fact
from formats.places import kept_by_place

from ..algebra.codegen import Index, prelude, sum_bytes, types_of
from ..algebra.semirings import Law, Semiring
from ..generic.dense import by_columns, dense_needs, with_dense
from ..verbs.verbs import dense_mxm
from .compile import load, text_of
from .kernels import ARGUMENTS, COMMON, kernels_for, shape_for
from .steps import NOTHING
from .tiles import gather_arguments, step_of

THREADS = 256
LONGEST_CHUNK = 256
"""Entries and row ends of a chunk, at most."""

STEPS_OF_A_LANE = 64
"""Entries of a chunk for each lane: fewer lanes take shorter chunks, so that there are enough of these."""

MAX_VECTOR_COLUMNS = 3
"""Columns that as many products with a vector are faster for."""

VECTOR_BYTES = 16
"""That a thread reads at once."""


@dataclass(frozen=True)
class Columns:
    """How the columns of X are shared out: `lanes` threads side by side, with `wide` neighbours each."""

    lanes: int
    wide: int

    @classmethod
    def of(cls, X: Array) -> Columns:
        """The widest loads that X's rows are aligned for, and no more lanes than it has columns."""
        width, wide = X.shape[1], 1
        while 2 * wide * X.itemsize <= VECTOR_BYTES and wide < 4 and width % (2 * wide) == 0:
            wide *= 2
        while X.data.ptr % (wide * X.itemsize):
            wide //= 2
        lanes = 1
        while lanes < 32 and lanes * wide < width:
            lanes *= 2
        return cls(lanes, wide)

    @property
    def chunk(self) -> int:
        """Entries and row ends of a chunk."""
        return min(STEPS_OF_A_LANE * self.lanes, LONGEST_CHUNK)


@dataclass(frozen=True)
class Chunks:
    """Where chunks begin."""

    count: int
    first_row: Array

    @property
    def nbytes(self) -> int:
        return int(self.first_row.nbytes)


CHUNKS_OF: Fact[Chunks] = Fact("chunks of entries for products with a dense matrix")


def spmm_text(
    semiring: Semiring, dtype: np.dtype, index: Index, matrix_first: bool, columns: Columns, argument: bool
) -> str:
    """The CUDA text of the kernels."""
    sizes = {"CHUNK": columns.chunk, "LANES": columns.lanes, "WIDE": columns.wide}
    text = text_of((*COMMON, "spmm.cu"), THREADS=THREADS, **sizes, ARGUMENT=argument)
    return "\n".join((prelude(semiring, dtype, index, matrix_first), text))


@kept_by_place(256)
def _module(
    semiring: Semiring, dtype: np.dtype, index: Index, matrix_first: bool, columns: Columns, argument: bool
) -> dict[str, Any]:
    text = spmm_text(semiring, dtype, index, matrix_first, columns, argument)
    module = load(text, f"{semiring.name}, {dtype}, dense matrices")
    return {name: module.get_function(name) for name in ("cut_chunks", "multiply_columns", "join_chunks")}


def _needs(A: Matrix, fmt: type[Matrix], columns: int) -> dict[str, int]:
    """Bytes beside X and Y: two unfinished sums of a chunk and column."""
    chunk = min(STEPS_OF_A_LANE, LONGEST_CHUNK)
    parts = 2 * (-(-(A.nrows + A.nnz) // chunk)) * columns * max(A.dtype.itemsize, 8)
    return dense_needs(A, fmt, columns) | {"unfinished sums": parts}


@dense_mxm.implement(Matrix, "cuda", needs=_needs)
def _(A: Matrix, X: Array, semiring: Semiring, matrix_first: bool, argument: bool, allowed: Any) -> Any:
    if isinstance(A, Dense) and semiring.mul.reads != "":
        return with_dense(A, X, semiring, matrix_first, argument)
    if X.shape[1] <= MAX_VECTOR_COLUMNS and not argument:
        return by_columns(A, X, semiring, matrix_first, argument, allowed)
    rows = A if isinstance(A, CSR) else dense_mxm.rows_of(A)
    if X.shape[1] == 1:
        return _of_a_vector(rows, X, semiring, matrix_first)
    return multiplied(rows, X, semiring, matrix_first, argument)


def _of_a_vector(A: CSR, x: Array, semiring: Semiring, matrix_first: bool) -> tuple[Array, Array]:
    """Returns A ⊗ x for x of one column, and its arguments."""
    cp, index = cupy(), A.indptr.dtype
    k = kernels_for(semiring, A.dtype, types_of(A), matrix_first, shape_for(A.nnz, A.nrows), ARGUMENTS)
    y, which = cp.empty((A.nrows, 1), A.dtype), cp.empty((A.nrows, 1), index)
    gather_arguments(k, A, x, y, which)
    return y, which.astype(index_dtype(A.ncols), copy=False)


def multiplied(A: CSR, X: Array, semiring: Semiring, matrix_first: bool, argument: bool) -> Any:
    """Y = A ⊗ X (matrix_first) or the same with ⊗'s operands swapped; with the arguments if they are asked for."""
    cp, index, width = cupy(), A.indptr.dtype, X.shape[1]
    Y = cp.empty((A.nrows, width), A.dtype)
    which = cp.empty(Y.shape, index) if argument else NOTHING
    if Y.size:
        columns = Columns.of(X)
        first = matrix_first or Law.COMMUTATIVE in semiring.laws
        k = _module(semiring, A.dtype, types_of(A), first, columns, argument)
        chunks = A.keep(CHUNKS_OF, lambda: _cut(k["cut_chunks"], A, columns.chunk), columns.chunk)
        number, wide = index.type(chunks.count), index.type(width)
        parts = cp.empty(2 * chunks.count * width * sum_bytes(semiring, A.dtype), np.uint8)
        parts_which = cp.empty(2 * chunks.count * width, index) if argument else NOTHING
        rows = (A.indptr, index.type(A.nrows), A.indices, A.values, step_of(A.values, index.type))
        grid = (-(-chunks.count * columns.lanes // THREADS), -(-width // (columns.lanes * columns.wide)))
        results = (Y, which, parts, parts_which)
        k["multiply_columns"](grid, (THREADS,), (*rows, chunks.first_row, number, X, wide, *results))
        if chunks.count > 1:
            joined = (*rows[:2], chunks.first_row, number, wide)
            k["join_chunks"]((-(-chunks.count * 32 // THREADS),), (THREADS,), (*joined, parts, parts_which, Y, which))
    return (Y, which.astype(index_dtype(A.ncols), copy=False)) if argument else Y


def _cut(cut_chunks: Any, A: CSR, chunk: int) -> Chunks:
    """The chunks of A's rows, of so many steps."""
    cp, index = cupy(), A.indptr.dtype
    count = max(-(-(A.nrows + A.nnz) // chunk), 1)
    first_row = cp.empty(count + 1, index)
    arguments = (A.indptr, index.type(A.nrows), first_row, index.type(count))
    cut_chunks((-(-(count + 1) // THREADS),), (THREADS,), arguments)
    return Chunks(count, first_row)
