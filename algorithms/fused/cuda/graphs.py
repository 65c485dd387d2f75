"""Searches, components and forests run on the GPU."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np

from algorithms.equations.bfs import bfs
from algorithms.equations.bfs_order import bfs_order
from algorithms.equations.boruvka import boruvka
from algorithms.equations.scc import scc
from algorithms.equations.topological import topological_components
from algorithms.shared.traversal import Direction
from formats import COO, CSC, CSR, CompressedCSR, from_edges
from formats.arrays import DeviceArray as Array
from formats.arrays import cupy, index_dtype
from formats.matrix.convert import convert
from formats.matrix.facts import COMPRESSED, SYMMETRIC, Fact
from formats.matrix.workspace import Sizes
from formats.preparation.weights import distinct
from formats.storage.compressed import expand
from formats.storage.orientation import compressed, has_columns, has_room_for_columns, is_symmetric, known_symmetric
from formats.storage.pieces import ranges
from semiring import MinPlus, ewise_add
from semiring.algebra.codegen import types_of
from semiring.algebra.ops import BinaryOp, find_op
from semiring.cuda import compile, statistics
from semiring.cuda.merging import merge_head
from semiring.cuda.steps import MERGE, RADIX, SCAN, step_text
from semiring.verbs.explanation import details, explained
from semiring.verbs.registry import Declined, Deferred

from . import kernels
from .layouts import BY_RULE, GIANT_SAMPLE, PULL, ForestControl, ForestEdge, SearchControl, StrongControl
from .out_of_core import (
    PATTERN_COLUMNS,
    WINDOW_ENTRIES,
    beyond,
    both_ways,
    columns_of,
    crossed,
    has_room,
    room,
    turned_outside,
)
from .out_of_core_msf import forest_in_one_pass
from .paths import BEGUN, HOPS, as_vertices, begin_ahead, deep, fixpoint, mark_unreached, may_be_deep, narrow, step_of
from .staging import staged

LIKELY_UNITS = {False: ("scc_coloring", "strong", "search"), True: ("components",)}
"""The units of strong components, and of weak ones, that are compiled ahead."""

CHOICES = {"auto": BY_RULE, "push": 1, "pull": PULL}
MAX_LEVELS = 256
"""Levels after which a search begins anew as shortest paths, which do not take a step for each."""

FIRST_LINKS_PER_VERTEX = 2
"""Edges of each vertex that are linked before the giant component is looked for."""

MAX_PIVOT_LEVELS = 100
"""Levels of the searches from the pivot of strong components, at most."""

MAX_READ_SHARE, MAX_LEFT_SHARE = 3, 0.5
"""Shares of the edges that searches by rows alone may look at, and that may be left then: else columns are made."""

LABEL_BYTES_PER_VERTEX = 16
"""Bytes that labels, and what becomes of them, take for each vertex."""
FOREST_BYTES = {True: (56, 20), False: (72, 56)}
"""Bytes that a forest takes for a vertex and an entry, by whether it is known if the matrix is symmetric."""
LIGHT_EDGES_PER_VERTEX, MIN_DEGREE_FOR_LIGHT = 0.25, 8
"""Light edges for each vertex, about, and mean degree from which light edges go first."""

Rows = tuple[Array, Array]
"""The indptr and the indices of a pattern."""


LIGHTEST: Fact[Any] = Fact("the lightest part of the edges")
RANKS: Fact[Array] = Fact("ranks of weights")


def rows_of(A: Any) -> Rows:
    """Returns the pattern of compressed rows."""
    return A.indptr, A.indices


def comparing(A: CSR) -> compile.Unit:
    """Returns the unit that tells whether `A` is symmetric."""
    return statistics.unit, A.dtype, types_of(A)


def turning(A: CSR) -> list[compile.Unit]:
    """Returns the units that make the columns of `A`, if they are not kept."""
    units = [(step_text, RADIX, types_of(A), A.dtype.itemsize), (step_text, SCAN, A.indptr.dtype, 4)]
    return [] if A.keeps(COMPRESSED, CSC) else units


# --- breadth-first search ---------------------------------------------------------------------------------------------


@bfs.implement(CSR, "cuda")
def searched(
    A: CSR, source: int, outside: Array | None, how: Direction, deepest: int | None, return_parents: bool
) -> tuple[Array, Array | None] | Declined:
    if why := kernels.too_large(A):
        return why
    level, columns = None, None
    hops_serve = how.choice == "auto" and outside is None and deepest is None and narrow(A)
    goes_deep = hops_serve and may_be_deep(A)
    if goes_deep:
        begin_ahead(A, MinPlus, np.dtype(np.int32))
    if return_parents:
        A.keep(BEGUN, lambda: compile.ahead((kernels.pattern_unit, "parents", types_of(A))), "parents")
    if goes_deep and deep(A):
        level = levels_by_hops(A, source)
    if level is None:
        k = kernels.pattern_of(A, "search")
        how = how if turned_outside(A) else how.for_matrix(A)
        columns = columns_of(A) if how.choice != "push" else None
        level = cupy().empty(A.nrows, np.int32)
        s = Search(k, rows_of(A), columns, A.nnz, level, how, deepest)
        mask = kernels.NULL if outside is None else outside
        k.plain("start_search", A.nrows, (s.control, np.int64(A.nrows), np.int64(A.nnz), mask, np.int64(source), level))
        state = s.launch(MAX_LEVELS if hops_serve else None)()
        told = SearchControl.read(state, "steps", "pulls", "unexplored")
        details(kernel="search", levels=told["steps"], pulled=told["pulls"], alpha=how.alpha, beta=how.beta)
        if columns is None:
            details(**crossed(A, A.nnz - told["unexplored"], A.indices))
        if hops_serve and not state[0] >> np.uint64(32):
            level = levels_by_hops(A, source, turns=True)
        if outside is not None:
            cupy().maximum(level, -1, out=level)
    details(direction=how.choice, columns="are not used" if columns is None else "are kept with the matrix")
    return level, as_vertices(parents(A, columns, level)) if return_parents else None


def levels_by_hops(A: CSR, source: int, turns: bool = False) -> Array | None:
    """Finds levels as distances with edges of length 1, in any order; None if a step is too wide."""
    level, state = fixpoint(A, MinPlus, HOPS, source=source, length=np.int32(1), turns=turns)
    if state["crowded"] and not turns:
        return None
    mark_unreached(level, types_of(A))
    return level


class Search:
    """A search from where `level` is 0 to where it is -1; `start_search` or `start_at_pivot` fills the control."""

    def __init__(
        self,
        k: kernels.Kernels,
        rows: Rows,
        columns: Rows | None,
        nnz: int,
        level: Array,
        how: Direction,
        deepest: int | None = None,
    ) -> None:
        cp = cupy()
        n, index_type = level.size, rows[0].dtype
        self.k, self.work, self.control = k, n + nnz, cp.empty(SearchControl.words, np.uint64)
        self.lists = [cp.empty(n, index_type) for _ in range(2)]
        bits = [cp.empty(-(-n // 32), np.uint32) for _ in range(2)] if columns is not None else [kernels.NULL] * 2
        choice = np.int32(CHOICES[how.choice] if columns is not None else CHOICES["push"])
        rule = choice, np.float64(how.alpha), np.float64(how.beta), np.int32(-1 if deepest is None else deepest)
        turned = columns if columns is not None else (kernels.NULL, kernels.NULL)
        sizes = np.int64(n), np.int64(nnz)
        self.arguments = (self.control, *rows, *turned, *sizes, level, *bits, *self.lists, *rule)

    def launch(self, most: int | None = None) -> Any:
        """Starts; returns what waits for the end, or for so many levels, and gives the control on the host."""
        return self.k.stepwise("search", self.work, self.arguments, self.control, most)


def parents(A: CSR, columns: Rows | None, level: Array) -> Array:
    """Returns each vertex's smallest predecessor one level nearer."""
    k, n = kernels.pattern_of(A, "parents"), np.int64(A.nrows)
    if columns is not None:
        parent = cupy().empty(A.nrows, A.indptr.dtype)
        k.plain("parents_pulled", A.nrows, (*columns, n, level, level, parent))
    else:
        parent = cupy().full(A.nrows, -1, A.indptr.dtype)
        sizes = k.index(A.nrows), k.index(A.nnz)
        k.plain("parents_pushed", A.nrows + A.nnz, (*rows_of(A), *sizes, level, parent))
    return parent


