"""On a GPU: storage is the same as on the CPU, and the generated algebra computes what the CPU's operators compute."""

from __future__ import annotations

import gc
from itertools import product
from typing import Any

import numpy as np
import pytest

from formats import CSR, OutOfDeviceMemory, SparseVector, from_edges
from semiring import MONOIDS, SEMIRINGS, BinaryOp, MinPlus, Semiring, mxv
from semiring.algebra.codegen import OPTIONS, prelude

from .strategies import FORMATS

pytestmark = pytest.mark.backend("cuda")

ABSDIFF = Semiring(MONOIDS["min"], BinaryOp("absdiff", lambda a, b: abs(a - b), "a < b ? b - a : a - b"))
CELLS = [
    pytest.param(semiring, dtype, id=f"{semiring.name}-{dtype}")
    for semiring in (*SEMIRINGS.values(), ABSDIFF)
    for dtype in semiring.dtypes
    if (semiring, dtype) != (ABSDIFF, np.int64)  # an operator of the user's own wraps in int64
]
PROBE = """
extern "C" __global__ void probe(const T* a, const T* b, T* sums, T* products, T* folded, I n) {
    for (I i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        sums[i] = add(a[i], b[i]);
        products[i] = product(a[i], b[i]);
        atomic_add(folded + i % 7, products[i]);
    }
}
"""


def some_matrix() -> CSR:
    rng = np.random.default_rng(0)
    return from_edges(rng.integers(0, 50, 300), rng.integers(0, 40, 300), rng.integers(1, 9, 300), shape=(50, 40))


def values_with_limits(dtype: np.dtype) -> list[Any]:
    """Small values, and the ends of the range."""
    if dtype.kind == "b":
        return [False, True]
    if dtype.kind == "f":
        return [0, 1, 2, 3, -1, -4, 0.5, 1e30, np.inf]
    info = np.iinfo(dtype)
    return [0, 1, 2, 3, -1, -4, info.max, info.max - 1, info.min, info.min + 1, 2**30, -(2**30)]


@pytest.mark.parametrize("fmt", FORMATS)
@pytest.mark.parametrize("view", ["as it is", "transposed", "pattern"])
def test_a_matrix_moves_there_and_back_and_converts_there(fmt: type, view: str) -> None:
    A = some_matrix().to(fmt)
    A = {"as it is": A, "transposed": A.T, "pattern": A.pattern()}[view]
    G = A.to(device="cuda")
    assert G.device == "cuda"
    assert all(type(array).__module__.startswith("cupy") for array in G.arrays)
    assert G.to(device="cpu").equals(A)
    assert G.T.T is G
    assert (G.to_dense().get() == A.to_dense()).all()
    for target in FORMATS:
        assert G.to(target).device == "cuda"
        assert G.to(target).to(device="cpu").equals(A)


@pytest.mark.parametrize("dup", ["min", "max", "sum", "first", "last"])
def test_edges_on_the_gpu_give_the_matrix_that_they_give_on_the_cpu(dup: str) -> None:
    import cupy

    rng = np.random.default_rng(1)
    src, dst, weights = rng.integers(0, 9, 200), rng.integers(0, 9, 200), rng.integers(1, 99, 200)
    there = from_edges(*(cupy.asarray(part) for part in (src, dst, weights)), shape=9, dup=dup)
    assert there.to(device="cpu").equals(from_edges(src, dst, weights, shape=9, dup=dup))


def test_a_constructor_checks_arrays_on_the_gpu() -> None:
    import cupy

    with pytest.raises(ValueError, match=r"indices must be in \[0, 2\), got 3"):
        CSR(cupy.asarray([0, 1]), cupy.asarray([3]), cupy.asarray([1.0]), (1, 2))


def test_a_sparse_vector_moves_there_and_back() -> None:
    v = SparseVector(np.array([3, 1]), np.array([1.0, 2.0]), 5)
    assert v.to(device="cuda").to_dense().tolist() == [0, 2, 0, 1, 0]
    assert v.to(device="cuda").to(device="cpu").to_dense().tolist() == [0, 2, 0, 1, 0]


def test_operands_on_two_devices_are_refused() -> None:
    A = some_matrix()
    with pytest.raises(ValueError, match="move one of them"):
        mxv(A.to(device="cuda"), np.zeros(A.ncols, A.dtype), MinPlus)


@pytest.mark.parametrize(("semiring", "dtype"), CELLS)
def test_generated_algebra_computes_what_the_cpu_computes(semiring: Semiring, dtype: np.dtype) -> None:
    import cupy

    values = values_with_limits(dtype)
    a, b = (np.array(side, dtype) for side in zip(*product(values, values), strict=True))
    zero = semiring.zero(dtype)
    with np.errstate(all="ignore"):
        sums = semiring.add(a, b)
        absent = (b == zero) | ((a == zero) & (semiring.mul.reads != ""))
        products = np.where(absent, zero, semiring.mul(a, b).astype(dtype))
        folded = np.full(7, zero, dtype)
        for i, term in enumerate(products):
            folded[i % 7] = semiring.add(folded[i % 7 : i % 7 + 1], np.array([term], dtype))[0]
    probe = cupy.RawModule(code=prelude(semiring, dtype, np.dtype(np.int32)) + PROBE, options=OPTIONS).get_function(
        "probe"
    )
    got = [cupy.zeros(a.size, dtype), cupy.zeros(a.size, dtype), cupy.full(7, zero, dtype)]
    probe((2,), (64,), (cupy.asarray(a), cupy.asarray(b), *got, np.int32(a.size)))
    expected = [sums, products, folded]
    for name, there, here in zip(("sums", "products", "folded"), got, expected, strict=True):
        if name == "folded" and semiring.add.name == "plus":
            continue  # the order of a floating or saturating sum is not fixed
        np.testing.assert_array_equal(there.get(), here, err_msg=name)


def test_a_product_without_room_for_its_result_changes_nothing() -> None:
    import cupy

    n = 1 << 22
    A = CSR.trusted(cupy.zeros(n + 1, np.int32), cupy.zeros(0, np.int32), cupy.zeros(0, np.float64), (n, n))
    x, out = cupy.zeros(n), cupy.full(n, 7.0)
    mxv(A, x, MinPlus, out=out)
    out[:] = 7
    gc.collect()  # what other tests left, a product that lacks room would take
    pool = cupy.get_default_memory_pool()
    pool.free_all_blocks()
    pool.set_limit(size=pool.used_bytes() + (1 << 20))
    try:
        with pytest.raises(OutOfDeviceMemory, match="mxv: the GPU is out of memory .* bytes free"):
            mxv(A, x, MinPlus, out=out)
    finally:
        pool.set_limit(size=0)
    assert bool((out == 7).all())
