"""The site: built without a warning, valid HTML, links that lead somewhere, readable by everybody, an entry a name."""

from __future__ import annotations

import inspect
import json
import re
import runpy
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

import algorithms
import algorithms.csgraph
import formats
import semiring
from algorithms.networkx.plugin.semiring_networkx import FUNCTIONS

ROOT = Path(__file__).parent.parent
PAGES = 20
"""At most."""
CONTRAST = 4.5
"""Of text and what is behind it, at least: level AA of the Web Content Accessibility Guidelines."""
TEXT = ("foreground-primary", "foreground-secondary", "foreground-muted", "brand-primary", "brand-content")
BEHIND = ("background-primary", "background-secondary")
"""Colours of the theme."""


@dataclass
class Page(HTMLParser):
    """What a page has: names, links, pictures, headings, and the language."""

    text: str
    names: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    pictures: list[dict[str, str | None]] = field(default_factory=list)
    headings: list[int] = field(default_factory=list)
    language: str | None = None

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        known = dict(attributes)
        self.names += [name for name in (known.get("id"),) if name]
        self.links += [link for link in (known.get("href"), known.get("src")) if link and tag != "base"]
        if tag == "img":
            self.pictures.append(known)
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag == "html":
            self.language = known.get("lang")


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


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    """The pages by their files, without copies of sources, which Sphinx alone writes."""
    files = [path for path in sorted(site.rglob("*.html")) if "_modules" not in path.parts]
    return {path: Page(path.read_text(encoding="utf-8")) for path in files}


PACKAGES = (algorithms, semiring, formats, algorithms.csgraph)


def entries(site: Path, package: str) -> dict[str, str]:
    """The entry of each public name of a package, which has a page of its own, as HTML."""
    texts = [path.read_text(encoding="utf-8") for path in (site / "reference" / package).glob("*.html")]
    found = [re.findall(r'<dt class="sig[^"]*" id="([\w.]+)">(.*?)(?=</section>)', text, re.DOTALL) for text in texts]
    return dict(first for first, *_ in found)


def test_every_public_name_has_a_page_with_types_source_and_example(site: Path) -> None:
    """Examples of functions and classes are run by `test_public_surface`; those of values are what was printed."""
    for package in PACKAGES:
        found = entries(site, package.__name__)
        assert {f"{package.__name__}.{name}" for name in package.__all__} == found.keys()
        own = package is not algorithms.csgraph  # SciPy's functions, whose examples are SciPy's
        assert [name for name in found if own and "&gt;&gt;&gt; " not in found[name]] == []
        for name, text in found.items():
            value = getattr(package, name.rpartition(".")[2])
            if inspect.isroutine(value) or isinstance(value, semiring.Verb):
                head = text.partition("</dt>")[0]
                assert "[source]" in head, name
                assert "sig-return-typehint" in head, name
                assert all(part.annotation for part in inspect.signature(value).parameters.values()), name


def test_signatures_link_their_types_and_tell_results_by_call(site: Path) -> None:
    text = entries(site, "algorithms")["algorithms.sssp"]
    head, _, rest = text.partition("</dt>")
    assert {"Matrix", "Semiring", "Vertices", "Paths"} <= set(re.findall(r'href="[^"]*" title="[\w.]*\.(\w+)"', head))
    calls = re.sub("<[^>]*>", "", rest.partition("Results by call")[2])
    assert "sssp(A, source: int, return_parents=True) -&gt; tuple[DenseVector, IntegerVector]" in calls


def test_the_backend_of_networkx_has_an_entry_for_each_function(site: Path) -> None:
    text = (site / "reference" / "networkx.html").read_text(encoding="utf-8")
    assert set(re.findall(r'id="algorithms\.networkx\.\w+\.(\w+)"', text)) == FUNCTIONS.keys()


def test_links_lead_to_the_line_once_the_project_names_a_repository() -> None:
    conf = runpy.run_path(str(ROOT / "docs" / "conf.py"))
    address = conf["linkcode_resolve"]("py", {"module": "formats", "fullname": "CSR.lengths"})
    path, line = re.findall(r"/blob/v[\d.]+/(.*)#L(\d+)", address)[0]
    assert "def lengths(" in (ROOT / path).read_text(encoding="utf-8").splitlines()[int(line) - 1]


