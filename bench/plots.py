"""Plots in one style: lines over sizes, bars beside each other, readable on white and on black.

Saved SVGs draw their text and axes in `currentColor`, so that a page's own colour holds; PNGs are on white.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from formats.arrays import optional

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

    from .measure import Row

INK = "#010203"
"""Stands for the page's text colour: no other element has it."""
COLOURS = ("#3b82c4", "#e07b39", "#3f9e6b", "#c94f6d", "#8a6fc2", "#a8842c", "#2aa5a5", "#7f7f7f", "#b05fb0", "#6b8e23")
MARKERS = "osD^vPX*<>"
DASHES = ("-", "--", "-.")
"""Dashes of the lines, which change after as many as there are colours."""
PNG_DOTS_PER_INCH = 150
HEIGHT = 3.6
"""Inches of a panel with a legend of LINES_INSIDE lines."""
LINES_INSIDE = 2
LETTER, LINE = 0.065, 0.165
"""Inches of a legend's letter, and of its line."""
ENTRY = 9
"""Letters that an entry of a legend takes beside its name."""
MARGIN = 0.75
"""Inches of a panel left of its axes."""
LETTERS_ACROSS = 64
"""Letters of the names of groups below bars in a panel of the usual width."""
NARROW, WIDE = 0.8, 2.5
"""Decades below which a logarithmic axis has evenly spaced numbers, and above which it has powers of ten only."""


def figure(panels: int = 1, *, width: float = 5.6, columns: int = 2) -> tuple[Figure, list[Axes]]:
    """A figure of so many panels, so many of them side by side, each so many inches wide."""
    across = min(panels, columns)
    down = -(-panels // across)
    made = optional("matplotlib.figure", "a plot").Figure(figsize=(width * across, HEIGHT * down), layout="constrained")
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
    """Draws the legend of the colours `inches` below the axes, past their numbers and name, where it covers nothing.

    The figure grows by what a long one takes, so that the axes keep their height.
    """
    from matplotlib.transforms import ScaledTranslation

    names = ax.get_legend_handles_labels()[1]
    if names:
        made: Any = ax.get_figure(root=True)
        below = ax.transAxes + ScaledTranslation(0, -inches, made.dpi_scale_trans)
        place: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (0, 0), "bbox_transform": below}
        columns = _columns(ax, names)
        ax.legend(frameon=False, labelcolor=INK, fontsize=8, ncols=columns, borderaxespad=0, **place)
        lines = [0] * _grid(ax).nrows
        for other in made.axes:
            if (shown := other.get_legend()) is not None:
                row, texts = other.get_subplotspec().rowspan.start, [text.get_text() for text in shown.get_texts()]
                lines[row] = max(lines[row], -(-len(texts) // _columns(other, texts)))
        made.set_figheight(sum(HEIGHT + LINE * max(0, count - LINES_INSIDE) for count in lines))


def _columns(ax: Axes, names: list[str]) -> int:
    """The most columns in which these names, column by column, fit below the axes."""
    made: Any = ax.get_figure(root=True)
    letters = (made.get_figwidth() / _grid(ax).ncols - MARGIN) / LETTER
    for columns in range(len(names), 1, -1):
        lines, longer = divmod(len(names), columns)
        ends = [lines * k + min(k, longer) for k in range(columns + 1)]
        if sum(ENTRY + max(map(len, names[a:b])) for a, b in zip(ends[:-1], ends[1:], strict=True)) <= letters:
            return columns
    return 1


def _grid(ax: Axes) -> Any:
    """The grid of panels that the axes are one of."""
    spec: Any = ax.get_subplotspec()
    return spec.get_gridspec()


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
    dotted: str = "",
    log_x: bool = True,
    log_y: bool = True,
) -> None:
    """A line for each value of `by`: figure `y` over figure `x`, ascending.

    order: of the lines; else as they come.  dotted: how a value ends whose line is a dotted one in the colour of the
    value without this end; the legend says it once.
    """
    from matplotlib.ticker import MaxNLocator

    names = dict.fromkeys([*order, *(row[by] for row in rows)])
    places = {name: k for k, name in enumerate(dict.fromkeys(name.removesuffix(dotted) for name in names))}
    for name in names:
        points = sorted((row[x], row[y]) for row in rows if row[by] == name and row.get(y) is not None)
        if points:
            k = places[own := name.removesuffix(dotted)]
            style = {"color": COLOURS[k % len(COLOURS)], "marker": MARKERS[k % len(MARKERS)]}
            style["linestyle"] = DASHES[k // len(COLOURS) % len(DASHES)] if name == own else ":"
            style["label"] = name if name == own else "_" + name  # the legend leaves it out
            ax.plot(*zip(*points, strict=True), markersize=4, linewidth=1.4, **style)  # type: ignore[arg-type]
    if any(name not in places for name in names):
        ax.plot([], [], color=INK, linestyle=":", linewidth=1.4, label=dotted.strip(", "))
    if log_x:
        ax.set_xscale("log", base=2)
    else:
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
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


def ratios(rows: list[Row], y: str, text: str, *, order: Sequence[str]) -> Figure | None:
    """A panel for each graph: how the bars of each task stand to the line at 1; None if there is no row."""
    graphs = _values(rows, "graph")
    if not graphs:
        return None
    made, axes = figure(len(graphs), columns=1, width=9)
    for ax, graph in zip(axes, graphs, strict=True):
        bars(ax, [row for row in rows if row["graph"] == graph], "task", y, order=order, log_y=True, base=1)
        reference(ax, 1)
        label(ax, graph, "", text)
    return made


def _values(rows: list[Row], by: str) -> list[str]:
    """Returns the values of `by`, in the order in which they come."""
    return list(dict.fromkeys(str(row[by]) for row in rows))


def svg(made: Figure) -> str:
    """The figure as an SVG file's text."""
    with optional("matplotlib", "a plot").rc_context(
        {"svg.fonttype": "none", "svg.hashsalt": "semiring", "font.family": "sans-serif"}
    ):
        text = StringIO()
        made.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    return text.getvalue().replace(INK, "currentColor")


def save(made: Figure, path: Path) -> None:
    """As PATH with the suffixes .svg and .png."""
    path.with_suffix(".svg").write_text(svg(made), encoding="utf-8")
    made.savefig(path.with_suffix(".png"), dpi=PNG_DOTS_PER_INCH, facecolor="white")
