"""Matrices in parts on several GPUs: the kernels that they run together, simulated; where there are two, all of it."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import algorithms as al
from algorithms.fused.cuda import launches, out_of_core_msf
from algorithms.fused.cuda import paths as one_gpu
from algorithms.fused.parts import (
    balanced_relabelling,
    forests_on_gpus,
    gpus,
    levels_on_gpus,
    many_sources,
    paths_on_gpus,
)
from algorithms.fused.parts.checkpoint import Saving
from algorithms.fused.parts.many_sources import by_all
from algorithms.shared.single_source import Exact, Until
from algorithms.shared.traversal import Direction
from bench.graphs import grid, rmat, rmat_both_ways
from formats import (
    CSR,
    DeviceUnavailable,
    OutOfDeviceMemory,
    ParticipantError,
    Partitioned,
    from_edges,
    partition,
    set_memory_limit,
)
from formats.arrays import cupy
from formats.copies import to_peer
from formats.matrix.facts import SYMMETRIC
from formats.parts.partitioned import assembled, beside
from formats.places import find_place
from semiring import MaxMin, MinPlus, explain, extract
from semiring.verbs.registry import Declined

from . import parts
from .emulated import Kernels, current, made, placed, simulated, spread
from .strategies import FORMATS, OPTIONS
from .test_any_format import assert_equal

needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="no g++, which compiles the simulated kernels")


def known_symmetric(A: CSR) -> CSR:
    A.keep(SYMMETRIC, lambda: True, False)
    return A


GRAPHS: dict[str, Callable[[], CSR]] = {
    "hubs": lambda: rmat(8, dtype=np.int32, high=9),
    "hubs, both ways": lambda: known_symmetric(rmat_both_ways(8, dtype=np.int32, high=9)),
    "a grid": lambda: known_symmetric(grid(12, dtype=np.int32, high=9)),
    "a path": lambda: from_edges(range(150), range(1, 151), np.arange(150, dtype=np.int32) % 5),
    "no edges": lambda: from_edges([], [], np.empty(0, np.int32), shape=70),
}
every_graph = pytest.mark.parametrize("name", GRAPHS)
every_graph_on_some_gpus = pytest.mark.parametrize(
    ("name", "count"), [(name, 2 + k % 2) for k, name in enumerate(GRAPHS)]
)


@pytest.fixture(autouse=True)
def strips(request: pytest.FixtureRequest) -> Iterator[None]:
    """No graph is too small for strips, but where a test is about that."""
    with nullcontext() if "alone" in request.function.__name__ else by_all():
        yield


@pytest.fixture
def simply(monkeypatch: pytest.MonkeyPatch) -> None:
    """Statistics by kernels are not simulated."""
    monkeypatch.setattr(paths_on_gpus, "mean", lambda A, s: 3 / one_gpu.WIDE_DELTA_MEANS)
    for module in (paths_on_gpus, one_gpu):
        monkeypatch.setattr(module, "gains_by_length", lambda A, s: False)


def spread_with_facts(A: CSR, count: int) -> Partitioned:
    P = spread(A, count)
    if A.known(SYMMETRIC, False):
        P.keep(SYMMETRIC, lambda: True, False)
    return P


def on_host(x: Any) -> np.ndarray:
    return np.array(x.d if isinstance(x, Exact) else x)


@needs_compiler
@pytest.mark.usefixtures("simply")
@every_graph_on_some_gpus
def test_simulated_gpus_find_the_shortest_paths_together(name: str, count: int) -> None:
    """In launches of a few steps, as the host comes back to."""
    A = GRAPHS[name]()
    limit = A.dtype.type(9)
    with simulated(count), launches(every=5):
        P = spread_with_facts(A, count)
        found = on_host(paths_on_gpus.distances(P, 1, MinPlus, Until(MinPlus), None))
        near = on_host(paths_on_gpus.distances(P, 1, MinPlus, Until(MinPlus, limit, 2), None))
    np.testing.assert_array_equal(found, al.sssp(A, 1))
    bound = min(limit, found[2])
    np.testing.assert_array_equal(near[found <= bound], found[found <= bound])


@needs_compiler
@pytest.mark.usefixtures("simply")
@pytest.mark.parametrize("dtype", [np.int32, np.float32])
def test_simulated_gpus_relax_fewer_edges_in_steps_that_begin_narrow(
    dtype: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also in launches of a few steps, between which the width is kept."""
    A, told = rmat(10, dtype=dtype), dict[str, Any]()
    width, source = dtype(96), int(A.lengths(0).argmax())
    monkeypatch.setattr(paths_on_gpus, "mean", lambda A, s: float(width) / one_gpu.WIDE_DELTA_MEANS)
    monkeypatch.setattr(one_gpu, "widens", lambda A: True)
    monkeypatch.setattr(paths_on_gpus, "details", told.update)
    relaxed = []
    with simulated(2), launches(every=3):
        P = spread_with_facts(A, 2)
        for delta in (width, None):
            found = on_host(paths_on_gpus.distances(P, source, MinPlus, Until(MinPlus), delta))
            np.testing.assert_array_equal(found, al.sssp(A, source))
            relaxed.append(told["edges"])
    assert relaxed[1] < 0.7 * relaxed[0]


