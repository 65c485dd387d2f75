"""Damaged files of arrays: whatever NumPy, SciPy or zipfile raise at one becomes a ValueError that names the file."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

LONGEST = 240
"""Characters of what another library says of a file; a damaged header can make it quote thousands."""


@contextmanager
def refusing_damage(path: str, what: str = "") -> Iterator[None]:
    """Have errors of damaged content say ValueError `path: what (why)`; those that name the file pass, and all others.

    Such others are what the system says of a file, and what a signal's handler raises, as TimeoutError.
    """
    try:
        yield
    except Exception as error:
        if not _is_of_damage(error):
            raise
        said, longest = " ".join((str(error) or type(error).__name__).split()), len(path) + LONGEST
        if not (isinstance(error, ValueError) and said.startswith(path)):
            said = f"{path}: {f'{what} ({said[:LONGEST]})' if what else said}"
        elif len(said) <= longest:
            raise
        raise ValueError(said if len(said) <= longest else f"{said[:longest]} …") from error


def _is_of_damage(error: Exception) -> bool:
    import gzip
    import struct
    import tokenize
    import zipfile
    import zlib
    from lzma import LZMAError

    if isinstance(error, OSError):
        return type(error) in (OSError, gzip.BadGzipFile) and error.errno in (None, errno.EINVAL)
    return isinstance(
        error,
        (
            *(ArithmeticError, AttributeError, EOFError, LookupError, NotImplementedError, RuntimeError, SyntaxError),
            *(TypeError, ValueError, UserWarning, LZMAError, struct.error, tokenize.TokenError, zipfile.BadZipFile),
            zlib.error,
        ),
    )
