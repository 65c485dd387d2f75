"""C++ peers: a source beside this file is compiled at its first use, and kept in the user's cache.

The library's name has a hash of what it is made from: the source, the compiler's version and its flags.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import subprocess
import tempfile
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

FLAGS = ("-std=c++17", "-O3", "-DNDEBUG", "-shared", "-fPIC")


def built(source: Path, made_with: str = "") -> Any:
    """The library made from a C++ source, from the cache or new.  made_with: a version that the hash also covers.

    Raises OSError or CalledProcessError if it cannot be made.
    """
    compiler = subprocess.run(["g++", "--version"], capture_output=True, text=True, check=True).stdout
    made_from = "\n".join([source.read_text(encoding="utf-8"), compiler, *FLAGS, made_with])
    path = cache_folder() / f"{source.stem}-{hashlib.sha256(made_from.encode()).hexdigest()[:32]}.so"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent) as folder:  # renamed when complete: others may be reading
            new = Path(folder) / path.name
            subprocess.run(["g++", *FLAGS, str(source), "-o", str(new)], capture_output=True, text=True, check=True)
            new.replace(path)
    return ctypes.CDLL(str(path))


def why_not(compiled: Callable[[], Any], source: Path) -> str | None:
    """The first line of what the compiler says; None if the library can be made."""
    if shutil.which("g++") is None:
        return "there is no C++ compiler (g++)"
    try:
        compiled()
    except (OSError, subprocess.CalledProcessError) as error:
        said = (getattr(error, "stderr", None) or str(error)).strip().splitlines()
        return f"{source.name} does not compile: {said[0] if said else 'no reason given'}"
    return None


class NativeGraph:
    """A graph in the form of a C++ library, which is released when its last reference goes."""

    def __init__(self, functions: Any, n: int, *parts: np.ndarray) -> None:
        self.functions, self.handle = functions, ctypes.c_void_p()
        check(functions.make(ctypes.c_int64(n), *map(pointer, parts), ctypes.byref(self.handle)))
        functions.release.restype = None
        weakref.finalize(self, functions.release, self.handle)

    def filled(self, function: str, size: int, dtype: Any, *arguments: Any) -> np.ndarray:
        """A new array that a function of the library has filled."""
        found = np.empty(size, dtype)
        check(getattr(self.functions, function)(self.handle, *arguments, pointer(found)))
        return found


def check(status: int) -> None:
    """MemoryError, the only one there is, for a call that failed."""
    if status:
        raise MemoryError("the library in C++ has no memory for it")


def cache_folder() -> Path:
    """The user's, for this project."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "semiring"


def pointer(array: np.ndarray) -> ctypes.c_void_p:
    """To the first element."""
    return array.ctypes.data_as(ctypes.c_void_p)
