"""NetworkX: graphs and algorithms in plain Python."""

from __future__ import annotations

from formats import CSR

from .forms import check_lengths, distances, labels_of_sets, undirected
from .peer import Prepared, of_package


def sssp(A: CSR, source: int) -> Prepared:
    """`single_source_dijkstra_path_length`."""
    import networkx as nx

    check_lengths(A)
    G = A.to_networkx()
    return Prepared(
        lambda: nx.single_source_dijkstra_path_length(G, source),
        lambda found: distances(A.nrows, found.keys(), found.values(), source),
    )


def bfs(A: CSR, source: int) -> Prepared:
    """`single_source_shortest_path_length`."""
    import networkx as nx

    G = A.to_networkx()

    def levels(found):
        level = distances(A.nrows, found.keys(), found.values(), source)
        level[level == float("inf")] = -1
        return level.astype(int)

    return Prepared(lambda: nx.single_source_shortest_path_length(G, source), levels)


def scc(A: CSR, source: int) -> Prepared:
    """`strongly_connected_components`."""
    import networkx as nx

    G = A.to_networkx()
    return Prepared(
        lambda: list(nx.strongly_connected_components(G)), lambda components: labels_of_sets(A.nrows, components)
    )


def mst(A: CSR, source: int) -> Prepared:
    """`minimum_spanning_edges`, Kruskal's algorithm."""
    import networkx as nx

    G = undirected(A).to_networkx().to_undirected()
    return Prepared(
        lambda: list(nx.minimum_spanning_edges(G)), lambda edges: float(sum(edge["weight"] for _, _, edge in edges))
    )


NETWORKX = of_package("NetworkX", "networkx", {"sssp": sssp, "bfs": bfs, "scc": scc, "mst": mst})
