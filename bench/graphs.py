"""The benchmarks' graphs, made on either device, and the same on both.

A random number does not depend on the one before it: number i of a stream is splitmix64's output i [1], a hash of i in
64-bit integer arithmetic, which NumPy and CuPy do alike. A weight is a hash of its edge (u, v), so that copies of an
edge agree; where the graph is symmetric, of the undirected edge.

[1] G. L. Steele, D. Lea, C. H. Flood, Fast Splittable Pseudorandom Number Generators, OOPSLA 2014.
[2] D. Chakrabarti, Y. Zhan, C. Faloutsos, R-MAT: A Recursive Model for Graph Mining, SDM 2004.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy import uint64
from numpy.typing import DTypeLike

from formats import CSR, from_edges, read
from formats.arrays import Array, Device, cupy, device_of, namespace, to_device

GOLDEN = 0x9E3779B97F4A7C15
TARGETS, WEIGHTS, OPERAND = range(64, 67)
"""Streams of random numbers; R-MAT uses a stream for each of its levels, 0 to 63."""
BLOCK = {"cpu": 1 << 16, "cuda": 1 << 24}
"""Edges that are made at a time: as many as stay in a cache, or as keep a GPU busy in a fraction of its memory."""
ROADS = "road-topo-NE.pace.gr.gz"


def rmat(
    scale: int,
    edge_factor: int = 16,
    probabilities: tuple[float, float, float] = (0.57, 0.19, 0.19),
    *,
    seed: int = 1,
    high: int = 255,
    device: Device = "cpu",
    dtype: DTypeLike = np.float32,
) -> CSR:
    """A directed R-MAT graph [2] of 2^scale vertices, labels as they come, without self-loops and repeated edges.

    edge_factor: edges per vertex before the removals.  probabilities: of the quadrants (a, b, c); d is the rest.
    Weights 1..high.
    """
    a, b, c = probabilities
    in_a, in_ab, in_abc = (uint64(int(share * 2**64)) for share in (a, a + b, a + b + c))
    xp = library(device)
    src = xp.zeros(edge_factor << scale, np.int32)
    dst = xp.zeros_like(src)
    for block in blocks(src.size, device):
        edges = numbers(block, device)
        for level in range(scale):
            draw = hashed(edges, seed, level)
            lower = draw >= in_ab
            right = ((draw >= in_a) & ~lower) | (draw >= in_abc)
            src[block] = 2 * src[block] + lower
            dst[block] = 2 * dst[block] + right
    distinct = src != dst
    return weighted(src[distinct], dst[distinct], 1 << scale, seed, high, dtype)


def rmat_both_ways(
    scale: int,
    edge_factor: int = 8,
    *,
    seed: int = 1,
    high: int = 255,
    device: Device = "cpu",
    dtype: DTypeLike = np.float32,
) -> CSR:
    """The symmetric sibling of an R-MAT graph: every edge in both directions, of one weight.

    edge_factor: of the directed graph. With 8, half of `rmat`'s, there are about as many arcs as there: 65 M of them at
    scale 22.
    """
    u, v, _ = rmat(scale, edge_factor, seed=seed, high=high, device=device, dtype=dtype).to_edges()
    xp = namespace(u)
    src, dst = xp.concatenate((u, v)), xp.concatenate((v, u))
    return weighted(src, dst, 1 << scale, seed, high, dtype, symmetric=True)


def uniform(
    n: int, degree: int, *, seed: int = 1, high: int = 10, device: Device = "cpu", dtype: DTypeLike = np.float32
) -> CSR:
    """A directed graph in which each of n vertices draws `degree` others; a vertex drawn twice counts once.

    Weights 1..high.
    """
    xp = library(device)
    src = xp.empty(n * degree, np.int32)
    dst = xp.empty_like(src)
    for block in blocks(src.size, device):
        edges = numbers(block, device)
        u = edges // uint64(degree)
        away = uint64(1) + hashed(edges, seed, TARGETS) % uint64(n - 1)
        src[block] = u.astype(np.int32)
        dst[block] = ((u + away) % uint64(n)).astype(np.int32)
    return weighted(src, dst, n, seed, high, dtype)


def grid(side: int, *, seed: int = 1, high: int = 1000, device: Device = "cpu", dtype: DTypeLike = np.float32) -> CSR:
    """A square grid of side × side vertices, each joined with its 2 to 4 neighbours; symmetric weights 1..high."""
    xp = library(device)
    v = xp.arange(side * side, dtype=np.int32).reshape(side, side)
    left, right = v[:, :-1].ravel(), v[:, 1:].ravel()
    upper, lower = v[:-1].ravel(), v[1:].ravel()
    src = xp.concatenate((left, right, upper, lower))
    dst = xp.concatenate((right, left, lower, upper))
    return weighted(src, dst, side * side, seed, high, dtype, symmetric=True)


def roads(
    path: Path | str, *, seed: int = 1, high: int = 1000, device: Device = "cpu", dtype: DTypeLike = np.float32
) -> CSR:
    """The undirected graph in a file, such as a PACE road topology, with symmetric weights 1..high of our own."""
    A = read(path)
    rows, cols, _ = A.to_edges()
    return weighted(to_device(rows, device), to_device(cols, device), A.nrows, seed, high, dtype, symmetric=True)


def operand(n: int, high: int, *, seed: int = 1, device: Device = "cpu", dtype: DTypeLike = np.float32) -> Array:
    """A dense vector (n,) of integers 0..high - 1, as `dtype`."""
    x = library(device).empty(n, dtype)
    for block in blocks(n, device):
        x[block] = (hashed(numbers(block, device), seed, OPERAND) % uint64(high)).astype(dtype)
    return x


GENERATED: dict[str, Callable[[Device], CSR]] = {
    "rmat20": lambda device: rmat(20, device=device),
    "rmat22": lambda device: rmat(22, device=device),
    "rmat24": lambda device: rmat(24, device=device),
    "unif8M": lambda device: uniform(1 << 23, 7, device=device),
    "unif1M": lambda device: uniform(1 << 20, 32, high=255, device=device),
    "grid4k": lambda device: grid(4096, device=device),
}
"""The graphs of the SpMV benchmark but for NE, which is in a file."""


def spmv_names(data: Path | None, chosen: list[str] | None = None) -> list[str]:
    """The chosen names of the SpMV benchmark's graphs, by default all; NE only where the folder `data` has its file.

    ValueError names the first unknown one.
    """
    names = (["NE"] if data is not None and (data / ROADS).exists() else []) + list(GENERATED)
    for name in chosen or ():
        if name not in names:
            raise ValueError(f"unknown graph {name!r}; there are {', '.join(names)} (NE needs --data with {ROADS})")
    return chosen or names


def spmv_graph(name: str, device: Device, data: Path | None = None) -> CSR:
    """The SpMV benchmark's graph of that name, one of `spmv_names(data)`."""
    return roads((data or Path()) / ROADS, device=device) if name == "NE" else GENERATED[name](device)


