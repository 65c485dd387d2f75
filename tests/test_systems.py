"""Other systems: what POSIX alone has is blocked, and everything that the CPU can is done all the same."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

PROGRAM = """
import sys
sys.path.insert(0, {root!r})
from tests import absent
absent.leave_posix()
{blocked}
import numpy as np
import algorithms, formats, semiring
from algorithms import Graph, betweenness_centrality, bfs, boruvka, core_number, pagerank, scc, sssp
from algorithms.cli import app
from algorithms.data import rome99
from formats import MEMORY, CSC, OutOfHostMemory, from_edges, open_mapped, read, set_memory_limit, write
from formats.memory import host_bytes, resident_bytes
from formats.system import cores, machine
from semiring import MinPlus, mxm, mxv, set_threads

A = read(rome99)
d = sssp(A, 0)
assert (d.max(), d.sum()) == (69102, 116006476), d
assert bfs(A, 0).max() == 84 or bfs(A, 0).max() > 0
assert scc(A).size == A.nrows and boruvka(A, symmetrize=True).nnz == 3352
assert core_number(A, symmetrize=True).max() > 0 and np.isclose(pagerank(A).sum(), 1)
x = np.arange(A.ncols)
for fmt in ("csr", "csc", "coo", "ell"):
    assert (mxv(A.to(fmt), x, MinPlus) == mxv(A, x, MinPlus)).all()
assert mxm(A, A, MinPlus).nnz > A.nnz
set_threads(1)
set_threads(2)
big = np.arange(40_000)
B = from_edges(big, (big * 7) % 40_000, np.ones(40_000))
assert (B @ np.ones(40_000)).sum() == 40_000
for name in ("a.mtx", "a.npz", "a.csv", "a.txt.gz", "folder/"):
    write(name, A)
    write(name, A)
    assert read(name, shape=A.shape).equals(A) if name != "folder/" else open_mapped(name).equals(A), name
with open("roads.csv", "w", encoding="utf-8") as file:
    file.write("from,to,km\nParis,Dijon,315\nDijon,Lyon,195\n")
assert Graph.read("roads.csv", "from", "to", "km").sssp("Paris")["Lyon"] == 510
assert len(cores()) >= 1 and machine() and host_bytes() is None and resident_bytes() == 0
set_memory_limit("1 MB")
try:
    A.to("dense", force=True)
except OutOfHostMemory:
    pass
else:
    raise AssertionError("no limit")
set_memory_limit(None)
app(["sssp", "a.mtx", "--source", "1"], standalone_mode=False)
print("all done", end="")
"""


@pytest.mark.quick
@pytest.mark.parametrize("blocked", ["", "absent.block('graphblas', 'suitesparse_graphblas')"], ids=["all", "without"])
def test_everything_runs_where_posix_is_not(blocked: str, tmp_path: Path) -> None:
    program = PROGRAM.format(root=str(ROOT), blocked=blocked)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], cwd=tmp_path, capture_output=True, text=True, encoding="utf-8"
    )
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
