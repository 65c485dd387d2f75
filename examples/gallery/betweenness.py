"""The members of a karate club on most shortest paths between others: its two leaders."""

import networkx as nx
import numpy as np
from matplotlib.figure import Figure

from algorithms import betweenness_centrality
from formats import from_networkx

club = nx.karate_club_graph()
between = betweenness_centrality(from_networkx(club, None))

assert between.argsort()[::-1][:2].tolist() == [0, 33]
assert np.allclose(between, list(nx.betweenness_centrality(club).values()))

places = nx.kamada_kawai_layout(club)
figure = Figure(figsize=(5.4, 2.9))
axes = figure.add_axes((0, 0, 1, 1))
nx.draw_networkx_edges(club, places, ax=axes, edge_color="#94a3b8", width=0.7)
nx.draw_networkx_nodes(club, places, ax=axes, node_size=25 + 1200 * between, node_color="#c2255c", edgecolors="#334155")
axes.set_axis_off()
figure.savefig("betweenness.png", dpi=90, bbox_inches="tight")
