"""Every shortest-path algorithm with every parameter, in every format and on every backend: one answer, one tree."""

from __future__ import annotations

import operator
import pickle
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse.csgraph
from hypothesis import given, settings
from hypothesis import strategies as st

from algorithms import NegativeCycle, bellman_ford, da2cf, delta_stepping, dijkstra, sssp, trace
from algorithms.data import rome99
from algorithms.equations.sssp import ALGORITHMS
from bench.laboratory import bellman_ford_by, da2cf_by
from formats import CSR, Dense, Matrix, from_edges, read
from semiring import AnyPair, LorLand, MaxMin, MinMax, MinPlus, no_worse, vxm

from .conftest import Backend
from .files import DATA
from .graphs import (
    DTYPES,
    INF,
    Graph,
    Paths,
    as_array,
    assert_tree,
    every_format,
    expected,
    graphs,
    in_turns,
    on_cpu,
    signed_graphs,
    small_weights,
    sources,
    wild_weights,
)
from .strategies import has_turn

pytestmark = pytest.mark.as_written

METHODS: dict[str, tuple[Any, dict[str, Any]]] = {name: (algorithm, {}) for name, algorithm in ALGORITHMS.items()} | {
    "bellman-ford-sweep": (bellman_ford_by, {"schedule": "sweep"}),
    "bellman-ford-fifo": (bellman_ford_by, {"schedule": "fifo"}),
    "bellman-ford-slf": (bellman_ford_by, {"schedule": "slf"}),
    "bellman-ford-lll": (bellman_ford_by, {"schedule": "lll"}),
    "bellman-ford-slf+lll": (bellman_ford_by, {"schedule": "slf+lll"}),
    "da2cf-pull": (da2cf_by, {"relax": "pull"}),
    "da2cf-one-pass": (da2cf_by, {"passes": 1}),
    "delta-stepping-median": (delta_stepping, {"delta": "median"}),
    "delta-stepping-mean": (delta_stepping, {"delta": "mean"}),
    "delta-stepping-max/degree": (delta_stepping, {"delta": "max/degree"}),
    "delta-stepping-half": (delta_stepping, {"delta": 0.5}),
    "delta-stepping-huge": (delta_stepping, {"delta": 10**300}),
}
"""Every algorithm, with every parameter that changes what it does, and the laboratory's variants."""

ANY_SIGN = [name for name, (algorithm, _) in METHODS.items() if algorithm.any_sign]
OTHER_SEMIRINGS = [name for name, (algorithm, _) in METHODS.items() if algorithm.takes is None]

every_method = pytest.mark.parametrize("method", METHODS)
methods_in_turns = in_turns("method", METHODS)


def run(method: str, A: Matrix, *arguments: Any, **options: Any) -> Any:
    """The method's answer as NumPy arrays."""
    algorithm, own = METHODS[method]
    answer = algorithm(A, *arguments, **own, **options)
    return tuple(map(on_cpu, answer)) if isinstance(answer, tuple) else on_cpu(answer)


# --- distances and parents --------------------------------------------------------------------------------------------


@methods_in_turns
@given(data=st.data(), source=sources)
@settings(max_examples=20)
def test_distances_and_parents_are_plain_pythons(method, fmt, backend, data, source):
    dtype = data.draw(st.sampled_from(DTYPES))
    graph = data.draw(graphs(small_weights(dtype)))
    A, source = graph.matrix(dtype), source % graph.n
    d, parent = run(method, A.to(fmt, device=backend), source, return_parents=True)
    lengths, tree = expected(graph, dtype, source)
    assert d.dtype == dtype
    np.testing.assert_array_equal(d, lengths)
    assert parent.tolist() == tree
    assert_tree(parent, d, A, source)


