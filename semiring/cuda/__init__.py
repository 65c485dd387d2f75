"""The CUDA backend. Importing it registers implementations; CuPy starts, and kernels compile, at the first product."""

from . import (
    blocks,
    compressed,
    dense,
    listed,
    matrices,
    packed,
    padded,
    products,
    reductions,
    segments,
    sell,
    statistics,
)

__all__ = [
    "blocks",
    "compressed",
    "dense",
    "listed",
    "matrices",
    "packed",
    "padded",
    "products",
    "reductions",
    "segments",
    "sell",
    "statistics",
]
