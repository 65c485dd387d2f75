"""What is slow by nature is said once, at the user's line, with the way out; and nothing is said of quick work."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from algorithms import bellman_ford, bfs, sssp, trace
from formats import COO, CSB, CSC, CSR, ELL, PerformanceWarning, SparseVector, from_edges, write
from formats.performance import ENTRIES, warn_slow
from semiring import MONOIDS, BinaryOp, MinPlus, Semiring, fusible, mxv, reduce, vxm
from semiring.kernels.interrupts import MIN_INTERRUPTIBLE_NNZ, interruptible
from semiring.vectors import one_hot, scatter
from semiring.verbs import rounds

ENVIRONMENT = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])}


def path_with_shortcuts(entries: int, dtype: Any = np.float32) -> Any:
    """A path, and edges two vertices on: a matrix of about as many entries."""
    n = entries // 2 + 2
    u = np.arange(n)
    src, dst = np.concatenate((u[:-1], u[:-2])), np.concatenate((u[1:], u[2:]))
    return from_edges(src, dst, np.ones(src.size, dtype), shape=(n, n))


@pytest.fixture(scope="module")
def large() -> CSR:
    return path_with_shortcuts(ENTRIES + 2)


def said(call: Any) -> list[warnings.WarningMessage]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return caught


def test_an_algorithm_that_converts_the_matrix_says_so_and_names_the_conversion(large: CSR) -> None:
    C = large.to(COO)
    (warning,) = said(lambda: bfs(C, 0, max_level=3))
    assert warning.category is PerformanceWarning
    assert "converts the COO" in str(warning.message)
    assert "A.to(CSR)" in str(warning.message)
    assert said(lambda: (bfs(C, 1, max_level=3), sssp(C, 0))) == []  # the rows are kept


def test_the_warning_points_at_the_users_line(large: CSR) -> None:
    (warning,) = said(lambda: bfs(large.to(COO), 0, max_level=3))
    assert Path(warning.filename).name == Path(__file__).name


def test_a_warning_from_a_call_that_another_thread_makes_points_at_the_users_line() -> None:
    (warning,) = said(lambda: interruptible(lambda: warn_slow("slow", MIN_INTERRUPTIBLE_NNZ)))
    assert Path(warning.filename).name == Path(__file__).name


def test_a_definition_that_was_asked_for_is_not_warned_of(large: CSR) -> None:
    E = large.to(COO)

    def traced() -> None:
        with trace():
            bfs(E, 0, max_level=3)

    assert said(lambda: bfs(E, 0, max_level=3, fused=False)) == []
    assert said(traced) == []


def test_what_runs_fused_is_not_warned_of(large: CSR) -> None:
    assert said(lambda: (sssp(large, 0), bfs(large, 0))) == []


def test_small_matrices_are_not_warned_of() -> None:
    A = path_with_shortcuts(2_000)
    assert said(lambda: (bfs(A.to(COO), 0), mxv(A.to(CSB), SparseVector([0], [0.0], A.ncols), MinPlus))) == []


def test_a_semiring_whose_laws_are_not_declared_says_why_it_is_not_fused(large: CSR) -> None:
    plus = BinaryOp("my plus", scalar=lambda a, b: a + b, cuda="a + b")
    lawless = Semiring(MONOIDS["min"], plus, one=0)
    (warning,) = said(lambda: bellman_ford(large, large.nrows - 5, lawless))
    assert "bellman_ford runs unfused" in str(warning.message)
    assert "law" in str(warning.message)


def test_a_product_that_converts_the_matrix_says_so_and_names_the_conversion(large: CSR) -> None:
    B, x = large.to(CSB), SparseVector(np.arange(50) * 100, np.ones(50, np.float32), large.ncols)
    (warning,) = said(lambda: vxm(x, B, MinPlus))
    assert "converts the CSB" in str(warning.message)
    assert "A.to(CSR)" in str(warning.message)
    assert said(lambda: vxm(x, B, MinPlus)) == []  # the copy is kept


def test_a_product_of_the_other_orientation_of_compressed_rows_is_not_a_conversion_of_format(large: CSR) -> None:
    x = SparseVector(np.arange(50) * 100, np.ones(50, np.float32), large.ncols)
    assert said(lambda: (mxv(large, x, MinPlus), vxm(x, large.to(CSC), MinPlus), reduce(large.to(ELL), "min"))) == []


def test_the_command_line_says_it_in_one_sentence_on_stderr(large: CSR, tmp_path: Path) -> None:
    write(tmp_path / "path.el", large)
    command = [sys.executable, "-m", "algorithms.cli", "bfs", "path.el", "--source", "0", "--format", "coo"]
    done = subprocess.run([*command, "--max-level", "3"], cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(r"semiring: warning: this call converts the COO[^\n]*A\.to\(CSR\)\n", done.stderr)


def test_one_filter_silences_all(large: CSR) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", PerformanceWarning)
        bfs(large.to(COO), 0, max_level=3)


# --- loops of verbs that @fusible would compile -----------------------------------------------------------------------


def walked(A: Any, times: int) -> None:
    """A search of so many rounds, in verbs."""
    visited = np.zeros(A.nrows, bool)
    f = one_hot(A, 0)
    for _ in range(times):
        scatter(visited, f, True)
        f = vxm(f, A, "any_pair", mask=visited, complement=True)
    walked_once(A)


def walked_once(A: Any) -> Any:
    return vxm(one_hot(A, 0), A, "any_pair")


@pytest.fixture
def all_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loops are told of though they take little time, and although they were told of."""
    monkeypatch.setattr(rounds, "SECONDS", 0)
    rounds.seen.clear()


@pytest.mark.quick
@pytest.mark.usefixtures("all_at_once")
def test_a_loop_of_verbs_says_once_that_it_could_be_compiled() -> None:
    A = path_with_shortcuts(2_000)
    assert said(lambda: walked(A, rounds.ROUNDS // 2)) == []
    (warning,) = said(lambda: walked(A, 3 * rounds.ROUNDS))
    assert warning.category is PerformanceWarning
    assert "@fusible on walked" in str(warning.message)
    line = Path(__file__).read_text(encoding="utf-8").splitlines()[warning.lineno - 1]
    assert Path(warning.filename).name == Path(__file__).name
    assert line.strip() == 'f = vxm(f, A, "any_pair", mask=visited, complement=True)'
    assert said(lambda: walked(A, 3 * rounds.ROUNDS)) == []


@pytest.mark.quick
@pytest.mark.usefixtures("all_at_once")
def test_loops_of_algorithms_and_of_programs_are_not_told_of() -> None:
    A = path_with_shortcuts(2_000)
    program: Any = fusible(walked)
    assert said(lambda: program(A, 3 * rounds.ROUNDS, fused=False)) == []
    assert said(lambda: bellman_ford(A, 0, fused=False)) == []
    assert said(lambda: bfs(A, 0, fused=False)) == []


@pytest.mark.usefixtures("all_at_once")
def test_a_function_that_is_called_often_is_no_loop() -> None:
    A = path_with_shortcuts(2_000)
    assert said(lambda: [walked_once(A) for _ in range(3 * rounds.ROUNDS)]) == []


def test_quick_loops_are_not_told_of() -> None:
    rounds.seen.clear()
    A = path_with_shortcuts(20)
    assert said(lambda: walked(A, 3 * rounds.ROUNDS)) == []
