"""How verbs are called: what they refuse and say, what they promise about `out`, and small worked examples."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from formats import COO, CSR, ELL, SparseVector, from_edges
from formats.matrix.facts import COMPRESSED
from semiring import (
    MONOIDS,
    AnyPair,
    BinaryOp,
    LorLand,
    MinFirst,
    MinMax,
    MinPlus,
    MinSecond,
    PlusTimes,
    Predicate,
    Semiring,
    Vector,
    Verb,
    apply,
    assign,
    ewise_add,
    ewise_mult,
    extract,
    get_threads,
    lost,
    mxm,
    mxv,
    nearer,
    reduce,
    select,
    set_threads,
    threads,
    tight,
    transpose,
    vxm,
)
from semiring.algebra.semirings import find_semiring
from semiring.cpu import compiled
from semiring.cpu import threads as threading
from semiring.cpu.reductions import MIN_COMPILED_RUNS
from semiring.vectors import scatter

from .strategies import FORMATS, OPTIONS

pytestmark = pytest.mark.quick

INF = np.inf
INT32_MAX = 2**31 - 1


@pytest.fixture
def A():
    """0 -> 1 (5), 0 -> 2 (0: stored), 1 -> 2 (2), 2 -> 0 (7)."""
    return from_edges([0, 0, 1, 2], [1, 2, 2, 0], [5, 0, 2, 7])


X = np.array([0, INT32_MAX, 3], np.int32)

# --- refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda A: mxv(A, X[:2], MinPlus), ValueError, "x must have 3 elements, got 2"),
        (lambda A: mxv(A, X.reshape(1, 3), MinPlus), ValueError, "x must be one-dimensional, got 2 dimensions"),
        (lambda A: mxv(A, [0, 1, 2], MinPlus), TypeError, "x must be an array or a SparseVector, got list"),
        (lambda A: mxv(A, X.astype(np.int8), MinPlus), TypeError, "x must be of dtype bool, int32, .* got int8"),
        (lambda A: mxv(X, A, MinPlus), TypeError, r"A must be a matrix \(.*CSR.*\), got ndarray"),
        (lambda A: mxv(A, X, "min_puls"), ValueError, "unknown semiring 'min_puls'; there are min_plus, max_plus"),
        (lambda A: mxv(A, X, "min_lt"), ValueError, "unknown semiring 'min_lt'"),
        (lambda A: mxv(A, X, min), TypeError, "expected a Semiring or its name, got builtin_function"),
        (lambda A: mxv(A, X, LorLand), TypeError, "lor_land takes boolean vectors, got int32: pass x != zero"),
        (lambda A: mxv(A.pattern(), X > 0, MinPlus), TypeError, "min_plus is not defined on bool; it is on int32"),
        (lambda A: mxv(A, X, MinPlus, mask=X), TypeError, "a mask is a boolean array or a SparseVector, got .* int32"),
        (lambda A: mxv(A, X, MinPlus, mask=X[:1] > 0), ValueError, "mask must have 3 elements, got 1"),
        (lambda A: mxv(A, X, MinPlus, complement=True), ValueError, "complement needs mask="),
        (lambda A: mxv(A, X, MinPlus, accum="min"), ValueError, "accum needs out="),
        (lambda A: mxv(A, X, MinPlus, out=X[:1]), ValueError, "out must have 3 elements, got 1"),
        (lambda A: mxv(A, X, MinPlus, out=X * 1.0), TypeError, "out must have the result's dtype int32, got float64"),
        (lambda A: mxv(A, X, MinPlus, out=X * 1, accum="mni"), ValueError, "operator 'mni'; did you mean 'min'"),
        (lambda A: mxv(A, X, MinPlus, out=A.values[:3]), ValueError, "out is read-only"),
        (lambda A: vxm(A, X, MinPlus), TypeError, "A must be a matrix"),
        (lambda A: vxm(X[:1], A, MinPlus), ValueError, "x must have 3 elements, got 1"),
        (lambda A: mxm(A, X, MinPlus), ValueError, "the second operand of mxm must be two-dimensional, got 1"),
        (lambda A: mxm(A, from_edges([0], [0]), MinPlus), ValueError, r"A's columns must be B's rows .* \(3, 3\)"),
        (lambda A: mxm(A, A, MinPlus, out=A.T), TypeError, "out must be a CSR, got CSC"),
        (
            lambda A: mxm(A, A, MinPlus, mask=X > 0),
            ValueError,
            r"mask must have .* \(3, 3\), got \(3,\)",
        ),
        (lambda A: mxm(A, A, MinPlus, mask=X), TypeError, "a mask is a matrix or a two-dimensional boolean array"),
        (lambda A: ewise_add(X, X[:1], "min"), ValueError, "each vector must have 3 elements, got 1"),
        (lambda A: ewise_add(X, X, "lt"), TypeError, "lt compares two present values: use ewise_mult"),
        (lambda A: ewise_add([1], [2], "min"), TypeError, "expected a matrix or a vector, got list"),
        (lambda A: ewise_mult(A, from_edges([0], [0]), "min"), ValueError, "the matrices must have one shape"),
        (lambda A: apply(X, "anv"), ValueError, "unknown unary operator 'anv'; did you mean 'ainv'"),
        (lambda A: apply(X, "plus", left=1, right=1), ValueError, "apply binds one operand, left or right, not both"),
        (
            lambda A: select(A, "upper"),
            ValueError,
            "unknown predicate 'upper'; there are tril, triu",
        ),
        (lambda A: select(A, "<"), TypeError, "select by 'lt' compares values with a scalar"),
        (lambda A: select(A, "plus", 1), ValueError, "unknown predicate 'plus'"),
        (lambda A: select(X, "tril"), ValueError, "unknown predicate 'tril'"),
        (lambda A: select(X, "<", 3), TypeError, "select on a dense vector needs semiring="),
        (lambda A: select(A, tight(MinPlus), row=X[:1]), ValueError, "row must have 3 elements, got 1"),
        (lambda A: reduce(A, "plus", axis=2), ValueError, "axis must be None, 0 or 1, got 2"),
        (lambda A: reduce(A, "minus"), ValueError, "unknown monoid 'minus'; did you mean 'min'.*min, max"),
        (lambda A: reduce(A, "lor"), TypeError, "lor is not defined on int32"),
        (
            lambda A: reduce(A, "min", out=X * 1),
            ValueError,
            "a scalar result takes no mask, accum or out",
        ),
        (lambda A: reduce([1, 2], "min"), TypeError, "expected a matrix or a vector, got list"),
        (lambda A: reduce(X, "min", axis=0), ValueError, "a vector has no axis"),
        (lambda A: extract(A, [3]), ValueError, r"rows must be in \[0, 3\), got 3"),
        (lambda A: extract(A, 0, 1), TypeError, r"a single entry is A\[u, v\] or A.get\(u, v\)"),
        (lambda A: extract(X, [0], [1]), TypeError, "a vector has no columns"),
        (lambda A: assign(X * 1, 5, [0, 0]), ValueError, "indices must not repeat, but 0 does"),
        (lambda A: assign(X * 1, X, [0]), ValueError, "value must have 1 elements, got 3"),
        (lambda A: assign(CSR(*A.components), A, [0], [1]), ValueError, r"value must have the places' shape \(1, 1\)"),
        (lambda A: transpose(X), TypeError, "A must be a matrix"),
    ],
)
def test_a_wrong_call_names_the_argument_and_the_rule(A, call, error, message):
    with pytest.raises(error, match=message):
        call(A)


def test_a_cell_is_registered_once() -> None:
    with pytest.raises(ValueError, match="ewise_add is implemented for CSR on cpu already"):
        ewise_add.implement(CSR, "cpu")(lambda *_: None)


def test_a_missing_cell_names_verb_format_and_backend(A):
    with pytest.raises(NotImplementedError, match=r"assign is not implemented for COO on cpu; it is for .*CSR on cpu"):
        assign.find(COO, "cpu")
    with pytest.raises(TypeError, match="out must be a CSR, got COO"):
        assign(A.to(COO), 3)


@pytest.mark.parametrize("fmt", FORMATS, ids=lambda fmt: fmt.__name__)
def test_every_format_has_every_verb_that_makes_a_matrix(A, fmt):
    M = A.to(fmt)
    calls = [
        lambda M: mxm(M, M, MinPlus, mask=A, complement=True),
        lambda M: ewise_add(M, M, "plus"),
        lambda M: ewise_mult(M, M.T.T, "min_plus"),
        lambda M: apply(M, "ainv"),
        lambda M: extract(M, [2, 0], [1, 2]),
        lambda M: select(M, "<", 3),
        lambda M: transpose(M),
    ]
    for call in calls:
        assert call(M).equals(call(A))
    assert extract(M, 1).values.tolist() == extract(A, 1).values.tolist()
    assert extract(M, None, 1).indices.tolist() == extract(A, None, 1).indices.tolist()


def test_rows_that_a_verb_needs_are_kept(A):
    M = A.to(COO)
    ewise_add(M, M, "plus")
    assert M.keeps(COMPRESSED, CSR)
    with pytest.raises(ValueError, match=r"the matrices must have one shape"):
        ewise_add(A.to(ELL), from_edges([0], [1], shape=9).to(ELL), "plus")


def test_an_accumulator_without_effect_leaves_out_alone(A):
    """A refused call changes nothing: everything is checked before anything is computed."""
    out = X.copy()
    with pytest.raises(ValueError, match="mask must have"):
        mxv(A, X, MinPlus, mask=np.ones(2, bool), out=out)
    assert out.tolist() == X.tolist()


# --- out --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fmt", FORMATS, ids=lambda fmt: fmt.__name__)
def test_out_is_returned_and_may_be_the_operand(A, fmt):
    for verb in (mxv, vxm):
        M = A.to(fmt)
        dense, sparse = X.copy(), SparseVector([0, 2], np.array([0, 3], np.int32), 3)
        for x in (dense, sparse):
            arguments = (M, x) if verb is mxv else (x, M)
            expected = verb(*arguments, MinPlus)
            assert verb(*arguments, MinPlus, out=x) is x
            assert dense_of(x).tolist() == dense_of(expected).tolist()


def dense_of(y):
    return y.to_dense(MinPlus.zero(y.dtype)) if isinstance(y, SparseVector) else y


def test_relaxation_in_place(A):
    """d' = d min dA, the step of Bellman-Ford, in one call."""
    d = np.array([0, INT32_MAX, INT32_MAX], np.int32)
    assert vxm(d, A, MinPlus, accum="min", out=d) is d
    assert d.tolist() == [0, 5, 0]


