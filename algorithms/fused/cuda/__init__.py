"""Algorithms as persistent kernels on the GPU; nothing is compiled, and CuPy not imported, before the first call."""

from . import batches, centralities, graphs, paths, searches
from .kernels import launches

__all__ = ["batches", "centralities", "graphs", "launches", "paths", "searches"]
