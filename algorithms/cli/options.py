"""The options that several commands share, and the checks of them that need no file to be read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from formats import Matrix
from formats.places import check_device_name

from ..shared.trace import check_trace_file
from ..shared.traversal import CHOICES, Direction
from .output import check_output


class Command(TyperCommand):
    """A command that refuses an option which is given twice, unless it takes several values or is a mere flag."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        *_, order = self.make_parser(ctx).parse_args(args=list(args))
        for each in order:
            several = getattr(each, "multiple", False) or getattr(each, "is_flag", False)
            if order.count(each) > 1 and not several:
                raise ValueError(f"{each.opts[-1]} takes one value, and is given {order.count(each)} times")
        return super().parse_args(ctx, args)


FileArgument = Annotated[
    Path, typer.Argument(help="A graph: .mtx, .gr, .txt, .el, .tsv, .csv, .npz, .graphml, also .gz.")
]
Sources = Annotated[
    list[str], typer.Option("--source", help="The vertex to start from, by its name in the file; may repeat.")
]
FORMATS = sorted(Matrix.formats)
"""Storage formats by name."""


def check_format(name: str) -> str:
    """The name in lower case, which is a usage error if no format has it."""
    if name.lower() not in FORMATS:
        raise typer.BadParameter(f"{name!r} is not one of {', '.join(FORMATS)}.")
    return name.lower()


StorageFormat = Annotated[
    str, typer.Option(help="Storage format to compute in.", metavar=f"[{'|'.join(FORMATS)}]", callback=check_format)
]


def places(device: str) -> Any:
    """A place, or the list of several, by names with commas between."""
    first, *others = device.split(",")
    return [first, *others] if others else first


def check_device(device: str) -> str:
    """The names, which is a usage error if one of them names no place."""
    for name in device.split(","):
        try:
            check_device_name(name)
        except ValueError as error:
            raise typer.BadParameter(str(error)) from error
    return device


Device = Annotated[
    str,
    typer.Option(
        "--device",
        "--backend",
        help="Where to compute: cpu, cuda, one GPU as cuda:1, or several that share the rows, as cuda:0,cuda:1.",
        metavar="PLACE",
        callback=check_device,
    ),
]
SearchDirection = Annotated[str, typer.Option(help=f"Of searches: {', '.join(CHOICES)}.")]
TraceFile = Annotated[Path | None, typer.Option(help="Write what every round did: .jsonl or .csv.")]
Columns = Annotated[
    str | None,
    typer.Option(help="Of a table: its columns of both ends, and of weights, by their headings: from,to,km."),
]
Json = Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")]
Undirected = Annotated[bool, typer.Option("--undirected", help="Let every edge count both ways.")]
Threads = Annotated[int | None, typer.Option(help="CPU threads; by default all cores of this process.", min=1)]


def check_written(output: Path | None, trace: Path | None) -> None:
    """ValueError unless the files to write can be written, and in which format is clear."""
    if output is not None:
        check_output(output)
    if trace is not None:
        check_trace_file(trace)


def check_direction(direction: Any, **rule: float) -> None:
    """ValueError unless searches can go that way, by that rule."""
    Direction(direction, **rule)


def directions(choice: str) -> tuple[str, ...]:
    """The ways in which a search of that choice may go."""
    return tuple(way for way in CHOICES if way != "auto") if choice == "auto" else (choice,)
