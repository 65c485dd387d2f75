"""Every other library that is installed here finds what we find, and one that does not is never timed."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from algorithms import bfs, boruvka, scc, sssp
from bench import peers
from bench.graphs import grid, operand, rmat
from bench.measure import Contender, Disagreement, contest, verify
from bench.peers import PEERS, Peer, Task, agreement, common, facts, product_rivals, rivals
from bench.peers.agreement import first_of_part
from bench.peers.forms import levels_of_order, symmetric, undirected
from bench.peers.peer import Prepared, absent
from bench.products import plus_times
from formats import CSR, from_edges

ROOT = Path(__file__).parent.parent
TASKS: tuple[Task, ...] = ("sssp", "bfs", "scc", "mst")
OURS: dict[Task, Callable[[CSR, int], Any]] = {
    "sssp": sssp,
    "bfs": bfs,
    "scc": lambda A, source: scc(A),
    "mst": lambda A, source: boruvka(A, symmetrize=True),
}
every_task = pytest.mark.parametrize("task", TASKS)


def scattered(n: int, edges: int, *, seed: int, dtype: Any = np.float32) -> CSR:
    """Random edges with weights 0..9, some of them 0, so that some vertices are out of reach."""
    random = np.random.default_rng(seed)
    src, dst = random.integers(0, n, (2, edges))
    return from_edges(src, dst, random.integers(0, 10, edges).astype(dtype), shape=n)


def with_fractions() -> CSR:
    """Weights whose sums in float32 are rounded."""
    A = scattered(200, 900, seed=3)
    return A.with_values(np.random.default_rng(4).random(A.nnz, np.float32))


def road(n: int) -> CSR:
    """A row of vertices that leads both ways."""
    v = np.arange(n - 1)
    weights = np.arange(n - 1, dtype=np.float32) % 5 + 1
    return from_edges(np.r_[v, v + 1], np.r_[v + 1, v], np.r_[weights, weights], shape=n)


GRAPHS: dict[str, Callable[[], CSR]] = {
    "random": lambda: scattered(200, 1000, seed=1),
    "disconnected": lambda: scattered(300, 250, seed=2),
    "fractions": with_fractions,
    "one way round": lambda: from_edges([0, 1, 2, 3], [1, 2, 0, 2], [1.0, 2.0, 3.0, 4.0], shape=5, dtype=np.float32),
    "a row": lambda: road(50),
    "grid": lambda: grid(12),
    "R-MAT": lambda: rmat(8),
    "one vertex": lambda: from_edges([], [], np.zeros(0, np.float32), shape=1),
    "no edge": lambda: from_edges([], [], np.zeros(0, np.float32), shape=3),
    "a self-loop": lambda: from_edges([0, 1], [0, 0], [3.0, 2.0], shape=2, dtype=np.float32),
}


def expected(task: Task, A: CSR, source: int = 0) -> Any:
    return common(task, OURS[task](A, source))


@every_task
@pytest.mark.parametrize("peer", PEERS, ids=lambda peer: peer.name)
def test_a_peer_finds_what_we_find(peer: Peer, task: Task) -> None:
    if peer.device == "cuda" or task not in peer.tasks or (reason := peer.missing()):
        pytest.skip("not on the CPU" if peer.device == "cuda" else reason if task in peer.tasks else "no such task")
    for make in GRAPHS.values():
        A = make()
        for source in {0, A.nrows - 1}:
            contenders, rows = rivals(task, A, source, expected(task, A, source), names=[peer.name])
            for contender in contenders:
                verify(contender)
            assert len(contenders) + len(rows) == 1
            allowed = peer.name == "SciPy" and task == "scc" and symmetric(A)
            assert allowed or not rows, rows


@every_task
def test_peers_take_integers_too(task: Task) -> None:
    """SciPy's answer is what they are compared with: ours in float32 is, above."""
    A = scattered(200, 1000, seed=5, dtype=np.int32)
    (scipy,) = (peer for peer in PEERS if peer.name == "SciPy")
    prepared = scipy.tasks[task](A, 0)
    contenders, _ = rivals(task, A, 0, prepared.answer(prepared.run()))
    assert len(contenders) >= 2
    for contender in contenders:
        verify(contender)


@every_task
def test_installed_peers_are_timed_and_described(task: Task) -> None:
    A = rmat(7)
    contenders, rows = rivals(task, A, 0, expected(task, A))
    figures = contest(contenders, 1, seconds=0)
    assert {"SciPy", "NetworkX"} <= set(figures)
    for name, measured in figures.items():
        row = {"contender": name} | measured | facts(name)
        assert row["verified"]
        assert row["ms"] > 0
        assert row["threads"] >= 1
        assert row["library"].split()[-1][0].isdigit()
        json.dumps(row)
    assert all(set(row) == {"contender", "missing"} for row in rows)
    assert not {row["contender"] for row in rows} & set(figures)


