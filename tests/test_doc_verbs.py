"""docs/verbs.md: its blocks run in order, and print what the page shows."""

import doctest
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "verbs.md"


def test_the_page_of_verbs_prints_what_it_shows():
    text = PAGE.read_text(encoding="utf-8").replace("```", "")
    blocks = doctest.DocTestParser().get_doctest(text, {}, PAGE.name, str(PAGE), 0)
    found = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(blocks)
    assert found.attempted > 15
    assert found.failed == 0
