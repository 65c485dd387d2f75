"""mxv over min-plus in every storage format, beside what else multiplies there, as a share of a copy's bandwidth.

Beside ours stands on a GPU cuSPARSE, whose product is plus-times, and on a CPU what a user of python-graphblas writes.
Both get a dense operand; of int32, ours has absent entries in it, which python-graphblas does not know.

    to_peer         time over the other's, on the same matrix and dtype
    bytes_moved     of the format's arrays, x and y, each once: what must be moved at least (roofline [1])
    share_of_copy   bytes_moved over the time, as a share of what a copy achieves in the same run

[1] S. Williams, A. Waterman, D. Patterson, Roofline: An Insightful Visual Performance Model for Multicore
    Architectures, Communications of the ACM 52 (4), 2009.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.experiment import Experiment, Row, Setting, rows_by_graph
from bench.graphs import operand, rmat, spmv_graph, spmv_names, uniform
from bench.measure import Contender, contest, on_the_host, rounded
from bench.products import BARE, CUSPARSE, bare, cusparse, min_plus
from formats import CSR, from_edges
from formats.arrays import Array, cupy, namespace
from semiring import MinPlus, mxv
from semiring.tuning.timing import unkept

from .roofline import NO_GRAPH, copied
from .storage import copies_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAX_OPERAND = 100_000
ABSENT_EVERY = 10
"""On the CPU, of int32 operands so manieth elements are absent."""
TINY = "16 rows"
TINY_ROWS, TINY_ENTRIES = 16, 64
NOTHING = """
extern "C" __global__ void nothing(
    const int* indptr, const int* indices, const float* values, const float* x, float* y, int nrows, int ncols, int nnz
) {}
"""


def graphs(setting: Setting) -> Iterator[tuple[str, Callable[[], CSR]]]:
    """Yields names of graphs and functions that make them: on a GPU those of `spmv_names`, on a CPU two random ones."""
    if setting.quick:
        yield "rmat9", partial(rmat, 9, device=setting.device)
        yield "unif512", partial(uniform, 512, 7, device=setting.device)
    elif setting.device == "cuda":
        for name in spmv_names(setting.data):
            yield name, partial(spmv_graph, name, setting.device, setting.data)
    else:
        yield "unif1M d8", partial(uniform, 1 << 20, 8)
        yield "unif1M d16", partial(uniform, 1 << 20, 16)
        yield "rmat20", partial(rmat, 20)


def rows(setting: Setting) -> Iterator[Row]:
    """The copy, every graph, and on a GPU what a call costs the host."""
    kept = setting.kept_rows(NO_GRAPH)
    copy = kept[0] if kept else copied(setting)
    yield copy

    def of_graph(_: str, A: CSR) -> Iterator[Row]:
        for dtype in ("float32",) if setting.quick else ("float32", "int32"):
            yield from ({"dtype": dtype} | row for row in measured(A.astype(dtype), setting, copy["gb_per_second"]))

    yield from rows_by_graph(setting, graphs(setting), of_graph)
    if setting.device == "cuda":
        yield from setting.kept_rows(TINY) or host_time()


def measured(A: CSR, setting: Setting, peak: float) -> Iterator[Row]:
    """A row for each format and for the other's product, on one matrix of one dtype."""
    x = operand(A.ncols, MAX_OPERAND, device=A.device, dtype=A.dtype)
    holed, expected = x, min_plus(A, x)
    if A.device == "cpu" and A.dtype.kind == "i":
        holed, expected = with_absent(A, x)
    made, refused = copies_of(A, setting.device)
    for fmt, why in refused.items():
        yield {"contender": fmt, "missing": why}
    matrices = {fmt.__name__: unkept(M) for fmt, M in made.items()}
    ours = [
        Contender(name, partial(mxv, M, holed, MinPlus), expected, device=setting.device, batched=True)
        for name, M in matrices.items()
    ]
    rivals, missing = others(A, x)
    yield from missing
    figures = contest([*rivals, *ours], setting.repeats)
    peer = next((figures[rival.name]["ms"] for rival in rivals), None)
    for name, found in figures.items():
        size = (matrices[name] if name in matrices else A).nbytes
        moved = size + x.nbytes + expected.nbytes
        rate = moved / found["ms"] / 1e6
        yield {
            "contender": name,
            **found,
            "to_peer": None if peer is None else rounded(found["ms"] / peer),
            "bytes_per_entry": rounded(size / max(A.nnz, 1)),
            "bytes_moved": moved,
            "gb_per_second": rounded(rate),
            "share_of_copy": rounded(rate / peak),
        }
    for M in matrices.values():
        M.forget()


