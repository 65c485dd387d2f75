"""Bellman-Ford's method over an edge list, as Afanasyev and Voevodin compare it: figures 4, 7 and 8 of [1].

A sweep relaxes every edge of the list, and sweeps go on until nothing changes: O(p |E|) for paths of at most p edges,
weights of any sign. What is compared is the order of the edges: as the list comes, by source and then by destination,
by segments of sources whose distances stay in a cache (`formats.reorder_edges`), or by segments of destinations. Beside
them stands what `bellman_ford(A, source)` does with the same graph as CSR, one call for all rounds, which relaxes what
has changed.

[1] I. Afanasyev, V. Voevodin, The comparison of large-scale graph processing algorithms implementation methods for
    Intel KNL and NVIDIA GPU, Supercomputing, RuSCDays 2017.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from algorithms import bellman_ford, trace
from bench.experiment import Experiment, Row, Setting
from bench.graphs import rmat, ssca2
from bench.laboratory import bellman_ford_by
from bench.measure import rounded
from formats import COO, CSR, Matrix, SegmentedCOO, reorder_edges
from formats.arrays import Device, cupy

from .teps import PATHS, PLACE, Graph, Way, against_scale, implementation, measured

DEGREE = 32
"""The papers' average degree."""
CPU_SEGMENT = 1 << 16
"""Bytes of a segment on the CPU.

The paper takes half a tile's megabyte. With less of a core's second-level cache there are two segments of 2^15
vertices, and of 2^20 enough for many threads, each of which takes segments."""
CPU_LARGEST = 18
"""Scale up to which the CPU is asked beside a GPU."""


def directed(scale: int) -> Graph:
    """R-MAT of the papers' degree."""
    return Graph("R-MAT", scale, lambda scale, device: rmat(scale, DEGREE, device=device))


def cliques(scale: int) -> Graph:
    """SSCA-2, whose degree is about the papers'."""
    return Graph("SSCA-2", scale, lambda scale, device: ssca2(scale, device=device))


def segment_bytes(device: Device) -> int:
    """Bytes of a segment of distances: a GPU's last-level cache, as in the paper (`reorder_edges` stops at 65536)."""
    if device == "cpu":
        return CPU_SEGMENT
    runtime = cupy().cuda.runtime
    return int(runtime.getDeviceProperties(runtime.getDevice())["l2CacheSize"])


def reordered(A: CSR) -> Matrix:
    """The edges by segment of the source, then by destination, as in the paper."""
    return reorder_edges(A, segment_bytes(A.device))


def regrouped(A: CSR) -> Matrix:
    """The edges by segment of the destination, then by source: a segment of the result stays where it is fast."""
    return A.T.to(SegmentedCOO).T


def listed(A: CSR) -> Matrix:
    """The edges as they come."""
    return A.to(COO)


def sweeps(A: Matrix, source: int) -> Any:
    """Distances by products with all of d."""
    return bellman_ford_by(A, source, fused=False)


def number_of_sweeps(A: Matrix, source: int) -> Row:
    """Facts: how many sweeps there are."""
    with trace() as t:
        bellman_ford_by(A, source)
    return {"sweeps": len(t.rounds)}


def sweeping(name: str, device: Device, form: Any, largest: int = 63, count: int | None = None) -> Way:
    """Sweeps over the matrix in some form."""
    return Way(f"{PLACE[device]}, {name}", device, sweeps, form, number_of_sweeps, largest, count)


def fused(device: Device, largest: int = 63) -> Way:
    """One call for all rounds, on CSR."""
    return Way(f"{PLACE[device]}, CSR, fused", device, bellman_ford, None, implementation(bellman_ford), largest)


def compared(graphs: list[Graph], ways: list[Way], setting: Setting) -> Iterator[Row]:
    """The rows of all graphs; where there are sweeps, with the edges that all of them together visit."""
    for graph in graphs:
        for row in measured(graph, ways, PATHS, setting):
            if "sweeps" in row:
                row["visited_mteps"] = rounded(row["sweeps"] * row["mteps"])
            yield row


