"""Numbers that people bring, in arrays of any library and as scalars: taken as they are, or refused by their value."""

from __future__ import annotations

import tracemalloc
from decimal import Decimal
from fractions import Fraction

import networkx
import numpy as np
import pandas
import pytest
import scipy.sparse

from algorithms import Graph, bfs, csgraph, sssp, triangles
from formats import (
    COO,
    CSR,
    Matrix,
    SparseVector,
    from_edges,
    from_graphblas,
    from_scipy,
    read,
    set_memory_limit,
    write,
)
from formats.places import Place
from semiring import (
    apply,
    assign,
    ewise_add,
    ewise_mult,
    ewise_union,
    extract,
    kronecker,
    mxm,
    mxv,
    reduce,
    select,
    transpose,
    vxm,
)


def of_polars(values, name):
    polars = pytest.importorskip("polars")
    return polars.Series(values, dtype=getattr(polars, name))


def of_arrow(values, name):
    pyarrow = pytest.importorskip("pyarrow")
    return pyarrow.array(values, getattr(pyarrow, name)())


UNSIGNED = ["uint8", "uint16", "uint32", "uint64"]
LIBRARIES = {
    "numpy": lambda values, dtype: np.array(values, dtype),
    "big-endian": lambda values, dtype: np.array(values, np.dtype(dtype).newbyteorder(">")),
    "objects": lambda values, dtype: np.array(values, object),
    "pandas": lambda values, dtype: pandas.Series(values, dtype=dtype),
    "pandas with its own missing": lambda values, dtype: pandas.Series(values, dtype=dtype.replace("ui", "UI")),
    "polars": lambda values, dtype: of_polars(values, dtype.replace("ui", "UI")),
    "pyarrow": lambda values, dtype: of_arrow(values, dtype),
}


def named_edges(g: Graph) -> list[tuple[object, object, float]]:
    rows, cols, values = g.matrix.to_edges()
    return [(g.names[u], g.names[v], w) for u, v, w in zip(rows, cols, values.tolist(), strict=True)]


def example(fmt: type[Matrix] = CSR, dtype: str = "float64") -> Matrix:
    A = from_edges([0, 0, 1, 2], [1, 2, 2, 0], np.array([5, 9, 3, 7], dtype))
    return A.to(fmt, **({"force": True} if fmt.__name__ in ("Dense", "ELL", "SELL", "CSB") else {}))


# --- ids and weights ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", UNSIGNED)
@pytest.mark.parametrize("library", LIBRARIES)
def test_unsigned_ids_and_weights_of_any_library(library, dtype):
    u, v, w = (LIBRARIES[library](values, dtype) for values in ([0, 200], [200, 7], [5, 255]))
    assert named_edges(Graph.from_edges(u, v, w)) == [(0, 200, 5), (200, 7, 255)]
    assert [x.tolist() for x in from_edges(u, v, w).to_edges()] == [[0, 200], [200, 7], [5, 255]]


@pytest.mark.parametrize("other", [np.int64, np.int32, np.uint64, object])
def test_unsigned_ids_beside_others_stay_apart(other):
    far = 2**53 if other is np.int64 else 2**20  # float64 would merge 2^53 and 2^53 + 1
    g = Graph.from_edges(np.array([far, 1], np.uint64), np.array([far + 1, 1], other))
    assert named_edges(g) == [(1, 1, 1), (far, far + 1, 1)]


def test_many_unsigned_ids_are_numbered_as_signed_ones():
    rng = np.random.default_rng(0)
    ids = rng.integers(2**61, 2**61 + 2**30, (2, 1 << 17))
    signed = Graph.from_edges(*ids)
    for types in ((np.uint64, np.int64), (np.uint64, np.uint64)):
        mixed = Graph.from_edges(*(part.astype(dtype) for part, dtype in zip(ids, types, strict=True)))
        assert mixed.matrix.equals(signed.matrix)
        assert mixed.names == signed.names


