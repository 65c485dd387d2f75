"""A matrix in a notebook: what it is, and a small picture of where it has entries; of a small one the values."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import to_device
from ..display import MOST_SHOWN, grid, in_words, table
from .contract import Storage
from .convert import to_edges

CELLS = 40
"""Cells of the picture along its longer side."""
SIDE = 160
"""Pixels of the picture along its longer side."""
SAMPLES = 1 << 16
"""Entries that the picture is made of, at most."""
CONVERTED = 1 << 24
"""Bytes up to which a matrix in a format without compressed rows or columns is taken apart to be drawn."""


def matrix_html(A: Storage) -> str:
    """A matrix's shape, format, place and memory, and where its entries are; of a small one their values, too."""
    rows = [
        ("format", type(A).__name__ + (", transposed" if A.major != getattr(type(A), "major", 0) else "")),
        ("shape", f"{A.nrows:,} × {A.ncols:,}"),
        ("entries", f"{A.nnz:,} of {A.dtype}"),
        ("place", str(A.place)),
        ("memory", f"{in_words(A.nbytes)}, kept with it {in_words(A.kept_nbytes)}"),
    ]
    if not A.all_resident:
        rows.append(("resident", f"{A.resident / A.nbytes:.0%}"))
    shown = table("matrix", rows, note=small_grid(A)) + spy(A)
    return f'<div style="display: flex; gap: 1em; align-items: center">{shown}</div>'


def small_grid(A: Storage) -> str:
    """The values of a matrix of few rows and columns in their places; "" of a larger one, or if others hold a part."""
    group = getattr(A, "group", None)
    if max(A.shape) > MOST_SHOWN or 0 in A.shape or (group is not None and group.size > 1):
        return ""
    return grid(A.shape, zip(*(to_device(part, "cpu") for part in to_edges(A)), strict=True))


def spy(A: Storage) -> str:
    """A picture as SVG: the darker a cell, the more entries. "" of a matrix that cannot be looked at in little time."""
    places = some_places(A)
    if places is None or not A.nrows or not A.ncols:
        return ""
    longer = max(A.shape)
    height, width = (max(1, round(CELLS * extent / longer)) for extent in A.shape)
    found = np.zeros((height, width), np.int64)
    rows, cols = (
        (place.astype(np.int64) * cells // extent)
        for place, cells, extent in zip(places, (height, width), A.shape, strict=True)
    )
    np.add.at(found, (rows, cols), 1)
    top, scale = max(int(found.max()), 1), SIDE / max(height, width)
    marks = "".join(
        f'<path d="M{col} {row}h1v1h-1z" fill-opacity="{0.25 + 0.75 * found[row, col] / top:.2f}"/>'
        for row, col in np.argwhere(found).tolist()
    )
    label = f"where {A.nrows:,} × {A.ncols:,} positions have entries"
    return (
        f'<svg role="img" aria-label="{label}" width="{width * scale:.0f}" height="{height * scale:.0f}" '
        f'viewBox="0 0 {width} {height}" style="border: 1px solid currentColor" fill="currentColor">{marks}</svg>'
    )


def some_places(A: Storage) -> tuple[np.ndarray, np.ndarray] | None:
    """Picks (rows, columns) of entries spread over the matrix, on the host; None if that takes long."""
    group = getattr(A, "group", None)
    if group is not None and group.size > 1:  # processes that hold it in parts would all have to be asked
        return None
    if A.nnz == 0:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    indptr, indices = getattr(A, "indptr", None), getattr(A, "indices", None)
    if indptr is not None and indices is not None:
        at = _spread(A, A.nnz)
        found = A.xp.searchsorted(indptr, at, side="right") - 1, indices[at]
    elif A.nbytes <= CONVERTED:
        rows, cols, _ = to_edges(A)
        at = _spread(A, A.nnz)
        return to_device(rows[at], "cpu"), to_device(cols[at], "cpu")
    else:
        return None
    majors, minors = (to_device(part, "cpu") for part in found)
    return (majors, minors) if A.major == 0 else (minors, majors)


def _spread(A: Storage, entries: int) -> Any:
    """The numbers of some entries, as far apart as can be."""
    return A.xp.linspace(0, entries - 1, min(entries, SAMPLES)).astype(np.int64)
