"""The communicator of the processes a launcher has started: `mpirun`, or one that sets variables as `torchrun` does."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

COUNTS = ("PMI_SIZE", "OMPI_COMM_WORLD_SIZE")
"""Where the launchers of MPICH and Open MPI tell how many processes they have started."""
VARIABLES = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
"""Where `torchrun` and its like tell who a process is, and where the first one listens."""
PATIENCE, PAUSE = 60.0, 0.02
"""Seconds in which the first process must be there, and between two looks."""


def started_together(environment: Mapping[str, str] = os.environ) -> bool:
    """True if a launcher has started several processes, of which this is one."""
    return by_mpi(environment) or by_variables(environment)


def by_mpi(environment: Mapping[str, str]) -> bool:
    """True if that was `mpirun`."""
    return any(environment.get(name, "1") not in ("", "0", "1") for name in COUNTS)


def by_variables(environment: Mapping[str, str]) -> bool:
    """True if it was one that sets the variables."""
    return all(environment.get(name) for name in VARIABLES) and environment["WORLD_SIZE"] not in ("0", "1")


def communicator() -> Any:
    """The mpi4py communicator of all processes that a launcher has started together.

    `mpirun` starts MPI's processes itself. Of `torchrun`, or any launcher that sets RANK, WORLD_SIZE, MASTER_ADDR and
    MASTER_PORT, the processes find each other at the port behind MASTER_PORT, and MPICH then connects them.

    Returns:
        `MPI.COMM_WORLD`, as `partition` and `read` take it.

    Raises:
        ValueError: mpi4py is not installed, or was imported before; or the MPI is not MPICH, which needs `mpirun`.

    Example:
        >>> from importlib.util import find_spec
        >>> from formats import communicator
        >>> comm = communicator() if find_spec("mpi4py") else None
        >>> comm.Get_size() if comm else 1  # where no launcher has started more
        1
    """
    joins = by_variables(os.environ) and not by_mpi(os.environ)
    size = int(os.environ["WORLD_SIZE"]) if joins else 0
    if joins:
        if "mpi4py.MPI" in sys.modules and sys.modules["mpi4py.MPI"].COMM_WORLD.Get_size() != size:
            raise ValueError("mpi4py.MPI was imported before communicator(), which tells it where the others are")
        join(os.environ)
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        raise ValueError("several processes were started, and they need mpi4py: pip install 'semiring[mpi]'") from error
    comm = MPI.COMM_WORLD
    if joins and comm.Get_size() != size:
        raise ValueError(
            f"{MPI.Get_library_version().split(',')[0].strip()} finds {comm.Get_size()} of {size} processes: "
            "without MPICH start them by mpirun"
        )
    return comm


def join(environment: Any) -> None:
    """Tell MPICH where the table is by which processes find each other (`rendezvous`); the first one starts it."""
    if "PMI_PORT" in environment:
        return
    rank, size, host, port = (environment[name] for name in VARIABLES)
    there = int(port) + 1
    if rank == "0":
        command = [sys.executable, "-IS", str(Path(__file__).with_name("rendezvous.py")), str(there), size]
        table = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        if table.stdout is None or table.stdout.readline() != "open\n":
            raise ValueError(f"port {there}, behind MASTER_PORT, is not free")
    wait_for(host, there)
    environment.update(PMI_PORT=f"{host}:{there}", PMI_ID=rank)


def wait_for(host: str, port: int) -> None:
    """Until somebody listens there. ValueError if nobody comes."""
    end = time.monotonic() + PATIENCE
    while True:
        with socket.socket() as probe:
            if probe.connect_ex((host, port)) == 0:
                return
        if time.monotonic() > end:
            raise ValueError(f"the first process does not listen at {host}:{port} after {PATIENCE:g} s")
        time.sleep(PAUSE)
