"""How a GPU multiplies where there is a choice, for those who compare the choices."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal

Pull = Literal["threads", "cached threads"]
KERNELS = {"threads": "pull_threads", "cached threads": "pull_cached_threads"}

_pull: ContextVar[Pull | None] = ContextVar("pull", default=None)


@contextmanager
def pulls_by(kernel: Pull) -> Iterator[None]:
    """Within the block, let masked products of a dense vector along compressed rows on a GPU take a thread a row.

    "threads": each thread skips its row if the mask excludes it, and reads what it needs from global memory.
    "cached threads": the same with the rows' ends in shared memory and the vector through the read-only cache.
    Without it such products are tiled, see `cuda/tiles.cu`, which is faster, or stop at their first term, if ⊕ is
    terminal.
    """
    if kernel not in KERNELS:
        raise ValueError(f"kernel must be 'threads' or 'cached threads', got {kernel!r}")
    token = _pull.set(kernel)
    try:
        yield
    finally:
        _pull.reset(token)


def pull_kernel() -> str | None:
    """The name of the kernel chosen by `pulls_by`; None without it."""
    chosen = _pull.get()
    return None if chosen is None else KERNELS[chosen]
