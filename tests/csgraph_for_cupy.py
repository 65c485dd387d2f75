"""A plugin of pytest that runs SciPy's tests of our functions with CuPy's matrices, before SciPy's tests import them.

    python -m pytest -p tests.csgraph_for_cupy --pyargs scipy.sparse.csgraph.tests.test_traversal

Every sparse matrix and array of numbers that a test gives goes to the GPU, and no call leaves it; the answer must be
there, too, and is brought back as the type that the test looks at. At the end stands how many calls were such, and
which were not, and why.
"""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Callable
from functools import wraps
from typing import Any

import cupy as cp
import cupyx.scipy.sparse as there
import numpy as np
import scipy.sparse as sp
import scipy.sparse.csgraph

from algorithms import csgraph
from algorithms.csgraph import places

places.on_host = lambda A: A
places.at_home = lambda *_, **__: None

CALLS: Counter[str] = Counter()
REFUSED: dict[str, str] = {}
"""Calls, and what kept the others from the GPU, by function."""


def sent(graph: Any) -> Any:
    """The graph on the GPU; NotImplementedError says why CuPy cannot have it."""
    if isinstance(graph, np.ma.MaskedArray):
        raise NotImplementedError("CuPy has no masked arrays")
    if sp.issparse(graph):
        if graph.ndim != 2:
            raise NotImplementedError("CuPy's sparse matrices have two dimensions")
        if graph.format == "csc":
            return there.csc_matrix(graph.astype(np.float64))
        rows = graph.tocsr().astype(np.float64)
        if graph.format == "bsr":  # of which CuPy has none, and whose blocks have zeros where nothing is
            rows.eliminate_zeros()
        return there.csr_matrix(rows)
    if isinstance(graph, np.ndarray):
        return cp.asarray(graph)
    raise NotImplementedError(f"a {type(graph).__name__} is none of CuPy's")


def brought_back(answer: Any, graph: Any) -> Any:
    """The answer on the host, as SciPy gives it for this graph; AssertionError where it was there already."""
    if isinstance(answer, tuple):
        return tuple(brought_back(part, graph) for part in answer)
    if isinstance(answer, int | np.integer):
        return answer
    assert type(answer).__module__.partition(".")[0] in ("cupy", "cupyx"), type(answer)
    found = answer.get().copy()
    return sp.csr_array(found) if sp.issparse(found) and not isinstance(graph, sp.spmatrix | np.matrix) else found


def on_gpu(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def call(csgraph: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            given = sent(csgraph)
        except NotImplementedError as why:
            REFUSED[name] = str(why)
            CALLS[f"{name}, with the test's own"] += 1
            return function(csgraph, *args, **kwargs)
        CALLS[name] += 1
        return brought_back(function(given, *args, **kwargs), csgraph)

    return call


for name in csgraph.__all__:
    theirs, ours = getattr(scipy.sparse.csgraph, name), on_gpu(name, getattr(csgraph, name))
    setattr(scipy.sparse.csgraph, name, ours)
    setattr(importlib.import_module(theirs.__module__), name, ours)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    for name, count in sorted(CALLS.items()):
        why = f": {REFUSED[name.partition(',')[0]]}" if "," in name else ""
        terminalreporter.write_line(f"{count} calls of {name}{why}")
    own = sum(count for name, count in CALLS.items() if "," in name)
    terminalreporter.write_line(f"{sum(CALLS.values()) - own} calls with CuPy's, {own} with the test's own")
