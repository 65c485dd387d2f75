"""Write the pages of the reference: one for each public name, an index of each package, and the types of signatures."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_overloads, is_typeddict

from sphinx.pycode import ModuleAnalyzer

PACKAGES = ("algorithms", "semiring", "formats", "algorithms.csgraph")
ROOTS = ("algorithms", "semiring", "formats")
KINDS = ("Functions", "Classes", "Values")
DIRECTIVES = ("autofunction", "autoclass", "py:data")
NETWORKX = "https://networkx.org/documentation/stable/reference/index.html"


class Bare(str):
    """An annotation that a signature shows without quotation marks."""

    __repr__ = str.__str__


def write_reference(folder: Path) -> None:
    """Write all pages into a folder, and leave those alone that have not changed."""
    pages = {f"{name}.rst": index(name) for name in PACKAGES}
    for package in PACKAGES:
        for name in import_module(package).__all__:
            pages[f"{package}/{page_name(package, name)}.rst"] = page(package, name)
    pages["networkx.rst"] = networkx_page()
    pages["types.rst"] = types_page()
    for name, text in pages.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    for path in folder.rglob("*.rst"):
        if path.relative_to(folder).as_posix() not in pages:
            path.unlink()


def index(package: str) -> str:
    """Returns the page of a package: its names by kind, each with the first sentence about it."""
    module = import_module(package)
    lines = [*heading(package), first_line(module), ""]
    names = sorted(module.__all__, key=str.lower)
    for at, title in enumerate(KINDS):
        of_kind = [name for name in names if kind(getattr(module, name)) == at]
        if of_kind:
            lines += [*heading(title, "-"), ".. list-table::", "   :widths: 30 70", ""]
            for name in of_kind:
                lines += [f"   * - :py:obj:`{name} <{package}.{name}>`", f"     - {summary(package, name)}"]
            lines += [""]
    return "\n".join(lines)


def page(package: str, name: str) -> str:
    """Returns the page of a public name: its signature, its docstring, and its overloads or an example."""
    value = getattr(import_module(package), name)
    what = kind(value)
    typed = "" if what == 2 or not has_own_signature(value) else signature(value, what == 1)
    lines = [":orphan:", "", *heading(name), f"In :doc:`{package} <../{package}>`.", ""]  # navigation by the index
    lines += [f".. {DIRECTIVES[what]}:: {package}.{name}{typed}"]
    lines += ["   :members:"] * (what == 1) + [""]
    if what == 2:
        lines += [f"   {said(package, name, value)}", "", *example(package, name, value), ""]
    elif calls := overloads(name, value):
        lines += ["   .. rubric:: Results by call", "", "   .. code-block:: python", ""]
        lines += [f"      {call}" for call in calls]
    return "\n".join([*lines, ""])


def page_name(package: str, name: str) -> str:
    """Returns the name of a page's file, which must differ from others also where capitals do not count."""
    names = [other.lower() for other in import_module(package).__all__]
    return f"{name}_class" if name != name.lower() and names.count(name.lower()) > 1 else name


def heading(text: str, line: str = "=") -> list[str]:
    return [text, line * len(text), ""]


def kind(thing: Any) -> int:
    """Returns 0 for what is called, 1 for a class, 2 for a value."""
    return 1 if inspect.isclass(thing) else 0 if hasattr(thing, "__wrapped__") or inspect.isroutine(thing) else 2


def first_line(thing: Any) -> str:
    """Returns the first line of a docstring."""
    return plain_text((inspect.getdoc(thing) or "").split("\n", 1)[0])


def summary(package: str, name: str) -> str:
    """Returns the first sentence about a public name."""
    value = getattr(import_module(package), name)
    return plain_text(said(package, name, value)) if kind(value) == 2 else first_line(value)


INLINE = re.compile(r"(`[^`]*`)|([*|]|(?<=\w)_(?!\w))")


def plain_text(line: str) -> str:
    """Returns a line where stars, bars and trailing underscores stand for themselves, but in code."""
    return INLINE.sub(lambda found: found[1] or f"\\{found[2]}", line)


