"""rustworkx: a Rust library whose edges carry Python objects, here floats, and whose weights are a Python call each."""

from __future__ import annotations

from typing import Any

from formats import CSR

from .forms import check_lengths, distances, labels_of_sets, levels_of_layers, undirected
from .peer import Prepared, of_package


def graph(A: CSR, make: str = "PyDiGraph") -> Any:
    """The graph, each edge with its weight as a float."""
    import rustworkx

    G = getattr(rustworkx, make)()  # no look for an edge that is there already: there is none
    G.add_nodes_from(range(A.nrows))
    u, v, weights = A.to_edges()
    G.add_edges_from(list(zip(u.tolist(), v.tolist(), weights.astype(float).tolist(), strict=True)))
    return G


def sssp(A: CSR, source: int) -> Prepared:
    """`dijkstra_shortest_path_lengths`."""
    import rustworkx

    check_lengths(A)
    G = graph(A)
    return Prepared(
        lambda: rustworkx.dijkstra_shortest_path_lengths(G, source, float),
        lambda found: distances(A.nrows, found.keys(), found.values(), source),
    )


def bfs(A: CSR, source: int) -> Prepared:
    """`bfs_layers`."""
    import rustworkx

    G = graph(A)
    return Prepared(lambda: rustworkx.bfs_layers(G, [source]), lambda layers: levels_of_layers(A.nrows, layers))


def scc(A: CSR, source: int) -> Prepared:
    """`strongly_connected_components`."""
    import rustworkx

    G = graph(A)
    return Prepared(
        lambda: rustworkx.strongly_connected_components(G), lambda components: labels_of_sets(A.nrows, components)
    )


def mst(A: CSR, source: int) -> Prepared:
    """`minimum_spanning_edges`, Kruskal's algorithm."""
    import rustworkx

    G = graph(undirected(A), "PyGraph")
    return Prepared(
        lambda: rustworkx.minimum_spanning_edges(G, weight_fn=float),
        lambda edges: float(sum(weight for _, _, weight in edges)),
    )


RUSTWORKX = of_package("rustworkx", "rustworkx", {"sssp": sssp, "bfs": bfs, "scc": scc, "mst": mst})
