"""The storage formats: what they accept, what they refuse and say, and how one becomes another."""

from __future__ import annotations

import dataclasses
import pickle
import sys
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formats import COO, CSC, CSR, ELL, Dense, DeviceUnavailable, Matrix, SegmentedCOO, SparseVector, from_edges
from formats.arrays import index_dtype
from formats.matrix.facts import Fact
from formats.storage.orientation import compressed
from semiring import PlusTimes, transpose

from . import strategies as sts

every_format = pytest.mark.parametrize("fmt", sts.FORMATS, ids=lambda fmt: fmt.__name__)
INT32_MAX = 2**31 - 1

#     0  1  2
# 0 [ .  5  0 ]      the 0 is stored
# 1 [ .  .  . ]
# 2 [ 7  .  9 ]
# 3 [ .  2  . ]
EDGES = [(0, 1, 5), (0, 2, 0), (2, 0, 7), (2, 2, 9), (3, 1, 2)]


def example(fmt: type[Matrix] = CSR) -> Matrix:
    rows, cols, weights = zip(*EDGES, strict=True)
    return from_edges(rows, cols, weights, shape=(4, 3)).to(fmt)


def edges(A: Matrix) -> list[tuple[int, int, int]]:
    return list(zip(*(part.tolist() for part in A.to_edges()), strict=True))


# --- looking at a matrix ----------------------------------------------------------------------------------------------


@every_format
def test_a_matrix_tells_its_size_type_and_place(fmt):
    A = example(fmt)
    assert (A.shape, A.nrows, A.ncols, A.nnz) == ((4, 3), 4, 3, 5)
    assert (A.dtype, A.device) == (np.int32, "cpu")
    assert A.nbytes == sum(array.nbytes for array in A.arrays) > 5 * 4
    assert A.kept_nbytes == 0
    assert repr(A) == f"<{fmt.__name__} 4×3, 5 entries, int32, cpu>"


@every_format
def test_entries_by_position(fmt):
    for A, turned in ((example(fmt), False), (example(fmt).T, True)):
        stored = {((v, u) if turned else (u, v)): w for u, v, w in EDGES}
        for place in product(range(A.nrows), range(A.ncols)):
            assert (place in A) == (place in stored)
            assert A.get(*place) == stored.get(place)
            assert A.get(*place, default=-1) == stored.get(place, -1)
            if place in stored:
                assert A[place] == stored[place]
                assert A[place].dtype == np.int32
            else:
                with pytest.raises(KeyError, match=rf"no entry at \({place[0]}, {place[1]}\)"):
                    A[place]
        with pytest.raises(IndexError, match=rf"row must be in \[0, {A.nrows}\), got {A.nrows}"):
            A[A.nrows, 0]
        with pytest.raises(IndexError, match=rf"column must be in \[0, {A.ncols}\), got -1"):
            A.get(0, -1)
        with pytest.raises(TypeError):
            A[0.5, 0]


@every_format
def test_dense_view_fills_absent_places(fmt):
    A = example(fmt)
    assert A.to_dense().tolist() == [[0, 5, 0], [0, 0, 0], [7, 0, 9], [0, 2, 0]]
    assert A.to_dense(-1).tolist() == [[-1, 5, 0], [-1, -1, -1], [7, -1, 9], [-1, 2, -1]]
    assert A.to_dense(INT32_MAX).dtype == np.int32
    assert A.to_dense(2**40).dtype == np.int64
    assert A.to_dense(np.inf)[1, 1] == np.inf
    assert A.T.to_dense(-1).tolist() == A.to_dense(-1).T.tolist()


@every_format
def test_edges_come_by_row_then_column(fmt):
    assert edges(example(fmt)) == EDGES
    assert edges(example(fmt).T) == sorted((v, u, w) for u, v, w in EDGES)


def test_pattern_of_a_dense_matrix():
    A = example(Dense)
    assert edges(A.pattern()) == [(u, v, True) for u, v, _ in EDGES]
    assert (A.pattern().dtype, A.pattern().nbytes) == (np.bool_, 12)


@pytest.mark.parametrize("fmt", [fmt for fmt in sts.FORMATS if fmt is not Dense], ids=lambda fmt: fmt.__name__)
def test_pattern_costs_one_byte(fmt):
    A = example(fmt)
    P = A.pattern()
    assert P.dtype == np.bool_
    assert P.values.strides == (0,) * P.values.ndim
    assert edges(P) == [(u, v, True) for u, v, _ in EDGES]
    assert all(any(np.shares_memory(part, other) for other in A.arrays) for part in P.arrays if part is not P.values)


