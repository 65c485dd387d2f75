"""The heaviest lorry that can cross a town: a way bears as much as its weakest street, ⊕ = max and ⊗ = min."""

from itertools import pairwise

import networkx as nx
import numpy as np
from matplotlib.figure import Figure

from algorithms import path, sssp
from formats import from_networkx

rng = np.random.default_rng(4)
town = nx.convert_node_labels_to_integers(nx.grid_2d_graph(9, 16))
for _, _, street in town.edges(data=True):
    street.update(metres=int(rng.integers(50, 200)), tonnes=int(rng.integers(3, 40)), open=rng.uniform(0.7, 1.0))

tonnes, parent = sssp(from_networkx(town, "tonnes"), 0, "max_min", return_parents=True)
widest = path(parent, 143)

assert tonnes[143] == 20
tree = nx.maximum_spanning_tree(town, "tonnes")  # where NetworkX finds such a way
assert min(tree.edges[street]["tonnes"] for street in pairwise(nx.shortest_path(tree, 0, 143))) == 20

places = {v: (v % 16, -(v // 16)) for v in town}
widths = [street["tonnes"] / 9 for _, _, street in town.edges(data=True)]
figure = Figure(figsize=(5.4, 2.9))
axes = figure.add_axes((0, 0, 1, 1))
nx.draw_networkx_edges(town, places, ax=axes, width=widths, edge_color="#94a3b8")
nx.draw_networkx_edges(town, places, list(pairwise(widest)), ax=axes, width=2.2, edge_color="#c2255c")
nx.draw_networkx_nodes(town, places, [0, 143], ax=axes, node_size=50, node_color="#c2255c")
axes.set_axis_off()
figure.savefig("widest.png", dpi=90, bbox_inches="tight")
