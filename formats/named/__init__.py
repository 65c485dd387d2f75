"""Graphs whose vertices have names: the names, tables of edges, and files of them."""
