"""The tables of README and docs that are made of rows of `bench/results`; `doc_tables` puts them into the pages.

Below each table a line names the files of its rows and their days, so that every number leads to the row that has it.
"""

from __future__ import annotations

from collections.abc import Container
from math import ceil
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from bench.experiment import load
from bench.experiments.centralities import LIBRARIES, LIMITS
from bench.experiments.elimination import OURS as FACTOR
from bench.experiments.elimination import ROUTINGKIT, SEARCH
from bench.experiments.everyone import OURS
from bench.experiments.networkx import FIRST, NETWORKX
from bench.measure import RESULTS, Row, slug
from bench.peers import PEERS

GPU, CPU = "nvidia-h100-80gb-hbm3", "intel-r-xeon-r-processor-2-80ghz"
XEON, EPYC = "intel-r-xeon-r-processor", "amd-epyc"
GRAPHS = {
    "NE": "roads, US North-East",
    "rmat20": "R-MAT, scale 20",
    "rmat22": "R-MAT, scale 22",
    "rmat24": "R-MAT, scale 24",
    "unif8M": "random, 2^23 rows of 7",
    "unif1M": "random, 2^20 rows of 32",
    "grid4k": "grid, 4096 × 4096",
}
PEERS_CPU, PEERS_GPU = XEON, "nvidia-h200"
"""Machines of the rows beside other libraries."""
SUMMARY = [(task, "NY") for task in ("sssp", "bfs", "scc", "mst")]
SUMMARY += [("sssp", "rmat20"), ("bfs", "rmat20"), ("scc", "rmat20"), ("mst", "rmat18s")]
"""The lines of README: task, graph. Each has a row of `peers` on the CPU and on the GPU."""
PEER = "cuSPARSE plus-times"
ON_CPU = ("CSR", "COO", "ELL", "SELL", "SegmentedCOO", "CSB", "CompressedCSR")
ON_GPU = ("CSR", "COO", "ELL", "SELL", "SegmentedCOO", "CSB", "CompressedCSR")
PACKED = {
    "NE, as made": "roads, US North-East, as they come",
    "NE, bfs": "the same, in the order of a search",
    "NE, rcm": "the same, reverse Cuthill-McKee",
    "rmat22s, as made": "R-MAT 22, symmetric",
    "rmat22s, degree": "the same, by degree",
    "rmat22s, bfs": "the same, in the order of a search",
    "ssca2 20, as made": "SSCA-2 20, shuffled",
    "ssca2 20, bfs": "the same, in the order of a search",
    "ssca2 20, rcm": "the same, reverse Cuthill-McKee",
    "ssca2 20, cliques together, as made": "the same, cliques together",
}
CENTRALITIES = {"rmat16": "R-MAT 16, symmetric", "NY": "New York's roads", "rmat12, one way": "R-MAT 12"}
NAMES = {
    "NY": "New York's roads",
    "NE": "the North-East's",
    "rmat20": "R-MAT 20, 16 M edges",
    "rmat18s": "R-MAT 18, symmetric",
    "grid2048": "a grid of 2048²",
    "rmat14": "R-MAT 14",
    "rmat18": "R-MAT 18",
    "rmat-10M": "R-MAT 19",
    "dense512": "a full graph of 512",
}
BEYOND = {
    "rmat24": "R-MAT 24",
    "rmat25": "R-MAT 25",
    "ssca2 21": "SSCA-2 21",
    "grid2k": "a grid of 2048²",
    "roads": "roads, US North-East",
    "rmat26": "R-MAT 26",
    "rmat27": "R-MAT 27",
}
CENTRALITIES_IN_SHORT = {"clustering", "core_number", "betweenness", "diameter", "simple paths", "all_pairs"}
CENTRALITIES_IN_SHORT |= {"closeness, weighted", "betweenness, weighted"}
CSGRAPH_IN_SHORT = {"dijkstra", "dijkstra, 10 sources", "weak components", "strong components", "floyd_warshall"}
CSGRAPH_IN_SHORT |= {"minimum_spanning_tree", "breadth_first_order, 10 in turn"}
"""Tasks that the page for readers shows."""
STOPPED = {f"stopped after {limit:g} s": f"> {limit * 1e3:,.0f}" for limit, _ in LIMITS.values()}
FACTORED, FACTORED_AGAIN = ("order", "pattern and numbers"), ("numbers",)
TASKS = {"sssp": "`sssp`", "bfs": "`bfs`", "scc": "`scc`", "mst": "`boruvka`"}
PEERS_GRAPHS = {
    PEERS_CPU: {
        "NY": "New York's roads, 0.7 M edges",
        "rmat20": "R-MAT 20, 16 M edges",
        "rmat18s": "R-MAT 18, symmetric, 3.9 M edges",
    },
    GPU: {
        "NE": "roads, US North-East",
        "grid2k": "grid, 2048 × 2048",
        "rmat20": "R-MAT 20",
        "rmat22": "R-MAT 22",
        "rmat22s": "the same, symmetric",
        "unif8M": "random, 2^23 rows of 7",
    },
}


