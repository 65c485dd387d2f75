"""Products with dense operands of two dimensions, by others: column by column as they are defined, or by arrays."""

from __future__ import annotations

from typing import Any

from formats import CSR, Dense, Matrix
from formats.arrays import Array, contiguous

from ..algebra.ops import OPERATORS
from ..algebra.semirings import Monoid, Semiring
from ..verbs import arguments
from ..verbs.verbs import dense_dense, dense_mxm


def by_columns(
    A: Matrix, X: Array, semiring: Semiring, matrix_first: bool, argument: bool, allowed: Array | None
) -> Any:
    """A ⊗ X, each column by mxv."""
    Y = A.xp.empty((A.nrows, X.shape[1]), A.dtype)
    for j in range(X.shape[1]):
        wanted = None if allowed is None else A.xp.ascontiguousarray(allowed[:, j : j + 1])
        column = A.xp.ascontiguousarray(X[:, j : j + 1])
        Y[:, j : j + 1] = dense_mxm(A, column, semiring, matrix_first, allowed=wanted)
    return (Y, arguments.of_products(A, X, Y, semiring, matrix_first)) if argument else Y


def with_dense(A: Dense, X: Array, semiring: Semiring, matrix_first: bool, argument: bool) -> Any:
    """A ⊗ X for a ⊗ that reads its operands: what A does not store is the zero, as in an array."""
    values = contiguous(A.to_dense(semiring.zero(A.dtype)).astype(A.dtype, copy=False))
    if matrix_first:
        return dense_dense(values, X, semiring, argument)
    turned = dense_dense(contiguous(X.T), contiguous(values.T), semiring, argument)
    return tuple(part.T for part in turned) if argument else turned.T


def lines_by_product(A: Matrix, monoid: Monoid, axis: int) -> tuple[Array, Array]:
    """A ⊗ x for each line, where ⊗ gives A's value and x is present everywhere."""
    lines, s = A if axis == 1 else A.T, Semiring(monoid, OPERATORS["first"], dtypes=monoid.dtypes)
    x = A.xp.full((lines.ncols, 1), arguments.present_value(monoid, A.dtype), A.dtype)
    y, k = (part.reshape(-1) for part in dense_mxm(lines, x, s, True, True))
    return y, k


def dense_needs(A: Matrix, fmt: type[Matrix], columns: int) -> dict[str, int]:
    """Bytes beside X and Y of a product with so many columns: rows that are kept, or A as an array, and a copy of X."""
    operand = {"a copy of X": A.ncols * columns * A.dtype.itemsize}
    if fmt is Dense:
        return operand | {"A as an array, clamped, and flags": (2 * A.dtype.itemsize + 1) * A.nrows * A.ncols}
    return operand | {"rows, kept": 0 if fmt is CSR else CSR.predicted_nbytes(A)}
