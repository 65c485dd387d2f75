"""The object `backend`, which the entry point `networkx.backends` names, and its calls."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache, wraps
from importlib import import_module
from typing import Any

import networkx as nx
from networkx.utils.backends import _registered_algorithms

from algorithms.named.graph import Graph
from semiring.cpu.compiler.jit import without_garbage_collection

from .answers import is_ready
from .graph import Converted, converted
from .options import option, options
from .plugin.semiring_networkx import CALLS, COSTS, FUNCTIONS, OF_A_CALL


class Backend:
    """The functions of the table, as attributes."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in FUNCTIONS:
            raise AttributeError(f"the backend 'semiring' has no function {name!r}")
        return adapted(name)

    def convert_from_nx(
        self,
        G: Any,
        *,
        edge_attrs: dict[Any, Any] | None = None,
        preserve_edge_attrs: bool = False,
        **others: Any,
    ) -> Any:
        """The graph as the backend has it. Weights are read now, as far as NetworkX names them."""
        if isinstance(G, Graph | Converted):
            return G
        check_class(G)
        made = Converted.of_networkx(G, already(G))
        for name, default in (edge_attrs or {}).items():
            if not callable(name) and name is not None:
                with suppress(NotImplementedError):  # what cannot be read is refused by the function that needs it
                    made.weights(name, default)
        return made

    def convert_to_nx(self, answer: Any, **others: Any) -> Any:
        """The NetworkX graph; answers that are no graphs stay as they are."""
        return converted(answer).networkx if isinstance(answer, Graph | Converted) else answer

    def can_run(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
        """Returns True if this backend takes the call, as far as its arguments tell; else the reason.

        NetworkX writes a reason that is returned to its log alone. So it is raised. Whoever has named the backend reads
        it, and in other calls NetworkX goes on to the next backend. Its own tests want it returned.
        """
        try:
            arguments_of(name, args, kwargs)
        except NotImplementedError as reason:
            if self._in_tests:
                return str(reason)
            raise NotImplementedError(f"{name!r} is not for the backend 'semiring' here: {reason}") from None
        return True

    _in_tests = False

    def should_run(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
        """Returns True if the first call is faster than NetworkX's, its conversion included; else the reason."""
        G: Any = args[0] if args else kwargs.get("G")
        if isinstance(G, Graph | Converted) or already(G) is not None:
            return True
        cost = FUNCTIONS[name].cost
        least = {"search": "search_nodes", "many": "many_nodes"}.get(cost)
        if least is not None and len(G) >= option(least):
            return True
        if least is None and len(G) >= option("search_nodes") and asked(G) >= CALLS:
            return True
        return f"it costs {COSTS[cost]}"

    def on_start_tests(self, items: list[Any]) -> None:
        """Mark the tests of NetworkX that cannot pass, each with its reason."""
        import pytest

        self._in_tests = True
        for item in items:
            if (reason := UNFIT.get(item.name)) is not None:
                item.add_marker(pytest.mark.xfail(reason=reason, strict=True))


UNFIT = {"test_topological_sort6": "a graph that changes while its order is looked through keeps the order it had"}
"""Tests of NetworkX's own suite that cannot pass, and why."""


def already(G: Any) -> Converted | None:
    """Returns the graph as it was converted before, if it has not changed since."""
    cache = getattr(G, "__networkx_cache__", None)
    kept = cache.get("backends", {}).get("semiring", {}) if cache else {}
    return next((each for each in kept.values() if isinstance(each, Converted) and not each.is_stale()), None)


def asked(G: Any) -> int:
    """How often this was asked of the graph since it last changed, this time included."""
    cache = getattr(G, "__networkx_cache__", None)
    if cache is None:
        return 0
    cache["semiring"] = cache.get("semiring", 0) + 1
    return cache["semiring"]


def check_class(G: Any) -> None:
    """NotImplementedError for a class whose edges are not those in its dictionaries, such as a complement."""
    plain = {(False, False): nx.Graph, (True, False): nx.DiGraph, (False, True): nx.MultiGraph}
    base = plain.get((G.is_directed(), G.is_multigraph()), nx.MultiDiGraph)
    if type(G) is not base and any(getattr(type(G), name) is not getattr(base, name) for name in WAYS):
        raise NotImplementedError(f"{type(G).__name__}, which has its own way to neighbours")


WAYS = ("__getitem__", "__iter__", "adj", "adjacency", "neighbors", "nodes")
"""Methods by which a class shows its edges."""


@cache
def implementation(name: str) -> tuple[Callable[..., Any], frozenset[str]]:
    """Our function, and the parameters that it takes."""
    function = getattr(import_module(f"algorithms.networkx.{FUNCTIONS[name].file}"), name)
    return function, frozenset(inspect.signature(function).parameters)


def has(name: str) -> bool:
    return name in _registered_algorithms


@cache
def signature(name: str) -> inspect.Signature:
    """NetworkX's own, of the version that is installed."""
    return inspect.signature(_registered_algorithms[name].orig_func)


@cache
def parameters(name: str) -> tuple[tuple[str, ...], frozenset[str], dict[str, Any]]:
    """Returns the parameters of NetworkX's function: those by position, those that are required, all with defaults."""
    theirs = signature(name).parameters.values()
    by_position = tuple(each.name for each in theirs if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD))
    required = frozenset(each.name for each in theirs if each.default is each.empty)
    return by_position, required, {each.name: each.default for each in theirs}


def bound(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a call by name, as `inspect.Signature.bind` finds them, which takes ten times as long."""
    by_position, required, defaults = parameters(name)
    given = dict(zip(by_position, args, strict=False))
    clear = len(given) == len(args) and given.keys().isdisjoint(kwargs)
    given.update(kwargs)
    if clear and required <= given.keys() <= defaults.keys():
        return given
    return signature(name).bind(*args, **kwargs).arguments


def arguments_of(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Returns our function's arguments by name, and options; NotImplementedError for what it does not take."""
    defaults, taken = parameters(name)[2], implementation(name)[1]
    own = {key: kwargs[key] for key in kwargs if key in OF_A_CALL and key not in defaults}
    given = {}
    for key, value in bound(name, args, {key: kwargs[key] for key in kwargs if key not in own}).items():
        default = defaults[key]
        if key in taken:
            if callable(value) and key in ("weight", "distance"):
                raise NotImplementedError("a weight function is Python's to call")
            given[key] = value
        elif value is not default and not (isinstance(value, bool | int | float | str) and value == default):
            raise NotImplementedError(f"{name} takes no {key} here")
    return given, own


@cache
def adapted(name: str) -> Callable[..., Any]:
    """Our function with NetworkX's signature."""
    function, _ = implementation(name)

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        given, own = arguments_of(name, args, kwargs)
        given["G"] = converted(given["G"])
        with without_garbage_collection():  # which would look through NetworkX's graph while lists are made
            if not own and option("threads") is None:
                return function(**given)
            with options(own):
                found = function(**given)
        return each_with(own, found) if hasattr(found, "__next__") and not is_ready(found) else found

    return call


def each_with(own: dict[str, Any], found: Iterator[Any]) -> Iterator[Any]:
    """Yields what an iterator does, with a call's options in force at each step."""
    while True:
        with options(own):
            try:
                value = next(found)
            except StopIteration:
                return
        yield value


backend = Backend()
