"""Sums over the distances between all vertices: searches from 512 at a time, a bit for each in eight words a vertex.

    f'_v = (∨_u f_u) ∧ ¬seen_v     over the edges u -> v, all searches at once

What a vertex gains at a level is counted, and no level is written. A list holds the vertices that gained at the last
one. Vertices that all searches have found are not written to any more. `algorithms.distance_totals` has the equations.

Searches are dealt to a few parts with sums of their own, whatever the number of threads, so that the sums of floats
depend on the graph alone. O(n² + n m / 512) at best; 216 bytes a vertex for a thread, 24 for a part.

[1] M. Then et al., The more the merrier: efficient multi-source graph traversal, VLDB 2015.
"""

from __future__ import annotations

import numpy as np

from algorithms.distance_totals import Totals
from formats import CSR
from semiring.cpu.compiler.references import operation, tools
from semiring.cpu.kernels import compiled
from semiring.cpu.threads import share

from .atomics import prefetched
from .words import lowest_bit

WORDS = 8
"""Words of a vertex: a line of a cache, so that an edge costs one access for all of its searches."""

LANES = 64 * WORDS
PARTS = 8

LISTED, FOUND = 1, 2
"""Of a vertex: it is in the next list; all searches have found it."""

AHEAD = np.uintp(8)
"""Edges from one to that whose head's words are fetched meanwhile."""


def totals(A: CSR) -> Totals:
    """The sums, as `algorithms.distance_totals.totals` has them."""
    n, blocks = A.nrows, -(-A.nrows // LANES)
    parts = min(PARTS, blocks)
    reached, total = np.zeros((2, parts, n), np.int64)
    inverse, farthest = np.zeros((parts, n)), np.zeros(n, np.int64)

    def work(part: int) -> None:
        words = tuple(np.zeros((3, n * WORDS), np.uint64))
        lists = np.empty(n, A.indices.dtype), np.empty(n, A.indices.dtype)
        state = np.empty(n, np.int8), np.empty(n, np.int64), np.empty((2, WORDS), np.uint64)
        for block in range(part, blocks, parts):
            first = block * LANES
            sums = reached[part], total[part], inverse[part], farthest
            _search((A.indptr, A.indices), first, min(first + LANES, n), words, lists, state, sums)

    share(work, parts)
    return Totals(reached.sum(axis=0), total.sum(axis=0), inverse.sum(axis=0), farthest)


def _words(context, builder, kind, array, at):
    """Where a vertex's words lie, as a pointer to a vector."""
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [at]), tools.ir.VectorType(tools.ir.IntType(64), WORDS).as_pointer())


def _loaded(builder, pointer):
    vector = builder.load(pointer)
    vector.align = 8
    return vector


@operation
def united(typing, y, i, x, k):
    """y[i], … |= x[k], …: the words of two vertices."""

    def emit(context, builder, signature, args):
        to = _words(context, builder, signature.args[0], args[0], args[1])
        added = _loaded(builder, _words(context, builder, signature.args[2], args[2], args[3]))
        builder.store(builder.or_(_loaded(builder, to), added), to).align = 8
        return context.get_dummy_value()

    return tools.types.void(y, tools.types.uintp, x, tools.types.uintp), emit


@operation
def gained(typing, seen, front, after, at, active):
    """How many bits of `after` a vertex has not seen: they are its front, it has seen them, and `active` has them."""

    def emit(context, builder, signature, args):
        ir, word = tools.ir, tools.ir.IntType(64)
        wide = ir.VectorType(word, WORDS)
        old, to, come = (_words(context, builder, signature.args[k], args[k], args[3]) for k in range(3))
        ever = _words(context, builder, signature.args[4], args[4], word(0))
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

    return tools.types.int64(seen, front, after, tools.types.uintp, active), emit


@compiled
def _search(rows, first, stop, words, lists, state, sums):
    """Search from the vertices `first` to `stop`, and add up what is found.

    words: what each vertex has seen, gained at the last level, and gains at the next, 0.  lists: room for two.
    state: of each vertex LISTED or FOUND, and by how many it is found; the searches that go on, and that gain.
    """
    (indptr, indices), (seen, front, after), (queue, other) = rows, words, lists
    (flag, had, lanes), (reached, total, inverse, farthest) = state, sums
    one, wide, going, active = np.uintp(1), np.uintp(WORDS), lanes[0], lanes[1]
    end, level, count = np.uintp(max(indices.size, 1) - 1), 0, 0
    seen[:], flag[:], had[:], going[:] = 0, 0, 0, 0
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
    while count:
        level += 1
        found = 0
        for i in range(count):
            u = np.uintp(queue[i])
            for e in range(np.uintp(indptr[u]), np.uintp(indptr[u + one])):
                prefetched(after, np.uintp(indices[min(e + AHEAD, end)]) * wide)
                v = np.uintp(indices[e])
                if flag[v] != FOUND:
                    united(after, v * wide, front, u * wide)
                    if flag[v] == 0:
                        flag[v] = LISTED
                        other[found] = v
                        found += 1
        active[:], count = 0, 0
        for i in range(found):
            v = np.uintp(other[i])
            new = gained(seen, front, after, v * wide, active)
            if new:
                total[v] += new * level
                inverse[v] += new / level
                had[v] += new
                queue[count] = v
                count += 1
            flag[v] = FOUND if had[v] == stop - first else 0
        for k in range(WORDS):
            ended = going[k] & ~active[k]
            going[k] &= active[k]
            while ended:
                farthest[first + 64 * k + np.int64(lowest_bit(ended))] = level - 1
                ended &= ended - np.uint64(1)
    for place in range(had.size):
        reached[place] += had[place]
