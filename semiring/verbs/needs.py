"""The memory of verbs and algorithms beside a matrix: the part of `Matrix.footprint` that formats know nothing of."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from formats import CSR, Matrix
from formats.arrays import index_dtype
from formats.hooks import KNOWS_ALGORITHMS, WORK

from .fusible import Fusible
from .registry import Verb
from .verbs import dense_mxm


def algorithms() -> dict[str, Verb[..., Any]]:
    """Every fusible algorithm by name; ours are imported for it."""
    for name in (ours := import_module(KNOWS_ALGORITHMS)).__all__:
        getattr(ours, name)
    return Fusible.all


@WORK.answered_by
def work(A: Matrix, fmt: type[Matrix], backend: str, wanted: dict[str, Any]) -> dict[str, int]:
    """Bytes of each part of a verb's or an algorithm's work on A in a format.

    Of a product with a dense vector, x and y and what is kept or held beside them, ⊕ idempotent, and likewise with
    `columns` of them; of an algorithm its vectors and what it keeps and holds, at most, with answers and parents of
    `sources`.  ValueError for a name that nobody knows, and for `columns` or `sources` of what has none.
    """
    verb, algorithm = wanted.get("verb"), wanted.get("algorithm")
    columns, sources = wanted.get("columns"), wanted.get("sources")
    if columns is not None and verb != "mxm":
        raise ValueError(f"columns= is about the dense operand of verb='mxm', got verb={verb!r}")
    several: Any = algorithms().get(algorithm) if algorithm is not None else None
    if sources is not None and not (several and several.batch.cells.load(backend)):
        raise ValueError(f"sources= is about an algorithm with several sources, got algorithm={algorithm!r}")
    parts: dict[str, int] = {}
    if verb is not None:
        parts |= _of_verb(A, fmt, backend, verb, columns)
    if algorithm is not None:
        parts |= _of_algorithm(A, fmt, backend, algorithm)
    if sources is not None:
        parts |= _of_sources(A, backend, several, sources)
    return parts


def _of_verb(A: Matrix, fmt: type[Matrix], backend: str, name: str, columns: int | None) -> dict[str, int]:
    known = {known: verb for known, verb in Verb.all.items() if verb.needs.load(backend)} | {"mxm": dense_mxm}
    verb = _named(name, known, "verb")
    if verb is dense_mxm and columns is None:
        raise ValueError("mxm's footprint is that of a product with a dense matrix: say of how many columns=")
    verb.find(fmt, backend)
    needs = verb.needs.get((fmt, backend)) or verb.needs[Matrix, backend]
    operands = "x and y" if columns is None else "X and Y"
    parts = {operands: (A.nrows + A.ncols) * (columns or 1) * A.dtype.itemsize}
    more = needs(A, fmt) if columns is None else needs(A, fmt, columns)
    return parts | {part: size for part, size in more.items() if size}


def _of_algorithm(A: Matrix, fmt: type[Matrix], backend: str, name: str) -> dict[str, int]:
    algorithm: Any = _named(name, algorithms(), "algorithm")
    form = algorithm.runs_fused(fmt, backend)
    vertex, entry = algorithm.memory.equations if form is None else algorithm.memory.fused
    parts = {"vectors": vertex * A.nrows, "kept, at most": entry * A.nnz}
    if form not in (fmt, None):
        parts[f"rows as {form.__name__}, kept"] = form.predicted_nbytes(A)
    if (form, backend) in algorithm.needs:
        parts |= algorithm.needs[form, backend](A, form)
    return parts


def _of_sources(A: Matrix, backend: str, algorithm: Fusible[..., Any], sources: int) -> dict[str, int]:
    """The answers, and what as many sources as are taken at once take beside them."""
    width = max(A.dtype.itemsize, 4) + index_dtype(A.nrows).itemsize
    parts = {"answers": sources * A.nrows * width}
    cell = algorithm.batch.cells.get((CSR, backend))
    if cell is not None and sources > 1:
        size = min(sources, cell.most)
        parts["sources at once"] = cell.needs(A, size) + cell.for_parents(A, size)
    return parts


def _named(name: str, known: Any, kind: str) -> Any:
    if name not in known:
        raise ValueError(f"no {kind} is called {name!r}; there are {', '.join(sorted(known)) or 'none yet'}")
    return known[name]
