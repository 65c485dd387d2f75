"""The commands that are made from algorithms: each answers as its function does, by the file's ids, in all ways."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys

import numpy as np
import pytest

import algorithms
from algorithms.cli.commands import app_of
from algorithms.cli.measures import MEASURES
from algorithms.data import rome99
from formats import from_edges, write

EDGES = [("Paris", "Dijon", 3), ("Dijon", "Lyon", 2), ("Lyon", "Paris", 4), ("Lyon", "Nice", 7), ("Nice", "Oslo", 1)]
ROADS = "from,to,km\n" + "".join(f"{u},{v},{w}\n{v},{u},{w}\n" for u, v, w in EDGES)
NAMES = ["Paris", "Dijon", "Lyon", "Nice", "Oslo"]
BOTH_WAYS = [(NAMES.index(s), NAMES.index(t), w) for u, v, w in EDGES for s, t in ((u, v), (v, u))]
A = from_edges(*zip(*BOTH_WAYS, strict=True))
ELSEWHERE = {
    *("sssp", "bfs", "scc", "factor", "shortest_simple_paths"),  # commands of their own
    *("bellman_ford", "da2cf", "delta_stepping", "dijkstra"),  # sssp --algorithm
    *("boruvka", "elimination_order", "symbolic_factor", "shortest_path_tree"),  # mst, factor, sssp --to
}
OF_A_SOURCE = {"count_shortest_paths", "fewest_edges", "bfs_order"}
COMMANDS = {measure.function.__name__: measure for measure in MEASURES}


@pytest.fixture
def roads(file):
    return file("roads.csv", ROADS)


def test_each_algorithm_has_a_command():
    """Whatever takes a matrix has its command, or is an option of one."""
    public = {name: getattr(algorithms, name) for name in algorithms.__all__}
    of_a_matrix = {
        name for name, each in public.items() if name[0].islower() and "A" in inspect.signature(each).parameters
    }
    assert of_a_matrix - ELSEWHERE == set(COMMANDS)
    commands = {inspect.unwrap(command.callback).__name__ for command in app_of().registered_commands}
    assert set(COMMANDS) | {"sssp", "bfs", "scc", "mst", "factor", "shortest_simple_paths"} <= commands


@pytest.mark.parametrize("name", COMMANDS)
def test_the_answer_is_the_functions_own(fine, roads, tmp_path, name):
    words = [name.replace("_", "-"), roads, *(["--source", "Lyon"] if name in OF_A_SOURCE else [])]
    expected = getattr(algorithms, name)(A, *([2] if name in OF_A_SOURCE else []))
    array, text = tmp_path / "answer.npy", tmp_path / "answer.tsv"
    shown = fine(*words, "--output", array)
    fine(*words, "--output", text)
    piped, as_json = fine(*words, "--output", "-"), json.loads(fine(*words, "--json").out)
    assert piped.out == text.read_text()
    assert shown.table["vertices"] == "5"
    if name in ("all_pairs", "closure", "transitive_closure"):
        dense = expected.to_dense() if name == "transitive_closure" else expected
        pairs = {(each["from"], each["to"]): each["value"] for each in as_json}
        absent = False if name == "transitive_closure" else np.iinfo(np.int32).max
        assert pairs == {(NAMES[u], NAMES[v]): dense[u, v] for u in range(5) for v in range(5) if dense[u, v] != absent}
        assert len(np.load(array)) == len(text.read_text().splitlines()) == len(pairs)
        return
    if np.ndim(expected) == 0:
        assert as_json == {"diameter": expected}
        assert text.read_text() == f"diameter\t{expected}\n"
        return
    assert [each["vertex"] for each in as_json] == NAMES
    first = np.load(array) if np.load(array).ndim == 1 else np.load(array)[0]
    if name == "bfs_order":
        assert first[expected[0]].tolist() == list(range(5))
        assert [each["found by"] for each in as_json] == [None if v < 0 else NAMES[v] for v in expected[1]]
        return
    values = expected[1] if isinstance(expected, tuple) else expected
    assert first.tolist() == values.tolist()
    column = next(iter(COMMANDS[name].columns))
    known = [each[column.title] for each in as_json]
    if column.vertices:
        assert known == [NAMES[v] for v in values]
    else:
        assert known == [None if x == column.absent else x for x in values.tolist()]


def test_options_reach_the_function(fine, roads):
    def column(*words):
        return [list(each.values())[1] for each in json.loads(fine(*words, "--json").out)]

    assert column("pagerank", roads, "--no-weighted", "--alpha", 0.5) == pytest.approx(
        algorithms.pagerank(A, weighted=False, alpha=0.5).tolist(), rel=1e-12
    )
    assert column("eccentricity", roads, "--weighted", "--vertex", "Oslo", "--vertex", "Lyon") == (
        algorithms.eccentricity(A, weighted=True, vertices=[4, 2]).tolist()
    )
    some = algorithms.betweenness_centrality(A, sources=[0, 1], normalized=False)
    assert (
        column("betweenness-centrality", roads, "--source", "Paris", "--source", "Dijon", "--no-normalized")
        == some.tolist()
    )


def test_what_is_not_finite_is_a_text_in_json(fine, roads):
    """From a single source, the source's own betweenness is unknown."""
    found = fine("betweenness-centrality", roads, "--source", "Paris", "--json").out
    assert json.loads(found, parse_constant=pytest.fail)[0]["betweenness"] == "nan"


