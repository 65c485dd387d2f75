"""Memory is predicted before it is taken, and what does not fit is refused before any work."""

from __future__ import annotations

import gc
import resource
import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algorithms import bellman_ford, bfs, boruvka, delta_stepping, scc
from algorithms.fused.cpu import near_far
from bench.graphs import rmat, rmat_both_ways, uniform
from formats import (
    COO,
    CSC,
    CSR,
    ELL,
    Dense,
    Matrix,
    OutOfDeviceMemory,
    OutOfHostMemory,
    SegmentedCOO,
    from_edges,
    hooks,
)
from formats.arrays import cupy, finish
from formats.matrix.routes import CONVERSIONS, conversion_peak, stays
from formats.places import HOST, Place
from semiring import LorLand, MinPlus, mxm, mxv, select, vxm
from semiring.cpu.threads import threads

from .strategies import BOOL, FLOAT64, FORMATS, INT32, OPTIONS, matrices

MIB = 2**20
SLACK = 32 << 10
"""Bytes of Python's objects beside the arrays."""

every_format = pytest.mark.parametrize("fmt", FORMATS, ids=lambda fmt: fmt.__name__)
every_source = pytest.mark.parametrize("source", FORMATS, ids=lambda fmt: fmt.__name__)
GRAPHS: dict[str, Callable[[], CSR]] = {
    "R-MAT": lambda: rmat(12),
    "short rows": lambda: uniform(1 << 15, 4),
    "a fifth full": lambda: uniform(800, 160),
    "wide": lambda: from_edges(np.arange(60_000) % 300, np.arange(60_000) * 7 % 40_000, shape=(300, 40_000)),
}


def fresh(A: Matrix) -> Matrix:
    """The same matrix, which keeps nothing yet but its number of entries."""
    made = type(A).trusted(*A.components)
    assert made.nnz == A.nnz
    return made


def stored(A: CSR, fmt: type[Matrix]) -> Matrix:
    return A.to(fmt, **({"force": True} if "force" in OPTIONS.get(fmt, {}) else {}))


# --- the bytes of a format ------------------------------------------------------------------------------------------


@every_source
@every_format
@given(data=st.data())
@settings(max_examples=30)
def test_a_formats_bytes_are_predicted_exactly_from_every_other_format(
    source: type[Matrix], fmt: type[Matrix], data: st.DataObject
) -> None:
    semiring, dtype = data.draw(st.sampled_from([(MinPlus, INT32), (MinPlus, FLOAT64), (LorLand, BOOL)]))
    A = data.draw(matrices(semiring, dtype)).build(source)
    for M in (A, A.T):
        for options in (OPTIONS.get(fmt, {}), {}):
            assert fmt.predicted_nbytes(M, **options) == M.to(fmt, **options).nbytes


@every_format
def test_lengths_of_rows_and_columns_are_the_same_from_every_format(fmt: type[Matrix]) -> None:
    A = stored(rmat(6), fmt)
    rows, cols, _ = A.to_edges()
    for M, ends in ((A, (rows, cols)), (A.T, (cols, rows))):
        for axis in (0, 1):
            lengths = np.bincount(ends[axis], minlength=64)
            assert (M.lengths(axis) == lengths).all()
            assert M.longest(axis) == lengths.max()


def test_the_longest_row_of_nothing_is_empty() -> None:
    assert from_edges([], [], shape=0).longest() == from_edges([], [], shape=3).longest(1) == 0


# --- the bytes of a conversion --------------------------------------------------------------------------------------


@pytest.fixture(autouse=True, scope="module")
def _nothing_old_is_collected() -> Iterator[None]:
    """So that a collection, of which `peak` does many, looks at new objects alone."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


def peak(call: Callable[[], Any]) -> int:
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        made = call()
        most = tracemalloc.get_traced_memory()[1] - before
        del made
        return most
    finally:
        tracemalloc.stop()


def conversions(A: CSR) -> Iterator[tuple[Matrix, type[Matrix], dict[str, Any]]]:
    """(a matrix, another format for it, options) of the direct conversions and one by way of others, both orientations.

    Without what would be absurdly padded.
    """
    small = [fmt for fmt in FORMATS if fmt.predicted_nbytes(A) < 64 * MIB]
    for source in small:
        for M in (stored(A, source), stored(A, source).T):
            for target in small:
                direct = (source, target) in CONVERSIONS or (source, target) == (ELL, CSC)
                if direct and not stays(M, target, {}) and target.predicted_nbytes(M) < 64 * MIB:
                    yield M, target, {"force": True} if "force" in OPTIONS.get(target, {}) else {}


@pytest.mark.parametrize("name", GRAPHS)
def test_a_conversion_takes_no_more_than_predicted_and_not_much_less(name: str) -> None:
    """By the smaller of two peaks: a dictionary of Python's that grows, or another thread, may add to one."""
    uniform(8, 2).to("csc")  # imports SciPy, whose modules are no arrays
    for A, target, options in conversions(GRAPHS[name]()):
        predicted = conversion_peak(fresh(A), target, options, "cpu")
        found = min(peak(partial(fresh(A).to, target, **options)) for _ in range(2))
        case = f"{A!r} to {target.__name__}"
        assert found <= predicted + SLACK, case
        assert predicted <= 2.5 * found + SLACK, case


