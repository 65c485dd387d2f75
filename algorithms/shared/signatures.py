"""The types of the algorithms for mypy and editors: results by the parameters that decide their number and shape.

Each class is an algorithm whose `__call__` has an overload for each kind of result. The function that it decorates has
the parameters one by one, with their defaults and meaning.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, Literal, TypeAlias, TypedDict, TypeVar, Unpack, overload

from formats import COO, Matrix, SparseVector
from formats.arrays import Array, DenseRows, DenseVector, IntegerRows, IntegerVector, Scalar
from semiring import MinPlus, Semiring
from semiring.verbs.fusible import Fusible

Ring: TypeAlias = Semiring | str
Vertices: TypeAlias = Array | Sequence[int] | range
Distance: TypeAlias = Scalar
No: TypeAlias = Literal[False]
Yes: TypeAlias = Literal[True]
Rule: TypeAlias = Literal["median", "mean", "max/degree"]
"""A rule for the width of a bucket."""

Paths: TypeAlias = DenseVector | DenseRows | tuple[DenseVector, IntegerVector] | tuple[DenseRows, IntegerRows]
"""Distances, or distances and parents; a row for each of several sources."""

Searches: TypeAlias = (
    IntegerVector | IntegerRows | tuple[IntegerVector, IntegerVector] | tuple[IntegerRows, IntegerRows]
)
"""Levels, or levels and parents; a row for each of several sources."""

Name: TypeAlias = Literal[
    "auto", "bellman-ford", "da2cf", "delta-stepping", "dijkstra", "bellman_ford", "delta_stepping"
]
"""The name of an algorithm for paths."""

Width = TypeVar("Width")
Choice = TypeVar("Choice")


class Limits(TypedDict, total=False):
    """The parameters of all algorithms for paths beside sources and `return_parents`."""

    limit: Distance | None
    target: int | None
    fused: bool


class Shared(Limits, total=False):
    """The parameters of all algorithms for paths, see `single_source.Query`."""

    sources: Vertices | None
    return_parents: bool


class Bounds(Limits, Generic[Width, Choice], total=False):
    """The parameters of one algorithm beside sources and `return_parents`; one of type Never is not to give."""

    delta: Width
    algorithm: Choice


class Several(Bounds[Width, Choice]):
    """The same with several sources."""

    sources: Vertices


class Either(Bounds[Width, Choice], total=False):
    """The same with one source or several."""

    sources: Vertices | None


class Way(TypedDict, total=False):
    """The parameters of `bfs` beside sources and `return_parents`."""

    direction: Literal["auto", "push", "pull"]
    alpha: float
    beta: float
    mask: Array | SparseVector | None
    complement: bool
    max_level: int | None
    target: int | None
    fused: bool


class Search(Fusible[..., Any]):
    """bfs: levels, with parents if asked for; a row for each of several sources."""

    @overload
    def __call__(self, A: Matrix, source: int, *, return_parents: No = False, **how: Unpack[Way]) -> IntegerVector: ...
    @overload
    def __call__(
        self, A: Matrix, source: int, *, return_parents: Yes, **how: Unpack[Way]
    ) -> tuple[IntegerVector, IntegerVector]: ...
    @overload
    def __call__(
        self, A: Matrix, source: None = None, *, sources: Vertices, return_parents: No = False, **how: Unpack[Way]
    ) -> IntegerRows: ...
    @overload
    def __call__(
        self, A: Matrix, source: None = None, *, sources: Vertices, return_parents: Yes, **how: Unpack[Way]
    ) -> tuple[IntegerRows, IntegerRows]: ...
    @overload
    def __call__(
        self,
        A: Matrix,
        source: int | None = None,
        *,
        sources: Vertices | None = None,
        return_parents: bool,
        **how: Unpack[Way],
    ) -> Searches: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...


class Numbers(TypedDict, total=False):
    """The parameters of `count_shortest_paths` beside sources."""

    dtype: Literal["int64", "float64"]
    fused: bool


class Counting(Fusible[..., Any]):
    """count_shortest_paths: distances and numbers of paths; a row for each of several sources."""

    @overload
    def __call__(
        self, A: Matrix, source: int, semiring: Ring = MinPlus, **how: Unpack[Numbers]
    ) -> tuple[DenseVector, DenseVector]: ...
    @overload
    def __call__(
        self, A: Matrix, source: None = None, semiring: Ring = MinPlus, *, sources: Vertices, **how: Unpack[Numbers]
    ) -> tuple[DenseRows, DenseRows]: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...


class Trees(TypedDict, total=False):
    """The parameters of `boruvka` beside what it returns."""

    symmetrize: bool
    fused: bool


class Forest(Fusible[..., Any]):
    """boruvka: the forest, with the trees' labels and the edges' places if they are asked for."""

    @overload
    def __call__(
        self, A: Matrix, *, return_labels: No = False, return_places: No = False, **how: Unpack[Trees]
    ) -> COO: ...
    @overload
    def __call__(
        self, A: Matrix, *, return_labels: Yes, return_places: No = False, **how: Unpack[Trees]
    ) -> tuple[COO, IntegerVector]: ...
    @overload
    def __call__(
        self, A: Matrix, *, return_labels: No = False, return_places: Yes, **how: Unpack[Trees]
    ) -> tuple[COO, IntegerVector]: ...
    @overload
    def __call__(
        self, A: Matrix, *, return_labels: Yes, return_places: Yes, **how: Unpack[Trees]
    ) -> tuple[COO, IntegerVector, IntegerVector]: ...
    @overload
    def __call__(
        self, A: Matrix, *, return_labels: bool = False, return_places: bool = False, **how: Unpack[Trees]
    ) -> COO | tuple[COO, IntegerVector] | tuple[COO, IntegerVector, IntegerVector]: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
