"""Monoids and semirings: the algebra that a product is computed in.

A semiring (⊕, ⊗) replaces the sum and the product of y_i = Σ_k A_ik x_k. Its *zero* is the identity of ⊕, and stands
for an absent entry. Each semiring here declares its zero, its dtypes and the laws that hold within a range where
nothing overflows; `tests/test_laws.py` checks every declaration.

[1] J. Kepner, J. Gilbert (eds.), Graph Algorithms in the Language of Linear Algebra, SIAM, 2011.
[2] M. Mohri, Semiring frameworks and algorithms for shortest-distance problems, J. Automata Lang. Comb. 7(3), 2002.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property, lru_cache
from typing import Any, Literal

import numpy as np

from formats import DTYPES
from formats.arrays import Array, Scalar

from .ops import OPERATORS, POSITIONS, BinaryOp, Names, find_op, name_of
from .portable import Portable, made_once
from .translation import literal

Identity = Literal["lowest", "highest"] | int | float | bool

BOOL, INT32, INT64, FLOAT32, FLOAT64 = DTYPES
NUMBERS = (INT32, INT64, FLOAT32, FLOAT64)


class Law(StrEnum):
    """A law that a semiring may declare; ⊕ is always associative and commutative.

    Example:
        >>> from semiring import MinPlus
        >>> Law.DISTRIBUTES_LEFT in MinPlus.laws, Law.DISTRIBUTES_LEFT.value
        (True, 'a ⊗ (b ⊕ c) = (a ⊗ b) ⊕ (a ⊗ c)')
    """

    IDEMPOTENT = "a ⊕ a = a"
    SELECTIVE = "a ⊕ b is a or b"
    DISTRIBUTES_LEFT = "a ⊗ (b ⊕ c) = (a ⊗ b) ⊕ (a ⊗ c)"
    DISTRIBUTES_RIGHT = "(a ⊕ b) ⊗ c = (a ⊗ c) ⊕ (b ⊗ c)"
    ANNIHILATES_LEFT = "zero ⊗ a = zero"
    ANNIHILATES_RIGHT = "a ⊗ zero = zero"
    ASSOCIATIVE = "(a ⊗ b) ⊗ c = a ⊗ (b ⊗ c)"
    COMMUTATIVE = "a ⊗ b = b ⊗ a"
    UNIT = "one ⊗ a = a ⊗ one = a"


@dataclass(frozen=True)
class Monoid(Portable):
    """An associative, commutative operator with an identity.

    Args:
        op: the operator.
        identity: a number, or "lowest" / "highest" for the ends of the dtype (infinities where it has them).
        dtypes: those it is defined on.
        idempotent: a ⊕ a = a.
        selective: a ⊕ b is a or b, so that ⊕ orders the values.
        terminal: a ⊕ b = a for every a but the identity, so that a sum may stop at its first term.

    Example:
        >>> from semiring import MONOIDS
        >>> import numpy as np
        >>> MONOIDS["min"].zero(np.dtype("float32")).item(), MONOIDS["min"].selective
        (inf, True)
    """

    op: BinaryOp
    identity: Identity
    dtypes: tuple[np.dtype, ...] = NUMBERS
    idempotent: bool = False
    selective: bool = False
    terminal: bool = False

    @property
    def name(self) -> str:
        return self.op.name

    def zero(self, dtype: np.dtype) -> np.number:
        """The identity as a scalar of `dtype`."""
        return end_of_range(dtype, self.identity) if isinstance(self.identity, str) else dtype.type(self.identity)

    def on(self, dtype: np.dtype) -> BinaryOp:
        """The operator on `dtype`. That of `any` takes the first operand unless it is the monoid's identity."""
        return self.op if self._shipped else _any_but(self.zero(dtype), dtype)

    @cached_property
    def _shipped(self) -> bool:
        return self.op != OPERATORS["any"] or self.identity == 0

    def __call__(self, a: Array | Scalar, b: Array | Scalar) -> Any:
        return self.on(np.result_type(a, b))(a, b)

    def __repr__(self) -> str:
        return f"Monoid({self.name!r})"


