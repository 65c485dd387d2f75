"""Every storage format under one product of one matrix, measured: time, bytes, padding, and when converting has paid.

    found = compare(A, "mxv", MinPlus)
    found.best                   # the row of the fastest format
    found.rows, found.to_pandas(), found.plot()

The verbs' tables say which formats there are. All answers must be equal before anything is timed, formats take turns,
and medians count. Storage formats on GPUs were first compared like this by Bell and Garland [1].

[1] N. Bell, M. Garland, Implementing sparse matrix-vector multiplication on throughput-oriented processors, SC 2009.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from formats import Matrix, SparseVector
from formats.arrays import Array, Device, all_of, equals, move, namespace, optional
from formats.display import shortened
from formats.display import table as html_table
from formats.matrix.base import find_format

from ..algebra.semirings import BOOL, MinPlus, Semiring, find_semiring
from ..verbs.checks import check_matrix
from ..verbs.operands import common_dtype
from ..verbs.registry import Verb
from ..verbs.verbs import mxv, vxm
from .timing import Disagreement, batched_clock, break_even, finished_ms, in_turns, rounded, unkept

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure
    from rich.table import Table

Product: TypeAlias = Literal["mxv", "vxm"] | Verb[..., Any]

PRODUCTS: dict[str, Verb[..., Any]] = {verb.name: verb for verb in (mxv, vxm)}
CONVERSIONS = 3
"""Times that a conversion and a first product are timed."""
MAX_OPERAND = 1000
"""Operands are integers below it, which float32 sums exactly with weights of any size in use."""
RELATIVE_ERROR = {"float32": 1e-4, "float64": 1e-10}
"""That sums of floating-point numbers may differ by, of the largest, since formats add in different orders."""

COLUMNS = {
    "format": "format",
    "ms": "ms",
    "ratio": "of {own}'s",
    "nbytes": "MiB",
    "bytes_per_entry": "bytes an entry",
    "padding": "padding",
    "kept_bytes": "kept, MiB",
    "conversion_ms": "conversion, ms",
    "break_even": "pays after",
}
"""A table's columns: keys of the rows, and what stands above them."""


@dataclass(frozen=True, repr=False)
class Comparison:
    """A product in every format, a row each, the fastest first, and then those that the matrix cannot have.

    Attributes:
        what: verb, semiring, matrix and device, in words.
        own: the format that the matrix has.
        rows: dicts. `format`, its lower-case name. `ms` of a call, `low_ms` and `high_ms` its quartiles; `ratio` to the
            format that the matrix has. `nbytes` of the format's arrays, `bytes_per_entry`, `padding`, stored places for
            an entry, `kept_bytes`, of what products keep beside them. `conversion_ms`, `first_ms` of a matrix's first
            product, with what it makes and keeps. `break_even`: calls after which converting has taken less time, all
            counted, than staying would have; None where it never does. `why`: the format cannot be had; then all
            figures are None.

    Example:
        >>> from formats import CSR, ELL, from_edges
        >>> found = compare(from_edges([0, 1, 2], [1, 2, 0]), formats=[CSR, ELL], repeats=3)
        >>> found.own, sorted(row["format"] for row in found.rows)
        ('CSR', ['csr', 'ell'])
    """

    what: str
    own: str
    rows: list[dict[str, Any]]

    @property
    def measured(self) -> list[dict[str, Any]]:
        """The rows with figures."""
        return [row for row in self.rows if row["why"] is None]

    @property
    def best(self) -> dict[str, Any]:
        """The fastest format's row."""
        return self.measured[0]

    def to_pandas(self) -> pandas.DataFrame:
        """The rows as a table of pandas, which has to be installed."""
        return optional("pandas", "a frame").DataFrame(self.rows)

    def plot(self) -> Figure:
        """Milliseconds and bytes an entry of each format, as a figure of matplotlib, which has to be installed."""
        size = 9, 0.6 + 0.45 * len(self.measured)
        figure = optional("matplotlib.figure", "a plot").Figure(figsize=size, layout="constrained")
        names = [row["format"] for row in self.measured][::-1]
        panels = {"ms": "milliseconds a call", "bytes_per_entry": "bytes an entry"}
        axes = figure.subplots(1, len(panels), sharey=True)
        for ax, (key, name) in zip(axes, panels.items(), strict=True):
            bars = ax.barh(names, [row[key] for row in self.measured][::-1], color="#3b82c4")
            ax.bar_label(bars, fmt="%.3g", padding=3, fontsize=8)
            ax.margins(x=0.15)
            ax.set_xlabel(name)
            ax.spines[["top", "right"]].set_visible(False)
        figure.suptitle(self.what, fontsize=10)
        return figure

    def __rich__(self) -> Table:
        from rich.table import Table

        table = Table(title=self.what, box=None, padding=(0, 2, 0, 0), title_justify="left")
        for k, name in enumerate(COLUMNS.values()):
            table.add_column(name.format(own=self.own), justify="right" if k else "left", no_wrap=True)
        for row in self.measured:
            table.add_row(*(_cell(key, row[key]) for key in COLUMNS))
        table.caption, table.caption_justify = self._refused or None, "left"
        return table

    @property
    def _refused(self) -> str:
        """A line for each format that the matrix cannot have."""
        return "\n".join(f"{row['format']}: {row['why']}" for row in self.rows if row["why"] is not None)

    def _repr_html_(self) -> str:
        head = [name.format(own=self.own) for name in COLUMNS.values()]
        rows = [[_cell(key, row[key]) for key in COLUMNS] for row in self.measured]
        return html_table(self.what, rows, head, self._refused)

    def __str__(self) -> str:
        return self._told()

    def __repr__(self) -> str:
        return shortened(self._told())

    def _told(self) -> str:
        from rich.console import Console

        console = Console(width=120, no_color=True, highlight=False, force_terminal=False, force_jupyter=False)
        with console.capture() as captured:
            console.print(self)
        return "\n".join(line.rstrip() for line in captured.get().splitlines())


