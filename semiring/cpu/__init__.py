"""The CPU backend. Importing it registers implementations; GraphBLAS and Numba start at the first product."""

from collections.abc import Callable
from typing import Any

from formats.hooks import KERNEL

from . import columns, dense, loops, matrices, products, reductions

__all__ = ["columns", "dense", "loops", "matrices", "products", "reductions"]


@KERNEL.answered_by
def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function as machine code, see `kernels.compiled`."""
    from .kernels import compiled

    return compiled(function)
