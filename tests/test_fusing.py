"""Programs of a user's own: what he may write, what the compiler refuses, and what stays as it was.

`tests/test_user_programs.py` has programs that are worth writing, `tests/test_random_programs.py` random ones.
"""

from __future__ import annotations

import inspect
import linecache
from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np
import pytest

import semiring as sr
from algorithms import bellman_ford, bfs
from formats import Matrix, SparseVector, from_edges
from formats.arrays import index_dtype
from semiring import (
    LorLand,
    MaxMin,
    MinFirst,
    MinPlus,
    Semiring,
    better,
    ewise_add,
    explain,
    fusible,
    reduce,
    select,
    vxm,
)
from semiring.fusing import regions as regions_of_programs
from semiring.fusing.program import Program, called
from semiring.fusing.regions import REFUSED
from semiring.vectors import (
    all_vertices,
    densified,
    full,
    is_empty,
    masked,
    nonzero,
    nvals,
    one_hot,
    present,
    scatter,
    scatter_add,
    unit,
)

from .user_programs import PROGRAMS

STEP = 5


def chain(weights: list[int]) -> Matrix:
    """A path with these weights."""
    n = len(weights)
    return from_edges(range(n), range(1, n + 1), np.array(weights, np.int32), shape=n + 1)


def regions(function: Any) -> list[str]:
    """What became of each loop in the last call."""
    assert isinstance(function.public, Program)
    return [region.told for region in function.public.regions]


def bits(x: Any) -> Any:
    """Something that is equal for answers of equal bits."""
    if isinstance(x, tuple | list):
        return type(x), [bits(part) for part in x]
    if isinstance(x, SparseVector):
        return bits((x.indices, x.values, x.size))
    if isinstance(x, np.ndarray):
        return x.dtype, x.shape, x.tobytes()
    return type(x), x


def outcome(function: Callable[..., Any], make: Callable[[], tuple[Any, ...]], **how: Any) -> Any:
    """What a call returns, or its error, and what it leaves in its arguments."""
    given = make()
    try:
        answer = bits(function(*given, **how))
    except Exception as error:
        answer = type(error), str(error)
    return answer, [bits(x) for x in given if not isinstance(x, Matrix)]


def agree(function: Any, make: Callable[[], tuple[Any, ...]], told: str = "compiled") -> None:
    """Check that a program does the same compiled and as written, and what became of its first loop."""
    assert outcome(function, make) == outcome(function, make, fused=False)
    outcome(function, make)
    assert regions(function)[0].startswith(told), regions(function)
    assert not any(REFUSED in each for each in regions(function))


# --- what a user may write --------------------------------------------------------------------------------------------


def stepped(x: Any, k: int = 2) -> Any:
    """A step, with a global number in it."""
    y = x * k
    return y + STEP


@fusible
def calls_functions(x: Any, n: int) -> Any:
    k = -1
    for i in range(n):
        x, k = stepped(x), i
    return x, k


@fusible
def raises(x: Any) -> Any:
    total = 0
    while True:
        x = x - 1
        if (x < 0).any():
            raise ValueError(f"negative after {total}")
        total += 1
        if total > 3:
            return x, total


@fusible
def changes(x: Any, y: Any) -> Any:
    while x.max() < 100:
        x += y
    return x


@fusible
def changes_and_renames(x: Any) -> Any:
    for k in range(4):
        x[k % 2] = k
        if k == 2:
            x = x * 2
    return x


@fusible
def swaps(x: Any, y: Any) -> Any:
    for _ in count():
        x, y = y, x + 1
        if y[0] > 5:
            break
    return x, y


@fusible
def best(x: Any) -> Any:
    found = None
    for i in range(4):
        s = x * i
        if found is None or s.sum() > found.sum():
            found = s
    return found


@fusible
def with_keywords(x: Any, *args: int, scale: int = 2, **more: Any) -> Any:
    for _ in range(args[0]):
        x = x * scale
    return x, more


