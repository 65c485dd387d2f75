"""Answers have the same bits with any number of threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import semiring
from bench.graphs import rmat
from formats import CSC, CSR, SparseVector, from_edges
from formats.storage.compressed import turn
from semiring import PlusTimes, mxv, vxm

COUNTS = (1, 2, 4, 8)


def bits(found: Any) -> bytes:
    """All arrays of an answer."""
    parts = found if isinstance(found, tuple | list) else getattr(found, "arrays", (found,))
    return b"".join(f"{part.dtype}".encode() + np.ascontiguousarray(part).tobytes() for part in parts)


def same(call: Callable[[], Any]) -> Any:
    """The answer of a call, whose bits must not hang on the number of threads."""
    found = []
    for count in COUNTS:
        with semiring.threads(count):
            found.append(call())
    assert len({bits(each) for each in found}) == 1
    return found[0]


@pytest.mark.parametrize("dtype", ["bool", "int32", "float64"])
def test_columns(dtype: str) -> None:
    weighted = rmat(15)
    assert weighted.nnz > 2**18
    A = CSR(
        *weighted.arrays[:2],
        (weighted.values % 2 if dtype == "bool" else weighted.values).astype(dtype),
        weighted.shape,
    )
    columns = same(lambda: CSR.trusted(*A.arrays[:3], A.shape).to(CSC))
    columns.check()
    assert same(lambda: columns.to(CSR)).equals(A)


@pytest.mark.parametrize("kind", ["one long row", "a hub", "a wide matrix"])
def test_columns_of_odd_shapes(kind: str) -> None:
    random, size = np.random.default_rng(1), 1 << 19
    nrows, ncols = {"one long row": (1, 1000), "a hub": (1000, 50_000), "a wide matrix": (1 << 16, 1 << 20)}[kind]
    indices = random.integers(0, ncols, size).astype(np.int32)
    if kind == "a hub":
        indices[random.random(size) < 0.7] = 49_999
    indptr = np.sort(np.concatenate(([0, size], random.integers(0, size, nrows - 1)))).astype(np.int32)
    starts, rows, values = same(lambda: turn(indptr, indices, np.arange(size), (nrows, ncols)))
    order = np.argsort(indices, kind="stable")
    assert (values == order).all()
    assert (rows == np.repeat(np.arange(nrows), np.diff(indptr))[order]).all()
    assert (starts == np.searchsorted(indices[order], np.arange(ncols + 1))).all()


@pytest.mark.parametrize("dup", ["min", "max", "first", "last", "sum"])
@pytest.mark.parametrize("dtype", ["bool", "int32", "float32", "float64"])
def test_rows_of_edges(dup: Any, dtype: str) -> None:
    random, size, n = np.random.default_rng(1), (1 << 20) + 7, 1 << 16
    src, dst = (random.zipf(1.3, (2, size)) % n).astype(np.int32)
    weights = (random.random(size) * 100).astype(np.int32).astype(dtype)
    A = same(lambda: from_edges(src, dst, weights, shape=n, dup=dup))
    A.check()
    keys, first, counts = np.unique(src.astype(np.int64) * n + dst, return_index=True, return_counts=True)
    assert (A.to_edges()[0] * np.int64(n) + A.indices == keys).all()
    order = np.argsort(src.astype(np.int64) * n + dst, kind="stable")
    ends = np.cumsum(counts)
    ordered = weights[order]
    if dup in ("first", "last"):
        expected = weights[first] if dup == "first" else ordered[ends - 1]
    else:
        combine = {"min": np.minimum, "max": np.maximum, "sum": np.add}[dup]
        expected = combine.reduceat(ordered, ends - counts).astype(dtype)
    assert (A.values == expected).all()


def test_what_is_wrong_with_edges_is_said() -> None:
    size, n = (1 << 20) + 2, 1 << 20
    src, dst = np.arange(size)[::-1] % n, np.arange(size) % n
    with pytest.raises(ValueError, match=r"edge \(0, 1\) is given more than once"):
        from_edges(src, dst, shape=n, dup="error")
    for weight, dtype, error in ((2**31 - 2, np.int32, OverflowError), (2**62, np.int64, OverflowError)):
        with pytest.raises(error, match=f"does not fit {np.dtype(dtype)}"):
            from_edges(src, dst, np.full(size, weight, dtype), shape=n, dup="sum")
    infinite = np.where(np.arange(size) < n, np.inf, -np.inf)
    with pytest.raises(ValueError, match="must not be NaN"):
        from_edges(src, dst, infinite, shape=n, dup="sum")


@pytest.mark.parametrize("fmt", ["csr", "csc", "coo", "ell", "sell"])
def test_rounded_sums(fmt: str) -> None:
    random, n = np.random.default_rng(1), 3000
    src, dst = random.integers(0, n, (2, 1 << 17))
    A = from_edges(src, dst, random.standard_normal(src.size), shape=n).to(fmt)
    x = random.standard_normal(n)
    for operand in (x, SparseVector(np.arange(0, n, 3), x[::3], n)):
        same(lambda v=operand: [getattr(mxv(A, v, PlusTimes), "values", mxv(A, v, PlusTimes))])
        same(lambda v=operand: [getattr(vxm(v, A, PlusTimes), "values", vxm(v, A, PlusTimes))])
