"""SpMV over min-plus on a GPU, beside cuSPARSE's plus-times on the same matrix: float32 values, int32 indices.

cuSPARSE is called as a user of CuPy calls it, `csr_matrix @ x`. Its output is checked against sums in float64, ours
against a scatter by CuPy's `minimum.at`; weights and operands are integers that float32 holds exactly, so ours must be
equal. A product on CSR moves 8 bytes an entry, 4 a row for indptr, and x and y once: 8·nnz + 4·(n+1) + 8·n, if every
gather of x after the first hits a cache.
"""

from __future__ import annotations

from pathlib import Path
from statistics import geometric_mean
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from formats import COO, CSC, CSR, ELL, SegmentedCOO, from_edges
from formats.arrays import Array, cupy, namespace
from semiring import MinPlus, mxv, vxm

from .graphs import operand, spmv_graph, spmv_names
from .measure import Contender, call_us, interleaved_on_gpu, json_line, machine

CUSPARSE = "cuSPARSE plus-times"
OURS = "CSR"
MAX_OPERAND = 100_000
SUM_TOLERANCE = 1e-4
TINY_ROWS, TINY_ENTRIES = 16, 64
NOTHING = """
extern "C" __global__ void nothing(
    const int* indptr, const int* indices, const float* values, const float* x, float* y, int nrows, int ncols, int nnz
) {}
"""


def run(names: list[str] | None = None, data: Path | None = None, repeats: int = 15) -> list[dict[str, Any]]:
    """Time every contender on the named graphs, print tables and JSON lines, and return the records.

    names: by default all of the benchmark's.  data: the folder of NE's file.
    """
    records = []
    for name in spmv_names(data, names):
        A = spmv_graph(name, "cuda", data)
        records.append(compare(name, A, contenders(A), repeats))
        del A
        cupy().get_default_memory_pool().free_all_blocks()
    show(records, "device_ms", "GPU time of a call in a batch")
    show(records, "wall_ms", "wall time of one call and its synchronisation")
    records.append(overhead())
    for record in records:
        print(json_line(record))
    return records


def compare(name: str, A: CSR, contenders: list[Contender], repeats: int = 15) -> dict[str, Any]:
    """One matrix: every contender verified, then timed in turns."""
    figures = interleaved_on_gpu(contenders, repeats)
    record = machine("cuda") | {"matrix": name, "n": A.nrows, "nnz": A.nnz, "milliseconds": figures}
    if OURS in figures:
        record["csr_gb_per_second"] = round(bytes_moved(A) / figures[OURS]["device_ms"] / 1e6, 1)
    return record


def bytes_moved(A: CSR) -> int:
    """Bytes that a product of 4-byte values and indices must move."""
    return 8 * A.nnz + 4 * (A.nrows + 1) + 8 * A.nrows


# --- contenders ---------------------------------------------------------------------------------------------------


def contenders(A: CSR) -> list[Contender]:
    """cuSPARSE, then mxv on every format that A fits in, vxm, and int32."""
    x = operand(A.ncols, MAX_OPERAND, device=A.device)
    integers, integer_x = A.astype(np.int32), x.astype(np.int32)
    expected = min_plus(A, x)
    return [
        cusparse(A, x),
        *(
            Contender(fmt.__name__, lambda M=M: mxv(M, x, MinPlus), expected)
            for fmt in (CSR, COO, CSC, ELL, SegmentedCOO)
            if (M := stored(A, fmt)) is not None
        ),
        Contender("vxm CSR", lambda: vxm(x, A, MinPlus), min_plus(A, x, transposed=True)),
        Contender("CSR int32", lambda: mxv(integers, integer_x, MinPlus), min_plus(integers, integer_x)),
    ]


def stored(A: CSR, fmt: type) -> Any:
    """A in the format, or None if it is ELL and refuses so much padding."""
    try:
        return A.to(fmt)
    except ValueError:
        if fmt is not ELL:
            raise
        return None


def cusparse(A: CSR, x: Array) -> Contender:
    """The yardstick; it shares A's arrays."""
    from cupyx.scipy.sparse import csr_matrix

    M = csr_matrix((A.values, A.indices, A.indptr), shape=A.shape)
    return Contender(CUSPARSE, lambda: M @ x, plus_times(A, x), SUM_TOLERANCE)


