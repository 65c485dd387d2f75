"""Matrices in parts: in this process, and by mpirun in several; what is missing, and what goes wrong."""

from __future__ import annotations

import functools
import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import algorithms as al
from algorithms.cli import processes
from algorithms.fused.parts import search
from algorithms.fused.parts.checkpoint import Saving
from algorithms.fused.parts.many_sources import by_all, copies_of
from bench.graphs import grid, rmat
from bench.volumes import volumes
from formats import COO, CSC, CSR, ELL, CompressedCSR, Partitioned, SegmentedCOO, from_edges, partition, read
from formats.gpu import cupy
from formats.parts import launchers
from formats.parts.group import Group, ParticipantError
from formats.parts.links import FOLDED
from formats.parts.partitioned import balanced
from semiring import MaxMin, MinPlus, apply, assign, ewise_add, ewise_union, explain, extract, mxm, select

from . import parts
from .conftest import why_no_gpu, writable
from .parts_faults import FAULTS, OPEN_MPI, graph, launched, named

ROOT = Path(__file__).parent.parent
ROADS = Path(os.environ.get("SEMIRING_DATA", ROOT / "data"))
"""Where the road graphs are, which are not among the tests' files."""


@functools.cache
def launcher() -> str | None:
    """The mpirun beside this Python, or on the path; None without it or mpi4py."""
    from importlib.util import find_spec

    here = Path(sys.executable).parent / "mpirun"
    found = str(here) if here.exists() else shutil.which("mpirun")
    return found if found and find_spec("mpi4py") else None


needs_mpi = pytest.mark.skipif(launcher() is None, reason="no mpi4py, or no mpirun: pip install 'semiring[mpi]'")


def started(ranks: int, *words: Any, folder: Path, limit: float = 120) -> subprocess.CompletedProcess[str]:
    """What `mpirun -n ranks python words` has printed. It is not to run longer than the limit."""
    where = os.environ | writable(folder) | OPEN_MPI
    command = [str(launcher()), "-n", str(ranks), sys.executable, *map(str, words)]
    return subprocess.run(command, cwd=ROOT, env=where, capture_output=True, text=True, timeout=limit)


@pytest.fixture(autouse=True)
def strips(request: pytest.FixtureRequest) -> Iterator[None]:
    """Strips are searched as by several processes, but where a test is about a process alone."""
    with nullcontext() if "alone" in request.function.__name__ else by_all():
        yield


@pytest.mark.parametrize("name", ["check_algorithms", "check_negative", "check_cycles"])
def test_a_process_alone_puts_its_parts_together(name: str) -> None:
    parts.CHECKS[name](None)


def test_a_process_alone_searches_parts_as_one_matrix() -> None:
    A = parts.graphs()["rmat"]
    P = partition(A, parts=3)
    for call in (al.sssp, al.bfs):
        told = explain(call, P, 3)
        assert told.runs[0].details["method"] == "by one process, which has put its strips together"
    al.sssp(P, sources=[3, 5])
    assert P.kept_nbytes < 2 * A.nbytes


@pytest.mark.parametrize("name", parts.CHECKS)
def test_parts_in_one_process_answer_as_one_matrix(name: str) -> None:
    parts.CHECKS[name](None)


@pytest.mark.parametrize("fmt", [COO, CSC, CSR, ELL, CompressedCSR, SegmentedCOO])
@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_what_is_written_into_parts_is_what_one_matrix_becomes(fmt: Any, count: int) -> None:
    A = rmat(4, dtype=np.int32, high=9)
    for name, call in parts.written(A).items():
        parts.same(name, call, parts.cuts(A, None, fmt, count), A)


@pytest.mark.parametrize("shape", [(0, 0), (1, 5), (5, 1), (3, 7)])
@pytest.mark.parametrize("dtype", [np.int64, np.float32])
def test_awkward_shapes_in_more_parts_than_rows_are_written_as_one_matrix(shape: tuple[int, int], dtype: Any) -> None:
    draw = np.random.default_rng(0)
    A, B = (dense_as(draw.random(shape) < 0.5, dtype) for _ in range(2))
    flags, rows, cols = draw.random(shape) < 0.5, draw.permutation(shape[0])[1:], draw.permutation(shape[1])[1:]
    for name, call in {
        "a scalar": lambda M: assign(parts.fresh(M), 1, rows, cols, accum="max"),
        "a matrix": lambda M: assign(parts.fresh(M), extract(B, rows, cols), rows, cols, mask=flags),
        "in parts": lambda M: assign(parts.fresh(M), parts.like(M, B), mask=B, complement=True, replace=True),
        "positions": lambda M: apply(M, "rowindex", mask=flags),
        "arguments": lambda M: mxm(M, M.T, "max_second", return_argument=True)[1],
        "union": lambda M: ewise_union(M, 1, B, 1, "first", mask=B),
    }.items():
        parts.same(name, lambda M, call=call: call(M).to_edges(), partition(A, parts=5), A)


