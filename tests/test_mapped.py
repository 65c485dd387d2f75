"""A matrix in a folder: what is written is opened again, mapped and checked; nothing else is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from algorithms import bfs, boruvka, da2cf, delta_stepping, dijkstra, scc, sssp
from bench.graphs import grid, rmat, uniform
from formats import CSC, CSR, Place, from_edges, open_mapped, read, write
from formats.arrays import is_mapped
from formats.io import mapped
from semiring import explain, mxm, mxv, reduce, statistics, vxm
from semiring.cpu import ranges

from .strategies import FORMATS, OPTIONS


@pytest.mark.parametrize("fmt", FORMATS, ids=lambda fmt: fmt.__name__)
@pytest.mark.parametrize("dtype", ["bool", "int32", "int64", "float32", "float64"])
def test_every_format_comes_back_mapped_and_read_only(fmt: Any, dtype: str, tmp_path: Path) -> None:
    graph = rmat(6).mapped(lambda values: (values % 2).astype(dtype))
    for A in (graph, from_edges([], [], np.zeros(0, dtype), shape=(3, 5))):
        M = A.to(fmt, **OPTIONS.get(fmt, {}))
        write(f"{tmp_path}/graph/", M)
        B = open_mapped(tmp_path / "graph")
        assert type(B) is fmt
        assert B.dtype == M.dtype
        assert B.equals(M)
        for part in B.arrays:
            assert part.size == 0 or is_mapped(part)
            assert not part.flags.writeable
        loaded = read(tmp_path / "graph")
        assert loaded.equals(M)
        assert not any(is_mapped(part) for part in loaded.arrays)


def test_a_pattern_takes_one_value(tmp_path: Path) -> None:
    A = rmat(8).pattern()
    write(f"{tmp_path}/graph/", A)
    assert (tmp_path / "graph" / "values.npy").stat().st_size < 200
    B = open_mapped(tmp_path / "graph")
    assert B.equals(A)
    assert B.values.strides == (0,)
    assert read(tmp_path / "graph").values.strides == (0,)


def test_labels_are_kept(tmp_path: Path) -> None:
    write(f"{tmp_path}/graph/", from_edges([0, 1], [1, 2]), labels=[7, 30, 9])
    A, labels = read(tmp_path / "graph", return_labels=True)
    assert labels.tolist() == [7, 30, 9]
    assert A.nnz == 2


def test_a_folder_is_replaced_as_a_whole_and_only_if_it_is_ours(tmp_path: Path, monkeypatch: Any) -> None:
    folder = tmp_path / "graph"
    write(f"{folder}/", rmat(4))
    first = open_mapped(folder)
    write(folder, rmat(5))  # it is there: no "/" needed
    assert open_mapped(folder).equals(rmat(5))
    assert first.equals(rmat(4)), "who has mapped the old one keeps it"

    def broken(*args: Any, **how: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(mapped.json, "dump", broken)
    with pytest.raises(KeyboardInterrupt):
        write(folder, rmat(6))
    assert open_mapped(folder).equals(rmat(5))
    assert [path.name for path in tmp_path.iterdir()] == ["graph"]
    other = tmp_path / "other"
    other.mkdir()
    (other / "thesis.txt").write_text("mine")
    with pytest.raises(ValueError, match="a folder without head.json: it holds no matrix"):
        write(other, rmat(4))
    assert (other / "thesis.txt").exists()


def test_what_was_there_is_there_still_if_its_place_cannot_be_taken(tmp_path: Path, monkeypatch: Any) -> None:
    folder = tmp_path / "graph"
    write(f"{folder}/", rmat(4))
    replace = mapped.os.replace

    def interrupted(source: str, target: str) -> None:
        if str(source).endswith(".tmp"):
            raise KeyboardInterrupt
        replace(source, target)

    monkeypatch.setattr(mapped.os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write(folder, rmat(5))
    assert open_mapped(folder).equals(rmat(4))
    assert [path.name for path in tmp_path.iterdir()] == ["graph"]


@pytest.mark.parametrize("fmt", [CSR, CSC])
def test_what_breaks_a_rule_is_found_on_opening(fmt: Any, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(mapped, "PIECE", 50)  # many pieces, and rows that are longer
    A = rmat(6).to(fmt)
    folder = tmp_path / "graph"
    for name, at, value, said in (
        ("indices", 100, 99, "indices must be in"),
        ("indices", 0, 63, "indices must ascend"),
        ("indptr", 5, 10**6, "indptr must not descend"),
        ("values", 200, np.nan, "NaN"),
    ):
        write(f"{folder}/", A)
        file = np.load(folder / f"{name}.npy", mmap_mode="r+")
        file[at] = value
        file.flush()
        with pytest.raises(ValueError, match=f"graph: .*{said}"):
            open_mapped(folder)
    write(f"{folder}/", A)
    assert open_mapped(folder).equals(A)


DAMAGES: dict[str, tuple[Any, str]] = {
    "another version": (lambda head: head.update(version=2), "the layout's version is 2, known is 1"),
    "another layout": (lambda head: head.update(layout="graph"), "is of no semiring matrix"),
    "no format": (lambda head: head.pop("format"), "is no head of a matrix"),
    "an unknown format": (lambda head: head.update(format="dok"), "unknown format"),
    "a field less": (lambda head: head["fields"].pop("shape"), "says nothing of shape, which a CSR has"),
    "an array less": (lambda head: head["arrays"].pop("values"), "says nothing of values"),
    "another dtype": (lambda head: head["arrays"]["values"].update(dtype="<f8"), "values.npy holds <f4"),
    "another length": (lambda head: head["arrays"]["indices"].update(shape=[3]), r"head.json says <i4 of \(3,\)"),
    "another shape": (lambda head: head["fields"].update(shape=[3, 3]), "indptr must have 4 elements"),
    "a path": (lambda head: head["arrays"].update({"../x": head["arrays"]["values"]}), None),
}


@pytest.mark.parametrize("reader", [open_mapped, read])
@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("indices.npy", b"\x93NUMPY\x01\x00\x76\x00{'descr': '<i4', (" + b" " * 101 + b"\n", "indices.npy is damaged"),
        ("indices.npy", b"\x93NUMPY\x01\x00\xff\xff{", "indices.npy is damaged"),
        ("values.npy", b"", "values.npy holds"),
        ("values.npy", b"\x80\x04N.", "values.npy is damaged"),
        ("values.npy", b"PK\x03\x04" + b"\0" * 40, "values.npy is damaged"),
        ("head.json", b"", "head.json is no JSON"),
        ("head.json", b"[" * 100_000, "head.json is no JSON"),
        ("head.json", b"\xff\xfe", "head.json is no JSON"),
        ("head.json", b"[1, 2]", "head.json is of no semiring matrix"),
        ("labels.npy", np.arange(3), "labels.npy holds"),
        ("labels.npy", np.zeros(16, int), "labels must be distinct"),
        ("labels.npy", -np.arange(16), "labels must not be negative, got -15"),
    ],
)
def test_a_damaged_file_of_a_folder_is_named(tmp_path: Path, refused: Any, name, content, said, reader: Any) -> None:
    folder = tmp_path / "graph"
    write(folder, rmat(4), labels=np.arange(16))
    if isinstance(content, bytes):
        (folder / name).write_bytes(content)
    else:
        np.save(folder / name, content)
    with pytest.raises(ValueError, match=f"^{folder}: {said}") as error:
        reader(folder)
    assert len(str(error.value)) < len(str(folder)) + 300
    assert refused("info", folder).startswith(f"{folder}: {said}")


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_head_that_does_not_fit_is_refused_by_name(damage: str, tmp_path: Path) -> None:
    folder = tmp_path / "graph"
    write(f"{folder}/", rmat(4))
    head = json.loads((folder / "head.json").read_text())
    change, said = DAMAGES[damage]
    change(head)
    (folder / "head.json").write_text(json.dumps(head))
    if said is None:  # what is not asked for is not looked at
        assert open_mapped(folder).equals(rmat(4))
        return
    with pytest.raises(ValueError, match=said):
        open_mapped(folder)


def test_truncated_and_missing_files_are_errors(tmp_path: Path) -> None:
    folder = tmp_path / "graph"
    with pytest.raises(FileNotFoundError):
        open_mapped(folder)
    write(f"{folder}/", grid(20))
    with open(folder / "indices.npy", "r+b") as file:
        file.truncate(400)
    with pytest.raises(ValueError, match="graph: .*"):
        open_mapped(folder)
    (folder / "indices.npy").unlink()
    with pytest.raises(FileNotFoundError, match="indices.npy"):
        open_mapped(folder)


@pytest.fixture(scope="module")
def large(tmp_path_factory: Any) -> tuple[CSR, Path]:
    """A matrix with many entries a row, in memory and in a folder."""
    A = uniform(1 << 13, 128)
    folder = tmp_path_factory.mktemp("mapped") / "graph"
    write(f"{folder}/", A)
    return A, folder


WORK: dict[str, Any] = {
    "mxv": lambda A: mxv(A, np.arange(A.ncols, dtype=A.dtype), "min_plus"),
    "vxm": lambda A: vxm(np.arange(A.nrows, dtype=A.dtype), A, "min_plus"),
    "plus_times": lambda A: mxv(A, np.ones(A.ncols, A.dtype), "plus_times"),
    "masked": lambda A: mxv(A, np.arange(A.ncols, dtype=A.dtype), "min_plus", mask=np.arange(A.nrows) % 3 == 0),
    "mxm": lambda A: mxm(A, np.ones((A.ncols, 3), A.dtype), "max_plus"),
    "reduce": lambda A: reduce(A, "min", axis=1),
    "sssp": lambda A: sssp(A, 5),
    "several sources": lambda A: sssp(A, sources=[5, 9, 17]),
    "buckets": lambda A: delta_stepping(A, 5),
    "one by one": lambda A: dijkstra(A, 5),
    "a tree": lambda A: sssp(A, 5, return_parents=True)[1],
    "a forest": lambda A: boruvka(A, symmetrize=True).values,
    "ten searches": lambda A: [bfs(A, s) for s in range(10)],
    "64 searches": lambda A: bfs(A, sources=range(64)),
    "scc": lambda A: scc(A),
    "weak components": lambda A: scc(A, weak=True),
}


@pytest.mark.parametrize("name", WORK)
def test_work_on_a_mapped_matrix_gives_the_same_bits_in_a_quarter_of_its_size(
    name: str, large: Any, monkeypatch: Any
) -> None:
    for module in (ranges, statistics):
        monkeypatch.setattr(module, "PIECE", 1 << 14)  # the matrix is small
    A, folder = large
    monkeypatch.setattr(Place, "available_bytes", lambda place: A.nbytes - 1)
    call = WORK[name]
    expected = call(A)
    call(open_mapped(folder))  # compiles
    B = open_mapped(folder)
    tracemalloc.start()
    try:
        found = call(B)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert np.array_equal(np.asarray(found), np.asarray(expected))
    assert most + B.kept_nbytes < A.nbytes / 4 or name == "64 searches"  # 64 rows of levels are as large
    assert B.on_disk
    assert not A.on_disk


def test_paths_read_rows_in_order_where_they_do_not_fit_and_run_whole_where_they_do(
    large: Any, monkeypatch: Any
) -> None:
    A = open_mapped(large[1])
    assert "delta_stepping" in str(explain(sssp, A, 5))
    assert {run.implementation for run in explain(sssp, A, 5).runs} == {"fused"}
    monkeypatch.setattr(Place, "available_bytes", lambda place: A.nbytes - 1)
    told = str(explain(sssp, A, 5))
    assert "bellman_ford" in told
    assert "its files are read row by row in their order" in told
    ran = {call.name: explain(call, A, 5).runs[-1].implementation for call in (da2cf, delta_stepping, dijkstra)}
    assert ran == {"da2cf": "definition", "delta_stepping": "fused", "dijkstra": "fused"}


def test_columns_that_do_not_fit_are_not_made_for_a_search(monkeypatch: Any) -> None:
    A = rmat(10)
    monkeypatch.setattr(Place, "available_bytes", lambda place: 2 * A.nrows * 80)
    levels = [bfs(A, 3).tolist() for _ in range(12)]
    assert levels == levels[:1] * 12


@pytest.mark.parametrize("dtype", ["bool", "int32", "int64", "float32", "float64"])
@pytest.mark.parametrize("dense", [False, True])
def test_a_forest_of_rows_some_at_a_time_is_that_of_all(dense: bool, dtype: str, monkeypatch: Any) -> None:
    graph = uniform(40, 20) if dense else rmat(7)
    A = graph.mapped(lambda values: (values % 5 - 2).astype(dtype) if dtype != "bool" else values > 0)
    F, label = boruvka(A, symmetrize=True, return_labels=True)
    room, B = A.footprint(CSC).total - 1, CSR.trusted(*A.components)
    monkeypatch.setattr(Place, "questions", lambda place, needed, **how: True)
    monkeypatch.setattr(Place, "check_room", lambda place, what, needed: None)  # the vectors are as large as the graph
    monkeypatch.setattr(Place, "available_bytes", lambda place: room)
    told = explain(boruvka, B, symmetrize=True, return_labels=True)
    assert told.runs[0].details["strips"] > 2
    found, labels = told.result
    assert [part.tobytes() for part in found.arrays] == [part.tobytes() for part in F.arrays]
    np.testing.assert_array_equal(labels, label)


LIMITED = """
import resource, sys, zlib, numpy as np
from pathlib import Path
from algorithms import bfs, boruvka, delta_stepping, scc, sssp
from formats import open_mapped
from formats.places import HOST
from semiring import mxm, mxv, reduce, vxm

