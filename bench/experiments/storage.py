"""Every storage format under every product: time, bytes, padding, what a conversion costs and when it has paid.

The verbs' own tables say which formats there are, so a new one appears by itself. A product is mxv or vxm over
min-plus, with a dense operand, or with a sparse one of which one vertex in SPARSE is present. It is verified against a
scatter by the array library's `minimum.at`; weights and operands are integers that float32 holds exactly, so the two
must be equal.

    ms              of one product; on a GPU its share of a batch, since products do not wait for the device, but for
                    a wait of the host where the size of a sparse result must be known
    to_csr          that time over CSR's
    stored_bytes    of the format's arrays, and for an entry bytes_per_entry
    kept_bytes      that products keep with the matrix beside them
    padding         stored places for an entry
    conversion_ms   from CSR, once
    first_ms        of a matrix's first product, kernels compiled, with what it makes and keeps
    break_even      products, the first one included, after which conversion and products together have taken less
                    time than CSR's products; none where CSR's are as fast

Storage formats on GPUs were first compared like this by Bell and Garland [1]; Martín, Torres and Gavilanes compare
lists with matrices [2], Afanasyev and Voevodin an edge list with a reordered one [3].

[1] N. Bell, M. Garland, Implementing sparse matrix-vector multiplication on throughput-oriented processors, SC 2009.
[2] P. Martín, R. Torres, A. Gavilanes, CUDA Solutions for the SSSP Problem, ICCS 2009.
[3] I. Afanasyev, V. Voevodin, The comparison of large-scale graph processing algorithms implementation methods for
    Intel KNL and NVIDIA GPU, Supercomputing, RuSCDays 2017.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.experiment import Experiment, Row, Setting, rows_by_graph
from bench.graphs import ROADS, grid, operand, rmat, roads, uniform
from bench.measure import Contender, contest, rounded
from bench.products import BARE, bare, cusparse, min_plus
from formats import CSR, Matrix, SparseVector
from formats.arrays import Array, Device, namespace
from semiring import MinPlus, Verb, mxv, vxm
from semiring.tuning import comparison
from semiring.tuning.timing import break_even, unkept

from .fused import stopwatch

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAX_OPERAND = 100_000
SPARSE = 64
"""Vertices for each one in a sparse operand, so many that it is not multiplied as a dense one."""
CONVERSIONS = 3
"""Times that a conversion is timed."""


# --- graphs -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Family:
    """Graphs of one kind, made on a device in the sizes of a quick run, a full one on a CPU, and one on a GPU."""

    name: str
    make: Callable[..., CSR]
    quick: tuple[int, ...]
    cpu: tuple[int, ...]
    cuda: tuple[int, ...]

    def size(self, setting: Setting) -> tuple[int, ...]:
        if setting.quick:
            return self.quick
        return self.cuda if setting.device == "cuda" else self.cpu


FAMILIES = (
    Family("grid", grid, (32,), (2048,), (4096,)),
    Family("R-MAT", rmat, (9,), (20,), (22,)),
    Family("random", uniform, (512, 7), (1 << 20, 7), (1 << 23, 7)),
    Family("a fifth full", uniform, (128, 25), (4096, 819), (1 << 14, 3276)),
)
"""But for the roads, which are in a file."""


def graphs(setting: Setting) -> Iterator[tuple[str, Callable[[], CSR | Row]]]:
    """Yields the name of each family, and the function that makes its graph, or says why it is missing."""
    yield "roads", partial(road_graph, setting)
    for family in FAMILIES:
        yield family.name, partial(family.make, *family.size(setting), device=setting.device)


def road_graph(setting: Setting) -> CSR | Row:
    """The roads on the device, or a row that says why they are missing."""
    if setting.data is None or not (setting.data / ROADS).exists():
        return {"contender": "everything", "missing": f"left out: needs --data with {ROADS}"}
    return roads(setting.data / ROADS, device=setting.device)


# --- products ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Product:
    """A verb with an operand, in one dtype."""

    verb: Verb[..., Any]
    sparse: bool
    dtype: str

    @property
    def name(self) -> str:
        return f"{self.verb.name}, {'sparse' if self.sparse else 'dense'}"

    def of(self, M: Matrix, x: Any) -> Any:
        """y = M ⊗ x, or x ⊗ M."""
        return self.verb(M, x, MinPlus) if self.verb is mxv else self.verb(x, M, MinPlus)

    def operand(self, A: CSR) -> Any:
        """Returns a vector of integers below MAX_OPERAND, dense or sparse."""
        x = operand(A.nrows, MAX_OPERAND, device=A.device, dtype=self.dtype)
        if not self.sparse:
            return x
        present = namespace(x).arange(0, A.nrows, SPARSE, dtype=np.int32)
        return SparseVector(present, x[present], A.nrows)

    def expected(self, A: CSR, x: Any) -> Array:
        """Returns the product by the array library alone; no length in it leaves the range of integers."""
        if not self.sparse:
            return min_plus(A, x, transposed=self.verb is vxm)
        zero = MinPlus.zero(A.dtype)
        wide = x.to_dense(zero).astype(np.float64)
        wide[wide == float(zero)] = np.inf
        y = min_plus(A.astype(np.float64), wide, transposed=self.verb is vxm)
        return namespace(y).minimum(y, float(zero)).astype(A.dtype)


def products(setting: Setting) -> list[Product]:
    """All of them; on a quick run in one dtype, for each compiles its kernels."""
    dtypes = ("float32",) if setting.quick else ("float32", "int32")
    return [Product(verb, sparse, dtype) for dtype in dtypes for sparse in (False, True) for verb in (mxv, vxm)]


def same(expected: Array, got: Any) -> bool:
    """True if a product, dense or sparse, is the expected one."""
    if isinstance(got, SparseVector):
        got = got.to_dense(MinPlus.zero(got.dtype))
    return got.dtype == expected.dtype and got.shape == expected.shape and bool((got == expected).all())


def formats_of(verb: Verb[..., Any], device: Device) -> list[type[Matrix]]:
    """The formats that the verb has on the device, CSR first."""
    found = [fmt for fmt, backend in verb.table if backend == device]
    return sorted(found, key=lambda fmt: fmt is not CSR)


def copies_of(A: CSR, device: Device) -> tuple[dict[type[Matrix], Matrix], dict[str, str]]:
    """Returns A in every format that takes it, and why the others do not."""
    formats = dict.fromkeys([*formats_of(mxv, device), *formats_of(vxm, device)])
    made, refused = comparison.copies_of(A, formats)  # without those of too much padding, or no room on the GPU
    return made, {fmt.__name__: why for fmt, why in refused.items()}


# --- rows -------------------------------------------------------------------------------------------------------------


def rows(setting: Setting) -> Iterator[Row]:
    """Every product in every format on every graph; what a graph's formats take to make is measured once."""

    def of_graph(_: str, A: CSR) -> Iterator[Row]:
        made, refused = copies_of(A, setting.device)
        yield from ({"contender": fmt, "missing": why} for fmt, why in refused.items())
        costs = {fmt: conversion_ms(A, fmt) for fmt in made}
        for product in products(setting):
            yield from measured(A, product, made, costs, setting)

    return rows_by_graph(setting, graphs(setting), of_graph)


