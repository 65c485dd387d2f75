"""A matrix in a folder, opened as memory-mapped arrays: for matrices that are larger than memory, or opened often.

    head.json       what the folder holds, and in which version of this layout
    NAME.npy        each array of the matrix under its field's name, as NumPy writes it
    labels.npy      the vertices' ids, if there are any

The head of a CSR:

    {"layout": "semiring matrix", "version": 1, "format": "csr", "fields": {"shape": [4, 4]},
     "arrays": {"indptr": {"dtype": "<i4", "size": 5}, "indices": …, "values": …}}

`fields` has what is no array. An array whose elements are all one, as the values of a pattern, has `"repeated": true`,
and its file one element. A folder appears under its name only when it is complete.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
from contextlib import suppress
from dataclasses import fields
from typing import Any

import numpy as np

from ..arrays import DTYPES, Array, check_one_length, index_dtype, read_only, to_device
from ..matrix.base import Matrix, find_format
from ..matrix.contract import as_shape
from ..progress import Bar
from ..storage.compressed import CSC, CSR, check_starts, strips
from .damage import refusing_damage
from .kind import check_labels
from .npz import Stored
from .writing import nothing_lost

HEAD, LAYOUT, VERSION = "head.json", "semiring matrix", 1
PIECE = 1 << 22
"""Elements that are copied, or entries that are checked, at a time."""


def is_folder(path: str) -> bool:
    """True if the path names a folder: one that is there, or by its last letter."""
    return os.path.isdir(path) or path.endswith(("/", os.sep))


def write(path: str, A: Matrix, labels: Array | None) -> None:
    """Write the arrays of A, on any device, piece by piece; a folder of such a matrix is replaced.

    ValueError for a folder of anything else. On a terminal a bar shows how far it is.
    """
    path = path.rstrip("/" + os.sep)
    if os.path.isfile(path):
        raise FileExistsError(errno.EEXIST, "A path without a suffix is a folder to write, but a file is there", path)
    if os.path.isdir(path) and os.listdir(path):
        _head(path)
    temporary, before = (f"{path}.{os.urandom(4).hex()}.{suffix}" for suffix in ("tmp", "old"))
    try:
        with nothing_lost(path, temporary):
            os.mkdir(temporary)
            _fill(temporary, A, labels)
            if os.path.isdir(path):
                os.replace(path, before)
            os.replace(temporary, path)
    except BaseException:
        if os.path.isdir(before) and not os.path.exists(path):
            os.replace(before, path)
        with suppress(FileNotFoundError):
            shutil.rmtree(temporary)
        raise
    if os.path.isdir(before):
        shutil.rmtree(before)


def _fill(folder: str, A: Matrix, labels: Array | None) -> None:
    parts = {field.name: getattr(A, field.name) for field in fields(A)}  # type: ignore[arg-type]
    arrays = {name: part for name, part in parts.items() if hasattr(part, "dtype")}
    if labels is not None:
        arrays["labels"] = labels
    done, total = 0, sum(array.size for array in arrays.values())
    told: dict[str, dict[str, Any]] = {}
    with Bar(f"writing {os.path.basename(folder)}", total, lambda: done) as bar:
        for name, array in arrays.items():
            held = array.reshape(-1) if array.flags.c_contiguous else array
            repeated = array.ndim == 1 and array.size > 1 and not any(array.strides)
            if repeated:
                held = array[:1]
            told[name] = {"dtype": np.dtype(array.dtype).str, "shape": array.shape}
            if repeated:
                told[name]["repeated"] = True
            with open(os.path.join(folder, f"{name}.npy"), "xb") as file:
                shape = held.shape if repeated else array.shape
                about = {"descr": told[name]["dtype"], "fortran_order": False, "shape": shape}
                np.lib.format.write_array_header_1_0(file, about)
                for start in range(0, len(held), PIECE):
                    file.write(np.ascontiguousarray(to_device(held[start : start + PIECE], "cpu")).data)
                    done += PIECE
                    bar.update()
    head = {
        "layout": LAYOUT,
        "version": VERSION,
        "format": type(A).__name__.lower(),
        "fields": {name: part for name, part in parts.items() if name not in arrays},
        "arrays": told,
    }
    with open(os.path.join(folder, HEAD), "x", encoding="utf-8") as file:
        json.dump(head, file, indent=1)


def open_mapped(folder: str | os.PathLike[str]) -> Matrix:
    """The matrix in a folder, its arrays memory-mapped: read-only, and in memory only where they are looked at.

    `write(folder, A)` makes such a folder. Opening reads the arrays once, piece by piece, to check them. What the
    matrix keeps for later calls is in memory.

    Args:
        folder: the folder.

    Returns:
        The matrix, in the format that was written, on the host.

    Raises:
        ValueError: the folder holds no matrix, or one that breaks a rule of its format; the error names file and rule.
        OSError: a file cannot be opened.

    Example:
        >>> import tempfile
        >>> from formats import from_edges, write
        >>> A = from_edges([0, 1], [1, 0], [5, 9])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write(f"{folder}/graph/", A)
        ...     open_mapped(f"{folder}/graph").equals(A)
        True
    """
    return opened(os.fspath(folder))[0]


def read(path: str, force: bool) -> Stored:
    """The matrix in a folder, in memory."""
    A, labels = opened(path)
    loaded = type(A).trusted(*(_loaded(part) if getattr(part, "ndim", 0) else part for part in A.components))
    return Stored(loaded, labels, force)


def _loaded(array: Array) -> Array:
    """A copy in memory; of one element, seen many times, that element."""
    return np.array(array) if any(array.strides) else np.broadcast_to(np.array(array[:1]), array.shape)


def opened(path: str) -> tuple[Matrix, Array | None]:
    """Returns (the matrix in a folder, mapped; the vertices' ids, if there are any)."""
    with refusing_damage(path, f"{HEAD} is no head of a matrix"):
        head = _head(path)
        fmt = find_format(str(head["format"]))
        names = [field.name for field in fields(fmt)]  # type: ignore[arg-type]
        told, plain = dict(head["arrays"]), dict(head["fields"])
        missing = [name for name in names if name not in told and name not in plain]
        if missing:
            raise ValueError(f"{path}: {HEAD} says nothing of {', '.join(missing)}, which a {fmt.__name__} has")
        arrays = {name: _mapped(path, name, about) for name, about in told.items() if name in (*names, "labels")}
    with refusing_damage(path, f"its arrays are no {fmt.__name__} matrix"):
        A = _checked(fmt, {name: _plain((arrays if name in arrays else plain)[name]) for name in names})
    with refusing_damage(path):
        if "labels" in arrays:
            check_labels(arrays["labels"], max(A.shape))
    return A, arrays.get("labels")


def _head(path: str) -> dict[str, Any]:
    """Reads the folder's description of itself; ValueError if it holds no matrix."""
    head_file = os.path.join(path, HEAD)
    if os.path.exists(head_file) and not os.path.isfile(head_file):  # a pipe, in which nothing need ever come
        raise ValueError(f"{path}: {HEAD} is no file")
    try:
        with open(head_file, encoding="utf-8") as file, refusing_damage(path, f"{HEAD} is no JSON"):
            head = json.load(file)
    except (FileNotFoundError, NotADirectoryError) as error:
        if not os.path.isdir(path):
            raise
        raise ValueError(f"{path} is a folder without {HEAD}: it holds no matrix that `write` has written") from error
    if not isinstance(head, dict) or head.get("layout") != LAYOUT:
        raise ValueError(f"{path}: {HEAD} is of no {LAYOUT}")
    if head.get("version") != VERSION:
        raise ValueError(f"{path}: the layout's version is {head.get('version')!r}, known is {VERSION}")
    return head


def _mapped(folder: str, name: str, about: dict[str, Any]) -> Array:
    """An array as its file has it, mapped; ValueError if it is another than the head says."""
    if not name.isidentifier():
        raise ValueError(f"{folder}: {HEAD} names an array {name!r}")
    file = os.path.join(folder, f"{name}.npy")
    with refusing_damage(folder, f"{name}.npy is damaged"):
        array = np.lib.format.open_memmap(file, "r") if os.path.getsize(file) else np.empty(0)
    shape = tuple(about["shape"])
    held = (1,) if about.get("repeated") else shape
    if array.dtype.str != about["dtype"] or array.shape != held:
        found = f"{array.dtype.str} of shape {array.shape}"
        raise ValueError(f"{folder}: {name}.npy holds {found}, {HEAD} says {about['dtype']} of {held}")
    plain = np.asarray(array)
    return np.broadcast_to(plain, shape) if about.get("repeated") else read_only(plain)


def _plain(part: Any) -> Any:
    """A field as the format has it: what JSON has for a tuple is a list, and a number may have a file."""
    if isinstance(part, list):
        return tuple(part)
    return part.item() if isinstance(part, np.ndarray) and part.ndim == 0 else part


def _checked(fmt: type[Matrix], parts: dict[str, Any]) -> Matrix:
    """The matrix of these fields; ValueError or TypeError that names the first broken rule.

    Of compressed lines some are checked at a time, and nothing is copied. Another format's constructor looks at all.
    """
    if fmt not in (CSR, CSC):
        return fmt(**parts)
    indptr, indices, values = (parts[name] for name in ("indptr", "indices", "values"))
    shape = as_shape(parts["shape"])
    counting = index_dtype(*shape, values.size)
    allowed = (("indptr", indptr, (counting,)), ("indices", indices, (index_dtype(*shape), counting)))
    for name, array, dtypes in (*allowed, ("values", values, DTYPES)):
        if array.dtype not in dtypes or array.ndim != 1:
            raise ValueError(f"{name} must be one-dimensional, of {' or '.join(map(str, dtypes))}, got {array.dtype}")
    A = fmt.trusted(indptr, indices, values, shape)
    n, across = shape if A.major == 0 else shape[::-1]
    check_starts("indptr", indptr, values.size, n, "row" if A.major == 0 else "column")
    check_one_length(indices=indices, values=values)
    for start, stop in strips(indptr, PIECE):
        first, last = int(indptr[start]), int(indptr[stop])
        lines = (indptr[start : stop + 1] - indptr[start], indices[first:last], values[first:last])
        try:
            CSR.trusted(*lines, (stop - start, across)).check()
        except ValueError as error:
            raise ValueError(f"from stored line {start:,} on: {error}") from error
    return A
