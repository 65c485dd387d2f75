"""The compiled loops of sparse matrix products, see `spgemm`: one for the places of a mask, one for all places."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from ..algebra.semirings import Semiring
from .kernels import compiled, terms
from .lanes import lowest

PRODUCTS_PER_SEARCH_STEP = 6
"""A step of a search in a row costs as much as so many products."""

SCANNED = 8
"""A row of the result with a product for so many places is read as a whole."""

MAX_INSERTED_PLACES = 24
"""Places that are sorted by insertion."""


@compiled
def cut(a, b_indptr, mask, ncols, least, first, part):
    """Cut the rows from `first` on into pieces, until `part` is full; how many these are.

    least: (work, rows) that end a piece.  part: where each stops, the entries that it may have, and its work, which is
    these and the products.
    """
    (indptr, indices), (mask_indptr, _, _) = a, mask
    work, rows = least[0], least[1]
    stops, most, totals = part[0], part[1], part[2]
    count, entries, total, begin = 0, np.int64(0), np.int64(0), first
    nrows = indptr.size - 1
    for i in range(first, nrows):
        products = np.int64(_products(indices, np.uintp(indptr[i]), np.uintp(indptr[i + 1]), b_indptr))
        places = min(products, np.int64(ncols))
        if mask_indptr.size > 1:
            places = min(places, np.int64(mask_indptr[i + 1]) - np.int64(mask_indptr[i]))
        entries += places
        total += products + places if places > 0 else 1
        if total >= work or i + 1 - begin >= rows or i + 1 == nrows:
            stops[count], most[count], totals[count] = i + 1, entries, total
            count, entries, total, begin = count + 1, np.int64(0), np.int64(0), i + 1
            if count == stops.size:
                break
    return count


def _holds_column(indices, low, high, j):
    """The first place of [low, high) whose index is not below j."""
    while low < high:
        middle = (low + high) >> np.uintp(1)
        if indices[middle] < j:
            low = middle + np.uintp(1)
        else:
            high = middle
    return low


def _steps(length):
    """The steps of a search among so many, and what beginning it costs."""
    steps = np.uintp(1)
    while length > np.uintp(0):
        length >>= np.uintp(1)
        steps += np.uintp(1)
    return steps


@lru_cache(maxsize=256)
def kernels(semiring: Semiring, dtype: np.dtype, plain: bool, argument: bool = False) -> tuple[Any, Any]:
    """Returns the kernel that a mask drives, and that for no mask or a complement, of one semiring and dtype.

    argument: also tell which k gave each entry. k ascends within a row, so the last that changes a sum is the smallest.
    """
    t = terms(semiring, dtype, matrix_first=True, plain=plain)
    notes = (_changed, _copied) if argument else (_nothing, _nothing)
    return _by_the_mask(t.zero, t.add, t.product, *notes), _of_all_places(t.zero, t.add, t.product, *notes)


def _changed(places, j, k, before, after):
    """Note k at j where a sum has changed."""
    if after != before:
        places[j] = k


def _copied(new, to, places, j, _):
    new[to] = places[j]


def _nothing(_places, _j, _k, _before, _after):
    pass


def _by_the_mask(zero: Any, add: Any, multiply: Any, note: Any, tell: Any) -> Any:
    one, costs = np.uintp(1), np.uintp(PRODUCTS_PER_SEARCH_STEP)

    @compiled
    def masked(a, b, mask, counts, scratch, start, stop):
        (a_indptr, a_indices, a_values), (b_indptr, b_indices, b_values) = a, b
        (m_indptr, m_indices, first), (y, places, _, _, _, new_indices, new_values, new_places) = mask, scratch
        to = np.uintp(0)
        for i in range(start, stop):
            e, e_end = np.uintp(a_indptr[i]), np.uintp(a_indptr[i + 1])
            m, m_end, begin = np.uintp(m_indptr[i - first]), np.uintp(m_indptr[i - first + 1]), to
            if e == e_end or m == m_end:
                counts[i] = 0
                continue
            p = m
            while p < m_end:
                y[np.uintp(m_indices[p])] = zero
                p += one
            while e < e_end:
                k, value = np.uintp(a_indices[e]), a_values[e]
                f, f_end = np.uintp(b_indptr[k]), np.uintp(b_indptr[k + one])
                if (m_end - m) * costs < f_end - f and (m_end - m) * costs * _steps(f_end - f) < f_end - f:
                    p = m
                    while p < m_end:
                        j = m_indices[p]
                        f = _holds_column(b_indices, f, f_end, j)
                        if f < f_end and b_indices[f] == j:
                            at = np.uintp(j)
                            before = y[at]
                            y[at] = add(before, multiply(value, b_values[f]))
                            note(places, at, k, before, y[at])
                        p += one
                else:
                    while f < f_end:
                        at = np.uintp(b_indices[f])
                        before = y[at]
                        y[at] = add(before, multiply(value, b_values[f]))
                        note(places, at, k, before, y[at])
                        f += one
                e += one
            p = m
            while p < m_end:
                j = m_indices[p]
                t = y[np.uintp(j)]
                if t != zero:
                    new_indices[to], new_values[to] = j, t
                    tell(new_places, to, places, np.uintp(j), t)
                    to += one
                p += one
            counts[i] = to - begin
        return to

    return masked


def _of_all_places(zero: Any, add: Any, multiply: Any, note: Any, tell: Any) -> Any:
    none, one = np.uintp(0), np.uintp(1)

    @compiled
    def unmasked(a, b, mask, counts, scratch, start, stop):
        (a_indptr, a_indices, a_values), (b_indptr, b_indices, b_values) = a, b
        (m_indptr, m_indices, first), (y, places, reached, bits, words, new_indices, new_values, new_places) = (
            mask,
            scratch,
        )
        ncols, to, m, m_end = np.uintp(y.size), none, none, none
        for i in range(start, stop):
            e, e_end, begin = np.uintp(a_indptr[i]), np.uintp(a_indptr[i + 1]), to
            scans, flushed, count = _products(a_indices, e, e_end, b_indptr) * np.uintp(SCANNED) >= ncols, False, none
            while e < e_end:
                k, value = np.uintp(a_indices[e]), a_values[e]
                f, f_end = np.uintp(b_indptr[k]), np.uintp(b_indptr[k + one])
                e += one
                if scans:
                    while f < f_end:
                        j = np.uintp(b_indices[f])
                        before = y[j]
                        y[j] = add(before, multiply(value, b_values[f]))
                        note(places, j, k, before, y[j])
                        f += one
                    continue
                if count + f_end - f > ncols:  # sums have returned to the zero and left it again
                    _marked(reached, count, bits, words)
                    count, flushed = none, True
                while f < f_end:
                    j = np.uintp(b_indices[f])
                    t, before = multiply(value, b_values[f]), y[j]
                    y[j] = add(before, t)
                    note(places, j, k, before, y[j])
                    reached[count] = j
                    count += np.uintp((before == zero) & (t != zero))
                    f += one
            if m_indptr.size > 1:
                m, m_end = np.uintp(m_indptr[i - first]), np.uintp(m_indptr[i - first + 1])
            searches = not scans and not flushed and (m_end - m) > np.uintp(PRODUCTS_PER_SEARCH_STEP) * count
            p = m_end if searches else m
            while p < m_end:
                y[np.uintp(m_indices[p])] = zero
                p += one
            if scans:
                for at in range(y.size):
                    j = np.uintp(at)
                    t = y[j]
                    new_indices[to], new_values[to], y[j] = at, t, zero
                    tell(new_places, to, places, j, t)
                    to += np.uintp(t != zero)
            else:
                count, r = _ordered(reached, count, bits, words, flushed), none
                while r < count:
                    j = np.uintp(reached[r])
                    t, y[j] = y[j], zero
                    if searches:
                        p = _holds_column(m_indices, m, m_end, reached[r])
                        if p < m_end and m_indices[p] == reached[r]:
                            t = zero
                    new_indices[to], new_values[to] = reached[r], t
                    tell(new_places, to, places, j, t)
                    to += np.uintp(t != zero)
                    r += one
            counts[i] = to - begin
        return to

    return unmasked


def _products(indices, e, end, indptr):
    """How many products a row has."""
    total = np.uintp(0)
    while e < end:
        k = np.uintp(indices[e])
        total += np.uintp(indptr[k + np.uintp(1)]) - np.uintp(indptr[k])
        e += np.uintp(1)
    return total


def _ordered(reached, count, bits, words, flushed):
    """The listed places in order; how many they are. Few may have a place twice. The bitmap is clear afterwards."""
    one, n = np.uintp(1), np.uintp(0)
    if flushed or count > np.uintp(MAX_INSERTED_PLACES):
        _marked(reached, count, bits, words)
        return _listed(reached, bits, words)
    while n < count:
        j, at = reached[n], n
        while at > np.uintp(0) and reached[at - one] > j:
            reached[at] = reached[at - one]
            at -= one
        reached[at] = j
        n += one
    return n


def _marked(reached, count, bits, words):
    """Mark the listed places in the bitmap."""
    r = np.uintp(0)
    while r < count:
        j = np.uint64(reached[r])
        bits[np.uintp(j >> np.uint64(6))] |= np.uint64(1) << (j & np.uint64(63))
        words[np.uintp(j >> np.uint64(12))] |= np.uint64(1) << ((j >> np.uint64(6)) & np.uint64(63))
        r += np.uintp(1)


def _listed(reached, bits, words):
    """The places of the bitmap in order; how many they are. The bitmap is cleared."""
    n = np.uintp(0)
    for w in range(words.size):
        word = words[w]
        words[w] = 0
        while word != np.uint64(0):
            at = np.uintp(w) * np.uintp(64) + np.uintp(lowest(word))
            word &= word - np.uint64(1)
            part = bits[at]
            bits[at] = 0
            while part != np.uint64(0):
                reached[n] = at * np.uintp(64) + np.uintp(lowest(part))
                part &= part - np.uint64(1)
                n += np.uintp(1)
    return n
