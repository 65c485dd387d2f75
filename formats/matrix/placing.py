"""Matrices of which a share is resident on a GPU: `A.to(device="cuda", resident=…)`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, TypeAlias, TypeVar

from ..arrays import held, is_array, out_of_memory, to_device
from ..copies import to_gpu
from ..gpu import cupy
from ..memory import as_bytes
from ..places import Place
from ..resident import Plan, check_pinned, split
from .contract import Storage

S = TypeVar("S", bound=Storage)
Resident: TypeAlias = Literal["auto"] | int | float | str
"""The share to be resident: bytes, also in words such as "4GiB"; a share from 0.0 to 1.0; or "auto", what fits."""

VECTORS = 80
"""Bytes for each vertex that "auto" leaves to the vectors of an algorithm."""


def budget(nbytes: int, shape: tuple[int, int], resident: Resident, place: Place) -> int:
    """How many bytes of a matrix are to be resident on a GPU, at most.

    ValueError for the host, and for what is no size, no share and not "auto".
    """
    if place.on_host:
        raise ValueError("resident= is of a GPU's memory, got device='cpu'")
    if resident == "auto":
        available = place.available_bytes()
        return nbytes if available is None else min(nbytes, max(0, available - VECTORS * max(shape)))
    if isinstance(resident, float):
        if not 0 <= resident <= 1:
            raise ValueError(f"a resident share is from 0.0 to 1.0, got {resident}")
        return int(resident * nbytes)
    return min(nbytes, as_bytes(resident))


def plan(A: Storage, resident: Resident, place: Place) -> Plan:
    """How many bytes of each of A's arrays are to be resident in a place."""
    return split([array.nbytes for array in A.arrays], budget(A.nbytes, A.shape, resident, place))


def placed(A: S, resident: Resident, place: Place) -> S:
    """A on a GPU with a share of it resident and the rest in pinned host memory.

    Before anything is copied, OutOfDeviceMemory or OutOfHostMemory, with the figures, if there is no room; after an
    error nothing is taken.
    """
    if A.place is place and resident == "auto":
        return A
    how, what = plan(A, resident, place), f"moving {A!r} to the {place.name}"
    if A.place is place and how.resident == A.resident:
        return A
    with place.scope():
        place.check_room(what, how.resident)
        if how.elsewhere:
            check_pinned(what, how.elsewhere)
        there = dict(zip(map(id, A.arrays), how.there, strict=True))
        try:
            return _rebuilt(A, there, place)
        except cupy().cuda.memory.OutOfMemoryError as error:
            raise out_of_memory(error, what) from error


def _rebuilt(A: S, there: dict[int, int], place: Place) -> S:
    """A with each array in the place, so many bytes of it resident."""
    arrays = [part for part in held(A.components) if is_array(part)]
    on_host = [to_device(array, "cpu") for array in arrays]
    copies = to_gpu(on_host, place, [there[id(array)] for array in arrays])
    made = dict(zip(map(id, arrays), copies, strict=True))

    def parts(given: Iterable[Any]) -> tuple[Any, ...]:
        return tuple(
            parts(part)
            if isinstance(part, tuple)
            else made[id(part)]
            if is_array(part)
            else _rebuilt(part, there, place)
            if isinstance(part, Storage)
            else part
            for part in given
        )

    return type(A).trusted(*parts(A.components))
