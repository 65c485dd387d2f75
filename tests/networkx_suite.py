"""NetworkX's own tests with our backend, and how many of their calls are answered, by function.

    python -m tests.networkx_suite                              # the whole suite, in some six minutes of one core
    python -m tests.networkx_suite networkx.algorithms.tree     # a part of it; options of pytest as well: -n 4

What the backend does not take NetworkX computes itself. As a plugin of pytest, `-p tests.networkx_suite` only counts.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
WHOLE = "networkx"

ANSWERED: Counter[str] = Counter()
REFUSED: Counter[str] = Counter()
"""Calls by function; an error of NetworkX's own is an answer, too."""


def entry_points(folder: Path) -> dict[str, str]:
    """An environment in which the entry points of pyproject.toml are installed, whatever was when it was built."""
    points = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]
    info = folder / "semiring-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: semiring\nVersion: 0.1.0\n", encoding="utf-8")
    lines = [
        line for group, each in points.items() for line in (f"[{group}]", *(f"{k} = {v}" for k, v in each.items()))
    ]
    (info / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")
    path = os.pathsep.join(map(str, (folder, ROOT, ROOT / "algorithms" / "networkx" / "plugin")))
    return {**os.environ, "PYTHONPATH": path}


def run(environment: dict[str, str], folder: Path, arguments: list[str], **how: Any) -> Any:
    """Run pytest on modules of NetworkX in a folder, with our backend where it takes a call."""
    ours = {**environment, "NETWORKX_TEST_BACKEND": "semiring", "NETWORKX_FALLBACK_TO_NX": "True"}
    plain = ["-q", "-c", os.devnull, "-p", "no:cacheprovider", "-p", "tests.networkx_suite", "--pyargs"]
    return subprocess.run([sys.executable, "-m", "pytest", *plain, *arguments], cwd=folder, env=ours, text=True, **how)


def counted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            found = function(*args, **kwargs)
        except NotImplementedError:
            REFUSED[name] += 1
            raise
        except Exception:
            ANSWERED[name] += 1
            raise
        ANSWERED[name] += 1
        return found

    return call


def pytest_configure(config: Any) -> None:
    from algorithms.networkx import interface

    adapted = interface.adapted
    interface.adapted = lambda name: counted(name, adapted(name))  # type: ignore[assignment]


def pytest_sessionfinish(session: Any) -> None:
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["calls"] = dict(ANSWERED), dict(REFUSED)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    for total, part in zip((ANSWERED, REFUSED), getattr(node, "workeroutput", {}).get("calls", ()), strict=False):
        total.update(part)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    from algorithms.networkx.plugin.semiring_networkx import FUNCTIONS

    write = terminalreporter.write_line
    write(f"{ANSWERED.total():,} calls answered, {REFUSED.total():,} left to NetworkX")
    write(", ".join(f"{name} {ANSWERED[name]:,}/{ANSWERED[name] + REFUSED[name]:,}" for name in FUNCTIONS))
    silent = [name for name in FUNCTIONS if not ANSWERED[name] + REFUSED[name]]
    write(f"never called: {', '.join(silent) or 'none'}")
    never = [name for name in REFUSED if not ANSWERED[name]]
    write(f"called and never answered: {', '.join(never) or 'none'}")


def main(arguments: list[str]) -> int:
    with tempfile.TemporaryDirectory() as folder:
        whole = not any(each.startswith(WHOLE) for each in arguments)
        done = run(entry_points(Path(folder)), Path(folder), [*arguments, *([WHOLE] if whole else [])])
        return int(done.returncode)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
