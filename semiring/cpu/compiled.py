"""Products by compiled loops, over each format's own storage (`storage`), or over kept rows.

Every format but CSR and CSC always comes here. These do with a sparse operand, with semirings that GraphBLAS has no
name for, and with operands on which SuiteSparse's arithmetic would leave the range (`suitesparse.operand`).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from formats import CSC, CSR, Matrix, SparseVector
from formats.arrays import index_dtype, read_only
from formats.matrix.facts import Fact

from ..algebra.semirings import Law, Semiring, counts
from ..generic.products import Backend
from ..verbs.masks import VectorWrite
from . import exact
from .plain import Operand, plain_operand
from .ranges import holds_zero
from .storage import STORED, Loops
from .threads import PIECES_PER_THREAD, get_threads, merged_pieces, run

PLACES_PER_ELEMENT_FOR_A_THREAD = 8
"""Minimum places for each element of y for another thread, with a y of its own, to make a scatter faster."""

MIN_SHARE_FOR_SCAN = 1 / 4
"""Share of y above which finding the reached places by a scan of y is faster than sorting them."""


SCRATCH: Fact[tuple[np.ndarray, np.ndarray]] = Fact("zeros that a push writes to, and the places that it reaches")
"""Given: the major axis and the zero."""


def needs(A: Matrix, fmt: type[Matrix], *, matrix_first: bool) -> dict[str, int]:
    """Bytes that a product with a dense vector takes beside x and y, A being in a format."""
    kept = 0 if fmt in STORED else (CSR if matrix_first else CSC).predicted_nbytes(A)
    along = getattr(fmt, "major", 0) == (0 if matrix_first else 1) or bool(kept)
    size = 0 if along else (A.nrows if matrix_first else A.ncols) * A.dtype.itemsize
    places = fmt.predicted_nbytes(A) // A.dtype.itemsize  # at most: a part of it are indices
    further = min(get_threads(), most_parts(A.dtype, places, size // A.dtype.itemsize)) - 1
    return {"rows or columns, kept": kept, "y of each further thread": further * size}


def most_parts(dtype: np.dtype, places: int, extent: int, rounds: bool = False) -> int:
    """How many y's a scatter of so many places may have: making and adding them up takes less than it saves.

    rounds: sums are rounded, and therefore taken in one order by any number of threads.
    """
    return 1 if rounds and dtype.kind == "f" else max(1, places // (PLACES_PER_ELEMENT_FOR_A_THREAD * max(extent, 1)))


def as_plain(A: Matrix, x: np.ndarray, semiring: Semiring, matrix_first: bool) -> tuple[Operand, bool]:
    """Returns the dense operand as plain terms take it, and True, where they are exact; else as it is, and False."""
    takes_part = semiring.mul.reads != "" and holds_zero(A, semiring.zero(A.dtype))
    operand = None if takes_part else plain_operand(A, x, semiring, matrix_first)
    if operand is None or operand.present is not None:
        return Operand(x), False
    return operand, True


def prepared(A: Matrix, x: np.ndarray, semiring: Semiring, matrix_first: bool) -> tuple[Any, Operand]:
    """The loops for a dense operand, and the operand as they take it: the plain ones where they are exact."""
    operand, plain = as_plain(A, x, semiring, matrix_first)
    return loops_for(A, semiring, matrix_first, plain), operand


def dense(A: Matrix, x: Any, semiring: Semiring, write: VectorWrite, matrix_first: bool, gathers: bool) -> np.ndarray:
    """y of a dense x, along the stored rows or across them."""
    return gather(A, x, semiring, matrix_first, write) if gathers else scatter(A, x, semiring, matrix_first)


def beyond_the_range(A: Matrix, x: Any, semiring: Semiring, matrix_first: bool) -> Any:
    """The exact product where sums could leave the dtype's range on the way; None where they cannot."""
    return exact.product(A, x, semiring, matrix_first) if exact.needed(A, x, semiring) else None


def pushes(semiring: Semiring, dtype: np.dtype) -> bool:
    """True if no y_k that has left the zero returns to it."""
    return semiring.add.idempotent or counts(semiring, dtype)


