"""Viterbi's algorithm: the likeliest health of a patient who feels normal, then cold, then dizzy."""

from itertools import pairwise

import networkx as nx
from matplotlib.figure import Figure

from algorithms import path, sssp
from formats import from_edges

first, turn = [0.6, 0.4], [[0.7, 0.3], [0.4, 0.6]]  # healthy, fever
feel = {"normal": [0.5, 0.1], "cold": [0.4, 0.3], "dizzy": [0.1, 0.6]}
days = [(0, 1 + s, first[s] * feel["normal"][s]) for s in (0, 1)]  # vertex 0 is the start
for day, felt in enumerate(["cold", "dizzy"]):
    days += [(1 + 2 * day + a, 3 + 2 * day + b, turn[a][b] * feel[felt][b]) for a in (0, 1) for b in (0, 1)]
chance, parent = sssp(from_edges(*map(list, zip(*days, strict=True))), 0, "max_times", return_parents=True)
states = path(parent, 5 + int(chance[5:].argmax()))

assert [("healthy", "fever")[(v - 1) % 2] for v in states[1:]] == ["healthy", "healthy", "fever"]
assert round(chance[5:].max().item(), 5) == 0.01512  # as Wikipedia's article "Viterbi algorithm" has it

graph = nx.DiGraph([edge[:2] for edge in days])
places = {0: (0, 0.5)} | {v: ((v + 1) // 2, v % 2) for v in range(1, 7)}
figure = Figure(figsize=(5.4, 2.9))
axes = figure.add_axes((0, 0, 1, 1))
nx.draw_networkx_edges(graph, places, ax=axes, edge_color="#94a3b8")
nx.draw_networkx_edges(graph, places, list(pairwise(states)), ax=axes, width=2.6, edge_color="#c2255c")
nx.draw_networkx_nodes(graph, places, ax=axes, node_size=380, node_color="white", edgecolors="#334155")
for row, state in ((1, "healthy"), (0, "fever")):
    axes.text(0.55, row + 0.13, state, ha="right", color="#334155")
for day, felt in enumerate(("start", "normal", "cold", "dizzy")):
    axes.text(day, -0.32, felt, ha="center", color="#334155")
axes.set_ylim(-0.5, 1.3)
axes.set_axis_off()
figure.savefig("viterbi.png", dpi=90, bbox_inches="tight")
