"""`algorithms.csgraph` beside SciPy's: SciPy's own tests, random graphs, and every convention by itself."""

from __future__ import annotations

import gc
import importlib.util
import os
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy
import scipy.sparse as sp
from scipy.sparse import csgraph as theirs

from algorithms import csgraph as ours
from algorithms.csgraph import paths, places, small
from algorithms.csgraph.graphs import GRAPH, KEPT, MOST_KEPT, graph_of
from algorithms.fused.cpu.entries import same_bits
from algorithms.fused.cuda import bfs_order
from formats.arrays import to_device
from formats.places import Place
from semiring.verbs.registry import Declined

from .conftest import Backend, writable

ROOT = Path(__file__).parent.parent
SUITE = [f"scipy.sparse.csgraph.tests.test_{name}" for name in ("shortest_path", "connected_components")]
SUITE += [f"scipy.sparse.csgraph.tests.test_{name}" for name in ("spanning_tree", "traversal")]
NONE = -9999
BACKENDS = [Backend.CPU.param(name="csgraph"), Backend.CUDA.param(name="csgraph")]


@pytest.fixture(params=[*BACKENDS, Backend.CUDA.param(name="by-rule")])
def backend_by_rule(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Backend:
    """A backend; on the GPU calls stay there, or go to the host by the rule, as all on small graphs do."""
    if request.param is Backend.CUDA and "by-rule" not in request.node.name:
        monkeypatch.setattr(places, "on_host", lambda A: A)
        monkeypatch.setattr(places, "at_home", lambda *_, **__: None)
    return request.param


@pytest.mark.skipif(importlib.util.find_spec(SUITE[0]) is None, reason="SciPy is installed without its tests")
@pytest.mark.parametrize("backend", BACKENDS)
def test_scipys_own_tests_pass(backend: Backend, tmp_path: Path) -> None:
    plugin = {Backend.CPU: "tests.csgraph_for_scipy", Backend.CUDA: "tests.csgraph_for_cupy"}[backend]
    options = ["-q", "-c", os.devnull, "-p", "no:cacheprovider", "-p", plugin, "--pyargs"]
    command = [sys.executable, "-m", "pytest", *options, *SUITE]
    where = {**os.environ, **writable(tmp_path)}
    done = subprocess.run(command, cwd=ROOT, env=where, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout
    assert "failed" not in done.stdout
    assert "skipped" not in done.stdout
    if backend is Backend.CUDA:
        assert int(done.stdout.split(" calls with CuPy's")[0].split()[-1]) > 100, done.stdout


@pytest.mark.parametrize("absent", [np.inf, np.nan])
@pytest.mark.parametrize("directed", [True, False])
def test_what_is_stored_as_infinite_or_nan_is_no_edge_of_floyd_and_warshall(absent: float, directed: bool) -> None:
    S = sp.csr_array(([1.0, absent, 2.0, 0.0, absent], ([0, 1, 2, 3, 0], [1, 2, 3, 0, 3])), shape=(4, 4))
    for unweighted in (False, True):
        expected = theirs.floyd_warshall(S, directed, unweighted=unweighted)
        assert np.array_equal(ours.floyd_warshall(S, directed, unweighted=unweighted), expected)
        d, _ = ours.floyd_warshall(S, directed, return_predecessors=True, unweighted=unweighted)
        assert np.array_equal(d, expected)
        each = ours.shortest_path(S, "FW", directed, unweighted=unweighted)
        assert np.array_equal(each, expected)


@pytest.mark.parametrize("name", ["minimum_spanning_tree", "breadth_first_tree"])
def test_trees_are_arrays_or_matrices_as_scipys_are(name: str) -> None:
    a = np.array([[0, 8, 0, 3], [0, 0, 2, 5], [0, 0, 0, 6], [0, 0, 0, 0]], float)
    for S in (a, a.tolist(), a.view(np.matrix), sp.csr_array(a), sp.csr_matrix(a), sp.bsr_matrix(a), sp.dok_array(a)):
        given = (S, 0) if name == "breadth_first_tree" else (S,)
        expected, found = getattr(theirs, name)(*given), getattr(ours, name)(*given)
        assert type(found) is type(expected)
        assert np.array_equal(found.toarray(), expected.toarray())


@pytest.mark.parametrize("low", [1, 4])
def test_first_calls_find_the_forests_of_later_ones(low: int) -> None:
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n, m = int(rng.integers(1, 30)), int(rng.integers(0, 400))
        S = sp.csr_array((rng.integers(low, 5, m).astype(float), rng.integers(0, n, (2, m))), shape=(n, n))
        S.sum_duplicates()
        S.data[:] = np.minimum(S.data, 4)  # of low = 4 all weigh the same
        expected, first = theirs.minimum_spanning_tree(S), ours.minimum_spanning_tree(S.copy())
        for found in (first, *(ours.minimum_spanning_tree(S) for _ in range(2))):
            assert found.nnz == expected.nnz
            assert found.sum() == expected.sum()
            assert (found != first).nnz == 0
            u, v = found.nonzero()
            assert np.array_equal(S.toarray()[u, v], found.data)  # in the direction that has the weight
            turned = u > v
            assert not (S.toarray()[v[turned], u[turned]] == found.data[turned]).any()


def test_first_calls_find_the_forests_of_matrices_that_are_not_listed() -> None:
    rng = np.random.default_rng(3)
    for n in (300, 600):  # below and above `SOON` entries
        S = sp.csr_array(np.triu(rng.permutation(n * n).reshape(n, n) + 1.0, 1))
        assert S.nnz > small.LISTED
        for found in (ours.minimum_spanning_tree(S), ours.minimum_spanning_tree(S)):
            assert (found != theirs.minimum_spanning_tree(S)).nnz == 0


def test_forests_are_the_same_in_any_order_and_format() -> None:
    rng = np.random.default_rng(7)
    for turn in range(60):
        S = sp.csr_array(random_graph(rng, low=-1), dtype=float)  # duplicates of integers are added
        S = S.maximum(S.T).tocsr() if turn % 3 == 0 else S
        found = [ours.minimum_spanning_tree(G) for G in (shuffled(S, rng, turn % 2 * 0.3), S.tocsc(), S.tocoo())]
        expected = [ours.minimum_spanning_tree(S) for _ in range(2)]
        assert all((one != expected[0]).nnz == 0 for one in (*found, expected[1]))


def test_room_behind_the_entries_of_a_matrix_is_not_looked_at() -> None:
    S = sp.csr_array(np.array([[0, 1.0, 5], [1, 0, 2], [5, 2, 0]]))
    for G in (S, S.tocsc()):
        R = type(G)((np.append(G.data, [-1, np.nan]), np.append(G.indices, [99, 0]), G.indptr), shape=G.shape)
        assert np.array_equal(ours.dijkstra(R), theirs.dijkstra(S))
        assert np.array_equal(ours.connected_components(R)[1], [0, 0, 0])
        assert np.array_equal(graph_of(R).to_dense(), S.toarray())
        for name, given in (
            ("minimum_spanning_tree", ()),
            ("breadth_first_tree", (0,)),
            ("breadth_first_tree", (0, False)),
        ):
            found, expected = (getattr(ours, name)(X, *given).toarray() for X in (R, S))
            assert np.array_equal(found, expected)


@pytest.mark.parametrize("name", ["minimum_spanning_tree", "breadth_first_tree"])
def test_first_calls_see_rows_that_are_out_of_order_and_values_that_are_nan(name: str) -> None:
    given = (0,) if name == "breadth_first_tree" else ()
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n, m = int(rng.integers(2, 12)), int(rng.integers(2, 50))
        S = sp.coo_array((rng.permutation(m) + 1.0, rng.integers(0, n, (2, m))), shape=(n, n)).tocsr()
        expected = getattr(ours, name)(S, *given)
        T = S.copy()
        for row in range(n):
            at = slice(T.indptr[row], T.indptr[row + 1])
            order = rng.permutation(T.indptr[row + 1] - T.indptr[row])
            T.indices[at], T.data[at] = T.indices[at][order], T.data[at][order]
        T.has_sorted_indices = T.has_canonical_format = True  # flags that lie
        found = getattr(ours, name)(T, *given)
        if name == "minimum_spanning_tree":
            assert (found != expected).nnz == 0
        S.data[0] = np.nan
        found = [getattr(ours, name)(S, *given).toarray() for _ in range(2)]
        assert np.array_equal(getattr(ours, name)(S.copy(), *given).toarray(), found[0], equal_nan=True)
        assert np.array_equal(*found, equal_nan=True)


def random_graph(rng: np.random.Generator, low: int = 0) -> Any:
    """Up to 25 vertices, zero and tied weights, self-loops, duplicates; in any format, of any dtype."""
    n, m = int(rng.integers(1, 25)), int(rng.integers(0, 90))
    weights = rng.integers(low, 6, m).astype(rng.choice(["int32", "int64", "float64", "float32"]))
    S = sp.coo_array((weights, (rng.integers(0, n, m), rng.integers(0, n, m))), shape=(n, n))
    S.sum_duplicates()
    made = rng.choice([sp.csr_array, sp.csr_matrix, sp.csc_array, sp.coo_matrix, sp.lil_array])
    return made(S)


def there(S: Any, backend: Backend) -> Any:
    """The same matrix on a backend; CuPy has fewer formats and dtypes."""
    if backend is Backend.CPU:
        return S
    import cupyx.scipy.sparse

    return cupyx.scipy.sparse.csr_matrix(sp.csr_matrix(S).astype(np.float64))


def back(answer: Any) -> Any:
    """The answer with everything on the host."""
    if isinstance(answer, tuple):
        return tuple(map(back, answer))
    if isinstance(answer, int):
        return answer
    return answer.get() if hasattr(answer, "nnz") and hasattr(answer, "get") else to_host(answer)


def to_host(answer: Any) -> Any:
    return answer if hasattr(answer, "nnz") else to_device(answer, "cpu")


def call(function: Any, *args: Any, **kwargs: Any) -> Any:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Graph has negative weights", UserWarning)
        try:
            return function(*args, **kwargs)
        except theirs.NegativeCycleError:
            return "negative cycle"


def check_tree(S: Any, d: np.ndarray, p: np.ndarray, directed: bool, roots: set[int]) -> None:
    """Every predecessor is on a shortest path, and all lead to a root."""
    W: dict[tuple[int, int], float] = {}
    E = sp.coo_array(S)
    for u, v, w in zip(E.row.tolist(), E.col.tolist(), E.data.tolist(), strict=True):
        for edge in [(u, v)] if directed else [(u, v), (v, u)]:
            W[edge] = min(W.get(edge, np.inf), w)
    for v, u in enumerate(p.tolist()):
        assert (u == NONE) == (v in roots or not np.isfinite(d[v])), (v, u)
        if u != NONE:
            assert d[u] + W[u, v] == d[v]
        steps = 0
        while p[v] != NONE:
            v, steps = p[v], steps + 1
            assert steps <= len(p)


def test_paths_of_random_graphs_are_scipys(backend_by_rule: Backend) -> None:
    backend = backend_by_rule
    rng = np.random.default_rng(1)
    for turn in range(75 if backend is Backend.CPU else 10):
        S = random_graph(rng, low=0 if turn % 3 else -1)
        G, n = there(S, backend), S.shape[0]
        directed, unweighted = bool(rng.integers(2)), bool(rng.integers(4) == 0)
        starts = rng.integers(-n, n, int(rng.integers(1, 4)))
        how: dict[str, Any] = {"directed": directed, "unweighted": unweighted}
        for name in ("bellman_ford", "johnson", "floyd_warshall", "shortest_path"):
            own = how if name in ("floyd_warshall", "shortest_path") else how | {"indices": starts}
            expected = call(getattr(theirs, name), S.tocsr() if S.format == "coo" else S, **own)
            got = call(getattr(ours, name), G, **own)
            if isinstance(expected, str):
                assert got == expected
                continue
            np.testing.assert_array_equal(back(got), expected)
            found = back(call(getattr(ours, name), G, return_predecessors=True, **own))
            np.testing.assert_array_equal(found[0], expected)
            assert found[1].dtype == np.int32
            if not unweighted:
                for start, d, p in zip(own.get("indices", range(n)), *found, strict=True):
                    check_tree(S, d, p, directed, {int(start) % n})
        if S.nnz and sp.coo_array(S).data.min() < 0:
            continue
        limit = float(rng.choice([0, 2.5, 7, np.inf]))
        expected = theirs.dijkstra(S, indices=starts, limit=limit, **how)
        np.testing.assert_array_equal(back(ours.dijkstra(G, indices=starts, limit=limit, **how)), expected)
        found = back(ours.dijkstra(G, True, starts, True, unweighted, limit, min_only=True))
        np.testing.assert_array_equal(
            found[0], theirs.dijkstra(S, indices=starts, unweighted=unweighted, limit=limit, min_only=True)
        )
        check_sources(S, starts % n, unweighted, *found)


def check_sources(S: Any, starts: np.ndarray, unweighted: bool, d: np.ndarray, p: np.ndarray, sources: Any) -> None:
    """Each source is as near as the nearest, and a vertex has its predecessor's."""
    each = theirs.dijkstra(S, indices=np.arange(S.shape[0]), unweighted=unweighted)
    for v, source in enumerate(sources.tolist()):
        assert (source == NONE) == (not np.isfinite(d[v]))
        if source != NONE:
            assert source in starts
            assert each[source, v] == d[v]
            assert p[v] == NONE or sources[p[v]] == source


def test_searches_components_and_forests_of_random_graphs_are_scipys(backend_by_rule: Backend) -> None:
    backend = backend_by_rule
    rng = np.random.default_rng(2)
    for _ in range(150 if backend is Backend.CPU else 10):
        S = random_graph(rng, low=-1)
        S = S if backend is Backend.CPU else sp.csr_matrix(S)  # SciPy looks along the columns of a CSC first
        G, start = there(S, backend), int(rng.integers(S.shape[0]))
        for directed in (True, False):
            for got, expected in zip(
                back(ours.breadth_first_order(G, start, directed)),
                theirs.breadth_first_order(S, start, directed),
                strict=True,
            ):
                np.testing.assert_array_equal(got, expected)
                assert got.dtype == expected.dtype
            tree = back(ours.breadth_first_tree(G, start, directed))
            np.testing.assert_array_equal(tree.toarray(), theirs.breadth_first_tree(S, start, directed).toarray())
            count, label = back(ours.connected_components(G, directed))
            expected_count, expected_label = theirs.connected_components(S, directed)
            assert count == expected_count
            np.testing.assert_array_equal(label, expected_label)
        check_strong(S, *back(ours.connected_components(G, connection="strong")))
        check_forest(S, back(ours.minimum_spanning_tree(G)))


def shuffled(S: Any, rng: np.random.Generator, twice: float) -> Any:
    """The same CSR with each row's entries in any order, a share of them stored twice, once with a larger weight."""
    T = sp.coo_array(S)
    again = rng.random(T.nnz) < twice
    u, v, w = (np.concatenate((part, part[again])) for part in (T.row, T.col, T.data))
    w[T.nnz :] += rng.integers(0, 2, w.size - T.nnz).astype(w.dtype)
    order = rng.permutation(u.size)
    order = order[u[order].argsort(kind="stable")]
    indptr = np.concatenate(([0], np.bincount(u, minlength=S.shape[0]).cumsum()))
    kind = rng.choice([np.int32, np.int64])
    return sp.csr_array((w[order], v[order].astype(kind), indptr.astype(kind)), shape=S.shape)


def test_small_matrices_in_any_order_have_the_answers_of_sorted_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of equally near predecessors the smallest, too, and SciPy's own orders and numbers of components."""
    rng = np.random.default_rng(4)
    for turn in range(150):
        S = shuffled(sp.csr_array(random_graph(rng)), rng, turn % 2 * 0.3)
        n, limit = S.shape[0], float(rng.choice([0, 2.5, 7, np.inf]))
        points = rng.integers(-n, n, int(rng.integers(1, 4)))
        for how in ({"min_only": True}, {}, {"unweighted": True}, {"unweighted": True, "min_only": True}):
            how["directed"] = turn % 4 < 2
            given: dict[str, Any] = how | {"indices": points, "limit": limit, "return_predecessors": True}
            with monkeypatch.context() as patch:
                patch.setattr(small, "suits", lambda *_: False)
                expected = ours.dijkstra(S, **given)
            for got, other in zip(ours.dijkstra(S, **given), expected, strict=True):
                np.testing.assert_array_equal(got, other, err_msg=f"{turn} {given}")
            one: dict[str, Any] = how | {"indices": points[0], "limit": limit}
            np.testing.assert_array_equal(ours.dijkstra(S, **one), theirs.dijkstra(S, **one))
        for got, other in zip(*(m.breadth_first_order(S, points[0] % n) for m in (ours, theirs)), strict=True):
            np.testing.assert_array_equal(got, other)
        for got, other in zip(*(m.connected_components(S) for m in (ours, theirs)), strict=True):
            np.testing.assert_array_equal(got, other)
        if turn % 2 == 0:  # SciPy does not end where entries are stored twice
            check_strong_on_the_host(S)


@pytest.mark.parametrize(("name", "where", "value"), [("indices", 2, 3), ("indices", 1, -1), ("indptr", 2, 9)])
def test_matrices_whose_arrays_lead_out_of_them_are_refused(name: str, where: int, value: int) -> None:
    for call_it in (
        lambda S: ours.dijkstra(S, indices=0),
        lambda S: ours.dijkstra(S, indices=0, unweighted=True),
        lambda S: ours.dijkstra(S, False, indices=0),
        lambda S: ours.breadth_first_order(S, 0),
        lambda S: ours.connected_components(S),
        lambda S: ours.connected_components(S, connection="strong"),
    ):
        S = sp.csr_array(np.array([[0, 1.0, 0], [0, 0, 2.0], [3.0, 0, 0]]))
        getattr(S, name)[where] = value
        with pytest.raises(ValueError, match="indptr must ascend"):
            call_it(S)


def test_components_levels_and_distances_of_many_equally_near_vertices() -> None:
    """So many that they are sorted by digits."""
    rng = np.random.default_rng(5)
    n = 3000
    S = shuffled(sp.random_array((n, n), density=0.003, rng=rng, format="csr"), rng, 0)
    for got, other in zip(*(m.connected_components(S) for m in (ours, theirs)), strict=True):
        np.testing.assert_array_equal(got, other)
    check_strong_on_the_host(S)
    for weights in (np.ones(S.nnz), rng.integers(1, 4, S.nnz)):
        S.data = weights.astype(float)
        for unweighted in (False, True):
            d, before = ours.dijkstra(S, indices=7, return_predecessors=True, unweighted=unweighted)
            np.testing.assert_array_equal(d, theirs.dijkstra(S, indices=7, unweighted=unweighted))
            W = sp.coo_array((np.ones(S.nnz) if unweighted else S.data, (S.tocoo().row, S.tocoo().col)), shape=S.shape)
            tight = d[W.row] + W.data == d[W.col]
            by_nearness = np.lexsort((W.row[tight], d[W.row[tight]]))[::-1]
            first = np.full(n, NONE, np.int32)
            first[W.col[tight][by_nearness]] = W.row[tight][by_nearness]
            first[~np.isfinite(d)] = NONE
            np.testing.assert_array_equal(before, first)


def check_strong(S: Any, count: int, label: np.ndarray) -> None:
    """SciPy's components, numbered so that edges lead to smaller numbers."""
    expected_count, expected = theirs.connected_components(S, connection="strong")
    assert count == expected_count == len(set(zip(label, expected, strict=True))) == label.max() + 1
    E = sp.coo_array(S)
    assert (label[E.row] >= label[E.col]).all()
    assert label.dtype == expected.dtype


def check_strong_on_the_host(S: Any) -> None:
    """SciPy's own numbers, those that it gave before 1.18."""
    count, label = ours.connected_components(S, connection="strong")
    check_strong(S, count, label)
    if tuple(map(int, scipy.__version__.split(".")[:2])) < (1, 18):
        np.testing.assert_array_equal(label, theirs.connected_components(S, connection="strong")[1])


def check_forest(S: Any, tree: Any) -> None:
    """Of SciPy's weight; each entry is the graph's own, and the lighter of two directions."""
    expected = theirs.minimum_spanning_tree(S)
    assert (tree.nnz, tree.sum(), tree.dtype) == (expected.nnz, expected.sum(), expected.dtype)
    assert theirs.connected_components(tree)[0] == theirs.connected_components(expected)[0]
    A, T = sp.csr_array(S, dtype=float), sp.coo_array(tree)
    for u, v, w in zip(T.row.tolist(), T.col.tolist(), T.data.tolist(), strict=True):
        assert w == A[u, v]


class Far(sp.csr_array):
    """A matrix of CuPy's, as far as the rule looks at it."""

    __module__ = "cupyx.scipy.sparse"

    @classmethod
    def of(cls, n: int, entries: int) -> Far:
        indptr = np.full(n + 1, entries, np.int32)
        indptr[0] = 0
        return cls((np.zeros(entries), np.zeros(entries, np.int32), indptr), shape=(n, n))

    def get(self) -> sp.csr_array:
        return sp.csr_array(self)


def test_calls_on_small_graphs_go_to_the_host() -> None:
    small, large = Far.of(3_000, 9_000), Far.of(1 << 18, 1 << 20)
    for most in (places.ONE_KERNEL, places.SEVERAL_KERNELS):
        home = places.at_home(small, most)
        assert (home != small).nnz == 0
        assert places.at_home(small, most) is home
        assert places.at_home(large, most) is None
        assert places.at_home(home, most) is places.at_home(np.eye(2), most) is None
    for searches in (1000, None):
        assert places.at_home(small, places.ONE_KERNEL, searches) is None
    small.data[0] = 1
    assert places.at_home(small, places.ONE_KERNEL).data[0] == 1


@pytest.mark.parametrize(
    ("how", "home"),
    [
        ({"indices": 0}, True),
        ({"indices": range(10)}, False),
        ({"indices": range(10), "return_predecessors": True}, True),
        ({"indices": range(10), "min_only": True}, True),
        ({"indices": range(10), "unweighted": True}, False),
        ({}, False),
    ],
)
def test_many_searches_of_a_small_graph_go_to_the_gpu_if_it_makes_them_together(how: Any, home: bool) -> None:
    found = paths.home_of(Far.of(3_000, 9_000), small.Query(**how))
    assert (found is not None) == home


class Rows:
    """Rows on a GPU, as far as a search looks at them."""

    def __init__(self, n: int, nnz: int) -> None:
        self.place, self.nrows, self.nnz, self.nbytes, self.kept = Place("cuda"), n, nnz, 12 * nnz, {}

    def keeps(self, fact: Any) -> bool:
        return fact in self.kept

    def known(self, fact: Any) -> Any:
        return self.kept.get(fact)

    def keep(self, fact: Any, make: Any) -> Any:
        return self.kept.setdefault(fact, make())


def test_an_order_of_many_levels_is_given_up_by_a_gpu_once(monkeypatch: pytest.MonkeyPatch) -> None:
    searched, deep = [], {"levels": 3}

    def found(A: Any, source: int, both_ways: bool, none: int, most: int) -> Any:
        searched.append(most)
        return ("order", "parents") if deep["levels"] < most else Declined("long")

    monkeypatch.setattr(bfs_order, "queued", found)
    large = Rows(1 << 18, 1 << 22)
    for both_ways in (False, True):
        assert places.order_on(large, 0, both_ways) == ("order", "parents")
    assert places.order_on(Rows(10, 30), 0, False) == ("order", "parents")  # a few levels are searched in any case
    assert len(searched) == 3
    deep["levels"] = 10**6  # a path: found out once
    assert places.order_on(large, 0, False) is places.order_on(large, 5, False) is None
    assert len(searched) == 4


def test_arrays_have_no_edge_where_they_have_nothing_finite() -> None:
    G = np.array([[0, 1e-9, np.inf, 3], [np.nan, 0, 2, 0], [0, -np.inf, 0, 1], [0, 0, 0, 0]])
    masked = np.ma.masked_array(np.array([[5.0, 4, 2], [1, 5, 5], [5, 5, 5]]), mask=[[1, 0, 0], [0, 1, 1], [1, 1, 1]])
    for graph in (G, G.tolist(), masked):
        for name in ("dijkstra", "floyd_warshall"):
            np.testing.assert_array_equal(getattr(ours, name)(graph), getattr(theirs, name)(graph))


def test_stored_zeros_are_edges_and_duplicates_count_as_the_least() -> None:
    zero = sp.csr_array(([0.0], ([0], [1])), shape=(2, 2))
    twice = sp.csr_array(([5.0, 3.0], [1, 1], [0, 2, 2]), shape=(2, 2))
    summed = sp.coo_array(([5.0, 3.0], ([0, 0], [1, 1])), shape=(2, 2))
    integers = sp.csr_array(([5, 3], [1, 1], [0, 2, 2]), shape=(2, 2))  # which SciPy adds as it makes them float64
    for S, length in ((zero, 0), (twice, 3), (summed, 8), (integers, 8)):
        assert ours.dijkstra(S, indices=0).tolist() == theirs.dijkstra(S, indices=0).tolist() == [0, length]
        assert ours.connected_components(S)[0] == 1
    assert ours.minimum_spanning_tree(zero).nnz == theirs.minimum_spanning_tree(zero).nnz == 0
    assert ours.minimum_spanning_tree(twice).toarray().tolist() == [[0, 3], [0, 0]]


def test_zeros_in_the_blocks_of_a_matrix_are_no_edges() -> None:
    dense = np.array([[0, 3, 0, 0], [0, 0, 2, 0], [0, 0, 0, 0], [0, 0, 1, 0]])
    expected = ours.dijkstra(sp.csr_array(dense), indices=0)
    for blocks in ((1, 1), (2, 2), (4, 2)):
        S = sp.bsr_array(dense, blocksize=blocks)
        np.testing.assert_array_equal(ours.dijkstra(S, indices=0), expected)
        assert ours.connected_components(S, connection="weak")[0] == 1
        assert ours.minimum_spanning_tree(S).nnz == 3


def test_infinite_and_missing_numbers_that_are_stored_lead_nowhere() -> None:
    S = sp.csr_array(([1.0, np.inf, np.nan], ([0, 1, 1], [1, 2, 3])), shape=(4, 4))
    for indices in (0, 1):
        for got, expected in zip(
            ours.dijkstra(S, indices=indices, return_predecessors=True),
            theirs.dijkstra(S, indices=indices, return_predecessors=True),
            strict=True,
        ):
            np.testing.assert_array_equal(got, expected)
    assert ours.connected_components(S)[0] == theirs.connected_components(S)[0] == 1


@pytest.mark.parametrize("indices", [1, -1, np.int64(2), [0, 2], [[0], [1]], [2, 2], [], 1.5, np.array([1], np.uint8)])
@pytest.mark.parametrize("min_only", [False, True])
def test_answers_have_scipys_shapes_and_types(indices: Any, min_only: bool) -> None:
    S = sp.csr_array(np.array([[0, 1, 2], [0, 0, 3], [4, 0, 0]]))
    got = ours.dijkstra(S, indices=indices, return_predecessors=True, min_only=min_only)
    expected = theirs.dijkstra(S, indices=indices, return_predecessors=True, min_only=min_only)
    for own, other in zip(got, expected, strict=True):
        assert (own.shape, own.dtype) == (other.shape, other.dtype)
        np.testing.assert_array_equal(own, other)


def test_matrices_come_back_as_matrices_and_arrays_as_arrays() -> None:
    G = np.array([[0, 1, 2], [0, 0, 3], [4, 0, 0]])
    for graph in (G, sp.coo_matrix(G), sp.csr_array(G), sp.lil_matrix(G)):
        for call_it in (lambda m, g: m.minimum_spanning_tree(g), lambda m, g: m.breadth_first_tree(g, 0)):
            own, other = call_it(ours, graph), call_it(theirs, graph)
            assert type(own) is type(other)
            np.testing.assert_array_equal(own.toarray(), other.toarray())


@pytest.mark.parametrize(
    ("name", "args", "said"),
    [
        ("dijkstra", {"limit": -1}, "limit must be >= 0"),
        ("dijkstra", {"indices": 3}, "indices out of range"),
        ("bellman_ford", {"indices": [-4]}, "indices out of range"),
        ("shortest_path", {"method": "X"}, "unrecognized method 'X'"),
        ("shortest_path", {"method": "FW", "indices": 0}, "Cannot specify indices with method == 'FW'."),
        ("connected_components", {"connection": "loose"}, "connection must be 'weak' or 'strong'"),
    ],
)
def test_wrong_arguments_are_refused_in_scipys_words(name: str, args: dict[str, Any], said: str) -> None:
    for module in (ours, theirs):
        with pytest.raises(ValueError, match=said):
            getattr(module, name)(np.ones((3, 3)), **args)


@pytest.mark.parametrize("graph", [np.ones((2, 3)), np.ones(3), np.ones((2, 2, 2)), sp.csr_array(np.ones((2, 3)))])
def test_what_is_no_square_is_refused(graph: Any) -> None:
    for name in ("dijkstra", "connected_components", "minimum_spanning_tree"):
        for module in (ours, theirs):
            with pytest.raises(ValueError, match=r"graph should|must be shape|must be 2-D|square"):
                getattr(module, name)(graph)


def test_dijkstra_warns_of_negative_weights_and_ends_at_negative_cycles() -> None:
    S = sp.csr_array(([5.0, -2.0], ([0, 1], [1, 2])), shape=(3, 3))
    with pytest.warns(UserWarning, match="Graph has negative weights"):
        assert ours.dijkstra(S, indices=0).tolist() == [0, 5, 3]
    with pytest.warns(UserWarning, match="negative cycles"), pytest.raises(theirs.NegativeCycleError):
        ours.dijkstra(sp.csr_array(([-5.0, 1.0], ([0, 1], [1, 0])), shape=(2, 2)))


def test_only_johnson_looks_for_negative_cycles_that_nobody_reaches() -> None:
    S = sp.csr_array(([-5.0, 1.0], ([0, 1], [1, 0])), shape=(3, 3))
    assert ours.bellman_ford(S, indices=2).tolist() == [np.inf, np.inf, 0]
    with pytest.raises(theirs.NegativeCycleError):
        ours.johnson(S, indices=2)


def test_what_is_known_of_a_matrix_is_kept_until_it_changes_or_goes() -> None:
    S = sp.csr_array(np.array([[0, 1.0], [2.0, 0]]))
    assert graph_of(S) is graph_of(S)
    S.data[0] = 7
    assert ours.dijkstra(S, indices=0).tolist() == [0, 7]
    S.indices[:] = [0, 1]
    assert ours.connected_components(S)[0] == 2
    key = id(S), GRAPH
    assert key in KEPT
    del S
    gc.collect()
    assert key not in KEPT
    several = [sp.csr_array(np.eye(2)) for _ in range(MOST_KEPT + 2)]
    assert not any(graph_of(one) is graph_of(other) for one, other in pairwise(several))
    assert len(KEPT) == MOST_KEPT


@pytest.mark.parametrize("backend", [Backend.CUDA.param(name="csgraph")])
def test_a_matrix_on_a_gpu_is_known_until_it_changes(backend: Backend) -> None:
    from cupyx.scipy.sparse import csr_matrix

    S = csr_matrix(sp.csr_matrix(np.array([[0, 1.0, 0], [2.0, 0, 0], [0, 0, 0]])))
    for graph in (S, csr_matrix(sp.random_array((2000, 2000), density=0.1, rng=1, format="csr"))):  # at home, and there
        before = ours.dijkstra(graph, indices=0).get()
        assert ours.dijkstra(graph, indices=0).get().tolist() == before.tolist()
        graph.data *= 2
        assert ours.dijkstra(graph, indices=0).get().tolist() == (2 * before).tolist()
    S.indices = S.indices[::-1] * 2  # of rows 0 and 1: 1, 0 become 0, 2
    assert ours.breadth_first_order(S, 1)[0].get().tolist() == [1, 2]


def test_several_threads_may_ask_for_many_matrices() -> None:
    several = [sp.csr_array(np.array([[0.0, k], [0.0, 0.0]])) for k in range(1, 2 * MOST_KEPT)]

    def asked(turn: int) -> bool:
        k = turn % len(several)
        return ours.dijkstra(several[k], indices=0).tolist() == [0, k + 1]

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(asked, range(400)))


def test_the_graph_is_neither_changed_nor_locked() -> None:
    G = np.array([[0, 3.0, 1.0], [0, 0, 0], [0, 1.0, 0]])
    S = sp.csr_array(G)
    S.data.flags.writeable = False
    ours.floyd_warshall(G, overwrite=True)
    ours.minimum_spanning_tree(S, overwrite=True)
    np.testing.assert_array_equal(S.toarray(), [[0, 3, 1], [0, 0, 0], [0, 1, 0]])
    np.testing.assert_array_equal(G, S.toarray())
    G[0, 1] = 5


def test_empty_graphs() -> None:
    S = sp.csr_array((0, 0))
    assert ours.shortest_path(S).shape == (0, 0)
    assert ours.connected_components(S)[0] == 0
    assert ours.connected_components(S, connection="strong")[1].size == 0
    assert ours.minimum_spanning_tree(S).shape == (0, 0)


def test_other_names_are_scipys() -> None:
    S = sp.csr_array(np.array([[0, 1.0], [1.0, 0]]))
    np.testing.assert_array_equal(ours.laplacian(S).toarray(), theirs.laplacian(S).toarray())
    assert ours.laplacian is ours.laplacian
    assert ours.laplacian.__doc__ == theirs.laplacian.__doc__
    assert ours.NegativeCycleError is theirs.NegativeCycleError
    with pytest.raises(AttributeError):
        ours.no_such_function  # noqa: B018
    assert {*ours.__all__} <= {*theirs.__all__}


@pytest.mark.parametrize("dtype", [bool, np.int16, np.float32, np.float64, np.complex128])
def test_arrays_that_hold_the_same_bits(dtype: Any) -> None:
    x = np.arange(9001).astype(dtype)
    y = x.copy()
    y.flags.writeable = False
    assert same_bits(x, y)
    assert same_bits(x[::2], y[::2])
    assert same_bits(x[:0], y[:0])
    x[-1] = 0
    assert not same_bits(x, y)


@pytest.mark.parametrize("symmetric", [True, False])
def test_a_first_call_on_a_matrix_and_later_ones_find_the_same(symmetric: bool) -> None:
    rng = np.random.default_rng(4)
    for n in (1, 7, 60):
        S = sp.random_array((n, n), density=0.1, random_state=rng, format="csr")
        S = (S + S.T).tocsr() if symmetric else S
        for call in (
            lambda S: ours.breadth_first_order(S, 0, directed=False),
            lambda S: ours.breadth_first_order(S, 0),
            lambda S: (ours.breadth_first_tree(S, 0).toarray(),),
        ):
            T = S.copy()
            first, *later = (call(T) for _ in range(3))
            assert all(np.array_equal(x, y) for again in later for x, y in zip(first, again, strict=True))
        right = theirs.breadth_first_order(S, 0, directed=False)
        assert all(map(np.array_equal, ours.breadth_first_order(S.copy(), 0, directed=False), right))


def test_a_damaged_matrix_is_refused_at_the_first_call() -> None:
    S = sp.csr_array(np.eye(3))
    S.indices[0] = 9
    for directed in (True, False):
        with pytest.raises(ValueError, match="indices"):
            ours.breadth_first_order(S.copy(), 0, directed=directed)
