"""mxm with dense operands, and the arguments of products: each cell against the dense reference, by every rule."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.graphs import rmat
from formats import COO, CSC, CSR, Dense, SparseVector, from_edges, set_memory_limit
from semiring import SEMIRINGS, MinPlus, PlusTimes, Semiring, explain, extract, mxm, mxv, reduce, threads, vxm
from semiring.verbs.arguments import of_sparse_products
from semiring.verbs.verbs import dense_dense, dense_mxm

from . import reference
from . import strategies as sts
from .conftest import Backend
from .reference import DenseReference
from .strategies import moved
from .test_equivalence import ALL, assert_same, shares

COLUMNS = (1, 2, 5, 21)
"""One goes to mxv, a few, and more than a register has: with a rest."""


LIKE: dict[str, Any] = {"cpu": COO, "cuda": CSC}
"""The formats on whose semirings and dtypes products of two arrays are tested."""


@pytest.fixture(autouse=True, scope="module")
def _with_reference():
    with reference.registered():
        yield


def cells(verb: Any) -> list[Any]:
    """(fmt, semiring, dtype, backend) of every cell, where a semiring and a dtype have their turn; see `has_turn`.

    Of two arrays, a backend takes what one of the formats is tested on: see `shares`.
    """
    return [
        Backend(backend).param(fmt, semiring, dtype, name=f"{fmt.__name__}-{semiring.name}-{dtype}")
        for fmt, backend in verb.table
        if fmt is not DenseReference
        for k, (semiring, dtype) in enumerate(shares(LIKE[backend] if verb is dense_dense else fmt))
        if verb is dense_dense or sts.has_turn(k, fmt, backend)
    ]


def rich_rows(semiring: Semiring, dtype: np.dtype, nrows: int, ncols: int) -> np.ndarray:
    """(nrows, ncols), of elements as `rich_vector` has them."""
    columns = [sts.rich_vector(semiring, dtype, nrows, sparse=False, shift=j) for j in range(ncols)]
    return np.stack(columns, axis=1)


def rules(semiring: Semiring, dtype: np.dtype, shape: tuple[int, int]) -> list[dict[str, Any]]:
    """Every combination of mask, complement, accumulator, replace and out, as keyword arguments."""
    by_value = np.add.outer(np.arange(shape[0]), np.arange(shape[1])) % 3 != 1
    other = sts.Entries(shape, dtype, {(i, j): j % 3 != 1 for i in range(shape[0]) for j in range(i % 2, shape[1], 2)})
    masks: list[dict[str, Any]] = [{}, {"mask": by_value}, {"mask": other.build(CSR)}]
    masks += [mask | {"complement": True} for mask in masks[1:]]
    out = rich_rows(semiring, dtype, *shape)[::-1]
    outs = product(masks, (None, semiring.add), (False, True))
    return masks + [mask | {"out": out, "accum": accum, "replace": replace} for mask, accum, replace in outs]


def by_the_rule(T: np.ndarray, rule: dict[str, Any], semiring: Semiring) -> np.ndarray:
    """The reference's write rule, row by row."""
    rows = []
    for i in range(T.shape[0]):
        own = dict(rule)
        if (mask := rule.get("mask")) is not None:
            own["mask"] = allowed_by(mask, T.shape)[i]
        if rule.get("out") is not None:
            own["out"] = rule["out"][i].copy()
        one = from_edges(np.arange(T.shape[1]), np.arange(T.shape[1]), shape=T.shape[1], dtype=T.dtype)
        write = reference_write(one, own, semiring)
        rows.append(reference.write_vector(write, T[i].tolist()))
    return np.stack(rows) if rows else T


def allowed_by(mask: Any, shape: tuple[int, int]) -> np.ndarray:
    """Where a mask's values allow writing: a stored False or 0 does not."""
    if isinstance(mask, np.ndarray):
        return mask
    D = DenseReference.of(mask)
    return np.array([bool(D.at(*place)) for place in np.ndindex(shape)], bool).reshape(shape)


def reference_write(one: Any, rule: dict[str, Any], semiring: Semiring) -> Any:
    from semiring.verbs.masks import VectorWrite

    return VectorWrite.checked(one.nrows, one.dtype, semiring.zero(one.dtype), one.place, rule)


