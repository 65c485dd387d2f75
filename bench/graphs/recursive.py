"""R-MAT graphs [1]: every edge falls into a quadrant of the adjacency matrix, into a quadrant of that, and so on.

A level decides one bit of both ends: quadrant a is (0, 0), b is (0, 1), c is (1, 0) and d is (1, 1). The quadrants'
probabilities are the same on all levels and in all places, so that the degree of a vertex follows from the ones in its
number: of m edges drawn, a vertex with k ones in s bits is the source of m (a+b)^(s-k) (c+d)^k on average. An edge
drawn twice counts once, and a self-loop does not count.

[1] D. Chakrabarti, Y. Zhan, C. Faloutsos, R-MAT: A Recursive Model for Graph Mining, SDM 2004.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike

from formats import CSR, from_edges
from formats.arrays import Array, Device, namespace
from formats.places import place_of

from .draws import drawn
from .randomness import blocks, weighted, with_weights
from .strips import rmat_in_strips

MAX_DRAWN_EDGES = 2**32 - 1
"""Edges that are drawn at once; of more, those of a range of rows."""
QUADRANTS = (0.57, 0.19, 0.19)
"""Probabilities of a, b and c as in Graph500; d is the rest."""


def rmat(
    scale: int,
    edge_factor: int = 16,
    probabilities: tuple[float, float, float] = QUADRANTS,
    *,
    seed: int = 1,
    high: int = 255,
    device: Device = "cpu",
    dtype: DTypeLike = np.float32,
) -> CSR:
    """A directed R-MAT graph of 2^scale vertices, labels as they come, without self-loops and repeated edges.

    edge_factor: edges per vertex before the removals.  probabilities: of the quadrants (a, b, c); d is the rest.
    Weights 1..high.
    """
    if edge_factor << scale > MAX_DRAWN_EDGES:
        made = {"seed": seed, "high": high, "device": device, "dtype": dtype}
        return rmat_in_strips(scale, edge_factor, probabilities, **made)  # type: ignore[arg-type]
    n = 1 << scale
    pattern = from_edges(*without_loops(*drawn(scale, edge_factor, probabilities, seed, device)), shape=n, dtype=bool)
    return with_weights(pattern, seed, high, dtype)


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


def without_loops(src: Array, dst: Array) -> tuple[Array, Array]:
    """The edges that are no self-loops, in the same memory."""
    kept = 0
    for block in blocks(src.size, str(place_of(src))):
        u, v = src[block], dst[block]
        distinct = u != v
        u, v = u[distinct], v[distinct]
        part = slice(kept, kept + u.size)
        src[part], dst[part], kept = u, v, part.stop
    return src[:kept], dst[:kept]
