"""The interface of a peer: a library, its tasks, and how it takes a graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Literal

from formats import CSR
from formats.arrays import Device

Task = Literal["sssp", "bfs", "scc", "mst"]


class Unable(Exception):
    """A peer cannot take this graph, or fails on it; the message says why."""


@dataclass(frozen=True)
class Prepared:
    """A peer with a graph in its own form: `run()` is timed; `answer(found)` gives what it found in the common form."""

    run: Callable[[], Any]
    answer: Callable[[Any], Any]


def one() -> int:
    """The threads of most peers."""
    return 1


@dataclass(frozen=True)
class Peer:
    """A library.  device: where it computes.  missing: why it cannot be used here; None if it can.

    tasks: what it can do, each (A on the host, source) -> Prepared, or Unable.  library: its name and version, asked
    where it is not missing.  threads: that it may use.
    """

    name: str
    device: Device
    missing: Callable[[], str | None]
    tasks: Mapping[Task, Callable[[CSR, int], Prepared]]
    library: Callable[[], str]
    threads: Callable[[], int] = one


def absent(module: str, package: str) -> Callable[[], str | None]:
    """`missing` of a peer that is a Python module, in the package of that name."""

    def missing() -> str | None:
        try:
            import_module(module)
        except ModuleNotFoundError as error:
            if error.name == module:
                return f"{package} is not installed"
            return f"{package} cannot be imported: {error}"
        except Exception as error:  # a library that does not load raises what it likes
            return f"{package} cannot be imported: {first_line(error)}"
        return None

    return missing


def released(package: str) -> Callable[[], str]:
    """`library` of a peer that is a Python package."""

    def library() -> str:
        try:
            return f"{package} {version(package)}"
        except PackageNotFoundError:
            return package

    return library


def of_package(name: str, package: str, tasks: Mapping[Task, Any], threads: Callable[[], int] = one) -> Peer:
    """A peer on the CPU that is a Python package of one module."""
    return Peer(name, "cpu", absent(package, package), tasks, released(package), threads)


def first_line(error: BaseException) -> str:
    """Returns the type and the message of an error, in one line."""
    said = str(error).strip().splitlines()
    return f"{type(error).__name__}: {said[0]}" if said else type(error).__name__