def test_ours_has_no_library() -> None:
    assert facts("semiring") == {}


# --- wrong answers ----------------------------------------------------------------------------------------------------

WRONG: dict[Task, Callable[[Any], Any]] = {
    "sssp": lambda d: np.where(np.arange(d.size) == 1, d + 1, d),
    "bfs": lambda level: np.where(np.arange(level.size) == 1, level + 1, level),
    "scc": lambda label: np.zeros_like(label),
    "mst": lambda weight: weight + 1,
}


@every_task
def test_a_peer_that_answers_wrongly_stops_the_contest(task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    (scipy,) = (peer for peer in PEERS if peer.name == "SciPy")
    tasks = {task: lambda A, source: spoilt(scipy.tasks[task](A, source), WRONG[task])}
    monkeypatch.setattr(peers, "PEERS", (dataclasses.replace(scipy, tasks=tasks),))
    A = GRAPHS["one way round"]()
    contenders, _ = rivals(task, A, 0, expected(task, A))
    with pytest.raises(Disagreement, match="SciPy computes something else"):
        contest(contenders, 1)


def spoilt(prepared: Prepared, wrong: Callable[[Any], Any]) -> Prepared:
    return Prepared(prepared.run, lambda found: wrong(prepared.answer(found)))


@every_task
def test_our_own_answer_wrong_stops_every_peer(task: Task) -> None:
    A = GRAPHS["one way round"]()
    contenders, _ = rivals(task, A, 0, WRONG[task](expected(task, A)))
    assert contenders
    for contender in contenders:
        with pytest.raises(Disagreement):
            verify(contender)


def test_integers_agree_exactly_and_sums_of_fractions_nearly() -> None:
    d = np.array([0, 7, 1e6, np.inf])
    assert agreement("sssp", d, d.copy())
    assert not agreement("sssp", d, d + [0, 0, 0.5, 0])
    assert not agreement("sssp", d, np.array([0, 7, 1e6, 1e30]))
    assert agreement("sssp", d + 0.25, (d + 0.25) * (1 + 1e-6))
    assert not agreement("sssp", d + 0.25, (d + 0.25) * (1 + 1e-4))
    assert not agreement("sssp", d, d[:3])


def test_a_partition_does_not_depend_on_its_labels() -> None:
    assert agreement("scc", np.array([0, 0, 2, 3]), np.array([9, 9, -4, 0]))
    assert not agreement("scc", np.array([0, 0, 2, 3]), np.array([9, 9, 0, 0]))
    assert not agreement("scc", np.array([0, 0, 2, 2]), np.array([9, 9, 4, 0]))
    assert first_of_part(np.array([5, 1, 5, 1])).tolist() == [0, 1, 0, 1]


def test_integers_at_the_end_of_their_range_are_out_of_reach() -> None:
    for dtype in (np.int32, np.int64):
        assert common("sssp", np.array([0, 3, np.iinfo(dtype).max], dtype)).tolist() == [0, 3, np.inf]


# --- peers that are not there -----------------------------------------------------------------------------------------


def without(name: str, reason: str) -> tuple[Peer, ...]:
    return tuple(dataclasses.replace(peer, missing=lambda: reason) if peer.name == name else peer for peer in PEERS)


def test_a_peer_that_is_not_installed_is_a_row_that_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peers, "PEERS", without("NetworkX", "networkx is not installed"))
    A = rmat(5)
    contenders, rows = rivals("bfs", A, 0, expected("bfs", A), names=["SciPy", "NetworkX"])
    assert [contender.name for contender in contenders] == ["SciPy"]
    assert rows == [{"contender": "NetworkX", "missing": "networkx is not installed"}]