@dataclass(frozen=True)
class Semiring(Portable):
    """A monoid ⊕ and an operator ⊗.

    A semiring of your own is usable wherever a shipped one is, on every format and backend.

    Args:
        add: ⊕.
        mul: ⊗.
        dtypes: those it is defined on.
        one: the unit of ⊗ (see `Monoid.identity`), if any.
        laws: those of ⊗ that it promises; those of ⊕ and of the unit follow from `add` and `one`. `check_laws` looks
            for counterexamples.
        domain: (low, high), between which finite values obey the laws; None for all. Algorithms for paths refuse other
            weights.

    Raises:
        ValueError: a law is none, or is promised without what it needs.

    Example:
        >>> import numpy as np
        >>> from formats import from_edges
        >>> from semiring import MONOIDS, BinaryOp, mxv
        >>> absdiff = BinaryOp("absdiff", scalar=lambda a, b: abs(a - b))
        >>> A = from_edges([0, 0, 1], [0, 1, 1], [5.0, 9.0, 3.0])
        >>> mxv(A, np.array([4.0, 7.0]), Semiring(MONOIDS["min"], absdiff)).tolist()
        [1.0, 4.0]
    """

    add: Monoid
    mul: BinaryOp
    dtypes: tuple[np.dtype, ...] = ()
    one: Identity | None = None
    laws: frozenset[Law] = field(default=frozenset())
    domain: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.add, Monoid):
            raise TypeError(f"add must be a Monoid, as MONOIDS['min'], got {self.add!r}")
        if not isinstance(self.mul, BinaryOp):
            raise TypeError(f"mul must be a BinaryOp, as OPERATORS['plus'], got {self.mul!r}")
        dtypes = tuple(np.dtype(d) for d in self.dtypes or self.add.dtypes)
        if self.mul.partial:
            dtypes = tuple(d for d in dtypes if d != BOOL)
            if not dtypes:
                raise TypeError(f"{self.mul.name} is not defined on bool, and {self.add.name} on nothing else")
        object.__setattr__(self, "dtypes", dtypes)
        for law in self.laws:
            if not isinstance(law, Law):
                raise TypeError(f"laws are members of Law, as Law.ASSOCIATIVE, got {law!r}")
        of_parts = {
            Law.IDEMPOTENT: self.add.idempotent,
            Law.SELECTIVE: self.add.selective,
            Law.UNIT: self.one is not None,
        }
        object.__setattr__(self, "laws", frozenset(self.laws) | {law for law, holds in of_parts.items() if holds})

    def __hash__(self) -> int:
        """Found once: semirings are the keys of compiled kernels, and looked up in every product."""
        known = self.__dict__.get("_hash")
        if known is None:
            known = self.__dict__["_hash"] = hash((self.add, self.mul, self.dtypes, self.one, self.laws, self.domain))
        return known

    @property
    def name(self) -> str:
        """GraphBLAS's name, `<add>_<mul>`."""
        return f"{self.add.name}_{self.mul.name}"

    def zero(self, dtype: np.dtype) -> np.number:
        """The identity of ⊕: what an absent entry stands for."""
        return self.add.zero(dtype)

    def unit(self, dtype: np.dtype) -> np.number:
        """The unit of ⊗: the length of the empty path. ValueError if the semiring has none."""
        if self.one is None:
            raise ValueError(
                f"{self.name} has no unit, so no path can start: choose a semiring with one, as MinPlus, or declare "
                "one with Semiring(…, one=…)"
            )
        return end_of_range(dtype, self.one) if isinstance(self.one, str) else dtype.type(self.one)

    def may_lack_order(self, dtype: np.dtype) -> bool:
        """True if a product can be NaN, as 0 times ∞: ⊕'s order has no place for it, and it counts as absent."""
        return dtype.kind == "f" and self.add.selective and (self.mul.partial or self.mul == OPERATORS["times"])

    def better(self, a: Array | Scalar, b: Array | Scalar) -> Any:
        """True if `a` is strictly better than `b` in ⊕'s order: a ⊕ b = a ≠ b."""
        if self.add is Min or self.add is Max:
            return a < b if self.add is Min else a > b
        return (self.add(a, b) == a) & (a != b)

    def product(self, a: np.number, b: np.number) -> np.number:
        """a ⊗ b of two scalars, which stops at the end of the dtype's range; the zero for 0 / 0, as in the verbs.

        Args:
            a, b: scalars of one dtype.

        Returns:
            a ⊗ b, a scalar of the dtype that ⊗ gives.

        Example:
            >>> MinPlus.product(np.int32(5), np.int32(2**31 - 1)).item()
            2147483647
        """
        mul, dtype = self.mul, a.dtype
        if dtype.kind == "i" and mul.saturating is not None and not mul.partial:
            info = np.iinfo(dtype.name)
            exact = int(a) + int(b) if self.adds_weights else mul.unbounded(int(a), int(b))
            return dtype.type(max(info.min, min(exact, info.max)))
        with np.errstate(all="ignore"):
            t = a + b if self.adds_weights else mul.computed(np.asarray([a]), np.asarray([b]))[0]
        return t if t == t else self.zero(t.dtype)

    @cached_property
    def adds_weights(self) -> bool:
        """True if ⊗ is +, so that a path is as long as its edges together."""
        return self.mul == OPERATORS["plus"]

    def __repr__(self) -> str:
        return f"Semiring({self.name!r})"


