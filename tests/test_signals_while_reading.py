"""A signal whose handler raises while a file is read ends the call, and a later one reads the file right."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse

from algorithms import Graph
from formats import from_edges, open_mapped, read, write
from formats.named import reading

pytestmark = [
    pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timer that sends a signal"),
    # a signal may come between the opening of a file and the block that closes it: then Python closes it, and says so
    pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

EDGES = 60_000


class Alarm(Exception):
    """What the handler raises."""


@pytest.fixture
def alarm() -> Iterator[Callable[[float], None]]:
    """alarm(seconds): have the handler raise then."""

    def ring(*_: Any) -> None:
        raise Alarm

    before = signal.signal(signal.SIGALRM, ring)
    yield lambda seconds: signal.setitimer(signal.ITIMER_REAL, seconds) and None
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def made(folder: Path, kind: str) -> tuple[Path, Callable[[Path], Any]]:
    """A file of that kind, and what reads it as a matrix."""
    rng = np.random.default_rng(1)
    u, v, w = rng.integers(0, 5000, EDGES), rng.integers(0, 5000, EDGES), rng.integers(1, 99, EDGES)
    A = from_edges(u, v, w, shape=5000)
    path = folder / f"graph{kind}"
    if kind == ".names.csv":
        path.write_text("from,to,km\n" + "".join(f"v{i},v{j},{x}\n" for i, j, x in zip(u, v, w, strict=True)))
        return path, lambda file: Graph.read(file).matrix
    if kind == ".scipy.npz":
        scipy.sparse.save_npz(path, A.to_scipy())
    else:
        write(path, A)
    return path, (lambda file: open_mapped(file)) if kind == "" else read


@pytest.mark.skipif(threading.current_thread() is not threading.main_thread(), reason="signals come to the main thread")
@pytest.mark.parametrize("kind", [".mtx", ".csv", ".gr", ".txt.gz", ".npz", ".scipy.npz", "", ".names.csv"])
def test_an_interrupted_reader_leaves_nothing_behind(
    kind: str, tmp_path: Path, alarm: Callable[[float], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "LARGE_BYTES", 0)
    path, reader = made(tmp_path, kind)
    expected = reader(path)
    ended = 0
    for seconds in np.geomspace(1e-4, 3e-2, 12):
        try:
            try:
                alarm(float(seconds))
                reader(path)
            finally:
                alarm(0.0)  # which a signal may end, too
        except Alarm:
            ended += 1
        assert reader(path).equals(expected)
    assert ended > 0
