"""Orders of discovery, and of components, by the kernels of a GPU, real or simulated, beside the loops of the host."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from algorithms import scc
from algorithms.fused.cpu import bfs_order as on_cpu
from algorithms.fused.cpu import topological as topological_on_cpu
from algorithms.fused.cuda import bfs_order, launches, topological
from bench.graphs import grid, rmat
from formats import CSR, from_edges
from formats.gpu import cupy
from semiring.vectors import renumbered
from semiring.verbs.registry import Declined

from .emulated import simulated

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="no g++, which compiles the simulated kernels")


def star(arms: int, length: int) -> CSR:
    """Paths from vertex 0, all of one length."""
    near = np.arange(arms * length)
    return from_edges(np.where(near % length, near, 0), near + 1)


GRAPHS: dict[str, Callable[[], CSR]] = {
    "hubs": lambda: rmat(8, dtype=np.int32, high=9),
    "a grid": lambda: grid(14, dtype=np.int32, high=9),
    "a path": lambda: from_edges(range(150), range(1, 151)),
    "narrow, wide, narrow": lambda: star(150, 5),
    "a loop and nothing else": lambda: from_edges([0], [0], shape=70),
    "no edges": lambda: from_edges([], [], np.empty(0, np.int32), shape=70),
}


Bring = Callable[[Any], Any]


@pytest.fixture(params=["simulated", pytest.param("cuda", marks=pytest.mark.backend("cuda"))])
def brought(request: pytest.FixtureRequest) -> Iterator[Bring]:
    """What brings a matrix or an array to a simulated GPU, or to a real one."""
    if request.param == "cuda":
        yield lambda x: x.to(device="cuda") if isinstance(x, CSR) else cupy().asarray(x)
        return
    with simulated(1):
        yield lambda x: x


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("both_ways", [False, True], ids=["one way", "both ways"])
def test_a_queue_on_a_gpu_has_the_order_and_the_parents_of_a_queue(name: str, both_ways: bool, brought: Bring) -> None:
    A = GRAPHS[name]()
    found = bfs_order.queued(brought(A), 0, both_ways)
    assert not isinstance(found, Declined)
    for got, wanted in zip(found, on_cpu.queued(A, 0, both_ways), strict=True):
        assert on_host(got).tolist() == wanted.tolist()


def test_a_queue_on_a_gpu_comes_back_to_the_host_and_goes_on(brought: Bring) -> None:
    A = star(150, 5)
    seen: list[int] = []
    with launches(every=2, progress=seen.append):
        found = bfs_order.queued(brought(A), 0, False)
    assert not isinstance(found, Declined)
    assert on_host(found[0]).tolist() == on_cpu.queued(A, 0, False)[0].tolist()
    assert seen == [2, 4, 5]


def test_a_queue_on_a_gpu_is_given_up_after_so_many_levels(brought: Bring) -> None:
    path = from_edges(range(150), range(1, 151))
    assert isinstance(bfs_order.queued(brought(path), 0, False, most=20), Declined)


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("rounds", [512, 1], ids=["there", "on the host"])
def test_components_have_the_same_places_on_a_gpu(
    name: str, rounds: int, brought: Bring, monkeypatch: pytest.MonkeyPatch
) -> None:
    A = GRAPHS[name]()
    component, k = renumbered(scc(A))
    monkeypatch.setattr(topological, "MAX_ROUNDS", rounds)
    found = topological.numbered(brought(A), brought(component), k)
    assert on_host(found).tolist() == topological_on_cpu.numbered(A, component, k).tolist()


def on_host(x: Any) -> np.ndarray:
    return np.array(x) if isinstance(x, np.ndarray) else x.get()
