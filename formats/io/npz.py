"""NumPy archives, `.npz`: a matrix in its own storage format, array by array, with the vertex ids.

An archive holds the format's lower-case name as `format`, every dataclass field of that format under its name, and
perhaps `labels`; nothing else in it is read. The sizes that it promises are looked at first. Loading goes through the
format's constructor, which checks everything, and never unpickles.
"""

from __future__ import annotations

import io
import math
import os
import struct
import sys
from dataclasses import dataclass, fields
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import DTypeLike

from ..arrays import Array
from ..matrix.base import Matrix, find_format
from ..places import HOST
from .edges import Edges, check_dimension
from .kind import FileKind
from .source import BLOCK_BYTES, Source, is_gzip

SMALL_BYTES = 64 << 20
INFLATION = 200  # how many times the file's size its content may take beyond SMALL_BYTES


@dataclass(frozen=True)
class Stored:
    """A matrix that is there already, in any format. given: the labels in the archive.  force: see `read`."""

    stored: Matrix
    given: Array | None
    force: bool

    @property
    def labels(self) -> Array | range:
        n = max(self.stored.shape)
        if self.given is None and not self.force:
            check_dimension(n, self.stored.nnz)
        return range(n) if self.given is None else self.given

    def matrix(self, directed: bool, dtype: DTypeLike | None) -> Matrix:
        A = self.stored
        if not directed:
            A = Edges(*A.to_edges(), A.shape, range(0)).matrix(directed, A.dtype).to(type(A), **A.options)
        return A if dtype is None else A.astype(dtype)


def read(source: Source) -> Stored:
    """The matrix of an archive; ValueError for any that holds none, or unpacks to absurdly much (see `force`)."""
    import zipfile
    import zlib
    from lzma import LZMAError

    damaged = (
        *(AttributeError, EOFError, KeyError, NotImplementedError, OSError, RuntimeError, TypeError, ValueError),
        *(OverflowError, SyntaxError, UserWarning, struct.error, zipfile.BadZipFile, zlib.error, LZMAError),
    )
    try:
        archive = Archive(source)
        name = str(archive.load("format")) if "format" in archive else "nothing"
    except damaged as error:
        raise source.error(f"this is no .npz archive of plain arrays ({error})") from error
    try:
        cls = find_format(name)
        names = [field.name for field in fields(cls)]  # type: ignore[arg-type]
        missing = [name for name in names if name not in archive]
        if missing:
            raise ValueError(f"a {name} matrix needs {', '.join(missing)}, which the archive lacks")
        archive.check_sizes([*names, "labels"])
        A = cls(**{name: _plain(archive.load(name)) for name in names})
        labels = archive.load("labels") if "labels" in archive else None
        if labels is not None and (labels.shape != (max(A.shape),) or labels.dtype.kind not in "iu"):
            raise ValueError(f"labels must be {max(A.shape)} integers, got {labels.dtype} of shape {labels.shape}")
    except damaged as error:
        raise source.error(str(error).removeprefix(f"{source.path}: ")) from error
    return Stored(A, labels, source.force)


class Archive:
    """The arrays of an .npz file, each read only when it is asked for."""

    def __init__(self, source: Source) -> None:
        import zipfile

        self._source = source
        stream: BinaryIO = source.stream
        if is_gzip(source.path) or not stream.seekable():  # a .zip file is read from its end
            packed = os.fstat(stream.fileno()).st_size
            unpacked = io.BytesIO()
            while block := stream.read(BLOCK_BYTES):
                unpacked.write(block)
                source.bar.update()
                if unpacked.tell() > self._most(packed):
                    limit = self._most(packed)
                    raise ValueError(f"{packed:,} bytes unpack to more than {limit:,}: force=True reads it")
            stream = unpacked
        self._size = stream.seek(0, os.SEEK_END)
        self._zip = zipfile.ZipFile(stream)
        self._names = {entry.filename.removesuffix(".npy"): entry for entry in self._zip.infolist()}

    def _most(self, packed: int) -> int:
        """To how many bytes so many may unpack."""
        return sys.maxsize - 1 if self._source.force else max(SMALL_BYTES, INFLATION * packed)

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def check_sizes(self, names: list[str]) -> None:
        """ValueError if arrays promise what the archive does not hold, or absurdly much."""
        total = sum(self._promised(name) for name in names if name in self)
        if total > self._most(self._size):
            raise ValueError(f"{self._size:,} bytes unpack to {total:,}: force=True reads it")
        HOST.check_room("the archive", total)

    def load(self, name: str) -> Array:
        self._source.bar.update()
        self.check_sizes([name])
        with self._zip.open(self._names[name]) as member:
            loaded: Array = np.lib.format.read_array(member, allow_pickle=False)
        return loaded

    def _promised(self, name: str) -> int:
        """The bytes of an array as its header says; ValueError if the archive has fewer or more."""
        with self._zip.open(self._names[name]) as member:
            version = np.lib.format.read_magic(member)
            header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, _, dtype = header(member)
            if dtype.hasobject:
                raise ValueError("Object arrays cannot be loaded when allow_pickle=False")
            promised, held = math.prod(shape) * dtype.itemsize, self._names[name].file_size - member.tell()
        if promised != held:
            raise ValueError(f"the header of {name} promises {promised:,} bytes, the archive holds {held:,}")
        return promised


def write(stream: BinaryIO, A: Matrix, labels: Array | None) -> None:
    parts = {field.name: np.asarray(getattr(A, field.name)) for field in fields(A)}  # type: ignore[arg-type]
    if labels is not None:
        parts["labels"] = labels
    archive = io.BytesIO()  # savez goes back in what it writes, which a compressed stream cannot
    np.savez(archive, allow_pickle=False, format=np.array(type(A).__name__.lower()), **parts)
    stream.write(archive.getbuffer())


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
