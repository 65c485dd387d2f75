"""The cases of `python -m bench cliffs`, a module for each part of the toolkit, and `batches`, a command of its own.

Each is verified before it is timed.
"""

VOTES = "wiki-Vote.txt.gz"
"""SNAP's graph of votes, the small one, if it is in the folder of real graphs."""
