"""A bar for work that takes long, on a terminal's stderr or in a notebook: how far it is."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from .display import NotebookBar, in_notebook, is_watched

BAR_AFTER_SECONDS = 1.0


class Bar:
    """How much of some work is done, shown on stderr once that takes longer than BAR_AFTER_SECONDS.

    total, done: how much there is, and what tells how much is done.  progress: None shows it on a terminal and in a
    notebook, True at once, False never.  in_bytes: are these bytes?
    """

    def __init__(
        self, name: str, total: int, done: Callable[[], int], progress: bool | None = None, *, in_bytes: bool = False
    ) -> None:
        self._name, self._total, self._done, self._in_bytes = name, total, done, in_bytes
        self._wanted = is_watched() if progress is None else progress
        self._from = time.monotonic() + (0 if progress else BAR_AFTER_SECONDS)
        self._shown: Any = None

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown is not None:
            self._shown.stop()

    def update(self) -> None:
        """Show how much is done, if it is time."""
        if not self._wanted or time.monotonic() < self._from:
            return
        if self._shown is None:
            self._start()
        if self._shown is not None:
            self._shown.update(0, completed=self._done())

    def _start(self) -> None:
        """Show a notebook's bar, or one of rich's, with one task; none within another bar."""
        if in_notebook():
            self._shown = NotebookBar(self._name, self._total)
            return
        from rich.console import Console
        from rich.errors import LiveError
        from rich.progress import (
            BarColumn,
            DownloadColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
        )

        count = DownloadColumn() if self._in_bytes else MofNCompleteColumn()
        columns = TextColumn("{task.description}"), BarColumn(), count, TimeRemainingColumn()
        bar = Progress(*columns, console=Console(stderr=True), transient=True)
        bar.add_task(self._name, total=self._total)
        try:
            bar.start()
        except LiveError:
            self._wanted = False
            return
        self._shown = bar
