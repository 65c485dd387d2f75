"""The implementations of DA2CF that Martín, Torres and Gavilanes compare, as plans: how to relax, and what runs where.

An iteration has three steps: relax, minimum and update. The hybrids run some of them on the GPU and the others on the
CPU, and move the vectors that a step takes to where it runs. `F_GPU_no_Atomic`, which is wrong, is in `bench`.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any, Literal

from formats import Matrix
from formats.arrays import Device
from semiring import Semiring, pulls_by
from semiring.vectors import minimum, moved


@dataclass(frozen=True)
class Plan:
    """How DA2CF runs.

    relax: "push" (the paper's F) or "pull" (U).  relax_on, minimum_on, update_on: the devices of the steps.
    passes: of the minimum on a GPU.  pull: the kernel of a pull on a GPU, see `pulls_by`.  home: where A is.
    """

    relax: Literal["push", "pull"]
    relax_on: Device
    minimum_on: Device
    update_on: Device
    passes: int = 1
    pull: Literal["threads", "cached threads"] | None = None
    home: Device = "cpu"

    def place(self, A: Matrix) -> Matrix:
        """The matrix where it is multiplied; a copy there is kept with A."""
        if A.device == self.relax_on:
            return A
        return A.keep(("placed", self.relax_on), lambda: A.to(device=self.relax_on))

    def minimum(self, q: Any, s: Semiring) -> tuple[Any, Any]:
        """(⊕ q, q), q where it is used next if that is where its minimum is taken."""
        x: Any = moved(q, self.minimum_on)
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

    def kernels(self) -> AbstractContextManager[Any]:
        """The kernels that the plan asks for."""
        return pulls_by(self.pull) if self.pull else nullcontext()


VARIANTS = {
    "F_CPU": Plan("push", "cpu", "cpu", "cpu"),
    "U_CPU": Plan("pull", "cpu", "cpu", "cpu"),
    "U_H1": Plan("pull", "cpu", "cpu", "cuda"),
    "U_H2": Plan("pull", "cuda", "cpu", "cpu", pull="threads"),
    "U_H3": Plan("pull", "cuda", "cpu", "cuda", pull="threads"),
    "U_GPU": Plan("pull", "cuda", "cuda", "cuda", pull="threads"),
    "U_GPU_2min": Plan("pull", "cuda", "cuda", "cuda", passes=2, pull="threads"),
    "U_GPU_PLUS": Plan("pull", "cuda", "cuda", "cuda", pull="cached threads"),
    "F_GPU": Plan("push", "cuda", "cuda", "cuda"),
}
"""The paper's implementations by name."""


def find_plan(relax: str = "push", passes: int = 2, variant: str | None = None, here: Device = "cpu") -> Plan:
    """The plan for the parameters of `da2cf` and a matrix that is `here`; ValueError for one that there is not."""
    if relax not in ("push", "pull"):
        raise ValueError(f"relax must be 'push' or 'pull', got {relax!r}")
    if passes not in (1, 2):
        raise ValueError(f"passes must be 1 or 2, got {passes!r}")
    if variant is not None and variant not in VARIANTS:
        raise ValueError(f"unknown variant {variant!r}; there are {', '.join(VARIANTS)}")
    if variant is None:
        return Plan(relax, here, here, here, passes, home=here)  # type: ignore[arg-type]
    return replace(VARIANTS[variant], home=here)
