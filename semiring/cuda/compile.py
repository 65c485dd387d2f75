"""CUDA text to a loaded module, through CuPy's compiler and with machine code kept on disk.

CuPy's own way to load a text (RawModule, ElementwiseKernel) flushes subnormal float32 numbers to zero, which no option
takes back: a weight of 1e-45 would be lost on the GPU and not on the CPU.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path
from typing import Any

from formats.arrays import cupy

from ..codegen import OPTIONS


def load(text: str, cooperative: bool = False) -> Any:
    """The module of a CUDA text, compiled for the device unless its machine code is on disk already.

    cooperative: launch its kernels with all blocks on the device at once; CuPy cuts a grid to what the device holds.
    """
    cp = cupy()
    capability = cp.cuda.Device().compute_capability
    key = repr((text, OPTIONS, cp.cuda.nvrtc.getVersion(), capability))
    file = cache_folder() / f"semiring-{hashlib.sha256(key.encode()).hexdigest()}.cubin"
    if not file.exists():
        code, _ = cp.cuda.compiler.compile_using_nvrtc(text, OPTIONS)
        write_whole(file, code)
    return cp.RawModule(path=str(file), enable_cooperative_groups=cooperative)


def cache_folder() -> Path:
    """Where CuPy keeps machine code, and so do we."""
    return Path(os.environ.get("CUPY_CACHE_DIR") or Path.home() / ".cupy" / "kernel_cache")


def write_whole(file: Path, content: bytes) -> None:
    """Write a file that other processes see whole or not at all."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=file.parent, delete=False) as part:
        part.write(content)
    os.replace(part.name, file)
