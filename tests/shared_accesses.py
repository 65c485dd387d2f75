"""A checker of what threads share: every access of compiled loops to memory, and which of them nothing orders.

While `Watch.watching()` lasts, kernels are compiled with a call beside each load, store and atomic instruction that is
not of a local variable. The call tells which thread touches which bytes, how, and at which line. An atomic operation
takes a lock with its call, so that the calls tell of them in the order in which they are. Each thread has a vector
clock [1]: what an atomic write publishes to the atomic operations that follow at the same place has *happened before*
these, and so has all before a task's begin, and all of a task before the return of who waits for it. Two accesses of
two threads to one place are a race if neither happened before the other, one writes, and not both are atomic. So a race
is found though the two did not meet in time, in most of the orders in which the threads may run.

Not seen is what NumPy and SuiteSparse do, and bytes of a word, but for its first, that others touch whole. Memory that
a kernel frees, and another thread gets again, would be taken for shared.

[1] C. Flanagan, S. N. Freund, FastTrack: efficient and precise dynamic race detection, PLDI 2009.
"""

from __future__ import annotations

import ctypes
import json
import linecache
import random
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from llvmlite import binding as llvm
from llvmlite import ir
from numba.core import cgutils
from numba.core.lowering import Lower

import algorithms as al
import algorithms.elimination.cpu
from algorithms.fused.cpu import bfs, near_far
from formats import CSC, CSR, from_edges
from formats.storage import compressed, sorting
from semiring import PlusTimes, ewise_add, ewise_mult, mxm, reduce, transpose
from semiring.cpu import crew, threads
from semiring.cpu.compiler import jit
from semiring.cpu.pool import Pool, Task

from . import test_races as races
from .test_races import Engine

ROOT = Path(__file__).parent.parent
READ, WRITE, LOOK, UPDATE = range(4)
"""Kinds of accesses: a load and a store, and the atomic operations that only load, and that may store."""
WORD = ir.IntType(64)
SIZES = llvm.create_target_data("e-i64:64-n8:16:32:64-S128")
UNORDERED = "TAKEN"
"""What is in the lines of atomic operations that deal numbers out: that one was taken later orders nothing."""


@dataclass(frozen=True, order=True)
class Site:
    """An instruction that touches memory: where it is written, and its kind."""

    file: str
    function: str
    line: int
    kind: int

    def __str__(self) -> str:
        kind = ("reads", "writes", "looks", "updates")[self.kind]
        return f"{self.file}:{self.line} {self.function} {kind}: {self.text}"

    @property
    def text(self) -> str:
        """The line."""
        return linecache.getline(str(ROOT / self.file), self.line).strip()


