"""compute-sanitizer over the kernels' tests: `python -m tests.sanitize [memcheck initcheck racecheck]`.

Samples of thirteen modules of tests, on matrices that it takes a sanitizer minutes to watch; dealt out to processes, a
few tests each, and to all GPUs. A line tells of each process as it ends, and one at the end
which kernels ran under no tool. CuPy's memory pool is off, so that an array ends where its memory ends.
Exit status 0 if every tool finds nothing.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent

TILES, MATRICES, FUSED, BATCHES, DENSE, RANKS, FACTORS, BEYOND, PARTS, QUEUES, THREADS, RULES = (
    f"tests/test_{name}.py"
    for name in (
        *("cuda_tiles", "cuda_matrices", "fused_kernels", "batch_cells", "dense_operands", "centralities"),
        *("factors_on_gpus", "out_of_core", "parts_on_gpus", "bfs_order_on_gpus", "da2cf", "equivalence"),
    )
)

SMALL = "hubs and not both and (int32 or not schedule)"
"""Of the persistent kernels' tests: every kernel on one graph, every schedule in one dtype."""

MOVED = "hub and (bool or int64) or square or shuffled and (parts or int32) or looks_up or masked_write or few_and_many"
"""Of the tests that move entries: values of 1, 4 and 8 bytes, and every verb."""

PRODUCTS = "any_length and (int32 or plus_times) or dense_columns and hub and int64"
"""Of the tests of sparse products, and of products with dense columns."""

TOGETHER = (
    "pushed_and_pulled and hubs and int32 or left_after and hubs and (auto or 64)"
    " or give_alone and bfs and cuda and path and backwards"
)
"""Of the tests of several sources: searches, distances in rows and in copies, and parents of many levels."""

OPERANDS = (
    "cuda and CSR and min_plus and int32 or cuda and two_arrays and (plus_times or min_plus) and int64"
    " or cuda and reduce_tells_where and CSR and min"
)
"""Of the tests of dense operands."""

STARS = "long_rows and cuda and star"
"""Of the tests of cores, ranks and betweenness: rows for a lane, a warp and a block."""

PANELS = "cuda and larger and (dense or star)"
"""Of the tests of factors: panels for a warp, and for the grid."""

SHARES = "cuda_within_a_limit and R-MAT and 0.2 or packed_columns_on_cuda and boruvka and 0.5"
"""Of the tests of matrices beyond the GPU: a fifth of it is resident, or a half of one with packed columns."""

PAIRS = "awkward_graphs_on_two_gpus and (hubs or path)"
"""Of the tests of parts, where there are two GPUs."""

ORDERS = "cuda and (hubs or narrow)"
"""Of the tests of orders of discovery: levels for a block, and for all."""

ROWS = "pull_by_threads and min_plus and int32"
"""Of the tests of products that take a thread a row."""

FOUND_EARLY = "write_rule and mxv and CompressedCSR and lor_land and cuda"
"""Of the tests of masked products: packed columns, and a sum that ends early."""

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
        THREADS: ROWS,
        RULES: FOUND_EARLY,
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
        THREADS: ROWS,
        RULES: FOUND_EARLY,
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
        THREADS: ROWS,
        RULES: FOUND_EARLY,
    },
}
"""The tools, and of the tests what each can watch in minutes. (racecheck watches shared memory, and takes longest.)"""

KERNEL = re.compile(r"__global__\s+void\s+(?:__launch_bounds__\((?:[^()]|\([^()]*\))*\)\s+)?(\w+)\(")
"""Where CUDA text defines a kernel, and the kernel's name."""


def kernels() -> list[str]:
    """The names of our kernels: racecheck would take hours over CuPy's sorts."""
    names = "semiring/cuda", "semiring/fusing", "algorithms/fused/cuda", "algorithms/elimination/cuda"
    folders = (ROOT / name for name in names)
    paths = sorted(path for folder in folders for ending in ("cu", "py") for path in folder.glob(f"*.{ending}"))
    return [name for path in paths for name in KERNEL.findall(path.read_text(encoding="utf-8"))]


FILTERS = {"racecheck": [option for name in kernels() for option in ("--kernel-name", f"kernel_substring={name}")]}

LAUNCHED = "kernels: "
"""What a line of pytest's output begins with that names the kernels of its tests."""

FOUND = 9
"""The exit status that tells a finding from a failed test."""

HAND = 3
"""Tests of a process."""

PROCESSES = len(os.sched_getaffinity(0))


@dataclass(frozen=True)
class Hand:
    """Some tests of a module, which a process runs under a tool."""

    tool: str
    module: str
    tests: tuple[str, ...]


