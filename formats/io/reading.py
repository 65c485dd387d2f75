"""The rest of a text file, read into arrays a block at a time: first by `lines.py`, a large file by `compiled.py`."""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np

from ..arrays import Array
from .lines import EdgeLine, no_edges, read_block
from .source import Source

COMPILED_FROM_BYTES = 1 << 19
LOADED_FROM_BYTES = 1 << 22
MARGIN = 1.05


def read_edge_lines(
    source: Source, line: EdgeLine, first: int, shape: tuple[int, int] | None = None
) -> tuple[Array, Array, Array | None]:
    """Reads (src, dst, weights) of the rest of the file, ids counted from 0.

    Weights are int32, int64 or float64, or None.

    first: the file's smallest id, 0 or 1.  shape: the numbers of ids allowed as source and as target; None: any.
    Raises ValueError that names the line which is no edge, or holds an id out of range or a number above 64 bits.
    """
    src, dst, *weights = read_columns(source, line, first, shape)
    return src, dst, weights[0] if weights else None


def read_columns(source: Source, line: EdgeLine, first: int = 0, shape: tuple[int, int] | None = None) -> list[Array]:
    """The columns of `read_edge_lines`, or of lines of a weight alone that column."""
    read: Callable[..., tuple[Array, ...]] = read_block
    columns, read_bytes = [Column(part) for part in no_edges(line)], 0
    for block in source.blocks():
        if read is read_block and line.ids and worth_compiling(len(block), read_bytes):
            from .compiled import Reader

            read = Reader().read_block
        parts = read(source, line, block, first, shape)
        read_bytes += len(block)
        share = min(read_bytes / source.size, 1.0) if source.size else 0.5
        for column, part in zip(columns, parts, strict=True):
            column.append(part, share)
    return [column.finished() for column in columns]


class Column:
    """An array that grows at its end; its dtype is one that all parts have room in."""

    def __init__(self, part: Array) -> None:
        self._array, self._size = part, part.size

    def append(self, part: Array, share: float) -> None:
        """Add a part. share: how much of all there will be is then there, if more comes at the same rate."""
        size, dtype = self._size + part.size, np.result_type(self._array.dtype, part.dtype)
        if size > self._array.size or dtype != self._array.dtype:
            before, self._array = self._array, np.empty(int(size / share * MARGIN), dtype)
            self._array[: self._size] = before[: self._size]
        self._array[self._size : size] = part
        self._size = size

    def finished(self) -> Array:
        """The array, without room for more."""
        array, self._array = self._array, np.empty(0)
        array.resize(self._size, refcheck=False)  # without a copy
        return array


def worth_compiling(block_bytes: int, read_bytes: int) -> bool:
    """True if the compiled loop pays from a block of a file on, after so many bytes of it.

    Loading the loop takes as long as reading some megabytes without it.
    """
    loaded = f"{__package__}.compiled" in sys.modules
    return read_bytes + block_bytes > (COMPILED_FROM_BYTES if loaded else LOADED_FROM_BYTES)
