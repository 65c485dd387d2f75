"""Operators that have no result for some operands, and functions of one value: beside python-graphblas, and refused."""

from __future__ import annotations

import operator
from copy import copy
from typing import Any

import numpy as np
import pytest

from formats import CSR, SparseVector, from_edges
from semiring import (
    OPERATORS,
    SEMIRINGS,
    UNARY_OPERATORS,
    BinaryOp,
    MinPlus,
    Semiring,
    UnaryOp,
    apply,
    check_laws,
    ewise_add,
    ewise_mult,
    mxm,
    mxv,
)
from semiring.algebra.semirings import MONOIDS, find_semiring

from .strategies import FLOAT32, FLOAT64, INT32, INT64

pytestmark = pytest.mark.quick

INF = np.inf
ENDS = {INT32: np.iinfo(INT32), INT64: np.iinfo(INT64)}
STAY = ("signum", "floor", "ceil", "trunc")
"""What leaves integers as they are, where python-graphblas makes floats of them."""

THEIRS = {
    "div": ("cdiv", "truediv"),
    "rdiv": ("rfloordiv", "rtruediv"),
    "pow": ("pow", "pow"),
    "rminus": ("rminus",) * 2,
}


@pytest.mark.parametrize("name", UNARY_OPERATORS)
@pytest.mark.parametrize("dtype", [INT32, INT64, FLOAT32, FLOAT64], ids=str)
def test_functions_of_one_value_are_graphblass(name, dtype, gb):
    values = np.array([1, 2, 3, 5, 8] if dtype.kind == "i" else [0.25, 1, 1.5, 2, 7.75], dtype)
    theirs = gb.Vector.from_coo(range(5), values, dtype=dtype).apply(getattr(gb.unary, name)).new()
    ours = apply(values, name)
    assert ours.dtype == theirs.dtype.np_type or name in STAY
    np.testing.assert_allclose(ours, theirs.to_dense(), rtol=4 * np.finfo(np.float32).eps)


@pytest.mark.parametrize("name", ["div", "pow", "rminus"])
@pytest.mark.parametrize("dtype", [INT32, INT64, FLOAT64], ids=str)
def test_functions_of_two_values_are_graphblass(name, dtype, gb):
    a, b = (part.ravel() for part in np.meshgrid([-7, -2, -1, 0, 1, 2, 7], [-3, -1, 0, 1, 2, 3]))
    if dtype.kind == "f":
        a, b = (part[(a != 0) | (b > 0)] for part in (a, b))
    theirs = getattr(gb.binary, THEIRS[name][dtype.kind == "f"])
    u, v = (gb.Vector.from_coo(range(x.size), x, dtype=dtype) for x in (a, b))
    np.testing.assert_array_equal(
        ewise_mult(a.astype(dtype), b.astype(dtype), name), u.ewise_mult(v, theirs).new().to_dense()
    )


@pytest.mark.parametrize("dtype", [INT32, INT64], ids=str)
def test_division_of_integers_rounds_towards_zero_and_saturates(dtype):
    low, high = ENDS[dtype].min, ENDS[dtype].max
    a = np.array([7, -7, 7, -7, 0, low, low, high], dtype)
    b = np.array([2, 2, 0, 0, 0, -1, 0, -1], dtype)
    expected = [3, -3, high, low, 0, high, low, -high]
    assert ewise_mult(a, b, "div").tolist() == ewise_mult(b, a, "rdiv").tolist() == expected
    assert ewise_mult(a, b, "div").dtype == dtype
    assert apply(np.array([0, 1, -1, 5], dtype), "minv").tolist() == [high, 1, -1, 0]


@pytest.mark.parametrize("dtype", [INT32, INT64], ids=str)
def test_powers_of_integers_are_exact_and_saturate(dtype):
    low, high = ENDS[dtype].min, ENDS[dtype].max
    bits = 8 * dtype.itemsize - 1
    cases = [(3, 4, 81), (-3, 3, -27), (0, 0, 1), (2, bits, high), (-2, bits, low), (10, 40, high), (-10, 41, low)]
    cases += [(0, -1, high), (2, -1, 0), (1, -5, 1), (-1, -5, -1), (-1, -4, 1), (-1, high, -1), (3, 18, 387420489)]
    a, b, expected = (np.array(part, dtype) for part in zip(*cases, strict=True))
    np.testing.assert_array_equal(ewise_mult(a, b, "pow"), expected)
    assert apply(np.array([2, 3], dtype), "**", right=3).tolist() == [8, 27]


