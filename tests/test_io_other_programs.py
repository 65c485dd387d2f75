"""Files of other programs: SciPy's archives, and Matrix Market files by their banner, as SciPy reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse

from algorithms import Graph
from formats import from_edges, read, write
from formats.io import source

from .files import MATRIX_MARKET, edges, error_of, read_by

# --- scipy.sparse.save_npz --------------------------------------------------------------------------------------------

KINDS = ("csr", "csc", "coo", "bsr", "dia")
DRAWN = np.random.default_rng(0).integers(0, 3, (6, 6))


def saved(path: Path, S: Any, **options: bool) -> Path:
    scipy.sparse.save_npz(path, S, **options)
    return path


@pytest.mark.quick
@pytest.mark.parametrize("compressed", [True, False])
@pytest.mark.parametrize("form", ["array", "matrix"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_archive_that_scipy_writes_is_read(tmp_path, kind, form, compressed):
    for D in (DRAWN, DRAWN[:4], DRAWN[:, :2] * 0.5, DRAWN[:1, :1], np.zeros((3, 2))):
        S = getattr(scipy.sparse, f"{kind}_{form}")(D)
        A = read(saved(tmp_path / "a.npz", S, compressed=compressed))
        assert A.shape == D.shape
        np.testing.assert_array_equal(A.to_dense(), D)
        assert type(A).__name__.lower() == (kind if kind in ("csr", "csc", "coo") else "csr")


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint32", "int64", "uint64", "float32", "float64", "bool"])
def test_archives_of_scipy_keep_any_values_that_fit(tmp_path, dtype):
    for kind in KINDS:
        S = getattr(scipy.sparse, f"{kind}_array")(DRAWN.astype(dtype))
        np.testing.assert_array_equal(read(saved(tmp_path / "a.npz", S)).to_dense(), DRAWN.astype(dtype))


@pytest.mark.parametrize("wide", ["int32", "int64"])
def test_what_an_archive_of_scipy_holds_twice_or_in_any_order_is_what_it_is_for_scipy(tmp_path, wide):
    indices, indptr = np.array([1, 0, 1, 0], wide), np.array([0, 3, 4], wide)
    for S in (
        scipy.sparse.csr_array(([5, 7, 3, 1], indices, indptr), shape=(2, 2)),
        scipy.sparse.csc_array(([5, 7, 3, 1], indices, indptr), shape=(2, 2)),
        scipy.sparse.coo_array(([5, 3, 0, 1], ([0, 0, 1, 1], indices[[0, 2, 1, 3]])), shape=(2, 2)),
        scipy.sparse.csr_array(([True, True], [1, 1], [0, 2, 2]), shape=(2, 2)),
        scipy.sparse.bsr_array((np.arange(16).reshape(4, 2, 2), indices, indptr), shape=(4, 4)),
        scipy.sparse.dia_array((np.arange(9.0).reshape(3, 3), [1, 7, -1]), shape=(3, 3)),
    ):
        path = saved(tmp_path / "a.npz", S)
        np.testing.assert_array_equal(read(path).to_dense(), S.toarray())
        np.testing.assert_array_equal(Graph.read(path).matrix.to_dense(), S.toarray())


def test_stored_zeros_of_scipy_are_edges(tmp_path):
    S = scipy.sparse.csr_array(([0.0, 2.5], [1, 0], [0, 1, 2]), shape=(2, 2))
    assert edges(read(saved(tmp_path / "a.npz", S))) == [(0, 1, 0.0), (1, 0, 2.5)]


@pytest.mark.parametrize(
    ("S", "message"),
    [
        (scipy.sparse.coo_array(np.array([1, 0, 2])), r"a matrix has two dimensions.*\(3,\)"),
        (scipy.sparse.csr_array(np.array([1, 0, 2])), r"a matrix has two dimensions.*\(3,\)"),
        (scipy.sparse.coo_array(np.ones((2, 3, 2))), r"a matrix has two dimensions.*\(2, 3, 2\)"),
        (scipy.sparse.csr_array(np.eye(3) * 1j), "complex128 are not supported"),
        (scipy.sparse.csc_array(np.full((1, 1), 2**63, "uint64")), f"{2**63} cannot be stored as int64"),
        (scipy.sparse.dia_array(np.full((2, 2), np.nan)), "NaN"),
        (scipy.sparse.coo_array(([1], ([0], [0])), shape=(10**9, 10**9)), "1000000000 vertices, absurdly many for 1"),
    ],
)
def test_what_no_matrix_here_can_hold_is_refused(tmp_path, refused, S, message):
    path = saved(tmp_path / "a.npz", S)
    with pytest.raises(ValueError, match=f"{path}: .*{message}"):
        read(path)
    assert str(path) in refused("info", path)


CSR = {"format": b"csr", "shape": (3, 3), "data": np.ones(3), "indices": [0, 1, 2], "indptr": [0, 1, 2, 3]}
COO = {"format": b"coo", "shape": (3, 3), "data": np.ones(3), "row": [0, 1, 2], "col": [0, 1, 2]}


@pytest.mark.parametrize(
    ("parts", "change", "message"),
    [
        (CSR, {"indptr": [0, 5, 0, 0]}, "indptr must not descend"),
        (CSR, {"indptr": [0, 1, 2, 9]}, "csr matrix of SciPy"),
        (CSR, {"indptr": np.array([0, 2, 1, 3], "uint64")}, "indptr must not descend"),
        (CSR, {"indices": [0, 1, 3]}, "must be < 3"),
        (CSR, {"indices": [0, 1, -1]}, "indices|>= 0"),
        (CSR, {"indices": [0.0, 1.0, 2.0]}, "indices must be integers"),
        (CSR, {"indices": None}, "a csr matrix needs indices"),
        (CSR, {"shape": None}, "a csr matrix needs shape"),
        (CSR, {"shape": (3.5, 3)}, "csr matrix of SciPy"),
        (CSR, {"shape": (-3, 3)}, "csr matrix of SciPy"),
        (CSR, {"data": np.array(["a", "b", "c"])}, "not supported"),
        (CSR, {"data": np.array([1, None, 2])}, "data holds Python objects"),
        (CSR, {"format": b"bsr"}, "bsr matrix of SciPy"),
        (CSR, {"format": b"dia"}, "a dia matrix needs offsets"),
        (CSR, {"format": b"lil"}, "unknown format 'lil'"),
        (CSR, {"format": None}, "it has no array 'format'.* got shape, data, indices, indptr"),
        (COO, {"row": [0, 1, 3]}, "coo matrix of SciPy .*3"),
        (COO, {"col": [0, -1, 2]}, "coo matrix of SciPy .*-1"),
        (COO, {"row": [0, 1]}, "coo matrix of SciPy"),
    ],
)
def test_damaged_archives_of_scipy_are_refused_before_its_loops_run(tmp_path, parts, change, message):
    parts = {name: part for name, part in (parts | change).items() if part is not None}
    np.savez(tmp_path / "a.npz", **parts)
    with pytest.raises(ValueError, match=f"a.npz: .*{message}"):
        read(tmp_path / "a.npz")


# --- Matrix Market by its banner --------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".mtx", ".txt", ".edges", ".el", ".tsv", ".csv", ".dat", "", ".csv.gz", ".txt.gz"])
@pytest.mark.parametrize("layout", ["coordinate", "array"])
@pytest.mark.parametrize("symmetry", ["general", "symmetric", "skew-symmetric", "hermitian"])
def test_the_banner_decides_not_the_suffix(file, suffix, layout, symmetry):
    D = {"general": DRAWN, "skew-symmetric": DRAWN - DRAWN.T}.get(symmetry, DRAWN + DRAWN.T)
    for dtype in ("int64", "float64", "float32", "uint16"):
        if symmetry == "skew-symmetric" and dtype == "uint16":
            continue
        written = file("written.mtx", "")
        with written.open("wb") as stream:
            E = D.astype(dtype)
            scipy.io.mmwrite(stream, E if layout == "array" else scipy.sparse.coo_array(E), symmetry=symmetry)
        path = file(f"graph{suffix}", written.read_bytes())
        for A in (read(path), Graph.read(path).matrix):
            np.testing.assert_array_equal(A.to_dense(), E)
            assert A.nnz == np.count_nonzero(E)


@pytest.mark.parametrize("name", ["road.edges", "road.mtx", "road.csv"])
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 2\n", [(0, 1, 1), (1, 0, 1), (1, 2, 1)]),
        ("\n \n%%matrixmarket MATRIX Coordinate REAL General\n\n%\n3 3 1\n\n1 2 1.5D+01\n\n", [(0, 1, 15.0)]),
        (MATRIX_MARKET + "double general\n3 3 2\n1 2 -2.5d-1\n2 3 .5E1\n", [(0, 1, -0.25), (1, 2, 5.0)]),
        (MATRIX_MARKET + "unsigned-integer general\n3 3 1\n1 2 9223372036854775807\n", [(0, 1, 2**63 - 1)]),
        (MATRIX_MARKET + "real hermitian\n3 3 1\n2 1 4\n", [(0, 1, 4.0), (1, 0, 4.0)]),
        ("%%MatrixMarket matrix array integer symmetric\n2 2\n0\n7\n-1\n", [(0, 1, 7), (1, 0, 7), (1, 1, -1)]),
        (
            "%%MatrixMarket matrix array real skew-symmetric\n3 3\n1d0\n0\n2\n",
            [(0, 1, -1.0), (1, 0, 1.0), (1, 2, -2.0)],
        ),
        ("\ufeff%%MatrixMarket matrix array real general\r\n1 2\r\n3\r\n4\r\n", [(0, 0, 3.0), (0, 1, 4.0)]),
        ("%%MatrixMarket matrix array real general\n0 0\n", []),
    ],
)
def test_banners_of_all_kinds(file, monkeypatch, name, text, found):
    for loop in ("careful", "compiled"):
        for block_bytes in (1, 30, 1 << 20):
            read_by(loop, monkeypatch)
            monkeypatch.setattr(source, "BLOCK_BYTES", block_bytes)
            assert edges(read(file(name, text)))[: len(found)] == found


def test_fortran_s_exponents_in_a_large_file(file, monkeypatch):
    monkeypatch.setattr(source, "BLOCK_BYTES", 3000)
    read_by("compiled", monkeypatch)
    values = np.random.default_rng(3).normal(size=2000)
    lines = (f"1 {k} {x:.17e}\n".replace("e", "D" if k % 3 else "e") for k, x in enumerate(values.tolist(), 1))
    A = read(file("f.edges", f"{MATRIX_MARKET}real general\n1 2000 2000\n{''.join(lines)}"))
    np.testing.assert_array_equal(A.values, values)


def test_a_banner_is_not_read_as_something_else(file, refused, tmp_path):
    path = file("g.txt", MATRIX_MARKET + "integer symmetric\n3 3 2\n2 1 5\n3 2 4\n")
    assert error_of(path, format="edges") == "1: the file opens as one of the kind 'mtx', not 'edges'"
    assert read(path, format="mtx").nnz == 4
    table = file("g.csv", path.read_bytes())
    assert Graph.read(table).sssp(1)[3] == 9
    with pytest.raises(ValueError, match=r"g.csv: a Matrix Market file has no columns to choose from"):
        Graph.read(table, "a", "b")
    bad = file("h.csv", path.read_bytes().replace(b"2 1 5", b"2 one 5"))
    assert refused("sssp", bad, "--source", 1) == f"{bad}:3: expected 'row column integer', got '2 one 5'"
    wide = file("wide.csv", MATRIX_MARKET + "integer general\n2 3 1\n2 3 5\n")
    assert f"{wide}: a graph needs a square matrix" in refused("sssp", wide, "--source", 1)


def test_the_command_line_takes_files_of_scipy(fine, tmp_path):
    path = saved(tmp_path / "a.npz", scipy.sparse.coo_array(([5, 3], ([0, 0], [1, 1])), shape=(2, 2)))
    assert "length 8" in fine("sssp", path, "--source", 0, "--to", 1).out
    fine("convert", path, tmp_path / "b.mtx")
    assert edges(read(tmp_path / "b.mtx")) == [(0, 1, 8)]
    write(tmp_path / "c.npz", from_edges([0], [1]))
    assert read(tmp_path / "c.npz").nnz == 1
