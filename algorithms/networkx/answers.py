"""Answers as NetworkX gives them: dictionaries by name, in its order, sets, paths, and iterators that fail late."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from threading import RLock
from typing import Any

import numpy as np

from algorithms.networkx.order import breadth_first, depth_first
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

SHARE = 4
"""One path in so many is made by itself; then all others are made at once, in a fraction of the time."""


class Paths(dict[Any, Any]):
    """A dictionary of the paths to vertices. Until all are made it holds those alone that somebody has looked at.

    _names: all its keys in order, until all paths are made; then None.
    """

    def __init__(self, names: Iterable[Any], G: Converted, order: np.ndarray, parent: np.ndarray, turned: bool) -> None:
        super().__init__()
        self._names: dict[Any, Any] | None = dict.fromkeys(names)
        self._of, self._order, self._alone = (G, parent, turned), order, order.size // SHARE
        self._lock = RLock()

    def __missing__(self, name: Any) -> Any:
        """A path that is looked at for the first time."""
        with self._lock:
            if self._names is not None and self._alone > 0 and name in self._names:
                self._alone -= 1
                G, parent, turned = self._of
                found = way(parent, G.index(name))
                return super().setdefault(name, G.listed(found[::-1] if turned else found))
            if name not in self:
                raise KeyError(name)
            return self._whole()[name]

    def __contains__(self, name: object) -> bool:
        names = self._names  # which another thread may take away
        return super().__contains__(name) if names is None else name in names

    def __len__(self) -> int:
        names = self._names
        return super().__len__() if names is None else len(names)

    def __iter__(self) -> Iterator[Any]:
        names = self._names
        return super().__iter__() if names is None else iter(names)

    def get(self, name: Any, default: Any = None) -> Any:
        try:
            return self[name]
        except KeyError:
            return default

    def _whole(self) -> dict[Any, Any]:
        """This dictionary, with all paths in their order."""
        with self._lock:
            if self._names is not None:
                G, parent, turned = self._of
                with without_garbage_collection():
                    self._names.update(each_path(G, self._order, parent, turned))
                    self._names.update(super().items())
                    super().clear()
                    super().update(self._names)
                self._names = None
        return self

    def copy(self) -> dict[Any, Any]:
        """A plain dictionary, with all paths."""
        return dict(self.items())

    def __reduce__(self) -> Any:
        return dict, (self.copy(),)


def _of_whole(name: str) -> Callable[..., Any]:
    """A method of dictionaries that wants all paths."""
    method = getattr(dict, name)

    @wraps(method)
    def call(*args: Any, **kwargs: Any) -> Any:
        return method(*(each._whole() if isinstance(each, Paths) else each for each in args), **kwargs)

    return call


for _name in ("clear", "items", "keys", "pop", "popitem", "setdefault", "update", "values"):
    setattr(Paths, _name, _of_whole(_name))
for _name in ("delitem", "eq", "ior", "ne", "or", "repr", "reversed", "ror", "setitem"):
    setattr(Paths, f"__{_name}__", _of_whole(f"__{_name}__"))


def each_path(G: Converted, order: np.ndarray, parent: np.ndarray, turned: bool) -> Iterator[tuple[Any, list[Any]]]:
    """The vertices of whole trees and their paths, each soon after the path before it, which is still in the cache."""
    found, before = np.empty((2, order.size), np.int32)
    depth_first.along(order, parent, tuple(np.full((4, len(G)), -1, np.int32)), found, before)
    names = G.listed(found)
    made: list[list[Any]] = []
    for name, k in zip(names, before.tolist(), strict=True):
        path = made[k] if k >= 0 else []
        if len(path) < LONG:
            made.append([name, *path] if turned else [*path, name])
        else:  # which leaves no room to grow
            made.append([name] + path if turned else path + [name])
    return zip(names, made, strict=True)


def paths(
    G: Converted, order: np.ndarray, parent: np.ndarray, turned: bool = False, lengths: dict[Any, Any] | None = None
) -> dict[Any, Any]:
    """The paths to vertices, in this order. lengths: of the paths by name, if they are known."""
    names = G.listed(order) if lengths is None else lengths
    vertices = breadth_first.lengths(order, parent, np.zeros(len(G), np.int64))
    if order.size > FEW and vertices > SHORT * order.size:
        return Paths(names, G, order, parent, turned)
    found = dict.fromkeys(names)
    found.update(each_path(G, order, parent, turned))
    return found


def lists(G: Converted, keys: np.ndarray, starts: np.ndarray, values: np.ndarray) -> dict[Any, list[Any]]:
    """A list of vertices for each key; `starts` is by vertex."""
    named = G.listed(values)
    bounds = zip(starts[keys].tolist(), starts[keys + 1].tolist(), strict=True)
    return {name: named[a:b] for name, (a, b) in zip(G.listed(keys), bounds, strict=True)}


COMPUTED: tuple[type, ...] = (type(iter([])), zip)
"""Iterators over what is there already."""


def ready(found: Iterable[Any], error: Exception | None = None) -> Iterator[Any]:
    """Yields what is there already, as `is_ready` tells, or raises the error at the first step."""
    if error is not None:
        raise error
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
            return ready((), error)
        return ready(found) if type(found) in COMPUTED else (each for each in found)

    return call
