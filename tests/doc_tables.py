"""The tables of README and docs: what is supported and how fast it is; `python -m tests.doc_tables` rewrites them.

Each stands between <!-- NAME: begin --> and <!-- NAME: end -->, and is made from the verbs' own tables, or from rows of
`bench/results`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from enum import EnumType
from math import ceil
from pathlib import Path
from statistics import median
from typing import Any, cast, get_type_hints

import numpy as np
import typer
from typer.models import ArgumentInfo

from algorithms.cli import app
from algorithms.cli.options import Computing, Printing, Reading, options_of
from algorithms.networkx.plugin.semiring_networkx import COSTS, FUNCTIONS
from bench.experiment import load
from bench.experiments.centralities import LIBRARIES, LIMITS
from bench.experiments.elimination import OURS as FACTOR
from bench.experiments.elimination import ROUTINGKIT, SEARCH
from bench.experiments.everyone import OURS
from bench.experiments.networkx import FIRST, NETWORKX
from bench.measure import RESULTS
from bench.peers import PEERS
from formats import CSR
from semiring import Vector, Verb, assign

from .strategies import FORMATS

ROOT = Path(__file__).parent.parent
README, DOCS = ROOT / "README.md", ROOT / "docs"
GPU, CPU = "nvidia-h100-80gb-hbm3", "intel-r-xeon-r-processor-2-80ghz"
GRAPHS = {
    "NE": "roads, US North-East",
    "rmat20": "R-MAT, scale 20",
    "rmat22": "R-MAT, scale 22",
    "rmat24": "R-MAT, scale 24",
    "unif8M": "random, 2^23 rows of 7",
    "unif1M": "random, 2^20 rows of 32",
    "grid4k": "grid, 4096 × 4096",
}
SUMMARY = [
    ("sssp", "NY", "New York's roads"),
    ("sssp", "rmat20", "R-MAT 20, 16 M edges"),
    ("bfs", "rmat20", "R-MAT 20"),
    ("scc", "rmat20", "R-MAT 20"),
    ("mst", "rmat18s", "R-MAT 18, symmetric"),
]
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
XEON, EPYC = "intel-r-xeon-r-processor", "amd-epyc"
CENTRALITIES = {"rmat16": "R-MAT 16, symmetric", "NY": "New York's roads", "rmat12, one way": "R-MAT 12"}
NAMES = {
    "NY": "New York's roads",
    "NE": "the North-East's",
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
STOPPED = {f"stopped after {limit:g} s": f"> {limit * 1e3:,.0f}" for limit, _ in LIMITS.values()}
FACTORED, FACTORED_AGAIN = ("order", "pattern and numbers"), ("numbers",)
TASKS = {"sssp": "`sssp`", "bfs": "`bfs`", "scc": "`scc`", "mst": "`boruvka`"}
PEERS_GRAPHS = {
    CPU: {
        "NY": "New York's roads, 0.7 M arcs",
        "rmat20": "R-MAT 20, 16 M edges",
        "rmat18s": "R-MAT 18, symmetric, 3.9 M arcs",
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


def support() -> str:
    """A row a verb, a column a format, and in each cell the backends that have it."""
    formats = [Vector, *FORMATS]
    lines = [["verb", *(fmt.__name__ for fmt in formats)]]
    for verb in Verb.all.values():
        have = verb.table
        by_rows = "–" if verb is assign or (CSR, "cpu") not in have else "rows"
        cells = [
            ", ".join(sorted(backend for fmt, backend in have if fmt is column))
            or ("–" if column is Vector else by_rows)
            for column in formats
        ]
        lines.append([f"`{verb.name}`", *cells])
    return table(*lines)


def products_on_a_gpu() -> str:
    """Of float32 values: ms, the ratio to cuSPARSE's, and the share of a copy's bandwidth of the fastest format."""
    rows = load(RESULTS / f"spmv-{GPU}.jsonl")
    found = {(row["graph"], row["contender"]): row for row in rows if row.get("dtype") == "float32" and "ms" in row}
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
    return table(*lines, ["geometric mean of ratios", "", "", *means, ""])


def products_on_a_cpu() -> str:
    """Milliseconds in every format, beside python-graphblas."""
    rows = load(RESULTS / f"spmv-{CPU}.jsonl")
    found = {
        (row["dtype"], row["contender"], row["graph"]): row["ms"] for row in rows if "ms" in row and "dtype" in row
    }
    graphs = {"unif1M d16": "2^20 rows, 16 random entries each", "unif1M d8": "2^20 rows, 8 each", "rmat20": "R-MAT 20"}
    lines = [["milliseconds", *graphs.values()]]
    for dtype, how in (("float32", ""), ("int32", " with absent entries")):
        for name in ("bare python-graphblas", *ON_CPU):
            times = [found.get((dtype, name, graph)) for graph in graphs]
            label = f"python-graphblas, {dtype}" if name not in ON_CPU else f"{name}, {dtype}{how}"
            lines.append([label, *("–" if ms is None else f"{ms:.1f}" for ms in times)])
    return table(*lines)


def regrets() -> str:
    """Time of the chosen format over the best one's, median and worst of each product, wherever it was measured."""
    head, lines = ["product"], dict[str, list[str]]()
    for path in sorted(RESULTS.glob("choice-*.jsonl")):
        rows = [row for row in load(path) if "figure" not in row]
        place = rows[0].get("gpu", f"{rows[0]['machine']}, cores: {rows[0]['cores']}")
        matrices = len({row["graph"] for row in rows})
        head += [f"{place}, {matrices} matrices: median", "worst", "worst of CSR"]
        for name in dict.fromkeys(row["product"] for row in rows):
            found, csr = ([row[key] for row in rows if row["product"] == name] for key in ("regret", "csr"))
            lines.setdefault(name, [f"`{name.replace(', ', '`, ', 1)}"])
            lines[name] += [f"{median(found):.2f}", f"{max(found):.2f}", f"{max(csr):.2f}"]
    return table(head, *lines.values())


