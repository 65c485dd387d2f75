"""Pickle, copy and cloudpickle: what has a name comes back as the same object, all else equal. Equal operators."""

from __future__ import annotations

import copy
import gc
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from algorithms import Graph, NegativeCycle, factor
from formats import Matrix, SparseVector, from_edges
from semiring import (
    MONOIDS,
    OPERATORS,
    SEMIRINGS,
    BinaryOp,
    Law,
    MaxPlus,
    MinPlus,
    Semiring,
    Verb,
    apply,
    better,
    differs,
    ewise_mult,
    lost,
    mxm,
    mxv,
    nearer,
    no_worse,
    tight,
    within,
)
from semiring.algebra.ops import POSITIONS, UNARY_OPERATORS
from semiring.algebra.semirings import find_semiring
from semiring.kernels.compiling import seconds_of_compiling

WAYS: list[Callable[[Any], Any]] = [lambda x: pickle.loads(pickle.dumps(x)), copy.copy, copy.deepcopy]


def differences(a, b):
    return abs(a - b)


NAMED: list[Any] = [
    *SEMIRINGS.values(),
    *(find_semiring(name) for name in ("max_times", "plus_first", "min_secondi1", "any_pair", "land_lor")),
    *MONOIDS.values(),
    *OPERATORS.values(),
    *POSITIONS.values(),
    *UNARY_OPERATORS.values(),
    *Law,
    *Verb.all.values(),
    *(
        within,
        differs,
        tight(MinPlus),
        nearer(MaxPlus),
        lost(MinPlus),
        better(MinPlus),
        no_worse(find_semiring("lor_land")),
    ),
    *(SEMIRINGS, OPERATORS),
]


@pytest.mark.parametrize("way", WAYS)
def test_what_has_a_name_is_the_same_object_afterwards(way):
    assert [thing for thing in NAMED if way(thing) is not thing] == []


@pytest.mark.parametrize("way", WAYS)
def test_own_operators_are_equal_afterwards(way):
    op = BinaryOp("absdiff", differences)
    for thing in (op, Semiring(MONOIDS["min"], op, one=0), Semiring(MONOIDS["plus"], OPERATORS["div"])):
        assert way(thing) == thing
        assert hash(way(thing)) == hash(thing)


def test_a_lambda_is_for_cloudpickle_and_pickle_says_so():
    cloudpickle = pytest.importorskip("cloudpickle")
    s = Semiring(MONOIDS["min"], BinaryOp("absdiff", scalar=lambda a, b: abs(a - b)))
    with pytest.raises(pickle.PicklingError, match=r"^BinaryOp 'absdiff' is not pickled, .* or use cloudpickle$"):
        pickle.dumps(s)
    again = pickle.loads(cloudpickle.dumps(s))
    assert (again, hash(again)) == (s, hash(s))
    assert copy.deepcopy(s) == s


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("fmt", Matrix.formats.values())
def test_matrices_are_equal_and_read_only_without_what_is_kept(way, fmt):
    A = from_edges([0, 1, 2, 0], [1, 2, 0, 2], [1.0, 2.0, 3.0, 9.0]).to(fmt)
    A @ np.ones(3)
    for ours, theirs in ((A, way(A)), (A.T, way(A.T)), (A.pattern(), way(A.pattern()))):
        assert theirs.equals(ours)
        assert type(theirs) is type(ours)
        assert not any(array.flags.writeable for array in theirs.arrays)
    assert len(way(A).__dict__.get("_kept", {})) <= 1  # how many entries there are


@pytest.mark.parametrize("way", WAYS)
def test_answers_and_graphs_come_back(way):
    A = from_edges([0, 1, 2, 0], [1, 2, 0, 2], [1.0, 2.0, 3.0, 9.0])
    assert way(factor(A)).solve(0).tolist() == [0, 1, 3]
    v = SparseVector([0, 2], [1.0, 2.0], 3)
    assert way(v).to_dense(0).tolist() == [1, 0, 2]
    roads = Graph.from_edges(["Rome", "Pisa"], ["Pisa", "Siena"], [1, 2])
    assert way(roads).sssp("Rome").path("Siena").length == way(roads.sssp("Rome")).path("Siena").length == 3
    parts = A.to(device=["cpu", "cpu"])
    with pytest.raises(TypeError, match=r"a matrix in parts is not pickled"):
        way(parts)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("cycle", [[1, 2, 1], ["a", "b", "a"], list(range(40))])
def test_a_negative_cycle_keeps_its_message_letter_by_letter(way, cycle):
    error = NegativeCycle(cycle)
    error.add_note("by the way")
    again = way(error)
    assert (str(again), again.cycle, again.__notes__) == (str(error), cycle, ["by the way"])


def test_operators_of_equal_code_are_one_and_others_are_not():
    def of(k: float) -> BinaryOp:
        return BinaryOp("near", scalar=lambda a, b: abs(a - b) + k)

    one = 1.0
    assert of(1.0) == of(one)
    assert of(1.0) != of(2.0)
    assert of(1.0) != BinaryOp("near", scalar=lambda a, b: abs(a + b) + one)
    assert of(1.0) != BinaryOp("other", scalar=of(1.0).scalar)
    assert of(1.0) != of(1)  # another type of number is another kernel
    assert of(1.0) != BinaryOp("near", of(1.0).scalar, cuda="a")


def test_an_operator_made_in_each_call_is_compiled_once_and_takes_no_memory():
    A, x = from_edges([0, 0, 1], [0, 1, 1], [5.0, 9.0, 3.0]), np.array([4.0, 7.0])

    def call() -> None:
        op = BinaryOp("made anew", scalar=lambda a, b: abs(a - b) + 0.25)
        s = Semiring(MONOIDS["min"], op)
        mxv(A, x, s), mxm(A, A, s), ewise_mult(x, x, op), apply(x, op, right=2.0)

    def pages() -> int:
        gc.collect()
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1])

    call()
    call()
    seconds, before = seconds_of_compiling(), pages()
    for _ in range(200):
        call()
    assert seconds_of_compiling() == seconds
    assert (pages() - before) * 4096 < 5 * 2**20
