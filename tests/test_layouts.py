"""What kernels and the host share is declared once, in Python, and the CUDA text follows it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import numpy as np
import pytest

from algorithms.fused import cuda, parts
from algorithms.fused.cuda import layouts
from algorithms.fused.cuda.kernels import PATHS, PATTERNS, path_unit, pattern_unit
from algorithms.fused.cuda.layouts import Entry, Meetings, SearchControl
from semiring import MinPlus

pytestmark = pytest.mark.quick

INT32 = np.dtype(np.int32)
FOLDERS = [Path(str(package.__file__)).parent for package in (cuda, parts)]


def text_of(kind: str) -> str:
    """The CUDA text of a unit."""
    return pattern_unit(kind, INT32) if kind in PATTERNS else path_unit(kind, MinPlus, INT32, INT32)


TEXTS = {kind: text_of(kind) for kind in (*PATHS, *PATTERNS)}


def changed(mention: str) -> dict[str, str]:
    """The CUDA text of the units that mention something, which all differ from what they were."""
    after = {kind: text_of(kind) for kind, text in TEXTS.items() if mention in text}
    assert after
    assert all(text != TEXTS[kind] for kind, text in after.items())
    return after


@pytest.mark.parametrize("name", layouts.numbers())
def test_a_number_is_declared_in_python_alone(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    value = layouts.numbers()[name]
    monkeypatch.setattr(layouts, name, value + 1)
    for text in changed(f"constexpr int {name} =").values():
        assert re.findall(rf"\b{name} = (\d+)", text) == [str(value + 1)]
    assert not any(name in DECLARED[file] for file in DECLARED)


def declared(file: Path) -> set[str]:
    """The names of numbers that a module declares."""
    lines = [line for line in ast.parse(file.read_text()).body if isinstance(line, ast.Assign)]
    numbers = [line for line in lines if isinstance(line.value, ast.Constant | ast.Tuple | ast.BinOp)]
    return {node.id for line in numbers for node in ast.walk(line.targets[0]) if isinstance(node, ast.Name)}


DECLARED = {file: declared(file) for folder in FOLDERS for file in folder.glob("*.py") if file.name != "layouts.py"}


@pytest.mark.parametrize("name", layouts.structs())
def test_a_struct_is_declared_in_python_alone(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = layouts.structs()[name].text
    longer = text.replace("};", " unsigned long long more; };")
    monkeypatch.setattr(layouts, "STRUCTS", layouts.STRUCTS.replace(text, longer))
    for kind, unit in changed(text).items():
        assert longer in unit
        assert len(re.findall(rf"(?:struct|union) (?:__align__\(.*\) )?{name} {{", unit)) == 1
        size = rf"sizeof\({name}\) == (\d+)"
        assert name == "Slot" or int(re.findall(size, TEXTS[kind])[0]) < int(re.findall(size, unit)[0])


def test_fields_lie_as_in_cuda() -> None:
    assert [Entry.nbytes(T=np.dtype(of), I=INT32) for of in ("bool", "float32", "int64")] == [16, 16, 24]
    assert [Entry.nbytes(T=np.dtype(of), I=np.dtype(np.int64)) for of in ("bool", "float64")] == [32, 32]
    assert (Meetings.words, Meetings.word("patience"), Meetings.word("box")) == (5 + 2 * layouts.MAX_GPUS * 4, 4, 5)
    state = np.arange(SearchControl.words)
    assert SearchControl.read(state, "pulls", "queue", "found") == {"pulls": 2, "queue": 5, "found": 8}


def test_the_compiler_refuses_a_size_that_the_host_does_not_reckon_with(monkeypatch: pytest.MonkeyPatch) -> None:
    from .test_codegen import compile_for

    monkeypatch.setattr(layouts, "asserted", lambda *_, **__: "static_assert(sizeof(SearchControl) == 80);\n")
    assert "static assertion failed" in compile_for("compute_90", pattern_unit("search", INT32))
    monkeypatch.undo()
    assert "static_assert(sizeof(SearchControl) == 88);" in pattern_unit("search", INT32)
