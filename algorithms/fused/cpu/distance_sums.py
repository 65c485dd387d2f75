"""Sums over the distances between all vertices: searches from 512 at a time, a bit for each in eight words a vertex.

    f'_v = (∨_u f_u) ∧ ¬seen_v     over the edges u -> v, all searches at once

What a vertex gains at a level is counted, and no level is written. A list holds the vertices that gained at the last
one. If they are few, their words are pushed along their edges. If they are many, each vertex that some search has not
found gathers the words of all that lead to it, in a register. `algorithms.distance_totals` has the equations.

Searches are dealt to a few parts with sums of their own, whatever the number of threads, so that the sums of floats
depend on the graph alone. O(n² + n m / 512) at best; 216 bytes a vertex for a thread, 24 for a part.

[1] M. Then et al., The more the merrier: efficient multi-source graph traversal, VLDB 2015.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from algorithms.equations.distance_totals import Totals
from formats import CSR
from formats.storage.orientation import by_columns, is_symmetric
from semiring.cpu.atomics import prefetched
from semiring.cpu.compiler.references import interrupted, operation, tools
from semiring.cpu.kernels import compiled, inlined
from semiring.cpu.threads import share

from .words import lowest_bit

WORDS = 8
"""Number of words of a vertex: a line of a cache, so that an edge costs one access for all of its searches."""

LANES = 64 * WORDS
PARTS = 8

MIN_EDGE_LOOKS_FOR_THREADS = 1 << 16
"""Minimum of edges, times the blocks that look at them, for other threads to be woken."""

LISTED, FOUND = 1, 2
"""Flags of a vertex: it is in the next list; all searches have found it."""

GATHER_DIVISOR = 3
"""Words are gathered where more than n / GATHER_DIVISOR vertices have gained at the last level."""

EDGES_AHEAD = np.uintp(8)
"""Edges between one and that whose head's words are prefetched."""


def totals(A: CSR) -> Totals:
    """Return the sums, as `algorithms.distance_totals.totals` has them."""
    n, blocks = A.nrows, -(-A.nrows // LANES)
    parts = min(PARTS, blocks)
    reached, total = np.zeros((2, parts, n), np.int64)
    inverse, farthest = np.zeros((parts, n)), np.zeros(n, np.int64)
    C: Any = A if n == 0 or is_symmetric(A, pattern=True) else by_columns(A)
    edges = (A.indptr, A.indices), (C.indptr, C.indices)

    def work(part: int) -> None:
        words = tuple(np.empty((3, n * WORDS), np.uint64))
        lists = np.empty(n, A.indices.dtype), np.empty(n, A.indices.dtype)
        state = np.empty(n, np.int8), np.empty(n, np.int64), np.empty((3, WORDS), np.uint64)
        for block in range(part, blocks, parts):
            first = block * LANES
            sums = reached[part], total[part], inverse[part], farthest
            _search(edges, first, min(first + LANES, n), words, lists, state, sums)

    if blocks * A.nnz < MIN_EDGE_LOOKS_FOR_THREADS:
        for part in range(parts):
            work(part)
    else:
        share(work, parts)
    return Totals(reached.sum(axis=0), total.sum(axis=0), inverse.sum(axis=0), farthest)


def _words(context, builder, kind, array, at):
    """Return a pointer to a vertex's words, as to a vector."""
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [at]), tools.ir.VectorType(tools.ir.IntType(64), WORDS).as_pointer())


def _loaded(builder, pointer):
    vector = builder.load(pointer)
    vector.align = 8
    return vector


@operation
def united(typing, y, i, x, k):
    """Unite the words of two vertices: y[i] |= x[k], and so on for the words that follow."""

    def emit(context, builder, signature, args):
        to = _words(context, builder, signature.args[0], args[0], args[1])
        added = _loaded(builder, _words(context, builder, signature.args[2], args[2], args[3]))
        builder.store(builder.or_(_loaded(builder, to), added), to).align = 8
        return context.get_dummy_value()

    return tools.types.void(y, tools.types.uintp, x, tools.types.uintp), emit


@operation
def gathered(typing, y, x, vertices, first, last):
    """Gather in y the union of the words that x has for the vertices in these places."""

    def emit(context, builder, signature, args):
        ir, wide = tools.ir, tools.ir.VectorType(tools.ir.IntType(64), WORDS)
        listed = context.make_array(signature.args[2])(context, builder, args[2]).data
        before, body, after = builder.block, *(builder.append_basic_block(name) for name in ("vertex", "vertices"))
        nothing = ir.Constant(wide, [0] * WORDS)
        builder.cbranch(builder.icmp_unsigned("<", args[3], args[4]), body, after)
        builder.position_at_end(body)
        place, sum_ = builder.phi(args[3].type), builder.phi(wide)
        vertex = builder.load(builder.gep(listed, [place]))
        vertex = vertex if vertex.type == args[3].type else builder.zext(vertex, args[3].type)
        at = builder.mul(vertex, ir.Constant(args[3].type, WORDS))
        more = builder.or_(sum_, _loaded(builder, _words(context, builder, signature.args[1], args[1], at)))
        following = builder.add(place, ir.Constant(args[3].type, 1))
        for phi, begin, then in ((place, args[3], following), (sum_, nothing, more)):
            phi.add_incoming(begin, before)
            phi.add_incoming(then, builder.block)
        builder.cbranch(builder.icmp_unsigned("<", following, args[4]), body, after)
        end = builder.block
        builder.position_at_end(after)
        total = builder.phi(wide)
        total.add_incoming(nothing, before)
        total.add_incoming(more, end)
        pointer = _words(context, builder, signature.args[0], args[0], ir.Constant(args[3].type, 0))
        builder.store(total, pointer).align = 8
        return context.get_dummy_value()

    return tools.types.void(y, x, vertices, tools.types.uintp, tools.types.uintp), emit


