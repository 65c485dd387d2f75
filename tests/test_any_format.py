"""Algorithms on a matrix in any format: run as a whole by its rows, which are kept, said and counted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from algorithms import (
    NegativeCycle,
    bellman_ford,
    betweenness_centrality,
    bfs,
    bfs_order,
    boruvka,
    core_number,
    count_shortest_paths,
    da2cf,
    delta_stepping,
    dijkstra,
    scc,
    shortest_path_tree,
    sssp,
    topological_components,
)
from algorithms.equations.distance_totals import distance_totals
from algorithms.equations.joint_search import joint_search
from algorithms.shared.entries import entry_places
from bench.graphs import rmat, rmat_both_ways
from bench.laboratory import bellman_ford_by
from formats import COO, CSC, CSR, CompressedCSR, Matrix, Place, from_edges
from formats.matrix.facts import COMPRESSED
from formats.storage.orientation import compressed
from semiring import (
    MONOIDS,
    BinaryOp,
    MaxMin,
    MinPlus,
    Semiring,
    ewise_add,
    ewise_mult,
    ewise_union,
    explain,
    kronecker,
    mxm,
)
from semiring.verbs.fusible import Fusible

from .conftest import Backend
from .graphs import on_cpu
from .strategies import FORMATS, OPTIONS


def on(A: Matrix, vertices: list[int]) -> Any:
    return A.xp.asarray(vertices, np.int64)


ALGORITHMS: dict[str, Callable[..., Any]] = {
    "bellman_ford": lambda A, **how: bellman_ford(A, 3, return_parents=True, **how),
    "bellman_ford, widest": lambda A, **how: bellman_ford(A, 3, MaxMin, return_parents=True, **how),
    "bellman_ford, fifo": lambda A, **how: bellman_ford_by(A, 3, schedule="fifo", **how),
    "delta_stepping": lambda A, **how: delta_stepping(A, 3, return_parents=True, **how),
    "da2cf": lambda A, **how: da2cf(A, 3, **how),
    "dijkstra": lambda A, **how: dijkstra(A, sources=[3, 5], **how),
    "sssp": lambda A, **how: sssp(A, 3, return_parents=True, **how),
    "bfs": lambda A, **how: bfs(A, sources=[3, 5], return_parents=True, **how),
    "bfs_order": lambda A, **how: bfs_order(A, 3, both_ways=True, **how),
    "scc": lambda A, **how: scc(A, **how),
    "weak components": lambda A, **how: scc(A, weak=True, **how),
    "topological_components": lambda A, **how: topological_components(A, **how),
    "joint_search": lambda A, **how: joint_search(A.astype(float), on(A, [3, 5]), MinPlus, None, True, **how),
    "nearest parents": lambda A, **how: shortest_path_tree(A, sssp(A, 3), 3, MinPlus, ties="nearest", **how),
    "entry_places": lambda A, **how: entry_places(A, *(on(A, part) for part in ([3, 0, 5, 3], [0, 3, 5, 4])), **how),
    "boruvka": lambda A, **how: boruvka(A, symmetrize=True, return_labels=True, **how),
    "betweenness": lambda A, **how: betweenness_centrality(A, sources=[3, 5], **how).round(9),
    "betweenness, weighted": lambda A, **how: betweenness_centrality(A, weighted=True, sources=[3], **how).round(9),
    "distance_totals": lambda A, **how: tuple(each.round(9) for each in distance_totals(A, **how)),
    "core_number": lambda A, **how: core_number(A, symmetrize=True, **how),
    "count_shortest_paths": lambda A, **how: count_shortest_paths(A.pattern(), sources=[3, 5], **how),
}

every_algorithm = pytest.mark.parametrize("name", ALGORITHMS)
every_other_format = pytest.mark.parametrize(
    ("fmt", "backend"),
    [Backend(backend).param(fmt, name=fmt.__name__) for backend in Backend for fmt in FORMATS if fmt is not CSR],
)


def parts(answer: Any) -> list[Any]:
    """An answer as arrays on the host."""
    if isinstance(answer, tuple):
        return [part for each in answer for part in parts(each)]
    if isinstance(answer, Matrix):
        return [on_cpu(part) for part in answer.to_edges()]
    return [on_cpu(answer)]


def assert_equal(answer: Any, expected: Any) -> None:
    for part, right in zip(parts(answer), parts(expected), strict=True):
        assert part.dtype == right.dtype
        np.testing.assert_array_equal(part, right)


def stored(A: CSR, fmt: type[Matrix], backend: str = "cpu") -> Matrix:
    return A.to(fmt, **({"force": True} if "force" in OPTIONS.get(fmt, {}) else {})).to(device=backend)


@every_algorithm
@every_other_format
def test_every_algorithm_runs_fused_with_the_answer_of_csr(name, fmt, backend):
    A, algorithm = rmat(7, dtype=np.int32, high=9), ALGORITHMS[name]
    M = stored(A, fmt, backend)
    told = explain(algorithm, M)
    assert_equal(told.result, algorithm(A))
    of_csr = explain(algorithm, stored(A, CSR, backend))  # on a GPU, queues of single vertices are not fused
    assert {run.implementation for run in told.runs} == {run.implementation for run in of_csr.runs}
    assert backend == "cuda" or {run.implementation for run in told.runs} == {"fused"}
    assert_equal(algorithm(stored(A, fmt, backend), fused=False), told.result)


@every_other_format
def test_negative_weights_and_cycles_are_those_of_csr(fmt, backend):
    u = np.arange(30)
    src, dst, w = np.append(u[:-1], 29), np.append(u[1:], 10), np.full(30, -1)
    A = from_edges(src, dst, np.append(w[:-1], 19))
    assert_equal(sssp(stored(A, fmt, backend), 0, return_parents=True), sssp(A, 0, return_parents=True))
    cyclic = from_edges(src, dst, np.append(w[:-1], 18))
    with pytest.raises(NegativeCycle) as found:
        sssp(stored(cyclic, fmt, backend), 0)
    assert sorted(set(found.value.cycle)) == list(range(10, 30))


@pytest.mark.parametrize("fmt", [fmt for fmt in FORMATS if fmt not in (CSR, CSC)], ids=lambda fmt: fmt.__name__)
def test_the_rows_are_made_once_counted_and_told(fmt):
    A = stored(rmat(7, dtype=np.int32, high=9), fmt)
    told = explain(bfs, A, 3)
    made = compressed(A, 0)
    assert f"bfs takes the {fmt.__name__} by its rows, as CSR: {made.nbytes:,} bytes, kept with it" in str(told)
    own = [part.nbytes for part in made.arrays if not any(np.shares_memory(part, other) for other in A.arrays)]
    assert 0 < sum(own) <= A.kept_nbytes
    bfs(A, 5)
    scc(A)
    assert compressed(A, 0) is made


def test_a_definition_that_is_asked_for_runs_on_the_format_itself():
    A = stored(rmat(7), COO)
    told = explain(bfs, A, 3, fused=False)
    assert (told.runs[0].format, told.runs[0].implementation, told.choices) == ("COO", "definition", [])


def test_a_format_with_an_implementation_of_its_own_is_not_converted():
    A = rmat_both_ways(7).to(CompressedCSR)
    told = explain(boruvka, A)
    assert (told.runs[0].format, told.runs[0].implementation, told.choices) == ("CompressedCSR", "fused", [])


def test_where_the_rows_do_not_fit_the_definition_runs_and_the_figures_are_told(monkeypatch):
    A = stored(rmat(7), COO)
    expected = bfs(A, 3, direction="push", fused=False)
    monkeypatch.setattr(Place, "check_room", lambda place, what, needed: None)
    monkeypatch.setattr(Place, "questions", lambda place, needed, **how: True)
    monkeypatch.setattr(Place, "available_bytes", lambda place: 100)
    told = explain(bfs, A, 3, direction="push")
    assert_equal(told.result, expected)
    assert (told.runs[0].format, told.runs[0].implementation) == ("COO", "definition")
    assert "bfs runs on the COO itself, unfused" in str(told)
    assert "100" in str(told)


def test_a_matrix_by_name_is_taken_by_its_rows_too():
    A = stored(rmat(7), COO)
    (run,) = explain(lambda: bfs(A=A, source=3)).runs
    assert run.implementation == "fused"


def test_an_algorithm_that_nobody_has_fused_takes_the_format_itself():
    @Fusible
    def degree(A: Matrix) -> Any:
        return count(A)

    @degree.equations
    def count(A: Matrix) -> str:
        return type(A).__name__

    try:
        assert degree(stored(rmat(7), COO)) == "COO"
    finally:
        del Fusible.all["degree"]


@pytest.mark.parametrize(
    "call", [lambda A: bfs(A, -1), lambda A: sssp(A, 5, limit="far"), lambda A: bfs(A, 0, direction="up")]
)
def test_bad_arguments_are_refused_before_the_rows_are_made(call):
    A = stored(rmat(7), COO)
    with pytest.raises((TypeError, ValueError)):
        call(A)
    assert not A.keeps(COMPRESSED, CSR)


def test_a_semiring_that_cannot_be_fused_runs_on_the_format_itself():
    lawless = Semiring(MONOIDS["min"], BinaryOp("my plus", scalar=lambda a, b: a + b, cuda="a + b"), one=0)
    A = stored(rmat(7), COO)
    (run,) = explain(bellman_ford, A, 3, lawless).runs
    assert (run.format, run.implementation) == ("COO", "definition")
    assert not A.keeps(COMPRESSED, CSR)


OF_TWO: dict[str, Callable[[Any, Any], Any]] = {
    "mxm": lambda A, B: mxm(A, B, "min_plus"),
    "mxm, masked": lambda A, B: mxm(A, B, "min_plus", mask=B, complement=True),
    "mxm, arguments": lambda A, B: mxm(A, B, "min_plus", return_argument=True)[1],
    "ewise_add": lambda A, B: ewise_add(A, B, "max"),
    "ewise_mult": lambda A, B: ewise_mult(A, B, "times"),
    "ewise_union": lambda A, B: ewise_union(A, 1, B, 2, "minus"),
    "kronecker": lambda A, B: kronecker(A, B, "plus"),
    "+ and @": lambda A, B: (A + B) @ B,
}


@pytest.mark.parametrize("name", OF_TWO)
@every_other_format
def test_verbs_of_two_matrices_take_them_in_two_formats(name, fmt, backend):
    A, call = rmat(4, 4), OF_TWO[name]
    expected = call(A, A.T.to(CSR))
    mine = A.to(fmt, **OPTIONS.get(fmt, {})).to(device=backend)
    other = A.to(device=backend)
    for found in (call(mine, other.T), call(other, mine.T)):
        C = found.to(CSR).to(device="cpu")
        assert [part.tolist() for part in C.to_edges()] == [part.tolist() for part in expected.to_edges()]


def test_the_conversion_of_a_second_format_is_told():
    A = rmat(4, 4)
    assert "mxm takes the CSC by its rows, as CSR" in str(explain(lambda: mxm(A, A.T, "min_plus")))
