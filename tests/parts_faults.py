"""What goes wrong on one participant, at a step: `mpirun -n 3 python -m tests.parts_faults stop 1 9`."""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

import numpy as np

from algorithms import bfs
from bench.graphs import rmat
from formats import partition
from formats.parts.group import Group

TIMEOUT = 1.0


def main(fault: str, who: int, step: int) -> None:
    from mpi4py import MPI

    comm, begin = MPI.COMM_WORLD, Group._begin

    def faulty(self: Group, what: str, mine: Any, state: int) -> Any:
        if comm.Get_rank() == who and self.steps == step:
            match fault:
                case "kill":
                    os.kill(os.getpid(), signal.SIGKILL)
                case "stop":
                    os.kill(os.getpid(), signal.SIGSTOP)
                case "raise":
                    raise ValueError("injected")
                case "interrupt":
                    raise KeyboardInterrupt
                case "size":
                    mine = np.zeros(13, np.uint8)
        return begin(self, what, mine, state)

    Group._begin = faulty  # type: ignore[method-assign]
    other = fault == "other" and comm.Get_rank() == who
    P = partition(rmat(7, dtype=np.float64 if other else np.int32, high=9), comm, timeout=TIMEOUT)
    for source in range(40):
        bfs(P, source, fused=False)
    print("all is done")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
