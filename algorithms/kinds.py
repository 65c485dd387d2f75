"""Types of what algorithms take and give, for annotations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from formats.arrays import Array, DenseRows, DenseVector, IntegerRows, IntegerVector, Scalar

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
