"""The way through a town that is most likely open: probabilities multiply, ⊕ = max and ⊗ = ×."""

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

chance, parent = sssp(from_networkx(town, "open"), 0, "max_times", return_parents=True)
reliable = path(parent, 143)

assert round(chance[143].item(), 4) == 0.2074
assert reliable == nx.dijkstra_path(town, 0, 143, lambda u, v, street: -np.log(street["open"]))

places = {v: (v % 16, -(v // 16)) for v in town}
widths = [14 * (street["open"] - 0.68) for _, _, street in town.edges(data=True)]
figure = Figure(figsize=(5.4, 2.9))
axes = figure.add_axes((0, 0, 1, 1))
nx.draw_networkx_edges(town, places, ax=axes, width=widths, edge_color="#94a3b8")
nx.draw_networkx_edges(town, places, list(pairwise(reliable)), ax=axes, width=2.2, edge_color="#c2255c")
nx.draw_networkx_nodes(town, places, [0, 143], ax=axes, node_size=50, node_color="#c2255c")
axes.set_axis_off()
figure.savefig("reliable.png", dpi=90, bbox_inches="tight")