@pytest.mark.quick
@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
def test_loops_of_array_expressions(dtype: str) -> None:
    x = np.arange(5).astype(dtype)
    for n in (0, 3):
        agree(calls_functions, lambda n=n: (x.copy(), n))
    agree(raises, lambda: (x.copy(),))
    agree(raises, lambda: (x + 10,))
    agree(changes, lambda: (x.copy(), x + 1))
    agree(changes_and_renames, lambda: (x.copy(),))
    agree(swaps, lambda: (x.copy(), x + 1))
    agree(best, lambda: (x.copy(),), told="runs as written")  # it is None at first
    agree(with_keywords, lambda: (x.copy(), 3), told="runs as written")  # args is a tuple
    assert bits(with_keywords(x, 2, scale=3, other=1)) == bits((x * 9, {"other": 1}))


@pytest.mark.quick
def test_a_global_number_that_changes_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.arange(3)
    assert calls_functions(x, 1)[0].tolist() == [5, 7, 9]
    monkeypatch.setitem(globals(), "STEP", 7)
    assert calls_functions(x, 1)[0].tolist() == [7, 9, 11]


@pytest.mark.quick
def test_a_closure_has_numbers_of_its_own() -> None:
    def made(k: Any) -> Any:
        @fusible
        def program(x: Any) -> Any:
            for _ in range(3):
                x = x + k
            return x

        return program

    x = np.arange(3, dtype=np.int32)
    for k in (3, np.int32(4), np.int64(5)):
        agree(made(k), lambda k=k: (x.astype(np.result_type(x, k)),))
    agree(made(2.5), lambda: (x.copy(),), told="runs as written: it has x first as dense vector of int32, and then")


# --- what stays as it was ---------------------------------------------------------------------------------------------


@pytest.mark.quick
def test_where_a_compiled_loop_stops_it_runs_as_written() -> None:
    ones, wide = np.ones(4), np.ones(8)

    def frozen() -> tuple[Any, ...]:
        x = np.ones(4)
        x.flags.writeable = False
        return x, np.ones(4)

    def same() -> tuple[Any, ...]:
        x = np.ones(4)
        return x, x

    def overlapping() -> tuple[Any, ...]:
        x = np.ones(8)
        return x[:4], x[2:6]

    for make in (
        frozen,
        same,
        overlapping,
        lambda: (ones.copy(), np.ones(3)),
        lambda: (ones.copy(), np.ones(1)),
        lambda: (np.ones(0), np.ones(0)),
        lambda: (np.ones(4, np.int8), np.ones(4, np.int8)),
        lambda: (wide.reshape(2, 4).copy(), wide.reshape(2, 4)),
        lambda: (np.ones(4, int), np.ones(4)),
    ):
        assert outcome(changes, make) == outcome(changes, make, fused=False)
    assert outcome(changes, lambda: (wide[::2], wide[1::2]))[0][1] == (4,)


@pytest.mark.quick
def test_the_vector_that_a_name_stood_for_has_what_was_written_to_it() -> None:
    x = np.zeros(3, int)
    y = changes_and_renames(x)
    assert regions(changes_and_renames) == ["compiled: element by element"]
    assert x.tolist() == [2, 1, 0]
    assert y.tolist() == [4, 3, 0]
    assert y is not x


@pytest.mark.quick
def test_a_function_without_its_text_runs_as_written() -> None:
    scope: dict[str, Any] = {}
    exec("def f(x):\n    for i in range(3):\n        x = x + 1\n    return x", scope)
    told = explain(fusible(scope["f"]), np.arange(2))
    assert told.result.tolist() == [3, 4]
    assert "its text is not at hand" in told.runs[0].why
    assert fusible(lambda x: x + 1)(3) == 4


