"""Reading and writing graphs: one function each, for every file format of `KINDS`, plain or compressed (`.gz`).

A new format is a module that declares a `FileKind`, and a line in `KINDS`.
"""

from __future__ import annotations

import os
from typing import Literal, NotRequired, TypedDict, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from ..arrays import Array
from ..matrix.base import Matrix
from ..parts.group import TIMEOUT, Communicator, Group
from ..parts.partitioned import Partitioned
from . import algs4, dimacs, edge_list, mapped, matrix_market, npz, pace, shares
from .kind import Content, FileKind, check_labels
from .mapped import open_mapped
from .opening import Held, Readable, compression_of, name_of, suffix_of
from .source import Source, open_source
from .writing import replacing

__all__ = ["KINDS", "keeps_labels", "open_mapped", "read", "write"]

KINDS = (  # of kinds that share a suffix the last is the usual one, the others are told by how the file opens
    matrix_market.KIND,
    pace.KIND,
    dimacs.KIND,
    algs4.KIND,
    edge_list.KIND,
    edge_list.CSV,
    npz.KIND,
)

Path = str | os.PathLike[str]


class Options(TypedDict, total=False):
    """The parameters of `read` that do not decide what it returns."""

    format: str | None
    directed: bool
    dtype: DTypeLike | None
    progress: bool | None
    force: bool


class InParts(Options):
    """The parameters of `read` for several processes."""

    comm: Communicator
    timeout: NotRequired[float]


@overload
def read(path: Readable, *, return_labels: Literal[False] = ..., **how: Unpack[Options]) -> Matrix: ...
@overload
def read(path: Readable, *, return_labels: Literal[True], **how: Unpack[Options]) -> tuple[Matrix, Array]: ...
@overload
def read(path: Readable, *, return_labels: Literal[False] = ..., **how: Unpack[InParts]) -> Partitioned: ...
@overload
def read(path: Readable, *, return_labels: Literal[True], **how: Unpack[InParts]) -> tuple[Partitioned, Array]: ...
def read(
    path: Readable,
    *,
    format: str | None = None,
    directed: bool = True,
    dtype: DTypeLike | None = None,
    return_labels: bool = False,
    progress: bool | None = None,
    force: bool = False,
    comm: Communicator | None = None,
    timeout: float = TIMEOUT,
) -> Matrix | tuple[Matrix, Array]:
    """The matrix of the graph in a file, A[u, v] = weight of u -> v: a CSR, or what an .npz archive holds.

    Args:
        path: the file, or an archive of `scipy.sparse.save_npz`, also compressed (.gz, .bz2, .xz, .zst); "-" for
            standard input; an open file; or a folder that `write` has made, see `open_mapped`.
        format: a name from `KINDS`; by default a Matrix Market banner, else the suffix and the file's opening tell.
        directed: False adds the reverse of every edge. Of parallel edges the least weight stays.
        dtype: of the weights. By default integers give int32, or int64 if any lies outside (-2**31, 2**31 - 1), reals
            give float64, and edges without a weight an int32 1. `inf` is a weight like any other.
        return_labels: also return the file's own id of every vertex: 1..n in .mtx and .gr, 0..n-1 in algs4, the ids
            that occur, ascending, in an edge list.
        progress: show a bar on stderr; by default on a terminal, once reading takes longer than a second.
        force: also read a file that says it has more than 2**22 vertices, and 64 for each edge, or an archive that
            unpacks to more than 64 MiB and 200 times its size.
        comm: an mpi4py communicator, whose processes read the file together: of lines of text each its share, of a
            folder its rows. Of compressed files, .npz and PACE each reads all. The matrix is in parts, see `partition`.
        timeout: seconds that a process waits for the others.

    Returns:
        The matrix, or (matrix, labels).

    Raises:
        ValueError: the file is malformed, as `file:line: what was expected`, or a weight does not fit `dtype`.
        OSError: the file cannot be opened.

    See Also:
        `algorithms.Graph.read`: tables whose vertices have names, and whose columns are chosen.

    Example:
        >>> from algorithms.data import rome99
        >>> read(rome99)
        <CSR 3353×3353, 8859 entries, int32, cpu>
    """
    name = name_of(path)
    if comm is not None:
        if isinstance(name, Held):
            raise ValueError(f"several processes read a file by its path, got {name}")
        P, ids = _in_parts(name, Group(comm, timeout), format, directed, dtype, force)
        return (P, listed(ids)) if return_labels else P
    content = content_of(name, format, progress, force)
    try:
        A = content.matrix(directed, dtype)
        labels = content.labels if return_labels else range(0)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error
    return (A, listed(labels)) if return_labels else A


def content_of(name: str, format: str | None = None, progress: bool | None = None, force: bool = False) -> Content:
    """Reads what a file holds, before it is a matrix."""
    if mapped.is_folder(name):
        return mapped.read(name, force)
    with open_source(name, progress, force) as source:
        return _kind_of(source, format).read(source)


def listed(labels: Array | range) -> Array:
    """Labels as an array."""
    return np.arange(labels.start, labels.stop) if isinstance(labels, range) else labels


