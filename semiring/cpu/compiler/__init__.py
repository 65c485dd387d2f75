"""From functions to machine code: what is compiled, by Numba's compiler, and loaded again without Numba."""
