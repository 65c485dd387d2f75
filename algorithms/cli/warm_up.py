"""`semiring warm-up`: have kernels compiled before they are needed, as when a container is built."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from types import FunctionType
from typing import Annotated, Any

import numpy as np
import typer

import algorithms
from formats import CSR, Matrix, from_edges
from formats.arrays import finish, to_device
from semiring import Law, Verb, mxm, mxv, threads, vxm
from semiring.algebra.semirings import find_semiring
from semiring.kernels.compiling import seconds_of_compiling

from ..elimination import factor
from .options import Device, Json, places
from .output import print_json
from .report import show_table

DTYPES = ["int32", "float64"]
"""The dtypes that files are read as."""
SEMIRINGS = ["min_plus"]
VERTICES, EDGES, VERTICES_OF_SOME = 1 << 15, 1 << 18, 1 << 6
SOURCES = list(range(20))
GIVEN: dict[str, Any] = {"source": 0, "symmetrize": True}
NEEDED: dict[str, Any] = {"target": 1, "k": 2}
"""Arguments for parameters of algorithms; the last two are for those that have no default."""
OPTIONS = {"return_parents", "weighted"}
"""Parameters that are also given the other of their two values."""
OF_PAIRS = {
    *("all_pairs", "closure", "transitive_closure", "shortest_simple_paths", "factor", "symbolic_factor"),
    *("elimination_order", "betweenness_centrality", "closeness_centrality", "harmonic_centrality"),
    *("diameter", "eccentricity"),
}
"""Functions that look at all pairs of vertices, or nearly: a few vertices serve."""


def warm_up(
    semiring: Annotated[list[str], typer.Option(help="For paths and products; may repeat.")] = SEMIRINGS,
    dtype: Annotated[list[str], typer.Option(help="Of the weights; may repeat.")] = DTYPES,
    device: Device = "cpu",
    networkx: Annotated[bool, typer.Option(help="Also the functions of NetworkX's backend, if that is there.")] = True,
    json: Json = False,
) -> None:
    """Compile the kernels of every public function, and keep them on disk."""
    from rich.console import Console
    from rich.progress import track

    for name in semiring:
        find_semiring(name)
    before = seconds_of_compiling()
    calls = list(usual_calls(semiring, [np.dtype(name) for name in dtype], places(device)))
    if networkx and find_spec("networkx") is not None:
        from ..networkx.warm_up_calls import usual_calls as calls_of_networkx

        calls += calls_of_networkx(places(device))
    for call in track(calls, "compiling", console=Console(stderr=True), transient=True):
        call()
    seconds = seconds_of_compiling() - before
    if json:
        print_json({"calls": len(calls), "seconds of compiling": round(seconds, 1)})
        return
    show_table("kernels", {"calls": len(calls), "compiling": f"{seconds:.1f} s" if seconds else "nothing was left"})


def usual_calls(semirings: list[str], dtypes: list[np.dtype], device: Any) -> Iterator[Callable[[], None]]:
    """All calls on small graphs and on large ones, both ways and one way; of factors, questions about a path."""
    for shape, dtype in itertools.product((path, some, hubs, uniform), dtypes):
        both = shape(dtype)
        for A in (both, one_way(both)):
            yield from calls_on(A, semirings, device)
    fit = [name for name in semirings if device == "cpu" and Law.ASSOCIATIVE in find_semiring(name).laws]
    yield from (partial(questions, path(dtype), name) for dtype in dtypes for name in fit)


def calls_on(A: Matrix, semirings: list[str], device: Any) -> Iterator[Callable[[], None]]:
    """Every public function of a matrix and every verb on A, by all threads and by one."""
    for name in algorithms.__all__:
        function = getattr(algorithms, name)
        if isinstance(function, FunctionType | Verb) and (A.nrows <= VERTICES_OF_SOME or name not in OF_PAIRS):
            yield from (repeated(call, A, device) for call in calls_of(function, semirings))
    for name in semirings:
        yield repeated(partial(products, semiring=name), A, device)
    yield repeated(verbs, A, device)


def calls_of(function: Any, semirings: list[str]) -> Iterator[Callable[[Matrix], Any]]:
    """The function with and without weights and parents, from a vertex and from several, in each semiring."""
    parameters = inspect.signature(function).parameters
    if next(iter(parameters), "") != "A" or "d" in parameters:
        return
    given = {name: value for name, value in GIVEN.items() if name in parameters}
    given |= {name: value for name, value in NEEDED.items() if name in parameters and "k" in parameters}
    ways: list[dict[str, Any]] = [given]
    if "semiring" in parameters:
        ways = [given | {"semiring": name} for name in semirings]
    for option in OPTIONS & parameters.keys():
        ways += [way | {option: not parameters[option].default} for way in ways]
    if {"sources", "target"} <= parameters.keys():
        ways += [{k: v for k, v in way.items() if k != "source"} | {"sources": SOURCES} for way in ways]
    yield from (partial(function, **way) for way in ways)


def repeated(call: Callable[[Matrix], Any], A: Matrix, device: Any) -> Callable[[], None]:
    """The call on A, with which the calls before have kept columns and other facts, by all threads and by one."""

    def run() -> None:
        there = A.to(CSR, device=device)
        with suppress(ValueError, TypeError, NotImplementedError):  # it is not for such a graph, or place
            call(there)
            finish(there.device)
            with threads(1):
                call(there)

    return run


def products(A: Matrix, semiring: str) -> None:
    """Products with a vector, moved to where A is, and with A."""
    x = to_device(np.full(A.nrows, find_semiring(semiring).zero(A.dtype), A.dtype), A.device)
    mxv(A, x, semiring)
    vxm(x, A, semiring)
    for ring in (semiring, "plus_times") if A.nrows <= VERTICES_OF_SOME else ():
        mxm(A, A, ring)
        mxm(A, A, ring, mask=A.pattern())


def verbs(A: Matrix) -> None:
    """The other verbs."""
    one, two = A.dtype.type(1), [0, 1]
    B = Verb.all["transpose"](A)
    given: dict[str, list[tuple[Any, ...]]] = {
        "ewise_add": [(B, "plus")],
        "ewise_mult": [(B, "plus")],
        "ewise_union": [(one, B, one, "plus")],
        "apply": [("abs",)],
        "select": [(">", 2), ("tril",)],
        "extract": [(two, two)],
    }
    for name, ways in given.items():
        for arguments in ways:
            Verb.all[name](A, *arguments)
    for op, axis in itertools.product(("plus", "min"), (None, 0, 1)):
        Verb.all["reduce"](A, op, axis=axis)
    Verb.all["kronecker"](Verb.all["extract"](A, two, two), A, "times")
    Verb.all["assign"](CSR.trusted(*A.components), one, two, two)


def questions(A: Matrix, semiring: str) -> None:
    F = factor(A, semiring)
    F.solve(0)
    F.solve(sources=range(A.nrows))
    F.distances([0], [1])
    F.nearest([F.path(0, 1)[-1]])
    F.distance(0, 1)


def path(dtype: np.dtype) -> Matrix:
    """A path of a few vertices, both ways."""
    u = np.arange(7)
    return both_ways(u, u + 1, dtype)


def some(dtype: np.dtype) -> Matrix:
    """A graph of a few vertices with more edges, both ways."""
    u, v = np.random.default_rng(0).integers(0, VERTICES_OF_SOME, (2, 8 * VERTICES_OF_SOME))
    return both_ways(u, v, dtype)


def uniform(dtype: np.dtype) -> Matrix:
    """A graph in which all vertices have about as many edges, enough of them for several threads; both ways."""
    u, v = np.random.default_rng(0).integers(0, VERTICES // 2, (2, EDGES * 3 // 4))
    return both_ways(u, v, dtype)


def hubs(dtype: np.dtype) -> Matrix:
    """A graph in which few vertices have many edges, enough of them for several threads; both ways."""
    draw = np.random.default_rng(0)
    u, v = (np.minimum(draw.pareto(1.0, EDGES), VERTICES - 1).astype(np.int64) for _ in range(2))
    other = draw.integers(0, VERTICES, EDGES)
    return both_ways(u, np.where(draw.random(EDGES) < 0.5, v, other), dtype)


def one_way(A: Matrix) -> Matrix:
    """The edges of A between vertices of which the first is the smaller, and every third edge back."""
    u, v, weights = A.to_edges()
    kept = (u < v) | (u % 3 == 0)
    return from_edges(u[kept], v[kept], weights[kept], shape=A.nrows)


def both_ways(u: np.ndarray, v: np.ndarray, dtype: np.dtype) -> Matrix:
    """The graph of the edges between u and v, weighted 1 to 9."""
    weights = ((u * 7 + v * 7) % 9 + 1).astype(dtype)
    return from_edges(np.concatenate((u, v)), np.concatenate((v, u)), np.concatenate((weights, weights)))
