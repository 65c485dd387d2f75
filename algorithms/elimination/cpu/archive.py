"""Factors in files: NumPy archives of the matrix, the order and the numbers.

The pattern follows from matrix and order, so it is found again, which takes a fraction of a second. Arrays lie in the
archive as they are, unpacked: what it promises is never more than the file holds, and nothing is unpickled.
"""

from __future__ import annotations

import zipfile
from contextlib import suppress
from os import PathLike
from typing import Any

import numpy as np

from formats import CSR
from formats.io.damage import refusing_damage
from formats.io.writing import replacing
from formats.places import HOST

VERSION = 1
"""Version of the layout; files of another are refused."""

NO_FACTOR = "this is no factor that can be read"
PARTS = ("version", "semiring", "indptr", "indices", "values", "order", "how", "up", "down")


def is_factor(file: str | PathLike[str]) -> bool:
    """True if the file is an archive with the parts of a factor, or a damaged archive that is no .npz."""
    with suppress(OSError), open(file, "rb") as stream:
        if stream.read(4) != b"PK\x03\x04":
            return False
        with suppress(ValueError), refusing_damage(str(file)), zipfile.ZipFile(file) as archive:
            return {f"{part}.npy" for part in PARTS} <= set(archive.namelist())
        return not str(file).lower().endswith(".npz")
    return False


def save(file: str | PathLike[str], parts: dict[str, Any]) -> None:
    """Write arrays to a file, which appears once it is complete."""
    with replacing(str(file)) as stream:
        np.savez(stream, allow_pickle=False, version=np.array(VERSION), **parts)


def load(file: str | PathLike[str]) -> tuple[CSR, dict[str, Any]]:
    """Returns the matrix and the other parts of a file; ValueError if it holds no factor, or is of another version."""
    with refusing_damage(str(file), NO_FACTOR):
        with zipfile.ZipFile(file) as archive:
            packed = [each.filename for each in archive.infolist() if each.compress_type != zipfile.ZIP_STORED]
            HOST.check_room(f"the factor in {file}", sum(each.file_size for each in archive.infolist()))
        if packed:
            raise ValueError(f"{packed[0]} is compressed")
        with np.load(file, allow_pickle=False) as arrays:
            missing = [part for part in PARTS if part not in arrays]
            if missing:
                raise ValueError(f"it has no {missing[0]}")
            if (version := int(arrays["version"])) != VERSION:
                raise ValueError(f"it is of version {version}, and this package reads version {VERSION}")
            parts = {part: arrays[part] for part in arrays.files}
        n = parts["order"].size
        A = CSR(parts.pop("indptr"), parts.pop("indices"), parts.pop("values"), (n, n))
        check(parts, A)
    return A, parts


def check(parts: dict[str, Any], A: CSR) -> None:
    """ValueError unless numbers and order are such as a factor of A may have."""
    up, down, order = parts["up"], parts["down"], parts["order"]
    if order.ndim != 1 or order.dtype != np.int32:
        raise ValueError(f"order is {order.dtype} of {order.ndim} dimensions")
    if down.ndim != 1 or up.ndim != 1 or up.dtype != down.dtype or up.size not in (0, down.size):
        raise ValueError("the numbers of both directions differ in their kind")
    if down.dtype.kind == "f" and (np.isnan(up).any() or np.isnan(down).any()):
        raise ValueError("a number is NaN")
    labels = parts.get("labels")
    if labels is not None and (labels.shape != (A.nrows,) or labels.dtype.kind not in "iuU"):
        raise ValueError(f"labels are {labels.dtype} of shape {labels.shape}")
