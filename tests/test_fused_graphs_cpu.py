"""Searches, components and forests as compiled loops: the very answers of the definitions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csgraph

import algorithms.fused.cpu.bfs as search
import algorithms.fused.cpu.components as weak
import algorithms.fused.cpu.giant as giant
import algorithms.fused.cpu.reach as reach
import algorithms.fused.cpu.scc as strong
import semiring.cpu.dealing as dealing
from algorithms import bfs, boruvka, scc, topological_components
from algorithms.shared.traversal import TURNED_AFTER, Direction
from formats import CSR, Matrix, from_edges
from formats.edges import with_edges
from formats.storage.orientation import by_columns, has_columns, is_symmetric
from semiring import explain, threads
from semiring.kernels import interrupts

from .graphs import Graph, graphs, sources
from .test_bfs import DIRECTIONS
from .test_scc import chained

SIZES = st.integers(0, 2)
weights_with_ties = st.sampled_from([-2, -1, 0, 1, 1, 3])
float_weights = st.sampled_from([-0.0, 0.0, 5e-324, -1.5, 0.1 + 0.2, 0.3, float("inf"), float("-inf")])


@pytest.fixture(autouse=True, scope="module")
def _small_graphs_as_large_ones() -> Iterator[None]:
    kept, weak.MIN_NNZ_FOR_GIANT = weak.MIN_NNZ_FOR_GIANT, 0
    yield
    weak.MIN_NNZ_FOR_GIANT = kept


def fused(algorithm: Any, *arguments: Any, **options: Any) -> Any:
    """The answer, of which `explain` says that no definition gave it."""
    told = explain(algorithm, *arguments, **options)
    assert {run.implementation for run in told.runs} == {"fused"}
    assert all(run.details for run in told.runs)
    return told.result


def assert_alike(A: Matrix, algorithm: Any, *arguments: Any, **options: Any) -> None:
    """Fused twice, for what the first call keeps with the matrix, and as defined: equal to the last bit."""
    expected = parts(algorithm(CSR.trusted(*A.components), *arguments, fused=False, **options))
    for _ in range(2):
        for actual, right in zip(parts(fused(algorithm, A, *arguments, **options)), expected, strict=True):
            assert (actual.dtype, actual.shape) == (right.dtype, right.shape)
            np.testing.assert_array_equal(actual.view(np.uint8), right.view(np.uint8))


def parts(answer: Any) -> list[np.ndarray]:
    """The arrays of an answer."""
    if isinstance(answer, Matrix):
        return list(answer.arrays)
    return [part for piece in answer for part in parts(piece)] if isinstance(answer, tuple) else [answer]


def mirrored(graph: Graph) -> Graph:
    return Graph(graph.n, graph.edges + tuple((v, u, w) for u, v, w in graph.edges))


def network(n: int, degree: int, *, seed: int = 0, symmetric: bool = False, weights: int = 4) -> Matrix:
    """A random graph with hubs, and vertices without an edge; large enough for threads."""
    rng = np.random.default_rng(seed)
    u, v = ((n * rng.random(n * degree) ** power).astype(int) for power in (3, 2))
    w = rng.integers(-weights, weights, u.size).astype(np.int32)
    if symmetric:
        u, v, w = np.append(u, v), np.append(v, u), np.append(w, w)
    return from_edges(u, v, w, shape=n)


def wide(A: Matrix) -> Matrix:
    """The same with 64-bit indices, as only a matrix of more than 2^31 entries has them."""
    return CSR.trusted(A.indptr.astype(np.int64), A.indices.astype(np.int64), A.values, A.shape)


# --- breadth-first search ---------------------------------------------------------------------------------------------


@given(
    graph=graphs(st.just(1), max_n=12),
    source=sources,
    outside=st.sets(st.integers(0, 11)),
    deepest=st.one_of(st.none(), st.integers(0, 3)),
    target=st.one_of(st.none(), st.integers(0, 11)),
    direction=st.sampled_from(list(DIRECTIONS)),
    trees=st.booleans(),
)
@settings(max_examples=60)
def test_levels_and_parents_are_the_definitions(graph, source, outside, deepest, target, direction, trees):
    source %= graph.n
    mask = np.array(sorted((set(range(graph.n)) - outside) | {source}))
    options = DIRECTIONS[direction] | {"max_level": deepest, "return_parents": trees}
    options |= {} if target is None else {"target": target % graph.n}
    options |= {"mask": np.isin(np.arange(graph.n), mask)} if outside else {}
    assert_alike(graph.matrix(np.int32), bfs, source, **options)


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_large_levels_are_searched_by_threads(count, symmetric, monkeypatch):
    monkeypatch.setattr(dealing, "MIN_NNZ_FOR_THREADS", 1)
    A = network(6000, 30, symmetric=symmetric)
    hub = int(np.diff(A.indptr).argmax())
    mask = np.arange(A.nrows) % 7 != 3
    mask[hub] = True
    far = int(bfs(A, hub).argmax())
    with threads(count):
        for options in (
            *DIRECTIONS.values(),
            {"mask": mask},
            {"mask": mask, "direction": "pull"},
            {"max_level": 2},
            {"target": far},
        ):
            for trees in (False, True):
                assert_alike(A, bfs, hub, return_parents=trees, **options)
        told = explain(bfs, A, hub).runs[0].details
    assert told["threads"] == count
    assert told["pulled"] > 0
    assert told["levels"] == told["pushed"] + told["pulled"]


@pytest.mark.parametrize("count", [1, 3])
def test_rows_that_follow_each_other_are_pushed_as_one_and_no_row_between(count, monkeypatch):
    monkeypatch.setattr(search, "MIN_NNZ", 0)
    monkeypatch.setattr(search, "LARGE_EDGES", 1)
    monkeypatch.setattr(dealing, "MIN_NNZ_FOR_THREADS", 1)
    for seed, degree in ((1, 1), (2, 2), (3, 4)):
        A = network(400, degree, seed=seed)
        with threads(count):
            for trees in (False, True):
                assert_alike(A, bfs, int(np.diff(A.indptr).argmax()), return_parents=trees, direction="push")


def test_a_small_graph_is_searched_by_one_thread_that_pushes():
    A = network(2000, 10)
    with threads(3):
        for _ in range(3):
            told = explain(bfs, A, 0).runs[0].details
    assert (told["threads"], told["pulled"]) == (1, 0)


@pytest.mark.parametrize("count", [1, 2, 8])
def test_small_levels_are_shared_in_a_queue_that_is_often_full(count, monkeypatch):
    monkeypatch.setattr(dealing, "MIN_NNZ_FOR_THREADS", 0)
    limits = {
        "MIN_NNZ": 0,
        "LARGE_EDGES": 2000,
        "MIN_VERTICES_PER_THREAD": 1,
        "MIN_THREADS": 2,
        "ITEMS_AT_A_TIME": 2,
        "FRONTIER_AT_A_TIME": 2,
    }
    for name, value in limits.items():
        monkeypatch.setattr(search, name, value)
    for A in (network(3000, 2, seed=7), network(4000, 1, seed=8, symmetric=True)):
        with threads(count):
            for trees in (False, True):
                for direction in ("push", "auto"):
                    assert_alike(A, bfs, 0, return_parents=trees, direction=direction)


def test_the_matrix_is_turned_after_some_searches_that_would_pull():
    A = network(6000, 30)
    hub, levels = int(np.diff(A.indptr).argmax()), []
    for done in range(TURNED_AFTER["cpu"] + 2):
        assert has_columns(A) == (done > TURNED_AFTER["cpu"])
        levels.append(bfs(A, hub))
    assert all((level == levels[0]).all() for level in levels)


def test_small_matrices_are_neither_turned_nor_asked_for_room_to_be(monkeypatch):
    monkeypatch.setattr(Direction, "for_matrix", None)
    A = network(300, 8)
    assert bfs(A, 0).max() > 0
    assert not has_columns(A)


def test_linear_searches_of_some_size_run_in_the_thread_that_calls(monkeypatch):
    def answers():
        A = network(6000, 60)
        assert interrupts.MIN_INTERRUPTIBLE_NNZ < A.nnz < bfs.interruptible_from_nnz
        return bfs(A, 0), scc(A), scc(A, weak=True)

    with threads(1):
        expected = answers()  # by now all is compiled, which takes a thread
        monkeypatch.setattr(interrupts, "begun", None)
        assert all((a == b).all() for a, b in zip(answers(), expected, strict=True))


def test_large_levels_stay_within_a_mask_on_any_number_of_threads(monkeypatch):
    monkeypatch.setattr(dealing, "MIN_NNZ_FOR_THREADS", 0)
    A = network(6000, 30)
    inside = np.random.default_rng(5).random(6000) < 0.7
    inside[hub := int(np.diff(A.indptr).argmax())] = True
    for count in (1, 2, 3):
        with threads(count):
            assert_alike(A, bfs, hub, mask=inside, direction="push")
            assert_alike(A, bfs, hub, return_parents=True, direction="push")


# --- components -------------------------------------------------------------------------------------------------------


@given(graph=st.one_of(graphs(st.just(1), max_n=12), chained()), weak=st.booleans(), both=st.booleans())
@settings(max_examples=80)
def test_components_are_the_definitions(graph, weak, both):
    assert_alike((mirrored(graph) if both else graph).matrix(np.int32), scc, weak=weak)


def test_components_in_components():
    """Cycles of two, three and four that edges lead into and out of, and cycles through cycles."""
    edges = [(0, 1), (1, 0), (1, 2), (2, 3), (3, 4), (4, 2), (4, 5), (5, 6), (6, 7), (7, 8), (8, 5), (6, 5), (8, 7)]
    for closing in ([], [(8, 3)], [(5, 4)], [(8, 0)], [(9, 0), (8, 9)]):
        u, v = np.array(edges + closing).T
        for order in (np.arange(12), np.arange(12)[::-1], np.random.default_rng(2).permutation(12)):
            assert_alike(from_edges(order[u], order[v], shape=12), scc)


@pytest.mark.parametrize("options", [{}, {"weak": True}], ids=str)
@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_components_of_large_graphs(count, symmetric, options):
    with threads(count):
        for degree in (1, 8):
            assert_alike(network(40_000 // degree, degree, seed=1, symmetric=symmetric), scc, **options)


@pytest.mark.parametrize("columns", [False, True])
@pytest.mark.parametrize("fewest", [1, 4, 20])
@pytest.mark.parametrize("count", [1, 2])
def test_a_giant_is_found_beside_all_other_components_whenever_the_search_pauses(count, fewest, columns, monkeypatch):
    limits = {"MIN_FOUND_VERTICES": fewest, "FIRST_LOOK_SHARE": 0, "LAST_LOOK_SHARE": 1, "VERTICES_PER_CALL": 64}
    monkeypatch.setattr(dealing, "MIN_NNZ_FOR_THREADS", 1)
    monkeypatch.setattr(reach, "MIN_PIECE_WORDS", 1)
    monkeypatch.setattr(reach, "TRIAL_WORDS", 1)
    for name, value in limits.items():
        monkeypatch.setattr(strong, name, value)
    giants = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        for module, name, values in (
            (strong, "GIANT_SHARE", [0.1, 0.5]),
            (strong, "MIN_REST_SHARE", [0.0, 1.0]),
            (strong, "DENSE_DEGREE", [0, 100]),
            (reach, "MIN_FOUND_SHARE", [0.01, 0.5, 2.0]),
            (reach, "SWEEPS", [0, 1, 8]),
            (strong, "SEARCHED_SHARE", [0.0, 0.1]),
            (reach, "MIN_NEW_MARKS_PER_EDGE", [0.0, 0.1, 2.0]),
            (reach, "MAX_QUEUE_SHARE", [0.0, 0.5]),
        ):
            monkeypatch.setattr(module, name, rng.choice(values))
        A = tangled(rng)
        if columns:
            by_columns(A)
        with threads(count):
            told = explain(scc, A)
        giants += told.runs[0].details["giant"] > 0
        assert told.runs[0].details["components"] == np.unique(told.result).size
        np.testing.assert_array_equal(told.result, smallest_of_each(A, "strong"), err_msg=f"seed {seed}")
    assert giants > 50


def test_a_wide_graph_has_a_giant_that_is_found_by_sweeps_and_a_narrow_one_is_searched():
    n = 1 << 15
    ids = np.arange(n)
    draw = np.random.default_rng(2).integers
    cube = np.concatenate([(ids + step) % n for step in (1, 32, 1024, -1, -32)])
    wide_ends = [draw(0, n, 2 * n), draw(0, n, 8 * n), cube]
    narrow_ends = [np.append((ids + 1) % n, (ids + 2) % n)]
    for v in (*wide_ends, *narrow_ends):
        for turned in (False, True):
            A = from_edges(np.tile(ids, v.size // n), v, shape=n)
            if turned:
                by_columns(A)
            right = smallest_of_each(A, "strong")
            for form in (wide(A), A):
                told = explain(scc, form)
                np.testing.assert_array_equal(told.result, right)
            assert (told.runs[0].details["giant"] > n // 2) == any(v is ends for ends in wide_ends)


@pytest.mark.parametrize("seen", ["by rows", "by columns, too", "both ways"])
@pytest.mark.parametrize("count", [1, 3])
def test_weak_components_are_the_same_however_a_giant_is_joined(count, seen, monkeypatch):
    for module, name, value in (
        (weak, "VERTICES_AT_A_TIME", 64),
        (dealing, "MIN_NNZ_FOR_THREADS", 1),
        (giant, "WORDS_AT_A_TIME", 1),
        (giant, "MIN_PIECE_WORDS", 1),
    ):
        monkeypatch.setattr(module, name, value)
    for seed in range(100):
        rng = np.random.default_rng(seed)
        monkeypatch.setattr(weak, "MAX_SAMPLED_ROOTS", rng.choice([0, 150], p=[0.8, 0.2]))
        for name in ("MAX_OPEN_SHARE", "MAX_REST_SHARE", "MIN_CLOSED_SHARE"):
            monkeypatch.setattr(giant, name, rng.choice([0.0, 0.3, 1.0]))
        A = tangled(rng)
        if seen == "both ways":
            rows, cols, _ = A.to_edges()
            A = with_edges(A, cols, rows)
            is_symmetric(A, pattern=True)
        elif seen != "by rows":
            by_columns(A)
        with threads(count):
            np.testing.assert_array_equal(scc(A, weak=True), smallest_of_each(A, "weak"), err_msg=f"seed {seed}")


def test_few_entries_are_joined_by_one_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weak, "MIN_NNZ_FOR_GIANT", 1 << 14)
    for seed in range(60):
        A = tangled(np.random.default_rng(seed))
        np.testing.assert_array_equal(scc(A, weak=True), smallest_of_each(A, "weak"), err_msg=f"seed {seed}")


def test_components_are_numbered_by_heights() -> None:
    for seed in range(30):
        A = tangled(np.random.default_rng(seed))
        number, right = topological_components(A), topological_components(A, fused=False)
        assert (number.dtype, number.tolist()) == (right.dtype, right.tolist())
    A = from_edges([0, 0, 1, 3, 4, 5], [1, 2, 2, 4, 3, 5], shape=6)  # 0 -> 1 -> 2, a cycle of 3 and 4, and 5
    assert topological_components(A).tolist() == [4, 3, 0, 1, 1, 2]


def tangled(rng: np.random.Generator) -> CSR:
    """A random graph of at most 150 vertices: a dense part, a long path or a cycle, a hub, in any numbering."""
    n, core, length = int(rng.integers(2, 150)), int(rng.integers(1, 40)), int(rng.integers(1, 100))
    edges = [rng.integers(0, min(core, n), (2, core * int(rng.integers(0, 4)))), rng.integers(0, n, (2, n // 8))]
    path = rng.permutation(n)[:length]
    edges.append(np.array([path, np.roll(path, -1)])[:, int(rng.integers(0, 2)) :])
    hub = rng.permutation(n)[: int(rng.integers(0, n))]
    edges.append(np.array([hub, np.full_like(hub, n - 1)])[:: int(rng.choice([-1, 1]))])
    u, v = rng.permutation(n)[np.concatenate(edges, axis=1)]
    return from_edges(u, v, shape=n)


def smallest_of_each(A: Matrix, connection: str) -> np.ndarray:
    """The smallest vertex of each one's component, as SciPy finds components."""
    count, part = csgraph.connected_components(A.to_scipy(), connection=connection)
    first = np.full(count, A.nrows)
    np.minimum.at(first, part, np.arange(A.nrows))
    return first[part]


