"""The CPU backend. Importing it registers implementations; GraphBLAS and Numba start at the first product."""

from . import matrices, products, vectors

__all__ = ["matrices", "products", "vectors"]
