"""Shortest paths on the CPU as one compiled loop."""
