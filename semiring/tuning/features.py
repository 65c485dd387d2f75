"""What decides how fast a product is, found without converting: extents, lengths of rows, and how columns lie.

A product moves its matrix and its vectors, and looks up one vector at places that the columns decide. What that costs
depends on how many cache lines are touched anew and on how much of the vector is in use at a time; both are found in a
sample of SAMPLE entries.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from formats import COO, CSC, CSR, Matrix
from formats.arrays import namespace
from formats.matrix.facts import Fact

WINDOW = 256
"""Entries that lie together in the sample."""
SAMPLE = 128 * WINDOW
LINE = 64
"""Bytes of a cache line."""
CACHES = (1 << 15, 1 << 20, 1 << 25)
"""Bytes of first-, second- and last-level caches, roughly; a fit says what each is worth on a device."""
BLOCK = 1 << 14
"""Rows of a block whose part of y a fast memory holds."""

ROUNDS = 64
"""Entries of a row that a thread or warp takes one after the other, roughly; longer rows are shared among several."""

THREADED = 1 << 15
"""Entries from which on work is handed to threads, or fills a GPU, roughly."""


FEATURES: Fact[Features] = Fact("what decides how fast a product is")


@dataclass(frozen=True)
class Features:
    """A matrix as the model sees it.

    longest: entries of the longest row.  variation: standard deviation over mean of the rows' lengths.  lines: cache
    lines of x for an entry among WINDOW that lie together.  distinct: of the whole sample.  span: bytes of x that
    three quarters of a window lie in, at most all of x, on average.
    """

    nrows: int
    ncols: int
    nnz: int
    value: int
    longest: int
    variation: float
    lines: float
    distinct: float
    span: float

    @property
    def mean(self) -> float:
        """Entries of a row on average."""
        return self.nnz / max(self.nrows, 1)


NAMES = tuple(field.name for field in fields(Features))


def features(A: Matrix) -> Features:
    """Found once, and kept with the matrix.

    Of CSR, CSC and COO from a sample and one pass over the rows; of other formats their entries by row are made for
    it. On a GPU some twenty small kernels, and it waits for them.
    """
    return A.keep(FEATURES, lambda: _features(A))


def _features(A: Matrix) -> Features:
    xp, value = namespace(A.values), A.dtype.itemsize
    lengths = A.lengths(0)
    if lengths.size > SAMPLE:
        lengths = lengths[:: lengths.size // SAMPLE]
    mean = float(lengths.mean()) if lengths.size else 0.0
    variation = float(lengths.std()) / mean if mean else 0.0
    inner = _inner(A)
    if inner.size == 0:
        return Features(A.nrows, A.ncols, A.nnz, value, A.longest(0), variation, 0.0, 0.0, 0.0)
    width = min(WINDOW, inner.size)
    count = min(SAMPLE // width, inner.size // width)
    starts = (xp.arange(count, dtype=xp.int64) * max(inner.size - width, 0)) // max(count - 1, 1)
    windows = xp.sort(inner[(starts[:, None] + xp.arange(width))], axis=1)
    touched = windows // (LINE // value)
    fresh = 1 + (touched[:, 1:] != touched[:, :-1]).sum(axis=1)
    lines = float(fresh.mean()) / width
    together = xp.sort(touched.ravel())
    distinct = (1 + int((together[1:] != together[:-1]).sum())) / max(float(fresh.sum()), 1.0)
    spans = (windows[:, width * 7 // 8] - windows[:, width // 8]).mean()
    span = min(float(spans) * value + LINE, float(A.ncols * value))
    return Features(A.nrows, A.ncols, A.nnz, value, A.longest(0), variation, lines, min(distinct, 1.0), span)


def _inner(A: Matrix) -> Any:
    """The columns of the entries, row by row; the rows, column by column, where entries lie so."""
    if isinstance(A, CSR | CSC):
        return A.indices
    if isinstance(A, COO):
        return A.inner
    return A.to_edges()[1]


def terms(f: Features, nbytes: int) -> dict[str, float]:
    """What a product may cost, each in its own unit; a model is a sum of them with coefficients of milliseconds.

    nbytes: of the matrix in the format.
    """
    out = f.nnz * f.lines
    beyond = [max(0.0, 1.0 - cache / max(f.span, 1.0)) for cache in CACHES]
    blocks = -(-f.nrows // BLOCK)
    return {
        "call": 1.0,
        "call of threads": float(f.nnz >= THREADED),
        "bytes": float(nbytes),
        "rows": float(f.nrows),
        "columns": float(f.ncols),
        "entries": float(f.nnz),
        "lines": out,
        "beyond the first cache": out * beyond[0],
        "beyond the second": out * beyond[1] * f.distinct,
        "beyond the last": out * beyond[2] * f.distinct,
        "uneven rows": f.nrows * min(f.variation, 4.0),
        "short rows": f.nrows / (1.0 + f.mean),
        "longest row": float(f.longest),
        "rounds of a row": float(min(f.longest, ROUNDS)),
        "a row in parts": float(f.longest > ROUNDS),
        "entries of a column": f.nnz / max(f.ncols, 1),
        "entries that share an x": f.nnz * max(0.0, 1.0 - f.lines * LINE / f.value),
        "lines of blocks": blocks * min(f.nnz / max(blocks, 1), f.ncols * f.value / LINE),
    }
