"""What mypy and editors know of the verbs: the kind of the result by the kinds of the operands.

Each class is a verb whose `__call__` has an overload for each kind. The function that it decorates, in `verbs`, has the
parameters one by one, with their defaults and meaning.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias, TypedDict, TypeVar, Unpack, overload

import numpy as np

from formats import CSR, Matrix, Partitioned, SparseVector
from formats.arrays import Array, DenseRows, DenseVector, IntegerRows, IntegerVector, Scalar

from ..algebra.ops import BinaryOp, UnaryOp
from ..algebra.predicates import Predicate
from ..algebra.semirings import Monoid, Semiring
from .registry import Verb

VectorLike: TypeAlias = DenseVector | SparseVector
Operator: TypeAlias = Semiring | Monoid | BinaryOp | str
Indices: TypeAlias = Array | Sequence[int] | range
Index: TypeAlias = int | np.integer[Any]

V = TypeVar("V", DenseVector, SparseVector)
M = TypeVar("M", bound=Matrix)
Written = TypeVar("Written", CSR, Partitioned)


class VectorRule(TypedDict, total=False):
    """The write rule's parameters for a vector, but for `out`, which decides the kind of the result."""

    mask: VectorLike | None
    complement: bool
    accum: Operator | None
    replace: bool


class MatrixRule(TypedDict, total=False):
    """The write rule's parameters for a matrix, but for `out`, which decides the kind of the result."""

    mask: Matrix | Array | None
    complement: bool
    accum: Operator | None
    replace: bool


class Mxv(Verb[..., Any]):
    """mxv: dense or sparse as `x`, or as `out`; with `return_argument` the arguments likewise."""

    @overload
    def __call__(
        self,
        A: Matrix,
        x: VectorLike,
        semiring: Semiring | str,
        *,
        out: V,
        return_argument: Literal[False] = False,
        **rule: Unpack[VectorRule],
    ) -> V: ...
    @overload
    def __call__(
        self,
        A: Matrix,
        x: V,
        semiring: Semiring | str,
        *,
        out: None = None,
        return_argument: Literal[False] = False,
        **rule: Unpack[VectorRule],
    ) -> V: ...
    @overload
    def __call__(
        self,
        A: Matrix,
        x: DenseVector,
        semiring: Semiring | str,
        *,
        out: DenseVector | None = None,
        return_argument: Literal[True],
        **rule: Unpack[VectorRule],
    ) -> tuple[DenseVector, IntegerVector]: ...
    @overload
    def __call__(
        self,
        A: Matrix,
        x: SparseVector,
        semiring: Semiring | str,
        *,
        out: SparseVector | None = None,
        return_argument: Literal[True],
        **rule: Unpack[VectorRule],
    ) -> tuple[SparseVector, SparseVector]: ...
    @overload
    def __call__(
        self,
        A: Matrix,
        x: DenseVector,
        semiring: Semiring | str,
        *,
        out: SparseVector,
        return_argument: Literal[True],
        **rule: Unpack[VectorRule],
    ) -> tuple[SparseVector, IntegerVector]: ...
    @overload
    def __call__(
        self,
        A: Matrix,
        x: SparseVector,
        semiring: Semiring | str,
        *,
        out: DenseVector,
        return_argument: Literal[True],
        **rule: Unpack[VectorRule],
    ) -> tuple[DenseVector, SparseVector]: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return super().__call__(*args, **kwargs)


class Vxm(Verb[..., Any]):
    """vxm: dense or sparse as `x`, or as `out`; with `return_argument` the arguments likewise."""

    @overload
    def __call__(
        self,
        x: VectorLike,
        A: Matrix,
        semiring: Semiring | str,
        *,
        out: V,
        return_argument: Literal[False] = False,
        **rule: Unpack[VectorRule],
    ) -> V: ...
    @overload
    def __call__(
        self,
        x: V,
        A: Matrix,
        semiring: Semiring | str,
        *,
        out: None = None,
        return_argument: Literal[False] = False,
        **rule: Unpack[VectorRule],
    ) -> V: ...
    @overload
    def __call__(
        self,
        x: DenseVector,
        A: Matrix,
        semiring: Semiring | str,
        *,
        out: DenseVector | None = None,
        return_argument: Literal[True],
        **rule: Unpack[VectorRule],
    ) -> tuple[DenseVector, IntegerVector]: ...
    @overload
    def __call__(
        self,
        x: SparseVector,
        A: Matrix,
        semiring: Semiring | str,
        *,
        out: SparseVector | None = None,
        return_argument: Literal[True],
        **rule: Unpack[VectorRule],
    ) -> tuple[SparseVector, SparseVector]: ...
    @overload
    def __call__(
        self,
        x: DenseVector,
        A: Matrix,
        semiring: Semiring | str,
        *,
        out: SparseVector,
        return_argument: Literal[True],
        **rule: Unpack[VectorRule],
    ) -> tuple[SparseVector, IntegerVector]: ...
    @overload
    def __call__(
        self,
        x: SparseVector,
        A: Matrix,
        semiring: Semiring | str,
        *,
        out: DenseVector,
        return_argument: Literal[True],
        **rule: Unpack[VectorRule],
    ) -> tuple[DenseVector, SparseVector]: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return super().__call__(*args, **kwargs)


