"""Draw the pictures of the gallery, the tutorial and the concepts, from the programs of these pages.

    python docs/pictures.py

Needs matplotlib and networkx.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
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


def streets(axes: Axes, names: Names, key: str, widths: Callable[[float], float], way: Iterable[int]) -> None:
    """The town with streets as wide as an attribute says, and a way through it."""
    town = names["town"]
    places = {v: (v % 16, -(v // 16)) for v in town}
    wide = [widths(street[key]) for _, _, street in town.edges(data=True)]
    nx.draw_networkx_edges(town, places, ax=axes, width=wide, edge_color=PALE)
    nx.draw_networkx_edges(town, places, list(pairwise(way)), ax=axes, width=2.2, edge_color=ACCENT)
    nx.draw_networkx_nodes(town, places, [0, 143], ax=axes, node_size=50, node_color=ACCENT)


def widest(axes: Axes, names: Names) -> None:
    streets(axes, names, "tonnes", lambda tonnes: tonnes / 9, names["widest"])


def reliable(axes: Axes, names: Names) -> None:
    streets(axes, names, "open", lambda chance: 14 * (chance - 0.68), names["reliable"])


def stations(axes: Axes, names: Names) -> None:
    town, chosen = names["town"], names["stations"]
    places = {v: (v % 16, -(v // 16)) for v in town}
    nx.draw_networkx_edges(town, places, ax=axes, edge_color=PALE)
    nx.draw_networkx_nodes(
        town, places, ax=axes, node_size=70, node_color=names["nearest"][0], cmap="Set2", vmin=0, vmax=7
    )
    nx.draw_networkx_nodes(town, places, chosen, ax=axes, node_size=140, node_shape="s", node_color=INK)


def members(axes: Axes, names: Names, sizes: Any, colours: Any = ACCENT, **options: Any) -> None:
    """The karate club, always in the same places."""
    club = names["club"]
    places = nx.kamada_kawai_layout(club)
    nx.draw_networkx_edges(club, places, ax=axes, edge_color=PALE, width=0.7)
    nx.draw_networkx_nodes(club, places, ax=axes, node_size=sizes, node_color=colours, edgecolors=INK, **options)


def betweenness(axes: Axes, names: Names) -> None:
    members(axes, names, 25 + 1200 * names["between"])


def triangles(axes: Axes, names: Names) -> None:
    members(axes, names, 20 + 18 * names["three"])


def cores(axes: Axes, names: Names) -> None:
    members(axes, names, 150, names["core"], cmap="YlGnBu", vmin=0, vmax=5)


def pagerank(axes: Axes, names: Names) -> None:
    web, rank = names["web"], names["rank"]
    places = nx.circular_layout(web)
    sizes = [150 + 3500 * rank[page] for page in web]
    nx.draw_networkx_edges(web, places, ax=axes, edge_color=INK, node_size=sizes, connectionstyle="arc3,rad=0.12")
    nx.draw_networkx_nodes(web, places, ax=axes, node_size=sizes, node_color="#ffd8a8", edgecolors=INK)
    nx.draw_networkx_labels(web, places, ax=axes, font_size=9)


def communities(axes: Axes, names: Names) -> None:
    ring = names["ring"]
    places = {
        v: np.array([2.4 * np.cos(np.pi * (v // 6) / 3), np.sin(np.pi * (v // 6) / 3)])
        + 0.32 * np.array([np.cos(np.pi * v / 3), np.sin(np.pi * v / 3)])
        for v in ring
    }
    colours = np.unique(names["label"], return_inverse=True)[1]
    nx.draw_networkx_edges(ring, places, ax=axes, edge_color=PALE)
    nx.draw_networkx_nodes(ring, places, ax=axes, node_size=60, node_color=colours, cmap="Set2", vmin=0, vmax=7)


def viterbi(axes: Axes, names: Names) -> None:
    graph, way = nx.DiGraph([edge[:2] for edge in names["days"]]), names["states"]
    places = {0: (0, 0.5)} | {v: ((v + 1) // 2, v % 2) for v in range(1, 7)}
    nx.draw_networkx_edges(graph, places, ax=axes, edge_color=PALE)
    nx.draw_networkx_edges(graph, places, list(pairwise(way)), ax=axes, width=2.6, edge_color=ACCENT)
    nx.draw_networkx_nodes(graph, places, ax=axes, node_size=380, node_color="white", edgecolors=INK)
    for row, state in ((1, "healthy"), (0, "fever")):
        axes.text(0.55, row + 0.13, state, ha="right", color=INK)
    for day, felt in enumerate(("start", "normal", "cold", "dizzy")):
        axes.text(day, -0.32, felt, ha="center", color=INK)
    axes.set_ylim(-0.5, 1.3)


def edit(axes: Axes, names: Names) -> None:
    costs = names["edits"].reshape(names["at"].shape)
    way = np.array([divmod(v, costs.shape[1]) for v in names["alignment"]])
    axes.imshow(costs, cmap="YlGnBu", alpha=0.55)
    for (row, column), cost in np.ndenumerate(costs):
        axes.text(column, row, int(cost), ha="center", va="center", color=INK)
    axes.plot(way[:, 1], way[:, 0], color=ACCENT, linewidth=2)
    for row, letter in enumerate(" " + names["a"]):
        axes.text(-0.9, row, letter, va="center", color=INK)
    for column, letter in enumerate(" " + names["b"]):
        axes.text(column, -0.8, letter, ha="center", color=INK)
    axes.set(xlim=(-1.2, costs.shape[1] - 0.4), ylim=(costs.shape[0] - 0.4, -1.2))


def closure(axes: Axes, names: Names) -> None:
    rows, cols, _ = names["C"].to_edges()
    direct = nx.to_numpy_array(names["courses"])
    shown = np.zeros_like(direct)
    shown[rows, cols] = 1
    axes.imshow(shown + direct, cmap="PuBu", vmax=2.6)
    for at, name in enumerate(names["names"]):
        axes.text(-0.7, at, name, ha="right", va="center", color=INK)
    for u, v in np.argwhere(shown):
        axes.text(
            v,
            u,
            "direct" if direct[u, v] else "also",
            ha="center",
            va="center",
            fontsize=7,
            color="white" if direct[u, v] else INK,
        )
    axes.set_xlim(-4, 5.6)


def critical(axes: Axes, names: Names) -> None:
    weeks, tasks = names["weeks"], names["tasks"]
    begins = dict(zip(tasks, names["start"].tolist(), strict=True))
    for row, task in enumerate(name for name in weeks if name != "end"):
        colour = ACCENT if task in names["critical"] else PALE
        axes.barh(-row, weeks[task], left=begins[task], color=colour)
        axes.text(begins[task] + weeks[task] + 0.2, -row, task, va="center", color=INK)
    axes.text(0, -7.2, "week 0", color=INK)
    axes.text(15, -7.2, "week 15", color=INK, ha="center")
    axes.set_xlim(-0.3, 17)


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


DRAWN = {
    "gallery": (
        *(widest, reliable, stations, betweenness, pagerank, triangles, cores, communities, viterbi, edit, closure),
        critical,
    ),
    "tutorial": (route, levels, likely),
    "": (semirings,),
}
"""What is drawn from each page, and what from none."""


def draw(folder: Path = FOLDER) -> None:
    """Write all pictures."""
    folder.mkdir(exist_ok=True)
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
