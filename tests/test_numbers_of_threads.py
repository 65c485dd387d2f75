"""Algorithms that threads share give the same bits with any number of them, which are those of their definitions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from algorithms import boruvka, core_number, label_propagation, triangles
from algorithms.fused.cpu import forest
from algorithms.fused.cpu import label_propagation as propagation
from algorithms.fused.cpu import triangles as counting
from formats import CSR, from_edges
from semiring import threads
from semiring.cpu import dealing


def forest_and_labels(A: CSR, **how: Any) -> list[np.ndarray]:
    """The forest's edges, and each vertex's tree."""
    F, tree = boruvka(A, symmetrize=True, return_labels=True, **how)
    return [F.rows, F.cols, F.values, tree]


CALLS: dict[str, Callable[..., list[np.ndarray]]] = {
    "a forest": forest_and_labels,
    "triangles": lambda A, **how: [triangles(A, symmetrize=True, **how)],
    "labels": lambda A, **how: [label_propagation(A, **how), label_propagation(A, symmetrize=True, **how)],
    "core numbers": lambda A, **how: [core_number(A, symmetrize=True, **how)],
}


def network(seed: int) -> CSR:
    """A random graph: some vertices have many edges, weights are few or many, some edges are stored both ways."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 200))
    m = int(rng.integers(1, 6 * n))
    u = (n * rng.random(m) ** rng.choice([1, 3])).astype(int)
    v = rng.integers(0, n, m)
    w = rng.integers(1, rng.choice([3, 1000]), m).astype(rng.choice(["int32", "float32", "float64"]))
    if rng.random() < 0.5:
        u, v, w = np.append(u, v), np.append(v, u), np.append(w, w)
    return from_edges(u, v, w, shape=n, dup="min")


@pytest.fixture
def shared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Has threads share small work, few vertices at a time."""
    monkeypatch.setattr(dealing, "MIN_NNZ_FOR_THREADS", 1)
    for module in (forest, counting, propagation):
        monkeypatch.setattr(module, "VERTICES_AT_A_TIME", 4)


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_answers_are_the_same_with_any_number_of_threads(call: Callable[..., list[np.ndarray]]) -> None:
    for seed in range(30):
        A = network(seed)
        right = call(A, fused=False)
        for count in (1, 2, 4, 8):
            with threads(count):
                for got, expected in zip(call(A), right, strict=True):
                    np.testing.assert_array_equal(got, expected, f"seed {seed}, {count} threads")
                    assert got.dtype == expected.dtype
