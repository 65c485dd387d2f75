"""The warning for a Python loop of verbs which has run many rounds, and which `@fusible` would compile.

Verbs look at their caller now and then, so that a call costs no more. A place in a loop's body that has been seen so
often has run as many rounds, of whichever calls of its function.
"""

from __future__ import annotations

import dis
import sys
import warnings
from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import cycle
from time import thread_time
from types import CodeType, FrameType
from typing import Any

from formats import Matrix, PerformanceWarning
from formats.performance import OURS
from formats.places import place_among

EVERY = 31
"""Number of calls of verbs from one look to the next: a prime, for looks would pass over some places of a body else."""
ROUNDS = 100
"""Number of rounds from which on a loop is told of."""
SECONDS = 0.2
"""Seconds of the thread in such a function from which on it is told of: work that is done sooner is quick as it is."""
COMPILER = "semiring.fusing"

due = cycle([False] * (EVERY - 1) + [True]).__next__
"""Says whether a call is to look at its caller."""


@dataclass
class Seen:
    """Knowledge of a function.  at: how often each place in it was seen."""

    at: Counter[int] = field(default_factory=Counter)
    seconds: float = 0.0
    told: bool = False


seen: dict[CodeType, Seen] = {}
"""Functions that call verbs, and what is known of them."""
last: list[Any] = [None, 0.0]
"""The function of the last look, and the thread's time then."""


def look(operands: tuple[Any, ...]) -> None:
    """Look who calls a verb. A loop of many rounds is told of, once, at the line of the call."""
    frame, level = sys._getframe(2), 3
    while (package := package_of(frame)) in OURS and frame.f_back is not None:
        if package == "algorithms" or frame.f_globals["__name__"].startswith(COMPILER):
            return
        frame, level = frame.f_back, level + 1
    code, now = frame.f_code, thread_time()
    known = seen.setdefault(code, Seen())
    known.seconds += max(now - last[1], 0.0) if last[0] is code else 0.0
    last[:] = code, now
    known.at[frame.f_lasti] += 1
    if known.told or known.seconds < SECONDS or (known.at[frame.f_lasti] - 1) * EVERY < ROUNDS:
        return
    known.told = is_in_loop(code, frame.f_lasti)
    if known.told and may_be_compiled(operands) and not in_program(frame):
        where = f"on {code.co_name}" if code.co_name.isidentifier() else "on a function with it"
        message = f"this Python loop of verbs has run over {ROUNDS} rounds, which @fusible {where} may compile"
        warnings.warn(message, PerformanceWarning, stacklevel=level)


def package_of(frame: FrameType) -> str:
    """The package of a frame's function."""
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]


@lru_cache(maxsize=256)
def is_in_loop(code: CodeType, at: int) -> bool:
    """True for an instruction from which a jump leads back to it, or to one before."""
    jumps = (each for each in dis.get_instructions(code) if "JUMP_BACKWARD" in each.opname)
    return any(each.argval <= at <= each.offset for each in jumps if "NO_INTERRUPT" not in each.opname)


def may_be_compiled(operands: tuple[Any, ...]) -> bool:
    """True for operands of a kind that compiled loops take."""
    place = place_among(operands)
    whole = not any(isinstance(x, Matrix) and (x.in_parts or x.streams) for x in operands)
    return whole and (place is None or place.on_host)


def in_program(frame: FrameType | None) -> bool:
    """True where a compiled function runs as written, or what it calls."""
    while frame is not None:
        if str(frame.f_globals.get("__name__", "")).startswith(COMPILER):
            return True
        frame = frame.f_back
    return False
