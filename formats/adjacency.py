"""The adjacency of a NetworkX graph as arrays, in the order of its dictionaries, by one walk over them."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import chain, islice
from operator import itemgetter, methodcaller
from typing import Any, NamedTuple

import numpy as np

from .arrays import index_dtype, starts_of
from .storage.compressed import CSR, out_of_order_within

AT_ONCE = 4096
"""Names that are looked up by one call: few enough to stay in a cache between the walk and the look-up."""


STEP = 1 << 15
"""Names that are looked up at a time by where they lie."""

ALIGNED, FAR = 16, 512
"""Bytes between objects at least; steps of so many for each name at most, where a NetworkX graph takes more."""


class Adjacency(NamedTuple):
    """Rows of neighbours. ends: (n + 1,) where rows begin and end.  vertices: (m,) their numbers, in order."""

    ends: np.ndarray
    vertices: np.ndarray

    def rows(self) -> np.ndarray:
        """Returns for each neighbour, (m,), the vertex whose it is."""
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
    """Each node's neighbours, with the data of the edges; backwards: the nodes that lead to it."""
    own = G._pred if backwards and G.is_directed() else G._adj
    if type(own) is dict:
        return own
    return {u: dict(others) for u, others in (G.pred if backwards and G.is_directed() else G.adj).items()}  # of a view


def are_numbers(names: list[Hashable]) -> bool:
    """True if the names are 0 to n - 1, in order."""
    n = len(names)
    if n == 0 or (type(names[0]) is int and names[-1] == n - 1 and set(map(type, names)) == {int}):
        try:
            return np.array_equal(np.fromiter(names, np.int64, n), np.arange(n))
        except OverflowError:
            pass
    return False


def numbers_of(names: list[Hashable]) -> dict[Hashable, int] | None:
    """The number of each name; None if the names are the numbers themselves."""
    return None if are_numbers(names) else dict(zip(names, range(len(names)), strict=True))


def adjacency_of(
    adj: Mapping[Any, Any], names: Sequence[Hashable] | None, number: Mapping[Hashable, int] | None = None
) -> Adjacency:
    """The neighbours by their numbers.

    names: in order; None if they are the numbers themselves.  number: of each name, if that is known.
    """
    ends = starts_of(np.fromiter(map(len, adj.values()), np.int64, len(adj)), np.int64)
    listed: Iterator[Hashable] = chain.from_iterable(adj.values())
    dtype = np.int32 if len(adj) < 1 << 31 else np.int64
    if names is None:
        return Adjacency(ends, np.fromiter(listed, dtype, int(ends[-1])))
    vertices = np.empty(int(ends[-1]), dtype)
    done = 0
    if vertices.size > len(names) >= AT_ONCE and (places := Places.of(names, dtype)) is not None:
        done = places.look_up(listed, vertices)
        listed = islice(chain.from_iterable(adj.values()), done, None)
    if done < vertices.size:
        known = dict(zip(names, range(len(names)), strict=True)) if number is None else number
        for at in range(done, vertices.size, AT_ONCE):
            vertices[at : at + AT_ONCE] = itemgetter(*islice(listed, AT_ONCE))(known)
    return Adjacency(ends, vertices)


class Places(NamedTuple):
    """The numbers of names by where these lie in memory, which is looked up in half the time of what they are.

    first: the lowest place.  table: one more than the number of the name at each later place, 0 where there is none.
    """

    first: int
    table: np.ndarray

    @classmethod
    def of(cls, names: Sequence[Hashable], dtype: Any) -> Places | None:
        """None where names lie too far apart, or one is twice there."""
        at = np.fromiter(map(id, names), np.int64, len(names))
        first = int(at.min())
        at = (at - first) // ALIGNED
        if (size := int(at.max()) + 1) > FAR * at.size:
            return None
        table = np.zeros(size, dtype)  # of which the system gives only what is written to
        table[at] = np.arange(1, at.size + 1)
        return cls(first, table) if np.array_equal(table[at], np.arange(1, at.size + 1)) else None

    def look_up(self, names: Iterator[Hashable], numbers: np.ndarray) -> int:
        """Write the numbers of names, up to those that are not the same objects, but at most equal; how many."""
        for done in range(0, numbers.size, STEP):
            count = min(STEP, numbers.size - done)
            at = (np.fromiter(map(id, islice(names, count)), np.int64, count) - self.first) // ALIGNED
            if at.min() < 0 or at.max() >= self.table.size or not (found := self.table[at]).all():
                return done
            numbers[done : done + count] = found - 1
        return numbers.size


def attribute_of(adj: Mapping[Any, Any], name: Hashable, default: Any, parallel: bool, combine: Any = min) -> list[Any]:
    """The attribute of every edge in order, or the default; parallel ones are combined."""
    if parallel:
        return [combine([data.get(name, default) for data in by_key.values()]) for by_key in edges(adj)]
    try:
        return list(map(itemgetter(name), edges(adj)))
    except KeyError:
        return [data.get(name, default) for data in edges(adj)]


def has_attribute(adj: Mapping[Any, Any], name: Hashable, parallel: bool) -> bool:
    """True if any edge has the attribute."""
    data = chain.from_iterable(map(dict.values, edges(adj))) if parallel else edges(adj)
    return any(name in each for each in data)


def edges(adj: Mapping[Any, Any]) -> Iterator[Any]:
    """The data of every edge in order, of parallel ones together."""
    return chain.from_iterable(map(methodcaller("values"), adj.values()))
