"""Subnormal numbers are not zero, on no device: CuPy's own comparisons of float32 take them for it."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest

from formats import Dense, SparseVector, from_edges
from formats.arrays import compared_bits, differs, equals, to_device
from semiring import assign

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
