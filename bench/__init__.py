"""Benchmarks: what is timed is verified first, in the same run."""
