"""README and docs tell the truth: their tables are the verbs' and the rows', and their programs run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from statistics import median

import pytest

from .conftest import Backend, writable
from .doc_tables import DOCS, README, ROOT, TABLES, with_tables
from .doc_tables_of_rows import FIGURES, GPU, XEON, rows_of, summary

pytestmark = pytest.mark.quick

ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT)}


PAGES = [
    README,
    *(pytest.param(DOCS / f"{name}.md", marks=pytest.mark.long) for name in ("formats", "algorithms", "gpu")),
]
"""The pages whose programs a test runs, those of each page by themselves."""
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
    """The text that a program prints, as the page says behind it."""
    return re.findall(r"^```$\n\n(?:It prints\n\n)?```\n(?!>>>)(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_program_runs_in_order_in_one_interpreter(page: Path, tmp_path: Path) -> None:
    """Programs run in an empty folder. Without a GPU, one for a GPU ends in the error that says so."""
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


def test_medians_of_figures_are_of_as_many_calls_as_their_page_says() -> None:
    for name, paper in FIGURES.items():
        rows = {row["contender"]: row for row in rows_of(name, GPU, (paper.graph,))}
        repeats = {rows[contender]["repeats"] for contender in (paper.paper, paper.fused)}
        assert repeats <= set(range(5, 12))


def test_the_choice_of_a_format_is_as_good_as_the_page_says() -> None:
    runs = [[row for row in rows_of("choice", place) if "figure" not in row] for place in (XEON, GPU)]
    assert 1.2 < max(row["regret"] for rows in runs for row in rows) <= 1.3
    assert 6 < max(row["csr"] for rows in runs for row in rows) <= 6.5
    assert max(median(row["regret"] for row in rows) for rows in runs) < 1.005


def test_the_summary_has_every_cell() -> None:
    """New York and R-MAT, each on the CPU and on a GPU."""
    lines = [line.split("|")[1:-1] for line in summary().splitlines() if line.startswith("| ")][1:]
    assert {graph.strip().split(" ")[0] for _, graph, *_ in lines} == {"New", "R-MAT"}
    assert all(cell.strip() not in ("", "–") for line in lines for cell in line)
