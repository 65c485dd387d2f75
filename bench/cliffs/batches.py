"""`python -m bench batches`: many vectors and sources at once, beside one after the other, or another library.

    products          A ⊗ X beside products with a vector, X ⊗ Y beside pairs (⊕, ⊗) a second, A ⊗ B beside SuiteSparse
                      or cuSPARSE, at a mask's places and as a whole
    arguments         the same with `return_argument`, beside the same without
    several sources   64 searches and 64 trees of shortest paths, beside as many calls of one source
    all pairs         of a dense graph, beside SciPy's Floyd-Warshall

Every answer is compared with that of what stands beside it, or with products of vectors, before it is timed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np

from algorithms import all_pairs, bfs, sssp
from bench.experiment import Experiment, Row, Setting, released
from bench.experiments.fused_tasks import NEW_YORK
from bench.graphs import grid, rmat, rmat_both_ways
from bench.limits import COLUMNS, Limits, Timed, insist, limited, no_plot, row
from formats import CSR, Matrix, from_edges, read
from formats.arrays import to_device
from semiring import MinPlus, PlusTimes, mxm, mxv, reduce, select, vxm
from semiring.cpu.threads import configure_graphblas
from semiring.tuning.timing import finished_ms

GRAPHBLAS = "python-graphblas"
SOURCES = 64
SECONDS = 8.0
"""Seconds of a case's timed calls, about; one call each may take longer."""

LIMITS: Limits = {
    r".* with arguments, .*": (1.5, 1.2),
    r"A ⊗ X, .*k = 1, .*": (1.1, 1),
    r"A ⊗ X, .*k = 32, GPU": (1.5, 1),
    r"A ⊗ X, beside plus_times, GPU": (1, 0.5),
    r"A ⊗ X, .*k = 32, .*": (1, 0.5),
    r"X ⊗ Y, .*": (1, 0.7),
    r"A ⊗ B.*": (1.2, 0.8),
    r"64 searches, R-MAT 22, GPU": (2, 1),
    r"64 searches, New York, GPU": (12, 6),
    r"64 paths, R-MAT 20, GPU": (15, 10),
    r"64 paths, New York, GPU": (35, 20),
    r"64 searches, R-MAT 20, CPU": (1 / 8, 1 / 16),
    r"64 (paths|trees), R-MAT 20, CPU": (1 / 2, 1 / 4),
    r"64 (searches|searches with parents|paths|trees), .*": (1, 0.5),
    r"all pairs, GPU": (1000, 600),
    r"all pairs, CPU": (1000, 500),
    r"all pairs, .*": (0.2, 0.05),
}


@dataclass(frozen=True)
class Case:
    """A call beside another.

    name: for its limits.  graph: on what.  run: the call.  beside: what stands beside it.  other: the call of that, or
    the milliseconds that it may take; None where the limits are milliseconds.  same: are the two answers equal?
    expected: what `run` gives, where `other` gives none.
    """

    name: str
    graph: str
    run: Callable[[], Any]
    beside: str = ""
    other: Callable[[], Any] | float | None = None
    same: Callable[[Any, Any], bool] = lambda got, expected: equal(got, expected)
    expected: Callable[[], Any] | None = None


def rows(setting: Setting) -> Iterator[Row]:
    """Every case of the device, part by part; parts that an interrupted run has are kept."""
    for name, cases in PARTS.items():
        if kept := setting.kept_rows(name):
            yield from kept
            continue
        for case in cases(setting):
            yield row(name, measured(case, setting))
        released(setting.device)


def measured(case: Case, setting: Setting) -> Timed:
    """A case, verified, and then timed in turns with what stands beside it."""
    other = case.other if callable(case.other) else None
    wanted = other or case.expected
    if wanted is not None:
        insist(case.name, case.same(case.run(), wanted()))
    calls = [case.run] if other is None else [case.run, other]
    taken: list[list[float]] = [[] for _ in calls]
    for _ in range(setting.repeats):
        for times, call in zip(taken, calls, strict=True):
            times.append(finished_ms(call, setting.device))
        if sum(map(sum, taken)) > 1e3 * SECONDS:
            break
    ms, *others = map(median, taken)
    limit = case.other if isinstance(case.other, float) else None
    name = f"{case.name}, {'GPU' if setting.device == 'cuda' else 'CPU'}"
    return limited(LIMITS, name, case.graph, ms, case.beside, others[0] if others else limit)


