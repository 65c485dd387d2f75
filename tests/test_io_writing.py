"""write: what comes back after a round trip, the text of each format, and what a format cannot hold."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import scipy.io
from hypothesis import given, settings
from hypothesis import strategies as st

from algorithms import Factor, factor
from formats import COO, Matrix, from_edges, read, write
from formats.io import dimacs, keeps_labels

from .files import A_SMALL, MATRIX_MARKET, edges
from .strategies import FORMATS

# --- round trips ------------------------------------------------------------------------------------------------------

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
@pytest.mark.parametrize("fmt", FORMATS)
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


# --- where nothing can be written ------------------------------------------------------------------------------------


@contextmanager
def files_of_at_most(limit: int) -> Iterator[None]:
    """Let the system refuse to make files larger, as a full disk does."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


LARGE = from_edges(*np.random.default_rng(0).integers(0, 3000, (3, 20_000), np.int32), shape=3000)


@pytest.mark.parametrize(
    "name", ["a.mtx", "a.mtx.gz", "a.txt", "a.csv", "a.gr", "a.npz", "a.npz.gz", "folder", "slash/", "a.factor"]
)
def test_on_a_full_disk_nothing_is_lost_and_the_file_is_named(tmp_path, name):
    def put(A: Matrix) -> None:
        factor(A, force=True).write(path) if name == "a.factor" else write(path, A)

    def found() -> Matrix:
        return Factor.read(path).A if name == "a.factor" else read(path)

    path = f"{tmp_path}/{name}"
    small = from_edges([0, 1, 2], [1, 2, 0], [5, 9, 7])
    put(small)
    large = LARGE if name != "a.factor" else from_edges(range(2000), range(1, 2001), shape=2001)
    with (
        files_of_at_most(3000),
        pytest.raises(OSError, match="nothing was written, and what was there before") as error,
    ):
        put(large)
    assert str(error.value.filename) == path.rstrip("/")
    assert error.value.errno == errno.EFBIG
    assert os.listdir(tmp_path) == [name.rstrip("/")]
    assert found().equals(small)
    put(large)
    assert found().equals(large)


def test_the_command_line_says_so_in_a_sentence(tmp_path, refused):
    write(tmp_path / "a.npz", LARGE)
    with files_of_at_most(3000):
        said = refused("convert", tmp_path / "a.npz", tmp_path / "b.mtx")
    assert said == f"File too large (nothing was written, and what was there before is kept): {tmp_path / 'b.mtx'}"


@pytest.mark.parametrize("format", ["mtx", "npz", "dimacs"])
def test_a_device_is_written_to_and_not_replaced(tmp_path, format):
    link = tmp_path / "full"  # which would be replaced, and not the device
    link.symlink_to("/dev/full")
    with pytest.raises(OSError, match="nothing was written") as error:
        write(link, LARGE, format=format)
    assert (error.value.errno, error.value.filename) == (errno.ENOSPC, str(link))
    assert link.is_char_device()
    link.unlink()
    link.symlink_to("/dev/null")
    write(link, LARGE, format=format)
    assert link.is_char_device()


def test_a_pipe_takes_what_is_written(tmp_path):
    pipe = tmp_path / "a.mtx"
    os.mkfifo(pipe)
    taken: list[bytes] = []
    reader = threading.Thread(target=lambda: taken.append(pipe.read_bytes()))
    reader.start()
    write(pipe, A_SMALL)
    reader.join()
    write(tmp_path / "b.mtx", A_SMALL)
    assert taken == [(tmp_path / "b.mtx").read_bytes()]


def test_a_pipe_that_nobody_reads_to_its_end_is_no_full_disk(tmp_path):
    pipe = tmp_path / "a.mtx"
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: pipe.open("rb").close())
    reader.start()
    with pytest.raises(BrokenPipeError) as error:
        write(pipe, LARGE)
    reader.join()
    assert "nothing was written" not in str(error.value)


# --- folders ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["graph", "of.2026/graph", "graph/", "Graph-1"])
def test_a_path_without_a_suffix_is_a_folder(tmp_path, fine, name):
    (tmp_path / "of.2026").mkdir()
    path = f"{tmp_path}/{name}"
    write(path, A_SMALL, labels=[7, 8, 9, 5])
    A, labels = read(path, return_labels=True)
    assert os.path.isdir(path)
    assert A.equals(A_SMALL)
    assert labels.tolist() == [7, 8, 9, 5]
    assert keeps_labels(path)
    write(path, A_SMALL.T)
    assert read(path).equals(A_SMALL.T.to("csr"))
    fine("convert", path, tmp_path / "other")
    assert read(tmp_path / "other").equals(A_SMALL.T)


def test_a_file_without_a_suffix_is_not_replaced_by_a_folder(file):
    path = file("graph", "mine")
    with pytest.raises(FileExistsError, match="without a suffix is a folder to write, but a file is there"):
        write(path, A_SMALL)
    assert path.read_text() == "mine"
    with pytest.raises(ValueError, match="unknown suffix ''"):
        write(path.with_name("graph.gz"), A_SMALL)
