"""What is said while kernels are compiled, and what the command line counts as compiling."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from algorithms.cli.graph import Stopwatch
from formats import from_edges
from semiring import MinPlus, mxv
from semiring.cpu.compiled import loops_for
from semiring.cpu.compiler.jit import Kernel
from semiring.cpu.compiler.references import label
from semiring.kernels import compiling


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "_clock", compiling._Clock())
    monkeypatch.setattr(compiling, "SAID_AFTER", 0.05)


def compile_for(label: str, seconds: float) -> None:
    with compiling.compiling(label):
        time.sleep(seconds)


@pytest.mark.quick
def test_long_compiling_is_said_once_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(compiling, "is_watched", lambda: True)
    compile_for("min_plus, float32", 0.3)
    compile_for("min_plus, float32", 0.3)
    assert capsys.readouterr().err == "compiling kernels for min_plus, float32 (once)\n"


def test_many_short_compilations_are_said_together(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(compiling, "SAID_AFTER", 0.4)
    monkeypatch.setattr(compiling, "is_watched", lambda: True)
    compile_for("bfs", 0.3)
    assert capsys.readouterr().err == ""
    compile_for("bfs", 0.3)
    assert capsys.readouterr().err == "compiling kernels for bfs (once)\n"


def test_nothing_is_said_to_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    compile_for("bfs", 0.3)
    assert capsys.readouterr().err == ""


def test_kernels_are_named_by_their_semiring_and_dtype_or_else_their_subject() -> None:
    A = from_edges([0], [1], np.array([1.5]), shape=2)
    mxv(A, np.zeros(2), MinPlus)
    loops = loops_for(A, MinPlus, True)
    assert label(loops._push.parts[0]) == "min_plus, float64"
    assert label(Kernel(compile_for).parts[0]) == "test compiling"


def test_compiling_within_a_step_is_counted_apart() -> None:
    watch = Stopwatch()
    with watch.step("compiling"):
        compile_for("a", 0.05)
    with watch.step("solving"):
        time.sleep(0.05)
        compile_for("b", 0.2)
    assert list(watch.rows) == ["compiling", "solving"]
    assert float(watch.rows["compiling"].removesuffix(" s")) >= 0.25
    assert 0.05 <= float(watch.rows["solving"].removesuffix(" s")) < 0.2


def test_what_was_warmed_up_is_not_compiled_again(tmp_path: Path) -> None:
    """Of another process's kernels, in a folder of their own: by no public function, on graphs of other sizes."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-m", "algorithms.cli"]
    for expected in (r"\d+\.\d s", "nothing was left"):
        done = subprocess.run(
            [*command, "warm-up", "--dtype", "int32"],
            cwd=Path(__file__).parent.parent, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert re.search(f"compiling *│ *{expected}", done.stdout), done.stdout
    for code in (OF_NETWORKX, OF_EVERYTHING):
        done = subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
        )
        assert (done.stdout, done.returncode) == ("0.0\n", 0), done.stderr


OF_NETWORKX = """
import networkx as nx
from algorithms.networkx.interface import backend
from semiring.kernels.compiling import seconds_of_compiling
for kind in (nx.Graph, nx.DiGraph):
    G = backend.convert_from_nx(nx.gnm_random_graph(300, 1200, seed=1, directed=kind is nx.DiGraph))
    for name in ("dijkstra_path", "bidirectional_shortest_path", "bellman_ford_path_length"):
        getattr(backend, name)(G, 0, 1)
    for name in ("all_pairs_shortest_path_length", "dfs_edges"):
        list(getattr(backend, name)(G))
    for name in ("pagerank", "closeness_centrality", "betweenness_centrality", "is_forest", "is_bipartite"):
        getattr(backend, name)(G)
    for name in ("core_number", "clustering") if kind is nx.Graph else ("condensation", "is_weakly_connected"):
        getattr(backend, name)(G)
print(seconds_of_compiling())
"""


OF_EVERYTHING = """
import numpy as np
from algorithms.cli.warm_up import both_ways, calls_on
from formats import from_edges
from semiring.kernels.compiling import seconds_of_compiling
for n, m in ((50, 220), (20_000, 150_000)):
    u, v = np.random.default_rng(1).integers(0, n, (2, m))
    for A in (both_ways(u, v, np.dtype(np.int32)), from_edges(u, v, (u % 9 + 1).astype(np.int32), shape=n)):
        for call in calls_on(A, ["min_plus"], "cpu"):
            call()
print(seconds_of_compiling())
"""


CROWDED = """
import ctypes, mmap, sys
import numpy as np
from algorithms import bfs, scc, sssp
from formats import from_edges

reserve = ctypes.CDLL(None).mmap
reserve.restype = ctypes.c_void_p
reserve.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long
RESERVED, AT_PLACE = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000, 0x100000

def crowd():
    for _ in range(200):
        reserve(None, 8 << 30, 0, RESERVED, -1, 0)
    taken = sorted([int(end, 16) for end in line.split()[0].split("-")] for line in open("/proc/self/maps"))
    for (_, end), (start, _) in zip(taken, taken[1:]):
        if end > 0x700000000000 and end < start:
            reserve(end, start - end, 0, RESERVED | AT_PLACE, -1, 0)

A = from_edges([0, 1, 2, 3], [1, 2, 3, 0], np.array([2, 3, 4, 5], np.float32))
for algorithm in (bfs, sssp, scc):
    print(algorithm.__name__, *(algorithm(A) if algorithm is scc else algorithm(A, 0)).tolist())
    crowd()
print("with everything" if "numba.np.arraymath" in sys.modules else "with the target for kernels")
"""
"""After each algorithm nothing of the address space is free near what has been loaded, as beside CUDA's memory.

Then it says whether all that Numba knows was loaded, which takes long.
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc/self/maps")
def test_machine_code_runs_wherever_it_finds_room() -> None:
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", CROWDED], env=environment, capture_output=True, text=True)
    assert done.stderr == ""
    assert done.stdout == "bfs 0 1 2 3\nsssp 0.0 2.0 5.0 9.0\nscc 0 0 0 0\nwith the target for kernels\n"
