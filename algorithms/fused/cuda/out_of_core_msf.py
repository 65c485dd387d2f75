"""Makes spanning forests of matrices that are not resident as a whole: each entry crosses the bus once.

`out_of_core_msf.cu` has the kernels.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from formats import COO, CSR, CompressedCSR, OutOfDeviceMemory
from formats.arrays import DeviceArray as Array
from formats.arrays import cupy
from formats.copies import to_peer
from formats.matrix.facts import SYMMETRIC, Fact
from formats.places import place_of
from formats.progress import Bar
from formats.storage.orientation import known_symmetric
from semiring.verbs.explanation import details
from semiring.verbs.registry import Declined

from . import kernels
from .layouts import ALL_ENTRIES, UPPER, Edge, StreamControl
from .out_of_core import WINDOW_ENTRIES, beyond, left_for_blocks
from .paths import step_of
from .staging import WINDOWS_AHEAD, Window, staged, whole

COUNT, BALANCE = StreamControl.word("count"), StreamControl.word("balance")

VERTEX_BYTES, OPEN_BYTES = 17, 8
"""Bytes of a vertex's best offers and level, and of the two numbers that are kept of a listed edge."""
WHOLE_LIST_BYTES = 80
"""Bytes for each vertex and edge, from which some may be left of blocks in use, where all edges are listed."""
MIN_WINDOW_BYTES = 8 << 20
"""Bytes of a window, at least: rather than shorter ones fewer come."""
WINDOW_COUNT, COMING_SHARE = 12, 0.1
"""Windows that come while a forest is made, and the share of the memory that these have at least, if they need it."""
SLACK_BYTES = 1 << 18
"""Bytes of small arrays, and by which CuPy's blocks are larger than what is asked for."""
MAX_NEW_EDGES_PER_VERTEX, MIN_LISTED_EDGES = 0.75, 1 << 20
"""Edges for each vertex beside a forest's that are listed at most, if all are more than the second number."""
MIN_LIST_SHARE = 1.25
"""Room for listed edges at least, in edges that a forest may have."""
FULL_SHARE = 0.9
"""Share of the places behind the forest so far that are taken when a new forest is made."""
FIRST_SHARE = 0.3
"""Share of the listed edges that a forest is first made of."""
SIEVE_WEIGHTS = 8
"""Weights by which a forest leaves others out: they divide its edges evenly."""
BYTES_LEFT: Fact[int | None] = Fact("bytes that were left on the device for a forest")
"""Facts are given by the bytes that were available.

Where they are again, CuPy's pool has the blocks of the last forest, which are as large. To allocate a GB takes several
milliseconds.
"""
KINDS: dict[type, str] = {CSR: "out_of_core_msf", CompressedCSR: "packed_msf"}
"""The units of kernels by the format of the matrix."""
SAMPLED_WEIGHTS, LOW_WORD = 4096, 2**32 - 1
LIGHTEST = np.uint64(0)
NOT_YET = np.uint64(2**64 - 1)
"""The threshold of trees before there is a forest."""


def edge_bytes(end_bytes: int) -> int:
    """Returns the bytes of a listed edge, whose ends have so many each."""
    return Edge.nbytes(J=np.dtype(f"i{end_bytes}"))


