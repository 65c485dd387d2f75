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

from formats import DeviceUnavailable, ParticipantError

from .bench import ANYTHING, bench
from .bfs import bfs
from .factor import factor, route
from .files import convert, info
from .mst import mst
from .options import Command
from .processes import be_silent_unless_first, end_all, speaks
from .scc import scc
from .sssp import demo, sssp
from .warm_up import warm_up

__all__ = ["app", "main"]

EXPECTED = (
    *(ValueError, TypeError, OverflowError, FloatingPointError),
    *(NotImplementedError, OSError, DeviceUnavailable, ParticipantError),
)
"""What a file, an option or a graph can be the reason of: said in a sentence, without a traceback."""

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


for command in (sssp, bfs, scc, mst, factor, route, info, convert, demo, warm_up):
    app.command(cls=Command)(command)
app.command(context_settings=ANYTHING)(bench)


def main() -> None:
    """Run the command line; an expected failure is one sentence on stderr and exit code 2."""
    try:
        with warnings.catch_warnings():
            warnings.showwarning = tell  # type: ignore[assignment]
            if isinstance(sys.stdout, TextIOWrapper):  # a console may lack letters, as that of Windows
                sys.stdout.reconfigure(errors="backslashreplace")
            be_silent_unless_first(sys.argv[1:])
            app()
    except EXPECTED as error:
        fail(f"{error.strerror}: {error.filename}" if isinstance(error, OSError) and error.strerror else str(error))
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
