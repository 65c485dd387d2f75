"""Graphs prepared for what is to come: vertices renumbered, edges reordered, neighbours sorted by weight."""
