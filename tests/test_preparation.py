"""Preparation: vertices renumbered, neighbours sorted by weight, weights as ranks; every format, every backend."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algorithms import bellman_ford
from bench.graphs import grid
from formats import (
    ELL,
    Matrix,
    SegmentedCOO,
    by_weight,
    from_edges,
    from_ranks,
    inverse_permutation,
    permute,
    renumber,
    to_ranks,
    vertex_order,
)
from formats.preparation.renumbering import ORDERS
from semiring import SEMIRINGS

from . import strategies as sts
from .graphs import on_cpu

BACKENDS = ["cpu", pytest.param("cuda", marks=pytest.mark.backend("cuda"))]
every_backend = pytest.mark.parametrize("backend", BACKENDS)
every_order = pytest.mark.parametrize("by", ORDERS)
every_format = pytest.mark.parametrize("fmt", sts.FORMATS, ids=lambda fmt: fmt.__name__)
few = settings(max_examples=40)

KINDS = [
    (SEMIRINGS["lor_land"], sts.BOOL),
    *((SEMIRINGS["min_plus"], dtype) for dtype in (sts.INT32, sts.INT64, sts.FLOAT32, sts.FLOAT64)),
]
"""Which values are drawn: of every dtype, the ends of its range and infinities among them."""


@st.composite
def stored(draw: Any, fmt: type[Matrix], backend: str, *, square: bool = False) -> tuple[Matrix, dict[Any, Any]]:
    """A matrix of any dtype in the format, or such a matrix's transpose, and its entries."""
    entries = draw(sts.matrices(*draw(st.sampled_from(KINDS)), draw(sts.shapes(square=square))))
    A = sts.moved(entries.build(fmt), backend)
    if draw(st.booleans()):
        return A.T, {(j, i): value for (i, j), value in entries.at.items()}
    return A, entries.at


def at(A: Matrix) -> dict[tuple[int, int], Any]:
    """The entries of a matrix on any device."""
    rows, cols, values = (on_cpu(part).tolist() for part in A.to_edges())
    return dict(zip(zip(rows, cols, strict=True), values, strict=True))


def assert_alike(B: Matrix, A: Matrix) -> None:
    """Same format, orientation, options, shape and device, and good."""
    B.check()
    assert (type(B), B.major, B.options, B.shape, B.device) == (type(A), A.major, A.options, A.shape, A.device)


def bandwidth(A: Matrix) -> int:
    rows, cols, _ = A.to_edges()
    return int(abs(rows - cols).max())


# --- permutations -----------------------------------------------------------------------------------------------------


@every_format
@every_backend
@given(data=st.data())
@few
def test_permuting_moves_every_entry_and_the_inverse_brings_it_back(fmt, backend, data):
    A, entries = data.draw(stored(fmt, backend, square=True))
    old = data.draw(st.permutations(range(A.nrows)))
    permutation = sts.moved(np.array(old, np.int64), backend)
    inverse = inverse_permutation(permutation)
    B = permute(A, permutation)
    assert_alike(B, A)
    assert B.dtype == A.dtype
    assert at(B) == {(i, j): entries[old[i], old[j]] for i, j in np.ndindex(A.shape) if (old[i], old[j]) in entries}
    assert [old[v] for v in on_cpu(inverse).tolist()] == list(range(A.nrows))
    back = permute(B, inverse)
    assert_alike(back, A)
    assert back.equals(A)


@every_backend
def test_old_is_permutation_of_new(backend):
    A = from_edges([0, 1], [1, 2], [10, 20], shape=3).to(device=backend)
    B = permute(A, sts.moved(np.array([2, 0, 1]), backend))
    assert at(B) == {(1, 2): 10, (2, 0): 20}


@every_order
@every_backend
def test_distances_are_the_same_after_renumbering(by, backend):
    A = grid(9, dtype=np.int32).to(device=backend)
    B, permutation = renumber(A, by)
    inverse = inverse_permutation(permutation)
    d = bellman_ford(B, int(inverse[5]))
    assert (d[inverse] == bellman_ford(A, 5)).all()


