"""The report's page: sections and runs as HTML, in one file, without a script, in light and dark."""

from __future__ import annotations

import re
from html import escape
from itertools import groupby

from formats.arrays import Device

from .experiment import cell
from .sections import Run, Section

MIN_FOLDED_ROWS = 24
"""Minimum rows of a table that is folded."""
POINT = 4 / 3
"""Pixels."""
DEVICES: dict[Device, str] = {"cpu": "a CPU", "cuda": "a GPU"}

STYLE = """
:root { color-scheme: light dark; --page: #ffffff; --ink: #1d2329; --soft: #5b6670; --line: #dde2e7; --tint: #f4f6f8;
  --link: #1f65a6; --warn: #8a5a00; --warn-tint: #fdf5e3; }
@media (prefers-color-scheme: dark) { :root { --page: #15181c; --ink: #e3e7eb; --soft: #9aa5af; --line: #313840;
  --tint: #1d2227; --link: #7db4ea; --warn: #e3b968; --warn-tint: #2a2417; } }
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--page); color: var(--ink); font: 1rem/1.55 system-ui, -apple-system, "Segoe UI",
  Roboto, "Helvetica Neue", Arial, sans-serif; }
header, nav, main, footer { max-width: 74rem; margin: 0 auto; padding: 0 1.25rem; }
header { padding-top: 2.5rem; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .75rem; letter-spacing: -.01em; }
h2 { font-size: 1.4rem; line-height: 1.25; margin: 0 0 .25rem; letter-spacing: -.005em; }
h3 { font-size: 1.05rem; margin: 0; }
p { margin: .5rem 0; }
p, dl { max-width: 46rem; }
a { color: var(--link); text-decoration-thickness: 1px; text-underline-offset: .15em; }
code { font: .875em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
pre { margin: .6rem 0; padding: .5rem .8rem; background: var(--tint); border-radius: .4rem; overflow-x: auto; }
nav ul { display: flex; flex-wrap: wrap; gap: .4rem; list-style: none; margin: 1.25rem 0 0; padding: 0; }
nav a { display: block; padding: .2rem .7rem; border: 1px solid var(--line); border-radius: 1rem; font-size: .9rem;
  text-decoration: none; }
nav a:hover { background: var(--tint); }
nav a.empty { color: var(--soft); border-style: dashed; }
section { margin: 2.5rem 0 0; padding: 2rem 0 0; border-top: 1px solid var(--line); }
.soft { color: var(--soft); font-size: .9rem; }
.run { margin: 1.75rem 0 0; }
.run > h3 + p { margin-top: .1rem; }
.scroll { overflow-x: auto; margin: .75rem 0; }
.plot svg { display: block; width: 100%; height: auto; }
.plot svg * { stroke-linejoin: round; stroke-linecap: butt; }
figure { margin: 1rem 0; }
table { border-collapse: collapse; font-size: .875rem; line-height: 1.4; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--soft); padding: 0 0 .4rem; }
th, td { padding: .28rem .7rem; text-align: right; white-space: nowrap; }
th { font-weight: 600; border-bottom: 1px solid var(--ink); vertical-align: bottom; }
th.word, td.word { text-align: left; }
th:first-child, td:first-child { padding-left: 0; position: sticky; left: 0; background: var(--page); }
td.wide { white-space: normal; min-width: 14rem; }
tr.first td { border-top: 1px solid var(--line); }
tbody tr:first-child td { border-top: 0; }
tbody tr:hover td { background: var(--tint); }
summary { cursor: pointer; color: var(--link); font-size: .9rem; padding: .2rem 0; }
.note { background: var(--warn-tint); border-left: 3px solid var(--warn); border-radius: .25rem; padding: .5rem .9rem;
  margin: .75rem 0; max-width: 46rem; font-size: .9rem; }
.note p, .note ul { margin: .15rem 0; }
.note ul { padding-left: 1.1rem; }
.note code { overflow-wrap: anywhere; }
dl { margin: 1rem 0; display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1rem; font-size: .9rem; }
dt { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: .8125rem; padding-top: .05rem; }
dd { margin: 0; color: var(--soft); }
footer { padding-top: 2rem; padding-bottom: 3rem; }
@media (max-width: 40rem) { header { padding-top: 1.5rem; } h1 { font-size: 1.55rem; } dl { display: block; }
  dd { margin: 0 0 .5rem; } }
@media print { nav, summary { display: none; } section { break-before: page; } }
"""

