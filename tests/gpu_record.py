"""Which CUDA sources the tests last ran on, on a GPU, and what came of it: `gpu_record.json`.

`python -m tests.gpu_record --run` runs the tests on all GPUs and processors, and writes it; what follows is for pytest.
Any other `pytest --require cuda` adds its results. Without a GPU, `python -m tests.gpu_record --check` says whether the
sources are still those, and nothing failed: exit 0, else 1.
"""

from __future__ import annotations

import ast
import io
import json
import os
import subprocess
import sys
import tokenize
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
RECORD = Path("tests/gpu_record.json")
FUSING = "cuda_algebra", "cuda_expressions", "cuda_program", "device", "launch"
"""The modules of programs that make CUDA text, or launch it."""
HANGS = 150
"""Seconds after which a test fails, where there is pytest-timeout."""


def code(path: Path) -> bytes:
    """The text of a file that runs: without the lines that are blank, comments or docstrings.

    A comment behind code on its line counts as code.
    """
    text = path.read_text(encoding="utf-8")
    lines = dict(enumerate(text.splitlines(), 1))
    if path.suffix == ".py":
        constants = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Expr))
        strings = [node for node in constants if isinstance(getattr(node.value, "value", None), str)]
        said = {line for node in strings for line in range(node.lineno, node.end_lineno + 1)}
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        said |= {token.start[0] for token in tokens if token.type == tokenize.COMMENT and token.line.lstrip()[0] == "#"}
    else:
        said = {number for number, line in lines.items() if line.lstrip().startswith("//")}
    return "\n".join(line for number, line in lines.items() if number not in said and line.strip()).encode()


def sources(root: Path = ROOT) -> dict[str, str]:
    """SHA-256 of the code of each file that CUDA text is made from, by its path below `root`, in the paths' order."""
    folders = ("semiring/cuda", "algorithms/fused/cuda", "algorithms/elimination/cuda")
    written = (path for folder in folders for ending in ("cu", "py") for path in root.glob(f"{folder}/*.{ending}"))
    texts = (root / f"semiring/algebra/{name}.py" for name in ("codegen", "ops", "translation"))
    programs = (path for name in FUSING for path in root.glob(f"semiring/fusing/{name}.py"))
    paths = [*written, *texts, *programs]
    return dict(sorted((path.relative_to(root).as_posix(), sha256(code(path)).hexdigest()) for path in paths))


def combined(files: Mapping[str, str]) -> str:
    """One SHA-256 of all files' names and hashes."""
    return sha256("".join(f"{name} {digest}\n" for name, digest in files.items()).encode()).hexdigest()


def machine() -> dict[str, str]:
    """The GPU that this process uses, and the versions of what runs on it."""
    import numpy as np

    from formats.arrays import cupy

    cp = cupy()
    runtime = cp.cuda.runtime
    return {
        "device": runtime.getDeviceProperties(cp.cuda.Device().id)["name"].decode(),
        "driver": str(runtime.driverGetVersion()),
        "runtime": str(runtime.runtimeGetVersion()),
        "cupy": cp.__version__,
        "numpy": np.__version__,
    }


def counts(stats: Mapping[str, Sequence[Any]]) -> dict[str, int]:
    """passed, failed and skipped, from the statistics of pytest's terminal reporter."""
    kinds = {"passed": ("passed",), "failed": ("failed", "error"), "skipped": ("skipped",)}
    return {name: sum(len(stats.get(kind, ())) for kind in parts) for name, parts in kinds.items()}


def names(stats: Mapping[str, Sequence[Any]], *kinds: str) -> list[str]:
    """The names of the tests of which pytest's statistics have a report of these kinds, kind by kind."""
    return [report.nodeid for kind in kinds for report in stats.get(kind, ())]


def write(
    where: Mapping[str, str], stats: Mapping[str, Sequence[Any]], arguments: Sequence[str], root: Path = ROOT
) -> dict[str, Any]:
    """Record what came of pytest with these arguments on the sources as they are now, beside earlier runs on them.

    A run takes the place of one with the same arguments. What it says of a test counts, not what earlier ones said.
    """
    files = sources(root)
    run = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "arguments": list(arguments),
        **counts(stats),
        "failures": names(stats, "failed", "error"),
        "skips": names(stats, "skipped"),
    }
    ran = {*names(stats, "passed", "failed", "error", "skipped")}
    runs = [earlier for earlier in runs_on(files, root) if earlier["arguments"] != run["arguments"]]
    for earlier in runs:
        for open_yet in ("failures", "skips"):
            earlier[open_yet] = [name for name in earlier[open_yet] if name not in ran]
    record = {**where, "runs": [*runs, run], "hash": combined(files), "files": files}
    (root / RECORD).write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    return record


def runs_on(files: Mapping[str, str], root: Path) -> list[dict[str, Any]]:
    """The runs that the record has of these sources."""
    if not (root / RECORD).exists():
        return []
    record = json.loads((root / RECORD).read_text(encoding="utf-8"))
    return record["runs"] if record["hash"] == combined(files) else []


def check(root: Path = ROOT) -> tuple[int, str]:
    """(exit code, one line): 0 if all passed on the sources as they are now, else 1 and what failed, or has changed."""
    if not (root / RECORD).exists():
        return 1, f"{RECORD} is missing: run python -m tests.gpu_record --run on a machine with a GPU"
    record = json.loads((root / RECORD).read_text(encoding="utf-8"))
    now, then = sources(root), record["files"]
    if combined(now) != record["hash"]:
        changed = sorted(name for name in {*now, *then} if now.get(name) != then.get(name))
        return (
            1,
            f"changed since {RECORD} was written: {', '.join(changed)}; run python -m tests.gpu_record --run on a GPU",
        )
    runs = record["runs"]
    failed, skipped = ([name for run in runs for name in run[kind]] for kind in ("failures", "skips"))
    outcome = f"{sum(run['passed'] for run in runs)} passed, {len(failed)} failed, {len(skipped)} skipped"
    which = "".join(f"; {name} failed" for name in failed)
    line = f"{RECORD} is of these CUDA sources: {outcome} on {record['device']}, {runs[-1]['date']}{which}"
    return int(bool(failed)), line


def command(*more: str) -> list[str]:
    """What runs every test of a GPU that takes no times, a process on each processor; more: arguments of pytest."""
    limits = [f"--timeout={HANGS}", "--timeout-method=thread"] if find_spec("pytest_timeout") else []
    plugins = ["-p", "no:cacheprovider", "-p", "no:benchmark"]  # of which the latter warns of several processes
    options = ["-q", "--require", "cuda", "-m", "gpu", "-n", str(len(os.sched_getaffinity(0))), *plugins, *limits]
    return [sys.executable, "-m", "pytest", *options, *more]


def main(arguments: Sequence[str]) -> int:
    """Run the tests if that is asked, and say what the record says of the sources."""
    if arguments[:1] == ["--run"]:
        subprocess.run(command(*arguments[1:]), cwd=ROOT, check=False)
    elif arguments != ["--check"]:
        sys.exit("usage: python -m tests.gpu_record --check | --run [arguments of pytest]")
    status, line = check()
    print(line)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