@dataclass
class Watch:
    """What has been seen of all threads, with pauses that a seed draws.

    races: pairs of sites whose accesses nothing orders; True if always both wrote the same.  alone: True while there is
    one thread.  busy: which threads worked for each engine.
    """

    pauses: random.Random
    sites: list[Site] = field(default_factory=list)
    races: dict[tuple[Site, Site], bool] = field(default_factory=dict)
    busy: dict[str, set[int]] = field(default_factory=dict)
    engine: str = ""
    clocks: dict[int, dict[int, int]] = field(default_factory=dict)
    published: dict[Any, dict[int, int]] = field(default_factory=dict)
    cells: dict[int, dict[tuple[int, bool, bool], tuple[int, Site, int]]] = field(default_factory=dict)
    kept: list[Any] = field(default_factory=list)
    tasks: list[Task] = field(default_factory=list)
    alone: bool = False
    differing: list[tuple[str, int]] = field(default_factory=list)
    one_at_a_time: Any = field(default_factory=threading.Lock)

    # What happens

    def clock(self) -> dict[int, int]:
        """The clock of the thread that calls."""
        thread = threading.get_ident()
        return self.clocks.setdefault(thread, {thread: 1})

    def publish(self, where: Any) -> None:
        """Have all that the thread did happen before what others do after they hear of it."""
        clock, thread = self.clock(), threading.get_ident()
        raise_to(self.published.setdefault(where, {}), clock)
        clock[thread] += 1

    def hear(self, where: Any) -> None:
        """Have all that was published there happen before what the thread does now."""
        raise_to(self.clock(), self.published.get(where, {}))

    def seen(self, address: int, size: int, number: int, value: int) -> None:
        """Note an access, and the races between it and earlier ones."""
        site, thread, clock = self.sites[number], threading.get_ident(), self.clock()
        atomic, writes = site.kind >= LOOK, site.kind == WRITE or (site.kind == UPDATE and value != 0)
        ordered = atomic and UNORDERED not in site.text
        if not self.alone:
            self.busy.setdefault(self.engine, set()).add(thread)
            if ordered:
                self.hear(address)
            for at in range(address, address + size, 4):
                cell = self.cells.setdefault(at, {})
                for (other, others_atomic, others_writes), (when, earlier, before) in cell.items():
                    if other == thread or clock.get(other, 0) >= when or (atomic and others_atomic):
                        continue
                    if writes or others_writes:
                        pair, same = (min(site, earlier), max(site, earlier)), writes and others_writes
                        self.races[pair] = self.races.get(pair, True) and same and value == before
                cell[thread, atomic, writes] = clock[thread], site, value
            if ordered and writes:
                self.publish(address)
        if atomic:
            self.one_at_a_time.release()
        if not self.alone and (atomic > ordered or self.pauses.random() < 0.02):  # have others take some, too
            time.sleep(1e-3 if atomic > ordered else self.pauses.choice((0, 0, 1e-5, 1e-4)))

    def forget(self) -> None:
        """Begin anew when all tasks have ended: memory may be used again for something else."""
        for task in self.tasks:
            if not task.cancel():
                task.wait()
        self.tasks.clear()
        self.cells.clear()
        self.published.clear()
        self.kept.clear()

    # What tells of it

    @contextmanager
    def watching(self, patch: pytest.MonkeyPatch) -> Iterator[None]:
        """Compile kernels that tell what they touch, and load none that do not."""
        told = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 4)(self.seen)
        begun = ctypes.CFUNCTYPE(None)(lambda: self.one_at_a_time.acquire() and None)
        for name, function in ("seen", told), ("begun", begun):
            llvm.add_symbol(f"semiring_{name}", ctypes.cast(function, ctypes.c_void_p).value)
        patch.setattr(jit.CPU, "find", lambda name: None)
        patch.setattr(jit.CPU, "keep", lambda name, content: None)
        for name in ("SPINS", "YIELDS"):
            patch.setattr(crew, name, 2)
        patch.setattr(crew, "STAYS", 0)  # a helper is begun, and waited for, in every call
        patch.setattr(threads, "Pool", lambda count: Watched(self, count))
        call = jit.Kernel.__call__

        def kept(kernel: Any, *arguments: Any) -> Any:
            self.kept.append(arguments)
            return call(kernel, *arguments)

        patch.setattr(jit.Kernel, "__call__", kept)
        self._instrument(patch)
        interval = sys.getswitchinterval()
        sys.setswitchinterval(1000)  # so that `seen` is one step
        try:
            yield
        finally:
            sys.setswitchinterval(interval)

    def _instrument(self, patch: pytest.MonkeyPatch) -> None:
        lowering: list[tuple[Any, Any]] = []
        lower_inst = Lower.lower_inst

        def lowered(self: Any, inst: Any) -> None:
            lowering.append((inst.loc, self.func_ir.func_id.func_qualname.replace(".<locals>", "")))
            try:
                lower_inst(self, inst)
            finally:
                lowering.pop()

        def tell(builder: Any, kind: int, pointer: Any, size: Any, value: Any) -> None:
            location, function = lowering[-1]
            path = Path(location.filename)
            file = str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)
            self.sites.append(Site(file, function, location.line, kind))
            at, number = builder.ptrtoint(pointer, WORD), WORD(len(self.sites) - 1)
            call(builder, function_of(builder, "semiring_seen", 4), [at, size, number, value])

        def wrap(name: str, kind: int, pointer: int) -> Callable[..., Any]:
            """The builder's method, with calls. A value is told of stores, 0 of what was not exchanged, 1 of others."""
            emit = getattr(ir.IRBuilder, name)

            def emitted(builder: Any, *args: Any, **options: Any) -> Any:
                at = args[pointer]
                if not lowering or is_local(at):
                    return emit(builder, *args, **options)
                if kind >= LOOK:
                    call(builder, function_of(builder, "semiring_begun", 0), [])
                result = emit(builder, *args, **options)
                value = bits(builder, args[0]) if kind == WRITE else WORD(1)
                if name == "cmpxchg":
                    value = bits(builder, builder.extract_value(result, 1))
                tell(builder, kind, at, WORD(at.type.pointee.get_abi_size(SIZES)), value)
                return result

            return emitted

        def called(builder: Any, function: Any, args: Any, *rest: Any, **options: Any) -> Any:
            name = getattr(function, "name", "")
            if lowering and name.startswith(("llvm.memset", "llvm.memcpy", "llvm.memmove")) and not is_local(args[0]):
                size = args[2] if args[2].type == WORD else builder.zext(args[2], WORD)
                tell(builder, WRITE, args[0], size, bits(builder, args[1]) if "set" in name else WORD(0))
                if "set" not in name:
                    tell(builder, READ, args[1], size, WORD(0))
            return call(builder, function, args, *rest, **options)

        call = ir.IRBuilder.call
        patch.setattr(Lower, "lower_inst", lowered)
        patch.setattr(ir.IRBuilder, "call", called)
        for name, kind, pointer in INSTRUCTIONS:
            patch.setattr(ir.IRBuilder, name, wrap(name, kind, pointer))


