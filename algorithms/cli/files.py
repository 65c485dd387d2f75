"""`semiring info` and `semiring convert`: what a graph file holds, and the same in another file format."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from formats import CSR, Dense, Matrix, write
from formats.io import keeps_labels
from formats.io.opening import suffix_of
from formats.io.writing import replacing
from formats.storage.orientation import is_symmetric
from semiring import reduce

from .graph import Found, Stopwatch, found_in
from .options import Json, Reading
from .output import csv_of, plain, print_json
from .report import number, show_table


def info(reading: Reading, json: Json = False) -> None:
    """Describe what a graph file holds."""
    watch = Stopwatch()
    with watch.step("reading"):
        found = found_in(reading)
    A = found.A
    rows: dict[str, Any] = {"shape": f"{A.nrows:,} × {A.ncols:,}", "entries": A.nnz, "dtype": str(A.dtype)}
    if found.merged:
        rows["rows merged"] = found.merged
    by_row: Any = A.to(CSR)
    degrees = np.diff(by_row.indptr)
    if A.nnz:
        rows["values"] = f"{number(reduce(A, 'min'))} to {number(reduce(A, 'max'))}"
        rows["entries in a row"] = f"{degrees.min()} to {degrees.max():,}, on average {degrees.mean():.2f}"
    rows["rows without entries"] = int((degrees == 0).sum())
    if A.nrows == A.ncols:
        u, v, _ = by_row.to_edges()
        rows["entries on the diagonal"] = int((u == v).sum())
        rows["symmetric"] = "yes" if is_symmetric(A) else "no"
    for fmt in Matrix.formats.values():
        try:
            size = A.nrows * A.ncols * A.dtype.itemsize if fmt is Dense else A.to(fmt).nbytes
            rows[f"bytes as {fmt.__name__}"] = size
        except ValueError:
            rows[f"bytes as {fmt.__name__}"] = "refused: too much padding"
    if json:
        print_json({"rows": A.nrows, "columns": A.ncols} | {name: plain(value) for name, value in rows.items()})
    else:
        show_table(str(reading.file), rows | watch.rows)


def convert(
    reading: Reading,
    target: Annotated[Path, typer.Argument(help="The file to write; its suffix says the format.")],
    json: Json = False,
) -> None:
    """Write a graph file in another file format."""
    if target.exists() and reading.file.exists() and target.samefile(reading.file):
        raise ValueError(f"{target} is the file to read: name another one to write")
    found = found_in(reading)
    A = found.A
    if found.names is not None and (separator := SEPARATORS.get(suffix_of(str(target)))):
        write_names(target, found, separator)
    else:
        ids = found.labels if A.nrows == A.ncols and found.names is None else None
        write(target, A, labels=ids)
    kept = A.nrows != A.ncols or (suffix_of(str(target)) in SEPARATORS if found.names else keeps_labels(target))
    if json:
        print_json({"file": str(target), "rows": A.nrows, "columns": A.ncols, "entries": A.nnz, "ids kept": kept})
        return
    typer.echo(f"{target}: {A.nrows:,} × {A.ncols:,}, {A.nnz:,} entries")
    if not kept:
        typer.echo("this file format has no vertex ids: the vertices are numbered in the order of theirs")


SEPARATORS = {".csv": ",", ".tsv": "\t"}
"""Separators of the files that names are written to, by their suffixes."""


def write_names(target: Path, found: Found, separator: str) -> None:
    """Write edges between names, under a heading."""
    u, v, weights = found.A.to_edges()
    edges = zip(found.labels[u].tolist(), found.labels[v].tolist(), weights.tolist(), strict=True)
    with replacing(str(target)) as stream:
        stream.write(csv_of(chain([("source", "target", "weight")], edges), separator))