calls = [
    lambda A: mxv(A, np.arange(A.ncols, dtype=A.dtype), "min_plus"),
    lambda A: vxm(np.arange(A.nrows, dtype=A.dtype), A, "max_plus"),
    lambda A: mxm(A, np.ones((A.ncols, 3), A.dtype), "plus_times"),
    lambda A: reduce(A, "min", axis=1),
    lambda A: sssp(A, 5),
    lambda A: sssp(A, sources=[5, 9], return_parents=True)[1],
    lambda A: delta_stepping(A, 5),
    lambda A: bfs(A, 5, return_parents=True)[1],
    lambda A: scc(A),
    lambda A: scc(A, weak=True),
    lambda A: boruvka(A, symmetrize=True).values,
]
small, large, limited = sys.argv[1:]
for call in calls:  # compiles, and starts threads
    call(open_mapped(small))
if limited == "limited":
    size = sum(file.stat().st_size for file in Path(large).iterdir())
    held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (held + size + size // 4,) * 2)
A = open_mapped(large)
assert limited != "limited" or (A.streams and HOST.available_bytes() < A.nbytes * 0.26)
print(*(zlib.crc32(np.asarray(call(A)).tobytes()) for call in calls))
"""


@pytest.mark.long
def test_work_on_a_mapped_matrix_runs_under_ulimit_in_a_quarter_of_its_size(
    tmp_path: Path, monkeypatch: Any, capsys: Any
) -> None:
    """`ulimit -v` counts the mapped files, and what is in memory."""
    write(f"{tmp_path}/small/", uniform(1 << 13, 16))
    write(f"{tmp_path}/large/", uniform(1 << 16, 256))
    given = [f"{tmp_path}/small", f"{tmp_path}/large"]
    monkeypatch.setattr(sys, "argv", ["", *given, "free"])
    exec(LIMITED, {})
    command = [sys.executable, "-W", "ignore", "-c", LIMITED, *given, "limited"]
    where = {**os.environ, "MALLOC_ARENA_MAX": "1"}
    done = subprocess.run(command, env=where, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == capsys.readouterr().out


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with names")
def test_a_pipe_in_the_place_of_the_head_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "head.json")
    with pytest.raises(ValueError, match=r"head\.json is no file"):
        open_mapped(tmp_path)
