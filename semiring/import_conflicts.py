"""Refuses packages of other projects that Python imports as `formats` or `algorithms` in the place of ours."""

from __future__ import annotations

import warnings
from importlib.util import find_spec
from pathlib import Path

OURS = Path(__file__).parents[1]
"""The folder that holds all three packages."""


def foreign(package: str, module: str) -> str:
    """A sentence about another project's package of this name, which Python would import; "" if it is ours.

    module: one that our package imports.
    """
    try:
        spec = find_spec(package)
    except (ImportError, ValueError):
        spec = None
    places = [Path(place) for place in (spec and spec.submodule_search_locations) or ()]
    if any(_imports(place, module) for place in places):
        return ""
    if spec is None:
        return (
            f"the package {package!r} of the distribution semiring is missing: pip install --force-reinstall semiring"
        )
    if OURS / package in places:
        return (
            f"another project has written over the package {package!r} of the distribution semiring in "
            f"{OURS / package}: uninstall that project, then pip install --force-reinstall semiring"
        )
    found = places[0] if places else Path(spec.origin or "")
    if not places or not {"site-packages", "dist-packages"} & {*found.parts}:  # a user's own, beside his script
        return (
            f"the {'folder' if places else 'file'} {found} has the name of the package {package!r} of the distribution "
            "semiring, and Python finds it first: rename it, or move it to another folder"
        )
    return (
        f"Python finds another project's {package!r} in {found}, not the one of the distribution semiring in {OURS}: "
        f"uninstall the other one, or put {OURS} before it on sys.path; a virtual environment keeps them apart"
    )


def _imports(place: Path, module: str) -> bool:
    """True if the package in this folder imports that module of its own. Where there is no source, it is ours."""
    try:
        source = (place / "__init__.py").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return place.parent == OURS
    return f"from .{module} import" in source


def check() -> None:
    """Raise ImportError if `formats` is another project's, without which nothing works; warn if `algorithms` is."""
    if sentence := foreign("formats", "storage.packed"):
        raise ImportError(sentence)
    if sentence := foreign("algorithms", "equations.delta_stepping"):
        warnings.warn(sentence, stacklevel=2)


check()
