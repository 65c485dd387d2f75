"""Graphs of small degree and long paths: a square grid, and road graphs from files with weights of our own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import DTypeLike

from formats import CSR, read
from formats.arrays import Device, to_device

from .randomness import library, weighted

ROADS = "road-topo-NE.pace.gr.gz"


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
