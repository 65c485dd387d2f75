"""Cycles that numbers hide: at the ends of the range, below all normal numbers, by rounding, and by false laws."""

from __future__ import annotations

import math
import subprocess
import sys
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from algorithms import NegativeCycle, bellman_ford, da2cf, dijkstra
from bench.laboratory import bellman_ford_by
from formats import Matrix, from_edges
from semiring import MONOIDS, BinaryOp, Law, Monoid, Semiring, explain

INT32, INT64, FLOAT32, FLOAT64 = (np.dtype(name) for name in ("int32", "int64", "float32", "float64"))
SCHEDULES = ["frontier", "sweep", "fifo", "slf", "lll", "slf+lll"]
WAYS = [{"fused": True}, *({"fused": False, "schedule": schedule} for schedule in SCHEDULES)]

ways = pytest.mark.parametrize("way", WAYS, ids=lambda way: way.get("schedule", "fused"))


def distances(A: Matrix, way: dict[str, Any]) -> Any:
    """From vertex 0, by the algorithm that has such parameters."""
    return (bellman_ford_by if "schedule" in way else bellman_ford)(A, 0, **way)


def matrix(edges: list[tuple[int, int, Any]], dtype: np.dtype) -> Matrix:
    src, dst, weights = zip(*edges, strict=True)
    return from_edges(src, dst, np.array(weights, dtype), shape=max(*src, *dst) + 1)


def low(dtype: np.dtype) -> Any:
    return np.iinfo(dtype).min if dtype.kind == "i" else float(np.finfo(dtype).min)


