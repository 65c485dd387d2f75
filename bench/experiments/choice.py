"""How far the format that `choose` finds is from the best one, on this machine, on families of matrices.

    python -m bench choice --data FOLDER
    python -m bench choice --device cuda

A row is a product on a matrix. All formats give equal answers before anything is timed, and take turns. `regret` is the
time of a call in the format that is chosen for very many calls, over that in the best format. `regret_100` and
`regret_1000` are of so many calls with everything in: the trial, the conversion and all calls, over the least that a
conversion and all calls take in any format. Where a choice looks slow all are timed again, and a format's best time
counts. The last rows are the median and the worst regret of each product, and of all, with their matrices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median, median_low
from typing import TYPE_CHECKING, Any

from bench.experiment import Experiment, Row, Setting, released
from bench.measure import Disagreement, rounded
from formats import CSR, Matrix, read
from formats.arrays import Device
from semiring import MinPlus, PlusTimes, Semiring, choose, mxv
from semiring.tuning.comparison import copies_of, operand_for, product_named, same
from semiring.tuning.timing import finished_ms, in_turns, settled_clock, undisturbed, unkept

from .families import FAMILIES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

REGRET_CALLS, ALL_CALLS = {"cpu": 10**5, "cuda": 10**6}, (100, 1000)
"""Calls of `regret`; calls of which everything counts."""
OVERALL = "all matrices"
SIZES = {"cpu": (10**4, 4 * 10**5, 2 * 10**6), "cuda": (10**5, 3 * 10**6, 2 * 10**7)}
LARGEST = ("attachment", "mesh 3d")
"""Families that on a CPU have a matrix of 10^7 entries, too."""
FILES = {
    "New York's roads": "USA-road-d.NY.gr.gz",
    "wiki-Vote": "wiki-Vote.txt.gz",
    "Gnutella": "p2p-Gnutella08.txt.gz",
}
SMALL = 10**6
"""Entries below which a CPU takes all products of a matrix."""
SUSPECT, RETRIES = 1.1, 3
"""Regret from which a matrix is timed again; how often."""
SECONDS, BATCH_MS, MAX_REPEATS = 0.15, 1.0, {"cpu": 50, "cuda": 11}
"""That the calls of a format may take, but for three; a GPU's batch; calls of small matrices, spread over a while."""


@dataclass(frozen=True)
class Product:
    """A verb, the semiring, and the share of a sparse operand, or None."""

    verb: str
    semiring: Semiring
    frontier: float | None

    @property
    def name(self) -> str:
        return f"{self.verb}, {'sparse' if self.frontier else 'dense'}, {self.semiring.name}"


PRODUCTS = tuple(
    Product(verb, s, share)
    for s, share in ((MinPlus, None), (MinPlus, 1 / 64), (PlusTimes, None))
    for verb in ("mxv", "vxm")
)


def matrices(setting: Setting) -> Iterator[tuple[str, Callable[[], CSR]]]:
    """Yields the name of every matrix, and the function that makes it."""
    for name, maker in FAMILIES.items():
        sizes = (2000,) if setting.quick else SIZES[setting.device]
        if setting.device == "cpu" and name in LARGEST and not setting.quick:
            sizes += (10**7,)
        for size in sizes:
            yield f"{name}, {size:.0e}".replace("e+0", "e"), lambda maker=maker, size=size: maker(size, setting.device)
    for name, file in FILES.items():
        if setting.data is not None and (setting.data / file).exists():
            yield name, lambda file=file: read(setting.data / file).astype("float32").to(device=setting.device)