@methods_in_turns
@given(data=st.data(), source=sources)
@settings(max_examples=15)
def test_huge_and_tiny_weights(method, fmt, backend, data, source):
    dtype = data.draw(st.sampled_from(DTYPES))
    graph = data.draw(graphs(wild_weights(dtype)))
    d, parent = run(method, graph.matrix(dtype).to(fmt, device=backend), source % graph.n, return_parents=True)
    lengths, tree = expected(graph, dtype, source % graph.n)
    np.testing.assert_array_equal(d, lengths)
    assert parent.tolist() == tree


@methods_in_turns
def test_the_smallest_weight_is_not_zero(method, fmt, backend):
    tiny = float(np.finfo(np.float32).smallest_subnormal)
    graph = Graph(3, ((0, 1, 2 * tiny), (0, 2, 0.0), (2, 1, tiny)))
    d, parent = run(method, graph.matrix(np.float32).to(fmt, device=backend), 0, return_parents=True)
    assert d.tolist() == [0, tiny, 0]
    assert parent.tolist() == [-1, 2, 0]


@methods_in_turns
@given(graph=graphs(st.integers(0, 1), max_n=9), source=sources)
@settings(max_examples=10)
def test_parents_where_zero_weights_close_cycles(method, fmt, backend, graph, source):
    d, parent = run(method, graph.matrix(np.int32).to(fmt, device=backend), source % graph.n, return_parents=True)
    assert parent.tolist() == expected(graph, np.int32, source % graph.n)[1]


@in_turns("method", ANY_SIGN)
@given(graph=signed_graphs, source=sources)
@settings(max_examples=12)
def test_negative_weights(method, fmt, backend, graph, source):
    d, parent = run(method, graph.matrix(np.int64).to(fmt, device=backend), source % graph.n, return_parents=True)
    lengths, tree = expected(graph, np.int64, source % graph.n)
    np.testing.assert_array_equal(d, lengths)
    assert parent.tolist() == tree


@every_method
def test_distances_are_networkxs_and_scipys_on_larger_graphs(method):
    """With weights 0, and with parallel edges, of which the lightest counts."""
    for seed, n in ((0, 60), (1, 200)):
        rng = np.random.default_rng(seed)
        src, dst = rng.integers(0, n, (2, 3 * n))
        weights = rng.integers(0, 30, 3 * n)
        A = from_edges(src, dst, weights, shape=n)
        G = nx.DiGraph()
        G.add_nodes_from(range(n))
        G.add_weighted_edges_from(zip(*(part.tolist() for part in A.to_edges()), strict=True))
        lengths = nx.single_source_dijkstra_path_length(G, 0)
        d = run(method, A, 0)
        assert {v: int(d[v]) for v in range(n) if d[v] != MinPlus.zero(d.dtype)} == lengths
        B = from_edges(src, dst, weights + 1.5, shape=n)  # SciPy takes the weight 0 for no edge
        np.testing.assert_array_equal(
            run(method, B, 0), scipy.sparse.csgraph.dijkstra(scipy.sparse.csr_array(B.to_scipy()), indices=0)
        )


# --- several sources, limits and targets ------------------------------------------------------------------------------


@methods_in_turns
def test_several_sources_give_a_row_each(method, fmt, backend):
    A = Graph(4, ((0, 1, 2), (1, 2, 2), (2, 0, 2), (2, 3, 0))).matrix(np.float32).to(fmt, device=backend)
    d, parent = run(method, A, sources=[2, 0, 2], return_parents=True)
    assert d.tolist() == [[2, 4, 0, 0], [0, 2, 4, 4], [2, 4, 0, 0]]
    assert parent.tolist() == [[2, 0, -1, 2], [-1, 0, 1, 2], [2, 0, -1, 2]]
    assert run(method, A, sources=np.array([1])).tolist() == [[4, 0, 2, 2]]
    none = run(method, A, sources=[], return_parents=True)
    assert [x.shape for x in none] == [(0, 4), (0, 4)]
    assert none[0].dtype == np.float32


