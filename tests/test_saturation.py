"""Integers stop at the ends of their range: never a wrapped sum, in any format, by any path."""

from __future__ import annotations

from itertools import product

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from formats import CSR, SparseVector
from semiring import OPERATORS, MaxPlus, MinPlus, PlusTimes, ewise_add, mxm, mxv, reduce, vxm
from semiring.algebra.semirings import find_semiring

from . import strategies as sts
from .conftest import Backend

INTEGERS = [sts.INT32, sts.INT64]
integer_types = pytest.mark.parametrize("dtype", INTEGERS, ids=str)


def clamped(value: int, dtype: np.dtype) -> int:
    return max(np.iinfo(dtype).min, min(np.iinfo(dtype).max, value))


def relaxed(verb, A, x, semiring):
    """The product for both orders of operands, as a list with the zero for absent."""
    x = sts.moved(x, A.device)
    y = sts.moved(mxv(A, x, semiring) if verb is mxv else vxm(x, A, semiring), "cpu")
    return (y.to_dense(find_semiring(semiring).zero(y.dtype)) if isinstance(y, SparseVector) else y).tolist()


def operand(values, dtype, *, sparse):
    x = np.array(values, dtype)
    return SparseVector(np.arange(x.size), x, x.size) if sparse else x


@integer_types
@pytest.mark.cells("mxv", "vxm")
def test_one_edge_at_the_ends_of_the_range(verb, fmt, backend, dtype):
    """d ⊗ w over one edge, for every pair of near-limit values, against Python's integers."""
    info = np.iinfo(dtype)
    near = [info.max, info.max - 1, info.min, info.min + 1, -7, 0, 7]
    for semiring, weight, distance in product((MinPlus, MaxPlus), near, near):
        zero = semiring.zero(dtype).item()
        A = sts.Entries((1, 1), dtype, {(0, 0): weight}).build(fmt).to(device=backend)
        expected = zero if zero in (weight, distance) else clamped(weight + distance, dtype)
        for M, sparse in product((A, A.T), (False, True)):
            if (type(M), backend) in verb.table:
                actual = relaxed(verb, M, operand([distance], dtype, sparse=sparse), semiring)
                assert actual == [expected], f"{semiring.name}: {weight} and {distance}, sparse={sparse}"


@integer_types
@pytest.mark.cells("mxv", "vxm")
def test_unreachable_stays_unreachable(verb, fmt, backend, dtype):
    """With every distance infinite, or an infinite one beside a finite one, nothing wraps to a best distance."""
    for semiring, sign in ((MinPlus, 1), (MaxPlus, -1)):
        zero = semiring.zero(dtype).item()
        A = sts.Entries((2, 2), dtype, {(0, 0): sign, (0, 1): 5 * sign, (1, 0): 9 * sign, (1, 1): -sign}).build(fmt)
        A = A.to(device=backend)
        for sparse in (False, True):
            assert relaxed(verb, A, operand([zero, zero], dtype, sparse=sparse), semiring) == [zero, zero]
            reached = relaxed(verb, A, operand([zero, 3 * sign], dtype, sparse=sparse), semiring)
            assert reached == ([8 * sign, 2 * sign] if verb is mxv else [12 * sign, 2 * sign])


@integer_types
@pytest.mark.cells("mxv", "vxm")
def test_integer_sums_are_exact_and_then_clamped(verb, fmt, backend, dtype):
    """Partial sums leave the range and come back: 3·MAX - 3·MAX + 5 is 5."""
    top = np.iinfo(dtype).max
    rows = {
        "back": [top, top, top, -top, -top, -top, 5],
        "above": [top] * 7,
        "below": [-top] * 7,
        "near": [top] + [0] * 6,
    }
    expected = [5, top, -top - 1, top]
    at = {(i, j): value for i, row in enumerate(rows.values()) for j, value in enumerate(row)}
    A = sts.Entries((4, 7), dtype, at).build(fmt).to(device=backend)
    for sparse in (False, True):
        ones = operand([1] * 7, dtype, sparse=sparse)
        assert relaxed(verb, A if verb is mxv else A.T, ones, PlusTimes) == expected
        threes = operand([3] * 7, dtype, sparse=sparse)
        assert relaxed(verb, A if verb is mxv else A.T, threes, PlusTimes) == [15, top, -top - 1, top]


SUMS = ["plus_pair", "plus_first", "plus_second", "plus_plus", "times_plus", "times_second"]