def said(package: str, name: str, value: Any) -> str:
    """Returns what a value is: a semiring's parts, or what stands below it in the module that has it."""
    if hasattr(value, "mul"):
        return f"The semiring of ⊕ = {value.add.name} and ⊗ = {value.mul.name}."
    for place, module in sorted(sys.modules.items()):
        if place.startswith(f"{package}.") and vars(module).get(name) is value:
            found = ModuleAnalyzer.for_module(place).find_attr_docs().get(("", name))
            if found:
                return " ".join(found).strip()
    raise ValueError(f"{package}.{name} is a value without a line that says what it is")


def example(package: str, name: str, value: Any) -> list[str]:
    """Returns a few lines with a value, and what the last one gives."""
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


# --- signatures -------------------------------------------------------------------------------------------------------


def has_own_signature(value: Any) -> bool:
    """True if a signature tells how the value is made or called, which it does not of exceptions."""
    return not (inspect.isclass(value) and issubclass(value, BaseException))


def signature(value: Any, is_class: bool = False) -> str:
    """Returns a signature whose types are written as in the source, with the full names of public ones."""
    found = inspect.signature(value)
    own = [part.replace(annotation=typed(part.annotation)) for part in found.parameters.values()]
    returned = inspect.Signature.empty if is_class else typed(found.return_annotation)
    return str(found.replace(parameters=own, return_annotation=returned))


def typed(annotation: Any) -> Any:
    """Returns an annotation as a signature shows it, or the mark that there is none."""
    if annotation is inspect.Signature.empty:
        return annotation
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return Bare(WORD.sub(lambda word: full_names().get(word[0], word[0]), text))


@cache
def full_names() -> dict[str, str]:
    """Returns the names of the public classes and of the types of signatures, as the site's pages name them."""
    public = {name: f"{package}.{name}" for package in ROOTS for name in import_module(package).__all__}
    return {name: f"types.{name}" for name in aliases()} | public


def signed(package: str) -> Iterator[Any]:
    """Yields the public functions and classes of a package, and the public methods of these classes."""
    module = import_module(package)
    for name in module.__all__:
        value = getattr(module, name)
        if kind(value) < 2:
            yield value
        if inspect.isclass(value):
            for part in vars(value).values():
                method = getattr(part, "fget", getattr(part, "__func__", part))
                if inspect.isfunction(method) and not method.__name__.startswith("_"):
                    yield method


WORD = re.compile(r"(?<![\w.'\"])[A-Z]\w+(?![\w.'\"])")


@cache
def aliases() -> dict[str, tuple[str, str]]:
    """Returns (definition, meaning) of each name of ours in a public signature that is itself not public."""
    public = {name for package in ROOTS for name in import_module(package).__all__}
    waiting = [(name, value.__module__) for package in PACKAGES for value in signed(package) for name in words(value)]
    found: dict[str, tuple[str, str]] = {}
    while waiting:
        name, place = waiting.pop()
        if name not in public | found.keys():
            found[name] = definition(name, place)
            waiting += [(word, place) for word in WORD.findall(found[name][0])]
    return {name: parts for name, parts in sorted(found.items()) if parts[0]}


def words(value: Any) -> set[str]:
    """Returns the names of types in a signature and in the results of its overloads."""
    if not has_own_signature(value):
        return set()
    found = inspect.signature(value)
    shown = [*(part.annotation for part in found.parameters.values()), found.return_annotation]
    return set(WORD.findall(" ".join([*map(str, shown), *overloads("", value)])))


def definition(name: str, place: str) -> tuple[str, str]:
    """Returns what a type is, as written in the module or another, and what is said of it; "" for one not ours."""
    places = [place, *(other for other in sorted(sys.modules) if other.startswith(tuple(f"{root}." for root in ROOTS)))]
    for place in (each for each in places if name in vars(sys.modules[each])):
        analyzer = ModuleAnalyzer.for_module(place)
        written = re.search(rf"^{name}(?:: TypeAlias)? = (.*(?:\n .*|\n[)\]])*)", analyzer.code, re.MULTILINE)
        if written:
            said = analyzer.find_attr_docs().get(("", name), [])
            return re.sub(r"\s+", " ", written[1].partition("  #")[0]), " ".join(said).strip()
        value = vars(sys.modules[place])[name]
        if inspect.isclass(value) and value.__module__ == place:
            return f"class {place}.{name}", (inspect.getdoc(value) or "").split("\n", 1)[0]
    return "", ""


