"""The report's page: what it shows, what it refuses, and that it is well-formed."""

from __future__ import annotations

import json
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bench import plots
from bench import report as reports
from bench.commands import app
from bench.experiment import Experiment, cell
from bench.experiments import EXPERIMENTS
from bench.measure import RESULTS
from bench.page import inline
from bench.report import collected, report, sections

pytestmark = pytest.mark.timing

VOID = {"meta", "br", "hr", "img", "link", "input"}
KNOWN = {
    "date": "2026-01-02",
    "machine": "a processor",
    "cores": 4,
    "python": "3.12",
    "versions": {},
    "commit": "abc1234",
    "quick": False,
    "experiment": "fake",
}
GPU = {"gpu": "a GPU <&> more", "driver": "1", "cuda": 13000, "cupy": "14"}
ROWS = [
    {"graph": "g<1>", "n": 4, "nnz": 5, "contender": "a & b", "ms": 1.5, "verified": True},
    {"graph": "g2", "n": 4, "nnz": 5, "contender": "a & b", "ms": 12345.6, "verified": True},
    {"graph": "g2", "n": 4, "nnz": 5, "contender": "c", "missing": "left out: 1 < 2 & more"},
]


def drawn(rows: list[dict[str, Any]]) -> Any:
    made, (ax,) = plots.figure(1)
    plots.bars(ax, rows, "graph", "ms", log_y=True)
    plots.label(ax, "one & all", "", "ms")
    return made


FAKE = Experiment(
    name="fake",
    title="A fake & its rows",
    source="nobody <2026>",
    about="What is compared, `a < b`.",
    rows=lambda setting: iter(ROWS),
    columns=("graph", "contender", "ms", "never"),
    plot=drawn,
)


class Checker(HTMLParser):
    """Fails at what a browser would forgive: unbalanced tags, bare < and &, ids twice, pictures without a name."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self.open: list[str] = []
        self.ids: list[str] = []
        self.targets: list[str] = []
        self.links: list[str] = []
        self.untitled = 0
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.noted(tag, dict(attrs))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert "svg" in self.open, f"<{tag}/> closes itself outside a picture"
        self.noted(tag, dict(attrs))

    def noted(self, tag: str, attributes: dict[str, str | None]) -> None:
        self.untitled -= tag == "title" and self.open[-1] == "svg"
        if tag in ("svg", "img"):
            assert attributes.get("aria-label") or attributes.get("alt")
            self.untitled += tag == "svg"
        assert tag not in ("script", "link", "iframe", "object")
        for name, value in attributes.items():
            assert value is not None
            if name == "id":
                self.ids.append(value)
            elif name in ("href", "src", "xlink:href"):
                self.links.append(value)
            elif "url(" in value:
                self.links.append(value.partition("url(")[2].partition(")")[0])

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag, f"</{tag}> closes something else"

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "style":
            assert "url(" not in data
            assert "@import" not in data
            return
        assert "<" not in data
        assert "&" not in data
        self.text.append(data)

    def handle_entityref(self, name: str) -> None:
        assert name in ("amp", "lt", "gt", "quot")
        self.text.append({"amp": "&", "lt": "<", "gt": ">", "quot": '"'}[name])

    def handle_charref(self, name: str) -> None:
        self.text.append(chr(int(name[1:], 16) if name[0] == "x" else int(name)))


def checked(page: str) -> Checker:
    """A page that parses without anything forgiven."""
    checker = Checker()
    checker.feed(page)
    checker.close()
    assert not checker.open
    assert checker.untitled == 0
    assert len(checker.ids) == len(set(checker.ids))
    assert all(link.startswith("#") and link[1:] in checker.ids for link in checker.links)
    return checker


def written(path: Path, rows: list[dict[str, Any]], known: dict[str, Any] = KNOWN) -> Path:
    path.write_text("".join(json.dumps(known | row) + "\n" for row in rows))
    return path


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of a fake experiment's rows, on a GPU and on a CPU."""
    monkeypatch.setattr(reports, "EXPERIMENTS", {"fake": FAKE, "other": replace(FAKE, name="other", title="Another")})
    written(tmp_path / "fake-cpu.jsonl", ROWS)
    written(tmp_path / "fake-gpu.jsonl", ROWS, KNOWN | GPU)
    return tmp_path


