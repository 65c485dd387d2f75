"""Matrices in parts, as results of verbs: made strip by strip, and written by the same rule as a whole one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from formats import CSR, Matrix, Partitioned
from formats.arrays import brought
from formats.parts.partitioned import there
from formats.storage.orientation import compressed


def by_strips(A: Any, function: Callable[[CSR, int], Any]) -> Any:
    """Applies a function of a CSR and its first row, 0; to a matrix in parts strip by strip. A step of the group."""
    if not A.in_parts:
        return function(A, 0)
    rows = compressed(A, 0)
    with rows.group.guarded("values"):
        parts = [
            there(part.place, function, part.to(CSR), start)
            for part, (start, _) in zip(rows.parts, rows.rows, strict=True)
        ]
    return rows.with_parts(parts)


def strips_of(x: Any, A: Partitioned) -> list[Any]:
    """The part of a matrix, an array or None for each strip of this process, where that is: see `Partitioned.alike`."""
    if x is None:
        return [None] * len(A.parts)
    if isinstance(x, Matrix):
        found: Any = A.alike(x).parts
    else:
        found = [x[start:stop] for start, stop in A.rows]
    return [brought(strip, part.place) for strip, part in zip(found, A.parts, strict=True)]


def written(write: Any, T: Any, masked: bool) -> Partitioned:
    """Writes a result as a `MatrixWrite` says, where that or `out` is in parts. A step of the group, or several.

    TypeError if the result is in parts and `out` is not: then it would have to be gathered.
    """
    check_out(write, T)
    out: Any = write.out
    T = T if T.in_parts else out.cut(T)
    masks, outs = strips_of(write.mask, T), strips_of(out, T)
    with T.group.guarded("write"):
        parts = []
        for part, mask, own in zip(T.parts, masks, outs, strict=True):
            into = None if own is None else CSR.trusted(*own.to(CSR).components)
            rule = replace(write, shape=part.shape, mask=mask, out=into)
            parts.append(there(part.place, rule, part.to(CSR), masked))
    made = T.with_parts(parts)
    if out is None:
        return made
    out.overwrite(made)
    return out


def check_out(write: Any, A: Matrix) -> None:
    """TypeError if a matrix is in parts, and `out` is not."""
    if write.out is not None and A.in_parts and not write.out.in_parts:
        raise TypeError(
            f"out must be in parts, as the result is, got {type(write.out).__name__}: A.cut(out) cuts it like A, and "
            "A.to('csr') gathers A"
        )
