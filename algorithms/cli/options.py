"""The options that several commands share, and the checks of them that need no file to be read."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer
from typer.core import TyperCommand

from formats import DeviceUnavailable, Matrix, ParticipantError
from formats.edges import Duplicates
from formats.places import check_device_name

from ..shared.trace import check_trace_file
from ..shared.traversal import CHOICES
from .output import STANDARD_OUTPUT, check_output, print_json

EXPECTED = (
    *(ValueError, TypeError, OverflowError, FloatingPointError),
    *(NotImplementedError, OSError, DeviceUnavailable, ParticipantError),
)
"""Errors of which a file, an option or a graph can be the reason; they are printed without a traceback."""


class Refused(ValueError):
    """The error of a command, in the words of the command line."""


class Command(TyperCommand):
    """A command that names its own options in errors, and refuses an option which is given twice.

    An option that takes several values, or is a mere flag, may stand more than once.
    """

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except Exception as error:
            if isinstance(error, BrokenPipeError) or not (
                isinstance(error, EXPECTED) or type(error) is ArithmeticError
            ):
                raise  # of the first kind, too: who reads our output has read enough
            known = {name: flag for each in self.params for name, flag in flags_of(each).items()}
            raise Refused(in_options(sentence(error), known)) from error

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        *_, order = self.make_parser(ctx).parse_args(args=list(args))
        for each in order:
            several = getattr(each, "multiple", False) or getattr(each, "is_flag", False)
            if order.count(each) > 1 and not several:
                raise ValueError(f"{each.opts[-1]} takes one value, and is given {order.count(each)} times")
        return super().parse_args(ctx, args)


def sentence(error: BaseException) -> str:
    """Returns the text of an error; for a file, its name and what is wrong with it."""
    return f"{error.strerror}: {error.filename}" if isinstance(error, OSError) and error.strerror else str(error)


def flags_of(option: Any) -> dict[str, str]:
    """How a call in Python writes an option's parameter, and how the command line does."""
    name, opts, others = str(option.name), option.opts, option.secondary_opts
    written = {} if option.param_type_name == "argument" else {name: opts[0]}
    if others:
        return written | {f"{name}=True": opts[0], f"{name}=False": others[0]}
    return written | ({"directed=False": opts[0]} if name == "undirected" else {})


def in_options(message: str, known: Mapping[str, str]) -> str:
    """The message with parameters of Python, as in `force=True`, written as the command's own options.

    Where it has no such option, the message says that it means Python.
    """

    def written(match: re.Match[str]) -> str:
        call, name = match.group(), match.group("name")
        if call in known:
            return known[call]
        if name in known:
            return known[name] + (f" {match['value']}" if match["value"] not in (None, "True") else "")
        return f"{call} in Python"

    return PARAMETER.sub(written, message)


PARAMETER = re.compile(
    r"(?<![\w.\[-])(?<!\w\()(?P<name>[a-z][a-z_]*)=(?P<value>True|False|[0-9]+|'[^']*')?(?![\w=(\[])"
)
"""A parameter of a call in Python, with its value or without."""

FileArgument = Annotated[
    Path,
    typer.Argument(
        help="A graph: .mtx, .gr, .txt, .el, .tsv, .csv, .npz, .graphml, also .gz and others; - is standard input."
    ),
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
Header = Annotated[
    bool | None,
    typer.Option("--header/--no-header", help="Of a table: is the first line a heading? By default it tells."),
]
Separator = Annotated[str | None, typer.Option(help="Of a table: what stands between fields; by default it tells.")]
Comment = Annotated[str | None, typer.Option(help="Of a table: what a comment begins with, '' for none.")]
Dup = Annotated[Duplicates, typer.Option(help="Of parallel edges take: min, max, sum, first, last, or error.")]
Json = Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")]
Undirected = Annotated[bool, typer.Option("--undirected", help="Let every edge count both ways.")]
Force = Annotated[bool, typer.Option("--force", help="Also do what would take absurdly much memory.")]
Output = Annotated[
    Path | None, typer.Option(help="Write the answer: .npy (vertex order), .tsv, or - for .tsv on standard output.")
]
Threads = Annotated[int | None, typer.Option(help="CPU threads; by default all cores of this process.", min=1)]


@dataclass(frozen=True)
class Reading:
    """Which graph is read, and how."""

    file: FileArgument
    undirected: Undirected = False
    columns: Columns = None
    header: Header = None
    separator: Separator = None
    comment: Comment = None
    dup: Dup = "min"
    force: Force = False
    threads: Threads = None

    @property
    def is_plain(self) -> bool:
        """True if nothing is said of how a table is to be read."""
        return (self.columns, self.header, self.separator, self.comment, self.dup) == (None, None, None, None, "min")


@dataclass(frozen=True)
class Computing:
    """The format that a graph is computed in, the place, and the file for what rounds did."""

    format: StorageFormat = "csr"
    device: Device = "cpu"
    trace: TraceFile = None

    def __post_init__(self) -> None:
        if self.trace is not None:
            check_trace_file(self.trace)


@dataclass(frozen=True)
class Printing:
    """The form of an answer: tables by default, JSON, or values in a file."""

    output: Output = None
    json: Json = False

    def __post_init__(self) -> None:
        if self.output is not None:
            check_output(self.output, self.json)

    def deliver(self, content: Callable[[], Any], show: Callable[[], None], save: Callable[[Path], None]) -> None:
        """Print an answer as tables or as JSON, and write its values; nothing is printed beside values on stdout."""
        if self.json:
            print_json(content())
        elif self.output != STANDARD_OUTPUT:
            show()
        if self.output is not None:
            save(self.output)


def with_options(function: Callable[..., None]) -> Callable[..., None]:
    """The function as a command: a parameter that is a dataclass of options stands for an option for each field."""
    hints = get_type_hints(function, include_extras=True)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    known: dict[str, inspect.Parameter] = {}
    for name, own in inspect.signature(function).parameters.items():
        for option, default, hint in options_of(groups[name]) if name in groups else [(name, own.default, hints[name])]:
            known[option] = inspect.Parameter(option, own.KEYWORD_ONLY, default=default, annotation=hint)

    def command(**options: Any) -> None:
        for name, group in groups.items():
            options[name] = group(**{each.name: options.pop(each.name) for each in fields(group)})
        function(**options)

    command.__name__, command.__doc__ = function.__name__, function.__doc__
    command.__annotations__ = {name: each.annotation for name, each in known.items()}
    command.__signature__ = inspect.Signature(list(known.values()))  # type: ignore[attr-defined]
    command.__wrapped__ = function  # type: ignore[attr-defined]
    return command


def options_of(group: Any) -> list[tuple[str, Any, Any]]:
    """Returns name, default and type of each option in a dataclass of them."""
    hints = get_type_hints(group, include_extras=True)
    every: tuple[Field[Any], ...] = fields(group)
    return [(f.name, inspect.Parameter.empty if f.default is MISSING else f.default, hints[f.name]) for f in every]
