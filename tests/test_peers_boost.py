"""Boost is compiled once, and where it cannot be had, the reason is told."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.peers import boost as boost_peer


@pytest.fixture
def nothing_known(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Boost's compiler and headers, looked for anew."""
    for known in (boost_peer.boost_version, boost_peer.compiled):
        known.cache_clear()
    yield
    monkeypatch.undo()
    for known in (boost_peer.boost_version, boost_peer.compiled):
        known.cache_clear()


def test_without_a_compiler_there_is_no_boost(nothing_known: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert boost_peer.missing() == "there is no C++ compiler (g++)"


needs_compiler = pytest.mark.skipif(boost_peer.shutil.which("g++") is None, reason="there is no C++ compiler (g++)")


@needs_compiler
def test_without_its_headers_there_is_no_boost(nothing_known: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boost_peer, "PROBE", boost_peer.PROBE.replace("boost/graph/", "boost/absent/"))
    assert boost_peer.missing() == "libboost-graph-dev is not installed"


@needs_compiler
def test_a_source_that_does_not_compile_is_a_reason(
    nothing_known: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "boost.cpp").write_text("not C++", encoding="utf-8")
    monkeypatch.setattr(boost_peer, "SOURCE", tmp_path / "boost.cpp")
    monkeypatch.setattr(boost_peer, "PROBE", 'found "1_0"')
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert "does not compile" in str(boost_peer.missing())
    assert not list(tmp_path.rglob("*.so"))


@needs_compiler
def test_the_library_is_compiled_once(nothing_known: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "boost.cpp").write_text('extern "C" int answer() { return 42; }', encoding="utf-8")
    monkeypatch.setattr(boost_peer, "SOURCE", tmp_path / "boost.cpp")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert boost_peer.compiled().answer() == 42
    (made,) = tmp_path.rglob("*.so")
    when = made.stat().st_mtime_ns
    boost_peer.compiled.cache_clear()
    assert boost_peer.compiled().answer() == 42
    assert made.stat().st_mtime_ns == when
    assert [path.name for path in made.parent.iterdir()] == [made.name]
