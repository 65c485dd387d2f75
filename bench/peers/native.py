"""C++ peers: a source beside this file is compiled at its first use, and kept in the user's cache.

The library's name has a hash of what it is made from: the source, the compiler's version and its flags.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import subprocess
import tempfile
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


def why_not(error: Exception, source: Path) -> str:
    """The first line of what the compiler says."""
    said = (getattr(error, "stderr", None) or str(error)).strip().splitlines()
    return f"{source.name} does not compile: {said[0] if said else 'no reason given'}"


def cache_folder() -> Path:
    """The user's, for this project."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "semiring"


def pointer(array: np.ndarray) -> ctypes.c_void_p:
    """To the first element."""
    return array.ctypes.data_as(ctypes.c_void_p)
