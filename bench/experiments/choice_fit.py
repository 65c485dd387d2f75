"""The coefficients of `semiring.choice`, fitted to rows of the experiment "choice".

Nonnegative least squares [1] on the logarithm of the error: the rows of a (product, format) say Σ_t c_t t = ms, each
divided by the geometric mean of its ms and what the round before said of it, so that too much and too little count
alike, and rows that are far off, which something disturbed, count less. Times of formats that decide, those close to
the best, weigh more: where a matrix has a format that is far slower than the best one, it is enough to know that.

[1] C. Lawson, R. Hanson, Solving Least Squares Problems, Prentice-Hall, 1974, chapter 23.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from bench.measure import rounded
from formats.arrays import Device
from semiring.choice import Model, path_of
from semiring.features import Features, terms

Row = dict[str, Any]
FAR = 0.35
"""Of a format that takes k times as long as the best one, the row weighs 1 / k^FAR as much."""
ROUNDS = 6
FAR_OFF = 10
"""Ratio of a time to what is said of it from which on it is all the same."""
LEAST_MS = 1e-4
"""Setups and conversions below it are none."""


def fit(rows: list[Row]) -> Model:
    """The model of all (product, format) in the rows."""
    products: dict[str, dict[str, Any]] = {}
    for product in dict.fromkeys(row["product"] for row in rows):
        of_product = [row for row in rows if row["product"] == product]
        for fmt in dict.fromkeys(fmt for row in of_product for fmt in row["times"]):
            mine = [row for row in of_product if fmt in row["times"]]
            seen = [(Features(**row["features"]), row["bytes"][fmt]) for row in mine]
            best = np.array([min(row["times"].values()) for row in mine])
            ms = np.array([row["times"][fmt] for row in mine])
            setup = np.array([row["setups"][fmt] for row in mine])
            products.setdefault(product, {})[fmt] = {
                "ms": solved(seen, ms, (best / ms) ** FAR),
                "setup": solved(seen, setup, np.ones(ms.size)),
            }
    conversions: dict[str, Any] = {}
    once = list({row["graph"]: row for row in rows}.values())
    for fmt in dict.fromkeys(fmt for row in once for fmt in row["conversions"]):
        mine = [row for row in once if fmt in row["conversions"]]
        seen = [(Features(**row["features"]), row["bytes"][fmt]) for row in mine]
        taken = np.array([row["conversions"][fmt] for row in mine])
        conversions[fmt] = {way: solved(seen, taken[:, k], np.ones(len(mine))) for k, way in enumerate(("to", "from"))}
    return {"products": products, "conversions": conversions}


def solved(seen: list[tuple[Features, int]], ms: np.ndarray, weights: np.ndarray) -> dict[str, float]:
    """{term: coefficient}, without zeros."""
    from scipy.optimize import nnls

    known = [terms(f, nbytes) for f, nbytes in seen]
    names = list(known[0])
    T = np.array([[each[name] for name in names] for each in known])
    scale = np.maximum(np.median(T, axis=0), 1e-9) if len(T) else np.ones(len(names))
    target = np.maximum(ms, LEAST_MS)
    said = target
    for _ in range(ROUNDS):
        unsure = 1 + np.abs(np.log(said / target))
        scales = weights / np.sqrt(said * target) / unsure
        coefficients, _ = nnls(T / scale * scales[:, None], ms * scales)
        said = np.maximum(T / scale @ coefficients, target / FAR_OFF)
    found = zip(names, coefficients / scale, strict=True)
    return {name: rounded(float(c)) or 0.0 for name, c in found if c > 0}


def write_model(model: Model, device: Device, place: dict[str, Any]) -> None:
    """The coefficients beside the model, with the machine and the date."""
    known = {key: place[key] for key in ("date", "machine", "cores", "gpu", "commit") if key in place}
    path_of(device).write_text(json.dumps(known | dict(model), indent=1) + "\n", encoding="utf-8")
