"""read on files damaged at random: each is read, alike by both loops, or refused with its name and line.

Nothing takes more than a stated memory or time, whatever a file says of itself. Files of all kinds, by every reader,
are in the last test: some of them at each run, 20,000 of them by `pytest -m nightly`.
"""

from __future__ import annotations

import gzip
import io
import re
import shutil
import signal
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

from algorithms import Factor, Graph, factor
from algorithms.elimination.cpu.archive import is_factor
from formats import Matrix, from_edges, open_mapped, read, write
from formats.io import source
from formats.matrix.base import find_format

from .files import MATRIX_MARKET, THE_GRAPH_AS, read_by

MAX_BYTES = 200 << 20  # the limit on dimensions allows some vectors of 2**22 elements
MAX_SECONDS = 5.0
Random = np.random.Generator

NUMBERS = (
    *(b"0", b"-0", b"+7", b"1", b"-1", b"00000000000000000000000000012", b"2147483647", b"-2147483648", b"4194305"),
    *(b"9223372036854775807", b"9223372036854775808", b"-9223372036854775808", b"-9223372036854775809", b"1e999"),
    *(b"536870912", b"1000000000000", b"9" * 5000, b"1.5", b".5", b"5.", b".", b"1e5", b"1e", b"-1E-400", b"inf"),
    *(
        b"-Infinity",
        b"nan",
        b"0x10",
        b"1_0",
        b"0.1000000000000000055511151231257827",
        b"9007199254740993.0",
        b"",
        b"3x",
    ),
)
PIECES = (
    *(b"\n", b"\r", b"\r\n", b"\r\r\n", b"\r \n", b" ", b"\t", b",", b",,", b"#", b"%", b"c", b"a ", b"p tw 3 3\n"),
    *(b"p sp 3 3\n", b"\xef\xbb\xbf", b"\0", b"\xff", b"\x0b", b"\x1c", b"e", b"-", b".", b"%%MatrixMarket matrix"),
    *(b" symmetric", b" skew-symmetric", b" pattern", b" integer", b" real", b"source,target\n", b"# c\n" * 9),
)


XML_PIECES = (
    *(
        b"<edge source='a' target='b'/>",
        b"<data key='d0'>",
        b"</data>",
        b"<node id='b'>",
        b"</node>",
        b"<graph>",
        b"</graph>",
    ),
    *(
        b" directed='true'",
        b" directed='no'",
        b"<!--",
        b"-->",
        b"&lt;",
        b"&nbsp;",
        b"<![CDATA[",
        b"<default>inf</default>",
    ),
    *(
        b" for='node'",
        b" attr.type='boolean'",
        b"<port name='p'/>",
        b"<hyperedge/>",
        b"<?x?>",
        b"<key id='d0'/>",
        b"]]>",
    ),
)


@cache
def texts() -> dict[str, bytes]:
    """Small good files of every text format, by name."""
    random = np.random.default_rng(5)
    src, dst, weights = random.integers(0, 12, 40), random.integers(0, 12, 40), random.integers(-99, 99, 40)
    whole, real = from_edges(src, dst, weights, shape=12), from_edges(src, dst, random.normal(size=40), shape=12)
    symmetric = from_edges(np.append(src, dst), np.append(dst, src), shape=12)
    skew = b"%%MatrixMarket matrix coordinate integer skew-symmetric\n4 4 3\n2 1 5\n3 1 -2147483648\n4 3 9\n"
    files = {name: text.encode() for name, text in THE_GRAPH_AS.items()} | {"skew.mtx": skew}
    for name, A, kind in [
        *(("whole.gr", whole, "dimacs"), ("pace.gr", symmetric, "pace"), ("whole.mtx", whole, "mtx")),
        *(("real.mtx", real, "mtx"), ("real.txt", real, "algs4"), ("list.tsv", whole, "edges")),
        *(("list.txt", real, "edges"), ("real.csv", real, "csv")),
    ]:
        files[name] = written(A, kind)
    return files


