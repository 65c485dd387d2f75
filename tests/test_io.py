"""read and write: every file format, every error with its line, and what comes back after a round trip."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
import scipy.io
from hypothesis import given, settings
from hypothesis import strategies as st

from formats import COO, CSC, CSR, ELL, Matrix, from_edges, read, write
from formats.io import KINDS, dimacs, source

HERE = Path(__file__).parent
DATA = HERE / "data"
INT32_MAX = 2**31 - 1
MATRIX_MARKET = "%%MatrixMarket matrix coordinate "


@pytest.fixture
def file(tmp_path):
    """file(name, text): the path of a new file, compressed if the name ends in .gz."""

    def make(name: str, content: str | bytes) -> Path:
        data = content.encode() if isinstance(content, str) else content
        path = tmp_path / name
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return make


def edges(A: Matrix) -> list[tuple]:
    return list(zip(*(column.tolist() for column in A.to_edges()), strict=True))


def error_of(path: Path, **options) -> str:
    """What `read` says about a file it refuses, after the file's name."""
    with pytest.raises(ValueError, match=r"\S") as caught:
        read(path, **options)
    message = str(caught.value)
    assert message.startswith(f"{path}:")
    assert "\n" not in message
    return message.removeprefix(f"{path}:")


def peak_bytes(call) -> int:
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


# --- what is read -----------------------------------------------------------------------------------------------------

THE_GRAPH = [(0, 1, 5), (0, 2, 2), (2, 1, -7)]
THE_GRAPH_AS = {  # the same three vertices and edges, in every text format
    "graph.gr": "c a comment\np sp 3 3\na 3 2 -7\na 1 2 5\na 1 3 2\n",
    "graph.txt": "# a comment\n10 20 5\n30 20 -7\n10 30 2\n",
    "graph.el": "% a comment\n\n1\t2\t5\n\n3 2\t -7\n1 3 2\n",
    "graph.tsv": "0\t1\t5\n2\t1\t-7\n0\t2\t2\n",
    "graph.edges": "0 1 5\n  # an indented comment\n2 1 -7\n0 2 2\n",
    "graph.csv": "from,to,weight\n0,1,5\n2, 1, -7\n0 ,2 ,+2\n",
    "algs4.txt": "3\n3\n 0  1   5\n 2  1  -7\n 0  2   2\n",
    "graph.mtx": MATRIX_MARKET + "integer general\n% a comment\n3 3 3\n1 2 5\n3 2 -7\n1 3 2\n",
}


@pytest.mark.parametrize("ending", ["", ".gz"])
@pytest.mark.parametrize("name", THE_GRAPH_AS)
def test_every_text_format_gives_the_same_matrix(file, name, ending):
    A = read(file(name + ending, THE_GRAPH_AS[name]))
    assert isinstance(A, CSR)
    assert A.shape == (3, 3)
    assert A.dtype == np.int32
    assert edges(A) == THE_GRAPH


@pytest.mark.parametrize("name", THE_GRAPH_AS)
@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.removesuffix("\n"),
        lambda text: text.replace("\n", " \t\n"),
        lambda text: text + "\n \n\t\n",
        lambda text: text.upper() if "Matrix" in text else text,
    ],
    ids=["windows line ends", "no final newline", "trailing blanks", "blank lines at the end", "capitals"],
)
def test_layout_does_not_matter(file, name, change):
    assert edges(read(file(name, change(THE_GRAPH_AS[name])))) == THE_GRAPH


def test_byte_order_mark_is_skipped(file):
    assert edges(read(file("excel.csv", "\ufeffsource,target\n3,4\n"))) == [(0, 1, 1)]


def test_comments_need_not_be_utf8(file):
    assert read(file("old.gr", "c Erd\xf6s\np sp 2 1\na 1 2 3\n".encode("latin-1"))).nnz == 1


@pytest.mark.parametrize("block_bytes", [1, 7, 40])
@pytest.mark.parametrize("name", THE_GRAPH_AS)
def test_blocks_do_not_show(file, monkeypatch, name, block_bytes):
    monkeypatch.setattr(source, "BLOCK_BYTES", block_bytes)
    assert edges(read(file(name, THE_GRAPH_AS[name]))) == THE_GRAPH


