"""Borůvka's algorithm with a share of its searches on the CPU: its parts on the host, and the whole on a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from algorithms import boruvka
from bench.experiments import kolganov
from bench.graphs import grid, rmat_both_ways, ssca2
from bench.laboratory.boruvka import (
    BLOCK,
    TRIALS,
    CPUSearch,
    Hybrid,
    Rows,
    Times,
    as_weights,
    balanced,
    dealt,
    hybrid,
    rows_by_weight,
    text,
)
from formats import COO, CSR, from_edges
from formats.preparation.weights import ordinals

from .conftest import Backend
from .graphs import on_cpu

GRAPHS = {
    "R-MAT": lambda: rmat_both_ways(8, high=5),
    "SSCA-2": lambda: ssca2(8, dtype=np.int32),
    "a grid": lambda: grid(12).astype(np.int32),
    "signs": lambda: both_ways([0, 1, 2, 3, 5], [1, 2, 0, 4, 5], [-1.5, 2, -0.0, -7, 1]),
    "no entries": lambda: both_ways([], [], []),
}


def both_ways(u: list[int], v: list[int], w: list[float]) -> CSR:
    return from_edges([*u, *v], [*v, *u], np.array([*w, *w], np.float32), shape=6)


def by_searches_alone(rows: Rows, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """(u, v, weights): every round's searches by the CPU, and trees joined one after the other."""
    n = rows.indptr.size - 1
    cpu, tree, chosen = CPUSearch(rows, np.arange(n, dtype=np.int32)), np.arange(n, dtype=np.int32), []
    other, weight = np.empty(n, np.int32), np.empty(n, np.uint32)
    while True:
        cpu.find(tree, other, weight)
        offers: dict[int, tuple[int, int, int]] = {}
        for v in np.flatnonzero(other >= 0).tolist():
            edge = int(weight[v]), min(v, int(other[v])), max(v, int(other[v]))
            offers[int(tree[v])] = min(edge, offers.get(int(tree[v]), edge))
        if not offers:
            break
        for w, u, v in offers.values():
            if tree[u] != tree[v]:
                chosen.append((u, v, w))
                tree[tree == max(tree[u], tree[v])] = min(tree[u], tree[v])
    u, v, w = np.array(sorted(chosen), np.int64).reshape(-1, 3).T
    return u, v, as_weights(w.astype(np.uint32), dtype)


@pytest.mark.parametrize("name", GRAPHS)
def test_searches_that_never_go_back_find_the_forest(name: str) -> None:
    A = GRAPHS[name]()
    for mine, its in zip(by_searches_alone(rows_by_weight(A), A.dtype), boruvka(A).to_edges(), strict=True):
        np.testing.assert_array_equal(mine, its)


@pytest.mark.parametrize("values", [np.array([-2, 0, 7, 2**31 - 1, -(2**31)], np.int32), np.float32([-1.5, 0, 1e-45])])
def test_weights_come_back_from_integers_of_their_order(values: np.ndarray) -> None:
    whole = (ordinals(values).astype(np.int64) + 2**31).astype(np.uint32)
    np.testing.assert_array_equal(np.argsort(whole), np.argsort(values))
    np.testing.assert_array_equal(as_weights(whole, values.dtype), values)


def test_blocks_of_vertices_are_dealt_out() -> None:
    for n, share in ((0, 0.5), (5, 1), (10 * BLOCK + 3, 0.3), (BLOCK, 0)):
        cpu, gpu = dealt(n, share)
        np.testing.assert_array_equal(np.sort(np.concatenate((cpu, gpu))), np.arange(n))
        assert cpu.size == pytest.approx(share * n, abs=BLOCK)
        assert (np.diff(cpu) > 0).all()


def test_the_measured_share_makes_both_take_as_long() -> None:
    low, high = TRIALS
    few, some = (Times(copy_ms=2, cpu_ms=3 + 80 * share, gpu_ms=10 * (1 - share)) for share in (low, high))
    share = balanced(few, some)
    assert 2 + 3 + 80 * share == pytest.approx(10 * (1 - share))
    few.copy_ms = 8  # and 3 more before the CPU's first search
    assert balanced(few, some) == 0


def test_other_weights_are_refused() -> None:
    with pytest.raises(ValueError, match="weights must have 4 bytes and entries .* got float64 and 2"):
        rows_by_weight(from_edges([0, 1], [1, 0], [1.0, 1.0]))


def test_its_kernels_compile_for_an_h100() -> None:
    from .test_codegen import compile_for

    assert compile_for("compute_90", text()) == ""


@pytest.mark.backend("cuda")
@pytest.mark.parametrize("share", [None, 0.0, 0.05, 0.5, 1.0])
@pytest.mark.parametrize("name", GRAPHS)
def test_both_processors_on_cuda_find_the_forest(name: str, share: float | None) -> None:
    A = GRAPHS[name]()
    F: Any = hybrid(A.to(device="cuda"), share)
    assert isinstance(F, COO)
    for mine, its in zip(F.to_edges(), boruvka(A).to_edges(), strict=True):
        np.testing.assert_array_equal(on_cpu(mine), its)


@pytest.mark.backend("cuda")
def test_a_share_on_cuda_is_between_0_and_1() -> None:
    with pytest.raises(ValueError, match="share must be in"):
        Hybrid(GRAPHS["a grid"]().to(device="cuda"), 1.5)


def test_a_plot_has_a_panel_for_each_graph() -> None:
    figures = {"ms": 3.0, "cpu_ms": 2.0, "gpu_ms": 1.0, "graph": "R-MAT 20"}
    rows = [figures | {"share": share, "contender": f"hybrid, {share:.0%}"} for share in (0.01, 0.5)]
    rows.append(figures | {"share": 0.04, "contender": kolganov.MEASURED})
    made = kolganov.plot_shares([*rows, {"graph": "R-MAT 20", "contender": kolganov.FUSED, "ms": 1.0}])
    assert made is not None
    assert [ax.get_title("left") for ax in made.axes] == ["R-MAT 20"]
    assert kolganov.plot_shares([]) is None


@pytest.mark.parametrize("device", [Backend.CUDA.param(name="hybrid")])
def test_the_experiment_verifies_every_share(device: Any) -> None:
    rows = [*kolganov.shared(kolganov.Setting(device, quick=True, repeats=3))]
    assert len(rows) == 2 * (len(kolganov.SHARES) + 2)
    assert all(row["verified"] for row in rows)