LOADS, STORES = (("load", READ, 0), ("load_atomic", LOOK, 0)), (("store", WRITE, 1), ("store_atomic", UPDATE, 1))
INSTRUCTIONS = *LOADS, *STORES, ("cmpxchg", UPDATE, 0), ("atomic_rmw", UPDATE, 1)
"""Methods of a builder, the kinds of accesses, and which argument is the pointer."""


def raise_to(clock: dict[int, int], other: dict[int, int]) -> None:
    """Raise a clock's numbers to at least those of another one."""
    for thread, when in other.items():
        if clock.get(thread, 0) < when:
            clock[thread] = when


def function_of(builder: Any, name: str, words: int) -> Any:
    """A function of ours that takes so many words, for compiled code."""
    return cgutils.get_or_insert_function(builder.module, ir.FunctionType(ir.VoidType(), [WORD] * words), name)


def is_local(pointer: Any) -> bool:
    """True if a pointer is to a variable of the function's, or one that the compiler put there."""
    while isinstance(pointer, ir.GEPInstr | ir.CastInstr):
        pointer = pointer.operands[0]
    return isinstance(pointer, ir.AllocaInstr | ir.GlobalVariable | ir.Argument | ir.Constant)


def bits(builder: Any, value: Any) -> Any:
    """A number's bits as a word; 0 for vectors."""
    if isinstance(value.type, ir.FloatType | ir.DoubleType):
        value = builder.bitcast(value, ir.IntType(32 if isinstance(value.type, ir.FloatType) else 64))
    if isinstance(value.type, ir.IntType) and value.type.width <= 64:
        return value if value.type == WORD else builder.zext(value, WORD)
    return WORD(0)


class Watched(Pool):
    """A pool whose tasks are ordered with those who hand them out and wait for them."""

    def __init__(self, watch: Watch, count: int) -> None:
        super().__init__(count)
        self.watch = watch

    def submit(self, work: Callable[[], object]) -> Task:
        watch, begin, end = self.watch, object(), object()
        watch.kept.append((work, begin, end))
        watch.publish(begin)

        def ordered() -> None:
            watch.hear(begin)
            try:
                work()
            finally:
                watch.publish(end)

        task = super().submit(ordered)
        wait = task.wait

        def waited() -> None:
            wait()
            watch.hear(end)

        task.wait = waited  # type: ignore[method-assign]
        watch.tasks.append(task)
        return task


# --- engines ----------------------------------------------------------------------------------------------------------


