"""What Python and notebooks show of an object by itself: few lines, and HTML that is well formed."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from algorithms import bellman_ford, factor, trace
from algorithms.shared.trace import Trace
from bench.graphs import rmat
from formats import Matrix, SparseVector, from_edges, partition
from formats.display import MOST_LINES, shortened, table
from formats.matrix.spy import CELLS, CONVERTED, some_places, spy
from semiring import MinPlus, check_laws, choose, compare, explain
from tests.graphs import every_format

SMALL = from_edges([0, 1, 2, 2], [1, 2, 0, 3], [1.5, 2.0, 0.0, 4.0], shape=4)


GRID = "\n".join(["  · 1.5   ·   ·", "  ·   · 2.0   ·", "0.0   ·   · 4.0", "  ·   ·   ·   ·"])


def parsed(shown: str) -> ElementTree.Element:
    """HTML of ours is XML, too."""
    return ElementTree.fromstring(f"<div>{shown}</div>")


def text(shown: str) -> str:
    return " ".join(parsed(shown).itertext())


def things() -> dict[str, Any]:
    """An object of each kind that is shown, each as long as can be."""
    A = rmat(6)
    with trace() as t:
        for source in range(30):
            bellman_ford(A, source)
    return {
        "matrix": A,
        "trace": t,
        "comparison": compare(A, "mxv", MinPlus, formats=["csr", "coo"], repeats=1, seconds=0.0),
        "choice": choose(A, calls=40),
        "explanation": explain(lambda: [bellman_ford(A, source) for source in range(30)]),
        "no explanation": explain(sorted, [2, 1]),
        "footprint": A.footprint("ell", verb="mxv"),
        "factor": factor(A, force=True),
    }


def test_texts_are_short_and_html_is_well_formed() -> None:
    for name, thing in things().items():
        assert len(repr(thing).splitlines()) <= MOST_LINES, name
        assert len(repr(thing)) < 4000, name
        shown = thing._repr_html_()
        assert len(parsed(shown)) > 0, name
        assert len(shown) < 100_000, name
        if name in ("trace", "explanation"):
            assert "more lines: print shows all" in repr(thing)
            assert len(str(thing).splitlines()) > 30
            assert "more" in text(shown)
    assert len(str(check_laws("min_plus")).splitlines()) <= MOST_LINES


def test_a_notebook_shows_what_a_matrix_is_and_where() -> None:
    shown = SMALL._repr_html_()
    assert [" ".join(row.itertext()) for row in parsed(shown).iter("tr")] == [
        "format CSR", "shape 4 × 4", "entries 4 of float64", "place cpu",
        f"memory {SMALL.nbytes} bytes, kept with it {SMALL.kept_nbytes} bytes",
    ]  # fmt: skip
    assert parsed(shown).findtext(".//pre") == GRID
    assert "CSC" in text(SMALL.T._repr_html_())
    assert "COO, transposed" in text(SMALL.to("coo").T._repr_html_())


def test_a_small_matrix_and_a_short_vector_are_printed_with_their_values() -> None:
    assert str(SMALL) == f"{SMALL!r}\n{GRID}"
    assert "\n" not in repr(SMALL)
    assert str(partition(SMALL, parts=2)).endswith(GRID)
    assert str(SMALL.T.pattern()).splitlines()[1:] == [
        *("   ·    · True    ·", "True    ·    ·    ·", "   · True    ·    ·", "   ·    · True    ·")
    ]
    v = SparseVector([2, 0], np.array([0.1, 12], np.float32), 4)
    assert str(v) == "<SparseVector 4, 2 entries, float32, cpu>\n12.0    ·  0.1    ·"
    assert text(v._repr_html_()).split()[:3] == ["SparseVector", "size", "4"]
    assert parsed(v._repr_html_()).findtext(".//pre") == "12.0    ·  0.1    ·"
    for empty in (from_edges([], [], shape=(0, 3)), SparseVector([], [], 0), rmat(4), SparseVector([3], [1], 11)):
        assert str(empty) == repr(empty)


@every_format
def test_the_picture_is_where_the_entries_are(verb: Any, fmt: type[Matrix], backend: Any) -> None:
    A = from_edges([0, 0, 7, 9], [0, 11, 3, 11], [1, 2, 3, 4], shape=(10, 12)).to(fmt, device=backend)
    for M, wanted in ((A, {(0, 0), (0, 11), (7, 3), (9, 11)}), (A.T, {(0, 0), (11, 0), (3, 7), (11, 9)})):
        places = some_places(M)
        assert places is not None
        assert {(int(u), int(v)) for u, v in zip(*places, strict=True)} == wanted
    assert len(list(parsed(spy(A)).iter("path"))) == 4


def test_pictures_of_odd_shapes() -> None:
    for shape in ((0, 0), (0, 3), (3, 0), (1, 1), (1, 10**6), (10**6, 1), (3, 1000)):
        A = from_edges([], [], np.empty(0, np.int32), shape=shape)
        assert spy(A).count("<path") == 0
        assert parsed(A._repr_html_()) is not None
    wide = from_edges([0] * 1000, range(1000), shape=(1, 1000))
    assert spy(wide).count("<path") == CELLS


def test_a_large_matrix_in_another_format_is_not_taken_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("formats.matrix.spy.CONVERTED", 0)
    assert CONVERTED > 0
    assert spy(SMALL.to("coo")) == ""
    assert spy(SMALL) != ""


def test_a_matrix_in_parts_is_drawn_where_one_process_has_all() -> None:
    P = partition(SMALL, parts=2)
    assert spy(P) == spy(SMALL)
    object.__setattr__(P, "group", SimpleNamespace(size=2))
    assert spy(P) == ""


def test_text_is_escaped() -> None:
    assert text(table("a<b", [["<i>", 1]], ["&", ">"], "x<y")).split() == ["a<b", "&", ">", "<i>", "1", "x<y"]


def test_a_long_text_says_how_much_is_left_out() -> None:
    assert shortened("a\nb") == "a\nb"
    lines = shortened("\n".join(map(str, range(100)))).splitlines()
    assert lines[-2:] == ["18", "… 81 more lines: print shows all"]
    assert repr(Trace()) == "trace of 0 rounds"


CELLS_OF_A_NOTEBOOK = """
import time
from algorithms import bellman_ford, factor, sssp, trace
from algorithms.data import rome99
from formats import progress, read
from semiring import MinPlus, compare, explain
A = read(rome99)
A
---
compare(A, "mxv", MinPlus, formats=["csr", "coo"], repeats=1)
---
with trace() as t:
    bellman_ford(A, 0)
