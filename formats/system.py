"""Calls that only POSIX or Linux has, and what stands for each elsewhere.

Nobody else names these. Files of `/proc` and `/sys` are read as files, which other systems do not have.
"""

from __future__ import annotations

import math
import os
import signal
import stat
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

MEMBERSHIP, CONTROL_GROUPS = Path("/proc/self/cgroup"), Path("/sys/fs/cgroup")
"""The file that names the control groups of this process, and the folder of all of them."""
OTHERS_MAY_WRITE = stat.S_IWGRP | stat.S_IWOTH
ROOT = 0


def cores() -> frozenset[int]:
    """The numbers of the cores that this process may use; of all that there are, where nobody says."""
    asked: Any = getattr(os, "sched_getaffinity", None)
    return frozenset(asked(0) if asked else range(os.cpu_count() or 1))


def core_count() -> int:
    """How many cores this process may keep busy: those that it may use, or fewer where its control groups have quotas.

    Part of a core counts as one.
    """
    return max(1, min([len(cores()), *map(math.ceil, map(_quota, control_groups("cpu")))]))


def _quota(group: Path) -> float:
    """The cores' worth of time that a control group has; more than any machine has where nothing limits it."""
    for names in (("cpu.max",), ("cpu.cfs_quota_us", "cpu.cfs_period_us")):  # versions 2 and 1
        try:
            quota, period = (int(word) for name in names for word in (group / name).read_text("ascii").split())
        except (OSError, ValueError):  # there is no such file, or it says "max"
            continue
        if quota > 0 < period:
            return quota / period
    return sys.maxsize


def control_groups(controller: str) -> Iterator[Path]:
    """Yields the folders of Linux's control groups that may limit this process by that controller, innermost first.

    In a container the innermost ones may not be there, as it sees no more than its own part of the tree.
    """
    try:
        lines = MEMBERSHIP.read_text(encoding="utf-8").splitlines()
    except OSError:
        return
    for _, controllers, place in (line.split(":", 2) for line in lines):
        if controllers and controller not in controllers.split(","):  # version 2 has one tree, version 1 several
            continue
        group = CONTROL_GROUPS / controllers / place.lstrip("/")
        yield from (folder for folder in (group, *group.parents) if folder.is_relative_to(CONTROL_GROUPS / controllers))


def machine() -> str:
    """The name of this machine in its network."""
    import platform

    return platform.node()


let_others_run: Callable[[], object] = getattr(os, "sched_yield", None) or partial(time.sleep, 0)
"""Give the rest of this thread's turn to another thread or process."""


YIELD = "SwitchToThread" if sys.platform == "win32" else "sched_yield"
"""A function of the system's that machine code calls for that, without arguments; it returns 32 bits."""

NAP = ("Sleep", 1) if sys.platform == "win32" else ("usleep", 50)
"""A function of the system's that lets a thread sleep, and the number it is called with: for 50 µs, or the least."""


def in_a_forked_child(call: Callable[[], object]) -> None:
    """Call that first in every process that is forked from this one, where processes can be."""
    register: Any = getattr(os, "register_at_fork", None)
    if register is not None:
        register(after_in_child=call)


def around_a_fork(before: Callable[[], object], after: Callable[[], object]) -> None:
    """Call `before` in a process that is about to fork, and `after` then in both, where processes can be forked."""
    register: Any = getattr(os, "register_at_fork", None)
    if register is not None:
        register(before=before, after_in_parent=after, after_in_child=after)


def interrupt_main_thread() -> None:
    """Ctrl-C for the main thread: a signal to the process may reach any, and then a sleep of that one goes on."""
    waits, sends = threading.main_thread().ident, getattr(signal, "pthread_kill", None)
    if sends is not None and waits is not None:
        sends(waits, signal.SIGINT)
    elif sends is None:
        signal.raise_signal(signal.SIGINT)  # which Python hears in its main thread


# --- memory -----------------------------------------------------------------------------------------------------------


def pages_of_this_process() -> list[int]:
    """Bytes of this process, as Linux lists them in `statm`: all, resident, shared, code, none, data; else nothing."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return [int(pages) * os.sysconf("SC_PAGE_SIZE") for pages in file.read().split()]
    except OSError:
        return []


def free_pages() -> int | None:
    """Bytes of pages that nobody uses; None where the system does not say."""
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def limits_of_this_process() -> tuple[int | None, int | None]:
    """Bytes that `ulimit -v` and `ulimit -d` let it take: addresses, and data; None without a limit."""
    try:
        import resource
    except ImportError:
        return None, None
    address, data = (resource.getrlimit(which)[0] for which in (resource.RLIMIT_AS, resource.RLIMIT_DATA))
    none = resource.RLIM_INFINITY
    return None if address == none else address, None if data == none else data


# --- files that only their owner can have written ---------------------------------------------------------------------


def user() -> int:
    """The number of the user; root's where users have none: Windows keeps a user's folders from others by itself."""
    asked: Any = getattr(os, "geteuid", None)
    return asked() if asked else ROOT


def others_may_write(status: os.stat_result) -> bool:
    """True if anybody but this user and root can write to what has that status.

    Where users have no numbers, a status does not say who may, and the answer is no.
    """
    if not hasattr(os, "geteuid"):
        return False
    return status.st_uid not in (user(), ROOT) or bool(status.st_mode & OTHERS_MAY_WRITE)


def open_within(folder: Path, name: str, check: Callable[[os.stat_result, Path], None]) -> BinaryIO:
    """A file of a folder, after `check` of both: nobody can exchange one in between, no link is followed.

    A FIFO does not wait for a writer. Where folders cannot be opened, as on Windows, both are looked at by their names.
    """
    if not hasattr(os, "O_DIRECTORY") or os.open not in os.supports_dir_fd:
        check(os.stat(folder, follow_symlinks=False), folder)
        check(os.stat(folder / name, follow_symlinks=False), folder / name)
        return open(folder / name, "rb")
    only_reads = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
    at = os.open(folder, only_reads | os.O_DIRECTORY)
    try:
        check(os.fstat(at), folder)
        file = open(os.open(name, only_reads | os.O_NONBLOCK, dir_fd=at), "rb")
    finally:
        os.close(at)
    try:
        check(os.fstat(file.fileno()), folder / name)
    except BaseException:
        file.close()
        raise
    return file


def put_in_place(part: str, path: Path) -> None:
    """Rename a whole file to its name. Where a file that is open keeps its name, as on Windows, that one stays."""
    try:
        os.replace(part, path)
    except PermissionError:
        if sys.platform != "win32" or not path.exists():
            raise
        os.unlink(part)
