"""Getting to a GPU: why it cannot be had, what has no room there, and arrays that other libraries left there."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from algorithms import bfs, sssp
from formats import (
    COO,
    CSC,
    CSR,
    ELL,
    Dense,
    DeviceUnavailable,
    Matrix,
    OutOfDeviceMemory,
    SparseVector,
    from_cupyx,
    from_edges,
    from_scipy,
)
from formats.arrays import as_array, cupy, out_of_memory, to_device
from semiring import Verb, mxm, mxv

from .strategies import FORMATS

pytestmark = pytest.mark.quick

on_a_gpu = pytest.mark.backend("cuda")
every_format = pytest.mark.parametrize("fmt", FORMATS, ids=lambda fmt: fmt.__name__)


def example() -> CSR:
    return from_edges([0, 0, 2, 3], [1, 2, 0, 3], [5, 0, 3, 1], shape=4)


# --- a CuPy that is not there ---------------------------------------------------------------------------------------


class CudaError(RuntimeError):
    pass


class CupyOutOfMemory(MemoryError):
    pass


class FakeArray:
    """What the fake CuPy makes of a NumPy array."""

    def __init__(self, array: np.ndarray) -> None:
        self.array, self.nbytes, self.dtype = array, array.nbytes, array.dtype
        self.data = SimpleNamespace(device_id=0)


class FakePool:
    def malloc(self, size: int) -> None: ...

    def free_bytes(self) -> int:
        return 24


class FakeCupy(ModuleType):
    """Enough of CuPy to be asked for a device, for its memory, and to copy arrays; `moved` counts the copies."""

    ndarray = FakeArray

    def __init__(self) -> None:
        super().__init__("cupy")
        self.driver, self.built_for, self.count = 13020, 13020, 1
        self.error: str | None = None
        self.queries, self.moved = 0, 0
        self.free, self.room = 10**9, 10**9
        self.pool = FakePool()
        self.allocator: Any = self.pool.malloc
        self.cuda = SimpleNamespace(
            runtime=SimpleNamespace(
                CUDARuntimeError=CudaError,
                driverGetVersion=lambda: self.driver,
                runtimeGetVersion=lambda: self.built_for,
                getDeviceCount=self.devices,
                getDevice=lambda: 0,
                memGetInfo=lambda: (self.free, 2 * 10**9),
            ),
            memory=SimpleNamespace(OutOfMemoryError=CupyOutOfMemory),
            get_allocator=lambda: self.allocator,
        )

    def devices(self) -> int:
        self.queries += 1
        if self.error:
            raise CudaError(self.error)
        return self.count

    def get_default_memory_pool(self) -> FakePool:
        return self.pool

    def asarray(self, obj: Any) -> FakeArray:
        array = np.asarray(getattr(obj, "array", obj))
        if array.nbytes > self.room:
            raise CupyOutOfMemory(f"Out of memory allocating {array.nbytes:,} bytes (allocated so far: 0 bytes).")
        self.room -= array.nbytes
        self.moved += 1
        return FakeArray(array)

    from_dlpack = asarray


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeCupy:
    module = FakeCupy()
    monkeypatch.setitem(sys.modules, "cupy", module)
    monkeypatch.setattr("formats.gpu._installed_cupys", lambda: ["cupy-cuda13x"])
    return module


def test_a_sort_that_finds_no_room_on_a_gpu_is_told_with_the_figures(fake: FakeCupy) -> None:
    """CuPy's sorts raise a MemoryError of C++'s; one of the host stays as it is."""

    def front(said: str) -> None:
        raise MemoryError(said)

    sorts = Verb(front)
    try:
        with pytest.raises(OutOfDeviceMemory, match=r"front: the GPU is out of memory, and has .* bytes free"):
            sorts("std::bad_alloc")
        with pytest.raises(MemoryError, match="no room here") as caught:
            sorts("no room here")
        assert type(caught.value) is MemoryError
    finally:
        del Verb.all["front"]


def refusal() -> DeviceUnavailable:
    """The error of asking for a GPU, which is one sentence as all of ours are: one line, no full stop."""
    with pytest.raises(DeviceUnavailable) as caught:
        example().to(device="cuda")
    said = str(caught.value)
    assert said.startswith("device='cuda' needs ")
    assert "\n" not in said
    assert said[-1].isalnum() or said[-1] == ")"
    return caught.value


def test_no_cupy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    monkeypatch.setattr("formats.gpu._installed_cupys", list)
    error = refusal()
    assert "CuPy, which is not installed here: pip install cupy-cuda13x" in str(error)
    assert isinstance(error.__cause__, ImportError)


PAGE = """
try:
    raise OSError("libcudart.so.13: cannot open shared object file.")
