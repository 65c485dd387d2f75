"""The CUDA backend. Importing it registers implementations; CuPy starts, and kernels compile, at the first product."""

from . import (
    blocks,
    compressed,
    dense,
    gemm,
    listed,
    matrices,
    packed,
    padded,
    products,
    reductions,
    segments,
    sell,
    spmm,
    statistics,
)

__all__ = [
    "blocks",
    "compressed",
    "dense",
    "gemm",
    "listed",
    "matrices",
    "packed",
    "padded",
    "products",
    "reductions",
    "segments",
    "sell",
    "spmm",
    "statistics",
]
