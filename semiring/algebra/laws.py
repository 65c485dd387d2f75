"""Counterexamples of the laws that a semiring declares.

Algorithms rely on laws. A fused run may take paths in another order than the equations do, which is right if ⊗
distributes over ⊕. A sum may stop at its first term if ⊕ is terminal. A false law makes answers wrong, and the fused
run and the definition may then differ.

The values tried are small numbers that nothing rounds or overflows, random ones, and the ends of the range for
operators that do not leave it. A law without a counterexample is likely, not proven.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, cast

import numpy as np
from numpy.typing import DTypeLike

from formats import DeviceUnavailable
from formats.arrays import cupy, to_device

from .ops import OPERATORS, BinaryOp
from .semirings import Law, Semiring, find_semiring

Sides = Callable[[Any, Any, Any], tuple[Any, Any]]
"""Both sides of an equation in a, b and c, as arrays."""

ROUNDING = 8
"""Units in the last place by which both sides of an equation of floats may differ."""


@dataclass(frozen=True)
class LawCheck:
    """The result of `check_laws`; it is true if no law is broken.

    Attributes:
        semiring: the one that was checked.
        dtype: of the values.
        counterexamples: the first values that break a law, by the law.
        checked: every law that was tried.
        cuda: a sentence that says whether CUDA expressions were compared with scalar functions.

    Example:
        >>> bool(check_laws("min_plus", "int32")), check_laws("min_plus", "int32").counterexamples
        (True, {})
    """

    semiring: Semiring
    dtype: np.dtype
    counterexamples: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    checked: tuple[str, ...] = ()
    cuda: str = ""

    def __bool__(self) -> bool:
        return not self.counterexamples

    def __str__(self) -> str:
        lines = [f"{self.semiring.name} on {self.dtype}: {len(self.checked)} laws, {len(self.counterexamples)} broken"]
        for law, values in self.counterexamples.items():
            named = ", ".join(f"{name} = {x}" for name, x in zip("abc", values, strict=False))
            lines.append(f"    {law}: not for {named}")
        return "\n".join([*lines, f"    {self.cuda}"])


def check_laws(
    semiring: Semiring | str, dtype: DTypeLike = "float64", *, seed: int = 0, rtol: float = 0.0, atol: float = 0.0
) -> LawCheck:
    """Look for values that break a law of a semiring.

    Args:
        semiring: by object or name. Its declared laws, and for ⊕ those of a monoid, are tried within its domain.
        dtype: one that the semiring is defined on.
        seed: of the random values.
        rtol, atol: how far both sides of a law may lie apart in floats: rtol times the larger one, plus atol. Eight
            units in the last place are always allowed; of integers and Booleans nothing.

    Returns:
        A `LawCheck`, which is true if no law is broken, and has the first counterexample of each broken law. With a GPU
        `cuda=` and `scalar=` were compared, too; without one, the `LawCheck` says so.

    Raises:
        TypeError: the semiring is not defined on the dtype, or a tolerance is no number.
        ValueError: a tolerance is negative or not finite, or is given for a dtype without rounding.

    Example:
        >>> from semiring import MONOIDS, BinaryOp, Law
        >>> absdiff = BinaryOp("absdiff", scalar=lambda a, b: abs(a - b))
        >>> found = check_laws(Semiring(MONOIDS["min"], absdiff, laws={Law.DISTRIBUTES_LEFT}), "int32")
        >>> bool(found), list(found.counterexamples)
        (False, ['a ⊗ (b ⊕ c) = (a ⊗ b) ⊕ (a ⊗ c)'])

    Source: K. Claessen, J. Hughes, QuickCheck: a lightweight tool for random testing of Haskell programs, ICFP 2000.
    """
    s, dt = find_semiring(semiring), np.dtype(dtype)
    if dt not in s.dtypes:
        raise TypeError(f"{s.name} is not defined on {dt}; it is on {', '.join(d.name for d in s.dtypes)}")
    tolerance = _tolerance(dt, rtol, atol)
    found: dict[str, tuple[Any, ...]] = {}
    checked = []
    values = sample(s, dt, np.random.default_rng(seed))
    with np.errstate(all="ignore"):
        for law, sides, operands in equations(s, dt, values):
            checked.append(str(law))
            counterexample = first_difference(sides, operands, *tolerance)
            if counterexample is not None:
                found[str(law)] = counterexample
    differing, sentence = compare_with_cuda(s, values, tolerance)
    return LawCheck(s, dt, found | differing, tuple(checked), sentence)


def _tolerance(dtype: np.dtype, rtol: Any, atol: Any) -> tuple[float, float]:
    """Both, checked."""
    for name, value in (("rtol", rtol), ("atol", atol)):
        if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
            raise TypeError(f"{name} must be a number, got {value!r}")
        if not 0 <= value < np.inf:
            raise ValueError(f"{name} must be finite and not negative, got {value}")
        if value and dtype.kind != "f":
            raise ValueError(f"{name} is for floats: values of {dtype} are exact, got {value}")
    return float(rtol), float(atol)


def sample(s: Semiring, dtype: np.dtype, rng: np.random.Generator) -> np.ndarray:
    """Values of the semiring's domain, without its zero, of which three can be added and multiplied exactly."""
    if dtype.kind == "b":
        return np.array([False, True])
    small = [-9, -3, -2, -1, 0, 1, 2, 3, 8, *rng.integers(-50, 50, 8)]
    if dtype.kind == "f":
        small += [x / 8 for x in rng.integers(-64, 64, 6)]
    values = np.array(small, dtype)
    shipped = all(OPERATORS.get(op.name) == op for op in (s.add.op, s.mul))
    if shipped and s.mul.saturating is None and s.add.op.saturating is None:
        info: Any = np.iinfo(dtype) if dtype.kind == "i" else np.finfo(dtype)
        values = np.append(values, np.array([info.min, info.max], dtype))
    if s.domain is not None:
        values = values[(values >= s.domain[0]) & (values <= s.domain[1])]
    return np.unique(values[values != s.zero(dtype)])


