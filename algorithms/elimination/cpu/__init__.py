"""Elimination on the CPU: orders, patterns, numbers and queries of a factor as compiled loops.

A vertex's number in the order of elimination is its *position*; `place` has the position of each vertex. Everything
here counts in positions but `order`, which holds the vertex of each.
"""