@pytest.mark.parametrize(
    ("name", "n", "nnz", "dtype", "edge"),
    [
        ("dimacs9-sample.gr", 6, 8, "int32", (2, 4, 0)),
        ("tinyEWD.txt", 8, 15, "float64", (4, 5, 0.35)),
        ("tinyEWDn.txt", 8, 15, "float64", (6, 4, -1.25)),
        ("tinyEWDnc.txt", 8, 15, "float64", (5, 4, -0.66)),
        ("tinyEWDAG.txt", 8, 13, "float64", (5, 4, 0.35)),
        ("tinyEWG.txt", 8, 16, "float64", (6, 4, 0.93)),
        ("tinyDG.txt", 13, 22, "int32", (7, 6, 1)),
        ("tinyDAG.txt", 13, 15, "int32", (2, 0, 1)),
        ("tinyG.txt", 13, 13, "int32", (9, 12, 1)),
        ("tinyCG.txt", 6, 8, "int32", (0, 5, 1)),
        ("cover.mtx", 7, 12, "int32", (1, 6, 8)),
        ("karate.mtx", 34, 156, "int32", (0, 31, 1)),
        ("west0067.mtx", 67, 294, "float64", (4, 0, -0.2788416)),
    ],
)
def test_published_files(name, n, nnz, dtype, edge):
    A = read(DATA / name)
    assert A.shape == (n, n)
    assert A.nnz == nnz
    assert A.dtype == dtype
    assert A[edge[:2]] == edge[2]


@pytest.mark.parametrize("path", sorted(DATA.glob("*.mtx")), ids=lambda path: path.name)
def test_matrix_market_agrees_with_scipy(path):
    ours, theirs = read(path).to_dense(), scipy.io.mmread(path, spmatrix=False).toarray()
    np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize(
    ("field", "entries", "expected"),
    [
        ("integer symmetric", "2 1 5\n3 3 7\n", [(0, 1, 5), (1, 0, 5), (2, 2, 7)]),
        ("integer skew-symmetric", "2 1 5\n3 1 -7\n", [(0, 1, -5), (0, 2, 7), (1, 0, 5), (2, 0, -7)]),
        ("pattern symmetric", "2 1\n3 3\n", [(0, 1, 1), (1, 0, 1), (2, 2, 1)]),
        ("real general", "1 2 4\n3 1 1e3\n", [(0, 1, 4.0), (2, 0, 1000.0)]),
        ("integer general", "1 2 4\n1 2 3\n", [(0, 1, 3)]),
    ],
)
def test_matrix_market_fields_and_symmetries(file, field, entries, expected):
    assert edges(read(file("a.mtx", f"{MATRIX_MARKET}{field}\n3 3 2\n{entries}"))) == expected


def test_matrix_market_reals_are_float64_whatever_they_look_like(file):
    A = read(file("a.mtx", f"{MATRIX_MARKET}real general\n2 2 2\n1 2 3\n2 1 {10**25}\n"))
    assert A.dtype == np.float64
    assert edges(A) == [(0, 1, 3.0), (1, 0, 1e25)]


def test_rectangular_matrix_stays_rectangular(file):
    A, labels = read(file("wide.mtx", MATRIX_MARKET + "integer general\n2 4 1\n2 4 9\n"), return_labels=True)
    assert A.shape == (2, 4)
    assert edges(A) == [(1, 3, 9)]
    assert labels.tolist() == [1, 2, 3, 4]


def test_pace_is_undirected(file):
    path = file("road.pace.gr.gz", "c a comment\np tw 4 3\n1 2\n2 3\nc another\n3 3\n")
    A, labels = read(path, return_labels=True)
    assert edges(A) == [(0, 1, 1), (1, 0, 1), (1, 2, 1), (2, 1, 1), (2, 2, 1)]
    assert A.shape == (4, 4)
    assert labels.tolist() == [1, 2, 3, 4]


def test_format_overrides_suffix(file):
    path = file("graph.dat", THE_GRAPH_AS["graph.gr"])
    assert edges(read(path, format="dimacs")) == THE_GRAPH


def test_comments_alone_are_an_empty_graph(file):
    A, labels = read(file("none.txt", "# no edges\n"), return_labels=True)
    assert A.shape == (0, 0)
    assert labels.size == 0


# --- weights ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("weights", "dtype"),
    [
        (["", ""], "int32"),
        (["3", "-4"], "int32"),
        (["3", "2147483646"], "int32"),
        (["3", "2147483647"], "int64"),  # in int32 this is MinPlus's zero, and the edge would vanish
        (["3", "-2147483648"], "int64"),
        (["9223372036854775807", "-9223372036854775808"], "int64"),
        (["3", "4.0"], "float64"),
        (["3", "1e2"], "float64"),
        ([".5", "-1.e-3"], "float64"),
        (["1", "inf"], "float64"),
        (["-Infinity", "9007199254740993"], "float64"),
    ],
)
def test_weights_choose_their_dtype(file, weights, dtype):
    A = read(file("w.txt", f"0 1 {weights[0]}\n1 0 {weights[1]}\n"))
    assert A.dtype == dtype
    assert A.values.tolist() == [np.dtype(dtype).type(weight or 1) for weight in weights]