def test_ids_beyond_signed_ones_keep_their_names():
    top = 2**64 - 1
    g = Graph.from_edges(np.array([top, 2**63], np.uint64), np.array([-1, 5]))
    assert named_edges(g) == [(2**63, 5, 1), (top, -1, 1)]


@pytest.mark.parametrize("make", [from_edges, Graph.from_edges, lambda *parts: COO(*parts, 9)])
def test_masked_elements_are_refused(make):
    masked = np.ma.masked_array([1, 2], [False, True])
    for parts in ((masked, [1, 2], [5, 6]), ([0, 1], masked, [5, 6]), ([0, 1], [1, 2], masked)):
        with pytest.raises(ValueError, match="must not be masked, but position 1 is"):
            make(*parts)
    assert make(np.ma.masked_array([0, 1]), [1, 2], np.ma.masked_array([5, 6])) is not None


def test_masked_operands_are_refused_but_by_csgraph():
    A, x = example(), np.ma.masked_array([1.0, 2.0, 3.0], [False, True, False])
    for call in (lambda: A @ x, lambda: A @ np.ma.masked_array(np.ones((3, 2)), np.eye(3, 2))):
        with pytest.raises(ValueError, match=r"must not be masked, but position (1|\(0, 0\)) is"):
            call()
    assert csgraph.dijkstra(np.ma.masked_array([[0, 5], [5, 0]], [[1, 0], [1, 1]]))[0].tolist() == [0, 5]


@pytest.mark.parametrize(
    ("parts", "error", "message"),
    [
        ((np.array(5), np.array(6)), ValueError, "src must be one-dimensional, got 0 dimensions"),
        ((iter([0]), [1]), ValueError, "src must be one-dimensional"),
        (([True], [False]), TypeError, "src must be integers, got dtype bool"),
        (([0.0], [1.5]), TypeError, "src must be integers, got dtype float64"),
        (
            ([0], pandas.Series([None], dtype="Int64")),
            TypeError,
            "dst must be integers, got dtype float64, in which nan",
        ),
        (([0], [-1]), ValueError, r"dst must be in \[0, 1\), got -1"),
        (([0], [1], [None]), TypeError, "values must be numbers of at most 64 bits, got None at position 0"),
        (([0, 1], [1, 2], np.array([5, 2**70], object)), TypeError, f"got {2**70} at position 1"),
        (([0], [1], np.array([2**64 - 1], np.uint64)), ValueError, f"value {2**64 - 1} cannot be stored as int64"),
        (([0, 2**45], [1, 2]), MemoryError, r"Graph\.from_edges numbers ids with gaps"),
    ],
)
def test_edges_that_are_no_numbers(parts, error, message):
    with pytest.raises(error, match=message):
        from_edges(*parts)


# --- other libraries ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fmt", ["coo", "csr", "csc", "bsr", "lil", "dia", "dok"])
@pytest.mark.parametrize("dtype", ["int32", "float64", "uint16", "bool"])
def test_a_matrix_of_scipy_means_what_it_means_to_scipy(fmt, dtype):
    parts = (np.array([5, 3, 1, 0], dtype), ([0, 0, 1, 1], [1, 1, 0, 2]))
    S = scipy.sparse.coo_array(parts, shape=(2, 3))
    if fmt in ("csr", "csc"):  # repeated entries, which SciPy's own conversions add up
        ends = {"csr": ([1, 1, 0, 2], [0, 2, 4]), "csc": ([0, 0, 1, 1], [0, 2, 3, 4])}[fmt]
        S = getattr(scipy.sparse, f"{fmt}_array")((parts[0], *ends), shape=(2, 3))
    else:
        S = S.asformat(fmt)
    A = from_scipy(S)
    assert A.to_dense().tolist() == S.toarray().tolist()
    if dtype != "bool":  # of which SciPy's product counts a repeated entry twice
        assert (A @ np.ones(3, A.dtype)).tolist() == (S @ np.ones(3)).tolist()


