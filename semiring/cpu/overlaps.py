"""Which entries two rows share: kernels that compare columns sixteen by sixteen.

A merge of two rows takes a step for each entry, and each step waits for the one before. Here sixteen columns of each
row are compared with each other at once, in vector registers. The sixteen that end first make way for the next. Columns
near an array's end, where sixteen cannot be read, are merged.

Source: B. Schlegel, T. Willhalm, W. Lehner, Fast sorted-set intersection using SIMD instructions, ADMS, 2011.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .kernels import compiled
from .lanes import WIDTH, among, lowest, ones


def readable(a: Any, a_end: Any, a_indices: Any, b: Any, b_end: Any, b_indices: Any) -> Any:
    """True if something is left of both rows, and WIDTH columns of both can be read."""
    return (a < a_end) & (b < b_end) & (a + WIDTH <= a_indices.size) & (b + WIDTH <= b_indices.size)


def common_columns(a: Any, a_end: Any, a_indices: Any, b: Any, b_end: Any, b_indices: Any) -> Any:
    """Sets a bit for each of a row's next columns that is one of the other's next columns."""
    inside = (np.uint64(1) << np.uint64(min(a_end - a, WIDTH))) - np.uint64(1)
    return among(a_indices, a, b_indices, b, b_end - b) & inside


def last(a: Any, a_end: Any, a_indices: Any) -> Any:
    """The last of a row's next columns."""
    return a_indices[np.uintp(min(a + WIDTH, a_end) - 1)]


@compiled
def count_shared(a_indptr, a_indices, b_indptr, b_indices, counts, start, stop):
    """How many entries both matrices have, of each row and in all."""
    total = np.uint64(0)
    for i in range(start, stop):
        both = np.uint64(0)
        a, a_end, b, b_end = a_indptr[i], a_indptr[i + 1], b_indptr[i], b_indptr[i + 1]
        while readable(a, a_end, a_indices, b, b_end, b_indices):
            both += ones(common_columns(a, a_end, a_indices, b, b_end, b_indices))
            u, v = last(a, a_end, a_indices), last(b, b_end, b_indices)
            a += WIDTH * (u <= v)
            b += WIDTH * (v <= u)
        while a < a_end and b < b_end:
            u, v = a_indices[np.uintp(a)], b_indices[np.uintp(b)]
            both += np.uint64(u == v)
            a += u <= v
            b += v <= u
        counts[i] = both
        total += both
    return total


@compiled
def intersect(matrix, other, part, others, start, stop, to):
    """The entries that both matrices have: columns, and the values of each. Rows of count 0 have none."""
    (a_indptr, a_indices, a_values), (b_indptr, b_indices, b_values) = matrix, other
    counts, indices, values = part
    to = np.uintp(to)
    for i in range(start, stop):
        if counts[i] == 0:
            continue
        a, a_end, b, b_end, begin = a_indptr[i], a_indptr[i + 1], b_indptr[i], b_indptr[i + 1], to
        while readable(a, a_end, a_indices, b, b_end, b_indices):
            of_a = common_columns(a, a_end, a_indices, b, b_end, b_indices)
            if of_a:
                of_b = common_columns(b, b_end, b_indices, a, a_end, a_indices)
                while of_a:  # both ascend, so the lowest of each are equal
                    e, f = np.uintp(a) + lowest(of_a), np.uintp(b) + lowest(of_b)
                    indices[to], values[to], others[to] = a_indices[e], a_values[e], b_values[f]
                    of_a &= of_a - np.uint64(1)
                    of_b &= of_b - np.uint64(1)
                    to += np.uintp(1)
            u, v = last(a, a_end, a_indices), last(b, b_end, b_indices)
            a += WIDTH * (u <= v)
            b += WIDTH * (v <= u)
        while a < a_end and b < b_end:
            u, v = a_indices[np.uintp(a)], b_indices[np.uintp(b)]
            if u == v:
                indices[to], values[to], others[to] = u, a_values[np.uintp(a)], b_values[np.uintp(b)]
                to += np.uintp(1)
            a += u <= v
            b += v <= u
        counts[i] = to - begin


@compiled
def share(a_indptr, a_indices, b_indptr, b_indices, shared, start, stop):
    """Mark each entry of one matrix's rows that the other has, too; the rest stays."""
    for i in range(start, stop):
        a, a_end, b, b_end = a_indptr[i], a_indptr[i + 1], b_indptr[i], b_indptr[i + 1]
        while readable(a, a_end, a_indices, b, b_end, b_indices):
            of_a = common_columns(a, a_end, a_indices, b, b_end, b_indices)
            while of_a:
                shared[np.uintp(a) + lowest(of_a)] = True
                of_a &= of_a - np.uint64(1)
            u, v = last(a, a_end, a_indices), last(b, b_end, b_indices)
            a += WIDTH * (u <= v)
            b += WIDTH * (v <= u)
        while a < a_end and b < b_end:
            u, v = a_indices[np.uintp(a)], b_indices[np.uintp(b)]
            if u == v:
                shared[np.uintp(a)] = True
            a += u <= v
            b += v <= u
