"""Algorithms as persistent kernels on the GPU; nothing is compiled, and CuPy not imported, before the first call."""

from . import graphs, paths
from .kernels import launches

__all__ = ["graphs", "launches", "paths"]