def equations(s: Semiring, dtype: np.dtype, values: np.ndarray) -> Iterator[tuple[str, Sides, tuple[np.ndarray, ...]]]:
    """Yields each declared law of ⊕ and ⊗ with its two sides and the values of a, b and c to try."""
    add, zero, mul = s.add, s.zero(dtype), cast(Callable[[Any, Any], Any], s.mul.computed)
    a, b, c = (part.ravel() for part in np.meshgrid(values, values, values, indexing="ij"))
    yield "a ⊕ zero = a = zero ⊕ a", _both(lambda x: (add(x, zero), add(zero, x))), (values,)
    if add.op.name != "any":
        yield "a ⊕ b = b ⊕ a", lambda x, y, z: (add(x, y), add(y, x)), (a, b)
    yield "(a ⊕ b) ⊕ c = a ⊕ (b ⊕ c)", lambda x, y, z: (add(add(x, y), z), add(x, add(y, z))), (a, b, c)
    if add.terminal:
        there = a != zero
        yield "a ⊕ b = a, as ⊕ is terminal", lambda x, y, z: (add(x, y), x), (a[there], b[there])
    if Law.IDEMPOTENT in s.laws:
        yield Law.IDEMPOTENT, lambda x, y, z: (add(x, x), x), (values,)
    if Law.SELECTIVE in s.laws:
        yield Law.SELECTIVE, lambda x, y, z: (add(x, y), np.where(add(x, y) == x, x, y)), (a, b)
    sides: dict[Law, Sides] = {
        Law.DISTRIBUTES_LEFT: lambda x, y, z: (mul(x, add(y, z)), add(mul(x, y), mul(x, z))),
        Law.DISTRIBUTES_RIGHT: lambda x, y, z: (mul(add(x, y), z), add(mul(x, z), mul(y, z))),
        Law.ASSOCIATIVE: lambda x, y, z: (mul(mul(x, y), z), mul(x, mul(y, z))),
        Law.COMMUTATIVE: lambda x, y, z: (mul(x, y), mul(y, x)),
    }
    for law, equation in sides.items():
        if law in s.laws:
            yield law, equation, (a, b, c)
    if s.one is not None:
        one = s.unit(dtype)
        yield Law.UNIT, _both(lambda x: (mul(one, x), mul(x, one))), (values,)
    kept = values
    if dtype.kind == "i" and zero != 0:  # the end of the range, where kernels keep what is absent
        if OPERATORS.get(s.mul.name) != s.mul:
            kept = values[:0]  # ⊗ is never given it
        elif s.mul.saturating is not None:
            kept = values[(values >= 0) == (zero > 0)]  # it leaves that end only towards the middle
    if Law.ANNIHILATES_LEFT in s.laws:
        yield Law.ANNIHILATES_LEFT, lambda x, y, z: (mul(zero, x), np.full_like(x, zero)), (kept,)
    if Law.ANNIHILATES_RIGHT in s.laws:
        yield Law.ANNIHILATES_RIGHT, lambda x, y, z: (mul(x, zero), np.full_like(x, zero)), (kept,)


