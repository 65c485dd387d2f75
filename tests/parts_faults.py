"""What goes wrong on one participant, at a step, and what the others say of it.

    mpirun -n 3 python -m tests.parts_faults search FOLDER stop 1 9     rank 1 stops before step 9 of a search
    python -m tests.parts_faults --runs 200                             so many seeded runs, each of which is resumed
    python -m tests.parts_faults --runs 20 --device cuda                by two processes with a GPU each

A run is right if it ends soon after the time-out, if what it prints names the participant, and if a search by one
process fewer goes on from what was saved, to the bits of a search by one process. On GPUs nothing is saved, so that the
search by one process begins anew.
"""

from __future__ import annotations

import argparse
import functools
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from algorithms import checkpoints, sssp
from algorithms.fused.parts import search
from algorithms.fused.parts.many_sources import by_all
from bench.graphs import rmat
from formats import CSR, partition
from formats.arrays import to_device
from formats.parts.group import Group

OPEN_MPI = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
}
"""What it asks for where it is root who runs the tests, or there are fewer cores than processes."""

TIMEOUT = {"cpu": 0.7, "cuda": 8.0}
"""Seconds, by device: on GPUs one process may compile for longer than the other."""
FAULTS = {
    "kill": (
        r"has ended before step|Exit codes: \[[^]]*\] {codes}$|process rank {who} with PID[\s\S]{{0,120}}signal 9"
    ),
    "stop": r"rank {who} did not come to step \d+ \(.*\) within [\d.]+ s|rank {who} \(process \d+\) is stopped",
    "raise": r"^ValueError: injected on rank {who}",
    "size": r"rank {who} came to step \d+ .*and rank|and rank {who} to step|rank {who} brought 13 bytes",
    "interrupt": r"^KeyboardInterrupt",
    "other": r"rank {who} differs from rank 0 in its matrix",
}
"""What is printed where a participant ends so; `who` is its rank, `codes` the exit codes of all, 9 of it."""


def graph() -> CSR:
    return rmat(9, edge_factor=4, dtype=np.int32, high=1000)


def run(folder: str, fault: str, who: int, step: int, device: str = "cpu") -> None:
    """A search in all processes; the answer is a file if there is one."""
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
                    raise ValueError(f"injected on rank {who}")
                case "interrupt":
                    raise KeyboardInterrupt
                case "size":
                    mine = np.zeros(13, np.uint8)
        return begin(self, what, mine, state)

    Group._begin = faulty  # type: ignore[method-assign]
    search.WORTH, search.STEPS = 0, 1 << 30
    A = graph()
    own = A.astype(float) if fault == "other" and comm.Get_rank() == who else A
    P = partition(own, comm, timeout=TIMEOUT[device]).to(device=device)
    with checkpoints(folder, every=0, resume=True) if device == "cpu" else by_all():
        d = sssp(P, 3)
    if device != "cpu":
        P.group.told("answers", None)  # the other one may have failed in the kernel
    if comm.Get_rank() == 0:
        np.save(f"{folder}/answer.npy", to_device(d, "cpu"))
        print("steps", P.group.steps)


def named(fault: str, ranks: int, who: int, text: str) -> bool:
    """Does what was printed name the participant?"""
    codes = ",".join("9" if rank == who else r"\d+" for rank in range(ranks))
    return re.search(FAULTS[fault].format(who=who, codes=codes), text, re.MULTILINE) is not None


@functools.cache
def launcher() -> list[str]:
    """`mpirun`; MPICH's tells by which codes the processes ended."""
    here = Path(sys.executable).parent / "mpirun"
    command = str(here) if here.exists() else "mpirun"
    about = subprocess.run([command, "--version"], capture_output=True, text=True).stdout
    return [command, "-print-all-exitcodes"] if "HYDRA" in about else [command]


def launched(ranks: int, folder: str, fault: str, who: int, step: int, device: str = "cpu") -> tuple[float, int, str]:
    """(seconds, exit code, all that was printed) of a run."""
    command = [*launcher(), "-n", str(ranks), sys.executable]
    command += ["-m", "tests.parts_faults", "search", folder, fault, str(who), str(step), device]
    start, how = time.monotonic(), {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    limits = {"cpu": 60, "cuda": 180}
    where: Any = {"cwd": Path(__file__).parents[1], "env": os.environ | OPEN_MPI, "timeout": limits[device]}
    done = subprocess.run(command, **how, **where)
    return time.monotonic() - start, done.returncode, done.stdout


def storm(runs: int, seed: int, faults: list[str], device: str = "cpu") -> None:
    """Many runs with faults, each followed by one without; ends with what has come of them."""
    draw, expected, seen, slowest = random.Random(seed), sssp(graph(), 3), Counter[str](), 0.0
    for number in range(runs):
        ranks, fault, step = draw.randint(2, 4), draw.choice(faults), draw.randint(3, 40)
        ranks = ranks if device == "cpu" else 2
        who = draw.randrange(ranks)
        with tempfile.TemporaryDirectory() as folder:
            seconds, code, text = launched(ranks, folder, fault, who, step, device)
            slowest = max(slowest, seconds)
            if code == 0:
                seen["had ended before"] += 1
            elif not named(fault, ranks, who, text):
                seen["not named"] += 1
                print(f"run {number}: {fault} of rank {who} of {ranks} before step {step}:\n{text}", flush=True)
            else:
                seen[f"{fault}, named"] += 1
            saved = os.path.exists(f"{folder}/distances.npz")
            _, code, text = launched(ranks - 1, folder, "none", 0, 0, device)
            right = code == 0 and np.array_equal(np.load(f"{folder}/answer.npy"), expected)
            seen[("resumed" if saved else "begun anew") + (", right" if right else ", wrong")] += 1
            if not right:
                print(f"run {number}, resumed by {ranks - 1}: {code}\n{text}", flush=True)
    print(f"{runs} runs, seed {seed}: {dict(seen)}, the longest took {slowest:.1f} s", flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "search":
        run(sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]), *sys.argv[6:])
    else:
        words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
        words.add_argument("--runs", type=int, default=20)
        words.add_argument("--seed", type=int, default=0)
        words.add_argument("--faults", nargs="+", default=["kill", "stop"], choices=FAULTS)
        words.add_argument("--device", default="cpu", choices=TIMEOUT)
        asked = words.parse_args()
        storm(asked.runs, asked.seed, asked.faults, asked.device)
