"""Graph algorithms, written as equations over semirings."""

from .bellman_ford import bellman_ford
from .da2cf import da2cf
from .da2cf_variants import VARIANTS
from .delta_stepping import delta_stepping
from .dijkstra import dijkstra
from .errors import NegativeCycle
from .parents import path, shortest_path_tree
from .sssp import sssp
from .trace import trace

__all__ = [
    "VARIANTS",
    "NegativeCycle",
    "bellman_ford",
    "da2cf",
    "delta_stepping",
    "dijkstra",
    "path",
    "shortest_path_tree",
    "sssp",
    "trace",
]
