"""Runs breadth-first search on strips of rows on several GPUs: one kernel on each (`strips_search.cu`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from algorithms.shared.traversal import Direction
from formats import CSR
from formats.arrays import brought, cupy
from formats.parts.partitioned import Partitioned
from formats.storage.orientation import by_columns, compressed
from semiring.algebra.codegen import types_of
from semiring.verbs.explanation import details
from semiring.verbs.registry import Declined

from ..cuda import kernels
from ..cuda.graphs import CHOICES, rows_of, searched
from ..cuda.layouts import StripSearch
from ..cuda.paths import as_vertices
from .gpus import Member, Team, rows_with_entries, team_of
from .many_sources import alone

MAX_STEPS, BYTE_LEVELS = 1 << 62, 120
"""Steps of a search, and those whose levels fit a byte."""


def levels(A: Partitioned, source: int, how: Direction, deepest: int | None, return_parents: bool = False) -> Any:
    """Returns levels (n,) on the first GPU, -1 where the source does not lead, and parents or None."""
    rows: Any = compressed(A, 0)
    team = team_of(rows)
    if isinstance(team, Declined):
        return team
    if (whole := alone(rows, team)) is not None:
        with team.home.scope():
            return searched(whole, source, None, how, deepest, return_parents)
    how, n = how.for_matrix(rows), rows.nrows
    pulls = how.choice != "push" or return_parents
    columns = team_of(by_columns(rows).T) if pulls else None  # type: ignore[arg-type]
    if isinstance(columns, Declined):
        return columns
    words = -(-n // 32)

    def vectors(member: Member) -> tuple[Any, ...]:
        cp, index = cupy(), member.rows.indptr.dtype
        lists = [cp.empty(max(member.own, 1), index) for _ in range(2)]
        return cp.empty(StripSearch.words, np.uint64), cp.empty(member.own, np.int8), lists

    controls, levels_found, lists = zip(*team.each(vectors), strict=True)
    found = list(levels_found)
    bits, tables = team.shared(*[(words, np.uint32)] * 4)
    ks = team.each(lambda member: kernels.pattern("strips_search", types_of(member.rows)))
    arguments = []
    rule = np.float64(how.alpha), np.float64(how.beta), np.int32(-1 if deepest is None else deepest)
    choice = np.int32(CHOICES[how.choice])
    for here, member in enumerate(team.members):
        with member.place.scope():
            control, level, place = controls[here], found[here], (np.int64(member.first), np.int64(member.own))
            state = np.int64(source), level, *(each[here] for each in bits)
            ks[here].plain("start_strip", n, (control, np.int64(n), np.int64(A.nnz), *place, *state))
            turned = (kernels.NULL,) * 3 if columns is None else _columns(member, columns.members[here].rows)
            graph = *rows_of(member.rows), *turned, np.int64(n), *place
            who = tables[here], np.int32(team.count), np.int32(member.number)
            arguments.append(((control, *who, *graph), (*lists[here], choice, *rule)))

    def run(kind: str, most: int) -> list[Any]:
        ks = team.each(lambda member: kernels.pattern(kind, types_of(member.rows)))
        given = [(*before, level, *behind) for (before, behind), level in zip(arguments, found, strict=True)]
        return team.run("strips_search", ks, given, list(controls), most)

    states = run("strips_search", BYTE_LEVELS)
    if not states[0][0] >> np.uint64(32):
        narrow = {member.number: level for member, level in zip(team.members, found, strict=True)}
        found = team.each(lambda member: narrow[member.number].astype(np.int32))
        states = run("strips_deeper", MAX_STEPS)
    told = [StripSearch.read(state, "steps", "pulls", "looked_at") for state in states]
    pushed = [each["looked_at"] for each in told]
    details(kernel="strips_search", gpus=team.count, direction=how.choice, edges=sum(pushed), busiest=max(pushed))
    details(levels=told[0]["steps"], pulled=told[0]["pulls"])
    level = widened(team, ks[0], found) if found[0].dtype == np.int8 else team.whole("levels, whole", found)
    with team.home.scope():
        return level, as_vertices(parents(team, columns, level)) if columns is not None and return_parents else None


def widened(team: Team, k: kernels.Kernels, own: list[Any]) -> Any:
    """Returns all levels as integers, on the first GPU of each process, which reads them where they are."""
    if team.group.size > 1:
        narrow = team.whole("levels, whole", own)
        with team.home.scope():
            return narrow.astype(np.int32)
    with team.home.scope():
        level = cupy().empty(team.n, np.int32)
        for part, member in zip(own, team.members, strict=True):
            k.plain("widen", -(-member.own // 4), (np.int64(member.own), part, level[member.range]))
        read = cupy().cuda.Event(disable_timing=True)
        read.record(cupy().cuda.get_current_stream())
    team.each(lambda _: cupy().cuda.get_current_stream().wait_event(read))  # then its memory may be another's
    return level


def parents(team: Team, columns: Team, level: Any) -> Any:
    """Returns each vertex's smallest predecessor a level nearer, by the columns of each GPU."""

    def own(member: Member) -> Any:
        there, parent = brought(level, member.place), cupy().empty(member.own, member.rows.indptr.dtype)
        k = kernels.pattern("parents", types_of(member.rows))
        graph = *rows_of(member.rows), np.int64(member.own)
        k.plain("parents_pulled", member.own, (*graph, there[member.range], there, parent))
        return parent

    return team.whole("parents, whole", columns.each(own))


def _columns(member: Member, turned: CSR) -> tuple[Any, ...]:
    """Returns the strip's columns with indices of its rows' types, and which have entries."""
    both = zip(rows_of(turned), rows_of(member.rows), strict=True)
    arrays = (mine.astype(its.dtype, copy=False) for mine, its in both)
    return *arrays, rows_with_entries(turned)
