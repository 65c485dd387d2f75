"""What read refuses: every error with its line, headers that lie, damaged archives, and memory that it may take."""

from __future__ import annotations

import gzip
import os
import threading
import tracemalloc
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formats import COO, CSR, from_edges, read, write
from formats.io import source

from .files import A_SMALL, DATA, MATRIX_MARKET, THE_GRAPH_AS, error_of, read_by

HEAD = MATRIX_MARKET + "integer general\n"
ARRAY = "%%MatrixMarket matrix array "
NAN = " (NaN is no weight: leave the entry out)"

MALFORMED = [
    # DIMACS
    ("a.gr", "c\np sp 3 2\n\nc\na 1 2 5\na 3 x 5\n", "6: expected 'a u v w', got 'a 3 x 5'"),
    ("a.gr", "p sp 3 1\na 1 2\n", "2: expected 'a u v w', got 'a 1 2'"),
    ("a.gr", "p sp 3 1\na 1 2 3 4\n", "2: expected 'a u v w', got 'a 1 2 3 4'"),
    ("a.gr", "p sp 3 1\ne 1 2 3\n", "2: expected 'a u v w', got 'e 1 2 3'"),
    ("a.gr", "p sp 3 1\na 1 2 nan\n", "2: expected 'a u v w', got 'a 1 2 nan' (NaN is no weight: leave the entry out)"),
    ("a.gr", "p sp 3 1\na 1 2 1_0\n", "2: expected 'a u v w', got 'a 1 2 1_0'"),
    ("a.gr", "p sp 3 1\na 1.0 2 3\n", "2: expected 'a u v w', got 'a 1.0 2 3'"),
    ("a.gr", "p sp 3 1\na 0 2 3\n", "2: vertex 0 is not in 1..3"),
    ("a.gr", "p sp 3 2\nc\na 1 2 3\nc\n\na 1 4 3\n", "6: vertex 4 is not in 1..3"),
    ("a.gr", "p sp 3 1\na 1 -2 3\n", "2: vertex -2 is not in 1..3"),
    ("a.gr", "p sp 3 1\na 1 99999999999999999999 3\n", "2: 99999999999999999999 does not fit into 64 bits with a sign"),
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
    ("a.txt", "0 1 1\n0 2 NaN\n", "2: expected 'u v w', got '0 2 NaN' (NaN is no weight: leave the entry out)"),
    ("a.txt", "0 1 1\n0 2 9223372036854775808\n", "2: 9223372036854775808 does not fit into 64 bits with a sign"),
    ("a.txt", "0 1 0.5\n0 2 -9223372036854775809\n", "2: -9223372036854775809 does not fit into 64 bits with a sign"),
    ("a.txt", "0 1 inf\n0 2 1e400\n", "2: 1e400 does not fit a float of 64 bits"),
    ("a.txt", "0 9223372036854775808 0.5\n", "1: 9223372036854775808 does not fit into 64 bits with a sign"),
    ("a.csv", "0,1,\n", "1: expected 'u v w', got '0,1,'"),
    ("a.csv", "u,v\n0,1\nu,v\n", "3: expected 'u v', got 'u,v'"),
    ("a.txt", "0 1 2\n0 12-3\n", "2: expected 'u v w', got '0 12-3'"),  # no blank between numbers
    ("a.txt", "0 1 2\n0 1.5\n", "2: expected 'u v w', got '0 1.5'"),
    ("a.csv", "0,1,2\n0,1+7\n", "2: expected 'u v w', got '0,1+7'"),
    ("a.el", "", "1: the file is empty"),
    ("a.el", b"\x89PNG\r\n\x1a\n", "1: expected 'u v [w]', got '\\\\x89PNG'"),
    # algs4
    ("a.txt", "3\n2\n0 1\n", "1: the header promises 2 edges, the file holds 1"),
    ("a.txt", "3\n1\n0 3\n", "3: vertex 3 is not in 0..2"),
    ("a.txt", "3\n1\n0 1 2 3\n", "3: expected 'u v [w]', got '0 1 2 3'"),
    ("a.txt", "3\n2\n0 1 2\n0 1\n", "4: expected 'u v w', got '0 1'"),
    # Matrix Market
    ("a.mtx", "3 3 1\n1 1 1\n", "1: expected '%%MatrixMarket matrix coordinate FIELD SYMMETRY', got '3 3 1'"),
    ("a.mtx", MATRIX_MARKET + "complex general\n", "1: complex numbers are no weights: write their real parts"),
    (
        "a.mtx",
        MATRIX_MARKET + "quad general\n",
        "1: values must be real, integer, pattern, double, unsigned-integer, got 'quad'",
    ),
    ("a.mtx", MATRIX_MARKET + "real upper\n", "1: a real coordinate cannot be read as 'upper'"),
    ("a.mtx", MATRIX_MARKET + "pattern skew-symmetric\n", "1: a pattern coordinate cannot be read as 'skew-symmetric'"),
    ("a.mtx", ARRAY + "pattern general\n1 1\n", "1: a pattern array cannot be read as 'general'"),
    ("a.mtx", ARRAY + "real general\n2 2\n1\n2\n% c\n3\n", "2: the header promises 4 values, the file holds 3"),
    ("a.txt", ARRAY + "real symmetric\n2 2\n1\n2\n3\n4\n", "2: the header promises 3 values, the file holds 4"),
    ("a.mtx", ARRAY + "real general\n2 2 4\n1\n", "2: expected 'rows columns', got '2 2 4'"),
    ("a.mtx", ARRAY + "real general\n2 1\n1\nnan\n", "4: expected 'value', got 'nan'" + NAN),
    ("a.mtx", ARRAY + "integer general\n2 1\n1\n2 3\n", "4: expected 'integer', got '2 3'"),
    ("a.mtx", ARRAY + "real skew-symmetric\n2 3\n1\n", "2: a skew-symmetric matrix must be square, this one is 2 x 3"),
    (
        "a.edges",
        MATRIX_MARKET + "unsigned-integer general\n3 3 2\n1 2 5\n1 3 -1\n",
        "4: -1 is negative, where the banner says unsigned",
    ),
    (
        "a.txt",
        "%%MatrixMarket\n3 3\n",
        "1: expected '%%MatrixMarket matrix coordinate FIELD SYMMETRY', got '%%MatrixMarket'",
    ),
    ("a.csv", MATRIX_MARKET + "real general\n3 3 1\n1 2\n", "3: expected 'row column value', got '1 2'"),
    (
        "a.tsv",
        "\n\n" + MATRIX_MARKET + "real\n",
        "3: expected '%%MatrixMarket matrix coordinate FIELD SYMMETRY', got '%%MatrixMarket matrix coordinate real'",
    ),
    ("a.dat", MATRIX_MARKET + "real general\n3 3 1\n1 2 1.5D\n", "3: expected 'row column value', got '1 2 1.5D'"),
    ("a.mtx", HEAD + "% c\n3 3\n", "3: expected 'rows columns entries', got '3 3'"),
    ("a.mtx", HEAD + "3 3 1\n1 2 0.5\n", "3: expected 'row column integer', got '1 2 0.5'"),
    ("a.mtx", HEAD + "3 3 1\n1 2 5x\n", "3: expected 'row column integer', got '1 2 5x'"),
    ("a.mtx", HEAD + "3 3 1\n1 2\n", "3: expected 'row column integer', got '1 2'"),
    ("a.mtx", HEAD + "3 3 2\n1 2 5\n", "2: the header promises 2 edges, the file holds 1"),
    ("a.mtx", HEAD + "2 3 1\n3 1 5\n", "3: vertex 3 is not in 1..2"),
    ("a.mtx", HEAD + "3 2 1\n1 3 5\n", "3: vertex 3 is not in 1..2"),
    (
        "a.mtx",
        MATRIX_MARKET + "real general\n2 2 1\n1 2 nan\n",
        "3: expected 'row column value', got '1 2 nan' (NaN is no weight: leave the entry out)",
    ),
    ("a.mtx", MATRIX_MARKET + "real symmetric\n2 3 0\n", "2: a symmetric matrix must be square, this one is 2 x 3"),
    (
        "a.mtx",
        MATRIX_MARKET + f"integer skew-symmetric\n3 3 2\n2 1 5\n3 1 {-(2**63)}\n",
        "4: -9223372036854775808 has no counterpart of the other sign in 64 bits",
    ),
    ("a.mtx", "", "1: the file is empty"),
    ("a.gr", "\ufeff", "1: the file is empty"),
    ("a.gr", "\n\n", "2: expected 'p sp n m', got the end of the file"),
    ("a.gr", "c\r\n\r\nc\rp sp 3 1\r\r\na 1 x 3\r", "6: expected 'a u v w', got 'a 1 x 3'"),
]


