"""Arrays and devices: the one place that knows NumPy from CuPy.

A matrix or vector lives where its arrays live; nothing here moves data unless it is called `to_device`.
"""

from __future__ import annotations

import operator
import os
import sys
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from .hooks import answer

type_names = ("bool", "int32", "int64", "float32", "float64")
DTYPES = tuple(np.dtype(name) for name in type_names)
"""Every dtype that a matrix or vector may hold."""

Array: TypeAlias = np.ndarray
"""A `numpy.ndarray`, or a `cupy.ndarray`, which mypy does not know and takes for one."""

DenseVector: TypeAlias = np.ndarray[tuple[int], np.dtype[Any]]
"""An array of one dimension; `DenseRows`: of two."""

DenseRows: TypeAlias = np.ndarray[tuple[int, int], np.dtype[Any]]

IntegerVector: TypeAlias = np.ndarray[tuple[int], np.dtype[np.integer[Any]]]
"""The same of integers: vertices, labels, levels."""

IntegerRows: TypeAlias = np.ndarray[tuple[int, int], np.dtype[np.integer[Any]]]

DeviceArray: TypeAlias = Any
"""A `cupy.ndarray`, where only that will do."""

Device = Literal["cpu", "cuda"]
INT32_MAX = np.iinfo(np.int32).max

# CuPy's bincount counts in memory of its own for every block of threads, of which so many may be resident:
# https://github.com/NVIDIA/cccl/issues/912
COUNTERS = 1024

MAGNITUDE = np.uint32(0x7FFFFFFF)
"""The bits of a float32 but for its sign."""

# The smallest supported dtype that holds every value of an unsupported one.
_PROMOTIONS = {"int8": "int32", "int16": "int32", "uint8": "int32", "uint16": "int32", "uint32": "int64"}
_PROMOTIONS |= {"float16": "float32"}

# The kinds of device, as DLPack numbers them, that hold what CuPy can share: CUDA and CUDA's managed memory.
_DLPACK_CUDA = (2, 13)


class DeviceUnavailable(RuntimeError):
    """`device="cuda"` was asked for where it cannot be had; the message says why, in one sentence."""


class OutOfDeviceMemory(MemoryError):
    """The GPU has no room for what was asked; the message gives the bytes needed, free and in all."""


_usable: ModuleType | None = None
"""The CuPy module that passed every check of `cupy`."""


