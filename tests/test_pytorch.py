"""PyTorch's tensors as arrays of matrices and vectors, and answers as its tensors: where the extra `torch` is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from algorithms import bfs, sssp
from formats import COO, CSR, Dense, Matrix, SparseVector, from_edges
from semiring import MinPlus, mxm, mxv

from .conftest import Backend
from .graphs import on_cpu

torch = pytest.importorskip("torch")

ENDS = [0, 0, 1, 3], [1, 2, 2, 3]
DTYPES = {"bool": "bool", "int32": "int32", "int64": "int64", "float32": "float32", "float64": "float64"}


def tensor(values: Any, device: str, dtype: str | None = None) -> Any:
    made = torch.tensor(values, device=device)
    return made if dtype is None else made.to(getattr(torch, dtype))


def place_of(array: Any) -> int:
    """Where an array's first element lies."""
    return array.data.ptr if hasattr(array.data, "ptr") else array.ctypes.data


def of_tensors(device: str, dtype: str) -> dict[str, Callable[[], tuple[Matrix, list[Any], list[Any]]]]:
    """By format: a matrix of tensors, its arrays, and the tensors."""
    rows, cols = (tensor(ends, device, "int32") for ends in ENDS)
    indptr, values = tensor([0, 2, 3, 3, 4], device, "int32"), tensor([1, 0, 1, 1], device, dtype)
    square = tensor([[1, 0], [0, 1]], device, dtype)

    def csr() -> Any:
        A = CSR(indptr, cols, values, (4, 4))
        return A, [A.indptr, A.indices, A.values], [indptr, cols, values]

    def coo() -> Any:
        A = COO(rows, cols, values, (4, 4))
        return A, [A.rows, A.cols, A.values], [rows, cols, values]

    def dense() -> Any:
        A = Dense(square, 0)
        return A, [A.values], [square]

    return {"CSR": csr, "COO": coo, "Dense": dense}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("name", "backend"), [each.param(n, name=n) for each in Backend for n in ("CSR", "COO", "Dense")]
)
def test_matrices_share_tensors(name: str, dtype: str, backend: str) -> None:
    A, arrays, tensors = of_tensors(backend, dtype)[name]()
    assert (A.device, A.dtype) == (backend, np.dtype(DTYPES[dtype]))
    for mine, theirs in zip(arrays, tensors, strict=True):
        if (name, dtype) != ("Dense", "bool"):  # whose bytes also say where nothing is
            assert place_of(mine) == theirs.data_ptr()
            assert on_cpu(mine).tolist() == theirs.tolist()


@pytest.mark.parametrize("backend", [each.param(name="torch") for each in Backend])
def test_edges_and_vectors_are_made_of_tensors(backend: Backend) -> None:
    device = backend.value
    weights = tensor([4.0, 1.0, 2.0, 9.0], device)
    A = from_edges(*(tensor(ends, device) for ends in ENDS), weights)
    assert (A.device, A.dtype) == (device, np.float32)
    assert A.to(device="cpu").equals(from_edges(*ENDS, np.array([4, 1, 2, 9], np.float32)))
    v = SparseVector(tensor([1, 3], device, "int32"), weights[:2], 4)
    assert place_of(v.values) == weights.data_ptr()
    assert on_cpu(bfs(A, sources=tensor([0, 1], device))).tolist() == [[0, 1, 1, -1], [-1, 0, 1, -1]]


@pytest.mark.parametrize("backend", [each.param(name="torch") for each in Backend])
def test_answers_become_tensors_and_tensors_operands_without_a_copy(backend: Backend) -> None:
    device = backend.value
    A = from_edges(*ENDS, [4.0, 1.0, 2.0, 9.0]).to(device=device)
    for answer in (sssp(A, 0), bfs(A, 0), sssp(A, sources=[0, 1]), mxm(A, A.xp.ones((4, 2)), "plus_times")):
        shared = torch.from_dlpack(answer)
        assert (shared.data_ptr(), shared.device.type) == (place_of(answer), device)
        assert shared.tolist() == on_cpu(answer).tolist()
    x = torch.zeros(4, dtype=torch.float64, device=device)
    y = mxv(A, A.xp.from_dlpack(x), MinPlus)
    assert on_cpu(y).tolist() == [1.0, 2.0, np.inf, 9.0]
    mxv(A, y, MinPlus, out=A.xp.from_dlpack(x))  # writes to PyTorch's memory
    assert x.tolist() == [6.0, np.inf, np.inf, 18.0]
    with pytest.raises(TypeError, match=r"got Tensor: \w+.from_dlpack\(…\) shares its memory"):
        mxv(A, x, MinPlus)


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta state")
def test_a_matrix_goes_to_pytorchs_sparse_tensor_and_back() -> None:
    A = from_edges(*ENDS, [4.0, 1.0, 2.0, 9.0])
    parts = [torch.from_dlpack(part.copy()) for part in (A.indptr, A.indices, A.values)]  # as A's are only to be read
    T = torch.sparse_csr_tensor(*parts, size=A.shape, check_invariants=True)
    assert T.to_dense().tolist() == A.to_dense(0.0).tolist()
    assert CSR(T.crow_indices(), T.col_indices(), T.values(), tuple(T.shape)).equals(A)
    assert T.values().data_ptr() == CSR(*parts, A.shape).values.ctypes.data
