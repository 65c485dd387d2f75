"""Machine code on disk: kernels find each other's, nobody else's, and run where nothing can be kept."""

from __future__ import annotations

import errno
import gc
import math
import os
import signal
import subprocess
import sys
import warnings
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import semiring.cpu.compiler.jit as jit
from formats import gpu
from semiring.cpu.compiler.references import interrupted
from semiring.cpu.kernels import compiled
from semiring.kernels.machine_code import CUDA, Store

ROOT = Path(__file__).parent.parent


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """Where kernels are kept during a test."""
    own = Store("CPU kernels", "NUMBA_CACHE_DIR", lambda: tmp_path)
    monkeypatch.setattr(jit, "CPU", own)
    return own


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the kernels that a test has compiled, and not found."""
    import semiring.cpu.compiler.compiler as compiler

    names: list[str] = []
    original = compiler.machine_code

    def noting(function: Any, kinds: Any, name: str) -> Any:
        names.append(function.__name__)
        return original(function, kinds, name)

    monkeypatch.setattr(compiler, "machine_code", noting)
    return names


def adder(constant: int) -> Any:
    """A kernel with a constant in its closure, made anew, as in another process."""

    def add(x):
        return x + constant

    return compiled(add)


def twice(call: Callable[..., Any], constant: int) -> Any:
    """A kernel that calls another kernel, or a plain function."""

    def apply(x):
        return call(call(x)) + constant

    return compiled(apply)


def plus(constant: int) -> Callable[[Any], Any]:
    def helper(x):
        return x + constant

    return helper


def folder_of(store: Store) -> Path:
    base = store.base()
    assert base is not None
    return base / f"semiring-{os.geteuid()}"


@pytest.mark.quick
def test_a_kernel_is_found_again(store: Store, made: list[str]) -> None:
    assert [adder(5)(1), adder(6)(1), adder(5)(2)] == [6, 7, 7]
    assert made == ["add", "add"]
    assert len(list(folder_of(store).iterdir())) == 2


@pytest.mark.parametrize("make", [adder, plus], ids=["a kernel", "a function"])
def test_a_kernel_is_found_again_unless_what_it_calls_has_changed(
    make: Callable[[int], Any], store: Store, made: list[str]
) -> None:
    assert [twice(make(5), 0)(1), twice(make(5), 0)(1), twice(make(6), 0)(1)] == [11, 11, 13]
    assert made == ["apply", "apply"]


OTHER_PLACE = "def add(x):\n    return x + number"


def test_a_kernel_is_compiled_anew_when_a_name_of_its_module_means_something_else(
    store: Store, made: list[str]
) -> None:
    answers = []
    for number in (1, 2, 1):
        module: dict[str, Any] = {"number": number, "__name__": "elsewhere"}
        exec(OTHER_PLACE, module)
        answers.append(compiled(module["add"])(1))
    assert answers == [2, 3, 2]
    assert made == ["add", "add"]


def test_kernels_take_numbers_arrays_and_tuples_of_every_kind(store: Store, made: list[str]) -> None:
    @compiled
    def mixed(a, b, x, y, z, w, t, k):
        a[0] = b[1, 1] + t[0][0]
        return x + y, z * np.float32(2), w, b.shape[1], not w, k

    class Own(np.ndarray):
        pass

    a, b, t, k = np.zeros(3, np.int32), np.arange(6).reshape(2, 3), (np.arange(3) + 7,), np.uint8(200)
    assert mixed(a, b, 1, 2.5, np.float32(1.25), True, t, k) == (3.5, 2.5, True, 3, False, 200)
    assert a[0] == 11
    same = (np.int64(-5), np.float64(2.5), np.float32(1.25), np.bool_(False), t, k)
    assert mixed(a.view(Own), b, *same) == (-2.5, 2.5, False, 3, True, 200)
    assert mixed(a, b.astype(np.longlong), np.longlong(-5), *same[1:]) == (-2.5, 2.5, False, 3, True, 200)
    assert made == ["mixed"]
    assert mixed(a, b.T, *same) == (-2.5, 2.5, False, 2, True, 200)
    assert made == ["mixed", "mixed"]
    with pytest.raises(OverflowError):
        mixed(a, b, 1 << 70, *same[1:])
    with pytest.raises(TypeError, match="a kernel's tuple begins with an array, not with a number"):
        mixed(a, b, *same[:4], (1, np.arange(3)), k)
    with pytest.raises(TypeError, match="kernels take arrays, numbers and tuples"):
        mixed(a, b, "1", *same[1:])


def test_a_kernel_that_returns_an_array_is_refused(store: Store) -> None:
    with pytest.raises(TypeError, match="kernels return numbers and tuples of these"):
        compiled(lambda x: x)(np.zeros(1))


def test_kernels_may_make_arrays(store: Store) -> None:
    def total(n):
        return np.arange(n).sum()

    for _ in range(2):
        assert compiled(total)(5) == 10


@pytest.mark.parametrize(
    ("function", "expected", "everything"),
    [
        (lambda x: min(x, 2, math.gamma(x)) + np.maximum(x, 4.5), 7.0, [False]),
        (lambda x: np.full(4, x)[1] + x, 10.0, [False]),
        (lambda x: len([x, x]), 2, [False, True]),
    ],
    ids=["numbers", "an array", "a list"],
)
def test_what_the_target_for_kernels_lacks_is_compiled_with_everything(
    function: Any, expected: float, everything: list[bool], store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    import semiring.cpu.compiler.compiler as compiler

    tried: list[bool] = []
    original = compiler._machine_code

    def noting(function: Any, kinds: Any, name: str, way: Any) -> Any:
        tried.append(way.everything)
        return original(function, kinds, name, way)

    monkeypatch.setattr(compiler, "_machine_code", noting)
    assert compiled(function)(5.0) == expected
    assert tried == everything


@pytest.mark.quick
def test_kernels_compiled_with_everything_leave_others_their_operations(store: Store) -> None:
    """Numba before 0.67 would look for an operation where the last kernel with it was compiled."""

    def listed(x):
        return -1 if interrupted() else len([x, x])

    def plain(x):
        return -1 if interrupted() else x + 1

    def other(x):
        return -1 if interrupted() else x + 2

    assert [compiled(function)(5) for function in (plain, listed, other)] == [6, 2, 7]


CALLS_NUMBA = """
import math, sys
from semiring.cpu.compiler.references import interrupted
from semiring.cpu.kernels import compiled
print(compiled(lambda x: math.gamma(x))(5.0), "numba" in sys.modules)
"""


def test_what_kernels_call_of_numbas_is_there_when_they_are_loaded(tmp_path: Path) -> None:
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
    for _ in range(2):  # compiled, and then loaded
        done = subprocess.run([sys.executable, "-c", CALLS_NUMBA], env=environment, capture_output=True, text=True)
        assert done.stdout == "24.0 True\n"


OWN_OPERATOR = """
import sys
import numpy as np
from formats import from_edges
from semiring import MONOIDS, BinaryOp, Semiring, mxv
apart = Semiring(MONOIDS["min"], BinaryOp("apart", scalar=lambda a, b: abs(a - b) + 0.5))
A = from_edges([0], [1], [3.0], shape=2)
print(mxv(A, np.array([9.0, 5.0]), apart), "numba" in sys.modules)
"""


def test_a_users_operator_that_was_compiled_needs_no_compiler(tmp_path: Path) -> None:
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", OWN_OPERATOR]
    for compiles in (True, False):
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert done.stdout == f"[2.5 inf] {compiles}\n", done.stderr


def test_machine_code_is_freed_with_its_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    from llvmlite import binding as llvm

    engines, make = list[weakref.ref[Any]](), llvm.create_mcjit_compiler

    def watched(*arguments: Any, **options: Any) -> Any:
        engine = make(*arguments, **options)
        engines.append(weakref.ref(engine))
        return engine

    monkeypatch.setattr(llvm, "create_mcjit_compiler", watched)
    kernel = compiled(plus(7))
    assert kernel(1) == 8
    gc.collect()
    (*_, last) = engines
    assert last() is not None
    del kernel
    gc.collect()
    assert last() is None


def refused(store: Store, why: str, made: list[str]) -> None:
    """Kernels run, are compiled each time, and one warning says why and how to change that."""
    message = f"compiled anew in every process.*{why}.*set NUMBA_CACHE_DIR"
    with pytest.warns(RuntimeWarning, match=message) as told:
        assert [adder(5)(1), adder(5)(1)] == [6, 6]
    assert len(told) == 1
    assert made == ["add", "add"]


@pytest.mark.quick
def test_without_a_place_kernels_are_compiled_in_each_process(tmp_path: Path, store: Store, made: list[str]) -> None:
    (tmp_path / "file").touch()
    store.base = lambda: tmp_path / "file"
    refused(store, "Not a directory", made)


def test_without_a_home_kernels_are_compiled_in_each_process(store: Store, made: list[str]) -> None:
    store.base = lambda: None
    refused(store, "no home", made)


def test_on_a_full_disk_kernels_still_run(store: Store, made: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "replace", full)
    refused(store, "No space left", made)
    assert not list(folder_of(store).iterdir())


def test_a_folder_that_others_may_write_to_is_not_used(store: Store, made: list[str]) -> None:
    folder_of(store).mkdir()
    folder_of(store).chmod(0o777)
    refused(store, "other users may write", made)


def test_machine_code_that_others_may_have_written_is_not_run(store: Store, made: list[str]) -> None:
    assert adder(5)(1) == 6
    (file,) = folder_of(store).iterdir()
    file.chmod(0o666)
    with pytest.warns(RuntimeWarning, match="other users may write"):
        assert adder(5)(1) == 6
    assert made == ["add", "add"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize("what", ["the folder", "a file"])
def test_machine_code_of_another_user_is_not_run(what: str, store: Store, made: list[str]) -> None:
    assert adder(5)(1) == 6
    (file,) = folder_of(store).iterdir()
    os.chown(file if what == "a file" else folder_of(store), 12345, -1)
    with pytest.warns(RuntimeWarning, match="other users may write"):
        assert adder(5)(1) == 6
    assert made == ["add", "add"]


@pytest.mark.parametrize(
    "damage", [lambda code: code[:-1], lambda code: b"", lambda code: code[:99] + b"!" + code[100:]]
)
def test_damaged_machine_code_is_not_run(damage: Callable[[bytes], bytes], store: Store, made: list[str]) -> None:
    assert adder(5)(1) == 6
    (file,) = folder_of(store).iterdir()
    file.write_bytes(damage(file.read_bytes()))
    assert adder(5)(1) == 6
    assert adder(5)(1) == 6
    assert made == ["add", "add"]


@pytest.mark.parametrize("written_to", [False, True])
def test_a_pipe_among_kernels_hangs_nobody_and_is_replaced(store: Store, made: list[str], written_to: bool) -> None:
    adder(11)(1)
    [file] = folder_of(store).iterdir()
    file.unlink()
    os.mkfifo(file, 0o600)
    end = os.open(file, os.O_RDWR) if written_to else None
    signal.alarm(20)  # a hang ends the tests, and is not waited for
    try:
        assert [adder(11)(1), adder(11)(2)] == [12, 13]
    finally:
        signal.alarm(0)
        if end is not None:
            os.close(end)
    assert made == ["add", "add"]
    assert file.is_file()


def test_machine_code_under_another_name_is_not_run(store: Store, made: list[str]) -> None:
    assert adder(5)(1) == 6
    (file,) = folder_of(store).iterdir()
    assert adder(6)(1) == 7
    other = next(each for each in folder_of(store).iterdir() if each != file)
    other.write_bytes(file.read_bytes())
    assert adder(6)(1) == 7
    assert made == ["add", "add", "add"]


def test_nobody_else_can_read_or_write_what_is_kept(store: Store) -> None:
    assert adder(5)(1) == 6
    for path in (folder_of(store), *folder_of(store).iterdir()):
        assert path.stat().st_mode & 0o077 == 0


def test_machine_code_lies_where_the_environment_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUPY_CACHE_DIR", str(tmp_path))
    CUDA.keep("x.cubin", b"code")
    assert CUDA.find("x.cubin") == b"code"
    assert (tmp_path / f"semiring-{os.geteuid()}" / "x.cubin").is_file()


EVERYTHING_READ_ONLY = """
set -e
mount --rbind / /mnt && mount -o remount,bind,ro /mnt
if mountpoint -q /mnt/tmp; then mount -o remount,bind,ro /mnt/tmp; fi
exec chroot /mnt env -i HOME=/nobody PYTHONPATH="$1" "$2" -c "$3"
"""


def test_everything_runs_where_nothing_can_be_written() -> None:
    """In a mount namespace whose root is read-only, without an environment and with a home that does not exist.

    The user's own home may hold the machine code already, from the tests before: then nothing would be missed.
    """
    code = (
        "import warnings; warnings.simplefilter('always')\n"
        "import os, numpy as np\n"
        "try: open('/tmp/x', 'w')\n"
        "except OSError: pass\n"
        "else: raise SystemExit('not read-only')\n"
        "from formats import ELL, from_edges; from algorithms import bfs, scc\n"
        "from semiring import MinPlus, ewise_add, mxv\n"
        "A = from_edges([0, 1, 2, 3], [1, 2, 3, 0], np.array([1, 2, 3, 4]))\n"
        "print(bfs(A, 0), scc(A), mxv(A.to(ELL), np.arange(4), MinPlus), ewise_add(A, A, 'min').nnz)\n"
    )
    unshare = ["unshare", "-m" if os.geteuid() == 0 else "-rm", "bash", "-c"]
    try:
        probe = subprocess.run([*unshare, "mount --rbind / /mnt"], capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no `unshare` here")
    if probe.returncode:
        pytest.skip("mount namespaces are not allowed here")
    command = [*unshare, EVERYTHING_READ_ONLY, "-", str(ROOT), sys.executable, code]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == "[0 1 2 3] [0 0 0 0] [2 4 6 4] 4".split()
    assert done.stderr.count("set NUMBA_CACHE_DIR") == 1


def test_a_warning_is_given_once_for_each_kind() -> None:
    store = Store("CPU kernels", "NUMBA_CACHE_DIR", lambda: None)
    with pytest.warns(RuntimeWarning, match="NUMBA_CACHE_DIR"):
        store.keep("a", b"")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        store.keep("b", b"")
        assert store.find("b") is None


@pytest.mark.parametrize("place", ["a file", "a folder"])
def test_cupy_keeps_its_kernels_in_memory_where_it_cannot_write(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a file").touch()
    monkeypatch.setenv("CUPY_CACHE_DIR", str(tmp_path / place / "kernels"))
    monkeypatch.setenv("CUPY_CACHE_IN_MEMORY", "")
    monkeypatch.delenv("CUPY_CACHE_IN_MEMORY")
    gpu._let_cupy_compile()
    assert os.environ.get("CUPY_CACHE_IN_MEMORY") == ("1" if place == "a file" else None)