@cache
def answers(semiring: Semiring, dtype: np.dtype, transposed: bool, ncols: int) -> tuple[Any, Any, Any, Any, Any, Any]:
    """(X, A ⊗ X, its argument, W, W ⊗ A, its argument) by the reference; arguments None where ⊕ adds up."""
    D = DenseReference.of(sts.rich_matrix(semiring, dtype).build(CSR))
    D = D.T if transposed else D
    X, W = rich_rows(semiring, dtype, D.ncols, ncols), rich_rows(semiring, dtype, D.nrows, ncols)
    argument = semiring.add.selective
    Y, K = _found(reference._dense_mxm(D, X, semiring, True, argument, None), argument)
    Z, L = _found(reference._dense_mxm(D.T, W, semiring, False, argument, None), argument)
    return X, Y, K, W.T, Z.T, None if L is None else L.T


def _found(found: Any, argument: bool) -> tuple[Any, Any]:
    return found if argument else (found, None)


def fresh(rule: dict[str, Any], backend: str) -> dict[str, Any]:
    own = {name: moved(value, backend) for name, value in rule.items()}
    if "out" in own:
        own["out"] = own["out"].copy()
    return own


@pytest.mark.parametrize(("fmt", "semiring", "dtype", "backend"), cells(dense_mxm))
def test_a_matrix_and_an_array_under_every_write_rule(fmt, semiring, dtype, backend):
    entries = sts.rich_matrix(semiring, dtype)
    for transposed, ncols in product((False, True), COLUMNS):
        A = entries.build(fmt).to(device=backend)
        A = A.T if transposed else A
        X, Y, K, W, Z, L = answers(semiring, dtype, transposed, ncols)
        for operands, expected, argument in (((A, X), Y, K), ((W, A), Z, L)):
            there = [moved(each, backend) for each in operands]
            few = rules(semiring, dtype, expected.shape)
            for rule in few if fmt is CSR and ncols == 5 else few[:1] + few[3:9:5]:
                own = fresh(rule, backend)
                actual = mxm(*there, semiring, **own)
                assert "out" not in own or actual is own["out"]
                assert_same(actual, by_the_rule(expected, rule, semiring), semiring, rule)
                if argument is not None and rule.get("accum") is None:
                    C, k = mxm(*there, semiring, **fresh(rule, backend), return_argument=True)
                    assert_same(C, by_the_rule(expected, rule, semiring), semiring, rule)
                    allowed = reference_allowed(rule, expected.shape)
                    assert_same(k, np.where(allowed, argument, -1).astype(np.int32), semiring, "the argument", rule)


def reference_allowed(rule: dict[str, Any], shape: tuple[int, int]) -> np.ndarray:
    mask = rule.get("mask")
    if mask is None:
        return np.ones(shape, bool)
    return allowed_by(mask, shape) != rule.get("complement", False)


@pytest.mark.parametrize(("fmt", "semiring", "dtype", "backend"), cells(dense_dense))
def test_two_arrays_are_a_matrix_of_what_is_present_and_an_array(fmt, semiring, dtype, backend):
    zero = semiring.zero(dtype).item()
    for m, n, ncols in ((1, 1, 1), (3, 7, 1), (7, 5, 4), (9, 6, 21), (13, 40, 35)):
        X, Y = rich_rows(semiring, dtype, m, n), rich_rows(semiring, dtype, n, ncols)
        D = DenseReference.from_entries(
            X.shape, [(i, k, X[i, k]) for i, k in np.ndindex(X.shape) if X[i, k] != zero], dtype
        )
        argument = semiring.add.selective
        Z, K = _found(reference._dense_mxm(D, Y, semiring, True, argument, None), argument)
        there = moved(X, backend), moved(Y, backend)
        assert_same(mxm(*there, semiring), Z, semiring, (m, n, ncols))
        if argument:
            C, k = mxm(*there, semiring, return_argument=True)
            assert_same(C, Z, semiring, (m, n, ncols))
            assert_same(k, K, semiring, (m, n, ncols))


