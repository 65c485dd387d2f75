"""Several sources in one pass: what a backend may run in place of an algorithm's equations for many sources at once.

An implementation is registered as one for a single source is, and gives the same bits:

    @bfs.batch.implement(CSR, "cpu", most=64, needs=lambda A, k: 40 * A.nrows)
    def _batch(A, sources, rows, outside, how, deepest, return_parents): ...

It is called with their arguments, but for the source: it gets a list of sources, and the arrays of the answer, a
row for each, which it fills. It may answer `Declined`: then these sources are solved one by one.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from formats import Matrix
from formats.progress import Bar

from ..kernels.interrupts import MIN_INTERRUPTIBLE_NNZ, interruptible
from .explanation import AS_WRITTEN, details, note_choice, running_as
from .registry import Cells, Declined, Implementation, enter

STREAMED = "its files are read row by row in their order"
"""The reason for which a streamed matrix is not run as a whole."""

Rows = tuple[Any, ...]
"""The arrays of an answer, (k, n) each; None for what nobody has asked for."""

TOGETHER = 16
"""Sources for which one pass over the entries serves at least, in counting whether it may be long."""


@dataclass(frozen=True)
class Cell:
    """An implementation.

    most: sources that it takes at once.  needs: (A, k) -> bytes beside the answer.  for_parents: the same, for parents
    alone.
    """

    run: Implementation
    most: int
    needs: Callable[[Any, int], int]
    for_parents: Callable[[Any, int], int] = lambda A, k: 0


class Block(NamedTuple):
    """Sources, their rows, and what the implementation answered.

    answer: `Declined` where the rows are not filled; there is one source then.
    """

    sources: list[int]
    rows: Rows
    answer: Any


class Batch:
    """The implementations of an algorithm's equations for several sources, by (format, backend).

    algorithm: the `Fusible`.
    """

    def __init__(self, algorithm: Any) -> None:
        self.algorithm = algorithm
        self.cells = Cells(algorithm.cells.package)

    def implement(
        self,
        *cells: type | str,
        most: int,
        needs: Callable[[Any, int], int],
        for_parents: Callable[[Any, int], int] = lambda A, k: 0,
    ) -> Callable[[Implementation], Implementation]:
        """Register the decorated function (A, sources, rows, …) for formats and, after them, backends.

        most: sources that it takes at once.  needs: (A, k) -> bytes that it takes beside the rows of k sources.
        for_parents: (A, k) -> bytes that rows of parents take beside that.
        """

        def register(run: Implementation) -> Implementation:
            enter(self.cells, cells, Cell(run, most, needs, for_parents), f"{self.algorithm.name}'s batch", run)
            return run

        return register

    def blocks(self, A: Matrix, sources: list[int], rows: Rows, *args: Any, **kwargs: Any) -> Iterator[Block]:
        """Blocks of sources as they are done, all in order; on a terminal a bar shows how many.

        Ctrl-C ends the wait for a block. Where memory is short, blocks are smaller.
        """
        done = 0
        with Bar(f"{self.algorithm.name} from {len(sources):,} sources", len(sources), lambda: done) as bar:
            for block in self._blocks(A, sources, rows, args, kwargs):
                yield block
                done += len(block.sources)
                bar.update()

    def _blocks(self, A: Matrix, sources: list[int], rows: Rows, args: Any, kwargs: Any) -> Iterator[Block]:
        cell, B, why = self._find(A, len(sources))
        size = 1 if cell is None else self._size(B, cell, len(sources), rows)
        if cell is not None and size == 1:
            why = f"there is no memory for two at once, which take {cell.needs(B, 2):,} bytes"
            cell = None
        for start in range(0, len(sources), size):
            part = slice(start, start + size)
            few, own = sources[part], cut(rows, part)
            answer: Any = Declined(why) if cell is None else self._run(cell, B, few, own, args, kwargs)
            if not isinstance(answer, Declined):
                yield Block(few, own, answer)
                continue
            if answer.why:
                note_choice(f"{self.algorithm.name} takes its sources one by one: {answer.why}")
            for i, source in enumerate(few):
                yield Block([source], cut(own, slice(i, i + 1)), answer)

    def _find(self, A: Matrix, count: int) -> tuple[Cell | None, Matrix, str]:
        """Finds (the implementation, `A` as it takes it, ""), or (None, `A`, why there is none)."""
        if count < 2 or not self.cells.load(A.place.backend):
            return None, A, ""
        if why := AS_WRITTEN.get() or (STREAMED if A.streams else ""):
            return None, A, why
        B = self.algorithm._rows_of(A)
        cell = self.cells.get((type(B), B.place.backend))
        return cell, B, "" if cell else f"nothing takes several for {type(B).__name__} on {B.device}"

    def _size(self, A: Matrix, cell: Cell, count: int, rows: Rows) -> int:
        """How many sources there is memory for at once; on the host, what the rows take is not theirs yet."""
        size, parents = min(cell.most, count), len(rows) > 1 and rows[1] is not None
        answer = sum(row.nbytes for row in rows if row is not None) if A.place.on_host else 0

        def needs() -> int:
            return answer + cell.needs(A, size) + (cell.for_parents(A, size) if parents else 0)

        if A.place.questions(needs()) and (left := A.place.available_bytes()) is not None:
            while size > 1 and needs() > left:
                size //= 2
        return size

    def _run(self, cell: Cell, A: Matrix, sources: list[int], rows: Rows, args: Any, kwargs: Any) -> Any:
        with running_as(self.algorithm.name, A) as run:
            relied = self.algorithm.relies_on(A, sources, *args, **kwargs)
            may_be_long = A.place.on_host and (bool(relied) or A.nnz * len(sources) >= TOGETHER * MIN_INTERRUPTIBLE_NNZ)
            answer = interruptible(functools.partial(cell.run, A, sources, rows, *args, **kwargs), may_be_long)
            if not isinstance(answer, Declined):
                run.implementation, run.why = "fused", f"{len(sources)} sources in one pass"
                if relied:
                    details(laws=relied)
            return answer


def cut(rows: Rows, part: slice) -> Rows:
    """The same rows of each array."""
    return tuple(None if row is None else row[part] for row in rows)
