"""Variants of the algorithms that papers compare: forced schedules, and steps on forced devices.

All give the answers of the algorithms of which they are variants, and take the same arguments and their own.
"""

from .bellman_ford import bellman_ford_by
from .da2cf import VARIANTS, da2cf_by

__all__ = ["VARIANTS", "bellman_ford_by", "da2cf_by"]