def test_repeated_entries_whose_sum_is_no_number():
    with pytest.raises(ValueError, match="the sum of duplicate edges must not be NaN"):
        from_scipy(scipy.sparse.coo_array(([np.inf, -np.inf], ([0, 0], [1, 1])), shape=(2, 2)))


@pytest.mark.parametrize("dtype", ["INT8", "UINT8", "INT16", "UINT16", "UINT32", "UINT64"])
@pytest.mark.parametrize("iso", [False, True])
def test_graphblas_integers_are_not_rounded(dtype, iso):
    gb = pytest.importorskip("graphblas")
    top = min(2**63 - 1, 2 ** (int(dtype.strip("UINT")) - dtype.startswith("I")) - 1)
    values = [top, top] if iso else [top, 1]
    A = from_graphblas(gb.Matrix.from_coo([0, 1], [1, 0], values, dtype=dtype))
    assert A.to_edges()[2].tolist() == values
    if dtype == "UINT64":
        with pytest.raises(ValueError, match=f"value {2**63} cannot be stored as int64"):
            from_graphblas(gb.Matrix.from_coo([0, 1], [1, 0], [1, 2**63], dtype=dtype))


# --- other values ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fmt", [each for each in Matrix.formats.values() if not each.in_parts])
def test_other_values_are_checked(fmt):
    A = example(fmt)
    for wrong in (A.values[:1], A.values[..., None], 7.0, A.values.tolist()[:-1]):
        with pytest.raises(ValueError, match=r"values must have the shape|inhomogeneous"):
            A.with_values(wrong)
    with pytest.raises(ValueError, match="must not be NaN"):
        A.with_values(np.full(A.values.shape, np.nan))
    for wrong in (A.values.astype(complex), A.values.astype(str)):
        with pytest.raises(TypeError, match="are not supported"):
            A.with_values(wrong)
    with pytest.raises(ValueError, match="must not be masked"):
        A.with_values(np.ma.masked_array(A.values, np.ones(A.values.shape)))


@pytest.mark.parametrize("fmt", [each for each in Matrix.formats.values() if not each.in_parts])
@pytest.mark.parametrize("dtype", ["int8", "uint32", ">i8", "float16", ">f4", "int32"])
def test_other_values_of_any_dtype(fmt, dtype):
    A = example(fmt, "int64")
    there = np.where(A.values == A.values.max(), 0, A.values) if fmt.__name__ == "Dense" else A.values
    B = A.with_values(np.arange(there.size).reshape(there.shape).astype(dtype))
    B.check()
    x = np.arange(1, 4).astype(B.dtype)
    assert (B @ x).tolist() == (B.to(CSR) @ x).tolist()
    assert B.values.flags.c_contiguous


def test_other_values_seen_backwards_or_many_times():
    A = example()
    assert A.with_values(A.values[::-1]).to_edges()[2].tolist() == [7, 3, 9, 5]
    assert A.with_values([1, 2, 3, 4]).dtype == np.int32
    assert A.with_values(np.broadcast_to(2.0, 4)).values.strides == (0,)
    assert A.with_values(A.values) is A


# --- scalars --------------------------------------------------------------------------------------------------------

