"""Algorithms as persistent kernels on the GPU."""
