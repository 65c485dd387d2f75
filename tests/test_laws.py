"""Every law that a semiring or monoid declares, on every dtype, within a range where nothing overflows.

GraphBLAST once shipped max with the identity 0. A declaration here is checked, and so is that the check can fail.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

from semiring import MONOIDS, OPERATORS, SEMIRINGS, BinaryOp, Law, Monoid, Semiring

from . import strategies as sts

pytestmark = pytest.mark.quick

LAWS: dict[Law, Callable[[Semiring, Any, Any, Any, Any], tuple[Any, Any]]] = {
    Law.DISTRIBUTES_LEFT: lambda s, a, b, c, zero: (s.mul(a, s.add(b, c)), s.add(s.mul(a, b), s.mul(a, c))),
    Law.DISTRIBUTES_RIGHT: lambda s, a, b, c, zero: (s.mul(s.add(a, b), c), s.add(s.mul(a, c), s.mul(b, c))),
    Law.ASSOCIATIVE: lambda s, a, b, c, zero: (s.mul(s.mul(a, b), c), s.mul(a, s.mul(b, c))),
    Law.COMMUTATIVE: lambda s, a, b, c, zero: (s.mul(a, b), s.mul(b, a)),
    Law.IDEMPOTENT: lambda s, a, b, c, zero: (s.add(a, a), a),
    Law.ANNIHILATES_LEFT: lambda s, a, b, c, zero: (s.mul(zero, a), zero),
    Law.ANNIHILATES_RIGHT: lambda s, a, b, c, zero: (s.mul(a, zero), zero),
}
"""Both sides of each law that is an equation."""


def sample(semiring: Semiring, dtype: np.dtype) -> list[Any]:
    """Small numbers and the zero: no sum or product of three of them leaves the range, or rounds.

    Where ⊗ neither adds nor multiplies nothing can overflow, and the ends of the range are in, too.
    """
    if dtype == sts.BOOL:
        return [np.False_, np.True_]
    zero = semiring.zero(dtype)
    numbers = [dtype.type(x) for x in (-9, -2, -1, 0, 1, 3, 8)]
    if semiring.mul.saturating is None:
        ends = np.iinfo(dtype) if dtype.kind == "i" else np.finfo(dtype)
        numbers += [dtype.type(ends.min), dtype.type(ends.max)]
    return [*numbers, zero] if _zero_is_safe(semiring, dtype) else numbers


def _zero_is_safe(semiring: Semiring, dtype: np.dtype) -> bool:
    """An integer zero at the end of the range does not survive ⊗ = plus with a number of the other sign."""
    return not (dtype.kind == "i" and semiring.mul.saturating is not None and semiring.add.name != "plus")


def counterexample(semiring: Semiring, law: Law, dtype: np.dtype) -> tuple[Any, ...] | None:
    """Values for which the law fails; None if there are none in the sample."""
    zero = semiring.zero(dtype)
    with np.errstate(invalid="ignore"):
        for a, b, c in product(sample(semiring, dtype), repeat=3):
            if law == Law.SELECTIVE:
                holds = semiring.add(a, b) in (a, b)
            elif law == Law.UNIT:
                one = semiring.unit(dtype)
                holds = semiring.mul(one, a) == a == semiring.mul(a, one)
            else:
                left, right = LAWS[law](semiring, a, b, c, zero)
                if law in (Law.ANNIHILATES_LEFT, Law.ANNIHILATES_RIGHT) and not _zero_is_safe(semiring, dtype):
                    left = zero if (a < 0) == (zero > 0) else left  # there the kernels themselves keep the zero
                holds = left == right
            if not holds:
                return a, b, c
    return None


DECLARED = [(s, law, dtype) for s in SEMIRINGS.values() for law in sorted(s.laws) for dtype in s.dtypes]


@pytest.mark.parametrize(
    ("semiring", "law", "dtype"), DECLARED, ids=[f"{s.name}-{law.name.lower()}-{dtype}" for s, law, dtype in DECLARED]
)
def test_every_declared_law_holds(semiring, law, dtype):
    found = counterexample(semiring, law, dtype)
    assert found is None, f"{semiring.name} breaks {law} on {dtype} for {found}"


# --- monoids ----------------------------------------------------------------------------------------------------------


def monoid_faults(monoid: Monoid, dtype: np.dtype) -> list[str]:
    """What is wrong with the monoid's declaration, in words."""
    ends = [monoid.zero(dtype)]
    numbers = [np.False_, np.True_] if dtype == sts.BOOL else [dtype.type(x) for x in (-3, -1, 0, 1, 2)]
    if monoid.op.saturating is None and dtype != sts.BOOL:
        info = np.iinfo(dtype) if dtype.kind == "i" else np.finfo(dtype)
        ends += [dtype.type(info.min), dtype.type(info.max)]
    values, identity, faults = [*numbers, *ends], monoid.zero(dtype), []
    for a in values:
        if not monoid(a, identity) == a == monoid(identity, a):
            faults.append(f"{identity} is no identity for {a}")
        if monoid.idempotent and monoid(a, a) != a:
            faults.append(f"not idempotent at {a}")
    for a, b in product(values, repeat=2):
        if monoid.name != "any" and monoid(a, b) != monoid(b, a):
            faults.append(f"not commutative at {a}, {b}")
        if monoid.selective and monoid(a, b) not in (a, b):
            faults.append(f"not selective at {a}, {b}")
        if monoid.terminal and a != identity and monoid(a, b) != a:
            faults.append(f"not terminal at {a}, {b}")
    for a, b, c in product(numbers, repeat=3):
        if monoid(monoid(a, b), c) != monoid(a, monoid(b, c)):
            faults.append(f"not associative at {a}, {b}, {c}")
    return faults


