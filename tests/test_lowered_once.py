"""Loops that differ in what they call are typed and lowered once, and each computes what it calls."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import semiring.cpu.compiler.jit as jit
from semiring.cpu.kernels import compiled
from semiring.cpu.lanes import across
from semiring.kernels.machine_code import Store

pytestmark = pytest.mark.quick


@pytest.fixture(autouse=True)
def _nothing_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jit, "CPU", Store("CPU kernels", "NUMBA_CACHE_DIR", lambda: tmp_path))


@pytest.fixture
def lowered(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the functions that Numba has lowered during a test."""
    import semiring.cpu.compiler.compiler as compiler

    names: list[str] = []
    original = compiler.compiler.compile_extra

    def noting(typing: Any, target: Any, function: Any, *rest: Any, **more: Any) -> Any:
        names.append(function.__name__)
        return original(typing, target, function, *rest, **more)

    monkeypatch.setattr(compiler.compiler, "compile_extra", noting)
    monkeypatch.setattr(compiler, "_first_of_its_kind", {})
    return names


def folding(step: Callable[..., Any], start: Any = 0) -> Any:
    """A kernel: step over an array's elements."""

    def fold(x):
        total = start
        for k in range(x.size):
            total = step(total, x[k])
        return total

    return compiled(fold)


NUMBERS = np.array([3, 1, 4, 1, 5])


def test_a_loop_is_lowered_once_for_all_that_it_calls(lowered: list[str]) -> None:
    steps = (lambda a, b: a + b, lambda a, b: a * 2 + b, lambda a, b: a if a > b else b)
    assert [folding(step)(NUMBERS) for step in steps] == [14, 3 * 16 + 8 + 4 * 4 + 2 + 5, 5]
    assert lowered.count("fold") == 1
    assert lowered.count("<lambda>") == 3


def test_equal_functions_are_lowered_once(lowered: list[str]) -> None:
    def step(shift: int) -> Any:
        return lambda a, b: a + b - shift

    assert [folding(step(shift))(NUMBERS) for shift in (0, 1, 0, 1)] == [14, 9, 14, 9]
    assert lowered.count("<lambda>") == 2


def test_other_constants_other_types_and_other_arguments_are_lowered_anew(lowered: list[str]) -> None:
    add, half = (lambda a, b: a + b), (lambda a, b: (a + b) / 2)
    assert folding(add)(NUMBERS) == 14
    assert folding(add, 100)(NUMBERS) == 114
    assert folding(half)(NUMBERS[:2]) == 1.25
    assert folding(add)(NUMBERS / 2) == 7.0
    assert lowered.count("fold") == 4


def test_functions_that_call_functions_are_told_apart(lowered: list[str]) -> None:
    def within(inner: Callable[[Any], Any]) -> Any:
        def step(a, b):
            return a + inner(b)

        return step

    inner = (lambda b: b * b, lambda b: -b)
    assert [folding(within(each))(NUMBERS) for each in inner] == [9 + 1 + 16 + 1 + 25, -14]
    assert lowered.count("fold") == lowered.count("step") == 1


def test_two_that_one_kernel_calls_may_be_alike_and_change_places() -> None:
    def kernel(first: Callable[..., Any], second: Callable[..., Any]) -> Any:
        def both(x, y):
            return 10 * first(x, y) + second(x, y)

        return compiled(both)

    add, subtract = (lambda a, b: a + b), (lambda a, b: a - b)
    made = [kernel(*pair)(7, 2) for pair in ((add, subtract), (subtract, add), (add, add), (subtract, subtract))]
    assert made == [95, 59, 99, 55]


def test_lanes_are_made_once_for_all_steps(lowered: list[str]) -> None:
    def kernel(step: Callable[..., Any]) -> Any:
        lanes = across(step, 2, 4)

        def along(y, x):
            lanes(y, 0, x, 1)

        return compiled(along)

    for step, expected in ((lambda y, x: y + x, [11, 12, 13, 14]), (lambda y, x: y * x, [10, 20, 30, 40])):
        y = np.full(4, 10)
        kernel(step)(y, np.arange(5))
        assert y.tolist() == expected
    assert lowered.count("along") == 1
