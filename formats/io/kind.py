"""FileKind: all that `read` and `write` know of a file format. Each format's module declares one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

import numpy as np
from numpy.typing import DTypeLike

from ..arrays import Array
from ..matrix.base import Matrix
from .source import Source

if TYPE_CHECKING:
    from ..edges import Duplicates


class Content(Protocol):
    """The result of a reader: a matrix still to be built, and the file's own vertex ids."""

    @property
    def labels(self) -> Array | range: ...

    def matrix(self, directed: bool, dtype: DTypeLike | None, dup: Duplicates = "min") -> Matrix: ...

    def merged(self, A: Matrix, directed: bool) -> int: ...


def check_labels(labels: Array, n: int) -> None:
    """ValueError for what cannot be the ids of n vertices."""
    if labels.shape != (n,) or labels.dtype.kind not in "iu":
        raise ValueError(f"labels must be {n} integers, got {labels.dtype} of shape {labels.shape}")
    if n and labels.min() < 0:
        raise ValueError(f"labels must not be negative, got {labels.min()}")
    if not (labels[1:] > labels[:-1]).all() and len(np.unique(labels)) < n:
        raise ValueError("labels must be distinct")


@dataclass(frozen=True)
class FileKind:
    name: str  # what `format=` calls it
    description: str
    suffixes: tuple[str, ...]
    read: Callable[[Source], Content]
    write: Callable[[BinaryIO, Matrix, Array | None], Any]  # the last argument: vertex ids to write, if it keeps them
    keeps_labels: bool = False  # can the file hold vertex ids other than the ones it counts itself?
    by_lines: bool = False  # is what comes after the header an edge a line, in any order?
    comment: bytes = b""  # the characters that open a comment line before the opening
    opening: bytes = b""  # pattern of the first data, to tell it from the kinds below it with the same suffix
    banner: bytes = b""  # pattern of the first line, to tell it from any other kind, whatever the suffix
    whole: bytes = b""  # pattern of the first line if lines after the header are in a certain order all the same
