"""⊕ and ⊗ as the loops of elimination compute them: one product and one comparison, without a branch.

Lengths of non-negative integers are computed as unsigned ones: no sum of two of them wraps, and every sum that
saturates is worse than the zero, which is the largest signed integer. Floats need no test either, nor do operators that
give one of their operands. All else is the exact product of `semiring.cpu.kernels`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from algorithms.fused.cpu.relaxation import orders
from semiring import MONOIDS, OPERATORS, Law, Semiring
from semiring.algebra.portable import Portable, made_once
from semiring.cpu.kernels import inlined, plain_product, product_function

UNSIGNED: dict[Any, np.dtype] = {np.dtype(np.int32): np.dtype(np.uint32), np.dtype(np.int64): np.dtype(np.uint64)}


@dataclass(frozen=True)
class Algebra(Portable):
    """The arithmetic of the loops.

    dtype: of numbers as the loops see them.  zero, unit: of that dtype.  compose: (a, b) -> a ⊗ b.  better: true if
    the first is strictly better.
    """

    dtype: np.dtype
    zero: Any
    unit: Any
    compose: Any
    better: Any


@made_once
def algebra(s: Semiring, dtype: np.dtype, lengths: bool) -> Algebra:
    """Returns the arithmetic of a semiring and a dtype.  lengths: true if no weight makes a path better."""
    better, _ = orders(s)
    zero, unit = s.zero(dtype), s.unit(dtype)
    plus = s.adds_weights
    if plus and s.add == MONOIDS["min"] and dtype.kind == "i" and lengths:
        work = UNSIGNED[dtype]
        number = work.type
        return Algebra(work, number(zero), number(unit), inlined(lambda a, b: number(a + b)), better)
    chooses = s.mul.name in ("min", "max", "land", "lor") and OPERATORS.get(s.mul.name) == s.mul
    keeps_zero = {Law.ANNIHILATES_LEFT, Law.ANNIHILATES_RIGHT} <= s.laws
    ordered = s.add in (MONOIDS["min"], MONOIDS["max"]) or dtype.kind == "b"
    plain = keeps_zero and ordered and (chooses or (plus and dtype.kind == "f"))
    compose = (plain_product if plain else product_function)(s, dtype, True)
    return Algebra(dtype, zero, unit, compose, better)
