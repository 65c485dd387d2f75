"""Finds strong components in parts: the hub's by two searches, those of the rest by one participant.

    C = {v | hub → v → hub}             two searches on the strips, along the edges and against them
    the others' components              lie in the edges among them, which everyone takes out as a matrix

Where most vertices hang together, as in graphs with hubs, few edges are left.

[1] L. Fleischer, B. Hendrickson, A. Pınar, On identifying strongly connected components in parallel, IPDPS 2000.
"""

from __future__ import annotations

from typing import Any

from algorithms.equations.bfs import bfs
from algorithms.equations.scc import scc
from formats.arrays import index_dtype
from formats.parts.partitioned import Partitioned
from semiring import extract
from semiring.verbs.explanation import details
from semiring.verbs.registry import Declined

MAX_REST_SHARE = 1 / 4
"""Share of the entries that may be in the rows of the rest."""


def by_hub(A: Partitioned) -> Any:
    """Returns the smallest vertex of each component; `Declined` where too much hangs not together with the hub."""
    xp, n, lengths = A.xp, A.nrows, A.lengths(0)
    if A.nnz == 0:
        return xp.arange(n).astype(index_dtype(n))
    hub = int(lengths.argmax())
    inside = (bfs(A, hub) >= 0) & (bfs(A.T, hub) >= 0)
    rest = xp.flatnonzero(~inside)
    if int(lengths[rest].sum()) > MAX_REST_SHARE * A.nnz:
        return Declined("searches and trims are products, and a hub's component is not large")
    label = xp.full(n, int(inside.argmax()), index_dtype(n))
    if rest.size:
        label[rest] = rest[scc(extract(A.pattern(), rest, rest))]
    details(method="two searches from a hub, and the rest by one", rest=int(rest.size))
    return label