@every_format
def test_a_matrix_is_immutable(fmt):
    for A in (example(fmt), example(fmt).T):
        for array in A.arrays:
            assert not array.flags.writeable
        with pytest.raises(dataclasses.FrozenInstanceError):
            A.shape = (1, 1)


def test_the_users_arrays_stay_writable_and_are_not_copied():
    indptr, indices, values = np.array([0, 1], np.int32), np.array([0], np.int32), np.array([2.5])
    A = CSR(indptr, indices, values, (1, 1))
    assert np.shares_memory(A.values, values)
    assert np.shares_memory(A.indices, indices)
    assert values.flags.writeable


@every_format
def test_pickle(fmt):
    for A in (example(fmt), example(fmt).T):
        B = pickle.loads(pickle.dumps(A))
        assert (type(B), B.major, B.dtype) == (type(A), A.major, A.dtype)
        assert B.equals(A)


@every_format
def test_equals_compares_shape_dtype_and_entries(fmt):
    A = example(fmt)
    assert A.equals(example(CSR))
    assert not A.equals(A.astype(np.int64))
    assert not A.equals(A.with_values(A.values + np.int32(1)))
    assert not A.equals(from_edges([0], [1], [5], shape=(4, 3)))


# --- transposes and conversions ---------------------------------------------------------------------------------------


@every_format
def test_the_transpose_shares_memory(fmt):
    A = example(fmt)
    assert A.T.T is A
    assert A.T is A.T
    assert A.T.shape == (3, 4)
    assert all(any(np.shares_memory(part, other) for other in A.arrays) for part in A.T.arrays)
    name = {CSR: "CSC", CSC: "CSR"}.get(fmt, fmt.__name__ + ".T")
    assert repr(A.T) == f"<{name} 3×4, 5 entries, int32, cpu>"
    A.T.check()


@pytest.mark.parametrize(("source", "target"), list(product(sts.FORMATS, sts.FORMATS)), ids=lambda fmt: fmt.__name__)
@given(data=st.data())
@settings(max_examples=30)
def test_every_conversion_keeps_every_entry(source, target, data):
    dtype = data.draw(st.sampled_from([sts.INT32, sts.FLOAT64, sts.BOOL]))
    entries = data.draw(sts.matrices(PlusTimes, dtype))
    wanted = [(i, j, value) for (i, j), value in sorted(entries.at.items())]
    A = entries.build(source)
    B = A.to(target)
    B.check()
    assert (type(B), B.major, B.shape, B.dtype) == (target, target.major, entries.shape, dtype)
    assert edges(B) == wanted
    assert B.to(source).equals(A)
    turned = A.T.to(target)
    turned.check()
    assert (type(turned), turned.major) == (target, target.major)
    assert edges(turned) == sorted((j, i, value) for i, j, value in wanted)
    assert A.T.equals(turned)


@every_format
def test_to_gives_the_matrix_itself_where_nothing_changes(fmt):
    A = example(fmt)
    assert A.to(fmt) is A
    assert A.to(fmt.__name__.lower(), device="cpu") is A
    with pytest.raises(ValueError, match="unknown format 'nosuch'; there are .*csr"):
        A.to("nosuch")
    with pytest.raises(ValueError, match="device must be 'cpu' or 'cuda', got 'tpu'"):
        A.to(device="tpu")


@every_format
def test_astype_refuses_to_change_a_value(fmt):
    A = example(fmt)
    assert A.astype(np.float64).dtype == np.float64
    with pytest.raises(ValueError, match="value [57] cannot be stored as bool"):
        A.astype(bool)
    with pytest.raises(ValueError, match=r"value 0.5 cannot be stored as int32"):
        A.with_values(np.full(A.values.shape, 0.5)).astype(np.int32)
    with pytest.raises(TypeError, match="values of dtype complex128 are not supported"):
        A.astype(complex)