def packed_columns() -> str:
    """Bytes of packed columns, how many times as small they are, and times in CSR and packed, on either device."""
    found: dict[str, dict[tuple[str, str], dict[str, Any]]] = {}
    for place in (CPU, GPU):
        for row in load(RESULTS / f"packing-{place}.jsonl"):
            if "missing" not in row:
                found.setdefault(row["graph"], {})[place, row["contender"]] = row
    timed = [(device, place, verb) for device, place in (("CPU", CPU), ("GPU", GPU)) for verb in ("mxv", "boruvka")]
    lines = [["graph", "entries", "bytes of a column", *(f"`{verb}`, {device}" for device, _, verb in timed)]]
    for graph, rows in found.items():
        size = rows[CPU, "CompressedCSR, mxv"]
        cells = []
        for _, place, verb in timed:
            plain, packed = (figure(rows[place, f"{fmt}, {verb}"]["ms"]) for fmt in ("CSR", "CompressedCSR"))
            cells.append(f"{plain}, {packed}")
        columns = f"{size['columns_bytes']:.2f} ({size['smaller']:.2f} ×)"
        lines.append([PACKED.get(graph, graph), f"{size['nnz'] / 1e6:.3g} M", columns, *cells])
    return table(*lines)


def peers_on_a_cpu() -> str:
    """Milliseconds of every library, task by task."""
    found, order = peers(CPU)
    lines = [["milliseconds", "on", *order]]
    for task, name in TASKS.items():
        for graph, label in PEERS_GRAPHS[CPU].items():
            times = found.get((task, graph), {})
            if len(times) > 1:
                cells = (figure(times[each]["ms"]) if each in times else "–" for each in order)
                lines.append([name, label, *cells])
    return table(*lines)


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
    return table(*lines)


