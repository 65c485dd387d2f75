"""Docstrings are sentences that a stranger understands: no fragments, no questions, no tuples to decode."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.quick

ROOT = Path(__file__).parent.parent
FOLDERS = ("formats", "semiring", "algorithms", "bench")
REFUSED = {
    "begins with What or Of": r"(What|Of)\b",
    "asks a yes/no question": r"(Is|Are|Was|Were|Does|Do|Did|Has|Have|Had|Can|Could|May|Might|Must|Will|Would|Should)\b"
    r"[^.?]*\?",
    "begins with a tuple": r"\((?=[^()]*,)([^()]|\([^()]*\))*\)",
    "does not end its first line with a full stop": r"[^\n]*[^.\n](\n|$)",
}


def docstrings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yields line and text of the docstrings of modules, classes and functions, and of those after assignments."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        for before, after in zip([node, *body], body, strict=False) if isinstance(body, list) else ():
            described = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef | ast.Assign | ast.AnnAssign
            if isinstance(before, described) and isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
                if isinstance(after.value.value, str) and (before is node or not hasattr(before, "body")):
                    yield after.lineno, after.value.value.strip()


def faults(text: str) -> list[str]:
    """Lists the rules that a docstring breaks."""
    return [rule for rule, pattern in REFUSED.items() if re.match(pattern, text)]


@pytest.mark.parametrize("folder", FOLDERS)
def test_docstrings_are_sentences(folder: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line} {fault}: {text.splitlines()[0]}"
        for path in sorted(ROOT.glob(f"{folder}/**/*.py"))
        for line, text in docstrings(ast.parse(path.read_text(encoding="utf-8")))
        for fault in faults(text)
    ]
    assert not found, "\n".join(found)


def test_the_check_sees_all_docstrings_and_their_faults() -> None:
    source = '"""One."""\nX = 1\n"""Of two."""\nclass C:\n    """Three."""\n    y: int = 4\n    """Is it four?"""\n'
    source += '    def f(self):\n        """(a, b) of five.\n\n        More."""\n        g()\n        "no docstring"\n'
    texts = dict(docstrings(ast.parse(source)))
    assert sorted(texts) == [1, 3, 5, 7, 9]
    assert [bool(faults(texts[line])) for line in sorted(texts)] == [False, True, False, True, True]
    assert faults("Is it?") == ["asks a yes/no question", "does not end its first line with a full stop"]
    assert not faults("Returns (a, b).") + faults("Offers f(x) of x.\n\nIs it so?") + faults("(x) is a vector.")
    assert faults("(n,) labels.") == ["begins with a tuple"]
    assert faults("A line\nbroken.") == ["does not end its first line with a full stop"]
