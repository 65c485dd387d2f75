"""NumPy archives, `.npz`: a matrix in its own storage format, array by array, with the vertex ids.

An archive holds the format's lower-case name as `format`, every dataclass field of that format under its name, and
perhaps `labels`. Loading goes through the format's constructor, which checks everything, and never unpickles.
"""

from __future__ import annotations

import io
from dataclasses import dataclass, fields
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import DTypeLike

from ..arrays import Array
from ..base import Matrix, find_format
from .edges import Edges
from .kind import FileKind
from .source import Source


@dataclass(frozen=True)
class Stored:
    """A matrix that is there already, in any format."""

    stored: Matrix
    labels: Array

    def matrix(self, directed: bool, dtype: DTypeLike | None) -> Matrix:
        A = self.stored
        if not directed:
            A = Edges(*A.to_edges(), A.shape, self.labels).matrix(directed, A.dtype).to(type(A), **A.options)
        return A if dtype is None else A.astype(dtype)


def read(source: Source) -> Stored:
    parts = _load(source)
    name = str(parts.get("format", "nothing"))
    try:
        cls = find_format(name)
        missing = [field.name for field in fields(cls) if field.name not in parts]  # type: ignore[arg-type]
        if missing:
            raise ValueError(f"a {name} matrix needs {', '.join(missing)}, which the archive lacks")
        A = cls(**{field.name: _plain(parts[field.name]) for field in fields(cls)})  # type: ignore[arg-type]
        labels = parts.get("labels", np.arange(max(A.shape)))
        if labels.shape != (max(A.shape),) or labels.dtype.kind not in "iu":
            raise ValueError(f"labels must be {max(A.shape)} integers, got {labels.dtype} of shape {labels.shape}")
    except (TypeError, ValueError) as error:
        raise source.error(str(error)) from error
    return Stored(A, labels)


def write(stream: BinaryIO, A: Matrix, labels: Array | None) -> None:
    parts = {field.name: np.asarray(getattr(A, field.name)) for field in fields(A)}  # type: ignore[arg-type]
    if labels is not None:
        parts["labels"] = labels
    archive = io.BytesIO()  # savez goes back in what it writes, which a compressed stream cannot
    np.savez(archive, allow_pickle=False, format=np.array(type(A).__name__.lower()), **parts)
    stream.write(archive.getbuffer())


def _load(source: Source) -> dict[str, Array]:
    import zipfile
    import zlib

    archive = io.BytesIO(source.stream.read())
    try:
        with np.load(archive, allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}
    except (ValueError, TypeError, AttributeError, EOFError, MemoryError, zipfile.BadZipFile, zlib.error) as error:
        raise source.error(f"this is no .npz archive of plain arrays ({error})") from error


def _plain(part: Array) -> Any:
    return part.item() if part.ndim == 0 else part


KIND = FileKind(
    name="npz",
    description="NumPy archive of a matrix in its own storage format",
    suffixes=(".npz",),
    read=read,
    write=write,
    keeps_labels=True,
)
