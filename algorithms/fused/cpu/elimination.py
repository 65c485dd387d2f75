"""The former place of `algorithms.elimination.cpu`, whose classes older pickles look for here."""

from pathlib import Path

__path__ = [str(Path(__file__).parents[2] / "elimination" / "cpu")]
