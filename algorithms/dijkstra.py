"""Dijkstra's algorithm: settle the nearest unsettled vertex, and relax its edges.

    μ = ⊕ q                      ExtractMin: a reduction over the unsettled vertices, whose distances q holds
    f = the first of q⟨q = μ⟩     one vertex
    d = d ⊕ f                    is settled, and leaves q
    q = q ⊕ fA⟨unsettled⟩         relax

A heap finds μ in O(log n) steps, one after the other; the reduction takes O(n) work, all of it in parallel [2]. With
the whole of q⟨q = μ⟩ for f this is DA2CF. Any semiring with a unit and an order in which no edge makes a path better.

[1] E. W. Dijkstra, A note on two problems in connexion with graphs, Numerische Mathematik 1, 1959.
[2] P. Harish, P. J. Narayanan, Accelerating large graph algorithms on the GPU using CUDA, HiPC 2007.
"""

from __future__ import annotations

from typing import Any

from formats import Matrix
from semiring import Semiring, ewise_add, reduce, vxm
from semiring.vectors import densified, entries_equal, first_entry, full, is_empty, unit

from .da2cf import NONE_OF_THEM, resolve
from .errors import broken_law
from .single_source import Until, single_source
from .trace import note


@single_source()
def dijkstra(A: Matrix, source: int, s: Semiring, until: Until) -> Any:
    """Distances from `source`, one vertex a round: n rounds of O(n) work each.

    A: (n, n), A[u, v] = weight of u -> v, non-negative.  source: 0 <= s < n.  `SingleSource` says what else every
    algorithm takes.
    Returns (n,) of A.dtype on A's device, with unreachable vertices at the semiring's zero (inf, INT_MAX).
    Raises ValueError for a negative weight, OverflowError if a finite distance leaves the dtype.  Source: [1].
    """
    q = densified(unit(A, source, s), s)  # q = e_s
    d = full(q, s.zero(q.dtype), q.dtype)
    settled = full(q, False, bool)
    while True:
        μ = reduce(q, s)  # μ = ⊕ q
        if until.passed(d, μ):
            return d
        f = first_entry(entries_equal(q, μ))
        if is_empty(f):
            raise ValueError(broken_law(s, NONE_OF_THEM))
        resolve(f, q, d, settled, s)
        t = vxm(f, A, s, mask=settled, complement=True)
        ewise_add(q, t, s, out=q)  # q = q ⊕ fA⟨unsettled⟩
        note(f, minimum=μ)
