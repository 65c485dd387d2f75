"""The implementations of DA2CF that Martín, Torres and Gavilanes compare, as plans: how to relax, and what runs where.

An iteration has three steps: relax, minimum and update. The hybrids run some of them on the GPU and the others on the
CPU, and move the vectors that a step takes to where it runs. `F_GPU_no_Atomic`, which is wrong, is in
`bench.experiments.no_atomic`.

The two ways to relax are two ways to multiply. Pushing, f is sparse and only its rows of A are touched; threads meet at
a vertex, and ⊕ must be atomic (`relax_F`). Pulling, every unresolved vertex looks through its predecessors for vertices
of f, down the columns of A; no atomics are needed (`relax_U`). The paper's pulls on a GPU take a thread a column
(`pull.cu`); the library's are tiled, which is faster.

[1] P. J. Martín, R. Torres, A. Gavilanes, CUDA solutions for the SSSP problem, ICCS 2009, LNCS 5544.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, Unpack

from algorithms.equations.da2cf import NO_MINIMUM, resolve
from algorithms.shared.errors import broken_law
from algorithms.shared.signatures import Shared
from algorithms.shared.single_source import Until, paths
from algorithms.shared.trace import trace_round
from formats import CSC, Matrix, SparseVector
from formats.arrays import Array, Device, equals, to_device
from formats.matrix.facts import Fact
from formats.places import place_of
from formats.storage.orientation import by_columns
from semiring import MinPlus, Semiring, ewise_add, reduce, vxm
from semiring.algebra.codegen import types_of
from semiring.cuda import tiles
from semiring.cuda.kernels import UNITS, kernels_for
from semiring.vectors import densified, full, is_empty, masked, unit

from .variant import Variant

Pull = Literal["pull_threads", "pull_cached_threads"]
PULLS = "pulls"
"""The translation unit of the kernels that pull."""
UNITS[PULLS] = (str(Path(__file__).with_name("pull.cu")),)

PLACED: Fact[Any] = Fact("the matrix on another device")


def moved(x: Array | SparseVector, device: Device) -> Any:
    """The vector on the device; itself if it is there."""
    return x.to(device=device) if isinstance(x, SparseVector) else to_device(x, device)


def minimum(x: Array, semiring: Semiring, passes: int = 2) -> Any:
    """⊕ over a dense vector. On a GPU, after one pass each block's result goes to the host; after two, a scalar."""
    if passes == 2 or place_of(x).on_host:
        return reduce(x, semiring)
    from semiring.cuda.reductions import fold_blocks

    return reduce(to_device(fold_blocks(semiring.add, x), "cpu"), semiring)


@dataclass(frozen=True)
class Plan:
    """How DA2CF runs.

    relax: "push" (the paper's F) or "pull" (U).  relax_on, minimum_on, update_on: the devices of the steps.
    passes: of the minimum on a GPU.  pull: the kernel of a pull on a GPU, of `pull.cu`; None: the library's product.
    home: where A is.
    """

    relax: Literal["push", "pull"]
    relax_on: Device
    minimum_on: Device
    update_on: Device
    passes: int = 1
    pull: Pull | None = None
    home: Device = "cpu"

    def place(self, A: Matrix) -> Matrix:
        """The matrix where it is multiplied; a copy there is kept with A."""
        if A.device == self.relax_on:
            return A
        return A.keep(PLACED, lambda: A.to(device=self.relax_on), self.relax_on)

    def minimum(self, q: Any, s: Semiring) -> tuple[Any, Any]:
        """Returns ⊕ q, and q where it is used next if that is where its minimum is taken."""
        x = moved(q, self.minimum_on)
        return minimum(x, s, self.passes), x if self.minimum_on == self.update_on else q

    def on_update(self, *vectors: Any) -> Any:
        """The vectors where the frontier is updated."""
        return tuple(moved(x, self.update_on) for x in vectors)

    def on_relax(self, *vectors: Any) -> Any:
        """The vectors where the frontier is relaxed."""
        return tuple(moved(x, self.relax_on) for x in vectors)

    def back(self, d: Any) -> Any:
        """The answer where A is."""
        return moved(d, self.home)