# --- random numbers -----------------------------------------------------------------------------------------------


def weighted(src: Array, dst: Array, n: int, seed: int, high: int, dtype: DTypeLike, *, symmetric: bool = False) -> CSR:
    """The CSR of the edges, each once, with random weights 1..high; symmetric: those of u -> v and v -> u are equal."""
    xp = namespace(src)
    device = device_of(src)
    weights = xp.empty(src.size, dtype)
    for block in blocks(src.size, device):
        u, v = src[block], dst[block]
        if symmetric:
            u, v = xp.minimum(u, v), xp.maximum(u, v)
        edges = u.astype(uint64) * uint64(n) + v.astype(uint64)
        weights[block] = (uint64(1) + hashed(edges, seed, WEIGHTS) % uint64(high)).astype(dtype)
    return from_edges(src, dst, weights, shape=n)


def hashed(i: Array, seed: int, stream: int) -> Array:
    """Numbers `i` (uint64) of a seed's stream: splitmix64, started at a hash of seed and stream."""
    start = mixed(np.array([seed * 128 + stream], uint64))[0]
    return mixed(i * uint64(GOLDEN) + start)


def mixed(z: Array) -> Array:
    """splitmix64's output function, in place."""
    z ^= z >> uint64(30)
    z *= uint64(0xBF58476D1CE4E5B9)
    z ^= z >> uint64(27)
    z *= uint64(0x94D049BB133111EB)
    z ^= z >> uint64(31)
    return z


def numbers(block: slice, device: Device) -> Array:
    """The integers of a block, uint64."""
    return library(device).arange(block.start, block.stop, dtype=uint64)


def blocks(size: int, device: Device) -> Iterator[slice]:
    """Slices that cover range(size), each of BLOCK[device] elements or fewer."""
    for start in range(0, size, BLOCK[device]):
        yield slice(start, min(start + BLOCK[device], size))


def library(device: Device) -> Any:
    """NumPy or CuPy."""
    return np if device == "cpu" else cupy()
