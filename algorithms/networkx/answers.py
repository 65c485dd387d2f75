"""Answers as NetworkX gives them: dictionaries by name, in its order, sets, paths, and iterators that fail late."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from typing import Any

import numpy as np

from algorithms.fused.cpu.in_order import breadth_first
from semiring.cpu.compiler.jit import without_garbage_collection

from .graph import Converted

FEW, SHORT = 1000, 16
"""Paths up to which all are made at once, and of more the vertices that they may have on average."""


def by_name(G: Converted, values: Any) -> dict[Any, Any]:
    """A value for each vertex."""
    found = G.keyed.copy()  # a copy has room for all names at once
    found.update(zip(G.names, values if isinstance(values, list) else values.tolist(), strict=True))
    return found


def in_order(G: Converted, order: np.ndarray, values: Any) -> dict[Any, Any]:
    """The values of some vertices, in this order."""
    return dict(zip(G.listed(order), values[order].tolist(), strict=True))


def sets(G: Converted, label: np.ndarray, order: np.ndarray | None = None) -> list[set[Any]]:
    """The names of each label, by ascending labels. order: the vertices by labels; None: at one label as they come."""
    if order is None:
        order = label.argsort(kind="stable")
    named = G.listed(order)
    cuts = (np.flatnonzero(np.diff(label[order])) + 1).tolist()
    return [set(named[a:b]) for a, b in zip([0, *cuts], [*cuts, len(named)], strict=True)] if named else []


def way(parent: np.ndarray, v: int) -> np.ndarray:
    """The vertices from a root to v; a root's parent is -1, or itself."""
    found = np.empty(breadth_first.depth(parent, v) + 1, np.int64)
    breadth_first.climb(parent, v, found)
    return found


LONG = 64
"""Vertices of a path from which on its memory takes longer than its list."""

LATER: Any = object()
"""In the place of a path that nobody has looked at."""


SHARE = 4
"""One path in so many is made by itself; then all others are made at once, in a fraction of the time."""


class Paths(dict[Any, Any]):
    """A dictionary of the paths to vertices, each of which is made when it is looked at, at last all together."""

    def __init__(self, G: Converted, order: np.ndarray, parent: np.ndarray, turned: bool) -> None:
        super().__init__(dict.fromkeys(G.listed(order), LATER))
        self._of, self._order, self._alone, self._whole = (G, parent, turned), order, order.size // SHARE, False

    def _made(self, name: Any, value: Any) -> Any:
        return path_to(*self._of, self._of[0].index(name)) if value is LATER else value

    def __getitem__(self, name: Any) -> Any:
        value = super().__getitem__(name)
        if value is LATER:
            self._alone -= 1
            if self._alone < 0:
                self._make_all()
                return super().__getitem__(name)
            value = self[name] = self._made(name, value)
        return value

    def __iter__(self) -> Iterator[Any]:  # so that dict(paths) asks for each path
        return super().__iter__()

    def get(self, name: Any, default: Any = None) -> Any:
        return self[name] if name in self else default

    def values(self) -> Any:
        return self.copy().values()

    def items(self) -> Any:
        return self.copy().items()

    def pop(self, name: Any, *default: Any) -> Any:
        return self._made(name, super().pop(name, *default))

    def popitem(self) -> Any:
        name, value = super().popitem()
        return name, self._made(name, value)

    def setdefault(self, name: Any, default: Any = None) -> Any:
        super().setdefault(name, default)
        return self[name]

    def copy(self) -> dict[Any, Any]:
        """A plain dictionary, with all paths."""
        self._make_all()
        return super().copy()

    def _make_all(self) -> None:
        """Make the paths that nobody has looked at, each from the one before it."""
        if self._whole:
            return
        G, parent, turned = self._of
        with without_garbage_collection():
            made = zip(G.listed(self._order), each_path(G, self._order, parent, turned), strict=True)
            if [*super().values()].count(LATER) == self._order.size:
                self.update(made)
            else:
                self.update([(name, path) for name, path in made if super(Paths, self).get(name) is LATER])
        self._whole = True

    def __eq__(self, other: object) -> bool:
        return self.copy() == other

    def __ne__(self, other: object) -> bool:
        return self.copy() != other

    def __or__(self, other: Any) -> Any:
        return self.copy() | other

    def __ror__(self, other: Any) -> Any:
        return other | self.copy()

    def __repr__(self) -> str:
        return repr(self.copy())

    def __reduce__(self) -> Any:
        return dict, (self.copy(),)

    __hash__ = None


def path_to(G: Converted, parent: np.ndarray, turned: bool, v: int) -> list[Any]:
    found = way(parent, v)
    return G.listed(found[::-1] if turned else found)


def each_path(G: Converted, order: np.ndarray, parent: np.ndarray, turned: bool) -> list[list[Any]]:
    """The paths to vertices, in this order: the path of the vertex before, if that came before, and one more."""
    made: list[Any] = [None] * len(G)
    vertices = order.tolist()
    for v, name, u in zip(vertices, G.listed(order), parent[order].tolist(), strict=True):
        before = made[u] if u >= 0 and u != v else []
        if before is None:
            made[v] = path_to(G, parent, turned, v)
        elif len(before) < LONG:
            made[v] = [name, *before] if turned else [*before, name]
        else:  # which leaves no room to grow
            made[v] = [name] + before if turned else before + [name]
    return [made[v] for v in vertices]


def paths(G: Converted, order: np.ndarray, parent: np.ndarray, turned: bool = False) -> dict[Any, Any]:
    """The paths to vertices, in this order."""
    vertices = breadth_first.lengths(order, parent, np.zeros(len(G), np.int64))
    if order.size > FEW and vertices > SHORT * order.size:
        return Paths(G, order, parent, turned)
    return dict(zip(G.listed(order), each_path(G, order, parent, turned), strict=True))


def lists(G: Converted, keys: np.ndarray, starts: np.ndarray, values: np.ndarray) -> dict[Any, list[Any]]:
    """A list of vertices for each key; `starts` is by vertex."""
    named = G.listed(values)
    bounds = zip(starts[keys].tolist(), starts[keys + 1].tolist(), strict=True)
    return {name: named[a:b] for name, (a, b) in zip(G.listed(keys), bounds, strict=True)}


COMPUTED: tuple[type, ...] = (type(iter([])), zip)
"""Iterators over what is there already."""


def ready(found: Iterable[Any]) -> Iterator[Any]:
    """A generator over what is there already, as `is_ready` tells."""
    yield from found


def is_ready(found: Any) -> bool:
    return type(found) in COMPUTED or getattr(found, "gi_code", None) is ready.__code__


def late(function: Callable[..., Iterable[Any]]) -> Callable[..., Iterator[Any]]:
    """Let NetworkX's errors come when the first element is asked for, as its generators do."""

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Iterator[Any]:
        try:
            found = function(*args, **kwargs)
        except NotImplementedError:  # another backend may try
            raise
        except Exception as error:
            return failing(error)
        return ready(found) if type(found) in COMPUTED else (each for each in found)

    return call


def failing(error: Exception) -> Iterator[Any]:
    raise error
    yield