@methods_in_turns
@given(data=st.data(), source=sources, end=sources)
@settings(max_examples=15)
def test_what_lies_beyond_a_limit_or_a_target_is_absent(method, fmt, backend, data, source, end):
    graph = data.draw(graphs(st.integers(0, 5)))
    source, end = source % graph.n, end % graph.n
    A = graph.matrix(data.draw(st.sampled_from(DTYPES)))
    whole, zero = expected(graph, A.dtype, source)[0], MinPlus.zero(A.dtype)
    limit = data.draw(st.sampled_from([None, 0, 3, 4.5, 10**12]))
    target = data.draw(st.sampled_from([None, end]))
    bound = min(
        float("inf") if limit is None else limit,
        float("inf") if target is None or whole[target] == zero else whole[target],
    )
    near = np.where(whole <= bound, whole, zero)
    G = A.to(fmt, device=backend)
    d, parent = run(method, G, source, limit=limit, target=target, return_parents=True)
    np.testing.assert_array_equal(d, near)
    tree = np.array(expected(graph, A.dtype, source)[1])
    assert parent.tolist() == np.where(near == zero, -1, tree).tolist()


@pytest.mark.parametrize("method", ANY_SIGN)
def test_a_limit_cuts_the_answer_but_not_the_paths_where_weights_are_negative(method):
    A = Graph(3, ((0, 1, 9), (1, 2, -8))).matrix(np.int32)
    d, parent = run(method, A, 0, limit=4, return_parents=True)
    assert d.tolist() == [0, MinPlus.zero(np.dtype(np.int32)), 1]
    assert parent.tolist() == [-1, 0, 1]


@pytest.mark.parametrize("method", [name for name in METHODS if name not in ANY_SIGN])
def test_an_algorithm_that_settles_stops_at_its_target(method):
    """A path of 1000 vertices: to reach the third takes a few rounds, and no distance beyond it is computed."""
    A = Graph(1000, tuple((v, v + 1, 1) for v in range(999))).matrix(np.int32)
    with trace() as t:
        run(method, A, 0, target=3)
    assert len(t.rounds) <= 5 or METHODS[method][1].get("delta") == 10**300 or max(r.minimum for r in t.rounds) == 0
    with trace() as t:
        run(method, A, 0, limit=2)
    assert all(row.minimum <= 2 for row in t.rounds)


# --- other semirings --------------------------------------------------------------------------------------------------


@in_turns("method", OTHER_SEMIRINGS)
@pytest.mark.parametrize("semiring", [MaxMin, MinMax], ids=repr)
@given(graph=graphs(st.integers(-4, 4)), source=sources)
@settings(max_examples=10)
def test_widest_paths_and_bottlenecks(method, fmt, backend, semiring, graph, source):
    source %= graph.n
    A = graph.matrix(np.float64, dup=semiring.add.name).to(fmt, device=backend)
    d, parent = run(method, A, source, semiring, return_parents=True)
    extend, best = (min, max) if semiring is MaxMin else (max, min)
    paths = Paths(extend, lambda a, b: a != b and best(a, b) == a, semiring.unit(A.dtype).item())
    weights = graph.weights(np.float64, best)
    lengths = paths.distances(graph.n, weights, source)
    assert lengths is not None
    np.testing.assert_array_equal(d, as_array(lengths, np.float64, semiring))
    assert parent.tolist() == paths.parents(weights, lengths, source)


@in_turns("method", OTHER_SEMIRINGS)
@given(graph=graphs(st.integers(-2, 2)), source=sources)
@settings(max_examples=8)
def test_reachability(method, fmt, backend, graph, source):
    source %= graph.n
    d = run(method, graph.matrix(np.int32).to(fmt, device=backend), source, LorLand)
    assert d.dtype == bool
    assert np.flatnonzero(d).tolist() == sorted(nx.descendants(graph.networkx(), source) | {source})


