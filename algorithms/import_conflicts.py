"""Refuses a `semiring` that is not ours: a user's own file of that name, beside his script, is found before it."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path


def check() -> None:
    """Raise ImportError, which names the file, if `semiring` is another than ours; it has not been imported then."""
    try:
        spec = find_spec("semiring")
    except ValueError:
        return
    places = (spec and spec.submodule_search_locations) or ()
    if spec is None or any((Path(place) / "import_conflicts.py").exists() for place in places):
        return
    raise ImportError(
        f"{spec.origin or ', '.join(places)} has the name of the package 'semiring', which algorithms need, and Python "
        "finds it first: rename it, or move it to another folder"
    )


check()
