"""The C++ of the GAP suite's methods finds what ours finds, so that its times may stand beside ours."""

from __future__ import annotations

import shutil
from typing import Any

import numpy as np
import pytest

from algorithms import bfs, scc, sssp
from bench.graphs import grid, rmat, rmat_both_ways
from bench.peers import Unable, agreement, common, gap
from formats import CSR, from_edges

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="there is no C++ compiler (g++)")

GRAPHS = {
    "grid": lambda: grid(40),
    "rmat": lambda: rmat(11),
    "rmat both ways": lambda: rmat_both_ways(10),
    "path": lambda: from_edges(np.arange(999), np.arange(1, 1000), np.ones(999, np.float32), shape=1000),
    "cycles in a row": lambda: from_edges(
        np.arange(600),
        np.where(np.arange(600) % 5 == 4, np.arange(600) - 4, np.arange(600) + 1),
        np.ones(600),
        shape=600,
    ),
    "no edges": lambda: from_edges([], [], np.array([], np.float32), shape=3),
}


@pytest.fixture(params=GRAPHS)
def graph(request: pytest.FixtureRequest) -> CSR:
    made: Any = GRAPHS[request.param]()
    return made


def test_distances_levels_and_components_are_ours(graph: CSR) -> None:
    for source in (0, graph.nrows - 1):
        for task, prepare, ours in (("sssp", gap.sssp, sssp), ("bfs", gap.bfs, bfs)):
            prepared = prepare(graph, source)
            assert agreement(task, common(task, ours(graph, source)), prepared.answer(prepared.run()))
    prepared = gap.strong_components(graph)
    assert agreement("scc", common("scc", scc(graph)), prepared.answer(prepared.run()))
    prepared = gap.weak_components(graph)
    assert agreement("scc", common("scc", scc(graph, weak=True)), prepared.answer(prepared.run()))


def test_lengths_that_are_no_integers_are_left_out() -> None:
    with pytest.raises(Unable, match="integer lengths"):
        gap.sssp(from_edges([0], [1], [0.5], shape=2), 0)
