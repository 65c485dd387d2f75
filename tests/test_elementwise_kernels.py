"""Operators and predicates on CuPy arrays: their CUDA text compiles, and they compute what NumPy computes."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

from formats import DTYPES
from semiring import (
    OPERATORS,
    SEMIRINGS,
    AnyPair,
    BinaryOp,
    LorLand,
    Predicate,
    Semiring,
    better,
    differs,
    lost,
    nearer,
    tight,
    within,
)
from semiring.algebra.ops import UNARY_OPERATORS, UnaryOp
from semiring.algebra.predicates import PREDICATES, on_position
from semiring.cuda.elementwise import binary_text, predicate_text, unary_text

from .test_codegen import compile_for_h100

ABSDIFF = BinaryOp("absdiff", lambda a, b: abs(a - b), "a < b ? b - a : a - b")
BINARY = (*OPERATORS.values(), better(AnyPair), better(LorLand), ABSDIFF)
INT32, BOOL = np.dtype(np.int32), np.dtype(bool)


EXACT = ("identity", "ainv", "abs", "one", "minv", "lnot", "signum", "floor", "ceil", "trunc", "sqrt")
"""Unary operators with the same bits on every device. The others are a library's."""

every_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=str)
every_binary = pytest.mark.parametrize("op", BINARY, ids=lambda op: op.name)
every_binary_of_a_dtype = pytest.mark.parametrize(
    ("op", "dtype"),
    [
        pytest.param(op, dtype, id=f"{op.name}-{dtype}")
        for op in BINARY
        for dtype in DTYPES
        if not op.partial or dtype != BOOL
        if op is not ABSDIFF or dtype not in (np.int64, np.bool_)  # of the user's own, in int64, nothing is clamped
    ],
)
every_unary = pytest.mark.parametrize("op", UNARY_OPERATORS.values(), ids=lambda op: op.name)
of_semirings = pytest.mark.parametrize(
    ("semiring", "dtype", "make"),
    [
        pytest.param(s, dtype, make, id=f"{make.__name__}-{s.name}-{dtype}")
        for s in SEMIRINGS.values()
        for dtype in s.dtypes
        for make in (tight, nearer, lost)
    ],
)


def awkward(dtype: np.dtype) -> list[Any]:
    """Small values, and the ends of the range."""
    if dtype.kind == "b":
        return [False, True]
    if dtype.kind == "f":
        return [0, 1, 2, -3, 0.5, 1e30, np.inf]
    info = np.iinfo(dtype)
    return [0, 1, 2, 3, -1, -4, info.max, info.max - 1, info.min, info.min + 1, 2**30, -(2**30), 46341]


def pairs(dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
    """Every two awkward values."""
    a, b = zip(*product(awkward(dtype), repeat=2), strict=True)
    return np.array(a, dtype), np.array(b, dtype)


def outcome(compute: Callable[[], Any]) -> Any:
    """The result on the host, or the kind of error."""
    try:
        with np.errstate(all="ignore"):
            result = compute()
    except (TypeError, ValueError, OverflowError) as error:
        return type(error)
    return result.get() if hasattr(result, "get") else result


def same(there: Any, here: Any) -> bool:
    if isinstance(here, type) or isinstance(there, type):
        return bool(there is here)
    return there.dtype == here.dtype and np.array_equal(there, here, equal_nan=there.dtype.kind == "f")


def near(there: Any, here: Any) -> bool:
    """Are floats within a few units in the last place, as functions of a library are?"""
    if isinstance(here, type) or isinstance(there, type) or here.dtype.kind != "f":
        return same(there, here)
    few = 8 * np.finfo(here.dtype).eps
    return there.dtype == here.dtype and np.allclose(there, here, few, few, equal_nan=True)


@every_dtype
@every_binary
def test_binary_operator_compiles(op: BinaryOp, dtype: np.dtype) -> None:
    if not op.partial or dtype != BOOL:
        assert compile_for_h100(binary_text(op, dtype)) == ""


@every_dtype
@every_unary
def test_unary_operator_compiles(op: UnaryOp, dtype: np.dtype) -> None:
    result = outcome(lambda: op(np.ones(1, dtype)))
    if not isinstance(result, type) and result.dtype in DTYPES:  # some are not defined on Booleans
        assert compile_for_h100(unary_text(op, dtype)) == ""


@every_dtype
@pytest.mark.parametrize(
    "predicate",
    [*(on_position(name, k) for name in PREDICATES for k in (0, -2)), within, differs],
    ids=lambda predicate: predicate.name,
)
def test_predicate_without_a_semiring_compiles(predicate: Predicate, dtype: np.dtype) -> None:
    assert compile_for_h100(predicate_text(predicate.cuda, None, dtype, INT32)) == ""


@of_semirings
def test_predicate_of_a_semiring_compiles(semiring: Semiring, dtype: np.dtype, make: Any) -> None:
    predicate = make(semiring)
    assert compile_for_h100(predicate_text(predicate.cuda, predicate.semiring, dtype, INT32)) == ""


@pytest.mark.backend("cuda")
@every_binary_of_a_dtype
def test_binary_operator_computes_what_it_does_on_the_cpu(op: BinaryOp, dtype: np.dtype) -> None:
    import cupy

    a, b = pairs(dtype)
    there_a, there_b = cupy.asarray(a), cupy.asarray(b)
    alike, computed = near if op.name == "pow" else same, op.computed
    assert alike(outcome(lambda: computed(there_a, there_b)), outcome(lambda: computed(a, b)))
    if op.partial and dtype.kind == "f":
        assert outcome(lambda: op(there_a, there_b)) is outcome(lambda: op(a, b)) is ValueError
    for scalar in (awkward(dtype)[-1], dtype.type(1)):
        for there, here in ((there_a, a), (there_b, b)):
            assert alike(outcome(lambda: computed(there, scalar)), outcome(lambda: computed(here, scalar)))  # noqa: B023
            assert alike(outcome(lambda: computed(scalar, there)), outcome(lambda: computed(scalar, here)))  # noqa: B023


@pytest.mark.backend("cuda")
@every_dtype
@every_unary
def test_unary_operator_computes_what_it_does_on_the_cpu(op: UnaryOp, dtype: np.dtype) -> None:
    import cupy

    a = np.array(awkward(dtype), dtype)
    here, there = outcome(lambda: op(a)), outcome(lambda: op(cupy.asarray(a)))
    if not isinstance(here, type) and here.dtype not in DTYPES:
        here = TypeError  # which `apply` says of a result of float16
    assert (same if op.name in EXACT else near)(there, here)


@pytest.mark.backend("cuda")
@of_semirings
def test_predicate_computes_what_it_does_on_the_cpu(semiring: Semiring, dtype: np.dtype, make: Any) -> None:
    import cupy

    row, value, col = (np.array(part, dtype) for part in zip(*product(awkward(dtype), repeat=3), strict=True))
    i = np.arange(row.size, dtype=np.int32)
    with np.errstate(all="ignore"):
        here = make(semiring)(i, i, value, row, col)
    there = make(semiring)(*(cupy.asarray(part) for part in (i, i, value, row, col)))
    assert there.dtype == bool
    assert (there.get() == here).all()
