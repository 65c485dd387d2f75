"""Finds the order of a breadth-first search on the GPU by `bfs_order.cu`; `algorithms.bfs_order` has the equations."""

from __future__ import annotations

import numpy as np

from formats import CSR
from formats.arrays import DeviceArray as Array
from formats.arrays import cupy
from semiring.algebra.codegen import types_of
from semiring.verbs.explanation import details
from semiring.verbs.registry import Declined

from . import kernels
from .layouts import QueueControl
from .out_of_core import both_ways as has_reverses
from .out_of_core import columns_of
from .paths import as_vertices


def queued(
    A: CSR, source: int, both_ways: bool, none: int = -1, most: int | None = None
) -> tuple[Array, Array] | Declined:
    """Returns the order of the search, and the parents.

    none: the parent of the source, and of what is not reached.  most: levels after which it is given up.
    """
    cp, n, index_type = cupy(), A.nrows, A.indptr.dtype
    turned = columns_of(A) if both_ways and not has_reverses(A, reads=True) else None
    edges = A.nnz * (1 if turned is None else 2)
    if edges > min(np.iinfo(index_type).max, 2**32 - 1) or n >= 2**31:
        return Declined(f"it counts edges in 32 bits, and there are {edges:,}")
    k = kernels.pattern("bfs_order", types_of(A))
    control, of_blocks = cp.empty(QueueControl.words, np.uint64), cp.empty(kernels.MAX_BLOCKS, np.uint64)
    order, before, parent = (cp.empty(n, index_type) for _ in range(3))
    first = cp.empty(n, f"u{index_type.itemsize}")
    along = (A.indptr, A.indices, *(turned or (kernels.NULL, kernels.NULL)), np.int64(n))
    k.plain("start_queue", n, (control, *along, k.index(source), order, before, first))
    arguments = (control, *along, order, before, first, of_blocks, parent, k.index(none))
    state = k.stepwise("bfs_order", n + edges, arguments, control, most)()
    if not state[0] >> np.uint64(32):
        return Declined(f"there are more than {most:,} levels")
    told = QueueControl.read(state, "steps", "narrow", "end")
    details(kernel="bfs_order", levels=told["steps"], narrow=told["narrow"])
    return as_vertices(order)[: told["end"]], as_vertices(parent)
