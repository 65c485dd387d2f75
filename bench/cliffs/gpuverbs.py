"""Matrix verbs and conversions on a GPU beside the least bytes that they must move, for `python -m bench cliffs`.

A row is (case, ms, floor ms, verified): the median of single calls by the host's clock, each waited for, and the bytes
of what is read and written once, at 3 TB/s. Results are compared with the CPU's, bit by bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np

from bench.graphs.recursive import rmat
from formats import CSB, CSR, CompressedCSR, Matrix, SparseVector
from formats.arrays import Array, cupy, to_device
from semiring import MinPlus, PlusTimes, assign, ewise_add, ewise_mult, extract, mxv, reduce, select, transpose, vxm
from semiring.tuning.timing import finished_ms

BYTES_PER_MS = 3e9
"""At 3 TB/s."""

CALLS = 15


@dataclass(frozen=True)
class Case:
    """run: the call, of a matrix and what goes with it.  floor: least bytes, of the inputs and the result."""

    name: str
    run: Callable[[Inputs], Any]
    floor: Callable[[Inputs, Any], int]


@dataclass(frozen=True)
class Inputs:
    """A: R-MAT.  B: its transpose.  rows, cols: half of each, ascending.

    block_rows, block_cols: a tenth of each.  block: what is assigned there.  x: a dense vector.  few: 1000 vertices.
    """

    A: Any
    B: Any
    rows: Array
    cols: Array
    block_rows: Array
    block_cols: Array
    block: Any
    x: Array
    few: SparseVector

    def on(self, device: Any) -> Inputs:
        parts = (getattr(self, name) for name in self.__dataclass_fields__)
        return Inputs(
            *(p.to(device=device) if isinstance(p, Matrix | SparseVector) else to_device(p, device) for p in parts)
        )


def inputs(scale: int) -> Inputs:
    """Makes operands from an R-MAT graph with 2^scale vertices, on the host; the graph itself is made on the GPU."""
    made: Any = rmat(scale, dtype=np.float32, device="cuda")
    A, B = (M.to(device="cpu") for M in (made, made.T.to(CSR)))
    rng = np.random.default_rng(1)
    n = A.nrows
    halves = [np.sort(rng.permutation(n)[: n // 2]).astype(np.int32) for _ in range(2)]
    tenths = [np.sort(rng.permutation(n)[: n // 10]).astype(np.int32) for _ in range(2)]
    few = np.sort(rng.permutation(n)[:1000]).astype(np.int32)
    x = rng.integers(1, 99, n).astype(np.float32)
    block = extract(B, *tenths)
    return Inputs(A, B, *halves, *tenths, block, x, SparseVector(few, x[few], n))


def size(*parts: Any) -> int:
    """Bytes of matrices and vectors."""
    return sum(int(part.nbytes) for part in parts)


def hub(A: CSR) -> int:
    """The row of most entries."""
    return int(A.lengths(0).argmax())


def assigned(i: Inputs) -> CSR:
    out = CSR.trusted(*i.A.components)
    assign(out, i.block, i.block_rows, i.block_cols)
    return out


CASES = (
    Case("ewise_add", lambda i: ewise_add(i.A, i.B, MinPlus), lambda i, C: size(i.A, i.B, C)),
    Case("ewise_mult", lambda i: ewise_mult(i.A, i.B, PlusTimes), lambda i, C: size(i.A, i.B, C)),
    Case(
        "extract half x half",
        lambda i: extract(i.A, i.rows, i.cols),
        lambda i, C: size(i.rows, i.cols, C) + i.A.indices.nbytes // 2 + C.values.nbytes,
    ),
    Case("extract a column", lambda i: extract(i.A, None, 7), lambda i, C: i.A.indices.nbytes),
    Case("extract a row", lambda i: extract(i.A, 7), lambda i, C: 2 * size(C)),
    Case("assign a block", assigned, lambda i, C: size(i.A, i.block, C)),
    Case("reduce rows, plus", lambda i: reduce(i.A, "plus", axis=1), lambda i, y: size(i.A.values, i.A.indptr, y)),
    Case("reduce rows, min", lambda i: reduce(i.A, "min", axis=1), lambda i, y: size(i.A.values, i.A.indptr, y)),
    Case("reduce columns, min", lambda i: reduce(i.A, "min", axis=0), lambda i, y: size(i.A.values, i.A.indptr, y)),
    Case("select tril", lambda i: select(i.A, "tril"), lambda i, C: size(i.A, C)),
    Case("select < 50", lambda i: select(i.A, "<", 50), lambda i, C: size(i.A, C)),
    Case("transpose", lambda i: transpose(i.A), lambda i, C: size(i.A, C)),
    Case("to CSB", lambda i: i.A.to(CSB), lambda i, C: size(i.A, C)),
    Case("to CompressedCSR", lambda i: i.A.to(CompressedCSR), lambda i, C: size(i.A.indices, C.words, C.bases)),
    Case("sparse vxm, 1000 entries", lambda i: vxm(i.few, i.A, MinPlus), lambda i, y: 2 * size(y)),
    Case("dense mxv", lambda i: mxv(i.A, i.x, MinPlus), lambda i, y: size(i.A, i.x, y)),
)


def arrays_of(result: Any) -> list[np.ndarray]:
    """Returns the arrays of a result, on the host."""
    if isinstance(result, SparseVector):
        parts: tuple[Any, ...] = (result.indices, result.values)
    else:
        parts = result.arrays if isinstance(result, Matrix) else (result,)
    return [to_device(part, "cpu") for part in parts]


def same(there: Any, here: Any) -> bool:
    """True if the results are equal, bit by bit."""
    pairs = zip(arrays_of(there), arrays_of(here), strict=True)
    return all(a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes() for a, b in pairs)


def call_ms(call: Callable[[], Any]) -> float:
    """The median of single calls, each waited for."""
    return median([finished_ms(call, "cuda") for _ in range(CALLS + 3)][3:])


def rows(scale: int = 20) -> Iterator[tuple[str, float, float, bool]]:
    """Yields case, ms, floor ms and verified for each case."""
    host = inputs(scale)
    device = host.on("cuda")
    cupy()
    checked = []
    for case in CASES:
        made = case.run(device)
        checked.append((case, same(made, case.run(host)), case.floor(device, made) / BYTES_PER_MS))
        del made
    for case, verified, floor in checked:  # after the host's work is done, whose threads would still be busy
        yield case.name, call_ms(lambda case=case: case.run(device)), floor, verified