@pytest.mark.parametrize(
    ("verb", "fmt", "name", "dtype", "backend"),
    [
        Backend(backend).param(verb, fmt, name, dtype, name=f"{verb.name}-{fmt.__name__}-{name}-{dtype}")
        for verb in (mxv, vxm)
        for fmt, backend in verb.table
        for k, (name, dtype) in enumerate(product(SUMS, INTEGERS))
        if sts.has_turn(k, fmt, backend)
    ],
)
def test_other_sums_and_products_of_large_values(verb, fmt, name, dtype, backend):
    """⊕ = plus and ⊕ = times by GraphBLAS name, on values whose sums and products leave the range."""
    top = np.iinfo(dtype).max
    entries = sts.Entries((2, 3), dtype, {(0, 0): top, (0, 1): 0, (0, 2): -top, (1, 0): top, (1, 1): 3, (1, 2): 2})
    add, _, mul = name.partition("_")
    zero = 0 if add == "plus" else 1
    function = {"pair": lambda a, b: 1, "first": lambda a, b: a, "second": lambda a, b: b, "plus": lambda a, b: a + b}[
        mul
    ]
    x = [top, 4, top - 1]
    expected = []
    for i in range(2):
        row = [(entries.at[i, j], x[j]) for j in range(3)]
        terms = [function(*(pair if verb is mxv else pair[::-1])) for pair in row if mul == "pair" or zero not in pair]
        total = sum(terms) if add == "plus" else int(np.prod(np.array(terms, object)))
        expected.append(clamped(total, dtype))
    A = entries.build(fmt).to(device=backend)
    for sparse in (False, True):
        assert relaxed(verb, A if verb is mxv else A.T, operand(x, dtype, sparse=sparse), name) == expected


@integer_types
def test_matrix_products_and_sums_saturate(dtype):
    info = np.iinfo(dtype)
    A = sts.Entries((2, 2), dtype, {(0, 0): info.max - 1, (0, 1): info.max, (1, 0): info.min, (1, 1): -3}).build(CSR)
    C = mxm(A, A, MinPlus)
    assert (0, 0) not in C, "a sum that saturates is the zero, and the zero is not stored"
    assert C[1, 0] == info.min
    P = mxm(A, A, PlusTimes)
    exact = A.to_dense().astype(object) @ A.to_dense().astype(object)
    assert P.to_dense().tolist() == [[clamped(value, dtype) for value in row] for row in exact.tolist()]
    assert ewise_add(A, A, "plus").to_dense().tolist() == [[info.max, info.max], [info.min, -6]]
    assert reduce(A, "plus") == clamped(sum(A.values.tolist()), dtype)
    assert reduce(np.array([info.max, info.max, info.min], dtype), "plus") == info.max - 1
    assert reduce(np.array([info.max, 2], dtype), "times") == info.max


# --- the operators themselves -----------------------------------------------------------------------------------------

EXACT = {"plus": lambda a, b: a + b, "minus": lambda a, b: a - b, "times": lambda a, b: a * b}
compiled = {name: numba.njit(OPERATORS[name].saturating.scalar) for name in EXACT}


def integers(dtype: np.dtype):
    info = np.iinfo(dtype)
    root = int(info.max**0.5)
    near = st.sampled_from([info.min, info.max, 0, root, -root]).flatmap(lambda x: st.integers(x - 3, x + 3))
    return (near | st.integers(info.min, info.max)).map(lambda x: clamped(x, dtype))


@pytest.mark.parametrize("name", list(EXACT))
@given(a=integers(sts.INT64), b=integers(sts.INT64))
def test_int64_operators_saturate_in_scalar_and_array_form(name, a, b):
    expected = clamped(EXACT[name](a, b), sts.INT64)
    assert compiled[name](np.int64(a), np.int64(b)) == expected
    assert OPERATORS[name](np.array([a]), np.array([b])).tolist() == [expected]
    assert OPERATORS[name](np.int64(a), np.int64(b)) == expected


@pytest.mark.parametrize("name", list(EXACT))
@given(a=integers(sts.INT32), b=integers(sts.INT32))
def test_int32_operators_saturate(name, a, b):
    result = OPERATORS[name](np.array([a], np.int32), np.array([b], np.int32))
    assert result.dtype == np.int32
    assert result.tolist() == [clamped(EXACT[name](a, b), sts.INT32)]


@pytest.mark.parametrize("name", list(EXACT))
@given(a=integers(sts.INT64), b=integers(sts.INT64), width=st.integers(0, 5))
def test_bounds_hold_every_exact_result(name, a, b, width):
    bounds = OPERATORS[name].saturating.bounds((a, a + width), (b, b + width))
    results = [EXACT[name](a + i, b + j) for i in range(width + 1) for j in range(width + 1)]
    assert (min(results), max(results)) == bounds
