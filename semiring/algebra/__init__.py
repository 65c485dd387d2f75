"""Operators, monoids, semirings and predicates, their laws, and their CUDA text."""
