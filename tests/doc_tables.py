"""The tables of README and docs: what is supported and how fast it is; `python -m tests.doc_tables` rewrites them.

Each stands between <!-- NAME: begin --> and <!-- NAME: end -->, and is made from the verbs' own tables, or from rows of
`bench/results`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from enum import EnumType
from pathlib import Path
from typing import Any, cast, get_type_hints

import typer
from typer.models import ArgumentInfo

from algorithms.cli.commands import app_of
from algorithms.cli.options import Computing, Printing, Reading, options_of
from algorithms.networkx.plugin.semiring_networkx import COSTS, FUNCTIONS
from formats import CSR
from semiring import Vector, Verb, assign

from . import doc_tables_of_rows as rows
from .doc_tables_of_rows import table
from .strategies import FORMATS

ROOT = Path(__file__).parent.parent
README, DOCS = ROOT / "README.md", ROOT / "docs"


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
    for command in app_of().registered_commands:
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
    """The anchor of a heading on its page."""
    return title.lower().replace(" ", "-")


def listed(options: list[tuple[str, Any, Any]]) -> str:
    """A table of options, each with its name, its default and its type."""
    lines = [option(hint, name, default) for name, default, hint in options]
    return table(["argument or option", "what it does", "by default"], *lines) + "\n"


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
"""The words that stand for a value, by its type."""


MEASURED = DOCS / "measurements"
TABLES: dict[Path, dict[str, Callable[[], str]]] = {
    README: {"summary": rows.summary},
    DOCS / "formats.md": {"support": support},
    DOCS / "command-line.md": {"commands": commands},
    DOCS / "networkx.md": {"functions": networkx_functions, "costs": networkx_costs, "times": rows.of_networkx},
    DOCS / "performance.md": {
        "peers on a CPU": rows.peers_on_a_cpu,
        "centralities in short": rows.centralities_in_short,
        "csgraph in short": lambda: rows.of_csgraph(("NY", "dense512"), rows.CSGRAPH_IN_SHORT),
        "factor in short": rows.factors_in_short,
        "peers on a GPU": rows.peers_on_a_gpu,
        "whole algorithms on a GPU": rows.whole_algorithms_on_a_gpu,
    },
    DOCS / "scaling.md": {"two GPUs": rows.two_gpus},
    MEASURED / "speed-beside-other-libraries.md": {
        "centralities": rows.centralities,
        "centralities on a GPU": lambda: rows.centralities(rows.GPU),
        "csgraph": rows.of_csgraph,
    },
    MEASURED / "speed-of-many-questions.md": {
        "factor": rows.factors,
        "factor on a GPU": rows.factors_on_a_gpu,
        "batches on a GPU": rows.batches_on_a_gpu,
    },
    MEASURED / "speed-of-products.md": {
        "products on a CPU": rows.products_on_a_cpu,
        "products on a GPU": rows.products_on_a_gpu,
        "regret": rows.regrets,
        "packing": rows.packed_columns,
    },
    MEASURED / "speed-beyond-a-gpu.md": {"beyond a GPU": rows.beyond_a_gpu, "large": rows.of_large},
    MEASURED / "speed-of-the-papers-figures.md": {"figures": rows.figures_of_papers},
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
