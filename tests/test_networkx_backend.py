"""The backend of NetworkX beside NetworkX itself: values, order, paths, Python's types and errors."""

from __future__ import annotations

import inspect
import pickle
import random
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

from algorithms import Graph
from algorithms.networkx import graph, weighted
from algorithms.networkx.answers import FEW, Paths, is_ready
from algorithms.networkx.interface import UNFIT, backend, implementation, signature
from algorithms.networkx.options import option, options
from algorithms.networkx.plugin.semiring_networkx import CALLS, COSTS, FUNCTIONS, OPTIONS, get_info
from algorithms.networkx.searches import by_size
from formats import from_edges, from_networkx

from .conftest import Backend, writable
from .networkx_calls import ROUNDED, THEIRS, alike, arguments, compare, compared, form, outcome
from .networkx_suite import WHOLE, entry_points, run

ROOT = Path(__file__).parent.parent
ALL_PATHS = [f"single_source_{name}_path" for name in ("dijkstra", "bellman_ford", "shortest")]
ALL_PATHS += ["single_target_shortest_path"]
SUITE = [f"networkx.algorithms.{name}" for name in ("components", "shortest_paths", "traversal")]
SUITE += [f"networkx.algorithms.tests.test_{name}" for name in ("cluster", "core", "dag")]
SUITE += [f"networkx.algorithms.tests.test_{name}" for name in ("efficiency", "isolate", "reciprocity", "voronoi")]
SUITE += [f"networkx.algorithms.tests.test_{name}" for name in ("wiener", "smetric", "regular")]
SUITE += [f"networkx.algorithms.tree.tests.test_{name}" for name in ("mst", "recognition")]
SUITE += [f"networkx.algorithms.centrality.tests.test_{name}_centrality" for name in ("betweenness", "closeness")]
SUITE += [f"networkx.algorithms.centrality.tests.test_{name}_centrality" for name in ("degree", "harmonic", "katz")]
SUITE += ["networkx.algorithms.centrality.tests.test_eigenvector_centrality", "networkx.algorithms.link_analysis"]
SUITE += ["networkx.algorithms.centrality.tests.test_reaching", "networkx.algorithms.bipartite.tests.test_basic"]


def test_some_random_graphs() -> None:
    compared(range(6))


@pytest.mark.long
def test_random_graphs_have_networkxs_answers_and_every_function_is_handled() -> None:
    handled = compared(range(100, 150))
    assert [name for name in THEIRS if not handled[name]] == []
    assert sum(handled.values()) > 4000


@pytest.mark.parametrize("G", [nx.karate_club_graph(), nx.les_miserables_graph()], ids=["karate", "miserables"])
def test_known_graphs(G: Any) -> None:
    handled = Counter[str]()
    for name in THEIRS:
        if "all_shortest_paths" not in name:
            handled[compare(name, G, arguments(name, G, random.Random(name)), "known")] += 1
    assert handled["handled"] > 75


@pytest.mark.quick
def test_the_table_names_functions_and_parameters_of_networkx() -> None:
    assert len(FUNCTIONS) >= 100
    assert {name for name in FUNCTIONS if name not in THEIRS} <= {"barycenter", "tree_centroid"}
    for name, row in FUNCTIONS.items():
        assert row.name == name
        assert row.cost in COSTS
        assert name not in THEIRS or implementation(name)[1] <= set(signature(name).parameters), name
        assert inspect.isgeneratorfunction(implementation(name)[0]) is False, name  # it must refuse at once
    assert f"[{len(FUNCTIONS)} functions](docs/networkx.md)" in (ROOT / "README.md").read_text(encoding="utf-8")
    info = get_info()
    assert set(info["functions"]) == set(FUNCTIONS)
    assert info["default_config"] == OPTIONS


def installed(tmp_path: Path) -> dict[str, str]:
    return {**entry_points(tmp_path), **writable(tmp_path)}


