"""A program that does a little of everything on the CPU: `python -m tests.anywhere graphblas`, in an empty folder.

It runs as on a system without POSIX, and without the packages that are named. tests/test_systems.py starts it.
"""

import sys

import numpy as np  # which on Linux asks Linux for its version

from . import absent

absent.leave_posix()
absent.block(*sys.argv[1:])

from algorithms import Graph, bfs, boruvka, core_number, pagerank, scc, sssp  # noqa: E402
from algorithms.cli.commands import app_of  # noqa: E402
from algorithms.data import rome99  # noqa: E402
from formats import OutOfHostMemory, from_edges, open_mapped, read, set_memory_limit, write  # noqa: E402
from formats.memory import host_bytes, resident_bytes  # noqa: E402
from formats.system import cores, machine  # noqa: E402
from semiring import MinPlus, mxm, mxv, set_threads  # noqa: E402


def check(condition: object) -> None:
    if not condition:
        raise AssertionError


A = read(rome99)
d = sssp(A, 0)
check((d.max(), d.sum()) == (69102, 116006476))
check((bfs(A, 0) >= 0).all())
check(np.unique(scc(A, weak=True)).size == 1)
check(boruvka(A, symmetrize=True).nnz == 3352)
check(core_number(A, symmetrize=True).max() > 0)
check(np.isclose(pagerank(A).sum(), 1))
x = np.arange(A.ncols)
for fmt in ("csr", "csc", "coo", "ell"):
    check((mxv(A.to(fmt), x, MinPlus) == mxv(A, x, MinPlus)).all())
check(mxm(A, A, MinPlus).nnz > A.nnz)
set_threads(1)
set_threads(2)
large = np.arange(40_000)  # so that threads share the work
check((from_edges(large, large * 7 % 40_000, np.ones(40_000)) @ np.ones(40_000)).sum() == 40_000)

for name in ("a.mtx", "a.npz", "a.csv", "a.txt.gz"):
    write(name, A)
    write(name, A)
    check(read(name).nnz == A.nnz)
write("folder/", A)
check(open_mapped("folder/").equals(A))
write("again/", open_mapped("folder/"))
check(read("again/").equals(A))
with open("roads.csv", "w", encoding="utf-8") as file:
    file.write("from,to,km\nParis,Dijon,315\nDijon,Zürich,195\n")
check(Graph.read("roads.csv", "from", "to", "km").sssp("Paris")["Zürich"] == 510)

check(cores())
check(machine())
check(host_bytes() is None)
check(resident_bytes() == 0)
set_memory_limit("100 kB", "cpu")
try:
    A.to("dense", force=True)
except OutOfHostMemory:
    set_memory_limit(None, "cpu")
else:
    raise AssertionError("no limit")

for command in (
    "sssp a.mtx --source 1",
    "info a.mtx",
    "scc roads.csv",
    "mst a.mtx --symmetrize",
    "convert a.mtx b.npz",
    "demo",
):
    app_of()(command.split(), standalone_mode=False)
print("all done", end="")
