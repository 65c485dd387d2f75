"""Answers have the same bits with any number of threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import semiring
from bench.graphs import rmat
from formats import CSC, CSR
from formats.storage.compressed import turn

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
