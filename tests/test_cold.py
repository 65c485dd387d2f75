"""The clock of first calls measures answers that are right."""

from __future__ import annotations

import os
from contextlib import nullcontext
from pathlib import Path

import pytest

from bench.cliffs import cold
from bench.measure import Disagreement


def test_a_first_call_is_timed_for_each_dtype() -> None:
    seconds = cold.first_calls("bfs", ("float32", "int32"))
    assert list(seconds) == ["float32", "int32"]
    assert seconds["float32"] > seconds["int32"] > 0  # a search reads no weights


def test_a_wrong_answer_is_not_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether kernels are kept or not."""
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])}
    monkeypatch.setattr(cold, "nothing_kept", lambda: nullcontext(environment))
    monkeypatch.setitem(cold.ANSWERS, "bfs", "bfs(A, 0).tolist() == [0, 1, 1, 1]")
    with pytest.raises(Disagreement, match="AssertionError"):
        cold.first_calls("bfs", ("float32",))
    monkeypatch.setitem(cold.COMMANDS, "version", (["--version"], "another version"))
    with pytest.raises(Disagreement, match="does not print another version"):
        cold.whole_command("version", repeats=1)