def matrix(values):
    return from_edges([0, 1], [1, 0], np.array(values))


@pytest.mark.parametrize(
    "call",
    [
        lambda: ewise_mult(np.array([1.0, 0.0]), np.array([2.0, 0.0]), "div"),
        lambda: ewise_add(SparseVector([1], [0.0], 3), SparseVector([1], [0.0], 3), "rdiv"),
        lambda: ewise_mult(matrix([1.0, INF]), matrix([2.0, INF]), "div"),
        lambda: ewise_add(matrix([1.0, -8.0]), matrix([2.0, 0.5]), "pow"),
        lambda: apply(matrix([1.0, -1.0]), "sqrt"),
        lambda: apply(matrix([1.0, 0.0]), "div", left=0.0),
        lambda: apply(np.array([-1.0]), "log"),
    ],
)
def test_what_has_no_result_is_refused(call):
    with pytest.raises(ValueError, match="NaN"):
        call()


def test_nothing_is_written_if_an_accumulator_has_no_result():
    out, A = matrix([1.0, 0.0]), matrix([1.0, 0.0])
    with pytest.raises(ValueError, match="div has no result for some of the operands: it must not be NaN"):
        apply(A, "identity", accum="div", out=out)
    assert out.values.tolist() == [1.0, 0.0]


def test_absent_elements_are_not_divided():
    u, v = np.array([INF, 6.0, INF]), np.array([INF, 2.0, 4.0])
    assert ewise_mult(u, v, "min_div").tolist() == [INF, 3.0, INF]


@pytest.mark.parametrize("fmt", [CSR, "coo", "ell"])
def test_a_product_without_a_result_is_absent_where_values_are_chosen(fmt):
    A = from_edges([0, 0, 1], [0, 1, 1], [0.0, 6.0, 0.0]).to(fmt)
    x = np.array([0.0, 2.0])
    assert mxv(A, x, "min_div").tolist() == [3.0, 0.0]
    assert mxv(A, np.array([0.0, 0.0]), "max_div").tolist() == [INF, -INF]
    assert mxm(A, A, "min_div").to_dense(INF).tolist() == [[INF, 0.0], [INF, INF]]


@pytest.mark.parametrize("name", ["div", "rdiv", "pow"])
def test_booleans_are_refused(name):
    u = np.array([True])
    with pytest.raises(TypeError, match=f"{name} is not defined on bool"):
        ewise_mult(u, u, name)
    with pytest.raises(TypeError, match=f"{name} is not defined on bool, and lor on nothing else"):
        find_semiring(f"lor_{name}")
    assert np.dtype(bool) not in Semiring(MONOIDS["any"], OPERATORS[name]).dtypes


def test_functions_of_reals_take_no_booleans():
    with pytest.raises(TypeError, match="float16"):
        apply(np.array([True]), "sqrt")


def test_laws_of_a_turned_difference():
    assert check_laws("min_rminus", "int32")
    assert check_laws("max_rminus", "float64")
    assert check_laws(Semiring(MONOIDS["max"], OPERATORS["div"], domain=(1, INF)), "float64")


def test_symbols_name_operators():
    six = np.array([6.0])
    for symbol, function in (("/", operator.truediv), ("**", operator.pow)):
        assert ewise_mult(six, np.array([2.0]), symbol) == function(6.0, 2.0)
    assert mxv(matrix([6.0, 3.0]), np.array([1.0, 2.0]), MinPlus).tolist() == [8.0, 4.0]


@pytest.mark.long
def test_a_product_with_a_dense_operand_is_that_with_each_column():
    A = from_edges([0, 0, 1], [0, 1, 1], [0.0, 6.0, 0.0])
    X = np.array([[0.0, 2.0, INF], [4.0, 0.0, 3.0]])
    for name in ("min_div", "max_rdiv", "plus_rminus", "max_pow"):
        for typed in (np.int32, np.int64, np.float64):
            M, Y = A.astype(typed), (X[:, :2] if typed is not np.float64 else X).astype(typed)
            columns = np.stack([mxv(M, Y[:, j].copy(), name) for j in range(Y.shape[1])], axis=1)
            np.testing.assert_array_equal(mxm(M, Y, name), columns)
    y, k = mxv(A, np.array([0.0, 2.0]), "min_div", return_argument=True)
    assert (y.tolist(), k.tolist()) == ([3.0, 0.0], [1, 1])


