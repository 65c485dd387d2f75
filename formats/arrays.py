"""Arrays and devices: the one place that knows NumPy from CuPy.

A matrix or vector lives where its arrays live; nothing here moves data unless it is called `to_device`.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

type_names = ("bool", "int32", "int64", "float32", "float64")
DTYPES = tuple(np.dtype(name) for name in type_names)
"""Every dtype that a matrix or vector may hold."""

Array = Any
"""A `numpy.ndarray` or a `cupy.ndarray`."""

Device = Literal["cpu", "cuda"]
INT32_MAX = np.iinfo(np.int32).max

# The smallest supported dtype that holds every value of an unsupported one.
_PROMOTIONS = {"int8": "int32", "int16": "int32", "uint8": "int32", "uint16": "int32", "uint32": "int64"}
_PROMOTIONS |= {"float16": "float32"}


class DeviceUnavailable(RuntimeError):
    """`device="cuda"` was asked for where it cannot be had; the message says why, in one sentence."""


def cupy() -> ModuleType:
    """The CuPy module, or `DeviceUnavailable` with the reason in one sentence."""
    try:
        import cupy as cp
    except ImportError as error:
        raise DeviceUnavailable(
            "device='cuda' needs CuPy, which is not installed here: pip install 'semiring[cuda13]' (or [cuda12])"
        ) from error
    try:
        count = cp.cuda.runtime.getDeviceCount()
    except cp.cuda.runtime.CUDARuntimeError as error:
        raise DeviceUnavailable(f"device='cuda' needs an NVIDIA GPU and its driver, but CUDA says: {error}") from error
    if count == 0:
        raise DeviceUnavailable("device='cuda' needs an NVIDIA GPU, but CUDA counts none on this machine")
    return cp


def device_of(array: Array) -> Device:
    """`"cpu"` for a NumPy array, `"cuda"` for a CuPy array."""
    return "cpu" if isinstance(array, np.ndarray) else "cuda"


def namespace(array: Array) -> Any:
    """The module, `numpy` or `cupy`, whose functions work on `array`."""
    return np if isinstance(array, np.ndarray) else sys.modules["cupy"]


def is_array(obj: object) -> bool:
    """Is `obj` a NumPy or CuPy array? Imports nothing."""
    cp = sys.modules.get("cupy")
    return isinstance(obj, np.ndarray) or (cp is not None and isinstance(obj, cp.ndarray))


def as_array(obj: ArrayLike | Array) -> Array:
    """`obj` itself if it is an array already, else a new NumPy array."""
    return obj if is_array(obj) else np.asarray(obj)


def to_device(array: Array, device: Device) -> Array:
    """`array` on `device`; no copy where it is there already."""
    if device not in ("cpu", "cuda"):
        raise ValueError(f"device must be 'cpu' or 'cuda', got {device!r}")
    if device_of(array) == device:
        return array
    return cupy().asarray(array) if device == "cuda" else array.get()


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

    Python integers become int32 where they fit. A cast that would change a value is a ValueError.
    """
    values = as_array(obj)
    if values.ndim != 1:
        raise ValueError(f"values must be one-dimensional, got {values.ndim} dimensions")
    if dtype is None:
        if not is_array(obj) and values.dtype == np.int64 and fits(values, np.int32):
            return values.astype(np.int32)
        if values.dtype == np.uint64 and fits(values, np.int64):
            return values.astype(np.int64)
        return values.astype(supported_dtype(values.dtype), copy=False)
    return cast(values, dtype)


def cast(values: Array, dtype: DTypeLike) -> Array:
    """`values` as `dtype`; ValueError names the first value that an integer or bool dtype cannot hold."""
    target = supported_dtype(dtype)
    if target.kind in "ib" and values.dtype != target and values.size:
        info = np.iinfo(target) if target.kind == "i" else None
        low, high = (info.min, info.max) if info else (0, 1)
        bad = (values < low) | (values > high)
        if values.dtype.kind == "f":
            bad |= values != namespace(values).floor(values)
            bad |= values >= float(high) + 1
        if bool(bad.any()):
            raise ValueError(f"value {values[bad][0]} cannot be stored as {target}")
    return values.astype(target, copy=False)


def fits(values: Array, dtype: DTypeLike) -> bool:
    """Can the integer `dtype` hold all of the integers `values`?"""
    info = np.iinfo(dtype)
    return values.size == 0 or (int(values.min()) >= info.min and int(values.max()) <= info.max)


def filled_dtype(dtype: np.dtype, fill: Any) -> np.dtype:
    """The dtype of an array that holds values of `dtype` and the scalar `fill`."""
    if dtype == np.bool_ and fill in (0, 1):
        return dtype
    if dtype == np.int32 and isinstance(fill, int) and abs(fill) > INT32_MAX + 1:
        return np.dtype(np.int64)
    return np.result_type(dtype, fill)


def as_indices(obj: ArrayLike | Array, name: str, bound: int, dtype: np.dtype | None = None) -> Array:
    """`obj` as an array of indices in [0, bound); ValueError names the first one outside."""
    indices = as_array(obj)
    if indices.size == 0 and indices.dtype.kind not in "iu":
        indices = indices.astype(np.int32)
    if indices.dtype.kind not in "iu":
        raise TypeError(f"{name} must be integers, got dtype {indices.dtype}")
    check_range(indices, name, bound)
    return indices.astype(dtype or index_dtype(bound), copy=False)


def check_range(indices: Array, name: str, bound: int, low: int = 0) -> None:
    """ValueError unless low <= indices < bound; the message names the first offender."""
    if indices.size and (int(indices.min()) < low or int(indices.max()) >= bound):
        bad = indices[(indices < low) | (indices >= bound)][0]
        raise ValueError(f"{name} must be in [{low}, {bound}), got {bad}")


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
