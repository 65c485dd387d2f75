"""The benchmark of batches runs, verifies what it times, and has a limit for every case."""

import dataclasses

import pytest

from bench.cliffs import batches
from bench.experiment import Setting
from bench.measure import Disagreement

QUICK = Setting(quick=True, repeats=1)


def test_every_part_has_verified_rows_with_limits():
    rows = list(batches.rows(QUICK))
    assert {row["graph"] for row in rows} == set(batches.PARTS)
    assert all(row["verified"] and row["ms"] > 0 and row["at_most"] >= row["goal"] for row in rows)
    assert {row["reached"] for row in rows} <= {"goal", "at most", "missed"}


@pytest.mark.parametrize("part", ["arguments", "several sources"])
def test_a_wrong_answer_is_not_timed(part):
    case = next(iter(batches.PARTS[part](QUICK)))
    wrong = dataclasses.replace(case, same=lambda got, expected: False)
    with pytest.raises(Disagreement, match="the answer is wrong"):
        batches.measured(wrong, QUICK)


def test_answers_are_compared_with_what_stands_beside_them():
    for part in ("products", "several sources"):
        case = next(iter(batches.PARTS[part](QUICK)))
        got = case.run()
        beside = case.other()
        changed = [beside[-1] + 1, *beside[1:]]
        assert case.same(got, beside)
        assert not case.same(got, changed)
