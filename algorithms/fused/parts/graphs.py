"""Forests and components of a matrix in parts: what is registered, and imported when it is called."""

from __future__ import annotations

from typing import Any

from algorithms.boruvka import boruvka
from algorithms.scc import scc
from formats.parts.partitioned import Partitioned


@boruvka.implement(Partitioned, "cpu")
def _forest(A: Partitioned, symmetrize: bool, with_labels: bool) -> Any:
    from .forests import forest

    return forest(A, symmetrize, with_labels)


@scc.implement(Partitioned, "cpu")
def _components(A: Partitioned, weak: bool, *how: Any) -> Any:
    """how: the definition searches, which changes nothing about the answer."""
    from .forests import components

    return components(A, weak)
