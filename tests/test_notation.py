"""Brackets and operators on matrices mean what they mean for NumPy's arrays and SciPy's, in every format and place."""

from __future__ import annotations

import operator
import pickle
import re
import weakref
from collections.abc import Callable, Iterable
from typing import Any
from unittest import mock

import numpy as np
import pytest
import scipy.sparse

import semiring
from formats import CSC, CSR, Matrix, SparseVector, from_edges, from_scipy
from formats.arrays import to_device
from formats.matrix.notation import ELSEWHERE

from .conftest import Backend
from .strategies import FORMATS, OPTIONS

pytestmark = pytest.mark.quick

every_format = pytest.mark.parametrize(
    ("fmt", "backend"),
    [
        *((fmt, "cpu") for fmt in FORMATS),
        *(pytest.param(fmt, "cuda", marks=pytest.mark.backend("cuda")) for fmt in FORMATS),
    ],
)


def random_pair(fmt: type[Matrix], backend: Backend, dtype: Any, shape: tuple[int, int], seed: int = 0) -> Any:
    """A matrix, and the array with 0 for what is absent."""
    rng = np.random.default_rng(seed)
    count = shape[0] * shape[1] // 3
    at = np.sort(rng.permutation(shape[0] * shape[1])[:count])
    values = rng.integers(1, 9, count).astype(dtype)
    rows: Any = from_edges(at // shape[1], at % shape[1], values, shape=shape)
    options = {"force": True} if "force" in OPTIONS.get(fmt, {}) else {}
    dense = np.zeros(shape, dtype)
    dense[at // shape[1], at % shape[1]] = values
    return rows.to(fmt, **options).to(device=backend), dense


def array(x: Any) -> np.ndarray:
    """What a result has at each place, 0 where nothing is."""
    if isinstance(x, Matrix | SparseVector):
        x = x.to_dense(0)
    return to_device(x, "cpu")


@pytest.mark.filterwarnings("ignore:invalid value encountered in matmul:RuntimeWarning")  # of NumPy's, now and then
@every_format
@pytest.mark.parametrize(
    "dtype", [np.float64, *(pytest.param(each, marks=pytest.mark.long) for each in (np.int32, np.float32))]
)
def test_products_sums_and_multiples_are_numpys(fmt, backend, dtype):
    A, a = random_pair(fmt, backend, dtype, (7, 5))
    B, b = random_pair(fmt, backend, dtype, (7, 5), seed=1)
    S, s = random_pair(fmt, backend, dtype, (5, 6), seed=2)
    x, y = np.arange(5).astype(dtype), np.arange(7).astype(dtype)
    np.testing.assert_array_equal(array(A @ to_device(x, backend)), a @ x)
    np.testing.assert_array_equal(array(to_device(y, backend) @ A), y @ a)
    np.testing.assert_array_equal(array(A @ SparseVector.from_dense(to_device(x, backend), 0)), a @ x)
    np.testing.assert_array_equal(array(SparseVector.from_dense(to_device(y, backend), 0) @ A), y @ a)
    np.testing.assert_array_equal(array(A @ S), a @ s)
    np.testing.assert_array_equal(array(A @ to_device(s, backend)), a @ s)
    np.testing.assert_array_equal(array(to_device(s.T, backend) @ A.T), s.T @ a.T)
    np.testing.assert_array_equal(array(A + B), a + b)
    np.testing.assert_array_equal(array(A - B), a - b)
    np.testing.assert_array_equal(array(A * B), a * b)
    np.testing.assert_array_equal(array(-A), -a)
    for factor in (3, np.int64(2), 0.5):
        for product, expected in ((A * factor, a * factor), (factor * A, factor * a)):
            np.testing.assert_array_equal(array(product), expected)
            assert product.dtype == expected.dtype


@every_format
def test_brackets_take_parts(fmt, backend):
    A, a = random_pair(fmt, backend, np.int32, (7, 5))
    cases: list[tuple[Any, Any]] = [
        *((slice(None), slice(None)), (slice(1, 6, 2), slice(None)), (slice(None, None, -1), slice(4, 0, -2))),
        *(([3, 0, 3], slice(1, 4)), (np.array([6, 2]), [4, 0, 1]), (slice(5, 5), [0])),
        *((a[:, 1] > 0, slice(None)), (slice(None), np.array([True, False, True, False, True]))),
    ]
    for rows, cols in cases:
        np.testing.assert_array_equal(array(A[rows, cols]), a[rows][:, cols], err_msg=f"{rows}, {cols}")
    for u in range(7):
        np.testing.assert_array_equal(array(A[u, :]), a[u])
        np.testing.assert_array_equal(array(A[u, [4, 1]]), a[u, [4, 1]])
    for v in range(5):
        np.testing.assert_array_equal(array(A[:, v]), a[:, v])
    u, v = (int(at) for at in np.argwhere(a)[0])
    assert A[u, v] == a[u, v]


def test_operands_of_two_formats_and_dtypes_meet_in_csr():
    A, a = random_pair(CSR, "cpu", np.int32, (6, 6))
    B, b = random_pair(CSC, "cpu", np.float64, (6, 6), seed=1)
    for made, expected in ((A + B, a + b), (A @ B, a @ b), (A * B, a * b)):
        assert type(made) is CSR
        np.testing.assert_array_equal(made.to_dense(0), expected)


def test_booleans_are_joined_as_numpys():
    A, a = random_pair(CSR, "cpu", bool, (6, 6))
    np.testing.assert_array_equal((A @ A).to_dense(False), a @ a)
    np.testing.assert_array_equal(A @ np.ones(6, bool), a @ np.ones(6, bool))


COMPARED = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@every_format
@pytest.mark.parametrize("dtype", [np.float64, np.int32, np.float32, np.int64, bool])
def test_numbers_divide_entries_and_are_compared_with_them(fmt, backend, dtype):
    """A comparison gives a Boolean for each entry; what is absent stays absent."""
    A, a = random_pair(fmt, backend, dtype, (7, 5))
    there, row = a != 0, A[2, :]
    for number in (2, np.int64(4), 2.5, True):
        for divided, expected in ((A / number, a / number), (row / number, a[2] / number)):
            np.testing.assert_array_equal(array(divided), expected)
            assert divided.dtype == expected.dtype
        for compare in COMPARED.values():
            for left, right in ((A, number), (number, A)):
                found = compare(left, right)
                expected = compare(*(a if each is A else each for each in (left, right)))
                assert (found.dtype, found.nnz) == (bool, A.nnz)
                np.testing.assert_array_equal(array(found), expected & there)
            assert compare(row, number).dtype == bool
            np.testing.assert_array_equal(array(compare(row, number)), compare(a[2], number) & there[2])


def test_vectors_have_the_operators_of_matrices():
    A, a = random_pair(CSR, "cpu", np.int32, (6, 6))
    v, w = A[0, :], A[3, :].astype(np.float64)
    for made, expected in (
        *((v + w, a[0] + a[3]), (v - w, a[0] - a[3]), (v * w, a[0] * a[3]), (-v, -a[0]), (abs(-v), a[0])),
        *((3 * v, 3 * a[0]), (v * 0.5, a[0] * 0.5), (sum([v, v]), 2 * a[0])),
    ):
        assert isinstance(made, SparseVector)
        np.testing.assert_array_equal(array(made), expected)
    assert (v - v).nnz == v.nnz
    assert [v.get(i, 0) for i in range(6)] == a[0].tolist()
    assert [i in v for i in range(6)] == (a[0] != 0).tolist()


def test_sums_begin_with_zero_as_pythons_do():
    A, a = random_pair(CSR, "cpu", np.int32, (6, 6))
    np.testing.assert_array_equal(array(sum([A, A.T])), a + a.T)
    np.testing.assert_array_equal(array(abs(-A)), a)
    assert abs(A > 2).equals(A > 2)


def test_a_matrix_and_a_vector_are_themselves_and_nothing_else():
    A, _ = random_pair(CSR, "cpu", np.int32, (6, 6))
    B = A.to(CSC)
    for x, y in ((A, B), (A[0, :], A[1, :])):
        assert {x: 1, y: 2}[x] == 1
        assert x in [x, y]
        assert len({x, y, x}) == 2
        assert (x == None, x == "csr", x != ()) == (False, False, True)  # noqa: E711
        assert x == mock.ANY
        assert pickle.loads(pickle.dumps(x)).equals(x)
        assert weakref.ref(x)() is x
        assert not isinstance(x, Iterable)


def test_hints_name_what_there_is():
    A, a = random_pair(CSR, "cpu", np.int32, (6, 6))
    assert [name for name in ELSEWHERE if hasattr(A, name)] == []
    known = {**vars(semiring), "A": A, "B": A, "x": np.ones(6), "fill": 0}
    for hint in ELSEWHERE.values():
        for code in re.findall(r"(?:see|write) (.*)", hint):
            for part in code.split(" and "):
                own = hasattr(A, part.partition("(")[0])
                assert eval(f"A.{part}" if own else part, known) is not None
    assert semiring.reduce(A, "plus") == a.sum()


def test_vectors_are_compared_as_a_whole():
    v = SparseVector([0, 2], [1, 0], 4)
    assert v.equals(SparseVector([2, 0], [0, 1], 4))
    others = [
        SparseVector([0], [1], 4),
        SparseVector([0, 2], [1, 0], 5),
        SparseVector([0, 2], [1, 2], 4),
        v.astype("f8"),
    ]
    assert not any(map(v.equals, [*others, SparseVector([0, 3], [1, 0], 4), v.to_dense(), 3]))


REFUSED: dict[str, tuple[type[Exception], str, Callable[[Any], Any]]] = {
    "an array of it": (TypeError, r"a CSR is no array.*to_dense", np.asarray),
    "a scalar added": (TypeError, "would fill every absent place", lambda A: A + 1),
    "a scalar subtracted": (TypeError, "would fill every absent place", lambda A: A - 1.5),
    "a number divided": (TypeError, "unsupported operand", lambda A: 2 / A),
    "a matrix divided": (TypeError, r"A / A would fill absent places: ewise_mult", lambda A: A / A),
    "two compared": (TypeError, r"A == A is no single answer: \.equals\(…\).*ewise_mult", lambda A: A == A.T),
    "itself compared": (TypeError, r"A != A is no single answer", lambda A: A != A),
    "an order of two": (TypeError, r"A < A is no single answer.*ewise_mult\(…, …, '<'\)", lambda A: A < A),
    "compared with a vector": (TypeError, r"A == v is no single answer", lambda A: A == A[0, :]),
    "compared with an array": (TypeError, r"A == an array is no single", lambda A: np.ones((6, 6)) == A),
    "compared with SciPy's": (TypeError, r"A == csr_array is no single answer", lambda A: A == A.to_scipy()),
    "a matrix as a truth": (TypeError, "a CSR is neither true nor false: ask for nnz", lambda A: bool(A > 2)),
    "a mask in brackets": (TypeError, r"A\[mask\] is not defined: select", lambda A: A[A > 2]),
    "an entry written": (TypeError, r"do not write into a CSR: assign\(…\)", lambda A: operator.setitem(A, (0, 1), 3)),
    "an element written": (TypeError, "into a SparseVector: assign", lambda A: operator.setitem(A[0, :], 1, 3)),
    "a name of SciPy's": (AttributeError, r"has no attribute 'toarray': see to_dense", lambda A: A.toarray()),
    "a name of NumPy's": (AttributeError, r"no attribute 'sum': see reduce\(A, 'plus'\)", lambda A: A.sum()),
    "a name of nobody's": (AttributeError, "object has no attribute 'nonsense'$", lambda A: A.nonsense),
    "a loop": (TypeError, "'CSR' object is not iterable", list),
    "text": (TypeError, "unsupported operand", lambda A: A * None),
    "an array of a vector": (TypeError, r"a SparseVector is no array.*to_dense", lambda A: np.asarray(A[0, :])),
    "a loop over a vector": (TypeError, "'SparseVector' object is not iterable", lambda A: list(A[0, :])),
    "a number added to a vector": (TypeError, r"v \+ 1 would fill every absent place", lambda A: A[0, :] + 1),
    "a vector and an array": (TypeError, "SparseVector.from_dense", lambda A: A[0, :] * np.ones(6)),
    "a vector and SciPy's matrix": (TypeError, "unsupported operand", lambda A: A[0, :] + A.to_scipy()),
    "a vector and a matrix": (TypeError, "unsupported operand", lambda A: A[0, :] * A),
    "vectors compared": (TypeError, r"v == v is no single answer", lambda A: A[0, :] == A[0, :]),
    "vectors of two sizes": (ValueError, "must have 6 elements, got 7", lambda A: A[0, :] + SparseVector([0], [1], 7)),
    "a vector by a slice": (TypeError, r"an entry is at one integer.*extract", lambda A: A[0, :][:]),
    "a vector outside": (IndexError, r"index must be in \[0, 6\), got 6", lambda A: A[0, :].get(6)),
    "NumPy's function": (TypeError, "does not support ufuncs", lambda A: np.add(A, A)),
    "an array added": (TypeError, "an array is not defined.*Dense", lambda A: A + np.ones((6, 6))),
    "one index": (TypeError, r"a part A\[rows, cols\].*a row is A\[u, :\]", lambda A: A[2]),
    "a row outside": (IndexError, r"row must be in \[0, 6\), got 6", lambda A: A[6, :]),
    "a column outside": (IndexError, r"column must be in \[0, 6\), got -1", lambda A: A[:, -1]),
    "an index outside": (ValueError, r"cols must be in \[0, 6\), got 9", lambda A: A[:, [0, 9]]),
    "too few Booleans": (
        IndexError,
        "Booleans in brackets must be one for each row, 6, got 2",
        lambda A: A[[True, False], :],
    ),
    "names": (TypeError, "rows must be integers", lambda A: A[["a"], :]),
    "a table": (
        TypeError,
        "@ takes a matrix, a SparseVector or an array of one or two dimensions",
        lambda A: A @ np.ones((6, 2, 2)),
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_has_no_meaning_is_refused_in_a_sentence(what):
    error, message, call = REFUSED[what]
    A, _ = random_pair(CSR, "cpu", np.int32, (6, 6))
    with pytest.raises(error, match=message):
        call(A)


def test_lists_are_multiplied_as_arrays():
    S = scipy.sparse.coo_array(([5, 3], ([0, 0], [1, 1])), shape=(2, 2))
    A = from_scipy(S)
    assert (A @ [0, 1]).tolist() == (S @ [0, 1]).tolist() == [8, 0]
    assert ((1, 1) @ A).tolist() == [0, 8]
    assert (A @ [[1, 2], [3, 4]]).tolist() == [[24, 32], [0, 0]]
    with pytest.raises(TypeError, match="got list"):
        A @ ["a", "b"]