t
---
explain(sssp, A, 0)
---
A.footprint("ell", verb="mxv")
---
factor(A)
---
progress.BAR_AFTER_SECONDS = 0
with progress.Bar("reading", 4, lambda: 3) as bar:
    bar.update()
"""


def test_a_notebook_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each cell shows its answer once, as HTML; a bar shows how far it is and disappears."""
    nbclient, nbformat = (pytest.importorskip(name) for name in ("nbclient", "nbformat"))
    cells = [nbformat.v4.new_code_cell(each.strip()) for each in CELLS_OF_A_NOTEBOOK.split("---")]
    notebook = nbformat.v4.new_notebook(cells=cells)
    heard: list[str] = []
    client = nbclient.NotebookClient(notebook, timeout=60, kernel_name="python3")
    process = client.process_message
    monkeypatch.setattr(
        client,
        "process_message",
        lambda message, *rest: heard.append(str(message["content"])) or process(message, *rest),
    )
    client.execute()
    *tables, bar = [cell["outputs"] for cell in notebook.cells]
    for outputs in tables:
        shown = [out for out in outputs if out.get("data", {}).get("text/html")]  # a bar leaves nothing
        assert [out["output_type"] for out in shown] == ["execute_result"]
        assert parsed(shown[0]["data"]["text/html"]) is not None
    assert "3,353 × 3,353" in text(tables[0][-1]["data"]["text/html"])
    assert [out["data"]["text/html"] for out in bar] == [""]
    assert any("<progress" in each and "75%" in each for each in heard)
