"""A plugin of pytest that puts our functions in the place of SciPy's, before SciPy's tests import them.

python -m pytest -p tests.csgraph_for_scipy --pyargs scipy.sparse.csgraph.tests.test_traversal
"""

from __future__ import annotations

import importlib

import scipy.sparse.csgraph

from algorithms import csgraph

for name in csgraph.__all__:
    theirs, ours = getattr(scipy.sparse.csgraph, name), getattr(csgraph, name)
    setattr(scipy.sparse.csgraph, name, ours)
    setattr(importlib.import_module(theirs.__module__), name, ours)
