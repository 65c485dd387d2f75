"""GPUs that are simulated on the host: a CuPy whose arrays are NumPy's, and kernels that g++ compiles (`emulated.hpp`).

It serves what `algorithms.fused.parts` does on several GPUs, and no more: that a kernel's steps, its barriers between
GPUs and the Python around it give the right answers. A grid has two blocks of 64 threads, on threads of the host.
"""

from __future__ import annotations

import ctypes
import functools
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from algorithms.fused.cuda import kernels
from formats import CSR, Partitioned
from formats.places import find_place
from semiring.algebra.codegen import Index, counting
from semiring.cuda import kernels as products
from semiring.cuda import steps

THREADS, BLOCKS = 64, 2
HEADER = Path(__file__).with_name("emulated.hpp")
ASSEMBLY = (
    (r'asm volatile\("prefetch[^;]*;" ::"l"\([^)]*\)\);', ";"),
    (r'asm volatile\("ld\.acquire[^"]*" : "=r"\((\w+)\) : "l"\(([^)]+)\) : "memory"\);', r"\1 = emulated::load(\2);"),
    (r'asm volatile\("ld\.acquire[^"]*" : "=l"\((\w+)\) : "l"\(([^)]+)\) : "memory"\);', r"\1 = emulated::load(\2);"),
    (
        r'asm volatile\("st\.release[^"]*" ::"l"\(([^)]+)\), "l"\((\w+)\) : "memory"\);',
        r"emulated::store(const_cast<unsigned long long*>(\1), \2);",
    ),
    (
        r'asm volatile\("mov\.u64 %0, %globaltimer;" : "=l"\((\w+)\)\);',
        r"\1 = std::chrono::steady_clock::now().time_since_epoch().count();",
    ),
)
"""PTX, and what is done instead."""
DYNAMIC = r"extern __shared__ __align__\(16\) (\w+(?: \w+)*) (\w+)\[\];"


