"""`python -m bench NAME`: run a benchmark by name."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from formats import DeviceUnavailable

from .cliffs.batches import BATCHES
from .cliffs.table import CLIFFS
from .experiment import Experiment, Setting, perform
from .experiments import EXPERIMENTS
from .measure import RESULTS, Disagreement
from .report import report

INTERRUPTED = 130
"""The exit code of a command that Ctrl-C has stopped, as shells have it."""

app = typer.Typer(
    add_completion=False,
    help="Benchmarks; each verifies what it times.",
    context_settings={"help_option_names": ["-h", "--help"]},
)


class Device(StrEnum):
    """Where a benchmark runs."""

    CPU = "cpu"
    CUDA = "cuda"


@app.callback(invoke_without_command=True)
def benchmarks(
    context: typer.Context,
    listed: Annotated[bool, typer.Option("--list", help="Name the experiments, and what each redraws.")] = False,
) -> None:
    """Choose a benchmark."""
    if listed:
        for experiment in EXPERIMENTS.values():
            typer.echo(f"{experiment.name:18} {experiment.title} ({experiment.source})")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(2)


@contextmanager
def told(name: str) -> Iterator[None]:
    """End a command with one sentence: exit code 1 for what cannot be run, 130 at Ctrl-C."""
    try:
        yield
    except (Disagreement, DeviceUnavailable, ValueError, OSError, ModuleNotFoundError) as error:
        typer.echo(f"{name}: {error}", err=True)
        raise typer.Exit(1) from error
    except KeyboardInterrupt as stop:
        typer.echo(f"{name}: {str(stop) or 'stopped'}", err=True)
        raise typer.Exit(INTERRUPTED) from stop


def command_of(experiment: Experiment) -> Callable[..., None]:
    """The command that runs an experiment; exit code 1, and one sentence, where contenders disagree; 130 at Ctrl-C."""

    def command(
        device: Annotated[Device, typer.Option(help="Where to run.")] = Device.CPU,
        quick: Annotated[bool, typer.Option("--quick", help="Tiny graphs, to see that everything works.")] = False,
        data: Annotated[Path | None, typer.Option(help="The folder of the road graphs' files.", exists=True)] = None,
        repeats: Annotated[int, typer.Option(help="Timed calls of each contender, fewer of slow ones.", min=1)] = 11,
        output: Annotated[Path | None, typer.Option(help="The folder for rows and plot, not bench/results.")] = None,
        graph: Annotated[
            list[str] | None, typer.Option(help="Measure only the graph of that name; repeatable.")
        ] = None,
        *,
        task: Annotated[list[str] | None, typer.Option(help="Measure only the task of that name; repeatable.")] = None,
        small: Annotated[bool, typer.Option("--small", help="Smaller graphs, which take minutes.")] = False,
        seconds: Annotated[float, typer.Option(help="Begin no call after so many seconds.", min=0)] = math.inf,
        resume: Annotated[bool, typer.Option("--resume", help="Go on with a run that was interrupted.")] = False,
    ) -> None:
        names = tuple(graph or ()), tuple(task or ())
        with told(experiment.name):
            setting = Setting(device.value, quick, data, repeats, *names, small, seconds)
            perform(experiment, setting, output, resume=resume)

    command.__doc__ = f"{experiment.title}. {experiment.source}."
    return command


for experiment in (*EXPERIMENTS.values(), CLIFFS, BATCHES):
    app.command(experiment.name)(command_of(experiment))


@app.command("report")
def report_command(
    output: Annotated[Path | None, typer.Option(help="The page, not bench/results/report.html.")] = None,
    results: Annotated[
        Path, typer.Option(help="The folder of the rows.", exists=True, file_okay=False, show_default=False)
    ] = RESULTS,
) -> None:
    """One HTML page of all results; exit code 1, and one sentence, for unverified rows, or without matplotlib."""
    with told("report"):
        typer.echo(report(output, results))