def test_a_matrix_may_be_its_own_out(A):
    C = CSR(*A.components)
    turned = C.T
    assert mxm(C, C, PlusTimes, out=C) is C
    assert C.to_dense().tolist() == (A.to_dense() @ A.to_dense()).tolist()
    assert C.T is turned, "who holds the transpose sees the change"
    assert turned.to_dense().tolist() == C.to_dense().T.tolist()


def test_operands_stay_as_they_are(A):
    x, before = X.copy(), [part.copy() for part in A.arrays]
    mask = np.array([True, False, True])
    mxv(A, x, MinPlus, mask=mask)
    ewise_add(x, x, "plus", mask=mask)
    extract(x, None, mask=mask)
    assert x.tolist() == X.tolist()
    assert all((now == then).all() for now, then in zip(A.arrays, before, strict=True))


# --- names, dtypes, meaning -------------------------------------------------------------------------------------------


def test_semirings_by_name(A):
    assert find_semiring("min_plus") is MinPlus
    assert mxv(A, X, "min_plus").tolist() == mxv(A, X, MinPlus).tolist() == [3, 5, 7]
    assert mxv(A, np.array([1, 2, 3], np.int32), "max_times").tolist() == [10, 6, 7]
    assert mxv(A, np.array([1, 2, 3], np.int32), "max_minus").tolist() == [3, -1, 6], "a - x"
    assert vxm(np.array([1, 2, 3], np.int32), A, "max_minus").tolist() == [-4, -4, 1], "x - a"
    assert mxv(A, np.array([1, 2, 3], np.int32), "plus_pair").tolist() == [2, 1, 1]