def small_levels(A: CSR, some: list[int]) -> Any:
    """A search whose levels are small, which threads share without bitmaps."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bfs, "LARGE_EDGES", A.nnz + 1)
        return al.bfs(A, some[0], return_parents=True, direction="push")


def full_lists(A: CSR, some: list[int]) -> Any:
    """A search from hubs that each improve the same vertices: its far lists fill up with what is out of date."""
    hubs, far, near = np.split(np.arange(1, FULL), (41, 741))
    src = np.concatenate((np.zeros(hubs.size + far.size, int), np.repeat(hubs, near.size)))
    weights = 10 + hubs / 100, np.full(far.size, 1e6), np.repeat(9000.0 - 100 * hubs, near.size)
    made = src, np.concatenate((hubs, far, np.tile(near, hubs.size))), np.concatenate(weights).astype(np.float32)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(near_far, "room_for", lambda n: 2 * n)
        return al.delta_stepping(from_edges(*made, shape=FULL), 0, delta=5.0)


def rows_of_edges(A: CSR, some: list[int]) -> Any:
    """The rows of A, sorted anew from its entries in another order."""
    rows, columns, values = A.to_edges()
    return sorting.sorted_by_rows(rows[::-1], columns[::-1], values[::-1], A.shape)


def factored(A: CSR, some: list[int]) -> Any:
    """Answers of the factor of some of A's entries."""
    rows, columns, values = A.to_edges()
    found = al.factor(from_edges(rows % FACTORED, columns % FACTORED, values, shape=FACTORED, dup="min"))
    few = [v % FACTORED for v in some]
    return found.solve(few[0], return_parents=True), found.distances(few, few[::-1]), found.nearest(few[:3])


ENGINES: dict[str, Engine] = races.ENGINES | {
    "bfs, small levels": small_levels,
    "sssp, full lists": full_lists,
    "clustering": lambda A, some: al.clustering(A, symmetrize=True),
    "columns": lambda A, some: A.to(CSC),
    "sorting": rows_of_edges,
    "factor": factored,
    "masked mxm": lambda A, some: mxm(A, A, PlusTimes, mask=A),
    "dense mxm": lambda A, some: mxm(A, np.ones((A.ncols, 5), A.dtype), races.OWN),
    "elementwise": lambda A, some: (ewise_add(A, transpose(A), "min"), ewise_mult(A, transpose(A), "plus")),
    "reduce": lambda A, some: (reduce(A, "plus", axis=1), reduce(A, "min", axis=1, return_argument=True)),
}
FACTORED, FULL = 40, 1042
"""Vertices of a graph that is factored, and of one that fills lists."""
GRAINS = re.compile(r"(\w+_AT_A_TIME|MIN_PIECE_WORDS|(MIN_VERTICES|EDGES)_PER_THREAD)")
BLOCKS = {compressed: ("MIN_NNZ_FOR_BLOCKS", "MIN_NNZ_FOR_PIECES", "NNZ_PER_BLOCK"), sorting: ("ENTRIES_PER_PART",)}
"""Numbers of the storage's modules below which threads do not sort."""