def dense_as(there: np.ndarray, dtype: Any) -> CSR:
    """The matrix with an entry at each true place."""
    rows, cols = np.nonzero(there)
    return from_edges(rows, cols, (1 + rows % 3).astype(dtype), shape=there.shape)


@needs_mpi
@pytest.mark.long
@pytest.mark.parametrize("ranks", [1, 2, 3, 5])
def test_processes_answer_as_one(ranks: int, tmp_path: Path) -> None:
    done = started(ranks, "-m", "tests.parts", folder=tmp_path)
    assert "all is as in one process" in done.stdout, done.stderr


@needs_mpi
def test_processes_that_take_small_graphs_alone_answer_as_one(tmp_path: Path) -> None:
    done = started(2, "-m", "tests.parts", "--alone", "check_algorithms", "check_negative", folder=tmp_path)
    assert "all is as in one process" in done.stdout, done.stderr


def how_to() -> list[str]:
    """The commands of the how-to, as a reader copies them."""
    page = (ROOT / "docs" / "how-to.md").read_text()
    [block] = re.findall(r"^```sh\n(mpirun.*?)^```$", page, flags=re.DOTALL | re.MULTILINE)
    return block.splitlines()


@needs_mpi
@pytest.mark.parametrize("command", how_to())
def test_the_commands_of_the_how_to_print_the_sum_of_distances_once(command: str, tmp_path: Path) -> None:
    if not (ROADS / "USA-road-d.NY.gr.gz").exists():
        pytest.skip(f"no file USA-road-d.NY.gr.gz in {ROADS}")
    if "cuda" in command and (why := why_fewer_gpus()):
        pytest.skip(why)
    path = f"{Path(sys.executable).parent}:{Path(str(launcher())).parent}:{os.environ['PATH']}"
    if not shutil.which("semiring", path=path):
        pytest.skip("the command semiring is not installed")
    where = os.environ | writable(tmp_path) | OPEN_MPI | {"PATH": path}
    done = subprocess.run(command, shell=True, cwd=ROADS, env=where, capture_output=True, text=True, timeout=200)
    assert done.stdout.count("186,686,642,878") == 1, done.stderr


def test_sums_of_integers_which_saturate_are_left_to_no_library() -> None:
    assert FOLDED.keys() == {"min", "max"}


def why_fewer_gpus() -> str | None:
    """Why there are no two GPUs here; None if there are."""
    if why := why_no_gpu():
        return why
    return None if cupy().cuda.runtime.getDeviceCount() > 1 else "there is one GPU"


@needs_mpi
def test_the_command_line_prints_once_and_ends_all_on_an_error(tmp_path: Path) -> None:
    words = ["-m", "algorithms.cli", "sssp", "tests/data/tinyEWD.txt", "--source", "0", "--output"]
    done = started(3, *words, tmp_path / "d.npy", folder=tmp_path)
    assert done.stdout.count("from vertex 0") == 1, done.stderr
    assert "CSR on cpu, 3 processes, fused" in done.stdout
    np.testing.assert_array_equal(np.load(tmp_path / "d.npy"), al.sssp(read(ROOT / words[3]), 0))
    refused = started(2, *words[:4], "--source", "9", folder=tmp_path, limit=20)
    assert refused.returncode == 2
    assert "--source 9 is not a vertex of the file" in refused.stderr
    alone = started(2, *words[:2], "pagerank", words[3], folder=tmp_path, limit=60)
    assert (alone.returncode, alone.stdout.count("CSR on cpu, fused")) == (0, 1), alone.stderr


