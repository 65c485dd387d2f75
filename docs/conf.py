"""The site, by `sphinx-build -W docs site`. Its pages are the Markdown files here, its reference the docstrings.

Sphinx, because it takes a reference from docstrings, stops at a broken link, and is kept. The alternative, MkDocs with
Material, ends in November 2026. Its successor Zensical is young.
"""

from __future__ import annotations

import inspect
import re
import sys
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

project, author = "semiring", "The semiring maintainers"
copyright = "2026, the semiring maintainers"
release = metadata.version("semiring")
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["measurements/*"]
default_role = "code"
html_theme, html_title = "furo", "semiring"
html_static_path, html_css_files = ["_static"], ["site.css"]
pygments_dark_style = "a11y-high-contrast-dark"  # as its light style, by furo's own choice
myst_heading_anchors = 4
napoleon_custom_sections = ["Source"]
autodoc_typehints = "none"
autodoc_member_order = "bysource"

# --- the reference, from the docstrings of what each package names in __all__ -----------------------------------------

PACKAGES = ("algorithms", "semiring", "formats")

DIRECTIVES = (("autofunction", ""), ("autoclass", ":members:"), ("autodata", ":no-value:"))
"""Of Sphinx, with an option: for what is called, a class, a value."""


def write_reference(app: Any) -> None:
    """A page for each package: its public names, what is called before classes and values."""
    folder = Path(app.srcdir) / "reference"
    folder.mkdir(exist_ok=True)
    for name in PACKAGES:
        package = import_module(name)
        lines = [name, "=" * len(name), "", (inspect.getdoc(package) or "").split("\n", 1)[0], ""]
        for each in sorted(package.__all__, key=lambda each: (kind(getattr(package, each)), each.lower())):
            directive, option = DIRECTIVES[kind(getattr(package, each))]
            lines += [each, "-" * len(each), "", f".. {directive}:: {name}.{each}", f"   {option}", ""]
            lines += example(name, each, getattr(package, each))
        page, text = folder / f"{name}.rst", "\n".join(lines)
        if not page.exists() or page.read_text(encoding="utf-8") != text:
            page.write_text(text, encoding="utf-8")


def kind(thing: Any) -> int:
    """0 for what is called, 1 for a class, 2 for a value."""
    return 1 if inspect.isclass(thing) else 0 if hasattr(thing, "__wrapped__") or inspect.isroutine(thing) else 2


def example(package: str, name: str, value: Any) -> list[str]:
    """Of a value, which has no docstring of its own: what it is, as Python says it. Of others nothing."""
    if kind(value) < 2 or inspect.ismodule(value):
        return []
    lines = [f"from {package} import {name}"]
    if isinstance(value, dict):
        lines += [f"list({name})[:6]"]
    elif hasattr(value, "mul"):
        lines += [f"{name}.add.name, {name}.mul.name, {name}.one"]
    else:
        lines += [name]
    names: dict[str, Any] = {}
    exec(lines[0], names)
    shown = [f"   >>> {lines[0]}"]
    for line in lines[1:]:
        shown += [f"   >>> {line}", f"   {eval(line, names)!r}"]
    return ["", *shown, ""]


INLINE = re.compile(r"(`[^`]*`)|([*|]|(?<=\w)_(?!\w))")


def plain(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Stars, bars and trailing underscores stand for themselves, but in code and examples."""
    for at, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            lines[at] = INLINE.sub(lambda found: found[1] or f"\\{found[2]}", line)


def linked(app: Any, page: str, source: list[str]) -> None:
    """The README is the site's first page; lab notes are read in the repository."""
    text = re.sub(r"\]\((?:\.\./)?README\.md", "](index.md", source[0])
    source[0] = re.sub(r"\[([^]]*)\]\((?:docs/)?measurements/[^)]*\)", r"\1", text)


def linked_within(app: Any, path: Path, page: str, source: list[str]) -> None:
    """Likewise in what a page includes."""
    linked(app, page, source)


def setup(app: Any) -> None:
    """What Sphinx calls."""
    app.connect("source-read", linked)
    app.connect("include-read", linked_within)
    app.connect("builder-inited", write_reference)
    app.connect("autodoc-process-docstring", plain, priority=400)  # before napoleon
