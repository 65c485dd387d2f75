"""The types of the verbs for mypy and editors: the kind of the result by the kinds of the operands.

Each class is a verb whose `__call__` has an overload for each kind. The function that it decorates, in `verbs`, has the
parameters one by one, with their defaults and meaning; those of the write rule are the TypedDicts here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, Literal, Required, TypeAlias, TypedDict, TypeVar, Unpack, overload

import numpy as np

from formats import CSR, Matrix, Partitioned, SparseVector
from formats.arrays import Array, DenseRows, DenseVector, IntegerRows, IntegerVector, Scalar

from ..algebra.ops import BinaryOp, UnaryOp
from ..algebra.predicates import Predicate
from ..algebra.semirings import Monoid, Semiring
from .registry import Verb

VectorLike: TypeAlias = DenseVector | SparseVector
Ring: TypeAlias = Semiring | str
MonoidLike: TypeAlias = Monoid | Semiring | str
Operator: TypeAlias = Semiring | Monoid | BinaryOp | str
Function: TypeAlias = Operator | UnaryOp | Callable[[Any], Any]
Condition: TypeAlias = Predicate | BinaryOp | Callable[..., Array] | str
ArrayFunction: TypeAlias = Callable[..., Array]
Indices: TypeAlias = Array | Sequence[int] | range
Index: TypeAlias = int | np.integer[Any]

V = TypeVar("V", DenseVector, SparseVector)
M = TypeVar("M", bound=Matrix)
Alike = TypeVar("Alike", DenseVector, SparseVector)
Other = TypeVar("Other", DenseVector, SparseVector)
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


class IntoVector(VectorRule, total=False):
    """The write rule of a verb whose result is a vector."""

    out: VectorLike | None


class NewVector(VectorRule, total=False):
    """The write rule where there is no vector to write into."""

    out: None


class IntoSparse(VectorRule, total=False):
    """The write rule of a verb whose result is a sparse vector."""

    out: SparseVector | None


class IntoMatrix(MatrixRule, total=False):
    """The write rule of a verb whose result is a CSR."""

    out: CSR | None


class IntoRows(MatrixRule, total=False):
    """The write rule of `mxm`, whose result is a CSR or an array."""

    out: CSR | Array | None


class IntoEither(TypedDict, total=False):
    """The write rule of a verb whose result is a vector or a matrix."""

    mask: Matrix | VectorLike | None
    complement: bool
    accum: Operator | None
    out: CSR | VectorLike | None
    replace: bool


class VectorAlone(VectorRule, total=False):
    """The parameters of a product that is a vector."""

    return_argument: Literal[False]


class VectorTold(VectorRule, total=False):
    """The parameters of a product that is a vector, with its arguments."""

    return_argument: Required[Literal[True]]


class MatrixAlone(MatrixRule, total=False):
    """The parameters of a product that is a matrix."""

    return_argument: Literal[False]


class MatrixTold(MatrixRule, total=False):
    """The parameters of a product that is a matrix, with its arguments."""

    return_argument: Required[Literal[True]]


class RowsAlone(MatrixAlone, total=False):
    """The parameters of a product that is an array."""

    out: DenseRows | None


class RowsTold(MatrixTold, total=False):
    """The parameters of a product that is an array, with its arguments."""

    out: DenseRows | None


class Mxv(Verb[..., Any]):
    """mxv: dense or sparse as `x`, or as `out`; with `return_argument` the arguments likewise."""

    @overload
    def __call__(self, A: Matrix, x: VectorLike, semiring: Ring, *, out: V, **rule: Unpack[VectorAlone]) -> V: ...
    @overload
    def __call__(self, A: Matrix, x: V, semiring: Ring, *, out: None = None, **rule: Unpack[VectorAlone]) -> V: ...
    @overload
    def __call__(
        self, A: Matrix, x: DenseVector, semiring: Ring, *, out: DenseVector | None = None, **rule: Unpack[VectorTold]
    ) -> tuple[DenseVector, IntegerVector]: ...
    @overload
    def __call__(
        self, A: Matrix, x: SparseVector, semiring: Ring, *, out: SparseVector | None = None, **rule: Unpack[VectorTold]
    ) -> tuple[SparseVector, SparseVector]: ...
    @overload
    def __call__(
        self, A: Matrix, x: DenseVector, semiring: Ring, *, out: SparseVector, **rule: Unpack[VectorTold]
    ) -> tuple[SparseVector, IntegerVector]: ...
    @overload
    def __call__(
        self, A: Matrix, x: SparseVector, semiring: Ring, *, out: DenseVector, **rule: Unpack[VectorTold]
    ) -> tuple[DenseVector, SparseVector]: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...


class Vxm(Verb[..., Any]):
    """vxm: dense or sparse as `x`, or as `out`; with `return_argument` the arguments likewise."""

    @overload
    def __call__(self, x: VectorLike, A: Matrix, semiring: Ring, *, out: V, **rule: Unpack[VectorAlone]) -> V: ...
    @overload
    def __call__(self, x: V, A: Matrix, semiring: Ring, *, out: None = None, **rule: Unpack[VectorAlone]) -> V: ...
    @overload
    def __call__(
        self, x: DenseVector, A: Matrix, semiring: Ring, *, out: DenseVector | None = None, **rule: Unpack[VectorTold]
    ) -> tuple[DenseVector, IntegerVector]: ...
    @overload
    def __call__(
        self, x: SparseVector, A: Matrix, semiring: Ring, *, out: SparseVector | None = None, **rule: Unpack[VectorTold]
    ) -> tuple[SparseVector, SparseVector]: ...
    @overload
    def __call__(
        self, x: DenseVector, A: Matrix, semiring: Ring, *, out: SparseVector, **rule: Unpack[VectorTold]
    ) -> tuple[SparseVector, IntegerVector]: ...
    @overload
    def __call__(
        self, x: SparseVector, A: Matrix, semiring: Ring, *, out: DenseVector, **rule: Unpack[VectorTold]
    ) -> tuple[DenseVector, SparseVector]: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...


class Mxm(Verb[..., Any]):
    """mxm: CSR of two matrices, else dense; with `return_argument` the arguments likewise."""

    @overload
    def __call__(
        self, A: Matrix, B: Matrix, semiring: Ring, *, out: CSR | None = None, **rule: Unpack[MatrixAlone]
    ) -> CSR: ...
    @overload
    def __call__(
        self, A: Matrix, B: Matrix, semiring: Ring, *, out: Partitioned, **rule: Unpack[MatrixRule]
    ) -> Partitioned: ...
    @overload
    def __call__(
        self, A: Matrix, B: Matrix, semiring: Ring, *, out: CSR | None = None, **rule: Unpack[MatrixTold]
    ) -> tuple[CSR, CSR]: ...
    @overload
    def __call__(self, A: Matrix, B: DenseRows, semiring: Ring, **rule: Unpack[RowsAlone]) -> DenseRows: ...
    @overload
    def __call__(
        self, A: Matrix, B: DenseRows, semiring: Ring, **rule: Unpack[RowsTold]
    ) -> tuple[DenseRows, IntegerRows]: ...
    @overload
    def __call__(self, A: DenseRows, B: Matrix | DenseRows, semiring: Ring, **rule: Unpack[RowsAlone]) -> DenseRows: ...
    @overload
    def __call__(
        self, A: DenseRows, B: Matrix | DenseRows, semiring: Ring, **rule: Unpack[RowsTold]
    ) -> tuple[DenseRows, IntegerRows]: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...


class ElementWise(Verb[..., Any], Generic[Alike, Other]):
    """ewise_add and ewise_mult: CSR of matrices; of vectors `Alike` if both are, else `Other`."""

    @overload
    def __call__(self, u: Matrix, v: Matrix, op: Operator, **rule: Unpack[IntoMatrix]) -> CSR: ...
    @overload
    def __call__(
        self, u: Matrix, v: Matrix, op: Operator, *, out: Partitioned, **rule: Unpack[MatrixRule]
    ) -> Partitioned: ...
    @overload
    def __call__(self, u: VectorLike, v: VectorLike, op: Operator, *, out: V, **rule: Unpack[VectorRule]) -> V: ...
    @overload
    def __call__(self, u: Alike, v: Alike, op: Operator, **rule: Unpack[NewVector]) -> Alike: ...
    @overload
    def __call__(self, u: Other, v: VectorLike, op: Operator, **rule: Unpack[NewVector]) -> Other: ...
    @overload
    def __call__(self, u: Alike, v: Other, op: Operator, **rule: Unpack[NewVector]) -> Other: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...


class EwiseUnion(Verb[..., Any]):
    """ewise_union: CSR of matrices; of vectors sparse if both are."""

    @overload
    def __call__(
        self, u: Matrix, alpha: Scalar, v: Matrix, beta: Scalar, op: Operator, **rule: Unpack[IntoMatrix]
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
        self, u: SparseVector, alpha: Scalar, v: SparseVector, beta: Scalar, op: Operator, **rule: Unpack[NewVector]
    ) -> SparseVector: ...
    @overload
    def __call__(
        self, u: DenseVector, alpha: Scalar, v: VectorLike, beta: Scalar, op: Operator, **rule: Unpack[NewVector]
    ) -> DenseVector: ...
    @overload
    def __call__(
        self, u: SparseVector, alpha: Scalar, v: DenseVector, beta: Scalar, op: Operator, **rule: Unpack[NewVector]
    ) -> DenseVector: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...


class Bound(TypedDict, total=False):
    """The parameters that only `apply` has."""

    left: Scalar | None
    right: Scalar | None
    semiring: Ring | None


class VectorBound(Bound, VectorRule):
    """All of them, for a vector."""


class MatrixBound(Bound, MatrixRule):
    """All of them, for a matrix."""


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
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...


class LookedUp(MatrixRule, total=False):
    """The parameters of `select` for a matrix."""

    row: VectorLike | None
    col: VectorLike | None
    semiring: Ring | None


class Compared(VectorRule, total=False):
    """The parameters of `select` for a vector."""

    semiring: Ring | None


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
        self, u: VectorLike, predicate: ArrayFunction, other: Scalar | None = None, *, out: V, **rule: Unpack[Compared]
    ) -> V: ...
    @overload
    def __call__(
        self, u: V, predicate: ArrayFunction, other: Scalar | None = None, *, out: None = None, **rule: Unpack[Compared]
    ) -> V: ...
    @overload
    def __call__(
        self, u: V, predicate: Condition, other: Scalar | VectorLike, *, out: None = None, **rule: Unpack[Compared]
    ) -> V: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...


class Reduce(Verb[..., Any]):
    """reduce: a scalar; with an axis a vector, dense unless `out` is sparse; `return_argument` adds where it was."""

    @overload
    def __call__(
        self, u: Matrix | VectorLike, monoid: MonoidLike, *, axis: None = None, return_argument: Literal[False] = False
    ) -> np.number: ...
    @overload
    def __call__(
        self, u: VectorLike, monoid: MonoidLike, *, axis: None = None, return_argument: Literal[True]
    ) -> tuple[np.number, int]: ...
    @overload
    def __call__(
        self, u: Matrix, monoid: MonoidLike, *, axis: Literal[0, 1], out: V, **rule: Unpack[VectorAlone]
    ) -> V: ...
    @overload
    def __call__(
        self, u: Matrix, monoid: MonoidLike, *, axis: Literal[0, 1], out: None = None, **rule: Unpack[VectorAlone]
    ) -> DenseVector: ...
    @overload
    def __call__(
        self, u: Matrix, monoid: MonoidLike, *, axis: Literal[0, 1], out: V, **rule: Unpack[VectorTold]
    ) -> tuple[V, IntegerVector]: ...
    @overload
    def __call__(
        self, u: Matrix, monoid: MonoidLike, *, axis: Literal[0, 1], out: None = None, **rule: Unpack[VectorTold]
    ) -> tuple[DenseVector, IntegerVector]: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...


class Extract(Verb[..., Any]):
    """extract: a sparse vector of a single row or column, CSR of a matrix, of a vector its own kind."""

    @overload
    def __call__(self, u: VectorLike, rows: Indices | None = None, *, out: V, **rule: Unpack[VectorRule]) -> V: ...
    @overload
    def __call__(self, u: V, rows: Indices | None = None, **rule: Unpack[NewVector]) -> V: ...
    @overload
    def __call__(
        self, u: Matrix, rows: Index, cols: Indices | None = None, **rule: Unpack[IntoSparse]
    ) -> SparseVector: ...
    @overload
    def __call__(
        self, u: Matrix, rows: Indices | None = None, *, cols: Index, **rule: Unpack[IntoSparse]
    ) -> SparseVector: ...
    @overload
    def __call__(self, u: Matrix, rows: Indices | None, cols: Index, **rule: Unpack[IntoSparse]) -> SparseVector: ...
    @overload
    def __call__(
        self, u: Matrix, rows: Indices | None = None, cols: Indices | None = None, **rule: Unpack[IntoMatrix]
    ) -> CSR: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...


class AssignedVector(VectorRule, total=False):
    """The keywords of `assign` for a vector."""

    semiring: Ring | None


class AssignedMatrix(MatrixRule, total=False):
    """The keywords of `assign` for a matrix."""

    semiring: Ring | None


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
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...


class Transpose(Verb[..., Any]):
    """transpose: of A's own format, or `out`."""

    @overload
    def __call__(self, A: Matrix, *, out: Written, **rule: Unpack[MatrixRule]) -> Written: ...
    @overload
    def __call__(self, A: M, *, out: None = None, **rule: Unpack[MatrixRule]) -> M: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