@pytest.mark.parametrize("ending", ["", ".gz"])
@pytest.mark.parametrize(("name", "text", "message"), MALFORMED, ids=lambda value: None)
def test_error_names_the_line(file, name, text, message, ending):
    assert error_of(file(name + ending, text)) == message


@pytest.mark.parametrize("loop", ["careful", "compiled"])
@pytest.mark.parametrize("block_bytes", [1, 10, 2000])
@pytest.mark.parametrize(("name", "text", "message"), MALFORMED, ids=lambda value: None)
def test_error_names_the_line_in_any_block(file, monkeypatch, name, text, message, block_bytes, loop):
    monkeypatch.setattr(source, "BLOCK_BYTES", block_bytes)
    read_by(loop, monkeypatch)
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


# --- archives ---------------------------------------------------------------------------------------------------------


def good_parts() -> dict:
    return {"format": np.array("csr"), "shape": (4, 4), **{name: getattr(A_SMALL, name) for name in CSR_ARRAYS}}


CSR_ARRAYS = ("indptr", "indices", "values")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": None}, "it has no array 'format'"),
        ({"format": np.array("dok")}, "unknown format 'dok'"),
        ({"indices": None, "values": None}, "a csr matrix needs indices, values, which the archive lacks"),
        ({"indices": np.array([1, 9, 2])}, "indices must be in [0, 4), got 9"),
        ({"indptr": np.array([0, 1, 3])}, "indptr must have 5 elements"),
        ({"indices": np.array([1.0, 1.0, 2.0])}, "indices must be integers"),
        ({"shape": np.array([10**12, 4])}, "indptr must have 1000000000001 elements"),
        ({"values": np.array([1, 2, "x"], dtype=object)}, "values holds Python objects"),
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


