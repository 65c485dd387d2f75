"""Packages and parts of the system that a process does without, as if they were not there."""

from __future__ import annotations

import builtins
import io
import mmap
import os
import shutil
import signal
import stat
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from typing import Any


class Blocked(MetaPathFinder):
    """Finds none of some packages, nor lets others find them."""

    def __init__(self, names: set[str]) -> None:
        self.names = names

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: object = None) -> ModuleSpec | None:
        if fullname.partition(".")[0] in self.names:
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)
        return None


def block(*names: str) -> None:
    """Let nobody import those packages from now on."""
    sys.meta_path.insert(0, Blocked(set(names)))
    for module in [module for module in sys.modules if module.partition(".")[0] in names]:
        del sys.modules[module]


OF_POSIX = (
    *(
        "fork",
        "forkpty",
        "getegid",
        "geteuid",
        "getgid",
        "getgroups",
        "getpgid",
        "getuid",
        "getrusage",
        "kill",
        "killpg",
    ),
    *("mkfifo", "nice", "pread", "pwrite", "posix_fadvise", "posix_spawn", "register_at_fork", "sched_getaffinity"),
    *("sched_setaffinity", "sched_yield", "setsid", "statvfs", "sysconf", "uname", "fchmod", "fchown", "chown"),
    *("O_CLOEXEC", "O_DIRECTORY", "O_NOFOLLOW", "O_NONBLOCK", "O_TMPFILE"),
)
SIGNALS = ("SIGALRM", "SIGHUP", "SIGKILL", "SIGUSR1", "SIGUSR2", "SIGCHLD", "pthread_kill", "setitimer", "alarm")


def leave_posix() -> None:
    """Take from this process what Windows lacks: modules, names, files of the system, folders that can be opened.

    Every file has the rights and the owner that Windows says.
    """
    block("resource", "fcntl", "pwd", "grp", "termios", "tty", "pty", "syslog")
    for module, names in ((os, OF_POSIX), (signal, SIGNALS), (mmap, [name for name in dir(mmap) if "MA" in name])):
        for name in names:
            if hasattr(module, name) and not name.startswith("ACCESS"):
                delattr(module, name)
    os.supports_dir_fd.clear()
    os.supports_fd.clear()
    shutil._use_fd_functions = False  # type: ignore[attr-defined]
    opened, statted, fstatted, by_number = builtins.open, os.stat, os.fstat, os.open

    def windows_open(path: Any, flags: int, mode: int = 0o777, *, dir_fd: None = None) -> int:
        if os.path.isdir(path):
            raise PermissionError(13, "Permission denied", path)
        return by_number(path, flags, mode)

    def windows_status(status: os.stat_result) -> os.stat_result:
        rights = 0o777 if stat.S_ISDIR(status.st_mode) else 0o666
        return os.stat_result((stat.S_IFMT(status.st_mode) | rights, *status[1:4], 0, 0, *status[6:]))

    def windows_file(path: Any, *arguments: Any, **named: Any) -> Any:
        if str(path).startswith(("/proc/", "/sys/", "/dev/")):
            raise FileNotFoundError(2, "No such file or directory", path)
        return opened(path, *arguments, **named)

    os.open = windows_open  # type: ignore[assignment]
    os.stat = lambda *path, **how: windows_status(statted(*path, **how))  # type: ignore[assignment]
    os.fstat = lambda number: windows_status(fstatted(number))
    builtins.open = windows_file
    io.open = windows_file
