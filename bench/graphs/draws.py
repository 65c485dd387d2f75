"""The edges of R-MAT graphs as they are drawn: by array programs on the host, and by kernels on a GPU (rmat.cu)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy import uint64

from formats.arrays import Array, Device, cupy
from formats.places import kept_by_place

from .randomness import blocks, hashed, library, mixed, numbers

SPARE_FACTOR, SPARE_EDGES = 1.02, 1 << 16
"""Times the edges that a range of rows should have, and more, that there is room for at first."""
THREADS, BLOCKS_EACH = 256, 8
"""Threads of a block, and blocks for each multiprocessor."""


def drawn(
    scale: int, edge_factor: int, probabilities: tuple[float, float, float], seed: int, device: Device
) -> tuple[Array, Array]:
    """Draws sources and targets of all edge_factor · 2^scale edges, self-loops and repeated ones among them."""
    if device != "cpu":
        return drawn_on_gpu(scale, edge_factor, probabilities, seed)
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
    return src, dst


def keys_of_rows(
    scale: int,
    edge_factor: int,
    probabilities: tuple[float, float, float],
    seed: int,
    device: Device,
    first: int,
    last: int,
    share: float,
) -> Any:
    """(row - first) · 2^32 + column of the edges drawn from rows first … last - 1, but self-loops, in any order."""
    if device == "cpu":
        src, dst = drawn(scale, edge_factor, probabilities, seed, device)
        own = (src >= first) & (src < last) & (src != dst)
        return (src[own].astype(np.int64) - first) << 32 | dst[own]
    cp, edges = cupy(), edge_factor << scale
    capacity = min(edges, int(share * edges * SPARE_FACTOR) + SPARE_EDGES)
    while True:
        keys, count = cp.empty(capacity, np.int64), cp.zeros(1, np.uint64)
        drawing = *of_draws(scale, edge_factor, probabilities, seed), np.int64(first), np.int64(last)
        launch("draw_rows", edges, (*drawing, keys, np.uint64(capacity), count))
        found = int(count[0])
        if found <= capacity:
            return keys[:found]
        capacity = found


def drawn_on_gpu(
    scale: int, edge_factor: int, probabilities: tuple[float, float, float], seed: int
) -> tuple[Array, Array]:
    """Draws sources and targets of all edges by one kernel, with the bits of `drawn`."""
    src, dst = (cupy().empty(edge_factor << scale, np.int32) for _ in range(2))
    launch("draw", src.size, (*of_draws(scale, edge_factor, probabilities, seed), src, dst))
    return src, dst


def of_draws(scale: int, edge_factor: int, probabilities: tuple[float, float, float], seed: int) -> tuple[Any, ...]:
    """The first arguments of the kernels."""
    a, b, c = probabilities
    bounds = (uint64(int(part * 2**64)) for part in (a, a + b, a + b + c))
    starts = mixed(np.array([seed * 128 + level for level in range(max(scale, 1))], uint64))
    return uint64(edge_factor << scale), np.int32(scale), cupy().asarray(starts), *bounds


def launch(name: str, edges: int, arguments: tuple[Any, ...]) -> None:
    """Launch a kernel of rmat.cu for so many edges."""
    most = BLOCKS_EACH * cupy().cuda.Device().attributes["MultiProcessorCount"]
    _kernel(name)((max(1, min(-(-edges // THREADS), most)),), (THREADS,), arguments)


def text() -> str:
    """The CUDA text."""
    return Path(__file__).with_name("rmat.cu").read_text(encoding="utf-8")


@kept_by_place(2)
def _kernel(name: str) -> Any:
    from semiring.cuda.compile import load

    return load(text(), "R-MAT graphs").get_function(name)
