"""The CUDA backend. Importing it registers implementations; CuPy starts, and kernels compile, at the first product."""

from . import products, reductions

__all__ = ["products", "reductions"]
