"""Which storage format to convert a matrix to, found by trying formats on the matrix itself as far as that pays.

    A.to("auto", verb="mxv", calls=1000)         # converts, or stays
    print(choose(A, "mxv", calls=1000))          # says why

Nothing is known beforehand of formats and machines, and nothing is kept on disk. What is measured, and when:

1. A few calls on A as it is. They say what all calls would take, and SHARE of that time is the budget of the trial.
2. Two samples of A's entries, in every format: conversion, first call, further calls. From two sizes follow the cost of
   a call and that of an entry, and so the times of A itself. A matrix of few entries is not sampled.
3. A itself, in the formats of which the samples promise most, one after the other. A format takes turns with the best
   one before it, and the slower of the two is dropped.

A step is taken if the budget is expected to last. So few calls stay as they are, and very many try whatever may be the
best. Kernels are compiled before, once a machine and for COMPILING_MS at most; half of the budget is left in any case.

Trying all on little and few on much: Z. Karnin, T. Koren, O. Somekh, Almost Optimal Exploration in Multi-Armed Bandits,
ICML 2013.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable
from contextvars import copy_context
from dataclasses import dataclass
from typing import Any

import numpy as np

from formats import CSR, Matrix
from formats.display import shortened, table
from formats.hooks import CHOICE
from formats.matrix.facts import COMPRESSED
from formats.matrix.footprint import footprint
from formats.matrix.routes import leads
from formats.performance import defer_warnings

from ..algebra.semirings import MinPlus, Semiring, find_semiring
from ..verbs.checks import check_matrix
from ..verbs.explanation import note_choice
from ..verbs.fusible import Fusible
from ..verbs.needs import algorithms
from .comparison import Product, operand_for, product_named
from .timing import finished_ms, in_turns, settled_clock, undisturbed

SHARE = 1 / 8
"""Share of the time of all calls that the trial may take."""
MIN_CALLS, MIN_MS = 32, 200.0
"""Nothing is tried for fewer calls, or for calls that take less in all."""
COMPILING_MS = 2000.0
SAMPLES, WINDOWS = (512, 32), 16
"""Entries of the matrix for each one of a sample; places of the matrix that the entries come from."""
MIN_SAMPLE = {"cpu": 1 << 12, "cuda": 1 << 20}
"""Entries below which a call's own cost, not that of its entries, would be measured."""
CONVERSION_CALLS = 10
"""Calls that a conversion is taken for as long as none has been measured."""
DOUBT, MARGIN = 2.0, 0.9
"""A time may be that many times as short as samples say.  Without more than samples, a format must save a tenth."""
PART = 1 / 40
"""Share of the budget for timing one format. A format that takes no more in all is tried whatever samples say."""
MIN_TIMING_MS, MAX_TIMING_MS, BATCH_MS = 2.0, 150.0, 1.0
"""Least and most time for timing a format, and for a batch of calls, of which there are three or more."""
MAX_BATCHES = {"cpu": 50, "cuda": 7}
NOT_TRIED = "not tried, for the calls would hardly make up for it"

Call = Callable[[Matrix], Any]
Work = Callable[[Matrix], Call]
"""(a matrix) -> the call that is repeated on it, or on the same matrix in another format."""


