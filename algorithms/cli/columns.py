"""Answers with a value for each vertex, or each pair: what is printed, as tables and as JSON, and what is written."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from formats import Matrix
from formats.arrays import to_device

from .graph import Graph
from .output import plain, save_edges, save_vectors
from .report import show_table

SHOWN = 10
"""Vertices in the table of those with the largest values."""


@dataclass(frozen=True)
class Column:
    """A column of values, one for each vertex.

    vertices: True if the values are vertices.  absent: the value that stands for none; "zero" is the semiring's.
    """

    title: str
    vertices: bool = False
    absent: Any = None

    def of_semiring(self, zero: Any) -> Column:
        return replace(self, absent=zero) if self.absent == "zero" else self

    def summary(self, values: np.ndarray) -> dict[str, Any]:
        """Rows of a table: how many different vertices, or which numbers, there are."""
        if self.vertices:
            return {f"different values of {self.title}": len(np.unique(values))}
        known = values[~np.isnan(values)] if values.dtype.kind == "f" else values
        if known.size == 0:
            return {}
        return {f"{self.title}, least": known.min(), "largest": known.max(), "mean": known.mean()}


@dataclass(frozen=True)
class Answer:
    """Columns of values, each of a vertex, or one value of the whole graph.

    labels: (k,) the ids of the vertices that the values are of.  columns: each with its (k,) values.
    """

    graph: Graph
    labels: np.ndarray
    columns: list[tuple[Column, Any]]

    @property
    def is_one_value(self) -> bool:
        return np.ndim(self.columns[0][1]) == 0

    def there(self) -> np.ndarray:
        """Returns (columns, k) Booleans, True where there is a value."""
        return np.array([x != c.absent if c.absent is not None else np.full(x.shape, True) for c, x in self.columns])

    def by_id(self) -> list[np.ndarray]:
        """The columns, with vertices by their ids."""
        return [self.graph.labels[x] if c.vertices else x for c, x in self.columns]

    def content(self) -> Any:
        """A dict for each vertex, with None where it has no value; of one value, a dict with that."""
        titles = [c.title for c, _ in self.columns]
        if self.is_one_value:
            return {titles[0]: plain(self.columns[0][1])}
        rows = zip(self.labels.tolist(), zip(*self.by_id(), strict=True), self.there().T.tolist(), strict=True)
        return [
            {"vertex": label}
            | {title: plain(x) if known else None for title, x, known in zip(titles, values, there, strict=True)}
            for label, values, there in rows
        ]

    def show(self) -> None:
        """Print what the values of the first column are in all, and the vertices with the largest."""
        graph, (column, values) = self.graph, self.columns[0]
        if self.is_one_value:
            show_table(graph.title, graph.facts | {column.title: values} | graph.watch.rows)
            return
        known = self.there()[0]
        show_table(graph.title, graph.facts | column.summary(values[known]) | graph.watch.rows)
        if not column.vertices and known.any():
            at = np.flatnonzero(known)
            top = at[np.argsort(-values[at].astype(np.float64), kind="stable")[:SHOWN]]
            show_table(
                f"largest {column.title}", {str(self.labels[v]): values[v] for v in top}, ("vertex", column.title)
            )

    def save(self, output: Path) -> None:
        """Write the columns: .npy as they are, .tsv by ids, `none` where a vertex has no value."""
        if self.is_one_value:
            column, value = self.columns[0]
            save_vectors(output, np.array([column.title]), [np.array([value])], np.ones((1, 1), bool), absent="")
        elif output.suffix == ".npy":
            save_vectors(output, self.labels, [x for _, x in self.columns], self.there(), absent="none")
        else:
            save_vectors(output, self.labels, self.by_id(), self.there(), absent="none")


@dataclass(frozen=True)
class Pairs:
    """A value for each pair of vertices that a path joins.

    rows, cols: (m,) the vertices of each pair.  values: (m,).
    """

    graph: Graph
    rows: np.ndarray
    cols: np.ndarray
    values: np.ndarray

    def content(self) -> list[dict[str, Any]]:
        labels = self.graph.labels
        ends = labels[self.rows].tolist(), labels[self.cols].tolist()
        return [{"from": u, "to": v, "value": plain(x)} for u, v, x in zip(*ends, self.values.tolist(), strict=True)]

    def show(self) -> None:
        """Print how many pairs a path joins, and what the values are."""
        found = {"pairs joined": len(self.values)}
        if self.values.dtype != bool and len(self.values):
            found |= {"least value": self.values.min(), "largest value": self.values.max()}
        show_table(self.graph.title, self.graph.facts | found | self.graph.watch.rows)

    def save(self, output: Path) -> None:
        save_edges(output, self.graph.labels, self.rows, self.cols, self.values)


def entries(found: Any, zero: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns rows, columns and values of a matrix, or of the entries of an array that are not zero."""
    if isinstance(found, Matrix):
        rows, cols, values = (to_device(each, "cpu") for each in found.to_edges())
        return rows, cols, values
    table = to_device(found, "cpu")
    rows, cols = np.nonzero(table != zero(table.dtype))
    return rows, cols, table[rows, cols]
