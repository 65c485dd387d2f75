"""Every fused implementation gives its definition's answer, to the last bit, and is what really runs.

The cells come from the algorithms' own tables, so a new one is tested without a list being edited.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from algorithms import (
    NegativeCycle,
    bellman_ford,
    bfs,
    boruvka,
    scc,
    shortest_path_tree,
    sssp,
    topological_components,
)
from algorithms.equations.sssp import ALGORITHMS
from bench.graphs import grid, rmat, rmat_both_ways
from bench.laboratory import bellman_ford_by, da2cf_by
from formats import CSR, DTYPES, Matrix, SparseVector, from_edges
from formats.arrays import to_device
from formats.places import place_of
from semiring import BinaryOp, LorLand, MaxMin, MaxPlus, MinMax, MinPlus, Semiring, explain
from semiring.verbs.explanation import definitions_only
from semiring.verbs.fusible import Fusible

from .conftest import Backend
from .fused_graphs import (
    GRAPHS,
    KINDS,
    NO_VERTICES,
    both_ways,
    one_graph,
    random_graphs,
    shaped,
    shapes,
    side_by_side,
)
from .graphs import on_cpu

BOOL, INT32, INT64, FLOAT32, FLOAT64 = DTYPES
NUMBERS = (INT32, INT64, FLOAT32, FLOAT64)
REPEATS = {"cpu": 20, "cuda": 200}

Case = tuple[Semiring, np.dtype]
SOME: list[Case] = [(MinPlus, INT32), (MinPlus, FLOAT64), (MaxMin, FLOAT32)]
CASES: dict[str, list[Case]] = {algorithm.name: SOME for algorithm in ALGORITHMS.values()} | {
    "bellman_ford": [
        *((semiring, dtype) for semiring in (MinPlus, MaxPlus, MinMax, MaxMin) for dtype in NUMBERS),
        (LorLand, BOOL),
    ],
    "delta_stepping": [(MinPlus, dtype) for dtype in NUMBERS],
    "shortest_path_tree": [*((MinPlus, dtype) for dtype in NUMBERS), (MaxMin, FLOAT32), (LorLand, BOOL)],
}
"""What is tried of each algorithm on paths: every semiring and dtype is another kernel to compile."""
FEW: list[Case] = [(MinPlus, INT32), (MinPlus, FLOAT32), (MaxPlus, INT64), (MaxMin, FLOAT32), (LorLand, BOOL)]
"""Those of them that are tried on the CPU of the two whose kernels take five seconds each to compile there."""
PATHS = [name for name in CASES if name != "shortest_path_tree"]


def cases(name: str, backend: str) -> list[Case]:
    """What is tried of an algorithm on a backend."""
    few = backend == "cpu" and name in ("bellman_ford", "delta_stepping")
    return [case for case in CASES[name] if not few or case in FEW]


def fused_cells(*names: str) -> list[Any]:
    """(algorithm, fmt, backend) for every cell of the named algorithms' tables."""
    return [cell for name in names for cell in cells_of(Fusible.all[name])]


def cells_of(algorithm: Fusible[..., Any]) -> list[Any]:
    """(algorithm, fmt, backend) for every cell of the algorithm's table."""
    return [
        Backend(backend).param(algorithm, fmt, name=f"{algorithm.name}-{fmt.__name__}")
        for fmt, backend in algorithm.table
    ]


def path_cells(*names: str) -> list[Any]:
    """(algorithm, fmt, semiring, dtype, backend) likewise, for all of their `cases`."""
    return [
        Backend(backend).param(algorithm, fmt, semiring, dtype, name=f"{name}-{semiring.name}-{dtype}-{fmt.__name__}")
        for name in names
        for algorithm in (Fusible.all[name],)
        for fmt, backend in algorithm.table
        for semiring, dtype in cases(name, backend)
    ]


def every_cell(*names: str) -> Any:
    return pytest.mark.parametrize(("algorithm", "fmt", "backend"), fused_cells(*names))


# --- an implementation beside its definition --------------------------------------------------------------------------