def test_a_product_of_scalars_without_a_result_is_absent_as_in_the_verbs():
    for name, a, b in (("min_div", 0.0, 0.0), ("max_times", 0.0, INF), ("min_pow", -1.0, 0.5)):
        s = find_semiring(name)
        assert s.product(np.float64(a), np.float64(b)) == s.zero(FLOAT64)
        assert s.product(np.float64(6.0), np.float64(2.0)) == s.mul(6.0, 2.0)
    assert find_semiring("min_div").product(np.int32(7), np.int32(0)) == ENDS[INT32].max
    ratio = BinaryOp("ratio", scalar=lambda a, b: a / b)
    assert Semiring(MONOIDS["min"], ratio).product(np.float32(1), np.float32(0)) == INF


def test_tables_tell_the_names_they_have():
    for table, wrong, right in (
        (MONOIDS, "mni", r"unknown monoid 'mni'; did you mean 'min'\? there are min, max,"),
        (OPERATORS, "plsu", r"unknown operator 'plsu'; did you mean 'plus'\? there are plus, minus"),
        (UNARY_OPERATORS, "sqr", r"unknown unary operator 'sqr'; did you mean 'sqrt'\?"),
        (SEMIRINGS, "xyz", "unknown semiring 'xyz'; there are min_plus, max_plus"),
    ):
        with pytest.raises(KeyError, match=right):
            table[wrong]
        assert table.get(wrong) is None
        assert wrong not in table
    with pytest.raises(KeyError, match="unknown monoid"):
        copy(MONOIDS)["mni"]
    with pytest.raises(ValueError, match="did you mean 'plus'"):
        ewise_mult(np.ones(1), np.ones(1), "plsu")


def test_operators_are_made_of_functions():
    wrong: Any = 3
    for make, message in (
        (lambda: BinaryOp("x", scalar=wrong), r"scalar= of the operator 'x' must be a function of a and b, got 3"),
        (lambda: BinaryOp("x", max, array=wrong), r"array= of the operator 'x' must be a function of a and b, got 3"),
        (lambda: BinaryOp("x", max, cuda=wrong), r"cuda= of the operator 'x' must be an expression in a and b, got 3"),
        (lambda: UnaryOp("x", wrong, "a"), r"array= of the operator 'x' must be a function of a, got 3"),
        (lambda: UnaryOp("x", abs, wrong), r"cuda= of the operator 'x' must be an expression in a, got 3"),
    ):
        with pytest.raises(TypeError, match=message):
            make()
    with pytest.raises(ValueError, match="reads= of the operator 'x' must be 'ab', 'a', 'b' or '', got 'ba'"):
        BinaryOp("x", max, reads="ba")


@pytest.mark.parametrize("dtype", [FLOAT32, FLOAT64], ids=str)
def test_a_function_of_floats_and_a_number_of_python_is_as_wide_as_they_are(dtype):
    absdiff, x = BinaryOp("absdiff", scalar=lambda a, b: abs(a - b)), np.array([1, 4], dtype)
    assert [absdiff(x, 2.0).dtype, absdiff(2, x).dtype] == [dtype, dtype]
    assert absdiff(x, 2.0).tolist() == absdiff(2, x).tolist() == [1, 2]


def test_products_of_two_scalars_are_those_of_arrays():
    for op in OPERATORS.values():
        for dtype, ends in ENDS.items():
            x = np.array([ends.min, ends.min + 1, -5, 0, 1, 7, ends.max - 1, ends.max], dtype)
            a, b = (part.ravel() for part in np.meshgrid(x, x))
            with np.errstate(all="ignore"):
                expected = op.computed(a, b)
            found = [Semiring(MONOIDS["min"], op).product(*pair) for pair in zip(a, b, strict=True)]
            assert np.array_equal(expected, found), op


@pytest.mark.parametrize("s", SEMIRINGS.values(), ids=str)
def test_better_is_what_addition_prefers(s):
    for dtype in s.dtypes:
        x = np.array([0, 1, 1, 5, s.zero(dtype)], dtype)
        a, b = (part.ravel() for part in np.meshgrid(x, x))
        assert np.array_equal(s.better(a, b), (s.add(a, b) == a) & (a != b))


def test_an_operator_may_be_of_no_module():
    """As what `exec` defines without a name of the module: in templates, and some shells."""
    made = {}
    exec("times = lambda a, b: a * b", {}, made)
    assert made["times"].__module__ is None
    s = Semiring(MONOIDS["max"], BinaryOp("times_of_no_module", made["times"]))
    A = from_edges([0, 0], [0, 1], [2.0, 3.0], shape=2)
    assert mxv(A, np.array([5.0, 7.0]), s).tolist()[0] == 21.0
