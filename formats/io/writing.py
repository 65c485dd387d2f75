"""Writing: a file that appears under its name only when it is complete, and edges as lines of text.

A device or a pipe is no file to be replaced: it is written to.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import BinaryIO, cast

import numpy as np

from ..arrays import Array
from .opening import packing

EDGES_PER_BLOCK = 1 << 16


@contextmanager
def replacing(path: str) -> Iterator[BinaryIO]:
    """A stream whose content replaces the file at `path` if all goes well, and vanishes otherwise."""
    folder, name = os.path.split(path)
    if folder and not os.path.isdir(folder):
        raise FileNotFoundError(errno.ENOENT, "No such folder", folder)
    in_place = os.path.exists(path) and not os.path.isfile(path)
    temporary = path if in_place else os.path.join(folder, f".{name}.{os.urandom(4).hex()}.tmp")
    try:
        with nothing_lost(path, temporary), ExitStack() as stack:
            stream: BinaryIO = stack.enter_context(open(temporary, "wb" if in_place else "xb"))
            if (packed := packing(stream, path)) is not None:
                stream = cast(BinaryIO, stack.enter_context(packed))
            yield stream
            stack.close()
            if not in_place:
                os.replace(temporary, path)
    except BaseException:
        if not in_place:
            with suppress(FileNotFoundError):
                os.unlink(temporary)
        raise


@contextmanager
def nothing_lost(path: str, temporary: str) -> Iterator[None]:
    """Have errors of writing, as on a full disk, name what was to be written, and say that the old content is kept."""
    try:
        yield
    except OSError as error:
        of_another = error.filename is not None and not str(error.filename).startswith(temporary)
        if of_another or isinstance(error, BrokenPipeError):  # what went into a pipe is gone
            raise
        why = f"{error.strerror or error} (nothing was written, and what was there before is kept)"
        raise OSError(error.errno or errno.EIO, why, path) from error


def write_lines(stream: BinaryIO, template: str, *columns: Array) -> None:
    """One line for each row of the columns; floats are written so that they read back exactly."""
    columns = tuple(column.astype(np.int8) if column.dtype == bool else column for column in columns)
    for start in range(0, len(columns[0]), EDGES_PER_BLOCK):
        block = (column[start : start + EDGES_PER_BLOCK].tolist() for column in columns)
        stream.write("".join(map(template.format, *block)).encode())


def check_square(shape: tuple[int, int], name: str) -> None:
    """ValueError for a rectangular matrix, which the format called `name` cannot hold."""
    if shape[0] != shape[1]:
        raise ValueError(f"{name} holds square matrices only, this one is {shape[0]} x {shape[1]}: use .mtx or .npz")
