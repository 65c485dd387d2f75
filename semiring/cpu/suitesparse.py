"""Products by SuiteSparse:GraphBLAS, through python-graphblas: CSR and CSC with every semiring that it has a name for.

Dense operands only. (Sparse operands are pushed by `compiled`: on the frontiers of New York's road graph,
33,000 vertices on average, SuiteSparse's vxm and the conversions around it took 1.6 times as long.)

A matrix's handle is imported once and kept with it; a CSC shares the handle of the CSR that it is the transpose of.
(SuiteSparse 9 wants 64-bit indices: the handle is a copy, counted in `kept_nbytes`.) SuiteSparse wraps integers and
has no notion of a value that means absent, so stored entries equal to the zero are left out of the handle, and x is
made an operand for plain arithmetic (see `plain`), in which absent entries are a bitmap if need be.

Where python-graphblas cannot be imported, as on a Python that it has no release for, no semiring has a name here, and
`compiled` computes every product.

Source: T. Davis, Algorithm 1037: SuiteSparse:GraphBLAS: parallel graph algorithms in the language of sparse linear
algebra, ACM Trans. Math. Softw. 49(3), 2023.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import lru_cache
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from formats import CSC, CSR, Matrix
from formats.matrix.convert import given
from formats.matrix.facts import Fact
from formats.places import HOST
from formats.undisturbed import undisturbed

from ..algebra.semirings import Semiring
from ..verbs.masks import VectorWrite
from . import threads
from .plain import Operand, is_shipped, plain_operand
from .ranges import holds_zero

if TYPE_CHECKING:
    import graphblas

Compressed = CSR | CSC


WAITING = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT")
"""Variables of the environment in which a user may say how threads wait."""


HANDLE: Fact[Handle] = Fact("GraphBLAS matrix")
"""Given: the zero whose entries are left out, or None."""


@lru_cache(maxsize=1)
def library() -> Any:
    """python-graphblas, started and told the number of threads; None where it cannot be imported."""
    return undisturbed(_started)


def _started() -> ModuleType | None:
    """Its threads sleep while they wait, unless the user says otherwise: those that spin keep others from working.

    (On two cores that others use, too, a product of 2 ms took 16.)
    """
    said = any(name in os.environ for name in WAITING)
    if not said:
        os.environ[WAITING[0]] = "passive"  # read when the library is loaded, and by nobody else
    try:
        import graphblas

        threads.configure_graphblas()
    except ImportError:
        return None
    finally:
        if not said:
            del os.environ[WAITING[0]]
    return graphblas


@lru_cache(maxsize=128)
def named_semiring(semiring: Semiring) -> Any | None:
    """GraphBLAS's own semiring, or None if it has none: one with an operator or a monoid of the user's."""
    op = semiring.add.op
    if not (semiring.mul.graphblas and op.graphblas and is_shipped(semiring)):
        return None
    if semiring.add.name == "times":  # a product of many integers is soon beyond every range: see `exact`
        return None
    if semiring.add.name == "any" and semiring.mul.reads:  # SuiteSparse takes any, we take the first
        return None
    gb = library()
    return None if gb is None else undisturbed(lambda: getattr(gb.semiring, semiring.name, None))


def operand(A: Compressed, x: np.ndarray, semiring: Semiring, matrix_first: bool) -> Operand | None:
    """x for a product with A; None if GraphBLAS lacks the semiring, or something could wrap or become NaN.

    And None if the handle, a copy, would exceed the user's limit of memory, or OpenMP's threads are a parent's.
    """
    if threads.graphblas_forked:
        return None
    suits = named_semiring(semiring) is not None and (HOST.limit is None or _has_room(A, semiring))
    return plain_operand(A, x, semiring, matrix_first) if suits else None


def _has_room(A: Compressed, semiring: Semiring) -> bool:
    """True if the handle is there already, or there is room for it."""
    rows, available = A if A.major == 0 else A.T, HOST.available_bytes()
    kept = any(rows.keeps(HANDLE, left_out) for left_out in (None, semiring.zero(A.dtype)))
    return kept or available is None or handle_bytes(A, type(A)) <= available


@dataclass(frozen=True)
class Handle:
    """A GraphBLAS matrix, rows as in the CSR it was made from."""

    matrix: graphblas.Matrix
    nbytes: int

    def forget(self) -> None:
        """Free the matrix's memory now."""
        self.matrix.clear()


