"""The state of a random program of verbs, twice: ours, and python-graphblas's, with what draws, writes and compares it.

A program is drawn by hypothesis as bytes, of which the state to begin with has its share, and each step its own. A
choice takes the next byte, and a 0, which is the simplest choice, where there are none left; a step of zeros does
nothing. So hypothesis shrinks a program that fails by making bytes 0.

GraphBLAS's vectors keep an entry that equals the semiring's zero; ours do not, nor do dense arrays. So such an entry is
dropped from its results before they are written.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import strategies as st

from formats import CSR, Matrix, SparseVector, from_edges
from semiring.algebra.semirings import find_semiring

from . import strategies as sts

gb = pytest.importorskip("graphblas", exc_type=ImportError)

START, STEP, MOST = 330, 80, 8
"""Bytes that choices of the state to begin with take at most, and those of a step; steps of a program."""

FINEST = 64
"""Values are multiples of 1 / FINEST, or the program ends: so sums of floats are exact."""

SEMIRINGS = ["min_plus", "max_plus", "plus_times", "min_max", "min_first", "min_second", "max_times", "plus_pair"]
ACCUMULATORS = ["plus", "min", "max", "first", "second", "minus"]

Entries = dict[Any, Any]


class Kind(NamedTuple):
    """What programs are about: a semiring, a dtype, and the format of products."""

    semiring: Any
    dtype: np.dtype
    fmt: Any


def kinds(seed: int, count: int) -> list[Kind]:
    """A semiring and a dtype in some formats, drawn from a seed: few, for each has kernels of its own."""
    rng = np.random.default_rng(seed)
    lists: tuple[Any, ...] = (list(SEMIRINGS), [sts.INT32, sts.INT64, sts.FLOAT64])
    name, dtype = (values[rng.integers(len(values))] for values in lists)
    return [Kind(find_semiring(name), dtype, sts.FORMATS[k]) for k in rng.permutation(len(sts.FORMATS))[:count]]


class Drawn(NamedTuple):
    """A program: its kind, and what its state and its steps are drawn from, without the zeros at the ends."""

    kind: Kind
    start: bytes
    steps: list[bytes]


@st.composite
def programs(draw: st.DrawFn, kinds: list[Kind]) -> Drawn:
    """Programs of 3 to 8 steps. All bytes are one choice of hypothesis's, which would repeat single steps."""
    kind, count, size = draw(st.sampled_from(kinds)), draw(st.integers(3, MOST)), START + MOST * STEP
    drawn = draw(st.binary(min_size=size, max_size=size))
    steps = [drawn[at : at + STEP].rstrip(b"\0") for at in range(START, START + count * STEP, STEP)]
    return Drawn(kind, drawn[:START].rstrip(b"\0"), steps)


