"""compute-sanitizer over the kernels' tests: `python -m tests.sanitize [memcheck initcheck racecheck]`.

A sample of `test_cuda_tiles`, in which every kernel runs, on matrices that it takes a sanitizer minutes to watch.
CuPy's memory pool is off, so that an array ends where its memory ends. Exit status 0 if every tool finds nothing.
"""

from __future__ import annotations

import subprocess
import sys

CASES = {
    "memcheck": "(min_plus-int32 or plus_times-int64) and (hub or mixed) or reductions and hub and int64",
    "initcheck": "(min_plus or plus_times-int64 or lor_land) and (hub or mixed) or reductions",
    "racecheck": "min_plus-int32 and hub and (dense or 0.05) or reductions and int32-plus-hub",
}
"""The tools, and of the tests what each can watch in minutes. (racecheck watches shared memory.)"""

FOUND = 9
"""The exit status that tells a finding from a failed test."""


def run(tool: str) -> int:
    """The exit status of the tests under one tool."""
    sanitizer = ["compute-sanitizer", "--tool", tool, "--error-exitcode", str(FOUND)]
    tests = ["-m", "pytest", "-q", "--no-memory-pool", "tests/test_cuda_tiles.py", "-k", CASES[tool]]
    return subprocess.run([*sanitizer, sys.executable, *tests], check=False).returncode


def main(tools: list[str]) -> int:
    """Run the named tools, or all; 1 if one of them finds something, or a test fails."""
    outcome = {tool: run(tool) for tool in tools or CASES}
    for tool, status in outcome.items():
        print(f"{tool}: {'clean' if status == 0 else 'found something' if status == FOUND else f'exit {status}'}")
    return int(any(outcome.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
