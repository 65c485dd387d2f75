"""Traces of an algorithm, round by round.

    with trace() as t:
        delta_stepping(A, 0)
    t.to_frame()                 # or t.rounds, t.plot(), t.save("rounds.jsonl")

Algorithms call `trace_round`, which does nothing unless a trace is on.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, astuple, dataclass, field, fields
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from formats import Matrix, SparseVector
from formats.arrays import finish, optional, to_device
from formats.display import MOST_LINES, shortened, table
from semiring.vectors import degrees, gather
from semiring.verbs.explanation import RECORDER, definitions_only

if TYPE_CHECKING:
    import matplotlib.axes
    import pandas

Direction = Literal["push", "pull"]


@dataclass(frozen=True)
class Round:
    """One round of an algorithm.

    run: the number of the call, from 0, and for several sources of the source within it.  iteration: within the run,
    from 1.  frontier: vertices that were relaxed from.  edges: of them (push), or of those that looked for them (pull).
    minimum: the best distance not yet settled, where the algorithm knows it and it is finite.  bucket: its number.
    phase: of the algorithm, where it has several.  seconds: since the round before, with everything on a GPU finished.
    crossed: bytes that these edges moved over the bus, of a matrix that is not resident as a whole.
    """

    algorithm: str
    run: int
    iteration: int
    frontier: int
    edges: int
    minimum: float | int | None
    bucket: int | None
    direction: Direction
    phase: str | None
    seconds: float
    crossed: int = 0


@dataclass
class _Run:
    """A run of an algorithm on A.  number: counted from 0.  rounds: so far."""

    algorithm: str
    A: Matrix
    number: int = 0
    rounds: int = 0


@dataclass(repr=False)
class Trace:
    """The rounds of everything that ran within a `with trace()` block."""

    rounds: list[Round] = field(default_factory=list)
    _runs: int = 0
    _run: _Run | None = None
    _since: float = 0.0

    @contextmanager
    def running(self, algorithm: str, A: Matrix) -> Iterator[None]:
        """Have the rounds within the block belong to a run of this algorithm, which counts from its first round on."""
        outer, self._run = self._run, _Run(algorithm, A)
        self._since = time.perf_counter()
        try:
            yield
        finally:
            self._run = outer

    def shares(self) -> dict[str, float]:
        """The share of the seconds that each phase took, of algorithms that have phases; the rest are left out."""
        phases = dict.fromkeys(row.phase for row in self.rounds if row.phase is not None)
        seconds = {name: sum(row.seconds for row in self.rounds if row.phase == name) for name in phases}
        return {name: taken / sum(seconds.values()) for name, taken in seconds.items()}

    def to_frame(self) -> pandas.DataFrame:
        """The rounds as a pandas frame, a row each."""
        return optional("pandas", "a frame").DataFrame(
            [asdict(row) for row in self.rounds], columns=[part.name for part in fields(Round)]
        )

    def plot(self) -> matplotlib.axes.Axes:
        """Frontier and edges of every round, by matplotlib; returns the axes."""
        _, axes = optional("matplotlib.pyplot", "a plot").subplots()
        at = range(1, len(self.rounds) + 1)
        axes.plot(at, [row.frontier for row in self.rounds], label="vertices in the frontier")
        axes.plot(at, [row.edges for row in self.rounds], label="edges relaxed")
        axes.set(xlabel="round", yscale="symlog", title=", ".join(dict.fromkeys(row.algorithm for row in self.rounds)))
        axes.legend()
        return axes

    def __str__(self) -> str:
        lines = [f"trace of {len(self.rounds):,} rounds"]
        for row in self.rounds:
            known = [f"{row.frontier:,} vertices", f"{row.edges:,} edges", row.direction, row.phase or ""]
            lines.append(f"  {row.algorithm} {row.run}, round {row.iteration}: {', '.join(filter(None, known))}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return shortened(str(self))

    def _repr_html_(self) -> str:
        names = [part.name for part in fields(Round)]
        rest = max(len(self.rounds) - MOST_LINES, 0)
        rows = [
            ["" if value is None else _cell(value) for value in astuple(row)] for row in islice(self.rounds, MOST_LINES)
        ]
        more = f"… {rest:,} more rounds: to_frame() has all" if rest else ""
        return table(f"trace of {len(self.rounds):,} rounds", rows, names, more)

    def save(self, path: Path | str) -> None:
        """Write the rounds to a file: .jsonl, an object a line, or .csv. ValueError for another suffix."""
        import csv
        import json

        check_trace_file(path)
        with Path(path).open("w", encoding="utf-8", newline="") as stream:
            if Path(path).suffix == ".jsonl":
                stream.writelines(json.dumps(asdict(row)) + "\n" for row in self.rounds)
            else:
                writer = csv.DictWriter(stream, [part.name for part in fields(Round)])
                writer.writeheader()
                writer.writerows(asdict(row) for row in self.rounds)


def check_trace_file(path: Path | str) -> None:
    """ValueError unless a trace can be saved under this name."""
    if Path(path).suffix not in (".jsonl", ".csv"):
        raise ValueError(f"a trace is saved as .jsonl or .csv, got {Path(path).name!r}")
    if not Path(path).absolute().parent.is_dir():
        raise ValueError(f"the trace {path} lies in a folder that does not exist")


def _cell(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)


def _finite(value: Any) -> Any:
    """A scalar as Python's number, which every file format has; None for none and for infinity."""
    number = None if value is None else value.item()
    return None if isinstance(number, float) and math.isinf(number) else number


