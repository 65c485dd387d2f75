"""read on files damaged at random: each is read, alike by both loops, or refused with its name and line.

Nothing takes more than a stated memory or time, whatever a file says of itself.
"""

from __future__ import annotations

import gzip
import io
import re
import signal
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from formats import Matrix, from_edges, read
from formats.io import source
from formats.matrix.base import find_format

from .files import THE_GRAPH_AS, read_by

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
    if part.dtype.kind in "iu":
        others += [
            part + 1,
            part.astype("int64") * -(2**20),
            part.astype("float32"),
            part.astype("uint64"),
            part.astype(">i4"),
        ]
    pick = random.integers(len(others) + 1)
    replaced = {name: others[pick]} if pick < len(others) else {}
    return {key: kept for key, kept in parts.items() if key != name} | replaced
