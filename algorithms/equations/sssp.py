"""Single-source shortest paths, by the algorithm that suits the graph."""

from __future__ import annotations

from typing import Any, Never, Unpack

from formats import Matrix
from semiring import MinPlus, Semiring
from semiring.algebra.semirings import find_semiring

from ..shared.bucket_width import check_delta
from ..shared.parents import gains_by_length
from ..shared.signatures import Distance, Name, Paths, Rule, Shared
from ..shared.single_source import SourceToAll, paths
from .bellman_ford import bellman_ford
from .da2cf import da2cf
from .delta_stepping import delta_stepping
from .dijkstra import dijkstra

ALGORITHMS: dict[str, SourceToAll[Any, Never]] = {
    "bellman-ford": bellman_ford,
    "da2cf": da2cf,
    "delta-stepping": delta_stepping,
    "dijkstra": dijkstra,
}
"""Every shortest-path algorithm by its name on the command line."""


@SourceToAll[Distance | Rule | None, Name]
def sssp(
    A: Matrix,
    source: int | None = None,
    semiring: Semiring | str = MinPlus,
    *,
    algorithm: Name = "auto",
    delta: Distance | Rule | None = None,
    **query: Unpack[Shared],
) -> Paths:
    """Shortest paths from a source, by the algorithm that suits the graph; every algorithm gives the same answer.

    Args:
        A: (n, n), A[u, v] = weight of the edge u -> v.
        source: the vertex to start from, 0 <= source < n.
        semiring: what a path's length is and which is better; any with a unit and an order, or its name.
        algorithm: a name from `ALGORITHMS`, or "auto": Δ-stepping for lengths that are not negative, Bellman-Ford for
            weights of any sign, other semirings, and mapped files larger than memory.
        delta: the width of a bucket, for Δ-stepping alone, see `delta_stepping`.

    Raises:
        NegativeCycle: a cycle that improves paths for ever can be reached; the error has it.
        OverflowError: a finite distance does not fit the dtype.
        ValueError: the matrix is not square, the source is no vertex, there is no such algorithm, or the
            semiring is not one that it takes.
        TypeError: the semiring is not defined on A's dtype, or both or neither of source and sources are given.

    Example:
        >>> from algorithms import path
        >>> from algorithms.data import rome99
        >>> from formats import read
        >>> A = read(rome99)
        >>> d, parent = sssp(A, 0, return_parents=True)
        >>> d[7], path(parent, 7)
        (np.int32(4698), [0, 1, 3, 4, 7])

    Source: Meyer and Sanders 2003 (Δ-stepping); Bellman 1958.
    """
    chosen = find_algorithm(algorithm, A, semiring)
    own: dict[str, Any] = {} if delta is None else {"delta": delta}
    if own:
        if not own.keys() <= chosen.keywords:
            chosen.refuse(own)
        check_delta(delta)
    return paths(chosen, A, source, semiring, **own, **query)


def find_algorithm(name: str, A: Any = None, semiring: Semiring | str = MinPlus) -> SourceToAll[Any, Never]:
    """The algorithm of that name ("auto": the one that `sssp` chooses for `A`); ValueError lists the names."""
    if name == "auto":
        lengths = isinstance(A, Matrix) and find_semiring(semiring) == MinPlus and A.dtype in MinPlus.dtypes
        if isinstance(A, Matrix) and A.streams:  # fewest rounds, and each reads rows in their order
            return bellman_ford
        return delta_stepping if lengths and not gains_by_length(A, MinPlus) else bellman_ford
    if (known := ALGORITHMS.get(name.replace("_", "-"))) is None:
        raise ValueError(f"unknown algorithm {name!r}; there are auto, {', '.join(ALGORITHMS)}")
    return known
