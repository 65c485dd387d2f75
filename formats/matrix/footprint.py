"""Memory before it is taken: what a matrix needs in a format, and what conversion and work on it take beside it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..display import table
from ..hooks import WORK
from ..places import Device, Place, find_place
from .contract import Storage
from .placing import Resident, budget
from .routes import conversion_peak, predicted

MIB = 2**20


@dataclass(frozen=True)
class Footprint:
    """Bytes that a matrix in a format needs, and that there are. `print` shows them as a table.

    Attributes:
        what: the matrix and the format, in words.
        matrix: of the format's arrays, `A.to(fmt).nbytes`.
        added: of them, what is not there already.
        temporary: held beside them while they are made, at most.
        available: on the device; None where nobody knows.
        place: where the matrix is to be.
        work: vectors of a verb or an algorithm and what is kept beside them, part by part.
        crossing: of the matrix, what is not resident: it crosses the bus in each pass over the matrix.

    Example:
        >>> from formats import from_edges
        >>> A = from_edges([0, 0, 1, 2], [1, 2, 2, 0])
        >>> A.footprint("ell").matrix == A.to("ell").nbytes
        True
    """

    what: str
    matrix: int
    added: int
    temporary: int
    available: int | None
    place: Place
    work: dict[str, int] = field(default_factory=dict)
    crossing: int = 0

    @property
    def total(self) -> int:
        """Bytes to be allocated at most at one time, beside what is there."""
        return self.added + max(self.temporary, sum(self.work.values()))

    @property
    def fits(self) -> bool:
        """True if there is room, or nobody knows."""
        return self.available is None or self.total <= self.available

    def check(self) -> None:
        """OutOfHostMemory or OutOfDeviceMemory, with the figures, unless it fits."""
        if self.available is not None and not self.fits:
            raise self.place.no_room(self.what, self.total, self.available)

    def _rows(self) -> list[tuple[str, int, str]]:
        """Lists what each part takes, with a remark."""
        parts = {"matrix": self.matrix, "conversion": self.temporary, **self.work}
        notes = {"matrix": "" if self.added else "there already", "conversion": "while it is made"}
        if self.crossing:
            parts["on the host"] = self.crossing
            notes["on the host"] = "of the matrix: it crosses the bus in each pass"
        room = "" if self.available is None else f" of {_mib(self.available)} available"
        parts["at most"] = self.total
        notes["at most"] = f"at one time{room}: {'fits' if self.fits else 'does not fit'}"
        return [(name, size, notes.get(name, "")) for name, size in parts.items()]

    def __str__(self) -> str:
        rows = self._rows()
        width = max(len(name) for name, _, _ in rows)
        lines = [f"  {name:{width}} {_mib(size):>14}  {note}".rstrip() for name, size, note in rows]
        return "\n".join([f"{self.what}, on the {self.place.name}", *lines])

    def _repr_html_(self) -> str:
        rows = [(name, _mib(size), note) for name, size, note in self._rows()]
        return table(f"{self.what}, on the {self.place.name}", rows)


def footprint(
    A: Storage,
    target: type[Storage],
    device: Device | Place,
    work: dict[str, Any],
    options: dict[str, Any],
    resident: Resident | None = None,
) -> Footprint:
    """See `Matrix.footprint`."""
    target._check_options(options)
    place = find_place(device)
    moved = A.nbytes if place is not A.place else 0
    matrix, peak = predicted(A, target, options), conversion_peak(A, target, options, place)
    added = moved if not peak else min(matrix, peak)
    wanted = {name: value for name, value in work.items() if value is not None}
    parts = WORK.ask(A, target, place.backend, wanted) if wanted else {}
    what = f"{A.nrows:,} × {A.ncols:,} with {A.nnz:,} entries as {target.__name__}"
    temporary = max(0, moved + peak - added)
    crossing = A.nbytes - A.resident if place is A.place and not peak else 0
    if resident is not None:  # it is converted where it is
        there = budget(matrix, A.shape, resident, place)
        added, temporary, crossing = there, 0, matrix - there
    return Footprint(what, matrix, added, temporary, place.available_bytes(), place, parts, crossing)


def check_conversion(A: Storage, target: type[Storage], options: dict[str, Any]) -> None:
    """OutOfHostMemory or OutOfDeviceMemory, with the figures, if the conversion would not fit: before any of it.

    Nothing is asked where even all positions, stored, would be few; else it takes what predicting the format's bytes
    does.
    """
    value_and_index = A.dtype.itemsize + 8
    if not A.place.questions(2 * value_and_index * max(A.nrows * A.ncols, A.nnz)):
        return
    try:
        needed = conversion_peak(A, target, options, A.place)
    except NotImplementedError:  # a format that cannot tell
        return
    if A.place.questions(needed):
        available = A.place.available_bytes()
        if available is not None and needed > available:
            footprint(A, target, A.place, {}, options).check()


def _mib(size: int) -> str:
    return f"{size / MIB:,.1f} MiB"
