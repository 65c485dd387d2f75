"""Lines of code by folder beside their budgets: `python .ci/lines.py`, which fails where a folder is over its own.

Lines of .py and .cu files count that are neither blank nor comments, docstrings included; in docs those of .md files.
Raise a budget only in a commit that says why, and lower it when lines go.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGES = "formats", "semiring", "algorithms"
BUDGETS = {
    "formats": 11_170,
    "semiring": 22_900,
    "algorithms": 28_690,
    "algorithms/elimination": 3_825,
    "algorithms/fused/cpu": 5_780,
    "algorithms/fused/cuda": 6_850,
    "algorithms/fused/parts": 1_855,
    "bench": 11_090,
    "tests": 36_160,
    "docs": 3_970,
}


def counted(folder: str) -> int:
    """The lines of a folder, without those of results and of pages that are made."""
    endings = {".md"} if folder == "docs" else {".py", ".cu"}
    files = [path for path in (ROOT / folder).rglob("*") if path.suffix in endings]
    kept = (path for path in files if not {"results", "reference"} & {*path.relative_to(ROOT).parts})
    lines = (line.strip() for path in kept for line in path.read_text(encoding="utf-8").split("\n"))
    return sum(bool(line) and not line.startswith(("#", "//")) for line in lines)


if __name__ == "__main__":
    counts = {folder: counted(folder) for folder in BUDGETS}
    for folder, lines in counts.items():
        print(f"{folder:24}{lines:8,} of {BUDGETS[folder]:7,}{'' if lines <= BUDGETS[folder] else '  over'}")
    print(f"{'the three packages':24}{sum(counts[name] for name in PACKAGES):8,}")
    sys.exit(any(lines > BUDGETS[folder] for folder, lines in counts.items()))