@dataclass(frozen=True)
class Outcome:
    """What came of a hand: pytest's exit status or FOUND, all that was printed, and the seconds."""

    hand: Hand
    status: int
    output: str
    seconds: float

    @property
    def passed(self) -> int:
        """How many tests passed: a skipped one was not watched."""
        return sum(int(number) for number in re.findall(r"(\d+) passed", self.output))

    @property
    def kernels(self) -> list[str]:
        """The kernels that ran."""
        return [name for names in re.findall(rf"^{LAUNCHED}(.+)$", self.output, re.MULTILINE) for name in names.split()]

    @property
    def clean(self) -> bool:
        """Whether every test passed, and the tool found nothing."""
        return self.status == 0 and self.passed == len(self.hand.tests)

    def __str__(self) -> str:
        what = "nothing found" if self.clean else "FINDINGS" if self.status == FOUND else "FAILED"
        tests = f"{self.passed} of {len(self.hand.tests)} tests passed"
        return f"{self.hand.tool}, {self.hand.module}: {tests}, {what}, {self.seconds:.0f} s"


def collect(cases: dict[str, str]) -> dict[str, list[str]]:
    """The ids of the tests of each module; none of a module is an error."""
    found = {}
    for module, sample in cases.items():
        listing = [sys.executable, "-m", "pytest", "-q", "--collect-only", module, "-k", sample]
        done = subprocess.run(listing, capture_output=True, text=True, check=True)
        found[module] = [line for line in done.stdout.splitlines() if line.startswith(module)]
    return found


def deal(tool: str) -> list[Hand]:
    """The tool's sample in hands of a few tests; neighbours in a listing go to different hands."""
    hands = []
    for module, tests in collect(CASES[tool]).items():
        count = -(-len(tests) // HAND)
        hands += [Hand(tool, module, tuple(tests[first::count])) for first in range(count)]
    return hands


def gpus() -> int:
    """How many GPUs this machine has."""
    listing = subprocess.run(["nvidia-smi", "--list-gpus"], capture_output=True, text=True, check=True)
    return len(listing.stdout.splitlines())


def watch(hand: Hand, gpu: int) -> Outcome:
    """Run the hand under its tool, on one GPU unless its tests ask for several."""
    sanitizer = ["compute-sanitizer", "--tool", hand.tool, "--error-exitcode", str(FOUND)]
    options = ["-q", "-p", "no:cacheprovider", "--no-memory-pool", "--tell-kernels"]
    pytest = [sys.executable, "-m", "pytest", *options, *hand.tests]
    environment = os.environ if hand.module == PARTS else os.environ | {"CUDA_VISIBLE_DEVICES": str(gpu)}
    command, start = [*sanitizer, *FILTERS.get(hand.tool, []), *pytest], time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    return Outcome(hand, done.returncode, done.stdout + done.stderr, time.perf_counter() - start)


def run(tools: list[str]) -> bool:
    """Run the tools' samples side by side, print what came of each hand, and say whether all are clean."""
    outcomes = []
    with ThreadPoolExecutor(PROCESSES) as pool:
        hands, count = [hand for dealt in pool.map(deal, tools) for hand in dealt], gpus()
        watched = [pool.submit(watch, hand, number % count) for number, hand in enumerate(hands)]
        for done in as_completed(watched):
            outcomes.append(done.result())
            print(f"{len(outcomes)} of {len(hands)}: {outcomes[-1]}", flush=True)
            if not outcomes[-1].clean:
                print(outcomes[-1].output, flush=True)
    ran = {name for outcome in outcomes for name in outcome.kernels}
    print(f"kernels that ran under no tool: {', '.join(sorted({*kernels()} - ran)) or 'none'}")
    for tool in tools:
        of_tool = [outcome for outcome in outcomes if outcome.hand.tool == tool]
        findings = sum(outcome.status == FOUND for outcome in of_tool)
        failed = sum(not outcome.clean for outcome in of_tool) - findings
        tests = sum(outcome.passed for outcome in of_tool)
        print(f"{tool}: {tests} tests passed in {len(of_tool)} processes, {findings} with findings, {failed} failed")
    return all(outcome.clean for outcome in outcomes)


def main(tools: list[str]) -> int:
    """Run the named tools, or all; 1 if one of them finds something, or a test fails."""
    unknown = [tool for tool in tools if tool not in CASES]
    if unknown:
        sys.exit(f"unknown tool {unknown[0]!r}; there are {', '.join(CASES)}")
    return int(not run(tools or [*CASES]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
