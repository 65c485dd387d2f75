"""Graph algorithms, written as equations over semirings."""

from typing import TYPE_CHECKING

from . import import_conflicts  # isort: skip  # noqa: F401  # first: raises if `semiring` is another's
import semiring  # noqa: F401  # isort: skip  # next: raises if `formats` is another project's
from formats.lazily import lazily

__all__ = [
    "Factor",
    "Graph",
    "NegativeCycle",
    "Symbolic",
    "all_pairs",
    "bellman_ford",
    "betweenness_centrality",
    "bfs",
    "bfs_order",
    "boruvka",
    "checkpoints",
    "closeness_centrality",
    "closure",
    "clustering",
    "components",
    "core_number",
    "count_shortest_paths",
    "da2cf",
    "delta_stepping",
    "diameter",
    "dijkstra",
    "eccentricity",
    "elimination_order",
    "factor",
    "fewest_edges",
    "harmonic_centrality",
    "label_propagation",
    "pagerank",
    "path",
    "scc",
    "shortest_path_tree",
    "shortest_simple_paths",
    "sssp",
    "symbolic_factor",
    "topological_components",
    "trace",
    "transitive_closure",
    "triangles",
]

if TYPE_CHECKING:
    from .elimination import Factor, Symbolic, elimination_order, factor, symbolic_factor
    from .equations.all_pairs import all_pairs
    from .equations.bellman_ford import bellman_ford
    from .equations.betweenness import betweenness_centrality
    from .equations.bfs import bfs
    from .equations.bfs_order import bfs_order
    from .equations.boruvka import boruvka
    from .equations.closeness import closeness_centrality, harmonic_centrality
    from .equations.closure import closure
    from .equations.components import components
    from .equations.core_number import core_number
    from .equations.da2cf import da2cf
    from .equations.delta_stepping import delta_stepping
    from .equations.dijkstra import dijkstra
    from .equations.eccentricity import diameter, eccentricity
    from .equations.label_propagation import label_propagation
    from .equations.pagerank import pagerank
    from .equations.scc import scc
    from .equations.shortest_simple_paths import shortest_simple_paths
    from .equations.sssp import sssp
    from .equations.tied_paths import count_shortest_paths, fewest_edges
    from .equations.topological import topological_components
    from .equations.transitive_closure import transitive_closure
    from .equations.triangles import clustering, triangles
    from .fused.parts.checkpoint import checkpoints
    from .named.graph import Graph
    from .shared.errors import NegativeCycle
    from .shared.parents import path, shortest_path_tree
    from .shared.trace import trace
else:
    __getattr__, __dir__ = lazily(__name__)
