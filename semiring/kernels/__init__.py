"""Shared by kernels on CPU and GPU: machine code on disk, a line while they are compiled, and Ctrl-C."""
