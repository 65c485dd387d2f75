"""A street network as OSMnx gives them, made by a generator: no download, and the same streets for everyone.

Crossings lie on a grid, moved about. Some streets are missing, some one-way; every fifth row and column is a main
street, and a river has three bridges. What no street leads to and from is left out.
"""

from __future__ import annotations

import math
import random
from typing import Any

import networkx as nx

MAIN, SIDE = 50.0, 30.0
"""Speeds in km/h."""

SPACING = 100.0
"""Meters between crossings, on the average."""


def streets(rows: int = 24, columns: int = 36, seed: int = 1) -> nx.MultiDiGraph:
    """Nodes have x and y in meters, edges a name, length in meters, speed in km/h and travel_time in seconds."""
    draw = random.Random(seed)
    G: Any = nx.MultiDiGraph()
    for r in range(rows):
        for c in range(columns):
            x, y = (SPACING * (at + draw.uniform(-0.3, 0.3)) for at in (c, r))
            G.add_node(1000 * r + c, x=x, y=y)
    river, bridges = rows // 2, {columns // 6, columns // 2, columns - 3}
    for r in range(rows):
        for c in range(columns):
            if c + 1 < columns:
                add_street(G, draw, 1000 * r + c, 1000 * r + c + 1, f"Street {r + 1}", r % 5 == 0)
            if r + 1 < rows and (r + 1 != river or c in bridges):
                add_street(G, draw, 1000 * r + c, 1000 * (r + 1) + c, f"Avenue {c + 1}", c % 5 == 0 or r + 1 == river)
    return G.subgraph(max(nx.strongly_connected_components(G), key=len)).copy()


def add_street(G: Any, draw: random.Random, u: int, v: int, name: str, main: bool) -> None:
    """A street both ways, one way, or none."""
    if not main and draw.random() < 0.12:
        return
    one_way = not main and draw.random() < 0.25
    if one_way and draw.random() < 0.5:
        u, v = v, u
    a, b = G.nodes[u], G.nodes[v]
    length = math.hypot(a["x"] - b["x"], a["y"] - b["y"])
    speed = MAIN if main else SIDE
    for begin, end in [(u, v)] if one_way else [(u, v), (v, u)]:
        G.add_edge(begin, end, name=name, length=length, speed=speed, travel_time=length / speed * 3.6)
