"""The backend `semiring` of NetworkX: its functions by the algorithms of this package, with its order, ties and types.

    table            entry/semiring_networkx, the list of functions, which `import networkx` loads and nothing else
    interface        what NetworkX asks: conversions, whether to run, and the functions of the table
    a file for each  unweighted, weighted, label_correcting, generic, components, traversal, dag, trees, distances,
    field            cores, clusters, centrality, degrees
    graph, answers   a graph as arrays, in the order of NetworkX's dictionaries; arrays as names, dicts and paths
    order            compiled searches in that order
    warm_up_calls    a call of each function, for `semiring warm-up`

What depends on no order is computed by the algorithms of this package. What does is replayed from their distances, or
walked by a loop in the order of the dictionaries.
"""
