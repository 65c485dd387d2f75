"""Steps of breadth-first searches from up to 64 sources, a bit for each in a word for each vertex: compiled loops.

`push` takes levels from a queue, `push_share` a thread's share of a level, and `pull` goes down the columns. All
count the level of each vertex that they find in digits, see `search_rows`.
"""

from __future__ import annotations

import numpy as np

from semiring.cpu.atomics import added, prefetched
from semiring.cpu.compiler.references import interrupted
from semiring.cpu.kernels import compiled, inlined

from .search_rows import count_level
from .words import bits_set

VERTICES_AT_A_TIME = 512
"""Number of vertices that a thread takes at a time to pull."""

LEVEL, FOUND, TOUCHED, EDGES, COUNT, ACTIVE, LEFT = range(7)
"""Places in the state of some searches.

They hold the level's number; bits found and words that gained them, so far; the frontier's edges, its vertices and its
searches, a bit for each; and how many vertices are left to pull."""

EDGES_AHEAD = np.uintp(16)
VERTICES_AHEAD = np.uintp(8)
"""Places between one and those that are prefetched: of an edge's head, and of a queue's vertex whose row is."""

COLUMNS_AHEAD, HEADS_AHEAD = np.uintp(32), np.uintp(16)
"""Places between a vertex that is pulled and that whose column is prefetched, and that whose first head is."""

EDGES_AT_ONCE = 8
"""Number of entries of a column that are looked at without a question."""


@compiled
def begin(sources, words, digits):
    """Give level 0 to each source in its own search."""
    seen, front, _ = words
    for lane in range(sources.size):
        bit, v = np.uint64(1) << np.uint64(lane), np.uintp(sources[lane])
        seen[v] |= bit
        front[v] |= bit
        count_level(digits, v, bit, np.uint64(1))


@compiled
def list_places(words, places):
    """Write the places of the words that are not 0, and count them; one place more is written to."""
    count = 0
    for v in range(words.size):
        places[count] = v
        count += words[v] != 0
    return count


@inlined
def first_from(indices, e, stop, v):
    """Find the first entry of a row from a vertex on."""
    while e < stop:
        middle = (e + stop) >> np.uintp(1)
        if indices[middle] < v:
            e = middle + np.uintp(1)
        else:
            stop = middle
    return e