def test_a_module_that_is_absent_or_broken_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "broken_peer.py").write_text("raise RuntimeError('no such driver\\nand more')", encoding="utf-8")
    (tmp_path / "needy_peer.py").write_text("import absent_peer", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    assert absent("absent_peer", "a-peer")() == "a-peer is not installed"
    assert absent("broken_peer", "a-peer")() == "a-peer cannot be imported: RuntimeError: no such driver"
    assert absent("needy_peer", "a-peer")() == "a-peer cannot be imported: No module named 'absent_peer'"
    assert absent("json", "json")() is None


def test_a_peer_is_left_out_of_graphs_with_more_edges() -> None:
    A = rmat(5)
    for most, there in ((A.nnz, ["SciPy"]), (A.nnz - 1, [])):
        contenders, rows = rivals("bfs", A, 0, expected("bfs", A), names=["SciPy"], most_edges={"SciPy": most})
        assert [contender.name for contender in contenders] == there
        assert rows == ([] if there else [{"contender": "SciPy", "missing": f"left out: more than {most:,} edges"}])


def test_every_peer_of_plain_python_has_a_bound_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    assert all(bounds["NetworkX"] <= 1_000_000 for bounds in peers.MOST_EDGES.values())
    A = rmat(5)
    monkeypatch.setitem(peers.MOST_EDGES["bfs"], "NetworkX", 10)
    _, rows = rivals("bfs", A, 0, expected("bfs", A), most_edges={"SciPy": 20})
    reasons = {row["contender"]: row["missing"] for row in rows}
    assert reasons["NetworkX"] == "left out: more than 10 edges"
    assert reasons["SciPy"] == "left out: more than 20 edges"


def test_an_unknown_peer_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="unknown peer 'Scipy'; there are SciPy, "):
        rivals("bfs", rmat(5), 0, None, names=["Scipy"])


