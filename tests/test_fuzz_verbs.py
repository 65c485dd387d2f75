"""Random programs of verbs, each step mirrored on python-graphblas: masks, complements, accumulators, out and replace.

Two vectors and two matrices are changed step by step. GraphBLAS's vectors keep an entry that equals the semiring's
zero; ours do not, so such an entry is dropped from its results before they are written.
"""

from __future__ import annotations

from typing import Any

import graphblas as gb
import numpy as np

from formats import CSR, Matrix, SparseVector, from_edges
from semiring import apply, assign, ewise_add, ewise_mult, extract, mxm, mxv, reduce, select, threads, transpose, vxm
from semiring.algebra.semirings import find_semiring

from . import strategies as sts

EVERY = 8
"""One program for so many seeds."""

TOGETHER = 1000
"""Consecutive seeds that share a semiring, a dtype and the format of products."""

STEPS = 6
LARGE = 10**6
"""Where a program ends: its values are to be exact in every dtype."""

SEMIRINGS = ["min_plus", "max_plus", "plus_times", "min_max", "min_first", "min_second", "max_times", "plus_pair"]
ACCUMULATORS = ["plus", "min", "max", "first", "second", "minus"]
COMPARISONS = {"lt": "<", "ge": ">=", "ne": "!="}

Entries = dict[Any, Any]


