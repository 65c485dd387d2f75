"""Where a call on a GPU's matrix runs: there, or on the host if it is predicted to be over sooner.

    host    so many ns a vertex and an edge; the copies of the answer; and of the matrix if there is none yet
    GPU     what a call takes on a small graph; of several sources each again; what a first call has to find out

What is sooner on the host is a call with SciPy's copy of the matrix, which is kept. Answers are always where the matrix
is. The times are those of an H100 and of a Xeon; they only have to tell a call of a millisecond from one of a hundred.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, wraps
from typing import Any, TypeVar

import numpy as np

from formats import Matrix
from formats.arrays import cupy, is_array, move
from formats.matrix.facts import Fact
from formats.places import place_of
from semiring.verbs.registry import Declined

from .graphs import GRAPH, compressed_arrays, is_remembered, remembered

ON_HOST: Fact[Matrix] = Fact("its copy on the host")
LONG: Fact[bool] = Fact("a search had more levels than its order is worth on the GPU")

NONE = -9999
"""Of a vertex without a predecessor."""

COPY_NS = 0.2
"""Of a byte from a GPU to the host."""

COPIES_MS = 0.1
"""Of the copies of a small answer to a GPU."""

FIRST_MS = 2
"""Of what is found out about a matrix on a GPU at the first call."""

SMALL = 1 << 18
"""Bytes of an array that CUDA copies by itself."""

FEW_LEVELS = 64
"""That a GPU searches in any case."""

LEVEL_MS = 0.003
"""Of a level on a GPU, in an order of discovery: 1.6 µs of one vertex, 5 of the 600 of New York's roads."""

HOME = "SciPy's copy"

T = TypeVar("T")


@dataclass(frozen=True)
class Cost:
    """What a call takes: on a GPU, of a small graph and of a further source; on the host, of a vertex and an edge."""

    gpu_ms: float
    vertex_ns: float
    edge_ns: float
    more_ms: float = 0

    def host_ms(self, n: int, entries: int, sources: int = 1) -> float:
        """The milliseconds that a call is predicted to take on the host."""
        return sources * (self.vertex_ns * n + self.edge_ns * entries) / 1e6


DISTANCES = Cost(0.6, 60, 7, 0.07)
BOTH_WAYS = Cost(0.6, 60, 20, 0.07)
NEAREST = Cost(1.3, 60, 7)
LEVELS = Cost(0.7, 20, 3, 0.07)
TREES = Cost(1.8, 60, 10, 1.7)
ALL_PAIRS = Cost(1, 0, 0.4)
ORDER = Cost(0.25, 10, 2.5)
WEAK = Cost(0.33, 20, 2)
STRONG = Cost(1.3, 20, 3.5)
FOREST = Cost(3, 100, 20)


def at_home(csgraph: Any, cost: Cost, sources: int | None = 1) -> Any:
    """SciPy's or NumPy's copy of what is CuPy's, if a call with it is predicted to be over sooner; else None.

    sources: how many vertices are searched from; None: all.
    """
    if not on_gpu(csgraph) or csgraph.ndim != 2:
        return None
    arrays = (csgraph,) if is_array(csgraph) else compressed_arrays(csgraph)
    if arrays is None:
        return None
    n = csgraph.shape[0]
    sources = n if sources is None else sources
    at_home, away = COPIES_MS + cost.host_ms(n, arrays[-1].size, sources), cost.gpu_ms + (sources - 1) * cost.more_ms
    if not is_remembered(csgraph, HOME):
        at_home += sum(array.nbytes for array in arrays) * COPY_NS / 1e6
        away += 0 if is_remembered(csgraph, GRAPH) else FIRST_MS
    if at_home >= away:
        return None
    return csgraph.get() if is_array(csgraph) else remembered(csgraph, HOME, lambda S: S.get())


def sent_to(csgraph: Any, answer: Any) -> Any:
    """The host's answer on the GPU of a matrix or array."""
    with place_of(csgraph if is_array(csgraph) else csgraph.data).scope():
        return sent(answer)


def order_on(A: Any, source: int, both_ways: bool) -> tuple[Any, Any] | None:
    """The order of discovery and the predecessors by A's GPU; None of so many levels that the host is done sooner."""
    if A.place.on_host or A.known(LONG) or not 0 <= source < A.nrows:
        return None
    from algorithms.fused.cuda.bfs_order import queued

    copied = 0 if A.keeps(ON_HOST) else A.nbytes * COPY_NS / 1e6
    most = (ORDER.host_ms(A.nrows, A.nnz) + copied - ORDER.gpu_ms) / LEVEL_MS
    found = queued(A, source, both_ways, NONE, max(int(most), FEW_LEVELS))
    if isinstance(found, Declined):
        A.keep(LONG, lambda: True)
        return None
    return found


def on_host(A: Matrix) -> Matrix:
    """The matrix on the host, made once."""
    if A.place.on_host:
        return A
    return A.keep(ON_HOST, lambda: A.to(device="cpu"))


def where(A: Matrix, answer: T) -> T:
    """An answer, or several, where A is."""
    if A.place.on_host:
        return answer
    if isinstance(answer, tuple):
        return tuple(where(A, part) for part in answer)  # type: ignore[return-value]
    return move((answer,), A.place, "answer")[0]


@cache
def by_scipy(function: Callable[..., Any]) -> Callable[..., Any]:
    """SciPy's function, which takes CuPy's matrices and arrays too: on the host, and its answer is moved back."""

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        given = [*args, *kwargs.values()]
        places = [place_of(one if is_array(one) else one.data) for one in given if on_gpu(one)]
        if not places:
            return function(*args, **kwargs)
        found = function(*map(fetched, args), **{name: fetched(one) for name, one in kwargs.items()})
        with places[0].scope():
            return sent(found)

    return call


def on_gpu(one: Any) -> bool:
    """Is it an array or a sparse matrix of CuPy?"""
    return type(one).__module__.partition(".")[0] in ("cupy", "cupyx")


def fetched(one: Any) -> Any:
    return one.get() if on_gpu(one) else one


def sent(answer: Any) -> Any:
    """SciPy's answer on the GPU, as far as CuPy has such a type."""
    if isinstance(answer, tuple):
        return tuple(map(sent, answer))
    if isinstance(answer, np.ndarray) and not isinstance(answer, np.ma.MaskedArray):
        return as_soon(answer)
    if hasattr(answer, "tocsr") and answer.dtype.char in "?fdFD":
        from cupyx.scipy.sparse import csr_matrix

        S = answer.tocsr()
        return csr_matrix(tuple(map(as_soon, (S.data, S.indices, S.indptr))), shape=S.shape)
    return answer


def as_soon(array: np.ndarray) -> Any:
    """A copy on the GPU. CuPy's own first takes pinned memory, for which a small array waits three times as long."""
    if array.nbytes > SMALL:
        return cupy().asarray(array)
    made = cupy().empty(array.shape, array.dtype)
    made.set(np.ascontiguousarray(array))
    return made
