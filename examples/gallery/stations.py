"""The nearest two of five stations to each crossing of a town, by one call from all of them."""

import networkx as nx
import numpy as np
from matplotlib.figure import Figure

from algorithms import sssp
from formats import from_networkx

rng = np.random.default_rng(4)
town = nx.convert_node_labels_to_integers(nx.grid_2d_graph(9, 16))
for _, _, street in town.edges(data=True):
    street.update(metres=int(rng.integers(50, 200)), tonnes=int(rng.integers(3, 40)), open=rng.uniform(0.7, 1.0))

stations = [5, 40, 75, 98, 140]
D = sssp(from_networkx(town, "metres"), sources=stations)
nearest = D.argsort(axis=0, kind="stable")[:2]

assert [(stations[k], D[k, 0]) for k in nearest[:, 0]] == [(5, 767), (98, 875)]
far = [nx.single_source_dijkstra_path_length(town, station, weight="metres") for station in stations]
assert [sorted(each[v] for each in far)[:2] for v in town] == np.sort(D, axis=0)[:2].T.tolist()

places = {v: (v % 16, -(v // 16)) for v in town}
colours = {"node_color": nearest[0], "cmap": "Set2", "vmin": 0, "vmax": 7}
figure = Figure(figsize=(5.4, 2.9))
axes = figure.add_axes((0, 0, 1, 1))
nx.draw_networkx_edges(town, places, ax=axes, edge_color="#94a3b8")
nx.draw_networkx_nodes(town, places, ax=axes, node_size=70, **colours)
nx.draw_networkx_nodes(town, places, stations, ax=axes, node_size=140, node_shape="s", node_color="#334155")
axes.set_axis_off()
figure.savefig("stations.png", dpi=90, bbox_inches="tight")