def written(A: Matrix, kind: str) -> bytes:
    from formats.io import _kind_called

    stream = io.BytesIO()
    _kind_called(kind).write(stream, A, None)
    return stream.getvalue()


# --- mutations --------------------------------------------------------------------------------------------------------


def flip(random: Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for at in random.integers(0, max(len(data), 1), random.integers(1, 4)):
        if changed:
            changed[at] = random.integers(0, 256)
    return bytes(changed)


def cut(random: Random, data: bytes) -> bytes:
    start, stop = sorted(random.integers(0, len(data) + 1, 2))
    return data[:start] + data[stop:] if random.random() < 0.7 else data[:start]


def insert(random: Random, data: bytes) -> bytes:
    at = random.integers(0, len(data) + 1)
    return data[:at] + PIECES[random.integers(len(PIECES))] + data[at:]


def repeat(random: Random, data: bytes) -> bytes:
    start, stop = sorted(random.integers(0, len(data) + 1, 2))
    return data[:stop] + data[start:stop] * int(random.integers(1, 4)) + data[stop:]


def renumber(random: Random, data: bytes) -> bytes:
    found = list(re.finditer(rb"[-+.\d]+", data))
    if not found:
        return data
    number = found[random.integers(len(found))]
    return data[: number.start()] + NUMBERS[random.integers(len(NUMBERS))] + data[number.end() :]


def join(random: Random, data: bytes) -> bytes:
    ends = [at for at, byte in enumerate(data) if byte == ord("\n")]
    if not ends:
        return data
    at = ends[random.integers(len(ends))]
    return data[:at] + b" " * int(random.integers(0, 2)) + data[at + 1 :]


def end_otherwise(random: Random, data: bytes) -> bytes:
    ends = (b"\r\n", b"\r", b"\r\r\n", b"\r \n", b" \n", b"\n\n", b"\n\r")
    return data.replace(b"\n", ends[random.integers(len(ends))])


def mark(random: Random, data: bytes) -> bytes:
    return (b"\xef\xbb\xbf", b"\xff\xfe", b"\n", b"c\n", b"#\n")[random.integers(5)] + data


def mark_up(random: Random, data: bytes) -> bytes:
    at = random.integers(0, len(data) + 1)
    return data[:at] + XML_PIECES[random.integers(len(XML_PIECES))] + data[at:]


MUTATIONS: tuple[Callable[[Random, bytes], bytes], ...] = (
    *(renumber, renumber, insert, insert, flip, cut, repeat, join, end_otherwise, mark),
)


def damaged(random: Random, data: bytes, mutations: tuple[Callable[[Random, bytes], bytes], ...]) -> bytes:
    for _ in range(random.integers(0, 4)):
        data = mutations[random.integers(len(mutations))](random, data)
    return data


# --- what must be true ------------------------------------------------------------------------------------------------


@contextmanager
def limits(*, of_memory: bool = True) -> Iterator[None]:
    """AssertionError from what takes the processor for more than MAX_SECONDS, or more than MAX_BYTES.

    of_memory: is that watched, too, which makes Python several times as slow?
    """

    def late(*_: object) -> None:
        raise AssertionError(f"this takes more than {MAX_SECONDS} s of the processor")

    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, MAX_SECONDS)
    if of_memory:
        tracemalloc.start()
    try:
        yield
        assert not of_memory or tracemalloc.get_traced_memory()[1] < MAX_BYTES
    finally:
        tracemalloc.stop()
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def outcome(path: Path, seed: int) -> tuple[Matrix, list[int]] | str:
    """What `read` gives, or what it says of a file that it refuses. Of every fourth seed memory is watched."""
    try:
        with limits(of_memory=seed % 4 == 0):
            A, labels = read(path, return_labels=True)
            return A, labels.tolist() if labels.size < 1000 else labels[:1000].tolist()
    except ValueError as error:
        return str(error)


