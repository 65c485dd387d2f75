"""The verbs other than products, on every cell of their tables, against the dense reference.

On vectors the reference stands in for the CPU's implementation, so that the same call runs twice.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formats import CSR, Matrix, SparseVector, from_edges
from formats.arrays import namespace
from semiring import MONOIDS, SEMIRINGS, MinPlus, PlusTimes, Vector, nearer, select, tight, transpose

from . import reference
from . import strategies as sts
from .reference import DenseReference
from .strategies import moved

DTYPES = [sts.INT32, sts.INT64, sts.FLOAT64]
OPERATORS = ["min_plus", "plus_times", "min_first", "max_min", "min", "plus", "minus", "second", "times", "pair"]
PARTIAL = ["div", "rdiv", "pow", "rminus"]


def as_dense(x: Any, fill: Any) -> np.ndarray:
    return x.to_dense(fill) if isinstance(x, SparseVector | Matrix) else np.asarray(x)


def copied(x: Any) -> Any:
    """An `out` of the same content that may be written."""
    if isinstance(x, SparseVector):
        return SparseVector(x.indices, x.values, x.size)
    return CSR(*x.components) if isinstance(x, Matrix) else x.copy()


def rules(size: Any, out: Any, accums: list[Any]) -> list[dict[str, Any]]:
    """The write rule's arguments in every combination, for a vector of `size` or a matrix of that shape."""
    by_value = np.arange(np.prod(size)).reshape(size) % 3 != 1
    structure = np.flatnonzero(by_value.reshape(-1)[::-1])
    if isinstance(size, tuple):
        places = {divmod(int(key), size[1]): int(key) % 4 for key in structure}
        stored: Any = sts.Entries(size, sts.INT32, places).build(CSR)
    else:
        stored = SparseVector(structure, structure % 4, size)
    masks: list[dict[str, Any]] = [{}] + [
        {"mask": mask, "complement": complement} for mask in (by_value, stored) for complement in (False, True)
    ]
    written = [
        mask | {"out": out, "accum": accum, "replace": replace}
        for mask, accum, replace in product(masks, accums, (False, True))
    ]
    return masks + written


def check_vector_verb(
    verb: Any, backend: str, size: int, fill: Any, args: Any, rule: dict[str, Any], **options: Any
) -> None:
    """The verb on the backend and the reference in its place give one result, `fill` where it is absent."""
    with reference.registered(vectors=True):
        expected = verb(*args, **options, **rule)
    own = {name: moved(copied(x) if name == "out" else x, backend) for name, x in rule.items()}
    actual = verb(*(moved(x, backend) for x in args), **options, **own)
    assert own.get("out") is None or actual is own["out"]
    result = as_dense(moved(actual, "cpu"), fill)
    assert result.shape == (size,)
    np.testing.assert_array_equal(result, as_dense(expected, fill), err_msg=f"{args} {options} {rule}")


def vector_pairs(semiring: Any, dtype: np.dtype) -> list[tuple[Any, Any]]:
    kinds = product((False, True), repeat=2)
    return [
        tuple(sts.rich_vector(semiring, dtype, 9, sparse=sparse, shift=i) for i, sparse in enumerate(pair))
        for pair in kinds
    ]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("op", OPERATORS)
@pytest.mark.cells("ewise_add", "ewise_mult")
def test_elementwise_combination(verb, fmt, backend, op, dtype):
    check_elementwise(verb, fmt, backend, op, dtype)


