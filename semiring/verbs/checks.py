"""The checks that every verb makes of its arguments, before any work: an error names the argument and the rule."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from formats import DTYPES, Matrix, SparseVector
from formats.arrays import (
    Array,
    as_indices,
    as_integers,
    check_not_masked,
    check_range,
    index_dtype,
    is_array,
    looked_through,
    namespace,
    refuse,
    to_device,
)
from formats.places import Place, place_of

_own: ContextVar[bool] = ContextVar("own", default=False)


@contextmanager
def own_vectors() -> Iterator[None]:
    """Take vectors within the block as verbs have written them: they are not looked through for NaN each time.

    An algorithm's round costs what its frontier does, and a look at every vertex would be most of it. A frontier that
    is multiplied is looked through, for operators of users' own may have made NaN.
    """
    token = _own.set(True)
    try:
        yield
    finally:
        _own.reset(token)


def check_matrix(name: str, A: Any) -> None:
    """TypeError unless `A` is a matrix; of what is a graph elsewhere, it names the call that makes one."""
    if isinstance(A, Matrix):
        return
    formats = ", ".join(fmt.__name__ for fmt in Matrix.formats.values())
    raise TypeError(f"{name} must be a matrix ({formats}), got {type(A).__name__}: {converting_call(name, A)}")


def converting_call(name: str, A: Any) -> str:
    """How a matrix is made of what is none, as an error says it."""
    if isinstance(getattr(A, "matrix", None), Matrix):
        return f"pass its {name}.matrix, in which {name}.index(…) is the number of a vertex"
    library = type(A).__module__.partition(".")[0]
    if maker := MAKERS.get(library):
        return f"formats.{maker}({name}) makes one"
    return "from_edges, from_scipy and from_networkx make one"


MAKERS = {"scipy": "from_scipy", "cupyx": "from_cupyx", "networkx": "from_networkx", "graphblas": "from_graphblas"}
"""The function of `formats` for what another library calls a graph or a matrix."""


def sharing_call(x: Any) -> str:
    """How an array shares the memory of another library's, as an error says it; "" if that does not know DLPack."""
    if not hasattr(x, "__dlpack_device__"):
        return ""
    library = "numpy" if x.__dlpack_device__()[0] == ON_HOST else "cupy"
    return f": {library}.from_dlpack(…) shares its memory"


ON_HOST = 1
"""DLPack's number of a CPU."""


def as_vertex(A: Matrix, vertex: Any, name: str = "source") -> int:
    """A vertex of the graph A. ValueError for a matrix that is not square or a vertex outside it."""
    check_graph(A)
    try:
        v = operator.index(vertex)
    except TypeError:
        several = "; sources=[…] takes several" if name == "source" else ""
        raise TypeError(f"{name} must be an integer, got {vertex!r}{several}") from None
    if not 0 <= v < A.nrows:
        raise ValueError(f"{name} must be in [0, {A.nrows}), got {v}")
    return v


def check_graph(A: Matrix) -> None:
    """ValueError for a matrix that is not square, TypeError for what is no matrix."""
    check_matrix("A", A)
    if A.nrows != A.ncols:
        raise ValueError(f"a graph needs a square matrix, got shape {A.shape}")


def starting_points(A: Matrix, source: int | None, sources: Any) -> list[int]:
    """A source, or several, as a list of vertices of the graph A. TypeError unless exactly one of the two is given."""
    if (source is None) == (sources is None):
        raise TypeError("give either a source or sources=[…]")
    if source is not None:
        return [as_vertex(A, source)]
    check_graph(A)
    starts: list[int] = to_device(as_indices(sources, "sources", A.nrows), "cpu").tolist()
    return starts


def check_pair(A: Any, B: Any) -> None:
    """TypeError or ValueError unless `A` and `B` are matrices on one device."""
    check_matrix("the first operand", A)
    check_matrix("the second operand", B)
    if A.place is not B.place:
        raise ValueError(f"the matrices are on {A.device} and {B.device}: move one of them with .to(device=…)")


def check_operands(A: Any, B: Any) -> Place:
    """The place of two operands of mxm, one of which at least is an array; TypeError or ValueError if they do not fit.

    An array has two dimensions, and a dtype and values that vectors may have.
    """
    for name, x in (("the first operand", A), ("the second operand", B)):
        if isinstance(x, Matrix):
            continue
        if not is_array(x):
            what = type(x).__name__ + sharing_call(x)
            raise TypeError(f"{name} of mxm must be a matrix or a two-dimensional array, got {what}")
        if x.ndim != 2:
            use = ": of a matrix and a vector, use mxv or vxm" if x.ndim == 1 else ""
            raise ValueError(f"{name} of mxm must be two-dimensional, got {x.ndim} dimensions{use}")
        check_not_masked(x, name)
        check_dtype(name, x)
    if A.shape[1] != B.shape[0]:
        raise ValueError(f"A's columns must be B's rows in number, got shapes {A.shape} and {B.shape}")
    place = place_of(A)
    if place_of(B) is not place:
        raise ValueError(f"the operands are on {place} and {place_of(B)}: move one of them with .to(device=…)")
    for name, x in (("the first operand", A), ("the second operand", B)):
        if not isinstance(x, Matrix):
            check_numbers(name, x)
    return place


def check_result(name: str, place: Place, nbytes: int) -> None:
    """OutOfHostMemory or OutOfDeviceMemory if a verb's result of at most so many bytes exceeds the user's limit."""
    if place.limit is not None:
        place.check_room(f"{name}, for its result,", nbytes)


def check_operand(name: str, x: Any, size: int, A: Matrix) -> None:
    """TypeError or ValueError unless `x` is a vector of `size` elements that can be multiplied with `A`."""
    check_vector(name, x, size, A.place)
    check_dtype(name, x)
    check_numbers(name, x)