def test_ell_refuses_absurd_padding():
    """A star of 2¹⁹ vertices: the hub's row of 2¹⁹ entries would pad 2¹⁹ others, 2 TiB."""
    n = 2**19
    star = from_edges(np.zeros(n - 1, np.int32), np.arange(1, n, dtype=np.int32), shape=n)
    message = r"ELL of width 524287 needs 2,097,1\d\d MiB, [\d,]+ times the CSR's 6.0 MiB: .* pass force=True"
    with pytest.raises(ValueError, match=message):
        star.to(ELL)
    m = 3000  # 3000 x 3000 places of 8 bytes: 69 MiB for 60 kB
    star = from_edges(np.zeros(m - 1, np.int32), np.arange(1, m, dtype=np.int32), shape=m)
    with pytest.raises(ValueError, match="needs 69 MiB"):
        star.to(ELL)
    assert star.to(ELL, force=True).width == m - 1
    assert from_edges([0] * 999, range(1, 1000), shape=1000).to(ELL).width == 999, "8 MB are nobody's concern"


# --- refusals ---------------------------------------------------------------------------------------------------------

REFUSED = [
    (CSR, ([0, 1], [0], [1], (2, 2)), "indptr must have 3 elements, one more than there are rows, got 2"),
    (CSC, ([0, 1], [0], [1], (2, 2)), "indptr must have 3 elements, one more than there are columns, got 2"),
    (CSR, ([0, 1, 2], [0, 1], [1], (2, 2)), "indices and values must be of one length, got 2 and 1"),
    (CSR, ([0, 1, 1], [0, 1], [1, 1], (2, 2)), "indptr must run from 0 to nnz = 2, got 0 to 1"),
    (CSR, ([1, 1, 2], [0, 1], [1, 1], (2, 2)), "indptr must run from 0 to nnz = 2, got 1 to 2"),
    (CSR, ([0, 2, 1, 2], [0, 1], [1, 1], (3, 2)), "indptr must not descend, but it does after row 1"),
    (CSR, ([0, 1], [2], [1], (1, 2)), r"indices must be in \[0, 2\), got 2"),
    (CSR, ([0, 1], [-1], [1], (1, 2)), r"indices must be in \[0, 2\), got -1"),
    (CSR, ([0, 1], [2**32], [1], (1, 2)), r"indices must be in \[0, 2\), got 4294967296"),
    (
        CSR,
        ([0, 0, 2], [1, 0], [1, 1], (2, 2)),
        "indices must ascend in each row without repetition, but row 1 has 1 before 0",
    ),
    (
        CSC,
        ([0, 0, 2], [1, 1], [1, 1], (2, 2)),
        "must ascend in each column without repetition, but column 1 has 1 before 1",
    ),
    (CSR, ([0, 1], [0], [float("nan")], (1, 1)), "values must not be NaN, got NaN at position 0"),
    (CSR, ([[0, 1]], [0], [1], (1, 1)), "indptr must be one-dimensional, got 2 dimensions"),
    (CSR, ([0, 1], [0], [[1]], (1, 1)), "values must be one-dimensional, got 2 dimensions"),
    (CSR, ([0, 1], [0], [1], (1, 1, 1)), r"shape must be n or \(nrows, ncols\), got \(1, 1, 1\)"),
    (CSR, ([0], [], [], (-1, 1)), r"shape must not be negative, got \(-1, 1\)"),
    (
        COO,
        ([0, 0], [1, 1], [1, 2], (2, 2)),
        r"no position may repeat, but \(0, 1\) follows \(0, 1\); from_edges combines",
    ),
    (COO, ([0], [2], [1], (2, 2)), r"cols must be in \[0, 2\), got 2"),
    (COO, ([5], [0], [1], (2, 2)), r"rows must be in \[0, 2\), got 5"),
    (COO, ([0, 1], [0], [1], (2, 2)), "rows, cols and values must be of one length, got 2, 1 and 1"),
    (COO, ([0], [0], [float("nan")], (1, 1)), "values must not be NaN"),
    (COO, ([0], [0], [1], (1, 1), 2), r"major must be 0 \(by row\) or 1 \(by column\), got 2"),
    (ELL, ([[0, 1]], [[1]], (2, 2)), r"must both be \(width, 2\), got \(1, 2\) and \(1, 1\)"),
    (ELL, ([[0]], [[1]], (2, 2)), "a slot must have one place per row, 2, got 1"),
    (ELL, ([[0], [0]], [[1], [1]], (1, 2)), "must ascend in each row .* but row 0 has 0 before 0"),
    (ELL, ([[-1], [0]], [[0], [1]], (1, 2)), "padding .* must come last, but row 0 has -1 before 0"),
    (ELL, ([[2]], [[1]], (1, 2)), r"indices must be in \[-1, 2\), got 2"),
    (ELL, ([[0]], [[float("nan")]], (1, 1)), "values must not be NaN"),
    (ELL, ([[0]], [[1]], (1, 1), 3), r"major must be 0 \(padded rows\) or 1 \(padded columns\), got 3"),
    (SegmentedCOO, ([0], [2], [1], [0, 1], (2, 2)), r"indices must be in \[0, 2\), got 2"),
    (SegmentedCOO, ([2], [0], [1], [0, 1], (2, 2)), r"rows must be in \[0, 2\), got 2"),
    (SegmentedCOO, ([2], [0], [1], [0, 1, 1], (4, 2), 2), r"offsets must be in \[0, 2\), got 2"),
    (SegmentedCOO, ([1], [0], [1], [0, 0, 1], (3, 2), 2, 1), "starts must have 2 elements, one more than"),
    (SegmentedCOO, ([1], [0], [1], [0, 0, 1], (3, 2), 2), r"rows must be in \[0, 3\), got 3"),
    (SegmentedCOO, ([0, 1], [1, 0], [1, 1], [0, 2], (2, 2)), r"must ascend .*, but \(0, 1\) follows \(1, 0\)"),
    (SegmentedCOO, ([1, 0], [0, 0], [1, 1], [0, 2], (2, 2)), r"must ascend .*, but \(0, 0\) follows \(0, 1\)"),
    (SegmentedCOO, ([0, 0], [0, 0], [1, 1], [0, 2], (2, 2)), r"none may repeat, but \(0, 0\) follows \(0, 0\)"),
    (SegmentedCOO, ([0], [0, 1], [1, 1], [0, 2], (2, 2)), "must be of one length, got 1, 2 and 2"),
    (SegmentedCOO, ([0], [0], [1], [0, 1, 1], (2, 2)), "starts must have 2 elements, one more than there are segments"),
    (SegmentedCOO, ([0, 0], [0, 1], [1, 1], [0, 1], (2, 2)), "starts must run from 0 to nnz = 2, got 0 to 1"),
    (SegmentedCOO, ([0], [0], [1], [0, 1, 0, 1], (3, 1), 1), "starts must not descend, but it does after segment 1"),
    (SegmentedCOO, ([0], [0], [float("nan")], [0, 1], (1, 1)), "values must not be NaN"),
    (SegmentedCOO, ([0], [0], [1], [0, 1], (1, 1), 0), r"segment must be in \[1, 65536\], got 0"),
    (SegmentedCOO, ([0], [0], [1], [0, 1], (1, 1), 1, 2), r"major must be 0 \(segments of rows\) or 1"),
    (Dense, ([1, 2], 0), "values must be two-dimensional, got 1 dimensions"),
    (Dense, ([[1.0, float("nan")]], 0), "values must not be NaN, got NaN at position 1"),
    (Dense, ([[1, 2]], 0.5), "fill must be a value that int64 holds, got 0.5"),
    (Dense, ([[1, 2]], float("nan")), "fill must be a value that int64 holds, got nan"),
    (Dense, ([[1, 2]], 2, 2), "major must be 0 or 1, got 2"),
    (SparseVector, ([0, 0], [1, 2], 3), "no index may repeat, got 0 twice"),
    (SparseVector, ([3], [1], 3), r"indices must be in \[0, 3\), got 3"),
    (SparseVector, ([0, 1], [1], 3), "indices and values must be of one length, got 2 and 1"),
    (SparseVector, ([0], [float("nan")], 3), "values must not be NaN"),
    (SparseVector, ([], [], -1), "size must not be negative, got -1"),
]