@pytest.mark.parametrize("a", [False, True])
@pytest.mark.parametrize("b", [False, True])
def test_no_worse_is_the_order_of_the_semiring(a, b):
    assert bool(no_worse(LorLand)(np.array([a]), np.array([b]))[0]) is (a >= b)
    assert bool(no_worse(MinPlus)(np.array([1]), np.array([2]))[0])
    assert not bool(no_worse(MaxMin)(np.array([1]), np.array([2]))[0])


# --- what is refused --------------------------------------------------------------------------------------------------


@every_format
@pytest.mark.parametrize("algorithm", [da2cf, delta_stepping, dijkstra], ids=lambda algorithm: algorithm.name)
def test_negative_weights_are_refused_by_name(verb, fmt, backend, algorithm):
    A = Graph(3, ((0, 1, 5), (1, 2, -3))).matrix(np.int32).to(fmt, device=backend)
    message = f"{algorithm.name} needs non-negative weights, got -3: bellman_ford takes any"
    with pytest.raises(ValueError, match=message):
        algorithm(A, 0)
    rule = (
        "is for min_plus, not for max_plus"
        if algorithm is delta_stepping
        else "needs weights no better than the unit 0 of max_plus"
    )
    with pytest.raises(ValueError, match=rule):
        algorithm(A, 0, "max_plus")


@in_turns("method", ANY_SIGN)
def test_a_negative_cycle_is_a_witness(method, fmt, backend):
    A = Graph(4, ((0, 1, 4), (1, 2, -5), (2, 3, 1), (3, 1, 3))).matrix(np.int64).to(fmt, device=backend)
    with pytest.raises(NegativeCycle) as caught:
        run(method, A, 0)
    assert caught.value.cycle == [1, 2, 3, 1]


@every_method
def test_arguments_that_have_no_answer(method):
    A = Graph(3, ((0, 1, 1),)).matrix(np.int32)
    for source in (-1, 3):
        with pytest.raises(ValueError, match=rf"source must be in \[0, 3\), got {source}"):
            run(method, A, source)
    with pytest.raises(ValueError, match=r"target must be in \[0, 3\), got 7"):
        run(method, A, 0, target=7)
    with pytest.raises(ValueError, match=r"sources must be in \[0, 3\), got 9"):
        run(method, A, sources=[0, 9])
    with pytest.raises(TypeError, match=r"give either a source or sources"):
        run(method, A)
    with pytest.raises(TypeError, match=r"give either a source or sources"):
        run(method, A, 0, sources=[1])
    with pytest.raises(ValueError, match="limit must be a number, got NaN"):
        run(method, A, 0, limit=float("nan"))
    with pytest.raises(TypeError, match="limit must be a number, got 'far'"):
        run(method, A, 0, limit="far")
    with pytest.raises(TypeError, match=f"{METHODS[method][0].name} has no parameter 'deltas'; it has \\w+"):
        run(method, A, 0, deltas=3)
    with pytest.raises(TypeError, match="target must be an integer, got 1.5"):
        run(method, A, 0, target=1.5)
    with pytest.raises(ValueError, match=r"square matrix, got shape \(2, 3\)"):
        run(method, from_edges([0], [1], shape=(2, 3)), 0)
    with pytest.raises(ValueError, match=r"any_pair has no unit|is for min_plus, not for any_pair"):
        run(method, A, 0, AnyPair)