LOST = "Where a bit is lost, or seen late or early, an edge is joined for nothing, which changes no tree."
HARMLESS = {
    "An atomic operation looks again before anything is written.": """
        bfs.py: before = parent[v]
        bfs.py: if parent.size and not seen[word] & bit and np.uint64(parent[v]) > np.uint64(u):
        contraction.py: old, weight = best[tree], weights[e]
        forest.py: old = best[tree]
        relaxation.py: now = d[j]
        relaxation.py: if better_than(t, d[j]):
        trees.py: elif me < parent[j]:""",
    "Who sees an older distance has an entry for nothing: the better distance has one of its own.": """
        relaxation.py: if d[vertices[i]] == distances[i]:
        shared_relaxation.py: if d[v] != x:
        shared_relaxation.py: if d[np.uintp(v)] != x:""",
    "A vertex points into its tree, now as before; `exchanged` sees whether a root still is one.": """
        components.py: a, b = f[u], f[v]
        components.py: above = f[high]
        components.py: a, b = f[np.uintp(f[high])], f[low]
        components.py: while f[np.uintp(root)] != root:
        components.py: root = f[np.uintp(root)]
        components.py: f[v] = root""",
    LOST: """
        components.py: rows = inside[word]
        components.py: every &= inside[v >> six] >> np.uint64(v & low)
        components.py: if rows >> np.uint64(u & low) & ~(inside[v >> six] >> np.uint64(v & low)) & np.uint64(1):
        components.py: inside[v >> six] |= np.uint64(1) << np.uint64(v & low)""",
    "A word's bits are only set, or only cleared, by one thread; who sees one late finds it in the next sweep.": """
        reach.py: found |= known[v >> six] >> np.uint64(v & low)
        reach.py: known[word] |= new
        reach.py: known[word] |= bit * (found & np.uint64(1))
        reach.py: found = left[v >> six] >> np.uint64(v & low) & np.uint64(v != u)
        reach.py: left[word] ^= bit""",
    "All write the same level; who sees it late lists the vertex twice.": """
        bfs.py: before = level[v]
        bfs.py: level[v] = after""",
    "A tree's best vertex is forgotten by that vertex alone; another one finds neither it nor -1 to be itself.": """
        forest.py: found += best[np.uintp(f[np.uintp(active[at])])] == active[at]
        forest.py: if best[tree] == active[at]:
        forest.py: choosers[to], best[tree] = active[at], -1""",
    "Who sees an older number takes one away for nothing, and adds it again.": """
        cores.py: if left[u] > k:""",
    "All write True.": """
        label_propagation.py: changed[0] = True""",
}
"""Why races do no harm, and the plain accesses in them, by file and line."""


def named(site: Site) -> str:
    """An access as the list has it."""
    return f"{Path(site.file).name}: {site.text}"


def is_harmless(race: tuple[Site, Site], same: bool) -> bool:
    """True if the list has all plain accesses of a race. Two that write must write the same, or lose bits."""
    listed = {line.strip(): why for why, lines in HARMLESS.items() for line in lines.split("\n")}
    reasons = [listed.get(named(site)) for site in race if site.kind < LOOK]
    return None not in reasons and (same or any(site.kind != WRITE for site in race) or reasons == [LOST, LOST])


def checked(names: list[str], count: int, seeds: range, patch: pytest.MonkeyPatch) -> Watch:
    """Run engines by so many threads on random graphs, and watch them; note answers with other bits than by one."""
    patch.setattr(races, "PACKAGES", (*races.PACKAGES, algorithms.elimination.cpu))
    for module, name in races.thresholds():
        patch.setattr(module, name, 1)
    patch.setattr(races, "THRESHOLDS", GRAINS)
    for module, name in races.thresholds():
        patch.setattr(module, name, min(getattr(module, name), 64 if name.startswith("VERTICES") else 2))
    for module, constants in BLOCKS.items():
        for name in constants:
            patch.setattr(module, name, 100)
    watch = Watch(random.Random(seeds[0]))
    with watch.watching(patch):
        for watch.engine in names:
            for seed in seeds:
                A, some = races.graph(seed)
                found = []
                for watch.alone in (False, True):
                    with threads.threads(1 if watch.alone else count):
                        found.append(races.bits(ENGINES[watch.engine](races.new(A), some)))
                    watch.forget()
                if found[0] != found[1]:
                    watch.differing.append((watch.engine, seed))
    return watch


def main(names: list[str], count: int, seeds: range) -> None:
    """Print what came of `checked`. It has a thread of its own, for long calls of the main thread another one makes."""
    made: list[Watch] = []
    thread = threading.Thread(target=lambda: made.append(checked(names, count, seeds, pytest.MonkeyPatch())))
    thread.start()
    thread.join()
    (watch,) = made
    harmless = {race for race, same in watch.races.items() if is_harmless(race, same)}
    told = {
        "races": [f"{a} | {b}" for a, b in sorted(watch.races.keys() - harmless)],
        "harmless": sorted({named(site) for race in harmless for site in race if site.kind < LOOK}),
        "idle": [name for name in names if len(watch.busy[name]) == 1],
        "differing": watch.differing,
    }
    print(json.dumps(told))


if __name__ == "__main__":
    main(sys.argv[3:] or list(ENGINES), int(sys.argv[1]), range(*map(int, sys.argv[2].split(":"))))
