"""Seconds until a first answer: with nothing compiled, and of a whole command whose kernels are on disk.

Each is a process of its own, since a process compiles a kernel once. Its answer is compared with a known one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path

from bench.measure import Disagreement

ANSWERS = {
    "sssp": "sssp(A, 0).tolist() == [0, 2, 5, 9]",
    "bfs": "bfs(A, 0).tolist() == [0, 1, 2, 3]",
    "scc": "scc(A).tolist() == [0, 0, 0, 0]",
    "mst": "boruvka(A, symmetrize=True).nnz == 3",
}
"""The answer of each algorithm on a cycle of four vertices."""

CALL = """
import json, sys, time, numpy as np
from algorithms import bfs, boruvka, scc, sssp
from formats import from_edges
seconds, clock = [], getattr(time, sys.argv[2])
for dtype in sys.argv[3:]:
    A = from_edges([0, 1, 2, 3], [1, 2, 3, 0], np.array([2, 3, 4, 5], dtype)).to(device=sys.argv[1])
    start = clock()
    right = bool({test})
    seconds.append(clock() - start)
    assert right, sys.argv
print(json.dumps(seconds))
"""

IMPORT = "from time import process_time as now; import numpy; start = now(); import algorithms; print(now() - start)"
COMMANDS = {
    "semiring sssp": (["sssp", "FILE", "--source", "1"], "116,006,476"),
    "semiring --version": (["--version"], ""),
}
"""The words after `semiring`, of which FILE is a file of Rome's roads, and a part of the answer."""


def first_calls(
    algorithm: str, dtypes: tuple[str, ...] = ("float32", "int32"), device: str = "cpu", clock: str = "perf_counter"
) -> dict[str, float]:
    """Seconds of the first call of an algorithm with each dtype in turn, in one process, with nothing compiled before.

    Kernels that one dtype has compiled may serve the next. clock: of the module `time`; "process_time" leaves out what
    other processes take on a busy machine. Raises Disagreement for a wrong answer.
    """
    with nothing_kept() as environment:
        code = CALL.replace("{test}", ANSWERS[algorithm])
        out = _output([sys.executable, "-c", code, device, clock, *dtypes], environment)
    return dict(zip(dtypes, json.loads(out), strict=True))


def whole_command(name: str, repeats: int = 5) -> float:
    """The shortest processor time of a command, from start to end, with its kernels on disk."""
    with nothing_kept() as environment, resources.as_file(resources.files("algorithms.data") / "rome99.gr") as file:
        words, told = COMMANDS[name]
        command = [sys.executable, "-m", "algorithms.cli", *(str(file) if word == "FILE" else word for word in words)]
        seconds = []
        for _ in range(repeats + 1):  # the first one compiles
            start = sum(os.times()[2:4])
            out = _output(command, environment)
            seconds.append(sum(os.times()[2:4]) - start)
            if told not in out:
                raise Disagreement(f"{name} does not print {told}: {out}")
    return min(seconds[1:])


def import_beyond_numpy(repeats: int = 5) -> float:
    """The shortest processor time of `import algorithms` after NumPy's."""
    with nothing_kept() as environment:
        return min(float(_output([sys.executable, "-c", IMPORT], environment)) for _ in range(repeats))


@contextmanager
def nothing_kept() -> Iterator[dict[str, str]]:
    """An environment in which no machine code is kept yet; Python's bytecode is, as of an installed package."""
    with tempfile.TemporaryDirectory() as folder:
        places = {"NUMBA_CACHE_DIR": f"{folder}/cpu", "CUPY_CACHE_DIR": f"{folder}/cuda"}
        environment = os.environ | places | {"PYTHONPATH": str(Path(__file__).parents[2])}
        environment |= {"PYTHONPYCACHEPREFIX": f"{folder}/python"}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        code = "import algorithms.cli, semiring.cpu.compiler.compiler as compiler; compiler.contexts(everything=False)"
        _output([sys.executable, "-c", code], environment)
        yield environment


def _output(command: list[str], environment: dict[str, str]) -> str:
    """Returns what a process prints; raises Disagreement with its last words if it fails."""
    root = environment["PYTHONPATH"]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Disagreement(f"{' '.join(command[:3])} failed: {done.stderr[-400:]}")
    return done.stdout
