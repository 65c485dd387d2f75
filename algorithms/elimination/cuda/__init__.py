"""Elimination on the GPU: kernels of its own beside those of `algorithms.fused.cuda.kernels`, which compiles them."""