class PowerCut(Exception):
    pass


def cut_short(monkeypatch: pytest.MonkeyPatch, looks: int) -> None:
    """Let searches end once they have saved so many times."""
    seen, look = [0], Saving.look

    def failing(self: Saving, d: Any) -> None:
        look(self, d)
        seen[0] += 1
        if seen[0] == looks:
            raise PowerCut

    monkeypatch.setattr(Saving, "look", failing)


@needs_compiler
@pytest.mark.usefixtures("simply")
@pytest.mark.parametrize(("before", "after"), [(2, 2), (3, 2), (2, 1), (2, 0)])
@pytest.mark.parametrize("name", ["hubs", "a grid", "a path"])
def test_a_search_of_simulated_gpus_goes_on_from_its_checkpoint(
    name: str, before: int, after: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On as many of them, on fewer, and on none."""
    A = GRAPHS[name]()
    monkeypatch.setattr(paths_on_gpus, "STEPS_BETWEEN_SAVES", 2)
    with monkeypatch.context() as patch, simulated(before), al.checkpoints(tmp_path, every=0):
        cut_short(patch, 2)
        with pytest.raises(PowerCut):
            paths_on_gpus.distances(spread_with_facts(A, before), 1, MinPlus, Until(MinPlus), None)
    with np.load(tmp_path / "distances.npz") as saved:
        some = saved["d"]
    assert 1 < np.count_nonzero(some < MinPlus.zero(A.dtype))
    assert (some >= al.sssp(A, 1)).all()
    assert (some > al.sssp(A, 1)).any()
    begun: list[np.ndarray] = []
    go_on = paths_on_gpus.Run.go_on_from
    monkeypatch.setattr(paths_on_gpus.Run, "go_on_from", lambda run, d: [begun.append(d.copy()), go_on(run, d)])
    with al.checkpoints(tmp_path, every=0, resume=True):
        if after == 0:
            found = al.sssp(partition(A, parts=2), 1)
        else:
            with simulated(after):
                P = spread_with_facts(A, after)
                found = on_host(paths_on_gpus.distances(P, 1, MinPlus, Until(MinPlus), None))
    np.testing.assert_array_equal(found, al.sssp(A, 1))
    assert after == 0 or np.array_equal(begun[0], some)
    assert list(tmp_path.iterdir()) == []


@needs_compiler
@pytest.mark.usefixtures("simply")
@pytest.mark.parametrize("count", [2, 3])
def test_simulated_gpus_deal_the_vertices_of_uneven_strips(
    count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the last block is short, where all have the rows of each strip, and from a checkpoint.

    Those to which most edges lead come first.
    """
    monkeypatch.setattr(balanced_relabelling, "BLOCK", 32)
    monkeypatch.setattr(balanced_relabelling, "MIN_BLOCKS", 1)
    monkeypatch.setattr(balanced_relabelling, "assembled", lambda *strips: placed(assembled(*strips)))
    A = known_symmetric(extract(rmat_both_ways(10, dtype=np.int32, high=9), np.arange(1001), np.arange(1001)))
    with simulated(count):
        P = spread_with_facts(A, count)
        team: Any = gpus.team_of(P)
        relabelling = balanced_relabelling.relabelling_of(P, team)
        assert relabelling is not None
        numbers = np.array([relabelling.number(v) for v in range(1001)])
        np.testing.assert_array_equal(np.sort(numbers), np.arange(1001))
        for start, stop in itertools.pairwise(relabelling.starts):
            entering = A.lengths(1)[np.argsort(numbers)[start:stop]]
            assert (np.diff(np.ceil(np.log2(entering + 1))) <= 0).all()
        entries = [member.rows.nnz for member in balanced_relabelling.relabelled(P, relabelling).members]
        assert max(np.diff(relabelling.starts)) <= min(np.diff(relabelling.starts)) + 4 * balanced_relabelling.BLOCK
        assert max(entries) < 1.3 * min(entries)
        found = on_host(paths_on_gpus.distances(P, 1, MinPlus, Until(MinPlus, None, None), None))
        near = on_host(paths_on_gpus.distances(P, 1, MinPlus, Until(MinPlus, None, 77), None))
        tree = paths_on_gpus.tree(P, made(found), 1, MinPlus)
        monkeypatch.setattr(paths_on_gpus, "STEPS_BETWEEN_SAVES", 2)
        with monkeypatch.context() as patch, al.checkpoints(tmp_path, every=0):
            cut_short(patch, 2)
            with pytest.raises(PowerCut):
                paths_on_gpus.distances(P, 1, MinPlus, Until(MinPlus), None)
        with np.load(tmp_path / "distances.npz") as saved:
            some = saved["d"]
        with al.checkpoints(tmp_path, resume=True):
            again = on_host(paths_on_gpus.distances(P, 1, MinPlus, Until(MinPlus), None))
    assert (some >= found).all()
    assert (some > found).any()
    np.testing.assert_array_equal(again, found)
    np.testing.assert_array_equal((found, np.array(tree)), al.sssp(A, 1, return_parents=True))
    assert near[77] == found[77]


@needs_compiler
@pytest.mark.usefixtures("simply")
@pytest.mark.parametrize("values", ["one for all", "one each"])
def test_simulated_gpus_deal_the_vertices_of_strips_of_which_some_are_empty(
    values: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Few rows have all entries."""
    monkeypatch.setattr(balanced_relabelling, "BLOCK", 32)
    monkeypatch.setattr(balanced_relabelling, "MIN_BLOCKS", 1)
    monkeypatch.setattr(balanced_relabelling, "assembled", lambda *strips: placed(assembled(*strips)))
    n, hubs = 161, 20
    ones = np.ones(hubs * n, np.int32)
    B = from_edges(np.repeat(np.arange(hubs), n), np.tile(np.arange(n), hubs), ones, shape=n)
    weights = np.broadcast_to(ones[:1], B.nnz) if values == "one for all" else np.arange(B.nnz, dtype=np.int32)
    A = CSR.trusted(B.indptr, B.indices, weights, B.shape)
    with simulated(4):
        P = spread(A, 4)
        assert P.starts == (0, 32, 32, 32, n)
        team: Any = gpus.team_of(P)
        relabelling = balanced_relabelling.relabelling_of(P, team)
        assert relabelling is not None
        rows = [member.rows for member in balanced_relabelling.relabelled(P, relabelling).members]
        found = on_host(paths_on_gpus.distances(P, 1, MinPlus, Until(MinPlus), None))
    assert sum(each.nnz for each in rows) == A.nnz
    assert values == "one each" or all(0 in each.values.strides for each in rows if each.nnz > 1)
    np.testing.assert_array_equal(found, al.sssp(A, 1))


@needs_compiler
@pytest.mark.usefixtures("simply")
def test_simulated_gpus_find_widest_paths_of_floats_together() -> None:
    A = rmat(7, dtype=np.float32, high=9)
    with simulated(2):
        found = on_host(paths_on_gpus.distances(spread(A, 2), 1, MaxMin, Until(MaxMin), None))
    np.testing.assert_array_equal(found, al.bellman_ford(A, 1, MaxMin))


@needs_compiler
@pytest.mark.parametrize(
    ("name", "direction", "count"),
    [
        *((name, "push", 3 - k % 2) for k, name in enumerate(GRAPHS)),
        ("hubs, both ways", "pull", 2),
        ("hubs, both ways", "auto", 3),
        ("a grid", "pull", 3),
        ("a grid", "auto", 2),
    ],
)
def test_simulated_gpus_search_together(name: str, direction: Any, count: int) -> None:
    """Of directed graphs the columns, which a pull needs, are made by kernels that are not simulated."""
    A = GRAPHS[name]()
    with simulated(count), launches(every=3):
        P = spread_with_facts(A, count)
        parents = bool(A.known(SYMMETRIC, False))
        how = Direction(direction), None, parents
        found = [levels_on_gpus.levels(P, 1, *how)]
        found += [levels_on_gpus.levels(P, 1, how[0], deepest) for deepest in (0, 2)]
        answers = [[on_host(x) for x in each if x is not None] for each in found]
    assert [len(each) for each in answers] == [1 + parents, 1, 1]
    for each, deepest in zip(answers, (None, 0, 2), strict=True):
        expected = al.bfs(A, 1, max_level=deepest, return_parents=len(each) == 2)
        for mine, right in zip(each, expected if len(each) == 2 else (expected,), strict=True):
            np.testing.assert_array_equal(mine, right)


@needs_compiler
@every_graph
@pytest.mark.parametrize("light_first", [False, True])
def test_simulated_gpus_join_their_forests_and_components(
    name: str, light_first: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All edges at once; or light ones first, in lists so short that they are made forests on the way."""
    if light_first:
        monkeypatch.setattr(forests_on_gpus, "MIN_DEGREE_FOR_LIGHT", 0)
        monkeypatch.setattr(out_of_core_msf, "MIN_LISTED_EDGES", 0)
        monkeypatch.setattr(out_of_core_msf, "MAX_NEW_EDGES_PER_VERTEX", 1)
    A, count = GRAPHS[name](), 3 if light_first else 2
    with simulated(count):
        P = spread_with_facts(A, count)
        F, tree = forests_on_gpus.forest(P, True, True)
        label = on_host(forests_on_gpus.components(P, True))
        forest = [on_host(x) for x in (F.rows, F.cols, F.values, tree)]
    expected, trees = al.boruvka(A, symmetrize=True, return_labels=True)
    for mine, right in zip(forest, (*expected.to_edges(), trees), strict=True):
        np.testing.assert_array_equal(mine, right)
    np.testing.assert_array_equal(label, al.scc(A, weak=True))


@needs_compiler
@pytest.mark.parametrize("seed", range(3))
def test_simulated_gpus_leave_out_no_heavy_edge_by_heavier_ones(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a GPU makes its heavy edges a forest on the way: then its trees are of heavy edges, too."""
    monkeypatch.setattr(forests_on_gpus, "MIN_DEGREE_FOR_LIGHT", 0)
    monkeypatch.setattr(out_of_core_msf, "MIN_LISTED_EDGES", 0)
    random = np.random.default_rng(seed)
    A = from_edges(*random.integers(0, 50, (2, 1500)), random.integers(0, 1000, 1500).astype(np.int32), shape=50)
    with simulated(2):
        F, _ = forests_on_gpus.forest(spread(A, 2), True, False)
        forest = [on_host(x) for x in (F.rows, F.cols, F.values)]
    for mine, right in zip(forest, al.boruvka(A, symmetrize=True).to_edges(), strict=True):
        np.testing.assert_array_equal(mine, right)


@needs_compiler
@pytest.mark.parametrize("dtype", ["bool", "int32", "int64", "float32", "float64"])
def test_a_simulated_gpu_makes_forests_of_short_lists(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of edges both ways with other weights, equal weights, loops, and some keys that have more than 64 bits."""
    monkeypatch.setattr(out_of_core_msf, "MIN_LISTED_EDGES", 0)
    monkeypatch.setattr(out_of_core_msf, "MAX_NEW_EDGES_PER_VERTEX", 0.3)
    for seed, n in enumerate((3, 40, 70)):
        random, m = np.random.default_rng(seed), 7 * n
        weights = (random.integers(0, 7, m) // np.array([-2, 2])[random.integers(0, 2, m)]).astype(dtype)
        if dtype in ("int64", "float64"):  # so many bits that ends do not fit beside
            weights *= np.dtype(dtype).type(2**58 + 1 if dtype == "int64" else 1 / 3)
        A = from_edges(random.integers(0, n, m), random.integers(0, n, m) // 2, weights, shape=n)
        expected, trees = al.boruvka(A, symmetrize=True, return_labels=True)
        with simulated(1):
            run = out_of_core_msf.Stream(CSR.trusted(made(A.indptr), made(A.indices), made(A.values), A.shape))
            run.read(out_of_core_msf.ALL_ENTRIES)
            tree = on_host(run.join())
            found = [*(on_host(x) for x in run.edges()), tree]
        assert run.spans > 1 or n == 3
        for mine, right in zip(found, (*expected.to_edges(), trees), strict=True):
            np.testing.assert_array_equal(mine, right)


@pytest.mark.parametrize("sources", [[7], [3, 1, 4, 1, 5]], ids=len)
def test_simulated_gpus_fill_the_rows_of_one_answer(sources: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """The first one where they are, the others by a copy."""
    monkeypatch.setattr(many_sources, "copies_of", lambda P, places: P.parts)
    with simulated(2):
        P = spread(GRAPHS["a path"](), 2)
        answer = made(np.zeros((len(sources), P.nrows), np.int32))

        def solve(B: Any, few: list[int], own: Any, which: slice) -> None:
            assert sources[which] == few
            own[0][...] = np.array(few)[:, None] + 100 * current()

        assert many_sources.solved(P, sources, (answer, None), solve) is None
    half = len(sources) // 2
    expected = np.array(sources) + 100 * (np.arange(len(sources)) >= half)
    np.testing.assert_array_equal(answer, np.broadcast_to(expected[:, None], answer.shape))


@needs_compiler
@pytest.mark.usefixtures("simply")
def test_a_gpu_that_does_not_come_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    launch = gpus.Team._launch

    def without_the_second(self: gpus.Team, name: str, launched: list[Any], upto: int) -> None:
        launch(self, name, launched[:1] if upto else launched, upto)

    monkeypatch.setattr(gpus.Team, "_launch", without_the_second)
    monkeypatch.setattr(gpus, "PATIENCE_SECONDS", 0.1)
    A = GRAPHS["a path"]()
    with simulated(2):
        P = spread(A, 2)
        with pytest.raises(ParticipantError, match="GPU 1 of 2 did not come to a step of strips"):
            paths_on_gpus.distances(P, 1, MinPlus, Until(MinPlus), None)
        monkeypatch.setattr(gpus.Team, "_launch", launch)
        monkeypatch.setattr(gpus, "PATIENCE_SECONDS", 20.0)
        again = on_host(paths_on_gpus.distances(P, 1, MinPlus, Until(MinPlus), None))
    np.testing.assert_array_equal(again, al.sssp(A, 1))


@needs_compiler
def test_a_gpu_that_does_not_come_to_a_forest_is_named_whatever_its_memory_held(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A ring of old choices would lead whoever follows them round and round."""
    launch, shared = gpus.Team._launch, gpus.Team.shared

    def with_a_ring(self: gpus.Team, *kinds: gpus.Kind) -> Any:
        arrays, tables = shared(self, *kinds)
        first = self.starts[1]
        arrays[0][1][:3] = np.array([first + 1, first + 2, first])
        return arrays, tables

    def without_the_second(self: gpus.Team, name: str, launched: list[Any], upto: int) -> None:
        launch(self, name, launched[:1] if upto else launched, upto)

    monkeypatch.setattr(gpus.Team, "shared", with_a_ring)
    monkeypatch.setattr(gpus.Team, "_launch", without_the_second)
    monkeypatch.setattr(gpus, "PATIENCE_SECONDS", 0.1)
    with simulated(2):
        P = spread_with_facts(GRAPHS["hubs, both ways"](), 2)
        with pytest.raises(ParticipantError, match="GPU 1 of 2 did not come to a step of strips_forest"):
            forests_on_gpus.forest(P, True, False)


@needs_compiler
@pytest.mark.usefixtures("simply")
def test_after_an_error_on_one_gpu_the_next_search_is_right(monkeypatch: pytest.MonkeyPatch) -> None:
    A, failing = rmat(7, dtype=np.int32, high=9), [True]
    monkeypatch.setattr(gpus, "PATIENCE_SECONDS", 0.2)
    with simulated(2):
        P, start = spread(A, 2), Kernels.persistent

        def fails(self: Kernels, name: str, things: int, arguments: Any) -> None:
            if name == "strips" and current() == 1 and arguments[-1] > 0 and failing:
                failing.pop()
                raise RuntimeError("no launch")
            start(self, name, things, arguments)

        monkeypatch.setattr(Kernels, "persistent", fails)
        with pytest.raises(RuntimeError, match="no launch"):
            paths_on_gpus.distances(P, 1, MinPlus, Until(MinPlus), None)
        found = on_host(paths_on_gpus.distances(P, 1, MinPlus, Until(MinPlus), None))
    np.testing.assert_array_equal(found, al.sssp(A, 1))


def test_gpus_that_cannot_work_together_say_why(monkeypatch: pytest.MonkeyPatch) -> None:
    A = rmat(7, dtype=np.int32, high=9)
    with simulated(2):
        P = spread(A, 2)
        assert gpus.team_of(A.to(device=["cpu", "cpu"])) == Declined(  # type: ignore[arg-type]
            "a persistent kernel needs each strip on a GPU of its own"
        )
        monkeypatch.setattr(gpus, "befriend", lambda places: False)
        assert gpus.team_of(P) == Declined("the GPUs cannot read each other's memory")
    with simulated(2):
        Q = spread(A, 2)
        object.__setattr__(Q, "starts", (0, 65, 128))
        assert "does not begin at a multiple of 32 rows" in gpus.why_not(Q)


def test_a_copy_to_another_gpu_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    with simulated(2):
        x, place = made(np.arange(7)), find_place("cuda:1")
        y = to_peer(x[::2], place)
        assert (y.tolist(), y.device.id) == ([0, 2, 4, 6], 1)


@pytest.mark.quick
def test_a_list_of_places_spreads_rows() -> None:
    A = rmat(8, dtype=np.int32, high=9)
    P = A.to(device=["cpu", "cpu", "cpu"])
    assert (repr(P), P.starts) == (
        f"<Partitioned 256×256, {A.nnz} entries, int32, cpu, 3 parts>",
        (0, 32, 128, 256),
    )
    assert P.to(device=["cpu"] * 3) is P
    assert P.to(device=["cpu"]).to(CSR).equals(A)
    assert P.T.to(CSR).equals(A.T.to(CSR))
    assert A.to("csc", device=["cpu", "cpu"]).parts[1].to(CSR).equals(P.cut(A).to(device=["cpu", "cpu"]).parts[1])
    with pytest.raises(ValueError, match="at least one place"):
        A.to(device=[])
    with pytest.raises(DeviceUnavailable):
        A.to(device=["cuda:0", "cuda:1"])
    with pytest.raises(ValueError, match="device must be 'cpu' or 'cuda', got 'gpu'"):
        A.to(device=["gpu"])


def test_strips_of_columns_side_by_side_are_their_rows() -> None:
    A = rmat(6, dtype=np.int32, high=9)
    left, right = A[:, :20].to(CSR), A[:, 20:].to(CSR)
    assert beside([left, right], [0, 20], 64).equals(A)


# --- on two GPUs ----------------------------------------------------------------------------------------------------


@pytest.fixture
def pair() -> Iterator[list[str]]:
    """Two GPUs."""
    if cupy().cuda.runtime.getDeviceCount() < 2:
        pytest.skip("there is one GPU")
    yield ["cuda:0", "cuda:1"]
    assert cupy().cuda.runtime.getDevice() == 0


on_gpus = pytest.mark.backend("cuda")


@on_gpus
@pytest.mark.parametrize("fmt", FORMATS, ids=lambda fmt: fmt.__name__)
def test_every_format_comes_back_from_two_gpus(fmt: Any, pair: list[str]) -> None:
    A: Any = parts.graphs()["rmat"]
    P = A.to(fmt, **OPTIONS.get(fmt, {})).to(device=pair)
    assert [part.place for part in P.parts] == [find_place(device) for device in pair]
    assert P.to(CSR).to(device="cpu").equals(A)


VERBS = [*parts.verbs(parts.graphs()["rmat"])]


@on_gpus
@pytest.mark.parametrize(
    ("name", "fmt"),
    [
        pytest.param(name, fmt, id=f"{name}-{fmt.__name__}")
        for k, fmt in enumerate(FORMATS)
        for name in (VERBS if fmt is CSR else VERBS[k % 4 :: 4])
    ],
)
def test_every_verb_on_two_gpus_gives_what_it_gives_on_the_host(name: str, fmt: Any, pair: list[str]) -> None:
    A: Any = parts.graphs()["rmat"]
    P = A.to(fmt, **OPTIONS.get(fmt, {})).to(device=pair)
    parts.same(name, parts.verbs(A, "cuda:0")[name], P, A, parts.verbs(A)[name])


@on_gpus
@pytest.mark.parametrize("name", parts.algorithms())
def test_every_algorithm_on_two_gpus_gives_what_it_gives_on_the_host(name: str, pair: list[str]) -> None:
    A = parts.graphs()["rmat"]
    parts.same(name, parts.algorithms()[name], A.to(device=pair), A)


@on_gpus
@pytest.mark.parametrize("name", [*GRAPHS, *parts.graphs()])
def test_awkward_graphs_on_two_gpus(name: str, pair: list[str]) -> None:
    A = {**GRAPHS, **{each: lambda each=each: parts.graphs()[each] for each in parts.graphs()}}[name]()
    for call in parts.SMALL:
        parts.same(name, call, A.to(device=pair), A)


@on_gpus
def test_paths_and_searches_on_two_gpus_are_fused(pair: list[str]) -> None:
    A = rmat_both_ways(9, dtype=np.float32, high=9)
    P = A.to(device=pair)
    calls: tuple[Any, ...] = (
        lambda M: al.sssp(M, 1),
        lambda M: al.sssp(M, 1, return_parents=True),
        lambda M: al.bfs(M, 1),
        lambda M: al.bfs(M, 1, direction="pull"),
        lambda M: al.scc(M, weak=True),
        lambda M: al.boruvka(M, symmetrize=True),
        lambda M: al.sssp(M, sources=[1, 5, 9, 1]),
        lambda M: al.bellman_ford(M, sources=[1, 5]),
        lambda M: al.bfs(M, sources=[1, 5, 9, 1]),  # by one
    )
    for number, call in enumerate(calls, 1):
        told = explain(call, P)
        assert_equal(told.result, call(A))
        assert {run.implementation for run in told.runs if run.format == "Partitioned"} == {"fused"}, str(told)
        by = 1 if number == len(calls) else 2
        assert by in (told.runs[0].details.get("gpus"), told.runs[0].details.get("copies"))


@on_gpus
def test_strong_components_on_two_gpus_are_found_from_a_hub(pair: list[str]) -> None:
    A = rmat(9, dtype=np.int32, high=9)
    told = explain(al.scc, A.to(device=pair))
    assert_equal(told.result, al.scc(A))
    assert told.runs[0].details["rest"] > 0


@on_gpus
@pytest.mark.parametrize("dtype", [np.int32, np.float32, np.float64])
def test_vertices_of_uneven_strips_are_dealt_to_two_gpus(
    dtype: Any, pair: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also with a last block that is short."""
    monkeypatch.setattr(balanced_relabelling, "BLOCK", 32)
    monkeypatch.setattr(balanced_relabelling, "MIN_BLOCKS", 1)
    A: Any = extract(rmat(11, dtype=np.dtype(dtype), high=9), np.arange(2011), np.arange(2011))
    P = A.to(device=pair)
    assert P.starts[1] < 800
    for call in (
        lambda M: al.sssp(M, 1, return_parents=True),
        lambda M: al.sssp(M, 1, limit=3),
        lambda M: al.sssp(M, 1, target=77)[77:78],
        lambda M: al.bellman_ford(M, 5, MaxMin),
    ):
        told = explain(call, P)
        assert_equal(told.result, call(A))
        assert "dealt" in told.runs[0].details["strips"]
    assert P.kept_nbytes > A.nbytes


@on_gpus
def test_small_graphs_and_roads_are_searched_by_one_gpu_alone(pair: list[str]) -> None:
    A = rmat_both_ways(9, dtype=np.float32, high=9)
    P, Q = A.to(device=pair), rmat(9, dtype=np.int32, high=9).to(device=pair)
    for call in (lambda M: al.sssp(M, 1), lambda M: al.bfs(M, 1), lambda M: al.boruvka(M, symmetrize=True)):
        told = explain(call, P)
        assert_equal(told.result, call(A))
        assert told.runs[0].details["method"] == "by one GPU, which has made itself the whole matrix"
    assert_equal(al.scc(Q), al.scc(Q.to(CSR).to(device="cpu")))


@on_gpus
def test_negative_weights_on_two_gpus(pair: list[str]) -> None:
    A = rmat(8, dtype=np.int32, high=9)
    u, v, w = A.to_edges()
    h = np.arange(A.nrows, dtype=np.int32) * 7 % 13
    B = from_edges(u, v, w + h[u] - h[v], shape=A.nrows)
    parts.same("negative", lambda M: al.bellman_ford(M, 1), B.to(device=pair), B)
    C = from_edges([0, 1, 2, 3], [1, 2, 3, 1], np.array([1, 2, -4, 1], np.int32))
    with pytest.raises(al.NegativeCycle) as found:
        al.bellman_ford(C.to(device=pair), 0)
    assert found.value.cycle == [1, 2, 3, 1]


@on_gpus
@pytest.mark.parametrize("after", [["cuda:0", "cuda:1"], ["cuda:1"], ["cpu", "cpu"]], ids=str)
def test_a_search_on_two_gpus_goes_on_from_its_checkpoint(
    after: list[str], pair: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    A = grid(64, dtype=np.int32, high=9)
    monkeypatch.setattr(paths_on_gpus, "STEPS_BETWEEN_SAVES", 4)
    with monkeypatch.context() as patch, al.checkpoints(tmp_path, every=0):
        cut_short(patch, 2)
        with pytest.raises(PowerCut):
            al.sssp(A.to(device=pair), 1)
    with np.load(tmp_path / "distances.npz") as saved:
        assert (saved["d"] > al.sssp(A, 1)).any()
    with al.checkpoints(tmp_path, every=0, resume=True):
        assert_equal(al.sssp(A.to(device=after), 1, return_parents=True), al.sssp(A, 1, return_parents=True))
    assert list(tmp_path.iterdir()) == []


@on_gpus
@pytest.mark.long
def test_processes_with_a_gpu_each_are_resumed_after_faults(pair: list[str]) -> None:
    from .parts_faults import storm
    from .test_parts import launcher

    if launcher() is None:
        pytest.skip("no mpi4py, or no mpirun: pip install 'semiring[mpi]'")
    assert storm(4, 0, ["kill", "stop"], "cuda", 300.0)


@on_gpus
@pytest.mark.usefixtures("all_resident")
def test_a_graph_that_does_not_fit_one_gpu_runs_on_two(pair: list[str]) -> None:
    A = rmat(15, 32, dtype=np.int32, high=9)
    limit = int(A.nbytes * 0.8)
    for device in pair:
        set_memory_limit(limit, device=device)  # type: ignore[arg-type]
    try:
        with pytest.raises(OutOfDeviceMemory):
            A.to(device="cuda:0")
        P = A.to(device=pair)
        np.testing.assert_array_equal(al.sssp(P, 1).get(), al.sssp(A, 1))
    finally:
        for device in pair:
            set_memory_limit(None, device=device)  # type: ignore[arg-type]


@on_gpus
def test_processes_with_a_gpu_each_compute_through_nccl(pair: list[str], tmp_path: Path) -> None:
    from .test_parts import launcher, started

    if launcher() is None:
        pytest.skip("no mpi4py, or no mpirun: pip install 'semiring[mpi]'")
    done = started(2, "-m", "tests.parts", "--cuda", folder=tmp_path, limit=300)
    assert "all is as in one process" in done.stdout, done.stderr[-2000:]


@on_gpus
@pytest.mark.long
@pytest.mark.parametrize("fault", ["kill", "stop", "raise", "size"])
def test_a_fault_of_a_process_with_a_gpu_ends_both_and_is_named(fault: str, pair: list[str], tmp_path: Path) -> None:
    from .parts_faults import launched, named
    from .test_parts import launcher

    if launcher() is None:
        pytest.skip("no mpi4py, or no mpirun: pip install 'semiring[mpi]'")
    seconds, code, text = launched(2, str(tmp_path), fault, 1, 8, "cuda")
    assert code != 0, text
    assert named(fault, 2, 1, text), text
    assert seconds < 120
