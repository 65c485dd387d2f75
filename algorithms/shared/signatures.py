"""What mypy and editors know of the algorithms: the results by the parameters that decide their number and shape.

Each class is an algorithm whose `__call__` has an overload for each kind of result. The function that it decorates has
the parameters one by one, with their defaults and meaning.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, TypedDict, Unpack, overload

from formats import COO, Matrix, SparseVector
from formats.arrays import Array, DenseRows, DenseVector, IntegerRows, IntegerVector, Scalar
from semiring import MinPlus, Semiring
from semiring.verbs.batch import Batched
from semiring.verbs.registry import Fusible

from .single_source import SingleSource

Vertices: TypeAlias = Array | Sequence[int] | range
Distance: TypeAlias = Scalar
Rule: TypeAlias = Literal["median", "mean", "max/degree"]
"""For the width of a bucket."""

Paths: TypeAlias = DenseVector | DenseRows | tuple[DenseVector, IntegerVector] | tuple[DenseRows, IntegerRows]
"""Distances, or distances and parents; a row for each of several sources."""

Searches: TypeAlias = (
    IntegerVector | IntegerRows | tuple[IntegerVector, IntegerVector] | tuple[IntegerRows, IntegerRows]
)
"""Levels, or levels and parents; a row for each of several sources."""

Name: TypeAlias = Literal[
    "auto", "bellman-ford", "da2cf", "delta-stepping", "dijkstra", "bellman_ford", "delta_stepping"
]
"""Of an algorithm for paths."""


class Bounds(TypedDict, total=False):
    """What all algorithms for paths take beside sources and `return_parents`."""

    limit: Distance | None
    target: int | None
    fused: bool


class Buckets(Bounds, total=False):
    """What Δ-stepping takes."""

    delta: Distance | Rule | None


class Choice(Buckets, total=False):
    """What `sssp` takes."""

    algorithm: Name


class SourceToAll(SingleSource[..., Any]):
    """bellman_ford, da2cf, dijkstra: distances, with parents if asked for; a row for each of several sources."""

    @overload
    def __call__(
        self,
        A: Matrix,
        source: int,
        semiring: Semiring | str = MinPlus,
        *,
        return_parents: Literal[False] = False,
        **bounds: Unpack[Bounds],
    ) -> DenseVector: ...
    @overload
    def __call__(
        self,
        A: Matrix,
        source: int,
        semiring: Semiring | str = MinPlus,
        *,
        return_parents: Literal[True],
        **bounds: Unpack[Bounds],
    ) -> tuple[DenseVector, IntegerVector]: ...
    @overload
    def __call__(
        self,
        A: Matrix,
        source: None = None,
        semiring: Semiring | str = MinPlus,
        *,
        sources: Vertices,
        return_parents: Literal[False] = False,
        **bounds: Unpack[Bounds],
    ) -> DenseRows: ...
    @overload
    def __call__(
        self,
        A: Matrix,
        source: None = None,
        semiring: Semiring | str = MinPlus,
        *,
        sources: Vertices,
        return_parents: Literal[True],
        **bounds: Unpack[Bounds],
    ) -> tuple[DenseRows, IntegerRows]: ...
    @overload
    def __call__(
        self,
        A: Matrix,
        source: int | None = None,
        semiring: Semiring | str = MinPlus,
        *,
        sources: Vertices | None = None,
        return_parents: bool,
        **bounds: Unpack[Bounds],
    ) -> Paths: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return super().__call__(*args, **kwargs)


class ByBuckets(SingleSource[..., Any]):
    """delta_stepping: the same results."""

    @overload
    def __call__(
        self,
        A: Matrix,
        source: int,
        semiring: Semiring | str = MinPlus,
        *,
        return_parents: Literal[False] = False,
        **bounds: Unpack[Buckets],
    ) -> DenseVector: ...
    @overload
    def __call__(
        self,
        A: Matrix,
        source: int,
        semiring: Semiring | str = MinPlus,
        *,
        return_parents: Literal[True],
        **bounds: Unpack[Buckets],
    ) -> tuple[DenseVector, IntegerVector]: ...
    @overload
    def __call__(
        self,
        A: Matrix,
        source: None = None,
        semiring: Semiring | str = MinPlus,
        *,
        sources: Vertices,
        return_parents: Literal[False] = False,
        **bounds: Unpack[Buckets],
    ) -> DenseRows: ...
    @overload
    def __call__(
        self,
        A: Matrix,
        source: None = None,
        semiring: Semiring | str = MinPlus,
        *,
        sources: Vertices,
        return_parents: Literal[True],
        **bounds: Unpack[Buckets],
    ) -> tuple[DenseRows, IntegerRows]: ...
    @overload
    def __call__(
        self,
        A: Matrix,
        source: int | None = None,
        semiring: Semiring | str = MinPlus,
        *,
        sources: Vertices | None = None,
        return_parents: bool,
        **bounds: Unpack[Buckets],
    ) -> Paths: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return super().__call__(*args, **kwargs)


class Way(TypedDict, total=False):
    """What `bfs` takes beside sources and `return_parents`."""

    direction: Literal["auto", "push", "pull"]
    alpha: float
    beta: float
    mask: Array | SparseVector | None
    complement: bool
    max_level: int | None
    target: int | None
    fused: bool


class Search(Batched[..., Any]):
    """bfs: levels, with parents if asked for; a row for each of several sources."""

    @overload
    def __call__(
        self,
        A: Matrix,
        source: int,
        *,
        return_parents: Literal[False] = False,
        **how: Unpack[Way],
    ) -> IntegerVector: ...
    @overload
    def __call__(
        self,
        A: Matrix,
        source: int,
        *,
        return_parents: Literal[True],
        **how: Unpack[Way],
    ) -> tuple[IntegerVector, IntegerVector]: ...
    @overload
    def __call__(
        self,
        A: Matrix,
        source: None = None,
        *,
        sources: Vertices,
        return_parents: Literal[False] = False,
        **how: Unpack[Way],
    ) -> IntegerRows: ...
    @overload
    def __call__(
        self,
        A: Matrix,
        source: None = None,
        *,
        sources: Vertices,
        return_parents: Literal[True],
        **how: Unpack[Way],
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
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return super().__call__(*args, **kwargs)


class Counting(Fusible[..., Any]):
    """count_shortest_paths: distances and numbers of paths; a row for each of several sources."""

    @overload
    def __call__(
        self,
        A: Matrix,
        source: int,
        semiring: Semiring | str = MinPlus,
        *,
        dtype: Literal["int64", "float64"] = "int64",
        fused: bool = True,
    ) -> tuple[DenseVector, DenseVector]: ...
    @overload
    def __call__(
        self,
        A: Matrix,
        source: None = None,
        semiring: Semiring | str = MinPlus,
        *,
        sources: Vertices,
        dtype: Literal["int64", "float64"] = "int64",
        fused: bool = True,
    ) -> tuple[DenseRows, DenseRows]: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return super().__call__(*args, **kwargs)


class Forest(Fusible[..., Any]):
    """boruvka: the forest, with the trees' labels and the edges' places if they are asked for."""

    @overload
    def __call__(
        self,
        A: Matrix,
        *,
        symmetrize: bool = False,
        return_labels: Literal[False] = False,
        return_places: Literal[False] = False,
        fused: bool = True,
    ) -> COO: ...
    @overload
    def __call__(
        self,
        A: Matrix,
        *,
        symmetrize: bool = False,
        return_labels: Literal[True],
        return_places: Literal[False] = False,
        fused: bool = True,
    ) -> tuple[COO, IntegerVector]: ...
    @overload
    def __call__(
        self,
        A: Matrix,
        *,
        symmetrize: bool = False,
        return_labels: Literal[False] = False,
        return_places: Literal[True],
        fused: bool = True,
    ) -> tuple[COO, IntegerVector]: ...
    @overload
    def __call__(
        self,
        A: Matrix,
        *,
        symmetrize: bool = False,
        return_labels: Literal[True],
        return_places: Literal[True],
        fused: bool = True,
    ) -> tuple[COO, IntegerVector, IntegerVector]: ...
    @overload
    def __call__(
        self,
        A: Matrix,
        *,
        symmetrize: bool = False,
        return_labels: bool = False,
        return_places: bool = False,
        fused: bool = True,
    ) -> COO | tuple[COO, IntegerVector] | tuple[COO, IntegerVector, IntegerVector]: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return super().__call__(*args, **kwargs)
