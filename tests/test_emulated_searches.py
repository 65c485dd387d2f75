"""The kernel of searches from several sources, compiled for the host: its steps give the levels of single searches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from algorithms import bfs
from algorithms.fused.cuda import searches
from algorithms.shared.traversal import Direction
from bench.graphs import rmat
from formats import CSR
from formats.storage.orientation import by_columns

from .emulated import made, simulated


def moved(A: CSR) -> CSR:
    """A on a simulated GPU."""
    return CSR.trusted(made(A.indptr), made(A.indices), made(A.values), A.shape)


@pytest.mark.parametrize("choice", ["auto", "push", "pull"])
@pytest.mark.parametrize("count", [3, 64])
def test_searches_from_several_sources_are_those_from_each(
    choice: Any, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    A: Any = rmat(11, 24, seed=count)
    C: Any = by_columns(A)
    sources = np.random.default_rng(count).choice(np.flatnonzero(np.diff(A.indptr)), count, replace=False).tolist()
    expected = np.stack([bfs(A, s) for s in sources])
    with simulated(1):
        monkeypatch.setattr(searches, "columns_of", lambda A: (made(C.indptr), made(C.indices)))
        monkeypatch.setattr(searches, "may_be_deep", lambda A: False)
        level = made(np.full((count, A.nrows), -7, np.int32))
        searches.search(moved(A), sources, level, None, Direction(choice), None)
    assert np.array_equal(level, expected)