def _both(sides: Callable[[Any], tuple[Any, Any]]) -> Sides:
    """The equation that two terms in a are a."""

    def stacked(x: Any, y: Any, z: Any) -> tuple[Any, Any]:
        left, right = sides(x)
        return np.where(left == x, right, left), x

    return stacked


def first_difference(
    sides: Sides, operands: tuple[np.ndarray, ...], rtol: float = 0.0, atol: float = 0.0
) -> tuple[Any, ...] | None:
    """The first operands whose two sides differ by more than rounding and a tolerance; None if there are none."""
    left, right = map(np.asarray, sides(*(operands + (None,) * 2)[:3]))
    differs = (left != right) & ~((left != left) & (right != right))
    if left.dtype.kind == "f":
        both = np.maximum(np.abs(left), np.abs(right))
        with np.errstate(over="ignore", invalid="ignore"):  # the step behind the largest number is infinite
            allowed = ROUNDING * np.spacing(both) + (rtol * both + atol)
            near = np.isfinite(both) & (np.abs(left - right) <= allowed)
        differs &= ~near
    if not differs.any():
        return None
    at = int(differs.argmax())
    return tuple(part[at].item() for part in operands)


def compare_with_cuda(
    s: Semiring, values: np.ndarray, tolerance: tuple[float, float]
) -> tuple[dict[str, tuple[Any, ...]], str]:
    """Returns operands for which CUDA and scalar function differ, and a sentence on what was compared."""
    operators = {"⊕": s.add.on(values.dtype), "⊗": s.mul}
    try:
        for op in operators.values():
            op.expression(values.dtype)
        cupy()
    except (DeviceUnavailable, ValueError) as reason:
        return {}, f"that cuda= means what scalar= means was not checked: {reason}"
    a, b = (part.ravel() for part in np.meshgrid(values, values, indexing="ij"))
    found = {}
    for sign, op in operators.items():
        both: Sides = lambda x, y, z, op=op: (op.computed(x, y), _on_device(op, x, y))  # type: ignore[misc]  # noqa: E731
        pair = first_difference(both, (a, b), *tolerance)
        if pair is not None:
            found[f"the cuda= of {sign} means what its scalar= means"] = pair
    return found, "cuda= and scalar= were compared on the GPU"


def _on_device(op: BinaryOp, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The operator by its CUDA expression."""
    return to_device(op.computed(to_device(a, "cuda"), to_device(b, "cuda")), "cpu")


@lru_cache(maxsize=128)
def first_broken_law(s: Semiring, dtype: np.dtype) -> str:
    """The first law of ⊕, of distribution or of the unit that a semiring of the user's breaks; "" if none is found.

    Tried in plain Python, on a few values: it costs milliseconds, once, and nothing is compiled. A law is passed over
    where Python raises what compiled code does not: it divides by zero, and has no end of the range.
    """
    if all(OPERATORS.get(op.name) == op for op in (s.add.op, s.mul)):
        return ""
    add, mul = (replace(op, array=_in_python(op), saturating=None, partial=False) for op in (s.add.op, s.mul))
    laws = s.laws - {Law.ASSOCIATIVE, Law.COMMUTATIVE, Law.ANNIHILATES_LEFT, Law.ANNIHILATES_RIGHT}
    plain = Semiring(replace(s.add, op=add), mul, s.dtypes, s.one, laws, s.domain)
    few = sample(s, dtype, np.random.default_rng(0))[:: 2 if dtype.kind != "b" else 1]
    with np.errstate(all="ignore"):
        for law, sides, operands in equations(plain, dtype, few):
            with suppress(ArithmeticError, ValueError):
                if first_difference(sides, operands) is not None:
                    return str(law)
    return ""


def _in_python(op: BinaryOp) -> Callable[[Any, Any], Any]:
    """The operator on arrays, one element after the other, as its scalar function says."""
    each = np.frompyfunc(getattr(op.scalar, "py_func", op.scalar), 2, 1)
    return lambda a, b: np.asarray(each(a, b)).astype(np.result_type(a, b))
