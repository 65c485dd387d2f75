"""Odd graphs and arguments of `algorithms.csgraph`: SciPy's answers with their types, or its classes of errors."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse import csgraph as theirs

from algorithms import csgraph as ours
from algorithms.csgraph import small

W = np.array([[0, 3, 0, 7], [0, 0, 2, 0], [1, 0, 0, 4], [0, 0, 0, 0]])
NUMBERS = ["int8", "uint8", "bool", "uint64", "float16", "float32", "longdouble", "complex64"]
ODD_GRAPHS = [
    *(W.astype(number) for number in [*NUMBERS, ">f8", "object", "str", "m8[s]"]),
    *(sp.csc_array(W).astype(number) for number in NUMBERS if number != "float16"),
    *(made(shape) for made in (sp.csr_array, sp.csc_matrix, sp.lil_array) for shape in [(1, 1), (3, 3), (2, 3)]),
    sp.csr_array(([0.0, 0, 3], [1, 2, 0], [0, 2, 3, 3]), shape=(3, 3)),
    np.ma.masked_array(W.astype(float), mask=np.eye(4)),
    np.ma.masked_equal(W, 0),
    np.zeros((1, 1)),
    W.tolist(),
    None,
]
ODD_INDICES = [*(0, -1, 4, -5, 2**40, 2**70, True, 1.7, np.nan, np.inf, 1j, "1", "a", b"1"), [], [[0, 1], [1, 0]]]
ODD_INDICES += [*([None], {0}, range(2), slice(2), np.array(1), np.array([np.nan]), np.array(["0"]), np.uint8(1))]
ODD_ARGUMENTS = [
    *(("dijkstra", {"indices": each, "min_only": each is ODD_INDICES[1]}) for each in ODD_INDICES),
    *(("johnson", {"indices": each}) for each in ODD_INDICES),
    *(("shortest_path", {"indices": each, "method": "FW"}) for each in (0, [], 2**40)),
    *(
        ("dijkstra", {"limit": limit, "indices": [0, 1], "unweighted": unweighted, "min_only": unweighted})
        for limit in (np.inf, -np.inf, np.nan, -1, -0.0, 2.5, 2**70, "3", None, [3], np.array([3.0]), 1j)
        for unweighted in (False, True)
    ),
    *(
        ("breadth_first_order", {"i_start": each})
        for each in (1.0, 1.5, np.float32(1), True, "0", None, [1], np.array(1))
    ),
    *(("connected_components", {"connection": each}) for each in (None, 1, "Strong", b"weak")),
    *(("shortest_path", {"method": each}) for each in ("AUTO", "", None, 1)),
]


def same_outcome(name: str, make: Any, given: dict[str, Any]) -> None:
    """SciPy's answer with its types, or its class of error."""
    answers: list[Any] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for module in (theirs, ours):
            try:
                answers.append(getattr(module, name)(make(), **given))
            except Exception as error:
                answers.append(error)
    expected, found = answers
    if isinstance(expected, Exception):
        assert isinstance(expected, type(found)), f"{name} {given}: {expected!r}, not {found!r}"
        return
    for one, other in zip(*(each if isinstance(each, tuple) else (each,) for each in answers), strict=True):
        assert type(one) is type(other), f"{name} {given}: {expected}, not {found}"
        if name == "minimum_spanning_tree":
            assert (one.nnz, one.sum(), one.dtype) == (other.nnz, other.sum(), other.dtype)
        else:
            one, other = (each.toarray() if sp.issparse(each) else np.asarray(each) for each in (one, other))
            assert one.dtype == other.dtype
            np.testing.assert_array_equal(other, one, err_msg=f"{name} {given}")


@pytest.mark.parametrize("place", range(len(ODD_GRAPHS)))
def test_odd_graphs_have_scipys_answers_or_errors(place: int) -> None:
    graph = ODD_GRAPHS[place]
    for name in ("dijkstra", "bellman_ford", "johnson", "floyd_warshall", "shortest_path"):
        if name == "floyd_warshall" or not isinstance(graph, list):  # of which SciPy's shortest_path wants a shape
            for given in ({}, {"directed": False}, {"unweighted": True}):
                same_outcome(name, lambda: copy.copy(graph), given)
    for name, arguments in (("breadth_first_order", {"i_start": 0}), ("breadth_first_tree", {"i_start": 0})):
        for given in (arguments, arguments | {"directed": False}):
            same_outcome(name, lambda: copy.copy(graph), given)
    same_outcome("minimum_spanning_tree", lambda: copy.copy(graph), {})
    if hasattr(graph, "shape"):
        for connection in ("weak", "strong"):
            same_outcome("connected_components", lambda: copy.copy(graph), {"connection": connection})


@pytest.mark.parametrize("place", range(len(ODD_ARGUMENTS)))
def test_odd_arguments_have_scipys_answers_or_errors(place: int, monkeypatch: pytest.MonkeyPatch) -> None:
    name, given = ODD_ARGUMENTS[place]
    for make in (lambda: sp.csr_array(W, dtype=float), lambda: W.copy()):
        same_outcome(name, make, given)
    monkeypatch.setattr(small, "suits", lambda *_: False)  # as of a large matrix
    same_outcome(name, lambda: sp.csr_array(W, dtype=float), given)