INTRODUCTION = (
    "Every figure here was measured by a command of this project, and nothing was timed before what it computes was "
    "verified. Contenders take turns in one process, and medians count. What could not be measured is said below its "
    "table."
)
QUICK = '<div class="note"><p>A quick run on tiny graphs: it shows that everything works, not how fast.</p></div>\n'
STOPPED = (
    '<div class="note"><p>This run was stopped before its end, and shows what it had measured by then. The command '
    "above continues it.</p></div>\n"
)
GLOSSARY = {
    "ms": "median milliseconds of one call: on a GPU between two events of its stream, or a share of a batch of calls, "
    "on a CPU by the clock",
    "with transfers ms": "the same, operands copied from the host and the answer back",
    "low ms, high ms": "quartiles of the calls, in the files of rows",
    "peak bytes": "held at most during a call, beside what was there",
    "–": "not a figure of this row",
}


def page(told: list[tuple[Section, list[Run]]]) -> str:
    """The whole page."""
    links = "".join(
        f'<li><a href="#{escape(section.name)}"{"" if runs else class_("empty")}>{escape(section.title)}</a></li>'
        for section, runs in told
    )
    words = "".join(f"<dt>{escape(name)}</dt><dd>{escape(what)}</dd>" for name, what in GLOSSARY.items())
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>semiring: what was measured</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f"<header>\n<h1>semiring: what was measured</h1>\n<p>{escape(INTRODUCTION)}</p>\n</header>\n"
        f'<nav aria-label="Experiments">\n<ul>{links}</ul>\n</nav>\n<main>\n'
        f"{overview(told)}\n<dl>{words}</dl>\n"
        + "\n".join(section_of(section, runs) for section, runs in told)
        + '\n</main>\n<footer class="soft"><p>Made by <code>python -m bench report</code> from the rows beside it. '
        "<code>--data FOLDER</code> says where the road graphs' files are.</p></footer>\n</body>\n</html>\n"
    )


def overview(told: list[tuple[Section, list[Run]]]) -> str:
    """A table of what was run where."""
    lines = []
    for section, runs in told:
        name = f'<td class="word"><a href="#{escape(section.name)}">{escape(section.name)}</a></td>'
        for k, run in enumerate(runs):
            what = escape(run.place) + ", quick" * run.quick + ", stopped before its end" * run.stopped
            date = escape(several(run, "date"))
            lines.append(
                f"<tr{class_('first') if k == 0 else ''}>{name if k == 0 else blank()}<td{class_('word')}>{what}</td>"
                f"<td>{date}</td><td>{len(run.measured):,}</td><td>{len(run.missing):,}</td></tr>"
            )
        if not runs:
            lines.append(f"<tr{class_('first')}>{name}<td{class_('word soft')}>not run yet</td>{'<td>–</td>' * 3}</tr>")
    heads = '<th class="word">experiment</th><th class="word">on</th><th>date</th><th>rows</th><th>missing</th>'
    return scrolled(
        f"<table><thead><tr>{heads}</tr></thead><tbody>{''.join(lines)}</tbody></table>", "What was run where"
    )


def section_of(section: Section, runs: list[Run]) -> str:
    """An experiment: what it is, its runs one after the other, and where it was not run yet."""
    there = {run.device for run in runs if not run.quick}
    absent = [device for device in section.devices if device not in there]
    notes = "".join(
        f'<div class="note"><p>Not run yet on {DEVICES[device]}: '
        f"<code>{escape(section.command(device))}</code></p></div>\n"
        for device in absent
    )
    return (
        f'<section id="{escape(section.name)}">\n<h2>{escape(section.title)}</h2>\n'
        f'<p class="soft">{escape(section.source)}</p>\n<p>{prose(section.about)}</p>\n'
        + "".join(run_of(section, run, f"{section.name}-{k}") for k, run in enumerate(runs))
        + f"{notes}</section>"
    )


def run_of(section: Section, run: Run, name: str) -> str:
    """One machine's run: where, when, how again, plot, table, and what is missing.  name: unique on the page."""
    first = run.first
    facts = [several(run, "date"), f"commit {several(run, 'commit')}"]
    facts += [f"{first['cores']} cores of {first['machine']}"] if run.device == "cuda" else []
    facts += [f"driver {several(run, 'driver')}, CuPy {several(run, 'cupy')}"] if run.device == "cuda" else []
    facts += [f"Python {several(run, 'python')}", run.path.name]
    again = section.command(run.device, quick=run.quick) + " --resume" * run.stopped
    return (
        f'<div class="run" id="{escape(name)}">\n<h3>{escape(run.place)}</h3>\n'
        f'<p class="soft">{escape(" · ".join(facts))}</p>\n<pre><code>{escape(again)}</code></pre>\n'
        + STOPPED * run.stopped
        + QUICK * run.quick
        + plot_of(section, run, name)
        + table_of(section, run)
        + missing_of(run)
        + "</div>\n"
    )