@pytest.mark.quick
def test_an_error_names_the_users_line() -> None:
    text = "def f(x):\n    for i in range(3):\n        x = x + 1\n    return x / None\n"
    linecache.cache["<a user's file>"] = len(text), None, text.splitlines(True), "<a user's file>"
    scope: dict[str, Any] = {}
    exec(compile(text, "<a user's file>", "exec"), scope)
    with pytest.raises(TypeError) as caught:
        fusible(scope["f"])(np.arange(2))
    assert caught.traceback[-1].lineno == 3  # counted from 0


# --- fixpoints --------------------------------------------------------------------------------------------------------


@fusible
def relaxed(A: Matrix, d: Any, s: Semiring = MinPlus) -> Any:
    f = present(d, s)
    while not is_empty(f):
        t = vxm(f, A, s)
        f = select(t, better(s), d)
        ewise_add(d, f, s, out=d)
    return d


@fusible
def levels(A: Matrix, f: SparseVector, visited: Any, k: int, s: Any = LorLand) -> Any:
    level = full(visited, -1, "int32")
    while f.nnz:
        scatter(level, f, k)
        scatter(visited, f, True)
        f = vxm(f, A, s, mask=visited, complement=True)
        k += 1
    return level, visited, k, f


@pytest.mark.quick
@pytest.mark.parametrize("fmt", ["csr", "csc", "coo", "ell", "dense"])
@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
def test_fixpoints_from_any_start(dtype: str, fmt: str) -> None:
    rng = np.random.default_rng(3)
    A = from_edges(*rng.integers(0, 40, (2, 120)), rng.integers(0, 9, 120).astype(dtype), shape=40).to(fmt)
    for s in (MinPlus, MaxMin, MinFirst):
        starts = [np.where(rng.random(40) < share, rng.integers(0, 50, 40), s.zero(A.dtype)) for share in (0, 0.1, 1)]
        for start in starts:
            some = (start != s.zero(A.dtype)).any()
            agree(relaxed, lambda start=start, s=s: (A, start.astype(dtype), s), told="compiled" if some else "")
    assert regions(relaxed)[0] == "compiled: a fixpoint of min_first in d, relaxed in any order"


@pytest.mark.quick
def test_a_fixpoint_of_negative_weights_runs_in_rounds() -> None:
    A = from_edges([0, 0, 1, 2], [1, 2, 2, 3], [4.0, 1.0, -2.0, 1.0])
    d = np.array([0.0, np.inf, np.inf, np.inf])
    agree(relaxed, lambda: (A, d.copy()))
    assert regions(relaxed)[0] == "compiled: vxm of a sparse vector"
    assert relaxed(A, d).tolist() == [0, 4, 1, 2]


@pytest.mark.quick
def test_a_frontier_that_is_not_of_the_distances_runs_in_rounds() -> None:
    @fusible
    def from_elsewhere(A: Matrix, d: Any, f: SparseVector) -> Any:
        while f.nnz > 0:
            f = select(vxm(f, A, "min_plus"), "<", d)
            d = ewise_add(d, f, "min")
        return d

    A = chain([3, 4, 5])
    start = np.array([7, 9, 9, 50], np.int32)
    agree(from_elsewhere, lambda: (A, start.copy(), SparseVector([0], np.array([1], np.int32), 4)))
    assert regions(from_elsewhere)[0] == "compiled: vxm of a sparse vector"
    agree(from_elsewhere, lambda: (A, start.copy(), SparseVector([0], np.array([7], np.int32), 4)))
    assert "a fixpoint of min_plus in d" in regions(from_elsewhere)[0]


@pytest.mark.quick
@pytest.mark.parametrize("k", [0, 5])
def test_searches_by_levels(k: int) -> None:
    rng = np.random.default_rng(1)
    A = from_edges(*rng.integers(0, 60, (2, 90)), shape=60).pattern()
    visited = rng.random(60) < 0.2
    visited[7] = False
    agree(levels, lambda: (A, one_hot(A, 7), visited.copy(), k))
    assert regions(levels) == ["compiled: a breadth-first search, with visited for what is visited"]
    for B in (A, A.astype("int32"), A.astype("float64")):
        agree(levels, lambda B=B: (B, one_hot(B, 7), visited.copy(), k, "any_pair"))
        assert regions(levels) == ["compiled: a breadth-first search, with visited for what is visited"]
    several = SparseVector([7, 9], np.ones(2, bool), 60)
    visited[9] = False
    agree(levels, lambda: (A, several, visited.copy(), k))
    assert regions(levels) == ["compiled: vxm of a sparse vector"]
    level, found, *_ = levels(A, one_hot(A, 7), np.zeros(60, bool), 0)
    assert (level == bfs(A, 7)).all()
    assert (found == (level >= 0)).all()


