"""The closure of a matrix: walks of every length, also where ⊕ joins values instead of selecting one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from algorithms import NegativeCycle, all_pairs, closure
from formats import CSR, from_edges
from semiring import OPERATORS, Law, Monoid, Semiring

from .conftest import Backend
from .graphs import on_cpu
from .strategies import FORMATS, OPTIONS, BitAnd, BitOr, Gcd

RING = frozenset(law for law in Law if law not in (Law.IDEMPOTENT, Law.SELECTIVE, Law.UNIT))
Labels = Semiring(BitOr, BitAnd, one=-1, laws=RING)
"""Of sets of labels, as bits: which of them some walk keeps to."""

every_backend = pytest.mark.parametrize("backend", [backend.param(name="") for backend in Backend])


def drawn(n: int, seed: int, dtype: Any = np.int64) -> CSR:
    rng = np.random.default_rng(seed)
    u, v = rng.integers(0, n, (2, 2 * n))
    return from_edges(u, v, rng.integers(1, 256, 2 * n).astype(dtype), shape=n)


def by_walks(A: CSR) -> np.ndarray:
    """⊕ over walks of up to n edges, one edge after the other."""
    X, D = A.to_dense(0), np.zeros((A.nrows, A.nrows), A.dtype)
    np.fill_diagonal(D, -1)
    for _ in range(A.nrows):
        D |= np.bitwise_or.reduce(D[:, :, None] & X[None], axis=1)
    return D


@every_backend
def test_sets_of_labels(backend: str) -> None:
    for n in (0, 1, 2, 9, 100):
        A = drawn(n, n)
        np.testing.assert_array_equal(on_cpu(closure(A.to(device=backend), Labels)), by_walks(A))


def test_every_format() -> None:
    A = drawn(12, 1, np.int32)
    for fmt in FORMATS:
        B = A.to(fmt, **({"force": True} if "force" in OPTIONS.get(fmt, {}) else {}))
        np.testing.assert_array_equal(closure(B, Labels), by_walks(A))


def test_where_it_selects_it_is_all_pairs() -> None:
    A = drawn(30, 3)
    np.testing.assert_array_equal(closure(A, "max_min"), all_pairs(A, "max_min"))
    with pytest.raises(NegativeCycle):
        closure(from_edges([0, 1], [1, 0], [1, -2]))


def test_what_has_no_end_is_refused() -> None:
    A = drawn(5, 5)
    with pytest.raises(ValueError, match="adds more for every longer walk"):
        closure(A, "plus_times")
    with pytest.raises(ValueError, match="1 ⊕ a other than 1"):
        closure(A, Semiring(Monoid(OPERATORS["max"], "lowest", idempotent=True), OPERATORS["plus"], one=0, laws=RING))
    with pytest.raises(ValueError, match="distributive"):
        closure(A, Semiring(Gcd, BitAnd, one=-1))
    with pytest.raises(ValueError, match="unit"):
        closure(A, Semiring(Gcd, BitAnd))
    with pytest.raises(ValueError, match="square"):
        closure(from_edges([0], [1], shape=(1, 2)))