def with_absent(A: CSR, x: Array) -> tuple[Array, Array]:
    """Returns x without some elements, and the product: in float64, where no sum of integers leaves the range."""
    zero = MinPlus.zero(A.dtype)
    holed = namespace(x).where(namespace(x).arange(x.size) % ABSENT_EVERY == 0, zero, x)
    wide = np.where(holed == zero, np.inf, holed)
    y = min_plus(A.astype(np.float64), wide)
    return holed, namespace(y).minimum(y, float(zero)).astype(A.dtype)


def others(A: CSR, x: Array) -> tuple[list[Contender], list[Row]]:
    """Returns the other library's product, and a row if it has none for this dtype."""
    M = unkept(A)
    if A.device == "cpu":
        return [Contender(BARE, lambda: bare(M, x, MinPlus.zero(A.dtype)), min_plus(A, x))], []
    if A.dtype.kind == "i":
        return [], [{"contender": CUSPARSE, "missing": f"left out: CuPy's sparse matrices hold no {A.dtype}"}]
    return [cusparse(M, x)], []


def host_time() -> Iterator[Row]:
    """Milliseconds that a call of mxv takes the host on a tiny matrix, beside a bare launch's."""
    cp = cupy()
    entry = cp.arange(TINY_ENTRIES, dtype=np.int32)
    A = from_edges(entry % TINY_ROWS, entry // (TINY_ENTRIES // TINY_ROWS), entry.astype(np.float32), shape=TINY_ROWS)
    x, y = operand(TINY_ROWS, MAX_OPERAND, device="cuda"), cp.empty(TINY_ROWS, np.float32)
    kernel = cp.RawKernel(NOTHING, "nothing")
    sizes = (np.int32(A.nrows), np.int32(A.ncols), np.int32(A.nnz))
    right = bool((mxv(A, x, MinPlus) == min_plus(A, x)).all())
    calls: dict[str, Callable[[], Any]] = {
        "mxv, host's time": lambda: mxv(A, x, MinPlus),
        "a launch with 8 arguments": lambda: kernel((1,), (32,), (A.indptr, A.indices, A.values, x, y, *sizes)),
    }
    for name, call in calls.items():
        known = {"graph": TINY, "n": A.nrows, "nnz": A.nnz, "dtype": "float32", "contender": name}
        yield known | {"verified": right} | on_the_host(call)


def plot(rows: list[Row]) -> Figure | None:
    """Time to the other's, and the share of the copy's bandwidth, float32, graph by graph."""
    from bench import plots

    drawn = [row for row in rows if row.get("dtype") == "float32" and row["graph"] != TINY]
    if not drawn:
        return None
    made, (left, right) = plots.figure(2)
    ratios = [row for row in drawn if row["contender"] not in (BARE, CUSPARSE) and row.get("to_peer")]
    peer = BARE if rows[0].get("threads") else CUSPARSE
    order = [*dict.fromkeys(row["contender"] for row in ratios), peer]
    plots.bars(left, ratios, "graph", "to_peer", order=order, log_y=True, base=1)
    plots.reference(left, 1)
    plots.label(left, "mxv, dense operand", "", f"time, {peer} = 1")
    shares = [row | {"percent": 100 * row["share_of_copy"]} for row in drawn]
    plots.bars(right, shares, "graph", "percent", order=order)
    plots.reference(right, 100)
    plots.label(right, "Bandwidth", "", "% of a copy's")
    return made


SPMV = Experiment(
    name="spmv",
    title="mxv in every storage format, beside others' products",
    source="Williams et al. 2009 (roofline), and our own",
    about=(
        "One product over min-plus with a dense operand. On a GPU beside cuSPARSE, which multiplies over plus-times "
        "only; on a CPU beside what a user of python-graphblas writes. Bytes that must be moved at least, each once, "
        "are the format's own arrays and both vectors; where a share of the copy's bandwidth is low, gathers of the "
        "operand are what takes the time. What a call costs the host is told of a matrix of 16 rows."
    ),
    rows=rows,
    columns=(
        *("graph", "nnz", "dtype", "contender", "ms"),
        *("to_peer", "bytes_per_entry", "gb_per_second", "share_of_copy"),
    ),
    plot=plot,
    roads=True,
)
