"""Verbs written as array programs that NumPy and CuPy both run. Importing it registers them for both backends."""

from . import composed, dense, matrices, vectors

__all__ = ["composed", "dense", "matrices", "vectors"]
