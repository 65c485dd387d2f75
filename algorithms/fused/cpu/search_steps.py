"""Steps of breadth-first searches from up to 64 sources, a bit for each in a word for each vertex: compiled loops.

`push` takes levels from a queue, `push_share` a thread's share of a level, `pull` another's down columns. A level is
noted vertex by vertex, or counted in digits, see `search_rows`.
"""

from __future__ import annotations

import numpy as np

from semiring.cpu.compiler.references import interrupted
from semiring.cpu.kernels import compiled, inlined

from .atomics import added, prefetched
from .search_rows import count_level
from .words import bits_set, lowest_bit

GRAIN = 512
"""Vertices that a thread takes at a time to pull."""

LEVEL, FOUND, TOUCHED, EDGES, COUNT, ACTIVE, LEFT, INTO, NOTED, COUNTED = range(10)
"""What is known at a level: its number; bits found, words that gained them, edges of the frontier, its vertices, and
the searches that it is of; how many vertices are left to pull, and the edges into them; how many notes there are, and
whether any level is counted in digits."""

FAR = np.uintp(16)
AHEAD = np.uintp(8)
"""Places in the queue from one to that whose row is fetched meanwhile."""

LATER, SOON = np.uintp(32), np.uintp(16)
"""Places from a vertex that is pulled to that whose column is fetched meanwhile, and that whose first neighbour is."""

AT_ONCE = 8
"""Entries of a column that are looked at without a question."""


@compiled
def begin(sources, seen, front, notes, state):
    vertices, words, numbers = notes
    for lane in range(sources.size):
        bit = np.uint64(1) << np.uint64(lane)
        seen[sources[lane]] |= bit
        front[sources[lane]] |= bit
        vertices[lane], words[lane], numbers[lane] = sources[lane], bit, 1
    state[NOTED] = sources.size


@compiled
def note(listed, front, counting, state):
    """Note the level of the vertices that are listed, or count it in digits where there is no room for notes."""
    ((vertices, words, numbers), digits), first, count = counting, state[NOTED], state[COUNT]
    number = state[LEVEL] + 1
    if first + count > vertices.size:
        state[COUNTED] = 1
        for i in range(count):
            prefetched(digits, np.uintp(listed[min(i + FAR, count - 1)]) * np.uintp(digits.shape[1]))
            v = np.uintp(listed[i])
            count_level(digits, v, front[v], np.uint64(number))
        return
    for i in range(count):
        v = listed[i]
        vertices[first + i], words[first + i], numbers[first + i] = v, front[np.uintp(v)], number
    state[NOTED] += count


@compiled
def count_notes(notes, digits, state):
    """Count the levels that are noted in digits, and forget the notes."""
    vertices, words, numbers = notes
    for i in range(state[NOTED]):
        count_level(digits, np.uintp(vertices[i]), words[i], np.uint64(numbers[i]))
    state[NOTED] = 0


@compiled
def write_notes(notes, levels, state):
    """Write the levels that are noted to rows of levels."""
    vertices, words, numbers = notes
    for i in range(state[NOTED]):
        word = words[i]
        while word:
            levels[lowest_bit(word), vertices[i]] = numbers[i] - 1
            word &= word - np.uint64(1)


@compiled
def list_places(words, places):
    """Write the places of the words that are not 0."""
    count = 0
    for v in range(words.size):
        places[count] = v
        count += words[v] != 0


@inlined
def first_from(indices, e, stop, v):
    """The first entry of a row from a vertex on."""
    while e < stop:
        middle = (e + stop) >> np.uintp(1)
        if indices[middle] < v:
            e = middle + np.uintp(1)
        else:
            stop = middle
    return e


