"""README and docs tell the truth: their tables are the verbs' and the rows', and their programs run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from bench.experiment import load
from bench.measure import RESULTS

from .conftest import Backend, writable
from .doc_tables import DOCS, GPU, README, ROOT, TABLES, with_tables

pytestmark = pytest.mark.quick

ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT)}


PAGES = [
    README,
    *(pytest.param(DOCS / f"{name}.md", marks=pytest.mark.long) for name in ("formats", "algorithms", "gpu")),
]
"""Whose programs run, each page's by themselves."""
MOST_LINES, MOST_CHARACTERS = 150, 9_000


def test_the_readme_is_short() -> None:
    text = README.read_text()
    assert len(text.splitlines()) <= MOST_LINES
    assert len(text) <= MOST_CHARACTERS


@pytest.mark.parametrize("page", TABLES, ids=lambda page: page.name)
def test_tables_are_those_of_the_verbs_and_of_the_results(page: Path) -> None:
    assert page.read_text() == with_tables(page), "run: python -m tests.doc_tables"


def programs(text: str) -> list[str]:
    """The Python blocks, as a reader copies them."""
    return re.findall(r"^```python\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)


def outputs(text: str) -> list[str]:
    """What a page says that the program before prints."""
    return re.findall(r"^```$\n\n(?:It prints\n\n)?```\n(?!>>>)(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_program_runs_in_order_in_one_interpreter(page: Path, tmp_path: Path) -> None:
    """In an empty folder; what is for a GPU, where there is none, ends in the sentence that says so."""
    told, blocks = "import matplotlib; matplotlib.use('Agg')\n", programs(page.read_text())
    for program in blocks:
        told += f"print('---')\n{program if not needs_gpu(program) else without_gpu(program)}"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", told],
        cwd=tmp_path,
        env=ENVIRONMENT | writable(tmp_path),
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("---\n") == len(blocks) > 0
    for said in outputs(page.read_text()):
        assert f"---\n{said}" in done.stdout


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


def test_the_readme_says_what_its_programs_print() -> None:
    assert [said.splitlines()[-1] for said in outputs(README.read_text())] == ["True", "True"]


@pytest.mark.long
def test_the_readmes_picture_is_drawn_anew(tmp_path: Path) -> None:
    code = f"import runpy; from pathlib import Path; runpy.run_path({str(DOCS / 'map.py')!r})['draw'](Path('map.png'))"
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=ENVIRONMENT, check=True)
    assert (tmp_path / "map.png").stat().st_size > 100_000


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
    table = (
        (DOCS / "performance.md")
        .read_text()
        .partition("<!-- figures: begin -->")[2]
        .partition("<!-- figures: end -->")[0]
    )
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.split("\n") if line.startswith("| `")]
    found = {}
    for name, (graph, papers, fused) in FIGURES.items():
        rows = {row["contender"]: row for row in load(RESULTS / f"{name}-{GPU}.jsonl") if row["graph"] == graph}
        figures = (rows[papers]["ms"], rows[fused]["ms"], rows[fused]["with_transfers_ms"])
        assert {row["date"] for row in rows.values()} == {"2026-11-22"}
        assert 5 <= min(rows[papers]["repeats"], rows[fused]["repeats"]) <= 11
        found[f"`{name}`"] = [f"{ms:.3g}" for ms in figures]
    assert {line[0]: line[3:] for line in lines} == found
