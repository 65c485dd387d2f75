"""SpMV over min-plus on the CPU: our formats beside bare python-graphblas, arrays in and arrays out.

A random matrix of 2^20 rows, with 2^24 entries and with exactly 8 a row. What "bare" does is what a user of
python-graphblas writes: Vector.from_dense, mxv, to_dense. It has no absent value in int32, so it runs on an operand
without one; ours runs on one with INT_MAX entries, checked against int64.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from formats import COO, CSR, ELL, SegmentedCOO, from_edges
from semiring import MinPlus, get_threads, mxv

from .measure import Contender, interleaved, json_line, machine, medians_ms

MAX_WEIGHT = 1000
ABSENT_SHARE = 0.1


def run(scale: int = 20, repeats: int = 15) -> list[dict[str, Any]]:
    """Time every contender on both matrices, print a table and JSON lines, and return the records."""
    rng = np.random.default_rng(20)
    n = 1 << scale
    random = (rng.integers(0, n, 16 * n), rng.integers(0, n, 16 * n))
    regular = (np.repeat(np.arange(n), 8), rng.integers(0, n, 8 * n))
    records = []
    for name, (src, dst) in {"random": random, "8 a row": regular}.items():
        A = from_edges(src, dst, rng.integers(1, MAX_WEIGHT, src.size).astype(np.int32), shape=n)
        x = rng.integers(0, 100 * MAX_WEIGHT, n).astype(np.int32)
        records.append(compare(name, A, x, rng, repeats))
    show(records)
    for record in records:
        print(json_line(record))
    return records


def compare(name: str, A: CSR, x: np.ndarray, rng: np.random.Generator, repeats: int) -> dict[str, Any]:
    """One matrix: every contender verified, then timed in turns."""
    zero = MinPlus.zero(A.dtype)
    holed = np.where(rng.random(x.size) < ABSENT_SHARE, zero, x).astype(np.int32)
    real, real_x = A.astype(np.float32), x.astype(np.float32)
    stored = {fmt: (real.to(fmt), A.to(fmt)) for fmt in (CSR, COO, ELL, SegmentedCOO)}
    by_float = bare(real, real_x, np.inf)
    expected = saturated(bare(A.astype(np.int64), widened(holed), np.iinfo(np.int64).max))
    contenders = [
        Contender("bare float32", lambda: bare(real, real_x, np.inf), by_float),
        *(
            Contender(f"{fmt.__name__} float32", lambda M=M: mxv(M, real_x, MinPlus), by_float)
            for fmt, (M, _) in stored.items()
        ),
        Contender("bare int32", lambda: bare(A, x, zero), bare(A, x, zero)),
        *(
            Contender(f"{fmt.__name__} int32 with INT_MAX", lambda M=M: mxv(M, holed, MinPlus), expected)
            for fmt, (_, M) in stored.items()
        ),
    ]
    times = medians_ms(interleaved(contenders, repeats))
    return machine() | {"matrix": name, "n": A.nrows, "nnz": A.nnz, "threads": get_threads(), "milliseconds": times}


def widened(x: np.ndarray) -> np.ndarray:
    """An int32 operand in int64, absent entries absent."""
    return np.where(x == MinPlus.zero(x.dtype), np.iinfo(np.int64).max // 2, x.astype(np.int64))


def saturated(y: np.ndarray) -> np.ndarray:
    """An int64 result as int32, absent above its range."""
    return np.minimum(y, np.iinfo(np.int32).max).astype(np.int32)


def bare(A: CSR, x: np.ndarray, fill: Any) -> np.ndarray:
    """The product as a user of python-graphblas writes it; the matrix is imported once."""
    import graphblas as gb

    M = A.keep("bare", A.to_graphblas)
    return M.mxv(gb.Vector.from_dense(x), gb.semiring.min_plus).new().to_dense(fill, dtype=A.dtype)


def show(records: list[dict[str, Any]]) -> None:
    """A table of medians, and ratios to bare python-graphblas of the same dtype."""
    table = Table(title=f"mxv(A, x, MinPlus), median milliseconds, {records[0]['machine']}, {records[0]['date']}")
    table.add_column("")
    for record in records:
        table.add_column(f"{record['matrix']} ({record['nnz']:,} entries)", justify="right")
        table.add_column("to bare", justify="right")
    for name in records[0]["milliseconds"]:
        row = [name]
        for record in records:
            times = record["milliseconds"]
            base = times["bare float32" if "float32" in name else "bare int32"]
            row += [f"{times[name]:.1f}", f"{times[name] / base:.2f}"]
        table.add_row(*row)
    Console().print(table)
