"""Elimination: a graph factored once, and questions about its best paths answered from the factor.

factors       what users call, and the equations
cpu/          orders, patterns, numbers and queries as compiled loops
cuda/         numbers and queries as kernels, by orders and patterns of the host
"""

from .factors import Factor, Symbolic, elimination_order, factor, symbolic_factor

__all__ = ["Factor", "Symbolic", "elimination_order", "factor", "symbolic_factor"]