@pytest.mark.parametrize(
    ("algorithm", "options", "message"),
    [
        (da2cf_by, {"relax": "drag"}, "relax must be 'push' or 'pull', got 'drag'"),
        (da2cf_by, {"passes": 3}, "passes must be 1 or 2, got 3"),
        (da2cf_by, {"variant": "V_GPU"}, "unknown variant 'V_GPU'; there are F_CPU, U_CPU, U_H1"),
        (delta_stepping, {"delta": 0}, "delta must be a positive number, got 0"),
        (delta_stepping, {"delta": -1.5}, "delta must be a positive number, got -1.5"),
        (delta_stepping, {"delta": float("nan")}, "delta must be a number, got NaN"),
        (delta_stepping, {"delta": "mode"}, "unknown rule for delta 'mode'; there are 'median', 'mean', 'max/degree'"),
        (delta_stepping, {"semiring": MaxMin}, "delta_stepping is for min_plus, not for max_min"),
    ],
)
def test_parameters_that_there_are_not(algorithm, options, message):
    with pytest.raises(ValueError, match=message):
        algorithm(Graph(2, ((0, 1, 1),)).matrix(np.int32), 0, **options)


@methods_in_turns
def test_a_distance_that_does_not_fit_is_an_error_and_not_unreachable(method, fmt, backend):
    most = np.iinfo(np.int32).max
    A = Graph(4, ((0, 1, most - 2), (1, 2, 1), (2, 3, 1))).matrix(np.int32).to(fmt, device=backend)
    with pytest.raises(OverflowError, match="a distance does not fit int32: convert the weights"):
        run(method, A, 0)
    assert run(method, A, 0, limit=most - 1).tolist() == [0, most - 2, most - 1, most]
    fits = Graph(3, ((0, 1, most - 2), (1, 2, 1))).matrix(np.int32).to(fmt, device=backend)
    assert run(method, fits, 0).tolist() == [0, most - 2, most - 1]


# --- published answers ------------------------------------------------------------------------------------------------

DIJKSTRA_OF_CLRS = Graph(  # s, t, x, y, z
    5,
    (
        *((0, 1, 10), (0, 3, 5), (1, 2, 1), (1, 3, 2), (2, 4, 4)),
        *((3, 1, 3), (3, 2, 9), (3, 4, 2), (4, 0, 7), (4, 2, 6)),
    ),
)

ALL_PAIRS_OF_CLRS = Graph(
    5, ((0, 1, 3), (0, 2, 8), (0, 4, -4), (1, 3, 1), (1, 4, 7), (2, 1, 4), (3, 0, 2), (3, 2, -5), (4, 3, 6))
)


@methods_in_turns
def test_the_figure_of_dijkstras_algorithm_in_clrs(method, fmt, backend):
    """Cormen, Leiserson, Rivest, Stein, Introduction to Algorithms, 3rd edition, figure 24.6."""
    for dtype in DTYPES:
        A = DIJKSTRA_OF_CLRS.matrix(dtype).to(fmt, device=backend)
        d, parent = run(method, A, 0, return_parents=True)
        assert d.tolist() == [0, 8, 9, 5, 7]
        assert parent.tolist() == [-1, 3, 1, 0, 3]


@in_turns("method", ANY_SIGN)
def test_the_figure_of_all_pairs_in_clrs(method, fmt, backend):
    """The same, figure 25.1."""
    d = run(method, ALL_PAIRS_OF_CLRS.matrix(np.int32).to(fmt, device=backend), sources=range(5))
    assert d.tolist() == [[0, 1, -3, 2, -4], [3, 0, -4, 1, -1], [7, 4, 0, 5, 3], [2, -1, -5, 0, -2], [8, 5, 1, 6, 0]]


@methods_in_turns
def test_tiny_ewd(method, fmt, backend):
    d = run(method, read(DATA / "tinyEWD.txt").to(fmt, device=backend), 0)
    assert d.tolist() == pytest.approx([0, 1.05, 0.26, 0.99, 0.38, 0.73, 1.51, 0.60])


@pytest.fixture(scope="module")
def rome() -> Matrix:
    return read(rome99)


QUEUES = [name for name in ANY_SIGN if METHODS[name][1].get("schedule") in ("fifo", "slf", "lll", "slf+lll")]
"""Of thousands of rounds in Rome, each from a single vertex."""
LONG_QUEUES = ["bellman-ford-fifo", "bellman-ford-slf"]
"""Of more than ten thousand, each of which is several launches on a GPU."""


