"""The CUDA text of a semiring comes from the declaration that the CPU uses, and compiles for every dtype."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from algorithms.elimination.cuda import engine  # noqa: F401, whose units are of PATHS, too
from algorithms.fused.cuda.kernels import PATHS, PATTERNS, path_unit, pattern_unit
from algorithms.fused.essential import no_detour
from bench.laboratory.da2cf import PULLS
from formats.arrays import DTYPES
from semiring import (
    MONOIDS,
    OPERATORS,
    SEMIRINGS,
    BinaryOp,
    MinFirst,
    MinPlus,
    PlusTimes,
    Predicate,
    Semiring,
    tight,
    within,
)
from semiring.algebra.codegen import C_TYPES, OPTIONS, IndexTypes, expression, prelude
from semiring.algebra.predicates import on_position
from semiring.algebra.semirings import find_semiring
from semiring.algebra.translation import literal
from semiring.cuda import blocks, statistics
from semiring.cuda.entries import mark_head
from semiring.cuda.gemm import Variant, gemm_text
from semiring.cuda.kernels import BLOCKS, LONG_ROWS, PRODUCTS, SHORT_ROWS, UNITS, translation_unit
from semiring.cuda.merging import merge_head
from semiring.cuda.spgemm import KERNELS, TERMS, TERMS_HEAD, spgemm_text
from semiring.cuda.spmm import Columns, spmm_text
from semiring.cuda.steps import ENTRIES, MARK, MERGE, PACK, RADIX, SCAN, step_text

nvrtc = pytest.importorskip("cuda.bindings.nvrtc", exc_type=ImportError)

ABSDIFF = Semiring(MONOIDS["min"], BinaryOp("absdiff", lambda a, b: abs(a - b), "a < b ? b - a : a - b"))
INT32, INT64 = np.dtype(np.int32), np.dtype(np.int64)
MANY = IndexTypes(INT64, INT32)
"""Of entries that 32 bits do not count, in columns that fit these."""
CASES = [
    *((semiring, dtype, INT32, True) for semiring in SEMIRINGS.values() for dtype in semiring.dtypes),
    *((semiring, dtype, INT64, True) for semiring in (MinPlus, PlusTimes) for dtype in semiring.dtypes),
    *((MinFirst, dtype, INT32, False) for dtype in MinFirst.dtypes),
    *((semiring, INT64, INT32, True) for semiring in map(find_semiring, ("times_plus", "plus_min", "any_second"))),
    (find_semiring("times_plus"), INT32, INT32, False),
    (ABSDIFF, INT32, INT64, False),
]
"""A translation unit is of a semiring, a dtype, an index type and the order of ⊗'s operands."""
assert PULLS in UNITS


def compile_for_h100(text: str) -> str:
    """The compiler's log for sm_90; see `compile_for`."""
    return compile_for("sm_90", text)


def compile_for(architecture: str, text: str) -> str:
    """Compile CUDA text, without a device; the compiler's log, empty if there is not even a warning."""
    error, program = nvrtc.nvrtcCreateProgram(text.encode(), b"unit.cu", 0, [], [])
    assert error == nvrtc.nvrtcResult.NVRTC_SUCCESS
    options = [f"--gpu-architecture={architecture}", *OPTIONS]
    (error,) = nvrtc.nvrtcCompileProgram(program, len(options), [option.encode() for option in options])
    _, size = nvrtc.nvrtcGetProgramLogSize(program)
    log = bytes(size + 1)  # which is written into; of one byte, Python has but one object for all
    nvrtc.nvrtcGetProgramLog(program, log)
    said = log.decode().rstrip("\0")
    assert said or error == nvrtc.nvrtcResult.NVRTC_SUCCESS
    return said


to_assemble = pytest.mark.parametrize(
    ("semiring", "dtype"), [(MinPlus, INT64), (PlusTimes, np.dtype(np.float32))], ids=str
)
"""An order and a sum, exact and rounded: the assembler takes as long as the compiler."""


@to_assemble
def test_kernels_for_long_rows_compile_too(semiring: Semiring, dtype: np.dtype) -> None:
    assert compile_for_h100(translation_unit(semiring, dtype, INT32, shape=LONG_ROWS)) == ""


@pytest.mark.parametrize("index", [INT32, INT64], ids=str)
@pytest.mark.parametrize(
    ("semiring", "dtype"),
    [*((MinPlus, dtype) for dtype in MinPlus.dtypes), (find_semiring("lor_land"), np.dtype(bool))],
    ids=str,
)
def test_kernels_of_blocks_compile_in_their_own_shape(semiring: Semiring, dtype: np.dtype, index: np.dtype) -> None:
    assert compile_for_h100(translation_unit(semiring, dtype, index, shape=blocks.SHAPE, unit=BLOCKS)) == ""