@pytest.mark.parametrize("monoid", [*MONOIDS.values(), sts.BitOr], ids=lambda monoid: monoid.name)
def test_every_monoid_is_one(monoid):
    for dtype in monoid.dtypes:
        assert monoid_faults(monoid, dtype) == [], dtype
        assert np.asarray(monoid.zero(dtype)).dtype == dtype


@pytest.mark.parametrize("semiring", list(SEMIRINGS.values()), ids=lambda semiring: semiring.name)
def test_the_zero_is_the_identity_of_addition(semiring):
    assert set(semiring.dtypes) <= set(semiring.add.dtypes)
    for dtype in semiring.dtypes:
        zero = semiring.zero(dtype)
        assert zero.dtype == dtype
        assert all(semiring.add(a, zero) == a for a in sample(semiring, dtype))
        assert semiring.add.idempotent == (Law.IDEMPOTENT in semiring.laws)
        assert semiring.add.selective == (Law.SELECTIVE in semiring.laws)
        assert (semiring.one is not None) == (Law.UNIT in semiring.laws)


# --- the check can fail -----------------------------------------------------------------------------------------------

FALSE = [
    ("min_first", Law.COMMUTATIVE),
    ("min_first", Law.ANNIHILATES_RIGHT),
    ("min_second", Law.COMMUTATIVE),
    ("min_second", Law.ANNIHILATES_LEFT),
    ("any_pair", Law.ANNIHILATES_LEFT),
    ("any_pair", Law.ANNIHILATES_RIGHT),
    ("plus_times", Law.IDEMPOTENT),
    ("plus_times", Law.SELECTIVE),
]


@pytest.mark.parametrize(("name", "law"), FALSE)
def test_a_law_that_is_not_declared_is_false(name, law):
    semiring = SEMIRINGS[name]
    assert law not in semiring.laws
    assert any(counterexample(semiring, law, dtype) is not None for dtype in semiring.dtypes)


def test_a_wrong_identity_is_caught():
    wrong = Monoid(OPERATORS["max"], 0, idempotent=True, selective=True)
    assert "0 is no identity for -3" in monoid_faults(wrong, sts.INT32)


def test_an_operator_of_the_users_own_that_was_used_on_floats_is_exact_on_integers():
    """The machine code for floats would take integers, too, and round them."""
    off = BinaryOp("off", scalar=lambda a, b: a - b, cuda="a - b")
    assert off(np.float64(0.5), np.float64(0.25)) == 0.25
    assert off(np.int64(2**62 + 1), np.int64(0)) == 2**62 + 1
    assert off(np.float32(0.5), np.float32(0.25)).dtype == np.float32


@pytest.mark.parametrize(
    ("monoid", "fault"),
    [
        (Monoid(OPERATORS["minus"], 0), "not commutative at -3, -1"),
        (Monoid(OPERATORS["plus"], 0, idempotent=True), "not idempotent at -3"),
        (Monoid(OPERATORS["plus"], 0, selective=True), "not selective at -3, -3"),
        (Monoid(OPERATORS["max"], "lowest", terminal=True), "not terminal at -3, -1"),
        (Monoid(sts.AbsDiff, 0), "not associative at -3, -3, -1"),
    ],
)
def test_a_wrong_declaration_of_a_monoid_is_caught(monoid, fault):
    assert fault in monoid_faults(monoid, sts.INT64)


@pytest.mark.parametrize(
    ("add", "mul", "law"),
    [
        ("min", "times", Law.DISTRIBUTES_LEFT),
        ("max", "minus", Law.ASSOCIATIVE),
        ("plus", "min", Law.DISTRIBUTES_RIGHT),
        ("min", "plus", Law.COMMUTATIVE),
    ],
)
def test_a_wrong_declaration_of_a_semiring_is_caught(add, mul, law):
    """All but the last, which is true, so that the check is seen to pass by the same route."""
    found = counterexample(Semiring(MONOIDS[add], OPERATORS[mul], laws=frozenset({law})), law, sts.INT32)
    assert (found is None) == ((add, mul) == ("min", "plus"))


def test_a_unit_is_refused_where_there_is_none():
    with pytest.raises(ValueError, match="any_pair has no unit, so no path can start"):
        SEMIRINGS["any_pair"].unit(sts.INT32)
