"""Semirings and operators of python-graphblas, given where ours are named: what it ships is ours of that name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from algorithms import bellman_ford
from formats import CSR, from_edges
from semiring import apply, ewise_add, ewise_mult, mxm, mxv, reduce, select

gb: Any = pytest.importorskip("graphblas", exc_type=ImportError)

A3 = from_edges([0, 0, 1], [1, 2, 2], [5.0, 9.0, 3.0])
TAKEN = [
    (lambda A, s: mxv(A, np.arange(3.0), s), gb.semiring.min_plus, "min_plus"),
    (lambda A, s: mxv(A, np.arange(3.0), s), gb.semiring.max_min["FP64"], "max_min"),
    (lambda A, s: mxv(A, np.arange(3.0), s), gb.semiring.ss.any_secondi, "any_secondi"),
    (lambda A, s: mxm(A, A, s), gb.semiring.plus_pair, "plus_pair"),
    (lambda A, s: ewise_mult(A, A.astype("f4"), s), gb.semiring.min_plus, "min_plus"),
    (ewise_add, gb.monoid.max, "max"),
    (ewise_add, gb.binary.minus["FP64"], "minus"),
    (reduce, gb.monoid.max["FP64"], "max"),
    (reduce, gb.semiring.max_plus, "max_plus"),
    (apply, gb.unary.sqrt, "sqrt"),
    (lambda A, op: apply(A, op, right=2), gb.op.pow, "pow"),
    (lambda A, op: select(A, op, 1), gb.select.tril, "tril"),
    (lambda A, op: select(A, op, 4), gb.select.valuegt, ">"),
    (lambda A, op: select(A, op, 4), gb.binary.lt, "<"),
    (lambda A, op: mxv(A, np.arange(3.0), "min_plus", accum=op, out=np.arange(3.0)), gb.binary.min, "min"),
    (lambda A, s: bellman_ford(A, 0, s), gb.semiring.min_plus, "min_plus"),
]


@pytest.mark.parametrize(("call", "theirs", "name"), TAKEN, ids=lambda part: str(part) if hasattr(part, "name") else "")
def test_what_graphblas_ships_is_ours_of_that_name(call, theirs, name):
    first, second = (call(A3, A3, op) if call is ewise_add else call(A3, op) for op in (theirs, name))
    assert first.equals(second) if isinstance(first, CSR) else np.array_equal(first, second)


def anonymous(kind: str, *args: Any) -> Any:
    return getattr(gb.core.operator, kind).register_anonymous(*args)


def less(a, b):
    return a - b


@pytest.mark.parametrize(
    ("made", "call"),
    [
        (lambda: anonymous("BinaryOp", less, "plus"), lambda op: ewise_mult(A3, A3, op)),
        (lambda: anonymous("UnaryOp", lambda a: -a, "abs"), lambda op: apply(A3, op)),
        (
            lambda: anonymous("Semiring", gb.monoid.min, anonymous("BinaryOp", less, "plus"), "min_plus"),
            lambda op: mxv(A3, np.ones(3), op),
        ),
    ],
)
def test_what_users_make_with_graphblas_is_not_taken_for_ours_of_that_name(made, call):
    with pytest.raises(TypeError, match="got python-graphblas's .*, whose function is not known here"):
        call(made())


def test_an_error_says_whose_the_object_is():
    with pytest.raises(TypeError, match=r"expected a Semiring or its name, got formats\.storage\.compressed\.CSR"):
        mxv(A3, np.ones(3), A3)
    with pytest.raises(ValueError, match="unknown operator 'floordiv'"):
        apply(A3, gb.binary.floordiv, right=2)
    with pytest.raises(ValueError, match="unknown monoid 'sum'"):
        reduce(A3, gb.agg.sum)