def gather(A: Matrix, x: np.ndarray, semiring: Semiring, matrix_first: bool, write: VectorWrite) -> np.ndarray:
    """y_i = ⊕_k a_ik ⊗ x_k along the stored rows, each thread its own rows."""
    loops, operand = prepared(A, x, semiring, matrix_first)
    x, zero = read_only(np.ascontiguousarray(operand.values)), semiring.zero(A.dtype)
    allowed = None if write.mask is None else read_only(np.ascontiguousarray(write.allowed))
    nmajor = A.shape[A.major]
    y = np.empty(nmajor, A.dtype) if loops.fills else np.full(nmajor, zero, A.dtype)
    run(lambda *piece: loops.gather(A, x, y, allowed, *piece), loops.pieces(A, PIECES_PER_THREAD))
    return operand.finished(y, zero)


def scatter(A: Matrix, x: np.ndarray, semiring: Semiring, matrix_first: bool) -> np.ndarray:
    """y_k ⊕= a_ik ⊗ x_i, each thread into a y of its own, added up at the end; fewer threads where entries are few.

    One thread takes sums that are rounded.
    """
    loops, operand = prepared(A, x, semiring, matrix_first)
    x, zero = read_only(np.ascontiguousarray(operand.values)), semiring.zero(A.dtype)
    extent, parts = A.shape[1 - A.major], dict[int, np.ndarray]()

    def work(start: int, stop: int) -> None:
        y = parts[start] = np.full(extent, zero, A.dtype)
        loops.scatter(A, x, y, start, stop)

    most = most_parts(A.dtype, A.values.size, extent, not semiring.add.idempotent)
    run(work, merged_pieces(loops.pieces(A, 1), most))
    total, *others = (parts[start] for start in sorted(parts))  # in order, for `any` takes the first
    for part in others:
        total = semiring.add(total, part)
    return operand.finished(total, zero)


def push(A: Matrix, x: SparseVector, semiring: Semiring, matrix_first: bool) -> SparseVector:
    """y_k ⊕= a_ik ⊗ x_i over the present x_i, at the cost of their entries.

    ⊕ is idempotent, or counts: no y_k returns to zero.
    y is an array of zeros that is kept with the matrix; the places that were reached are put back to zero at the end.
    Two calls at a time never share it: a call that finds it taken makes a new one.
    """
    loops = loops_for(A, semiring, matrix_first)
    size, zero = A.shape[1 - A.major], semiring.zero(A.dtype)
    y, reached = A.take(SCRATCH, A.major, zero) or (np.full(size, zero, A.dtype), np.empty(size + 1, index_dtype(size)))
    rows, weights = read_only(np.ascontiguousarray(x.indices)), read_only(np.ascontiguousarray(x.values))
    count = loops.push(A, rows, weights, y, reached)
    if count > size * MIN_SHARE_FOR_SCAN:
        indices = np.flatnonzero(y != zero).astype(reached.dtype)
    else:
        indices = np.sort(reached[:count])
    places = indices.astype(np.intp)  # NumPy takes twice as long to look up by int32
    values = y.take(places)
    y[places] = zero
    A.keep(SCRATCH, lambda: (y, reached), A.major, zero)
    return SparseVector.trusted(indices, values, size)


def loops_for(A: Matrix, semiring: Semiring, matrix_first: bool, plain: bool = False) -> Any:
    """The loops for A's storage that compute a ⊗ x (matrix_first) or x ⊗ a; `plain`: without any test (see `plain`)."""
    loops: Any = STORED[type(A)]
    return _compiled(loops, semiring, A.dtype, matrix_first or Law.COMMUTATIVE in semiring.laws, plain)


@lru_cache(maxsize=2048)
def _compiled(loops: Any, semiring: Semiring, dtype: np.dtype, matrix_first: bool, plain: bool) -> Loops:
    from .kernels import terms

    return loops(terms(semiring, dtype, matrix_first, plain))


ON_CPU = Backend(STORED, dense, push, pushes, beyond_the_range)