def test_k_paths_by_ids(fine, refused, roads, tmp_path):
    words = ["shortest-simple-paths", roads, "--source", "Paris", "--target", "Lyon", "--weighted"]
    assert json.loads(fine(*words, "-k", 2, "--json").out) == [
        {"length": 4, "path": ["Paris", "Lyon"]},
        {"length": 5, "path": ["Paris", "Dijon", "Lyon"]},
    ]
    assert fine(*words, "-k", 9, "--output", "-").out == "4\tParis\tLyon\n5\tParis\tDijon\tLyon\n"
    assert (
        refused(*words, "--output", tmp_path / "a.npy") == "paths differ in length: --output must end in .tsv, or be -"
    )


def test_all_commands_print_json(fine, roads, tmp_path):
    """Each on one line, which a program can read."""
    graph, factor = tmp_path / "graph.gr", tmp_path / "graph.factor"
    write(graph, A)
    for words in (
        *(("scc", roads), ("mst", roads), ("info", roads), ("demo",), ("bfs", roads, "--source", "Oslo")),
        *(("convert", graph, tmp_path / "graph.mtx"), ("factor", graph, "-o", factor)),
        ("route", factor, "--from", 1, "--to", 2),
    ):
        said = fine(*words, "--json").out
        assert said.count("\n") == 1
        assert json.loads(said, parse_constant=pytest.fail)
    assert json.loads(fine("mst", roads, "--json").out)["weight of the forest"] == 13
    largest = json.loads(fine("scc", roads, "--json").out)["largest components"]
    assert largest == [{"smallest vertex": "Paris", "vertices": 5}]


def test_a_table_of_distances_as_json(fine, roads, file):
    ids, one_way = file("ids.txt", "Paris\nOslo\n"), file("one-way.csv", "Paris,Oslo,3\n")
    assert json.loads(fine("route", one_way, "--table", ids, ids, "--json").out) == [
        {"from": "Paris", "distances": [{"to": "Paris", "distance": 0}, {"to": "Oslo", "distance": 3}]},
        {"from": "Oslo", "distances": [{"to": "Paris", "distance": None}, {"to": "Oslo", "distance": 0}]},
    ]


@pytest.mark.parametrize("words", [("sssp", "--source", 1), ("bfs", "--source", 1), ("scc",), ("mst", "--symmetrize")])
def test_values_alone_go_to_standard_output(fine, refused, tmp_path, words):
    command, *options = words
    text = tmp_path / "answer.tsv"
    fine(command, rome99, *options, "--output", text)
    assert fine(command, rome99, *options, "--output", "-").out == text.read_text()
    both = refused(command, rome99, *options, "--output", "-", "--json")
    assert both == "--json and --output - both write to standard output: give one of them"


def test_a_reader_that_has_enough_is_no_error():
    script = f"{sys.executable} -m algorithms.cli all-pairs {rome99} --output - | head -n 1"
    ended = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=120)
    assert (ended.stdout, ended.stderr) == ("1\t1\t0\n", "")


def test_errors_name_options_that_the_command_has(fine, refused, file):
    one_way = file("one-way.csv", "Paris,Lyon,3\nLyon,Nice,2\n")
    for command in ("core-number", "triangles", "clustering", "mst"):
        said = refused(command, one_way)
        assert "its edge Paris -> Lyon has no reverse" in said
        assert "--symmetrize" in said
    huge = file("huge.gr", "p sp 9000000 1\na 1 2 3\n")
    said = refused("info", huge)
    assert "(--force reads it)" in said
    fine("pagerank", file("ring.csv", "a,b\nb,c\nc,a\n"), "--max-iter", 1000)


def test_errors_name_vertices_by_ids(refused, file):
    one_way = file("one-way.csv", "Paris,Lyon,3\nNice,Oslo,2\n")
    assert refused("eccentricity", one_way).endswith("(vertex 0 is Paris, 1 is Nice)")


def test_vertices_without_a_value(fine, file):
    one_way = file("one-way.csv", "Paris,Lyon,3\nNice,Oslo,2\n")
    words = ("count-shortest-paths", one_way, "--source", "Paris")
    assert fine(*words, "--output", "-").out == "Paris\t1\t0\nNice\tnone\tnone\nLyon\t1\t3\nOslo\tnone\tnone\n"
    assert json.loads(fine(*words, "--json").out)[3] == {"vertex": "Oslo", "shortest paths": None, "distance": None}
    assert fine(*words).table["shortest paths, least"] == "1"
