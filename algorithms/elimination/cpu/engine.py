"""Plans, numbers and answers of `algorithms.elimination`, between matrices and arrays of the factor."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from algorithms.fused.cpu.near_far import cannot_overflow, full_values
from algorithms.shared.parents import gains_by_length
from algorithms.shared.single_source import check_range
from formats import CSR
from formats.arrays import Array, namespace, read_only
from semiring import Semiring
from semiring.kernels.interrupts import interruptible
from semiring.statistics import magnitude, mean

from .algebra import algebra
from .numbers import Numbers, eliminated
from .ordering import find_order
from .pattern import Tree, tree
from .plan import Plan, Prediction, planned, prediction, slots
from .queries import Queries

MIN_LONG_WORK = 1 << 24
"""Minimum operations, or arcs by sources, of work whose wait Ctrl-C ends."""

INT64 = np.dtype(np.int64)
MAX_INT64_SUM = 2**62
"""Bound below which all sums of int64 weights must stay."""


@dataclass
class Analysis:
    """The facts of a graph's factor before its numbers.

    A: of which the pattern counts.  how: the method of the order.  placed: the plan on GPUs, by device.
    """

    A: CSR
    tree: Tree
    prediction: Prediction
    how: str
    placed: dict[Any, Any] = field(default_factory=dict)

    @cached_property
    def plan(self) -> Plan:
        return planned(self.A.indptr, self.A.indices, self.tree)


def analysis(A: CSR, order: Any) -> Analysis:
    """The elimination tree of A ∪ Aᵀ in an order, or in one that is found."""
    how = "given"
    if order is None:
        order, how = interruptible(functools.partial(find_order, A.indptr, A.indices), A.nnz >= 1 << 16)
    elif np.bincount(order, minlength=A.nrows).max(initial=0) > 1 or order.size != A.nrows:
        raise ValueError(f"order must hold each of the {A.nrows:,} vertices once")
    t = tree(A.indptr, A.indices, np.asarray(order, np.int32))
    return Analysis(A, replace(t, order=read_only(t.order)), prediction(t), how)


@dataclass(frozen=True)
class Engine:
    """Numbers, and the matrix that they are of.

    wide: are int32 weights, of any sign, computed with in int64?  fitting: can no length leave the dtype's range?
    """

    A: CSR
    s: Semiring
    queries: Queries
    slots: np.ndarray
    wide: bool
    fitting: bool

    @property
    def bad(self) -> int:
        """A vertex on a cycle that improves, but for rounding; -1 if there is none."""
        bad, loop = self.queries.numbers.bad, self.queries.numbers.loop
        if loop >= 0:
            return int(np.searchsorted(self.A.indptr, loop, "right")) - 1
        return int(self.queries.plan.tree.order[bad]) if bad >= 0 else -1

    @property
    def rounded(self) -> bool:
        return is_rounded(self.A, self.s)

    @property
    def lengths(self) -> bool:
        return self.queries.lengths

    @property
    def on_host(self) -> Engine:
        return self

    def solve(self, sources: list[int], rows: np.ndarray) -> None:
        """Fill a row from each source; OverflowError if a finite distance does not fit."""
        q, many = self.queries, self.queries.numbers.down.size * len(sources) >= MIN_LONG_WORK
        out = np.empty(rows.shape, INT64) if self.wide else rows
        worst = interruptible(lambda: q.several(sources, out), many)
        if self.wide:
            narrowed(out, rows, self.s)
        elif not self.fitting:
            for row, far in zip(rows, worst.view(self.A.dtype), strict=True):
                if not cannot_overflow(self.A, far, self.s):
                    check_range(self.A, row, self.s)

    def table(self, sources: list[int], targets: np.ndarray, out: np.ndarray) -> None:
        """Fill a row from each source with the distances to targets."""
        q, zero = self.queries, self.s.zero(self.A.dtype)
        found = np.empty(out.shape, INT64) if self.wide else out
        interruptible(lambda: q.table(sources, targets, found), found.size * 64 >= MIN_LONG_WORK)
        if self.wide:
            narrowed(found, out, self.s)
        elif not self.fitting:
            for row in np.flatnonzero((out == zero).any(axis=1)).tolist():
                self.solve([sources[row]], np.empty((1, self.A.nrows), self.A.dtype))

    def distance(self, u: int, v: int) -> Any:
        """From u to v, a number of Python's."""
        found = self.queries.between(u, v)
        if self.wide:
            out = np.empty(1, self.A.dtype)
            narrowed(np.array([found], INT64), out, self.s)
            return out.item()
        if not self.fitting and found == self.queries.zero:
            self.solve([u], np.empty((1, self.A.nrows), self.A.dtype))
        return found

    def path(self, u: int, v: int) -> list[int] | None:
        """The vertices of a best path; None if there is none."""
        values = widened(self.A, self.s) if self.wide else full_values(self.A)
        rows = self.A.indptr, self.A.indices, values.view(self.queries.numbers.known.dtype)
        walk = self.queries.path(u, v, rows)
        if walk is None or self.wide:
            self.distance(u, v)  # OverflowError if a path is too long
        return None if walk is None else without_cycles(walk)

    def nearest(self, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """For each vertex the distance to its nearest target, and which it is."""
        d, who = np.empty(self.A.nrows, self.queries.dtype), np.empty(self.A.nrows, np.int32)
        far = self.queries.nearest(targets, d, who)
        if self.wide:
            out = np.empty(d.size, self.A.dtype)
            narrowed(d, out, self.s)
            return out, who
        if not self.fitting and not cannot_overflow(self.A, far.view(self.A.dtype), self.s):
            check_range(self.A.T, d, self.s)
        return d, who

    @property
    def nbytes(self) -> int:
        return self.queries.nbytes + self.slots.nbytes


def engine(known: Analysis, A: CSR, s: Semiring, before: Engine | None = None) -> Engine:
    """Returns the engine with the numbers of A's factor.

    before: of the same order; where its matrix has the same pattern, nothing is looked up again.
    """
    plan = known.plan
    same = before is not None and all(
        mine is its or np.array_equal(mine, its)
        for mine, its in ((A.indptr, before.A.indptr), (A.indices, before.A.indices))
    )
    where = before.slots if before is not None and same else slots(A.indptr, A.indices, plan)
    wide, weights, lengths = weights_of(A, s)
    numbers = interruptible(
        functools.partial(eliminated, plan, where, weights, s, lengths), known.prediction.operations >= MIN_LONG_WORK
    )
    return Engine(A, s, Queries(plan, numbers, s, weights.dtype, lengths), where, wide, is_fitting(A, s))


def engine_of(known: Analysis, A: CSR, s: Semiring, up: np.ndarray, down: np.ndarray) -> Engine:
    """The same from numbers that were made before; `up` is empty where both directions are alike."""
    plan = known.plan
    wide, weights, lengths = weights_of(A, s)
    work = algebra(s, weights.dtype, lengths)
    if down.size != known.prediction.arcs or down.dtype != work.dtype:
        raise ValueError(f"{down.size:,} numbers of {down.dtype} are not those of {known.prediction.arcs:,} arcs")
    numbers = Numbers(up if up.size else down, down, work, -1, -1)
    where = slots(A.indptr, A.indices, plan)
    return Engine(A, s, Queries(plan, numbers, s, weights.dtype, lengths), where, wide, is_fitting(A, s))


def narrowed(found: Array, out: Array, s: Semiring) -> None:
    """Copy distances of int64 to a narrower dtype; OverflowError if a finite one does not fit."""
    absent, info, xp = s.zero(INT64), np.iinfo(out.dtype), namespace(found)
    reached = found != absent
    if ((found <= info.min) & reached).any() or ((found >= info.max) & reached).any():
        raise OverflowError(f"a distance does not fit {out.dtype}: convert the weights, as A.astype('int64')")
    out[...] = xp.where(reached, found, s.zero(out.dtype))


def is_rounded(A: CSR, s: Semiring) -> bool:
    """True if lengths are sums or products of floats, which are rounded."""
    return A.dtype.kind == "f" and s.mul.name not in ("min", "max", "first", "second")


def weights_of(A: CSR, s: Semiring) -> tuple[bool, np.ndarray, bool]:
    """Returns true if weights are widened to int64, the weights of the numbers, and true if none improves a path."""
    gains = gains_by_length(A, s)
    wide = must_widen(A, s, gains)
    return wide, widened(A, s) if wide else full_values(A), not gains


def must_widen(A: CSR, s: Semiring, gains: bool) -> bool:
    """True if weights are computed with in int64; OverflowError if parts of a path may leave the dtype of lengths."""
    if not gains or not s.adds_weights or A.dtype == bool:
        return False
    wide, most = A.dtype.kind == "i", magnitude(A, s)
    if most < np.inf and A.nrows * most >= (MAX_INT64_SUM if wide else float(np.finfo(A.dtype).max) / 2):
        other = ", or A.astype('float64')" if A.dtype != np.float64 else ""
        dtype = INT64 if wide else A.dtype
        raise OverflowError(f"lengths of {A.nrows:,} such weights may not fit {dtype}: take sssp{other}")
    return wide


def is_fitting(A: CSR, s: Semiring) -> bool:
    """True if no length can leave the dtype's range.

    Where no weight makes a path better, the best walk is a path. What else saturates on the way is never the best.
    """
    if s.mul.saturating is None or A.dtype == bool:
        return True
    if not s.adds_weights:
        return False
    info: Any = np.iinfo(A.dtype) if A.dtype.kind == "i" else np.finfo(A.dtype)
    most, gains = A.nrows * magnitude(A, s), gains_by_length(A, s)
    if not gains:
        most = min(most, abs(mean(A, s)) * A.nnz)
    return bool(most < float(info.max) * (0.5 if gains else 0.99))


def widened(A: CSR, s: Semiring) -> Array:
    """A's values in int64, absent ones as its zero."""
    values = A.values.astype(INT64)
    values[A.values == s.zero(A.dtype)] = s.zero(INT64)
    return values


def without_cycles(walk: list[int]) -> list[int]:
    """The walk without what lies between two visits of a vertex, where nothing is gained."""
    seen: dict[int, int] = {}
    path: list[int] = []
    for v in walk:
        if v in seen:
            for w in path[seen[v] + 1 :]:
                del seen[w]
            del path[seen[v] + 1 :]
            continue
        seen[v] = len(path)
        path.append(v)
    return path
