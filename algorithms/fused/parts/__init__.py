"""Algorithms on matrices in parts: each process works on its own rows as far as it gets, and then they exchange."""

from . import register

__all__ = ["register"]
