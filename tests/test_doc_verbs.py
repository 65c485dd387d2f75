"""Pages whose blocks run in order, each page by itself, and print what the page shows; and their pictures."""

import doctest
import re
import runpy
from pathlib import Path

import pytest

from formats import DeviceUnavailable

from .conftest import Backend
from .test_readme import programs

DOCS = Path(__file__).parents[1] / "docs"


@pytest.mark.parametrize("name", ["verbs", "graphs", "tutorial", "how-to", "concepts"])
def test_a_page_prints_what_it_shows(name, tmp_path, monkeypatch):
    page = DOCS / f"{name}.md"
    monkeypatch.chdir(tmp_path)
    text = page.read_text(encoding="utf-8")
    blocks = doctest.DocTestParser().get_doctest(text.replace("```", ""), {}, page.name, str(page), 0)
    found = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(blocks, clear_globs=False)
    assert found.attempted > 15
    assert found.failed == 0
    for program in programs(text):  # what is for GPUs
        if Backend.CUDA.missing:
            with pytest.raises(DeviceUnavailable, match="needs CuPy|needs an NVIDIA GPU"):
                exec(program, blocks.globs)
        elif "cuda:1" not in program:
            exec(program, blocks.globs)


def test_pictures_are_drawn_anew(tmp_path):
    runpy.run_path(str(DOCS / "pictures.py"))["draw"](tmp_path)
    drawn = {picture.name for picture in tmp_path.iterdir()}
    assert drawn == {picture.name for picture in (DOCS / "pictures").iterdir()}
    pages = "".join(page.read_text(encoding="utf-8") for page in DOCS.glob("*.md"))
    assert [name for name in drawn if f"(pictures/{name})" not in pages] == []
    programs = {path.stem for path in (DOCS.parent / "examples" / "gallery").glob("*.py")}
    assert set(re.findall(r"examples/gallery/(\w+)\.py\n", pages)) == programs, "each is shown, and has its picture"
    assert {f"{name}.png" for name in programs} < drawn
    assert min(picture.stat().st_size for picture in tmp_path.iterdir()) > 5000
