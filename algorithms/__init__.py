"""Graph algorithms, written as equations over semirings."""

from .bellman_ford import bellman_ford
from .errors import NegativeCycle
from .parents import path, shortest_path_tree
from .sssp import sssp

__all__ = ["NegativeCycle", "bellman_ford", "path", "shortest_path_tree", "sssp"]