def test_one_real_weight_makes_all_real_across_blocks(file, monkeypatch):
    monkeypatch.setattr(source, "BLOCK_BYTES", 1)
    assert edges(read(file("w.txt", "0 1 3\n1 0 0.5\n1 2 7\n"))) == [(0, 1, 3.0), (1, 0, 0.5), (1, 2, 7.0)]


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
def test_dtype_is_obeyed(file, dtype):
    assert read(file("w.txt", "0 1 3\n1 0 4.0\n"), dtype=dtype).dtype == dtype
    assert read(file("u.txt", "0 1\n1 0\n"), dtype=dtype).dtype == dtype


@pytest.mark.parametrize(
    ("weight", "dtype"), [("0.5", "int32"), ("2147483648", "int32"), ("inf", "int64"), ("2", "bool")]
)
def test_lossy_cast_to_integers_is_refused(file, weight, dtype):
    assert f"cannot be stored as {dtype}" in error_of(file("w.txt", f"0 1 {weight}\n"), dtype=dtype)


def test_parallel_edges_keep_the_least_weight(file):
    assert edges(read(file("w.txt", "0 1 5\n0 1 3\n0 1 4\n"))) == [(0, 1, 3)]


def test_undirected_adds_every_reverse_and_loops_once(file):
    path = file("w.txt", "0 1 5\n1 0 4\n1 2 3\n2 2 1\n")
    assert edges(read(path, directed=False)) == [(0, 1, 4), (1, 0, 4), (1, 2, 3), (2, 1, 3), (2, 2, 1)]


# --- vertex ids -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "labels"),
    [
        ("graph.gr", [1, 2, 3]),
        ("graph.mtx", [1, 2, 3]),
        ("algs4.txt", [0, 1, 2]),
        ("graph.txt", [10, 20, 30]),
        ("graph.el", [1, 2, 3]),
    ],
)
def test_labels_are_the_ids_in_the_file(file, name, labels):
    A, found = read(file(name, THE_GRAPH_AS[name]), return_labels=True)
    assert found.dtype.kind == "i"
    assert found.tolist() == labels
    assert edges(A) == THE_GRAPH


@pytest.mark.parametrize("weight", ["1", "0.5"])
def test_ids_of_64_bits_stay_exact(file, weight):
    ids = [2**53 + 1, 2**60 + 1, 2**63 - 1]
    path = file("big.txt", "".join(f"{u} {v} {weight}\n" for u, v in zip(ids, ids[1:], strict=False)))
    assert read(path, return_labels=True)[1].tolist() == ids


# --- what is refused --------------------------------------------------------------------------------------------------

HEAD = MATRIX_MARKET + "integer general\n"

