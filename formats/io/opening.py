"""Opens what is given to be read: a path, an open file, or "-" for standard input; plain, or compressed.

The name's last suffix tells how a file is compressed, and so do the first bytes of what has no name.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import IO, Any, BinaryIO, TypeAlias

Readable: TypeAlias = str | bytes | os.PathLike[str] | os.PathLike[bytes] | IO[Any]
"""A path, "-" for standard input, or an open file."""

STANDARD_INPUT = "-"
CALLED = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "Zstandard"}
COMPRESSED = {".gz": b"\x1f\x8b", ".bz2": b"BZh", ".xz": b"\xfd7zXZ\0", ".zst": b"\x28\xb5\x2f\xfd"}
"""Suffixes of compressed files, and the bytes that these begin with."""


class Held(str):
    """The name of what can be read once, and its content."""

    content: bytes

    @classmethod
    def of(cls, name: str, content: bytes) -> Held:
        """The content by its name, which tells how it is compressed."""
        ending = next((suffix for suffix, magic in COMPRESSED.items() if content.startswith(magic)), "")
        held = cls(uncompressed(name) + ending)
        held.content = content
        return held


def name_of(given: Readable) -> str:
    """The path as text; of an open file or standard input what errors call it, with its content."""
    if isinstance(given, str | bytes | os.PathLike):
        name = os.fsdecode(given)
        return Held.of("standard input", sys.stdin.buffer.read()) if name == STANDARD_INPUT else name
    if not hasattr(given, "read"):
        raise TypeError(f"expected a path or an open file, got {type(given).__name__}")
    content, path = given.read(), getattr(given, "name", None)
    name = os.fsdecode(path) if isinstance(path, str | bytes) else f"the {type(given).__name__}"
    return Held.of(name, content.encode() if isinstance(content, str) else bytes(content))


def compression_of(path: str) -> str:
    """The suffix that says how a file is compressed, or nothing."""
    return next((suffix for suffix in COMPRESSED if path.lower().endswith(suffix)), "")


def uncompressed(path: str) -> str:
    """The name without that suffix."""
    return path.removesuffix(path[len(path) - len(compression_of(path)) :])


def suffix_of(path: str) -> str:
    """The suffix that tells the kind of file, in lower case."""
    return os.path.splitext(uncompressed(path))[1].lower()


def size_of(path: str) -> int:
    """Bytes of a file, or of what is held."""
    return len(path.content) if isinstance(path, Held) else os.stat(path).st_size


def open_as_it_is(path: str) -> BinaryIO:
    """The bytes of a file, compressed as they may be."""
    return io.BytesIO(path.content) if isinstance(path, Held) else open(path, "rb")


@contextmanager
def open_content(path: str, raw: BinaryIO | None = None) -> Iterator[BinaryIO]:
    """The bytes that a file holds, unpacked; ValueError if what is compressed is damaged.

    raw: the file, if it is open already.
    """
    ending = compression_of(path)
    with ExitStack() as stack:
        stream = raw if raw is not None else stack.enter_context(open_as_it_is(path))
        if not ending:
            yield stream
            return
        try:
            yield stack.enter_context(unpacking(stream, ending, path))
        except Exception as error:
            if not _is_of_damage(error):
                raise
            raise ValueError(f"{path}: the {CALLED[ending]} data are damaged or cut short: {error}") from error


def unpacking(stream: BinaryIO, ending: str, path: str) -> Any:
    """A stream of what a compressed stream holds."""
    if ending == ".zst":
        return _unpacked(_zstandard(path), stream)
    return _module(ending).open(stream, "rb")


def _unpacked(zstandard: Any, stream: BinaryIO) -> BinaryIO:
    """Unpacks Zstandard's frames as a whole: the package's own stream takes one that is cut short for the end."""
    if zstandard.__name__ != "zstandard":
        return zstandard.open(stream, "rb")
    packed, content = stream.read(), io.BytesIO()
    while packed:
        frame = zstandard.ZstdDecompressor().decompressobj()
        content.write(frame.decompress(packed))
        if not frame.eof:
            raise EOFError("a frame has no end")
        packed = frame.unused_data
    content.seek(0)
    return content


def packing(stream: BinaryIO, path: str) -> Any:
    """A stream whose content is written compressed, as the name says; None if it is not to be.

    The same content gives the same bytes: the header has no name and no time.
    """
    ending = compression_of(path)
    if ending == ".gz":
        return _module(ending).GzipFile(filename="", mode="wb", compresslevel=6, fileobj=stream, mtime=0)
    if ending == ".zst":
        return _zstandard(path).open(stream, "wb")
    return _module(ending).open(stream, "wb") if ending else None


def _module(ending: str) -> Any:
    import bz2
    import gzip
    import lzma

    return {".gz": gzip, ".bz2": bz2, ".xz": lzma}[ending]


def _zstandard(path: str) -> Any:
    """Python's own module from 3.14 on, or the package."""
    for name in ("compression.zstd", "zstandard"):
        with suppress(ModuleNotFoundError):
            return __import__(name, fromlist=["open"])
    raise ModuleNotFoundError(f"{path}: .zst needs Python 3.14 or zstandard: pip install zstandard", name="zstandard")


def _is_of_damage(error: Exception) -> bool:
    """True if the compressed data cause the error, and not the file or who reads it."""
    import lzma
    import zlib

    if isinstance(error, OSError):
        return error.errno is None
    return isinstance(error, EOFError | zlib.error | lzma.LZMAError) or type(error).__name__ == "ZstdError"
