"""`semiring bfs`, `scc` and `mst`: known answers, what they write, and how they fail."""

from __future__ import annotations

import csv
import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import algorithms
import semiring
from algorithms.data import rome99
from formats import CSR, Matrix, read, write

from .commands import computed_in
from .files import DATA

STEPS = ["reading", "converting", "compiling", "solving"]
ids_with_gaps = "10 20\n20 30\n10 40\n40 30\n30 50\n70 10\n"
TINY_SIZES = {"0": "5", "9": "4", "6": "2", "1": "1", "7": "1"}
TINY_LABELS = [0, 1, 0, 0, 0, 0, 6, 7, 6, 9, 9, 9, 9]
GNUTELLA = DATA / "p2p-Gnutella08.txt.gz"


@pytest.fixture(scope="session")
def rome() -> Path:
    """Rome's roads; the package is installed as files."""
    return rome99


every_format = pytest.mark.parametrize("fmt", sorted(Matrix.formats))

# --- bfs --------------------------------------------------------------------------------------------------------------


@every_format
def test_bfs(fine, file, fmt):
    result = fine("bfs", file("graph.txt", ids_with_gaps), "--source", 10, "--to", 50, "--format", fmt)
    expected = {
        "vertices": "6",
        "arcs": "6",
        "computed in": computed_in(fmt, algorithms.bfs),
        "reached": "5",
        "depth": "3",
        "vertices at that depth": "1",
        "widest level": "1",
        "vertices in it": "2",
    }
    levels = {"0": "1", "1": "2", "2": "1", "3": "1"}
    assert result.table.items() >= (expected | levels).items()
    assert list(result.table) == [*expected, *STEPS, *levels]
    assert all(re.fullmatch(r"\d+\.\d{3} s", result.table[step]) for step in STEPS)
    assert result.out.startswith("graph.txt, from vertex 10\n")
    assert result.out.endswith("to 50: 3 arcs\n10 -> 20 -> 30 -> 50\n")


@pytest.mark.parametrize("direction", ["auto", "push", "pull"])
def test_bfs_in_every_direction(fine, rome, tmp_path, direction):
    output = tmp_path / "levels.npy"
    table = fine("bfs", rome, "--source", 1, "--direction", direction, "--output", output).table
    levels = np.load(output)
    assert levels.dtype == np.int32
    assert levels.tolist() == algorithms.bfs(read(rome), 0).tolist()
    counts = np.bincount(levels)
    assert table["depth"] == str(len(counts) - 1)
    assert table["widest level"] == str(counts.argmax())
    assert [table[str(k)] for k in range(20)] == [str(count) for count in counts[:20]]
    assert table["20 and more"] == f"{counts[20:].sum():,}"
    assert "20" not in table


def test_bfs_writes_levels(fine, file, tmp_path):
    graph, tsv, npy = file("graph.txt", ids_with_gaps), tmp_path / "levels.tsv", tmp_path / "levels.npy"
    fine("bfs", graph, "--source", 10, "--output", tsv)
    assert tsv.read_text() == "10\t0\n20\t1\n30\t2\n40\t1\n50\t3\n70\tnone\n"
    result = fine("bfs", graph, "--source", 10, "--source", 70, "--output", tsv)
    assert tsv.read_text() == "10\t0\t1\n20\t1\t2\n30\t2\t3\n40\t1\t2\n50\t3\t4\n70\tnone\t0\n"
    assert result.out.index("from vertex 10") < result.out.index("from vertex 70")
    fine("bfs", graph, "--source", 10, "--source", 70, "--output", npy)
    assert np.load(npy).tolist() == [[0, 1, 2, 1, 3, -1], [1, 2, 3, 2, 4, 0]]


