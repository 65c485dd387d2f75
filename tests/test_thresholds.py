"""Every threshold that chooses a path has a row of `bench thresholds`; every other constant is known not to choose."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from collections.abc import Iterator
from fnmatch import filter as matching
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np

from bench.experiments.thresholds import thresholds
from bench.patched import bound, tasks

ROOT = Path(__file__).parents[1]

ELSEWHERE = {
    "fused.parts": "several processes or GPUs, which `bench parts` and `bench parts-on-gpus` time",
    "fused.cuda.layouts": "sizes that the kernels' text has, too",
    "fused.cuda.out_of_core": "graphs beyond a GPU's memory, which `bench large` times",
    "fused.cuda.out_of_core_msf": "likewise",
    "fused.cuda.pruned_pull": "likewise",
    "fused.cuda.staging": "likewise",
}
"""Modules and packages whose constants another experiment measures, or another language shares."""

CAPACITIES = {
    "how far ahead memory is fetched": "*AHEAD",
    "how much a thread or a loop takes at a time": (
        "*AT_ONCE PART* PIECE* TILE *_AT_A_TIME *_PER_CALL *_WORDS MAX_SOURCES GRAIN_VERTICES PLACES_PER_THREAD"
    ),
    "how wide a word, a vector or a node is": "DIGIT* LANES LINE* MOST WIDTH WORDS LISTS_* SEARCHES CHILDREN",
    "how many are looked at to learn of the others": "SAMPLE* SEARCHED_SHARE",
    "how much memory is taken": "*BYTES* MAX_PAIRS",
    "how long a queue of the GPU is": "COPIES_PER_ENTRY QUEUE_SHARE MIN_CROWD_ENTRIES MIN_QUEUE_ENTRIES",
    "how wide a bucket is": "WIDEST *MEANS MEANS_BY_DEGREE DEEP_MAX_ENTRIES",
    "when a signal is heard, or a question is asked again": "FIRST_LOOK_S* ROUNDS_PER_STEP STEPS_PER_LAUNCH",
    "when a run is given up": "MIN_STEPS STEPS_PER_VERTEX",
    "how large a machine or a number may be": (
        "MAX_BYTE_LEVELS MAX_BLOCKS MAX_ENTRIES PLAIN_THREADS MAX_EDGES FARTHEST* "
    ),
    "how exact a bound is": "LIGHT_EDGES_PER_VERTEX ROUNDINGS SWEEPS *NNZ_PER_VERTEX ROUNDS_PER_DOUBLING",
    "graphs beyond a GPU's memory": "MAX_LEFT_SHARE MAX_READ_SHARE",
    "a name of a number": (
        "BLOCKS BUSY DAMAGED EMPTY ENDLESS FILLED FOUND IDLE LEVEL_BIT LISTED "
        "MARK MOVED NEW NONE NULL ONE OPEN OUTDATED TAIL TWO WAITING"
    ),
    "the same rule as PULL_DIVISOR": "PUSH_DIVISOR",
}
"""Reasons why constants of these names, given as patterns, choose no path, and so need no row."""


def constants(folder: str) -> Iterator[tuple[str, object]]:
    """Yields the full name and the value of each constant of the modules in a folder."""
    for path in sorted((ROOT / folder).rglob("*.py")):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for node in ast.parse(path.read_text()).body:
            for name in filter(str.isupper, bound(node)):
                yield f"{module}.{name}", getattr(importlib.import_module(module), name)


def test_every_threshold_of_the_table_exists_and_its_task_too() -> None:
    known = tasks()
    for device in ("cpu", "cuda"):
        for each in thresholds(device):
            module, name = each.place
            assert isinstance(getattr(importlib.import_module(module), name), int | float | np.number), each.name
            assert each.task in known


def test_a_number_of_the_fused_algorithms_is_measured_or_known_not_to_choose_a_path() -> None:
    measured = {".".join(each.place) for device in ("cpu", "cuda") for each in thresholds(device)}
    patterns = {pattern for names in CAPACITIES.values() for pattern in names.split()}
    numbers = {name for name, value in constants("algorithms/fused") if isinstance(value, int | float | np.number)}
    inside = {name for name in numbers if not name.startswith(tuple(f"algorithms.{each}." for each in ELSEWHERE))}
    names = {name: name.rpartition(".")[2] for name in inside - measured}
    assert [name for name, own in names.items() if not any(fnmatchcase(own, each) for each in patterns)] == []
    assert [each for each in patterns if not matching(names.values(), each)] == []


def run(change: str, code: str) -> subprocess.CompletedProcess[str]:
    """Runs some code in a process that has changed a constant."""
    start = f"import sys; from bench.patched import Finder; sys.meta_path.insert(0, Finder({change})); {code}"
    return subprocess.run([sys.executable, "-c", start], cwd=ROOT, capture_output=True, text=True, check=False)


def test_a_changed_constant_is_everywhere_and_kernels_with_it_are_others() -> None:
    code = (
        "from algorithms.fused.cpu import distance_sums, essential; from algorithms.fused import essential as rules;"
        "from semiring.kernels.content import content;"
        "print(rules.SHARE, essential.SHARE); print(content(distance_sums._search))"
    )
    changes = ("essential", "SHARE", 0.25), ("cpu.distance_sums", "WORDS", 8), ("cpu.distance_sums", "WORDS", 4)
    done = [run(f"'algorithms.fused.{module}', '{name}', '{value}'", code) for module, name, value in changes]
    shares, kernels = zip(*(each.stdout.splitlines() for each in done), strict=True)
    assert shares == ("0.25 0.25", "0.5 0.5", "0.5 0.5")
    assert kernels[0] == kernels[1] != kernels[2]


def test_a_constant_that_is_not_there_is_told_of() -> None:
    done = run('"algorithms.fused.cpu.bfs", "NOWHERE", "1"', "import algorithms.fused.cpu.bfs")
    assert "has no constant NOWHERE" in done.stderr
