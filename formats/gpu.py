"""Getting to a GPU: CuPy, or the reason why it cannot be had. Nothing here is asked before somebody wants a GPU."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from . import system


class DeviceUnavailable(RuntimeError):
    """`device="cuda"` was asked for where it cannot be had; the message says why, in one sentence.

    Example:
        >>> from formats import from_edges
        >>> try:
        ...     A = from_edges([0], [1]).to(device="cuda")
        ... except DeviceUnavailable as error:
        ...     why = str(error)
    """


_usable: ModuleType | None = None
"""The CuPy module that passed every check of `cupy`."""


_forked = False
"""True if a process that this one is forked from used a GPU."""


def _begin_anew() -> None:
    global _forked
    _forked = _forked or _usable is not None


system.in_a_forked_child(_begin_anew)


def cupy() -> ModuleType:
    """The CuPy module, or `DeviceUnavailable` with the reason in one sentence. A success is checked only once."""
    global _usable
    if _forked:
        raise DeviceUnavailable(
            "a GPU that a process has used is not there for its forked children: start them with "
            "multiprocessing.get_context('spawn')"
        )
    if _usable is None or sys.modules.get("cupy") is not _usable:
        _usable = _usable_cupy()
    return _usable


def _let_cupy_compile() -> None:
    """Have CuPy keep its kernels in memory where it cannot write them to its folder, which it takes for an error."""
    import tempfile

    folder = Path(os.environ.get("CUPY_CACHE_DIR") or os.path.expanduser("~/.cupy/kernel_cache"))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError:
        os.environ.setdefault("CUPY_CACHE_IN_MEMORY", "1")


def _usable_cupy() -> ModuleType:
    installed = _installed_cupys()
    if len(installed) > 1:
        raise DeviceUnavailable(
            f"device='cuda' needs one CuPy, but {' and '.join(installed)} are installed together: uninstall them all, "
            "then install one, pip install cupy-cuda13x (or cupy-cuda12x)"
        )
    _let_cupy_compile()
    try:
        import cupy as cp
    except ModuleNotFoundError as error:
        if error.name != "cupy":
            raise DeviceUnavailable(f"device='cuda' needs CuPy, which cannot be imported: {clause(error)}") from error
        raise DeviceUnavailable(
            "device='cuda' needs CuPy, which is not installed here: pip install cupy-cuda13x (or cupy-cuda12x)"
        ) from error
    except ImportError as error:  # CuPy wraps the error that tells why in a page of advice
        raise DeviceUnavailable(
            f"device='cuda' needs CuPy, which cannot be imported: {clause(error.__cause__ or error)}"
        ) from error
    _check_device(cp.cuda.runtime)
    return cp


def _check_device(runtime: Any) -> None:
    """`DeviceUnavailable` unless CUDA has a driver that runs what CuPy was built for, and a device."""
    no_gpu = "device='cuda' needs an NVIDIA GPU, but CUDA finds none on this machine"
    driver, built_for = runtime.driverGetVersion(), runtime.runtimeGetVersion()
    if driver == 0:
        raise DeviceUnavailable("device='cuda' needs an NVIDIA GPU and its driver, but no driver is installed here")
    if driver // 1000 < built_for // 1000:  # within a major version, an older driver runs newer programs
        raise DeviceUnavailable(_too_old(driver, built_for))
    try:
        count = runtime.getDeviceCount()
    except runtime.CUDARuntimeError as error:
        reasons = {"cudaErrorInsufficientDriver": _too_old(driver, built_for), "cudaErrorNoDevice": no_gpu}
        reason = reasons.get(str(error).partition(":")[0])
        unknown = f"device='cuda' needs an NVIDIA GPU and its driver, but CUDA says: {clause(error)}"
        raise DeviceUnavailable(reason or unknown) from error
    if count == 0:
        raise DeviceUnavailable(no_gpu)


def _installed_cupys() -> list[str]:
    """The installed distributions that each bring a module `cupy`; only one of them can be there."""
    from importlib.metadata import distributions

    names = {(found.metadata["Name"] or "").lower().replace("_", "-") for found in distributions()}
    return sorted(name for name in names if name == "cupy" or name.startswith(("cupy-cuda", "cupy-rocm")))


def _too_old(driver: int, built_for: int) -> str:
    supported, needed = (f"{version // 1000}.{version % 1000 // 10}" for version in (driver, built_for))
    return (
        f"device='cuda' needs a newer NVIDIA driver: this one supports CUDA {supported}, and CuPy was built for "
        f"CUDA {needed}"
    )


def clause(error: BaseException) -> str:
    """The message of `error` as the end of a sentence: on one line, without a full stop."""
    return " ".join(str(error).split()).rstrip(".")
