"""Which conversions there are, which formats they lead through, and what they allocate. `CONVERSIONS` is the only list.

Compressing a sorted list and expanding a compressed one are direct; turning rows into columns is one counting sort;
every other pair of formats goes through these steps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..places import Device, Place
from .contract import Storage
from .workspace import Needs, Sizes, unknown

Converter = Callable[..., Any]
CONVERSIONS: dict[tuple[type[Storage], type[Storage]], Converter] = {}
"""The functions that convert directly, without a format between, by (source, target)."""
NEEDS: dict[tuple[type[Storage], type[Storage]], Needs] = {}
"""The needs of direct conversions, see `workspace`, by (source, target)."""


def conversion(
    source: type[Storage], target: type[Storage], *, needs: Needs = unknown
) -> Callable[[Converter], Converter]:
    """Register the direct conversion from `source` to `target`, and what it allocates at most, see `workspace`."""

    def register(converter: Converter) -> Converter:
        CONVERSIONS[source, target] = converter
        NEEDS[source, target] = needs
        return converter

    return register


def stays(A: Storage, target: type[Storage], options: dict[str, Any]) -> bool:
    """True if `A` is in the `target` format already, with these options."""
    return type(A) is target and A.major == target.major and A._suits(options)


def route(source: type[Storage], target: type[Storage]) -> tuple[type[Storage], ...]:
    """The formats to pass through from `source` to `target`, the target last; the shortest, by breadth-first search."""
    if (source, target) in CONVERSIONS:
        return (target,)
    paths: list[tuple[type[Storage], ...]] = [(step,) for origin, step in CONVERSIONS if origin is source]
    for path in paths:
        if path[-1] is target:
            return path
        paths += [(*path, step) for origin, step in CONVERSIONS if origin is path[-1] and step not in path]
    raise TypeError(f"no conversion leads from {source.__name__} to {target.__name__}")


def leads(source: type[Storage], target: type[Storage]) -> bool:
    """True if there is a way from `source` to `target`."""
    try:
        return source is target or bool(route(source, target))
    except TypeError:
        return False


def predicted(A: Storage, target: type[Storage], options: dict[str, Any]) -> int:
    """`A.to(target, **options).nbytes`, found without converting."""
    return A.nbytes if stays(A, target, options) else target.predicted_nbytes(A, **options)


def conversion_peak(A: Storage, target: type[Storage], options: dict[str, Any], device: Device | Place) -> int:
    """Bytes that the conversion allocates at most at one time, the result and formats on the way among them."""
    if stays(A, target, options):
        return 0
    sizes, source, made, between, peak = Sizes.of(A, device), type(A), A.nbytes, 0, 0
    for step in route(type(A), target):
        size = predicted(A, step, options if step is target else {})
        peak = max(peak, between + NEEDS[source, step](sizes, made, size))
        sizes = Sizes(sizes.shape, getattr(step, "major", 0), sizes.nnz, sizes.value, sizes.index, sizes.backend)
        source, made, between = step, size, size
    return peak
