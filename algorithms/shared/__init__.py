"""Modules that algorithms share: sources and limits, trees, cycles, edges, traces, types and errors."""