except OSError as error:
    raise ImportError("=====\\nFailed to import CuPy.\\n\\nIf you installed CuPy via wheels ...\\n=====") from error
"""


@pytest.mark.parametrize(
    ("program", "reason"),
    [(PAGE, "libcudart.so.13: cannot open shared object file"), ("import numpi", "No module named 'numpi'")],
)
def test_a_cupy_that_cannot_be_imported(
    program: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cupy.py").write_text(program)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(sys.modules, "cupy", None)
    monkeypatch.delitem(sys.modules, "cupy")
    monkeypatch.setattr("formats.gpu._installed_cupys", lambda: ["cupy"])
    with pytest.raises(DeviceUnavailable, match="CuPy, which cannot be imported: ") as caught:
        cupy()
    assert str(caught.value).endswith(reason)
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value.__cause__, ImportError)


def test_two_cupys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("cupy-cuda11x", "cupy_cuda12x", "cupyness"):
        folder = tmp_path / f"{name.replace('-', '_')}-14.2.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 14.2.0\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(sys.modules, "cupy", FakeCupy())
    said = str(refusal())
    assert "cupy-cuda11x and cupy-cuda12x" in said
    assert "installed together: uninstall them all, then install one" in said
    assert "cupyness" not in said


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        ({"driver": 0}, "no driver is installed here"),
        ({"driver": 12040}, "a newer NVIDIA driver: this one supports CUDA 12.4, and CuPy was built for CUDA 13.2"),
        ({"error": "cudaErrorInsufficientDriver: CUDA driver version is insufficient"}, "a newer NVIDIA driver"),
        ({"error": "cudaErrorNoDevice: no CUDA-capable device is detected"}, "an NVIDIA GPU, but CUDA finds none"),
        ({"error": "cudaErrorUnknown: it broke.\n"}, "but CUDA says: cudaErrorUnknown: it broke"),
        ({"count": 0}, "an NVIDIA GPU, but CUDA finds none on this machine"),
    ],
)
def test_no_driver_an_old_one_or_no_device(state: dict[str, Any], reason: str, fake: FakeCupy) -> None:
    vars(fake).update(state)
    error = refusal()
    assert reason in str(error)
    assert isinstance(error.__cause__, CudaError) == ("error" in state)


def test_an_older_driver_of_the_same_major_version_will_do(fake: FakeCupy) -> None:
    fake.driver = 13000
    assert cupy() is fake


def test_a_success_is_checked_once_and_a_failure_again(fake: FakeCupy) -> None:
    fake.count = 0
    for _ in range(2):
        refusal()
    assert fake.queries == 2
    fake.count = 1
    for _ in range(3):
        assert cupy() is fake
    assert fake.queries == 3


# --- no room --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [example, lambda: SparseVector([1, 3], [1, 2], 9)], ids=["matrix", "vector"])
def test_what_has_no_room_does_not_begin_to_move(make: Callable[[], Any], fake: FakeCupy) -> None:
    obj = make()
    fake.free = obj.nbytes - 24 - 1  # CuPy's own unused blocks hold 24 bytes
    with pytest.raises(OutOfDeviceMemory) as caught:
        obj.to(device="cuda")
    assert fake.moved == 0
    assert str(caught.value) == (
        f"moving {obj!r} to the GPU needs {obj.nbytes:,} bytes, but it has {obj.nbytes - 1:,} of its "
        "2,000,000,000 bytes free"
    )
    fake.free += 1
    assert obj.to(device="cuda").device == "cuda"


def test_cupys_own_error_gets_the_sizes(fake: FakeCupy) -> None:
    A = example()
    fake.room = A.nbytes - 1
    with pytest.raises(OutOfDeviceMemory) as caught:
        A.to(device="cuda")
    assert isinstance(caught.value.__cause__, CupyOutOfMemory)
    assert str(caught.value) == (
        f"moving {A!r} to the GPU: the GPU is out of memory allocating 16 bytes (allocated so far: 0 bytes), "
        "and has 1,000,000,024 of its 2,000,000,000 bytes free"
    )
    assert isinstance(out_of_memory(CupyOutOfMemory("Out of memory."), "mxv"), MemoryError)


def test_the_users_own_allocator_is_not_second_guessed(fake: FakeCupy) -> None:
    fake.free, fake.allocator = 0, print
    assert example().to(device="cuda").device == "cuda"


def test_an_unknown_device() -> None:
    with pytest.raises(ValueError, match="device must be 'cpu' or 'cuda', got 'tpu'"):
        to_device(np.zeros(1), "tpu")  # type: ignore[arg-type]


# --- arrays of other libraries --------------------------------------------------------------------------------------


class Exporter:
    """An array of another library, which knows DLPack and nothing else."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()


