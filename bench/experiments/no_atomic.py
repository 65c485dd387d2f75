"""F_GPU_no_Atomic, the implementation of DA2CF [1] that is WRONG under races; for measuring what atomics cost, only.

Its threads store what they have computed if it is less than what they have read, and never look whether another thread
has stored something smaller in between. A distance can so come out too large, and what is reached through it, too; none
comes out too small, for each is the length of some path.

[1] P. J. Martín, R. Torres, A. Gavilanes, CUDA solutions for the SSSP problem, ICCS 2009, LNCS 5544, section 4.1.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from formats import CSR
from formats.arrays import cupy, equals
from semiring import MinPlus, reduce
from semiring.vectors import densified, full, masked, unit

NO_ATOMIC = "F_GPU_no_Atomic (wrong)"
THREADS, BLOCKS_EACH = 256, 8
"""Threads in a block, and blocks at most for each multiprocessor."""
CODE = """
extern "C" __global__ void relax_without_atomics(const int* frontier, int count, const int* indptr, const int* indices,
                                                 const int* weights, const bool* resolved, int distance, int* q) {
    for (int f = blockIdx.x * blockDim.x + threadIdx.x; f < count; f += gridDim.x * blockDim.x) {
        const int i = frontier[f];
        for (int e = indptr[i]; e < indptr[i + 1]; ++e) {
            const int j = indices[e], length = distance + weights[e];
            if (!resolved[j] && length < q[j]) q[j] = length;  // another thread may store between the two
        }
    }
}
"""


def f_gpu_no_atomic(A: CSR, source: int) -> Any:
    """Distances from `source`, some of which may be too large. Weights and indices are int32, on the GPU."""
    if {A.dtype, A.indptr.dtype, A.indices.dtype} != {np.dtype(np.int32)}:
        raise TypeError(f"the kernel takes int32, got values of {A.dtype} and indices of {A.indices.dtype}")
    s, cp = MinPlus, cupy()
    q = densified(unit(A, source, s), s)
    d, resolved = full(q, s.zero(q.dtype), q.dtype), full(q, False, bool)
    most = BLOCKS_EACH * cp.cuda.Device().attributes["MultiProcessorCount"]
    while (nearest := reduce(q, s)) != s.zero(q.dtype):
        f = masked(q, equals(q, nearest))
        d[f.indices], q[f.indices], resolved[f.indices] = nearest, s.zero(q.dtype), True
        arguments = (f.indices, np.int32(f.nnz), A.indptr, A.indices, A.values, resolved, np.int32(nearest), q)
        _relax()((min(-(-f.nnz // THREADS), most),), (THREADS,), arguments)
    return d


@cache
def _relax() -> Any:
    return cupy().RawKernel(CODE, "relax_without_atomics")
