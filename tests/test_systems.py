"""Other systems: what POSIX alone has is blocked, and everything that the CPU can is done all the same."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import writable

ROOT = Path(__file__).parent.parent


@pytest.mark.quick
@pytest.mark.parametrize("missing", [[], ["graphblas", "suitesparse_graphblas"]], ids=["all", "without GraphBLAS"])
def test_everything_runs_where_posix_is_not(missing: list[str], tmp_path: Path) -> None:
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "cp1252"} | writable(tmp_path)
    command = [sys.executable, "-W", "error", "-m", "tests.anywhere", *missing]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, encoding="cp1252")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("all done")


NAMES = re.compile(
    r"\bresource\b(?=\.get|$)|geteuid|getuid|O_NOFOLLOW|O_DIRECTORY|O_NONBLOCK|dir_fd|sched_|os\.uname|os\.fork|sysconf"
    r"|register_at_fork|pthread_kill|SIGALRM|SIGKILL|fcntl|termios|import pwd"
)


def test_one_module_names_what_only_posix_has() -> None:
    sources = [path for package in ("formats", "semiring", "algorithms") for path in (ROOT / package).rglob("*.py")]
    found = {
        str(path.relative_to(ROOT)) for path in sources if NAMES.search(re.sub(r"#.*", "", path.read_text("utf-8")))
    }
    assert found == {str(Path("formats/system.py"))}