@pytest.mark.cells("mxv", "vxm")
@given(data=st.data())
@settings(max_examples=25)
def test_arguments_of_random_operands(verb, fmt, backend, data):
    semiring, dtype = data.draw(st.sampled_from([pair for pair in shares(fmt) if pair[0].add.selective]))
    entries = data.draw(sts.matrices(semiring, dtype))
    A, D = entries.build(fmt).to(device=backend), DenseReference.of(entries.build(CSR))
    x = data.draw(sts.vectors(semiring, dtype, A.nrows if verb is vxm else A.ncols))
    mask = data.draw(sts.masks(A.ncols if verb is vxm else A.nrows))
    operands = (A, moved(x, backend)) if verb is mxv else (moved(x, backend), A)
    y, k = verb(*operands, semiring, mask=moved(mask, backend), return_argument=True)
    plain = verb(*operands, semiring, mask=moved(mask, backend))
    zero = semiring.zero(dtype)
    dense = x.to_dense(zero) if isinstance(x, SparseVector) else x
    found = reference._dense_mxm(D if verb is mxv else D.T, dense.reshape(-1, 1), semiring, verb is mxv, True, None)
    Y, K = (part[:, 0] for part in found)
    allowed = VectorAllowed(mask, Y.size)
    if isinstance(x, SparseVector):
        assert isinstance(k, SparseVector)
        assert moved(k, "cpu").indices.tolist() == moved(y, "cpu").indices.tolist()
        k, plain, y = (moved(part, "cpu").to_dense(fill) for part, fill in ((k, -1), (plain, zero), (y, zero)))
    assert_same(y, moved(plain, "cpu"), semiring, "y")
    assert_same(k, np.where(allowed, K, -1).astype(k.dtype), semiring, "k")


def VectorAllowed(mask: Any, size: int) -> np.ndarray:  # noqa: N802
    if mask is None:
        return np.ones(size, bool)
    if isinstance(mask, SparseVector):
        return np.isin(np.arange(size), mask.indices)
    return mask


@pytest.mark.parametrize(("semiring", "dtype"), [pair for pair in ALL if pair[0].add.selective])
@pytest.mark.cells("mxm")
def test_arguments_of_two_matrices(verb, fmt, backend, semiring, dtype):
    entries = sts.rich_matrix(semiring, dtype)
    A, D = entries.build(CSR), DenseReference.of(entries.build(CSR))
    B = A.T.to(CSR)
    zero = semiring.zero(dtype).item()
    there = [M.to(fmt).to(device=backend) for M in (A, B)]
    for rule in ({}, {"mask": np.add.outer(np.arange(7), np.arange(7)) % 3 != 1}):
        own = {name: moved(value, backend) for name, value in rule.items()}
        C, K = (part.to(device="cpu") for part in mxm(*there, semiring, **own, return_argument=True))
        assert_same(C.to_dense(zero), mxm(A, B, semiring, **rule).to_dense(zero), semiring, rule)
        assert np.array_equal(K.indptr, C.indptr)
        assert np.array_equal(K.indices, C.indices)
        for i, j, k in zip(*K.to_edges(), strict=True):
            terms = (reference.multiply(semiring, D.at(i, e), D.at(j, e), zero, pattern=(True, True)) for e in range(6))
            equal = [
                e
                for e, term in enumerate(terms)
                if term is not None and reference.clamp(term, dtype) == C[int(i), int(j)]
            ]
            assert k == equal[0]


@pytest.mark.cells("reduce")
@pytest.mark.parametrize(
    ("name", "dtype"), [("min", np.int32), ("max", np.float64), ("any", np.float32), ("lor", bool), ("land", bool)]
)
def test_reduce_tells_where_it_was(verb, fmt, backend, name, dtype):
    u = np.array([3, 1, 2, 1, 0, 3], dtype)
    at = {"min": 4, "max": 0, "any": 0, "lor": 0, "land": 4}[name]
    if not hasattr(fmt, "formats"):
        value, index = reduce(moved(u, backend), name, return_argument=True)
        assert (value, index) == (reduce(u, name), at)
        s = SparseVector([1, 3], u[[4, 0]], 6)
        assert reduce(moved(s, backend), name, return_argument=True)[1] == {"min": 1, "land": 1}.get(name, 3)
        assert reduce(moved(SparseVector([], np.zeros(0, dtype), 6), backend), name, return_argument=True)[1] == -1
        return
    rows, cols = np.array([0, 0, 0, 2, 2]), np.array([1, 2, 4, 0, 4])
    A = from_edges(rows, cols, np.array([2, 0, 2, 1, 1], dtype), shape=(3, 5)).to(fmt).to(device=backend)
    for axis in (0, 1):
        y, k = reduce(A, name, axis=axis, return_argument=True)
        assert np.array_equal(moved(y, "cpu"), moved(reduce(A, name, axis=axis), "cpu"))
        expected = {
            ("min", 1): [2, -1, 0],
            ("land", 1): [2, -1, -1],
            ("min", 0): [2, 0, 0, -1, 2],
            ("land", 0): [-1, -1, 0, -1, -1],
            ("max", 0): [2, 0, 0, -1, 0],
        }
        usual = {1: [1, -1, 0], 0: [2, 0, -1, -1, 0]}[axis]
        assert moved(k, "cpu").tolist() == expected.get((name, axis), usual), (name, axis)


