"""PageRank as compiled rounds: threads take parts of the columns that have about as many edges each.

Sums over vertices are of each part, and then of all, so that their last bits do not hang on the number of threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from algorithms.equations.pagerank import weight_leaving
from formats import CSR
from formats.matrix.facts import Fact
from formats.storage.orientation import by_columns
from semiring.cpu.crew import crew
from semiring.cpu.dealing import dealt
from semiring.cpu.threads import get_threads
from semiring.vectors import shares

MIN_NNZ_FOR_THREADS = 1 << 18
"""Minimum of entries with which a round takes longer than waking another thread."""

PARTS = 64
"""Number of parts of the columns of a graph that is worth several threads."""

LEAVING: Fact[np.ndarray] = Fact("the weights that leave each vertex")


def ranks(A: CSR, v: Any, alpha: float, enough: float, max_iter: int) -> np.ndarray | None:
    """Return the shares, as `algorithms.pagerank.ranks` has them."""
    n, leaving = A.nrows, A.keep(LEAVING, lambda: weight_leaving(A))
    columns: Any = by_columns(A)
    counted = A.dtype != bool
    graph = columns.indptr, columns.indices, columns.values if counted else np.empty(0)
    followed, jump = alpha * shares(leaving), v if isinstance(v, np.ndarray) else np.full(n, v)
    x, then = np.full(n, 1 / n), np.empty(n)
    z = x * followed
    count, workers = (PARTS, get_threads()) if A.nnz >= MIN_NNZ_FOR_THREADS else (1, 1)
    ends = np.searchsorted(columns.indptr, np.linspace(0, A.nnz, count + 1))
    ends[0], ends[-1] = 0, n
    seen = np.zeros((count, 2))  # Σ x⟨r = 0⟩, and Σ |x - x'|, of each part
    stuck = float(x[leaving == 0].sum())
    with crew(workers) as gate:
        for _ in range(max_iter):
            base, into = alpha * stuck + 1 - alpha, (z, then, x, seen)
            _round(gate, count, 1, (graph, counted, (followed, leaving, jump), base, into, ends))
            z, then = then, z
            stuck, moved = seen.sum(axis=0).tolist()
            if moved < enough:
                return x
    return None


@dealt
def _round(first, stop, graph, counted, vertex, base, into, ends):
    """Find the next shares of the columns of some parts, and sums over each of these."""
    (indptr, indices, weights), (share, leaving, jump), (z, then, x, seen) = graph, vertex, into
    one = np.uintp(1)
    for part in range(first, stop):
        stuck, moved = 0.0, 0.0
        for j in range(np.uintp(ends[part]), np.uintp(ends[part + 1])):
            a = 0.0
            begin, end = np.uintp(indptr[j]), np.uintp(indptr[j + one])
            if counted:
                for e in range(begin, end):
                    a += z[np.uintp(indices[e])] * weights[e]
            else:
                for e in range(begin, end):
                    a += z[np.uintp(indices[e])]
            now = a + base * jump[j]
            if leaving[j] == 0:
                stuck += now
            moved += abs(now - x[j])
            x[j], then[j] = now, now * share[j]
        seen[part, 0], seen[part, 1] = stuck, moved