def printed(code: str, environment: dict[str, str], folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.quick
def test_importing_networkx_loads_the_table_alone(tmp_path: Path) -> None:
    code = (
        "import sys, networkx as nx; print(sorted(name for name in sys.modules if name.partition('.')[0] in"
        " ('formats', 'semiring', 'algorithms', 'semiring_networkx', 'numpy', 'numba', 'scipy')));"
        "print('semiring' in nx.config.backends)"
    )
    assert printed(code, installed(tmp_path), tmp_path) == "['semiring_networkx']\nTrue\n"


DISPATCH = """
import networkx as nx
from algorithms import Graph
from algorithms.networkx.graph import Converted
from formats import from_edges

G = nx.gnm_random_graph(600, 2400, seed=1)
d = nx.single_source_dijkstra_path_length(G, 5, backend="semiring")
assert list(d.items()) == list(nx.single_source_dijkstra_path_length(G, 5).items())
cache = G.__networkx_cache__["backends"]["semiring"]
[kept] = cache.values()
assert isinstance(kept, Converted)
nx.config.warnings_to_ignore.add("cache")
assert nx.pagerank(G, backend="semiring").keys() == nx.pagerank(G).keys()
assert all(each.rows is kept.rows for each in G.__networkx_cache__["backends"]["semiring"].values())
G.add_edge(5, 599)
assert not G.__networkx_cache__.get("backends")
assert nx.single_source_dijkstra_path_length(G, 5, backend="semiring")[599] == 1
assert list(nx.connected_components(G, backend="semiring", threads=1))
try:
    nx.pagerank(G, backend="semiring", hurry=True)
except TypeError as error:
    print(error)
nx.config.backend_priority = ["semiring"]
H = nx.path_graph(4)
assert list(nx.bfs_edges(H, 0)) == [(0, 1), (1, 2), (2, 3)]
assert "backends" not in H.__networkx_cache__  # too small to be worth it
assert nx.dijkstra_path(G, 5, 599, lambda u, v, d: 1) == [5, 599]
A = from_edges([0, 1, 2], [1, 2, 0], [1.0, 2.0, 3.0])
g = Graph(A, ["x", "y", "z"])
print(nx.pagerank(g).keys(), nx.single_source_dijkstra_path_length(g, "x"))
print(nx.dag_longest_path_length(Graph(from_edges([0, 1], [1, 2], [4, 5]))))
nx.config.fallback_to_nx = True
print(nx.to_dict_of_lists(g))
"""


@pytest.mark.long
def test_calls_are_dispatched_and_graphs_converted_once(tmp_path: Path) -> None:
    lines = printed(DISPATCH, installed(tmp_path), tmp_path).splitlines()
    assert "has no option 'hurry'" in lines[0] or "unexpected keyword argument 'hurry'" in lines[0]
    assert lines[1:] == [
        "dict_keys(['x', 'y', 'z']) {'x': 0, 'y': 1.0, 'z': 3.0}",
        "9",
        "{'x': ['y'], 'y': ['z'], 'z': ['x']}",
    ]


@pytest.mark.long
def test_the_pages_examples_run(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "networkx.md").read_text(encoding="utf-8")
    (tmp_path / "page.txt").write_text(page.replace("```", ""), encoding="utf-8")
    code = "import doctest; print(doctest.testfile('page.txt', module_relative=False))"
    assert printed(code, installed(tmp_path), tmp_path) == f"TestResults(failed=0, attempted={page.count('>>>')})\n"


@pytest.mark.parametrize(
    "modules",
    [
        pytest.param(SUITE, marks=pytest.mark.long, id="of what we have"),
        pytest.param([WHOLE], marks=pytest.mark.nightly, id="all"),
    ],
)
def test_networkxs_own_tests_pass(modules: list[str], tmp_path: Path) -> None:
    done = run(installed(tmp_path), tmp_path, modules, capture_output=True)
    *lines, last = done.stdout.splitlines()
    assert done.returncode == 0, done.stdout[-5000:]
    assert f"{len(UNFIT)} xfailed" in last or modules == [WHOLE]  # which has some of its own
    assert len(UNFIT) <= 5
    assert "called and never answered: none" in lines


@pytest.mark.nightly
def test_a_thousand_random_graphs_have_networkxs_answers() -> None:
    handled = compared(range(10_000, 11_000))
    assert THEIRS.keys() - handled.keys() <= {"generic_bfs_edges"}


def test_a_graph_of_this_package_is_taken_as_it_is() -> None:
    A = from_edges([0, 0, 2, 1], [1, 2, 1, 3], [4.0, 1.0, 2.0, 1.5])
    g = Graph(A, "abcd")
    assert (g.is_directed(), g.is_multigraph()) == (True, False)
    assert backend.convert_from_nx(g) is g
    assert backend.single_source_dijkstra(g, "a") == (
        {"a": 0, "c": 1.0, "b": 3.0, "d": 4.5},
        {"a": ["a"], "c": ["a", "c"], "b": ["a", "c", "b"], "d": ["a", "c", "b", "d"]},
    )
    G = backend.convert_to_nx(g)
    assert list(G.edges(data="weight")) == [("a", "b", 4.0), ("a", "c", 1.0), ("b", "d", 1.5), ("c", "b", 2.0)]
    undirected = Graph(from_edges([0, 1, 1, 2], [1, 0, 2, 1]))
    assert not undirected.is_directed()
    assert list(backend.connected_components(undirected)) == [{0, 1, 2}]
    assert backend.convert_to_nx(undirected).number_of_edges() == 2


def test_random_graphs_of_this_package_have_networkxs_answers() -> None:
    handled: Counter[str] = Counter()
    for seed in range(12):
        r = random.Random(seed)
        n, m = r.randint(2, 12), r.randint(1, 40)
        edges = np.array([(r.randrange(n), r.randrange(n)) for _ in range(m)])
        weights = np.array([r.randint(0, 5) for _ in range(m)], r.choice(["int32", "float64", "float32", "int64"]))
        both_ways = seed % 2
        u, v = np.concatenate((edges, edges[:, ::-1])).T if both_ways else edges.T
        A = from_edges(u, v, np.tile(weights, 1 + both_ways), shape=n)
        g = Graph(A, [f"v{i}" for i in range(n)] if seed % 3 else None)
        G = backend.convert_to_nx(g)
        for name in THEIRS:
            given = arguments(name, G, random.Random(f"{seed} {name}"))
            theirs = outcome(partial(THEIRS[name], G, **given))
            ours = outcome(partial(getattr(backend, name), g, **given))
            if ours != ("refused",) and "not implemented for" not in theirs[-1]:
                assert alike(theirs, ours, name in ROUNDED), f"{name}(G, **{given})\n{theirs}\n{ours}"
                handled[name] += 1
    assert len(handled) > 120


def test_many_paths_are_made_when_they_are_looked_at() -> None:
    G = nx.path_graph(FEW + 5)
    theirs = nx.single_source_shortest_path(G, 0)
    ours = backend.single_source_shortest_path(backend.convert_from_nx(G), 0)
    assert isinstance(ours, Paths)
    assert ours[3] == [0, 1, 2, 3]
    assert ours[3] is ours[3]
    first = ours[3]
    ours[4] = "another's"
    assert ours.copy()[4] == "another's"
    assert ours.copy()[3] is first
    ours[4] = theirs[4]
    assert ours == theirs
    assert theirs == ours
    assert dict(ours) == theirs
    assert {**ours} == theirs
    assert pickle.loads(pickle.dumps(ours)) == theirs
    assert type(ours.copy()) is dict
    one_by_one = backend.single_source_shortest_path(backend.convert_from_nx(G), 0)
    one_by_one[FEW].append("mine")
    found = {name: one_by_one[name] for name in reversed(theirs)}  # of which the last are made at once
    assert found.pop(FEW).pop() == "mine"
    assert found == {name: path for name, path in theirs.items() if name != FEW}
    assert list(ours.items()) == list(theirs.items())
    assert (ours | {}) == ({} | ours) == theirs
    assert ours != {}
    assert ours.get(-1) is None
    assert ours.pop(5) == [0, 1, 2, 3, 4, 5]
    assert ours.pop(5, None) is None
    assert ours.popitem() == (FEW + 4, list(range(FEW + 5)))
    assert ours.setdefault("x", 1) == 1
    with pytest.raises(KeyError):
        ours[5]


def test_paths_are_counted_and_named_before_they_are_made() -> None:
    names = [f"v{i}" for i in range(FEW + 5)]
    G = nx.path_graph(names)
    kept, theirs = backend.convert_from_nx(G), nx.single_source_shortest_path(G, "v0")
    ours = backend.single_source_shortest_path(kept, "v0")
    assert (len(ours), list(ours), "v3" in ours, "v" in ours, bool(ours)) == (FEW + 5, names, True, False, True)
    assert ours.get("v2") == theirs["v2"]
    assert dict.__len__(ours) == 1  # no other path is made
    with pytest.raises(KeyError, match="'v'"):
        ours["v"]
    with pytest.raises(TypeError, match="unhashable"):
        ours[[]]
    assert list(reversed(ours)) == names[::-1]
    del ours["v7"]
    assert ("v7" in ours, len(ours), ours.get("v7", 1)) == (False, FEW + 4, 1)
    with pytest.raises(KeyError):
        ours["v7"]
    with ThreadPoolExecutor(4) as pool:  # which are made alone, and together, at once
        for _ in range(5):
            ours = backend.single_source_shortest_path(kept, "v0")
            orders = [random.Random(k).sample(names, FEW) for k in range(4)]
            assert all(pool.map(lambda order, ours=ours: all(ours[v] == theirs[v] for v in order), orders))
            assert list(ours.items()) == list(theirs.items())
    ours = backend.single_source_shortest_path(kept, "v0")
    ours |= {"v1": 1}
    ours.update(v2=2)
    assert list(ours.items()) == list((theirs | {"v1": 1, "v2": 2}).items())
    ours.clear()
    assert (len(ours), "v1" in ours, ours) == (0, False, {})


def test_paths_that_nobody_has_looked_at_are_compared_joined_and_pickled_as_dictionaries() -> None:
    G = nx.path_graph(FEW + 5)
    theirs = nx.single_source_shortest_path(G, 0)

    def fresh() -> Any:
        found = backend.single_source_shortest_path(backend.convert_from_nx(G), 0)
        assert type(found) is Paths
        return found

    made = fresh()
    assert made[FEW] is made.copy()[FEW]
    assert type(made.copy()) is dict
    for one, other in ((fresh(), fresh()), (made, fresh()), (fresh(), made), (made, made)):
        assert one == other
    other = fresh()
    other[3] = [3]
    assert made != other != made
    assert fresh() != other
    assert list((made | fresh()).items()) == list((fresh() | made).items()) == list(theirs.items())
    for found in (fresh(), made):
        again = pickle.loads(pickle.dumps(found))
        assert type(again) is dict
        assert list(again.items()) == list(theirs.items())
    values = fresh().values()
    assert list(values) == list(theirs.values())
    assert repr(fresh()) == repr(made) == repr(theirs)


def test_paths_of_a_tree_whose_vertices_come_in_any_order_are_networkxs() -> None:
    ways = [(0, 1), (1, 2)] + [(v, v + 1) for v in range(2, FEW)] + [(1, FEW + 1), (FEW + 1, FEW + 2)]
    for names in (list(range(FEW + 3)), [f"v{i}" for i in range(FEW + 3)], list(range(FEW + 3))[::-1]):
        G = nx.Graph([(names[u], names[v]) for u, v in ways])
        c = backend.convert_from_nx(G)
        for name in ALL_PATHS:
            expected = THEIRS[name](G, names[1])
            found = getattr(backend, name)(c, names[1])
            assert type(found) is Paths
            assert list(found.items()) == list(expected.items())
            assert getattr(backend, name)(c, names[1], exact_order=False) == expected


def test_undirected_views_whose_directions_weigh_differently_have_networkxs_answers() -> None:
    D = nx.DiGraph()
    D.add_weighted_edges_from([(0, 1, 1), (1, 0, 5), (1, 2, 2), (2, 1, 2), (2, 3, 1), (0, 3, 9)])
    view = D.to_undirected(as_view=True)
    for G in (D, view, nx.Graph(D), view.subgraph([0, 1, 2])):
        for given in ({}, {"normalized": False}, {"normalized": False, "endpoints": True}):
            for weight in (None, "weight"):
                assert compare("betweenness_centrality", G, given | {"weight": weight}, repr(G)) == "handled"
        for name, given in (("pagerank", {"tol": 1e-10}), ("floyd_warshall_numpy", {})):
            assert compare(name, G, given, repr(G)) == ("handled" if type(G._adj) is dict else "refused")


@pytest.mark.parametrize("number", [np.int32, np.float32, np.float64, Decimal, Fraction])
def test_iterated_centralities_leave_numbers_that_are_not_pythons_to_networkx(number: type) -> None:
    G = nx.Graph([(0, 1, {"weight": number(1)}), (1, 2, {"weight": number(2)}), (2, 0, {"weight": number(3)})])
    kept = backend.convert_from_nx(G)
    backend.pagerank(kept)  # which takes them, and keeps the matrix
    for name in ("katz_centrality", "eigenvector_centrality"):
        assert compare(name, G, {"weight": "weight"}, repr(number), kept) == "refused"
        assert compare(name, G, {"weight": None}, repr(number), kept) == "handled"
    H = nx.Graph([(0, 1, {"weight": True}), (1, 2, {"weight": 1.5}), (2, 0, {"weight": 2})])
    assert compare("katz_centrality", H, {"weight": "weight"}, "of Python") == "handled"


def test_weights_that_are_no_numbers_are_left_to_networkx() -> None:
    G = nx.MultiGraph([(0, 1, {"weight": None}), (0, 1, {"weight": 2}), (1, 2, {"weight": 3})])
    assert compare("pagerank", G, {"weight": "weight"}, "None, which cannot be summed") == "refused"
    for weight in ("3", [1], None):
        H = nx.Graph([(0, 1, {"weight": weight}), (1, 2, {"weight": weight})])
        for name in ("pagerank", "floyd_warshall_numpy", "katz_centrality"):
            assert compare(name, H, {"weight": "weight"}, repr(weight)) in ("refused", "impossible")


def test_the_middles_of_trees_are_networkxs() -> None:
    for seed in range(60):
        r = random.Random(seed)
        n = r.choice((1, 2, 3, 4, 5, 8, 9, 20))
        ends = r.sample([f"v{i}" for i in range(n)], n)
        T = r.choice((nx.Graph, nx.MultiGraph))()
        T.add_nodes_from(ends)
        T.add_edges_from((ends[r.randrange(i)], ends[i]) for i in range(1, n))
        kept = backend.convert_from_nx(T)
        for theirs in (nx.tree.centroid, nx.barycenter):  # in each version by another name
            assert form(getattr(backend, theirs.name)(kept)) == form(theirs(T))
        ours, theirs = backend.local_reaching_centrality, nx.local_reaching_centrality
        assert outcome(partial(ours, kept, ends[0])) == outcome(partial(theirs, T, ends[0]))
    with pytest.raises(nx.NotATree, match="provided graph is not a tree"):
        getattr(backend, nx.tree.centroid.name)(backend.convert_from_nx(nx.cycle_graph(4)))


def test_options_are_those_of_the_call_or_of_the_configuration() -> None:
    assert option("exact_order") is True
    with options({"exact_order": False}):
        assert option("exact_order") is False
        G = backend.convert_from_nx(nx.DiGraph([(2, 1), (1, 0), (2, 0)]))
        assert form(backend.single_source_dijkstra_path_length(G, 2)) == form({2: 0, 1: 1, 0: 1})
        assert sorted(map(sorted, backend.strongly_connected_components(G))) == [[0], [1], [2]]
        assert backend.single_source_shortest_path(G, 2) == {2: [2], 1: [2, 1], 0: [2, 0]}
    with pytest.raises(TypeError, match="the backend 'semiring' has no option 'hurry': it has device"):
        options({"hurry": True}).__enter__()


def test_an_iterator_keeps_the_options_of_its_call() -> None:
    G = backend.convert_from_nx(nx.DiGraph([(2, 1), (2, 0)]))
    assert [list(d) for _, d in backend.all_pairs_dijkstra_path_length(G)][0] == [2, 1, 0]
    found = backend.all_pairs_dijkstra_path_length(G, exact_order=False)
    assert option("exact_order") is True
    assert sorted(next(found)[1]) == [0, 1, 2]
    assert option("exact_order") is True
    for name, more in (("bfs_edges", (0,)), ("strongly_connected_components", ())):  # there is nothing left to compute
        assert is_ready(getattr(backend, name)(G, *more, threads=1))
        assert inspect.isgenerator(getattr(backend, name)(G, *more, threads=1))


@pytest.mark.parametrize("on", [Backend.CUDA.param(name="networkx")])
def test_answers_are_the_same_on_a_gpu(on: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph, "FEW_EDGES", 0)
    with options({"device": on.value}):
        handled = compared(range(300, 312))
    assert sum(handled.values()) > 1000


@pytest.mark.parametrize(
    ("weights", "why"),
    [
        ([np.float32(1), 1.0], "float, float32"),
        ([2**60, 1.0], "beside reals"),
        ([Decimal(1), 1], "Decimal, int"),
        ([float("inf"), 1.0], "infinite"),
        (["1", "2"], "str"),
    ],
)
def test_weights_that_arrays_cannot_hold_are_refused(weights: list[Any], why: str) -> None:
    G = nx.Graph()
    G.add_weighted_edges_from([(0, 1, weights[0]), (1, 2, weights[1])])
    with pytest.raises(NotImplementedError, match=why):
        backend.dijkstra_path(backend.convert_from_nx(G), 0, 2)


def test_centralities_beyond_all_numbers_do_not_converge() -> None:
    G = nx.complete_graph(9)
    nx.set_edge_attributes(G, 10, "weight")
    with pytest.raises(nx.PowerIterationFailedConvergence):
        backend.katz_centrality(backend.convert_from_nx(G), weight="weight")


def test_what_cannot_run_is_said_before_anything_is_converted() -> None:
    G = nx.path_graph(3)
    assert backend.can_run("dijkstra_path", (G, 0, 1), {}) is True
    for name, given, why in (
        ("dijkstra_path", {"weight": lambda u, v, d: 1}, "a weight function is Python's to call"),
        ("bfs_edges", {"sort_neighbors": sorted}, "bfs_edges takes no sort_neighbors here"),
    ):
        with pytest.raises(NotImplementedError, match=f"{name!r} is not for the backend 'semiring' here: {why}"):
            getattr(nx, name)(G, 0, **({"target": 1} if name == "dijkstra_path" else {}), backend="semiring", **given)
    assert "as much as a conversion" in backend.should_run("bfs_edges", (G, 0), {})
    assert "from `many_nodes` vertices on" in backend.should_run("diameter", (G,), {})
    assert backend.should_run("diameter", (nx.path_graph(200),), {}) is True
    large = nx.path_graph(1000)
    assert [backend.should_run("has_path", (large, 0, 1), {}) is True for _ in range(CALLS + 1)] == [
        False,
        False,
        True,
        True,
    ]
    large.add_edge(0, 2)
    assert backend.should_run("has_path", (large, 0, 1), {}) is not True
    with pytest.raises(AttributeError, match="has no function 'louvain'"):
        backend.louvain  # noqa: B018


def test_a_view_is_walked_by_what_it_shows() -> None:
    G = nx.MultiDiGraph([(0, 1), (0, 1), (1, 2), (2, 0), (2, 3)])
    view = G.subgraph([0, 1, 2])
    assert list(backend.strongly_connected_components(backend.convert_from_nx(view))) == [{0, 1, 2}]
    assert from_networkx(view).nnz == 3
    back = nx.reverse_view(nx.DiGraph([(0, 1), (0, 2)]))
    assert list(backend.bfs_edges(backend.convert_from_nx(back), 1)) == [(1, 0)]


def test_a_frozen_graph_is_not_asked_for_negative_cycles_as_networkx_adds_a_vertex_to_it() -> None:
    G = nx.DiGraph([(0, 1, {"weight": -2}), (1, 0, {"weight": 1}), (1, 2, {"weight": None})])
    for frozen in (nx.freeze(G.copy()), G.subgraph([0, 1]), nx.freeze(nx.path_graph(2)), nx.freeze(nx.empty_graph(2))):
        theirs = outcome(lambda frozen=frozen: THEIRS["negative_edge_cycle"](frozen))
        assert theirs == outcome(lambda frozen=frozen: backend.negative_edge_cycle(backend.convert_from_nx(frozen)))
    kept = backend.convert_from_nx(G.subgraph([0, 1]).copy())
    assert backend.negative_edge_cycle(kept) is True
    nx.freeze(kept.source)
    with pytest.raises(nx.NetworkXError, match="Frozen graph can't be modified"):
        backend.negative_edge_cycle(kept)


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiDiGraph])
def test_vertices_that_cannot_be_hashed_and_other_odd_arguments_have_networkxs_errors(kind: type) -> None:
    G = kind([(0, 1, {"weight": 1}), (1, 2, {"weight": 2}), (3, 3, {"weight": 1})])
    ends: list[Any] = [[0], {0}, None, 9]
    one = ["single_source_bellman_ford", "single_source_bellman_ford_path_length", "find_negative_cycle", "predecessor"]
    one += ["single_source_dijkstra", "kosaraju_strongly_connected_components", "single_source_all_shortest_paths"]
    two = [
        "dijkstra_path",
        "dijkstra_path_length",
        "bellman_ford_path",
        "bellman_ford_path_length",
        "all_shortest_paths",
    ]
    calls = [(name, {"source": end}) for name in one for end in ends]
    calls += [(name, {"source": end, "target": 2}) for name in two for end in ends]
    calls += [(name, {"source": 0, "target": end}) for name in (*two, *one[:1], *one[3:5]) for end in ends]
    calls += [("multi_source_dijkstra", {"sources": [0], "target": end}) for end in ends]
    calls += [("node_connected_component", {"n": end}) for end in ends]
    calls += [("all_shortest_paths", {"source": 0, "target": 2, "weight": "weight", "method": "unweighted"})]
    calls += [("all_pairs_all_shortest_paths", {"weight": "weight", "method": "unweighted"})]
    assert all(compare(name, G, given, "odd") in ("handled", "impossible") for name, given in calls)
    for value in (0, 1, "no"):
        compare("transitive_closure", G, {"reflexive": value}, "odd")
    compare("betweenness_centrality", kind(), {"k": 2, "seed": random.Random(1)}, "odd")