@lru_cache(maxsize=16)
def end_of_range(dtype: np.dtype, end: str) -> Any:
    """The lowest or highest value of `dtype`; an infinity for floating point."""
    low, high = (-np.inf, np.inf) if dtype.kind == "f" else (False, True)
    if dtype.kind == "i":
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    return dtype.type(low if end == "lowest" else high)


@lru_cache(maxsize=64)
def _any_but(zero: Any, dtype: np.dtype) -> BinaryOp:
    """`any` on `dtype` where `zero` is what is absent."""
    return BinaryOp(
        "any",
        lambda a, b: a if a != zero else b,
        f"a != {literal(zero, dtype)} ? a : b",
        lambda a, b: np.where(np.not_equal(a, zero), a, b),
    )


Min = Monoid(OPERATORS["min"], "highest", idempotent=True, selective=True)
Max = Monoid(OPERATORS["max"], "lowest", idempotent=True, selective=True)
Plus = Monoid(OPERATORS["plus"], 0)
Times = Monoid(OPERATORS["times"], 1)
Lor = Monoid(OPERATORS["lor"], False, (BOOL,), idempotent=True, selective=True, terminal=True)
Land = Monoid(OPERATORS["land"], True, (BOOL,), idempotent=True, selective=True, terminal=True)
Any_ = Monoid(OPERATORS["any"], 0, DTYPES, idempotent=True, selective=True, terminal=True)

MONOIDS = Names("monoid", (Min, Max, Plus, Times, Lor, Land, Any_))
"""Every shipped monoid by name."""

_DISTRIBUTES = {Law.DISTRIBUTES_LEFT, Law.DISTRIBUTES_RIGHT}
_ANNIHILATES = {Law.ANNIHILATES_LEFT, Law.ANNIHILATES_RIGHT}
_PRODUCT = {Law.ASSOCIATIVE, Law.COMMUTATIVE} | _DISTRIBUTES | _ANNIHILATES

MinPlus = Semiring(Min, OPERATORS["plus"], one=0, laws=frozenset(_PRODUCT))
MaxPlus = Semiring(Max, OPERATORS["plus"], one=0, laws=frozenset(_PRODUCT))
MinMax = Semiring(Min, OPERATORS["max"], one="lowest", laws=frozenset(_PRODUCT))
MaxMin = Semiring(Max, OPERATORS["min"], one="highest", laws=frozenset(_PRODUCT))
PlusTimes = Semiring(Plus, OPERATORS["times"], one=1, laws=frozenset(_PRODUCT))
LorLand = Semiring(Lor, OPERATORS["land"], one=True, laws=frozenset(_PRODUCT))
AnyPair = Semiring(Any_, OPERATORS["pair"], laws=frozenset(_DISTRIBUTES | {Law.ASSOCIATIVE, Law.COMMUTATIVE}))
MinFirst = Semiring(Min, OPERATORS["first"], laws=frozenset(_DISTRIBUTES | {Law.ASSOCIATIVE, Law.ANNIHILATES_LEFT}))
MinSecond = Semiring(Min, OPERATORS["second"], laws=frozenset(_DISTRIBUTES | {Law.ASSOCIATIVE, Law.ANNIHILATES_RIGHT}))

SEMIRINGS = Names("semiring", (MinPlus, MaxPlus, MinMax, MaxMin, PlusTimes, LorLand, AnyPair, MinFirst, MinSecond))
"""Every shipped semiring by its GraphBLAS name."""


_SELECTIVE = {
    # Where ⊗ is the order's own operator, its unit is the zero, which no path can start from.
    "min_min": {Law.ASSOCIATIVE, Law.COMMUTATIVE} | _DISTRIBUTES,
    "max_max": {Law.ASSOCIATIVE, Law.COMMUTATIVE} | _DISTRIBUTES,
    "lor_lor": {Law.ASSOCIATIVE, Law.COMMUTATIVE} | _DISTRIBUTES,
    "land_land": {Law.ASSOCIATIVE, Law.COMMUTATIVE} | _DISTRIBUTES,
    "min_minus": {Law.DISTRIBUTES_RIGHT},
    "max_minus": {Law.DISTRIBUTES_RIGHT},
    "min_rminus": {Law.DISTRIBUTES_LEFT},
    "max_rminus": {Law.DISTRIBUTES_LEFT},
}
"""Laws of ⊗ by the semiring's name, where ⊕ selects."""

