"""SSCA#2 graphs [1]: cliques of random size, joined the more seldom the farther they are apart.

The vertices 0 .. n-1 are cut into cliques of 1 to `max_clique`, every size as probable; the last one ends at n. Within
a clique every vertex is joined with every other. Between cliques [2], a vertex i draws at each of the distances
d = 2, 4, 8, …, n/2 one vertex, i + d + r with 0 <= r < d/2 at random, modulo n, and is joined with it with probability
`between` at the distance 2, half of that at 4, a quarter at 8, and so on, unless both are in one clique. Last, the
vertices are renumbered at random, so that a number says nothing of the clique.

A random vertex is in a clique of size k with a probability that grows with k, so it has 2 (max_clique - 1) / 3
neighbours in its clique on average, and 31.8 in all with cliques up to 48: the papers that measure on these graphs
give them an average degree of about 32. The benchmark's own cliques have up to 2^(scale/3) vertices, and its edges may
be parallel and lead one way only; here an edge is there once in each direction, with one weight.

Rows are made in their order, a block at a time, so that nothing sorts all arcs, and a graph takes hardly more memory
than its CSR.

[1] D. A. Bader, K. Madduri, Design and implementation of the HPCS graph analysis benchmark on symmetric
    multiprocessors, HiPC 2005.
[2] K. Madduri, D. A. Bader, GTgraph: A suite of synthetic graph generators, 2006; the numbers are its defaults.
"""

from __future__ import annotations

import numpy as np
from numpy import uint64
from numpy.typing import DTypeLike

from formats import CSR, from_edges
from formats.arrays import Array, Device, index_dtype, namespace
from formats.storage.compressed import expand

from .randomness import LABELS, SIZES, blocks, hashed, library, numbers, weights_of

MAX_CLIQUE = 48
"""For an average degree of 31.8."""
BETWEEN = 0.5


def ssca2(
    scale: int,
    *,
    max_clique: int = MAX_CLIQUE,
    between: float = BETWEEN,
    permute: bool = True,
    seed: int = 1,
    high: int = 255,
    device: Device = "cpu",
    dtype: DTypeLike = np.float32,
) -> CSR:
    """The symmetric SSCA#2 graph of 2^scale vertices, each edge in both directions, of one weight 1..high.

    max_clique: the largest clique's vertices; about 3/2 of the average degree.  between: the probability that a vertex
    draws an edge at the distance 2.  permute: whether vertices are renumbered at random; if not, those of a clique
    follow each other.  ValueError unless 0 <= scale < 32, max_clique >= 1 and 0 <= between < 1.
    """
    if not 0 <= scale < 32:
        raise ValueError(f"scale must be in [0, 32), got {scale}")
    if max_clique < 1:
        raise ValueError(f"max_clique must be at least 1, got {max_clique}")
    if not 0 <= between < 1:
        raise ValueError(f"between must be in [0, 1), got {between}")
    n, xp = 1 << scale, library(device)
    first = cliques(n, max_clique, seed, device)
    old = permutation(n, seed, device) if permute else xp.arange(n, dtype=index_dtype(n))  # old[new]
    new = xp.empty_like(old)
    new[old] = xp.arange(n, dtype=old.dtype)
    clique = expand(first)
    u, v = joins(scale, clique, between, seed, device)
    joined = from_edges(xp.concatenate((new[u], new[v])), xp.concatenate((new[v], new[u])), shape=n)
    indptr = xp.zeros(n + 1, np.int64)
    xp.cumsum(xp.diff(first)[clique[old]] - 1 + xp.diff(joined.indptr), out=indptr[1:])
    nnz = int(indptr[-1])
    indices, values, done = xp.empty(nnz, index_dtype(n, nnz)), xp.empty(nnz, dtype), 0
    for block in blocks(n, device, max_clique):
        row, other = mates(old[block], first, clique)
        keys = xp.concatenate((row * n + new[other], ends(joined, block, n)))
        keys.sort()
        row, col = keys >> scale, keys & (n - 1)
        part = slice(done, done + keys.size)
        indices[part] = col.astype(indices.dtype)
        values[part] = weights_of(row + block.start, col, n, seed, high, dtype, symmetric=True)
        done = part.stop
    return CSR.trusted(indptr.astype(indices.dtype), indices, values, (n, n))


def cliques(n: int, max_clique: int, seed: int, device: Device) -> Array:
    """Draws cliques: number c of the k has the vertices first[c] .. first[c + 1] - 1 of n, where first is (k + 1,)."""
    xp = library(device)
    count = 64 + 2 * n // (max_clique + 1)  # as many as reach n on average, and some
    while True:
        sizes = uint64(1) + hashed(xp.arange(count, dtype=uint64), seed, SIZES) % uint64(max_clique)
        first = xp.concatenate((xp.zeros(1, np.int64), xp.cumsum(sizes.astype(np.int64))))
        if int(first[-1]) >= n:
            return xp.concatenate((first[first < n], xp.full(1, n, np.int64)))
        count *= 2


def permutation(n: int, seed: int, device: Device) -> Array:
    """The vertices 0 .. n-1 in random order."""
    xp = library(device)
    keys = hashed(xp.arange(n, dtype=uint64), seed, LABELS)
    return xp.argsort(keys, kind="stable").astype(index_dtype(n))


def joins(scale: int, clique: Array, between: float, seed: int, device: Device) -> tuple[Array, Array]:
    """Draws the edges between cliques, some perhaps twice.  clique: (n,), the clique of every vertex."""
    xp = library(device)
    n = uint64(1 << scale)
    found = [(xp.zeros(0, np.int64), xp.zeros(0, np.int64))]
    for level in range(1, scale):
        distance, chance = uint64(1 << level), uint64(int(between * 2.0 ** (65 - level)))
        for block in blocks(clique.size, device):
            u = numbers(block, device)
            u = u[hashed(u, seed, level) < chance]
            v = (u + distance + hashed(u, seed, 32 + level) % (distance >> uint64(1))) % n
            u, v = u.astype(np.int64), v.astype(np.int64)
            apart = clique[u] != clique[v]
            found.append((u[apart], v[apart]))
    u, v = (xp.concatenate(parts) for parts in zip(*found, strict=True))
    return u, v


def mates(vertices: Array, first: Array, clique: Array) -> tuple[Array, Array]:
    """Lists (i, v) for every vertex v that is in the clique of vertices[i], but for itself."""
    xp = namespace(vertices)
    low, high = first[clique[vertices]], first[clique[vertices] + 1]
    widest = int((high - low).max())
    others = low[:, None] + xp.arange(widest)
    there = (others < high[:, None]) & (others != vertices[:, None])
    row, at = xp.nonzero(there)
    return row, low[row] + at


def ends(joined: CSR, block: slice, n: int) -> Array:
    """i · n + v for every entry (block.start + i, v)."""
    indptr = joined.indptr[block.start : block.stop + 1]
    start, stop = int(indptr[0]), int(indptr[-1])
    return expand(indptr - indptr[0]).astype(np.int64) * n + joined.indices[start:stop]
