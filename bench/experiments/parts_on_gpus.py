"""Rows of `parts` on GPUs: algorithms on a matrix whose rows several GPUs of one machine share, beside one of them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from algorithms import bfs, boruvka, scc, sssp
from algorithms.fused.parts.many_sources import by_all
from bench.experiment import Row, Setting, released
from bench.graphs import grid, rmat, rmat_both_ways
from bench.measure import Contender, contest, rounded
from formats import CSR, Partitioned, from_edges, read
from formats.arrays import cupy, to_device
from formats.storage.orientation import is_symmetric
from semiring import explain

Call = Callable[[Any], Any]

WHOLE = "one GPU"
ROADS = "USA-road-d.NY.gr.gz"
BOTH_WAYS = "both ways"
HOPS = 400
"""Edges of the path whose steps are timed: from the first vertices to the last ones and back."""


def rows_on_gpus(setting: Setting) -> Iterator[Row]:
    """Rows for each graph and task."""
    gpus = cupy().cuda.runtime.getDeviceCount()
    if gpus < 2:
        yield {"graph": "rmat", "contender": "2 GPUs", "missing": "there is one GPU"}
        return
    devices, smaller = [f"cuda:{k}" for k in range(gpus)], dict[tuple[str, str], float]()
    for name, make, tasks in graphs(setting):
        if not setting.wants(name):
            continue
        A = make()
        P: Any = A.to(device=devices)
        for task in tasks:
            call = TASKS[task](A)
            for row in of_task(call, A, P, setting):
                known = {"graph": name, "task": task, "n": A.nrows, "nnz": A.nnz}
                if row["contender"] == WHOLE:
                    smaller[name, task] = row["ms"]
                elif (before := smaller.get((half_of(name), task))) is not None:
                    row["weak"] = rounded(before / row["ms"])
                yield known | row
        A.forget()
        P.forget()
        del A, P
        released(setting.device)
    for scale in (8,) if setting.quick else (12, 20, 26):
        if setting.wants(f"path {scale}"):
            yield of_steps(scale, devices, setting)


def half_of(name: str) -> str:
    """The R-MAT graph of half as many vertices."""
    kind = name.rstrip("0123456789")
    return f"{kind}{int(name[len(kind) :] or 0) - 1}"


def graphs(setting: Setting) -> Iterator[tuple[str, Callable[[], CSR], tuple[str, ...]]]:
    """Yields names, functions that make graphs on a GPU, and tasks: names of R-MAT graphs end in the scale."""
    device = setting.device
    directed, undirected = ((8,), (8,)) if setting.quick else ((22, 24, 25, 26), (22, 24))
    many = ("64 sources", "128 sources")
    for scale in directed:
        own = many if scale <= 22 else ()
        make = functools.partial(rmat, scale, device=device, dtype=np.float32)
        yield f"rmat{scale}", make, ("sssp", "bfs", "bfs, parents", "components", *own)
    for scale in undirected:
        yield f"rmat, both ways {scale}", functools.partial(both_ways, scale, device), ("bfs", "forest")
    side = 16 if setting.quick else 2048
    flat = functools.partial(grid, side, device=device, dtype=np.float32)
    yield f"grid {side}x{side}", flat, ("sssp", "bfs", "forest", *many)
    path = (setting.data or Path()) / ROADS
    if not setting.quick and path.exists():
        yield ROADS, lambda: read(path).to(CSR).to(device=device), ("sssp", "bfs", "forest", *many)


def both_ways(scale: int, device: Any) -> CSR:
    """A symmetric R-MAT graph, which is known to be so."""
    A = rmat_both_ways(scale, device=device, dtype=np.float32)
    is_symmetric(A)
    return A


def source_of(A: CSR) -> int:
    """The vertex with the most edges."""
    return int(A.lengths(0).argmax())


def several(A: CSR, count: int) -> list[int]:
    """Vertices that have edges, evenly spread."""
    found = to_device(A.xp.flatnonzero(A.lengths(0)), "cpu")
    return found[:: max(1, found.size // count)][:count].tolist()


def of_source(task: Callable[[Any, int], Any], A: CSR) -> Call:
    source = source_of(A)
    return lambda M: task(M, source)


def of_sources(A: CSR, count: int) -> Call:
    sources = several(A, count)
    return lambda M: sssp(M, sources=sources)


TASKS: dict[str, Callable[[CSR], Call]] = {
    "sssp": lambda A: of_source(sssp, A),
    "bfs": lambda A: of_source(bfs, A),
    "bfs, parents": lambda A: of_source(lambda M, source: bfs(M, source, return_parents=True)[1], A),
    "components": lambda A: lambda M: scc(M, weak=True),
    "forest": lambda A: lambda M: boruvka(M),
    "64 sources": lambda A: of_sources(A, 64),
    "128 sources": lambda A: of_sources(A, 128),
}


def same(found: Any, expected: Any) -> bool:
    """True if two answers on one GPU have the same bits."""
    if hasattr(found, "rows"):
        return all(same(*each) for each in zip(found.to_edges(), expected.to_edges(), strict=True))
    return found.dtype == expected.dtype and bool((found == expected).all())


def of_task(call: Call, A: CSR, P: Partitioned, setting: Setting) -> Iterator[Row]:
    """The rows of one GPU and of all."""
    expected = call(A)
    parts = f"{len(P.parts)} GPUs"
    of_both: list[tuple[str, Any]] = [(WHOLE, A), (parts, P)]
    how: Any = {"agrees": lambda found: same(found, expected), "device": "cuda", "watched": False}
    contenders = [Contender(name, functools.partial(call, M), **how) for name, M in of_both]
    found = contest(contenders, setting.repeats)
    facts = explain(call, P).runs[0].details
    told: dict[str, Any] = {"steps": facts.get("steps", facts.get("levels"))}
    if "received" in facts:
        told["sent_bytes"] = facts["received"] * A.dtype.itemsize
    yield {"contender": WHOLE, "to_whole": 1.0} | found[WHOLE]
    yield {"contender": parts, "to_whole": rounded(found[parts]["ms"] / found[WHOLE]["ms"])} | found[parts] | told


def of_steps(scale: int, devices: list[str], setting: Setting) -> Row:
    """Measures a step of a search that exchanges next to nothing, on a path from one GPU to another and back."""
    n, half = 1 << scale, min(HOPS, 1 << scale) // 2
    ends = np.empty(2 * half, np.int64)
    ends[0::2], ends[1::2] = np.arange(half), n - 1 - np.arange(half)
    A = from_edges(ends[:-1], ends[1:], np.ones(2 * half - 1, np.int32), shape=n)
    P, there, lengths = A.to(device=devices), *(cupy().asarray(x) for x in (ends, np.arange(ends.size)))

    def call(M: Any) -> Any:
        with by_all():
            return sssp(M, 0, delta=1)

    def agrees(d: Any) -> bool:
        return bool((d[there] == lengths).all())

    contender = Contender("steps", functools.partial(call, P), agrees=agrees, device="cuda", watched=False)
    found = contest([contender], setting.repeats)["steps"]
    steps = explain(call, P).runs[0].details["steps"]
    known = {"graph": f"path {scale}", "task": "sssp", "n": n, "nnz": A.nnz, "contender": f"{len(devices)} GPUs"}
    return known | found | {"steps": steps, "step_us": rounded(1e3 * found["ms"] / steps)}
