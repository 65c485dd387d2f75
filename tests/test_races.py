"""Races: by any number of threads every engine gives the bits that one thread gives, on thousands of random graphs.

Thresholds that keep small graphs from threads are taken down, so that these are shared, too. The pool counts the work
that its threads begin: an engine that none of them works for is not tested here, and fails.
"""

from __future__ import annotations

import os
import pkgutil
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import algorithms as al
import algorithms.fused.cpu
import semiring.cpu
from formats import CSC, CSR, Matrix, from_edges
from semiring import BinaryOp, MinPlus, PlusTimes, Semiring, mxm, mxv, vxm
from semiring.cpu import crew, suitesparse, threads
from semiring.cpu.pool import Pool, Task

from .conftest import writable
from .fuzzing import SEED

COUNTS = (1, 2, 4, 8)
THRESHOLDS = re.compile(r"(MIN_(\w+_)?(THREADS|(?<!MEAN_)NNZ|WORK|EDGES|VERTICES)(_FOR_\w+)?)|LARGE_EDGES")
"""Numbers of modules below which work is left to one thread, or to a loop that has no other."""
PACKAGES = (semiring.cpu, algorithms.fused.cpu)
OWN = Semiring(MinPlus.add, BinaryOp("absdiff", scalar=lambda a, b: abs(a - b), cuda="a < b ? b - a : a - b"))
"""A semiring that SuiteSparse has not."""
LARGE_EVERY = 25
"""Cases of which one is so large that threads meet within its loops; in the others they seldom do."""

Engine = Callable[[CSR, list[int]], Any]
ENGINES: dict[str, Engine] = {
    "sssp": lambda A, some: al.sssp(A, some[0], return_parents=True),
    "sssp, batch": lambda A, some: al.sssp(A, sources=some, return_parents=True),
    "bfs": lambda A, some: al.bfs(A, some[0], return_parents=True),
    "bfs, pull": lambda A, some: al.bfs(A, some[0], direction="pull"),
    "bfs, batch": lambda A, some: al.bfs(A, sources=some, return_parents=True),
    "weak": lambda A, some: al.scc(A, weak=True),
    "scc": lambda A, some: al.scc(A),
    "boruvka": lambda A, some: al.boruvka(A, symmetrize=True),
    "core_number": lambda A, some: al.core_number(A, symmetrize=True),
    "triangles": lambda A, some: al.triangles(A, symmetrize=True),
    "label_propagation": lambda A, some: al.label_propagation(A),
    "betweenness": lambda A, some: al.betweenness_centrality(A, sources=some),
    "closeness": lambda A, some: al.closeness_centrality(A, vertices=some),
    "pagerank": lambda A, some: al.pagerank(A),
    "mxv": lambda A, some: mxv(A, floats(A), OWN),
    "mxv, SELL": lambda A, some: mxv(A.to("sell"), floats(A), PlusTimes),
    "mxm": lambda A, some: mxm(A, A, OWN),
}
OF_SUITESPARSE: dict[str, Engine] = {
    "components": lambda A, some: al.components(A),
    "mxv, CSR": lambda A, some: mxv(A, floats(A), PlusTimes),
    "mxv, CSC": lambda A, some: mxv(A.to(CSC), floats(A), PlusTimes),
    "vxm, CSR": lambda A, some: vxm(floats(A), A, PlusTimes),
}
"""Those that it computes, by threads of its own."""


def floats(A: Matrix) -> np.ndarray:
    """A vector of numbers whose sums are rounded, if A's are floats."""
    return np.sqrt(np.arange(A.ncols)).astype(A.dtype)


class Counting(Pool):
    """A pool that counts what its threads have begun."""

    begun: Counter[str] = Counter()
    engine = ""

    def submit(self, work: Callable[[], object]) -> Task:
        def counted() -> None:
            Counting.begun[Counting.engine] += 1
            work()

        return super().submit(counted)


def thresholds() -> Iterator[tuple[ModuleType, str]]:
    """Yields modules with compiled loops, which are imported, and the names of their thresholds."""
    for package in PACKAGES:
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            module = import_module(found.name)
            yield from ((module, name) for name in vars(module) if THRESHOLDS.fullmatch(name))


