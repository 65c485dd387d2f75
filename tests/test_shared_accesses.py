"""Engines whose threads touch the same memory in an order: `shared_accesses` watches them, and finds seeded races."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from .shared_accesses import ENGINES, HARMLESS

ROOT = Path(__file__).parents[1]

SEEDED = """
import linecache
import sys
from importlib import import_module
from tests.shared_accesses import main

engine, name, before, after = sys.argv[1:]
module = import_module(name)
with open(module.__file__, encoding="utf-8") as file:
    text = file.read()
assert text.count(before) == 1, before
text = text.replace(before, after)
linecache.cache[module.__file__] = len(text), None, text.splitlines(keepends=True), module.__file__
exec(compile(text, module.__file__, "exec"), vars(module))
main([engine], 4, range(4, 6))
"""
"""A program that watches an engine with another text in one of its modules."""


ENGINES_AT_A_TIME = 4
"""Engines that one process watches, for what they share is compiled once."""


def watched(*command: str) -> dict[str, Any]:
    """What a process tells that watches engines."""
    command = (sys.executable, "-W", "ignore", *command)
    made = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    told: dict[str, Any] = json.loads(made.stdout)
    return told


@pytest.mark.long
@pytest.mark.parametrize("first", range(0, len(ENGINES), ENGINES_AT_A_TIME))
def test_threads_touch_what_they_share_in_an_order(first: int) -> None:
    told = watched("-m", "tests.shared_accesses", "4", "4:5", *[*ENGINES][first : first + ENGINES_AT_A_TIME])
    assert (told["races"], told["differing"], told["idle"]) == ([], [], [])


@pytest.mark.nightly
def test_many_graphs_have_no_races_but_the_harmless_ones() -> None:
    """And each reason has some."""
    told = watched("-m", "tests.shared_accesses", "4", "1:13")
    assert (told["races"], told["differing"]) == ([], [])
    assert [why for why, lines in HARMLESS.items() if not any(line in lines for line in told["harmless"])] == []


TRIES = 6
"""Runs in one of which a race that is there is found."""
NESTED = "\n" + 20 * " "
FAR = "if last + SIFTED_AT_A_TIME > far[0].size:"
FULL = (
    f"while thread == 0 and last < far[0].size:{NESTED}    far[0][last], far[1][last] = 0, -1"
    f"{NESTED}    last += 1{NESTED}if False:"
)
"""The far list of a thread is full of what is out of date, and nothing makes room: it is written behind it."""


@pytest.mark.long
@pytest.mark.parametrize(
    ("module", "engine", "before", "after", "line"),
    [
        (
            "cores",
            "core_number",
            "d = added(left, u, lost)",
            f"d = left[u]{NESTED + 8 * ' '}left[u] = d + lost",
            "left[u] = d + lost",
        ),
        ("shared_relaxation", "sssp, full lists", FAR, FULL, "far[0][last], far[1][last] = v, x"),
    ],
)
def test_a_seeded_race_is_found(module: str, engine: str, before: str, after: str, line: str) -> None:
    told = []
    for _ in range(TRIES):  # threads need not come to it at once
        told.append(watched("-c", SEEDED, engine, f"algorithms.fused.cpu.{module}", before, after))
        if any(f" writes: {line}" in race for race in told[-1]["races"]):
            return
    raise AssertionError(told)