def rome_cells() -> list[Any]:
    """(method, fmt, backend) in turns; queues in CSR alone, and on the CPU no pull nor split of 11 million entries."""

    def slow(name: str, fmt: type[Matrix], backend: str) -> bool:
        if name in QUEUES:
            return fmt is not CSR or (backend == "cuda" and name in LONG_QUEUES)
        return fmt is Dense and backend == "cpu" and name in ("da2cf-pull", "delta-stepping-max/degree")

    return [
        Backend(backend).param(name, fmt, name=f"{name}-{fmt.__name__}")
        for fmt, backend in vxm.table
        for k, name in enumerate(METHODS)
        if name != "delta-stepping-half"  # which is as da2cf here
        and has_turn(k, fmt, backend)
        and not slow(name, fmt, backend)
    ]


@pytest.mark.long
@pytest.mark.parametrize(("method", "fmt", "backend"), rome_cells())
def test_rome(method, fmt, backend, rome):
    d = run(method, rome.to(fmt, device=backend), 0)
    assert int(d.max()) == 69102
    assert d.sum(dtype=np.int64) == 116006476


@pytest.mark.parametrize("algorithm", ["auto", *ALGORITHMS])
def test_sssp_by_every_algorithm(algorithm):
    A = DIJKSTRA_OF_CLRS.matrix(np.int32)
    assert sssp(A, 0, algorithm=algorithm).tolist() == [0, 8, 9, 5, 7]
    d, parent = sssp(A, 0, MinPlus, algorithm=algorithm, return_parents=True)
    assert (d.tolist(), parent.tolist()) == ([0, 8, 9, 5, 7], [-1, 3, 1, 0, 3])
    assert sssp(A, sources=[0, 3], algorithm=algorithm, limit=5).tolist()[0] == [0, *[2**31 - 1] * 2, 5, 2**31 - 1]


def test_sssp_of_an_unknown_name():
    with pytest.raises(ValueError, match=r"unknown algorithm 'bellman'; there are auto, bellman-ford, da2cf"):
        sssp(DIJKSTRA_OF_CLRS.matrix(np.int32), 0, algorithm="bellman")


def test_an_infinite_limit_is_none():
    A = DIJKSTRA_OF_CLRS.matrix(np.float64)
    for algorithm in ALGORITHMS.values():
        assert algorithm(A, 0, limit=INF).tolist() == [0, 8, 9, 5, 7]
        assert algorithm(A, 0, limit=-1).tolist() == [INF] * 5


# --- limits at the ends of the range, and what is kept ----------------------------------------------------------------


@every_method
@pytest.mark.parametrize("limit", [10**10, INF, np.float32(2**31), np.int64(2**63 - 1)])
def test_a_limit_beyond_the_dtype_hides_no_overflow(method, limit):
    A = Graph(3, ((0, 1, 2**31 - 3), (1, 2, 100))).matrix(np.int32)
    with pytest.raises(OverflowError, match="does not fit int32"):
        run(method, A, 0, limit=limit)
    with pytest.raises(OverflowError, match="does not fit int32"):
        run(method, A, 0, limit=limit, target=2)


@every_method
def test_a_limit_is_exact_however_it_is_given(method):
    A = Graph(3, ((0, 1, 2**53 + 1), (1, 2, 1))).matrix(np.int64)
    for limit in (2**53 + 1, np.int64(2**53 + 1)):
        assert run(method, A, 0, limit=limit).tolist() == [0, 2**53 + 1, 2**63 - 1]
    B = Graph(3, ((0, 1, 2.0), (1, 2, 1.0))).matrix(np.float64)
    assert run(method, B, 0, limit=10**400).tolist() == [0, 2, 3]


