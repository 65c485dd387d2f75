"""cuSPARSE through CuPy: a product over plus-times, the yardstick of our products over any semiring."""

from __future__ import annotations

from formats import CSR
from formats.arrays import Array
from formats.gpu import DeviceUnavailable, cupy

from .peer import Prepared, Unable


def missing() -> str | None:
    """Why there is no cuSPARSE here."""
    try:
        cupy()
    except DeviceUnavailable as reason:
        return str(reason)
    return None


def prepare_mxv(A: CSR, x: Array) -> Prepared:
    """A x, with A and x on the GPU; it shares A's arrays. Unable if A holds integers."""
    if A.dtype.kind != "f":
        raise Unable(f"left out: CuPy's sparse matrices hold no {A.dtype}")
    M = A.to_cupyx()
    return Prepared(lambda: M @ x, lambda y: y)
