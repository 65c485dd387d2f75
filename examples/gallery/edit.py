"""The edit distance of two words: a step to the right inserts, one down deletes, a diagonal one replaces."""

import networkx as nx
import numpy as np
from matplotlib.figure import Figure

from algorithms import path, sssp
from formats import from_edges

a, b = "kitten", "sitting"
at = np.arange((len(a) + 1) * (len(b) + 1)).reshape(len(a) + 1, len(b) + 1)
steps = [(u, v, 1) for u, v in zip(at[:, :-1].ravel(), at[:, 1:].ravel(), strict=True)]
steps += [(u, v, 1) for u, v in zip(at[:-1].ravel(), at[1:].ravel(), strict=True)]
steps += [(at[i, j], at[i + 1, j + 1], int(a[i] != b[j])) for i in range(len(a)) for j in range(len(b))]
edits, parent = sssp(from_edges(*map(list, zip(*steps, strict=True))), 0, return_parents=True)
alignment = path(parent, at.size - 1)

assert edits[-1] == 3
letters = nx.DiGraph([(u, v, {"cost": cost}) for u, v, cost in steps])
assert nx.shortest_path_length(letters, 0, at.size - 1, "cost") == 3

costs = edits.reshape(at.shape)
way = np.array([divmod(v, len(b) + 1) for v in alignment])
figure = Figure(figsize=(5.4, 2.9))
axes = figure.add_axes((0, 0, 1, 1))
axes.imshow(costs, cmap="YlGnBu", alpha=0.55)
for (row, column), cost in np.ndenumerate(costs):
    axes.text(column, row, int(cost), ha="center", va="center", color="#334155")
axes.plot(way[:, 1], way[:, 0], color="#c2255c", linewidth=2)
for row, letter in enumerate(" " + a):
    axes.text(-0.9, row, letter, va="center", color="#334155")
for column, letter in enumerate(" " + b):
    axes.text(column, -0.8, letter, ha="center", color="#334155")
axes.set(xlim=(-1.2, len(b) + 0.6), ylim=(len(a) + 0.6, -1.2))
axes.set_axis_off()
figure.savefig("edit.png", dpi=90, bbox_inches="tight")
