"""What editors, `help` and mypy see of the public names: parameters, and calls that cannot be right."""

from __future__ import annotations

import dataclasses
import doctest
import importlib
import inspect
import os
import pkgutil
import pydoc
import re
import runpy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType, ModuleType, UnionType
from typing import Any, Union, get_args, get_origin, get_overloads

import numpy as np
import pytest

import algorithms
import formats
import semiring
from semiring import Verb

from .conftest import writable

pytestmark = pytest.mark.quick

ROOT = Path(__file__).parent.parent
MISSPELT = Path(__file__).parent / "misspelt.py"
TYPED = Path(__file__).parent / "typed_calls.py"
PACKAGES = (formats, semiring, algorithms)


def public() -> Iterator[tuple[str, Any]]:
    """Every public function, verb and algorithm."""
    for package in PACKAGES:
        for name in package.__all__:
            value = getattr(package, name)
            if isinstance(value, FunctionType | Verb):
                yield f"{package.__name__}.{name}", value


def documented() -> Iterator[tuple[str, Any]]:
    """Every public name but values, which have their class's documentation."""
    for package in PACKAGES:
        for name in package.__all__:
            value = getattr(package, name)
            if isinstance(value, FunctionType | Verb | type):
                yield f"{package.__name__}.{name}", value


def modules() -> Iterator[ModuleType]:
    """Every module of the packages that has an example in it."""
    for package in PACKAGES:
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            source = Path(*found.name.split("."))
            path = next(
                path for path in (ROOT / source / "__init__.py", ROOT / source.with_suffix(".py")) if path.exists()
            )
            if ">>>" in path.read_text(encoding="utf-8"):
                yield importlib.import_module(found.name)


