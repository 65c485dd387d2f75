"""compute-sanitizer over the kernels' tests: `python -m tests.sanitize [memcheck initcheck racecheck]`.

Samples of `test_cuda_tiles` and `test_fused_kernels`, in which every kernel runs, on matrices that it takes a sanitizer
minutes to watch; dealt out to a few processes. CuPy's memory pool is off, so that an array ends where its memory ends.
Exit status 0 if every tool finds nothing.
"""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

TILES, FUSED = "tests/test_cuda_tiles.py", "tests/test_fused_kernels.py"

SMALL = "hubs and not both and (int32 or not schedule)"
"""Of the persistent kernels' tests: every kernel on one graph, every schedule in one dtype."""

CASES = {
    "memcheck": {
        TILES: "(min_plus-int32 or plus_times-int64 or lor_land) and (hub or mixed) or reductions and hub and int64",
        FUSED: SMALL,
    },
    "initcheck": {
        TILES: "(min_plus or plus_times-int64 or lor_land) and (hub or mixed) or reductions",
        FUSED: SMALL,
    },
    "racecheck": {
        TILES: "(min_plus-int32 or plus_times-int64) and (hub or mixed) and (dense or 0.05) or reductions and hub",
        FUSED: SMALL,
    },
}
"""The tools, and of the tests what each can watch in minutes. (racecheck watches shared memory.)"""

OURS = (
    "gather_",
    "multiply_",
    "fold_",
    "push_",
    "join_",
    "wide",
    "deep",
    "tree",
    "search",
    "trim",
    "rest",
    "forest",
    "find_giant",
)
"""What the names of our kernels with shared memory contain: racecheck would take hours over CuPy's sorts."""

FILTERS = {"racecheck": [option for name in OURS for option in ("--kernel-name", f"kernel_substring={name}")]}

FOUND = 9
"""The exit status that tells a finding from a failed test."""

PROCESSES = min(12, os.cpu_count() or 1)


@dataclass(frozen=True)
class Outcome:
    """What came of some tests under a tool: pytest's exit status or FOUND, and all that was printed."""

    status: int
    output: str


def collect(cases: dict[str, str]) -> list[str]:
    """The ids of the tests; none of a module is an error."""
    found = []
    for module, sample in cases.items():
        listing = [sys.executable, "-m", "pytest", "-q", "--collect-only", module, "-k", sample]
        done = subprocess.run(listing, capture_output=True, text=True, check=True)
        found += [line for line in done.stdout.splitlines() if line.startswith(module)]
    return found


def watch(tool: str, tests: list[str]) -> Outcome:
    """Run the tests under the tool."""
    sanitizer = ["compute-sanitizer", "--tool", tool, "--error-exitcode", str(FOUND), *FILTERS.get(tool, [])]
    command = [*sanitizer, sys.executable, "-m", "pytest", "-q", "--no-memory-pool", *tests]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return Outcome(done.returncode, done.stdout + done.stderr)


def run(tool: str) -> bool:
    """Run the tool's sample, print what came of it, and say whether it is clean."""
    tests = collect(CASES[tool])
    hands = [hand for first in range(PROCESSES) if (hand := tests[first::PROCESSES])]
    with ThreadPoolExecutor(PROCESSES) as pool:
        outcomes = list(pool.map(lambda hand: watch(tool, hand), hands))
    bad = [outcome for outcome in outcomes if outcome.status != 0]
    for outcome in bad:
        print(outcome.output)
    findings = sum(outcome.status == FOUND for outcome in bad)
    print(
        f"{tool}: {len(tests)} tests in {len(hands)} processes, {findings} with findings, {len(bad) - findings} failed"
    )
    return not bad


def main(tools: list[str]) -> int:
    """Run the named tools, or all; 1 if one of them finds something, or a test fails."""
    unknown = [tool for tool in tools if tool not in CASES]
    if unknown:
        sys.exit(f"unknown tool {unknown[0]!r}; there are {', '.join(CASES)}")
    return int(not all([run(tool) for tool in tools or CASES]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