def table(*lines: list[str]) -> str:
    """Markdown; the first line is the head."""
    head, *body = (f"| {' | '.join(line)} |" for line in lines)
    return "\n".join((head, "|---" * len(lines[0]) + "|", *body))


def rows_of(name: str, place: str, graphs: Container[str] | None = None) -> list[Row]:
    """The rows of an experiment on a machine that have times; graphs: only those of these graphs."""
    rows = load(RESULTS / f"{name}-{place}.jsonl")
    return [row for row in rows if ("ms" in row or "regret" in row) and (graphs is None or row["graph"] in graphs)]


def with_source(lines: list[list[str]], *runs: list[Row]) -> str:
    """A table, and below it the files of the rows that it is made of, with the days on which they were measured."""
    told = []
    for rows in runs:
        known = rows[0]
        place = known.get("gpu", known["machine"])
        days = " and ".join(sorted({row["date"] for row in rows}))
        cores = "" if "gpu" in known else f", {known['cores']} cores" if known["cores"] > 1 else ", one core"
        told.append(f"`{known['experiment']}-{slug(place)}.jsonl`{cores}, {days}")
    return f"{table(*lines)}\n\nRows: {'; '.join(told)}."


def products_on_a_gpu() -> str:
    """Milliseconds for float32, the ratio to cuSPARSE's, and the fastest format's share of a copy's bandwidth."""
    rows = [row for row in rows_of("spmv", GPU, GRAPHS) if row.get("dtype") == "float32"]
    found = {(row["graph"], row["contender"]): row for row in rows}
    lines = [["", "entries", "cuSPARSE", *ON_GPU, "fastest, share of a copy"]]
    ratios: dict[str, list[float]] = {}
    for graph, name in GRAPHS.items():
        peer, cells = found[graph, PEER], []
        there = {fmt: found[graph, fmt] for fmt in ON_GPU if (graph, fmt) in found}
        best = min(there, key=lambda fmt: there[fmt]["ms"])
        for fmt in ON_GPU:
            if fmt in there:
                ratios.setdefault(fmt, []).append(there[fmt]["to_peer"])
                cell = f"{there[fmt]['ms']:.3f} ({there[fmt]['to_peer']:.2f})"
                cells.append(f"**{cell}**" if fmt == best else cell)
            else:
                cells.append("–")
        share = f"{100 * there[best]['share_of_copy']:.0f} %"
        lines.append([name, f"{peer['nnz'] / 1e6:.3g} M", f"{peer['ms']:.3f}", *cells, share])
    complete = {fmt: found for fmt, found in ratios.items() if len(found) == len(GRAPHS)}
    means = [f"{np.exp(np.mean(np.log(complete[fmt]))):.2f}" if fmt in complete else "" for fmt in ON_GPU]
    return with_source([*lines, ["geometric mean of ratios", "", "", *means, ""]], rows)


def products_on_a_cpu() -> str:
    """Milliseconds in every format, beside python-graphblas."""
    graphs = {"unif1M d16": "2^20 rows, 16 random entries each", "unif1M d8": "2^20 rows, 8 each", "rmat20": "R-MAT 20"}
    rows = [row for row in rows_of("spmv", CPU, graphs) if "dtype" in row]
    found = {(row["dtype"], row["contender"], row["graph"]): row["ms"] for row in rows}
    lines = [["milliseconds", *graphs.values()]]
    for dtype, how in (("float32", ""), ("int32", " with absent entries")):
        for name in ("bare python-graphblas", *ON_CPU):
            times = [found.get((dtype, name, graph)) for graph in graphs]
            label = f"python-graphblas, {dtype}" if name not in ON_CPU else f"{name}, {dtype}{how}"
            lines.append([label, *("–" if ms is None else f"{ms:.1f}" for ms in times)])
    return with_source(lines, rows)


