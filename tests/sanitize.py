"""compute-sanitizer over the kernels' tests: `python -m tests.sanitize [memcheck initcheck racecheck]`.

Samples of ten modules of tests, in which every kernel runs, on matrices that it takes a sanitizer minutes to watch;
dealt out to a few processes. CuPy's memory pool is off, so that an array ends where its memory ends.
Exit status 0 if every tool finds nothing.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent

TILES, MATRICES, FUSED, BATCHES, DENSE, RANKS, FACTORS, BEYOND, PARTS, QUEUES = (
    f"tests/test_{name}.py"
    for name in (
        *("cuda_tiles", "cuda_matrices", "fused_kernels", "batch_cells", "dense_operands", "centralities"),
        *("factors_on_gpus", "beyond", "parts_on_gpus", "queues_on_gpus"),
    )
)

SMALL = "hubs and not both and (int32 or not schedule)"
"""Of the persistent kernels' tests: every kernel on one graph, every schedule in one dtype."""

MOVED = "hub and (bool or int64) or square or shuffled and (parts or int32) or looks_up or masked_write or few_and_many"
"""Of the tests that move entries: values of 1, 4 and 8 bytes, and every verb."""

PRODUCTS = "any_length and (int32 or plus_times) or dense_columns and hub and int64"
"""Of the tests of sparse products, and of products with dense columns."""

TOGETHER = "pushed_and_pulled and hubs and int32 or left_after and hubs and (auto or 64)"
"""Of the tests of several sources: searches, distances in rows and in copies."""

OPERANDS = (
    "cuda and CSR and min_plus and int32 or cuda and two_arrays and (plus_times or min_plus) and int64"
    " or cuda and reduce_tells_where and CSR and min"
)
"""Of the tests of dense operands."""

STARS = "long_rows and cuda and star"
"""Of the tests of cores, ranks and betweenness: rows for a lane, a warp and a block."""

PANELS = "cuda and larger and (dense or star)"
"""Of the tests of factors: panels for a warp, and for the grid."""

SHARES = "cuda_within_a_limit and R-MAT and 0.2"
"""Of the tests of matrices beyond the GPU: a fifth of it is resident."""

PAIRS = "awkward_graphs_on_two_gpus and hubs"
"""Of the tests of parts, where there are two GPUs."""

ORDERS = "cuda and (hubs or narrow)"
"""Of the tests of orders of discovery: levels for a block, and for all."""

CASES = {
    "memcheck": {
        TILES: "(min_plus-int32 or plus_times-int64 or lor_land) and (hub or mixed) or reductions and hub and int64",
        MATRICES: f"{MOVED} or {PRODUCTS}",
        FUSED: SMALL,
        BATCHES: TOGETHER,
        DENSE: OPERANDS,
        RANKS: STARS,
        FACTORS: PANELS,
        BEYOND: SHARES,
        PARTS: PAIRS,
        QUEUES: ORDERS,
    },
    "initcheck": {
        TILES: "(min_plus or plus_times-int64 or lor_land) and (hub or mixed) or reductions",
        MATRICES: f"{MOVED} or {PRODUCTS}",
        FUSED: SMALL,
        BATCHES: TOGETHER,
        DENSE: OPERANDS,
        RANKS: STARS,
        FACTORS: PANELS,
        BEYOND: SHARES,
        PARTS: PAIRS,
        QUEUES: ORDERS,
    },
    "racecheck": {
        TILES: "min_plus-int32 and hub and (dense or 0.05) or reductions and hub and int64",
        MATRICES: "hub and int64 or square or few_and_many or any_length and int32",
        FUSED: "hubs and not both and (int32 and schedule or searches or forests)",
        BATCHES: "pushed_and_pulled and hubs and int32 and 0.3 or left_after and hubs and auto",
        DENSE: "cuda and two_arrays and min_plus and int64",
        RANKS: STARS,
        FACTORS: PANELS,
        BEYOND: SHARES,
        PARTS: PAIRS,
        QUEUES: ORDERS,
    },
}
"""The tools, and of the tests what each can watch in minutes. (racecheck watches shared memory, and takes longest.)"""

KERNEL = re.compile(r"__global__\s+void\s+(?:__launch_bounds__\((?:[^()]|\([^()]*\))*\)\s+)?(\w+)\(")
"""Where CUDA text defines a kernel, and the kernel's name."""


def kernels() -> list[str]:
    """The names of our kernels: racecheck would take hours over CuPy's sorts."""
    folders = (ROOT / "semiring/cuda", ROOT / "algorithms/fused/cuda")
    paths = sorted(path for folder in folders for ending in ("cu", "py") for path in folder.glob(f"*.{ending}"))
    return [name for path in paths for name in KERNEL.findall(path.read_text(encoding="utf-8"))]


FILTERS = {"racecheck": [option for name in kernels() for option in ("--kernel-name", f"kernel_substring={name}")]}

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
    outcomes = []
    with ThreadPoolExecutor(PROCESSES) as pool:
        for done in as_completed([pool.submit(watch, tool, hand) for hand in hands]):
            outcomes.append(done.result())
            print(f"{tool}: {len(outcomes)} of {len(hands)} processes are done", flush=True)
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