def test_components_beside_a_giant_are_the_definitions(monkeypatch):
    """A giant in the middle of a bow tie, with long tails, self-loops and a hub that nothing else leads to."""
    monkeypatch.setattr(strong, "MIN_FOUND_VERTICES", 256)
    monkeypatch.setattr(strong, "LAST_LOOK_SHARE", 1)
    giant = network(20_000, 20, seed=4)
    n, (u, v, _) = giant.nrows, giant.to_edges()
    before, after, loop = np.arange(n, 2 * n - n % 3).reshape(3, -1)
    total = int(loop[-1]) + 1
    order = np.random.default_rng(5).permutation(total)
    hub = int(np.diff(giant.indptr).argmax())
    src = np.concatenate((u, before, after, loop, [hub, before[-1], hub, loop[-1]], np.full(n, before[0]), after[::9]))
    dst = np.concatenate((v, before + 1, after + 1, loop, [after[0], hub, loop[0], hub], np.arange(n), after[::9] + 1))
    dst[dst == total] = hub
    for number in (order, np.arange(total), np.arange(total)[::-1]):
        A = from_edges(number[src], number[dst], shape=total)
        assert_alike(A, scc)
        assert explain(scc, A).runs[0].details["giant"] > n // 8


def test_an_acyclic_graph_and_one_of_small_components_have_no_giant():
    rng = np.random.default_rng(6)
    u, v = np.sort(rng.integers(0, 30_000, (2, 300_000)), axis=0)
    assert explain(scc, from_edges(u, v, shape=30_000)).runs[0].details["giant"] == 0
    vertices = np.arange(30_000)
    rings = vertices, vertices // 100 * 100 + (vertices + 1) % 100
    within = np.arange(300_000) // 1000 * 100 + rng.integers(0, 100, (2, 300_000))
    A = from_edges(*np.append(rings, within, axis=1), shape=30_000)
    assert explain(scc, A).runs[0].details["giant"] == 0
    np.testing.assert_array_equal(scc(A), vertices // 100 * 100)


@pytest.mark.quick
@pytest.mark.parametrize("first", [0, 20])
def test_any_number_of_threads_gives_the_bits_of_one_and_of_the_equations(first, monkeypatch):
    monkeypatch.setattr(dealing, "MIN_NNZ_FOR_THREADS", 0)
    monkeypatch.setattr(strong, "MIN_FOUND_VERTICES", 4)
    limits = {
        "MIN_NNZ": 0,
        "LARGE_EDGES": 150,
        "MIN_VERTICES_PER_THREAD": 1,
        "MIN_THREADS": 2,
        "ITEMS_AT_A_TIME": 2,
        "FRONTIER_AT_A_TIME": 2,
    }
    for name, value in limits.items():
        monkeypatch.setattr(search, name, value)
    for seed in range(first, first + 20):
        rng = np.random.default_rng(seed)
        A = tangled(rng)
        if seed % 2:
            by_columns(A)
        source, trees = int(rng.integers(A.nrows)), bool(seed % 3)
        calls = [(scc, (), {}), (scc, (), {"weak": True}), (bfs, (source,), {"return_parents": trees})]
        for algorithm, arguments, options in calls:
            right = parts(algorithm(A, *arguments, **options, fused=False))
            for count in (1, 2, 4, 8):
                with threads(count):
                    found = parts(algorithm(A, *arguments, **options))
                for actual, expected in zip(found, right, strict=True):
                    np.testing.assert_array_equal(actual, expected, err_msg=f"seed {seed}, {count} threads")


# --- forests ----------------------------------------------------------------------------------------------------------


@given(graph=graphs(weights_with_ties, max_n=10), symmetrize=st.booleans())
@settings(max_examples=40)
def test_forests_are_the_definitions(graph, symmetrize):
    A = (graph if symmetrize else mirrored(graph)).matrix(np.int32)
    assert_alike(A, boruvka, symmetrize=symmetrize, return_labels=True)


@given(graph=graphs(float_weights, max_n=8), symmetrize=st.booleans(), both=st.booleans())
@settings(max_examples=40)
def test_forests_of_floats_keep_the_sign_of_zero(graph, symmetrize, both):
    both |= not symmetrize
    A = (mirrored(graph) if both else graph).matrix(np.float64, dup="first")
    if both and not is_symmetric(A):
        A = mirrored(graph).matrix(np.float64)
    assert_alike(A, boruvka, symmetrize=symmetrize, return_labels=True)


@pytest.mark.parametrize("dtype", ["int32", "float64"])
def test_forests_of_one_weight_are_the_definitions(dtype: str) -> None:
    joined = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 60))
        ends = rng.integers(0, n, (2, int(rng.integers(n, 16 * n))))
        A = from_edges(*ends, np.full(ends.shape[1], 3, dtype), shape=n, dup="min")
        turned = np.concatenate((ends, ends[::-1]), axis=1)
        both = from_edges(*turned, np.full(turned.shape[1], 3, dtype), shape=n, dup="min")
        for B in (A, both):
            assert_alike(B, boruvka, symmetrize=B is A, return_labels=True)
            facts = explain(boruvka, B, symmetrize=True).runs[0].details
            joined += facts["rounds"] == facts["sorted"] == 0
    assert joined > 30


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("symmetric", [False, True])
def test_forests_of_large_graphs(count, symmetric):
    with threads(count):
        for degree in (1, 8):
            A = network(40_000 // degree, degree, seed=3, symmetric=symmetric)
            assert_alike(A, boruvka, symmetrize=not symmetric, return_labels=True)


@pytest.mark.parametrize("dtype", [np.int32, np.float64])
def test_weights_are_sorted_by_all_of_their_bits(dtype):
    from algorithms.fused.cpu.light_edges import ascending

    rng = np.random.default_rng(6)
    info = np.iinfo(dtype) if dtype is np.int32 else np.finfo(dtype)
    ends = np.array([info.min, info.max, 0, 1], dtype)
    many = rng.integers(0, 300, 1500), rng.random(1500), 1 + rng.random(1500) * 1e-12
    for weights in (*many, rng.random(500), np.zeros(5), ends):
        weights = rng.permutation(np.append(weights, ends if weights is ends else weights[:0])).astype(dtype)
        order = ascending(weights) & np.uint64(0xFFFFFFFF)
        assert order.tolist() == np.argsort(weights, kind="stable").tolist()


def test_a_pattern_is_spanned_by_its_smallest_edges():
    A = network(500, 3, symmetric=True).pattern()
    assert_alike(A, boruvka, return_labels=True)


def test_an_edge_without_its_reverse_is_named_as_by_the_definition():
    A = from_edges([0, 1, 1, 2], [1, 0, 2, 1], [4, 4, 5, 6], shape=3)
    for _ in range(2):
        with pytest.raises(ValueError, match="undirected: its edge 1 -> 2 has no reverse of the same weight"):
            boruvka(A)


@given(graph=graphs(SIZES, max_n=6), both=st.booleans())
def test_symmetry_is_what_the_transpose_says(graph, both):
    from algorithms.fused.cpu.symmetry import find_symmetry

    A = (mirrored(graph) if both else graph).matrix(np.int32)
    find_symmetry(A)
    for pattern in (False, True):
        assert is_symmetric(A, pattern=pattern) == is_symmetric(CSR.trusted(*A.components), pattern=pattern)


# --- all of them ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [0, 1, 64, 65])
def test_graphs_without_an_edge_to_another_vertex(n):
    ids = np.arange(n)
    for A in (from_edges([], [], shape=n), from_edges(ids, ids, shape=n)):
        assert_alike(A, scc)
        assert_alike(A, scc, weak=True)
        assert_alike(A, boruvka, return_labels=True)
        if n:
            for options in DIRECTIONS.values():
                assert_alike(A, bfs, n - 1, return_parents=True, **options)


def test_wide_indices_give_the_same():
    A = wide(network(600, 4, symmetric=True))
    assert_alike(A, bfs, 0, return_parents=True, direction="push")
    assert_alike(A, bfs, 0, return_parents=True, direction="pull")
    assert_alike(A, boruvka, return_labels=True)
    assert_alike(wide(network(600, 2)), scc)
    assert_alike(wide(network(600, 2)), scc, weak=True)


def test_a_million_vertices_in_a_row():
    n = 1_000_000
    ids = np.arange(n, dtype=np.int32)
    order = np.random.default_rng(4).permutation(n).astype(np.int32)
    path = from_edges(ids[:-1], ids[1:], shape=n)
    cycle = from_edges(order, np.roll(order, 1), shape=n)
    np.testing.assert_array_equal(fused(bfs, path, 0), ids)
    np.testing.assert_array_equal(fused(scc, path), ids)
    assert fused(scc, path, weak=True).max() == 0
    assert fused(scc, cycle).max() == 0
    assert fused(bfs, cycle, 7).max() == n - 1
    F, label = fused(boruvka, path, symmetrize=True, return_labels=True)
    assert (F.nnz, label.max()) == (n - 1, 0)
    np.testing.assert_array_equal(F.rows, ids[:-1])


@threads(2)
def test_twenty_runs_are_identical():
    A, B = network(20_000, 10, seed=5), network(20_000, 10, seed=5, symmetric=True)
    hub = int(np.diff(A.indptr).argmax())
    calls = [
        lambda: bfs(A, hub, return_parents=True, direction="push"),
        lambda: bfs(A, hub, return_parents=True, direction="pull"),
        lambda: scc(A, weak=True),
        lambda: scc(B),
        lambda: boruvka(B, return_labels=True),
    ]
    for call in calls:
        first = parts(call())
        for _ in range(19):
            for again, once in zip(parts(call()), first, strict=True):
                np.testing.assert_array_equal(again, once)
