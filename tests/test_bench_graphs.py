"""The benchmarks' graphs are what they are said to be, whatever made them, and the same on both devices."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from math import comb, factorial
from pathlib import Path

import numpy as np
import pytest

import formats
from bench import graphs
from bench.graphs import (
    draws,
    fifth,
    grid,
    operand,
    predecessors,
    recursive,
    rmat,
    rmat_both_ways,
    roads,
    spmv_graph,
    spmv_names,
    ssca2,
    strips,
    uniform,
    web,
)
from bench.graphs.cliques import joins, permutation
from bench.graphs.degrees import few
from bench.graphs.draws import drawn
from bench.graphs.recursive import QUADRANTS
from formats import CSR
from formats.arrays import Device

pytestmark = pytest.mark.timing

PATH_OF_FIVE = "p tw 5 4\n1 2\n3 2\n3 4\n5 4\n"
SMALL = {
    "rmat": lambda **options: rmat(10, **options),
    "rmat_both_ways": lambda **options: rmat_both_ways(10, **options),
    "ssca2": lambda **options: ssca2(10, **options),
    "ssca2, in order": lambda **options: ssca2(10, max_clique=9, permute=False, **options),
    "predecessors": lambda **options: predecessors(4096, 7, **({"dtype": np.float32} | options)),
    "fifth": lambda **options: fifth(211, **({"dtype": np.float32} | options)),
    "uniform": lambda **options: uniform(4096, 7, **options),
    "web": lambda **options: web(4000, 7, **options),
    "grid": lambda **options: grid(30, **options),
}
every_graph = pytest.mark.parametrize("make", SMALL.values(), ids=list(SMALL))


def degrees(A: CSR) -> np.ndarray:
    return np.diff(A.indptr)


def symmetric(A: CSR) -> bool:
    return A.T.to("csr").equals(A)


@every_graph
def test_a_graph_has_no_self_loop_and_no_edge_twice(make: Callable[..., CSR]) -> None:
    A = make()
    A.check()  # columns ascend strictly in each row
    rows, cols, _ = A.to_edges()
    assert A.dtype == np.float32
    assert A.nnz > 0
    assert not (rows == cols).any()


@every_graph
def test_weights_are_the_integers_from_1_to_high(make: Callable[..., CSR]) -> None:
    A = make(high=5)
    assert np.unique(A.values).tolist() == [1, 2, 3, 4, 5]
    counts = np.bincount(A.values.astype(int))[1:]
    assert counts.min() > 0.8 * A.nnz / 5
    assert A.astype(np.int32).equals(make(high=5, dtype=np.int32))


@every_graph
def test_a_seed_gives_the_same_graph_and_another_seed_another(make: Callable[..., CSR]) -> None:
    assert make(seed=3).equals(make(seed=3))
    assert not make(seed=3).equals(make(seed=4))


@every_graph
def test_the_graph_does_not_depend_on_the_block(make: Callable[..., CSR], monkeypatch: pytest.MonkeyPatch) -> None:
    expected = make()
    for size in (7, 1000, 1 << 24):
        monkeypatch.setitem(graphs.BLOCK, "cpu", size)
        assert make().equals(expected)


def test_rmat_has_hubs() -> None:
    A = rmat(12)
    assert A.shape == (4096, 4096)
    assert 0.75 * 16 * 4096 < A.nnz <= 16 * 4096
    assert degrees(A).max() > 20 * degrees(A).mean()
    assert not symmetric(A)


def test_the_symmetric_sibling_of_rmat_has_about_as_many_arcs() -> None:
    A = rmat_both_ways(12)
    assert symmetric(A)
    assert 0.8 * rmat(12).nnz < A.nnz <= 16 * 4096


def test_uniform_has_its_degree_but_for_vertices_drawn_twice() -> None:
    A = uniform(4096, 7)
    assert A.shape == (4096, 4096)
    assert degrees(A).max() == 7
    assert 4096 * 7 - 60 < A.nnz <= 4096 * 7
    in_degrees = np.bincount(A.indices, minlength=4096)
    assert 5 < in_degrees.var() < 9  # a Poisson variable's variance is its mean


def test_grid_joins_neighbours_with_symmetric_weights() -> None:
    side = 30
    A = grid(side)
    assert A.shape == (side**2, side**2)
    assert np.bincount(degrees(A)).tolist() == [0, 0, 4, 4 * (side - 2), (side - 2) ** 2]
    assert symmetric(A)
    rows, cols, _ = A.to_edges()
    apart = abs(rows // side - cols // side) + abs(rows % side - cols % side)
    assert (apart == 1).all()


def test_roads_are_the_files_with_symmetric_weights(file: Callable[[str, str], Path]) -> None:
    A = roads(file("path.gr", PATH_OF_FIVE))
    rows, cols, values = A.to_edges()
    assert list(zip(rows, cols, strict=True)) == [(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 2), (3, 4), (4, 3)]
    assert ((values >= 1) & (values <= 1000)).all()
    assert symmetric(A)


def test_splitmix64_gives_its_known_numbers() -> None:
    """The first outputs of the reference implementation (S. Vigna, splitmix64.c) from state 1234567."""
    states = np.uint64(1234567) + np.arange(1, 4, dtype=np.uint64) * np.uint64(graphs.GOLDEN)
    expected = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    assert graphs.mixed(states).tolist() == expected


def test_an_unknown_graph_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="unknown graph 'rmat5'; there are rmat20, "):
        spmv_names(None, ["rmat20", "rmat5"])


def test_the_road_graph_is_there_where_its_file_is(tmp_path: Path) -> None:
    assert "NE" not in spmv_names(tmp_path)
    (tmp_path / graphs.ROADS).write_bytes(gzip.compress(PATH_OF_FIVE.encode()))
    assert spmv_names(tmp_path)[0] == "NE"
    assert spmv_graph("NE", "cpu", tmp_path).nnz == 8


# --- R-MAT ------------------------------------------------------------------------------------------------------------


def test_rmat_draws_each_level_by_itself_with_the_given_probabilities() -> None:
    """The published definition: a quadrant of a quadrant of a quadrant."""
    scale, shares = 10, np.array([0.4, 0.3, 0.2, 0.1])
    src, dst = drawn(scale, 200, tuple(shares[:3]), 1, "cpu")
    m = 200 << scale
    bits = [2 * (src >> level & 1) + (dst >> level & 1) for level in range(scale)]
    for level, quadrant in enumerate(bits):
        assert_counts(np.bincount(quadrant, minlength=4), m, shares)
        for other in bits[:level]:
            assert_counts(np.bincount(4 * quadrant + other, minlength=16), m, np.outer(shares, shares).ravel())


def test_out_and_in_degrees_of_rmat_follow_from_the_ones_in_a_vertex() -> None:
    scale, (a, b, c) = 12, QUADRANTS
    src, dst = drawn(scale, 32, QUADRANTS, 1, "cpu")
    ones = np.array([v.bit_count() for v in range(1 << scale)])
    for ends, low in ((src, a + b), (dst, a + c)):
        shares = np.array([comb(scale, k) * low ** (scale - k) * (1 - low) ** k for k in range(scale + 1)])
        assert_counts(np.bincount(ones[ends], minlength=scale + 1), 32 << scale, shares)


@pytest.mark.parametrize("edge_factor", [16, 32])
def test_rmat_keeps_as_many_edges_as_are_different(edge_factor: int) -> None:
    """Of m draws, 1 - (1 - p)^m of the cells with probability p; the cells on the diagonal are left out."""
    scale, m, d = 10, edge_factor << 10, 1 - sum(QUADRANTS)
    expected = 0.0
    for i, j, k in np.ndindex(scale + 1, scale + 1, scale + 1):
        last = scale - i - j - k
        if last < 0 or j == k == 0:
            continue
        cells = factorial(scale) // (factorial(i) * factorial(j) * factorial(k) * factorial(last))
        a, b, c = QUADRANTS
        expected += cells * -np.expm1(m * np.log1p(-(a**i * b**j * c**k * d**last)))
    assert abs(rmat(scale, edge_factor).nnz - expected) < 5 * np.sqrt(expected)


def assert_counts(counts: np.ndarray, m: int, shares: np.ndarray) -> None:
    """The counts of m draws with these probabilities, each within five standard deviations."""
    assert counts.sum() == m
    assert (abs(counts - m * shares) <= 5 * np.sqrt(m * shares) + 1).all()


# --- SSCA#2 -----------------------------------------------------------------------------------------------------------


def sizes_of_cliques(A: CSR) -> np.ndarray:
    """The sizes of A's components, which have to be complete, each of vertices that follow each other."""
    rows, cols, _ = A.to_edges()
    low = np.arange(A.nrows)
    np.minimum.at(low, rows, cols)
    sizes = np.bincount(low, minlength=A.nrows)
    high = low + sizes[low]
    assert (low[rows] == low[cols]).all()
    assert (degrees(A) == sizes[low] - 1).all()
    assert ((low <= np.arange(A.nrows)) & (np.arange(A.nrows) < high)).all()
    return sizes[sizes > 0]


