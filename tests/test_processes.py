"""Every verb and algorithm once in processes that are not the first: forked, spawned, and after a fork within a fork.

The parent has begun all that has threads: our pool, SuiteSparse's OpenMP, Numba. A child that hangs is ended by its own
alarm. `BATCH` computes each verb and each algorithm on a graph large enough for threads.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import algorithms as al
from formats import DeviceUnavailable, from_edges, gpu
from semiring import (
    MinPlus,
    Verb,
    apply,
    assign,
    ewise_add,
    ewise_mult,
    ewise_union,
    extract,
    get_threads,
    kronecker,
    mxm,
    mxv,
    reduce,
    select,
    threads,
    transpose,
    vxm,
)
from semiring.verbs.fusible import Fusible

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")

SECONDS = 100
"""What a child may take at most: it loads kernels, on a machine that others use."""


def batch() -> dict[str, Any]:
    """The answer of each verb and algorithm, by name."""
    rng = np.random.default_rng(3)
    n, m = 4000, 40_000
    ends = rng.integers(0, n, (2, m))
    A = from_edges(*ends, rng.integers(1, 100, m), shape=(n, n)).astype("float64")
    S = ewise_add(A, A.T, "min")
    D = select(A, "triu", 1)
    few, x = from_edges([0, 1, 2], [1, 2, 0], [1.0, 2.0, 3.0]), rng.random(n)
    cube = from_edges(np.arange(60), (np.arange(60) + 1) % 60, np.arange(60.0))
    small = extract(S, np.arange(300), np.arange(300))
    return {
        "mxv": mxv(A, x, "plus_times"),
        "vxm": vxm(x, A, "min_plus"),
        "mxm": mxm(A, A, "min_plus"),
        "ewise_add": S,
        "ewise_mult": ewise_mult(A, A, "times"),
        "ewise_union": ewise_union(A, 0, D, 7, "minus"),
        "apply": apply(A, "plus", right=3),
        "select": D,
        "reduce": reduce(A, "plus", axis=1),
        "extract": small,
        "assign": assign(A, 5.0, [5], [7]),
        "transpose": transpose(A),
        "kronecker": kronecker(few, A, "plus"),
        "all_pairs": al.all_pairs(small),
        "bellman_ford": al.bellman_ford(A, 0),
        "betweenness_centrality": al.betweenness_centrality(A, sources=range(16)),
        "bfs": al.bfs(A, 0),
        "bfs_order": al.bfs_order(A, 0),
        "boruvka": al.boruvka(S),
        "closeness_centrality": al.closeness_centrality(small),
        "closure": al.closure(small),
        "clustering": al.clustering(S),
        "components": al.components(S),
        "count_shortest_paths": al.count_shortest_paths(A, 0),
        "core_number": al.core_number(S),
        "da2cf": al.da2cf(A, 0),
        "delta_stepping": al.delta_stepping(A, 0),
        "diameter": al.diameter(cube),
        "dijkstra": al.dijkstra(A, 0),
        "eccentricity": al.eccentricity(cube),
        "factor": al.factor(small).solve(0),
        "harmonic_centrality": al.harmonic_centrality(small),
        "label_propagation": al.label_propagation(S),
        "pagerank": al.pagerank(A),
        "scc": al.scc(A),
        "shortest_path_tree": al.shortest_path_tree(A, al.sssp(A, 0), 0, MinPlus),
        "shortest_simple_paths": al.shortest_simple_paths(A, 0, 9, 3),
        "sssp": al.sssp(A, sources=list(range(8))),
        "topological_components": al.topological_components(D),
        "transitive_closure": al.transitive_closure(small),
        "triangles": al.triangles(S),
    }


def plain(answer: Any) -> Any:
    """An answer as what NumPy compares."""
    if hasattr(answer, "to_edges"):
        return np.stack([np.asarray(part, np.float64) for part in answer.to_edges()])
    if isinstance(answer, tuple):
        return [plain(part) for part in answer]
    return [np.asarray(part) for part in answer] if isinstance(answer, list) else np.asarray(answer)


def close(ours: Any, theirs: Any) -> bool:
    if isinstance(ours, list):
        return len(ours) == len(theirs) and all(map(close, ours, theirs))
    return bool(np.allclose(ours, theirs, rtol=1e-9, equal_nan=True))


def answers() -> dict[str, Any]:
    return {name: plain(answer) for name, answer in batch().items()}


@pytest.fixture(scope="module")
def expected() -> dict[str, Any]:
    """The parent's answers: now all that has threads has begun."""
    with threads(2):
        return answers()


def wrong(expected: dict[str, Any]) -> list[str]:
    with threads(2):
        found = answers()
    return [name for name in expected if not close(found[name], expected[name])]


def in_child(work: Callable[[], object]) -> None:
    """Do it in a child that is forked, which fails if it takes too long; AssertionError unless all went well."""
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(SECONDS)
        try:
            work()
            os._exit(0)
        except BaseException as error:
            os.write(2, f"{type(error).__name__}: {error}\n".encode())
        os._exit(1)
    status = os.waitpid(child, 0)[1]
    assert status == 0, f"the child ended with {os.waitstatus_to_exitcode(status)}"


def same(expected: dict[str, Any]) -> None:
    assert wrong(expected) == []


def test_everything_is_tried():
    assert set(Verb.all) <= set(batch())
    assert {name for name in Fusible.all if name in al.__all__} <= set(batch())


def test_a_forked_child_answers(expected):
    in_child(lambda: same(expected))


def test_a_child_of_a_child_answers(expected):
    in_child(lambda: in_child(lambda: product_is_right(1)))


def test_a_spawned_process_answers(expected):
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply_async(wrong, (expected,)).get(SECONDS) == []


def product_is_right(seed: int) -> bool:
    rng = np.random.default_rng(seed)
    n, m = 2000, 200_000
    values, rows, cols = rng.random(m), rng.integers(0, n, m), rng.integers(0, n, m)
    A, x = from_edges(rows, cols, values, shape=(n, n), dup="sum"), rng.random(n)
    np.testing.assert_allclose(A @ x, np.bincount(rows, values * x[cols], n), rtol=1e-9)
    return True


def test_a_pool_of_forked_processes_answers(expected):
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map_async(product_is_right, range(6)).get(SECONDS) == [True] * 6


def test_a_child_answers_where_threads_of_the_parent_were_at_work(expected):
    done = threading.Event()

    def work() -> None:
        while not done.is_set():
            product_is_right(2)

    others = [threading.Thread(target=work) for _ in range(2)]
    for each in others:
        each.start()
    try:
        for seed in range(3):
            time.sleep(0.02)
            in_child(lambda seed=seed: product_is_right(seed))
    finally:
        done.set()
        for each in others:
            each.join()


def test_a_child_within_a_block_of_threads_has_its_own(expected):
    with threads(2):
        product_is_right(3)
        pool = threads(1)
        with pool:
            in_child(lambda: product_is_right(4))
        in_child(lambda: (pool_left(), product_is_right(5)))


def pool_left() -> None:
    with threads(3):
        assert get_threads() == 3


def test_a_child_of_a_process_that_has_used_a_gpu_says_what_to_do(monkeypatch):
    monkeypatch.setattr(gpu, "_usable", object())

    def ask() -> None:
        with pytest.raises(DeviceUnavailable, match=r"forked children: start them with multiprocessing\..*'spawn'"):
            from_edges([0], [1]).to(device="cuda")
        product_is_right(6)

    in_child(ask)
    in_child(lambda: in_child(ask))
