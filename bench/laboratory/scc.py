"""Forward-Backward-Trim with its steps forced: no trims, random pivots, searches of one direction.

[1] L. K. Fleischer, B. Hendrickson, A. Pınar, On identifying strongly connected components in parallel, IPDPS 2000.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Literal

from algorithms.scc import PIVOTS, strong_components
from algorithms.shared.trace import running
from algorithms.shared.traversal import Direction
from formats import Matrix
from formats.arrays import IntegerVector
from semiring.vectors import check_graph
from semiring.verbs.explanation import definitions_only


def scc_by(
    A: Matrix,
    *,
    weak: bool = False,
    trim: bool = True,
    pivot: Literal["degree", "random"] = "degree",
    seed: int = 0,
    direction: Literal["auto", "push", "pull"] = "auto",
    fused: bool = True,
) -> IntegerVector:
    """`scc` by choices of its equations, none of which changes the answer.

    trim: look for chains first, and for single vertices before each search.  pivot: "degree": start where the product
    of in- and out-degree is largest, then at random; or always "random".  seed: of random pivots.  direction: of the
    searches, as in `bfs`.
    """
    check_graph(A)
    how = Direction(direction)
    if pivot not in PIVOTS:
        raise ValueError(f"pivot must be 'degree' or 'random', got {pivot!r}")
    with nullcontext() if fused else definitions_only("fused=False"), running("scc", A):
        return strong_components(A, weak, trim, pivot, seed, how)