MALFORMED = [
    # DIMACS
    ("a.gr", "c\np sp 3 2\n\nc\na 1 2 5\na 3 x 5\n", "6: expected 'a u v w', got 'a 3 x 5'"),
    ("a.gr", "p sp 3 1\na 1 2\n", "2: expected 'a u v w', got 'a 1 2'"),
    ("a.gr", "p sp 3 1\na 1 2 3 4\n", "2: expected 'a u v w', got 'a 1 2 3 4'"),
    ("a.gr", "p sp 3 1\ne 1 2 3\n", "2: expected 'a u v w', got 'e 1 2 3'"),
    ("a.gr", "p sp 3 1\na 1 2 nan\n", "2: expected 'a u v w', got 'a 1 2 nan'"),
    ("a.gr", "p sp 3 1\na 1 2 1_0\n", "2: expected 'a u v w', got 'a 1 2 1_0'"),
    ("a.gr", "p sp 3 1\na 1.0 2 3\n", "2: expected 'a u v w', got 'a 1.0 2 3'"),
    ("a.gr", "p sp 3 1\na 0 2 3\n", "2: vertex 0 is not in 1..3"),
    ("a.gr", "p sp 3 2\nc\na 1 2 3\nc\n\na 1 4 3\n", "6: vertex 4 is not in 1..3"),
    ("a.gr", "p sp 3 1\na 1 -2 3\n", "2: vertex -2 is not in 1..3"),
    ("a.gr", "p sp 3 1\na 1 99999999999999999999 3\n", "2: 99999999999999999999 does not fit into 64 bits"),
    ("a.gr", "p sp 3 1\na 4 1 1\na 1 x 1\n", "2: vertex 4 is not in 1..3"),
    ("a.gr", "c\np sp 3 3\na 1 2 3\n", "2: the header promises 3 edges, the file holds 1"),
    ("a.gr", "p sp 3 0\na 1 2 3\n", "1: the header promises 0 edges, the file holds 1"),
    ("a.gr", "c\na 1 2 3\n", "2: expected 'p sp n m', got 'a 1 2 3'"),
    ("a.gr", "c only\nc comments\n", "2: expected 'p sp n m', got the end of the file"),
    ("a.gr", "p sp 3 1\np sp 3 1\na 1 2 3\n", "2: expected 'a u v w', got 'p sp 3 1'"),
    ("a.gr", "p sp 3\na 1 2 3\n", "1: expected 'p sp n m', got 'p sp 3'"),
    ("a.gr", "p sp -3 1\n", "1: expected 'p sp n m', got 'p sp -3 1'"),
    ("a.gr", "", "1: the file is empty"),
    ("a.gr", b"\x00\xff\xfe garbage", "1: expected 'p sp n m', got '\\x00\\\\xff\\\\xfe garbage'"),
    # PACE
    ("a.gr", "p tw 3 1\n1 2 3\n", "2: expected 'u v', got '1 2 3'"),
    ("a.gr", "p tw 3 1\n1 4\n", "2: vertex 4 is not in 1..3"),
    ("a.gr", "c\np tw 3 2\n1 2\n", "2: the header promises 2 edges, the file holds 1"),
    # edge lists
    ("a.txt", "# a\n\n0 1\n0 1 2\n", "4: expected 'u v', got '0 1 2'"),
    ("a.txt", "0 1 2\n0 1\n", "2: expected 'u v w', got '0 1'"),
    ("a.txt", "# a\n0 1 2 3\n", "2: expected 'u v [w]', got '0 1 2 3'"),
    ("a.txt", "# a\n7\n", "2: expected 'u v [w]', got '7'"),
    ("a.txt", "0 1\n2 three\n", "2: expected 'u v', got '2 three'"),
    ("a.txt", "0 1\n\n-3 2\n", "3: vertex -3 is negative"),
    ("a.txt", "0 1 1\n0 2 NaN\n", "2: expected 'u v w', got '0 2 NaN'"),
    ("a.txt", "0 1 1\n0 2 9223372036854775808\n", "2: 9223372036854775808 does not fit into 64 bits"),
    ("a.txt", "0 1 0.5\n0 2 -9223372036854775809\n", "2: -9223372036854775809 does not fit into 64 bits"),
    ("a.txt", "0 9223372036854775808 0.5\n", "1: 9223372036854775808 does not fit into 64 bits"),
    ("a.csv", "0,1,\n", "1: expected 'u v w', got '0,1,'"),
    ("a.csv", "u,v\n0,1\nu,v\n", "3: expected 'u v', got 'u,v'"),
    ("a.el", "", "1: the file is empty"),
    ("a.el", b"\x89PNG\r\n\x1a\n", "1: expected 'u v [w]', got '\\\\x89PNG'"),
    # algs4
    ("a.txt", "3\n2\n0 1\n", "1: the header promises 2 edges, the file holds 1"),
    ("a.txt", "3\n1\n0 3\n", "3: vertex 3 is not in 0..2"),
    ("a.txt", "3\n1\n0 1 2 3\n", "3: expected 'u v [w]', got '0 1 2 3'"),
    ("a.txt", "3\n2\n0 1 2\n0 1\n", "4: expected 'u v w', got '0 1'"),
    # Matrix Market
    ("a.mtx", "3 3 1\n1 1 1\n", "1: expected '%%MatrixMarket matrix coordinate FIELD SYMMETRY', got '3 3 1'"),
    ("a.mtx", MATRIX_MARKET + "complex general\n", "1: values must be real, integer, pattern, got 'complex'"),
    ("a.mtx", MATRIX_MARKET + "real hermitian\n", "1: a real matrix cannot be read as 'hermitian'"),
    (
        "a.mtx",
        "%%MatrixMarket matrix array real general\n1 1\n1\n",
        "1: a dense 'array' file does not say which entries are absent: use 'coordinate'",
    ),
    ("a.mtx", HEAD + "% c\n3 3\n", "3: expected 'rows columns entries', got '3 3'"),
    ("a.mtx", HEAD + "3 3 1\n1 2 0.5\n", "3: expected 'row column integer', got '1 2 0.5'"),
    ("a.mtx", HEAD + "3 3 1\n1 2 5x\n", "3: expected 'row column integer', got '1 2 5x'"),
    ("a.mtx", HEAD + "3 3 1\n1 2\n", "3: expected 'row column integer', got '1 2'"),
    ("a.mtx", HEAD + "3 3 2\n1 2 5\n", "2: the header promises 2 edges, the file holds 1"),
    ("a.mtx", HEAD + "2 3 1\n3 1 5\n", "3: vertex 3 is not in 1..2"),
    ("a.mtx", HEAD + "3 2 1\n1 3 5\n", "3: vertex 3 is not in 1..2"),
    ("a.mtx", MATRIX_MARKET + "real general\n2 2 1\n1 2 nan\n", "3: expected 'row column value', got '1 2 nan'"),
    ("a.mtx", MATRIX_MARKET + "real symmetric\n2 3 0\n", "2: a symmetric matrix must be square, this one is 2 x 3"),
    ("a.mtx", "", "1: the file is empty"),
]


