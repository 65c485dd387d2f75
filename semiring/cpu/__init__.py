"""The CPU backend. Importing it registers implementations; GraphBLAS and Numba start at the first product."""

from . import loops, products, reductions

__all__ = ["loops", "products", "reductions"]
