"""Numbers of shortest paths as two compiled passes over the edges; `algorithms.tied_paths` has the rule.

    σ_v = Σ σ_u        over edges u -> v with d_u + a_uv = d_v

The first pass counts for how many predecessors each vertex waits. The second sums along a queue of those that wait for
none. O(n + m), 16 bytes a vertex.

[1] U. Brandes, A faster algorithm for betweenness centrality, J. Math. Sociology 25(2), 2001 (Lemma 3).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from algorithms.equations.tied_paths import checked
from formats import CSR
from semiring import Semiring

from .near_far import full_values


def numbers_of_paths(A: CSR, d: np.ndarray, source: int, s: Semiring, dtype: str) -> Any:
    """Count the shortest paths to each vertex, as `algorithms.tied_paths.numbers_of_paths` does."""
    rows, d = (A.indptr, A.indices, full_values(A)), np.ascontiguousarray(d)
    waiting, order = np.zeros(A.nrows, A.indices.dtype), np.empty(A.nrows, A.indices.dtype)
    count = np.zeros(A.nrows, dtype)
    await_predecessors, sum_up = loops(s, A.dtype, count.dtype)
    await_predecessors(rows, d, waiting)
    sum_up(rows, d, (waiting, order, count), source)
    return checked(A, d, s, waiting, count)


@lru_cache(maxsize=64)
def loops(semiring: Semiring, dtype: np.dtype, counted: np.dtype) -> tuple[Any, Any]:
    """Make the pass that counts edges and the pass that sums, for weights and for numbers of these dtypes."""
    from semiring.cpu.kernels import compiled, product_function

    zero, one = semiring.zero(dtype), np.uintp(1)
    product = product_function(semiring, dtype, matrix_first=False)
    stops, most = counted.kind == "i", counted.type(np.iinfo(np.int64).max)

    @compiled
    def await_predecessors(rows, d, waiting):
        indptr, indices, values = rows
        for i in range(np.uintp(d.size)):
            x = d[i]
            if x == zero:
                continue
            for e in range(np.uintp(indptr[i]), np.uintp(indptr[i + one])):
                j = np.uintp(indices[e])
                t = product(values[e], x)
                if (t == d[j]) & (t != zero) & (i != j):
                    waiting[j] += 1

    @compiled
    def sum_up(rows, d, state, source):
        (indptr, indices, values), (waiting, order, count) = rows, state
        begin = np.uintp(source)
        order[0], count[begin] = source, 1
        place, end = 0, 0 if waiting[begin] else 1
        while place < end:
            i = np.uintp(order[np.uintp(place)])
            x, mine = d[i], count[i]
            for e in range(np.uintp(indptr[i]), np.uintp(indptr[i + one])):
                j = np.uintp(indices[e])
                t = product(values[e], x)
                if (t == d[j]) & (t != zero) & (i != j):
                    count[j] = most if stops and count[j] >= most - mine else count[j] + mine
                    waiting[j] -= 1
                    if waiting[j] == 0:
                        order[np.uintp(end)] = j
                        end += 1
            place += 1

    return await_predecessors, sum_up