def regrets() -> str:
    """Time of the chosen format over the best one's, median and worst of each product, wherever it was measured."""
    head, lines = ["product"], dict[str, list[str]]()
    runs = [[row for row in rows_of("choice", place) if "figure" not in row] for place in (XEON, GPU)]
    for rows, place in zip(runs, ("one core", "one H100"), strict=True):
        matrices = len({row["graph"] for row in rows})
        head += [f"{place}, {matrices} matrices: median", "worst", "worst of CSR"]
        for name in dict.fromkeys(row["product"] for row in rows):
            found, csr = ([row[key] for row in rows if row["product"] == name] for key in ("regret", "csr"))
            lines.setdefault(name, [f"`{name.replace(', ', '`, ', 1)}"])
            lines[name] += [f"{median(found):.2f}", f"{max(found):.2f}", f"{max(csr):.2f}"]
    return with_source([head, *lines.values()], *runs)


def packed_columns() -> str:
    """Bytes of packed columns, how many times as small they are, and times in CSR and packed, on either device."""
    found: dict[str, dict[tuple[str, str], dict[str, Any]]] = {}
    runs = [rows_of("packing", place) for place in (CPU, GPU)]
    for place, rows in zip((CPU, GPU), runs, strict=True):
        for row in rows:
            found.setdefault(row["graph"], {})[place, row["contender"]] = row
    timed = [(device, place, verb) for device, place in (("CPU", CPU), ("GPU", GPU)) for verb in ("mxv", "boruvka")]
    lines = [["graph", "entries", "bytes of a column", *(f"`{verb}`, {device}" for device, _, verb in timed)]]
    for graph, times in found.items():
        size = times[CPU, "CompressedCSR, mxv"]
        cells = []
        for _, place, verb in timed:
            plain, packed = (figure(times[place, f"{fmt}, {verb}"]["ms"]) for fmt in ("CSR", "CompressedCSR"))
            cells.append(f"{plain}, {packed}")
        columns = f"{size['columns_bytes']:.2f} ({size['smaller']:.2f} ×)"
        lines.append([PACKED.get(graph, graph), f"{size['nnz'] / 1e6:.3g} M", columns, *cells])
    return with_source(lines, *runs)


def peers_on_a_cpu() -> str:
    """Milliseconds of every library, task by task."""
    found, order = peers(PEERS_CPU)
    lines = [["milliseconds", "on", *order]]
    for task, name in TASKS.items():
        for graph, label in PEERS_GRAPHS[PEERS_CPU].items():
            times = found.get((task, graph), {})
            if len(times) > 1:
                cells = (figure(times[each]["ms"]) if each in times else "–" for each in order)
                lines.append([name, label, *cells])
    return with_source(lines, rows_of("peers", PEERS_CPU))


def peers_on_a_gpu() -> str:
    """Milliseconds of ours, with copies too, and of the fastest library on the host."""
    found, order = peers(GPU)
    graphs = PEERS_GRAPHS[GPU]
    lines = [["milliseconds", "", *graphs.values()]]
    for task, name in TASKS.items():
        ours, rivals = [], []
        for graph in graphs:
            times = dict(found.get((task, graph), {}))
            own = times.pop(order[0], None)
            ours.append(f"{figure(own['ms'])} ({figure(own['with_transfers_ms'])})" if own else "–")
            best = min(times, key=lambda each: times[each]["ms"], default=None)
            rivals.append(f"{figure(times[best]['ms'])}, {best}" if best else "–")
        lines += [[name, "semiring", *ours], ["", "fastest other", *rivals]]
    return with_source(lines, rows_of("peers", GPU, graphs))


def peers(place: str) -> tuple[dict[tuple[str, str], dict[str, dict[str, Any]]], list[str]]:
    """Returns ({(task, graph): {library: row}}, the libraries in their order), for rows that have times."""
    found: dict[tuple[str, str], dict[str, dict[str, Any]]] = {}
    for row in rows_of("peers", place):
        found.setdefault((row["task"], row["graph"]), {})[row["contender"]] = row
    there = {name for times in found.values() for name in times}
    return found, [OURS, *(peer.name for peer in PEERS if peer.name in there)]


