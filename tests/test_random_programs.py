"""Random programs of verbs give the same bits as a whole as they give as written, and they are worth comparing."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable
from types import FunctionType
from typing import Any

import pytest

from semiring import ewise_add, fusible, threads

from .fuzzing import SEED
from .random_programs import MADE_SMALL, PER_KIND, SHARES, differing, effects, lines, program

QUICK = 60
"""Programs of the quick layer, of QUICK / PER_KIND kinds."""
COMPILED = 5
"""Programs of each kind that the quick layer compiles, which takes a few seconds each."""


@pytest.mark.quick
@pytest.mark.parametrize("first", range(SEED, SEED + QUICK, PER_KIND))
def test_some_random_programs_have_the_same_bits_as_a_whole(first: int) -> None:
    assert "\n".join(differing(range(first, first + COMPILED), fusible)) == ""


@pytest.mark.nightly
@pytest.mark.parametrize("count", [1, 2])
def test_random_programs_have_the_same_bits_as_a_whole(fuzz_seeds: range, count: int) -> None:
    with threads(count):
        assert "\n".join(differing(fuzz_seeds[count - 1 :: PER_KIND], fusible)) == ""


@pytest.mark.quick
def test_random_programs_run_and_their_statements_have_effects() -> None:
    seeds = range(SEED, SEED + QUICK)
    total = sum((effects(program(seed)) for seed in seeds), Counter[str]())
    run, again, effective, empty, constant = (total[what] / total[of] for what, of in SHARES)
    assert total["failed"] <= QUICK * 0.05
    assert run > 0.7
    assert again > 0.3
    assert effective > 0.6
    assert empty < 0.4
    assert constant < 0.2


@pytest.mark.quick
def test_a_random_program_is_reproduced_by_its_seed_and_shows_its_source() -> None:
    p, again = program(SEED), program(SEED)
    assert p.source == again.source
    assert inspect.getsource(p.function) == p.source[p.source.index("def program(") :]
    assert p.run(p.function) == again.run(again.function)


def with_a_fault(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, where ewise_add forgets its operator."""

    def wrong(u: Any, v: Any, op: Any, **rule: Any) -> Any:
        return ewise_add(u, v, "first", **rule)

    assert isinstance(function, FunctionType)
    return FunctionType(function.__code__, function.__globals__ | {"ewise_add": wrong}, function.__name__)


@pytest.mark.quick
def test_a_fault_is_found_and_told_in_a_few_statements() -> None:
    found = differing(range(SEED, SEED + 12), with_a_fault)
    assert len(found) >= MADE_SMALL
    for told in found[:MADE_SMALL]:
        assert told.startswith("seed 20261")
        assert "ewise_add(" in told or "relaxed(" in told
        body = told[told.index("def program(") :]
        assert len(body.splitlines()) < 25


@pytest.mark.quick
def test_a_statement_is_left_out_with_what_is_inside() -> None:
    p = program(SEED)
    loop = next(node for node in p.nodes if node.head.startswith(("for", "while")))
    left = p.without(loop)
    assert len(list(lines(left.nodes))) < len(list(lines(p.nodes)))
