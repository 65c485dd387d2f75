"""What verbs and algorithms take beside a matrix: the part of `Matrix.footprint` that formats know nothing of."""

from __future__ import annotations

from typing import Any

from formats import Matrix
from formats.hooks import WORK

from .registry import Fusible, Verb


@WORK.answered_by
def work(A: Matrix, fmt: type[Matrix], backend: str, wanted: dict[str, Any]) -> dict[str, int]:
    """Bytes of each part of a verb's or an algorithm's work on A in a format.

    Of a product with a dense vector, x and y and what is kept or held beside them, ⊕ idempotent; of an algorithm its
    vectors and what it keeps and holds, at most.  ValueError for a name that nobody knows.
    """
    parts: dict[str, int] = {}
    if (name := wanted.get("verb")) is not None:
        verb = _named(name, {known: verb for known, verb in Verb.all.items() if verb.needs}, "verb")
        verb.find(fmt, backend)
        needs = verb.needs.get((fmt, backend)) or verb.needs[Matrix, backend]
        parts["x and y"] = (A.nrows + A.ncols) * A.dtype.itemsize
        parts |= {part: size for part, size in needs(A, fmt).items() if size}
    if (name := wanted.get("algorithm")) is not None:
        algorithm: Any = _named(name, Fusible.all, "algorithm")
        form = algorithm.runs_fused(fmt, backend)
        vertex, entry = algorithm.holds.written if form is None else algorithm.holds.fused
        parts["vectors"] = vertex * A.nrows
        parts["kept, at most"] = entry * A.nnz
        if form not in (fmt, None):
            parts[f"rows as {form.__name__}, kept"] = form.predicted_nbytes(A)
        if (form, backend) in algorithm.needs:
            parts |= algorithm.needs[form, backend](A, form)
    return parts


def _named(name: str, known: Any, kind: str) -> Any:
    if name not in known:
        raise ValueError(f"no {kind} is called {name!r}; there are {', '.join(sorted(known)) or 'none yet'}")
    return known[name]