def equal(got: Any, expected: Any) -> bool:
    """True if two answers are equal, bit by bit: arrays, matrices of one pattern, numbers, or tuples of them."""
    if isinstance(got, tuple):
        return all(equal(a, b) for a, b in zip(got, expected, strict=True))
    if isinstance(got, Matrix):
        return all(equal(a, b) for a, b in zip(got.arrays, expected.arrays, strict=True))
    return np.array_equal(*(to_device(part, "cpu") if hasattr(part, "shape") else part for part in (got, expected)))


# --- products -------------------------------------------------------------------------------------------------------


def products(setting: Setting) -> Iterator[Case]:
    """With dense operands, and of two sparse matrices."""
    yield from with_columns(setting)
    yield from dense_by_dense(setting)
    yield from sparse_by_sparse(setting)


def with_columns(setting: Setting) -> Iterator[Case]:
    """A ⊗ X of an R-MAT graph, in min-plus."""
    A, scale = directed(setting, 20)
    for k in (1, 32):
        X = to_device(matrix_of(A.ncols, k), setting.device)
        columns = [X[:, j].copy() for j in range(k)]

        def each(columns: Any = columns) -> Any:
            return [mxv(A, x, MinPlus) for x in columns]

        def same(Y: Any, ys: Any) -> bool:
            return all(equal(Y[:, j], y) for j, y in enumerate(ys))

        name = f"A ⊗ X, min_plus, k = {k}"
        run = lambda X=X: mxm(A, X, MinPlus)  # noqa: E731
        if k == 1 or setting.device == "cpu":
            yield Case(name, f"R-MAT {scale}", run, f"{k} mxv", each, same)
        else:  # whose limits are milliseconds
            yield Case(name, f"R-MAT {scale}", run, "", None, same, each)
            yield Case("A ⊗ X, beside plus_times", f"R-MAT {scale}", run, "cuSPARSE", cusparse(A, X), anything)
    if setting.device == "cpu":
        yield Case("A ⊗ X, min_plus, k = 32", f"R-MAT {scale}", run, GRAPHBLAS, graphblas_columns(A, X), close)


def dense_by_dense(setting: Setting) -> Iterator[Case]:
    """X ⊗ Y in min-plus, beside a number of pairs of elements a second."""
    on_gpu = setting.device == "cuda"
    n, rate = (256 if setting.quick else 4096, 7e12) if on_gpu else (64 if setting.quick else 2048, 1e10)
    for dtype in ("float32", "int32"):
        X, Y = (to_device(matrix_of(n, n, seed).astype(dtype), setting.device) for seed in (1, 2))
        row_of = n // 3

        def same(Z: Any, z: Any, row_of: int = row_of) -> bool:
            return equal(Z[row_of], z)

        yield Case(
            f"X ⊗ Y, min_plus, {dtype}",
            f"{n} × {n}",
            lambda X=X, Y=Y: mxm(X, Y, MinPlus),
            f"{rate / 1e9:.0f} G pairs a second",
            float(1e3 * n**3 / rate),
            same,
            lambda X=X, Y=Y, row_of=row_of: (X[row_of][:, None] + Y).min(axis=0),
        )


def sparse_by_sparse(setting: Setting) -> Iterator[Case]:
    """L ⊗ L of the lower triangles of an R-MAT graph and a grid: at L's places, at the others, and as a whole."""
    scale, side = (9, 30) if setting.quick else (16, 1000)
    for graph, made in (f"R-MAT {scale}", rmat_both_ways(scale)), (f"grid {side}", grid(side)):
        L: Any = select(made, "tril", -1).astype("int64")
        yield from beside_cusparse(L, graph) if setting.device == "cuda" else beside_graphblas(L, graph)


def beside_graphblas(L: Any, graph: str) -> Iterator[Case]:
    """On the CPU. python-graphblas puts its entries in order, as ours are."""
    import graphblas as gb

    configure_graphblas()
    M = L.to_graphblas()

    def theirs(mask: Any) -> Callable[[], Any]:
        def call() -> Any:
            C = M.mxm(M, gb.semiring.plus_pair).new(mask=mask)
            C.ss.sort()
            return C

        return call

    calls: dict[str, tuple[Callable[[], Any], Any]] = {
        "A ⊗ B, plus_pair, at A's places": (lambda: mxm(L, L, "plus_pair", mask=L.pattern()), M.S),
        "A ⊗ B, plus_pair, elsewhere": (lambda: mxm(L, L, "plus_pair", mask=L.pattern(), complement=True), ~M.S),
        "A ⊗ B, plus_pair": (lambda: mxm(L, L, "plus_pair"), None),
    }
    for name, (run, mask) in calls.items():
        yield Case(name, graph, run, GRAPHBLAS, theirs(mask), as_graphblas)
    yield Case(
        "A ⊗ B, triangles",
        graph,
        lambda: int(reduce(mxm(L, L, "plus_pair", mask=L.pattern()), "plus")),
        GRAPHBLAS,
        lambda: int(M.mxm(M, gb.semiring.plus_pair).new(mask=M.S).reduce_scalar("plus").value or 0),
    )