@pytest.mark.long
def test_mypy_names_every_misspelt_call_and_no_right_one(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mypy", "--no-error-summary", str(MISSPELT), str(TYPED)]
    environment = {**os.environ, **writable(tmp_path)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    named = {int(line) for line in re.findall(r"misspelt\.py:(\d+): error", done.stdout)}
    lines = MISSPELT.read_text(encoding="utf-8").splitlines()
    assert named == {number for number, line in enumerate(lines, 1) if line.endswith("# wrong")}, done.stdout
    assert len(named) >= 50
    assert "typed_calls.py" not in done.stdout


@pytest.mark.long
def test_calls_return_what_mypy_takes_them_to(monkeypatch: pytest.MonkeyPatch) -> None:
    checked = []

    def check(value: Any, kind: Any) -> None:
        assert is_of(value, kind), f"{value!r} is not of type {kind}"
        checked.append(kind)

    monkeypatch.setattr("typing.assert_type", check)
    runpy.run_path(str(TYPED))
    assert len(checked) == TYPED.read_text(encoding="utf-8").count("\nassert_type(")


def is_of(value: Any, kind: Any) -> bool:
    """Is the value of this type? Of arrays the number of dimensions counts, and the kind of numbers."""
    of, parts = get_origin(kind), get_args(kind)
    if of in (Union, UnionType):
        return any(is_of(value, part) for part in parts)
    if of is tuple:
        return isinstance(value, tuple) and all(map(is_of, value, parts)) and len(value) == len(parts)
    if of is np.ndarray:
        numbers = get_args(parts[1])[0]
        whole = numbers is Any or issubclass(value.dtype.type, get_origin(numbers) or numbers)
        return isinstance(value, np.ndarray) and value.ndim == len(get_args(parts[0])) and whole
    return isinstance(value, of or kind)


@pytest.mark.parametrize(("name", "function"), [pytest.param(*each, id=each[0]) for each in public()])
def test_help_shows_the_parameters(name: str, function: Any) -> None:
    text = pydoc.plain(pydoc.render_doc(function))
    first = next(iter(inspect.signature(function).parameters), "")
    assert f"{name.rpartition('.')[2]}({first}" in re.sub(r"\(\s+", "(", text)  # long ones have a line for each


@pytest.mark.parametrize(("name", "value"), [pytest.param(*each, id=each[0]) for each in documented()])
def test_every_public_name_documents_its_parts_and_has_an_example(name: str, value: Any) -> None:
    text = inspect.getdoc(value) or ""
    sections = re.findall(r"^(\w+):$", text, flags=re.MULTILINE)
    assert "Example" in sections, "a section with an example"
    assert ">>> " in text.partition("Example:\n")[2], "an example that is run"
    if inspect.isclass(value):
        parts = [part.name for part in dataclasses.fields(value)] if dataclasses.is_dataclass(value) else []
    else:
        parts = list(inspect.signature(value).parameters)
        assert "Returns" in sections or inspect.signature(value).return_annotation == "None"
    given = "".join(text.partition(f"\n{head}:\n")[2].partition("\n\n")[0] + "\n" for head in ("Args", "Attributes"))
    named = re.findall(r"^ {4}(\w+(?:, \w+)*):", given, flags=re.MULTILINE)
    assert set(parts) <= {part for line in named for part in line.split(", ")}
    if isinstance(value, Verb):
        assert [part for line in named for part in line.split(", ")] == parts


NEEDED = {".to_graphblas()": "graphblas.core.base", "factor(": "pymetis"}
"""What examples say that need a package which is not on every system, and a module of it."""


def is_here(name: str) -> bool:
    try:
        importlib.import_module(name)
    except ImportError:
        return False
    return True


LONG = {"algorithms.csgraph.paths", "algorithms.csgraph.trees"}
"""Modules whose examples compile what others' do not."""


@pytest.mark.parametrize(
    "module",
    [pytest.param(each, marks=[pytest.mark.long] * (each.__name__ in LONG), id=each.__name__) for each in modules()],
)
def test_examples_print_what_they_say(module: ModuleType) -> None:
    runner = doctest.DocTestRunner()
    for example in doctest.DocTestFinder().find(module):
        if all(is_here(name) for word, name in NEEDED.items() if word in (example.docstring or "")):
            runner.run(example)
    assert runner.tries or not all(map(is_here, NEEDED.values()))
    assert not runner.failures


def test_a_verb_that_is_kept_in_a_class_is_a_method() -> None:
    class Graph:
        search = algorithms.bfs

    assert Graph.search is algorithms.bfs
    assert Graph().search.__func__ is algorithms.bfs  # type: ignore[attr-defined]


def test_completion_shows_what_users_ask_of_a_matrix() -> None:
    shown = [name for name in dir(formats.from_edges([0], [1])) if not name.startswith("_")]
    assert shown == [
        *("T", "astype", "check", "device", "dtype", "equals", "footprint", "get", "indices", "indptr"),
        *("kept_nbytes", "lengths", "longest", "major", "nbytes", "ncols", "nnz", "nrows", "on_disk", "pattern"),
        *("place", "resident", "shape", "to", "to_cupyx", "to_dense", "to_edges", "to_graphblas", "to_networkx"),
        *("to_scipy", "values", "with_values", "xp"),
    ]


MOST_UNTYPED = 60


def test_few_public_signatures_say_any() -> None:
    """What they say: operands of user's own operators, options of formats, values of dicts."""
    found = {}
    for package in PACKAGES:
        for name in package.__all__:
            for each in signed(getattr(package, name)):
                found[package.__name__, name, each] = len(re.findall(r"\bAny\b", str(each.__annotations__)))
    assert sum(found.values()) <= MOST_UNTYPED, {key[:2]: count for key, count in found.items() if count}


def signed(value: Any) -> Iterator[FunctionType]:
    """The functions whose annotations a public name shows: its overloads, or itself; of a class its public methods."""
    if isinstance(value, FunctionType | Verb):
        function = value if isinstance(value, FunctionType) else type(value).__call__
        yield from get_overloads(function) or [value.public if isinstance(value, Verb) else value]  # type: ignore[misc]
    elif inspect.isclass(value):
        for name, part in vars(value).items():
            if not name.startswith("_") or name in ("__init__", "__call__", "__getitem__", "__contains__"):
                method = getattr(part, "fget", getattr(part, "__func__", part))
                if isinstance(method, FunctionType):
                    yield method
