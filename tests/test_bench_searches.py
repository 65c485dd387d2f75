"""The rows of searches beside C++ and SciPy: verified, and each state of a matrix by itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bench.cliffs import searches as cliffs_searches
from bench.measure import Disagreement


def test_every_row_of_small_graphs_is_verified_and_timed():
    rows = list(cliffs_searches.rows(Path("nowhere"), shrink=10, calls=1))
    assert {
        "SCC, R-MAT 18, fresh",
        "SCC, R-MAT 18, warm",
        "BFS, R-MAT 18, fresh, rows alone",
        "BFS, grid",
        "MST, grid",
        "triangles, R-MAT 18 both ways",
    } <= {name for name, *_ in rows}
    assert all(ours > 0 and theirs > 0 for _, ours, _, theirs in rows)


def test_an_answer_that_differs_from_the_peers_is_not_timed(monkeypatch):
    monkeypatch.setattr(cliffs_searches, "scc", lambda A: np.zeros(A.nrows, np.int32))
    with pytest.raises(Disagreement, match="SCC, R-MAT 18, fresh"):
        next(cliffs_searches.rows(Path("nowhere"), shrink=10))
