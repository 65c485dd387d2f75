"""Every product in every format, semiring and dtype against the dense reference, and against the other formats.

Every cell of the verb tables runs; integers and idempotent semirings must agree exactly, floating sums closely.
"""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formats import CSR, Matrix, SparseVector
from semiring import SEMIRINGS, MinPlus, PlusTimes, Semiring, mxv, vxm

from . import reference
from . import strategies as sts
from .conftest import Backend
from .reference import DenseReference
from .strategies import moved

ALL = sts.SHIPPED + sts.USER_MADE + sts.PARTIAL


def shares(fmt: type[Matrix]) -> list[tuple[Semiring, np.dtype]]:
    """What a format is tested on: CSR on ALL, another one on every semiring and every dtype, in one pair of a semiring,
    and on one of the operators without a result for some operands.

    Min-plus and plus-times are tested on every dtype. Of the rest, formats take the dtypes in turns: their loops are
    made of the same terms, and to compile them is most of what these tests do.
    """
    if fmt is CSR:
        return ALL
    own = sts.FORMATS.index(fmt)
    in_turns = [
        (semiring, dtype)
        for k, semiring in enumerate(SEMIRINGS.values())
        for j, dtype in enumerate(semiring.dtypes)
        if semiring in (MinPlus, PlusTimes) or j == (k + own) % len(semiring.dtypes)
    ]
    return in_turns + sts.USER_MADE + [sts.PARTIAL[own % len(sts.PARTIAL)]]


def product_cells() -> list[Any]:
    """(verb, fmt, semiring, dtype, backend) for every cell of products, and what its format is tested on."""
    return [
        Backend(backend).param(verb, fmt, semiring, dtype, name=f"{verb.name}-{fmt.__name__}-{semiring.name}-{dtype}")
        for verb in (mxv, vxm)
        for fmt, backend in verb.table
        for semiring, dtype in shares(fmt)
    ]


@pytest.fixture(autouse=True, scope="module")
def _with_reference():
    with reference.registered():
        yield


def multiply(verb: Any, A: Any, x: Any, *rest: Any, **rule: Any) -> Any:
    return verb(A, x, *rest, **rule) if verb is mxv else verb(x, A, *rest, **rule)


def dense(y: Any, semiring: Semiring) -> np.ndarray:
    """The result as an array, with the semiring's zero for absent."""
    return y.to_dense(semiring.zero(y.dtype)) if isinstance(y, SparseVector) else y


def assert_same(actual: Any, expected: np.ndarray, semiring: Semiring, *context: Any) -> None:
    """Equal to the last bit; within rounding for a floating sum. The context is put into words only on failure."""
    y = dense(moved(actual, "cpu"), semiring)
    summed = semiring.add.name == "plus" and expected.dtype.kind == "f"
    same = np.allclose(y, expected, rtol=1e-6, atol=0) if summed else np.array_equal(y, expected)
    if not same or y.dtype != expected.dtype:
        told = "; ".join(described(part) for part in context)
        pytest.fail(f"{semiring.name}: {told}\nactual    {y} {y.dtype}\nexpected  {expected} {expected.dtype}")


def write_rules(semiring: Semiring, dtype: np.dtype, size: int) -> list[dict[str, Any]]:
    """Every combination of mask, complement, accumulator, replace and out, as keyword arguments."""
    by_value = np.arange(size) % 3 != 1
    stored = SparseVector(np.arange(0, size, 2), np.arange(0, size, 2) % 3 != 2, size)
    masks: list[dict[str, Any]] = [{}, {"mask": by_value}, {"mask": stored}]
    masks += [mask | {"complement": True} for mask in masks[1:]]
    outs = [sts.rich_vector(semiring, dtype, size, sparse=sparse, shift=4) for sparse in (False, True)]
    accums = [None, semiring.add, "second" if dtype == sts.BOOL else "max"]
    rules = list(masks)
    for mask, out, accum, replace in product(masks, outs, accums, (False, True)):
        rules.append(mask | {"out": out, "accum": accum, "replace": replace})
    return rules


def described(part: Any) -> str:
    if isinstance(part, dict):
        return ", ".join(f"{name}={described(value)}" for name, value in part.items())
    return f"{part} {part.indices} {part.values}" if isinstance(part, SparseVector) else str(part)


def fresh(rule: dict[str, Any], backend: str) -> dict[str, Any]:
    """The rule with masks and an `out` of its own on the backend's device."""
    own = dict(rule)
    if (out := rule.get("out")) is not None:
        copied = SparseVector(out.indices, out.values, out.size) if isinstance(out, SparseVector) else out.copy()
        own["out"] = moved(copied, backend)
    if "mask" in rule:
        own["mask"] = moved(rule["mask"], backend)
    return own


