"""read: every file format, published files, how weights choose their dtype, and the ids of vertices."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.io

from formats import CSR, read
from formats.io import KINDS, source

from .files import DATA, MATRIX_MARKET, THE_GRAPH, THE_GRAPH_AS, edges, error_of

# --- what is read -----------------------------------------------------------------------------------------------------


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
    code = f"import sys; before = set(sys.modules); import formats; print(sorted({heavy} & set(sys.modules) - before))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=Path(__file__).parent.parent, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
