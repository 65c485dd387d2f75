"""Edges reordered by segments of source and destination: the same matrix, in the order of the definition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algorithms import bellman_ford, bfs, scc
from bench.graphs import rmat, ssca2
from formats import COO, Matrix, SegmentedCOO, SparseVector, from_edges, reorder_edges
from semiring import SEMIRINGS, MinPlus, PlusTimes, mxv, vxm

from . import strategies as sts
from .graphs import on_cpu

pytestmark = pytest.mark.as_written

BACKENDS = ["cpu", pytest.param("cuda", marks=pytest.mark.backend("cuda"))]
every_backend = pytest.mark.parametrize("backend", BACKENDS)
every_format = pytest.mark.parametrize("fmt", sts.FORMATS, ids=lambda fmt: fmt.__name__)
few = settings(max_examples=40)

KINDS = [
    (SEMIRINGS["lor_land"], sts.BOOL),
    *((SEMIRINGS["min_plus"], dtype) for dtype in (sts.INT32, sts.INT64, sts.FLOAT32, sts.FLOAT64)),
]


def segments_of_edges(A: SegmentedCOO, segment: int) -> list[tuple[int, int]]:
    """(segment of the source, segment of the destination) of every edge, in the matrix's order."""
    sources, destinations = on_cpu(A.outer), on_cpu(A.inner)
    return list(zip((sources // segment).tolist(), (destinations // segment).tolist(), strict=True))


@every_format
@every_backend
@given(data=st.data())
@few
def test_reordered_edges_are_the_same_matrix_in_the_order_of_segments(fmt, backend, data):
    semiring, dtype = data.draw(st.sampled_from(KINDS))
    entries = data.draw(sts.matrices(semiring, dtype))
    A: Matrix = sts.moved(entries.build(fmt), backend)
    if data.draw(st.booleans()):
        A = A.T
    segment = data.draw(st.integers(1, 8))
    odd = data.draw(st.integers(0, dtype.itemsize - 1))
    B = reorder_edges(A, segment * dtype.itemsize + odd)
    B.check()
    assert (type(B), B.major, B.segment, B.shape, B.dtype, B.device) == (
        *(SegmentedCOO, 0, segment, A.shape, A.dtype, backend),
    )
    assert B.equals(A)
    order = segments_of_edges(B, segment)
    assert order == sorted(order)
    assert reorder_edges(B, segment * dtype.itemsize) is B


@every_backend
@pytest.mark.parametrize("dtype", [sts.INT32, sts.FLOAT32], ids=str)
@given(data=st.data())
@few
def test_products_do_not_depend_on_the_order_of_edges(backend, dtype, data):
    A = sts.moved(data.draw(sts.matrices(MinPlus, dtype)).build(COO), backend)
    B = reorder_edges(A, data.draw(st.integers(1, 8)) * dtype.itemsize)
    x, y = (sts.moved(data.draw(sts.vectors(MinPlus, dtype, size)), backend) for size in A.shape[::-1])
    for product in (lambda M: mxv(M, x, MinPlus), lambda M: vxm(y, M, MinPlus)):
        assert same(product(B), product(A))
    for product in (lambda M: vxm(x, M.T, MinPlus), lambda M: mxv(M.T, y, MinPlus)):
        assert same(product(B), product(A))


def same(found: Any, expected: Any) -> bool:
    """Are two vectors equal, of whatever kind?"""
    if isinstance(expected, SparseVector):
        return found.indices.tolist() == expected.indices.tolist() and found.values.tolist() == expected.values.tolist()
    return on_cpu(found).tolist() == on_cpu(expected).tolist()


def test_an_example_by_hand():
    """Segments 0-1, 2-3, 4: by source, then by destination, where the edges in a COO come row by row."""
    src, dst = [0, 0, 1, 1, 2, 3, 4], [1, 4, 0, 2, 3, 0, 1]
    A = reorder_edges(from_edges(src, dst, np.arange(7, dtype=np.float32), shape=5), 8)
    assert list(zip(A.outer.tolist(), A.inner.tolist(), strict=True)) == [
        *[(1, 0), (0, 1), (1, 2), (0, 4)],
        *[(3, 0), (2, 3)],
        (4, 1),
    ]
    assert segments_of_edges(A, 2) == [(0, 0), (0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (2, 0)]


@every_backend
@pytest.mark.parametrize("segment_bytes", [256, 1 << 12, 1 << 20])
def test_algorithms_take_reordered_edges(backend, segment_bytes):
    A = rmat(9, 8, device=backend)
    B, start = reorder_edges(A, segment_bytes), int(on_cpu(A.indptr).argmax())
    assert (bellman_ford(B, start) == bellman_ford(A, start)).all()
    assert (bfs(B, start) == bfs(A, start)).all()
    assert (scc(B) == scc(A)).all()
    assert (bellman_ford(B.T, start) == bellman_ford(A.T, start)).all()


@every_backend
def test_sums_are_close_in_any_order(backend):
    A = ssca2(10, device=backend)
    x = sts.moved(np.linspace(0, 1, A.ncols, dtype=np.float32), backend)
    np.testing.assert_allclose(
        on_cpu(mxv(reorder_edges(A, 1 << 10), x, PlusTimes)), on_cpu(mxv(A, x, PlusTimes)), rtol=1e-5
    )


@every_backend
def test_a_segment_has_at_most_65536_vertices(backend):
    n = 200_000
    rng = np.random.default_rng(3)
    A = from_edges(*rng.integers(0, n, (2, 5000)), np.ones(5000, np.int32), shape=n).to(device=backend)
    B = reorder_edges(A, 50 << 20)
    assert (B.segment, B.starts.size) == (65536, 5)
    order = segments_of_edges(B, 65536)
    assert order == sorted(order)
    d = sts.moved(rng.integers(0, 9, n, np.int32), backend)
    assert (vxm(d, B, MinPlus) == vxm(d, A, MinPlus)).all()
    assert (mxv(B, d, MinPlus) == mxv(A, d, MinPlus)).all()


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        (3, ValueError, "segment_bytes must be at least 4, the bytes of one float32, got 3"),
        (0, ValueError, "segment_bytes must be at least 4, the bytes of one float32, got 0"),
        (-64, ValueError, "segment_bytes must be at least 4, the bytes of one float32, got -64"),
        (2.5, TypeError, "segment_bytes must be an integer, got 2.5"),
        ("64K", TypeError, "segment_bytes must be an integer, got '64K'"),
        (None, TypeError, "segment_bytes must be an integer, got None"),
    ],
)
def test_segments_that_hold_nothing_are_refused_before_any_work(wrong, error, message, monkeypatch):
    A = from_edges([0], [1], np.ones(1, np.float32), shape=2)
    monkeypatch.setattr(type(A), "to", lambda *_, **__: pytest.fail("this is work"))
    with pytest.raises(error, match=message):
        reorder_edges(A, wrong)


def test_a_byte_holds_a_boolean():
    A = from_edges([0, 1, 2], [2, 1, 0], np.ones(3, bool), shape=3)
    assert reorder_edges(A, np.int64(1)).segment == 1
    assert reorder_edges(A, 2).segment == 2