REFUSED: dict[str, tuple[type[Exception], str, Any]] = {
    "rows that do not fit": (ValueError, r"A's columns must be B's rows.*\(2, 3\) and \(2, 4\)", ((2, 4), {})),
    "a vector": (ValueError, "two-dimensional, got 1 dimensions.*use mxv", ((3,), {})),
    "three dimensions": (ValueError, "two-dimensional, got 3 dimensions", ((3, 2, 2), {})),
    "a mask of another shape": (ValueError, r"mask must have the result's shape \(2, 4\)", {"mask": np.ones(2, bool)}),
    "a mask of numbers": (TypeError, "a mask is a matrix or a two-dim", {"mask": np.ones((2, 4))}),
    "an out of another shape": (ValueError, r"out must have the result's shape", {"out": np.ones((4, 2))}),
    "an out of another dtype": (TypeError, r"out must have the result's dtype float64", {"out": np.ones((2, 4), int)}),
    "a matrix for out": (TypeError, r"out must be an array.*CSR", {"out": from_edges([0], [1], [1.0], shape=(2, 4))}),
    "accum alone": (ValueError, "accum needs out=", {"accum": "min"}),
    "complement alone": (ValueError, "complement needs mask=", {"complement": True}),
    "an accumulated argument": (
        ValueError,
        "return_argument takes no accum",
        {"accum": "min", "out": np.ones((2, 4)), "return_argument": True},
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_multiplied_is_refused_in_a_sentence(what):
    error, message, how = REFUSED[what]
    A = from_edges([0, 1], [1, 2], [5.0, 3.0], shape=(2, 3))
    shape, rule = how if isinstance(how, tuple) else ((3, 4), how)
    for first in (A, A.to_dense()):
        with pytest.raises(error, match=message):
            mxm(first, np.zeros(shape), MinPlus, **rule)


def test_operands_are_refused_by_kind_and_value():
    A = from_edges([0, 1], [1, 2], [5.0, 3.0], shape=(2, 3))
    with pytest.raises(TypeError, match="second operand of mxm must be a matrix or a two-dimensional array, got list"):
        mxm(A, [[1.0], [2.0], [3.0]], MinPlus)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="first operand must be of dtype.*got complex128"):
        mxm(np.ones((2, 2), complex), A, MinPlus)
    with pytest.raises(ValueError, match=r"must not hold NaN, got NaN at position \(1, 0\)"):
        mxm(A, np.array([[1.0, 2.0], [np.nan, 1.0], [0.0, 0.0]]), MinPlus)
    with pytest.raises(TypeError, match="lor_land takes boolean"):
        mxm(A, np.ones((3, 1)), "lor_land")
    locked = np.zeros((2, 2))
    locked.flags.writeable = False
    with pytest.raises(ValueError, match="out is read-only"):
        mxm(A, np.zeros((3, 2)), MinPlus, out=locked)
    for call in (
        lambda: mxm(A, np.ones((3, 2)), PlusTimes, return_argument=True),
        lambda: mxv(A, np.ones(3), PlusTimes, return_argument=True),
        lambda: mxm(A.to(CSR), A.T.to(CSR), PlusTimes, return_argument=True),
        lambda: reduce(A, "plus", axis=1, return_argument=True),
    ):
        with pytest.raises(TypeError, match="needs an ⊕ that selects one of its terms.*an element of plus comes of"):
            call()
    with pytest.raises(ValueError, match="needs an axis"):
        reduce(A, "min", return_argument=True)  # type: ignore[call-overload]


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0), (3, 4)])
@pytest.mark.parametrize("ncols", [0, 1, 3])
def test_nothing_gives_the_zero(shape, ncols):
    for A in (from_edges([], [], np.zeros(0), shape=shape), np.full(shape, np.inf)):
        Y, K = mxm(A, np.zeros((shape[1], ncols)), MinPlus, return_argument=True)
        assert Y.shape == K.shape == (shape[0], ncols)
        assert (Y == np.inf).all()
        assert (K == -1).all()
        assert mxm(np.zeros((ncols, shape[0])), A, MinPlus).shape == (ncols, shape[1])


