"""The algorithms as equations over verbs, a file for each."""
