"""Algorithms on many small random graphs, each beside plain Python: every format, dtype, schedule and thread count.

Seeds that follow each other share a semiring, a dtype and a format, so that a block of cases compiles few kernels.
Integers are compared with exact sums, floats with the fixpoint in their own precision, and cycles with exact sums.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from algorithms import NegativeCycle, bellman_ford, bfs, boruvka, da2cf, delta_stepping, dijkstra, scc, sssp
from bench.laboratory import bellman_ford_by
from formats import Matrix, from_edges
from semiring import threads
from semiring.algebra.semirings import end_of_range, find_semiring

from . import strategies as sts
from .graphs import Paths

TOGETHER = 500
"""Consecutive seeds that share a semiring, a dtype and a format."""

ALGEBRAS: dict[str, Paths] = {
    "min_plus": Paths(),
    "max_plus": Paths(better=operator.gt),
    "min_max": Paths(max),
    "max_min": Paths(min, operator.gt),
    "max_times": Paths(operator.mul, operator.gt),
}
SEMIRINGS = ["min_plus"] * 5 + ["max_plus", "min_max", "max_min", "max_times"]
DTYPES = [sts.INT32, sts.INT64, sts.FLOAT32, sts.FLOAT64]
SCHEDULES = ["frontier", "frontier", "sweep", "fifo", "slf", "lll", "slf+lll"]


@dataclass(frozen=True)
class Setting:
    """What the cases of a group share."""

    semiring: str
    dtype: np.dtype
    fmt: type[Matrix]

    @classmethod
    def of(cls, seed: int) -> Setting:
        rng = np.random.default_rng(seed // TOGETHER)
        name, dtype = SEMIRINGS[rng.integers(len(SEMIRINGS))], DTYPES[rng.integers(len(DTYPES))]
        if name == "max_times":
            dtype = [sts.FLOAT32, sts.FLOAT64][rng.integers(2)]
        fmt = Matrix.formats["csr"] if rng.random() < 0.3 else sts.FORMATS[rng.integers(len(sts.FORMATS))]
        return cls(name, dtype, fmt)


def drawn_weights(rng: np.random.Generator, setting: Setting, count: int) -> list[Any]:
    """Weights of one kind, among them such as are at the ends of the range, subnormal, or improve paths."""
    dtype, name = setting.dtype, setting.semiring
    zero, kind = find_semiring(name).zero(dtype).item(), rng.integers(6)
    if name == "max_times":
        pools = [
            [0, 0.25, 0.5, 1],
            [0.1, 0.3, 0.7, 0.9, 1],
            [1e-30, 1e-20, 0.5],
            [0.5, 1, 2],
            [5e-324, 1],
            [0, zero, 1],
        ]
        return [dtype.type(pools[kind][i]).item() for i in rng.integers(len(pools[kind]), size=count)]
    low, high = (end_of_range(dtype, end).item() for end in ("lowest", "highest"))
    better = -1 if name.startswith("min") else 1
    if dtype.kind == "i":
        ends = [low, low + 1, low // 2, low // 3, -1, 0, 1, high // 3, high // 2, high - 1, high]
        pools = [[0, 1, 2, 3], [0, 0, 1], list(range(-2, 9)), ends, [zero, 0, 1, 5], [-3, -2, -1, 0, 1, 2]]
        return [
            better * -w if kind != 3 and w != zero and name.endswith("plus") else w
            for w in picked(rng, pools[kind], count)
        ]
    info = np.finfo(dtype)
    tiny, top = float(info.smallest_subnormal), float(info.max)
    ends = [-top, -top / 3, -1.0, -tiny, 0.0, tiny, 1.0, top / 3, top]
    near = [-2 * tiny, -tiny, -0.0, 0.0, tiny, 3 * tiny, float(info.tiny)]
    pools = [[0.0, 0.5, 1, 2], [0.1, 0.2, 0.3, 0.7], [-0.3, 0.1, 0.2, 1, 2, 4], ends, [zero, 0.0, 0.1, 1], near]
    worse = [w if name.startswith("min") else -w for w in picked(rng, pools[kind], count)]
    return [zero if abs(w) == math.inf else dtype.type(w).item() for w in worse]


def picked(rng: np.random.Generator, pool: list[Any], count: int) -> list[Any]:
    return [pool[i] for i in rng.integers(len(pool), size=count)]


def drawn_edges(rng: np.random.Generator, n: int) -> list[tuple[int, int]]:
    """Places of edges: random ones, a path, a cycle, a hub or a grid, with self-loops and duplicates."""
    if n == 0:
        return []
    count, kind = int(rng.integers(0, 3 * n + 1)), rng.integers(5)
    edges = list(zip(rng.integers(n, size=count).tolist(), rng.integers(n, size=count).tolist(), strict=True))
    order = rng.permutation(n).tolist()
    if kind == 1:
        edges = [*pairwise(order), *edges[: count // 3]]
    if kind == 2:
        edges = [*pairwise([*order, order[0]]), *edges[: count // 3]]
    if kind == 3:
        edges += [(order[0], v) for v in order] + [(v, order[0]) for v in order[: n // 2]]
    return edges + edges[: int(rng.integers(3))]


@dataclass(frozen=True)
class Case:
    """A graph, and how to search it."""

    seed: int
    setting: Setting
    rng: np.random.Generator
    n: int
    weights: dict[tuple[int, int], Any]

    @classmethod
    def of(cls, seed: int) -> Case:
        rng, setting = np.random.default_rng(seed), Setting.of(seed)
        n = int(rng.integers(0, 13))
        edges = drawn_edges(rng, n)
        best = min if setting.semiring.startswith("min") else max
        weights: dict[tuple[int, int], Any] = {}
        for place, w in zip(edges, drawn_weights(rng, setting, len(edges)), strict=True):
            weights[place] = best(weights[place], w) if place in weights else w
        return cls(seed, setting, rng, n, weights)

    def one_of(self, *values: Any) -> Any:
        return values[int(self.rng.integers(len(values)))]

    def matrix(self) -> Matrix:
        rows, cols = (np.array([place[axis] for place in self.weights], np.int32) for axis in (0, 1))
        A = from_edges(rows, cols, np.array(list(self.weights.values()), self.setting.dtype), shape=self.n)
        return A.to(self.setting.fmt, **sts.OPTIONS.get(self.setting.fmt, {}))


# --- best paths -------------------------------------------------------------------------------------------------------


def best_paths(case: Case) -> None:
    """One algorithm from one source, with the tree; beside the fixpoint in plain Python."""
    s, dtype, paths = find_semiring(case.setting.semiring), case.setting.dtype, ALGEBRAS[case.setting.semiring]
    zero, unit = s.zero(dtype).item(), s.unit(dtype).item()
    present = {place: w for place, w in case.weights.items() if w != zero}
    gains = any(paths.better(w, unit) for w in present.values())
    source = int(case.rng.integers(case.n))
    algorithm, own = case.one_of((sssp, {}), (bellman_ford, {}), (da2cf, {}), (dijkstra, {}), (delta_stepping, {}))
    if gains or (algorithm is delta_stepping and s.name != "min_plus"):
        algorithm, own = bellman_ford_by, {"schedule": SCHEDULES[case.rng.integers(len(SCHEDULES))]}
    exact = dtype.kind == "i" or s.mul.name in ("min", "max")
    extend = paths.extend if exact else lambda a, b: dtype.type(paths.extend(dtype.type(a), dtype.type(b))).item()
    A, fused = case.matrix(), bool(case.rng.integers(2))
    how = f"{algorithm.__name__ if hasattr(algorithm, '__name__') else algorithm}, {own}, {fused=}, {source=}"
    answer: Any
    with np.errstate(over="ignore"):
        d, ends = fixpoint(present, Paths(extend, paths.better), unit, source, None if exact else zero)
        try:
            answer = algorithm(A, source, s, return_parents=True, fused=fused, **own)
        except (NegativeCycle, OverflowError, FloatingPointError) as error:
            answer = error
        cyclic = gains and gaining(case.n, present, paths, s.mul.name, unit, source)
        if isinstance(answer, NegativeCycle):
            assert cyclic, f"{how}: there is no improving cycle, but {answer.cycle} was found"
            assert_cycle(answer.cycle, present, paths, s.mul.name, unit, source, how)
        elif isinstance(answer, FloatingPointError):
            tree = Paths(extend, paths.better, unit).parents(present, [d.get(v) for v in range(case.n)], source)
            rootless = any(tree[v] < 0 for v in d if v != source)
            assert gains, how
            soon = fixpoint(present, Paths(extend, paths.better), unit, source, zero, rounds=case.n)[1]
            assert not soon or rootless, f"{how}: {answer}"
        elif cyclic and exact:
            pytest.fail(f"{how}: an improving cycle was missed: {answer}")
        elif isinstance(answer, OverflowError):
            assert cyclic or not fits(d, present, dtype, s), f"{how}: {d} fits, but {answer}"
        else:
            assert ends, f"{how}: the fixpoint has no end, but {answer}"
            assert fits(d, present, dtype, s), f"{how}: {d} does not fit, but {answer}"
            lengths, parent = answer
            assert lengths.tolist() == [d.get(v, zero) for v in range(case.n)], how
            tree = Paths(extend, paths.better, unit)
            assert parent.tolist() == tree.parents(present, [d.get(v) for v in range(case.n)], source), how


def fixpoint(
    weights: Any, paths: Paths, unit: Any, source: int, zero: Any, rounds: int = 64
) -> tuple[dict[int, Any], bool]:
    """(the best lengths of walks, whether they have settled after many more rounds than there are vertices)."""
    d = {source: unit}
    for _ in range(rounds):
        before = dict(d)
        for (u, v), w in weights.items():
            if u in before:
                t = paths.extend(before[u], w)
                if t != zero and (v not in d or paths.better(t, d[v])):
                    d[v] = t
        if d == before:
            return d, True
    return d, False


def gaining(n: int, weights: Any, paths: Paths, mul: str, unit: Any, source: int) -> bool:
    """Is there, in exact numbers, a cycle that improves paths from the source?"""
    number: Callable[[Any], Any] = Fraction if mul in ("plus", "times") else (lambda x: x)
    if any(isinstance(w, float) and math.isinf(w) for w in weights.values()):
        return False
    exact = {place: number(w) for place, w in weights.items()}
    d = {source: number(unit) if abs(unit) != math.inf else unit}
    for _ in range(n + 1):
        before = dict(d)
        for (u, v), w in exact.items():
            if u in before and (v not in d or paths.better(paths.extend(before[u], w), d[v])):
                d[v] = paths.extend(before[u], w)
        if d == before:
            return False
    return True


def assert_cycle(cycle: list[int], weights: Any, paths: Paths, mul: str, unit: Any, source: int, how: str) -> None:
    """Closed, simple, from its smallest vertex on, reached, and its exact length improves a path."""
    assert cycle[0] == cycle[-1] == min(cycle), how
    assert len(set(cycle)) == len(cycle) - 1, how
    reached = {source}
    for _ in weights:
        reached |= {v for u, v in weights if u in reached}
    assert cycle[0] in reached, how
    along = [weights[edge] for edge in pairwise(cycle)]
    length = math.prod(map(Fraction, along)) if mul == "times" else sum(map(Fraction, along))
    assert paths.better(length, unit), f"{how}: the cycle {cycle} of {along} gains nothing"


def fits(d: dict[int, Any], weights: Any, dtype: np.dtype, s: Any) -> bool:
    """Does the dtype hold every length, so that none stands at an end of its range?"""
    if s.mul.saturating is None:
        return True
    low, high = (end_of_range(dtype, end).item() for end in ("lowest", "highest"))
    if any(u in d and v not in d for u, v in weights):
        return False  # it has become infinite
    if s.mul.name == "times":
        return all(x < high for x in d.values())
    return all(low < x < high for x in d.values())


# --- searches, components and forests ---------------------------------------------------------------------------------


def levels(case: Case) -> None:
    source, A = int(case.rng.integers(case.n)), case.matrix()
    level, parent, k, front = {source: 0}, {source: -1}, 0, [source]
    while front:
        found: dict[int, int] = {}
        for u, v in sorted(case.weights):
            if u in front and v not in level:
                found[v] = min(u, found.get(v, u))
        k += 1
        level |= dict.fromkeys(found, k)
        parent |= found
        front = list(found)
    direction, fused = case.one_of("auto", "push", "pull"), bool(case.rng.integers(2))
    answer = bfs(A, source, direction=direction, return_parents=True, fused=fused)
    how = f"bfs, {direction=}, {fused=}, {source=}"
    assert answer[0].tolist() == [level.get(v, -1) for v in range(case.n)], how
    assert answer[1].tolist() == [parent.get(v, -1) for v in range(case.n)], how


def component_labels(case: Case) -> None:
    weak, fused, A = bool(case.rng.integers(2)), bool(case.rng.integers(2)), case.matrix()
    reach = np.eye(case.n, dtype=bool)
    for u, v in case.weights:
        reach[u, v] = True
        reach[v, u] |= weak
    for k in range(case.n):
        reach |= reach[:, k : k + 1] & reach[k]
    expected = [int(np.flatnonzero(reach[v] & reach[:, v])[0]) for v in range(case.n)]
    assert scc(A, weak=weak, fused=fused).tolist() == expected, f"scc, {weak=}, {fused=}"


def forests(case: Case) -> None:
    tree, chosen, undirected = list(range(case.n)), [], {}
    for (u, v), w in case.weights.items():
        key = min(u, v), max(u, v)
        undirected[key] = min(w, undirected.get(key, w))
    for (u, v), w in sorted(undirected.items(), key=lambda edge: (edge[1], edge[0])):
        if tree[u] != tree[v]:
            chosen.append((u, v, w))
            tree = [min(tree[u], tree[v]) if t in (tree[u], tree[v]) else t for t in tree]
    fused = bool(case.rng.integers(2))
    F, label = boruvka(case.matrix(), symmetrize=True, return_labels=True, fused=fused)
    assert list(zip(*(part.tolist() for part in F.to_edges()), strict=True)) == sorted(chosen), f"boruvka, {fused=}"
    assert label.tolist() == tree, f"boruvka, {fused=}"


TASKS = [best_paths, best_paths, best_paths, best_paths, levels, component_labels, forests]


def test_algorithms_agree_with_plain_python_on_small_random_graphs(fuzz_seeds):
    for seed in fuzz_seeds:
        case = Case.of(seed)
        task = TASKS[case.rng.integers(len(TASKS))]
        if case.n == 0 and task in (best_paths, levels):
            task = forests
        try:
            with threads(int(case.rng.integers(1, 3))):
                task(case)
        except (Exception, pytest.fail.Exception) as error:
            edges = [(u, v, w) for (u, v), w in case.weights.items()]
            raise AssertionError(f"seed {seed}: {case.setting}, {case.n} vertices, {edges}: {error!r}") from error
