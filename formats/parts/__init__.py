"""Matrices in parts: the participants that hold them, and what they tell each other."""
