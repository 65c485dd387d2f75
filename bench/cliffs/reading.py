"""Reading text, in nanoseconds of processor time an edge: every file format, beside `scipy.io.mmread`; and names.

Each file holds the same random edges with duplicates, so what is read can be checked against `from_edges`. Ours is the
whole of `read`: the text, the numbering of ids with gaps, and the sorted rows. SciPy's gives a list of entries in the
file's order, and is asked of the Matrix Market file with the same kind of weights.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from algorithms import Graph
from bench.measure import Disagreement
from formats import CSR, from_edges, read

MATRIX_MARKET = "%%MatrixMarket matrix coordinate FIELD general\n{n} {n} {m}\n"


@dataclass(frozen=True)
class Layout:
    """How edges are written. line: of an edge.  first: the smallest id.  gap: between neighbouring ids."""

    suffix: str
    line: str
    weights: str  # "none", "integer" or "real"
    header: str = ""
    first: int = 0
    gap: int = 1


LAYOUTS = {
    "edge list": Layout(".txt", "{}\t{}\n", "none"),
    "edge list, ids with gaps": Layout(".tsv", "{}\t{}\n", "none", gap=7919),
    "edge list, integers": Layout(".tsv", "{}\t{}\t{}\n", "integer"),
    "edge list, reals": Layout(".txt", "{} {} {}\n", "real"),
    "CSV, integers": Layout(".csv", "{},{},{}\n", "integer", "source,target,weight\n"),
    "DIMACS": Layout(".gr", "a {} {} {}\n", "integer", "p sp {n} {m}\n", first=1),
    "PACE": Layout(".gr", "{} {}\n", "none", "p tw {n} {m}\n", first=1),
    "algs4, reals": Layout(".txt", "{} {} {}\n", "real", "{n}\n{m}\n"),
    "Matrix Market, pattern": Layout(".mtx", "{} {}\n", "none", MATRIX_MARKET.replace("FIELD", "pattern"), 1),
    "Matrix Market, integers": Layout(".mtx", "{} {} {}\n", "integer", MATRIX_MARKET.replace("FIELD", "integer"), 1),
    "Matrix Market, reals": Layout(".mtx", "{} {} {}\n", "real", MATRIX_MARKET.replace("FIELD", "real"), 1),
}
PEERS = {"none": "Matrix Market, pattern", "integer": "Matrix Market, integers", "real": "Matrix Market, reals"}


def reading(n: int = 1 << 18, m: int = 1 << 21, repeats: int = 5) -> list[dict[str, Any]]:
    """A row for each layout: the best of some turns, ours and SciPy's, in nanoseconds of processor time an edge.

    Raises Disagreement if what is read is not what was written.
    """
    from scipy.io import mmread

    random = np.random.default_rng(18)
    src, dst = random.integers(0, n, (2, m))
    src[:n] = np.arange(n)  # every id occurs, so that an edge list has n vertices
    weights = {"none": None, "integer": random.integers(1, 10_000, m), "real": random.random(m)}
    rows = []
    with TemporaryDirectory() as folder:
        paths = {
            name: _write(Path(folder), name, layout, src, dst, weights[layout.weights], n)
            for name, layout in LAYOUTS.items()
        }
        for name, layout in LAYOUTS.items():
            _check(name, layout, read(paths[name]), src, dst, weights[layout.weights], n)
            contenders: list[Callable[[], Any]] = [
                lambda path=paths[name]: read(path),
                lambda path=paths[PEERS[layout.weights]]: mmread(path, spmatrix=False),
            ]
            ours, scipys = _in_turns(contenders, repeats)
            rows.append({"case": f"reading: {name}", "ns_an_edge": ours / m * 1e9, "mmread": scipys / m * 1e9})
    return rows


def names(n: int = 1 << 18, m: int = 1 << 21, repeats: int = 5) -> list[dict[str, Any]]:
    """A row for each way in of edges between vertices with names, in nanoseconds of processor time an edge.

    Raises Disagreement if the graph is not the one of the edges.
    """
    random = np.random.default_rng(18)
    src, dst = random.integers(0, n, (2, m))
    km = random.integers(1, 10_000, m)
    ends = [[f"city{v}" for v in column.tolist()] for column in (src, dst)]
    rows = []
    with TemporaryDirectory() as folder:
        path = Path(folder) / "cities.csv"
        with open(path, "w", encoding="ascii") as file:
            file.write("from,to,km\n" + "".join(map("{},{},{}\n".format, *ends, km.tolist())))
        ways = {"CSV": lambda: Graph.read(path), "lists": lambda: Graph.from_edges(*ends, km.astype(np.int32))}
        for name, run in ways.items():
            g = run()
            place = np.array([g.index(f"city{v}") if f"city{v}" in g.names else -1 for v in range(n)])
            if not g.matrix.equals(from_edges(place[src], place[dst], km.astype(np.int32), shape=len(g.names))):
                raise Disagreement(f"names, {name}: another graph than was written")
            rows.append({"case": f"names: {name}", "ns_an_edge": _in_turns([run], repeats)[0] / m * 1e9})
    return rows


def _write(folder: Path, name: str, layout: Layout, src: Any, dst: Any, weights: Any, n: int) -> Path:
    path = folder / f"{name.replace(' ', '-').replace(',', '')}{layout.suffix}"
    columns = [layout.first + layout.gap * ends for ends in (src, dst)] + ([] if weights is None else [weights])
    with open(path, "w", encoding="ascii") as file:
        file.write(layout.header.replace("{n}", str(n)).replace("{m}", str(len(src))))
        file.write("".join(map(layout.line.format, *(column.tolist() for column in columns))))
    return path


def _check(name: str, layout: Layout, A: Any, src: Any, dst: Any, weights: Any, n: int) -> None:
    """Disagreement if A is not the matrix of the edges, both ways for the one format of undirected graphs."""
    if name == "PACE":
        src, dst = np.append(src, dst), np.append(dst, src)
    values = weights if weights is None or layout.weights == "real" else weights.astype(np.int32)
    if not isinstance(A, CSR) or not A.equals(from_edges(src, dst, values, shape=n)):
        raise Disagreement(f"reading {name} gives another matrix than was written")


def _in_turns(contenders: list[Callable[[], Any]], repeats: int) -> list[float]:
    """The least processor time of each, in seconds of all threads; they take turns."""
    best = [float("inf")] * len(contenders)
    for _ in range(repeats):
        for k, run in enumerate(contenders):
            start = time.process_time()
            run()
            best[k] = min(best[k], time.process_time() - start)
    return best
