"""What every test module shares: backends as parameters, cells from the verb tables, files, and a hypothesis profile.

`pytest` alone runs the quick layer, the tests marked `quick`; `pytest -m full` runs all but those marked `nightly`,
which take many minutes, and which `-m nightly` alone runs. What else is named, by a path, `-k` or `-m`, runs whole.

A test marked `cells("mxv", "vxm")` runs once for each (verb, format, backend) that the verbs' tables hold. Of a test on
a backend that this machine lacks, one item is skipped with a reason, and the others are deselected. With
`pytest --require cuda` all of them fail, and what came of a run on a GPU is recorded (`gpu_record.py`). `-m gpu` runs
those on a GPU that take no times. With `--resident 0.1`, say, no more than that share of a matrix is resident on the
GPU that it is moved to. With `--without graphblas` the tests run as if python-graphblas were not installed.
"""

from __future__ import annotations

import functools
import gc
import gzip
import os
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from enum import StrEnum
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import pytest
from hypothesis import settings

from formats import CSR, DeviceUnavailable, Matrix
from formats.arrays import cupy
from formats.places import find_place
from semiring import Verb
from semiring.cuda import compile
from semiring.verbs.explanation import definitions_only
from semiring.verbs.needs import algorithms
from semiring.verbs.registry import Cells

from . import absent, fuzzing, gpu_record, sanitize
from .commands import fine, refused, run

__all__ = ["fine", "refused", "run"]

pytest.register_assert_rewrite("tests.files", "tests.graphs")

VISIBLE = os.environ.get("CUDA_VISIBLE_DEVICES")
GPUS = VISIBLE.split(",") if VISIBLE else [str(k) for k in range(len(list(Path("/dev").glob("nvidia[0-9]*"))))]
if len(GPUS) > 1 and "PYTEST_XDIST_WORKER" in os.environ:  # spread the processes over the GPUs
    first = int(os.environ["PYTEST_XDIST_WORKER"][2:]) % len(GPUS)
    os.environ["CUDA_VISIBLE_DEVICES"] = ",".join(GPUS[first:] + GPUS[:first])

for package in ("semiring", "algorithms"):
    Cells(package).load()  # for tests that look through tables
algorithms()

settings.register_profile("semiring", deadline=None, derandomize=True)
settings.load_profile("semiring")


QUICK = "quick and not long"
"""What `pytest` alone runs."""


class Backend(StrEnum):
    """A backend of a verb's table, which knows how to become a pytest parameter."""

    CPU = "cpu"
    CUDA = "cuda"

    @property
    def missing(self) -> str | None:
        """Why this machine cannot run it; None if it can."""
        return None if self is Backend.CPU else why_no_gpu()

    def param(self, *values: Any, name: str) -> Any:
        """The parameter set (*values, self), to be skipped where the backend is missing."""
        return pytest.param(*values, self, id=f"{name}-{self}", marks=pytest.mark.backend(self))


@functools.cache
def why_no_gpu() -> str | None:
    """Why there is no GPU here; None if there is one. It is asked of thousands of items, and importing takes long."""
    try:
        cupy()
    except DeviceUnavailable as reason:
        return f"no CUDA device available: {reason}"
    return None


def cells(*names: str) -> list[Any]:
    """(verb, format, backend) for every cell of the named verbs' tables."""
    return [
        Backend(backend).param(verb, fmt, name=f"{verb.name}-{fmt.__name__}")
        for verb in (Verb.all[name] for name in names)
        for fmt, backend in verb.table
    ]


@pytest.fixture(scope="session")
def gb() -> ModuleType:
    """python-graphblas: tests beside it are skipped where it is not."""
    return cast(ModuleType, pytest.importorskip("graphblas", exc_type=ImportError))


@pytest.fixture
def file(tmp_path: Path) -> Callable[[str, str | bytes], Path]:
    """file(name, content): the path of a new file, compressed if the name ends in .gz."""

    def make(name: str, content: str | bytes) -> Path:
        data = content.encode() if isinstance(content, str) else content
        path = tmp_path / name
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return make