@dataclass(frozen=True, repr=False)
class Choice:
    """The chosen format, the reason, and the measurements of every format; `print` shows it.

    Attributes:
        what: the calls, the matrix and the device, in words.
        own: the format that the matrix has.
        chosen: the format's name.
        calls: how many there will be.
        why: the choice, in words.
        candidates: dicts, the fastest first: `format`, `ms` of a call, `conversion_ms`, with the first call, `total_ms`
            of both, `nbytes`; `tried`, on "the matrix" or on "samples"; `why` it cannot be chosen, or was not tried,
            or None.
        trial_ms: what finding out took, all included.
        matrix: A in the chosen format if the trial has made it, else None.

    Example:
        >>> from formats import from_edges
        >>> found = choose(from_edges([0, 0, 1], [1, 2, 2]), "vxm", calls=3)
        >>> found.own, found.chosen, len(found.candidates) > 1
        ('csr', 'csr', True)
    """

    what: str
    own: str
    chosen: str
    calls: int
    why: str
    candidates: list[dict[str, Any]]
    trial_ms: float = 0.0
    matrix: Matrix | None = None

    def __str__(self) -> str:
        lines = [f"{self.what}: {self.why}"]
        for row in self.candidates:
            if row["tried"] is not None:
                ms, made_ms, total_ms = (_ms(row[key]) for key in ("ms", "conversion_ms", "total_ms"))
                known = f"{ms} ms a call, {made_ms} to convert, {total_ms} in all; {row['nbytes']:,} bytes"
                lines.append(f"    {row['format']:14}{known}; tried on {row['tried']}")
            elif row["why"] != NOT_TRIED:
                lines.append(f"    {row['format']:14}{row['why']}")
        rest = ", ".join(row["format"] for row in self.candidates if row["why"] == NOT_TRIED)
        return "\n".join([*lines, *([f"    {NOT_TRIED}: {rest}"] if rest else [])])

    def __repr__(self) -> str:
        return shortened(str(self))

    def _repr_html_(self) -> str:
        head = ("format", "ms a call", "ms to convert", "ms in all", "bytes", "tried on")
        keys = ("ms", "conversion_ms", "total_ms")
        rows = [
            (row["format"], *(_ms(row[key]) for key in keys), f"{row['nbytes']:,}", row["tried"])
            for row in self.candidates
            if row["tried"] is not None
        ]
        return table(f"{self.what}: {self.why}", rows, head)


def choose(
    A: Matrix,
    verb: Product = "mxv",
    *,
    calls: int = 100,
    semiring: Semiring | str = MinPlus,
    frontier: float | None = None,
    algorithm: str | Fusible[..., Any] | None = None,
    fused: bool = True,
) -> Choice:
    """The format in which so many calls take the least time, found by trying formats for an eighth of that time.

    A few calls on A are timed, then samples of A in every format, then A in the formats that promise most. Fewer than
    32 calls, or calls that take less than 0.2 s in all, are not worth a trial: A stays as it is. Where kernels are not
    compiled yet, this takes up to two seconds more. A whole matrix in another format needs memory of its own, and two
    such are there at a time.

    An algorithm runs fused on any format's rows as CSR, so nothing is tried: the choice is the present format if it is
    run itself, else CSR. With `fused=False` the equations are timed, on the whole matrix.

    Args:
        A: the matrix. What a call on it makes is kept with it, as after any call.
        verb: mxv or vxm, or its name.
        calls: how many there will be.
        semiring: of the products.
        frontier: the share of elements that a sparse operand has, in (0, 1]; by default the operand is dense.
        algorithm: an algorithm or its name, instead of the verb.
        fused: False for an algorithm that will be called with fused=False.

    Returns:
        The choice. It prints as a table of all formats.

    Raises:
        ValueError: there is no such verb or algorithm, or calls or frontier are out of range.

    Example:
        >>> from formats import from_edges
        >>> choose(from_edges([0, 0, 1], [1, 2, 2]), "mxv", calls=3).chosen
        'csr'
    """
    check_matrix("A", A)
    if not isinstance(calls, int | np.integer) or calls < 1:
        raise ValueError(f"calls must be a whole number from 1 on, got {calls!r}")
    size = f"{A.nrows:,} × {A.ncols:,}, {A.nnz:,} entries, {A.dtype}, {A.device}"
    if algorithm is not None:
        return _of_algorithm(A, algorithm, fused, calls, size)
    product, s = product_named(verb), find_semiring(semiring)

    def work(S: Matrix) -> Call:
        x = operand_for(S, product, s, None, frontier, A.device)
        return (lambda M: product(M, x, s)) if product.name == "mxv" else (lambda M: product(x, M, s))

    formats = [fmt for fmt, backend in product.table if backend == A.place.backend]
    kind = "a dense x" if frontier is None else f"{frontier:g} of x"
    return _Trial(A, work, calls, formats).run(f"{product.name}, {s.name}, {kind}: {size}")