class Program:
    """What a seed draws: the state, ours and GraphBLAS's, and the steps."""

    def __init__(self, seed: int) -> None:
        group = np.random.default_rng(seed // TOGETHER)
        self.semiring = find_semiring(SEMIRINGS[group.integers(len(SEMIRINGS))])
        self.dtype = [sts.INT32, sts.INT64, sts.FLOAT64][group.integers(3)]
        self.fmt = sts.FORMATS[group.integers(len(sts.FORMATS))]
        self.rng = np.random.default_rng(seed)
        self.n = int(self.rng.integers(1, 7))
        self.zero = self.semiring.zero(self.dtype)
        self.reads = self.semiring.mul.reads
        self.told: list[str] = []
        self.matrices: Any = [self.matrix() for _ in range(2)]
        self.vectors: Any = [self.vector() for _ in range(2)]

    # --- what is drawn --------------------------------------------------------------------------------------------

    def one_of(self, *values: Any) -> Any:
        return values[int(self.rng.integers(len(values)))]

    def chance(self, share: float) -> bool:
        return bool(self.rng.random() < share)

    def numbers(self, count: int) -> np.ndarray:
        low = 0 if self.semiring.name == "max_times" else -2
        return self.rng.integers(low, 6, count).astype(self.dtype)

    def matrix(self) -> Matrix:
        places = np.flatnonzero(self.rng.random(self.n * self.n) < self.one_of(0.0, 0.2, 0.6, 1.0))
        return from_edges(places // self.n, places % self.n, self.numbers(places.size), shape=self.n)

    def vector(self) -> Any:
        places = np.flatnonzero(self.rng.random(self.n) < self.one_of(0.0, 0.5, 1.0))
        x = SparseVector(places, self.numbers(places.size), self.n)
        x = SparseVector.from_dense(x.to_dense(self.zero), self.zero)
        return x.to_dense(self.zero) if self.chance(0.5) else x

    def rule(self, *, matrix: bool, out: bool) -> tuple[dict[str, Any], Any]:
        """(the write rule's arguments, GraphBLAS's mask)."""
        ours: dict[str, Any] = {}
        mask: Any = None
        if self.chance(0.5):
            flags = self.rng.random((self.n, self.n) if matrix else self.n) < 0.5
            if self.chance(0.5):
                ours["mask"] = flags
            elif matrix:
                ours["mask"] = from_edges(*np.nonzero(flags), shape=self.n, dtype=bool)
            else:
                ours["mask"] = SparseVector(np.flatnonzero(flags), np.zeros(int(flags.sum()), bool), self.n)
            made = gb.Matrix.from_dense(flags) if matrix else gb.Vector.from_dense(flags)
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
        if isinstance(x, Matrix):
            rows, cols, values = x.to_edges()
            return gb.Matrix.from_coo(rows, cols, np.array(values), nrows=x.nrows, ncols=x.ncols, dtype=self.dtype)
        present = self.entries(x)
        return gb.Vector.from_coo(list(present), list(present.values()), size=x.size, dtype=self.dtype)

    def entries(self, x: Any) -> Entries:
        if isinstance(x, Matrix):
            rows, cols, values = (part.tolist() for part in x.to_edges())
            return dict(zip(zip(rows, cols, strict=True), values, strict=True))
        v = x if isinstance(x, SparseVector) else SparseVector.from_dense(x, self.zero)
        held = zip(v.indices.tolist(), v.values.tolist(), strict=True)
        return {i: value for i, value in held if value != self.zero}  # a stored zero is absent

    def entries_of_theirs(self, y: Any) -> Entries:
        if isinstance(y, gb.Matrix):
            rows, cols, values = (part.tolist() for part in y.to_coo())
            return dict(zip(zip(rows, cols, strict=True), values, strict=True))
        indices, values = (part.tolist() for part in y.select("!=", self.zero).new().to_coo())
        return dict(zip(indices, values, strict=True))

    def pruned(self, t: Any) -> Any:
        """What takes part in a product, or is in its result: no entry equals the zero."""
        return t.select("!=", self.zero).new()

    # --- steps ----------------------------------------------------------------------------------------------------

    def step(self) -> bool:
        """Do one verb on both sides and compare; False where the program is to end."""
        kind = self.one_of(*([self.on_vectors] * 3), *([self.on_matrices] * 3), self.assigned, self.reduced)
        kind()
        values = [v for x in (*self.matrices, *self.vectors) for v in self.entries(x).values()]
        return all(abs(v) < LARGE for v in values)

    def on_vectors(self) -> None:
        (u, v), A = self.vectors, self.matrices[int(self.rng.integers(2))]
        s, add, mul = self.semiring, self.semiring.add.name, self.semiring.mul.name
        B, gs = A.to(self.fmt, **sts.OPTIONS.get(self.fmt, {})), getattr(gb.semiring, s.name)
        gu, gv, gA = self.theirs(u), self.theirs(v), self.theirs(A)
        gA = gA if self.reads == "" else self.pruned(gA)
        choices: dict[str, tuple[Any, Any]] = {
            "mxv": (lambda **o: mxv(B, u, s, **o), lambda: gA.mxv(gu, gs)),
            "vxm": (lambda **o: vxm(u, B, s, **o), lambda: gu.vxm(gA, gs)),
            "ewise_add": (lambda **o: ewise_add(u, v, s, **o), lambda: gu.ewise_add(gv, getattr(gb.binary, add))),
            "ewise_mult": (lambda **o: ewise_mult(u, v, s, **o), lambda: gu.ewise_mult(gv, getattr(gb.binary, mul))),
            "apply": (
                lambda **o: apply(u, "plus", right=1, semiring=s, **o),
                lambda: gu.apply(gb.binary.plus, right=1),
            ),
            "select": (lambda **o: select(u, "<", 3, semiring=s, **o), lambda: gu.select("<", 3)),
        }
        verb = self.one_of(*choices)
        ours, theirs = choices[verb]
        self.written(verb, ours, self.pruned(theirs().new(dtype=self.dtype)), self.vectors, matrix=False)

    def on_matrices(self) -> None:
        A, B = self.matrices
        s, mul = self.semiring, self.semiring.mul.name
        op, compare, k = (
            self.one_of("plus", "min", "max", "minus"),
            self.one_of(*COMPARISONS),
            int(self.rng.integers(-1, 5)),
        )
        rows, cols = (self.rng.integers(self.n, size=self.n) for _ in range(2))
        gA, gB = self.theirs(A), self.theirs(B)
        pA, pB = (gA, gB) if self.reads == "" else (self.pruned(gA), self.pruned(gB))
        choices: dict[str, tuple[Any, Any]] = {
            "mxm": (lambda **o: mxm(A, B, s, **o), lambda: self.pruned(pA.mxm(pB, getattr(gb.semiring, s.name)).new())),
            "ewise_add": (lambda **o: ewise_add(A, B, op, **o), lambda: gA.ewise_add(gB, getattr(gb.binary, op))),
            "ewise_mult": (lambda **o: ewise_mult(A, B, s, **o), lambda: pA.ewise_mult(pB, getattr(gb.binary, mul))),
            "apply": (lambda **o: apply(A, "ainv", **o), lambda: gA.apply(gb.unary.ainv)),
            "select": (lambda **o: select(A, compare, k, **o), lambda: gA.select(COMPARISONS[compare], k)),
            "tril": (lambda **o: select(A, "tril", k, **o), lambda: gA.select("tril", k)),
            "extract": (lambda **o: extract(A, rows, cols, **o), lambda: gA[rows.tolist(), cols.tolist()]),
            "transpose": (lambda **o: transpose(A, **o), lambda: gA.T),
        }
        if self.semiring.name == "max_times":
            del choices["apply"]
            op = "max"
        verb = self.one_of(*choices)
        ours, theirs = choices[verb]
        t = theirs()
        t = t if isinstance(t, gb.Matrix) else t.new(dtype=self.dtype)
        self.written(
            f"{verb} {op} {compare} {k} {rows} {cols}", ours, t.dup(dtype=self.dtype), self.matrices, matrix=True
        )

    def written(self, verb: str, ours: Any, t: Any, state: list[Any], *, matrix: bool) -> None:
        """Write the result t into a part of the state, or make it a new one, by a rule."""
        at, into = int(self.rng.integers(2)), self.chance(0.5)
        rule, mask = self.rule(matrix=matrix, out=into)
        old = state[at]
        expected = self.theirs(old) if into else type(t)(self.dtype, *((self.n, self.n) if matrix else (self.n,)))
        target(expected, mask, rule) << t
        self.told.append(f"{verb} {rule} into {repr(old) if into else 'a new one'}")
        got = ours(out=old, **rule) if into else ours(**rule)
        if into:
            assert got is old
        state[at] = got if not matrix else got.to(CSR)
        self.agree(got, expected)

    def assigned(self) -> None:
        """A scalar, a vector or a matrix is written into places."""
        matrix = self.chance(0.5)
        state, at = (self.matrices, 0) if matrix else (self.vectors, int(self.rng.integers(2)))
        old, count = state[at], int(self.rng.integers(1, self.n + 1))
        rows, cols = (self.rng.permutation(self.n)[:count] for _ in range(2))
        rule, mask = self.rule(matrix=matrix, out=True)
        expected = self.theirs(old)
        places = (rows.tolist(), cols.tolist()) if matrix else rows.tolist()
        value: Any = int(self.rng.integers(0, 6))
        value = self.dtype.type(value)
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
        """A matrix is added up along its rows, its columns or both."""
        A, name = self.matrices[0], self.one_of("plus", "min", "max")
        gA, monoid = self.theirs(A), getattr(gb.monoid, name)
        own = find_semiring(f"{name}_first").zero(self.dtype).item()
        self.told.append(f"reduce {name}")
        for axis, theirs in ((1, gA.reduce_rowwise(monoid)), (0, gA.reduce_columnwise(monoid))):
            indices, values = theirs.new().to_coo()
            expected = np.full(self.n, own, self.dtype)
            expected[indices] = values
            assert reduce(A, name, axis=axis).tolist() == expected.tolist()
        assert reduce(A, name) == (gA.reduce_scalar(monoid).new().value if A.nnz else own)

    def agree(self, got: Any, expected: Any) -> None:
        if isinstance(got, Matrix):
            got.check()
        ours, theirs = self.entries(got), self.entries_of_theirs(expected)
        assert ours == theirs, f"{got!r} holds {ours}, and should hold {theirs}"


def target(expected: Any, mask: Any, rule: dict[str, Any]) -> Any:
    """What GraphBLAS writes to."""
    parts = [
        part for part in (mask, getattr(gb.binary, rule["accum"]) if "accum" in rule else None) if part is not None
    ]
    return expected(*parts, replace=rule.get("replace", False)) if parts else expected


def test_programs_of_verbs_agree_with_graphblas(fuzz_seeds):
    for seed in fuzz_seeds[::EVERY]:
        program = Program(seed)
        try:
            with threads(int(program.rng.integers(1, 3))):
                for _ in range(STEPS):
                    if not program.step():
                        break
        except Exception as error:
            kind = f"{program.semiring.name}, {program.dtype}, {program.fmt.__name__}, {program.n} vertices"
            steps = "\n    ".join(program.told)
            raise AssertionError(f"seed {seed}: {kind}\n    {steps}\n{error!r}") from error
