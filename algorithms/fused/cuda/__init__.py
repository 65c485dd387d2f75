"""Algorithms run on the GPU as persistent kernels; the first call compiles them, and imports CuPy."""

from . import batches, centralities, graphs, paths, searches
from .kernels import launches

__all__ = ["batches", "centralities", "graphs", "launches", "paths", "searches"]