class Beside:
    """Calls of an algorithm on a backend, each compared with its definition, and how many of them were fused."""

    def __init__(self, algorithm: Fusible[..., Any], backend: str) -> None:
        self.algorithm, self.backend = algorithm, backend
        self.fused, self.why_not = 0, []

    def __call__(self, A: Matrix, *args: Any, **kwargs: Any) -> Any:
        """The answer on A, checked, also when something is kept with A; None if both ways raise the same."""
        alone = type(A).trusted(*A.components)  # with nothing kept that the other has made
        try:
            expected = self.algorithm(alone, *args, fused=False, **kwargs)
        except (NegativeCycle, OverflowError, ValueError) as error:
            with pytest.raises(type(error)) as caught:
                self.algorithm(A, *args, **kwargs)
            assert_same_error(caught.value, error, A)
            return None
        told = explain(self.algorithm, A, *args, **kwargs)
        assert_same(told.result, expected, self.backend)
        assert_same(self.algorithm(A, *args, **kwargs), expected, self.backend)
        for run in told.runs:
            if run.algorithm == self.algorithm.name:
                assert (run.format, run.device) == (type(A).__name__, self.backend)
                self.fused += run.implementation == "fused"
                self.why_not += [run.why] if run.implementation != "fused" else []
        return expected

    def done(self) -> None:
        """AssertionError if it was rather the definition that was compared with itself."""
        assert self.fused > len(self.why_not), f"{self.algorithm.name} was not fused: {sorted(set(self.why_not))}"


def assert_same(got: Any, expected: Any, device: str) -> None:
    """Arrays on the device, equal in type, shape and every bit; matrices of such arrays; tuples of either."""
    assert type(got) is type(expected)
    if isinstance(expected, tuple):
        assert len(got) == len(expected)
        for a, b in zip(got, expected, strict=True):
            assert_same(a, b, device)
        return
    if isinstance(expected, Matrix):
        got.check()
        assert got.shape == expected.shape
        assert_same(got.arrays, expected.arrays, device)
        return
    assert place_of(got).backend == device
    assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
    a, b = on_cpu(got), on_cpu(expected)
    if a.tobytes() != b.tobytes():
        np.testing.assert_array_equal(a, b)
        pytest.fail("zeros differ in sign")


def assert_same_error(got: BaseException, expected: BaseException, A: Matrix) -> None:
    """The same words; of a negative cycle another one will do."""
    assert type(got) is type(expected)
    if not isinstance(got, NegativeCycle):
        assert str(got) == str(expected)
        return
    assert got.cycle[0] == got.cycle[-1] == min(got.cycle)
    assert len(set(got.cycle)) == len(got.cycle) - 1
    assert sum(A[edge].item() for edge in pairwise(got.cycle)) < 0


# --- shortest paths ---------------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize(("algorithm", "fmt", "semiring", "dtype", "backend"), path_cells(*PATHS))
def test_paths_on_random_graphs(algorithm, fmt, semiring, dtype, backend):
    beside = Beside(algorithm, backend)
    sign = -1 if semiring is MaxPlus else 1
    for k, (rng, A) in enumerate(random_graphs(backend, fmt, semiring, dtype)):
        source = 0 if A.nrows > 8 else int(rng.integers(A.nrows))
        until: dict[str, Any] = {}
        if k // 3 % 3 == 1 and dtype != BOOL:
            until["limit"] = sign * float(rng.choice([0, 2, 5.5, 10**12]))
        if k // 3 % 3 == 2:
            until["target"] = int(rng.integers(A.nrows))
        beside(A, source, semiring, return_parents=k % 2 == 0, **until)
    beside.done()


@pytest.mark.parametrize(
    ("algorithm", "fmt", "semiring", "dtype", "backend"),
    [cell for cell in path_cells("bellman_ford") if cell.values[2] in (MinPlus, MaxPlus)],
)
def test_paths_whose_weights_have_any_sign(algorithm, fmt, semiring, dtype, backend):
    """Which may be left to the definition, as it watches for cycles."""
    beside = Beside(algorithm, backend)
    for k, (_, A) in enumerate(random_graphs(backend, fmt, semiring, dtype, seed=1, potentials=True)):
        until: dict[str, Any] = [{}, {"limit": 4}, {"target": A.nrows - 1}][k % 3]
        beside(A, 0, semiring, return_parents=True, **until)


