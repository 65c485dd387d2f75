"""Achieved bandwidth of every product and of the main algorithms, against a copy's in the same run (roofline).

What is compared is bytes that must be moved at least, once each, over the time, so it is below what the memory really
delivers, unless something stays in a cache or need not be looked at:

    product               the format's own arrays, x, and y:           stored_bytes + bytes of x and of y
    SSSP                  indptr, indices, values, and distances:      8·nnz + 4·(n + 1) + 4·n
    BFS                   indptr, indices, and levels:                 4·nnz + 4·(n + 1) + 4·n
    SCC                   rows and columns, no values, and labels:     2·(4·nnz + 4·(n + 1)) + 4·n
    MST                   indptr, indices, values, and 12 bytes for each edge of the forest

with the actual sizes of indices and values for 4. A BFS that pulls leaves a row at its first hit, and strong components
of a symmetric graph need no columns, so both may be above what a copy gives. The copy reads and writes: two bytes for
each that it copies; on a GPU within the device, on a CPU by NumPy, a slice for each thread that products use.

Products are verified against a scatter by the array library; distances and levels by the equation that they alone
solve, labels and forests by the definition on the same device.

[1] S. Williams, A. Waterman, D. Patterson, Roofline: An Insightful Visual Performance Model for Multicore
    Architectures, Communications of the ACM 52 (4), 2009.
[2] I. Afanasyev, V. Voevodin, The comparison of large-scale graph processing algorithms implementation methods for
    Intel KNL and NVIDIA GPU, Supercomputing, RuSCDays 2017.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.experiment import Experiment, Row, Setting, rows_by_graph
from bench.graphs import library
from bench.measure import Contender, contest, rounded
from bench.products import cusparse
from formats import CSR
from formats.arrays import Array
from formats.storage.orientation import is_symmetric
from semiring import explain, get_threads, mxv
from semiring.tuning.timing import unkept
from semiring.vectors import degrees

from .fused import parts, plain
from .fused import same as equal
from .fused_tasks import Problem, Task, tasks
from .storage import Product, copies_of, formats_of, graphs, products, same

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COPY, NO_GRAPH = "copy", "none"
COPIED = {"quick": 1 << 22, "cpu": 1 << 28, "cuda": 1 << 30}
"""Bytes that are copied: on a full run more than any cache holds."""
FOREST_EDGE = 12
"""Bytes: two ends and a weight."""


def rows(setting: Setting) -> Iterator[Row]:
    """The copy, then every product and every algorithm on every graph."""
    kept = setting.kept_rows(NO_GRAPH)
    row = kept[0] if kept else copied(setting)
    peak = row["gb_per_second"]
    yield row

    def of_graph(name: str, A: CSR) -> Iterator[Row]:
        for found in (*product_rows(A, setting), *algorithm_rows(name, A, setting)):
            if "ms" in found:
                rate = found["bytes_moved"] / found["ms"] / 1e6
                found |= {"gb_per_second": rounded(rate), "share_of_copy": rounded(rate / peak)}
            yield found

    yield from rows_by_graph(setting, graphs(setting), of_graph)


# --- copy -------------------------------------------------------------------------------------------------------------


def copied(setting: Setting) -> Row:
    """Measures a copy within the device's memory, or by all threads within the host's."""
    nbytes = COPIED["quick" if setting.quick else setting.device]
    xp = library(setting.device)
    source = xp.arange(nbytes // 8, dtype=np.int64)
    target = xp.zeros_like(source)
    contender = Contender(
        COPY,
        partial(copy, source, target),
        agrees=lambda got: bool((got == source).all()),
        device=setting.device,
        batched=True,
    )
    figures = contest([contender], setting.repeats)[COPY]
    return {
        "graph": NO_GRAPH,
        "n": None,
        "nnz": None,
        "contender": COPY,
        "kind": COPY,
        "threads": get_threads() if setting.device == "cpu" else None,
        "bytes_moved": 2 * nbytes,
        **figures,
        "gb_per_second": rounded(2 * nbytes / figures["ms"] / 1e6),
        "share_of_copy": 1.0,
    }


def copy(source: Array, target: Array) -> Array:
    """The target, which is then the source; on the host each thread copies a slice."""
    if not isinstance(source, np.ndarray):
        target[...] = source
        return target
    edges = np.linspace(0, source.size, get_threads() + 1).astype(int).tolist()
    with ThreadPoolExecutor(get_threads()) as pool:
        list(pool.map(lambda a, b: np.copyto(target[a:b], source[a:b]), edges[:-1], edges[1:]))
    return target


# --- products ---------------------------------------------------------------------------------------------------------


def product_rows(A: CSR, setting: Setting) -> Iterator[Row]:
    """mxv and vxm of float32 in every format, dense operand."""
    made, refused = copies_of(A, setting.device)
    for fmt, why in refused.items():
        yield {"contender": fmt, "missing": why}
    for product in products(setting):
        if not product.sparse and product.dtype == "float32":
            yield from one_product(A, product, made, setting)


def one_product(A: CSR, product: Product, made: dict[Any, Any], setting: Setting) -> Iterator[Row]:
    """The rows of one verb, and of cuSPARSE on a GPU."""
    x = product.operand(A)
    expected = product.expected(A, x)
    vectors = x.nbytes + expected.nbytes
    matrices = {
        f"{product.verb.name} {fmt.__name__}": unkept(made[fmt])
        for fmt in formats_of(product.verb, setting.device)
        if fmt in made
    }
    contenders = [
        Contender(name, partial(product.of, M, x), agrees=partial(same, expected), device=setting.device, batched=True)
        for name, M in matrices.items()
    ]
    if setting.device == "cuda" and product.verb is mxv:
        contenders.append(cusparse(A, x))
    for name, found in contest(contenders, setting.repeats).items():
        moved = matrices[name].nbytes if name in matrices else A.nbytes
        yield {"contender": name, "kind": product.verb.name, "bytes_moved": moved + vectors, **found}
    for M in matrices.values():
        M.forget()


# --- algorithms -------------------------------------------------------------------------------------------------------


def algorithm_rows(name: str, A: CSR, setting: Setting) -> Iterator[Row]:
    """Shortest paths, search, components and forest, each as a whole, from the vertex of largest degree."""
    problem = Problem(name, A, int(degrees(A).argmax()), is_symmetric(A), brief=True)
    for task in tasks():
        if task.parents or task.dtype != "float32":
            continue
        if task.kind == "MST" and not problem.undirected:
            yield {"contender": task.kind, "missing": "left out: the graph is directed"}
            continue
        M = unkept(A)
        solve = partial(task.solve, M, problem)
        contender = Contender(task.kind, solve, agrees=partial(right, task, problem), device=setting.device)
        found = contest([contender], setting.repeats)[task.kind]
        told = explain(solve)
        yield {
            "contender": task.kind,
            "kind": "algorithm",
            "ran": told.runs[0].implementation if told.runs else "definition",
            "edges_relaxed": plain(told.runs[0].details.get("edges")) if told.runs else None,
            "bytes_moved": least_bytes(task.kind, A, told.result),
            **found,
        }
        M.forget()


def right(task: Task, problem: Problem, answer: Any) -> bool:
    """True if an answer is right: by its equation if that settles it, else by the definition's answer."""
    if task.settled:
        return all(holds for _, holds in task.independent(problem, parts(answer)))
    return equal(parts(answer), parts(task.solve(unkept(problem.A), problem, fused=False)))


