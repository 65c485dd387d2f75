"""Near-far relaxation from several starting points together, which are all near for a start."""

from __future__ import annotations

from typing import Any

import numpy as np

from algorithms.joint import joint_parents, with_joint_source
from algorithms.single_source import Until
from formats import CSR
from semiring import OPERATORS, Semiring

from .near_far import Plan, Search, step, threads_for
from .trees import nearest_parents


def search(A: CSR, starts: np.ndarray, s: Semiring, limit: Any, return_parents: bool) -> tuple[Any, Any]:
    """(distances, parents), as `algorithms.joint.search` has them."""
    until = Until(s, None if limit is None else A.dtype.type(limit))
    search = Search(A, starts, s, until, Plan(threads_for(A), step(A, s) if s.mul == OPERATORS["plus"] else None))
    search.run()
    d = until.within(search.d, search.d)
    if not return_parents:
        return d, None
    parent, left = nearest_parents(A, d, s)
    if left > starts.size:  # on plateaus of zero weights
        parent = joint_parents(with_joint_source(A, starts, s), np.append(d, s.unit(A.dtype)), s)
    return d, parent