@pytest.mark.parametrize(("fmt", "parts", "message"), REFUSED, ids=lambda part: getattr(part, "__name__", ""))
def test_the_constructor_names_the_broken_rule(fmt, parts, message):
    with pytest.raises(ValueError, match=message):
        fmt(*(np.array(part) if isinstance(part, list) else part for part in parts))


@pytest.mark.parametrize(
    ("fmt", "parts"),
    [
        (CSR, ([0.0, 1.0], [0], [1], (1, 1))),
        (CSR, ([0, 1], [0.0], [1], (1, 1))),
        (CSR, ([0, 1], [0], ["a"], (1, 1))),
        (CSR, ([0, 1], [0], [1j], (1, 1))),
        (CSR, ([0, 1], [0], [1], (1.5, 1))),
        (COO, ([0.0], [0], [1], (1, 1))),
        (ELL, ([[0.5]], [[1]], (1, 1))),
        (SegmentedCOO, ([0.0], [0], [1], [0, 1], (1, 1))),
        (SparseVector, ([0.0], [1], 1)),
    ],
    ids=lambda part: getattr(part, "__name__", ""),
)
def test_a_wrong_type_is_a_type_error(fmt, parts):
    with pytest.raises(TypeError, match=r"integers|not supported|integer"):
        fmt(*parts)


