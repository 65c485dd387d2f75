"""Which storage format to convert a matrix to, by a model of what products in it cost.

    A.to("auto", verb="mxv", calls=1000)         # converts, or stays
    print(choose(A, "mxv", calls=1000))          # says why, and converts nothing

    cost(format) = conversion + first call's extra + calls · ms        ms = Σ_t c_t · t(A, format),  c_t >= 0

The terms t (`features.terms`) are extents, bytes moved and cache lines touched, found without converting. Coefficients
were fitted to measured times, for each device, product and format, by `python -m bench choice`, and are in
`choice_<device>.json` with the machine and the date. A format that nobody has measured is not chosen, and says so.

Choosing a sparse format by a model of cheap features: K. Li, W. Yang, K. Li, Performance Analysis and Optimization for
SpMV on GPU Using Probabilistic Modeling, IEEE TPDS 26(1), 2015.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from formats import Matrix
from formats.arrays import Device
from formats.hooks import answers
from formats.matrix.footprint import footprint

from ..algebra.semirings import MinPlus, Semiring, find_semiring
from ..verbs.checks import check_matrix
from ..verbs.explanation import note_choice
from ..verbs.registry import Verb
from .features import Features, features, terms

ONE_IN = 64
"""Of so many elements one is present in the sparse operand that is modelled, as in the frontier of a search."""


@dataclass(frozen=True)
class Product:
    """What is modelled: a verb, with a dense operand or a sparse one, over an ⊕ that is idempotent, or is not."""

    verb: str
    sparse: bool
    idempotent: bool

    @property
    def name(self) -> str:
        kind = "" if self.idempotent else ", sums"
        return f"{self.verb}, {'sparse' if self.sparse else 'dense'}{kind}"


PRODUCTS: dict[str, Product] = {
    product.name: product
    for product in (
        Product(verb, sparse, idempotent)
        for sparse, idempotent in ((False, True), (True, True), (False, False))
        for verb in ("mxv", "vxm")
    )
}
"""By name. A sparse operand of sums is taken for one of an idempotent ⊕."""

Model = Mapping[str, Any]
"""products: {product: {format: {"ms": {term: coefficient}, "setup": …}}}; conversions: {format: {"to": …, "from": …}}.

"to" and "from": CSR.  setup: what the first call takes beyond a further one.
"""


@dataclass(frozen=True, repr=False)
class Choice:
    """What was chosen, and every candidate.

    chosen: the format's name.  own: that which the matrix has.  candidates: dicts, the cheapest first: `format`, `ms`
    of a call, `conversion_ms`, `setup_ms`, `total_ms` of all calls, as predicted, `nbytes`; `why` it cannot be chosen,
    or None.  fitted: the machine on which what is predicted was measured, and when.
    """

    what: str
    own: str
    chosen: str
    calls: int
    candidates: list[dict[str, Any]]
    fitted: str = ""

    @property
    def why(self) -> str:
        """The choice in a sentence."""
        found = {row["format"]: row for row in self.candidates}
        own, best = found[self.own], found[self.chosen]
        if own["why"] is not None:
            return f"{self.own} stays: {own['why']}"
        if self.chosen == self.own:
            return f"{self.own} stays: no other format makes up for its conversion in {self.calls:,} calls"
        return (
            f"{self.chosen}: {self.calls:,} calls and the conversion take {_ms(best['total_ms'])} ms, "
            f"{self.own} {_ms(own['total_ms'])} ms, as predicted"
        )

    def __str__(self) -> str:
        lines = [f"{self.what}: {self.why}"]
        for row in self.candidates:
            size = f"{row['nbytes'] / 2**20:,.1f} MiB" if row["nbytes"] is not None else ""
            if row["why"] is None:
                parts = (f"{_ms(row[key]):>10}" for key in ("ms", "conversion_ms", "setup_ms", "total_ms"))
                lines.append(f"    {row['format']:14}{''.join(parts)} ms  {size}")
            else:
                lines.append(f"    {row['format']:14}{row['why']}")
        lines.insert(1, f"    {'':14}{'a call':>10}{'convert':>10}{'first':>10}{'in all':>10}")
        if self.fitted:
            lines.append(f"    as measured on {self.fitted}; python -m bench choice measures this machine")
        return "\n".join(lines)

    __repr__ = __str__


def choose(
    A: Matrix,
    verb: str | Verb[..., Any] = "mxv",
    *,
    calls: int = 100,
    semiring: Semiring | str = MinPlus,
    operand: str = "dense",
) -> Choice:
    """The format in which so many calls of a product take the least time, conversion included, as predicted.

    verb: mxv or vxm.  calls: how many there will be.  operand: "dense", or "sparse", as a search's frontiers.
    Nothing is converted. What does not fit into memory, what is mostly padding, and what was never measured is not
    chosen. ValueError for a verb, an operand or a number of calls that there is not.
    """
    check_matrix("A", A)
    s = find_semiring(semiring)
    if operand not in ("dense", "sparse"):
        raise ValueError(f"operand must be 'dense' or 'sparse', got {operand!r}")
    if not isinstance(calls, int | np.integer) or calls < 1:
        raise ValueError(f"calls must be a whole number from 1 on, got {calls!r}")
    name = verb.name if isinstance(verb, Verb) else verb
    product = Product(name, operand == "sparse", s.add.idempotent or operand == "sparse")
    if product.name not in PRODUCTS:
        known = ", ".join(dict.fromkeys(product.verb for product in PRODUCTS.values()))
        raise ValueError(f"verb must be one of {known}, got {name!r}")
    model, seen, own = model_of(A.device), features(A), type(A)
    formats = dict.fromkeys([own, *(fmt for fmt, device in Verb.all[name].table if device == A.device)])
    back = cost(model["conversions"], _name(own), "from", seen, A.nbytes)
    rows = [_candidate(A, fmt, product, calls, model, seen, back) for fmt in formats]
    able = [row for row in rows if row["why"] is None]
    stays = rows[0]["why"] is not None or not able
    chosen = rows[0] if stays else min(able, key=lambda row: row["total_ms"])
    rows.sort(key=lambda row: row["total_ms"] if row["why"] is None else float("inf"))
    what = f"{product.name}, {s.name}: {A.nrows:,} × {A.ncols:,}, {A.nnz:,} entries, {A.device}"
    return Choice(what, _name(own), chosen["format"], calls, rows, _fitted(model))


def _fitted(model: Model) -> str:
    """Where and when the model's times were measured; "" if it does not say."""
    place = model.get("gpu") or f"{model.get('cores')} cores of {model.get('machine')}"
    return f"{place}, {model['date']}" if "date" in model else ""


