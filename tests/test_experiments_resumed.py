"""An experiment that was interrupted goes on where it stopped, and no row of it is lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from bench import experiment as harness
from bench.commands import command_of
from bench.experiment import Experiment, Row, Setting, load, perform
from bench.experiments import martin

GRAPHS = ("a", "b", "c", "d")
KNOWN = {"date": "2026-01-01", "machine": "a processor", "cores": 4, "commit": "first"}
NAME = "staged-a-processor"

Stage = Callable[..., Experiment]


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What `machine` says, to be changed by a test."""
    known: dict[str, Any] = dict(KNOWN)
    monkeypatch.setattr(harness, "machine", lambda device: dict(known))
    return known


@pytest.fixture
def measured() -> list[str]:
    """The graphs that were measured, in turn."""
    return []


@pytest.fixture
def staged(measured: list[str]) -> Stage:
    """staged(stop=("c", 1)): an experiment of four graphs and two contenders, interrupted before a row."""

    def make(stop: tuple[str, int] | None = None, absent: tuple[str, ...] = ()) -> Experiment:
        def rows(setting: Setting) -> Iterator[Row]:
            for graph in GRAPHS:
                if not setting.wants(graph):
                    continue
                if kept := setting.kept_rows(graph):
                    yield from kept
                    continue
                measured.append(graph)
                for k, contender in enumerate(("one", "two")):
                    if (graph, k) == stop:
                        raise KeyboardInterrupt
                    figures = {"missing": "no file"} if graph in absent else {"ms": 1.5, "verified": True}
                    yield {"graph": graph, "n": 1, "nnz": 0, "contender": contender} | figures

        return Experiment(
            "staged", "Staged", "nobody", "", rows, ("graph", "contender", "ms"), lambda rows: None, by_graph=True
        )

    return make


def interrupted(experiment: Experiment, folder: Path) -> Path:
    """The file that its interruption leaves."""
    with pytest.raises(KeyboardInterrupt, match=r"partial\.jsonl has what was measured, and .* --resume goes on"):
        perform(experiment, Setting(), folder)
    return folder / f"{NAME}.partial.jsonl"


def graphs(rows: list[Row]) -> list[str]:
    return [row["graph"] for row in rows]


def test_a_resumed_run_measures_the_rest_alone_and_has_the_rows_of_a_whole_one(
    staged: Stage, measured: list[str], here: dict[str, Any], tmp_path: Path
) -> None:
    whole = perform(staged(), Setting(), tmp_path / "whole")
    measured.clear()
    partial = interrupted(staged(stop=("c", 1)), tmp_path)
    assert graphs(load(partial)) == ["a", "a", "b", "b", "c"]
    assert measured == ["a", "b", "c"]
    measured.clear()
    here |= {"date": "2026-01-02", "commit": "second"}
    rows = perform(staged(), Setting(), tmp_path, resume=True)
    assert measured == ["c", "d"]
    own = {"date", "commit"}
    assert [{k: v for k, v in row.items() if k not in own} for row in rows] == [
        {k: v for k, v in row.items() if k not in own} for row in whole
    ]
    assert [(row["graph"], row["date"], row["commit"]) for row in rows[1::2]] == [
        ("a", "2026-01-01", "first"),
        ("b", "2026-01-01", "first"),
        ("c", "2026-01-02", "second"),
        ("d", "2026-01-02", "second"),
    ]
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == [f"{NAME}.jsonl"]
    assert load(tmp_path / f"{NAME}.jsonl") == rows


def test_the_last_graph_is_measured_again_even_if_all_its_rows_seem_to_be_there(
    staged: Stage, measured: list[str], tmp_path: Path
) -> None:
    interrupted(staged(stop=("c", 0)), tmp_path)
    measured.clear()
    perform(staged(), Setting(), tmp_path, resume=True)
    assert measured == ["b", "c", "d"]