def least_bytes(kind: str, A: CSR, answer: Any) -> int:
    """Bytes that an algorithm must move at least; see above."""
    pattern = A.indptr.nbytes + A.indices.nbytes
    if kind == "MST":
        return pattern + A.values.nbytes + FOREST_EDGE * answer.nnz
    arrays = {"SSSP": pattern + A.values.nbytes, "BFS": pattern, "SCC": 2 * pattern}
    return arrays[kind] + answer.nbytes


# --- plot -------------------------------------------------------------------------------------------------------------


def plot(rows: list[Row]) -> Figure | None:
    """The share of the copy's bandwidth, products beside algorithms."""
    from bench import plots

    shares = [row | {"percent": 100 * row["share_of_copy"]} for row in rows if row["kind"] != COPY]
    panels = {"mxv": "mxv, dense operand", "vxm": "vxm, dense operand", "algorithm": "algorithms as a whole"}
    drawn = {kind: [row for row in shares if row["kind"] == kind] for kind in panels}
    drawn = {kind: found for kind, found in drawn.items() if found}
    if not drawn:
        return None
    made, axes = plots.figure(len(drawn))
    for ax, (kind, found) in zip(axes, drawn.items(), strict=True):
        plots.bars(ax, found, "graph", "percent")
        plots.reference(ax, 100)
        plots.label(ax, panels[kind], "", "% of the copy's bandwidth")
    return made


ROOFLINE = Experiment(
    name="roofline",
    title="Achieved bandwidth",
    source="Afanasyev and Voevodin 2017, the profiling of their kernels; Williams et al. 2009",
    about=(
        "Bytes that must be moved at least, each once, over the time they take, as a share of what a plain copy "
        "achieves in the same run. A product that reads its matrix at the memory's speed is at 100 %; what is missing "
        "is the gather of the operand, or the start of short kernels. An algorithm looks at its edges more than once, "
        "or waits for step after step, and is far below. Above 100 % is what stays in a cache, and a search that "
        "leaves a row at its first hit."
    ),
    rows=rows,
    columns=(
        *("graph", "nnz", "contender", "ms", "bytes_moved"),
        *("gb_per_second", "share_of_copy", "ran", "edges_relaxed"),
    ),
    plot=plot,
    roads=True,
)