# --- headers that lie, and memory -------------------------------------------------------------------------------------

HUGE = 10**12


def peak_bytes(call) -> int:
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


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


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b" " * 3_000_000, "1: a line has at most 1,048,576 bytes, this one is longer"),
        (b"# c\n0 1\n" + b"#" * 3_000_000, "3: a line has at most 1,048,576 bytes, this one is longer"),
        (b"#\n" * 9_000_000, "8912896: expected data, got 17,825,792 bytes of comments and blank lines"),
    ],
)
def test_a_small_file_of_much_text_is_refused_early(file, content, message):
    path = file("bomb.txt.gz", content)
    assert error_of(path) == message
    assert peak_bytes(lambda: error_of(path)) < 10_000_000


def test_blank_lines_among_edges_take_no_memory(file):
    path = file("sparse.txt.gz", b"0 1\n" + b"\n" * 12_000_000 + b"1 2\n")
    read(path)  # compiles
    assert peak_bytes(lambda: read(path)) < 20_000_000


def test_an_archive_of_few_bytes_takes_few(tmp_path):
    A = COO(np.zeros(0, int), np.zeros(0, int), np.zeros(0), (2**29, 2**29))
    write(tmp_path / "empty.npz", A)
    assert peak_bytes(lambda: read(tmp_path / "empty.npz")) < 1_000_000
    said = error_of(tmp_path / "empty.npz", return_labels=True)
    assert said == " 536870912 vertices, absurdly many for 0 edges (force=True reads it)"


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_an_archive_that_unpacks_to_absurdly_much_is_refused_without_force(tmp_path, ending):
    n = 4_000_000
    zeros = dict.fromkeys(CSR_ARRAYS, np.zeros(n, int))
    np.savez_compressed(tmp_path / "a.npz", format="csr", shape=(n, n), **zeros)
    path = tmp_path / f"a.npz{ending}"
    if ending:
        path.write_bytes(gzip.compress((tmp_path / "a.npz").read_bytes(), 1))
    error_of(path)  # imports what it needs
    assert peak_bytes(lambda: error_of(path)) < 5_000_000
    assert "unpack to 96,000,016: force=True reads it" in error_of(path)


def test_what_an_archive_holds_besides_is_not_read(tmp_path):
    np.savez_compressed(tmp_path / "a.npz", other=np.zeros(10**7), **good_parts())
    assert peak_bytes(lambda: read(tmp_path / "a.npz")) < 1_000_000


def test_an_array_whose_header_promises_what_is_not_there_is_refused(tmp_path):
    np.savez(tmp_path / "good.npz", **good_parts())
    with zipfile.ZipFile(tmp_path / "good.npz") as good, zipfile.ZipFile(tmp_path / "a.npz", "w") as bad:
        for name in good.namelist():
            bad.writestr(name, good.read(name).replace(b"(3,)", b"(9,)"))
    assert "promises" in error_of(tmp_path / "a.npz")


@pytest.mark.parametrize("text", ["p sp 4194305 1\na 1 2 3\n", "p tw 4194305 1\n1 2\n"])
def test_force_reads_more_vertices_than_the_limit(file, text):
    path = file("wide.gr", text)
    assert error_of(path) == "1: the header promises 4194305 vertices, absurdly many for 1 edges (force=True reads it)"
    assert read(path, force=True).shape == (4194305, 4194305)


# --- what is no file --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["nowhere", "nowhere.docx", "nowhere.txt.gz"])
def test_a_missing_file_is_said_to_be_missing_whatever_its_suffix(tmp_path, name):
    with pytest.raises(FileNotFoundError, match=f"No such file or directory: '{tmp_path / name}'"):
        read(tmp_path / name)


def test_a_folder_is_said_to_be_one(tmp_path):
    with pytest.raises(ValueError, match=f"{tmp_path} is a folder without head.json"):
        read(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_named(file):
    path = file("secret.txt", "0 1\n")
    path.chmod(0)
    with pytest.raises(PermissionError, match=str(path)):
        read(path)


@pytest.mark.parametrize("name", ["graph.gr", "graph.txt", "graph.csv", "algs4.txt", "graph.mtx", "a.npz"])
def test_a_pipe_is_read_like_a_file(file, tmp_path, name):
    content = THE_GRAPH_AS[name].encode() if name in THE_GRAPH_AS else None
    if content is None:
        write(tmp_path / "stored.npz", A_SMALL)
        content = (tmp_path / "stored.npz").read_bytes()
    (tmp_path / "pipes").mkdir()
    pipe = tmp_path / "pipes" / name
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(content,))
    writer.start()
    try:
        assert read(pipe).equals(read(file(name, content)))
    finally:
        writer.join()
