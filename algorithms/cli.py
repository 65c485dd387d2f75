"""The command line: `semiring sssp`, `info`, `convert` and `demo`.

Vertex ids are the file's own. Results go to stdout, errors to stderr in one sentence with exit code 2.
"""

from __future__ import annotations

import functools
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from enum import StrEnum
from importlib import resources
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from formats import CSR, Dense, DeviceUnavailable, Matrix, from_edges, read, write
from formats.arrays import to_device
from formats.io import keeps_labels
from formats.io.writing import replacing
from semiring import reduce, set_threads
from semiring.algebra import find_semiring

from .bellman_ford import SCHEDULES
from .da2cf_variants import VARIANTS
from .errors import NegativeCycle
from .parents import path
from .sssp import ALGORITHMS, find_algorithm
from .trace import check_trace_file, trace

TAB = "\t"

app = typer.Typer(
    help="Graph algorithms as sparse linear algebra over semirings.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


class Format(StrEnum):
    """Storage formats by name."""

    csr = "csr"
    csc = "csc"
    coo = "coo"
    ell = "ell"
    segmentedcoo = "segmentedcoo"
    dense = "dense"


class Backend(StrEnum):
    """Where to compute."""

    cpu = "cpu"
    cuda = "cuda"


@dataclass
class Stopwatch:
    """Seconds of each named step, in order."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Time a step, and say on a terminal that it is going on."""
        from rich.console import Console

        start = time.perf_counter()
        if sys.stderr.isatty() and name != "reading":  # reading has a bar of its own
            with Console(stderr=True).status(f"{name} …"):
                yield
        else:
            yield
        self.seconds[name] = time.perf_counter() - start


FileArgument = Annotated[Path, typer.Argument(help="A graph: .mtx, .gr, .txt, .el, .tsv, .csv, .npz, also .gz.")]
Undirected = Annotated[bool, typer.Option("--undirected", help="Let every edge count both ways.")]
Threads = Annotated[int | None, typer.Option(help="CPU threads; by default all cores of this process.", min=1)]


@app.command()
def sssp(
    file: FileArgument,
    source: Annotated[list[int], typer.Option(help="The vertex to start from, by its id in the file; may repeat.")],
    algorithm: Annotated[str, typer.Option(help=f"auto, {', '.join(ALGORITHMS)}.")] = "auto",
    semiring: Annotated[str, typer.Option(help="min_plus, or max_min, min_max, lor_land, …")] = "min_plus",
    format: Annotated[Format, typer.Option(help="Storage format to compute in.")] = Format.csr,
    backend: Annotated[Backend, typer.Option(help="Where to compute.")] = Backend.cpu,
    limit: Annotated[float | None, typer.Option(help="Look no farther than this distance.")] = None,
    target: Annotated[int | None, typer.Option(help="Stop when this vertex is settled.")] = None,
    schedule: Annotated[str | None, typer.Option(help=f"bellman-ford: {', '.join(SCHEDULES)}.")] = None,
    delta: Annotated[str | None, typer.Option(help="delta-stepping: a number, median, mean or max/degree.")] = None,
    split: Annotated[str | None, typer.Option(help="delta-stepping: before or while relaxing.")] = None,
    relax: Annotated[str | None, typer.Option(help="da2cf: push or pull.")] = None,
    passes: Annotated[int | None, typer.Option(help="da2cf: 1 or 2, of a minimum on a GPU.")] = None,
    variant: Annotated[str | None, typer.Option(help=f"da2cf: {', '.join(VARIANTS)}.")] = None,
    to: Annotated[int | None, typer.Option(help="Also print a best path to this vertex.")] = None,
    output: Annotated[Path | None, typer.Option(help="Write the distances: .npy (vertex order) or .tsv.")] = None,
    trace: Annotated[Path | None, typer.Option(help="Write what every round did: .jsonl or .csv.")] = None,
    undirected: Undirected = False,
    threads: Threads = None,
) -> None:
    """Best paths from a vertex, or several, to all others."""
    if output is not None:
        check_output(output)
    if trace is not None:
        check_trace_file(trace)
    own = {"schedule": schedule, "delta": as_delta(delta), "split": split, "relax": relax, "passes": passes}
    own["variant"] = variant
    task = Task(algorithm, semiring, source, to, target, limit, {k: v for k, v in own.items() if v is not None})
    task.check()
    if threads is not None:
        set_threads(threads)
    watch = Stopwatch()
    with watch.step("reading"):
        A, labels = read(file, directed=not undirected, return_labels=True)
    answer = solve(file.name, A, labels, task, format, backend, trace, watch)
    answer.show()
    if output is not None:
        save(output, answer)


@app.command()
def demo(
    format: Annotated[Format, typer.Option(help="Storage format to compute in.")] = Format.csr,
    backend: Annotated[Backend, typer.Option(help="Where to compute.")] = Backend.cpu,
) -> None:
    """Shortest paths in Rome's road network, which comes with the package."""
    watch = Stopwatch()
    with watch.step("reading"), resources.as_file(resources.files("algorithms.data") / "rome99.gr") as file:
        A, labels = read(file, return_labels=True)
    task = Task("auto", "min_plus", [1], to=1700)
    solve("Rome's roads (metres)", A, labels, task, format, backend, None, watch).show()


@dataclass(frozen=True)
class Task:
    """What to compute; vertices by the file's ids.

    own: the algorithm's own parameters.
    """

    algorithm: str
    semiring: str
    sources: list[int]
    to: int | None = None
    target: int | None = None
    limit: float | None = None
    own: dict[str, Any] = field(default_factory=dict)

    def check(self) -> None:
        """ValueError for names that there are not, before a file is read."""
        algorithm = find_algorithm(self.algorithm)
        for name in self.own:
            if name not in algorithm.parameters:
                raise ValueError(f"--{name} is not a parameter of {self.algorithm}")
        algorithm.check(**self.own)
        find_semiring(self.semiring)
        if not self.sources:
            raise ValueError("--source is missing")


@dataclass(frozen=True)
class Answer:
    """Distances, and the parents if a path was asked for: a row for each source."""

    title: str
    labels: np.ndarray
    task: Task
    d: np.ndarray
    parents: np.ndarray | None
    facts: dict[str, str]
    seconds: dict[str, float]

    @property
    def reached(self) -> np.ndarray:
        return self.d != find_semiring(self.task.semiring).zero(self.d.dtype)

    def show(self) -> None:
        """Print a summary, and the path that was asked for."""
        times = {name: f"{s:.3f} s" for name, s in self.seconds.items()}
        for row, source in enumerate(self.task.sources):
            last = row == len(self.task.sources) - 1
            found = self.d[row][self.reached[row]]
            rows = (self.facts if row == 0 else {}) | {"reached": f"{found.size:,}"}
            if found.size and found.dtype != bool:
                worst = found.max() if find_semiring(self.task.semiring).better(0, 1) else found.min()
                rows |= {"farthest": number(worst)}
                if find_semiring(self.task.semiring).mul.name == "plus":
                    rows |= {"sum of distances": number(total(found))}
            show_table(f"{self.title}, from vertex {source}", rows | (times if last else {}))
            if self.parents is not None and self.task.to is not None:
                end = vertex_of(self.labels, self.task.to, "--to")
                within = "" if self.task.limit is None and self.task.target is None else " within the bound"
                show_path(self.d[row], self.parents[row], end, self.labels, self.reached[row], within)


def solve(
    title: str,
    A: Matrix,
    labels: np.ndarray,
    task: Task,
    format: Format,
    backend: Backend,
    trace_file: Path | None,
    watch: Stopwatch,
) -> Answer:
    """Run an algorithm from a file's vertices."""
    if A.nrows != A.ncols:
        raise ValueError(f"{title} holds a {A.nrows} × {A.ncols} matrix, and a graph needs a square one")
    starts = [vertex_of(labels, source, "--source") for source in task.sources]
    if task.to is not None:
        vertex_of(labels, task.to, "--to")
    target = None if task.target is None else vertex_of(labels, task.target, "--target")
    arcs = A.nnz
    run = functools.partial(
        find_algorithm(task.algorithm), semiring=task.semiring, limit=task.limit, return_parents=True, **task.own
    )
    with watch.step("converting"):
        A = A.to(format.value, device=backend.value)
    with watch.step("preparing"):  # load or compile the kernels, on a graph of one vertex; they are kept on disk
        s = find_semiring(task.semiring)
        weight = s.unit(A.dtype) if A.dtype in s.dtypes else 1
        one = from_edges([0], [0], np.full(1, weight, A.dtype), shape=1).to(format.value, device=backend.value)
        run(one, 0)
    if task.to is None:
        run = functools.partial(run, return_parents=False)
    try:
        with trace() if trace_file is not None else nullcontext() as record, watch.step("solving"):
            answer = run(A, sources=starts, target=target)
    except NegativeCycle as error:
        raise NegativeCycle([int(labels[v]) for v in error.cycle]) from None
    if record is not None and trace_file is not None:
        record.save(trace_file)
    d, parents = answer if task.to is not None else (answer, None)
    facts = {
        "vertices": f"{A.nrows:,}",
        "arcs": f"{arcs:,}",
        "computed in": f"{type(A).__name__} on {A.device}",
    }
    return Answer(
        title,
        labels,
        task,
        to_device(d, "cpu"),
        None if parents is None else to_device(parents, "cpu"),
        facts,
        watch.seconds,
    )


def as_delta(text: str | None) -> Any:
    """A number, or the name of a rule, or None."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return text


@app.command()
def info(file: FileArgument, undirected: Undirected = False) -> None:
    """What a graph file holds."""
    watch = Stopwatch()
    with watch.step("reading"):
        A = read(file, directed=not undirected)
    rows: dict[str, str] = {"shape": f"{A.nrows:,} × {A.ncols:,}", "entries": f"{A.nnz:,}", "dtype": str(A.dtype)}
    by_row: Any = A.to(CSR)
    degrees = np.diff(by_row.indptr)
    if A.nnz:
        rows["values"] = f"{number(reduce(A, 'min'))} to {number(reduce(A, 'max'))}"
        rows["entries in a row"] = f"{degrees.min()} to {degrees.max():,}, on average {degrees.mean():.2f}"
    rows["rows without entries"] = f"{int((degrees == 0).sum()):,}"
    if A.nrows == A.ncols:
        rows["entries on the diagonal"] = f"{int(sum(rows_equal_cols(by_row))):,}"
        rows["symmetric"] = "yes" if by_row.equals(by_row.T) else "no"
    for fmt in Matrix.formats.values():
        try:
            size = A.nrows * A.ncols * A.dtype.itemsize if fmt is Dense else A.to(fmt).nbytes
            rows[f"bytes as {fmt.__name__}"] = f"{size:,}"
        except ValueError:
            rows[f"bytes as {fmt.__name__}"] = "refused: too much padding"
    show_table(str(file), rows | {name: f"{s:.3f} s" for name, s in watch.seconds.items()})


@app.command()
def convert(
    source: Annotated[Path, typer.Argument(metavar="IN", help="The file to read.")],
    target: Annotated[Path, typer.Argument(metavar="OUT", help="The file to write; its suffix says the format.")],
    undirected: Undirected = False,
) -> None:
    """Write a graph file in another file format."""
    A, labels = read(source, directed=not undirected, return_labels=True)
    write(target, A, labels=labels if A.nrows == A.ncols else None)
    typer.echo(f"{target}: {A.nrows:,} × {A.ncols:,}, {A.nnz:,} entries")
    if A.nrows == A.ncols and not keeps_labels(target):
        typer.echo("this file format has no vertex ids: the vertices are numbered in the order of theirs")


def check_output(output: Path) -> None:
    """ValueError unless `output` can be written, and in which format is clear."""
    if output.suffix not in (".npy", ".tsv"):
        raise ValueError(f"--output must end in .npy or .tsv, got {output.name!r}")
    if not output.absolute().parent.is_dir():
        raise ValueError(f"--output {output} lies in a folder that does not exist")


def vertex_of(labels: np.ndarray, label: int, option: str) -> int:
    """The vertex that the file calls `label`; ValueError if it has none of that name."""
    at = np.flatnonzero(labels == label)
    if at.size == 0:
        known = f"its {labels.size:,} ids lie in {labels.min()} to {labels.max()}" if labels.size else "it has none"
        raise ValueError(f"{option} {label} is not a vertex of the file: {known}")
    return int(at[0])


def rows_equal_cols(A: Any) -> np.ndarray:
    """For each entry: does it lie on the diagonal?"""
    rows, cols, _ = A.to_edges()
    return rows == cols


def number(value: Any) -> str:
    """An integer in full, a real in at most ten significant digits."""
    return f"{value:.10g}" if isinstance(value, float | np.floating) else f"{int(value)}"


def total(values: np.ndarray) -> Any:
    """The sum, of integers without overflow and of reals in float64."""
    if values.dtype.kind == "f":
        return values.sum(dtype=np.float64)
    high, low = values >> 16, values & 0xFFFF  # neither half's sum can leave int64
    return (int(high.sum(dtype=np.int64)) << 16) + int(low.sum(dtype=np.int64))


def show_table(title: str, rows: dict[str, str]) -> None:
    """Print names and values in two columns."""
    from rich.console import Console
    from rich.table import Table

    typer.echo(title)
    table = Table(show_header=False)
    table.add_column("")
    table.add_column("", justify="right")
    for name, value in rows.items():
        table.add_row(name, value)
    Console().print(table)


def show_path(
    d: np.ndarray, parent: np.ndarray, end: int, labels: np.ndarray, reached: np.ndarray, within: str = ""
) -> None:
    """Print the shortest path to a vertex, or that there is none."""
    if not reached[end]:
        typer.echo(f"{labels[end]} cannot be reached{within}")
        return
    steps = [str(labels[v]) for v in path(parent, end)]
    typer.echo(f"to {labels[end]}: length {number(d[end])}, {len(steps) - 1} arcs")
    typer.echo(" -> ".join(steps))


def save(output: Path, answer: Answer) -> None:
    """Write distances: .npy as they are, .tsv as id and a distance from each source, or that there is no path.

    That is `inf` for shortest paths; `none` in other semirings, where infinity may be a distance.
    """
    absent = "inf" if answer.task.semiring == "min_plus" else "none"
    with replacing(str(output)) as stream:
        if output.suffix == ".npy":
            np.save(stream, answer.d if len(answer.d) > 1 else answer.d[0])
            return
        for label, values, reached in zip(
            answer.labels.tolist(), answer.d.T.tolist(), answer.reached.T.tolist(), strict=True
        ):
            shown = (str(value) if there else absent for value, there in zip(values, reached, strict=True))
            stream.write(f"{label}\t{TAB.join(shown)}\n".encode())


def main() -> None:
    """Run the command line; an expected failure is one sentence on stderr and exit code 2."""
    try:
        app()
    except (ValueError, TypeError, OverflowError, NotImplementedError, OSError, DeviceUnavailable) as error:
        fail(f"{error.strerror}: {error.filename}" if isinstance(error, OSError) and error.strerror else str(error))
    except MemoryError as error:
        fail(f"out of memory: {error}")
    except KeyboardInterrupt:
        typer.echo("interrupted", err=True)
        sys.exit(130)


def fail(message: str) -> None:
    """End with exit code 2 and one sentence."""
    typer.echo(f"semiring: {' '.join(message.split())}", err=True)
    sys.exit(2)


if __name__ == "__main__":
    main()