def centralities(machine: str = XEON) -> str:
    """Milliseconds of ours and of three other libraries, task by task; the rows say why some have none."""
    found = ranked(machine)
    order = [OURS, *LIBRARIES]
    lines = [["milliseconds", "on", *order]]
    for (graph, task), rows in found.items():
        lines.append([f"`{task}`", CENTRALITIES[graph], *(time_of(rows[each]) for each in order)])
    return with_source(lines, rows_of("centralities", machine))


def ranked(machine: str) -> dict[tuple[str, str], dict[str, Row]]:
    """The rows of `centralities` on a machine, by (graph, task) and library."""
    found: dict[tuple[str, str], dict[str, Row]] = {}
    for row in load(RESULTS / f"centralities-{machine}.jsonl"):
        found.setdefault((row["graph"], row["task"]), {})[row["contender"]] = row
    return found


def time_of(row: Row) -> str:
    """A row's milliseconds, or the time after which its first call was stopped."""
    return figure(row["ms"]) if "ms" in row else STOPPED.get(row["missing"], "–")


def centralities_in_short() -> str:
    """Milliseconds of ours on both devices, and of the fastest of three other libraries on the CPU."""
    on_cpu, on_gpu = ranked(XEON), ranked(GPU)
    lines = [["milliseconds", "on", "semiring, 2 cores", "fastest other", "semiring, one H100"]]
    for graph, task in on_cpu:
        rows = dict(on_cpu[graph, task])
        ours = rows.pop(OURS)
        timed = {name: row for name, row in rows.items() if "ms" in row}
        best = min(timed, key=lambda name: timed[name]["ms"], default=None)
        others = {time_of(row) for row in rows.values()} - {"–"}
        rival = f"{figure(timed[best]['ms'])}, {best}" if best else max(others, default="–")
        if task in CENTRALITIES_IN_SHORT and rival != "–":
            lines.append([f"`{task}`", CENTRALITIES[graph], time_of(ours), rival, time_of(on_gpu[graph, task][OURS])])
    return with_source(lines, rows_of("centralities", XEON), rows_of("centralities", GPU))


def factors() -> str:
    """Milliseconds of a factor and of searches, the factor's floor, and after how many calls it has paid for itself."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    used = rows_of("elimination", EPYC, ("NY",))
    for row in used:
        found.setdefault(row["task"], {})[row["contender"]] = row
    (first, again), order = (
        (sum(found[task][FACTOR]["low_ms"] for task in tasks) for tasks in (FACTORED, FACTORED_AGAIN)),
        [FACTOR, SEARCH, "SciPy", "NetworkX", ROUTINGKIT],
    )
    lines = [["milliseconds", "floor", *order, "pays after", "with other weights"]]
    for task, rows in found.items():
        cells = [figure(rows[each]["low_ms"]) if each in rows else "–" for each in order]
        gain = rows[SEARCH]["low_ms"] - rows[FACTOR]["low_ms"] if SEARCH in rows else 0
        calls = [f"{ceil(cost / gain):,}" if gain > 0 else "–" for cost in (first, again)]
        floor = rows[FACTOR].get("floor_ms")
        lines.append([task, "–" if floor is None else figure(floor), *cells, *calls])
    return with_source(lines, used)


def factors_in_short() -> str:
    """Milliseconds of questions about New York's roads: by our factor, by searches, and by other libraries."""
    used = rows_of("elimination", EPYC, ("NY",))
    found = {(row["task"], row["contender"]): figure(row["low_ms"]) for row in used}
    order = [FACTOR, SEARCH, "SciPy", "NetworkX", ROUTINGKIT]
    questions = dict.fromkeys(row["task"] for row in used if row["contender"] == SEARCH)
    lines = [[task, *(found.get((task, name), "–") for name in order)] for task in questions]
    return with_source([["milliseconds", *order], *lines], used)


