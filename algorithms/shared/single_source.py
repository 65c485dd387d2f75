"""The frame of every algorithm for paths from a source, around its equations, written once.

The equations are a function distances(A, source, s, until, **parameters) -> d of the semiring s. `paths`
does the rest: semirings by name, checked weights, several sources, trees, and an end at a distance or a vertex.

    d = distances(A, source, s, until)     d⟨d worse than the bound⟩ = 0̄         parents = shortest_path_tree(A, d)

The bound is `limit`, or the distance of `target`, or both. Distances beyond it are absent from every answer, so every
algorithm still gives the same one, however far it has looked.
"""

from __future__ import annotations

import functools
import inspect
import math
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, Generic, Unpack, overload

from formats import Matrix
from formats.arrays import DenseRows, DenseVector, IntegerRows, IntegerVector, index_dtype
from formats.matrix.facts import Fact
from semiring import MONOIDS, OPERATORS, Law, MinPlus, Semiring, lost, no_worse, reduce, select
from semiring.algebra.laws import first_broken_law
from semiring.algebra.semirings import INT32, INT64, find_semiring
from semiring.statistics import largest, smallest, sums_fit
from semiring.vectors import as_bound, at_the_end, element, empty_rows, fill
from semiring.verbs.batch import Rows
from semiring.verbs.checks import as_vertex, starting_points
from semiring.verbs.explanation import definitions_only
from semiring.verbs.fusible import Fusible, MemoryEstimate
from semiring.verbs.operands import typed_matrix
from semiring.verbs.registry import Declined

from .exact_cycles import check_exactly
from .parents import as_weights, gains_by_length, shortest_path_tree
from .signatures import Bounds, Choice, Distance, Either, No, Paths, Ring, Several, Vertices, Width, Yes

WIDER = {"int32": "int64", "int64": "float64", "float32": "float64"}
"""The dtype to try where a distance does not fit."""

ANY_ORDER = nullcontext()
"""The context of paths that may be found in any order."""


@dataclass(frozen=True)
class Until:
    """How far an algorithm is to look: to the distance `limit`, and until `target` is settled; None for all."""

    semiring: Semiring
    limit: Any = None
    target: int | None = None

    def bound(self, d: Any) -> Any:
        """The distance beyond which nothing was asked for, by what d holds for the target; None if there is none."""
        if self.target is None:
            return self.limit
        reached = element(d, self.target)
        if reached == self.semiring.zero(d.dtype):
            return self.limit
        return reached if self.limit is None or self.semiring.better(reached, self.limit) else self.limit

    def capped(self, d: Any, x: Any) -> Any:
        """The distance x, or the bound if that is nearer."""
        bound = self.bound(d)
        return x if bound is None or not self.semiring.better(bound, x) else bound

    def passed(self, d: Any, nearest: Any) -> bool:
        """True if all that was asked for is settled, with only vertices at `nearest` and worse distances left."""
        if nearest == self.semiring.zero(d.dtype):
            return True
        bound = self.bound(d)
        return bound is not None and bool(self.semiring.better(bound, nearest))

    def within(self, d: Any, x: Any) -> Any:
        """x⟨x no worse than the bound⟩, with the bound by what d holds for the target."""
        bound = self.bound(d)
        return x if bound is None else select(x, no_worse(self.semiring), bound, semiring=self.semiring)


SUITS: Fact[None] = Fact("an algorithm is right for the weights in a semiring")
"""Given: the algorithm, the semiring."""


@dataclass(frozen=True)
class Exact:
    """The distances d of an implementation that has seen no finite length saturate."""

    d: Any


def laws_relied_on(A: Matrix, source: Any, s: Semiring, *args: Any, **parameters: Any) -> str:
    """Says which laws a fused run takes from the user's word: those of a semiring that is not ours; "" for none."""
    if is_shipped(s):
        return ""
    return f"relied on as {s.name} declares them: check_laws({s.name}, {A.dtype}) looks for counterexamples"


@dataclass(slots=True, kw_only=True)
class Query:
    """The parameters of all algorithms for paths: `Verb` adds them, and this text, to each that has `**query`.

    Args:
        sources: several sources, (k,) integers, instead of one: the answer then has a row for each.
        return_parents: also return the shortest-path tree.
        limit: distances beyond it are absent.
        target: stop when this vertex is settled; distances beyond its own are absent.
        fused: False runs the equations as they are written.

    Returns:
        (n,) distances of A.dtype on A's device, with the semiring's zero (inf, INT_MAX) where no path leads. With
        `return_parents` also (n,) integers: each vertex's parent in the tree, -1 for none.
    """

    sources: Vertices | None = None
    return_parents: bool = False
    limit: Distance | None = None
    target: int | None = None
    fused: bool = True


