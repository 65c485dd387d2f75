"""Memory: how much a device has left, and the refusal of what does not fit, before any work."""

from __future__ import annotations

import functools
import os
from pathlib import Path

from .arrays import Device, OutOfDeviceMemory, cupy, free_and_total

UNQUESTIONED_BYTES = 64 * 2**20
"""What needs no more than this is not checked: asking the system takes longer than small work does."""
NO_LIMIT = 1 << 60
"""Control groups without a limit say a number beyond this, or "max"."""


class OutOfHostMemory(MemoryError):
    """The host has no room for what was asked; the message gives the bytes needed and those that are free."""


def available_bytes(device: Device) -> int | None:
    """Bytes that can still be allocated on the device; None where nobody knows.

    Of the host: what Linux counts as available, or what is left of its control group's limit if that is less.  Of a
    GPU: what is free, with CuPy's unused blocks; None under an allocator of the user's own, whose managed memory, for
    example, may have room where the device has not.
    """
    if device == "cuda":
        cp = cupy()
        own = cp.cuda.get_allocator() != cp.get_default_memory_pool().malloc
        return None if own else free_and_total()[0]
    found = [known for known in (_host_bytes(), *map(_left, _control_groups())) if known is not None]
    return min(found, default=None)


def check_room(what: str, needed: int, device: Device) -> None:
    """OutOfHostMemory or OutOfDeviceMemory, with the figures, if `what` needs more bytes than there are.

    Costs nothing up to UNQUESTIONED_BYTES, and some 50 µs above.
    """
    if needed <= UNQUESTIONED_BYTES:
        return
    available = available_bytes(device)
    if available is not None and needed > available:
        raise no_room(what, needed, available, device)


def no_room(what: str, needed: int, available: int, device: Device) -> MemoryError:
    """What to raise where `what` needs more bytes than the device has available."""
    error, name = (OutOfDeviceMemory, "GPU") if device == "cuda" else (OutOfHostMemory, "host")
    return error(f"{what} needs {needed:,} bytes, but the {name} has {available:,} available")


def _host_bytes() -> int | None:
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):
        return None


@functools.cache
def _control_groups() -> tuple[tuple[Path, Path, Path], ...]:
    """The files (limit, usage, statistics) of every control group that the process is in and that limits memory."""
    try:
        lines = Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    except OSError:
        return ()
    found = []
    for _, controllers, place in (line.split(":", 2) for line in lines):
        if controllers not in ("", "memory"):  # version 2 has one tree, version 1 one for each controller
            continue
        root = Path("/sys/fs/cgroup") / controllers
        names = ("memory.limit_in_bytes", "memory.usage_in_bytes") if controllers else ("memory.max", "memory.current")
        group = root / place.lstrip("/")
        for folder in (group, *group.parents):
            files = (folder / names[0], folder / names[1], folder / "memory.stat")
            if folder.is_relative_to(root) and _limit(files[0]) is not None:
                found.append(files)
    return tuple(found)


def _limit(file: Path) -> int | None:
    try:
        said = file.read_text(encoding="ascii").strip()
    except OSError:
        return None
    return None if said == "max" or int(said) >= NO_LIMIT else int(said)


def _left(group: tuple[Path, Path, Path]) -> int | None:
    """Of a control group's limit, what is neither in use nor a file's page that could not be dropped at once."""
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
