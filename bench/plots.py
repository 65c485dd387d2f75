"""Plots in one style: lines over sizes, bars beside each other, readable on white and on black.

Saved SVGs draw their text and axes in `currentColor`, so that a page's own colour holds; PNGs are on white.
"""

from __future__ import annotations

from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .experiment import Row

INK = "#010203"
"""Stands for the page's text colour: no other element has it."""
COLOURS = ("#3b82c4", "#e07b39", "#3f9e6b", "#c94f6d", "#8a6fc2", "#a8842c", "#2aa5a5", "#7f7f7f", "#b05fb0", "#6b8e23")
MARKERS = "osD^vPX*<>"
DASHES = ("-", "--", ":")
"""Of the lines after as many as there are colours."""
PNG_DOTS_PER_INCH = 150


def figure(panels: int = 1, *, width: float = 7.2, height: float = 4.2) -> tuple[Figure, list[Axes]]:
    """A figure of so many panels side by side, inches each."""
    from matplotlib.figure import Figure as MatplotlibFigure

    made = MatplotlibFigure(figsize=(width * panels, height), layout="constrained")
    axes = made.subplots(1, panels, squeeze=False)[0].tolist()
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)
        for spine in ax.spines.values():
            spine.set_color(INK)
        ax.tick_params(colors=INK, which="both")
        ax.grid(True, color="#888888", alpha=0.25, linewidth=0.6)
        ax.set_axisbelow(True)
        ax.patch.set_alpha(0)
    made.patch.set_alpha(0)
    return made, axes


def label(ax: Axes, title: str, x: str, y: str) -> None:
    """Title and axes' names."""
    ax.set_title(title, color=INK, loc="left", fontsize=11)
    ax.set_xlabel(x, color=INK)
    ax.set_ylabel(y, color=INK)


def legend(ax: Axes) -> None:
    """What each colour is."""
    ax.legend(frameon=False, labelcolor=INK, fontsize=8)


def lines(
    ax: Axes,
    rows: list[Row],
    x: str,
    y: str,
    *,
    by: str = "contender",
    order: Sequence[str] = (),
    log_x: bool = True,
    log_y: bool = True,
) -> None:
    """A line for each value of `by`: figure `y` over figure `x`, ascending.  order: of the lines; else as they come."""
    names = list(dict.fromkeys([*order, *(row[by] for row in rows)]))
    for k, name in enumerate(names):
        points = sorted((row[x], row[y]) for row in rows if row[by] == name and row.get(y) is not None)
        if points:
            style = {"color": COLOURS[k % len(COLOURS)], "marker": MARKERS[k % len(MARKERS)]}
            style["linestyle"] = DASHES[k // len(COLOURS) % len(DASHES)]
            ax.plot(*zip(*points, strict=True), label=name, markersize=4, linewidth=1.4, **style)  # type: ignore[arg-type]
    if log_x:
        ax.set_xscale("log", base=2)
    if log_y:
        ax.set_yscale("log")
    legend(ax)


def bars(ax: Axes, rows: list[Row], group: str, y: str, *, by: str = "contender", log_y: bool = False) -> None:
    """A group of bars for each value of `group`, a bar in it for each value of `by`."""
    groups = list(dict.fromkeys(str(row[group]) for row in rows))
    names = list(dict.fromkeys(str(row[by]) for row in rows))
    width = 0.8 / max(len(names), 1)
    for k, name in enumerate(names):
        found = {str(row[group]): row[y] for row in rows if str(row[by]) == name and row.get(y) is not None}
        places = [groups.index(g) - 0.4 + (k + 0.5) * width for g in found]
        ax.bar(places, list(found.values()), width * 0.92, label=name, color=COLOURS[k % len(COLOURS)])
    ax.set_xticks(
        range(len(groups)), groups, rotation=0 if len(groups) < 6 else 30, ha="center" if len(groups) < 6 else "right"
    )
    ax.grid(False, axis="x")
    if log_y:
        ax.set_yscale("log")
    legend(ax)


def save(made: Figure, path: Path) -> None:
    """As PATH with the suffixes .svg and .png."""
    import matplotlib as mpl

    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "semiring", "font.family": "sans-serif"}):
        text = StringIO()
        made.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
        path.with_suffix(".svg").write_text(text.getvalue().replace(INK, "currentColor"), encoding="utf-8")
        made.savefig(path.with_suffix(".png"), dpi=PNG_DOTS_PER_INCH, facecolor="white")
