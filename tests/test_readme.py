"""The README tells the truth: its table is the verbs' tables, and its programs run."""

from __future__ import annotations

import gzip
import re
from importlib import resources
from pathlib import Path

import pytest

from bench.experiment import RESULTS, load

from .readme_tables import GPU, README, with_tables


def test_tables_are_those_of_the_verbs_and_of_the_results() -> None:
    text = README.read_text()
    assert text == with_tables(text), "run: python -m tests.readme_tables"


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


FIGURES = {
    "martin-fig6": ("lists, 11 x 2^20", "F_GPU", "da2cf, fused"),
    "martin-fig7": ("matrix, 15 x 2^10", "F_GPU", "da2cf, fused"),
    "afanasyev-fig4": ("R-MAT 24", "GPU, edges reordered", "GPU, CSR, fused"),
    "afanasyev-fig9": ("R-MAT 24", "GPU, sweeps over reordered edges", "GPU, fused"),
    "afanasyev-fig10": ("R-MAT 24", "GPU, CSR, definition", "GPU, CSR, fused"),
    "kolganov-mst": ("R-MAT 24", "GPU, definition", "GPU, fused"),
}
"""Of each experiment in the table: the graph, the contender that is the paper's way, and the fused one."""


def test_figures_of_experiments_are_those_of_their_rows() -> None:
    table = README.read_text().partition("<!-- figures: begin -->")[2].partition("<!-- figures: end -->")[0]
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.split("\n") if line.startswith("| `")]
    found = {}
    for name, (graph, papers, fused) in FIGURES.items():
        rows = {row["contender"]: row for row in load(RESULTS / f"{name}-{GPU}.jsonl") if row["graph"] == graph}
        figures = (rows[papers]["ms"], rows[fused]["ms"], rows[fused]["with_transfers_ms"])
        assert {row["date"] for row in rows.values()} == {"2026-11-22"}
        assert 5 <= min(rows[papers]["repeats"], rows[fused]["repeats"]) <= 11
        found[f"`{name}`"] = [f"{ms:.3g}" for ms in figures]
    assert {line[0]: line[3:] for line in lines} == found


def test_plots_that_are_shown_are_there() -> None:
    shown = re.findall(r"!\[[^]]+\]\(([^)]+)\)", README.read_text())
    assert shown
    assert all((README.parent / path).exists() for path in shown)
