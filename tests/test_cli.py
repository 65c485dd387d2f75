"""The command `semiring`: what it prints, what it writes, and how it fails."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import semiring
from algorithms import bellman_ford, cli, delta_stepping, sssp
from algorithms.cli import bench, commands
from formats import CSR, Matrix, from_edges, read, write

from .commands import Result, computed_in

DATA = Path(__file__).parent / "data"
INT32_MAX = np.iinfo(np.int32).max

SNAP = "# ids with gaps\n10\t20\t5\n30\t20\t-7\n10\t30\t2\n40\t10\t1\n"
SNAP_TSV = "10\t0\n20\t-5\n30\t2\n40\tinf\n"
DIMACS = "p sp 4 3\na 1 2 5\na 3 2 -4\na 1 3 2\n"
ALGS4 = "4\n3\n0 1 0.5\n2 1 0.125\n0 2 0.1\n"


# --- sssp -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fmt", sorted(Matrix.formats))
def test_sssp(fine, file, fmt):
    result = fine("sssp", file("graph.txt", SNAP), "--source", 10, "--to", 20, "--format", fmt)
    expected = {
        "vertices": "4",
        "arcs": "4",
        "computed in": computed_in(fmt, bellman_ford),
        "reached": "3",
        "farthest": "2",
        "sum of distances": "-3",
    }
    assert result.table.items() >= expected.items()
    for step in ("reading", "converting", "compiling", "solving"):
        assert re.fullmatch(r"\d+\.\d{3} s", result.table[step])
    assert "graph.txt, from vertex 10" in result.out
    assert result.out.endswith("to 20: length -5, 2 arcs\n10 -> 30 -> 20\n")


@pytest.mark.parametrize(
    ("name", "text", "source", "to", "steps", "lines"),
    [
        ("graph.txt", SNAP, 10, 20, "length -5, 2 arcs\n10 -> 30 -> 20", SNAP_TSV),
        ("graph.txt.gz", SNAP, 10, 20, "length -5, 2 arcs\n10 -> 30 -> 20", SNAP_TSV),
        ("graph.gr", DIMACS, 1, 2, "length -2, 2 arcs\n1 -> 3 -> 2", "1\t0\n2\t-2\n3\t2\n4\tinf\n"),
        ("algs4.txt", ALGS4, 0, 1, "length 0.225, 2 arcs\n0 -> 2 -> 1", "0\t0.0\n1\t0.225\n2\t0.1\n3\tinf\n"),
    ],
)
def test_ids_are_the_files_own(fine, file, tmp_path, name, text, source, to, steps, lines):
    output = tmp_path / "distances.tsv"
    result = fine("sssp", file(name, text), "--source", source, "--to", to, "--output", output)
    assert result.out.endswith(f"to {to}: {steps}\n")
    assert output.read_text() == lines


def test_output_as_npy_is_in_vertex_order(fine, file, tmp_path):
    output = tmp_path / "distances.npy"
    fine("sssp", file("graph.txt", SNAP), "--source", 10, "--output", output)
    d = np.load(output)
    assert d.dtype == np.int32
    assert d.tolist() == [0, -5, 2, INT32_MAX]


def test_output_as_tsv_keeps_every_digit(fine, tmp_path):
    output = tmp_path / "distances.tsv"
    fine("sssp", DATA / "tinyEWD.txt", "--source", 0, "--output", output)
    written = dict(line.split("\t") for line in output.read_text().splitlines())
    assert list(written) == [str(v) for v in range(8)]
    assert [float(value) for value in written.values()] == sssp(read(DATA / "tinyEWD.txt"), 0).tolist()


@pytest.mark.parametrize(
    "options", [[], ["--algorithm", "auto"], ["--algorithm", "bellman-ford"], ["--backend", "cpu"]]
)
def test_options_that_change_nothing(fine, file, options):
    assert fine("sssp", file("graph.gr", DIMACS), "--source", 1, *options).table["sum of distances"] == "0"


def test_undirected(fine, file):
    graph = file("graph.gr", "p sp 3 2\na 1 2 5\na 3 2 4\n")
    assert fine("sssp", graph, "--source", 1).table["reached"] == "2"
    both_ways = fine("sssp", graph, "--source", 1, "--undirected", "--to", 3)
    assert both_ways.table.items() >= {"reached": "3", "arcs": "4", "farthest": "9"}.items()
    assert both_ways.out.endswith("1 -> 2 -> 3\n")


def test_threads(fine, file):
    with semiring.threads(semiring.get_threads()):  # as before when this test is over
        fine("sssp", file("graph.gr", DIMACS), "--source", 1, "--threads", 1)
        assert semiring.get_threads() == 1


def test_a_vertex_that_cannot_be_reached(fine, file):
    assert fine("sssp", file("graph.txt", SNAP), "--source", 10, "--to", 40).out.endswith("40 cannot be reached\n")


def test_the_source_itself(fine, file):
    graph = file("graph.gr", "p sp 1 0\n")
    result = fine("sssp", graph, "--source", 1, "--to", 1)
    assert result.table.items() >= {"vertices": "1", "arcs": "0", "reached": "1", "farthest": "0"}.items()
    assert result.out.endswith("to 1: length 0, 0 arcs\n1\n")


def test_a_sum_of_distances_beyond_int64(fine, file):
    """Each distance fits, their sum does not."""
    far = 2**62 + 12345
    graph = file("graph.txt", "".join(f"0 {v} {far}\n" for v in range(1, 6)))
    assert (
        fine("sssp", graph, "--source", 0).table.items()
        >= {
            "farthest": f"{far:,}",
            "sum of distances": f"{5 * far:,}",
        }.items()
    )


# --- info, convert, demo ----------------------------------------------------------------------------------------------


def test_info(fine, file):
    result = fine("info", file("graph.gr", "p sp 4 4\na 1 2 5\na 2 2 -3\na 1 3 7\na 1 4 1\n"))
    assert (
        result.table.items()
        >= {
            "shape": "4 × 4",
            "entries": "4",
            "dtype": "int32",
            "values": "-3 to 7",
            "entries in a row": "0 to 3, on average 1.00",
            "rows without entries": "2",
            "entries on the diagonal": "1",
            "symmetric": "no",
        }.items()
    )
    A = from_edges([0, 1, 0, 0], [1, 1, 2, 3], [5, -3, 7, 1], shape=4)
    for fmt in Matrix.formats.values():
        assert result.table[f"bytes as {fmt.__name__}"] == str(A.to(fmt).nbytes)


def test_info_of_graphs_that_lack_something(fine, file):
    assert "4 × 4" in fine("info", file("cities.csv", CITIES)).out
    both_ways = fine("info", file("graph.gr", DIMACS), "--undirected")
    assert both_ways.table.items() >= {"entries": "6", "symmetric": "yes", "entries on the diagonal": "0"}.items()
    empty = fine("info", file("empty.gr", "p sp 3 0\n"))
    assert empty.table.items() >= {"shape": "3 × 3", "entries": "0", "rows without entries": "3"}.items()
    assert "values" not in empty.table
    oblong = fine("info", file("graph.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 1\n1 3 0.5\n"))
    assert oblong.table.items() >= {"shape": "2 × 3", "dtype": "float64", "values": "0.5 to 0.5"}.items()
    assert "symmetric" not in oblong.table


def test_info_where_ell_would_be_mostly_padding(fine, file):
    hub = "".join(f"0 {v}\n" for v in range(5000))
    assert fine("info", file("hub.txt", hub)).table["bytes as ELL"] == "refused: too much padding"


def test_convert_keeps_the_ids_where_the_target_has_ids(fine, file, tmp_path):
    graph = file("graph.txt", SNAP)
    A, labels = read(graph, return_labels=True)
    for name in ("a.csv", "b.tsv", "c.npz", "d.el", "e.edges.gz", "f.txt"):
        result = fine("convert", graph, tmp_path / name)
        assert result.out == f"{tmp_path / name}: 4 × 4, 4 entries\n"
        graph = tmp_path / name
        B, ids = read(graph, return_labels=True)
        assert B.equals(A)
        assert ids.tolist() == labels.tolist() == [10, 20, 30, 40]
    assert (tmp_path / "a.csv").read_text().splitlines()[1:] == ["10,20,5", "10,30,2", "30,20,-7", "40,10,1"]


def test_convert_numbers_vertices_as_the_target_does(fine, file, tmp_path):
    graph = file("graph.txt", SNAP)
    A = read(graph)
    for name in ("graph.gr", "graph.mtx", "graph.gr.gz"):
        fine("convert", graph, tmp_path / name)
        B, ids = read(tmp_path / name, return_labels=True)
        assert B.equals(A)
        assert ids.tolist() == [1, 2, 3, 4]


def test_convert_says_when_ids_are_lost(fine, file, tmp_path):
    graph = file("graph.txt", SNAP)
    assert "no vertex ids" in fine("convert", graph, tmp_path / "graph.gr").out
    assert "no vertex ids" not in fine("convert", graph, tmp_path / "graph.npz").out


def test_convert_does_not_write_over_its_input(refused, file):
    graph = file("graph.txt", SNAP)
    assert refused("convert", graph, graph) == f"{graph} is the file to read: name another one to write"
    assert graph.read_text() == SNAP


def test_convert_undirected_and_oblong(fine, file, tmp_path):
    fine("convert", file("graph.gr", DIMACS), tmp_path / "both.npz", "--undirected")
    assert read(tmp_path / "both.npz").equals(read(tmp_path / "graph.gr", directed=False))
    oblong = file("oblong.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 1\n1 3 0.5\n")
    fine("convert", oblong, tmp_path / "oblong.npz")
    fine("convert", tmp_path / "oblong.npz", tmp_path / "again.mtx")
    assert read(tmp_path / "again.mtx").equals(read(oblong))


def test_an_unknown_format_is_refused_with_the_names_of_all(run, file):
    result = run("sssp", file("graph.txt", SNAP), "--source", 10, "--format", "nosuch")
    assert result.code == 2
    assert "'nosuch' is not one of" in result.err
    assert all(name in result.err for name in Matrix.formats)


@pytest.mark.parametrize("fmt", sorted(Matrix.formats))
def test_demo(fine, fmt):
    result = fine("demo", "--format", fmt)
    assert (
        result.table.items()
        >= {
            "vertices": "3,353",
            "computed in": computed_in(fmt, delta_stepping),
            "reached": "3,353",
            "farthest": "69,102",
            "sum of distances": "116,006,476",
        }.items()
    )
    assert re.search(r"\nto 1700: length [\d,]+, \d+ arcs\n1 -> [\d >-]+ -> 1700\n$", result.out)


# --- bench ------------------------------------------------------------------------------------------------------------


def test_bench_passes_on_what_follows_it(fine):
    assert re.search(r"^formats  .*Storage formats", fine("bench", "--list").out, flags=re.MULTILINE)
    listed = fine("bench", "--help").out
    assert "semiring bench" in listed
    assert "report" in listed
    assert "--repeats" in fine("bench", "formats", "--help").out


def test_bench_ends_as_the_benchmark_does(run, tmp_path):
    (tmp_path / "rows.jsonl").write_text("{}\n")
    result = run("bench", "report", "--results", tmp_path)
    assert (result.code, result.out) == (1, "")
    assert "rows.jsonl:1: " in result.err
    assert run("bench", "none").code == 2
    assert run("bench").code == 2


def test_bench_is_loaded_only_when_it_is_asked_for():
    code = "import sys, algorithms.cli; print('bench' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_bench_of_an_installed_package(refused, run, monkeypatch, tmp_path):
    """A wheel holds no benchmarks, and another package of that name is not taken for them."""
    root = Path(bench.ROOT)
    monkeypatch.setattr(bench, "ROOT", tmp_path)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench" / "__main__.py").touch()
    assert refused("bench", "--list").startswith("the benchmarks are not part of the installed package: run semiring")
    monkeypatch.chdir(root)  # a checkout
    assert "martin-fig6" in run("bench", "--list").out


def test_bench_that_cannot_be_imported(refused, monkeypatch):
    monkeypatch.setitem(sys.modules, "bench.commands", None)
    assert refused("bench", "--list").startswith("the benchmarks cannot be imported: ")


# --- how it fails -----------------------------------------------------------------------------------------------------


def test_files_that_cannot_be_read(refused, file, tmp_path):
    for command in (["sssp", "--source", 1], ["info"]):
        assert refused(*command, tmp_path / "none.gr") == f"No such file or directory: {tmp_path / 'none.gr'}"
    malformed = file("graph.gr", "p sp 4 2\na 1 2 5\na 1 x 3\n")
    for command in (
        ["sssp", malformed, "--source", 1],
        ["info", malformed],
        ["convert", malformed, tmp_path / "x.mtx"],
    ):
        assert refused(*command).startswith(f"{malformed}:3: ")
    assert not (tmp_path / "x.mtx").exists()
    assert "unknown suffix '.dot'" in refused("info", file("graph.dot", "digraph {}"))
    assert str(tmp_path / "cut.txt.gz") in refused("info", cut_short(file("cut.txt.gz", SNAP)))


def cut_short(path: Path) -> Path:
    path.write_bytes(path.read_bytes()[:-12])
    return path


def test_distances_without_a_tree(refused, file):
    graph = file("graph.el", "0 1 5e-324\n1 2 1.0\n2 3 0.0\n3 1 -1.0\n")
    assert refused("sssp", graph, "--source", 0, "--to", 3).startswith("in float64, rounding alone improves distances")


def test_vertices_that_the_file_has_not(refused, file):
    graph = file("graph.txt", SNAP)
    message = refused("sssp", graph, "--source", 11)
    assert message == "--source 11 is not a vertex of the file: its 4 ids lie in 10 to 40"
    assert refused("sssp", graph, "--source", 0).startswith("--source 0 is not a vertex")
    assert refused("sssp", graph, "--source", 41).startswith("--source 41 is not a vertex")
    assert refused("sssp", graph, "--source", 10, "--to", 25).startswith("--to 25 is not a vertex of the file")
    graph = file("graph.gr", DIMACS)
    assert refused("sssp", graph, "--source", 0) == "--source 0 is not a vertex of the file: its 4 ids lie in 1 to 4"
    empty = file("empty.gr", "p sp 0 0\n")
    assert refused("sssp", empty, "--source", 1).endswith("of the file: it has none")


@pytest.mark.parametrize("name", ["distances.csv", "distances", "npy", ".tsv"])
def test_outputs_of_an_unknown_suffix(refused, tmp_path, name):
    """Refused before the file is even looked for."""
    said = refused("sssp", tmp_path / "none.gr", "--source", 1, "--output", tmp_path / name)
    assert said == f"--output must end in .npy or .tsv, or be -, got {name!r}"


def test_an_output_where_no_file_can_be_is_refused_before_any_work(refused, tmp_path):
    said = refused("sssp", tmp_path / "none.gr", "--source", 1, "--output", tmp_path / "none" / "d.npy")
    assert said == f"--output {tmp_path / 'none' / 'd.npy'} lies in a folder that does not exist"


def test_graphs_without_an_answer(refused, file):
    negative = file("graph.txt", "10 30 1\n30 20 1\n20 30 -2\n")
    assert refused("sssp", negative, "--source", 10).endswith("is reachable from the source: 20 -> 30 -> 20")
    overflow = file("overflow.gr", f"p sp 3 2\na 1 2 {INT32_MAX - 1}\na 2 3 {INT32_MAX - 1}\n")
    assert "does not fit int32" in refused("sssp", overflow, "--source", 1)
    oblong = file("oblong.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 1\n1 3 0.5\n")
    assert "2 × 3" in refused("sssp", oblong, "--source", 1)


ROADS = "p sp 4 4\na 1 2 4\na 2 3 1\na 1 3 7\na 3 4 2\n"


@pytest.mark.parametrize(
    "options",
    [
        ["--algorithm", "bellman-ford"],
        ["--algorithm", "da2cf"],
        ["--algorithm", "delta-stepping", "--delta", "max/degree"],
        ["--algorithm", "delta-stepping", "--delta", "2.5"],
        ["--algorithm", "dijkstra"],
    ],
    ids=lambda options: " ".join(options[1:]),
)
def test_every_algorithm_and_its_parameters(fine, file, tmp_path, options):
    rounds = tmp_path / "rounds.jsonl"
    result = fine("sssp", file("roads.gr", ROADS), "--source", 1, "--to", 4, "--trace", rounds, *options)
    assert result.table["sum of distances"] == "16"
    assert result.out.endswith("to 4: length 7, 3 arcs\n1 -> 2 -> 3 -> 4\n")
    lines = [json.loads(line) for line in rounds.read_text().splitlines()]
    assert {line["algorithm"] for line in lines} == {options[1].replace("-", "_")}
    assert lines[0]["frontier"] == 1


@pytest.mark.parametrize(
    ("options", "algorithm"),
    [
        (["--delta", "median"], "delta_stepping"),
        (["--algorithm", "bellman_ford"], "bellman_ford"),
    ],
    ids=lambda case: " ".join(case) if isinstance(case, list) else "",
)
def test_a_parameter_names_its_algorithm_and_names_may_have_underscores(fine, file, tmp_path, options, algorithm):
    rounds = tmp_path / "rounds.jsonl"
    fine("sssp", file("roads.gr", ROADS), "--source", 1, "--trace", rounds, *options)
    assert {json.loads(line)["algorithm"] for line in rounds.read_text().splitlines()} == {algorithm}


def test_several_sources_make_a_table_and_a_column_each(fine, file, tmp_path):
    output = tmp_path / "d.tsv"
    result = fine("sssp", file("roads.gr", ROADS), "--source", 1, "--source", 3, "--output", output)
    assert "roads.gr, from vertex 1" in result.out
    assert "roads.gr, from vertex 3" in result.out
    assert output.read_text() == "1\t0\tinf\n2\t4\tinf\n3\t5\t0\n4\t7\t2\n"
    fine("sssp", file("roads.gr", ROADS), "--source", 1, "--source", 3, "--output", tmp_path / "d.npy")
    assert np.load(tmp_path / "d.npy").shape == (2, 4)


def test_each_target_of_several_has_its_path(fine, file):
    roads = file("roads.gr", ROADS)
    lines = fine("sssp", roads, "--source", 1, "--to", 4, "--to", 2).out.splitlines()[-4:]
    alone = [fine("sssp", roads, "--source", 1, "--to", end).out.splitlines()[-2:] for end in (4, 2)]
    assert lines == [*alone[0], *alone[1]]


def test_limits_targets_and_other_semirings(fine, file):
    roads = file("roads.gr", ROADS)
    assert fine("sssp", roads, "--source", 1, "--limit", 5.5).table["reached"] == "3"
    assert fine("sssp", roads, "--source", 1, "--target", 2, "--algorithm", "dijkstra").table["reached"] == "2"
    widest = fine("sssp", roads, "--source", 1, "--semiring", "max_min", "--to", 4)
    assert "to 4: length 2, 2 arcs\n1 -> 3 -> 4" in widest.out
    assert "farthest" not in fine("sssp", roads, "--source", 1, "--semiring", "lor_land").table
    assert "sum of distances" not in widest.table
    said = fine("sssp", roads, "--source", 1, "--to", 4, "--limit", 5).out
    assert "4 cannot be reached within the bound" in said


def test_longest_paths_where_weights_are_negative(fine, file):
    falling = file("falling.txt", "1 2 -4\n2 3 -1\n1 3 -7\n")
    for algorithm in ("bellman-ford", "da2cf", "dijkstra"):
        table = fine("sssp", falling, "--source", 1, "--semiring", "max_plus", "--algorithm", algorithm).table
        assert table["sum of distances"] == "-9"


def test_in_other_semirings_no_path_is_told_from_an_infinite_one(fine, file, tmp_path):
    output = tmp_path / "d.tsv"
    wide = file("wide.txt", "1 2 0.5\n3 3 1.0\n")
    fine("sssp", wide, "--source", 1, "--semiring", "max_min", "--output", output)
    assert output.read_text() == "1\tinf\n2\t0.5\n3\tnone\n"


def test_an_option_of_one_value_is_given_once(fine, refused, file):
    roads = file("roads.gr", ROADS)
    for option, first, second in (("--delta", 3, 4), ("--format", "csr", "csr")):
        said = refused("sssp", roads, "--source", 1, option, first, option, second)
        assert said == f"{option} takes one value, and is given 2 times"
    assert fine("sssp", roads, "--source", 1, "--source", 2, "--json", "--json").out


def test_parameters_that_an_algorithm_does_not_have(refused, file, tmp_path):
    roads = file("roads.gr", ROADS)
    said = refused("sssp", roads, "--source", 1, "--algorithm", "dijkstra", "--delta", "3")
    assert said == "--delta is not a parameter of dijkstra"
    assert "unknown rule for delta 'mode'" in refused(
        "sssp", roads, "--source", 1, "--algorithm", "delta-stepping", "--delta", "mode"
    )
    assert "--target 9 is not a vertex" in refused("sssp", roads, "--source", 1, "--target", 9)
    assert "saved as .jsonl or .csv" in refused("sssp", roads, "--source", 1, "--trace", tmp_path / "rounds.txt")
    assert "unknown semiring 'min_add'" in refused("sssp", roads, "--source", 1, "--semiring", "min_add")


def test_names_that_there_are_not(run, refused, file):
    graph = file("graph.gr", DIMACS)
    said = refused("sssp", graph, "--source", 1, "--algorithm", "dijkstras")
    assert said == "unknown algorithm 'dijkstras'; there are auto, bellman-ford, da2cf, delta-stepping, dijkstra"
    for wrong in (["--format", "dia"], ["--backend", "tpu"], ["--threads", "0"], ["--fast"], ["--to", "x"]):
        result = run("sssp", graph, "--source", 1, *wrong)
        assert (result.code, result.out) == (2, "")
        assert wrong[0] in result.err
    assert run("sssp", graph).code == 2  # no --source
    assert run("solve", graph).code == 2


def test_cuda_without_cupy(refused, file, monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    said = refused("sssp", file("graph.gr", DIMACS), "--source", 1, "--backend", "cuda")
    assert "needs CuPy, which is not installed here: pip install" in said


def test_conversions_that_would_lose_something(refused, file, tmp_path):
    assert "integer weights only" in refused("convert", file("algs4.txt", ALGS4), tmp_path / "graph.gr")
    assert not (tmp_path / "graph.gr").exists()
    assert "unknown suffix '.xyz'" in refused("convert", file("graph.gr", DIMACS), tmp_path / "graph.xyz")


def test_boolean_weights_have_no_lengths(refused, tmp_path):
    write(tmp_path / "graph.npz", CSR([0, 1, 1], [1], np.array([True]), (2, 2)))
    assert "not defined on bool" in refused("sssp", tmp_path / "graph.npz", "--source", 0)


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [(KeyboardInterrupt(), 130, "interrupted\n"), (MemoryError("8 GiB"), 2, "semiring: out of memory: 8 GiB\n")],
)
def test_ends_that_are_nobodys_fault(run, monkeypatch, error, code, said):
    def ends() -> None:
        raise error

    monkeypatch.setattr(commands, "app_of", lambda called="": ends)
    assert run() == Result(code, "", said)


def test_an_unexpected_error_is_not_hidden(monkeypatch):
    def broken() -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(commands, "app_of", lambda called="": broken)
    with pytest.raises(ZeroDivisionError):
        cli.main()


# --- the real thing ---------------------------------------------------------------------------------------------------


def test_help(fine):
    said = fine("--help").out
    for command in ("sssp", "bfs", "scc", "mst", "info", "convert", "demo"):
        assert command in said
        assert "Usage:" in fine(command, "--help").out
    assert fine("-h").out == said


def test_the_version_is_the_packages(fine):
    assert fine("--version").out.strip() == version("semiring") == semiring.__version__


def test_a_format_may_be_named_in_any_case(fine, file):
    graph = file("graph.txt", SNAP)
    upper, lower = (fine("sssp", graph, "--source", 10, "--format", name).out for name in ("ELL", "ell"))
    assert upper.splitlines()[-1] == lower.splitlines()[-1]


def in_a_process(*arguments: Any) -> Result:
    command = [sys.executable, "-W", "error", "-m", "algorithms.cli", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
    return Result(done.returncode, done.stdout, done.stderr)


def test_as_a_process(file):
    graph = file("graph.txt", SNAP)
    result = in_a_process("sssp", graph, "--source", 10, "--to", 20, "--threads", 1)
    assert (result.code, result.err) == (0, "")
    assert result.out.endswith("10 -> 30 -> 20\n")
    failed = in_a_process("sssp", graph, "--source", 11)
    assert failed == Result(2, "", "semiring: --source 11 is not a vertex of the file: its 4 ids lie in 10 to 40\n")


def test_the_console_script_is_declared():
    from importlib.metadata import entry_points

    (script,) = entry_points(group="console_scripts", name="semiring")
    assert script.load() is cli.main


CITIES = "from,to,km\nParis,Dijon,315\nDijon,Lyon,195\nParis,Lyon,600\nNice,Lyon,470\n"


NUMBERED = "id,from,to,road,km\n1,Paris,Dijon,A5,315\n2,Dijon,Lyon,A31,195\n"


@pytest.mark.parametrize(("columns", "distance"), [("from,to,km", 510), (" from, to ", 2), ("to,from,km", None)])
def test_columns_of_a_table_are_chosen_by_their_headings(run, file, columns, distance):
    found = run(
        "sssp", file("roads.csv", NUMBERED), "--source", "Paris", "--to", "Lyon", "--json", "--columns", columns
    )
    assert json.loads(found.out)[0]["paths"][0]["distance"] == distance


@pytest.mark.parametrize("command", ["bfs", "scc", "mst"])
def test_every_command_of_a_graph_takes_columns(run, file, command):
    more = {"bfs": ["--source", "Paris"], "mst": ["--undirected"]}.get(command, [])
    found = run(command, file("roads.csv", NUMBERED), "--columns", "from,to,km", *more)
    assert found.code == 0
    assert "Lyon" in found.out or command != "scc"


def test_columns_that_are_not_there_are_named(refused, file):
    roads = file("roads.csv", NUMBERED)
    unknown = file("unknown.csv", "id,a,b,km\n1,Paris,Dijon,315\n")
    assert "say --columns, those to take" in refused("sssp", unknown, "--source", "Paris")
    assert "there is no column 'too': did you mean 'to'?" in refused(
        "sssp", roads, "--source", "Paris", "--columns", "from,too,km"
    )
    for columns in ("from", "from,", "a,b,c,d"):
        said = refused("sssp", roads, "--source", "Paris", "--columns", columns)
        assert "--columns takes two headings or three" in said


def test_names_go_in_and_come_out(run, refused, file, tmp_path):
    cities = file("cities.csv", CITIES)
    found = run("sssp", cities, "--source", "Paris", "--to", "Lyon", "--to", "Nice", "--output", tmp_path / "out.tsv")
    assert found.code == 0
    assert "Paris -> Dijon -> Lyon" in found.out
    assert "Nice cannot be reached" in found.out
    assert (tmp_path / "out.tsv").read_text() == "Paris\t0\nDijon\t315\nNice\tinf\nLyon\t510\n"
    assert "Paris -> Lyon" in run("bfs", cities, "--source", "Paris", "--to", "Lyon").out
    message = refused("sssp", cities, "--source", "paris")
    assert message == "--source 'paris' is not a vertex: did you mean 'Paris'?"
    graph = file("graph.txt", SNAP)
    assert (
        refused("sssp", graph, "--source", "x") == "--source x is not a vertex of the file: its 4 ids lie in 10 to 40"
    )


def test_paths_are_printed_as_json(run, file):
    cities = file("cities.csv", CITIES)
    answers = json.loads(run("sssp", cities, "--source", "Paris", "--to", "Lyon", "--to", "Nice", "--json").out)
    assert answers == [
        {
            "source": "Paris",
            "reached": 3,
            "paths": [
                {"to": "Lyon", "distance": 510, "path": ["Paris", "Dijon", "Lyon"], "legs": [315, 195]},
                {"to": "Nice", "distance": None, "path": [], "legs": []},
            ],
        }
    ]
    numbers = file("numbers.csv", "1,2,0.5\n2,30,1.5\n")
    answers = json.loads(run("sssp", numbers, "--source", 1, "--source", 2, "--to", 30, "--json").out)
    assert [(each["source"], each["paths"][0]["distance"]) for each in answers] == [(1, 2.0), (2, 1.5)]
