"""SciPy's csgraph: Dijkstra's algorithm with a Fibonacci heap, breadth-first search, strong components, Kruskal.

It computes in float64, so the matrix is given to it in float64, and a stored 0 is an edge (a forest's edges of weight 0
are left out of its result, which has the same weight without them). Its Dijkstra is the baseline FH of [1].

[1] P. J. Martín, R. Torres, A. Gavilanes, CUDA Solutions for the SSSP Problem, ICCS 2009.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from formats import CSR
from formats.arrays import Array

from .forms import check_lengths, levels_of_order, symmetric
from .peer import Prepared, Unable, of_package


def graph(A: CSR) -> Any:
    """The matrix as SciPy's, in float64."""
    import scipy.sparse

    return scipy.sparse.csr_array((A.values.astype(np.float64), A.indices, A.indptr), shape=A.shape)


def sssp(A: CSR, source: int) -> Prepared:
    """`dijkstra`."""
    from scipy.sparse import csgraph

    check_lengths(A)
    S = graph(A)
    return Prepared(lambda: csgraph.dijkstra(S, indices=source), lambda d: d)


def bfs(A: CSR, source: int) -> Prepared:
    """`breadth_first_order`."""
    from scipy.sparse import csgraph

    S = graph(A)
    return Prepared(lambda: csgraph.breadth_first_order(S, source), lambda found: levels_of_order(A.nrows, *found))


def scc(A: CSR, source: int) -> Prepared:
    """`connected_components`."""
    from scipy.sparse import csgraph

    if symmetric(A):
        raise Unable("left out: connected_components of SciPy 1.17.1 does not finish on a symmetric road graph")
    S = graph(A)
    return Prepared(lambda: csgraph.connected_components(S, connection="strong"), lambda found: found[1])


def mst(A: CSR, source: int) -> Prepared:
    """`minimum_spanning_tree`, which takes the lighter of two directions itself."""
    from scipy.sparse import csgraph

    S = graph(A)
    return Prepared(lambda: csgraph.minimum_spanning_tree(S), lambda forest: float(forest.sum()))


def prepare_mxv(A: CSR, x: Array) -> Prepared:
    """A x over plus-times, in A's own dtype."""
    import scipy.sparse

    S = scipy.sparse.csr_array((A.values, A.indices, A.indptr), shape=A.shape)
    return Prepared(lambda: S @ x, lambda y: y)


SCIPY = of_package("SciPy", "scipy", {"sssp": sssp, "bfs": bfs, "scc": scc, "mst": mst})
