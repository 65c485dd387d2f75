"""docs/coming-from.md: what it says to write here runs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

PAGE = (Path(__file__).parents[1] / "docs" / "coming-from.md").read_text(encoding="utf-8")
ROWS = [row.strip("| ").split(" | ", 1)[1] for row in PAGE.splitlines() if row.startswith("| `")]
LINES = [code for row in ROWS for code in re.findall(r"`([^`]+)`", row) if not code.startswith("device=")]


@pytest.fixture(scope="module")
def names() -> dict[str, Any]:
    found: dict[str, Any] = {"__name__": "page"}
    [start] = re.findall(r"^```python\n(.*?)^```$", PAGE, flags=re.DOTALL | re.MULTILINE)
    exec(start, found)
    return found


@pytest.mark.parametrize("code", LINES)
def test_a_line_runs(code: str, names: dict[str, Any]) -> None:
    assert eval(code, names) is not None


def test_lines_that_are_said_to_be_the_same_are(names: dict[str, Any]) -> None:
    assert len(LINES) > 40
    A, S, x = names["A"], names["S"], names["x"]
    for ours, scipys in (("A @ x", S @ x), ("vxm(x, A, 'plus_times')", S.T @ x), ("A.T @ x", S.T @ x)):
        assert eval(ours, names).tolist() == scipys.tolist()
    for ours, scipys in (("A @ A", S @ S), ("A + A", S + S), ("ewise_mult(A, A, 'times')", S.multiply(S))):
        assert abs(eval(ours, names).to_scipy() - scipys).max() == 0
    assert A[:, 5].nnz == S[:, [5]].nnz > 0