class Mxm(Verb[..., Any]):
    """mxm: CSR of two matrices, else dense; with `return_argument` the arguments likewise."""

    @overload
    def __call__(
        self,
        A: Matrix,
        B: Matrix,
        semiring: Semiring | str,
        *,
        out: CSR | None = None,
        return_argument: Literal[False] = False,
        **rule: Unpack[MatrixRule],
    ) -> CSR: ...
    @overload
    def __call__(
        self, A: Matrix, B: Matrix, semiring: Semiring | str, *, out: Partitioned, **rule: Unpack[MatrixRule]
    ) -> Partitioned: ...
    @overload
    def __call__(
        self,
        A: Matrix,
        B: Matrix,
        semiring: Semiring | str,
        *,
        out: CSR | None = None,
        return_argument: Literal[True],
        **rule: Unpack[MatrixRule],
    ) -> tuple[CSR, CSR]: ...
    @overload
    def __call__(
        self,
        A: Matrix,
        B: DenseRows,
        semiring: Semiring | str,
        *,
        out: DenseRows | None = None,
        return_argument: Literal[False] = False,
        **rule: Unpack[MatrixRule],
    ) -> DenseRows: ...
    @overload
    def __call__(
        self,
        A: Matrix,
        B: DenseRows,
        semiring: Semiring | str,
        *,
        out: DenseRows | None = None,
        return_argument: Literal[True],
        **rule: Unpack[MatrixRule],
    ) -> tuple[DenseRows, IntegerRows]: ...
    @overload
    def __call__(
        self,
        A: DenseRows,
        B: Matrix | DenseRows,
        semiring: Semiring | str,
        *,
        out: DenseRows | None = None,
        return_argument: Literal[False] = False,
        **rule: Unpack[MatrixRule],
    ) -> DenseRows: ...
    @overload
    def __call__(
        self,
        A: DenseRows,
        B: Matrix | DenseRows,
        semiring: Semiring | str,
        *,
        out: DenseRows | None = None,
        return_argument: Literal[True],
        **rule: Unpack[MatrixRule],
    ) -> tuple[DenseRows, IntegerRows]: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return super().__call__(*args, **kwargs)


class EwiseAdd(Verb[..., Any]):
    """ewise_add: CSR of matrices; of vectors sparse if both are."""

    @overload
    def __call__(
        self, u: Matrix, v: Matrix, op: Operator, *, out: CSR | None = None, **rule: Unpack[MatrixRule]
    ) -> CSR: ...
    @overload
    def __call__(
        self, u: Matrix, v: Matrix, op: Operator, *, out: Partitioned, **rule: Unpack[MatrixRule]
    ) -> Partitioned: ...
    @overload
    def __call__(self, u: VectorLike, v: VectorLike, op: Operator, *, out: V, **rule: Unpack[VectorRule]) -> V: ...
    @overload
    def __call__(
        self, u: SparseVector, v: SparseVector, op: Operator, *, out: None = None, **rule: Unpack[VectorRule]
    ) -> SparseVector: ...
    @overload
    def __call__(
        self, u: DenseVector, v: VectorLike, op: Operator, *, out: None = None, **rule: Unpack[VectorRule]
    ) -> DenseVector: ...
    @overload
    def __call__(
        self, u: SparseVector, v: DenseVector, op: Operator, *, out: None = None, **rule: Unpack[VectorRule]
    ) -> DenseVector: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return super().__call__(*args, **kwargs)


