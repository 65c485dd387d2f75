"""Another project's `formats` or `algorithms` is named in a sentence, before anything fails for an unclear reason."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def run(statement: str, *path: Path) -> subprocess.CompletedProcess[str]:
    """A new interpreter that finds packages in these folders, in order."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, path))}
    return subprocess.run([sys.executable, "-c", statement], env=environment, capture_output=True, text=True, cwd="/")


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """A folder with another project's package `formats`, and one `algorithms`."""
    for name in ("formats", "algorithms"):
        (tmp_path / "site-packages" / name).mkdir(parents=True)
        (tmp_path / "site-packages" / name / "__init__.py").write_text("def sort(): ...\n")
    return tmp_path / "site-packages"


@pytest.mark.parametrize("statement", ["import semiring", "import formats, algorithms"])
def test_another_projects_formats_is_an_import_error_that_says_where_it_lies(statement: str, foreign: Path) -> None:
    shutil.rmtree(foreign / "algorithms")
    done = run(statement, foreign, ROOT)
    assert done.returncode == 1
    assert f"ImportError: Python finds another project's 'formats' in {foreign / 'formats'}" in done.stderr
    assert "uninstall the other one" in done.stderr


OWN = ["formats.py", "formats/__init__.py", "semiring.py", "semiring/__init__.py", "semiring/own.py"]


def beside(name: str, folder: Path) -> Path:
    """A user's own file of this name, in a folder or beside a script; what an error is to name."""
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text("print('run')\n")
    return folder / name.partition("/")[0]


@pytest.mark.parametrize("name", OWN)
def test_a_users_own_file_or_folder_of_that_name_is_to_be_renamed(name: str, tmp_path: Path) -> None:
    found = beside(name, tmp_path)
    without_init = "own" in name  # which Python takes only where ours is not on the path, but found by a finder
    done = run("from algorithms import sssp", tmp_path, ROOT) if not without_init else as_installed(tmp_path)
    assert done.returncode == 1
    assert f"{found}" in done.stderr.splitlines()[-1]
    assert f"has the name of the package '{found.stem}'" in done.stderr.splitlines()[-1]
    assert "rename it" in done.stderr
    assert "uninstall" not in done.stderr
    assert "run" not in done.stdout or name.startswith("formats")


def as_installed(folder: Path) -> subprocess.CompletedProcess[str]:
    """A new interpreter that finds ours by a finder, after what lies on its path, as an editable install does."""
    finder = f"""
import sys
from importlib.machinery import PathFinder
class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        return PathFinder.find_spec(name, [{str(ROOT)!r}]) if path is None else None
sys.meta_path.append(Finder)
from algorithms import sssp
"""
    return run(finder, folder)


@pytest.mark.parametrize("command", [["run.py"], ["-m", "run"]])
def test_a_script_says_so_too(command: list[str], tmp_path: Path) -> None:
    found = beside("semiring.py", tmp_path)
    (tmp_path / "run.py").write_text("from algorithms import sssp")
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, *command], env=environment, capture_output=True, text=True, cwd=tmp_path)
    assert f"ImportError: {found} has the name of the package 'semiring', which algorithms need" in done.stderr


def test_a_script_that_has_the_name_itself_is_named(tmp_path: Path) -> None:
    (tmp_path / "semiring.py").write_text("print('once')\nfrom algorithms import sssp")
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "semiring.py"], env=environment, capture_output=True, text=True, cwd=tmp_path
    )
    assert done.stdout == "once\n"
    assert f"ImportError: {tmp_path / 'semiring.py'} has the name of the package 'semiring'" in done.stderr


def test_another_projects_algorithms_is_a_warning_for_who_does_not_need_ours(foreign: Path) -> None:
    shutil.rmtree(foreign / "formats")
    done = run("import semiring; print(semiring.MinPlus.name)", foreign, ROOT)
    assert (done.returncode, done.stdout) == (0, "min_plus\n")
    assert f"Python finds another project's 'algorithms' in {foreign / 'algorithms'}" in done.stderr


def test_a_package_that_another_project_has_written_over_is_named(tmp_path: Path) -> None:
    for name in ("semiring", "formats", "algorithms"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "formats" / "__init__.py").write_text("def sort(): ...\n")
    done = run("import semiring", tmp_path)
    assert f"another project has written over the package 'formats' of the distribution semiring in {tmp_path}" in (
        done.stderr
    )


def test_a_package_that_was_removed_is_said_to_be_missing(tmp_path: Path) -> None:
    for name in ("semiring", "formats"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    done = run(
        "import sys; sys.meta_path = [f for f in sys.meta_path if 'editable' not in repr(f)]\nimport semiring", tmp_path
    )
    assert "the package 'algorithms' of the distribution semiring is missing" in done.stderr


def test_our_own_packages_are_imported_without_a_word() -> None:
    done = run("import formats, semiring, algorithms", ROOT)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    "asked",
    [
        *("A @ np.ones(3)", "np.ones(3) @ A.T", "A + A", "-A", "2 * A", "A[0, :]", "A[[0, 1], 1:]", "A.to('auto')"),
        *("A.to(device=['cpu'])", "A.footprint(verb='mxv')", "A.footprint(algorithm='bfs')"),
    ],
)
def test_who_imports_formats_alone_has_all_that_a_matrix_does(asked: str) -> None:
    done = run(f"import numpy as np; from formats import from_edges; A = from_edges([0, 1], [1, 2]); {asked}", ROOT)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", ["semiring.py", "semiring/__init__.py"])
def test_what_has_the_name_of_our_semiring_is_named_by_the_first_operator(name: str, tmp_path: Path) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("")
    done = run("from formats import from_edges; A = from_edges([0, 1], [1, 2]); A @ A", tmp_path, ROOT)
    assert f"ImportError: {tmp_path / name} has the name of the package 'semiring', which this needs" in done.stderr
