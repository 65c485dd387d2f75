"""The loops that compiled programs are made of, for a semiring or an operator and a dtype.

Each takes sparse vectors as lists: indices, values, and how many. It writes lists with room for every element of the
vector and one more. Threads share products of dense vectors; all else is the calling thread's.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from ..algebra.ops import BinaryOp
from ..algebra.semirings import Semiring
from ..cpu.dealing import dealt
from ..cpu.kernels import inlined, terms
from ..cpu.lanes import lowest

ONE: Any = np.uintp(1)
SIX, SIXTY_THREE, BIT = np.uint64(6), np.uint64(63), np.uint64(1)
ROWS_AT_A_TIME = 1 << 9
"""Number of rows that a thread takes at a time."""
FEW_PLACES = 8
"""Number of elements of a vector for each place in a list of any order, up to which all are looked at instead."""
WORDS_PER_ENTRY = 64
"""Number of words of a bitmap for each entry of a list from which on the list is sorted without one."""


@lru_cache(maxsize=256)
def pushing(
    semiring: Semiring,
    dtype: np.dtype,
    matrix_first: bool,
    masked: bool,
    compare: BinaryOp | None = None,
    argument: bool = False,
) -> Callable[..., Any]:
    """Make the product of a sparse vector: y_k ⊕= a_ik ⊗ x_i, at the cost of the entries of its rows.

    compare: a comparison with ⊕'s order: only terms for which it holds, and the element of d, are taken.  argument: d
    is for the smallest i that gives each y_k.
    """
    t = terms(semiring, dtype, matrix_first)
    zero, product, add = t.zero, t.product, t.add
    holds, compared = inlined(compare.scalar) if compare else inlined(lambda term, known: True), compare is not None

    def push(matrix, x, y, d, mask, to):
        """Write the list of the product; returns its length.  y: zeros, as it is left again."""
        (indptr, indices, values), (x_i, x_v, count), (allowed, wanted), (to_i, to_v) = matrix, x, mask, to
        end, most = np.uintp(0), np.uintp(to_i.size - 1)
        for p in range(np.uintp(count)):
            i, weight = np.uintp(x_i[p]), x_v[p]
            for e in range(np.uintp(indptr[i]), np.uintp(indptr[i + ONE])):
                k = np.uintp(indices[e])
                if masked and allowed[k] != wanted:
                    continue
                term = product(values[e], weight)
                if compared and not holds(term, d[k]):
                    continue
                before = y[k]
                now = add(before, term)
                y[k] = now
                if argument and now != zero and (before == zero or now != before or (term == now and i < d[k])):
                    d[k] = i
                to_i[end] = k
                end = min(end + np.uintp((before == zero) & (now != zero)), most)  # whatever the user's ⊕ gives
        for p in range(end):
            k = np.uintp(to_i[p])
            to_v[p] = y[k]
            y[k] = zero
        return np.int64(end)

    return push


@lru_cache(maxsize=256)
def adding(semiring: Semiring, dtype: np.dtype) -> tuple[Any, Any]:
    """Make (a sum and a term that is added to it, whether a term and the sum after it are exact) for compiled code.

    Sums of integers are exact where they can neither stop nor wrap. Floats are rounded as in the verb, term by term.
    """
    add = terms(semiring, dtype, matrix_first=True).add
    if semiring.add.idempotent or dtype.kind != "i":
        return add, inlined(lambda before, t: True)
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    most = high // 2 if dtype == np.int64 else high

    def fits(before, t):
        return (low < t) & (t < high) & (-most <= t) & (t <= most) & (-most <= before) & (before <= most)

    def fits_narrow(before, t):
        now = np.int64(before) + np.int64(t)
        return (low < t) & (t < high) & (low < now) & (now < high)

    return inlined(lambda before, t: dtype.type(before + t)), fits if dtype == np.int64 else fits_narrow


@lru_cache(maxsize=256)
def summing(semiring: Semiring, dtype: np.dtype, matrix_first: bool, masked: bool) -> Callable[..., Any]:
    """Make the product of a sparse vector, as `pushing`, for sums that may come back to zero, in the list's order."""
    t = terms(semiring, dtype, matrix_first)
    (add, fits), zero, product = adding(semiring, dtype), t.zero, t.product

    def push(matrix, x, y, seen, mask, to):
        """Write the list of the product; returns its length, or -1 for a sum that may not be exact."""
        (indptr, indices, values), (x_i, x_v, count), (allowed, wanted), (to_i, to_v) = matrix, x, mask, to
        end, left = np.uintp(0), 0
        for p in range(np.uintp(count)):
            i, weight = np.uintp(x_i[p]), x_v[p]
            for e in range(np.uintp(indptr[i]), np.uintp(indptr[i + ONE])):
                k = np.uintp(indices[e])
                if masked and allowed[k] != wanted:
                    continue
                term = product(values[e], weight)
                if not fits(y[k], term):
                    return -1
                y[k] = add(y[k], term)
                if not seen[k]:
                    seen[k], to_i[end] = True, k
                    end += np.uintp(1)
        for p in range(end):
            k = np.uintp(to_i[p])
            if y[k] != zero:
                to_i[left], to_v[left] = k, y[k]
                left += 1
            y[k], seen[k] = zero, False
        return left

    return push