REFUSED = [
    ([0, 1], "permutation must have 3 elements, one for each vertex, got 2"),
    ([0, 1, 2, 3], "permutation must have 3 elements, one for each vertex, got 4"),
    ([0, 3, -1], r"permutation must be in \[0, 3\), got 3"),
    ([-1, 0, 1], r"permutation must be in \[0, 3\), got -1"),
    ([0, 2**32, 1], r"permutation must be in \[0, 3\), got 4294967296"),
    ([2, 0, 0], "permutation must hold each vertex once, but 0 repeats at position 2"),
    ([1, 1, 1], "permutation must hold each vertex once, but 1 repeats at position 1"),
    ([[0, 1, 2]], "permutation must be one-dimensional, got 2 dimensions"),
]


@every_backend
@pytest.mark.parametrize(("wrong", "message"), REFUSED, ids=[str(wrong) for wrong, _ in REFUSED])
def test_what_is_no_permutation_is_refused(wrong, message, backend):
    A = from_edges([0], [1], shape=3).to(device=backend)
    with pytest.raises(ValueError, match=message):
        permute(A, sts.moved(np.array(wrong), backend))
    with pytest.raises(ValueError, match=message):
        permute(A.T, sts.moved(np.array(wrong), backend))


def test_a_list_is_a_permutation_and_other_types_are_not():
    A = from_edges([0], [1], shape=2)
    assert at(permute(A, [1, 0])) == {(1, 0): 1}
    assert inverse_permutation([]).tolist() == []
    with pytest.raises(ValueError, match="permutation must hold each vertex once, but 0 repeats at position 1"):
        inverse_permutation([0, 0])
    with pytest.raises(TypeError, match="permutation must be integers, got dtype bool"):
        permute(A, [True, False])
    with pytest.raises(TypeError, match="permutation must be integers, got dtype float64"):
        inverse_permutation([1.0, 0.0])


@pytest.mark.backend("cuda")
def test_a_permutation_on_another_device_is_refused():
    A = from_edges([0], [1], shape=2).to(device="cuda")
    with pytest.raises(ValueError, match="operands are on different devices"):
        permute(A, [1, 0])


@every_format
def test_only_square_matrices_are_renumbered(fmt):
    A = from_edges([0], [1], shape=(2, 3)).to(fmt)
    for call in (renumber, vertex_order, lambda A: permute(A, [0, 1])):
        with pytest.raises(ValueError, match=r"renumbering vertices needs a square matrix, got shape \(2, 3\)"):
            call(A)


def test_an_unknown_order_is_refused():
    with pytest.raises(ValueError, match="by must be one of degree, bfs, rcm; got 'colour'"):
        renumber(from_edges([0], [1], shape=2), "colour")


def test_options_are_kept():
    A = from_edges([0, 3], [1, 2], shape=5)
    B, _ = renumber(A.to(SegmentedCOO, segment=2), "bfs")
    assert B.segment == 2
    star = from_edges(np.zeros(3000, np.int32), np.arange(3000, dtype=np.int32), shape=3000).to(ELL, force=True)
    assert renumber(star)[0].width == 3000, "69 MiB, as it was"


# --- orders -----------------------------------------------------------------------------------------------------------


def neighbours(n: int, entries: Any) -> list[list[int]]:
    """The vertices at the other end of each vertex's entries, in both directions, ascending."""
    return [sorted({j for i, j in entries if i == v} | {i for i, j in entries if j == v}) for v in range(n)]


def by_degree(n: int, entries: Any) -> list[int]:
    return sorted(range(n), key=lambda v: (-sum((i == v) + (j == v) for i, j in entries), v))


def by_search(n: int, entries: Any) -> list[int]:
    near, order = neighbours(n, entries), []
    for start in range(n):
        queue = deque([start])
        while queue:
            v = queue.popleft()
            if v not in order:
                order.append(v)
                queue += near[v]
    return order


@every_format
@every_backend
@given(data=st.data())
@few
def test_orders_are_those_of_plain_python(fmt, backend, data):
    A, entries = data.draw(stored(fmt, backend, square=True))
    for by, expected in (("degree", by_degree), ("bfs", by_search)):
        permutation = vertex_order(A, by)
        assert (type(permutation), permutation.dtype) == (type(A.values), np.int32)
        assert permutation.tolist() == expected(A.nrows, entries)