class SourceToAll(Fusible[..., Any], Generic[Width, Choice]):
    """An algorithm for best paths from a source: a function that calls `paths`, and the equations.

    Its results are distances, with parents if asked for; a row for each of several sources. What `implement` registers
    takes the equations' arguments, and may answer `Exact`. `Width` is the type of `delta`, and `Choice` that of
    `algorithm`; `Never` is the type of a parameter that an algorithm does not have.
    """

    shared = Query
    memory = MemoryEstimate(fused=(24, 20), equations=(64, 30))
    any_sign = False
    """True if longer paths may be better."""
    takes: tuple[Semiring, ...] | None = None
    """The semirings that it is right for; None for all with an order and a unit."""
    relies_on = staticmethod(laws_relied_on)

    @overload
    def __call__(
        self,
        A: Matrix,
        source: int,
        semiring: Ring = MinPlus,
        *,
        return_parents: No = False,
        **how: Unpack[Bounds[Width, Choice]],
    ) -> DenseVector: ...
    @overload
    def __call__(
        self,
        A: Matrix,
        source: int,
        semiring: Ring = MinPlus,
        *,
        return_parents: Yes,
        **how: Unpack[Bounds[Width, Choice]],
    ) -> tuple[DenseVector, IntegerVector]: ...
    @overload
    def __call__(
        self,
        A: Matrix,
        source: None = None,
        semiring: Ring = MinPlus,
        *,
        return_parents: No = False,
        **how: Unpack[Several[Width, Choice]],
    ) -> DenseRows: ...
    @overload
    def __call__(
        self,
        A: Matrix,
        source: None = None,
        semiring: Ring = MinPlus,
        *,
        return_parents: Yes,
        **how: Unpack[Several[Width, Choice]],
    ) -> tuple[DenseRows, IntegerRows]: ...
    @overload
    def __call__(
        self,
        A: Matrix,
        source: int | None = None,
        semiring: Ring = MinPlus,
        *,
        return_parents: bool,
        **how: Unpack[Either[Width, Choice]],
    ) -> Paths: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

    @property
    def parameters(self) -> set[str]:
        """The names of the parameters that only this algorithm has."""
        own = inspect.signature(self._equations).parameters.values()
        return {parameter.name for parameter in own if parameter.kind is parameter.KEYWORD_ONLY}


def paths(
    algorithm: SourceToAll[Any, Any],
    A: Matrix,
    source: int | None,
    semiring: Semiring | str,
    *,
    sources: Any = None,
    return_parents: bool = False,
    limit: Any = None,
    target: int | None = None,
    **parameters: Any,
) -> Any:
    """Finds what users get: distances, or distances and parents, from one source or a row for each of several."""
    s = find_semiring(semiring)
    A = as_weights(A, s)
    A.keep(SUITS, lambda: check_suits(algorithm, A, s), algorithm, s)
    starts = starting_points(A, source, sources)
    end = None if target is None else as_vertex(A, target, "target")
    until = Until(s, None if limit is None else as_bound(limit, A.dtype, s), end)
    why = order_matters(s, A.dtype)
    with definitions_only(why, asked=False) if why else ANY_ORDER:
        if sources is not None:
            rows = empty_rows(A, len(starts), algorithm.name, A.dtype, index_dtype(A.nrows) if return_parents else None)
            fill_rows(algorithm, A, starts, rows, until, parameters)
            return rows if return_parents else rows[0]
        [start] = starts
        free = algorithm.any_sign and gains_by_length(A, s)  # then a path within the bound may lead beyond it
        try:
            answer = algorithm.run(A, start, s, Until(s) if free else until, **parameters)
        except FloatingPointError:
            check_exactly(A, start, s)  # rounding may hide a cycle that gains
            raise
    d = answer.d if isinstance(answer, Exact) else answer
    near = checked(algorithm, A, start, d, until, exact=d is not answer, free=free)
    return (near, tree_of(A, d if free else near, start, s)) if return_parents else near


def fill_rows(
    algorithm: SourceToAll[Any, Any],
    A: Matrix,
    starts: list[int],
    rows: Rows,
    until: Until,
    parameters: dict[str, Any],
) -> None:
    """Fill rows (distances, parents) for checked arguments; None where nobody asked for parents."""
    s = until.semiring
    for block in algorithm.batch.blocks(A, starts, rows, s, until, **parameters):
        distances, parents = block.rows
        if isinstance(block.answer, Declined):
            [source], how = block.sources, {"limit": until.limit, "target": until.target, **parameters}
            found = paths(algorithm, A, source, s, return_parents=parents is not None, **how)
            fill(block.rows, (found, None) if parents is None else found)
            continue
        for source, d in zip(block.sources, distances, strict=True):
            near = checked(algorithm, A, source, d, until, exact=isinstance(block.answer, Exact))
            if near is not d:
                fill([d], [near])
        if parents is not None:
            fill_trees(A, block.sources, block.rows, s)


