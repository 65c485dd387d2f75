"""Random numbers that NumPy and CuPy draw alike, and weights made of them.

A random number does not depend on the one before it: number i of a stream is splitmix64's output i [1], a hash of i in
64-bit integer arithmetic, which NumPy and CuPy do alike. A weight is a hash of its edge (u, v), so that copies of an
edge agree; where the graph is symmetric, of the undirected edge.

[1] G. L. Steele, D. Lea, C. H. Flood, Fast Splittable Pseudorandom Number Generators, OOPSLA 2014.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy import uint64
from numpy.typing import DTypeLike

from formats import CSR, from_edges
from formats.arrays import Array, Device, cupy, namespace

GOLDEN = 0x9E3779B97F4A7C15
TARGETS, WEIGHTS, OPERAND, SIZES, LABELS = range(64, 69)
"""Streams of random numbers; R-MAT uses a stream for each of its levels, 0 to 63, and so does SSCA#2."""
BLOCK = {"cpu": 1 << 16, "cuda": 1 << 24}
"""Edges that are made at a time: as many as stay in a cache, or as keep a GPU busy in a fraction of its memory."""


def operand(n: int, high: int, *, seed: int = 1, device: Device = "cpu", dtype: DTypeLike = np.float32) -> Array:
    """A dense vector (n,) of integers 0..high - 1, as `dtype`."""
    x = library(device).empty(n, dtype)
    for block in blocks(n, device):
        x[block] = (hashed(numbers(block, device), seed, OPERAND) % uint64(high)).astype(dtype)
    return x


def weighted(src: Array, dst: Array, n: int, seed: int, high: int, dtype: DTypeLike, *, symmetric: bool = False) -> CSR:
    """The CSR of the edges, each once, with random weights 1..high; symmetric: those of u -> v and v -> u are equal."""
    return with_weights(from_edges(src, dst, shape=n, dtype=bool), seed, high, dtype, symmetric=symmetric)


def with_weights(A: CSR, seed: int, high: int, dtype: DTypeLike, *, symmetric: bool = False) -> CSR:
    """A's pattern with random weights 1..high."""
    xp = namespace(A.indices)
    weights = xp.empty(A.nnz, dtype)
    for block in blocks(A.nnz, str(A.place)):
        u, v = rows_of(A.indptr, block), A.indices[block]
        weights[block] = weights_of(u, v, A.ncols, seed, high, dtype, symmetric=symmetric)
    return CSR.trusted(A.indptr, A.indices, weights, A.shape)


def rows_of(indptr: Array, block: slice) -> Array:
    """The row of each entry of a block."""
    xp = namespace(indptr)
    ends = xp.asarray([block.start, block.stop - 1], indptr.dtype)
    first, last = (int(row) for row in xp.searchsorted(indptr, ends, side="right"))
    starts = xp.zeros(block.stop - block.start, np.int32)
    xp.add.at(starts, indptr[first:last] - indptr.dtype.type(block.start), 1)
    return xp.cumsum(starts, dtype=np.int64) + (first - 1)


def weights_of(u: Array, v: Array, n: int, seed: int, high: int, dtype: DTypeLike, *, symmetric: bool = False) -> Array:
    """The random weights 1..high of edges u -> v; symmetric: those of u -> v and v -> u are equal."""
    if symmetric:
        xp = namespace(u)
        u, v = xp.minimum(u, v), xp.maximum(u, v)
    edges = u.astype(uint64) * uint64(n) + v.astype(uint64)
    return (uint64(1) + hashed(edges, seed, WEIGHTS) % uint64(high)).astype(dtype)


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


def blocks(size: int, device: Device, each: int = 1) -> Iterator[slice]:
    """Slices that cover range(size), of BLOCK[device] edges or fewer, where an element stands for `each` edges."""
    step = max(1, BLOCK[device] // each)
    for start in range(0, size, step):
        yield slice(start, min(start + step, size))


def library(device: Device) -> Any:
    """NumPy or CuPy."""
    return np if device == "cpu" else cupy()