VARIANTS = {
    "F_CPU": Plan("push", "cpu", "cpu", "cpu"),
    "U_CPU": Plan("pull", "cpu", "cpu", "cpu"),
    "U_H1": Plan("pull", "cpu", "cpu", "cuda"),
    "U_H2": Plan("pull", "cuda", "cpu", "cpu", pull="pull_threads"),
    "U_H3": Plan("pull", "cuda", "cpu", "cuda", pull="pull_threads"),
    "U_GPU": Plan("pull", "cuda", "cuda", "cuda", pull="pull_threads"),
    "U_GPU_2min": Plan("pull", "cuda", "cuda", "cuda", passes=2, pull="pull_threads"),
    "U_GPU_PLUS": Plan("pull", "cuda", "cuda", "cuda", pull="pull_cached_threads"),
    "F_GPU": Plan("push", "cuda", "cuda", "cuda"),
}
"""The paper's implementations by name."""


def find_plan(relax: str = "push", passes: int = 2, variant: str | None = None, here: Device = "cpu") -> Plan:
    """The plan for the parameters of `da2cf_by` and a matrix that is `here`; ValueError for one that there is not."""
    if relax not in ("push", "pull"):
        raise ValueError(f"relax must be 'push' or 'pull', got {relax!r}")
    if passes not in (1, 2):
        raise ValueError(f"passes must be 1 or 2, got {passes!r}")
    if variant is not None and variant not in VARIANTS:
        raise ValueError(f"unknown variant {variant!r}; there are {', '.join(VARIANTS)}")
    if variant is None:
        return Plan(relax, here, here, here, passes, home=here)  # type: ignore[arg-type]
    return replace(VARIANTS[variant], home=here)


@Variant
def da2cf_by(
    A: Matrix,
    source: int | None = None,
    semiring: Semiring | str = MinPlus,
    *,
    relax: Literal["push", "pull"] = "push",
    passes: Literal[1, 2] = 2,
    variant: str | None = None,
    **query: Unpack[Shared],
) -> Any:
    """`da2cf` by a plan: a way to relax and passes of the minimum, or one of the paper's implementations by name."""
    own: dict[str, Any] = {"relax": relax, "passes": passes, "variant": variant}
    find_plan(**own)
    return paths(da2cf_by, A, source, semiring, **own, **query)


@da2cf_by.equations
def distances(
    A: Matrix,
    source: int,
    s: Semiring,
    until: Until,
    *,
    relax: str = "push",
    passes: int = 2,
    variant: str | None = None,
) -> Any:
    """The distances of one source."""
    plan = find_plan(relax, passes, variant, A.device)
    relaxed = pulling if plan.relax == "pull" else pushing
    B = plan.place(A)
    q = densified(unit(A, source, s), s)  # q = e_s
    d, resolved = full(q, s.zero(q.dtype), q.dtype), full(q, False, bool)
    while True:
        μ, q = plan.minimum(q, s)  # μ = ⊕ q
        if until.passed(d, μ):
            return plan.back(d)
        q, d, resolved = plan.on_update(q, d, resolved)
        f = masked(q, equals(q, μ))  # f = q⟨q = μ⟩
        if is_empty(f):
            raise ValueError(broken_law(s, NO_MINIMUM))
        resolve(f, q, d, resolved, s)
        q = relaxed(B, s, plan.pull, *plan.on_relax(f, q, resolved))  # q = q ⊕ fA⟨unresolved⟩
        trace_round(f, minimum=μ, direction=plan.relax, resolved=resolved)


def pushing(A: Matrix, s: Semiring, _: Pull | None, f: SparseVector, q: Any, resolved: Any) -> Any:
    """relax_F: the frontier is pushed along its rows."""
    return ewise_add(q, vxm(f, A, s, mask=resolved, complement=True), s, out=q)


def pulling(A: Matrix, s: Semiring, kernel: Pull | None, f: SparseVector, q: Any, resolved: Any) -> Any:
    """relax_U: unresolved vertices look down their columns."""
    x, columns = densified(f, s), by_columns(A)
    if kernel is not None and isinstance(columns, CSC):
        return ewise_add(q, pulled(kernel, x, columns, s, ~resolved), s, out=q)
    return ewise_add(q, vxm(x, columns, s, mask=resolved, complement=True), s, out=q)


def pulled(kernel: Pull, x: Any, A: CSC, s: Semiring, allowed: Any) -> Any:
    """y = xA⟨allowed⟩ on a GPU, by a thread a column of A."""
    k, y = kernels_for(s, A.dtype, types_of(A), matrix_first=False, unit=PULLS), x.copy()
    if y.size:
        getattr(k, kernel)(k.grid(y.size), k.block, (*tiles.rows_of(k, A, A.indices), x, allowed, y))
    return y