@CHOICE.answered_by
def _chosen(A: Matrix, options: dict[str, Any]) -> Matrix:
    """`A` in the chosen format, for `A.to("auto", …)`."""
    choice = choose(A, **options)
    note_choice(choice)
    return choice.matrix if choice.matrix is not None else A.to(choice.chosen)


def _of_algorithm(A: Matrix, algorithm: Any, fused: bool, calls: int, size: str) -> Choice:
    name = getattr(algorithm, "name", algorithm)
    if name not in (every := algorithms()):
        raise ValueError(f"algorithm must be one of {', '.join(sorted(every))}, got {name!r}")
    known: Any = every[name]
    form = known.runs_fused(type(A), A.place.backend) if fused else None
    if form is None:  # from the vertex with the most edges, where it needs one
        starts = [int(A.lengths().argmax())] if A.nrows and "source" in inspect.signature(known).parameters else []
        formats = [fmt for fmt in Matrix.formats.values() if leads(CSR, fmt)]
        trial = _Trial(A, lambda _: lambda M: known.unfused(M, *starts), calls, formats, sampled=False)
        return trial.run(f"{name} by its equations: {size}")
    own, rows, chosen = _name(type(A)), _name(form), _name(type(A))
    if form is type(A):
        why = f"{own} stays: {name} runs fused on it"
    elif A.keeps(COMPRESSED, form):
        why = f"{own} stays: {name} runs fused on its rows as {rows}, which are kept with it"
    elif not footprint(A, form, A.place, {}, {}).fits:
        why = f"{own} stays: there is no room for its rows as {rows}, on which {name} would run fused"
    else:
        chosen = rows
        why = f"{rows}: {name} runs fused on it, and the first call would make these rows and keep them with the {own}"
    return Choice(f"{name}, fused: {size}", own, chosen, calls, why, [])