def beside_cusparse(L: CSR, graph: str) -> Iterator[Case]:
    """On a GPU, where cuSPARSE has plus-times alone."""
    from cupyx.scipy.sparse import csr_matrix

    there: Any = L.astype("float32").to(device="cuda")
    M = csr_matrix((there.values, there.indices, there.indptr), shape=there.shape)

    def same(C: Any, theirs: Any) -> bool:
        theirs.sort_indices()
        return equal((C.indptr, C.indices), (theirs.indptr, theirs.indices)) and close(C.values, theirs.data)

    yield Case("A ⊗ B, plus_times", graph, lambda: mxm(there, there, PlusTimes), "cuSPARSE", lambda: M @ M, same)
    own = L.to(device="cuda")
    at_places = lambda: reduce(mxm(own, own, "plus_pair", mask=own.pattern()), "plus")  # noqa: E731
    insist("triangles", int(at_places()) == int(reduce(mxm(L, L, "plus_pair", mask=L.pattern()), "plus")))
    yield Case("A ⊗ B, triangles", graph, at_places, "cuSPARSE's whole product", lambda: M @ M, anything)


# --- arguments ------------------------------------------------------------------------------------------------------


def arguments(setting: Setting) -> Iterator[Case]:
    """Products and reductions that tell which term gave each element, beside those that do not."""
    A, scale = directed(setting, 20)
    X = to_device(matrix_of(A.ncols, 32), setting.device)
    n = (64 if setting.device == "cpu" else 256) if setting.quick else (2048 if setting.device == "cpu" else 4096)
    Y, Z = (to_device(matrix_of(n, n, seed), setting.device) for seed in (1, 2))
    x = X[:, 0].copy()
    graph = f"R-MAT {scale}"
    calls: list[tuple[str, str, Callable[..., Any]]] = [
        ("mxv", graph, lambda **how: mxv(A, x, MinPlus, **how)),
        ("vxm", graph, lambda **how: vxm(x, A, MinPlus, **how)),
        ("A ⊗ X, k = 32", graph, lambda **how: mxm(A, X, MinPlus, **how)),
        ("X ⊗ Y", f"{n} × {n}", lambda **how: mxm(Y, Z, MinPlus, **how)),
        ("reduce rows", graph, lambda **how: reduce(A, "min", axis=1, **how)),
    ]
    for name, on, call in calls:
        run = lambda call=call: call(return_argument=True)  # noqa: E731
        yield Case(f"{name} with arguments", on, run, "without", call, lambda got, plain: equal(got[0], plain))


# --- several sources ------------------------------------------------------------------------------------------------


def several_sources(setting: Setting) -> Iterator[Case]:
    """64 searches and 64 times shortest paths, on R-MAT graphs, New York's roads and a grid."""
    on_gpu = setting.device == "cuda"
    for name, A in graphs_of(setting):
        S = np.random.default_rng(5).choice(np.flatnonzero(to_device(A.lengths(0), "cpu")), SOURCES, replace=False)
        for what, call, parents in (
            ("searches", bfs, False),
            ("searches with parents", bfs, True),
            ("paths", sssp, False),
            ("trees", sssp, True),
        ):
            run = lambda A=A, S=S, call=call, p=parents: call(A, sources=S, return_parents=p)  # noqa: E731
            each = lambda A=A, S=S, call=call, p=parents: [call(A, int(s), return_parents=p) for s in S]  # noqa: E731
            case = Case(f"{SOURCES} {what}, {name}", f"{A.nrows:,} vertices", run, f"{SOURCES} calls", each, row_by_row)
            in_ms = f"{case.name}, GPU" in LIMITS
            if on_gpu and in_ms:
                insist(case.name, row_by_row(run(), each()))
                case = Case(case.name, case.graph, run)
            yield case


def graphs_of(setting: Setting) -> Iterator[tuple[str, Any]]:
    """Yields names and graphs on the device, one after another."""
    for scale in (20, 22) if setting.device == "cuda" else (20,):
        yield f"R-MAT {scale}", directed(setting, scale)[0]
    if setting.data is not None and not setting.quick and (file := setting.data / NEW_YORK).exists():
        yield "New York", read(file).to(device=setting.device)
    yield "a grid", grid(32 if setting.quick else 1024).to(device=setting.device)


