"""What `explain` says of verbs: which cell ran, what it was given, and how a product was computed."""

from __future__ import annotations

import inspect
from threading import Thread
from typing import Any

import numpy as np
import pytest

from algorithms import bfs, closure
from formats import SparseVector, from_edges
from semiring import MONOIDS, BinaryOp, MinPlus, Semiring, Verb, explain, mxm, mxv, power, reduce, vxm
from semiring.verbs.explanation import ASKING, FEW

pytestmark = pytest.mark.quick

A = from_edges([0, 0, 1, 2], [1, 2, 2, 0], [4.0, 9.0, 1.0, 2.0])
x = np.ones(3)
v = SparseVector([0], [1.0], 3)
ABSDIFF = Semiring(MONOIDS["min"], BinaryOp("absdiff", lambda a, b: abs(a - b)))
LARGE = from_edges([0, 0], [1, 2], np.array([2**31 - 2, 5], np.int32))


@pytest.mark.parametrize(
    ("call", "how"),
    [
        (lambda: mxv(A, x, ABSDIFF), "compiled, gathered along the stored rows"),
        (lambda: vxm(x, A, ABSDIFF), "compiled, scattered across the stored rows"),
        (lambda: vxm(v, A, MinPlus), "compiled, pushed along the rows that x has"),
        (lambda: mxm(A, A, MinPlus), "compiled, row by row"),
        (lambda: mxv(LARGE, np.full(3, 2**30, np.int32), "plus_times"), "exact, beyond the range of the dtype"),
    ],
)
def test_it_says_how_a_product_was_computed(call: Any, how: str) -> None:
    (run,) = explain(call).runs
    assert run.details["product"] == how


def test_it_says_that_suitesparse_computed_a_product(gb: Any) -> None:
    (run,) = explain(mxv, A, x, MinPlus).runs
    assert run.details["product"] == "SuiteSparse:GraphBLAS"


def test_it_says_what_a_verb_was_given_and_which_cell_ran() -> None:
    told = explain(mxv, A.to("ell"), x, "plus_times", mask=x > 0, accum="min", out=x.copy())
    assert str(told).splitlines() == [
        "mxv: verb, ELL on cpu (for every format, in semiring.cpu.products)",
        *("    A: ELL 3×3 of float64", "    x: array of 3 float64", "    semiring: plus_times"),
        *("    mask: array of 3 bool", "    accum: min", "    out: array of 3 float64"),
        *("    product: compiled, gathered along the stored rows", "    result: array of 3 float64"),
    ]
    assert told.result.tolist() == [1.0, 1.0, 1.0]


CALLS: dict[str, tuple[Any, ...]] = {
    **{"mxv": (A, x, MinPlus), "vxm": (x, A, MinPlus), "mxm": (A, A, MinPlus), "reduce": (A, "min"), "transpose": (A,)},
    **{"ewise_add": (v, v, "min"), "ewise_mult": (A, A, "times"), "ewise_union": (A, 1.0, A, 1.0, "minus")},
    **{"apply": (x, np.sqrt), "select": (A, "<", 4), "extract": (A, [0], [1]), "kronecker": (A, A, "times")},
    "assign": (x.copy(), 2.0, [0]),
}


@pytest.mark.parametrize("name", Verb.all)
def test_every_verb_is_told(name: str) -> None:
    verb = Verb.all[name]
    (run,) = explain(verb, *CALLS[name]).runs
    assert (run.algorithm, run.implementation, run.device, run.times) == (name, "verb", "cpu", 1)
    assert "semiring." in run.why
    assert run.details["result"]
    assert list(run.details)[: len(CALLS[name])] == list(inspect.signature(verb).parameters)[: len(CALLS[name])]


def test_calls_that_are_alike_are_counted() -> None:
    told = explain(lambda: [A @ x for _ in range(5)] + [A > 2])
    assert [(run.algorithm, run.times) for run in told.runs] == [("mxv", 5), ("apply", 1)]
    assert "mxv: verb, 5 times, CSR on cpu" in str(told)
    assert len(explain(lambda: [A * k for k in range(2 * FEW)]).runs) == 2 * FEW


def test_verbs_within_verbs_and_within_algorithms_are_not_told() -> None:
    assert [run.algorithm for run in explain(power, A, 3, "min_plus").runs] == ["mxm"]
    assert [run.algorithm for run in explain(lambda: (mxv(A, x, MinPlus), bfs(A, 0))).runs] == ["bfs"]
    assert [run.algorithm for run in explain(bfs, A, 0, fused=False).runs] == ["bfs"]
    assert explain(closure, A).runs


def test_a_verb_that_fails_is_not_told_and_nobody_is_asked_afterwards() -> None:
    def tried() -> None:
        with pytest.raises(ValueError, match="elements"):
            mxv(A, np.ones(4), MinPlus)

    assert explain(tried).runs == []
    assert str(explain(tried)) == "no verb ran, and no algorithm that could have been fused"
    with pytest.raises(TypeError, match="expected a monoid"):
        explain(reduce, A, 3)
    assert ASKING == []


def test_another_thread_is_not_told() -> None:
    def elsewhere() -> None:
        thread = Thread(target=lambda: mxv(A, x, MinPlus))
        thread.start()
        thread.join()

    assert explain(elsewhere).runs == []
