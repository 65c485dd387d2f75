"""The site, by `sphinx-build -W docs site`. Its pages are the Markdown files here, its reference the docstrings.

Sphinx, because it takes a reference from docstrings, stops at a broken link, and is kept. The alternative, MkDocs with
Material, ends in November 2026. Its successor Zensical is young.
"""

from __future__ import annotations

import importlib
import inspect
import json
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parent
sys.path[:0] = [str(ROOT), str(HERE)]

import reference  # noqa: E402

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
REPOSITORY = PROJECT["urls"].get("Repository", "").removesuffix("/")
"""The address of the sources, or "" as long as the project names none: then links lead to copies on the site."""

project, author = "semiring", "The semiring developers"
copyright = "2026, the semiring developers"
release = PROJECT["version"]
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
extensions.append("sphinx.ext.linkcode" if REPOSITORY else "sphinx.ext.viewcode")
exclude_patterns = ["measurements/*", "scaling.md"]
templates_path = ["_templates"]
default_role = "code"
html_theme, html_title = "furo", "semiring"
html_static_path, html_css_files = ["_static"], ["site.css"]
html_sidebars = {
    "**": [
        *("sidebar/brand.html", "sidebar/project.html", "sidebar/search.html", "sidebar/scroll-start.html"),
        *("sidebar/navigation.html", "sidebar/scroll-end.html"),
    ]
}
html_context = {
    "links": {"Repository": REPOSITORY} if REPOSITORY else {"PyPI": PROJECT["urls"]["Homepage"]},
    "versions": json.loads((HERE / "versions.json").read_text(encoding="utf-8")),
}
pygments_dark_style = "a11y-high-contrast-dark"  # as its light style, by furo's own choice
myst_heading_anchors = 4
napoleon_custom_sections = ["Source"]
autodoc_typehints = "none"  # `reference` and `write_signature` write them, as the source does
autodoc_member_order = "bysource"
python_maximum_signature_line_length = 60
python_use_unqualified_type_names = True
copybutton_prompt_text, copybutton_prompt_is_regexp = r">>> |\.\.\. |\$ ", True


def linkcode_resolve(domain: str, info: dict[str, str]) -> str | None:
    """Returns the address of the line where a documented name is defined, in this version's sources."""
    thing: Any = importlib.import_module(info["module"])
    for part in info["fullname"].split("."):
        thing = getattr(thing, part, None)
    thing = inspect.unwrap(getattr(thing, "fget", thing))
    try:
        path, (_, line) = inspect.getsourcefile(thing), inspect.getsourcelines(thing)
    except TypeError:
        return None
    return f"{REPOSITORY}/blob/v{release}/{Path(path or '').resolve().relative_to(ROOT).as_posix()}#L{line}"


def write_signature(
    app: Any, what: str, name: str, thing: Any, options: Any, arguments: str | None, returned: Any
) -> Any:
    """Returns a method's signature with its types as the source writes them, as the reference does of functions."""
    if what != "method" or arguments is None:
        return None
    text, _, returned = reference.signature(inspect.unwrap(thing)).rpartition(" -> ")
    return re.sub(r"^\((?:self|cls)(?:, )?", "(", text), returned


def plain(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Stars, bars and trailing underscores stand for themselves, but in code and examples."""
    for at, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            lines[at] = reference.plain_text(line)


def link(app: Any, page: str, source: list[str]) -> None:
    """The README is the site's first page; lab notes are read in the repository."""
    text = re.sub(r"\]\((?:\.\./)?README\.md", "](index.md", source[0])
    source[0] = re.sub(r"\[([^]]*)\]\((?:docs/)?measurements/[^)]*\)", r"\1", text)


def link_within(app: Any, path: Path, page: str, source: list[str]) -> None:
    """A page links so, too, in what it includes."""
    link(app, page, source)


def setup(app: Any) -> None:
    """Connects to Sphinx, which calls it."""
    app.connect("source-read", link)
    app.connect("include-read", link_within)
    app.connect("builder-inited", lambda app: reference.write_reference(Path(app.srcdir) / "reference"))
    app.connect("autodoc-process-signature", write_signature)
    app.connect("autodoc-process-docstring", plain, priority=400)  # before napoleon
