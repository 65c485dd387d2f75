"""Machine code on disk: a file for each kernel, named by what it was made from, which no other user can have written.

CPU kernels lie in NUMBA_CACHE_DIR or the user's cache, GPU kernels beside CuPy's, each user's in a folder of their own.
Machine code is run as it is found. So a folder counts only if it, and the file, belong to this user (or to root), and
nobody else may write to them. Where nothing can be kept, kernels are compiled in each process, and one warning says so.

A file appears whole or not at all, holds the hash of its content, and never changes. So no process waits for another.
"""

from __future__ import annotations

import hashlib
import os
import stat
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from formats.system import ROOT, open_within, others_may_write, put_in_place, user


class Refused(OSError):
    """A folder or file that another user may have written."""


@dataclass
class Store:
    """Machine code of one kind.

    kind: as in "CPU kernels".  variable: what sets the folder.  base: the folder, as the environment says now.
    """

    kind: str
    variable: str
    base: Callable[[], Path | None]
    _warned: bool = field(default=False, init=False)

    def find(self, name: str) -> bytes | None:
        """Returns the file kept under a name; None if there is none, or another user may have written it."""
        for owner in dict.fromkeys((user(), ROOT)):
            try:
                content = _read(self._folder(owner), name)
            except Refused as error:
                self._warn(str(error))
                continue
            except OSError:  # there is none
                continue
            if content is not None:
                return content
        return None

    def keep(self, name: str, content: bytes) -> None:
        """Keep machine code under a name, if that is possible; one warning says why it is not."""
        try:
            _write(self._folder(user()), name, content)
        except OSError as error:
            self._warn(str(error) if isinstance(error, Refused) else error.strerror or str(error))

    def _folder(self, owner: int) -> Path:
        base = self.base()
        if base is None:
            raise OSError("there is no home folder")
        return base / f"semiring-{owner}"

    def _warn(self, why: str) -> None:
        if not self._warned:
            self._warned = True
            warnings.warn(
                f"{self.kind} are compiled anew in every process, for their machine code cannot be kept ({why}): "
                f"set {self.variable} to a folder that only you can write to",
                RuntimeWarning,
                stacklevel=2,
            )


def _read(folder: Path, name: str) -> bytes | None:
    """The content of a file, None if the file is damaged; Refused if another user may have written it."""
    with open_within(folder, name, _check) as file:
        digest, content = file.read(32), file.read()
    return content if hashlib.sha256(name.encode() + content).digest() == digest else None


def _write(folder: Path, name: str, content: bytes) -> None:
    """Write a file that other processes see whole or not at all."""
    import tempfile

    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    _check(os.stat(folder, follow_symlinks=False), folder)
    descriptor, part = tempfile.mkstemp(dir=folder)
    try:
        with open(descriptor, "wb") as file:
            file.write(hashlib.sha256(name.encode() + content).digest() + content)
        put_in_place(part, folder / name)
    except BaseException:  # the disk is full, or Ctrl-C
        with suppress(OSError):
            os.unlink(part)
        raise


def _check(status: os.stat_result, path: Path) -> None:
    """Refused unless only this user, or root, can have written a folder or file; OSError if it is neither."""
    if not (stat.S_ISDIR(status.st_mode) or stat.S_ISREG(status.st_mode)):
        raise OSError(f"{path} is no file")
    if others_may_write(status):
        raise Refused(f"other users may write to {path}")


def cpu_folder() -> Path | None:
    """Where Numba keeps machine code, too, if NUMBA_CACHE_DIR says so; else the user's cache."""
    if named := os.environ.get("NUMBA_CACHE_DIR"):
        return Path(named)
    if cache := os.environ.get("XDG_CACHE_HOME"):
        return Path(cache)
    home = _home()
    return None if home is None else home / ".cache"


def cuda_folder() -> Path | None:
    """Where CuPy keeps machine code."""
    if named := os.environ.get("CUPY_CACHE_DIR"):
        return Path(named)
    home = _home()
    return None if home is None else home / ".cupy" / "kernel_cache"


def _home() -> Path | None:
    with suppress(RuntimeError):  # no HOME, and the user is not in the list of users
        return Path.home()
    return None


CPU = Store("CPU kernels", "NUMBA_CACHE_DIR", cpu_folder)
CUDA = Store("GPU kernels", "CUPY_CACHE_DIR", cuda_folder)
