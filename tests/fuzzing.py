"""What the fuzzers share: blocks of consecutive seeds, one seed a case, so that a failure is reproduced by its number.

A test that takes `fuzz_seeds` gets a range of seeds, and runs a case for each: `np.random.default_rng(seed)` draws it.
The assertion's message names the seed. `pytest --fuzz-cases 1 --fuzz-seed SEED` runs that case alone.

Of `program_seeds` hypothesis draws as many cases from the first seed of each range, and prints the one that fails.
"""

from __future__ import annotations

CASES = {"fuzz_seeds": 20_000, "program_seeds": 10_000}
"""Of each fuzzer, by what it takes. `pytest --fuzz-cases 100000` runs more."""

SEED = 20_261_122  # of the first case
BLOCK = 500  # cases in one test, so that processes share them


def blocks(seed: int, cases: int) -> list[range]:
    """The seeds of `cases` cases, from `seed` on, in ranges of at most BLOCK."""
    return [range(first, min(first + BLOCK, seed + cases)) for first in range(seed, seed + cases, BLOCK)]