@pytest.fixture(scope="module", autouse=True)
def _everything_is_imported_and_compiled(tmp_path_factory):
    folder = tmp_path_factory.mktemp("first")
    with pytest.MonkeyPatch.context() as monkeypatch:
        read_by("compiled", monkeypatch)
        for name, data in (texts() | {"a.npz": written(from_edges([0], [1]), "npz")}).items():
            (folder / name).write_bytes(data)
            read(folder / name)
        (folder / "ids.txt").write_text(f"0 {2**40} 1\n")  # which the loop for wider ids takes
        with suppress(ValueError):
            read(folder / "ids.txt")


@pytest.mark.long
def test_damaged_text_is_read_by_both_loops_alike_or_refused(fuzz_seeds, tmp_path, monkeypatch):
    names, worded = sorted(texts()), re.compile(r"\d+: |:? ?the gzip data are damaged")
    for seed in fuzz_seeds:
        random = np.random.default_rng(seed)
        name = names[random.integers(len(names))]
        data = damaged(random, texts()[name], MUTATIONS)
        if random.random() < 0.1:
            name, data = name + ".gz", gzip.compress(data, 1)
            data = damaged(random, data, (flip, cut, repeat)) if random.random() < 0.7 else data
        path = tmp_path / name
        path.write_bytes(data)
        found = []
        for loop in ("careful", "compiled"):
            read_by(loop, monkeypatch)
            monkeypatch.setattr(source, "BLOCK_BYTES", int(random.integers(40, 4000)))
            found.append(outcome(path, seed))
        message = f"seed {seed}: {name} {data[:2000]!r}: {found}"
        if isinstance(found[0], str) or isinstance(found[1], str):
            for said in found:
                assert isinstance(said, str), message
                assert said.startswith(f"{path}:"), message
                assert worded.match(said.removeprefix(f"{path}:").lstrip()), message
        else:
            (A, labels), (B, other_labels) = found
            assert A.equals(B), message
            assert A.dtype == B.dtype, message
            assert labels == other_labels, message
            A.check()


