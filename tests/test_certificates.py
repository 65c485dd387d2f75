"""A certificate holds of the right answer, and of no other: neither too small nor too large in one place."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from algorithms import bfs, boruvka, scc, sssp
from bench.certificates import are_distances, are_levels, components, is_forest, is_product
from bench.experiments import large
from bench.graphs import BLOCK, operand, rmat
from formats import COO, from_edges
from semiring import MinPlus, mxv

from .conftest import Backend

WEIGHTS = tuple(range(1, 21))
A = rmat(8, 4, high=20)
x = operand(A.ncols, 50, dtype=A.dtype)
CASES: list[tuple[str, Callable[[Any], bool], Any]] = [
    ("product", lambda y: is_product(A, x, y), mxv(A, x, MinPlus)),
    ("distances", lambda d: are_distances(A, 3, d), sssp(A, 3)),
    ("levels", lambda level: are_levels(A, 3, level), bfs(A, 3)),
]


@pytest.fixture(autouse=True)
def several_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BLOCK, "cpu", 100)


@pytest.mark.parametrize(("name", "holds", "answer"), CASES, ids=[name for name, *_ in CASES])
def test_every_other_vector_is_refused(name: str, holds: Callable[[Any], bool], answer: Any) -> None:
    assert holds(answer)
    for v in range(0, A.nrows, 3):
        for other in {answer[v] - 1, answer[v] + 1, -1, 5} - {answer[v]}:
            wrong = answer.copy()
            wrong[v] = other
            assert not np.isfinite(other) or not holds(wrong), (v, answer[v], other)


def test_weights_of_distances_are_positive() -> None:
    loop = from_edges([0, 1, 2], [1, 2, 1], np.array([1, 0, 0], np.float32))
    assert not are_distances(loop, 0, np.array([0, 1, 1], np.float32))


def test_every_other_forest_is_refused() -> None:
    F, label = boruvka(A, symmetrize=True, return_labels=True)
    u, v, w = F.to_edges()
    np.testing.assert_array_equal(components(u, v, A.nrows), label)
    np.testing.assert_array_equal(components(u, v, A.nrows), scc(A, weak=True))
    assert is_forest(A, F, WEIGHTS)
    rows, cols, values = A.to_edges()
    ends = np.minimum(rows, cols), np.maximum(rows, cols)
    for k in range(0, u.size, 7):
        assert not is_forest(A, COO.trusted(*(np.delete(part, k) for part in (u, v, w)), A.shape, 0), WEIGHTS)
        heavier = w.copy()
        heavier[k] += 1
        assert not is_forest(A, COO.trusted(u, v, heavier, A.shape, 0), WEIGHTS)
        left = components(np.delete(u, k), np.delete(v, k), A.nrows)
        others = np.flatnonzero((left[ends[0]] != left[ends[1]]) & (values > w[k]))
        if others.size:  # another edge that joins the two parts, and is heavier
            parts = [np.append(np.delete(part, k), its[others[:1]]) for part, its in zip((u, v), ends, strict=True)]
            weights = np.append(np.delete(w, k), values[others[:1]])
            order = np.lexsort(parts[::-1])
            assert not is_forest(A, COO.trusted(*(part[order] for part in (*parts, weights)), A.shape, 0), WEIGHTS)
    assert is_forest(
        from_edges([], [], np.zeros(0, np.float32), shape=3), COO.trusted(u[:0], v[:0], w[:0], (3, 3), 0), ()
    )


@pytest.mark.parametrize("device", [Backend.CUDA.param(name="large")])
def test_a_large_matrix_is_certified_and_limited(device: Any) -> None:
    found = [*large.rows(large.Setting(device, quick=True, repeats=3))]
    assert [row["contender"] for row in found] == [*large.NAMES, *large.NAMES, *large.BEYOND_NAMES]
    assert all(row["verified"] for row in found if "missing" not in row)
    assert {row["resident"] == 1 for row in found} == {True, False}


def test_a_graph_in_two_memories_leaves_room_for_vectors_and_a_range_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    place: Any = SimpleNamespace(available_bytes=lambda: 400 << 20)
    monkeypatch.setattr(large.resident, "empty", lambda shape, dtype, there, place: (*shape, there))
    monkeypatch.setattr(large.resident, "check_pinned", lambda what, size: None)
    size, there = large.in_two_memories(20, 40, place, 1.0)(40 << 20, np.dtype(np.int32))
    beside = (large.VECTORS << 20) + large.STRIP_BYTES * (40 << 20) * large.PART
    assert size == 40 << 20
    assert 2 * there == pytest.approx((400 << 20) - beside, abs=2 * large.resident.GRANULE)
    assert large.in_two_memories(20, 40, place, 0.25)(40 << 20, np.dtype(np.int32))[1] == 40 << 20
    place.available_bytes = lambda: 0
    assert large.in_two_memories(20, 40, place, 1.0)(1 << 20, np.dtype(np.int32)) == (1 << 20, 0)


def test_the_experiment_certifies_all_that_it_measures() -> None:
    answers: dict[str, Any] = {}
    for task in large.NAMES:
        answers[task] = large.certified(A, task, answers)
    with pytest.raises(large.Disagreement, match="WCC"):
        large.certified(A, "WCC", {"MST": COO.trusted(*(part[1:] for part in answers["MST"].to_edges()), A.shape, 0)})
    assert large.plot([]) is None
    rows = [{"graph": "g", "contender": "BFS", "resident": share, "ms": 1 / share} for share in (1.0, 0.1)]
    assert large.plot(rows) is not None
