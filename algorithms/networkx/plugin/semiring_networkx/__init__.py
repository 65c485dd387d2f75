"""The functions of NetworkX's backend `semiring`, as data: the only list of them.

NetworkX loads this module, and nothing else of ours, whenever it is imported.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class Function(NamedTuple):
    """file: of `algorithms.networkx`, that has it.  cost: to NetworkX, beside a conversion, see COSTS."""

    name: str
    file: str
    cost: str


COSTS = {
    "walk": "as much as a conversion: converted graphs, and others at the third such call",
    "near": "little if the search is short: converted graphs, and others at the third such call",
    "search": "several times as much: from `search_nodes` vertices on",
    "many": "a search from every vertex, or as much: from `many_nodes` vertices on",
}
"""When a call is taken without being asked for by `backend="semiring"`."""

CALLS = 3
"""So many calls that may cost less than a conversion are worth one, if the graph does not change between them."""

OPTIONS: dict[str, Any] = {
    "device": "cpu",
    "threads": None,
    "exact_order": True,
    "search_nodes": 1000,
    "many_nodes": 200,
}
"""`nx.config.backends.semiring` has them, and the first three can be given with a call."""

OF_A_CALL = {
    "device": 'str : where to compute, "cpu" or "cuda".',
    "threads": "int : how many threads of the CPU to use. None: as many as there are cores.",
    "exact_order": "bool : False leaves out what only gives NetworkX's order, and its choice among equal paths.",
}

_NAMES: dict[tuple[str, str], str] = {
    ("unweighted", "walk"): (
        "single_source_shortest_path_length single_target_shortest_path_length bidirectional_shortest_path "
        "single_source_shortest_path single_target_shortest_path predecessor"
    ),
    ("unweighted", "near"): "all_pairs_shortest_path",
    ("unweighted", "many"): "all_pairs_shortest_path_length",
    ("weighted", "near"): (
        "dijkstra_path dijkstra_path_length bidirectional_dijkstra single_source_dijkstra "
        "single_source_dijkstra_path single_source_dijkstra_path_length multi_source_dijkstra "
        "multi_source_dijkstra_path multi_source_dijkstra_path_length dijkstra_predecessor_and_distance "
        "voronoi_cells"
    ),
    ("weighted", "many"): "all_pairs_dijkstra all_pairs_dijkstra_path all_pairs_dijkstra_path_length",
    ("label_correcting", "search"): (
        "bellman_ford_path bellman_ford_path_length single_source_bellman_ford "
        "single_source_bellman_ford_path single_source_bellman_ford_path_length "
        "bellman_ford_predecessor_and_distance negative_edge_cycle find_negative_cycle"
    ),
    ("label_correcting", "many"): "all_pairs_bellman_ford_path all_pairs_bellman_ford_path_length johnson",
    ("generic", "near"): (
        "shortest_path shortest_path_length has_path all_shortest_paths "
        "single_source_all_shortest_paths all_pairs_all_shortest_paths"
    ),
    ("generic", "many"): "average_shortest_path_length",
    ("components", "walk"): (
        "connected_components number_connected_components is_connected node_connected_component "
        "weakly_connected_components number_weakly_connected_components is_weakly_connected "
        "attracting_components number_attracting_components is_attracting_component"
    ),
    ("components", "search"): (
        "strongly_connected_components kosaraju_strongly_connected_components "
        "number_strongly_connected_components is_strongly_connected condensation is_semiconnected"
    ),
    ("traversal", "walk"): (
        "bfs_edges generic_bfs_edges bfs_tree bfs_successors bfs_layers "
        "descendants_at_distance dfs_edges dfs_tree dfs_predecessors dfs_successors dfs_preorder_nodes "
        "dfs_postorder_nodes dfs_labeled_edges"
    ),
    (
        "dag",
        "walk",
    ): "descendants ancestors topological_generations topological_sort has_cycle is_directed_acyclic_graph",
    ("dag", "search"): "dag_longest_path dag_longest_path_length",
    ("dag", "near"): "transitive_closure_dag transitive_reduction",
    ("dag", "many"): "transitive_closure",
    ("trees", "search"): "minimum_spanning_edges maximum_spanning_edges minimum_spanning_tree maximum_spanning_tree",
    ("trees", "walk"): "is_tree is_forest is_arborescence is_branching",
    ("distances", "walk"): "tree_centroid",
    ("distances", "many"): (
        "eccentricity diameter radius center periphery barycenter centroid closeness_centrality "
        "harmonic_centrality harmonic_diameter global_efficiency wiener_index floyd_warshall_numpy"
    ),
    ("cores", "search"): "core_number k_core k_shell k_crust k_corona",
    ("clusters", "search"): "triangles clustering average_clustering transitivity",
    ("centrality", "many"): "betweenness_centrality global_reaching_centrality eigenvector_centrality katz_centrality",
    ("centrality", "search"): "pagerank",
    ("centrality", "walk"): "local_reaching_centrality",
    ("degrees", "walk"): (
        "degree_centrality in_degree_centrality out_degree_centrality isolates number_of_isolates "
        "number_of_selfloops is_regular s_metric overall_reciprocity reciprocity average_neighbor_degree "
        "color is_bipartite"
    ),
}

FUNCTIONS: dict[str, Function] = {
    name: Function(name, file, cost) for (file, cost), names in _NAMES.items() for name in names.split()
}


def get_info() -> dict[str, Any]:
    """Describes the backend to NetworkX when that is imported."""
    return {
        "backend_name": "semiring",
        "project": "semiring",
        "package": "semiring",
        "short_summary": "Graph algorithms as sparse linear algebra, on the CPU and on NVIDIA GPUs.",
        "description": "The answers are NetworkX's own: values, order, ties, types and errors.",
        "default_config": dict(OPTIONS),
        "functions": {name: {"additional_parameters": dict(OF_A_CALL)} for name in FUNCTIONS},
    }
