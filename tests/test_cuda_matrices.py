"""Verbs on matrices and conversions on a GPU give what the CPU does, bit by bit: hubs, empty rows, all dtypes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from formats import CSB, CSC, CSR, CompressedCSR, Matrix, SegmentedCOO, SparseVector, from_edges
from formats.arrays import to_device
from formats.matrix.facts import COMPRESSED
from semiring import (
    MinPlus,
    PlusTimes,
    assign,
    ewise_add,
    ewise_mult,
    extract,
    mxm,
    reduce,
    select,
    tight,
    transpose,
    vxm,
)

pytestmark = pytest.mark.backend("cuda")

SHAPES = {
    "square": (200, 150, 3000),
    "hub": (3000, 5000, 9000),
    "wide": (40, 70_000, 20_000),
    "tall": (60_000, 3, 9000),
    "one": (1, 1, 1),
    "no entries": (5, 5, 0),
    "no rows": (0, 4, 0),
}
DTYPES = ["bool", "int32", "int64", "float32", "float64"]
CASES = [(name, "float32") for name in SHAPES] + [("hub", dtype) for dtype in DTYPES if dtype != "float32"]


def some_matrix(name: str, dtype: str, seed: int) -> CSR:
    rng = np.random.default_rng(seed)
    nrows, ncols, nnz = SHAPES[name]
    src, dst = rng.integers(0, max(nrows, 1), nnz), rng.integers(0, max(ncols, 1), nnz)
    if name == "hub":
        src[: nnz // 2] = nrows // 2
    return from_edges(src, dst, rng.integers(-3, 9, nnz).astype(dtype), shape=(nrows, ncols))


def same(there: Any, here: Any) -> bool:
    """Are they equal in every bit of every array?"""
    there = there.to(device="cpu") if isinstance(there, Matrix | SparseVector) else to_device(there, "cpu")
    if isinstance(here, np.ndarray):
        return there.dtype == here.dtype and there.tobytes() == here.tobytes()
    parts = ("indices", "values") if isinstance(here, SparseVector) else None
    pairs = (
        [(getattr(there, name), getattr(here, name)) for name in parts]
        if parts
        else list(zip(there.arrays, here.arrays, strict=True))
    )
    if isinstance(there, Matrix):
        there.check()
    return all(a.dtype == b.dtype and np.ascontiguousarray(a).tobytes() == b.tobytes() for a, b in pairs)


@pytest.fixture(params=CASES, ids="-".join)
def pair(request: pytest.FixtureRequest) -> tuple[CSR, CSR, CSR, CSR]:
    """Two matrices of one shape on the CPU, and both on the GPU."""
    A, B = (some_matrix(*request.param, seed) for seed in (1, 2))
    return A, B, *(M.to(device="cuda") for M in (A, B))  # type: ignore[return-value]


def test_unions_and_intersections_are_the_cpus(pair: tuple[CSR, CSR, CSR, CSR]) -> None:
    A, B, G, H = pair
    combiners: list[Any] = ["first", "second", *(["lor"] if A.dtype == bool else ["max", "minus", MinPlus])]
    for op in combiners:
        assert same(ewise_add(G, H, op), ewise_add(A, B, op)), op
    for op in ["pair", "<", "first"] + ([] if A.dtype == bool else [PlusTimes, "times"]):
        assert same(ewise_mult(G, H, op), ewise_mult(A, B, op)), op


def test_an_entry_that_equals_the_zero_is_in_no_intersection() -> None:
    A = from_edges([0, 0, 1], [0, 1, 1], np.array([0.0, 2.0, 3.0]), shape=2)
    G = A.to(device="cuda")
    assert same(ewise_mult(G, G, PlusTimes), ewise_mult(A, A, PlusTimes))
    assert ewise_mult(G, G, PlusTimes).nnz == 2


@pytest.mark.parametrize("predicate", [("tril", 0), ("triu", 2), ("diag", 0), ("<", 3), ("!=", 0)], ids=str)
def test_selected_entries_are_the_cpus(pair: tuple[CSR, CSR, CSR, CSR], predicate: tuple[str, int]) -> None:
    A, _, G, _ = pair
    assert same(select(G, *predicate), select(A, *predicate))
    assert same(select(G.to(CSC), *predicate), select(A.to(CSC), *predicate))


def test_a_predicate_looks_up_vectors_dense_and_sparse() -> None:
    A = some_matrix("square", "int32", 1)
    A = from_edges(*A.to_edges(), shape=200)
    G = A.to(device="cuda")
    x = np.arange(200, dtype=np.int32)
    few = SparseVector(x[::3].copy(), x[::3].copy(), 200)
    for row, col in ((x, x), (few, x), (x, few), (few, few)):
        moved = [v.to(device="cuda") if isinstance(v, SparseVector) else to_device(v, "cuda") for v in (row, col)]
        for turned in (False, True):
            there, here = (M.to(CSC) if turned else M for M in (G, A))
            found = select(there, tight(MinPlus), row=moved[0], col=moved[1])
            assert same(found, select(here, tight(MinPlus), row=row, col=col))


def places(extent: int, kind: str, seed: int) -> np.ndarray | None:
    if kind == "all":
        return None
    rng = np.random.default_rng(seed)
    half = rng.permutation(extent)[: extent // 2 + 1]
    return {"ascending": np.sort(half), "shuffled": half, "twice": np.repeat(half, 2), "none": half[:0]}[kind]


@pytest.mark.parametrize("rows", ["all", "ascending", "shuffled", "twice", "none"])
@pytest.mark.parametrize("cols", ["all", "ascending", "shuffled", "twice", "none"])
def test_parts_are_the_cpus(rows: str, cols: str) -> None:
    for name, dtype in (("square", "float32"), ("hub", "bool"), ("no entries", "int64")):
        A = some_matrix(name, dtype, 1)
        I, J = places(A.nrows, rows, 3), places(A.ncols, cols, 4)  # noqa: E741
        for fmt in (CSR, CSC):
            assert same(extract(A.to(fmt).to(device="cuda"), I, J), extract(A.to(fmt), I, J))


def test_rows_and_columns_are_the_cpus(pair: tuple[CSR, CSR, CSR, CSR]) -> None:
    A, _, G, _ = pair
    some = places(A.nrows, "shuffled", 5), places(A.ncols, "shuffled", 6)
    for fmt in (CSR, CSC):
        M, N = A.to(fmt), G.to(fmt)
        for at in {0, A.nrows // 2} if A.nrows else ():
            assert same(extract(N, at), extract(M, at))
            assert same(extract(N, at, some[1]), extract(M, at, some[1]))
        for at in {0, A.ncols // 2} if A.nrows else ():
            assert same(extract(N, None, at), extract(M, None, at))
            assert same(extract(N, some[0], at), extract(M, some[0], at))
            if fmt is CSR:
                N.keep(COMPRESSED, lambda N=N: N.to(CSC), CSC)
                assert same(extract(N, None, at), extract(M, None, at))


@pytest.mark.parametrize("accum", [None, "plus"])
@pytest.mark.parametrize("kind", ["ascending", "shuffled", "all", "none"])
@pytest.mark.parametrize("dtype", ["int32", "float64"])
def test_what_is_assigned_is_the_cpus(kind: str, accum: str | None, dtype: str) -> None:
    for name in ("square", "one", "no entries"):
        A = some_matrix(name, dtype, 1)
        I, J = places(A.nrows, kind, 3), places(A.ncols, kind, 4)  # noqa: E741
        shape = tuple(n if part is None else part.size for n, part in zip(A.shape, (I, J), strict=True))
        rng = np.random.default_rng(7)
        count = 40 if min(shape) else 0
        ends = (rng.integers(0, max(n, 1), count) for n in shape)
        block = from_edges(*ends, rng.integers(1, 9, count).astype(dtype), shape=shape)
        for value in (block, 5):
            here, there = CSR.trusted(*A.components), A.to(device="cuda")
            there = CSR.trusted(*there.components)
            assign(here, value, I, J, accum=accum)
            assign(there, value.to(device="cuda") if isinstance(value, Matrix) else value, I, J, accum=accum)
            assert same(there, here)


@pytest.mark.parametrize(
    "convert",
    [
        lambda A: A.to(CSC),
        lambda A: A.T.to(CSR),
        lambda A: A.to(CSB, block=64, force=True),
        lambda A: A.to(CSB, force=True),
        lambda A: A.to(SegmentedCOO, segment=1000),
        lambda A: A.to(SegmentedCOO, segment=3),
        lambda A: A.to(CompressedCSR),
        lambda A: A.to(CompressedCSR).to(CSR),
        lambda A: A.pattern().to(CSC),
        transpose,
    ],
)
def test_conversions_are_the_cpus(pair: tuple[CSR, CSR, CSR, CSR], convert: Callable[[Any], Any]) -> None:
    A, _, G, _ = pair
    assert same(convert(G), convert(A))


def test_a_masked_write_takes_the_kernels_results() -> None:
    A, B, M = (some_matrix("square", "int32", seed) for seed in (1, 2, 3))
    G, H, N = (X.to(device="cuda") for X in (A, B, M))
    for rule in ({}, {"complement": True}):
        assert same(ewise_add(G, H, "min", mask=N, **rule), ewise_add(A, B, "min", mask=M, **rule))
        for more in ({}, {"accum": "plus"}, {"replace": True}):
            outs = [CSR.trusted(*X.components) for X in (H, B)]
            select(G, "tril", mask=N, out=outs[0], **rule, **more)
            select(A, "tril", mask=M, out=outs[1], **rule, **more)
            assert same(*outs)
    outs = [CSR.trusted(*X.components) for X in (H, B)]
    ewise_mult(G, G, "times", out=outs[0], accum="min")
    ewise_mult(A, A, "times", out=outs[1], accum="min")
    assert same(*outs)


@pytest.mark.parametrize("present", [1, 40, 3000, 6000])
def test_a_sparse_product_reaches_few_and_many_places(present: int) -> None:
    """Few are sorted by one block, more by all, and of most the whole vector is looked through."""
    A = from_edges(*(np.random.default_rng(s).integers(0, 50_000, 200_000) for s in (1, 2)), shape=50_000)
    at = np.sort(np.random.default_rng(3).permutation(50_000)[:present]).astype(np.int32)
    x = SparseVector(at, at % 7, 50_000)
    G = A.to(device="cuda")
    for _ in range(2):  # the second finds what the first has left
        assert same(vxm(x.to(device="cuda"), G, MinPlus), vxm(x, A, MinPlus))


MULTIPLIED = [
    ("min_plus", "int32"),
    ("plus_times", "int64"),
    ("plus_pair", "int32"),
    ("plus_pair", "float32"),
    ("max_plus", "float64"),
    ("min_first", "float32"),
    ("any_pair", "int64"),
    ("lor_land", "bool"),
]


def rows_of_many_lengths(dtype: str, seed: int) -> CSR:
    """Row i has about i / 8 entries, from none to 50; the last two have 400."""
    rng = np.random.default_rng(seed)
    src = np.concatenate((np.repeat(np.arange(400), np.arange(400) // 8), np.repeat([398, 399], 400)))
    dst = rng.integers(0, 400, src.size)
    return from_edges(src, dst, rng.integers(0, 9, src.size).astype(dtype), shape=400, dup="last")


@pytest.mark.parametrize(("semiring", "dtype"), MULTIPLIED, ids=map("-".join, MULTIPLIED))
def test_sparse_products_are_the_cpus_in_rows_of_any_length(semiring: str, dtype: str) -> None:
    """Of terms for 8, 16 and 32 lanes, a block, and ranges of columns; whole, at a mask's places and elsewhere."""
    A, M = (rows_of_many_lengths(dtype, seed) for seed in (1, 2))
    sparse, tall = some_matrix("hub", dtype, 4), some_matrix("tall", dtype, 5)
    pairs = [(A, A, M), (A, A.T.to(CSR), M), (sparse, sparse.T.to(CSR), some_matrix("square", dtype, 6))]
    pairs += [(tall, tall.T.to(CSR)[:, :50], tall)] if dtype != "bool" else []
    for left, right, mask in pairs:
        G, H, N = (X.to(device="cuda") for X in (left, right, mask))
        assert same(mxm(G, H, semiring), mxm(left, right, semiring))
        if mask.shape == (left.nrows, right.ncols):
            for how in ({}, {"complement": True}):
                expected = mxm(left, right, semiring, mask=mask, **how)
                assert same(mxm(G, H, semiring, mask=N, **how), expected)


@pytest.mark.parametrize("columns", [1, 3, 5, 33, 64])
def test_products_with_dense_columns_are_the_cpus(pair: tuple[CSR, CSR, CSR, CSR], columns: int) -> None:
    A, _, G, _ = pair
    semiring = "lor_land" if A.dtype == bool else MinPlus
    X = np.random.default_rng(columns).integers(0, 9, (A.ncols, columns)).astype(A.dtype)
    for named in (False, True):
        answers = [mxm(M, Y, semiring, return_argument=named) for M, Y in ((G, to_device(X, "cuda")), (A, X))]
        there, here = (each if named else (each,) for each in answers)
        assert all(same(a, b) for a, b in zip(there, here, strict=True))


def test_sums_along_rows_and_columns_are_the_cpus(pair: tuple[CSR, CSR, CSR, CSR]) -> None:
    A, _, G, _ = pair
    for axis in (0, 1):
        for monoid in ("any",) if A.dtype == bool else ("min", "plus"):
            for fmt in (CSR, CSC, CompressedCSR):
                for _ in range(2):
                    assert same(reduce(G.to(fmt), monoid, axis=axis), reduce(A.to(fmt), monoid, axis=axis))