def test_the_page_shows_every_run_and_is_well_formed(folder: Path) -> None:
    path = report(folder=folder)
    assert path == folder / "report.html"
    checker = checked(path.read_text())
    text = "".join(checker.text)
    for expected in (
        "A fake & its rows",
        "nobody <2026>",
        "What is compared, a < b.",
        "a GPU <&> more",
        "4 cores, a processor",
        "2026-01-02",
        "commit abc1234",
        "python -m bench fake --device cuda",
        "12,346",
        "g<1>",
        "c on g2: left out: 1 < 2 & more",
    ):
        assert expected in text
    assert text.index("a GPU <&> more", text.index("What is compared")) < text.rindex("4 cores, a processor")
    assert "never" not in text  # a column without a figure
    assert {"fake", "other", "fake-0", "fake-1"} <= set(checker.ids)


def test_an_experiment_that_was_not_run_says_how(folder: Path) -> None:
    text = "".join(checked(report(folder=folder).read_text()).text)
    assert "Not run yet on a GPU: python -m bench other --device cuda" in text
    assert "Not run yet on a CPU: python -m bench other" in text
    (folder / "fake-gpu.jsonl").unlink()
    text = "".join(checked(report(folder=folder).read_text()).text)
    assert "Not run yet on a GPU: python -m bench fake --device cuda" in text
    assert "Not run yet on a CPU: python -m bench fake" not in text


def test_every_experiment_has_its_section(tmp_path: Path) -> None:
    checker = checked(report(tmp_path / "page.html", tmp_path).read_text())
    text = "".join(checker.text)
    for section in sections(EXPERIMENTS.values()):
        assert section.name in checker.ids
        assert f"#{section.name}" in checker.links
        assert section.title in text
        assert section.source in text
        assert section.about.replace("`", "") in text
    assert list(EXPERIMENTS) == [name for name in checker.ids if name in EXPERIMENTS]


def test_a_quick_run_is_called_one(folder: Path) -> None:
    written(folder / "fake-cpu.jsonl", ROWS, KNOWN | {"quick": True})
    text = "".join(checked(report(folder=folder).read_text()).text)
    assert "A quick run on tiny graphs" in text
    assert "python -m bench fake --quick" in text
    assert "Not run yet on a CPU: python -m bench fake" in text


def test_a_run_that_was_stopped_says_so_and_how_it_goes_on(folder: Path) -> None:
    partial = written(folder / "other-gpu.partial.jsonl", ROWS, KNOWN | GPU | {"experiment": "other"})
    text = "".join(checked(report(folder=folder).read_text()).text)
    assert "This run was stopped before its end" in text
    assert "python -m bench other --device cuda --resume" in text
    assert "a GPU <&> more, stopped before its end" in text
    assert "Not run yet on a GPU: python -m bench other" not in text
    assert len(collected(folder)["other"][0].rows) == len(ROWS)
    partial.write_text(partial.read_text() + '{"graph": "cut')  # what the interruption left of a line
    assert len(collected(folder)["other"][0].rows) == len(ROWS)
    written(folder / "other-gpu.jsonl", ROWS[:1], KNOWN | GPU | {"experiment": "other"})  # an earlier run is whole
    text = "".join(checked(report(folder=folder).read_text()).text)
    assert "stopped before its end" not in text
    assert "--resume" not in text


def test_rows_of_a_stopped_run_are_checked_like_others(folder: Path) -> None:
    path = written(folder / "other-gpu.partial.jsonl", [*ROWS, {"graph": "g", "ms": 1.0}], {"experiment": "other"})
    with pytest.raises(ValueError, match=f"{path}:4: a row that is not verified is not shown"):
        report(folder=folder)


def test_a_run_that_went_on_later_has_all_its_dates_and_commits(folder: Path) -> None:
    later = KNOWN | {"date": "2026-01-03", "commit": "def5678"}
    written(folder / "fake-cpu.jsonl", [*ROWS, later | ROWS[0]])
    text = "".join(checked(report(folder=folder).read_text()).text)
    assert "2026-01-02, 2026-01-03 · commit abc1234, def5678" in text


