"""The verbs of the GraphBLAS: products, element-wise operations, and moving parts of matrices and vectors.

A verb checks its arguments, brings the operands to one dtype and hands over to the implementation that is registered
for the matrix's format and device. A dense vector is an array, a sparse one a `SparseVector`; the result has the kind
of the input. Every verb takes the write rule's `mask`, `complement`, `accum`, `out` and `replace` (see `masks`).

Source: A. Buluç, T. Mattson, S. McMillan, J. Moreira, C. Yang, Design of the GraphBLAS API for C, GABB, 2017.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Literal, Unpack

import numpy as np

from formats import COO, CSR, Matrix, SparseVector
from formats.arrays import (
    Array,
    DenseRows,
    DenseVector,
    IntegerRows,
    Scalar,
    as_array,
    as_indices,
    check_not_nan,
    contiguous,
    differs,
    equals,
    index_dtype,
    namespace,
    to_device,
)
from formats.places import LIMITS, Place, place_of
from formats.vector import is_scalar

from ..algebra.ops import BinaryOp, find_unary
from ..algebra.predicates import Predicate, find_comparison, find_predicate, is_function, said
from ..algebra.semirings import Monoid, Semiring, find_combiner, find_monoid, find_semiring
from . import arguments, hypersparse, positions
from .checks import (
    check_distinct,
    check_dtype,
    check_matrix,
    check_operand,
    check_operands,
    check_pair,
    check_result,
    check_vector,
    check_vectors,
    chosen,
    in_order,
    is_index,
    one_index,
)
from .masks import DenseWrite, MatrixWrite, Rule, VectorWrite
from .operands import (
    cast_vector,
    common_dtype,
    number,
    result_dtype,
    typed_array,
    typed_matrix,
    typed_vector,
    typing_of,
    value_for,
)
from .registry import Internal, Vector, Verb
from .signatures import (
    Apply,
    Assign,
    Condition,
    ElementWise,
    Extract,
    Function,
    Index,
    Indices,
    IntoEither,
    IntoMatrix,
    IntoRows,
    IntoVector,
    Mxm,
    Mxv,
    Operator,
    Reduce,
    Select,
    Transpose,
    VectorLike,
    Vxm,
)

# --- products -------------------------------------------------------------------------------------------------------


@Mxv
def mxv(
    A: Matrix, x: VectorLike, semiring: Semiring | str, *, return_argument: bool = False, **rule: Unpack[IntoVector]
) -> VectorLike | tuple[VectorLike, VectorLike]:
    """y = A ⊗ x, that is y_i = ⊕_k a_ik ⊗ x_k: SpMV, or SpMSpV where `x` is sparse.

    Args:
        A: (m, n).
        x: (n,), an array or a SparseVector, on A's device.
        semiring: (⊕, ⊗), or its name. "min_secondi" and other names of `POSITIONS` give which k a term is of, in int64.
        return_argument: also tell which k gave each y_i: the smallest of equals, where ⊕ selects one, as min does.

    Returns:
        (m,) of NumPy's common dtype on A's device, dense or sparse as `x` is. With `return_argument` (y, k), k likewise
        of integers, -1 where y is the zero or was not written.

    Raises:
        ValueError: sizes or devices do not fit, or `return_argument` comes with accum.
        TypeError: the semiring is not defined on the dtype, or `return_argument` is asked of sums.

    Example:
        >>> import numpy as np
        >>> from formats import from_edges
        >>> A = from_edges([0, 0, 1], [0, 1, 1], [5.0, 9.0, 3.0])
        >>> mxv(A, np.array([0.0, 1.0]), "min_plus").tolist()
        [5.0, 4.0]

    Source: GraphBLAS, GrB_mxv.
    """
    s = find_semiring(semiring)
    check_matrix("A", A)
    check_operand("x", x, A.ncols, A)
    if s.mul.position is not None:
        positions.check_alone(s, return_argument)
        return positions.product(mxv, A, x, s, rule, matrix_first=True)
    dtype = common_dtype(s, A, x)
    if LIMITS:
        check_result("mxv", A.place, A.nrows * dtype.itemsize)
    write = VectorWrite.checked(A.nrows, dtype, s.zero(dtype), A.place, rule)
    if return_argument:
        return _with_argument(typed_matrix(A, s, dtype), typed_vector(x, s, dtype), s, write, True)
    return mxv.find(type(A), A.place)(typed_matrix(A, s, dtype), typed_vector(x, s, dtype), s, write)


@Vxm
def vxm(
    x: VectorLike, A: Matrix, semiring: Semiring | str, *, return_argument: bool = False, **rule: Unpack[IntoVector]
) -> VectorLike | tuple[VectorLike, VectorLike]:
    """y = x ⊗ A, that is y_j = ⊕_k x_k ⊗ a_kj: the step along the edges, a push where `x` is sparse.

    Args:
        x: (m,), an array or a SparseVector, on A's device.
        A: (m, n).
        semiring: (⊕, ⊗), or its name. "min_secondi" and other names of `POSITIONS` give which k a term is of, in int64.
        return_argument: also tell which k gave each y_j: the smallest of equals, where ⊕ selects one, as min does.

    Returns:
        (n,) of NumPy's common dtype on A's device, dense or sparse as `x` is. With `return_argument` (y, k), k likewise
        of integers, -1 where y is the zero or was not written.

    Raises:
        ValueError: sizes or devices do not fit, or `return_argument` comes with accum.
        TypeError: the semiring is not defined on the dtype, or `return_argument` is asked of sums.

    Example:
        >>> import numpy as np
        >>> from formats import from_edges
        >>> A = from_edges([0, 0, 1], [0, 1, 1], [5.0, 9.0, 3.0])
        >>> vxm(np.array([0.0, 1.0]), A, "min_plus").tolist()
        [5.0, 4.0]

    Source: GraphBLAS, GrB_vxm.
    """
    s = find_semiring(semiring)
    check_matrix("A", A)
    check_operand("x", x, A.nrows, A)
    if s.mul.position is not None:
        positions.check_alone(s, return_argument)
        return positions.product(vxm, A, x, s, rule, matrix_first=False)
    dtype = common_dtype(s, A, x)
    if LIMITS:
        check_result("vxm", A.place, A.ncols * dtype.itemsize)
    write = VectorWrite.checked(A.ncols, dtype, s.zero(dtype), A.place, rule)
    if return_argument:
        return _with_argument(typed_matrix(A, s, dtype).T, typed_vector(x, s, dtype), s, write, False)
    return vxm.find(type(A), A.place)(typed_vector(x, s, dtype), typed_matrix(A, s, dtype), s, write)


@Mxm
def mxm(
    A: Matrix | Array,
    B: Matrix | Array,
    semiring: Semiring | str,
    *,
    return_argument: bool = False,
    **rule: Unpack[IntoRows],
) -> CSR | DenseRows | tuple[CSR, CSR] | tuple[DenseRows, IntegerRows]:
    """C = A ⊗ B, that is c_ij = ⊕_k a_ik ⊗ b_kj: of two matrices a matrix, with a dense operand dense.

    Args:
        A: (m, k), a matrix or an array.
        B: (k, n), likewise, on one device; of two matrices of A's format. Formats without a product of their own are
            taken by their rows, as CSR.
        semiring: (⊕, ⊗), or its name. In an array its zero stands for what is absent. "min_secondi" and other names of
            `POSITIONS` give which k a term is of, in int64, of two matrices.
        return_argument: also tell which k gave each c_ij: the smallest of equals, where ⊕ selects one, as min does.

    Returns:
        (m, n) of NumPy's common dtype: of two matrices a CSR without entries equal to the semiring's zero, else an
        array. With `return_argument` (C, K), K likewise of integers, -1 where an array is the zero or was not written.

    Raises:
        ValueError: shapes or devices do not fit, or `return_argument` comes with accum.
        TypeError: the semiring is not defined on the dtype, or `return_argument` is asked of sums.

    Example:
        >>> import numpy as np
        >>> from formats import from_edges
        >>> A = from_edges([0, 1, 2], [1, 2, 3], [5.0, 9.0, 3.0], shape=4)
        >>> C = mxm(A, A, "min_plus")
        >>> C[0, 2], C[1, 3], C.nnz
        (np.float64(14.0), np.float64(12.0), 2)
        >>> mxm(A, np.array([[0.0, 7.0], [1.0, 7.0], [2.0, 7.0], [3.0, 7.0]]), "min_plus").tolist()
        [[6.0, 12.0], [11.0, 16.0], [6.0, 10.0], [inf, inf]]

    Source: GraphBLAS, GrB_mxm.
    """
    s = find_semiring(semiring)
    if return_argument:
        arguments.check_argument(s.add, rule.get("accum"))
    if s.mul.position is not None:
        positions.check_alone(s, return_argument, A, B)
    if not (isinstance(A, Matrix) and isinstance(B, Matrix)):
        if not rule and not return_argument:
            y = _of_vector(A, B, s)
            if y is not None:
                return y
        return _dense_product(A, B, s, rule, return_argument)
    check_pair(A, B)
    if A.ncols != B.nrows:
        raise ValueError(f"A's columns must be B's rows in number, got shapes {A.shape} and {B.shape}")
    if s.mul.position is not None:
        write = MatrixWrite.checked((A.nrows, B.ncols), np.dtype(np.int64), A.place, rule)
        return positions.matrix_product(mxm, A, B, s, write, rule)
    dtype = common_dtype(s, A, B)
    write = MatrixWrite.checked((A.nrows, B.ncols), dtype, A.place, rule)
    if return_argument:
        return _sparse_with_argument(A, B, s, write)
    if type(A) is COO and hypersparse.suit(rule, A, B):
        product = lambda A, B, M: mxm(A, B, s, **{**rule, "mask": M})  # noqa: E731
        return hypersparse.computed(product, (A, B, rule.get("mask")), ("ik", "kj", "ij"))
    A, B = mxm.together(A, B)
    return mxm.find(type(A), A.place)(typed_matrix(A, s, dtype), typed_matrix(B, s, dtype), s, write)


def _sparse_with_argument(A: Matrix, B: Matrix, s: Semiring, write: MatrixWrite) -> tuple[CSR, CSR]:
    """Computes (C, K) of two matrices, by their rows."""
    left, right = (typed_matrix(mxm.rows_of(M), s, write.dtype) for M in mxm.together(A, B))
    C, K = product_with_arguments(left, right, s, write.mask, write.complement)
    return write(C, masked=True), K


@Internal
def product_with_arguments(A: CSR, B: CSR, semiring: Semiring, mask: Any, complement: bool) -> tuple[CSR, CSR]:
    """C = A ⊗ B where the mask allows it, and which k gave each entry.

    Args:
        A: (m, n).
        B: (n, columns), of A's dtype, on its device.
        semiring: (⊕, ⊗). ⊕ selects.
        mask, complement: as of `mxm`.

    Returns:
        (C, K), each (m, columns); K has the smallest k that gives each entry, in C's pattern.
    """
    return product_with_arguments.find(type(A), A.place)(A, B, semiring, mask, complement)


def _of_vector(A: Any, B: Any, s: Semiring) -> Any:
    """A ⊗ B as mxv and vxm have it, if one of them is a matrix and the other a column or a row; else None."""
    if isinstance(A, Matrix) and getattr(B, "shape", None) == (A.ncols, 1):
        M, x, name, rows = A, B.reshape(-1), "the second operand", A.nrows
    elif isinstance(B, Matrix) and getattr(A, "shape", None) == (1, B.nrows):
        M, x, name, rows = B, A.reshape(-1), "the first operand", B.ncols
    else:
        return None
    check_operand(name, x, x.size, M)
    dtype = common_dtype(s, M, x)
    if LIMITS:
        check_result("mxm", M.place, rows * dtype.itemsize)
    own, vector, write = typed_matrix(M, s, dtype), typed_vector(x, s, dtype), VectorWrite(rows, dtype, s.zero(dtype))
    if M is A:
        return mxv.find(type(M), M.place)(own, vector, s, write).reshape(-1, 1)
    return vxm.find(type(M), M.place)(vector, own, s, write).reshape(1, -1)


def _dense_product(A: Any, B: Any, s: Semiring, rule: Rule, argument: bool) -> Any:
    """mxm with one operand or two that are arrays."""
    place = check_operands(A, B)
    dtype, shape = common_dtype(s, A, B), (A.shape[0], B.shape[1])
    write = DenseWrite.checked(shape, dtype, s.zero(dtype), place, rule)
    size = shape[0] * shape[1] * (dtype.itemsize + (index_dtype(A.shape[1]).itemsize if argument else 0))
    if place.questions(size):
        place.check_room(f"mxm, for its result of {shape[0]:,} × {shape[1]:,},", size)
    if isinstance(A, Matrix):
        X = typed_array(B, s, dtype)
        found = dense_mxm(typed_matrix(A, s, dtype), X, s, True, argument, write.allowed)
    elif isinstance(B, Matrix):
        X = typed_array(A.T, s, dtype)
        allowed = None if write.allowed is None else contiguous(write.allowed.T)
        turned = dense_mxm(typed_matrix(B, s, dtype).T, X, s, False, argument, allowed)
        found = tuple(part.T for part in turned) if argument else turned.T
    else:
        found = dense_dense(typed_array(A, s, dtype), typed_array(B, s, dtype), s, argument)
    return _written_with_argument(found, write) if argument else write(found)


def _written_with_argument(found: tuple[Array, Array], write: DenseWrite | VectorWrite) -> Any:
    """Writes (y, k) by the write rule: k is `NONE` where y is not written."""
    y, k = found
    if write.allowed is not None:
        k[~write.allowed] = arguments.NONE
    return write(y), k


@Internal
def dense_mxm(
    A: Matrix, X: Array, semiring: Semiring, matrix_first: bool, argument: bool = False, allowed: Array | None = None
) -> Any:
    """Y, y_ij = ⊕_k a_ik ⊗ x_kj (matrix_first) or ⊕_k x_kj ⊗ a_ik: what mxm with one dense operand is made of.

    Args:
        A: (m, n).
        X: (n, columns), C-contiguous, of A's dtype, on its device; all of them and A's rows at least one where a cell
            is called.
        semiring: (⊕, ⊗).
        matrix_first: in which order ⊗ takes its operands.
        argument: find arguments, too. ⊕ selects.
        allowed: (m, columns) of Booleans, C-contiguous: what is wanted. The rest may come as it likes.

    Returns:
        Y, (m, columns), an array of its own; or (Y, K), K of `index_dtype(n)`, see `arguments`.
    """
    shape = (A.nrows, X.shape[1])
    if 0 in shape or A.ncols == 0:
        xp, zero = A.xp, semiring.zero(A.dtype)
        Y = xp.full(shape, zero, A.dtype)
        return (Y, xp.full(shape, arguments.NONE, index_dtype(A.ncols))) if argument else Y
    if shape[1] == 1 and not argument:
        x, mask = X.reshape(-1), None if allowed is None else allowed.reshape(-1)
        write = VectorWrite(A.nrows, A.dtype, semiring.zero(A.dtype), mask=mask)
        if matrix_first:
            return mxv.find(type(A), A.place)(A, x, semiring, write).reshape(shape)
        return vxm.find(type(A.T), A.place)(x, A.T, semiring, write).reshape(shape)
    return dense_mxm.find(type(A), A.place)(A, X, semiring, matrix_first, argument, allowed)


@Internal
def dense_dense(X: Array, Y: Array, semiring: Semiring, argument: bool = False) -> Any:
    """Z, z_ij = ⊕_k x_ik ⊗ y_kj: what mxm with two dense operands is made of. Its cells are of the format `Vector`.

    Args:
        X: (m, n), C-contiguous; the zero is absent.
        Y: (n, columns), C-contiguous, of X's dtype, on its device. No extent is 0 where a cell is called.
        semiring: (⊕, ⊗).
        argument: find arguments, too. ⊕ selects.

    Returns:
        Z, (m, columns), an array of its own; or (Z, K), K of `index_dtype(n)`, see `arguments`.
    """
    shape = (X.shape[0], Y.shape[1])
    if 0 in shape or X.shape[1] == 0:
        xp = namespace(X)
        Z = xp.full(shape, semiring.zero(X.dtype), X.dtype)
        return (Z, xp.full(shape, arguments.NONE, index_dtype(X.shape[1]))) if argument else Z
    return dense_dense.find(Vector, place_of(X))(X, Y, semiring, argument)


def _with_argument(A: Matrix, x: Any, s: Semiring, write: VectorWrite, matrix_first: bool) -> Any:
    """Computes (y, k) of A ⊗ x or, matrix_first being False, of x ⊗ a for each row of A; both sparse if y is."""
    arguments.check_argument(s.add, write.accum)
    zero = s.zero(A.dtype)
    X = contiguous(x.to_dense(zero) if isinstance(x, SparseVector) else x).reshape(-1, 1)
    allowed = None if write.allowed is None else contiguous(write.allowed).reshape(-1, 1)
    y, k = (part.reshape(-1) for part in dense_mxm(A, X, s, matrix_first, True, allowed))
    if not isinstance(x, SparseVector):
        return _written_with_argument((y, k), write)
    found = differs(y, zero) if write.allowed is None else differs(y, zero) & write.allowed
    at = namespace(found).flatnonzero(found)
    indices = at.astype(index_dtype(y.size))
    sparse = (SparseVector.trusted(indices, part.take(at), y.size) for part in (y, k))
    return write(next(sparse)), next(sparse)


# --- element by element ---------------------------------------------------------------------------------------------


@ElementWise[SparseVector, DenseVector]
def ewise_add(
    u: Matrix | VectorLike, v: Matrix | VectorLike, op: Operator, **rule: Unpack[IntoEither]
) -> CSR | VectorLike:
    """w = u ⊕ v over the union: op where both are present, whichever is present elsewhere.

    Args:
        u, v: two vectors of one size, or two matrices of one shape and format. Another format than CSR is taken by its
            rows.
        op: a semiring (its ⊕), a monoid or an operator. The first two say what is absent in a dense vector; with an
            operator every element of one is present.

    Returns:
        A CSR, a sparse vector if both are sparse, else a dense one.

    Raises:
        ValueError: sizes or devices do not fit, or "div", "rdiv" or "pow" of floats has no result, as 0 / 0.
        TypeError: the operator is a comparison, or is not defined on the dtype.

    Example:
        >>> from formats import SparseVector
        >>> u, v = SparseVector([0, 2], [5, 7], 4), SparseVector([2, 3], [4, 1], 4)
        >>> w = ewise_add(u, v, "min")
        >>> w.indices.tolist(), w.values.tolist()
        ([0, 2, 3], [5, 4, 1])

    Source: GraphBLAS, GrB_eWiseAdd.
    """
    return _element_wise(ewise_add, u, v, op, "add", rule)


@ElementWise[DenseVector, SparseVector]
def ewise_mult(
    u: Matrix | VectorLike, v: Matrix | VectorLike, op: Operator, **rule: Unpack[IntoEither]
) -> CSR | VectorLike:
    """w = u ⊗ v over the intersection: op where both are present, absent elsewhere.

    Args:
        u, v: two vectors of one size, or two matrices of one shape and format. Another format than CSR is taken by its
            rows.
        op: a semiring (its ⊗), a monoid or an operator. The first two say what is absent in a dense vector; with an
            operator every element of one is present.

    Returns:
        A CSR, a dense vector if both are dense, else a sparse one.

    Raises:
        ValueError: sizes or devices do not fit, or "div", "rdiv" or "pow" of floats has no result, as 0 / 0.
        TypeError: the operator is not defined on the dtype.

    Example:
        >>> from formats import SparseVector
        >>> u, v = SparseVector([0, 2], [5, 7], 4), SparseVector([2, 3], [4, 1], 4)
        >>> w = ewise_mult(u, v, "plus")
        >>> w.indices.tolist(), w.values.tolist()
        ([2], [11])

    Source: GraphBLAS, GrB_eWiseMult.
    """
    return _element_wise(ewise_mult, u, v, op, "mul", rule)


def _element_wise(verb: Verb[..., Any], u: Any, v: Any, op: Operator, part: Any, rule: Rule) -> Any:
    combiner, typing = find_combiner(op, part), typing_of(op, part)
    if verb is ewise_add and isinstance(combiner, BinaryOp) and combiner.boolean:
        raise TypeError(f"{combiner.name} compares two present values: use ewise_mult")
    if isinstance(u, Matrix):
        check_pair(u, v)
        if u.shape != v.shape:
            raise ValueError(f"the matrices must have one shape, got {u.shape} and {v.shape}")
        dtype = common_dtype(typing, u, v) if typing else np.result_type(u.dtype, v.dtype)
        if LIMITS:
            check_result(verb.name, u.place, u.nbytes + v.nbytes)
        write: Any = MatrixWrite.checked(u.shape, result_dtype(combiner, dtype), u.place, rule)
        if type(u) is COO and hypersparse.suit(rule, u, v):
            combined = lambda u, v, M: verb(u, v, op, **{**rule, "mask": M})  # noqa: E731
            return hypersparse.computed(combined, (u, v, rule.get("mask")), ("ij", "ij", "ij"))
        u, v = verb.together(u, v)
        both = [typed_matrix(M, typing, dtype) if typing else M.astype(dtype) for M in (u, v)]
        return verb.find(type(u), u.place)(*both, combiner, typing.zero(dtype) if typing else None, write)
    place = check_vectors(u, v)
    dtype = common_dtype(typing, u, v) if typing else np.result_type(u.dtype, v.dtype)
    zero = typing.zero(dtype) if typing else None
    both = [typed_vector(x, typing, dtype) if typing else cast_vector(x, dtype) for x in (u, v)]
    result = result_dtype(combiner, dtype)
    write = VectorWrite.checked(u.size, result, result.type(0) if zero is None else zero, place, rule)
    return verb.find(Vector, place)(*both, combiner, zero, write)


@Apply
def apply(
    u: Matrix | VectorLike,
    op: Function,
    *,
    left: Scalar | None = None,
    right: Scalar | None = None,
    semiring: Semiring | str | None = None,
    **rule: Unpack[IntoEither],
) -> CSR | VectorLike:
    """w = f(u) on every present entry.

    Args:
        u: a vector or a matrix. Another format than CSR is taken by its rows.
        op: a unary operator ("ainv", "sqrt"; `UNARY_OPERATORS` has them all), a function of arrays such as a NumPy
            ufunc, or a binary operator with one operand bound. "rowindex", "colindex" and "diagindex" (column minus
            row) give where an entry is, in int64, plus `right`: j - i + right, as the standard has it, where
            SuiteSparse subtracts.
        left: the left operand of a binary operator, a scalar.
        right: the right one.
        semiring: says which elements of a dense vector are absent, and stay so; without it all are present.

    Returns:
        A vector as `u` is, or a CSR, of the function's dtype.

    Raises:
        ValueError: both operands are bound, the function changes the shape, or its result has a NaN.
        TypeError: the function's result has a dtype that there is not.

    Example:
        >>> import numpy as np
        >>> apply(np.array([1.0, 4.0]), np.sqrt).tolist(), apply(np.array([1.0, 4.0]), "plus", right=2).tolist()
        ([1.0, 2.0], [3.0, 6.0])

    Source: GraphBLAS, GrB_apply.
    """
    if isinstance(op, str) and op in positions.FUNCTIONS:
        if left is not None:
            raise TypeError(f"{op} takes what is added as right=")
        if not isinstance(u, Matrix):
            check_vectors(u)
        own = find_semiring(semiring) if semiring is not None else None
        return positions.applied(apply, u, op, right, own, rule)
    if not isinstance(u, Matrix):
        place = check_vectors(u)
    if left is not None:
        left = number("left", left, u.dtype)
    if right is not None:
        right = number("right", right, u.dtype)
    function = _element_by_element(_bound(op, left, right))
    if type(u) is COO and hypersparse.suit(rule, u):
        applied = lambda u, M: apply(u, op, left=left, right=right, **{**rule, "mask": M})  # noqa: E731
        return hypersparse.computed(applied, (u, rule.get("mask")), ("ij", "ij"))
    if isinstance(u, Matrix):
        u = apply.served(u)
        write: Any = MatrixWrite.checked(u.shape, as_array(function(u.stored_parts[0][:1])).dtype, u.place, rule)
        return apply.find(type(u), u.place)(u, function, write)
    result_dtype = as_array(function(_one_value(u))).dtype
    zero = find_semiring(semiring).zero(u.dtype) if semiring is not None else None
    absent = find_semiring(semiring).zero(result_dtype) if semiring is not None else result_dtype.type(0)
    write = VectorWrite.checked(u.size, result_dtype, absent, place, rule)
    return apply.find(Vector, place)(u, function, zero, write)


@Select
def select(
    u: Matrix | VectorLike,
    predicate: Condition,
    other: Scalar | VectorLike | None = None,
    *,
    row: VectorLike | None = None,
    col: VectorLike | None = None,
    semiring: Semiring | str | None = None,
    **rule: Unpack[IntoEither],
) -> Matrix | VectorLike:
    """The entries for which a predicate holds; the others become absent.

    Args:
        u: a vector or a matrix.
        predicate: of a matrix a comparison, "tril" or "triu", a `Predicate` on (i, j, value, row[i], col[j]), or a
            function of arrays (value, row, column), the last two in int64, that gives a Boolean for each entry; of a
            vector a comparison, or a function of arrays (value, index). A function is given some entries at a time, by
            several threads, and in a format with padding also the padding, with some row and column of the matrix.
        other: what values are compared with, a scalar, or of a vector another one, index by index; the diagonal of
            "tril" and "triu", 0 if not given; of a function its last argument, if given.
        row: (nrows,) what a `Predicate` knows of rows. A sparse one restricts to the rows that it has.
        col: (ncols,) what a `Predicate` knows of columns, likewise.
        semiring: says what absent is in a dense vector, which needs it.

    Returns:
        What `u` is, with fewer entries.

    Raises:
        ValueError: there is no such predicate, or sizes do not fit.
        TypeError: a vector comes without something to compare with, or a dense one without a semiring, or a function
            gives no Booleans.

    Example:
        >>> from formats import from_edges
        >>> A = from_edges([0, 0, 1], [0, 1, 1], [5.0, 9.0, 3.0])
        >>> select(A, "<", 6).nnz, select(A, "tril", -1).nnz, select(A, lambda value, row, col: value > 4 * col).nnz
        (2, 0, 2)

    Source: GraphBLAS, GrB_select.
    """
    if isinstance(u, Matrix):
        for name, x, size in (("row", row, u.nrows), ("col", col, u.ncols)):
            if x is not None:
                if is_function(predicate):
                    raise TypeError(f"a function of entries is given no {name}=: a Predicate is")
                check_operand(name, x, size, u)
        if other is not None and is_scalar(other) and not is_function(predicate):
            other = number("other", other, u.dtype, held=False)
        write: Any = MatrixWrite.checked(u.shape, u.dtype, u.place, rule)
        return select.find(type(u), u.place)(u, find_predicate(predicate, other), row, col, write)
    place = check_vectors(u)
    if row is not None or col is not None:
        raise TypeError("a vector has no rows or columns to look up: row= and col= are for matrices")
    compare: Any = predicate
    if is_function(predicate):
        compare, other = _function_of_indices(compare, other), _indices_of(u)
    elif not isinstance(predicate, Predicate):
        compare = find_comparison(compare)
    if isinstance(compare, Predicate) or other is None:
        raise TypeError("select on a vector takes a comparison and what to compare with: select(t, '<', d)")
    if semiring is None and not isinstance(u, SparseVector):
        raise TypeError("select on a dense vector needs semiring=, which says what an absent entry is")
    if is_scalar(other):
        other = number("other", other, u.dtype, held=False)
    else:
        check_vectors(u, other)
    zero = find_semiring(semiring).zero(u.dtype) if semiring is not None else u.dtype.type(0)
    write = VectorWrite.checked(u.size, u.dtype, zero, place, rule)
    return select.find(Vector, place)(u, compare, other, write)


def _function_of_indices(function: Callable[..., Any], other: Any) -> Callable[[Any, Any], Any]:
    """A predicate that compares values with their indices as the function says."""
    thunk = () if other is None else (other,)
    return lambda values, indices: said(function, values, indices, *thunk)


def _indices_of(u: Any) -> Any:
    """A vector that holds its own indices where `u` has entries."""
    if isinstance(u, SparseVector):
        return SparseVector.trusted(u.indices, u.indices.astype(np.int64), u.size)
    return namespace(u).arange(u.size)


@Reduce
def reduce(
    u: Matrix | VectorLike,
    monoid: Monoid | Semiring | str,
    *,
    axis: Literal[0, 1] | None = None,
    return_argument: bool = False,
    **rule: Unpack[IntoVector],
) -> np.number | VectorLike | tuple[np.number | VectorLike, int | VectorLike]:
    """⊕ over the entries: of a vector or a whole matrix a scalar, of a matrix along an axis a dense vector.

    Args:
        u: a vector or a matrix.
        monoid: ⊕, or its name; of a semiring its ⊕. A saturated integer sum stops at the end of its range.
        axis: None for everything, 0 down each column, 1 along each row.
        return_argument: also tell where each element was: the index in a vector, the column in a row of a matrix, the
            row in a column; the smallest of equals. ⊕ must select one, as min and max do.

    Returns:
        A scalar of u's dtype, or a dense vector of it. Nothing to reduce gives the identity. With `return_argument`
        (value, index), -1 for the identity, or (y, k), k a dense vector of integers, -1 likewise.

    Raises:
        ValueError: there is no such axis, or a scalar result is given a part of the write rule; of a matrix
            `return_argument` comes without an axis, or with accum.
        TypeError: the monoid is not defined on the dtype, or `return_argument` is asked of sums.

    Example:
        >>> from formats import from_edges
        >>> A = from_edges([0, 0, 1], [0, 1, 1], [5.0, 9.0, 3.0])
        >>> reduce(A, "min").item(), reduce(A, "plus", axis=1).tolist()
        (3.0, [14.0, 3.0])
        >>> y, k = reduce(A, "max", axis=1, return_argument=True)
        >>> y.tolist(), k.tolist()
        ([9.0, 3.0], [1, 1])

    Source: GraphBLAS, GrB_reduce.
    """
    m = find_monoid(monoid)
    if not isinstance(u, Matrix):
        check_vectors(u)
        if axis is not None:
            raise ValueError(f"a vector has no axis to reduce along, got axis={axis!r}")
    if axis not in (None, 0, 1):
        raise ValueError(f"axis must be None, 0 or 1, got {axis!r}")
    if u.dtype not in m.dtypes:
        raise TypeError(f"{m.name} is not defined on {u.dtype}")
    if axis is None and any(rule.get(part) is not None for part in ("mask", "accum", "out")):
        raise ValueError("a scalar result takes no mask, accum or out: give an axis")
    if return_argument:
        arguments.check_argument(m, rule.get("accum"))
        if isinstance(u, Matrix) and axis is None:
            raise ValueError("return_argument of a matrix needs an axis, for an entry of it has two indices")
    if isinstance(u, Matrix):
        size = u.shape[1 - (axis or 0)]
        write = VectorWrite.checked(size, u.dtype, m.zero(u.dtype), u.place, rule)
        if return_argument:
            return _written_with_argument(reduce_lines(u, m, axis or 0), write)
        return reduce.find(type(u), u.place)(u, m, axis, write)
    total = reduce.find(Vector, check_vectors(u))(u, m)
    return (total, _place_of_value(u, total, m)) if return_argument else total


@Internal
def reduce_lines(A: Matrix, monoid: Monoid, axis: int) -> tuple[Array, Array]:
    """Computes (y, k), ⊕ over each row (axis 1) or column (0) and where it was, of which reduce with arguments is made.

    Args:
        A: (m, n); both extents at least one where a cell is called.
        monoid: ⊕, which selects.
        axis: 0 or 1.

    Returns:
        y and k, arrays of their own, of `index_dtype` of the extent along the axis, see `arguments`.
    """
    size, extent = A.shape[1 - axis], A.shape[axis]
    if 0 in A.shape:
        return (
            A.xp.full(size, monoid.zero(A.dtype), A.dtype),
            A.xp.full(size, arguments.NONE, index_dtype(extent)),
        )
    return reduce_lines.find(type(A), A.place)(A, monoid, axis)


def _place_of_value(u: VectorLike, value: Any, monoid: Monoid) -> int:
    """The first index at which the vector holds the value; `NONE` for the monoid's identity."""
    if value == monoid.zero(u.dtype):
        return arguments.NONE
    at = int(equals(u.values if isinstance(u, SparseVector) else u, value).argmax())
    return int(u.indices[at]) if isinstance(u, SparseVector) else at