@inlined
def spread(rows, front, after, queue, count, other, first, cuts):
    """Give the bits of the queue's vertices to their neighbours in [begin, end) = cuts; returns where their list ends.

    The list begins at other[first]. One place more than it takes is written to.
    """
    (indptr, indices), (begin, end), one = rows, cuts, np.uintp(1)
    tail, f, last, final = np.uintp(first), np.uintp(0), np.uintp(count), np.uintp(indices.size - 1)
    whole = begin == 0 and end == after.size
    while f < last:
        ahead = np.uintp(queue[min(f + VERTICES_AHEAD, last - one)])
        prefetched(indptr, ahead)
        prefetched(front, ahead)
        prefetched(indices, np.uintp(indptr[np.uintp(queue[min(f + VERTICES_AHEAD // np.uintp(2), last - one)])]))
        u = np.uintp(queue[f])
        f += one
        bits, e, stop = front[u], np.uintp(indptr[u]), np.uintp(indptr[u + one])
        if not whole:
            e = first_from(indices, e, stop, begin)
            stop = first_from(indices, e, stop, end)
        while e < stop:
            prefetched(after, np.uintp(indices[min(e + EDGES_AHEAD, final)]))
            v = np.uintp(indices[e])
            e += one
            before = after[v]
            after[v] = before | bits
            other[tail] = v
            tail += np.uintp(before == 0)
    return tail


@inlined
def settle(indptr, words, digits, other, begin, tail, number, own):
    """Keep the listed vertices that have new bits, and count their level. `own` becomes the state of them."""
    (seen, after), one, size = words, np.uintp(1), np.uintp(digits.shape[1])
    kept, bits_found, edges, active = np.uintp(begin), np.int64(0), np.int64(0), np.uint64(0)
    for place in range(np.uintp(begin), tail):
        ahead = np.uintp(other[min(place + EDGES_AHEAD, tail - one)])
        prefetched(indptr, ahead)
        prefetched(seen, ahead)
        prefetched(after, ahead)
        prefetched(digits, ahead * size)
        v = np.uintp(other[place])
        new = after[v] & ~seen[v]
        after[v] = new
        seen[v] |= new
        active |= new
        bits_found += np.int64(bits_set(new))
        edges += (np.int64(indptr[v + one]) - np.int64(indptr[v])) * (new != 0)
        count_level(digits, v, new, number)
        other[kept] = v
        kept += np.uintp(new != 0)
    count = np.int64(kept) - begin
    own[COUNT], own[EDGES], own[FOUND], own[TOUCHED], own[ACTIVE] = count, edges, bits_found, count, np.int64(active)


@compiled
def push(rows, words, digits, queues, state, stop, most):
    """Push levels from the queue, up to the level `stop`, or until one has more than `most` edges.

    Returns whether front and after, and the queues, have been swapped.
    """
    (seen, front, after), (queue, other), swapped, own = words, queues, False, np.zeros_like(state)
    while True:
        count = state[COUNT]
        tail = spread(rows, front, after, queue, count, other, 0, (0, seen.size))
        for f in range(count):
            front[np.uintp(queue[f])] = 0
        state[LEVEL] += 1
        settle(rows[0], (seen, after), digits, other, 0, tail, np.uint64(state[LEVEL] + 1), own)
        state[FOUND] += own[FOUND]
        state[TOUCHED] += own[TOUCHED]
        state[COUNT], state[EDGES], state[ACTIVE] = own[COUNT], own[EDGES], own[ACTIVE]
        queue, other, front, after, swapped = other, queue, after, front, not swapped
        if not (state[COUNT] and state[LEVEL] < stop and state[EDGES] <= most):
            return swapped


@compiled
def push_share(rows, words, digits, queues, state, own, cuts, first):
    """Push a thread's share of a level, which lies in [cuts[0], cuts[1]), and list it from other[first] on."""
    (seen, front, after), (queue, other) = words, queues
    tail = spread(rows, front, after, queue, state[COUNT], other, first, (cuts[0], cuts[1]))
    settle(rows[0], (seen, after), digits, other, first, tail, np.uint64(state[LEVEL] + 2), own)


@inlined
def seen_by(front, indices, e, stop, rest):
    """Return the searches of `rest` that have a vertex of a column, which is not empty."""
    one, many = np.uintp(1), np.uintp(EDGES_AT_ONCE)
    new = front[np.uintp(indices[e])]
    e += one
    while e + many <= stop and rest & ~new:
        for k in range(EDGES_AT_ONCE):
            new |= front[np.uintp(indices[e + np.uintp(k)])]
        e += many
    while e < stop and rest & ~new:
        new |= front[np.uintp(indices[e])]
        e += one
    return new & rest


@compiled
def pull(rows, words, digits, waiting, state, taken, left, own):
    """Pull a thread's share of a level, VERTICES_AT_A_TIME of the waiting vertices at a time.

    rows: indptr and indices of the columns, and indptr of the rows.  left: room for the vertices that are left to pull.
    own: the state of what the thread has found.
    """
    (indptr, indices, starts), (seen, front, after) = rows, words
    active, number = np.uint64(state[ACTIVE]), np.uint64(state[LEVEL] + 2)
    one, n, size = np.uintp(1), np.uintp(waiting.size), np.uintp(digits.shape[1])
    bits_found, count, edges, gained, kept = np.int64(0), np.int64(0), np.int64(0), np.uint64(0), np.uintp(0)
    while True:
        first = np.uintp(added(taken, 0, VERTICES_AT_A_TIME))
        if first >= n or interrupted():
            break
        for i in range(first, min(first + np.uintp(VERTICES_AT_A_TIME), n)):
            later = np.uintp(waiting[min(i + COLUMNS_AHEAD, n - one)])
            prefetched(indices, np.uintp(indptr[later]))
            prefetched(seen, later)
            prefetched(starts, later)
            prefetched(after, later)
            prefetched(digits, later * size)
            prefetched(front, np.uintp(indices[np.uintp(indptr[np.uintp(waiting[min(i + HEADS_AHEAD, n - one)])])]))
            v = np.uintp(waiting[i])
            rest = active & ~seen[v]
            new = seen_by(front, indices, np.uintp(indptr[v]), np.uintp(indptr[v + one]), rest)
            after[v] = new
            seen[v] |= new
            gained |= new
            bits_found += np.int64(bits_set(new))
            edges += (np.int64(starts[v + one]) - np.int64(starts[v])) * (new != 0)
            count += new != 0
            if new:
                count_level(digits, v, new, number)
            left[kept] = v
            kept += np.uintp(new != rest)
    own[FOUND], own[TOUCHED], own[COUNT], own[EDGES], own[ACTIVE] = bits_found, count, count, edges, np.int64(gained)
    own[LEFT] = np.int64(kept)
