"""The command line in several processes: `mpirun -n 4 semiring sssp FILE --source 1`.

Every process runs the command, on a strip of the graph each. The first one prints and writes; the others are silent.
"""

from __future__ import annotations

import functools
import os
import sys
import time
from typing import Any

from formats import Matrix, Partitioned, communicator, partition
from formats.parts.launchers import started_together

MOMENT = 0.2
"""Seconds between the processes' ends after an error, so that the first one is heard."""

IN_PARTS = ("sssp", "bfs", "scc", "mst", "demo")
"""The commands that several processes share; of the others the first one does all."""


def world() -> Any:
    """The communicator of the processes that share this command; None for one that works alone."""
    return _started() if sys.argv[1:2] and sys.argv[1] in IN_PARTS else None


@functools.cache
def _started() -> Any:
    """The communicator of all processes; None for one. ValueError if mpi4py is not installed."""
    return communicator() if started_together() else None


def speaks() -> bool:
    """Returns True if this process prints, and writes files."""
    comm = _started()
    return comm is None or comm.Get_rank() == 0


def be_silent_unless_first() -> None:
    """Lets only the first of several processes speak; those that have nothing to do end."""
    if speaks():
        return
    if world() is None:
        sys.exit(0)
    sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  # for the rest of the process


def end_all() -> None:
    """After an error that was told, let no other process wait for this one: it has a moment to tell its own."""
    if (comm := _started()) is not None:
        sys.stderr.flush()
        time.sleep(MOMENT * comm.Get_rank())
        comm.Abort(2)


def shared(A: Matrix, format: str, device: Any, **options: Any) -> Matrix:
    """The graph in a format; of several processes in strips, one for each."""
    comm = world()
    if comm is None:
        return A.to(format, device=device, **options)
    if device not in ("cpu", "cuda"):
        raise ValueError(f"several processes compute on cpu, or with a GPU for each on cuda, got --device {device}")
    P = A if isinstance(A, Partitioned) else partition(A, comm)
    return P.with_parts([part.to(format, **options) for part in P.parts]).to(device=device)


def computed_in(A: Matrix) -> str:
    """Returns in words what a graph is computed in."""
    if not isinstance(A, Partitioned):
        return f"{type(A).__name__} on {A.device}"
    several = f"{A.group.size} processes" if A.group.size > 1 else f"{len(A.parts)} parts"
    return f"{type(A.parts[0]).__name__} on {A.device}, {several}"
