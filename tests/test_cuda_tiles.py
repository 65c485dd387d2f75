"""The GPU's products on matrices of many tiles, which must be the CPU's: hubs, empty rows, short and long ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from formats import COO, CSB, CSC, CSR, ELL, Dense, Matrix, SegmentedCOO, SparseVector, from_edges
from formats.arrays import to_device
from semiring import AnyPair, LorLand, MaxMin, MinFirst, MinPlus, PlusTimes, Semiring, mxm, mxv, reduce, vxm
from semiring.algebra.semirings import find_semiring
from semiring.cuda import blocks
from semiring.cuda.kernels import BLOCKS, kernels_for

from .strategies import FORMATS, AbsDiff, moved

pytestmark = pytest.mark.backend("cuda")

N = 6000
OPTIONS: dict[type[Matrix], dict[str, Any]] = {
    ELL: {"force": True},
    Dense: {"force": True},
    SegmentedCOO: {"segment": 1100},
    CSB: {"block": 1024},
}
INT32, INT64, FLOAT32, FLOAT64, BOOL = (np.dtype(name) for name in ("int32", "int64", "float32", "float64", "bool"))

CASES = [
    (MinPlus, INT32),
    (MinPlus, INT64),
    (MinPlus, FLOAT32),
    (MaxMin, FLOAT64),
    (PlusTimes, INT32),
    (PlusTimes, INT64),
    (PlusTimes, FLOAT64),
    (LorLand, BOOL),
    (AnyPair, INT32),
    (MinFirst, INT32),
    (find_semiring("any_second"), INT32),
    (Semiring(MinPlus.add, AbsDiff), FLOAT32),
]


def lengths(kind: str, rng: np.random.Generator) -> np.ndarray:
    """Entries in each row: of a kind of graph."""
    if kind == "hub":
        few = rng.integers(0, 3, N)
        few[[17, N - 1]] = N - 1  # rows that many tiles share, one at the end
        return few
    if kind == "mostly empty":
        return np.where(np.arange(N) % 1500 == 700, 900, 0)
    if kind == "mixed":
        return np.minimum(rng.zipf(1.5, N), 2000)
    return np.full(N, {"short": 3, "medium": 40, "long": 300}[kind])


KINDS = ["hub", "mostly empty", "mixed", "short", "medium", "long"]


def matrix(kind: str, dtype: np.dtype) -> CSR:
    """N×N with rows of those lengths, at most (equal positions combine), and the ends of the range among the values."""
    rng = np.random.default_rng(3)
    rows = np.repeat(np.arange(N), lengths(kind, rng))
    cols = rng.integers(0, N, rows.size)
    return from_edges(rows, cols, numbers(dtype, rows.size, rng), shape=N)


def numbers(dtype: np.dtype, size: int, rng: np.random.Generator) -> np.ndarray:
    values = rng.integers(-9, 99, size)
    if dtype.kind == "b":
        return values % 2 == 0
    if dtype.kind == "i":
        ends = np.iinfo(dtype)
        values = np.where(rng.random(size) < 0.01, rng.choice([ends.min, ends.max, ends.max - 5], size), values)
    return values.astype(dtype)


def operand(semiring: Semiring, dtype: np.dtype, share: float, *, sparse: bool) -> Any:
    """A vector of which that share is present."""
    rng = np.random.default_rng(4)
    x, present = numbers(dtype, N, rng), rng.random(N) < share
    if sparse:
        return SparseVector(np.flatnonzero(present), x[present], N)
    return np.where(present, x, semiring.zero(dtype)).astype(dtype)


def assert_same(there: Any, here: Any, semiring: Semiring) -> None:
    """Bit for bit, but for floating sums."""
    there = moved(there, "cpu")
    if isinstance(here, SparseVector):
        np.testing.assert_array_equal(there.indices, here.indices)
        there, here = there.values, here.values
    assert there.dtype == here.dtype
    if semiring.add.name == "plus" and here.dtype.kind == "f":
        np.testing.assert_allclose(there, here, rtol=1e-12)
    else:
        np.testing.assert_array_equal(there, here)


every_case = pytest.mark.parametrize(("semiring", "dtype"), CASES, ids=[f"{s.name}-{d}" for s, d in CASES])
every_kind = pytest.mark.parametrize("kind", KINDS)


def both_ways(A: Matrix, x: Any, semiring: Semiring) -> list[Callable[[], Any]]:
    return [lambda: mxv(A, x, semiring), lambda: vxm(x, A, semiring)]


@every_case
@every_kind
def test_products_of_dense_operands(semiring: Semiring, dtype: np.dtype, kind: str) -> None:
    A = matrix(kind, dtype)
    x = operand(semiring, dtype, 0.9, sparse=False)
    expected = [product() for product in both_ways(A, x, semiring)]
    for fmt in FORMATS:
        G = A.to(device="cuda").to(fmt, **OPTIONS.get(fmt, {}))
        for product, right in zip(both_ways(G, to_device(x, "cuda"), semiring), expected, strict=True):
            assert_same(product(), right, semiring)
            assert_same(product(), right, semiring)  # with everything that the first call kept


@every_case
@pytest.mark.parametrize("kind", ["hub", "mixed", "medium"])
@pytest.mark.parametrize("share", [0.001, 0.05, 0.7])
def test_products_of_sparse_operands(semiring: Semiring, dtype: np.dtype, kind: str, share: float) -> None:
    A = matrix(kind, dtype)
    x = operand(semiring, dtype, share, sparse=True)
    expected = [product() for product in both_ways(A, x, semiring)]
    for fmt in FORMATS:
        G = A.to(device="cuda").to(fmt, **OPTIONS.get(fmt, {}))
        for product, right in zip(both_ways(G, moved(x, "cuda"), semiring), expected, strict=True):
            assert_same(product(), right, semiring)
            assert_same(product(), right, semiring)


@every_case
@pytest.mark.parametrize("kind", ["hub", "mixed", "long"])
@pytest.mark.parametrize("share", [0.002, 0.9])
def test_masked_products_of_dense_operands(semiring: Semiring, dtype: np.dtype, kind: str, share: float) -> None:
    """Among them those that stop at the first term of a row, which may be its last."""
    A = matrix(kind, dtype)
    x = operand(semiring, dtype, share, sparse=False)
    mask = np.random.default_rng(5).random(N) < 0.5
    mask[[17, N - 1]] = True  # the hubs
    expected = [mxv(A, x, semiring, mask=mask), vxm(x, A, semiring, mask=mask)]
    for fmt in (CSR, CSC, Dense):
        G = A.to(device="cuda").to(fmt, **OPTIONS.get(fmt, {}))
        there = [to_device(part, "cuda") for part in (x, mask)]
        assert_same(mxv(G, there[0], semiring, mask=there[1]), expected[0], semiring)
        assert_same(vxm(there[0], G, semiring, mask=there[1]), expected[1], semiring)


@pytest.mark.parametrize(
    ("monoid", "kind"), [*((monoid, kind) for monoid in ("min", "plus") for kind in KINDS), ("times", "hub")]
)
@pytest.mark.parametrize("dtype", [INT32, INT64, FLOAT64], ids=str)
def test_reductions(monoid: str, kind: str, dtype: np.dtype) -> None:
    A = matrix(kind, dtype)
    if dtype.kind == "f":
        A = A.with_values(1 + A.values / 1e6)  # products of so many must not leave the range
    close = {"rtol": 1e-9 if monoid != "min" and dtype.kind == "f" else 0}
    for fmt in FORMATS:
        G = A.to(device="cuda").to(fmt, **OPTIONS.get(fmt, {}))
        for axis in (0, 1):
            np.testing.assert_allclose(
                moved(reduce(G, monoid, axis=axis), "cpu"), reduce(A, monoid, axis=axis), **close
            )
        np.testing.assert_allclose(reduce(G, monoid), reduce(A, monoid), **close)


@every_case
def test_matrix_products(semiring: Semiring, dtype: np.dtype) -> None:
    A = matrix("hub", dtype)
    there, here = mxm(A.to(device="cuda"), A.to(device="cuda"), semiring).to(device="cpu"), mxm(A, A, semiring)
    np.testing.assert_array_equal(there.indptr, here.indptr)
    np.testing.assert_array_equal(there.indices, here.indices)
    assert_same(there.values, here.values, semiring)


@every_kind
@pytest.mark.parametrize("fmt", [CSR, COO, SegmentedCOO, CSB])
def test_indices_of_64_bits(fmt: type[Matrix], kind: str) -> None:
    A = matrix(kind, INT32)
    x = operand(MinPlus, INT32, 0.9, sparse=False)
    G: Any = A.to(fmt).to(device="cuda")
    indices = ("indptr", "indices", "rows", "cols", "starts")
    wide = [
        part.astype(np.int64) if field.name in indices and part.dtype != np.uint16 else part
        for field, part in zip(fields(G), G.components, strict=True)
    ]
    W = fmt.trusted(*wide)
    for product, right in zip(both_ways(W, to_device(x, "cuda"), MinPlus), both_ways(A, x, MinPlus), strict=True):
        assert_same(product(), right(), MinPlus)
    s = operand(MinPlus, INT32, 0.01, sparse=True)
    assert_same(vxm(moved(s, "cuda"), W, MinPlus), vxm(s, A, MinPlus), MinPlus)


@every_kind
@pytest.mark.parametrize(
    "large", [(SegmentedCOO, {"segment": 65536}), (CSB, {"block": 65536})], ids=lambda f: f[0].__name__
)
def test_segments_that_shared_memory_has_no_room_for(kind: str, large: tuple[type[Matrix], dict[str, Any]]) -> None:
    A = matrix(kind, INT32)
    x = operand(MinPlus, INT32, 0.9, sparse=False)
    fmt, options = large
    G = A.to(device="cuda").to(fmt, **options)
    for product, right in zip(both_ways(G, to_device(x, "cuda"), MinPlus), both_ways(A, x, MinPlus), strict=True):
        assert_same(product(), right(), MinPlus)


@every_kind
@pytest.mark.parametrize("dtype", [INT32, FLOAT64], ids=str)
@pytest.mark.parametrize("block", [64, 4096])
def test_blocks_in_one_phase_and_in_two(kind: str, dtype: np.dtype, block: int) -> None:
    A = matrix(kind, dtype)
    x = operand(MinPlus, dtype, 0.9, sparse=False)
    G: Any = A.to(device="cuda").to(CSB, block=block)
    k = kernels_for(MinPlus, dtype, G.starts.dtype, shape=blocks.SHAPE, unit=BLOCKS)
    there = to_device(x, "cuda")
    ways: dict[str, Callable[[Any], None]] = {
        "mxv, at once": lambda y: blocks.gather_at_once(k, G, there, y),
        "mxv": lambda y: blocks.in_two_phases(k, G, there, y, gathers=True),
        "vxm": lambda y: blocks.in_two_phases(k, G, there, y, gathers=False),
    }
    for name, way in ways.items():
        y = to_device(np.full(N, MinPlus.zero(dtype), dtype), "cuda")
        way(y)
        assert_same(y, vxm(x, A, MinPlus) if name == "vxm" else mxv(A, x, MinPlus), MinPlus)


def test_a_floating_sum_is_the_same_every_time() -> None:
    A = matrix("hub", FLOAT64).to(device="cuda")
    x = to_device(np.random.default_rng(0).random(N), "cuda")
    first = mxv(A, x, PlusTimes).get()
    for _ in range(20):
        assert (mxv(A, x, PlusTimes).get() == first).all()


def test_smallest_floats_are_kept() -> None:
    tiny = np.float32(1e-45)
    A = from_edges([0], [0], np.array([tiny]), shape=1).to(device="cuda")
    assert mxv(A, to_device(np.array([tiny]), "cuda"), MinPlus).get()[0] == tiny + tiny
