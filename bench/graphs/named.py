"""The graphs of the SpMV benchmark by their names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from formats import CSR
from formats.arrays import Device

from .degrees import uniform
from .recursive import rmat
from .roads import ROADS, grid, roads

GENERATED: dict[str, Callable[[Device], CSR]] = {
    "rmat20": lambda device: rmat(20, device=device),
    "rmat22": lambda device: rmat(22, device=device),
    "rmat24": lambda device: rmat(24, device=device),
    "unif8M": lambda device: uniform(1 << 23, 7, device=device),
    "unif1M": lambda device: uniform(1 << 20, 32, high=255, device=device),
    "grid4k": lambda device: grid(4096, device=device),
}
"""The graphs of the SpMV benchmark but for NE, which is in a file."""


def spmv_names(data: Path | None, chosen: list[str] | None = None) -> list[str]:
    """The chosen names of the SpMV benchmark's graphs, by default all; NE only where the folder `data` has its file.

    ValueError names the first unknown one.
    """
    names = (["NE"] if data is not None and (data / ROADS).exists() else []) + list(GENERATED)
    for name in chosen or ():
        if name not in names:
            raise ValueError(f"unknown graph {name!r}; there are {', '.join(names)} (NE needs --data with {ROADS})")
    return chosen or names


def spmv_graph(name: str, device: Device, data: Path | None = None) -> CSR:
    """The SpMV benchmark's graph of that name, one of `spmv_names(data)`."""
    return roads((data or Path()) / ROADS, device=device) if name == "NE" else GENERATED[name](device)
