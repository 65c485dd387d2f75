"""The program that `bench parts` runs by mpirun: algorithms on a graph in parts, timed between barriers, as JSON.

mpirun -n 2 python -m bench.processes rmat14 11 sssp bfs

Rank 0 prints. The last lines have the times of exchanges, of so many bytes from each process.
"""

from __future__ import annotations

import functools
import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from algorithms import bfs, boruvka, scc, sssp
from algorithms.fused.parts.many_sources import by_all
from bench.graphs import rmat_both_ways
from formats import CSR, Partitioned, partition, read
from semiring import explain

Figures = dict[str, Any]

TASKS: dict[str, Callable[[Any], Any]] = {
    "sssp": lambda A: sssp(A, 0),
    "tree": lambda A: sssp(A, 0, return_parents=True),
    "bfs": lambda A: bfs(A, 0),
    "forest": lambda A: boruvka(A, return_labels=True)[1],
    "components": lambda A: scc(A, weak=True),
}
EXCHANGED = (8, 1 << 12, 1 << 16, 1 << 20, 1 << 23)
"""Bytes that each process brings to the exchanges that are timed."""
EXCHANGES = 64


def graph(name: str) -> CSR:
    """rmat14, say, with weights of int32; or a file."""
    if name.startswith("rmat"):
        return rmat_both_ways(int(name[4:]), dtype=np.int32, high=1 << 16)
    return read(Path(name)).to(CSR)


def alike(found: Any, expected: Any) -> bool:
    """True if the answers have the same bits."""
    both = [x if isinstance(x, tuple) else (x,) for x in (found, expected)]
    return all(map(np.array_equal, *both))


def timed(meet: Callable[[], object], call: Callable[[], object], repeats: int) -> Figures:
    """Milliseconds between two meetings."""
    seconds = []
    for _ in range(repeats):
        meet()
        start = time.perf_counter()
        call()
        meet()
        seconds.append(time.perf_counter() - start)
    low, ms, high = (float(1000 * np.quantile(seconds, share)) for share in (0.25, 0.5, 0.75))
    return {"ms": ms, "low_ms": low, "high_ms": high, "repeats": repeats}


def of_task(comm: Any, task: str, A: CSR, P: Partitioned, repeats: int) -> Iterator[Figures]:
    """A task on the graph in parts; where each process finds the answer alone, on strips, too."""
    found = timed_task(comm, task, A, P, repeats)
    yield found
    if comm.Get_size() > 1 and not found["steps"]:
        with by_all():
            yield {"strips": True} | timed_task(comm, task, A, P, repeats)


def timed_task(comm: Any, task: str, A: CSR, P: Partitioned, repeats: int) -> Figures:
    """A task on the graph in parts, whose answer every process compares with that on the whole one."""
    call = TASKS[task]
    expected = call(A)
    right = all(comm.allgather(alike(call(P), expected)))
    steps, sent = P.group.steps, P.group.sent
    found = timed(comm.Barrier, lambda: call(P), repeats)
    each = {"steps": (P.group.steps - steps) / repeats, "sent_bytes": (P.group.sent - sent) / repeats}
    told = explain(call, P).runs[0].details
    edges = max(comm.allgather(int(told.get("busiest", told.get("edges", 0)))))
    return {"task": task, "verified": right} | found | each | {"busiest_edges": edges}


def exchanges(comm: Any, P: Partitioned) -> Iterator[Figures]:
    """Times a step that exchanges so many bytes from each process."""
    for size in EXCHANGED:
        own = np.full(size, comm.Get_rank(), np.uint8)
        received = P.group.everyone("exchange", own)
        right = all(bool((each == rank).all()) for rank, each in enumerate(received))
        found = timed(lambda: None, functools.partial(P.group.everyone, "exchange", own), EXCHANGES)
        yield {"task": f"exchange of {size} bytes", "verified": right, "sent_bytes": size} | found


def main(name: str, repeats: int, *tasks: str) -> None:
    from mpi4py import MPI

    comm, A = MPI.COMM_WORLD, graph(name)
    P = partition(A, comm)
    known = {"n": A.nrows, "nnz": A.nnz}
    rows = [row for task in tasks for row in of_task(comm, task, A, P, repeats)]
    rows += exchanges(comm, P) if comm.Get_size() > 1 else []
    if comm.Get_rank() == 0:
        print("\n".join(json.dumps(known | row) for row in rows), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])
