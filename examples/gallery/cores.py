"""The cores of a karate club: what remains when all members with fewer than k friends leave, again and again."""

import networkx as nx
from matplotlib.figure import Figure

from algorithms import core_number
from formats import from_networkx

club = nx.karate_club_graph()
core = core_number(from_networkx(club, None))

assert (core.max(), (core == 4).sum()) == (4, 10)
assert core.tolist() == list(nx.core_number(club).values())

places = nx.kamada_kawai_layout(club)
figure = Figure(figsize=(5.4, 2.9))
axes = figure.add_axes((0, 0, 1, 1))
nx.draw_networkx_edges(club, places, ax=axes, edge_color="#94a3b8", width=0.7)
colours = {"node_color": core, "cmap": "YlGnBu", "vmin": 0, "vmax": 5}
nx.draw_networkx_nodes(club, places, ax=axes, node_size=150, edgecolors="#334155", **colours)
axes.set_axis_off()
figure.savefig("cores.png", dpi=90, bbox_inches="tight")