@every_cell("bellman_ford")
def test_cycles_better_than_nothing_are_found(algorithm, fmt, backend):
    beside, cycles = Beside(algorithm, backend), 0
    rng = np.random.default_rng(2)
    for k in range(20 + GRAPHS[backend] // 10):
        n = int(rng.integers(2, 9))
        src, dst = rng.integers(0, n, (2, 2 * n))
        A = from_edges(src, dst, rng.integers(-2, 6, 2 * n).astype([INT32, FLOAT32][k % 2]), shape=n)
        cycles += beside(A.to(fmt, device=backend), 0, return_parents=True) is None
    assert cycles > 2
    n = 1000
    for closing in (-n, 1):  # a ring: no round but the last finds anything
        ring = from_edges(np.arange(n), (np.arange(n) + 1) % n, np.append(np.ones(n - 1, int), closing), shape=n)
        assert (beside(ring.to(fmt, device=backend), 0) is None) is (closing < 0)


@every_cell(*PATHS)
def test_paths_on_graphs_of_awkward_shapes(algorithm, fmt, backend):
    beside = Beside(algorithm, backend)
    slow = algorithm.name == "dijkstra"  # its definition: a round for each vertex
    for name, shape in shapes(large=1200 if slow else 3000, long=300 if slow else 600).items():
        for dtype, kind in ((INT32, "spread"), (FLOAT32, "ties"), (INT32, "ends"))[: 2 if shape[0] > 1000 else 3]:
            A = shaped(shape, dtype, kind).to(fmt, device=backend)
            beside(A, 0, return_parents=True)
            if name in ("a path", "into a hub"):
                beside(A, A.nrows - 1, return_parents=True)
    beside.done()


@every_cell(*PATHS)
def test_a_distance_that_does_not_fit(algorithm, fmt, backend):
    beside = Beside(algorithm, backend)
    for dtype in [dtype for semiring, dtype in cases(algorithm.name, backend) if semiring is MinPlus]:
        most = (np.iinfo(dtype) if dtype.kind == "i" else np.finfo(dtype)).max
        A = from_edges([0, 1, 2, 0, 4], [1, 2, 3, 4, 3], np.array([most - 2, 1, 1, 5, 7], dtype))
        B = from_edges([0, 1, 2], [1, 2, 3], np.array([most - 2, 1, most], dtype))
        for M in (A, B):
            for until in ({}, {"limit": most - 1}, {"limit": 7}, {"target": 1}, {"target": 3}):
                beside(M.to(fmt, device=backend), 0, return_parents=True, **until)
    beside.done()


@every_cell(*PATHS)
def test_rows_of_several_sources(algorithm, fmt, backend):
    beside = Beside(algorithm, backend)
    A = side_by_side(np.random.default_rng(3), 4, "ties", MinPlus, INT32).to(fmt, device=backend)
    for sources in ([2, 0, 2], list(range(A.nrows)), []):
        beside(A, sources=sources, return_parents=True)
    beside.done()


OPTIONS: dict[str, list[dict[str, Any]]] = {
    "bellman_ford": [{}],
    "delta_stepping": [{"delta": delta} for delta in (0.5, 1, 3, 700.0, 10**300, "median", "mean", "max/degree")],
    "da2cf": [{}],
    "dijkstra": [{}],
    "bellman_ford_by": [{"schedule": schedule} for schedule in ("sweep", "fifo", "slf", "lll", "slf+lll")],
    "da2cf_by": [{"relax": "pull"}, {"passes": 1}, {"variant": "U_GPU"}],
}


@pytest.mark.parametrize(
    ("algorithm", "fmt", "backend"),
    [*fused_cells(*PATHS), *(cell for variant in (bellman_ford_by, da2cf_by) for cell in cells_of(variant))],
)
def test_parameters_change_nothing_about_the_answer(algorithm, fmt, backend):
    """Whatever of them is fused."""
    for options in OPTIONS[algorithm.name]:
        beside = Beside(algorithm, backend)
        for _, A in list(random_graphs("cpu", fmt, MinPlus, INT32, seed=4))[::2]:
            beside(A.to(device=backend), 0, return_parents=True, **options)


@pytest.mark.parametrize(("algorithm", "fmt", "semiring", "dtype", "backend"), path_cells("shortest_path_tree"))
def test_trees(algorithm, fmt, semiring, dtype, backend):
    """Also where zero weights close cycles, and where a nearer vertex need not come earlier."""
    beside = Beside(algorithm, backend)
    for potentials in (False, True) if semiring is MinPlus else (False,):
        for _, A in random_graphs(backend, fmt, semiring, dtype, seed=5, potentials=potentials):
            beside(A, bellman_ford(A, 0, semiring, fused=False), 0, semiring)
    beside.done()
    A = from_edges([0, 1], [1, 2], np.ones(2, dtype), shape=3).to(fmt, device=backend)
    astray = np.array([1, 1, 0], dtype) if dtype == BOOL else np.array([0, 1, 5], dtype)
    assert semiring is not MinPlus or beside(A, to_device(astray, backend), 0, semiring) is None


@every_cell("shortest_path_tree")
def test_trees_on_graphs_of_awkward_shapes(algorithm, fmt, backend):
    beside = Beside(algorithm, backend)
    for shape in shapes(large=3000, long=200).values():
        for dtype, kind in ((INT32, "ties"), (FLOAT64, "spread")):
            A = shaped(shape, dtype, kind)
            for M in (A, A.with_values(np.zeros_like(A.values))):
                M = M.to(fmt, device=backend)
                beside(M, bellman_ford(M, 0, fused=False), 0, MinPlus)
    beside.done()


@every_cell("bellman_ford")
def test_sssp_is_fused_too(algorithm, fmt, backend):
    for kind in KINDS:
        A = side_by_side(np.random.default_rng(6), 20, kind, MinPlus, INT32).to(fmt, device=backend)
        told = explain(sssp, A, 0, return_parents=True)
        assert_same(told.result, sssp(A, 0, return_parents=True, fused=False), backend)
        assert told.runs[0].implementation == "fused", told


@every_cell("bellman_ford")
def test_a_semiring_that_promises_no_order_is_left_to_the_definition(algorithm, fmt, backend):
    """For in another order its paths might be others."""
    wanders = Semiring(MinPlus.add, BinaryOp("wanders", lambda a, b: a + 1 + (b & 1), "a + 1 + (b & 1)"), one=0)
    A = side_by_side(np.random.default_rng(11), 4, "ties", MinPlus, INT32).to(fmt, device=backend)
    assert explain(algorithm, A, 0, MinPlus).runs[0].implementation == "fused"
    run = explain(algorithm, A, 0, wanders).runs[0]
    assert (run.implementation, run.why) == (
        "definition",
        "min_wanders does not declare both distributive laws; pass them as laws= if they hold",
    )


# --- searches ---------------------------------------------------------------------------------------------------------


@every_cell("bfs")
@pytest.mark.parametrize("direction", ["auto", "push", "pull"])
def test_searches_on_random_graphs(algorithm, fmt, direction, backend):
    beside = Beside(algorithm, backend)
    for k, (rng, A) in enumerate(random_graphs(backend, fmt, MinPlus, [BOOL, INT32, FLOAT64][len(direction) % 3])):
        source = 0 if A.nrows > 8 else int(rng.integers(A.nrows))
        inside = rng.random(A.nrows) < 0.8
        inside[source] = True
        masks: list[dict[str, Any]] = [
            {},
            {"mask": to_device(inside, backend)},
            {"mask": to_device(~inside, backend), "complement": True},
            {"mask": SparseVector(np.flatnonzero(inside), np.ones(inside.sum(), bool), A.nrows).to(device=backend)},
        ]
        how = masks[k % 4] | {"max_level": [None, 0, 2, 3][k // 4 % 4]}
        beside(A, source, direction=direction, return_parents=k % 3 != 1, **how)
    beside(A, sources=[0, A.nrows - 1, 0], direction=direction, return_parents=True)
    beside.done()


@every_cell("bfs")
def test_searches_on_graphs_of_awkward_shapes(algorithm, fmt, backend):
    beside = Beside(algorithm, backend)
    for shape in shapes(large=3000, long=600).values():
        A = shaped(shape, INT32, "ties").to(fmt, device=backend)
        for options in ({}, {"direction": "pull"}, {"max_level": 1}, {"target": A.nrows // 2}):
            for source in {0, A.nrows - 1}:
                beside(A, source, return_parents=True, **options)
    beside.done()


@every_cell("bfs")
def test_searches_that_turn(algorithm, fmt, backend):
    """Of a frontier that grows and shrinks, whatever the thresholds for pulling it."""
    beside = Beside(algorithm, backend)
    A = rmat(9).to(fmt, device=backend)
    for alpha, beta in ((15, 18), (1e-9, 18), (1e9, 1e-9), (1e9, 1e9), (2.5, 3)):
        for source in range(0, 40, 13):
            beside(A, source, return_parents=True, alpha=alpha, beta=beta)
    beside.done()


# --- components -------------------------------------------------------------------------------------------------------


@every_cell("scc")
@pytest.mark.parametrize("options", [{}, {"weak": True}], ids=str)
def test_components_on_random_graphs(algorithm, fmt, options, backend):
    beside = Beside(algorithm, backend)
    for k, (_, A) in enumerate(random_graphs(backend, fmt, MinPlus, [INT32, BOOL][len(options)], seed=7)):
        beside(both_ways(A.to(CSR, device="cpu")).to(fmt, device=backend) if k % 4 == 3 else A, **options)
    beside.done()


@every_cell("scc")
def test_components_on_graphs_of_awkward_shapes(algorithm, fmt, backend):
    beside = Beside(algorithm, backend)
    for shape in [*shapes(large=3000, long=600).values(), NO_VERTICES]:
        A = shaped(shape, INT32, "ties").to(fmt, device=backend)
        for weak in (False, True):
            beside(A, weak=weak)
    beside.done()


@every_cell("scc")
def test_components_between_one_and_many(algorithm, fmt, backend):
    """Random graphs about the density at which a giant component appears, and rings on a path of each other."""
    beside = Beside(algorithm, backend)
    rng = np.random.default_rng(8)
    for n, degree in ((50, 1.0), (300, 1.2), (300, 1.5), (2000, 1.1), (2000, 2.0)):
        src, dst = rng.integers(0, n, (2, int(n * degree)))
        beside(from_edges(src, dst, shape=n).to(fmt, device=backend))
    ring = np.arange(400)
    around = np.where(ring % 8 == 7, ring - 7, ring + 1)
    places = rng.permutation(400)
    src, dst = np.concatenate((ring, ring[:-8])), np.concatenate((around, ring[8:]))
    beside(from_edges(places[src], places[dst], shape=400).to(fmt, device=backend))
    beside.done()


# --- spanning forests -------------------------------------------------------------------------------------------------


@every_cell("boruvka")
@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
@pytest.mark.parametrize("symmetrize", [False, True])
def test_forests_on_random_graphs(algorithm, fmt, symmetrize, dtype, backend):
    beside = Beside(algorithm, backend)
    for k, (_, A) in enumerate(random_graphs(backend, fmt, MinPlus, dtype, seed=9)):
        G: CSR = A.to(CSR, device="cpu")
        if k % 2:  # weights of both signs
            G = G.with_values(np.where(np.arange(G.nnz) % 3 == 0, 0 - G.values, G.values))
        M = G if symmetrize else both_ways(G)
        beside(M.to(fmt, device=backend), symmetrize=symmetrize, return_labels=k % 3 != 1)
    if not symmetrize:  # a directed graph may be left to the definition
        beside.done()


@every_cell("boruvka")
def test_forests_on_graphs_of_awkward_shapes(algorithm, fmt, backend):
    directed, undirected = Beside(algorithm, backend), Beside(algorithm, backend)
    for shape in [*shapes(large=3000, long=600).values(), NO_VERTICES]:
        for dtype, kind in ((INT32, "ties"), (FLOAT64, "spread"), (INT64, "ends")):
            A = shaped(shape, dtype, kind)
            directed(A.to(fmt, device=backend), symmetrize=True, return_labels=True)
            undirected(both_ways(A).to(fmt, device=backend), return_labels=True)
    undirected.done()


@every_cell("boruvka")
def test_forests_at_the_ends_of_the_range(algorithm, fmt, backend):
    """Weights that are the dtype's ends, infinite, or zeros of both signs, ties among them."""
    beside = Beside(algorithm, backend)
    rng = np.random.default_rng(10)
    for dtype in NUMBERS:
        info: Any = np.iinfo(dtype) if dtype.kind == "i" else np.finfo(dtype)
        ends = [info.min, info.min + 1, -1, 0, 1, info.max - 1, info.max]
        if dtype.kind == "f":
            ends += [-0.0, np.inf, -np.inf, info.smallest_subnormal, -info.smallest_subnormal]
        for n in (6, 40):
            src, dst = rng.integers(0, n, (2, 3 * n))
            A = both_ways(from_edges(src, dst, rng.choice(np.array(ends, dtype), 3 * n), shape=n))
            beside(A.to(fmt, device=backend), return_labels=True)
    beside.done()


@every_cell("boruvka")
def test_a_graph_that_is_not_undirected_has_no_forest(algorithm, fmt, backend):
    beside = Beside(algorithm, backend)
    for dst, w in (([1, 0, 2, 2], [5, 5, 1, 4]), ([1, 0, 2, 1], [5, 5, 1, 2])):
        assert beside(from_edges([0, 1, 1, 2], dst, w, shape=3).to(fmt, device=backend)) is None


# --- every time the same ----------------------------------------------------------------------------------------------

CALLS: dict[str, Callable[[Any, Matrix], Any]] = {
    "bfs": lambda algorithm, A: algorithm(A, 0, return_parents=True),
    "scc": lambda algorithm, A: algorithm(A),
    "boruvka": lambda algorithm, A: algorithm(A, symmetrize=True, return_labels=True),
    "bfs_order": lambda algorithm, A: algorithm(A, 0, both_ways=True),
    "entry_places": lambda algorithm, A: algorithm(A, *A.to_edges()[:2]),
    "core_number": lambda algorithm, A: algorithm(A, symmetrize=True),
    "count_shortest_paths": lambda algorithm, A: algorithm(A.pattern(), 0, dtype="float64"),
    "joint_search": lambda algorithm, A: algorithm(A.astype(float), np.array([0, 9]), MinPlus, None, True),
    "label_propagation": lambda algorithm, A: algorithm(A),
    "nearest_parents": lambda algorithm, A: algorithm(A, bellman_ford(A, 0), 0, MinPlus),
    "shortest_path_tree": lambda algorithm, A: algorithm(A, bellman_ford(A, 0), 0, MinPlus),
    "topological_components": lambda algorithm, A: algorithm(A),
    "triangles": lambda algorithm, A: algorithm(A, symmetrize=True),
}
"""How an algorithm is called that is not called as those for paths are."""

SUMS = {"betweenness_centrality", "distance_totals", "pagerank"}
"""Algorithms that add floats, whose last digits depend on the order: `tests/test_centralities.py` compares them."""

LARGER: dict[str, Callable[[], CSR]] = {
    "hubs": lambda: rmat_both_ways(12, dtype=np.int32, high=9),
    "one-way hubs": lambda: rmat(12, dtype=np.int32, high=9),
    "a grid": lambda: grid(40, dtype=np.int32),
    "a path": lambda: shaped(shapes(large=2, long=1500)["a path both ways"], INT32, "ties"),
}


@pytest.mark.long
@pytest.mark.parametrize("graph", LARGER)
@every_cell(*(name for name in Fusible.all if name not in SUMS))
def test_every_run_gives_the_same_answer(algorithm, fmt, graph, backend):
    call = CALLS.get(algorithm.name, lambda algorithm, A: algorithm(A, 0, return_parents=True))
    A = LARGER[graph]().to(fmt, device=backend)
    expected = call(algorithm.unfused, A)
    for _ in range(REPEATS[backend]):
        assert_same(call(algorithm, A), expected, backend)
    ran = [run.implementation for run in explain(call, algorithm, A).runs if run.algorithm == algorithm.name]
    numbered = algorithm is not topological_components or expected.max() > 0  # one component alone has its number
    refused = algorithm is boruvka and graph == "one-way hubs"
    assert ran == (["fused"] if numbered else []) or refused, "it was the definition that ran"


# --- the tests themselves ---------------------------------------------------------------------------------------------


def test_every_fusible_algorithm_is_tried():
    assert set(Fusible.all) == {*CASES, *CALLS, *SUMS}
    assert {bfs, scc, boruvka, bellman_ford, shortest_path_tree} <= set(Fusible.all.values())


@pytest.mark.parametrize(
    "got",
    [np.array([-0.0, 1]), np.array([0, 1]), np.array([0.0, 2]), np.array([[0.0, 1]]), (np.array([0.0, 1]),)],
    ids=["sign", "dtype", "value", "shape", "tuple"],
)
def test_what_differs_is_found(got):
    assert_same(np.array([0.0, 1]), np.array([0.0, 1]), "cpu")
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        assert_same(got, np.array([0.0, 1]), "cpu")


def test_a_definition_is_not_taken_for_something_fused():
    beside = Beside(Fusible.all["dijkstra"], "cpu")
    with definitions_only("nothing may be fused"):
        beside(one_graph(np.random.default_rng(0), "ties", MinPlus, INT32), 0)
    with pytest.raises(AssertionError, match="dijkstra was not fused: .*nothing may be fused"):
        beside.done()