def test_a_dense_matrix_has_a_value_for_absent():
    A = Dense([[0, 7, -1], [-1, 0, -1]], -1)
    assert edges(A) == [(0, 0, 0), (0, 1, 7), (1, 1, 0)]
    assert (A.shape, A.nnz, A.T.shape, (1, 0) in A, (1, 1) in A) == ((2, 3), 3, (3, 2), False, True)
    assert edges(Dense([[np.nan, 1.5]], np.nan)) == [(0, 1, 1.5)]
    assert edges(Dense([[False, True]], False)) == [(0, 1, True)]
    assert edges(Dense([[False, True]], True)) == [(0, 0, False)]
    B = from_edges([0, 0, 1], [0, 1, 1], [2**31 - 1, -(2**31), 4], dtype="int32").to(Dense)
    assert edges(B) == [(0, 0, 2**31 - 1), (0, 1, -(2**31)), (1, 1, 4)]
    assert edges(from_edges([0, 1], [0, 1], [np.inf, -np.inf]).to(Dense)) == [(0, 0, np.inf), (1, 1, -np.inf)]
    assert example().to(Dense, fill=-1).fill == -1
    with pytest.raises(ValueError, match="fill must not be the value of an entry, got 7"):
        example().to(Dense, fill=7)
    with pytest.raises(ValueError, match=r"fill must be a value that int32 holds, got 2.5"):
        example().to(Dense, fill=2.5)
    with pytest.raises(TypeError, match="fill must be a number, got 'x'"):
        example().to(Dense, fill="x")
    with pytest.raises(ValueError, match="fill must not be the value of an entry, got 0.1"):
        from_edges([0], [0], [0.1], dtype="float32").to(Dense, fill=np.float64(0.1))
    with pytest.raises(ValueError, match="of Booleans the fill is not to be chosen"):
        from_edges([0], [0], [True]).to(Dense, fill=False)
    assert Dense([[1, 2]], 0).dtype == np.int32
    both = from_edges([0, 0], [0, 1], [True, False], shape=(2, 2)).to(Dense)
    assert (both.dtype, edges(both)) == (np.bool_, [(0, 0, True), (0, 1, False)])
    assert edges(both.astype(np.int32)) == [(0, 0, 1), (0, 1, 0)]


def test_dense_refuses_absurd_sizes():
    with pytest.raises(ValueError, match=r"a Dense of 9,000 × 9,000 needs 309 MiB, [\d,]+ times the CSR's 0.0 MiB"):
        from_edges([0], [1], shape=9000).to(Dense)
    assert from_edges([0], [1], shape=3000).to(Dense).nnz == 1


def test_segments_hold_their_rows_sorted_by_column():
    A = example().to(SegmentedCOO, segment=2)
    assert (A.segment, A.starts.tolist()) == (2, [0, 2, 5])
    assert list(zip(A.offsets.tolist(), A.indices.tolist(), A.values.tolist(), strict=True)) == [
        *[(0, 1, 5), (0, 2, 0)],
        *[(0, 0, 7), (1, 1, 2), (0, 2, 9)],
    ]
    assert A.offsets.dtype == np.uint16
    assert A.to("segmentedcoo") is A
    assert A.to("segmentedcoo", segment=3).starts.tolist() == [0, 4, 5]
    with pytest.raises(ValueError, match=r"segment must be in \[1, 65536\], got 65537"):
        A.to(SegmentedCOO, segment=65537)
    with pytest.raises(TypeError, match=r"segment must be an integer, got 2.5"):
        A.to(COO).to(SegmentedCOO, segment=2.5)
    assert A.T.to(SegmentedCOO).segment == transpose(A).segment == 2