def test_a_peer_that_fails_is_a_row_that_says_how(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(A: CSR, source: int) -> Prepared:
        raise MemoryError("no room\nfor the rest")

    monkeypatch.setattr(peers, "PEERS", (dataclasses.replace(PEERS[0], tasks={"bfs": fails}),))
    assert rivals("bfs", rmat(5), 0, None) == ([], [{"contender": "SciPy", "missing": "fails: MemoryError: no room"}])


def test_dijkstra_is_left_out_of_graphs_with_negative_weights() -> None:
    A = from_edges([0, 1], [1, 2], [5.0, -2.0], shape=3, dtype=np.float32)
    contenders, rows = rivals("sssp", A, 0, expected("sssp", A))
    assert [contender.name for contender in contenders] == ["python-graphblas"]  # its loop is Bellman-Ford's
    verify(contenders[0])
    assert {"contender": "SciPy", "missing": "left out: Dijkstra's algorithm takes no negative weights"} in rows


def test_bellman_ford_is_left_out_of_graphs_that_take_too_many_products(monkeypatch: pytest.MonkeyPatch) -> None:
    from bench.peers import graphblas

    A = road(50)
    monkeypatch.setattr(graphblas, "MOST_WORK", 50 * A.nnz - 1)
    _, rows = rivals("sssp", A, 0, expected("sssp", A), names=["python-graphblas"])
    assert rows[0]["missing"] == "left out: Bellman-Ford's 50 products or more of 98 entries each"


def test_scipy_is_not_asked_for_the_components_of_a_symmetric_graph() -> None:
    A = grid(4)
    contenders, rows = rivals("scc", A, 0, expected("scc", A), names=["SciPy"])
    assert not contenders
    assert "does not finish on a symmetric road graph" in rows[0]["missing"]


def test_every_peer_imports_nothing_until_it_is_asked() -> None:
    code = (
        "import sys, bench.peers; print({'igraph', 'networkit', 'rustworkx', 'networkx', 'graphblas', 'pylibcugraph'}"
        " & set(sys.modules))"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert said.stdout.strip() == "set()"


# --- cuGraph, whose library cannot be had here ------------------------------------------------------------------------


def test_a_gpus_peer_takes_no_part_on_the_cpu() -> None:
    contenders, rows = rivals("bfs", rmat(5), 0, expected("bfs", rmat(5)), names=["cuGraph"])
    assert (contenders, rows) == ([], [])


def test_cugraphs_answers_are_put_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a library of the same calls, which computes by SciPy and answers in another order, in cuGraph's form."""
    from bench.peers import cugraph

    monkeypatch.setitem(sys.modules, "pylibcugraph", pretended())
    monkeypatch.setattr(cugraph, "cupy", lambda: np)
    for make in (GRAPHS["random"], GRAPHS["disconnected"], GRAPHS["grid"]):
        A = make()
        for task in TASKS:
            prepared = cugraph.CUGRAPH.tasks[task](A, 0)
            assert agreement(task, expected(task, A), prepared.answer(prepared.run())), task
    assert cugraph.library() == "cuGraph 26.10"


def pretended() -> Any:
    from scipy.sparse import csgraph, csr_array

    module: Any = ModuleType("pylibcugraph")
    module.__version__ = "26.10"

    class SGGraph:
        def __init__(self, handle: Any, properties: Any, offsets: Any, indices: Any, **options: Any) -> None:
            assert options["input_array_format"] == "CSR"
            weights = options["weight_array"].astype(np.float64)
            self.matrix = csr_array((weights, indices, offsets), shape=(offsets.size - 1,) * 2)
            self.symmetric = properties["is_symmetric"]
            self.vertices = np.random.default_rng(0).permutation(offsets.size - 1)

    def lengths(G: SGGraph, source: int, *, unweighted: bool) -> np.ndarray:
        return csgraph.dijkstra(G.matrix, indices=source, unweighted=unweighted)[G.vertices]

    def sssp(handle: Any, G: SGGraph, source: int, cutoff: float, predecessors: bool, check: bool) -> Any:
        assert predecessors
        d = lengths(G, source, unweighted=False).astype(np.float32)
        return G.vertices, np.where(np.isinf(d), np.finfo(np.float32).max, d), None

    def bfs(handle: Any, G: SGGraph, sources: Any, turning: bool, limit: int, predecessors: bool, check: bool) -> Any:
        assert not turning or G.symmetric
        d = lengths(G, int(sources[0]), unweighted=True)
        return np.where(np.isinf(d), np.iinfo(np.int32).max, d).astype(np.int32), None, G.vertices

    def strongly_connected_components(handle: Any, G: SGGraph, *rest: Any) -> Any:
        pattern = G.matrix.copy()
        pattern.data[:] = 1
        return G.vertices, csgraph.connected_components(pattern, connection="strong")[1][G.vertices]

    def minimum_spanning_tree(handle: Any, G: SGGraph, check: bool) -> Any:
        assert G.symmetric
        forest = csgraph.minimum_spanning_tree(G.matrix).tocoo()
        u, v = forest.coords
        return np.r_[u, v], np.r_[v, u], np.r_[forest.data, forest.data], None

    module.SGGraph, module.ResourceHandle, module.GraphProperties = SGGraph, object, dict
    module.sssp, module.bfs, module.minimum_spanning_tree = sssp, bfs, minimum_spanning_tree
    module.strongly_connected_components = strongly_connected_components
    return module


@pytest.mark.backend("cuda")
@every_task
def test_peers_take_part_with_a_matrix_on_the_gpu(task: Task) -> None:
    A = grid(12, device="cuda")
    contenders, rows = rivals(task, A, 0, expected(task, A))
    for contender in contenders:
        verify(contender)
    assert {"cuGraph", "NetworkX"} <= {*(c.name for c in contenders), *(row["contender"] for row in rows)}


# --- forms, and products ----------------------------------------------------------------------------------------------


def test_levels_come_of_an_order_and_its_tree() -> None:
    order, predecessor = np.array([2, 0, 3, 4, 1]), np.array([2, 4, -9999, 2, 0, -9999])
    assert levels_of_order(6, order, predecessor).tolist() == [1, 3, 0, 1, 2, -1]
    assert levels_of_order(1, np.array([0]), np.array([-9999])).tolist() == [0]


def test_an_edge_is_there_once_with_its_lighter_weight() -> None:
    E = undirected(from_edges([0, 1, 2, 2, 0], [1, 0, 2, 0, 2], [5, 3, 1, 4, 4], shape=3))
    assert list(zip(*(part.tolist() for part in E.to_edges()), strict=True)) == [(0, 1, 3), (0, 2, 4)]


def test_a_graph_is_symmetric_if_every_edge_has_a_reverse() -> None:
    assert symmetric(grid(5))
    assert not symmetric(GRAPHS["one way round"]())


def test_products_are_verified() -> None:
    A = rmat(8)
    x = operand(A.ncols, 100)
    contenders, rows = product_rivals(A, x, plus_times(A, x))
    assert [contender.name for contender in contenders] == ["SciPy plus-times", "python-graphblas plus-times"]
    assert rows == []
    assert all(figures["verified"] for figures in contest(contenders, 1).values())
    wrong, _ = product_rivals(A, x, plus_times(A, x) + 1)
    with pytest.raises(Disagreement):
        verify(wrong[0])


@pytest.mark.backend("cuda")
def test_cusparse_multiplies_floats_and_says_so_of_integers() -> None:
    A = rmat(8, device="cuda")
    x = operand(A.ncols, 100, device="cuda")
    (contender,), _ = product_rivals(A, x, plus_times(A, x))
    assert isinstance(contender, Contender)
    verify(contender)
    contenders, rows = product_rivals(A.astype(np.int32), x.astype(np.int32), x)
    assert contenders == []
    assert rows == [{"contender": "cuSPARSE plus-times", "missing": "left out: CuPy's sparse matrices hold no int32"}]
