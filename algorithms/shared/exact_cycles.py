"""A search for improving cycles with Python's exact numbers, where lengths of paths leave every dtype.

A length that stops at the end of its range hides the cycle that would improve it once more. So weights are added
exactly, a round of edges at a time, before a distance is said not to fit. The tree of the paths shows the cycle [1].

[1] B. Cherkassky, A. Goldberg, Negative-cycle detection algorithms, Mathematical Programming 85, 1999.
"""

from __future__ import annotations

import math
from typing import Any

from formats import Matrix
from formats.arrays import to_device
from semiring import MONOIDS, Semiring

from .errors import NegativeCycle


def check_exactly(A: Matrix, source: int, s: Semiring) -> None:
    """NegativeCycle if the exact lengths of A's paths from `source` improve along a cycle.

    Nothing happens where ⊗ is not plus, or ⊕ neither min nor max, or a weight is infinite.
    Cost: O(nm) at most, in Python.
    """
    if not s.adds_weights or s.add not in (MONOIDS["min"], MONOIDS["max"]):
        return
    from fractions import Fraction

    sign, zero = 1 if s.add == MONOIDS["min"] else -1, s.zero(A.dtype).item()
    edges: dict[int, list[tuple[int, Any]]] = {}
    for u, v, w in zip(*(to_device(part, "cpu").tolist() for part in A.to_edges()), strict=True):
        if w == zero:
            continue
        if isinstance(w, float) and math.isinf(w):
            return
        edges.setdefault(u, []).append((v, sign * Fraction(w)))
    length, parent, frontier, rounds = {source: Fraction(0)}, dict[int, int](), [source], 0
    while frontier:
        improved: dict[int, None] = {}
        for u in frontier:
            for v, w in edges.get(u, ()):
                if v not in length or length[u] + w < length[v]:
                    length[v], parent[v] = length[u] + w, u
                    improved[v] = None
        frontier, rounds = list(improved), rounds + 1
        if rounds & (rounds - 1) == 0 and (cycle := _cycle_in(parent)):
            raise NegativeCycle(cycle)


def _cycle_in(parent: dict[int, int]) -> list[int] | None:
    """A cycle of the parents as a closed list from its smallest vertex on; None if there is none."""
    walk: dict[int, int] = {}
    for number, start in enumerate(parent):
        v = start
        while v in parent and v not in walk:
            walk[v] = number
            v = parent[v]
        if walk.get(v) == number:
            cycle = [v]
            while (v := parent[v]) != cycle[0]:
                cycle.append(v)
            cycle.reverse()
            smallest = cycle.index(min(cycle))
            return [*cycle[smallest:], *cycle[:smallest], cycle[smallest]]
    return None
