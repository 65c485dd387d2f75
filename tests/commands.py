"""The command `semiring`, called as the console script calls it."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from algorithms import cli
from formats.matrix.base import find_format
from semiring.verbs.fusible import Fusible


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str

    @property
    def table(self) -> dict[str, str]:
        """The rows of the tables that were printed."""
        rows = [line.strip("│\n").split("│") for line in self.out.splitlines() if line.startswith("│")]
        return {name.strip(): value.strip() for name, value in rows}


def computed_in(fmt: str, algorithm: Fusible[..., Any] | None = None) -> str:
    """What the row of that name says.  algorithm: whose implementations take the task; None: none does."""
    where, form = f"{find_format(fmt).__name__} on cpu", algorithm and algorithm.runs_fused(find_format(fmt), "cpu")
    if form is None:
        return where
    return where + ("" if form is find_format(fmt) else f", by its rows as {form.__name__}") + ", fused"


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    """run("sssp", file, …): the command, in this process."""

    def command(*arguments: Any) -> Result:
        monkeypatch.setattr(sys, "argv", ["semiring", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            cli.main()
        captured = capsys.readouterr()
        code = ended.value.code or 0
        assert isinstance(code, int)
        return Result(code, captured.out, captured.err)

    return command


@pytest.fixture
def fine(run: Callable[..., Result]) -> Callable[..., Result]:
    """The same, for a command that must succeed without a word on stderr."""

    def command(*arguments: Any) -> Result:
        result = run(*arguments)
        assert (result.code, result.err) == (0, ""), result
        return result

    return command


@pytest.fixture
def refused(run: Callable[..., Result]) -> Callable[..., str]:
    """The same, for a command that must fail: what it says, one sentence on stderr, after its name."""

    def command(*arguments: Any) -> str:
        result = run(*arguments)
        assert (result.code, result.out) == (2, ""), result
        assert re.fullmatch(r"semiring: [^\n]+\n", result.err), result
        return result.err.removeprefix("semiring: ").rstrip("\n")

    return command