@pytest.mark.parametrize("ending", ["", ".gz"])
@pytest.mark.parametrize(("name", "text", "message"), MALFORMED, ids=lambda value: None)
def test_error_names_the_line(file, name, text, message, ending):
    assert error_of(file(name + ending, text)) == message


@pytest.mark.parametrize("block_bytes", [1, 10])
@pytest.mark.parametrize(("name", "text", "message"), MALFORMED, ids=lambda value: None)
def test_error_names_the_line_in_any_block(file, monkeypatch, name, text, message, block_bytes):
    monkeypatch.setattr(source, "BLOCK_BYTES", block_bytes)
    assert error_of(file(name, text)) == message


@pytest.mark.parametrize(
    ("name", "header"),
    [
        ("a.gr", "p sp 3 2\n"),
        ("a.gr", "p tw 3 2\n"),
        ("a.txt", ""),
        ("a.txt", "3\n2\n"),
        ("a.mtx", HEAD),
        ("a.csv", ""),
    ],
)
@settings(max_examples=100, deadline=None)
@given(lines=st.lists(st.text("0123 \t.,-+einfac#%\r\0é", max_size=9), max_size=4))
def test_any_text_is_read_or_refused(tmp_path_factory, name, header, lines):
    path = tmp_path_factory.getbasetemp() / name
    path.write_bytes((header + "\n".join(lines)).encode())
    try:
        assert isinstance(read(path), CSR)
    except ValueError as error:
        assert str(error).startswith(f"{path}:")  # noqa: PT017


def test_error_far_into_a_file(file):
    lines = [f"a {i} {i + 1} 1" for i in range(1, 200_001)]
    lines[150_000] = "c a comment"
    lines[170_000] = "a 7 8"
    path = file("far.gr.gz", "p sp 200001 199999\n" + "\r\n".join(lines))
    assert error_of(path) == "170002: expected 'a u v w', got 'a 7 8'"


def test_undirected_needs_a_square_matrix(file):
    path = file("wide.mtx", MATRIX_MARKET + "integer general\n2 4 1\n2 4 9\n")
    assert error_of(path, directed=False) == " directed=False needs a square matrix, this one is 2 x 4"


@pytest.mark.parametrize("cut", [0, 5, 30, 1000])
def test_damaged_gzip(file, cut):
    content = gzip.compress("".join(f"{u} {u * u % 1000}\n" for u in range(5000)).encode())[: -cut or None]
    path = file("cut.txt", content if cut else b"not gzip at all").rename(file("x", b"").with_name("cut.txt.gz"))
    assert "the gzip data are damaged or cut short" in error_of(path)


def test_missing_file():
    with pytest.raises(FileNotFoundError):
        read(DATA / "nowhere.gr")


def test_unknown_suffix(file):
    assert "unknown suffix '.docx'; known are .csv, .edges," in error_of(file("graph.docx.gz", "1 2\n"))


@pytest.mark.parametrize(
    "call", [lambda path: read(path, format="gml"), lambda path: write(path, A_SMALL, format="gml")]
)
def test_unknown_format(file, call):
    with pytest.raises(
        ValueError, match="unknown file format 'gml'; there are mtx, pace, dimacs, algs4, edges, csv, npz"
    ):
        call(file("graph.txt", "1 2\n"))


# --- headers that lie, and memory -------------------------------------------------------------------------------------

