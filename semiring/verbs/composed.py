"""Verbs and functions made of others: Kronecker products, unions with values for absent entries, diagonals, powers.

Source: A. Buluç et al., The GraphBLAS C API Specification, version 2.0, 2021; T. Davis, User guide for
SuiteSparse:GraphBLAS, 2023, for the union.
"""

from __future__ import annotations

import operator
from typing import Any, Unpack, overload

import numpy as np

from formats import COO, CSR, Matrix, SparseVector
from formats.arrays import Scalar, differs, index_dtype, namespace
from formats.places import LIMITS
from formats.storage.compressed import compress, expand

from ..algebra.ops import BinaryOp
from ..algebra.semirings import Law, Semiring, find_combiner, find_semiring
from . import hypersparse, merge, steps
from .checks import check_matrix, check_pair, check_result, check_vectors
from .masks import MatrixWrite, VectorWrite
from .operands import cast_vector, common_dtype, result_dtype, scalar_for, typed_matrix, typed_vector, typing_of
from .registry import Vector, Verb
from .signatures import EwiseUnion, IntoEither, IntoMatrix, Operator, VectorLike
from .strips import by_strips
from .verbs import mxm, select


@Verb
def kronecker(A: Matrix, B: Matrix, op: Operator, **rule: Unpack[IntoMatrix]) -> CSR:
    """C = A ⊗ B of Kronecker: every entry a of A becomes the block op(a, B).

    Args:
        A: (m, n).
        B: (p, q), of A's format and device. Another format than CSR is taken by its rows.
        op: a semiring (its ⊗), a monoid or an operator. The first two say which value is absent.

    Returns:
        (mp, nq) of NumPy's common dtype, with c = op(A[i, j], B[k, l]) at (ip + k, jq + l).

    Raises:
        ValueError: devices do not fit.
        TypeError: the operator is not defined on the dtype.
        OutOfHostMemory, OutOfDeviceMemory: the result does not fit.

    Example:
        >>> from formats import from_edges
        >>> C = kronecker(from_edges([0, 1], [1, 0], [2, 3]), from_edges([0], [0], [5], shape=(1, 2)), "times")
        >>> C.to_dense().tolist()
        [[0, 0, 10, 0], [15, 0, 0, 0]]

    Source: GraphBLAS, GrB_kronecker.
    """
    check_pair(A, B)
    combiner, typing = find_combiner(op, "mul"), typing_of(op, "mul")
    dtype = common_dtype(typing, A, B) if typing else np.result_type(A.dtype, B.dtype)
    shape, nnz = (A.nrows * B.nrows, A.ncols * B.ncols), A.nnz * B.nnz
    result = result_dtype(combiner, dtype)
    write = MatrixWrite.checked(shape, result, A.place, rule)
    index = index_dtype(*shape, nnz).itemsize
    size = (shape[0] + 1) * (index + 8) + nnz * (index + result.itemsize)
    A.place.check_room(f"kronecker, for its result of {shape[0]:,} × {shape[1]:,} with {nnz:,} entries,", size)
    A, B = kronecker.together(A, B)
    both = [typed_matrix(M, typing, dtype) if typing else M.astype(dtype) for M in (A, B)]
    by_pattern = isinstance(combiner, BinaryOp) and combiner.reads == ""
    zero = typing.zero(dtype) if typing and not by_pattern else None
    return kronecker.find(type(A), A.place)(*both, combiner, zero, write)


