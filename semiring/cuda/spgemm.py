"""Products of two sparse matrices on the GPU: at the places of a mask, or whole.

    masked       a dot product for each place of the mask, see masked.cu
    by_rows      each row as its number of terms asks for, see short_rows.cu and spgemm.cu
    expanded     all terms as entries, sorted and folded, see expand.py: for long rows of very many columns

A complement of a mask, and a mask with far more places than there are terms, are taken from the whole product.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from formats import CSR, Matrix
from formats.arrays import cupy, index_dtype
from formats.places import kept_by_place
from formats.storage.orientation import compressed

from ..algebra.codegen import C_TYPES, prelude, sum_bytes
from ..algebra.ops import OPERATORS
from ..algebra.semirings import MONOIDS, Semiring
from . import entries
from .compile import let_share, load, text_of
from .expand import expand_and_combine, other_than
from .steps import SUM, letters, steps_for, totals
from .tiles import step_of

THREADS = 128
RANGE_BYTES = 4096
"""Bytes of the sums of a warp."""

LIGHT, MIDDLE = (8, 16, 32), 1024
"""Terms of a row that so many lanes and a block order, at most, as in short_rows.cu."""

TERMS_OF_A_TASK = 1
"""Terms of a long row and a range, on average, from which ranges pay."""

WORTH_A_DOT = 2
"""Elements of dot products that cost as much as a product of the whole, which is also put in order."""

MASKED = ("threads.cu", "rows.cu", "common.cu", "masked.cu")
RANGES = ("threads.cu", "rows.cu", "common.cu", "gustavson.cu", "spgemm.cu")
SHORT = ("threads.cu", "common.cu", "gustavson.cu", "short_rows.cu")
TERMS = ("threads.cu", "terms.cu")
TERMS_HEAD = (
    f"constexpr int CLASSES = {len(LIGHT) + 2};\n"
    f"__device__ constexpr int MOST_TERMS[] = {{{', '.join(map(str, (*LIGHT, MIDDLE)))}}};\n"
)
KERNELS: dict[tuple[str, ...], tuple[str, ...]] = {
    MASKED: ("masked_work", "multiply_at"),
    RANGES: ("count_ranges", "multiply_ranges"),
    SHORT: ("count_light", "count_middle", "multiply_light", "multiply_middle"),
}


def product(A: CSR, B: CSR, semiring: Semiring, mask: Any = None, complement: bool = False) -> tuple[CSR, bool]:
    """Returns A ⊗ B without entries equal to the zero, and true if it is only where the mask allows it."""
    if mask is not None and not complement:
        C = masked(A, B, semiring, _places(mask))
        if C is not None:
            return C, True
    return whole(A, B, semiring), False


def _places(mask: Any) -> CSR:
    """A mask as a matrix with its pattern."""
    if isinstance(mask, Matrix):
        rows: Any = mask.to(CSR)
        return rows
    cp, index = cupy(), index_dtype(*mask.shape, int(mask.size))
    indptr = cp.zeros(mask.shape[0] + 1, index)
    indptr[1:] = cp.cumsum(cp.count_nonzero(mask, axis=1))
    indices = cp.nonzero(mask)[1].astype(index)
    return CSR.trusted(indptr, indices, cp.broadcast_to(cp.ones(1, bool), indices.shape), mask.shape)


# --- at the places of a mask ----------------------------------------------------------------------------------------


def masked(A: CSR, B: CSR, semiring: Semiring, mask: CSR) -> CSR | None:
    """A ⊗ B at the mask's places; None where the whole product costs less."""
    cp, dtype = cupy(), A.dtype
    index = np.result_type(A.indptr, B.indptr, mask.indptr)
    places = CSR.trusted(*(part.astype(index, copy=False) for part in mask.components[:2]), mask.values, mask.shape)
    if mask.nnz == 0 or A.nnz == 0 or B.nnz == 0:
        return CSR.trusted(cp.zeros(mask.nrows + 1, index), cp.empty(0, index), cp.empty(0, dtype), mask.shape)
    by_column: Any = compressed(B, 1)
    a, b = _arrays(A, index, semiring), _arrays(by_column, index, semiring)
    k = _unit(MASKED, semiring, dtype, index, index)
    steps = entries.entry_steps(places)
    where = (places.indptr, entries.first_rows(mask if places.indptr is mask.indptr else places, steps))
    work, grid = cp.zeros(2, np.uint64), (min(-(-mask.nnz // THREADS), 1 << 12),)
    rows = (*a[:2], np.int64(A.nnz), b[0], B.indptr.astype(index, copy=False))
    k["masked_work"](grid, (THREADS,), (*where, np.int64(mask.nnz), places.indices, *rows, work))
    elements, products = work.tolist()
    if elements > WORTH_A_DOT * products:
        return None
    values, bits = cp.empty(mask.nnz, dtype), cp.empty(entries.words_of(mask.nnz), np.uint32)
    arguments = (*where, np.int64(mask.nnz), places.indices, *a, *b, values, bits)
    k["multiply_at"]((-(-mask.nnz // THREADS),), (THREADS,), arguments)
    return entries.kept(CSR.trusted(places.indptr, places.indices, values, mask.shape), bits)


def _arrays(A: Any, index: np.dtype, semiring: Semiring) -> tuple[Any, ...]:
    """Compressed lines as kernels take them. Where ⊗ reads no values, an entry counts, whatever its value."""
    ends, inner = (part.astype(index, copy=False) for part in (A.indptr, A.indices))
    if semiring.mul.reads:
        return ends, inner, A.values, step_of(A.values, index.type)
    return ends, inner, cupy().full(1, other_than(semiring.zero(A.dtype)), A.dtype), index.type(0)


# --- whole ----------------------------------------------------------------------------------------------------------


def whole(A: CSR, B: CSR, semiring: Semiring) -> CSR:
    """A ⊗ B. Waits for the device."""
    cp, zero = cupy(), semiring.zero(A.dtype)
    if not (A.nnz and B.nnz):
        nothing = (cp.zeros(A.nrows + 1, A.indptr.dtype), A.indices[:0], A.values[:0])
        return CSR.trusted(*nothing, (A.nrows, B.ncols))
    index = np.result_type(A.indptr, B.indptr)
    a, b = _arrays(A, index, semiring), _arrays(B, index, semiring)
    terms = Terms(a, b, (A.nrows, B.ncols))
    if terms.long.size * -(-B.ncols // _range(semiring, A.dtype)) * TERMS_OF_A_TASK > terms.of_long:
        return expand_and_combine(A, B, semiring)
    C, zeros = by_rows(a, b, semiring, A.dtype, terms)
    if not _counts(semiring, A.dtype) and int(zeros[0]):
        return entries.kept(C, entries.flagged(C, C.values != zero))
    return C


class Terms:
    """How many terms the rows of a product have. Waits for the device.

    before: those of the entries of A before each.  light: (lanes, rows) of each class that lanes order.
    middle, long: the others.  of_long: terms of long rows.  count: of all.
    """

    def __init__(self, a: tuple[Any, ...], b: tuple[Any, ...], shape: tuple[int, int]) -> None:
        cp, index, classes = cupy(), a[0].dtype, len(LIGHT) + 2
        nnz, nrows = a[1].size, shape[0]
        k = steps_for(TERMS, index, 4, TERMS_HEAD)
        self.shape, self.before = shape, cp.empty(nnz + 1, np.int64)
        k.loop("count_terms", nnz, (a[1], np.int64(nnz), b[0], self.before))
        totals(self.before, nnz, self.before)
        lists, told = cp.empty((classes, nrows), index), cp.zeros(classes + 2, np.uint64)
        k.loop("list_rows", nrows, (a[0], np.int64(nrows), self.before, lists, told))
        *counts, self.of_long, self.count = told.tolist()
        *light, self.middle, self.long = (rows[:count] for rows, count in zip(lists, counts, strict=True))
        self.light = tuple(zip(LIGHT, light, strict=True))


def by_rows(
    a: tuple[Any, ...], b: tuple[Any, ...], semiring: Semiring, dtype: np.dtype, terms: Terms
) -> tuple[CSR, Any]:
    """Returns A ⊗ B with its zeros from rows of few, more and many terms, and an array that tells if it has zeros."""
    cp, index, before = cupy(), a[0].dtype, terms.before
    nrows, ncols = terms.shape
    number = index_dtype(nrows, ncols, min(terms.count, nrows * ncols))
    starts, zeros = cp.zeros(nrows + 1, number), cp.zeros(1, np.int32)
    k = _unit(SHORT, semiring, dtype, index, number) if terms.long.size < nrows else {}
    classes: list[tuple[str, Any, int, tuple[Any, ...]]] = [
        *(("light", rows, lanes, (np.int32(lanes),)) for lanes, rows in terms.light),
        ("middle", terms.middle, THREADS, ()),
    ]
    short = [each for each in classes if each[1].size]
    for name, rows, threads, lanes in short:
        arguments = (rows, index.type(rows.size), *lanes, *a[:2], before, *b[:2], starts)
        k[f"count_{name}"](_grid(rows.size * threads), (THREADS,), arguments)
    if terms.long.size:
        of_ranges = _unit(RANGES, semiring, dtype, index, number)
        ranges = -(-ncols // _range(semiring, dtype))
        tasks = terms.long.size * ranges
        places = cp.empty(tasks + 1, number)
        of_long = (terms.long, index.type(terms.long.size))
        arguments = (*of_long, *a[:2], *b[:2], np.int32(ranges), places)
        of_ranges["count_ranges"](_grid(tasks * 32), (THREADS,), arguments)
        totals(places, tasks, places)
        starts[terms.long] = cp.diff(places[::ranges])
    totals(starts, nrows, starts, told=letters().open(SUM))
    (nnz,) = letters().read(SUM)
    indices, values = cp.empty(nnz, number), cp.empty(nnz, dtype)
    results = (starts, indices, values, zeros)
    for name, rows, threads, lanes in short:
        arguments = (rows, index.type(rows.size), *lanes, *a[:2], before, *a[2:], *b, *results)
        k[f"multiply_{name}"](_grid(rows.size * threads), (THREADS,), arguments)
    if terms.long.size:
        kernel, shared = of_ranges["multiply_ranges"], _shared_bytes(semiring, dtype)
        let_share(kernel, shared)
        arguments = (*of_long, *a, *b, np.int32(ranges), places, *results)
        kernel(_grid(tasks * 32), (THREADS,), arguments, shared_mem=shared)
    return CSR.trusted(starts, indices, values, (nrows, ncols)), zeros


def _grid(threads: int) -> tuple[int]:
    """Blocks for so many threads; with fewer, kernels loop."""
    return (min(-(-threads // THREADS), 1 << 20),)


def _shared_bytes(semiring: Semiring, dtype: np.dtype) -> int:
    """Shared bytes of a block's sums, a range for each warp, and of their bits."""
    width = _range(semiring, dtype)
    held = 4 if _counts(semiring, dtype) else sum_bytes(semiring, dtype)
    return THREADS // 32 * (width * held + width // 8)


def _range(semiring: Semiring, dtype: np.dtype) -> int:
    """Columns whose sums a warp holds."""
    return RANGE_BYTES // (4 if _counts(semiring, dtype) else max(sum_bytes(semiring, dtype), 4))


def _counts(semiring: Semiring, dtype: np.dtype) -> bool:
    """True if the sums count entries, as integers."""
    return semiring.add == MONOIDS["plus"] and semiring.mul == OPERATORS["pair"] and dtype.kind == "i"


def spgemm_text(files: tuple[str, ...], semiring: Semiring, dtype: np.dtype, index: np.dtype, number: np.dtype) -> str:
    """The CUDA text of a unit. number: the index type of the result."""
    most = np.iinfo(dtype).max if dtype.kind == "i" else 0
    head = f"#define COUNTS {int(_counts(semiring, dtype))}\n#define MOST {most}\nusing N = {C_TYPES[number.name]};\n"
    text = text_of(files, THREADS=THREADS, RANGE=_range(semiring, dtype))
    return "\n".join((prelude(semiring, dtype, index), head, text))


@kept_by_place(256)
def _unit(
    files: tuple[str, ...], semiring: Semiring, dtype: np.dtype, index: np.dtype, number: np.dtype
) -> dict[str, Any]:
    text = spgemm_text(files, semiring, dtype, index, number)
    module = load(text, f"{semiring.name}, {dtype}, sparse products")
    return {name: module.get_function(name) for name in KERNELS[files]}
