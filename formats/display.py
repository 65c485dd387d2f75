"""Short texts, tables in HTML and a bar, which Python and notebooks show by themselves."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

MOST_LINES = 20
"""Lines that Python prints of an object by itself, at most."""
MOST_SHOWN = 10
"""Rows and columns up to which a matrix, and a vector, is printed with its values."""


def shortened(text: str) -> str:
    """The text, if it has few lines; else its first ones, and how many there are."""
    lines = text.splitlines()
    if len(lines) <= MOST_LINES:
        return text
    return "\n".join([*lines[: MOST_LINES - 1], f"… {len(lines) - MOST_LINES + 1:,} more lines: print shows all"])


def table(title: str, rows: Iterable[Sequence[Any]], head: Sequence[str] = (), note: str = "") -> str:
    """A table in HTML. Below a head, numbers stand at the right. Text is escaped."""
    tagged = [*([("th", head)] if head else []), *(("td", row) for row in rows)]
    lines = [f"<tr>{''.join(_cell(tag, cell, bool(head)) for cell in row)}</tr>" for tag, row in tagged]
    below = f"<pre>{escape(note)}</pre>" if note else ""
    caption = f'<caption style="text-align: left">{escape(title)}</caption>'
    return f"<div><table>{caption}{''.join(lines)}</table>{below}</div>"


def _cell(tag: str, content: Any, aligned: bool) -> str:
    text = str(content)
    side = "right" if aligned and (text[:1].isdigit() or text[:1] in ("-", "–")) else "left"
    style = f"text-align: {side}; padding: 0.1em 0.6em"
    return f'<{tag} style="{style}">{escape(text)}</{tag}>'


def grid(shape: tuple[int, int], entries: Iterable[tuple[Any, Any, Any]]) -> str:
    """Values in their places, a dot where an entry is absent.  entries: (row, column, value) of each."""
    there = {(int(row), int(col)): str(value) for row, col, value in entries}
    width = max(map(len, there.values()), default=1)
    lines = (" ".join(there.get((row, col), "·").rjust(width) for col in range(shape[1])) for row in range(shape[0]))
    return "\n".join(lines)


def in_words(size: int) -> str:
    return f"{size:,} bytes" if size < 1 << 20 else f"{size / 2**20:,.1f} MiB"


class NotebookBar:
    """A bar in a notebook's output, as rich's. It disappears at the end."""

    def __init__(self, name: str, total: int) -> None:
        from IPython.display import display

        self._name, self._total = name, total
        self._handle: Any = display(self._html(0), display_id=True)

    def _html(self, completed: int) -> Any:
        from IPython.display import HTML

        share = f"{completed / max(self._total, 1):.0%}"
        bar = f'<progress max="{self._total}" value="{completed}"></progress>'
        return HTML(f"<label>{escape(self._name)} {bar} {share}</label>")

    def update(self, _: int, completed: int) -> None:
        self._handle.update(self._html(completed))

    def stop(self) -> None:
        from IPython.display import HTML

        self._handle.update(HTML(""))


def in_notebook() -> bool:
    """True if this process is a notebook's kernel."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")


def is_watched() -> bool:
    """True if stderr is a terminal or a notebook's."""
    return in_notebook() or (sys.stderr is not None and sys.stderr.isatty())
