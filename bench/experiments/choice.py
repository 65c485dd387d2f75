"""The choice of a format: what its model is fitted to, and how far its choices are from the best.

    python -m bench choice                    # times, fits, and writes semiring/tuning/choice_cpu.json
    python -m bench choice --device cuda
    python -m bench refit ROWS.jsonl          # the same of times that a run has measured, when model or fit has changed

A named set of matrices, families × sizes, each in every format that takes it. Every product is timed in every format,
after all answers were found equal. Then the coefficients of each (product, format) are fitted (`choice_fit`), and
`regret` is the time of the format that the model chooses over the time of the best one: 1 where the choice is right.
`regret_unseen` is the same by a model that was fitted without the matrix's family.

A row is a product on a matrix, once as it was measured, and once as the model chooses:

    ms              of the fastest format, `best`; of the chosen one
    times           of every format, ms
    conversions     from CSR to every format, and back, ms
    setups          what the first product takes beyond a further one, ms
    features        what the model sees
    predicted       by the model, ms

The last rows have the median and the worst regret of each product.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median, median_low, quantiles
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.experiment import Experiment, Row, Setting, draw, load, released, write
from bench.graphs import fifth, grid, predecessors, rmat, ssca2, uniform
from bench.measure import MACHINE, machine
from formats import CSR, Matrix, SparseVector, from_edges, permute
from formats.arrays import Device, namespace
from semiring import MinPlus, PlusTimes, Semiring, mxv, vxm
from semiring.tuning.choice import ONE_IN, PRODUCTS, Model, Product, predicted_ms
from semiring.tuning.comparison import same, stored
from semiring.tuning.features import Features, features
from semiring.tuning.timing import Disagreement, batched_clock, finished_ms, in_turns, rounded, unkept

from .choice_fit import fit, write_model

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CONVERSIONS = 2
"""Times that a conversion is timed; the shorter one counts, for the first compiles."""
SECONDS = 0.25
"""That a format's repeats of a product may take, but for three."""
BATCH_MS, MOST_ON_GPU = 1.0, 7
"""Milliseconds of a batch of calls on a GPU, and repeats there: the whole set has to be timed in five minutes."""
SPARSE_REPEATS = 5
"""Times as many repeats of a product with a sparse operand on a GPU: most of it is Python's time, which varies."""
TIMES, CHOSEN, REGRET = "times", "chosen", "regret"
"""What a row answers."""
ALL = "all matrices"
FACTS = (*MACHINE, "experiment", "quick")
"""What a row says of the run."""
SEMIRINGS: dict[bool, Semiring] = {True: MinPlus, False: PlusTimes}
"""By which an idempotent ⊕, and one that is not, are timed."""


# --- matrices ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Family:
    """Matrices of one kind in several sizes, log2 of about as many rows."""

    name: str
    make: Callable[[int, Device], CSR]
    quick: tuple[int, ...]
    cpu: tuple[int, ...]
    cuda: tuple[int, ...]

    def sizes(self, setting: Setting) -> tuple[int, ...]:
        return self.quick if setting.quick else self.cuda if setting.device == "cuda" else self.cpu


def any_shape(nrows: int, ncols: int, nnz: int, device: Device) -> CSR:
    """Entries at random places of a rectangle."""
    rows, cols = (scrambled(nnz, stream) for stream in (1, 2))
    A = from_edges(rows % np.uint64(nrows), cols % np.uint64(ncols), weights(nnz), shape=(nrows, ncols))
    return A.to(device=device)  # type: ignore[return-value]


def banded(scale: int, width: int, device: Device) -> CSR:
    """All diagonals that are at most `width` from the main one."""
    n = 1 << scale
    rows = np.repeat(np.arange(n), 2 * width + 1)
    cols = rows + np.tile(np.arange(-width, width + 1), n)
    inside = (cols >= 0) & (cols < n)
    return of(rows[inside], cols[inside], n, device)


