"""The command line: `semiring` and its commands, a module for each algorithm.

Vertex ids are the file's own. Results go to stdout, errors to stderr in one sentence with exit code 2.
"""

from __future__ import annotations

import sys
import warnings
from importlib.metadata import version
from io import TextIOWrapper
from typing import Annotated, Any

import typer

from .bench import ANYTHING, bench
from .bfs import bfs
from .factor import factor, route
from .files import convert, info
from .measures import MEASURES, command_of
from .mst import mst
from .options import EXPECTED, Command, sentence, with_options
from .paths import shortest_simple_paths
from .processes import be_silent_unless_first, end_all, speaks
from .scc import scc
from .sssp import demo, sssp
from .warm_up import warm_up

__all__ = ["app", "main"]

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def show_version(asked: bool) -> None:
    """Print the version and end, if that is asked for."""
    if asked:
        typer.echo(version("semiring"))
        raise typer.Exit


@app.callback()
def about(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=show_version)
    ] = False,
) -> None:
    """Graph algorithms as sparse linear algebra over semirings."""


COMMANDS: list[Any] = [
    *[sssp, bfs, scc, mst],
    *map(command_of, MEASURES),
    *[shortest_simple_paths, factor, route, info, convert, demo, warm_up],
]
for command in COMMANDS:
    app.command(cls=Command)(with_options(command))
app.command(context_settings=ANYTHING)(bench)


def main() -> None:
    """Run the command line; an expected failure is one sentence on stderr and exit code 2."""
    try:
        with warnings.catch_warnings():
            warnings.showwarning = tell  # type: ignore[assignment]
            if isinstance(sys.stdout, TextIOWrapper):  # a console may lack letters, as that of Windows
                sys.stdout.reconfigure(errors="backslashreplace")
            be_silent_unless_first()
            app()
    except EXPECTED as error:
        fail(sentence(error))
    except MemoryError as error:
        fail(f"out of memory: {error}")
    except KeyboardInterrupt:
        typer.echo("interrupted", err=True)
        sys.exit(130)


def tell(message: Warning | str, *where: Any) -> None:
    """Write a warning as one sentence on stderr, without the line of code it comes from."""
    if speaks():
        typer.echo(f"semiring: warning: {' '.join(str(message).split())}", err=True)


def fail(message: str) -> None:
    """End with exit code 2 and one sentence, and of several processes all."""
    typer.echo(f"semiring: {' '.join(message.split())}", err=True)
    end_all()
    sys.exit(2)
