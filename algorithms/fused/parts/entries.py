"""Where entries of a matrix in parts lie among all: each participant looks in its own rows."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from itertools import accumulate
from typing import Any

import numpy as np

from algorithms.shared.entries import entry_places
from formats import CSR
from formats.arrays import brought
from formats.parts.partitioned import Partitioned
from formats.storage.compressed import index_types
from formats.storage.orientation import compressed


def places(A: Partitioned, rows: Any, cols: Any) -> Any:
    """The places of entries among all by rows, -1 where there is none. A step of the group."""
    found = A.xp.full(rows.shape, -1, np.int64)
    with A.group.guarded("places"):
        for part, first, before in strips(A):
            own = A.xp.flatnonzero((rows >= first) & (rows < first + part.nrows))
            u, v = (brought(x[own], part.place) for x in (rows - first, cols))
            with part.place.scope():
                at = brought(entry_places(part, u, v).astype(np.int64), A.place)
            found[own] = A.xp.where(at < 0, at, at + before)
    counting, _ = index_types(A.shape, A.nnz, A.place)
    return functools.reduce(A.xp.maximum, A.group.everyone("places", found)).astype(counting)


def strips(A: Partitioned) -> Iterator[tuple[CSR, int, int]]:
    """(the strip by rows, its first row, how many entries are in the rows before) of those of this process."""
    by_rows: Any = compressed(A, 0)
    before = [0, *accumulate(by_rows.entries)]
    for number, (part, (first, _)) in enumerate(zip(by_rows.parts, by_rows.rows, strict=True), by_rows.first):
        yield compressed(part, 0), first, before[number]  # type: ignore[misc]