@functools.cache
def library(text: str) -> Any:
    """The kernels of a CUDA text as functions of the host."""
    for pattern, instead in ASSEMBLY:
        text = re.sub(pattern, instead, text)
    text = re.sub(DYNAMIC, r"\1* const \2 = reinterpret_cast<\1*>(dynamic_memory);", text)
    names = re.findall(r'extern "C" __global__ void\s+(?:__launch_bounds__\((?:[^()]|\([^()]*\))*\)\s+)?(\w+)\(', text)
    cases = "".join(f'if (!std::strcmp(name, "{n}")) emulated::launch(&{n}, grid, threads, given);\n' for n in names)
    told = "".join(f'if (!std::strcmp(name, "{n}")) emulated::tell_widths(&{n}, to);\n' for n in names)
    widths = f'extern "C" void widths(const char* name, int* to) {{\n{told}}}\n'
    start = 'extern "C" void start(const char* name, unsigned int grid, unsigned int threads, void** given) {\n'
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "unit.cpp", Path(folder) / "unit.so"
        source.write_text(f'#include "{HEADER}"\n{text}\n{widths}{start}{cases}}}\n')
        command = ["g++", "-std=c++20", "-O0", "-w", "-fpermissive", "-shared", "-fPIC", "-pthread", str(source)]
        command.append("-fno-gnu-unique")  # or units with kernels of the same names would share their __shared__ arrays
        done = subprocess.run([*command, "-o", str(target)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return ctypes.CDLL(str(target))


class Array(np.ndarray):
    """An array of a simulated GPU."""

    ordinal: int = 0

    def __array_finalize__(self, other: Any) -> None:
        self.ordinal = getattr(other, "ordinal", current())

    @property
    def device(self) -> Any:  # type: ignore[override]
        return SimpleNamespace(id=self.ordinal)

    @property
    def data(self) -> Any:  # type: ignore[override]
        at = self.ctypes.data
        clear = functools.partial(ctypes.memset, at)
        return SimpleNamespace(ptr=at, device_id=self.ordinal, memset_async=clear)

    def get(self) -> np.ndarray:
        finish(self.ordinal)
        return np.array(self)

    def set(self, array: np.ndarray) -> None:
        self[...] = array


_here = threading.local()
_running: dict[int, list[threading.Thread]] = {}


def current() -> int:
    return getattr(_here, "ordinal", 0)


def finish(ordinal: int) -> None:
    """Wait for what was started on a simulated GPU."""
    for thread in list(_running.get(ordinal, [])):
        thread.join()


class Device:
    def __init__(self, ordinal: int | None = None) -> None:
        self.ordinal, self.before = current() if ordinal is None else ordinal, 0
        self.attributes = {"MultiProcessorCount": BLOCKS}

    def __enter__(self) -> None:
        self.before, _here.ordinal = current(), self.ordinal

    def __exit__(self, *_: Any) -> None:
        _here.ordinal = self.before

    def synchronize(self) -> None:
        finish(self.ordinal)


class Stream:
    """The current stream of the current device, on which events of that device alone can be recorded."""

    ptr = 0

    def __init__(self) -> None:
        self.ordinal = current()

    def wait_event(self, event: Event) -> None:
        finish(event.ordinal)

    def synchronize(self) -> None:
        finish(self.ordinal)


class Event:
    def __init__(self, disable_timing: bool) -> None:
        self.ordinal = current()

    def record(self, stream: Stream) -> None:
        assert self.ordinal == stream.ordinal == current(), "an event of another device"


def copied(to: int, there: int, source: int, here: int, count: int, stream: int) -> None:
    assert there != here, "a copy between GPUs within one"
    ctypes.memmove(to, source, count)


class Pinned(bytearray):
    """Memory of the host that a simulated GPU sees."""

    @property
    def ptr(self) -> int:
        return np.frombuffer(self, np.uint8).ctypes.data


def made(array: Any) -> Array:
    found = np.array(array).view(Array)
    found.ordinal = current()
    return found


class Kernels:
    """As `kernels.Kernels`."""

    def __init__(self, text: str, index: Index) -> None:
        self.index, self.library = counting(index).type, library(text)

    def plain(self, name: str, things: int, arguments: tuple[Any, ...], threads: int = THREADS) -> None:
        launch(self.library, name, (1, THREADS), arguments)

    def persistent(self, name: str, things: int, arguments: tuple[Any, ...]) -> None:
        launch(self.library, name, (BLOCKS, THREADS), arguments)

    stepwise = kernels.Kernels.stepwise


class Module:
    """As `compile.Module`."""

    def __init__(self, text: str, label: str) -> None:
        self.library = library(text)

    def get_function(self, name: str, cooperative: bool = False) -> Any:
        def start(grid: tuple[int], block: tuple[int], arguments: tuple[Any, ...], shared_mem: int = 0) -> None:
            launch(self.library, name, (*grid, *block), arguments)

        return start


def launch(kernels: Any, name: str, size: tuple[int, int], arguments: tuple[Any, ...]) -> None:
    """Start a kernel after what was started before on the same GPU. size: blocks, and threads of each."""
    held = [ctypes.c_void_p(x.ctypes.data) if isinstance(x, np.ndarray) else np.array(x) for x in arguments]
    check_widths(kernels, name, arguments)
    places = [ctypes.addressof(x) if isinstance(x, ctypes.c_void_p) else x.ctypes.data for x in held]
    given, ordinal = (ctypes.c_void_p * len(places))(*places), current()
    before = list(_running.get(ordinal, []))

    def work() -> None:
        for each in before:
            each.join()
        kernels.start(name.encode(), *size, given)
        del held[:], arguments_kept[:]

    arguments_kept = list(arguments)
    thread = threading.Thread(target=work)
    thread.start()
    _running.setdefault(ordinal, []).append(thread)
    if not name.startswith("strips"):  # which waits for no other GPU
        finish(ordinal)


def check_widths(kernels: Any, name: str, arguments: tuple[Any, ...]) -> None:
    """Has each argument as many bytes as the kernel reads? Arrays of bytes and of bits serve several types."""
    widths = (ctypes.c_int * len(arguments))()
    kernels.widths(name.encode(), widths)
    for number, (width, given) in enumerate(zip(widths, arguments, strict=True)):
        array = isinstance(given, np.ndarray) and given.dtype not in (np.uint8, np.uint32)
        bytes_of_it = -np.array(given).nbytes if width < 0 else given.itemsize if array else width
        assert width in (0, bytes_of_it), f"argument {number} of {name} has {bytes_of_it} bytes and is read as {width}"


def fake_cupy(gpus: int) -> Any:
    """The CuPy of so many simulated GPUs."""
    cp: Any = ModuleType("cupy")
    runtime = SimpleNamespace(
        getDevice=current,
        getDeviceCount=lambda: gpus,
        deviceCanAccessPeer=lambda one, other: True,
        deviceEnablePeerAccess=lambda other: None,
        memcpyPeerAsync=copied,
        memGetInfo=lambda: (1 << 40, 1 << 40),
        CUDARuntimeError=RuntimeError,
        driverGetVersion=lambda: 13000,
        runtimeGetVersion=lambda: 13000,
    )
    cp.cuda = SimpleNamespace(
        Device=Device,
        Event=Event,
        get_current_stream=Stream,
        runtime=runtime,
        get_allocator=lambda: print,
        alloc_pinned_memory=Pinned,
    )
    cp.ndarray = Array
    for name in (
        "empty",
        "empty_like",
        "zeros",
        "arange",
        "argsort",
        "ceil",
        "concatenate",
        "diff",
        "packbits",
        "cumsum",
        "flatnonzero",
        "full",
        "log2",
        "minimum",
        "sort",
        "subtract",
        "unique",
        "where",
    ):
        setattr(cp, name, functools.partial(lambda make, *args, **how: made(make(*args, **how)), getattr(np, name)))
    cp.asarray = cp.array = lambda x, dtype=None: made(np.asarray(x, dtype))
    cp.broadcast_to = functools.partial(np.broadcast_to, subok=True)
    cp.ascontiguousarray = lambda x: x if x.flags.c_contiguous else made(x)
    pool = SimpleNamespace(malloc=print, used_bytes=lambda: 0, free_bytes=lambda: 0, free_all_blocks=lambda: None)
    cp.get_default_memory_pool = lambda: pool
    return cp


def spread(A: CSR, gpus: int) -> Partitioned:
    """A in strips, one on each simulated GPU."""
    P = A.to(device=["cpu"] * gpus)
    assert isinstance(P, Partitioned)
    return placed(P)


def placed(P: Partitioned) -> Partitioned:
    """P, with each of its strips on a simulated GPU."""
    for k, part in enumerate(P.parts):
        object.__setattr__(part, "place", find_place(f"cuda:{k}"))
    object.__setattr__(P, "place", find_place("cuda:0"))
    return P


@contextmanager
def simulated(gpus: int) -> Iterator[None]:
    """So many simulated GPUs within the block."""
    with pytest.MonkeyPatch.context() as patch:
        cp = fake_cupy(gpus)
        patch.setitem(sys.modules, "cupy", cp)
        patch.setattr("formats.gpu._installed_cupys", lambda: ["cupy-cuda13x"])
        for kinds in (kernels.PATHS, kernels.PATTERNS):
            for name, kind in kinds.items():
                patch.setitem(kinds, name, replace(kind, shapes=dict.fromkeys(kind.shapes, (THREADS, 1))))
        path, pattern = kernels.path_unit, kernels.pattern_unit
        patch.setattr(kernels, "path", lambda kind, s, dtype, index: Kernels(path(kind, s, dtype, index), index))
        patch.setattr(kernels, "pattern", lambda kind, index: Kernels(pattern(kind, index), index))
        for module in (products, steps):
            patch.setattr(module, "load", Module)
        patch.setattr(products, "_kernels", products.Kernels)
        patch.setattr(steps, "_compiled", steps.Steps)
        patch.setattr(steps, "let_share", lambda kernel, most: None)
        steps.letters.cache_clear()
        yield
        steps.letters.cache_clear()
