"""SELL: what it stores, what it refuses, and its options."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.graphs import rmat
from formats import CSR, SELL, Matrix, SparseVector, from_edges
from semiring import PlusTimes, mxv, transpose, vxm
from semiring.cuda.sell import cut_strips

from . import strategies as sts

#     0  1  2
# 0 [ .  5  0 ]      the 0 is stored
# 1 [ .  .  . ]
# 2 [ 7  .  9 ]
# 3 [ .  2  . ]
# 4 [ 1  3  4 ]
EDGES = [(0, 1, 5), (0, 2, 0), (2, 0, 7), (2, 2, 9), (3, 1, 2), (4, 0, 1), (4, 1, 3), (4, 2, 4)]


def example(**options: Any) -> Any:
    rows, cols, weights = zip(*EDGES, strict=True)
    return from_edges(rows, cols, weights, shape=(5, 3)).to(SELL, **options)


def edges(A: Matrix) -> list[tuple[int, int, int]]:
    return list(zip(*(part.tolist() for part in A.to_edges()), strict=True))


def star(n: int) -> CSR:
    """A hub with an edge to each of n - 1 others."""
    return from_edges(np.zeros(n - 1, np.int32), np.arange(1, n, dtype=np.int32), shape=n)


# --- what is stored ---------------------------------------------------------------------------------------------------


def test_rows_stand_by_length_within_windows_and_chunks_are_stored_slot_by_slot():
    A = example(chunk=2, window=3)
    assert A.rows.tolist() == [0, 2, 1, 4, 3]  # of equal length in their order; 3 and 4 are a window of their own
    assert A.starts.tolist() == [0, 4, 10, 12]
    assert A.indices.tolist() == [1, 0, 2, 2, *[-1, 0, -1, 1, -1, 2], 1, -1]
    assert A.values.tolist() == [5, 7, 0, 9, *[0, 1, 0, 3, 0, 4], 2, 0]
    assert (A.nnz, A.padding) == (8, 12 / 8)


def test_a_window_of_one_row_keeps_the_rows_in_order():
    A = example(chunk=2, window=1)
    assert A.rows.tolist() == [0, 1, 2, 3, 4]
    assert A.starts.tolist() == [0, 4, 8, 14]


def test_chunks_of_one_row_have_no_padding():
    A = example(chunk=1, window=100)
    assert A.rows.tolist() == [4, 0, 2, 3, 1]
    assert (A.padding, A.indices.tolist()) == (1, [0, 1, 2, 1, 2, 0, 2, 1])


def test_sorting_saves_padding_on_a_power_law_graph():
    A = rmat(12)
    unsorted, within, throughout = (A.to(SELL, window=window, force=True).padding for window in (1, 512, 4096))
    assert 1 < throughout < within < unsorted


@pytest.mark.parametrize("shape", [(0, 0), (0, 4), (4, 0), (1, 1), (33, 2)])
def test_a_matrix_without_entries(shape):
    A = from_edges([], [], shape=shape).to(SELL)
    A.check()
    assert (A.nnz, A.indices.size, A.padding, edges(A)) == (0, 0, 0, [])
    assert A.T.to(SELL).shape == shape[::-1]


def test_the_pattern_has_the_same_entries_though_padding_shares_its_byte():
    P = example(chunk=2).pattern()
    assert (P.nnz, P.values.strides) == (8, (0,))
    assert edges(P) == [(u, v, True) for u, v, _ in EDGES]
    assert edges(P.T) == sorted((v, u, True) for u, v, _ in EDGES)
    assert P.to(SELL, chunk=4).nnz == 8


@given(data=st.data())
def test_any_chunk_and_window_keep_every_entry(data):
    dtype = data.draw(st.sampled_from([sts.INT32, sts.FLOAT64, sts.BOOL]))
    entries = data.draw(sts.matrices(PlusTimes, dtype))
    chunk, window = data.draw(st.sampled_from([1, 2, 3, 5, 32])), data.draw(st.sampled_from([1, 2, 3, 4, 64]))
    A = entries.build(CSR)
    B: Any = A.to(SELL, chunk=chunk, window=window, force=True)
    B.check()
    SELL(*B.components).check()
    assert (B.chunk, B.window, B.nnz) == (chunk, window, A.nnz)
    assert B.nbytes == SELL.predicted_nbytes(A, chunk=chunk, window=window)
    assert B.to(CSR).equals(A)
    assert [B.get(i, j) for i in range(A.nrows) for j in range(A.ncols)] == [
        A.get(i, j) for i in range(A.nrows) for j in range(A.ncols)
    ]
    turned = B.T.to(SELL)
    turned.check()
    assert (turned.chunk, turned.window, turned.major) == (chunk, window, 0)
    assert turned.equals(A.T)


# --- products ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", ["cpu", pytest.param("cuda", marks=pytest.mark.backend("cuda"))])
@pytest.mark.parametrize("name", ["any_first", "any_second", "min_first", "plus_times"])
@pytest.mark.parametrize("matrix", [rmat(9), rmat(9).T.to(CSR), star(300)], ids=["R-MAT", "R-MAT turned", "star"])
def test_products_of_many_chunks_are_those_of_compressed_rows(matrix, name, backend):
    """Bit for bit, and `any` the first of a row or column, in whatever order chunks hold them."""
    A = matrix.astype(np.int64)
    dense = np.arange(A.nrows, dtype=np.int64) % 7 + 1
    sparse = SparseVector(np.arange(0, A.nrows, 9), dense[::9], A.nrows)
    for options in ({"chunk": 4, "window": 64}, {"chunk": 32}, {"chunk": 5, "window": 1}):
        B = A.to(SELL, force=True, **options).to(device=backend)
        for M, N in ((A, B), (A.T, B.T)):
            for x in (dense, sparse):
                z = sts.moved(x, backend)
                for expected, got in ((mxv(M, x, name), mxv(N, z, name)), (vxm(x, M, name), vxm(z, N, name))):
                    pairs = zip(parts_of(expected), parts_of(sts.moved(got, "cpu")), strict=True)
                    assert all(np.array_equal(one, other) for one, other in pairs)


def parts_of(y: Any) -> tuple[np.ndarray, ...]:
    return (y.indices, y.values) if isinstance(y, SparseVector) else (y,)


def test_positions_are_kept_once_for_a_matrix_and_its_transpose():
    A = example(chunk=2, window=3)
    assert A.positions.tolist() == [0, 2, 1, 4, 3]
    assert A.T.positions is A.positions
    assert A.kept_nbytes == A.T.kept_nbytes == A.positions.nbytes


def test_wide_strips_are_cut_for_the_gpu_into_parts_of_equal_width():
    A: Any = star(300).to(SELL, window=1, force=True)  # 10 strips, the first of 299 slots
    cuts = cut_strips(A, piece=64)
    assert cuts.first_part.tolist() == [0, *[5] * 10]
    assert (cuts.strip_of.tolist(), cuts.strips.tolist()) == ([0] * 5, [0])
    whole = cut_strips(A, piece=299)
    assert (whole.first_part.tolist(), whole.strip_of.size, whole.strips.size) == ([0] * 11, 0, 0)
    B: Any = star(300).to(SELL, chunk=48, force=True)  # a strip has the slots of its widest chunk
    assert cut_strips(B, piece=150).first_part.tolist() == [0, 2, *[4] * 9]


# --- options ----------------------------------------------------------------------------------------------------------


def test_options_that_change_nothing_give_the_matrix_itself():
    A = example(chunk=2, window=3)
    assert A.to("sell") is A
    assert A.to(SELL, chunk=2) is A
    assert A.options == {"chunk": 2, "window": 3, "force": True}
    other = A.to(SELL, chunk=4)
    assert (other.chunk, other.window, other.equals(A)) == (4, 3, True)
    assert transpose(A).window == 3


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"chunk": 0}, ValueError, r"chunk must be in \[1, 1024\], got 0"),
        ({"chunk": 1025}, ValueError, r"chunk must be in \[1, 1024\], got 1025"),
        ({"chunk": 2.5}, TypeError, r"chunk must be an integer, got 2.5"),
        ({"window": 0}, ValueError, r"window must be positive, got 0"),
        ({"window": "all"}, TypeError, r"window must be an integer, got 'all'"),
    ],
)
def test_options_are_checked(options, error, message):
    with pytest.raises(error, match=message):
        example(**options)
    with pytest.raises(error, match=message):
        SELL(*example(chunk=2, window=3).components[:5], **options)


def test_absurd_padding_is_refused():
    """A hub among 2²¹: its row pads 31 others, 512 MiB for 25."""
    n = 2**21
    message = r"SELL with chunk=32 and window=16384 needs 52\d MiB, 2\d times the CSR's 2\d.0 MiB: .* or force=True"
    with pytest.raises(ValueError, match=message):
        star(n).to(SELL)
    assert star(n).to(SELL, chunk=4).padding == 4
    assert star(2**10).to(SELL, chunk=1024).nnz == 2**10 - 1, "8 MB are nobody's concern"


# --- refusals ---------------------------------------------------------------------------------------------------------

REFUSED = [
    (([0], [1, 1], [0, 1], [0], 1, 1), "indices and values must be of one length, got 1 and 2"),
    (([[0]], [1], [0, 1], [0], 1, 1), "indices must be one-dimensional, got 2 dimensions"),
    (([1], [1], [0, 1], [0], 1, 1), r"indices must be in \[-1, 1\), got 1"),
    (([2**32], [1], [0, 1], [0], 1, 1), r"indices must be in \[-1, 1\), got 4294967296"),
    (([0], [float("nan")], [0, 1], [0], 1, 1), "values must not be NaN"),
    (([0], [1], [0, 0, 1], [0], 1, 1), "starts must have 2 elements, one more than there are chunks, got 3"),
    (([0], [1], [0, 0], [0], 1, 1), "starts must run from 0 to the number of slots = 1, got 0 to 0"),
    (([0, 0], [1, 1], [0, 2, 1, 2], [0, 1, 2], 3, 1), "starts must not descend, but it does after chunk 1"),
    (([0, 0, 0, 0], [1, 1, 1, 1], [0, 1, 4], [0, 1, 2], 3, 2), "starts must be multiples of chunk = 2, got 1"),
    (([0, 0], [1, 1], [0, 2], [0], 2, 2), "rows must have one element for each row, 2, got 1"),
    (([0, 0], [1, 1], [0, 2], [0, 2], 2, 2), r"rows must be in \[0, 2\), got 2"),
    (([0, 0], [1, 1], [0, 2], [1, 1], 2, 2), "rows must have each row once, but row 1 comes again"),
    (([0, 0], [1, 1], [0, 2], [1, 0], 2, 2, 1), "within windows of 1, but row 1 stands at position 0, in another"),
    (([0, 0], [1, 1], [0, 2], [1, 0], 2, 2, 2), "row 1 of 1 entries stands before 0 of 1"),
    (([-1, 0], [0, 1], [0, 2], [0, 1], 2, 2, 2), "row 0 of 0 entries stands before 1 of 1"),
    (([1, 0, 0, -1], [1] * 4, [0, 4], [0, 1], 2, 2), "without repetition .* but row 0 has 1 before 0"),
    (([0, 0, 0, -1], [1] * 4, [0, 4], [0, 1], 2, 2), "without repetition .* but row 0 has 0 before 0"),
    (([0, -1, 1, 0], [1] * 4, [0, 4], [0, 1], 2, 2), "padding .* must come last, but row 1 has -1 before 0"),
    (([0, 0, -1, -1], [1] * 4, [0, 4], [0, 1], 2, 2), "chunk 0 ends with a slot of padding alone"),
    (([0, 0], [1, 1], [0, 2], [0], 1, 2), "the last chunk must have padding from lane 1 on, where there is no row"),
    (([0], [1], [0, 1], [0], 1, 1, 1, 2), r"major must be 0 \(chunks of rows\) or 1 \(of columns\), got 2"),
    (([0, 0], [1, 1], [0, 2], [0, 0], 2, 2, 2, 1), "rows must have each column once, but column 0 comes again"),
]


@pytest.mark.parametrize(("parts", "message"), REFUSED)
def test_the_constructor_names_the_broken_rule(parts, message):
    *arrays, extent, chunk = (np.array(part) if isinstance(part, list) else part for part in parts[:6])
    columns = 1 if extent != 2 else 2
    with pytest.raises(ValueError, match=message):
        SELL(*arrays, (extent, columns), chunk, *parts[6:])


@pytest.mark.parametrize("parts", [([0.5], [1], [0, 1], [0]), ([0], [1], [0.0, 1.0], [0]), ([0], [1], [0, 1], [0.5])])
def test_a_wrong_type_is_a_type_error(parts):
    with pytest.raises(TypeError, match="must be integers"):
        SELL(*parts, (1, 1), 1)