# --- parts and places -----------------------------------------------------------------------------------------------


@Extract
def extract(
    u: Matrix | VectorLike,
    rows: Indices | Index | None = None,
    cols: Indices | Index | None = None,
    **rule: Unpack[IntoEither],
) -> CSR | VectorLike:
    """The part at the given indices, in their order: A(I, J), or u(I).

    Args:
        u: a vector or a matrix.
        rows: (k,) indices, which may repeat; None for all. Of a matrix also a single index.
        cols: likewise of a matrix. Only one of the two may be a single index.

    Returns:
        A matrix, or a vector as `u` is; of a single row or column a SparseVector.

    Raises:
        ValueError: an index is out of range.
        TypeError: a single entry is asked for, which is A[u, v], or columns of a vector.

    Example:
        >>> from formats import from_edges
        >>> A = from_edges([0, 0, 1], [0, 1, 1], [5.0, 9.0, 3.0])
        >>> extract(A, [1, 0], [1])[0, 0], extract(A, 0).values.tolist()
        (np.float64(3.0), [5.0, 9.0])

    Source: GraphBLAS, GrB_extract.
    """
    if not isinstance(u, Matrix):
        place = check_vectors(u)
        if cols is not None:
            raise TypeError("a vector has no columns: pass one array of indices")
        everywhere = namespace(u.values if isinstance(u, SparseVector) else u).arange
        indices = everywhere(u.size) if rows is None else _places("indices", rows, u.size, place)
        write: Any = VectorWrite.checked(indices.size, u.dtype, u.dtype.type(0), place, rule)
        return extract.find(Vector, place)(u, indices, write)
    if is_index(rows) and is_index(cols):
        raise TypeError("a single entry is A[u, v] or A.get(u, v)")
    if is_index(rows) or is_index(cols):
        at: Any = rows if is_index(rows) else cols
        axis = 0 if is_index(rows) else 1
        line = u if axis == 0 else u.T
        one = one_index(operator.index(at), "rows" if axis == 0 else "cols", line.nrows)
        others = cols if axis == 0 else rows
        others = None if others is None else _places("indices", others, line.ncols, u.place)
        size = line.ncols if others is None else others.size
        write = VectorWrite.checked(size, u.dtype, u.dtype.type(0), u.place, rule)
        if type(line) is COO and hypersparse.are_lists(line):
            part: Any = hypersparse.extracted(extract, line, to_device(one, u.place), others)
        else:
            line = extract.served(line)
            part = extract.find(type(line), u.place)(line, one, others, lambda T: T)
        return write(part if isinstance(part, SparseVector) else SparseVector.trusted(part.indices, part.values, size))
    chosen_rows, chosen_cols = chosen(u, rows, cols)
    shape = (
        u.nrows if chosen_rows is None else chosen_rows.size,
        u.ncols if chosen_cols is None else chosen_cols.size,
    )
    write = MatrixWrite.checked(shape, u.dtype, u.place, rule)
    if type(u) is COO and rule.get("mask") is None and hypersparse.suit(rule, u):
        return hypersparse.extracted(extract, u, chosen_rows, chosen_cols)
    u = extract.served(u)
    return extract.find(type(u), u.place)(u, chosen_rows, chosen_cols, write)


