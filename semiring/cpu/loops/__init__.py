"""Compiled loops, a file for each way of storage. Importing it registers them; Numba is loaded at the first product."""

from . import blocks, compressed, dense, listed, packed, padded, segmented, sell

__all__ = ["blocks", "compressed", "dense", "listed", "packed", "padded", "segmented", "sell"]
