"""Searches, components and forests on the CPU as compiled loops."""
