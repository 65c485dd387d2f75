"""What `--output` writes, .npy in vertex order by vertex numbers, .tsv by the file's own ids; and values as JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from formats.io.writing import replacing, write_lines

from .processes import speaks

TAB = "\t"


def check_output(output: Path) -> None:
    """ValueError unless `output` can be written, and in which format is clear."""
    if output.suffix not in (".npy", ".tsv"):
        raise ValueError(f"--output must end in .npy or .tsv, got {output.name!r}")
    if not output.absolute().parent.is_dir():
        raise ValueError(f"--output {output} lies in a folder that does not exist")


def save_vectors(output: Path, labels: np.ndarray, x: np.ndarray, there: np.ndarray, absent: str) -> None:
    """Write vectors: .npy as they are, .tsv a line for each vertex, its id and its value in each.

    x: (k, n), of k = 1 the .npy is (n,).  there: (k, n) Booleans, where there is a value; .tsv has `absent` elsewhere.
    """
    if not speaks():
        return
    with replacing(str(output)) as stream:
        if output.suffix == ".npy":
            np.save(stream, x if len(x) > 1 else x[0])
            return
        for label, values, known in zip(labels.tolist(), x.T.tolist(), there.T.tolist(), strict=True):
            shown = (str(value) if k else absent for value, k in zip(values, known, strict=True))
            stream.write(f"{label}\t{TAB.join(shown)}\n".encode())


def save_edges(output: Path, labels: np.ndarray, rows: np.ndarray, cols: np.ndarray, values: np.ndarray) -> None:
    """Write m edges: .npy the two vertices of each, (m, 2); .tsv two ids and the weight, which `read` knows."""
    if not speaks():
        return
    with replacing(str(output)) as stream:
        if output.suffix == ".npy":
            np.save(stream, np.column_stack((rows, cols)))
        else:
            write_lines(stream, "{}\t{}\t{}\n", labels[rows], labels[cols], values)


def plain(value: Any) -> Any:
    """A number as Python's own, which JSON can say; text as it is."""
    value = value.item() if isinstance(value, np.generic) else value
    return str(value) if isinstance(value, float) and abs(value) == float("inf") else value