def figure_4(setting: Setting) -> Iterator[Row]:
    """The orders of the list on the device that is asked for."""
    device = setting.device
    scales = (8, 10) if setting.quick else range(15, 25) if device == "cuda" else range(15, 19)
    ways = [
        sweeping("edge list", device, listed),
        sweeping("edges reordered", device, reordered),
        sweeping("edges by destination", device, regrouped),
        fused(device),
    ]
    yield from compared([directed(scale) for scale in scales], ways, setting)


def figure_7(setting: Setting) -> Iterator[Row]:
    """The orders of the list on the CPU, and what else its cores can do."""
    ways = [
        sweeping("edge list, 1 thread", "cpu", listed, 17, 1),
        sweeping("edge list", "cpu", listed),
        sweeping("edges reordered", "cpu", reordered),
        sweeping("edges by destination", "cpu", regrouped),
        sweeping("CSR by SuiteSparse", "cpu", None),
        fused("cpu"),
    ]
    yield from compared([directed(scale) for scale in ((8, 10) if setting.quick else range(15, 21))], ways, setting)


def figure_8(setting: Setting) -> Iterator[Row]:
    """Both graphs on the GPU and on the CPU."""
    there = setting.device == "cuda"
    last = 25 if there else 20
    rmats = (8, 10) if setting.quick else range(15, last)
    ssca2s = (8, 10) if setting.quick else range(18, last)
    largest = CPU_LARGEST if there else 63
    ways = [sweeping("edges reordered", "cuda", reordered), fused("cuda")] if there else []
    ways += [sweeping("edges reordered", "cpu", reordered, largest), fused("cpu", largest)]
    yield from compared([*map(directed, rmats), *map(cliques, ssca2s)], ways, setting)


SAID = (
    "MTEPS are the entries of the matrix over the time of the whole call, in millions a second: an edge counts once, "
    "however many sweeps look at it. The column `visited mteps` counts it in every sweep, which is the paper's edge "
    "whose source and destination are requested. With copies: the matrix comes from the host, and the distances go "
    "there. Times of reordering stand apart, as `prepared ms`."
)
COLUMNS = (
    *("graph", "nnz", "contender", "ms", "with_transfers_ms", "mteps"),
    *("with_transfers_mteps", "visited_mteps", "sweeps", "prepared_ms", "repeats", "checked"),
)

FIGURE_4 = Experiment(
    "afanasyev-fig4",
    "Bellman-Ford over an edge list, as it comes and reordered for the cache",
    "Afanasyev and Voevodin 2017, figure 4",
    "Sweeps over all edges of R-MAT graphs of average degree 32, in the list's own order (by source, then by "
    "destination), by segments of sources as large as the cache, or as a SegmentedCOO can be, 65536 vertices, and by "
    "segments of destinations, whose results a GPU keeps in shared memory; and the fused call on CSR, which relaxes "
    f"only what has changed. In the paper the orders part at 2^18 vertices, where distances outgrow the cache. {SAID}",
    figure_4,
    COLUMNS,
    against_scale,
)
FIGURE_7 = Experiment(
    "afanasyev-fig7",
    "Bellman-Ford on the CPU's cores, step by step",
    "Afanasyev and Voevodin 2017, figure 7",
    "What the paper's steps on a many-core processor are here: sweeps over the edge list by one thread and by all, "
    "over edges reordered by source or by destination, over CSR by SuiteSparse:GraphBLAS, and the compiled loops of "
    f"the fused call in the place of vector instructions. {SAID}",
    figure_7,
    COLUMNS,
    against_scale,
)
FIGURE_8 = Experiment(
    "afanasyev-fig8",
    "Bellman-Ford on the GPU and on the CPU",
    "Afanasyev and Voevodin 2017, figure 8",
    "Reordered edges, and the fused call, on R-MAT and SSCA-2 graphs of average degree 32: on the GPU, with and "
    f"without copies, and on all cores of its host. {SAID}",
    figure_8,
    COLUMNS,
    against_scale,
)