HUGE = 10**12


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.gr", f"p sp 3 {HUGE}\na 1 2 3\n"),
        ("a.gr", f"p sp {HUGE} 1\na 1 2 3\n"),
        ("a.gr", f"p tw 3 {HUGE}\n1 2\n"),
        ("a.gr", f"p tw {HUGE} 1\n1 2\n"),
        ("a.txt", f"3\n{HUGE}\n0 1\n"),
        ("a.txt", f"{HUGE}\n1\n0 1\n"),
        ("a.mtx", f"{HEAD}3 3 {HUGE}\n1 2 3\n"),
        ("a.mtx", f"{HEAD}{HUGE} {HUGE} 1\n1 2 3\n"),
        ("a.mtx", f"{HEAD}3 {HUGE} 1\n1 2 3\n"),
    ],
)
def test_nothing_is_allocated_by_a_lying_header(file, name, text):
    path = file(name, text)
    error_of(path)  # imports what it needs
    assert peak_bytes(lambda: error_of(path)) < 5_000_000
    assert str(HUGE) in error_of(path)


@pytest.mark.parametrize("name", ["a.gr", "a.mtx", "a.txt", "a.csv", "algs4.txt", "pace.gr", "a.npz"])
def test_memory_is_a_small_multiple_of_the_file(tmp_path, name):
    m, n = 200_000, 50_000
    random = np.random.default_rng(0)
    src, dst = random.integers(0, n, m), random.integers(0, n, m)
    special = name.split(".")[0] if name[:2] != "a." else None
    A = from_edges(*((src, dst) if special != "pace" else (np.append(src, dst), np.append(dst, src))), shape=n)
    write(tmp_path / name, A, format=special)
    assert peak_bytes(lambda: read(tmp_path / name)) < 10 * os.path.getsize(tmp_path / name)


# --- round trips ------------------------------------------------------------------------------------------------------

A_SMALL = from_edges([0, 1, 1], [1, 2, 1], [3, 4, 5], shape=4)
WEIGHTS = {
    "int32": st.integers(1 - 2**31, 2**31 - 2),
    "int64": st.integers(-(2**63), 2**63 - 1),
    "float32": st.floats(width=32, allow_nan=False),
    "float64": st.floats(allow_nan=False),
}


@st.composite
def matrices(draw, dtypes=tuple(WEIGHTS), square=True, isolated=True):
    dtype = draw(st.sampled_from(dtypes))
    nrows = draw(st.integers(1, 9))
    ncols = nrows if square else draw(st.integers(1, 9))
    pair = st.tuples(st.integers(0, nrows - 1), st.integers(0, ncols - 1), WEIGHTS[dtype])
    entries = draw(st.lists(pair, max_size=20))
    if not isolated:
        entries += [(v, v, 1) for v in range(nrows)]
    src, dst, weights = (list(column) for column in zip(*entries, strict=True)) if entries else ([], [], [])
    return from_edges(src, dst, np.array(weights, dtype), shape=(nrows, ncols))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("round-trips")


def assert_comes_back(A: Matrix, path: Path, **format: str) -> None:
    write(path, A, **format)
    assert read(path, dtype=A.dtype, **format).equals(A)
    exact = read(path, **format)  # without dtype: the same values, in the file's own type
    assert exact.dtype.kind == A.dtype.kind or A.nnz == 0
    np.testing.assert_array_equal(exact.to_edges()[2], A.values)


@pytest.mark.parametrize("ending", ["", ".gz"])
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_round_trip_of_matrix_market(folder, ending, data):
    assert_comes_back(data.draw(matrices(square=False)), folder / f"a.mtx{ending}")


@settings(max_examples=60, deadline=None)
@given(A=matrices(dtypes=("int32", "int64", "float64"), square=False))
def test_scipy_reads_what_we_write(folder, A):
    write(folder / "a.mtx", A)
    np.testing.assert_array_equal(scipy.io.mmread(folder / "a.mtx", spmatrix=False).toarray(), A.to_dense())


@pytest.mark.parametrize("ending", ["", ".gz"])
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_round_trip_of_dimacs(folder, ending, data):
    assert_comes_back(data.draw(matrices(dtypes=("int32", "int64"))), folder / f"a.gr{ending}")


@pytest.mark.parametrize("ending", ["", ".gz"])
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_round_trip_of_algs4(folder, ending, data):
    assert_comes_back(data.draw(matrices()), folder / f"a.txt{ending}", format="algs4")


