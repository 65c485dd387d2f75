"""Programs that run as one kernel on a GPU give the bits that they give as written; in the emulator, and on a GPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from formats import from_edges
from semiring import MinPlus, fusible
from semiring.fusing import launch
from semiring.fusing.regions import Region
from semiring.vectors import all_vertices, full, present, scatter

from .emulated_programs import emulation
from .fuzzing import SEED
from .random_programs import PER_KIND, bits, placed, program
from .test_user_programs import EDGES, SOURCE, graph
from .user_programs import PROGRAMS

EMULATED = "Dijkstra", "Δ-stepping", "cores", "hooking", "infection", "layers", "strong components"
"""Programs whose kernels have all parts among them: products of both kinds, sums, unions, folds, and orders."""
ON_THE_HOST = {"nearest source"}
"""Programs that make arrays with NumPy, beside matrices that are elsewhere."""
RANDOM = 80
"""Random programs on a GPU, of RANDOM / PER_KIND kinds."""


def regions_of(compiled: Callable[..., Any]) -> list[Region]:
    return compiled.public.regions  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", EMULATED)
def test_a_kernel_in_the_emulator_has_the_bits_of_the_program(name: str) -> None:
    pytest.importorskip("tests.emulated")
    given = PROGRAMS[name]
    A = graph(*EDGES["hubs"], symmetric=given.symmetric)
    with emulation():
        compiled = fusible(given.function)
        assert bits(compiled(*given.arguments(A, SOURCE))) == bits(given.function(*given.arguments(A, SOURCE)))
        assert any(region.told.startswith("compiled: vxm") or "mxv" in region.told for region in regions_of(compiled))


@pytest.mark.parametrize("name", EMULATED)
def test_nvrtc_compiles_the_kernel(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    compile_for_h100 = pytest.importorskip("tests.test_codegen", exc_type=pytest.skip.Exception).compile_for_h100
    texts = []

    def written(frame: Any, arguments: dict[str, Any]) -> Any:
        matrices = {name: tuple(x.dtype for x in arguments[name][:2]) for name in frame.compiled.kernel.matrices}
        texts.append(frame.compiled.unit_text(matrices))
        return 1  # the loop runs as written

    monkeypatch.setattr(launch.DeviceFrame, "carried_out", written)
    given = PROGRAMS[name]
    with emulation():
        fusible(given.function)(*given.arguments(graph(*EDGES["path"], symmetric=given.symmetric), SOURCE))
    assert [compile_for_h100(text) for text in dict.fromkeys(texts)] == [""] * len(set(texts))


@pytest.mark.backend("cuda")
@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in ON_THE_HOST])
def test_a_program_has_its_bits_on_a_gpu(name: str) -> None:
    given = PROGRAMS[name]
    compiled = fusible(given.function)
    for edges in EDGES.values():
        A = graph(*edges, symmetric=given.symmetric)
        written, whole = ([placed(x, "cuda") for x in given.arguments(A, SOURCE)] for _ in range(2))
        assert bits(compiled(*whole)) == bits(given.function(*written))
        assert bits(whole) == bits(written)


@pytest.mark.backend("cuda")
@pytest.mark.parametrize("first", range(SEED, SEED + RANDOM, PER_KIND))
def test_random_programs_have_their_bits_on_a_gpu(first: int) -> None:
    differing = []
    for seed in range(first, first + PER_KIND, 2):
        p = program(seed)
        if p.run(p.function, "cuda") != p.run(fusible(p.function), "cuda"):
            differing.append(str(p))
    assert "\n".join(differing) == ""


@pytest.mark.backend("cuda")
def test_hubs_are_shared_by_blocks() -> None:
    """A star of many rays, and rays that lead on: rows of one entry beside one of many thousands."""
    n = 20_000
    u = np.concatenate([np.zeros(n, np.int64), np.arange(1, n)])
    v = np.concatenate([np.arange(1, n + 1), np.arange(2, n + 1)])
    A = from_edges(u, v, (np.arange(u.size) % 97 + 1).astype("int32"), shape=n + 1).to(device="cuda")
    for name in ("Δ-stepping", "cores", "infection"):
        given = PROGRAMS[name]
        written, whole = ([placed(x, "cuda") for x in given.arguments(A.to(device="cpu"), 0)] for _ in range(2))
        assert bits(fusible(given.function)(*whole)) == bits(given.function(*written))


@pytest.mark.backend("cuda")
def test_what_may_not_be_written_runs_as_written_on_a_gpu() -> None:
    def shared(x: Any, y: Any) -> Any:
        for _ in range(3):
            scatter(x, present(y, MinPlus), 7)
        return x

    x = placed(np.arange(100, dtype="int32"), "cuda")
    compiled = fusible(shared)
    expected = placed(np.arange(100, dtype="int32"), "cuda")
    assert bits(compiled(x, x)) == bits(shared(expected, expected))
    assert regions_of(compiled)[0].told.startswith("runs as written")


@pytest.mark.backend("cuda")
def test_an_endless_program_is_interrupted_on_a_gpu() -> None:
    import signal
    import threading

    def endless(A: Any) -> Any:
        x = full(all_vertices(A), 0, "int32")
        while True:
            x = x + 1
            if x.min() < 0:
                break
        return x

    A = from_edges([0, 1], [1, 2], [1, 2], shape=3).to(device="cuda")
    threading.Timer(2.0, lambda: signal.raise_signal(signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        fusible(endless)(A)
    assert int((full(all_vertices(A), 1, "int32")).sum()) == 3  # the GPU is as it was