def cupy() -> ModuleType:
    """The CuPy module, or `DeviceUnavailable` with the reason in one sentence. A success is checked only once."""
    global _usable
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
            raise DeviceUnavailable(f"device='cuda' needs CuPy, which cannot be imported: {_clause(error)}") from error
        raise DeviceUnavailable(
            "device='cuda' needs CuPy, which is not installed here: pip install cupy-cuda13x (or cupy-cuda12x)"
        ) from error
    except ImportError as error:  # CuPy wraps the error that tells why in a page of advice
        raise DeviceUnavailable(
            f"device='cuda' needs CuPy, which cannot be imported: {_clause(error.__cause__ or error)}"
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
        unknown = f"device='cuda' needs an NVIDIA GPU and its driver, but CUDA says: {_clause(error)}"
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


def _clause(error: BaseException) -> str:
    """The message of `error` as the end of a sentence: on one line, without a full stop."""
    return " ".join(str(error).split()).rstrip(".")


def free_and_total() -> tuple[int, int]:
    """Bytes that can still be allocated on the current GPU, CuPy's own unused blocks included, and bytes in all."""
    cp = sys.modules["cupy"]
    free, total = cp.cuda.runtime.memGetInfo()
    return int(free) + int(cp.get_default_memory_pool().free_bytes()), int(total)


def out_of_memory(error: MemoryError, what: object) -> OutOfDeviceMemory:
    """What to raise, with the sizes in its message, for CuPy's own error while doing `what`.

    For `except cupy.cuda.memory.OutOfMemoryError as error: raise out_of_memory(error, what) from error`.
    """
    free, total = free_and_total()
    said = _clause(error)
    return OutOfDeviceMemory(
        f"{what}: the GPU is {said[:1].lower()}{said[1:]}, and has {free:,} of its {total:,} bytes free"
    )


def device_of(array: Array) -> Device:
    """`"cpu"` for a NumPy array, `"cuda"` for a CuPy array."""
    return "cpu" if isinstance(array, np.ndarray) else "cuda"


def check_device_name(device: Any) -> None:
    """ValueError for what names no device."""
    if device not in get_args(Device):
        raise ValueError(f"device must be 'cpu' or 'cuda', got {device!r}")


def namespace(array: Array) -> Any:
    """The module, `numpy` or `cupy`, whose functions work on `array`."""
    return np if isinstance(array, np.ndarray) else sys.modules["cupy"]


def equals(x: Array, other: Any) -> Array:
    """x == other for each element, subnormal or not; other: an array or a scalar of x's dtype. No element is NaN."""
    return _compared(x, other, operator.eq)


def differs(x: Array, other: Any) -> Array:
    """x != other for each element, subnormal or not; other: an array or a scalar of x's dtype. No element is NaN."""
    return _compared(x, other, operator.ne)


def all_of(flags: Array) -> bool:
    """Are all Booleans True? On a GPU by a minimum of bytes, as CuPy would compile a kernel for `all`, in seconds."""
    if isinstance(flags, np.ndarray):
        return bool(flags.all())
    return flags.size == 0 or bool(flags.view(np.uint8).min())


def _compared(x: Array, other: Any, compare: Any) -> Array:
    if isinstance(x, np.ndarray | np.generic) or x.dtype != np.float32:
        return compare(x, other)
    return compared_bits(x, other, compare)  # CuPy's comparisons of float32 take subnormal numbers for zero


def compared_bits(x: Array, other: Any, compare: Any) -> Array:
    """Float32 compared by their bits; -0.0 is 0.0.  compare: operator.eq or operator.ne."""
    xp, bits = namespace(x), x.view(np.uint32)
    if is_array(other):
        others = other.view(np.uint32)
        return compare(*(xp.where(each & MAGNITUDE, each, np.uint32(0)) for each in (bits, others)))
    if other == 0:
        return compare(bits & MAGNITUDE, np.uint32(0))
    return compare(bits, np.float32(other).view(np.uint32))


def counts(numbers: Array, size: int) -> Array:
    """(size,), 64-bit integers: how often each of 0 … size - 1 is among the numbers, which are below `size`."""
    xp, most = namespace(numbers), max(size, numbers.size)
    if xp is np or size * COUNTERS <= numbers.size or most > INT32_MAX:  # CuPy numbers what it adds to in 32 bits
        return xp.bincount(numbers, minlength=size)
    found = xp.zeros(size, np.uint64)
    xp.add.at(found, numbers, 1)
    return found.view(np.int64)


def is_array(obj: object) -> bool:
    """Is `obj` a NumPy or CuPy array? Imports nothing."""
    cp = sys.modules.get("cupy")
    return isinstance(obj, np.ndarray) or (cp is not None and isinstance(obj, cp.ndarray))


def as_array(obj: Any) -> Array:
    """`obj` itself if it is an array already, else a NumPy array of what it holds, or a CuPy array if that is on a GPU.

    An object with `__cuda_array_interface__` or `__dlpack__` (a PyTorch tensor, say) shares its memory.
    """
    if is_array(obj):
        return obj
    if hasattr(obj, "__cuda_array_interface__"):
        return cupy().asarray(obj)
    if hasattr(obj, "__dlpack_device__"):
        if obj.__dlpack_device__()[0] in _DLPACK_CUDA:
            return cupy().from_dlpack(obj)
        if not hasattr(obj, "__array__"):
            return np.from_dlpack(obj)
    return np.asarray(obj)


def to_device(array: Array, device: Device) -> Array:
    """`array` on `device`; no copy where it is there already. Raises what `move` raises."""
    return move((array,), device, f"{array.dtype} array")[0]


def move(parts: Iterable[Any], device: Device, what: object) -> tuple[Any, ...]:
    """`parts` with every array among them on `device`; no copy of one that is there already.

    Either all arrays move or none: OutOfDeviceMemory, which names `what`, comes before the first is moved.
    """
    check_device_name(device)
    parts = tuple(parts)
    moving = [is_array(part) and device_of(part) != device for part in parts]
    if not any(moving):
        return parts
    if device == "cpu":
        return tuple(part.get() if moves else part for part, moves in zip(parts, moving, strict=True))
    cp = cupy()
    _check_room(sum(part.nbytes for part, moves in zip(parts, moving, strict=True) if moves), what)
    try:
        return tuple(cp.asarray(part) if moves else part for part, moves in zip(parts, moving, strict=True))
    except cp.cuda.memory.OutOfMemoryError as error:
        raise out_of_memory(error, f"moving {what} to the GPU") from error


def _check_room(nbytes: int, what: object) -> None:
    """OutOfDeviceMemory unless the GPU has `nbytes` free."""
    cp = sys.modules["cupy"]
    if cp.cuda.get_allocator() != cp.get_default_memory_pool().malloc:
        return  # the user's own allocator, of managed memory for example, may have room where the device has not
    free, total = free_and_total()
    if nbytes > free:
        raise OutOfDeviceMemory(
            f"moving {what} to the GPU needs {nbytes:,} bytes, but it has {free:,} of its {total:,} bytes free"
        )


def finish(device: Device) -> None:
    """Wait until everything that was started on the device is done."""
    if device == "cuda":
        cupy().cuda.Device().synchronize()


def same_device(*arrays: Array) -> Device:
    """The device that all `arrays` share; ValueError if they do not."""
    devices = {device_of(array) for array in arrays}
    if len(devices) > 1:
        raise ValueError("operands are on different devices (cpu and cuda): move one of them with .to(device=…)")
    return devices.pop()


def index_dtype(*extents: int) -> np.dtype:
    """int32 until one of the `extents` (dimensions, number of entries) needs int64."""
    return np.dtype(np.int32 if max(extents, default=0) <= INT32_MAX else np.int64)


def supported_dtype(dtype: DTypeLike) -> np.dtype:
    """The dtype in which values of `dtype` are stored; TypeError if none of ours holds them."""
    given = np.dtype(dtype)
    stored = np.dtype(_PROMOTIONS.get(given.name, given))
    if stored not in DTYPES:
        raise TypeError(f"values of dtype {given} are not supported; use one of {', '.join(type_names)}")
    return stored


def as_values(obj: ArrayLike | Array, dtype: DTypeLike | None = None) -> Array:
    """`obj` as a one-dimensional array of a supported dtype.

    Python integers become int32 where they fit; an array, or what shares its memory as one, keeps its integers. A cast
    that would change a value is a ValueError.
    """
    values = as_array(obj)
    if values.ndim != 1:
        raise ValueError(f"values must be one-dimensional, got {values.ndim} dimensions")
    if dtype is None:
        if not _has_dtype(obj) and values.dtype == np.int64 and fits(values, np.int32):
            return values.astype(np.int32)
        if values.dtype == np.uint64 and fits(values, np.int64):
            return values.astype(np.int64)
        return values.astype(supported_dtype(values.dtype), copy=False)
    return cast(values, dtype)


def _has_dtype(obj: object) -> bool:
    """Did `obj` come with a dtype, as arrays and tensors do and a list of numbers does not?"""
    return is_array(obj) or any(hasattr(obj, name) for name in ("dtype", "__cuda_array_interface__", "__dlpack__"))


def cast(values: Array, dtype: DTypeLike) -> Array:
    """`values` as `dtype`; ValueError names the first value that an integer or bool dtype cannot hold."""
    target = supported_dtype(dtype)
    if target.kind in "ib" and not np.can_cast(values.dtype, target) and values.size:
        info = np.iinfo(target) if target.kind == "i" else None
        low, high = (info.min, info.max) if info else (0, 1)
        bad = (values < low) | (values > high)
        if values.dtype.kind == "f":
            bad |= differs(values, namespace(values).floor(values))
            bad |= values >= float(high) + 1
        if bool(bad.any()):
            raise ValueError(f"value {values[bad][0]} cannot be stored as {target}")
    return astype(values, target)


def astype(values: Array, dtype: np.dtype) -> Array:
    """`values` as `dtype`, itself where it is that already. CuPy's casts would take subnormal numbers for zero."""
    if isinstance(values, np.ndarray) or values.dtype == dtype or not values.dtype.kind == dtype.kind == "f":
        return values.astype(dtype, copy=False)
    by_kernel = answer("casts on the GPU")
    return values.astype(dtype) if by_kernel is None else by_kernel(values, dtype)


def fits(values: Array, dtype: DTypeLike) -> bool:
    """Can the integer `dtype` hold all of the integers `values`?"""
    info = np.iinfo(dtype)
    return values.size == 0 or (int(values.min()) >= info.min and int(values.max()) <= info.max)


def filled_dtype(dtype: np.dtype, fill: Any) -> np.dtype:
    """The dtype of an array that holds values of `dtype` and the scalar `fill`."""
    if dtype == np.bool_ and fill in (0, 1):
        return dtype
    if dtype == np.int32 and isinstance(fill, int) and not -INT32_MAX - 1 <= fill <= INT32_MAX:
        return np.dtype(np.int64)
    return np.result_type(dtype, fill)


def as_indices(obj: ArrayLike | Array, name: str, bound: int, dtype: np.dtype | None = None) -> Array:
    """`obj` as an array of indices in [0, bound); ValueError names the first one outside."""
    indices = as_array(obj)
    if indices.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got {indices.ndim} dimensions")
    if indices.size == 0 and indices.dtype.kind not in "iu":
        indices = indices.astype(np.int32)
    if indices.dtype.kind not in "iu":
        raise TypeError(f"{name} must be integers, got dtype {indices.dtype}")
    check_range(indices, name, bound)
    return indices.astype(dtype or index_dtype(bound), copy=False)


def check_range(indices: Array, name: str, bound: int, low: int = 0) -> None:
    """ValueError unless low <= indices < bound; the message names the first offender."""
    if indices.size == 0:
        return
    if low == 0 and indices.dtype.kind == "i":  # as unsigned numbers, negative ones are beyond every bound: one pass
        outside = int(indices.view(indices.dtype.str.replace("i", "u")).max()) >= max(bound, 0)
    else:
        outside = int(indices.min()) < low or int(indices.max()) >= bound
    if outside:
        bad = indices[(indices < low) | (indices >= bound)][0]
        raise ValueError(f"{name} must be in [{low}, {bound}), got {bad}")


def position_of(value: int, ordered: Array, side: Literal["left", "right"] = "left") -> int:
    """Where `value`, of the dtype of `ordered`, belongs in it: before its equals or after. Waits for the device."""
    xp = namespace(ordered)
    return int(xp.searchsorted(ordered, xp.asarray(value, ordered.dtype), side=side))


def check_not_nan(values: Array) -> None:
    """ValueError if a floating-point value is NaN: no semiring here can order or add it."""
    if values.dtype.kind == "f" and values.size:
        bad = namespace(values).isnan(values)
        if bool(bad.any()):
            raise ValueError(f"values must not be NaN, got NaN at position {int(bad.argmax())}")


def contiguous(array: Array) -> Array:
    """`array` itself if it is C-contiguous, else a copy that is."""
    return namespace(array).ascontiguousarray(array)


def read_only(array: Array) -> Array:
    """A read-only view of `array` (CuPy has no such flag: there, `array` itself)."""
    if isinstance(array, np.ndarray) and array.flags.writeable:
        array = array.view()
        array.flags.writeable = False
    return array


def optional(module: str, what: str) -> Any:
    """The module; ModuleNotFoundError says `what` needs its package, and how to get it."""
    package = module.partition(".")[0]
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        raise ModuleNotFoundError(f"{what} needs {package}: pip install {package}", name=package) from error
