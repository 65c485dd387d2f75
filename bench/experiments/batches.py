"""Products of sparse matrices beside python-graphblas's and SciPy's: triangles by a mask, and a whole product.

    to_peer    time over python-graphblas's with as many threads, whose entries are in order, as ours are

Triangles are Σ L ⊗ L over plus-pair where L has an entry, L being a symmetric graph's lower triangle [1]. SciPy has no
mask: it makes the whole product, on one thread.

[1] A. Azad, A. Buluç, J. Gilbert, Parallel triangle counting and enumeration using matrix algebra, IPDPS Workshops,
    2015.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.experiment import Experiment, Row, Setting
from bench.graphs import grid, rmat_both_ways
from bench.measure import Contender, contest, rounded
from bench.products import BARE
from formats import CSR
from semiring import mxm, reduce, select
from semiring.cpu.threads import threads

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OURS, PEER, SCIPY = "semiring", "python-graphblas", "SciPy"
TRIANGLES, PRODUCT = "triangles", "L ⊗ L, plus-times"
TOLERANCE = 1e-4
"""Of sums of float32, which SciPy may add in another order."""


def graphs(setting: Setting) -> Iterator[tuple[str, Callable[[], CSR]]]:
    """(name, what makes the symmetric graph)."""
    if setting.quick:
        yield "rmat7", partial(rmat_both_ways, 7)
        return
    yield "rmat16", partial(rmat_both_ways, 16)
    yield "grid1000", partial(grid, 1000)


def rows(setting: Setting) -> Iterator[Row]:
    """Each graph with one thread and with two."""
    for name, make in graphs(setting):
        if kept := setting.kept_rows(name):
            yield from kept
            continue
        L = select(make(), "tril", -1)
        known = {"graph": name, "n": L.nrows, "nnz": L.nnz}
        for task, contenders in ((TRIANGLES, triangles(L)), (PRODUCT, products(L))):
            for count in (1, 2):
                with threads(count):
                    figures = contest(contenders if count == 1 else contenders[:2], setting.repeats)
                for contender, found in figures.items():
                    to_peer = rounded(found["ms"] / figures[PEER]["ms"])
                    label = f"{contender}, {task}, {count} thread{'s'[: count - 1]}"
                    row = {"task": task, "threads": count, "library": contender, "contender": label}
                    yield known | row | found | {"to_peer": to_peer}


def triangles(L: CSR) -> list[Contender]:
    """What counts triangles; first ours and the peer, then who has one thread alone."""
    import graphblas as gb

    G, S = L.keep(BARE, L.to_graphblas), L.pattern().to_scipy().astype(np.int64)
    expected = int((S @ S).multiply(S).sum())
    right = lambda got: int(got or 0) == expected  # noqa: E731

    def by_peer() -> Any:
        return G.mxm(G, gb.semiring.plus_pair).new(mask=G.S).reduce_scalar(gb.monoid.plus).new().value

    return [
        Contender(OURS, lambda: reduce(mxm(L, L, "plus_pair", mask=L), "plus"), agrees=right),
        Contender(PEER, by_peer, agrees=right, watched=False),
        Contender(SCIPY, lambda: (S @ S).multiply(S).sum(), agrees=right, watched=False),
    ]


def products(L: CSR) -> list[Contender]:
    """What multiplies the matrix with itself."""
    import graphblas as gb

    G, S = L.keep(BARE, L.to_graphblas), L.to_scipy()
    expected = S @ S
    expected.sort_indices()

    def right(indptr: Any, indices: Any, values: Any) -> bool:
        same = np.array_equal(indptr, expected.indptr) and np.array_equal(indices, expected.indices)
        return same and np.allclose(values, expected.data, rtol=TOLERANCE)

    def of_peer(C: Any) -> bool:
        return right(*(C.ss.export("csr", sort=True)[part] for part in ("indptr", "col_indices", "values")))

    def by_peer() -> Any:
        C = G.mxm(G, gb.semiring.plus_times).new()
        C.ss.sort()
        return C

    def by_scipy() -> Any:
        C = S @ S
        C.sort_indices()
        return C

    return [
        Contender(OURS, lambda: mxm(L, L, "plus_times"), agrees=lambda C: right(*C.components[:3])),
        Contender(PEER, by_peer, agrees=of_peer, watched=False),
        Contender(SCIPY, by_scipy, agrees=lambda C: right(C.indptr, C.indices, C.data), watched=False),
    ]


def plot(rows: list[Row]) -> Figure | None:
    """Times over the peer's, by graph."""
    from bench import plots

    if not rows:
        return None
    made, axes = plots.figure(2, width=4.2, columns=2)
    for ax, task in zip(axes, (TRIANGLES, PRODUCT), strict=True):
        own = [row for row in rows if row["task"] == task and row["threads"] == 1]
        plots.bars(ax, own, "graph", "to_peer", by="library", order=[OURS, PEER, SCIPY], base=1)
        plots.reference(ax, 1)
        plots.label(ax, f"{task}: time, python-graphblas = 1", "", "")
    return made


BATCHES = Experiment(
    name="batches",
    title="Products of sparse matrices",
    source="Azad, Buluç and Gilbert 2015, triangles by a masked product",
    about=(
        "Triangles by a product of which only the mask's entries are computed, and a whole product, beside "
        "python-graphblas with as many threads, and SciPy, which has one thread and no mask."
    ),
    rows=rows,
    columns=("graph", "nnz", "contender", "ms", "to_peer", "peak_bytes"),
    plot=plot,
    devices=("cpu",),
)
