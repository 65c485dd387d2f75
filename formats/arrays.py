"""Arrays and devices: the one place that knows NumPy from CuPy.

A matrix or vector lives where its arrays live; nothing here moves data unless it is called `to_device`.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NoReturn, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from .copies import to_gpu, to_host, to_peer
from .gpu import clause, cupy
from .hooks import CAST, LOOKED_THROUGH
from .memory import OutOfDeviceMemory
from .places import Device, Place, find_place, free_and_total, is_array, own_allocator, place_of
from .undisturbed import imported

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

Scalar: TypeAlias = bool | int | float | np.number[Any] | np.bool_

DeviceArray: TypeAlias = Any
"""A `cupy.ndarray`, where only that will do."""

INT32_MAX, INT64_MAX = np.iinfo(np.int32).max, np.iinfo(np.int64).max

# CuPy's bincount counts in memory of its own for every block of threads, of which so many may be resident:
# https://github.com/NVIDIA/cccl/issues/912
COUNTERS = 1024

COUNTED = {True: 1 << 20, False: 1 << 28}
"""Numbers that are counted at a time on the host (True), where NumPy makes them 64-bit integers first, and on a GPU."""
SPARED = 8
"""A GPU array that is shortened keeps its memory if less than one part in so many is left over."""

MAGNITUDE = np.uint32(0x7FFFFFFF)
"""The bits of a float32 but for its sign."""

# The smallest supported dtype that holds every value of an unsupported one.
_PROMOTIONS = {"int8": "int32", "int16": "int32", "uint8": "int32", "uint16": "int32", "uint32": "int64"}
_PROMOTIONS |= {"float16": "float32"}

# The kinds of device, as DLPack numbers them, that hold what CuPy can share: CUDA and CUDA's managed memory.
_DLPACK_CUDA = (2, 13)


NO_ROOM_TO_SORT = "std::bad_alloc"
"""The message of CuPy's sorts where there is no room for them."""


def out_of_memory(error: MemoryError, what: object) -> OutOfDeviceMemory:
    """Returns the error to raise, with the sizes in its message, for CuPy's own error while doing `what`.

    For `except cupy.cuda.memory.OutOfMemoryError as error: raise out_of_memory(error, what) from error`.
    """
    free, total = free_and_total()
    said = "out of memory" if str(error) == NO_ROOM_TO_SORT else clause(error)
    return OutOfDeviceMemory(
        f"{what}: the GPU is {said[:1].lower()}{said[1:]}, and has {free:,} of its {total:,} bytes free"
    )


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
    """True if all Booleans are. On a GPU by a minimum of bytes: CuPy would compile a kernel for `all`, in seconds."""
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
    """Counts how often each of 0 … size - 1 is among the numbers, which are below `size`: (size,), 64-bit integers."""
    xp, most = namespace(numbers), max(size, numbers.size)
    step = COUNTED[xp is np] + size
    if numbers.size > step:
        total = xp.zeros(size, np.int64)
        for start in range(0, numbers.size, step):
            total += counts(numbers[start : start + step], size)
        return total
    if xp is np or size * COUNTERS <= numbers.size or most > INT32_MAX:  # CuPy numbers what it adds to in 32 bits
        known = numbers.view(np.int64) if numbers.dtype == np.uint64 else numbers  # before NumPy 2.3 it takes no others
        return xp.bincount(known, minlength=size)
    found = xp.zeros(size, np.uint64)
    xp.add.at(found, numbers, 1)
    return found.view(np.int64)


def shortened(array: Array, size: int) -> Array:
    """The first elements of an array that nobody else holds. On the host the memory of the others is given back."""
    if isinstance(array, np.ndarray):
        array.resize(size, refcheck=False)
        return array
    return array[:size] if size * SPARED > array.size * (SPARED - 1) else array[:size].copy()


def starts_of(lengths: Array, dtype: DTypeLike) -> Array:
    """Sums the lengths, or flags, before each place, and all of them: where parts of such lengths begin and end."""
    xp = namespace(lengths)
    starts = xp.zeros(lengths.size + 1, dtype)
    if lengths.size:
        xp.cumsum(lengths, dtype=dtype, out=starts[1:])
    return starts