def peers(place: str) -> tuple[dict[tuple[str, str], dict[str, dict[str, Any]]], list[str]]:
    """({(task, graph): {library: row}}, the libraries in their order) of what was timed."""
    found: dict[tuple[str, str], dict[str, dict[str, Any]]] = {}
    for row in load(RESULTS / f"peers-{place}.jsonl"):
        if "missing" not in row:
            found.setdefault((row["task"], row["graph"]), {})[row["contender"]] = row
    there = {name for times in found.values() for name in times}
    return found, [OURS, *(peer.name for peer in PEERS if peer.name in there)]


def centralities(machine: str = XEON) -> str:
    """Milliseconds of ours and of three other libraries, task by task; the rows say why some have none."""
    found: dict[tuple[str, str], dict[str, dict[str, Any]]] = {}
    for row in load(RESULTS / f"centralities-{machine}.jsonl"):
        found.setdefault((row["graph"], row["task"]), {})[row["contender"]] = row
    order = [OURS, *LIBRARIES]
    lines = [["milliseconds", "on", *order]]
    for (graph, task), rows in found.items():
        cells = (
            figure(row["ms"]) if "ms" in row else STOPPED.get(row["missing"], "–")
            for row in (rows[each] for each in order)
        )
        lines.append([f"`{task}`", CENTRALITIES[graph], *cells])
    return table(*lines)


def factors() -> str:
    """Milliseconds of a factor and of searches, the factor's floor, and after how many calls it has paid for itself."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for row in load(RESULTS / f"elimination-{EPYC}.jsonl"):
        if row["graph"] == "NY" and "low_ms" in row:
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
    return table(*lines)


def factors_on_a_gpu() -> str:
    """Milliseconds of a factor, of searches and of the floor, task by task, with what the factor holds."""
    found: dict[str, dict[str, dict[str, dict[str, Any]]]] = {}
    for row in load(RESULTS / f"elimination-{GPU}.jsonl"):
        if "ms" in row:
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
    return table(*lines)


def batches_on_a_gpu() -> str:
    """Milliseconds of many vectors and sources at once, and of what stands beside them."""
    lines = [["milliseconds", "semiring", "beside", "", "ratio or ms", "at most"]]
    for row in load(RESULTS / f"batches-{GPU}.jsonl"):
        beside = [row["beside"] or "–", figure(row["beside_ms"]) if row["beside_ms"] else "–"]
        case = row["contender"].replace(", GPU", "")
        lines.append([case, figure(row["ms"]), *beside, f"{row['now']:#.3g}".rstrip("."), f"{row['at_most']:g}"])
    return table(*lines)


def beyond_a_gpu() -> str:
    """Milliseconds by the share of the matrix that is resident, and the floor of a pass over what is not."""
    found: dict[tuple[str, str], dict[float, dict[str, Any]]] = {}
    for row in load(RESULTS / f"beyond-{GPU}.jsonl"):
        if "ms" in row:
            found.setdefault((row["graph"], row["contender"]), {})[row["resident"]] = row
    shares = (1.0, 0.5, 0.1)
    lines = [["milliseconds", "on", "all resident", "a half", "a tenth", "a pass over the others", "first call"]]
    for (graph, task), rows in found.items():
        if shares[-1] in rows:
            cells = [figure(rows[share]["ms"]) if share in rows else "–" for share in shares]
            last = rows[shares[-1]]
            lines.append([task, BEYOND[graph], *cells, figure(last["floor_ms"]), figure(last["first_ms"])])
    return table(*lines)


def of_large() -> str:
    """Milliseconds of matrices of thousands of millions of entries: in memory, within a limit, larger than a GPU."""
    found: dict[str, dict[tuple[str, bool], dict[str, Any]]] = {}
    for row in load(RESULTS / f"large-{GPU}.jsonl"):
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
    return table(*lines)


def of_networkx() -> str:
    """Milliseconds of NetworkX's functions by its backends; the fastest other one and its name."""
    found: dict[tuple[str, str], dict[str, float]] = {}
    for row in load(RESULTS / f"networkx-{EPYC}.jsonl"):
        if "ms" in row:
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
    return table(*lines)


