"""The programs of `examples`: their answers are NetworkX's, and what they say of themselves is so."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

from algorithms import Graph

FOLDER = Path(__file__).parent.parent / "examples"


@pytest.fixture
def routes(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.delitem(sys.modules, "streets", raising=False)
    return runpy.run_path(str(FOLDER / "routes.py"))


def test_routes_are_networkxs_shortest(routes: dict[str, Any]) -> None:
    G = routes["streets"](9, 12, seed=3)
    assert nx.is_strongly_connected(G)
    g = Graph.from_networkx(G, "travel_time", columns=["name", "length"])
    home, work = routes["nearest"](G, [(0, 0), (2000, 2000)])
    seconds = nx.single_source_dijkstra_path_length(G, home, weight="travel_time")
    found = g.sssp(home)
    assert dict(found) == pytest.approx(seconds)
    route = found.path(work)
    assert route.length == pytest.approx(seconds[work])
    parts = routes["directions"](route.legs)
    assert sum(part[2] for part in parts) == pytest.approx(seconds[work])
    assert sum(part[1] for part in parts) == pytest.approx(nx.path_weight(G, route.vertices, "length"))
    assert set(g.sssp(home, limit=60.0)) == {name for name, each in seconds.items() if each <= 60}
    np.testing.assert_allclose(routes["table"](g, [home, work], [work]), [[seconds[work]], [0]])


def test_the_program_prints_and_draws(
    routes: dict[str, Any], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    routes["main"](routes["streets"](), str(tmp_path / "routes.png"))
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "from 2003 to 20031: 5.9 minutes"
    assert lines[-4].endswith("crossings are within 4 minutes")
    assert lines[-3:] == ["minutes from\tnorth\tsouth\teast", "to home\t3.4\t3.5\t5.1", "to work\t3.1\t4.3\t1.9"]
    assert (tmp_path / "routes.png").stat().st_size > 10_000