@cache
def answers(
    verb: Any, semiring: Semiring, dtype: np.dtype, transposed: bool, sparse: bool
) -> tuple[Any, list[tuple[dict[str, Any], np.ndarray]]]:
    """(x, the reference's answer by every rule) for the rich matrix, whatever format that is in."""
    D = DenseReference.of(sts.rich_matrix(semiring, dtype).build(CSR))
    D = D.T if transposed else D
    size, result_size = D.shape if verb is vxm else D.shape[::-1]
    x = sts.rich_vector(semiring, dtype, size, sparse=sparse)
    rules = write_rules(semiring, dtype, result_size)
    rules = rules[:5] if transposed else rules  # of a transpose, the masks are enough
    return x, [(rule, multiply(verb, D, x, semiring, **rule)) for rule in rules]


def test_every_format_is_tested_on_every_semiring_and_dtype_and_each_pair_in_some_format():
    most = sts.SHIPPED + sts.USER_MADE
    for fmt in sts.FORMATS:
        semirings, dtypes = zip(*shares(fmt), strict=True)
        assert set(semirings) >= {semiring for semiring, _ in most}
        assert set(dtypes) == {dtype for _, dtype in most}
    others = [shares(fmt) for fmt in sts.FORMATS if fmt is not CSR]
    assert {pair for own in others for pair in own} == {*ALL}


@pytest.mark.parametrize(("verb", "fmt", "semiring", "dtype", "backend"), product_cells())
def test_product_under_every_write_rule(verb, fmt, semiring, dtype, backend):
    entries = sts.rich_matrix(semiring, dtype)
    for transposed, sparse in product((False, True), (False, True)):
        A = entries.build(fmt).to(device=backend)
        A = A.T if transposed else A
        if (type(A), backend) not in verb.table:
            continue
        x, expected_by_rule = answers(verb, semiring, dtype, transposed, sparse)
        if fmt is not CSR:  # a rule is applied by code that all formats share: the masks, and some of the others
            expected_by_rule = expected_by_rule[:5] + expected_by_rule[5::11]
        for rule, expected in expected_by_rule:
            own = fresh(rule, backend)
            actual = multiply(verb, A, moved(x, backend), semiring, **own)
            if "out" in own:
                assert actual is own["out"]
            else:
                assert isinstance(actual, SparseVector) == sparse
            assert_same(actual, expected, semiring, {"transposed": transposed, "x": x}, rule)


@pytest.mark.cells("mxv", "vxm")
@given(data=st.data())
@settings(max_examples=40)
def test_product_of_random_operands(verb, fmt, backend, data):
    semiring, dtype = data.draw(st.sampled_from([pair for pair in shares(fmt) if pair in sts.SHIPPED]))
    entries = data.draw(sts.matrices(semiring, dtype))
    A, D = entries.build(fmt).to(device=backend), DenseReference.of(entries.build(CSR))
    if data.draw(st.booleans(), label="transposed"):
        A, D = A.T, D.T
    size, result_size = A.shape if verb is vxm else A.shape[::-1]
    x = data.draw(sts.vectors(semiring, dtype, size))
    mask = data.draw(sts.masks(result_size))
    complement = mask is not None and data.draw(st.booleans(), label="complement")
    expected = multiply(verb, D, x, semiring, mask=mask, complement=complement)
    actual = multiply(verb, A, moved(x, backend), semiring, mask=moved(mask, backend), complement=complement)
    assert_same(actual, expected, semiring, f"{semiring.name} {dtype}")


@pytest.mark.cells("mxv", "vxm")
@given(data=st.data())
@settings(max_examples=25)
def test_product_of_mixed_dtypes(verb, fmt, backend, data):
    semiring = data.draw(st.sampled_from([s for s, _ in sts.SHIPPED]))
    from_matrix, from_vector = (data.draw(st.sampled_from(semiring.dtypes)) for _ in range(2))
    matrix_dtypes = (sts.BOOL, sts.INT32, sts.FLOAT64) if semiring.dtypes == (sts.BOOL,) else (from_matrix,)
    entries = data.draw(sts.matrices(semiring, from_matrix))
    entries = entries.with_dtype(data.draw(st.sampled_from(matrix_dtypes)))
    A, D = entries.build(fmt).to(device=backend), DenseReference.of(entries.build(CSR))
    x = data.draw(sts.vectors(semiring, from_vector, A.nrows if verb is vxm else A.ncols))
    expected = multiply(verb, D, x, semiring)
    actual = multiply(verb, A, moved(x, backend), semiring)
    assert expected.dtype == (sts.BOOL if semiring.dtypes == (sts.BOOL,) else np.result_type(from_matrix, from_vector))
    assert_same(actual, expected, semiring, f"{semiring.name}: {entries.dtype} and {from_vector}")


