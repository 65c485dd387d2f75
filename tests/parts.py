"""What `tests/test_parts.py` runs in one process and, by mpirun, in several: every check, one after the other.

    mpirun -n 3 python -m tests.parts
    mpirun -n 2 python -m tests.parts --cuda        on a GPU for each process
    mpirun -n 2 python -m tests.parts --alone       where each process may search small graphs alone

Each participant has the whole graph, too, and compares: the answers on parts must have the bits of those on CSR.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pytest
import scipy.sparse

import algorithms as al
import formats
from algorithms import sssp
from algorithms.fused.parts.many_sources import by_all
from bench.graphs import grid, rmat, rmat_both_ways
from formats import (
    COO,
    CSC,
    CSR,
    ELL,
    CompressedCSR,
    Matrix,
    ParticipantError,
    Partitioned,
    SparseVector,
    from_edges,
    partition,
    read,
    write,
)
from formats.arrays import brought
from formats.parts.group import Group
from formats.places import find_place
from semiring import (
    MaxMin,
    MinPlus,
    PlusTimes,
    apply,
    assign,
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
    transpose,
    vxm,
)

from .strategies import GcdSecond
from .test_any_format import ALGORITHMS as FUSED
from .test_any_format import assert_equal

Call = Callable[[Any], Any]

MORE: dict[str, Call] = {
    "all_pairs": lambda A: al.all_pairs(A, return_parents=True),
    "all_pairs, searches": lambda A: al.all_pairs(A, method="searches"),
    "closeness": lambda A: al.closeness_centrality(A, vertices=[3, 5, 9], weighted=True),
    "harmonic": lambda A: al.harmonic_centrality(A, vertices=[3, 5]).round(12),  # a GPU adds in another order
    "boruvka, places": lambda A: al.boruvka(A, symmetrize=True, return_places=True)[1],
    "clustering": lambda A: al.clustering(A, symmetrize=True),
    "triangles": lambda A: al.triangles(A, symmetrize=True),
    "components": lambda A: al.components(A),
    "eccentricity": lambda A: al.eccentricity(core_of(A)),
    "diameter": lambda A: np.array(al.diameter(core_of(A), weighted=True)),
    "fewest_edges": lambda A: al.fewest_edges(A, 3, return_parents=True),
    "label_propagation": lambda A: al.label_propagation(A),
    "pagerank": lambda A: al.pagerank(A).round(12),
    "shortest_simple_paths": lambda A: np.concatenate(al.shortest_simple_paths(A, 3, 5, 4)),
    "sssp, trees of several": lambda A: sssp(A, sources=[3, 9, 5], return_parents=True),
    "sssp, median": lambda A: sssp(A, 3, delta="median"),
    "transitive_closure": lambda A: al.transitive_closure(A),
}
"""Algorithms that nobody has fused for a single process, beside those of `FUSED`."""


def core_of(A: Matrix) -> Any:
    """Both directions of the edges among the vertices that a few are strongly connected with."""
    B: Any = ewise_add(A, transpose(A), "min")
    inside = np.flatnonzero(al.scc(B) == 0)
    return like(A, extract(B, inside, inside))


def like(A: Matrix, B: Any) -> Any:
    return A.cut(B) if isinstance(A, Partitioned) else B


def algorithms() -> dict[str, Call]:
    return {name: call for name, call in FUSED.items() if name != "joint_search"} | MORE


def verbs(A: CSR, device: Any = "cpu") -> dict[str, Call]:
    """Calls of every verb that has cells for matrices in parts, with vectors on a device."""
    n, place = A.nrows, find_place(device)
    x = brought(np.where(np.arange(n) % 3, np.arange(n), MinPlus.zero(A.dtype)).astype(A.dtype), place)
    few = brought(SparseVector([3, n - 2], np.array([1, 2], A.dtype), n), place)
    mask, stack = brought(np.arange(n) % 2 == 0, place), place.xp.stack
    return {
        "mxv": lambda M: mxv(M, x, MinPlus),
        "mxv, sparse": lambda M: entries(mxv(M, few, MinPlus, mask=mask)),
        "vxm": lambda M: vxm(x, M, PlusTimes, mask=mask, complement=True),
        "vxm, sparse": lambda M: entries(vxm(few, M, MinPlus)),
        "vxm, transposed": lambda M: vxm(x, M.T, MinPlus),
        "vxm, a user's ⊕": lambda M: vxm(x % 7, M, GcdSecond),
        "vxm, arguments": lambda M: vxm(x, M, MinPlus, return_argument=True),
        "mxv, arguments": lambda M: mxv(M, x, MinPlus, return_argument=True),
        "vxm, positions": lambda M: vxm(x, M, "min_secondi"),
        "mxm": lambda M: mxm(M, M, MinPlus).to_edges(),
        "mxm, masked": lambda M: mxm(M, transpose(M), "plus_pair", mask=M).to_edges(),
        "mxm, dense": lambda M: (mxm(M, stack((x, x), 1), MinPlus), mxm(stack((x, x)), M, MinPlus)),
        "ewise_add": lambda M: ewise_add(M, transpose(M), "min").to_edges(),
        "ewise_mult": lambda M: ewise_mult(M, transpose(M), "times").to_edges(),
        "ewise_union": lambda M: ewise_union(M, 0, transpose(M), 0, "minus").to_edges(),
        "kronecker": lambda M: kronecker(few_of(M), few_of(transpose(M)), "times").to_edges(),
        "apply": lambda M: apply(M, "plus", right=3).to_edges(),
        "select": lambda M: tuple(select(M, *how).to_edges() for how in (("<", 4), ("triu", 1), ("offdiag",))),
        "select, transposed": lambda M: select(M.T, "tril", -1).to_edges(),
        "reduce": lambda M: (np.array(reduce(M, "plus")), reduce(M, "plus", axis=0), reduce(M, "plus", axis=1)),
        "reduce, arguments": lambda M: tuple(reduce(M, "max", axis=axis, return_argument=True) for axis in (0, 1)),
        "extract": lambda M: (extract(M, [5, 3, 3], None).to_edges(), extract(M, [4, 1], [2, 0, 9]).to_edges()),
        "extract, a column": lambda M: entries(extract(M, None, 3)),
        "astype": lambda M: (M.astype(float) @ M.pattern().astype(float)).to_edges(),
        "lookup": lambda M: np.array([M.get(u, v, -1) for u in range(0, n, 19) for v in range(0, n, 23)]),
        "lengths": lambda M: np.array([int(M.lengths(0).max()), int(M.lengths(1).max()), M.longest(0), M.longest(1)]),
        "apply, positions": lambda M: tuple(apply(M, how).to_edges() for how in ("rowindex", "diagindex")),
        "mxm, arguments": lambda M: tuple(X.to_edges() for X in mxm(M, M, MinPlus, return_argument=True, mask=M.T)),
        "mxm, positions": lambda M: tuple(mxm(M, M, f"{how}").to_edges() for how in POSITIONS),
        "powers": lambda M: tuple(power(M, k, MinPlus).to_edges() for k in (1, 3)),
        "gather": lambda M: (M.to(CSR).to_edges(), M.T.to(CSR).to_edges(), M.to_dense()),
    }


POSITIONS = ("min_secondi", "plus_firsti1", "max_secondj", "plus_firstj")


def written(A: CSR, device: Any = "cpu") -> dict[str, Call]:
    """Calls whose results are written by a rule: with masks, into an `out` that holds something, or at places."""
    n, place = A.nrows, find_place(device)
    flags = brought(np.arange(n * n).reshape(n, n) % 3 == 0, place)
    some = [n - 1, 2, n // 2, 0]
    block: Any = brought(from_edges([0, 0, 1, 3], [1, 2, 2, 0], np.array([7, 1, 5, 3], A.dtype), shape=4), place)
    A = brought(A, place)
    x, odd = place.xp.arange(n, dtype=A.dtype), select(A, lambda value, row, col: (row + col) % 2 == 1)

    def into(call: Callable[..., Any], **rule: Any) -> Call:
        def written_into(M: Any) -> Any:
            out = like(M, fresh(odd))
            assert call(M, out=out, **rule) is out
            return out.to_edges()

        return written_into

    def at(value: Any, *places: Any, **rule: Any) -> Call:
        def assigned(M: Any) -> Any:
            out = fresh(M)
            assert assign(out, value(M) if callable(value) else value, *places, **rule) is out
            return out.to_edges(), mxv(out, x, MinPlus)

        return assigned

    def shifted(M: Any) -> Any:
        return M.alike(M, (0, *(min(start + 2, n) for start in M.starts[1:-1]), n)) if M.in_parts else M

    return {
        "apply, masked": lambda M: apply(M, "plus", right=3, mask=odd, complement=True).to_edges(),
        "select, masked": lambda M: select(M, "<", 5, mask=flags).to_edges(),
        "transpose, masked": lambda M: transpose(M, mask=M).to_edges(),
        "kronecker, masked": lambda M: kronecker(
            few_of(M), few_of(M), "times", mask=kronecker(M, M, "pair")
        ).to_edges(),
        "cut otherwise": lambda M: (ewise_add(M, shifted(M).T, "min").to_edges(), np.array(M.equals(shifted(M)))),
        "cut otherwise, a mask": lambda M: mxm(M, M, MinPlus, mask=shifted(M)).to_edges(),
        "apply into": into(lambda M, **rule: apply(M, "plus", right=3, **rule), accum="plus"),
        "select into": into(lambda M, **rule: select(M, "<", 5, **rule), mask=flags, replace=True),
        "transpose into": into(transpose),
        "ewise_add into": into(lambda M, **rule: ewise_add(M, M, "plus", **rule), mask=odd, complement=True),
        "mxm into": into(lambda M, **rule: mxm(M, M, MinPlus, **rule), accum="min", mask=flags),
        "mxm of whole ones into": into(lambda M, **rule: mxm(A, A, MinPlus, **rule), accum="min"),
        "mxm into, arguments": into(lambda M, **rule: mxm(M, M, MinPlus, return_argument=True, **rule)[0]),
        "extract into": into(lambda M, **rule: extract(M, np.arange(n)[::-1].copy(), **rule)),
        "assign a scalar": at(4),
        "assign a scalar at places": at(4, some, [0, 5, 9]),
        "assign a scalar, accumulated": at(4, some, None, accum="plus"),
        "assign a scalar, masked": at(4, None, some, mask=odd),
        "assign a scalar, masked by flags": at(4, mask=flags, complement=True, replace=True),
        "assign a matrix": at(block, some, [1, 3, 5, 7]),
        "assign a matrix, accumulated": at(block, some, some, accum="min", mask=flags),
        "assign an empty matrix": at(select(block, "<", 0), some, some),
        "assign to no places": at(4, [], [1, 2]),
        "assign what is in parts": at(lambda M: transpose(M)),
        "assign what is in parts, in another order": at(
            lambda M: M, np.arange(n)[::-1].copy(), np.roll(np.arange(n), 5)
        ),
        "assign what is cut otherwise": at(shifted, accum="second", mask=odd, replace=True),
        "assign a few rows in parts": at(lambda M: like(M, block), some, some, accum="plus"),
        "assign to itself": at(lambda M: M, accum="plus"),
    }


def fresh(M: Any) -> Any:
    """The matrix as an object of its own, which may be written."""
    return type(M).trusted(*M.components)


def few_of(M: Any) -> Any:
    """The first entries of each row."""
    return select(select(M, "tril", 2), "triu", -2)


def entries(y: Any) -> Any:
    return y.indices, y.values


DEVICE = "cpu"
"""Where the parts are."""

SCALE = {1: 6, 2: 5, 3: 5}
"""Of the R-MAT graph, by the number of participants: an exchange takes long where they take turns on two cores."""


def graphs(comm: Any = None) -> dict[str, CSR]:
    """Graphs of every awkward kind: hubs, self-loops, long paths, no edges, fewer vertices than participants."""
    path = from_edges(range(40), range(1, 41), np.arange(40, dtype=np.int32) % 5)
    return {
        "rmat": rmat(SCALE.get(1 if comm is None else comm.Get_size(), 4), dtype=np.int32, high=9),
        "path": path,
        "grid": grid(9),
        "zeros": from_edges([0, 1, 2, 0, 3], [1, 2, 0, 0, 3], np.zeros(5, np.int32)),
        "halves": from_edges([0, 1, 2], [1, 2, 3], np.array([0.5, 0.25, np.inf], np.float32)),
        "edgeless": from_edges([], [], np.empty(0, np.int32), shape=12),
        "two": from_edges([0, 1, 1], [1, 0, 1], np.array([2, 2, 0], np.int32)),
    }


def cuts(A: CSR, comm: Any, fmt: type[Matrix] = CSR, parts: int = 3) -> Partitioned:
    made: Any = A.to(fmt, **({"force": True} if fmt is ELL else {}))
    P = partition(made, parts=parts) if comm is None else partition(made, comm)
    return P.to(device=DEVICE)


def check_verbs(comm: Any) -> None:
    A, turn = graphs(comm)["rmat"], 0 if comm is None else comm.Get_size()
    for fmt in {0: (CSR, CSC, COO, ELL, CompressedCSR), 2: (CSR, ELL), 3: (COO, CompressedCSR)}.get(turn, (CSC,)):
        P = cuts(A, comm, fmt)
        assert P.equals(A)
        assert all(isinstance(part, fmt) for part in P.parts)
        expected = verbs(A)
        for name, call in list(verbs(A, P.place).items())[:: 1 if turn in (0, 2, 3) else 4]:
            same(f"{name} of {fmt.__name__}", call, P, A, expected[name])


def check_written(comm: Any) -> None:
    A, turn = graphs(comm)["rmat"], 0 if comm is None else comm.Get_size()
    for fmt, parts in {0: [(CSR, 2), (COO, 3)], 2: [(CSR, 1)]}.get(turn, [(CSC, 1)]):
        expected = written(A)
        for name, call in written(A, cuts(A, comm).place).items():
            same(f"{name}, {fmt.__name__}", call, cuts(A, comm, fmt, parts), A, expected[name])
    P, Q = cuts(A, comm), cuts(A, comm)
    with pytest.raises((ValueError, ParticipantError), match="cannot hold|rows must not repeat|range"):
        assign(P, 1, [3, 3])
    with pytest.raises(TypeError, match="out must be in parts"):
        apply(P, "ainv", out=brought(fresh(A), P.place))
    with pytest.raises(TypeError, match="got Partitioned by columns"):
        assign(Q.T, 1)
    assert P.equals(A)
    if comm is not None and comm.Get_size() > 1:
        on_host = partition(A, parts=2)
        own = on_host.to(device=DEVICE)
        same(
            "parts of this process",
            lambda M: ewise_add(M, own, "plus").to_edges(),
            cuts(A, comm),
            A,
            lambda M: ewise_add(M, on_host, "plus").to_edges(),
        )
        with pytest.raises(ValueError, match="gathers"):
            ewise_add(own, P, "plus")


def check_algorithms(comm: Any) -> None:
    A = graphs(comm)["rmat"]
    P = cuts(A, comm)
    for name, call in algorithms().items():
        same(name, call, P, A)
    for name, B in graphs().items():
        Q = cuts(B, comm, CSC if name == "grid" else CSR, parts=5)
        for call in SMALL:
            same(f"{name}", call, Q, B)


def check_hubs(comm: Any) -> None:
    """A hub whose row is longer than the lists of a strip of few rows."""
    n = 5000
    out = from_edges(np.zeros(n - 1, int), np.arange(1, n), np.arange(1, n, dtype=np.int32) % 7 + 1)
    back = from_edges(np.arange(1, n), (np.arange(1, n) * 17 + 3) % n, np.full(n - 1, 2, np.int32), dup="min")
    A: Any = ewise_add(out, back, "min")
    P = cuts(A, comm)
    for call in SMALL[:1] + SMALL[2:3]:
        same("a hub", call, P, A)


SMALL: tuple[Call, ...] = (
    lambda M: al.sssp(M, 1, return_parents=True),
    lambda M: al.bellman_ford(M, 1, MaxMin),
    lambda M: al.bfs(M, 1, return_parents=True),
    lambda M: al.scc(M),
    lambda M: al.scc(M, weak=True),
    lambda M: al.boruvka(M, symmetrize=True, return_labels=True),
)


def check_definitions(comm: Any) -> None:
    A = graphs(comm)["rmat"]
    P = cuts(A, comm)
    for name in ("sssp", "bellman_ford", "bfs", "scc", "boruvka", "weak components", "dijkstra"):
        same(f"{name}, as written", lambda M, name=name: FUSED[name](M, fused=False), P, A)


def check_negative(comm: Any) -> None:
    A = rmat_both_ways(6, dtype=np.int32, high=9)
    u, v, w = A.to_edges()
    h = np.arange(A.nrows, dtype=np.int32) * 7 % 13
    B = from_edges(u, v, w + h[u] - h[v], shape=A.nrows)
    P = cuts(B, comm)
    same("negative weights", lambda M: al.sssp(M, 1, return_parents=True), P, B)
    same("negative weights, several", lambda M: al.sssp(M, sources=[1, 3], return_parents=True), P, B)
    for dtype in (np.int64, np.float32):
        same(f"{dtype}", lambda M: al.bellman_ford(M, 1), cuts(B.astype(dtype), comm), B.astype(dtype))
    C = from_edges([0, 1, 2, 3], [1, 2, 3, 1], np.array([1, 2, -4, 1], np.int32))
    for fused in (True, False):
        with pytest.raises(al.NegativeCycle) as found:
            al.bellman_ford(cuts(C, comm), 0, fused=fused)
        assert found.value.cycle == [1, 2, 3, 1]


def check_cycles(comm: Any) -> None:
    """The very cycle that one process finds, where there are many."""
    found = []
    for seed in range(4):
        A: Any = rmat(5, dtype=np.int32, high=9, seed=seed)
        A = A.mapped(lambda values, seed=seed: (values - seed - 1).astype(np.int32))
        for fused in (True, False):
            try:
                expected = al.bellman_ford(A, 1, fused=fused).tolist()
            except al.NegativeCycle as error:
                expected = error.cycle
                found.append(expected)
                with pytest.raises(al.NegativeCycle) as error_of_parts:
                    al.bellman_ford(cuts(A, comm), 1, fused=fused)
                assert error_of_parts.value.cycle == expected
            else:
                assert al.bellman_ford(cuts(A, comm), 1, fused=fused).tolist() == expected
    assert len({*map(tuple, found)}) > 2


def check_errors_from_several_sources(comm: Any) -> None:
    """Each process looks at other sources, and all raise the error that the first of these has."""
    two = from_edges([0, 1, 2, 3, 4, 5, 6], [1, 2, 1, 4, 5, 4, 6], np.array([1, 2, -4, 1, 2, -9, 1], np.int32))
    far = from_edges([0, 1, 2, 3, 4], [1, 2, 3, 4, 5], np.full(5, 2**30, np.int32), shape=7)
    both: Any = ewise_union(two, 0, from_edges([6, 0], [6, 6], np.array([2**31 - 2] * 2, np.int32)), 0, "plus")
    for A, sources in (
        (two, [0, 3]),
        (two, [3, 0]),
        (two, [6, 6, 6, 3, 0]),
        (two, [6, 6, 0, 6, 6, 3]),
        (far, [6, 4, 0, 1, 3]),
        (far, [0, 6]),
        (both, [3, 0]),
        (both, [0, 3, 6]),
        (two.astype("float64"), [3, 0, 6, 6]),
    ):
        for call in (
            lambda M, sources=sources: sssp(M, sources=sources),
            lambda M, sources=sources: sssp(M, sources=sources, return_parents=True),
            lambda M, sources=sources: al.bellman_ford(M, sources=sources),
            lambda M, sources=sources: al.fewest_edges(M, sources=sources),
            lambda M: al.all_pairs(M, method="searches"),
            lambda M: al.closeness_centrality(M, weighted=True),
        ):
            found = []
            for M in (A, cuts(A, comm)):
                with pytest.raises((ValueError, OverflowError)) as error:
                    call(M)
                found.append((error.type, str(error.value), getattr(error.value, "cycle", None)))
            assert found[0] == found[1]
            assert comm is None or len({*map(repr, comm.allgather(found[1]))}) == 1


def check_reading(comm: Any) -> None:
    """Every kind of file, read in shares, is what one process reads; an error names the line."""
    folder = told(comm, tempfile.mkdtemp)
    data, A = Path(__file__).parent / "data", graphs()["rmat"]
    if comm is None or comm.Get_rank() == 0:
        write(f"{folder}/folder/", A, labels=np.arange(A.nrows) * 3)
        write(f"{folder}/archive.npz", A)
        lines = [f"{u * 7} {v * 7 + 3} {w}" for u, v, w in zip(*A.to_edges(), strict=True)]
        (Path(folder) / "gaps.txt").write_bytes("\r\n".join(["# ids with gaps", *lines]).encode())
        (Path(folder) / "real.el").write_text("\n".join([*lines, "5 6 2.5"]))
        (Path(folder) / "empty.gr").write_text("p sp 7 0\n")
        (Path(folder) / "bad.gr").write_text("p sp 9 60\n" + "a 1 2 3\n" * 40 + "a 1 x 3\n" + "a 1 2 3\n" * 19)
        dense = "\n".join(map(str, np.arange(144) % 5))
        (Path(folder) / "dense.txt").write_text(f"%%MatrixMarket matrix array real general\n12 12\n{dense}\n")
        banner = (data / "karate.mtx").read_text()
        (Path(folder) / "banner.edges").write_text("\n" + banner)
        scipy.sparse.save_npz(f"{folder}/scipy.npz", scipy.sparse.coo_array(A.to_scipy()))
        (Path(folder) / "few.gr").write_text("p sp 9 60\n" + "a 1 2 3\n" * 40)
    told(comm, lambda: None)
    names = ["gaps.txt", "real.el", "empty.gr", "archive.npz", "folder", "dense.txt", "banner.edges", "scipy.npz"]
    ours = ["dimacs9-sample.gr", "tinyEWD.txt", "west0067.mtx", "karate.mtx", "p2p-Gnutella08.txt.gz"]
    for file in [Path(folder) / name for name in names] + [data / name for name in ours]:
        expected, labels = read(file, return_labels=True)
        P, ids = in_shares(file, comm)
        assert (P.equals(expected), ids.tolist()) == (True, labels.tolist()), file
    both: Any = in_shares(data / "tinyEWD.txt", comm, directed=False, dtype=np.float32)[0]
    assert both.equals(read(data / "tinyEWD.txt", directed=False, dtype=np.float32))
    with pytest.raises((ValueError, ParticipantError), match=r"bad\.gr:42: expected 'a u v w'"):
        in_shares(Path(folder) / "bad.gr", comm)
    with pytest.raises((ValueError, ParticipantError), match="promises 60 edges, the file holds 40"):
        in_shares(Path(folder) / "few.gr", comm)
    told(comm, lambda: shutil.rmtree(folder))


def told(comm: Any, make: Callable[[], Any]) -> Any:
    """What rank 0 makes, on all, once all are here."""
    if comm is None:
        return make()
    comm.Barrier()
    return comm.bcast(make() if comm.Get_rank() == 0 else None)


def in_shares(file: Path, comm: Any, **how: Any) -> tuple[Partitioned, Any]:
    if comm is not None:
        return read(file, return_labels=True, comm=comm, **how)
    directed, dtype = how.get("directed", True), how.get("dtype")
    P, ids = formats.io._in_parts(str(file), Group(), None, directed, dtype, False)
    return P, np.array(ids)


def check_cutting(comm: Any) -> None:
    """Matrices of every dtype, transposed ones, and one that only the first process has."""
    A = graphs(comm)["rmat"]
    for dtype in (bool, np.int64, np.float32, np.float64):
        B = A.pattern() if dtype is bool else A.astype(dtype)
        P = cuts(B, comm)
        assert P.equals(B)
        assert P.T.equals(B.T.to(CSR))
        assert P.to(CSR).equals(B)
        same(f"bfs of {dtype}", lambda M: al.bfs(M.T, 1, return_parents=True), P, B)
    if comm is None:
        return
    Q = partition(A if comm.Get_rank() == 0 else None, comm)
    assert Q.equals(A)
    assert Q.starts == cuts(A, comm).starts
    same("scattered", lambda M: al.sssp(M, 1), Q, A)
    if comm.Get_size() > 2:
        with pytest.raises(ParticipantError, match=r"got one on \[0, 1\]"):
            partition(A if comm.Get_rank() < 2 else None, comm)
        with pytest.raises(ParticipantError, match="rank 1 differs from rank 0 in its matrix"):
            partition(A if comm.Get_rank() != 1 else A.astype(float), comm)
    with pytest.raises((ParticipantError, ZeroDivisionError), match="rank 0 failed in step|division"):
        divided(Q.group)
    assert Q.group.told("again", comm.Get_rank()) == list(range(comm.Get_size()))


def divided(group: Group) -> None:
    """An error of the first process, which the others hear of at the next step."""
    with group.guarded("dividing"):
        1 // group.rank
    group.told("after", None)


def check_missing(comm: Any) -> None:
    """What has no cell says so."""
    P = cuts(graphs()["rmat"], comm)
    with pytest.raises((NotImplementedError, TypeError, AttributeError), match="Partitioned"):
        al.factor(P)


def same(name: str, call: Call, P: Any, A: Any, on_host: Call | None = None) -> None:
    """Has the call the same bits on parts?  on_host: the same call with vectors on the host."""
    expected = (on_host or call)(A)
    try:
        assert_equal(call(P), expected)
    except Exception as error:
        error.add_note(f"in {name}")
        raise


ON_GPUS = ["check_verbs", "check_written", "check_algorithms", "check_definitions", "check_negative"]

CHECKS = {name: check for name, check in list(globals().items()) if name.startswith("check_")}


def main(names: list[str]) -> None:
    global DEVICE
    from mpi4py import MPI

    comm = MPI.COMM_WORLD
    if "--cuda" in names:
        DEVICE, names = "cuda", [name for name in names if name != "--cuda"] or ON_GPUS
    by_whom = nullcontext if "--alone" in names else by_all
    names = [name for name in names if name != "--alone"]
    for name in names or CHECKS:
        start = perf_counter()
        with by_whom():
            CHECKS[name](comm)
        if comm.Get_rank() == 0:
            print(f"{name} {perf_counter() - start:.1f} s")
    if comm.Get_rank() == 0:
        print("all is as in one process")


if __name__ == "__main__":
    main(sys.argv[1:])
