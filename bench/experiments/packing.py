"""Columns in less memory: what CompressedCSR saves on undirected graphs, and what its products and forests cost.

    columns_bytes   of the packed columns an entry, in CSR 4
    smaller         how many times as small as CSR's columns they are
    matrix_bytes    an entry of the whole matrix, its float32 values and the starts of its rows, too

Kolganov [1] packs neighbours into a base, a multiple of 256 of two bits and a byte, about 2.9 times smaller on SSCA-2
graphs. CompressedCSR packs any graph: groups of 32 columns, of each a base and offsets as wide as its largest needs.

[1] A. S. Kolganov, Parallel implementation of the minimum spanning tree algorithm on graphics processors, 2016.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from algorithms import boruvka
from bench.experiment import Experiment, Row, Setting, released
from bench.graphs import operand, ssca2
from bench.measure import Contender, contest, rounded
from bench.products import min_plus
from formats import CSR, CompressedCSR, Matrix, renumber
from semiring import MinPlus, mxv
from semiring.verbs.explanation import explain

from .fused_tasks import GRAPHS
from .spmv import MAX_OPERAND
from .teps import FOREST, on_host, reference, same

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MADE = "as made"
MXV, FORESTS = "mxv", "boruvka"
"""The timed calls: a product with a dense vector, and the fused call of a spanning forest, or its definition."""
NE, RMAT = "NE", "rmat22s"


def graphs(setting: Setting) -> Iterator[tuple[str, Callable[[], CSR] | None, tuple[str, ...]]]:
    """Yields names, functions that make graphs on the device, None without a file, and the orders of vertices.

    Reverse Cuthill-McKee takes the square of the degrees, so not of R-MAT.
    """
    device = setting.device
    if setting.quick:
        yield "ssca2 8", partial(ssca2, 8, device=device), (MADE, "rcm")
        yield "grid32", partial(GRAPHS["grid32"].make, device, Path()), (MADE, "degree", "bfs")
        return
    for name, orders in ((NE, (MADE, "bfs", "rcm")), (RMAT, (MADE, "degree", "bfs"))):
        source = GRAPHS[name]
        there = not source.file or (setting.data is not None and (setting.data / source.file).exists())
        yield name, partial(source.make, device, setting.data or Path()) if there else None, orders
    yield "ssca2 20", partial(ssca2, 20, device=device), (MADE, "bfs", "rcm")
    yield "ssca2 20, cliques together", partial(ssca2, 20, device=device, permute=False), (MADE,)


def rows(setting: Setting) -> Iterator[Row]:
    """A graph in its own order and in others, each in CSR and packed."""
    for name, make, orders in graphs(setting):
        labels = {f"{name}, {order}": order for order in orders}
        if make is None:
            missing = f"{GRAPHS[name].file} is not there: say --data FOLDER"
            yield from ({"graph": label, "contender": "CSR", "missing": missing} for label in labels)
            continue
        A = None
        for label, order in labels.items():
            if kept := setting.kept_rows(label):
                yield from kept
                continue
            A = make() if A is None else A
            B: Any = A if order == MADE else renumber(A, by=order)[0]
            yield from ordered(label, B, setting)
        A = B = None
        released(setting.device)


def ordered(graph: str, A: CSR, setting: Setting) -> list[Row]:
    """The rows of a graph in one order."""
    known = {"graph": graph, "n": A.nrows, "nnz": A.nnz}
    forms: dict[str, Matrix] = {"CSR": A, "CompressedCSR": A.to(CompressedCSR, force=True)}
    found = []
    for task, figures in ((MXV, products(A, forms, setting)), (FORESTS, forests(A, forms, setting))):
        for name, M in forms.items():
            columns = M.columns_nbytes if isinstance(M, CompressedCSR) else A.indices.nbytes
            size = {
                "columns_bytes": rounded(columns / A.nnz),
                "smaller": rounded(A.indices.nbytes / columns),
                "matrix_bytes": rounded(M.nbytes / A.nnz),
                "to_csr": rounded(figures[name]["ms"] / figures["CSR"]["ms"]),
            }
            found.append(known | {"task": task, "contender": f"{name}, {task}", "format": name} | figures[name] | size)
    for M in forms.values():
        M.forget()
    return found


def products(A: CSR, forms: dict[str, Matrix], setting: Setting) -> dict[str, Row]:
    """The figures of y = A ⊗ x over min-plus."""
    x = operand(A.ncols, MAX_OPERAND, device=A.device, dtype=A.dtype)
    expected = min_plus(A, x)
    how: dict[str, Any] = {"device": A.device, "batched": True}
    contenders = [Contender(label, partial(mxv, M, x, MinPlus), expected, **how) for label, M in forms.items()]
    return contest(contenders, setting.repeats)


def forests(A: CSR, forms: dict[str, Matrix], setting: Setting) -> dict[str, Row]:
    """The figures of a minimum spanning forest, and whether it was fused, or by the definition."""
    expected, checked = reference(FOREST, A, 0)
    right = lambda got: same(on_host(got), expected)  # noqa: E731
    contenders = [Contender(label, partial(boruvka, M), agrees=right, device=A.device) for label, M in forms.items()]
    figures = contest(contenders, setting.repeats)
    for label, M in forms.items():
        figures[label] |= {"checked": checked, "how": explain(boruvka, M).runs[0].implementation}
    return figures


def plot(rows: list[Row]) -> Figure | None:
    """Bytes of a column, and times over CSR's, by graph and order."""
    from bench import plots

    drawn = []
    for row in rows:
        name, *order = row["graph"].split(", ")
        if row["format"] == "CompressedCSR":
            drawn.append(row | {"case": name, "order": order[0]})
    if not drawn:
        return None
    made, (left, *times) = plots.figure(3, width=4.2, columns=3)
    orders = list(dict.fromkeys(row["order"] for row in drawn))
    plots.bars(left, [row for row in drawn if row["task"] == MXV], "case", "columns_bytes", by="order", order=orders)
    plots.label(left, "packed columns, in CSR 4", "", "bytes an entry")
    for ax, task in zip(times, (MXV, FORESTS), strict=True):
        plots.bars(
            ax, [row for row in drawn if row["task"] == task], "case", "to_csr", by="order", order=orders, base=1
        )
        plots.reference(ax, 1)
        plots.label(ax, f"{task}: time, CSR = 1", "", "")
    return made


PACKING = Experiment(
    name="packing",
    title="Columns in less memory",
    source="Kolganov 2016, the compression of vertices",
    about=(
        "What CompressedCSR makes of the columns of undirected graphs, numbered as they come, by degree, by a search, "
        "and by reverse Cuthill-McKee, where the paper has columns 2.9 times as small on SSCA-2 graphs. Beside it the "
        "time of a product and of a spanning forest, over CSR's on the same graph."
    ),
    rows=rows,
    columns=("graph", "nnz", "contender", "columns_bytes", "smaller", "matrix_bytes", "ms", "to_csr", "how"),
    plot=plot,
    roads=True,
)
