"""Random programs of verbs, each step mirrored on python-graphblas: masks, complements, accumulators, out and replace.

Two vectors, two sparse matrices and two dense ones are changed step by step (`programs.py`). hypothesis draws the
programs, and shrinks one that fails to the fewest and simplest steps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, seed, settings

from formats import SparseVector
from semiring import (
    apply,
    assign,
    diag,
    ewise_add,
    ewise_mult,
    ewise_union,
    extract,
    kronecker,
    mxm,
    mxv,
    power,
    reduce,
    select,
    threads,
    transpose,
    vxm,
)
from semiring.algebra.semirings import find_semiring

from . import fuzzing
from .programs import Drawn, State, gb, kinds, programs, target

COMPARISONS = {"lt": "<", "ge": ">=", "ne": "!="}
POSITIONAL = ["min_firsti", "max_firstj1", "min_secondi", "max_secondj", "min_secondi1", "max_firsti"]
OURS_BY_THEIRS = {"div": "cdiv", "rdiv": "rdiv"}
KINDS = 2
"""Formats of a block of programs, of one semiring and dtype."""

OF_TWO: dict[str, Callable[[Any, Any], Any]] = {
    "plus": lambda a, b: a + b,
    "times": lambda a, b: a * b,
    "max": max,
    "first": lambda a, b: a,
    "second": lambda a, b: b,
}
"""⊗ of two numbers, for the semirings whose ⊕ selects."""


def binary(name: str) -> Any:
    return getattr(gb.binary, OURS_BY_THEIRS.get(name, name))


class Program(State):
    """The state, ours and GraphBLAS's, and the steps."""

    def step(self, drawn: bytes) -> bool:
        """Do one verb on both sides and compare; False where the program is to end."""
        self.choose_from(drawn)
        kinds = (
            lambda: None,
            *([self.on_vectors] * 3),
            *([self.on_matrices] * 4),
            *([self.on_arrays] * 2),
            self.assigned,
            self.reduced,
            self.positions,
            self.arguments,
            self.composed,
        )
        self.one_of(*kinds)()
        return self.exact

    def on_vectors(self) -> None:
        (u, v), A = self.vectors, self.matrices[self.number(0, 1)]
        s, add, mul = self.semiring, self.semiring.add.name, self.semiring.mul.name
        B, gs = self.stored(A), getattr(gb.semiring, s.name)
        gu, gv, gA = self.theirs(u), self.theirs(v), self.factor(self.theirs(A))
        alpha, beta, k = self.number(0, 5), self.number(0, 5), self.number(0, 3)
        at = self.places(self.n)

        def beyond(value: Any, i: Any) -> Any:
            return value + i > k

        choices: dict[str, tuple[Any, Any]] = {
            "mxv": (lambda **o: mxv(B, u, s, **o), lambda: gA.mxv(gu, gs)),
            "vxm": (lambda **o: vxm(u, B, s, **o), lambda: gu.vxm(gA, gs)),
            "ewise_add": (lambda **o: ewise_add(u, v, s, **o), lambda: gu.ewise_add(gv, binary(add))),
            "ewise_mult": (lambda **o: ewise_mult(u, v, s, **o), lambda: gu.ewise_mult(gv, binary(mul))),
            "ewise_union": (
                lambda **o: ewise_union(u, alpha, v, beta, s, **o),
                lambda: gu.ewise_union(gv, binary(add), alpha, beta),
            ),
            "apply": (
                lambda **o: apply(u, "plus", right=1, semiring=s, **o),
                lambda: gu.apply(gb.binary.plus, right=1),
            ),
            "select": (lambda **o: select(u, "<", 3, semiring=s, **o), lambda: gu.select("<", 3)),
            "select by a function": (
                lambda **o: select(u, beyond, semiring=s, **o),
                lambda: where(gu, lambda i, value: value + i > k),
            ),
            "extract": (lambda **o: extract(u, at, **o), lambda: gu[at.tolist()]),
        }
        if self.zero != 0:
            del choices["extract"]  # which does not know the semiring, and so takes 0 as absent
        verb = self.one_of(*choices)
        ours, theirs = choices[verb]
        t = self.pruned(self.typed(theirs()))
        self.written(f"{verb} {alpha} {beta} {k} {at}", ours, t, self.vectors)

    def on_matrices(self) -> None:
        A, B = self.matrices
        s, mul = self.semiring, self.semiring.mul.name
        compare, k = self.one_of(*COMPARISONS), self.number(-1, 4)
        alpha, beta, sure = self.number(0, 5), self.number(0, 5), self.semiring.name != "max_times"
        op = self.one_of("plus", "min", "max", *(["minus", "rminus"] if sure else []))
        divides = self.dtype.kind == "i" and 0 not in (*self.entries(A).values(), *self.entries(B).values())
        of_two = self.one_of(op, "first", "second", *(["div", "rdiv"] if divides else []))
        rows, cols = (self.places(self.n) for _ in range(2))
        gA, gB = self.theirs(A), self.theirs(B)
        pA, pB = self.factor(gA), self.factor(gB)
        left, right = (self.stored(A), self.stored(B)) if self.chance(0.5) else (A, B)

        def on_and_above(value: Any, row: Any, col: Any) -> Any:
            return value + col >= row + k

        choices: dict[str, tuple[Any, Any]] = {
            "mxm": (
                lambda **o: mxm(left, right, s, **o),
                lambda: self.pruned(pA.mxm(pB, getattr(gb.semiring, s.name)).new()),
            ),
            "ewise_add": (lambda **o: ewise_add(left, right, op, **o), lambda: gA.ewise_add(gB, binary(op))),
            "ewise_mult": (lambda **o: ewise_mult(A, B, s, **o), lambda: pA.ewise_mult(pB, binary(mul))),
            "ewise_mult by": (
                lambda **o: ewise_mult(left, right, of_two, **o),
                lambda: gA.ewise_mult(gB, binary(of_two)),
            ),
            "ewise_union": (
                lambda **o: ewise_union(left, alpha, right, beta, op, **o),
                lambda: gA.ewise_union(gB, binary(op), alpha, beta),
            ),
            "apply": self.applied(left, gA, sure, divides),
            "select": (lambda **o: select(A, compare, k, **o), lambda: gA.select(COMPARISONS[compare], k)),
            "select by position": self.by_position(A, gA, self.one_of("tril", "triu", "diag", "offdiag"), k),
            "select by a function": (
                lambda **o: select(left, on_and_above, **o),
                lambda: where(gA, lambda i, j, value: value + j >= i + k),
            ),
            "extract": (lambda **o: extract(A, rows, cols, **o), lambda: gA[rows.tolist(), cols.tolist()]),
            "transpose": (lambda **o: transpose(A, **o), lambda: gA.T),
        }
        verb = self.one_of(*choices)
        ours, theirs = choices[verb]
        self.written(
            f"{verb} {op} {of_two} {compare} {k} {alpha} {beta} {rows} {cols} {type(left).__name__}",
            lambda **o: ours(**o) if "out" in o else ours(**o).to(type(A)),
            self.typed(theirs()),
            self.matrices,
        )

    def applied(self, A: Any, gA: Any, sure: bool, divides: bool) -> tuple[Any, Any]:
        """A function of one value, or a binary operator with a bound operand."""
        whole = self.dtype.kind == "i"
        unary = self.one_of(
            "abs", "one", "identity", "signum", *(["ainv"] if sure else []), *(["minv"] if divides else [])
        )
        bound = self.one_of(
            *(("plus", 2), ("times", 3), ("max", 1), ("second", 4), ("div", 2), ("pow", 2), ("rdiv", 0)),
            *([("minus", 1), ("rminus", 5)] if sure else []),
        )
        if bound[0] == "rdiv" and not whole:
            bound = ("div", 4)
        self.told.append(f"apply {unary} or {bound}")
        if self.chance(0.5):
            by = {"one": "one", "signum": "signum"}.get(unary, unary)
            return lambda **o: apply(A, unary, **o), lambda: gA.apply(getattr(gb.unary, by))
        return (
            lambda **o: apply(A, bound[0], right=bound[1], **o),
            lambda: gA.apply(binary(bound[0]), right=self.dtype.type(bound[1])),
        )

    def by_position(self, A: Any, gA: Any, name: str, k: int) -> tuple[Any, Any]:
        return lambda **o: select(A, name, k, **o), lambda: gA.select(name, k)

    def on_arrays(self) -> None:
        """Products with a dense operand or two."""
        A, (X, Y) = self.matrices[self.number(0, 1)], self.arrays
        s, gs, M = self.semiring, getattr(gb.semiring, self.semiring.name), self.stored(A)
        gA, gX, gY = self.factor(self.theirs(A)), self.theirs(X), self.theirs(Y)
        choices: dict[str, tuple[Any, Any]] = {
            "A X": (lambda **o: mxm(M, X, s, **o), lambda: gA.mxm(gX, gs)),
            "X A": (lambda **o: mxm(X, M, s, **o), lambda: gX.mxm(gA, gs)),
            "X Y": (lambda **o: mxm(X, Y, s, **o), lambda: gX.mxm(gY, gs)),
        }
        product = self.one_of(*choices)
        ours, theirs = choices[product]
        self.written(f"mxm {product}", ours, self.pruned(self.typed(theirs())), self.arrays)

    def positions(self) -> None:
        """Where entries are, and where the terms of products come from, in int64."""
        A, B = self.matrices
        k, name, given = self.number(-2, 2), self.one_of("rowindex", "colindex", "diagindex"), self.one_of(*POSITIONAL)
        u, gA, gB = self.sparse(self.vectors[0]), self.theirs(A), self.theirs(B)
        gi = gA.dup(dtype=np.int64)
        gu, gs = self.theirs(u), getattr(gb.semiring.ss, given)
        choices: dict[str, tuple[Any, Any]] = {
            name: (
                lambda **o: apply(A, name, right=k, **o),
                lambda: gi.apply(getattr(gb.indexunary, name), right=-k if name == "diagindex" else k),
            ),
            "mxm": (lambda **o: mxm(A, B, given, **o), lambda: gA.mxm(gB, gs)),
            "mxv": (lambda **o: mxv(self.stored(A), u, given, **o), lambda: gA.mxv(gu, gs)),
            "vxm": (lambda **o: vxm(u, self.stored(A), given, **o), lambda: gu.vxm(gA, gs)),
        }
        verb = self.one_of(*choices)
        ours, theirs = choices[verb]
        self.compared(f"{verb} {given} {k}", ours, theirs().new())

    def arguments(self) -> None:
        """Which term gave each element of a product, or each line's least or largest: the smallest of equals."""
        s = self.semiring
        A, X, u = self.matrices[self.number(0, 1)], self.arrays[0], self.vectors[0]
        if not s.add.selective:
            return self.line_arguments(A)
        gs, M, f = getattr(gb.semiring, s.name), self.stored(A), OF_TWO[s.mul.name]
        gA, gu, gX = self.factor(self.theirs(A)), self.theirs(u), self.theirs(X)
        a, x, b = (self.entries_of_theirs(part) for part in (gA, gu, gX))

        def terms(left: Any, right: Any) -> Any:
            return lambda at, k: (left.get((at[0], k)), right.get((k, at[1])))

        choices: dict[str, tuple[Any, Any, Any]] = {
            "mxv": (lambda **o: mxv(M, u, s, **o), gA.mxv(gu, gs), lambda i, k: (a.get((i, k)), x.get(k))),
            "vxm": (lambda **o: vxm(u, M, s, **o), gu.vxm(gA, gs), lambda i, k: (x.get(k), a.get((k, i)))),
            "A X": (lambda **o: mxm(M, X, s, **o), gA.mxm(gX, gs), terms(a, b)),
            "X A": (lambda **o: mxm(X, M, s, **o), gX.mxm(gA, gs), terms(b, a)),
            "A A": (lambda **o: mxm(M, M, s, **o), gA.mxm(gA, gs), terms(a, a)),
        }
        verb = self.one_of(*choices)
        ours, theirs, term = choices[verb]
        y, k = self.compared(
            f"{verb} with arguments", lambda **o: ours(return_argument=True, **o), self.pruned(self.typed(theirs))
        )
        found = {at: value for at, value in State.entries(self, k).items() if value >= 0 or verb == "A A"}
        for at, value in self.entries(y).items():
            first = next(t for t in range(self.n) if None not in term(at, t) and f(*term(at, t)) == value)
            assert found.pop(at) == first, f"the argument at {at} should be {first}"
        assert not found
        return None

    def line_arguments(self, A: Any) -> None:
        """Of reductions along rows and columns."""
        name, axis = self.one_of("min", "max"), self.number(0, 1)
        self.told.append(f"reduce {name} along {axis} with arguments")
        values, at = reduce(self.stored(A), name, axis=axis, return_argument=True)
        best = min if name == "min" else max
        for i in range(self.n):
            line = {p[axis]: v for p, v in self.entries(A).items() if p[1 - axis] == i}
            right = best(line.values(), default=None)
            assert (at[i], values[i]) == (min(k for k in line if line[k] == right), right) if line else at[i] == -1

    def composed(self) -> None:
        """Kronecker products, diagonals and powers."""
        s, (A, B), k = self.semiring, self.matrices, self.number(-2, 2)
        gs, op = getattr(gb.semiring, s.name), self.one_of("plus", "minus", "first", "max")
        gA, gB, u = self.theirs(A), self.theirs(B), self.vectors[0]
        verb = self.one_of("kronecker", "kronecker by ⊗", "diag of a matrix", "diag of a vector", "power")
        self.told.append(f"{verb} {k} {op}")
        if verb == "kronecker":
            self.compared(op, lambda **o: kronecker(A, B, op, **o), self.typed(gA.kronecker(gB, binary(op))))
        elif verb == "kronecker by ⊗":
            t = self.factor(gA).kronecker(self.factor(gB), binary(s.mul.name))
            self.compared(s.name, lambda **o: kronecker(self.stored(A), self.stored(B), s, **o), self.typed(t))
        elif verb == "diag of a matrix":
            self.agree(diag(self.stored(A), k), self.typed(gA.diag(k)))
        elif verb == "diag of a vector":
            self.agree(diag(u, k, semiring=s), self.typed(self.theirs(u).diag(k)))
        else:
            t, exponent, largest = (
                self.factor(gA),
                self.number(1, 3),
                max(map(abs, self.entries(A).values()), default=0),
            )
            if (self.n * max(largest, 1)) ** exponent < 2**31:
                for _ in range(exponent - 1):
                    t = self.pruned(t.mxm(self.factor(gA), gs).new())
                self.matrices[0] = power(self.stored(A), exponent, s)
                self.agree(self.matrices[0], t)

    def assigned(self) -> None:
        """A scalar, a vector or a matrix is written into places."""
        matrix = self.chance(0.5)
        state, at = (self.matrices, 0) if matrix else (self.vectors, self.number(0, 1))
        old, count = state[at], self.number(1, self.n)
        rows, cols = (self.shuffled()[:count] for _ in range(2))
        rule, mask = self.rule((self.n, self.n) if matrix else (self.n,), out=True)
        expected = self.theirs(old)
        places = (rows.tolist(), cols.tolist()) if matrix else rows.tolist()
        value: Any = self.dtype.type(self.number(0, 5))
        given = value
        if self.chance(0.5):
            given = (
                extract(self.matrices[1], rows, cols)
                if matrix
                else SparseVector(np.arange(count), self.numbers(count), count)
            )
            value = self.theirs(given)  # of a stored zero, a place that becomes absent
        self.told.append(f"assign {given!r} {rows} {cols if matrix else ''} {rule} into {old!r}")
        target(expected, mask, rule)[places] << value
        own = {} if matrix else {"semiring": self.semiring}
        got = assign(old, given, rows, *((cols,) if matrix else ()), **rule, **own)
        assert got is old
        self.agree(got, expected)

    def reduced(self) -> None:
        """A matrix is added up along its rows, its columns or both; and a vector."""
        A, name = self.matrices[0], self.one_of("plus", "min", "max")
        gA, monoid = self.theirs(A), getattr(gb.monoid, name)
        own = find_semiring(f"{name}_first").zero(self.dtype).item()
        self.told.append(f"reduce {name}")
        for axis, theirs in ((1, gA.reduce_rowwise(monoid)), (0, gA.reduce_columnwise(monoid))):
            indices, values = theirs.new().to_coo()
            expected = np.full(self.n, own, self.dtype)
            expected[indices] = values
            assert reduce(self.stored(A), name, axis=axis).tolist() == expected.tolist()
        assert reduce(A, name) == (gA.reduce_scalar(monoid).new().value if A.nnz else own)
        u = self.sparse(self.vectors[0])
        assert reduce(u, name) == (self.theirs(u).reduce(monoid).new().value if u.nnz else own)

    def typed(self, t: Any) -> Any:
        """A result of GraphBLAS's in the program's dtype."""
        return t.dup(dtype=self.dtype) if isinstance(t, gb.Matrix | gb.Vector) else t.new(dtype=self.dtype)