@pytest.mark.quick
def test_a_users_program_is_told_loop_by_loop() -> None:
    function, arguments, _ = PROGRAMS["distances"]
    A = from_edges([0, 1, 2], [1, 2, 3], np.array([3, 4, 5], np.int32))
    told = explain(fusible(function), *arguments(A, 0))
    assert told.result.tolist() == bellman_ford(A, 0).tolist()
    [run] = [run for run in told.runs if run.why == "1 of 1 loops compiled"]
    assert run.implementation == "fused"
    assert "compiled: a fixpoint of min_plus in d, relaxed in any order" in run.details.values()


@pytest.mark.quick
def test_a_frontier_that_changes_its_type_is_taken_over_in_the_second_round() -> None:
    @fusible
    def labelled(A: Matrix, source: int) -> Any:
        label = full(all_vertices(A), -1, "int32")
        f, k = one_hot(A, source), 0
        while f.nnz:
            scatter(label, f, k)
            f = sr.vxm(f, A, "any_pair", mask=label >= 0, complement=True)
            k += 1
        return label

    A = chain([3, 4, 5])
    assert labelled(A, 0).tolist() == labelled(A, 0, fused=False).tolist() == [0, 1, 2, 3]
    assert regions(labelled) == ["compiled: vxm of a sparse vector"]


@pytest.mark.quick
def test_empty_matrices_and_single_vertices() -> None:
    for n in (0, 1):
        A = from_edges([], [], np.empty(0, np.int32), shape=n)
        assert relaxed(A, np.zeros(n, np.int32)).tolist() == [0] * n
    f = unit(A, 0, MinPlus)
    assert densified(f, MinPlus).tolist() == [0]
    assert f.indices.dtype == index_dtype(1)


@fusible
def as_numpy_has_it(x: Any, A: Matrix) -> Any:
    total = np.zeros_like(x)
    for _ in range(3):
        y = np.zeros(x.size, "int64") + np.arange(len(x))
        total = np.maximum(total, (x @ A) ** 2) + y % 2 + np.ones(x.size, x.dtype)
        if np.array_equal(total, x) or np.any(total < 0):
            break
        x = total - np.sum(x)
    return total, np.min(total)


@fusible
def means(x: Any, A: Matrix) -> Any:
    for _ in range(4):
        x = A @ x
        x = x / np.max(np.abs(x))
        x = x - np.mean(x) / x.sum()
    return x


@pytest.mark.quick
def test_functions_of_numpy() -> None:
    rng = np.random.default_rng(0)
    for n in (3, 300):
        A = from_edges(*rng.integers(0, n, (2, 5 * n)), rng.integers(1, 5, 5 * n), shape=n)
        agree(as_numpy_has_it, lambda A=A, n=n: (np.arange(n), A))
        agree(means, lambda A=A, n=n: (np.linspace(1, 2, n), A.astype("float64")))


@pytest.mark.quick
def test_a_loop_of_many_rounds_is_handed_over() -> None:
    @fusible
    def counted(x: Any) -> Any:
        k = 0
        while k < 5000:
            k += 1
            x = x + 1
        return x, k

    agree(counted, lambda: (np.arange(3),))


