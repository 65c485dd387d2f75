"""Connected components with the signature of `scipy.sparse.csgraph`."""

from __future__ import annotations

from typing import Any

import numpy as np

from algorithms.equations.scc import scc
from algorithms.equations.topological import topological_components
from algorithms.fused.cpu import unchecked_csr as loops
from formats import CSR
from formats.storage.orientation import compressed
from semiring.vectors import renumbered

from . import places
from .graphs import as_matrix, checked, damaged, graph_of, rows_as_given
from .places import ONE_KERNEL, SEVERAL_KERNELS, sent_to


def connected_components(
    csgraph: Any, directed: bool = True, connection: str = "weak", return_labels: bool = True
) -> Any:
    """The connected components of a graph.

    Args:
        csgraph: (n, n), a sparse matrix or an array; a stored entry is an edge.
        directed: False lets edges count both ways.
        connection: of a directed graph, "weak" or "strong" components.
        return_labels: also return the label of each vertex.

    Returns:
        The number of components, and (n,) int32 labels: weak components by their smallest vertices; strong ones so
        that an edge leads to the smaller label, on the host those of SciPy.

    Raises:
        ValueError: the graph is not square, or there is no such connection.

    Example:
        >>> connected_components([[0, 1, 0], [0, 0, 0], [0, 0, 0]], connection="strong")
        (3, array([1, 0, 2], dtype=int32))

    Source: `scc` and `topological_components`.
    """
    kind = connection.lower()
    if kind not in ("weak", "strong"):
        raise ValueError("connection must be 'weak' or 'strong'")
    strong = directed and kind == "strong"
    if (home := places.at_home(csgraph, SEVERAL_KERNELS if strong else ONE_KERNEL)) is not None:
        return sent_to(csgraph, connected_components(home, directed, connection, return_labels))
    G = as_matrix(csgraph)
    rows = rows_as_given(G, directed=strong)
    A: Any = graph_of(G, weighted=False) if rows is None else CSR.trusted(*rows, G.shape)
    if not A.nrows:
        count, label = 0, A.xp.zeros(0, np.int32)
    elif strong and A.place.on_host:
        *room, label = np.zeros((5, A.nrows), np.int32)
        count = loops.strong((A.indptr, A.indices), *room, label)  # numbered as they are complete, as SciPy does
        if count == loops.DAMAGED:
            raise damaged(A.indptr, A.indices)
    elif strong:
        label = topological_components(A)
        count = int(label.max()) + 1
    else:
        label, count = renumbered(scc(checked(compressed(A, 0)), weak=True))
    return (count, label.astype(np.int32, copy=False)) if return_labels else count