def factors_on_a_gpu() -> str:
    """Milliseconds of a factor, of searches and of the floor, task by task, with what the factor holds."""
    found: dict[str, dict[str, dict[str, dict[str, Any]]]] = {}
    used = rows_of("elimination", GPU)
    for row in used:
        found.setdefault(row["graph"], {}).setdefault(row["task"], {})[row["contender"]] = row
    known = [next(rows[FACTOR] for rows in tasks.values() if "arcs" in rows[FACTOR]) for tasks in found.values()]
    lines = [["milliseconds: factor; search; floor", *(NAMES.get(graph, graph) for graph in found)]]
    lines.append(["vertices", *(f"{row['n']:,}" for row in known)])
    lines.append(["arcs of the factor; its bytes", *(f"{row['arcs']:,}; {row['nbytes']:,}" for row in known)])
    for task in dict.fromkeys(task for tasks in found.values() for task in tasks):
        cells = []
        for rows in (tasks.get(task, {}) for tasks in found.values()):
            times = [rows[each]["ms"] if each in rows else None for each in (FACTOR, SEARCH)]
            times.append(rows.get(FACTOR, {}).get("floor_ms"))
            cells.append("; ".join("–" if ms is None else figure(ms) for ms in times) if rows else "–")
        lines.append([task, *cells])
    return with_source(lines, used)


def batches_on_a_gpu() -> str:
    """Milliseconds of many vectors and sources at once, and of what stands beside them."""
    lines = [["milliseconds", "semiring", "beside", "", "ratio or ms", "at most"]]
    rows = rows_of("batches", GPU)
    for row in rows:
        beside = [row["beside"] or "–", figure(row["beside_ms"]) if row["beside_ms"] else "–"]
        case = row["contender"].replace(", GPU", "")
        lines.append([case, figure(row["ms"]), *beside, f"{row['now']:#.3g}".rstrip("."), f"{row['at_most']:g}"])
    return with_source(lines, rows)


def beyond_a_gpu() -> str:
    """Milliseconds by the share of the matrix that is resident, and the floor of a pass over what is not."""
    found: dict[tuple[str, str], dict[float, dict[str, Any]]] = {}
    used = rows_of("beyond", GPU)
    for row in used:
        found.setdefault((row["graph"], row["contender"]), {})[row["resident"]] = row
    shares = (1.0, 0.5, 0.1)
    lines = [["milliseconds", "on", "all resident", "a half", "a tenth", "a pass over the others", "first call"]]
    for (graph, task), rows in found.items():
        if shares[-1] in rows:
            cells = [figure(rows[share]["ms"]) if share in rows else "–" for share in shares]
            last = rows[shares[-1]]
            lines.append([task, BEYOND[graph], *cells, figure(last["floor_ms"]), figure(last["first_ms"])])
    return with_source(lines, used)


def of_large() -> str:
    """Milliseconds of matrices of thousands of millions of entries: in memory, within a limit, larger than a GPU."""
    found: dict[str, dict[tuple[str, bool], dict[str, Any]]] = {}
    used = rows_of("large", GPU)
    for row in used:
        found.setdefault(row["contender"], {})[row["graph"].split()[0], "limit_bytes" in row] = row
    places = {("rmat25", False): "in memory", ("rmat25", True): "within 4 GiB", ("rmat26", False): "in two memories"}
    lines = [["milliseconds; a pass over what is not resident", *places.values()]]
    known = [next(rows[place] for rows in found.values() if place in rows) for place in places]
    lines.append(["entries", *(f"{row['nnz']:,}" for row in known)])
    lines.append(["bytes; resident", *(f"{row['matrix_bytes']:,}; {row['resident']:.1%}" for row in known)])
    for task, rows in found.items():
        told = [rows.get(place, {}) for place in places]
        cells = [f"{figure(row['ms'])}; {figure(row['floor_ms'])}" if "ms" in row else "–" for row in told]
        lines.append([task, *cells])
    return with_source(lines, used)


