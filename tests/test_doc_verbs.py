"""Pages whose blocks run in order, each page by itself, and print what the page shows."""

import doctest
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"


@pytest.mark.parametrize("name", ["verbs", "graphs", "tutorial", "how-to", "concepts", "gallery"])
def test_a_page_prints_what_it_shows(name, tmp_path, monkeypatch):
    page = DOCS / f"{name}.md"
    monkeypatch.chdir(tmp_path)
    text = page.read_text(encoding="utf-8").replace("```", "")
    blocks = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    found = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(blocks)
    assert found.attempted > 15
    assert found.failed == 0
