"""The site is built without a warning, and has an entry for every public name."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import algorithms
import formats
import semiring

ROOT = Path(__file__).parent.parent
PAGES = 20
"""At most."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("sphinx")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-d", str(folder / "doctrees")]
    done = subprocess.run(
        [*command, "docs", str(folder / "html")], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return folder / "html"


def test_every_public_name_has_an_entry(site: Path) -> None:
    for package in (algorithms, semiring, formats):
        page = (site / "reference" / f"{package.__name__}.html").read_text(encoding="utf-8")
        missing = [name for name in package.__all__ if f'id="{package.__name__}.{name}"' not in page]
        assert not missing


def test_the_site_has_few_pages(site: Path) -> None:
    pages = [page for page in site.rglob("*.html") if page.name not in ("genindex.html", "search.html")]
    assert 10 < len(pages) <= PAGES
