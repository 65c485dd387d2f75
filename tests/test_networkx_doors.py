"""What people bring to NetworkX's backend: numbers of several types, views whose base changes, other graphs."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import networkx as nx
import numpy as np
import pytest

from algorithms import Graph
from algorithms.networkx.graph import Converted
from formats import from_networkx

pytestmark = pytest.mark.filterwarnings("ignore:Note. conversions to backend graphs:UserWarning")

KINDS = [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph]
DRAWS: dict[str, Callable[[random.Random], Any]] = {
    "float64 of NumPy": lambda r: np.float64(r.randint(1, 40) / 8),
    "integers and floats": lambda r: r.choice([r.randint(0, 9), r.random()]),
    "integers, Booleans and NumPy's": lambda r: r.choice([3, True, np.int64(5), np.uint32(2), np.bool_(True)]),
    "of all kinds": lambda r: r.choice([7, 0.5, np.float64(1.5), np.int32(2), False]),
}


def drawn(seed: int, kind: type, draw: Callable[[random.Random], Any]) -> Any:
    r = random.Random(seed)
    G = kind()
    G.add_nodes_from(f"v{k}" for k in range(12))
    for _ in range(30):
        G.add_edge(f"v{r.randrange(12)}", f"v{r.randrange(12)}", weight=draw(r))
    return G


@pytest.mark.parametrize("numbers", DRAWS)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_numbers_of_several_types_are_added_as_networkx_adds_them(kind: type, numbers: str) -> None:
    for seed in range(12):
        G = drawn(seed, kind, DRAWS[numbers])
        for name, options in (
            ("single_source_dijkstra", {"source": "v0"}),
            ("single_source_bellman_ford", {"source": "v0"}),
            ("single_source_dijkstra_path_length", {"source": "v1", "cutoff": 6}),
            ("dijkstra_predecessor_and_distance", {"source": "v0"}),
            ("all_pairs_dijkstra_path_length", {}),
        ):
            ours, theirs = (getattr(nx, name)(G, **options, **more) for more in ({"backend": "semiring"}, {}))
            if name.startswith("all_pairs"):
                ours, theirs = dict(ours), dict(theirs)
            assert ours == theirs, (seed, name)
        if not G.is_directed() and not G.is_multigraph():
            T, U = (nx.minimum_spanning_tree(G, **more) for more in ({"backend": "semiring"}, {}))
            assert list(T.edges(data=True)) == list(U.edges(data=True))


def test_distances_are_numbers_of_python() -> None:
    G = nx.Graph([(0, 1, {"weight": np.float64(0.5)}), (1, 2, {"weight": 2})])
    assert [type(d) for d in nx.single_source_dijkstra_path_length(G, 0, backend="semiring").values()] == [
        *(int, float, float)
    ]


@pytest.mark.parametrize("odd", [np.float32(1), Decimal(1), Fraction(1, 3), [1, 2], "1", 2**70, 2**60], ids=repr)
def test_weights_that_are_refused_are_walked_once(odd: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    G = nx.path_graph(20)
    nx.set_edge_attributes(G, 1.5, "weight")
    G[3][4]["weight"] = odd
    walks = []
    walked = Converted._weights
    monkeypatch.setattr(Converted, "_weights", lambda self, *more: walks.append(1) or walked(self, *more))
    for _ in range(4):
        with pytest.raises(NotImplementedError):
            nx.dijkstra_path(G, 0, 3, backend="semiring")
    assert len(walks) == 1
    with nx.config.backend_priority(algos=["semiring"]):
        assert nx.dijkstra_path(G, 0, 3) == [0, 1, 2, 3]


VIEWS: dict[str, Callable[[Any], Any]] = {
    "subgraph": lambda G: G.subgraph(range(8)),
    "edge_subgraph": lambda G: G.edge_subgraph([(0, 1), (1, 2), (2, 3), (3, 4)]),
    "reversed": lambda G: G.reverse(copy=False),
    "undirected": lambda G: G.to_undirected(as_view=True),
    "restricted": lambda G: nx.restricted_view(G, [9], []),
    "a view of a view": lambda G: nx.subgraph_view(G, filter_node=lambda v: v < 8).subgraph(range(7)),
    "generic": lambda G: nx.graphviews.generic_graph_view(G),
}


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_is_never_answered_from_before_its_base_changed(view: str) -> None:
    G = nx.path_graph(10, create_using=nx.DiGraph)
    G.add_edge(6, 0)
    V = VIEWS[view](G)
    changes: list[Callable[[], Any]] = [
        *(lambda: None, lambda: G.add_edge(0, 4), lambda: G.remove_edge(1, 2), lambda: G.remove_node(3)),
        lambda: G.add_weighted_edges_from([(0, 3, 1), (3, 4, 9)]),
    ]
    for change in changes:
        change()
        for source in (0, 4):
            ours, theirs = (
                nx.single_source_dijkstra_path_length(V, source, **more) for more in ({"backend": "semiring"}, {})
            )
            assert (ours, list(ours)) == (theirs, list(theirs))


NAMES = ("minimum_spanning_tree", "maximum_spanning_tree", "clustering", "average_clustering", "transitivity")


def outcome(name: str, G: Any, **options: Any) -> Any:
    """What a call gives; of an error its class and text, but NotImplementedError for what is left to NetworkX."""
    try:
        found = getattr(nx, name)(G, **options)
    except nx.NetworkXNotImplemented as error:
        return type(error), str(error)
    except NotImplementedError as error:
        return type(error)
    return (list(found.nodes), list(found.edges(data=True))) if isinstance(found, nx.Graph) else found


def test_graphs_that_networkx_refuses_are_refused_with_its_error() -> None:
    refused = 0
    for kind in KINDS:
        G = kind([(0, 1), (1, 2), (2, 0), (0, 1)])
        for name in NAMES:
            ours, theirs = outcome(name, G, backend="semiring"), outcome(name, G)
            assert ours in (theirs, NotImplementedError)
            refused += isinstance(ours, tuple) and ours[0] is nx.NetworkXNotImplemented
    assert refused >= 5


@pytest.mark.parametrize("odd", [[3, 4], "far", None, {"m": 1}], ids=repr)
def test_attributes_that_are_no_numbers_are_named(odd: Any) -> None:
    """As OSMnx has them where it has merged edges."""
    G = nx.MultiDiGraph([(1, 2, {"length": odd}), (2, 3, {"length": 2.0})])
    for read in (from_networkx, Graph.from_networkx):
        with pytest.raises(
            ValueError, match=f"attribute 'length' must be a number on every edge, got {re.escape(repr(odd))}"
        ):
            read(G, "length")
    assert Graph.from_networkx(G, None, columns=["length"]).edges()[0].row == {"length": odd}
