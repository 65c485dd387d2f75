"""The package as others get it: its dependencies, what is in it, what an index shows of it."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from packaging.requirements import Requirement

pytestmark = pytest.mark.quick

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
REQUIRED = [Requirement(line) for line in PROJECT["project"]["dependencies"]]
ON_LINUX = {"sys_platform": "linux", "platform_machine": "x86_64"}


def needed(python: str, **system: str) -> set[str]:
    """The packages that an installation asks for."""
    where: dict[str, Any] = ON_LINUX | system | {"python_version": python}
    return {each.name for each in REQUIRED if each.marker is None or each.marker.evaluate(where)}


@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13"])
def test_graphblas_is_asked_for_where_it_can_be_had(python: str) -> None:
    assert {"python-graphblas", "suitesparse-graphblas"} <= needed(python)


@pytest.mark.parametrize(
    ("python", "system"),
    [("3.14", {}), ("3.15", {}), ("3.13", {"sys_platform": "win32", "platform_machine": "ARM64"})],
    ids=["3.14", "3.15", "Windows on ARM"],
)
def test_and_not_where_it_has_no_release(python: str, system: dict[str, str]) -> None:
    assert needed(python, **system) == {"numpy", "scipy", "numba", "typer", "rich"}


def test_each_dependency_has_one_lowest_version() -> None:
    said = subprocess.run([sys.executable, ".ci/lowest.py"], cwd=ROOT, capture_output=True, text=True, check=True)
    pins = [line.split("==") for line in said.stdout.splitlines()]
    assert {"numpy", "numba", "pytest"} <= {name for name, _ in pins}
    for name, version in pins:
        assert {other for same, other in pins if same == name} == {version}, name
    lists = [PROJECT["project"]["dependencies"], *PROJECT["project"]["optional-dependencies"].values()]
    names = {Requirement(line).name for each in lists for line in each} - {"semiring"}
    assert names == {name for name, _ in pins}, "a dependency without a lower bound"


def test_no_folder_has_more_lines_than_its_budget() -> None:
    done = subprocess.run([sys.executable, ".ci/lines.py"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert done.stdout.count(" of ") > 8


def test_the_versions_agree() -> None:
    cited = re.search(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    assert cited is not None
    assert cited[1] == PROJECT["project"]["version"]


def test_every_package_is_installed_once() -> None:
    find_packages = pytest.importorskip("setuptools").find_packages
    found = PROJECT["tool"]["setuptools"]["packages"]["find"]
    lists = [find_packages(str(ROOT / where), found["exclude"], found["include"]) for where in found["where"]]
    packages = [package for each in lists for package in each]
    assert len(packages) == len(set(packages))
    assert [package for package in packages if package.endswith("semiring_networkx")] == ["semiring_networkx"]


def test_an_index_shows_no_link_that_it_does_not_have(monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, Any] = {}
    setuptools = ModuleType("setuptools")
    vars(setuptools)["setup"] = lambda **arguments: given.update(arguments)
    monkeypatch.setitem(sys.modules, "setuptools", setuptools)
    runpy.run_path(str(ROOT / "setup.py"))
    text = given["long_description"]
    assert "# semiring" in text
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        assert target.startswith("https://"), target
    assert "Tutorial, how-to, gallery, concepts." in re.sub(r"\s+", " ", text)
    assert given["options"]["build"]["build_base"] != str(ROOT / "build")