class EwiseUnion(Verb[..., Any]):
    """ewise_union: CSR of matrices; of vectors sparse if both are."""

    @overload
    def __call__(
        self,
        u: Matrix,
        alpha: Scalar,
        v: Matrix,
        beta: Scalar,
        op: Operator,
        *,
        out: CSR | None = None,
        **rule: Unpack[MatrixRule],
    ) -> CSR: ...
    @overload
    def __call__(
        self,
        u: VectorLike,
        alpha: Scalar,
        v: VectorLike,
        beta: Scalar,
        op: Operator,
        *,
        out: V,
        **rule: Unpack[VectorRule],
    ) -> V: ...
    @overload
    def __call__(
        self,
        u: SparseVector,
        alpha: Scalar,
        v: SparseVector,
        beta: Scalar,
        op: Operator,
        *,
        out: None = None,
        **rule: Unpack[VectorRule],
    ) -> SparseVector: ...
    @overload
    def __call__(
        self,
        u: DenseVector,
        alpha: Scalar,
        v: VectorLike,
        beta: Scalar,
        op: Operator,
        *,
        out: None = None,
        **rule: Unpack[VectorRule],
    ) -> DenseVector: ...
    @overload
    def __call__(
        self,
        u: SparseVector,
        alpha: Scalar,
        v: DenseVector,
        beta: Scalar,
        op: Operator,
        *,
        out: None = None,
        **rule: Unpack[VectorRule],
    ) -> DenseVector: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return super().__call__(*args, **kwargs)


class EwiseMult(Verb[..., Any]):
    """ewise_mult: CSR of matrices; of vectors dense if both are."""

    @overload
    def __call__(
        self, u: Matrix, v: Matrix, op: Operator, *, out: CSR | None = None, **rule: Unpack[MatrixRule]
    ) -> CSR: ...
    @overload
    def __call__(
        self, u: Matrix, v: Matrix, op: Operator, *, out: Partitioned, **rule: Unpack[MatrixRule]
    ) -> Partitioned: ...
    @overload
    def __call__(self, u: VectorLike, v: VectorLike, op: Operator, *, out: V, **rule: Unpack[VectorRule]) -> V: ...
    @overload
    def __call__(
        self, u: DenseVector, v: DenseVector, op: Operator, *, out: None = None, **rule: Unpack[VectorRule]
    ) -> DenseVector: ...
    @overload
    def __call__(
        self, u: SparseVector, v: VectorLike, op: Operator, *, out: None = None, **rule: Unpack[VectorRule]
    ) -> SparseVector: ...
    @overload
    def __call__(
        self, u: DenseVector, v: SparseVector, op: Operator, *, out: None = None, **rule: Unpack[VectorRule]
    ) -> SparseVector: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return super().__call__(*args, **kwargs)


class Bound(TypedDict, total=False):
    """The parameters that only `apply` has."""

    left: Scalar | None
    right: Scalar | None
    semiring: Semiring | str | None


class VectorBound(Bound, VectorRule):
    """All of them, for a vector."""


class MatrixBound(Bound, MatrixRule):
    """All of them, for a matrix."""


Function: TypeAlias = Operator | UnaryOp | Callable[[Any], Any]


class Apply(Verb[..., Any]):
    """apply: CSR of a matrix; of a vector its own kind."""

    @overload
    def __call__(self, u: Matrix, op: Function, *, out: CSR | None = None, **rule: Unpack[MatrixBound]) -> CSR: ...
    @overload
    def __call__(self, u: Matrix, op: Function, *, out: Partitioned, **rule: Unpack[MatrixBound]) -> Partitioned: ...
    @overload
    def __call__(self, u: VectorLike, op: Function, *, out: V, **rule: Unpack[VectorBound]) -> V: ...
    @overload
    def __call__(self, u: V, op: Function, *, out: None = None, **rule: Unpack[VectorBound]) -> V: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return super().__call__(*args, **kwargs)


class LookedUp(MatrixRule, total=False):
    """The parameters of `select` for a matrix."""

    row: VectorLike | None
    col: VectorLike | None
    semiring: Semiring | str | None


class Compared(VectorRule, total=False):
    """The parameters of `select` for a vector."""

    semiring: Semiring | str | None


Condition: TypeAlias = Predicate | BinaryOp | Callable[..., Array] | str


class Select(Verb[..., Any]):
    """select: of the operand's own kind."""

    @overload
    def __call__(
        self, u: Matrix, predicate: Condition, other: Scalar | None = None, *, out: Written, **rule: Unpack[LookedUp]
    ) -> Written: ...
    @overload
    def __call__(
        self, u: M, predicate: Condition, other: Scalar | None = None, *, out: None = None, **rule: Unpack[LookedUp]
    ) -> M: ...
    @overload
    def __call__(
        self, u: VectorLike, predicate: Condition, other: Scalar | VectorLike, *, out: V, **rule: Unpack[Compared]
    ) -> V: ...
    @overload
    def __call__(
        self,
        u: VectorLike,
        predicate: Callable[..., Array],
        other: Scalar | None = None,
        *,
        out: V,
        **rule: Unpack[Compared],
    ) -> V: ...
    @overload
    def __call__(
        self,
        u: V,
        predicate: Callable[..., Array],
        other: Scalar | None = None,
        *,
        out: None = None,
        **rule: Unpack[Compared],
    ) -> V: ...
    @overload
    def __call__(
        self, u: V, predicate: Condition, other: Scalar | VectorLike, *, out: None = None, **rule: Unpack[Compared]
    ) -> V: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return super().__call__(*args, **kwargs)


