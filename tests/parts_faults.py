"""What goes wrong on one participant, at a step, and what the others say of it.

    mpirun -n 3 python -m tests.parts_faults search FOLDER stop 1 9     rank 1 stops before step 9 of a search
    python -m tests.parts_faults --runs 200                             so many seeded runs, each of which is resumed
    python -m tests.parts_faults --device cuda --seconds 500            by two processes with a GPU each, in pairs

A run is right if it ends soon after the time-out, if what it prints names the participant, and if a search by one
process fewer goes on from what was saved, to the bits of a search by one process. A line tells of each run as it ends.
A search without faults comes first, so that kernels are compiled, and so that it is known how many steps there are.
"""

from __future__ import annotations

import argparse
import functools
import os
import queue
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from algorithms import checkpoints, sssp
from algorithms.fused.parts import paths_on_gpus, search
from bench.graphs import rmat
from formats import CSR, partition
from formats.arrays import cupy, to_device
from formats.parts import group
from formats.parts.group import Group

OPEN_MPI = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
}
"""What it asks for where it is root who runs the tests, or there are fewer cores than processes."""

TIMEOUT = {"cpu": 0.7, "cuda": 8.0}
"""Seconds, by device: on GPUs one process may load kernels for longer than the other."""
LIMIT = {"cpu": 60.0, "cuda": 120.0}
"""Seconds after which a run has hung, and is ended."""
LAST = {"cpu": 40}
"""The last step at which a fault comes; on GPUs the last there is."""
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
    search.MIN_EXCHANGE_EDGES, search.MIN_EXCHANGES = 0, 1 << 30
    A = graph()
    own = A.astype(float) if fault == "other" and comm.Get_rank() == who else A
    patience = group.TIMEOUT if fault == "none" else TIMEOUT[device]  # without a fault all come, however late
    P = partition(own, comm, timeout=patience).to(device=device)
    paths_on_gpus.STEPS_BETWEEN_SAVES = 2
    with checkpoints(folder, every=0, resume=True):
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