@pytest.mark.long
def test_a_semiring_of_ones_own(A):
    absdiff = BinaryOp("absdiff", scalar=lambda a, b: abs(a - b), cuda="a < b ? b - a : a - b")
    x = np.array([4, 2, 9], np.int32)
    for fmt in FORMATS:
        assert mxv(A.to(fmt), x, Semiring(MinPlus.add, absdiff)).tolist() == [3, 7, 3]


def test_the_result_has_numpys_common_dtype(A):
    y = mxv(A, X.astype(np.float64), PlusTimes)
    assert y.dtype == np.float64
    assert mxv(A, X.astype(np.int64), PlusTimes).dtype == np.int64
    assert mxv(A.astype(np.float32), X, PlusTimes).dtype == np.float64
    assert mxv(A.pattern(), X, MinPlus).tolist() == [4, 4, 1], "a pattern's weights are 1"


def test_absent_stays_absent_in_another_dtype():
    A = from_edges([0, 1], [0, 0], [INT32_MAX, 1], dtype="int32")
    assert mxv(A, np.zeros(2), MinPlus).tolist() == [INF, 1.0]
    assert mxv(A, np.zeros(2), PlusTimes).tolist() == [0, 0]
    assert mxv(A, np.ones(2), "max_plus").tolist() == [INT32_MAX + 1.0, 2.0], "to max-plus it is a number"
    wide = mxv(from_edges([0], [0], [1], dtype="int64"), np.array([INT32_MAX], np.int32), MinPlus)
    assert wide.tolist() == [2**63 - 1]