def several(run: Run, fact: str) -> str:
    """Joins the values of a fact in the rows, each once: a run that went on after it was stopped has two dates."""
    return ", ".join(dict.fromkeys(str(row[fact]) for row in run.rows))


# --- plot -------------------------------------------------------------------------------------------------------------


def plot_of(section: Section, run: Run, name: str) -> str:
    """The run's plot, drawn from its rows."""
    from .plots import svg

    drawn = section.plot(run.measured) if run.measured else None
    if drawn is None:
        return ""
    label = escape(f"{section.title}, on {run.place}")
    return f'<figure class="plot scroll" tabindex="0">{inline(svg(drawn), name, label)}</figure>\n'


def inline(text: str, name: str, label: str) -> str:
    """An SVG file's text as part of a page: its names made unique by `name`, its size as wide as there is room.

    label: what it shows, escaped.
    """
    body = text[text.index("<svg") :]
    body = re.sub(r"\s*<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    body = re.sub(r"\s*<style[^>]*>.*?</style>", "", body, flags=re.DOTALL)
    body = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{name}-", body)
    head, rest = body.split(">", 1)
    width = float(re.findall(r'width="([\d.]+)pt"', head)[0]) * POINT
    box = re.findall(r'viewBox="[^"]*"', head)[0]
    size = f"max-width: {width:.0f}px; min-width: {min(width, 800):.0f}px"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" {box} role="img" '
        f'aria-label="{label}" style="{size}">\n<title>{label}</title>{rest.rstrip()}'
    )


# --- tables -----------------------------------------------------------------------------------------------------------


def table_of(section: Section, run: Run) -> str:
    """Returns the table of the measured rows; a long table is folded."""
    rows = run.measured
    columns = [column for column in section.columns if any(row.get(column) is not None for row in rows)]
    if not rows:
        return ""
    words = {column: any(isinstance(row.get(column), str) for row in rows) for column in columns}
    wide = {column for column in columns if any(len(str(row.get(column, ""))) > 40 for row in rows)}
    kinds = {
        column: f"{'word' if words[column] else ''}{' wide' if column in wide else ''}".strip() for column in columns
    }
    heads = "".join(f"<th{class_(kinds[c].split(' ')[0])}>{escape(c.replace('_', ' '))}</th>" for c in columns)
    lines = []
    for _, group in groupby(rows, key=lambda row: row.get(columns[0])):
        for k, row in enumerate(group):
            cells = "".join(f"<td{class_(kinds[c])}>{escape(cell(row, c))}</td>" for c in columns)
            lines.append(f"<tr{class_('first') if k == 0 else ''}>{cells}</tr>")
    table = f"<table><thead><tr>{heads}</tr></thead><tbody>\n" + "\n".join(lines) + "\n</tbody></table>"
    shown = scrolled(table, f"{section.title}, rows, on {run.place}")
    if len(rows) < MIN_FOLDED_ROWS:
        return shown
    return f"<details><summary>All {len(rows):,} rows</summary>\n{shown}</details>\n"


def missing_of(run: Run) -> str:
    """Lists the contenders that were not measured, and why: a line for each contender and reason."""
    sizes: dict[str, set[int | None]] = {}
    for row in run.missing:
        sizes.setdefault(str(row.get("graph")), set()).add(row.get("n"))
    found: dict[tuple[str, str], list[str]] = {}
    for row in run.missing:
        graph, n = str(row.get("graph")), row.get("n")
        told = f"{graph} ({n:,} vertices)" if n is not None and len(sizes[graph]) > 1 else graph
        found.setdefault((str(row.get("contender")), str(row["missing"])), []).append(told)
    lines = "".join(
        f"<li><b>{escape(contender)}</b> on {escape(', '.join(dict.fromkeys(graphs)))}: {escape(why)}</li>"
        for (contender, why), graphs in found.items()
    )
    return f'<div class="note"><p>Not measured:</p><ul>{lines}</ul></div>\n' if lines else ""


def scrolled(content: str, label: str) -> str:
    """In a box of its own that scrolls sideways."""
    return f'<div class="scroll" role="region" tabindex="0" aria-label="{escape(label)}">{content}</div>\n'


def prose(text: str) -> str:
    """Escaped; what stands in backticks as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def class_(names: str) -> str:
    """A class attribute, with a space before it; nothing for no name."""
    return f' class="{names}"' if names else ""


def blank() -> str:
    """An empty first cell."""
    return "<td></td>"