def where(t: Any, holds: Callable[..., bool]) -> Any:
    """The entries of a GraphBLAS object for which a function of (place, …, value) holds."""
    *places, values = (part.tolist() for part in t.to_coo())
    kept = [entry for entry in zip(*places, values, strict=True) if holds(*entry)]
    chosen = type(t)(t.dtype, *t.shape)
    if kept:
        chosen.build(*zip(*kept, strict=True))
    return chosen


def check(drawn: Drawn) -> None:
    """Run a program; an error tells the steps that led to it."""
    kind, start, steps = drawn
    program = Program(kind, start)
    try:
        with threads(program.threads):
            for step in steps:
                if not program.step(step):
                    break
    except Exception as error:
        what = f"{kind.semiring.name}, {kind.dtype}, {kind.fmt.__name__}, {program.n} vertices"
        told = "\n    ".join(program.told)
        raise AssertionError(f"{what}, {program.threads} threads\n    {told}\n{error!r}") from error


def check_all(block: range) -> None:
    """As many programs as the block has numbers, drawn from its first one."""
    agree = given(drawn=programs(kinds(block.start, KINDS)))(lambda drawn: check(drawn))
    rules = settings(max_examples=len(block), database=None, suppress_health_check=list(HealthCheck))
    seed(block.start)(rules(agree))()


def test_programs_of_verbs_agree_with_graphblas(program_seeds):
    check_all(program_seeds)


def test_a_few_programs_agree_with_graphblas():
    check_all(range(fuzzing.SEED, fuzzing.SEED + 30))
