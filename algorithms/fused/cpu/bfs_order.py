"""The order of a breadth-first search as one loop with a queue; `algorithms.bfs_order` has the equations. O(n + m)."""

from __future__ import annotations

from typing import Any

import numpy as np

from formats import CSR
from formats.arrays import index_dtype
from formats.storage.orientation import by_columns, is_symmetric
from semiring.cpu.compiler.references import interrupted
from semiring.cpu.kernels import compiled


def queued(A: CSR, source: int, both_ways: bool, none: int = -1) -> Any:
    """Return the order and the parents.  none: the parent of the source, and of what is not reached; below 0."""
    columns = None
    if both_ways and not is_symmetric(A, pattern=True):
        turned: Any = by_columns(A)
        columns = turned.indptr, turned.indices
    return queued_along((A.indptr, A.indices), source, none, columns)


def queued_along(
    rows: tuple[Any, Any], source: int, none: int, columns: tuple[Any, Any] | None = None, checked: bool = True
) -> Any:
    """Return the same by where rows begin and their columns, and if both ways count and differ, the same of columns.

    checked: True if rows and columns are known to lie within the matrix. If not, None where one that is met does not.
    """
    n = rows[0].size - 1
    vertex = index_dtype(n)
    queue, parent = np.empty(n, vertex), np.empty(n, vertex)
    parent.fill(none)
    parent[source] = source
    search = _search if checked else _search_unchecked
    found = search(rows, rows if columns is None else columns, columns is not None, source, queue, parent)
    if not found:
        return None
    parent[source] = none
    return queue[:found], parent


def _searching(checked):
    """Make the loop along rows, and if both ways count along columns.  checked: as in `queued_along`."""

    @compiled
    def search(rows, columns, both_ways, source, queue, parent):
        """Return how many vertices are in the queue in the end; 0 if a row or a column is wrong."""
        one, found, at, n = np.uintp(1), np.uintp(1), np.uintp(0), np.uintp(parent.size)
        queue[0] = source
        while at < found:
            last = found
            while at < last:  # known to be there, so that rows are not waited for
                if interrupted():
                    return found
                u = np.uintp(queue[at])
                at += one
                for indptr, indices in (rows, columns):
                    if not checked and np.uintp(indptr[u + one]) > np.uintp(indices.size):
                        return np.uintp(0)
                    for e in range(np.uintp(indptr[u]), np.uintp(indptr[u + one])):
                        v = np.uintp(indices[e])
                        if not checked and v >= n:
                            return np.uintp(0)
                        if parent[v] < 0:
                            queue[found], parent[v] = v, u
                            found += one
                    if not both_ways:
                        break
        return found

    return search


_search, _search_unchecked = _searching(True), _searching(False)
