"""The kernels of programs without a GPU: g++ compiles them, and threads of the processor stand for blocks."""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from semiring.cuda import compile
from semiring.fusing import launch, regions
from semiring.fusing.device import DeviceTranslator

HEADER = Path(__file__).with_name("emulated_cuda.h")
HAS_COMPILER = shutil.which("g++") is not None
C_TYPES: dict[str, Any] = {
    "bool": ctypes.c_bool,
    "int32": ctypes.c_int32,
    "int64": ctypes.c_int64,
    "float32": ctypes.c_float,
    "float64": ctypes.c_double,
    "uint64": ctypes.c_uint64,
}


@lru_cache(maxsize=1)
def folder() -> Path:
    """Where the compiled kernels are."""
    return Path(tempfile.mkdtemp(prefix="programs"))


@lru_cache(maxsize=1)
def header() -> Path:
    """The text that all kernels share, compiled once."""
    text = f'#include "{HEADER}"\n' + compile.text_of(launch.FILES[1:], THREADS=1).replace("#pragma unroll", "")
    path = folder() / "programs.h"
    path.write_text(text, encoding="utf-8")
    subprocess.run([*COMMAND, "-x", "c++-header", str(path), "-o", f"{path}.gch"], check=True)
    return path


COMMAND = ["g++", "-std=c++20", "-O1", "-w", "-fPIC", "-ffp-contract=off", "-fwrapv", "-fno-strict-aliasing", "-pthread"]


@lru_cache(maxsize=1024)
def library(text: str, parameters: tuple[str, ...]) -> Any:
    """The function that runs a kernel by a number of blocks."""
    names = [f"p{k}" for k in range(len(parameters))]
    takes = ", ".join(f"{kind} {name}" for kind, name in zip(parameters, names, strict=True))
    entry = f'extern "C" void run(unsigned int blocks, {takes}) {{ launched(blocks, [=] {{ program({", ".join(names)}); }}); }}'
    name = hashlib.sha256((text + entry).encode()).hexdigest()[:16]
    source, binary = folder() / f"{name}.cc", folder() / f"{name}.so"
    source.write_text(f'#include "{header()}"\n{text}\n{entry}\n', encoding="utf-8")
    made = subprocess.run([*COMMAND, "-shared", str(source), "-o", str(binary)], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        raise AssertionError(f"g++ refuses a program:\n{made.stderr[:3000]}\n{text}")
    return ctypes.CDLL(str(binary)).run


class EmulatedFrame(launch.DeviceFrame):
    """One run of a kernel on the processor."""

    blocks = 3

    def __init__(self, compiled: Any, values: dict[str, Any]) -> None:
        regions.Frame.__init__(self, compiled, values)

    def launch(self, matrices: Any, things: int, given: tuple[Any, ...]) -> None:
        text = self.compiled.kernel.unit(matrices)
        head = text[text.index('program(', text.index('extern "C"')) + len("program(") : text.index(") {", text.index('extern "C"'))]
        kinds = tuple(each.rpartition(" ")[0] for each in head.split(", "))
        control, *rest = given
        asked = np.zeros(1, np.int32)
        arguments = [ctypes.c_uint(self.blocks)]
        for each in (control, asked, *rest):
            if isinstance(each, np.ndarray):
                arguments.append(ctypes.c_void_p(each.ctypes.data))
            else:
                arguments.append(C_TYPES[each.dtype.name](each.item()))
        library(text, kinds)(*arguments)


@contextmanager
def emulation(blocks: int = 3) -> Iterator[None]:
    """Lets programs on the host run as the kernels that they would be on a GPU, by so many blocks."""
    backend = regions.Backend(DeviceTranslator, launch.DeviceCompiled, EmulatedFrame)
    with mock.patch.object(regions, "backend_of", lambda place: backend), mock.patch.object(EmulatedFrame, "blocks", blocks):
        yield
