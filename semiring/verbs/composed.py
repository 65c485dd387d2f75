"""Verbs and functions made of others: Kronecker products, unions with values for absent entries, diagonals, powers.

Source: A. Buluç et al., The GraphBLAS C API Specification, version 2.0, 2021; T. Davis, User guide for
SuiteSparse:GraphBLAS, 2023, for the union.
"""

from __future__ import annotations

import numpy as np

from formats import CSR, Matrix
from formats.arrays import Array, index_dtype

from ..algebra.ops import BinaryOp
from ..algebra.semirings import find_combiner
from .checks import check_pair
from .masks import MatrixWrite
from .operands import common_dtype, result_dtype, typed_matrix, typing_of
from .registry import Verb
from .signatures import Operator


@Verb
def kronecker(
    A: Matrix,
    B: Matrix,
    op: Operator,
    *,
    mask: Matrix | Array | None = None,
    complement: bool = False,
    accum: Operator | None = None,
    out: CSR | None = None,
    replace: bool = False,
) -> CSR:
    """C = A ⊗ B of Kronecker: every entry a of A becomes the block op(a, B).

    Args:
        A: (m, n).
        B: (p, q), of A's format and device. Another format than CSR is taken by its rows.
        op: a semiring (its ⊗), a monoid or an operator. The first two say which value is absent.
        mask, complement, accum, out, replace: the write rule. Places in the mask (or out of it) are written, into `out`
            if it is given; accum combines what `out` holds with the result; replace makes the other places absent.

    Returns:
        (mp, nq) of NumPy's common dtype, with c = op(A[i, j], B[k, l]) at (ip + k, jq + l).

    Raises:
        ValueError: devices do not fit.
        TypeError: the formats differ, or the operator is not defined on the dtype.
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
    write = MatrixWrite.checked(shape, result, A.place, mask, complement, accum, out, replace)
    index = index_dtype(*shape, nnz).itemsize
    size = (shape[0] + 1) * (index + 8) + nnz * (index + result.itemsize)
    A.place.check_room(f"kronecker, for its result of {shape[0]:,} × {shape[1]:,} with {nnz:,} entries,", size)
    A, B = kronecker.served(A), kronecker.served(B)
    both = [typed_matrix(M, typing, dtype) if typing else M.astype(dtype) for M in (A, B)]
    by_pattern = isinstance(combiner, BinaryOp) and combiner.reads == ""
    zero = typing.zero(dtype) if typing and not by_pattern else None
    return kronecker.find(type(A), A.place)(*both, combiner, zero, write)
