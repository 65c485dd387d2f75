"""Memory of the host: how much is left, and how much this process holds; and what is raised where there is no room."""

from __future__ import annotations

import functools
import re
from pathlib import Path

from .system import control_groups, free_pages, limits_of_this_process, pages_of_this_process

UNQUESTIONED_BYTES = 64 * 2**20
"""Needs of at most so many bytes are not checked: asking the system takes longer than small work does."""
NO_LIMIT = 1 << 60
"""Control groups without a limit say a number beyond this, or "max"."""


class OutOfHostMemory(MemoryError):
    """The host has no room for what was asked; the message gives the bytes needed and those that are free.

    Example:
        >>> from formats import from_edges
        >>> try:
        ...     from_edges([0], [1], shape=10**7).to("dense", force=True)
        ... except OutOfHostMemory as error:
        ...     print("not enough room")
        not enough room
    """


class OutOfDeviceMemory(MemoryError):
    """The GPU has no room for what was asked; the message gives the bytes needed, free and in all.

    Example:
        >>> issubclass(OutOfDeviceMemory, MemoryError)
        True
    """


def host_bytes() -> int | None:
    """Bytes that the host can still give: as Linux counts, or what a limit leaves if that is less.

    Limits are those of control groups, `ulimit -v` and `ulimit -d`. None where nobody knows.
    """
    known = (_host_bytes(), _under_ulimit(), *map(_left, _control_groups()))
    return min((left for left in known if left is not None), default=None)


def resident_bytes() -> int:
    """Bytes of the host that this process holds; pages of files and memory shared with others do not count.

    0 where nobody knows.
    """
    pages = pages_of_this_process()
    return pages[1] - pages[2] if pages else 0


def as_bytes(size: int | str) -> int:
    """A number of bytes, given as such or in words such as "4GiB", "500 MB" or "2.5e9"."""
    found = re.fullmatch(r"\s*([0-9.]+(?:e[0-9]+)?)\s*(?:([kMGT]?)(i?)B)?\s*", str(size), re.IGNORECASE)
    try:
        if found is None or isinstance(size, bool):
            raise ValueError
        power = " KMGT".index((found[2] or " ").upper())
        return int(float(found[1]) * (1024 if found[3] else 1000) ** power)
    except ValueError:
        raise ValueError(f'a size is a number of bytes, or like "4GiB" or "500 MB", got {size!r}') from None


def _host_bytes() -> int | None:
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return free_pages()


def _under_ulimit() -> int | None:
    """Bytes that the process's own limits leave of its address space, mapped files included, and of its data."""
    limits = limits_of_this_process()
    if limits == (None, None) or not (pages := pages_of_this_process()):
        return None
    pairs = zip(limits, (pages[0], pages[5]), strict=True)
    return min(max(0, limit - size) for limit, size in pairs if limit is not None)


@functools.cache
def _control_groups() -> tuple[tuple[Path, Path, Path], ...]:
    """The files (limit, usage, statistics) of every control group that the process is in and that limits memory."""
    found = []
    for folder in control_groups("memory"):
        for names in ("memory.limit_in_bytes", "memory.usage_in_bytes"), ("memory.max", "memory.current"):
            if _limit(folder / names[0]) is not None:
                found.append((folder / names[0], folder / names[1], folder / "memory.stat"))
    return tuple(found)


def _limit(file: Path) -> int | None:
    try:
        said = file.read_text(encoding="ascii").strip()
    except OSError:
        return None
    return None if said == "max" or int(said) >= NO_LIMIT else int(said)


def _left(group: tuple[Path, Path, Path]) -> int | None:
    """Bytes of a control group's limit that are neither in use nor a file's page that could not be dropped at once."""
    limit = _limit(group[0])
    if limit is None:
        return None
    try:
        used = int(group[1].read_text(encoding="ascii"))
        counts = dict(line.split() for line in group[2].read_text(encoding="ascii").splitlines())
    except (OSError, ValueError):
        return None
    dropped = int(counts.get("total_inactive_file", counts.get("inactive_file", 0)))
    return max(0, limit - used + dropped)
