"""What `bench parts` runs by mpirun: an algorithm on a graph in parts, timed between barriers, as JSON from rank 0.

mpirun -n 2 python -m bench.processes rmat14 sssp 11
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from algorithms import bfs, boruvka, scc, sssp
from bench.graphs import rmat_both_ways
from formats import CSR, partition, read
from semiring import explain

TASKS: dict[str, Callable[[Any], Any]] = {
    "sssp": lambda A: sssp(A, 0),
    "tree": lambda A: sssp(A, 0, return_parents=True),
    "bfs": lambda A: bfs(A, 0),
    "forest": lambda A: boruvka(A, return_labels=True)[1],
    "components": lambda A: scc(A, weak=True),
}


def graph(name: str) -> CSR:
    """rmat14, say, with weights of int32; or a file."""
    if name.startswith("rmat"):
        return rmat_both_ways(int(name[4:]), dtype=np.int32, high=1 << 16)
    return read(Path(name)).to(CSR)


def alike(found: Any, expected: Any) -> bool:
    """Have the answers the same bits?"""
    both = [x if isinstance(x, tuple) else (x,) for x in (found, expected)]
    return all(map(np.array_equal, *both))


def main(name: str, task: str, repeats: int) -> None:
    from mpi4py import MPI

    comm, A, call = MPI.COMM_WORLD, graph(name), TASKS[task]
    P, expected = partition(A, comm), call(A)
    right = alike(call(P), expected)
    seconds, steps, sent = [], P.group.steps, P.group.sent
    for _ in range(repeats):
        comm.Barrier()
        start = time.perf_counter()
        call(P)
        comm.Barrier()
        seconds.append(time.perf_counter() - start)
    steps, sent = P.group.steps - steps, P.group.sent - sent
    small = np.zeros(8, np.int64)
    waits = []
    for _ in range(64 * (P.group.size > 1)):
        start = time.perf_counter()
        P.group.everyone("nothing", small)
        waits.append(time.perf_counter() - start)
    right = all(comm.allgather(right))
    edges = max(comm.allgather(int(explain(call, P).runs[0].facts.get("edges", 0))))
    if comm.Get_rank() == 0:
        low, ms, high = (float(1000 * np.quantile(seconds, share)) for share in (0.25, 0.5, 0.75))
        each = {"steps": steps / repeats, "sent_bytes": sent / repeats, "busiest_edges": edges}
        found = {"verified": right, "ms": ms, "low_ms": low, "high_ms": high, "repeats": repeats, **each}
        found["step_us"] = float(1e6 * np.median(waits)) if waits else 0.0
        print(json.dumps(found | {"n": A.nrows, "nnz": A.nnz}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
