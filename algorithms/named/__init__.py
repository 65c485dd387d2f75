"""Graphs whose vertices have names, and answers that speak of them."""
