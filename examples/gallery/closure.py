"""The courses that each course needs, directly or not: a transitive closure."""

import networkx as nx
import numpy as np
from matplotlib.figure import Figure

from algorithms import transitive_closure
from formats import from_networkx

needs = {"analysis": [], "algebra": [], "numerics": ["analysis", "algebra"], "graphs": ["algebra"]}
needs |= {"optimisation": ["numerics"], "routing": ["graphs", "optimisation"]}
courses = nx.DiGraph(needs)
names = list(courses)
rows, cols, _ = transitive_closure(from_networkx(courses)).to_edges()

pairs = {(names[u], names[v]) for u, v in zip(rows, cols, strict=True)}
assert {v for u, v in pairs if u == "routing"} == {"algebra", "analysis", "graphs", "numerics", "optimisation"}
assert pairs == set(nx.transitive_closure(courses).edges)

direct = nx.to_numpy_array(courses)
shown = np.zeros_like(direct)
shown[rows, cols] = 1
figure = Figure(figsize=(5.4, 2.9))
axes = figure.add_axes((0, 0, 1, 1))
axes.imshow(shown + direct, cmap="PuBu", vmax=2.6)
for at, name in enumerate(names):
    axes.text(-0.7, at, name, ha="right", va="center", color="#334155")
for u, v in zip(rows, cols, strict=True):
    word, colour = ("direct", "white") if direct[u, v] else ("also", "#334155")
    axes.text(v, u, word, ha="center", va="center", fontsize=7, color=colour)
axes.set_xlim(-4, 5.6)
axes.set_axis_off()
figure.savefig("closure.png", dpi=90, bbox_inches="tight")