KINDS = {
    "CSR": lambda dtype: example(CSR, dtype),
    "COO": lambda dtype: example(COO, dtype),
    "sparse": lambda dtype: SparseVector([0, 2], np.array([1, 5], dtype), 3),
    "dense": lambda dtype: np.array([1, 5, 3], dtype),
}
CALLS = {
    "assign": lambda u, x: assign(u, x, [0], [0]) if isinstance(u, Matrix) else assign(u, x, [0]),
    "ewise_union, alpha": lambda u, x: ewise_union(u, x, u, 0, "plus"),
    "ewise_union, beta": lambda u, x: ewise_union(u, 0, u, x, "min"),
    "apply, left": lambda u, x: apply(u, "minus", left=x),
    "apply, right": lambda u, x: apply(u, "lt", right=x),
    "select": lambda u, x: select(u, "<", x, semiring="min_plus"),
}
NO_NUMBERS = [5j, "5", b"5", Decimal("1e400"), Fraction(1, 2), np.datetime64(5, "s"), object, np.array(5j)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("call", CALLS)
def test_scalars_that_are_no_numbers_are_refused_by_name(call, kind):
    if call == "assign" and kind == "COO":
        pytest.skip("out is a CSR")
    for dtype in ("int32", "int64", "float32", "float64"):
        for wrong in NO_NUMBERS:
            with pytest.raises(TypeError, match="must be a number, got"):
                CALLS[call](KINDS[kind](dtype), wrong)
        with pytest.raises(ValueError, match="must not be NaN"):
            CALLS[call](KINDS[kind](dtype), np.nan)
        for beyond in (2**70, -(2**70), 10**400) if dtype[0] == "i" else (10**400, -(10**400)):
            with pytest.raises(ValueError, match=f"is out of the range of (int|float)(32|64), got {beyond}"):
                CALLS[call](KINDS[kind](dtype), beyond)
    with pytest.raises(ValueError, match="is out of the range of float32, got 1e"):
        CALLS[call](KINDS[kind]("float32"), 1e300)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("value", [3, 3.0, np.int8(3), np.uint64(3), np.float16(3), np.array(3), True])
def test_scalars_that_are_numbers_are_taken(kind, value):
    for name, call in CALLS.items():
        if (name, kind) != ("assign", "COO"):
            assert call(KINDS[kind]("int32"), value) is not None
    if kind != "COO":
        out = CALLS["assign"](KINDS[kind]("int32"), value)
        assert (out[0] if kind == "dense" else (out.stored[0] if kind == "CSR" else out.values[0])) == int(value)


def test_integers_beside_a_dtype_that_is_too_small():
    for kind, make in KINDS.items():
        for name in ("assign", "ewise_union, alpha", "apply, left", "apply, right"):
            if (name, kind) != ("assign", "COO"):
                with pytest.raises(ValueError, match=f"is out of the range of int32, got {2**40}"):
                    CALLS[name](make("int32"), 2**40)
        some = CALLS["select"](make("int32"), 2**40)  # a comparison has an answer
        assert all(np.asarray(some.stored if isinstance(some, Matrix) else getattr(some, "values", some)) < 10)


def test_diagonals_are_integers():
    for wrong in (1.5, "1"):
        with pytest.raises(TypeError, match=f"got {wrong!r}"):
            select(example(), "tril", wrong)


OUT_KEEPS = {
    "apply": lambda x, A, **rule: apply(x, "ainv", **rule),
    "select": lambda x, A, **rule: select(x, "<", 9, **rule),
    "extract": lambda x, A, **rule: extract(x, [5, 4, 3, 2, 1, 0], **rule),
    "ewise_add": lambda x, A, **rule: ewise_add(x, x, "plus", **rule),
    "ewise_mult": lambda x, A, **rule: ewise_mult(x, x, "times", **rule),
    "ewise_union": lambda x, A, **rule: ewise_union(x, 0, x, 0, "plus", **rule),
    "mxv": lambda x, A, **rule: mxv(A, x, "plus_times", **rule),
    "vxm": lambda x, A, **rule: vxm(x, A, "plus_times", **rule),
    "reduce": lambda x, A, **rule: reduce(A, "plus", axis=1, **rule),
    "assign": lambda x, A, out, **rule: assign(out, x, **rule),
    "assign a scalar": lambda x, A, out, **rule: assign(out, 0, **rule),
    "assign into places": lambda x, A, out, **rule: assign(out, SparseVector([0], [0], 2), [4, 5], **rule),
}


@pytest.mark.parametrize("accum", [None, "plus", "times"])
@pytest.mark.parametrize("verb", OUT_KEEPS)
def test_a_sparse_out_keeps_its_stored_zeros_where_nothing_is_written(verb, accum):
    A = from_edges([0, 1, 2, 3, 5], [1, 2, 3, 4, 0], [1, 0, 2, 3, 4], shape=6)
    x = SparseVector([0, 2, 5], [5, 6, 0], 6)
    out = SparseVector([0, 1, 2, 3], [0, 4, 0, 7], 6)
    mask = np.array([False, False, False, False, True, True])
    before = list(zip(out.indices.tolist(), out.values.tolist(), strict=True))
    OUT_KEEPS[verb](x, A, out=out, mask=mask, accum=accum)
    after = list(zip(out.indices.tolist(), out.values.tolist(), strict=True))
    assert [each for each in after if each[0] < 4] == before
    B = from_edges([0, 0, 1], [0, 1, 1], [0, 4, 0], shape=2)
    into = CSR(*B.components)
    apply(from_edges([1], [0], [7], shape=2), "ainv", out=into, accum=accum, mask=from_edges([1], [0], [1], shape=2))
    assert [part.tolist() for part in into.to_edges()] == [[0, 0, 1, 1], [0, 1, 0, 1], [0, 4, -7, 0]]


# --- masks ------------------------------------------------------------------------------------------------------------

MASKED = {
    "mxv": lambda A, x, **rule: mxv(A, x, "plus_times", **rule),
    "vxm": lambda A, x, **rule: vxm(x, A, "min_plus", **rule),
    "mxv with arguments": lambda A, x, **rule: mxv(A, x, "min_plus", return_argument=True, **rule)[0],
    "mxv of positions": lambda A, x, **rule: mxv(A, x, "min_secondi", **rule),
    "ewise_add": lambda A, x, **rule: ewise_add(x, x, "plus", **rule),
    "apply": lambda A, x, **rule: apply(x, "ainv", **rule),
    "select": lambda A, x, **rule: select(x, "<", 99, semiring="plus_times", **rule),
    "extract": lambda A, x, **rule: extract(x, [2, 1, 0], **rule),
    "reduce": lambda A, x, **rule: reduce(A, "plus", axis=1, **rule),
    "assign": lambda A, x, **rule: assign(x.copy(), 7, **rule),
}
MASKED_MATRICES = {
    "mxm": lambda A, X, **rule: mxm(A, A, "plus_times", **rule),
    "mxm, dense": lambda A, X, **rule: mxm(A, X, "plus_times", **rule),
    "mxm with arguments": lambda A, X, **rule: mxm(A, A, "min_plus", return_argument=True, **rule)[0],
    "mxm of positions": lambda A, X, **rule: mxm(A, A, "min_secondi", **rule),
    "ewise_mult": lambda A, X, **rule: ewise_mult(A, A, "times", **rule),
    "apply": lambda A, X, **rule: apply(A, "ainv", **rule),
    "select": lambda A, X, **rule: select(A, "<", 99, **rule),
    "transpose": lambda A, X, **rule: transpose(A, **rule),
    "extract": lambda A, X, **rule: extract(A, [2, 1, 0], **rule),
    "assign": lambda A, X, **rule: assign(CSR(*A.components), 7, **rule),
    "kronecker": lambda A, X, **rule: kronecker(A, from_edges([0], [0], [3]), "times", **rule),
}


def as_lists(y) -> list:
    if isinstance(y, SparseVector):
        return [y.indices.tolist(), y.values.tolist()]
    return [part.tolist() for part in y.to_edges()] if isinstance(y, Matrix) else y.tolist()


@pytest.mark.parametrize("complement", [False, True])
@pytest.mark.parametrize("dtype", ["bool", "int32", "float64"])
@pytest.mark.parametrize("verb", MASKED)
def test_a_stored_zero_of_a_sparse_mask_allows_nothing(verb, dtype, complement):
    A, x = example(CSR, "int32"), np.array([4, 5, 6], np.int32)
    mask = SparseVector([0, 1], np.array([1, 0], dtype), 3)
    got = MASKED[verb](A, x, mask=mask, complement=complement)
    assert as_lists(got) == as_lists(MASKED[verb](A, x, mask=np.array([True, False, False]), complement=complement))
    by_structure = MASKED[verb](A, x, mask=mask.pattern(), complement=complement)
    there = np.array([True, True, False])
    assert as_lists(by_structure) == as_lists(MASKED[verb](A, x, mask=there, complement=complement))


@pytest.mark.parametrize("complement", [False, True])
@pytest.mark.parametrize("fmt", ["csr", "csc", "coo", "parts"])
@pytest.mark.parametrize("verb", MASKED_MATRICES)
def test_a_stored_zero_of_a_matrix_as_mask_allows_nothing(verb, fmt, complement):
    A, X = example(CSR, "int32"), np.arange(9, dtype=np.int32).reshape(3, 3)
    M = from_edges([0, 1, 2, 0], [1, 2, 0, 2], [1, 0, 2, 0], shape=3)
    if fmt == "parts":
        if verb == "mxm, dense":
            pytest.skip("of an array the mask is whole")
        A, M = (each.to(device=["cpu", "cpu"]) for each in (A, M))
        if verb == "assign":
            pytest.skip("the copy of out is a CSR's")
    else:
        M = M.to(fmt)
    true, there = M.to_dense() != 0, M.pattern().to_dense()
    for mask, allowed in ((M, true), (M.pattern(), there)):
        got = MASKED_MATRICES[verb](A, X, mask=mask, complement=complement)
        assert as_lists(got) == as_lists(MASKED_MATRICES[verb](A, X, mask=allowed, complement=complement))


def test_masks_of_true_entries_are_not_copied():
    M = example()
    ewise_add(M, M, "plus", mask=M)
    assert M.kept_nbytes == 0
    assert M.pattern().values.strides == (0,)
    assert SparseVector([1], [0], 3).pattern().values.tolist() == [True]


def test_algorithms_take_a_mask_by_its_values():
    A = from_edges([0, 1, 2], [1, 2, 3], shape=4)
    assert bfs(A, 0, mask=SparseVector([0, 1, 2], [1, 1, 0], 4)).tolist() == [0, 1, -1, -1]


def test_algorithms_mask_by_structure_where_weights_are_zero():
    A = from_edges([0, 1, 0, 2], [1, 2, 2, 3], [0, 0, 0, 0], shape=4)
    assert triangles(A, symmetrize=True).tolist() == [1, 1, 1, 0]
    G = A.to_networkx()
    assert set(networkx.transitive_reduction(G, backend="semiring").edges) == {(0, 1), (1, 2), (2, 3)}


# --- far more vertices than entries -----------------------------------------------------------------------------------


@pytest.fixture
def little_memory():
    set_memory_limit("8GiB", device="cpu")
    yield
    set_memory_limit(None, device="cpu")


N = 2**31
FAR = np.array([5, 10, 2**30 + 5, N - 1])


def far(A: CSR) -> COO:
    """The 4 × 4 matrix with its rows and columns at FAR."""
    rows, cols, values = A.to_edges()
    return COO(FAR[rows], FAR[cols], values, N)


def near(A: Matrix) -> list[tuple[int, int, float]]:
    rows, cols, values = A.to_edges()
    place = {v: k for k, v in enumerate(FAR.tolist())}
    return [(place[u], place[v], w) for u, v, w in zip(*(x.tolist() for x in (rows, cols, values)), strict=True)]


HYPERSPARSE = {
    "ewise_add": lambda A, B, **rule: ewise_add(A, B, "min", **rule),
    "ewise_mult": lambda A, B, **rule: ewise_mult(A, B, "plus", **rule),
    "ewise_union": lambda A, B, **rule: ewise_union(A, 0, B, 0, "minus", **rule),
    "mxm": lambda A, B, **rule: mxm(A, B, "min_plus", **rule),
    "mxm, twice": lambda A, B, **rule: mxm(A, A.T, "plus_times", **rule),
    "apply": lambda A, B, **rule: apply(A, "minus", left=1, **rule),
}


@pytest.mark.usefixtures("little_memory")
@pytest.mark.parametrize("masked", ["", "mask", "complement"])
@pytest.mark.parametrize("verb", HYPERSPARSE)
def test_lists_on_far_more_vertices_than_they_have(verb, masked):
    A = from_edges([0, 0, 1, 3], [1, 2, 0, 3], [5, 3, 1, 7], shape=4)
    B = from_edges([0, 1, 2, 3], [1, 2, 2, 0], [4, 9, 2, 0], shape=4)
    M = from_edges([0, 1, 3, 0], [1, 2, 3, 2], [1, 1, 1, 0], shape=4)
    rules = [{"mask": mask, "complement": masked == "complement"} if masked else {} for mask in (M, far(M))]
    small = HYPERSPARSE[verb](A, B, **rules[0])
    large = HYPERSPARSE[verb](far(A), far(B), **rules[1])
    assert isinstance(large, COO)
    large.check()
    assert (large.shape, large.dtype) == ((N, N), small.dtype)
    assert near(large) == list(zip(*(x.tolist() for x in small.to_edges()), strict=True))


@pytest.mark.usefixtures("little_memory")
def test_what_else_needs_no_row_pointers(tmp_path):
    A = from_edges([0, 0, 1, 3], [1, 2, 0, 3], [5, 3, 1, 7], shape=4)
    H = far(A)
    assert near(transpose(H)) == near(H.T.to(COO)) == list(zip(*(x.tolist() for x in A.T.to_edges()), strict=True))
    assert H.T.equals(transpose(H))
    assert not H.equals(H.T)
    assert near(select(H, "tril")) == [(1, 0, 1), (3, 3, 7)]
    assert reduce(H, "max") == reduce(H.T, "max") == 7
    assert (H + H).equals(2 * H)
    assert H[5, :].values.tolist() == [5, 3]
    assert H[:, 10].indices.tolist() == [5]
    rows = extract(H, [10, 7, 5, 5])
    assert (type(rows), rows.shape, rows.nnz) == (CSR, (4, N), 5)
    assert extract(H, [10, 5], FAR[::-1]).to_dense().tolist() == extract(A, [1, 0], [3, 2, 1, 0]).to_dense().tolist()
    assert extract(H, None, [5, 5]).shape == (N, 2)
    for name in ("far.npz", "far/"):
        write(f"{tmp_path}/{name}", H)
        assert read(f"{tmp_path}/{name}").equals(H)


@pytest.mark.usefixtures("little_memory")
def test_what_needs_them_is_refused_with_figures():
    H = far(from_edges([0], [1], [5], shape=4))
    for call in (lambda: H.to(CSR), lambda: from_edges([0], [1], shape=N), lambda: sssp(H, 5), lambda: H.to_dense()):
        with pytest.raises(MemoryError, match=r"needs [\d,]{14,} bytes, but the host has [\d,]+ available"):
            call()


@pytest.mark.parametrize("edges", [2, 1000, 300_000])
@pytest.mark.parametrize("n", [300_000, 3_000_000, 30_000_000])
def test_from_edges_asks_for_what_it_takes(edges, n, monkeypatch):
    asked = []
    monkeypatch.setattr(Place, "check_room", lambda self, what, needed: asked.append(needed))
    rng = np.random.default_rng(0)
    for ordered in (False, True):
        src, dst = (rng.integers(0, n, edges) for _ in range(2))
        src, dst = (np.sort(src), np.arange(edges) % n) if ordered else (src, dst)
        tracemalloc.start()
        try:
            from_edges(src, dst, shape=n)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert 0.4 * max(asked) < peak < max(asked) + 100_000
        asked.clear()
