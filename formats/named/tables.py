"""Tables of edges, from pandas, Polars, Arrow or Python's own, and the matrix that one describes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from numbers import Real
from typing import Any

import numpy as np

from ..arrays import Array, as_values, index_dtype
from ..edges import Duplicates, check_dup, from_edges
from ..io.edges import Edges, both_ways
from ..matrix.base import Matrix
from ..storage.compressed import CSR
from ..storage.orientation import compressed
from .names import Names, Where, as_column, did_you_mean, length, numbered


def row(number: int) -> str:
    """Names a row, counted from 0, as errors call it."""
    return f"row {number}"


@dataclass(frozen=True)
class Table:
    """Edges in columns: where they start and end, what they weigh, and what else is known of them.

    what: the first three columns' names, for errors.  where: what errors call a row.
    """

    source: Any
    target: Any
    weight: Any = None
    columns: Mapping[str, Any] = field(default_factory=dict)
    what: tuple[str, str, str] = ("source", "target", "weight")
    where: Where = row

    def matrix(
        self, directed: bool, names: Names | None = None, dup: Duplicates = "min"
    ) -> tuple[CSR, Names, Array | None, int]:
        """Returns (A, the vertices' names, for each entry of A its row of the table, rows merged with others).

        dup: how parallel edges become one, see `from_edges`. No rows where no more columns are known.
        """
        check_dup(dup)
        ends = self.source, self.target, self.weight
        source, target, weight = (
            None if column is None else as_column(column, what) for column, what in zip(ends, self.what, strict=True)
        )
        lengths = [length(column) for column in (source, target, weight, *self.columns.values()) if column is not None]
        if len(set(lengths)) > 1:
            raise ValueError(f"columns must be of one length, got {', '.join(map(str, lengths))}")
        weights = None if weight is None else as_weights(weight, self.what[2], self.where)
        src, dst, names = numbered(source, target, self.what[:2], self.where, names)
        edges = Edges(src, dst, weights, (len(names), len(names)), range(0))
        if not self.columns and dup == "min":
            A = edges.matrix(directed, None if weights is None else weights.dtype)
            return A, names, None, edges.merged(A, directed)
        rows = np.arange(src.size, dtype=index_dtype(src.size))
        if not directed:
            at, again = both_ways(src, dst)
            src, dst, rows = np.where(again, dst[at], src[at]), np.where(again, src[at], dst[at]), rows[at]
        if not self.columns:
            A = from_edges(src, dst, None if weights is None else weights[rows], shape=len(names), dup=dup)
            return A, names, None, edges.merged(A, directed)
        if dup == "sum":
            raise ValueError("dup='sum' makes an edge of several rows, and columns= asks for the row of each")
        A, rows = _with_rows(src, dst, weights, rows, len(names), dup)
        return A, names, rows, edges.merged(A, directed)


def _with_rows(
    src: Array, dst: Array, weights: Array | None, rows: Array, n: int, dup: Duplicates
) -> tuple[CSR, Array]:
    """Returns (the matrix of the edges, for each entry its row).

    The first of equally good parallel edges is taken.

    weights: of the rows.  rows: the row of each edge.
    """
    how: Duplicates = dup if dup in ("last", "error") else "first"
    A = from_edges(src, dst, rows, shape=n, dup=how)
    if A.nnz < src.size and dup in ("min", "max") and weights is not None:
        values = weights[rows]
        order = np.lexsort((rows, values)) if dup == "min" else np.lexsort((-rows, values))[::-1]
        A = from_edges(src[order], dst[order], rows[order], shape=n, dup="first")
    chosen = A.values
    return A.revalued(np.ones(A.nnz, np.int32) if weights is None else weights[chosen]), chosen


def column_of(table: Any, name: Any) -> Any:
    """The column of that name; ValueError lists the columns, TypeError for what is no table."""
    known = column_names(table)
    if name not in known:
        raise ValueError(f"there is no column {name!r}{did_you_mean(name, known)}; there are {_listed(known)}")
    if known.count(name) > 1:
        raise ValueError(f"there are {known.count(name)} columns {name!r}")
    column = table[name]
    return np.asarray(column) if hasattr(column, "to_pylist") else column  # `to_numpy` of Arrow's arrays may not copy


def _listed(names: Iterable[Any]) -> str:
    return ", ".join(map(repr, names)) or "none"


def column_names(table: Any) -> list[Any]:
    """The names of a table's columns, of pandas, Polars, Arrow, or a dict."""
    if isinstance(table, Mapping):
        return list(table)
    if hasattr(table, "collect"):
        raise TypeError(f"a {type(table).__name__} has no rows yet: give its collect()")
    names = getattr(table, "column_names", getattr(table, "columns", None))
    if hasattr(table, "__getitem__") and names is not None and not callable(names):
        return list(names)
    raise TypeError(f"expected a table with columns, of pandas, Polars, Arrow or a dict, got {type(table).__name__}")


def as_weights(column: Any, what: str, where: Where) -> Array:
    """A column of numbers; ValueError names the row of what is none, or is NaN."""
    values = column.to_numpy() if hasattr(column, "to_numpy") else column
    if isinstance(values, np.ndarray) and values.dtype.kind in "biuf":
        if values.dtype.kind == "f" and bool((bad := np.isnan(values)).any()):
            raise ValueError(f"{what} in {where(int(bad.argmax()))} is not a number, got nan")
        return as_values(values)
    values = list(values)
    for number, value in enumerate(values):
        if not isinstance(value, Real | Decimal | np.bool_) or value != value:
            raise ValueError(f"{what} in {where(number)} is not a number, got {value!r}")
        if isinstance(value, int) and not -(1 << 63) <= value < 1 << 63:
            raise ValueError(f"{what} in {where(number)} does not fit int64, got {value}")
    if any(isinstance(value, Fraction | Decimal) for value in values):
        values = list(map(float, values))
    return as_values(values if values else np.ones(0, np.int32))


def looked_up_by_row(column: Any) -> Any:
    """A column from which rows are taken by number: an array, or a list."""
    return column.to_numpy() if hasattr(column, "to_numpy") else column


def entry(A: Matrix, u: int, v: int) -> tuple[int, Any]:
    """Finds (the place of the entry u, v among A's entries by rows, its value); (-1, None) if there is none."""
    rows: Any = compressed(A, 0)
    start, end = int(rows.indptr[u]), int(rows.indptr[u + 1])
    place = start + int(rows.xp.searchsorted(rows.indices[start:end], v))
    if place == end or int(rows.indices[place]) != v:
        return -1, None
    return place, rows.values[place].item()