@pytest.mark.quick
def test_integers_of_python_have_no_end() -> None:
    @fusible
    def doubled(k: int, x: Any) -> Any:
        for _ in range(70):
            k = k * 2 + 1
        return k, x

    @fusible
    def added(k: int, x: Any) -> Any:
        for _ in range(2):
            x = x + k
        return x

    for k in (0, 1, -1, -5):
        assert doubled(k, 0)[0] == doubled(k, 0, fused=False)[0] == k * 2**70 + 2**70 - 1
    x = np.arange(3, dtype=np.int32)
    for k in (7, 2**31 - 1, 2**31, -(2**40), 2**70):
        assert outcome(added, lambda k=k: (k, x.copy())) == outcome(added, lambda k=k: (k, x.copy()), fused=False)


@pytest.mark.quick
def test_sums_are_no_fixpoints() -> None:
    A = from_edges([0, 0, 1, 2], [1, 2, 3, 3], np.array([3, 4, 5, 6]))
    for s in (sr.PlusTimes, MinPlus):
        start = np.full(4, s.zero(A.dtype))
        start[0] = s.unit(A.dtype)
        agree(relaxed, lambda s=s, start=start: (A, start.copy(), s))
    assert "fixpoint" in regions(relaxed)[0]


@pytest.mark.quick
@pytest.mark.parametrize("s", [LorLand, "any_pair"])
@pytest.mark.parametrize("dtype", ["bool", "int32"])
def test_a_search_over_stored_zeros(dtype: str, s: Any) -> None:
    A = from_edges([0, 1, 2, 0], [1, 2, 3, 3], np.array([1, 0, 1, 0]).astype(dtype))
    agree(levels, lambda: (A, one_hot(A, 0), np.zeros(4, bool), 0, s))
    level = levels(A, one_hot(A, 0), np.zeros(4, bool), 0, s)[0].tolist()
    assert level == ([0, 1, -1, -1] if dtype == "bool" and s is LorLand else [0, 1, 2, 1])


@pytest.mark.quick
def test_a_vector_that_is_assigned_to_its_own_name_is_the_same_one() -> None:
    @fusible
    def renamed(x: Any, y: Any) -> Any:
        for k in range(3):
            x = x
            y, x = y, x
            x[k] = k
            y = y + 1
        return x, y

    agree(renamed, lambda: (np.ones(4, int), np.ones(4)))
    x = np.ones(4, int)
    assert renamed(x, x + 1)[0].tolist() == x.tolist() == [0, 1, 2, 1]


@fusible
def peeled(A: Matrix, d: Any, alive: Any, best: Any, kept: Any) -> Any:
    rounds = 0
    while nvals(alive) and rounds < 20:
        rounds += 1
        nearest = reduce(best, MinPlus)
        if nearest > 90:
            break
        f = present(select(best, "<=", nearest + 2, semiring=MinPlus), MinPlus)
        scatter(best, f, MinPlus.zero(best.dtype))
        ewise_add(best, vxm(f, A, MinPlus, mask=alive), MinPlus, out=best)
        kept[0] = rounds
        level = masked(kept, d == rounds - 2)
        scatter_add(kept, level)
        scatter(alive, nonzero(alive & (best > 3)), False)
        if rounds > 3:
            scatter(alive, f, rounds % 2 == 0)
    return rounds, nvals(alive), nonzero(kept > 1), (best < 9).any()


@pytest.mark.quick
@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
def test_vectors_that_are_written_at_some_places_are_looked_through_there(dtype: str) -> None:
    rng = np.random.default_rng(7)
    for n in (1, 5, 60, 300):
        u, v = rng.integers(0, n, (2, 3 * n))
        A = from_edges(u, v, rng.integers(1, 9, 3 * n).astype(dtype), shape=n, dup="min")
        for share in (0.02, 0.5, 1):
            best = np.where(rng.random(n) < share, rng.integers(0, 50, n), MinPlus.zero(A.dtype)).astype(dtype)
            d, alive = rng.integers(-3, 6, n), rng.random(n) < share
            alive[0], best[0] = True, 0
            agree(
                peeled,
                lambda A=A, d=d, alive=alive, best=best, n=n: (
                    A,
                    d.copy(),
                    alive.copy(),
                    best.copy(),
                    np.zeros(n, int),
                ),
            )