def writable(folder: Path) -> dict[str, str]:
    """What a process needs in its environment to keep machine code and settings, where nothing can be written."""
    if all(os.access(place, os.W_OK) for place in (Path.home(), Path(__file__).parents[1])):
        return {}
    return {name: str(folder) for name in ("NUMBA_CACHE_DIR", "CUPY_CACHE_DIR", "MPLCONFIGDIR", "MYPY_CACHE_DIR")}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--require",
        action="append",
        default=[],
        choices=[*Backend],
        help="fail, not skip, where this backend is missing",
    )
    parser.addoption(
        "--no-memory-pool",
        action="store_true",
        help="allocate each CuPy array by itself, so that compute-sanitizer sees where it ends",
    )
    parser.addoption("--tell-kernels", action="store_true", help="name our CUDA kernels that ran, at the end")
    parser.addoption(
        "--resident", type=float, help="the share of a matrix that is resident where a test moves it to a GPU"
    )
    parser.addoption(
        "--without", action="append", default=[], help="run as if this package were not installed: --without graphblas"
    )
    parser.addoption("--fuzz-cases", type=int, help=f"random cases of each fuzzer (default: {fuzzing.CASES})")
    parser.addoption(
        "--fuzz-seed", type=int, default=fuzzing.SEED, help="what fuzzers draw their cases from (default: %(default)s)"
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "cells(*names): run for each cell of the verbs' tables, as verb, fmt and backend"
    )
    config.addinivalue_line("markers", "backend(backend): needs the backend; skipped with a reason where it is missing")
    config.addinivalue_line("markers", "quick: of the layer that `pytest` alone runs, which touches everything")
    config.addinivalue_line("markers", "full: every test but the nightly ones; `pytest -m full` runs all of them")
    config.addinivalue_line("markers", "gpu: needs a GPU, and takes no times; see tests/gpu_record.py")
    config.addinivalue_line("markers", "timing: of what takes times; not of what is recorded of a GPU")
    config.addinivalue_line("markers", "nightly: takes many minutes; `pytest -m nightly` alone runs it")
    config.addinivalue_line("markers", "as_written: formats other than CSR run algorithms as the equations are written")
    config.addinivalue_line("markers", "long: takes seconds; not of the quick layer, and spread over the run")
    for name in config.getoption("--without"):
        absent.block(name)
    if nothing_named(config):
        config.option.markexpr = QUICK
    if config.getoption("--no-memory-pool"):
        cupy().cuda.set_allocator(None)
    if config.getoption("--tell-kernels"):
        note_kernels(LAUNCHED)
    if config.getoption("--resident") is not None:
        leave_on_the_host(config.getoption("--resident"))


LAUNCHED: set[str] = set()
"""Kernels that ran, if they are to be told."""


def note_kernels(launched: set[str]) -> None:
    """Note the names of the kernels that are launched from now on."""
    get_function = compile.Module.get_function

    def noting(self: compile.Module, name: str, cooperative: bool = False) -> Any:
        kernel: Any = get_function(self, name, cooperative)

        def launch(*args: Any, **how: Any) -> None:
            launched.add(name)
            kernel(*args, **how)

        vars(launch)["ptr"] = getattr(kernel, "ptr", None)  # which the driver is asked by
        return launch

    compile.Module.get_function = noting  # type: ignore[method-assign]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if config.getoption("--tell-kernels"):
        terminalreporter.write_line(sanitize.LAUNCHED + " ".join(sorted(LAUNCHED)))


MOVE = Matrix.to


@pytest.fixture
def all_resident(monkeypatch: pytest.MonkeyPatch) -> None:
    """Move matrices whole, whatever `--resident` says: for tests of what does not fit, or needs whole ones."""
    monkeypatch.setattr(Matrix, "to", MOVE)


def leave_on_the_host(share: float) -> None:
    """Let no more than a share of each matrix that moves to a GPU be resident there, unless the call says otherwise."""

    def moved(self: Matrix, fmt: Any = None, *, device: Any = None, resident: Any = None, **options: Any) -> Any:
        one_place = device is not None and not isinstance(device, list | tuple)
        if resident is None and one_place and self.place.on_host and not find_place(device).on_host:
            resident = share
        return MOVE(self, fmt, device=device, resident=resident, **options)

    Matrix.to = moved  # type: ignore[method-assign]


def nothing_named(config: pytest.Config) -> bool:
    """Does the command line leave open which tests to run?"""
    asked = (config.getoption(name, None) for name in ("-m", "-k", "--require", "--deselect", "--lf", "--ff"))
    return not any(asked) and config.args_source is not pytest.Config.ArgsSource.ARGS


