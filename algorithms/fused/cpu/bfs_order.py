"""The order of a breadth-first search as one loop with a queue; `algorithms.bfs_order` has the equations. O(n + m)."""

from __future__ import annotations

from typing import Any

import numpy as np

from formats import CSR
from formats.arrays import index_dtype
from formats.storage.orientation import by_columns, is_symmetric
from semiring.cpu.compiler.references import interrupted
from semiring.cpu.kernels import compiled, inlined


def queued(A: CSR, source: int, both_ways: bool, none: int = -1) -> Any:
    """(the order, the parents).  none: the parent of the source, and of what is not reached; below 0."""
    columns = None
    if both_ways and not is_symmetric(A, pattern=True):
        turned: Any = by_columns(A)
        columns = turned.indptr, turned.indices
    return queued_along((A.indptr, A.indices), source, none, columns)


def queued_along(
    rows: tuple[Any, Any], source: int, none: int, columns: tuple[Any, Any] | None = None, checked: bool = True
) -> Any:
    """The same by where rows begin and their columns, and if both ways count and differ, the same of columns.

    checked: is it known that rows and columns lie within the matrix? If not, None where one that is met does not.
    """
    indptr, indices = rows
    n = indptr.size - 1
    vertex = index_dtype(n)
    queue, parent = np.empty(n + 1, vertex), np.empty(n, vertex)
    parent.fill(none)
    parent[source] = source
    if columns is not None:
        found = _search_both(rows, columns, source, queue, parent)
    else:
        found = (_search if checked else _look)(rows, source, queue, parent)
        if not found:
            return None
    parent[source] = none
    return queue[:found], parent


@inlined
def _append(v, u, queue, parent, found):
    if parent[v] < 0:
        queue[found], parent[v] = v, u
        found += np.uintp(1)
    return found


def _searching(checked):
    """The loop along rows.  checked: as in `queued_along`."""

    @compiled
    def search(rows, source, queue, parent):
        """How many vertices are in the queue in the end, which has room for one more; 0 if a row or column is wrong."""
        indptr, indices = rows
        one, found, at, n = np.uintp(1), np.uintp(1), np.uintp(0), np.uintp(parent.size)
        queue[0] = source
        while at < found:
            last = found
            while at < last:  # known to be there, so that rows are not waited for
                if interrupted():
                    return found
                u = np.uintp(queue[at])
                at += one
                if not checked and np.uintp(indptr[u + one]) > np.uintp(indices.size):
                    return np.uintp(0)
                for e in range(np.uintp(indptr[u]), np.uintp(indptr[u + one])):
                    v = np.uintp(indices[e])
                    if not checked and v >= n:
                        return np.uintp(0)
                    found = _append(v, u, queue, parent, found)
        return found

    return search


_search, _look = _searching(True), _searching(False)


@compiled
def _search_both(rows, columns, source, queue, parent):
    """How many vertices are in the queue in the end, along each row and then its column; it has room for one more."""
    (indptr, indices), (column_ends, row_numbers) = rows, columns
    one, found, at = np.uintp(1), np.uintp(1), np.uintp(0)
    queue[0] = source
    while at < found:
        if interrupted():
            break
        u = np.uintp(queue[at])
        at += one
        for e in range(np.uintp(indptr[u]), np.uintp(indptr[u + one])):
            found = _append(np.uintp(indices[e]), u, queue, parent, found)
        for e in range(np.uintp(column_ends[u]), np.uintp(column_ends[u + one])):
            found = _append(np.uintp(row_numbers[e]), u, queue, parent, found)
    return found
