"""Printing of tables, paths, and numbers in them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import typer

from ..shared.parents import path


def number(value: Any) -> str:
    """An integer in full, a real in at most ten significant digits; with commas, as all of a table's numbers."""
    return f"{value:,.10g}" if isinstance(value, float | np.floating) else f"{int(value):,}"


def total(values: np.ndarray) -> Any:
    """The sum, of integers without overflow and of reals in float64."""
    if values.dtype.kind == "f":
        return values.sum(dtype=np.float64)
    high, low = values >> 16, values & 0xFFFF  # neither half's sum can leave int64
    return (int(high.sum(dtype=np.int64)) << 16) + int(low.sum(dtype=np.int64))


def show_table(title: str, rows: Mapping[str, Any], headings: tuple[str, str] | None = None) -> None:
    """Print names and values in two columns, with headings if there are any."""
    from rich.console import Console
    from rich.table import Table

    typer.echo(title)
    left, right = headings or ("", "")
    table = Table(show_header=headings is not None)
    table.add_column(left, justify="right" if headings else "left")
    table.add_column(right, justify="right")
    for name, value in rows.items():
        table.add_row(name, value if isinstance(value, str) else number(value))
    Console().print(table)


def show_path(
    parent: np.ndarray, end: int, labels: np.ndarray, reached: bool, length: str | None = None, within: str = ""
) -> None:
    """Print the path to a vertex and its length, or that there is none within the bound."""
    if not reached:
        typer.echo(f"{labels[end]} cannot be reached{within}")
        return
    steps = [str(labels[v]) for v in path(parent, end)]
    measure = "" if length is None else f"length {length}, "
    typer.echo(f"to {labels[end]}: {measure}{len(steps) - 1} arcs")
    typer.echo(" -> ".join(steps))