def rows(setting: Setting) -> Iterator[Row]:
    """All products of small matrices; of others some, in turns, and on a GPU one, for it shall take two minutes."""
    gathered: list[Row] = []
    for k, (name, make) in enumerate(matrices(setting)):
        if kept := setting.kept_rows(name):
            gathered += kept
            yield from kept
            continue
        A = make()
        count = 1 if setting.quick or setting.device == "cuda" else 6 if A.nnz < SMALL else 2
        wanted = [PRODUCTS[(k + k // 6 + j * 6 // count) % 6] for j in range(count)]
        made, _ = copies_of(A, {fmt: None for fmt, device in mxv.table if device == setting.device})
        names = {fmt.__name__.lower(): M for fmt, M in made.items()}
        for product in wanted:
            gathered.append({"graph": name, "n": A.nrows, "nnz": A.nnz, **judged(A, names, product, setting)})
            yield gathered[-1]
        del A, made, names
        released(setting.device)
    yield from setting.kept_rows(OVERALL) or summed_up(gathered)


def summed_up(rows: list[Row]) -> Iterator[Row]:
    """The median and the worst regret of each product, and of all, as rows of their matrices."""
    for name in (*dict.fromkeys(row["product"] for row in rows), "all products"):
        found = [row for row in rows if name in (row["product"], "all products")]
        for figure, pick in (("median", median_low), ("worst", max)):
            value = pick(row["regret"] for row in found)
            (row, *_) = (row for row in found if row["regret"] == value)
            which = f"{figure} of {len(found)}: {row['graph']}"
            yield row | {"graph": OVERALL, "product": name, "contender": which, "figure": figure}


def judged(A: CSR, made: dict[str, Matrix], product: Product, setting: Setting) -> Row:
    """Times of all formats, the choices, and their regrets."""
    device, verb = setting.device, product_named(product.verb)
    x = operand_for(A, verb, product.semiring, None, product.frontier, device)

    def call(M: Matrix) -> Any:
        return verb(M, x, product.semiring) if product.verb == "mxv" else verb(x, M, product.semiring)

    expected = call(A)
    for name, M in made.items():
        if not same(expected, call(M), product.semiring):
            raise Disagreement(f"{name} computes something else under {product.name}")
    many = 0 if setting.quick else int(SECONDS * 250 / finished_ms(lambda: call(A), device))
    repeats = max(setting.repeats, min(MAX_REPEATS[device], many))
    times = timed(made, call, device, repeats)
    how: Any = {"semiring": product.semiring, "frontier": product.frontier}
    found = {calls: choose(unkept(A), product.verb, calls=calls, **how) for calls in (REGRET_CALLS[device], *ALL_CALLS)}
    chosen = found[REGRET_CALLS[device]].chosen
    for _ in range(RETRIES):
        if times[chosen] <= SUSPECT * min(times.values()):
            break
        times = {name: min(ms, times[name]) for name, ms in timed(made, call, device, repeats).items()}
    best = min(times, key=times.__getitem__)
    starts = {row["format"]: row["conversion_ms"] for row in found[REGRET_CALLS[device]].candidates if row["tried"]}
    totals = {}
    for calls in ALL_CALLS:
        few = found[calls]
        start = few.trial_ms + (starts.get(few.chosen, 0.0) if few.matrix is None else 0.0)
        least = min(start + calls * times[name] for name, start in starts.items())
        totals[f"regret_{calls}"] = rounded((start + calls * times[few.chosen]) / least)
    return {
        "product": product.name,
        "contender": f"auto: {chosen}",
        "best": best,
        "ms": rounded(times[chosen]),
        "low_ms": rounded(times[chosen]),
        "high_ms": rounded(times[chosen]),
        "best_ms": rounded(times[best]),
        "regret": rounded(times[chosen] / times[best]),
        **totals,
        "csr": rounded(times["csr"] / times[best]),
        "trial_ms": rounded(found[REGRET_CALLS[device]].trial_ms),
        "times": {name: rounded(ms) for name, ms in times.items()},
        "choices": {str(calls): found[calls].chosen for calls in ALL_CALLS},
        "verified": True,
        "repeats": repeats,
    }


def timed(made: dict[str, Matrix], call: Callable[[Matrix], Any], device: Device, repeats: int) -> dict[str, float]:
    """Milliseconds of a call in each format, in turns."""
    runs = [(lambda M=M: call(M)) for M in made.values()]
    taken = in_turns([(run, settled_clock(run, device, BATCH_MS)) for run in runs], repeats, SECONDS)
    return {name: undisturbed(ms) for name, ms in zip(made, taken, strict=True)}


def plot(rows: list[Row]) -> Figure | None:
    """Regret over the share of matrices, for each product."""
    from bench import plots

    rows = [row for row in rows if "figure" not in row]
    made, axes = plots.figure(2)
    for ax, key, title in zip(axes, ("regret", "csr"), ("the chosen format", "CSR"), strict=True):
        for name in dict.fromkeys(row["product"] for row in rows):
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
    about="What A.to('auto') chooses on families of matrices, and how much longer that takes than the best format.",
    rows=rows,
    columns=(
        *("graph", "nnz", "product", "contender", "best", "ms"),
        *("best_ms", "regret", "regret_1000", "regret_100", "csr"),
    ),
    plot=plot,
)
