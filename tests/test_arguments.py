"""What verbs and constructors do with arguments that are odd, wrong or easily lost."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import pytest

from algorithms import bellman_ford, path
from formats import CSR, Matrix, SparseVector, from_edges, from_networkx, from_scipy, write
from semiring import (
    MONOIDS,
    OPERATORS,
    BinaryOp,
    MinPlus,
    Predicate,
    Semiring,
    Verb,
    apply,
    assign,
    compare,
    ewise_add,
    ewise_mult,
    extract,
    mxv,
    reduce,
    select,
    vxm,
)
from semiring.verbs.fusible import Fusible

pytestmark = pytest.mark.quick

INT32_MAX = 2**31 - 1


def graph() -> CSR:
    return from_edges([0, 0, 1, 2], [1, 2, 2, 0], np.array([5, 7, 1, 3], np.int32), shape=3)


# --- assign -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [2.7, 2**40, np.array([1.5, 1, 1]), np.array([2**31, 1, 1])])
def test_assign_refuses_what_the_dtype_cannot_hold(value: Any) -> None:
    x = np.array([1, 2, 3], np.int32)
    with pytest.raises(ValueError, match="int32"):
        assign(x, value)
    assert x.tolist() == [1, 2, 3]


def test_assign_refuses_nan_and_arrays_into_a_matrix() -> None:
    with pytest.raises(ValueError, match="NaN"):
        assign(graph().astype(float), np.nan)
    with pytest.raises(ValueError, match="int32"):
        assign(graph(), from_edges([0], [1], [2**32 + 5], shape=3))
    with pytest.raises(TypeError, match="a scalar or a matrix, got ndarray"):
        assign(graph(), np.ones(3), [0], [0, 1, 2])


def test_what_is_absent_stays_absent_when_it_is_assigned() -> None:
    out = assign(np.zeros(2), np.array([INT32_MAX, 1], np.int32), semiring=MinPlus)
    assert out.tolist() == [np.inf, 1]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("sparse", [False, True])
def test_a_vector_with_nan_is_refused_with_its_position(dtype: Any, sparse: bool) -> None:
    A = graph().astype(dtype)
    x = np.array([1, 2, np.nan], dtype)
    x = SparseVector.trusted(np.array([0, 1, 2], np.int32), x, 3) if sparse else x
    calls = [
        lambda: mxv(A, x, MinPlus),
        lambda: vxm(x, A, "plus_times"),
        lambda: ewise_add(x, np.ones(3, dtype), MinPlus),
        lambda: ewise_mult(np.ones(3, dtype), x, MinPlus),
        lambda: apply(x, "abs"),
        lambda: select(x, "<", 3, semiring=MinPlus),
        lambda: select(A, "<", 3, row=x),
        lambda: reduce(x, "min"),
        lambda: extract(x, [0]),
        lambda: assign(np.zeros(3, dtype), x),
        lambda: mxv(A, np.ones(3, dtype), MinPlus, accum="min", out=x),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="must not hold NaN, got NaN at position 2"):
            call()


def test_an_algorithms_equations_look_for_nan_in_what_they_multiply_alone() -> None:
    class Own(Fusible[..., Any]):
        all: ClassVar[dict[str, Verb[..., Any]]] = {}

    @Own
    def rounds(A: Matrix, call: Callable[[Matrix], Any]) -> Any:
        return equations(A, call)

    @rounds.equations
    def equations(A: Matrix, call: Callable[[Matrix], Any]) -> Any:
        return call(A)

    A, x = graph().astype(float), np.array([1, 2, np.nan])
    f = SparseVector.trusted(np.array([0, 1, 2], np.int32), x, 3)
    assert np.isnan(rounds(A, lambda A: ewise_add(x, x, MinPlus))[2])
    with pytest.raises(ValueError, match="x must not hold NaN, got NaN at position 2"):
        rounds(A, lambda A: vxm(f, A, MinPlus))
    with pytest.raises(ValueError, match="each vector must not hold NaN"):
        ewise_add(x, x, MinPlus)


def test_what_is_absent_on_both_sides_is_subtracted_without_a_warning() -> None:
    absent, out = np.full(3, np.inf), np.array([np.inf, 2, np.inf])
    assert ewise_add(absent, np.array([np.inf, 5, 1]), MinPlus, accum="minus", out=out).tolist() == [np.inf, -3, 1]


@pytest.mark.parametrize("place", [[0, 1], 0, (0,), (0, 1, 2), (slice(None), 0), np.array([0, 1]), (0, 1.0)])
def test_an_entry_is_looked_up_by_two_integers_alone(place: Any) -> None:
    with pytest.raises(TypeError, match=r"an entry is at \(u, v\), two integers, got "):
        assert place in graph()
    if not isinstance(place, tuple) or len(place) != 2:  # else a part is asked for
        with pytest.raises(TypeError, match=r"an entry is A\[u, v\] and a part A\[rows, cols\].*: a row is A\[u, :\]"):
            graph()[place]
    assert graph()[np.int64(0), np.array(1)] == 5


@pytest.mark.parametrize(("accum", "expected"), [("min", 0), ("times", 0), ("second", 0), ("plus", 5)])
def test_an_assigned_zero_is_a_value(accum: str, expected: int) -> None:
    assert assign(np.array([5, 7]), 0, [0], accum=accum).tolist() == [expected, 7]
    assert assign(from_edges([0, 0], [0, 1], [5, 7], shape=2), 0, [0], [0], accum=accum)[0, 0] == expected
    sparse = assign(SparseVector(np.array([0, 1]), np.array([5, 7]), 3), 0, [0], accum=accum)
    assert sparse.to_dense().tolist() == [expected, 7, 0]


@pytest.mark.parametrize("rows", [2, [[0, 1], [1, 2]]])
def test_places_are_a_list(rows: Any) -> None:
    for call in (
        lambda: assign(np.zeros(3), 9, rows),
        lambda: assign(graph(), 9, rows),
        lambda: extract(np.ones(3), rows),
    ):
        with pytest.raises(ValueError, match="must be one-dimensional"):
            call()


# --- select and apply -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "k"), [("tril", -1), ("tril", 1), ("triu", 1), ("diag", -2), ("offdiag", 1)])
def test_select_counts_diagonals(name: str, k: int) -> None:
    dense = {"tril": np.tril, "triu": np.triu}
    A = from_edges(*np.divmod(np.arange(16), 4), np.arange(1, 17), shape=4)
    d = np.subtract.outer(-np.arange(4), -np.arange(4)) == k
    expected = dense[name](A.to_dense(), k) if name in dense else A.to_dense() * (d if name == "diag" else ~d)
    assert (select(A, name, k).to_dense() == expected).all()


def test_select_does_not_lose_an_argument() -> None:
    always = Predicate("always", lambda i, j, value, row, col: value == value, "true")
    with pytest.raises(TypeError, match="compares with nothing, got 99"):
        select(graph(), always, 99)
    with pytest.raises(TypeError, match="row= and col= are for matrices"):
        select(SparseVector([0], [1], 3), "<", 6, row=np.ones(3))


@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        (lambda a: 1, ValueError, "keeps the shape"),
        (lambda a: a[:0], ValueError, "keeps the shape"),
        (lambda a: a * 1j, TypeError, "complex128"),
        (lambda a: a * np.nan, ValueError, "NaN"),
    ],
)
def test_apply_checks_what_the_function_returns(function: Any, error: type[Exception], message: str) -> None:
    for u in (graph(), np.array([1, 2]), SparseVector([0], [1], 3)):
        with pytest.raises(error, match=message):
            apply(u, function)


def test_without_out_the_result_is_new() -> None:
    for verb in (lambda A: apply(A, "identity"), extract):
        A = graph()
        assign(verb(A), 0, [0], [1])
        assert A[0, 1] == 5


# --- the rest ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("accum", ["", 0, False])
def test_an_accumulator_that_is_none_of_them(accum: Any) -> None:
    with pytest.raises((TypeError, ValueError), match=r"expected a|unknown"):
        mxv(graph(), np.ones(3, np.int32), MinPlus, accum=accum, out=np.ones(3, np.int32))


def test_a_dense_array_holds_its_fill() -> None:
    assert graph().to_dense(2**31)[0, 0] == 2**31
    assert SparseVector([0], [1], 2).to_dense(-(2**31) - 1)[1] == -(2**31) - 1


def test_edges_of_a_dtype_that_is_not_ours() -> None:
    assert from_edges([0], [1], dtype="int8").dtype == np.int32
    with pytest.raises(TypeError, match="complex128"):
        from_edges([0], [1], dtype=complex)


def test_algorithms_take_matrices_and_vertices() -> None:
    for A in (graph().to_scipy(), graph().to_dense(), None):
        with pytest.raises(TypeError, match="A must be a matrix"):
            bellman_ford(A, 0)


@pytest.mark.parametrize("monoid", [OPERATORS["plus"], np.add, 3])
def test_reduce_takes_a_monoid(monoid: Any) -> None:
    with pytest.raises(TypeError, match="expected a monoid"):
        reduce(np.ones(3), monoid)


def test_from_scipy_looks_at_dup_before_it_needs_it() -> None:
    with pytest.raises(ValueError, match="dup must be one of"):
        from_scipy(graph().to_scipy(), dup="foo")


def test_a_folder_that_is_not_there_is_named(tmp_path: Any) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere'$"):
        write(tmp_path / "nowhere" / "a.mtx", graph())


# --- what cannot be meant ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda A: A.to(dtype="float32"), TypeError, "CSR has no option 'dtype'"),
        (lambda A: A.to(5), TypeError, "a format is a class or its name, one of .*, got 5"),
        (lambda A: A.to("auto", calls="x"), ValueError, "calls must be a whole number from 1 on, got 'x'"),
        (lambda A: A.footprint(device="gpu"), ValueError, "device must be 'cpu' or 'cuda', got 'gpu'"),
        (lambda A: compare(A, repeats=0), ValueError, "repeats must be at least 1, got 0"),
        (lambda A: Semiring("min", OPERATORS["plus"]), TypeError, "add must be a Monoid, .*, got 'min'"),
        (lambda A: Semiring(MinPlus.add, "plus"), TypeError, "mul must be a BinaryOp, .*, got 'plus'"),
        (lambda A: bellman_ford(A, 0, fused="no"), TypeError, "fused must be True or False, got 'no'"),
        (lambda A: path(np.zeros(3), 1), ValueError, "a vector of integers, one tree, got float64"),
        (lambda A: path(np.zeros((2, 3), int), 1), ValueError, r"one tree, got int64 of shape \(2, 3\)"),
        (lambda A: from_networkx(5), TypeError, "G must be a NetworkX graph, got 5"),
    ],
    ids=lambda case: case[:30] if isinstance(case, str) else "",
)
def test_an_argument_that_cannot_be_meant_is_named(call: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        call(graph())


@pytest.mark.parametrize(
    ("scalar", "why"),
    [
        (lambda a, b: nowhere(a), "name 'nowhere' is not defined"),  # type: ignore[name-defined]  # noqa: F821
        (lambda a: a, "2 argument types given, but function takes 1"),
        (lambda a, b: "x", "not a number"),
        (lambda a, b: a.length, "Unknown attribute 'length'"),
    ],
)
def test_an_operator_that_does_not_compile_says_why_in_a_sentence(scalar: Any, why: str) -> None:
    odd = Semiring(MinPlus.add, BinaryOp("odd", scalar=scalar, cuda="a"))
    with pytest.raises(ValueError, match=f"scalar of the operator 'odd' does not compile for int32: .*{why}") as caught:
        mxv(graph(), np.ones(3, np.int32), odd)
    assert "\n" not in str(caught.value)


def test_a_package_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(ModuleNotFoundError, match="a NetworkX graph needs networkx: pip install networkx"):
        graph().to_networkx()


def test_options_alone_convert_to_the_same_format() -> None:
    assert graph().to("sell").to(chunk=4).chunk == 4  # type: ignore[attr-defined]


def test_laws_are_members_of_law() -> None:
    with pytest.raises(TypeError, match=r"laws are members of Law, as Law.ASSOCIATIVE, got 'DISTRIBUTES_LEFT'"):
        Semiring(MONOIDS["min"], OPERATORS["plus"], one=0, laws={"DISTRIBUTES_LEFT"})  # type: ignore[arg-type]


hypot = BinaryOp("hypot", scalar=lambda a, b: math.hypot(a, b))


def test_an_operator_may_have_the_name_of_a_function_that_it_calls() -> None:
    x = np.array([4.0, 12.0, 4.0])
    y = mxv(graph().astype(float), x, Semiring(MONOIDS["min"], hypot))
    assert y.tolist() == [min(math.hypot(5, 12), math.hypot(7, 4)), math.hypot(1, 4), math.hypot(3, 4)]
