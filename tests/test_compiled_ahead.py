"""Units that a call is about to need are compiled side by side, once each, and found by those who ask for them."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bench.cliffs.cold import ANSWERS, nothing_kept
from semiring.cuda import compile
from semiring.kernels.machine_code import Store

TOGETHER = 3


class Device(nullcontext[None]):
    compute_capability = "90"

    def __init__(self, number: int = 0) -> None:
        super().__init__()


class Compiler:
    """Stands for CuPy. A text that begins with "together" is done when so many of them are begun."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.together = threading.Barrier(TOGETHER, timeout=20)
        self.cuda = SimpleNamespace(
            compiler=SimpleNamespace(compile_using_nvrtc=self.compile),
            nvrtc=SimpleNamespace(getVersion=lambda: (13, 0)),
            runtime=SimpleNamespace(getDevice=lambda: 0),
            Device=Device,
        )

    def compile(self, text: str, options: Any) -> tuple[bytes, None]:
        self.texts.append(text)
        if text.startswith("together"):
            self.together.wait()
        if text.startswith("wrong"):
            raise ValueError(text)
        return text.encode(), None


@pytest.fixture
def compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Compiler:
    found = Compiler()
    monkeypatch.setattr(compile, "cupy", lambda: found)
    monkeypatch.setattr(compile, "CUDA", Store("GPU kernels", "CUPY_CACHE_DIR", lambda: tmp_path))
    monkeypatch.setattr(compile, "PROCESSORS", 8)
    monkeypatch.setattr(compile, "_begun", {})
    compile._begin.cache_clear()
    compile._threads.cache_clear()
    return found


def test_units_are_compiled_at_once_and_each_of_them_once(compiler: Compiler) -> None:
    texts = [f"together {number}" for number in range(TOGETHER)]
    for _ in range(2):
        compile.ahead(*((str, text) for text in texts))
    assert [compile.machine_code(text, "a test") for text in texts] == [text.encode() for text in texts]
    assert [compile.machine_code(text, "a test") for text in texts] == [text.encode() for text in texts]
    assert sorted(compiler.texts) == texts


def test_what_nobody_asked_for_is_kept_for_the_next_process(compiler: Compiler) -> None:
    compile.ahead((str, "unasked"))
    (begun,) = compile._begun.values()
    assert begun.result() == b"unasked"
    compile._begun.clear()
    assert compile.machine_code("unasked", "a test") == b"unasked"
    assert compiler.texts == ["unasked"]


def test_who_asks_is_told_what_was_wrong(compiler: Compiler) -> None:
    compile.ahead((str, "wrong"))
    for _ in range(2):
        with pytest.raises(ValueError, match="wrong"):
            compile.machine_code("wrong", "a test")
    assert compiler.texts == ["wrong", "wrong"]


def test_one_processor_compiles_only_what_is_asked_for(compiler: Compiler, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compile, "PROCESSORS", 1)
    compile.ahead((str, "one"))
    assert not compile._begun
    assert compile.machine_code("one", "a test") == b"one"


def test_who_asks_does_not_wait_for_a_thread(compiler: Compiler, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the two texts that wait for each other, the only thread has the first, and the caller takes the second."""
    monkeypatch.setattr(compile, "PROCESSORS", 2)
    compiler.together = threading.Barrier(2, timeout=20)
    compile.ahead((str, "together 1"), (str, "together 2"))
    assert compile.machine_code("together 2", "a test") == b"together 2"
    assert compile.machine_code("together 1", "a test") == b"together 1"
    assert len(compiler.texts) == 2


SPY = """
import json, numpy as np, semiring.cuda.compile as compile
from algorithms import bfs, boruvka, scc, sssp
from formats import from_edges
compile.PROCESSORS = 8
A = from_edges([0, 1, 2, 3], [1, 2, 3, 0], np.array([2, 3, 4, 5], "float32")).to(device="cuda")
assert {test}
print(json.dumps([compile._begin.cache_info().currsize, len(compile._begun)]))
"""


@pytest.mark.backend("cuda")
@pytest.mark.parametrize("algorithm", ANSWERS)
def test_a_first_call_asks_for_all_that_it_begins(algorithm: str) -> None:
    with nothing_kept() as environment:
        command = [sys.executable, "-c", SPY.replace("{test}", ANSWERS[algorithm])]
        out = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    begun, unasked = json.loads(out)
    assert begun >= 2
    assert unasked == 0