def overloads_of(value: Any) -> list[Any]:
    """Returns the overloads of a function, or those of a verb's class, which drops the function that they are of."""
    if inspect.isfunction(value):
        return list(get_overloads(value))
    kind_of = type(value)
    call = SimpleNamespace(__module__=kind_of.__module__, __qualname__=f"{kind_of.__qualname__}.__call__")
    return [] if inspect.isclass(value) else list(get_overloads(call))  # type: ignore[arg-type]


def overloads(name: str, value: Any) -> list[str]:
    """Returns a line for each overload: the parameters that choose it, and the result."""
    found = [(each, inspect.signature(each)) for each in overloads_of(value)]
    common = set.intersection(*({str(p) for p in each.parameters.values()} for _, each in found)) if found else set()
    lines = []
    for function, each in found:
        shown = []
        for part in each.parameters.values():
            if part.kind is part.VAR_KEYWORD:
                shown += required(function, part.annotation)
            elif part.name != "self" and part.default is part.empty:
                shown.append(part.name if str(part) in common else chosen(part.name, str(part.annotation)))
        lines.append(f"{name}({', '.join(shown)}) -> {each.return_annotation}")
    return list(dict.fromkeys(lines))


def required(function: Any, annotation: str) -> list[str]:
    """Returns the parameters that an overload requires of its keywords."""
    rule = function.__globals__.get(annotation.removeprefix("Unpack[").removesuffix("]"))
    if not is_typeddict(rule):
        return []
    types = {name: getattr(of, "__forward_arg__", str(of)) for name, of in rule.__annotations__.items()}
    needed = [name for name, of in types.items() if name in rule.__required_keys__ or of.startswith("Required[")]
    return [chosen(name, re.sub(r"^Required\[(.*)\]$", r"\1", types[name])) for name in needed]


def chosen(name: str, annotation: str) -> str:
    """Returns a parameter as an overload shows it: with its value if there is one, else with its type."""
    literal = {"Yes": "True", "No": "False", "None": "None"}.get(annotation)
    literal = literal or (re.fullmatch(r"Literal\[([^,]*)\]", annotation) or [None, None])[1]
    return f"{name}={literal}" if literal else f"{name}: {annotation}"


# --- pages of their own -----------------------------------------------------------------------------------------------


def types_page() -> str:
    """Returns the page of the types that signatures name and no package exports."""
    lines = [*heading("Types in signatures"), "Names that type checkers know, and what they stand for.", ""]
    for name, (written, meaning) in aliases().items():
        lines += [f".. py:class:: types.{name}", ""]
        lines += [f"   {plain_text(meaning)}", ""] * bool(meaning) + ["   .. code-block:: python", ""]
        lines += [f"      {written}" if written.startswith("class ") else f"      {name} = {written}", ""]
    return "\n".join(lines)


def networkx_page() -> str:
    """Returns the page of the functions that the backend of NetworkX answers."""
    from algorithms.networkx.plugin.semiring_networkx import FUNCTIONS

    lines = [
        *heading("networkx"),
        'The functions that `backend="semiring"` answers, each by the code that it links to.',
    ]
    lines += [f"`NetworkX's reference <{NETWORKX}>`__ says what they do.", ""]
    files: dict[str, list[str]] = {}
    for function in FUNCTIONS.values():
        files.setdefault(function.file, []).append(function.name)
    for file, names in files.items():
        module = import_module(f"algorithms.networkx.{file}")
        lines += heading(file.replace("_", " ").capitalize(), "-")
        for name in sorted(names):
            lines += [f".. autofunction:: {module.__name__}.{name}{signature(getattr(module, name))}", ""]
    return "\n".join(lines)
