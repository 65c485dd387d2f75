"""Programs on the host that run as the kernels that they would be on a GPU, in the emulator."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import numpy as np

from semiring.fusing import launch, regions
from semiring.fusing.device import DeviceTranslator

from . import emulated


class EmulatedFrame(launch.DeviceFrame):
    """One run of a kernel in the emulator."""

    def __init__(self, compiled: regions.Compiled, values: dict[str, Any]) -> None:
        regions.Frame.__init__(self, compiled, values)

    def launch(self, matrices: Any, things: int, given: tuple[Any, ...]) -> None:
        assert isinstance(self.compiled, launch.DeviceCompiled)
        kernels = emulated.library(self.compiled.unit_text(matrices, emulated.THREADS))
        control, *rest = given
        arguments = control, np.zeros(1, np.int32), *rest
        emulated.launch(kernels, "program", (emulated.BLOCKS, emulated.THREADS), arguments)


EMULATOR = regions.Backend(DeviceTranslator, launch.DeviceCompiled, EmulatedFrame)


@contextmanager
def emulation(alone: int = 6) -> Iterator[None]:
    """Lets programs on the host run as kernels within the block.  alone: entries up to which a block runs loops."""
    with (
        mock.patch.object(regions, "backend_of", return_value=EMULATOR),
        mock.patch.object(launch, "MAX_ENTRIES_ALONE", alone),
    ):
        yield