def blocks(scale: int, side: int, device: Device) -> CSR:
    """Full blocks along the diagonal."""
    n = 1 << scale
    rows = np.repeat(np.arange(n), side)
    return of(rows, rows // side * side + np.tile(np.arange(side), n), n, device)


def with_hub(scale: int, device: Device) -> CSR:
    """Rows of four, one full row and one full column."""
    n = 1 << scale
    rows, cols, _ = uniform(n, 4).to_edges()
    every, hub = np.arange(n), np.full(n, n // 3)
    return of(np.concatenate((rows, hub, every)), np.concatenate((cols, every, hub)), n, device)


def road_like(scale: int, device: Device, *, shuffled: bool = False) -> CSR:
    """A grid of which two thirds of the edges are left, in the order of its rows or in none."""
    rows, cols, _ = grid(1 << (scale // 2)).to_edges()
    low, high = np.minimum(rows, cols).astype(np.uint64), np.maximum(rows, cols).astype(np.uint64)
    there = mixed(low * np.uint64(0x10001) + high) % np.uint64(3) > 0
    A = of(rows[there], cols[there], 1 << (scale // 2 * 2), "cpu")
    order = np.argsort(scrambled(A.nrows, 3)) if shuffled else None
    return (A if order is None else permute(A, order)).to(device=device)  # type: ignore[return-value]


def of(rows: np.ndarray, cols: np.ndarray, n: int, device: Device) -> CSR:
    return from_edges(rows, cols, weights(rows.size), shape=n).to(device=device)  # type: ignore[return-value]


def weights(count: int) -> np.ndarray:
    return (scrambled(count, 4) % np.uint64(255) + np.uint64(1)).astype(np.float32)


def scrambled(count: int, stream: int) -> np.ndarray:
    return mixed(np.arange(count, dtype=np.uint64) + np.uint64(stream << 40))


def mixed(numbers: np.ndarray) -> np.ndarray:
    """Each number hashed to 31 bits."""
    z = numbers * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return z >> np.uint64(33)


def preceded(scale: int, device: Device) -> CSR:
    return predecessors(1 << scale, 7, device=device, dtype=np.float32)


FAMILIES = (
    Family("R-MAT, 4", lambda k, d: rmat(k, 4, device=d), (8,), (12, 15, 18, 20), (15, 18, 21)),
    Family("R-MAT, 16", lambda k, d: rmat(k, 16, device=d), (8,), (11, 14, 17, 19), (14, 18, 22)),
    Family("random, 3", lambda k, d: uniform(1 << k, 3, device=d), (8,), (12, 15, 18, 20), (14, 18, 22)),
    Family("random, 8", lambda k, d: uniform(1 << k, 8, device=d), (8,), (12, 16, 19), (13, 17, 21)),
    Family("random, 32", lambda k, d: uniform(1 << k, 32, device=d), (8,), (10, 14, 18), (13, 17, 20)),
    Family("predecessors, 7", preceded, (8,), (12, 16, 19), (15, 19)),
    Family("grid", lambda k, d: grid(1 << k // 2, device=d), (8,), (12, 16, 20), (14, 18, 22)),
    Family("roads, like", road_like, (8,), (12, 16, 20), (16, 20)),
    Family("roads, shuffled", lambda k, d: road_like(k, d, shuffled=True), (8,), (12, 16, 20), (16, 20)),
    Family("SSCA-2", lambda k, d: ssca2(k, device=d), (8,), (12, 15, 18), (13, 16, 19)),
    Family("banded, 5", lambda k, d: banded(k, 2, d), (8,), (12, 16, 19), (15, 20)),
    Family("banded, 33", lambda k, d: banded(k, 16, d), (8,), (10, 14, 17), (14, 18)),
    Family("blocks, 32", lambda k, d: blocks(k, 32, d), (8,), (10, 14, 17), (14, 18)),
    Family("with a hub", with_hub, (8,), (12, 16, 19), (15, 19)),
    Family("a fifth full", lambda k, d: fifth(1 << k, device=d, dtype=np.float32), (7,), (9, 10, 11), (10, 12, 13)),
    Family("tall", lambda k, d: any_shape(1 << k, 1 << k - 6, 4 << k, d), (8,), (12, 16, 19), (15, 20)),
    Family("wide", lambda k, d: any_shape(1 << k - 6, 1 << k, 4 << k, d), (8,), (12, 16, 19), (15, 20)),
)
"""The named set."""


# --- products ---------------------------------------------------------------------------------------------------------


def operand(A: CSR, product: Product) -> Any:
    """Integers, dense, or one element in ONE_IN of them."""
    size = A.ncols if product.verb == "mxv" else A.nrows
    xp = namespace(A.values)
    x = (xp.arange(size, dtype=xp.int64) * 7919 % 1000 + 1).astype(A.dtype)
    if not product.sparse:
        return x
    present = xp.arange(0, size, ONE_IN, dtype=np.int32)
    return SparseVector(present, x[present], size)


def call(M: Matrix, product: Product, x: Any) -> Any:
    s = SEMIRINGS[product.idempotent]
    return mxv(M, x, s) if product.verb == "mxv" else vxm(x, M, s)


def measured(name: str, family: str, A: CSR, setting: Setting) -> Iterator[Row]:
    """A row for each product, without what a model says of it."""
    device = setting.device
    formats = dict.fromkeys(fmt for fmt, backend in mxv.table if backend == device)
    made, refused = stored(A, {CSR: None} | formats)
    conversions = {fmt.__name__.lower(): conversion_ms(A, M, device) for fmt, M in made.items()}
    found = asdict(features(A))
    for product in PRODUCTS.values():
        x = operand(A, product)
        expected = call(made[CSR], product, x)
        for fmt, M in made.items():
            if not same(expected, call(M, product, x), SEMIRINGS[product.idempotent]):
                raise Disagreement(f"{fmt.__name__} computes something else under {product.name} of {name}")
        runs = [(lambda M=M, x=x, product=product: call(M, product, x)) for M in made.values()]  # type: ignore[misc]
        repeats = setting.repeats
        if device == "cuda":
            repeats = min(repeats, MOST_ON_GPU) * (SPARSE_REPEATS if product.sparse else 1)
        taken = in_turns([(run, batched_clock(run, device, BATCH_MS)) for run in runs], repeats, SECONDS)
        times = {fmt.__name__.lower(): median(t) for fmt, t in zip(made, taken, strict=True)}
        setups = {fmt.__name__.lower(): setup_ms(M, product, x, device) for fmt, M in made.items()}
        best = min(times, key=times.__getitem__)
        low, _, high = quantiles(taken[list(times).index(best)], n=4, method="inclusive")
        yield {
            "question": TIMES,
            "graph": name,
            "family": family,
            "n": A.nrows,
            "nnz": A.nnz,
            "product": product.name,
            "verified": True,
            "contender": f"best: {best}",
            "best": best,
            "ms": rounded(times[best]),
            "low_ms": rounded(low),
            "high_ms": rounded(high),
            "times": {key: rounded(ms) for key, ms in times.items()},
            "setups": {key: rounded(ms) for key, ms in setups.items()},
            "bytes": {fmt.__name__.lower(): M.nbytes for fmt, M in made.items()},
            "conversions": conversions,
            "features": found,
            "refused": {fmt.__name__.lower(): why for fmt, why in refused.items()},
            "repeats": min(map(len, taken)),
        }
        for M in made.values():
            M.forget()
    for M in made.values():
        M.forget()


def setup_ms(M: Matrix, product: Product, x: Any, device: Device) -> float:
    """What the first product of a matrix that keeps nothing takes beyond the second."""
    new = unkept(M)
    first, second = (finished_ms(lambda: call(new, product, x), device) for _ in range(2))
    new.forget()
    return max(0.0, first - second)


def conversion_ms(A: CSR, M: Matrix, device: Device) -> tuple[float | None, float | None]:
    """(from CSR, to CSR), nothing known of the matrix; 0 where nothing changes."""
    if isinstance(M, CSR):
        return 0.0, 0.0
    calls = (lambda: unkept(A).to(type(M)), lambda: unkept(M).to(CSR))
    taken = []
    for run in calls:
        taken.append(rounded(min(finished_ms(run, device) for _ in range(CONVERSIONS))))
    return taken[0], taken[1]


def named(setting: Setting) -> Iterator[tuple[str, Family, int]]:
    """(name, family, size) of every matrix."""
    for family in FAMILIES:
        for size in family.sizes(setting):
            yield f"{family.name}, 2^{size}", family, size


def rows(setting: Setting) -> Iterator[Row]:
    """All products of all matrices as they are measured; then what the model chooses, and the regret of all."""
    gathered: list[Row] = []
    for name, family, size in named(setting):
        if kept := setting.kept_rows(name, TIMES):
            gathered += kept
            yield from kept
            continue
        A = family.make(size, setting.device)
        for row in measured(name, family.name, A, setting):
            gathered.append(row)
            yield row
        del A
        released(setting.device)
    found: dict[str, list[Row]] = {}
    for name, _, _ in named(setting):
        if not (kept := setting.kept_rows(name, CHOSEN)):
            found = found or judged(gathered, setting)
            kept = found[name]
        yield from kept
    yield from setting.kept_rows(ALL, REGRET) or summed_up(found or judged(gathered, setting))


def judged(gathered: list[Row], setting: Setting) -> dict[str, list[Row]]:
    """By matrix, what the model, which is written, chooses for each product, and one without the matrix's family."""
    model = fit(gathered)
    found = verdicts(gathered, model)
    if not setting.quick:
        write_model(model, setting.device, machine(setting.device))
    return found


def verdicts(gathered: list[Row], model: Model) -> dict[str, list[Row]]:
    """By matrix, what the model chooses for each product, and one that was fitted without the matrix's family."""
    unseen = {name: fit([row for row in gathered if row["family"] != name]) for name in {r["family"] for r in gathered}}
    found: dict[str, list[Row]] = {}
    for row in gathered:
        blind = verdict(row, unseen[row["family"]])["regret"]
        found.setdefault(row["graph"], []).append(verdict(row, model) | {"regret_unseen": blind})
    return found


def summed_up(found: dict[str, list[Row]]) -> Iterator[Row]:
    """The median and the worst of each product, of `regret` and of `regret_unseen`, as rows of their matrices."""
    for product in PRODUCTS:
        of_product = [row for rows in found.values() for row in rows if row["product"] == product]
        for figure, unseen in (("regret", ""), ("regret_unseen", ", unseen")):
            for name, pick in (("median", median_low), ("worst", max)):
                value = pick(row[figure] for row in of_product)
                (row, *_) = (row for row in of_product if row[figure] == value)
                which = f"{name} of {len(of_product)}{unseen}: {row['graph']}"
                yield row | {"question": REGRET, "graph": ALL, "contender": which, "figure": f"{name}{unseen}"}


def refit(path: Path) -> None:
    """Fit the model again to the times of a whole run; write it, the rows with what it now chooses, and the plot.

    Places and dates stay those of the times. ValueError, and nothing is written, unless the file has every product of
    every matrix.
    """
    times = [row for row in load(path) if row.get("experiment") == "choice" and row.get("question") == TIMES]
    device: Device = "cuda" if times and "gpu" in times[0] else "cpu"
    wanted = [(name, product) for name, _, _ in named(Setting(device)) for product in PRODUCTS]
    if [(row["graph"], row["product"]) for row in times] != wanted:
        raise ValueError(f"{path} does not have the times of a whole run of the experiment choice")
    places = {row["graph"]: {key: row[key] for key in FACTS if key in row} for row in times}
    model = fit(times)
    found = verdicts(times, model)
    chosen = [places[row["graph"]] | row for of_graph in found.values() for row in of_graph]
    last = places[times[-1]["graph"]]
    write_model(model, device, last)
    rows = [*times, *chosen, *(last | row for row in summed_up(found))]
    write(path, rows)
    draw(CHOICE, rows, path)


def verdict(row: Row, model: Model) -> Row:
    """What the model chooses, and how much longer that takes than the best format."""
    seen = Features(**row["features"])
    said = {name: predicted_ms(model, row["product"], name, seen, size) for name, size in row["bytes"].items()}
    known = {name: ms for name, ms in said.items() if ms is not None}
    chosen, best = min(known, key=lambda name: known[name]), min(row["times"], key=row["times"].__getitem__)
    ms, best_ms = row["times"][chosen], row["times"][best]
    return {key: row[key] for key in ("graph", "family", "n", "nnz", "product", "verified", "repeats")} | {
        "question": CHOSEN,
        "contender": f"auto: {chosen}",
        "best": best,
        "ms": ms,
        "low_ms": ms,
        "high_ms": ms,
        "best_ms": best_ms,
        "regret": rounded(ms / best_ms),
        "predicted": {name: rounded(value) for name, value in known.items()},
    }


# --- plot -------------------------------------------------------------------------------------------------------------


def plot(rows: list[Row]) -> Figure | None:
    """Regret over the share of matrices, for each product, by the model of all and without the family."""
    from bench import plots

    rows = [row for row in rows if row["question"] == CHOSEN]
    names = list(dict.fromkeys(row["product"] for row in rows))
    if not names:
        return None
    made, axes = plots.figure(2)
    for ax, key, title in zip(axes, ("regret", "regret_unseen"), ("all families", "family left out"), strict=True):
        for name in names:
            found = sorted(row[key] for row in rows if row["product"] == name)
            share = [100 * (k + 1) / len(found) for k in range(len(found))]
            ax.plot(share, found, label=f"{name}: {median(found):.3g}, worst {found[-1]:.3g}", drawstyle="steps-pre")
        plots.reference(ax, 1)
        plots.label(ax, title, "% of the matrices", "time, best format = 1")
        plots.legend(ax)
    return made


CHOICE = Experiment(
    name="choice",
    title="Time of the chosen format over the best one's",
    source="our own",
    about=(
        "What A.to('auto') would choose for very many calls, and how much longer that takes than the format that was "
        "found to be the fastest, on families of matrices in several sizes: 1 where the choice is right. The second "
        "figure is by a model that was fitted without the matrix's family, as for a matrix that nobody has seen."
    ),
    rows=rows,
    columns=("graph", "nnz", "product", "contender", "best", "ms", "best_ms", "regret", "regret_unseen"),
    plot=plot,
)