@lru_cache(maxsize=256)
def gathering(semiring: Semiring, dtype: np.dtype, matrix_first: bool, masked: bool) -> Callable[..., Any]:
    """Make the product of a dense vector along the stored rows, which threads share: y_i = ⊕_k a_ik ⊗ x_k."""
    t = terms(semiring, dtype, matrix_first)
    (add, fits), zero, product, terminal = adding(semiring, dtype), t.zero, t.product, t.terminal

    def gather(first, stop, matrix, x, allowed, wanted, y, exact):
        """Write y for rows from `first` to `stop`; exact[0] becomes False if a sum may not be exact."""
        indptr, indices, values = matrix
        for i in range(np.uintp(first), np.uintp(stop)):
            total = zero
            if not masked or allowed[i] == wanted:
                for e in range(np.uintp(indptr[i]), np.uintp(indptr[i + ONE])):
                    term = product(values[e], x[np.uintp(indices[e])])
                    if not fits(total, term):
                        exact[0] = False
                        return
                    total = add(total, term)
                    if terminal and total != zero:
                        break
            y[i] = total

    return dealt(gather)


def look(x, size, zero, places, flags, count, ascends):
    """Keep those of a list's places at which x is not zero; returns how many.  count: -1 if there is no list yet.

    A long list of places in any order is made anew, in their order.
    """
    end = 0
    if count >= 0 and (ascends or count * FEW_PLACES < size):
        for p in range(count):
            i = np.uintp(places[p])
            if x[i] != zero:
                places[end] = i
                end += 1
            else:
                flags[i] = False
        return end
    for p in range(count):
        flags[np.uintp(places[p])] = False
    for k in range(np.uintp(size)):
        if x[k] != zero:
            flags[k], places[end] = True, k
            end += 1
    return end


def by_value(x, order, starts):
    """List the places of each value, which are ascending, by its last bits; starts has a power of two and one more."""
    last = np.int64(starts.size - 2)
    for i in range(x.size):
        starts[(np.int64(x[i]) & last) + 1] += 1
    for k in range(last + 1):
        starts[k + 1] += starts[k]
    for i in range(x.size):
        value = np.int64(x[i]) & last
        order[starts[value]] = i
        starts[value] += 1
    for k in range(last, -1, -1):
        starts[k + 1] = starts[k]
    starts[0] = 0


@lru_cache(maxsize=256)
def uniting(op: BinaryOp, dtype: np.dtype, zero: Any, drops: bool, keeps: bool) -> Callable[..., Any]:
    """Make the union of two lists: op where both have an entry.  zero: what is absent also where it is stored.

    drops: entries that are zero go, as of ewise_add; else they stay, as of an accumulation.  keeps: op gives back the
    other operand where one is zero.
    """
    combined = function_of(op, dtype)

    def unite(u, v, place, to):
        """Write the union; returns its length.  place: minus ones, as it is left again."""
        (u_i, u_v, u_n), (v_i, v_v, v_n), (to_i, to_v) = u, v, to
        end = 0
        for p in range(u_n):
            if keeps or not drops or u_v[p] != zero:
                place[np.uintp(u_i[p])] = end
                to_i[end], to_v[end] = u_i[p], u_v[p]
                end += 1
        for p in range(v_n):
            at = place[np.uintp(v_i[p])]
            if at < 0:
                if keeps or not drops or v_v[p] != zero:
                    to_i[end], to_v[end] = v_i[p], v_v[p]
                    end += 1
            elif keeps:
                to_v[at] = combined(to_v[at], v_v[p])
            elif to_v[at] == zero:
                to_v[at] = v_v[p]
            elif v_v[p] != zero:
                to_v[at] = combined(to_v[at], v_v[p])
        for p in range(end):
            place[np.uintp(to_i[p])] = -1
        if not drops:
            return end
        kept = 0
        for p in range(end):
            if to_v[p] != zero:
                to_i[kept], to_v[kept] = to_i[p], to_v[p]
                kept += 1
        return kept

    return unite