class Reduce(Verb[..., Any]):
    """reduce: a scalar; with an axis a vector, dense unless `out` is sparse; `return_argument` adds where it was."""

    @overload
    def __call__(
        self,
        u: Matrix | VectorLike,
        monoid: Monoid | Semiring | str,
        *,
        axis: None = None,
        return_argument: Literal[False] = False,
    ) -> np.number: ...
    @overload
    def __call__(
        self, u: VectorLike, monoid: Monoid | Semiring | str, *, axis: None = None, return_argument: Literal[True]
    ) -> tuple[np.number, int]: ...
    @overload
    def __call__(
        self,
        u: Matrix,
        monoid: Monoid | Semiring | str,
        *,
        axis: Literal[0, 1],
        out: V,
        return_argument: Literal[False] = False,
        **rule: Unpack[VectorRule],
    ) -> V: ...
    @overload
    def __call__(
        self,
        u: Matrix,
        monoid: Monoid | Semiring | str,
        *,
        axis: Literal[0, 1],
        out: None = None,
        return_argument: Literal[False] = False,
        **rule: Unpack[VectorRule],
    ) -> DenseVector: ...
    @overload
    def __call__(
        self,
        u: Matrix,
        monoid: Monoid | Semiring | str,
        *,
        axis: Literal[0, 1],
        out: V,
        return_argument: Literal[True],
        **rule: Unpack[VectorRule],
    ) -> tuple[V, IntegerVector]: ...
    @overload
    def __call__(
        self,
        u: Matrix,
        monoid: Monoid | Semiring | str,
        *,
        axis: Literal[0, 1],
        out: None = None,
        return_argument: Literal[True],
        **rule: Unpack[VectorRule],
    ) -> tuple[DenseVector, IntegerVector]: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return super().__call__(*args, **kwargs)


class Extract(Verb[..., Any]):
    """extract: a sparse vector of a single row or column, CSR of a matrix, of a vector its own kind."""

    @overload
    def __call__(self, u: VectorLike, rows: Indices | None = None, *, out: V, **rule: Unpack[VectorRule]) -> V: ...
    @overload
    def __call__(self, u: V, rows: Indices | None = None, *, out: None = None, **rule: Unpack[VectorRule]) -> V: ...
    @overload
    def __call__(
        self,
        u: Matrix,
        rows: Index,
        cols: Indices | None = None,
        *,
        out: SparseVector | None = None,
        **rule: Unpack[VectorRule],
    ) -> SparseVector: ...
    @overload
    def __call__(
        self,
        u: Matrix,
        rows: Indices | None = None,
        *,
        cols: Index,
        out: SparseVector | None = None,
        **rule: Unpack[VectorRule],
    ) -> SparseVector: ...
    @overload
    def __call__(
        self,
        u: Matrix,
        rows: Indices | None,
        cols: Index,
        *,
        out: SparseVector | None = None,
        **rule: Unpack[VectorRule],
    ) -> SparseVector: ...
    @overload
    def __call__(
        self,
        u: Matrix,
        rows: Indices | None = None,
        cols: Indices | None = None,
        *,
        out: CSR | None = None,
        **rule: Unpack[MatrixRule],
    ) -> CSR: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return super().__call__(*args, **kwargs)


class AssignedVector(VectorRule, total=False):
    """The keywords of `assign` for a vector."""

    semiring: Semiring | str | None


class AssignedMatrix(MatrixRule, total=False):
    """The keywords of `assign` for a matrix."""

    semiring: Semiring | str | None


class Assign(Verb[..., Any]):
    """assign: `out`."""

    @overload
    def __call__(
        self, out: V, value: Scalar | VectorLike, rows: Indices | None = None, **rule: Unpack[AssignedVector]
    ) -> V: ...
    @overload
    def __call__(
        self,
        out: Written,
        value: Scalar | Matrix,
        rows: Indices | None = None,
        cols: Indices | None = None,
        **rule: Unpack[AssignedMatrix],
    ) -> Written: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return super().__call__(*args, **kwargs)


class Transpose(Verb[..., Any]):
    """transpose: of A's own format, or `out`."""

    @overload
    def __call__(self, A: Matrix, *, out: Written, **rule: Unpack[MatrixRule]) -> Written: ...
    @overload
    def __call__(self, A: M, *, out: None = None, **rule: Unpack[MatrixRule]) -> M: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return super().__call__(*args, **kwargs)


for kind in Verb.__subclasses__():
    if kind.__module__ == __name__:
        del kind.__call__  # which is there for mypy: each call is a frame shorter without