@pytest.fixture
def shared(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """All work is shared, however little it is, and that of our pool is counted."""
    for module, constant in thresholds():
        monkeypatch.setattr(module, constant, 1)
    monkeypatch.setattr(threads, "Pool", Counting)
    monkeypatch.setattr(crew, "STAYS", 0)
    monkeypatch.setattr(Counting, "begun", Counter())
    library = suitesparse.library()
    chunk = library and library.ss.config["chunk"]
    if library:
        library.ss.config["chunk"] = 1  # operations that are worth a thread
    yield
    if library:
        library.ss.config["chunk"] = chunk


def graph(seed: int) -> tuple[CSR, list[int]]:
    """A random graph, and some of its vertices: sparse or dense, with hubs or long ways, of few weights or of many."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 300)) if seed % LARGE_EVERY else int(rng.integers(5_000, 20_000))
    m = int(n * rng.choice([0.5, 1, 2, 4, 12])) + 1
    u, v = (rng.random((2, m)) ** int(rng.choice([1, 1, 3])) * n).astype(np.int64)
    if rng.random() < 0.3:  # ways that no hub shortens
        v = np.minimum(u + rng.integers(1, 4, m), n - 1)
    dtype = rng.choice(["int32", "float32", "float64"])
    weights = rng.integers(1, int(rng.choice([2, 9, 1000])), m)
    return from_edges(u, v, weights.astype(dtype), shape=n), rng.permutation(n)[:24].tolist()


def bits(answer: Any) -> list[tuple[Any, ...]]:
    """An answer's arrays: dtype, shape and bytes of each."""
    if isinstance(answer, Matrix):
        return [each for array in answer.arrays for each in bits(array)]
    if isinstance(answer, tuple):
        return [each for part in answer for each in bits(part)]
    return [(answer.dtype, answer.shape, answer.tobytes())]


def new(A: CSR) -> CSR:
    """The same matrix, with nothing kept, so that threads find again what is kept with it."""
    return CSR.trusted(*A.components)


def differing(seeds: Iterable[int]) -> list[tuple[str, int, int]]:
    """The engine, the number of threads and the seed of every answer that has other bits than by one thread."""
    cases = [(seed, *graph(seed)) for seed in seeds]
    expected: dict[tuple[str, int], Any] = {}
    wrong = []
    for count in COUNTS:
        Counting.begun.clear()
        with threads.threads(count):
            for name, engine in (ENGINES | OF_SUITESPARSE).items():
                Counting.engine = name
                for seed, A, some in cases:
                    try:
                        found = bits(engine(new(A), some))
                    except OverflowError as error:  # there are more shortest paths than can be counted
                        found = [(str(error),)]
                    if found != expected.setdefault((name, seed), found):
                        wrong.append((name, count, seed))
        if count > 1:
            assert not (idle := idle_with(count)), f"with {count} threads none but the calling one works for {idle}"
    return wrong


def idle_with(count: int, tries: int = 20) -> list[str]:
    """The engines that no helper works for, of several tries: on a loaded machine it may come when all is done."""
    idle = [name for name in ENGINES if not Counting.begun[name]]
    A, some = graph(0)
    with threads.threads(count):
        for name in idle * tries:
            if not Counting.begun[name]:
                Counting.engine = name
                bits(ENGINES[name](new(A), some))
    return [name for name in idle if not Counting.begun[name]]


@pytest.mark.quick
@pytest.mark.usefixtures("shared")
def test_some_random_graphs_have_the_same_bits_by_any_number_of_threads() -> None:
    assert differing(range(SEED, SEED + 100)) == []


@pytest.mark.nightly
@pytest.mark.usefixtures("shared")
def test_random_graphs_have_the_same_bits_by_any_number_of_threads(fuzz_seeds: range) -> None:
    assert differing(fuzz_seeds[: len(fuzz_seeds) // 2]) == []


# --- signals ----------------------------------------------------------------------------------------------------------

SIGNALLED = """
import signal, sys, time
from tests.test_races import ENGINES, OF_SUITESPARSE, bits, graph, new, thresholds
from semiring import threads

def stop(number, frame):
    if calling:
        raise KeyboardInterrupt

calling, interrupted, right, wrong, engines = False, 0, 0, set(), ENGINES | OF_SUITESPARSE
signal.signal(signal.SIGINT, stop)
for module, constant in thresholds():
    setattr(module, constant, 1)
A, some = graph(0)
with threads(1):
    expected = {name: bits(engine(new(A), some)) for name, engine in engines.items()}
with threads(8):
    for engine in engines.values():
        engine(new(A), some)  # compiles
    print("ready", flush=True)
    end = time.monotonic() + float(sys.argv[1])
    while time.monotonic() < end:
        for name, engine in engines.items():
            try:
                calling = True
                found = engine(new(A), some)
                calling = False
            except KeyboardInterrupt:
                calling = False
                interrupted += 1
            else:
                right += 1
                if bits(found) != expected[name]:
                    wrong.add(name)
print(*sorted(wrong), interrupted > 0, right > len(engines))
"""


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="processes cannot be stopped here")
@pytest.mark.parametrize("seconds", [4, pytest.param(60, marks=pytest.mark.nightly)])
def test_a_process_that_is_stopped_and_interrupted_goes_on_to_right_answers(seconds: int, tmp_path: Path) -> None:
    """Stopped for some milliseconds and sent on, again and again, and now and then interrupted, by many threads."""
    rng = random.Random(1)
    command = [sys.executable, "-W", "ignore", "-c", SIGNALLED, str(seconds)]
    where: Any = {"cwd": Path(__file__).parents[1], "env": os.environ | writable(tmp_path)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **where) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            time.sleep(rng.uniform(0, 0.05))
            process.send_signal(signal.SIGSTOP)
            time.sleep(rng.uniform(0, 0.02))
            process.send_signal(signal.SIGCONT)
            if rng.random() < 0.2:
                process.send_signal(signal.SIGINT)
        said, complained = process.communicate(timeout=60)
    assert (said, process.returncode) == ("True True\n", 0), complained
