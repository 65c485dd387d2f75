"""Draw the README's picture: distances over hills from one place, and the shortest way to another.

    python docs/map.py

Needs matplotlib. The hills are smoothed noise; a step costs its length and what it climbs or descends.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from scipy.ndimage import gaussian_filter

from algorithms import path, sssp
from formats import CSR, from_edges

ROWS, COLUMNS = 240, 480
STEEPNESS = 500.0
"""The cost of climbing from the lowest to the highest place, or back, as a number of level steps."""
SOURCE, TARGET = (200, 30), (40, 450)
PICTURE = Path(__file__).parent / "map.png"


def hills(seed: int = 3) -> np.ndarray:
    """Returns (ROWS, COLUMNS) heights between 0 and 1: noise at three scales."""
    noise = np.random.default_rng(seed).standard_normal((ROWS, COLUMNS))
    height = sum(scale * gaussian_filter(noise, scale) for scale in (6, 14, 30))
    return (height - height.min()) / np.ptp(height)


def steps(height: np.ndarray) -> CSR:
    """The graph of all steps to the eight neighbours, and what they cost."""
    p = np.arange(height.size).reshape(height.shape)
    straight = [(p[:, :-1], p[:, 1:]), (p[:-1], p[1:])]
    pairs = [*straight, (p[:-1, :-1], p[1:, 1:]), (p[:-1, 1:], p[1:, :-1])]
    src = np.concatenate([end.ravel() for a, b in pairs for end in (a, b)])
    dst = np.concatenate([end.ravel() for a, b in pairs for end in (b, a)])
    length = np.hypot(dst // COLUMNS - src // COLUMNS, dst % COLUMNS - src % COLUMNS)
    level = height.ravel()
    return from_edges(src, dst, length + STEEPNESS * abs(level[dst] - level[src]))


def draw(target: Path = PICTURE) -> None:
    """Write the picture."""
    height = hills()
    source, end = (row * COLUMNS + column for row, column in (SOURCE, TARGET))
    d, parent = sssp(steps(height), source, return_parents=True)
    way = np.array([divmod(v, COLUMNS) for v in path(parent, end)])
    figure = Figure(figsize=(9.6, 4.3), layout="constrained")
    axes = figure.subplots()
    axes.imshow(height, cmap="gray", alpha=0.9)
    bands = axes.contourf(d.reshape(height.shape), levels=24, cmap="viridis", alpha=0.62)
    axes.contour(height, levels=9, colors="white", linewidths=0.4, alpha=0.6)
    axes.plot(way[:, 1], way[:, 0], color="crimson", linewidth=2.2)
    axes.plot(*SOURCE[::-1], "o", color="crimson", markersize=8)
    axes.plot(*TARGET[::-1], "*", color="crimson", markersize=13)
    axes.set_axis_off()
    figure.colorbar(bands, ax=axes, shrink=0.85, label="cost from the dot")
    figure.savefig(target, dpi=80)


if __name__ == "__main__":
    draw()