def pytest_report_header(config: pytest.Config) -> str | None:
    return "the quick layer: pytest -m full runs every test" if config.option.markexpr == QUICK else None


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do without modules that have no quick test, where only those run: to import all takes longer than many tests."""
    if config.option.markexpr != QUICK or collection_path.suffix != ".py":
        return None
    return "mark.quick" not in collection_path.read_text(encoding="utf-8") or None


def pytest_itemcollected(item: pytest.Item) -> None:
    if not item.get_closest_marker("nightly"):
        item.add_marker("full")
    backends = {marker.args[0] for marker in item.iter_markers("backend")}
    item.extra_keyword_matches.update(backends)  # for -k cuda
    if Backend.CUDA in backends and not item.get_closest_marker("timing"):
        item.add_marker("gpu")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    for taken in fuzzing.CASES.keys() & set(metafunc.fixturenames):
        config = metafunc.config
        cases = config.getoption("--fuzz-cases") or fuzzing.CASES[taken]
        blocks = fuzzing.blocks(config.getoption("--fuzz-seed"), cases)
        metafunc.parametrize(taken, blocks, ids=[f"seeds-{block.start}-to-{block.stop - 1}" for block in blocks])
    for marker in metafunc.definition.iter_markers("cells"):
        names = [name for name in ("verb", "fmt", "backend") if name in metafunc.fixturenames]
        assert names == ["verb", "fmt", "backend"], f"{metafunc.function.__name__} must take verb, fmt and backend"
        metafunc.parametrize(names, cells(*marker.args))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give each process tests that follow each other, so that two seldom compile the same kernel at once."""
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log) if config.getoption("dist") == "load" else None


def why_skipped(item: pytest.Item) -> str | None:
    """Why an item cannot run here, if it is not required to."""
    needed = [Backend(marker.args[0]) for marker in item.iter_markers("backend")]
    required = item.config.getoption("--require")
    return next((why for backend in needed if backend not in required and (why := backend.missing)), None)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep one skipped item of each test, and spread the long tests, so that with xdist each process has its share."""
    skipped: dict[str, list[pytest.Item]] = {}
    if "nightly" not in config.option.markexpr:
        nightly = [item for item in items if item.get_closest_marker("nightly")]
        config.hook.pytest_deselected(items=nightly)
        items[:] = [item for item in items if item not in nightly]
    for item in items:
        if why_skipped(item):
            skipped.setdefault(item.nodeid.partition("[")[0], []).append(item)
    more = {item for same_test in skipped.values() for item in same_test[1:]}
    config.hook.pytest_deselected(items=[item for item in items if item in more])
    long = [item for item in items if item not in more and item.get_closest_marker("long")]
    rest = [item for item in items if item not in more and not item.get_closest_marker("long")]
    items[:] = rest
    for k, item in enumerate(long):
        items.insert(k + k * len(rest) // len(long), item)


def pytest_collection_finish() -> None:
    """Let the collector of cyclic garbage leave the tests themselves alone, and come seldom while kernels compile."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


@functools.lru_cache(maxsize=1)
def begin(module: str) -> None:
    """Let the collector leave alone what earlier modules have left, kernels above all: tests that call it are many."""
    gc.collect()
    gc.freeze()


def pytest_runtest_setup(item: pytest.Item) -> None:
    begin(item.location[0])
    if reason := why_skipped(item):
        pytest.skip(reason)
    for marker in item.iter_markers("backend"):
        if (reason := Backend(marker.args[0]).missing) is not None:
            pytest.fail(f"--require {marker.args[0]}: {reason}", pytrace=False)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Iterator[None]:
    """Run a format's own products where a test is of them, not the fused run that would take the matrix by its rows."""
    fmt = pyfuncitem.callspec.params.get("fmt", CSR) if hasattr(pyfuncitem, "callspec") else CSR
    written = pyfuncitem.get_closest_marker("as_written") and fmt is not CSR
    with definitions_only("the test is of the equations") if written else nullcontext():
        return (yield)


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Record a run that required a GPU and had one; with xdist, once, by the process that has all the results.

    One that leaves matrices on the host, `--resident`, is none of the record: it tries the same tests otherwise.
    """
    config = session.config
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if hasattr(config, "workerinput") or reporter is None or Backend.CUDA not in config.getoption("--require"):
        return
    if config.getoption("--resident") is not None:
        return
    ended = exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
    if ended and any(gpu_record.counts(reporter.stats).values()) and Backend.CUDA.missing is None:
        gpu_record.write(gpu_record.machine(), reporter.stats, config.invocation_params.args)
