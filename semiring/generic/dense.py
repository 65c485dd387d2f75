"""Products with dense operands of two dimensions as they are defined: column by column, each by mxv."""

from __future__ import annotations

from typing import Any

from formats import Dense, Matrix
from formats.arrays import Array

from ..algebra.semirings import Semiring
from ..verbs import arguments
from ..verbs.registry import Vector
from ..verbs.verbs import dense_dense, dense_mxm


@dense_mxm.implement(Matrix, "cuda")
def by_columns(
    A: Matrix, X: Array, semiring: Semiring, matrix_first: bool, argument: bool, allowed: Array | None
) -> Any:
    Y = A.xp.empty((A.nrows, X.shape[1]), A.dtype)
    for j in range(X.shape[1]):
        wanted = None if allowed is None else A.xp.ascontiguousarray(allowed[:, j : j + 1])
        column = A.xp.ascontiguousarray(X[:, j : j + 1])
        Y[:, j : j + 1] = dense_mxm(A, column, semiring, matrix_first, allowed=wanted)
    return (Y, arguments.of_products(A, X, Y, semiring, matrix_first)) if argument else Y


@dense_dense.implement(Vector, "cuda")
def by_a_matrix(X: Array, Y: Array, semiring: Semiring, argument: bool) -> Any:
    """As of a matrix with an entry at every position."""
    return dense_mxm(Dense(X, semiring.zero(X.dtype)), Y, semiring, True, argument)
