"""Graphs on which fused algorithms once fell off a cliff, for `python -m bench cliffs`, with answers that are known.

A row is (case, ms, verified): the median time of whole calls that wait for their answer. Most answers are known from
how a graph is made. A negative cycle is verified by its weights, components of a bow tie by SciPy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from scipy.sparse.csgraph import connected_components

from algorithms import NegativeCycle, bellman_ford, bfs, boruvka, scc, sssp
from bench.experiments.fused_tasks import NEW_YORK
from bench.graphs import grid, rmat, uniform
from formats import CSR, from_edges, read
from formats.arrays import Device, to_device
from semiring.tuning.timing import finished_ms

CALLS = 7


@dataclass(frozen=True)
class Case:
    """A call whose answer can be judged.

    run: the call, on a graph that is already on the device.  right: is its answer, on the host, what it should be?
    """

    name: str
    run: Callable[[], Any]
    right: Callable[[Any], bool]


def rows(device: Device, folder: Path, shrink: int = 1) -> Iterator[tuple[str, float, bool]]:
    """Yields case, ms and verified for every case; roads only if the folder has them.  shrink: of generated graphs."""
    for case in cases(device, folder, shrink):
        right = case.right(on_host(case.run()))
        yield case.name, round(median(finished_ms(case.run, device) for _ in range(CALLS)), 3), right


def cases(device: Device, folder: Path, shrink: int) -> Iterator[Case]:
    """Every case, one graph at a time."""
    if (folder / NEW_YORK).exists():
        yield negative_roads(folder / NEW_YORK, device)
    yield from path_and_star(20_000 // shrink, 1_000_000 // shrink, device)
    yield from negative_cycles(device, shrink)
    tie = bow_tie(15 if shrink == 1 else 8, 30_000 // shrink)
    yield Case("SCC, a bow tie with long tails", partial(scc, tie.to(device=device)), equal(smallest_of(tie)))
    row, label = row_of_cycles(100_000 // shrink, 25)
    yield Case("SCC, a row of cycles", partial(scc, row.to(device=device)), equal(label))
    D = acyclic((1 << 20) // shrink, 8)
    yield Case("SCC, a graph without cycles", partial(scc, D.to(device=device)), equal(np.arange(D.nrows)))
    for name, G in (
        ("uniform", uniform((1 << 20) // shrink, 4, device=device)),
        ("R-MAT", rmat(20 if shrink == 1 else 9, device=device)),
    ):
        parts = len(np.unique(on_host(scc(G, weak=True))))
        yield Case(
            f"MST, symmetrize=True, {name}",
            lambda G=G: boruvka(G, symmetrize=True).nnz,
            lambda edges, n=G.nrows, parts=parts: edges == n - parts,
        )


def negative_roads(path: Path, device: Device) -> Case:
    """New York with 0.4 % of negative arcs: w + p_u - p_v, where a few p are not 0."""
    A = read(path)
    p = np.where(np.random.default_rng(0).random(A.nrows) < 0.004, 5000, 0)
    u, v, w = A.to_edges()
    B = from_edges(u, v, (w + p[u] - p[v]).astype(np.int32), shape=A.nrows)
    expected = sssp(A, 0).astype(np.int64) + p[0] - p
    share = 100 * float((B.values < 0).mean())
    return Case(f"SSSP, New York, {share:.1f} % negative arcs", partial(sssp, B.to(device=device), 0), equal(expected))


def path_and_star(path: int, star: int, device: Device) -> Iterator[Case]:
    """A path that ends in a hub, whose edges lead to vertices without any."""
    n, end = path + star, path - 1
    src = np.append(np.arange(end), np.full(star, end))
    for lowest, kind in ((0, ""), (-5, ", negative weights")):
        w = np.random.default_rng(1).integers(lowest, 10, src.size).astype(np.int32)
        G: Any = from_edges(src, np.arange(1, n), w, shape=n).to(device=device)
        along = np.append(0, np.cumsum(w[:end]))
        yield Case(f"SSSP, path and star{kind}", lambda G=G: sssp(G, 0), equal(np.append(along, along[-1] + w[end:])))
    yield Case("BFS, path and star", lambda: bfs(G, 0), equal(np.minimum(np.arange(n), path)))
    yield Case("SCC, path and star", lambda: scc(G), equal(np.arange(n)))


def negative_cycles(device: Device, shrink: int) -> Iterator[Case]:
    """Graphs with a planted cycle of 12 edges and the length -1."""
    whole = shrink == 1
    graphs = {
        "R-MAT": rmat(20 if whole else 9, device=device, dtype=np.int32),
        "uniform": uniform((1 << 20) // shrink, 8, device=device, dtype=np.int32),
        "grid": grid(2048 if whole else 30, device=device, dtype=np.int32),
    }
    for name, A in graphs.items():
        ring = np.random.default_rng(2).choice(np.flatnonzero(on_host(bfs(A, 0)) >= 0), 12, replace=False)
        u, v, w = (on_host(part) for part in A.to_edges())
        src, dst, lengths = np.append(u, ring), np.append(v, np.roll(ring, -1)), np.append(w, [3] * 11 + [-34])
        B = from_edges(src, dst, lengths.astype(np.int32), shape=A.nrows)
        yield Case(f"a negative cycle, {name}", partial(cycle_in, B.to(device=device)), partial(improves, B))


def cycle_in(A: CSR) -> list[int] | None:
    """The negative cycle that is found from vertex 0."""
    try:
        bellman_ford(A, 0)
    except NegativeCycle as error:
        return error.cycle
    return None


def improves(A: CSR, cycle: list[int] | None) -> bool:
    """True for a closed list of vertices whose edges have a negative sum."""
    return cycle is not None and cycle[0] == cycle[-1] and sum(A[edge].item() for edge in pairwise(cycle)) < 0


def bow_tie(scale: int, components: int) -> CSR:
    """A power-law core with long tails of small cycles that lead into it and out of it."""
    rng = np.random.default_rng(3)
    core = rmat(scale)
    n, made, parts = core.nrows, 0, [core.to_edges()[:2]]
    while made < components:
        sizes = rng.integers(1, 6, min(int(rng.geometric(1 / 60)), 600))
        first = n + np.cumsum(sizes) - sizes
        of, ids = np.repeat(np.arange(sizes.size), sizes), n + np.arange(sizes.sum())
        last = np.append(of[1:] != of[:-1], True)
        inside = sizes[of] > 1
        hub = int(rng.integers(core.nrows))
        parts += [(ids[inside], np.where(last, first[of], ids + 1)[inside]), (first[:-1], first[1:])]
        parts.append((np.array([hub]), first[:1]) if rng.random() < 0.5 else (first[-1:], np.array([hub])))
        n, made = n + ids.size, made + sizes.size
    src, dst = (np.concatenate(ends) for ends in zip(*parts, strict=True))
    return from_edges(src, dst, shape=n)


def row_of_cycles(count: int, length: int) -> tuple[CSR, np.ndarray]:
    """Returns a graph of cycles of which each leads to the next, in a random order, and their components."""
    n = count * length
    v, place = np.arange(n), np.random.default_rng(4).permutation(n)
    around = np.where(v % length == length - 1, v - length + 1, v + 1)
    A = from_edges(place[np.append(v, v[:-length:length])], place[np.append(around, v[length::length])], shape=n)
    label = np.empty(n, np.int64)
    label[place] = np.repeat(place.reshape(count, length).min(1), length)
    return A, label


def acyclic(n: int, degree: int) -> CSR:
    """Random edges, all from earlier to later vertices of a random order."""
    rng = np.random.default_rng(5)
    ends, place = np.sort(rng.integers(0, n, (2, n * degree)), axis=0), rng.permutation(n)
    src, dst = ends[:, ends[0] != ends[1]]
    return from_edges(place[src], place[dst], shape=n)


def smallest_of(A: CSR) -> np.ndarray:
    """The smallest vertex of each vertex's strong component, by SciPy."""
    count, of = connected_components(A.to_scipy(), connection="strong")
    smallest = np.full(count, A.nrows)
    np.minimum.at(smallest, of, np.arange(A.nrows))
    return smallest[of]


def equal(expected: np.ndarray) -> Callable[[Any], bool]:
    return lambda got: bool(np.array_equal(got, expected))


def on_host(answer: Any) -> Any:
    """An array on the host; anything else as it is."""
    return to_device(answer, "cpu") if hasattr(answer, "dtype") else answer
