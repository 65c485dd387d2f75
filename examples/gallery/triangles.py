"""The triangles of each member of a karate club: three members who all know each other."""

import networkx as nx
from matplotlib.figure import Figure

from algorithms import triangles
from formats import from_networkx

club = nx.karate_club_graph()
three = triangles(from_networkx(club, None))

assert three.sum() // 3 == 45
assert three.tolist() == list(nx.triangles(club).values())

places = nx.kamada_kawai_layout(club)
figure = Figure(figsize=(5.4, 2.9))
axes = figure.add_axes((0, 0, 1, 1))
nx.draw_networkx_edges(club, places, ax=axes, edge_color="#94a3b8", width=0.7)
nx.draw_networkx_nodes(club, places, ax=axes, node_size=20 + 18 * three, node_color="#c2255c", edgecolors="#334155")
axes.set_axis_off()
figure.savefig("triangles.png", dpi=90, bbox_inches="tight")