@every_format
def test_an_option_that_a_format_does_not_have(fmt):
    with pytest.raises(TypeError, match=f"{fmt.__name__} has no option 'bogus'"):
        example().to(fmt, bogus=1)


def test_what_is_kept_is_counted_once_from_either_side():
    A = example(CSC)
    assert A.kept_nbytes == 0
    kept = compressed(A.T, 1)
    assert A.kept_nbytes == A.T.kept_nbytes == kept.nbytes
    A.keep(Fact("the same"), A.pattern)
    assert A.kept_nbytes == kept.nbytes + 1, "a pattern's one value"


def test_unsorted_lists_are_sorted():
    A = COO([1, 0, 0], [0, 1, 0], [3, 2, 1], (2, 2))
    assert edges(A) == [(0, 0, 1), (0, 1, 2), (1, 0, 3)]
    assert COO([1, 0, 0], [0, 1, 0], [3, 2, 1], (2, 2), 1).rows.tolist() == [0, 1, 0]
    assert SparseVector([2, 0], [20, 10], 3).values.tolist() == [10, 20]


# --- index and value types --------------------------------------------------------------------------------------------


def test_indices_are_int32_until_an_extent_needs_int64():
    assert index_dtype(INT32_MAX, 3) == np.int32
    assert index_dtype(INT32_MAX + 1) == np.int64
    assert example(CSR).indptr.dtype == np.int32
    wide = CSR(np.array([0, 1]), np.array([2**33]), np.array([1]), (1, 2**34))
    assert wide.indices.dtype == wide.indptr.dtype == np.int64
    assert wide[0, 2**33] == 1
    assert COO(np.array([2**33]), np.array([0]), np.array([1]), (2**34, 1)).rows.dtype == np.int64
    assert SparseVector(np.array([2**33]), np.array([1]), 2**34).indices.dtype == np.int64


@pytest.mark.parametrize(
    ("given_type", "stored"),
    [("int8", "int32"), ("uint16", "int32"), ("uint32", "int64"), ("uint64", "int64"), ("float16", "float32")],
)
def test_other_dtypes_are_stored_in_the_next_that_holds_them(given_type, stored):
    assert SparseVector(np.array([0]), np.array([1], given_type), 1).dtype == stored


# --- devices ----------------------------------------------------------------------------------------------------------


@every_format
def test_cuda_without_cupy_is_one_clear_sentence(fmt, monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    for obj in (example(fmt), SparseVector([0], [1], 2)):
        with pytest.raises(DeviceUnavailable) as caught:
            obj.to(device="cuda")
        assert str(caught.value).startswith("device='cuda' needs CuPy, which is not installed here: pip install")
        assert "\n" not in str(caught.value)


# --- sparse vectors ---------------------------------------------------------------------------------------------------


def test_a_sparse_vector():
    v = SparseVector([4, 1], [7, 0], 6)
    assert (v.size, len(v), v.nnz, v.dtype, v.device, v.nbytes) == (6, 6, 2, np.int32, "cpu", 16)
    assert (v[1], v[4]) == (0, 7)
    with pytest.raises(KeyError, match="no entry at 2"):
        v[2]
    with pytest.raises(IndexError, match=r"index must be in \[0, 6\), got 6"):
        v[6]
    assert v.to_dense(-1).tolist() == [-1, 0, -1, -1, 7, -1]
    assert v.to_dense(np.inf).dtype == np.float64
    assert repr(v) == "<SparseVector 6, 2 entries, int32, cpu>"
    assert not v.indices.flags.writeable
    assert not v.values.flags.writeable
    assert v.to(device="cpu") is v
    back = pickle.loads(pickle.dumps(v))
    assert (back.indices.tolist(), back.values.tolist(), back.size) == ([1, 4], [0, 7], 6)
    with pytest.raises(dataclasses.FrozenInstanceError):
        v.size = 7


@given(st.lists(st.integers(-3, 3), max_size=9))
def test_a_dense_vector_loses_nothing_by_becoming_sparse(elements):
    x = np.array(elements, np.int32)
    v = SparseVector.from_dense(x, 0)
    v.check()
    assert 0 not in v.values
    assert v.to_dense(0).tolist() == elements
    with pytest.raises(ValueError, match="a dense vector is one-dimensional, got 2 dimensions"):
        SparseVector.from_dense(x.reshape(1, -1), 0)
