"""Compressed sparse blocks: what they hold, what they refuse, and how much memory they take."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formats import COO, CSB, CSR, SegmentedCOO, from_edges
from semiring import MinPlus, PlusTimes, mxv, transpose, vxm
from semiring.cuda import blocks

from . import strategies as sts

#     0  1  2  3  4
# 0 [ .  5  .  . 0 ]      the 0 is stored
# 1 [ 3  .  .  . . ]
# 2 [ .  .  .  . . ]
# 3 [ .  .  7  8 . ]
# 4 [ .  .  .  . 9 ]
EDGES = [(0, 1, 5), (0, 4, 0), (1, 0, 3), (3, 2, 7), (3, 3, 8), (4, 4, 9)]


def example(block: int = 2) -> CSB:
    rows, cols, weights = zip(*EDGES, strict=True)
    A = from_edges(rows, cols, weights, shape=5).to(CSB, block=block)
    assert isinstance(A, CSB)
    return A


def entries_of(A: CSB) -> list[tuple[int, int, int]]:
    """(row, col, value) of every entry as they are stored, found by the definition: block by block."""
    nmajor, nminor = A.grid
    found = []
    for number in range(nmajor * nminor):
        corner = divmod(number, nminor) if A.major == 0 else divmod(number, nminor)[::-1]
        for e in range(A.starts[number], A.starts[number + 1]):
            row, col = (part * A.block + int(offset[e]) for part, offset in zip(corner, (A.rows, A.cols), strict=True))
            found.append((row, col, A.values[e].item()))
    return found


def test_blocks_hold_their_entries_sorted_by_column():
    A = example()
    assert (A.grid, A.block, A.options) == ((3, 3), 2, {"block": 2, "force": True})
    assert A.starts.tolist() == [0, 2, 2, 3, 3, 5, 5, 5, 5, 6]
    assert entries_of(A) == [(1, 0, 3), (0, 1, 5), (0, 4, 0), (3, 2, 7), (3, 3, 8), (4, 4, 9)]
    assert (A.rows.dtype, A.cols.dtype, A.starts.dtype) == (np.uint16, np.uint16, np.int32)
    assert A.nbytes == 6 * (2 + 2 + 4) + 10 * 4


def test_a_transpose_exchanges_rows_and_columns():
    A = example()
    assert A.T.T is A
    assert sorted(entries_of(A.T)) == sorted((v, u, w) for u, v, w in EDGES)
    assert np.shares_memory(A.T.rows, A.cols)
    A.T.check()
    by_rows = A.T.to(CSB)
    assert (by_rows.major, by_rows.block) == (0, 2)
    assert by_rows.equals(A.T)
    assert transpose(A).block == 2


def test_the_size_of_a_block_is_an_option():
    A = example()
    assert A.to("csb") is A
    assert A.to(CSB, block=2) is A
    assert A.to(CSB, block=4).grid == (2, 2)
    assert A.to(SegmentedCOO).to(CSB).block == 1 << 14
    for block in (0, 3, 6, -2, 1 << 17):
        with pytest.raises(ValueError, match=rf"block must be a power of two in \[1, 65536\], got {block}"):
            A.to(CSB, block=block)
    with pytest.raises(TypeError, match=r"block must be an integer, got 2.5"):
        A.to(COO).to(CSB, block=2.5)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (([0], [2], [1], [0, 1], (2, 2)), r"columns must be in \[0, 2\), got 2"),
        (([2], [0], [1], [0, 1], (2, 2)), r"rows must be in \[0, 2\), got 2"),
        (([2], [0], [1], [0, 1, 1], (4, 2), 2), r"rows must be in \[0, 2\), got 2"),
        (([0], [2], [1], [0, 1, 1], (4, 2), 2), r"cols must be in \[0, 2\), got 2"),
        (([1], [0], [1], [0, 0, 1], (3, 2), 2), r"rows must be in \[0, 3\), got 3"),
        (([0], [1], [1], [0, 0, 1], (2, 3), 2), r"columns must be in \[0, 3\), got 3"),
        (([0], [1], [1], [0, 0, 1], (2, 3), 2, 1), r"columns must be in \[0, 3\), got 3"),
        (([1], [0], [1], [0, 0, 1], (3, 2), 2, 1), r"rows must be in \[0, 3\), got 3"),
        (([0, 1], [1, 0], [1, 1], [0, 2], (2, 2)), r"ascend by \(cols, rows\) .*, but \(0, 1\) follows \(1, 0\)"),
        (([1, 0], [0, 0], [1, 1], [0, 2], (2, 2)), r"ascend by \(cols, rows\) .*, but \(0, 0\) follows \(0, 1\)"),
        (([1, 0], [0, 1], [1, 1], [0, 2], (2, 2), 2, 1), r"by \(rows, cols\) .*, but \(0, 1\) follows \(1, 0\)"),
        (([0, 0], [0, 0], [1, 1], [0, 2], (2, 2)), r"none may repeat, but \(0, 0\) follows \(0, 0\)"),
        (([0], [0, 1], [1, 1], [0, 2], (2, 2)), "must be of one length, got 1, 2 and 2"),
        (([0], [0], [1], [0, 1, 1], (2, 2)), "starts must have 2 elements, one more than there are blocks, got 3"),
        (([0], [0], [1], [0, 1, 1], (3, 3), 2), "starts must have 5 elements, one more than there are blocks, got 3"),
        (([0, 0], [0, 1], [1, 1], [0, 1], (2, 2)), "starts must run from 0 to nnz = 2, got 0 to 1"),
        (([0], [0], [1], [0, 1, 0, 1], (3, 1), 1), "starts must not descend, but it does after block 1"),
        (([0], [0], [float("nan")], [0, 1], (1, 1)), "values must not be NaN"),
        (([0], [0], [1], [0, 1], (1, 1), 3), r"block must be a power of two in \[1, 65536\], got 3"),
        (([0], [0], [1], [0, 1], (1, 1), 1, 2), r"major must be 0 \(blocks by rows\) or 1 \(by columns\), got 2"),
    ],
    ids=str,
)
def test_the_constructor_names_the_broken_rule(parts, message):
    with pytest.raises(ValueError, match=message):
        CSB(*(np.array(part) if isinstance(part, list) else part for part in parts))


@pytest.mark.parametrize("parts", [([0.0], [0], [1], [0, 1], (1, 1)), ([0], [0], [1], [0.0, 1.0], (1, 1))], ids=str)
def test_a_wrong_type_is_a_type_error(parts):
    with pytest.raises(TypeError, match="must be integers"):
        CSB(*(np.array(part) if isinstance(part, list) else part for part in parts))


def test_starts_that_outweigh_the_entries_are_refused_with_figures():
    A = from_edges([0, 99_999], [99_999, 0], shape=100_000)
    message = r"a CSB of 6,250 × 6,250 blocks needs 149 MiB to say where they start, and 0.0 MiB for the entries: take"
    with pytest.raises(ValueError, match=message):
        A.to(CSB, block=16)
    assert A.to(CSB, block=16, force=True).equals(A)
    assert A.to(CSB, block=32).equals(A), "40 MB are nobody's concern"
    assert A.to(CSB).starts.size == 50


def test_an_empty_matrix_of_any_shape():
    for shape in ((0, 0), (0, 5), (5, 0), (5, 5)):
        A = from_edges([], [], shape=shape).to(CSB, block=2)
        A.check()
        assert (A.nnz, A.shape, A.to(CSR).indptr.tolist()) == (0, shape, [0] * (shape[0] + 1))


@given(data=st.data())
@settings(max_examples=150)
def test_every_block_size_keeps_every_entry(data):
    dtype = data.draw(st.sampled_from([sts.INT32, sts.FLOAT64, sts.BOOL]))
    entries = data.draw(sts.matrices(PlusTimes, dtype))
    block, other = (data.draw(st.sampled_from([1, 2, 4, 8])) for _ in range(2))
    rows = entries.build(CSR)
    A = rows.to(CSB, block=block)
    A.check()
    assert CSB(*A.components).equals(A), "the public constructor accepts it"
    assert A.nbytes == CSB.predicted_nbytes(rows, block=block)
    stored = {(row, col): value for row, col, value in entries_of(A)}
    assert stored == entries.at
    B = A.to(CSB, block=other)
    B.check()
    assert (B.block, B.equals(rows)) == (other, True)
    turned = A.T.to(CSB)
    turned.check()
    assert {(col, row): value for row, col, value in entries_of(turned)} == stored
    pattern = rows.pattern()
    assert A.pattern().equals(pattern)
    assert A.pattern().nbytes == CSB.predicted_nbytes(pattern, block=block)
    for side in (A, A.T):
        rows_and_cols = (side.outer, side.inner) if side.major == 0 else (side.inner, side.outer)
        listed = list(zip(*(n.tolist() for n in rows_and_cols), strict=True))
        assert listed == [(row, col) for row, col, _ in entries_of(side)]


# --- pieces: what the GPU's kernels are given, found by NumPy ---------------------------------------------------------


def random_blocks(block: int, shape: tuple[int, int] = (300, 230), nnz: int = 9000) -> CSB:
    """Half of the entries in one corner, so that some blocks are of many pieces, and others empty."""
    rng = np.random.default_rng(7)
    rows, cols = (rng.integers(0, extent, nnz) for extent in shape)
    rows[: nnz // 2] //= 8
    weights = rng.integers(1, 100, nnz).astype(np.float32)
    A = from_edges(rows, cols, weights, shape=shape).to(CSB, block=block)
    assert isinstance(A, CSB)
    return A


def visits(pieces: blocks.Pieces) -> list[tuple[int, int]]:
    """(segment, piece) as the kernels' shares come to them."""
    found = []
    for first, last in zip(pieces.cuts[:-1].tolist(), pieces.cuts[1:].tolist(), strict=True):
        for piece in range(first, last):
            found.append((int(np.searchsorted(pieces.firsts, piece, side="right")) - 1, piece))
    return found


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("by_columns", [False, True])
@pytest.mark.parametrize("block", [1, 16, 128, 512])
def test_every_entry_is_in_one_piece_of_its_segment(block, by_columns, turned):
    A: CSB = random_blocks(block)
    A = A.T if turned else A
    pieces = blocks.cut_blocks(A, by_columns, 5)
    lengths = pieces.ends - pieces.begins
    assert lengths.min() > 0
    assert lengths.max() <= blocks.PIECE
    covered = np.concatenate([np.arange(b, e) for b, e in zip(pieces.begins, pieces.ends, strict=True)])
    assert np.array_equal(np.sort(covered), np.arange(A.nnz))
    assert by_columns or np.array_equal(covered, np.arange(A.nnz)), "by rows of blocks, as entries lie"
    segments, others = (A.inner, A.outer) if by_columns else (A.outer, A.inner)
    assert [piece for _, piece in visits(pieces)] == list(range(lengths.size))
    for segment, piece in visits(pieces):
        entries = slice(pieces.begins[piece], pieces.ends[piece])
        assert (segments[entries] // block == segment).all()
        assert (others[entries] // block == pieces.others[piece]).all()
    assert pieces.nbytes == 4 * (3 * lengths.size + pieces.firsts.size + pieces.cuts.size)


def test_pieces_but_a_blocks_first_begin_at_a_sector():
    A = random_blocks(128)
    pieces = blocks.cut_blocks(A, True, 5)
    inside = ~np.isin(pieces.begins, A.starts)
    assert inside.any()
    assert (pieces.begins[inside] % blocks.ALIGN == 0).all()


@pytest.mark.parametrize("by_columns", [False, True])
def test_shares_are_of_about_equal_cost(by_columns):
    A = random_blocks(64, (2000, 2000), 200_000)
    pieces = blocks.cut_blocks(A, by_columns, 8)
    assert pieces.cuts.size == 9
    lengths = pieces.ends - pieces.begins + blocks.PIECE_COST
    cost = [lengths[first:last].sum() for first, last in zip(pieces.cuts[:-1], pieces.cuts[1:], strict=True)]
    assert max(cost) < 1.1 * np.mean(cost)


def test_shares_are_of_whole_segments_where_that_keeps_them_even():
    """Such shares need no atomics on memory."""
    rows, cols = np.random.default_rng(3).integers(0, 2048, (2, 200_000))
    A = from_edges(rows, cols, np.ones(rows.size, np.float32), shape=(2048, 2048)).to(CSB, block=64)
    for most in (8, 11):  # of 32 segments each share has four, and three at most
        pieces = blocks.cut_blocks(A, False, most)
        assert (pieces.cuts.size, np.isin(pieces.cuts, pieces.firsts).all()) == (1 + most, True)
    pieces = blocks.cut_blocks(A, False, 20)  # shares of two would be 16
    assert pieces.cuts.size == 1 + 20
    assert not np.isin(pieces.cuts, pieces.firsts).all()


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("matrix_first", [True, False])
def test_two_phases_over_the_pieces_are_the_product(matrix_first, turned):
    """What the kernels of blocks.cu do, by NumPy."""
    A: CSB = random_blocks(64)
    A = A.T if turned else A
    gathers = (A.major == 0) == matrix_first
    x = np.arange(A.ncols if matrix_first else A.nrows, dtype=np.float32) % 97
    along, across = A.offsets if gathers else A.offsets[::-1]
    products = np.full(A.nnz, np.nan, np.float32)
    pieces = blocks.cut_blocks(A, gathers, 5)
    for segment, piece in visits(pieces):
        e = slice(pieces.begins[piece], pieces.ends[piece])
        products[e] = A.values[e] + x[segment * A.block + across[e].astype(int)]
    y = np.full(A.nrows if matrix_first else A.ncols, np.inf, np.float32)
    pieces = blocks.cut_blocks(A, not gathers, 5)
    for segment, piece in visits(pieces):
        e = slice(pieces.begins[piece], pieces.ends[piece])
        np.minimum.at(y, segment * A.block + along[e].astype(int), products[e])
    assert np.array_equal(y, mxv(A, x, MinPlus) if matrix_first else vxm(x, A, MinPlus))


def test_sectors_are_counted_where_they_change():
    """8 values of 4 bytes in each: of two rows of blocks with columns 0..15, two sectors each."""
    cols = np.tile(np.arange(16), 4)
    rows = np.repeat([0, 1, 16, 17], 16)
    A = from_edges(rows, cols, np.ones(64, np.float32), shape=32).to(CSB, block=16)
    assert blocks.sectors(A) == 4
    assert blocks.sectors(A.T) == 4


def test_scratch_memory_of_two_phases_is_told_whatever_the_format():
    A = random_blocks(64)
    assert blocks.Blocks().holds(A) == blocks.Blocks().holds(A.to(CSR)) == {"products of the entries": 4 * A.nnz}