@Assign
def assign(
    out: CSR | VectorLike,
    value: Scalar | VectorLike | Matrix,
    rows: Indices | None = None,
    cols: Indices | None = None,
    *,
    mask: Matrix | VectorLike | None = None,
    complement: bool = False,
    accum: Operator | None = None,
    replace: bool = False,
    semiring: Semiring | str | None = None,
) -> CSR | VectorLike:
    """out⟨mask⟩(I) = accum(out(I), value): write a scalar, a vector or a matrix into places of `out`, and return `out`.

    Args:
        out: a vector, a CSR or a matrix in parts by rows, which becomes the result.
        value: a scalar for every place, or a vector or matrix of the places' size. Its absent entries make places
            absent.
        rows: (k,) indices without repetition; None for all.
        cols: likewise of a matrix.
        mask: over all of `out`: which places may change.
        complement: the places out of the mask may change.
        accum: combines what a place holds with its value.
        replace: makes the places that may not change absent.
        semiring: says what absent is in a dense `out` and value; by default 0.

    Returns:
        `out`.

    Raises:
        ValueError: an index is out of range or repeated, or out's dtype cannot hold the value.
        TypeError: the value is neither a scalar nor of out's kind.

    Example:
        >>> import numpy as np
        >>> assign(np.zeros(4), 7.0, [1, 3]).tolist()
        [0.0, 7.0, 0.0, 7.0]

    Source: GraphBLAS, GrB_assign.
    """
    s = find_semiring(semiring) if semiring is not None else None
    rule = {"mask": mask, "complement": complement, "out": out, "replace": replace}
    if isinstance(out, Matrix):
        places, orders = in_order(out, rows, cols)
        write: Any = MatrixWrite.checked(out.shape, out.dtype, out.place, rule)
        if isinstance(value, Matrix) and value.place is not out.place:
            raise ValueError(f"value is on {value.device}, out on {out.device}: move one of them with .to(device=…)")
        if not isinstance(value, Matrix) and not is_scalar(value):
            raise TypeError(f"value must be a scalar or a matrix, got {type(value).__name__}")
        if isinstance(value, Matrix):
            shape = tuple(extent if at is None else at.size for at, extent in zip(places, out.shape, strict=True))
            if value.shape != shape:
                raise ValueError(f"value must have the places' shape {shape}, got {value.shape}")
            if any(order is not None for order in orders):
                value = _reordered(value, orders)
        value = value_for(out.dtype, value, s)
        combiner = find_combiner(accum, "add") if accum is not None else None
        return assign.find(type(out), out.place)(out, value, *places, combiner, write)
    place = check_vectors(out)
    if cols is not None:
        raise TypeError("a vector has no columns: pass one array of indices")
    indices = None if rows is None else _places("indices", rows, out.size, place)
    if indices is not None:
        check_distinct(indices, "indices")
    size = out.size if indices is None else indices.size
    if not is_scalar(value):
        check_vector("value", value, size, place)
    value = value_for(out.dtype, value, s)
    zero = s.zero(out.dtype) if s is not None else out.dtype.type(0)
    write = VectorWrite.checked(out.size, out.dtype, zero, place, rule)
    combiner = find_combiner(accum, "add") if accum is not None else None
    return assign.find(Vector, place)(out, value, indices, combiner, write)


