"""Answers of a `Graph`: mappings by name, which are arrays by vertex number, too."""

from __future__ import annotations

from collections.abc import Hashable, ItemsView, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar, overload

from formats import COO, Matrix
from formats.arrays import Array, optional
from formats.named.names import Names
from formats.named.tables import entry
from semiring.vectors import element, gather, nonzero, nvals

from ..shared.parents import path

if TYPE_CHECKING:
    import pandas

V = TypeVar("V")


class Named(Protocol):
    """The attributes of a graph that an answer needs."""

    @property
    def matrix(self) -> Matrix: ...
    @property
    def names(self) -> Names: ...
    @property
    def columns(self) -> Mapping[str, Any]: ...
    @property
    def rows(self) -> Array | None: ...


class Edge(NamedTuple):
    """An edge by the names of its ends. row: what the graph's edge columns have for it."""

    source: Any
    target: Any
    weight: Any
    row: dict[str, Any]


@dataclass(frozen=True)
class Path:
    """A way through a graph. vertices: their names.  legs: the edges between them.  length: of all of them."""

    vertices: list[Any]
    legs: list[Edge]
    length: Any


class ByName(Mapping[Hashable, V]):
    """A mapping from the names of some vertices to values."""

    graph: Named

    def known(self, vertex: int) -> bool:
        """True if the vertex of this number has a value."""
        raise NotImplementedError

    def value(self, vertex: int) -> V:
        """Returns the value of the vertex of this number."""
        raise NotImplementedError

    def __getitem__(self, name: object) -> V:
        try:
            vertex = self.graph.names.index(name)
        except ValueError as error:
            raise Unknown(str(error)) from None
        if not self.known(vertex):
            raise Unknown(f"{name!r} cannot be reached")
        return self.value(vertex)


class Unknown(KeyError):
    """A name of which nothing is known."""

    __str__ = Exception.__str__


@dataclass(frozen=True, eq=False, repr=False)
class Distances(ByName[Any]):
    """How far the vertices are that can be reached from a source: a mapping from their names.

    source: its name.  distance, parent, reached: (n,) arrays by vertex number: the distances, each vertex's parent in
    the tree of paths, -1 for none, and which vertices can be reached.
    """

    graph: Named
    source: Any
    distance: Array
    parent: Array
    reached: Array

    def known(self, vertex: int) -> bool:
        return bool(element(self.reached, vertex))

    def value(self, vertex: int) -> Any:
        return element(self.distance, vertex)

    def __len__(self) -> int:
        return nvals(self.reached)

    def __iter__(self) -> Iterator[Any]:
        names = self.graph.names
        return (names[v] for v in nonzero(self.reached).indices.tolist())

    def items(self) -> ItemsView[Any, Any]:
        """The names of the vertices that can be reached, each with its distance."""
        return Pairs(self)

    def __repr__(self) -> str:
        return f"<distances from {self.source!r} to {len(self):,} of {len(self.graph.names):,} vertices>"

    def path(self, target: Hashable) -> Path:
        """The best path to a vertex, leg by leg; ValueError if there is none."""
        end = self.graph.names.index(target, "target")
        if not self.known(end):
            raise ValueError(f"{target!r} cannot be reached from {self.source!r}")
        steps = path(self.parent, end)
        legs = [leg(self.graph, u, v) for u, v in zip(steps[:-1], steps[1:], strict=True)]
        return Path([self.graph.names[v] for v in steps], legs, self.value(end))

    def to_pandas(self) -> pandas.DataFrame:
        """A row for each vertex by its name: distance and parent, NA where no path leads."""
        pandas = optional("pandas", "to_pandas")
        names, nothing = self.graph.names, pandas.NA
        parents = [names[p] if p >= 0 else nothing for p in self.parent.tolist()]
        kind = str(self.distance.dtype)
        distance = pandas.Series(self.distance, index_of(self.graph)).astype(
            kind.capitalize().replace("Bool", "boolean")
        )
        parent = pandas.Series(parents, distance.index, dtype=object)
        return pandas.DataFrame({"distance": distance.mask(~self.reached), "parent": parent})


