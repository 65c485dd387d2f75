"""`check_laws` finds what is wrong with a declaration, and nothing where it is right."""

from __future__ import annotations

import math

import numpy as np
import pytest

from algorithms import bellman_ford
from formats import from_edges
from semiring import MONOIDS, OPERATORS, SEMIRINGS, BinaryOp, Law, Monoid, Semiring, check_laws, explain
from semiring.algebra.laws import first_broken_law
from semiring.algebra.semirings import find_semiring

from . import strategies as sts

NAMED = [
    f"{add}_{mul}" for add in MONOIDS for mul in ("plus", "minus", "times", "min", "max", "first", "second", "pair")
]
BOOLEAN = [f"{add}_{mul}" for add in ("lor", "land") for mul in ("lor", "land", "first", "second", "pair")]


@pytest.mark.parametrize("name", [*NAMED, *BOOLEAN])
def test_every_law_that_is_known_of_a_named_semiring_holds(name):
    s = find_semiring(name)
    for dtype in s.dtypes if name in SEMIRINGS or s.domain else s.dtypes[::-1][:2]:
        if not (dtype.kind == "b" and name.endswith("minus")):
            assert check_laws(s, dtype).counterexamples == {}


@pytest.mark.parametrize("name", [*NAMED, *BOOLEAN])
def test_no_law_of_paths_that_holds_is_left_undeclared(name):
    """A semiring with an order, a unit other than its zero and distributive laws serves for paths."""
    s = find_semiring(name)
    dtype = s.dtypes[-1]
    if not s.add.selective or s.add.terminal and name not in BOOLEAN:
        return
    for one in (0, 1, "lowest", "highest"):
        whole = Semiring(s.add, s.mul, (dtype,), one, {Law.UNIT, Law.DISTRIBUTES_LEFT, Law.DISTRIBUTES_RIGHT}, s.domain)
        if whole.unit(dtype) != s.zero(dtype) and check_laws(whole, dtype):
            assert s.one is not None, (name, one)
            assert s.unit(dtype) == whole.unit(dtype)


@pytest.mark.parametrize(("semiring", "dtype"), sts.USER_MADE, ids=sts.ids(sts.USER_MADE))
def test_semirings_that_promise_nothing_are_told_of_their_monoid_alone(semiring, dtype):
    found = check_laws(Semiring(semiring.add, semiring.mul), dtype)
    allowed = {"a ⊕ zero = a = zero ⊕ a", "a ⊕ a = a"} if semiring.add is sts.Gcd else set()  # on naturals alone
    assert set(found.counterexamples) <= allowed


def test_each_false_law_has_its_first_counterexample():
    s = Semiring(MONOIDS["min"], BinaryOp("less", lambda a, b: a - b), one=0, laws=set(Law))
    found = check_laws(s, "int32")
    assert not found
    assert set(found.counterexamples) >= {Law.DISTRIBUTES_LEFT, Law.ASSOCIATIVE, Law.COMMUTATIVE, Law.UNIT}
    assert Law.DISTRIBUTES_RIGHT not in found.counterexamples
    a, b, c = found.counterexamples[Law.DISTRIBUTES_LEFT]
    assert a - min(b, c) != min(a - b, a - c)
    assert "a ⊗ b = b ⊗ a: not for a = " in str(found)


@pytest.mark.parametrize(
    ("monoid", "law"),
    [
        (Monoid(OPERATORS["max"], 0), "a ⊕ zero = a = zero ⊕ a"),
        (Monoid(OPERATORS["minus"], 0), "a ⊕ b = b ⊕ a"),
        (Monoid(OPERATORS["plus"], 0, idempotent=True), Law.IDEMPOTENT),
        (Monoid(OPERATORS["plus"], 0, selective=True), Law.SELECTIVE),
        (Monoid(OPERATORS["min"], "highest", terminal=True), "a ⊕ b = a, as ⊕ is terminal"),
    ],
)
def test_a_monoid_that_is_none_is_told(monoid, law):
    assert law in check_laws(Semiring(monoid, OPERATORS["second"]), "float32").counterexamples


def test_it_takes_a_name_and_refuses_a_dtype_that_the_semiring_has_not():
    assert check_laws("max_times", np.float64)
    with pytest.raises(TypeError, match="lor_land is not defined on int32; it is on bool"):
        check_laws("lor_land", "int32")


LogPlus = Semiring(
    Monoid(BinaryOp("logaddexp", lambda a, b: max(a, b) + math.log1p(math.exp(-abs(a - b)))), "lowest"),
    OPERATORS["plus"],
    one=0,
    laws={Law.DISTRIBUTES_LEFT, Law.DISTRIBUTES_RIGHT, Law.ASSOCIATIVE, Law.COMMUTATIVE, Law.UNIT},
)


