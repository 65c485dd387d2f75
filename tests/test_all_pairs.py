"""All pairs: what the shortest paths from each vertex are, by blocks of a dense matrix and by searches."""

from __future__ import annotations

import sys
from itertools import pairwise
from typing import Any

import networkx as nx
import numpy as np
import pytest

from algorithms import NegativeCycle, all_pairs, sssp
from algorithms.equations.all_pairs import SMALLEST
from formats import CSR, Matrix, OutOfHostMemory, from_edges, read
from formats.places import Place
from semiring import MaxMin, MinMax, MinPlus, Semiring

from .conftest import Backend
from .graphs import on_cpu
from .networks import karate, les_miserables, random_networks
from .strategies import FORMATS, OPTIONS

METHODS = ("blocks", "searches")
every_method = pytest.mark.parametrize("method", METHODS)


def dense(n: int, dtype: Any, *, low: int = 1, high: int = 100, share: float = 0.3) -> CSR:
    rng = np.random.default_rng(n)
    u, v = np.nonzero(rng.random((n, n)) < share)
    return from_edges(u, v, rng.integers(low, high, u.size).astype(dtype), shape=n)


def with_potentials(A: CSR, seed: int) -> CSR:
    """Integers of either sign, and no negative cycle."""
    u, v, w = A.mapped(np.floor).astype("int64").to_edges()
    p = np.random.default_rng(seed).integers(-20, 20, A.nrows)
    return from_edges(u, v, w + p[u] - p[v], shape=A.nrows)


@every_method
def test_random_networks(method: Any) -> None:
    for A, G in random_networks(200):
        D, parents = all_pairs(A, return_parents=True, method=method)
        right = nx.floyd_warshall_numpy(G, range(len(G))) if len(G) else np.zeros((0, 0))
        np.testing.assert_allclose(np.where(D == MinPlus.zero(D.dtype), np.inf, D), right, rtol=1e-9)
        np.testing.assert_array_equal(parents, sssp(A, sources=range(A.nrows), return_parents=True)[1])


@every_method
@pytest.mark.parametrize("low", [0, 1])
def test_weights_of_either_sign(method: Any, low: int) -> None:
    for seed, (A, _) in enumerate(random_networks(100, low=low, seed=low)):
        B = with_potentials(A, seed)
        D, parents = all_pairs(B, return_parents=True, method=method)
        d, p = sssp(B, sources=range(B.nrows), return_parents=True)
        np.testing.assert_array_equal(D, d)
        np.testing.assert_array_equal(parents, p)


@pytest.mark.parametrize(
    ("semiring", "dtypes"),
    [
        (MinPlus, ["int32", "float32"]),
        (MaxMin, ["int32"]),
        (MinMax, ["float32"]),
        ("max_times", ["float64"]),
        ("lor_land", ["int32"]),
        ("max_plus", ["int64"]),
    ],
    ids=str,
)
def test_semirings_and_dtypes(semiring: Semiring | str, dtypes: list[str]) -> None:
    """70 vertices: a block that is squared, and one that is smaller."""
    for dtype in dtypes:
        assert_as_searches(semiring, dtype)


def assert_as_searches(semiring: Semiring | str, dtype: str) -> None:
    negative = semiring == "max_plus"
    A = dense(70, dtype, low=-9, high=0) if negative else dense(70, dtype)
    A = A.with_values(A.values / 128) if semiring == "max_times" else A
    D, parents = all_pairs(A, semiring, return_parents=True, method="blocks")
    d, p = sssp(A, semiring=semiring, sources=range(70), return_parents=True)
    assert D.dtype == d.dtype
    np.testing.assert_allclose(D, d, rtol=1e-6)
    np.testing.assert_array_equal(parents, p)


@pytest.mark.parametrize(
    ("times", "more", "backend"),
    [
        Backend(backend).param(times, more, name=f"{times} blocks and {more}")
        for backend in SMALLEST
        for times, more in ((1, -1), (1, 0), (1, 1), (2, 0), (2, 1))
    ],
)
def test_sizes_around_those_of_blocks(times: int, more: int, backend: str) -> None:
    n = times * SMALLEST[backend] + more
    A = dense(n, np.int32, share=0.05)
    found = all_pairs(A.to(device=backend), method="blocks")
    np.testing.assert_array_equal(on_cpu(found), sssp(A, sources=range(n)))


