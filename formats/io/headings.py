"""Headings of tables of edges: which columns known words say are the source, the target and the weight."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

SOURCES = frozenset(
    "source src from u start tail origin orig begin fromid sourceid srcid fromnode fromnodeid sourcenode sourcename "
    "fromname startnode node1 vertex1 nodea".split()
)
TARGETS = frozenset(
    "target tgt dst dest destination to v end head toid targetid dstid tonode tonodeid targetnode targetname toname "
    "endnode node2 vertex2 nodeb".split()
)
WEIGHTS = frozenset(
    "weight weights w length len distance dist cost costs km miles mi metres meters m minutes min seconds traveltime "
    "duration time value val capacity strength score".split()
)
OTHERS = frozenset("id ids index key type label labels name names kind direction directed date year timestamp".split())
"""The roles of columns by their headings, in lower case without blanks and lines between."""


@dataclass(frozen=True)
class Roles:
    """Places of columns, from 0."""

    source: int
    target: int


def folded(word: str) -> str:
    """A heading in lower case, without quotes, blanks, hyphens, underscores and brackets."""
    return re.sub(r"""[\s_"'-]|[(\[].*[)\]]""", "", word).casefold()


def roles(fields: Sequence[str]) -> Roles | None:
    """Returns the roles that known words in a heading give; None unless one column is a source and one a target.

    ValueError if several are, and none of them is in its usual place, the first or the second.
    """
    words = [folded(field) for field in fields]
    source, target = one_of(words, SOURCES, 0), one_of(words, TARGETS, 1)
    return None if source is None or target is None else Roles(source, target)


def one_of(words: Sequence[str], known: frozenset[str], place: int, besides: Sequence[int] = ()) -> int | None:
    """The place of the one word that is known, or None; ValueError for several, unless one is in its usual place.

    besides: places that do not count.
    """
    found = [k for k, word in enumerate(words) if word in known and k not in besides]
    if place in found:
        return place
    if len(found) > 1:
        listed = " and ".join(f"{words[k]!r} (column {k + 1})" for k in found)
        raise ValueError(f"{listed} mean the same")
    return found[0] if found else None


def is_number(text: str) -> bool:
    """True if the text writes a number, as Python and this package read it."""
    try:
        return "_" not in text and bool(float(text) == float(text))
    except ValueError:
        return False


NOTHING = frozenset("na n/a nan null none nil true false inf infinity - -- ?".split()) | {""}
"""Words that stand for a missing value, a truth value or a number, in lower case; they head no column."""


def is_word(text: str) -> bool:
    """True if the text can be a heading: no number, no beginning of one, and no missing value."""
    text = text.strip()
    return text.casefold() not in NOTHING and (text[0].isalpha() or text[0] == "_")