def test_a_tolerance_is_for_laws_that_hold_but_for_rounding():
    """Near a sum of 0 the rounding of logarithms is many units in the last place."""
    assert not check_laws(LogPlus, "float64")
    assert check_laws(LogPlus, "float64", rtol=1e-12, atol=1e-12)
    assert check_laws(LogPlus, "float32", atol=1e-4)
    assert not check_laws(LogPlus, "float32", rtol=np.float32(1e-7))


def test_a_tolerance_hides_no_law_that_is_broken():
    wrong = Semiring(MONOIDS["min"], BinaryOp("less", lambda a, b: a - b), one=0, laws=set(Law))
    assert Law.COMMUTATIVE in check_laws(wrong, "float64", rtol=1e-3, atol=1e-3).counterexamples
    lost = Semiring(MONOIDS["min"], BinaryOp("inf", lambda a, b: a + b + math.inf), one=0, laws={Law.UNIT})
    assert Law.UNIT in check_laws(lost, "float64", rtol=0.5, atol=9).counterexamples


@pytest.mark.parametrize(
    ("dtype", "how", "error", "message"),
    [
        ("float64", {"rtol": -1e-9}, ValueError, "rtol must be finite and not negative, got -1e-09"),
        ("float64", {"atol": math.inf}, ValueError, "atol must be finite"),
        ("float64", {"atol": math.nan}, ValueError, "atol must be finite"),
        ("float64", {"rtol": "1e-9"}, TypeError, "rtol must be a number, got '1e-9'"),
        ("float64", {"atol": None}, TypeError, "atol must be a number, got None"),
        ("float64", {"atol": True}, TypeError, "atol must be a number, got True"),
        ("int32", {"atol": 1}, ValueError, "atol is for floats: values of int32 are exact, got 1"),
    ],
)
def test_a_tolerance_is_checked(dtype, how, error, message):
    with pytest.raises(error, match=message):
        check_laws("min_plus", dtype, **how)


def test_without_a_gpu_it_says_that_the_cuda_expression_was_not_checked():
    wrong = Semiring(MONOIDS["min"], BinaryOp("sum", lambda a, b: a + b, cuda="a - b"))
    found = check_laws(wrong, "int32")
    if "was not checked" in found.cuda:
        assert found
        assert str(found).endswith(found.cuda)
    else:
        assert "the cuda= of ⊗ means what its scalar= means" in found.counterexamples


@pytest.mark.backend("cuda")
@pytest.mark.parametrize(("semiring", "dtype"), sts.USER_MADE, ids=sts.ids(sts.USER_MADE))
def test_cuda_expressions_that_mean_the_same_are_the_same_on_a_gpu(semiring, dtype):
    found = check_laws(Semiring(semiring.add, semiring.mul), dtype)
    assert "compared on the GPU" in found.cuda
    assert not [law for law in found.counterexamples if "cuda" in law]


def test_explain_says_which_laws_a_fused_run_relies_on():
    A = from_edges([0, 1], [1, 2], [1.0, 2.0], shape=3)
    paths = Semiring(MONOIDS["min"], BinaryOp("sum", lambda a, b: a + b), one=0, laws=SEMIRINGS["min_plus"].laws)
    assert "laws: relied on as min_sum declares them: check_laws(min_sum, float64)" in str(
        explain(bellman_ford, A, 0, paths)
    )
    assert "check_laws" not in str(explain(bellman_ford, A, 0))


@pytest.mark.parametrize("dtype", SEMIRINGS["min_plus"].dtypes, ids=str)
def test_a_copy_of_min_plus_keeps_its_laws(dtype):
    copy = Semiring(MONOIDS["min"], BinaryOp("add", lambda a, b: a + b), one=0, laws=SEMIRINGS["min_plus"].laws)
    assert check_laws(copy, dtype).counterexamples == {}
    assert first_broken_law(copy, dtype) == ""


@pytest.mark.parametrize("scalar", [lambda a, b: b + 1 / a, lambda a, b: math.sqrt(a + b), lambda a, b: a**40 + b])
@pytest.mark.parametrize("dtype", ["int64", "float64"])
def test_an_operator_that_plain_python_refuses_for_some_numbers_is_tried_on_the_others(scalar, dtype):
    s = Semiring(MONOIDS["min"], BinaryOp("odd", scalar), one=1, laws={Law.DISTRIBUTES_RIGHT})
    assert first_broken_law(s, np.dtype(dtype)) in ("", str(Law.DISTRIBUTES_RIGHT), str(Law.UNIT))