@pytest.mark.long
@pytest.mark.parametrize("fmt", FORMATS, ids=lambda fmt: fmt.__name__)
def test_a_stored_zero_is_an_edge(A, fmt):
    M, at_source = A.to(fmt), np.array([True, False, False])
    assert vxm(at_source, M, LorLand).tolist() == [False, True, True]
    assert vxm(at_source.astype(np.int32), M, AnyPair).tolist() == [0, 1, 1]
    d = np.array([0, INT32_MAX, INT32_MAX], np.int32)
    assert vxm(d, M, MinPlus).tolist() == [INT32_MAX, 5, 0]
    assert vxm(d, M, MinFirst).tolist() == [INT32_MAX, 0, 0], "the smallest source of an edge"
    assert vxm(d, M, MinSecond).tolist() == [INT32_MAX, 5, 0], "the lightest edge"
    assert vxm(d, M, MinMax).tolist() == [INT32_MAX, 5, 0]


@pytest.mark.parametrize("op", ["min_first", MinSecond, "max_second"])
def test_an_element_that_is_zero_is_absent_from_elementwise_products(op):
    zero = find_semiring(op).zero(np.dtype(float))
    u, v = np.array([1.0, zero, 3.0]), np.array([zero, 2.0, 4.0])
    expected = [zero, zero, 3.0 if op == "min_first" else 4.0]
    everything = np.arange(3)
    for left in (u, SparseVector(everything, u, 3)):
        for right in (v, SparseVector(everything, v, 3)):
            w = ewise_mult(left, right, op)
            assert (w.to_dense(zero) if isinstance(w, SparseVector) else w).tolist() == expected
    left, right = (from_edges([0] * 3, range(3), x, shape=(1, 3)) for x in (u, v))
    assert ewise_mult(left, right, op).to_dense(zero).tolist() == [expected]


def test_elementwise_by_name_of_an_operator_has_no_absent_elements():
    """ "times" is a monoid, too, but to a product its identity 1 is a number like any other."""
    assert ewise_mult(np.array([1, 2]), np.array([3, 1]), "times").tolist() == [3, 2]
    assert ewise_mult(np.array([0, 2]), np.array([3, 0]), "plus").tolist() == [3, 2]
    assert ewise_add(np.array([1.0, INF]), SparseVector([1], [2.0], 2), "second").tolist() == [1.0, 2.0]


