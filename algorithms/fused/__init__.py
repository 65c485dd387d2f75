"""Algorithms run as a whole: compiled loops on the CPU, persistent kernels on the GPU; importing it registers them."""

from . import cpu, cuda, parts

__all__ = ["cpu", "cuda", "parts"]
