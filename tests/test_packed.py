"""CompressedCSR: what its groups hold, what it refuses, how many bytes it takes, and that products use it as it is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.graphs import grid
from formats import CSC, CSR, CompressedCSR, SparseVector, from_edges
from formats.matrix.facts import COMPRESSED
from formats.storage.orientation import by_columns
from formats.storage.packed import GROUP, groups_of, max_width, pack, spare_words, unpack
from semiring import LorLand, MinPlus, mxv, reduce, vxm

INT32, INT64 = np.dtype(np.int32), np.dtype(np.int64)
COUNTS = (0, 1, 31, 32, 33, 100)


def repacked(columns: np.ndarray) -> np.ndarray:
    words, bases, starts = pack(columns)
    assert (words.dtype, bases.dtype, starts.dtype) == (np.uint32, columns.dtype, columns.dtype)
    assert bases.size == starts.size - 1 == groups_of(columns.size)
    assert words.size == starts[-1] + spare_words(columns.dtype)
    return unpack(words, bases, starts, columns.dtype)[: columns.size]


def scattered(shape: tuple[int, int], count: int, dtype: str = "float32") -> CSR:
    rng = np.random.default_rng(7)
    rows, cols = (rng.integers(0, extent, count) for extent in shape)
    return from_edges(rows, cols, rng.integers(1, 9, count), shape=shape, dtype=dtype)


# --- groups -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize(
    ("dtype", "width"),
    [(INT32, width) for width in (0, 1, 2, 7, 16, 17, 30, 31)]
    + [(INT64, width) for width in (0, 1, 31, 32, 33, 34, 48, 62, 63)],
    ids=str,
)
def test_columns_of_any_width_come_back(dtype, width, count):
    top = (1 << width) - 1
    columns = np.random.default_rng(width).integers(0, top, count, dtype, endpoint=True)
    columns[::GROUP], columns[1::GROUP] = 0, top
    np.testing.assert_array_equal(repacked(columns), columns)
    _, _, starts = pack(columns)
    full = count // GROUP
    assert np.diff(starts)[:full].tolist() == [width] * full, "words of a group: the bits of an offset"


@given(st.data())
def test_any_columns_come_back(data):
    dtype = data.draw(st.sampled_from([INT32, INT64]))
    bits = st.integers(0, max_width(dtype)).flatmap(lambda width: st.integers(0, (1 << width) - 1))
    columns = np.array(data.draw(st.lists(bits, max_size=80)), dtype)
    np.testing.assert_array_equal(repacked(columns), columns)


def test_a_group_has_its_own_base_and_width_across_the_ends_of_rows():
    columns = np.concatenate((np.arange(1000, 1032), np.full(32, 5), [7, 9])).astype(np.int32)
    indptr = np.array([0, 20, 32, *range(33, 67)], np.int32)
    A = CSR(indptr, columns, np.ones(66), (36, 2000)).to(CompressedCSR)
    assert (A.bases.tolist(), np.diff(A.starts).tolist()) == ([1000, 5, 7], [5, 0, 2])
    assert A.words.size == 7 + 2
    assert A.inner.tolist() == columns.tolist()
    assert A.outer.tolist() == A.to(CSR).to("coo").rows.tolist()
    assert A.to(CSR).indices.tolist() == columns.tolist()


def test_every_entry_is_found_by_itself():
    A = scattered((20, 300), 360)
    P = A.to(CompressedCSR)
    for u, v, value in zip(*(part.tolist() for part in A.to_edges()), strict=True):
        assert P[u, v] == P.T[v, u] == value
    stored = set(zip(*(part.tolist() for part in A.to_edges()[:2]), strict=True))
    assert all(((u, v) in P) == ((u, v) in stored) for u in range(20) for v in range(300))


def test_columns_beyond_32_bits():
    A = CSR(np.array([0, 2, 3]), np.array([1, 2**40, 2**62]), np.array([1, 2, 3]), (2, 2**63 - 1))
    P = A.to(CompressedCSR)
    assert (P.bases.dtype, P.starts.tolist()) == (np.int64, [0, 62])
    assert (P[0, 1], P[0, 2**40], P[1, 2**62], P.get(1, 2**62 - 1)) == (1, 2, 3, None)
    assert P.to(CSR).indices.tolist() == A.indices.tolist()
    P.check()


@pytest.mark.parametrize("width", [1, 31, 32, 33, 34, 40, 63])
def test_loops_decode_what_is_packed(width):
    from semiring.cpu.kernels import compiled
    from semiring.cpu.packed import group, offset

    columns = np.random.default_rng(1).integers(0, (1 << width) - 1, 70, endpoint=True)
    words, bases, starts = pack(columns)

    @compiled
    def decoded(words, bases, starts, e, end, out):
        while e < end:
            base, bit, width, last = group(bases, starts, e, end)
            while e < last:
                out[e] = base + offset(words, bases, bit, width)
                e, bit = e + np.uintp(1), bit + width

    out = np.zeros_like(columns)
    decoded(words, bases, starts, np.uintp(3), np.uintp(69), out)
    assert out[3:69].tolist() == columns[3:69].tolist()


# --- sizes and refusals -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "A",
    [scattered((0, 0), 0), scattered((1, 1), 1), scattered((9, 0), 0), scattered((300, 70), 999), grid(20)],
    ids=["0", "1", "empty", "scattered", "grid"],
)
def test_bytes_are_known_beforehand(A):
    P = A.to(CompressedCSR)
    assert CompressedCSR.predicted_nbytes(A) == P.nbytes
    assert CompressedCSR.predicted_nbytes(A.pattern()) == A.pattern().to(CompressedCSR).nbytes
    assert P.columns_nbytes == P.nbytes - A.indptr.nbytes - A.values.nbytes
    P.check()


def test_near_columns_take_fewer_bytes():
    A = grid(300)
    P = A.to(CompressedCSR)
    assert P.columns_nbytes < A.indices.nbytes / 2.5
    assert P.astype("float64").columns_nbytes == P.pattern().columns_nbytes == P.columns_nbytes


def test_packing_is_refused_only_where_it_takes_more():
    A = scattered((2000, 2**31 - 1), 20_000)
    packed = A.to(CompressedCSR, force=True).columns_nbytes
    message = rf"packed columns would take {packed:,} bytes, the CSR's take {A.indices.nbytes:,}: .* pass force=True"
    with pytest.raises(ValueError, match=message):
        A.to(CompressedCSR)
    assert A.to(CompressedCSR, force=True).equals(A)
    assert scattered((2000, 2**29), 20_000).to(CompressedCSR).columns_nbytes < 80_000
    small = scattered((20, 2**31 - 1), 200)
    assert small.to(CompressedCSR).columns_nbytes > small.indices.nbytes, "which nobody minds"


WORDS = [0b1001, 0, 0]
REFUSED: list[tuple[tuple[Any, ...], str]] = [
    (([0, 1], [0, 0], [0], [0, 0], [1], (2, 2)), "indptr must have 3 elements, one more than there are rows, got 2"),
    (([0, 1], [0, 0], [0], [0, 0], [1], (2, 2), 1), "one more than there are columns"),
    (([0, 1], [0, 0], [0, 0], [0, 0], [1], (1, 2)), "bases must have 1 elements, one for 32 entries, got 2"),
    (([0, 1], [0, 0], [2], [0, 0], [1], (1, 2)), r"bases must be in \[0, 2\), got 2"),
    (([0, 1], [0, 0], [0], [0], [1], (1, 2)), "starts must have 2 elements, one more than there are groups, got 1"),
    (([0, 1], [0], [0], [0, 0], [1], (1, 2)), "words must end with 2 spare ones, got 1 in all"),
    (([0, 1], [0, 0, 0], [0], [0, 0], [1], (1, 2)), "starts must run from 0 to the words but 2 = 1, got 0 to 0"),
    (([0, 1], [-1, 0], [0], [0, 0], [1], (1, 2)), r"words must be in \[0, 4294967296\), got -1"),
    (([0, 1], [0] * 34, [0], [0, 32], [1], (1, 2)), r"starts must be in \[0, 32\), got 32"),
    (([0, 1], [3, 0, 0, 0], [0], [0, 2], [1], (1, 2)), r"columns must be in \[0, 2\), got 3"),
    (([0, 1], [3, 0, 0, 0], [0], [0, 2], [1], (2, 1), 1), r"rows must be in \[0, 2\), got 3"),
    (([0, 2], [0b01, 0, 0], [0], [0, 1], [1, 1], (1, 2)), "must ascend in each row .* row 0 has 1 before 0"),
    (([0, 1], [0, 0], [0], [0, 0], [np.nan], (1, 2)), "values must not be NaN"),
    (([0, 1], [0, 0], [0], [0, 0], [1], (1, 2), 2), r"major must be 0 \(compressed rows\) or 1 .*, got 2"),
]


@pytest.mark.parametrize(("parts", "message"), REFUSED)
def test_the_constructor_names_the_broken_rule(parts, message):
    with pytest.raises(ValueError, match=message):
        CompressedCSR(*(np.array(part) if isinstance(part, list) else part for part in parts))


def test_offsets_have_no_more_bits_than_a_column():
    values = np.ones(64, np.int32)
    with pytest.raises(ValueError, match=r"the bits of an offset must be in \[0, 32\), got 32"):
        CompressedCSR(np.array([0, 64]), np.zeros(34, int), np.array([0, 0]), np.array([0, 0, 32]), values, (1, 99))


def test_the_constructor_takes_what_it_shows():
    A = scattered((40, 90), 300).to(CompressedCSR)
    assert CompressedCSR(*A.components).equals(A)
    assert CompressedCSR(*A.T.components).equals(A.T)
    with pytest.raises(TypeError, match="words must be integers"):
        CompressedCSR(A.indptr, A.words.astype(float), *A.components[2:])


# --- products ---------------------------------------------------------------------------------------------------------


def test_what_products_keep_is_packed_as_well():
    A = scattered((400, 400), 4000).to(CompressedCSR)
    x = SparseVector([3, 5], np.array([1, 2], np.float32), 400)
    y = mxv(A, x, MinPlus)
    assert y.indices.tolist() == mxv(A.to(CSR), x, MinPlus).indices.tolist()
    assert isinstance(by_columns(A), CompressedCSR)
    assert not A.keeps(COMPRESSED, CSC)
    kept = A.kept_nbytes
    vxm(x, A, MinPlus)
    reduce(A, "min", axis=1)
    assert not A.keeps(COMPRESSED, CSR)
    assert A.kept_nbytes < kept + 4 * A.nrows * 4, "beside y and its places, nothing"


def test_rows_end_at_their_first_hit_and_are_left_out_by_a_mask():
    A = from_edges(np.repeat([0, 2], 70), np.tile(np.arange(70), 2), np.ones(140, bool), shape=(3, 70)).to(
        CompressedCSR
    )
    x = np.arange(70) >= 40
    assert mxv(A, x, LorLand).tolist() == [True, False, True]
    assert mxv(A, x, LorLand, mask=np.array([False, True, True])).tolist() == [False, False, True]
