"""Collectives between GPUs, one of each process, by NCCL: of arrays that lie on them, and stay there.

A communicator of NCCL is set up from the group's processes at the first array on a GPU. What is called here comes after
a meeting of the group, so that all know the sizes; the waits have the group's time-out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..arrays import DeviceArray as Array
from ..arrays import contiguous
from ..gpu import cupy

FOLDED = {"min": "NCCL_MIN", "max": "NCCL_MAX"}
"""⊕ that NCCL has, by name, with the bits of folding in the order of ranks. Its sums of integers do not saturate."""
TYPES = {"int32": "NCCL_INT32", "int64": "NCCL_INT64"}


class Links:
    """The links between the GPUs of a group's processes.

    told: what each process tells, in the order of ranks.  finish(what, done): waits until `done()`.
    """

    def __init__(self, rank: int, size: int, told: Callable[[str, Any], list[Any]], finish: Any) -> None:
        from cupy.cuda import nccl

        self.nccl, self.rank, self.size, self.finish = nccl, rank, size, finish
        self.device = cupy().cuda.runtime.getDevice()
        identity = told("NCCL", nccl.get_unique_id() if rank == 0 else None)[0]
        self.comm = nccl.NcclCommunicator(size, identity, rank)

    def everyone(self, what: str, mine: Array, sizes: Sequence[int]) -> list[Array]:
        """Gathers each process's array, of so many bytes each."""
        cp = cupy()
        everything = cp.empty(int(sum(sizes)), np.uint8)
        pieces, start = [], 0
        for size in sizes:
            pieces.append(everything[start : start + size])
            start += size
        own = contiguous(mine)
        self._start()
        for root, piece in enumerate(pieces):
            source = own if root == self.rank else piece
            if piece.size:
                self.comm.broadcast(_at(source), _at(piece), piece.size, self.nccl.NCCL_UINT8, root, _stream())
        self._end(what)
        return [piece.view(mine.dtype) for piece in pieces]

    def exchange(self, what: str, pieces: Sequence[Array], incoming: Sequence[int]) -> list[Array]:
        """Exchanges arrays of so many bytes each, and returns what each process has for this one."""
        cp, dtype = cupy(), pieces[0].dtype
        mine, received = [contiguous(piece) for piece in pieces], [cp.empty(size, np.uint8) for size in incoming]
        self._start()
        for rank in range(self.size):
            if mine[rank].nbytes:
                self.comm.send(_at(mine[rank]), mine[rank].nbytes, self.nccl.NCCL_UINT8, rank, _stream())
            if received[rank].size:
                self.comm.recv(_at(received[rank]), received[rank].size, self.nccl.NCCL_UINT8, rank, _stream())
        self._end(what)
        return [piece.view(dtype) for piece in received]

    def folded(self, what: str, name: str, mine: Array) -> Array:
        """⊕ over what the processes bring."""
        mine, found = contiguous(mine), cupy().empty(mine.shape, mine.dtype)
        kind, op = (getattr(self.nccl, each) for each in (TYPES[mine.dtype.name], FOLDED[name]))
        self.comm.allReduce(_at(mine), _at(found), mine.size, kind, op, _stream())
        self._end(what, grouped=False)
        return found

    def _start(self) -> None:
        self.nccl.groupStart()

    def _end(self, what: str, grouped: bool = True) -> None:
        """Wait until what was started is done."""
        if grouped:
            self.nccl.groupEnd()
        done = cupy().cuda.Event(disable_timing=True)
        done.record()
        self.finish(what, lambda: done.done)

    def abort(self) -> None:
        """Let nobody wait any more."""
        self.comm.abort()


def _at(array: Any) -> int:
    return array.data.ptr


def _stream() -> int:
    return cupy().cuda.get_current_stream().ptr
