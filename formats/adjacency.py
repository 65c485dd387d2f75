"""The adjacency of a NetworkX graph as arrays, in the order of its dictionaries, by one walk over them."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from itertools import chain, islice
from operator import itemgetter, methodcaller
from typing import Any, NamedTuple

import numpy as np

from .arrays import index_dtype
from .storage.compressed import CSR, out_of_order_within

AT_ONCE = 4096
"""Names that are looked up by one call: few enough to stay in a cache between the walk and the look-up."""


class Adjacency(NamedTuple):
    """Rows of neighbours. ends: (n + 1,) where rows begin and end.  vertices: (m,) their numbers, in order."""

    ends: np.ndarray
    vertices: np.ndarray

    def rows(self) -> np.ndarray:
        """(m,) the vertex whose neighbour each is."""
        return np.repeat(np.arange(self.ends.size - 1, dtype=self.vertices.dtype), np.diff(self.ends))

    def matrix(self, values: np.ndarray) -> CSR:
        """The matrix of a value for each; no neighbour is twice in a row."""
        n = self.ends.size - 1
        index = index_dtype(n, n, self.vertices.size)
        ends, vertices = self.ends.astype(index), self.vertices.astype(index, copy=False)
        if out_of_order_within(ends, vertices).any():
            from scipy.sparse import csr_array

            S = csr_array((values, vertices, ends), shape=(n, n), copy=True)
            S.sort_indices()
            vertices, values = S.indices.astype(index, copy=False), S.data
        return CSR.trusted(ends, vertices, values, (n, n))


def near(G: Any, *, backwards: bool = False) -> Mapping[Any, Any]:
    """Of each node its neighbours, with the data of the edges; backwards: the nodes that lead to it."""
    own = G._pred if backwards and G.is_directed() else G._adj
    if type(own) is dict:
        return own
    return {u: dict(others) for u, others in (G.pred if backwards and G.is_directed() else G.adj).items()}  # of a view


def numbers_of(names: list[Hashable]) -> dict[Hashable, int] | None:
    """The number of each name; None if the names are the numbers themselves."""
    n = len(names)
    if n == 0 or (type(names[0]) is int and names[-1] == n - 1 and set(map(type, names)) == {int}):
        try:
            if np.array_equal(np.fromiter(names, np.int64, n), np.arange(n)):
                return None
        except OverflowError:
            pass
    return dict(zip(names, range(n), strict=True))


def adjacency_of(adj: Mapping[Any, Any], number: Mapping[Hashable, int] | None) -> Adjacency:
    """The neighbours by their numbers."""
    ends = np.zeros(len(adj) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, adj.values()), np.int64, len(adj)), out=ends[1:])
    listed, dtype = chain.from_iterable(adj.values()), np.int32 if len(adj) < 1 << 31 else np.int64
    if number is None:
        return Adjacency(ends, np.fromiter(listed, dtype, int(ends[-1])))
    vertices = np.empty(int(ends[-1]), dtype)
    for at in range(0, vertices.size, AT_ONCE):
        vertices[at : at + AT_ONCE] = itemgetter(*islice(listed, AT_ONCE))(number)
    return Adjacency(ends, vertices)


def attribute_of(adj: Mapping[Any, Any], name: Hashable, default: Any, parallel: bool, combine: Any = min) -> list[Any]:
    """The attribute of every edge in order, or the default; parallel ones are combined."""
    if parallel:
        return [combine([data.get(name, default) for data in by_key.values()]) for by_key in edges(adj)]
    try:
        return list(map(itemgetter(name), edges(adj)))
    except KeyError:
        return [data.get(name, default) for data in edges(adj)]


def has_attribute(adj: Mapping[Any, Any], name: Hashable, parallel: bool) -> bool:
    """Has any edge the attribute?"""
    data = chain.from_iterable(map(dict.values, edges(adj))) if parallel else edges(adj)
    return any(name in each for each in data)


def edges(adj: Mapping[Any, Any]) -> Iterator[Any]:
    """The data of every edge in order, of parallel ones together."""
    return chain.from_iterable(map(methodcaller("values"), adj.values()))
