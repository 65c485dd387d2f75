"""read: every file format, published files, how weights choose their dtype, and the ids of vertices."""

from __future__ import annotations

import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import scipy.io

from formats import CSR, from_edges, read
from formats import progress as bars
from formats.io import KINDS, source
from formats.io import edges as edges_of_files
from formats.io.edges import Edges
from formats.storage import sorting

from .files import DATA, MATRIX_MARKET, THE_GRAPH, THE_GRAPH_AS, edges, error_of, read_by

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
        lambda text: text.replace("\n", "\r"),
        lambda text: text.replace("\n", "\r\r\n"),
        lambda text: text.replace("\n", "\r \n"),
        lambda text: text.replace("\n", "\r\n", 2).replace("\n", "\r", 1),
        lambda text: "\ufeff" + text,
        lambda text: "\ufeff" + text.replace("\n", "\r\n").removesuffix("\r\n"),
        lambda text: text.removesuffix("\n"),
        lambda text: text.replace("\n", " \t\n"),
        lambda text: text + "\n \n\t\n",
        lambda text: text.upper() if "Matrix" in text else text,
    ],
    ids=[
        *("windows line ends", "old line ends", "line ends converted twice", "a blank between line ends"),
        *("mixed line ends", "byte-order mark", "mark, windows, no final newline"),
        *("no final newline", "trailing blanks", "blank lines at the end", "capitals"),
    ],
)
def test_layout_does_not_matter(file, name, change):
    assert edges(read(file(name, change(THE_GRAPH_AS[name])))) == THE_GRAPH


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r", "\r\r\n", "\r \n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("excel.csv", "source,target\n1,2\n"),
        ("pace.gr", "c\n\nc\np tw 2 1\n1 2\n"),
        ("dimacs.gr", "c\n\np sp 2 2\na 1 2 1\na 2 1 1\n"),
        ("algs4.txt", "# c\n2\n1\n0 1\n"),
        ("list.txt", "% c\n1 2\n"),
        ("m.mtx", MATRIX_MARKET + "pattern symmetric\n%\n\n2 2 1\n2 1\n"),
    ],
)
def test_kinds_are_told_apart_with_any_line_ends(file, name, text, mark, line_end):
    found = edges(read(file(name, (mark + text.replace("\n", line_end)).encode())))
    assert found == ([(0, 1, 1)] if name in ("excel.csv", "algs4.txt", "list.txt") else [(0, 1, 1), (1, 0, 1)])


def test_comments_of_any_length_come_before_a_kind(file):
    assert read(file("road.gr", "c " + "x" * 100 + "\n" + "c\n" * 100_000 + "p tw 2 1\n1 2\n")).nnz == 2


@pytest.mark.parametrize(
    ("weight", "mirrored"), [(2**31 - 1, 1 - 2**31), (-(2**31), 2**31), (1 - 2**31, 2**31 - 1), (1 - 2**63, 2**63 - 1)]
)
def test_skew_symmetric_weights_change_their_sign(file, weight, mirrored):
    A = read(file("skew.mtx", f"{MATRIX_MARKET}integer skew-symmetric\n2 2 1\n2 1 {weight}\n"))
    assert edges(A) == [(0, 1, mirrored), (1, 0, weight)]
    assert A.dtype == np.int64


def test_comments_need_not_be_utf8(file):
    assert read(file("old.gr", "c Erd\xf6s\np sp 2 1\na 1 2 3\n".encode("latin-1"))).nnz == 1


@pytest.mark.parametrize("loop", ["careful", "compiled"])
@pytest.mark.parametrize("block_bytes", [1, 7, 40, 1000])
@pytest.mark.parametrize("name", THE_GRAPH_AS)
def test_blocks_do_not_show(file, monkeypatch, name, block_bytes, loop):
    monkeypatch.setattr(source, "BLOCK_BYTES", block_bytes)
    read_by(loop, monkeypatch)
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


@pytest.mark.parametrize("loop", ["careful", "compiled"])
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
def test_weights_choose_their_dtype(file, monkeypatch, weights, dtype, loop):
    read_by(loop, monkeypatch)
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


def reals() -> list[str]:
    """Numbers that are hard to round, beside easy ones."""
    random = np.random.default_rng(0)
    bits = random.integers(0, 2**63, 3000).view(np.float64)
    some = [x for x in bits.tolist() if x < np.inf] + random.random(2000).tolist()
    written = [form.format(x) for x in some for form in ("{!r}", "{:.18e}", "{:.30e}", "{:.16g}", "{:.17g}", "{:+.3e}")]
    halfway = [int(x) * 2 + 1 for x in random.integers(2**53, 2**54, 500)]
    some = [Fraction(x) + Fraction(np.spacing(x)) / 2 for x in random.random(300).tolist()]
    long = [f"0.{int(x * 10**1100):01100d}".rstrip("0") + end for x in some for end in ("", "1")]
    long += [x[:-1] + "4999" for x in long[::2]] + ["9" * k + end for k in range(15, 40) for end in (".", ".5", "e-9")]
    near = [f"{m + off}e{e}" for m in halfway for off in (-1, 0, 1) for e in (0, 5, -5, 30)]
    edge = ["9007199254740993.0", "0.0", "-0.0", "-1e-400", "5e-324", "1.7976931348623157e308", "00000.5"]
    zeros = [
        "0.00000000000000000000000012345678901234567",
        "0" * 40 + ".25",
        "1e0000000000",
        "1E+5",
        "inf",
        "-Infinity",
    ]
    return written + long + near + edge + zeros + [f"0.{m:019d}" for m in random.integers(0, 2**63, 500).tolist()]


