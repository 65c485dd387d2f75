"""The way in and out: edges, SciPy, NetworkX and python-graphblas."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import UserDict
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from algorithms import bellman_ford
from formats import COO, CSC, CSR, from_edges, from_graphblas, from_networkx, from_scipy
from formats.adjacency import AT_ONCE, numbers_of

from . import strategies as sts

FORMATS = pytest.mark.parametrize("fmt", sts.FORMATS, ids=lambda fmt: fmt.__name__)


def edges(A):
    return list(zip(*(part.tolist() for part in A.to_edges()), strict=True))


# --- edges ------------------------------------------------------------------------------------------------------------

KEEP = {"min": min, "max": max, "sum": sum, "first": lambda w: w[0], "last": lambda w: w[-1]}


@pytest.mark.parametrize("dup", list(KEEP))
@given(drawn=sts.edge_lists(sts.INT32))
def test_duplicate_edges_combine(dup, drawn):
    n, listed = drawn
    weights = {}
    for u, v, w in listed:
        weights.setdefault((u, v), []).append(w)
    src, dst, values = zip(*listed, strict=True) if listed else ((), (), ())
    A = from_edges(src, dst, values, shape=n, dup=dup)
    A.check()
    assert A.shape == (n, n)
    assert edges(A) == [(u, v, KEEP[dup](w)) for (u, v), w in sorted(weights.items())]


def test_edges_without_weights_shape_or_entries():
    A = from_edges([0, 5], [3, 1])
    assert (A.shape, A.dtype, edges(A)) == ((6, 6), np.int32, [(0, 3, 1), (5, 1, 1)])
    assert from_edges([], []).shape == (0, 0)
    assert from_edges([], [], shape=(2, 3)).shape == (2, 3)
    assert from_edges([0], [0], dtype=float).dtype == np.float64
    assert from_edges([0], [0], [2**31]).dtype == np.int64
    assert from_edges([0], [0], [1.5]).dtype == np.float64
    assert from_edges([0], [0], [True]).dtype == np.bool_


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        (([0], [0, 1]), {}, ValueError, "src, dst and weights must be of one length, got 1, 2 and 1"),
        (([0], [0], [1, 2]), {}, ValueError, "must be of one length, got 1, 1 and 2"),
        (([0], [3]), {"shape": 3}, ValueError, r"dst must be in \[0, 3\), got 3"),
        (([-1], [0]), {}, ValueError, r"src must be in \[0, 1\), got -1"),
        (([2], [0]), {"shape": (2, 9)}, ValueError, r"src must be in \[0, 2\), got 2"),
        (([0], [0], [float("nan")]), {}, ValueError, "values must not be NaN"),
        (([0], [0], [0.5]), {"dtype": "int32"}, ValueError, "value 0.5 cannot be stored as int32"),
        (([0], [0], [2**31]), {"dtype": "int32"}, ValueError, "value 2147483648 cannot be stored as int32"),
        (([0], [0], [2.0**63]), {"dtype": "int64"}, ValueError, r"value 9.22\S+ cannot be stored as int64"),
        (([0], [0], [float("inf")]), {"dtype": "int64"}, ValueError, "value inf cannot be stored as int64"),
        (([0], [0], [2]), {"dtype": bool}, ValueError, "value 2 cannot be stored as bool"),
        (([0, 0], [1, 1]), {"dup": "error"}, ValueError, r"edge \(0, 1\) is given more than once"),
        (([0], [0]), {"dup": "mean"}, ValueError, "dup must be one of min, max, sum, first, last, error; got 'mean'"),
        (([0.0], [0]), {}, TypeError, "src must be integers, got dtype float64"),
        (([0], [0], ["a"]), {}, TypeError, "values of dtype <U1 are not supported"),
        (([0], [0]), {"shape": -1}, ValueError, "shape must not be negative"),
    ],
)
def test_edges_that_make_no_matrix(arguments, options, error, message):
    with pytest.raises(error, match=message):
        from_edges(*arguments, **options)


def test_a_sum_of_duplicates_that_overflows_is_an_error():
    for dtype in (np.int32, np.int64):
        top = np.iinfo(dtype).max
        with pytest.raises(OverflowError, match="the sum of duplicate edges does not fit"):
            from_edges([0, 0], [0, 0], np.array([top, top], dtype), dup="sum")


def test_far_apart_positions_sort_without_a_common_key():
    far = 2**40
    A = COO([far, 0], [0, far], [1, 2], (2**41, 2**41))
    assert edges(A) == [(0, far, 2), (far, 0, 1)]


# --- SciPy ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["array", "matrix"])
@pytest.mark.parametrize(("name", "fmt"), [("csr", CSR), ("csc", CSC), ("coo", COO), ("lil", CSR)])
def test_from_scipy(name, fmt, kind):
    dense = np.array([[0, 2.5, 0], [1, 0, 3]])
    A = from_scipy(getattr(scipy.sparse, f"{name}_{kind}")(dense))
    assert type(A) is fmt
    assert A.to_dense().tolist() == dense.tolist()


def test_scipys_sorted_arrays_are_shared_and_stored_zeros_stay():
    S = scipy.sparse.csr_array(
        (np.array([0.0, 4.0]), np.array([0, 2], np.int32), np.array([0, 1, 2], np.int32)), shape=(2, 3)
    )
    A = from_scipy(S)
    assert np.shares_memory(A.values, S.data)
    assert edges(A) == [(0, 0, 0.0), (1, 2, 4.0)]


@pytest.mark.parametrize("convert", ["tocsr", "tocsc", "tocoo"])
def test_scipys_duplicates_combine_as_scipy_has_them(convert):
    parts = ([5, 3, 1], ([0, 0, 1], [1, 1, 0]))
    S = scipy.sparse.coo_array(parts, shape=(2, 2))
    if convert != "tocoo":  # SciPy's own conversion adds duplicates: put them back by hand
        one = scipy.sparse.csr_array if convert == "tocsr" else scipy.sparse.csc_array
        S = one((np.array([5, 3, 1]), np.array([1, 1, 0]), np.array([0, 2, 3])), shape=(2, 2))
    A = from_scipy(S)
    assert sorted(A.to_edges()[2].tolist()) == [1, 8]
    assert sorted(from_scipy(S, dup="max").to_edges()[2].tolist()) == [1, 5]


def test_scipys_unsorted_rows_are_sorted():
    S = scipy.sparse.csr_array((np.array([1, 2]), np.array([1, 0]), np.array([0, 2])), shape=(1, 2))
    assert edges(from_scipy(S)) == [(0, 0, 2), (0, 1, 1)]


def test_what_is_not_a_scipy_matrix():
    with pytest.raises(TypeError, match="expected a SciPy sparse array or matrix, got ndarray"):
        from_scipy(np.eye(2))
    with pytest.raises(ValueError, match="expected two dimensions, got 1"):
        from_scipy(scipy.sparse.coo_array(np.ones(3)))


@FORMATS
def test_to_scipy_and_back(fmt):
    A = from_edges([0, 0, 2], [1, 2, 0], [1.5, 0.0, 2.0], shape=(3, 4)).to(fmt)
    for M in (A, A.T):
        S = M.to_scipy()
        assert S.nnz == 3
        assert from_scipy(S).equals(M)


# --- NetworkX ---------------------------------------------------------------------------------------------------------


def test_from_networkx_directed_with_labels_and_missing_weights():
    G = nx.DiGraph()
    G.add_weighted_edges_from([("b", "a", 2.5)])
    G.add_edge("a", "c")
    A, labels = from_networkx(G, return_labels=True)
    assert labels == ["b", "a", "c"]
    assert edges(A) == [(0, 1, 2.5), (1, 2, 1.0)]
    assert edges(from_networkx(G, weight=None)) == [(0, 1, 1), (1, 2, 1)]
    assert from_networkx(G, weight=None).dtype == np.int32


@pytest.mark.parametrize("count", [1, AT_ONCE, AT_ONCE + 1])
def test_names_are_looked_up_in_parts_of_any_size(count):
    G = nx.DiGraph([(f"v{i}", f"v{i * 7 % count + 1}") for i in range(count)])
    A, labels = from_networkx(G, return_labels=True)
    assert [(labels[u], labels[v]) for u, v, _ in edges(A)] == sorted(
        G.edges, key=lambda edge: tuple(map(labels.index, edge))
    )


@pytest.mark.parametrize("names", [[0, 1, 2], [0, 2, 1], [2**70, 1, 2], [-1, 0, 2], [0, True, 2], [0.0, 1.0, 2.0], []])
def test_names_are_numbers_only_where_they_count_from_0(names):
    assert (numbers_of(names) is None) == (names in ([0, 1, 2], []) and all(type(each) is int for each in names))
    G = nx.DiGraph(zip(names, names[1:], strict=False))
    G.add_nodes_from(names)
    assert edges(from_networkx(G)) == [(i, i + 1, 1) for i in range(len(names) - 1)]


@pytest.mark.parametrize("same", [0.0, 0.999, 1.0])
def test_many_names_are_found_by_what_they_are_or_by_what_they_equal(same: float) -> None:
    """Neighbours are those objects that are the nodes, or others that equal them, or some of both."""
    rng, n = np.random.default_rng(1), AT_ONCE + 100
    names = [f"vertex {i}" for i in rng.permutation(n)]
    G = nx.DiGraph()
    G.add_nodes_from(names)
    u, v = rng.integers(0, n, (2, 3 * n))
    for i, j, own in zip(u.tolist(), v.tolist(), (rng.random(3 * n) < same).tolist(), strict=True):
        G.add_edge(names[i], names[j] if own else "".join(list(names[j])), weight=i + j)
    A = from_networkx(G)
    assert A.equals(from_edges(u, v, u + v, shape=n, dtype=A.dtype))


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiDiGraph])
@pytest.mark.parametrize("weight", [True, 3, 2.5])
def test_neighbours_in_any_order_are_sorted_with_their_weights(kind, weight):
    G = kind()
    G.add_nodes_from(range(60))
    for i in np.random.default_rng(0).permutation(400).tolist():
        G.add_edge(i % 60, i * 7 % 59, weight=weight * (i + 1))
    listed = [edge for u, v, w in G.edges(data="weight") for edge in ((u, v, w), (v, u, w))[: 1 + (kind is nx.Graph)]]
    for dtype in (None, "float64"):
        A = from_networkx(G, dtype=dtype)
        assert A.equals(from_edges(*map(list, zip(*listed, strict=True)), shape=60, dtype=dtype))
    assert not A.indices.flags.writeable


def test_a_graph_whose_neighbours_are_no_plain_dictionaries():
    class Others(UserDict):
        pass

    class Odd(nx.DiGraph):
        adjlist_inner_dict_factory = Others

    assert edges(from_networkx(Odd([(0, 1), (1, 2, {"weight": 3})]))) == [(0, 1, 1), (1, 2, 3)]


def test_from_networkx_undirected_counts_both_ways_and_loops_once():
    G = nx.Graph()
    G.add_weighted_edges_from([(0, 1, 4), (1, 1, 6)])
    assert edges(from_networkx(G)) == [(0, 1, 4), (1, 0, 4), (1, 1, 6)]


@pytest.mark.parametrize("kind", [nx.MultiDiGraph, nx.MultiGraph])
def test_parallel_edges_of_a_multigraph_combine_with_min(kind):
    G = kind()
    G.add_weighted_edges_from([(0, 1, 4), (0, 1, 3)])
    assert from_networkx(G)[0, 1] == 3


def test_networkx_without_edges_or_with_words_for_weights():
    G = nx.DiGraph()
    assert from_networkx(G).shape == (0, 0)
    G.add_nodes_from(range(3))
    assert (from_networkx(G).shape, from_networkx(G).nnz) == ((3, 3), 0)
    G.add_edge(0, 1, weight=None)
    with pytest.raises(ValueError, match="attribute 'weight' must be a number on every edge"):
        from_networkx(G)


def test_a_weight_function_is_called_as_networkx_calls_it():
    G = nx.DiGraph()
    G.add_edge("a", "b", km=6, speed=3)
    G.add_edge("b", "c", km=5, speed=2, closed=True)
    G.add_edge("a", "c", km=9, speed=1)
    hours = lambda u, v, data: None if data.get("closed") else data["km"] / data["speed"]  # noqa: E731
    A, labels = from_networkx(G, hours, return_labels=True)
    assert edges(A) == [(0, 1, 2.0), (0, 2, 9.0)]
    expected = nx.single_source_dijkstra_path_length(G, "a", weight=hours)
    assert {labels[v]: x for v, x in enumerate(bellman_ford(A, 0)) if x < np.inf} == expected


def test_a_weight_function_may_tell_the_directions_of_an_undirected_edge_apart():
    G = nx.Graph([(0, 1), (1, 1)])
    assert edges(from_networkx(G, lambda u, v, data: 10 * u + v)) == [(0, 1, 1), (1, 0, 10), (1, 1, 11)]


def test_a_weight_function_sees_all_parallel_edges_of_a_multigraph():
    G = nx.MultiDiGraph()
    G.add_weighted_edges_from([(0, 1, 4), (0, 1, 3)])
    assert from_networkx(G, lambda u, v, data: sum(d["weight"] for d in data.values()))[0, 1] == 7


def test_a_misspelt_weight_is_refused_and_a_missing_one_weighs_1():
    G = nx.Graph()
    G.add_edge(0, 1, length=7)
    G.add_edge(1, 2)
    with pytest.raises(ValueError, match="no edge has the attribute 'lenght': their attributes are 'length'"):
        from_networkx(G, "lenght")
    with pytest.raises(ValueError, match="no edge has the attribute 'length': they have no attributes"):
        from_networkx(nx.path_graph(3), "length")
    assert from_networkx(G, "length")[2, 1] == 1
    assert from_networkx(nx.path_graph(3)).values.tolist() == [1, 1, 1, 1]  # NetworkX's default name, and no weights
    assert from_networkx(nx.empty_graph(3), "length").nnz == 0
    with pytest.raises(TypeError, match="weight must be an attribute's name, a function .* or None, got True"):
        from_networkx(G, True)
    with pytest.raises(ValueError, match="the function's result must be a number on every edge"):
        from_networkx(G, lambda u, v, data: data)


@FORMATS
def test_to_networkx_and_back(fmt):
    A = from_edges([0, 2], [1, 0], [5, 0], shape=3).to(fmt)
    G = A.to_networkx()
    assert sorted(G.edges(data="weight")) == [(0, 1, 5), (2, 0, 0)]
    assert from_networkx(G).equals(A)
    assert list(A.to_networkx(labels="xyz").nodes) == ["x", "y", "z"]
    with pytest.raises(ValueError, match="labels must name all 3 vertices, got 2"):
        A.to_networkx(labels="xy")
    with pytest.raises(ValueError, match=r"a graph needs a square matrix, got shape \(2, 3\)"):
        from_edges([], [], shape=(2, 3)).to(fmt).to_networkx()


# --- python-graphblas -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [bool, np.int32, np.int64, np.float32, np.float64], ids=lambda t: np.dtype(t).name)
@FORMATS
def test_to_graphblas_and_back(fmt, dtype, gb):
    for A in (
        from_edges([0, 2], [1, 0], [1, 0], shape=(3, 4), dtype=dtype),
        from_edges([], [], [], shape=3, dtype=dtype),
    ):
        M = A.to(fmt).to_graphblas()
        assert M.nvals == A.nnz
        assert from_graphblas(M).equals(A)
        assert from_graphblas(A.T.to(fmt).to_graphblas()).equals(A.T)


def test_graphblas_with_one_value_for_all_entries(gb):
    M = gb.Matrix.from_coo([0, 1, 1], [1, 0, 1], 7, nrows=2, ncols=2)
    assert edges(from_graphblas(M)) == [(0, 1, 7), (1, 0, 7), (1, 1, 7)]


def test_graphblas_owns_its_memory(gb):
    A = from_edges([0], [1], [5], shape=2)
    M = A.to_graphblas()
    M[0, 1] = 6
    assert A[0, 1] == 5


@given(st.sampled_from(["int8", "uint16"]))
def test_graphblas_small_integers_become_int32(gb, name):
    M = gb.Matrix.from_coo([0], [1], np.array([3], name), nrows=2, ncols=2)
    assert from_graphblas(M).dtype == np.int32


@pytest.mark.parametrize("said", ["", "ACTIVE"])
def test_threads_of_graphblas_sleep_while_they_wait_unless_they_are_told_otherwise(said, gb):
    kept = {name: value for name, value in os.environ.items() if name not in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT")}
    own = {"OMP_WAIT_POLICY": said} if said else {}
    code = "import os; from semiring.cpu.suitesparse import library; library(); print(os.getenv('OMP_WAIT_POLICY'))"
    environment = {**kept, **own, "OMP_DISPLAY_ENV": "TRUE", "PYTHONPATH": str(Path(__file__).parents[1])}
    told = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert f"OMP_WAIT_POLICY = '{said or 'PASSIVE'}'" in told.stderr
    assert told.stdout.strip() == (said or "None")