def test_operands_may_be_views_and_out_may_be_an_operand():
    rng = np.random.default_rng(1)
    A = from_edges(rng.integers(0, 30, 200), rng.integers(0, 30, 200), rng.random(200), shape=30)
    X = rng.random((60, 24))[::2, ::3]
    expected = np.stack([mxv(A, np.ascontiguousarray(X[:, j]), MinPlus) for j in range(8)], axis=1)
    assert np.array_equal(mxm(A, X, MinPlus), expected)
    assert np.array_equal(mxm(A, np.asfortranarray(X), MinPlus), expected)
    assert np.array_equal(mxm(X.T, A.T, MinPlus), expected.T)
    Y = X.copy()
    assert mxm(A, Y, MinPlus, out=Y) is Y
    assert np.array_equal(Y, expected)
    Z = rng.random((30, 30))
    squared = mxm(Z, Z, MinPlus)
    assert mxm(Z, Z, MinPlus, out=Z) is Z
    assert np.array_equal(Z, squared)


def test_a_result_that_exceeds_the_limit_is_refused_with_the_figures():
    A = from_edges([0], [1], [5.0], shape=1000)
    set_memory_limit("1KiB", device="cpu")
    try:
        with pytest.raises(MemoryError, match=r"mxm, for its result of 1,000 × 50, needs 400,000 bytes"):
            mxm(A, np.zeros((1000, 50)), MinPlus)
    finally:
        set_memory_limit(None, device="cpu")


@pytest.mark.parametrize("fmt", [CSC, COO])
def test_what_is_taken_by_its_rows_is_told(fmt):
    A = from_edges([0, 1], [1, 2], [5.0, 3.0], shape=(2, 3)).to(fmt)
    told = explain(mxm, A, np.zeros((3, 4)), MinPlus)
    assert told.result.tolist() == [[5.0] * 4, [3.0] * 4]


@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_arguments_are_the_smallest_in_whole_chunks_and_in_the_last(dtype):
    """Of two dense operands, with as many terms as chunks have, one more or fewer, and many equal ones."""
    rng = np.random.default_rng(3)
    for n in (1, 31, 32, 33, 64, 70):
        X, Y = (rng.integers(1, 4, shape).astype(dtype) for shape in ((9, n), (n, 37)))
        terms = X[:, :, None] + Y[None]
        Z, K = mxm(X, Y, MinPlus, return_argument=True)
        np.testing.assert_array_equal(Z, terms.min(axis=1))
        np.testing.assert_array_equal(K, terms.argmin(axis=1))


@pytest.mark.parametrize("semiring", ["min_plus", "max_min", "any_pair", "lor_land"])
def test_the_loop_finds_the_arguments_that_the_array_program_finds(semiring):
    """Of two sparse matrices without absent entries, some of whose rows are empty, by one thread and by two."""
    s = SEMIRINGS[semiring]
    A = rmat(8, dtype=np.dtype(bool) if semiring == "lor_land" else np.dtype(np.int32), high=3)
    B = extract(A, None, np.arange(100))
    for mask in (None, B):
        for count in (1, 2):
            with threads(count):
                C, K = mxm(A, B, s, mask=mask, return_argument=True)
            right = of_sparse_products(A, B, C, s)
            assert K.values.dtype == right.values.dtype
            np.testing.assert_array_equal(K.values, right.values)


@pytest.mark.parametrize("dtype", [np.float32, np.int32, bool])
def test_arguments_of_an_adjacency_matrix_and_a_vector(dtype):
    """Along its rows and, in a transpose, down them: with more rows than are looked at together, and absent entries."""
    rng = np.random.default_rng(5)
    s = SEMIRINGS["lor_land" if dtype is bool else "min_plus"]
    for m, n in ((1, 40), (37, 16), (50, 3)):
        A = from_edges(*np.nonzero(rng.random((m, n)) < 0.6), shape=(m, n)).astype(dtype)
        x = rng.integers(0, 3, n).astype(dtype)
        for M, D in ((A, A.to(Dense)), (A, A.T.to(CSR).to(Dense).T)):
            for got, right in zip(mxv(D, x, s, return_argument=True), mxv(M, x, s, return_argument=True), strict=True):
                assert got.dtype == right.dtype
                np.testing.assert_array_equal(got, right)
