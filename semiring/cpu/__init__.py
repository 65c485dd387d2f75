"""The CPU backend. Importing it registers implementations; GraphBLAS and Numba start at the first product."""

from . import products, reductions

__all__ = ["products", "reductions"]