class _Trial:
    """The search for the format in which so many calls of some work on A take the least time.

    rows: what is known of each format, by name.  best: A in the fastest format so far, `ms` of a call on it.
    longest_ms: what a step has taken at most, or is expected to take.
    """

    def __init__(self, A: Matrix, work: Work, calls: int, formats: list[type[Matrix]], sampled: bool = True) -> None:
        self.A, self.work, self.calls, self.sampled = A, work, calls, sampled
        self.formats = [fmt for fmt in formats if fmt is not type(A)]
        unknown = dict.fromkeys(("ms", "conversion_ms", "total_ms", "nbytes", "tried", "why"))
        names = [_name(fmt) for fmt in (type(A), *self.formats)]
        self.rows: dict[str, dict[str, Any]] = {name: {"format": name} | unknown for name in names}
        self.rows[names[0]]["nbytes"] = A.nbytes
        self.best, self.ms, self.budget_ms, self.longest_ms, self.csr_ms = A, 0.0, 0.0, 0.0, 0.0
        self.start = self.began = time.perf_counter()

    def run(self, what: str) -> Choice:
        """Try what pays, and tell what came of it."""
        quiet = copy_context()
        quiet.run(defer_warnings, [])  # what is slow here is not the user's call
        own, why = _name(type(self.A)), quiet.run(self.tried)
        chosen = best = _name(type(self.best))
        promised = min(self.formats, key=self.promise, default=type(self.best))
        if self.promise(promised) < MARGIN * self.calls * self.ms:
            chosen = _name(promised)
        if chosen == own:
            why = f"{own} stays: {why or f'no other format makes up for its conversion in {self.calls:,} calls'}"
        else:
            taken, others = (_ms(self.rows[name]["total_ms"]) for name in (chosen, own))
            why = f"{chosen}: {self.calls:,} calls and the conversion take {taken} ms, {own} {others} ms"
        for row in self.rows.values():
            row["why"] = NOT_TRIED if row["tried"] is None and row["why"] is None else row["why"]
        order = sorted(self.rows.values(), key=lambda row: (row["tried"] is None, row["ms"] or 0.0))
        made, taken_ms = self.best if chosen == best else None, (time.perf_counter() - self.start) * 1e3
        return Choice(what, own, chosen, self.calls, why, order, taken_ms, made)

    def tried(self) -> str:
        """Try what pays; returns why nothing was worth a try, or ""."""
        if self.calls < MIN_CALLS:
            return f"{self.calls:,} calls are too few to try another format"
        call = self.work(self.A)
        call(self.A)
        self.ms = self.once(call, self.A)
        self.note(type(self.A), self.ms, 0.0, "the matrix")
        self.budget_ms, expected = SHARE * self.calls * self.ms, CONVERSION_CALLS * self.ms
        if self.calls * self.ms < MIN_MS or expected > self.budget_ms:
            return f"{self.calls:,} calls take {_ms(self.calls * self.ms)} ms, too little to try another format"
        (self.ms,) = self.timed(call, self.A)
        self.note(type(self.A), self.ms, 0.0, "the matrix")
        self.formats = [fmt for fmt in self.formats if self.can_be(fmt)]
        if not isinstance(self.A, CSR) and CSR not in self.formats:
            return "it cannot be had as CSR, of which other formats are made"
        start = time.perf_counter()
        csr: Any = self.A.to(CSR)
        self.csr_ms = (time.perf_counter() - start) * 1e3
        works: list[tuple[Matrix, Call]] = [
            (S, self.work(S)) for S in (sample(csr, csr.nnz // k) for k in SAMPLES if self.sampled)
        ]
        self.began, self.budget_ms = time.perf_counter(), COMPILING_MS
        for fmt in self.formats if works else []:
            self.step(0.0, self.made, fmt, *works[0])
        self.began, self.budget_ms = self.start, SHARE * self.calls * self.ms
        self.began += max(0.0, self.elapsed_ms() - self.budget_ms / 2) / 1e3  # what compiling takes leaves a half
        if works and works[-1][0].nnz >= MIN_SAMPLE[self.A.place.backend]:
            self.longest_ms = 0.0
            for fmt in self.formats:
                self.step(self.longest_ms, self.try_samples, fmt, works, csr.nnz)
        self.longest_ms = expected
        for fmt in sorted(self.formats, key=lambda fmt: (self.promise(fmt), self.rows[_name(fmt)]["nbytes"])):
            row, expected = self.rows[_name(fmt)], self.longest_ms
            if row["tried"] is not None:
                expected = row["conversion_ms"] - self.csr_ms + CONVERSION_CALLS * row["ms"]
            likely = row["tried"] is None or self.promise(fmt, DOUBT) < self.calls * self.ms
            if likely or expected < PART * self.budget_ms:
                self.step(expected, self.try_matrix, fmt, csr, call)
        return ""

    def can_be(self, fmt: type[Matrix]) -> bool:
        """True if A can be had in the format; notes the bytes it needs, or why it cannot."""
        row = self.rows[_name(fmt)]
        try:
            fmt._check_padding(self.A, {})
            needed = footprint(self.A, fmt, self.A.place, {}, {})
        except (ValueError, NotImplementedError) as error:
            row["why"] = str(error)
            return False
        row["nbytes"] = needed.matrix
        row["why"] = None if needed.fits else f"needs {needed.total:,} bytes, of {needed.available:,} available"
        return needed.fits

    def step(self, expected_ms: float, attempt: Callable[..., Any], fmt: type[Matrix], *args: Any) -> None:
        """Make an attempt at a format, if the budget is expected to last; notes what was in its way."""
        start = self.elapsed_ms()
        if start + expected_ms > self.budget_ms:
            return
        try:
            attempt(fmt, *args)
        except (MemoryError, ValueError, NotImplementedError) as error:
            self.rows[_name(fmt)] |= {"tried": None, "why": str(error)}
        self.longest_ms = max(self.longest_ms, self.elapsed_ms() - start)

    def try_samples(self, fmt: type[Matrix], works: list[tuple[Matrix, Call]], entries: int) -> None:
        """Note what two samples say of a matrix of so many entries."""
        found = []
        for S, call in works:
            M, made_ms = self.made(fmt, S, call)
            found.append((S.nnz, *self.timed(call, M), made_ms))
        (few, *short), (many, *long) = found
        growth = [max(0.0, b - a) / (many - few) for a, b in zip(short, long, strict=True)]
        ms, made_ms = (
            min(b + each * (entries - many), b * entries / many) for b, each in zip(long, growth, strict=True)
        )
        self.note(fmt, ms, made_ms + self.csr_ms, "samples")

    def try_matrix(self, fmt: type[Matrix], csr: Matrix, call: Call) -> None:
        """Convert A, and let the faster of it and the best so far be the best."""
        M, made_ms = self.made(fmt, csr, call)
        ms, best_ms = self.timed(call, M, self.best)
        self.note(fmt, ms, made_ms + self.csr_ms, "the matrix")
        if ms < best_ms:
            self.best, self.ms = M, ms

    def made(self, fmt: type[Matrix], S: Matrix, call: Call) -> tuple[Matrix, float]:
        """Returns S in the format, and the milliseconds of the conversion and the first call."""
        found: list[Matrix] = []
        ms = finished_ms(lambda: found.append(S.to(fmt)), S.device)
        return found[0], ms + self.once(call, found[0])

    def once(self, call: Call, M: Matrix) -> float:
        """Milliseconds of one call."""
        return finished_ms(lambda: call(M), M.device)

    def timed(self, call: Call, *matrices: Matrix) -> list[float]:
        """Milliseconds of a call on each, in turns."""
        runs, device = [(lambda M=M: call(M)) for M in matrices], self.A.device
        ms = min(MAX_TIMING_MS, max(MIN_TIMING_MS, PART * self.budget_ms))
        clocks = [settled_clock(run, device, min(BATCH_MS, ms / 3)) for run in runs]
        batches = MAX_BATCHES[self.A.place.backend]
        return list(map(undisturbed, in_turns(list(zip(runs, clocks, strict=True)), batches, ms / 1e3)))

    def note(self, fmt: type[Matrix], ms: float, conversion_ms: float, tried: str) -> None:
        total = conversion_ms + self.calls * ms
        known = {"ms": ms, "conversion_ms": conversion_ms, "total_ms": total, "tried": tried, "why": None}
        self.rows[_name(fmt)] |= known

    def promise(self, fmt: type[Matrix], doubt: float = 1.0) -> float:
        """Milliseconds of the conversion and all calls, as samples say, the calls by so many times too much."""
        row = self.rows[_name(fmt)]
        return row["conversion_ms"] + self.calls * row["ms"] / doubt if row["tried"] == "samples" else float("inf")

    def elapsed_ms(self) -> float:
        return (time.perf_counter() - self.began) * 1e3


def sample(A: CSR, entries: int) -> CSR:
    """Entries of A from WINDOWS places, evenly spaced, with the rows that they span and all columns."""
    xp, windows = A.xp, max(1, min(WINDOWS, entries))
    size = entries // windows
    if size == 0:
        return CSR.trusted(A.indptr[:1], A.indices[:0], A.values[:0], (0, A.ncols))
    starts = xp.arange(windows, dtype=np.int64) * ((A.nnz - size) // max(windows - 1, 1))
    at = (starts[:, None] + xp.arange(size)).ravel()
    rows = xp.searchsorted(A.indptr, at, side="right").reshape(windows, size) - 1
    ends = xp.cumsum(rows[:, -1] - rows[:, 0] + 1)
    rows += (ends - rows[:, -1] - 1)[:, None]
    nrows = int(ends[-1])
    indptr = xp.searchsorted(rows.ravel(), xp.arange(nrows + 1)).astype(A.indptr.dtype)
    return CSR.trusted(indptr, A.indices[at], A.values[at], (nrows, A.ncols))


def _ms(x: float) -> str:
    return f"{x:,.0f}" if x >= 1000 else f"{x:.3g}"


def _name(fmt: type[Matrix]) -> str:
    return fmt.__name__.lower()
