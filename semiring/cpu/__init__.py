"""The CPU backend. Its modules register implementations; GraphBLAS and Numba start at the first product."""