def as_array(obj: Any, name: str = "values") -> Array:
    """`obj` itself if it is an array already, else a NumPy array of what it holds, or a CuPy array if that is on a GPU.

    An object with `__cuda_array_interface__` or `__dlpack__` (a PyTorch tensor, say) shares its memory. Python's
    numbers in an array of objects are taken as in a list. Raises what `plain` raises.
    """
    if isinstance(obj, np.ndarray):
        made = obj if type(obj) is np.ndarray and obj.dtype.isnative else plain(obj, name)
        return made if made.dtype.kind != "O" else np.asarray(made.tolist())
    if is_array(obj):
        return obj
    if hasattr(obj, "__cuda_array_interface__"):
        return cupy().asarray(obj)
    if hasattr(obj, "__dlpack_device__"):
        if obj.__dlpack_device__()[0] in _DLPACK_CUDA:
            return cupy().from_dlpack(obj)
        if not hasattr(obj, "__array__"):
            return np.from_dlpack(obj)
    made = np.asarray(obj)
    return as_array(made, name) if hasattr(obj, "dtype") else made


def plain(array: Array, name: str) -> Array:
    """The array without a mask, in the machine's byte order; ValueError names the first element that is masked."""
    check_not_masked(array, name)
    if hasattr(array, "mask"):
        array = np.asarray(array)
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def check_not_masked(array: Array, name: str) -> None:
    """ValueError if a masked array of NumPy masks an element: it has no value, and no semiring says which it means."""
    if (mask := getattr(array, "mask", None)) is not None and np.any(mask):
        at = tuple(map(int, np.argwhere(mask)[0]))
        raise ValueError(f"{name} must not be masked, but position {at if len(at) > 1 else at[0]} is")


def to_device(array: Array, device: Device | Place) -> Array:
    """`array` on `device`; no copy where it is there already. Raises what `move` raises."""
    place = find_place(device)
    return array if place_of(array) is place else move((array,), place, f"{array.dtype} array")[0]


X = TypeVar("X")


def brought(x: X, place: Place) -> X:
    """An array, a vector or a matrix in a place, or None; no copy where it is there already."""
    if x is None or place_of(x) is place:
        return x
    if not is_array(x):
        return x.to(device=place)  # type: ignore[attr-defined]
    return to_peer(x, place) if not place.on_host and not place_of(x).on_host else to_device(x, place)  # type: ignore


def move(parts: Iterable[Any], device: Device | Place, what: object) -> tuple[Any, ...]:
    """`parts` with every array among them, and every matrix, on `device`; no copy of one that is there already.

    Either all arrays move or none: OutOfDeviceMemory, which names `what`, comes before the first is moved.
    """
    place, parts = find_place(device), tuple(parts)
    moving = [part for part in held(parts) if place_of(part) is not place]
    if not moving:
        return parts
    if place.on_host:
        return _replaced(parts, place, _copied(moving, place))
    moves = f"moving {what if isinstance(what, str) else repr(what)} to the {place.name}"
    with place.scope():
        _check_room(sum(part.nbytes for part in moving), moves, place)
        try:
            return _replaced(parts, place, _copied(moving, place))
        except cupy().cuda.memory.OutOfMemoryError as error:
            raise out_of_memory(error, moves) from error


def held(parts: Iterable[Any]) -> list[Any]:
    """The arrays and matrices among the parts, and within their tuples."""
    found: list[Any] = []
    for part in parts:
        found += held(part) if isinstance(part, tuple) else [part] if is_array(part) or hasattr(part, "place") else []
    return found


def _copied(parts: Iterable[Any], place: Place) -> dict[int, Array]:
    """Copies in a place of the arrays among the parts, by the identity of each."""
    found: dict[int, Array] = {}
    by_place: dict[Place, dict[int, Array]] = {}
    for part in parts:
        if is_array(part):
            by_place.setdefault(place_of(part), {})[id(part)] = part
    for here, arrays in by_place.items():
        if place.on_host:
            with here.scope():
                copies = to_host([*arrays.values()], here)
        elif here.on_host:
            copies = to_gpu([*arrays.values()], place)
        else:
            copies = [to_peer(array, place) for array in arrays.values()]
        found |= zip(arrays, copies, strict=True)
    return found


