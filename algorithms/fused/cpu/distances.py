"""Distances by near-far relaxation: along all edges, or along those that matter where they are known."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from algorithms.equations.joint_search import joint_parents, with_joint_source
from algorithms.shared.bucket_width import bucket_width
from algorithms.shared.single_source import Exact, Until
from formats import CSR
from semiring import Semiring
from semiring.verbs.explanation import ASKING, details

from ..essential import MIN_NNZ
from .essential import essential
from .near_far import Plan, Search, cannot_overflow, skewed, step, threads_for
from .trees import nearest_parents


def near_far(A: CSR, source: int, s: Semiring, until: Until, *, delta: Any = None) -> Any:
    """Find distances from `source`; `Exact` if no finite length has saturated.  delta: None to suit the graph."""
    plan = planned(A, [source], s, until, None if delta is None else bucket_width(A, delta))
    search = Search(A, source, s, until, plan)
    farthest = search.run()
    if plan.essential is not None and farthest > plan.essential.farthest:
        plan = replace(plan, essential=None)
        search = Search(A, source, s, until, plan)
        farthest = search.run()
    if ASKING:
        _, relaxed, edges, buckets = search.counts.tolist()
        details(schedule="near-far", threads=plan.threads, delta=plan.delta)
        details(buckets=buckets, relaxed=relaxed, edges=edges)
        if plan.essential is not None:
            details(essential=plan.essential.edges)
    return Exact(search.d) if cannot_overflow(A, farthest, s) else search.d


def planned(A: CSR, sources: list[int], s: Semiring, until: Until, delta: Any) -> Plan:
    """Plan how to search A."""
    if not s.adds_weights:
        return Plan(threads_for(A), None)
    found = essential(A, sources, s, until) if A.nnz >= MIN_NNZ and skewed(A) else None
    suited = delta is None
    if suited:
        delta = step(A, s) if found is None else found.delta
    return Plan(threads_for(A), delta, found, chosen=not suited)


def together(A: CSR, starts: np.ndarray, s: Semiring, limit: Any, return_parents: bool) -> tuple[Any, Any]:
    """Return distances and parents, as `algorithms.joint_search.search` does; all starting points are near at first."""
    until = Until(s, None if limit is None else A.dtype.type(limit))
    search = Search(A, starts, s, until, Plan(threads_for(A), step(A, s) if s.adds_weights else None))
    search.run()
    d = until.within(search.d, search.d)
    if not return_parents:
        return d, None
    parent, left = nearest_parents(A, d, s)
    if left > starts.size:  # on plateaus of zero weights
        parent = joint_parents(with_joint_source(A, starts, s), np.append(d, s.unit(A.dtype)), s)
    return d, parent