@pytest.mark.backend("cuda")
@pytest.mark.parametrize("name", GRAPHS)
def test_a_conversion_on_a_gpu_takes_no_more_than_predicted(name: str) -> None:
    from bench.measure import peak_bytes

    for A, target, options in conversions(GRAPHS[name]()):
        M = fresh(A.to(device="cuda"))
        predicted = conversion_peak(M, target, options, "cuda")
        finish("cuda")
        found = peak_bytes(partial(M.to, target, **options), "cuda")
        assert found <= predicted + MIB, f"{A!r} to {target.__name__}"


def test_formats_on_the_way_count() -> None:
    A = fresh(uniform(1 << 12, 4).to(COO).T)
    by_way = conversion_peak(A, ELL, {}, "cpu")
    assert by_way > conversion_peak(A.to(CSR), ELL, {}, "cpu")


# --- what is told ---------------------------------------------------------------------------------------------------


def test_a_footprint_has_the_parts_and_their_sum() -> None:
    A = uniform(1 << 12, 8)
    found = A.footprint(SegmentedCOO, segment=1 << 10)
    assert found.matrix == A.to(SegmentedCOO, segment=1 << 10).nbytes
    assert found.total == found.added + found.temporary
    assert found.available is not None
    assert found.fits
    assert A.footprint("segmentedcoo", segment=1 << 10).matrix == found.matrix
    with pytest.raises(TypeError, match="no option 'segment'"):
        A.footprint("csr", segment=3)


def test_a_matrix_that_stays_needs_nothing_new() -> None:
    A = uniform(1 << 10, 8)
    found = A.footprint()
    assert (found.matrix, found.total) == (A.nbytes, 0)
    assert "there already" in str(found)


def test_a_footprint_says_the_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Place, "available_bytes", lambda place: 3 * MIB)
    A = from_edges(np.arange(1000), np.arange(1000), np.ones(1000, np.int32), shape=1000)
    found = A.footprint(Dense)
    assert not found.fits
    lines = str(found).splitlines()
    assert lines[0] == "1,000 × 1,000 with 1,000 entries as Dense, on the host"
    assert lines[1].split() == ["matrix", "3.8", "MiB"]
    assert "of 3.0 MiB available: does not fit" in lines[-1]


def test_where_nobody_knows_what_is_available_everything_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Place, "available_bytes", lambda place: None)
    found = uniform(64, 3).footprint(Dense)
    assert found.fits
    assert "available" not in str(found)
    found.check()


def test_moving_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Place, "available_bytes", lambda place: 1 << 30)
    monkeypatch.setattr("formats.matrix.footprint.find_place", lambda device: Place(str(device)))
    A = uniform(1 << 10, 8)
    assert A.footprint(device="cuda").total == A.nbytes
    assert A.footprint(ELL, device="cuda").total >= A.nbytes + A.to(ELL).nbytes


# --- what is refused ------------------------------------------------------------------------------------------------


def absurd() -> CSR:
    """Ten million rows, which as Dense would take 400 TB."""
    n = 10**7
    return from_edges(np.arange(10), np.arange(10), np.ones(10, np.int32), shape=n)


def test_a_conversion_that_does_not_fit_is_refused_with_the_figures_before_any_work() -> None:
    A = absurd()
    with pytest.raises(OutOfHostMemory, match=r"as Dense needs 5\d\d,\d\d\d,\d\d\d,\d\d\d,\d\d\d bytes, but the host"):
        A.to(Dense, force=True)


def test_padding_is_refused_as_before_where_nothing_forces_it() -> None:
    with pytest.raises(ValueError, match="pass force=True"):
        absurd().to(Dense)


