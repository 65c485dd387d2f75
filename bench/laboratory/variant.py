"""Makes variants of an algorithm for shortest paths: the same rules, and no entry in the library's list."""

from __future__ import annotations

from typing import Any, ClassVar

from algorithms.shared.single_source import SourceToAll
from semiring import Verb


class Variant(SourceToAll[Any, Any]):
    """A variant, which `Fusible.all` does not have."""

    all: ClassVar[dict[str, Verb[..., Any]]] = {}