def matrix_rules(semiring: Semiring, dtype: np.dtype, shape: tuple[int, int]) -> list[dict[str, Any]]:
    by_value = np.add.outer(np.arange(shape[0]), np.arange(shape[1])) % 3 != 1
    other = sts.Entries(shape, dtype, {(i, j): 0 for i in range(shape[0]) for j in range(i % 2, shape[1], 2)})
    masks: list[dict[str, Any]] = [{}, {"mask": by_value}, {"mask": other.build(CSR)}]
    masks += [mask | {"complement": True} for mask in masks[1:]]
    out = sts.Entries(shape, dtype, {(i, i): sts.small_numbers(dtype)[-1] for i in range(min(shape))}).build(CSR)
    accums = [None, semiring.add]
    rules = list(masks)
    for mask, accum, replace in product(masks, accums, (False, True)):
        rules.append(mask | {"out": out, "accum": accum, "replace": replace})
    return rules


@pytest.mark.parametrize(("semiring", "dtype"), ALL, ids=sts.ids(ALL))
@pytest.mark.cells("mxm")
def test_matrix_product_under_every_write_rule(verb, fmt, backend, semiring, dtype):
    entries = sts.rich_matrix(semiring, dtype)
    A, D = entries.build(fmt).to(device=backend), DenseReference.of(entries.build(CSR))
    B = entries.build(CSR).T.to(fmt).to(device=backend)
    zero = semiring.zero(dtype)
    for rule in matrix_rules(semiring, dtype, (7, 7)):
        expected = verb(D, D.T, semiring, **rule)
        own = {name: moved(value, backend) for name, value in rule.items()}
        if "out" in rule:
            own["out"] = CSR(*rule["out"].components).to(device=backend)
        actual = verb(A, B, semiring, **own)
        assert ("out" not in own) or actual is own["out"]
        assert_same(actual.to(device="cpu").to_dense(zero), expected.to_dense(zero), semiring, rule)


@pytest.mark.cells("mxm")
@given(data=st.data())
@settings(max_examples=100)
def test_matrix_product_of_random_operands(verb, fmt, backend, data):
    semiring, dtype = data.draw(st.sampled_from(ALL))
    m, k, n = (data.draw(sts.sizes) for _ in range(3))
    left, right = (data.draw(sts.matrices(semiring, dtype, shape)) for shape in ((m, k), (k, n)))
    expected = verb(*(DenseReference.of(part.build(CSR)) for part in (left, right)), semiring)
    actual = verb(*(part.build(fmt).to(device=backend) for part in (left, right)), semiring).to(device="cpu")
    actual.check()
    zero = semiring.zero(dtype)
    assert not (actual.values == zero).any(), "entries equal to the zero are not stored"
    assert_same(actual.to_dense(zero), expected.to_dense(zero), semiring, f"{semiring.name} {dtype}")


@pytest.mark.parametrize("verb", [mxv, vxm])
@pytest.mark.parametrize(("semiring", "dtype"), ALL, ids=sts.ids(ALL))
def test_formats_agree_on_a_larger_matrix(verb, semiring, dtype):
    """Bit for bit, on 60×60 with 500 entries: more than one thread's or one vector register's worth of a row."""
    rng = np.random.default_rng(5)
    numbers = sts.numbers(semiring, dtype)
    at = {(int(i), int(j)): numbers[rng.integers(len(numbers))] for i, j in rng.integers(0, 60, (500, 2))}
    entries = sts.Entries((60, 60), dtype, at)
    formats = [fmt for fmt, backend in verb.table if backend == "cpu" and fmt in sts.FORMATS]
    formats = [fmt for fmt in formats if (semiring, dtype) in shares(fmt)]
    for sparse in (False, True):
        x = sts.rich_vector(semiring, dtype, 60, sparse=sparse)
        results = {fmt: dense(multiply(verb, entries.build(fmt), x, semiring), semiring) for fmt in formats}
        for fmt in formats:
            assert_same(results[fmt], results[CSR], semiring, f"{fmt.__name__} and CSR, sparse={sparse}")


@pytest.mark.parametrize("semiring", ["any_first", "any_second"])
@pytest.mark.cells("mxv", "vxm")
def test_any_takes_the_term_of_the_smallest_index(verb, fmt, backend, semiring):
    """Of the first column that a row has, or the first row that a column has, whatever the storage's order."""
    rng = np.random.default_rng(3)
    at = {(int(i), int(j)): int(rng.integers(1, 100)) for i, j in rng.integers(0, 40, (300, 2))}
    entries = sts.Entries((40, 40), sts.INT32, at)
    x = rng.integers(1, 100, 40).astype(np.int32)
    expected = np.zeros(40, np.int32)
    for (i, j), a in sorted(at.items(), reverse=True):
        to, k = (i, j) if verb is mxv else (j, i)
        first, second = (a, int(x[k])) if verb is mxv else (int(x[k]), a)
        expected[to] = first if semiring == "any_first" else second
    A = entries.build(fmt).to(device=backend)
    actual = multiply(verb, A, moved(x, backend), semiring)
    assert np.array_equal(moved(actual, "cpu"), expected)
    actual = multiply(verb, A.T.to(fmt, **sts.OPTIONS.get(fmt, {})).T, moved(x, backend), semiring)
    assert np.array_equal(moved(actual, "cpu"), expected)
