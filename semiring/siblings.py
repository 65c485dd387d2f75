"""Other projects have packages called `formats` and `algorithms`, too: one in the place of ours is found out here."""

from __future__ import annotations

import warnings
from importlib.util import find_spec
from pathlib import Path

OURS = Path(__file__).parents[1]
"""The folder that holds all three packages."""


def foreign(package: str, marker: str) -> str:
    """A sentence about another project's package of this name, which Python would import; "" if it is ours.

    marker: a module that only ours has.
    """
    try:
        spec = find_spec(package)
    except (ImportError, ValueError):
        spec = None
    places = [Path(place) for place in (spec and spec.submodule_search_locations) or ()]
    if any((place / marker).is_file() for place in places):
        return ""
    if spec is None:
        return (
            f"the package {package!r} of the distribution semiring is missing: pip install --force-reinstall semiring"
        )
    found = places[0] if places else spec.origin
    return (
        f"Python finds another project's {package!r} in {found}, not the one of the distribution semiring in {OURS}: "
        f"uninstall the other one, or put {OURS} before it on sys.path; a virtual environment keeps them apart"
    )


def check() -> None:
    """Raise ImportError if `formats` is another project's, without which nothing works; warn if `algorithms` is."""
    if sentence := foreign("formats", "workspace.py"):
        raise ImportError(sentence)
    if sentence := foreign("algorithms", "delta_stepping.py"):
        warnings.warn(sentence, stacklevel=2)


check()
