"""Calls of all functions of NetworkX's backend on random graphs, beside NetworkX itself.

    python -m tests.networkx_fuzz 1000 500                  # graphs 1000 to 1499
    python -m tests.networkx_fuzz 1000 500 core_number      # of one function, or of several

Values, order, paths, Python's types, and errors with their texts are compared, but for the last digits of ROUNDED sums,
and for the last step of ITERATED functions, where rounding alone tells whether it is small enough.
Every difference is told with its graph's number, and the exit code is 1.
"""

from __future__ import annotations

import gc
import sys
import time
from collections import Counter

from .networkx_calls import THEIRS, compared

PIECE = 1000
"""Graphs after which progress is told."""


def main(first: int, count: int, names: list[str]) -> int:
    """How many graphs have a function whose answers differ."""
    handled, differing, start = Counter[str](), 0, time.perf_counter()
    for seed in range(first, first + count):
        try:
            handled += compared([seed], names or THEIRS)
        except AssertionError as difference:
            differing += 1
            print(difference, flush=True)
        done = seed - first + 1
        if done % PIECE == 0 or done == count:
            seconds = time.perf_counter() - start
            apart, functions = handled["a step apart"], len(handled.keys() & THEIRS.keys())
            answers = handled.total() - apart
            said = (
                f"{differing} differ, {apart} a step apart, {answers:,} alike of {functions} functions, {seconds:.0f} s"
            )
            print(f"graphs {first} to {seed}: {done:,}, {said}", flush=True)
    return differing


if __name__ == "__main__":
    gc.set_threshold(100_000)
    first, count, *names = sys.argv[1:]
    sys.exit(main(int(first), int(count), names) > 0)
