"""Data that comes with the package.

    rome99    Rome's roads of 1999, lengths in metres, 3,353 vertices numbered from 1, 8,870 arcs
              (9th DIMACS Implementation Challenge)

Example:
    >>> from algorithms.data import rome99
    >>> from formats import read
    >>> read(rome99).shape
    (3353, 3353)
"""

from pathlib import Path

rome99 = Path(__file__).with_name("rome99.gr")
"""The path of a DIMACS file."""