@EwiseUnion
def ewise_union(
    u: Matrix | VectorLike,
    alpha: Scalar,
    v: Matrix | VectorLike,
    beta: Scalar,
    op: Operator,
    **rule: Unpack[IntoEither],
) -> CSR | VectorLike:
    """w = op(u, v) over the union, where `alpha` stands for what u lacks, and `beta` for what v lacks.

    So u - v has the sign of -v where u is absent, which `ewise_add` leaves as v.

    Args:
        u: a vector, or a matrix. Another format than CSR is taken by its rows.
        alpha: the value of u where only v is present.
        v: a vector of u's size, or a matrix of u's shape and format.
        beta: the value of v where only u is present.
        op: a semiring (its ⊕), a monoid or an operator. The first two say what is absent in a dense vector; with an
            operator every element of one is present.

    Returns:
        A CSR, a sparse vector if both are sparse, else a dense one.

    Raises:
        ValueError: sizes or devices do not fit, or the dtype cannot hold alpha or beta.
        TypeError: the operator is not defined on the dtype.

    Example:
        >>> u, v = SparseVector([0, 2], [5, 7], 4), SparseVector([2, 3], [4, 1], 4)
        >>> w = ewise_union(u, 0, v, 0, "minus")
        >>> w.indices.tolist(), w.values.tolist()
        ([0, 2, 3], [5, 3, -1])

    Source: SuiteSparse:GraphBLAS, GxB_eWiseUnion.
    """
    combiner, typing = find_combiner(op, "add"), typing_of(op, "add")
    both: tuple[Any, Any] = (u, v)
    place = u.place if isinstance(u, Matrix) else check_vectors(*both)
    if isinstance(u, Matrix):
        _check_shapes(*both)
    dtype = common_dtype(typing, u, v) if typing else np.result_type(u.dtype, v.dtype)
    alpha, beta = scalar_for(dtype, alpha, "alpha"), scalar_for(dtype, beta, "beta")
    result, zero = result_dtype(combiner, dtype), typing.zero(dtype) if typing else None
    if isinstance(u, Matrix):
        into = MatrixWrite.checked(u.shape, result, place, rule)
        if type(u) is COO and hypersparse.suit(rule, u, v):
            combined = lambda u, v, M: ewise_union(u, alpha, v, beta, op, **{**rule, "mask": M})  # noqa: E731
            return hypersparse.computed(combined, (u, v, rule.get("mask")), ("ij", "ij", "ij"))
        A, B = (typed_matrix(M, typing, dtype) if typing else M.astype(dtype) for M in ewise_union.together(*both))
        return ewise_union.find(type(A), place)(A, alpha, B, beta, combiner, into)
    x, y = (typed_vector(x, typing, dtype) if typing else cast_vector(x, dtype) for x in both)
    write = VectorWrite.checked(x.size, result, result.type(0) if zero is None else zero, place, rule)
    return ewise_union.find(Vector, place)(x, alpha, y, beta, combiner, zero, write)


def _check_shapes(A: Matrix, B: Matrix) -> None:
    """TypeError or ValueError unless the matrices fit each other, and the union of their entries the user's limit."""
    check_pair(A, B)
    if A.shape != B.shape:
        raise ValueError(f"the matrices must have one shape, got {A.shape} and {B.shape}")
    if LIMITS:
        check_result("ewise_union", A.place, 2 * (A.nbytes + B.nbytes))


# --- diagonals ------------------------------------------------------------------------------------------------------