@pytest.mark.parametrize(("op", "dtype"), [*zip(PARTIAL, [sts.INT32, sts.INT64] * 2, strict=True)])
@pytest.mark.cells("ewise_add", "ewise_mult")
def test_elementwise_combination_by_operators_that_round(verb, fmt, backend, op, dtype):
    check_elementwise(verb, fmt, backend, op, dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("op", ["lt", "==", "ne"])
@pytest.mark.cells("ewise_mult")
def test_elementwise_comparison(verb, fmt, backend, op, dtype):
    check_elementwise(verb, fmt, backend, op, dtype)


def check_elementwise(verb: Any, fmt: Any, backend: str, op: str, dtype: np.dtype) -> None:
    algebra = SEMIRINGS.get(op, PlusTimes if op in ("plus", "minus", "times") else MinPlus)
    zero = algebra.zero(dtype) if "_" in op else MONOIDS[op].zero(dtype) if op in MONOIDS and "add" in verb.name else 0
    result = sts.BOOL if op in ("lt", "==", "ne") else dtype
    if fmt is Vector:
        out = sts.rich_vector(PlusTimes, result, 9, sparse=False, shift=2)
        for pair in vector_pairs(algebra, dtype):
            for rule in rules(9, out, [None]):
                check_vector_verb(verb, backend, 9, zero, (*pair, op), rule)
        return
    left, right = sts.rich_matrix(algebra, dtype), sts.rich_matrix(algebra, dtype)
    right = sts.Entries(right.shape, dtype, {(i, (j + i) % 6): value for (i, j), value in right.at.items()})
    out = sts.Entries((7, 6), result, {(i, 5 - i): 1 for i in range(6)}).build(CSR)
    check_matrix_verb(verb, fmt, backend, (left, right), (op,), rules((7, 6), out, [None, "first"]), fill=zero)


def check_matrix_verb(
    verb: Any, fmt: Any, backend: str, operands: Any, args: Any, write_rules: Any, *, fill: Any = 0, **options: Any
) -> None:
    """The verb on a format and on the DenseReference give one matrix (or, by an axis, vector)."""
    with reference.registered():
        dense = [DenseReference.of(entries.build(CSR)) for entries in operands]
        expected = [verb(*dense, *args, **options, **rule) for rule in write_rules]
    for rule, wanted in zip(write_rules, expected, strict=True):
        own = {name: moved(copied(x) if name == "out" else x, backend) for name, x in rule.items()}
        actual = verb(*(M.build(fmt).to(device=backend) for M in operands), *args, **options, **own)
        assert own.get("out") is None or actual is own["out"]
        home = moved(actual, "cpu")
        if isinstance(home, Matrix):
            home.check()
            assert home.nnz == len({*zip(*(part.tolist() for part in home.to_edges()[:2]), strict=True)})
        np.testing.assert_array_equal(as_dense(home, fill), as_dense(wanted, fill), err_msg=f"{args} {options} {rule}")


@pytest.mark.parametrize(
    ("op", "options"),
    [
        ("ainv", {}),
        ("abs", {}),
        ("one", {}),
        (np.sign, {}),
        ("plus", {"right": 2}),
        ("minus", {"left": 1}),
        ("lt", {"right": 2}),
    ],
    ids=str,
)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.cells("apply")
def test_apply(verb, fmt, backend, op, options, dtype):
    result = sts.BOOL if op == "lt" else dtype
    if fmt is Vector:
        out = sts.rich_vector(PlusTimes, result, 9, sparse=False)
        for sparse in (False, True):
            u = sts.rich_vector(PlusTimes, dtype, 9, sparse=sparse)
            for rule in rules(9, out, [None]):
                check_vector_verb(verb, backend, 9, 0, (u, op), rule, **options)
            if op != "lt":
                check_vector_verb(verb, backend, 9, 0, (u, op), {}, semiring=PlusTimes, **options)
        return
    out = sts.Entries((7, 6), result, {(i, 5 - i): 1 for i in range(6)}).build(CSR)
    check_matrix_verb(
        verb, fmt, backend, (sts.rich_matrix(PlusTimes, dtype),), (op,), rules((7, 6), out, [None, "second"]), **options
    )


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("sign", ["<", ">=", "==", "ne"])
@pytest.mark.cells("select")
def test_select_by_comparison(verb, fmt, backend, sign, dtype):
    if fmt is Vector:
        out = sts.rich_vector(MinPlus, dtype, 9, sparse=True, shift=3)
        for u, other in [*vector_pairs(MinPlus, dtype), (sts.rich_vector(MinPlus, dtype, 9, sparse=True), 2)]:
            for rule in rules(9, out, [None, "min"]):
                check_vector_verb(verb, backend, 9, MinPlus.zero(dtype), (u, sign, other), rule, semiring=MinPlus)
        return
    out = sts.Entries((7, 6), dtype, {(i, 5 - i): 1 for i in range(6)}).build(CSR)
    check_matrix_verb(verb, fmt, backend, (sts.rich_matrix(MinPlus, dtype),), (sign, 2), rules((7, 6), out, [None]))


@pytest.mark.cells("select")
def test_select_by_position_and_by_vectors(verb, fmt, backend):
    if fmt is Vector:
        with pytest.raises(ValueError, match="unknown predicate 'tril'"):  # positions select from matrices
            verb(moved(np.zeros(3), backend), "tril", semiring=MinPlus)
        return
    entries = sts.rich_matrix(MinPlus, sts.INT32)
    for name in ("tril", "triu", "diag", "offdiag"):
        check_matrix_verb(verb, fmt, backend, (entries,), (name,), [{}])
    row, col = (sts.rich_vector(MinPlus, sts.INT32, size, sparse=False, shift=size) for size in entries.shape)
    sparse_row, sparse_col = (sts.rich_vector(MinPlus, sts.INT32, size, sparse=True) for size in entries.shape)
    for predicate in (tight(MinPlus), nearer(MinPlus)):
        for i, j in product((row, sparse_row), (col, sparse_col)):
            vectors = {"row": moved(i, backend), "col": moved(j, backend)}
            with reference.registered():
                expected = select(DenseReference.of(entries.build(CSR)), predicate, row=i, col=j)
            for A in (entries.build(fmt).to(device=backend), entries.build(fmt).to(device=backend).T.T):
                actual = verb(A, predicate, **vectors).to(device="cpu")
                actual.check()
                assert type(actual) is fmt
                np.testing.assert_array_equal(actual.to_dense(-99), expected.to_dense(-99), err_msg=predicate.name)


FUNCTIONS = {
    "value": lambda value, row, col: value > 1,
    "place": lambda value, row, col: (row + col) % 2 == 0,
    "column": lambda value, row, col: col > 2,
    "wide": lambda value, row, col: (row * 2**30 + col) // 2**30 == row,
    "looked up": lambda value, row, col: namespace(col).arange(7)[col] * namespace(row).arange(7)[row] > 4,
    "inverse": lambda value, row, col: 1 / value > 0.3,
    "all": lambda value, row, col: (value < row) | (value == col),
    "thunk": lambda value, row, col, least: value // 2 + row >= least,
}


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.cells("select")
def test_select_by_a_function_of_the_users(verb, fmt, backend, dtype):
    if fmt is Vector:
        u = sts.rich_vector(PlusTimes, dtype, 9, sparse=False)
        sparse = SparseVector.from_dense(u, 0)
        assert verb(moved(SparseVector([2**40], [7], 2**41), backend), lambda value, at: at > value).nnz == 1
        for operand in (u, sparse):
            for f, other in ((lambda value, at: value > at - 4, None), (lambda value, at, k: value < at * k, 2)):
                wanted = np.where((f(u, np.arange(9)) if other is None else f(u, np.arange(9), other)) & (u != 0), u, 0)
                w = moved(verb(moved(operand, backend), f, other, semiring=PlusTimes), "cpu")
                np.testing.assert_array_equal(as_dense(w, 0), wanted)
        return
    entries = sts.rich_matrix(PlusTimes, dtype)
    built = entries.build(fmt).to(device=backend)
    for A, at in ((built, entries.at), (built.T, {(j, i): value for (i, j), value in entries.at.items()})):
        for name, function in FUNCTIONS.items():
            other = 3 if name == "thunk" else None
            chosen = verb(A, function, other).to(device="cpu")
            chosen.check()
            assert type(chosen) is type(A)
            with np.errstate(divide="ignore"):
                wanted = {
                    (i, j): value
                    for (i, j), value in at.items()
                    if function(np.array([value]), *np.array([[i], [j]]), *([] if other is None else [other]))
                }
            rows, cols, values = (part.tolist() for part in chosen.to_edges())
            assert dict(zip(zip(rows, cols, strict=True), values, strict=True)) == wanted, name


@pytest.mark.quick
def test_a_function_that_says_no_booleans_is_refused():
    A = from_edges([0, 1], [1, 2], [5.0, 7.0], shape=3)
    for wrong, message in (
        (lambda value, row, col: value, "got float64 of shape"),
        (lambda value, row, col: True, "got bool"),
        (lambda value, row, col: np.array([True]), "got bool of shape"),
    ):
        with pytest.raises(TypeError, match=f"needs a Boolean for each entry.*{message}"):
            select(A, wrong)
    with pytest.raises(TypeError, match="a function of entries is given no row=: a Predicate is"):
        select(A, FUNCTIONS["value"], row=np.zeros(3))
    assert select(A, FUNCTIONS["value"], mask=np.eye(3, dtype=bool)).nnz == 0


@pytest.mark.parametrize("name", list(MONOIDS))
@pytest.mark.cells("reduce")
def test_reduce(verb, fmt, backend, name):
    monoid = MONOIDS[name]
    semiring = SEMIRINGS["lor_land"] if monoid.dtypes == (sts.BOOL,) else PlusTimes
    for dtype in monoid.dtypes:
        if name == "any" and dtype != sts.BOOL:
            continue  # which of several values `any` picks is not promised
        if fmt is Vector:
            for sparse, size in product((False, True), (0, 1, 9)):
                u = sts.rich_vector(semiring, dtype, size, sparse=sparse)
                with reference.registered(vectors=True):
                    expected = verb(u, monoid)
                actual = verb(moved(u, backend), monoid)
                assert actual == expected, f"{u} {dtype}"
                assert actual.dtype == dtype
            continue
        entries = sts.rich_matrix(semiring, dtype)
        A, D = entries.build(fmt).to(device=backend), DenseReference.of(entries.build(CSR))
        for M, R in ((A, D), (A.T, D.T)):
            if (type(M), backend) not in verb.table:
                continue
            for axis in (None, 0, 1):
                with reference.registered():
                    expected = verb(R, monoid, axis=axis)
                actual = verb(M, monoid, axis=axis)
                np.testing.assert_array_equal(moved(actual, "cpu"), expected, err_msg=f"{dtype} axis={axis}")


@pytest.mark.cells("extract")
@given(data=st.data())
@settings(max_examples=60)
def test_extract(verb, fmt, backend, data):
    dtype = data.draw(st.sampled_from(DTYPES))
    if fmt is Vector:
        size = data.draw(sts.sizes)
        u = data.draw(sts.vectors(PlusTimes, dtype, size))
        at = data.draw(st.lists(st.integers(0, size - 1), max_size=8)) if size else []
        check_vector_verb(verb, backend, len(at), 0, (u, np.array(at, np.int64)), {})
        return
    entries = data.draw(sts.matrices(PlusTimes, dtype))
    places = [
        data.draw(st.none() | st.lists(st.integers(0, extent - 1), max_size=8)) if extent else None
        for extent in entries.shape
    ]
    rows, cols = (None if part is None else np.array(part, np.int64) for part in places)
    check_matrix_verb(verb, fmt, backend, (entries,), (rows, cols), [{}])


def ends_of(dtype: np.dtype) -> tuple[Any, Any]:
    return (np.iinfo(dtype).min, np.iinfo(dtype).max) if dtype.kind == "i" else (-np.inf, np.inf)


@pytest.mark.cells("assign")
@given(data=st.data())
@settings(max_examples=100)
def test_assign(verb, fmt, backend, data):
    dtype = data.draw(st.sampled_from(DTYPES))
    accum = data.draw(st.sampled_from([None, "plus", "second"]))
    if fmt is Vector:
        size = data.draw(sts.sizes)
        out = data.draw(sts.vectors(PlusTimes, dtype, size))
        at = data.draw(st.lists(st.integers(0, size - 1), max_size=8, unique=True)) if size else []
        value = data.draw(st.just(5) | sts.vectors(PlusTimes, dtype, len(at)))
        rule = {"mask": data.draw(sts.masks(size)), "replace": data.draw(st.booleans())}
        with reference.registered(vectors=True):
            expected = verb(copied(out), value, np.array(at, np.int64), accum=accum, **rule)
        own = moved(copied(out), backend)
        masked = {name: moved(x, backend) for name, x in rule.items()}
        assert verb(own, moved(value, backend), np.array(at, np.int64), accum=accum, **masked) is own
        np.testing.assert_array_equal(as_dense(moved(own, "cpu"), 0), expected)
        return
    entries = data.draw(sts.matrices(PlusTimes, dtype))
    rows, cols = (
        data.draw(st.lists(st.integers(0, extent - 1), max_size=4, unique=True)) if extent else []
        for extent in entries.shape
    )
    value = data.draw(st.just(5) | sts.matrices(PlusTimes, dtype, (len(rows), len(cols))))
    out = entries.build(CSR).to(device=backend)
    wanted = entries.build(CSR).to_dense(0)
    new = np.broadcast_to(value, (len(rows), len(cols))) if value == 5 else value.build(CSR).to_dense(0)
    if rows and cols:
        block = wanted[np.ix_(rows, cols)]
        absent = new == 0 if accum == "second" else np.zeros(new.shape, bool)
        total = np.clip(block.astype(object) + new.astype(object), *ends_of(dtype)).astype(dtype)
        wanted[np.ix_(rows, cols)] = total if accum == "plus" else np.where(absent, block, new)
    if accum == "second" and value != 5:
        value = sts.Entries(value.shape, dtype, {place: x for place, x in value.at.items() if x})
    given_value = value if value == 5 else value.build(CSR).to(device=backend)
    assert verb(out, given_value, np.array(rows, int), np.array(cols, int), accum=accum) is out
    out.to(device="cpu").check()
    np.testing.assert_array_equal(out.to(device="cpu").to_dense(0), wanted)


@pytest.mark.cells("transpose")
@given(data=st.data())
@settings(max_examples=40)
def test_transpose_moves_entries_in_the_same_format(verb, fmt, backend, data):
    entries = data.draw(sts.matrices(PlusTimes, sts.INT32))
    A = entries.build(fmt).to(device=backend)
    turned = transpose(A)
    assert type(turned) is fmt
    assert turned.major == fmt.major
    assert turned.equals(A.T)
    check_matrix_verb(verb, fmt, backend, (entries,), (), [{}])