def row_by_row(got: Any, each: Any) -> bool:
    """True if the rows of distances, or of (distances, parents), are the answers of the single calls."""
    if not isinstance(got, tuple):
        return all(equal(got[k], one) for k, one in enumerate(each))
    return all(equal((got[0][k], got[1][k]), one) for k, one in enumerate(each))


# --- all pairs ------------------------------------------------------------------------------------------------------


def every_pair(setting: Setting) -> Iterator[Case]:
    """A graph with every tenth edge there; some of its rows are checked by searches."""
    from scipy.sparse.csgraph import floyd_warshall

    on_gpu = setting.device == "cuda"
    n = 64 if setting.quick else 16_384 if on_gpu else 2048
    A = sparse_of(n).to(device=setting.device)
    D = all_pairs(A)
    insist("all pairs", all(equal(D[u], sssp(A, u)) for u in range(0, n, n // 4)))
    yield Case("all pairs", f"{n:,} vertices", lambda: all_pairs(A))
    if not on_gpu:
        small = sparse_of(min(n, 1024))
        weights = small.to_dense(np.inf)
        theirs = lambda: floyd_warshall(weights).astype(np.float32)  # noqa: E731
        yield Case("all pairs, beside SciPy", f"{small.nrows} vertices", lambda: all_pairs(small), "SciPy", theirs)


PARTS: dict[str, Callable[[Setting], Iterator[Case]]] = {
    "products": products,
    "arguments": arguments,
    "several sources": several_sources,
    "all pairs": every_pair,
}
"""The parts of the table."""


def directed(setting: Setting, scale: int) -> tuple[Any, int]:
    """Returns an R-MAT graph with 2^scale vertices on the device, and the scale; a small one in a quick run."""
    scale = 9 if setting.quick else scale
    return rmat(scale, dtype=np.float32, device=setting.device), scale


def matrix_of(rows: int, cols: int, seed: int = 1) -> np.ndarray:
    """Integers from 1 to 999 as float32, of which any sum here is exact."""
    return np.random.default_rng(seed).integers(1, 1000, (rows, cols)).astype(np.float32)


def sparse_of(n: int) -> CSR:
    """About every tenth of n² edges, weights from 1 to 999."""
    X = matrix_of(n, n)
    src, dst = np.nonzero(matrix_of(n, n, 2) < 100)
    return from_edges(src, dst, X[src, dst], shape=n)


def cusparse(A: Any, X: Any) -> Callable[[], Any]:
    """plus-times, which is what cuSPARSE has by CuPy."""
    from cupyx.scipy.sparse import csr_matrix

    M = csr_matrix((A.values, A.indices, A.indptr), shape=A.shape)
    return lambda: M @ X


def graphblas_columns(A: CSR, X: np.ndarray) -> Callable[[], Any]:
    """python-graphblas on the same arrays, made before."""
    import graphblas as gb

    configure_graphblas()
    M, Y = A.to_graphblas(), gb.Matrix.from_dense(X)

    def call() -> Any:
        made = M.mxm(Y, gb.semiring.min_plus).new()
        made.wait()
        return made

    return call


def close(got: Any, theirs: Any) -> bool:
    """An array beside python-graphblas's matrix or another library's array."""
    if hasattr(theirs, "to_dense"):
        return np.array_equal(got, theirs.to_dense(np.inf, dtype=got.dtype))
    return np.allclose(*(to_device(part, "cpu") for part in (got, theirs)), rtol=1e-5)


def as_graphblas(C: CSR, theirs: Any) -> bool:
    """A matrix beside python-graphblas's."""
    return all(np.array_equal(a, b) for a, b in zip(C.to_edges(), theirs.to_coo(sort=True), strict=True))


def anything(got: Any, theirs: Any) -> bool:
    """Accepts any answer, where the call beside it computes something else."""
    return True


BATCHES = Experiment(
    name="batches",
    title="Many vectors, many sources",
    source="limits of our own; triangles by a masked product: Azad, Buluç and Gilbert 2015",
    about=(
        "What products with dense matrices, products at a mask's places, arguments, searches from several sources and "
        "all pairs take, beside one after the other or other libraries, and what they may take at most."
    ),
    rows=rows,
    columns=COLUMNS,
    plot=no_plot,
    roads=True,
)