def measured(
    A: CSR, product: Product, made: dict[type[Matrix], Matrix], costs: dict[type[Matrix], float], setting: Setting
) -> Iterator[Row]:
    """A row for each format, CSR's first, and for others' products where they have this one."""
    matrices = {
        fmt.__name__: unkept(made[fmt].astype(product.dtype))
        for fmt in formats_of(product.verb, setting.device)
        if fmt in made
    }
    csr: Any = matrices[CSR.__name__]
    x = product.operand(csr)
    expected = product.expected(csr, x)
    agrees = partial(same, expected)
    ours = [
        Contender(name, partial(product.of, M, x), agrees=agrees, device=setting.device, batched=True)
        for name, M in matrices.items()
    ]
    figures = contest([*ours, *others(csr, product, x, expected, setting)], setting.repeats)
    first = {name: first_ms(M, product, x) for name, M in matrices.items()}
    csr_ms = figures[CSR.__name__]["ms"]
    for name, found in figures.items():
        row: Row = {"contender": name, "product": product.name, "dtype": product.dtype}
        row |= found | {"to_csr": rounded(found["ms"] / csr_ms)}
        if name in matrices:
            M = matrices[name]
            start = costs[type(M)] + first[name]
            row |= storage(M) | {"conversion_ms": rounded(costs[type(M)]), "first_ms": rounded(first[name])}
            row["break_even"] = break_even(start, found["ms"], first[CSR.__name__], csr_ms)
        yield row
    for M in matrices.values():
        M.forget()


