"""PageRank as compiled rounds: threads take parts of the columns that have about as many edges each."""

from __future__ import annotations

from typing import Any

import numpy as np

from algorithms.pagerank import weight_leaving
from formats import CSR
from formats.storage.orientation import by_columns
from semiring.cpu.kernels import compiled
from semiring.cpu.threads import cut_evenly, run
from semiring.vectors import shares


def ranks(A: CSR, v: Any, alpha: float, enough: float, max_iter: int) -> np.ndarray | None:
    """The shares, as `algorithms.pagerank.ranks` has them."""
    n, leaving = A.nrows, weight_leaving(A)
    columns: Any = by_columns(A)
    counted = A.dtype != bool
    graph = columns.indptr, columns.indices, columns.values if counted else np.empty(0)
    share, jump = alpha * shares(leaving), v if isinstance(v, np.ndarray) else np.full(n, v)
    x, then = np.full(n, 1 / n), np.empty(n)
    z = x * share
    parts = cut_evenly(columns.indptr)
    seen = np.zeros((len(parts), 2))  # Σ x⟨r = 0⟩, and Σ |x - x'|, of each part
    numbered = {part: k for k, part in enumerate(parts)}
    stuck = float(x[leaving == 0].sum())
    for _ in range(max_iter):

        def work(start: int, stop: int, z: Any = z, then: Any = then, base: float = alpha * stuck + 1 - alpha) -> None:
            into = z, then, x, seen[numbered[start, stop]]
            _round(graph, counted, (share, leaving, jump), base, into, start, stop)

        run(work, parts)
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