class OnGpu(Exporter):
    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 0


class Interface:
    """An array of another library, which knows the CUDA array interface and nothing else."""

    def __init__(self, array: Any) -> None:
        self.array = array

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return self.array.__cuda_array_interface__


class Both(Exporter):
    """As a tensor on the CPU: it knows DLPack, and NumPy knows it."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self.array

    def __dlpack__(self, **options: Any) -> Any:
        raise BufferError("read-only")


@pytest.mark.parametrize("library", [Exporter, Both])
def test_arrays_of_another_library_are_shared(library: type) -> None:
    indptr, indices = np.array([0, 1, 2], np.int32), np.array([1, 0], np.int32)
    values = np.array([2**40, 3])
    A = CSR(library(indptr), library(indices), library(values), (2, 2))
    for mine, theirs in ((A.indptr, indptr), (A.indices, indices), (A.values, values)):
        assert np.shares_memory(mine, theirs)
    v = SparseVector(library(indices[:1]), library(values[:1]), 2)
    assert np.shares_memory(v.values, values)
    ell = ELL(library(indices[None]), library(values[None]), (2, 2))
    assert np.shares_memory(ell.indices, indices)
    assert from_edges(library(indices), library(indices[::-1].copy()), library(values)).nnz == 2


def test_integers_keep_their_dtype_where_they_have_one() -> None:
    for library in (Exporter, Both, np.asarray):
        assert SparseVector([0], library(np.array([1], np.int64)), 1).dtype == np.int64
        square = np.ones((2, 2), np.int64)
        assert np.shares_memory(Dense(library(square), 0).values, square)
    assert SparseVector([0], [1], 1).dtype == np.int32


@pytest.mark.parametrize("library", [OnGpu, Interface])
def test_arrays_on_a_gpu_go_to_cupy(library: type, fake: FakeCupy) -> None:
    class Theirs(FakeArray):
        __cuda_array_interface__: dict[str, Any] = {}

    array = as_array(library(Theirs(np.arange(3))))
    assert type(array) is FakeArray
    assert fake.moved == 1
    assert as_array(array) is array


@pytest.mark.parametrize("library", [OnGpu, Interface])
def test_arrays_on_a_gpu_without_cupy(library: type, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    monkeypatch.setattr("formats.gpu._installed_cupys", list)
    theirs = SimpleNamespace(__cuda_array_interface__={})
    with pytest.raises(DeviceUnavailable, match="needs CuPy"):
        SparseVector([0], library(theirs), 1)


class OfVersion1(Exporter):
    """Of a library that knows arrays that are only to be read."""

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**{"max_version": (1, 0), **options})


def test_other_libraries_share_answers_and_the_parts_of_matrices() -> None:
    A = from_edges([0, 1], [1, 2], [1.5, 2.5], shape=3)
    d, v = sssp(A, 0), SparseVector([0], [1.5], 3)
    assert np.shares_memory(np.from_dlpack(Exporter(d)), d)
    for part in (A.indptr, A.indices, A.values, v.indices, v.values):
        theirs = np.from_dlpack(OfVersion1(part))
        assert np.shares_memory(theirs, part)
        assert theirs.flags.writeable is part.flags.writeable


def test_what_is_no_array_but_knows_dlpack_is_named_with_the_call_that_makes_one() -> None:
    A, x = from_edges([0, 1], [1, 2], [1.5, 2.5], shape=3), Exporter(np.ones(3))
    for library, theirs in {"numpy": x, "cupy": OnGpu(np.ones(3))}.items():
        with pytest.raises(TypeError, match=rf"got \w+: {library}.from_dlpack\(…\) shares its memory"):
            mxv(A, theirs, "plus_times")
        with pytest.raises(TypeError, match=rf"got \w+: {library}.from_dlpack\(…\) shares its memory"):
            mxm(A, theirs, "plus_times")
    assert mxv(A, np.from_dlpack(x), "plus_times").tolist() == [1.5, 2.5, 0.0]  # type: ignore[arg-type]


def test_jax_shares_answers_and_its_arrays_become_matrices_and_vectors() -> None:
    jax = pytest.importorskip("jax")
    theirs = jax.dlpack.from_dlpack(bfs(from_edges([0, 1], [1, 2], shape=3), 0))
    assert theirs.tolist() == [0, 1, 2]
    indptr, indices, values = (jax.numpy.array(part) for part in ([0, 1, 2, 2], [1, 2], [1.5, 2.5]))
    A = CSR(indptr, indices, values, (3, 3))
    assert A.equals(from_edges(indices - 1, indices, values, shape=3))
    for mine, other in ((A.indptr, indptr), (A.indices, indices), (A.values, values)):
        assert np.shares_memory(mine, np.from_dlpack(other))
        assert jax.dlpack.from_dlpack(mine).tolist() == other.tolist()
    assert SparseVector(indices, values, 3).to_dense(0).tolist() == [0, 1.5, 2.5]
    assert sssp(A, 0).tolist() == [0, 1.5, 4]


@on_a_gpu
@pytest.mark.parametrize("library", [Exporter, Interface])
def test_arrays_on_a_gpu_are_shared(library: type) -> None:
    cp = cupy()
    src, dst = cp.asarray([0, 1], np.int32), cp.asarray([1, 0], np.int32)
    indptr, values = cp.asarray([0, 1, 2], np.int32), cp.asarray([1.5, 2.5])
    A = CSR(library(indptr), library(dst), library(values), (2, 2))
    assert (A.device, A[0, 1].item()) == ("cuda", 1.5)
    for mine, theirs in ((A.indptr, indptr), (A.indices, dst), (A.values, values)):
        assert mine.data.ptr == theirs.data.ptr
    assert from_edges(library(src), library(dst), library(values)).equals(A)
    assert SparseVector(library(src), library(values), 2).values.data.ptr == values.data.ptr


# --- no room on a real GPU ------------------------------------------------------------------------------------------


@on_a_gpu
@pytest.mark.usefixtures("all_resident")
def test_a_matrix_larger_than_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    cp = cupy()
    pool = cp.get_default_memory_pool()
    pool.free_all_blocks()
    before, total = pool.used_bytes(), cp.cuda.runtime.memGetInfo()[1]
    A = CSR(np.array([0, 2**22]), np.arange(2**22), np.ones(2**22), (1, 2**22))
    monkeypatch.setattr(cp.cuda.runtime, "memGetInfo", lambda: (1000, total))
    with pytest.raises(OutOfDeviceMemory) as caught:
        A.to(device="cuda")
    assert f"needs {A.nbytes:,} bytes, but it has {1000 + pool.free_bytes():,} of its {total:,}" in str(caught.value)
    assert pool.used_bytes() == before


@on_a_gpu
@pytest.mark.usefixtures("all_resident")
def test_a_limit_of_cupys_pool() -> None:
    cp = cupy()
    pool = cp.get_default_memory_pool()
    pool.free_all_blocks()
    before, limit = pool.used_bytes(), pool.get_limit()
    A = CSR(np.array([0, 2**22]), np.arange(2**22), np.ones(2**22), (1, 2**22))
    pool.set_limit(size=pool.total_bytes() + 2**20)
    try:
        with pytest.raises(OutOfDeviceMemory, match=r"the GPU is out of memory allocating .* bytes free") as caught:
            A.to(device="cuda")
    finally:
        pool.set_limit(size=limit)
    assert isinstance(caught.value.__cause__, cp.cuda.memory.OutOfMemoryError)
    assert pool.used_bytes() == before


# --- CuPy's sparse matrices -----------------------------------------------------------------------------------------


def test_what_is_not_one_of_cupys_matrices() -> None:
    with pytest.raises(TypeError, match=r"expected a CuPy sparse matrix \(cupyx.scipy.sparse\), got CSR"):
        from_cupyx(example())
    with pytest.raises(ValueError, match=r"this one is on the CPU: say .to\(device='cuda'\) first"):
        example().to_cupyx()


@on_a_gpu
@every_format
@pytest.mark.parametrize("dtype", ["float32", "float64", "bool"])
def test_to_cupyx_and_back(fmt: type[Matrix], dtype: str) -> None:
    A = from_edges([0, 0, 2, 3], [1, 2, 0, 3], np.array([1, 0, 1, 1], dtype), shape=4).to(fmt, device="cuda")
    own = fmt in (CSR, CSC, COO)  # CuPy has it, too
    for M in (A, A.T):
        S = M.to_cupyx()
        assert S.format == (type(M).__name__.lower() if own else "csr")
        assert S.dtype == dtype
        assert (S.get().toarray() == M.to(device="cpu").to_dense()).all()
        for back in (from_cupyx(S), from_scipy(S)):
            assert back.device == "cuda"
            assert type(back) is (type(M) if own else CSR)
            assert back.equals(M)
        if own:
            assert S.data.data.ptr == M.values.data.ptr
        if M.major == 0 or fmt is not COO:  # a list that is sorted by column is sorted anew
            assert from_cupyx(S).values.data.ptr == S.data.data.ptr
    S = example().pattern().to(device="cuda").to_cupyx()
    assert (S.dtype, S.nnz) == (bool, 4)


@on_a_gpu
@pytest.mark.parametrize("name", ["csr", "csc", "coo"])
@pytest.mark.parametrize("sorted_", [True, False], ids=["sorted", "unsorted"])
def test_cupyx_duplicates_combine(name: str, sorted_: bool) -> None:
    cp = cupy()
    from cupyx.scipy import sparse

    outer, inner = cp.asarray([0, 0, 0, 1]), cp.asarray([1, 1, 2, 0] if sorted_ else [2, 1, 1, 0])
    data = cp.asarray([5.0, 3.0, 7.0, 0.0] if sorted_ else [7.0, 5.0, 3.0, 0.0])
    make = getattr(sparse, f"{name}_matrix")
    parts = (outer, inner) if name != "csc" else (inner, outer)
    S = make((data, parts), shape=(3, 3)) if name == "coo" else make((data, inner, cp.asarray([0, 3, 4, 4])), (3, 3))
    if name != "coo":
        S.has_canonical_format = True  # a flag that lies
    for dup, combined in (("min", 3), ("max", 5), (None, 8)):
        A = from_cupyx(S, dup=dup) if dup else from_cupyx(S)
        assert type(A) is {"csr": CSR, "csc": CSC, "coo": COO}[name]
        edges = [(0, 1, combined), (0, 2, 7), (1, 0, 0)]
        there = A.T if name == "csc" else A
        assert list(zip(*(part.tolist() for part in there.to_edges()), strict=True)) == edges
    with pytest.raises(ValueError, match="is given more than once"):
        from_cupyx(S, dup="error")


@on_a_gpu
def test_cupyx_matrices_that_need_more_care() -> None:
    cp = cupy()
    from cupyx.scipy import sparse

    A = from_cupyx(sparse.eye(4, dtype="float32", format="dia"))
    assert (type(A), A.dtype, A.to_dense().tolist()) == (CSR, np.float32, np.eye(4).tolist())
    unsorted = sparse.csr_matrix((cp.asarray([1.0, 2.0]), cp.asarray([1, 0]), cp.asarray([0, 2])), shape=(1, 2))
    assert [part.tolist() for part in from_cupyx(unsorted).to_edges()] == [[0, 0], [0, 1], [2, 1]]
    broken = sparse.csr_matrix((cp.ones(2), cp.asarray([1, 0]), cp.asarray([0, 9, 2])), shape=(2, 2))
    with pytest.raises(ValueError, match="indptr must not descend, but it does after row 1"):
        from_cupyx(broken)
    with pytest.raises(TypeError, match="values of dtype complex64 are not supported"):
        from_cupyx(sparse.eye(2, dtype="complex64", format="csr"))


@on_a_gpu
def test_cupyx_holds_no_integers() -> None:
    with pytest.raises(TypeError, match=r"hold no int32: say .astype\('float64'\) first"):
        example().to(device="cuda").to_cupyx()
