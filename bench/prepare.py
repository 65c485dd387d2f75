"""What preparing a graph costs, step by step, and what a product gains: renumbering, sorting, reordering, ranks.

Each step is verified before it is timed: undone, it gives the matrix again. What an order is worth is shown by
the bandwidth max |i - j|, by the mean of |i - j| over the entries, and by the time of mxv over min-plus, beside the
graph's own numbering and a random one.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from formats import (
    CSR,
    Matrix,
    by_weight,
    from_ranks,
    inverse_permutation,
    permute,
    read,
    reorder_edges,
    to_ranks,
    vertex_order,
)
from formats.arrays import Array, Device, to_device
from formats.preparation.renumbering import ORDERS
from semiring import MinPlus, mxv

from .graphs import operand, rmat
from .measure import Contender, interleaved, interleaved_on_gpu, json_line, machine, medians_ms, timed

MAX_OPERAND = 100_000
SEGMENT_BYTES = 1 << 16
"""Of reordered edges: what a core's second-level cache and a GPU's shared memory hold several times."""


def run(scale: int = 16, repeats: int = 5, device: Device = "cpu", file: Path | None = None) -> list[dict[str, Any]]:
    """Verify and time every step on R-MAT of 2^scale vertices, or on the graph in a file.

    Prints two tables and a JSON line, and returns the record.  ValueError if the file's matrix is not square.
    """
    A: Any = rmat(scale, device=device) if file is None else read(file).to(CSR, device=device)
    permutations = {by: vertex_order(A, by) for by in ORDERS}
    verify(A, permutations)
    record = machine(device) | {
        "graph": f"R-MAT, scale {scale}" if file is None else file.name,
        "n": A.nrows,
        "nnz": A.nnz,
        "milliseconds": {
            name: round(timed(step, repeats, device) * 1e3, 3) for name, step in steps(A, permutations).items()
        },
        "numberings": numberings(A, permutations, repeats),
    }
    show(record)
    print(json_line(record))
    return [record]


def steps(A: Matrix, permutations: dict[str, Array]) -> dict[str, Callable[[], Any]]:
    """Each step of preparation by its name, to be timed alone."""
    R, weights = to_ranks(A)
    found: dict[str, Callable[[], Any]] = {}
    for by, permutation in permutations.items():
        found[f"order by {by}"] = lambda by=by: vertex_order(A, by)
        found[f"permute by {by}"] = lambda permutation=permutation: permute(A, permutation)
    return found | {
        "neighbours by weight": lambda: by_weight(A),
        "edges by segments": lambda: reorder_edges(A, SEGMENT_BYTES),
        "weights to ranks": lambda: to_ranks(A),
        "ranks to weights": lambda: from_ranks(R, weights),
    }


def verify(A: Matrix, permutations: dict[str, Array]) -> None:
    """AssertionError unless every step can be undone."""
    for by, permutation in permutations.items():
        check(permute(permute(A, permutation), inverse_permutation(permutation)).equals(A), f"permute by {by}")
    near, (_, cols, values) = by_weight(A), A.to_edges()
    back = inverse_permutation(near.order)
    same = bool((near.indices[back] == cols).all()) and bool((near.values[back] == values).all())
    check(same, "neighbours by weight")
    check(reorder_edges(A, SEGMENT_BYTES).equals(A), "edges by segments")
    R, weights = to_ranks(A)
    check(from_ranks(R, weights).equals(A), "ranks to weights")


def check(right: bool, name: str) -> None:
    """AssertionError, which names the step, unless it did right."""
    if not right:
        raise AssertionError(f"{name} cannot be undone: it is not timed")


def numberings(A: Matrix, permutations: dict[str, Array], repeats: int) -> dict[str, dict[str, float]]:
    """For each order, the graph's own and a random one: bandwidth, mean distance and milliseconds of a product.

    On a GPU the milliseconds are the device's, see `measure`.
    """
    own, shuffled = np.arange(A.nrows), np.random.default_rng(1).permutation(A.nrows)
    host = {"as given": own, "random": shuffled}
    orders = {name: to_device(order, A.device) for name, order in host.items()} | permutations
    matrices = {name: permute(A, permutation) for name, permutation in orders.items()}
    x = operand(A.ncols, MAX_OPERAND, device=A.device, dtype=A.dtype)
    y = mxv(A, x, MinPlus)
    contenders = [
        Contender(name, lambda B=B, x=x[orders[name]]: mxv(B, x, MinPlus), y[orders[name]])
        for name, B in matrices.items()
    ]
    if A.device == "cpu":
        times = medians_ms(interleaved(contenders, repeats))
    else:
        times = {name: found["device_ms"] for name, found in interleaved_on_gpu(contenders, repeats).items()}
    return {name: distances(B) | {"mxv_ms": times[name]} for name, B in matrices.items()}


def distances(A: Matrix) -> dict[str, float]:
    """The bandwidth max |i - j| and the mean of |i - j| over the entries."""
    rows, cols, _ = A.to_edges()
    apart = abs(rows - cols)
    return {"bandwidth": int(apart.max()), "mean_distance": round(float(apart.mean()), 1)} if A.nnz else {}


def show(record: dict[str, Any]) -> None:
    """A table of the steps and one of the numberings."""
    place = record.get("gpu", record["machine"])
    about = f"{record['graph']}, {record['nnz']:,} entries, {place}, {record['date']}"
    costs = Table(title=f"Preparation, median ms, {about}")
    costs.add_column("")
    costs.add_column("milliseconds", justify="right")
    for name, milliseconds in record["milliseconds"].items():
        costs.add_row(name, f"{milliseconds:,.2f}")
    effects = Table(title=f"Numberings, {about}")
    effects.add_column("")
    for name in ("bandwidth", "mean |i - j|", "mxv, ms"):
        effects.add_column(name, justify="right")
    for name, found in record["numberings"].items():
        apart = [f"{found[figure]:,}" if figure in found else "–" for figure in ("bandwidth", "mean_distance")]
        effects.add_row(name, *apart, f"{found['mxv_ms']:.3f}")
    for table in (costs, effects):
        Console().print(table)
