"""Products of positions, and functions of where an entry is, beside plain loops and python-graphblas."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from formats import CSR, Matrix, SparseVector, from_edges
from semiring import MONOIDS, Semiring, Vector, apply, ewise_mult, mxm, mxv, vxm
from semiring.algebra.ops import POSITIONS, find_op
from semiring.algebra.semirings import find_semiring

from . import strategies as sts
from .strategies import BOOL, FLOAT64, INT32, INT64, moved

ADDITIONS = {"min": (min, np.iinfo(INT64).max), "max": (max, np.iinfo(INT64).min), "plus": (sum, 0)}
ADDITIONS["any"] = ADDITIONS["min"]
NAMES = [f"{add}_{mul}" for add in ADDITIONS for mul in POSITIONS]


def entries(seed: int, shape: tuple[int, int], dtype: np.dtype) -> sts.Entries:
    """A random matrix with stored zeros, an empty row and a full one."""
    rng = np.random.default_rng(seed)
    there = rng.random(shape) < 0.4
    there[0], there[-1] = False, True
    places = zip(*(part.tolist() for part in np.nonzero(there)), strict=True)
    return sts.Entries(shape, dtype, {place: dtype.type(rng.integers(0, 3)).item() for place in places})


def expected(name: str, terms: dict[tuple[int, int], list[int]], shape: tuple[int, int]) -> np.ndarray:
    """⊕ over where the terms of each place come from; `terms` has the k of each."""
    add, _, mul = name.partition("_")
    total, zero = ADDITIONS[add]
    C = np.full(shape, zero)
    for (i, j), ks in terms.items():
        where = {"firsti": [i] * len(ks), "secondj": [j] * len(ks)}.get(mul.rstrip("1"), ks)
        C[i, j] = total([at + mul.endswith("1") for at in where])
    return C


def terms_of(A: sts.Entries, B: sts.Entries) -> dict[tuple[int, int], list[int]]:
    found: dict[tuple[int, int], list[int]] = {}
    for i, k in A.at:
        for other, j in B.at:
            if other == k:
                found.setdefault((i, j), []).append(k)
    return found


@pytest.mark.parametrize("dtype", [BOOL, INT32, FLOAT64], ids=str)
@pytest.mark.cells("mxm", "mxv", "vxm")
def test_products_say_where_their_terms_come_from(verb, fmt, backend, dtype):
    A, B = entries(1, (5, 4), dtype), entries(2, (4, 6), dtype)
    line = {k for k in range(6) if k % 3}
    for name in NAMES:
        zero = ADDITIONS[name.partition("_")[0]][1]
        absent = False if dtype == BOOL else find_semiring(name).zero(dtype)
        if verb is mxm:
            C = mxm(*(M.build(fmt).to(device=backend) for M in (A, B)), name).to(device="cpu")
            C.check()
            assert C.dtype == INT64
            np.testing.assert_array_equal(C.to_dense(zero), expected(name, terms_of(A, B), (5, 6)), err_msg=name)
            continue
        size = 4 if verb is mxv else 5
        at = np.array(sorted(k for k in line if k < size))
        x = SparseVector(at, np.ones(at.size, dtype), size)
        one = sts.Entries((4, 1) if verb is mxv else (1, 5), dtype, {(k, 0) if verb is mxv else (0, k): 1 for k in at})
        pair = (A, one) if verb is mxv else (one, A)
        shape = (5, 1) if verb is mxv else (1, 4)
        wanted = expected(name, terms_of(*pair), shape).ravel()
        for operand in (x, x.to_dense(absent)):
            M, own = A.build(fmt).to(device=backend), moved(operand, backend)
            y: Any = moved(mxv(M, own, name) if verb is mxv else vxm(own, M, name), "cpu")
            assert isinstance(y, SparseVector) == isinstance(operand, SparseVector)
            dense = y.to_dense(zero) if isinstance(y, SparseVector) else y
            assert dense.dtype == INT64
            np.testing.assert_array_equal(dense, wanted, err_msg=name)


@pytest.mark.parametrize("name", ["min_firsti", "max_secondi1", "plus_firstj", "min_secondj1"])
def test_products_of_positions_follow_the_write_rule_and_agree_with_graphblas(name, gb):
    A, B = (entries(seed, (5, 5), INT32).build(CSR) for seed in (3, 4))
    theirs, others = (gb.Matrix.from_coo(*(np.array(part) for part in M.to_edges()), nrows=5, ncols=5) for M in (A, B))
    t = theirs.mxm(others, getattr(gb.semiring.ss, name)).new(dtype="INT64")
    zero, mask = find_semiring(name).zero(INT64), np.arange(25).reshape(5, 5) % 3 > 0
    full = t.to_dense(fill_value=int(zero), dtype="INT64")
    out = from_edges([0, 1], [1, 1], [100, -7], shape=5, dtype=INT64)
    kept = out.to_dense(zero)
    mxm(A, B, name, mask=mask, accum="min" if name.startswith("min") else "max", out=out)
    choose = np.minimum if name.startswith("min") else np.maximum
    if not name.startswith("plus"):
        np.testing.assert_array_equal(out.to_dense(zero), np.where(mask, choose(full, kept), kept))
    masked = mxm(A, B, name, mask=mask, complement=True)
    np.testing.assert_array_equal(masked.to_dense(zero), np.where(mask, zero, full))


@pytest.mark.quick
@pytest.mark.cells("apply")
def test_positions_of_entries(verb, fmt, backend):
    if fmt is Vector:
        u = SparseVector([1, 3], [5.0, 7.0], 5)
        for name, sign in (("rowindex", 1), ("colindex", 0), ("diagindex", -1)):
            w = apply(moved(u, backend), name, right=10)
            assert w.dtype == INT64
            assert moved(w, "cpu").values.tolist() == [10 + sign, 10 + 3 * sign]
        dense = moved(np.array([np.inf, 2.0, np.inf]), backend)
        assert moved(apply(dense, "rowindex", semiring="min_plus"), "cpu").tolist() == [2**63 - 1, 1, 2**63 - 1]
        assert moved(apply(dense, "rowindex"), "cpu").tolist() == [0, 1, 2]
        return
    M = entries(5, (4, 6), FLOAT64)
    A = M.build(fmt).to(device=backend)
    of: dict[str, Any] = {"rowindex": lambda i, j: i, "colindex": lambda i, j: j, "diagindex": lambda i, j: j - i}
    for name, function in of.items():
        for thunk in (None, 3):
            C: Matrix = apply(A, name, right=thunk).to(device="cpu")
            wanted = [function(*place) + (thunk or 0) for place in sorted(M.at)]
            assert (C.dtype, C.to_edges()[2].tolist()) == (INT64, wanted)


@pytest.mark.quick
def test_an_operator_of_positions_is_for_products_alone():
    A, u = from_edges([0], [1], [5]), np.ones(2)
    for call in (lambda: ewise_mult(A, A, "min_secondi"), lambda: ewise_mult(u, u, POSITIONS["firsti"])):
        with pytest.raises(TypeError, match="gives positions, not values: it is for mxv, vxm and mxm"):
            call()
    with pytest.raises(ValueError, match="unknown operator 'secondi'"):
        find_op("secondi")
    with pytest.raises(ValueError, match="unknown semiring 'times_secondi'"):
        find_semiring("times_secondi")
    with pytest.raises(TypeError, match="takes what is added as right="):
        apply(A, "rowindex", left=1)
    with pytest.raises(TypeError, match="integer"):
        apply(A, "rowindex", right=1.5)
    assert mxv(A, u, Semiring(MONOIDS["min"], POSITIONS["secondi"])).tolist() == [1, 2**63 - 1]