def _in_parts(
    name: str, group: Group, format: str | None, directed: bool, dtype: DTypeLike | None, force: bool
) -> tuple[Partitioned, Array | range]:
    """Returns (the matrix in parts, the vertices' ids) of a file that several processes read."""
    shares.first_steps(group, name, (format, directed, dtype))
    if mapped.is_folder(name) and directed and dtype is None:
        return shares.read_folder(name, group)
    with group.guarded("reading"):
        with open_source(name, False, force) as source:
            kind = _kind_of(source, format)
            by_lines = shares.shares_lines(source, kind)
    if by_lines:
        return shares.read_lines(name, kind, group, directed, dtype, force)
    with group.guarded("reading"):
        A, labels = read(name, format=format, directed=directed, dtype=dtype, return_labels=True, force=force)
    return shares.cut_here(A, group), labels


def write(path: Path, A: Matrix, *, labels: ArrayLike | None = None, format: str | None = None) -> None:
    """Write a matrix so that `read` gives it back; the file appears only when it is complete.

    An edge list loses vertices without edges. DIMACS refuses weights that are not integers, and PACE all but symmetric
    matrices of ones. Text does not tell float32 from float64, nor a bool from an integer: only .npz keeps the dtype.

    Args:
        path: the file. A name without a suffix is a folder of memory-mapped arrays, see `open_mapped`.
        A: the matrix.
        labels: (n,) distinct non-negative integers, the vertices' ids in the file; kept by edge lists and .npz, while
            every other format has a numbering of its own.
        format: a name from `KINDS`; by default the suffix tells (.txt: an edge list, .gr: DIMACS).

    Raises:
        ValueError: the format cannot hold the matrix or its labels, or there is no such format.
        OSError: the file cannot be written; what was there before is kept.

    Example:
        >>> import tempfile
        >>> from formats import from_edges
        >>> A = from_edges([0, 1], [1, 0], [5, 9])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write(f"{folder}/graph.mtx", A)
        ...     read(f"{folder}/graph.mtx").equals(A)
        True
    """
    if not isinstance(A, Matrix):
        raise TypeError(f"A must be a Matrix (see from_edges, from_scipy, from_networkx), got {type(A).__name__}")
    name = os.fspath(path)
    ids = None if labels is None else np.asarray(labels)
    if ids is not None:
        check_labels(ids, max(A.shape))
    if format is None and _is_folder_to_write(name):
        mapped.write(name, A, ids)
        return
    kind = _kinds_with_suffix_of(name)[-1] if format is None else _kind_called(format)
    with replacing(name) as stream:
        kind.write(stream, A.to(device="cpu"), ids)


def has_banner(path: Path) -> bool:
    """True if the file's first line says what kind it is, whatever its suffix."""
    with open_source(os.fspath(path), False) as source:
        return _kind_of_banner(source) is not None


def keeps_labels(path: Path) -> bool:
    """True if the file format that the suffix names can hold vertex ids of any kind."""
    if _is_folder_to_write(os.fspath(path)):
        return True
    return _kinds_with_suffix_of(os.fspath(path))[-1].keeps_labels


def _is_folder_to_write(path: str) -> bool:
    return mapped.is_folder(path) or not (suffix_of(path) or compression_of(path))


def _kind_called(name: str) -> FileKind:
    for kind in KINDS:
        if kind.name == name:
            return kind
    raise ValueError(f"unknown file format {name!r}; there are {', '.join(kind.name for kind in KINDS)}")


def _suffix_of(path: str) -> str:
    """The suffix. What was held open and has none is text, unless it opens as an archive does."""
    if suffix_of(path) or not isinstance(path, Held):
        return suffix_of(path)
    return npz.KIND.suffixes[0] if path.content.startswith(b"PK") else edge_list.KIND.suffixes[0]


def _kinds_with_suffix_of(path: str) -> list[FileKind]:
    suffix = _suffix_of(path)
    kinds = [kind for kind in KINDS if suffix in kind.suffixes]
    if not kinds:
        known = ", ".join(sorted({suffix for kind in KINDS for suffix in kind.suffixes}))
        other = "algorithms.Graph.read reads GraphML" if suffix == ".graphml" else "or give format="
        raise ValueError(f"{path}: unknown suffix {suffix!r}; known are {known}; {other}")
    return kinds


def _kind_of(source: Source, format: str | None) -> FileKind:
    """The kind that is asked for, or that the first line, the suffix and, where several share it, the opening tell."""
    given = None if format is None else _kind_called(format)
    if given is npz.KIND or (given is None and _suffix_of(source.path) in npz.KIND.suffixes):
        return npz.KIND  # which is no text to look at
    if (kind := _kind_of_banner(source)) is not None:
        if given not in (None, kind):
            raise source.error(f"the file opens as one of the kind {kind.name!r}, not {format!r}", 1)
        return kind
    if given is not None:
        return given
    kinds = _kinds_with_suffix_of(source.path)
    return next(kind for kind in kinds if kind is kinds[-1] or source.opens_like(kind.comment, kind.opening))


def _kind_of_banner(source: Source) -> FileKind | None:
    return next((kind for kind in KINDS if kind.banner and source.opens_like(b"", kind.banner)), None)