@pytest.mark.parametrize("options", [{"limit": 5}, {"target": 5}])
def test_a_bucket_ends_at_the_limit(options):
    A = Graph(2000, tuple((v, v + 1, 1) for v in range(1999))).matrix(np.int32)
    with trace() as t:
        delta_stepping(A, 0, delta=1000, **options)
    assert len(t.rounds) <= (7 if "limit" in options else 1002), "the target's distance is known when it is found"


@every_method
def test_an_algorithm_can_be_pickled(method):
    assert pickle.loads(pickle.dumps(METHODS[method][0])) is METHODS[method][0]


def test_of_several_widths_the_last_split_is_kept():
    A = Graph(50, tuple((v, (7 * v + 1) % 50, v % 5) for v in range(50))).matrix(np.int32)
    delta_stepping(A, 0, delta=2)
    kept = A.kept_nbytes
    for delta in (1, 3, 4, 2):
        delta_stepping(A, sources=[0, 1], delta=delta)
    assert A.kept_nbytes == kept


def test_large_labels_go_last_also_where_the_sources_is_infinite():
    """The mean is of finite labels: max_min's source has an infinite one in floating point."""
    rng = np.random.default_rng(0)
    A = from_edges(*rng.integers(0, 60, (2, 300)), rng.integers(1, 99, 300), shape=60, dtype=np.float64)
    rounds = []
    for schedule in ("lll", "fifo"):
        with trace() as t:
            bellman_ford_by(A, 0, MaxMin, schedule=schedule)
        rounds.append(len(t.rounds))
    assert rounds[0] < rounds[1]


# --- semirings by name ------------------------------------------------------------------------------------------------

RELIABLE = (sssp, bellman_ford, da2cf, dijkstra)


@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize("algorithm", RELIABLE, ids=lambda algorithm: getattr(algorithm, "name", "sssp"))
@settings(max_examples=15)
@given(graph=graphs(st.sampled_from([0.0, 0.25, 0.5, 0.9, 1.0])), at=sources)
def test_max_times_finds_the_most_reliable_paths(algorithm, fused, graph, at):
    source = at % graph.n
    reliability = Paths(operator.mul, operator.gt, np.float64(1))
    weights = graph.weights(np.float64, max)
    lengths = reliability.distances(graph.n, weights, source)
    A = graph.matrix(np.float64, dup="max")
    d = algorithm(A, source, "max_times", fused=fused)
    assert d.tolist() == [-INF if x is None else x for x in lengths]


@pytest.mark.parametrize("name", ["max_times", "min_times"])
def test_products_order_paths_of_finite_weights_alone_that_are_not_negative(name):
    for wrong in (-0.5, INF if name == "max_times" else -INF):
        with pytest.raises(ValueError, match=rf"{name} orders paths of weights in \[0, inf\) alone, got {wrong}"):
            sssp(from_edges([0], [1], [wrong]), 0, name)
    absent = from_edges([0, 1], [1, 2], [0.5, -INF if name == "max_times" else INF])
    assert sssp(absent, 0, name).tolist() == [1, 0.5, absent[1, 2]]


def test_factors_that_improve_a_path_may_close_an_improving_cycle():
    gains = from_edges([0, 1, 2], [1, 2, 0], [0.5, 2.0, 1.25])
    with pytest.raises(NegativeCycle) as found:
        sssp(gains, 0, "max_times")
    assert found.value.cycle == [0, 1, 2, 0]
    with pytest.raises(ValueError, match="dijkstra needs weights no better than the unit 1.0 of max_times, got 2.0"):
        dijkstra(gains, 0, "max_times")


@pytest.mark.parametrize("name", ["min_min", "max_first", "max_pair"])
def test_a_semiring_without_a_unit_starts_no_path(name):
    with pytest.raises(ValueError, match=f"{name} has no unit, so no path can start: .* or declare one"):
        sssp(from_edges([0], [1], [0.5]), 0, name)
