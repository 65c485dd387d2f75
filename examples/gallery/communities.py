"""Communities of a ring of cliques: every vertex takes the label that most of its neighbours have, a few times."""

import networkx as nx
import numpy as np
from matplotlib.figure import Figure

from algorithms import label_propagation
from formats import from_networkx

ring = nx.ring_of_cliques(6, 6)
label = label_propagation(from_networkx(ring))

communities = {frozenset(np.flatnonzero(label == each).tolist()) for each in set(label.tolist())}
assert communities == {frozenset(each) for each in nx.community.label_propagation_communities(ring)}
assert len(communities) == 6

turn = {v: np.pi * np.array([v // 6, v]) / 3 for v in ring}  # angles of a clique, and of a vertex within it
places = {v: np.cos(turn[v]) @ [[2.4, 0], [0.32, 0]] + np.sin(turn[v]) @ [[0, 1], [0, 0.32]] for v in ring}
colours = {"node_color": np.unique(label, return_inverse=True)[1], "cmap": "Set2", "vmin": 0, "vmax": 7}
figure = Figure(figsize=(5.4, 2.9))
axes = figure.add_axes((0, 0, 1, 1))
nx.draw_networkx_edges(ring, places, ax=axes, edge_color="#94a3b8")
nx.draw_networkx_nodes(ring, places, ax=axes, node_size=60, **colours)
axes.set_axis_off()
figure.savefig("communities.png", dpi=90, bbox_inches="tight")