@pytest.mark.parametrize("suffix", [".txt", ".el", ".tsv", ".edges", ".csv", ".txt.gz"])
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_round_trip_of_edge_lists_without_isolated_vertices(folder, suffix, data):
    A = data.draw(matrices(isolated=False))
    ids = st.lists(st.integers(0, 2**63 - 1), min_size=A.nrows, max_size=A.nrows, unique=True)
    labels = sorted(data.draw(ids))
    path = folder / f"a{suffix}"
    assert_comes_back(A, path)
    write(path, A, labels=labels)
    B, found = read(path, dtype=A.dtype, return_labels=True)
    assert B.equals(A)
    assert found.tolist() == labels


@pytest.mark.parametrize("ending", ["", ".gz"])
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_round_trip_of_pace(folder, ending, data):
    A = data.draw(matrices())
    src, dst, _ = A.to_edges()
    symmetric = from_edges(np.append(src, dst), np.append(dst, src), shape=A.shape)
    assert_comes_back(symmetric, folder / f"a.gr{ending}", format="pace")


@pytest.mark.parametrize("ending", ["", ".gz"])
@pytest.mark.parametrize("fmt", [CSR, CSC, COO, ELL])
@pytest.mark.parametrize("transposed", [False, True])
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_round_trip_of_npz_keeps_format_and_dtype(folder, fmt, transposed, ending, data):
    A = data.draw(matrices(square=False)).to(fmt)
    A = A.T if transposed else A
    labels = np.arange(max(A.shape))[::-1] * 3
    path = folder / f"a.npz{ending}"
    write(path, A, labels=labels)
    B, found = read(path, return_labels=True)
    assert type(B) is type(A)
    assert B.major == A.major
    assert B.equals(A)
    assert found.tolist() == labels.tolist()


@pytest.mark.parametrize("name", ["a.gr", "a.mtx", "a.npz"])
def test_round_trip_of_bool(tmp_path, name):
    A = A_SMALL.pattern()
    write(tmp_path / name, A)
    assert read(tmp_path / name, dtype=bool).equals(A)


def test_npz_obeys_directed_and_dtype(tmp_path):
    write(tmp_path / "a.npz", A_SMALL.to(COO))
    A = read(tmp_path / "a.npz", directed=False, dtype="float32")
    assert isinstance(A, COO)
    assert A.dtype == np.float32
    assert edges(A) == [(0, 1, 3.0), (1, 0, 3.0), (1, 1, 5.0), (1, 2, 4.0), (2, 1, 4.0)]


def test_npz_without_labels_counts_from_zero(tmp_path):
    write(tmp_path / "a.npz", A_SMALL)
    assert read(tmp_path / "a.npz", return_labels=True)[1].tolist() == [0, 1, 2, 3]


def good_parts() -> dict:
    return {"format": np.array("csr"), "shape": (4, 4), **{name: getattr(A_SMALL, name) for name in CSR_ARRAYS}}


CSR_ARRAYS = ("indptr", "indices", "values")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": None}, "unknown format 'nothing'"),
        ({"format": np.array("dia")}, "unknown format 'dia'"),
        ({"indices": None, "values": None}, "a csr matrix needs indices, values, which the archive lacks"),
        ({"indices": np.array([1, 9, 2])}, "indices must be in [0, 4), got 9"),
        ({"indptr": np.array([0, 1, 3])}, "indptr must have 5 elements"),
        ({"indices": np.array([1.0, 1.0, 2.0])}, "indices must be integers"),
        ({"shape": np.array([10**12, 4])}, "indptr must have 1000000000001 elements"),
        ({"values": np.array([1, 2, "x"], dtype=object)}, "Object arrays cannot be loaded"),
        ({"values": np.array([1, 2, np.nan])}, "values must not be NaN"),
        ({"labels": np.array([1, 2])}, "labels must be 4 integers"),
    ],
)
def test_npz_is_checked(tmp_path, change, message):
    parts = {name: part for name, part in (good_parts() | change).items() if part is not None}
    np.savez(tmp_path / "a.npz", **parts)
    assert message in error_of(tmp_path / "a.npz")


@pytest.mark.parametrize("content", [b"", b"garbage", b"PK\x03\x04 a broken archive", b"\x93NUMPY\x01\x00"])
def test_npz_that_is_none(file, content):
    assert "no .npz archive of plain arrays" in error_of(file("a.npz", content))


def test_npz_that_is_one_array(tmp_path):
    np.save(tmp_path / "a.npy", np.arange(3))
    path = (tmp_path / "a.npy").rename(tmp_path / "a.npz")
    assert "no .npz archive of plain arrays" in error_of(path)