def test_pages_copy_code_without_prompts_and_name_the_version(site: Path, pages: dict[Path, Page]) -> None:
    versions = json.loads((ROOT / "docs" / "versions.json").read_text(encoding="utf-8"))
    assert versions[0]["version"] == semiring.__version__
    for path, page in pages.items():
        assert f"<summary>Version {semiring.__version__}</summary>" in page.text, path.name
        assert any("copybutton.js" in link for link in page.links), path.name
    assert ">>> |" in (site / "_static" / "copybutton.js").read_text(encoding="utf-8")


def test_the_guide_has_few_pages(site: Path) -> None:
    assert (
        10 < len([page for page in site.glob("*.html") if page.name not in ("genindex.html", "search.html")]) <= PAGES
    )


def test_pages_are_valid_html(pages: dict[Path, Page]) -> None:
    checker = pytest.importorskip("justhtml").JustHTML
    for path, page in pages.items():
        assert checker(page.text, collect_errors=True).errors == [], path.name
        assert [name for name, times in Counter(page.names).items() if times > 1] == [], path.name


def test_every_link_and_anchor_leads_somewhere(site: Path, pages: dict[Path, Page]) -> None:
    lost = []
    for path, page in pages.items():
        for link in page.links:
            if re.match(r"[a-z]+:|//", link):
                continue
            target, _, anchor = link.partition("#")
            file = (path.parent / unquote(target.partition("?")[0])).resolve() if target else path
            if not file.exists() or (anchor and file in pages and unquote(anchor) not in pages[file].names):
                lost.append(f"{path.name}: {link}")
    assert lost == []
    assert sum(len(page.links) for page in pages.values()) > 1000


def test_pictures_are_described_and_headings_are_in_order(pages: dict[Path, Page]) -> None:
    for path, page in pages.items():
        assert page.language == "en", path.name
        assert [picture["src"] for picture in page.pictures if not (picture.get("alt") or "").strip()] == [], path.name
        assert page.headings.count(1) == 1 or path.name == "search.html", path.name  # whose heading a script writes
        steps = zip([0, *page.headings], page.headings, strict=False)
        assert [pair for pair in steps if pair[1] > pair[0] + 1] == [], path.name
    assert sum(len(page.pictures) for page in pages.values()) > 12


def luminance(colour: str) -> float:
    """Of #rgb or #rrggbb, as the guidelines define it."""
    digits = colour.lstrip("#")
    digits = "".join(2 * each for each in digits) if len(digits) == 3 else digits
    parts = [int(digits[k : k + 2], 16) / 255 for k in (0, 2, 4)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a: str, b: str) -> float:
    low, high = sorted(map(luminance, (a, b)))
    return (high + 0.05) / (low + 0.05)


def test_text_stands_out_in_both_themes(site: Path) -> None:
    css = (site / "_static" / "styles" / "furo.css").read_text(encoding="utf-8")
    declared = r"--color-([\w-]+):(#[0-9a-f]{3,6})\b"
    light = dict(reversed(re.findall(declared, css)))  # the first of each, which is the light theme's
    dark = light | dict(re.findall(declared, css.partition("body[data-theme=dark]{")[2].partition("}")[0]))
    assert light != dark
    found = {
        (text, behind): contrast(each[text], each[behind])
        for each in (light, dark)
        for text in TEXT
        for behind in BEHIND
    }
    assert {pair: ratio for pair, ratio in found.items() if ratio < CONTRAST} == {}
    code = (site / "_static" / "pygments.css").read_text(encoding="utf-8")
    for start, end in ((0, code.index("@media")), (code.index("@media"), len(code))):
        part = code[start:end]
        behind = re.findall(r"\.highlight \{ background: (#\w+)", part)[0]
        colours = set(re.findall(r"; color: (#\w+)|\{ color: (#\w+)", part))
        flat = {each for pair in colours for each in pair if each} - {"#000000"}
        assert {each: contrast(each, behind) for each in flat if contrast(each, behind) < CONTRAST} == {}
        assert len(flat) > 3


def test_contrast_is_the_guidelines() -> None:
    assert contrast("#000", "#fff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)
