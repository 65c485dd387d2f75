"""Commands for algorithms with an answer for each vertex, or each pair: ranks, centralities, triangles, closures.

A command is called as the function in `algorithms`, and its options are those of the function's parameters that
`OPTIONS` explains, with the function's own defaults.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import typer

import algorithms
from formats.arrays import to_device
from semiring.algebra.semirings import find_semiring

from .columns import Answer, Column, Pairs, entries
from .graph import Graph, check_undirected, load, sample
from .options import Computing, Printing, Reading

SAMPLE = [(0, 1), (1, 0), (1, 2), (2, 1), (2, 0), (0, 2), (2, 3), (3, 2)]
"""A triangle and an edge, both ways, to compile with."""

OPTIONS: dict[str, Any] = {
    "source": Annotated[str, typer.Option(help="The vertex to start from, by its name in the file.")],
    "sources": Annotated[
        list[str] | None, typer.Option("--source", help="Look from this vertex, not from all; may repeat.")
    ],
    "vertices": Annotated[
        list[str] | None, typer.Option("--vertex", help="Answer for this vertex, not for all; may repeat.")
    ],
    "semiring": Annotated[str, typer.Option(help="min_plus, or max_plus, max_min, …")],
    "reflexive": Annotated[bool, typer.Option("--reflexive", help="Let every vertex lead to itself.")],
    "weighted": Annotated[bool, typer.Option(help="Take the weights of edges; without them all edges count alike.")],
    "symmetrize": Annotated[bool, typer.Option("--symmetrize", help="Let edges of a directed graph count both ways.")],
    "both_ways": Annotated[bool, typer.Option("--both-ways", help="Let edges count both ways.")],
    "normalized": Annotated[bool, typer.Option(help="Divide by the number of pairs of other vertices.")],
    "endpoints": Annotated[bool, typer.Option("--endpoints", help="Let a path count for its ends, too.")],
    "wf_improved": Annotated[bool, typer.Option(help="Multiply by the share of the graph that leads to the vertex.")],
    "alpha": Annotated[float, typer.Option(help="How often the surfer follows a link, instead of jumping.")],
    "tol": Annotated[float, typer.Option(help="End when a round changes less than this.")],
    "max_iter": Annotated[int, typer.Option(help="Rounds after which it ends.", min=0)],
    "dtype": Annotated[str, typer.Option(help="Of the numbers: int64, or float64, which rounds.")],
}
"""The parameters of algorithms that are options of their commands."""

BOUNDS = ("tol", "max_iter")
"""Options that may end a computation early, which do not matter to compiling."""

OF_VERTICES = ("source", "sources", "vertices")
"""Options whose values are vertices, by their names in the file."""


@dataclass(frozen=True)
class Measure:
    """An algorithm, and how its answer is printed and written.

    columns: what the answer says of each vertex, or of the whole graph; none where it says something of pairs of
    vertices.  arrays: the columns' values, from the answer and the number of vertices.
    """

    function: Callable[..., Any]
    columns: tuple[Column, ...] = ()
    arrays: Callable[[Any, int], tuple[Any, ...]] = lambda answer, n: answer if isinstance(answer, tuple) else (answer,)

    def answer(self, graph: Graph, found: Any, semiring: str, asked: list[int] | None) -> Answer | Pairs:
        """The answer with the graph's ids.  asked: the vertices that it is about, if not about all."""
        zero = find_semiring(semiring).zero
        if not self.columns:
            return Pairs(graph, *entries(found, zero))
        arrays = [x if np.ndim(x) == 0 else to_device(x, "cpu") for x in self.arrays(found, len(graph.labels))]
        columns = [
            (c.of_semiring(zero(x.dtype)) if np.ndim(x) else c, x) for c, x in zip(self.columns, arrays, strict=True)
        ]
        return Answer(graph, graph.labels if asked is None else graph.labels[asked], columns)


