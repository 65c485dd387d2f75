"""mxv, vxm and mxm on the GPU: which kernel serves which operand. What each format brings is in `storage`.

    dense operand     gather along the stored rows; across them scatter; where a format has no such kernel for the
                      semiring (sums, whose order must not change), gather through kept rows or columns
    sparse operand    push along the stored rows, or along those that are kept; of many elements a dense one gathers

Kept rows or columns are made at the first product that wants them, and count in `kept_nbytes`.
"""

from __future__ import annotations

from typing import Any

from formats import CSC, CSR, Matrix, SparseVector
from formats.arrays import DeviceArray as Array
from formats.arrays import cupy
from formats.matrix.facts import Fact

from ..algebra.semirings import MinPlus, Semiring
from ..generic.products import Backend
from ..verbs.masks import MatrixWrite, VectorWrite
from ..verbs.verbs import mxm, mxv, vxm
from . import spgemm
from .kernels import Kernels, kernels_for
from .storage import STORED

KERNELS: Fact[Kernels] = Fact("the compiled kernels of products")
"""Given: the semiring, and whether the matrix is the first operand."""


@mxv.implement(Matrix, "cuda", needs=lambda A, fmt: _needs(A, fmt, matrix_first=True))
def _(A: Matrix, x: Any, semiring: Semiring, write: VectorWrite) -> Any:
    return ON_GPU.product(mxv, A, x, semiring, write, matrix_first=True)


@vxm.implement(Matrix, "cuda", needs=lambda A, fmt: _needs(A, fmt, matrix_first=False))
def _(x: Any, A: Matrix, semiring: Semiring, write: VectorWrite) -> Any:
    return ON_GPU.product(vxm, A, x, semiring, write, matrix_first=False)


@mxm.implement(CSR, "cuda")
def _(A: CSR, B: CSR, semiring: Semiring, write: MatrixWrite) -> CSR:
    C, masked = spgemm.product(A, B, semiring, write.mask, write.complement)
    return write(C, masked=masked)


@mxm.implement(CSC, "cuda")
def _(A: CSC, B: CSC, semiring: Semiring, write: MatrixWrite) -> CSR:
    rows: Any = (A.to(CSR), B.to(CSR))
    return mxm.find(CSR, "cuda")(*rows, semiring, write)


def _needs(A: Matrix, fmt: type[Matrix], *, matrix_first: bool) -> dict[str, int]:
    """Bytes kept or held by a product with a dense vector, A being in a format."""
    along = getattr(fmt, "major", 0) == (0 if matrix_first else 1)
    if fmt in STORED and (along or STORED[fmt].scatters(A, MinPlus)):
        return STORED[fmt].holds(A)
    return {"rows or columns, kept": (CSR if matrix_first else CSC).predicted_nbytes(A)}


def _pushed(A: Any, x: SparseVector, semiring: Semiring, matrix_first: bool) -> SparseVector | None:
    """y of a sparse x; None for a semiring that this cannot be done for."""
    return STORED[type(A)].push(_kernels(A, semiring, matrix_first), A, x, semiring, matrix_first)


def _dense_product(
    A: Matrix, x: Array, semiring: Semiring, write: VectorWrite, matrix_first: bool, gathers: bool
) -> Array:
    allowed = None if write.mask is None else write.allowed
    if not x.flags.c_contiguous:
        x = cupy().ascontiguousarray(x)
    own = STORED[type(A)]
    if not (own.gathers if gathers else own.scatters)(A, semiring):
        A, gathers = own.along(A, 0 if matrix_first else 1), True
        own = STORED[type(A)]
    k = _kernels(A, semiring, matrix_first)
    return own.gather(k, A, x, semiring, allowed) if gathers else own.scatter(k, A, x, semiring)


def _kernels(A: Any, semiring: Semiring, matrix_first: bool) -> Kernels:
    """The kernels of A's format, on the GPU where it is: found once."""

    def find() -> Kernels:
        own = STORED[type(A)]
        shape, index = own.shape(A)
        return kernels_for(semiring, A.dtype, index, matrix_first, shape, own.unit)

    return A.keep(KERNELS, find, semiring, matrix_first)


ON_GPU = Backend(STORED, _dense_product, _pushed, lambda semiring, dtype: True)