def test_floats_whose_sums_may_be_infinite_are_left_to_networkx() -> None:
    G = nx.Graph([(0, 1, {"weight": 1e308}), (1, 2, {"weight": 1e308})])
    ends: dict[str, Any] = {"dijkstra_path": {"source": 0, "target": 2}}
    for name in ("floyd_warshall_numpy", "betweenness_centrality", "pagerank", "wiener_index", "dijkstra_path"):
        assert compare(name, G, {"weight": "weight"} | ends.get(name, {}), name) == "refused"


@pytest.mark.parametrize("connected", [True, False])
def test_searches_from_every_vertex_are_networkxs(connected: bool) -> None:
    """More at a time as they are asked for, each only until it has found what there is to be found."""
    G = nx.gnm_random_graph(300, 3000 if connected else 310, seed=2, directed=True)
    assert nx.is_strongly_connected(G) is connected
    H = nx.relabel_nodes(G, {v: f"v{v}" for v in sorted(G, key=hash)[::-1]})
    for graph_of, cutoff in ((G, None), (H, None), (H, 2)):
        kept = backend.convert_from_nx(graph_of)
        theirs = list(THEIRS["all_pairs_shortest_path_length"](graph_of, cutoff))
        ours = backend.all_pairs_shortest_path_length(kept, cutoff)
        assert form([next(ours), next(ours), *ours]) == form(theirs)
        assert dict(backend.all_pairs_shortest_path_length(kept, cutoff, exact_order=False)) == dict(theirs)