@fusible
def coloured(A: Matrix, alive: Any, rounds: int) -> Any:
    """The smallest vertex that leads to each vertex among those alive, again and again."""
    vertices = all_vertices(A)
    label = vertices.copy()
    k = 0
    while k < rounds and alive.any():
        colour = vertices.copy()
        f = masked(colour, alive)
        while f.nnz:
            t = vxm(f, A, "min_first", mask=alive)
            f = select(t, "<", colour)
            ewise_add(colour, f, "min", out=colour)
        label = np.where(alive, colour, label)
        scatter(alive, label == vertices, False)
        t = k = k + 1
    return label, k


@pytest.mark.quick
def test_fixpoints_under_a_mask_and_in_loops_of_other_statements(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    n = 200
    A = from_edges(*rng.integers(0, n, (2, 3 * n)), shape=n).pattern()
    for things, told in ((1 << 14, "compiled"), (0, "runs as written, around a fixpoint")):
        monkeypatch.setattr(regions_of_programs, "SMALL", things)
        monkeypatch.setattr(regions_of_programs, "SECONDS_PER_THING", 0)
        for share in (0.05, 0.5, 1):
            alive = rng.random(n) < share
            agree(coloured, lambda alive=alive: (A, alive.copy(), 3), told=told)
    assert regions(coloured)[1] == "compiled: a fixpoint of min_first in colour, relaxed in any order"


def spread_from(A: Matrix, f: Any) -> Any:
    """The vertices that f leads to, by a plain function with a loop."""
    visited = full(all_vertices(A), False, bool)
    while f.nnz:
        scatter(visited, f, True)
        f = vxm(f, A, "any_pair", mask=visited, complement=True)
    return visited


def counted_from(A: Matrix, *starts: int) -> list[int]:
    return [nvals(spread_from(A, one_hot(A, start))) for start in starts]


@pytest.mark.quick
def test_plain_functions_that_a_program_calls_are_compiled_too() -> None:
    @fusible
    def program(A: Matrix, *starts: int) -> Any:
        return counted_from(A, *starts), spread_from(A, one_hot(A, starts[0])).sum(), len(starts)

    A = chain([3, 4, 5])
    assert program(A, 0, 2) == program(A, 0, 2, fused=False) == ([4, 2], 4, 2)
    told = explain(program, A, 0, 2)
    within = [run for run in told.runs if run.algorithm == "spread_from"]
    assert [run.implementation for run in within] == ["fused"] * 3
    assert "a breadth-first search" in str(within[0])
    assert counted_from(A, 1) == [3]


@pytest.mark.quick
def test_explain_says_line_by_line_what_was_done() -> None:
    A = from_edges([0, 1, 2], [1, 2, 3], np.array([3, 4, 5], np.int32))
    start = np.array([0, 9, 9, 50], np.int32)
    told = explain(peeled, A, start.copy(), np.ones(4, bool), start.copy(), np.zeros(4, int))
    [run] = [run for run in told.runs if run.algorithm == "peeled"]
    text, first = inspect.getsourcelines(peeled.__wrapped__)

    def of(part: str) -> Any:
        line = first + next(k for k, line in enumerate(text) if part in line)
        return run.details.get(f"line {line}")

    assert of("reduce(best") == of("nonzero(alive") == "looks only at places where there may be something"
    assert of("vxm(f, A") == "product, push"
    assert "product, push" in str(told)


class Ends:
    """A context that does nothing."""

    def __enter__(self) -> None: ...

    def __exit__(self, *args: Any) -> None: ...


@fusible
def read_later(x: Any, how: int) -> Any:
    y, z, k, n = x + 1, x * 2, 0, 3
    later = lambda: y.sum()  # noqa: E731
    try:
        for i in range(n):
            y = x + i
            z = y * 2
        if how == 0:
            return y
        with Ends():
            for j in range(3):
                z = z + j
                w = z - 1
                if how == 1 and j == 1:
                    break
            else:
                k = 1
        while k < 5:
            k += 1
            for _ in range(2):
                t = z + k
                z = t - 1
                if k == how:
                    continue
                v = z
        if how == 2:
            raise ValueError
        w: Any
    except ValueError:
        return z, w, v
    finally:
        y = later()
        x[0] = y + z[1] + k
    match how:
        case 3:
            for _ in range(2):
                z = z + 1
                u = z * 3
            return u
    return [i, k, t.sum(), (n := n + 1), v, w, y]


@pytest.mark.quick
def test_what_is_read_after_a_loop_is_given() -> None:
    for how in range(6):
        agree(read_later, lambda how=how: (np.arange(4), how))


@fusible
def assigned(f: SparseVector, g: SparseVector, x: Any, flags: Any, k: int) -> Any:
    for _ in range(k):
        sr.assign(f, 4, mask=flags)
        sr.assign(g, f, mask=g, complement=True)
        sr.assign(f, 0, mask=g.pattern(), replace=True)
        g = sr.apply(g, lambda v: v + 1)
    sr.assign(f, 5, mask=flags, complement=True)
    for _ in range(k):
        sr.assign(f, x, mask=flags)
    return f, g


@pytest.mark.quick
@pytest.mark.parametrize("dtype", ["int32", "float64"])
def test_assign_to_sparse_vectors(dtype: str) -> None:
    rng = np.random.default_rng(0)
    for n in (1, 40):
        flags, x = rng.random(n) < 0.4, rng.integers(0, 3, n).astype(dtype)
        some = np.flatnonzero(rng.random(n) < 0.3)
        lists = [SparseVector(at, rng.integers(0, 4, at.size).astype(dtype), n) for at in (some, some[::2])]

        def copies(lists: Any = lists, flags: Any = flags, x: Any = x) -> Any:
            own = (SparseVector.trusted(f.indices.copy(), f.values.copy(), f.size) for f in lists)
            return *own, x.copy(), flags.copy(), 4

        agree(assigned, copies)
        assert regions(assigned)[1].startswith("compiled")


@fusible
def with_parents(A: Matrix, source: int, s: Semiring) -> Any:
    f = unit(A, source, s)
    d, parent = densified(f, s), full(all_vertices(A), -1, "int32")
    while not is_empty(f):
        t, p = vxm(f, A, s, return_argument=True)
        f = select(t, better(s), d)
        ewise_add(d, f, s, out=d)
        scatter(parent, masked(p.to_dense(-1), f))
    return d, parent


@fusible
def masked_arguments(A: Matrix, f: SparseVector, flags: Any) -> Any:
    p = nonzero(flags)
    for _ in range(3):
        f, p = sr.mxv(A, f, "max_first", mask=flags, complement=True, return_argument=True)
    return f, p


@pytest.mark.quick
@pytest.mark.parametrize("dtype", ["int32", "float64"])
def test_products_that_tell_their_arguments(dtype: str) -> None:
    rng = np.random.default_rng(5)
    for n in (1, 30):
        u, v = rng.integers(0, n, (2, 4 * n))
        A = from_edges(u, v, rng.integers(1, 4, 4 * n).astype(dtype), shape=n, dup="min")
        for s in (MinPlus, MaxMin):
            agree(with_parents, lambda A=A, s=s: (A, 0, s))
        assert regions(with_parents) == ["compiled: vxm of a sparse vector"]
        some = np.flatnonzero(rng.random(n) < 0.3)
        f = SparseVector(some, rng.integers(0, 3, some.size).astype(dtype), n)
        agree(masked_arguments, lambda A=A, f=f, n=n: (A, f, np.arange(n) % 5 == 2))


def of_lists(x: Any) -> list[float]:
    return [sum(part) for part in zip(x.tolist(), [1.0, 2.0, 3.0], strict=True) for _ in range(2)] + looped(x)


def looped(x: Any) -> list[float]:
    found = []
    for part in x.tolist():
        found.append(part)
    while len(found) < 5:
        found.append(0.0)
    return found


@pytest.mark.quick
def test_plain_functions_that_nothing_is_compiled_of_are_called_as_they_are() -> None:
    @fusible
    def program(x: Any) -> Any:
        return [of_lists(x) for _ in range(3)]

    x = np.arange(3.0)
    for _ in range(8):
        assert program(x) == program(x, fused=False)
    assert called(looped) is looped
    assert called(len) is len


@pytest.mark.quick
def test_what_is_compared_with_infinity_may_be_an_integer() -> None:
    @fusible
    def program(x: Any) -> Any:
        for k in range(3):
            x[k] = -k
            some, more, most = nonzero(x < np.inf), nonzero(x > 0.5), nonzero(x != 0)
        return some, more, most, x

    for dtype in ("int32", "float32"):
        agree(program, lambda dtype=dtype: (np.array([0, 3, 0, 4], dtype),))


def test_a_vector_that_is_written_after_a_loop_keeps_its_identity() -> None:
    def swapped(f: SparseVector, g: SparseVector, x: Any) -> Any:
        for _ in range(2):
            f, g = g, f
            scatter_add(x, f)
        sr.assign(f, 2)
        return f, g, x

    def make() -> tuple[Any, ...]:
        f, g = (SparseVector.trusted(np.array(at, "int32"), np.array([1, 3], "int32"), 6) for at in ([0, 2], [3, 5]))
        return f, g, np.zeros(6, "int32")

    agree(fusible(swapped), make, "runs as written")


@pytest.mark.quick
def test_what_is_written_before_a_loop_in_a_loop_is_written_elsewhere() -> None:
    @fusible
    def swapped_and_written(x: Any, y: Any, k: int) -> Any:
        for _ in range(2):
            scatter(y, x > 1, [7] * int((x > 1).sum()))
            for _ in range(k):
                x, y = y, x
        return x, y

    for k in range(3):
        agree(swapped_and_written, lambda k=k: (np.arange(4), np.arange(4) * 2, k), told="runs as written")
        assert "a second name" in regions(swapped_and_written)[1]


@pytest.mark.quick
def test_the_negative_of_zero_is_zero() -> None:
    @fusible
    def negatives(x: Any) -> Any:
        for _ in range(2):
            y = sr.apply(x, "ainv")
        return y

    agree(negatives, lambda: (np.array([0.0, -0.0, 1.0, -2.0, np.inf]),))


@pytest.mark.parametrize("s", [MinFirst, MinPlus], ids=str)
def test_a_fixpoint_goes_on_from_its_frontier_alone(s: Semiring) -> None:
    """Where edges go both ways, too, other vertices may have better values, or be masked out."""

    @fusible
    def from_some(A: Matrix, d: Any, f: SparseVector) -> Any:
        while not is_empty(f):
            f = select(vxm(f, A, s), better(s), d)
            ewise_add(d, f, s, out=d)
        return d

    @fusible
    def within(A: Matrix, d: Any, f: SparseVector, allowed: Any) -> Any:
        while not is_empty(f):
            f = select(vxm(f, A, s, mask=allowed), better(s), d)
            ewise_add(d, f, s, out=d)
        return d

    ends = np.arange(9), np.arange(1, 10)
    A = from_edges(np.append(*ends), np.append(*ends[::-1]), np.ones(18, np.int32), shape=10)
    d = np.array([0, 90, 80, 70, 5, 60, 50, 40, 30, 1], np.int32)
    start = SparseVector.trusted(np.array([4], np.int32), np.array([5], np.int32), 10)
    agree(from_some, lambda: (A, d.copy(), start))
    agree(within, lambda: (A, d.copy(), start, np.arange(10) != 6))
    assert from_some(A, d.copy(), start)[3] == (5 if s == MinFirst else 6)
