"""Other libraries that compute the same, each timed in our process on the same graph, and compared with us.

A peer says for each of its tasks how it takes a graph, untimed, and what it then does, timed; what it found is turned
into a common form, untimed, and must agree with us (`agreement`). A peer that is not installed says so.

    sssp   distances from a source, n float64, infinite where unreached
    bfs    levels, n int64, -1 where unreached
    scc    n labels, any numbers, equal within a component
    mst    the weight of a spanning forest; edges count both ways

    ours = Contender("semiring", lambda: sssp(A, s), ...)
    others, missing = rivals("sssp", A, s, common("sssp", sssp(A, s)))
    for name, figures in contest([ours, *others]).items():
        yield {"graph": ..., "contender": name} | figures | facts(name)
    yield from missing  # with the graph's name
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from formats import CSR
from formats.arrays import Array, Device, namespace

from ..measure import Contender
from . import cusparse
from .agreement import agreement, common
from .boost import BOOST
from .cugraph import CUGRAPH
from .graphblas import GRAPHBLAS
from .graphblas import prepare_mxv as graphblas_mxv
from .igraph import IGRAPH
from .networkit import NETWORKIT
from .networkx import NETWORKX
from .peer import Peer, Prepared, Task, Unable, first_line
from .rustworkx import RUSTWORKX
from .scipy import SCIPY
from .scipy import prepare_mxv as scipy_mxv

__all__ = [
    "MOST_EDGES",
    "PEERS",
    "PRODUCTS",
    "Peer",
    "Prepared",
    "Task",
    "Unable",
    "agreement",
    "common",
    "facts",
    "product_rivals",
    "rivals",
]

Row = dict[str, Any]

PEERS: tuple[Peer, ...] = (SCIPY, BOOST, IGRAPH, NETWORKIT, RUSTWORKX, NETWORKX, GRAPHBLAS, CUGRAPH)

MILLIONS: dict[Task, dict[str, float]] = {
    "sssp": {"SciPy": 20, "Boost": 20, "igraph": 5, "NetworKit": 20, "rustworkx": 5, "NetworkX": 1},
    "bfs": {"SciPy": 70, "Boost": 70, "igraph": 5, "NetworKit": 20, "rustworkx": 5, "NetworkX": 1},
    "scc": {"SciPy": 20, "Boost": 20, "igraph": 5, "NetworKit": 20, "rustworkx": 5, "NetworkX": 1},
    "mst": {"SciPy": 10, "Boost": 5, "igraph": 2, "NetworKit": 5, "rustworkx": 5, "NetworkX": 0.3},
}
MOST_EDGES = {task: {name: int(most * 1e6) for name, most in bounds.items()} for task, bounds in MILLIONS.items()}
"""Entries beyond which a call takes some seconds, or the graph's conversion ten.

It is an estimate, from R-MAT 18 and a grid of 2^20 vertices on 2 cores of an Intel Xeon at 2.8 GHz, 2026-11-22."""

SUM_TOLERANCE = 1e-4
"""The relative error of a product's sums in float32."""


def rivals(
    task: Task,
    A: CSR,
    source: int,
    expected: Any,
    *,
    names: Iterable[str] | None = None,
    most_edges: Mapping[str, int] | None = None,
) -> tuple[list[Contender], list[Row]]:
    """Returns the peers that have the task, and a row for each of them that is missing.

    A: on either device; peers on a GPU take part where A is on one.  expected: our answer, in the common form.  names:
    of peers, by default all.  most_edges: a peer is left out where A has more; by default, and for names that are not
    there, MOST_EDGES.  ValueError for an unknown name.
    """
    contenders, rows = [], []
    host: Any = A.to(device="cpu")
    bounds = MOST_EDGES[task] | dict(most_edges or {})
    for peer in chosen(names):
        if task not in peer.tasks or (peer.device == "cuda" and A.device == "cpu"):
            continue
        try:
            contenders.append(contender(peer, task, host, source, expected, bounds.get(peer.name)))
        except Unable as why:
            rows.append({"contender": peer.name, "missing": str(why)})
    return contenders, rows


def contender(peer: Peer, task: Task, A: CSR, source: int, expected: Any, most_edges: int | None) -> Contender:
    """The peer with the graph, A on the host. Unable, with the reason, if it cannot be had."""
    if reason := peer.missing():
        raise Unable(reason)
    if most_edges is not None and A.nnz > most_edges:
        raise Unable(f"left out: more than {most_edges:,} edges")
    try:
        prepared = peer.tasks[task](A, source)
        if peer.device == "cuda":
            prepared.run()  # where the GPU's memory, or the library's version, does not do, it shows here
    except Unable:
        raise
    except Exception as error:
        raise Unable(f"fails: {first_line(error)}") from error
    return Contender(
        peer.name,
        prepared.run,
        agrees=lambda found: agreement(task, expected, prepared.answer(found)),
        device=peer.device,
    )


def chosen(names: Iterable[str] | None) -> list[Peer]:
    """The peers of those names, by default all, in the order of PEERS."""
    if names is None:
        return list(PEERS)
    wanted = set(names)
    if unknown := sorted(wanted - {peer.name for peer in PEERS}):
        raise ValueError(f"unknown peer {unknown[0]!r}; there are {', '.join(peer.name for peer in PEERS)}")
    return [peer for peer in PEERS if peer.name in wanted]


def facts(name: str) -> Row:
    """Returns the facts of a peer's row beside its figures; none for a contender that is no peer.

    `library`: with its version.  `threads`: that it may use.
    """
    for peer in PEERS:
        if peer.name == name:
            return {"library": peer.library(), "threads": peer.threads()}
    return {}


# --- products ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Product:
    """A library's product A x over plus-times.  prepare: (A, x), both on the device, -> Prepared, or Unable."""

    name: str
    device: Device
    missing: Callable[[], str | None]
    prepare: Callable[[CSR, Array], Prepared]


PRODUCTS: tuple[Product, ...] = (
    Product("SciPy plus-times", "cpu", SCIPY.missing, scipy_mxv),
    Product("python-graphblas plus-times", "cpu", GRAPHBLAS.missing, graphblas_mxv),
    Product("cuSPARSE plus-times", "cuda", cusparse.missing, cusparse.prepare_mxv),
)


def product_rivals(A: CSR, x: Array, expected: Array) -> tuple[list[Contender], list[Row]]:
    """The products that run where A is, and a row for each that is missing.

    expected: A x over plus-times, in A's dtype, on its device (`products.plus_times`).
    """
    contenders: list[Contender] = []
    rows: list[Row] = []
    for product in PRODUCTS:
        if product.device != A.device:
            continue
        try:
            if reason := product.missing():
                raise Unable(reason)
            prepared = product.prepare(A, x)
        except Unable as why:
            rows.append({"contender": product.name, "missing": str(why)})
            continue
        agrees = partial(same_sums, prepared, expected)
        contenders.append(Contender(product.name, prepared.run, agrees=agrees, device=product.device))
    return contenders, rows


def same_sums(prepared: Prepared, expected: Array, found: Any) -> bool:
    """But for rounding; NumPy arrays or CuPy arrays."""
    y = prepared.answer(found)
    same = y.dtype == expected.dtype and y.shape == expected.shape
    return same and bool(namespace(expected).allclose(y, expected, rtol=SUM_TOLERANCE, atol=0))
