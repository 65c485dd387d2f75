"""mxv, vxm and mxm on the CPU: which implementation serves which format.

CSR and CSC with a dense operand are SuiteSparse:GraphBLAS's, unless it cannot be imported, has no such semiring or
could leave the range.
All others are compiled loops over their own storage, so that comparing formats compares formats, and so are sparse
operands, but where a format's storage does not suit them, see `compiled`. Products of two sparse matrices are loops
over rows, see `spgemm`; those of integers whose sums may leave 64 bits are computed in Python's integers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from formats import CSC, CSR, Matrix, SparseVector
from formats.storage.compressed import expand

from ..algebra.semirings import Semiring
from ..verbs import merge
from ..verbs.explanation import tell_product
from ..verbs.masks import MatrixWrite, VectorWrite
from ..verbs.verbs import mxm, mxv, product_with_arguments, vxm
from . import compiled, suitesparse


def _needs(A: Matrix, fmt: type[Matrix], *, matrix_first: bool) -> dict[str, int]:
    """Bytes that a product with a CSR or CSC takes, by what takes them."""
    if suitesparse.library() is None:
        return compiled.needs(A, fmt, matrix_first=matrix_first)
    return {"GraphBLAS handle, kept": suitesparse.handle_bytes(A, fmt)}


@mxv.implement(CSR, CSC, "cpu", needs=lambda A, fmt: _needs(A, fmt, matrix_first=True))
def _(A: Any, x: Any, semiring: Semiring, write: VectorWrite) -> Any:
    return _product(A, x, semiring, write, matrix_first=True)


@vxm.implement(CSR, CSC, "cpu", needs=lambda A, fmt: _needs(A, fmt, matrix_first=False))
def _(x: Any, A: Any, semiring: Semiring, write: VectorWrite) -> Any:
    return _product(A, x, semiring, write, matrix_first=False)


def _product(A: CSR | CSC, x: Any, semiring: Semiring, write: VectorWrite, *, matrix_first: bool) -> Any:
    gathers, verb = (A.major == 0) == matrix_first, mxv if matrix_first else vxm
    skips = gathers and write.mask is not None  # the excluded rows
    if not isinstance(x, SparseVector) and not skips and not A.on_disk:  # of which SuiteSparse would make a copy
        operand = suitesparse.operand(A, x, semiring, matrix_first)
        if operand is not None:
            tell_product("SuiteSparse:GraphBLAS")
            return suitesparse.product(A, operand, semiring, write, matrix_first=matrix_first)
    return compiled.ON_CPU.product(verb, A, x, semiring, write, matrix_first=matrix_first)


@mxv.implement(Matrix, "cpu", needs=lambda A, fmt: compiled.needs(A, fmt, matrix_first=True))
def _(A: Matrix, x: Any, semiring: Semiring, write: VectorWrite) -> Any:
    return compiled.ON_CPU.product(mxv, A, x, semiring, write, matrix_first=True)


@vxm.implement(Matrix, "cpu", needs=lambda A, fmt: compiled.needs(A, fmt, matrix_first=False))
def _(x: Any, A: Matrix, semiring: Semiring, write: VectorWrite) -> Any:
    return compiled.ON_CPU.product(vxm, A, x, semiring, write, matrix_first=False)


@mxm.implement(CSR, "cpu")
def _(A: CSR, B: CSR, semiring: Semiring, write: MatrixWrite) -> CSR:
    from . import spgemm

    mask: Any = write.mask.to(CSR) if isinstance(write.mask, Matrix) else write.mask
    C = spgemm.product(A, B, semiring, mask, write.complement)
    tell_product("compiled, row by row" if C is not None else "exact, in Python's integers")
    return write(C, masked=True) if C is not None else write(_exact(A, B, semiring))


@product_with_arguments.implement(CSR, "cpu")
def _(A: CSR, B: CSR, semiring: Semiring, mask: Any, complement: bool) -> tuple[CSR, CSR]:
    from . import spgemm

    return spgemm.with_arguments(A, B, semiring, mask.to(CSR) if isinstance(mask, Matrix) else mask, complement)


@mxm.implement(CSC, "cpu")
def _(A: CSC, B: CSC, semiring: Semiring, write: MatrixWrite) -> CSR:
    rows: Any = (A.to(CSR), B.to(CSR))
    return mxm.find(CSR, "cpu")(*rows, semiring, write)


def _exact(A: CSR, B: CSR, semiring: Semiring) -> CSR:
    """A ⊗ B of integers by rows of A, in Python's integers: every product as an entry, then ⊕ over those of one place.

    Takes memory for all products of the rows at hand, so rows come in batches.
    """
    zero = semiring.zero(A.dtype)
    flops = np.concatenate(([0], np.cumsum(np.diff(B.indptr)[A.indices])))[A.indptr]
    keys: list[np.ndarray] = []
    values: list[np.ndarray] = []
    start = 0
    while start < A.nrows:
        stop = max(start + 1, int(np.searchsorted(flops, flops[start] + (1 << 22), side="right")) - 1)
        batch = _sums(A, B, start, stop, semiring)
        keys.append(batch[0])
        values.append(batch[1])
        start = stop
    shape = (A.nrows, B.ncols)
    all_keys = np.concatenate(keys) if keys else np.zeros(0, np.int64)
    all_values = np.concatenate(values) if values else np.zeros(0, A.dtype)
    present = all_values != zero
    return merge.from_keys(all_keys[present], all_values[present], shape)


def _sums(A: CSR, B: CSR, start: int, stop: int, semiring: Semiring) -> tuple[np.ndarray, np.ndarray]:
    """Returns keys, ascending, and values of rows start..stop-1 of A ⊗ B: exact sums, clamped at the end."""
    zero = semiring.zero(A.dtype)
    first, last = int(A.indptr[start]), int(A.indptr[stop])
    inner, left = A.indices[first:last], A.values[first:last]
    lengths = np.diff(B.indptr)[inner]
    rows = np.repeat(expand(A.indptr[start : stop + 1] - first) + start, lengths)
    offsets = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    at = np.repeat(B.indptr[inner], lengths) + offsets
    a, b = np.repeat(left, lengths), B.values[at]
    if semiring.mul.reads:
        present = (a != zero) & (b != zero)
        rows, at, a, b = rows[present], at[present], a[present], b[present]
    key = rows.astype(np.int64) * B.ncols + B.indices[at]
    order = np.argsort(key, kind="stable")
    starts = np.flatnonzero(np.concatenate((np.ones(min(key.size, 1), bool), np.diff(key[order]) != 0)))
    terms = np.frompyfunc(semiring.mul.unbounded, 2, 1)(a.astype(object), b.astype(object))[order]
    info = np.iinfo(A.dtype)
    assert isinstance(semiring.add.op.array, np.ufunc)
    sums = semiring.add.op.array.reduceat(terms, starts) if starts.size else terms
    return key[order][starts], np.clip(sums, info.min, info.max).astype(A.dtype)