def shared_room(
    available: int | None, coming: int, n: int, filled: int, nnz: int, index_bytes: int, end_bytes: int
) -> tuple[int, int]:
    """Returns the edges that are listed at most, and the bytes of the windows that come, of the bytes available.

    coming: bytes of windows that are wanted. filled: rows with entries, about as many as a forest has edges.
    index_bytes, end_bytes: of a tree of a vertex, and of an end of a listed edge.
    OutOfDeviceMemory if there is no room for the shortest list.
    """
    edge = edge_bytes(end_bytes) + OPEN_BYTES
    least = int(min(MIN_LIST_SHARE * n, nnz)) + 1
    most = max(least, min(nnz + n, max(int(MAX_NEW_EDGES_PER_VERTEX * n) + filled, MIN_LISTED_EDGES)))
    if available is None:
        return most, coming
    left = available - n * (VERTEX_BYTES + 2 * index_bytes) - SLACK_BYTES

    def fit(size: int) -> int:
        return min(most, size * 8 // (8 * edge + 1) // 32 * 32)  # and a bit

    if fit(left) < least:
        raise OutOfDeviceMemory(
            f"a forest of {n:,} vertices lists {least:,} edges at least, of {edge} bytes, "
            f"but the GPU has {max(left, 0):,} bytes for them"
        )
    beside = max(left - (most + 32) * (edge + 1), int(left * COMING_SHARE))
    coming = min(coming, beside, left - (least + 32) * (edge + 1))
    return max(least, fit(left - max(coming, 0))), max(coming, 0)


class Stream:
    """A forest of the edges so far, to which parts of the matrix are added.

    first: the vertex of A's first row, if A is a strip of the rows of a matrix.
    """

    window: Window | None
    windows: Iterator[Window]

    def __init__(self, A: CSR | CompressedCSR, first: int = 0) -> None:
        n, index = A.ncols, A.indptr.dtype
        self.A, self.n, self.first, self.index, self.k = A, n, first, index, kernels.pattern_of(A, KINDS[type(A)])
        self.end_bytes = (index if isinstance(A, CompressedCSR) else A.indices.dtype).itemsize
        self.count = self.spanned = self.spans = self.listed = 0
        self.threshold, self.core = NOT_YET, None
        self.give_back()
        available = A.place.available_bytes()
        try:
            self.allocate(available)
        except MemoryError:  # others have taken the blocks of the last forest
            self.give_back()
            A.take(BYTES_LEFT, available)
            self.allocate(available)
        self.k.plain("start_stream", n, (self.control, np.int64(n), self.tree, self.level))

    def allocate(self, available: int | None) -> None:
        """Takes memory, of which so many bytes are available, and lets the first windows come."""
        cp, A, n, index = cupy(), self.A, self.n, self.index
        left = A.keep(BYTES_LEFT, lambda: left_for_blocks(A, WHOLE_LIST_BYTES * (n + A.nnz)), available)
        coming = WINDOW_COUNT * WINDOW_ENTRIES * (self.end_bytes + A.dtype.itemsize) if beyond(A) else 0
        filled = int((A.indptr[1:] > A.indptr[:-1]).sum()) if A.nrows == n else n // 2
        self.capacity, self.coming = shared_room(left, coming, n, filled, A.nnz, index.itemsize, self.end_bytes)
        self.begin()
        self.list = cp.empty(self.capacity * self.edge_bytes, np.uint8)
        self.control = cp.empty(StreamControl.words, np.uint64)
        self.tree, self.parent = (cp.empty(n, index) for _ in range(2))
        self.offers = [cp.empty(n, np.uint64) for _ in range(2)]
        self.level = cp.empty(n, np.uint8)
        self.levels = cp.zeros(SIEVE_WEIGHTS, np.uint64)
        self.make_room(self.capacity)

    def give_back(self) -> None:
        """Gives back all memory."""
        nothing: Any = None
        self.window, self.windows = None, iter(())
        self.list = self.tree = self.parent = self.level = self.levels = self.chosen = nothing
        self.offers, self.open = list[Any](), list[Any]()

    def begin(self) -> None:
        """Lets the first windows come."""
        self.at, self.windows = 0, self.whole_windows()
        self.window = next(self.windows, None)

    def make_room(self, capacity: int) -> None:
        """Makes room for what is known of so many listed edges, beside themselves."""
        self.capacity = capacity
        self.open = [cupy().empty(capacity, np.uint32) for _ in range(2)]
        self.chosen = cupy().empty(-(-capacity // 32), np.uint32)

    def whole_windows(self) -> Iterator[Window]:
        """Yields the matrix's columns and values, window after window, copied ahead where they are not resident."""
        A, one_value = self.A, step_of(self.A, np.int64) == 0
        ahead = max(WINDOWS_AHEAD, min(WINDOW_COUNT, self.coming // MIN_WINDOW_BYTES))
        if isinstance(A, CompressedCSR):
            for begin, end, own in whole(A.nnz, [A.values]) if one_value else staged((A.values,), self.coming, ahead):
                yield begin, end, [A.words, A.bases, A.starts, *own]
        else:
            for begin, end, own in staged((A.indices,) if one_value else (A.indices, A.values), self.coming, ahead):
                yield begin, end, own if len(own) == 2 else [*own, A.values]

    def collect(self, start: int, which: int, balanced: bool, least: Any = LIGHTEST, most: Any = NOT_YET) -> int:
        """Lists edges from a place in the matrix on, as many as fit; returns where the next ones begin.

        least, most: of their weights.
        """
        A, k = self.A, self.k
        if start != self.at:
            self.begin()
        end = min(A.nnz, start + self.capacity - self.count)
        weights = step_of(A, k.index), np.int32(A.dtype.itemsize), np.bool_(A.dtype.kind == "f")
        sizes, kinds = (
            (k.index(A.nrows), k.index(A.nnz)),
            (np.int32(which), least, most, np.bool_(balanced), k.index(self.first)),
        )
        sieve = self.level, self.levels, self.tree, self.threshold
        at = start
        while at < end and self.window is not None:
            _, last, given = self.window
            stop = min(last, end)
            part = np.int64(at), np.int64(stop), *kinds, *sieve, self.list
            arguments = self.control, A.indptr, *given, *weights, *sizes, *part
            k.plain("collect", stop - at, arguments)
            at = stop
            if at == last:
                self.window = next(self.windows, None)
        before, self.count = self.count, int(self.control[COUNT])
        self.listed += self.count - before
        self.at = end
        return end

    def read(self, which: int, balanced: bool = False) -> None:
        """Makes a forest of the whole matrix."""
        at, total = 0, self.A.nnz
        with Bar(f"a forest of {total:,} entries", total, lambda: at) as bar:
            while at < total:
                at = self.collect(at, which, balanced)
                if at == total or self.full:
                    self.span()
                    if at < total:
                        self.sieve()
                bar.update()

    @property
    def edge_bytes(self) -> int:
        """The bytes of a listed edge: its weight and its ends."""
        return edge_bytes(self.end_bytes)

    @property
    def full(self) -> bool:
        """True if it is time to make a forest of what is listed."""
        return self.count - self.spanned >= FULL_SHARE * (self.capacity - self.spanned)

    def edge_list(self, start: int = 0, stop: int | None = None) -> Array:
        """Returns some listed edges, as bytes."""
        return self.list[start * self.edge_bytes : (self.count if stop is None else stop) * self.edge_bytes]

    def join_lists(self, lists: list[Array], kept: int = 0) -> None:
        """Makes a forest of the lists of several GPUs; `kept` is as for `span`, and counts in the first list."""
        cp, edge, place = cupy(), self.edge_bytes, place_of(self.control)
        total = sum(each.size for each in lists) // edge
        if total > self.capacity:
            self.make_room(total)
        everything: Any = cp.empty(self.capacity * edge, np.uint8)
        start = 0
        for each in lists:
            to_peer(each, place, everything[start : start + each.size])
            start += each.size
        self.list, self.count = everything, total
        self.control[COUNT] = total
        self.span(kept)

    def span(self, kept: int = 0) -> None:
        """Makes a forest of what is listed.

        kept: so many of the first edges are the forest of all lighter ones, whose trees are the first ones here.
        """
        n = np.int64(self.n)
        self.control[:1] = 0
        [threshold] = self.quantiles(FIRST_SHARE) if kept == 0 else [NOT_YET]
        bits = np.int32(max(1, (self.n - 1).bit_length()))
        trees = self.tree, self.parent, *self.offers
        arguments = self.control, n, self.list, threshold, bits, *trees, *self.open, self.chosen, np.int64(kept)
        self.k.persistent("span", max(self.count, self.n), arguments)
        self.count = self.spanned = int(self.control[COUNT])
        self.spans += 1

    def sieve(self) -> None:
        """Finds out what leaves edges out from now on."""
        cp, A = cupy(), self.A
        if self.core is None:
            lengths = cp.subtract(A.indptr[1:], A.indptr[:-1], out=self.parent[: A.nrows])
            self.core = self.index.type(self.first + int(lengths.argmax()))
        found = self.quantiles(*((k + 1) / (SIEVE_WEIGHTS + 1) for k in range(SIEVE_WEIGHTS)))
        self.levels = cp.asarray(np.array(found, np.uint64))
        self.threshold = found[-1]
        self.control[:1] = 0
        levels = self.levels, np.int32(SIEVE_WEIGHTS), self.core
        arguments = self.control, np.int64(self.n), self.list, *levels, self.tree, self.level
        self.k.persistent("sieve", max(self.count, self.n), arguments)

    def quantiles(self, *shares: float) -> list[np.uint64]:
        """Samples the weights below which such shares of the listed edges lie."""
        size = min(self.count, SAMPLED_WEIGHTS)
        if size == 0:
            return [NOT_YET for _ in shares]
        weights = cupy().empty(size, np.uint64)
        self.k.plain("sample_weights", size, (self.list, np.int64(self.count), np.int64(size), weights))
        ascending = np.sort(weights.get())
        return [ascending[int(share * size)] for share in shares]

    def join(self) -> Array:
        """Makes trees of the listed edges; each vertex's is the smallest vertex in it."""
        n = self.n
        self.k.plain("start_trees", n, (np.int64(n), self.tree))
        self.k.plain("join_listed", self.count, (self.list, np.int64(self.count), NOT_YET, self.tree))
        self.k.plain("flatten", n, (np.int64(n), self.tree))
        return self.tree

    def edges(self) -> tuple[Array, Array, Array]:
        """Returns the forest's ends u and v, and weights, ascending; the list is given back."""
        cp, A = cupy(), self.A
        rows, ends = (cp.empty(self.count, self.index) for _ in range(2))
        values = cp.empty(self.count, A.dtype)
        how = np.int32(A.dtype.itemsize), np.bool_(A.dtype.kind == "f")
        self.k.plain("unpack_edges", self.count, (self.list, np.int64(self.count), *how, rows, ends, values))
        self.list = self.chosen = None
        self.open.clear()
        key: Any = rows.astype(np.int64)
        key <<= np.int64(32)
        key |= ends
        del rows, ends
        order = key.argsort()
        key, values = key[order], values[order]
        return (key >> np.int64(32)).astype(self.index), (key & np.int64(LOW_WORD)).astype(self.index), values


def forest_in_one_pass(
    A: CSR | CompressedCSR, symmetrize: bool, with_labels: bool
) -> tuple[COO, Array | None] | Declined:
    """Runs `boruvka` of A, whose entries are read once, in parts for whose edges there is room."""
    if max(A.shape) >= 2**31:
        return Declined(f"it packs two vertices in 64 bits, and there are {A.nrows:,}")
    both_ways = known_symmetric(A)
    balanced = not both_ways and not symmetrize
    run = Stream(A)
    run.read(UPPER if both_ways else ALL_ENTRIES, balanced)
    state = run.control.get()
    details(plan="one pass", edges=A.nnz, spans=run.spans, **StreamControl.read(state, "rounds"), listed=run.listed)
    if balanced:
        if state[BALANCE : BALANCE + 2].any():
            return Declined("an edge has no reverse of the same weight")
        A.keep(SYMMETRIC, lambda: True, False)
    run.offers.clear()
    tree = run.join() if with_labels else None
    run.tree = run.parent = None
    return COO.trusted(*run.edges(), A.shape, 0), tree
