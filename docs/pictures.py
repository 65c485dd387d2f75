"""Draw the pictures of the gallery by its programs, and those of the tutorial and the concepts.

    python docs/pictures.py

Needs matplotlib and networkx.
"""

from __future__ import annotations

import contextlib
import runpy
from doctest import DocTestParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

DOCS = Path(__file__).parent
FOLDER = DOCS / "pictures"
GALLERY = DOCS.parent / "examples" / "gallery"
INK, ACCENT, PALE = "#334155", "#c2255c", "#94a3b8"
SIZE = 5.4, 2.9
"""Inches."""

Names = dict[str, Any]


def results(page: str) -> Names:
    """What a page's programs leave behind."""
    names: Names = {}
    if not page:
        return names
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8").replace("```", "")
    for example in DocTestParser().get_examples(text):
        exec(compile(example.source, page, "exec"), names)
    return names


def semirings(axes: Axes, names: Names) -> None:
    """What ⊗ and ⊕ do, where two edges arrive at a vertex."""
    spots = {"x": (0, 1), "y": (0, -1), "z": (3, 0)}
    for name, (column, row) in spots.items():
        axes.plot(column, row, "o", markersize=34, color="white", markeredgecolor=INK)
        axes.text(column, row, {"x": "3", "y": "7", "z": "?"}[name], ha="center", va="center", color=INK, fontsize=13)
    for name, weight in (("x", "4"), ("y", "1")):
        row, end = spots[name][1], spots["z"]
        axes.annotate("", (end[0] - 0.28, 0.12 * row), (0.28, row * 0.9), arrowprops={"arrowstyle": "->"})
        axes.text(1.4, 0.62 * row, f"⊗ {weight}", ha="center", va="center", color=ACCENT, backgroundcolor="white")
    axes.text(3.4, 0.0, "⊕ of both terms:", color=ACCENT, va="bottom")
    axes.text(
        3.4, -0.1, "+, ×:  3·4 + 7·1 = 19\nmin, +:  min(3+4, 7+1) = 7\nmax, min:  max(3, 1) = 3", color=INK, va="top"
    )
    axes.set(xlim=(-0.5, 6.6), ylim=(-1.6, 1.6))


def route(axes: Axes, names: Names) -> None:
    """The roads about a route, short ones pulled together, for the file has no coordinates."""
    A, d = names["A"], names["d"]
    way = names["path"](names["parent"], 7)
    near = set(np.flatnonzero(d <= 5000).tolist())
    roads = nx.Graph(
        (u, v, {"weight": 100 / w}) for u, v, w in zip(*A.to_edges(), strict=True) if u in near and v in near
    )
    places = nx.spring_layout(roads, k=0.25, iterations=300, seed=7)
    nx.draw_networkx_edges(roads, places, ax=axes, edge_color=PALE)
    nx.draw_networkx_nodes(roads, places, ax=axes, node_size=12, node_color=INK)
    nx.draw_networkx_edges(roads, places, list(pairwise(way)), ax=axes, width=2.4, edge_color=ACCENT)
    nx.draw_networkx_labels(roads, places, {v: v for v in way}, ax=axes, font_size=9, verticalalignment="bottom")


def levels(axes: Axes, names: Names) -> None:
    """How many crossings lie so many roads away."""
    counts = np.bincount(names["bfs"](names["A"], 0))
    axes.bar(range(counts.size), counts, color=PALE)
    axes.bar(counts.argmax(), counts.max(), color=ACCENT)
    for level in range(0, counts.size, 10):
        axes.text(level, -4, level, ha="center", va="top", color=INK)
    axes.text(counts.argmax() + 1, counts.max(), f"{counts.max()} crossings\n{counts.argmax()} roads away", color=INK)


def likely(axes: Axes, names: Names) -> None:
    """How likely the best ways are, beside the lengths of the shortest."""
    chance = names["sssp"](names["P"], 0, names["likely"])
    axes.plot(names["d"] / 1000, chance, ".", markersize=2, color=ACCENT)
    for km in (0, 20, 40, 60):
        axes.text(km, -0.05, f"{km} km", ha="center", va="top", color=INK)
    for share in (0, 0.5, 1):
        axes.text(-2, share, f"{share:.0%}", ha="right", va="center", color=INK)


DRAWN = {"tutorial": (route, levels, likely), "": (semirings,)}
"""The pictures that show results of a page's programs, and the one that needs none."""


def draw(folder: Path = FOLDER) -> None:
    """Write all pictures."""
    folder.mkdir(exist_ok=True)
    with contextlib.chdir(folder):
        for program in sorted(GALLERY.glob("*.py")):
            runpy.run_path(str(program))
    for page, pictures in DRAWN.items():
        names = results(page)
        for picture in pictures:
            figure = Figure(figsize=SIZE)
            axes = figure.add_axes((0, 0, 1, 1))
            picture(axes, names)
            axes.set_axis_off()
            figure.savefig(folder / f"{picture.__name__}.png", dpi=90, bbox_inches="tight", metadata={"Software": None})


if __name__ == "__main__":
    draw()