def test_bfs_within_a_bound_and_both_ways(fine, file):
    graph = file("graph.txt", ids_with_gaps)
    near = fine("bfs", graph, "--source", 10, "--max-level", 1, "--to", 30)
    assert near.table.items() >= {"reached": "3", "depth": "1"}.items()
    assert near.out.endswith("30 cannot be reached within the bound\n")
    assert fine("bfs", graph, "--source", 10, "--to", 70).out.endswith("70 cannot be reached\n")
    ended = fine("bfs", graph, "--source", 10, "--target", 30, "--to", 30).out
    assert ended.splitlines()[-1] == fine("bfs", graph, "--source", 10, "--to", 30).out.splitlines()[-1]
    assert fine("bfs", graph, "--source", 10, "--target", 20).table["depth"] == "1"
    several = fine("bfs", graph, "--source", 10, "--to", 70, "--to", 30).out
    assert several.endswith("70 cannot be reached\nto 30: 2 arcs\n10 -> 20 -> 30\n")
    both = fine("bfs", graph, "--source", 10, "--to", 70, "--undirected", "--alpha", 2, "--beta", 3)
    assert both.table.items() >= {"arcs": "12", "reached": "6"}.items()
    assert both.out.endswith("to 70: 1 arcs\n10 -> 70\n")
    alone = fine("bfs", graph, "--source", 50, "--to", 50)
    assert alone.table.items() >= {"reached": "1", "depth": "0", "widest level": "0"}.items()
    assert alone.out.endswith("to 50: 0 arcs\n50\n")


def test_bfs_traces_its_rounds(fine, tmp_path):
    rounds = tmp_path / "rounds.jsonl"
    fine("bfs", DATA / "tinyDG.txt", "--source", 0, "--trace", rounds)
    lines = [json.loads(line) for line in rounds.read_text().splitlines()]
    assert [line["frontier"] for line in lines] == [1, 2, 1, 2]
    assert {line["algorithm"] for line in lines} == {"bfs"}


def test_bfs_as_json(run, file):
    """With the file's own names, and no path where none leads."""
    roads = file("roads.csv", "from,to,km\nParis,Dijon,315\nDijon,Lyon,195\nNice,Lyon,470\n")
    found = run("bfs", roads, "--source", "Paris", "--source", "Nice", "--to", "Lyon", "--to", "Dijon", "--json")
    assert json.loads(found.out) == [
        {
            "source": "Paris",
            "reached": 3,
            "depth": 2,
            "paths": [
                {"to": "Lyon", "edges": 2, "path": ["Paris", "Dijon", "Lyon"]},
                {"to": "Dijon", "edges": 1, "path": ["Paris", "Dijon"]},
            ],
        },
        {
            "source": "Nice",
            "reached": 2,
            "depth": 1,
            "paths": [
                {"to": "Lyon", "edges": 1, "path": ["Nice", "Lyon"]},
                {"to": "Dijon", "edges": None, "path": []},
            ],
        },
    ]


# --- scc --------------------------------------------------------------------------------------------------------------


@every_format
def test_scc(fine, tmp_path, fmt):
    output = tmp_path / "components.npy"
    result = fine("scc", DATA / "tinyDG.txt", "--format", fmt, "--output", output)
    expected = {
        "vertices": "13",
        "arcs": "22",
        "computed in": computed_in(fmt, algorithms.scc),
        "components": "5",
        "single vertices": "2",
    }
    assert result.table.items() >= (expected | TINY_SIZES).items()
    assert list(result.table) == [*expected, *STEPS, *TINY_SIZES]  # the largest first
    assert np.load(output).tolist() == TINY_LABELS


def test_scc_counts_components_and_tells_the_largest(fine):
    table = fine("scc", GNUTELLA).table
    assert table.items() >= {"vertices": "6,301", "arcs": "20,777", "components": "4,234"}.items()
    largest = list(table.values())[-10:]
    assert largest[0] == "2,068"


def test_scc_weak(fine):
    table = fine("scc", GNUTELLA, "--weak").table
    assert table.items() >= {"components": "2", "single vertices": "0"}.items()
    assert list(table.values())[-2:] == ["6,299", "2"]


