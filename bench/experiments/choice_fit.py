"""The coefficients of `semiring.tuning.choice`, fitted to rows of the experiment "choice".

Nonnegative least squares [1] on the logarithm of the error: the rows of a (product, format) say Σ_t c_t t = ms, each
divided by the geometric mean of its ms and what the round before said of it, so that too much and too little count
alike, and rows that are far off, which something disturbed, count less. Times of formats that decide, those close to
the best, weigh more: where a matrix has a format that is far slower than the best one, it is enough to know that.

What matters is the format that the coefficients choose. So they are fitted again and again: on a matrix where they
choose a slow format, its times in the formats that were taken for the fastest, and in the one that is, weigh more the
next time, as in boosting [2]; of all rounds the one is kept whose choices cost least.

[1] C. Lawson, R. Hanson, Solving Least Squares Problems, Prentice-Hall, 1974, chapter 23.
[2] Y. Freund, R. E. Schapire, A decision-theoretic generalization of on-line learning and an application to boosting,
    Journal of Computer and System Sciences 55(1), 1997.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from bench.measure import rounded
from formats.arrays import Device
from semiring.tuning.choice import Model, path_of
from semiring.tuning.features import Features, terms

Row = dict[str, Any]
Coefficients = dict[str, float]

FAR = 0.35
"""Of a format that takes k times as long as the best one, the row weighs 1 / k^FAR as much."""
ROUNDS = 6
FAR_OFF = 10
"""What is said of a time counts as at least 1 / FAR_OFF of it."""
LEAST_MS = 1e-4
"""Setups and conversions below it are none."""

CHOICES = 30
"""Times that the coefficients of a product are fitted, with other weights."""
GOOD = 1.05
"""Regret that changes no weight."""
HEAVIEST = 10.0
"""Weight of a row at most."""


@dataclass(frozen=True)
class Design:
    """The terms of some matrices in a format, a row for each, in units of their medians."""

    names: list[str]
    T: np.ndarray
    scale: np.ndarray

    @classmethod
    def of(cls, rows: list[Row], fmt: str) -> Design:
        known = [terms(Features(**row["features"]), row["bytes"][fmt]) for row in rows]
        names = list(known[0])
        T = np.array([[each[name] for name in names] for each in known])
        scale = np.maximum(np.median(T, axis=0), 1e-9)
        return cls(names, T / scale, scale)

    def solved(self, ms: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """(terms,), >= 0: of T's columns, to give `ms`, (matrices,) milliseconds, with weights, (matrices,)."""
        from scipy.optimize import nnls

        said = target = np.maximum(ms, LEAST_MS)
        for _ in range(ROUNDS):
            unsure = 1 + np.abs(np.log(said / target))
            scales = weights / np.sqrt(said * target) / unsure
            coefficients, _ = nnls(self.T * scales[:, None], ms * scales)
            said = np.maximum(self.T @ coefficients, target / FAR_OFF)
        return coefficients

    def named(self, coefficients: np.ndarray) -> Coefficients:
        """{term: milliseconds for one of it}, without zeros."""
        found = zip(self.names, coefficients / self.scale, strict=True)
        return {name: rounded(float(c)) or 0.0 for name, c in found if c > 0}


def fit(rows: list[Row]) -> Model:
    """The model of all (product, format) in the rows."""
    names = dict.fromkeys(row["product"] for row in rows)
    products = {name: of_product([row for row in rows if row["product"] == name]) for name in names}
    conversions: dict[str, Any] = {}
    once = list({row["graph"]: row for row in rows}.values())
    for fmt in dict.fromkeys(fmt for row in once for fmt in row["conversions"]):
        mine = [row for row in once if fmt in row["conversions"]]
        design, taken = Design.of(mine, fmt), np.array([row["conversions"][fmt] for row in mine])
        solved = (design.solved(taken[:, k], np.ones(len(mine))) for k in range(2))
        conversions[fmt] = dict(zip(("to", "from"), map(design.named, solved), strict=True))
    return {"products": products, "conversions": conversions}


def of_product(rows: list[Row]) -> dict[str, dict[str, Coefficients]]:
    """The coefficients of every format: of a call of the product, and of what the first takes beyond it."""
    formats = list(dict.fromkeys(fmt for row in rows for fmt in row["times"]))
    there = np.array([[fmt in row["times"] for fmt in formats] for row in rows])
    ms = np.array([[row["times"].get(fmt, np.inf) for fmt in formats] for row in rows])
    designs = [Design.of([row for row in rows if fmt in row["times"]], fmt) for fmt in formats]
    best = ms.min(axis=1)
    weights = (best[:, None] / ms) ** FAR
    least, kept = np.inf, []
    for _ in range(CHOICES):
        said, found = np.full(ms.shape, np.inf), []
        for k, design in enumerate(designs):
            mine = there[:, k]
            found.append(design.solved(ms[mine, k], weights[mine, k]))
            said[mine, k] = design.T @ found[-1]
        regret = ms[np.arange(len(rows)), said.argmin(axis=1)] / best
        cost = float((np.log(regret) ** 3).sum())  # the worst count most
        if cost < least:
            least, kept = cost, found
        ahead = said <= said[np.arange(len(rows)), ms.argmin(axis=1)][:, None]  # of the fastest format, and itself
        factor = np.where(ahead & (regret > GOOD)[:, None], regret[:, None], 1.0)
        weights = np.minimum(weights * factor, HEAVIEST)
    calls = (design.named(coefficients) for design, coefficients in zip(designs, kept, strict=True))
    return {
        fmt: {"ms": call, "setup": setups(design, [row["setups"][fmt] for row in rows if fmt in row["times"]])}
        for fmt, design, call in zip(formats, designs, calls, strict=True)
    }


def setups(design: Design, ms: list[float]) -> Coefficients:
    """The coefficients of what first products take beyond further ones, all matrices alike."""
    return design.named(design.solved(np.array(ms), np.ones(len(ms))))


def write_model(model: Model, device: Device, place: dict[str, Any]) -> None:
    """The coefficients beside the model, with the machine and the date."""
    known = {key: place[key] for key in ("date", "machine", "cores", "gpu", "commit") if key in place}
    path_of(device).write_text(json.dumps(known | dict(model), indent=1) + "\n", encoding="utf-8")
