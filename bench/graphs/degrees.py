"""Random graphs in which every vertex draws so many neighbours, those of Martín, Torres and Gavilanes [1] among them.

Their lists have 7 predecessors a vertex, and their matrices n/5 successors, with weights 1 to 10. They use a list in
two ways: with what a vertex draws as its predecessors, or turned, by its successors, of which there are then any
number. Both are one graph, of which a row has the successors and a column the predecessors.

Numbers are drawn without repetition: few by Floyd's algorithm [2], a step for each, in which a number that was drawn
before gives way to the one that cannot have been; many as those with the least of n random keys.

[1] P. J. Martín, R. Torres, A. Gavilanes, CUDA Solutions for the SSSP Problem, ICCS 2009.
[2] J. Bentley, B. Floyd, Programming Pearls: A Sample of Brilliance, Communications of the ACM 30(9), 1987.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import uint64
from numpy.typing import DTypeLike

from formats import CSC, CSR
from formats.arrays import Array, Device, index_dtype, namespace

from .randomness import GOLDEN, TARGETS, blocks, hashed, library, numbers, weighted, weights_of

NEAR = 9
"""Octaves of distances to the pages of a site."""


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


def web(
    n: int, degree: int, *, seed: int = 1, high: int = 255, device: Device = "cpu", dtype: DTypeLike = np.float32
) -> CSR:
    """A directed graph like the web's, in which each of n pages draws `degree` links; one drawn twice counts once.

    Seven links of eight lead to a page near by, as sites have them: a distance has as many chances in each octave up to
    2^NEAR. The others lead to pages that many know: the k-th of them is drawn as often as k^(-2/3).  Weights 1..high.
    """
    xp = library(device)
    src = xp.empty(n * degree, np.int32)
    dst = xp.empty_like(src)
    for block in blocks(src.size, device):
        edges = numbers(block, device)
        u, drawn = edges // uint64(degree), hashed(edges, seed, TARGETS)
        distance = uint64(1) + (drawn >> uint64(8)) % (uint64(1) << drawn % uint64(NEAR))
        near = xp.where((drawn & uint64(1 << 60)) > 0, u + distance, u + uint64(n) - distance % uint64(n))
        r = (drawn << uint64(3)).astype(np.float64) * 2.0**-64
        known = (r * r * r * n).astype(uint64) * uint64(GOLDEN)
        v = xp.where(drawn >> uint64(61) > 0, near, known) % uint64(n)
        src[block] = u.astype(np.int32)
        dst[block] = xp.where(v == u, u + uint64(1), v).astype(np.int32) % np.int32(n)
    return weighted(src, dst, n, seed, high, dtype)


def predecessors(
    n: int, degree: int, *, seed: int = 1, high: int = 10, device: Device = "cpu", dtype: DTypeLike = np.int32
) -> CSR:
    """A directed graph in which each of n vertices draws `degree` different others as its predecessors [1].

    Columns have `degree` entries, rows any number.  Weights 1..high.  ValueError unless 0 <= degree < n.
    """
    if not 0 <= degree < n:
        raise ValueError(f"degree must be in [0, {n}), the others of {n} vertices, got {degree}")
    xp, index_type = library(device), index_dtype(n, n * degree)
    indices = xp.empty((n, degree), index_type)
    values = xp.empty((n, degree), dtype)
    for block in blocks(n, device, max(degree, 1)):
        v = numbers(block, device).astype(np.int64)
        others = few(v, degree, n - 1, seed)
        u = xp.sort(others + (others >= v[:, None]), axis=1)
        indices[block] = u.astype(index_type)
        values[block] = weights_of(u, v[:, None], n, seed, high, dtype)
    indptr = xp.arange(0, n * degree + 1, degree, dtype=index_type) if degree else xp.zeros(n + 1, index_type)
    A: Any = CSC.trusted(indptr, indices.ravel(), values.ravel(), (n, n)).to(CSR)
    return A


def fifth(n: int, *, seed: int = 1, high: int = 10, device: Device = "cpu", dtype: DTypeLike = np.int32) -> CSR:
    """A directed graph in which each of n vertices has n // 5 different others as its successors [1].

    Weights 1..high.  It takes a random number for each pair of vertices.
    """
    xp, degree = library(device), n // 5
    index_type = index_dtype(n, n * degree)
    indices = xp.empty((n, degree), index_type)
    values = xp.empty((n, degree), dtype)
    for block in blocks(n, device, n):
        u = numbers(block, device)
        v = many(u, degree, n, seed)
        indices[block] = v.astype(index_type)
        values[block] = weights_of(u[:, None], v, n, seed, high, dtype)
    indptr = xp.arange(n + 1, dtype=index_type) * degree
    return CSR.trusted(indptr, indices.ravel(), values.ravel(), (n, n))


def few(vertices: Array, count: int, below: int, seed: int) -> Array:
    """Draws `count` different numbers 0..below - 1 for each vertex, in any order, by Floyd's algorithm [2]."""
    xp = namespace(vertices)
    chosen = xp.full((vertices.size, count), -1, np.int64)
    first = vertices.astype(uint64) * uint64(count)
    for step in range(count):
        last = below - count + step  # as yet undrawn, since until now all were smaller
        draw = (hashed(first + uint64(step), seed, TARGETS) % uint64(last + 1)).astype(np.int64)
        again = (chosen == draw[:, None]).any(axis=1)
        chosen[:, step] = xp.where(again, last, draw)
    return chosen


def many(vertices: Array, count: int, n: int, seed: int) -> Array:
    """Draws `count` different vertices of n for each vertex, but for itself, ascending: those of the least keys."""
    xp = namespace(vertices)
    bits = uint64(max(n - 1, 1).bit_length())
    everyone = xp.arange(n, dtype=uint64)
    keys = hashed(vertices[:, None] * uint64(n) + everyone, seed, TARGETS)
    keys = ((keys >> bits) << bits) | everyone  # so that no two are equal
    keys[everyone == vertices[:, None]] = uint64(2**64 - 1)
    bound = xp.sort(keys, axis=1)[:, count : count + 1]
    return xp.nonzero(keys < bound)[1].reshape(vertices.size, count)