def test_scc_names_components_by_the_files_ids(fine, file, tmp_path):
    graph = file("graph.txt", "40 30\n30 40\n10 30\n40 99\n99 20\n20 99\n")
    tsv, npy = tmp_path / "components.tsv", tmp_path / "components.npy"
    result = fine("scc", graph, "--output", tsv)
    assert tsv.read_text() == "10\t10\n20\t20\n30\t30\n40\t30\n99\t20\n"
    assert list(result.table.items())[-3:] == [("20", "2"), ("30", "2"), ("10", "1")]
    fine("scc", graph, "--output", npy)
    assert np.load(npy).tolist() == [0, 1, 2, 2, 1]


def test_scc_says_what_each_phase_took_if_traced(fine, tmp_path):
    rounds = tmp_path / "rounds.csv"
    result = fine("scc", GNUTELLA, "--trace", rounds)
    with rounds.open(newline="") as stream:
        phases = list(dict.fromkeys(row["phase"] for row in csv.DictReader(stream)))
    assert {"trim", "forward", "backward"} <= set(phases)
    rows = re.findall(r"│ +(\w+) │ +(\d+\.\d)% │", result.out.partition("time by phase\n")[2])
    assert [phase for phase, _ in rows] == phases
    assert sum(float(share) for _, share in rows) == pytest.approx(100, abs=0.5)
    assert "phase" not in fine("scc", GNUTELLA).out


# --- mst --------------------------------------------------------------------------------------------------------------


@every_format
def test_mst(fine, fmt):
    result = fine("mst", DATA / "tinyEWG.txt", "--undirected", "--format", fmt)
    expected = {
        "vertices": "8",
        "arcs": "32",
        "edges": "16",
        "computed in": computed_in(fmt, algorithms.boruvka),
        "trees": "1",
        "of these, single vertices": "0",
        "edges of the forest": "7",
        "weight of the forest": "1.81",
    }
    assert result.table.items() >= expected.items()
    assert list(result.table) == [*expected, "reading", "checking", *STEPS[1:]]


@pytest.mark.parametrize("option", ["--undirected", "--symmetrize"])
def test_mst_of_romes_roads(fine, rome, option):
    table = fine("mst", rome, option).table
    forest = {"edges": "4,831", "edges of the forest": "3,352", "weight of the forest": "1,186,386", "trees": "1"}
    assert table.items() >= forest.items()


def test_mst_writes_a_graph_by_the_files_ids(fine, file, tmp_path):
    graph = file("graph.txt", "10 20 3\n20 30 1\n10 30 -2\n50 50 9\n70 90 4\n90 70 5\n")
    tsv, npy = tmp_path / "forest.tsv", tmp_path / "forest.npy"
    table = fine("mst", graph, "--symmetrize", "--output", tsv).table
    assert table.items() >= {"edges": "4", "trees": "3", "of these, single vertices": "1"}.items()
    assert table.items() >= {"edges of the forest": "3", "weight of the forest": "3"}.items()
    assert tsv.read_text() == "10\t30\t-2\n20\t30\t1\n70\t90\t4\n"
    assert fine("mst", tsv, "--undirected").table["weight of the forest"] == "3"
    fine("mst", graph, "--symmetrize", "--output", npy)
    assert np.load(npy).tolist() == [[0, 2], [1, 2], [4, 5]]


def test_mst_keeps_every_digit(fine, tmp_path):
    output = tmp_path / "forest.tsv"
    fine("mst", DATA / "tinyEWG.txt", "--undirected", "--output", output)
    forest = algorithms.boruvka(read(DATA / "tinyEWG.txt", directed=False))
    assert read(output).equals(forest.to(CSR))


def test_mst_weighs_beyond_int64(fine, file):
    heavy = 2**62 + 12345
    graph = file("graph.txt", "".join(f"0 {v} {heavy}\n" for v in range(1, 6)))
    assert fine("mst", graph, "--symmetrize").table["weight of the forest"] == f"{5 * heavy:,}"


def test_mst_traces_its_rounds(fine, tmp_path):
    rounds = tmp_path / "rounds.jsonl"
    fine("mst", DATA / "tinyEWG.txt", "--undirected", "--trace", rounds)
    lines = [json.loads(line) for line in rounds.read_text().splitlines()]
    assert lines[0]["frontier"] == 8
    assert {line["algorithm"] for line in lines} == {"boruvka"}


