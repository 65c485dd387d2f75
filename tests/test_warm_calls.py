"""What a call passes, and on a GPU asks of CUDA, once kernels are compiled and all it needs is kept with the matrix."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType, SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import numpy as np
import pytest

from algorithms import bellman_ford, bfs, boruvka, scc, sssp
from algorithms.fused.cuda import graphs, out_of_core_msf
from algorithms.shared.parents import GAINS
from bench.graphs import rmat
from formats import CSC, CSR, OutOfDeviceMemory
from formats.matrix.facts import COMPRESSED, SYMMETRIC
from formats.places import find_place
from formats.storage.orientation import by_columns
from semiring import MinPlus, ewise_add
from semiring.statistics import MEAN

from .emulated import made, simulated

CALLS: dict[str, Callable[[Any], Any]] = {
    "bfs": lambda A: bfs(A, 3),
    "parents": lambda A: bfs(A, 3, return_parents=True)[1],
    "sssp": lambda A: sssp(A, 3),
    "bellman_ford": lambda A: bellman_ford(A, 3),
    "scc": scc,
    "weak": lambda A: scc(A, weak=True),
    "boruvka": lambda A: boruvka(A).values,
}


def graph(symmetric: bool) -> CSR:
    A: Any = rmat(8, dtype=np.int32, high=9, seed=1)
    return ewise_add(A, A.T, "min").to(CSR) if symmetric else A


def moved(A: Any) -> CSR:
    """A on a simulated GPU, with what is known of it."""
    found: Any = CSR.trusted(made(A.indptr), made(A.indices), made(A.values), A.shape)
    vars(found)["place"] = find_place("cuda:0")
    symmetric = A.T.to(CSR).equals(A)
    found.keep(SYMMETRIC, lambda: symmetric, False)
    found.keep(SYMMETRIC, lambda: symmetric, True)
    C: Any = by_columns(A)
    found.keep(COMPRESSED, lambda: CSC.trusted(made(C.indptr), made(C.indices), made(C.values), A.shape), CSC)
    found.keep(GAINS, lambda: False, MinPlus)
    found.keep(MEAN, lambda: float(A.values.mean()), MinPlus)
    return found


@pytest.mark.parametrize("name", CALLS)
def test_a_warm_call_asks_which_gpu_is_current_once_and_not_how_full_it_is(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("formats.places.UNQUESTIONED_BYTES", 0)  # as if the graph were large
    monkeypatch.setattr("semiring.cuda.compile._begin", lambda device, unit: None)
    A, asked = graph(symmetric=name == "boruvka"), Counter[str]()
    expected = CALLS[name](A)

    def counted(owner: Any, function: str) -> None:
        given = getattr(owner, function)
        monkeypatch.setattr(owner, function, lambda *args: asked.update([function]) or given(*args))

    with simulated(1):
        cp: Any = sys.modules["cupy"]
        on_gpu = moved(A)
        CALLS[name](on_gpu)
        for owner, functions in ((cp.cuda.runtime, ("getDevice", "memGetInfo")), (cp, ("get_default_memory_pool",))):
            for function in functions:
                counted(owner, function)
        found = CALLS[name](on_gpu)
    assert np.array_equal(found, expected)
    assert asked == {"getDevice": 1}


def test_a_forest_for_which_there_is_no_memory_after_all_is_grown_in_one_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_room(*args: Any) -> Any:
        raise OutOfDeviceMemory("no room")

    monkeypatch.setattr(graphs, "forest_in_memory", no_room)
    monkeypatch.setattr(graphs, "forest_in_one_pass", lambda *args: ("grown", None))
    assert graphs.forest_of(graph(symmetric=True), False, False) == ("grown", None)


def test_a_second_forest_takes_the_memory_of_the_first_unless_others_have_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pool is emptied for the first; for another if as much is no longer left, or not in one block."""
    A, left, taken, others = graph(symmetric=True), [700], [], [False]
    place = SimpleNamespace(available_bytes=lambda: left[0], on_host=False)
    monkeypatch.setattr(out_of_core_msf, "kernels", MagicMock())
    monkeypatch.setattr(out_of_core_msf.Stream, "begin", lambda self: None)
    monkeypatch.setattr(out_of_core_msf, "left_for_blocks", lambda A, wanted: taken.append(left[0]) or left[0])

    def room(available: int, *sizes: int) -> tuple[int, int]:
        if others.pop():
            raise OutOfDeviceMemory("no room")
        return 1, 0

    monkeypatch.setattr(out_of_core_msf, "shared_room", room)
    vars(A)["place"] = place
    with simulated(1):
        for left[0], others[:] in ((700, [False]), (700, [False]), (600, [False]), (600, [False, True])):
            out_of_core_msf.Stream(A)
    assert taken == [700, 600, 600]


@pytest.mark.parametrize(("name", "most_files"), [("sssp", 12), ("bfs", 12)])
def test_a_warm_call_passes_few_files(name: str, most_files: int) -> None:
    """A reader who follows a call opens these files: the library's, of whose functions a frame is entered."""
    call, A, files, depth, deepest = CALLS[name], graph(symmetric=False), Counter[str](), 0, 0
    root = Path(__file__).parent.parent
    packages = tuple(f"{root / name}{os.sep}" for name in ("formats", "semiring", "algorithms"))

    def seen(frame: FrameType, event: str, _: Any) -> None:
        nonlocal depth, deepest
        path = frame.f_code.co_filename
        if not path.startswith(packages):
            return
        files[path] += event == "call"
        depth += (event == "call") - (event == "return")
        deepest = max(deepest, depth)

    for _ in range(3):
        call(A)
    sys.setprofile(seen)
    try:
        call(A)
    finally:
        sys.setprofile(None)
    assert len(files) <= most_files, sorted(files)
    assert deepest <= 10
