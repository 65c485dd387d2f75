"""Matrix verbs beside python-graphblas on matrices of 10^7 entries: the rows of "no cliffs" that are about verbs.

Every case is verified first: both libraries' entries must be equal. python-graphblas may put work off until a user
looks, so its time counts until the result is finished (`wait`); so does the time of a write into a matrix, without the
copy that is written to. Its matrices are made before, and so are ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from bench.measure import Disagreement
from formats import CSR, SparseVector, from_edges
from semiring import apply, assign, ewise_add, ewise_mult, extract, mxm, mxv, reduce, select, transpose
from semiring.cpu.threads import configure_graphblas

SIZE, ENTRIES, QUICK = 1 << 20, 10_500_000, 1 << 14
"""Rows and columns, entries, and rows and columns of a quick run."""


@dataclass(frozen=True)
class Case:
    """One operation in both libraries.

    ours, theirs: (what `fresh` gives) -> the result.  fresh: makes what a call may write to, outside of its time.
    calls: how many are timed together.
    """

    name: str
    ours: Callable[[Any], Any]
    theirs: Callable[[Any], Any]
    fresh: tuple[Callable[[], Any], Callable[[], Any]] = (lambda: None, lambda: None)
    calls: int = 1


def matrix(n: int, entries: int, seed: int) -> CSR:
    """Uniformly random places, integer values from 1 to 999."""
    rng = np.random.default_rng(seed)
    values = rng.integers(1, 1000, entries).astype(np.int32)
    return from_edges(rng.integers(0, n, entries), rng.integers(0, n, entries), values, shape=n)


def cases(n: int, entries: int) -> Iterator[Case]:
    """Every case, on the same matrices."""
    import graphblas as gb

    configure_graphblas()
    A, B = matrix(n, entries, 1), matrix(n, entries, 2)
    same = A.with_values(A.values[::-1].copy())
    a, b, c = (M.to_graphblas() for M in (A, B, same))
    rng = np.random.default_rng(3)
    rows, cols = (np.sort(rng.choice(n, n // 10, replace=False)) for _ in range(2))
    block, own = extract(B, rows, cols), extract(same, rows, cols)
    half = np.arange(0, n, 2)
    writable = (lambda: CSR.trusted(*A.components), lambda: finished(a.dup()))

    def written(out: Any, value: Any, accum: Any = None) -> Any:
        (out if accum is None else out(accum))[rows, cols] << value
        return out

    for name, value in (("a 1 % block", block), ("a 1 % block of the same places", own)):
        theirs = finished(value.to_graphblas())
        for suffix, accum, op in (("", None, None), (", accum", "plus", gb.binary.plus)):
            yield Case(
                f"assign of {name}{suffix}",
                lambda out, value=value, accum=accum: assign(out, value, rows, cols, accum=accum),
                lambda out, theirs=theirs, op=op: written(out, theirs, op),
                writable,
            )
    yield Case("extract a column", lambda _: extract(A, cols=7), lambda _: a[:, 7].new())
    yield Case("extract a row", lambda _: extract(A, rows=7), lambda _: a[7, :].new())
    yield Case("extract half × half", lambda _: extract(A, half, half), lambda _: a[half, half].new())
    yield Case("ewise_mult", lambda _: ewise_mult(A, B, "times"), lambda _: a.ewise_mult(b, gb.binary.times).new())
    yield Case(
        "ewise_mult, same pattern",
        lambda _: ewise_mult(A, same, "times"),
        lambda _: a.ewise_mult(c, gb.binary.times).new(),
    )
    yield Case("ewise_add", lambda _: ewise_add(A, B, "plus"), lambda _: a.ewise_add(b, gb.binary.plus).new())
    yield Case("reduce rows", lambda _: reduce(A, "plus", axis=1), lambda _: a.reduce_rowwise(gb.monoid.plus).new())
    yield Case("select tril", lambda _: select(A, "tril"), lambda _: gb.select.tril(a).new())


def small_cases(calls: int) -> Iterator[Case]:
    """Verbs on a cycle of three vertices, whose time is that of the calls themselves."""
    import graphblas as gb

    A, x = from_edges([0, 1, 2], [1, 2, 0], np.array([2.0, 3.0, 4.0])), np.array([1.0, 5.0, 6.0])
    a, v, two = A.to_graphblas(), gb.Vector.from_dense(x), [0, 1]
    pairs: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
        "mxm": (lambda _: mxm(A, A, "min_plus"), lambda _: a.mxm(a, gb.semiring.min_plus).new()),
        "mxv": (lambda _: mxv(A, x, "min_plus"), lambda _: a.mxv(v, gb.semiring.min_plus).new()),
        "select": (lambda _: select(A, ">", 2.5), lambda _: a.select(">", 2.5).new()),
        "apply": (lambda _: apply(A, "ainv"), lambda _: a.apply(gb.unary.ainv).new()),
        "extract": (lambda _: extract(A, two, two), lambda _: a[two, two].new()),
        "transpose": (lambda _: transpose(A), lambda _: a.T.new()),
        "ewise_add": (lambda _: ewise_add(A, A, "plus"), lambda _: a.ewise_add(a, gb.binary.plus).new()),
    }
    for name, both in pairs.items():
        yield Case(f"{name} of 3 vertices", *both, calls=calls)


def finished(result: Any) -> Any:
    """python-graphblas's result, with nothing left to do."""
    result.wait()
    return result


def rows(quick: bool = False, repeats: int = 7) -> Iterator[dict[str, Any]]:
    """A row for each case: case, ours_ms, graphblas_ms; the medians of calls in turns, verified."""
    sizes = (QUICK, 10 * QUICK) if quick else (SIZE, ENTRIES)
    for case in chain(small_cases(10 if quick else 1000), cases(*sizes)):
        verify(case)
        ours, theirs = [], []
        for _ in range(repeats):
            ours.append(timed(case.fresh[0], case.ours, case.calls))
            theirs.append(timed(case.fresh[1], lambda out, case=case: finished(case.theirs(out)), case.calls))
        yield {"case": case.name, "ours_ms": round(median(ours), 4), "graphblas_ms": round(median(theirs), 4)}


def timed(fresh: Callable[[], Any], call: Callable[[Any], Any], calls: int) -> float:
    """Milliseconds of one of some calls, without what they are given."""
    given = fresh()
    start = perf_counter()
    for _ in range(calls):
        call(given)
    return (perf_counter() - start) * 1e3 / calls


def verify(case: Case) -> None:
    """Disagreement unless both libraries give the same entries."""
    ours, theirs = case.ours(case.fresh[0]()), finished(case.theirs(case.fresh[1]()))
    if isinstance(ours, CSR):
        mine, other = ours.to_edges(), theirs.to_coo(sort=True)
    elif isinstance(ours, SparseVector):
        mine, other = (ours.indices, ours.values), theirs.to_coo(sort=True)
    else:
        mine, other = (ours,), (theirs.to_dense(0),)
    if not all(np.array_equal(a, b) for a, b in zip(mine, other, strict=True)):
        raise Disagreement(f"{case.name}: python-graphblas has other entries")