def compare(
    A: Matrix,
    verb: Product = "mxv",
    semiring: Semiring | str = MinPlus,
    *,
    formats: Iterable[type[Matrix] | str] | None = None,
    device: Device | None = None,
    x: Array | SparseVector | None = None,
    frontier: float | None = None,
    repeats: int = 11,
    seconds: float = 1.0,
) -> Comparison:
    """Time a product of `A` in every format, verified, and tell what each takes and when converting to it pays.

    Operands are on the device before the clock starts. On a GPU a call is its share of a batch, see `timing`.

    Args:
        A: the matrix.
        verb: mxv or vxm, or its name.
        semiring: by object or name.
        formats: by class or name; by default all that the verb has.
        device: by default where A is.
        x: the operand, by default integers.
        frontier: of such ones the share that is present, in (0, 1], for a sparse operand.
        repeats: timed calls of each format, fewer of slow ones.
        seconds: of a format no more than so many, but for three calls.

    Returns:
        A `Comparison`, which `print` shows as a table.

    Raises:
        ValueError: there is no such verb, format, frontier or number of repeats.
        Disagreement: two formats give different answers: bits where ⊕ is idempotent or of integers, else within
            RELATIVE_ERROR.

    Example:
        >>> from formats import from_edges
        >>> found = compare(from_edges([0, 1, 2], [1, 2, 0]), formats=["csr", "coo"], repeats=3)
        >>> found.best["format"] in ("csr", "coo")
        True
    """
    check_matrix("A", A)
    if operator.index(repeats) < 1:
        raise ValueError(f"repeats must be at least 1, got {repeats}")
    product, s = product_named(verb), find_semiring(semiring)
    device = device or A.device
    A = A.to(device=device)
    operand = operand_for(A, product, s, x, frontier, device)

    def call(M: Matrix) -> Any:
        return product(M, operand, s) if product is mxv else product(operand, M, s)

    chosen = [find_format(fmt) for fmt in formats] if formats is not None else []
    tried = dict.fromkeys([type(A), *(chosen or [fmt for fmt, backend in product.table if backend == device])])
    made, refused = copies_of(A, tried)
    from statistics import median, quantiles

    expected, dtype = call(made[type(A)]), common_dtype(s, A, operand)
    for fmt, M in made.items():
        if not same(expected, call(M), s):
            raise Disagreement(f"{fmt.__name__} and {type(A).__name__} give different answers: nothing is timed")
    calls = [(lambda M=M: call(M)) for M in made.values()]
    taken = in_turns([(run, batched_clock(run, device)) for run in calls], repeats, seconds)
    costs = {fmt: _median_ms(lambda fmt=fmt: unkept(A).to(fmt), device) for fmt in made}  # type: ignore[misc]
    firsts = {fmt: _first_ms(M, call, device) for fmt, M in made.items()}
    own_ms = median(taken[0])
    rows: list[dict[str, Any]] = []
    for (fmt, M), times in zip(made.items(), taken, strict=True):
        ms, changes = median(times), fmt is not type(A)
        low, _, high = quantiles(times, n=4, method="inclusive")
        start = costs[fmt] + firsts[fmt] if changes else 0.0
        row: dict[str, Any] = {"format": fmt.__name__.lower(), "ms": rounded(ms)}
        row |= {"low_ms": rounded(low), "high_ms": rounded(high), "ratio": rounded(ms / own_ms)} | storage(M)
        row |= {"conversion_ms": rounded(costs[fmt]) if changes else 0.0, "first_ms": rounded(firsts[fmt])}
        row["break_even"] = break_even(start, ms, firsts[type(A)], own_ms) if changes else None
        rows.append(row | {"why": None})
    rows.sort(key=lambda row: row["ms"])
    rows += [dict.fromkeys(rows[0]) | {"format": fmt.__name__.lower(), "why": why} for fmt, why in refused.items()]
    kind = f"{operand.nnz:,} elements of x" if isinstance(operand, SparseVector) else "a dense x"
    size = f"{A.nrows:,} × {A.ncols:,}, {A.nnz:,} entries, {dtype}"
    return Comparison(f"{product.name}, {s.name}, {kind}: {size}, {device}", type(A).__name__, rows)


