"""A graph as the backend has it: names, and neighbours as arrays in the order of NetworkX's dictionaries."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import cached_property, wraps
from typing import Any, TypeVar

import numpy as np

from algorithms.named.graph import Graph
from formats import CSR, Matrix
from formats.adjacency import Adjacency, adjacency_of, attribute_of, near, numbers_of
from formats.arrays import to_device
from formats.matrix.facts import Fact
from formats.storage.orientation import by_columns, compressed, is_symmetric

from .options import option

T = TypeVar("T")

OF_GRAPH: Fact[Any] = Fact("as NetworkX's backend has it")

FEW_EDGES = 1 << 16
"""Edges below which the host is done before a GPU has begun, whose every answer is waited for."""

EXACT = 1 << 53
"""Integers up to which a float holds each."""

LARGEST = 1 << 62
"""The bound that the sum of a path's integers may not reach."""


class Converted:
    """A graph whose neighbours are listed in NetworkX's order.

    names: of the vertices in order.  number: of each name; None if the names are 0 to n-1.  rows: the neighbours.
    directed, parallel: which of NetworkX's four kinds it is.  source: the NetworkX graph, if it was made of one.
    given: the graph of this package that it was made of, or None.
    """

    __networkx_backend__ = "semiring"

    def __init__(
        self,
        names: Sequence[Any],
        number: dict[Hashable, int] | None,
        rows: Adjacency,
        kind: tuple[bool, bool],
        source: Any = None,
        given: Graph | None = None,
    ) -> None:
        self.names, self.number, self.rows, self.source, self.given = names, number, rows, source, given
        self.directed, self.parallel = kind
        self._kept: dict[Any, Any] = {}
        self._seen = seen_of(source)

    @classmethod
    def of_networkx(cls, G: Any, like: Converted | None = None) -> Converted:
        """From a NetworkX graph; `like` is what was made of the same one, which then need not be walked again."""
        if like is not None:
            return cls(like.names, like.number, like.rows, (like.directed, like.parallel), G)
        names = list(G)
        number = numbers_of(names)
        rows = adjacency_of(near(G), None if number is None else names, number)
        return cls(names, number, rows, (G.is_directed(), G.is_multigraph()), G)

    @classmethod
    def of_graph(cls, g: Graph) -> Converted:
        """From a graph of this package, without a copy; it is undirected if its matrix is symmetric."""

        def made() -> Converted:
            names = list(g.names)
            A: Any = compressed(g.matrix, 0)
            rows = Adjacency(to_device(A.indptr, "cpu").astype(np.int64), to_device(A.indices, "cpu"))
            return cls(names, numbers_of(names), rows, (not is_symmetric(g.matrix), False), given=g)

        found = g.matrix.keep(OF_GRAPH, made)
        return found if found.given is g else made()

    def is_stale(self) -> bool:
        """Returns True if the source is a view of a changed graph, as NetworkX keeps what was made of views."""
        return any(cache is None or cache.get(SEEN) is not mark for cache, mark in self._seen)

    def refresh(self) -> None:
        """Be made anew if it is stale."""
        if self._seen and self.is_stale():
            self.__dict__ = Converted.of_networkx(self.source).__dict__

    def is_directed(self) -> bool:
        return self.directed

    def is_multigraph(self) -> bool:
        return self.parallel

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.names)

    def __contains__(self, name: object) -> bool:
        return self.index(name) >= 0

    def looked_up(self, name: Any) -> int:
        """As `index`, where NetworkX asks a dictionary: TypeError of a name that cannot be hashed."""
        hash(name)
        return self.index(name)

    def index(self, name: Any) -> int:
        """The number of a vertex; -1 if there is none of that name."""
        try:
            if self.number is not None:
                return self.number.get(name, -1)
            hash(name)
        except TypeError:
            return -1
        known = isinstance(name, int | float | np.number) and 0 <= name < len(self.names) and int(name) == name
        return int(name) if known else -1

    def listed(self, vertices: np.ndarray) -> list[Any]:
        return self._names.take(vertices).tolist()  # even of numbers, which then need not be made

    @cached_property
    def _names(self) -> np.ndarray:
        return np.fromiter(self.names, object, len(self.names))

    @cached_property
    def keyed(self) -> dict[Hashable, int]:
        """A dictionary with the names in order."""
        return dict.fromkeys(self.names, 0) if self.number is None else self.number

    @cached_property
    def networkx(self) -> Any:
        if self.source is not None:
            return self.source
        import networkx as nx

        G = nx.DiGraph() if self.directed else nx.Graph()
        G.add_nodes_from(self.names)
        ends = self.listed(self.rows.rows()), self.listed(self.rows.vertices)
        G.add_weighted_edges_from(zip(*ends, self.weights("weight").tolist(), strict=True))
        return G

    @cached_property
    def back(self) -> Adjacency:
        """The neighbours that lead to each vertex."""
        if not self.directed:
            return self.rows
        if self.source is not None:
            names = None if self.number is None else self.names
            return adjacency_of(near(self.source, backwards=True), names, self.number)
        C: Any = by_columns(self.given.matrix)  # type: ignore[union-attr]
        return Adjacency(to_device(C.indptr, "cpu").astype(np.int64), to_device(C.indices, "cpu"))

    def rows_of(self, backwards: bool) -> Adjacency:
        return self.back if backwards else self.rows

    def once(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """Returns make(), which is called once; what cannot be made is refused from then on."""
        if key not in self._kept:
            try:
                self._kept[key] = make()
            except NotImplementedError as error:
                self._kept[key] = NotImplementedError(str(error))
                raise
        found = self._kept[key]
        if isinstance(found, NotImplementedError):
            raise NotImplementedError(str(found))
        return found

    def weights(self, name: Any, default: Any = 1, *, combine: Any = min, backwards: bool = False) -> np.ndarray:
        """An attribute of each edge, in order, as int64 or float64, whose sums are equal to NetworkX's.

        combine: how parallel edges become one.  Raises NotImplementedError if there is no array that means the same.
        """
        key = ("weights", name, default, combine, backwards and self.directed)
        return self.once(key, lambda: self._weights(name, default, combine, backwards and self.directed))

    def _weights(self, name: Any, default: Any, combine: Any, backwards: bool) -> np.ndarray:
        if callable(name):
            raise NotImplementedError("a weight function is Python's to call")
        if name is None and combine is not sum:
            return exactly([default] * self.rows.vertices.size, {type(default)}, len(self))
        if self.given is not None:
            A: Any = by_columns(self.given.matrix) if backwards else compressed(self.given.matrix, 0)
            values = to_device(A.values, "cpu")
            return fitting(values.astype(np.float64 if values.dtype.kind == "f" else np.int64), len(self))
        adj = near(self.source, backwards=backwards)
        if name is None:
            name, default = object(), 1
        try:
            each = attribute_of(adj, name, default, self.parallel, combine)
            types = set(map(type, each))
            self._kept["of NumPy", name, default, combine, backwards] = not types <= {int, float, bool}
            return exactly(each, types, len(self))
        except TypeError as error:
            raise NotImplementedError(f"weights without an order: {error}") from None

    def floats(
        self, name: Any, default: Any = 1, *, combine: Any = sum, backwards: bool = False, plain: bool = False
    ) -> np.ndarray:
        """An attribute of each edge as float64, for answers that are always floats; numbers of any kind.

        plain: Python's own numbers alone, which times a float are one; those of NumPy are NumPy's.
        """
        try:
            found = self.weights(name, default, combine=combine, backwards=backwards)
            if not (plain and self._kept.get(("of NumPy", name, default, combine, backwards and self.directed))):
                return found.astype(np.float64)
        except NotImplementedError:
            if callable(name) or self.source is None:
                raise
        key = ("floats", name, default, combine, backwards and self.directed, plain)
        return self.once(key, lambda: self._floats(name, default, combine, backwards, plain))

    def _floats(self, name: Any, default: Any, combine: Any, backwards: bool, plain: bool) -> np.ndarray:
        try:
            each = attribute_of(near(self.source, backwards=backwards), name, default, self.parallel, combine)
            if plain and not {int, float, bool}.issuperset(map(type, each)):
                raise TypeError
            found = np.array(each)
            if found.ndim != 1 or found.dtype.kind not in "biufO":  # of text NumPy would make numbers
                raise TypeError
            found = found.astype(np.float64)
        except (TypeError, ValueError):
            raise NotImplementedError("weights that are no numbers, or not of Python") from None
        return finite(found)

    @property
    def device(self) -> Any:
        """Where matrices are: the option's device, but those of a small graph on the host."""
        return option("device") if self.rows.vertices.size >= FEW_EDGES else "cpu"

    def matrix(self, name: Any = None, default: Any = 1) -> Matrix:
        """The matrix of the weights, of parallel edges the least; ones if no name is given. On `device`."""
        device = self.device
        A = self.once(("matrix", name, default), lambda: self._matrix(name, default))
        return A if A.device == device else self.once((device, name, default), lambda: A.to(device=device))

    def _matrix(self, name: Any, default: Any) -> Matrix:
        if self.given is not None:
            A: Any = compressed(self.given.matrix, 0)
            if name is None:
                return CSR.trusted(A.indptr, A.indices, A.xp.ones(A.nnz, np.int32), A.shape)
            return A if A.dtype in (np.int32, np.int64, np.float64) else A.astype(np.float64)
        if name is None:
            weights = np.ones(self.rows.vertices.size, np.int32)
        else:
            weights = self.weights(name, default)
            if weights.dtype == np.int64 and int(abs(weights).max(initial=0)) * (len(self) + 1) < 2**31 - 1:
                weights = weights.astype(np.int32)
        return self.rows.matrix(weights)

    def array_of(self, weights: np.ndarray) -> Matrix:
        """The matrix where NetworkX makes an array, which has one weight for both directions of an undirected edge."""
        A = self.rows.matrix(weights)
        if not self.directed and type(getattr(self.source, "_adj", {})) is not dict and not is_symmetric(A):
            raise NotImplementedError("a view whose edges weigh differently in their two directions")
        return A


INTEGERS = frozenset([int, bool, np.bool_, *(np.dtype(f"{sign}int{n}").type for sign in ("", "u") for n in (32, 64))])
REALS = frozenset([float, np.float64])
"""Types of numbers whose sums are those of int64 and float64; sums of np.float32 are rounded to 32 bits."""


def exactly(values: list[Any], types: set[type], n: int) -> np.ndarray:
    """Numbers of these types as an array whose sums along paths equal those of the numbers, if there is one.

    Else NotImplementedError. Of integers beside reals these sums are floats, which NetworkX may have as integers.
    """
    if not types <= INTEGERS | REALS:
        raise NotImplementedError(f"weights of the types {', '.join(sorted(each.__name__ for each in types))}")
    try:
        if types <= INTEGERS:
            return fitting(np.array(values if types <= {int} else list(map(int, values)), np.int64), n)
        found = np.array(values, np.float64)
    except OverflowError:
        raise NotImplementedError("integers that do not fit into 64 bits") from None
    if not types <= REALS and abs(found).max() * (n + 1) >= EXACT:
        largest = max(abs(int(value)) for value in values if type(value) in INTEGERS)
        if largest * (n + 1) >= EXACT:
            raise NotImplementedError("integers beside reals whose sums a float may not hold")
    return finite(found)


def fitting(values: np.ndarray, n: int) -> np.ndarray:
    """The values, if they are finite, and if their sums along paths fit."""
    if values.dtype.kind == "f":
        return finite(values)
    if values.size and max(abs(int(values.max())), abs(int(values.min()))) * (n + 1) >= LARGEST:
        raise NotImplementedError("integers whose sums may not fit into 64 bits")
    return values


def finite(values: np.ndarray) -> np.ndarray:
    """The values, if they and all their sums are finite."""
    with np.errstate(over="ignore"):
        total = abs(values).sum()
    if not np.isfinite(total):
        raise NotImplementedError("a weight that is infinite or NaN, or sums that may be")
    return values


def once(make: Callable[[Converted], T]) -> Callable[[Converted], T]:
    """Lets a function of a graph keep its answer with the graph."""
    return wraps(make)(lambda G: G.once(make, lambda: make(G)))


SEEN = "seen by semiring"
"""The key of our mark in a graph's cache, which NetworkX empties when the graph changes."""


def seen_of(source: Any) -> list[tuple[dict[Any, Any] | None, object]]:
    """Returns the cache, and our mark there, of each graph of which the source is a view."""
    found = []
    while (source := getattr(source, "_graph", None)) is not None:
        cache = getattr(source, "__networkx_cache__", None)
        found.append((cache, None if cache is None else cache.setdefault(SEEN, object())))
    return found


def converted(G: Any) -> Any:
    """Converts a graph to the one that a function of the backend works on."""
    if isinstance(G, Graph):
        return Converted.of_graph(G)
    if isinstance(G, Converted):
        G.refresh()
    return G
