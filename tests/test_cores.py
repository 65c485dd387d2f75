"""How many cores this process may keep busy, and that as many threads are at work: ours and SuiteSparse's."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from formats import from_edges, memory, system
from formats.hooks import CORES
from formats.parts.group import Group
from semiring import PlusTimes, get_threads, mxv, set_threads
from semiring.cpu import threads

from .test_parts import launcher, needs_mpi, started

pytestmark = pytest.mark.quick

CORES_HERE = frozenset(range(64))
"""Of a machine that these tests make up."""

MakeGroups = Callable[..., None]


@pytest.fixture
def groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MakeGroups:
    """groups(membership, {file: content}): a machine of 64 cores with these control groups."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: CORES_HERE, raising=False)
    monkeypatch.setattr(system, "MEMBERSHIP", tmp_path / "cgroup")
    monkeypatch.setattr(system, "CONTROL_GROUPS", tmp_path / "fs")
    memory._control_groups.cache_clear()
    monkeypatch.setattr(memory, "_control_groups", memory._control_groups.__wrapped__)

    def make(membership: str, files: dict[str, str]) -> None:
        (tmp_path / "cgroup").write_text(membership, encoding="utf-8")
        for name, content in files.items():
            file = tmp_path / "fs" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content, encoding="ascii")

    return make


V1 = "12:cpuset:/a\n4:cpu,cpuacct:/a/b\n3:memory:/a/b\n1:name=systemd:/a\n0::/\n"
QUOTAS: dict[str, tuple[str, dict[str, str], int]] = {
    "no quota": ("0::/a\n", {"a/cpu.max": "max 100000\n"}, 64),
    "version 2": ("0::/a\n", {"a/cpu.max": "400000 100000\n"}, 4),
    "part of a core counts as one": ("0::/a\n", {"a/cpu.max": "250000 100000\n"}, 3),
    "less than a core": ("0::/a\n", {"a/cpu.max": "1000 100000\n"}, 1),
    "more than there are": ("0::/a\n", {"a/cpu.max": "10000000 100000\n"}, 64),
    "the least of nested ones": (
        "0::/pods/one/it\n",
        {"pods/cpu.max": "800000 100000", "pods/one/cpu.max": "100000 50000", "pods/one/it/cpu.max": "max 100000"},
        2,
    ),
    "a container sees its own as the root": ("0::/docker/3f\n", {"cpu.max": "600000 100000\n"}, 6),
    "another's": ("0::/a\n", {"cpu.max": "max 100000\n", "b/cpu.max": "100000 100000\n"}, 64),
    "version 1": (V1, {"cpu,cpuacct/a/b/cpu.cfs_quota_us": "300000", "cpu,cpuacct/a/b/cpu.cfs_period_us": "100000"}, 3),
    "version 1, nested": (
        V1,
        {
            "cpu,cpuacct/a/cpu.cfs_quota_us": "50000\n",
            "cpu,cpuacct/a/cpu.cfs_period_us": "10000\n",
            "cpu,cpuacct/a/b/cpu.cfs_quota_us": "-1\n",
            "cpu,cpuacct/a/b/cpu.cfs_period_us": "100000\n",
        },
        5,
    ),
    "what nobody understands": ("0::/a\n", {"a/cpu.max": "\n"}, 64),
    "no files": ("0::/a\n", {}, 64),
}


@pytest.mark.parametrize("name", QUOTAS)
def test_quotas_of_control_groups_limit_the_cores(name: str, groups: MakeGroups) -> None:
    membership, files, expected = QUOTAS[name]
    groups(membership, files)
    assert system.core_count() == expected


def test_affinity_limits_the_cores(groups: MakeGroups, monkeypatch: pytest.MonkeyPatch) -> None:
    groups("0::/a\n", {"a/cpu.max": "400000 100000\n"})
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {3, 5})
    assert (system.cores(), system.core_count()) == ({3, 5}, 2)


