"""Finds forests and components of strips on several GPUs: one of each GPU's rows, and then of all of these.

    F(E₁ ∪ E₂) = F(F(E₁) ∪ F(E₂))

Of a symmetric matrix a kernel on each GPU makes both, and they meet in between (`strips_forest.cu`). Without room for
that, or with weights of 64 bits, each GPU lists edges in parts (`out_of_core_msf.cu`), and the first one makes the
forest of what is left. Where edges are many, lighter ones go first: heavier ones between their trees are few.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from formats import COO, CSR
from formats.arrays import brought, cupy, to_device
from formats.matrix.facts import Fact
from formats.parts.partitioned import Partitioned
from formats.storage.orientation import compressed, is_symmetric, known_symmetric
from semiring.algebra.codegen import types_of
from semiring.parts.products import padded
from semiring.verbs.explanation import details
from semiring.verbs.registry import Declined

from ..cuda import graphs as one_gpu
from ..cuda import kernels
from ..cuda.graphs import LIGHT_EDGES_PER_VERTEX, MIN_DEGREE_FOR_LIGHT, connected
from ..cuda.layouts import ALL_ENTRIES, EVERY_OTHER, StripEdge, StripForest
from ..cuda.out_of_core_msf import LOW_WORD, SAMPLED_WEIGHTS, Stream
from ..cuda.paths import as_vertices, step_of
from .gpus import Kind, Member, Team, team_of
from .many_sources import alone
from .strong import by_hub

SQUARE: Fact[CSR] = Fact("the strip as a matrix of the whole's shape")
LIGHTEST: Fact[Any] = Fact("the weight of light edges of the parts")

SHARED = 3
"""Arrays that other GPUs read."""
LIGHTEST_OF, CHOSEN_BITS = 2, 9
"""The numbers of a GPU's own arrays that are written before the kernel starts."""


def forest(A: Partitioned, symmetrize: bool, with_labels: bool) -> Any:
    """Returns the forest, and the smallest vertex of each one's tree, on the first GPU."""
    rows: Any = compressed(A, 0)
    team = team_of(rows)
    if isinstance(team, Declined):
        return team
    if max(A.shape) >= 2**31 or len({member.rows.indptr.dtype for member in team.members}) > 1:
        return Declined("it packs two vertices in 64 bits, and indices of one type on all GPUs")
    if (whole := alone(rows, team)) is not None:
        with team.home.scope():
            return one_gpu.forest_of(whole, symmetrize, with_labels)
    if not symmetrize and not is_symmetric(rows):
        return Declined("an edge has no reverse of the same weight")
    which, cap = EVERY_OTHER if known_symmetric(rows) else ALL_ENTRIES, light_weight(rows, team)
    if which == EVERY_OTHER and (kinds := together_kinds(rows, team)):
        return together(rows, team, kinds, cap, with_labels)
    first = in_one(rows, team, which) if cap is None else light_first(rows, team, which, cap)
    with team.home.scope():
        details(gpus=team.count, listed=first.listed)
        tree = as_vertices(first.join()) if with_labels else None
        return COO.trusted(*first.edges(), A.shape, 0), tree