def test_the_command_names_the_folder_of_roads_where_it_is_needed(folder: Path, monkeypatch: Any) -> None:
    monkeypatch.setitem(reports.EXPERIMENTS, "fake", replace(FAKE, roads=True))
    text = "".join(checked(report(folder=folder).read_text()).text)
    assert "python -m bench fake --device cuda --data FOLDER" in text
    assert "python -m bench other --device cuda --data" not in text
    assert {name for name, experiment in EXPERIMENTS.items() if experiment.roads} == {
        "peers",
        "centralities",
        "elimination",
        "csgraph",
        "networkx",
        "spmv",
        "packing",
        "prepare",
        "formats",
        "roofline",
        "fused",
        "equations",
        "cores",
        "beyond",
        "parts",
        "thresholds",
    }


def test_a_long_table_is_folded(folder: Path) -> None:
    written(folder / "fake-cpu.jsonl", ROWS[:1] * 30)
    assert "<summary>All 30 rows</summary>" in report(folder=folder).read_text()


def test_what_is_missing_is_told_once_for_each_reason(folder: Path) -> None:
    missing = [
        {"graph": graph, "n": n, "nnz": n, "contender": "d", "missing": why}
        for graph, n, why in (("g", 1000, "too large"), ("g", 2000, "too large"), ("h", 3, "too large"), ("h", 3, "no"))
    ]
    written(folder / "fake-cpu.jsonl", [*ROWS, *missing])
    text = "".join(checked(report(folder=folder).read_text()).text)
    assert "d on g (1,000 vertices), g (2,000 vertices), h: too large" in text
    assert "d on h: no" in text


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"verified": False}, "a row that is not verified is not shown"),
        ({"verified": "yes"}, "a row that is not verified is not shown"),
        ({"missing": ""}, "a row that is not verified is not shown"),
        ({}, "a row that is not verified is not shown"),
        ({"verified": True, "experiment": "none"}, "there is none called 'none'"),
        ({"verified": True, "experiment": None}, "there is none called None"),
        ({"verified": True, "experiment": "other"}, "a row of other in a file of fake"),
    ],
)
def test_rows_that_must_not_be_shown_are_refused_by_file_and_line(folder: Path, row: Any, said: str) -> None:
    path = written(folder / "fake-cpu.jsonl", [*ROWS, {"graph": "g", "contender": "d", "ms": 1.0} | row])
    done = CliRunner().invoke(app, ["report", "--results", str(folder)])
    assert done.exit_code == 1
    assert f"{path}:4: " in done.output
    assert said in done.output
    assert not (folder / "report.html").exists()


def test_what_is_no_row_is_refused_by_file_and_line(folder: Path) -> None:
    path = folder / "fake-cpu.jsonl"
    path.write_text("{\n")
    with pytest.raises(ValueError, match="fake-cpu.jsonl:1: not a line of JSON"):
        report(folder=folder)
    path.write_text("")
    with pytest.raises(ValueError, match="fake-cpu.jsonl:1: a file without rows"):
        report(folder=folder)
    path.rename(folder / "fake-cpu.partial.jsonl")  # of an experiment that still runs
    assert [run.path.name for run in collected(folder)["fake"]] == ["fake-gpu.jsonl"]


