"""Machine code on disk: processes that compile at the same time never find each other's."""

from __future__ import annotations

import errno
import fcntl
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import numba
import pytest
from numba.core.caching import FunctionCache, IndexDataCacheFile

from semiring.cpu.cache import LockedCache
from semiring.cpu.kernels import compiled


def adder(constant: int, cache: type[FunctionCache] = LockedCache) -> Any:
    """A kernel of which all specializations share an index, as those of a product do."""

    def add(x):
        return x + constant

    kernel: Any = compiled(add)
    assert type(kernel._cache) is LockedCache
    kernel._cache = cache(add)
    return kernel


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))


def save_at_once(kernels: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Save every kernel while the others have read the index and not written it yet, as far as they let it come so."""
    for kernel in kernels:
        kernel._cache.disable()
        kernel(0)
        kernel._cache.enable()
    ready, load_index = Barrier(len(kernels)), IndexDataCacheFile._load_index

    def slowly(self: Any) -> Any:
        index = load_index(self)
        time.sleep(0.1)
        return index

    def save(kernel: Any) -> None:
        (signature,) = kernel.overloads
        ready.wait()
        kernel._cache.save_overload(signature, kernel.overloads[signature])

    monkeypatch.setattr(IndexDataCacheFile, "_load_index", slowly)
    with ThreadPoolExecutor(len(kernels)) as pool:
        list(pool.map(save, kernels))
    monkeypatch.setattr(IndexDataCacheFile, "_load_index", load_index)


def test_kernels_saved_at_the_same_time_are_all_found(monkeypatch: pytest.MonkeyPatch) -> None:
    save_at_once([adder(constant) for constant in (1, 2, 3, 4)], monkeypatch)
    for constant in (1, 2, 3, 4):
        kernel = adder(constant)
        assert kernel(10) == 10 + constant
        assert sum(kernel.stats.cache_hits.values()) == 1


def test_numbas_own_cache_loses_some(monkeypatch: pytest.MonkeyPatch) -> None:
    """Why there is a lock. When this fails, Numba has one, and ours can go."""
    save_at_once([adder(constant, FunctionCache) for constant in (1, 2, 3, 4)], monkeypatch)
    found = [adder(constant, FunctionCache) for constant in (1, 2, 3, 4)]
    right = [kernel(10) == 10 + constant for constant, kernel in enumerate(found, 1)]
    hits = [sum(kernel.stats.cache_hits.values()) for kernel in found]
    assert not (all(right) and all(hits))


def no_locks(*arguments: Any) -> None:
    raise OSError(errno.ENOLCK, "No locks available")


@pytest.mark.parametrize("locks", ["can be made", "cannot be made", "are not there"])
def test_a_kernel_is_found_again(tmp_path: Path, locks: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if locks == "are not there":
        monkeypatch.setattr(fcntl, "flock", no_locks)
    assert adder(5)(1) == 6
    (lock,) = tmp_path.rglob("*.lock")
    if locks == "cannot be made":
        lock.unlink()
        lock.mkdir()
    again = adder(5)
    assert again(1) == 6
    assert sum(again.stats.cache_hits.values()) == 1


def test_machine_code_outlives_no_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    assert Path(__file__).parent not in Path(adder(5)._cache.cache_path).parents


def caller(constant: int) -> Any:
    """A kernel that calls another one, which is compiled anew, as in another process."""
    add = adder(constant)

    def twice(x):
        return add(add(x))

    return compiled(twice)


def test_a_kernel_that_calls_another_is_found_again_unless_that_one_has_changed() -> None:
    assert caller(5)(1) == 11
    again = caller(5)
    assert again(1) == 11
    assert sum(again.stats.cache_hits.values()) == 1
    changed = caller(6)
    assert changed(1) == 13
    assert sum(changed.stats.cache_hits.values()) == 0
