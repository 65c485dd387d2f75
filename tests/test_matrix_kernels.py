"""The CPU's compiled loops on whole matrices beside the array programs by keys, which a GPU may run, too.

Work is cut as for large matrices: a piece for every few entries, and operators in blocks of four.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from formats import COO, CSB, CSC, CSR, ELL, SELL, CompressedCSR, Dense, Matrix, SparseVector, from_edges
from formats.arrays import DTYPES
from formats.matrix.facts import COMPRESSED
from semiring import (
    MONOIDS,
    AnyPair,
    BinaryOp,
    MinPlus,
    PlusTimes,
    Predicate,
    apply,
    assign,
    ewise_add,
    ewise_mult,
    extract,
    mxm,
    mxv,
    reduce,
    select,
    threads,
    vxm,
)
from semiring.algebra.ops import OPERATORS
from semiring.algebra.predicates import on_position
from semiring.cpu import reductions, rows
from semiring.cpu import threads as pool
from semiring.verbs import steps
from semiring.verbs.masks import MatrixWrite

from . import array_programs as by_keys

SEEDS = range(20)


@pytest.fixture(autouse=True, params=[1, 2], ids=["one-thread", "two-threads"])
def _cut_small(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(pool, "MIN_ENTRIES_FOR_THREADS", 1)
    monkeypatch.setattr(rows, "BLOCK", 4)
    with threads(request.param):
        yield


def random_matrix(rng: np.random.Generator, dtype: np.dtype, shape: tuple[int, int] | None = None) -> CSR:
    """Of up to 12 rows and columns, some empty, some full; with stored zeros."""
    nrows, ncols = shape or rng.integers(0, 13, 2)
    share = rng.choice([0.0, 0.1, 0.5, 1.0], (nrows, 1))
    u, v = np.nonzero(rng.random((nrows, ncols)) < share)
    return from_edges(u, v, rng.integers(0, 4, u.size).astype(dtype), shape=(nrows, ncols))


def pair(seed: int) -> tuple[np.random.Generator, CSR, CSR]:
    """Two matrices of one shape and dtype, in every fourth case of one pattern."""
    rng = np.random.default_rng(seed)
    dtype = DTYPES[seed % len(DTYPES)]
    A = random_matrix(rng, dtype)
    B = random_matrix(rng, dtype, A.shape)
    if seed % 4 == 0:
        B = CSR(A.indptr.copy(), A.indices.copy(), A.values[::-1].copy(), A.shape)
    return rng, A, B


def assert_same(actual: Any, expected: Any, seed: int) -> None:
    """Equal arrays of equal dtypes, and valid."""
    actual.check()
    assert actual.shape == expected.shape, f"seed {seed}"
    for name in ("indptr", "indices", "values"):
        a, b = getattr(actual, name), getattr(expected, name)
        assert a.dtype == b.dtype, f"seed {seed}: {name}"
        np.testing.assert_array_equal(a, b, err_msg=f"seed {seed}: {name}")


def written(T: CSR) -> CSR:
    return T


@pytest.mark.parametrize("name", ["min", "first", "pair", "times", "plus", "lt"])
def test_unions_and_intersections_are_those_by_keys(name):
    op = OPERATORS[name]
    for seed in SEEDS:
        _, A, B = pair(seed)
        for zero in (None, A.dtype.type(0)):
            expected: Any = by_keys.intersection_by_keys(A, B, op, zero, written)  # type: ignore[arg-type]
            assert_same(ewise_mult.cells[CSR, "cpu"](A, B, op, zero, written), expected, seed)
        if not op.boolean:
            expected = by_keys.union_by_keys(A, B, op, None, written)  # type: ignore[arg-type]
            assert_same(ewise_add.cells[CSR, "cpu"](A, B, op, None, written), expected, seed)


@pytest.mark.parametrize("index_type", [np.int32, np.int64])
def test_long_rows_are_compared_like_keys(index_type):
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        A, B = (
            CSR.trusted(M.indptr.astype(index_type), M.indices.astype(index_type), M.values, M.shape)
            for M in (random_matrix(rng, DTYPES[seed % len(DTYPES)], (6, 99)) for _ in "AB")
        )
        expected: Any = by_keys.intersection_by_keys(A, B, OPERATORS["second"], None, written)  # type: ignore[arg-type]
        assert rows.intersected(A, B, OPERATORS["second"]).equals(expected), f"seed {seed}"
        expected = by_keys.union_by_keys(A, B, OPERATORS["max"], None, written)  # type: ignore[arg-type]
        assert rows.united(A, B, OPERATORS["max"]).equals(expected), f"seed {seed}"
        np.testing.assert_array_equal(rows.shared(A, B), steps.shared_by_arrays(A, B), err_msg=f"seed {seed}")
        some = rng.integers(0, 6, 9)
        assert rows.picked(A, some).equals(by_keys.part_by_gathers(A, some, None, written)), f"seed {seed}"


def test_a_pattern_is_merged_like_an_array_of_true():
    for seed in SEEDS:
        _, A, B = pair(seed)
        for verb, op in ((ewise_add, "lor"), (ewise_mult, "land")):
            ones = [M.with_values(np.ones(M.nnz, bool)) for M in (A, B)]
            assert_same(verb(A.pattern(), B.pattern(), op), verb(*ones, op), seed)


@pytest.mark.parametrize("fmt", [CSR, CSC])
def test_extracted_parts_are_those_by_gathers(fmt):
    for seed in SEEDS:
        rng, A, _ = pair(seed)
        M = A.to(fmt)
        choices: list[Any] = [
            [
                None,
                np.sort(rng.permutation(size)[: size // 2]),
                rng.permutation(size),
                rng.integers(0, max(size, 1), 2 * size),
                np.zeros(0, np.int64),
                rng.integers(0, size, 1) if size else np.zeros(0, np.int64),
            ]
            for size in A.shape
        ]
        for at_rows in choices[0]:
            for at_cols in choices[1]:
                expected: Any = by_keys.part_by_gathers(M, at_rows, at_cols, written)
                assert_same(extract.cells[fmt, "cpu"](M, at_rows, at_cols, written), expected, seed)


def test_one_row_or_column_is_the_same_with_and_without_kept_columns():
    for seed in SEEDS:
        _, A, _ = pair(seed)
        dense = A.to_dense(-1) if A.dtype != bool else A.to_dense(0)
        fill = -1 if A.dtype != bool else 0
        for M in (A, A.to(CSC)):
            for i in range(A.nrows):
                np.testing.assert_array_equal(extract(M, rows=i).to_dense(fill), dense[i], err_msg=f"seed {seed}")
            for kept in (False, True):
                if kept and isinstance(M, CSR):
                    M.keep(COMPRESSED, lambda M=M: M.to(CSC), CSC)
                for j in range(A.ncols):
                    part = extract(M, cols=j)
                    part.check()
                    np.testing.assert_array_equal(part.to_dense(fill), dense[:, j], err_msg=f"seed {seed}")


@pytest.mark.parametrize("accum", [None, "plus"])
def test_places_in_any_order_are_assigned_as_they_stand_beside_their_values(accum):
    op = None if accum is None else OPERATORS[accum]
    for seed in SEEDS:
        rng, A, _ = pair(seed)
        at: list[Any] = [rng.permutation(size)[: rng.integers(0, size + 1)] for size in A.shape]
        value = random_matrix(rng, A.dtype, (at[0].size, at[1].size))
        expected: Any = by_keys.assigned_by_keys(A, value, *at, op, written)
        assert_same(assign(CSR.trusted(*A.components), value, *at, accum=op), expected, seed)


@pytest.mark.parametrize("accum", [None, "plus", "second"])
def test_assigned_blocks_are_those_by_keys(accum):
    op = None if accum is None else OPERATORS[accum]
    for seed in SEEDS:
        rng, A, B = pair(seed)
        for _ in range(4):
            at = [np.sort(rng.permutation(size)[: rng.integers(0, size + 1)]) for size in A.shape]
            some: list[Any] = [None if rng.random() < 0.2 else each for each in at]
            shape = tuple(size if each is None else each.size for each, size in zip(some, A.shape, strict=True))
            own = extract(A, *some)
            others = own.with_values(own.values[::-1].copy())
            fewer: Any = rows.kept(others, rng.random(own.nnz) < 0.7)
            for value in (random_matrix(rng, A.dtype, shape), others, fewer, A.dtype.type(1)):
                expected: Any = by_keys.assigned_by_keys(A, value, *some, op, written)  # type: ignore[arg-type]
                found: Any = assign.cells[CSR, "cpu"](A, value, *some, op, written)
                assert_same(found, expected, seed)
                same_places = value is others or (value is fewer and (op is not None or fewer.nnz == own.nnz))
                assert (found.indices is A.indices) == same_places or A.nnz == expected.nnz, f"seed {seed}"


def test_the_write_rule_on_matrices_is_that_by_keys(monkeypatch):
    def results(seed: int) -> list[CSR]:
        rng, out, T = pair(seed)
        mask = random_matrix(rng, np.dtype(bool), out.shape)
        made = []
        for form in (mask, mask.to(CSC), mask.to_dense(False), None):
            for complement in (False, True) if form is not None else (False,):
                for accum in (None, MinPlus.add, OPERATORS["second"]):
                    for replace in (False, True):
                        target = CSR(*out.components)
                        rule = MatrixWrite(
                            out.shape,
                            out.dtype,
                            mask=form,
                            complement=complement,
                            accum=accum,
                            out=target,
                            replace=replace,
                        )
                        assert rule(T) is target
                        made.append(target)
                made.append(MatrixWrite(out.shape, out.dtype, mask=form, complement=complement)(T))
        return made

    compiled = [results(seed) for seed in SEEDS]
    monkeypatch.setattr(steps, "united", by_keys.united_by_arrays)
    for name in ("kept", "shared"):
        monkeypatch.setattr(steps, name, getattr(steps, f"{name}_by_arrays"))
    for seed in SEEDS:
        for actual, expected in zip(compiled[seed], results(seed), strict=True):
            assert_same(actual, expected, seed)


@pytest.mark.parametrize(
    ("name", "dtype"), [(name, dtype) for name, m in MONOIDS.items() if name != "times" for dtype in m.dtypes], ids=str
)
def test_compiled_folds_are_numpys_to_the_last_bit(name, dtype, monkeypatch):
    monoid = MONOIDS[name]
    rng = np.random.default_rng(1)
    lengths = np.concatenate((rng.integers(1, 30, 200), [128, 129, 130, 131, 137, 138, 139, 300, 1, 1000]))
    starts = np.cumsum(lengths) - lengths
    values = (rng.standard_normal(lengths.sum()) * (2.0**40 if dtype.itemsize == 8 else 2.0**20)).astype(dtype)
    expected = reductions.fold_runs(monoid, values, starts)
    monkeypatch.setattr(reductions, "MIN_COMPILED_RUNS", 1)
    actual = reductions.fold_runs(monoid, values, starts)
    assert actual.dtype == expected.dtype
    np.testing.assert_array_equal(rows.bits(actual), rows.bits(expected))
    with_empty = reductions.fold_rows(monoid, values, np.repeat([*starts, values.size], 2))
    assert (with_empty[::2] == monoid.zero(dtype)).all()
    np.testing.assert_array_equal(rows.bits(with_empty[1::2]), rows.bits(expected))


LEAST = dataclasses.replace(MONOIDS["min"], op=BinaryOp("least", lambda a, b: a if a <= b else b))


@pytest.mark.parametrize(
    ("monoid", "dtype"),
    [(m, dtype) for m in MONOIDS.values() if m.selective for dtype in m.dtypes] + [(LEAST, np.dtype(np.float64))],
    ids=str,
)
def test_each_line_tells_its_best_value_and_the_first_place_that_holds_it(monoid, dtype):
    rng = np.random.default_rng(1)
    sizes = (0, 1, 3, 16, 17, 63, 64, 65, 80, 81, 401)  # entries in a row, the last of all rows a hub
    places = [(i, j) for i, size in enumerate(sizes) for j in np.sort(rng.permutation(401)[:size]).tolist()]
    ends = tuple(np.array(part) for part in zip(*places, strict=True))
    for values in ([0, 1, 2], [7, 8, 9, *range(60, 90)]):
        A = from_edges(*ends, rng.choice(values, ends[0].size).astype(dtype), shape=(len(sizes), 401))
        for axis in (0, 1):
            lines: list[dict[int, Any]] = [{} for _ in range(A.shape[1 - axis])]
            for line, at, value in zip(ends[1 - axis].tolist(), ends[axis].tolist(), A.values.tolist(), strict=True):
                lines[line][at] = value
            zero = monoid.zero(dtype).item()
            best = [functools.reduce(monoid.op.scalar, line.values(), zero) for line in lines]
            first = [
                min((at for at, value in line.items() if value == y != zero), default=-1)
                for line, y in zip(lines, best, strict=True)
            ]
            for fmt in (CSR, CSC, CompressedCSR, Dense):
                B: Matrix = A.to(fmt, force=True) if fmt is Dense else A.to(fmt)
                for M, along in ((B, axis), (B.T, 1 - axis)):
                    y, k = reduce(M, monoid, axis=along, return_argument=True)
                    assert y.tolist() == best, (fmt, axis)
                    assert k.tolist() == first, (fmt, axis)


@pytest.mark.parametrize("semiring", ["min_plus", "max_min"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_of_all_positions_give_what_their_entries_give_at_any_width(semiring, dtype):
    """Some of whose sums are taken side by side, and the others one by one."""
    rng = np.random.default_rng(5)
    for width in (1, 15, 16, 17, 31, 32, 50):
        at = np.flatnonzero(rng.random(7 * width) < 0.4)
        values = rng.choice(np.array([-np.inf, -3, 0, 2.5, 7, np.inf], dtype), at.size)
        A = from_edges(*np.divmod(at, width), values, shape=(7, width))
        x = rng.choice(np.array([-np.inf, -1, 0, 4, np.inf], dtype), width)
        D: Any = A.to(Dense, force=True)
        for mask in (None, np.arange(7) % 3 != 1):
            np.testing.assert_array_equal(mxv(D, x, semiring, mask=mask), mxv(A, x, semiring, mask=mask))
        np.testing.assert_array_equal(vxm(x, D.T, semiring), mxv(A, x, semiring))
        for monoid in ("min", "max"):
            for axis in (None, 0, 1):
                expected = reduce(A, monoid, axis=axis)
                np.testing.assert_array_equal(reduce(D, monoid, axis=axis), expected)
                np.testing.assert_array_equal(reduce(A.to(ELL, force=True), monoid, axis=axis), expected)


@pytest.mark.parametrize("fmt", [CSR, CSC])
def test_triangles_and_diagonals_are_those_of_conditions_on_positions(fmt):
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        A = random_matrix(rng, DTYPES[seed % len(DTYPES)], ((40, 9), (9, 40), (0, 3))[seed % 3]).to(fmt)
        for name in ("tril", "triu", "diag"):
            for diagonal in (0, *rng.integers(-45, 46, 3).tolist(), 2**70, -(2**70)):
                where = on_position(name, diagonal)
                assert_same(select(A, where), select(A, dataclasses.replace(where, band=None)), seed)


@pytest.mark.parametrize("fmt", list(Matrix.formats.values()), ids=lambda fmt: fmt.__name__)
def test_select_in_blocks_is_select_of_the_whole(fmt, monkeypatch):
    near = Predicate("near", lambda i, j, value, row, col: (i + 2 * j) % 3 + row * value > col)
    for seed in SEEDS:
        rng, A, _ = pair(seed)
        A = A.astype(np.float64)
        row, col = (rng.integers(0, 5, size).astype(np.float64) for size in A.shape)
        some = SparseVector(np.flatnonzero(row > 1), row[row > 1], A.nrows)
        for M in (A.to(fmt, force=True) if fmt in (ELL, SELL, CSB, Dense) else A.to(fmt),):
            for options in ({"row": row, "col": col}, {"row": some, "col": col}):
                actual = select(M, near, **options)
                actual.check()
                with monkeypatch.context() as whole:
                    whole.setattr(rows, "BLOCK", 1 << 16)
                    expected = select(M, near, **options)
                assert actual.equals(expected), f"seed {seed}"
                u, v, w = A.to_edges()
                keep = ((u + 2 * v) % 3 + row[u] * w > col[v]) & ((row[u] > 1) | (options["row"] is row))
                assert [part.tolist() for part in actual.to_edges()] == [part[keep].tolist() for part in (u, v, w)]


@pytest.mark.parametrize("semiring", [MinPlus, PlusTimes, AnyPair], ids=lambda s: s.name)
def test_a_masked_product_is_the_whole_one_written_through_the_mask(semiring):
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        A, B, mask, out = (random_matrix(rng, np.dtype(np.float64), (9, 9)) for _ in range(4))
        whole = mxm(A, B, semiring)
        for form in (mask, mask.to(CSC), mask.to(COO), A):
            for rule in ({}, {"complement": True}, {"complement": True, "replace": True, "accum": "min"}):
                targets = [CSR(*out.components) for _ in range(2)] if rule.get("accum") else [None, None]
                arguments = [rule | ({} if target is None else {"out": target}) for target in targets]
                actual = mxm(A, B, semiring, mask=form, **arguments[0])
                assert_same(actual, apply(whole, "identity", mask=form, **arguments[1]), seed)


def test_a_result_never_shares_what_it_was_written_over():
    A = from_edges([0, 0, 1, 2], [0, 2, 1, 0], [1, 2, 3, 4], shape=3)
    before, turned = A.values.copy(), A.T
    out = CSR.trusted(*A.components)
    assign(out, 9, [0], [2])
    assert A.values.tolist() == before.tolist()
    assert turned.to_dense().tolist() == [[1, 0, 4], [0, 3, 0], [2, 0, 0]]
    assert out.to_dense().tolist() == [[1, 0, 9], [0, 3, 0], [4, 0, 0]]


def test_positions_that_64_bits_cannot_number_are_merged_by_rows():
    shape = (4, 2**62)
    A = CSR(np.array([0, 2, 2, 2, 2]), np.array([5, 2**62 - 1]), np.array([1, 2]), shape)
    B = CSR(np.array([0, 1, 1, 1, 2]), np.array([5, 7]), np.array([3, 4]), shape)
    assert ewise_add(A, B, "plus").values.tolist() == [4, 2, 4]
    assert ewise_mult(A, B, "plus").values.tolist() == [4]
    with pytest.raises(OverflowError, match="do not fit 64 bits"):
        by_keys.union_by_keys(A, B, OPERATORS["plus"], None, written)  # type: ignore[arg-type]