@every_order
@every_format
@every_backend
@given(data=st.data())
@few
def test_an_order_is_a_permutation_and_the_same_from_every_format(by, fmt, backend, data):
    A, entries = data.draw(stored(fmt, backend, square=True))
    B, permutation = renumber(A, by)
    assert sorted(permutation.tolist()) == list(range(A.nrows))
    assert_alike(B, A)
    assert B.equals(permute(A, permutation))
    rows, cols = ([place[axis] for place in entries] for axis in (0, 1))
    assert permutation.tolist() == vertex_order(from_edges(rows, cols, shape=A.nrows), by).tolist()


@every_backend
def test_components_of_a_search_follow_each_other(backend):
    """0 - 5 - 3, then 1 alone, then 2 - 6 - 4; one edge is given in one direction only, one with a weight of 0."""
    A = from_edges([5, 5, 3, 4, 6], [0, 3, 5, 6, 2], [1, 0, 1, 1, 1], shape=7).to(device=backend)
    assert vertex_order(A, "bfs").tolist() == [0, 5, 3, 1, 2, 6, 4]


@every_order
@every_backend
@pytest.mark.parametrize("n", [0, 1, 4])
def test_without_edges_there_is_still_an_order(by, backend, n):
    B, permutation = renumber(from_edges([], [], shape=n).to(device=backend), by)
    assert sorted(permutation.tolist()) == list(range(n))
    assert (B.shape, B.nnz) == ((n, n), 0)


@every_backend
@pytest.mark.parametrize("by", ["bfs", "rcm"])
def test_a_shuffled_grid_becomes_narrow(by, backend):
    A = grid(20, dtype=np.int32).to(device=backend)
    shuffled = permute(A, sts.moved(np.random.default_rng(5).permutation(400), backend))
    assert bandwidth(shuffled) > 300
    assert bandwidth(renumber(shuffled, by)[0]) <= 60


@every_backend
def test_cuthill_and_mckee_straighten_a_shuffled_path(backend):
    v = np.random.default_rng(6).permutation(100)
    path = from_edges(v[1:], v[:-1], shape=103).to(device=backend)  # three vertices are alone
    assert bandwidth(path) > 50
    assert bandwidth(renumber(path, "rcm")[0]) == 1


# --- neighbours by weight ---------------------------------------------------------------------------------------------


@every_format
@every_backend
@given(data=st.data())
@few
def test_neighbours_are_sorted_by_weight_then_by_column(fmt, backend, data):
    A, entries = data.draw(stored(fmt, backend))
    near = by_weight(A)
    indptr, indices, values, order = (on_cpu(part) for part in (near.indptr, near.indices, near.values, near.order))
    found = [
        [(values[e].item(), int(indices[e])) for e in range(indptr[u], indptr[u + 1])] for u in range(indptr.size - 1)
    ]
    assert found == [sorted((w, j) for (i, j), w in entries.items() if i == u) for u in range(A.nrows)]
    assert {part.dtype for part in (indptr, indices, order)} == {np.dtype(np.int32)}
    assert values.dtype == A.dtype
    assert isinstance(near.order, type(A.values))
    _, cols, weights = (on_cpu(part) for part in A.to_edges())
    assert sorted(order.tolist()) == list(range(A.nnz))
    assert indices.tolist() == cols[order].tolist()
    assert values.tolist() == weights[order].tolist()


@every_backend
def test_equal_weights_keep_the_order_of_columns(backend):
    cols = np.arange(1000, dtype=np.int32)
    A = from_edges(np.zeros(1000, np.int32), cols, np.where(cols % 2, -0.0, 0.0), shape=(3, 1000)).to(device=backend)
    near = by_weight(A)
    assert near.order.tolist() == near.indices.tolist() == cols.tolist()
    assert near.indptr.tolist() == [0, 1000, 1000, 1000]


def test_neighbours_by_weight_are_read_only():
    near = by_weight(from_edges([0], [1], shape=2))
    for array in (near.indptr, near.indices, near.values, near.order):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


# --- ranks ------------------------------------------------------------------------------------------------------------

TINY = float(np.finfo(np.float32).smallest_subnormal)
AWKWARD = {
    "int32": [2**31 - 1, -(2**31), 0, -1, 1, 2**31 - 2],
    "int64": [2**63 - 1, -(2**63), 0, 2**53, 2**53 + 1, -(2**53) - 1, -(2**53)],
    "float32": [np.inf, -np.inf, 0.0, TINY, -TINY, 2 * TINY, 1.0, float(np.nextafter(np.float32(1), np.float32(2)))],
    "float64": [np.inf, -np.inf, 0.0, 5e-324, -5e-324, 1e-310, 1.0, float(np.nextafter(1.0, 2.0)), -1.0],
    "bool": [True, False],
}
"""Values that are easily taken for each other, each once."""