OTHERS = [unit for unit, files in UNITS.items() if not {*files} <= {*UNITS[PRODUCTS]}]
TURNS = [unit for other in OTHERS for unit in (PRODUCTS, other)]
UNIT_CASES = [(case, TURNS[k % len(TURNS)]) for k, case in enumerate(CASES)]
"""Every case in a unit, in turns, every other one in that which most formats share: their terms are the same."""


@pytest.mark.parametrize(
    ("case", "unit"),
    UNIT_CASES,
    ids=[f"{semiring.name}-{dtype}-{index}-{first}-{unit}" for (semiring, dtype, index, first), unit in UNIT_CASES],
)
def test_every_kernel_is_valid_for_an_h100(case: tuple[Semiring, np.dtype, np.dtype, bool], unit: str) -> None:
    """As far as portable code: the assembler has some of them in the next test."""
    assert compile_for("compute_90", translation_unit(*case, SHORT_ROWS, unit)) == ""


@pytest.mark.parametrize("unit", [PRODUCTS, *OTHERS])
@to_assemble
def test_kernels_assemble_for_an_h100(semiring: Semiring, dtype: np.dtype, unit: str) -> None:
    assert compile_for_h100(translation_unit(semiring, dtype, INT32, True, SHORT_ROWS, unit)) == ""


SPARSE_AND_DENSE = [(Columns(1, 1), False), (Columns(2, 2), True), (Columns(8, 4), True), (Columns(32, 2), False)]


