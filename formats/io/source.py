"""A file being read: plain or gzip, line by line or in blocks of whole lines, with errors that name the line."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import BinaryIO, cast

BLOCK_BYTES = 1 << 20
BAR_FROM_BYTES = 20 << 20
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
GZIP_RATIO = 4  # a guess at how much smaller a compressed graph is


class Source:
    """The rest of an open file. `line_number` counts the lines already handed out."""

    def __init__(self, path: str, stream: BinaryIO) -> None:
        self.path = path
        self.stream = stream
        self.line_number = 0
        self._unread = b""

    def line(self) -> bytes | None:
        """The next line without the blanks around it, None at the end; ValueError if the file is empty."""
        text, self._unread = self._unread or self.stream.readline(), b""
        if not text:
            if self.line_number == 0:
                raise self.error("the file is empty", 1)
            return None
        if self.line_number == 0:
            text = text.removeprefix(BYTE_ORDER_MARK)
        self.line_number += 1
        return text.strip(b" \t\r\n")

    def data_line(self, comment: bytes) -> bytes | None:
        """The next line that is neither blank nor a comment, None at the end."""
        while (line := self.line()) is not None:
            if line and line[0] not in comment:
                return line
        return None

    def header(self, pattern: bytes, expected: str, comment: bytes) -> tuple[int, ...]:
        """The integers that `pattern` finds in the next data line."""
        line = self.data_line(comment)
        match = re.fullmatch(pattern, line or b"")
        if match is None:
            raise self.mismatch(expected, line, self.line_number)
        return tuple(int(number) for number in match.groups())

    def unread(self, line: bytes) -> None:
        """Give back the line that was read last."""
        self._unread = line + b"\n"
        self.line_number -= 1

    def blocks(self) -> Iterator[bytes]:
        """The rest of the file in blocks of whole lines; `line_number` counts the lines before the current block."""
        while block := self._unread + self.stream.read(BLOCK_BYTES) + self.stream.readline():
            self._unread = b""
            yield block if block.endswith(b"\n") else block + b"\n"
            self.line_number += block.count(b"\n")

    def error(self, message: str, line: int | None = None) -> ValueError:
        """ValueError `file:line: message`."""
        return ValueError(f"{self.path}: {message}" if line is None else f"{self.path}:{line}: {message}")

    def mismatch(self, expected: str, got: bytes | None, line: int) -> ValueError:
        """ValueError for a line that is not what the format says; None is the end of the file."""
        text = "the end of the file" if got is None else repr(got[:60].decode("utf-8", "backslashreplace").strip())
        return self.error(f"expected {expected!r}, got {text}", line)


@contextmanager
def open_source(path: str, progress: bool | None = None) -> Iterator[Source]:
    """The file at `path` as a Source; damaged gzip is a ValueError."""
    with ExitStack() as stack:
        stream = stack.enter_context(_open_with_bar(path) if _wants_bar(path, progress) else open(path, "rb"))
        if not is_gzip(path):
            yield Source(path, stream)
            return
        import gzip
        import zlib

        source = Source(path, cast(BinaryIO, stack.enter_context(gzip.open(stream))))
        try:
            yield source
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            where = f" somewhere after line {source.line_number}" if source.line_number else ""
            raise source.error(f"the gzip data are damaged or cut short{where}: {error}") from error


def is_gzip(path: str) -> bool:
    return path.lower().endswith(".gz")


def _wants_bar(path: str, progress: bool | None) -> bool:
    if progress is not None:
        return progress
    size = os.path.getsize(path) * (GZIP_RATIO if is_gzip(path) else 1)
    return size > BAR_FROM_BYTES and sys.stderr is not None and sys.stderr.isatty()


def _open_with_bar(path: str) -> AbstractContextManager[BinaryIO]:
    """`path` opened for reading, with a bar on stderr that follows the bytes read from the disk."""
    import rich.console
    import rich.progress

    console = rich.console.Console(stderr=True)
    return rich.progress.open(path, "rb", description=os.path.basename(path), console=console, transient=True)