def test_a_run_that_is_interrupted_again_loses_nothing(staged: Stage, measured: list[str], tmp_path: Path) -> None:
    partial = interrupted(staged(stop=("c", 1)), tmp_path)
    before = partial.read_text()
    for stop, left in ((("c", 0), "aabbc"), (("c", 1), "aabbc"), (("d", 0), "aabbcc")):
        with pytest.raises(KeyboardInterrupt):
            perform(staged(stop=stop), Setting(), tmp_path, resume=True)
        assert "".join(graphs(load(partial))) == left
        assert partial.read_text().startswith(before)
    measured.clear()
    assert len(perform(staged(), Setting(), tmp_path, resume=True)) == 8
    assert measured == ["c", "d"]


def test_a_graph_of_which_nothing_was_measured_is_asked_for_again(
    staged: Stage, measured: list[str], tmp_path: Path
) -> None:
    partial = interrupted(staged(stop=("d", 0), absent=("a",)), tmp_path)
    measured.clear()
    with pytest.raises(KeyboardInterrupt):
        perform(staged(stop=("c", 0)), Setting(), tmp_path, resume=True)
    assert "".join(graphs(load(partial))) == "bbaa"  # what is kept is not lost while an earlier graph is measured
    assert measured == ["a", "c"]
    measured.clear()
    rows = perform(staged(), Setting(), tmp_path, resume=True)
    assert measured == ["a", "c", "d"]
    assert graphs(rows) == sorted(graphs(rows))
    assert not any("missing" in row for row in rows)


def test_a_line_that_the_interruption_has_cut_is_measured_again(staged: Stage, tmp_path: Path) -> None:
    partial = interrupted(staged(stop=("c", 1)), tmp_path)
    partial.write_text(partial.read_text()[:-10])
    assert len(perform(staged(), Setting(), tmp_path, resume=True)) == 8


def test_a_line_that_is_damaged_is_named_and_stays(staged: Stage, tmp_path: Path) -> None:
    partial = interrupted(staged(stop=("c", 1)), tmp_path)
    damaged = partial.read_text().replace('"graph": "b"', '"graph: "b"', 1)
    partial.write_text(damaged)
    with pytest.raises(ValueError, match="partial.jsonl:3: not a line of JSON"):
        perform(staged(), Setting(), tmp_path, resume=True)
    assert partial.read_text() == damaged


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"cores": 8}, "cores 4, not 8"),
        ({"gpu": "a processor", "machine": "another"}, "gpu None, not a processor"),
        ({"machine": "A-Processor"}, "machine a processor, not A-Processor"),
    ],
    ids=["cores", "gpu", "machine"],
)
def test_rows_of_another_machine_are_not_used(
    change: dict[str, Any], said: str, staged: Stage, measured: list[str], here: dict[str, Any], tmp_path: Path
) -> None:
    partial = interrupted(staged(stop=("c", 1)), tmp_path)
    before = partial.read_text()
    measured.clear()
    here |= change
    with pytest.raises(ValueError, match=f"is of another setting, {said}"):
        perform(staged(), Setting(), tmp_path, resume=True)
    assert measured == []
    assert partial.read_text() == before