def test_numbers_are_sorted_and_equal_ones_stay_in_their_order() -> None:
    rng = np.random.default_rng(1)
    few, some = np.array([0.0, -0.0, 1.5, -2.5, 1e300, 5e-324]), np.array([-(2**40), 2**40, 3, 0])
    for n in (0, 1, 200, 5000):
        for values in (rng.choice(few, n), rng.choice(some, n), rng.random(n), rng.integers(0, 2**31, n)):
            assert by_size(values).tolist() == values.argsort(kind="stable").tolist()


def test_forests_are_found_again_by_each_weight_in_both_orders() -> None:
    G = nx.gnm_random_graph(60, 300, seed=3)
    for k, (_, _, data) in enumerate(G.edges(data=True)):
        data.update(weight=k % 7, cost=float(-k % 5))
    kept = backend.convert_from_nx(G)
    for weight in ("weight", "cost", "weight"):
        for name in ("minimum_spanning_edges", "maximum_spanning_edges"):
            assert form(getattr(backend, name)(kept, weight=weight)) == form(THEIRS[name](G, weight=weight))


def test_answers_by_name_are_their_own() -> None:
    for names in (range(3), "abc"):
        kept = backend.convert_from_nx(nx.path_graph(names))
        first = backend.closeness_centrality(kept)
        first.clear()
        assert list(backend.core_number(kept).items()) == [(name, 1) for name in names]


def test_a_class_with_its_own_way_to_neighbours_is_refused() -> None:
    class Complement(nx.Graph):
        def neighbors(self, n: Any) -> Any:
            return iter(set(self) - set(self._adj[n]) - {n})

    class Named(nx.Graph):
        """A graph like any other."""

    with pytest.raises(NotImplementedError, match="Complement, which has its own way to neighbours"):
        backend.convert_from_nx(Complement([(0, 1)]))
    assert backend.convert_from_nx(Named([(0, 1)])).rows.vertices.tolist() == [1, 0]


def test_large_graphs_settle_vertices_in_the_order_of_small_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """By distances first, whose order is then replayed, as where a heap would take longer."""
    monkeypatch.setattr(weighted, "FEW_EDGES", 0)
    names = [name for name, each in FUNCTIONS.items() if each.file in ("weighted", "generic") and name in THEIRS]
    handled = compared(range(400, 440), names)
    assert sum(handled.values()) > 500
