"""Kronecker products, unions with values for what is absent, diagonals and powers, beside the reference and others."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from bench.graphs import rmat
from formats import COO, CSC, CSR, OutOfHostMemory, SparseVector, from_edges, set_memory_limit
from semiring import (
    MONOIDS,
    OPERATORS,
    MinPlus,
    PlusTimes,
    Semiring,
    Vector,
    diag,
    ewise_union,
    kronecker,
    mxm,
    mxv,
    power,
    threads,
)
from semiring.generic import composed

from . import strategies as sts
from .strategies import FLOAT64, INT32, INT64, moved
from .test_elementwise import check_matrix_verb, check_vector_verb, rules, vector_pairs


@pytest.mark.parametrize("dtype", [INT32, INT64, FLOAT64], ids=str)
@pytest.mark.parametrize("op", ["times", "min_plus", "minus", "second", "plus_pair", "lt"])
@pytest.mark.cells("kronecker")
def test_kronecker_products(verb, fmt, backend, op, dtype):
    left, right = sts.rich_matrix(PlusTimes, dtype), sts.rich_matrix(MinPlus, dtype)
    left = sts.Entries((3, 6), dtype, {at: value for at, value in left.at.items() if at[0] < 3})
    right = sts.Entries((4, 3), dtype, {at: value for at, value in right.at.items() if at[0] < 4 and at[1] < 3})
    shape, result = (12, 18), sts.BOOL if op == "lt" else dtype
    out = sts.Entries(shape, result, {(i, 17 - i): 1 for i in range(12)}).build(CSR)
    every = rules(shape, out, [None, "first"])
    check_matrix_verb(verb, fmt, backend, (left, right), (op,), every if fmt is CSR else every[:5])


@pytest.mark.quick
@pytest.mark.cells("kronecker")
def test_kronecker_products_in_blocks_and_of_nothing(verb, fmt, backend, monkeypatch):
    monkeypatch.setattr(composed, "BLOCK", 7)
    monkeypatch.setattr("semiring.cpu.kronecker.BLOCK", 7)
    rng = np.random.default_rng(0)
    for shapes in (((5, 4), (3, 6)), ((0, 3), (2, 2)), ((3, 3), (0, 4)), ((1, 1), (1, 1))):
        dense = [rng.integers(1, 9, shape) * (rng.random(shape) < 0.5) for shape in shapes]
        A, B = (
            sts.Entries(D.shape, INT64, {(i, j): D[i, j].item() for i, j in np.argwhere(D).tolist()}).build(fmt)
            for D in dense
        )
        C = verb(A.to(device=backend), B.to(device=backend), "times").to(device="cpu")
        C.check()
        np.testing.assert_array_equal(C.to_dense(), np.kron(*dense))
        rows: Any = (A.to(CSR), B.to(CSR))
        assert composed.kronecker_by_arrays(*rows, OPERATORS["times"], INT64).equals(C)


def test_kronecker_products_are_graphblass_and_scipys(gb):
    A, B = from_edges([0, 1, 2], [2, 0, 1], [2.0, 3.0, 5.0]), from_edges([0, 0, 1], [0, 1, 1], [1.0, 7.0, 4.0])
    np.testing.assert_array_equal(
        kronecker(A, B, "times").to_dense(), sparse.kron(A.to_scipy(), B.to_scipy()).toarray()
    )
    theirs = A.to_graphblas().kronecker(B.to_graphblas(), gb.binary.pow).new().to_dense(fill_value=0)
    np.testing.assert_array_equal(kronecker(A, B, "pow").to_dense(), theirs)


def test_a_kronecker_product_that_does_not_fit_is_refused_with_the_figures():
    A = from_edges(range(1000), range(1000), np.ones(1000))
    with pytest.raises(OutOfHostMemory, match="kronecker, for its result of .* needs"):
        kronecker(kronecker(A, A, "times"), kronecker(A, A, "times"), "times")
    set_memory_limit(1 << 20, device="cpu")
    try:
        with pytest.raises(OutOfHostMemory, match="1,000,000 × 1,000,000 with 1,000,000 entries"):
            kronecker(A, A, "times")
    finally:
        set_memory_limit(None, device="cpu")


@pytest.mark.parametrize("dtype", [INT32, INT64, FLOAT64], ids=str)
@pytest.mark.parametrize("op", ["minus", "min_plus", "plus", "first", "lt"])
@pytest.mark.cells("ewise_union")
def test_unions_with_values_for_what_is_absent(verb, fmt, backend, op, dtype):
    result = sts.BOOL if op == "lt" else dtype
    algebra = MinPlus if op == "min_plus" else PlusTimes

    def union(u: Any, v: Any, **rule: Any) -> Any:
        return verb(u, 3, v, -2, op, **rule)

    union.name = verb.name  # type: ignore[attr-defined]
    if fmt is Vector:
        out = sts.rich_vector(PlusTimes, result, 9, sparse=False, shift=2)
        zero = MinPlus.zero(dtype) if op == "min_plus" else 0
        for pair in vector_pairs(algebra, dtype):
            for rule in rules(9, out, [None]):
                check_vector_verb(union, backend, 9, zero, pair, rule)
        return
    left, right = sts.rich_matrix(algebra, dtype), sts.rich_matrix(algebra, dtype)
    right = sts.Entries(right.shape, dtype, {(i, (j + i) % 6): value for (i, j), value in right.at.items()})
    out = sts.Entries((7, 6), result, {(i, 5 - i): 1 for i in range(6)}).build(CSR)
    check_matrix_verb(union, fmt, backend, (left, right), (), rules((7, 6), out, [None, "first"]), fill=0)


@pytest.mark.parametrize("count", [1, 2])
def test_unions_of_many_rows_are_those_of_filled_matrices(count):
    A, B = rmat(10, dtype=np.int32, high=9), rmat(10, dtype=np.int32, high=9, seed=5)
    P = A.with_values(A.values[::-1].copy())
    with threads(count):
        for left, right in ((A, B), (B, A), (A, P), (A, from_edges([], [], np.zeros(0, np.int32), shape=1024))):
            for name in ("minus", "lt", "second"):
                op = OPERATORS[name]
                C = ewise_union(left, 3, right, -2, name)
                C.check()
                assert C.equals(composed.union_by_filling(left, np.int32(3), right, np.int32(-2), op))


@pytest.mark.quick
def test_unions_are_graphblass(gb):
    A, B = from_edges([0, 1], [1, 2], [5, 7], shape=3), from_edges([1, 2], [2, 0], [4, 9], shape=3)
    theirs = A.to_graphblas().ewise_union(B.to_graphblas(), gb.binary.minus, 10, 100).new()
    ours = ewise_union(A, 10, B, 100, "minus")
    assert ours.equals(
        CSR(*from_edges(*(part.astype(int) for part in theirs.to_coo()), shape=3).components).astype(ours.dtype)
    )
    mixed = ewise_union(SparseVector([0], [1], 2), 0.5, SparseVector([1], [2.5], 2), 0, "minus")
    assert mixed.values.tolist() == [1.0, -2.0]
    with pytest.raises(ValueError, match="2.5"):
        ewise_union(A, 2.5, B, 0, "minus")
    with pytest.raises(ValueError, match="one shape"):
        ewise_union(A, 1, from_edges([0], [0], [1]), 0, "minus")
    with pytest.raises(ValueError, match="div has no result"):
        ewise_union(A.astype(float), 0.0, from_edges([2], [0], [0.0], shape=3), 1.0, "div")


# --- diagonals ------------------------------------------------------------------------------------------------------


@pytest.mark.quick
@pytest.mark.cells("transpose")
def test_diagonals_of_matrices_in_every_format_are_numpys(verb, fmt, backend):
    rng = np.random.default_rng(1)
    for shape in ((5, 4), (3, 6), (1, 1), (0, 2)):
        D = rng.integers(1, 9, shape) * (rng.random(shape) < 0.6)
        A = sts.Entries(shape, INT64, {(i, j): D[i, j].item() for i, j in np.argwhere(D).tolist()}).build(fmt)
        for k in range(-6, 8):
            found = moved(diag(A.to(device=backend), k), "cpu")
            wanted = np.diagonal(D, k) if -shape[0] <= k <= shape[1] else np.zeros(0, int)
            np.testing.assert_array_equal(found.to_dense(0), wanted)


@pytest.mark.quick
def test_matrices_of_diagonals_are_numpys():
    x = np.array([5.0, np.inf, 7.0])
    for k in (-2, 0, 3):
        D = diag(x, k)
        D.check()
        np.testing.assert_array_equal(D.to_dense(), np.diag(x, k))
        assert diag(x, k, semiring=MinPlus).nnz == 2
        v = SparseVector([1, 2], [3.0, 4.0], 4)
        assert diag(diag(v, k), k).to_dense(0.0).tolist() == v.to_dense(0.0).tolist()
    with pytest.raises(TypeError, match="integer"):
        diag(x, 0.5)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="what is absent in a dense vector"):
        diag(D, semiring=MinPlus)  # type: ignore[call-overload]
    with pytest.raises(OutOfHostMemory, match="diag, for its result"):
        diag(SparseVector([1], [1.0], 2**45))
    x[0] = 1.0
    assert D[3 if k < 0 else 0, 3 if k > 0 else 0] == 5.0


# --- powers ---------------------------------------------------------------------------------------------------------


@pytest.mark.cells("mxm")
def test_powers_are_repeated_products(verb, fmt, backend):
    entries = sts.Entries((4, 4), INT64, {(0, 1): 2, (1, 2): 3, (2, 0): 1, (2, 3): 5, (3, 3): 2, (0, 0): 0})
    A = entries.build(fmt).to(device=backend)
    for name in ("min_plus", "plus_times", "max_min", "min_first", "min_minus", "plus_pair"):
        for exponent in range(1, 8):
            rows = A.to(CSR)
            wanted = reduce(lambda C, B, name=name: mxm(C, B, name), [rows] * exponent) if exponent > 1 else None  # type: ignore[misc]
            C = power(A, exponent, name).to(device="cpu")
            C.check()
            if wanted is not None:
                assert C.equals(wanted.to(device="cpu")), (name, exponent)
    assert power(A, 0, "min_plus").to(device="cpu").to_dense(99).tolist() == np.where(np.eye(4), 0, 99).tolist()
    assert power(A, 1, "plus_times").nnz == 5  # without the stored zero


def test_a_power_that_is_none_is_refused():
    A = from_edges([0], [1], [1.0])
    with pytest.raises(ValueError, match="min_first has no unit"):
        power(A, 0, "min_first")
    with pytest.raises(ValueError, match="the exponent must not be negative, got -1"):
        power(A, -1, MinPlus)
    with pytest.raises(ValueError, match="A must be square"):
        power(from_edges([0], [1], shape=(1, 2)), 2, MinPlus)
    with pytest.raises(TypeError, match="integer"):
        power(A, 1.5, MinPlus)  # type: ignore[arg-type]
    assert power(A.to(COO), 3, MinPlus).nnz == 0
    assert power(A.to(CSC), 1, MinPlus).equals(A)


def test_powers_of_the_users_own_are_computed_from_left_to_right():
    s = Semiring(MONOIDS["min"], OPERATORS["minus"])
    A = from_edges([0, 1, 2], [1, 2, 0], [5, 9, 3])
    x = np.array([0, 100, 100])
    assert power(A, 3, s).to_dense(0).tolist() == mxm(mxm(A, A, s), A, s).to_dense(0).tolist()
    assert mxv(A, x, MinPlus).tolist() == [105, 109, 3]
