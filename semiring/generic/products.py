"""The plan of a product of a matrix and a vector, the same on every backend.

    dense x     gather along the stored rows, or scatter across them
    sparse x    push along the stored rows that x has, or along those that are kept; else as a dense x

"Row" is the stored orientation's: a column of CSC or of a transposed list. A format that brings no loops or kernels is
multiplied through kept compressed rows or columns, and `explain` says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from formats import Matrix, SparseVector

from ..algebra.semirings import Semiring
from ..verbs.explanation import tell_product
from ..verbs.masks import VectorWrite
from ..verbs.registry import Verb
from .layout import GATHER_FROM

GATHERED, SCATTERED = "compiled, gathered along the stored rows", "compiled, scattered across the stored rows"


@dataclass(frozen=True)
class Backend:
    """How products run on a backend, of matrices in the formats that bring something.

    stored: what each format brings.  dense: (A, x, semiring, write, matrix_first, gathers) -> y of a dense x.  push:
    (A, x, semiring, matrix_first) -> y of a sparse x whose rows lie together, or None.  pushes: may a semiring be
    pushed?
    special: (A, x, semiring, matrix_first) -> y of what needs more than loops; None for what does not.
    """

    stored: Mapping[type[Matrix], Any]
    dense: Callable[..., Any]
    push: Callable[..., Any]
    pushes: Callable[[Semiring, Any], bool]
    special: Callable[..., Any] | None = None

    def product(
        self, verb: Verb[..., Any], A: Matrix, x: Any, semiring: Semiring, write: VectorWrite, *, matrix_first: bool
    ) -> Any:
        """A ⊗ x (matrix_first) or x ⊗ A, written by the write rule, dense or sparse as x is."""
        if type(A) not in self.stored:
            A = verb.rows_of(A, 0 if matrix_first else 1)
        if self.special is not None:
            y = self.special(A, x, semiring, matrix_first)
            if y is not None:
                tell_product("exact, beyond the range of the dtype")
                return write(y)
        gathers = (A.major == 0) == matrix_first
        if not isinstance(x, SparseVector):
            tell_product(GATHERED if gathers else SCATTERED)
            return write(self.dense(A, x, semiring, write, matrix_first, gathers))
        rows = self._pushed_along(A, x, matrix_first, gathers) if self.pushes(semiring, A.dtype) else None
        y = None if rows is None else self.push(rows, x, semiring, matrix_first)
        if y is not None:
            tell_product("compiled, pushed along the rows that x has")
            return write(y)
        tell_product("compiled, as of a dense x")
        zero = semiring.zero(A.dtype)
        y = self.dense(A, x.to_dense(zero), semiring, write, matrix_first, gathers)
        return write(SparseVector.from_dense(y, zero))

    def _pushed_along(self, A: Matrix, x: SparseVector, matrix_first: bool, gathers: bool) -> Matrix | None:
        """`A` with the entries of each element of x lying together: itself, or what is kept; None to gather."""
        own = self.stored[type(A)]
        if not gathers and own.push_below:
            return A if x.nnz < x.size * own.push_below else None
        if not own.turned or x.nnz >= x.size * GATHER_FROM:
            return None
        return own.along(A, 1 if matrix_first else 0)
