"""Routes in a street network: nearest crossings, a route with its legs, an isochrone, a table of travel times; drawn.

    python examples/routes.py --picture routes.png

Streets of a real place come from OSMnx in the same form:

    import osmnx
    G = osmnx.graph_from_place("Delft", network_type="drive")
    G = osmnx.project_graph(osmnx.add_edge_travel_times(osmnx.add_edge_speeds(G)))
"""

from __future__ import annotations

import argparse
from itertools import groupby
from typing import Any

import networkx as nx
import numpy as np
from scipy.spatial import KDTree
from streets import streets

from algorithms import Graph, sssp

HOME, WORK = (310.0, 220.0), (3180.0, 1960.0)
HOSPITALS = {"north": (700.0, 2000.0), "south": (2600.0, 150.0), "east": (3300.0, 1200.0)}
MINUTES = 4


def nearest(G: nx.MultiDiGraph, points: list[tuple[float, float]]) -> list[Any]:
    """The crossing nearest to each point."""
    names = list(G)
    tree = KDTree([(G.nodes[name]["x"], G.nodes[name]["y"]) for name in names])
    return [names[at] for at in tree.query(points)[1]]


def directions(legs: list[Any]) -> list[tuple[str, float, float]]:
    """(street, meters, seconds) for each street that a route follows."""
    parts = ((street, list(group)) for street, group in groupby(legs, key=lambda leg: leg.row["name"]))
    return [(street, sum(leg.row["length"] for leg in part), sum(leg.weight for leg in part)) for street, part in parts]


def table(g: Graph, sources: list[Any], targets: list[Any]) -> np.ndarray:
    """Seconds from each of some crossings to each of others."""
    seconds = sssp(g.matrix, sources=[g.index(name) for name in sources])
    return seconds[:, [g.index(name) for name in targets]]


def draw(G: nx.MultiDiGraph, near: Any, route: list[Any], picture: str) -> None:
    """The streets, what can be reached within the minutes, and the route."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt
    from matplotlib.collections import LineCollection

    at = {name: (data["x"], data["y"]) for name, data in G.nodes(data=True)}
    figure, axes = plt.subplots(figsize=(9, 6), layout="constrained")
    axes.add_collection(LineCollection([(at[u], at[v]) for u, v in G.edges()], colors="lightgray", linewidths=0.8))
    x, y = zip(*(at[name] for name in near), strict=True)
    points = axes.scatter(x, y, c=[seconds / 60 for seconds in near.values()], s=14, cmap="viridis_r", zorder=2)
    axes.plot(*zip(*(at[name] for name in route), strict=True), color="crimson", linewidth=2.5, zorder=3)
    figure.colorbar(points, label="minutes from home")
    axes.set_aspect("equal")
    axes.set_axis_off()
    axes.autoscale()
    figure.savefig(picture, dpi=120)
    plt.close(figure)


def main(G: nx.MultiDiGraph, picture: str | None = None) -> None:
    """Ask everything of one network."""
    g = Graph.from_networkx(G, "travel_time", columns=["name", "length"])
    home, work = nearest(G, [HOME, WORK])
    route = g.sssp(home, target=work).path(work)
    print(f"from {home} to {work}: {route.length / 60:.1f} minutes")
    for street, meters, seconds in directions(route.legs):
        print(f"  {street:<12} {meters:6.0f} m {seconds:5.0f} s")
    near = g.sssp(home, limit=60.0 * MINUTES)
    print(f"{len(near)} of {len(G)} crossings are within {MINUTES} minutes")
    places = nearest(G, list(HOSPITALS.values()))
    print("minutes from", *HOSPITALS, sep="\t")
    for name, row in zip(("home", "work"), table(g, places, [home, work]).T / 60, strict=True):
        print(f"to {name}", *(f"{minutes:.1f}" for minutes in row), sep="\t")
    if picture:
        draw(G, near, route.vertices, picture)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Routes in a street network.")
    parser.add_argument("--picture", help="where to draw it")
    main(streets(), parser.parse_args().picture)
