"""Families of matrices by which the choice of a format is judged: none of them was looked at while it was made.

Each is made of about so many entries, alike on either device, with weights 1 to 255. Entries drawn twice count once.
Small worlds: D. Watts, S. Strogatz, Nature 393, 1998. Preferential attachment, by its limit, an older vertex i of v
with a probability that falls like 1 / √i: A.-L. Barabási, R. Albert, Science 286, 1999.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bench.graphs import hashed, library, numbers
from formats import CSR, from_edges
from formats.arrays import Device

Maker = Callable[[int, Device], CSR]


def draws(count: int, stream: int, device: Device) -> Any:
    """Returns random numbers in [0, 1), (count,)."""
    return (hashed(numbers(slice(0, count), device), 7, stream) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def of(rows: Any, cols: Any, nrows: int, ncols: int, device: Device) -> CSR:
    """The matrix of those entries that lie within it."""
    rows, cols = rows.ravel(), cols.ravel()
    inside = (rows >= 0) & (rows < nrows) & (cols >= 0) & (cols < ncols)
    rows, cols = rows[inside].astype(np.int64), cols[inside].astype(np.int64)
    weights = (draws(int(rows.size), 1, device) * 255 + 1).astype(np.int32).astype(np.float32)
    return from_edges(rows, cols, weights, shape=(nrows, ncols))


def stencil(n: int, offsets: Any, device: Device) -> CSR:
    """Entries at the same offsets from every row's own place."""
    xp = library(device)
    rows = xp.arange(n)[:, None] + xp.zeros((1, len(offsets)), np.int64)
    return of(rows, rows + xp.asarray(offsets, np.int64), n, n, device)


