"""The commands by name, of which only the one that is called is imported, and how all of them end."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable
from importlib import import_module
from importlib.metadata import version
from io import TextIOWrapper
from typing import Annotated, Any

import typer

from .options import EXPECTED, Command, sentence, with_options
from .processes import be_silent_unless_first, end_all, speaks

FIRST = {"sssp": "sssp", "bfs": "bfs", "scc": "scc", "mst": "mst"}
LAST = {
    **{"shortest-simple-paths": "paths", "factor": "factor", "route": "factor", "info": "files", "convert": "files"},
    **{"demo": "sssp", "warm-up": "warm_up", "bench": "bench"},
}
"""The modules of commands that stand before and after those of `measures`."""


def show_version(asked: bool) -> None:
    """Print the version and end, if that is asked for."""
    if asked:
        typer.echo(version("semiring"))
        raise typer.Exit


def about(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=show_version)
    ] = False,
) -> None:
    """Graph algorithms as sparse linear algebra over semirings."""


def commands_named(name: str) -> Iterable[tuple[str, str]]:
    """The command of that name, with its module; all commands, if there is none."""
    if where := (FIRST | LAST).get(name):
        return [(name, where)]
    from .measures import MEASURES

    measures = {each.function.__name__.replace("_", "-"): "measures" for each in MEASURES}
    return [(name, "measures")] if name in measures else (FIRST | measures | LAST).items()


def app_of(called: str = "") -> typer.Typer:
    """The command line with the command of this name, or with all."""
    app = typer.Typer(
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(about)
    for name, where in commands_named(called):
        module: Any = import_module(f".{where}", __package__)
        function = getattr(module, name.replace("-", "_"))
        if name == "bench":
            app.command(context_settings=module.ANYTHING)(function)
        else:
            app.command(cls=Command)(with_options(function))
    return app


def run() -> None:
    """Run the command line; an expected failure is one sentence on stderr and exit code 2."""
    try:
        with warnings.catch_warnings():
            warnings.showwarning = tell  # type: ignore[assignment]
            if isinstance(sys.stdout, TextIOWrapper):  # a console may lack letters, as that of Windows
                sys.stdout.reconfigure(errors="backslashreplace")
            be_silent_unless_first()
            app_of(*sys.argv[1:2])()
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
