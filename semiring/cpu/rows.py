"""Compiled steps on whole matrices, a piece of rows to each thread: look up, keep some entries, unite two matrices.

NumPy does each in several passes over all entries, on one thread. Here entries are read once to count, where their
number is not known, and once to write.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from formats import CSC, CSR
from formats.arrays import read_only

from .kernels import compiled
from .threads import PIECES_PER_THREAD, cut, cut_evenly, get_threads, run


def taken(x: np.ndarray, at: np.ndarray) -> np.ndarray:
    """x[at] of two vectors."""
    out = np.empty(at.size, x.dtype)
    x, at = read_only(x), read_only(at)
    pieces = cut(at.size, -(-at.size // (get_threads() * PIECES_PER_THREAD)) or 1, at.size)
    run(lambda *piece: _take(x, at, out, *piece), pieces)
    return out


def kept(A: CSR | CSC, keep: np.ndarray) -> CSR | CSC:
    """The entries of `A` at which the Boolean array `keep` is true."""
    pieces, keep = cut_evenly(A.indptr), read_only(keep)
    counts = np.empty(A.indptr.size - 1, A.indptr.dtype)
    run(lambda *piece: _count_kept(A.indptr, keep, counts, *piece), pieces)
    indptr = _ends(counts)
    indices, values = np.empty(indptr[-1], A.indices.dtype), np.empty(indptr[-1], A.dtype)
    parts = (A.indptr, A.indices, A.values, keep, indptr, indices, values)
    run(lambda *piece: _write_kept(*parts, *piece), pieces)
    return type(A).trusted(indptr, indices, values, A.shape)


def united(A: CSR, B: CSR, op: Any) -> CSR:
    """The union of the entries of `A` and `B`; op(a, b) where both have one."""
    index_type = np.result_type(A.indptr.dtype, B.indptr.dtype, _index_type(A, B))
    pieces = cut_evenly(A.indptr + B.indptr.astype(index_type, copy=False))
    counts, shared = (np.empty(A.nrows, index_type) for _ in range(2))
    run(lambda *piece: _count_union(A.indptr, A.indices, B.indptr, B.indices, counts, shared, *piece), pieces)
    indptr, begins = _ends(counts), _ends(shared)
    indices, values = np.empty(indptr[-1], index_type), np.empty(indptr[-1], A.dtype)
    places, others = np.empty(begins[-1], index_type), np.empty(begins[-1], B.dtype)
    parts = (A.indptr, A.indices, A.values, B.indptr, B.indices, B.values)
    run(lambda *piece: _write_union(*parts, indptr, begins, indices, values, places, others, *piece), pieces)
    values[places] = op(values[places], others)
    return CSR.trusted(indptr, indices, values, A.shape)


def _index_type(A: CSR, B: CSR) -> np.dtype:
    """int64 where both together have more entries than int32 counts."""
    return np.dtype(np.int32 if A.nnz + B.nnz < 2**31 else np.int64)


def _ends(counts: np.ndarray) -> np.ndarray:
    """0 and the running totals of `counts`."""
    totals = np.zeros(counts.size + 1, counts.dtype)
    np.cumsum(counts, out=totals[1:])
    return totals


@compiled
def _take(x, at, out, start, stop):
    for e in range(start, stop):
        out[e] = x[np.uintp(at[e])]


@compiled
def _count_kept(indptr, keep, counts, start, stop):
    for i in range(start, stop):
        count = 0
        for e in range(indptr[i], indptr[i + 1]):
            count += keep[e]
        counts[i] = count


@compiled
def _write_kept(indptr, indices, values, keep, new_indptr, new_indices, new_values, start, stop):
    for i in range(start, stop):
        to = new_indptr[i]
        for e in range(indptr[i], indptr[i + 1]):
            if keep[e]:
                new_indices[to], new_values[to] = indices[e], values[e]
                to += 1


@compiled
def _count_union(a_indptr, a_indices, b_indptr, b_indices, counts, shared, start, stop):
    for i in range(start, stop):
        a, a_end, b, b_end, both = a_indptr[i], a_indptr[i + 1], b_indptr[i], b_indptr[i + 1], 0
        size = (a_end - a) + (b_end - b)
        while a < a_end and b < b_end:
            u, v = a_indices[a], b_indices[b]
            both += u == v
            a += u <= v
            b += v <= u
        counts[i], shared[i] = size - both, both


@compiled
def _write_union(
    a_indptr, a_indices, a_values, b_indptr, b_indices, b_values,
    indptr, begins, indices, values, places, others, start, stop,
):  # fmt: skip
    for i in range(start, stop):
        a, a_end, b, b_end = a_indptr[i], a_indptr[i + 1], b_indptr[i], b_indptr[i + 1]
        both = begins[i]
        for to in range(indptr[i], indptr[i + 1]):
            if b == b_end or (a < a_end and a_indices[a] <= b_indices[b]):
                indices[to], values[to] = a_indices[a], a_values[a]
                if b < b_end and a_indices[a] == b_indices[b]:
                    places[both], others[both] = to, b_values[b]
                    both += 1
                    b += 1
                a += 1
            else:
                indices[to], values[to] = b_indices[b], b_values[b]
                b += 1
