"""Single-source shortest paths, by the algorithm that suits the graph."""

from __future__ import annotations

from typing import Any

from formats import Matrix
from semiring import MinPlus, Semiring
from semiring.registry import Fusible

from .bellman_ford import bellman_ford

ALGORITHMS: dict[str, Fusible[..., Any]] = {"bellman-ford": bellman_ford}
"""Every shortest-path algorithm by its name on the command line."""


def sssp(
    A: Matrix,
    source: int,
    semiring: Semiring | str = MinPlus,
    *,
    algorithm: str = "auto",
    return_parents: bool = False,
) -> Any:
    """Distances from `source`, and with `return_parents` the shortest-path tree.

    A: (n, n), A[u, v] = weight of u -> v.  algorithm: a name from `ALGORITHMS`, or "auto": Bellman-Ford, which takes
    weights of any sign.  Returns and raises what the algorithm does; every algorithm gives the same answer.
    """
    return find_algorithm(algorithm)(A, source, semiring, return_parents=return_parents)


def find_algorithm(name: str) -> Fusible[..., Any]:
    """The algorithm of that name ("auto": the one `sssp` chooses); ValueError lists the names."""
    if name == "auto":
        return bellman_ford
    if name not in ALGORITHMS:
        raise ValueError(f"unknown algorithm {name!r}; there are auto, {', '.join(ALGORITHMS)}")
    return ALGORITHMS[name]