def ordered(indices, values, count, words, room):
    """Put a list in the order of its indices.  words: a bitmap of zeros, as it is left again.  room: for values."""
    ascends = True
    for p in range(1, count):
        if indices[p] < indices[p - 1]:
            ascends = False
            break
    if ascends:
        return
    if count * WORDS_PER_ENTRY < words.size:
        for p in range(1, count):
            i, x, to = indices[p], values[p], p
            while to > 0 and indices[to - 1] > i:
                indices[to], values[to] = indices[to - 1], values[to - 1]
                to -= 1
            indices[to], values[to] = i, x
        return
    for p in range(count):
        i = np.uintp(indices[p])
        words[i >> SIX] |= BIT << (i & SIXTY_THREE)
        room[i] = values[p]
    end = 0
    for w in range(np.uintp(words.size)):
        left = words[w]
        if left:
            words[w] = np.uint64(0)
            while left:
                i = (w << SIX) + lowest(left)
                indices[end], values[end] = i, room[i]
                end += 1
                left &= left - BIT


def ascends(indices, count, size):
    """True if so many indices ascend, and are within a vector of that size."""
    last = -1
    for p in range(count):
        if indices[p] <= last or indices[p] >= size:
            return False
        last = indices[p]
    return True


def inside(indices, count, size):
    """True if so many indices are within a vector of that size."""
    for p in range(count):
        if indices[p] < 0 or indices[p] >= size:
            return False
    return True


@lru_cache(maxsize=256)
def function_of(op: BinaryOp, dtype: np.dtype) -> Callable[..., Any]:
    """The operator on two values of a dtype, as `BinaryOp` applies it to arrays: integers stop at their ends."""
    scalar = inlined(op.scalar)
    if op.boolean:
        return scalar
    if dtype == np.int64 and op.saturating is not None:
        return inlined(op.saturating.scalar)
    if dtype == np.int32 and (op.saturating is not None or op.array is None):
        low, high = np.iinfo(np.int32).min, np.iinfo(np.int32).max

        def clamped(a, b):
            t = scalar(np.int64(a), np.int64(b))
            return np.int32(min(max(t, low), high))

        return clamped
    convert = dtype.type

    def converted(a, b):
        return convert(scalar(a, b))

    return converted


def hashed(x, seed):
    """A pseudo-random number for an integer, as `semiring.vectors.hashed` gives it."""
    z = (np.uint64(x) + np.uint64(seed)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.int64((z ^ (z >> np.uint64(31))) >> np.uint64(1))


def pairwise(x, n, places, sums):
    """The sum of the first n elements, in the order in which NumPy adds floats: halves, down to blocks of 128.

    places, sums: room for 64 levels.
    """
    level, places[0], places[1], places[2] = 0, 0, n, 0
    while True:
        first, size = places[3 * level], places[3 * level + 1]
        if size > 128:
            half = size // 2 - size // 2 % 8
            places[3 * level + 2] = 1
            level += 1
            places[3 * level], places[3 * level + 1] = first, half
            continue
        value = of_block(x, first, size)
        while level > 0 and places[3 * level - 1] == 2:
            level -= 1
            value = sums[level] + value
        if level == 0:
            return sums.dtype.type(value)
        level -= 1
        sums[level], places[3 * level + 2] = value, 2
        half = places[3 * level + 1] // 2 - places[3 * level + 1] // 2 % 8
        places[3 * level + 3], places[3 * level + 4] = places[3 * level] + half, places[3 * level + 1] - half
        level += 1


def of_block(x, first, size):
    """The sum of a block: by eight sums side by side, if there are as many elements."""
    total, i = x.dtype.type(-0.0), 0
    if size >= 8:
        a, b, c, d = x[first], x[first + 1], x[first + 2], x[first + 3]
        e, f, g, h = x[first + 4], x[first + 5], x[first + 6], x[first + 7]
        i = 8
        while i + 8 <= size:
            k = first + i
            a, b, c, d = a + x[k], b + x[k + 1], c + x[k + 2], d + x[k + 3]
            e, f, g, h = e + x[k + 4], f + x[k + 5], g + x[k + 6], h + x[k + 7]
            i += 8
        total = ((a + b) + (c + d)) + ((e + f) + (g + h))
    while i < size:
        total += x[first + i]
        i += 1
    return total
