"""Checkpoints save the distances of a search on a matrix in parts from time to time, so that it can go on.

GPUs come back to the host for it after some steps; a later search may go on from it on GPUs or on the CPU.

What d holds at any time is an upper bound that some walk has, in ⊕'s order, and an idempotent fixpoint may start from
any such d: so d is all that is saved, and as many processes as there then are go on from it, to the same bits. A file
appears only when it is complete.

    with checkpoints("folder", every=60, resume=True):
        d = sssp(P, 0)
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

import numpy as np

from formats import Matrix
from formats.arrays import contiguous
from formats.io.damage import refusing_damage
from formats.io.writing import replacing
from formats.parts.partitioned import Partitioned, there
from semiring import Semiring

NAME = "distances.npz"


@dataclass(frozen=True)
class Wanted:
    """Says where to save, how often, and whether to go on from what is there."""

    folder: str
    every: float
    resume: bool


_wanted: ContextVar[Wanted | None] = ContextVar("checkpoints", default=None)


@contextmanager
def checkpoints(folder: str | os.PathLike[str], *, every: float = 60, resume: bool = False) -> Iterator[None]:
    """Saves the distances of searches on matrices in parts, within the block, from time to time.

    Args:
        folder: where; it is made. It must be the same for all processes that may be rank 0.
        every: so many seconds.
        resume: go on from what a search of the same graph, source and semiring has saved there.

    Returns:
        A context. A search that comes to its end takes away what it has saved.

    Raises:
        ValueError: what is saved is of another search, or `every` is negative.

    Example:
        >>> import tempfile
        >>> from algorithms import sssp
        >>> from formats import from_edges, partition
        >>> P = partition(from_edges([0, 1], [1, 2], [5, 9]), parts=2)
        >>> with tempfile.TemporaryDirectory() as folder, checkpoints(folder, every=0):
        ...     sssp(P, 0).tolist()
        [0, 5, 14]
    """
    if not every >= 0:
        raise ValueError(f"every must be seconds, got {every!r}")
    token = _wanted.set(Wanted(os.fspath(folder), every, resume))
    try:
        yield
    finally:
        _wanted.reset(token)


def saves() -> bool:
    """True if somebody has asked for checkpoints."""
    return _wanted.get() is not None


class Saving:
    """Saves for one search. Rank 0 alone writes; its clock decides."""

    def __init__(self, A: Partitioned, source: int, s: Semiring, d: np.ndarray) -> None:
        self.wanted, self.group, self.last = _wanted.get(), A.group, time.monotonic()
        if self.wanted is None:
            return
        self.path = os.path.join(self.wanted.folder, NAME)
        self.about = repr((source, s.name, A.shape, A.nnz, str(A.dtype), *_totals(A)))
        saved = None
        with self.group.guarded("checkpoint"):
            if self.group.rank == 0:
                os.makedirs(self.wanted.folder, exist_ok=True)
                saved = self.read() if self.wanted.resume else None
            found = np.empty(0, d.dtype) if saved is None else saved
        every = self.group.everyone("checkpoint", found)
        if every[0].size:
            d[:] = s.add(d, every[0])

    def read(self) -> np.ndarray | None:
        """Reads the saved distances, or None; raises ValueError if they are of another search."""
        if not os.path.exists(self.path):
            return None
        with refusing_damage(self.path, "this is no checkpoint"), open(self.path, "rb") as stream:
            file = np.load(stream, allow_pickle=False)
            if str(file["about"]) != self.about:
                raise ValueError(f"{self.path} is of another search: {file['about']}, not {self.about}")
            distances: np.ndarray = file["d"]
            return distances

    def due(self) -> bool:
        """True if it is time to save."""
        if self.wanted is None or self.group.rank != 0:
            return False
        return time.monotonic() - self.last >= self.wanted.every

    def look(self, d: np.ndarray) -> None:
        """Saves the distances."""
        if self.group.rank != 0:
            return
        with self.group.guarded("checkpoint"), replacing(self.path) as stream:
            np.savez(stream, d=d, about=np.array(self.about))
        self.last = time.monotonic()

    def forget(self) -> None:
        """Removes what was saved, for the search has ended."""
        if self.wanted is not None and self.group.rank == 0 and os.path.exists(self.path):
            os.remove(self.path)


def saving(A: Partitioned, source: int, s: Semiring, d: np.ndarray) -> Saving:
    """Returns what saves for a search, if somebody asked for it; d takes what was saved before."""
    return Saving(A, source, s, d)


def _totals(A: Partitioned) -> list[str]:
    """Returns what tells one graph from another: a sum over all entries, the same on any parts."""
    with A.group.guarded("checkpoint"):
        total = sum(
            there(part.place, _total, part, start, A.ncols) for part, (start, _) in zip(A.parts, A.rows, strict=True)
        )
    return [str(sum(A.of_each(total)) % 2**64)]


def _total(part: Matrix, start: int, ncols: int) -> int:
    """Returns the sum over a strip's entries, of which the first is in row `start` of all."""
    u, v, w = part.to_edges()
    key = (u.astype(np.uint64) + np.uint64(start)) * np.uint64(ncols) + v.astype(np.uint64)
    bits = contiguous(w.astype(np.float64)).view(np.uint64)
    mixed = (key + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15) ^ bits * np.uint64(0xBF58476D1CE4E5B9)
    return int(mixed.sum())
