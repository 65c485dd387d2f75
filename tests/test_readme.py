"""The README tells the truth: its table is the verbs' tables, and its programs run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from bench.experiment import load
from bench.measure import RESULTS

from .conftest import Backend
from .readme_tables import GPU, README, with_tables

ENVIRONMENT = os.environ | {"PYTHONPATH": str(README.parent)}


def test_tables_are_those_of_the_verbs_and_of_the_results() -> None:
    text = README.read_text()
    assert text == with_tables(text), "run: python -m tests.readme_tables"


def programs(text: str) -> list[str]:
    """The Python blocks, as a reader copies them."""
    return re.findall(r"^```python\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)


def test_every_program_runs_in_order_in_one_interpreter(tmp_path: Path) -> None:
    """In an empty folder; what is for a GPU, where there is none, ends in the sentence that says so."""
    told = "import matplotlib; matplotlib.use('Agg')\n"
    for program in programs(README.read_text()):
        told += f"print('---')\n{program if not needs_gpu(program) else without_gpu(program)}"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", told], cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert len(programs(README.read_text())) == done.stdout.count("---\n") == 10
    assert "[0. 5. 8.] [0 1 1]\n" in done.stdout


def needs_gpu(program: str) -> bool:
    return 'device="cuda"' in program and Backend.CUDA.missing is not None


def without_gpu(program: str) -> str:
    """The program, which must end in DeviceUnavailable."""
    lines = "".join(f"    {line}\n" for line in program.splitlines())
    return f"""
from formats import DeviceUnavailable
try:
{lines}    raise AssertionError("a program for a GPU ran without one")
except DeviceUnavailable:
    pass
"""


def test_the_first_program_prints_what_the_readme_says(tmp_path: Path) -> None:
    first = programs(README.read_text())[0]
    said = re.search(r"^It prints\n\n```\n(.*?)^```$", README.read_text(), flags=re.DOTALL | re.MULTILINE)
    done = subprocess.run([sys.executable, "-c", first], cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True)
    assert said is not None
    assert (done.stdout, done.stderr) == (said[1], "")


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