@overload
def diag(x: Matrix, k: int = 0) -> SparseVector: ...
@overload
def diag(x: VectorLike, k: int = 0, *, semiring: Semiring | str | None = None) -> CSR: ...
def diag(x: Matrix | VectorLike, k: int = 0, *, semiring: Semiring | str | None = None) -> CSR | SparseVector:
    """The matrix with a vector on its k-th diagonal; or of a matrix its k-th diagonal.

    Args:
        x: a vector, whose entries become entries; or a matrix.
        k: the number of the diagonal: the column minus the row.
        semiring: says which elements of a dense vector are absent; without it all are present.

    Returns:
        Of a vector of n elements a square CSR of n + |k| rows; of a matrix a SparseVector, as long as its diagonal.

    Raises:
        TypeError: k is no integer, or semiring= is given with a matrix.
        OutOfHostMemory, OutOfDeviceMemory: the matrix does not fit.

    Example:
        >>> D = diag(np.array([5.0, 7.0]), 1)
        >>> D.to_dense().tolist(), diag(D, 1).values.tolist()
        ([[0.0, 5.0, 0.0], [0.0, 0.0, 7.0], [0.0, 0.0, 0.0]], [5.0, 7.0])

    Source: GraphBLAS, GrB_Matrix_diag; SuiteSparse:GraphBLAS, GxB_Vector_diag.
    """
    k = operator.index(k)
    if isinstance(x, Matrix):
        if semiring is not None:
            raise TypeError("semiring= says what is absent in a dense vector: a matrix says so itself")
        by_row: Any = select(x, "diag", k).to(CSR)
        size = max(0, min(x.nrows + min(k, 0), x.ncols - max(k, 0)))
        along = by_row.indices if k < 0 else expand(by_row.indptr)
        return SparseVector.trusted(along.astype(index_dtype(size), copy=False), by_row.values, size)
    place = check_vectors(x)
    zero = find_semiring(semiring).zero(x.dtype) if semiring is not None else None
    if not isinstance(x, SparseVector):
        x = SparseVector.trusted(namespace(x).arange(x.size, dtype=index_dtype(x.size)), x.copy(), x.size)
    x = merge.drop(x, zero)
    n = x.size + abs(k)
    index = index_dtype(n, x.nnz)
    place.check_room(f"diag, for its result of {n:,} × {n:,},", (n + 1 + x.nnz) * index.itemsize)
    cols = x.indices.astype(index, copy=False) + index.type(max(k, 0))
    if x.nnz == x.size:  # the entries before a row are as many as the rows before it that have one
        indptr = namespace(cols).arange(-max(-k, 0), n + 1 - max(-k, 0), dtype=index).clip(0, x.size)
    else:
        indptr = compress(x.indices.astype(index, copy=False) + index.type(max(-k, 0)), n, index)
    return CSR.trusted(indptr, cols, x.values, (n, n))


# --- powers ---------------------------------------------------------------------------------------------------------


def power(A: Matrix, exponent: int, semiring: Semiring | str) -> CSR:
    """A ⊗ A ⊗ …, `exponent` times: in min-plus, the shortest paths of so many edges.

    Args:
        A: (n, n). Another format than CSR is taken by its rows.
        exponent: how many factors there are. 0 gives the matrix with the semiring's unit on its diagonal.
        semiring: (⊕, ⊗), or its name. If it declares that ⊗ is associative and distributes over ⊕, squares are squared;
            else the product is computed from left to right.

    Returns:
        (n, n), without entries equal to the semiring's zero.

    Raises:
        ValueError: A is not square, the exponent is negative, or it is 0 and the semiring has no unit.
        TypeError: the exponent is no integer, or the semiring is not defined on A's dtype.

    Example:
        >>> from formats import from_edges
        >>> A = from_edges([0, 1, 2], [1, 2, 0], [5, 9, 3])
        >>> power(A, 3, "min_plus").to_edges()[2].tolist()
        [17, 17, 17]

    Source: D. E. Knuth, The Art of Computer Programming, volume 2, section 4.6.3.
    """
    s, exponent = find_semiring(semiring), operator.index(exponent)
    check_matrix("A", A)
    if A.nrows != A.ncols:
        raise ValueError(f"A must be square to have powers, got shape {A.shape}")
    if exponent < 0:
        raise ValueError(f"the exponent must not be negative, got {exponent}")
    dtype = common_dtype(s, A)
    factor: Any = typed_matrix(A if isinstance(A, CSR) else mxm.rows_of(A), s, dtype)
    if exponent == 0:
        return diag(factor.xp.full(A.nrows, s.unit(dtype), dtype))
    if exponent == 1:
        return _without_zeros(factor, s)
    if not {Law.ASSOCIATIVE, Law.DISTRIBUTES_LEFT, Law.DISTRIBUTES_RIGHT} <= s.laws:
        product = factor
        for _ in range(exponent - 1):
            product = mxm(product, factor, s)
        return product
    product = None
    while exponent:
        if exponent & 1:
            product = factor if product is None else mxm(product, factor, s)
        exponent >>= 1
        if exponent:
            factor = mxm(factor, factor, s)
    return product


def _without_zeros(A: CSR, s: Semiring) -> Any:
    """A new matrix of the entries that take part in products."""
    zero = s.zero(A.dtype)
    return by_strips(
        A, lambda M, _: steps.kept(M, differs(M.values, zero)) if s.mul.reads else CSR.trusted(*M.components)
    )
