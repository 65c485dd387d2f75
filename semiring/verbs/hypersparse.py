"""Lists of edges on far more vertices than they name: verbs on the rows and columns that occur.

A COO of 2^31 × 2^31 with three entries takes 72 bytes, its row pointers as CSR take 17 GB. A verb that needs no vector
of all rows is computed on a small matrix, of the rows and columns that have an entry, and its result is put back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from formats import COO, CSR, Matrix
from formats.arrays import Array, index_dtype
from formats.matrix.workspace import FEW_OF_ALL

from .masks import Rule

ROWS = 1 << 26
"""Pointers of fewer rows, or columns, take no more than 512 MB."""


def are_lists(*matrices: Any) -> bool:
    """True if all of them are COOs, with far fewer entries in all than one has rows or columns."""
    if not all(isinstance(M, COO) for M in matrices):
        return False
    most = max(extent for M in matrices for extent in M.shape)
    return most >= ROWS and FEW_OF_ALL * sum(M.nnz for M in matrices) < most


def suit(rule: Rule, *matrices: Any) -> bool:
    """True if the matrices are lists, and so is the mask of the write rule, if any, and there is no `out`."""
    mask = rule.get("mask")
    return rule.get("out") is None and are_lists(*matrices, *(() if mask is None else (mask,)))


def computed(verb: Callable[..., Any], matrices: tuple[Any, ...], axes: tuple[str, ...]) -> Any:
    """Computes by a verb on short lists in place of the matrices, None among them as it is.

    axes: of each, letters for its rows and columns; the result's are "ij", and equal letters are numbered alike.
    """
    given = [(M, names) for M, names in zip(matrices, axes, strict=True) if M is not None]
    xp, ends, extents = given[0][0].xp, dict[str, list[Array]](), dict[str, int]()
    for M, names in given:
        for axis, indices, extent in zip(names, (M.rows, M.cols), M.shape, strict=True):
            ends.setdefault(axis, []).append(indices)
            extents[axis] = extent
    occur = {axis: xp.unique(xp.concatenate(parts)) for axis, parts in ends.items()}
    small = [
        None if M is None else _narrowed(M, *map(occur.get, names)) for M, names in zip(matrices, axes, strict=True)
    ]
    rows, cols, values = verb(*small).to_edges()
    return _listed(occur["i"].take(rows), occur["j"].take(cols), values, (extents["i"], extents["j"]))


def extracted(extract: Callable[..., Any], A: COO, rows: Array | None, cols: Array | None) -> Any:
    """A(I, J) of a list, by a small matrix that has the rows and columns asked for, too."""
    xp, occur, places = A.xp, list[Array](), list[Array | None]()
    for own, asked in ((A.rows, rows), (A.cols, cols)):
        found = xp.unique(own if asked is None else xp.concatenate((own, asked)))
        occur.append(found)
        places.append(None if asked is None else xp.searchsorted(found, asked))
    at_rows, at_cols, values = extract(_narrowed(A, *occur), *places).to_edges()
    row, col = (
        found.take(end) if asked is None else end
        for end, asked, found in zip((at_rows, at_cols), places, occur, strict=True)
    )
    shape = tuple(extent if asked is None else asked.size for extent, asked in zip(A.shape, places, strict=True))
    return _listed(row, col, values, shape)


def _narrowed(A: COO, rows: Any, cols: Any) -> COO:
    """The list with rows and columns numbered by their places among those that occur."""
    shape = (rows.size, cols.size)
    ends = (A.xp.searchsorted(occur, own) for occur, own in ((rows, A.rows), (cols, A.cols)))
    return COO.trusted(*(end.astype(index_dtype(*shape, A.nnz)) for end in ends), A.values, shape, A.major)


def _listed(rows: Array, cols: Array, values: Array, shape: Any) -> Matrix:
    """The entries as CSR; as a COO where there are far more rows."""
    index = index_dtype(*shape, values.size)
    made = COO.trusted(rows.astype(index, copy=False), cols.astype(index, copy=False), values, shape, 0)
    return made if shape[0] >= ROWS and are_lists(made) else made.to(CSR)