def storage(M: Matrix) -> dict[str, Any]:
    """Returns the memory of a matrix and of the facts that it keeps."""
    entries = max(M.nnz, 1)
    return {
        "nbytes": M.nbytes,
        "bytes_per_entry": rounded(M.nbytes / entries),
        "padding": rounded(M.values.size / entries),
        "kept_bytes": M.kept_nbytes,
    }


def same(expected: Any, got: Any, s: Semiring) -> bool:
    """True if two products, both dense or both sparse, are equal: to the last bit, but for sums of floats."""
    zero = s.zero(expected.dtype)
    a, b = (y.to_dense(zero) if isinstance(y, SparseVector) else y for y in (expected, got))
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if s.add.idempotent or a.dtype.kind != "f":
        return all_of(equals(a, b))
    error = RELATIVE_ERROR[a.dtype.name] * float(abs(a).max()) if a.size else 0.0
    return bool(namespace(a).allclose(a, b, rtol=0, atol=error))


def product_named(verb: str | Verb[..., Any]) -> Verb[..., Any]:
    name = getattr(verb, "name", verb)
    if name not in PRODUCTS:
        raise ValueError(f"verb must be one of {', '.join(PRODUCTS)}, got {name!r}")
    return PRODUCTS[name]


def operand_for(
    A: Matrix, product: Verb[..., Any], s: Semiring, x: Any, frontier: float | None, device: Device
) -> Array | SparseVector:
    """The user's operand on the device; or integers of A's dtype, of which a share is present."""
    if x is not None:
        if frontier is not None:
            raise ValueError("give x or frontier, not both: a frontier is made of generated elements")
        return x.to(device=device) if isinstance(x, SparseVector) else move((x,), device, "x")[0]
    size = A.ncols if product is mxv else A.nrows
    dtype = BOOL if s.dtypes == (BOOL,) else A.dtype
    scrambled = np.arange(size, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(40)
    values = (scrambled % np.uint64(MAX_OPERAND) + np.uint64(1)).astype(dtype)
    if frontier is None:
        return move((values,), device, "x")[0]
    if not 0 < frontier <= 1:
        raise ValueError(f"frontier must be a share in (0, 1], got {frontier}")
    present = np.unique((np.arange(max(1, int(size * frontier))) / frontier).astype(np.int32)[:size])
    return SparseVector(present[present < size], values[present[present < size]], size).to(device=device)


def copies_of(A: Matrix, formats: Iterable[type[Matrix]]) -> tuple[dict[type[Matrix], Matrix], dict[type[Matrix], str]]:
    """Returns A in every format that takes it, and the errors of the others."""
    made: dict[type[Matrix], Matrix] = {}
    refused: dict[type[Matrix], str] = {}
    for fmt in formats:
        try:
            made[fmt] = unkept(A) if fmt is type(A) else A.to(fmt)
        except (ValueError, MemoryError) as error:
            refused[fmt] = str(error)
    return made, refused


def _median_ms(run: Callable[[], Any], device: Device) -> float:
    """Median milliseconds of a call that has been made once, so that its kernels are compiled."""
    from statistics import median

    slow = finished_ms(run, device) > 1e3
    return median(finished_ms(run, device) for _ in range(1 if slow else CONVERSIONS))


def _first_ms(M: Matrix, call: Callable[[Matrix], Any], device: Device) -> float:
    """Median milliseconds of a product by a matrix that keeps nothing yet."""
    from statistics import median

    new = [unkept(M) for _ in range(CONVERSIONS)]
    return median(finished_ms(lambda: call(new.pop()), device) for _ in range(CONVERSIONS))


def _cell(key: str, value: Any) -> str:
    if value is None:
        return "–"
    if key in ("nbytes", "kept_bytes"):
        return f"{value / 2**20:,.1f}"
    if key in ("conversion_ms",):
        return f"{value:,.1f}"
    return f"{value:,}" if isinstance(value, int) else f"{value:.3g}" if isinstance(value, float) else str(value)