def drawn(nnz: int, degree: int, device: Device) -> tuple[Any, Any, int]:
    """Returns rows and random numbers, `degree` draws for each of n rows, and n."""
    n = max(16, nnz // degree)
    return library(device).arange(n * degree) // degree, draws(n * degree, 2, device), n


def small_world(nnz: int, device: Device) -> CSR:
    rows, u, n = drawn(nnz, 8, device)
    xp = library(device)
    near = (rows + xp.arange(rows.size) % 8 - 3) % n
    return of(rows, xp.where(draws(int(rows.size), 3, device) < 0.1, (u * n).astype(np.int64), near), n, n, device)


def scattered_band(nnz: int, device: Device) -> CSR:
    rows, u, n = drawn(nnz, 12, device)
    return of(rows, rows + ((u - 0.5) * (n / 32)).astype(np.int64), n, n, device)


def diagonals(nnz: int, device: Device) -> CSR:
    n = max(16, nnz // 9)
    return stencil(n, [int((u - 0.5) * n * 0.4) for u in draws(9, 4, "cpu")], device)


def random_blocks(nnz: int, device: Device) -> CSR:
    rows, u, n = drawn(nnz, 24, device)
    return of(rows, rows // 48 * 48 + (u * 48).astype(np.int64), n, n, device)


def attachment(nnz: int, device: Device) -> CSR:
    rows, u, n = drawn(nnz // 2, 4, device)
    older = (rows * u * u).astype(np.int64)
    xp = library(device)
    return of(xp.concatenate((rows, older)), xp.concatenate((older, rows)), n, n, device)


def geometric(nnz: int, device: Device) -> CSR:
    """Points near the places of a grid, and an edge between any two that are less than 1.5 apart."""
    side = max(4, int((nnz / 7) ** 0.5))
    n, xp = side * side, library(device)
    x, y = (axis + draws(n, stream, device) for axis, stream in ((xp.arange(n) // side, 5), (xp.arange(n) % side, 6)))
    rows, cols = [], []
    for step in range(25):
        i, j = xp.arange(n), xp.arange(n) + (step // 5 - 2) * side + step % 5 - 2
        i, j = i[(j >= 0) & (j < n)], j[(j >= 0) & (j < n)]
        near = ((x[i] - x[j]) ** 2 + (y[i] - y[j]) ** 2 < 2.25) & (i != j)
        rows.append(i[near])
        cols.append(j[near])
    return of(xp.concatenate(rows), xp.concatenate(cols), n, n, device)


def bipartite(nnz: int, device: Device) -> CSR:
    rows, u, n = drawn(nnz, 16, device)
    return of(rows, (u * (n // 8)).astype(np.int64), n, n // 8, device)


def popular_columns(nnz: int, device: Device) -> CSR:
    rows, u, n = drawn(nnz, 10, device)
    return of(rows, (u**4 * n).astype(np.int64), n, n, device)


def popular_rows(nnz: int, device: Device) -> CSR:
    cols, u, n = drawn(nnz, 10, device)
    return of((u**3 * n).astype(np.int64), cols, n, n, device)


def arrow(nnz: int, device: Device) -> CSR:
    n, xp = nnz // 5, library(device)
    every, first = xp.arange(n), xp.zeros(n, np.int64)
    rows, cols = (first, every, every, every, every), (every, first, every, every + 1, every - 1)
    return of(xp.concatenate(rows), xp.concatenate(cols), n, n, device)


def kronecker(nnz: int, device: Device) -> CSR:
    """A Kronecker graph less skewed than R-MAT, of 12 draws a row."""
    scale = max(4, round(np.log2(nnz / 12)))
    xp = library(device)
    rows = cols = xp.zeros(12 << scale, np.int64)
    for level in range(scale):
        u = draws(int(rows.size), 10 + level, device)
        rows, cols = 2 * rows + (u > 0.62), 2 * cols + (((u > 0.4) & (u < 0.62)) | (u > 0.8))
    return of(rows, cols, 1 << scale, 1 << scale, device)


def mesh_2d(nnz: int, device: Device) -> CSR:
    side = int((nnz / 9) ** 0.5)
    return stencil(side * side, [i * side + j for i in (-1, 0, 1) for j in (-1, 0, 1)], device)


def mesh_3d(nnz: int, device: Device) -> CSR:
    side = int((nnz / 7) ** (1 / 3))
    return stencil(side**3, [0, 1, -1, side, -side, side * side, -side * side], device)


def tree(nnz: int, device: Device) -> CSR:
    """A random recursive tree, both ways."""
    rows, u, n = drawn(nnz // 2, 1, device)
    xp, parent = library(device), (rows * u).astype(np.int64)
    return of(xp.concatenate((rows, parent)), xp.concatenate((parent, rows)), n, n, device)


def empty_rows(nnz: int, device: Device) -> CSR:
    """Half as many entries as rows, in rows of about 32."""
    rows, u, n = drawn(nnz, 32, device)
    return of((rows * 40503) % (n * 64), (u * n * 64).astype(np.int64), n * 64, n * 64, device)


def local_lengths(nnz: int, device: Device) -> CSR:
    """Rows of very different lengths, whose entries lie near the diagonal."""
    n = max(16, nnz // 20)
    lengths = np.minimum(4 / np.maximum(draws(n, 8, "cpu"), 1e-4), n / 4).astype(np.int64)
    rows = library(device).asarray(np.repeat(np.arange(n), lengths))
    away = (draws(int(rows.size), 9, device) - 0.5) * 2 * library(device).asarray(np.repeat(lengths, lengths))
    return of(rows, rows + away.astype(np.int64), n, n, device)


def thick(nnz: int, device: Device) -> CSR:
    """One position in twelve."""
    n = int((nnz * 12) ** 0.5)
    u = draws(nnz, 2, device) * n * n
    return of(u.astype(np.int64) // n, u.astype(np.int64) % n, n, n, device)


FAMILIES: dict[str, Maker] = {
    maker.__name__.replace("_", " "): maker
    for maker in (
        *(small_world, scattered_band, diagonals, random_blocks, attachment, geometric, bipartite, popular_columns),
        *(popular_rows, arrow, kronecker, mesh_2d, mesh_3d, tree, empty_rows, local_lengths, thick),
    )
}