bfs_order.implement(CSR, "cuda")(Deferred("algorithms.fused.cuda.bfs_order:queued"))


# --- components -------------------------------------------------------------------------------------------------------


@scc.implement(CSR, "cuda")
def strong_components_of(A: CSR, weak: bool) -> Array | Declined:
    if not weak and (why := kernels.too_large(A)):
        return why
    begin_components(A, weak)
    symmetric = both_ways(A, reads=not weak)
    if weak or symmetric:
        details(method="hooking", symmetric=symmetric)
        if beyond(A):
            details(**crossed(A, A.nnz, A.indices) | {"plan": "one pass"})
        return as_vertices(connected(A, symmetric))
    label = None
    if rows_alone(A):
        with suppress(MemoryError):
            label = strong_by_rows(A)
    return as_vertices(strong(A) if label is None else label)


def begin_components(A: CSR, weak: bool) -> None:
    """Compiles ahead what components of `A` are likely to need."""
    if not (A.keeps(SYMMETRIC, True) or known_symmetric(A)):
        kinds = LIKELY_UNITS[weak]
        turned = [] if weak else turning(A)
        compile.ahead(comparing(A), *turned, *((kernels.pattern_unit, kind, types_of(A)) for kind in kinds))


def connected(A: CSR, both_ways: bool) -> Array:
    """Returns the smallest vertex of each vertex's component, edges counting both ways."""
    cp = cupy()
    n, index_type = A.nrows, A.indptr.dtype
    k, label = kernels.pattern_of(A, "components"), cp.empty(n, index_type)
    if n == 0:
        return label
    rows, sizes = rows_of(A), (k.index(n), k.index(A.nnz))
    giant = kernels.NULL
    k.plain("start_trees", n, (np.int64(n), label))
    if beyond(A):
        for begin, end, (indices,) in staged((A.indices,), room(A, LABEL_BYTES_PER_VERTEX) // 2):
            part = np.int64(begin), np.int64(end)
            k.plain("link_between", end - begin, (A.indptr, indices, *sizes, *part, label))
        k.plain("flatten", n, (np.int64(n), label))
        return label
    if both_ways:
        giant = cp.empty(1, index_type)
        k.plain("link_first", n, (*rows, np.int64(n), np.int32(FIRST_LINKS_PER_VERTEX), label))
        k.plain("flatten", n, (np.int64(n), label))
        k.plain("find_giant", 1, (np.int64(n), label, giant), threads=GIANT_SAMPLE)
    k.plain("link_rest", n + A.nnz, (*rows, *sizes, giant, label))
    k.plain("flatten", n, (np.int64(n), label))
    return label


def strong(A: CSR) -> Array:
    """Searches each way from one pivot, and colours what is left; the host waits once, at the end."""
    cp = cupy()
    n, index_type = A.nrows, A.indptr.dtype
    k, searches_of = kernels.pattern_of(A, "strong"), kernels.pattern_of(A, "search")
    rows, columns = rows_of(A), columns_of(A)
    label, control = cp.empty(n, index_type), cp.empty(StrongControl.words, np.uint64)
    forward, backward = cp.empty(n, np.int32), cp.empty(n, np.int32)
    size, work = np.int64(n), n + A.nnz
    k.plain("start_strong", n, (control, size, label))
    k.plain("choose_pivot", n, (control, rows[0], columns[0], size))
    there = Search(searches_of, rows, columns, A.nnz, forward, Direction(), MAX_PIVOT_LEVELS)
    back = Search(searches_of, columns, rows, A.nnz, backward, Direction(), MAX_PIVOT_LEVELS)
    controls = there.control, back.control
    k.plain("start_at_pivot", n, (control, size, np.int64(A.nnz), *controls, forward, backward))
    searches = there.launch(), back.launch()
    part, *colours = (cp.empty(n, np.uint64) for _ in range(3))
    own = label, forward, backward, part, *colours
    arguments = (control, *controls, np.uint64(MAX_PIVOT_LEVELS), *rows, *columns, size, *own, *there.lists)
    rest = kernels.pattern_of(A, "scc_coloring").stepwise("scc_coloring", work, arguments, control)
    state = control.get()
    over = bool(state[0] >> np.uint64(32))
    ends = [search() for search in searches] if explained() or not over else None
    if not over:  # a search, or the colours, had more steps than a launch
        state = rest()
    if ends is not None:
        told = [SearchControl.read(end, "steps", "pulls") for end in ends]
        details(levels=[each["steps"] for each in told], pulled=[each["pulls"] for each in told])
    known = StrongControl.read(state, "passes", "rounds", "left_to_colour")
    details(method="two searches, colours", passes_of_colours=known["passes"])
    details(rounds_of_colours=known["rounds"], vertices_coloured=known["left_to_colour"])
    return label


def rows_alone(A: CSR) -> bool:
    """True if strong components are found by rows alone: there are no columns, and no room for them."""
    return A.nnz > 0 and not (A.keeps(PATTERN_COLUMNS) or has_columns(A) or has_room_for_columns(A))


def strong_by_rows(A: CSR) -> Array | None:
    """Finds the pivot's component by rows alone, and the others in memory; None where too much would be left.

    What the pivot leads to is found by a search. Whether a vertex leads back, it finds in its own row: one of its
    successors does. An edge is looked at until one is found, pass after pass; each pass is over those still waiting.
    """
    cp, n, index_type = cupy(), A.nrows, A.indptr.dtype
    k, searches_of = kernels.pattern_of(A, "reverse_reach"), kernels.pattern_of(A, "search")
    lengths: Any = cp.diff(A.indptr)
    pivot, level = int(lengths.argmax()), cp.empty(n, np.int32)
    search = Search(searches_of, rows_of(A), None, A.nnz, level, Direction())
    begun = search.control, np.int64(n), np.int64(A.nnz), kernels.NULL, np.int64(pivot), level
    searches_of.plain("start_search", n, begun)
    state = search.launch()()
    leads = cp.zeros(n, bool)
    leads[pivot] = True
    waiting: Any = cp.flatnonzero((level > 0) & (lengths > 0)).astype(index_type)
    del search, level
    edges, passes = A.nnz - int(state[SearchControl.word("unexplored")]), 0
    while waiting.size:
        edges, passes = edges + int(lengths[waiting].sum(dtype=np.int64)), passes + 1
        if edges > MAX_READ_SHARE * A.nnz:
            return None
        k.plain("look_ahead", waiting.size, (*rows_of(A), waiting, np.int64(waiting.size), leads))
        left = waiting[~leads[waiting]]
        if left.size == waiting.size:
            break
        waiting = left
    del waiting
    rest = cp.flatnonzero(~leads).astype(index_type)
    smallest = int((rest == cp.arange(rest.size, dtype=index_type)).sum())  # of those that lead, by those before
    label = cp.full(n, smallest, index_type)
    told = {"method": "two searches by rows, and the rest in memory", "passes": passes, "left": int(rest.size)}
    if rest.size == 0:
        details(**crossed(A, edges, A.indices) | told)
        return label
    least = int(lengths[rest].sum(dtype=np.int64))
    if least > MAX_LEFT_SHARE * A.nnz:
        return None
    within = part_among(A, rest, ~leads)
    label[rest] = rest[strong(within)] if within.nnz else rest
    details(**crossed(A, edges + least, A.indices) | told)
    return label


def part_among(A: CSR, rows: Array, among: Array) -> CSR:
    """Returns the pattern of A among `rows`, the vertices that `among` (n,) marks."""
    cp: Any = cupy()
    index_type, number = A.indices.dtype, cp.cumsum(among, dtype=A.indices.dtype) - A.indices.dtype.type(1)
    starts = cp.zeros(rows.size + 1, A.indptr.dtype)
    cp.cumsum(A.indptr[rows + 1] - A.indptr[rows], dtype=A.indptr.dtype, out=starts[1:])
    ends: list[tuple[Array, Array]] = [(cp.zeros(0, index_type), cp.zeros(0, index_type))]
    for first, last, begin, end in ranges(starts, WINDOW_ENTRIES):
        row = expand(starts[first : last + 1] - starts[first]).astype(index_type, copy=False) + index_type.type(first)
        place = cp.arange(begin, end, dtype=A.indptr.dtype) + (A.indptr[rows] - starts[:-1])[row]
        col = A.indices[place]
        kept = among[col]
        ends.append((row[kept], number[col[kept]]))
    return from_edges(*(cp.concatenate(part) for part in zip(*ends, strict=True)), shape=rows.size, dtype=bool)


def between_components(A: CSR, fmt: type) -> dict[str, int]:
    """Returns the bytes of edges between components, if all are such: their ends, and a sort of both for the host."""
    return {"edges between components": A.nnz * 48}


topological_components.implement(CSR, "cuda", needs=between_components)(
    Deferred("algorithms.fused.cuda.topological:numbered")
)


# --- spanning forests -------------------------------------------------------------------------------------------------


def unpacked(A: Any, fmt: type) -> dict[str, int]:
    """Returns the bytes that `Matrix.footprint` does not know of: plain columns, by which symmetry is found."""
    return {"plain columns, once": A.nnz * Sizes.of(A, "cuda").index}


@boruvka.implement(CSR, "cuda")
@boruvka.implement(CompressedCSR, "cuda", needs=unpacked)
def forest_of(A: Any, symmetrize: bool, with_labels: bool) -> tuple[COO, Array | None] | Declined:
    if A.major == 1:
        return Declined("its columns lie together, and rows are asked for first")
    if A.nnz == 0:
        return Declined("there is nothing to do")
    if not (kernels.too_large(A) or beyond(A)) and has_room(A, *FOREST_BYTES[A.keeps(SYMMETRIC, False)], may_fail=True):
        with suppress(MemoryError):
            return forest_in_memory(A, symmetrize, with_labels)
    grown = forest_in_one_pass(A, symmetrize, with_labels)
    return grown if isinstance(grown, Declined) else (grown[0], None if grown[1] is None else as_vertices(grown[1]))


def forest_in_memory(A: Any, symmetrize: bool, with_labels: bool) -> tuple[COO, Array | None] | Declined:
    """Makes the forest of a matrix that is on the device as a whole, as is what the forest takes."""
    begin_forest(A, symmetrize)
    if not symmetric(A):
        if not symmetrize:
            return Declined("an edge has no reverse of the same weight")
        A = symmetrized(A)
    cp = cupy()
    n, index_type, packed = A.nrows, A.indptr.dtype, isinstance(A, CompressedCSR)
    k = kernels.pattern_of(A, "packed_forest" if packed else "forest")
    columns = (A.words, A.bases, A.starts) if packed else (A.indices,)
    weights, real, step = comparable(A, k)
    light = A.keep(LIGHTEST, lambda: lightest_part(weights, A.nnz, n, real))
    tree, control = cp.empty(n, index_type), cp.empty(ForestControl.words, np.uint64)
    best = [cp.empty(n, np.uint64) for _ in range(2)]
    listed = [cp.empty((A.nnz // 2 + 1) * ForestEdge.nbytes(I=index_type), np.uint8) for _ in range(2)]
    chosen, of_block = cp.empty(-(-A.nnz // 32), np.uint32), cp.empty(kernels.MAX_BLOCKS, np.uint32)
    places, starts, ends = (cp.empty(n, index_type) for _ in range(3))
    taken = cp.empty(n, np.int32)
    k.plain("start_forest", n, (control, np.int64(n), np.int64(A.nnz), tree, *best, chosen))
    graph = A.indptr, *columns, weights, step, np.bool_(real), k.index(n), k.index(A.nnz), np.uint32(light)
    found = places, starts, ends, taken
    arguments = control, *graph, tree, *best, *listed, chosen, of_block, *found
    k.persistent("forest", n + A.nnz, arguments)
    state = control.get()
    edges = int(state[ForestControl.word("chosen")])
    details(**ForestControl.read(state, "rounds", "listed", "light"))
    values = taken[:edges].view(A.dtype) if A.dtype.itemsize == 4 else A.values[places[:edges]]
    F = COO.trusted(starts[:edges], ends[:edges], values, A.shape, 0)
    return F, as_vertices(tree) if with_labels else None


def begin_forest(A: CSR | CompressedCSR, symmetrize: bool) -> None:
    """Compiles ahead what a forest of `A` is likely to need."""
    if not isinstance(A, CSR) or A.keeps(SYMMETRIC, False):
        return
    units: list[compile.Unit] = [comparing(A), (kernels.pattern_unit, "forest", types_of(A))]
    if symmetrize:
        units += turning(A)
        units.append((merge_text, find_op(lighter(A.dtype)), A.dtype, index_dtype(*A.shape, 2 * A.nnz)))
    compile.ahead(*units)


def symmetric(A: CSR | CompressedCSR) -> bool:
    """True if every entry has its reverse; found once, of packed columns by plain ones, which are not kept."""
    if isinstance(A, CSR):
        return is_symmetric(A)

    def found() -> bool:
        rows = convert(A, CSR)
        answer = is_symmetric(rows)
        rows.forget()
        return answer

    return A.keep(SYMMETRIC, found, False)


def symmetrized(A: CSR | CompressedCSR) -> CSR:
    """Returns A with its edges both ways, the lighter weight of two."""
    rows: Any = convert(A, CSR)
    both = ewise_add(rows, compressed(rows, 1).T, lighter(A.dtype))
    if rows is not A:
        rows.forget()
    return both


def lighter(dtype: np.dtype) -> str:
    """Returns the operator that chooses the lighter of two weights."""
    return "land" if dtype.kind == "b" else "min"


def merge_text(op: BinaryOp, dtype: np.dtype, index: np.dtype) -> str:
    """Returns the CUDA text that `symmetrized` needs."""
    return step_text(MERGE, index, 4, merge_head(op, dtype, None, both_only=False))


def comparable(A: CSR | CompressedCSR, k: kernels.Kernels) -> tuple[Array, bool, Any]:
    """Returns 32 bits of each weight (ranks if weights have 64), if they are floats, and the step between them."""
    if A.dtype.itemsize == 4:
        return A.values.view(np.int32), A.dtype.kind == "f", step_of(A, k.index)
    ranks = A.keep(RANKS, lambda: signed(distinct(cupy().ascontiguousarray(A.values))[0]))
    return ranks, False, k.index(1)


def signed(ranks: Array) -> Array:
    """Returns up to 2^32 numbers in 32 bits, in their order."""
    return (ranks.astype(np.int64) - 2**31).astype(np.int32)


def lightest_part(weights: Array, nnz: int, n: int, real: bool) -> int:
    """Samples the ordinal of the weight below which edges are light; 0 if all edges go together."""
    share = 2 * LIGHT_EDGES_PER_VERTEX * n / max(nnz, 1)
    if nnz < MIN_DEGREE_FOR_LIGHT * n or not 0 < share < 1:
        return 0
    cp = cupy()
    sample = weights[:: max(weights.size // 4096, 1)].astype(np.int64)
    if real:
        sample = cp.where(sample < 0, -(sample & 0x7FFFFFFF), sample)
    return int(cp.sort(sample)[int(share * sample.size)]) + 2**31