def of_csgraph() -> str:
    """Milliseconds of SciPy's functions, ours and its own; of CuPy's matrices with those of SciPy's beside them."""
    found: dict[tuple[str, str], dict[str, float]] = {}
    on_gpu: dict[tuple[str, str], dict[str, float]] = {}
    for machine, times in ((EPYC, found), (GPU, on_gpu)):
        for row in load(RESULTS / f"csgraph-{machine}.jsonl"):
            times.setdefault((row["graph"], row["task"]), {})[row["contender"]] = row["low_ms"]
    lines = [["milliseconds", "on", "SciPy", "semiring", "SciPy = 1", "first call", "one H100", "SciPy beside it = 1"]]
    for graph, task in dict.fromkeys((*found, *on_gpu)):
        cells = []
        for times, first in ((found.get((graph, task)), True), (on_gpu.get((graph, task)), False)):
            ratio = f"{times[OURS] / times['SciPy']:.2g}" if times else "–"
            ours, theirs, again = (figure(times[name]) if times else "–" for name in (OURS, "SciPy", FIRST))
            cells += [theirs, ours, ratio, again] if first else [ours, ratio]
        lines.append([task, NAMES.get(graph, graph), *cells])
    return table(*lines)


def figure(ms: float) -> str:
    """Milliseconds, to three digits; whole ones from 100 on."""
    return f"{ms:,.0f}" if ms >= 99.95 else f"{ms:#.3g}"


def summary() -> str:
    """Milliseconds of ours on both devices and of the fastest other library, one graph for each task."""
    lines = [["milliseconds", "on", "semiring, 2 cores", "fastest other", "semiring, one H100"]]
    on_cpu, order = peers(CPU)
    on_gpu, _ = peers(GPU)
    for task, graph, name in SUMMARY:
        times = dict(on_cpu[task, graph])
        ours = times.pop(order[0])["ms"]
        best = min(times, key=lambda each: times[each]["ms"])
        gpu = on_gpu.get((task, graph), {}).get(order[0])
        rival = f"{figure(times[best]['ms'])}, {best}"
        lines.append([TASKS[task], name, f"**{figure(ours)}**", rival, figure(gpu["ms"]) if gpu else "–"])
    return table(*lines)


def networkx_functions() -> str:
    """The functions of NetworkX's backend, by the files that have them."""
    found: dict[tuple[str, str], list[str]] = {}
    for row in FUNCTIONS.values():
        found.setdefault((row.file, row.cost), []).append(f"`{row.name}`")
    lines = [[file.replace("_", " "), ", ".join(names), cost] for (file, cost), names in found.items()]
    return table([f"{len(FUNCTIONS)} functions", "", "taken"], *lines)


def networkx_costs() -> str:
    """When a call is taken by itself."""
    return table(["taken", "if it costs NetworkX"], *([name, what] for name, what in COSTS.items()))


def commands() -> str:
    """The command line: options that commands share, and then each command, from the functions that define them."""
    parts = [f"### {title}\n\n{listed(options_of(group))}" for group, title in SHARED.items()]
    for command in app.registered_commands:
        function: Any = inspect.unwrap(cast(Any, command.callback))
        hints = get_type_hints(function, include_extras=True)
        own = [(each.name, each.default, hints[each.name]) for each in inspect.signature(function).parameters.values()]
        groups = [SHARED[hint] for _, _, hint in own if hint in SHARED]
        known = [each for each in own if each[-1] not in (typer.Context, *SHARED)]
        links = ", ".join(f"[{title.lower()}](#{anchor(title)})" for title in groups)
        shared = f"Also the options of {links}.\n" if groups else ""
        parts.append(
            "\n".join(
                part
                for part in (
                    f"### semiring {function.__name__.replace('_', '-')}\n",
                    f"{inspect.getdoc(function)}\n",
                    listed(known) if known else "",
                    shared,
                )
                if part
            )
        )
    return "\n".join(parts)


