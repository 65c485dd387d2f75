"""The matrix verbs are timed beside python-graphblas only where both give the same entries."""

from __future__ import annotations

import dataclasses

import pytest

from bench.cliffs import verbs as cliffs_verbs
from bench.measure import Disagreement


def test_every_case_agrees_with_python_graphblas_before_it_is_timed():
    rows = list(cliffs_verbs.rows(quick=True, repeats=1))
    assert len({row["case"] for row in rows}) == len(rows) == 19
    assert all(row["ours_ms"] > 0 and row["graphblas_ms"] > 0 for row in rows)


def test_a_case_whose_entries_differ_is_not_timed():
    case = next(iter(cliffs_verbs.cases(64, 300)))
    with pytest.raises(Disagreement, match="python-graphblas has other entries"):
        cliffs_verbs.verify(dataclasses.replace(case, ours=lambda out: out))