def check_vectors(*vectors: Any) -> Place:
    """The place that the vectors share; TypeError or ValueError if they are not vectors of one size on one device."""
    first = vectors[0]
    if not (isinstance(first, SparseVector) or is_array(first)):
        raise TypeError(f"expected a matrix or a vector, got {type(first).__name__}")
    place, own = place_of(first), _own.get()
    for x in vectors:
        check_vector("each vector", x, first.size, place)
        check_dtype("each vector", x)
        if not own:
            check_numbers("each vector", x)
    return place


def check_vector(name: str, x: Any, size: int, place: Place) -> None:
    """ValueError or TypeError unless `x` is a vector of `size` elements there."""
    if not isinstance(x, SparseVector):
        if not is_array(x):
            what = type(x).__name__ + sharing_call(x)
            raise TypeError(f"{name} must be an array or a SparseVector, got {what}")
        if x.ndim != 1:
            raise ValueError(f"{name} must be one-dimensional, got {x.ndim} dimensions")
        if type(x) is not np.ndarray:
            check_not_masked(x, name)
    length = x.size
    if length != size:
        raise ValueError(f"{name} must have {size} elements, got {length}")
    check_place(name, x, place)


def check_place(name: str, x: Any, place: Place) -> None:
    """ValueError unless the array, vector or matrix is there."""
    if place_of(x) is not place:
        raise ValueError(f"{name} is on {place_of(x)}, the matrix on {place}: move one of them with .to(device=…)")


def check_accum(accum: Any, out: Any, complement: bool, mask: Any) -> None:
    """ValueError for an argument that would have no effect."""
    if accum is not None and out is None:
        raise ValueError("accum needs out=: without it there is nothing to accumulate into")
    if complement and mask is None:
        raise ValueError("complement needs mask=: without it there is nothing to complement")


def check_dtype(name: str, x: Any) -> None:
    """TypeError unless the dtype of `x` is one that vectors may have."""
    if x.dtype not in DTYPES:
        raise TypeError(f"{name} must be of dtype {', '.join(d.name for d in DTYPES)}, got {x.dtype}")


def check_numbers(name: str, x: Any) -> None:
    """ValueError if a vector on the CPU holds NaN, with its position: no semiring here can order or add it.

    The check is one pass over the values, which `own_vectors` saves. On a GPU the host would have to wait for its
    result, so there is none.
    """
    values = x.values if isinstance(x, SparseVector) else x
    on_host = isinstance(values, np.ndarray)
    if not on_host or values.dtype.kind != "f" or not values.size or (values is x and _own.get()):
        return
    least = values.item(values.argmin())  # NaN if there is one
    if least != least:
        at = tuple(map(int, np.argwhere(np.isnan(values))[0]))
        where: Any = x.indices[at] if x is not values else at if len(at) > 1 else at[0]
        raise ValueError(f"{name} must not hold NaN, got NaN at position {where}")


def is_index(obj: Any) -> bool:
    """True if `obj` is a single integer."""
    return isinstance(obj, int | np.integer) and not isinstance(obj, bool)


def chosen(A: Matrix, rows: Any, cols: Any) -> list[Array | None]:
    """The rows and columns that a verb on `A` is given, checked, as arrays in A's place; None for all."""
    return [places for places, _ in _looked(A, rows, cols)]


def in_order(A: Matrix, rows: Any, cols: Any) -> tuple[list[Array | None], list[Array | None]]:
    """Lists rows and columns as `chosen` does, but ascending, and what sorted each; None where nothing had to.

    ValueError if one of them is given twice.
    """
    ascending: list[Array | None] = []
    orders: list[Array | None] = []
    for (places, ascends), name in zip(_looked(A, rows, cols), ("rows", "cols"), strict=True):
        order = None
        if places is not None and not (bool((places[1:] > places[:-1]).all()) if ascends is None else ascends):
            order = places.argsort()
            places = places[order]
            check_distinct(places, name)
        ascending.append(places)
        orders.append(order)
    return ascending, orders


def _looked(A: Matrix, rows: Any, cols: Any) -> list[tuple[Array | None, bool | None]]:
    """Pairs (the rows or columns, checked; True if they ascend, None where that was not looked for), for both."""
    given = [
        None if part is None else (as_integers(part, name), name, bound)
        for part, name, bound in ((rows, "rows", A.nrows), (cols, "cols", A.ncols))
    ]
    found = looked_through(*((part[0], part[2]) for part in given if part is not None))
    flags = None if found is None else iter(found)
    result: list[tuple[Array | None, bool | None]] = []
    for part in given:
        if part is None:
            result.append((None, None))
            continue
        indices, name, bound = part
        outside, descends = (None, None) if flags is None else next(flags)
        if outside is None:
            check_range(indices, name, bound)
        elif outside:
            refuse(indices, name, bound)
        places = to_device(indices.astype(index_dtype(bound), copy=False), A.place)
        result.append((places, None if descends is None else not descends))
    return result


def one_index(index: int, name: str, bound: int) -> np.ndarray:
    """An array of one index on the host, checked without what an array would take."""
    if not 0 <= index < bound:
        raise ValueError(f"{name} must be in [0, {bound}), got {index}")
    return np.array([index], index_dtype(bound))


def check_distinct(indices: Array, name: str) -> None:
    """ValueError if one of the indices repeats."""
    looked = looked_through((indices, 0))
    if looked is not None and not looked[0][1]:
        return
    ordered = namespace(indices).sort(indices)
    if bool((ordered[1:] == ordered[:-1]).any()):
        raise ValueError(f"{name} must not repeat, but {ordered[1:][ordered[1:] == ordered[:-1]][0]} does")