def test_cliques_are_complete_and_of_every_size_alike() -> None:
    sizes = sizes_of_cliques(ssca2(16, max_clique=10, between=0, permute=False))
    assert sizes.max() == 10
    assert_counts(np.bincount(sizes[:-1], minlength=11)[1:], sizes.size - 1, np.full(10, 0.1))


def test_cliques_are_the_same_with_what_joins_them() -> None:
    apart, joined = (ssca2(12, between=between, permute=False) for between in (0, 0.5))
    inside = edges_of(apart)
    assert inside < edges_of(joined)
    low = np.repeat(np.arange(sizes_of_cliques(apart).size), sizes_of_cliques(apart))
    assert all(low[u] != low[v] for u, v in edges_of(joined) - inside)


def test_the_farther_the_fewer_edges_join_cliques() -> None:
    """At the distances 2^t .. 1.5 · 2^t - 1, from each vertex with the probability 2^-t."""
    scale = 16
    u, v = joins(scale, np.arange(1 << scale), 0.5, 1, "cpu")  # where every clique is one vertex
    away = (v - u) % (1 << scale)
    level = np.floor(np.log2(away)).astype(int)
    assert level.min() == 1
    assert (2 * away < 3 << level).all()
    counts = np.bincount(level, minlength=scale)[1:]
    for t, count in enumerate(counts, 1):
        mean = 2.0 ** (scale - t)
        assert abs(count - mean) <= 5 * np.sqrt(mean)
    assert len(np.unique(away[level == 6])) == 32
    A = ssca2(scale, max_clique=1, permute=False)
    assert edges_of(A) == {*zip(u.tolist(), v.tolist(), strict=True)} | {*zip(v.tolist(), u.tolist(), strict=True)}


