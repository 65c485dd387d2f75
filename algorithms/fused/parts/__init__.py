"""Algorithms on matrices in parts run by rows: each process works on its own, and then they exchange."""

from . import register

__all__ = ["register"]