def test_the_results_of_the_repository_can_be_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every plot is made of its rows; how one is drawn is what other tests see to."""
    plain = '<svg width="9pt" height="9pt" viewBox="0 0 9 9"></svg>'
    monkeypatch.setattr(plots, "svg", lambda made: plain)
    done = CliRunner().invoke(app, ["report", "--output", str(tmp_path / "page.html")])
    assert done.exit_code == 0, done.output
    assert done.output.strip() == str(tmp_path / "page.html")
    checker = checked((tmp_path / "page.html").read_text())
    assert {f"{name}-{k}" for name, runs in collected(RESULTS).items() for k in range(len(runs))} <= set(checker.ids)


# --- plots ------------------------------------------------------------------------------------------------------------


def test_two_plots_on_a_page_share_no_name() -> None:
    text = plots.svg(drawn(ROWS[:2]))
    page = "".join(f"<div>{inline(text, name, 'what it shows')}</div>" for name in ("a", "b"))
    checker = checked(page)
    assert any(name.startswith("b-") for name in checker.ids)
    assert "currentColor" in page
    assert plots.INK not in page
    assert "<?xml" not in page


def test_bars_of_one_order_have_one_colour() -> None:
    _, (left, right) = plots.figure(2)
    rows = [{"graph": "g", "contender": name, "ms": 2.0} for name in ("a", "b", "c")]
    plots.bars(left, rows, "graph", "ms", order=("a", "b", "c"))
    plots.bars(right, rows[1:], "graph", "ms", order=("a", "b", "c"), base=1)
    (first, second) = ({bar.get_label(): bar for bar in ax.containers} for ax in (left, right))
    assert set(second) == {"b", "c"}
    for name, bar in second.items():
        assert bar[0].get_facecolor() == first[name][0].get_facecolor()
        assert (bar[0].get_y(), bar[0].get_height()) == (1, 1)


def test_panels_are_two_in_a_row() -> None:
    made, axes = plots.figure(3)
    assert len(axes) == len(made.axes) == 3
    width, height = made.get_size_inches()
    one, _ = plots.figure(1)
    assert (width, height) == tuple(2 * one.get_size_inches())


def test_a_long_legend_makes_the_figure_higher_and_leaves_the_axes_as_they_are() -> None:
    heights = []
    for names in ("ab", "abcdefghi"):
        made, (left, _) = plots.figure(2)
        rows = [{"n": n, "ms": 1.0 + k, "contender": 50 * name} for k, name in enumerate(names) for n in (1, 2)]
        plots.lines(left, rows, "n", "ms")
        plots.legend(left)  # in the place of the first
        made.draw_without_rendering()
        heights.append((made.get_figheight(), left.get_position().height * made.get_figheight()))
    (low, few), (high, many) = heights
    assert high > low == plots.HEIGHT
    assert many == pytest.approx(few, rel=0.05)


def test_short_names_stand_side_by_side_in_a_legend_and_long_ones_do_not() -> None:
    _, (ax,) = plots.figure(1)
    assert plots._columns(ax, ["a", "b", "c"]) == 3
    assert plots._columns(ax, ["a", "b", "c" * 40, "d" * 30]) == 2  # column by column
    assert plots._columns(ax, ["a", "c" * 40, "b", "d" * 30]) == 1


def test_a_line_with_an_end_to_its_name_is_the_other_one_dotted() -> None:
    _, (ax,) = plots.figure(1)
    rows = [{"n": n, "ms": n, "contender": f"{name}{end}"} for end in ("", ", more") for name in "ab" for n in (1, 2)]
    plots.lines(ax, rows, "n", "ms", dotted=", more")
    a, b, a_more, b_more, _ = ax.get_lines()
    assert (a_more.get_color(), b_more.get_color()) == (a.get_color(), b.get_color())
    assert [line.get_linestyle() for line in (a, b, a_more, b_more)] == ["-", "-", ":", ":"]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b", "more"]


@pytest.mark.parametrize(
    ("low", "high", "shown"), [(0.7, 1.6, "0.8"), (3, 200, "5"), (0.01, 2e4, "1,000")], ids=["narrow", "usual", "wide"]
)
def test_logarithmic_axes_show_plain_numbers(low: float, high: float, shown: str) -> None:
    made, (ax,) = plots.figure(1)
    rows = [{"graph": k, "contender": "a", "ms": value} for k, value in enumerate((low, high))]
    plots.bars(ax, rows, "graph", "ms", log_y=True)
    made.canvas.draw()
    assert shown in [label.get_text() for label in ax.get_yticklabels()]


def test_large_figures_have_no_powers() -> None:
    assert [cell({"ms": ms}, "ms") for ms in (123456.7, 1234.5, 999.94, 0.012345)] == [
        "123,457",
        "1,234",
        "999.9",
        "0.01235",
    ]
