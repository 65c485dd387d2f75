"""How many threads the CPU backend uses, and how work is cut into pieces for them."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from formats import system
from formats.hooks import CORES, SHARE, THREADS

from ..kernels import interrupts
from ..kernels.interrupts import Call
from .pool import Pool, Task

MIN_ENTRIES_FOR_THREADS = 1 << 15
"""Work of fewer entries than this is not worth handing to another thread."""

PIECES_PER_THREAD = 4
"""So that a thread which is held up leaves its share to the others."""

_count = system.core_count()
_pool: Pool | None = None
_asked = False
BELL = np.zeros(1, np.int64)
"""How often threads of the pool were needed, at which helpers leave whom nobody leads (`crew`)."""

_forks = 0
"""How many forks lie between the first process and this one. A pool's threads are those of the process it is of."""


@THREADS.answered_by
def get_threads() -> int:
    """Threads that calls on the CPU use; at first, as many as this process may keep cores busy.

    Its affinity says how many, and so do the quotas of Linux's control groups, such as a container's.

    Returns:
        Their number.

    Example:
        >>> get_threads() >= 1
        True
    """
    return _count


def set_threads(count: int) -> None:
    """Use so many threads for calls on the CPU, in SuiteSparse:GraphBLAS and in compiled kernels.

    Args:
        count: at least 1.

    Raises:
        ValueError: the number is not positive.

    Example:
        >>> before = get_threads()
        >>> set_threads(1)
        >>> get_threads()
        1
        >>> set_threads(before)
    """
    global _count, _pool, _asked
    if not isinstance(count, int | np.integer) or count < 1:
        raise ValueError(f"the number of threads must be a positive integer, got {count!r}")
    _count, _pool, _asked = int(count), None, True
    if sys.modules.get("suitesparse_graphblas"):  # without which python-graphblas starts nothing
        configure_graphblas()


@CORES.answered_by
def share_cores(own: int) -> None:
    """Use as many threads as cores that other processes leave to this one, if no number has been set."""
    if not _asked:
        set_threads(max(1, min(own, _count)))


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Use so many threads within a `with` block; those outside stay as they are, to be used again.

    Args:
        count: at least 1.

    Returns:
        A context manager.

    Raises:
        ValueError: the number is not positive.

    Example:
        >>> with threads(1):
        ...     get_threads()
        1
    """
    global _pool
    before, pool, forks = get_threads(), _pool, _forks
    set_threads(count)
    try:
        yield
    finally:
        set_threads(before)
        _pool = pool if forks == _forks else None


def configure_graphblas() -> None:
    """Tell SuiteSparse:GraphBLAS the number of threads: 1 where OpenMP has those of a parent."""
    import graphblas

    graphblas.ss.config["nthreads"] = 1 if graphblas_forked else _count


graphblas_forked = False
"""True if a process that this one is forked from had started SuiteSparse:GraphBLAS."""


def _begin_anew() -> None:
    """In a child that was forked: it has none of its parent's threads."""
    global _pool, _forks, graphblas_forked
    _pool, _forks = None, _forks + 1
    if sys.modules.get("suitesparse_graphblas"):
        graphblas_forked = True
        configure_graphblas()


system.in_a_forked_child(_begin_anew)


def run(work: Callable[..., Any], pieces: list[tuple[int, int]]) -> None:
    """Call work(start, stop) for every piece, side by side; an exception in one is raised here.

    Work that calls `run` itself does its pieces one after the other: threads that wait would keep others from working.
    """
    if len(pieces) <= 1 or _count == 1 or is_within():
        for piece in pieces:
            work(*piece)
        return
    ring()
    with together() as begin:
        for done in [begin(work, *piece) for piece in pieces]:
            done.result()


@SHARE.answered_by
def share(work: Callable[[int], object], count: int) -> None:
    """Call work(k) for every k < count, side by side; the calling thread takes its share, and waits for no idle one.

    So short work is never slower than by one thread, however late the others wake; an exception is raised here.
    """
    left, lock = iter(range(count)), threading.Lock()

    def take() -> None:
        while True:
            with lock:
                k = next(left, count)
            if k == count:
                return
            work(k)

    if count <= 1 or _count == 1 or is_within():
        take()
        return
    ring()
    with together() as begin:
        helpers = [begin(take) for _ in range(min(_count, count) - 1)]
        try:
            take()
        finally:
            left = iter(())
        for helper in helpers:
            if not helper.cancel():
                helper.result()


def ring() -> None:
    """Have helpers leave that wait for the next crew."""
    BELL[0] += 1


@contextmanager
def together() -> Iterator[Callable[..., Task]]:
    """Yields the function that hands work to the pool. After an exception in the block, or Ctrl-C, all of it ends."""
    own = getattr(interrupts.here, "call", None)
    call, begun = own or Call(), list[Task]()

    def begin(work: Callable[..., Any], *parts: Any) -> Task:
        def for_call() -> None:
            interrupts.here.call = call
            work(*parts)

        begun.append(_threads().submit(for_call))
        return begun[-1]

    try:
        yield begin
    except BaseException:
        running = [each for each in begun if not each.cancel()]
        if own is None:
            interrupts.stop(call, running)
        for each in running:
            each.wait()
        raise


def _threads() -> Pool:
    """The pool, made at the first call."""
    global _pool
    if _pool is None:
        _pool = Pool(_count)
    return _pool


def is_within() -> bool:
    """True if the calling thread is one of the pool's."""
    return getattr(interrupts.here, "work", False)


def merged_pieces(pieces: list[tuple[int, int]], most: int) -> list[tuple[int, int]]:
    """The same work in at most `most` pieces, each of some that follow each other."""
    each = max(1, -(-len(pieces) // most))
    return [(pieces[k][0], pieces[min(k + each, len(pieces)) - 1][1]) for k in range(0, len(pieces), each)]


def cut(total: int, size: int, entries: int) -> list[tuple[int, int]]:
    """[0, total) in pieces of at most `size`; one piece where there are few `entries` in all."""
    if entries < MIN_ENTRIES_FOR_THREADS or total == 0:
        return [(0, total)]
    return [(start, min(start + size, total)) for start in range(0, total, size)]


def cut_evenly(starts: np.ndarray, pieces_per_thread: int = PIECES_PER_THREAD) -> list[tuple[int, int]]:
    """The rows of an `indptr` (or segments of `starts`) in pieces for the threads, of about equally many entries."""
    nrows, entries = starts.size - 1, int(starts[-1])
    if entries < MIN_ENTRIES_FOR_THREADS or _count == 1:
        return [(0, nrows)]
    ends = np.searchsorted(starts, np.linspace(0, entries, _count * pieces_per_thread + 1)[1:-1])
    edges = np.unique(np.concatenate(([0], ends, [nrows])))
    return list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))


def cut_at_segments(outer: np.ndarray, pieces_per_thread: int) -> list[tuple[int, int]]:
    """The entries of a sorted list in pieces for the threads, none of which cuts a segment."""
    if outer.size < MIN_ENTRIES_FOR_THREADS or _count == 1:
        return [(0, outer.size)]
    pieces = _count * pieces_per_thread
    middle = np.arange(1, pieces) * (outer.size // pieces)
    edges = np.unique(np.concatenate(([0], np.searchsorted(outer, outer[middle]), [outer.size])))
    return list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))