@contextmanager
def trace() -> Iterator[Trace]:
    """Record every round of the algorithms that run within the block, in this thread, each as its definition.

    Returns:
        A context manager for a `Trace`, whose `rounds` grow as algorithms run.

    Example:
        >>> from algorithms import bfs
        >>> from formats import from_edges
        >>> with trace() as t:
        ...     level = bfs(from_edges([0, 0, 1], [1, 2, 3]), 0)
        >>> [(round.frontier, round.edges) for round in t.rounds]
        [(1, 2), (2, 1), (1, 0)]
    """
    record = Trace()
    token = RECORDER.set(record)
    try:
        with definitions_only("a trace shows the definition's rounds"):
            yield record
    finally:
        RECORDER.reset(token)


def trace_round(
    frontier: SparseVector | Callable[[], SparseVector],
    *,
    minimum: Any = None,
    bucket: int | None = None,
    direction: Direction = "push",
    resolved: Any = None,
    phase: str | None = None,
    edges: int | None = None,
    matrix: Matrix | None = None,
) -> None:
    """A round of the running algorithm is over; see `Round`.

    frontier: or a function that gives it, where it takes work.  resolved: who did not look for it in a pull.
    edges: that were looked at, where degrees do not tell.  matrix: whose edges they are, if not the algorithm's.
    """
    record = RECORDER.get()
    if record is None or record._run is None:
        return
    f = frontier() if callable(frontier) else frontier
    run = record._run
    A = run.A if matrix is None else matrix
    for device in {A.device, f.device}:
        finish(device)
    now = time.perf_counter()
    if not run.rounds:
        run.number, record._runs = record._runs, record._runs + 1
    run.rounds += 1
    if edges is None and direction == "push":
        edges = int(gather(degrees(A), to_device(f.indices, A.place)).sum())
    elif edges is None:
        edges = int(gather(degrees(A.T), ~to_device(resolved, A.place)).sum())
    row = Round(
        run.algorithm,
        run.number,
        run.rounds,
        f.nnz,
        edges,
        _finite(minimum),
        bucket,
        direction,
        phase,
        now - record._since,
        (A.nbytes - A.resident) * edges // max(A.nnz, 1),
    )
    record.rounds.append(row)
    record._since = time.perf_counter()  # what the trace itself took does not count