@pytest.mark.parametrize("loop", ["careful", "compiled"])
def test_reals_are_rounded_as_python_rounds_them(file, monkeypatch, loop):
    read_by(loop, monkeypatch)
    written = reals()
    A = read(file("w.txt", "".join(f"0 {i} {x}\n" for i, x in enumerate(written))))
    np.testing.assert_array_equal(A.values.view(np.int64), np.array([float(x) for x in written]).view(np.int64))


@pytest.mark.parametrize("loop", ["careful", "compiled"])
@pytest.mark.parametrize("block_bytes", [1, 37, 1 << 20])
def test_numbers_of_any_length_are_read_wherever_they_lie(file, monkeypatch, block_bytes, loop):
    read_by(loop, monkeypatch)
    monkeypatch.setattr(source, "BLOCK_BYTES", block_bytes)
    random = np.random.default_rng(block_bytes)
    digits = ["".join(map(str, random.integers(0, 10, k))) for k in range(1, 19)]
    numbers = [*digits, "0" * 20, "00012", "9" * 18, "9" * 8, "10000000", "100000000", str(2**31), str(2**31 - 1)]
    reals = [f"{sign}{whole}.{part}{power}" for whole, part in zip(numbers, numbers[1:], strict=False)
             for sign, power in (("", ""), ("-", "e-7"), ("+", "E12"))]  # fmt: skip
    for weights in (numbers, reals):
        ids = random.permutation(numbers * (len(weights) // len(numbers) + 1))[: len(weights)].tolist()
        text = "\n".join(f"{k} {v} {w}" for k, (v, w) in enumerate(zip(ids, weights, strict=True)))
        A, labels = read(file("w.txt", text), return_labels=True)
        found = {(labels[u], labels[v]): w for u, v, w in edges(A)}
        real = weights is reals
        assert found == {
            (k, int(v)): float(w) if real else int(w) for k, (v, w) in enumerate(zip(ids, weights, strict=True))
        }


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


@pytest.mark.parametrize("loop", ["careful", "compiled"])
@pytest.mark.parametrize("weight", ["1", "0.5"])
def test_ids_of_64_bits_stay_exact(file, monkeypatch, weight, loop):
    read_by(loop, monkeypatch)
    ids = [2**53 + 1, 2**60 + 1, 2**63 - 1]
    path = file("big.txt", "".join(f"{u} {v} {weight}\n" for u, v in zip(ids, ids[1:], strict=False)))
    assert read(path, return_labels=True)[1].tolist() == ids


@pytest.mark.parametrize("loop", ["careful", "compiled"])
@pytest.mark.parametrize("block_bytes", [1, 100, 1 << 20])
@pytest.mark.parametrize("ending", ["", ".gz"])
def test_ids_and_weights_may_grow_wider_anywhere(file, monkeypatch, ending, block_bytes, loop):
    read_by(loop, monkeypatch)
    monkeypatch.setattr(source, "BLOCK_BYTES", block_bytes)
    numbers = [5, 6, 2**31 - 1, 7, 2**31, 8, 2**40, 9, 2**63 - 1, 10]
    rows = [(u, v, w) for u, v in zip(numbers, numbers[::-1], strict=True) for w in (3, 2**31)]
    lines = [f"{'+' if k % 3 == 2 else ''}{u}\t{v} {w}\n" for k, (u, v, w) in enumerate(rows)]
    A, labels = read(file(f"wide.txt{ending}", "".join(lines)), return_labels=True)
    assert labels.tolist() == sorted(numbers)
    assert A.dtype == np.int64
    assert {(labels[u], labels[v], w) for u, v, w in edges(A)} == {row for row in rows if row[2] == 3}


@pytest.mark.parametrize("spread", [1, 3, 7919, 2**40])
@pytest.mark.parametrize("ends", [[], [0, 2**63 - 1]])
def test_many_ids_with_gaps_are_numbered_in_order(file, monkeypatch, spread, ends):
    monkeypatch.setattr(edges_of_files, "MANY_TO_LOAD", 1)
    random = np.random.default_rng(spread)
    src, dst = random.integers(0, 20_000, (2, 50_000)) * spread
    src[: len(ends)] = ends
    weights = random.integers(-9, 9, src.size)
    path = file("gaps.tsv", "".join(map("{}\t{}\t{}\n".format, src.tolist(), dst.tolist(), weights.tolist())))
    A, labels = read(path, return_labels=True)
    expected, places = np.unique(np.concatenate((src, dst)), return_inverse=True)
    assert labels.tolist() == expected.tolist()
    assert A.equals(from_edges(places[: src.size], places[src.size :], weights.astype("int32"), shape=expected.size))


@pytest.mark.parametrize("weights", ["", "int32", "float32", "int64", "float64", "bool"])
@pytest.mark.parametrize("room", ["all of it", "for numbers", "for neither"])
def test_entries_are_sorted_whatever_their_words_have_room_for(monkeypatch, room, weights):
    monkeypatch.setattr(sorting, "BLOCK_BITS", 10)
    monkeypatch.setattr(sorting, "WORD_BITS", {"all of it": 64, "for numbers": 48, "for neither": 24}[room])
    random = np.random.default_rng(5)
    shape, m = (3000, 5000), 20_000
    src, dst = (random.integers(0, extent, m).astype(np.int32) for extent in shape)
    src[:9000], dst[:9000] = src[9000:18_000], dst[9000:18_000]  # every other entry is there twice
    values = (random.normal(size=m) * 1000).astype(weights) if weights else np.empty(0, np.int32)
    indptr, indices, kept = sorting.sorted_by_rows(src, dst, values, shape)
    expected = from_edges(src, dst, values if weights else None, shape=shape)
    assert np.array_equal(indptr, expected.indptr)
    assert np.array_equal(indices, expected.indices)
    assert kept.dtype == values.dtype
    assert np.array_equal(kept, expected.values if weights else values)


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("weights", ["", "integer", "real"])
@pytest.mark.parametrize("order", ["random", "by row", "sorted", "one row", "one column", "hub"])
def test_many_edges_in_any_order_become_rows(monkeypatch, order, weights, directed):
    monkeypatch.setattr(edges_of_files, "MANY_TO_LOAD", 1)
    random = np.random.default_rng(7)
    n, m = 3000, 40_000
    rows, cols = random.integers(0, n, (2, m)) * [[order != "one row"], [order != "one column"]]
    if order == "hub":
        rows[: m // 2] = 2999
    if order in ("by row", "sorted"):
        by = np.lexsort((cols, rows)) if order == "sorted" else np.argsort(rows, kind="stable")
        rows, cols = rows[by], cols[by]
    values = {"": None, "integer": random.integers(-99, 99, m), "real": random.normal(size=m)}[weights]
    A = Edges(rows, cols, values, (n, n), range(n)).matrix(directed, None)
    A.check()
    if not directed:
        rows, cols = np.append(rows, cols), np.append(cols, rows)
        values = None if values is None else np.append(values, values)
    values = values.astype("int32") if weights == "integer" else values
    assert A.equals(from_edges(rows, cols, values, shape=n))


# --- the rest ---------------------------------------------------------------------------------------------------------


def test_kinds_are_distinct_and_each_suffix_has_a_default():
    names = [kind.name for kind in KINDS]
    assert len(set(names)) == len(names)
    last = {suffix: kind for kind in KINDS for suffix in kind.suffixes}
    assert all(kind.opening == b"" for kind in last.values())


@pytest.mark.parametrize("name", ["graph.gr.gz", "graph.mtx"])
@pytest.mark.parametrize(
    ("progress", "terminal", "slow", "shown"),
    [(None, True, True, True), (None, True, False, False), (None, False, True, False), (True, False, False, True)]
    + [(False, True, True, False)],
)
def test_progress_bar(file, monkeypatch, name, progress, terminal, slow, shown):
    started = []
    start = bars.Bar._start
    monkeypatch.setattr(bars.Bar, "_start", lambda bar: started.append((bar._name, bar._total)) or start(bar))
    monkeypatch.setattr(bars, "BAR_AFTER_SECONDS", 0.0 if slow else 1e9)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal, raising=False)
    path = file(name, THE_GRAPH_AS[name.removesuffix(".gz")])
    assert edges(read(path, progress=progress)) == THE_GRAPH
    assert started == ([(name, path.stat().st_size)] if shown else [])


def test_importing_formats_loads_nothing_heavy():
    heavy = "{'scipy', 'rich', 'gzip', 'zipfile', 'tempfile'}"
    code = f"import sys; before = set(sys.modules); import formats; print(sorted({heavy} & set(sys.modules) - before))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=Path(__file__).parent.parent, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_formats_alone_read_by_the_compiled_loop_with_nothing_compiled(tmp_path: Path) -> None:
    path = tmp_path / "graph.gr"
    path.write_text("p sp 3 2\na 1 2 5\na 2 3 6\n")
    code = (
        "import sys, formats; from formats.io import reading; reading.worth_compiling = lambda *sizes: True; "
        f"A = formats.read({str(path)!r}); print(A[0, 1], A[1, 2], 'numba' in sys.modules, 'semiring' in sys.modules)"
    )
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.split()) == (0, ["5", "6", "True", "False"]), done.stderr[-500:]