def _replaced(parts: tuple[Any, ...], place: Place, copies: dict[int, Array]) -> tuple[Any, ...]:
    """The parts, and those of tuples among them, with copies for arrays, and with matrices in the place."""
    return tuple(
        _replaced(part, place, copies)
        if isinstance(part, tuple)
        else copies.get(id(part), part)
        if is_array(part)
        else part.to(device=place)
        if hasattr(part, "place")
        else part
        for part in parts
    )


def _check_room(nbytes: int, moves: str, place: Place) -> None:
    """OutOfDeviceMemory unless the current GPU, which the place is, has `nbytes` free."""
    if place.limit is not None:
        place.check_room(moves, nbytes)
    if own_allocator():
        return  # the user's own allocator, of managed memory for example, may have room where the device has not
    free, total = free_and_total()
    if nbytes > free:
        raise OutOfDeviceMemory(f"{moves} needs {nbytes:,} bytes, but it has {free:,} of its {total:,} bytes free")


def finish(device: Device | Place) -> None:
    """Wait until everything that was started on the device is done."""
    find_place(device).finish()


def same_place(*arrays: Array) -> Place:
    """The place that all `arrays` share; ValueError if they do not."""
    first, *others = map(place_of, arrays)
    for other in others:
        if other is not first:
            where = f"{first} and {other}"
            raise ValueError(f"operands are on different devices ({where}): move one of them with .to(device=…)")
    return first


def check_one_length(**arrays: Array) -> None:
    """ValueError, which names the arrays, unless all of them have one shape."""
    if len({array.shape for array in arrays.values()}) > 1:
        names, sizes = [*arrays], [str(array.size) for array in arrays.values()]
        listed, got = (f"{', '.join(words[:-1])} and {words[-1]}" for words in (names, sizes))
        raise ValueError(f"{listed} must be of one length, got {got}")


def as_integer(name: str, number: Any) -> int:
    """The number as Python's own; TypeError, which names it, for what is no integer."""
    try:
        return operator.index(number)
    except TypeError:
        raise TypeError(f"{name} must be an integer, got {number!r}") from None


def index_dtype(*extents: int) -> np.dtype:
    """int32 until one of the `extents` (dimensions, number of entries) needs int64."""
    return np.dtype(np.int32 if max(extents, default=0) <= INT32_MAX else np.int64)


def supported_dtype(dtype: DTypeLike) -> np.dtype:
    """The dtype in which values of `dtype` are stored; TypeError if none of ours holds them."""
    given = np.dtype(dtype)
    stored = given if given in DTYPES else np.dtype(_PROMOTIONS.get(given.name, given))
    if stored not in DTYPES:
        raise TypeError(f"values of dtype {given} are not supported; use one of {', '.join(type_names)}")
    return stored


def as_values(obj: ArrayLike | Array, dtype: DTypeLike | None = None) -> Array:
    """`obj` as a one-dimensional array of a supported dtype.

    Python integers become int32 where they fit, and none is the largest, which min-plus takes for absent. An array, or
    what shares its memory as one, keeps its integers. A cast that would change a value is a ValueError.
    """
    values = as_array(obj)
    if values.ndim != 1:
        raise ValueError(f"values must be one-dimensional, got {values.ndim} dimensions")
    if dtype is None:
        if not has_dtype(obj):
            values = narrowed(values)
        if values.dtype == np.uint64:
            return cast(values, np.int64)
        if values.dtype == object:
            each = enumerate(values.tolist())
            at, odd = next((k, x) for k, x in each if not isinstance(x, float | int) or abs(x) > INT64_MAX)
            raise TypeError(f"values must be numbers of at most 64 bits, got {odd!r} at position {at}")
        return values.astype(supported_dtype(values.dtype), copy=False)
    return cast(values, dtype)


def narrowed(values: Array) -> Array:
    """Python's integers, which have no dtype of their own, as int32 where they fit, and none is the largest."""
    small = values.dtype == np.int64 and fits(values, np.int32) and INT32_MAX not in values
    return values.astype(np.int32) if small else values


