"""NumPy archives, `.npz`: a matrix in its own storage format, array by array, with the vertex ids.

An archive holds the format's lower-case name as `format`, every dataclass field of that format under its name, and
perhaps `labels`; nothing else in it is read. The sizes that it promises are looked at first. Loading goes through the
format's constructor, which checks everything, and never unpickles.

Archives of `scipy.sparse.save_npz` are read, too, of each of its formats. What one holds twice adds up, as in SciPy.
"""

from __future__ import annotations

import io
import math
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import DTypeLike

from ..arrays import Array, as_integers, as_values
from ..matrix.base import Matrix, find_format
from ..places import HOST
from .damage import refusing_damage
from .edges import Edges, check_dimension
from .kind import FileKind, check_labels
from .opening import compression_of, size_of
from .source import BLOCK_BYTES, Source

SMALL_BYTES = 64 << 20
INFLATION = 200  # how many times the file's size its content may take beyond SMALL_BYTES


if TYPE_CHECKING:
    from ..edges import Duplicates


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

    def matrix(self, directed: bool, dtype: DTypeLike | None, dup: Duplicates = "min") -> Matrix:
        A = self.stored
        if not directed:
            A = Edges(*A.to_edges(), A.shape, range(0)).matrix(directed, A.dtype, dup).to(type(A), **A.options)
        return A if dtype is None else A.astype(dtype)

    def merged(self, A: Matrix, directed: bool) -> int:
        """None, as its entries are the matrix."""
        return 0


OF_SCIPY = {  # what save_npz writes of each format, beside format, shape and data
    **dict.fromkeys(("csr", "csc", "bsr"), ("indices", "indptr")),
    "coo": ("row", "col"),
    "dia": ("offsets",),
}


def read(source: Source) -> Stored:
    """The matrix of an archive; ValueError for any that holds none, or unpacks to absurdly much (see `force`)."""
    with refusing_damage(source.path, "this is no .npz archive of plain arrays"):
        archive = Archive(source)
        name = archive.text("format")
    with refusing_damage(source.path):
        if "data" in archive and name in OF_SCIPY:
            with refusing_damage(source.path, f"its arrays are no {name} matrix of SciPy"):
                return Stored(_of_scipy(archive, name, source.force), None, source.force)
        if name is None:
            listed = ", ".join(archive.entries) or "nothing"
            raise ValueError(
                f"it has no array 'format', as archives of `write` and of SciPy's save_npz do: got {listed}"
            )
        cls = find_format(name)
        names = [field.name for field in fields(cls)]  # type: ignore[arg-type]
        archive.check(names, name)
        archive.check_sizes([*names, "labels"])
        with refusing_damage(source.path, f"its arrays are no {name} matrix"):
            A = cls(**{name: _plain(archive.load(name)) for name in names})
        labels = archive.load("labels") if "labels" in archive else None
        if labels is not None:
            check_labels(labels, max(A.shape))
    return Stored(A, labels, source.force)


def _of_scipy(archive: Archive, name: str, force: bool) -> Matrix:
    """The matrix of an archive that SciPy has written. SciPy's loops trust indices, so all are checked before."""
    from scipy import sparse

    from ..interop import from_scipy

    archive.check(["shape"], name)
    shape = tuple(archive.load("shape").tolist())
    if len(shape) != 2:
        raise ValueError(f"a matrix has two dimensions, this array of SciPy has the shape {shape}")
    archive.check(OF_SCIPY[name], name)
    archive.check_sizes(["data", *OF_SCIPY[name]])
    data = archive.load("data")
    data = as_values(data.reshape(-1)).reshape(data.shape)
    where = {part: as_integers(archive.load(part), part).astype(np.int64, copy=False) for part in OF_SCIPY[name]}
    if "indptr" in where and (np.diff(where["indptr"]) < 0).any():
        raise ValueError("indptr must not descend")
    if name == "dia":  # SciPy lets diagonals lie outside, but may wrap the numbers of those that are far away
        inside = (where["offsets"] > -shape[0]) & (where["offsets"] < shape[1])
        data, where["offsets"] = data[inside], where["offsets"][inside]
    of_kind, given = getattr(sparse, f"{name}_array"), (*where.values(),)
    S = of_kind((data, given) if name == "coo" else (data, *given), shape=shape)
    if "indptr" in where:
        S.check_format(full_check=True)
    if not force:
        check_dimension(max(shape), data.size)
    return from_scipy(S, dup="sum")


class Archive:
    """The arrays of an .npz file, each read only when it is asked for."""

    def __init__(self, source: Source) -> None:
        import zipfile

        self._source = source
        stream: BinaryIO = source.stream
        if compression_of(source.path) or not stream.seekable():  # a .zip file is read from its end
            packed = size_of(source.path)
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
        self.entries = {entry.filename.removesuffix(".npy"): entry for entry in self._zip.infolist()}

    def text(self, name: str) -> str | None:
        """An array that holds one text, also as bytes, as SciPy writes it; None if there is none."""
        if name not in self:
            return None
        text = self.load(name).item()
        return text.decode("ascii", "replace") if isinstance(text, bytes) else str(text)

    def check(self, names: Iterable[str], format: str) -> None:
        """ValueError if the archive lacks arrays that a matrix of that format is made of."""
        if missing := [name for name in names if name not in self]:
            raise ValueError(f"a {format} matrix needs {', '.join(missing)}, which the archive lacks")

    def _most(self, packed: int) -> int:
        """To how many bytes so many may unpack."""
        return sys.maxsize - 1 if self._source.force else max(SMALL_BYTES, INFLATION * packed)

    def __contains__(self, name: str) -> bool:
        return name in self.entries

    def check_sizes(self, names: list[str]) -> None:
        """ValueError if arrays promise what the archive does not hold, or absurdly much."""
        total = sum(self._promised(name) for name in names if name in self)
        if total > self._most(self._size):
            raise ValueError(f"{self._size:,} bytes unpack to {total:,}: force=True reads it")
        HOST.check_room("the archive", total)

    def load(self, name: str) -> Array:
        self._source.bar.update()
        self.check_sizes([name])
        with refusing_damage(self._source.path, f"array {name}"), self._zip.open(self.entries[name]) as member:
            loaded: Array = np.lib.format.read_array(member, allow_pickle=False)
        return loaded

    def _promised(self, name: str) -> int:
        """The bytes of an array as its header says; ValueError if the archive has fewer or more."""
        with refusing_damage(self._source.path, f"array {name}"), self._zip.open(self.entries[name]) as member:
            version = np.lib.format.read_magic(member)
            header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, _, dtype = header(member)
            if dtype.hasobject:
                raise ValueError(f"{name} holds Python objects, which are never unpickled")
            promised, held = math.prod(shape) * dtype.itemsize, self.entries[name].file_size - member.tell()
        if promised != held:
            raise ValueError(f"the header of {name} promises {promised:,} bytes, the archive holds {held:,}")
        return promised


def write(stream: BinaryIO, A: Matrix, labels: Array | None) -> None:
    parts = {field.name: np.asarray(getattr(A, field.name)) for field in fields(A)}  # type: ignore[arg-type]
    if labels is not None:
        parts["labels"] = labels
    archive = io.BytesIO()  # savez goes back in what it writes, which a compressed stream cannot
    np.savez(archive, allow_pickle=False, format=np.array(type(A).__name__.lower()), **parts)
    with archive.getbuffer() as written:
        stream.write(written)


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
