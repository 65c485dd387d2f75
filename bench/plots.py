"""Plots in one style: lines over sizes, bars beside each other, readable on white and on black.

Saved SVGs draw their text and axes in `currentColor`, so that a page's own colour holds; PNGs are on white.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

    from .experiment import Row

INK = "#010203"
"""Stands for the page's text colour: no other element has it."""
COLOURS = ("#3b82c4", "#e07b39", "#3f9e6b", "#c94f6d", "#8a6fc2", "#a8842c", "#2aa5a5", "#7f7f7f", "#b05fb0", "#6b8e23")
MARKERS = "osD^vPX*<>"
DASHES = ("-", "--", ":")
"""Of the lines after as many as there are colours."""
PNG_DOTS_PER_INCH = 150
LETTERS_ACROSS = 64
"""Of a legend below a panel of the usual width."""
NARROW, WIDE = 0.8, 2.5
"""Decades below which a logarithmic axis has evenly spaced numbers, and from which on powers of ten only."""


def figure(panels: int = 1, *, width: float = 5.6, height: float = 3.6, columns: int = 2) -> tuple[Figure, list[Axes]]:
    """A figure of so many panels, so many of them side by side, inches each."""
    from matplotlib.figure import Figure as MatplotlibFigure

    across = min(panels, columns)
    down = -(-panels // across)
    made = MatplotlibFigure(figsize=(width * across, height * down), layout="constrained")
    axes = made.subplots(down, across, squeeze=False).ravel().tolist()
    for ax in axes[panels:]:
        ax.remove()
    for ax in axes[:panels]:
        ax.spines[["top", "right"]].set_visible(False)
        for spine in ax.spines.values():
            spine.set_color(INK)
        ax.tick_params(colors=INK, which="both")
        ax.grid(True, color="#888888", alpha=0.25, linewidth=0.6)
        ax.set_axisbelow(True)
        ax.patch.set_alpha(0)
    made.patch.set_alpha(0)
    return made, axes[:panels]


def label(ax: Axes, title: str, x: str, y: str) -> None:
    """Title and axes' names."""
    ax.set_title(title, color=INK, loc="left", fontsize=11)
    ax.set_xlabel(x, color=INK)
    ax.set_ylabel(y, color=INK)


def legend(ax: Axes, inches: float = 0.5) -> None:
    """What each colour is, so far below the axes, past their numbers and name, where it covers nothing."""
    from matplotlib.transforms import ScaledTranslation

    names = ax.get_legend_handles_labels()[1]
    if names:
        columns = max(1, min(len(names), LETTERS_ACROSS // (max(map(len, names)) + 6)))
        below = ax.transAxes + ScaledTranslation(0, -inches, ax.get_figure(root=True).dpi_scale_trans)  # type: ignore[union-attr]
        place: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (0, 0), "bbox_transform": below}
        ax.legend(frameon=False, labelcolor=INK, fontsize=8, ncols=columns, borderaxespad=0, **place)


def reference(ax: Axes, y: float) -> None:
    """A dashed line across, to compare with."""
    ax.axhline(y, color=INK, linewidth=0.8, linestyle=(0, (4, 3)), alpha=0.6)


def plain(axis: Axis) -> None:
    """Numbers, not powers, along a logarithmic axis; also between powers of ten if it spans few."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

    low, high = axis.get_view_interval()
    decades = math.log10(high / low) if 0 < low < high else 0
    if decades < NARROW:
        axis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    else:
        axis.set_major_locator(LogLocator(subs=(1, 2, 5) if decades < WIDE else (1,), numticks=12))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    axis.set_minor_formatter(NullFormatter())


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
        plain(ax.yaxis)
    legend(ax)


def bars(
    ax: Axes,
    rows: list[Row],
    group: str,
    y: str,
    *,
    by: str = "contender",
    order: Sequence[str] = (),
    log_y: bool = False,
    base: float = 0,
) -> None:
    """A group of bars for each value of `group`, a bar in it for each value of `by`.

    order: of the bars; else as they come; panels of one order have the same colours.  base: where bars start.
    """
    groups = _values(rows, group)
    colours = {name: COLOURS[k % len(COLOURS)] for k, name in enumerate(dict.fromkeys([*order, *_values(rows, by)]))}
    there = set(_values(rows, by))
    names = [name for name in colours if name in there]
    width = 0.8 / max(len(names), 1)
    for k, name in enumerate(names):
        found = {str(row[group]): row[y] for row in rows if str(row[by]) == name and row.get(y) is not None}
        places = [groups.index(g) - 0.4 + (k + 0.5) * width for g in found]
        heights = [value - base for value in found.values()]
        ax.bar(places, heights, width * 0.92, bottom=base, label=name, color=colours[name])
    level = sum(map(len, groups)) <= LETTERS_ACROSS - 4 * len(groups)
    ax.set_xticks(range(len(groups)), groups, rotation=0 if level else 30, ha="center" if level else "right")
    ax.grid(False, axis="x")
    if log_y:
        ax.set_yscale("log")
        plain(ax.yaxis)
    legend(ax, 0.5 if level else 0.9)


def _values(rows: list[Row], by: str) -> list[str]:
    """Of `by`, in the order in which they come."""
    return list(dict.fromkeys(str(row[by]) for row in rows))


def svg(made: Figure) -> str:
    """The figure as an SVG file's text."""
    import matplotlib as mpl

    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "semiring", "font.family": "sans-serif"}):
        text = StringIO()
        made.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    return text.getvalue().replace(INK, "currentColor")


def save(made: Figure, path: Path) -> None:
    """As PATH with the suffixes .svg and .png."""
    path.with_suffix(".svg").write_text(svg(made), encoding="utf-8")
    made.savefig(path.with_suffix(".png"), dpi=PNG_DOTS_PER_INCH, facecolor="white")