def min_plus(A: CSR, x: Array, transposed: bool = False) -> Array:
    """y_i = min_k (a_ik + x_k), or y_k = min_i (x_i + a_ik), by the array library alone."""
    xp = namespace(x)
    sources, targets = (rows_of(A), A.indices) if transposed else (A.indices, rows_of(A))
    absent = np.inf if A.dtype.kind == "f" else np.iinfo(A.dtype).max
    y = xp.full(A.shape[1 if transposed else 0], absent, A.dtype)
    xp.minimum.at(y, targets, A.values + x[sources])
    return y


def plus_times(A: CSR, x: Array) -> Array:
    """y_i = Σ_k a_ik x_k, summed in float64, as A's dtype."""
    xp = namespace(x)
    products = A.values.astype(np.float64) * x[A.indices]
    return xp.bincount(rows_of(A), weights=products, minlength=A.nrows).astype(A.dtype)


def rows_of(A: CSR) -> Array:
    """The row of every entry: the last one that starts at it or before."""
    xp = namespace(A.indptr)
    return xp.searchsorted(A.indptr, xp.arange(A.nnz, dtype=A.indptr.dtype), side="right") - 1


# --- what a call costs the host -----------------------------------------------------------------------------------


def overhead() -> dict[str, Any]:
    """Microseconds that a call of mxv takes the host on a tiny matrix, beside a bare launch's and an allocation's."""
    cp = cupy()
    entry = cp.arange(TINY_ENTRIES, dtype=np.int32)
    A = from_edges(entry % TINY_ROWS, entry // (TINY_ENTRIES // TINY_ROWS), entry.astype(np.float32), shape=TINY_ROWS)
    x, y = operand(TINY_ROWS, MAX_OPERAND, device="cuda"), cp.empty(TINY_ROWS, np.float32)
    kernel = cp.RawKernel(NOTHING, "nothing")
    sizes = (np.int32(A.nrows), np.int32(A.ncols), np.int32(A.nnz))
    calls = {
        f"mxv on {TINY_ROWS} rows": lambda: mxv(A, x, MinPlus),
        "launch of a RawKernel with 8 arguments": lambda: kernel(
            (1,), (32,), (A.indptr, A.indices, A.values, x, y, *sizes)
        ),
        "cupy.empty": lambda: cp.empty(TINY_ROWS, np.float32),
    }
    microseconds = {name: call_us(call) for name, call in calls.items()}
    for name, taken in microseconds.items():
        print(f"{taken:8.2f} µs of the host's time: {name}")
    return machine("cuda") | {"matrix": "tiny", "n": A.nrows, "nnz": A.nnz, "host_microseconds": microseconds}


# --- tables -------------------------------------------------------------------------------------------------------


def show(records: list[dict[str, Any]], figure: str, title: str) -> None:
    """A table of one figure: milliseconds and, in brackets, the ratio to cuSPARSE; at the end its geometric means."""
    first = records[0]
    names = list(dict.fromkeys(name for record in records for name in record["milliseconds"]))
    table = Table(
        title=f"mxv(A, x, MinPlus), {title}, median milliseconds (to cuSPARSE), {first['gpu']}, {first['date']}"
    )
    table.add_column("")
    table.add_column("entries", justify="right")
    for name in (*names, "CSR GB/s") if figure == "device_ms" else names:
        table.add_column(name, justify="right")
    for record in records:
        cells = [cell(record["milliseconds"], name, figure) for name in names]
        rate = [f"{record.get('csr_gb_per_second', 0):,.0f}"] if figure == "device_ms" else []
        table.add_row(record["matrix"], f"{record['nnz']:,}", *cells, *rate)
    table.add_section()
    table.add_row("geometric mean", "", *(mean_ratio(records, name, figure) for name in names))
    console = Console()
    console.width = max(console.width, 180)
    console.print(table)


def cell(times: dict[str, dict[str, float]], name: str, figure: str) -> str:
    """Milliseconds and the ratio to cuSPARSE, "–" where the contender did not run."""
    if name not in times:
        return "–"
    milliseconds = times[name][figure]
    return (
        f"{milliseconds:.3f} ({milliseconds / times[CUSPARSE][figure]:.2f})"
        if CUSPARSE in times
        else (f"{milliseconds:.3f}")
    )


def mean_ratio(records: list[dict[str, Any]], name: str, figure: str) -> str:
    """The geometric mean of a contender's ratios to cuSPARSE, over the matrices that both ran on."""
    both = [times for record in records if {name, CUSPARSE} <= (times := record["milliseconds"]).keys()]
    ratios = [times[name][figure] / times[CUSPARSE][figure] for times in both]
    return f"({geometric_mean(ratios):.3f})" if ratios else "–"
