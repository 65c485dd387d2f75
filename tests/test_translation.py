"""The CUDA expression that is made from an operator's scalar function."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from semiring import MONOIDS, BinaryOp, Semiring, better, no_worse
from semiring.algebra.codegen import prelude

from .test_codegen import compile_for

DTYPES = [np.dtype(name) for name in ("int32", "int64", "float32", "float64")]
THREE = 3


def stepwise(a: Any, b: Any) -> Any:
    """Of several statements."""
    gap = a - b
    if gap < 0:
        return -gap
    elif gap == THREE:
        return THREE * 2
    return gap + 1


def scaled(factor: Any) -> Any:
    return lambda a, b: factor * a + b


def remainder(a: Any, b: Any) -> Any:
    while b != 0:
        a, b = b, a % b
    return a


SCALARS: dict[str, Any] = {
    "absdiff": lambda a, b: abs(a - b),
    "least": lambda x, y: min(x, y, 3),
    "most": lambda x, y: max(x, y),
    "first": lambda a, b: a if a != 0 else b,
    "within": lambda a, b: a if -2 <= a < b and not b == 7 else b,
    "either": lambda a, b: a or b,
    "scaled": scaled(7),
    "scaled by a NumPy number": scaled(np.int64(7)),
    "scaled by half": scaled(np.float64(0.5)),
    "stepwise": stepwise,
}


def evaluated(text: str, a: Any, b: Any) -> Any:
    """A CUDA expression of numbers, read as Python."""

    def conditional(text: str) -> str:
        at = text.find(" ? ")
        if at < 0:
            return text
        begin = depth = at
        level = 0
        for begin in range(at, -1, -1):
            level += (text[begin] == ")") - (text[begin] == "(")
            if level < 0:
                break
        level = colon = 0
        for depth in range(at + 3, len(text)):
            level += (text[depth] == "(") - (text[depth] == ")")
            if text.startswith(" : ", depth) and level == 0 and not colon:
                colon = depth
            if level < 0:
                break
        test, then, other = text[begin + 1 : at], text[at + 3 : colon], text[colon + 3 : depth]
        return conditional(f"{text[:begin]}(({then}) if ({test}) else ({other})){text[depth + 1 :]}")

    for cuda, python in (
        ("(double)", ""),
        ("(long long)", ""),
        ("LL", ""),
        ("&&", "and"),
        ("||", "or"),
        ("(!", "(not "),
    ):
        text = text.replace(cuda, python)
    return eval(conditional(text), {"abs": abs, "a": a, "b": b})


@pytest.mark.parametrize("name", SCALARS)
def test_the_expression_means_what_the_function_means(name):
    text = BinaryOp(name, SCALARS[name]).expression(DTYPES[0])
    for a in range(-4, 9):
        for b in range(-4, 9):
            assert evaluated(text, a, b) == SCALARS[name](a, b), (text, a, b)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_expression_compiles(dtype):
    for name, scalar in SCALARS.items():
        assert (
            compile_for("compute_90", prelude(Semiring(MONOIDS["min"], BinaryOp(name, scalar)), dtype, DTYPES[0])) == ""
        )


def test_one_of_several_lambdas_in_a_line_is_told_from_the_others():
    both = (lambda a, b: a - b, lambda a, b: b - a)
    assert [BinaryOp("less", each).expression(DTYPES[0]) for each in both] == ["(a - b)", "(b - a)"]


def test_an_integer_constant_is_as_wide_as_numba_makes_it():
    op = BinaryOp("next", lambda a, b: a + 1)
    assert op.expression(np.dtype(np.float32)) == "(a + ((double)1LL))"
    assert op.expression(np.dtype(np.int64)) == "(a + ((long long)1LL))"


@pytest.mark.parametrize(
    ("scalar", "why"),
    [
        (lambda a, b: a / b, "it has the expression 'a / b'"),
        (lambda a, b: math.hypot(a, b), "it has the expression 'math.hypot"),
        (lambda a, b: abs(a, b), "it has the expression 'abs"),
        (lambda a, b: ~(a < b), "it has the expression '~"),
        (scaled(np.float32(0.1)), "'factor' is no argument and no number"),
        (remainder, "it has the statement 'while b != 0:'"),
        (lambda a, b: a + 2**64, "it has the expression '2 [*][*] 64'|18446744073709551616 does not fit 64 bits"),
        (lambda a: a, "it does not take two arguments"),
        (min, "its source cannot be read"),
        (eval("lambda a, b: a"), "its source cannot be"),
    ],
)
def test_what_cannot_be_said_in_cuda_needs_an_expression(scalar, why):
    with pytest.raises(ValueError, match=f"the operator 'odd' needs cuda=, a CUDA expression in a and b, .*{why}"):
        BinaryOp("odd", scalar).expression(DTYPES[0])


def test_the_order_of_a_monoid_that_has_no_expression_can_still_be_used_on_the_cpu():
    from semiring import Monoid

    odd = Semiring(Monoid(BinaryOp("odd", remainder), 0, selective=True), BinaryOp("sum", lambda a, b: a + b))
    assert better(odd).cuda is no_worse(odd).cuda is None