def handle(A: Compressed, semiring: Semiring) -> graphblas.Matrix:
    """The GraphBLAS matrix of the CSR that A is, or is the transpose of; without entries equal to the zero.

    `pair` follows the pattern: for it, every stored entry stays.
    """
    rows: Any = A if A.major == 0 else A.T
    zero = semiring.zero(A.dtype)
    left_out = zero if semiring.mul.reads != "" and holds_zero(rows, zero) else None
    return rows.keep(HANDLE, lambda: _import(rows, left_out), left_out).matrix


def handle_bytes(A: Matrix, fmt: type[Matrix]) -> int:
    """Bytes of the handle of A as CSR or CSC: 64-bit indices, and the values."""
    nmajor = A.shape[getattr(fmt, "major", 0)]
    return 8 * (nmajor + 1 + A.nnz) + A.nnz * A.dtype.itemsize


def _import(A: CSR, leave_out: Any | None) -> Handle:
    indptr, indices, values = A.indptr, A.indices, A.values
    if leave_out is not None:
        present = values != leave_out
        indptr = np.concatenate(([0], np.cumsum(present)))[indptr]
        indices, values = indices[present], values[present]
    iso = values.ndim == 1 and values.size > 0 and values.strides == (0,)
    stored = np.array(values[:1] if iso else values)
    wide_indptr, wide_indices = indptr.astype(np.uint64), indices.astype(np.uint64)
    facts = {"nrows": A.nrows, "ncols": A.ncols, "is_iso": iso, "sorted_cols": True}
    arrays = {"indptr": wide_indptr, "col_indices": wide_indices, "values": stored}
    matrix = given(library().Matrix.ss.import_csr, facts, **arrays)
    return Handle(matrix, wide_indptr.nbytes + wide_indices.nbytes + stored.nbytes)


def product(A: Compressed, x: Operand, semiring: Semiring, write: VectorWrite, *, matrix_first: bool) -> Any:
    """A ⊗ x (matrix_first) or x ⊗ A, written by the write rule."""
    gathers = (A.major == 0) == matrix_first
    with nullcontext() if gathers or semiring.add.idempotent or A.dtype.kind != "f" else _in_order():
        if (
            x.present is None
            and min(A.shape) > 0
            and not (gathers and (write.mask is not None or semiring.add.name == "any"))
        ):
            return write(x.finished(_full_product(A, x.values, semiring, matrix_first), semiring.zero(A.dtype)))
        return _general_product(A, x, semiring, write, matrix_first)


@contextmanager
def _in_order() -> Iterator[None]:
    """Within the block one thread computes, so that rounded sums that rows add to are added in the order of the rows.

    Several threads add them in any order, by atomic operations.
    """
    _, lib, *_ = _c_functions()
    lib.GxB_Context_engage(_one_thread()[0])
    try:
        yield
    finally:
        lib.GxB_Context_disengage(_one_thread()[0])


@lru_cache(maxsize=1)
def _one_thread() -> Any:
    """SuiteSparse's context of one thread."""
    ffi, lib, *_ = _c_functions()
    made = ffi.new("GxB_Context*")
    assert lib.GxB_Context_new(made) == lib.GrB_SUCCESS
    assert lib.GxB_Context_set_INT32(made[0], lib.GxB_CONTEXT_NTHREADS, 1) == lib.GrB_SUCCESS
    return made


@lru_cache(maxsize=1)
def _c_functions() -> tuple[Any, ...]:
    """SuiteSparse's C functions, and how NumPy's memory is handed over to it and taken over."""
    from suitesparse_graphblas import ffi, lib  # type: ignore[import-untyped]
    from suitesparse_graphblas.utils import claim_buffer, unclaim_buffer  # type: ignore[import-untyped]

    return ffi, lib, claim_buffer, unclaim_buffer


@lru_cache(maxsize=256)
def _typed(semiring: Semiring, dtype: np.dtype) -> tuple[Any, Any, Any]:
    """SuiteSparse's own semiring, its ⊕ as an operator, and the type, for a dtype."""
    gb, algebra = library(), named_semiring(semiring)
    assert algebra is not None

    def find() -> tuple[Any, Any, Any]:
        return algebra[dtype].gb_obj, algebra.monoid.binaryop[dtype].gb_obj, gb.dtypes.lookup_dtype(dtype).gb_obj

    return undisturbed(find)