def test_rows_of_a_quick_run_are_not_used(staged: Stage, measured: list[str], tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        perform(staged(stop=("c", 1)), Setting(quick=True), tmp_path)
    measured.clear()
    with pytest.raises(ValueError, match="is of another setting, quick True, not False"):
        perform(staged(), Setting(), tmp_path, resume=True)
    assert measured == []
    assert len(perform(staged(), Setting(quick=True), tmp_path, resume=True)) == 8


def test_a_new_run_does_not_write_over_an_interrupted_one(staged: Stage, measured: list[str], tmp_path: Path) -> None:
    partial = interrupted(staged(stop=("c", 1)), tmp_path)
    before = partial.read_text()
    measured.clear()
    with pytest.raises(ValueError, match=r"left 5 rows in .*: go on with --resume, or delete the file"):
        perform(staged(), Setting(), tmp_path)
    assert measured == []
    assert partial.read_text() == before
    partial.write_text("")  # of a run that had no row yet
    assert len(perform(staged(), Setting(), tmp_path)) == 8


def test_where_nothing_was_interrupted_nothing_is_resumed(staged: Stage, measured: list[str], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="there is nothing to resume: .* is not there"):
        perform(staged(), Setting(), tmp_path, resume=True)
    with pytest.raises(ValueError, match="a quick run writes nothing without --output"):
        perform(staged(), Setting(quick=True), resume=True)
    assert measured == []


def test_control_c_is_one_line_that_says_how_to_go_on(staged: Stage, tmp_path: Path) -> None:
    def called(experiment: Experiment, *options: str) -> Any:
        app = typer.Typer()
        app.command()(command_of(experiment))
        return CliRunner().invoke(app, ["--output", str(tmp_path), *options])

    done = called(staged(stop=("a", 0)))
    assert (done.exit_code, done.stderr) == (130, "staged: stopped, and nothing is written\n")
    done = called(staged(stop=("c", 1)))
    assert done.exit_code == 130
    (line,) = done.stderr.splitlines()
    assert str(tmp_path / f"{NAME}.partial.jsonl") in line
    assert "--resume" in line
    done = called(staged())
    assert done.exit_code == 1
    assert done.stderr.startswith("staged: an interrupted run has left 5 rows")
    done = called(staged(), "--resume")
    assert done.exit_code == 0
    assert done.stdout.startswith("4 rows are kept from ")
    assert len((tmp_path / f"{NAME}.jsonl").read_text().splitlines()) == 8


def test_of_a_graph_that_is_named_the_rows_are_new_and_those_of_others_stay(
    staged: Stage, measured: list[str], here: dict[str, Any], tmp_path: Path
) -> None:
    perform(staged(), Setting(), tmp_path)
    measured.clear()
    here |= {"date": "2026-01-02"}
    perform(staged(), Setting(graphs=("b",)), tmp_path)
    assert measured == ["b"]
    rows = load(tmp_path / f"{NAME}.jsonl")
    assert "".join(graphs(rows)) == "aaccddbb"
    assert {row["graph"] for row in rows if row["date"] == "2026-01-02"} == {"b"}


def test_a_named_graph_goes_on_after_an_interruption(staged: Stage, measured: list[str], tmp_path: Path) -> None:
    named = Setting(graphs=("b", "c"))
    with pytest.raises(KeyboardInterrupt):
        perform(staged(stop=("c", 1)), named, tmp_path)
    measured.clear()
    perform(staged(), named, tmp_path, resume=True)
    assert measured == ["c"]
    assert "".join(graphs(load(tmp_path / f"{NAME}.jsonl"))) == "bbcc"


def test_names_of_no_graph_are_refused_and_rows_stay(staged: Stage, measured: list[str], tmp_path: Path) -> None:
    perform(staged(), Setting(), tmp_path)
    before = (tmp_path / f"{NAME}.jsonl").read_text()
    with pytest.raises(ValueError, match="staged has no graph that is named 'e'"):
        perform(staged(), Setting(graphs=("e",)), tmp_path)
    assert (tmp_path / f"{NAME}.jsonl").read_text() == before
    measured.clear()
    with pytest.raises(ValueError, match="staged measures all of its graphs"):
        perform(replace(staged(), by_graph=False), Setting(graphs=("b",)), tmp_path)
    assert measured == []


def test_what_would_take_too_long_is_judged_by_kept_rows_too() -> None:
    unit, sizes = 1 << 10, (1, 2)
    graph = "lists, 1 x 2^10"
    kept = {"graph": graph, "contender": "U_CPU", "nnz": 7 * unit, "ms": martin.LIMIT_MS, "verified": True}
    lists = replace(martin.LISTS, quick=(unit, sizes))
    rows = list(martin.rows(lists, Setting(quick=True, repeats=1, kept={(None, graph): [kept]})))
    assert rows[0] is kept
    (slow,) = [row for row in rows[1:] if row["contender"] == "U_CPU"]
    assert slow["missing"] == "left out: a call would take about 10 s"
