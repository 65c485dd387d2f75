"""DA2CF, Dijkstra's algorithm adapted to compound frontiers, as matrix equations.

Dijkstra settles one vertex at a time, the nearest. All vertices at the smallest distance may be settled at once [1]:

    μ = ⊕ q                      the minimum over the unresolved vertices, whose distances q holds
    f = q⟨q = μ⟩                  the compound frontier
    d = d ⊕ f                    is resolved, and leaves q
    q = q ⊕ fA⟨unresolved⟩         relax

The paper's two ways to relax are two ways to multiply. Pushing, f is sparse and only its rows of A are touched (its
`relax_F`, where threads meet at a vertex and ⊕ must be atomic). Pulling, every unresolved vertex looks through its
predecessors for vertices of f, down the columns of A (its `relax_U`, without atomics).

Any semiring with a unit and an order in which no edge makes a path better will do: MaxMin gives widest paths, MinMax
bottlenecks, LorLand reachability.

[1] P. J. Martín, R. Torres, A. Gavilanes, CUDA solutions for the SSSP problem, ICCS 2009, LNCS 5544.
[2] E. W. Dijkstra, A note on two problems in connexion with graphs, Numerische Mathematik 1, 1959.
"""

from __future__ import annotations

from typing import Any, Literal

from formats import Matrix, SparseVector
from formats.orientation import by_columns
from semiring import Semiring, ewise_add, vxm
from semiring.vectors import densified, entries_equal, full, is_empty, unit

from .da2cf_variants import find_plan
from .errors import broken_law
from .single_source import Until, single_source
from .trace import note

NONE_OF_THEM = "the best of some distances is none of them"


@single_source(check=find_plan)
def da2cf(
    A: Matrix,
    source: int,
    s: Semiring,
    until: Until,
    *,
    relax: Literal["push", "pull"] = "push",
    passes: Literal[1, 2] = 2,
    variant: str | None = None,
) -> Any:
    """Distances from `source`, by compound frontiers.

    A: (n, n), A[u, v] = weight of u -> v, non-negative.  source: 0 <= s < n.  relax: "push" along the frontier's rows,
    or "pull" down the columns of the unresolved, which keeps another copy of A with it.  passes: over the unresolved,
    on a GPU, for their minimum; after one pass the host finishes.  variant: one of the paper's implementations by name
    (`da2cf_variants.VARIANTS`), instead of the two.  `SingleSource` says what else every algorithm takes.
    Returns (n,) of A.dtype on A's device, with unreachable vertices at the semiring's zero (inf, INT_MAX).
    Raises ValueError for a negative weight, OverflowError if a finite distance leaves the dtype.  Source: [1].
    """
    plan = find_plan(relax, passes, variant, A.device)
    relaxed = pulling if plan.relax == "pull" else pushing
    B = plan.place(A)
    q = densified(unit(A, source, s), s)  # q = e_s
    d, resolved = full(q, s.zero(q.dtype), q.dtype), full(q, False, bool)
    with plan.kernels():
        while True:
            μ, q = plan.minimum(q, s)  # μ = ⊕ q
            if until.passed(d, μ):
                return plan.back(d)
            q, d, resolved = plan.on_update(q, d, resolved)
            f = entries_equal(q, μ)  # f = q⟨q = μ⟩
            if is_empty(f):
                raise ValueError(broken_law(s, NONE_OF_THEM))
            resolve(f, q, d, resolved, s)
            q = relaxed(B, s, *plan.on_relax(f, q, resolved))  # q = q ⊕ fA⟨unresolved⟩
            note(f, minimum=μ, direction=plan.relax, resolved=resolved)


def resolve(f: SparseVector, q: Any, d: Any, resolved: Any, s: Semiring) -> None:
    """The frontier's distances are final: d = d ⊕ f, and it leaves q."""
    ewise_add(d, f, s, out=d)
    q[f.indices] = s.zero(q.dtype)
    resolved[f.indices] = True


def pushing(A: Matrix, s: Semiring, f: SparseVector, q: Any, resolved: Any) -> Any:
    """relax_F: the frontier is pushed along its rows."""
    return ewise_add(q, vxm(f, A, s, mask=resolved, complement=True), s, out=q)


def pulling(A: Matrix, s: Semiring, f: SparseVector, q: Any, resolved: Any) -> Any:
    """relax_U: unresolved vertices look down their columns."""
    return ewise_add(q, vxm(densified(f, s), by_columns(A), s, mask=resolved, complement=True), s, out=q)
