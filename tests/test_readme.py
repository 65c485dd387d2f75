"""The README tells the truth: its table is the verbs' tables, and its programs run."""

from __future__ import annotations

import gzip
import re
from importlib import resources
from pathlib import Path

import pytest

from .support_table import README, with_table


def test_support_table_is_the_verbs_tables() -> None:
    text = README.read_text()
    assert text == with_table(text), "run: python -m tests.support_table"


def test_programs_run_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rome = (resources.files("algorithms.data") / "rome99.gr").read_bytes()
    (tmp_path / "USA-road-d.NY.gr.gz").write_bytes(gzip.compress(rome))  # any road network will do
    monkeypatch.chdir(tmp_path)
    programs = re.findall(r"```python\n(from .*?)```", README.read_text(), flags=re.DOTALL)
    assert len(programs) == 2
    names: dict[str, object] = {}
    for program in programs:
        exec(program, names)
    assert names["d"][7] < 2**31 - 1  # type: ignore[index]
