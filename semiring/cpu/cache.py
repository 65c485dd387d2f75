"""Numba's cache of machine code on disk, with a lock.

Numba (0.68) keeps the specializations of one function, all semirings' kernels of a kind in our case, in numbered files
under one index. It reads the index, takes the next number, and writes index and file one after the other. Two processes
that compile at the same time take the same number, and one's machine code is then found under the other's key: another
semiring's product, without an error. Here a process reads or writes index and file while no other one writes.

It is kept in the user's cache, or where NUMBA_CACHE_DIR says. In the package's own folder, where Numba would put it, it
outlives an uninstall, and Python then imports what is left of the folder in place of the package.

The key of a specialization holds what its function closes over, pickled, and a compiled function or an intrinsic is
pickled with a number that each process draws anew: a kernel that calls another would never be found again. Here the key
holds that other one's code, and what it closes over in turn.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.dispatcher import Dispatcher
from numba.core.extending import _Intrinsic
from numba.core.serialize import dumps


def content(function: Any) -> tuple[str, ...]:
    """Hashes of a function's code and of what it closes over, the same in every process."""
    closed_over = dumps([plain(cell.cell_contents) for cell in function.__closure__ or ()])
    return tuple(hashlib.sha256(part).hexdigest() for part in (function.__code__.co_code, closed_over))


def plain(value: Any) -> Any:
    """What stands for a value in a key: for what is compiled, its content."""
    if isinstance(value, Dispatcher):
        return content(value.py_func)
    return content(value._defn) if isinstance(value, _Intrinsic) else value


class UserCache(CompileResultCacheImpl):
    """Numba's places for machine code, the package's own folder last."""

    _locator_classes = sorted(CompileResultCacheImpl._locator_classes, key=lambda place: "InTree" in place.__name__)


class LockedCache(FunctionCache):
    """The cache of one function; processes that share its folder take turns."""

    _impl_class = UserCache

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        return sig, codegen.magic_tuple(), content(self._py_func)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        with self._locked(fcntl.LOCK_SH):
            return super().load_overload(sig, target_context)

    def save_overload(self, sig: Any, data: Any) -> None:
        if self._enabled:
            self._impl.locator.ensure_cache_path()
        with self._locked(fcntl.LOCK_EX):
            super().save_overload(sig, data)

    @contextmanager
    def _locked(self, operation: int) -> Iterator[None]:
        """Hold the lock of this function's index, where the file system has locks."""
        try:
            lock = os.open(f"{self.cache_path}/{self._impl.filename_base}.lock", os.O_RDONLY | os.O_CREAT, 0o666)
        except OSError:  # there is no folder yet, or it is read-only
            yield
            return
        try:
            with suppress(OSError):  # some network file systems have none
                fcntl.flock(lock, operation)
            yield
        finally:
            with suppress(OSError):  # closing would not do: a forked process may hold the file, too
                fcntl.flock(lock, fcntl.LOCK_UN)
            os.close(lock)
