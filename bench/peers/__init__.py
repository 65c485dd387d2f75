"""Other libraries that compute the same, each timed in our process on the same graph, and compared with us.

A peer says for each of its tasks how it takes a graph, untimed, and what it then does, timed; what it found is turned
into a common form, untimed, and must agree with us (`agreement`). A peer that is not installed says so.

    tasks    sssp: distances from a source, n float64, infinite where unreached     bfs: levels, n int64, -1 likewise
             scc: n labels, any numbers, equal within a component                    mst: the weight of a spanning forest
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from formats import CSR
from formats.arrays import Device

Task = Literal["sssp", "bfs", "scc", "mst"]


@dataclass(frozen=True)
class Prepared:
    """A peer with a graph in its own form: `run()` is timed; `answer(found)` gives what it found in the common form."""

    run: Callable[[], Any]
    answer: Callable[[Any], Any]


@dataclass(frozen=True)
class Peer:
    """A library.  device: where it computes.  missing: why it cannot be used here; None if it can.

    tasks: what it can do, each (A on the host, source) -> Prepared.
    """

    name: str
    device: Device
    missing: Callable[[], str | None]
    tasks: Mapping[Task, Callable[[CSR, int], Prepared]]
