"""Packages import in one direction, formats <- semiring <- algorithms <- bench; nothing heavy comes before its use."""

from __future__ import annotations

import ast
import functools
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from .conftest import writable

pytestmark = pytest.mark.quick

ROOT = Path(__file__).parent.parent
LAYERS = ("formats", "semiring", "algorithms", "bench")
HEAVY = {"scipy", "mpi4py", "networkx", "graphblas", "suitesparse_graphblas", "numba", "cupy", "igraph"}
KERNELS = {f"semiring/cpu/compiler/{name}.py" for name in ("compiler", "entry", "target")}
"""The modules that compile, and are themselves imported when something is compiled."""

KEEPING = {"keep", "keeps", "known"}
"""The methods by which a matrix handles facts, which are no strings."""


@functools.cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@functools.cache
def sources() -> list[Path]:
    return [path for layer in LAYERS if (ROOT / layer).is_dir() for path in sorted((ROOT / layer).rglob("*.py"))]


def named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def imports(path: Path, *, at_import_time: bool) -> set[str]:
    """Top-level packages that the file imports by absolute name: anywhere, or only when it is itself imported."""
    found: set[str] = set()
    for node in _nodes(parsed(path), at_import_time):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return found


def _nodes(node: ast.AST, at_import_time: bool) -> Iterator[ast.AST]:
    """All nodes below `node`, without `if TYPE_CHECKING:` and, if asked, without the bodies of functions."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            continue
        if at_import_time and isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        yield child
        yield from _nodes(child, at_import_time)


def test_all_three_packages_are_looked_at():
    assert {named(path).partition("/")[0] for path in sources()} >= {"formats", "semiring", "algorithms"}


def test_imports_point_down_the_layers():
    for path in sources():
        above = set(LAYERS[LAYERS.index(named(path).partition("/")[0]) + 1 :])
        assert not imports(path, at_import_time=False) & above, named(path)


def module(path: Path) -> str:
    """The name that Python imports the file by."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def modules_imported(path: Path, known: set[str]) -> set[str]:
    """Modules of ours that the file imports: anywhere in it, within functions and for its types, too."""
    package = list(path.relative_to(ROOT).parent.parts)
    found: set[str] = set()
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            start = package[: len(package) + 1 - node.level] if node.level else []
            base = ".".join([*start, *([node.module] if node.module else [])])
            found |= {name if (name := f"{base}.{alias.name}") in known else base for alias in node.names}
    return found & known - {module(path)}


def circle(arrows: dict[str, set[str]]) -> list[str]:
    """Modules each of which imports the next, the last one the first; [] if there are none."""
    done: set[str] = set()

    def search(way: list[str]) -> list[str]:
        for target in sorted(arrows[way[-1]] - done):
            found = way[way.index(target) :] if target in way else search([*way, target])
            if found:
                return found
        done.add(way[-1])
        return []

    return next((found for start in arrows if start not in done and (found := search([start]))), [])


def test_no_module_imports_one_that_imports_it() -> None:
    paths = {module(path): path for path in sources()}
    assert circle({name: modules_imported(path, set(paths)) for name, path in paths.items()}) == []


def test_no_folder_of_formats_imports_one_that_imports_it() -> None:
    paths = {module(path): path for path in sources() if named(path).startswith("formats/")}
    folder = {name: ".".join(name.split(".")[:2]) for name in paths}
    arrows: dict[str, set[str]] = {each: set() for each in folder.values()}
    for name, path in paths.items():
        if name != "formats":
            arrows[folder[name]] |= {folder[other] for other in modules_imported(path, set(paths))} - {folder[name]}
    assert {"formats.matrix", "formats.storage"} <= set(arrows)
    assert circle(arrows) == []


def test_what_algorithms_share_knows_none_of_them() -> None:
    paths = {module(path): path for path in sources()}
    shared = {name: path for name, path in paths.items() if name.startswith("algorithms.shared.")}
    assert len(shared) > 5
    for name, path in shared.items():
        above = {each for each in modules_imported(path, set(paths)) if each.startswith("algorithms.")} - set(shared)
        assert above <= {"algorithms.shared"}, name