class State:
    """Two vectors, two sparse matrices and two dense ones, of which each step reads some and writes one.

    largest: where a program ends, so that no sum or product of the next step leaves the range, nor is rounded.
    """

    def __init__(self, kind: Kind, start: bytes) -> None:
        self.semiring, self.dtype, self.fmt = kind
        self.largest = 10**4 if self.dtype == sts.INT32 else 10**5
        self.zero = self.semiring.zero(self.dtype)
        self.reads = self.semiring.mul.reads
        self.told: list[str] = []
        self.choose_from(start)
        self.threads, self.n = self.number(1, 2), self.number(1, 6)
        self.matrices: Any = [self.matrix() for _ in range(2)]
        self.vectors: Any = [self.vector() for _ in range(2)]
        self.arrays: Any = [self.matrix().to_dense(self.zero) for _ in range(2)]

    @property
    def exact(self) -> bool:
        """Are all values small and coarse enough to go on with?"""
        values = [v for x in (*self.matrices, *self.vectors, *self.arrays) for v in self.entries(x).values()]
        return all(abs(v) < self.largest and v * FINEST % 1 == 0 for v in values)

    # --- what is drawn --------------------------------------------------------------------------------------------

    def choose_from(self, drawn: bytes) -> None:
        self.drawn, self.at = np.frombuffer(drawn, np.uint8), 0

    def taken(self, count: int) -> np.ndarray:
        """The next bytes, as integers."""
        found = np.zeros(count, np.int64)
        given = self.drawn[self.at : self.at + count]
        found[: given.size] = given
        self.at += count
        return found

    def number(self, low: int, high: int) -> int:
        return low + int(self.taken(1)[0]) % (high - low + 1)

    def one_of(self, *values: Any) -> Any:
        return values[self.number(0, len(values) - 1)]

    def flags(self, count: int, share: float) -> np.ndarray:
        return self.taken(count) >= 256 * (1 - share)

    def chance(self, share: float) -> bool:
        return bool(self.flags(1, share)[0])

    def places(self, count: int) -> np.ndarray:
        """Vertices, some of them twice."""
        return self.taken(count) % self.n

    def shuffled(self) -> np.ndarray:
        """All vertices."""
        return np.argsort(self.taken(self.n), kind="stable")

    def numbers(self, count: int) -> np.ndarray:
        low = 0 if self.semiring.name == "max_times" else -2
        return ((self.taken(count) - low) % (6 - low) + low).astype(self.dtype)

    def matrix(self) -> CSR:
        share = self.one_of(0.0, 0.2, 0.6, 1.0)
        places = np.flatnonzero(self.flags(self.n * self.n, share))
        return from_edges(places // self.n, places % self.n, self.numbers(places.size), shape=self.n)

    def vector(self) -> Any:
        places = np.flatnonzero(self.flags(self.n, self.one_of(0.0, 0.5, 1.0)))
        x = SparseVector(places, self.numbers(places.size), self.n)
        x = SparseVector.from_dense(x.to_dense(self.zero), self.zero)
        return x.to_dense(self.zero) if self.chance(0.5) else x

    def sparse(self, x: Any) -> SparseVector:
        """The vector without stored zeros, which a scalar that was assigned may have left."""
        x = x.to_dense(self.zero) if isinstance(x, SparseVector) else x
        return SparseVector.from_dense(x, self.zero)

    def stored(self, A: CSR) -> Matrix:
        """The matrix in the program's format, or as it is."""
        return A.to(self.fmt, **sts.OPTIONS.get(self.fmt, {}))

    def rule(self, shape: tuple[int, ...], *, out: bool) -> tuple[dict[str, Any], Any]:
        """(the write rule's arguments, GraphBLAS's mask) for a result of this shape."""
        ours: dict[str, Any] = {}
        mask: Any = None
        if self.chance(0.5):
            flags = self.flags(math.prod(shape), 0.5).reshape(shape)
            if self.chance(0.5):
                ours["mask"] = flags
            elif len(shape) == 2:
                ours["mask"] = from_edges(*np.indices(shape).reshape(2, -1), flags.reshape(-1), shape=shape)
            else:
                ours["mask"] = SparseVector(np.arange(flags.size), flags, *shape)  # a stored False allows nothing
            made = gb.Matrix.from_dense(flags) if len(shape) == 2 else gb.Vector.from_dense(flags)
            ours["complement"] = self.chance(0.4)
            mask = ~made.V if ours["complement"] else made.V
        if out and self.chance(0.5):
            ours["accum"] = self.one_of(*ACCUMULATORS)
        if mask is not None and out:
            ours["replace"] = self.chance(0.4)
        return ours, mask

    # --- ours and theirs ------------------------------------------------------------------------------------------

    def theirs(self, x: Any) -> Any:
        """A GraphBLAS object with the entries of ours."""
        if not isinstance(x, SparseVector) and len(x.shape) == 2:
            present = self.entries(x)
            rows, cols = zip(*present, strict=True) if present else ((), ())
            made = gb.Matrix(self.dtype, *x.shape)
            made.build(rows, cols, np.array(list(present.values()), self.dtype))
            return made
        present = self.entries(x)
        return gb.Vector.from_coo(list(present), list(present.values()), size=x.size, dtype=self.dtype)

    def entries(self, x: Any) -> Entries:
        """The present entries of ours: of all but a sparse matrix, a zero is absent."""
        if isinstance(x, Matrix):
            rows, cols, values = (part.tolist() for part in x.to_edges())
            return dict(zip(zip(rows, cols, strict=True), values, strict=True))
        if isinstance(x, SparseVector):
            held = zip(x.indices.tolist(), x.values.tolist(), strict=True)
            return {i: value for i, value in held if value != self.zero}
        places: Any = np.argwhere(x != self.zero).tolist()
        return {tuple(at) if x.ndim == 2 else at[0]: x[tuple(at)].item() for at in places}

    @staticmethod
    def entries_of_theirs(y: Any) -> Entries:
        *places, values = (part.tolist() for part in y.to_coo())
        return dict(zip(zip(*places, strict=True) if len(places) == 2 else places[0], values, strict=True))

    def pruned(self, t: Any) -> Any:
        """What takes part in a product, or is in its result: no entry equals the zero."""
        return t.select("!=", self.zero).new()

    def factor(self, t: Any) -> Any:
        """An operand of a product of theirs: a product that follows the pattern alone takes every entry."""
        return t if self.reads == "" else self.pruned(t)

    # --- writing --------------------------------------------------------------------------------------------------

    def written(self, verb: str, ours: Any, t: Any, state: list[Any]) -> None:
        """Write the result t into a part of the state, or make it a new one, by a rule."""
        at, into = self.number(0, 1), self.chance(0.5)
        rule, mask = self.rule(t.shape, out=into)
        old = state[at]
        expected = self.theirs(old) if into else type(t)(self.dtype, *t.shape)
        target(expected, mask, rule) << t
        self.told.append(f"{verb} {rule} into {repr(old) if into else 'a new one'}")
        got = ours(out=old, **rule) if into else ours(**rule)
        if into:
            assert got is old
        self.agree(got, expected)
        state[at] = got.to(CSR) if isinstance(got, Matrix) else got

    def compared(self, verb: str, ours: Any, t: Any) -> Any:
        """Compare a result that is not of the state's kind, under a mask; returns ours."""
        rule, mask = self.rule(t.shape, out=False)
        expected = type(t)(t.dtype, *t.shape)
        target(expected, mask, rule) << t
        self.told.append(f"{verb} {rule}")
        got = ours(**rule)
        self.agree(got[0] if isinstance(got, tuple) else got, expected)
        return got

    def agree(self, got: Any, expected: Any) -> None:
        if isinstance(got, Matrix):
            got.check()
        right = expected if isinstance(got, Matrix) else self.pruned(expected)
        ours, theirs = self.entries(got), self.entries_of_theirs(right)
        assert ours == theirs, f"{got!r} holds {ours}, and should hold {theirs}"


def target(expected: Any, mask: Any, rule: dict[str, Any]) -> Any:
    """What GraphBLAS writes to."""
    parts = [
        part for part in (mask, getattr(gb.binary, rule["accum"]) if "accum" in rule else None) if part is not None
    ]
    return expected(*parts, replace=rule.get("replace", False)) if parts else expected
