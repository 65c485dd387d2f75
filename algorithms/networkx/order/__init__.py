"""Compiled loops that visit vertices in the order in which NetworkX does: neighbours as its dictionaries list them."""
