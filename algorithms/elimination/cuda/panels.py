"""How a factor is cut for a GPU: panels, the order in which they are eliminated, and that in which they are swept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from algorithms.elimination.cpu.pattern import add_up
from algorithms.elimination.cpu.plan import Plan, measure
from semiring.cpu.kernels import compiled

PANEL = 32
"""As in panels.cu: positions of a panel at most."""

SMALL_WIDTH, SMALL_COLUMNS = 8, 24
"""Positions and columns up to which a warp eliminates a panel; as in elimination.cu."""

SIDE = 64
"""As in elimination.cu: columns of a tile."""

POSITION = 8
"""Cost of a position in a sweep, in arcs."""

KEPT = 4
"""As in sweeps.cu: arcs for a thread, where there are more than threads."""

BIN = 512
"""The least that a bin of subtrees costs, in arcs."""

PANELS = np.dtype(
    [(name, np.int32) for name in ("first", "last", "end", "above")]
    + [(name, np.int64) for name in ("rows", "arcs")]
    + [(name, np.int32) for name in ("count", "parent")]
)
TILES = np.dtype([(name, np.int32) for name in ("panel", "i", "j")])
PIECES = np.dtype(
    [(name, np.int64) for name in ("arcs", "rows")] + [(name, np.int32) for name in ("x", "base", "inside", "count")]
)
"""As the structures of these names in the .cu files."""


@dataclass(frozen=True)
class Cut:
    """Panels, and what is above each position.

    panels: of PANELS.  panel_of, depth: (n,) of each position, the panel and how many positions are above.  depths: of
    the rows.  height: positions on the longest way to a root.
    """

    panels: np.ndarray
    panel_of: np.ndarray
    depth: np.ndarray
    depths: np.ndarray
    height: int


@dataclass(frozen=True)
class Levels:
    """Things by levels.  starts: (levels + 1,) where the things of each begin."""

    things: np.ndarray
    starts: np.ndarray


@dataclass(frozen=True)
class Elimination:
    """The work of elimination in each level: small panels, large ones, parts of their columns and of their updates."""

    levels: int
    small: Levels
    large: Levels
    spans: Levels
    tiles: Levels


@dataclass(frozen=True)
class Bins:
    """How subtrees are dealt out.

    each: bins of a multiprocessor, at most.  parts: of the largest subtrees that a bin has.  cut: arcs of a piece.
    threads: of a multiprocessor, which share a bin; 0 where a warp goes through it from its last position to the first.
    """

    each: int
    parts: int
    cut: int
    threads: int = 0


@dataclass(frozen=True)
class Sweeping:
    """Pieces of positions by levels; of the top first, and then of each bin, which is one level where a warp takes it.

    lanes: that share a piece of each level.  bins: the first level of the top, of each bin, and the end.  others: the
    positions that have several pieces, or none.
    """

    pieces: Levels
    lanes: np.ndarray
    bins: np.ndarray
    others: np.ndarray


def cut(plan: Plan) -> Cut:
    """The panels of a plan."""
    p, t = plan.pattern, plan.tree
    parts = -(-np.diff(p.firsts) // PANEL)
    owner = np.repeat(np.arange(parts.size), parts)
    first = p.firsts[:-1][owner] + PANEL * numbers_in_runs(parts)
    end = p.firsts[1:][owner]
    last = np.minimum(first + PANEL, end)
    panel_of = np.repeat(np.arange(first.size, dtype=np.int32), last - first)
    panels = np.empty(first.size, PANELS)
    parent = t.parent[last - 1]
    panels["first"], panels["last"], panels["end"], panels["parent"] = first, last, end, parent
    panels["above"] = np.where(parent < 0, -1, panel_of[parent]) if parent.size else parent
    panels["rows"], panels["count"] = p.row_starts[:-1][owner], np.diff(p.row_starts)[owner]
    panels["arcs"] = p.starts[first]
    depth = np.zeros(panel_of.size + 1, np.int32)
    height = int(measure(t.parent, depth)) if panel_of.size else 0
    depth = depth[:-1] - np.int32(1)
    return Cut(panels, panel_of, depth, depth[p.rows], height)


def elimination(c: Cut) -> Elimination:
    """The levels of elimination, from the leaves."""
    above = np.ascontiguousarray(c.panels["above"])
    level = np.zeros(above.size, np.int32)
    levels = int(from_leaves(above, level)) if above.size else 0
    width = c.panels["last"] - c.panels["first"]
    columns = c.panels["end"] - c.panels["last"] + c.panels["count"]
    is_small = (width <= SMALL_WIDTH) & (columns <= SMALL_COLUMNS)
    small, large = (np.flatnonzero(each).astype(np.int32) for each in (is_small, ~is_small))
    sides = -(-columns[large] // SIDE)
    spans, pairs = np.zeros(int(sides.sum()), TILES), sides * (sides + 1) // 2
    spans["panel"], spans["j"] = np.repeat(large, sides), SIDE * numbers_in_runs(sides)
    tiles, number = np.zeros(int(pairs.sum()), TILES), numbers_in_runs(pairs)
    across = ((np.sqrt(8.0 * number + 1) - 1) / 2).astype(np.int64)
    tiles["panel"], tiles["j"] = np.repeat(large, pairs), SIDE * across
    tiles["i"] = SIDE * (number - across * (across + 1) // 2)
    lists = small, large, spans, tiles
    of = level[small], level[large], level[spans["panel"]], level[tiles["panel"]]
    return Elimination(levels, *(by_levels(*each, levels) for each in zip(lists, of, strict=True)))


def sweeping(plan: Plan, c: Cut, how: Bins, multiprocessors: int) -> Sweeping:
    """The levels of a sweep, from the roots; and subtrees as bins."""
    counts, panel_of = plan.tree.counts, c.panel_of
    above = np.ascontiguousarray(c.panels["above"])
    cost = np.bincount(panel_of, counts + POSITION, above.size).astype(np.int64)
    bins, level = binned(above, cost, how.each * multiprocessors, how.parts)
    own = c.panels[panel_of]
    outer = counts - (own["last"] - np.arange(counts.size) - 1)  # arcs to columns
    parts = -(-outer // how.cut)
    x = np.repeat(np.arange(counts.size), parts)
    pieces, offset = np.empty(x.size, PIECES), how.cut * numbers_in_runs(parts)
    panels = own[x]
    inside, size = panels["end"] - panels["last"] - offset, np.minimum(outer[x] - offset, how.cut)
    pieces["arcs"] = plan.pattern.starts[x] + counts[x] - outer[x] + offset
    pieces["rows"], pieces["inside"] = panels["rows"] - inside, inside
    pieces["x"], pieces["base"], pieces["count"] = x, panels["last"] + offset, np.where(parts[x] > 1, -size, size)
    where, when = bins[panel_of[x]].astype(np.int64), level[panel_of[x]]
    if not how.threads:
        when = np.where(where == 0, when, 0)
    deepest = int(level.max(initial=0)) + 1
    key = where * deepest + when
    order = x.size - 1 - np.argsort(key[::-1], kind="stable")
    keys, begins = np.unique(key[order], return_index=True)
    starts, ends = np.append(begins, x.size), np.searchsorted(keys, deepest * np.arange(int(bins.max(initial=0)) + 2))
    mean = np.add.reduceat(size[order], begins) / np.diff(starts) if x.size else np.zeros(0)
    threads = np.where(keys < deepest, multiprocessors, 1) * how.threads
    lanes = 2 ** np.clip(np.ceil(np.log2(np.maximum(mean / KEPT, np.minimum(mean, threads / np.diff(starts))))), 0, 5)
    others = np.flatnonzero(parts != 1)
    lists = (each.astype(np.int32) for each in (lanes, ends, others))
    return Sweeping(Levels(pieces[order], starts.astype(np.int32)), *lists)


def binned(above: np.ndarray, cost: np.ndarray, most_bins: int, parts: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns for each panel its bin, 0 of the top, and its level there."""
    below, total = cost.copy(), int(cost.sum())
    add_up(above, below, np.ones(above.size, np.int64))
    count = min(max(total // BIN, 1), most_bins)
    most = total // (parts * count)
    bins, level = np.zeros(above.size, np.int32), np.zeros(above.size, np.int32)
    roots = np.flatnonzero((below <= most) & ((above < 0) | (below[above] > most)))
    middles = np.cumsum(below[roots]) - below[roots] // 2
    bins[roots] = 1 + np.minimum(middles * count // max(int(below[roots].sum()), 1), count - 1)
    from_roots(above, bins, level)
    return bins, level


@compiled
def from_leaves(above, level):
    """level: of each panel one more than of the highest below it, 0 of leaves; how many there are."""
    most = 0
    for p in range(above.size):
        most = max(most, level[p] + 1)
        if above[p] >= 0:
            at = np.uintp(above[p])
            level[at] = max(level[at], level[p] + 1)
    return most


@compiled
def from_roots(above, bins, level):
    """bins: of the roots of subtrees before, then of all below these.  level: how far below the root, or in the top."""
    for p in range(above.size - 1, -1, -1):
        if above[p] >= 0:
            at = np.uintp(above[p])
            if bins[p] == 0 or bins[at] > 0:
                bins[p], level[p] = bins[at], level[at] + 1


def by_levels(things: np.ndarray, level: np.ndarray, levels: int) -> Levels:
    """Things in the order of their levels."""
    order = np.argsort(level, kind="stable")
    return Levels(things[order], np.searchsorted(level[order], np.arange(levels + 1)).astype(np.int32))


def numbers_in_runs(counts: Any) -> np.ndarray:
    """0, 1, … up to each count."""
    ends = np.cumsum(counts)
    return np.arange(int(ends[-1]) if ends.size else 0) - np.repeat(ends - counts, counts)