@pytest.mark.parametrize("case", CASES, ids=[f"{s.name}-{dtype}-{index}-{first}" for s, dtype, index, first in CASES])
def test_products_of_matrices_compile_for_an_h100(case: tuple[Semiring, np.dtype, np.dtype, bool]) -> None:
    """Each case in one of the shapes, or of the units, in turns."""
    semiring, dtype, index, _ = case
    at, argument = CASES.index(case), semiring.add.selective
    columns, named = SPARSE_AND_DENSE[at // 3 % len(SPARSE_AND_DENSE)]
    plain = (semiring.add.name, semiring.mul.name) in (("min", "plus"), ("plus", "times"), ("max", "min"))
    variant = Variant(plain and at % 2 == 0, plain and at % 2 == 0 and dtype.kind == "i", argument)
    text = (
        lambda: spmm_text(*case, columns, named and argument),
        lambda: gemm_text(semiring, dtype, index, variant),
        lambda: spgemm_text(list(KERNELS)[at // 3 % len(KERNELS)], semiring, dtype, index, INT64),
    )[at % 3]
    assert compile_for("compute_90", text()) == ""


@to_assemble
def test_products_of_matrices_assemble_for_an_h100(semiring: Semiring, dtype: np.dtype) -> None:
    texts = [spmm_text(semiring, dtype, INT32, True, *shape) for shape in SPARSE_AND_DENSE if not shape[1]]
    texts += [gemm_text(semiring, dtype, INT32, Variant(plain=True)), gemm_text(semiring, dtype, INT32, Variant())]
    texts += [spgemm_text(files, semiring, dtype, INT32, INT32) for files in KERNELS]
    for text in texts:
        assert compile_for_h100(text) == ""


ORDERED = [s for s in SEMIRINGS.values() if s.add.selective and s.one is not None]


@pytest.mark.parametrize("kind", PATTERNS)
def test_persistent_kernels_of_patterns_compile_for_an_h100(kind: str) -> None:
    """With either index as far as portable code, and assembled with the wide one, which needs more registers."""
    assert compile_for("compute_90", pattern_unit(kind, INT32)) == ""
    assert compile_for_h100(pattern_unit(kind, INT64)) == ""


NARROW_COLUMNS: dict[str, Callable[[], str]] = {
    **{kind: partial(pattern_unit, kind, MANY) for kind in PATTERNS},
    **{kind: partial(path_unit, kind, MinPlus, np.dtype(np.float32), MANY) for kind in PATHS},
    **{unit: partial(translation_unit, MinPlus, INT32, MANY, unit=unit) for unit in UNITS},
    "found": lambda: translation_unit(find_semiring("lor_land"), np.dtype(bool), MANY),
    "columns of X": lambda: spmm_text(PlusTimes, np.dtype(np.float32), MANY, True, Columns(2, 2), False),
    "arguments by columns": lambda: spmm_text(MinPlus, np.dtype(np.float32), MANY, True, Columns(2, 2), True),
    "entries": lambda: step_text(ENTRIES, MANY, 4),
    "radix": lambda: step_text(RADIX, MANY, 4),
    "statistics": lambda: statistics.unit(np.dtype(np.float32), MANY),
    "mark": lambda: step_text(MARK, MANY, 4, mark_head(tight(MinPlus), np.dtype(np.float32), MANY, True, True)),
}


@pytest.mark.parametrize("unit", NARROW_COLUMNS)
def test_kernels_of_columns_narrower_than_counts_are_valid_for_an_h100(unit: str) -> None:
    assert compile_for("compute_90", NARROW_COLUMNS[unit]()) == ""


@pytest.mark.parametrize(
    ("semiring", "dtype", "index"),
    [
        *((semiring, dtype, INT32) for semiring in ORDERED if semiring is not MinPlus for dtype in semiring.dtypes),
        *((MinPlus, dtype, INT64) for dtype in MinPlus.dtypes),
    ],
    ids=str,
)
def test_persistent_kernels_of_paths_are_valid_for_an_h100(
    semiring: Semiring, dtype: np.dtype, index: np.dtype
) -> None:
    """Kinds of kernels take turns: the next test has all of them."""
    at = [*semiring.dtypes].index(dtype) + ORDERED.index(semiring)
    for kind in [*PATHS][at % 4 :: 4]:
        assert compile_for("compute_90", path_unit(kind, semiring, dtype, index)) == ""


@pytest.mark.parametrize("dtype", [INT32, np.dtype(np.float64)], ids=str)
def test_persistent_kernels_of_paths_assemble_for_an_h100(dtype: np.dtype) -> None:
    for kind in PATHS:
        assert compile_for_h100(path_unit(kind, MinPlus, dtype, INT32)) == ""


@pytest.mark.parametrize(
    "text",
    [
        *(pattern_unit(kind, INT32) for kind in PATTERNS if kind != "deep_searches"),
        *(path_unit(kind, MinPlus, INT32, INT32) for kind in PATHS if kind != "copies"),
    ],
    ids=[kind for kind in (*PATTERNS, *PATHS) if kind not in ("deep_searches", "copies")],
)
def test_persistent_kernels_compile_for_the_oldest_device_that_the_compiler_knows(text: str) -> None:
    """With fewer blocks on a multiprocessor, which are all that it is warned of."""
    assert all("threads per SM" in line for line in compile_for("sm_75", text).splitlines() if line.strip("\0 "))


@pytest.mark.parametrize("index", [INT32, INT64], ids=str)
def test_kernels_that_count_the_terms_of_products_assemble_for_an_h100(index: np.dtype) -> None:
    assert compile_for_h100(step_text(TERMS, index, 4, TERMS_HEAD)) == ""


@pytest.mark.parametrize("unit", [ENTRIES, RADIX, PACK, SCAN], ids=["entries", "radix", "pack", "scan"])
@pytest.mark.parametrize(("index", "value_bytes"), [(INT32, 1), (INT32, 4), (INT64, 8)], ids=str)
def test_kernels_that_move_entries_assemble_for_an_h100(
    unit: tuple[str, ...], index: np.dtype, value_bytes: int
) -> None:
    assert compile_for_h100(step_text(unit, index, value_bytes)) == ""


MERGED = [
    *((name, dtype, None) for name in ("min", "first", "any") for dtype in (INT32, np.dtype(np.float32))),
    *((name, INT64, 0) for name in ("plus", "times", "lt")),
    ("plus", np.dtype(np.float64), np.inf),
    ("lor", np.dtype(bool), False),
    ("absdiff", INT32, None),
]


@pytest.mark.parametrize(("name", "dtype", "zero"), MERGED, ids=str)
def test_kernels_that_join_matrices_are_valid_for_an_h100(name: str, dtype: np.dtype, zero: object) -> None:
    op = ABSDIFF.mul if name == "absdiff" else OPERATORS[name]
    head = merge_head(op, dtype, zero, both_only=zero is not None)
    assert compile_for("compute_90", step_text(MERGE, INT64 if zero is None else INT32, 4, head)) == ""


@pytest.mark.parametrize("by_columns", [False, True])
@pytest.mark.parametrize(
    "predicate", [on_position("tril"), tight(MinPlus), no_detour(MinPlus), within], ids=lambda p: p.name
)
def test_kernels_of_predicates_are_valid_for_an_h100(predicate: Predicate, by_columns: bool) -> None:
    head = mark_head(predicate, np.dtype(np.float32), INT32, by_columns, reads_major=not by_columns)
    assert compile_for("compute_90", step_text(MARK, INT32, 4, head)) == ""


@pytest.mark.parametrize("index", [INT32, INT64], ids=str)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_kernels_of_statistics_assemble_for_an_h100(dtype: np.dtype, index: np.dtype) -> None:
    assert compile_for_h100(statistics.unit(dtype, index)) == ""


def test_compiler_reports_an_operator_that_is_not_cuda() -> None:
    broken = Semiring(MONOIDS["min"], BinaryOp("broken", lambda a, b: a, "a +* nonsense"))
    assert "nonsense" in compile_for_h100(prelude(broken, np.dtype(np.float32), INT32))


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