def has_dtype(obj: object) -> bool:
    """True if `obj` came with a dtype, as arrays and tensors do and a list of numbers does not."""
    return is_array(obj) or any(hasattr(obj, name) for name in ("dtype", "__cuda_array_interface__", "__dlpack__"))


def cast(values: Array, dtype: DTypeLike) -> Array:
    """`values` as `dtype`; ValueError names the first value that an integer or bool dtype cannot hold."""
    target = supported_dtype(dtype)
    if target.kind in "ib" and not np.can_cast(values.dtype, target) and values.size:
        info = np.iinfo(target) if target.kind == "i" else None
        low, high = (info.min, info.max) if info else (0, 1)
        bad = values > high
        if values.dtype.kind != "u":
            bad |= values < low
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
    by_kernel = CAST.answer
    return values.astype(dtype) if by_kernel is None else by_kernel(values, dtype)


def fits(values: Array, dtype: DTypeLike) -> bool:
    """True if the integer `dtype` can hold all of the integers `values`."""
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
    indices = as_integers(obj, name)
    check_range(indices, name, bound)
    return indices.astype(dtype or index_dtype(bound), copy=False)


def as_integers(obj: ArrayLike | Array, name: str) -> Array:
    """`obj` as a one-dimensional array of integers."""
    indices = as_array(obj, name)
    if indices.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got {indices.ndim} dimensions")
    if indices.size == 0 and indices.dtype.kind not in "iu":
        indices = indices.astype(np.int32)
    if indices.dtype.kind not in "iu":
        missing = ", in which nan is a missing one" if indices.dtype.kind == "f" and (indices != indices).any() else ""
        raise TypeError(f"{name} must be integers, got dtype {indices.dtype}{missing}")
    return indices


def check_range(indices: Array, name: str, bound: int, low: int = 0) -> None:
    """ValueError unless low <= indices < bound; the message names the first offender."""
    if indices.size == 0:
        return
    looked = looked_through((indices, bound)) if low == 0 else None
    if looked is not None:
        outside = looked[0][0]
    elif low == 0 and indices.dtype.kind == "i":  # as unsigned numbers, negative ones are beyond every bound: one pass
        outside = int(indices.view(indices.dtype.str.replace("i", "u")).max()) >= max(bound, 0)
    else:
        outside = int(indices.min()) < low or int(indices.max()) >= bound
    if outside:
        refuse(indices, name, bound, low)


def refuse(indices: Array, name: str, bound: int, low: int = 0) -> NoReturn:
    """ValueError that names the first of the indices that is not in [low, bound)."""
    raise ValueError(f"{name} must be in [{low}, {bound}), got {indices[(indices < low) | (indices >= bound)][0]}")


def looked_through(*places: tuple[Array, int]) -> list[tuple[bool, bool]] | None:
    """Tells of each array of integers, which has a bound, if one is not in [0, bound), and if they do not ascend.

    None unless all of them are on one GPU, where one wait tells all.
    """
    if not places or any(isinstance(part, np.ndarray) or part.dtype.kind != "i" for part, _ in places):
        return None
    place, by_kernels = place_of(places[0][0]), LOOKED_THROUGH.answer
    if by_kernels is None or any(place_of(part) is not place for part, _ in places):
        return None
    with place.scope():
        return by_kernels(*places)


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


def concatenated(parts: Sequence[Array]) -> Array:
    """One array of them all; of one, itself."""
    return parts[0] if len(parts) == 1 else namespace(parts[0]).concatenate(parts)


def contiguous(array: Array) -> Array:
    """`array` itself if it is C-contiguous, else a copy that is."""
    return namespace(array).ascontiguousarray(array)


def is_mapped(array: Any) -> bool:
    """True if the array's memory is a file's, of which only what is looked at is in memory."""
    while isinstance(array, np.ndarray):
        if isinstance(array, np.memmap):
            return True
        array = array.base
    return False


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
        return imported(module)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        raise ModuleNotFoundError(f"{what} needs {package}: pip install {package}", name=package) from error
