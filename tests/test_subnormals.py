"""Subnormal numbers are not zero, on no device: CuPy's own comparisons of float32 take them for it."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest

from formats import Dense, SparseVector, from_edges
from formats.arrays import compared_bits, differs, equals, to_device
from semiring import OPERATORS, Monoid, PlusTimes, Semiring, assign, mxm, mxv, vxm

NEAR = np.array([0.0, -0.0, 1e-45, -1e-45, 1.2e-38, 1.0, -1.0, np.inf, -np.inf], np.float32)
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.backend("cuda"))]


@pytest.mark.parametrize("compare", [operator.eq, operator.ne])
def test_bits_compare_as_the_numbers_do(compare: Any) -> None:
    for other in (*NEAR, *(np.roll(NEAR, k) for k in range(NEAR.size))):
        np.testing.assert_array_equal(compared_bits(NEAR, other, compare), compare(NEAR, other))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
def test_elements_are_compared_on_every_device_as_by_numpy(dtype: str, device: Any) -> None:
    x = np.array([0, 1, 2], dtype) if dtype == "int32" else NEAR.astype(dtype)
    for other in x:
        for ours, numpys in ((equals, operator.eq), (differs, operator.ne)):
            found = to_device(ours(to_device(x, device), other), "cpu")
            np.testing.assert_array_equal(found, numpys(x, other))


@pytest.mark.parametrize("device", DEVICES)
def test_a_subnormal_element_is_an_entry(device: Any) -> None:
    v = SparseVector.from_dense(to_device(np.array([0, 1e-45, 0, 1], np.float32), device), 0)
    assert to_device(v.indices, "cpu").tolist() == [1, 3]


@pytest.mark.parametrize("device", DEVICES)
def test_a_subnormal_entry_is_found_beside_a_fill_of_zero(device: Any) -> None:
    A = from_edges([0], [1], np.array([1e-45], np.float32), shape=2).to(Dense, fill=0.0, device=device)
    assert float(to_device(A.values, "cpu")[0, 1]) == float(A[0, 1]) == np.float32(1e-45)
    assert A.nnz == 1


@pytest.mark.parametrize("device", DEVICES)
def test_matrices_that_differ_by_a_subnormal_are_not_equal(device: Any) -> None:
    A, B = (from_edges([0], [1], np.array([w], np.float32), shape=2).to(device=device) for w in (1e-45, 0))
    assert not A.equals(B)


@pytest.mark.parametrize("device", DEVICES)
def test_a_subnormal_is_no_integer(device: Any) -> None:
    A = from_edges([0], [1], np.array([1e-45], np.float32), shape=2).to(device=device)
    with pytest.raises(ValueError, match="cannot be stored as int32"):
        A.astype("int32")


@pytest.mark.parametrize("device", DEVICES)
def test_what_is_assigned_is_joined_with_a_subnormal(device: Any) -> None:
    out = to_device(np.array([1e-45, 0], np.float32), device)
    assert to_device(assign(out, 5.0, accum="min"), "cpu").tolist() == [np.float32(1e-45), 5]


NON_NEGATIVE = Semiring(Monoid(OPERATORS["max"], 0, idempotent=True, selective=True), OPERATORS["times"])
"""max-times of numbers that are not negative, where 0 is absent."""


@pytest.mark.parametrize("device", DEVICES)
def test_a_subnormal_entry_of_a_product_of_matrices_is_kept(device: Any) -> None:
    A = from_edges([0, 1], [1, 2], np.array([1, 1e-45], np.float32), shape=3).to(device=device)
    C = mxm(A, A, PlusTimes)
    assert C.nnz == 1
    assert float(C[0, 2]) == np.float32(1e-45)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("semiring", [NON_NEGATIVE, PlusTimes], ids=["max_times", "plus_times"])
@pytest.mark.parametrize("n", [8, 64])
def test_a_sparse_product_finds_the_subnormal_elements_that_it_reaches(n: int, semiring: Semiring, device: Any) -> None:
    """Of 8 places they are found by looking through all, of 64 among those that were noted."""
    v = SparseVector(np.array([0]), np.array([1], np.float32), n).to(device=device)
    A = from_edges([0, 0], [1, 2], np.array([1e-45, 1], np.float32), shape=n).to(device=device)
    y = vxm(v, A, semiring).to(device="cpu")
    assert (y.indices.tolist(), y.values.tolist()) == ([1, 2], [np.float32(1e-45), 1])


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dup", ["min", "max"])
def test_duplicate_edges_with_subnormal_weights_combine(dup: str, device: Any) -> None:
    weights = np.array([2e-45, 1e-45, -1e-45, 0, 1, -1], np.float32)
    for a in weights:
        for b in weights:
            parts = (to_device(np.array(part), device) for part in ([0, 0], [1, 1]))
            A = from_edges(*parts, to_device(np.array([a, b]), device), shape=2, dup=dup).to(device="cpu")
            assert A.values.tolist() == [getattr(np, {"min": "minimum", "max": "maximum"}[dup])(a, b)]


@pytest.mark.parametrize("device", DEVICES)
def test_a_subnormal_weight_stays_in_another_dtype(device: Any) -> None:
    A = from_edges([0], [1], np.array([1e-45], np.float32), shape=2).to(device=device)
    assert float(A.astype("float64")[0, 1]) == float(np.float32(1e-45))
    y = mxv(A, to_device(np.ones(2), device), PlusTimes)
    assert to_device(y, "cpu").tolist() == [float(np.float32(1e-45)), 0]
