"""Algorithms run as a whole: compiled loops on the CPU, persistent kernels on the GPU, which register themselves."""