_WITH_UNIT: dict[str, dict[str, Any]] = {
    # A factor that is not negative keeps the order of paths. The zero is an infinity, and times 0 it would be NaN.
    "max_times": {"one": 1, "laws": _PRODUCT - _ANNIHILATES, "domain": (0, np.inf)},
    "min_times": {"one": 1, "laws": _PRODUCT - _ANNIHILATES, "domain": (0, np.inf)},
    "land_lor": {"one": False, "laws": _PRODUCT},
}
"""Semirings of paths that have no object of their own: reliability (max_times, weights in [0, 1]), and others."""

_READS = {"a": {Law.DISTRIBUTES_RIGHT, Law.ANNIHILATES_LEFT}, "b": {Law.DISTRIBUTES_LEFT, Law.ANNIHILATES_RIGHT}}
"""Laws of an operator that gives one of its operands, whatever ⊕ is."""


def named(add: Monoid, mul: BinaryOp) -> Semiring:
    """The semiring of two shipped parts, with the unit and the laws that are known of it."""
    name = f"{add.name}_{mul.name}"
    known = dict(_WITH_UNIT.get(name, {}))
    laws = set(known.pop("laws", _SELECTIVE.get(name, set())))
    if mul.name in ("first", "second"):
        laws |= {Law.ASSOCIATIVE} | _READS[mul.reads] | (_DISTRIBUTES if add.idempotent else set())
    if mul.name == "pair":
        laws |= {Law.ASSOCIATIVE, Law.COMMUTATIVE} | (_DISTRIBUTES if add.idempotent else set())
    return Semiring(add, mul, laws=frozenset(laws), **known)


def find_semiring(semiring: Semiring | str) -> Semiring:
    """The semiring given by object or GraphBLAS name.

    A name outside `SEMIRINGS` is put together from the operator and monoid tables, as "max_times". With an operator of
    positions, as in "min_secondi", ⊕ is min, max, plus or any, which takes the smallest. A semiring that
    python-graphblas ships is found by its name.
    """
    if isinstance(semiring, Semiring):
        return semiring
    name = semiring if isinstance(semiring, str) else name_of(semiring, "a Semiring or its name")
    return SEMIRINGS[name] if name in SEMIRINGS else _semiring_named(name)


@made_once
def _semiring_named(semiring: str) -> Semiring:
    """Likewise, put together once."""
    add, _, mul = semiring.partition("_")
    if mul in POSITIONS and add in ("min", "max", "plus", "any"):
        return Semiring(MONOIDS["min" if add == "any" else add], POSITIONS[mul])
    if add not in MONOIDS or mul not in OPERATORS or OPERATORS[mul].boolean:
        raise ValueError(
            f"unknown semiring {semiring!r}; there are {', '.join(SEMIRINGS)}, and <monoid>_<operator> of "
            f"{', '.join(MONOIDS)} and {', '.join(OPERATORS)}, and min, max, plus or any of {', '.join(POSITIONS)}"
        )
    return named(MONOIDS[add], OPERATORS[mul])


def counts(semiring: Semiring, dtype: np.dtype) -> bool:
    """True if the sums count entries: they are exact in any order, and none returns to zero."""
    return semiring.add == Plus and semiring.mul == OPERATORS["pair"] and dtype == INT64


def find_monoid(monoid: Monoid | Semiring | str) -> Monoid:
    """The monoid given by object or name, or the ⊕ of a semiring."""
    if isinstance(monoid, Semiring):
        return monoid.add
    if isinstance(monoid, Monoid):
        return monoid
    monoid = name_of(monoid, "a monoid, a semiring or a name")
    if monoid in MONOIDS:
        return MONOIDS[monoid]
    if "_" not in monoid:
        raise ValueError(MONOIDS.unknown(monoid))
    return find_semiring(monoid).add


def find_combiner(op: Semiring | Monoid | BinaryOp | str, part: Literal["add", "mul"]) -> Monoid | BinaryOp:
    """Finds the operator with which an element-wise verb or an accumulator combines two values.

    Of a semiring its ⊕ or ⊗, as `part` says. A name is a semiring's or an operator's, and where an addition is wanted a
    monoid's before an operator's, so that it has an identity.
    """
    if not isinstance(op, Semiring | Monoid | BinaryOp):
        op = op if isinstance(op, str) else name_of(op, "a semiring, a monoid, an operator or a name")
        if op in SEMIRINGS or "_" in op:
            op = find_semiring(op)
        else:
            op = MONOIDS[op] if part == "add" and op in MONOIDS else find_op(op)
    if isinstance(op, Semiring):
        op = op.add if part == "add" else op.mul
    if isinstance(op, BinaryOp) and op.position is not None:
        raise TypeError(
            f"{op.name} gives positions, not values: it is for mxv, vxm and mxm; apply has rowindex and colindex"
        )
    return op