SHARED: dict[Any, str] = {
    Reading: "Reading a graph",
    Computing: "Computing",
    Printing: "Printing and writing",
}
"""Groups of options that several commands have."""


def anchor(title: str) -> str:
    """Where a heading is on its page."""
    return title.lower().replace(" ", "-")


def listed(options: list[tuple[str, Any, Any]]) -> str:
    """A table of options, each with its name, its default and its type."""
    rows = [option(hint, name, default) for name, default, hint in options]
    return table(["argument or option", "what it does", "by default"], *rows) + "\n"


def option(hint: Any, name: str, default: Any) -> list[str]:
    """An argument or an option of a command: how it is written, what it does, what it is by default."""
    kind, said = hint.__origin__, hint.__metadata__[0]
    of = next((known for known in VALUES if known.__name__ in str(kind)), None)
    value = "|".join(kind) if isinstance(kind, EnumType) else VALUES.get(of, "")
    values = f" One of {said.metavar.strip('[]').replace('|', ', ')}." if said.metavar and "|" in said.metavar else ""
    if isinstance(said, ArgumentInfo):
        written = name.upper()
    else:
        flag = f"--{name.replace('_', '-')}"
        usual = [flag, flag.replace("--", "--no-", 1)] if default is True else [flag]
        declared = [each for each in (said.default, *(said.param_decls or ())) if str(each).startswith("-")]
        written = f"{', '.join(declared or usual)} {value}".rstrip()
    shown = ", ".join(f"`{each}`" for each in (default if isinstance(default, list) else [default]))
    shown = "must be given" if default is inspect.Parameter.empty else "" if default is None or value == "" else shown
    shown = f"`--{name.replace('_', '-')}`" if default is True else shown
    return [f"`{written}`".replace("|", r"\|"), (said.help or "") + values, shown]


VALUES = {str: "NAME", int: "N", float: "X", Path: "FILE"}
"""What stands for a value of a type."""


TABLES: dict[Path, dict[str, Callable[[], str]]] = {
    README: {"summary": summary},
    DOCS / "formats.md": {"support": support},
    DOCS / "command-line.md": {"commands": commands},
    DOCS / "networkx.md": {"functions": networkx_functions, "costs": networkx_costs, "times": of_networkx},
    DOCS / "performance.md": {
        "peers on a CPU": peers_on_a_cpu,
        "centralities": centralities,
        "centralities on a GPU": lambda: centralities(GPU),
        "csgraph": of_csgraph,
        "factor": factors,
        "factor on a GPU": factors_on_a_gpu,
        "batches on a GPU": batches_on_a_gpu,
        "beyond a GPU": beyond_a_gpu,
        "large": of_large,
        "peers on a GPU": peers_on_a_gpu,
        "products on a CPU": products_on_a_cpu,
        "products on a GPU": products_on_a_gpu,
        "regret": regrets,
        "packing": packed_columns,
    },
}
"""The tables of each page."""


def with_tables(page: Path) -> str:
    """The page's text with its tables as they are now."""
    text = page.read_text(encoding="utf-8")
    for name, made in TABLES[page].items():
        begin, end = (f"<!-- {name}: {which} -->" for which in ("begin", "end"))
        assert begin in text, f"{page.name} has no {begin}"
        assert end in text.partition(begin)[2], f"{page.name} has no {end} behind {begin}"
        head, _, rest = text.partition(begin)
        text = f"{head}{begin}\n{made()}\n{end}{rest.partition(end)[2]}"
    return text


if __name__ == "__main__":
    for page in TABLES:
        page.write_text(with_tables(page), encoding="utf-8")
