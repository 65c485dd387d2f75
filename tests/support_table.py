"""The README's table of what is supported, made from the verbs' tables: `python -m tests.support_table` rewrites it."""

from __future__ import annotations

from pathlib import Path

from semiring import Vector, Verb

from .strategies import FORMATS

README = Path(__file__).parent.parent / "README.md"
BEGIN, END = "<!-- support table: begin -->", "<!-- support table: end -->"


def support_table() -> str:
    """A row a verb, a column a format, and in each cell the backends that have it."""
    formats = [Vector, *FORMATS]
    lines = [
        "| verb | " + " | ".join(fmt.__name__ for fmt in formats) + " |",
        "|---" * (len(formats) + 1) + "|",
    ]
    for verb in Verb.all.values():
        cells = [", ".join(backend for fmt, backend in verb.table if fmt is column) or "–" for column in formats]
        lines.append(f"| `{verb.name}` | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def with_table(text: str) -> str:
    """The README's text with the table as it is now."""
    head, _, rest = text.partition(BEGIN)
    _, _, tail = rest.partition(END)
    return f"{head}{BEGIN}\n{support_table()}\n{END}{tail}"


if __name__ == "__main__":
    README.write_text(with_table(README.read_text()))
