"""`semiring bench`: runs the benchmarks' own program, which is in the repository beside the packages."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import typer

ROOT = Path(__file__).parents[2]
"""The repository, if this is one: an installed wheel has the three packages and no benchmarks."""
ANYTHING = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}
"""Settings of a command that passes on what follows it, --help too."""


def bench(context: typer.Context) -> None:
    """Run a benchmark by name, as `python -m bench` does; --list names the experiments, report makes the page."""
    make_importable()
    sys.argv = ["semiring bench", *context.args]
    try:
        runpy.run_module("bench", run_name="__main__")
    except ImportError as error:
        raise ValueError(f"the benchmarks cannot be imported: {error}") from error


def make_importable() -> None:
    """Let Python find the benchmarks of this repository or folder; ValueError in one sentence if there are none."""
    places = [place for place in (ROOT, Path.cwd()) if (place / "bench" / "experiments" / "__init__.py").is_file()]
    if not places:
        raise ValueError(
            "the benchmarks are not part of the installed package: run semiring bench in a checkout of the repository"
        )
    if str(places[0]) not in sys.path:
        sys.path.insert(0, str(places[0]))
