"""Single-source shortest paths, by the algorithm that suits the graph."""

from __future__ import annotations

from typing import Any

from formats import Matrix
from semiring import MinPlus, Semiring
from semiring.algebra import find_semiring

from .bellman_ford import bellman_ford
from .da2cf import da2cf
from .delta_stepping import delta_stepping
from .dijkstra import dijkstra
from .parents import gains_by_length
from .single_source import SingleSource

ALGORITHMS: dict[str, SingleSource] = {
    "bellman-ford": bellman_ford,
    "da2cf": da2cf,
    "delta-stepping": delta_stepping,
    "dijkstra": dijkstra,
}
"""Every shortest-path algorithm by its name on the command line."""


def sssp(
    A: Matrix,
    source: int | None = None,
    semiring: Semiring | str = MinPlus,
    *,
    algorithm: str = "auto",
    **options: Any,
) -> Any:
    """Distances from `source`, and with `return_parents` the shortest-path tree.

    A: (n, n), A[u, v] = weight of u -> v.  algorithm: a name from `ALGORITHMS`, or "auto": Δ-stepping for lengths that
    are not negative, and Bellman-Ford for weights of any sign and other semirings.  options: `sources`,
    `return_parents`, `limit`, `target` and the algorithm's own parameters.
    Returns and raises what the algorithm does; every algorithm gives the same answer.
    """
    return find_algorithm(algorithm, A, semiring)(A, source, semiring, **options)


def find_algorithm(name: str, A: Any = None, semiring: Semiring | str = MinPlus) -> SingleSource:
    """The algorithm of that name ("auto": the one that `sssp` chooses for `A`); ValueError lists the names."""
    if name == "auto":
        lengths = isinstance(A, Matrix) and find_semiring(semiring) == MinPlus and A.dtype in MinPlus.dtypes
        return delta_stepping if lengths and not gains_by_length(A, MinPlus) else bellman_ford
    if (known := ALGORITHMS.get(name.replace("_", "-"))) is None:
        raise ValueError(f"unknown algorithm {name!r}; there are auto, {', '.join(ALGORITHMS)}")
    return known
