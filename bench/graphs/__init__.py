"""The benchmarks' graphs: made on either device, and from the same seed the same on both.

    randomness  random numbers, weights, and blocks of what is made at a time
    recursive   R-MAT, directed and symmetric
    draws       its edges, as they are drawn
    strips      the same a range of rows at a time
    cliques     SSCA#2: cliques that are joined
    degrees     graphs in which every vertex draws so many neighbours
    roads       graphs of small degree and long paths: a grid, and road graphs from files
    named       the graphs of the SpMV benchmark by their names

Every graph has neither self-loops nor an edge twice, and weights that are integers from 1 to `high`.
"""

from .cliques import ssca2
from .degrees import fifth, predecessors, uniform, web
from .named import GENERATED, spmv_graph, spmv_names
from .randomness import BLOCK, GOLDEN, blocks, hashed, library, mixed, numbers, operand, weighted
from .recursive import rmat, rmat_both_ways
from .roads import ROADS, grid, roads

__all__ = [
    "BLOCK",
    "GENERATED",
    "GOLDEN",
    "ROADS",
    "blocks",
    "fifth",
    "grid",
    "hashed",
    "library",
    "mixed",
    "numbers",
    "operand",
    "predecessors",
    "rmat",
    "rmat_both_ways",
    "roads",
    "spmv_graph",
    "spmv_names",
    "ssca2",
    "uniform",
    "web",
    "weighted",
]