def test_mst_refuses_a_directed_graph_and_names_an_edge(refused, file):
    graph = file("graph.txt", "10 20 3\n20 10 3\n20 30 1\n")
    assert refused("mst", graph) == (
        "the graph must be undirected: its edge 20 -> 30 has no reverse of the same weight "
        "(--symmetrize takes the lighter of both directions)"
    )
    unlike = file("unlike.txt", "10 20 3\n20 10 4\n")
    assert "its edge 10 -> 20 has no reverse of the same weight" in refused("mst", unlike)


# --- all three --------------------------------------------------------------------------------------------------------

COMMANDS = {"bfs": ["--source", 0], "scc": [], "mst": ["--symmetrize"]}
every_command = pytest.mark.parametrize(("name", "options"), COMMANDS.items(), ids=COMMANDS)


@every_command
def test_values_of_any_dtype(fine, tmp_path, name, options):
    for dtype in ("bool", "int8", "uint64", "float32"):
        graph = tmp_path / f"{dtype}.npz"
        write(graph, CSR([0, 1, 2, 2], [1, 0], np.ones(2, dtype), (3, 3)))
        table = fine(name, graph, *options).table
        assert table.items() >= {"vertices": "3", "arcs": "2"}.items()
        if name == "mst":
            assert table["weight of the forest"] == "1"


@pytest.mark.parametrize("name", ["scc", "mst"])
def test_graphs_without_edges(fine, file, name):
    counted = {"scc": "components", "mst": "trees"}[name]
    for n in (0, 3):
        assert fine(name, file("empty.gr", f"p sp {n} 0\n")).table[counted] == str(n)


@every_command
def test_threads(fine, name, options):
    with semiring.threads(semiring.get_threads()):
        fine(name, DATA / "tinyDG.txt", *options, "--threads", 1)
        assert semiring.get_threads() == 1


@every_command
def test_files_to_write_are_checked_before_one_is_read(refused, tmp_path, name, options):
    graph = tmp_path / "none.gr"
    said = refused(name, graph, *options, "--output", tmp_path / "answer.csv")
    assert said == "--output must end in .npy or .tsv, or be -, got 'answer.csv'"
    assert refused(name, graph, *options, "--output", tmp_path / "none" / "a.npy").endswith("that does not exist")
    assert "saved as .jsonl or .csv" in refused(name, graph, *options, "--trace", tmp_path / "rounds.txt")
    assert refused(name, graph, *options) == f"No such file or directory: {graph}"


@every_command
def test_graphs_are_square(refused, file, name, options):
    oblong = file("oblong.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 1\n1 3 0.5\n")
    assert refused(name, oblong, *options) == "oblong.mtx holds a 2 × 3 matrix, and a graph needs a square one"


@every_command
def test_cuda_without_cupy(refused, monkeypatch, name, options):
    monkeypatch.setitem(sys.modules, "cupy", None)
    assert "needs CuPy" in refused(name, DATA / "tinyDG.txt", *options, "--backend", "cuda")


def test_vertices_that_the_file_has_not(refused, file):
    graph = file("graph.txt", ids_with_gaps)
    assert refused("bfs", graph, "--source", 11).startswith("--source 11 is not a vertex of the file: its 6 ids lie")
    assert refused("bfs", graph, "--source", 10, "--to", 0).startswith("--to 0 is not a vertex of the file")


def test_choices_that_there_are_not(run, refused, tmp_path):
    """Refused before the file is even looked for."""
    graph = tmp_path / "none.gr"
    said = refused("bfs", graph, "--source", 1, "--direction", "up")
    assert said == "direction must be 'auto', 'push' or 'pull', got 'up'"
    assert refused("bfs", graph, "--source", 1, "--alpha", 0) == "alpha must be positive, got 0.0"
    for command in (["bfs", graph], ["bfs", graph, "--source", 1, "--max-level", -1], ["mst", graph, "--source", 1]):
        result = run(*command)
        assert (result.code, result.out) == (2, "")