def launched(
    ranks: int,
    folder: str,
    fault: str,
    who: int,
    step: int,
    device: str = "cpu",
    limit: float | None = None,
    gpus: str = "",
) -> tuple[float, int, str]:
    """(seconds, exit code, all that was printed) of a run.

    limit: seconds after which all its processes are killed.  gpus: their numbers, of which it is to know.
    """
    command = [*launcher(), "-n", str(ranks), sys.executable]
    command += ["-m", "tests.parts_faults", "search", folder, fault, str(who), str(step), device]
    limit, start = limit or LIMIT[device], time.monotonic()
    where: Any = {"cwd": Path(__file__).parents[1], "env": os.environ | OPEN_MPI, "start_new_session": True}
    if gpus:
        where["env"] |= {"CUDA_VISIBLE_DEVICES": gpus}
    with tempfile.TemporaryFile("w+") as printed:  # a pipe stays open for as long as a stopped process has it
        process = subprocess.Popen(command, stdout=printed, stderr=subprocess.STDOUT, **where)
        try:
            process.wait(limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            printed.write(f"\nkilled: it had not ended within {limit:.0f} s")
        printed.seek(0)
        return time.monotonic() - start, process.returncode, printed.read()


@dataclass(frozen=True)
class Fault:
    """What goes wrong in a run."""

    number: int
    kind: str
    ranks: int
    who: int
    step: int

    def __str__(self) -> str:
        return f"run {self.number}, {self.kind} of rank {self.who} of {self.ranks} before step {self.step}"


def drawn(runs: int, seed: int, kinds: list[str], device: str, last: int) -> list[Fault]:
    """So many faults."""
    draw, faults = random.Random(seed), []
    for number in range(runs):
        ranks, kind, step = draw.randint(2, 4), draw.choice(kinds), draw.randint(3, last)
        ranks = ranks if device == "cpu" else 2
        faults.append(Fault(number, kind, ranks, draw.randrange(ranks), step))
    return faults


def outcome(fault: Fault, device: str, gpus: str, expected: Any) -> tuple[list[str], str]:
    """(what came of a run with a fault, and of one by one process fewer; what was printed if that is wrong)."""
    with tempfile.TemporaryDirectory() as folder:
        how, wrong = {"device": device, "gpus": gpus}, ""
        seconds, code, text = launched(fault.ranks, folder, fault.kind, fault.who, fault.step, **how)  # type: ignore[arg-type]
        if code == 0:
            came = ["had ended before"]
        elif named(fault.kind, fault.ranks, fault.who, text):
            came = [f"{fault.kind}, named"]
        else:
            came, wrong = ["not named"], text
        saved = os.path.exists(f"{folder}/distances.npz")
        more, code, text = launched(fault.ranks - 1, folder, "none", 0, 0, **how)  # type: ignore[arg-type]
        right = code == 0 and np.array_equal(np.load(f"{folder}/answer.npy"), expected)
        came.append(("resumed" if saved else "begun anew") + (", right" if right else ", wrong"))
        print(f"{fault}: {'; '.join(came)} ({seconds:.1f} s, {more:.1f} s)", flush=True)
    return came, wrong if right else f"{wrong}\n{text}"


def warmed(device: str, expected: Any) -> int:
    """The steps of a search without faults, which compiles all there is to compile."""
    with tempfile.TemporaryDirectory() as folder:
        seconds, code, text = launched(2, folder, "none", 0, 0, device)
        if code != 0 or not np.array_equal(np.load(f"{folder}/answer.npy"), expected):
            sys.exit(f"a search without faults is wrong:\n{text}")
    steps = int(text.rpartition("steps ")[2].split()[0])
    print(f"without faults: {steps} steps, {seconds:.1f} s", flush=True)
    return steps


def storm(runs: int, seed: int, kinds: list[str], device: str, seconds: float) -> bool:
    """Many runs with faults, each followed by one without; what has come of them is printed. Is all right?

    seconds: no run begins that would end later, if it takes as long as the longest before.
    """
    start, expected, seen = time.monotonic(), sssp(graph(), 3), Counter[str]()
    steps, longest, places = warmed(device, expected), [0.0], queue.SimpleQueue[str]()
    pairs = [""] if device == "cpu" else [f"{k},{k + 1}" for k in range(0, cupy().cuda.runtime.getDeviceCount() - 1, 2)]
    for each in pairs:
        places.put(each)

    def one(fault: Fault) -> tuple[list[str], str]:
        gpus, begun = places.get(), time.monotonic()
        try:
            if begun + longest[0] > start + seconds:
                return ["left out"], ""
            return outcome(fault, device, gpus, expected)
        finally:
            longest[0] = max(longest[0], time.monotonic() - begun)
            places.put(gpus)

    with ThreadPoolExecutor(len(pairs)) as threads:
        for came, wrong in threads.map(one, drawn(runs, seed, kinds, device, LAST.get(device, steps))):
            seen.update(came)
            if wrong:
                print(wrong, flush=True)
    print(
        f"{runs} runs, seed {seed}: {dict(seen)}, the longest took {longest[0]:.1f} s with its second search",
        flush=True,
    )
    return not any(word in each for each in seen for word in ("not named", "wrong"))


if __name__ == "__main__":
    if sys.argv[1] == "search":
        run(sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]), *sys.argv[6:])
    else:
        words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
        words.add_argument("--runs", type=int, default=20)
        words.add_argument("--seed", type=int, default=0)
        words.add_argument("--faults", nargs="+", default=["kill", "stop"], choices=FAULTS)
        words.add_argument("--device", default="cpu", choices=TIMEOUT)
        words.add_argument("--seconds", type=float, default=float("inf"), help="begin no run that would end later")
        asked = words.parse_args()
        sys.exit(not storm(asked.runs, asked.seed, asked.faults, asked.device, asked.seconds))
