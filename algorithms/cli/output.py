"""Files of `--output`, .npy in vertex order by vertex numbers, .tsv by the file's own ids; and values as JSON."""

from __future__ import annotations

import csv
import math
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import StringIO
from json import dumps
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import typer

from formats.io.writing import replacing, write_lines

from .processes import speaks

TAB = "\t"
STANDARD_OUTPUT = Path("-")


def check_output(output: Path, json: bool = False) -> None:
    """ValueError unless `output` can be written, and in which format is clear."""
    if output == STANDARD_OUTPUT:
        if json:
            raise ValueError("--json and --output - both write to standard output: give one of them")
        return
    if output.suffix not in (".npy", ".tsv"):
        raise ValueError(f"--output must end in .npy or .tsv, or be -, got {output.name!r}")
    if not output.absolute().parent.is_dir():
        raise ValueError(f"--output {output} lies in a folder that does not exist")


def print_json(content: Any) -> None:
    """Print numbers, texts, lists and dicts of these as JSON on one line."""
    typer.echo(dumps(content, ensure_ascii=False, default=plain))


def csv_of(rows: Iterable[Iterable[Any]], separator: str = ",") -> bytes:
    """Returns rows as text with separators, quoted where they must be."""
    text = StringIO()
    csv.writer(text, delimiter=separator, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


@contextmanager
def opened(output: Path) -> Iterator[BinaryIO]:
    if output != STANDARD_OUTPUT:
        with replacing(str(output)) as stream:
            yield stream
        return
    yield sys.stdout.buffer
    sys.stdout.buffer.flush()


def save_vectors(output: Path, labels: np.ndarray, x: Any, there: np.ndarray, absent: str) -> None:
    """Write vectors: .npy as they are, .tsv a line for each vertex, its id and its value in each.

    x: (k, n), or k vectors of n; of k = 1 the .npy is (n,).  there: (k, n) Booleans, where there is a value; .tsv has
    `absent` elsewhere.
    """
    if not speaks():
        return
    with opened(output) as stream:
        if output.suffix == ".npy":
            np.save(stream, np.asarray(x) if len(x) > 1 else x[0])
            return
        rows = zip(*(each.tolist() for each in x), strict=True)
        for label, values, known in zip(labels.tolist(), rows, there.T.tolist(), strict=True):
            shown = (str(value) if k else absent for value, k in zip(values, known, strict=True))
            stream.write(f"{label}\t{TAB.join(shown)}\n".encode())


def save_edges(output: Path, labels: np.ndarray, rows: np.ndarray, cols: np.ndarray, values: np.ndarray) -> None:
    """Write m edges: .npy the two vertices of each, (m, 2); .tsv two ids and the weight, which `read` knows."""
    if not speaks():
        return
    with opened(output) as stream:
        if output.suffix == ".npy":
            np.save(stream, np.column_stack((rows, cols)))
        else:
            write_lines(stream, "{}\t{}\t{}\n", labels[rows], labels[cols], values)


def plain(value: Any) -> Any:
    """A number as Python's own, which JSON can say; text as it is."""
    value = value.item() if isinstance(value, np.generic) else value
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