def together_kinds(A: Partitioned, team: Team) -> list[Kind]:
    """Returns the arrays of `strips_forest`, of which others read the first ones; none without room for them."""
    n, entries, own = A.nrows, max(A.entries), int(max(np.diff(team.starts)))
    if A.dtype.itemsize != 4 or entries >= 2**31 or team.members[0].rows.indptr.dtype != np.int32:
        return []
    edges = max(entries, team.count * n)
    shared: list[Kind] = [(own, np.int32), *[(3 * n, np.uint32)] * 2]
    vectors: list[Kind] = [(n, np.int32), (n, np.int32), (own, np.uint64), *[(n, np.uint64)] * 2, *[(n, np.uint32)] * 2]
    lists: list[Kind] = [(edges * StripEdge.nbytes(I=np.int32) // 4, np.uint32)] * 2
    bits: list[Kind] = [(-(-entries // 32), np.uint32), (kernels.MAX_BLOCKS, np.uint32)]
    kinds = [*shared, *vectors, *lists, *bits, *[(n, np.int32)] * 4]
    needed = sum(int(size) * np.dtype(dtype).itemsize for size, dtype in kinds)
    rooms = [member.place.available_bytes() for member in team.members]
    return [] if any(A.of_each(any(room is not None and room < needed for room in rooms))) else kinds


def together(A: Partitioned, team: Team, kinds: list[Kind], cap: Any, with_labels: bool) -> Any:
    """Runs one kernel on each GPU, which makes the forest of its rows, and all make that of these."""
    shared, own_kinds = kinds[:SHARED], kinds[SHARED:]
    made, tables = team.shared(*shared)
    light = np.uint32(0 if cap is None or cap >= LOW_WORD else cap + np.uint64(1))

    for choices, member in zip(made[0], team.members, strict=True):
        with member.place.scope():
            choices[...] = -1  # none: of a GPU that does not come others must not read a ring of old ones

    def vectors(member: Member) -> tuple[Any, ...]:
        cp = cupy()
        own = [cp.empty(*kind) for kind in own_kinds]
        return cp.empty(StripForest.words, np.uint64), own

    controls, own = zip(*team.each(vectors), strict=True)
    ks = team.each(lambda member: kernels.pattern("strips_forest", types_of(member.rows)))
    arguments = []
    for here, member in enumerate(team.members):
        k, rows = ks[here], member.rows
        with member.place.scope():
            sizes, first = (np.int64(member.own), np.int64(rows.nnz)), (own[here][LIGHTEST_OF], own[here][CHOSEN_BITS])
            k.plain("start_strip_forest", member.own, (controls[here], *sizes, *first))
            who = tables[here], np.int32(team.count), np.int32(member.number), team.starts_there[here]
            weights = rows.values.view(np.int32), step_of(rows, k.index), np.bool_(A.dtype.kind == "f")
            graph = rows.indptr, rows.indices, *weights, k.index(rows.nnz), light, np.int64(A.nrows)
            arguments.append((controls[here], *who, *graph, np.bool_(with_labels), *own[here]))
    states = team.run("strips_forest", ks, arguments, list(controls), 1)
    del made
    state = StripForest.read(states[0], "rounds", "light")
    details(method="forests of strips, joined by all", gpus=team.count, **state)
    listed, chosen = StripForest.word("listed"), StripForest.word("chosen")
    details(listed=sum(int(each[listed]) for each in states))
    found = [[x[: int(each[chosen])] for x in arrays[-3:]] for arrays, each in zip(own, states, strict=True)]
    parts = zip(zip(*found, strict=True), own[0][-3:], strict=True)
    rows_found, ends, values = (team.whole("forest", list(each), into) for each, into in parts)
    with team.home.scope():
        tree = as_vertices(own[0][0]) if with_labels else None
        return COO.trusted(rows_found, ends, values.view(A.dtype), A.shape, 0), tree


def in_one(A: Partitioned, team: Team, which: int) -> Stream:
    """Lets each GPU make the forest of its rows, and the first one that of all of these."""

    def local(member: Member) -> Stream:
        run = Stream(member.rows, member.first)
        run.read(which)
        return run

    runs = team.at_once(local)
    with team.home.scope():
        runs[0].join_lists(lists_of_all(A, [run.edge_list() for run in runs]))
    details(method="forests of strips, joined")
    return runs[0]


def light_first(A: Partitioned, team: Team, which: int, cap: Any) -> Stream:
    """Lets all GPUs make the forest of the light edges, and list heavier ones between its trees for the first one."""

    def light(member: Member) -> Stream:
        run = Stream(member.rows, member.first)
        read(run, which, most=cap)
        return run

    runs = team.at_once(light)
    lists, number = lists_of_all(A, [run.edge_list() for run in runs]), team.members[0].number

    def heavy(member: Member) -> tuple[Stream, int]:
        run = runs[member.number - number]
        run.join_lists(lists)
        run.join()
        kept, run.threshold = run.count, cap
        return run, 0 if read(run, which, least=cap + np.uint64(1)) else kept

    found = team.at_once(heavy)
    (first, kept), *_ = found
    others = lists_of_all(A, [run.edge_list(kept) for run, kept in found])
    with team.home.scope():
        first.join_lists([first.edge_list(0, kept), *others], kept)
    details(method="light edges first, heavier ones between their trees", light=kept)
    return first


def read(run: Stream, which: int, **weights: Any) -> bool:
    """Lists edges of such weights; true if they were too many, so that the list became a forest on the way."""
    at, shortened = 0, False
    while at < run.A.nnz:
        at = run.collect(at, which, False, **weights)
        if at < run.A.nnz and run.full:
            run.span()
            run.sieve()  # what left edges out was of the trees before
            shortened = True
    return shortened


def lists_of_all(A: Partitioned, lists: list[Any]) -> list[Any]:
    """Returns the lists of all GPUs."""
    return lists if A.group.size == 1 else A.group.everyone("forest", lists[0])


def light_weight(A: Partitioned, team: Team) -> Any:
    """Samples the weight up to which edges are light; None if there is none, and all edges go together."""
    share = 2 * LIGHT_EDGES_PER_VERTEX * A.nrows / max(A.nnz, 1)
    if A.nnz < MIN_DEGREE_FOR_LIGHT * A.nrows or not 0 < share < 1:
        return None

    def sample(member: Member) -> np.ndarray:
        values = member.rows.values
        return ordered(np.ascontiguousarray(to_device(values[:: max(values.size // SAMPLED_WEIGHTS, 1)], "cpu")))

    def found() -> Any:
        some = np.sort(np.concatenate(A.of_each(np.concatenate(team.each(sample)))))
        return some[int(share * some.size)]

    return A.keep(LIGHTEST, found)


def ordered(weights: np.ndarray) -> np.ndarray:
    """Returns weights as `Weights` of out_of_core_msf.cu does: unsigned integers of 64 bits in their order."""
    if weights.dtype == bool:
        return weights.astype(np.uint64)
    bits = weights.view(f"i{weights.itemsize}")
    sign = bits.dtype.type(np.iinfo(bits.dtype).min)
    if weights.dtype.kind == "f":
        bits = np.where(bits < 0, -(bits & ~sign), bits)
    return (bits ^ sign).view(f"u{weights.itemsize}").astype(np.uint64)


def components(A: Partitioned, weak: bool) -> Any:
    """Returns the smallest vertex of each one's component, on the first GPU.

    Where edges count one way one GPU does it alone, if it has room; else all search from a hub.
    """
    rows: Any = compressed(A, 0)
    team = team_of(rows)
    if isinstance(team, Declined):
        return team
    one_way = not weak and not is_symmetric(A, pattern=True)
    if (whole := alone(rows, team, one_way)) is not None:
        with team.home.scope():
            return one_gpu.strong_components_of(whole, weak)
    if one_way:
        return by_hub(rows)

    def local(member: Member) -> Any:
        return connected(square(rows, member), both_ways=False)

    home, n, labels = team.home, A.nrows, team.each(local)
    if A.group.size > 1:
        labels = A.group.everyone("components", labels[0])
    label, *others = labels
    with home.scope():
        k, ends = kernels.pattern("components", label.dtype), cupy().arange(n + 1, dtype=label.dtype)
        for other in others:
            edges = brought(other, home).astype(label.dtype, copy=False)  # from each vertex to its label
            sizes = np.int64(0), np.int64(n), label
            k.plain("link_between", 2 * n, (ends, edges, k.index(n), k.index(n), *sizes))
        k.plain("flatten", n, (np.int64(n), label))
    details(method="components of strips, joined", gpus=team.count)
    return as_vertices(label)


def square(A: Partitioned, member: Member) -> CSR:
    """Returns a strip as a matrix of the whole's shape: made once, and kept with the strip."""
    rows = member.rows
    return rows.keep(SQUARE, lambda: padded(rows.indptr, rows.indices, rows.values, A, member.number))