# --- select, extract, reduce, mxm -------------------------------------------------------------------------------------


@pytest.mark.parametrize("fmt", FORMATS, ids=lambda fmt: fmt.__name__)
def test_select_by_predicates_on_distances(A, fmt):
    d = np.array([0, 5, 0], np.int32)
    M = A.to(fmt)
    chosen = {
        "tight": select(M, tight(MinPlus), row=d, col=d),
        "nearer": select(M, nearer(MinPlus), row=d, col=d),
        "lost": select(M, lost(MinPlus), row=d, col=np.full(3, INT32_MAX, np.int32)),
        "own": select(M, Predicate("even", lambda i, j, value, row, col: value % 2 == 0, "value % 2 == 0")),
        "tril": select(M, "tril"),
    }
    places = {name: list(zip(*(part.tolist() for part in B.to_edges()[:2]), strict=True)) for name, B in chosen.items()}
    assert places == {
        "tight": [(0, 1), (0, 2)],
        "nearer": [(0, 1)],
        "lost": [(0, 1), (0, 2), (1, 2), (2, 0)],
        "own": [(0, 2), (1, 2)],
        "tril": [(2, 0)],
    }


def test_extract_a_row_or_column(A):
    row, col = extract(A, 0), extract(A, cols=2, rows=None)
    assert (row.indices.tolist(), row.values.tolist(), row.size) == ([1, 2], [5, 0], 3)
    assert (col.indices.tolist(), col.values.tolist()) == ([0, 1], [0, 2])
    assert extract(A, 0, [2, 1]).to_dense(-1).tolist() == [0, 5]
    assert extract(A, np.int64(1)).to_dense(-1).tolist() == [-1, -1, 2]
    block = extract(A, [2, 0, 0], [0, 1])
    assert block.to_dense(-1).tolist() == A.to_dense(-1)[np.ix_([2, 0, 0], [0, 1])].tolist()


def test_reduce_of_nothing_is_the_identity():
    for empty in (from_edges([], [], shape=(0, 2)), np.zeros(0, np.int32), SparseVector([], np.zeros(0, np.int32), 4)):
        assert reduce(empty, "min") == INT32_MAX
        assert reduce(empty, PlusTimes) == 0
        assert reduce(empty, "times") == 1
    assert reduce(from_edges([], [], shape=(0, 2)), "max", axis=0).tolist() == [-(2**31)] * 2
    assert reduce(from_edges([], [], shape=(0, 2)), "max", axis=1).tolist() == []


@pytest.mark.parametrize("fmt", FORMATS)
@pytest.mark.parametrize("dtype", ["bool", "int32", "int64", "float32", "float64"])
def test_reduce_of_many_empty_lines_is_the_identity(fmt, dtype):
    """So many that compiled loops take them."""
    for shape in ((2 * MIN_COMPILED_RUNS, 3), (3, 2 * MIN_COMPILED_RUNS)):
        A = from_edges([], [], np.zeros(0, dtype), shape=shape).to(fmt)
        for name in ("min", "max", "plus", "times") if dtype != "bool" else ("lor", "land"):
            zero = MONOIDS[name].zero(A.dtype)
            assert reduce(A, name) == zero
            for axis in (0, 1):
                assert (reduce(A, name, axis=axis) == np.full(shape[1 - axis], zero)).all()


def test_matrix_product_counts_paths(A):
    P = A.pattern().astype(np.int64)
    dense = P.to_dense()
    assert mxm(P, P, PlusTimes).to_dense().tolist() == (dense @ dense).tolist()
    assert mxm(A, A, MinPlus).to_dense(-1).tolist() == [[7, -1, 7], [9, -1, -1], [-1, 12, 7]]


def test_scalars_are_numpy_scalars(A):
    assert reduce(A, "plus") == 14
    assert reduce(A, "plus").dtype == np.int32
    assert reduce(A.pattern(), "lor").dtype == np.bool_


# --- verbs and threads ------------------------------------------------------------------------------------------------


