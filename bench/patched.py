"""Times tasks in a process in which one constant of a module has another value.

    python -m bench.patched cpu 1 FOLDER algorithms.fused.cpu.scc FIRST_LOOK 0

The arguments are the device, the number of threads (0 for all), the folder of the road graphs' files, and the change.
Every line of its input is a task, a graph and the number of a turn, with tabs between them. It is answered by a line of
JSON with the milliseconds of a call and a digest of its answer; each turn starts from another vertex.

The constant is set where its module is loaded, before another module imports it and before a kernel is compiled with
it: kernels are cached by their content, so a changed one is compiled anew. Without a module nothing is changed.
"""

from __future__ import annotations

import ast
import hashlib
import json
import sys
import time
from collections.abc import Callable, Iterator
from functools import lru_cache
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

NEW_YORK = "USA-road-d.NY.gr.gz"
LEAST_MS = 4.0
"""Milliseconds that are timed at least: shorter calls are repeated."""
VERTICES = 16
"""Vertices that calls start from in turn."""


class Changed(SourceFileLoader):
    """Loads a module and sets a constant behind the statement that defines it."""

    def __init__(self, module: str, path: str, name: str, value: str) -> None:
        super().__init__(module, path)
        self.constant, self.value = name, value

    def get_code(self, fullname: str) -> Any:
        tree = ast.parse(self.get_data(self.path))
        change = ast.parse(f"{self.constant} = type({self.constant})({self.value})").body
        body = [part for node in tree.body for part in (node, *(change if self.constant in bound(node) else []))]
        if len(body) == len(tree.body):
            raise ValueError(f"{fullname} has no constant {self.constant}")
        tree.body = body
        return compile(tree, self.path, "exec")


class Finder(MetaPathFinder):
    """Finds one module, and has it loaded with a changed constant."""

    def __init__(self, module: str, name: str, value: str) -> None:
        self.module, self.change = module, (name, value)

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        if fullname != self.module or (spec := PathFinder.find_spec(fullname, path)) is None or not spec.origin:
            return None
        spec.loader = Changed(fullname, spec.origin, *self.change)
        return spec


def bound(node: ast.stmt) -> dict[str, ast.expr]:
    """Returns the names that a statement of a module assigns, each with its value."""
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
        return {node.target.id: node.value}
    if not isinstance(node, ast.Assign):
        return {}
    target, value = node.targets[0], node.value
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        return {each.id: of for each, of in zip(target.elts, value.elts, strict=True) if isinstance(each, ast.Name)}
    return {target.id: value} if isinstance(target, ast.Name) else {}