class Pairs(ItemsView[Any, Any]):
    """The items of distances, which are not looked up one by one."""

    _mapping: Distances

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        d = self._mapping
        return zip(d, gather(d.distance, d.reached).tolist(), strict=True)


@dataclass(frozen=True, eq=False, repr=False)
class Components(ByName[Any]):
    """The component of every vertex: a mapping from names to the name of the component's first vertex.

    label: (n,) array by vertex number, of the component's first vertex.
    """

    graph: Named
    label: Array

    def known(self, vertex: int) -> bool:
        return True

    def value(self, vertex: int) -> Any:
        return self.graph.names[element(self.label, vertex)]

    def __len__(self) -> int:
        return len(self.graph.names)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.graph.names)

    def __repr__(self) -> str:
        return f"<components of {len(self):,} vertices>"

    def groups(self) -> list[list[Any]]:
        """The names in each component, the largest component first."""
        groups: dict[int, list[Any]] = {}
        for name, label in zip(self.graph.names, self.label.tolist(), strict=True):
            groups.setdefault(label, []).append(name)
        return sorted(groups.values(), key=len, reverse=True)

    def to_pandas(self) -> pandas.DataFrame:
        """A row for each vertex by its name: its component's first vertex."""
        names = self.graph.names
        first = [names[label] for label in self.label.tolist()]
        return optional("pandas", "to_pandas").DataFrame({"component": first}, index=index_of(self.graph))


@dataclass(frozen=True)
class Edges(Sequence[Edge]):
    """Some edges of a graph, each with the names of its ends.

    entries: the same by vertex numbers.  places: of each its place among the matrix's entries by rows.
    """

    graph: Named
    entries: COO
    places: Array

    def __len__(self) -> int:
        return self.entries.nnz

    @overload
    def __getitem__(self, at: int) -> Edge: ...
    @overload
    def __getitem__(self, at: slice) -> list[Edge]: ...
    def __getitem__(self, at: int | slice) -> Edge | list[Edge]:
        if isinstance(at, slice):
            return [self[k] for k in range(len(self))[at]]
        k, entries, names = range(len(self))[at], self.entries, self.graph.names
        u, v, weight = (element(part, k) for part in (entries.rows, entries.cols, entries.values))
        return Edge(names[u], names[v], weight, row_of(self.graph, element(self.places, k)))

    def __repr__(self) -> str:
        return f"<{len(self):,} edges of {self.graph!r}>"

    def to_pandas(self) -> pandas.DataFrame:
        """A row for each edge: source, target, weight, and the graph's edge columns."""
        pandas = optional("pandas", "to_pandas")
        names, entries, rows = self.graph.names, self.entries, self.graph.rows
        ends = {
            part: [names[v] for v in vertices.tolist()]
            for part, vertices in (("source", entries.rows), ("target", entries.cols))
        }
        at = rows[self.places] if rows is not None else None
        more = {name: taken(column, at) for name, column in self.graph.columns.items()}
        return pandas.DataFrame(more | ends | {"weight": entries.values})[[*ends, "weight", *more]]


def taken(column: Any, rows: Any) -> Any:
    return column[rows] if hasattr(column, "dtype") else [column[row] for row in rows.tolist()]


def row_of(graph: Named, place: int) -> dict[str, Any]:
    """Returns the elements of the edge columns for the entry in this place."""
    if graph.rows is None:
        return {}
    at = element(graph.rows, place)
    return {name: plain(column[at]) for name, column in graph.columns.items()}


def leg(graph: Named, u: int, v: int, weight: Any = None) -> Edge:
    """The edge between two vertices by their numbers; if its weight is given, it may be there from v to u alone."""
    row: dict[str, Any] = {}
    if weight is None or graph.columns:
        place, stored = entry(graph.matrix, u, v)
        if place < 0 or weight not in (None, stored):
            place, stored = entry(graph.matrix, v, u)
        weight, row = stored, row_of(graph, place)
    return Edge(graph.names[u], graph.names[v], weight, row)


def plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value


def index_of(graph: Named) -> Any:
    """The names as pandas has them beside a table."""
    return optional("pandas", "to_pandas").Index(list(graph.names), name="vertex", tupleize_cols=False)
