"""Breadth-first search, strong components and spanning forests beside SciPy's, on one graph in one run.

R-MAT, directed as it comes and with every edge in both directions; sources are the vertex of largest out-degree. What
SciPy finds must be what we find: the vertices reached, the partition, and the weight of the forest. `cold` is the first
call on a matrix that nothing is kept with yet; kernels are loaded before.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
import scipy.sparse
from rich.console import Console
from rich.table import Table
from scipy.sparse import csgraph

from algorithms import bfs, boruvka, scc
from formats import CSR
from formats.arrays import Device, finish, namespace, to_device
from semiring.vectors import degrees

from .graphs import rmat, weighted
from .measure import json_line, machine

Solve = Callable[[], Any]


def run(scale: int = 20, repeats: int = 5, device: Device = "cpu") -> list[dict[str, Any]]:
    """Verify and time the three algorithms, SciPy taking turns with us on the CPU; a JSON line for each graph."""
    records = []
    for name, A in (("directed", rmat(scale, device=device, dtype=np.int32)), ("symmetric", both_ways(scale, device))):
        record = machine(device) | {"graph": f"R-MAT, scale {scale}, {name}", "n": A.nrows, "nnz": A.nnz}
        record["milliseconds"] = compare(A, repeats, device, undirected=name == "symmetric")
        show(record)
        print(json_line(record))
        records.append(record)
    return records


def both_ways(scale: int, device: Device) -> CSR:
    """R-MAT with every edge in both directions, of one weight."""
    u, v, _ = rmat(scale, device=device, dtype=np.int32).to_edges()
    xp = namespace(u)
    return weighted(xp.concatenate((u, v)), xp.concatenate((v, u)), 1 << scale, 1, 255, np.int32, symmetric=True)


def compare(A: CSR, repeats: int, device: Device, *, undirected: bool) -> dict[str, dict[str, float]]:
    """For each algorithm the median milliseconds of ours, warm and cold, and of SciPy's, verified."""
    source = int(degrees(A).argmax())
    S = scipy.sparse.csr_array(tuple(to_device(part, "cpu") for part in (A.values, A.indices, A.indptr)), shape=A.shape)
    S = S.astype(np.float64)  # which is what csgraph computes in: not timed
    tasks: dict[str, tuple[Callable[[CSR], Any], Solve, Callable[[Any, Any], bool]]] = {
        "bfs": (lambda M: bfs(M, source), lambda: csgraph.breadth_first_order(S, source), same_vertices),
        "bfs, parents": (
            lambda M: bfs(M, source, return_parents=True)[0],
            lambda: csgraph.breadth_first_order(S, source),
            same_vertices,
        ),
        "scc": (scc, lambda: csgraph.connected_components(S, connection="strong"), same_partition),
        "weak": (
            lambda M: scc(M, weak=True),
            lambda: csgraph.connected_components(S, directed=not undirected, connection="weak"),
            same_partition,
        ),
        "mst": (
            lambda M: boruvka(M, symmetrize=not undirected),
            lambda: csgraph.minimum_spanning_tree(S),
            same_weight,
        ),
    }
    return {name: contest(A, *task, repeats, device) for name, task in tasks.items()}


def contest(
    A: CSR,
    ours: Callable[[CSR], Any],
    scipys: Solve,
    agree: Callable[[Any, Any], bool],
    repeats: int,
    device: Device,
) -> dict[str, float]:
    """Milliseconds of both, in turns. AssertionError if they do not agree."""
    ours(A)
    fresh = CSR.trusted(*A.components)
    cold = seconds(lambda: ours(fresh), device)
    if not agree(ours(A), scipys()):
        raise AssertionError("SciPy finds something else: nothing is timed")
    times: dict[str, list[float]] = {"semiring": [], "SciPy": []}
    for _ in range(repeats):
        times["semiring"].append(seconds(lambda: ours(A), device))
        times["SciPy"].append(seconds(scipys, device))
    figures = {name: round(median(taken) * 1e3, 3) for name, taken in times.items()}
    return figures | {"cold": round(cold * 1e3, 3)}


def seconds(solve: Solve, device: Device) -> float:
    """Of one call, everything on the device finished."""
    finish(device)
    start = time.perf_counter()
    solve()
    finish(device)
    return time.perf_counter() - start


def same_vertices(level: Any, found: Any) -> bool:
    """Are the vertices with a level those in SciPy's order, and do levels rise along it?"""
    levels = to_device(level, "cpu")[found[0]]
    return int((level >= 0).sum()) == levels.size and bool((np.diff(levels) >= 0).all())


def same_partition(label: Any, found: Any) -> bool:
    """Are two vertices in one part here where they are in one part there?"""
    count, part = found
    pairs = np.unique(np.stack((to_device(label, "cpu"), part)), axis=1)
    return pairs.shape[1] == count == np.unique(pairs[0]).size


def same_weight(forest: Any, found: Any) -> bool:
    """Do both forests have as many edges and the same weight?"""
    return forest.nnz == found.nnz and float(forest.values.sum(dtype=np.float64)) == float(found.sum())


def show(record: dict[str, Any]) -> None:
    """A table of the algorithms."""
    place = record.get("gpu", record["machine"])
    title = f"{record['graph']}, {record['nnz']:,} arcs, median ms, {place}, {record['date']}"
    table = Table(title=title)
    for heading in ("", "semiring", "SciPy", "ratio", "first call"):
        table.add_column(heading, justify="right" if heading else "left")
    for name, ms in record["milliseconds"].items():
        ratio = ms["semiring"] / ms["SciPy"]
        table.add_row(name, f"{ms['semiring']:,.1f}", f"{ms['SciPy']:,.1f}", f"{ratio:.2f}", f"{ms['cold']:,.1f}")
    Console().print(table)
