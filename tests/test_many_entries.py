"""Matrices of so many entries that 32 bits do not count them, with a smaller number in the place of 2^31."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from algorithms import bfs, boruvka, core_number, dijkstra, pagerank, scc, sssp
from bench.graphs import rmat
from formats import COO, CSC, CSR, SparseVector, from_edges, open_mapped, write
from formats.arrays import is_array, to_device
from formats.storage.compressed import with_one_index_type
from semiring import MinPlus, PlusTimes, apply, ewise_add, ewise_mult, mxm, mxv, reduce, select, transpose, vxm
from semiring.vectors import unit

from .strategies import FORMATS, OPTIONS

VERTICES, COUNTED = 512, 600


@pytest.fixture
def few_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers beyond COUNTED take 64 bits."""
    monkeypatch.setattr("formats.arrays.INT32_MAX", COUNTED)


def graph() -> CSR:
    A = rmat(9, dtype=np.float32)
    rows, cols, values = A.to_edges()
    assert A.nrows == VERTICES < COUNTED < A.nnz
    return from_edges(rows, cols, values, shape=VERTICES)


def types(A: Any) -> tuple[str, str]:
    return A.indptr.dtype.name, A.indices.dtype.name


def test_only_what_counts_entries_takes_64_bits(few_bits: None, tmp_path: Path) -> None:
    A = graph()
    assert types(A) == ("int64", "int32")
    assert A.nbytes == 8 * (VERTICES + 1) + 8 * A.nnz
    assert types(CSR(A.indptr.tolist(), A.indices.tolist(), A.values, A.shape)) == ("int64", "int32")
    for other in (A.to(CSC), A.to(CSC).to(CSR), A.T, A.to(COO).to(CSR), A.to(COO).to(CSC), transpose(A)):
        assert types(other) == ("int64", "int32")
        other.check()
    assert A.to(CSC).to(CSR).equals(A)
    assert CSR.predicted_nbytes(A.to(COO)) == CSC.predicted_nbytes(A) == A.nbytes
    write(f"{tmp_path}/graph/", A)
    assert types(open_mapped(tmp_path / "graph")) == ("int64", "int32")


@pytest.mark.parametrize("fmt", FORMATS, ids=lambda fmt: fmt.__name__)
def test_other_formats_have_one_type_of_indices(fmt: Any, few_bits: None) -> None:
    """Of compressed lines alone kernels take two: other formats count in the type of their columns."""
    A = graph()
    alike = CSR.trusted(*with_one_index_type(A))
    assert types(alike) == ("int64", "int64")
    made, expected = (each.to(fmt, **OPTIONS.get(fmt, {})) for each in (A, alike))
    for mine, its in zip(made.components, expected.components, strict=True):
        assert getattr(mine, "dtype", None) == getattr(its, "dtype", None) or fmt in (CSR, CSC)
        assert np.array_equal(mine, its)


CALLS: dict[str, Any] = {
    "mxv": lambda A: mxv(A, A.xp.arange(VERTICES, dtype=np.float32), "min_plus"),
    "masked mxv": lambda A: mxv(
        A, A.xp.arange(VERTICES, dtype=np.float32), "any_second", mask=A.xp.arange(VERTICES) < 99
    ),
    "vxm": lambda A: vxm(A.xp.arange(VERTICES, dtype=np.float32), A, "max_plus"),
    "sparse vxm": lambda A: vxm(unit(A, 3, MinPlus), A, "min_plus"),
    "summed vxm": lambda A: vxm(unit(A, 3, PlusTimes), A, "plus_times"),
    "mxm": lambda A: mxm(A, A, "min_plus"),
    "masked mxm": lambda A: mxm(A, A, "plus_times", mask=A),
    "dense mxm": lambda A: mxm(A, A.xp.ones((VERTICES, 3), np.float32), "plus_times"),
    "dense mxm, arguments": lambda A: mxm(A, A.xp.ones((VERTICES, 3), np.float32), "min_plus", return_argument=True),
    "reduce": lambda A: reduce(A, "min", axis=0),
    "reduce, arguments": lambda A: reduce(A, "min", axis=1, return_argument=True),
    "columns": lambda A: A.to(CSC),
    "select": lambda A: select(A, "triu"),
    "apply": lambda A: apply(A, "abs"),
    "add": lambda A: ewise_add(A, A.T.to(CSR), "plus"),
    "mult": lambda A: ewise_mult(A, A, "times"),
    "extract": lambda A: A[10:300, 5:400],
    "bfs": lambda A: bfs(A, 3, return_parents=True),
    "64 searches": lambda A: bfs(A, sources=range(64)),
    "sssp": lambda A: sssp(A, 3, return_parents=True),
    "sources": lambda A: sssp(A, sources=range(20)),
    "written": lambda A: sssp(A, 3, fused=False),
    "dijkstra": lambda A: dijkstra(A, 3),
    "scc": lambda A: scc(A),
    "weak": lambda A: scc(A, weak=True),
    "forest": lambda A: boruvka(A, symmetrize=True),
    "core": lambda A: core_number(A, symmetrize=True),
    "pagerank": lambda A: pagerank(A),
}


def parts(answer: Any) -> list[np.ndarray]:
    if isinstance(answer, tuple):
        return [part for each in answer for part in parts(each)]
    if isinstance(answer, SparseVector):
        return parts((answer.indices, answer.values))
    listed = answer.to_edges() if hasattr(answer, "to_edges") else (answer,)
    return [to_device(part, "cpu") if is_array(part) else np.asarray(part) for part in listed]


ON_A_GPU = pytest.mark.backend("cuda")
PLACES = ["cpu", pytest.param("cuda", marks=ON_A_GPU), pytest.param("cuda, a fifth of it", marks=ON_A_GPU)]


def brought(A: CSR, where: str) -> Any:
    """A in a place, or in part."""
    place, *part = where.split(", ")
    return A.to(device=place, resident=0.2) if part else A.to(device=place)


@pytest.mark.parametrize("where", PLACES)
@pytest.mark.parametrize("name", CALLS)
def test_work_on_many_entries_gives_the_same_values(name: str, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = parts(CALLS[name](brought(graph(), where)))
    monkeypatch.setattr("formats.arrays.INT32_MAX", COUNTED)
    A = brought(graph(), where)
    assert types(A) == ("int64", "int32")
    for mine, its in zip(parts(CALLS[name](A)), expected, strict=True):
        np.testing.assert_array_equal(mine, its)
