"""Parts of the page of all results: a section for each experiment, and in it a run for each machine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from formats.arrays import Device

from .experiment import PARTIAL, Row

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Section:
    """The part of the page about an experiment.

    Fields as in Experiment.
    """

    name: str
    title: str
    source: str
    about: str
    columns: tuple[str, ...]
    plot: Callable[[list[Row]], Figure | None]
    devices: tuple[Device, ...]
    roads: bool

    def command(self, device: Device, *, quick: bool = False) -> str:
        """Returns the command that measures it."""
        options = [" --device cuda"] * (device == "cuda") + [" --quick" if quick else " --data FOLDER" * self.roads]
        return f"python -m bench {self.name}{''.join(options)}"


@dataclass(frozen=True)
class Run:
    """An experiment's rows on one machine, in the order in which they were measured."""

    path: Path
    rows: tuple[Row, ...]

    @property
    def first(self) -> Row:
        return self.rows[0]

    @property
    def device(self) -> Device:
        return "cuda" if "gpu" in self.first else "cpu"

    @property
    def place(self) -> str:
        """The machine, as a reader knows it."""
        return self.first.get("gpu") or f"{self.first['cores']} cores, {self.first['machine']}"

    @property
    def quick(self) -> bool:
        return bool(self.first.get("quick"))

    @property
    def stopped(self) -> bool:
        """True if it was stopped before all rows were there."""
        return self.path.name.endswith(PARTIAL)

    @property
    def measured(self) -> list[Row]:
        return [row for row in self.rows if "missing" not in row]

    @property
    def missing(self) -> list[Row]:
        return [row for row in self.rows if "missing" in row]
