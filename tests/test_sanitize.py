"""compute-sanitizer watches every kernel that the CUDA text defines."""

from __future__ import annotations

from typing import Any

import pytest

from semiring.cuda import compile

from . import conftest, sanitize
from .gpu_record import sources


def test_every_kernel_is_found_in_the_cuda_text() -> None:
    texts = [(sanitize.ROOT / path).read_text(encoding="utf-8") for path in sources()]
    names = sanitize.kernels()
    assert len(names) == sum(text.count("__global__") for text in texts)
    assert {"gather_blocks", "write_merged", "sum_counts", "deep", "follow", "pointwise"} <= {*names}


def test_the_tests_that_are_watched_are_there() -> None:
    assert all((sanitize.ROOT / module).exists() for cases in sanitize.CASES.values() for module in cases)


def test_kernels_that_ran_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Any] = []
    launched: set[str] = set()
    monkeypatch.setattr(compile.Module, "get_function", lambda self, name, cooperative=False: calls.append)
    conftest.note_kernels(launched)
    module = object.__new__(compile.Module)
    kernels = {name: module.get_function(name) for name in ("deep", "search")}
    kernels["deep"]("grid")
    assert (calls, launched) == (["grid"], {"deep"})
    hand = sanitize.Hand("memcheck", sanitize.QUEUES, ("one",))
    told = sanitize.Outcome(hand, 0, f"1 passed\n{sanitize.LAUNCHED}deep search\n", 1.0)
    assert told.kernels == ["deep", "search"]


@pytest.mark.parametrize(
    ("status", "output", "said"),
    [
        (0, "2 passed in 9.1s", "2 of 2 tests passed, nothing found"),
        (0, "1 passed, 1 skipped in 9.1s", "1 of 2 tests passed, FAILED"),
        (1, "1 failed, 1 passed in 9.1s", "1 of 2 tests passed, FAILED"),
        (sanitize.FOUND, "2 passed in 9.1s", "2 of 2 tests passed, FINDINGS"),
    ],
    ids=["clean", "skipped", "failed", "found"],
)
def test_only_tests_that_passed_with_nothing_found_are_clean(status: int, output: str, said: str) -> None:
    hand = sanitize.Hand("memcheck", sanitize.PARTS, ("one", "two"))
    outcome = sanitize.Outcome(hand, status, output, 9.4)
    assert outcome.clean == ("nothing found" in said)
    assert str(outcome) == f"memcheck, {sanitize.PARTS}: {said}, 9 s"


def test_each_test_is_dealt_to_one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = {sanitize.TILES: [f"t{k}" for k in range(7)], sanitize.PARTS: ["p0"]}
    monkeypatch.setattr(sanitize, "collect", lambda cases: listed)
    hands = sanitize.deal("racecheck")
    assert sorted(test for hand in hands for test in hand.tests) == sorted(sum(listed.values(), []))
    assert all(0 < len(hand.tests) <= sanitize.HAND and {*hand.tests} <= {*listed[hand.module]} for hand in hands)