def others(A: CSR, product: Product, x: Any, expected: Array, setting: Setting) -> list[Contender]:
    """cuSPARSE's plus-times on a GPU, python-graphblas as its user writes it on a CPU: mxv of float32, dense."""
    if product.verb is not mxv or product.sparse or product.dtype != "float32":
        return []
    M = unkept(A)
    if setting.device == "cuda":
        return [cusparse(M, x)]
    return [Contender(BARE, lambda: bare(M, x, np.inf), agrees=partial(same, expected))]


def storage(M: Matrix) -> dict[str, Any]:
    """Returns the memory of a matrix and of the facts that it keeps."""
    return {
        "stored_bytes": M.nbytes,
        "bytes_per_entry": rounded(M.nbytes / max(M.nnz, 1)),
        "kept_bytes": M.kept_nbytes,
        "padding": rounded(M.values.size / max(M.nnz, 1)),
    }


def conversion_ms(A: CSR, fmt: type[Matrix]) -> float:
    """From CSR to the format, nothing known of the matrix; 0 where nothing changes."""
    if fmt is CSR:
        return 0.0
    return 1e3 * median(stopwatch(lambda: unkept(A).to(fmt), A.device)[0] for _ in range(CONVERSIONS))


def first_ms(M: Matrix, product: Product, x: Any) -> float:
    """Returns the milliseconds of a product by a matrix that keeps nothing yet."""
    new = [unkept(M) for _ in range(CONVERSIONS)]
    return 1e3 * median(stopwatch(lambda: product.of(new.pop(), x), M.device)[0] for _ in range(CONVERSIONS))


# --- plot -------------------------------------------------------------------------------------------------------------


def plot(rows: list[Row]) -> Figure | None:
    """Time to CSR's for each product in float32, and the bytes of an entry, graph by graph."""
    from bench import plots

    drawn = [row for row in rows if row["dtype"] == "float32"]
    names = list(dict.fromkeys(row["product"] for row in drawn))
    order = list(dict.fromkeys(row["contender"] for row in drawn))
    if not names:
        return None
    made, axes = plots.figure(len(names) + 1)
    for ax, name in zip(axes, names, strict=False):
        ratios = [row for row in drawn if row["product"] == name and row["contender"] != CSR.__name__]
        plots.bars(ax, ratios, "graph", "to_csr", order=order, log_y=True, base=1)
        plots.reference(ax, 1)
        plots.label(ax, f"{name} operand", "", "time, CSR = 1")
    sizes = [row for row in drawn if row["product"] == names[0] and row.get("bytes_per_entry") is not None]
    plots.bars(axes[-1], sizes, "graph", "bytes_per_entry", order=order, log_y=True)
    plots.label(axes[-1], "storage", "", "bytes an entry")
    return made


FORMATS = Experiment(
    name="formats",
    title="Storage formats under every product",
    source="Martín et al. 2009 (lists and matrices), Afanasyev and Voevodin 2017 (edge lists), and our own",
    about=(
        "One product over min-plus in every storage format. The graphs differ in their rows: short and alike in roads "
        "and grids, of all lengths in R-MAT graphs, equal in random ones, and a fifth full. Bars below 1 are formats "
        "that are faster than CSR; break even says after how many products, the first included, conversion and "
        "products together have taken less time than CSR's products. A sparse operand holds one vertex in "
        f"{SPARSE}, as the frontier of a search does. Padding counts the places stored for an entry. Beside ours "
        "stands on a GPU cuSPARSE, which multiplies over plus-times only, and on a CPU what a user of python-graphblas "
        "writes."
    ),
    rows=rows,
    columns=(
        *("graph", "nnz", "product", "dtype", "contender", "ms", "to_csr"),
        *("bytes_per_entry", "padding", "kept_bytes", "conversion_ms", "first_ms", "break_even"),
    ),
    plot=plot,
    roads=True,
)
