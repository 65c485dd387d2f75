"""`scipy.sparse.csgraph` by the algorithms of this package: its names, signatures, types and conventions.

    from algorithms import csgraph              # in the place of: from scipy.sparse import csgraph

A graph is a SciPy or CuPy sparse matrix, or an array of two dimensions, with A[u, v] the weight of u -> v; answers are
on its device, in float64 and int32, with infinity where no path leads and -9999 where there is no predecessor. A stored
0 is an edge; in an array 0, infinity, NaN and masked places are none. Duplicates count as the least of them. What SciPy
leaves open is:

- of several predecessors on shortest paths the nearest to the source is given, and of these the smallest;
- strong components are numbered so that an edge leads to the smaller number, on the host as SciPy does;
- of several spanning forests the one is given that `boruvka` gives.

Infinite weights are none for shortest paths; a stored NaN counts as one. `dijkstra` finds paths with negative weights,
and raises NegativeCycleError where SciPy does not end.

The second call on the same compressed matrix of SciPy or CuPy finds again what the first has learned of it, unless the
matrix has changed. Small matrices on the host are searched as they are, and nothing is kept of them (`small`). CuPy's
small matrices are copied to the host, once, and searched there. So are those with many thousand levels, for orders of
discovery (`places`).

Other names of `scipy.sparse.csgraph` are SciPy's own. Given CuPy's matrices and arrays, they run on the host, and the
answer's arrays and matrices are copied back.
"""

from __future__ import annotations

from typing import Any

from .components import connected_components
from .paths import bellman_ford, dijkstra, floyd_warshall, johnson, shortest_path
from .places import by_scipy
from .trees import breadth_first_order, breadth_first_tree, minimum_spanning_tree

__all__ = [
    "bellman_ford",
    "breadth_first_order",
    "breadth_first_tree",
    "connected_components",
    "dijkstra",
    "floyd_warshall",
    "johnson",
    "minimum_spanning_tree",
    "shortest_path",
]


def __getattr__(name: str) -> Any:
    """Returns SciPy's own object of a name that is not here."""
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from scipy.sparse import csgraph

    theirs = getattr(csgraph, name)
    return by_scipy(theirs) if callable(theirs) and not isinstance(theirs, type) else theirs