@answers("choice")
def _chosen(A: Matrix, options: dict[str, Any]) -> str:
    """The format's name, for `A.to("auto", …)`."""
    choice = choose(A, **options)
    note_choice(choice)
    return choice.chosen


def _candidate(
    A: Matrix, fmt: type[Matrix], product: Product, calls: int, model: Model, seen: Features, back: float | None
) -> dict[str, Any]:
    name, stays = _name(fmt), fmt is type(A)
    row: dict[str, Any] = {"format": name, "ms": None, "conversion_ms": None, "setup_ms": None, "total_ms": None}
    row |= {"nbytes": None, "why": None}
    try:
        if not stays:
            fmt._check_padding(A, {})
        needed = footprint(A, fmt, A.device, {}, {})
    except (ValueError, NotImplementedError) as error:
        return row | {"why": str(error)}
    row["nbytes"] = needed.matrix
    if not needed.fits:
        return row | {"why": f"needs {needed.total:,} bytes, of {needed.available:,} available"}
    table = model["products"].get(product.name, {})
    ms, setup = (cost(table, name, part, seen, needed.matrix) for part in ("ms", "setup"))
    there = cost(model["conversions"], name, "to", seen, needed.matrix)
    if ms is None or setup is None or there is None or back is None:
        return row | {"why": f"never measured on {A.device}: python -m bench choice"}
    conversion = 0.0 if stays else back + there
    setup = 0.0 if stays and A.kept_nbytes else setup
    return row | {
        "ms": ms,
        "conversion_ms": conversion,
        "setup_ms": setup,
        "total_ms": conversion + setup + calls * ms,
    }


def predicted_ms(model: Model, product: str, fmt: str, seen: Features, nbytes: int) -> float | None:
    """Of a call; None where nothing was measured."""
    return cost(model["products"].get(product, {}), fmt, "ms", seen, nbytes)


def cost(table: Mapping[str, Any], fmt: str, part: str, seen: Features, nbytes: int) -> float | None:
    """Σ_t c_t · t(A, format), milliseconds; None where the table has nothing of the format."""
    if fmt not in table:
        return None
    known = terms(seen, nbytes)
    return sum(coefficient * known[term] for term, coefficient in table[fmt][part].items())


def path_of(device: Device) -> Path:
    """Where the coefficients of a device are."""
    return Path(__file__).with_name(f"choice_{device}.json")


@lru_cache(maxsize=4)
def model_of(device: Device) -> Model:
    """The device's coefficients; none of anything where it was never measured."""
    path = path_of(device)
    if not path.exists():
        return {"products": {}, "conversions": {}}
    return json.loads(path.read_text(encoding="utf-8"))


def _ms(x: float) -> str:
    return f"{x:,.0f}" if x >= 1000 else f"{x:.3g}"


def _name(fmt: type[Matrix]) -> str:
    return fmt.__name__.lower()
