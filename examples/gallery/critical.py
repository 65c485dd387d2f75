"""The critical path of building a house: the earliest start of a task is the longest path to it, ⊕ = max and ⊗ = +."""

import networkx as nx
from matplotlib.figure import Figure

from algorithms import path, sssp
from formats import from_networkx

weeks = {"plan": 3, "ground": 2, "walls": 5, "roof": 3, "wires": 2, "pipes": 3, "floors": 2, "end": 0}
before = ["plan ground", "ground walls", "walls roof", "walls wires", "ground pipes", "roof floors", "wires floors"]
before += ["pipes floors", "floors end"]
house = nx.DiGraph([(a, b, {"weeks": weeks[a]}) for a, b in map(str.split, before)])
tasks = list(house)
start, parent = sssp(from_networkx(house, "weeks"), 0, "max_plus", return_parents=True)
critical = [tasks[v] for v in path(parent, tasks.index("end"))]

assert critical == nx.dag_longest_path(house, "weeks")
assert start[tasks.index("end")] == nx.dag_longest_path_length(house, "weeks") == 15

begins = dict(zip(tasks, start.tolist(), strict=True))
figure = Figure(figsize=(5.4, 2.9))
axes = figure.add_axes((0, 0, 1, 1))
for row, task in enumerate(list(weeks)[:-1]):
    axes.barh(-row, weeks[task], left=begins[task], color="#c2255c" if task in critical else "#94a3b8")
    axes.text(begins[task] + weeks[task] + 0.2, -row, task, va="center", color="#334155")
axes.text(0, -7.2, "week 0", color="#334155")
axes.text(15, -7.2, "week 15", color="#334155", ha="center")
axes.set_xlim(-0.3, 17)
axes.set_axis_off()
figure.savefig("critical.png", dpi=90, bbox_inches="tight")