@ways
@pytest.mark.parametrize("dtype", [INT32, INT64, FLOAT32, FLOAT64], ids=str)
def test_a_cycle_whose_lengths_leave_the_range_is_a_negative_cycle(dtype, way):
    for edges, cycle in (
        ([(0, 1, low(dtype)), (1, 2, low(dtype)), (2, 0, 5)], [0, 1, 2, 0]),
        ([(0, 1, low(dtype)), (1, 2, low(dtype)), (2, 3, 1), (3, 2, -2)], [2, 3, 2]),
        ([(0, 1, -(low(dtype) // 2)), (1, 2, -(low(dtype) // 3 * 2)), (2, 3, 1), (3, 2, -2)], [2, 3, 2]),
        ([(0, 1, low(dtype)), (1, 2, 7), (2, 1, 8)], None),
    ):
        A = matrix(edges, dtype)
        if cycle is None:
            if dtype.kind == "i":
                with pytest.raises(OverflowError, match=f"a distance does not fit {dtype}"):
                    distances(A, way)
            continue
        with pytest.raises(NegativeCycle) as caught:
            distances(A, way)
        assert caught.value.cycle == cycle


@ways
@pytest.mark.parametrize("dtype", [FLOAT32, FLOAT64], ids=str)
def test_a_cycle_of_subnormal_gain_is_reported_and_checkable(dtype, way):
    tiny = float(np.finfo(dtype).smallest_subnormal)
    for weights in ([1.0, -1.0, -tiny], [tiny, tiny, -3 * tiny], [-tiny, 0.0, 0.0]):
        A = matrix([(v, (v + 1) % 3, w) for v, w in enumerate(weights)], dtype)
        with pytest.raises(NegativeCycle) as caught:
            distances(A, way)
        assert math.fsum(A[edge] for edge in pairwise(caught.value.cycle)) < 0


@ways
@pytest.mark.parametrize("dtype", [FLOAT32, FLOAT64], ids=str)
def test_a_cycle_of_no_gain_is_not_reported(dtype, way):
    tiny = float(np.finfo(dtype).smallest_subnormal)
    A = matrix([(0, 1, -1.0), (1, 2, tiny), (2, 3, -tiny), (3, 1, 0.0)], dtype)
    assert distances(A, way).tolist() == [0, -1, -1, -1]


@pytest.mark.parametrize("way", [way for way in WAYS if way.get("schedule") in (None, "frontier", "sweep", "fifo")])
def test_distances_that_fall_by_rounding_alone_are_an_error_that_says_so(way):
    weights = np.array([0.7, 0.7, -1.4, 100.0], np.float32)
    A = from_edges([1, 2, 3, 0], [2, 3, 1, 1], weights)
    assert math.fsum(weights[:3].tolist()) == 0
    with pytest.raises(
        FloatingPointError, match="in float32, rounding alone improves distances along 1 -> 2 -> 3 -> 1"
    ):
        distances(A, way)


def test_a_cycle_that_gains_is_found_behind_one_that_gains_by_rounding():
    """At 2^127, where -1 is lost, the lengths fall by rounding alone."""
    edges = [
        (8, 0, 1.0),
        (0, 5, 0.0),
        (5, 4, -1.0),
        (4, 1, 1.0),
        (1, 3, 0.0),
        (3, 7, 3.4028234663852886e38),
        (6, 1, 0.0),
    ]
    edges += [(7, 2, 1.1342744887950962e38), (2, 9, 1e-45), (9, 10, 3.4028234663852886e38), (1, 6, -1.0)]
    edges += [(10, 6, -1.1342744887950962e38), (6, 8, -1e-45), (4, 3, -3.4028234663852886e38)]
    with pytest.raises(NegativeCycle) as caught:
        bellman_ford(matrix(edges, FLOAT32), 10, fused=False)
    assert caught.value.cycle == [1, 6, 1]


@pytest.mark.parametrize("fused", [True, False])
def test_distances_that_only_a_rounded_cycle_keeps_up_have_no_tree(fused):
    tiny = float(np.finfo(np.float32).smallest_subnormal)
    A = matrix([(0, 1, tiny), (1, 2, 1.0), (2, 3, 0.0), (3, 1, -1.0)], FLOAT32)
    assert bellman_ford(A, 0, fused=fused).tolist() == [0, 0, 1, 1]
    with pytest.raises(FloatingPointError, match="in float32, rounding alone .* there is no tree"):
        bellman_ford(A, 0, fused=fused, return_parents=True)


# --- laws that are declared, and false --------------------------------------------------------------------------------

FALSE = {Law.DISTRIBUTES_LEFT, Law.DISTRIBUTES_RIGHT, Law.IDEMPOTENT, Law.SELECTIVE}
Falling = Semiring(MONOIDS["min"], BinaryOp("less", lambda a, b: a - b), one=0, laws=FALSE)
Hidden = Semiring(MONOIDS["min"], BinaryOp("hide", lambda a, b: a + b if b < 100 else a - b), one=0, laws=FALSE)
Alternating = Semiring(MONOIDS["min"], BinaryOp("flip", lambda a, b: b - a), one=0, laws=FALSE)
Summing = Semiring(
    Monoid(BinaryOp("sum", lambda a, b: a + b), 0, selective=True), BinaryOp("mean", lambda a, b: a + b), one=0
)
Middle = Semiring(
    Monoid(BinaryOp("mid", lambda a, b: (a & b) + ((a ^ b) >> 1)), "highest", idempotent=True, selective=True),
    BinaryOp("sum", lambda a, b: a + b),
    one=0,
    laws=FALSE,
)


@pytest.mark.parametrize("s", [Falling, Alternating, Summing, Middle], ids=lambda s: s.name)
@pytest.mark.parametrize("algorithm", [bellman_ford, da2cf, dijkstra], ids=lambda algorithm: algorithm.name)
@pytest.mark.parametrize("fused", [True, False])
def test_a_false_law_ends_in_an_answer_or_an_error(s, algorithm, fused):
    rng = np.random.default_rng(1)
    for n in (1, 2, 5, 9):
        for _ in range(6):
            rows, cols, weights = rng.integers(n, size=3 * n), rng.integers(n, size=3 * n), rng.integers(1, 9, 3 * n)
            A = from_edges(rows, cols, weights.astype(np.int32), shape=n)
            try:
                found = algorithm(A, 0, s, fused=fused)
            except (NegativeCycle, OverflowError):
                continue
            except ValueError as error:
                if "breaks a law that it declares" not in str(error) and "no better than the unit" not in str(error):
                    raise
                continue
            assert found.shape == (n,)


@pytest.mark.parametrize(("algorithm", "fused"), [(bellman_ford, True), (bellman_ford, False), (da2cf, True)])
def test_a_law_that_is_false_for_few_values_does_not_hang(algorithm, fused):
    A = matrix([(0, 1, 1), (1, 2, 150), (2, 0, 2), (2, 1, 150)], INT32)
    with pytest.raises(ValueError, match="min_hide breaks a law that it declares, for "):
        algorithm(A, 0, Hidden, fused=fused)


@pytest.mark.parametrize("schedule", ["fifo", "slf", "slf+lll"])
def test_a_queue_of_any_order_ends_though_a_law_is_false(schedule):
    falling = Semiring(MONOIDS["min"], BinaryOp("fall", lambda a, b: b - a), one=0, laws=set(Law))
    A = matrix([(0, 1, 1), (1, 2, 3), (2, 0, 1), (2, 1, 2)], INT32)
    with pytest.raises(ValueError, match="min_fall breaks a law that it declares, for "):
        bellman_ford_by(A, 0, falling, schedule=schedule)


@pytest.mark.parametrize("s", [Falling, Alternating, Summing, Middle], ids=lambda s: s.name)
def test_a_semiring_with_a_law_that_is_seen_to_be_false_is_not_fused(s):
    A = matrix([(0, 1, 1)], INT32)
    run = explain(bellman_ford, A, 0, s).runs[0]
    assert run.implementation == "definition"
    assert "breaks a law" in run.why or "does not declare" in run.why


ENDLESS = """
import os, signal, threading, time
import numpy as np
from algorithms import bellman_ford
from formats import from_edges
from semiring import MONOIDS, BinaryOp, Law, Semiring

laws = {Law.DISTRIBUTES_LEFT, Law.DISTRIBUTES_RIGHT, Law.IDEMPOTENT, Law.SELECTIVE}
hidden = Semiring(MONOIDS["min"], BinaryOp("hide", lambda a, b: a + b if b < 100 else a - b), one=0, laws=laws)
n = 1 << 13
ring = np.arange(n)
A = from_edges(np.repeat(ring, 3), np.concatenate([(ring + k) % n for k in (1, 2, 3)]).reshape(3, n).T.ravel(),
               np.full(3 * n, 150, np.int32), shape=n)
bellman_ford(A.astype(np.int32).with_values(np.full(A.nnz, 7, np.int32)), 0, hidden)
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell starts what runs behind it with Ctrl-C ignored
threading.Timer(0.5, os.kill, [os.getpid(), signal.SIGINT]).start()
begun = time.perf_counter()
try:
    bellman_ford(A, 0, hidden)
except KeyboardInterrupt:
    print("interrupted after", time.perf_counter() - begun)
"""


def test_an_endless_compiled_loop_is_interrupted_within_a_second():
    """Half a second after its beginning, however small the graph; the child ends though its loop does not."""
    child = subprocess.run([sys.executable, "-c", ENDLESS], capture_output=True, text=True, timeout=120, check=False)
    assert child.stdout.startswith("interrupted after"), child.stderr
    assert float(child.stdout.split()[-1]) < 1.5