@inlined
def spread(rows, front, after, queue, count, other, first, cuts):
    """Give the bits of the queue's vertices to their neighbours in [begin, end) = cuts; where their list ends.

    The list begins at other[first]. One place more than it takes is written to.
    """
    (indptr, indices), (begin, end), one = rows, cuts, np.uintp(1)
    tail, f, last, final = np.uintp(first), np.uintp(0), np.uintp(count), np.uintp(indices.size - 1)
    whole = begin == 0 and end == after.size
    while f < last:
        ahead = np.uintp(queue[min(f + AHEAD, last - one)])
        prefetched(indptr, ahead)
        prefetched(front, ahead)
        prefetched(indices, np.uintp(indptr[np.uintp(queue[min(f + AHEAD // np.uintp(2), last - one)])]))
        u = np.uintp(queue[f])
        f += one
        bits, e, stop = front[u], np.uintp(indptr[u]), np.uintp(indptr[u + one])
        if not whole:
            e = first_from(indices, e, stop, begin)
            stop = first_from(indices, e, stop, end)
        while e < stop:
            prefetched(after, np.uintp(indices[min(e + FAR, final)]))
            v = np.uintp(indices[e])
            e += one
            before = after[v]
            after[v] = before | bits
            other[tail] = v
            tail += np.uintp(before == 0)
    return tail


@inlined
def settle(indptr, words, other, begin, tail, own):
    """Keep the listed vertices that have new bits. `own` becomes of them."""
    (seen, after), one = words, np.uintp(1)
    kept, bits_found, edges, active = np.uintp(begin), np.int64(0), np.int64(0), np.uint64(0)
    for place in range(np.uintp(begin), tail):
        ahead = np.uintp(other[min(place + FAR, tail - one)])
        prefetched(indptr, ahead)
        prefetched(seen, ahead)
        prefetched(after, ahead)
        v = np.uintp(other[place])
        new = after[v] & ~seen[v]
        after[v] = new
        seen[v] |= new
        active |= new
        bits_found += np.int64(bits_set(new))
        edges += (np.int64(indptr[v + one]) - np.int64(indptr[v])) * (new != 0)
        other[kept] = v
        kept += np.uintp(new != 0)
    count = np.int64(kept) - begin
    own[COUNT], own[EDGES], own[FOUND], own[TOUCHED], own[ACTIVE] = count, edges, bits_found, count, np.int64(active)


@compiled
def push(rows, words, counting, queues, state, kept, stop, most):
    """Push levels from the queue, up to the level `stop`, or until one has more than `most` edges.

    kept: the front is to stay as it is, so one level alone.  Returns whether front and after, and the queues, have been
    swapped.
    """
    (seen, front, after), (queue, other), swapped, own = words, queues, False, np.zeros_like(state)
    while True:
        count = state[COUNT]
        tail = spread(rows, front, after, queue, count, other, 0, (0, seen.size))
        for f in range(0 if kept else count):
            front[np.uintp(queue[f])] = 0
        state[LEVEL] += 1
        settle(rows[0], (seen, after), other, 0, tail, own)
        state[FOUND] += own[FOUND]
        state[TOUCHED] += own[TOUCHED]
        state[COUNT], state[EDGES], state[ACTIVE] = own[COUNT], own[EDGES], own[ACTIVE]
        note(other, after, counting, state)
        queue, other, front, after, swapped = other, queue, after, front, not swapped
        if kept or not (state[COUNT] and state[LEVEL] < stop and state[EDGES] <= most):
            return swapped


@compiled
def push_share(rows, words, queues, state, own, cuts, first):
    """A thread's share of a level: what lies in [cuts[0], cuts[1]), listed from other[first] on."""
    (seen, front, after), (queue, other) = words, queues
    tail = spread(rows, front, after, queue, state[COUNT], other, first, (cuts[0], cuts[1]))
    settle(rows[0], (seen, after), other, first, tail, own)


@compiled
def push_some(rows, words, queue, count, some, cuts):
    """A thread's share of a push before a pull: what some searches have of the queue goes to [cuts[0], cuts[1])."""
    (indptr, indices), (seen, front, after), one = rows, words, np.uintp(1)
    final = np.uintp(indices.size - 1)
    for i in range(count):
        u = np.uintp(queue[i])
        bits = front[u] & some
        if not bits:
            continue
        e = first_from(indices, np.uintp(indptr[u]), np.uintp(indptr[u + one]), cuts[0])
        stop = first_from(indices, e, np.uintp(indptr[u + one]), cuts[1])
        while e < stop:
            ahead = np.uintp(indices[min(e + FAR, final)])
            prefetched(after, ahead)
            prefetched(seen, ahead)
            v = np.uintp(indices[e])
            e += one
            after[v] |= bits & ~seen[v]


@inlined
def seen_by(front, indices, e, stop, rest):
    """The searches of `rest` that have a vertex of a column, which is not empty."""
    one, many = np.uintp(1), np.uintp(AT_ONCE)
    new = front[np.uintp(indices[e])]
    e += one
    while e + many <= stop and rest & ~new:
        for k in range(AT_ONCE):
            new |= front[np.uintp(indices[e + np.uintp(k)])]
        e += many
    while e < stop and rest & ~new:
        new |= front[np.uintp(indices[e])]
        e += one
    return new & rest


@inlined
def taken_from(waiting, whole, indptr, words, searches, first, stop, some):
    """Write those of waiting[first:stop] that are left to pull to `some`; how many. whole: of all vertices."""
    (seen, _, after), active, pushed, count = words, searches[0], searches[1], np.uintp(0)
    for i in range(np.uintp(first), np.uintp(stop)):
        if whole:
            after[i], some[count] = after[i] if pushed else np.uint64(0), i
            count += np.uintp((indptr[i] < indptr[i + np.uintp(1)]) & (active & ~seen[i] != np.uint64(0)))
        else:
            some[count] = waiting[i]
            count += np.uintp(1)
    return count


@compiled
def pull(rows, words, waiting, whole, searches, taken, lists, own):
    """A thread's share of a level: GRAIN places of `waiting` at a time, or vertices if it is `whole`.

    searches: all that have a frontier, and those whose part of it was pushed.  lists: for the vertices that are left,
    and for those found, if there is room.  own: what has been found, as the state has it.
    """
    (indptr, indices, starts), (seen, front, after), (left, found) = rows, words, lists
    active, pushed = searches[0], searches[1]
    one, n, some = np.uintp(1), waiting.size, np.empty(GRAIN, indices.dtype)
    bits_found, count, edges, gained = np.int64(0), np.uintp(0), np.int64(0), np.uint64(0)
    kept, into = np.uintp(0), np.int64(0)
    while True:
        first = added(taken, 0, GRAIN)
        if first >= n or interrupted():
            break
        size = taken_from(waiting, whole, indptr, words, searches, first, min(first + GRAIN, n), some)
        for i in range(size):
            later = np.uintp(some[min(i + LATER, size - one)])
            prefetched(indices, np.uintp(indptr[later]))
            prefetched(seen, later)
            prefetched(starts, later)
            prefetched(after, later)
            prefetched(front, np.uintp(indices[np.uintp(indptr[np.uintp(some[min(i + SOON, size - one)])])]))
            v = np.uintp(some[i])
            e, stop, rest = np.uintp(indptr[v]), np.uintp(indptr[v + one]), active & ~seen[v]
            new = after[v] | seen_by(front, indices, e, stop, rest & ~pushed)
            after[v] = new
            seen[v] |= new
            gained |= new
            bits_found += np.int64(bits_set(new))
            edges += (np.int64(starts[v + one]) - np.int64(starts[v])) * (new != 0)
            if found.size:
                found[count] = v
            count += np.uintp(new != 0)
            left[kept] = v
            kept += np.uintp(new != rest)
            into += np.int64(stop - e) * (new != rest)
    own[FOUND], own[COUNT], own[EDGES], own[ACTIVE] = bits_found, np.int64(count), edges, np.int64(gained)
    own[LEFT], own[INTO] = np.int64(kept), into