# --- writing ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "format", "text"),
    [
        ("a.gr", None, "p sp 4 3\na 1 2 3\na 2 2 5\na 2 3 4\n"),
        ("a.mtx", None, MATRIX_MARKET + "integer general\n4 4 3\n1 2 3\n2 2 5\n2 3 4\n"),
        ("a.txt", None, "# 4 vertices, 3 edges: source, target, weight\n0\t1\t3\n1\t1\t5\n1\t2\t4\n"),
        ("a.csv", None, "source,target,weight\n0,1,3\n1,1,5\n1,2,4\n"),
        ("a.txt", "algs4", "4\n3\n0 1 3\n1 1 5\n1 2 4\n"),
    ],
)
def test_written_text(tmp_path, name, format, text):
    write(tmp_path / name, A_SMALL, format=format)
    assert (tmp_path / name).read_text() == text


@pytest.mark.parametrize(
    ("name", "A", "format", "message"),
    [
        ("a.gr", A_SMALL.astype("float64"), None, "integer weights only, these are float64: use .mtx, .txt or .npz"),
        ("a.gr", from_edges([0], [1], shape=(1, 2)), None, "square matrices only, this one is 1 x 2"),
        ("a.txt", from_edges([0], [1], shape=(1, 2)), None, "square matrices only, this one is 1 x 2"),
        ("a.gr", A_SMALL, "pace", "no weights, but one of these is 3"),
        ("a.gr", from_edges([0], [1]), "pace", "not symmetric"),
        ("a.xyz", A_SMALL, None, "unknown suffix '.xyz'"),
    ],
)
def test_writer_refuses_what_the_format_cannot_hold(tmp_path, name, A, format, message):
    with pytest.raises(ValueError, match=message):
        write(tmp_path / name, A, format=format)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([1, 2], "labels must be 4 integers"),
        ([0.0, 1.0, 2.0, 3.0], "labels must be 4 integers"),
        ([1, 2, 3, -4], "labels must not be negative, got -4"),
        ([1, 2, 3, 3], "labels must be distinct"),
    ],
)
def test_labels_are_checked(tmp_path, labels, message):
    with pytest.raises(ValueError, match=message):
        write(tmp_path / "a.txt", A_SMALL, labels=labels)


def test_only_matrices_are_written(tmp_path):
    with pytest.raises(TypeError, match="A must be a Matrix .* got ndarray"):
        write(tmp_path / "a.txt", np.eye(3))


@pytest.mark.parametrize("name", ["a.gr", "a.gr.gz"])
def test_interrupted_write_leaves_the_old_file(tmp_path, monkeypatch, name):
    write(tmp_path / name, A_SMALL)
    before = (tmp_path / name).read_bytes()

    def interrupted(stream, *_):
        stream.write(b"half a li")
        raise KeyboardInterrupt

    monkeypatch.setattr(dimacs, "write_lines", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write(tmp_path / name, A_SMALL)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_bytes() == before


@pytest.mark.parametrize("name", ["a.gr", "a.mtx.gz", "a.txt.gz", "a.npz", "a.npz.gz"])
def test_the_same_matrix_gives_the_same_bytes(tmp_path, name):
    (tmp_path / "other").mkdir()
    for folder in (tmp_path, tmp_path / "other"):
        write(folder / name, A_SMALL)
    assert (tmp_path / name).read_bytes() == (tmp_path / "other" / name).read_bytes()


# --- the rest ---------------------------------------------------------------------------------------------------------


def test_kinds_are_distinct_and_each_suffix_has_a_default():
    names = [kind.name for kind in KINDS]
    assert len(set(names)) == len(names)
    last = {suffix: kind for kind in KINDS for suffix in kind.suffixes}
    assert all(kind.opening == b"" for kind in last.values())


@pytest.mark.parametrize(
    ("progress", "terminal", "large", "shown"),
    [(None, True, True, True), (None, True, False, False), (None, False, True, False), (True, False, False, True)]
    + [(False, True, True, False)],
)
def test_progress_bar(file, monkeypatch, progress, terminal, large, shown):
    opened = []
    with_bar = source._open_with_bar
    monkeypatch.setattr(source, "_open_with_bar", lambda path: opened.append(path) or with_bar(path))
    monkeypatch.setattr(source, "BAR_FROM_BYTES", 1 if large else 10**9)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal, raising=False)
    path = file("graph.gr.gz", THE_GRAPH_AS["graph.gr"])
    assert edges(read(path, progress=progress)) == THE_GRAPH
    assert opened == ([str(path)] if shown else [])


def test_importing_formats_loads_nothing_heavy():
    heavy = "{'scipy', 'rich', 'gzip', 'zipfile', 'tempfile'}"
    code = f"import sys, formats; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=HERE.parent, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