def test_the_check_sees_a_circle() -> None:
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"d"}, "d": {"b"}}) == ["b", "c", "d"]
    assert circle({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []
    assert modules_imported(ROOT / "formats" / "matrix" / "base.py", {"formats.hooks", "formats.matrix.contract"}) == {
        "formats.hooks",
        "formats.matrix.contract",
    }


def test_relative_imports_stay_in_their_package():
    for path in sources():
        depth = len(path.relative_to(ROOT).parts) - 1
        for node in ast.walk(parsed(path)):
            assert not isinstance(node, ast.ImportFrom) or node.level <= depth, named(path)


def test_what_a_matrix_keeps_is_declared() -> None:
    """Every fact is a constant of a module, with the type of its value and a name of its own in that module."""
    for path in sources():
        tree = parsed(path)
        made = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == "Fact"]
        declared = [node for node in tree.body if isinstance(node, ast.AnnAssign) and node.value in made]
        assert len(declared) == len(made), named(path)
        assert len({ast.unparse(call.args[0]) for call in made}) == len(made), named(path)
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in KEEPING:
                assert not any(isinstance(key, ast.Constant) for key in node.args[:1]), ast.unparse(node)


def test_algorithms_speak_only_in_verbs():
    """No array library, no backend, no format: but for the command line, fused runs, SciPy's and NetworkX's names."""
    ways = {"cli", "cpu", "csgraph", "cuda", "fused", "networkx"}
    for path in sources():
        if named(path).startswith("algorithms/") and not ways & {*path.relative_to(ROOT).parts}:
            below = {"numpy", "cupy", "graphblas", "numba", "scipy"}
            assert not imports(path, at_import_time=False) & below, named(path)


def test_nothing_heavy_is_imported_at_import_time():
    for path in sources():
        allowed = {"numba"} if named(path) in KERNELS else {"networkx"} if "networkx" in path.parts else set()
        if not named(path).startswith("bench/"):
            assert not imports(path, at_import_time=True) & HEAVY - allowed, named(path)


def test_the_check_sees_an_import(tmp_path):
    source = tmp_path / "module.py"
    source.write_text("import scipy.sparse\nfrom numba import njit\ndef f():\n    import cupy\n", encoding="utf-8")
    assert imports(source, at_import_time=True) == {"scipy", "numba"}
    assert imports(source, at_import_time=False) == {"scipy", "numba", "cupy"}


def fresh(code: str, **environment: str) -> str:
    """The output of a new interpreter that runs the code."""
    where = {**os.environ, **environment}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=where, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_everything_loads_nothing_heavy():
    """At most 120 modules beyond NumPy's: a GPU's, files' and most algorithms come when somebody asks for them."""
    loaded = fresh(
        "import sys, numpy; before = set(sys.modules); import formats, semiring, algorithms;"
        "print(*set(sys.modules) - before)"
    ).split()
    assert "formats.matrix.base" in loaded
    assert not {name.partition(".")[0] for name in loaded} & HEAVY
    assert len(loaded) <= 120
    assert not {"semiring.cuda", "formats.io", "algorithms.equations.sssp"} & {*loaded}


@pytest.mark.parametrize("package", LAYERS[:3])
def test_a_public_name_is_imported_by_who_asks_for_it(package: str) -> None:
    """It is there for completion, for `import *`, for pickles and for mypy, and is loaded at its first use."""
    code = (
        f"import pickle, pydoc, {package} as it; print(sorted(set(it.__all__) - set(dir(it))), hasattr(it, 'Grahp'));"
        f"from {package} import *; print(all(globals()[name] is getattr(it, name) for name in it.__all__));"
        "print(all(name in pydoc.plain(pydoc.render_doc(it)) for name in it.__all__));"
        "verb = getattr(it, {'semiring': 'mxv', 'algorithms': 'bfs'}.get(it.__name__, 'CSR'));"
        "print(pickle.loads(pickle.dumps(verb)) is verb)"
    )
    assert fresh(code) == "[] False\nTrue\nTrue\nTrue\n"


def test_a_format_is_known_whose_cells_nobody_has_missed() -> None:
    """What others register takes its place after ours: a cell that we have is refused, though it was not loaded."""
    code = (
        "import sys; from formats import CSR; from semiring import mxv\n"
        "print('semiring.cpu.products' in sys.modules)\n"
        "try: mxv.implement(CSR, 'cpu')(lambda A, x, s, write: None)\n"
        "except ValueError as error: print(error)"
    )
    assert fresh(code) == "False\nmxv is implemented for CSR on cpu already\n"


@pytest.mark.long
def test_numba_is_not_imported_where_machine_code_is_kept(tmp_path: Path) -> None:
    """Its import would take most of a command's time."""
    code = (
        "import sys, numpy as np; from formats import from_edges; from algorithms import bfs, boruvka, scc, sssp;"
        "A = from_edges([0, 1], [1, 0], np.array([2.0, 2.0])); sssp(A, 0); bfs(A, 0); scc(A); boruvka(A);"
        "print('numba' in sys.modules)"
    )
    fresh(code, **writable(tmp_path))
    assert fresh(code, **writable(tmp_path)) == "False\n"


@pytest.mark.long
def test_importing_everything_takes_less_than_half_a_second(tmp_path: Path):
    """The limit is on processor time, with NumPy's import; on a slow machine, five times that import beside it.

    The first of the runs compiles all modules, and the others find them compiled, whatever Python is told elsewhere.
    """
    code = (
        "from time import process_time as now; start = now(); import numpy; halfway = now();"
        "import formats, semiring, algorithms; print(halfway - start, now() - halfway)"
    )
    where = {"PYTHONPYCACHEPREFIX": str(tmp_path), "PYTHONDONTWRITEBYTECODE": ""}
    numpy, ours = min((tuple(map(float, fresh(code, **where).split())) for _ in range(9)), key=sum)
    told = f"best of nine: {numpy:.2f} s for NumPy and {ours:.2f} s for the rest"
    assert numpy + ours < 0.5 or ours < 5 * numpy, told


def test_every_folder_of_code_is_installed() -> None:
    """The build finds packages by their __init__.py, so a folder without one would be missing from a wheel."""
    for package in LAYERS[:3]:
        for folder in {file.parent for ending in ("py", "cu", "gr") for file in (ROOT / package).rglob(f"*.{ending}")}:
            assert (folder / "__init__.py").exists(), folder


# --- the table of engines ---------------------------------------------------------------------------------------------

WING = ROOT / "algorithms" / "fused"


def engines() -> list[list[str]]:
    """The lines of the architecture's table of engines: engine, modules, policies, who chooses."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8").partition("| engine | modules |")[2]
    lines = text.partition("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]


def modules_told(cell: str) -> list[str]:
    """The modules that a cell names, as folder/name; those of CUDA have their ending."""
    parts = (part.partition(": ") for part in cell.split("; "))
    return [f"{folder}/{name}" for folder, _, names in parts for name in names.split(", ")]


def defines(place: str) -> bool:
    """True if the file of "folder/file:name" has a function, class, method, constant or kernel of that name."""
    path, _, name = place.partition(":")
    file = WING / path if (WING / path).exists() else ROOT / path
    if not name or not file.is_file():
        return file.exists() and not name
    if file.suffix == ".cu":
        return re.search(rf"[\w)>]\s+\*?{name}\s*[({{]", file.read_text(encoding="utf-8")) is not None
    body: list[ast.stmt] = parsed(file).body
    for word in name.split("."):
        found = [node for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == word]
        if not found:
            return False
        body = found[0].body
    return True


def test_the_table_of_engines_has_every_module_once() -> None:
    told = [name for _, modules, *_ in engines() for name in modules_told(modules)]
    there = {
        f"{path.parent.name}/{path.name.removesuffix('.py')}"
        for folder in ("cpu", "cuda", "parts")
        for path in (WING / folder).glob("*.*")
        if path.suffix in (".py", ".cu") and path.stem != "__init__"
    }
    assert {"new": there - {*told}, "gone": {*told} - there} == {"new": set(), "gone": set()}
    assert len(told) == len(there)


def test_policies_and_who_chooses_are_where_the_table_of_engines_says() -> None:
    places = [place for *_, policies, choosers in engines() for place in re.findall(r"`([^`]+)`", policies + choosers)]
    assert len(places) > 30
    assert [place for place in places if not defines(place)] == []


def test_what_is_not_there_is_found() -> None:
    assert defines("cpu/relaxation.py:plain")
    assert defines("cuda/wide.cu:Relax")
    assert defines("algorithms/csgraph/")
    assert not defines("cpu/relaxation.py:planned")
    assert not defines("cuda/wide.cu:Mark")
    assert not defines("cpu/gone.py")
    assert modules_told("cpu: a, b; cuda: c.cu") == ["cpu/a", "cpu/b", "cuda/c.cu"]


SHORTEST = 40
FEW_LINES = {
    "algorithms/cli/bench.py",  # a file for each command
    "semiring/cpu/loops/segmented.py",  # a file for each format's loops
    "semiring/cuda/listed.py",  # a file for each format's kernels
    "semiring/cuda/packing.py",  # a file for each file of kernels
    "semiring/cuda/padded.py",  # a file for each format's kernels
    "algorithms/import_conflicts.py",  # what runs before semiring is imported
    "formats/lazily.py",  # what all three packages begin with
    "semiring/generic/layout.py",  # what a line of both backends' tables of formats is
}


def test_few_modules_are_shorter_than_a_screen() -> None:
    """Each is a name to learn and an import to follow."""
    short = {
        named(path)
        for path in sources()
        if not named(path).startswith("bench/") and not path.name.startswith("__")
        if len(path.read_text(encoding="utf-8").splitlines()) < SHORTEST
    }
    assert short == FEW_LINES


MOST_LINES, MOST_PARAMETERS = 80, 8


def test_functions_are_short_and_take_few_parameters():
    """Docstrings do not count, nor do parameters that a call names, nor the options of a command."""
    for path in sources():
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.FunctionDef):
                documented = ast.get_docstring(node) is not None
                lines = node.end_lineno - (node.body[0].end_lineno if documented else node.lineno - 1)
                assert lines <= MOST_LINES, f"{named(path)}: {node.name} has {lines} lines"
                given = [
                    each.arg for each in (*node.args.posonlyargs, *node.args.args) if each.arg not in ("self", "cls")
                ]
                few = len(given) <= MOST_PARAMETERS or "cli" in path.parts
                assert few, f"{named(path)}: {node.name} takes {len(given)} parameters by position"


def test_algorithms_index_no_array() -> None:
    """They write and look up by verbs and by functions on vectors; what they index are Python's lists and tables."""
    lists = {"cycle", "steps", "tail", "reverse", "kept", "RULES"}
    folders = (ROOT / "algorithms" / name for name in (".", "shared", "elimination"))
    found = [
        f"{named(path)}:{node.lineno}: {ast.unparse(node)}"
        for path in sorted(path for folder in folders for path in folder.glob("*.py"))
        if path.stem != "exact_cycles"  # which counts in Python's integers, in dictionaries
        for function in ast.walk(parsed(path))
        if isinstance(function, ast.FunctionDef) and function.name not in ("path", "cycles_among")  # on the host
        for statement in function.body
        for node in ast.walk(statement)
        if isinstance(node, ast.Subscript)
        and not isinstance(node.slice, ast.Constant)
        and ast.unparse(node.value).rpartition(".")[2] not in lists
        and not ast.unparse(node.value)[0].isupper()
        and ast.unparse(node.value) not in ("dict", "list", "set", "tuple", "type")
    ]
    assert found == []