def test_an_edge_never_leads_back_into_the_clique() -> None:
    clique = np.repeat(np.arange(1 << 8), 1 << 4)
    u, v = joins(12, clique, 0.9, 1, "cpu")
    assert u.size > 1 << 11
    assert (clique[u] != clique[v]).all()


def test_the_average_degree_of_ssca2_is_about_32() -> None:
    A = ssca2(15)
    assert A.shape == (1 << 15, 1 << 15)
    assert 31 < A.nnz / A.nrows < 33
    assert 47 <= degrees(A).max() < 60
    assert symmetric(A)


def test_the_vertices_of_ssca2_are_renumbered_at_random() -> None:
    A, B = ssca2(10, permute=False), ssca2(10)
    old = permutation(1 << 10, 1, "cpu")
    assert sorted(old.tolist()) == list(range(1 << 10))
    assert formats.permute(A, old).pattern().equals(B.pattern())
    rows, cols, _ = B.to_edges()
    assert abs(abs(rows - cols).mean() / (1 << 10) - 1 / 3) < 0.05  # of two random numbers in [0, 1)


@pytest.mark.parametrize("scale", [0, 1, 2, 3])
def test_ssca2_may_be_tiny(scale: int) -> None:
    A = ssca2(scale, max_clique=100)
    A.check()
    assert A.shape == (1 << scale, 1 << scale)
    assert symmetric(A)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"scale": 32}, r"scale must be in \[0, 32\), got 32"),
        ({"scale": 3, "max_clique": 0}, "max_clique must be at least 1, got 0"),
        ({"scale": 3, "between": 1.0}, r"between must be in \[0, 1\), got 1.0"),
    ],
)
def test_impossible_cliques_are_refused(arguments: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ssca2(**arguments)


def edges_of(A: CSR) -> set[tuple[int, int]]:
    rows, cols, _ = A.to_edges()
    return {*zip(rows.tolist(), cols.tolist(), strict=True)}


# --- so many neighbours -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "degree"), [(1, 0), (5, 0), (2, 1), (8, 7), (9, 7), (1000, 7), (300, 32)])
def test_every_vertex_has_its_number_of_predecessors(n: int, degree: int) -> None:
    A = predecessors(n, degree)
    A.check()
    rows, cols, _ = A.to_edges()
    assert (A.dtype, A.shape) == (np.int32, (n, n))
    assert (np.bincount(cols, minlength=n) == degree).all()
    assert not (rows == cols).any()
    if n == 1000:
        assert len(np.unique(degrees(A))) > 10, "rows have any length"


def test_numbers_without_repetition_are_drawn_alike() -> None:
    chosen = np.sort(few(np.arange(20_000), 2, 5, seed=1), axis=1)
    pairs, counts = np.unique(chosen, axis=0, return_counts=True)
    assert [tuple(pair) for pair in pairs.tolist()] == [(u, v) for u in range(5) for v in range(u + 1, 5)]
    assert_counts(counts, 20_000, np.full(10, 0.1))


def test_predecessors_are_everywhere() -> None:
    rows, cols, _ = predecessors(1 << 14, 7).to_edges()
    away = (rows - cols) % (1 << 14)
    assert_counts(np.bincount(away * 16 >> 14, minlength=16), 7 << 14, np.full(16, 1 / 16))


@pytest.mark.parametrize("degree", [-1, 5])
def test_more_predecessors_than_there_are_vertices_are_refused(degree: int) -> None:
    with pytest.raises(ValueError, match=rf"degree must be in \[0, 5\), the others of 5 vertices, got {degree}"):
        predecessors(5, degree)


@pytest.mark.parametrize("n", [1, 4, 5, 9, 10, 64, 333])
def test_every_vertex_has_a_fifth_of_all_as_successors(n: int) -> None:
    A = fifth(n)
    A.check()
    rows, cols, _ = A.to_edges()
    assert (A.dtype, A.shape) == (np.int32, (n, n))
    assert (degrees(A) == n // 5).all()
    assert not (rows == cols).any()


def test_a_fifth_is_drawn_alike() -> None:
    n = 500
    A = fifth(n)
    in_degrees = np.bincount(A.indices, minlength=n)
    assert abs(in_degrees - n / 5).max() < 5 * np.sqrt(n * 0.2 * 0.8)
    assert 0.7 < in_degrees.var() / (n * 0.2 * 0.8) < 1.4  # binomial


# --- a range of rows at a time ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [0, 3, 11])
def test_rmat_by_ranges_of_rows_is_the_same_graph(scale: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for options in ({}, {"edge_factor": 3, "seed": 7, "high": 5, "dtype": np.int32}):
        expected = rmat(scale, **options)
        with monkeypatch.context() as patch:
            patch.setattr(recursive, "MAX_DRAWN_EDGES", 0)
            assert rmat(scale, **options).equals(expected)


def test_ranges_of_rows_have_about_a_part_of_the_edges_each() -> None:
    degree, taken = np.bincount(drawn(14, 16, QUADRANTS, 1, "cpu")[0], minlength=1 << 14), 0
    for first, last, share in strips.row_ranges(14, QUADRANTS):
        assert first == taken
        assert share < strips.PART * 1.1
        assert degree[first:last].sum() == pytest.approx(share * degree.sum(), rel=0.05)
        taken = last
    assert taken == 1 << 14


def test_the_kernels_that_draw_edges_compile_for_an_h100() -> None:
    from .test_codegen import compile_for

    assert compile_for("compute_90", draws.text()) == ""


# --- on a GPU ---------------------------------------------------------------------------------------------------------


@pytest.mark.backend("cuda")
@every_graph
def test_both_devices_make_the_same_graph(make: Callable[..., CSR]) -> None:
    there = make(device="cuda")
    assert there.device == "cuda"
    assert there.to(device="cpu").equals(make())


@pytest.mark.backend("cuda")
def test_ranges_of_rows_on_cuda_make_the_same_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = rmat(12)
    monkeypatch.setattr(recursive, "MAX_DRAWN_EDGES", 0)
    monkeypatch.setattr(draws, "SPARE_FACTOR", 0.5)  # too little room at first
    monkeypatch.setattr(draws, "SPARE_EDGES", 1)
    assert rmat(12, device="cuda").to(device="cpu").equals(expected)


@pytest.mark.backend("cuda")
def test_both_devices_make_the_same_roads_and_operand(file: Callable[[str, str], Path]) -> None:
    path = file("path.gr", PATH_OF_FIVE)
    device: Device = "cuda"
    assert roads(path, device=device).to(device="cpu").equals(roads(path))
    assert np.array_equal(operand(100, 50, device=device).get(), operand(100, 50))
