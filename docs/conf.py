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

from sphinx.pycode import ModuleAnalyzer

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

project, author = "semiring", "The semiring developers"
copyright = "2026, the semiring developers"
release = metadata.version("semiring")
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["measurements/*", "scaling.md"]
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

DIRECTIVES = (".. autofunction:: {}", ".. autoclass:: {}\n   :members:", ".. py:data:: {}")
"""Of Sphinx: for what is called, a class, a value."""


def write_reference(app: Any) -> None:
    """A page for each package: its public names, what is called before classes and values."""
    folder = Path(app.srcdir) / "reference"
    folder.mkdir(exist_ok=True)
    for name in PACKAGES:
        package = import_module(name)
        lines = [name, "=" * len(name), "", (inspect.getdoc(package) or "").split("\n", 1)[0], ""]
        for each in sorted(package.__all__, key=lambda each: (kind(getattr(package, each)), each.lower())):
            value = getattr(package, each)
            lines += [each, "-" * len(each), "", DIRECTIVES[kind(value)].format(f"{name}.{each}"), ""]
            if kind(value) == 2:
                lines += [f"   {said(name, each, value)}", "", *example(name, each, value), ""]
        page, text = folder / f"{name}.rst", "\n".join(lines)
        if not page.exists() or page.read_text(encoding="utf-8") != text:
            page.write_text(text, encoding="utf-8")


def kind(thing: Any) -> int:
    """0 for what is called, 1 for a class, 2 for a value."""
    return 1 if inspect.isclass(thing) else 0 if hasattr(thing, "__wrapped__") or inspect.isroutine(thing) else 2


def said(package: str, name: str, value: Any) -> str:
    """What a value is: a semiring's parts, or what stands below it in the module that has it."""
    if hasattr(value, "mul"):
        return f"The semiring of ⊕ = {value.add.name} and ⊗ = {value.mul.name}."
    for place, module in sorted(sys.modules.items()):
        if place.startswith(f"{package}.") and vars(module).get(name) is value:
            found = ModuleAnalyzer.for_module(place).find_attr_docs().get(("", name))
            if found:
                return " ".join(found).strip()
    raise ValueError(f"{package}.{name} is a value without a line that says what it is")


def example(package: str, name: str, value: Any) -> list[str]:
    """A few lines with a value, and what the last one gives."""
    lines = [f"from {package} import {name}"]
    if hasattr(value, "reads"):
        lines += ["import numpy", "from formats import from_edges", "from semiring import select"]
        lines += ["part = numpy.array([7, 7, 8])"]
        shown = f"[u.tolist() for u in select(from_edges([0, 1], [1, 2]), {name}, row=part, col=part).to_edges()[:2]]"
    elif hasattr(value, "mul"):
        shown = f"{name}.zero({name}.dtypes[-1]).item(), {name}.one, sorted(law.name for law in {name}.laws)[:3]"
    else:
        shown = f"list({name})[:6]"
    names: dict[str, Any] = {}
    exec("\n".join(lines), names)
    return [f"   >>> {line}" for line in (*lines, shown)] + [f"   {eval(shown, names)!r}"]


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
