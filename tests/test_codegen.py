"""The CUDA text of a semiring comes from the declaration that the CPU uses, and compiles for every dtype."""

from __future__ import annotations

import re

import numpy as np
import pytest
from cuda.bindings import nvrtc

from semiring import MONOIDS, SEMIRINGS, BinaryOp, MinPlus, Semiring
from semiring.codegen import C_TYPES, expression, literal, prelude

ABSDIFF = Semiring(MONOIDS["min"], BinaryOp("absdiff", lambda a, b: abs(a - b), "a < b ? b - a : a - b"))
CELLS = [
    pytest.param(semiring, dtype, index, id=f"{semiring.name}-{dtype}-{index}")
    for semiring in (*SEMIRINGS.values(), ABSDIFF)
    for dtype in semiring.dtypes
    for index in (np.dtype(np.int32), np.dtype(np.int64))
]
PROBE = """
extern "C" __global__ void probe(const T* a, const T* b, T* y, I n) {
    for (I i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        y[i] = add(ZERO, product(a[i], b[i]));
        atomic_add(y, y[i]);
    }
}
"""


def compile_for_h100(text: str) -> str:
    """Compile CUDA text to machine code for sm_90, without a device; the compiler's log, empty for success."""
    error, program = nvrtc.nvrtcCreateProgram(text.encode(), b"probe.cu", 0, [], [])
    assert error == nvrtc.nvrtcResult.NVRTC_SUCCESS
    (error,) = nvrtc.nvrtcCompileProgram(program, 2, [b"--gpu-architecture=sm_90", b"--warning-as-error=all-warnings"])
    if error == nvrtc.nvrtcResult.NVRTC_SUCCESS:
        return ""
    _, size = nvrtc.nvrtcGetProgramLogSize(program)
    log = b" " * size
    nvrtc.nvrtcGetProgramLog(program, log)
    return log.decode().rstrip("\0")


@pytest.mark.parametrize(("semiring", "dtype", "index"), CELLS)
def test_prelude_compiles_for_an_h100(semiring: Semiring, dtype: np.dtype, index: np.dtype) -> None:
    assert compile_for_h100(prelude(semiring, dtype, index) + PROBE) == ""


def test_compiler_reports_an_operator_that_is_not_cuda() -> None:
    broken = Semiring(MONOIDS["min"], BinaryOp("broken", lambda a, b: a, "a +* nonsense"))
    assert "nonsense" in compile_for_h100(prelude(broken, np.dtype(np.float32), np.dtype(np.int32)) + PROBE)


def test_every_dtype_has_a_c_type() -> None:
    assert set(C_TYPES) == {dtype.name for semiring in SEMIRINGS.values() for dtype in semiring.dtypes}


@pytest.mark.parametrize(
    ("dtype", "constant"),
    [("int32", "(T)2147483647LL"), ("int64", "(T)9223372036854775807LL"), ("float32", "__int_as_float(0x7f800000)")],
)
def test_zero_of_min_plus_is_the_end_of_the_range(dtype: str, constant: str) -> None:
    assert literal(MinPlus.zero(np.dtype(dtype)), np.dtype(dtype)) == constant


def test_lowest_int64_is_written_without_a_literal_that_overflows() -> None:
    assert literal(np.iinfo(np.int64).min, np.dtype(np.int64)) == "LLONG_MIN"


def test_int32_is_clamped_and_int64_takes_the_saturating_form() -> None:
    assert re.search(r"min\(max\(\(long long\)\(a \+ b\)", expression(MinPlus.mul, np.dtype(np.int32)))
    assert expression(MinPlus.mul, np.dtype(np.int64)) == MinPlus.mul.saturating.cuda
    assert expression(MinPlus.mul, np.dtype(np.float32)) == "(T)(a + b)"
