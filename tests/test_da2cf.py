"""DA2CF as the paper has it: its implementations by name, its counterexample, and where its steps run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from algorithms import bellman_ford, da2cf, trace
from bench.laboratory import VARIANTS, da2cf_by
from bench.laboratory import da2cf as laboratory
from formats import Matrix, from_edges
from semiring import MinPlus, vxm
from semiring.algebra.semirings import find_semiring

from .graphs import on_cpu

DEVICES = {name: {plan.relax_on, plan.minimum_on, plan.update_on} for name, plan in VARIANTS.items()}

every_variant = pytest.mark.parametrize(
    "variant",
    [
        pytest.param(name, marks=[pytest.mark.backend("cuda")] if "cuda" in devices else [])
        for name, devices in DEVICES.items()
    ],
)


def counterexample(n: int, *, directed: bool, dtype: str = "int64") -> Matrix:
    """Figure 5: 0 leads to 1 … n-2 with weight 1, and each of those to n-1, with a weight of its own."""
    between = np.arange(1, n - 1)
    src, dst = np.append(np.zeros(n - 2, int), between), np.append(between, np.full(n - 2, n - 1))
    weights = np.append(np.ones(n - 2, int), between)
    if not directed:
        src, dst, weights = np.append(src, dst), np.append(dst, src), np.append(weights, weights)
    return from_edges(src, dst, weights.astype(dtype), shape=n)


def random_graph(dtype: str = "int32") -> Matrix:
    rng = np.random.default_rng(5)
    src, dst, weights = rng.integers(0, 900, 6000), rng.integers(0, 1000, 6000), rng.integers(0, 11, 6000)
    return from_edges(src, dst, weights.astype(dtype), shape=1000)


@every_variant
@pytest.mark.parametrize("dtype", ["int32", "float32"])
def test_every_implementation_of_the_paper_gives_the_same(variant: str, dtype: str) -> None:
    A = random_graph(dtype)
    d, parent = bellman_ford(A, 3, return_parents=True)
    for fmt in ("csr", "coo", "segmentedcoo"):
        found, tree = da2cf_by(A.to(fmt), 3, variant=variant, return_parents=True)
        assert isinstance(found, np.ndarray), "where the matrix is"
        np.testing.assert_array_equal(found, d)
        np.testing.assert_array_equal(tree, parent)


@pytest.mark.backend("cuda")
@pytest.mark.parametrize("variant", VARIANTS)
def test_a_matrix_on_the_gpu_gets_its_answer_there(variant: str) -> None:
    A = random_graph()
    d = da2cf_by(A.to(device="cuda"), 3, variant=variant)
    assert not isinstance(d, np.ndarray)
    np.testing.assert_array_equal(on_cpu(d), bellman_ford(A, 3))


@pytest.mark.backend("cuda")
@pytest.mark.parametrize("variant", VARIANTS)
def test_hybrids_move_vectors_in_every_iteration_and_others_never(variant: str, monkeypatch: Any) -> None:
    moves = []
    move = laboratory.moved

    def noting(x: Any, device: str) -> Any:
        y = move(x, device)
        moves.extend([] if y is x else [device])
        return y

    A = random_graph().to(device="cuda" if "cuda" in DEVICES[variant] else "cpu")
    monkeypatch.setattr(laboratory, "moved", noting)
    with trace() as t:
        da2cf_by(A, 3, variant=variant)
    if len(DEVICES[variant]) == 1:
        assert not moves
        return
    # in each iteration q goes to the GPU, and f, q and who is resolved come back; q comes and those three go; or only q
    # comes for its minimum, which is a number
    to_cpu, to_cuda = {"U_H1": (3, 1), "U_H2": (1, 3), "U_H3": (1, 0)}[variant]
    rounds = len(t.rounds)
    assert to_cpu * rounds <= moves.count("cpu") <= to_cpu * rounds + 4
    assert to_cuda * rounds - 4 <= moves.count("cuda") <= to_cuda * rounds + 4


@pytest.mark.parametrize("directed", [True, False])
def test_the_counterexample_on_the_cpu(directed: bool) -> None:
    for variant in ("F_CPU", "U_CPU"):
        d = da2cf_by(counterexample(1024, directed=directed), 0, variant=variant)
        assert d.tolist() == [0, *[1] * 1022, 2]


@pytest.mark.long
@pytest.mark.backend("cuda")
@pytest.mark.parametrize("n", [1024, 2**20])
@pytest.mark.parametrize("directed", [True, False])
def test_the_counterexample_a_thousand_times_in_a_row(n: int, directed: bool) -> None:
    """All of 1 … n-2 relax n-1 at the same time, each with another value; without atomics one of them is left."""
    A = counterexample(n, directed=directed).to(device="cuda")
    right = bellman_ford(counterexample(n, directed=directed), 0)
    assert right.tolist() == [0, *[1] * (n - 2), 2]
    there = A.values.__class__(right.shape, right.dtype)
    there.set(right)
    for _ in range(1000):
        assert bool((da2cf_by(A, 0, variant="F_GPU") == there).all())


@pytest.mark.backend("cuda")
@pytest.mark.parametrize("kernel", ["pull_threads", "pull_cached_threads"])
@pytest.mark.parametrize("semiring", ["min_plus", "plus_times", "max_min"])
@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
def test_a_pull_by_threads_is_the_product(kernel: Any, semiring: str, dtype: str) -> None:
    import cupy

    rng = np.random.default_rng(1)
    A = random_graph(dtype)
    x, allowed = rng.integers(0, 50, 1000).astype(dtype), rng.random(1000) < 0.5
    C = A.to("csc").to(device="cuda")
    y = laboratory.pulled(kernel, cupy.asarray(x), C, find_semiring(semiring), cupy.asarray(allowed))
    np.testing.assert_array_equal(on_cpu(y), vxm(x, A, semiring, mask=allowed))


def test_rounds_are_those_of_the_distances() -> None:
    """A round for every distance that occurs, however many vertices lie at it."""
    A = random_graph()
    d = bellman_ford(A, 3)
    with trace() as t:
        da2cf(A, 3)
    distances = np.unique(d[d != MinPlus.zero(d.dtype)])
    assert [row.minimum for row in t.rounds if row.frontier][0] == 0
    assert {row.minimum for row in t.rounds} == set(distances.tolist())
    assert sum(row.frontier for row in t.rounds) == (d != MinPlus.zero(d.dtype)).sum()
