"""The order of a breadth-first search as one loop with a queue; `algorithms.bfs_order` has the equations.

Where rows are short, whether a vertex is new can hardly be foretold, so nothing branches on it: every neighbour is put
at the queue's end, which moves on by the new ones alone. Where rows are long most neighbours are known. O(n + m).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from formats import CSR
from formats.arrays import index_dtype
from formats.storage.orientation import by_columns, is_symmetric
from semiring.cpu.compiler.references import interrupted
from semiring.cpu.kernels import compiled, inlined

SHORT = 8
"""Entries of a row on average below which nothing branches."""


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
    vertex, short = index_dtype(n), indices.size < SHORT * n
    queue, parent = np.empty(n + 1, vertex), np.empty(n, vertex)
    parent.fill(none)
    parent[source] = source
    if columns is not None:
        search = _search_both_short if short else _search_both_long
        found = search(rows, columns, source, queue, parent)
    else:
        searches = (_search_long, _search_short) if checked else (_look_long, _look_short)
        found = searches[short](rows, source, queue, parent)
        if not found:
            return None
    parent[source] = none
    return queue[:found], parent


@inlined
def _append_always(v, u, queue, parent, found):
    p = parent[v]
    new = p < 0
    queue[found] = v
    parent[v] = u if new else p
    return found + np.uintp(new)


@inlined
def _append_new(v, u, queue, parent, found):
    if parent[v] < 0:
        queue[found], parent[v] = v, u
        found += np.uintp(1)
    return found


def _search(append, checked):
    """The loop along rows that appends so.  checked: as in `queued_along`."""

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
                    found = append(v, u, queue, parent, found)
        return found

    return search


def _search_both(append):
    """The loop along each row and then its column that appends so."""

    @compiled
    def search(rows, columns, source, queue, parent):
        """How many vertices are in the queue in the end, which has room for one more."""
        (indptr, indices), (column_ends, row_numbers) = rows, columns
        one, found, at = np.uintp(1), np.uintp(1), np.uintp(0)
        queue[0] = source
        while at < found:
            if interrupted():
                break
            u = np.uintp(queue[at])
            at += one
            for e in range(np.uintp(indptr[u]), np.uintp(indptr[u + one])):
                found = append(np.uintp(indices[e]), u, queue, parent, found)
            for e in range(np.uintp(column_ends[u]), np.uintp(column_ends[u + one])):
                found = append(np.uintp(row_numbers[e]), u, queue, parent, found)
        return found

    return search


_search_short, _search_long = _search(_append_always, True), _search(_append_new, True)
_look_short, _look_long = _search(_append_always, False), _search(_append_new, False)
_search_both_short, _search_both_long = _search_both(_append_always), _search_both(_append_new)
