"""The trace of what algorithms do, round by round."""

from __future__ import annotations

import csv
import importlib
import json

import numpy as np
import pytest

from algorithms import bellman_ford, delta_stepping, dijkstra, trace
from bench.laboratory import da2cf_by
from formats import from_edges

from .graphs import every_format

#  0 -1-> 1 -1-> 2 -1-> 3,  0 -9-> 3,  and 4 by itself
A = from_edges([0, 1, 2, 0], [1, 2, 3, 3], [1, 1, 1, 9], shape=5)


def columns(t, *names):
    return [tuple(getattr(row, name) for name in names) for row in t.rounds]


@every_format
def test_rounds_tell_frontier_edges_and_minimum(verb, fmt, backend):
    M = A.to(fmt, device=backend)
    with trace() as t:
        bellman_ford(M, 0)
    assert columns(t, "iteration", "frontier", "edges", "direction") == [
        *[(1, 1, 2, "push"), (2, 2, 1, "push"), (3, 1, 1, "push"), (4, 1, 0, "push")]
    ]
    with trace() as t:
        dijkstra(M, 0)
    assert columns(t, "frontier", "edges", "minimum") == [(1, 2, 0), (1, 1, 1), (1, 1, 2), (1, 0, 3)]
    with trace() as t:
        da2cf_by(M, 0, relax="pull")
    assert columns(t, "edges", "minimum", "direction") == [
        (4, 0, "pull"),
        (3, 1, "pull"),
        (2, 2, "pull"),
        (0, 3, "pull"),
    ]
    with trace() as t:
        delta_stepping(M, 0, delta=2)
    assert columns(t, "frontier", "minimum", "bucket") == [(1, 0, 0), (1, 0, 0), (1, 0, 0), (1, 3, 1)]
    assert all(row.seconds > 0 for row in t.rounds)


def test_calls_are_told_apart_and_nothing_is_recorded_outside():
    bellman_ford(A, 0)
    with trace() as t:
        bellman_ford(A, sources=[1, 4])
        dijkstra(A, 3)
    bellman_ford(A, 0)
    assert columns(t, "algorithm", "run", "iteration") == [
        *[("bellman_ford", 0, 1), ("bellman_ford", 0, 2), ("bellman_ford", 0, 3)],
        ("bellman_ford", 1, 1),
        ("dijkstra", 2, 1),
    ]


def test_a_trace_within_a_trace_takes_its_own_rounds():
    with trace() as outer:
        with trace() as inner:
            dijkstra(A, 3)
        dijkstra(A, 4)
    assert (len(inner.rounds), len(outer.rounds)) == (1, 1)


def test_a_frame_and_a_plot():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    with trace() as t:
        delta_stepping(A, 0)
    frame = t.to_frame()
    assert len(frame) == len(t.rounds)
    assert frame["frontier"].tolist() == [row.frontier for row in t.rounds]
    axes = t.plot()
    assert [line.get_label() for line in axes.get_lines()] == ["vertices in the frontier", "edges relaxed"]
    assert axes.get_lines()[0].get_ydata().tolist() == [row.frontier for row in t.rounds]
    with trace() as nothing:
        pass
    assert list(nothing.to_frame().columns)[:2] == ["algorithm", "run"]


def test_a_trace_is_saved(tmp_path):
    with trace() as t:
        dijkstra(A, 0)
    t.save(tmp_path / "rounds.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "rounds.jsonl").read_text().splitlines()]
    assert [line["minimum"] for line in lines] == [0, 1, 2, 3]
    t.save(tmp_path / "rounds.csv")
    with (tmp_path / "rounds.csv").open(newline="") as stream:
        assert [row["edges"] for row in csv.DictReader(stream)] == ["2", "1", "1", "0"]
    with pytest.raises(ValueError, match=r"saved as .jsonl or .csv, got 'rounds.txt'"):
        t.save(tmp_path / "rounds.txt")
    with pytest.raises(ValueError, match="lies in a folder that does not exist"):
        t.save(tmp_path / "nowhere" / "rounds.csv")


def test_nothing_is_counted_without_a_trace(monkeypatch):
    """What a trace needs is computed only for one: costs nothing when off."""
    monkeypatch.setattr(importlib.import_module("algorithms.shared.trace"), "degrees", None)
    assert dijkstra(A, 0).tolist()[:4] == [0, 1, 2, 3]
    assert np.array_equal(bellman_ford(A, 0), dijkstra(A, 0))
