"""`semiring warm-up`: have kernels compiled before they are needed, as when a container is built."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from typing import Annotated, Any

import numpy as np
import typer

from formats import CSR, Matrix, from_edges
from formats.arrays import finish, to_device
from semiring import Law, mxv, threads, vxm
from semiring.algebra.semirings import find_semiring
from semiring.kernels.compiling import seconds_of_compiling

from ..elimination import factor
from ..equations.bfs import bfs
from ..equations.boruvka import boruvka
from ..equations.components import components
from ..equations.scc import scc
from ..equations.sssp import sssp
from .options import Device, Json, places
from .output import print_json
from .report import show_table

DTYPES = ["int32", "float64"]
"""The dtypes that files are read as."""
SEMIRINGS = ["min_plus"]
VERTICES, EDGES = 1 << 15, 1 << 18
CALLS = 3
"""Calls on a graph after which its columns and essential edges are kept, and other kernels run."""


def warm_up(
    semiring: Annotated[list[str], typer.Option(help="For paths and products; may repeat.")] = SEMIRINGS,
    dtype: Annotated[list[str], typer.Option(help="Of the weights; may repeat.")] = DTYPES,
    device: Device = "cpu",
    networkx: Annotated[bool, typer.Option(help="Also the functions of NetworkX's backend, if that is there.")] = True,
    json: Json = False,
) -> None:
    """Compile the kernels of the usual calls, and keep them on disk."""
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
    """Calls that together run the usual kernels: on a path, and on a graph with hubs, by one thread and by all."""
    for shape in (path, hubs):
        A = shape(np.dtype(np.int32))
        for call in (lambda A: bfs(A, 0, return_parents=True), lambda A: bfs(A, 0), components):
            yield repeated(call, A, device)
        yield repeated(scc, one_way(A), device)
        for dtype in dtypes:
            A = shape(dtype)
            yield repeated(boruvka, A, device)
            for name in semirings:
                x = np.full(A.nrows, find_semiring(name).zero(dtype), dtype)
                yield repeated(partial(sssp, source=0, semiring=name, return_parents=True), A, device)
                yield repeated(partial(products, x=x, semiring=name), A, device)
                if device == "cpu" and Law.ASSOCIATIVE in find_semiring(name).laws:
                    yield partial(questions, path(dtype), name)


def repeated(call: Callable[[Matrix], Any], A: Matrix, device: Any) -> Callable[[], None]:
    """The call on A, as often as it takes for all of its kernels."""

    def run() -> None:
        there = A.to(CSR, device=device)
        for _ in range(CALLS):
            call(there)
        finish(there.device)
        with threads(1):
            call(there)

    return run


def products(A: Matrix, x: np.ndarray, semiring: str) -> None:
    """Both products with a vector, moved to where A is."""
    there = to_device(x, A.device)
    mxv(A, there, semiring)
    vxm(there, A, semiring)


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