def test_every_verb_has_a_table_of_formats_and_backends():
    assert set(Verb.all) >= {"mxv", "vxm", "mxm", "ewise_add", "ewise_mult", "reduce", "select", "apply", "extract"}
    for verb in (mxv, vxm, mxm, ewise_add, ewise_mult, reduce, select, apply, transpose, extract, assign):
        assert Verb.all[verb.name] is verb
        assert (CSR, "cpu") in verb.table
        assert {fmt for fmt, _ in verb.table} <= {*FORMATS, Vector}
        assert verb.__doc__
        assert repr(verb) == f"<verb {verb.name}>"


@pytest.mark.parametrize("count", [0, -1, 1.5, "2", None])
def test_a_number_of_threads_is_a_positive_integer(count):
    with pytest.raises(ValueError, match="the number of threads must be a positive integer, got"):
        set_threads(count)


def test_threads_are_set_for_a_block():
    before = get_threads()
    with threads(before + 1):
        assert get_threads() == before + 1
    assert get_threads() == before
    with pytest.raises(KeyError), threads(3):  # noqa: PT012
        assert get_threads() == 3
        raise KeyError
    assert get_threads() == before


def test_threads_outside_a_block_are_kept():
    with threads(2):
        threading.run(lambda start, stop: None, [(0, 1), (1, 2)])
        pool = threading._pool
        with threads(1):
            assert threading._pool is None
        assert threading._pool is pool


@pytest.mark.long
@pytest.mark.parametrize("fmt", FORMATS, ids=lambda fmt: fmt.__name__)
@pytest.mark.parametrize("semiring", [MinPlus, "min_absdiff", PlusTimes], ids=str)
def test_results_do_not_depend_on_the_number_of_threads(fmt, semiring, monkeypatch):
    """With work cut for many threads, however little there is; integers, so that sums are exact."""
    if semiring == "min_absdiff":
        absdiff = BinaryOp("absdiff", scalar=lambda a, b: abs(a - b), cuda="a < b ? b - a : a - b")
        semiring = Semiring(MinPlus.add, absdiff)
    monkeypatch.setattr(threading, "MIN_ENTRIES_FOR_THREADS", 1)
    monkeypatch.setattr(compiled, "PLACES_PER_ELEMENT_FOR_A_THREAD", 1)
    rng = np.random.default_rng(2)
    src, dst, weights = rng.integers(0, 200, 900), rng.integers(0, 150, 900), rng.integers(-9, 99, 900)
    A = from_edges(src, dst, weights, shape=(200, 150), dtype=np.int32).to(fmt, **OPTIONS.get(fmt, {}))
    x, y = (rng.integers(0, 99, n).astype(np.int32) for n in A.shape[::-1])
    results = []
    for count in (1, 2, 4, 16):
        with threads(count):
            results.append([mxv(A, x, semiring).tolist(), vxm(y, A, semiring).tolist()])
    assert all(result == results[0] for result in results)


@given(count=st.integers(0, 40), most=st.integers(1, 50))
def test_joined_pieces_are_the_same_work_in_the_same_order(count, most):
    pieces = [(10 * k, 10 * k + 10) for k in range(count)]
    joined = threading.merged_pieces(pieces, most)
    assert len(joined) <= most
    assert [k for start, stop in joined for k in range(start, stop)] == list(range(10 * count))
    assert len(threading.merged_pieces(pieces, max(count, 1))) == count


@given(st.lists(st.booleans(), min_size=5, max_size=5), st.integers(0, 9))
def test_put_is_assign_with_the_vector_as_its_mask(places, value):
    flags = np.array(places)
    sparse = SparseVector(np.flatnonzero(flags), np.flatnonzero(flags) + 20, 5)
    for v, new in ((sparse, None), (sparse, value), (flags, value), (flags, np.arange(5) + value)):
        out, expected = np.arange(5), np.arange(5)
        scatter(out, v, new)
        wanted = v.to_dense() if new is None else new
        assert out.tolist() == assign(expected, wanted, mask=v).tolist()
