"""Data shipped with the package: Rome's road network of 1999, from the 9th DIMACS Implementation Challenge."""
