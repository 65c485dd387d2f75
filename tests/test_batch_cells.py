"""Every implementation for several sources gives what each source gives alone, to the last bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from algorithms import bellman_ford, bfs, da2cf, delta_stepping, dijkstra
from algorithms.fused.cuda import batches, launches
from bench.graphs import grid, rmat
from formats import CSR, from_edges
from formats.arrays import to_device
from semiring import LorLand, MaxMin, MaxPlus, MinPlus, Semiring, explain

from .conftest import Backend
from .fused_graphs import NO_VERTICES, shaped, shapes
from .test_essential_edges import hubs

ALGORITHMS = {algorithm.name: algorithm for algorithm in (bfs, bellman_ford, da2cf, delta_stepping, dijkstra)}
SHAPES = {name: shape for name, shape in shapes(3000, 150).items() if shape is not NO_VERTICES}
GRAPHS = {
    **{name: lambda dtype, shape=shape: shaped(shape, dtype, "ties") for name, shape in SHAPES.items()},
    "hubs": lambda dtype: rmat(9, dtype=np.float32).astype(dtype),
    "a grid": lambda dtype: grid(25, dtype=np.float32).astype(dtype),
    "a path into a star": lambda dtype: from_edges(
        np.append(np.arange(40), np.full(3000, 40)), np.arange(1, 3041), (np.arange(3040) % 7).astype(dtype)
    ),
}
every_graph = pytest.mark.parametrize("graph", GRAPHS)
on_a_gpu = Backend.CUDA


def cells(*names: str) -> Any:
    """(algorithm, backend) of every cell for several sources."""
    found = [
        Backend(backend).param(ALGORITHMS[name], name=name)
        for name in names
        for fmt, backend in ALGORITHMS[name].batch.cells
        if fmt is CSR
    ]
    return pytest.mark.parametrize(("algorithm", "backend"), found)


def assert_as_one_by_one(algorithm: Any, A: CSR, backend: str, count: int, **how: Any) -> None:
    """The rows are what the sources give alone on the CPU, and were found together."""
    sources = np.random.default_rng(count).integers(0, A.nrows, count)
    on = {name: to_device(value, backend) if isinstance(value, np.ndarray) else value for name, value in how.items()}
    told = explain(algorithm, A.to(device=backend), sources=sources, return_parents=True, **on)
    if backend == Backend.CUDA:  # on the CPU what is small may be taken one by one
        assert any("sources in one pass" in run.why for run in told.runs)
    alone = [algorithm(A, int(source), return_parents=True, **how) for source in sources]
    for got, expected in zip(told.result, zip(*alone, strict=True), strict=True):
        assert got.dtype == expected[0].dtype
        np.testing.assert_array_equal(to_device(got, "cpu"), np.stack(expected))


@every_graph
@cells(*ALGORITHMS)
def test_rows_are_what_the_sources_give_alone(graph: str, algorithm: Any, backend: str) -> None:
    A = GRAPHS[graph](np.dtype(np.int32))
    for count in (2, 65):
        assert_as_one_by_one(algorithm, A, backend, count)


@pytest.mark.parametrize("graph", ["hubs", "a star", "a grid", "a path into a star"])
@cells("bfs")
def test_searches_go_either_way_as_far_and_where_they_are_told(graph: str, algorithm: Any, backend: str) -> None:
    A = GRAPHS[graph](np.dtype(np.int32))
    everywhere = np.ones(A.nrows, bool)
    everywhere[::7] = False
    everywhere[np.random.default_rng(33).integers(0, A.nrows, 33)] = True
    for how in (
        {"direction": "push"},
        {"direction": "pull"},
        {"alpha": 1000, "beta": 2},
        {"max_level": 0},
        {"max_level": 2},
        {"mask": everywhere},
    ):
        assert_as_one_by_one(algorithm, A, backend, 33, **how)


@pytest.mark.parametrize(
    ("semiring", "dtype"),
    [
        *((MinPlus, dtype) for dtype in (np.int64, np.float32, np.float64)),
        (MaxMin, np.float32),
        (MaxPlus, np.int32),
        (LorLand, bool),
    ],
    ids=str,
)
@pytest.mark.parametrize("graph", ["hubs", "a grid", "a star"])
@cells("bellman_ford")
def test_rows_of_every_semiring(graph: str, semiring: Semiring, dtype: Any, algorithm: Any, backend: str) -> None:
    A = GRAPHS[graph](np.dtype(np.int32))
    rows, columns, weights = A.to_edges()
    if semiring is LorLand:
        weights = weights > 0  # True and False are 1 and 0, which a cast to bool wants
    A = from_edges(rows, columns, (-weights if semiring is MaxPlus else weights).astype(dtype), shape=A.nrows)
    assert_as_one_by_one(algorithm, A, backend, 40, semiring=semiring)


@cells("delta_stepping")
def test_a_limit_holds_for_every_row(algorithm: Any, backend: str) -> None:
    for graph in ("hubs", "a grid"):
        for how in ({"limit": 9}, {"target": 5}, {"delta": 3}):
            assert_as_one_by_one(algorithm, GRAPHS[graph](np.dtype(np.int32)), backend, 10, **how)


@pytest.mark.parametrize("count", [5, 64])
@pytest.mark.parametrize("side_by_side", [False, True])
@pytest.mark.parametrize("graph", ["hubs", "a grid", "a path both ways", "a path into a star"])
@pytest.mark.backend(on_a_gpu)
def test_both_kernels_of_paths_may_be_left_after_any_step(
    graph: str, side_by_side: bool, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "deep", lambda A: side_by_side)
    A = GRAPHS[graph](np.dtype(np.int32))
    with launches(every=2):
        assert_as_one_by_one(delta_stepping, A, "cuda", count)
        assert_as_one_by_one(bellman_ford, A, "cuda", count, semiring=MaxMin)


@pytest.mark.parametrize("dtype", [np.int32, np.float64])
@pytest.mark.parametrize("graph", ["hubs", "a grid", "a star", "into a hub", "a path into a star"])
@pytest.mark.backend(on_a_gpu)
def test_paths_by_rows_of_distances(graph: str, dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "deep", lambda A: False)
    A = GRAPHS[graph](np.dtype(dtype))
    told = explain(delta_stepping, A.to(device="cuda"), sources=[0, 1, 2]).runs[-1].details
    assert told["kernel"] == "batch"
    for count in (3, 20, 64):
        assert_as_one_by_one(delta_stepping, A, "cuda", count)
        assert_as_one_by_one(bellman_ford, A, "cuda", count, semiring=MaxMin)
        assert_as_one_by_one(delta_stepping, A, "cuda", count, limit=5)


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
@pytest.mark.backend(on_a_gpu)
@pytest.mark.usefixtures("all_resident")
def test_paths_of_graphs_with_hubs_go_along_few_edges(dtype: str) -> None:
    A = hubs(dtype)
    M, sources = A.to(device="cuda"), list(range(0, A.nrows, 100))
    for how in ({}, {"limit": 20}, {"delta": 9}):
        told = explain(delta_stepping, M, sources=sources, **how)
        assert 0 < told.runs[-1].details["essential"] < A.nnz / 3
        alone = np.stack([delta_stepping(A, source, **how) for source in sources])
        np.testing.assert_array_equal(to_device(told.result, "cpu"), alone)
    assert_as_one_by_one(bellman_ford, A, "cuda", 64)


@pytest.mark.backend(on_a_gpu)
@pytest.mark.usefixtures("all_resident")
def test_distances_too_large_for_the_margin_are_found_along_all_edges() -> None:
    A = hubs("float32")
    u, v, w = A.to_edges()
    along = np.arange(A.nrows, A.nrows + 200)  # a path to a vertex of the graph, of heavy edges
    w = np.concatenate([w, np.full(200, w.max())])
    B = from_edges(np.append(u, along), np.append(v, np.append(along[1:], 5)), w, shape=A.nrows + 200)
    M, starts = B.to(device="cuda"), [0, *range(A.nrows, A.nrows + 20)]
    assert "essential" not in explain(delta_stepping, M, sources=starts).runs[-1].details
    assert "essential" in explain(delta_stepping, M, sources=list(range(20))).runs[-1].details
    assert_as_one_by_one(delta_stepping, B, "cuda", 40)


@pytest.mark.parametrize("direction", ["auto", "push", "pull"])
@pytest.mark.parametrize("graph", ["hubs", "a path", "a path into a star", "into a hub"])
@pytest.mark.backend(on_a_gpu)
def test_searches_may_be_left_after_any_level(graph: str, direction: str) -> None:
    with launches(every=1):
        assert_as_one_by_one(bfs, GRAPHS[graph](np.dtype(np.int32)), "cuda", 64, direction=direction)


@pytest.mark.parametrize("direction", ["auto", "push"])
@pytest.mark.backend(on_a_gpu)
def test_searches_that_find_more_than_their_blocks_hold_lose_nothing(direction: str) -> None:
    leaves = np.arange(1, 1 << 20)
    hub = np.zeros_like(leaves)
    further = leaves[:-1:3], leaves[1::3]
    A = from_edges(np.concatenate([hub, leaves, further[0]]), np.concatenate([leaves, hub, further[1]]))
    assert_as_one_by_one(bfs, A, "cuda", 5, direction=direction)
