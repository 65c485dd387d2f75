"""cuGraph through pylibcugraph, its thin Python layer over the C interface, as of 26.10.

Vertices are renumbered by cuGraph, which is its users' default. Shortest paths include predecessors, which cuGraph does
not leave out. A forest comes with each edge in both directions.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from formats import CSR, from_edges
from formats.arrays import to_device
from formats.gpu import DeviceUnavailable, cupy

from .forms import check_lengths, finite_below, symmetric, undirected
from .peer import Peer, Prepared, absent

importable = absent("pylibcugraph", "pylibcugraph")


def missing() -> str | None:
    """Why there is no cuGraph here."""
    try:
        cupy()
    except DeviceUnavailable as reason:
        return str(reason)
    return importable()


def library() -> str:
    """Its name and version."""
    import pylibcugraph

    return f"cuGraph {getattr(pylibcugraph, '__version__', 'of unknown version')}"


def graph(A: CSR, *, both_ways: bool) -> tuple[Any, Any]:
    """Returns cuGraph's handle, and the graph on the GPU."""
    import pylibcugraph

    cp = cupy()
    weights = A.values if A.dtype.kind == "f" else A.values.astype(np.float32)
    handle = pylibcugraph.ResourceHandle()
    made = pylibcugraph.SGGraph(
        handle,
        pylibcugraph.GraphProperties(is_symmetric=both_ways, is_multigraph=False),
        cp.asarray(A.indptr.astype(np.int32)),
        cp.asarray(A.indices.astype(np.int32)),
        weight_array=cp.asarray(weights),
        store_transposed=False,
        renumber=True,
        do_expensive_check=False,
        input_array_format="CSR",
    )
    return handle, made


def in_order(n: int, vertices: Any, values: Any) -> np.ndarray:
    """Returns cuGraph's values in the order of the vertices, on the host."""
    found = to_device(values, "cpu")
    ordered = np.empty(n, found.dtype)
    ordered[to_device(vertices, "cpu")] = found
    return ordered


def sssp(A: CSR, source: int) -> Prepared:
    """`sssp`."""
    import pylibcugraph

    check_lengths(A)
    handle, G = graph(A, both_ways=False)

    def answer(found):
        vertices, lengths, _ = found
        d = in_order(A.nrows, vertices, lengths)
        return finite_below(d, np.finfo(d.dtype).max)

    return Prepared(lambda: pylibcugraph.sssp(handle, G, source, np.inf, True, False), answer)


def bfs(A: CSR, source: int) -> Prepared:
    """`bfs` without predecessors; direction-optimizing where the graph is symmetric, which it requires."""
    import pylibcugraph

    both_ways = symmetric(A)
    handle, G = graph(A, both_ways=both_ways)
    cp = cupy()

    def answer(found):
        steps, _, vertices = found
        level = in_order(A.nrows, vertices, steps).astype(np.int64)
        return np.where(level < np.iinfo(np.int32).max, level, -1)

    return Prepared(
        lambda: pylibcugraph.bfs(handle, G, cp.array([source], np.int32), both_ways, 0, False, False), answer
    )


def scc(A: CSR, source: int) -> Prepared:
    """`strongly_connected_components`."""
    import pylibcugraph

    handle, G = graph(A, both_ways=False)
    return Prepared(
        lambda: pylibcugraph.strongly_connected_components(handle, G, None, None, None, None, False),
        lambda found: in_order(A.nrows, *found),
    )


def mst(A: CSR, source: int) -> Prepared:
    """`minimum_spanning_tree`."""
    import pylibcugraph

    u, v, weights = undirected(A).to_edges()
    handle, G = graph(both(u, v, weights, A.nrows), both_ways=True)
    return Prepared(lambda: pylibcugraph.minimum_spanning_tree(handle, G, False), weight_of_both)


def both(u: np.ndarray, v: np.ndarray, weights: np.ndarray, n: int) -> CSR:
    """The CSR of edges that count both ways."""
    join = np.concatenate
    return from_edges(join((u, v)), join((v, u)), join((weights, weights)), shape=n)


def weight_of_both(found: tuple[Any, ...]) -> float:
    """The weight of a forest whose edges are there in one direction or in both."""
    u, v, weights = (to_device(part, "cpu") for part in found[:3])
    ends = np.stack((np.minimum(u, v), np.maximum(u, v)))
    _, first = np.unique(ends, axis=1, return_index=True)
    return float(weights[first].sum(dtype=np.float64))


CUGRAPH = Peer("cuGraph", "cuda", missing, {"sssp": sssp, "bfs": bfs, "scc": scc, "mst": mst}, library)
