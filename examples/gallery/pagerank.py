"""PageRank of eleven pages, which Wikipedia's article "PageRank" has, too."""

import networkx as nx
from matplotlib.figure import Figure

from algorithms import pagerank
from formats import from_networkx

links = "BC CB DA DB EB ED EF FB FE GB GE HB HE IB IE JE KE".split()
web = nx.DiGraph(links)
rank = dict(zip(web, pagerank(from_networkx(web)), strict=True))

percent = {page: round(100 * rank[page].item(), 1) for page in "ABCDEFG"}  # as the article prints them
assert percent == {"A": 3.3, "B": 38.4, "C": 34.3, "D": 3.9, "E": 8.1, "F": 3.9, "G": 1.6}

places = nx.circular_layout(web)
sizes = [150 + 3500 * rank[page] for page in web]
figure = Figure(figsize=(5.4, 2.9))
axes = figure.add_axes((0, 0, 1, 1))
nx.draw_networkx_edges(web, places, ax=axes, edge_color="#334155", node_size=sizes, connectionstyle="arc3,rad=0.12")
nx.draw_networkx_nodes(web, places, ax=axes, node_size=sizes, node_color="#ffd8a8", edgecolors="#334155")
nx.draw_networkx_labels(web, places, ax=axes, font_size=9)
axes.set_axis_off()
figure.savefig("pagerank.png", dpi=90, bbox_inches="tight")
