"""`any` takes the first present term, whatever its monoid says is absent."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from formats import SparseVector, from_edges
from formats.arrays import to_device
from semiring import OPERATORS, Monoid, Semiring, ewise_add, mxm, mxv, reduce

DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.backend("cuda"))]
CASES = [("float32", "highest"), ("int64", 5)]


def any_of(mul: str, identity: Any) -> Semiring:
    monoid = Monoid(OPERATORS["any"], identity, idempotent=True, selective=True, terminal=True)
    return Semiring(monoid, OPERATORS[mul])


@pytest.mark.cells("mxv", "vxm")
def test_a_product_takes_the_first_present_term_whatever_is_absent(verb: Any, fmt: Any, backend: Any) -> None:
    A = from_edges([0, 0, 1], [1, 2, 0], np.array([3, 4, 5], np.float32), shape=3)
    x = to_device(np.array([7, 0, 9], np.float32), backend)
    if verb.name == "mxv":
        y = verb(A.to(fmt, device=backend), x, any_of("second", "highest"))
    else:
        y = verb(x, A.T.to(fmt, device=backend), any_of("first", "highest"))
    assert to_device(y, "cpu").tolist() == [0, 7, np.inf]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("dtype", "identity"), CASES)
def test_a_sparse_operand_contributes_the_terms_that_it_has(dtype: str, identity: Any, device: Any) -> None:
    s = any_of("second", identity)
    A = from_edges([0, 0, 1], [1, 2, 0], np.array([3, 4, 5], dtype), shape=3).to(device=device)
    x = SparseVector(np.array([2]), np.array([9], dtype), 3).to(device=device)
    y = mxv(A, x, s).to(device="cpu")
    assert (y.indices.tolist(), y.values.tolist()) == ([0], [9])


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("dtype", "identity"), CASES)
def test_sums_of_matrices_and_vectors_take_the_first_present_value(dtype: str, identity: Any, device: Any) -> None:
    s = any_of("second", identity)
    absent = s.zero(np.dtype(dtype))
    A = from_edges([0, 0, 1], [1, 2, 0], np.array([0, 4, 3], dtype), shape=3).to(device=device)
    u, v = (to_device(np.array(values, dtype), device) for values in ([7, 0, absent], [absent, 4, absent]))
    assert to_device(reduce(A, s.add, axis=1), "cpu").tolist() == [0, 3, absent]
    assert reduce(A, s.add) == 0
    assert to_device(ewise_add(u, v, s.add), "cpu").tolist() == [7, 0, absent]
    expected = [[3, absent, absent], [absent, 0, 4], [absent] * 3]
    assert to_device(mxm(A, A, s).to_dense(absent), "cpu").tolist() == expected
