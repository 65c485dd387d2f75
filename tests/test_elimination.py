"""Factors: the same answers as searches give, on every kind of graph, semiring and dtype; and what is refused."""

from __future__ import annotations

import functools
import threading
from itertools import pairwise
from threading import Thread
from typing import Any

import numpy as np
import pytest

from algorithms import (
    Factor,
    NegativeCycle,
    Symbolic,
    bellman_ford,
    elimination_order,
    factor,
    sssp,
    symbolic_factor,
)
from algorithms.data import rome99
from algorithms.elimination.cpu import ordering
from algorithms.elimination.cpu.queries import SHARED_ARCS
from algorithms.elimination.factors import eliminated, substituted
from formats import COO, CSC, CSR, Matrix, OutOfHostMemory, from_edges, permute, read, set_memory_limit
from semiring import MONOIDS, OPERATORS, BinaryOp, Law, MinPlus, Semiring, explain, get_threads, threads
from semiring.algebra.semirings import find_semiring
from semiring.cpu.threads import run, share

from .strategies import FORMATS, OPTIONS

CASES = 3000
BLOCK = 500

Families = {
    "planar": lambda rng, n: planar(rng, n),
    "tree": lambda rng, n: (np.arange(1, n), np.array([rng.integers(0, k) for k in range(1, n)], int)),
    "grid": lambda rng, n: grid(max(1, int(n**0.5))),
    "dense": lambda rng, n: np.nonzero(rng.random((min(n, 20),) * 2) < 0.7),
    "directed": lambda rng, n: rng.integers(0, n, (2, 2 * n)),
    "disconnected": lambda rng, n: rng.integers(0, n, (2, n // 2)),
    "star": lambda rng, n: (np.zeros(n, int), np.arange(n)),
    "path": lambda rng, n: (np.arange(n - 1), np.arange(1, n)),
}
MinPlusOfMine = Semiring(
    MONOIDS["min"],
    BinaryOp("sum of mine", scalar=lambda a, b: a + b),
    one=0,
    laws=frozenset(MinPlus.laws),
)
KINDS: list[tuple[Any, str, int, int]] = [
    ("min_plus", "int32", 0, 9),
    ("min_plus", "float64", 1, 100),
    ("min_plus", "int32", -4, 30),
    ("max_min", "int32", -9, 9),
    ("min_max", "float32", -9, 9),
    ("max_times", "float64", 0, 2),
    ("lor_land", "bool", 1, 2),
    (MinPlusOfMine, "float64", 1, 9),
]
"""Semirings with a dtype, and the ends of the weights."""


def planar(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Neighbours in the plane: each vertex and those nearest to it."""
    at = rng.random((n, 2))
    far = ((at[:, None] - at[None]) ** 2).sum(axis=2)
    near = np.argsort(far, axis=1)[:, 1:4]
    return np.repeat(np.arange(n), near.shape[1]), near.ravel()


def grid(k: int) -> tuple[np.ndarray, np.ndarray]:
    v = np.arange(k * k).reshape(k, k)
    return np.concatenate((v[1:].ravel(), v[:, 1:].ravel())), np.concatenate((v[:-1].ravel(), v[:, :-1].ravel()))


def drawn(seed: int, kind: int) -> tuple[Matrix, Any]:
    """(a random graph, the semiring) of a seed: both ways or one way, with self-loops and parallel edges."""
    rng = np.random.default_rng(seed)
    semiring, dtype, low, high = KINDS[kind]
    n = int(rng.integers(1, 40))
    name = [*Families][seed % len(Families)]
    u, v = (np.asarray(part, np.int64) for part in Families[name](rng, n))
    if rng.random() < 0.6:
        u, v = np.concatenate((u, v)), np.concatenate((v, u))
    loops = rng.integers(0, n, 2)
    u, v = np.concatenate((u, loops)), np.concatenate((v, loops))
    w = rng.integers(low, high, u.size)
    if low < 0 and semiring == "min_plus" and rng.random() < 0.8:  # no negative cycle, or else often one
        p = rng.integers(0, 20, n)
        w = np.abs(w) + p[u] - p[v]
    values = w.astype(dtype) / (2 if semiring == "max_times" else 1)
    return from_edges(u, v, values.astype(dtype), shape=n), semiring


def distances(A: Matrix, semiring: Any, sources: Any) -> Any:
    """A row for each source by searches, or the cycle that keeps them from ending."""
    try:
        return np.array([bellman_ford(A, int(source), semiring) for source in sources])
    except NegativeCycle as error:
        return error.cycle


def check(A: Matrix, semiring: Any, seed: int) -> None:
    """Distances of a factor are those of searches, and both find a negative cycle; of every fifth graph all of them."""
    s, n = find_semiring(semiring), A.nrows
    whole = seed % 5 == 0 or bool(A.nnz and s.better(A.values, s.unit(A.dtype)).any())
    sources = np.arange(n) if whole else np.unique([seed % n, *np.random.default_rng(seed).integers(0, n, 5)])
    right = distances(A, semiring, sources)
    if isinstance(right, list):
        with pytest.raises(NegativeCycle) as found:
            factor(A, semiring)
        assert sum(int(A[u, v]) for u, v in pairwise(found.value.cycle)) < 0, seed
        return
    F = factor(A, semiring)
    one = seed % n
    np.testing.assert_array_equal(F.solve(one), right[sources == one][0], err_msg=str(seed))
    np.testing.assert_array_equal(F.solve(sources=range(n))[sources], right, err_msg=str(seed))
    if seed % 5:
        return
    few = np.unique(np.random.default_rng(seed).integers(0, n, 5))
    np.testing.assert_array_equal(F.distances(range(n), few), right[:, few], err_msg=str(seed))
    d, who = F.nearest(few)
    best = functools.reduce(s.add, right[:, few].T)
    np.testing.assert_array_equal(d, best, err_msg=str(seed))
    there = np.flatnonzero(d != s.zero(A.dtype))
    np.testing.assert_array_equal(right[there, who[there]], d[there])
    for v in range(n):
        assert F.distance(one, v) == right[one, v], seed
        check_path(F, one, v, right[one, v])


def check_path(F: Factor, u: int, v: int, d: Any) -> None:
    """The path is made of edges, visits no vertex twice, and has that length; or there is none."""
    s, A = F.semiring, F.A
    if d == s.zero(A.dtype):
        with pytest.raises(ValueError, match=f"no path leads from vertex {u} to {v}"):
            F.path(u, v)
        return
    way = F.path(u, v)
    assert (way[0], way[-1]) == (u, v)
    assert len(set(way)) == len(way)
    length = s.unit(A.dtype)
    for edge in pairwise(way):
        length = s.product(length, A[edge])
    assert length == d


@pytest.mark.parametrize("kind", [0, 2])
def test_some_random_graphs(kind: int) -> None:
    for seed in range(24):
        check(*drawn(seed, kind), seed)


@pytest.mark.parametrize("block", range(CASES // BLOCK))
def test_random_graphs(block: int) -> None:
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        check(*drawn(seed, (seed // len(Families)) % len(KINDS)), seed)


@pytest.mark.parametrize("kind", range(len(KINDS)))
def test_the_equations_give_the_same(kind: int) -> None:
    """W by verbs, in the factor's order, holds the factor's numbers, and its triangles give the distances."""
    for seed in range(8):
        A, semiring = drawn(1000 + seed, kind)
        s = find_semiring(semiring)
        try:
            F = factor(A, semiring)
        except NegativeCycle:
            continue
        P = permute(F.A, F.symbolic.order)
        W = eliminated(P, s)
        right = bellman_ford(P, 0, s)
        np.testing.assert_array_equal(substituted(W, 0, s), right)
        np.testing.assert_array_equal(F.solve(int(F.symbolic.order[0]))[F.symbolic.order], right)


# --- known graphs -----------------------------------------------------------------------------------------------------


@functools.cache
def rome() -> Factor:
    return factor(read(rome99))


def test_every_query_knows_rome() -> None:
    F = rome()
    d, parent = sssp(F.A, 0, return_parents=True)
    total = int(d.sum(dtype=np.int64))
    everyone = range(F.A.nrows)
    assert int(F.solve(0).sum(dtype=np.int64)) == total
    assert int(F.solve(sources=[5, 0, 7, 9, 0])[4].sum(dtype=np.int64)) == total
    assert int(F.distances([0], everyone).sum(dtype=np.int64)) == total
    assert sum(F.distance(0, v) for v in everyone) == total  # type: ignore[misc]
    back = factor(F.A.T, order=F.symbolic.order)
    assert int(back.nearest([0])[0].sum(dtype=np.int64)) == total
    way = F.path(0, 1699)
    assert sum(int(F.A[edge]) for edge in pairwise(way)) == d[1699]
    np.testing.assert_array_equal(F.solve(0, return_parents=True)[1], parent)


def test_threads_change_nothing() -> None:
    A = roads(60)
    with threads(1):
        alone = factor(A)
        few, many = alone.solve(7), alone.solve(sources=range(0, 3600, 50))
    with threads(3):
        F = factor(A, order=alone.symbolic)
        np.testing.assert_array_equal(F.solve(7), few)
        np.testing.assert_array_equal(F.solve(sources=range(0, 3600, 50)), many)
        np.testing.assert_array_equal(F.distances(range(0, 3600, 50), [5, 5, 9]), many[:, [5, 5, 9]])
    assert get_threads() >= 1


@pytest.mark.parametrize("count", [0, 1, 2, 100])
@pytest.mark.parametrize("workers", [1, 2, 5])
def test_shared_work_is_done_once_each(count: int, workers: int) -> None:
    done: list[int] = []
    with threads(workers):
        share(done.append, count)
        assert sorted(done) == list(range(count))
        run(lambda start, stop: share(done.append, count), [(0, 1), (1, 2)])
        assert sorted(done) == sorted(3 * [*range(count)])


def test_what_shared_work_raises_is_raised_and_ends_it() -> None:
    def fail(k: int) -> None:
        raise ValueError(f"of {k}")

    with threads(2), pytest.raises(ValueError, match="of "):
        share(fail, 50)
    busy = threading.Event()
    with threads(2):
        held = Thread(target=lambda: run(lambda start, stop: busy.wait(), [(0, 1), (1, 2)]))
        held.start()  # all of the pool's threads are taken
        done: list[int] = []
        share(done.append, 9)
        assert sorted(done) == list(range(9))
        busy.set()
        held.join()


def test_a_table_of_few_sources_and_of_many_targets_of_a_large_factor() -> None:
    """Threads share the subtrees of the whole factor, but a part of it has none of them."""
    A = roads(70)
    targets = np.random.default_rng(2).permutation(A.nrows)[:3000]
    with threads(2):
        F = factor(A)
        assert F.symbolic.entries > SHARED_ARCS
        for sources in ([3], [5, 6, 7, 8, 9], range(20)):
            np.testing.assert_array_equal(F.distances(sources, targets), sssp(A, sources=sources)[:, targets])


@pytest.mark.parametrize("alike", [False, True])
def test_the_nearest_of_several_is_the_smallest_of_equal_ones(alike: bool) -> None:
    u, v = grid(80)
    there, back = np.random.default_rng(4).integers(1, 4, (2, u.size))
    A = from_edges([*u, *v], [*v, *u], np.concatenate((there, there if alike else back)), shape=6400)
    targets = np.random.default_rng(5).integers(0, 6400, 40)
    for B in (A.astype("int32"), A.astype("float64"), A.astype("float32")):
        D = sssp(B.T, sources=targets)
        with threads(2):
            F = factor(B)
            d, who = F.nearest(targets)
        assert F.symbolic.entries > SHARED_ARCS
        np.testing.assert_array_equal(d, D.min(axis=0))
        np.testing.assert_array_equal(who, np.where(D == d, targets[:, None], 6400).min(axis=0))


def roads(k: int) -> CSR:
    """A grid both ways, of k × k crossings, with streets of two lengths for the two directions."""
    u, v = grid(k)
    w = np.random.default_rng(k).integers(1, 1000, (2, u.size))
    return from_edges(np.concatenate((u, v)), np.concatenate((v, u)), w.ravel().astype(np.int32), shape=k * k)


def test_a_grid_has_few_arcs_with_and_without_metis(monkeypatch: pytest.MonkeyPatch) -> None:
    A = roads(60)
    right = sssp(A, 11)
    for name in ("pymetis", "no such module"):
        monkeypatch.setattr(ordering, "find_spec", lambda _, name=name: None if name != "pymetis" else True)
        if name == "pymetis":
            pytest.importorskip(name)
        S = symbolic_factor(A)
        assert S.how == ("METIS" if name == "pymetis" else "cuts of levels")
        assert S.entries < 60 * 60 * 20
        assert S.levels < 400
        np.testing.assert_array_equal(factor(A, order=S).solve(11), right)


def test_an_order_without_metis_is_a_permutation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ordering, "find_spec", lambda _: None)
    for seed in range(len(Families)):
        rng = np.random.default_rng(seed)
        u, v = (np.asarray(part, np.int64) for part in [*Families.values()][seed](rng, 700))
        A = from_edges(u, v, shape=700)
        assert sorted(elimination_order(A).tolist()) == list(range(700))


# --- stages -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("A", [roads(70), from_edges(range(4999), range(1, 5000))], ids=["roads", "a path"])
def test_questions_take_no_more_bytes_than_were_predicted(A: CSR) -> None:
    F = factor(A)
    made = F.nbytes
    F.solve(0), F.path(0, 9), F.distances([0], [5]), F.nearest([3])
    assert made < F.nbytes <= F.symbolic.predicted_nbytes(A.dtype) <= 2 * F.nbytes


def test_what_is_predicted_is_what_is_made() -> None:
    A = roads(20)
    S = symbolic_factor(A)
    F = S.numeric(A)
    assert isinstance(S, Symbolic)
    assert F.symbolic is S
    assert S.entries == F._engine.queries.numbers.down.size
    assert F.nbytes <= S.predicted_nbytes("int32") <= 3 * F.nbytes
    W = eliminated(permute(A, S.order), MinPlus)
    assert W.nnz - sum(W.get(x, x) is not None for x in range(A.nrows)) == 2 * S.entries
    assert "cuts of levels" in repr(F) or "METIS" in repr(F)


def test_a_given_order_is_taken() -> None:
    A = from_edges([0, 0, 0, 1, 2, 3], [1, 2, 3, 0, 0, 0], [1, 2, 3, 1, 2, 3])
    assert symbolic_factor(A, order=[1, 2, 3, 0]).entries == 3
    assert symbolic_factor(A, order=[0, 1, 2, 3]).entries == 6
    assert factor(A, order=[0, 1, 2, 3]).distance(1, 3) == 4
    for wrong in ([0, 1, 2], [0, 0, 1, 2]):
        with pytest.raises(ValueError, match="order must hold each of the 4 vertices once"):
            symbolic_factor(A, order=wrong)
    with pytest.raises(ValueError, match="order"):
        symbolic_factor(A, order=[0, 1, 2, 4])


def test_other_weights_on_the_same_pattern() -> None:
    A, F = roads(30), factor(roads(30))
    before = F.solve(3).copy()
    B = A.with_values(A.values[::-1].copy())
    G = F.refactor(B)
    np.testing.assert_array_equal(G.solve(3), sssp(B, 3))
    np.testing.assert_array_equal(F.solve(3), before)
    assert G.symbolic is F.symbolic
    less = from_edges([0, 1], [1, 2], np.array([5, 6], np.int32), shape=A.nrows)
    np.testing.assert_array_equal(F.refactor(less).solve(0)[:4], sssp(less, 0)[:4])
    other = F.refactor(A.astype("float32"))
    np.testing.assert_array_equal(other.solve(3), before)


def test_an_edge_outside_of_the_pattern_is_named() -> None:
    F = factor(from_edges([0, 1, 2], [1, 2, 3], [1, 2, 3], shape=5))
    with pytest.raises(ValueError, match="no room for the edge 0 -> 4"):
        F.refactor(from_edges([0], [4], [1], shape=5))
    with pytest.raises(ValueError, match="the pattern is of 5 vertices, the matrix of 2"):
        F.refactor(from_edges([0], [1], [1]))


# --- refused ----------------------------------------------------------------------------------------------------------


def test_fill_that_does_not_pay_is_refused() -> None:
    rng = np.random.default_rng(0)
    A = from_edges(*rng.integers(0, 4000, (2, 16000)), rng.integers(1, 9, 16000), shape=4000)
    with pytest.raises(
        ValueError, match=r"would have [0-9,]+ arcs for [0-9,]+ edges, .* take [0-9,]+ operations.*sssp"
    ):
        factor(A)


def test_a_factor_beyond_the_memory_limit_is_refused() -> None:
    A = roads(12)
    set_memory_limit(1 << 20, device="cpu")
    try:
        with pytest.raises(OutOfHostMemory, match="a factor of"):
            factor(A)
    finally:
        set_memory_limit(None, device="cpu")


@pytest.mark.quick
def test_semirings_that_elimination_is_not_right_for() -> None:
    A = from_edges([0, 1], [1, 0], [1.0, 2.0])
    for semiring, why in (
        ("plus_times", "has no order"),
        ("min_first", "has no unit"),
        ("any_pair", "no"),
        (Semiring(MONOIDS["min"], OPERATORS["plus"], one=0), "distributive laws"),
        (
            Semiring(
                MONOIDS["min"],
                OPERATORS["plus"],
                one=0,
                laws=frozenset({Law.DISTRIBUTES_LEFT, Law.DISTRIBUTES_RIGHT}),
            ),
            "associative",
        ),
    ):
        with pytest.raises((ValueError, TypeError), match=why):
            factor(A, semiring)
    with pytest.raises(ValueError, match="square"):
        factor(from_edges([0], [1], [1.0], shape=(1, 2)))
    with pytest.raises(ValueError, match=r"weights in \[0"):
        factor(A.with_values(-A.values), "max_times")


# --- neighbours -------------------------------------------------------------------------------------------------------


def test_graphs_of_no_vertex_one_and_two() -> None:
    none = factor(from_edges([], [], np.array([], np.int32), shape=0))
    assert none.solve(sources=[]).shape == (0, 0)
    one = factor(from_edges([0], [0], np.array([3], np.int32)))
    assert (one.solve(0).tolist(), one.distance(0, 0), one.path(0, 0)) == ([0], 0, [0])
    assert [part.tolist() for part in one.nearest([0])] == [[0], [0]]
    two = factor(from_edges([1], [0], np.array([3], np.int32), shape=2))
    assert two.solve(sources=[0, 1]).tolist() == [[0, 2**31 - 1], [3, 0]]
    assert two.distances([1, 0], [0, 1]).tolist() == [[3, 0], [0, 2**31 - 1]]
    assert two.distances([], [0]).shape == (0, 1)
    assert two.distances([1], []).shape == (1, 0)
    assert [part.tolist() for part in two.nearest([])] == [[2**31 - 1] * 2, [-1, -1]]
    with pytest.raises(ValueError, match=r"target must be in \[0, 2\)"):
        two.distance(0, 2)
    with pytest.raises(ValueError, match="targets"):
        two.nearest([2])
    with pytest.raises(TypeError, match="either a source or sources"):
        two.solve()  # type: ignore[call-overload]


def test_numbers_of_a_part_of_the_pattern_come_first() -> None:
    A = roads(8)
    u, v, w = A.to_edges()
    some = (u + v) % 5 > 0
    B = from_edges(u[some], v[some], w[some], shape=A.nrows)
    S = symbolic_factor(A)
    for C in (B, A, B):
        np.testing.assert_array_equal(S.numeric(C).solve(3), sssp(C, 3))


def test_every_format_and_read_only_arrays() -> None:
    A = roads(8)
    right = factor(A).solve(3)
    for fmt in FORMATS:
        np.testing.assert_array_equal(factor(A.to(fmt, **OPTIONS.get(fmt, {}))).solve(3), right)
    np.testing.assert_array_equal(factor(A.T.T).solve(3), right)
    np.testing.assert_array_equal(factor(A.T).solve(3), sssp(A.T, 3))
    assert not A.values.flags.writeable
    assert {COO, CSC} <= set(FORMATS)


def test_a_hub_and_a_long_path() -> None:
    n = 20_000
    hub = from_edges(np.zeros(n, int), np.arange(1, n + 1), np.arange(1.0, n + 1))
    assert factor(hub).symbolic.entries == n
    np.testing.assert_array_equal(factor(hub).solve(0), sssp(hub, 0))
    way = from_edges(np.arange(n), np.arange(1, n + 1), np.ones(n))
    F = factor(way)
    assert F.path(5, n) == list(range(5, n + 1))
    assert F.distance(0, n) == n


def test_cycles_of_zero_weights_are_left_out_of_paths() -> None:
    u, v = grid(7)
    A = from_edges(np.concatenate((u, v)), np.concatenate((v, u)), np.zeros(2 * u.size), shape=49)
    F = factor(A)
    for end in range(49):
        check_path(F, 11, end, 0.0)


def test_a_negative_cycle_is_told_with_its_vertices() -> None:
    v, u = grid(12)  # to the right and down
    w = np.ones(u.size, np.int32)
    w[50] = -9
    A = from_edges(u, v, w, shape=144)
    assert factor(A).distance(u[50], v[50]) == -9
    for start, end, weight in ((v[50], u[50], 8), (v[50] + 1, u[50], 7), (5, 5, -1)):
        B = from_edges([*u, start], [*v, end], [*w, weight], shape=144)
        with pytest.raises(NegativeCycle) as found:
            factor(B)
        assert sum(int(B[e]) for e in pairwise(found.value.cycle)) == -1


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_lengths_beyond_the_dtype(dtype: str) -> None:
    most = int(np.iinfo(dtype).max)
    far = from_edges([0, 1, 2], [1, 2, 3], np.array([most // 2, most // 2, 5], dtype), shape=5)
    F = factor(far)
    assert F.distance(0, 2) == 2 * (most // 2)
    for call in (
        lambda: F.solve(0),
        lambda: F.solve(sources=[3, 0, 1, 2, 4]),
        lambda: F.distance(0, 3),
        lambda: F.distances([0], [3]),
        lambda: F.path(0, 3),
        lambda: F.nearest([3]),
    ):
        with pytest.raises(OverflowError):
            call()
    assert F.solve(1)[3] == most // 2 + 5
    assert F.distance(1, 4) == most
    assert F.nearest([2])[0].tolist() == [2 * (most // 2), most // 2, 0, most, most]


def heavy(seed: int) -> CSR:
    """A random graph whose longest paths take most of the range."""
    rng = np.random.default_rng(seed)
    n, most = 9, int(np.iinfo(np.int32).max)
    u, v = rng.integers(0, n, (2, 20))
    return from_edges(u, v, rng.integers(most // 20, most // 10, 20).astype(np.int32), shape=n)


def test_lengths_close_to_the_end_of_the_range() -> None:
    """Walks that visit a vertex twice are longer than the range, paths are not: there is nothing to check."""
    for A in map(heavy, range(20)):
        n = A.nrows
        F, right = factor(A), sssp(A, sources=range(n))
        assert F._engine.fitting
        np.testing.assert_array_equal(F.solve(sources=range(n)), right)
        np.testing.assert_array_equal(F.distances(range(n), range(n)), right)
        np.testing.assert_array_equal(F.nearest([1, 2])[0], right[:, 1:3].min(axis=1))


def test_wide_sums_of_weights_of_any_sign() -> None:
    """A path may leave the range on its way, and come back: sums are of int64."""
    low, high = -(2**31) + 2, 2**31 - 2
    A = from_edges([0, 1, 2, 3], [1, 2, 3, 4], np.array([high, 5, low, 1], np.int32), shape=6)
    F = factor(A)
    assert (F.distance(0, 4), F.distance(2, 4), F.distance(0, 5)) == (6, low + 1, 2**31 - 1)
    assert F.path(0, 4) == [0, 1, 2, 3, 4]
    assert F.nearest([3])[0].tolist()[2:] == [low, 0, 2**31 - 1, 2**31 - 1]
    for call in (lambda: F.distance(0, 2), lambda: F.path(0, 2), lambda: F.solve(0)):
        with pytest.raises(OverflowError):
            call()
    with pytest.raises(OverflowError, match="may not fit int64"):
        factor(from_edges([0, 1], [1, 2], np.array([-(2**62), 5], np.int64)))


@pytest.mark.parametrize(("dtype", "most"), [("float32", 2e38), ("float64", 1e308)])
def test_floats_whose_parts_of_paths_may_not_fit_are_refused(dtype: str, most: float) -> None:
    """A path's length may fit where a part of it, which elimination adds first, does not."""
    row = [0, 1, 2, 3], [1, 2, 3, 4]
    for weights, semiring in (
        ([most, most, 1, 1], "max_plus"),
        ([-most, -most, 1, 1], "min_plus"),
        ([-most, most, most, -most], "min_plus"),
        ([-most, most, most, -most], "max_plus"),
    ):
        A = from_edges(*row, np.array(weights, dtype))
        for call in (factor, factor(A.with_values(A.values * 1e-9), semiring).refactor):
            with pytest.raises(OverflowError, match=f"may not fit {dtype}: take sssp"):
                call(A, semiring) if call is factor else call(A)
    A = from_edges(*row, np.array([most, most, 1, 1], dtype))
    F = factor(A)
    for call in (lambda: F.solve(0), lambda: F.distance(0, 4), lambda: F.path(0, 2), lambda: F.nearest([4])):
        with pytest.raises(OverflowError, match=f"a distance does not fit {dtype}"):
            call()
    assert F.distance(1, 2) == np.dtype(dtype).type(most)
    assert factor(from_edges([0, 1], [1, 2], np.array([-np.inf, 1.0], dtype))).distance(0, 2) == -np.inf


def test_rounded_sums_and_exact_ones() -> None:
    u, v = grid(20)
    w = np.random.default_rng(0).random(u.size)
    A = from_edges(np.concatenate((u, v)), np.concatenate((v, u)), np.concatenate((w, w)), shape=400)
    F = factor(A)
    d, parent = sssp(A, 0, return_parents=True)
    np.testing.assert_allclose(F.solve(0), d, rtol=2 * 400 * np.finfo(float).eps)
    np.testing.assert_array_equal(F.solve(0, exact=True), d)
    np.testing.assert_array_equal(F.solve(0, return_parents=True)[1], parent)
    np.testing.assert_array_equal(F.solve(sources=[0, 5], exact=True)[0], d)
    small = F.refactor(A.astype("float32"))
    assert small.solve(0).dtype == np.float32
    way = small.path(0, 399)
    assert abs(float(sum(small.A[e] for e in pairwise(way))) - small.distance(0, 399)) < 1e-4


def test_explain_tells_what_was_made() -> None:
    told = explain(factor, roads(10))
    [run] = [run for run in told.runs if run.algorithm == "factor"]
    assert run.details["arcs"] == told.result.symbolic.entries
    assert {"order", "operations", "levels", "nbytes"} <= set(run.details)
    F = told.result
    for call, operands in ((F.solve, (0,)), (F.distances, ([0], [1])), (F.nearest, ([3],))):
        assert [run.algorithm for run in explain(call, *operands).runs] == [call.__name__]
