"""Sparse products on the CPU beside their definition, which adds in the order of k: to the last bit, by any rule.

The matrices are made so that each way of the loops is taken: rows that are searched, scanned, sorted and marked.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from formats import COO, CSC, CSR, Matrix, from_edges
from semiring import MONOIDS, OPERATORS, BinaryOp, MinPlus, Monoid, PlusTimes, Semiring, mxm, reduce, threads
from semiring.algebra.semirings import find_semiring
from semiring.cpu import gustavson, spgemm
from semiring.verbs import steps

ABSDIFF = BinaryOp("absdiff", scalar=lambda a, b: abs(a - b))
LONGER = BinaryOp("longer", scalar=lambda a, b: a if a > b else b)
OWN = Semiring(Monoid(LONGER, "lowest", idempotent=True), ABSDIFF)
NAMES = (
    "min_plus",
    "max_plus",
    "min_max",
    "plus_times",
    "plus_pair",
    "plus_first",
    "min_second",
    "max_times",
    "any_second",
)
NAMES += ("any_pair", "lor_land", "times_plus")
CASES = [(PlusTimes, dtype) for dtype in PlusTimes.dtypes]
CASES += [(s, s.dtypes[k % len(s.dtypes)]) for k, s in enumerate((*map(find_semiring, NAMES), OWN))]


@pytest.fixture(params=[1, 2], ids=["one-thread", "two-threads"])
def _cut_small(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(spgemm, "MIN_PIECE_WORK", 8)
    monkeypatch.setattr(spgemm, "MAX_UNSIZED_ENTRIES", 4)
    monkeypatch.setattr(spgemm, "PIECES_AT_A_TIME", 2)
    with threads(request.param):
        yield


def matrix(rng: np.random.Generator, dtype: np.dtype, shape: tuple[int, int]) -> CSR:
    """Rows that are empty, thin, half full and full; columns likewise; with stored zeros and negative values."""
    chances = rng.choice([0.0, 0.05, 0.5, 1.0], (shape[0], 1)) * rng.choice([0.2, 1.0], shape[1])
    u, v = np.nonzero(rng.random(shape) < chances)
    values = rng.integers(0 if dtype.kind == "b" else -3, 4, u.size).astype(dtype)
    return from_edges(u, v, values / 7 if dtype.kind == "f" else values, shape=shape)


def by_definition(A: CSR, B: CSR, semiring: Semiring) -> np.ndarray:
    """c_ij = ⊕_k a_ik ⊗ b_kj, a row of B at a time; no sum may leave the range."""
    zero = semiring.zero(A.dtype)
    C = np.full((A.nrows, B.ncols), zero)
    for i in range(A.nrows):
        for e in range(A.indptr[i], A.indptr[i + 1]):
            k = A.indices[e]
            part = slice(B.indptr[k], B.indptr[k + 1])
            a, b, at = np.full(part.stop - part.start, A.values[e]), B.values[part], B.indices[part]
            t = semiring.mul(a, b).astype(A.dtype)
            absent = (a == zero) | (b == zero) | (t != t) if semiring.mul.reads else np.zeros(a.size, bool)
            C[i, at] = semiring.add(C[i, at], np.where(absent, zero, t))
    return C


def bits(dense: np.ndarray) -> list[Any]:
    return (dense + dense.dtype.type(0)).tolist()  # -0.0 is 0.0


@pytest.mark.usefixtures("_cut_small")
@pytest.mark.parametrize(("semiring", "dtype"), CASES, ids=lambda case: getattr(case, "name", str(case)))
def test_products_have_the_bits_of_the_definition(semiring, dtype):
    rng = np.random.default_rng(7)
    for shape in ((0, 3, 2), (9, 1, 5), (14, 30, 70), (6, 20, 400)):
        if semiring.add.name == "times" and shape[2] > 5:
            continue  # of these products most leave the range
        A, B, mask = (matrix(rng, d, s) for d, s in ((dtype, shape[:2]), (dtype, shape[1:]), (dtype, shape[::2])))
        whole, zero, inside = by_definition(A, B, semiring), semiring.zero(dtype), mask.to_dense() != 0
        assert bits(checked(mxm(A, B, semiring), zero)) == bits(whole), shape
        for form in (mask, mask.to(CSC), mask.to(COO), inside):
            for complement in (False, True):
                actual = checked(mxm(A, B, semiring, mask=form, complement=complement), zero)
                assert bits(actual) == bits(np.where(inside ^ complement, whole, zero)), (shape, complement)


def checked(C: Matrix, zero: Any) -> np.ndarray:
    C.check()
    assert not (C.values == zero).any()
    return C.to_dense(zero)


@pytest.mark.parametrize(("scanned", "listed"), [(0, 0), (0, 24), (8, 24), (10**9, 24)])
def test_each_way_to_read_a_row_gives_the_same(monkeypatch, scanned, listed):
    """Also where sums return to the zero and leave it again, more often than there are columns."""
    rng = np.random.default_rng(3)
    gustavson.kernels.cache_clear()
    monkeypatch.setattr(gustavson, "SCANNED", scanned)
    monkeypatch.setattr(gustavson, "MAX_INSERTED_PLACES", listed)
    u, v = np.indices((40, 12)).reshape(2, -1)
    B = from_edges(u, v, np.where(u % 2, -1.0, 1.0), shape=(40, 100))
    A = from_edges(np.zeros(39, int), np.arange(39), np.ones(39), shape=(2, 40))
    narrow = from_edges(u, v, np.where(u % 2, -1.0, 1.0), shape=(40, 12))
    for right in (B, narrow):
        assert mxm(A, right, PlusTimes).to_dense(0)[0, :12].tolist() == [1.0] * 12
    A, B = matrix(rng, np.dtype(np.float64), (20, 30)), matrix(rng, np.dtype(np.float64), (30, 200))
    mask = matrix(rng, np.dtype(np.float64), (20, 200))
    inside = mask.to_dense() != 0
    whole = by_definition(A, B, PlusTimes)
    assert bits(mxm(A, B, PlusTimes).to_dense(0)) == bits(whole)
    assert bits(mxm(A, B, PlusTimes, mask=mask, complement=True).to_dense(0)) == bits(np.where(inside, 0, whole))
    gustavson.kernels.cache_clear()


@pytest.mark.usefixtures("_cut_small")
@pytest.mark.parametrize("index_type", [np.int32, np.int64])
def test_a_hub_is_searched_for_the_places_of_a_short_row(index_type):
    n = 3000
    star = from_edges(np.r_[np.zeros(n - 1, int), np.arange(1, n)], np.r_[np.arange(1, n), np.zeros(n - 1, int)])
    A = CSR(star.indptr.astype(index_type), star.indices.astype(index_type), star.values, star.shape)
    mask = from_edges([0, 1, 5, 5, 9], [0, 2999, 0, 7, 4], shape=n)
    C = mxm(A, A, "plus_pair", mask=mask)
    assert [part.tolist() for part in C.to_edges()] == [[0, 1, 5, 9], [0, 2999, 7, 4], [n - 1, 1, 1, 1]]
    assert mxm(A, A, "plus_pair", mask=mask, complement=True).nnz == (n - 1) ** 2 + 1 - 4


def test_a_masked_product_is_neither_selected_nor_searched(monkeypatch):
    A = matrix(np.random.default_rng(1), np.dtype(np.float64), (30, 30))
    expected = mxm(A, A, PlusTimes, mask=A)
    for name in ("kept", "shared", "united"):
        monkeypatch.setattr(steps, name, None)
    out = CSR(*A.components)
    assert mxm(A, A, PlusTimes, mask=A, out=out, replace=True) is out
    assert out.equals(expected)


def test_columns_that_no_row_could_hold_are_numbered_anew():
    shape = (3, 2**61)
    A = from_edges([0, 0, 2], [0, 1, 2], [1, 2, 3], shape=3)
    B = CSR(np.array([0, 2, 3, 4]), np.array([5, 2**60, 5, 7]), np.array([1, 2, 3, 4]), shape)
    far = CSR(np.array([0, 2, 2, 2]), np.array([5, 6]), np.array([1, 1]), shape)
    assert mxm(A, B, MinPlus).indices.tolist() == [5, 2**60, 7]
    assert mxm(A, B, MinPlus, mask=far).values.tolist() == [2]
    assert mxm(A, B, MinPlus, mask=far, complement=True).indices.tolist() == [2**60, 7]


def test_sums_of_int32_are_exact_and_clamped_at_the_end():
    big = 2**31 - 1
    A = from_edges([0, 0, 0, 1], [0, 1, 2, 0], np.array([1, 1, 1, 2], np.int32), shape=3)
    B = from_edges([0, 1, 2], [0, 0, 0], np.array([big, big, -big], np.int32), shape=3)
    for mask in (None, from_edges([0, 1], [0, 0], shape=3)):
        assert mxm(A, B, PlusTimes, mask=mask).values.tolist() == [big, big]
    wide = A.astype(np.int64), B.astype(np.int64)
    assert mxm(*wide, PlusTimes).values.tolist() == [big, 2 * big]
    far = from_edges([0, 1, 2], [0, 0, 0], np.array([2**62, 2**62, 2**62]), shape=3)
    assert mxm(wide[0], far, PlusTimes).values.tolist() == [2**63 - 1, 2**63 - 1]


def test_triangles_are_counted_by_a_masked_product():
    u, v = np.tril_indices(12, -1)
    L = from_edges(u, v, shape=12)
    assert reduce(mxm(L, L, "plus_pair", mask=L), "plus") == 220
    assert reduce(mxm(L, L.to(CSR), Semiring(MONOIDS["plus"], OPERATORS["pair"]), mask=L), "plus") == 220


def test_an_interruption_stops_a_product_between_two_pieces(monkeypatch):
    """And the next product is right."""
    A = matrix(np.random.default_rng(1), np.dtype(np.float64), (60, 60))
    expected, add, calls = mxm(A, A, PlusTimes), spgemm._Result.add, list[int]()
    monkeypatch.setattr(spgemm, "MIN_PIECE_WORK", 8)

    def interrupted(self: Any, number: int, *parts: Any) -> None:
        calls.append(number)
        if len(calls) == 3:
            raise KeyboardInterrupt
        add(self, number, *parts)

    with monkeypatch.context() as patch, threads(1):
        patch.setattr(spgemm._Result, "add", interrupted)
        with pytest.raises(KeyboardInterrupt):
            mxm(A, A, PlusTimes)
    assert len(calls) == 3
    assert mxm(A, A, PlusTimes).equals(expected)