def of_networkx() -> str:
    """Milliseconds of NetworkX's functions by its backends; the fastest other one and its name."""
    found: dict[tuple[str, str], dict[str, float]] = {}
    used = rows_of("networkx", EPYC)
    for row in used:
        found.setdefault((row["graph"], row["task"]), {})[row["contender"]] = row["low_ms"]
    lines = [["milliseconds", "on", NETWORKX, "semiring, first call", "later", "others, first call", "later"]]
    for (graph, task), times in found.items():
        own = (figure(times[each]) if each in times else "–" for each in (NETWORKX, FIRST, OURS))
        others = []
        for first in (True, False):
            theirs = {
                name.removesuffix(", first call"): ms
                for name, ms in times.items()
                if name not in (NETWORKX, FIRST, OURS) and name.endswith(", first call") is first
            }
            best = min(theirs, key=lambda name: theirs[name], default=None)
            others.append("–" if best is None else f"{figure(theirs[best])}, {best}")
        lines.append([f"`{task}`", NAMES.get(graph, graph), *own, *others])
    return with_source(lines, used)


def of_csgraph(graphs: tuple[str, ...] | None = None, tasks: set[str] | None = None) -> str:
    """Milliseconds of SciPy's functions, ours and its own; of CuPy's matrices with those of SciPy's beside them."""
    found: dict[tuple[str, str], dict[str, float]] = {}
    on_gpu: dict[tuple[str, str], dict[str, float]] = {}
    runs = [
        [row for row in rows_of("csgraph", machine, graphs) if tasks is None or row["task"] in tasks]
        for machine in (EPYC, GPU)
    ]
    for rows, times in zip(runs, (found, on_gpu), strict=True):
        for row in rows:
            times.setdefault((row["graph"], row["task"]), {})[row["contender"]] = row["low_ms"]
    lines = [["milliseconds", "on", "SciPy", "semiring", "SciPy = 1", "first call", "one H100", "SciPy beside it = 1"]]
    for graph, task in dict.fromkeys((*found, *on_gpu)):
        cells = []
        for known, first in ((found.get((graph, task)), True), (on_gpu.get((graph, task)), False)):
            ratio = f"{known[OURS] / known['SciPy']:.2g}" if known else "–"
            ours, theirs, again = (figure(known[name]) if known else "–" for name in (OURS, "SciPy", FIRST))
            cells += [theirs, ours, ratio, again] if first else [ours, ratio]
        lines.append([task, NAMES.get(graph, graph), *cells])
    return with_source(lines, *runs)


WHOLE = {
    "shortest paths": "SSSP float32",
    "with parents": "SSSP float32, parents",
    "`bfs`": "BFS",
    "`bfs` with parents": "BFS, parents",
    "`scc`": "SCC",
    "`boruvka`": "MST",
}
"""Columns of the table of whole algorithms, by what their rows are called."""


def whole_algorithms_on_a_gpu() -> str:
    """Milliseconds of ours, and beside them those of the fastest other library, as measured elsewhere."""
    rows = rows_of("fused", GPU)
    found = {(row["graph"], row["contender"]): row for row in rows}
    lines = [["milliseconds", "edges", *WHOLE]]
    for graph, label in PEERS_GRAPHS[GPU].items():
        cells = []
        for name in WHOLE.values():
            row = found.get((graph, name))
            beside = row and row["best_of_others_ms"] and "parents" not in name
            other = f" ({figure(row['best_of_others_ms'])}, {row['others']})" if beside else ""
            cells.append(f"{figure(row['ms'])}{other}" if row else "–")
        lines.append([label, f"{found[graph, 'BFS']['nnz'] / 1e6:.2g} M", *cells])
    return with_source(lines, rows)


PARTS_GRAPHS = {
    "rmat26": "R-MAT 26, 1,060 M entries",
    "rmat24": "R-MAT 24",
    "rmat, both ways 24": "R-MAT 24, both ways",
    "rmat22": "R-MAT 22",
    "grid 2048x2048": "a grid of 2048²",
    "USA-road-d.NY.gr.gz": "New York's roads",
}
PARTS_TASKS = {
    "sssp": "`sssp`",
    "bfs": "`bfs`",
    "bfs, parents": "`bfs` with parents",
    "components": "weak components",
    "forest": "`boruvka`",
    "64 sources": "`sssp`, 64 sources",
    "128 sources": "`sssp`, 128 sources",
}
ON_TWO_GPUS = {
    "sssp": ("rmat26", "rmat24", "rmat22"),
    "bfs": ("rmat26", "rmat24"),
    "bfs, parents": ("rmat26", "rmat24"),
    "components": ("rmat26", "rmat24"),
    "forest": ("rmat, both ways 24",),
    "64 sources": ("rmat22", "grid 2048x2048", "USA-road-d.NY.gr.gz"),
    "128 sources": ("rmat22", "grid 2048x2048", "USA-road-d.NY.gr.gz"),
}
"""The lines of the table: graphs by task."""


