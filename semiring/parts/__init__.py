"""Verbs on matrices in parts. Importing it registers them."""

from . import exchange, matrices, products

__all__ = ["exchange", "matrices", "products"]