def tasks() -> dict[str, Callable[[Any, int], Any]]:
    """Returns the calls that are timed, by name; imports them late, for their modules are changed.

    A call takes a graph and a vertex of it. A first call has a matrix that nothing is kept with.
    """
    import algorithms as a
    from algorithms import csgraph
    from formats import ELL, SparseVector
    from formats.arrays import namespace
    from semiring import MinPlus, PlusTimes, mxm, mxv, reduce, select, vxm
    from semiring.tuning.timing import unkept

    def several(A: Any, k: int) -> list[int]:
        return np.random.default_rng(1).choice(A.nrows, k, replace=False).tolist()

    @lru_cache(maxsize=4)
    def near(A: Any) -> dict[int, int]:
        return {v: int(a.sssp(A, v).argsort()[A.nrows // 500]) for v in vertices(A)}

    @lru_cache(maxsize=4)
    def sparse(A: Any, every: int) -> Any:
        places = namespace(A.values).arange(0, A.nrows, every, dtype=A.indices.dtype)
        return SparseVector(places, places.astype(A.dtype), size=A.nrows)

    @lru_cache(maxsize=4)
    def ones(A: Any, columns: int | None = None) -> Any:
        return namespace(A.values).ones(A.nrows if columns is None else (A.nrows, columns), A.dtype)

    def to_scipy(A: Any) -> Any:
        parts = (A.values.astype(np.float64), A.indices, A.indptr)
        if A.place.on_host:
            return scipy.sparse.csr_array(parts, shape=A.shape)
        from cupyx.scipy.sparse import csr_matrix

        return csr_matrix(parts, shape=A.shape)

    @lru_cache(maxsize=1)
    def padded(A: Any) -> Any:
        return A.to(ELL)

    return {
        "distances": lambda A, v: a.sssp(A, v),
        "a near target": lambda A, v: a.dijkstra(A, v, target=near(A)[v])[near(A)[v]],
        "distances from 16": lambda A, v: a.sssp(A, sources=several(A, 16)),
        "distances from 64": lambda A, v: a.sssp(A, sources=several(A, 64)),
        "tree": lambda A, v: a.sssp(A, v, return_parents=True),
        "trees from 64": lambda A, v: a.sssp(A, sources=several(A, 64), return_parents=True),
        "levels": lambda A, v: a.bfs(A, v),
        "levels from 64": lambda A, v: a.bfs(A, sources=several(A, 64)),
        "order of discovery": lambda A, v: a.bfs_order(A, v),
        "weak components": lambda A, v: a.scc(unkept(A), weak=True),
        "strong components": lambda A, v: a.scc(A),
        "topological order": lambda A, v: a.topological_components(A),
        "forest": lambda A, v: a.boruvka(A),
        "forest, first call": lambda A, v: a.boruvka(unkept(A)),
        "core numbers": lambda A, v: a.core_number(A),
        "PageRank": lambda A, v: a.pagerank(A, weighted=False),
        "betweenness of 32": lambda A, v: a.betweenness_centrality(A, sources=several(A, 32)),
        "closeness": lambda A, v: a.closeness_centrality(A),
        "SciPy's dijkstra": lambda A, v: csgraph.dijkstra(to_scipy(A), indices=v),
        "SciPy's order": lambda A, v: csgraph.breadth_first_order(to_scipy(A), v),
        "SciPy's all pairs": lambda A, v: csgraph.shortest_path(to_scipy(A)),
        "product": lambda A, v: mxv(A, ones(A), MinPlus),
        "push of 1/8": lambda A, v: vxm(sparse(A, 8), A, MinPlus),
        "push of 1/1000": lambda A, v: vxm(sparse(A, 1000), A, MinPlus),
        "pull of 1/100": lambda A, v: mxv(A, sparse(A, 100), MinPlus),
        "product with 20 columns": lambda A, v: mxm(A, ones(A, 20), PlusTimes),
        "square": lambda A, v: mxm(A, A, PlusTimes),
        "square under a mask": lambda A, v: mxm(A, A, PlusTimes, mask=A),
        "entries selected": lambda A, v: select(A, ">", 1),
        "rows reduced": lambda A, v: reduce(A, "min", axis=1),
        "padded rows, first call": lambda A, v: reduce(unkept(padded(A)), "min", axis=1),
    }


def made(name: str, device: Any, folder: Path) -> Any:
    """Makes a graph by its name, such as rmat16: its number is a scale, a side of a grid, or vertices in thousands."""
    from bench.graphs import ROADS, grid, rmat, rmat_both_ways, roads, uniform
    from formats import CSR, from_edges, read

    if name == "NE":
        return roads(folder / ROADS, device=device)
    if name == "NY":
        return read(folder / NEW_YORK).to(CSR, device=device).astype("float32")
    kind, size = name.rstrip("0123456789"), int(name.lstrip("abcdefghijklmnopqrstuvwxyz"))
    drawn: dict[str, Callable[..., Any]] = {
        "grid": lambda **on: grid(size, **on),
        "rmat": lambda **on: rmat(size, **on),
        "twoway": lambda **on: rmat_both_ways(size, **on),
        "uniform": lambda **on: uniform(1000 * size, 8, **on),
        "sparse": lambda **on: uniform(1000 * size, 3, **on),
        "complete": lambda **on: uniform(size, 4 * size, **on),
    }
    if kind in drawn:
        return drawn[kind](device=device)
    u, v, w = edges_of(kind, size, drawn)
    return from_edges(u, v, w.astype(np.float32), shape=int(max(u.max(), v.max())) + 1).to(device=device)


def edges_of(kind: str, size: int, drawn: dict[str, Callable[..., Any]]) -> tuple[np.ndarray, ...]:
    """Returns the edges of a ring in which each vertex leads to the next eight, or of a drawn graph that is changed."""
    if kind == "ring":
        n, u = 1000 * size, np.repeat(np.arange(1000 * size, dtype=np.int32), 8)
        return u, (u + np.tile(np.arange(1, 9), n)) % n, u % 97 + 1
    u, v, w = drawn[{"ones": "twoway", "downward": "rmat"}.get(kind, "grid")]().to_edges()
    if kind == "ones":
        return u, v, np.ones_like(w)
    if kind == "hubs":
        far = np.arange(1, size * size, 10, dtype=u.dtype)
        return np.append(u, 0 * far), np.append(v, far), np.append(w, 0 * far + 999)
    kept = {"downward": u < v, "islands": np.maximum(u, v) % 10 > 0, "oneway": (7 * u + 13 * v) % 5 > 0}[kind]
    return u[kept], v[kept], w[kept]


def parts_of(answer: Any) -> Iterator[np.ndarray]:
    """Yields the arrays on the host that an answer consists of."""
    if isinstance(answer, tuple):
        for part in answer:
            yield from parts_of(part)
    elif hasattr(answer, "components"):
        yield from parts_of(answer.components)
    elif hasattr(answer, "indices"):
        yield from parts_of((answer.indices, answer.values))
    elif answer is not None:
        yield np.ascontiguousarray(answer.get() if hasattr(answer, "get") else answer)


def vertices(A: Any) -> list[int]:
    """Returns vertices of many edges: a processor would soon know the branches of a search from one by heart."""
    degree = A.indptr[1:] - A.indptr[:-1]
    some = parts_of((degree >= degree.mean()).nonzero())
    return np.random.default_rng(1).choice(next(some), VERTICES).tolist()


def timed(call: Callable[[Any, int], Any], A: Any, starts: list[int], turn: int) -> dict[str, Any]:
    """Returns a graph's size, milliseconds of a call on it, and a digest of the first call's answer.

    A CPU with one thread has the process's time, which other processes do not lengthen.
    """
    from semiring import get_threads

    clock = time.process_time if A.place.on_host and get_threads() == 1 else time.perf_counter
    digest, calls, answers = hashlib.blake2b(digest_size=16), 0, list[Any]()
    A.place.finish()
    start = clock()
    while not calls or clock() - start < LEAST_MS / 1e3:
        answer = call(A, starts[(turn + calls) % VERTICES])
        A.place.finish()
        answers, calls = answers or [answer], calls + 1
    taken = clock() - start
    for part in parts_of(tuple(answers)):
        digest.update(f"{part.dtype}{part.shape}".encode() + part.tobytes())
    return {"n": A.nrows, "nnz": A.nnz, "ms": 1e3 * taken / calls, "digest": digest.hexdigest()}


def main(device: str, threads: str, folder: str, *change: str) -> None:
    if change:
        sys.meta_path.insert(0, Finder(*change))
    calls = tasks()
    from semiring import get_threads, set_threads

    set_threads(int(threads) or get_threads())
    graph = lru_cache(maxsize=8)(lambda name: made(name, device, Path(folder)))
    starts = lru_cache(maxsize=8)(lambda name: vertices(graph(name)))
    for line in sys.stdin:
        task, name, turn = line.rstrip("\n").split("\t")
        print(json.dumps(timed(calls[task], graph(name), starts(name), int(turn))), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
