"""Signals that raise, in first calls, for which kernels are compiled or loaded, and in long calls.

Each case is a process of its own, in which a signal comes at a random time of a first call. The call raises
KeyboardInterrupt, or is done; every later call is right, and nothing is said on stderr.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import writable

FIRST_CALL = """
import os, signal, sys, threading
import numpy as np
from formats import from_edges, from_scipy, read
from semiring import MONOIDS, BinaryOp, Semiring, mxm, mxv
from algorithms import sssp, pagerank

signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGALRM, signal.default_int_handler)
rng = np.random.default_rng(5)
n, m = 300, 3000
A = from_edges(rng.integers(0, n, m), rng.integers(0, n, m), rng.integers(1, 9, m).astype(float), shape=(n, n))
D, x = A.to_dense(np.inf), rng.integers(0, 9, n).astype(float)
nearest = Semiring(MONOIDS["min"], BinaryOp("absdiff", scalar=lambda a, b: abs(a - b)))
CALLS = {
    "plus_times": (lambda: A @ x, lambda: A.to_dense(0) @ x),
    "min_max": (lambda: mxv(A.to("ell"), x, "min_max"), lambda: np.maximum(D, x).min(axis=1)),
    "own": (lambda: mxv(A, x, nearest), lambda: np.abs(D - x).min(axis=1)),
    "mxm": (lambda: mxm(A, A, "min_plus").to_dense(np.inf), lambda: (D[:, :, None] + D).min(axis=1)),
    "sssp": (lambda: sssp(A, 0), lambda: relaxed()),
}


def relaxed():
    d = np.where(np.arange(n) == 0, 0.0, np.inf)
    for _ in range(n):
        d = np.minimum(d, (d[:, None] + D).min(axis=0))
    return d


name, seconds, kind = sys.argv[1], float(sys.argv[2]), sys.argv[3]
said = "done"
try:
    if kind == "SIGALRM":
        signal.setitimer(signal.ITIMER_REAL, seconds)
    else:
        threading.Timer(seconds, os.kill, [os.getpid(), signal.SIGINT]).start()
    CALLS[name][0]()
    threading.Event().wait(seconds + 1)
except KeyboardInterrupt:
    said = "interrupted"
for each in (name, "plus_times" if name != "plus_times" else "min_max", name):
    ours, theirs = CALLS[each]
    np.testing.assert_allclose(ours(), theirs(), err_msg=each)
print(said)
"""
CALLS = {"plus_times": 1.2, "min_max": 1.5, "own": 2.0, "mxm": 2.5, "sssp": 4.0}
"""Seconds that a first call takes, roughly, where nothing is kept."""


def interrupted(seed: int, cache: Path | None) -> subprocess.CompletedProcess[str]:
    """A process in which a signal comes as a seed says, with an empty cache, or with the user's."""
    draw = random.Random(seed)
    name, kind = draw.choice(list(CALLS)), draw.choice(["SIGINT", "SIGALRM"])
    seconds = draw.random() * CALLS[name] * (1 if cache else 0.2)
    kept = {} if cache is None else {"NUMBA_CACHE_DIR": str(cache)}
    command = [sys.executable, "-c", FIRST_CALL, name, f"{seconds + 0.001}", kind]
    return subprocess.run(
        command, capture_output=True, text=True, env=os.environ | kept, cwd=Path(__file__).parents[1], timeout=120
    )


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("cached", [False, True])
def test_after_an_interrupted_first_call_every_call_is_right(seed, cached, tmp_path):
    done = interrupted(seed, None if cached and not writable(tmp_path) else tmp_path)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr[-2000:]
    assert done.stdout in ("interrupted\n", "done\n")


LONG_CALL = """
import os, signal, sys, threading, time
import numpy as np
from formats import from_edges
import algorithms as al

signal.signal(signal.SIGINT, signal.default_int_handler)
rng = np.random.default_rng(5)
n = 60_000
ends = rng.integers(0, n, (2, 10 * n))
A = from_edges(*ends, rng.integers(1, 100, 10 * n).astype(float), shape=(n, n))
few = from_edges([0, 1, 2], [1, 2, 0], [1.0, 2.0, 3.0])
side = np.arange(300 * 300).reshape(300, 300)
across, down = np.stack([side[:, :-1], side[:, 1:]]), np.stack([side[:-1], side[1:]])
ways = np.concatenate([across.reshape(2, -1), down.reshape(2, -1)], axis=1)
grid = from_edges(*np.concatenate([ways, ways[::-1]], axis=1), shape=300 * 300)
CALLS = {
    "betweenness": lambda A: al.betweenness_centrality(A),
    "weighted betweenness": lambda A: al.betweenness_centrality(A, weighted=True),
    "closeness": lambda A: al.closeness_centrality(A, weighted=True),
    "many": lambda A: al.sssp(A, sources=list(range(min(3000, A.nrows)))),
    "grid": lambda A: al.betweenness_centrality(grid if A.nrows > 9 else few),
}
for name in sys.argv[1:]:
    CALLS[name](few)
    threading.Timer(0.7, os.kill, [os.getpid(), signal.SIGINT]).start()
    begin = time.perf_counter()
    try:
        CALLS[name](A)
        print(name, "was done")
    except KeyboardInterrupt:
        raised = time.perf_counter() - begin
        time.sleep(1)
        busy = sum(os.times()[:2])
        time.sleep(0.5)
        on = sum(os.times()[:2]) - busy
        print(name, "goes on" if on > 0.1 else "has ended", "" if raised < 2 else raised)
"""


def test_nothing_goes_on_after_an_interrupted_call():
    names = ["betweenness", "weighted betweenness", "closeness", "many", "grid"]
    command = [sys.executable, "-c", LONG_CALL, *names]
    done = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[1], timeout=120)
    assert done.stderr == ""
    assert done.stdout.split("\n")[:-1] == [f"{name} has ended " for name in names]


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(100, 300))
def test_two_hundred_interrupts_break_nothing(seed, tmp_path):
    test_after_an_interrupted_first_call_every_call_is_right(seed, seed % 4 == 0, tmp_path)