def _full_product(A: Compressed, x: np.ndarray, semiring: Semiring, matrix_first: bool) -> np.ndarray:
    """y = zero ⊕ A ⊗ x of full vectors, by SuiteSparse's C functions: python-graphblas takes 60 µs longer.

    x stays where it is: SuiteSparse is lent its memory, and gives it back. y is handed over, and taken over again.
    """
    ffi, lib, claim_buffer, unclaim_buffer = _c_functions()
    algebra, add, kind = _typed(semiring, A.dtype)
    M = handle(A, semiring).gb_obj[0]
    x, y = np.ascontiguousarray(x), np.full(A.shape[0 if matrix_first else 1], semiring.zero(A.dtype), A.dtype)
    turned = ffi.NULL if A.major == 0 else lib.GrB_DESC_T0 if matrix_first else lib.GrB_DESC_T1
    lent, made = ffi.new("GrB_Vector*"), ffi.new("GrB_Vector*")
    at, iso = ffi.new("void**"), ffi.new("bool*")
    extents = ffi.new("GrB_Type*"), ffi.new("GrB_Index*"), at, ffi.new("GrB_Index*")

    def done(status: int) -> None:
        if status != lib.GrB_SUCCESS:
            raise MemoryError(f"SuiteSparse:GraphBLAS stopped with status {status}")

    at[0] = ffi.from_buffer("void*", x)
    done(lib.GxB_Vector_import_Full(lent, kind, x.size, at, x.nbytes, False, ffi.NULL))
    try:
        at[0] = ffi.from_buffer("void*", y)
        done(lib.GxB_Vector_import_Full(made, kind, y.size, at, y.nbytes, False, ffi.NULL))
        unclaim_buffer(y)
        operands = (M, lent[0]) if matrix_first else (lent[0], M)
        multiply = lib.GrB_mxv if matrix_first else lib.GrB_vxm
        done(multiply(made[0], ffi.NULL, add, algebra, *operands, turned))
        done(lib.GxB_Vector_export_Full(made, *extents, iso, ffi.NULL))
        result = claim_buffer(ffi, at[0], extents[-1][0] // A.dtype.itemsize, A.dtype)
    finally:
        done(lib.GxB_Vector_export_Full(lent, *extents, ffi.new("bool*"), ffi.NULL))
    return np.full(y.size, result[0]) if iso[0] else result[: y.size]


def _general_product(A: Compressed, x: Operand, semiring: Semiring, write: VectorWrite, matrix_first: bool) -> Any:
    """The same by python-graphblas: x may lack entries, and rows that a mask leaves out are not computed."""
    gb, algebra = library(), named_semiring(semiring)
    assert algebra is not None
    M = handle(A, semiring)
    M = M if A.major == 0 else M.T
    zero = semiring.zero(A.dtype)
    v = import_vector(x)
    expression = M.mxv(v, algebra) if matrix_first else v.vxm(M, algebra)
    allowed = write.allowed
    if (A.major == 0) != matrix_first:  # a scatter: SuiteSparse is fastest into a full vector
        y = gb.Vector.from_scalar(zero, write.size, dtype=A.dtype)
        y(algebra.monoid.binaryop) << expression
    elif allowed is None:
        y = expression.new()
    else:  # a gather: masked rows need not be computed
        y = expression.new(mask=given(gb.Vector.ss.import_full, {}, values=np.array(allowed)).V)
    dense = export_dense(y, zero)
    v.clear()  # python-graphblas's objects form cycles, and would hold their memory until Python looks for those
    return write(x.finished(dense, zero))


def import_vector(x: Operand) -> graphblas.Vector:
    """A GraphBLAS vector of its own memory."""
    ss = library().Vector.ss
    if x.present is None:
        return given(ss.import_full, {}, values=np.array(x.values))
    facts = {"nvals": int(x.present.sum())}
    return given(ss.import_bitmap, facts, bitmap=np.array(x.present), values=np.array(x.values))


def export_dense(y: graphblas.Vector, zero: Any) -> np.ndarray:
    """The vector as an array with `zero` at absent positions; `y` is used up."""
    size, count = y.size, y.nvals
    dtype = zero.dtype  # GraphBLAS's pair gives an integer where A is bool
    if count == 0:
        return np.full(size, zero, dtype)
    if count < size:
        parts = y.ss.export("bitmap", give_ownership=True)
        values, present = parts["values"], parts["bitmap"].view(bool)
        if parts.get("is_iso"):
            return np.where(present, values[0].astype(dtype), zero)
        values[~present] = zero
        return values.astype(dtype, copy=False)
    parts = y.ss.export("full", give_ownership=True)
    return (
        np.full(size, parts["values"][0], dtype) if parts.get("is_iso") else parts["values"].astype(dtype, copy=False)
    )