def two_gpus() -> str:
    """Milliseconds of one GPU and of two, and their ratio."""
    rows = rows_of("parts", GPU, PARTS_GRAPHS)
    found = {(row["graph"], row["task"], row["contender"]): row["ms"] for row in rows}
    lines = [["milliseconds", "on", "one GPU", "two", "ratio"]]
    for task, graphs in ON_TWO_GPUS.items():
        for graph in graphs:
            one, two = (found[graph, task, contender] for contender in ("one GPU", "2 GPUs"))
            lines.append([PARTS_TASKS[task], PARTS_GRAPHS[graph], figure(one), figure(two), f"{two / one:.2f}"])
    return with_source(lines, rows)


class Paper(NamedTuple):
    """A graph of an experiment, the contenders that are the paper's way and the fused one, and the table's words."""

    graph: str
    paper: str
    fused: str
    label: str
    way: str


FIGURES = {
    "martin-fig6": Paper(
        "lists, 11 x 2^20", "F_GPU", "da2cf, fused", "11 · 2^20 vertices, 7 predecessors each; paths", "F_GPU"
    ),
    "martin-fig7": Paper(
        "matrix, 15 x 2^10", "F_GPU", "da2cf, fused", "15 · 2^10 vertices, a fifth full; paths", "F_GPU"
    ),
    "afanasyev-fig4": Paper(
        "R-MAT 24", "GPU, edges reordered", "GPU, CSR, fused", "R-MAT 24; paths", "sweeps, edges reordered"
    ),
    "afanasyev-fig9": Paper(
        "R-MAT 24", "GPU, sweeps over reordered edges", "GPU, fused", "R-MAT 24; search", "sweeps, edges reordered"
    ),
    "afanasyev-fig10": Paper(
        "R-MAT 24", "GPU, CSR, definition", "GPU, CSR, fused", "R-MAT 24; strong components", "Forward-Backward-Trim"
    ),
    "kolganov-mst": Paper(
        "R-MAT 24", "GPU, definition", "GPU, fused", "R-MAT 24, symmetric; forest", "four procedures a round"
    ),
}
"""The papers' figures of which the table has a line, by experiment."""


def figures_of_papers() -> str:
    """Milliseconds of the papers' ways, of fused runs, and of these with the copies of graph and answer."""
    lines, runs = [["experiment", "graph", "the paper's way", "", "fused", "with copies"]], []
    for name, paper in FIGURES.items():
        runs.append(rows_of(name, GPU, (paper.graph,)))
        known = {row["contender"]: row for row in runs[-1]}
        fused = known[paper.fused]
        times = (known[paper.paper]["ms"], fused["ms"], fused["with_transfers_ms"])
        lines.append([f"`{name}`", paper.label, paper.way, *(figure(ms) for ms in times)])
    return with_source(lines, *runs)


def figure(ms: float) -> str:
    """Milliseconds, to three digits; whole ones from 100 on."""
    return f"{ms:,.0f}" if ms >= 99.95 else f"{ms:#.3g}"


def summary() -> str:
    """Milliseconds of ours on both devices and of the fastest other library, and when and where they were measured."""
    lines, days = [["milliseconds", "on", "semiring, 2 cores", "fastest other", "semiring, one H200"]], set()
    for task, graph in SUMMARY:
        on_cpu, on_gpu = (
            {row["contender"]: row for row in rows_of("peers", machine, (graph,)) if row["task"] == task}
            for machine in (PEERS_CPU, PEERS_GPU)
        )
        ours, own = on_cpu.pop(OURS), on_gpu[OURS]
        best = min(on_cpu, key=lambda each: on_cpu[each]["ms"])
        days |= {ours["date"], own["date"]}
        other = f"{figure(on_cpu[best]['ms'])}, {best}"
        lines.append([TASKS[task], NAMES[graph], f"**{figure(ours['ms'])}**", other, figure(own["ms"])])
    return f"{table(*lines)}\n\n2 cores of an Intel Xeon and one H200, {' and '.join(sorted(days))}."