def test_limits_of_memory_are_found_in_the_same_groups(groups: MakeGroups) -> None:
    groups(V1, {f"memory/a/memory.{name}": "4096\n" for name in ("limit_in_bytes", "usage_in_bytes")})
    assert [limit.read_text() for limit, _, _ in memory._control_groups()] == ["4096\n"]
    groups("0::/a/b\n", {"a/memory.max": "8192\n", "a/b/memory.max": "max\n"})
    assert [limit.read_text() for limit, _, _ in memory._control_groups()] == ["8192\n"]


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system has no affinity")
def test_a_process_begins_with_as_many_threads_as_cores() -> None:
    one = "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})"
    told = f"{one}; import semiring; print(semiring.get_threads())"
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, cwd=Path(__file__).parents[1])
    assert (done.stdout, done.stderr) == ("1\n", "")


# --- threads ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 2, 5])
def test_as_many_threads_as_are_set_work_at_once(count: int) -> None:
    """Each piece waits until as many are begun, and none begins while these wait."""
    meeting, lock, most = threading.Barrier(count, timeout=20), threading.Lock(), [0, 0]

    def work(*piece: int) -> None:
        with lock:
            most[0] += 1
            most[1] = max(most)
        meeting.wait()
        with lock:
            most[0] -= 1

    with threads.threads(count):
        threads.run(work, [(k, k + 1) for k in range(3 * count)])
        assert most == [0, count]
        meeting.reset()
        threads.share(work, count)
    assert most == [0, count]


def test_suitesparse_has_as_many(gb: ModuleType) -> None:
    before, A = get_threads(), from_edges(np.arange(99), np.arange(99), np.ones(99))
    try:
        mxv(A, np.ones(99), PlusTimes)  # begins it
        for count in (3, 1, before):
            set_threads(count)
            assert gb.ss.config["nthreads"] == count
        with threads.threads(2):
            assert gb.ss.config["nthreads"] == 2
        assert gb.ss.config["nthreads"] == before
    finally:
        set_threads(before)


# --- processes that share a machine -----------------------------------------------------------------------------------

EVERYWHERE, FIRST, LAST = CORES_HERE, frozenset(range(8)), frozenset(range(56, 64))
Process = tuple[str, frozenset[int]]


@pytest.mark.parametrize(
    ("quota", "others", "own", "expected"),
    [
        ("max", [], EVERYWHERE, 64),
        ("max", [("here", EVERYWHERE)] * 3, EVERYWHERE, 16),
        ("max", [("here", EVERYWHERE), ("elsewhere", EVERYWHERE)], EVERYWHERE, 32),
        ("max", [("here", LAST)] * 3, FIRST, 8),
        ("max", [("here", FIRST), ("here", LAST)], FIRST, 4),
        ("max", [("here", EVERYWHERE)] * 99, EVERYWHERE, 1),
        ("1200000", [("here", EVERYWHERE)] * 3, EVERYWHERE, 3),
    ],
)
def test_processes_share_the_cores_of_a_machine(
    quota: str,
    others: list[Process],
    own: frozenset[int],
    expected: int,
    groups: MakeGroups,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    groups("0::/\n", {"cpu.max": f"{quota} 100000\n"})
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: own)
    monkeypatch.setattr("formats.parts.group.machine", lambda: "here")
    processes = [("here", 1, own), *((node, 2 + k, cores) for k, (node, cores) in enumerate(others))]
    group: Any = Group()
    group.told = lambda what, mine: processes
    for name, value in (("_count", 64), ("_asked", False), ("_pool", None)):
        monkeypatch.setattr(threads, name, value)
    monkeypatch.setattr(CORES, "_answer", threads.share_cores)
    monkeypatch.setattr(threads, "configure_graphblas", lambda: None)
    group._share_cores()
    assert get_threads() == expected


def test_a_number_that_has_been_set_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    with threads.threads(7):
        threads.share_cores(2)
        assert get_threads() == 7


SHARES = (
    "from mpi4py import MPI; import semiring, formats; from formats.parts.group import Group; g = Group(MPI.COMM_WORLD)"
)


@needs_mpi
@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_processes_of_mpi_take_their_shares(ranks: int, tmp_path: Path) -> None:
    assert launcher()
    done = started(ranks, "-c", f"{SHARES}; print(semiring.get_threads())", folder=tmp_path)
    own = str(max(1, system.core_count() // ranks))
    assert ("".join(done.stdout.split()), done.stderr) == (own * ranks, "")  # their lines may be mixed
