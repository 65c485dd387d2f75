"""PageRank as compiled rounds: threads take parts of the columns that have about as many edges each."""

from __future__ import annotations

from typing import Any

import numpy as np

from algorithms.pagerank import weight_leaving
from formats import CSR
from formats.matrix.facts import Fact
from formats.storage.orientation import by_columns
from semiring.cpu.kernels import compiled
from semiring.cpu.threads import cut_evenly, share
from semiring.vectors import shares

WORTH_THREADS = 1 << 18
"""Entries from which on a round takes longer than waking another thread."""

LEAVING: Fact[np.ndarray] = Fact("the weights that leave each vertex")


def ranks(A: CSR, v: Any, alpha: float, enough: float, max_iter: int) -> np.ndarray | None:
    """The shares, as `algorithms.pagerank.ranks` has them."""
    n, leaving = A.nrows, A.keep(LEAVING, lambda: weight_leaving(A))
    columns: Any = by_columns(A)
    counted = A.dtype != bool
    graph = columns.indptr, columns.indices, columns.values if counted else np.empty(0)
    followed, jump = alpha * shares(leaving), v if isinstance(v, np.ndarray) else np.full(n, v)
    x, then = np.full(n, 1 / n), np.empty(n)
    z = x * followed
    parts = cut_evenly(columns.indptr) if A.nnz >= WORTH_THREADS else [(0, n)]
    seen = np.zeros((len(parts), 2))  # Σ x⟨r = 0⟩, and Σ |x - x'|, of each part
    stuck = float(x[leaving == 0].sum())
    for _ in range(max_iter):

        def work(part: int, z: Any = z, then: Any = then, base: float = alpha * stuck + 1 - alpha) -> None:
            _round(graph, counted, (followed, leaving, jump), base, (z, then, x, seen[part]), *parts[part])

        share(work, len(parts))
        z, then = then, z
        stuck, moved = seen.sum(axis=0).tolist()
        if moved < enough:
            return x
    return None


@compiled
def _round(graph, counted, vertex, base, into, start, stop):
    (indptr, indices, weights), (share, leaving, jump), (z, then, x, seen) = graph, vertex, into
    one, stuck, moved = np.uintp(1), 0.0, 0.0
    for j in range(np.uintp(start), np.uintp(stop)):
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
    seen[0], seen[1] = stuck, moved