def check_suits(algorithm: SourceToAll[Any, Any], A: Matrix, s: Semiring) -> None:
    """ValueError for a semiring, or for weights, that the algorithm is not right for."""
    name = algorithm.name
    if algorithm.takes is not None and not any(_alike(s, known) for known in algorithm.takes):
        names = ", ".join(known.name for known in algorithm.takes)
        raise ValueError(f"{name} is for {names}, not for {s.name}: take another algorithm, as bellman_ford")
    check_domain(A, s)
    if not algorithm.any_sign and gains_by_length(A, s):
        best = reduce(A, s.add)
        unit_of_s = f"weights no better than the unit {s.unit(A.dtype)} of {s.name}"
        rule = "non-negative weights" if _alike(s, MinPlus) else unit_of_s
        raise ValueError(f"{name} needs {rule}, got {best}: bellman_ford takes any")


def checked(
    algorithm: SourceToAll[Any, Any],
    A: Matrix,
    source: int,
    d: Any,
    until: Until,
    *,
    exact: bool,
    free: bool = False,
) -> Any:
    """The distances that were asked for, once it is known that none has saturated unseen.

    exact: the implementation knows it.  free: d holds all distances, not only those within the bound.  OverflowError if
    a finite length has saturated; NegativeCycle if that has hidden an improving cycle.
    """
    s, bound = until.semiring, until.bound(d)
    if not exact and (free or bound is None or bound == s.zero(d.dtype)):
        try:
            check_range(A, d, s)
        except OverflowError:
            if algorithm.any_sign and gains_by_length(A, s):
                if A.dtype == INT32 and s.adds_weights:  # of int64, so many sums stay within the range
                    algorithm.run(typed_matrix(A, s, INT64), source, s, Until(s))
                else:
                    check_exactly(A, source, s)
            raise
    return d if bound is None else until.within(d, d)


def tree_of(A: Matrix, d: Any, source: int, s: Semiring) -> Any:
    """The tree of distances that have settled; FloatingPointError where rounding leaves it without a root."""
    try:
        return shortest_path_tree(A, d, source, s)
    except ValueError as error:
        if A.dtype.kind != "f" or not gains_by_length(A, s):
            raise
        raise FloatingPointError(
            f"in {A.dtype}, rounding alone improves distances along a cycle, whose vertices hang on no other: "
            "there is no tree. Convert the weights to integers, or to more precision, or ask for no parents"
        ) from error


def fill_trees(A: Matrix, sources: list[int], rows: Rows, s: Semiring) -> None:
    """The trees of rows (distances, parents), whose distances are settled and gain nothing by length."""
    for block in shortest_path_tree.batch.blocks(A, sources, rows, s):
        if isinstance(block.answer, Declined):
            [source], ([d], parent) = block.sources, block.rows
            fill([parent], [tree_of(A, d, source, s)])


@functools.lru_cache(maxsize=256)
def is_shipped(s: Semiring) -> bool:
    """True if ⊕ and ⊗ are ours."""
    return MONOIDS.get(s.add.name) == s.add and OPERATORS.get(s.mul.name) == s.mul


@functools.lru_cache(maxsize=256)
def order_matters(s: Semiring, dtype: Any) -> str:
    """Why paths may not be found in whatever order, as fused implementations do; "" if they may."""
    if s.add.name == "any":
        return f"{s.name} takes any path, and which one depends on the order"
    if not {Law.DISTRIBUTES_LEFT, Law.DISTRIBUTES_RIGHT} <= s.laws:
        return f"{s.name} does not declare both distributive laws; pass them as laws= if they hold"
    if law := first_broken_law(s, dtype):
        return f"{s.name} breaks a law: check_laws({s.name}, {dtype}) has a counterexample of {law}"
    return ""


def check_domain(A: Matrix, s: Semiring) -> None:
    """ValueError for a weight outside the values on which the semiring's laws hold."""
    if s.domain is None or A.nnz == 0:
        return
    low, high = s.domain
    for value in (smallest(A, s), largest(A, s)):
        if not low <= value <= high or abs(value) == math.inf:
            end = ")" if high == math.inf else "]"
            raise ValueError(f"{s.name} orders paths of weights in [{low:g}, {high:g}{end} alone, got {value:g}")


def _alike(s: Semiring, t: Semiring) -> bool:
    """True if they are the same algebra, whatever laws they promise."""
    return (s.add, s.mul, s.one) == (t.add, t.mul, t.one)


def check_range(A: Matrix, d: Any, s: Semiring) -> None:
    """OverflowError if a path's finite length has saturated, at either end of the dtype."""
    if s.mul.saturating is None or sums_fit(A, d, s):
        return
    L = select(A, lost(s), row=d, col=d)  # from a reached vertex an edge, to one that counts as not reached
    endless = A.dtype.kind == "f" and at_the_end(reduce(A, s.add), s)  # a weight of -inf makes distances of -inf
    if L.nnz or (at_the_end(reduce(d, s.add), s) and not endless):
        advice = f": convert the weights, as A.astype('{WIDER[d.dtype.name]}')" if d.dtype.name in WIDER else ""
        raise OverflowError(f"a distance does not fit {d.dtype}{advice}")
