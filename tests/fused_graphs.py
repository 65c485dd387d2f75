"""Random and awkward graphs on which a fused implementation is compared with its definition.

Most random graphs are small, and many lie side by side in one matrix, each joined to vertex 0 by an edge of the unit's
length: their answers are those that each has alone, vertex 0 is a hub, and one call finds them all.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from formats import CSR, DTYPES, Matrix, from_edges
from semiring import MaxMin, MaxPlus, MinMax, MinPlus, Semiring

BOOL = DTYPES[0]
GRAPHS = {"cpu": 80, "cuda": 1000}
"""Random graphs for each algorithm, semiring and dtype."""
TOGETHER = {"cpu": 8, "cuda": 60}
"""Of them in one matrix."""
KINDS = ("ties", "spread", "ends")
"""Of weights: see `weights`."""
Edges = tuple[int, np.ndarray, np.ndarray]
"""A graph without weights: n, src, dst."""
NO_VERTICES: Edges = (0, np.empty(0, int), np.empty(0, int))


def weights(rng: np.random.Generator, kind: str, semiring: Semiring, dtype: np.dtype, size: int) -> np.ndarray:
    """Random values of a kind: of those that the algorithms for paths take, so no better than the unit.

    "ties": few different ones, zeros among them.  "spread": many.  "ends": zeros, the smallest and such large ones
    that a path of 8 edges just fits.
    """
    if dtype == BOOL:
        return rng.random(size) < 0.8
    if semiring in (MinMax, MaxMin):
        ends = np.array([*range(-2, 3), semiring.zero(dtype), semiring.unit(dtype)], dtype)
        return rng.choice(ends, size) if kind == "ends" else rng.integers(-4, 5, size).astype(dtype)
    if kind == "ends":
        info: Any = np.iinfo(dtype) if dtype.kind == "i" else np.finfo(dtype)
        small = [1, 2] if dtype.kind == "i" else [info.smallest_subnormal, info.tiny, info.eps, 0.1, 1 / info.eps]
        most = [info.max // 8, info.max // 9] if dtype.kind == "i" else [info.max / 8]
        found = rng.choice(np.array([0, 0, *small, *most], dtype), size)
    elif kind == "spread":
        found = (rng.integers(0, 1000, size) if dtype.kind == "i" else rng.random(size) * 8).astype(dtype)
    else:
        found = rng.integers(0, 4, size).astype(dtype)
    return dtype.type(0) - found if semiring is MaxPlus else found  # 0 - x: no zero is negative


def side_by_side(
    rng: np.random.Generator, count: int, kind: str, semiring: Semiring, dtype: np.dtype, *, potentials: bool = False
) -> CSR:
    """So many random graphs of 1 to 7 vertices, and vertex 0, from which an edge leads to most of them.

    potentials: weights w + p_u - p_v, of any sign and without a cycle better than nothing.
    """
    sizes = rng.integers(1, 8, count)
    first = 1 + np.cumsum(sizes) - sizes
    graph = np.repeat(np.arange(count), rng.integers(0, 3 * sizes + 1))
    u, v = (first[graph] + rng.integers(0, sizes[graph]) for _ in range(2))
    w = weights(rng, kind, semiring, dtype, u.size)
    n = 1 + int(sizes.sum())
    if potentials:
        p = rng.integers(-20, 21, n)
        w = (w + p[u] - p[v]).astype(dtype)
    roots = first[rng.random(count) < 0.9]
    src, dst = np.concatenate((u, np.zeros_like(roots))), np.concatenate((v, roots))
    values = np.concatenate((w, np.full(roots.size, semiring.unit(dtype), dtype)))
    return from_edges(src, dst, values, shape=n, dup="first")


def one_graph(rng: np.random.Generator, kind: str, semiring: Semiring, dtype: np.dtype) -> CSR:
    """A random graph of 1 to 8 vertices."""
    n, m = int(rng.integers(1, 9)), int(rng.integers(0, 25))
    src, dst = rng.integers(0, n, (2, m))
    return from_edges(src, dst, weights(rng, kind, semiring, dtype, m), shape=n, dup="first")


def random_graphs(
    backend: str, fmt: type[Matrix], semiring: Semiring, dtype: np.dtype, *, seed: int = 0, potentials: bool = False
) -> Iterator[tuple[np.random.Generator, Matrix]]:
    """(a generator, a matrix) with `GRAPHS` graphs in all, the most of them side by side, and every kind of weights."""
    rng = np.random.default_rng(seed)
    for batch in range(GRAPHS[backend] // TOGETHER[backend]):
        kind = "ties" if potentials else KINDS[batch % len(KINDS)]
        A = side_by_side(rng, TOGETHER[backend], kind, semiring, dtype, potentials=potentials)
        yield rng, A.to(fmt, device=backend)  # type: ignore[arg-type]
    for k in range(GRAPHS[backend] // 20):
        yield rng, one_graph(rng, KINDS[k % len(KINDS)], semiring, dtype).to(fmt, device=backend)  # type: ignore[arg-type]


def both_ways(A: CSR) -> CSR:
    """The undirected graph of a matrix's edges, of parallel ones the lightest."""
    u, v, w = A.to_edges()
    return from_edges(np.concatenate((u, v)), np.concatenate((v, u)), np.concatenate((w, w)), shape=A.nrows)


def shapes(large: int, long: int) -> dict[str, Edges]:
    """(n, src, dst) of the awkward ones, hubs of degree `large` and paths of `long` vertices among them."""
    i, j, hub = np.arange(20), np.arange(long - 1), np.arange(1, large)
    layer = np.arange(30)
    none = np.empty(0, int)
    ties = [(1 + 30 * k + np.repeat(layer, 30), 31 + 30 * k + np.tile(layer, 30)) for k in range(3)]
    return {
        "one vertex": (1, none, none),
        "a self-loop": (1, np.array([0]), np.array([0])),
        "no edges": (9, none, none),
        "self-loops": (20, np.concatenate((i, i)), np.concatenate((i, (i + 1) % 20))),
        "2-cycles": (40, np.concatenate((2 * i, 2 * i + 1)), np.concatenate((2 * i + 1, 2 * i))),
        "a hub": (large, 0 * hub, hub),
        "into a hub": (large, np.append(hub, 0), np.append(0 * hub, 1)),
        "a star": (large, np.concatenate((0 * hub, hub)), np.concatenate((hub, 0 * hub))),
        "a path": (long, j, j + 1),
        "a path backwards": (long, np.append(long - 1 - j, 0), np.append(long - 2 - j, long - 1)),
        "a path both ways": (long, np.concatenate((j, j + 1)), np.concatenate((j + 1, j))),
        "complete": (20, np.repeat(i, 20), np.tile(i, 20)),
        "a tree": (1000, (np.arange(1, 1000) - 1) // 2, np.arange(1, 1000)),
        "layers": (121, *(np.concatenate(part) for part in zip((0 * layer, 1 + layer), *ties, strict=True))),
    }


def shaped(shape: Edges, dtype: np.dtype, kind: str) -> CSR:
    """The graph of that shape, with weights of that kind."""
    n, src, dst = shape
    values = weights(np.random.default_rng(n), kind, MinPlus, dtype, src.size)
    return from_edges(src, dst, values, shape=n)
