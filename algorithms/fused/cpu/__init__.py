"""Algorithms as compiled loops over CSR's arrays; nothing is compiled before the first call."""

from . import graphs, paths

__all__ = ["graphs", "paths"]