def by_place(answer: tuple[Any, Any], n: int) -> tuple[np.ndarray, Any]:
    """Returns the place of each vertex in an order, -1 for none, and who found it."""
    order, found_by = answer
    place = np.full(n, -1)
    place[to_device(order, "cpu")] = np.arange(len(order))
    return place, found_by


def distance_last(answer: tuple[Any, Any], n: int) -> tuple[Any, Any]:
    """Returns what is known of the shortest paths to each vertex, and their length."""
    distance, known = answer
    return known, distance


DISTANCE = Column("distance", absent="zero")
MEASURES = (
    Measure(algorithms.pagerank, (Column("pagerank"),)),
    Measure(algorithms.core_number, (Column("core number"),)),
    Measure(algorithms.triangles, (Column("triangles"),)),
    Measure(algorithms.clustering, (Column("clustering"),)),
    Measure(algorithms.betweenness_centrality, (Column("betweenness"),)),
    Measure(algorithms.closeness_centrality, (Column("closeness"),)),
    Measure(algorithms.harmonic_centrality, (Column("harmonic centrality"),)),
    Measure(algorithms.eccentricity, (Column("eccentricity"),)),
    Measure(algorithms.diameter, (Column("diameter"),)),
    Measure(algorithms.label_propagation, (Column("community", vertices=True),)),
    Measure(algorithms.components, (Column("component", vertices=True),)),
    Measure(algorithms.topological_components, (Column("component"),)),
    Measure(algorithms.count_shortest_paths, (Column("shortest paths", absent=0), DISTANCE), distance_last),
    Measure(algorithms.fewest_edges, (Column("edges", absent=-1), DISTANCE), distance_last),
    Measure(algorithms.bfs_order, (Column("place", absent=-1), Column("found by", True, absent=-1)), by_place),
    Measure(algorithms.all_pairs),
    Measure(algorithms.closure),
    Measure(algorithms.transitive_closure),
)
"""A command each."""


def __getattr__(name: str) -> Callable[..., None]:
    """The command of a measure by the name of its function."""
    for measure in MEASURES:
        if measure.function.__name__ == name:
            return command_of(measure)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def command_of(measure: Measure) -> Callable[..., None]:
    """A function with the shared options and the algorithm's own, which computes the measure of a graph in a file."""
    known = inspect.signature(measure.function).parameters
    own = [known[name] for name in OPTIONS if name in known and not (name == "sources" and "source" in known)]

    def command(reading: Reading, computing: Computing, printing: Printing, **options: Any) -> None:
        graph = load(reading)
        at = {name: indices(graph, options[name], name) for name in OF_VERTICES if options.get(name)}
        run = functools.partial(measure.function, **options | at)
        if options.get("symmetrize") is False:
            check_undirected(graph, weights=False)
        small = {name: 0 if name == "source" else [0] for name in at}
        rehearse = functools.partial(measure.function, **{k: v for k, v in options.items() if k not in BOUNDS} | small)
        found, _ = graph.solve(run, rehearse, sample(SAMPLE, 1, graph.A), computing)
        answer = measure.answer(graph, found, options.get("semiring", "min_plus"), at.get("vertices"))
        printing.deliver(answer.content, answer.show, answer.save)

    shared = inspect.signature(command, eval_str=True).parameters
    parameters = [shared[name] for name in ("reading", "computing", "printing")]
    parameters += [each.replace(annotation=OPTIONS[each.name], default=default_of(each)) for each in own]
    command.__name__ = measure.function.__name__
    command.__doc__ = (inspect.getdoc(measure.function) or "").partition("\n")[0]
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return command


def default_of(parameter: inspect.Parameter) -> Any:
    """The default of an option: the function's own, by its name if it has one; a single source must be given."""
    if parameter.name == "source":
        return parameter.empty
    return getattr(parameter.default, "name", parameter.default)


def indices(graph: Graph, names: str | list[str], parameter: str) -> Any:
    """The vertices of these names; of a single name, the vertex."""
    if isinstance(names, str):
        return graph.vertex(names, "--source")
    return [graph.vertex(name, "--vertex" if parameter == "vertices" else "--source") for name in names]
