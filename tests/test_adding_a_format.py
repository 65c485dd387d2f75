"""docs/adding-a-format.md: its code runs, and the format it makes multiplies as CSR does."""

from __future__ import annotations

import doctest
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from algorithms import bellman_ford, bfs, boruvka
from formats import CSR, Matrix, SparseVector, from_edges
from formats.matrix.routes import CONVERSIONS
from semiring import SEMIRINGS, MinPlus, mxv, vxm
from semiring.cpu.storage import STORED

from . import strategies as sts

pytestmark = pytest.mark.quick

PAGE = Path(__file__).parent.parent / "docs" / "adding-a-format.md"
NAME = "adding_a_format"
"""The module that the page's code is run as; the third block of it is the loops."""


@pytest.fixture(params=["without loops", "with loops"])
def dia(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[type[Matrix]]:
    """The page's format, for the time of a test."""
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 3
    before = dict(CONVERSIONS)
    module = sys.modules[NAME] = ModuleType(NAME)
    file = tmp_path / f"{NAME}.py"  # loops are kept on disk by the file they are in
    file.write_text("\n".join(blocks if request.param == "with loops" else blocks[:2]), encoding="utf-8")
    module.__file__ = str(file)
    try:
        exec(compile(file.read_text(encoding="utf-8"), str(file), "exec"), module.__dict__)
        yield module.DIA
    finally:
        Matrix.formats.pop("dia", None)
        STORED.pop(getattr(module, "DIA", None), None)  # type: ignore[call-overload]
        CONVERSIONS.clear()
        CONVERSIONS.update(before)
        del sys.modules[NAME]


CASES = [(s, s.dtypes[k % len(s.dtypes)]) for k, s in enumerate(SEMIRINGS.values())]
"""Every semiring, with one of its dtypes: the loops are compiled anew in each run."""


def operands(semiring: Any, dtype: Any, size: int) -> list[Any]:
    return [sts.rich_vector(semiring, dtype, size, sparse=sparse) for sparse in (False, True)]


def dense(y: Any, zero: Any) -> np.ndarray:
    return y.to_dense(zero) if isinstance(y, SparseVector) else y


@pytest.mark.long
def test_the_format_of_the_page_multiplies_as_csr_does(dia: type[Matrix]) -> None:
    for semiring, dtype in CASES:
        A = sts.rich_matrix(semiring, dtype).build(CSR)
        D = A.to("dia")
        assert isinstance(D, dia)
        assert D.equals(A)
        zero = semiring.zero(dtype)
        for x in operands(semiring, dtype, A.ncols):
            assert np.array_equal(dense(mxv(D, x, semiring), zero), dense(mxv(A, x, semiring), zero))
            assert np.array_equal(dense(vxm(x, D.T, semiring), zero), dense(vxm(x, A.T, semiring), zero))
        for x in operands(semiring, dtype, A.nrows):
            assert np.array_equal(dense(vxm(x, D, semiring), zero), dense(vxm(x, A, semiring), zero))
            assert np.array_equal(dense(mxv(D.T, x, semiring), zero), dense(mxv(A.T, x, semiring), zero))


@pytest.mark.long
def test_algorithms_find_the_same_in_the_format_of_the_page(dia: type[Matrix]) -> None:
    width, at = 40, np.arange(40 * 40)
    right, down = at[at % width < width - 1], at[at < width * (width - 1)]
    src, dst = np.concatenate((right, down)), np.concatenate((right + 1, down + width))
    weights = np.random.default_rng(1).integers(1, 9, 2 * src.size).astype(np.int32)
    A = from_edges(np.concatenate((src, dst)), np.concatenate((dst, src)), weights, shape=1600)
    D = A.to("dia")
    assert isinstance(D, dia)
    assert np.array_equal(bellman_ford(D, 0, MinPlus), bellman_ford(A, 0))
    assert np.array_equal(bfs(D, 0), bfs(A, 0))
    assert boruvka(D, symmetrize=True).equals(boruvka(A, symmetrize=True))


@pytest.mark.parametrize("dia", ["with loops"], indirect=True)
def test_the_loops_of_the_page_are_what_runs(dia: type[Matrix]) -> None:
    A = from_edges([0, 1, 2], [1, 2, 0], [5, 6, 7]).to("dia")
    assert mxv(A, np.array([1, 2, 3], np.int32), MinPlus).tolist() == [7, 9, 8]
    assert A.kept_nbytes == 0


@pytest.mark.parametrize("dia", ["without loops"], indirect=True)
def test_a_format_without_loops_keeps_rows_beside_it(dia: type[Matrix]) -> None:
    A = from_edges([0, 1, 2], [1, 2, 0], [5, 6, 7]).to("dia")
    assert mxv(A, np.array([1, 2, 3], np.int32), MinPlus).tolist() == [7, 9, 8]
    assert A.kept_nbytes >= A.to(CSR).nbytes


def test_the_constructor_of_the_page_refuses_what_is_no_matrix(dia: Any) -> None:
    one = np.ones((1, 2), np.int32)
    assert dia([1], [[True, False]], one, (2, 2)).nnz == 1
    with pytest.raises(ValueError, match="outside the 2 × 2 matrix"):
        dia([1], [[True, True]], one, (2, 2))
    with pytest.raises(ValueError, match="offsets must ascend"):
        dia([1, 0], np.zeros((2, 2), bool), np.ones((2, 2), np.int32), (2, 2))
    with pytest.raises(ValueError, match="must be \\(1, 3\\)"):
        dia([1], [[True, True]], one, (3, 3))


@pytest.mark.parametrize("dia", ["without loops"], indirect=True)
def test_the_format_of_the_page_says_what_it_takes_and_refuses_what_is_absurd(dia: Any) -> None:
    A = from_edges([0, 1, 2], [1, 2, 0], [5, 6, 7])
    assert A.footprint("dia").matrix == dia.predicted_nbytes(A) == A.to("dia").nbytes
    ends = np.random.default_rng(2).integers(0, 20_000, (2, 20_000))
    with pytest.raises(ValueError, match="too many diagonals; force=True has it anyway"):
        from_edges(*ends, shape=20_000).to("dia")
    assert A.to("dia", force=True).equals(A)


def test_an_algorithm_and_a_semiring_are_as_the_page_shows() -> None:
    blocks = re.findall(r"^```\n(>>>.*?)^```$", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    assert len(blocks) == 2
    found = doctest.DocTestRunner().run(
        doctest.DocTestParser().get_doctest("\n".join(blocks), {"__name__": "page"}, PAGE.name, str(PAGE), 0)
    )
    assert found.attempted > 6
    assert not found.failed
