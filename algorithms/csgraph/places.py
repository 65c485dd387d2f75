"""Where a call on CuPy's matrix runs: on its GPU, or on the host if the graph is small.

A call on a small graph takes a GPU the same time whatever the graph's size, and the host less. So it goes to SciPy's
copy of the matrix, which is kept. Answers are always where the matrix is.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from typing import Any, TypeVar

import numpy as np

from formats import Matrix
from formats.arrays import cupy, is_array, move
from formats.matrix.facts import Fact
from formats.places import place_of
from semiring.verbs.registry import Declined

from .graphs import NONE, compressed_arrays, remembered

ON_HOST: Fact[Matrix] = Fact("its copy on the host")
LONG: Fact[bool] = Fact("a search had more levels than its order is worth on the GPU")

PINNED = 1 << 18
"""Bytes of an array from which on CuPy's copies through pinned memory are faster."""

VERTEX = 6
"""Entries that take the host as long as a vertex."""

ONE_KERNEL, SEVERAL_KERNELS = 1 << 16, 150_000
"""Sizes, in entries, up to which the host is faster: than one kernel on a GPU, and than several."""

ALL_PAIRS = 1 << 21
"""The same of distances between all vertices, for the size times the number of vertices."""

MIN_LEVELS = 64
"""Levels that a GPU searches in any case."""

SIZE_PER_LEVEL = 1_600
"""The size for which an order of discovery may have one more level on a GPU, which takes 2 to 5 µs."""

HOME = "SciPy's copy"

T = TypeVar("T")


def size_of(n: int, entries: int) -> int:
    """Returns the size of a graph in entries, by the time that the host takes."""
    return VERTEX * n + entries


def at_home(csgraph: Any, most: int, searches: int | None = 1) -> Any:
    """Returns SciPy's or NumPy's copy of a small matrix or array of CuPy's; None of others.

    most: the largest size that is small, of all searches together.  searches: their number; None: one a vertex.
    """
    if not on_gpu(csgraph) or csgraph.ndim != 2:
        return None
    arrays, n = (csgraph,) if is_array(csgraph) else compressed_arrays(csgraph), csgraph.shape[0]
    if arrays is None or size_of(n, arrays[-1].size) * (n if searches is None else searches) > most:
        return None
    return csgraph.get() if is_array(csgraph) else remembered(csgraph, HOME, lambda S: S.get())


def sent_to(csgraph: Any, answer: Any) -> Any:
    """Copies the host's answer to the GPU of a matrix or array."""
    with place_of(csgraph if is_array(csgraph) else csgraph.data).scope():
        return sent(answer)


def order_on(A: Any, source: int, both_ways: bool) -> tuple[Any, Any] | None:
    """Returns the order of discovery and the predecessors by A's GPU; None if it has too many levels for one."""
    if A.place.on_host or A.known(LONG) or not 0 <= source < A.nrows:
        return None
    from algorithms.fused.cuda.bfs_order import queued

    most = max(size_of(A.nrows, A.nnz) // SIZE_PER_LEVEL, MIN_LEVELS)
    found = queued(A, source, both_ways, NONE, most)
    if isinstance(found, Declined):
        A.keep(LONG, lambda: True)
        return None
    return found


def on_host(A: Matrix) -> Matrix:
    """Returns the matrix on the host, where it is copied once."""
    if A.place.on_host:
        return A
    return A.keep(ON_HOST, lambda: A.to(device="cpu"))


def where(A: Matrix, answer: T) -> T:
    """Moves an answer, or several, to A's place."""
    if A.place.on_host:
        return answer
    if isinstance(answer, tuple):
        return tuple(where(A, part) for part in answer)  # type: ignore[return-value]
    return move((answer,), A.place, "answer")[0]


@cache
def by_scipy(function: Callable[..., Any]) -> Callable[..., Any]:
    """Lets SciPy's function take CuPy's matrices and arrays: it runs on the host, and its answer is moved back."""

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
    return type(one).__module__.partition(".")[0] in ("cupy", "cupyx")


def fetched(one: Any) -> Any:
    """Returns the host's copy of CuPy's arrays and matrices, and all else as it is."""
    return one.get() if on_gpu(one) else one


def sent(answer: Any) -> Any:
    """Copies SciPy's answer to the GPU, as far as CuPy has such a type."""
    if isinstance(answer, tuple):
        return tuple(map(sent, answer))
    if isinstance(answer, np.ndarray) and not isinstance(answer, np.ma.MaskedArray):
        return copied(answer)
    if hasattr(answer, "tocsr") and answer.dtype.char in "?fdFD":
        from cupyx.scipy.sparse import csr_matrix

        S = answer.tocsr()
        return csr_matrix(tuple(map(copied, (S.data, S.indices, S.indptr))), shape=S.shape)
    return answer


def copied(array: np.ndarray) -> Any:
    """Copies to the GPU. A small array does not take CuPy's way, which takes three times as long by pinned memory."""
    if array.nbytes > PINNED:
        return cupy().asarray(array)
    made = cupy().empty(array.shape, array.dtype)
    made.set(np.ascontiguousarray(array))
    return made