@needs_mpi
def test_processes_that_mpirun_has_not_started_find_each_other(tmp_path: Path) -> None:
    """As `torchrun` starts them: the variables alone say who and where they are."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    known = {"WORLD_SIZE": "3", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port - 1)}
    where = [os.environ | writable(tmp_path) | known | {"RANK": str(rank)} for rank in range(3)]
    command = [sys.executable, "-m", "algorithms.cli", "sssp", "tests/data/tinyEWD.txt", "--source", "0"]
    how: Any = {"cwd": ROOT, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    several = [subprocess.Popen(command, env=each, **how) for each in where]
    said = [each.communicate(timeout=60) for each in several]
    assert [each.returncode for each in several] == [0, 0, 0], said
    assert "CSR on cpu, 3 processes, fused" in said[0][0]
    assert [out for out, _ in said[1:]] == ["", ""]


def test_without_mpich_or_too_late_processes_do_not_find_each_other(monkeypatch: Any) -> None:
    for name, value in zip(launchers.VARIABLES, ("1", "2", "127.0.0.1", "9"), strict=True):
        monkeypatch.setenv(name, value)
    alone = SimpleNamespace(
        COMM_WORLD=SimpleNamespace(Get_size=lambda: 1), Get_library_version=lambda: "Open MPI v5, package"
    )
    monkeypatch.setitem(sys.modules, "mpi4py.MPI", alone)
    with pytest.raises(ValueError, match="imported before"):
        launchers.communicator()
    monkeypatch.delitem(sys.modules, "mpi4py.MPI")
    monkeypatch.setitem(sys.modules, "mpi4py", SimpleNamespace(MPI=alone))
    monkeypatch.setattr(launchers, "join", lambda environment: None)
    with pytest.raises(ValueError, match="Open MPI v5 finds 1 of 2 processes: without MPICH start them by mpirun"):
        launchers.communicator()
    monkeypatch.setattr(launchers, "PATIENCE", 0.0)
    with pytest.raises(ValueError, match=r"does not listen at 127\.0\.0\.1:9"):
        launchers.wait_for("127.0.0.1", 9)


def test_several_processes_are_told_by_their_launcher(monkeypatch: Any) -> None:
    for environment, several in (
        ({}, False),
        ({"PMI_SIZE": "1"}, False),
        ({"PMI_SIZE": "4"}, True),
        ({"OMPI_COMM_WORLD_SIZE": "2"}, True),
        ({"RANK": "0", "WORLD_SIZE": "2"}, False),
        (dict.fromkeys(launchers.VARIABLES, "2"), True),
    ):
        assert launchers.started_together(environment) == several
    assert processes.speaks()
    P: Any = partition(parts.graphs()["rmat"], parts=2)
    assert processes.computed_in(P) == "CSR on cpu, 2 parts"
    monkeypatch.setattr(processes, "speaks", lambda: False)
    monkeypatch.setattr(sys, "argv", ["semiring", "info"])
    with pytest.raises(SystemExit):
        processes.be_silent_unless_first()


@needs_mpi
@pytest.mark.parametrize("fault", [fault for fault in FAULTS if fault != "kill"])
def test_a_fault_of_one_ends_all_and_is_named(fault: str, tmp_path: Path) -> None:
    seconds, code, text = launched(3, str(tmp_path), fault, 1, 9)
    assert code != 0
    assert named(fault, 3, 1, text), text
    assert seconds < 20
    assert not (tmp_path / "answer.npy").exists()


@needs_mpi
def test_a_search_whose_process_was_killed_is_resumed_by_one_fewer(tmp_path: Path) -> None:
    _, code, text = launched(3, str(tmp_path), "kill", 2, 20)
    assert code != 0
    assert named("kill", 3, 2, text), text
    assert (tmp_path / "distances.npz").exists()
    _, code, text = launched(2, str(tmp_path), "none", 0, 0)
    assert code == 0, text
    np.testing.assert_array_equal(np.load(tmp_path / "answer.npy"), al.sssp(graph(), 3))


@pytest.mark.quick
def test_strips_have_about_as_many_entries() -> None:
    A = parts.graphs()["rmat"]
    P = partition(A, parts=4)
    share = (A.nnz + A.nrows) / 4
    longest = int(A.lengths().max())
    assert all(abs(part.nnz + part.nrows - share) <= longest + 1 for part in P.parts)
    assert balanced(np.array([0, 0]), 3) == (0, 0, 0, 1) or balanced(np.array([0, 0]), 3)[-1] == 1
    assert balanced(np.append(np.zeros(100, np.int64), 500), 4, 32) == (0, 96, 96, 96, 100)  # the last row has all
    assert partition(from_edges([], [], shape=0), parts=3).starts == (0, 0, 0, 0)


@pytest.mark.quick
def test_a_matrix_in_parts_says_what_it_is_and_gathers_only_when_asked() -> None:
    A = parts.graphs()["rmat"]
    P: Any = partition(A, parts=3)
    assert (P.shape, P.nnz, P.dtype, P.device) == (A.shape, A.nnz, A.dtype, "cpu")
    assert str(P) == "<Partitioned 64×64, 485 entries, int32, cpu, 3 parts>" or "3 parts" in str(P)
    assert P.T.T is P
    assert isinstance(select(P, "<", 3), Partitioned)
    assert isinstance(mxm(P, A, MinPlus), Partitioned)
    assert isinstance(mxm(A, P, MinPlus), Partitioned)
    assert mxm(A, P, MinPlus).equals(mxm(A, A, MinPlus))
    assert isinstance(P.to("csr"), CSR)
    with pytest.raises(AttributeError, match="gathers"):
        P.indptr  # noqa: B018
    with pytest.raises(TypeError, match="not pickled"):
        P.__reduce__()


@pytest.mark.quick
def test_matrices_in_other_numbers_of_parts_meet_entry_by_entry() -> None:
    A = parts.graphs()["rmat"]
    P, Q = partition(A, parts=3), partition(A, parts=5)
    assert P.equals(Q)
    assert not P.equals(partition(A.mapped(lambda values: values + 1), parts=5))
    parts.same("a sum", lambda M: ewise_add(M, Q, "plus").to_edges(), P, A)
    parts.same("a product", lambda M: mxm(M, Q, MinPlus, mask=Q.T).to_edges(), P, A)
    assert ewise_add(P, Q, "plus").starts == P.starts


def test_paths_forests_and_components_run_as_a_whole_on_own_rows() -> None:
    A = parts.graphs()["rmat"]
    P = partition(A, parts=3)
    for call in (
        lambda: al.sssp(P, 3, return_parents=True),
        lambda: al.sssp(P, sources=[3, 5], return_parents=True),
        lambda: al.bellman_ford(P, 3, MaxMin),
        lambda: al.bfs(P, 3, return_parents=True),
        lambda: al.boruvka(P, symmetrize=True),
        lambda: al.scc(P, weak=True),
        lambda: al.scc(P),
        lambda: al.bellman_ford(partition(negative(A), parts=3), 3, return_parents=True),
    ):
        told = explain(call)
        assert {run.implementation for run in told.runs if run.format == "Partitioned"} == {"fused"}, str(told)


def negative(A: Any) -> CSR:
    """The same graph with some weights below 0, and no cycle that gains."""
    u, v, w = A.to_edges()
    height = np.arange(A.nrows, dtype=w.dtype) * 7 % 13
    return from_edges(u, v, w + height[u] - height[v], shape=A.shape)


def test_without_room_for_all_of_it_the_equations_find_paths_of_negative_weights(monkeypatch: Any) -> None:
    A = negative(parts.graphs()["rmat"])
    monkeypatch.setattr("algorithms.fused.parts.near_far.alone_on_host", lambda *_, always: None)
    P = partition(A, parts=3)
    told = explain(lambda: al.bellman_ford(P, 3))
    assert "no room for all of the matrix" in str(told)
    parts.same("as written", lambda M: al.bellman_ford(M, 3, return_parents=True), P, A)


@pytest.mark.quick
def test_what_is_kept_beside_the_strips_counts() -> None:
    A = parts.graphs()["rmat"]
    P = partition(A, parts=2)
    assert P.kept_nbytes == 0
    P.parts[0].T.to("csr")
    by_part = P.kept_nbytes
    copies_of(P, [P.place])
    assert P.kept_nbytes >= by_part + A.nbytes
    P.forget_kept()
    assert P.kept_nbytes == by_part


@pytest.mark.parametrize("dtype", [np.int32, np.float64])
@pytest.mark.parametrize("seed", range(3))
def test_steps_of_any_length_find_the_same_distances(monkeypatch: Any, dtype: Any, seed: int) -> None:
    """Also where an exchange is worth few edges, so that steps stay short, and where a limit ends the search."""
    monkeypatch.setattr(search, "MIN_EXCHANGES", 1 << 30)
    A = rmat(9, dtype=dtype, high=1000, seed=seed) if seed else grid(24).astype(dtype)
    P = partition(A, parts=4)
    for worth in (1, 1 << 30):
        monkeypatch.setattr(search, "MIN_EXCHANGE_EDGES", worth)
        parts.same("sssp", lambda M: al.sssp(M, 5, return_parents=True), P, A)
        parts.same("a limit", lambda M: al.sssp(M, 5, limit=900), P, A)
        parts.same("a target", lambda M: al.sssp(M, 5, target=17), P, A)
        parts.same("a Δ", lambda M: al.delta_stepping(M, 5, delta=3), P, A)


@pytest.mark.parametrize(
    "how", [{"max_level": 0}, {"max_level": 7}, {"max_level": 10**12}, {"target": 99}, {"mask": np.arange(576) < 300}]
)
def test_a_search_by_levels_ends_where_it_is_asked_to(how: dict[str, Any]) -> None:
    A = grid(24)
    parts.same(str(how), lambda M: al.bfs(M, 5, return_parents=True, **how), partition(A, parts=3), A)
    parts.same(str(how), lambda M: al.bfs(M, sources=[5, 9], **how), partition(A.pattern(), parts=3), A)


def test_a_search_goes_on_from_its_checkpoint(tmp_path: Path, monkeypatch: Any) -> None:
    A = rmat(9, dtype=np.int32, high=1000)
    monkeypatch.setattr(search, "MIN_EXCHANGE_EDGES", 1)
    monkeypatch.setattr(search, "MIN_EXCHANGES", 1 << 30)
    looks, look = [0], Saving.look

    def failing(self: Saving, d: Any) -> None:
        look(self, d)
        looks[0] += 1
        if looks[0] == 4:
            raise RuntimeError("a power cut")

    monkeypatch.setattr(Saving, "look", failing)
    with pytest.raises(RuntimeError, match="a power cut"), al.checkpoints(tmp_path, every=0):
        al.sssp(partition(A, parts=4), 5)
    monkeypatch.setattr(Saving, "look", look)
    assert [file.name for file in tmp_path.iterdir()] == ["distances.npz"]
    with np.load(tmp_path / "distances.npz") as saved:
        assert 1 < np.count_nonzero(saved["d"] < MinPlus.zero(A.dtype)) < A.nrows
    with pytest.raises(ValueError, match="of another search"), al.checkpoints(tmp_path, resume=True):
        al.sssp(partition(A, parts=3), 6)
    whole = (tmp_path / "distances.npz").read_bytes()
    (tmp_path / "distances.npz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match="distances.npz: this is no checkpoint"), al.checkpoints(tmp_path, resume=True):
        al.sssp(partition(A, parts=3), 5)
    (tmp_path / "distances.npz").write_bytes(whole)
    with al.checkpoints(tmp_path, every=0, resume=True):
        parts.same("resumed", lambda M: al.sssp(M, 5, return_parents=True), partition(A, parts=3), A)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ValueError, match="every must be seconds"), al.checkpoints(tmp_path, every=-1):
        pass


@pytest.mark.quick
def test_bad_arguments_are_refused() -> None:
    A = parts.graphs()["two"]
    with pytest.raises(TypeError, match="either comm"):
        partition(A)
    with pytest.raises(ValueError, match="at least 1"):
        partition(A, parts=0)
    with pytest.raises(TypeError, match="mpi4py communicator"):
        partition(A, "world")
    with pytest.raises(ValueError, match="positive number of seconds"):
        Group(None, timeout=0)
    with pytest.raises(TypeError, match="in parts already"):
        partition(partition(A, parts=2), parts=2)
    with pytest.raises(ValueError, match="must be 1 × 2"):
        Partitioned((A,), (0, 1, 2), 0, (1, 2), Group(), 2)
    with pytest.raises(ParticipantError, match="rank 1 differs from rank 0"):
        differing().agree("size", 3)


def test_an_object_that_cannot_be_read_is_told_of_its_rank() -> None:
    group = Group()
    group.size = 2
    group.everyone = lambda what, array: [array, np.zeros(13, np.uint8)]  # type: ignore[method-assign]
    with pytest.raises(ParticipantError, match=r"rank 1 brought 13 bytes to step 0 \(facts\)"):
        group.told("facts", 5)


def differing() -> Group:
    """A group in which the other participant has found something else."""
    group = Group()
    group.told = lambda what, found: [found, 4]  # type: ignore[method-assign]
    return group


def test_volumes_of_one_process_are_none_and_of_more_within_their_bounds() -> None:
    found = {row["processes"]: row for row in volumes(6, (1, 4, 16))}
    assert found[1]["whole"] == found[1]["cut"] == found[1]["blocks"] == 0
    for p in (4, 16):
        assert found[p]["cut"] <= found[p]["whole"]
        assert 0 < found[p]["blocks"] <= found[p]["n"] * p**0.5


def test_a_fault_is_named_only_if_the_participant_is() -> None:
    printed = "rank 1 did not come to step 9 (paths) within 0.7 s"
    assert [named("stop", 3, who, printed) for who in range(3)] == [False, True, False]
    assert named("kill", 3, 1, "[mpiexec@vm] Exit codes: [vm] 0,9,0")
    assert not named("kill", 3, 2, "[mpiexec@vm] Exit codes: [vm] 0,9,0")