@Transpose
def transpose(A: Matrix, **rule: Unpack[IntoMatrix]) -> Matrix:
    """The transpose in A's own format, its entries moved: grouped by row if A is. `A.T` is the one without a copy.

    Args:
        A: (m, n).

    Returns:
        (n, m), of A's format.

    Example:
        >>> from formats import from_edges
        >>> A = from_edges([0, 0, 1], [0, 1, 1], [5.0, 9.0, 3.0])
        >>> transpose(A).to_dense().tolist()
        [[5.0, 0.0], [9.0, 3.0]]

    Source: GraphBLAS, GrB_transpose.
    """
    check_matrix("A", A)
    write = MatrixWrite.checked(A.shape[::-1], A.dtype, A.place, rule)
    return transpose.find(type(A), A.place)(A, write)


def _places(name: str, indices: Any, bound: int, place: Place) -> Array:
    """The index argument of that name, checked, on the operand's device: indices may come from anywhere."""
    return to_device(as_indices(indices, name, bound), place)


def _reordered(A: Any, orders: list[Array | None]) -> Matrix:
    """`A` with its rows and columns in these orders; None leaves them. In parts it stays in parts."""
    if not A.in_parts:
        return extract(A, *orders)
    return A.permuted(*(None if order is None else order.argsort() for order in orders))


def _one_value(u: VectorLike) -> Array:
    return (u.values if isinstance(u, SparseVector) else u)[:1]


def _element_by_element(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """`function`, with its result checked: an array of the operand's shape, of a dtype of ours, without NaN."""

    def checked(values: Array) -> Array:
        result = as_array(function(values))
        if result.shape != values.shape:
            raise ValueError(f"apply needs a function that keeps the shape {values.shape}, got {result.shape}")
        check_dtype("the function's result", result)
        check_not_nan(result)
        return result

    return checked


def _bound(op: Any, left: Any, right: Any) -> Callable[[Any], Any]:
    """The function of one array that `op` and its bound operand make."""
    if left is None and right is None:
        return find_unary(op)
    if left is not None and right is not None:
        raise ValueError("apply binds one operand, left or right, not both")
    combiner = find_combiner(op, "mul")
    return (lambda u: combiner(left, u)) if left is not None else (lambda u: combiner(u, right))
