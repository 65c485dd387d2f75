"""A file read by several processes, each its own share: the matrix in parts comes without a whole one anywhere.

    text of lines, as DIMACS, Matrix Market, algs4 and edge lists       the lines that begin in a share of the bytes
    a folder that `write` has made                                      the rows of a strip, from the mapped arrays
    gzip, .npz, PACE                                                    each process reads all, and keeps its strip

Of lines, each edge then travels to the process that holds its row.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ..arrays import Array, as_values, supported_dtype
from ..matrix.base import Matrix
from ..parts.group import Group
from ..parts.partitioned import Partitioned, assembled, balanced, check_versions, from_entries, strip_of
from ..storage.compressed import CSR
from . import mapped
from .edges import Edges, narrow
from .kind import FileKind
from .opening import compression_of
from .source import LINE_END, Buffer, Source, count_lines

CHUNK = 1 << 16
"""Bytes that are looked at a time for where a line ends."""


class Share(Source):
    """A file whose beginning every process reads, and of whose lines after that each only reads its share."""

    def __init__(self, path: str, stream: Any, bar: Any, force: bool, size: int, group: Group) -> None:
        super().__init__(path, stream, bar, force, size)
        self.group, self.skipped = group, (0, 0)

    def blocks(self) -> Iterator[Buffer]:
        begin = self.stream.tell() - (self._end - self._at)
        length, rank, count = self.size - begin, self.group.rank, self.group.size
        first, last = (self.line_from(begin + length * k // count, begin) for k in (rank, rank + 1))
        self.stream.seek(first)
        self.stream = Limited(self.stream, last - first)  # type: ignore[assignment]
        self.skipped = (begin, first)
        self._at = self._whole = self._end = 0
        self._begun, self._ended = True, False
        return super().blocks()

    def line_from(self, at: int, begin: int) -> int:
        """Where the first line begins that begins there or later."""
        if at <= begin or at >= self.size:
            return max(at, begin)
        self.stream.seek(at - 1)
        seen = b""
        while chunk := self.stream.read(CHUNK):
            seen += chunk
            if (end := LINE_END.search(seen)) is not None and (end.end() < len(seen) or len(chunk) < CHUNK):
                return at - 1 + end.end()
        return self.size

    def total(self, found: int) -> int:
        """How many all processes have found. A step of the group."""
        return sum(self.group.told("edges", found))

    def error(self, message: str, line: int | None = None) -> ValueError:
        before, (begin, first) = 0, self.skipped
        if line is not None and first > begin:
            with open(self.path, "rb") as file:
                file.seek(begin)
                before = count_lines(file.read(first - begin))
        return super().error(message, None if line is None else line + before)


class Limited(io.RawIOBase):
    """The next so many bytes of a stream."""

    def __init__(self, stream: Any, left: int) -> None:
        self.whole, self.left = stream, left

    def readinto(self, buffer: Any) -> int:
        read = self.whole.readinto(memoryview(buffer)[: self.left]) if self.left else 0
        self.left -= read
        return read


def read_lines(
    path: str, kind: FileKind, group: Group, directed: bool, dtype: DTypeLike | None, force: bool
) -> tuple[Partitioned, Array | range]:
    """Reads (the matrix, the vertices' ids) of a file of lines."""
    from ..progress import Bar

    with group.guarded("reading"), open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        with Bar(os.path.basename(path), size, file.tell, False, in_bytes=True) as bar:
            edges: Any = kind.read(Share(path, file, bar, force, size, group))
    edges = numbered(group, edges)
    with group.guarded("reading"):
        if not directed and edges.shape[0] != edges.shape[1]:
            raise ValueError(f"{path}: directed=False needs a square matrix, this one is {edges.shape}")
        both_ways = edges.both_ways or not directed
        edges = edges.mirrored() if both_ways else edges
        weights = None if edges.weights is None else narrow(edges.weights)
        own = None if weights is None or not weights.size else weights.dtype.str
    known = [each for each in group.told("dtypes", own) if each is not None]
    with group.guarded("reading"):
        common = np.result_type(*known) if known else np.dtype(np.int32)
        values = np.ones(edges.src.size, np.int32) if weights is None else weights.astype(common, copy=False)
        values = as_values(values, None if dtype is None else supported_dtype(dtype))
        lengths = np.bincount(edges.src, minlength=edges.shape[0])
    ends = np.concatenate(([0], np.cumsum(summed(group, lengths))))
    starts = balanced(ends, group.size)
    entries = edges.src, edges.dst, values
    return from_entries(group, starts, (group.rank, 1), entries, edges.shape, "min"), edges.labels


def numbered(group: Group, edges: Edges) -> Edges:
    """The edges with vertices numbered alike by all processes: where a file's ids have gaps, by all that occur."""
    if isinstance(edges.labels, range):
        return edges
    labels = np.unique(np.concatenate(group.everyone("ids", edges.labels.astype(np.int64))))
    place = np.searchsorted(labels, edges.labels)
    shape = (labels.size, labels.size)
    return Edges(place[edges.src], place[edges.dst], edges.weights, shape, labels, edges.both_ways)


def summed(group: Group, counts: Array) -> Array:
    """The sum of all processes' counts, a slice by each."""
    mine = group.exchange("row lengths", np.array_split(counts.astype(np.int64), group.size))
    return np.concatenate(group.everyone("row lengths", np.sum(mine, axis=0)))


def read_folder(path: str, group: Group) -> tuple[Partitioned, Array | range]:
    """Reads (the matrix, the vertices' ids) of a folder of mapped arrays."""
    with group.guarded("reading"):
        A, labels = mapped.opened(path)
        ids: Array | range = range(max(A.shape)) if labels is None else np.array(labels)
    return cut_here(A, group), ids


def cut_here(A: Matrix, group: Group) -> Partitioned:
    """A matrix that every process has read, or mapped: each copies its own strip."""
    with group.guarded("reading"):
        by_row: Any = A.to(CSR)
        starts = balanced(by_row.indptr, group.size)
        strip = strip_of(by_row, *list(pairwise(starts))[group.rank])
        own = CSR.trusted(*(np.array(x) for x in strip.components[:3]), strip.shape)
    return assembled(group, [own], starts, group.rank, A.shape)


def shares_lines(source: Source, kind: FileKind) -> bool:
    """True if each process can read its own share of the lines."""
    in_order = bool(kind.whole) and source.opens_like(b"", kind.whole)
    return kind.by_lines and not in_order and not compression_of(source.path)


def first_steps(group: Group, path: str, about: tuple[Any, ...]) -> None:
    """ParticipantError unless all processes run the same version and read a file of one size in one way."""
    check_versions(group)
    with group.guarded("reading"):
        size = os.path.getsize(path) if os.path.isfile(path) else 0
    group.agree("file", (os.path.basename(path), size, *map(str, about)))