def test_a_long_path() -> None:
    """Paths of as many edges as there are vertices."""
    n = 150
    A = from_edges(range(n - 1), range(1, n), np.ones(n - 1, np.int32), shape=n)
    np.testing.assert_array_equal(all_pairs(A, method="blocks")[0], np.arange(n))


@pytest.mark.parametrize(
    ("fmt", "backend"),
    [Backend(backend).param(fmt, name=fmt.__name__) for backend in Backend for fmt in FORMATS],
)
@every_method
def test_every_format(method: Any, fmt: type[Matrix], backend: str) -> None:
    for A in (dense(20, np.int32), karate()[0], les_miserables()[0].astype("float32")):
        M = A.to(fmt, **({"force": True} if "force" in OPTIONS.get(fmt, {}) else {})).to(device=backend)
        D, parents = (on_cpu(part) for part in all_pairs(M, return_parents=True, method=method))
        d, p = sssp(A, sources=range(A.nrows), return_parents=True)
        np.testing.assert_array_equal(D, d)
        np.testing.assert_array_equal(parents, p)


@every_method
@pytest.mark.parametrize("dtype", ["int32", "float64"])
def test_a_negative_cycle_is_named(method: Any, dtype: str) -> None:
    A = from_edges([0, 1, 2, 3, 4], [1, 2, 3, 1, 0], np.array([4, 1, -3, 1, 2], dtype), shape=5)
    with pytest.raises(NegativeCycle) as found:
        all_pairs(A, method=method)
    cycle = found.value.cycle
    assert sum(A[edge] for edge in pairwise(cycle)) < 0
    assert sorted(cycle[1:]) == [1, 2, 3]


@every_method
def test_a_self_loop_below_zero_is_a_cycle(method: Any) -> None:
    with pytest.raises(NegativeCycle):
        all_pairs(from_edges([0], [0], [-1]), method=method)


@every_method
def test_a_distance_that_does_not_fit_is_an_error(method: Any) -> None:
    with pytest.raises(OverflowError, match="int64"):
        all_pairs(from_edges([0, 1], [1, 2], np.array([2**30, 2**30 + 5], np.int32)), method=method)


@every_method
def test_floats_whose_sums_round_have_the_trees_of_the_searches(method: Any) -> None:
    A = dense(80, np.float64, share=0.2)
    A = A.with_values(np.random.default_rng(0).random(A.nnz))
    D, parents = all_pairs(A, return_parents=True, method=method)
    d, p = sssp(A, sources=range(80), return_parents=True)
    np.testing.assert_allclose(D, d, rtol=1e-12)
    np.testing.assert_array_equal(parents, p)


def test_where_memory_is_short_it_is_refused_before_any_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Place, "questions", lambda place, needed, **how: True)
    monkeypatch.setattr(Place, "available_bytes", lambda place: 10_000)
    with pytest.raises(OutOfHostMemory, match=r"all_pairs of 200 vertices, .* needs 480,000 bytes"):
        all_pairs(from_edges([0], [1], shape=200), method="blocks")


def test_the_cheaper_method_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A road network is searched, a full matrix goes by blocks."""
    from algorithms.data import rome99

    blocks: list[Any] = []
    monkeypatch.setattr(
        sys.modules["algorithms.equations.all_pairs"], "of_blocks", lambda A, s, parents: blocks.append(A) or A
    )
    assert all_pairs(read(rome99)).shape == (3353, 3353)
    assert not blocks
    all_pairs(dense(70, np.int32))
    assert len(blocks) == 1


def test_there_is_no_such_method() -> None:
    with pytest.raises(ValueError, match="method must be 'auto', 'blocks' or 'searches', got 'fast'"):
        all_pairs(karate()[0], method="fast")  # type: ignore[call-overload]