@every_format
@every_backend
@given(data=st.data())
@few
def test_ranks_count_the_distinct_weights_below(fmt, backend, data):
    A, entries = data.draw(stored(fmt, backend))
    R, weights = to_ranks(A)
    distinct = sorted(set(entries.values()))
    assert (R.dtype, weights.dtype, type(weights)) == (np.int32, A.dtype, type(A.values))
    assert on_cpu(weights).tolist() == distinct
    assert at(R) == {place: distinct.index(value) for place, value in entries.items()}
    assert_alike(R, A)
    back = from_ranks(R, weights)
    assert_alike(back, A)
    assert (back.dtype, at(back)) == (A.dtype, entries)


@every_backend
@pytest.mark.parametrize("dtype", AWKWARD)
def test_close_weights_are_told_apart(dtype, backend):
    values = np.array(AWKWARD[dtype], dtype)
    A = from_edges(np.zeros(values.size, np.int32), np.arange(values.size, dtype=np.int32), values)
    B = A.to(device=backend)
    R, weights = to_ranks(B)
    assert on_cpu(weights).tolist() == sorted(AWKWARD[dtype])
    assert from_ranks(R, weights).to(device="cpu").equals(A)
    assert on_cpu(by_weight(B).values).tolist() == sorted(AWKWARD[dtype])


@every_backend
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_both_zeros_are_one_weight(dtype, backend):
    A = from_edges([0, 0, 1, 1], [0, 1, 0, 1], np.array([-0.0, 1.0, 0.0, -1.0], dtype)).to(device=backend)
    R, weights = to_ranks(A)
    assert on_cpu(R.values).tolist() == [1, 2, 1, 0]
    assert on_cpu(weights).tolist() == [-1, 0, 1]
    assert not np.signbit(on_cpu(from_ranks(R, weights).values)[0])
    assert by_weight(A).indices.tolist() == [0, 1, 1, 0]


def test_ranks_share_the_pattern():
    A = from_edges([0, 1], [1, 0], [0.5, 0.25])
    R: Any = to_ranks(A)[0]
    assert np.shares_memory(R.indices, A.indices)
    assert np.shares_memory(R.indptr, A.indptr)


@every_format
@every_backend
def test_a_rank_without_a_weight_is_refused(fmt, backend):
    R = from_edges([0, 1, 1], [1, 0, 1], [0, 3, 1], shape=3).to(fmt, device=backend)
    weights = sts.moved(np.array([0.5, 1.5, 2.5]), backend)
    for A in (R, R.T):
        with pytest.raises(ValueError, match=r"ranks must be in \[0, 3\), got 3"):
            from_ranks(A, weights)
    with pytest.raises(ValueError, match=r"ranks must be in \[0, 3\), got -2"):
        from_ranks(from_edges([0], [1], [-2]).to(fmt, device=backend), weights)
    with pytest.raises(ValueError, match=r"ranks must be in \[0, 0\), got 0"):
        from_ranks(from_edges([0], [1], [0]).to(fmt, device=backend), weights[:0])


@pytest.mark.parametrize("dtype", ["bool", "float64"])
def test_only_integers_are_ranks(dtype):
    with pytest.raises(TypeError, match=f"ranks must be integers, got a matrix of {dtype}"):
        from_ranks(from_edges([0], [1], [1], dtype=dtype), [1, 2])


def test_weights_are_checked():
    R = from_edges([0], [1], [1])
    assert at(from_ranks(R, [5, 7])) == {(0, 1): 7}
    with pytest.raises(ValueError, match="values must not be NaN, got NaN at position 0"):
        from_ranks(R, [np.nan, 1.0])
    with pytest.raises(ValueError, match="values must be one-dimensional, got 2 dimensions"):
        from_ranks(R, [[1, 2]])


@every_backend
def test_bottlenecks_found_by_ranks_are_those_of_the_weights(backend):
    A = grid(8, dtype=np.float64).to(device=backend)
    R, weights = to_ranks(A)
    by_rank, by_value = bellman_ford(R, 0, "min_max"), bellman_ford(A, 0, "min_max")
    assert (weights[by_rank[1:]] == by_value[1:]).all()