@pytest.mark.long
def test_damaged_archives_are_read_or_refused(fuzz_seeds, tmp_path):
    rows, cols, values = [0, 0, 1, 4, 4], [1, 2, 4, 0, 3], [1, -2, 3, 4, 5]
    seeds = [from_edges(rows, cols, values, shape=5).to(find_format(name)) for name in Matrix.formats]
    for seed in fuzz_seeds[: len(fuzz_seeds) // 4]:
        random = np.random.default_rng(seed)
        A = seeds[random.integers(len(seeds))]
        name = ("a.npz", "a.npz.gz")[int(random.random() < 0.2)]
        parts = dict(np.load(io.BytesIO(written(A, "npz"))))
        for _ in range(random.integers(0, 3)):
            parts = changed(random, parts)
        stream = io.BytesIO()
        (np.savez if random.random() < 0.5 else np.savez_compressed)(stream, **parts)
        data = stream.getvalue()
        if random.random() < 0.5:
            data = damaged(random, data, (flip, flip, cut, repeat))
        path = tmp_path / name
        path.write_bytes(gzip.compress(data, 1) if name.endswith(".gz") else data)
        try:
            found = outcome(path, seed)
        except Exception as error:
            raise AssertionError(f"seed {seed}: {parts}") from error
        if isinstance(found, str):
            assert found.startswith(f"{path}:"), f"seed {seed}: {found}"
        else:
            found[0].check()


def changed(random: Random, parts: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """An archive's arrays, one of them another."""
    name = sorted(parts)[random.integers(len(parts))]
    part = parts[name]
    others = [
        *(np.array(2**29), np.array([2**29, 2**29]), np.array(-1), np.array("csr"), part.astype(str), part[..., None]),
        *(np.zeros(0), np.array([2**62, 2**62]), np.array([1e300, np.nan]), np.array(True), np.array(1j), part.ravel()),
        *(np.append(part, part), np.array(part.tolist()), np.arange(part.size), np.zeros((0, 2**40), np.int8)),
    ]
    if part.size and part.dtype.kind in "iuf":
        poked = part.copy()  # the commonest damage that every check of kinds and lengths lets pass
        poked.flat[random.integers(part.size)] = random.choice([-(part.dtype.kind != "u"), 0, 1, 2, part.size, 127])
        others += [poked] * 8
    if part.dtype.kind in "iu":
        others += [
            part + 1,
            np.asarray(part, "int64") << 20,
            part.astype("float32"),
            part.astype("uint64"),
            part.astype(">i4"),
        ]
    pick = random.integers(len(others) + 1)
    replaced = {name: others[pick]} if pick < len(others) else {}
    return {key: kept for key, kept in parts.items() if key != name} | replaced


# --- files of all kinds -----------------------------------------------------------------------------------------------

MOST_SAID = 400
"""Characters of an error, beside the file's name."""
ENTRIES = ([0, 0, 1, 4, 4], [1, 2, 4, 0, 3], [1, -2, 3, 4, 5])
XML = """<?xml version="1.0" encoding="utf-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="d0" for="edge" attr.name="weight" attr.type="double"><default>1.5</default></key>
<key id="d1" for="edge" attr.name="name" attr.type="string"/> <key id="d2" for="node" attr.name="x" attr.type="int"/>
<graph edgedefault="undirected"><node id="a"><data key="d2">7</data></node><node id="b"/><node id="c"/>
<edge source="a" target="b"><data key="d0">4</data><data key="d1">A &amp; B</data></edge>
<edge source="b" target="c" directed="true"><data key="d0">-2.5e3</data></edge><edge source="c" target="c"/>
</graph></graphml>
"""
TABLES = {
    "names.csv": 'from,to,km,road\nParis,Dijon,315,A6\nDijon,Lyon,195,"A31, A6"\nLyon,Z\u00fcrich,430,A40\n',
    "names.tsv": "source\ttarget\nParis\tLyon\nLyon\tRome\n",
    "names.psv": "Paris|Dijon|3.5\nDijon|Lyon|1e2\n",
    "banner.csv": MATRIX_MARKET + "real symmetric\n4 4 3\n2 1 1.5D+01\n4 3 2\n3 3 -1\n",
    "banner.dat": "%MatrixMarket matrix coordinate pattern symmetric\n% c\n4 4 2\n2 1\n4 3\n",
    "dense.mtx": "%%MatrixMarket matrix array integer general\n2 2\n1\n0\n-3\n4\n",
    "dense.txt": "%%MatrixMarket matrix array real skew-symmetric\n3 3\n1.5\n0\n-3d0\n",
}


@cache
def of_all_kinds() -> dict[str, bytes | dict[str, np.ndarray]]:
    """Small good files of every kind by name: bytes, or the arrays of an archive."""
    A = from_edges(*ENTRIES, shape=5)
    files: dict[str, bytes | dict[str, np.ndarray]] = {name: text.encode() for name, text in TABLES.items()}
    files |= texts() | {"graph.graphml": XML.encode()}
    for fmt in Matrix.formats:
        files[f"{fmt}.npz"] = dict(np.load(io.BytesIO(written(A.to(fmt), "npz"))))
    for kind in ("csr", "csc", "coo", "bsr", "dia"):
        stream = io.BytesIO()
        scipy.sparse.save_npz(stream, getattr(scipy.sparse, f"{kind}_array")(A.to_dense()))
        files[f"scipy-{kind}.npz"] = dict(np.load(io.BytesIO(stream.getvalue())))
    return files


@cache
def of_a_factor() -> dict[str, np.ndarray]:
    import tempfile

    rows = np.arange(12)
    with tempfile.TemporaryDirectory() as folder:
        factor(from_edges(rows, (rows + 1) % 12, rows + 1)).write(f"{folder}/f", labels=rows)
        return dict(np.load(f"{folder}/f"))


def made_and_damaged(random: Random, folder: Path) -> Path:
    """A damaged file, or folder of arrays, of a kind drawn at random."""
    pick = random.integers(10)
    if pick == 0:
        return damaged_folder(random, folder / "mapped")
    names = ["a.factor"] if pick == 1 else ["graph.graphml"] if pick == 2 else sorted(of_all_kinds())
    name = names[random.integers(len(names))]
    content = of_a_factor() if pick == 1 else of_all_kinds()[name]
    if isinstance(content, dict):
        for _ in range(random.integers(0, 3)):
            content = changed(random, content)
        stream = io.BytesIO()
        (np.savez if pick == 1 or random.random() < 0.5 else np.savez_compressed)(stream, **content)
        data, mutations = stream.getvalue(), (flip, flip, cut, repeat)
        data = damaged(random, data, mutations) if random.random() < 0.5 else data
    else:
        data = damaged(random, content, (*MUTATIONS, *[mark_up] * 10) if pick == 2 else MUTATIONS)
    if random.random() < 0.15:
        name, data = f"{name}.gz", gzip.compress(data, 1)
        data = damaged(random, data, (flip, cut, repeat)) if random.random() < 0.5 else data
    path = folder / name
    path.write_bytes(data)
    return path


def damaged_folder(random: Random, folder: Path) -> Path:
    """A folder of mapped arrays, one of whose files is another, or is missing."""
    formats = sorted(Matrix.formats)
    A = from_edges(*ENTRIES, shape=5).to(find_format(formats[random.integers(len(formats))]))
    write(folder, A, labels=range(10, 15) if random.random() < 0.5 else None)
    files = sorted(folder.iterdir())
    file = files[random.integers(len(files))]
    if file.suffix == ".npy" and random.random() < 0.5:
        [array] = changed(random, {"": np.load(file)}).values() or [np.zeros(0)]
        np.save(file, array)
    elif random.random() < 0.1:
        file.unlink()
    else:
        mutations = MUTATIONS if file.suffix == ".json" else (flip, flip, cut, repeat)
        file.write_bytes(damaged(random, file.read_bytes(), mutations))
    return folder


def read_factor(path: Path) -> Matrix:
    F = Factor.read(path)
    F.solve(0)
    return F.A


def read_labelled(path: Path) -> Matrix:
    return read(path, return_labels=True)[0]


def read_graph(path: Path) -> Matrix:
    return Graph.read(path).matrix


def check_seed(seed: int, folder: Path) -> None:
    """A damaged file is a matrix that keeps its format's rules, or an error that names it in a few words."""
    random = np.random.default_rng(seed)
    path = made_and_damaged(random, folder)
    readers: list[Callable[[Path], Matrix]] = [read, read_labelled, read_graph]
    readers += [open_mapped] if path.is_dir() else [read_factor] if path.name.startswith("a.factor") else []
    for reader in readers:
        about = f"seed {seed}: {path.name} by {reader.__name__}"
        try:
            with limits(of_memory=seed % 8 == 0):
                reader(path).check()
        except (ValueError, OSError) as error:
            said = str(error)
            assert str(path) in said, f"{about}: {said}"
            assert len(said.replace(str(path), "")) <= MOST_SAID, f"{about}: {said}"
        except Exception as error:
            raise AssertionError(about) from error
    if not path.is_dir():
        is_factor(path)
        path.unlink()
    else:
        shutil.rmtree(path)


@pytest.mark.long
def test_a_share_of_damaged_files_of_all_kinds_is_read_or_refused_by_name(fuzz_seeds, tmp_path):
    for seed in fuzz_seeds[::20]:
        check_seed(seed, tmp_path)


@pytest.mark.nightly
def test_damaged_files_of_all_kinds_are_read_or_refused_by_name(fuzz_seeds, tmp_path):
    for seed in fuzz_seeds:
        check_seed(seed, tmp_path)


@pytest.mark.long
def test_the_command_line_refuses_damaged_files_in_a_sentence(tmp_path, run):
    refused = 0
    for seed in range(40):
        path = made_and_damaged(np.random.default_rng(seed), tmp_path)
        command = ("route", path, "--from", "1", "--to", "2") if path.suffix == ".factor" else ("info", path)
        result = run(*command)
        assert result.code in (0, 2), f"seed {seed}: {path} {result}"
        if result.code:
            refused += 1
            assert re.fullmatch(r"semiring: [^\n]{,600}\n", result.err), f"seed {seed}: {result}"
        if path.is_dir():
            shutil.rmtree(path)
    assert refused > 10
