"""Factors in files, and the commands `semiring factor` and `semiring route`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from algorithms import Factor, NegativeCycle, factor, sssp
from algorithms.data import rome99
from formats import from_edges, read
from semiring import MONOIDS, BinaryOp, MinPlus, Semiring

from .test_elimination import KINDS, drawn, roads


def test_a_factor_is_read_as_it_was_written(tmp_path: Path) -> None:
    for seed in range(40):
        A, semiring = drawn(seed, seed % (len(KINDS) - 1))
        try:
            F = factor(A, semiring)
        except NegativeCycle:
            continue
        F.write(tmp_path / "f.factor")
        G = Factor.read(tmp_path / "f.factor")
        assert (G.semiring, G.symbolic.how, G.nbytes) == (F.semiring, F.symbolic.how, F.nbytes)
        everyone = range(A.nrows)
        np.testing.assert_array_equal(G.solve(sources=everyone), F.solve(sources=everyone))
        assert G.distance(0, A.nrows - 1) == F.distance(0, A.nrows - 1)


def test_a_larger_factor_with_names(tmp_path: Path) -> None:
    A = roads(40)
    F = factor(A)
    F.write(str(tmp_path / "f"), labels=np.arange(A.nrows).astype(str))
    np.testing.assert_array_equal(Factor.read(str(tmp_path / "f")).solve(5), sssp(A, 5))
    assert Factor.read(tmp_path / "f").refactor(A).path(3, 77) == F.path(3, 77)
    assert [*tmp_path.iterdir()] == [tmp_path / "f"]


def test_damaged_factors_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "f.factor"
    F = factor(roads(5))
    F.write(file)
    whole = file.read_bytes()
    with np.load(file) as arrays:
        parts: dict[str, Any] = dict(arrays)
    changed: list[tuple[dict[str, Any], str]] = [
        ({"version": np.array(2)}, "version 2"),
        ({"order": parts["order"][::-1]}, "postorder"),
        ({"order": parts["order"][:-1]}, "f.factor"),
        ({"order": np.zeros_like(parts["order"])}, "once"),
        ({"down": parts["down"][:-1], "up": parts["up"][:-1]}, "numbers"),
        ({"down": parts["down"].astype(float), "up": parts["up"].astype(float)}, "numbers of float64"),
        ({"indices": parts["indices"] + 100}, "f.factor"),
        ({"semiring": "min_nothing"}, "min_nothing"),
        ({"labels": np.zeros(3)}, "labels"),
        ({"values": np.array([None] * parts["values"].size)}, "f.factor"),
    ]
    for change, why in changed:
        with file.open("wb") as stream:
            np.savez(stream, **(parts | change))
        with pytest.raises(ValueError, match=why):
            Factor.read(file)
    for cut in (b"", b"PK", whole[: len(whole) // 2], b"p sp 3 3\n"):
        file.write_bytes(cut)
        with pytest.raises(ValueError, match="this is no factor"):
            Factor.read(file)
    np.savez_compressed(tmp_path / "packed.npz", **parts)
    with pytest.raises(ValueError, match="compressed"):
        Factor.read(tmp_path / "packed.npz")
    with pytest.raises(OSError, match="nowhere"):
        Factor.read(tmp_path / "nowhere")


def test_bytes_of_any_factor_may_be_damaged(tmp_path: Path, refused: Any) -> None:
    file = tmp_path / "f.factor"
    factor(roads(5)).write(file)
    whole = file.read_bytes()
    end = whole.rindex(b"PK\x05\x06")
    entry = whole.index(b"PK\x01\x02")
    for at, value in (
        (entry + 10, 99),
        (entry + 8, 1),
        (entry + 6, 99),
        (entry + 42, 255),
        (end + 16, 255),
        (200, 255),
    ):
        damaged = bytearray(whole)  # compression, flags, version, offset of a member; of the directory; an array
        damaged[at] ^= value
        file.write_bytes(damaged)
        with pytest.raises(ValueError, match=f"{file}: this is no factor that can be read"):
            Factor.read(file)
        assert f"{file}: this is no factor that can be read" in refused("route", file, "--from", 1, "--to", 2)
    (tmp_path / "graph.npz").write_bytes(whole[:100])
    assert "this is no .npz archive" in refused("route", tmp_path / "graph.npz", "--from", 1, "--to", 2)


def test_semirings_of_your_own_stay_in_memory(tmp_path: Path) -> None:
    mine = Semiring(MONOIDS["min"], BinaryOp("mine", scalar=lambda a, b: a + b), one=0, laws=MinPlus.laws)
    with pytest.raises(ValueError, match="stay in memory"):
        factor(roads(4), mine).write(tmp_path / "f")


# --- the commands -----------------------------------------------------------------------------------------------------


@pytest.fixture
def made(fine: Any, tmp_path: Path) -> Path:
    out = tmp_path / "rome.factor"
    table = fine("factor", rome99, "-o", out).table
    assert table["arcs of the factor"] == f"{Factor.read(out).symbolic.entries:,}"
    assert {"vertices", "ordered by", "levels", "operations", "bytes", "reading", "factoring"} <= set(table)
    return out


def test_routes_of_a_file_and_of_its_factor(fine: Any, refused: Any, made: Path) -> None:
    A = read(rome99)
    length = int(sssp(A, 0)[7])
    for file in (rome99, made):
        out = fine("route", file, "--from", 1, "--to", 8, "--to", 1).out
        assert f"1 to 8: length {length:,}, 4 arcs\n  1 -> 2: " in out
        assert out.endswith("1 to 1: length 0, 0 arcs\n")
        [found] = json.loads(fine("route", file, "--from", 1, "--to", 8, "--json").out)
        assert (found["path"], sum(found["legs"]), found["distance"]) == ([1, 2, 4, 5, 8], length, length)
        assert "--to 0 is not a vertex" in refused("route", file, "--from", 1, "--to", 0)
    assert "give --from and --to, or --table" in refused("route", made, "--from", 1)


def test_tables_of_a_file_and_of_its_factor(fine: Any, file: Any, made: Path, tmp_path: Path) -> None:
    A, sources, targets = read(rome99), file("s.txt", "1\n5\n"), file("t.txt", "8\n\n9\n1\n")
    D = sssp(A, sources=[0, 4])[:, [7, 8, 0]]
    lines = [",8,9,1", *(",".join(map(str, (u, *row))) for u, row in zip((1, 5), D.tolist(), strict=True))]
    for each in (rome99, made):
        assert fine("route", each, "--table", sources, targets).out.splitlines() == lines
    fine("route", made, "--table", sources, targets, "--output", tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text().splitlines() == lines


def test_ids_that_are_no_text_are_named(refused: Any, file: Any, made: Path) -> None:
    ids, good = file("ids.txt", b"1\n\xff\n"), file("good.txt", "1\n")
    assert f"{ids}: expected text in UTF-8" in refused("route", made, "--table", good, ids)


def test_names_and_what_cannot_be_reached(fine: Any, refused: Any, file: Any, tmp_path: Path) -> None:
    towns = file("towns.csv", 'source,target,weight\nRome,"Paris, Texas",5\nOslo,Rome,2\n')
    out = tmp_path / "towns.factor"
    fine("factor", towns, "-o", out)
    for each in (towns, out):
        assert (
            "Rome cannot be reached from Paris, Texas"
            in fine("route", each, "--from", "Paris, Texas", "--to", "Rome").out
        )
        names = file("names.txt", "Oslo\nParis, Texas\n")
        out_lines = fine("route", each, "--table", names, names).out.splitlines()
        assert [line.rstrip("0.") for line in out_lines][0] == ',Oslo,"Paris, Texas"'
        assert out_lines[2].startswith('"Paris, Texas",,0')
    assert "folder that does not exist" in refused("factor", towns, "-o", tmp_path / "no" / "f")
    assert "is the file to read" in refused("factor", towns, "-o", towns)
    assert "unknown semiring" in refused("factor", towns, "-o", out, "--semiring", "min_nothing")
    assert from_edges([0], [1]).nnz == 1
