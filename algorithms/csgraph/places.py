"""Where a call on a GPU's matrix runs: there, or on the host if it is predicted to be over sooner.

    host    so many ns a vertex and an edge, and the copy of the matrix if there is none yet
    GPU     what a call takes on a small graph; of several sources each again; of an order of discovery each level

The host's copy is kept with the matrix. Answers are always where the matrix is. The times are those of an H100 and of a
Xeon; they only have to tell a call of half a millisecond from one of a hundred.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, wraps
from typing import Any, TypeVar

import numpy as np

from formats import Matrix
from formats.arrays import is_array, move
from formats.matrix.facts import Fact
from formats.places import place_of
from semiring.verbs.registry import Unsuited

ON_HOST: Fact[Matrix] = Fact("its copy on the host")
LONG: Fact[bool] = Fact("a search had more levels than its order is worth on the GPU")

NONE = -9999
"""Of a vertex without a predecessor."""

COPY_NS = 0.2
"""Of a byte from a GPU to the host."""

SMALL = 1 << 20
"""Bytes below which nobody asks first whether they fit on the GPU."""

LEVEL_MS = 0.001
"""Of a level on a GPU, in an order of discovery."""

T = TypeVar("T")


@dataclass(frozen=True)
class Cost:
    """What a call takes: on a GPU, of a small graph and of a further source; on the host, of a vertex and an edge."""

    gpu_ms: float
    vertex_ns: float
    edge_ns: float
    more_ms: float = 0

    def on_host(self, A: Matrix, sources: int = 1) -> float:
        """The milliseconds that a call is predicted to take there."""
        copied = 0 if A.keeps(ON_HOST) else A.nbytes * COPY_NS
        return (sources * (self.vertex_ns * A.nrows + self.edge_ns * A.nnz) + copied) / 1e6


DISTANCES = Cost(0.7, 20, 1.5, 0.07)
LEVELS = Cost(0.75, 10, 1, 0.07)
TREES = Cost(1.7, 25, 2, 1)
ALL_PAIRS = Cost(1, 0, 0.4)
ORDER = Cost(0.5, 10, 3)
WEAK = Cost(0.45, 20, 2)
STRONG = Cost(2, 30, 2.5)
FOREST = Cost(2, 50, 4)


def sooner(A: Matrix, cost: Cost, sources: int = 1) -> Matrix:
    """A, or its copy on the host."""
    if A.place.on_host or cost.on_host(A, sources) >= cost.gpu_ms + (sources - 1) * cost.more_ms:
        return A
    return on_host(A)


def sooner_in_order(A: Any, source: int, both_ways: bool) -> tuple[Matrix, tuple[Any, Any] | None]:
    """(A, the order of discovery and the predecessors), or (A's copy on the host, None) where they are there sooner.

    A GPU gives a search up that has more levels than the host would take for all.
    """
    if A.place.on_host:
        return A, None
    there = ORDER.on_host(A) - ORDER.gpu_ms
    if there > 0 and not A.known(LONG) and 0 <= source < A.nrows:
        from algorithms.fused.cuda.queues import queued

        found = queued(A, source, both_ways, NONE, int(there / LEVEL_MS))
        if not isinstance(found, Unsuited):
            return A, found
        A.keep(LONG, lambda: True)
    return on_host(A), None


def on_host(A: Matrix) -> Matrix:
    """The matrix on the host, made once."""
    return A.keep(ON_HOST, lambda: A.to(device="cpu"))


def where(A: Matrix, answer: T) -> T:
    """An answer, or several, where A is."""
    if A.place.on_host:
        return answer
    if isinstance(answer, np.ndarray) and answer.nbytes < SMALL:
        with A.place.scope():
            return A.xp.asarray(answer)
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
    import cupy
    from cupyx.scipy import sparse

    if isinstance(answer, tuple):
        return tuple(map(sent, answer))
    if isinstance(answer, np.ndarray) and not isinstance(answer, np.ma.MaskedArray):
        return cupy.asarray(answer)
    if hasattr(answer, "tocsr") and answer.dtype.char in "?fdFD":
        return sparse.csr_matrix(answer.tocsr())
    return answer
