"""Breadth-first steps: the frontier pushed along its edges, or pulled by those that nobody has reached yet.

    f' = fA⟨¬visited⟩

Pushing, f is sparse, and the step costs its edges. Pulling, every unvisited vertex looks through its predecessors and
(in CSR, CSC and Dense) stops at the first that it finds in f, which pays where f is large. The rule that chooses is
Beamer's [1]; that the two are a sparse and a masked dense product of one equation is Yang, Buluç and Owens' [2].

[1] S. Beamer, K. Asanović, D. Patterson, Direction-optimizing breadth-first search, SC 2012.
[2] C. Yang, A. Buluç, J. D. Owens, Implementing push-pull efficiently in GraphBLAS, ICPP 2018.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from formats import Matrix, SparseVector
from formats.matrix.facts import Fact
from formats.storage.orientation import by_columns, by_rows, has_columns, has_room_for_columns
from semiring import LorLand, MinFirst, vxm
from semiring.algebra.semirings import find_semiring
from semiring.vectors import (
    all_vertices,
    degrees,
    gather,
    longest_row,
    nonzero,
    nvals,
    ones,
    present,
    scatter,
    unweighted,
)

from .trace import trace_round

CHOICES = ("auto", "push", "pull")
AnyFirst = find_semiring("any_first")


SEARCHES: Fact[list[int]] = Fact("how many searches have been done without columns")
TURNED_AFTER = {"cpu": 8, "cuda": 1}
"""Searches that push alone before a matrix is turned: what they lose by that is about what turning costs."""


@dataclass(frozen=True)
class Direction:
    """When to pull: always, never, or ("auto") by Beamer's rule.

    alpha: pull once the frontier's edges are more than one in alpha of those that no large frontier has had yet.
    beta: push again once the frontier is less than one in beta of the vertices.  ValueError for values that there are
    not.
    """

    choice: Literal["auto", "push", "pull"] = "auto"
    alpha: float = 15
    beta: float = 18

    def __post_init__(self) -> None:
        if self.choice not in CHOICES:
            raise ValueError(f"direction must be 'auto', 'push' or 'pull', got {self.choice!r}")
        for name in ("alpha", "beta"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be positive, got {getattr(self, name)}")

    def for_matrix(self, A: Matrix, searches: int = 1) -> Direction:
        """The same, or only "push" where pulling would first cost more than a search: turning `A` for its columns.

        After some searches it is turned where there is room, and what is made is kept.
        """
        if self.choice != "auto" or has_columns(A):
            return self
        done = A.keep(SEARCHES, lambda: [0])
        done[0] += searches
        turns = done[0] > TURNED_AFTER[A.place.backend] and has_room_for_columns(A)
        return self if turns else Direction("push")

    def pulls(self, pulling: bool, f: Any, edges: int, unexplored: int) -> bool:
        """True if the next step is a pull, from a frontier with so many edges."""
        if self.choice != "auto":
            return self.choice == "pull"
        return nvals(f) * self.beta > len(f) if pulling else edges * self.alpha > unexplored


def frontiers(
    A: Matrix, f: Any, visited: Any, how: Direction, parent: Any = None, phase: str | None = None
) -> Iterator[Any]:
    """The frontiers of a search from `f`, each before the next is found, as Boolean vectors, sparse or dense.

    A: (n, n).  f: a sparse vector, whose entries are true.  visited: (n,) Booleans, where the search does not go; what
    it reaches is added.  parent: (n,) integers, in which to note the smallest predecessor in the frontier before.
    phase: see `Round`.
    """
    how = how.for_matrix(A)
    unexplored, pulling = A.nnz, False
    while nvals(f):
        scatter(visited, f, True)
        yield f
        edges = 0
        if how.choice == "auto" and not pulling and nvals(f) * longest_row(A) * how.alpha > unexplored:
            edges = int(gather(degrees(A), f).sum())
            unexplored -= edges
        pulling = how.pulls(pulling, f, edges, unexplored)
        if pulling:
            nearer = dense(f)
            f = pulled(unweighted(by_columns(A)), nearer, visited, parent)
        else:
            nearer = sparse(f)
            f = pushed(unweighted(by_rows(A)), nearer, visited, parent)
        direction: Any = "pull" if pulling else "push"
        trace_round(lambda f=nearer: sparse(f), direction=direction, resolved=visited, phase=phase, matrix=A)  # type: ignore[misc]


def pushed(P: Matrix, f: Any, visited: Any, parent: Any) -> Any:
    """f' = fP⟨¬visited⟩, along the frontier's rows."""
    if parent is None:
        return vxm(f, P, LorLand, mask=visited, complement=True)
    chosen = vxm(nonzero(f), P, MinFirst, mask=visited, complement=True)  # p_j = min i: f_i, p_ij
    scatter(parent, chosen)
    return ones(chosen, bool)


def pulled(P: Matrix, f: Any, visited: Any, parent: Any) -> Any:
    """f' = fP⟨¬visited⟩, down the columns of the unvisited, each as far as the first entry that is in f."""
    if parent is None:
        return vxm(f, P, LorLand, mask=visited, complement=True)
    named = f * (all_vertices(P) + 1)  # i + 1, since the zero of `any` is 0
    chosen = vxm(named, P, AnyFirst, mask=visited, complement=True)  # columns ascend: the first is the smallest
    f = chosen != 0
    scatter(parent, f, chosen - 1)
    return f


def dense(f: Any) -> Any:
    return f.to_dense(False) if is_sparse(f) else f


def sparse(f: Any) -> Any:
    return f if is_sparse(f) else present(f, LorLand)


def is_sparse(f: Any) -> bool:
    return isinstance(f, SparseVector)