def test_what_needs_little_is_not_asked_about(monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(place: Place) -> int:
        raise AssertionError("the system was asked for small work")

    monkeypatch.setattr(Place, "available_bytes", asked)
    A = uniform(1 << 12, 8)
    for fmt in FORMATS:
        if fmt.predicted_nbytes(A) < MIB:
            A.to(fmt)


def test_a_gpus_refusal_is_of_its_own_kind() -> None:
    assert isinstance(Place("cuda").no_room("x", 2, 1), OutOfDeviceMemory)
    assert str(HOST.no_room("all of it", 2000, 1000)) == (
        "all of it needs 2,000 bytes, but the host has 1,000 available"
    )


@pytest.mark.backend("cuda")
def test_a_conversion_that_does_not_fit_on_a_gpu_is_refused() -> None:
    A = absurd().to(device="cuda")
    used = cupy().get_default_memory_pool().used_bytes()
    with pytest.raises(OutOfDeviceMemory, match=r"as Dense needs .* bytes, but the GPU has"):
        A.to(Dense, force=True)
    assert cupy().get_default_memory_pool().used_bytes() == used


# --- what is available ----------------------------------------------------------------------------------------------


def test_the_host_has_something_left() -> None:
    found = HOST.available_bytes()
    assert found is not None
    assert 0 < found < 1 << 50


@pytest.mark.parametrize("version", [1, 2])
def test_a_control_groups_limit_counts(version: int, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    limit, usage, stat = (tmp_path / name for name in ("limit", "usage", "stat"))
    limit.write_text("5000\n")
    usage.write_text("3000\n")
    stat.write_text("total_inactive_file 400\n" if version == 1 else "inactive_file 400\n")
    monkeypatch.setattr("formats.memory._control_groups", lambda: ((limit, usage, stat),))
    assert HOST.available_bytes() == 2400
    limit.write_text("max\n")
    assert HOST.available_bytes() != 2400


@pytest.mark.parametrize(("which", "column"), [("RLIMIT_AS", 0), ("RLIMIT_DATA", 5)])
def test_an_ulimit_counts(which: str, column: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def limits(of: int) -> tuple[int, int]:
        held = int(Path("/proc/self/statm").read_text().split()[column]) * resource.getpagesize()
        size = held + 10**6 if of == getattr(resource, which) else resource.RLIM_INFINITY
        return size, size

    before = HOST.available_bytes()
    monkeypatch.setattr("resource.getrlimit", limits)
    assert abs(HOST.available_bytes() - 10**6) < 10**5
    monkeypatch.setattr("resource.getrlimit", lambda of: (1, 1))
    assert HOST.available_bytes() == 0 < before


def test_all_that_formats_ask_is_answered() -> None:
    asked = [hook for hook in vars(hooks).values() if isinstance(hook, hooks.Hook)]
    assert len(asked) > 10
    assert [hook.asks for hook in asked if hook.answer is None] == []


# --- work -----------------------------------------------------------------------------------------------------------


@every_format
@pytest.mark.parametrize("verb", [mxv, vxm], ids=["mxv", "vxm"])
def test_a_product_takes_what_its_footprint_says(fmt: type[Matrix], verb: Any) -> None:
    A = uniform(1 << 13, 8)
    if fmt.predicted_nbytes(A) > 64 * MIB:
        A = uniform(1 << 10, 50)
    M, x = stored(A, fmt), np.ones(A.nrows, A.dtype)
    found = M.footprint(verb=verb.name)
    verb(*((M, x) if verb is mxv else (x, M)), MinPlus)
    kept = sum(size for part, size in found.work.items() if part.endswith("kept"))
    assert M.kept_nbytes <= kept + SLACK
    assert kept <= 1.1 * M.kept_nbytes + SLACK
    assert found.work["x and y"] == 2 * x.nbytes
    assert found.total == sum(found.work.values())


@pytest.mark.parametrize("fmt", [CSR, COO, Dense])
@pytest.mark.parametrize("columns", [3, 32])
@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_a_product_with_columns_takes_no_more_than_its_footprint_says(
    fmt: type[Matrix], columns: int, dtype: Any
) -> None:
    make = lambda: uniform(1 << 11, 8).astype(dtype).to(fmt)  # noqa: E731
    X = np.ones((1 << 11, columns), dtype)
    mxm(make(), X, MinPlus)  # compiles
    A = fresh(make())
    found = A.footprint(verb="mxm", columns=columns)
    assert found.work["X and Y"] == 2 * X.nbytes
    assert peak(lambda: mxm(A, X, MinPlus)) <= found.total + SLACK


def test_a_product_at_the_places_of_a_mask_never_holds_the_whole() -> None:
    L: Any = select(rmat_both_ways(12), "tril", -1).astype("int64")
    whole = mxm(L, L, "plus_pair")
    at_places = lambda: mxm(L, L, "plus_pair", mask=L)  # noqa: E731
    assert at_places().nnz < whole.nnz / 10
    assert peak(at_places) < whole.nbytes / 4


@pytest.mark.parametrize("sources", [1, 5, 70])
@pytest.mark.parametrize(
    ("name", "call"),
    [("bfs", bfs), ("bellman_ford", bellman_ford), ("delta_stepping", delta_stepping)],
    ids=lambda case: case if isinstance(case, str) else "",
)
def test_several_sources_take_no_more_than_their_footprint_says(name: str, call: Any, sources: int) -> None:
    S = range(3, 3 + sources)
    for make in (lambda: uniform(1 << 12, 8), lambda: rmat(12)):
        call(make(), sources=S, return_parents=True)  # compiles
        A = fresh(make())
        found = A.footprint(algorithm=name, sources=sources)
        assert peak(lambda A=A: call(A, sources=S, return_parents=True)) <= found.total + 8 * SLACK  # type: ignore[misc]


def test_columns_and_sources_are_of_work_that_has_them() -> None:
    A = uniform(16, 2)
    with pytest.raises(ValueError, match="say of how many columns="):
        A.footprint(verb="mxm")
    with pytest.raises(ValueError, match="columns= is about the dense operand of verb='mxm', got verb='mxv'"):
        A.footprint(verb="mxv", columns=3)
    with pytest.raises(ValueError, match="sources= is about an algorithm with several sources, got algorithm='scc'"):
        A.footprint(algorithm="scc", sources=3)


@pytest.mark.parametrize("fmt", [CSR, COO])
@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("bellman_ford", lambda A: bellman_ford(A, 0)),
        ("delta_stepping", lambda A: delta_stepping(A, 0)),
        ("bfs", lambda A: bfs(A, 0)),
        ("scc", scc),
        ("boruvka", lambda A: boruvka(A, symmetrize=True)),
    ],
    ids=lambda case: case if isinstance(case, str) else "",
)
def test_an_algorithm_takes_no_more_than_its_footprint_says_on_few_cores_and_on_many(
    fmt: type[Matrix], name: str, call: Callable[[Matrix], Any]
) -> None:
    for make, count in product((lambda: uniform(1 << 12, 8), lambda: rmat(12)), (2, 64)):
        with threads(count):
            call(make().to(fmt))  # compiles
            A = fresh(make().to(fmt))
            assert peak(lambda A=A: call(A)) <= A.footprint(algorithm=name).total + 8 * SLACK  # type: ignore[misc]


@pytest.mark.parametrize("algorithm", [bellman_ford, delta_stepping])
def test_the_lists_of_many_threads_count(algorithm: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(near_far, "MIN_NNZ_FOR_THREADS", 0)
    with threads(32):
        algorithm(rmat(12), 0)  # compiles
        A = fresh(rmat(12))
        said = A.footprint(algorithm=algorithm.__name__)
        assert said.work["lists of near and far vertices"] > 4 * MIB
        assert peak(lambda: algorithm(A, 0)) <= said.total + 8 * SLACK


def test_an_unknown_verb_or_algorithm_is_named() -> None:
    A = uniform(16, 2)
    with pytest.raises(ValueError, match="no verb is called 'mvx'; there are mxm, mxv, vxm"):
        A.footprint(verb="mvx")
    with pytest.raises(ValueError, match="no algorithm is called 'dfs'; there are .*bellman_ford, .*bfs"):
        A.footprint(algorithm="dfs")


def test_an_algorithm_whose_vectors_do_not_fit_is_refused_before_any_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Place, "available_bytes", lambda place: 1000)
    n = 1 << 23
    A = CSR.trusted(np.zeros(n + 1, np.int32), np.zeros(0, np.int32), np.zeros(0, np.int32), (n, n))
    with pytest.raises(OutOfHostMemory, match=r"bfs on 8,388,608 vertices, for its .* needs 142,606,336 bytes"):
        bfs(A, 0)
