"""What algorithms on undirected graphs and on parts of graphs ask of formats and verbs, in every format and device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algorithms.shared.edges import undirected_edges
from formats import CSC, Matrix, SparseVector, from_edges
from formats.arrays import to_device
from formats.edges import with_edges
from formats.storage.orientation import by_columns, by_rows, has_columns, is_symmetric
from semiring import LorLand, MinPlus, Monoid, PlusTimes, Semiring, differs, mxv, select, vxm, within
from semiring.algebra.ops import OPERATORS
from semiring.algebra.semirings import find_semiring
from semiring.statistics import largest, magnitude, mean, median, smallest
from semiring.vectors import degrees, hashed, longest_row, membership, renumbered, roots, unweighted
from semiring.verbs import steps

from .array_programs import united_by_arrays
from .graphs import Graph, every_format, graphs, on_cpu


def edges(A: Matrix) -> list[tuple]:
    return list(zip(*(on_cpu(part).tolist() for part in A.to_edges()), strict=True))


@every_format
@given(graph=graphs(st.integers(0, 9), max_n=8), data=st.data())
@settings(max_examples=15)
def test_edges_within_and_between_parts(verb, fmt, backend, graph, data):
    A = graph.matrix(np.int32)
    M = A.to(fmt, device=backend)
    part = np.array(data.draw(st.lists(st.integers(0, 2), min_size=graph.n, max_size=graph.n)), np.int64)
    there = to_device(part, backend)
    inside = select(unweighted(M), within, row=there - 1, col=there - 1)
    between = select(M, differs, row=there, col=there)
    assert edges(inside) == [(u, v, True) for u, v, _ in edges(A) if part[u] == part[v] > 0]
    assert edges(between) == [(u, v, w) for u, v, w in edges(A) if part[u] != part[v]]
    some = SparseVector(np.flatnonzero(part), part[part > 0], graph.n).to(device=backend)
    assert edges(select(M, differs, row=some, col=some)) == [
        (u, v, w) for u, v, w in edges(A) if part[u] and part[v] and part[u] != part[v]
    ]


@every_format
@given(graph=graphs(st.integers(0, 2), max_n=5))
@settings(max_examples=30)
def test_symmetry_of_values_and_of_the_pattern(verb, fmt, backend, graph):
    A = graph.matrix(np.int32)
    M = A.to(fmt, device=backend)
    stored = {(u, v): w for u, v, w in edges(A)}
    assert is_symmetric(M, pattern=True) == all((v, u) in stored for u, v in stored)
    assert is_symmetric(M) == all(stored.get((v, u)) == w for (u, v), w in stored.items())
    assert edges(by_columns(M)) == edges(by_rows(M)) == edges(A)
    assert (by_columns(M).major, by_rows(M).major) == (1, 0)


@every_format
def test_columns_of_a_symmetric_matrix_are_its_transpose(verb, fmt, backend):
    A = from_edges([0, 1, 1, 2], [1, 0, 2, 1], [3, 3, 4, 4], shape=3).to(fmt, device=backend)
    assert is_symmetric(A)
    assert is_symmetric(A.T)
    assert has_columns(A)
    assert by_columns(A) is (A if A.major == 1 else A.T)
    assert by_rows(A) is (A if A.major == 0 else A.T)
    assert not is_symmetric(from_edges([0], [1], shape=(2, 3)).to(fmt, device=backend))


@every_format
@given(graph=graphs(st.integers(-9, 9), max_n=8))
@settings(max_examples=15)
def test_what_is_known_of_rows_and_of_values(verb, fmt, backend, graph):
    A = graph.matrix(np.float32)
    M = A.to(fmt, device=backend)
    lengths = degrees(M)
    assert lengths.dtype == np.int64
    assert on_cpu(lengths).tolist() == np.bincount([u for u, _, _ in edges(A)], minlength=graph.n).tolist()
    assert longest_row(M) == max(lengths.tolist(), default=0)
    weights = np.array([w for _, _, w in edges(A)] or [0.0])
    found = [of(M, MinPlus) for of in (mean, median, smallest, largest, magnitude)]
    expected = [weights.mean(), np.median(weights), weights.min(), weights.max(), abs(weights).max()]
    assert found == pytest.approx(expected)


@pytest.mark.parametrize("backend", ["cpu", pytest.param("cuda", marks=pytest.mark.backend("cuda"))])
def test_statistics_leave_absent_values_out_in_every_dtype(backend):
    for dtype in PlusTimes.dtypes:
        rows, values = np.arange(70_000), np.arange(70_000).astype(dtype)  # the first is absent
        A = from_edges(rows, rows % 7, values).to(device=backend)
        assert smallest(A, PlusTimes) == 1
        assert largest(A, PlusTimes) == 69_999
        assert mean(A, PlusTimes) == 35_000
        assert smallest(A, MinPlus) == 0
        assert longest_row(A) == 1
        assert longest_row(A.T) == 10_000
        assert mean(A.pattern(), find_semiring("lor_land")) == 1


def test_a_csr_that_turns_out_symmetric_keeps_no_columns():
    A = from_edges([0, 1, 1, 2], [1, 0, 2, 1], [3, 3, 4, 4], shape=3)
    assert not has_columns(A)
    assert is_symmetric(A)
    assert A.kept_nbytes == 0


@pytest.mark.parametrize(
    ("there", "back", "same"),
    [(-0.0, 0.0, True), (1e-45, 1e-45, True), (1e-45, 3e-45, False), (0.0, 1e-45, False), (np.inf, np.inf, True)],
)
@pytest.mark.parametrize("backend", ["cpu", pytest.param("cuda", marks=pytest.mark.backend("cuda"))])
def test_zeros_of_both_signs_are_symmetric_and_subnormal_numbers_are_looked_at(backend, there, back, same):
    weights = np.array([there, back], np.float32)
    A = from_edges([0, 1], [1, 0], weights).to(device=backend)
    assert is_symmetric(A) == same
    assert is_symmetric(A, pattern=True)
    assert is_symmetric(A.pattern())


@pytest.mark.parametrize("backend", ["cpu", pytest.param("cuda", marks=pytest.mark.backend("cuda"))])
def test_a_ring_is_not_symmetric_and_one_both_ways_is_but_for_one_weight(backend):
    n = 3000
    v = np.arange(n)
    ring = from_edges(v, (v + 1) % n, v).to(device=backend)  # every row and column has one entry
    assert not is_symmetric(ring, pattern=True)
    for changed in (False, True):
        weights = np.concatenate((v, v))
        weights[-1] += changed
        both = from_edges(np.append(v, (v + 1) % n), np.append((v + 1) % n, v), weights).to(device=backend)
        assert is_symmetric(both, pattern=True)
        assert is_symmetric(both) == (not changed)


@pytest.mark.parametrize("backend", ["cpu", pytest.param("cuda", marks=pytest.mark.backend("cuda"))])
def test_columns_of_an_ell_with_a_hub_are_not_padded(backend):
    n = 3000
    star = from_edges(np.arange(1, n), np.zeros(n - 1, int), shape=n).to("ell").to(device=backend)
    assert isinstance(by_columns(star), CSC)
    assert star.kept_nbytes < 3 * star.nbytes
    assert edges(by_columns(star)) == edges(star)


@every_format
@given(graph=graphs(st.integers(0, 9), max_n=8), data=st.data())
@settings(max_examples=15)
def test_entries_of_chosen_rows_are_counted(verb, fmt, backend, graph, data):
    A = graph.matrix(np.int32)
    M = A.to(fmt, device=backend)
    some = sorted(data.draw(st.sets(st.integers(0, graph.n - 1))))
    f = SparseVector(some, np.ones(len(some), np.int64), graph.n).to(device=backend)
    for x, matrix, at in ((f, M, 1), (f, M.T, 0)):
        found = vxm(x, unweighted(matrix), "plus_pair")
        inside = [edge for edge in edges(A) if edge[1 - at] in some]
        right = {v: sum(edge[at] == v for edge in inside) for v in {edge[at] for edge in inside}}
        assert dict(zip(on_cpu(found.indices).tolist(), on_cpu(found.values).tolist(), strict=True)) == right


@every_format
@given(graph=graphs(st.integers(0, 9), max_n=6))
@settings(max_examples=15)
def test_undirected_edges_come_once_and_sorted(verb, fmt, backend, graph):
    M = graph.matrix(np.int32).to(fmt, device=backend)
    E = undirected_edges(M, symmetrize=True)
    lightest: dict[tuple[int, int], int] = {}
    for u, v, w in edges(M):
        if u != v:
            key = (min(u, v), max(u, v))
            lightest[key] = min(w, lightest.get(key, w))
    assert edges(E) == [(*key, w) for key, w in sorted(lightest.items())]
    E.check()


@every_format
def test_a_pattern_with_more_edges(verb, fmt, backend):
    M = from_edges([0, 1], [1, 2], [5, 6], shape=4).to(fmt, device=backend)
    u, v = (to_device(np.array(ends), backend) for ends in ([3, 0], [0, 1]))
    more = with_edges(M, u, v)
    assert type(more) is fmt
    assert edges(more) == [(0, 1, True), (1, 2, True), (3, 0, True)]


@pytest.mark.parametrize("backend", ["cpu", pytest.param("cuda", marks=pytest.mark.backend("cuda"))])
def test_groups_trees_and_hashes(backend):
    def there(values: Any, dtype: str = "int32") -> Any:
        return to_device(np.array(values, dtype), backend)

    assert on_cpu(roots(there([0, 0, 1, 2, 4, 4]))).tolist() == [0, 0, 0, 0, 4, 4]
    number, count = renumbered(there([1, 1, 3, 3, 1]))
    assert (on_cpu(number).tolist(), count) == ([0, 0, 1, 1, 0], 2)
    assert renumbered(there([]))[1] == 0
    of_groups = vxm(there([5, 3, 9, 1]), membership(there([2, 0, 2, 0]), 3), "min_first")
    assert on_cpu(of_groups).tolist() == [1, 2**31 - 1, 5]
    random = on_cpu(hashed(there(range(1000)), 3))
    assert random.dtype == np.int64
    assert random.min() >= 0
    assert np.unique(random).size == 1000
    published = [16294208416658607535, 7960286522194355700, 487617019471545679]  # splitmix64 from the seed 0
    assert on_cpu(hashed(there([1, 2, 3]), 0)).tolist() == [number >> 1 for number in published]


@pytest.mark.parametrize("backend", ["cpu", pytest.param("cuda", marks=pytest.mark.backend("cuda"))])
@pytest.mark.parametrize("fmt", ["csr", "csc"])
def test_a_masked_product_stops_at_the_first_term_of_a_terminal_sum(fmt, backend):
    """A minimum that calls itself terminal is the first entry, so the rest was not looked at."""
    hasty = Semiring(Monoid(OPERATORS["min"], "highest", idempotent=True, terminal=True), OPERATORS["second"])
    n = 400
    u, v = np.nonzero(np.ones((n, n), bool))
    A = from_edges(u, v, (np.arange(n * n) % 7).astype(np.int32), shape=n).to(fmt, device=backend)
    x = np.where(np.arange(n) < 300, np.iinfo(np.int32).max, 400 - np.arange(n)).astype(np.int32)  # absent up to 300
    mask = to_device(np.arange(n) % 3 > 0, backend)
    y = on_cpu((mxv if fmt == "csr" else _turned)(A, to_device(x, backend), hasty, mask=mask))
    np.testing.assert_array_equal(y, np.where(np.arange(n) % 3 > 0, 100, np.iinfo(np.int32).max))
    few = from_edges([0, 0, 2], [1, 2, 0], np.ones(3, bool), shape=3).to(fmt, device=backend)
    some = to_device(np.array([True, False, True]), backend)
    found = (mxv if fmt == "csr" else _turned)(few, some, LorLand, mask=some)
    assert on_cpu(found).tolist() == [True, False, True]


def _turned(A: Matrix, x: Any, semiring: Semiring, **rule: Any) -> Any:
    """x ⊗ A, which looks down the columns; of operands whose order does not matter here."""
    flipped = Semiring(semiring.add, OPERATORS["first"]) if semiring.mul.name == "second" else semiring
    return vxm(x, A, flipped, **rule)


@given(data=st.data())
@settings(max_examples=40)
def test_compiled_steps_are_the_array_programs_that_a_gpu_runs(data):
    graph, other = (data.draw(graphs(st.integers(-9, 9), max_n=7)) for _ in range(2))
    n = max(graph.n, other.n)
    A, B = (Graph(n, g.edges).matrix(np.int32) for g in (graph, other))
    for op in (OPERATORS["minus"], OPERATORS["first"], OPERATORS["min"]):
        assert edges(steps.united(A, B, op)) == edges(united_by_arrays(A, B, op))
    keep = np.array(data.draw(st.lists(st.booleans(), min_size=A.nnz, max_size=A.nnz)), bool)
    for M in (A, A.T):
        compiled, by_arrays = steps.kept(M, keep), steps.kept_by_arrays(M, keep)
        assert type(compiled) is type(by_arrays) is type(M)
        assert edges(compiled) == edges(by_arrays)
        compiled.check()
