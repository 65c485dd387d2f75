"""A file being read: plain or gzip, line by line or in blocks of whole lines, with errors that name the line.

A line ends with a line feed, a carriage return, or both, as with Python's universal newlines. Two limits keep a small
compressed file from asking for much: LINE_BYTES for a line, and HEADER_BYTES for the comments before the data.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from io import BufferedIOBase
from typing import BinaryIO, cast

from ..progress import Bar
from .opening import compression_of, open_as_it_is, open_content, size_of

BLOCK_BYTES = 1 << 20
LINE_BYTES = 1 << 20
SPARE_BYTES = 16  # behind every block, so that eight bytes can be loaded wherever it has one
HEADER_BYTES = 1 << 24
OPENING_BYTES = 1 << 12
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
Buffer = bytes | memoryview
LINE_END = re.compile(rb"\r\n?+|\n")


class Source:
    """The rest of an open file. `line_number` counts the lines already handed out.

    force: read what a limit would refuse as absurdly large.  size: how many bytes there are, 0 if that is not known.
    """

    def __init__(self, path: str, stream: BinaryIO, bar: Bar, force: bool = False, size: int = 0) -> None:
        self.path = path
        self.stream = stream
        self.bar = bar
        self.force = force
        self.size = size
        self.line_number = 0
        self._text = bytearray()
        self._at = self._whole = self._end = 0  # as far the text was handed out, is whole lines, was read
        self._last_line_at = 0
        self._begun = self._ended = False

    def line(self) -> bytes | None:
        """The next line without the blanks around it, None at the end; ValueError if the file is empty."""
        while self._at == self._whole:
            if not self._fill():
                if self.line_number == 0:
                    raise self.error("the file is empty", 1)
                return None
        end = LINE_END.search(self._text, self._at)
        assert end is not None
        self._last_line_at, self._at = self._at, end.end()
        self.line_number += 1
        return bytes(self._text[self._last_line_at : end.start()]).strip(b" \t")

    def unread(self) -> None:
        """Give back the line that was read last."""
        self._at = self._last_line_at
        self.line_number -= 1

    def skip(self, comment: bytes) -> None:
        """Pass over the blank lines and comments that come next."""
        comments = rb"(?:[%s][^\r\n]*+)?+" % re.escape(comment) if comment else b""
        lines, skipped = re.compile(rb"(?:[ \t]*+%s(?:\r\n?+|\n))*+" % comments), 0
        while self._at < self._whole or self._fill():
            start, self._at = self._at, lines.match(self._text, self._at, self._whole).end()  # type: ignore[union-attr]
            self.line_number += count_lines(self._text[start : self._at])
            skipped += self._at - start
            if self._at < self._whole:
                return
            if skipped > HEADER_BYTES:
                raise self.error(f"expected data, got {skipped:,} bytes of comments and blank lines", self.line_number)

    def data_line(self, comment: bytes) -> bytes | None:
        """The next line that is neither blank nor a comment, None at the end."""
        self.skip(comment)
        return self.line()

    def opens_like(self, comment: bytes, pattern: bytes) -> bool:
        """True if what comes after blank lines and comments matches."""
        self.skip(comment)
        while self._end - self._at < OPENING_BYTES and self._fill():
            pass
        return re.compile(pattern).match(self._text, self._at) is not None

    def header(self, pattern: bytes, expected: str, comment: bytes) -> tuple[int, ...]:
        """The integers that `pattern` finds in the next data line."""
        line = self.data_line(comment)
        match = re.fullmatch(pattern, line or b"")
        if match is None:
            raise self.mismatch(expected, line, self.line_number)
        return tuple(int(number) for number in match.groups())

    def blocks(self) -> Iterator[Buffer]:
        """The rest of the file in blocks of whole lines, with SPARE_BYTES behind, each in the memory of the last.

        Who takes one adds its lines to `line_number`.
        """
        while self._at < self._whole or self._fill():
            start, self._at = self._at, self._whole
            if start < self._whole:
                yield memoryview(self._text)[start : self._whole]

    def total(self, found: int) -> int:
        """How many there are in the file, of what this source has found so many of: as many, for it is all of it."""
        return found

    def error(self, message: str, line: int | None = None) -> ValueError:
        """ValueError `file:line: message`."""
        return ValueError(f"{self.path}: {message}" if line is None else f"{self.path}:{line}: {message}")

    def mismatch(self, expected: str, got: bytes | None, line: int) -> ValueError:
        """ValueError for a line that is not what the format says; None is the end of the file."""
        text = "the end of the file" if got is None else repr(got[:60].decode("utf-8", "backslashreplace").strip())
        return self.error(f"expected {expected!r}, got {text}", line)

    def _fill(self) -> bool:
        """Read on; False at the end. Whole lines may not have become more."""
        if self._ended:
            return False
        rest, size = self._end - self._at, BLOCK_BYTES if self._begun else max(BLOCK_BYTES, len(BYTE_ORDER_MARK))
        before = self._text
        if rest + size + SPARE_BYTES > len(before):
            self._text = bytearray(2 * rest + size + SPARE_BYTES)
        self._text[:rest] = before[self._at : self._end]
        read = cast(BufferedIOBase, self.stream).readinto(memoryview(self._text)[rest : rest + size])
        self.bar.update()
        self._at, self._end, self._ended = 0, rest + read, read == 0
        if not self._begun:
            self._begun, self._at = True, len(BYTE_ORDER_MARK) * self._text.startswith(BYTE_ORDER_MARK, 0, read)
        if self._ended and self._at < self._end and self._text[self._end - 1] not in b"\r\n":
            self._text[self._end] = ord("\n")
            self._end += 1
        if self._ended:
            self._whole = self._end
        else:  # a line feed may follow a carriage return at the end
            feed, carriage = (self._text.rfind(end, 0, self._end - k) for k, end in enumerate((b"\n", b"\r")))
            self._whole = max(self._at, feed + 1, carriage + 1)
        if self._end - self._whole > LINE_BYTES:
            line = self.line_number + count_lines(self._text[: self._whole]) + 1
            raise self.error(f"a line has at most {LINE_BYTES:,} bytes, this one is longer", line)
        return not self._ended or self._whole > self._at


def count_lines(block: bytes | bytearray) -> int:
    """How many lines end in the block."""
    returns = block.count(b"\r")
    return block.count(b"\n") + (returns - block.count(b"\r\n") if returns else 0)


@contextmanager
def open_source(path: str, progress: bool | None = None, force: bool = False) -> Iterator[Source]:
    """The file at `path` as a Source; ValueError if its compressed data are damaged."""
    with ExitStack() as stack:
        file = stack.enter_context(open_as_it_is(path))
        size, wanted = size_of(path), progress if file.seekable() else False
        bar = stack.enter_context(Bar(os.path.basename(path), size, file.tell, wanted, in_bytes=True))
        stream = stack.enter_context(open_content(path, file))
        yield Source(path, stream, bar, force, 0 if compression_of(path) else size)