@operation
def gained(typing, seen, front, at, after, k, active):
    """Count the searches of after[k], … that newly reach `at`, and add them to its words and to `active`."""

    def emit(context, builder, signature, args):
        ir, word = tools.ir, tools.ir.IntType(64)
        wide = ir.VectorType(word, WORDS)
        old, to = (_words(context, builder, signature.args[k], args[k], args[2]) for k in range(2))
        come, ever = (
            _words(context, builder, signature.args[k], args[k], at) for k, at in ((3, args[4]), (5, word(0)))
        )
        known = _loaded(builder, old)
        new = builder.and_(_loaded(builder, come), builder.not_(known))
        for pointer, value in (
            (old, builder.or_(known, new)),
            (to, new),
            (come, ir.Constant(wide, [0] * WORDS)),
            (ever, builder.or_(_loaded(builder, ever), new)),
        ):
            builder.store(value, pointer).align = 8
        kind = ir.FunctionType(wide, [wide])
        bits = builder.call(
            tools.cgutils.get_or_insert_function(builder.module, kind, f"llvm.ctpop.v{WORDS}i64"), [new]
        )
        name = f"llvm.vector.reduce.add.v{WORDS}i64"
        add = tools.cgutils.get_or_insert_function(builder.module, ir.FunctionType(word, [wide]), name)
        return builder.call(add, [bits])

    return tools.types.int64(seen, front, tools.types.uintp, after, tools.types.uintp, active), emit


@inlined
def _count(v, new, level, searches, had, flag, total, inverse):
    """Add up what so many more searches that find a vertex tell."""
    total[v] += new * level
    inverse[v] += new / level
    had[v] += new
    flag[v] = FOUND if had[v] == searches else 0


@inlined
def _push(rows, front, after, flag, queue, count, other):
    """Unite the words of listed vertices with those that they lead to; returns how many the other list has."""
    (indptr, indices), one, wide, found = rows, np.uintp(1), np.uintp(WORDS), 0
    end = np.uintp(max(indices.size, 1) - 1)
    for i in range(count):
        u = np.uintp(queue[i])
        for e in range(np.uintp(indptr[u]), np.uintp(indptr[u + one])):
            prefetched(after, np.uintp(indices[min(e + EDGES_AHEAD, end)]) * wide)
            v = np.uintp(indices[e])
            if flag[v] != FOUND:
                united(after, v * wide, front, u * wide)
                if flag[v] == 0:
                    flag[v] = LISTED
                    other[found] = v
                    found += 1
    return found


@compiled
def _search(edges, first, stop, words, lists, state, sums):
    """Search from the vertices `first` to `stop`, and add up what is found.

    edges: A's rows, and its columns.  words: room for what each vertex has seen, gained at the last level, and gains at
    the next.  lists: room for two.  state: of each vertex LISTED or FOUND, and by how many it is found; the searches
    that go on, that gain, and what a vertex gathers.
    """
    (rows, (starts, before)), (seen, front, after), (queue, other) = edges, words, lists
    (flag, had, lanes), (reached, total, inverse, farthest) = state, sums
    one, wide, going, active, come = np.uintp(1), np.uintp(WORDS), lanes[0], lanes[1], lanes[2]
    level, count, n, searches, dense = 0, 0, flag.size, stop - first, False
    seen[:], after[:], flag[:], had[:], going[:] = 0, 0, 0, 0, 0
    for source in range(first, stop):
        v = np.uintp(source)
        word, bit = np.uintp(source - first) >> np.uintp(6), np.uint64(1) << np.uint64((source - first) & 63)
        for k in range(WORDS):
            front[v * wide + np.uintp(k)] = 0
        front[v * wide + word] = bit
        seen[v * wide + word] |= bit
        going[word] |= bit
        queue[count], had[v] = source, 1
        count += 1
    while count and not interrupted():
        level += 1
        active[:] = 0
        if count * GATHER_DIVISOR <= n:
            if dense:
                after[:], dense = 0, False
            found, count = _push(rows, front, after, flag, queue, count, other), 0
            for i in range(found):
                v = np.uintp(other[i])
                new = gained(seen, front, v * wide, after, v * wide, active)
                if new:
                    queue[count] = v
                    count += 1
                _count(v, new, level, searches, had, flag, total, inverse)
        else:
            if not dense:  # of the words of the last level those of the listed alone
                for i in range(count):
                    u = np.uintp(queue[i])
                    united(after, u * wide, front, u * wide)
                front, after, dense = after, front, True
            count = 0
            for place in range(n):
                v = np.uintp(place)
                if flag[v] == FOUND:
                    for k in range(WORDS):
                        after[v * wide + np.uintp(k)] = 0
                    continue
                gathered(come, front, before, np.uintp(starts[v]), np.uintp(starts[v + one]))
                new = gained(seen, after, v * wide, come, np.uintp(0), active)
                if new:
                    queue[count] = v
                    count += 1
                    _count(v, new, level, searches, had, flag, total, inverse)
            front, after = after, front
        for k in range(WORDS):
            ended = going[k] & ~active[k]
            going[k] &= active[k]
            while ended:
                farthest[first + 64 * k + np.int64(lowest_bit(ended))] = level - 1
                ended &= ended - np.uint64(1)
    for place in range(had.size):
        reached[place] += had[place]
