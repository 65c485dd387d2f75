"""DA2CF's implementations on the graphs of Martín, Torres and Gavilanes: milliseconds and iterations.

Every vertex has 7 predecessors, and weights are the integers 1 to 10. `F_GPU_no_Atomic` is measured, and is WRONG: its
threads store what they have computed without looking whether a smaller value came between. It is in the paper to show
what atomics cost, and here for the same reason; how many of its distances are wrong is printed beside its time.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from algorithms import VARIANTS, bellman_ford, da2cf, trace
from formats import CSR
from formats.arrays import Device, cupy, to_device
from semiring import MinPlus, reduce
from semiring.vectors import densified, entries_equal, full, unit

from .graphs import uniform
from .measure import json_line, machine, timed

DEGREE, HEAVIEST = 7, 10
NO_ATOMIC = "F_GPU_no_Atomic (wrong)"
SOURCE = """
extern "C" __global__ void relax_without_atomics(const int* frontier, int count, const int* indptr, const int* indices,
                                                 const int* weights, const bool* resolved, int distance, int* q) {
    for (int f = blockIdx.x * blockDim.x + threadIdx.x; f < count; f += gridDim.x * blockDim.x) {
        const int i = frontier[f];
        for (int e = indptr[i]; e < indptr[i + 1]; ++e) {
            const int j = indices[e], length = distance + weights[e];
            if (!resolved[j] && length < q[j]) q[j] = length;  // another thread may store between the two
        }
    }
}
"""


def run(
    millions: int = 11, repeats: int = 3, device: Device = "cuda", names: list[str] | None = None
) -> list[dict[str, Any]]:
    """Time implementations on n = millions · 2^20, verified against Bellman-Ford's method.

    names: by default all that the device allows.  Prints a table and a JSON line, and returns the record.
    """
    for name in names or ():
        if name not in VARIANTS:
            raise ValueError(f"unknown implementation {name!r}; there are {', '.join(VARIANTS)}")
        if device == "cpu" and "cuda" in _devices(name):
            raise ValueError(f"{name} needs a GPU: say --device cuda")
    A = predecessors(millions << 20, device)
    right = to_device(bellman_ford(A, 0), "cpu")
    with trace() as t:
        da2cf(A, 0)
    seconds: dict[str, float] = {}
    for name in names or VARIANTS:
        where = _devices(name)
        if device == "cpu" and "cuda" in where:
            continue
        M = A.to(device="cpu") if where == {"cpu"} else A
        solve = _solver(M, name)
        if not (to_device(solve(), "cpu") == right).all():
            raise AssertionError(f"{name} computes something else: it is not timed")
        seconds[name] = timed(solve, repeats, device)
    wrong = 0
    if device == "cuda":
        wrong = int((f_gpu_no_atomic(A, 0).get() != right).sum())
        seconds[NO_ATOMIC] = timed(lambda: f_gpu_no_atomic(A, 0), repeats, device)
    record = machine(device) | {
        "n": A.nrows,
        "nnz": A.nnz,
        "iterations": len(t.rounds),
        "milliseconds": {name: round(s * 1e3, 3) for name, s in seconds.items()},
        "wrong_without_atomics": wrong,
    }
    show(record)
    print(json_line(record))
    return [record]


def predecessors(n: int, device: Device) -> CSR:
    """A graph in which every vertex draws 7 predecessors: a vertex's own list of successors is of any length."""
    drawn: Any = uniform(n, DEGREE, high=HEAVIEST, dtype=np.int32, device=device).T
    A: Any = drawn.to(CSR)
    return A


def f_gpu_no_atomic(A: CSR, source: int) -> Any:
    """The paper's F_GPU_no_Atomic, for measuring only. Its distances may be WRONG. Weights and indices are int32."""
    if {A.dtype, A.indptr.dtype, A.indices.dtype} != {np.dtype(np.int32)}:
        raise TypeError(f"the kernel takes int32, got values of {A.dtype} and indices of {A.indices.dtype}")
    s, cp = MinPlus, cupy()
    q = densified(unit(A, source, s), s)
    d, resolved = full(q, s.zero(q.dtype), q.dtype), full(q, False, bool)
    while (nearest := reduce(q, s)) != s.zero(q.dtype):
        f = entries_equal(q, nearest)
        d[f.indices], q[f.indices], resolved[f.indices] = nearest, s.zero(q.dtype), True
        blocks = min(-(-f.nnz // 256), 8 * cp.cuda.Device().attributes["MultiProcessorCount"])
        arguments = (f.indices, np.int32(f.nnz), A.indptr, A.indices, A.values, resolved, np.int32(nearest), q)
        _relax()((blocks,), (256,), arguments)
    return d


@cache
def _relax() -> Any:
    return cupy().RawKernel(SOURCE, "relax_without_atomics")


def _devices(name: str) -> set[Device]:
    """Where the implementation runs."""
    plan = VARIANTS[name]
    return {plan.relax_on, plan.minimum_on, plan.update_on}


def _solver(A: CSR, variant: str) -> Callable[[], Any]:
    return lambda: da2cf(A, 0, variant=variant, fused=False)


def show(record: dict[str, Any]) -> None:
    """A table of the implementations, fastest first."""
    place = record.get("gpu", record["machine"])
    title = f"DA2CF, n = {record['n']:,}, {record['iterations']} iterations, median ms, {place}, {record['date']}"
    table = Table(title=title)
    table.add_column("")
    table.add_column("milliseconds", justify="right")
    for name, milliseconds in sorted(record["milliseconds"].items(), key=lambda item: item[1]):
        table.add_row(name, f"{milliseconds:,.1f}")
    console = Console()
    console.print(table)
    if NO_ATOMIC in record["milliseconds"]:
        console.print(f"without atomics, {record['wrong_without_atomics']:,} distances were wrong in the first run")
